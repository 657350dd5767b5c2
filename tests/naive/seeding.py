"""Slow, obvious reference for `_kernels/seeding.py`: NumPy's own."""

import numpy as np


def seed_stream(seed, key, pool, out):
    out[:] = np.random.SeedSequence(int(seed), spawn_key=key.tolist()).generate_state(len(out), np.uint64)

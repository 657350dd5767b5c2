"""Named random streams: one set per run, derived from the run's seed and from nothing else.

Each name is an independent child of the seed's `numpy.random.SeedSequence`. The lock, the latent luck and
the observation noise have streams of their own that no agent's choices can advance out of step, so two agents
with the same seed meet the same lock and the same luck.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NAMES = ("lock", "dynamics", "emission", "policy", "oracle", "evaluation")


class Streams:
    """The generators of one run. A stream is made when it is first asked for, and then advances."""

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        self._children = {
            name: np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, position)) for position, name in enumerate(NAMES)
        }
        self._rows: dict[tuple[str, int], NDArray[np.uint64]] = {}

    def row(self, name: str) -> NDArray[np.uint64]:
        """The named stream as one generator, uint64[4]."""
        return self.rows(name, 1).reshape(4)

    def rows(self, name: str, lanes: int) -> NDArray[np.uint64]:
        """The named stream as several generators side by side, uint64[lanes, 4]."""
        if (name, lanes) not in self._rows:
            words = self._children[name].generate_state(4 * lanes, np.uint64)
            self._rows[name, lanes] = np.asarray(words, np.uint64).reshape(lanes, 4)
        return self._rows[name, lanes]

    def generator(self, name: str) -> np.random.Generator:
        """A fresh NumPy generator seeded by the named stream, for code outside the kernels."""
        return np.random.default_rng(self._children[name])

    def evaluation(self) -> Streams:
        """A full set of streams for evaluating a policy, apart from those of training."""
        return Streams(self._children["evaluation"])

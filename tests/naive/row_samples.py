"""Slow, obvious reference for `_kernels/row_samples.py`, scratch included in its arguments."""

from .rng import uniform


def choose_evenly(rng, labels, most, chances, chosen):
    """Each row has its own draw, in order."""
    sizes = {k: list(labels).count(k) for k in set(labels)}
    for k in range(len(chances)):
        chances[k] = most / (len(sizes) * sizes.get(k, 1))
    rows = [i for i, k in enumerate(labels) if uniform(rng) < most / (len(sizes) * sizes[k])]
    chosen[: len(rows)] = rows
    return len(rows)

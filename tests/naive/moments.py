"""Slow, obvious references for `_kernels/moments.py`."""

import numpy as np


def sum_by_label(rows, labels, first, step, centre, sums, sizes, squares):
    """One level and label at a time."""
    chosen, names = rows[first::step].astype(np.float64) - centre, labels[first::step]
    for h, k in np.ndindex(sizes.shape):
        members = chosen[names[:, h] == k, h]
        sizes[h, k], sums[h, k] = len(members), members.sum(axis=0)
    squares[:] = np.square(chosen).sum(axis=(0, 1))


def count_by_label(rows, labels, first, step, counts, sizes):
    """Sums around 0."""
    sum_by_label(rows, labels, first, step, 0.0, counts, sizes, np.empty(rows.shape[-1]))


def error_around(sums, sizes, priors, other_sums, other_sizes):
    """Of n rows with the sum s, |x - m|^2 - |x|^2 adds up to n |m|^2 - 2 s . m."""
    means = (sums + priors[:, None]) / (sizes + 1.0)[:, :, None]
    return (other_sizes * np.square(means).sum(axis=2)).sum() - 2.0 * (other_sums * means).sum()


def standardise(rows, centre, scale, out):
    """One row at a time."""
    for row, z in zip(rows, out, strict=True):
        z[:] = (row.astype(centre.dtype) - centre) * scale

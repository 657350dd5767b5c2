"""Rows that become columns, one number at a time."""

import numpy as np


def transpose(rows, columns):
    """Row and column change places."""
    for i, j in np.ndindex(rows.shape):
        columns[j, i] = rows[i, j]

"""The best assignment of rows to columns, by Kuhn's and Munkres' method in its form of shortest paths.

Row i in column j gains g_ij. Prices u_i of rows and v_j of columns with g_ij <= u_i + v_j for all i, j prove
an assignment best that takes only pairs where both sides are equal: they are tight. Rows come one after
another. Each looks for a path of tight pairs to a column that is free, changing prices on its way just so far
that the next pair becomes tight, and then the rows along the path change their columns.
"""

import numpy as np

from .compiling import kernel


@kernel
def assign(
    gains: np.ndarray,
    columns: np.ndarray,
    owners: np.ndarray,
    row_prices: np.ndarray,
    column_prices: np.ndarray,
    slacks: np.ndarray,
    come_from: np.ndarray,
    is_reached: np.ndarray,
) -> None:
    """columns[i] (int64[n]): the column of row i, no column twice, with the greatest sum of gains
    float64[n, m], where n is at most m.

    The others are room to work in: owners and come_from int64[m + 1], row_prices float64[n], column_prices
    and slacks float64[m + 1], is_reached bool[m + 1]. Column m stands for none.
    """
    none, nobody = gains.shape[1], -1
    owners[:] = nobody
    row_prices[:] = 0.0
    column_prices[:] = 0.0
    for row in range(gains.shape[0]):
        slacks[:] = np.inf
        is_reached[:] = False
        owners[none] = row
        column = none
        while owners[column] != nobody:
            is_reached[column] = True
            owner, nearest, least = owners[column], none, np.inf
            for j in range(none):
                if not is_reached[j]:
                    slack = row_prices[owner] + column_prices[j] - gains[owner, j]
                    if slack < slacks[j]:
                        slacks[j], come_from[j] = slack, column
                    if slacks[j] < least:
                        nearest, least = j, slacks[j]
            for j in range(none + 1):
                if is_reached[j]:
                    row_prices[owners[j]] -= least
                    column_prices[j] += least
                else:
                    slacks[j] -= least
            column = nearest
        while column != none:
            owners[column] = owners[come_from[column]]
            column = come_from[column]
    for j in range(none):
        if owners[j] != nobody:
            columns[owners[j]] = j

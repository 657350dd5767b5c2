"""Entries of whole tables by their place in memory, for walks that jump about in many tables at once.

Entry [i, j, k] of a table of shape [., m, n] has the place (i m + j) n + k. Indexing as usual computes it
again for every table, by full products of 64 bits, of which a Neoverse N1 makes one in three cycles: a third
of the time of a walk on latent states. Here tables of one shape share a place, and the products are those of
small numbers. The layer above makes an instruction or two of `get_entry`, `set_entry` and `row_at`, which
takes more of Numba than is used here.
"""

import numpy as np

from .compiling import inlined


def get_entry(table: np.ndarray, place: int | np.uint64) -> float:
    """The entry at a place of a table without gaps, or of a row."""
    return table.flat[int(place)]


def set_entry(table: np.ndarray, place: int | np.uint64, value: float) -> None:
    """Put a value, of the kind that the table holds, into a place."""
    table.flat[int(place)] = value


def row_at(table: np.ndarray, place: int | np.uint64) -> np.ndarray:
    """The row of a table without gaps that begins at a place. It must not outlive the table."""
    return table.reshape(-1)[int(place) : int(place) + table.shape[-1]]


def fetch_ahead(table: np.ndarray, place: int | np.uint64) -> None:
    """Ask for a place that will be read soon: what is in the cache by then need not be waited for."""


@inlined
def small_product(one: int | np.uint64, other: int) -> np.uint64:
    """The product of two whole numbers that are less than 2^32, as all counts of rows are."""
    return np.uint64(np.uint32(one)) * np.uint64(np.uint32(other))


@inlined
def place_of_block(table: np.ndarray, i: int) -> np.uint64:
    """The place of [i, 0, 0] in a table of three axes, of which there may be any number."""
    return np.uint64(i) * np.uint64(table.shape[1] * table.shape[2])


@inlined
def place_of(table: np.ndarray, i: int, j: int) -> np.uint64:
    """(i m + j) n, for a table of shape [., m, n] the place of [i, j, 0], and for one of shape [., m, n, l]
    the number of its row [i, j, 0]; i m + j is less than 2^32."""
    return small_product(small_product(i, table.shape[1]) + np.uint64(j), table.shape[2])

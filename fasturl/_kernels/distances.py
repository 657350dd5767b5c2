"""Squared distances of samples from centres,

    |x - c|^2 = |x|^2 + |c|^2 - 2 c . x,

which takes half as many instructions as a sum of squares does; 0 where it comes out less. Samples are the
fastest axis of `points`. Reals are float32 or float64, all of one kind: registers hold float32 alone.
"""

import numpy as np
from numba import types
from numba.extending import overload

from .compiling import OPTIONS, add_product, fma, inlined
from .registers import full_like, read_wide, where_greater, wide, write_numbers

_0F = np.float32(0.0)
_NEAR_SAMPLES = 512
"""Samples that are taken at a time: if coordinates are few, those of so many stay in the nearest cache."""


@inlined
def fill_norms(points: np.ndarray, norms: np.ndarray) -> None:
    """norms[i] = |points[:, i]|^2."""
    for i in range(norms.size):
        norms[i] = 0.0
    for r in range(points.shape[0]):
        for i in range(norms.size):
            norms[i] = add_product(norms[i], points[r, i], points[r, i])


@inlined
def _fill_norm_of(centres: np.ndarray, k: int, norms: np.ndarray) -> None:
    """norms[k] = |centres[k]|^2."""
    norms[k] = 0.0
    for r in range(centres.shape[1]):
        norms[k] = add_product(norms[k], centres[k, r], centres[k, r])


@inlined
def _distances_from(
    points: np.ndarray, centres: np.ndarray, k: int, first: int, end: int, workspace: tuple
) -> None:
    """distances[k, i] = |points[:, i] - centres[k]|^2 for the samples from `first` up to `end`; four
    coordinates at a time, so that a sum is loaded and stored once for four."""
    norm, centre = workspace.centre_norms[k], centres[k]
    norms, out = workspace.norms[first:end], workspace.distances[k][first:end]
    for i in range(out.size):
        out[i] = 0.0
    r = 0
    while r + 3 < centre.size:
        x0, x1 = points[r][first:end], points[r + 1][first:end]
        x2, x3 = points[r + 2][first:end], points[r + 3][first:end]
        c0, c1, c2, c3 = centre[r], centre[r + 1], centre[r + 2], centre[r + 3]
        for i in range(out.size):
            total = add_product(add_product(out[i], x0[i], c0), x1[i], c1)
            out[i] = add_product(add_product(total, x2[i], c2), x3[i], c3)
        r += 4
    while r < centre.size:
        x0, c0 = points[r][first:end], centre[r]
        for i in range(out.size):
            out[i] = add_product(out[i], x0[i], c0)
        r += 1
    for i in range(out.size):
        distance = (norms[i] + norm) - (out[i] + out[i])
        out[i] = distance if distance > 0.0 else 0.0


@inlined
def _four_registers(row: np.ndarray, i: int) -> tuple:
    """The entries of a row from i on."""
    width = wide()
    return (
        read_wide(row, i),
        read_wide(row, i + width),
        read_wide(row, i + 2 * width),
        read_wide(row, i + 3 * width),
    )


@inlined
def _with_products(sums: tuple, x: tuple, c: np.float32) -> tuple:
    """Sums in four registers, and c times what is in four others."""
    (a0, a1, a2, a3), (x0, x1, x2, x3) = sums, x
    return fma(x0, c, a0), fma(x1, c, a1), fma(x2, c, a2), fma(x3, c, a3)


@inlined
def _write_distances(norms: tuple, norm: np.float32, products: tuple, row: np.ndarray, i: int) -> None:
    """Put squared distances into a row from i on: those of samples from a centre, by the norms of both and
    their products."""
    (n0, n1, n2, n3), (a0, a1, a2, a3), width = norms, products, wide()
    none = full_like(a0, _0F)
    d0, d1 = (n0 + norm) - (a0 + a0), (n1 + norm) - (a1 + a1)
    d2, d3 = (n2 + norm) - (a2 + a2), (n3 + norm) - (a3 + a3)
    write_numbers(where_greater(d0, none, d0, none), row, i)
    write_numbers(where_greater(d1, none, d1, none), row, i + width)
    write_numbers(where_greater(d2, none, d2, none), row, i + 2 * width)
    write_numbers(where_greater(d3, none, d3, none), row, i + 3 * width)


@inlined
def _distances_from_two(
    points: np.ndarray, centres: np.ndarray, k: int, m: int, i: int, workspace: tuple
) -> None:
    """`_distances_from` two centres, of the samples of four registers from i on."""
    none = full_like(read_wide(points[0], i), _0F)
    from_k = from_m = none, none, none, none
    for r in range(points.shape[0]):
        x = _four_registers(points[r], i)
        from_k, from_m = _with_products(from_k, x, centres[k, r]), _with_products(from_m, x, centres[m, r])
    norms, of_centres = _four_registers(workspace.norms, i), workspace.centre_norms
    _write_distances(norms, of_centres[k], from_k, workspace.distances[k], i)
    _write_distances(norms, of_centres[m], from_m, workspace.distances[m], i)


@inlined
def _one_centre_at_a_time(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """`fill_distances` of any reals, of so few samples at a time that they stay in the nearest cache."""
    n_samples = points.shape[1]
    for first in range(0, n_samples, _NEAR_SAMPLES):
        for p in range(n):
            end = min(first + _NEAR_SAMPLES, n_samples)
            _distances_from(points, centres, workspace.chosen[p], first, end, workspace)


@inlined
def _two_centres_at_a_time(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """`fill_distances` of float32: memory is asked for few samples at a time, once for all centres, and two
    of them share what is loaded."""
    n_samples, step, chosen = points.shape[1], 4 * wide(), workspace.chosen
    if n_samples < step:
        _one_centre_at_a_time(points, centres, n, workspace)
        return
    for start in range(0, n_samples, step):
        i = min(start, n_samples - step)  # the last ones again, where fewer are left
        for p in range(0, n, 2):
            _distances_from_two(points, centres, chosen[p], chosen[min(p + 1, n - 1)], i, workspace)


def _of_kind(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """`fill_distances` for one kind of reals: registers hold float32 alone."""
    in_registers = points.dtype == np.float32
    (_two_centres_at_a_time if in_registers else _one_centre_at_a_time)(points, centres, n, workspace)


@overload(_of_kind, jit_options={**OPTIONS, "forceinline": True})
def _compiled_of_kind(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> object:
    in_registers = points.dtype == types.float32
    # what they compile from: Numba wants a function whose arguments are to the letter those of this one
    return (_two_centres_at_a_time if in_registers else _one_centre_at_a_time).py_func


@inlined
def fill_distances(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """distances[k, i] = |points[:, i] - centres[k]|^2 for the first n of the chosen centres k, in a
    `KMeansWorkspace` that has the `norms` of the samples."""
    for p in range(n):
        _fill_norm_of(centres, workspace.chosen[p], workspace.centre_norms)
    _of_kind(points, centres, n, workspace)

"""Packed bits: kernels beside their references of tests/naive, and what a step costs at horizons of 20 and
200."""

import naive
import numpy as np
import pytest
from conftest import Work, best_seconds, measured_beside_references, report

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels.emission import pack
from fasturl._kernels.packed_decoding import (
    fill_packed_tables,
    find_deciding_group,
    packed_labels,
    packed_scores,
)
from fasturl._kernels.packed_rows import scratch_shape
from fasturl._kernels.records import PackedTables
from fasturl.decoders.affine import best_of_bits, decide
from fasturl.oracles.projection import bits_together
from fasturl.problems.environment import emission_rngs

HORIZONS, EPISODES, ROWS = [20, 200], 100, 8192
STRONG = 1e6
"""How many times as much the first byte adds as any other, where each of its values decides for a label."""
DRAW = np.random.default_rng(0)


def block_of(horizon):
    return fu.LockBernoulli(horizon, 0.2).emission.draw(emission_rngs(Streams(0)), EPISODES)


BLOCK = block_of(20)
N_BYTES, LEVELS = -(-BLOCK.dimension // 8), BLOCK.n_levels
SEEN = EPISODES * LEVELS * 3


def normals(*shape):
    return DRAW.standard_normal(shape, np.float32)


def scoring(n_tables, bits):
    """One table for all levels, as oracles have it, or one for each, as PCID has it."""
    n_groups, out = -(-BLOCK.dimension // bits), np.zeros((EPISODES, 3, 3, LEVELS), np.float32)
    return lambda _: (BLOCK.words, normals(n_tables, n_groups, 1 << bits, 4), out)


def tables_of(n_bytes, weight, n_labels=3):
    """Tables of labels in which the first byte adds `weight` times as much as any other."""
    scores = normals(1, n_bytes, 256, -(-n_labels // 4) * 4)
    tables = PackedTables(scores, np.empty(1, np.uint64), np.empty((1, 256), np.int16))
    tables.scores[0, 0] *= weight
    tables.scores[0, 0, :, n_labels:] = -np.inf
    decide(tables, 0)
    return tables


def labelling(weight, n_labels=3):
    out, tables = np.empty((EPISODES, LEVELS, 3), np.uint8), tables_of(N_BYTES, weight, n_labels)
    scratch = normals(*scratch_shape(3, tables.scores.shape[3]))
    return BLOCK.words, tables, np.arange(n_labels, dtype=np.uint8), scratch, out


def deciding(_):
    return normals(N_BYTES, 256, 4), np.empty((3, N_BYTES + 1, 4)), np.empty(256, np.int16)


def packing_tables(_):
    return normals(3, BLOCK.dimension), normals(3), np.empty((N_BYTES, 256, 4), np.float32)


def packing_rows(_):
    """The observations of a lock of 200 levels."""
    return DRAW.integers(2, size=(ROWS, 203), dtype=np.uint8), np.empty((ROWS, 4), np.uint64)


WORK = {
    "bits: packing": Work(pack, naive.emission.pack, packing_rows, ROWS),
    "bits: scores of bytes": Work(packed_scores, naive.packed_scores, scoring(1, 8), SEEN),
    "bits: scores of four bits": Work(packed_scores, naive.packed_scores, scoring(LEVELS, 4), SEEN),
    "bits: labels": Work(packed_labels, naive.packed_labels, lambda _: labelling(1.0), SEEN),
    "bits: thirty labels": Work(packed_labels, naive.packed_labels, lambda _: labelling(1.0, 30), SEEN),
    "bits: labels that a byte decides": Work(
        packed_labels, naive.packed_labels, lambda _: labelling(STRONG), SEEN
    ),
    "bits: bytes that decide": Work(
        find_deciding_group, naive.find_deciding_group, deciding, N_BYTES * 256 * 4
    ),
    "bits: tables of bytes": Work(
        fill_packed_tables, naive.fill_packed_tables, packing_tables, N_BYTES * 256 * 3
    ),
}


test_reference, test_kernel = measured_beside_references(WORK)


def time_steps(benchmark, function, *arguments):
    benchmark.pedantic(function, args=arguments, rounds=50, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        report(benchmark, nanoseconds_a_step=1e9 * seconds / (EPISODES * arguments[0].shape[1]))


@pytest.mark.parametrize("weight", [1.0, STRONG], ids=["summed", "decided by a byte"])
@pytest.mark.parametrize("horizon", HORIZONS)
def test_labels_of_a_step(benchmark, horizon, weight):
    benchmark.group = f"bits: labels of all states, horizon {horizon}"
    words, n_bytes = block_of(horizon).words, -(-(horizon + 3) // 8)
    tables = tables_of(n_bytes, weight)
    assert (tables.decided >= 0).all() if weight == STRONG else tables.deciding == [n_bytes]
    time_steps(benchmark, best_of_bits, words, tables, np.arange(3, dtype=np.uint8), horizon + 1)


@pytest.mark.parametrize("horizon", HORIZONS)
def test_observation_of_a_step(benchmark, horizon):
    benchmark.group = "bits: observations as bytes"
    states = DRAW.integers(3, size=(EPISODES, horizon + 1))
    time_steps(benchmark, block_of(horizon).observe, states)


@pytest.mark.parametrize("how", ["matrix product", "words"])
@pytest.mark.parametrize("horizon", HORIZONS)
def test_pairs_of_bits(benchmark, horizon, how):
    benchmark.group = f"bits: pairs that are set together, horizon {horizon}"
    bits = DRAW.integers(2, size=(ROWS, horizon + 3), dtype=np.uint8)

    def multiply(bits):
        reals = bits.astype(np.float32)
        return reals.T @ reals

    count = bits_together if how == "words" else multiply
    np.testing.assert_array_equal(count(bits), multiply(bits))
    benchmark.pedantic(count, args=(bits,), rounds=20, warmup_rounds=1)

"""Observations, decoding and labels: each kernel beside what a NumPy or plain Python program would do for the
same work."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from conftest import best_seconds, report
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels import emission, labels
from fasturl._kernels.affine_decoding import affine_labels
from fasturl.decoders.affine import AffineMap, as_affine_scores
from fasturl.oracles import GMM, KMeans
from fasturl.problems.environment import emission_rngs

HORIZON = 20
LANES = emission_rngs(Streams(0))
GENERATOR = np.random.default_rng(0)


def compare(benchmark, rates, group, work, count, must_reach=None, **options):
    """Time `work`, which does something `count` times; the first of a group is the reference of the
    others."""
    benchmark.group = group
    benchmark.pedantic(work, **({"rounds": 20, "warmup_rounds": 1} | options))
    if seconds := best_seconds(benchmark):
        rate = count / seconds
        report(benchmark, per_second=rate)
        if group not in rates:
            rates[group] = rate
            return
        report(benchmark, ratio=rate / rates[group])
        if must_reach is not None:
            report(benchmark, must_reach=must_reach)
            assert rate / rates[group] >= must_reach


# --- normals: 10,752 for each of 48 episodes, float32, into an array that is there ---

NORMALS = "observations: float32 normals"
EPISODES, PAIRS = 48, 5_376


def test_normals_by_numpy(benchmark, reference_rates):
    out = np.empty((EPISODES, 2, PAIRS), np.float32)
    compare(
        benchmark,
        reference_rates,
        NORMALS,
        lambda: GENERATOR.standard_normal(dtype=np.float32, out=out),
        out.size,
    )


def test_normals_by_the_kernel(benchmark, reference_rates):
    out, scratch = np.empty((EPISODES, 2, PAIRS), np.float32), np.empty((2, PAIRS), np.float32)
    compare(
        benchmark,
        reference_rates,
        NORMALS,
        lambda: emission.fill_normals(LANES, scratch, np.float32(1.0), out),
        out.size,
        must_reach=3,
    )


# --- coins of LockBernoulli: 20 for each of 21 levels of 500 episodes ---

COINS = "observations: coins of LockBernoulli, horizon 20"
N_COINS = 500 * (HORIZON + 1) * HORIZON


def test_coins_by_numpy(benchmark, reference_rates):
    """`integers` as most programs call it; the row below has its fastest form, one byte a coin."""
    compare(benchmark, reference_rates, COINS, lambda: GENERATOR.integers(0, 2, N_COINS), N_COINS)


def test_coins_by_numpy_as_bytes(benchmark, reference_rates):
    compare(
        benchmark, reference_rates, COINS, lambda: GENERATOR.integers(0, 2, N_COINS, dtype=np.uint8), N_COINS
    )


def test_coins_by_the_kernels(benchmark, reference_rates):
    """Raw bits and then packed observations of all three states: more than the coins alone."""
    draws = -(-(HORIZON + 1) // (64 // HORIZON))
    raw = np.empty((500, -(-draws // 4), 4), np.uint64)
    words = np.empty((500, HORIZON + 1, 3, 1), np.uint64)

    def work():
        emission.fill_words(LANES, raw)
        emission.lock_words(raw.reshape(500, -1), HORIZON, words)

    compare(benchmark, reference_rates, COINS, work, N_COINS)


def test_coins_by_the_kernel_raw(benchmark, reference_rates):
    """The packed noise itself: three levels in a word."""
    draws = -(-(HORIZON + 1) // (64 // HORIZON))
    raw = np.empty((500, -(-draws // 4), 4), np.uint64)
    compare(
        benchmark, reference_rates, COINS, lambda: emission.fill_words(LANES, raw), N_COINS, must_reach=50
    )


# --- FixLabel's counts: the labels of 63 sets of 1,000 observations ---

COUNTS = "labels: counts over the standard set"
STARTS = np.arange(0, 63_001, 1_000)
LABELS = GENERATOR.integers(0, 3, STARTS[-1]).astype(np.uint8)


def test_counts_by_counter(benchmark, reference_rates):
    parts = [LABELS[first : first + 1_000].tolist() for first in STARTS[:-1]]
    compare(benchmark, reference_rates, COUNTS, lambda: [Counter(part) for part in parts], LABELS.size)


def test_counts_by_counter_over_an_array(benchmark, reference_rates):
    """As a program whose labels are an array would call it."""
    compare(
        benchmark,
        reference_rates,
        COUNTS + ", arrays",
        lambda: [Counter(LABELS[i : i + 1_000]) for i in STARTS[:-1]],
        LABELS.size,
    )


@pytest.mark.parametrize("group", [COUNTS, COUNTS + ", arrays"], ids=["lists", "arrays"])
def test_counts_by_the_kernel(benchmark, reference_rates, group):
    counts = np.empty((63, 3), np.int64)
    work = partial(labels.count_labels, LABELS, STARTS, counts)
    compare(benchmark, reference_rates, group, work, LABELS.size, must_reach=100, rounds=200)


# --- label tables: every state of every level of 200 episodes ---


@pytest.mark.parametrize("kind", ["bits", "reals"])
def test_decoding_by_scikit_learn_in_one_call(benchmark, reference_rates, kind):
    """The best a program can do with scikit-learn: all observations in one `predict`."""
    env = fu.LockBernoulli(HORIZON) if kind == "bits" else fu.LockGaussian(HORIZON)
    seen = env.emission.draw(LANES, 200).every_state().reshape(-1, HORIZON + 3)
    model = make_pipeline(StandardScaler(), PCA(2), SklearnKMeans(3, n_init=1, random_state=0)).fit(seen)
    compare(benchmark, reference_rates, f"decoding: {kind}", lambda: model.predict(seen), len(seen))


@pytest.mark.parametrize("kind", ["bits", "reals"])
def test_decoding_by_label_table(benchmark, reference_rates, kind):
    env = fu.LockBernoulli(HORIZON) if kind == "bits" else fu.LockGaussian(HORIZON)
    block = env.emission.draw(LANES, 200)
    oracle = (KMeans(3, random_state=0) if kind == "bits" else GMM(3, random_state=0)).fit(
        block.every_state().reshape(-1, HORIZON + 3)
    )
    compare(
        benchmark,
        reference_rates,
        f"decoding: {kind}",
        lambda: oracle.decoder_.table(block),
        200 * (HORIZON + 1) * 3,
    )


# --- labels of reals: what is gained where no score is stored ---

REAL_LABELS = "labels of LockGaussian, horizon 20"
REALS = fu.LockGaussian(HORIZON, 0.2).emission.draw(LANES, 500)
AFFINE = fu.decoders.AffineDecoder(np.eye(3, HORIZON + 3), np.zeros(3))


MANY_LABELS = "labels of thirty states"
CENTRES = GENERATOR.normal(size=(30, 30))
MANY_STATES = fu.emissions.Gaussian(CENTRES, 0.4, n_levels=7).draw(LANES, 100)
NEAREST = fu.decoders.AffineDecoder(CENTRES, -np.square(CENTRES).sum(axis=1) / 2)


def test_labels_of_scores_that_are_stored(benchmark, reference_rates):
    every_score = AffineMap(*AFFINE.weights_and_bias)
    compare(
        benchmark,
        reference_rates,
        REAL_LABELS,
        lambda: AFFINE._best(REALS, every_score(REALS)),
        500 * (HORIZON + 1) * 3,
        rounds=200,
    )


def test_labels_of_scores_that_are_not(benchmark, reference_rates):
    work = partial(AFFINE.table, REALS)
    compare(benchmark, reference_rates, REAL_LABELS, work, 500 * (HORIZON + 1) * 3, rounds=200)


def test_labels_of_many_states_by_their_scores(benchmark, reference_rates):
    (weights, bias), out = NEAREST.weights_and_bias, np.empty((100, 7, 30), np.uint8)
    given = MANY_STATES.arrays(), as_affine_scores(weights, bias, None), NEAREST.relabel
    work = partial(affine_labels, *given, np.empty((30, 14), np.float32), out)
    compare(benchmark, reference_rates, MANY_LABELS, work, 100 * 7 * 30)


def test_labels_of_many_states_by_sums_taken_apart(benchmark, reference_rates):
    work = partial(NEAREST.table, MANY_STATES)
    compare(benchmark, reference_rates, MANY_LABELS, work, 100 * 7 * 30, must_reach=2)

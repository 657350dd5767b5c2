"""The quick look that tells whether labels need no fit."""

import numpy as np
import pytest

import fasturl as fu
from fasturl.agents import clear_labels, pooled_decoding
from fasturl.agents.clear_labels import are_clear, may_be_two
from fasturl.oracles import DBSCAN

SIZES = 700, 500, 300


def clouds(generator, apart=14.0, dimension=20, sizes=SIZES):
    """Observations of three clusters of normal noise that lie so many deviations apart, and their labels."""
    labels = generator.permutation(np.repeat(np.arange(3), sizes))
    means = apart / np.sqrt(2.0) * np.eye(3, dimension)
    return (means[labels] + generator.normal(size=(labels.size, dimension))).astype(np.float32), labels


def coins_with_states(generator, dimension=20, sizes=SIZES):
    """Observations of a state as a one-hot code beside fair coins, and the states."""
    labels = generator.permutation(np.repeat(np.arange(3), sizes))
    coins = generator.random((labels.size, dimension)) < 0.5
    return np.concatenate([np.eye(3)[labels], coins], axis=1).astype(np.uint8), labels


# --- labels that are clear, and labels that are not ---


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draw", [clouds, coins_with_states])
def test_clusters_far_apart_are_clear_whatever_they_are_called(draw, seed):
    generator = np.random.default_rng(seed)
    rows, labels = draw(generator)
    assert are_clear(rows, labels, 3)
    assert are_clear(rows, np.array([5, 0, 2], np.uint8)[labels], 3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_what_is_clear_depends_neither_on_the_unit_nor_on_the_origin(seed, scale):
    rows, labels = clouds(np.random.default_rng(seed))
    assert are_clear((scale * (rows + 1000.0)).astype(np.float32), labels, 3)


@pytest.mark.parametrize("draw", [clouds, coins_with_states])
def test_labels_are_not_clear_where_one_is_missing_or_rare(draw):
    rows, labels = draw(np.random.default_rng(0))
    assert not are_clear(rows, labels, 4)
    assert not are_clear(rows, np.minimum(labels, 1), 3)
    few = np.flatnonzero(labels == 2)[15:]
    kept = np.setdiff1d(np.arange(labels.size), few)
    assert not are_clear(rows[kept], labels[kept], 3)
    kept = np.setdiff1d(np.arange(labels.size), few[1:])
    assert are_clear(rows[kept], labels[kept], 3)


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_not_clear_where_clusters_come_near_each_other(seed):
    """Of 1,500 observations of clusters seven deviations apart, some comes 0.45 of the way on average."""
    rows, labels = clouds(np.random.default_rng(seed), apart=7.0)
    assert not are_clear(rows, labels, 3)


def test_one_observation_on_the_way_is_enough():
    rows, labels = clouds(np.random.default_rng(0))
    means = [rows[labels == k].mean(axis=0) for k in range(3)]
    for share, is_clear in ((0.3, True), (0.45, False)):
        rows[0] = means[labels[0]] + share * (means[(labels[0] + 1) % 3] - means[labels[0]])
        assert are_clear(rows, labels, 3) == is_clear


@pytest.mark.parametrize("draw", [clouds, coins_with_states])
def test_a_label_of_two_clusters_is_not_clear(draw):
    rows, labels = draw(np.random.default_rng(0))
    assert not are_clear(rows, np.minimum(labels, 1), 2)


def test_two_labels_of_one_cluster_are_not_clear():
    rows, labels = clouds(np.random.default_rng(0), sizes=(700, 400, 400))
    halves = np.where(labels == 0, np.where(rows[:, 5] > 0.0, 0, 3), labels)
    assert not are_clear(rows, halves, 4)
    same = np.ones((300, 4), np.float32)
    assert not are_clear(same, np.arange(300) % 2, 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_farthest_way_is_that_of_one_observation_at_a_time(seed):
    generator = np.random.default_rng(seed)
    clusters = [generator.normal(size=(n, 4)) + generator.normal(size=4) for n in (9, 5, 7)]
    means = [rows.mean(axis=0) for rows in clusters]
    ref = max(
        (x - means[j]) @ (means[k] - means[j]) / np.sum((means[k] - means[j]) ** 2)
        for j, rows in enumerate(clusters)
        for x in rows
        for k in range(3)
        if k != j
    )
    assert clear_labels._farthest_along(clusters) == pytest.approx(max(ref, 0.0), rel=1e-5)


# --- two clusters or one ---


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_a_look_tells_clusters_from_normal_noise(seed, scale):
    """Normal noise was taken for two clusters in less than one of a hundred draws of so many; clusters six
    apart always were."""
    generator = np.random.default_rng(seed)
    noise, far = generator.normal(size=(512, 8)), 6.0 * np.eye(3, 8)
    assert not may_be_two((scale * noise).astype(np.float32))
    for n_clusters in (2, 3):
        rows = far[generator.integers(n_clusters, size=512)] + noise
        assert may_be_two((scale * rows).astype(np.float32))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dimension", [3, 23, 203])
def test_a_look_does_not_take_the_outermost_of_many_coordinates_for_a_cluster(dimension, seed):
    generator = np.random.default_rng(seed)
    assert not may_be_two(generator.normal(size=(600, dimension)).astype(np.float32))
    assert not may_be_two((generator.random((600, dimension)) < 0.5).astype(np.uint8))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("share", "apart"), [(0.5, 5.0), (0.05, 8.0), (0.01, 12.0), (0.002, 40.0)])
def test_a_look_sees_rare_clusters(seed, share, apart):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(1400, 23)).astype(np.float32)
    rows[: int(1400 * share), 4] += apart
    assert may_be_two(generator.permutation(rows))


@pytest.mark.parametrize("places", [(0, 1), (0, 2), (1, 3)])
def test_a_look_sees_two_far_observations_wherever_they_are(places):
    """Also where both are among the rows that tell the line, or both among those that are cut."""
    rows = np.random.default_rng(0).normal(size=(1400, 23)).astype(np.float32)
    assert not may_be_two(rows)
    rows[list(places), 4] += 40.0
    assert may_be_two(rows)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.5, 0.05, 0.01])
def test_a_look_sees_two_bits_that_go_together(seed, share):
    generator = np.random.default_rng(seed)
    rows = (generator.random((1400, 100)) < 0.5).astype(np.uint8)
    rows[:, 3] = generator.permutation(1400) < 1400 * share
    rows[:, 70] = 1 - rows[:, 3]
    assert may_be_two(rows)


def test_few_observations_or_equal_ones_are_not_two():
    two = np.repeat(np.eye(2, dtype=np.float32), 32, axis=0)
    assert may_be_two(two)
    assert not may_be_two(two[1:])
    for kind in (np.uint8, np.float32):
        assert not may_be_two(np.ones((90, 2), kind))
        assert not may_be_two(np.full((90, 2), 3, kind))


# --- what becomes of it in a run ---


@pytest.mark.parametrize("env", [fu.LockBernoulli(5, 0.2), fu.LockGaussian(5, 0.2, 0.1)], ids=repr)
def test_an_oracle_is_not_asked_again_while_labels_are_clear(env, monkeypatch):
    run = fu.train(env, fu.URL(), 5_000, seeds=3)
    assert run.success_rate == 1.0
    assert all(one["oracle_fits"] <= 2 and one["decoder_stable"] for one in run.diagnostics)
    monkeypatch.setattr(pooled_decoding, "_MOST_UNFITTED", 10)
    again = fu.train(env, fu.URL(), 5_000, seeds=3)
    for one, other in zip(run.diagnostics, again.diagnostics, strict=True):
        assert other["oracle_fits"] == one["oracle_fits"] + 1


def test_an_oracle_is_asked_again_where_labels_are_not_clear_or_it_has_no_centres():
    overlapping, others = fu.LockGaussian(5, 0.2, 0.3), fu.URL(DBSCAN(3), levels="pooled")
    for env, agent in ((overlapping, fu.URL()), (fu.LockBernoulli(5, 0.2), others)):
        run = fu.train(env, agent, 2_000, seeds=2)
        assert all(one["oracle_fits"] >= 4 for one in run.diagnostics)

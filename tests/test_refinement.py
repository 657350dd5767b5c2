"""What an oracle finds, made better: borders where a mixture has them, no cluster lost, none missing."""

import numpy as np
import pytest
from scipy.stats import norm

from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.constant import ConstantDecoder
from fasturl.oracles import DBSCAN, GMM, KMeans
from fasturl.oracles.counting import LabelCriterion
from fasturl.oracles.likelihoods import CentredRows, refined, same_clusters
from fasturl.oracles.refinement import fit_and_refine, labels_that_split


def reals(sizes, noise, dimension=20, seed=0):
    """Observations around unit vectors, as many of each as `sizes` say, and their states."""
    generator = np.random.default_rng(seed)
    states = np.repeat(np.arange(len(sizes)), sizes)
    means = np.eye(len(sizes), dimension)
    return (means[states] + generator.normal(0, noise, (states.size, dimension))).astype(np.float32), states


def bits(sizes, flipped, dimension=24, seed=0):
    """Code words with bits that are flipped, and their states."""
    generator = np.random.default_rng(seed)
    words = generator.random((len(sizes), dimension)) < 0.5
    states = np.repeat(np.arange(len(sizes)), sizes)
    return (words[states] ^ (generator.random((states.size, dimension)) < flipped)).astype(np.uint8), states


def errors(decoder, rows, states):
    """The share of observations whose label is not that of most of their state."""
    labels = decoder.decode(rows)
    counts = np.zeros((states.max() + 1, labels.max() + 1), int)
    np.add.at(counts, (states, labels), 1)
    return 1.0 - counts.max(axis=1).sum() / states.size


@pytest.mark.parametrize("noise", [0.2, 0.3, 0.4])
def test_the_error_is_close_to_that_of_bayes(noise):
    """From 2,000 observations of each of three states, and labels of which a fifth are wrong: at most half as
    large again as the error of the nearest true mean, which 300,000 fresh observations tell within a few per
    cent. Two states are confused with probability Phi(-1 / (sqrt 2 noise))."""
    rows, states = reals([2_000] * 3, noise)
    generator = np.random.default_rng(1)
    labels = np.where(generator.random(states.size) < 0.2, generator.integers(3, size=states.size), states)
    fresh, truth = reals([100_000] * 3, noise, seed=2)
    best = errors(AffineDecoder(np.eye(3, 20), np.zeros(3)), fresh, truth)
    assert best <= 2.2 * norm.cdf(-1 / (np.sqrt(2) * noise))
    assert errors(refined(CentredRows(rows), labels), fresh, truth) <= 1.5 * best


def test_bits_of_which_a_state_is_seen_once_in_a_hundred_times_are_told_as_well_as_they_can_be():
    rows, states = bits([5_000, 4_900, 100], 0.1)
    generator = np.random.default_rng(1)
    labels = np.where(generator.random(states.size) < 0.1, generator.integers(3, size=states.size), states)
    assert errors(refined(CentredRows(rows), labels), rows, states) < 0.002


def test_observations_far_from_zero_are_told_apart_as_well():
    rows, states = reals([500] * 3, 0.2)
    shifted = rows + np.float32(1000.0)
    near, far = refined(CentredRows(rows), states), refined(CentredRows(shifted), states)
    assert np.mean(near.decode(rows) != far.decode(shifted)) < 0.002


def test_a_small_cluster_without_a_bit_of_its_own_is_none():
    rows = np.random.default_rng(0).integers(2, size=(400, 10)).astype(np.uint8)
    labels = np.zeros(400, np.int64)
    labels[:3] = 1
    assert isinstance(refined(CentredRows(rows), labels), ConstantDecoder)


def test_a_cluster_that_a_fit_misses_is_not_lost():
    """An oracle of two clusters finds two; what was believed has three, and a lower criterion."""
    rows, states = reals([900, 900, 20], 0.1)
    decoder = fit_and_refine(KMeans(2), rows, states, 0, 3)
    assert errors(decoder, rows, states) == 0.0
    forgetful = fit_and_refine(KMeans(2), rows, np.zeros(len(rows), np.int64), 0, 2)
    assert len(np.unique(forgetful.decode(rows))) == 2


@pytest.mark.parametrize("make", [reals, bits])
def test_clusters_that_are_two_are_split_and_those_that_lie_together_are_one(make):
    """Four states, of which two had one label, and one of the others had two."""
    rows, states = make([600, 300, 200, 100], 0.1)
    wrong = np.array([0, 1, 1, 2])[states]
    wrong[:200] = 3
    decoder = fit_and_refine(KMeans(4, n_init=1), rows, wrong, 0, 4)
    assert errors(decoder, rows, states) < 0.01
    assert LabelCriterion(rows)(decoder.decode(rows)) < LabelCriterion(rows)(wrong)


@pytest.mark.parametrize("n", [200, 3000])
@pytest.mark.parametrize("make", [reals, bits])
def test_a_decoder_whose_clusters_are_found_again_stays(make, n):
    """Where all labels that there may be are in use; elsewhere there may be one more state, and where other
    clusters are found a new decoder takes its place. 3,000 of each state are more than a fit samples."""
    rows, states = make([3 * n, n, n], 0.05)
    present = refined(CentredRows(rows), states)
    labels = present.decode(rows)
    assert fit_and_refine(KMeans(3), rows, labels, 0, 3, present) is present
    assert fit_and_refine(KMeans(3), rows, labels, 0, 4, present) is not present
    assert fit_and_refine(KMeans(3), rows, labels, 0, 3) is not present
    confused = np.roll(labels, 5)
    better = fit_and_refine(KMeans(3), rows, confused, 0, 3, present)
    assert better is not present
    assert same_clusters(better.decode(rows), labels)


def test_a_decoder_does_not_stay_where_uneven_noise_hides_a_late_state():
    """A coordinate of three values, 100 apart, tells nothing; a decoder of these was fitted before the second
    state was met, which the other coordinates show in units of noise."""
    generator = np.random.default_rng(0)
    values, states = generator.integers(3, size=4096), generator.integers(2, size=4096)
    rows = generator.normal(size=(4096, 8))
    rows[:, 0] += 100.0 * values
    rows[:, 1] += 14.0 * states
    rows = rows.astype(np.float32)
    present = refined(CentredRows(rows[states == 0]), values[states == 0])
    old_labels = present.decode(rows)
    late = fit_and_refine(KMeans(3), rows, old_labels, 3, 3, present)
    assert late is not present
    assert same_clusters(late.decode(rows), fit_and_refine(KMeans(3), rows, old_labels, 3, 3).decode(rows))


def test_a_decoder_stays_where_clusters_are_found_again_by_refining():
    """What k-means finds among these bits is not quite what a mixture makes of it."""
    rows, states = bits([600, 300, 200], 0.2)
    present = refined(CentredRows(rows), states)
    labels = present.decode(rows)
    assert not same_clusters(KMeans(3, random_state=0).fit(rows).predict(rows), labels)
    assert fit_and_refine(KMeans(3), rows, labels, 0, 3, present) is present


@pytest.mark.parametrize("make", [reals, bits])
def test_a_label_with_a_few_observations_of_another_is_not_missing_a_state(make):
    """Eight of state 2 have the label of state 0. Where state 2 has no label of its own, it is missed."""
    rows, states = make([600, 300, 200], 0.1)
    wrong = states.copy()
    wrong[np.flatnonzero(states == 2)[:8]] = 0
    assert labels_that_split(rows, wrong, 1e-6, np.random.default_rng(0)) == 0
    known = (states < 2) | (wrong != states)
    assert labels_that_split(rows[known], wrong[known], 1e-3, np.random.default_rng(0)) == 1


def test_the_tail_of_a_small_cluster_is_not_a_missing_state():
    """Of 600 clusters of a hundred normals none is doubted; with 3.25 standard deviations some would be."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(600, 100, 3)).astype(np.float32)
    doubted = sum(labels_that_split(some, np.zeros(100, np.int64), 1e-6, generator) for some in rows)
    assert doubted == 0


def test_there_are_never_more_labels_than_allowed():
    rows, _ = reals([300] * 6, 0.1)
    for most in (2, 3, 5):
        assert len(np.unique(fit_and_refine(KMeans(most), rows, None, 0, most).decode(rows))) <= most


def test_what_another_oracle_finds_is_taken_as_it_is():
    """Two rings around one centre: their means are the same, and no mixture could tell them apart."""
    generator = np.random.default_rng(0)
    angles, states = generator.random(2_000) * 2 * np.pi, np.repeat([0, 1], 1_000)
    rows = (np.stack([np.cos(angles), np.sin(angles)], 1) * np.array([1.0, 5.0])[states][:, None]).astype(
        np.float32
    )
    oracle = DBSCAN(2, eps=0.6, scale=False, projection="pca", n_directions=2)
    decoder = fit_and_refine(oracle, rows, None, 0, 2)
    np.testing.assert_array_equal(decoder.decode(rows), oracle.fit(rows).predict(rows))


@pytest.mark.parametrize("oracle", [DBSCAN(2, eps=0.6, scale=False), KMeans(2)])
@pytest.mark.parametrize("period", [2, 3])
def test_states_of_single_levels_are_seen_among_many_observations(oracle, period):
    """Rows are in the order of play, so every second or third one of short episodes is of the same level."""
    states = (np.arange(18_000) % period == 1).astype(np.int64)
    rows = np.random.default_rng(0).normal(3.0 * states[:, None], 0.2, (18_000, 2)).astype(np.float32)
    decoder = fit_and_refine(oracle, rows, None, 0, 2)
    assert errors(decoder, rows, states) == 0.0
    assert len(np.unique(decoder.decode(rows))) == 2


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
def test_noise_that_is_the_same_in_all_coordinates_is_even_however_little(noise):
    generator, states = np.random.default_rng(0), np.arange(900) % 3
    means = generator.normal(size=(3, 6))
    means[:, 5] = 7.0  # the same in all states
    rows = (means[states] + noise * generator.normal(size=(900, 6))).astype(np.float32)
    assert not CentredRows(rows).is_uneven(states)


def test_noise_of_another_unit_is_uneven():
    generator, states = np.random.default_rng(0), np.arange(900) % 3
    rows = np.eye(3, 6)[states] + generator.normal(size=(900, 6)) * [0.1, 0.1, 0.1, 0.1, 0.1, 5.0]
    assert CentredRows(rows.astype(np.float32)).is_uneven(states)


def test_observations_that_all_look_alike_have_one_label():
    rows = np.ones((50, 4))
    assert set(fit_and_refine(KMeans(3), rows, None, 0, 3).decode(rows)) == {0}


@pytest.mark.parametrize(
    ("second", "same"),
    [([5, 5, 0, 0, 2], True), ([0, 0, 0, 0, 2], False), ([5, 1, 0, 0, 2], False), ([0, 0, 1, 2, 2], False)],
    ids=["other names", "two together", "one divided", "one moved"],
)
def test_clusters_are_the_same_where_labels_differ_in_name_alone(second, same):
    first = np.array([0, 0, 1, 1, 3])
    assert same_clusters(first, np.array(second)) is same
    assert same_clusters(np.array(second), first) is same


def test_a_criterion_is_that_of_the_labels_that_are_given_last():
    rows = np.random.default_rng(0).normal(size=(60, 4))
    criterion, some, others = LabelCriterion(rows), np.arange(60) % 2, np.arange(60) % 3
    expected = [LabelCriterion(rows)(labels) for labels in (some, others)]
    assert [criterion(labels) for labels in (some, some, others, some)] == [expected[k] for k in (0, 0, 1, 0)]


# --- noise of which some directions have more ---


def one_of_another_unit(noise):
    noise[:, -1] *= 1e3
    return noise


def one_in_all_units(noise):
    return noise + 10.0 * noise[:, :1]


HIDDEN = {"one coordinate varies most": one_of_another_unit, "a factor is in all": one_in_all_units}


def hidden_rows(sizes, shape, seed=0):
    """Observations around unit vectors that noise hides, and their states in random order."""
    generator = np.random.default_rng(seed)
    states = generator.permutation(np.repeat(np.arange(len(sizes)), sizes))
    noise = HIDDEN[shape](generator.normal(0, 0.1, (states.size, 6)))
    return (np.eye(len(sizes), 6)[states] + noise).astype(np.float32), states


@pytest.mark.parametrize("sizes", [[700, 700, 700], [2_000, 70, 30], [1_000, 1_000]])
@pytest.mark.parametrize("shape", HIDDEN)
def test_states_are_found_where_noise_varies_more_than_they_do(shape, sizes):
    rows, states = hidden_rows(sizes, shape)
    decoder = fit_and_refine(GMM("auto", max_states=4), rows, None, 0, 4)
    assert errors(decoder, rows, states) < 0.01
    assert len(np.unique(decoder.decode(rows))) == len(sizes)
    # and when they are known, they are not lost
    again = fit_and_refine(GMM("auto", max_states=4), rows, decoder.decode(rows), 1, 4)
    assert errors(again, rows, states) < 0.01


@pytest.mark.parametrize("units", [1e-6, 1.0, 1e6])
def test_states_are_found_whatever_the_units_of_their_coordinates(units):
    rows, states = reals([900, 900, 300], 0.1, dimension=6)
    scaled = rows * np.array([1.0, 1.0, 1.0, units, 1.0, 1.0], np.float32)
    assert errors(fit_and_refine(GMM("auto", max_states=5), scaled, None, 0, 5), scaled, states) < 0.01


@pytest.mark.parametrize("kind", ["normal", "uniform", "laplace"])
def test_noise_alone_is_one_label_whatever_the_units_of_its_coordinates(kind):
    """A test that cuts uniform noise in two pays just what it costs, so it is asked for more."""
    for seed in range(5):
        noise = getattr(np.random.default_rng(seed), kind)(size=(2_000, 6)).astype(np.float32)
        for rows in (noise, one_of_another_unit(noise.copy())):
            decoder = fit_and_refine(GMM("auto", max_states=4), rows, None, seed, 4)
            assert len(np.unique(decoder.decode(rows))) == 1


def test_cuts_through_the_noise_are_given_up():
    """They are what is believed, and are as good as anything where one coordinate is all that is seen."""
    noise = one_of_another_unit(np.random.default_rng(0).uniform(size=(2_000, 6))).astype(np.float32)
    believed = np.searchsorted([250.0, 500.0, 750.0], noise[:, -1])
    decoder = fit_and_refine(GMM("auto", max_states=4), noise, believed, 0, 4)
    assert len(np.unique(decoder.decode(noise))) == 1


@pytest.mark.parametrize("shape", HIDDEN)
def test_sphered_noise_varies_in_all_directions_alike_and_is_decoded_as_it_was(shape):
    rows, states = hidden_rows([3_000, 3_000, 3_000], shape)
    plain = CentredRows(rows)
    sphered = plain.sphered(states)
    noise = sphered.rows - np.stack([sphered.rows[states == s].mean(axis=0) for s in range(3)])[states]
    # but for what is added where rows are few
    np.testing.assert_allclose(np.cov(noise.T), np.eye(6), atol=0.15)
    np.testing.assert_array_equal(refined(sphered, states).decode(rows), states)
    assert plain.is_uneven(states) == (shape == "one coordinate varies most")


def test_a_coordinate_that_labels_tell_exactly_still_tells_them_apart():
    rows, states = reals([500, 500], 0.1, dimension=3)
    rows[:, 2] = states
    sphered = CentredRows(rows).sphered(states)
    assert np.isfinite(sphered.rows).all()
    assert errors(refined(sphered, states), rows, states) == 0.0


DEGENERATE = {
    "a coordinate twice": lambda rows: np.concatenate([rows, rows[:, :1]], axis=1),
    "a sum of two": lambda rows: np.concatenate([rows, rows[:, :1] + rows[:, 1:2]], axis=1),
    "a constant": lambda rows: np.concatenate([rows, np.full_like(rows[:, :1], 7.0)], axis=1),
    "whole numbers": np.round,
    "far from zero": lambda rows: rows + 1e5,
    "one value but for one": lambda rows: np.where(np.arange(len(rows))[:, None] == 3, rows, 2.0),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("shape", HIDDEN)
def test_observations_of_fewer_directions_than_coordinates_are_fitted_too(shape, case):
    rows, _ = hidden_rows([600, 600, 60], shape)
    degenerate = DEGENERATE[case](rows).astype(np.float32)
    decoder = fit_and_refine(GMM("auto", max_states=5), degenerate, None, 0, 5)
    assert decoder.decode(degenerate).max() < 5

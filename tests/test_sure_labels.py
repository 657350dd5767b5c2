"""Labels from sums over noise and means apart: those of the scores, whatever hangs on rounding."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import N_INFORMATIVE, rubbish
from strategies import DRAWS
from test_affine_decoding import SIZES, Problem

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels.records import AffineScores, RealObservations
from fasturl._kernels.sure_labels import sure_labels
from fasturl.decoders import AffineDecoder
from fasturl.decoders.affine import _shares_sums
from fasturl.problems.environment import emission_rngs

pytestmark = pytest.mark.kernel


def labels_and_unsure_episodes(observations, scores, relabel, n_levels):
    """As the reference finds the labels; and as the kernel does, which says how many episodes were unsure."""
    episodes, n_states = len(observations.noise), len(observations.means)
    ref, comp = np.full((2, episodes, n_levels, n_states), 255, np.uint8)
    naive.sure_labels.sure_labels(observations, scores, relabel, None, None, ref)
    tail = rubbish(relabel.size, 2 * n_levels)
    scored_means = np.full((n_states, relabel.size, n_levels), np.nan, np.float32)
    return ref, comp, sure_labels(observations, scores, relabel, tail, scored_means, comp)


@pytest.mark.bounds
@hypothesis.given(DRAWS, SIZES, N_INFORMATIVE, st.integers(0, 40), st.booleans(), st.booleans())
@hypothesis.example(np.random.default_rng(0), (2, 6, 7, 9, 150), 9, 101, True, False)
@hypothesis.example(np.random.default_rng(0), (3, 5, 5, 4, 21), 4, 21, False, True)
def test_sure_labels_are_those_of_the_scores(draw, sizes, n_informative, levels, by_level, coarse):
    """With coarse numbers, many scores are the same, and others differ by rounding alone."""
    given = Problem(draw, sizes, n_informative, levels, (by_level, False))
    observations, scores = given.observations, given.scores
    if coarse:
        noise, means = (np.round(table) / np.float32(3.0) for table in observations[:2])
        observations = RealObservations(noise, means, observations.n_informative)
        scores = AffineScores(np.round(scores.weights), np.round(scores.bias), scores.curvature)
    ref, comp, n_unsure = labels_and_unsure_episodes(observations, scores, given.relabel, given.levels)
    np.testing.assert_array_equal(comp, ref)
    assert 0 <= n_unsure <= given.episodes


def clusters(draw, scale, noise, episodes=40, n_states=8, n_levels=21):
    """Observations of clusters around the states, and scores of the nearest mean."""
    means = scale * draw.normal(size=(n_states, 12))
    table = np.repeat(means[:, :, None], n_levels, axis=2).astype(np.float32)
    noise = (scale * noise * draw.normal(size=(episodes, 12, n_levels))).astype(np.float32)
    bias = -np.square(means).sum(axis=1) / 2
    scores = AffineScores(means.astype(np.float32), bias.astype(np.float32), np.empty(0, np.float32))
    return RealObservations(noise, table, 12), scores, np.arange(n_states, dtype=np.uint8)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e6])
def test_hardly_a_label_hangs_on_rounding_whatever_the_unit(scale):
    observations, scores, relabel = clusters(np.random.default_rng(0), scale, 0.4)
    ref, comp, n_unsure = labels_and_unsure_episodes(observations, scores, relabel, 21)
    np.testing.assert_array_equal(comp, ref)
    assert n_unsure <= (2 if scale > 1e-10 else 40)  # squares of less are nothing to single precision


def test_halfway_between_two_means_all_labels_hang_on_rounding():
    observations, scores, relabel = clusters(np.random.default_rng(0), 1.0, 0.0, n_states=2)
    middle = observations.means.mean(axis=0)
    observations = observations._replace(means=np.stack([middle, middle]))
    ref, comp, n_unsure = labels_and_unsure_episodes(observations, scores, relabel, 21)
    np.testing.assert_array_equal(comp, ref)
    assert n_unsure == len(comp)


def test_labels_that_rounding_would_change_are_those_of_the_scores():
    """Thirds of whole numbers, whose scores are often equal but for rounding: sums that are taken apart have
    another greatest one now and then."""
    draw = np.random.default_rng(0)
    noise = np.round(draw.normal(size=(400, 8, 1))).astype(np.float32) / np.float32(3.0)
    means = np.round(draw.normal(size=(2, 8, 1))).astype(np.float32) / np.float32(3.0)
    weights = np.round(draw.normal(size=(9, 8))).astype(np.float32)
    scores = AffineScores(weights, np.zeros(9, np.float32), np.empty(0, np.float32))
    given = RealObservations(noise, means, 8), scores, np.arange(9, dtype=np.uint8)
    ref, comp, n_unsure = labels_and_unsure_episodes(*given, 1)
    sums = [np.einsum("kd,...dl->...kl", weights, part) for part in (noise, means)]
    apart = (sums[0][:, None] + sums[1]).argmax(axis=2).transpose(0, 2, 1)
    assert (apart != ref).any()
    np.testing.assert_array_equal(comp, ref)
    assert 0 < n_unsure < 200


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # in plain Python
@pytest.mark.parametrize("bias", [0.0, -np.inf])
def test_equal_scores_hang_on_rounding_and_the_first_gives_the_label(bias):
    observations, scores, _ = clusters(np.random.default_rng(0), 1.0, 0.1, n_states=3)
    equal = AffineScores(np.zeros_like(scores.weights), np.full(3, bias, np.float32), scores.curvature)
    _, comp, n_unsure = labels_and_unsure_episodes(observations, equal, np.array([7, 8, 9], np.uint8), 21)
    assert n_unsure == len(comp)
    assert (comp == 7).all()


def test_a_decoder_takes_them_where_there_are_many_states():
    draw = np.random.default_rng(0)
    means = draw.normal(size=(30, 20))
    decoder = AffineDecoder(means, -np.square(means).sum(axis=1) / 2)
    for n_states, shares in ((3, False), (30, True)):
        emission = fu.emissions.Gaussian(means[:n_states], 0.3, n_levels=5)
        block = emission.draw(emission_rngs(Streams(0)), 9)
        assert _shares_sums(block, decoder._scores.affine) == shares
        expected = [decoder.decode(one.reshape(-1, 20)) for one in block.every_state()]
        np.testing.assert_array_equal(decoder.table(block).reshape(9, -1), expected)

"""A user's decoders and emissions in C inside the compiled loops."""

import numpy as np
import pytest
from c_face import affine_pair

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.decoders import CDecoder, LevelDecoder, PredictDecoder
from fasturl.decoders.decoder import block_of
from fasturl.problems.emissions import CEmission
from fasturl.problems.environment import emission_rngs


class Fixed:
    """An oracle that has nothing to learn."""

    def __init__(self, decoder):
        self.decoder_ = decoder

    def fit(self, X):
        return self

    def predict(self, X):
        return self.decoder_.decode(X)


# --- decoders ---


@pytest.mark.parametrize("horizon", [1, 5, 20])
def test_a_decoder_in_c_equals_the_built_in_one(plugins, horizon):
    built_in, in_c = affine_pair(plugins, horizon + 3)
    env = fu.LockGaussian(horizon, noise=0.4)
    block = env.emission.draw(emission_rngs(Streams(1)), 50)
    labels = in_c.table(block)
    assert np.array_equal(labels, built_in.table(block))
    assert len(np.unique(labels)) == 3
    points = block.every_state().reshape(-1, horizon + 3)
    assert np.array_equal(in_c.decode(points), built_in.decode(points))
    renaming = [2, 0, 1]
    assert np.array_equal(in_c.relabelled(renaming).table(block), built_in.relabelled(renaming).table(block))


@pytest.mark.parametrize("form", ["given as the oracle", "as the decoder of an oracle"])
def test_url_trained_with_a_decoder_in_c_equals_url_with_the_built_in_one(plugins, form):
    env = fu.LockGaussian(4, 0.2, noise=0.3)
    built_in, in_c = affine_pair(plugins, 7)
    runs = [
        fu.train(env, fu.URL(oracle=oracle), episodes=2_000, seeds=3, points=200, n_jobs=jobs)
        for oracle, jobs in [
            (Fixed(built_in), 1),
            (in_c if form == "given as the oracle" else Fixed(in_c), 2),
        ]
    ]
    assert np.array_equal(runs[0].average_reward, runs[1].average_reward)
    assert np.array_equal(runs[0].values, runs[1].values)
    assert runs[0].values.max() > 0.3


def test_bits_reach_a_decoder_in_c_as_zeros_and_ones(plugins):
    built_in, in_c = affine_pair(plugins, 9)
    block = fu.LockBernoulli(6).emission.draw(emission_rngs(Streams(1)), 30)
    assert np.array_equal(in_c.table(block), built_in.table(block))
    bits = block.every_state().reshape(-1, 9)
    assert np.array_equal(in_c.decode(bits), built_in.decode(bits))


def test_a_decoder_in_c_is_told_the_level(plugins):
    block = fu.LockGaussian(4).emission.draw(emission_rngs(Streams(0)), 2)
    decoder = CDecoder(plugins.tells_level, 9)
    assert np.array_equal(decoder.table(block), np.broadcast_to(np.arange(1, 6)[:, None], (2, 5, 3)))
    assert decoder.decode(np.zeros((3, 7)), level=6).tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("name", "n_labels", "message"),
    [
        ("tells_level", 3, "tells_level must give labels from 0 to 2, got 3 at level 3"),
        ("fills_nothing", 3, "fills_nothing must give labels from 0 to 2, got -1 at level 1"),
        ("fails", 3, "fails failed at level 1: it returned 42"),
    ],
)
def test_a_run_whose_decoder_is_wrong_stops_and_says_where(plugins, name, n_labels, message):
    with pytest.raises(ValueError, match=message):
        fu.train(
            fu.LockGaussian(4),
            fu.URL(oracle=CDecoder(getattr(plugins, name), n_labels)),
            episodes=500,
            seeds=2,
        )


# --- emissions ---


def model_with(emission, horizon=3):
    lock = fu.LockBernoulli(horizon).instance(0)
    return fu.BlockMDP(lock.transitions, lock.rewards, emission=emission)


def test_an_emission_in_c_shows_what_it_should(plugins):
    model = model_with(CEmission(plugins.uniform_noise, 5, np.array([0.5])))
    block = model.emission.draw(emission_rngs(Streams(3)), 40)
    seen = block.every_state()
    assert seen.shape == (40, 4, 3, 5)
    noise = seen - np.eye(3, 5)
    assert np.abs(noise).max() <= 0.25
    assert abs(noise.mean()) < 0.01
    assert len(np.unique(noise[:, :, 0].round(6))) > 700
    assert np.allclose(noise[:, :, 0], noise[:, :, 1], atol=1e-6)  # every state gets the same stream
    states = np.random.default_rng(0).integers(3, size=(40, 4))
    assert np.array_equal(block.observe(states)[7, 2], seen[7, 2, states[7, 2]])
    assert np.array_equal(block.level(2).every_state(), seen[:, 2:3])
    assert np.array_equal(block.episodes(3, 9).every_state(), seen[3:9])


def test_blocks_of_any_size_show_the_same(plugins):
    emission = model_with(CEmission(plugins.uniform_noise, 5, np.array([0.5]))).emission
    whole = emission.draw(emission_rngs(Streams(3)), 10).every_state()
    rngs = emission_rngs(Streams(3))
    parts = [emission.draw(rngs, size).every_state() for size in (1, 4, 5)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_every_decoder_can_see_through_an_emission_in_c(plugins):
    model = model_with(CEmission(plugins.uniform_noise, 5, np.array([0.9])))
    block = model.emission.draw(emission_rngs(Streams(3)), 20)
    built_in, in_c = affine_pair(plugins, 5)
    labels = built_in.table(block)
    assert np.array_equal(in_c.table(block), labels)
    assert np.array_equal(LevelDecoder([built_in] * 4).table(block), labels)
    assert np.array_equal(PredictDecoder(Fixed(built_in), 3).table(block), labels)
    points = block.every_state().reshape(-1, 5)
    assert np.array_equal(built_in.table(block_of(points)).ravel(), labels.ravel())


def test_url_learns_through_an_emission_in_c(plugins):
    run = fu.train(
        model_with(CEmission(plugins.uniform_noise, 5, np.array([0.3]))), fu.URL(), episodes=2_000, seeds=2
    )
    assert run.values.min() > 0.4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("not_a_number", "not_a_number must give finite numbers, got nan in coordinate 1 at level 2"),
        ("gives_up", "gives_up failed at level 1: it returned -3"),
        ("writes_nothing", "writes_nothing must give finite numbers, got nan in coordinate 0 at level 1"),
    ],
)
def test_a_run_whose_emission_is_wrong_stops_and_says_where(plugins, name, message):
    with pytest.raises(ValueError, match=message):
        fu.train(model_with(CEmission(getattr(plugins, name), 4)), fu.URL(), episodes=100)


def test_an_emission_of_another_size_is_refused(plugins):
    with pytest.raises(ValueError, match="emission must be made for 4 levels and 3 states, got 9 and 3"):
        model_with(CEmission(plugins.uniform_noise, 5, n_levels=9))
    with pytest.raises(ValueError, match="dimension must be an integer >= 1, got 0"):
        CEmission(plugins.uniform_noise, 0)

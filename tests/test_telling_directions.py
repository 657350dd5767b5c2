"""The directions that have to do with what was done, and URL where noise has larger clusters than states."""

from types import SimpleNamespace

import hypothesis
import numpy as np
import pytest
from scipy.special import ndtri, stdtrit
from strategies import DRAWS

import fasturl as fu
from fasturl.agents.telling_directions import Groups, Steps, View, depend_on_actions
from fasturl.decoders.affine import AffineDecoder
from fasturl.problems.blocks import ObservationBlock


class WithCoins(fu.emissions.Emission):
    """Each state lights a coordinate of its own, and there are coins of a size besides, or, without a size,
    noise of heavy tails."""

    independent_levels = True

    def __init__(self, n_states, n_levels, *, n_coins, size, matrix=None):
        self.n_states, self.n_levels, self.discrete = n_states, n_levels, False
        self.dimension, self.size = n_states + n_coins, size
        self.matrix = np.eye(self.dimension) if matrix is None else matrix

    def draw(self, rngs, episodes):
        words = fu.emissions.raw_words(rngs, episodes, self.n_levels * self.dimension)
        chances = ((words[:, : self.n_levels * self.dimension] >> np.uint64(11)) + 0.5) / 2**53
        chances = chances.reshape(episodes, self.n_levels, 1, self.dimension)
        rows = np.zeros((episodes, self.n_levels, self.n_states, self.dimension))
        rows[..., : self.n_states] = np.eye(self.n_states) + 0.1 * ndtri(chances[..., : self.n_states])
        of_noise = chances[..., self.n_states :]
        rows[..., self.n_states :] = self.size * (of_noise < 0.5) if self.size else stdtrit(3, of_noise)
        return ObservationBlock((rows @ self.matrix.T).astype(np.float32))


def lock_with_coins(horizon=5, **settings):
    lock = fu.LockGaussian(horizon, 0.5).instance(1)
    return fu.BlockMDP(lock.transitions, lock.rewards, emission=WithCoins(3, horizon + 1, **settings))


@pytest.mark.parametrize("n_coins", [3, 20])
@pytest.mark.parametrize("rotated", [False, True])
def test_coins_are_not_taken_for_states(n_coins, rotated):
    """They change an observation three times as much as a state does."""
    matrix = None
    if rotated:
        matrix = np.linalg.qr(np.random.default_rng(0).normal(size=(3 + n_coins, 3 + n_coins)))[0]
    env = lock_with_coins(n_coins=n_coins, size=3.0, matrix=matrix)
    run = fu.train(env, fu.URL(), 3_000, seeds=3)
    assert run.success_rate == 1.0
    assert all(one["telling_directions"] == 2 for one in run.diagnostics)


def test_coins_are_not_taken_for_states_where_nothing_follows():
    """One level, four states that are drawn, and a reward that says which action was right."""
    emission = WithCoins(4, 2, n_coins=10, size=3.0)
    rewards = 0.1 + 0.8 * np.eye(4)
    env = fu.BlockMDP(np.ones((1, 4, 4, 1)), [rewards], start=np.full(4, 0.25), emission=emission)
    assert fu.train(env, fu.URL(), 5_000, seeds=3).success_rate == 1.0


def test_there_are_no_more_directions_than_means_of_states_differ_in():
    """Actions are chosen by noise near a border, and outcomes then have to do with it: a third direction."""
    env = lock_with_coins(8, n_coins=27, size=None)
    run = fu.train(env, fu.URL(), 10_000, seeds=[203])
    assert run.success_rate == 1.0
    assert run.diagnostics[0]["telling_directions"] == 2


@pytest.mark.parametrize(
    "env", [fu.LockBernoulli(6, 0.2), fu.LockGaussian(6, 0.5, 0.2), fu.RiverSwim(6)], ids=repr
)
def test_an_oracle_that_finds_states_sees_observations_as_they_are(env):
    run = fu.train(env, fu.URL(), 1_000, seeds=2)
    assert [one["telling_directions"] for one in run.diagnostics] == [0, 0]


def steps_of(observations, labels, actions, rewards, n_of_noise=0):
    history = SimpleNamespace(
        observations=observations.astype(np.float32),
        observed=np.arange(len(labels)),
        labels=labels,
        actions=actions,
        rewards=rewards,
        n_actions=int(actions.max()) + 1,
    )
    return Steps(history, labels[:n_of_noise]), history


def played(seed, n=600, n_coins=8, *, answers=True):
    """Observations [n, 4, 1 + n_coins] of random play, whose first coordinate is the last of three actions,
    or is not, and whose others are coins; nothing is paid."""
    generator = np.random.default_rng(seed)
    actions = generator.integers(3, size=(n, 3))
    coins = 3.0 * generator.integers(2, size=(n, 4, n_coins))
    states = np.zeros((n, 4), int)
    states[:, 1:] = actions if answers else generator.integers(3, size=(n, 3))
    first = states + generator.normal(0, 0.1, (n, 4))
    return np.concatenate([first[..., None], coins], axis=2), states, actions, np.zeros((n, 3))


@pytest.mark.parametrize("seed", range(10))
def test_the_direction_is_that_of_what_actions_change(seed):
    observations, _, actions, rewards = played(seed)
    steps, _ = steps_of(observations, np.zeros((600, 4), int), actions, rewards)
    view = steps.view(None, 3)
    assert view.n_directions == 1
    direction = view.matrix[0] / np.linalg.norm(view.matrix[0])
    assert abs(direction[0]) > 0.95


def test_noise_hardly_ever_has_to_do_with_what_was_done():
    """None of 100 samples: the limit is half as much again as the edge of the eigenvalues of noise."""
    for seed in range(100):
        observations, _, actions, rewards = played(seed, 200, answers=False)
        steps, _ = steps_of(observations, np.zeros((200, 4), int), actions, rewards)
        assert steps.view(None, 3) is None


def test_noise_that_was_acted_on_is_told_from_states():
    """A policy that acts on a coin which stays as it is: the coin goes with actions, and is no outcome."""
    generator = np.random.default_rng(0)
    coin = np.repeat(generator.integers(2, size=(800, 1)), 4, axis=1)
    actions = np.where(generator.random((800, 3)) < 0.8, coin[:, 1:], generator.integers(2, size=(800, 3)))
    states = np.concatenate([np.zeros((800, 1), int), actions], axis=1)
    observations = np.stack([states, 3 * coin], axis=2) + generator.normal(0, 0.1, (800, 4, 2))
    inverse = np.linalg.inv(np.cov(observations.reshape(-1, 2).T))
    of_states = inverse[0] / np.linalg.norm(inverse[0])  # along which the state alone makes means differ
    for n_of_noise, told in ((800, True), (0, False)):
        steps, _ = steps_of(observations, coin, actions, np.zeros((800, 3)), n_of_noise)
        view = steps.view(None, 2)
        assert view.n_directions == 1
        cosine = abs(view.matrix[0] @ of_states) / np.linalg.norm(view.matrix[0])
        assert (cosine > 0.99) == told


def test_what_was_done_for_noise_is_told_apart_once_labels_are_states():
    """A state that stays as it is half the time, and 300 first trajectories whose actions are coin xor
    state: given the states, actions tell the coins, which are no direction of what actions change."""
    generator = np.random.default_rng(0)
    coins = generator.integers(2, size=(900, 4))
    states, actions = np.zeros((900, 4), int), np.zeros((900, 3), int)
    for level in range(3):
        actions[:, level] = generator.integers(2, size=900)
        actions[:300, level] = coins[:300, level] ^ states[:300, level]
        stay = generator.random(900) < 0.5
        states[:, level + 1] = np.where(stay, states[:, level], actions[:, level])
    observations = np.stack([states, 3 * coins], axis=2) + generator.normal(0, 0.1, (900, 4, 2))
    rewards = np.zeros((900, 3))
    steps, history = steps_of(observations, 2 * coins + states, actions, rewards, 300)
    assert steps.view(states, 3).n_directions == 1
    assert Steps(history, history.labels[:0]).view(states, 3).n_directions == 2


def test_labels_that_are_states_leave_little_unexplained():
    observations, states, actions, rewards = played(0)
    coins = (observations[..., 1] > 1.5).astype(int)
    steps, _ = steps_of(observations, coins, actions, rewards)
    assert steps.unexplained(states) < 0.05 * steps.unexplained(coins)
    nothing = steps.unexplained(np.zeros_like(states))
    assert steps.unexplained(coins) == pytest.approx(nothing, rel=0.05)


def test_whether_labels_depend_on_actions():
    """Of 300 samples that do not, with an error rate of 1e-6, none is taken to; all that do are."""
    for seed in range(300):
        observations, states, actions, rewards = played(seed, 60, answers=False)
        assert not depend_on_actions(states, steps_of(observations, states, actions, rewards)[1])
    for seed in range(20):
        observations, states, actions, rewards = played(seed, 60)
        assert depend_on_actions(states, steps_of(observations, states, actions, rewards)[1])


@hypothesis.given(DRAWS)
def test_scatter_is_what_groups_differ_by_within_their_strata(draw):
    n, dimension = draw.integers([20, 1], [80, 4])
    z = draw.normal(size=(n, dimension)).astype(np.float32)
    strata, outcomes = draw.integers(2, size=n), draw.integers(3, size=n)
    comp = Groups.of(np.arange(n), strata, outcomes)
    pairs = [(strata == s) & (outcomes == o) for s in range(2) for o in range(3)]
    groups = [(k // 3, members) for k, members in enumerate(pairs) if members.sum() >= 8]
    ref, freedom = np.zeros((dimension, dimension)), 0
    for s in range(2):
        of_stratum = [members for stratum, members in groups if stratum == s]
        if of_stratum:
            mean = z[np.any(of_stratum, axis=0)].mean(axis=0, dtype=float)
            for members in of_stratum:
                gap = z[members].mean(axis=0, dtype=float) - mean
                ref += members.sum() * np.outer(gap, gap)
            freedom += len(of_stratum) - 1
    assert comp.freedom == freedom
    np.testing.assert_allclose(comp.scatter(z), ref, atol=1e-5)


@hypothesis.given(DRAWS)
def test_a_decoder_of_rows_is_one_of_observations(draw):
    n, dimension, n_directions, n_labels = draw.integers([1, 2, 1, 2], [30, 6, 3, 5])
    view = View(draw.normal(size=(n_directions, dimension)), draw.normal(size=dimension), 1.0)
    observations = draw.normal(size=(n, dimension)).astype(np.float32)
    weights, bias = draw.normal(size=(n_labels, n_directions)), draw.normal(size=n_labels)
    scores = (observations - view.centre) @ view.matrix.T @ weights.T + bias
    gaps = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0]
    labels = view.decoder(AffineDecoder(weights, bias)).decode(observations)
    sure = gaps > 1e-4
    np.testing.assert_array_equal(labels[sure], scores.argmax(axis=1)[sure])
    np.testing.assert_array_equal(
        AffineDecoder(weights, bias).decode(view.rows(observations))[sure], labels[sure]
    )


def test_of_two_views_the_one_with_more_directions_shows_more():
    one, two = View(np.ones((1, 3)), np.zeros(3), 9.0), View(np.ones((2, 3)), np.zeros(3), 5.0)
    assert two.shows_more_than(one)
    assert not one.shows_more_than(two)
    assert one.shows_more_than(one._replace(evidence=8.0))
    assert one.shows_more_than(None)


def test_bits_have_directions_too():
    observations, _, actions, rewards = played(0)
    bits = (observations > np.r_[0.5, np.full(8, 1.5)]).astype(np.uint8)
    _, history = steps_of(observations, np.zeros((600, 4), int), actions, rewards)
    history.observations = bits
    view = Steps(history, history.labels[:0]).view(None, 2)
    assert view.n_directions == 1
    assert np.abs(view.matrix[0]).argmax() == 0

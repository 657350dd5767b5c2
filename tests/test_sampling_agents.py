"""PSRL, OPSRL and RLSVI as agents: on latent states, on observations, inside URL, with labels to spare."""

import numpy as np
import pytest

import fasturl as fu
from fasturl._base import names
from fasturl._base.streams import Streams
from fasturl.agents.game import Game
from fasturl.learners.playing import player_of

LEARNERS = {"psrl": fu.PSRL, "opsrl": fu.OPSRL, "rlsvi": fu.RLSVI}


@pytest.fixture(params=sorted(LEARNERS))
def name(request):
    return request.param


@pytest.fixture(params=["full", "trajectory"])
def planning(request):
    return request.param


def few_observations(horizon=3):
    """Two states, told apart by the first of two bits; the second is a coin. Action 1 in state 1 is paid at
    the last level."""
    transitions = np.zeros((horizon, 2, 2, 2))
    transitions[:, :, 0, 0] = transitions[:, 0, 1, 1] = transitions[:, 1, 1, 1] = 1.0
    rewards = np.zeros((horizon, 2, 2, 2))
    rewards[-1, 1, 1, 1] = 0.8
    emission = fu.emissions.Bernoulli([[0.0, 0.5], [1.0, 0.5]], n_levels=horizon + 1)
    return fu.BlockMDP(transitions, rewards, emission=emission, max_return=1.0)


def test_each_is_known_by_name(name):
    assert isinstance(names.make("learner", name, {}), LEARNERS[name])


def test_on_latent_states(name, planning):
    run = fu.train(fu.LockBernoulli(4, 0.2), LEARNERS[name](planning=planning), episodes=3_000, seeds=3)
    assert run.agent == f"{name}-lat"
    assert run.success_rate == 1.0


def test_on_observations_of_which_there_are_few(name, planning):
    run = fu.train(
        few_observations(), LEARNERS[name](planning=planning), sees="observation", episodes=2_000, seeds=2
    )
    assert run.agent == f"{name}-obs"
    assert run.success_rate == 1.0


def test_inside_url(name, planning):
    agent = fu.URL(oracle=fu.oracles.KMeans(), learner=LEARNERS[name](planning=planning))
    assert fu.train(fu.LockBernoulli(4, 0.2), agent, episodes=6_000).success_rate == 1.0


def test_labels_that_never_occur_are_no_obstacle(name, planning):
    """A bound of 6 on the states of a lock that has 3."""
    instance = fu.LockBernoulli(4, 0.2).instance(0)
    env = fu.BlockMDP(instance.transitions, instance.rewards, max_states=6, max_return=1.0)
    assert fu.train(env, LEARNERS[name](planning=planning), episodes=6_000, seeds=2).success_rate == 1.0


def test_a_run_is_the_same_in_blocks_of_any_size(name, planning):
    instance = fu.LockBernoulli(3, 0.2).instance(0)
    tables = []
    for size in (50, 7):
        streams = Streams(0)
        game = Game(instance, streams, latent=True)
        memory = LEARNERS[name](planning=planning).start(game.task(3, 50))
        for first in range(0, 50, size):
            returns = np.empty(min(size, 50 - first))
            labels = np.tile(np.arange(3, dtype=np.uint8), (returns.size, 4, 1))
            player_of(memory).learn(instance.dynamics, labels, streams.row("dynamics"), returns)
        tables.append(memory.tables)
    for one, other in zip(*tables, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (fu.PSRL, {"transition_prior": 0.0}, "transition_prior"),
        (fu.PSRL, {"reward_alpha": -1.0}, "reward_alpha"),
        (fu.OPSRL, {"samples": 0}, "samples"),
        (fu.OPSRL, {"constants": "paper"}, "constants"),
        (fu.OPSRL, {"c0": -1.0}, "c0"),
        (fu.PSRL, {"planning": "none"}, "planning"),
        (fu.RLSVI, {"planning": "path"}, "planning"),
        (fu.OPSRL, {"n0": -1.0}, "n0"),
        (fu.OPSRL, {"kappa": 0.0}, "kappa"),
        (fu.RLSVI, {"sigma": 0.0}, "sigma"),
        (fu.RLSVI, {"ridge": 0.0}, "ridge"),
    ],
)
def test_bad_settings_are_refused_by_name(kind, settings, message):
    with pytest.raises(ValueError, match=f"^{message} must be"):
        kind(**settings)

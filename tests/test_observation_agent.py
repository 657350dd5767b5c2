"""The baselines that take every raw observation for a state."""

import naive
import numpy as np
import pytest

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.observation import _GrowingTable
from fasturl.learners.learner import Task
from fasturl.problems.emissions import Gaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits


@pytest.mark.parametrize("learner", [fu.OracleQ(), fu.QLearning()])
def test_a_run_is_that_of_a_dictionary_keyed_by_level_and_observation(learner):
    env, episodes, seed = fu.LockBernoulli(horizon=4, switch=0.3), 300, 5
    run = fu.train(env, learner, episodes, seeds=[seed], sees="observation", points=episodes)

    streams = Streams(seed)
    instance = env.draw(streams)
    rules = learner.rules(Task(4, 2**7, 4, 1.0, episodes, streams.row("policy")))
    words = env.emission.draw(emission_rngs(streams), episodes).words
    table = _GrowingTable(rules.initial, n_words=1, n_actions=4)
    table.make_room(4 * episodes)
    dynamics_rng, policy_rng, returns = (
        streams.row("dynamics").tolist(),
        streams.row("policy").tolist(),
        np.empty(episodes),
    )
    naive.hashing.learn(instance.dynamics, words, table.arrays, rules, dynamics_rng, policy_rng, returns)
    np.testing.assert_array_equal(run.average_reward[0], np.cumsum(returns) / np.arange(1, episodes + 1))


def test_short_locks_are_solved_and_longer_ones_are_not():
    short = fu.train(fu.LockBernoulli(3), fu.OracleQ(), 20_000, seeds=5, sees="observation")
    long = fu.train(fu.LockBernoulli(12), fu.OracleQ(), 5_000, seeds=5, sees="observation")
    assert short.success_rate == 1.0
    assert long.success_rate == 0.0


def test_the_agent_says_how_many_observations_it_met():
    run = fu.train(fu.LockBernoulli(1), fu.QLearning(), 500, sees="observation")
    assert run.agent == "qlearning-obs"
    assert run.diagnostics[0]["observations_met"] == 2  # level 1, live state 0, one coin


def test_growing_keeps_every_row():
    table = _GrowingTable(initial=0.5, n_words=1, n_actions=2)
    table.make_room(3)
    keys = np.array([[0, 7], [1, 7], [0, 9]], np.uint64)
    table.arrays.keys[:3], table.arrays.q[:3, 0], table.arrays.size[0] = keys, [[1, 2], [3, 4], [5, 6]], 3
    table.make_room(1000)
    np.testing.assert_array_equal(table.arrays.keys[:3], keys)
    np.testing.assert_array_equal(table.arrays.q[:3, 0], [[1, 2], [3, 4], [5, 6]])
    assert (table.arrays.q[3:] == 0.5).all()
    assert sorted(table.arrays.slots[table.arrays.slots >= 0]) == [0, 1, 2]


def test_continuous_observations_are_refused():
    with pytest.raises(
        ValueError, match="needs an environment with discrete observations, got one with real ones"
    ):
        fu.train(fu.LockGaussian(3), fu.OracleQ(), 10, sees="observation")
    model = fu.BlockMDP(
        np.ones((1, 1, 2, 1)), np.zeros((1, 1, 2)), emission=Gaussian([[0.0]], 1.0, n_levels=2)
    )
    with pytest.raises(ValueError, match="discrete observations, got one with real ones"):
        fu.train(model, fu.OracleQ(), 10, sees="observation")


def test_a_learner_without_rules_is_refused():
    class Other:
        def start(self, task):
            raise AssertionError

    with pytest.raises(
        ValueError,
        match="agent must be a learner with rules, such as OracleQ or QLearning, when sees='observation'",
    ):
        fu.train(fu.LockBernoulli(3), Other(), 10, sees="observation")


def test_the_longest_locks_have_more_observations_than_a_number_can_count():
    run = fu.train(fu.LockBernoulli(1100), fu.OracleQ(schedule="jin"), 2, sees="observation")
    assert run.values[0] == 0


def test_a_model_without_emission_is_refused_for_what_it_lacks():
    model = fu.BlockMDP(np.ones((1, 1, 2, 1)), np.zeros((1, 1, 2)))
    with pytest.raises(ValueError, match="env must have an emission when sees='observation'"):
        fu.train(model, fu.OracleQ(), 10, sees="observation")


@pytest.mark.parametrize("horizon", [5, 20])
def test_an_evaluation_in_blocks_is_that_of_all_episodes_at_once(horizon, monkeypatch):
    """Memory is that of a block, and luck does not depend on how episodes are cut into blocks."""
    drawn = []
    draw = LockBits.draw
    monkeypatch.setattr(
        LockBits, "draw", lambda self, lanes, episodes: drawn.append(episodes) or draw(self, lanes, episodes)
    )
    env = fu.LockBernoulli(horizon, 0.2)
    in_blocks = fu.train(env, fu.OracleQ(), 500, seeds=2, sees="observation")
    most = LockBits(horizon).block_episodes
    assert max(drawn) == most < 4_000
    monkeypatch.setattr(LockBits, "block_episodes", 10_000)
    at_once = fu.train(env, fu.OracleQ(), 500, seeds=2, sees="observation")
    np.testing.assert_array_equal(in_blocks.values, at_once.values)

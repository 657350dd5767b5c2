"""The baselines that take every raw observation for a state."""

import naive
import numpy as np
import pytest

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.observation import _Rows
from fasturl.learners.learner import Task
from fasturl.problems.emissions import Gaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits


def rows_for(learner, n_rows, *, levels_apart=False, n_words=1):
    """Room for so many observations of a lock with four levels."""
    task = Task(4, n_rows, 4, 1.0, 300, np.array([1, 2, 3, 4], np.uint64), levels_apart=levels_apart)
    return _Rows(learner, task, n_words)


class Planning(fu.OracleQ):
    """As one that plans backwards: its tables have levels, and an observation has one row at all of them."""

    plans_by_level = True


@pytest.mark.parametrize(
    ("learner", "reference"),
    [
        (fu.OracleQ(), naive.q_table.ORACLEQ),
        (fu.QLearning(), naive.q_table.QLEARNING),
        (Planning(), naive.q_table.ORACLEQ),
    ],
    ids=["OracleQ", "QLearning", "tables with levels"],
)
def test_a_run_is_that_of_a_dictionary_keyed_by_level_and_observation(learner, reference):
    env, episodes, seed = fu.LockBernoulli(horizon=4, switch=0.3), 300, 5
    run = fu.train(env, learner, episodes, seeds=[seed], sees="observation", points=episodes)

    streams = Streams(seed)
    instance = env.draw(streams)
    words = env.emission.draw(emission_rngs(streams), episodes).words
    rows = rows_for(learner, 4 * episodes, levels_apart=learner.plans_by_level)
    dynamics_rng, policy_rng = streams.row("dynamics").tolist(), streams.row("policy").tolist()
    returns = np.empty(episodes)
    reference.learn_observations(
        *(instance.dynamics, words, rows.keys, rows.memory.tables),
        *(dynamics_rng, policy_rng, returns, None, [0] * 3),
    )
    np.testing.assert_array_equal(run.average_reward[0], np.cumsum(returns) / np.arange(1, episodes + 1))
    assert run.diagnostics[0]["observations_met"] == rows.size


def test_short_locks_are_solved_and_longer_ones_are_not():
    short = fu.train(fu.LockBernoulli(3), fu.OracleQ(), 20_000, seeds=5, sees="observation")
    long = fu.train(fu.LockBernoulli(12), fu.OracleQ(), 5_000, seeds=5, sees="observation")
    assert short.success_rate == 1.0
    assert long.success_rate == 0.0


def test_the_agent_says_how_many_observations_it_met():
    run = fu.train(fu.LockBernoulli(1), fu.QLearning(), 500, sees="observation")
    assert run.agent == "qlearning-obs"
    assert run.diagnostics[0]["observations_met"] == 2  # level 1, live state 0, one coin


@pytest.mark.parametrize("levels_apart", [False, True])
def test_growing_keeps_every_row(levels_apart):
    rows = rows_for(fu.OracleQ(), 4, levels_apart=levels_apart)
    keys = np.array([[0, 7], [1, 7], [0, 9]], np.uint64)
    rows.keys.table.keys[:3], rows.keys.table.size[0] = keys, 3
    values = np.arange(12.0).reshape(3, 4)
    rows.memory.tables.q[:, :3] = values
    assert rows.room_for_episodes() == 1  # of the four rows more that there are now, and one
    table, q = rows.keys.table, rows.memory.tables.q
    assert len(table.keys) == q.shape[1] == 8
    np.testing.assert_array_equal(table.keys[:3], keys)
    np.testing.assert_array_equal(q[:, :3], np.broadcast_to(values, q[:, :3].shape))
    assert (q[:, 3:] == 1.0).all()
    assert sorted(table.slots[table.slots >= 0]) == [0, 1, 2]


class Large(fu.OracleQ):
    """Has a megabyte more for each observation."""

    def tables(self, task):
        return super().tables(task)._replace(epsilons=np.zeros(task.n_labels * 125_000))


def test_tables_that_would_fill_the_memory_are_refused_before_they_are_made():
    rows = rows_for(Large(), 4)
    with pytest.raises(
        ValueError,
        match="the tables of Large for 5,000 observations would take 5 gigabytes, and 4 are allowed",
    ):
        rows._grow(5_000)


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


def test_a_learner_that_is_not_compiled_is_refused():
    class Other:
        def start(self, task):
            raise AssertionError

    with pytest.raises(
        ValueError,
        match="agent must be a compiled learner, such as OracleQ or QLearning, when sees='observation'",
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

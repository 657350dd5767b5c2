"""The baselines that take every raw observation for a state."""

import naive
import numpy as np
import pytest

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import ObservationAgent
from fasturl.agents.game import Game
from fasturl.agents.observation import _Rows
from fasturl.learners.learner import Task
from fasturl.problems.emissions import Bernoulli, Categorical, Gaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits


def rows_for(learner, n_rows=None, *, level_in_key=False, n_bits=7, horizon=4, n_actions=4):
    """Room for so many observations of 300 episodes of a lock."""
    task = Task(horizon, 1, n_actions, 1.0, 300, np.array([1, 2, 3, 4], np.uint64))
    return _Rows(learner, task, n_bits, level_in_key=level_in_key, n_rows=n_rows)


class Planning(fu.OracleQ):
    """As one that plans backwards: its tables have levels, and an observation has one row at all of them."""

    plans_by_level = True


@pytest.mark.parametrize(
    ("learner", "reference", "level_in_key"),
    [
        (fu.OracleQ(), naive.q_table.ORACLEQ, False),
        (fu.QLearning(), naive.q_table.QLEARNING, False),
        (fu.OracleQ(), naive.q_table.ORACLEQ, True),
        (fu.QLearning(), naive.q_table.QLEARNING, True),
        (Planning(), naive.q_table.ORACLEQ, None),
    ],
    ids=["OracleQ", "QLearning", "OracleQ told the level", "QLearning told the level", "tables with levels"],
)
def test_a_run_is_that_of_a_dictionary(learner, reference, level_in_key):
    env, episodes, seed = fu.LockBernoulli(horizon=4, switch=0.3), 300, 5
    agent = ObservationAgent(learner, level_in_key=level_in_key)
    run = fu.train(env, agent, episodes, seeds=[seed], points=episodes)

    streams = Streams(seed)
    instance = env.draw(streams)
    words = env.emission.draw(emission_rngs(streams), episodes).words
    rows = rows_for(learner, level_in_key=bool(level_in_key))
    dynamics_rng, policy_rng = streams.row("dynamics").tolist(), streams.row("policy").tolist()
    returns = np.empty(episodes)
    reference.learn_observations(
        *(instance.dynamics, words, rows.keys, rows.memory.tables),
        *(dynamics_rng, policy_rng, returns, None, [0] * 3),
    )
    np.testing.assert_array_equal(run.average_reward[0], np.cumsum(returns) / np.arange(1, episodes + 1))
    assert run.diagnostics[0]["observations_met"] == rows.size


@pytest.mark.parametrize(
    "learner", [fu.OracleQ(0.3, 0.02), fu.QLearning(0.2, 0.5)], ids=["OracleQ", "QLearning"]
)
@pytest.mark.parametrize("horizon", [1, 3])
def test_a_run_is_the_published_procedure(learner, horizon):
    """Values by observation alone, as a person would write them down: no level, no rows, no tables."""
    env, episodes = fu.LockBernoulli(horizon, switch=0.3), 400
    run = fu.train(env, learner, episodes, seeds=[7, 8], sees="observation", points=episodes)
    for seed, average_reward in zip(run.seeds, run.average_reward, strict=True):
        returns = naive.observations.returns_by_observation(env, learner, episodes, Streams(seed))
        np.testing.assert_array_equal(average_reward, np.cumsum(returns) / np.arange(1, episodes + 1))


PUBLISHED = {"oracleq-obs": (0.038, 0.041), "qlearning-obs": (0.067, 0.056)}
"""Mean and standard deviation of the average reward over 20 seeds of the published program: H = 5, switch
0.5, 4,000 episodes."""


@pytest.mark.parametrize("learner", [fu.OracleQ(0.1, 0.03), fu.QLearning(0.1, 0.5)], ids=PUBLISHED)
def test_runs_earn_what_the_published_program_earns(learner):
    """Within 3 standard errors, which chance alone exceeds once in 370 times; the seeds are fixed."""
    run = fu.train(fu.LockBernoulli(5, 0.5), learner, 4_000, seeds=100, sees="observation")
    mean, deviation = PUBLISHED[run.agent]
    rewards = run.final_average_reward
    assert abs(rewards.mean() - mean) < 3 * np.hypot(deviation / 20**0.5, rewards.std(ddof=1) / 10)


def test_an_agent_that_is_told_the_level_earns_far_more():
    env, episodes = fu.LockBernoulli(5, 0.5), 4_000
    told = fu.train(env, ObservationAgent(fu.QLearning(0.1, 0.5), level_in_key=True), episodes, seeds=10)
    untold = fu.train(env, fu.QLearning(0.1, 0.5), episodes, seeds=10, sees="observation")
    assert told.agent == untold.agent == "qlearning-obs"
    assert told.agent_settings["level_in_key"] is True
    assert untold.agent_settings["level_in_key"] is None
    assert told.final_average_reward.min() > untold.final_average_reward.max()


def test_the_last_observation_starts_at_zero_unless_it_was_acted_in():
    """One level and one action, which leads from the state with observation 1 to that with observation 2."""
    model = fu.BlockMDP(
        np.array([[[[0.0, 1.0]]]]), np.zeros((1, 1, 1)), emission=Categorical(np.eye(2), n_levels=2)
    )
    game, rows = Game(model, Streams(0)), rows_for(fu.OracleQ(), n_bits=2, horizon=1, n_actions=1)
    game.begin(1).learn_observations(rows.memory, rows.keys, np.empty(1))
    np.testing.assert_array_equal(rows.keys.table.keys[:2], [[0, 1], [0, 2]])
    assert rows.memory.tables.q[0, 0, 0] < 1.0  # nothing lay ahead
    np.testing.assert_array_equal(rows.memory.tables.q[0, 1], 0.0)
    before, tables = rows.memory.tables.q[0, 0, 0], rows.memory.tables
    tables.q[0, 1] = 0.5  # as if it had been acted in since
    game.begin(1).learn_observations(rows.memory, rows.keys, np.empty(1))
    rate, bonus = tables.rates[2], tables.bonuses[2]
    assert tables.q[0, 0, 0] == pytest.approx((1 - rate) * before + rate * (0.5 + bonus))


def test_a_learner_that_plans_by_level_cannot_do_without_it():
    env = fu.LockBernoulli(3)
    run = fu.train(env, ObservationAgent(fu.UCBVI(), level_in_key=True), 20)
    same = fu.train(env, fu.UCBVI(), 20, sees="observation")
    np.testing.assert_array_equal(run.average_reward, same.average_reward)
    with pytest.raises(
        ValueError, match="level_in_key must be true for UCBVI, whose plan is by level, got False"
    ):
        fu.train(env, ObservationAgent(fu.UCBVI(), level_in_key=False), 20)
    with pytest.raises(ValueError, match="level_in_key must be True or False, got 'deep'"):
        ObservationAgent(fu.OracleQ(), level_in_key="deep")


def test_who_is_told_the_level_solves_short_locks_and_nobody_solves_longer_ones():
    told = ObservationAgent(fu.OracleQ(), level_in_key=True)
    untold = ObservationAgent(fu.OracleQ())
    assert fu.train(fu.LockBernoulli(3), told, 20_000, seeds=5).success_rate == 1.0
    assert fu.train(fu.LockBernoulli(3), untold, 20_000, seeds=5).success_rate < 1.0
    for agent in (told, untold):
        assert fu.train(fu.LockBernoulli(12), agent, 5_000, seeds=5).success_rate == 0.0


def test_the_agent_says_how_many_observations_it_met():
    run = fu.train(fu.LockBernoulli(1), fu.QLearning(), 500, sees="observation")
    assert run.agent == "qlearning-obs"
    assert run.diagnostics[0]["observations_met"] == 6  # three states, one coin


@pytest.mark.parametrize("learner", [fu.OracleQ(), Planning()], ids=["one level", "tables with levels"])
def test_growing_keeps_every_row(learner):
    rows = rows_for(learner, 5)
    keys = np.array([[0, 7], [0, 8], [0, 9]], np.uint64)
    rows.keys.table.keys[:3], rows.keys.table.size[0] = keys, 3
    values = np.arange(12.0).reshape(3, 4)
    rows.memory.tables.q[:, :3] = values
    assert rows.room_for_episodes() == 1  # of the rows more that there are now, and some
    table, q = rows.keys.table, rows.memory.tables.q
    assert len(table.keys) == q.shape[1] == 10
    np.testing.assert_array_equal(table.keys[:3], keys)
    np.testing.assert_array_equal(q[:, :3], np.broadcast_to(values, q[:, :3].shape))
    assert (q[:, 3:] == 1.0).all()
    assert sorted(table.slots[table.slots >= 0]) == [0, 1, 2]


@pytest.mark.parametrize(("level_in_key", "n_rows"), [(False, 8), (True, 32)])
def test_a_table_with_a_row_for_everything_is_never_full(level_in_key, n_rows):
    rows = rows_for(fu.OracleQ(), level_in_key=level_in_key, n_bits=3)
    assert len(rows.keys.table.keys) == n_rows
    rows.keys.table.size[0] = n_rows
    assert rows.room_for_episodes() == 300
    assert len(rows.keys.table.keys) == n_rows


@pytest.mark.parametrize("level_in_key", [False, True])
def test_all_bit_strings_have_a_row(level_in_key):
    """Two fair bits at each of three levels and at the end: sooner or later everything is met."""
    emission = Bernoulli([[0.5, 0.5]], n_levels=4)
    model = fu.BlockMDP(np.ones((3, 1, 2, 1)), np.zeros((3, 1, 2)), emission=emission)
    run = fu.train(model, ObservationAgent(fu.OracleQ(), level_in_key=level_in_key), 500)
    assert run.diagnostics[0]["observations_met"] == (12 if level_in_key else 4)


class Large(fu.OracleQ):
    """Has a megabyte more for each observation."""

    def tables(self, task):
        return super().tables(task)._replace(epsilons=np.zeros(task.n_labels * 125_000))


def test_tables_that_would_fill_the_memory_are_refused_before_they_are_made():
    rows = rows_for(Large(), 4, n_bits=20)
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


def test_bits_beyond_the_dimension_are_refused(monkeypatch):
    draw = LockBits.draw

    def draw_too_many(self, lanes, episodes):
        block = draw(self, lanes, episodes)
        block.words[:] |= np.uint64(1) << np.uint64(self.dimension)
        return block

    monkeypatch.setattr(LockBits, "draw", draw_too_many)
    with pytest.raises(ValueError, match="words of 6 bits, got some with more bits that are set"):
        fu.train(fu.LockBernoulli(3), fu.OracleQ(), 10, sees="observation")


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

"""What learners have learned so far: the protocol that any learner can offer, and policies of chances."""

import numpy as np
import pytest
from strategies import latent_labels

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.learners.learner import Task, start
from fasturl.learners.playing import draw_policy, player_of

POLICY_RNG = np.array([1, 2, 3, 4], np.uint64)


def task(horizon=4, n_labels=3, n_actions=2, max_return=1.0, episodes=10):
    return Task(horizon, n_labels, n_actions, max_return, episodes, POLICY_RNG.copy())


# --- memories of our own ---


def table_of(q, episodes=1):
    """A memory of OracleQ with these action values and no cap."""
    task = Task(*q.shape, np.inf, episodes, POLICY_RNG.copy())
    memory = fu.OracleQ(learning_rate=0.3, confidence=0.01).start(task)
    memory.tables.q[:] = q
    return memory


def test_the_final_policy_is_greedy_with_ties_as_equal_probabilities():
    q = np.array([[[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]]])
    memory = table_of(q)
    assert memory.final_policy().tolist() == [[[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]]


def test_the_policy_of_an_episode_is_greedy_in_the_table():
    memory = table_of(np.array([[[1.0, 2.0], [3.0, 0.0]]]))
    assert memory.policy().tolist() == [[1, 0]]


def test_two_starts_share_nothing():
    learner = fu.OracleQ()
    first, second = learner.start(task()), learner.start(task())
    first.update(np.zeros(5, np.int64), np.zeros(4, np.int64), np.zeros(4))
    assert first.tables.visits.sum() == 4
    assert second.tables.visits.sum() == 0
    assert np.all(second.tables.q == 1.0)
    assert (first.episodes_learned, second.episodes_learned) == (1, 0)


class Slowly:
    """A memory's protocol and nothing else: hides that there is a compiled loop."""

    def __init__(self, memory):
        self.policy, self.update, self.final_policy = memory.policy, memory.update, memory.final_policy


def untied(seed, episodes=200):
    """A table in which two values are never equal, so that nothing is drawn to choose between them."""
    return table_of(np.random.default_rng(seed).random((5, 3, 4)), episodes)


@pytest.mark.parametrize("seed", range(5))
def test_the_compiled_loop_and_the_protocol_one_episode_at_a_time_learn_the_same(seed):
    fast, slow = untied(seed), untied(seed)
    fast_returns, slow_returns = np.empty(200), np.empty(200)
    for memory, returns in ((fast, fast_returns), (Slowly(slow), slow_returns)):
        streams = Streams(seed)
        instance = fu.LockBernoulli(5, 0.2).draw(streams)
        player_of(memory).learn(instance.dynamics, latent_labels(200, 5, 3), streams.row("dynamics"), returns)
    np.testing.assert_array_equal(fast_returns, slow_returns)
    np.testing.assert_array_equal(fast.tables.q, slow.tables.q)
    np.testing.assert_array_equal(fast.tables.visits, slow.tables.visits)
    assert fast.episodes_learned == slow.episodes_learned == 200


def test_a_memory_may_have_room_for_labels_that_are_not_met_but_not_for_fewer():
    """As where an oracle finds fewer states than a level has."""
    instance, dynamics_rng = fu.LockBernoulli(5, 0.2).instance(0), Streams(0).row("dynamics")
    labels = latent_labels(4, 5, 3)
    roomy, narrow = (
        Slowly(table_of(np.random.default_rng(0).random((5, n_labels, 4)))) for n_labels in (7, 2)
    )
    assert player_of(roomy).explore(instance.dynamics, labels, dynamics_rng)[1].shape == (4, 5)
    with pytest.raises(
        ValueError,
        match=r"policy of Slowly must give an integer array \[5, 3 or more\], got int64 of shape \(5, 2\)",
    ):
        player_of(narrow).explore(instance.dynamics, labels, dynamics_rng)


# --- policies of probabilities ---


def test_drawing_from_ties_is_what_a_greedy_table_does():
    """So that results are those of the table, bit for bit, whichever of the two is played."""
    memory = table_of(np.random.default_rng(1).integers(3, size=(6, 5, 4)).astype(float))
    other = POLICY_RNG.copy()
    for _ in range(5):
        np.testing.assert_array_equal(draw_policy(memory.final_policy(), other), memory.policy())
    np.testing.assert_array_equal(other, memory.task.policy_rng)


def test_actions_are_drawn_with_their_probabilities():
    """Frequencies in 20,000 draws are within 5 standard deviations; what has no chance never happens."""
    chances = np.array(
        [[[0.0, 0.3, 0.0, 0.7], [0.4, 0.2, 0.2, 0.2]], [[0.0, 1.0, 0.0, 0.0], [0.1, 0.0, 0.9, 0.0]]]
    )
    policy_rng = POLICY_RNG.copy()
    drawn = np.eye(4)[np.stack([draw_policy(chances, policy_rng) for _ in range(20_000)])].mean(axis=0)
    assert np.all(np.abs(drawn - chances) <= 5 * np.sqrt(chances * (1 - chances) / 20_000))


def test_a_learner_written_in_python_gets_a_repeatable_generator():
    assert task().generator().random() == task().generator().random()


def test_a_generator_of_a_task_is_another_one_at_each_call_and_the_same_for_the_same_seed():
    def drawn():
        task = Task(2, 3, 4, 1.0, 10, Streams(3).row("policy"))
        return [task.generator().random() for _ in range(4)]

    assert len(set(drawn())) == 4
    assert drawn() == drawn()


def test_a_memory_is_asked_for_its_methods_at_the_start():
    class Empty:
        def start(self, task):
            return None

    task = Task(2, 3, 4, 1.0, 10, Streams(3).row("policy"))
    with pytest.raises(
        ValueError,
        match="start of Empty must return an object with policy, update and final_policy, got NoneType",
    ):
        start(Empty(), task)
    assert start(fu.OracleQ(), task).tables.q.shape == (2, 3, 4)

"""A learner of a stranger's own, in plain `@njit` functions, does all that one of ours does, bit for bit."""

import naive
import numpy as np
import pytest
from numba import njit
from own_oracleq import OwnOracleQ
from strategies import latent_labels
from url_parts import same

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.learners.learner import Task, start
from fasturl.learners.playing import player_of

HORIZON, EPISODES = 4, 120
LOCK = fu.LockBernoulli(HORIZON, 0.2)
LEARNERS = pytest.mark.parametrize(
    "learner", [fu.OracleQ(), fu.OracleQ(schedule="jin"), fu.QLearning(), OwnOracleQ()], ids=repr
)


def task(n_labels=3, episodes=EPISODES, levels_apart=True):
    stream = np.array([1, 2, 3, 4], np.uint64)
    return Task(HORIZON, n_labels, 4, 1.0, episodes, stream, levels_apart=levels_apart)


def assert_same_tables(first, second):
    for mine, other in zip(first.tables, second.tables, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(first.task.policy_rng, second.task.policy_rng)


# --- a copy of OracleQ ---


@pytest.mark.parametrize("settings", [{}, {"learning_rate": 0.1, "confidence": 0.02}])
@pytest.mark.parametrize("sees", ["latent", "observation"])
def test_a_copy_of_oracleq_learns_the_same_bits(sees, settings):
    runs = [
        fu.train(LOCK, learner(**settings), 2_000, seeds=4, sees=sees, points=200)
        for learner in (fu.OracleQ, OwnOracleQ)
    ]
    same(*runs)


def test_a_copy_of_oracleq_learns_the_same_bits_inside_url():
    runs = [fu.train(LOCK, fu.URL(learner=one), 2_000, seeds=3) for one in (fu.OracleQ(), OwnOracleQ())]
    same(*runs)


def test_a_copy_of_oracleq_learns_the_same_bits_inside_url_as_written():
    small = {"batch": 6, "epsilon": 0.9, "delta": 0.9}
    runs = [
        fu.train(fu.LockBernoulli(1, 0.2), fu.URLAsWritten(learner=one, **small), 3, seeds=3)
        for one in (fu.OracleQ(), OwnOracleQ())
    ]
    same(*runs)


def test_a_run_does_not_depend_on_the_number_of_threads():
    one, two = (fu.train(LOCK, OwnOracleQ(), 500, seeds=6, n_jobs=n_jobs) for n_jobs in (1, 2))
    same(one, two)


# --- replay ---


def history(learner, episodes=EPISODES):
    """Trajectories that a memory has learned from one by one, and that memory."""
    memory, streams = learner.start(task()), Streams(3)
    instance, labels = LOCK.draw(streams), latent_labels(1, HORIZON, 3)
    trajectories = []
    for _ in range(episodes):
        states, actions, rewards = player_of(memory).explore(
            instance.dynamics, labels, streams.row("dynamics")
        )
        memory.update(states[0], actions[0], rewards[0])
        trajectories.append((states[0], actions[0], rewards[0]))
    return memory, [np.stack(parts) for parts in zip(*trajectories, strict=True)]


@LEARNERS
def test_learning_replaying_and_updating_one_by_one_give_the_same_bits(learner):
    one_by_one, trajectories = history(learner)
    learned, streams = learner.start(task()), Streams(3)
    instance = LOCK.draw(streams)
    labels = latent_labels(EPISODES, HORIZON, 3)
    player_of(learned).learn(instance.dynamics, labels, streams.row("dynamics"), np.empty(EPISODES))
    assert_same_tables(learned, one_by_one)

    replayed = learner.start(task())
    replayed.replay(*trajectories)
    for mine, other in zip(replayed.tables, learned.tables, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(replayed.final_policy(), learned.final_policy())
    assert replayed.episodes_learned == learned.episodes_learned == EPISODES


@LEARNERS
@pytest.mark.parametrize("cut", [1, 50])
def test_a_history_can_be_replayed_in_parts(learner, cut):
    _, trajectories = history(learner)
    whole, parts = learner.start(task()), learner.start(task())
    whole.replay(*trajectories)
    for part in (slice(cut), slice(cut, None)):
        parts.replay(*(array[part] for array in trajectories))
    assert_same_tables(whole, parts)


@LEARNERS
def test_a_history_whose_labels_were_swapped_gives_tables_with_their_rows_swapped(learner):
    """What URL needs when its decoder changes: only names differ."""
    _, (labels, actions, rewards) = history(learner)
    renaming = np.array([2, 0, 1])
    before, after = learner.start(task()), learner.start(task())
    before.replay(labels, actions, rewards)
    after.replay(renaming[labels], actions, rewards)
    np.testing.assert_array_equal(after.tables.q[:, renaming], before.tables.q)
    np.testing.assert_array_equal(after.tables.visits[:, renaming], before.tables.visits)


def test_a_history_whose_labels_were_merged_is_that_of_the_reference():
    _, (labels, actions, rewards) = history(fu.QLearning())
    merged = np.minimum(labels, 1)
    memory, reference = fu.QLearning().start(task(n_labels=2)), fu.QLearning().start(task(n_labels=2))
    memory.replay(merged, actions, rewards)
    naive.q_table.QLEARNING.replay(reference.tables, merged, actions, rewards, [1, 2, 3, 4], [0] * 3)
    assert_same_tables(memory, reference)


# --- memories that grow ---


@LEARNERS
def test_a_memory_that_has_grown_goes_on_as_one_that_was_as_large_from_the_start(learner):
    _, trajectories = history(learner)
    first, rest = ([array[part] for array in trajectories] for part in (slice(60), slice(60, None)))
    small, large = (learner.start(task(n_labels)._replace(most_labels=9)) for n_labels in (3, 7))
    small.replay(*first)
    large.replay(*first)
    grown = small.grown(7)
    assert_same_tables(grown, large)
    assert grown.episodes_learned == 60
    assert grown.task.n_labels == 7
    for memory in (grown, large):
        memory.replay(rest[0] + 4, *rest[1:])  # under labels that there was no room for
    assert_same_tables(grown, large)
    assert small.tables.q.shape[1] == 3


# --- one memory, one run ---


def test_start_gives_a_memory_for_the_task_and_for_one_run():
    told = task()
    memory = start(OwnOracleQ(), told)
    assert memory.task is told
    assert memory.claim() is False
    assert start(OwnOracleQ(), told) is not memory


def test_the_parts_of_a_memory_cannot_be_replaced():
    """Its loops would leave the tables that they were checked for."""
    memory = fu.OracleQ().start(task())
    for name in ("tables", "task", "learner", "episodes_learned"):
        with pytest.raises(AttributeError, match=name):
            setattr(memory, name, None)
    with pytest.raises(TypeError, match="CompiledMemory cannot be subclassed"):
        type("Mine", (type(memory),), {})


def test_tables_are_copied_so_that_a_learner_may_keep_what_it_hands_out():
    kept = {}

    class Keeps(OwnOracleQ):
        def tables(self, task):
            size = task.n_labels, task.episodes
            if size not in kept:
                kept[size] = super().tables(task)
            return kept[size]

    same(fu.train(LOCK, Keeps(), 500, seeds=4), fu.train(LOCK, fu.OracleQ(), 500, seeds=4))
    assert all(tables.visits.sum() == 0 for tables in kept.values())


@njit
def choose_the_last(tables, level, label, rng):
    return tables.q.shape[2] - 1


class Stubborn(fu.OracleQ):
    """OracleQ but for its choices: the one look of ours, which chooses and values at once, is not its own."""

    functions = fu.OracleQ.functions._replace(choose=choose_the_last)


@njit
def forget(tables, level, label, action, reward, next_level, next_label):
    tables.q[level, label, action] = 0.0


class Forgetful(fu.OracleQ):
    """OracleQ but for what it learns."""

    functions = fu.OracleQ.functions._replace(take_step=forget)


def test_a_class_that_replaces_take_step_alone_learns_in_its_own_way():
    """Every action is tried once, and then all are as good as each other."""
    run = fu.train(fu.BlockMDP(np.ones((2, 1, 3, 1)), [[[1.0, 0.5, 0.0]]] * 2), Forgetful(), 20)
    np.testing.assert_allclose(run.values, 2 * (1.0 + 0.5 + 0.0) / 3)


def test_a_class_that_replaces_choose_alone_makes_its_own_choices():
    run = fu.train(fu.BlockMDP(np.ones((2, 1, 3, 1)), [[[1.0, 0.5, 0.0]]] * 2), Stubborn(), 20)
    assert run.final_average_reward[0] == 0.0

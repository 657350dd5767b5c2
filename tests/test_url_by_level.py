"""URL with a decoder for each level: history is labelled anew, and what is learned from it is what would have
been learned under these labels from the start."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.cluster import KMeans
from told_trajectories import trajectories_of

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import history as history_module
from fasturl.agents.game import Game
from fasturl.agents.history import History
from fasturl.agents.separate_decoding import SeparateDecoding
from fasturl.decoders.by_level import LevelDecoder
from fasturl.decoders.decoder import Decoder
from fasturl.learners.learner import start

SEPARATE = fu.URL(levels="separate")


@pytest.mark.parametrize(
    "lock",
    [
        fu.RichLock(horizon=6),
        fu.RichLock(horizon=6, noise=0.2),
        fu.RichLock(horizon=6, emission="bernoulli"),
        fu.RichLock(horizon=6, rotation=False),
        fu.RichLock(horizon=6, switch=0.0, reward="sparse"),
    ],
    ids=["rich", "noise 0.2", "bits", "not rotated", "sparse"],
)
def test_the_rich_lock_is_solved(lock):
    """In 1,600 trajectories, where one decoder for all levels has a tenth of V* after 10,000."""
    run = fu.train(lock, SEPARATE, episodes=1600, seeds=range(6))
    assert run.oracle == "splits"
    assert run.success_rate == 1.0


def test_deep_levels_are_reached_one_after_the_other():
    run = fu.train(fu.RichLock(horizon=20), SEPARATE, episodes=3000, seeds=2)
    assert run.success_rate == 1.0
    for diagnostics in run.diagnostics:
        assert diagnostics["labels_found"] == [2] + [3] * 20
        assert min(diagnostics["decoder_accuracy"]) > 0.99


def means_by_level(n_levels, n_states, seed):
    """A look of its own for each level and state, in no particular direction."""
    return np.random.default_rng(seed).normal(size=(n_levels, n_states, 12))


def test_a_block_mdp_of_ones_own_is_solved():
    """Two states a level, told apart by a random mean each, and a walk in which only one action goes on."""
    horizon, generator = 5, np.random.default_rng(0)
    transitions, rewards = np.zeros((horizon, 2, 3, 2)), np.zeros((horizon, 2, 3))
    transitions[..., 1] = 1.0
    good = generator.integers(3, size=horizon)
    for h in range(horizon):
        transitions[h, 0, good[h]] = [1.0, 0.0]
    rewards[-1, 0, good[-1]] = 1.0
    emission = fu.emissions.Gaussian(means_by_level(horizon + 1, 2, 1), 0.2, n_levels=horizon + 1)
    env = fu.BlockMDP(transitions, rewards, emission=emission)
    assert fu.train(env, SEPARATE, episodes=800, seeds=6).success_rate == 1.0


@pytest.mark.parametrize(
    "learner", [fu.OracleQ(), fu.RMax(), fu.OPSRL()], ids=lambda learner: type(learner).__name__
)
def test_any_learner_will_do(learner):
    run = fu.train(fu.RichLock(horizon=3), fu.URL(learner=learner, levels="separate"), episodes=3000, seeds=2)
    assert run.success_rate == 1.0


def test_any_oracle_will_do():
    agent = fu.URL(oracle=KMeans(3, n_init=3), levels="separate")
    assert fu.train(fu.RichLock(horizon=3), agent, episodes=800, seeds=2).success_rate == 1.0


class Told(KMeans):
    """An oracle that takes history, and keeps what it was told."""

    takes_history = True
    told: ClassVar[list[tuple]] = []

    def fit(self, X, y=None, groups=None):
        self.told.append((len(X), y, groups))
        return super().fit(X)


def test_an_oracle_that_takes_history_is_told_labels_and_what_came_before(monkeypatch):
    """No labels where it is fitted afresh, and no groups at the first level."""
    monkeypatch.setattr(Told, "told", told := [])
    fu.train(fu.RichLock(3, n_actions=4), fu.URL(oracle=Told(2), levels="separate"), 200, seeds=1, n_jobs=1)
    for n, y, groups in told:
        assert y is None or (y.shape == (n,) and y.max() < 3)
        assert groups is None or (groups.shape == (n,) and groups.max() < 3 * 4)
    for known in (1, 2):
        assert {entry[known] is None for entry in told} == {True, False}


def test_runs_do_not_depend_on_the_number_of_workers():
    runs = [fu.train(fu.RichLock(horizon=4), SEPARATE, 400, seeds=3, n_jobs=n_jobs) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(runs[0].average_reward, runs[1].average_reward)
    np.testing.assert_array_equal(runs[0].values, runs[1].values)


def test_levels_is_checked():
    with pytest.raises(ValueError, match=r"levels must be one of .auto., .pooled., .separate., got .apart."):
        fu.URL(levels="apart")


# --- the history ---


class Signs(Decoder):
    """Label 1 where a coordinate is positive."""

    def __init__(self, coordinate):
        super().__init__(3)
        self.coordinate = coordinate

    def table(self, block):
        return self.relabel[(block.every_state()[..., self.coordinate] > 0).astype(int)]


def played(count=60, most_observations=None):
    """A game whose levels are decoded badly, the learner's memory, and all that happened."""
    streams = Streams(7)
    game = Game(fu.RichLock(horizon=4, switch=0.3).draw(streams), streams)
    memory = start(fu.PooledUCBVI(), game.task(3, 200))
    history = History(4, 3, 10)
    history.most_observations = most_observations
    decoder = LevelDecoder([Signs(1)] * 5, 3)
    trajectories = [game.learn_in_view(memory, decoder, count // 2) for _ in range(2)]
    for part in trajectories:
        history.add(part)
    return game, memory, history, trajectories


def test_learning_in_view_is_learning():
    """The same returns and tables as `learn`, which shows nothing of what happened."""
    _, memory, _, trajectories = played()
    streams = Streams(7)
    other = Game(fu.RichLock(horizon=4, switch=0.3).draw(streams), streams)
    learned, returns = start(fu.PooledUCBVI(), other.task(3, 200)), np.empty(60)
    for first in (0, 30):
        other.learn(learned, LevelDecoder([Signs(1)] * 5, 3), returns[first : first + 30])
    np.testing.assert_array_equal(np.concatenate([part.returns for part in trajectories]), returns)
    for mine, others in zip(memory.tables, learned.tables, strict=True):
        np.testing.assert_array_equal(mine, others)


def test_a_memory_that_is_rebuilt_knows_what_was_learned():
    """With the plan of the last episode, which others have made before: tables but the plan's are the same,
    and so is the final policy."""
    game, memory, history, _ = played()
    rebuilt = history.learned(fu.PooledUCBVI(), game, 200)
    assert rebuilt.episodes_learned == memory.episodes_learned == 60
    for name in ("visits", "transitions", "rewards", "reward_squares"):
        np.testing.assert_array_equal(getattr(rebuilt.tables, name), getattr(memory.tables, name))
    np.testing.assert_array_equal(rebuilt.final_policy(), memory.final_policy())


def test_a_learner_that_does_not_plan_is_rebuilt_bit_for_bit():
    game, _, history, trajectories = played()
    rebuilt, replayed = history.learned(fu.OracleQ(), game, 200), start(fu.OracleQ(), game.task(3, 200))
    for part in trajectories:
        replayed.replay(part.labels, part.actions, part.rewards)
    np.testing.assert_array_equal(rebuilt.tables.q, replayed.tables.q)


def test_what_follows_is_believed_at_once_where_all_states_of_the_next_level_are_told():
    """`Signs` tells two of three labels at most, so all levels have room for one more but the third, where
    there are three now."""
    _, _, history, _ = played()
    history.labels[:3, 2] = 0, 1, 2
    decoding = SeparateDecoding(KMeans(3), 3, np.random.default_rng(0), batch=25, n_levels=5)
    first, second, *others = decoding.believed_after(history)
    assert second == 1
    assert min(first, *others) >= 3


def one_label_played():
    """Forty trajectories of two levels in which nothing was told apart."""
    return trajectories_of(np.zeros((40, 3)), np.zeros((40, 2), np.int64), np.zeros((40, 2)))


def test_looks_for_news_are_rarer_the_longer_nothing_is_new():
    decoding = SeparateDecoding(KMeans(3), 3, np.random.default_rng(0), batch=25, n_levels=3)
    assert [decoding.until_due(played) for played in (25, 2500, 2600, 50_000)] == [25, 25, 26, 500]
    decoding.last_change = 47_000
    assert decoding.until_due(50_000) == 30
    decoding._new_label_at = 49_000
    assert decoding.until_due(50_000) == 25


def test_an_action_is_tried_more_often_the_longer_nothing_is_found():
    """Up to six times the root of the number of trajectories, for all pairs of a level together."""
    decoding = SeparateDecoding(KMeans(3), 3, np.random.default_rng(0), batch=25, n_levels=3)
    decoding._least_visits = np.full(2, np.inf)
    history = History(2, 3, 2)
    tries = []
    for _ in range(12):
        history.add(one_label_played())
        tries.append(decoding.believed_after(history).tolist())
    assert all(first == second for first, second in tries)
    assert tries == sorted(tries)
    assert tries[0] == [6, 6]
    assert max(tries)[0] <= 6 * np.sqrt(480) / 2


def test_levels_that_wait_for_tries_share_what_is_affordable():
    """Both levels may have another state, and each has an action that was never taken."""
    decoding = SeparateDecoding(KMeans(3), 3, np.random.default_rng(0), batch=25, n_levels=3)
    history = History(2, 3, 2)
    for _ in range(12):
        history.add(one_label_played())
    decoding._least_visits = np.array([0.0, np.inf])
    alone = decoding.believed_after(history)
    decoding._least_visits = np.zeros(2)
    np.testing.assert_array_less(decoding.believed_after(history), alone)


def test_a_bound_on_states_that_is_too_large_costs_little():
    """The lock has three states a level, and a try at any of its eight levels takes a trajectory."""
    run = fu.train(fu.RichLock(8), fu.URL(n_states=5), 2000, seeds=[5])
    assert run.final_average_reward[0] > 0.7
    assert run.success_rate == 1.0


def test_the_label_and_action_before_an_observation_are_one_number():
    _, _, history, _ = played()
    assert history.came_from(1) is None
    expected = history.labels[:, 2].astype(int) * 10 + history.actions[history.observed, 2]
    np.testing.assert_array_equal(history.came_from(4), expected)


def test_visits_are_counted_by_level_label_and_action():
    _, _, history, trajectories = played()
    slow = np.zeros((4, 3, 10), int)
    for part in trajectories:
        for labels, actions in zip(part.labels, part.actions, strict=True):
            for h in range(4):
                slow[h, labels[h], actions[h]] += 1
    np.testing.assert_array_equal(history.visits(), slow)


def test_counts_are_those_of_the_present_labels_whenever_they_are_asked_for():
    """They are added up as trajectories come, and begun again where labels change."""
    game = Game(fu.RichLock(4).instance(0), Streams(0))
    history = History(4, 3, 10, 2)

    def check():
        counts, visits = np.zeros((5, history.n_labels), int), np.zeros((4, history.n_labels, 10), int)
        for labels, actions in zip(history.labels, history.actions, strict=True):
            for h, label in enumerate(labels):
                counts[h, label] += 1
            for h, action in enumerate(actions):
                visits[h, labels[h], action] += 1
        np.testing.assert_array_equal(history.label_counts(), counts)
        np.testing.assert_array_equal(history.visits(), visits)
        np.testing.assert_array_equal(history.labels_met(), (counts > 0).sum(axis=1))

    def turned(n_labels):
        return lambda: history.set_labels((history.observed_labels + 1) % n_labels)

    def relabel_second_level():
        history.relabel_level(2, np.arange(len(history.observed)) % 3)

    check()
    changes = [turned(3), relabel_second_level, lambda: history.make_room(5), turned(5), lambda: None]
    for change in changes:
        for count in (3, 4):
            history.add(game.play_random(count))
            check()
        change()
        check()


def test_new_labels_are_named_after_old_ones():
    _, _, history, _ = played()
    old = history.labels[:, 1].copy()
    names, agreement = history.relabel_level(2, (1 - old).astype(np.int64))
    assert names[:2].tolist() == [1, 0]
    assert agreement == 1.0
    np.testing.assert_array_equal(history.labels[:, 1], old)
    moved = old.copy()
    moved[0] = 2
    _, agreement = history.relabel_level(2, moved.astype(np.int64))
    assert agreement == 0.0  # of the new label, which nothing had before
    np.testing.assert_array_equal(history.labels[:, 1], moved)


def test_labels_of_all_levels_are_named_together():
    _, _, history, _ = played()
    old = history.labels.copy()
    names, agreement = history.relabel(np.roll(np.arange(3), 1)[old])
    assert names.tolist() == [1, 2, 0]
    assert agreement == 1.0
    np.testing.assert_array_equal(history.labels, old)


@pytest.mark.parametrize("limit", ["bytes", "observations"])
def test_observations_are_let_go_where_they_take_too_much_memory(limit, monkeypatch):
    """Those of every second trajectory, and later ones are looked at less often."""
    if limit == "bytes":
        monkeypatch.setattr(history_module, "MOST_BYTES", 40 * 5 * 8 * 4)
    _, _, history, trajectories = played(most_observations=40 * 5 if limit == "observations" else None)
    everything = np.concatenate([part.observations() for part in trajectories])
    kept = history.observations
    assert 10 <= len(kept) <= 40
    assert all((row == everything).all(axis=(1, 2)).any() for row in kept)
    old = history.labels.copy()
    history.relabel_level(3, np.full(len(kept), 2))
    assert np.count_nonzero(history.labels != old) <= len(kept)
    assert len(history.labels) == 60


# --- a learner of the user's own ---


@dataclass(frozen=True)
class Scripted:
    """Asks for no table and learns from no step but the last: a memory in plain Python."""

    def start(self, task):
        return ScriptedMemory(task)


class ScriptedMemory:
    def __init__(self, task):
        self.task, self.trajectories, self.generator = task, 0, task.generator()

    def policy(self):
        shape = self.task.horizon, self.task.n_labels
        return self.generator.integers(self.task.n_actions, size=shape)

    def update(self, labels, actions, rewards):
        assert labels.shape == (self.task.horizon + 1,)
        assert labels.max() < self.task.n_labels
        self.trajectories += 1

    def final_policy(self):
        task = self.task
        return np.full((task.horizon, task.n_labels, task.n_actions), 1 / task.n_actions)


def test_a_memory_in_python_is_told_every_trajectory_again():
    run = fu.train(fu.RichLock(horizon=2), fu.URL(learner=Scripted(), levels="separate"), episodes=120)
    assert run.diagnostics[0]["relabellings"] > 0
    assert run.total_trajectories == 120

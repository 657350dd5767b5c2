"""Learners by name, from C: what they learn is what Python's learn, and what cannot be had is told."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from c_face import call, done, dynamics, last_error, start_learner, stream, struct
from strategies import latent_labels

import fasturl as fu
from fasturl._base import names
from fasturl._base.schema import Declared
from fasturl._base.streams import Streams
from fasturl.capi import ffi, lib, named_learners
from fasturl.learners import CompiledLearner
from fasturl.learners.episode_loops import loops_of
from fasturl.learners.learner import Task

EPISODES, HORIZON = 700, 4
MODEL = fu.LockBernoulli(HORIZON, 0.2).instance(7)


def compiled_learners():
    return [
        one.name
        for one in names.components("learner").values()
        if one.built_in and issubclass(one.cls, CompiledLearner)
    ]


def python_s(learner, seed=7):
    """Python's own memory for the same task, and the streams that it draws from."""
    streams = Streams(seed)
    return learner.start(Task(HORIZON, 3, 4, 1.0, EPISODES, streams.row("policy"), (0.0, 1.0))), streams


def start(name, settings=None, seed=7, **changes):
    sizes = {"horizon": HORIZON, "episodes": EPISODES} | changes
    return start_learner(name, settings, stream(seed, 3), **sizes)


def learn(handle, rng, episodes=EPISODES, rows=EPISODES):
    tables, _kept = dynamics(MODEL)
    returns = np.full(episodes, 7.0)
    done("learner_learn", handle, tables, episodes, latent_labels(rows, HORIZON, 3), rows, rng, returns)
    return returns


def final_policy(handle):
    chances = np.empty((HORIZON, 3, 4))
    done("learner_final_policy", handle, chances)
    return chances


@pytest.mark.parametrize("rows", [1, 17, EPISODES])
@pytest.mark.parametrize("name", compiled_learners())
def test_every_learner_learns_as_in_python(name, rows):
    handle, rng = start(name), stream(7, 1)
    returns = learn(handle, rng, rows=rows)
    memory, streams = python_s(names.make("learner", name, {}))
    expected = np.empty(EPISODES)
    labels = latent_labels(EPISODES, HORIZON, 3)
    memory.learn_episodes(MODEL.dynamics, labels, streams.row("dynamics"), expected)
    assert np.array_equal(returns, expected)
    assert np.array_equal(rng, streams.row("dynamics"))
    assert np.array_equal(final_policy(handle), memory.final_policy())
    assert lib.fasturl_learner_free(handle) == lib.FASTURL_OK


def test_learning_in_pieces_is_learning_at_once():
    whole, parts = start("qlearning"), start("qlearning")
    expected, rng = learn(whole, stream(7, 1)), stream(7, 1)
    pieces = [learn(parts, rng, count) for count in (300, 1, 399)]
    assert np.array_equal(np.concatenate(pieces), expected)


def test_the_loops_are_those_of_python():
    """Views of C memory have the types that the loops are compiled for when Python calls them."""
    fu.train(fu.LockBernoulli(2), fu.OracleQ(), episodes=3)
    loop = loops_of(fu.OracleQ.functions, trusted=True).lean.learn
    before = list(loop.signatures)
    learn(start("oracleq"), stream(7, 1))
    assert before == loop.signatures


def test_a_program_may_play_its_own_episodes():
    """It asks for a policy, plays it, and has the trajectory replayed."""
    handle, (memory, _) = start("qlearning"), python_s(fu.QLearning())
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = np.full((HORIZON, 3), 7)
        done("learner_policy", handle, actions)
        assert np.array_equal(actions, memory.policy())
        labels, rewards = rng.integers(3, size=HORIZON + 1), rng.random(HORIZON)
        taken = actions[np.arange(HORIZON), labels[:-1]]
        done("learner_replay", handle, 1, labels, taken, rewards)
        memory.update(labels, taken, rewards)
    assert np.array_equal(final_policy(handle), memory.final_policy())


def test_settings_are_words_with_python_s_names_and_values():
    handle = start("oracleq", " schedule=spread  confidence=0.25 failure_probability=none ")
    learner = named_learners._learners[handle].memory.learner
    assert learner == fu.OracleQ(schedule="spread", confidence=0.25)


REFUSED = {
    "no such learner": (("qlerning",), "got 'qlerning' (did you mean qlearning?)"),
    "no such setting": (("oracleq", "confidnce=1"), "confidnce is not a setting of learner 'oracleq'"),
    "a value out of range": (("qlearning", "learning_rate=2"), "learning_rate must be a number in (0, 1]"),
    "a value that is no number": (("oracleq", "confidence=much"), "confidence must be a number"),
    "no value": (("oracleq", "confidence"), "settings must be written as name=value, got 'confidence'"),
    "a setting twice": (("oracleq", "confidence=1 confidence=2"), "confidence must be set once"),
    "settings at odds": (("oracleq", "schedule=jin learning_rate=0.1"), "learning_rate must be left out"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_had_is_told(name):
    (arguments, message) = REFUSED[name]
    with pytest.raises(AssertionError):
        start(*arguments)
    assert message in last_error()


def test_an_error_is_cut_where_it_does_not_fit():
    with pytest.raises(AssertionError):
        start("nobody")
    whole = last_error()
    assert last_error(1) == ""
    assert last_error(8) == whole[:7]


def test_each_thread_has_an_error_of_its_own():
    texts = {}

    def fail(name):
        with pytest.raises(AssertionError):
            start(name)
        gate.wait()
        texts[name] = last_error()

    gate = threading.Barrier(4)
    threads = [threading.Thread(target=fail, args=(f"nobody{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"got '{name}'" in text for name, text in texts.items())
    assert len(texts) == 4


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"horizon": 2**30}, "E_SIZE"),
        ({"n_actions": 2**31}, "E_SIZE"),
        ({"episodes": 2**31 - 1}, "E_SIZE"),
        ({"n_labels": 257}, "E_SIZE"),
        ({"max_return": np.nan}, "E_NUMBER"),
        ({"least_reward": 2.0}, "E_NUMBER"),
        ({"least_reward": -1.1e100}, "E_NUMBER"),
        ({"greatest_reward": 1.1e100}, "E_NUMBER"),
        ({"size": 8}, "E_STRUCT"),
    ],
)
def test_tasks_that_make_no_sense_are_refused(changes, status):
    with pytest.raises(AssertionError) as refused:
        start("oracleq", **changes)
    assert refused.value.args[0][0] == getattr(lib, f"FASTURL_{status}")


def test_a_learner_is_not_fed_more_episodes_than_it_was_told_of():
    handle, rng = start("oracleq"), stream(7, 1)
    learn(handle, rng, EPISODES - 10)
    tables, _kept = dynamics(MODEL)
    before, returns = rng.copy(), np.full(11, 7.0)
    arguments = handle, tables, 11, latent_labels(1, HORIZON, 3), 1, rng, returns
    assert call("learner_learn", *arguments) == lib.FASTURL_E_RANGE
    assert np.array_equal(rng, before)
    assert np.all(returns == 7.0)
    learn(handle, rng, 10)


def test_rewards_that_nobody_pays_are_refused():
    """Their sums would be no numbers, and draws that depend on those would not end."""
    handle, rewards = start("psrl"), np.zeros((1, HORIZON))
    rewards[0, 1] = -1.1e100
    labels, actions = np.zeros((1, HORIZON + 1), np.int64), np.zeros((1, HORIZON), np.int64)
    assert call("learner_replay", handle, 1, labels, actions, rewards) == lib.FASTURL_E_NUMBER


def test_dynamics_of_another_size_are_refused():
    handle = start("oracleq", horizon=HORIZON + 1)
    tables, _kept = dynamics(MODEL)
    labels = latent_labels(1, HORIZON + 1, 3)
    status = call("learner_learn", handle, tables, 1, labels, 1, stream(7, 1), np.zeros(1))
    assert status == lib.FASTURL_E_RANGE


def test_a_handle_that_was_freed_or_never_given_is_refused():
    handle = start("oracleq")
    assert lib.fasturl_learner_free(handle) == lib.FASTURL_OK
    for stale in (handle, 0, 2**64 - 1):
        assert lib.fasturl_learner_free(stale) == lib.FASTURL_E_HANDLE
        assert call("learner_final_policy", stale, np.zeros((HORIZON, 3, 4))) == lib.FASTURL_E_HANDLE
    assert start("oracleq") != handle


def test_calls_on_one_learner_from_many_threads_wait_for_each_other():
    """Each learns its share of the episodes; none is lost."""
    handle = start("qlearning", episodes=80_000)
    tables, _kept = dynamics(MODEL)
    labels, statuses = latent_labels(1, HORIZON, 3), []

    def train(seed):
        returns = np.empty(10_000)
        statuses.append(call("learner_learn", handle, tables, 10_000, labels, 1, stream(seed, 1), returns))

    threads = [threading.Thread(target=train, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = named_learners._learners[handle].memory
    assert statuses == [lib.FASTURL_OK] * 8
    assert memory.tables.visits.sum() == 80_000 * HORIZON
    assert memory.tables.episode[0] == 80_000


@dataclass(frozen=True)
class Prototype(Declared):
    """A learner of three methods, which is not compiled."""

    def start(self, task):
        raise AssertionError("not started")


@dataclass(frozen=True)
class Careless(CompiledLearner):
    """A compiled learner whose action is out of range."""

    functions = fu.OracleQ.functions._replace(choose=lambda tables, level, label, rng: 9)

    def tables(self, task):
        return fu.OracleQ().tables(task)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(names, "_registered", {kind: dict(ones) for kind, ones in names._registered.items()})
    names.register(Prototype, kind="learner")
    names.register(Careless, kind="learner")


def test_a_learner_that_is_not_compiled_is_refused(registered):
    with pytest.raises(AssertionError):
        start("prototype")
    assert last_error() == "learner 'prototype' must be a compiled one, got Prototype"


def test_a_learner_of_somebody_else_s_that_goes_wrong_is_told_and_writes_nothing(registered):
    handle, rng, returns = start("careless"), stream(7, 1), np.full(3, 7.0)
    tables, _kept = dynamics(MODEL)
    status = call("learner_learn", handle, tables, 3, latent_labels(1, HORIZON, 3), 1, rng, returns)
    assert status == lib.FASTURL_E_LEARNER
    assert last_error() == "choose of Careless at level 1 must give an action that there is, got 9"
    assert np.all(returns == 7.0)
    assert np.array_equal(rng, stream(7, 1))


def test_texts_that_are_not_there_or_not_text():
    handle, rng = ffi.new("uint64_t *"), stream(0, 3)
    pointer, length = ffi.cast("uint64_t *", rng.ctypes.data), rng.size
    told = struct("fasturl_task", horizon=2, n_labels=3, n_actions=4, episodes=5, greatest_reward=1.0)
    status = lib.fasturl_learner_start(ffi.NULL, ffi.NULL, told, pointer, length, handle)
    assert status == lib.FASTURL_E_NULL
    name = ffi.new("char[]", b"\xff\xfe")
    status = lib.fasturl_learner_start(name, ffi.NULL, told, pointer, length, handle)
    assert status == lib.FASTURL_E_LEARNER
    assert "utf-8" in last_error()
    assert handle[0] == 0

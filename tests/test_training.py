"""`train`: one agent over many seeds."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import naive
import numpy as np
import pytest
from url_parts import play

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import game
from fasturl.agents.latent import LatentAgent
from fasturl.learners.learner import Task
from fasturl.training import as_agent

ENV = fu.LockBernoulli(horizon=4, switch=0.2)
BLOCK = 64
LEARNERS = [fu.OracleQ(), fu.OracleQ(schedule="jin"), fu.QLearning()]


class RoundRobin:
    """A learner that is none of ours: takes the actions in turn and remembers the best it met."""

    def start(self, task):
        self.task = task
        return RoundRobinMemory(task)

    def __repr__(self):
        return "RoundRobin()"


class RoundRobinMemory:
    def __init__(self, task):
        self.shape, self.n_actions = (task.horizon, task.n_labels), task.n_actions
        self.draw = task.generator()
        self.best, self.record, self.trajectories = self.policy(), -1.0, []

    def policy(self):
        self.tried = self.draw.integers(self.n_actions, size=self.shape)
        return self.tried

    def update(self, labels, actions, rewards):
        self.trajectories.append((labels, actions, rewards))
        if rewards.sum() > self.record:
            self.best, self.record = self.tried, rewards.sum()

    def final_policy(self):
        return np.eye(self.n_actions)[self.best]


def same(first, second, rows=slice(None)):
    """Bit for bit, wall time apart."""
    np.testing.assert_array_equal(first.average_reward, second.average_reward[rows])
    np.testing.assert_array_equal(first.values, second.values[rows])
    np.testing.assert_array_equal(first.trajectories, second.trajectories)
    assert first.v_star == second.v_star


# --- the same bits, however they are computed ---


@pytest.mark.parametrize("learner", [*LEARNERS, RoundRobin()], ids=repr)
@pytest.mark.parametrize("n_jobs", [2, 3, 20])
def test_results_do_not_depend_on_the_number_of_workers(learner, n_jobs):
    same(fu.train(ENV, learner, 300, seeds=7, n_jobs=1), fu.train(ENV, learner, 300, seeds=7, n_jobs=n_jobs))


@pytest.mark.parametrize("learner", [*LEARNERS, RoundRobin()], ids=repr)
def test_results_do_not_depend_on_the_order_of_seeds_or_on_which_others_there_are(learner):
    everyone = fu.train(ENV, learner, 300, seeds=7, n_jobs=2)
    same(fu.train(ENV, learner, 300, seeds=[6, 0, 5, 1, 4, 2, 3], n_jobs=2), everyone, [6, 0, 5, 1, 4, 2, 3])
    same(fu.train(ENV, learner, 300, seeds=[3], n_jobs=1), everyone, [3])


def test_different_seeds_give_different_results():
    run = fu.train(ENV, fu.OracleQ(), 300, seeds=20)
    assert len({tuple(curve) for curve in run.average_reward}) == 20


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("episodes", [1, 7, BLOCK, BLOCK + 1, 8 * BLOCK + 1])
def test_a_run_equals_the_references_played_from_the_same_streams(learner, episodes, monkeypatch):
    """From the seed to the curve in plain Python: lock, luck, choices, updates, exact value."""
    monkeypatch.setattr(game, "_BLOCK_STATES", BLOCK * ENV.horizon)
    assert game.Game(ENV.instance(0), Streams(0), latent=True).block_episodes == BLOCK
    seed = 5
    comp = fu.train(ENV, learner, episodes, seeds=[seed], points=range(1, episodes + 1))
    instance_rng, dynamics_rng, policy_rng = (
        Streams(seed).row(name).tolist() for name in ("instance", "dynamics", "policy")
    )
    transitions = np.empty((4, 3, 4, 3))
    naive.draw_lock(instance_rng, 0.2, [0] * 4, transitions)
    rewards = np.zeros_like(transitions)
    rewards[-1, :, :, :2] = 0.5
    env = fu.BlockMDP(transitions, rewards)
    memory = learner.start(Task(4, 3, 4, 1.0, episodes, np.zeros(4, np.uint64)))
    labels, returns = np.tile(np.arange(3), (episodes, 5, 1)), np.empty(episodes)
    loops = {fu.OracleQ: naive.q_table.ORACLEQ, fu.QLearning: naive.q_table.QLEARNING}[type(learner)]
    loops.learn(
        env.dynamics,
        labels,
        memory.tables,
        dynamics_rng,
        policy_rng,
        returns,
        None,
        [0] * 3,
    )
    np.testing.assert_array_equal(comp.average_reward[0], np.cumsum(returns) / np.arange(1, episodes + 1))
    q, values = np.empty((4, 3, 4)), np.empty((5, 3))
    naive.policy_q(transitions, rewards, memory.final_policy(), q, values)
    assert comp.values[0] == pytest.approx(values[0, 0], abs=1e-12)


def test_agents_with_the_same_seed_meet_the_same_lock_and_the_same_luck():
    """The lock's and the luck's streams stand at the same place after any agent's run."""
    after = []
    for learner in [*LEARNERS, RoundRobin()]:
        streams = Streams(9)
        play(ENV, LatentAgent(learner), 100, streams)
        after.append((streams.row("instance").tolist(), streams.row("dynamics").tolist()))
    assert all(one == after[0] for one in after)
    assert after[0][1] != Streams(9).row("dynamics").tolist()


# --- any learner ---


def test_any_learner_that_offers_the_protocol_can_be_trained():
    run = fu.train(fu.LockBernoulli(2, 0.2), RoundRobin(), episodes=200, seeds=10)
    assert run.agent == "round-robin-lat"
    assert run.average_reward.shape == (10, 200)
    assert run.values.max() == pytest.approx(0.5)


def test_a_learner_is_told_its_task_and_every_trajectory():
    learner = RoundRobin()
    memory = learner.start(Task(4, 3, 4, 1.0, 50, Streams(0).row("policy")))
    learner.start = lambda task: memory
    run = fu.train(ENV, learner, episodes=50, points=[50])
    instance = ENV.instance(0)
    assert len(memory.trajectories) == 50
    for labels, actions, rewards in memory.trajectories:
        assert (labels.shape, actions.shape, rewards.shape) == ((5,), (4,), (4,))
        assert labels[0] == 0
        for h in range(4):
            assert instance.transitions[h, labels[h], actions[h], labels[h + 1]] > 0
    assert run.average_reward[0, 0] == sum(rewards.sum() for _, _, rewards in memory.trajectories) / 50


def test_an_agent_of_ones_own_needs_play_check_and_a_name():
    class Fixed(LatentAgent):
        name = "fixed"

    run = fu.train(ENV, Fixed(fu.OracleQ()), episodes=100, seeds=3)
    assert run.agent == "fixed"
    same(run, fu.train(ENV, fu.OracleQ(), episodes=100, seeds=3))


def test_an_error_in_a_learner_reaches_the_caller():
    class Broken(RoundRobin):
        def start(self, task):
            raise ArithmeticError("no memory for this task")

    with pytest.raises(ArithmeticError, match="no memory for this task"):
        fu.train(ENV, Broken(), episodes=10, seeds=4)


@pytest.mark.parametrize(
    "policy",
    [
        np.zeros((3, 3), int),
        np.zeros((4, 2), int),
        np.zeros(4, int),
        np.zeros((4, 3)),
        np.full((4, 3), 4),
        np.full((4, 3), -1),
    ],
    ids=["level missing", "label missing", "flat", "not integers", "action too great", "action negative"],
)
def test_a_policy_that_does_not_fit_is_refused_before_it_is_played(policy):
    learner = RoundRobin()
    memory = learner.start(Task(4, 3, 4, 1.0, 50, Streams(0).row("policy")))
    memory.policy = lambda: policy
    learner.start = lambda task: memory
    with pytest.raises(ValueError, match="policy"):
        fu.train(ENV, learner, episodes=10)


# --- arguments ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": "lock-bernoulli"}, "env must be an environment such as .*, got 'lock-bernoulli'"),
        (
            {"env": fu.LockBernoulli},
            r"env must be an instance, got the class LockBernoulli: write Lock",
        ),
        ({"agent": "oracleq-lat"}, r"agent must be .*, got 'oracleq-lat'"),
        ({"agent": None}, "agent must be .*, got None"),
        ({"agent": fu.OracleQ}, "agent must be an instance, got the class OracleQ"),
        ({"episodes": 0}, "episodes must be an integer >= 1, got 0"),
        ({"episodes": -5}, "episodes must be an integer >= 1, got -5"),
        ({"episodes": 1e4}, "episodes must be an integer >= 1, got 10000.0"),
        ({"episodes": np.nan}, "episodes must be an integer >= 1, got nan"),
        ({"seeds": 0}, "seeds must be an integer >= 1, got 0"),
        ({"seeds": []}, "seeds must name at least one seed, got none"),
        ({"seeds": [0, -1]}, "seeds must be an integer >= 0, got -1"),
        ({"seeds": [2, 3, 2]}, "seeds must be distinct, got 2 more than once"),
        ({"sees": "everything"}, "sees must be one of .*, got 'everything'"),
        ({"n_jobs": 0}, "n_jobs must be an integer >= 1, got 0"),
        ({"n_jobs": 1.5}, "n_jobs must be an integer >= 1, got 1.5"),
        ({"points": 0}, "points must be an integer >= 1, got 0"),
        ({"points": [0, 5]}, "points must be an integer from 1 to 10, got 0"),
        ({"points": [5, 11]}, "points must be an integer from 1 to 10, got 11"),
        ({"points": [5, 5]}, r"points must be increasing numbers of trajectories, got \[5, 5\]"),
        ({"points": []}, r"points must be increasing numbers of trajectories, got \[\]"),
        ({"points": [[1, 2], [3]]}, r"points must be an integer from 1 to 10, got \[1, 2\]"),
        ({"progress": "often"}, "progress must be True, False or None, got 'often'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        fu.train(**{"env": ENV, "agent": fu.OracleQ(), "episodes": 10} | arguments)


@pytest.mark.parametrize("agent", [fu.URL(), fu.PCID()])
def test_what_an_agent_sees_is_its_own_affair(agent):
    reason = "it applies to learners only; agents choose what they see"
    with pytest.raises(
        ValueError, match=f"^sees must be left out for {type(agent).__name__}: {reason}, got 'observation'$"
    ):
        fu.train(ENV, agent, 10, sees="observation")


def test_a_learner_becomes_the_agent_that_sees_latent_states():
    assert as_agent(fu.OracleQ(), "latent").name == "oracleq-lat"
    assert as_agent(fu.QLearning(), "latent").name == "qlearning-lat"


@pytest.mark.parametrize(("episodes", "count"), [(1, 1), (10, 10), (200, 200), (1_000, 200), (999, 200)])
def test_curves_have_200_points_evenly_spaced_and_end_at_the_last_trajectory(episodes, count):
    trajectories = fu.train(ENV, fu.OracleQ(), episodes).trajectories
    assert trajectories.size == count
    assert trajectories[0] >= 1
    assert trajectories[-1] == episodes
    assert np.ptp(np.diff(trajectories, prepend=0)) <= 1


def test_points_may_be_a_count_or_chosen_trajectories():
    assert fu.train(ENV, fu.OracleQ(), 100, points=4).trajectories.tolist() == [25, 50, 75, 100]
    chosen = fu.train(ENV, fu.OracleQ(), 100, points=[1, 10, 100])
    every = fu.train(ENV, fu.OracleQ(), 100, points=100)
    np.testing.assert_array_equal(chosen.average_reward[0], every.average_reward[0, [0, 9, 99]])


@pytest.mark.parametrize(
    "points", [np.arange(1, 4), range(1, 4), (n for n in (1, 2, 3)), [np.int64(1), 2, np.uint8(3)]]
)
def test_numbers_may_be_of_any_integer_type_and_points_in_anything_that_can_be_gone_through(points):
    run = fu.train(ENV, fu.OracleQ(), np.int64(5), np.uint8(2), points=points, n_jobs=np.int32(1))
    assert (run.episodes, run.seeds, run.trajectories.tolist()) == (5, [0, 1], [1, 2, 3])


# --- in front of a person ---


def test_the_progress_bar_goes_to_standard_error_and_only_when_wanted(capsys):
    fu.train(ENV, fu.OracleQ(), 100, progress=True)
    wanted = capsys.readouterr()
    assert wanted.out == ""
    assert "training" in wanted.err
    fu.train(ENV, fu.OracleQ(), 100)
    fu.train(ENV, fu.OracleQ(), 100, progress=False)
    assert capsys.readouterr() == ("", "")


def test_the_progress_bar_ends_at_the_end(capsys):
    fu.train(ENV, fu.OracleQ(), 100, seeds=8, progress=True)
    assert "800/800" in capsys.readouterr().err


class Starts:
    """Counts threads, and has only so many of them."""

    def __init__(self, monkeypatch, most=1000):
        self.count, self.most, self.start = 0, most, threading.Thread.start
        monkeypatch.setattr(threading.Thread, "start", lambda thread: self(thread))

    def __call__(self, thread):
        if self.count == self.most:
            raise RuntimeError("can't start new thread")
        self.count += 1
        self.start(thread)


def test_there_are_never_more_threads_than_seeds(monkeypatch):
    starts = Starts(monkeypatch)
    fu.train(ENV, fu.OracleQ(), 10, seeds=3, n_jobs=1000)
    assert starts.count == 3


@pytest.mark.parametrize("most", [0, 2])
def test_threads_that_cannot_be_started_are_told_of_and_the_others_end(monkeypatch, most):
    running = threading.active_count()
    Starts(monkeypatch, most)
    with pytest.raises(
        ValueError,
        match=f"^n_jobs must be threads that the system can start, got 20, of which {most} started$",
    ):
        fu.train(ENV, fu.OracleQ(), 100_000, seeds=30, n_jobs=20)
    assert threading.active_count() == running


LONG_TASKS = {
    "many seeds": "fu.train(env, fu.OracleQ(), episodes=200_000, seeds=50_000)",
    "one endless seed": "fu.train(env, Slow(), episodes=20_000_000)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize("task", LONG_TASKS)
def test_ctrl_c_stops_at_once_and_leaves_nothing_running(task):
    """Each task would take from many minutes to hours."""
    program = f"""
        import signal
        # a parent in the background may have it ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import fasturl as fu

        class Slow:
            def start(self, task):
                self.policy, self.update = (memory := fu.OracleQ().start(task)).policy, memory.update
                self.final_policy = memory.final_policy
                return self

        env = fu.LockBernoulli(20, 0.2)
        fu.train(env, fu.OracleQ(), 10)
        fu.train(env, Slow(), 10)
        print("started", flush=True)
        {LONG_TASKS[task]}
    """
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert child.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):  # it is at work
            child.wait(timeout=1)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert child.returncode != 0
        with pytest.raises(ProcessLookupError):  # the whole group is gone
            os.killpg(child.pid, 0)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()

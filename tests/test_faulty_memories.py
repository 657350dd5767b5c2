"""A memory that does not fit the run it is used in, or is fed what it has no room for, is refused in one
line."""

import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from own_oracleq import OwnOracleQ
from test_faulty_learners import LOCK, complaint, task
from url_parts import SHORT

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import Agent, LatentPolicy, Outcome
from fasturl.agents.game import Game
from fasturl.decoders import AffineDecoder
from fasturl.learners import Task, start

# --- memories of another task ---


class Starts:
    """A learner whose `start` gives what it likes."""

    def __init__(self, make):
        self.make = make

    def start(self, task):
        return self.make(task)


OTHER_TASKS = {
    "fewer labels": {"n_labels": 1},
    "fewer episodes": {"episodes": 1},
    "fewer actions": {"n_actions": 2},
    "other levels": {"horizon": 2},
    "one table for all levels": {"levels_apart": False},
}


@pytest.mark.parametrize("change", OTHER_TASKS)
@pytest.mark.parametrize("kind", ["latent", "url", "url as written"])
def test_a_memory_that_was_made_for_another_task_is_refused(change, kind):
    learner = Starts(lambda task: fu.OracleQ().start(task._replace(**OTHER_TASKS[change])))
    agent = {
        "latent": learner,
        "url": fu.URL(learner=learner),
        "url as written": fu.URLAsWritten(learner=learner, batch=6, epsilon=0.9, delta=0.9),
    }[kind]
    assert complaint(agent).startswith(
        "start of Starts must return a memory for the task that it was given, got"
    )


def test_a_memory_with_more_room_is_welcome():
    roomy = Starts(lambda task: fu.OracleQ().start(task._replace(n_labels=5, episodes=task.episodes + 10)))
    np.testing.assert_array_equal(fu.train(LOCK, roomy, 500).values, fu.train(LOCK, fu.OracleQ(), 500).values)


@pytest.mark.parametrize("stream", [None, np.zeros(2, np.uint64), np.zeros(4), np.zeros(8, np.uint64)[::2]])
def test_a_task_without_a_stream_is_refused(stream):
    with pytest.raises(
        ValueError, match=r"policy_rng must be a stream, uint64\[4\] that can be written, got"
    ):
        fu.OracleQ().start(task(policy_rng=stream))


@pytest.mark.parametrize("rewards", [(-1e308, 1e308), (1.0, 0.0), (0.0, np.nan), 3])
def test_a_task_without_a_range_of_rewards_is_refused(rewards):
    with pytest.raises(ValueError, match="reward_range must have "):
        fu.PSRL().start(task(reward_range=rewards))


class Plays(Agent):
    """An agent of a stranger's that plays with a memory of its own making, on labels of its own."""

    def __init__(self, act, n_labels=3, **changes):
        self.act, self.labels, self.changes = act, n_labels, changes

    def play(self, game, ledger):
        memory = fu.OracleQ().start(game.task(3, ledger.episodes)._replace(**self.changes))
        weights = np.zeros((self.labels, game.description.observations.dimension))
        decoder = AffineDecoder(weights, np.arange(float(self.labels)))  # always the last label
        if self.act == "learn":
            with ledger.entry(ledger.left) as returns:
                game.learn(memory, decoder, returns)
        else:
            ledger.enter(game.explore(memory, decoder, ledger.left).returns)
        return Outcome(LatentPolicy(np.full((4, 3, 4), 0.25)))


@pytest.mark.parametrize("act", ["learn", "explore"])
def test_an_agent_cannot_play_with_a_memory_that_does_not_fit(act):
    assert fu.train(LOCK, Plays(act), 20).episodes == 20
    for settings in ({"n_labels": 9}, {"horizon": 3}, {"n_actions": 3}, {"levels_apart": False}):
        agent = Plays(act, settings.pop("n_labels", 3), **settings)
        assert re.match(
            r"a memory of OracleQ for \d levels, 3 labels and \d actions cannot play 4 levels, ",
            complaint(agent),
        )


def test_a_memory_for_observations_of_all_levels_learns_from_no_trajectory():
    """Its tables have one level."""
    memory = fu.OracleQ().start(task(levels_apart=False))
    with pytest.raises(
        ValueError, match="a memory of OracleQ for 1 levels, 3 labels and 4 actions cannot play 4 levels"
    ):
        memory.update(np.zeros(5, int), np.zeros(4, int), np.zeros(4))


# --- what a memory is fed ---


def fed(**changes):
    """A trajectory of task() with something wrong."""
    good = {"labels": np.zeros(5, int), "actions": np.zeros(4, int), "rewards": np.zeros(4)}
    return good | changes


FOOD = {
    "a label that there is not": (fed(labels=[0, 1, 3, 0, 0]), "labels must be from 0 to 2, got 3"),
    "a negative label": (fed(labels=[0, 0, 0, 0, -1]), "labels must be from 0 to 2, got -1"),
    "an action that there is not": (fed(actions=[0, 0, 4, 0]), "actions must be from 0 to 3, got 4"),
    "fractions for actions": (
        fed(actions=np.zeros(4)),
        "actions must be integers of shape [1, 4], got float64",
    ),
    "too few labels": (
        fed(labels=[0] * 4),
        "labels must be integers of shape [1, 5], got int64 of shape [1, 4]",
    ),
    "too many actions": (fed(actions=[0] * 5), "actions must have shape [trajectories, 4], got [1, 5]"),
    "a reward that is none": (
        fed(rewards=[0.0, np.nan, 0.0, 0.0]),
        "rewards must be finite and at most 1e+100 in size, got nan",
    ),
    "a reward that nobody pays": (fed(rewards=[0.0, 0.0, -1e308, 0.0]), "rewards must be finite and at most"),
    "an infinite reward of few digits": (
        fed(rewards=np.full(4, np.inf, np.float16)),
        "rewards must be finite and at most 1e+100 in size, got inf",
    ),
    "too few rewards": (fed(rewards=[0.0]), "rewards must be numbers of shape [1, 4], got shape [1, 1]"),
    "no rewards": (fed(rewards="much"), "rewards must be "),
}


@pytest.mark.parametrize("learner", [fu.OracleQ(), OwnOracleQ()], ids=["ours", "another"])
@pytest.mark.parametrize("case", FOOD)
def test_trajectories_that_do_not_fit_are_refused_and_change_nothing(learner, case):
    trajectory, message = FOOD[case]
    memory = learner.start(task())
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        memory.update(**trajectory)
    assert memory.tables.visits.sum() == memory.episodes_learned == 0


@pytest.mark.parametrize("learner", [fu.OracleQ(), fu.QLearning(), OwnOracleQ()], ids=repr)
def test_more_episodes_than_it_was_told_of_are_refused(learner):
    memory, trajectory = learner.start(task(episodes=3)), fed()
    for _ in range(3):
        memory.update(**trajectory)
    with pytest.raises(ValueError, match="a learner that was told of 3 episodes must not be fed more, got 4"):
        memory.update(**trajectory)
    assert memory.tables.visits.sum() == 3 * 4


# --- memories that are shared ---


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["latent", "url"])
def test_a_memory_that_two_runs_share_is_refused(kind, n_jobs):
    kept = []

    def once(task):
        if not kept:
            kept.append(fu.OracleQ().start(task))
        return kept[0]

    agent = Starts(once) if kind == "latent" else fu.URL(learner=Starts(once))
    assert complaint(agent, n_jobs=n_jobs) == (
        "start of Starts must return a fresh memory, got one that belongs to another run"
    )


class FirstAction:
    """A memory of a user's own, equal to every other; as a learner it hands out itself."""

    def __init__(self, horizon=4, n_labels=3, n_actions=4):
        self.shape = horizon, n_labels, n_actions

    def __eq__(self, other):
        return True

    __hash__ = None

    def start(self, task):
        return self

    def policy(self):
        return np.zeros(self.shape[:2], int)

    def update(self, labels, actions, rewards):
        pass

    def final_policy(self):
        return np.eye(self.shape[2])[self.policy()]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_memory_of_a_user_s_own_class_that_two_runs_share_is_refused(n_jobs):
    assert complaint(FirstAction(), n_jobs=n_jobs) == (
        "start of FirstAction must return a fresh memory, got one that belongs to another run"
    )
    assert fu.train(LOCK, Starts(lambda task: FirstAction()), 20, seeds=4).n_seeds == 4  # equal, not the same


def test_a_memory_that_was_let_go_leaves_no_trace():
    """Python gives the number of an object that is gone to another; that one is fresh all the same."""
    for _ in range(50):
        fu.train(LOCK, FirstAction(), 1)


def test_a_memory_is_used_by_one_thread_at_a_time():
    """Of two threads, one is refused while the other learns; together they feed no more than was told."""
    streams, size = Streams(0), 50_000
    instance = SHORT.draw(streams)
    memory = start(fu.OracleQ(), Task(3, 3, 4, 1.0, 10**6, np.array([1, 2, 3, 4], np.uint64)))
    labels = np.tile(np.arange(3, dtype=np.uint8), (size, 4, 1))
    errors = []

    def learn():
        for _ in range(10):
            try:
                memory.learn_episodes(
                    instance.dynamics, labels, streams.row("dynamics").copy(), np.empty(size)
                )
            except ValueError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=learn) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(errors) == {"a memory of OracleQ must be used by one thread at a time, got two"}
    assert memory.tables.visits[0].sum() == memory.episodes_learned


# --- the tables that are played on ---


def test_no_method_that_a_memory_is_given_sees_the_tables_that_are_played_on():
    """A stranger's `learn_episodes` in the place of ours is not called."""
    met = []
    memory = fu.OracleQ().start(task())
    memory.learn_episodes = memory.play_episodes = memory.learn_observations = met.append
    streams = Streams(0)
    Game(LOCK.draw_checked(streams), streams, latent=True).learn(memory, None, np.empty(5))
    assert met == []
    assert memory.episodes_learned == 5


def test_a_memory_that_is_given_another_check_of_its_room_is_checked_nevertheless():
    memory = fu.OracleQ().start(task(n_labels=2))
    memory.check_room = lambda *sizes: None
    streams = Streams(0)
    game = Game(LOCK.draw_checked(streams), streams, latent=True)
    with pytest.raises(ValueError, match="cannot play 4 levels, 3 labels and 4 actions"):
        game.learn(memory, None, np.empty(5))


# --- memories that change what they are told ---


class Scribbles:
    """A memory that acts at random, and may add a bonus to the rewards where they are."""

    def __init__(self, task, bonus):
        self.task, self.bonus, self.draws = task, bonus, task.generator()

    def policy(self):
        return self.draws.integers(self.task.n_actions, size=(self.task.horizon, self.task.n_labels))

    def update(self, labels, actions, rewards):
        rewards += self.bonus

    def final_policy(self):
        shape = self.task.horizon, self.task.n_labels, self.task.n_actions
        return np.full(shape, 1 / self.task.n_actions)


@pytest.mark.parametrize(
    "agent_with",
    [
        lambda learner: learner,
        lambda learner: fu.URL(learner=learner),
        lambda learner: fu.URLAsPublished(learner=learner, batch=20, iterations=5),
        lambda learner: fu.URLAsWritten(learner=learner, batch=6, epsilon=0.9, delta=0.9),
    ],
    ids=["latent", "url", "url as published", "url as written"],
)
def test_what_a_memory_does_to_rewards_is_not_what_was_earned(agent_with):
    agent = agent_with(fu.OracleQ())
    episodes = 2 if isinstance(agent, fu.URLAsWritten) else 150
    plain, changed = (
        fu.train(SHORT, agent_with(Starts(lambda task, bonus=bonus: Scribbles(task, bonus))), episodes)
        for bonus in (0.0, 1.0)
    )
    np.testing.assert_array_equal(changed.average_reward, plain.average_reward)
    assert changed.diagnostics[0].get("promised_return") == plain.diagnostics[0].get("promised_return")


# --- the command line ---

PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, {tests!r})
import fasturl as fu
from own_oracleq import OwnOracleQ

@fu.register(name="narrow")
class Narrow(OwnOracleQ):
    def tables(self, task):
        good = super().tables(task)
        return good._replace(q=good.q[:2].copy())

from fasturl.cli import main
words = "train lock-bernoulli --horizon 4 --agent narrow-lat --episodes 50"
sys.argv = ["fasturl", *words.split()]
main()
"""


def test_on_the_command_line_a_fault_is_one_line_and_exit_code_2(request):
    program = PROGRAM.format(tests=str(request.path.parent))
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert re.search(r"(look|take_value) of Narrow at level \d failed: IndexError: ", done.stderr)

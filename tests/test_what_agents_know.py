"""What an agent may know of an environment, and that it knows nothing else.

The twin test: the same Block MDP gives the same bits, whatever stands for it. The guard: tables that raise
when they are read for anything but playing.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from own_oracleq import OwnOracleQ
from url_parts import Explorer, ExplorerMemory

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels.records import Dynamics
from fasturl.agents.agent import Agent, Outcome
from fasturl.agents.evaluation import LatentPolicy
from fasturl.agents.game import Episodes, Game
from fasturl.agents.ledger import Ledger
from fasturl.problems.block_mdp import BlockMDP
from fasturl.problems.blocks import Block
from fasturl.problems.description import Description
from fasturl.problems.emissions import Categorical, Emission, Gaussian
from fasturl.registry import agent as named_agent
from fasturl.registry import agent_component, agent_names

SMALL = {"batch": 6, "epsilon": 0.9, "delta": 0.9}
SETTINGS = {
    "oracleq-lat": [{}, {"schedule": "jin"}],
    "qlearning-lat": [{}],
    "oracleq-obs": [{}, {"schedule": "jin"}],
    "ucbvi-lat": [{}, {"constants": "paper"}],
    "ucbvi-obs": [{}],
    "rmax-lat": [{}],
    "rmax-obs": [{}],
    "ucbq-bernstein-lat": [{}, {"constants": "paper"}],
    "ucbq-bernstein-obs": [{}],
    "qlearning-obs": [{}],
    "url": [{}, {"oracle": "kmeans"}, {"oracle": "gmm"}, {"oracle": "dbscan"}, {"n_states": 5}],
    "url-as-written": [SMALL, {**SMALL, "n_states": 4}],
    "pcid": [{"samples_per_level": 60}, {"samples_per_level": 60, "model": "neural"}],
}
AGENTS = [pytest.param(name, one, id=f"{name} {one}") for name, many in SETTINGS.items() for one in many]
LOCKS = {
    "bits": lambda horizon: fu.LockBernoulli(horizon, 0.2),
    "reals": lambda horizon: fu.LockGaussian(horizon, 0.2, 0.1),
}


def test_every_agent_of_ours_is_tested_here():
    assert {name for name in agent_names() if agent_component(name)[0].built_in} == SETTINGS.keys()


# --- the twin test ---


class MyBits(fu.LockBernoulli):
    """A user's subclass."""


class MyReals(fu.LockGaussian):
    """A user's subclass."""


class Behind(fu.Environment):
    """A user's environment that hands on what another declares and draws."""

    def __init__(self, other):
        self.other = other
        self.horizon, self.n_actions, self.max_states = other.horizon, other.n_actions, other.max_states
        self.emission, self.max_return = other.emission, other.max_return
        self.reward_range = other.reward_range

    def draw(self, streams):
        return self.other.draw(streams)


def twins(lock, seed):
    """The Block MDP that a lock is for a seed, in every guise."""
    instance = lock.instance(seed)
    tables = np.array(instance.transitions), np.array(instance.rewards)
    mine = MyBits if lock.emission.discrete else MyReals
    return {
        "tables": fu.BlockMDP(*tables, emission=lock.emission, max_return=1),
        "instance": instance,
        "subclass": mine(**lock.settings()),
        "environment that delegates": Behind(lock),
        "instance that delegates": Behind(instance),
    }


def bits_of(run):
    """All that a run gives, but for names and times."""
    diagnostics = [{key: one[key] for key in one if key != "seconds"} for one in run.diagnostics]
    arrays = run.average_reward, run.final_average_reward, run.values, run.value_errors, run.optimal_values
    return [array.tobytes() for array in arrays], diagnostics


def train_small(env, name, settings, seed):
    as_written = name == "url-as-written"
    return fu.train(env, named_agent(name, **settings), 1 if as_written else 300, seeds=[seed], n_jobs=1)


@pytest.mark.parametrize(("name", "settings"), AGENTS)
@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("seed", [0, 3])
def test_the_same_mdp_gives_the_same_bits_whatever_stands_for_it(kind, name, settings, seed):
    if kind == "reals" and name.endswith("-obs"):
        pytest.skip("no table holds infinitely many observations")
    lock = LOCKS[kind](1 if name == "url-as-written" else 3)
    expected = bits_of(train_small(lock, name, settings, seed))
    for guise, env in twins(lock, seed).items():
        assert env.describe() == lock.describe(), guise
        assert bits_of(train_small(env, name, settings, seed)) == expected, guise


# --- the guard ---

PACKAGE = Path(fu.__file__).parent
TABLES = {
    "transitions",
    "rewards",
    "start",
    "emission",
    "n_states",
    "reachable",
    "dynamics",
    "reward_draw",
    "reward_sizes",
}
PLAYING = {PACKAGE / "agents" / "game.py", PACKAGE / "agents" / "evaluation.py"}


class Guarded(BlockMDP):
    """An instance whose tables raise for every reader but itself, what plays it, and the judge."""

    def __getattribute__(self, name):
        if name in TABLES:
            reader = Path(sys._getframe(1).f_code.co_filename)
            inside = reader.parent == PACKAGE / "problems" or reader.parent.name == "importlib"
            if not (inside or reader in PLAYING):
                raise PermissionError(f"{reader.name} reads {name}")
        return super().__getattribute__(name)


class Safe(Behind):
    """An environment that draws guarded instances, and is guarded itself once it has been made."""

    def draw(self, streams):
        instance = self.other.draw(streams)
        guarded = Guarded.__new__(Guarded)
        guarded.__dict__.update(instance.__dict__)
        return guarded


@pytest.mark.parametrize(("name", "settings"), AGENTS)
@pytest.mark.parametrize("kind", LOCKS)
def test_no_agent_reads_tables_for_anything_but_playing(kind, name, settings):
    if kind == "reals" and name.endswith("-obs"):
        pytest.skip("no table holds infinitely many observations")
    lock = LOCKS[kind](1 if name == "url-as-written" else 3)
    guarded = train_small(Safe(lock), name, settings, 1)
    assert bits_of(guarded) == bits_of(train_small(lock, name, settings, 1))


@pytest.mark.parametrize("learner", [Explorer(), OwnOracleQ()], ids=["one at a time", "compiled"])
def test_no_learner_of_a_users_own_reads_tables(learner):
    for agent in (learner, fu.URL(learner=learner), fu.URLAsWritten(learner=learner, **SMALL)):
        fu.train(Safe(fu.LockBernoulli(1)), agent, 5)


def test_no_function_is_handed_to_what_plays():
    """It would be handed the tables in turn. Who decodes sees observations, and no tables."""
    takers = {
        f"{owner.__name__}.{name}"
        for owner in (Game, Episodes)
        for name, method in vars(owner).items()
        if callable(method) and "Callable" in str(method.__annotations__)
    }
    assert takers == {"Episodes.labels_with"}


class Peeks(Agent):
    """An agent that looks where it must not."""

    def __init__(self, name):
        self.table = name

    def play(self, game, ledger):
        return Outcome(getattr(game._instance, self.table))


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_guard_sees_who_reads(name):
    with pytest.raises(PermissionError, match=f"test_what_agents_know.py reads {name}"):
        fu.train(Safe(fu.LockBernoulli(3)), Peeks(name), 5)


HIDDEN = (fu.Environment, Emission, Block, Dynamics, Streams)


def reachable_by_attributes(owner, path="game", depth=4):
    """Everything that can be reached through public attributes, by its path."""
    objects = {path: owner}
    if depth and not isinstance(owner, np.ndarray | int | float | str | tuple | dict | type(None)):
        for name in dir(owner):
            if not name.startswith("_") and not callable(getattr(owner, name)):
                objects |= reachable_by_attributes(getattr(owner, name), f"{path}.{name}", depth - 1)
    return objects


@pytest.mark.parametrize("latent", [False, True])
def test_no_public_attribute_leads_to_what_is_hidden(latent):
    streams = Streams(0)
    game = Game(fu.LockBernoulli(3).draw_checked(streams), streams, latent=latent)
    objects = reachable_by_attributes(game)
    objects |= reachable_by_attributes(game.begin(4), "episodes")
    if not latent:
        objects |= reachable_by_attributes(game.play_random(4), "trajectories")
        assert "trajectories.rewards" in objects
    objects |= reachable_by_attributes(Ledger(3, 3, lambda _: None), "ledger")
    assert "game.description.max_states" in objects
    assert [path for path, one in objects.items() if isinstance(one, HIDDEN)] == []


def test_a_description_holds_plain_values_alone():
    fields = dataclasses.asdict(fu.LockGaussian(3).describe())
    assert fields == {
        "horizon": 3,
        "n_actions": 4,
        "max_states": 3,
        "reward_range": (0.0, 1.0),
        "max_return": 1.0,
        "observations": {"kind": "reals", "dimension": 6},
    }
    assert fu.BlockMDP(np.ones((1, 1, 1, 1)), np.zeros((1, 1, 1))).describe().observations is None


# --- the bound on the number of states ---


@pytest.mark.parametrize("kind", LOCKS)
def test_more_labels_than_states_open_a_lock_as_well(kind):
    run = fu.train(LOCKS[kind](5), fu.URL(n_states=6), 4_000, seeds=6)
    assert run.success_rate == 1.0


@pytest.mark.parametrize("kind", LOCKS)
def test_url_as_written_may_have_more_labels_than_there_are_states(kind):
    lock, agent = LOCKS[kind](1), fu.URLAsWritten(n_states=5, **SMALL)
    assert agent.sizes(lock.describe(), 1).iterations == 2 * 5 + 1
    run = fu.train(lock, agent, 1)
    assert np.isfinite(run.values).all()


class Told(Explorer):
    """Keeps the tasks that it is told."""

    def __init__(self):
        self.tasks = []

    def start(self, task):
        self.tasks.append(task)
        return ExplorerMemory(task)


def tasks_of(env, *agents):
    """What the learner of each kind of agent is told on an environment."""
    learners = [Told() for _ in agents]
    for make, learner in zip(agents, learners, strict=True):
        fu.train(env, make(learner), 1 if make is as_written else 60, n_jobs=1)
    return [learner.tasks[0] for learner in learners]


class Constant:
    """An oracle that tells nothing apart."""

    n_clusters = 2

    def fit(self, X):
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def latent(learner):
    return learner


def practical(learner):
    return fu.URL("gmm", learner)


def as_written(learner):
    return fu.URLAsWritten(Constant(), learner, **SMALL)


def gaussian_lock(**declared):
    """The tables of a lock with two levels, seen through reals, with what is declared of them."""
    lock = fu.LockGaussian(2, 0.2)
    instance = lock.instance(0)
    return fu.BlockMDP(instance.transitions, instance.rewards, emission=lock.emission, **declared)


@pytest.mark.parametrize(("declared", "n_labels"), [({}, 3), ({"max_states": 7}, 7)])
def test_the_bound_is_what_the_environment_declares(declared, n_labels):
    env = gaussian_lock(**declared)
    assert env.describe().max_states == env.instance(0).describe().max_states == n_labels
    assert [task.n_labels for task in tasks_of(env, latent, practical, as_written)] == [n_labels] * 3
    assert (
        fu.URL(n_states=4).n_labels(env.describe())
        == fu.URLAsWritten(n_states=4).n_labels(env.describe())
        == 4
    )
    assert fu.PCID().n_labels(env.describe()) == n_labels
    assert fu.train(env, fu.OracleQ(), 2_000, seeds=3).success_rate == 1.0


def test_the_bound_cannot_be_below_the_number_of_states():
    with pytest.raises(ValueError, match="max_states must be an integer >= 3, got 2"):
        gaussian_lock(max_states=2)

    class Understated(Behind):
        def __init__(self, other):
            super().__init__(other)
            self.max_states = 2

    with pytest.raises(
        ValueError, match="draw of Understated must give at most max_states = 2 states a level"
    ):
        fu.train(Understated(fu.LockBernoulli(2)), fu.OracleQ(), 5)


# --- states that are never visited ---


def with_an_unreachable_state(horizon=2):
    """A lock with a fourth state that nothing leads to, each state being a symbol of its own."""
    lock = fu.LockBernoulli(horizon, 0.2).instance(2)
    transitions = np.zeros((horizon, 4, 4, 4))
    transitions[:, :3, :, :3] = lock.transitions
    transitions[:, 3, :, 3] = 1.0
    rewards = np.zeros_like(transitions)
    rewards[:, :3, :, :3] = lock.rewards
    emission = Categorical(np.eye(4), n_levels=horizon + 1)
    return fu.BlockMDP(transitions, rewards, emission=emission, max_return=1)


class Reads:
    """An oracle that knows the states, and calls the one that nobody visits as it is told."""

    def __init__(self, *labels):
        self.labels = np.array(labels)

    def fit(self, X):
        return self

    def predict(self, X):
        return self.labels[np.asarray(X).argmax(axis=1)]


@pytest.mark.parametrize("learner", [fu.URL().learner, fu.QLearning(), Explorer()], ids=type)
@pytest.mark.parametrize("labels", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("n_states", [None, 3])
def test_a_label_that_only_an_unvisited_state_gets_changes_nothing(learner, labels, n_states):
    env = with_an_unreachable_state()
    runs = [
        bits_of(fu.train(env, fu.URL(Reads(*labels, other), learner, n_states, batch=10), 300, seeds=[1, 2]))
        for other in (0, 1, 2, 3, 4, 100, 255)
    ]
    assert runs.count(runs[0]) == len(runs)


class Declares(Reads):
    n_clusters = 9


def practical_with(oracle):
    return fu.URL(oracle), 200


def as_written_with(oracle):
    return fu.URLAsWritten(oracle, n_states=9, **SMALL), 1


@pytest.mark.parametrize("make", [practical_with, as_written_with])
def test_nor_does_it_where_the_oracle_says_how_many_labels_it_gives(make):
    env = with_an_unreachable_state(1)
    runs = [bits_of(fu.train(env, *make(Declares(0, 1, 2, other)))) for other in (0, 3, 8)]
    assert runs.count(runs[0]) == len(runs)


def test_nor_does_it_in_the_form_as_written():
    env = with_an_unreachable_state(1)
    runs = [
        bits_of(fu.train(env, fu.URLAsWritten(Reads(0, 1, 2, other), **SMALL), 2, seeds=2))
        for other in (0, 1, 2, 3)
    ]
    assert runs.count(runs[0]) == len(runs)


# --- the greatest return ---


class Ladder(fu.Environment):
    """Three levels, one state, two actions; a step pays one of two rewards."""

    horizon, n_actions, max_states = 3, 2, 1
    emission = Gaussian(np.zeros((1, 2)), 0.1, n_levels=4)

    def __init__(self, low, high, **declared):
        self.low, self.high = low, high
        for name, value in declared.items():
            setattr(self, name, value)

    def draw(self, streams):
        rewards = np.tile([float(self.low), float(self.high)], (3, 1, 1))
        return fu.BlockMDP(
            np.ones((3, 1, 2, 1)), rewards, reward_draw="deterministic", emission=self.emission
        )


@pytest.mark.parametrize(
    ("env", "greatest"),
    [
        (fu.LockGaussian(3), 1.0),
        (Ladder(0, 1), 3.0),
        (Ladder(0, 1, max_return=2.5), 2.5),
        (Ladder(-1, 2, reward_range=(-1, 2)), 6.0),
        (Ladder(-3, -2, reward_range=(-3, -2)), -2.0),
        (Ladder(-3, -2, reward_range=(-3, -2), max_return=-4), -4.0),
        (Ladder(-3, 0, reward_range=(-3, 0)), 0.0),
        (Ladder(-3, -2).draw(None), -2.0),
        (gaussian_lock(), 2.0),
        (gaussian_lock(max_return=1), 1.0),
    ],
    ids=lambda value: getattr(value, "name", None) or repr(value),
)
def test_values_are_capped_at_the_declared_range_of_returns(env, greatest):
    assert env.describe().max_return == greatest
    told = tasks_of(env, latent, practical, as_written)
    assert [task.max_return for task in told] == [greatest] * 3
    tables = fu.OracleQ().tables(told[0])
    assert (tables.cap, tables.q.max()) == (greatest, greatest)


@pytest.mark.parametrize("agent", [fu.OracleQ(), fu.URL(), fu.QLearning()], ids=type)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 2), (-3, -2), (-3, 0)])
def test_rewards_of_any_sign_are_learned_from(agent, low, high):
    run = fu.train(Ladder(low, high, reward_range=(low, high)), agent, 600, seeds=3)
    assert run.values.tolist() == pytest.approx([3.0 * high] * 3)


def test_a_policy_on_more_states_than_there_are_is_judged_by_those_there_are():
    lock = fu.LockBernoulli(2).instance(0)
    best = np.eye(4)[lock.optimal_policy()]
    wide = np.concatenate([best, np.full((2, 4, 4), 0.25)], axis=1)
    assert LatentPolicy(wide).judge(lock, Streams(0)).value == 0.5
    assert isinstance(lock.describe(), Description)

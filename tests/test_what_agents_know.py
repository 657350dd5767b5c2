"""What an agent may know of an environment, and that it knows nothing else.

The twin test: the same Block MDP gives the same bits, whatever stands for it. The guard: tables that raise
when they are read for anything but playing.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from known_parts import LOCKS, SMALL, Behind, bits_of
from own_oracleq import OwnOracleQ
from url_parts import Explorer

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels.records import Dynamics
from fasturl.agents.agent import Agent, Outcome
from fasturl.agents.game import Episodes, Game
from fasturl.agents.ledger import Ledger
from fasturl.problems.block_mdp import BlockMDP
from fasturl.problems.blocks import Block
from fasturl.problems.emissions import Emission
from fasturl.registry import agent as named_agent
from fasturl.registry import agent_component, agent_names

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
    "pooled-ucbvi-lat": [{}],
    "pooled-ucbvi-obs": [{}],
    "psrl-lat": [{}],
    "psrl-obs": [{}],
    "opsrl-lat": [{}],
    "opsrl-obs": [{}],
    "rlsvi-lat": [{}],
    "rlsvi-obs": [{}],
    "url": [{}, {"oracle": "kmeans"}, {"oracle": "gmm"}, {"oracle": "dbscan"}, {"n_states": 5}],
    "url-as-published": [{"batch": 40}, {"batch": 40, "oracle": "gmm"}, {"batch": 40, "oracle": "dbscan"}],
    "url-as-written": [SMALL, {**SMALL, "n_states": 4}],
    "pcid": [{"samples_per_level": 60}, {"samples_per_level": 60, "model": "neural"}],
}
AGENTS = [pytest.param(name, one, id=f"{name} {one}") for name, many in SETTINGS.items() for one in many]


def test_every_agent_of_ours_is_tested_here():
    assert {name for name in agent_names() if agent_component(name)[0].built_in} == SETTINGS.keys()


# --- the twin test ---


class MyBits(fu.LockBernoulli):
    """A user's subclass."""


class MyReals(fu.LockGaussian):
    """A user's subclass."""


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

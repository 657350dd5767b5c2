"""The calls whose arguments are spoiled: each with valid values for all its arguments.

A call has a function that takes its arguments by name and, where it can, looks at what comes out.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fasturl as fu
from fasturl import decoders, registry
from fasturl._base import names
from fasturl._base.schema import declared_fields
from fasturl.agents import LatentPolicy
from fasturl.experiments import Cell, load, sweep
from fasturl.learners import Task, start
from fasturl.problems import emissions

from .judgement import expect, judge_run

LOCK = fu.LockBernoulli(2, 0.2)
NOISY = fu.LockGaussian(2, 0.2)
CHAIN = fu.BlockMDP(
    np.full((2, 2, 2, 2), 0.5),
    np.full((2, 2, 2), 0.5),
    emission=emissions.Gaussian(np.eye(2), 0.1, n_levels=3),
)


@dataclass(frozen=True)
class Call:
    name: str
    function: Any
    valid: Any
    """From an empty folder, for each argument a list of valid values."""
    settings: Any = field(default_factory=dict)
    also_named: tuple[str, ...] = ()
    """Words by which a refusal may name an argument beside its own name."""
    may_be_huge: bool = True


def declared_calls():
    """A call for every environment, learner, agent and oracle that fasturl brings, which is then used."""
    made = []
    for kind, use in (
        ("environment", _use_environment),
        ("learner", _use_learner),
        ("agent", _use_agent),
        ("oracle", _use_oracle),
    ):
        for component in names.components(kind).values():
            if component.built_in:
                made.append(_declared_call(component, use))
    return made


def _declared_call(component, use):
    settings = component.settings
    valid = {name: _valid_values(one) for name, one in settings.items()}

    def function(**arguments):
        thing = component.cls(**arguments)
        use(thing)
        return thing

    return Call(
        component.cls.__name__,
        function,
        lambda place: valid,
        # estimators of scikit-learn's kind keep what they are given, and check it when they are fitted
        {} if component.kind == "oracle" else declared_fields(component.cls),
        # a part is known by its kind, and its own settings are told with it
        also_named=(
            "horizon",
            "n_states",
            "max_states",
            "n_clusters",
            "observations",
            "oracle",
            "learner",
            "X must",
        ),
        may_be_huge=component.kind != "oracle",
    )


def _valid_values(setting):
    if setting.name == "horizon":
        return [1, 2, 3]
    if setting.required:
        return [1 if setting.kind is int else 0.5]
    return [setting.default]


def _use_environment(env):
    description = env.describe()
    if description.horizon * description.max_states**2 * description.n_actions < 10_000:
        value = env.optimal_value(0)
        expect(np.isfinite(value), f"V* is {value}")


def _use_learner(learner):
    judge_run(fu.train(LOCK, learner, 5, n_jobs=1))


def _use_agent(agent):
    description = NOISY.describe()
    agent.check(description)
    if agent.trajectories(description, 20) <= 500 and getattr(agent, "n_episodes", 0) <= 500:
        judge_run(fu.train(NOISY, agent, 20, n_jobs=1))


def _use_oracle(oracle):
    rng = np.random.default_rng(0)
    labels = oracle.fit(rng.normal(size=(40, 3)) + 5 * np.eye(3)[rng.integers(3, size=40)]).predict(np.eye(3))
    expect(np.asarray(labels).shape == (3,), f"labels {labels}")


def calls():
    return [*_functions(), *_tables(), *_gymnasium(), *_memories()]


def _functions():
    def train(**arguments):
        run = fu.train(**arguments)
        judge_run(run, highest=2.0)  # of the chain: two rewards
        run.summary()

    yield Call(
        "train",
        train,
        lambda place: {
            "env": [LOCK, CHAIN],
            "agent": [fu.OracleQ(), fu.QLearning()],
            "episodes": [5],
            "seeds": [1, 2, [3, 4]],
            "sees": [None, "latent"],
            "points": [3, [1, 4]],
            "n_jobs": [1, 2],
            "progress": [False],
        },
    )
    yield Call("Recording", fu.Recording, lambda place: {"points": [3], "evaluate_every": [None]})
    yield Call("Range", fu.Range, lambda place: {"low": [1], "high": [2]}, also_named=("range",))
    yield Call(
        "required_sizes",
        fu.required_sizes,
        lambda place: {"horizon": [2], "n_states": [3], "n_actions": [4], "epsilon": [0.1], "delta": [0.1]},
    )
    yield Call(
        "registry.environment",
        lambda name, **settings: registry.environment(name, **settings),
        lambda place: {"name": ["lock-bernoulli"], "horizon": [2], "switch": [0.1]},
        also_named=("environment",),
    )
    yield Call(
        "registry.agent",
        lambda name, **settings: registry.agent(name, **settings),
        lambda place: {"name": ["url"], "oracle": ["kmeans"], "learner": [{"name": "oracleq"}]},
        also_named=("agent",),
    )
    yield Call("instance", LOCK.instance, lambda place: {"seed": [0, 5]})
    yield Call(
        "policy_value", LOCK.policy_value, lambda place: {"policy": [np.zeros((2, 3), int)], "seed": [0]}
    )
    yield Call(
        "Cell.make",
        lambda **arguments: Cell.make(**arguments).id,
        lambda place: {
            "env": ["lock-bernoulli"],
            "env_settings": [{"horizon": 2}],
            "agent": ["oracleq-lat", "url"],
            "agent_settings": [{}, {"confidence": 0.1}],
            "episodes": [50],
            "points": [5],
            "evaluate_every": [None],
        },
        also_named=("setting", "env", "agent"),
    )
    yield Call(
        "sweep",
        sweep,
        lambda place: {
            "cells": [[Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 5, 1)]],
            "seeds": [1],
            "out": [place / "out", str(place / "out")],
            "backend": [None],
            "n_jobs": [1, None],
            "progress": [False],
        },
        also_named=("grid", "cannot write", "cannot read"),
    )
    yield Call("load", load, lambda place: {"folder": [place]}, also_named=("no results", "cannot read"))


def _tables():
    yield Call(
        "BlockMDP",
        lambda **arguments: judge_run(
            fu.train(fu.BlockMDP(**arguments), fu.OracleQ(), 5, n_jobs=1), -1e300, 1e300
        ),
        lambda place: {
            "transitions": [np.full((2, 2, 2, 2), 0.5)],
            "rewards": [np.full((2, 2, 2), 0.5), np.full((2, 2, 2, 2), 0.25)],
            "reward_draw": ["bernoulli", "deterministic"],
            "start": [0, np.array([0.5, 0.5])],
            "emission": [None, emissions.Gaussian(np.eye(2), 0.1, n_levels=3)],
            "max_states": [None, 3],
            "reward_range": [None],
            "max_return": [None],
        },
        also_named=("levels", "states", "reward"),
    )
    for make, valid in (
        (emissions.Gaussian, {"means": [np.eye(3)], "noise": [0.1], "n_levels": [2]}),
        (emissions.Bernoulli, {"means": [np.full((3, 4), 0.5)], "n_levels": [2]}),
        (emissions.Categorical, {"probabilities": [np.full((3, 4), 0.25)], "n_levels": [2]}),
    ):
        yield Call(
            make.__name__,
            _drawing(make),
            lambda place, valid=valid: valid,
            also_named=("means", "probabilities"),
        )
    yield Call(
        "AffineDecoder",
        lambda weights, bias, X, level: decoders.AffineDecoder(weights, bias).decode(X, level),
        lambda place: {"weights": [np.eye(3)], "bias": [np.zeros(3)], "X": [np.eye(3)], "level": [1]},
        also_named=("coordinates", "n_labels"),
    )
    yield Call(
        "AffineDecoder of an image",
        lambda X, **arguments: decoders.AffineDecoder(**arguments).decode(X),
        lambda place: {
            **{"weights": [np.eye(3, 2)], "bias": [np.zeros(3)], "curvature": [None, np.ones(3)]},
            **{"matrix": [np.eye(2, 4)], "offset": [None, np.ones(2)], "X": [np.eye(4)]},
        },
        also_named=("coordinates", "n_labels"),
    )
    yield Call(
        "QuadraticDecoder",
        lambda X, **arguments: decoders.QuadraticDecoder(**arguments).decode(X),
        lambda place: {
            **{"means": [np.eye(3)], "precisions": [np.tile(np.eye(3), (3, 1, 1))]},
            **{"log_weights": [np.zeros(3)], "X": [np.eye(3)]},
        },
        also_named=("coordinates", "n_labels"),
    )
    yield Call(
        "LatentPolicy",
        lambda chances: LatentPolicy(chances).judge(LOCK.instance(0), None),
        lambda place: {"chances": [np.full((2, 3, 4), 0.25)]},
        also_named=("policy",),
    )


def _drawing(make):
    def draw(**arguments):
        emission = make(**arguments)
        block = emission.draw(np.arange(1, 17, dtype=np.uint64).reshape(4, 4), 2)
        expect(np.isfinite(block.every_state()).all(), "an observation is not finite")

    return draw


def _gymnasium():
    from fasturl.envs import ScalarEnv, VectorEnv, rollout

    def scalar(seed, options, action, **arguments):
        env = ScalarEnv(**arguments)
        env.reset(seed=seed, options=options)
        _, reward, *_ = env.step(action)
        expect(reward in (0.0, 1.0), f"reward {reward}")

    def vector(seed, options, actions, **arguments):
        envs = VectorEnv(**arguments)
        envs.reset(seed=seed, options=options)
        _, rewards, *_ = envs.step(actions)
        expect(set(np.asarray(rewards).tolist()) <= {0.0, 1.0}, f"rewards {rewards}")

    shared = {"observe": ["latent", "observation"], "render_mode": [None], "options": [None]}
    yield Call(
        "ScalarEnv",
        _in_words_of_gymnasium(scalar),
        lambda place: {"env": [LOCK, NOISY], "seed": [0], "action": [0, 3], **shared},
        also_named=("Seed", "Discrete"),
    )
    yield Call(
        "VectorEnv",
        _in_words_of_gymnasium(vector),
        lambda place: {
            **{"env": [LOCK, NOISY], "num_envs": [2], "copy": [True, False], "seed": [0, [3, 4]]},
            **{"actions": [np.zeros(2, int)], "autoreset_mode": ["NextStep"], **shared},
        },
        also_named=("Seed", "seeds", "Discrete"),
    )
    yield Call(
        "rollout",
        rollout,
        lambda place: {"env": [LOCK], "policy_table": [np.zeros((2, 3), int)], "episodes": [3], "seed": [0]},
        also_named=("policy",),
    )


def _in_words_of_gymnasium(function):
    """Gymnasium's own errors are what its users expect of a bad seed or action."""
    import gymnasium

    def called(**arguments):
        try:
            function(**arguments)
        except gymnasium.error.Error as error:
            raise ValueError(" ".join(str(error).split())) from None

    return called


def _memories():
    def task(**changes):
        sizes = {"horizon": 2, "n_labels": 3, "n_actions": 4, "max_return": 1.0, "episodes": 9}
        return Task(**sizes, policy_rng=np.arange(1, 5, dtype=np.uint64))._replace(**changes)

    def update(labels, actions, rewards, learner):
        memory = start(learner, task())
        memory.update(labels, actions, rewards)
        chances = memory.final_policy()
        expect(np.allclose(chances.sum(axis=2), 1.0), f"final_policy {chances}")

    learners = [component.cls for component in names.components("learner").values() if component.built_in]
    simple = [learner() for learner in learners]
    yield Call(
        "update",
        lambda learner, **arguments: update(
            learner=simple[learner % len(simple)] if type(learner) is int else simple[0], **arguments
        ),
        lambda place: {
            "labels": [np.array([0, 1, 2])],
            "actions": [np.array([1, 3])],
            "rewards": [np.array([0.0, 1.0])],
            "learner": list(range(len(simple))),
        },
        also_named=("labels", "actions", "rewards"),
    )

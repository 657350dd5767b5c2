"""`check_component`: a component of a user's own, tried for what the documentation promises of it.

What a component hands over is checked in every run (`docs/extending.md` lists it), so short runs find most of
what can be wrong. Here is beside them what a single run cannot see: whether a run depends on its seed alone,
whether an oracle gives an observation the same label whatever others are labelled with it, and whether an
emission shows the same in blocks of any size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import checks, names
from ._base.exits import exits_are_faults
from ._base.schema import declared_fields
from ._base.streams import Streams
from .agents.agent import Agent, described_observations
from .agents.game import Game
from .agents.url import URL
from .learners.compiled import CompiledLearner
from .learners.oracleq import OracleQ
from .problems.block_mdp import BlockMDP
from .problems.emissions import Emission
from .problems.environment import Environment, emission_rngs
from .training import check_environment, train

EPISODES = 200
"""Trajectories of each run: URL fits its oracle a few times in them."""
_BLOCKS = (2, 4)
"""Sizes of two blocks of episodes that must show what one block of as many shows."""


@exits_are_faults()
def check_component(component: Any, env: Environment | None = None) -> None:
    """Try a component of your own on a small problem, and raise an error that says in one line what is wrong
    with it.

    component
        An oracle, a learner, an agent, an environment or an emission: an object, not a class.
    env
        The problem that an oracle, a learner or an agent is tried on. If not given, it is a lock of three
        levels, with observations that are reals for an oracle and bits for the others.

    Examples
    --------
    >>> import fasturl as fu
    >>> from sklearn.cluster import KMeans
    >>> fu.check_component(KMeans(3, n_init=1))
    >>> class Guesses:
    ...     def fit(self, X):
    ...         return self
    ...     def predict(self, X):
    ...         return np.random.default_rng().integers(3, size=len(X))
    >>> fu.check_component(Guesses())
    Traceback (most recent call last):
    ...
    ValueError: Guesses must give the same labels after each fit with one random_state, got others
    """
    checks.instance("component", component)
    if env is not None:
        check_environment(env)
        if isinstance(component, Environment | Emission):
            raise ValueError(
                f"env must be left out for an environment or an emission, got {checks.short_repr(env)}"
            )
    _check_settings(component)
    if isinstance(component, Environment):
        _check_environment(component)
    elif isinstance(component, Emission):
        _check_emission(component)
    elif isinstance(component, Agent):
        _check_runs(component, _problem(env, "lock-bernoulli"), component)
    elif callable(getattr(component, "start", None)):
        _check_learner(component, _problem(env, "lock-bernoulli"))
    elif callable(getattr(component, "fit", None)) and callable(getattr(component, "predict", None)):
        _check_oracle(component, _problem(env, "lock-gaussian"))
    else:
        raise ValueError(
            "component must be an environment, an emission, an agent, a learner with start or an oracle with "
            f"fit and predict, got {checks.short_repr(component)}"
        )


def _problem(env: Environment | None, name: str) -> Environment:
    """The environment that was given, or a short one of this name."""
    chosen: Environment = names.make("environment", name, {"horizon": 3}) if env is None else env
    return chosen


def _check_settings(component: Any) -> None:
    """Another object with the same settings has the same settings: tables of results and copies of oracles
    rely on that."""
    name = type(component).__name__
    if hasattr(component, "get_params"):
        settings = component.get_params(deep=False)
    else:
        declaring: Any = type(component)
        settings = {setting: getattr(component, setting) for setting in declared_fields(declaring)}
    again = type(component)(**settings) if settings else component
    for setting, value in settings.items():
        if repr(getattr(again, setting, None)) != repr(value):
            raise ValueError(
                f"{name} must keep its setting {setting} as it is given, got "
                f"{checks.short_repr(getattr(again, setting, None))} of {checks.short_repr(value)}"
            )


def _check_environment(env: Environment) -> None:
    instance, again = (env.draw_checked(Streams(0)) for _ in range(2))
    for table in ("transitions", "rewards", "start"):
        if not np.array_equal(getattr(instance, table), getattr(again, table)):
            raise ValueError(
                f"draw of {type(env).__name__} must give the same instance for the same streams, got other "
                f"{table}"
            )
    if instance.emission is not None:
        _check_blocks(instance.emission, instance)
    _check_runs(env, env, OracleQ())


def _check_emission(emission: Emission) -> None:
    """Tried in a Block MDP that goes to any state with equal chances."""
    horizon = checks.integer("n_levels of the emission", emission.n_levels, least=2) - 1
    states = checks.integer("n_states of the emission", emission.n_states, least=1)
    moves = np.full((horizon, states, 1, states), 1 / states)
    _check_blocks(emission, BlockMDP(moves, np.zeros((horizon, states, 1)), emission=emission))


def _check_blocks(emission: Emission, instance: BlockMDP) -> None:
    """The observations are those of the generators, in blocks of any size, and within the bounds."""
    draw = f"draw of {type(emission).__name__}"
    whole = _observations(instance, sum(_BLOCKS))
    if not np.array_equal(whole, _observations(instance, sum(_BLOCKS))):
        raise ValueError(f"{draw} must draw from its rngs alone, got others from the same generators")
    if not np.array_equal(whole, _observations(instance, *_BLOCKS)):
        raise ValueError(
            f"{draw} must show the same in blocks of any size, got other observations in blocks of "
            f"{' and '.join(map(str, _BLOCKS))} episodes than in one of {sum(_BLOCKS)}"
        )
    low, high = emission.bounds()
    if whole.min() < low or whole.max() > high:
        raise ValueError(
            f"{draw} must keep to its bounds {low:g} and {high:g}, got observations from {whole.min():g} to "
            f"{whole.max():g}"
        )


def _observations(instance: BlockMDP, *sizes: int) -> NDArray[np.generic]:
    """The observations of every state in blocks of so many episodes, one after the other."""
    rngs = emission_rngs(Streams(0))
    return np.concatenate([instance.draw_block(rngs, size).every_state() for size in sizes])


def _check_learner(learner: Any, env: Environment) -> None:
    _check_runs(learner, env, learner)
    observations = env.describe().observations
    if observations is None:
        return
    _check_runs(learner, env, URL(learner=learner))
    if observations.discrete and isinstance(learner, CompiledLearner):
        _check_runs(learner, env, learner, sees="observation")


def _check_oracle(oracle: Any, env: Environment) -> None:
    from .oracles.fitting import fit_decoder

    agent, known, name = URL(oracle=oracle), env.describe(), type(oracle).__name__
    dimension = described_observations(known).dimension
    agent.check(known)
    streams = Streams(0)
    X = Game(env.draw_checked(streams), streams).play_random(EPISODES).observations().reshape(-1, dimension)
    first, second = (fit_decoder(oracle, X, 0, agent.n_labels(known)) for _ in range(2))
    labels = first.decode(X)
    if not np.array_equal(labels, second.decode(X)):
        raise ValueError(f"{name} must give the same labels after each fit with one random_state, got others")
    half = len(X) // 2
    if not np.array_equal(labels[half:], first.decode(X[half:])):
        raise ValueError(
            f"{name} must label an observation alike whatever others are labelled with it, got others"
        )
    _check_runs(oracle, env, agent)


def _check_runs(component: object, env: Environment, agent: Any, sees: str | None = None) -> None:
    """The run of a seed is the same whichever runs were before it or are played beside it."""
    seeds = [0, 1]
    run = train(env, agent, EPISODES, seeds, sees=sees, n_jobs=1, progress=False)
    again = train(env, agent, EPISODES, seeds[::-1], sees=sees, n_jobs=2, progress=False)
    for seed in seeds:
        same_rewards = np.array_equal(run.average_reward[seed], again.average_reward[-1 - seed])
        if not (same_rewards and run.values[seed] == again.values[-1 - seed]):
            raise ValueError(
                f"a run with {type(component).__name__} must depend on its seed alone, got another for seed "
                f"{seed} after other runs: nothing may be kept from one run to the next, and all that is "
                "drawn must come from the streams of the run"
            )

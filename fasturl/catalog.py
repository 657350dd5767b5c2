"""Environments and agents by name, as the command line and files of settings write them.

A field that the named thing does not have is refused, so that no setting is ever silently ignored.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from . import validation
from .agents import Agent, LatentAgent
from .learners import OracleQ, QLearning
from .models import Environment, LockBernoulli, LockGaussian
from .observation_agent import ObservationAgent
from .pcid import PCID
from .url import DEFAULT_LEARNER, URL

ENVIRONMENTS: dict[str, Callable[..., Environment]] = {maker.name: maker for maker in (LockBernoulli, LockGaussian)}


def _seeing(agent: Callable[[Any], Agent], learner: Callable[..., Any]) -> Callable[..., Agent]:
    """Makes the agent of a learner from the learner's settings."""

    def make(**fields: Any) -> Agent:
        return agent(learner(**fields))

    make.__signature__ = inspect.signature(learner)  # type: ignore[attr-defined]  # read by _make
    return make


def _url(
    oracle: str | None = None,
    oracle_settings: dict[str, Any] | None = None,
    form: str = "practical",
    batch: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    epsilon_1: float | None = None,
    delta_1: float | None = None,
    learning_rate: float | None = None,
    confidence: float = DEFAULT_LEARNER.confidence,
    schedule: str | None = None,
    failure_probability: float | None = None,
) -> Agent:
    """URL with OracleQ; a learning rate asks for the constant schedule. Settings of the oracle are for the 3 states of a lock."""
    if schedule is None:
        schedule = DEFAULT_LEARNER.schedule if learning_rate is None else "constant"
    learner = OracleQ(learning_rate, confidence, schedule, failure_probability)
    eyes = _make_oracle(oracle, oracle_settings) if oracle_settings else oracle
    return URL(eyes, learner, form, batch, epsilon, delta, epsilon_1, delta_1)


def _make_oracle(name: str | None, settings: dict[str, Any]) -> Any:
    from .oracles import BY_NAME

    if not isinstance(settings, Mapping):
        raise ValueError(f"oracle_settings must be a table of settings, got {validation.shown(settings)}")
    if name is None:  # the environment decides which oracle it is, so nobody knows yet which settings there are
        raise ValueError(f"oracle must be one of {', '.join(map(repr, BY_NAME))} where oracle_settings are given, got None")
    return _make("oracle", BY_NAME, name, dict(settings))


AGENTS: dict[str, Callable[..., Agent]] = {
    "url": _url,
    "pcid": PCID,
    "oracleq-lat": _seeing(LatentAgent, OracleQ),
    "qlearning-lat": _seeing(LatentAgent, QLearning),
    "oracleq-obs": _seeing(ObservationAgent, OracleQ),
    "qlearning-obs": _seeing(ObservationAgent, QLearning),
}


def environment(name: str, **fields: Any) -> Environment:
    """For example environment("lock-gaussian", horizon=20, switch=0.2, noise=0.1)."""
    made: Environment = _make("environment", ENVIRONMENTS, name, fields)
    return made


def agent(name: str, **fields: Any) -> Agent:
    """For example agent("oracleq-lat", learning_rate=0.3)."""
    made: Agent = _make("agent", AGENTS, name, fields)
    return made


def agent_settings(name: str, **fields: Any) -> dict[str, Any]:
    """All settings of an agent: those given, and the defaults of the rest."""
    return _complete("agent", AGENTS, name, fields)


def environment_settings(name: str, **fields: Any) -> dict[str, Any]:
    """All settings of an environment: those given, and the defaults of the rest."""
    return _complete("environment", ENVIRONMENTS, name, fields)


def _complete(kind: str, makers: dict[str, Callable[..., Any]], name: str, fields: dict[str, Any]) -> dict[str, Any]:
    _make(kind, makers, name, fields)
    parameters = inspect.signature(makers[name]).parameters.values()
    return {parameter.name: fields.get(parameter.name, parameter.default) for parameter in parameters}


def _make(kind: str, makers: Mapping[str, Callable[..., Any]], name: str, fields: dict[str, Any]) -> Any:
    validation.choice(kind, name, makers)
    allowed = inspect.signature(makers[name]).parameters
    for field in fields:
        if field not in allowed:
            raise ValueError(f"{field} is not a setting of {name}{validation.nearest(field, allowed)}; it has {', '.join(allowed)}")
    return makers[name](**fields)

"""The contract of agents: what `train` asks of whatever explores an environment.

An agent is a frozen dataclass of declared settings. `play` is called once for each seed, in a thread of its
own. It gets a `Game`, which describes the environment and can be played, and a `Ledger`, in which it enters
the return of every trajectory; it draws from the game's streams and from nothing else. It returns its final
policy, which is judged by `train`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._base import checks
from .._base.names import name_of
from .._base.parts import build_part, part_in_words
from .._base.schema import Declared, declared_fields
from ..problems.description import Description, ObservationSpace
from .evaluation import FinalPolicy
from .game import Game
from .ledger import Ledger


@dataclass
class Outcome:
    """What an agent hands over at the end of a run.

    policy
        What it has learned, to be judged: a `LatentPolicy`, a `DecodedPolicy`, or anything else that has
        their methods.
    diagnostics
        What the agent has to say about the run: by name, plain numbers, texts and lists of them. Under
        `warnings`, a list of sentences on what may be wrong with it: tables and reports show them.

    Examples
    --------
    >>> import numpy as np
    >>> from fasturl.agents import LatentPolicy
    >>> Outcome(LatentPolicy(np.ones((1, 1, 1))), {"rounds": 3}).diagnostics
    {'rounds': 3}
    """

    policy: FinalPolicy
    diagnostics: dict[str, Any] = field(default_factory=dict)


def check_outcome(agent: object, outcome: Any) -> Outcome:
    """What `play` returned, with diagnostics that JSON can hold; ValueError where it is something else."""
    play = f"play of {type(agent).__name__}"
    policy: Any = getattr(outcome, "policy", None)
    diagnostics: Any = getattr(outcome, "diagnostics", None)
    if not callable(getattr(policy, "judge", None)):
        raise ValueError(
            f"{play} must return an Outcome whose policy has a method judge, got {checks.short_repr(outcome)}"
        )
    if not isinstance(diagnostics, Mapping):
        raise ValueError(f"{play} must return diagnostics by name, got {checks.short_repr(diagnostics)}")
    plain = plain_diagnostics(agent, diagnostics)
    warnings = plain.get("warnings", [])
    if not (isinstance(warnings, list) and all(isinstance(one, str) for one in warnings)):
        raise ValueError(f"{play} must return warnings as a list of texts, got {checks.short_repr(warnings)}")
    return Outcome(policy, plain)


def plain_diagnostics(agent: object, diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    """Diagnostics as JSON can hold them: numbers and arrays of NumPy become Python's numbers and lists."""
    return {_key(agent, key): _plain(agent, key, value) for key, value in diagnostics.items()}


def _key(agent: object, key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(
            f"diagnostics of {type(agent).__name__} must be named by texts, got {checks.short_repr(key)}"
        )
    return key


def _plain(agent: object, name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(agent, name, one) for one in value]
    if isinstance(value, Mapping):
        return {_key(agent, key): _plain(agent, name, one) for key, one in value.items()}
    raise ValueError(
        f"diagnostics of {type(agent).__name__} must be numbers, texts, and lists and tables of them, "
        f"got {checks.short_repr(value)} in {name!r}"
    )


def described_observations(description: Description) -> ObservationSpace:
    """What is known of the observations of an environment; ValueError where it has none."""
    if description.observations is None:
        raise ValueError("env must have an emission: without one there is nothing to see")
    return description.observations


class Agent(Declared, ABC):
    """An agent explores one environment for a number of episodes. Subclasses implement `play`; see
    `docs/extending.md`.

    Examples
    --------
    >>> import numpy as np
    >>> import fasturl as fu
    >>> from dataclasses import dataclass
    >>> from fasturl.agents import Agent, LatentPolicy, Outcome
    >>> @dataclass(frozen=True)
    ... class Random(Agent):
    ...     sees_latent_states = True
    ...     def play(self, game, ledger):
    ...         known = game.description
    ...         ledger.enter(game.play_random(ledger.left).returns)
    ...         shape = known.horizon, known.max_states, known.n_actions
    ...         return Outcome(LatentPolicy(np.full(shape, 1 / known.n_actions)))
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> fu.train(coin, Random(), episodes=10).values.tolist()
    [0.375]
    """

    component_kind: ClassVar[str] = "agent"
    sees_latent_states: ClassVar[bool] = False
    """Whether it is shown the latent states instead of observations."""
    offers_policies: ClassVar[bool] = False
    """Whether `play` offers its ledger the policy that it would end with, time and again, so that it can be
    evaluated in the course of a run."""

    def __post_init__(self) -> None:
        """Check the settings, and build the parts that are given by name or as a table."""
        super().__post_init__()
        for name, declared in declared_fields(type(self)).items():
            if isinstance(declared.kind, str):
                part = build_part(declared.kind, getattr(self, name), declared.default)
                checks.keep(self, **{name: part})

    @property
    def name(self) -> str:
        """What it is called in tables and files: the name that its class is registered under, or else the
        class's own."""
        return name_of(self.component_kind, self)

    def components(self) -> list[tuple[str, Any]]:
        """The agent and its parts, each with its kind."""
        parts = [
            (declared.kind, getattr(self, name))
            for name, declared in declared_fields(type(self)).items()
            if isinstance(declared.kind, str)
        ]
        return [(self.component_kind, self), *((kind, part) for kind, part in parts if part is not None)]

    def described_settings(self) -> dict[str, Any]:
        """All settings as plain values: a part is a table of its name and settings."""
        return {
            name: part_in_words(declared.kind, getattr(self, name))
            if isinstance(declared.kind, str)
            else getattr(self, name)
            for name, declared in declared_fields(type(self)).items()
        }

    @abstractmethod
    def play(self, game: Game, ledger: Ledger) -> Outcome:
        """Play one run, from its first trajectory to its final policy."""

    def check(self, description: Description) -> None:
        """Raise ValueError where this agent cannot be trained on such an environment."""
        if not self.sees_latent_states:
            described_observations(description)

    def trajectories(self, description: Description, episodes: int) -> int:
        """How many trajectories a run of so many episodes has."""
        return episodes

    def learner_bytes(self, description: Description, episodes: int) -> int:
        """About the memory that what it learns takes in a run; 0 where that is not known beforehand."""
        return 0

    def history_bytes(self, description: Description, trajectories: int) -> float:
        """About the memory that what it keeps of so many trajectories takes; 0 where that is not known
        beforehand."""
        return 0.0

    def oracle_name(self, description: Description) -> str | None:
        """The oracle that it learns to see with, if it has one."""
        return None

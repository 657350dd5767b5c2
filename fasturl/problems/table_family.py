"""Families that are given by latent tables and seen through any emission.

A subclass declares its own settings, sets `max_states` in `_derive`, and draws tables. Horizon and how states
are seen are declared here, once for all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import refuse_without_effect, setting
from .._base.streams import Streams
from .block_mdp import BlockMDP
from .code_words import EMISSIONS, LARGEST_TABLE, NO_EMISSION, USUAL_NOISE, Appearance, make_emission
from .emissions import LARGEST, Emission
from .environment import Environment

LONGEST = 10**5
"""Upper limit on the horizon of a family of tables: beyond any machine with more than a few states."""
MOST_STATES = 10**4
"""Upper limit on the states of a level: tables hold its square."""


@dataclass(frozen=True)
class TableFamily(Environment):
    """What families of latent tables share: their horizon, and how their states are seen."""

    horizon: int = setting(
        20, least=1, limit=LONGEST, unit="levels", help="Number of levels that are acted in."
    )
    emission: str = setting(
        "gaussian", choices=EMISSIONS, kw_only=True, help="How states are seen; none shows nothing."
    )
    dimension: int | None = setting(
        None,
        least=1,
        limit=10**6,
        none="20 or as many as it takes; for rich, the smallest power of two",
        unit="coordinates",
        kw_only=True,
        help="Length of an observation.",
    )
    noise: float | None = setting(
        None,
        least=0,
        most=LARGEST,
        none="0.2, or 0.05 where it is a probability",
        kw_only=True,
        help="Standard deviation of gaussian and rich, probability of a flipped bit for bernoulli, of a "
        "symbol that tells nothing for categorical.",
    )
    looks: str | None = setting(
        None,
        choices=("same", "different"),
        none="different for rich, same for the others",
        kw_only=True,
        help="Whether a state looks the same or different at different levels.",
    )

    reward_draw: ClassVar[str] = "deterministic"
    """As `BlockMDP` takes it, for all instances."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive()
        entries = self.horizon * self.max_states**2 * self.n_actions
        if entries > LARGEST_TABLE:
            sizes = f"{self.max_states} states and {self.n_actions} actions"
            raise ValueError(
                f"horizon {self.horizon} with {sizes} must give tables of at most {LARGEST_TABLE} entries, "
                f"got {entries}"
            )
        if self.emission == NO_EMISSION:
            condition = f"emission={NO_EMISSION!r}, which has no use for it"
            refuse_without_effect(self, ("dimension", "noise", "looks"), condition)
        differ = None if self.looks is None else self.looks == "different"
        noise = USUAL_NOISE[self.emission] if self.noise is None else self.noise
        appearance = Appearance(self.max_states, self.horizon + 1, self.dimension, noise, differ)
        checks.keep(self, _resolved_emission=make_emission(self.emission, appearance))

    @property
    def resolved_emission(self) -> Emission | None:
        emission: Emission | None = vars(self)["_resolved_emission"]
        return emission

    def draw(self, streams: Streams) -> BlockMDP:
        transitions, rewards = self._tables(streams.generator("instance"))
        return BlockMDP._trusted(transitions, rewards, self.resolved_emission, reward_draw=self.reward_draw)

    def _derive(self) -> None:
        """Set what follows from the settings and is no setting itself, such as `max_states`."""

    @abstractmethod
    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Transition probabilities and mean rewards of the next instance, both [H, S, A, S]; its episodes
        start in state 0."""


def at_every_level(table: NDArray[np.float64], horizon: int) -> NDArray[np.float64]:
    """A table [S, A, S'] as one of H levels."""
    return np.repeat(table[None], horizon, axis=0)

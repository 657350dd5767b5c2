"""The contract of environments: what `train`, sweeps, figures, Gymnasium and every agent ask of a Block MDP.

A family is one class in one file. It declares its settings as dataclass fields (`fasturl.setting`), its
sizes, and how an instance is drawn for a seed; all else follows. An instance is a `BlockMDP`, which is an
environment too: the same one for every seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks, notebook
from .._base.names import name_of
from .._base.origin import implemented_by_us, in_method
from .._base.schema import Declared, settings_of
from .._base.streams import Streams
from .checked_instance import check_instance
from .description import (
    Description,
    ObservationSpace,
    checked_max_return,
    checked_reward_range,
    greatest_return,
)
from .emissions import N_RNGS, Emission, refuse_emission
from .vector_tables import InstanceTables, VectorTables

if TYPE_CHECKING:
    from .block_mdp import BlockMDP


class Environment(Declared, ABC):
    """What an agent can be trained on: fixed sizes, and an instance for each seed.

    A subclass has, as attributes or properties, `horizon`, `n_actions`, `max_states` (an upper bound on the
    number of latent states of a level) and `emission`, and it implements `draw`. Where it knows more it may
    declare it: `reward_range`; `max_return`, the greatest return of an episode; `optimal_value`, where there
    is a formula; `vector_tables`, where instances fit into less memory. Settings that it declares by
    `fasturl.setting` are checked when it is made.

    Examples
    --------
    A family of one state a level, whose better action pays 1 at every level and is drawn for each seed:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import fasturl as fu
    >>> @dataclass(frozen=True)
    ... class Coins(fu.Environment):
    ...     horizon: int = fu.setting(3, least=1, help="Number of levels that are acted in.")
    ...     n_actions, max_states = 2, 1
    ...     def draw(self, streams):
    ...         better = streams.generator("instance").integers(2, size=self.horizon)
    ...         rewards = np.eye(2)[better].reshape(self.horizon, 1, 2)
    ...         return fu.BlockMDP(np.ones((self.horizon, 1, 2, 1)), rewards)
    >>> Coins(horizon=5).optimal_value(seed=3)
    5.0
    """

    component_kind: ClassVar[str] = "environment"

    horizon: int
    n_actions: int
    max_states: int
    emission: Emission | str | None = None
    """How observations are drawn; None where latent states are all there is to observe. Where `draw` gives
    instances emissions of their own, this is one of the same kind, dimension and bounds. A family may have a
    setting of this name, which is a text: `resolved_emission` is then what the text stands for."""
    reward_range: tuple[float, float] = (0.0, 1.0)
    max_return: float | None = None
    """The greatest return that can be ahead at any level; if it is None, what follows from the range of
    rewards."""

    @abstractmethod
    def draw(self, streams: Streams) -> BlockMDP:
        """The instance that a run with these streams meets: what is random in it comes from the stream
        "instance"."""

    @property
    def resolved_emission(self) -> Emission | None:
        """The emission itself, also where the setting `emission` is only its name."""
        emission = self.emission
        if emission is None or isinstance(getattr(emission, "observation_space", None), ObservationSpace):
            return emission  # type: ignore[return-value]  # whatever has an observation space will do
        refuse_emission(emission)

    def describe(self) -> Description:
        """What an agent may know."""
        for name in ("horizon", "n_actions", "max_states"):
            if not hasattr(self, name):
                raise ValueError(
                    f"{type(self).__name__} must have {name}, an integer >= 1: declare it in the class"
                )
        horizon = checks.integer("horizon", self.horizon, least=1)
        reward_range = checked_reward_range(self.reward_range)
        max_return = self.max_return
        if max_return is None:
            max_return = greatest_return(horizon, reward_range[1])
        emission = self.resolved_emission
        return Description(
            horizon=horizon,
            n_actions=checks.integer("n_actions", self.n_actions, least=1),
            max_states=checks.integer("max_states", self.max_states, least=1),
            reward_range=reward_range,
            max_return=checked_max_return(max_return, horizon, reward_range),
            observations=None if emission is None else emission.observation_space,
        )

    def _repr_html_(self) -> str:
        """In a notebook: the settings, and what an agent is told."""
        told = {f"agents are told: {name}": value for name, value in vars(self.describe()).items()}
        return notebook.table(self.settings() | told, type(self).__name__)

    def instance(self, seed: int = 0) -> BlockMDP:
        """The instance that a run with this seed meets."""
        return self.draw_checked(Streams(checks.seed("seed", seed)))

    def draw_checked(self, streams: Streams) -> BlockMDP:
        """As `draw`, with the instance checked against what the family declares, and carrying the
        declaration."""
        with in_method("draw", self):
            instance = self.draw(streams)
        if not hasattr(instance, "declared_by"):
            raise ValueError(
                f"draw of {type(self).__name__} must give a BlockMDP, got {checks.short_repr(instance)}"
            )
        known = self.describe()
        check_instance(self, known, instance)
        declared = instance.declared_by(self)
        if not implemented_by_us(instance, "declared_by"):
            check_instance(self, known, declared)
        return declared

    def instance_bytes(self) -> int:
        """About the memory that a new instance takes: transitions, their running sums, and rewards."""
        known = self.describe()
        return 0 if self.single_instance else 24 * known.horizon * known.max_states**2 * known.n_actions

    @property
    def single_instance(self) -> bool:
        """Whether every seed meets the same instance."""
        return False

    def vector_tables(self, n_envs: int) -> VectorTables:
        """The instances of `n_envs` environments side by side, as vector environments take them.

        This works for every family, from `draw` alone. A family may declare tables that are smaller and
        faster; they hold for its own `draw`, not for that of a subclass (see `draws_as`).
        """
        return InstanceTables(self, n_envs)

    def draws_as(self, family: type[Environment]) -> bool:
        """Whether instances are drawn by the `draw` of `family`, not by one that a subclass has put in its
        place: what a family knows of its instances holds only then."""
        return type(self).draw is family.draw

    def optimal_value(self, seed: int = 0) -> float:
        """V*: the greatest expected return of any policy, exact."""
        return self.instance(seed)._optimal_value()

    def policy_value(self, policy: ArrayLike, seed: int = 0) -> float:
        """The expected return of a policy on latent states, exact.

        `policy` is an integer array [H, S] of actions or a float array [H, S, A] of probabilities, S being
        the largest number of states of a level.
        """
        return self.instance(seed)._policy_value(policy)

    def optimal_policy(self, seed: int = 0) -> NDArray[np.int64]:
        """An optimal action for each (level, state), as an array [H, S]."""
        return np.asarray(self.instance(seed)._optimal_tables()[0].argmax(axis=2), dtype=np.int64)

    @property
    def name(self) -> str:
        """What it is called in tables and files: the name that its class is registered under, or else the
        class's own."""
        return name_of(self.component_kind, self)

    def settings(self) -> dict[str, Any]:
        """What identifies the environment besides its name: its declared settings, or its horizon where it
        declares none."""
        try:
            declared = settings_of(type(self))
        except ValueError:  # a class that cannot be registered can be trained on all the same
            declared = {}
        values = {name: getattr(self, name) for name in declared if hasattr(self, name)}
        return values or {"horizon": self.horizon}


def emission_rngs(streams: Streams) -> NDArray[np.uint64]:
    """The emission stream as the generators that `Emission.draw` takes."""
    return streams.rows("emission", N_RNGS)

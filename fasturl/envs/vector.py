"""Many environments with Gymnasium's vector interface: one kernel call per step for all of them.

Environment i does what a scalar environment with its seed does, bit for bit. Where episodes begin, one more
kernel call begins all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import vector
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .._base import checks
from .._base.patience import announced
from .._base.streams import Streams
from .._kernels.records import Players
from ..problems.block_mdp import BlockMDP
from ..problems.buffers import (
    Actions,
    LatentStates,
    Mask,
    ObservationBuffer,
    Observations,
    StoredObservations,
)
from ..problems.environment import Environment, emission_rngs
from ..problems.vector_tables import checked_tables, read_only
from . import arguments, footprint, spaces
from .episode_length import SpecWithLength, check_limit
from .ladder import Ladder
from .levels import LevelBehind
from .paths import Paths


class VectorEnv(vector.VectorEnv[Any, Any, Any]):
    """`num_envs` Block MDPs of one family, each with streams and an instance of its own.

    env, observe, observe_level, instance_seed, render_mode, settings
        As those of `ScalarEnv`; with an `instance_seed`, all environments play the one instance.
    num_envs
        Number of environments, 1 or more.
    copy
        Whether each call returns arrays of its own. If not, observations are the same array every time,
        overwritten, and what no step changes in `info` is one array that cannot be written.
    autoreset_mode
        One of Gymnasium's three. NEXT_STEP: the step after the last begins the next episode and ignores the
        action. SAME_STEP: the last step of an episode begins the next one, and `info` holds `final_obs` and
        `final_info`. DISABLED: environments are reset by hand, some of them with options={"reset_mask":
        array}.
    max_episode_steps
        Gymnasium's limit on the steps of an episode, as make_vec passes it on: the horizon or more, which
        changes nothing.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> envs = VectorEnv(coin, num_envs=3, observe="latent")
    >>> states, infos = envs.reset(seed=0)
    >>> states.tolist(), infos["optimal_value"].tolist()
    ([0, 0, 0], [0.5, 0.5, 0.5])
    """

    # Gymnasium declares it as a variable of the class
    metadata = {**arguments.METADATA, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    spec = SpecWithLength()

    def __init__(
        self,
        env: Environment | str,
        num_envs: int = 1,
        *,
        observe: str = "observation",
        observe_level: bool = False,
        instance_seed: int | None = None,
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        limit = settings.pop("max_episode_steps", None)
        self.environment = arguments.pinned(arguments.environment(env, settings), instance_seed)
        self._latent = arguments.shows_latent_states(self.environment, observe)
        self.copy = checks.flag("copy", copy)
        self.num_envs = checks.integer("num_envs", num_envs, least=1)
        footprint.check_many(self.environment, self.num_envs, latent=self._latent)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.render_mode = arguments.render_mode(render_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = spaces.action_space(self.environment)
        self.single_observation_space = spaces.observation_space(self.environment, self._latent)
        self._description = self.environment.describe()
        self.horizon = self._description.horizon
        """Number of steps of an episode."""
        check_limit(limit, self.horizon)
        self._level_behind: LevelBehind | None = None
        if checks.flag("observe_level", observe_level):
            self._level_behind = LevelBehind(self.single_observation_space, self.horizon + 1)
            self.single_observation_space = self._level_behind.space
            self._reused_with_levels = self._level_behind.empty(self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._tables = checked_tables(self.environment, self.num_envs)
        self._players = Players(
            dynamics_rngs=np.zeros((self.num_envs, 4), np.uint64),
            emission_rngs=np.zeros((self.num_envs, 4, 4), np.uint64),
            levels=np.zeros(self.num_envs, np.int64),
            states=np.zeros(self.num_envs, np.int64),
        )
        everybody = read_only(np.ones(self.num_envs, np.bool_))
        self._everybody = {f"_{key}": everybody for key in ("level", "latent_state", "optimal_value")}
        self._seeds: list[int | None] = [None] * self.num_envs
        self._buffer: ObservationBuffer | None = None
        self._reused: Observations = np.empty(0)
        self._shared_emission = True
        self._n_over = 0
        self._paths = Paths(self._description.horizon, self.num_envs) if self.render_mode else None

    @property
    # as Gymnasium's own vector environments have it
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """The seed of each environment."""
        return tuple(self._seeds)

    def instance(self, index: int) -> BlockMDP:
        """The instance that environment `index` plays now."""
        if self._buffer is None:
            raise gymnasium.error.ResetNeeded("envs have no instances before the first call of envs.reset()")
        return self._tables.instance(checks.integer("index", index, least=0, most=self.num_envs - 1))

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every environment, or in those of options["reset_mask"].

        seed
            An integer n gives the environments the seeds n, n + 1, ...; a list has one seed, or None, for
            each.
        options
            "new_instance": True draws the next instance of each environment. "reset_mask": which environments
            to reset, a bool array.
        """
        chosen = arguments.reset_options(options, ("new_instance", "reset_mask"))
        new_instance = arguments.wants_new_instance(self.environment, chosen)
        mask = self._reset_mask(chosen)
        everywhere = bool(mask.all())
        if not (everywhere or self._buffer):
            raise gymnasium.error.ResetNeeded(
                "Cannot reset some environments before all have been reset once"
            )
        seeds = self._reset_seeds(seed)
        redraw = mask & new_instance
        for e in announced(np.flatnonzero(mask).tolist(), "seeding"):
            if seeds[e] is not None or self._seeds[e] is None:
                self._seed(e, seeds[e])
                redraw[e] = True
        if redraw.any():
            self._tables.draw(redraw)
            self._optimal_values = read_only(self._tables.optimal_values.copy())
            self._fit_buffer()
        assert self._buffer is not None, "the first reset draws all instances"
        observations = self._empty(self._buffer)
        self._begin(self._buffer, mask, observations)
        self._n_over = int((self._players.levels == self._description.horizon).sum())
        return self._shown(observations), self._infos(None if everywhere else mask)

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], Mask, Mask, dict[str, Any]]:
        buffer, players = self._buffer, self._players
        if buffer is None:
            raise gymnasium.error.ResetNeeded("Cannot call envs.step() before calling envs.reset()")
        chosen = self._checked(actions)
        waiting = players.levels == self._description.horizon if self._n_over else None
        if waiting is not None and self.autoreset_mode is AutoresetMode.DISABLED:
            raise gymnasium.error.ResetNeeded(
                "Cannot call envs.step() while episodes are over: "
                f"reset environments {np.flatnonzero(waiting).tolist()} first"
            )
        observations = self._empty(buffer)
        rewards, ended = np.empty(self.num_envs), np.empty(self.num_envs, np.bool_)
        self._n_over = buffer.step(self._tables.arrays, players, chosen, observations, rewards, ended)
        if self._paths is not None:
            self._paths.step(players, chosen, rewards, waiting)
        if waiting is not None:
            self._begin(buffer, waiting, observations)
        infos: dict[str, Any] = {}
        if self._n_over and self.autoreset_mode is AutoresetMode.SAME_STEP:
            infos = {"final_obs": self._final(self._shown(observations), ended), "_final_obs": ended.copy()}
            infos |= {"final_info": self._infos(ended), "_final_info": ended.copy()}
            self._begin(buffer, ended, observations)
            self._n_over = 0
        infos |= self._infos(None)
        return self._shown(observations), rewards, ended, np.zeros(self.num_envs, np.bool_), infos

    def render(self) -> tuple[Any, ...] | None:
        """A text or a picture for each environment."""
        if self._paths is None:
            gymnasium.logger.warn(
                "render() shows nothing without a render mode: make it with render_mode='ansi' or 'rgb_array'"
            )
            return None
        if self._buffer is None:
            raise gymnasium.error.ResetNeeded("Cannot call envs.render() before calling envs.reset()")
        ladders = [
            Ladder(self.instance(e), *self._paths.of(e, self._players.levels[e]))
            for e in range(self.num_envs)
        ]
        return tuple(ladder.text() if self.render_mode == "ansi" else ladder.picture() for ladder in ladders)

    def _fit_buffer(self) -> None:
        """Make the buffer for the instances once they are drawn: that of their emission, or one for any
        emissions where instances have their own; ValueError where later instances do not fit it."""
        emission, emissions = self.environment.resolved_emission, self._tables.emissions
        shared = self._latent or all(one is emission for one in emissions)
        if self._buffer is None:
            if self._latent or emission is None:
                self._buffer = LatentStates(self.num_envs)
            elif shared:
                self._buffer = emission.observation_buffer(self.num_envs)
            else:
                n_levels, n_states = self._description.horizon + 1, self._description.max_states
                self._buffer = StoredObservations(emissions, n_levels, n_states)
            self._reused, self._shared_emission = self._buffer.empty(), shared
        elif self._shared_emission and not shared:
            raise ValueError(
                f"draw of {type(self.environment).__name__} must give all instances "
                "the emission of the family, or each its own, got both"
            )

    def _empty(self, buffer: ObservationBuffer) -> Observations:
        return buffer.empty() if self.copy else self._reused

    def _shown(self, observations: Observations) -> Observations:
        """Observations with the level behind them, where that is observed too."""
        if self._level_behind is None:
            return observations
        out = self._level_behind.empty(self.num_envs) if self.copy else self._reused_with_levels
        self._level_behind.fill(observations, self._players.levels, out)
        return out

    def _begin(self, buffer: ObservationBuffer, mask: Mask, observations: Observations) -> None:
        buffer.begin(self._tables.arrays, self._players, mask, observations)
        if self._paths is not None:
            self._paths.begin(self._players, mask)

    def _seed(self, e: int, seed: int | None) -> None:
        """New streams for environment e."""
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        streams = Streams(seed)
        self._seeds[e] = seed
        self._tables.seed(e, streams)
        self._players.dynamics_rngs[e] = streams.row("dynamics")
        self._players.emission_rngs[e] = emission_rngs(streams)

    def _reset_seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if not isinstance(seed, list | tuple):
            first = arguments.python_seed(seed)
            return [first + e for e in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(
                "If seeds are passed as a list the length must match "
                f"num_envs={self.num_envs} but got length={len(seed)}."
            )
        return [None if one is None else arguments.python_seed(one) for one in seed]

    def _reset_mask(self, options: Mapping[str, Any]) -> Mask:
        if "reset_mask" not in options:
            return np.ones(self.num_envs, np.bool_)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(
                f"`options['reset_mask']` must be a numpy array of dtype bool, got {checks.short_repr(mask)}"
            )
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"`options['reset_mask']` must have shape {(self.num_envs,)} "
                f"and at least one True value, got {checks.short_repr(mask)}"
            )
        return mask.copy()

    def _checked(self, actions: Any) -> Actions:
        """Actions that cannot lead a kernel outside its tables."""
        try:
            array = np.asarray(actions)
        except ValueError:  # rows of different lengths
            array = np.empty(0)
        if array.shape == (self.num_envs,) and array.dtype.kind in "iu":
            chosen = np.ascontiguousarray(array, np.int64)
            # one pass: as unsigned numbers, negative ones are huge
            if chosen.view(np.uint64).max() < self._description.n_actions:
                return chosen
        raise gymnasium.error.InvalidAction(
            f"{checks.short_repr(actions)} ({type(actions)}) is not in {self.action_space}"
        )

    def _infos(self, mask: Mask | None) -> dict[str, Any]:
        """The info of all environments, or of those in the mask: each key has a mask of its own beside it."""
        infos: dict[str, Any] = {
            "level": self._players.levels + 1,
            "latent_state": self._players.states.copy(),
            "optimal_value": self._optimal_values.copy() if self.copy else self._optimal_values,
        }
        if mask is None:
            everybody = (
                {key: one.copy() for key, one in self._everybody.items()} if self.copy else self._everybody
            )
            return infos | everybody
        shown = {key: np.where(mask, value, value.dtype.type(0)) for key, value in infos.items()}
        return shown | {f"_{key}": mask.copy() for key in infos}

    def _final(self, observations: Observations, ended: Mask) -> NDArray[np.object_]:
        """The last observations of episodes that ended, None for the others."""
        final = np.full(self.num_envs, None, dtype=object)
        where = np.flatnonzero(ended)
        last = observations[where]
        rows = last.tolist() if last.ndim == 1 else last
        for e, row in zip(where.tolist(), rows, strict=True):
            final[e] = row
        return final


class BlockMDPVectorEnv(VectorEnv):
    """`fasturl/BlockMDP-v0`: a `fasturl.BlockMDP` of your own, `instance`, played many times side by side.

    instance
        The Block MDP.
    num_envs
        How many times it is played.
    arguments_of_vectors
        As those of `VectorEnv`.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> BlockMDPVectorEnv(coin, num_envs=3, observe="latent").num_envs
    3
    """

    def __init__(self, instance: BlockMDP, num_envs: int = 1, **arguments_of_vectors: Any) -> None:
        super().__init__(arguments.block_mdp(instance), num_envs, **arguments_of_vectors)


def _autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    return AutoresetMode(checks.choice("autoreset_mode", mode, [known.value for known in AutoresetMode]))

"""Many environments with Gymnasium's vector interface: one kernel call per step for all of them.

Environment i does what a scalar environment with its seed does, bit for bit. Where episodes begin, one more
kernel call begins all of them.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .._base import checks
from .._base.streams import Streams
from .._kernels import vector as _vector
from .._kernels.records import Players, SharedTables
from ..problems.emissions import cumulative
from ..problems.models import BlockMDP, Environment, LockBernoulli, LockGaussian, emission_rngs
from . import spaces
from .ladder import Ladder
from .sights import Actions, Mask, Seen, sight


class BlockVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` Block MDPs, each with streams of its own.

    autoreset_mode
        One of Gymnasium's three. NEXT_STEP: the step after the last begins the next episode and ignores the
        action. SAME_STEP: the last step of an episode begins the next one, and `info` holds `final_obs` and
        `final_info`. DISABLED: environments are reset by hand, some of them with options={"reset_mask":
        array}.
    copy
        Whether each call returns observations in an array of its own, or the same array every time,
        overwritten.
    """

    # declared so by Gymnasium
    metadata = {**spaces.METADATA, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        family: Environment,
        num_envs: int,
        observe: str,
        copy: bool,
        autoreset_mode: str | AutoresetMode,
        render_mode: str | None,
    ) -> None:
        emission = spaces.shown_emission(family, observe)
        self.family, self.observe, self.copy = family, observe, spaces.flag("copy", copy)
        self.num_envs = checks.integer("num_envs", num_envs, least=1)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.render_mode = spaces.render_mode(render_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = spaces.action_space(family)
        self.single_observation_space = spaces.observation_space(family, emission)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.optimal_value = family.optimal_value()
        self._chances, self._tables = _tables(family, self.num_envs)
        self._players = Players(
            dynamics_rngs=np.zeros((self.num_envs, 4), np.uint64),
            emission_rngs=np.zeros((self.num_envs, 4, 4), np.uint64),
            levels=np.zeros(self.num_envs, np.int64),
            states=np.zeros(self.num_envs, np.int64),
        )
        self._locks = np.zeros((self.num_envs, 4), np.uint64)
        self._seeds: list[int | None] = [None] * self.num_envs
        self._sight = sight(emission, self.num_envs)
        self._room = self._sight.empty()
        self._begun = False
        self._over = 0
        self._trails = _Trails(family.horizon, self.num_envs) if self.render_mode else None

    @property
    # as Gymnasium's own vector environments have it
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]
        """The seed of each environment."""
        return tuple(self._seeds)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every environment, or in those of options["reset_mask"].

        seed
            An integer n gives the environments the seeds n, n + 1, ...; a list has one seed, or None, for
            each.
        options
            "new_lock": True draws new action labels. "reset_mask": which environments to reset, a bool array.
        """
        new_lock = spaces.wants_new_lock(self.family, options)
        mask = self._reset_mask(options)
        everywhere = bool(mask.all())
        if not (everywhere or self._begun):
            raise gymnasium.error.ResetNeeded(
                "Cannot reset some environments before all have been reset once"
            )
        seeds = self._reset_seeds(seed)
        redraw = mask & new_lock
        for e in np.flatnonzero(mask).tolist():
            if seeds[e] is not None or self._seeds[e] is None:
                self._plant(e, seeds[e])
                redraw[e] = True
        if not isinstance(self.family, BlockMDP):
            order = np.empty(self.family.n_actions, np.int64)
            _vector.draw_locks(self._locks, redraw, order, self._tables.ways)
        seen = self._empty()
        self._begin(mask, seen)
        self._begun = True
        self._over = int((self._players.levels == self.family.horizon).sum())
        return seen, self._infos(None if everywhere else mask)

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], Mask, Mask, dict[str, Any]]:
        if not self._begun:
            raise gymnasium.error.ResetNeeded("Cannot call envs.step() before calling envs.reset()")
        chosen = self._checked(actions)
        waiting = self._players.levels == self.family.horizon if self._over else None
        if waiting is not None and self.autoreset_mode is AutoresetMode.DISABLED:
            raise gymnasium.error.ResetNeeded(
                f"Cannot call envs.step() while episodes are over: reset environments {np.flatnonzero(waiting).tolist()} first"
            )
        seen, rewards, ended = self._empty(), np.empty(self.num_envs), np.empty(self.num_envs, np.bool_)
        self._over = self._sight.step(self._tables, self._players, chosen, seen, rewards, ended)
        if self._trails is not None:
            self._trails.step(self._players, chosen, rewards, waiting)
        if waiting is not None:
            self._begin(waiting, seen)
        infos: dict[str, Any] = {}
        if self._over and self.autoreset_mode is AutoresetMode.SAME_STEP:
            infos = {"final_obs": self._final(seen, ended), "_final_obs": ended.copy()}
            infos |= {"final_info": self._infos(ended), "_final_info": ended.copy()}
            self._begin(ended, seen)
            self._over = 0
        infos |= self._infos(None)
        return seen, rewards, ended, np.zeros(self.num_envs, np.bool_), infos

    def render(self) -> tuple[Any, ...] | None:
        """A text or a picture for each environment."""
        if self._trails is None:
            gymnasium.logger.warn(
                "render() shows nothing without a render mode: make it with render_mode='ansi' or 'rgb_array'"
            )
            return None
        if not self._begun:
            raise gymnasium.error.ResetNeeded("Cannot call envs.render() before calling envs.reset()")
        ladders = [
            Ladder(self.model(e), *self._trails.of(e, self._players.levels[e])) for e in range(self.num_envs)
        ]
        return tuple(ladder.text() if self.render_mode == "ansi" else ladder.picture() for ladder in ladders)

    def model(self, index: int) -> BlockMDP:
        """The model that environment `index` has now."""
        if isinstance(self.family, BlockMDP):
            return self.family
        return BlockMDP(
            self._chances[self._tables.ways[:, index]], self._tables.rewards, emission=self.family.emission
        )

    def _empty(self) -> Seen:
        return self._sight.empty() if self.copy else self._room

    def _begin(self, mask: Mask, seen: Seen) -> None:
        self._sight.begin(self._tables, self._players, mask, seen)
        if self._trails is not None:
            self._trails.begin(self._players, mask)

    def _plant(self, e: int, seed: int | None) -> None:
        """New streams for environment e."""
        # an integer when not given
        planted = int(np.random.SeedSequence().entropy) if seed is None else seed  # type: ignore[arg-type]
        streams = Streams(planted)
        self._seeds[e] = planted
        self._players.dynamics_rngs[e] = streams.row("dynamics")
        self._players.emission_rngs[e] = emission_rngs(streams)
        self._locks[e] = streams.row("lock")

    def _reset_seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if not isinstance(seed, list | tuple):
            first = spaces.python_seed(seed)
            return [first + e for e in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(
                f"If seeds are passed as a list the length must match num_envs={self.num_envs} but got length={len(seed)}."
            )
        return [None if one is None else spaces.python_seed(one) for one in seed]

    def _reset_mask(self, options: dict[str, Any] | None) -> Mask:
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, np.bool_)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"`options['reset_mask']` must be a numpy array of dtype bool, got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"`options['reset_mask']` must have shape {(self.num_envs,)} and at least one True value, got {mask!r}"
            )
        return mask.copy()

    def _checked(self, actions: Any) -> Actions:
        """Actions that cannot lead a kernel outside its tables."""
        try:
            given = np.asarray(actions)
        except ValueError:  # rows of different lengths
            given = np.empty(0)
        if given.shape == (self.num_envs,) and given.dtype.kind in "iu":
            chosen = np.ascontiguousarray(given, np.int64)
            if (
                chosen.view(np.uint64).max() < self.family.n_actions
            ):  # one pass: as unsigned numbers, negative ones are huge
                return chosen
        raise gymnasium.error.InvalidAction(f"{actions!r} ({type(actions)}) is not in {self.action_space}")

    def _infos(self, mask: Mask | None) -> dict[str, Any]:
        """The info of all environments, or of those in the mask: each key has a mask of its own beside it."""
        everyone = {
            "level": self._players.levels + 1,
            "latent_state": self._players.states.copy(),
            "optimal_value": np.full(self.num_envs, self.optimal_value),
        }
        present = np.ones((len(everyone), self.num_envs), np.bool_)
        if mask is not None:
            present[:] = mask
        infos: dict[str, Any] = {}
        for (key, value), where in zip(everyone.items(), present, strict=True):
            infos[key] = value if mask is None else np.where(mask, value, value.dtype.type(0))
            infos[f"_{key}"] = where
        return infos

    def _final(self, seen: Seen, ended: Mask) -> NDArray[np.object_]:
        final = np.full(self.num_envs, None, dtype=object)
        where = np.flatnonzero(ended)
        last = seen[where]
        rows = last.tolist() if last.ndim == 1 else last
        for e, row in zip(where.tolist(), rows, strict=True):
            final[e] = row
        return final


class LockBernoulliVectorEnv(BlockVectorEnv):
    """Combination locks seen through bits."""

    def __init__(
        self,
        num_envs: int = 1,
        horizon: int = 20,
        switch: float = 0.0,
        observe: str = "observation",
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(LockBernoulli(horizon, switch), num_envs, observe, copy, autoreset_mode, render_mode)


class LockGaussianVectorEnv(BlockVectorEnv):
    """Combination locks seen through reals."""

    def __init__(
        self,
        num_envs: int = 1,
        horizon: int = 20,
        switch: float = 0.0,
        noise: float = 0.1,
        observe: str = "observation",
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            LockGaussian(horizon, switch, noise), num_envs, observe, copy, autoreset_mode, render_mode
        )


class BlockMDPVectorEnv(BlockVectorEnv):
    """One `fasturl.BlockMDP`, played many times side by side."""

    def __init__(
        self,
        model: BlockMDP,
        num_envs: int = 1,
        observe: str = "observation",
        copy: bool = True,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(spaces.block_mdp(model), num_envs, observe, copy, autoreset_mode, render_mode)


class _Trails:
    """The episodes under way, as pictures show them."""

    def __init__(self, horizon: int, n_envs: int) -> None:
        self.paths = np.zeros((n_envs, horizon + 1), np.int64)
        self.actions = np.zeros((n_envs, horizon), np.int64)
        self.returns = np.zeros(n_envs)

    def begin(self, players: Players, mask: Mask) -> None:
        self.paths[mask, 0] = players.states[mask]
        self.returns[mask] = 0.0

    def step(
        self, players: Players, actions: Actions, rewards: NDArray[np.float64], waiting: Mask | None
    ) -> None:
        moved = np.arange(actions.size) if waiting is None else np.flatnonzero(~waiting)
        levels = players.levels[moved]
        self.paths[moved, levels] = players.states[moved]
        self.actions[moved, levels - 1] = actions[moved]
        self.returns[moved] += rewards[moved]

    def of(self, e: int, level: int) -> tuple[list[int], list[int], float]:
        return self.paths[e, : level + 1].tolist(), self.actions[e, :level].tolist(), float(self.returns[e])


def _autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    return AutoresetMode(checks.choice("autoreset_mode", mode, [known.value for known in AutoresetMode]))


def _tables(family: Environment, n_envs: int) -> tuple[NDArray[np.float64], SharedTables]:
    """The distributions that actions lead to, and the tables that kernels take."""
    model = family.instance()
    dynamics = model.dynamics
    horizon, size, n_actions, _ = model.transitions.shape
    if isinstance(family, LockBernoulli | LockGaussian):
        on = 1.0 - family.switch
        chances = np.array([[on, family.switch, 0.0], [family.switch, on, 0.0], [0.0, 0.0, 1.0]])
        ways: NDArray[np.integer] = np.zeros((horizon, n_envs, size, n_actions), np.uint8)
    else:
        chances = model.transitions.reshape(-1, size)
        ways = np.arange(len(chances), dtype=np.int32).reshape(horizon, 1, size, n_actions)
    return chances, SharedTables(
        dynamics.start, cumulative(chances), ways, dynamics.rewards, dynamics.random_rewards
    )

"""One environment with Gymnasium's `reset`, `step` and `render`: a thin stateful shell around tables and
streams."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.streams import Streams
from .._kernels import dynamics as _dynamics
from ..problems.block_mdp import BlockMDP
from ..problems.environment import Environment, emission_rngs
from . import arguments, footprint, spaces
from .episode_length import SpecWithLength
from .ladder import Ladder
from .levels import LevelBehind


class ScalarEnv(gymnasium.Env[Any, int]):
    """A Block MDP to act in, level by level.

    An episode has `horizon` steps and then terminates. `info` holds the `level` (1 to horizon + 1), the
    `latent_state`, and the `optimal_value` of an episode on this instance.

    env
        An environment of fasturl, such as a `BlockMDP`, or the name that a family is registered under: one of
        those that `fasturl list` shows.
    observe
        "observation" shows what the emission gives, "latent" the latent state as a number.
    observe_level
        Whether the one-hot of the level, H + 1 entries, stands behind the observation; behind a latent state,
        the level itself, counted from 0.
    instance_seed
        Pins the instance to the one that `fasturl.train` meets with this seed: seeds of `reset` then change
        the noise and the random transitions and rewards alone. None: each seed of `reset` has an instance of
        its own.
    render_mode
        "ansi" for texts, "rgb_array" for pictures, None for neither.
    settings
        Settings of the family, where `env` is a name.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> env = ScalarEnv(coin, observe="latent")
    >>> env.reset(seed=0)
    (0, {'level': 1, 'latent_state': 0, 'optimal_value': 0.5})
    """

    metadata = arguments.METADATA
    spec = SpecWithLength()

    def __init__(
        self,
        env: Environment | str,
        *,
        observe: str = "observation",
        observe_level: bool = False,
        instance_seed: int | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.environment = arguments.pinned(arguments.environment(env, settings), instance_seed)
        self.render_mode = arguments.render_mode(render_mode)
        self._latent = arguments.shows_latent_states(self.environment, observe)
        footprint.check_single(self.environment, latent=self._latent)
        self.observation_space = spaces.observation_space(self.environment, self._latent)
        self.action_space = spaces.action_space(self.environment)
        self.horizon = self.environment.describe().horizon
        """Number of steps of an episode."""
        self._level_behind: LevelBehind | None = None
        if checks.flag("observe_level", observe_level):
            self._level_behind = LevelBehind(self.observation_space, self.horizon + 1)
            self.observation_space = self._level_behind.space
        self._instance: BlockMDP | None = None
        self._optimal_value = np.nan
        self._streams: Streams | None = None
        self._states: list[int] = []
        self._actions: list[int] = []
        self._rewards: list[float] = []
        self._observations: NDArray[np.generic] | None = None
        """What each state shows at each level of this episode: [H+1, S, D]."""

    @property
    def instance(self) -> BlockMDP:
        """The instance that is played now."""
        if self._instance is None:
            raise gymnasium.error.ResetNeeded("env has no instance before the first call of env.reset()")
        return self._instance

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        seed
            Begins new streams, and so a new instance: the one that `fasturl.train` meets with this seed.
            Without a seed, the streams go on.
        options
            {"new_instance": True} draws the next instance of the family.
        """
        new_instance = arguments.wants_new_instance(self.environment, arguments.reset_options(options))
        super().reset(seed=None if seed is None else arguments.python_seed(seed))
        streams = self._streams
        if seed is not None or streams is None:
            streams, new_instance = Streams(self._entropy()), True
        if new_instance or self._instance is None:
            self._instance = self.environment.draw_checked(streams)
            self._optimal_value = self._instance.optimal_value()
        self._streams = streams
        if not self._latent:
            block = self._instance.draw_block(emission_rngs(streams), 1)
            self._observations = block.every_state()[0]
        start = _dynamics.start_state(self._instance.dynamics, streams.row("dynamics"))
        self._states, self._actions, self._rewards = [int(start)], [], []
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._instance is None or self._streams is None:
            raise gymnasium.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        h = len(self._actions)
        if h == self.horizon:
            raise gymnasium.error.ResetNeeded(
                "Cannot call env.step() after the episode has terminated: call env.reset()"
            )
        if not self.action_space.contains(action):
            raise gymnasium.error.InvalidAction(
                f"{checks.short_repr(action)} ({type(action)}) is not in {self.action_space}"
            )
        dynamics_rng = self._streams.row("dynamics")
        state, reward = _dynamics.step(
            self._instance.dynamics, dynamics_rng, h, self._states[-1], int(action)
        )
        self._states.append(int(state))
        self._actions.append(int(action))
        self._rewards.append(float(reward))
        return self._observation(), float(reward), h + 1 == self.horizon, False, self._info()

    def render(self) -> Any:
        """A text for render_mode="ansi", a picture uint8[height, width, 3] for "rgb_array"."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() shows nothing without a render mode: "
                "make the environment with render_mode='ansi' or 'rgb_array'"
            )
            return None
        if self._instance is None:
            raise gymnasium.error.ResetNeeded("Cannot call env.render() before calling env.reset()")
        ladder = Ladder(self._instance, self._states, self._actions, sum(self._rewards))
        return ladder.text() if self.render_mode == "ansi" else ladder.picture()

    def _observation(self) -> Any:
        observation = self._observation_without_level()
        if self._level_behind is None:
            return observation
        return self._level_behind.one(observation, len(self._actions))

    def _observation_without_level(self) -> Any:
        if self._observations is None:
            return self._states[-1]
        observation = self._observations[len(self._actions), self._states[-1]].copy()
        return observation.view(np.int8) if observation.dtype == np.uint8 else observation

    def _info(self) -> dict[str, Any]:
        return {
            "level": len(self._states),
            "latent_state": self._states[-1],
            "optimal_value": self._optimal_value,
        }

    def _entropy(self) -> int:
        seed = self.np_random_seed
        # a seed of -1 says that somebody has put a generator of their own there
        return seed if seed >= 0 else int(self.np_random.integers(2**63))


class BlockMDPEnv(ScalarEnv):
    """`fasturl/BlockMDP-v0`: a `fasturl.BlockMDP` of your own, handed over as `instance`.

    instance
        The Block MDP.
    observe, render_mode, observe_level
        As those of `ScalarEnv`.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> BlockMDPEnv(coin, observe="latent").action_space
    Discrete(2)
    """

    def __init__(
        self,
        instance: BlockMDP,
        observe: str = "observation",
        render_mode: str | None = None,
        *,
        observe_level: bool = False,
    ) -> None:
        super().__init__(
            arguments.block_mdp(instance),
            observe=observe,
            observe_level=observe_level,
            render_mode=render_mode,
        )

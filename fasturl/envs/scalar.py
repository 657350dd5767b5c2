"""One environment with Gymnasium's `reset`, `step` and `render`: a thin stateful shell around tables and
streams."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .._base.streams import Streams
from .._kernels import dynamics as _dynamics
from ..problems.models import BlockMDP, Environment, LockBernoulli, LockGaussian, emission_rngs
from . import spaces
from .ladder import Ladder


class ScalarEnv(gymnasium.Env[Any, int]):
    """A Block MDP to act in, level by level.

    An episode has `horizon` steps and then terminates. `info` holds the `level` (1 to horizon + 1), the
    `latent_state` and the `optimal_value` of an episode.
    """

    metadata = spaces.METADATA

    def __init__(self, family: Environment, observe: str, render_mode: str | None) -> None:
        self._emission = spaces.shown_emission(family, observe)
        self.family, self.observe = family, observe
        self.render_mode = spaces.render_mode(render_mode)
        self.observation_space = spaces.observation_space(family, self._emission)
        self.action_space = spaces.action_space(family)
        self.optimal_value = family.optimal_value()
        self.model: BlockMDP | None = None
        self._streams: Streams | None = None
        self._path: list[int] = []
        self._actions: list[int] = []
        self._rewards: list[float] = []
        self._looks: NDArray[np.generic] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        seed
            Begins new streams, and so a new lock: what `fasturl.train` meets with this seed. Without one, the
            streams go on.
        options
            {"new_lock": True} draws new action labels.
        """
        new_lock = spaces.wants_new_lock(self.family, options)
        super().reset(seed=seed)
        if seed is not None or self._streams is None or self.model is None:
            self._streams = Streams(self._entropy())
            self.model = self.family.draw(self._streams)
        elif new_lock:
            self.model = self.family.draw(self._streams)
        if self._emission is not None:
            self._looks = self._emission.draw(emission_rngs(self._streams), 1).every_state()[0]
        self._path = [int(_dynamics.start_state(self.model.dynamics, self._streams.row("dynamics")))]
        self._actions, self._rewards = [], []
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.model is None or self._streams is None:
            raise gymnasium.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        level = len(self._actions)
        if level == self.family.horizon:
            raise gymnasium.error.ResetNeeded(
                "Cannot call env.step() after the episode has terminated: call env.reset()"
            )
        if not self.action_space.contains(action):
            raise gymnasium.error.InvalidAction(f"{action!r} ({type(action)}) is not in {self.action_space}")
        luck = self._streams.row("dynamics")
        state, reward = _dynamics.step(self.model.dynamics, luck, level, self._path[-1], int(action))
        self._path.append(int(state))
        self._actions.append(int(action))
        self._rewards.append(float(reward))
        return self._observation(), float(reward), level + 1 == self.family.horizon, False, self._info()

    def render(self) -> Any:
        """A text for render_mode="ansi", a picture uint8[height, width, 3] for "rgb_array"."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() shows nothing without a render mode: make the environment with render_mode='ansi' or 'rgb_array'"
            )
            return None
        if self.model is None:
            raise gymnasium.error.ResetNeeded("Cannot call env.render() before calling env.reset()")
        ladder = Ladder(self.model, self._path, self._actions, sum(self._rewards))
        return ladder.text() if self.render_mode == "ansi" else ladder.picture()

    def _observation(self) -> Any:
        if self._looks is None:
            return self._path[-1]
        seen = self._looks[len(self._actions), self._path[-1]].copy()
        return seen.view(np.int8) if seen.dtype == np.uint8 else seen

    def _info(self) -> dict[str, Any]:
        return {"level": len(self._path), "latent_state": self._path[-1], "optimal_value": self.optimal_value}

    def _entropy(self) -> int:
        seed = self.np_random_seed
        return (
            seed if seed >= 0 else int(self.np_random.integers(2**63))
        )  # -1: somebody has put a generator of their own there


class LockBernoulliEnv(ScalarEnv):
    """The combination lock seen through bits."""

    def __init__(
        self,
        horizon: int = 20,
        switch: float = 0.0,
        observe: str = "observation",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(LockBernoulli(horizon, switch), observe, render_mode)


class LockGaussianEnv(ScalarEnv):
    """The combination lock seen through reals."""

    def __init__(
        self,
        horizon: int = 20,
        switch: float = 0.0,
        noise: float = 0.1,
        observe: str = "observation",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(LockGaussian(horizon, switch, noise), observe, render_mode)


class BlockMDPEnv(ScalarEnv):
    """Any `fasturl.BlockMDP`."""

    def __init__(self, model: BlockMDP, observe: str = "observation", render_mode: str | None = None) -> None:
        super().__init__(spaces.block_mdp(model), observe, render_mode)

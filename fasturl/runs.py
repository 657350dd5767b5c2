"""The result of training: one environment and agent over many seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import optional
from ._version import __version__

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

Floats = NDArray[np.float64]

NEAR_OPTIMAL = 0.9
"""A final policy counts as near-optimal from this share of V* on."""


def near_optimal_value(v_star: float, share: float = NEAR_OPTIMAL) -> float:
    """From which value on a policy is near-optimal: one tenth of |V*| below V*, for a V* below 0 too."""
    return share * v_star if v_star >= 0 else (2 - share) * v_star


@dataclass(frozen=True)
class Run:
    env: str
    parameters: dict[str, float | None]
    agent: str
    oracle: str | None
    episodes: int
    seeds: list[int]
    v_star: float
    trajectories: NDArray[np.int64]
    """Numbers of trajectories at which the curves are recorded: [points]."""
    average_reward: Floats
    """Mean return of the first n trajectories, all counted: [seeds, points]."""
    values: Floats
    """Value of each seed's final greedy policy: [seeds]."""
    value_errors: Floats
    """Standard error of each value; 0 where it is exact."""
    diagnostics: list[dict[str, Any]]
    """What the agent has to say about each run."""
    wall_seconds: float

    @property
    def near_optimal(self) -> NDArray[np.bool_]:
        return np.asarray(self.values >= near_optimal_value(self.v_star))

    @property
    def success_rate(self) -> float:
        """Share of seeds whose final policy is near-optimal."""
        return float(self.near_optimal.mean())

    def to_pandas(self) -> pandas.DataFrame:
        """Tidy: one row for each seed and recorded point."""
        pd = optional.need("pandas", "experiments", "Run.to_pandas")
        frame: pandas.DataFrame = pd.DataFrame(
            {
                "seed": np.repeat(self.seeds, self.trajectories.size),
                "trajectories": np.tile(self.trajectories, len(self.seeds)),
                "average_reward": self.average_reward.ravel(),
            }
        )
        return frame

    def plot(self, ax: matplotlib.axes.Axes | None = None, label: str | None = None) -> matplotlib.axes.Axes:
        """Mean over seeds with one standard deviation shaded."""
        plt = optional.need("matplotlib.pyplot", "experiments", "Run.plot")
        axes: matplotlib.axes.Axes = plt.subplots(figsize=(5, 3.5), layout="constrained")[1] if ax is None else ax
        mean, deviation = self.average_reward.mean(axis=0), self.average_reward.std(axis=0)
        (line,) = axes.plot(self.trajectories, mean, label=self.agent if label is None else label)
        axes.fill_between(self.trajectories, mean - deviation, mean + deviation, color=line.get_color(), alpha=0.2, linewidth=0)
        if ax is None:
            axes.axhline(self.v_star, color="0.5", linewidth=0.8, linestyle="--", label="V*")
            axes.set(xlabel="number of trajectories", ylabel="average reward", title=self.title, xlim=(0, self.trajectories[-1]))
            axes.set_ylim(bottom=0)
            axes.legend(frameon=False)
        return axes

    @property
    def title(self) -> str:
        return ", ".join([self.env, *(f"{key} {value:g}" for key, value in self.parameters.items() if value is not None)])

    def summary(self) -> dict[str, Any]:
        """What `fasturl train --json` writes."""
        last = self.average_reward[:, -1]
        return {
            "env": self.env,
            **({"horizon": None, "switch": None, "noise": None} | self.parameters),
            "agent": self.agent,
            "oracle": self.oracle,
            "episodes": self.episodes,
            "seeds": len(self.seeds),
            "seed_values": self.seeds,
            "v_star": self.v_star,
            "average_reward_mean": float(last.mean()),
            "average_reward_std": float(last.std()),
            "value_mean": float(self.values.mean()),
            "values": self.values.tolist(),
            "success_rate": self.success_rate,
            "trajectories": int(self.trajectories[-1]),
            "wall_seconds": self.wall_seconds,
            "curve": {
                "trajectories": self.trajectories.tolist(),
                "mean": self.average_reward.mean(axis=0).tolist(),
                "std": self.average_reward.std(axis=0).tolist(),
            },
            "version": __version__,
        }

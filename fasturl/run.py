"""The result of training: one environment and agent over many seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._base import optional
from ._version import __version__

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

Floats = NDArray[np.float64]

NEAR_OPTIMAL = 0.9
"""A final policy counts as near-optimal from this share of V* on."""


def near_optimal_value(v_star: float) -> float:
    """From which value on a policy is near-optimal: one tenth of |V*| below V*, for a V* below 0 too."""
    return NEAR_OPTIMAL * v_star if v_star >= 0 else (2 - NEAR_OPTIMAL) * v_star


def mean_optimal_value(optimal_values: Floats) -> float:
    """Mean over seeds of V*: exactly their common V* where they have one."""
    first = optimal_values[0]
    return float(first if (optimal_values == first).all() else optimal_values.mean())


@dataclass(frozen=True, eq=False)
class Run:
    """What `train` returns: one environment and one agent, over many seeds.

    env
        Name of the environment.
    settings
        What identifies the environment besides its name, such as its horizon.
    agent
        Name of the agent.
    oracle
        Name of the oracle that the agent learned to see with, None if it has none.
    episodes
        As given to `train`.
    seeds
        The seeds; everything below that is by seed has their order.
    optimal_values
        V* of the instance that each seed met: [seeds].
    total_trajectories
        How many trajectories each seed played.
    final_average
        Average reward of each seed over all its trajectories: [seeds].
    trajectories
        Numbers of trajectories at which the curves are recorded: [points].
    average_reward
        Mean return of the first n trajectories, all counted, for each n of `trajectories`: [seeds, points].
    values
        Value of each seed's final greedy policy: [seeds].
    value_errors
        Standard error of each value, 0 where it is exact: [seeds].
    diagnostics
        For each seed, a dict of what the agent has to say about its run; by level is a list for the levels
        1..H+1.

        - A learner that sees latent states: nothing.
        - A learner that sees observations: `observations_met`, how many rows its table has.
        - URL: `decoder_accuracy`, the share of right labels by level; `oracle_fits`, how often the oracle
          was fitted; `decoder_trajectories`, how many trajectories were spent on decoders. In its practical
          form also `decoder_stable`, whether the decoder was stable in time; as written `restart_means`, the
          mean return of each restart's policy in the test episodes.
        - PCID: `states_found` and `decoder_accuracy` by level; `exploration_trajectories`, how many were
          spent on learning the levels.
        - URL and PCID: `seconds`, how long each part took: `exploration` and `evaluation`; of URL `oracle`,
          `learning` and, as written, `selection`; of PCID `regression` and `exploitation`.
    wall_seconds
        How long it took, all seeds together.
    """

    env: str
    settings: dict[str, Any]
    agent: str
    oracle: str | None
    episodes: int
    seeds: list[int]
    optimal_values: Floats
    total_trajectories: int
    final_average: Floats
    trajectories: NDArray[np.int64]
    average_reward: Floats
    values: Floats
    value_errors: Floats
    diagnostics: list[dict[str, Any]]
    wall_seconds: float

    @property
    def v_star(self) -> float:
        """Mean over seeds of V*: exactly their common V* where they have one, as on the locks."""
        return mean_optimal_value(self.optimal_values)

    @property
    def near_optimal(self) -> NDArray[np.bool_]:
        """Whether each seed's final policy is near-optimal, judged by the seed's own V*: [seeds]."""
        return np.asarray(self.values >= [near_optimal_value(best) for best in self.optimal_values])

    @property
    def success_rate(self) -> float:
        """Share of seeds whose final policy is near-optimal."""
        return float(self.near_optimal.mean())

    def to_pandas(self) -> pandas.DataFrame:
        """Tidy: one row for each seed and recorded point."""
        pd = optional.need("pandas", "experiments", "Run.to_pandas")
        size = max(self.seeds).bit_length()  # floats, which NumPy would take for large ones, are not exact
        kind = np.int64 if size < 64 else np.uint64 if size == 64 else object
        frame: pandas.DataFrame = pd.DataFrame(
            {
                "seed": np.repeat(np.array(self.seeds, kind), self.trajectories.size),
                "trajectories": np.tile(self.trajectories, len(self.seeds)),
                "average_reward": self.average_reward.ravel(),
            }
        )
        return frame

    def plot(self, ax: matplotlib.axes.Axes | None = None, label: str | None = None) -> matplotlib.axes.Axes:
        """Mean over seeds with one standard deviation shaded."""
        plt = optional.need("matplotlib.pyplot", "experiments", "Run.plot")
        axes: matplotlib.axes.Axes = (
            plt.subplots(figsize=(5, 3.5), layout="constrained")[1] if ax is None else ax
        )
        mean, deviation = self.average_reward.mean(axis=0), self.average_reward.std(axis=0)
        (line,) = axes.plot(self.trajectories, mean, label=self.agent if label is None else label)
        axes.fill_between(
            self.trajectories,
            mean - deviation,
            mean + deviation,
            color=line.get_color(),
            alpha=0.2,
            linewidth=0,
        )
        if ax is None:
            axes.axhline(self.v_star, color="0.5", linewidth=0.8, linestyle="--", label="V*")
            axes.set(
                xlabel="number of trajectories",
                ylabel="average reward",
                title=self.title,
                xlim=(0, self.trajectories[-1]),
            )
            if min(self.average_reward.min(), self.v_star) >= 0:
                axes.set_ylim(bottom=0)
            axes.legend(frameon=False)
        return axes

    @property
    def title(self) -> str:
        told = (
            (key, value if isinstance(value, int) else f"{value:g}")
            for key, value in self.settings.items()
            if value is not None
        )
        return ", ".join([self.env, *(f"{key} {value}" for key, value in told)])

    def summary(self) -> dict[str, Any]:
        """What `fasturl train --json` writes."""
        return {
            "env": self.env,
            **self.settings,
            "agent": self.agent,
            "oracle": self.oracle,
            "episodes": self.episodes,
            "seeds": len(self.seeds),
            "seed_values": self.seeds,
            "v_star": self.v_star,
            "average_reward_mean": float(self.final_average.mean()),
            "average_reward_std": float(self.final_average.std()),
            "value_mean": float(self.values.mean()),
            "values": self.values.tolist(),
            "success_rate": self.success_rate,
            "total_trajectories": self.total_trajectories,
            "wall_seconds": self.wall_seconds,
            "curve": {
                "trajectories": self.trajectories.tolist(),
                "mean": self.average_reward.mean(axis=0).tolist(),
                "std": self.average_reward.std(axis=0).tolist(),
            },
            "version": __version__,
        }

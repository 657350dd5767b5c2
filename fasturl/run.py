"""The result of training one environment and agent over many seeds, and the drawing of its learning curve.

`draw_curve` draws every learning curve of the package: that of `Run.plot`, and those of the figures of
stored results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._base import notebook, optional
from ._base.words import counted
from ._version import __version__

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

Floats = NDArray[np.float64]
LINE_OF_OPTIMUM: dict[str, Any] = {"color": "0.35", "linewidth": 0.7, "linestyle": (0, (4, 3)), "zorder": 1}

NEAR_OPTIMAL = 0.9
"""A final policy counts as near-optimal from this share of V* on."""

SUMMARY_FIELDS = {
    "env": "Name of the environment; its settings are fields of their own.",
    "horizon": "Number of levels that were acted in.",
    "agent": "Name of the agent.",
    "oracle": "Name of its oracle, null if it has none; of URL, that of pooled levels unless they never are.",
    "agent_settings": "Settings of the agent; a part is a table of its name and settings.",
    "origins": "Package and version of the environment, the agent and its parts.",
    "episodes": "How many episodes were asked for.",
    "seeds": "How many seeds there are.",
    "seed_values": "The seeds themselves.",
    "v_star": "Mean over seeds of V*.",
    "average_reward_mean": "Average reward over all trajectories, mean over seeds.",
    "average_reward_std": "Its standard deviation over seeds.",
    "regret_mean": "Cumulative regret over all trajectories, mean over seeds.",
    "regret_std": "Its standard deviation over seeds.",
    "value_mean": "Value of the final policy, mean over seeds.",
    "values": "The value of each seed.",
    "success_rate": "Share of seeds whose final policy is near-optimal.",
    "warnings": "What agents have warned of, each sentence with its seeds.",
    "total_trajectories": "How many trajectories each seed played.",
    "wall_seconds": "How long it took, all seeds together.",
    "curve": "Lists `trajectories`, `mean`, `std` (of the average reward), `regret_mean`, `regret_std`.",
    "version": "Version of fasturl.",
}
"""What `Run.summary` holds beside the settings of the environment, and what it means."""


def near_optimal_value(v_star: float) -> float:
    """From which value on a policy is near-optimal: one tenth of |V*| below V*, for a V* below 0 too."""
    return NEAR_OPTIMAL * v_star if v_star >= 0 else (2 - NEAR_OPTIMAL) * v_star


def draw_curve(
    axes: matplotlib.axes.Axes,
    trajectories: NDArray[np.int64],
    mean: Floats,
    edges: tuple[Floats, Floats],
    *,
    label: str,
    marker: str = "o",
    zorder: float = 3.0,
    **line_style: Any,
) -> None:
    """Draw one learning curve: a line for the mean over seeds, and the area between two edges shaded.

    trajectories, mean
        The points of the line: [points] each.
    edges
        Lower and upper edge of the shaded area: [points] each.
    label
        Its name in a legend.
    marker
        Marks a curve of a single point, which as a line would have no length; its edges are then a bar.
    zorder
        Curves with a greater one are drawn over those with a smaller one.
    line_style
        Further arguments of `Axes.plot`, such as color and linestyle; without a color, the next of the axes'
        cycle.
    """
    (line,) = axes.plot(trajectories, mean, label=label, zorder=zorder, **line_style)
    colour, (low, high) = line.get_color(), edges
    if trajectories.size == 1:
        bars = [mean - low, high - mean]
        point: dict[str, Any] = {"fmt": marker, "markersize": 3.5, "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(trajectories, mean, bars, color=colour, clip_on=False, **point)
    axes.fill_between(trajectories, low, high, color=colour, alpha=0.18, linewidth=0, zorder=zorder - 1)


def finish_curves(axes: matplotlib.axes.Axes, v_star: float) -> None:
    """Mark V* in axes with learning curves, and fit the axes to them and to their shaded areas."""
    curves = [line for line in axes.lines if line.get_label() != "_V*"]
    axes.axhline(v_star, label="_V*", **LINE_OF_OPTIMUM)
    axes.set_xlim(0, max(float(np.max(line.get_xdata())) for line in curves))
    lowest_mean = min(float(np.min(line.get_ydata())) for line in curves)
    axes.set_ylim(reward_limits(v_star, lowest_mean, *axes.dataLim.intervaly))
    axes.annotate(
        "V*",
        (1, v_star),
        xycoords=("axes fraction", "data"),
        xytext=(-1, 1.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=6,
        color=LINE_OF_OPTIMUM["color"],
    )


def reward_limits(v_star: float, lowest_mean: float, lowest: float, highest: float) -> tuple[float, float]:
    """Where an axis of average rewards starts and ends.

    It starts at 0 where no mean lies below 0, else below the lowest edge of a shaded area, and ends above the
    highest, with room for a word above V*.
    """
    if v_star >= 0 and lowest_mean >= 0:
        lowest = 0.0
    margin = 0.03 * (highest - lowest or 1.0)
    bottom = lowest - margin if lowest < 0 else 0.0
    return bottom, max(highest + margin, v_star + 0.12 * (v_star - bottom))


def _in_words(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def mean_optimal_value(optimal_values: Floats) -> float:
    """Mean over seeds of V*: exactly their common V* where they have one."""
    first = optimal_values[0]
    return float(first if (optimal_values == first).all() else optimal_values.mean())


@dataclass(frozen=True, eq=False)
class Run:
    """What `train` returns: one environment and one agent, over many seeds.

    env
        Name of the environment.
    horizon
        Number of levels that were acted in.
    settings
        What identifies the environment besides its name: the settings that it declares.
    agent
        Name of the agent.
    oracle
        Name of the agent's oracle, None if it has none. Of URL it is that of pooled levels, unless these are
        to be decoded separately; the diagnostics say which oracle it was in the end.
    agent_settings
        The settings of the agent; a part such as its learner is a table of its name and settings.
    origins
        The package and version that the environment, the agent and its parts come from, where they are known
        by name.
    episodes
        Number of episodes, the argument of `train`.
    seeds
        The seeds, `n_seeds` of them; everything below that is by seed has their order.
    optimal_values
        V* of the instance that each seed met: [seeds].
    total_trajectories
        How many trajectories each seed played.
    final_average_reward
        Average reward of each seed over all its trajectories: [seeds].
    trajectories
        Numbers of trajectories at which the curves are recorded: [points].
    average_reward
        Mean return of the first n trajectories, all counted, for each n of `trajectories`: [seeds, points].
    values
        Value of each seed's final greedy policy: [seeds].
    value_errors
        Standard error that is left in each value, 0 where it is exact: [seeds].
    diagnostics
        For each seed, a dict of what the agent has to say about its run. Its names are described by the table
        `fasturl.agents.diagnostics.DIAGNOSTICS`, which is on the page "Fields of files" of the reference.
    wall_seconds
        How long it took, all seeds together.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> run = fu.train(environment("lock-bernoulli", horizon=5), fu.OracleQ(), episodes=2000, seeds=3)
    >>> run.n_seeds, run.v_star, run.warnings
    (3, 0.5, {})
    """

    env: str
    horizon: int
    settings: dict[str, Any]
    agent: str
    oracle: str | None
    agent_settings: dict[str, Any]
    origins: dict[str, str]
    episodes: int
    seeds: list[int]
    optimal_values: Floats
    total_trajectories: int
    final_average_reward: Floats
    trajectories: NDArray[np.int64]
    average_reward: Floats
    values: Floats
    value_errors: Floats
    diagnostics: list[dict[str, Any]]
    wall_seconds: float

    @property
    def n_seeds(self) -> int:
        """How many seeds there are: what `summary()` and tables of results call `seeds`."""
        return len(self.seeds)

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

    @property
    def warnings(self) -> dict[str, list[int]]:
        """What agents have warned of, each sentence with the seeds that it is said of."""
        warned: dict[str, list[int]] = {}
        for seed, about in zip(self.seeds, self.diagnostics, strict=True):
            for sentence in about.get("warnings", []):
                warned.setdefault(sentence, []).append(seed)
        return warned

    @property
    def regret(self) -> Floats:
        """Cumulative regret, n V* minus the returns of the first n trajectories, for each n of
        `trajectories`: [seeds, points].

        V* is that of each seed's own instance. Returns are random, so a lucky run has a regret below 0. As n
        (V* - average reward) it is exactly 0 where the average reward is V*.
        """
        return np.asarray(self.trajectories * (self.optimal_values[:, None] - self.average_reward))

    @property
    def final_regret(self) -> Floats:
        """Cumulative regret of each seed over all its trajectories: [seeds]."""
        return np.asarray(self.total_trajectories * (self.optimal_values - self.final_average_reward))

    def to_pandas(self) -> pandas.DataFrame:
        """Tidy: one row for each seed and recorded point, with the average reward and the cumulative regret
        up to there."""
        pd = optional.need("pandas", "experiments", "Run.to_pandas")
        size = max(self.seeds).bit_length()  # floats, which NumPy would take for large ones, are not exact
        kind = np.int64 if size < 64 else np.uint64 if size == 64 else object
        frame: pandas.DataFrame = pd.DataFrame(
            {
                "seed": np.repeat(np.array(self.seeds, kind), self.trajectories.size),
                "trajectories": np.tile(self.trajectories, self.n_seeds),
                "average_reward": self.average_reward.ravel(),
                "regret": self.regret.ravel(),
            }
        )
        return frame

    def __repr__(self) -> str:
        seeds = counted(self.n_seeds, "seed")
        return (
            f"<Run: {self.agent} on {self.title}; {self.episodes:,} episodes, {seeds}, average reward "
            f"{self.final_average_reward.mean():.4g}, success rate {self.success_rate:.0%}>"
        )

    def _repr_html_(self) -> str:
        """In a notebook: what was run, what came out, and a small learning curve."""
        mean, deviation = self.average_reward.mean(axis=0), self.average_reward.std(axis=0)
        rows = {
            "environment": self.title,
            "trajectories": f"{self.total_trajectories:,} of each of {self.n_seeds} seeds",
            "average reward": f"{self.final_average_reward.mean():.4g}",
            "value of the final policy": f"{self.values.mean():.4g} of {self.v_star:.4g}",
            "near-optimal seeds": f"{self.near_optimal.sum()} of {self.n_seeds}",
            "warnings": len(self.warnings) or "none",
        }
        edges = mean - deviation, mean + deviation
        picture = notebook.curve(self.trajectories, mean, edges, self.v_star)
        return notebook.side_by_side([notebook.table(rows, self.agent), picture])

    def plot(self, ax: matplotlib.axes.Axes | None = None, label: str | None = None) -> matplotlib.axes.Axes:
        """Draw the mean over seeds with one standard deviation shaded.

        ax
            Axes to add the curve to, which are otherwise left as they are; a new figure if not given.
        label
            The curve's name in the legend; the agent's name if not given.
        """
        plt = optional.need("matplotlib.pyplot", "experiments", "Run.plot")
        axes: matplotlib.axes.Axes = (
            plt.subplots(figsize=(5, 3.5), layout="constrained")[1] if ax is None else ax
        )
        mean, deviation = self.average_reward.mean(axis=0), self.average_reward.std(axis=0)
        edges = mean - deviation, mean + deviation
        draw_curve(axes, self.trajectories, mean, edges, label=self.agent if label is None else label)
        if ax is None:
            finish_curves(axes, self.v_star)
            axes.set(xlabel="number of trajectories", ylabel="average reward")
            axes.set_title(self.title, wrap=True)
            axes.legend(frameon=False)
        return axes

    @property
    def title(self) -> str:
        """The environment and its settings in words; settings without a value are left out."""
        words = [f"{name} {_in_words(value)}" for name, value in self.settings.items() if value is not None]
        return ", ".join([self.env, *words])

    def summary(self) -> dict[str, Any]:
        """A record of plain values, which `fasturl train --json` writes: the environment with its settings,
        the agent, and what came out.

        `seeds` is their number, `seed_values` are the seeds themselves; `horizon` is that of the environment,
        whether or not it declares a setting of that name. In `curve`, `mean` and `std` are of the average
        reward.
        """
        regret = self.regret
        return {
            "env": self.env,
            "horizon": self.horizon,
            **self.settings,
            "agent": self.agent,
            "oracle": self.oracle,
            "agent_settings": self.agent_settings,
            "origins": self.origins,
            "episodes": self.episodes,
            "seeds": self.n_seeds,
            "seed_values": self.seeds,
            "v_star": self.v_star,
            "average_reward_mean": float(self.final_average_reward.mean()),
            "average_reward_std": float(self.final_average_reward.std()),
            "regret_mean": float(self.final_regret.mean()),
            "regret_std": float(self.final_regret.std()),
            "value_mean": float(self.values.mean()),
            "values": self.values.tolist(),
            "success_rate": self.success_rate,
            "warnings": self.warnings,
            "total_trajectories": self.total_trajectories,
            "wall_seconds": self.wall_seconds,
            "curve": {
                "trajectories": self.trajectories.tolist(),
                "mean": self.average_reward.mean(axis=0).tolist(),
                "std": self.average_reward.std(axis=0).tolist(),
                "regret_mean": regret.mean(axis=0).tolist(),
                "regret_std": regret.std(axis=0).tolist(),
            },
            "version": __version__,
        }

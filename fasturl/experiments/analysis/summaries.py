"""Stored results in short: the curve of a cell, and one line of figures for each cell.

A frame here is what `fasturl.experiments.load` gives, or some rows of it. Seeds are only ever averaged within
one cell: runs with different settings are never mixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._base import checks, optional
from . import statistics

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]

BANDS = {
    "std": "one standard deviation",
    "ci": f"{statistics.LEVEL:.0%} bootstrap confidence interval of the mean",
}
AGENT_ORDER = ("url", "oracleq-lat", "qlearning-lat", "pcid", "oracleq-obs", "qlearning-obs")
_RESULTS = {
    "cell",
    "seed",
    "trajectories",
    "average_reward",
    "value",
    "value_error",
    "near_optimal",
    "v_star",
}
_SUMMARY = {
    "seeds",
    "successes",
    "success_rate",
    "success_low",
    "success_high",
    "reached",
    "needed",
    "needed_low",
    "needed_high",
    "label",
} | {f"{what}_{name}" for what in ("reward", "value") for name in ("mean", "std", "iqm", "low", "high")}
_NAMES = {"env", "agent", "episodes", "points", "oracle"}
_PREFIXES = ("agent.", "oracle.")


@dataclass(frozen=True)
class Curve:
    """The average reward of one cell over its seeds."""

    trajectories: NDArray[np.int64]
    samples: Floats
    """[seeds, points]"""

    @property
    def mean(self) -> Floats:
        return np.asarray(self.samples.mean(axis=0))

    def band(self, kind: str) -> statistics.Interval:
        """Lower and upper edge of the shaded area: "std" or "ci"."""
        if checks.choice("band", kind, BANDS) == "ci":
            return statistics.bootstrap_interval(self.samples)
        deviation = self.samples.std(axis=0)
        return statistics.Interval(self.mean - deviation, self.mean + deviation)


def curve(rows: pandas.DataFrame) -> Curve:
    """The curve of the rows of one cell."""
    table = rows.pivot(index="seed", columns="trajectories", values="average_reward")
    return Curve(table.columns.to_numpy(np.int64), table.to_numpy(np.float64))


def env_settings(frame: pandas.DataFrame) -> list[str]:
    """The columns that are settings of the environment: horizon, switch, noise, ..."""
    ranks = {"noise": 0, "horizon": 1, "switch": 2}
    found = [
        name
        for name in frame.columns
        if name not in _RESULTS | _SUMMARY | _NAMES and not name.startswith(_PREFIXES)
    ]
    return sorted(found, key=lambda name: (ranks.get(name, 3), name))


def parameters(frame: pandas.DataFrame) -> list[str]:
    """All columns that say what was run, as opposed to what came out."""
    return [name for name in frame.columns if name not in _RESULTS | _SUMMARY]


def parameter(frame: pandas.DataFrame, name: str) -> str:
    """The column of a parameter: "learning_rate" will do for "agent.learning_rate", "n_init" for
    "oracle.n_init"."""
    known = parameters(frame)
    for column in (name, *(prefix + name for prefix in _PREFIXES)):
        if column in known:
            return column
    short = list(dict.fromkeys(map(short_name, known)))
    raise ValueError(
        f"{name} is not a parameter of these results{checks.nearest(name, short)}; they have {', '.join(short)}"
    )


def short_name(column: str) -> str:
    """A parameter as a person calls it."""
    for prefix in _PREFIXES:
        column = column.removeprefix(prefix)
    return column


def in_words(column: str) -> str:
    return short_name(column).replace("_", " ")


def select(frame: pandas.DataFrame, conditions: Iterable[str]) -> pandas.DataFrame:
    """The rows for which conditions such as "horizon=10" hold; of several for the same parameter, one."""
    wanted: dict[str, list[Any]] = {}
    asked = list(conditions)
    for condition in asked:
        name, equals, text = condition.partition("=")
        if not equals:
            raise ValueError(f"a condition is written NAME=VALUE, for example horizon=10, got {condition!r}")
        column = parameter(frame, name)
        present = {show(value): value for value in frame[column].unique()}
        if show(text) not in present:
            raise ValueError(
                f"there are no results with {name} {text}; {name} is {', '.join(sorted(present, key=setting_rank))}"
            )
        wanted.setdefault(column, []).append(present[show(text)])
    for column, values in wanted.items():
        frame = frame[frame[column].isin(values)]
    if asked and frame.empty:
        raise ValueError(f"there are no results with {' and '.join(asked)}")
    return frame


def show(value: Any) -> str:
    """A setting as a person writes it."""
    if _missing(value):
        return "default"
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


def labels(frame: pandas.DataFrame) -> dict[str, str]:
    """A name for each cell: its agent, and the settings it takes to tell it from other cells of that agent in
    the same environment.

    Agents come in their order, and those of one agent by the settings in their names: numbers by size.
    """
    cells = _cells(frame)
    places = {"env", *env_settings(frame)}
    settings = cells[[name for name in parameters(frame) if name not in {*places, "agent"}]].map(show)
    placed = cells[sorted(places)].map(show).agg("|".join, axis="columns")
    named, ranks = dict[str, str](), dict[str, Any]()
    for agent, members in cells.groupby("agent", sort=False):
        own = settings.loc[members.index]
        # few values first: what tells variants apart everywhere, rather than what goes along with it
        order = sorted(own.columns[own.nunique() > 1], key=lambda name: own[name].nunique())
        where, telling = placed[members.index], list[str]()
        for name in order:
            if _kinds(own, [*telling, name], where) > _kinds(own, telling, where):
                telling.append(name)
        for cell, row in own.iterrows():
            details = [f"{in_words(name)} {row[name]}" for name in telling]
            named[str(cell)] = ", ".join([str(agent), *details])
            ranks[str(cell)] = (agent_rank(str(agent)), [setting_rank(row[name]) for name in telling])
    return {cell: named[cell] for cell in sorted(named, key=lambda cell: ranks[cell])}


def setting_rank(text: str) -> tuple[float, str]:
    """Settings as they are shown, in order: what is left at its default, numbers by size, words."""
    try:
        return (float(text), "")
    except ValueError:
        return (-math.inf if text == "default" else math.inf, text)


def agent_rank(agent: str) -> tuple[int, str]:
    """Agents are always listed in the same order."""
    return (AGENT_ORDER.index(agent) if agent in AGENT_ORDER else len(AGENT_ORDER), agent)


def cell_table(frame: pandas.DataFrame) -> pandas.DataFrame:
    """One row for each cell, with its settings and

    seeds, successes, success_rate and its Wilson interval success_low, success_high; reward_mean, reward_std,
    reward_iqm and the bootstrap interval of the mean reward_low, reward_high: average reward at the last
    trajectory; value_mean, value_iqm, value_low, value_high: the same of the values of the final policies;
    needed, needed_low, needed_high: the median number of trajectories to near-optimal and its interval,
    infinite where too many seeds did not get there, and nan where there are too few seeds for an interval;
    reached: how many did.
    """
    pd = optional.need("pandas", "experiments", "a table of results")
    rows = []
    for cell, group in frame.groupby("cell", sort=False):
        drawn, first = curve(group), group.iloc[0]
        runs = group.drop_duplicates("seed").sort_values("seed")
        last, values, successes = (
            drawn.samples[:, -1],
            runs["value"].to_numpy(),
            int(runs["near_optimal"].sum()),
        )
        needed = statistics.near_optimal_from(
            drawn.trajectories, drawn.samples, first["v_star"], runs["near_optimal"]
        )
        success, reward = (
            statistics.wilson_interval(successes, len(runs)),
            statistics.bootstrap_interval(last),
        )
        value, middle = statistics.bootstrap_interval(values), statistics.median_interval(needed)
        if middle.low == -math.inf:  # the whole line
            middle = statistics.Interval(math.nan, math.nan)
        rows.append(
            {
                "cell": cell,
                **{name: first[name] for name in parameters(frame)},
                "v_star": first["v_star"],
                "seeds": len(runs),
            }
            | {
                "successes": successes,
                "success_rate": successes / len(runs),
                "success_low": success.low,
                "success_high": success.high,
            }
            | {"trajectories": int(drawn.trajectories[-1])}
            | {
                "reward_mean": last.mean(),
                "reward_std": last.std(),
                "reward_iqm": statistics.interquartile_mean(last),
            }
            | {"reward_low": reward.low, "reward_high": reward.high}
            | {"value_mean": values.mean(), "value_iqm": statistics.interquartile_mean(values)}
            | {"value_low": value.low, "value_high": value.high}
            | {"needed": statistics.median(needed), "needed_low": middle.low, "needed_high": middle.high}
            | {"reached": int(np.isfinite(needed).sum())}
        )
    order = {cell: position for position, cell in enumerate(labels(frame))}
    table: pandas.DataFrame = pd.DataFrame(sorted(rows, key=lambda row: order[row["cell"]]))
    return table.sort_values(["env", *env_settings(frame)], kind="stable", ignore_index=True)


def _cells(frame: pandas.DataFrame) -> pandas.DataFrame:
    cells: pandas.DataFrame = frame.drop_duplicates("cell").set_index("cell")
    return cells


def _kinds(settings: pandas.DataFrame, names: list[str], where: Any) -> int:
    """How many cells these settings and the environment tell apart."""
    return len(
        {(place, *row) for place, row in zip(where, settings[names].itertuples(index=False), strict=True)}
    )


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))

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

from ... import registry
from ..._base import checks, optional
from ..._base.names import RESERVED
from ..._base.schema import PARTS
from ...run import mean_optimal_value
from . import statistics

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]

BANDS = {
    "std": "one standard deviation",
    "ci": f"{statistics.LEVEL:.0%} bootstrap confidence interval of the mean",
}
_RUN = ("env", "agent", *PARTS, "episodes", "points")
"""The columns besides settings that say what was run."""
_PREFIXES = tuple(f"{owner}." for owner in ("agent", *PARTS))
"""What the columns of settings of agents and of their parts begin with."""


@dataclass(frozen=True)
class Curve:
    """The average reward, or another result, of one cell over its seeds."""

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


def curve(rows: pandas.DataFrame, of: str = "average_reward") -> Curve:
    """The curve of the rows of one cell: their average reward, or another column of results."""
    table = rows.pivot(index="seed", columns="trajectories", values=of)
    return Curve(table.columns.to_numpy(np.int64), table.to_numpy(np.float64))


def env_settings(frame: pandas.DataFrame) -> list[str]:
    """The columns that are settings of environments, in the order in which they are declared.

    They have their own names: any that is neither a column of results, which no environment may call a
    setting, nor one with the name of an agent or a part before it.
    """
    return [name for name in frame.columns if name not in RESERVED and not name.startswith(_PREFIXES)]


def setting_columns(frame: pandas.DataFrame) -> list[str]:
    """All columns that say what was run, as opposed to what came out."""
    env = set(env_settings(frame))
    return [name for name in frame.columns if name in env or name in _RUN or name.startswith(_PREFIXES)]


def columns_called(frame: pandas.DataFrame, name: str) -> list[str]:
    """All columns of a setting: "learning_rate" will do for "agent.learning_rate", "n_init" for
    "oracle.n_init". One agent may have itself what another has in a part."""
    known = setting_columns(frame)
    columns = [column for column in (name, *(prefix + name for prefix in _PREFIXES)) if column in known]
    if columns:
        return columns
    short = list(dict.fromkeys(map(short_name, known)))
    raise ValueError(
        f"{name} is not a setting of these results{checks.nearest(name, short)}; they have {', '.join(short)}"
    )


def short_name(column: str) -> str:
    """A setting as a person calls it."""
    for prefix in _PREFIXES:
        column = column.removeprefix(prefix)
    return column


def in_words(column: str) -> str:
    return short_name(column).replace("_", " ")


def select(frame: pandas.DataFrame, conditions: Iterable[str]) -> pandas.DataFrame:
    """The rows for which conditions such as "horizon=10" hold; of several on the same setting, one must."""
    texts_by_setting: dict[str, set[str]] = {}
    condition_list = list(conditions)
    cells = _cells(frame)
    for condition in condition_list:
        name, equals, text = condition.partition("=")
        if not (name and equals and text):
            raise ValueError(f"a condition is written NAME=VALUE, for example horizon=10, got {condition!r}")
        present = {show(value) for column in columns_called(frame, name) for value in cells[column]}
        if show(text) not in present:
            values = ", ".join(sorted(present, key=setting_rank))
            raise ValueError(f"there are no results with {name} {text}; {name} is {values}")
        texts_by_setting.setdefault(name, set()).add(show(text))
    for name, texts in texts_by_setting.items():
        columns = cells[columns_called(frame, name)]
        cells = cells[columns.map(show).isin(texts).any(axis="columns")]
    if condition_list and cells.empty:
        raise ValueError(f"there are no results with {' and '.join(condition_list)}")
    return frame[frame["cell"].isin(cells.index)] if condition_list else frame


def show(value: Any) -> str:
    """A setting as a person writes it."""
    if _missing(value):
        return "default"
    if isinstance(value, bool | np.bool_) or str(value).lower() in ("true", "false"):
        return str(value).lower()
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


def shown(column: pandas.Series) -> pandas.Series:
    """`show` of every value. There is one for each point of a curve, so equal ones are shown once."""
    pd = optional.need("pandas", "experiments", "a table of results")
    if column.dtype == object:  # where True and 1 would be equal
        return column.map(show)
    codes, values = pd.factorize(column, use_na_sentinel=False)
    texts: pandas.Series = pd.Series([show(value) for value in values], dtype=object).take(codes)
    return texts.set_axis(column.index)


def labels(frame: pandas.DataFrame) -> dict[str, str]:
    """A name for each cell: its agent, and the settings it takes to tell it from other cells of that agent in
    the same environment.

    Agents come in the order of the registry, and those of one agent by the settings in their names: numbers
    by size.
    """
    cells = _cells(frame)
    places = {"env", *env_settings(frame)}
    settings = cells[[name for name in setting_columns(frame) if name not in {*places, "agent"}]].map(show)
    environments = cells[sorted(places)].map(show).agg("|".join, axis="columns")
    names, ranks = dict[str, str](), dict[str, Any]()
    for agent, members in cells.groupby("agent", sort=False):
        own = settings.loc[members.index]
        # few values first: what tells variants apart everywhere, rather than what goes along with it
        order = sorted(own.columns[own.nunique() > 1], key=lambda name: own[name].nunique())
        where, telling = environments[members.index], list[str]()
        for name in order:
            if _kinds(own, [*telling, name], where) > _kinds(own, telling, where):
                telling.append(name)
        for cell, row in own.iterrows():
            details = [f"{in_words(name)} {row[name]}" for name in telling]
            names[str(cell)] = ", ".join([str(agent), *details])
            ranks[str(cell)] = (agent_rank(str(agent)), [setting_rank(row[name]) for name in telling])
    return {cell: names[cell] for cell in sorted(names, key=lambda cell: ranks[cell])}


def setting_rank(text: str) -> tuple[float, str]:
    """Settings as they are shown, in order: what is left at its default, numbers by size, words."""
    try:
        return (float(text), "")
    except ValueError:
        return (-math.inf if text == "default" else math.inf, text)


def agent_rank(agent: str) -> tuple[int, str]:
    """Agents are always listed in the same order: that of the registry, then those that it does not know."""
    known = registry.possible_agent_names()
    return (known.index(agent) if agent in known else len(known), agent)


def cell_table(frame: pandas.DataFrame) -> pandas.DataFrame:
    """One row for each cell, with its settings and

    seeds: how many there are; successes, success_rate and its Wilson interval success_low, success_high;
    average_reward_mean, average_reward_std, average_reward_iqm and the bootstrap interval of the mean
    average_reward_low, average_reward_high: average reward at the last trajectory; regret_mean, regret_std,
    regret_iqm, regret_low, regret_high: the same of the cumulative regret; value_mean, value_iqm, value_low,
    value_high: the same of the values of the final policies;
    needed, needed_low, needed_high: the median number of trajectories to near-optimal and its interval,
    infinite where too many seeds did not get there, and nan where there are too few seeds for an interval;
    reached: how many did;
    warned: how many seeds carry a warning of their agent.
    """
    pd = optional.need("pandas", "experiments", "a table of results")
    rows = {cell: _cell_figures(group) for cell, group in frame.groupby("cell", sort=False)}
    cells = list(labels(frame))
    settings = _cells(frame).loc[cells, setting_columns(frame)].reset_index()
    figures = pd.DataFrame([rows[cell] for cell in cells])
    table: pandas.DataFrame = pd.concat([settings, figures], axis="columns")
    return table.sort_values(["env", *env_settings(frame)], kind="stable", ignore_index=True)


def _cell_figures(rows: pandas.DataFrame) -> dict[str, Any]:
    """The line of one cell, from its rows, without its settings."""
    averages = curve(rows)
    last, regret = averages.samples[:, -1], curve(rows, "regret").samples[:, -1]
    runs = rows.drop_duplicates("seed").sort_values("seed")
    values, optimal_values = runs["value"].to_numpy(), runs["optimal_value"].to_numpy()
    successes = int(runs["near_optimal"].sum())
    needed = _needed(averages, optimal_values, runs["near_optimal"].to_numpy())
    success = statistics.wilson_interval(successes, len(runs))
    value = statistics.bootstrap_interval(values)
    middle = statistics.median_interval(needed)
    if middle.low == -math.inf:  # the whole line
        middle = statistics.Interval(math.nan, math.nan)
    return {
        "v_star": mean_optimal_value(optimal_values),
        "seeds": len(runs),
        "successes": successes,
        "success_rate": successes / len(runs),
        "success_low": success.low,
        "success_high": success.high,
        "trajectories": int(averages.trajectories[-1]),
        **_spread("average_reward", last),
        **_spread("regret", regret),
        "value_mean": values.mean(),
        "value_iqm": statistics.interquartile_mean(values),
        "value_low": value.low,
        "value_high": value.high,
        "needed": statistics.median(needed),
        "needed_low": middle.low,
        "needed_high": middle.high,
        "reached": int(np.isfinite(needed).sum()),
        "warned": int((runs["warnings"] > 0).sum()),
    }


def _spread(name: str, samples: Floats) -> dict[str, Any]:
    """Mean, standard deviation, interquartile mean and bootstrap interval of a result over seeds."""
    interval = statistics.bootstrap_interval(samples)
    return {
        f"{name}_mean": samples.mean(),
        f"{name}_std": samples.std(),
        f"{name}_iqm": statistics.interquartile_mean(samples),
        f"{name}_low": interval.low,
        f"{name}_high": interval.high,
    }


def _needed(averages: Curve, optimal_values: Floats, near_optimal: NDArray[np.bool_]) -> Floats:
    """How many trajectories each seed needed to play near-optimally, judged by the seed's own V*: [seeds]."""
    return np.array(
        [
            statistics.near_optimal_from(averages.trajectories, samples, v_star, success)
            for samples, v_star, success in zip(averages.samples, optimal_values, near_optimal, strict=True)
        ]
    )


def _cells(frame: pandas.DataFrame) -> pandas.DataFrame:
    cells: pandas.DataFrame = frame.drop_duplicates("cell").set_index("cell")
    return cells


def _kinds(settings: pandas.DataFrame, names: list[str], where: Any) -> int:
    """How many cells these settings and the environment tell apart."""
    return len(
        {(place, *row) for place, row in zip(where, settings[names].itertuples(index=False), strict=True)}
    )


def _missing(value: Any) -> bool:
    pd = optional.need("pandas", "experiments", "a table of results")
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))

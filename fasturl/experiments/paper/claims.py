"""The claims of the Results paragraph of Feng et al. (2020), judged by our runs."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base import optional
from ..analysis import summaries
from .cells import AGENTS, BITS_ONLY, FIGURES, figure_name, figure_rows, shown_rows
from .hyperparameters import best_model

if TYPE_CHECKING:
    import pandas

WITHIN = 0.9
"""As good as the skyline: from this share of its average reward on."""
FAR = 0.5
"""Far from optimal: an average reward below this share of V*."""
_PANEL = ["figure", "horizon", "switch"]
_RESULTS = ("average_reward_mean", "average_reward_std", "value_mean")
_RATES = ("success_rate", "success_low", "success_high")
_LONG = 20
"""The horizon of which the paper says most."""


@dataclass(frozen=True)
class Claim:
    """A sentence of the Results paragraph, whether our runs bear it out, and the figures behind the
    verdict."""

    claim: str
    holds: bool
    figures: str


def summarise(frame: pandas.DataFrame) -> pandas.DataFrame:
    """One row for each figure, horizon, switch and agent: final average reward, value and success rate over
    seeds. Of PCID it is the model that the figure shows, which `model` names."""
    return _table({figure: shown_rows(frame, figure) for figure in FIGURES}, "agent")


def compare_models(frame: pandas.DataFrame) -> pandas.DataFrame:
    """As `summarise`, one row for each model of PCID that was run; `shown` says which the figure shows."""
    rows = frame[frame["agent"] == "pcid"]
    table = _table({figure: figure_rows(rows, figure) for figure in FIGURES}, "model")
    shown = [best_model(*panel) for panel in zip(*(table[column] for column in _PANEL), strict=True)]
    return table.assign(shown=table["model"] == shown)


def _table(parts: dict[str, pandas.DataFrame], order: str) -> pandas.DataFrame:
    """A row for each cell of the figures, sorted by panel and then by a column."""
    pd = optional.need("pandas", "experiments", "summing up results")
    tables = [summaries.cell_table(part).assign(figure=figure) for figure, part in parts.items() if len(part)]
    rows = pd.concat(tables).rename(columns={"agent.model": "model"})
    columns = [*_PANEL, "agent", "model", "seeds", *_RESULTS, *_RATES]
    table: pandas.DataFrame = rows.sort_values([*_PANEL, order], ignore_index=True)[columns]
    return table


def judge(summary: pandas.DataFrame, v_star: float = 0.5) -> list[Claim]:
    """The claims that can be judged from the figures that were run."""
    rewards, rates = (
        summary.pivot_table(index=_PANEL, columns="agent", values=column).reset_index()
        for column in ("average_reward_mean", "success_rate")
    )
    judged = [
        _observation_learners_are_far_from_optimal(rewards, rates, v_star),
        _url_is_as_good_as_the_skyline(rewards),
        _url_is_better_than_the_baseline(rewards),
        _url_outperforms_pcid(rewards),
        # the paper says "80 %" of the one and "over 75 %" of the other: only the first may be met exactly
        _url_is_near_optimal(rates, ("fig1",), operator.ge, 0.8, "LockBernoulli", "80 %"),
        _url_is_near_optimal(rates, ("fig2", "fig3"), operator.gt, 0.75, "LockGaussian", "over 75 %"),
    ]
    return [claim for claim in judged if claim is not None]


def _observation_learners_are_far_from_optimal(
    rewards: pandas.DataFrame, rates: pandas.DataFrame, v_star: float
) -> Claim | None:
    bits = rewards[rewards["figure"] == "fig1"]
    if bits.empty:
        return None
    best = bits.set_index("horizon")[list(BITS_ONLY)].max(axis=1).groupby(level="horizon").max()
    averages = ", ".join(f"{value:.4f} at H = {horizon}" for horizon, value in best.items())
    shortest = rates[(rates["figure"] == "fig1") & (rates["horizon"] == best.index.min())]
    shares = ", ".join(
        f"{agent} {shortest[agent].min():.0%} to {shortest[agent].max():.0%}" for agent in BITS_ONLY
    )
    return Claim(
        "LockBernoulli: OracleQ-obs and QLearning-obs are far from optimal even at small horizons",
        bool((best < FAR * v_star).all()),
        f"best average reward of the two: {averages}, of V* = {v_star:g}; "
        f"near-optimal seeds at H = {best.index.min()}: {shares}, by switch",
    )


def _url_is_as_good_as_the_skyline(rewards: pandas.DataFrame) -> Claim:
    skyline = rewards["oracleq-lat"]
    ratio = (rewards["url"] / skyline).where(skyline > 0)  # there is none where the skyline earns nothing
    as_good = ratio >= WITHIN
    worst = f", worst ratio {ratio.min():.3f}" if ratio.notna().any() else ""
    return Claim(
        "URL is mostly as good as the skyline OracleQ-lat",
        bool(as_good.mean() > 0.5),
        f"within 10 % of its average reward in {as_good.sum()} of {len(rewards)} panels{worst}",
    )


def _url_is_better_than_the_baseline(rewards: pandas.DataFrame) -> Claim:
    better = rewards["url"] > rewards["qlearning-lat"]
    long = rewards[rewards["horizon"] == _LONG]
    much_better = long["url"] > 2 * long["qlearning-lat"]
    return Claim(
        "URL is much better than the baseline QLearning-lat, especially at H = 20",
        bool(much_better.all() and better.mean() > 0.5),
        f"better in {better.sum()} of {len(rewards)} panels; at H = 20 at least {long['url'].min():.3f} "
        f"against at most {long['qlearning-lat'].max():.3f}",
    )


def _url_outperforms_pcid(rewards: pandas.DataFrame) -> Claim:
    ahead = rewards["url"] > rewards["pcid"]
    return Claim(
        "URL outperforms PCID in most cases",
        bool(ahead.mean() > 0.5),
        f"higher average reward in {ahead.sum()} of {len(rewards)} panels",
    )


def _url_is_near_optimal(
    rates: pandas.DataFrame,
    figures: Sequence[str],
    compare: Callable[[Any, float], Any],
    least: float,
    lock: str,
    share: str,
) -> Claim | None:
    chosen = rates[rates["figure"].isin(figures) & (rates["horizon"] == _LONG) & (rates["switch"] > 0)]
    if chosen.empty:
        return None
    shares = (
        f"{figure_name(row.figure)} switch {row.switch:g}: {row.url:.0%}" for row in chosen.itertuples()
    )
    return Claim(
        f"{lock}, H = 20: URL is near-optimal with probability {share} at switch 0.2 and 0.5",
        bool(compare(chosen["url"], least).all()),
        ", ".join(shares),
    )


def write_claims(path: Path, judged: Sequence[Claim]) -> None:
    """As the report reads them."""
    path.write_text(json.dumps([asdict(claim) for claim in judged], indent=1) + "\n")


def success_table(summary: pandas.DataFrame) -> Any:
    """Success rates of all panels as a rich table."""
    from rich import box
    from rich.table import Table

    agents = [agent for agent in (*AGENTS, *BITS_ONLY) if agent in set(summary["agent"])]
    table = Table(
        title="near-optimal seeds", title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False
    )
    table.add_column("lock", no_wrap=True)
    for heading in ("H", "switch", *(agent.replace("-", "\n") for agent in agents)):
        table.add_column(heading, justify="right", no_wrap=True)
    for (figure, horizon, switch), group in summary.groupby(_PANEL):
        rates = group.set_index("agent")["success_rate"]
        shares = (f"{rates[agent]:.0%}" if agent in rates else "" for agent in agents)
        table.add_row(figure_name(figure).removeprefix("Lock"), str(horizon), f"{switch:g}", *shares)
    return table

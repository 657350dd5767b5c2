"""Results of the paper's experiments in one table: a row for each panel, agent and oracle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._base import optional
from ..analysis import summaries
from .cells import AGENTS, BITS_ONLY, FIGURES, URL_AS_PUBLISHED, figure_name, figure_rows, shown_rows
from .hyperparameters import best_model

if TYPE_CHECKING:
    import pandas

DECODER_TRAJECTORIES = "decoder_trajectories"
"""The diagnostic of a run that tells how many trajectories went by before its decoder was stable."""
_PANEL = ["figure", "horizon", "switch"]
_RESULTS = ("average_reward_mean", "average_reward_std", "value_mean")
_RATES = ("success_rate", "success_low", "success_high")


def summarise(frame: pandas.DataFrame, about: Iterable[dict[str, Any]] = ()) -> pandas.DataFrame:
    """One row for each figure, horizon, switch, agent and oracle: final average reward, value, success rate
    and, where `about` (the metadata of stored results) tells it, the median number of trajectories that the
    decoder took. Of PCID it is the model that the figure shows, which `model` names."""
    parts = {figure: _judged_rows(frame, figure) for figure in FIGURES} if len(frame) else {}
    table = _table(parts, ["agent", "oracle"])
    medians = _decoder_trajectories(about, set(frame["seed"]) if "seed" in frame else set())
    return table.assign(**{DECODER_TRAJECTORIES: table["cell"].map(medians).astype(float)}).drop(
        columns="cell"
    )


def _judged_rows(frame: pandas.DataFrame, figure: str) -> pandas.DataFrame:
    """What a figure shows, and the oracles of URL as published that it does not."""
    rows, shown = figure_rows(frame, figure), shown_rows(frame, figure)
    return rows[rows["cell"].isin(shown["cell"]) | (rows["agent"] == URL_AS_PUBLISHED)]


def compare_models(frame: pandas.DataFrame) -> pandas.DataFrame:
    """As `summarise`, one row for each model of PCID that was run; `shown` says which the figure shows."""
    rows = frame[frame["agent"] == "pcid"]
    table = _table({figure: figure_rows(rows, figure) for figure in FIGURES}, ["model"])
    shown = [best_model(*panel) for panel in zip(*(table[column] for column in _PANEL), strict=True)]
    return table.assign(shown=table["model"] == shown).drop(columns=["cell", "oracle"])


def _table(parts: dict[str, pandas.DataFrame], order: list[str]) -> pandas.DataFrame:
    """A row for each cell of the figures, sorted by panel and then by some columns."""
    pd = optional.need("pandas", "experiments", "summing up results")
    tables = [summaries.cell_table(part).assign(figure=figure) for figure, part in parts.items() if len(part)]
    columns = [*_PANEL, "agent", "oracle", "model", "seeds", *_RESULTS, *_RATES, "cell"]
    if not tables:
        return cast("pandas.DataFrame", pd.DataFrame(columns=columns))
    rows = pd.concat(tables).rename(columns={"agent.model": "model"})
    table: pandas.DataFrame = rows.sort_values([*_PANEL, *order], ignore_index=True)[columns]
    return table


def _decoder_trajectories(about: Iterable[dict[str, Any]], seeds: set[int]) -> dict[str, float]:
    """The median over seeds for each cell whose runs tell it."""
    counts: dict[str, list[float]] = {}
    for block in about:
        for seed, diagnostics in zip(block["seeds"], block["diagnostics"], strict=True):
            if seed in seeds and DECODER_TRAJECTORIES in diagnostics:
                counts.setdefault(block["cell"], []).append(diagnostics[DECODER_TRAJECTORIES])
    return {cell: float(np.median(values)) for cell, values in counts.items()}


def success_table(summary: pandas.DataFrame) -> Any:
    """Success rates of all panels as a rich table; an agent with several oracles has a column for each."""
    from rich import box
    from rich.table import Table

    order = (*AGENTS, *BITS_ONLY)
    ranks = {agent: rank for rank, agent in enumerate(order)}
    columns = sorted(_column_names(summary), key=lambda name: (ranks.get(name[0], len(ranks)), name))
    table = Table(
        title="near-optimal seeds", title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False
    )
    table.add_column("lock", no_wrap=True)
    for heading in ("H", "switch", *("-".join(filter(None, name)).replace("-", "\n") for name in columns)):
        table.add_column(heading, justify="right", no_wrap=True)
    for (figure, horizon, switch), group in summary.groupby(_PANEL):
        rates = dict(zip(_column_names(group), group["success_rate"], strict=True))
        shares = (f"{rates[name]:.0%}" if name in rates else "" for name in columns)
        table.add_row(figure_name(figure).removeprefix("Lock"), str(horizon), f"{switch:g}", *shares)
    return table


def _column_names(summary: pandas.DataFrame) -> list[tuple[str, str]]:
    """Agent and oracle of each row, without repetitions; the oracle is left out where an agent has one in
    each panel."""
    several = summary.groupby([*_PANEL, "agent"])["agent"].size().groupby("agent").max() > 1
    pairs = zip(summary["agent"], summary["oracle"], strict=True)
    return list(dict.fromkeys((agent, oracle if several[agent] else "") for agent, oracle in pairs))

"""What the experiments of Feng et al. (2020) run: the cells of Figures 1, 2 and 3.

A figure is one environment in nine panels: horizons 5, 10 and 20 across, switch 0, 0.2 and 0.5 down. Of PCID
a panel shows the better of its linear and its neural model. Which that is was found in tuning, on other seeds
than those of the figures.

Of URL there are two agents: `url`, our practical form, and `url-as-published`, the paper's procedure, which
runs with each of the paper's oracles; a panel shows the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..running.cells import Cell
from .hyperparameters import best_model, tuned_settings

if TYPE_CHECKING:
    import pandas

FIGURES: dict[str, tuple[str, dict[str, float]]] = {
    "fig1": ("lock-bernoulli", {}),
    "fig2": ("lock-gaussian", {"noise": 0.1}),
    "fig3": ("lock-gaussian", {"noise": 0.2}),
}
"""The environment of each figure."""
HORIZONS = (5, 10, 20)
SWITCHES = (0.0, 0.2, 0.5)
EPISODES = {5: 20_000, 10: 20_000, 20: 50_000}
"""Trajectories of a run, by horizon."""
SEEDS = 50
RICH_LOCK = "rich-lock"
"""The comparison of `rich_lock`, which is not one of the paper's figures: its name, that of its environment,
and that of its files."""
URL_AS_PUBLISHED = "url-as-published"
"""The agent that follows the paper's procedure; it may have cells for several oracles in a panel."""
AGENTS = ("url", URL_AS_PUBLISHED, "oracleq-lat", "qlearning-lat", "pcid")
"""The agents of all figures, in the order of their legends."""
BITS_ONLY = ("oracleq-obs", "qlearning-obs")
"""The agents of the figure whose observations are bits."""
MODELS = ("linear", "neural")
"""The models of PCID; each has an entry of its own in `hyperparameters.toml`, as "pcid-linear"."""

PUBLISHED_ORACLES = ("pca-kmeans", "pca-dbscan", "full-gmm")
"""The paper's oracles, for URL as published. The first did best in tuning, and is the one that figures show;
each has an entry of its own in `hyperparameters.toml`, as "url-as-published-full-gmm"."""
ALL_ORACLES_AT = 5
"""The horizon at which all of them are run, and not the first alone: at others they take minutes."""


def cells(figures: Iterable[str], episodes_scale: float = 1.0, *, all_models: bool = False) -> list[Cell]:
    """The cells of some figures, with the model of PCID that a panel shows or with all of them;
    `episodes_scale` shortens all runs for a quick look."""
    return [
        cell
        for figure in figures
        for horizon in HORIZONS
        for switch in SWITCHES
        for cell in _panel(figure, horizon, switch, episodes_scale, all_models)
    ]


def _panel(figure: str, horizon: int, switch: float, episodes_scale: float, all_models: bool) -> list[Cell]:
    env, settings = FIGURES[figure]
    place = {"horizon": horizon, "switch": switch, **settings}
    episodes = max(1, round(EPISODES[horizon] * episodes_scale))
    models = MODELS if all_models else (best_model(figure, horizon, switch),)
    variants = {"pcid": models, URL_AS_PUBLISHED: published_oracles(horizon)}
    return [
        Cell.make(env, place, agent, tuned_settings(entry, env, horizon, switch), episodes)
        for agent in (*AGENTS, *(BITS_ONLY if env == "lock-bernoulli" else ()))
        for entry in ([f"{agent}-{variant}" for variant in variants[agent]] if agent in variants else [agent])
    ]


def published_oracles(horizon: int) -> tuple[str, ...]:
    """The oracles that URL as published is run with."""
    return PUBLISHED_ORACLES if horizon == ALL_ORACLES_AT else PUBLISHED_ORACLES[:1]


def figure_name(figure: str) -> str:
    """A figure by its environment, as the paper calls it: LockGaussian 0.1."""
    env, settings = FIGURES[figure]
    lock = {"lock-bernoulli": "LockBernoulli", "lock-gaussian": "LockGaussian"}[env]
    return " ".join([lock, *(f"{value:g}" for value in settings.values())])


def figure_rows(frame: pandas.DataFrame, figure: str) -> pandas.DataFrame:
    """The rows of a frame that belong to a figure."""
    env, settings = FIGURES[figure]
    rows = frame[frame["env"] == env]
    for name, value in settings.items():
        rows = rows[rows[name] == value] if name in rows else rows[:0]
    return rows


def shown_rows(frame: pandas.DataFrame, figure: str) -> pandas.DataFrame:
    """The rows of a frame that a figure shows: of PCID those of the best model of a panel, of URL as
    published those of the first of its oracles."""
    rows = figure_rows(frame, figure)
    rows = rows[(rows["agent"] != URL_AS_PUBLISHED) | (rows["oracle"] == PUBLISHED_ORACLES[0])]
    of_pcid = rows[rows["agent"] == "pcid"].drop_duplicates("cell")
    others = [
        row.cell
        for row in of_pcid.rename(columns={"agent.model": "model"}).itertuples()
        if row.model != best_model(figure, row.horizon, row.switch)
    ]
    return rows[~rows["cell"].isin(others)]

"""What the experiments of Feng et al. (2020) run: the cells of Figures 1, 2 and 3.

A figure is one environment in nine panels: horizons 5, 10 and 20 across, switch 0, 0.2 and 0.5 down. PCID is
run with its linear and its neural model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..analysis import summaries
from ..running.cells import Cell
from .hyperparameters import tuned_settings

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
AGENTS = ("url", "oracleq-lat", "qlearning-lat", "pcid")
"""The agents of all figures, in the order of their legends."""
BITS_ONLY = ("oracleq-obs", "qlearning-obs")
"""The agents of the figure whose observations are bits."""
VARIANTS = {"pcid": ("pcid-linear", "pcid-neural")}
"""The entries of `hyperparameters.toml` of an agent that has several."""


def cells(figures: Iterable[str], episodes_scale: float = 1.0) -> list[Cell]:
    """The cells of some figures; `episodes_scale` shortens all runs for a quick look."""
    return [
        cell
        for figure in figures
        for horizon in HORIZONS
        for switch in SWITCHES
        for cell in _panel(figure, horizon, switch, episodes_scale)
    ]


def _panel(figure: str, horizon: int, switch: float, episodes_scale: float) -> list[Cell]:
    env, settings = FIGURES[figure]
    place = {"horizon": horizon, "switch": switch, **settings}
    episodes = max(1, round(EPISODES[horizon] * episodes_scale))
    return [
        Cell.make(env, place, agent, tuned_settings(variant, env, horizon, switch), episodes)
        for agent in (*AGENTS, *(BITS_ONLY if env == "lock-bernoulli" else ()))
        for variant in VARIANTS.get(agent, (agent,))
    ]


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


def best_variants(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Of an agent with several variants in a panel, the rows of the one with the best average reward at the
    end, which is the one that the paper draws."""
    last = frame[frame["trajectories"] == frame.groupby("cell")["trajectories"].transform("max")]
    keys = ["env", *summaries.env_settings(frame), "agent"]
    ends = last.groupby([*keys, "cell"], dropna=False, as_index=False)["average_reward"].mean()
    best = ends.sort_values("average_reward").groupby(keys, dropna=False)["cell"].last()
    return frame[frame["cell"].isin(best)]

"""The hyperparameters of the paper's figures, read from `hyperparameters.toml` beside this file, and the
models of PCID, from `models.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from ..._base import checks


def tuned_settings(agent: str, env: str, horizon: int, switch: float | None = None) -> dict[str, Any]:
    """The settings of an agent on an environment, for example tuned_settings("oracleq-lat", "lock-bernoulli",
    20, switch=0.2).

    PCID has two entries, "pcid-linear" and "pcid-neural". A table inside that of a horizon, named after an
    environment, a switch such as "switch 0.5" or both as in "lock-gaussian, switch 0.5", has the settings
    that are others there.
    """
    entries = all_tuned_settings()
    checks.choice("agent", agent, entries)
    if str(horizon) not in entries[agent]:
        raise ValueError(
            f"horizon must be one of {', '.join(entries[agent])}, for which {agent} was tuned, got {horizon}"
        )
    entry = entries[agent][str(horizon)]
    shared = {name: value for name, value in entry.items() if not isinstance(value, dict)}
    places = [env] if switch is None else [env, f"switch {switch:g}", f"{env}, switch {switch:g}"]
    return shared | {name: value for place in places for name, value in entry.get(place, {}).items()}


def model_scores(figure: str, horizon: int, switch: float) -> dict[str, float]:
    """The mean average reward of each model of PCID on the tuning seeds in a panel of a figure, each with its
    own settings."""
    scores: dict[str, float] = _read("models.toml")[figure][str(horizon)][f"{switch:g}"]
    return scores


def best_model(figure: str, horizon: int, switch: float) -> str:
    """The model of PCID that a panel of a figure shows: the first with the best score."""
    scores = model_scores(figure, horizon, switch)
    return max(scores, key=scores.__getitem__)


def all_tuned_settings() -> dict[str, dict[str, dict[str, Any]]]:
    """Every entry of the file: by agent and then by horizon, as text."""
    return _read("hyperparameters.toml")


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))

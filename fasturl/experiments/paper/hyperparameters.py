"""The hyperparameters of the paper's figures, read from `hyperparameters.toml` beside this file."""

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


@cache
def all_tuned_settings() -> dict[str, dict[str, dict[str, Any]]]:
    """Every entry of the file: by agent and then by horizon, as text."""
    return tomllib.loads(
        resources.files(__package__).joinpath("hyperparameters.toml").read_text(encoding="utf-8")
    )

"""How options are read."""

from __future__ import annotations

from typing import Any

from .._base.checks import parse_seeds as parse_seeds


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; the rest keep the defaults of what they set."""
    return {name: value for name, value in options.items() if value is not None}

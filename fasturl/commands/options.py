"""How options are read."""

from __future__ import annotations

from typing import Any

from .. import validation


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; the rest keep the defaults of what they set."""
    return {name: value for name, value in options.items() if value is not None}


def parse_seeds(text: str) -> int | range:
    try:
        first, colon, end = text.partition(":")
        if not colon:
            return int(text)
        chosen = range(int(first), int(end))
    except ValueError:
        raise ValueError(f"seeds must be a count such as 50 or a range such as 1000:1050, got {text!r}") from None
    validation.seeds(chosen)
    return chosen

"""Numbers in words, as people read them in tables, figures and messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number of things: 1 seed, 50 seeds, 1,200 runs."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

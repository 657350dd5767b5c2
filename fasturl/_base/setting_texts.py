"""Values of settings as words: how a command line and a C program write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import checks, names
from .schema import Setting, refuse_unknown

_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def parsed_value(declared: Setting, text: str) -> Any:
    """A text as the value that a setting declares; ValueError that names the setting and its range."""
    if isinstance(declared.kind, str):
        return part_value(declared, text)
    if text.lower() == "none" and declared.optional:
        return None
    value: Any = text
    if declared.kind in (int, float):
        value = _number(text, declared.kind)
    elif declared.kind is bool:
        value = _TRUTH.get(text.lower(), text)
    elif declared.kind is None:
        value = _plain_value(text)
    return declared.check(value)


def part_value(declared: Setting, text: str) -> str | None:
    """The name of an oracle or learner; ValueError with the nearest where there is none of that name."""
    if text.lower() == "none" and declared.optional:
        return None
    return names.find(str(declared.kind), text).name


def parsed_settings(owner: str, declaration: Mapping[str, Setting], text: str) -> dict[str, Any]:
    """The settings of `owner` in a text such as "confidence=0.01 schedule=jin"."""
    settings: dict[str, Any] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ValueError(f"settings must be written as name=value, got {checks.short_repr(word)}")
        refuse_unknown(owner, [name], declaration)
        if name in settings:
            raise ValueError(f"{name} must be set once, got {checks.short_repr(text)}")
        settings[name] = parsed_value(declaration[name], value)
    return settings


def _number(text: str, kind: Any) -> Any:
    """The number that a text is; the text itself where it is none, which the check of the setting refuses."""
    try:
        return kind(text)
    except ValueError:
        return text


def _plain_value(text: str) -> Any:
    """A value whose type nobody declares: a number, true or false, or the text."""
    number = _number(text, int)
    number = _number(text, float) if number is text else number
    return {"true": True, "false": False}.get(text.lower(), text) if number is text else number

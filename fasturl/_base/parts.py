"""Parts of agents, such as an oracle and a learner: objects, names, or tables of a name and settings.

A person writes a part in any of the three ways; agents work with objects; results keep tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import checks
from .names import Component, components, default_name, find_class, make


def build_part(kind: str, value: Any, default: Any = None) -> Any:
    """A part of an agent, given as an object, by its name, or as a table of settings.

    A table without a name holds settings that differ from those of the default.
    """
    if isinstance(value, str):
        return make(kind, value, {})
    checks.instance(kind, value)
    if not isinstance(value, Mapping):
        return value
    settings = dict(value)
    if not all(isinstance(name, str) for name in settings):
        raise ValueError(f"{kind} must have settings by name, got {checks.short_repr(value)}")
    if "name" not in settings:
        if default is None:
            raise ValueError(
                f"{kind} must have a name where it has settings: one of {', '.join(components(kind))}"
            )
        settings = {**describe_part(kind, default), **settings}
    return make(kind, settings.pop("name"), settings)


def describe_part(kind: str, value: Any) -> Any:
    """A part as results keep it: its name and all its settings. ValueError for an object that no name stands
    for."""
    part = build_part(kind, value)
    if part is None:
        return None
    component = find_class(kind, type(part))
    if component is None:
        raise ValueError(
            f"{kind} {checks.short_repr(part)} has no name that results could keep: "
            f"register its class first, fu.register({type(part).__name__})"
        )
    return {"name": component.name, **component_settings(component, part)}


def part_in_words(kind: str, part: Any) -> dict[str, Any] | None:
    """As `describe_part`; of an object that no name stands for, what its class is called."""
    try:
        table: dict[str, Any] | None = describe_part(kind, part)
    except ValueError:
        return {"name": default_name(type(part))}
    return table


def origins_of(components: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """The origin of each component (kind, object) that is known by name."""
    for kind, instance in components:
        if (component := find_class(kind, type(instance))) is not None:
            yield f"{kind} {component.name}", component.origin


def component_settings(component: Component, instance: Any) -> dict[str, Any]:
    """All settings of an instance by name, its parts described in the same way."""
    values = instance.get_params(deep=False) if hasattr(instance, "get_params") else {}
    settings = {}
    for name, setting in component.settings.items():
        if name not in values and not hasattr(instance, name):
            raise ValueError(
                f"{type(instance).__name__} must keep its setting {name} as an attribute of that name, "
                "so that results can tell it"
            )
        value = values[name] if name in values else getattr(instance, name)
        is_part = isinstance(setting.kind, str)
        settings[name] = describe_part(str(setting.kind), value) if is_part else checks.plain(value)
    return settings

"""Declared settings: each is written once, where its class declares it, and everything else is read off
there.

A class declares its settings as dataclass fields:

    @dataclass(frozen=True)
    class Corridor(Environment):
        horizon: int = setting(20, least=1, help="Number of levels that are acted in.")
        slip: float = setting(0.0, least=0, most=1, help="Probability that an action has no effect.")

Checks of arguments, options of the command line with their help, tables of sweep files, spaces that are
tuned, columns of results and the reference all come from the declaration. A class of somebody else's, such as
a clusterer of scikit-learn, declares by the annotations and defaults of its `__init__`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import checks, notebook

_KEY = "fasturl"
_PLAIN = (bool, int, float, str)
PARTS = ("oracle", "learner")
"""Kinds of components that a setting may name."""


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED: Any = _Required()
"""Stands for the default of a setting that has none."""


@dataclass(frozen=True)
class Range:
    """Positive numbers from low to high, alike on a logarithmic scale; integers where both ends are.

    low, high
        Its ends, both included.

    Examples
    --------
    >>> Range(0.01, 1.0).high
    1.0
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        try:
            low, _ = checks.ends("a range", (self.low, self.high))
        except ValueError:
            low = 0.0
        if low <= 0:
            got = f"{checks.short_repr(self.low)}:{checks.short_repr(self.high)}"
            raise ValueError(f"a range must have ends 0 < low <= high, got {got}")
        checks.keep(self, low=checks.plain(self.low), high=checks.plain(self.high))

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)


@dataclass(frozen=True)
class Setting:
    """One declared setting of a class.

    name, default, help, unit
        As a person writes it, its value if it is not given (REQUIRED where it must be), what it does, and
        what it counts.
    kind
        bool, int, float or str; "oracle" or "learner" where it is a component; None where it may be of
        several types, which the class checks itself.
    values
        Of a setting of several types: what it may be, in words, such as "true, false or auto".
    least, most, above, below
        Limits of a number: the first two can be attained, the others cannot.
    limit
        Of an integer: beyond any machine, so that only those are told of it who pass it.
    choices
        The texts that are allowed.
    none
        What None stands for, in words; empty where None is not allowed.
    search
        What is tuned if nothing else is asked for: a Range or some values; None where it is not.
    guessed
        Whether the kind is only that of a default, in a class that declares no types: other values may do as
        well, and the class checks them itself.
    """

    name: str
    kind: type | str | None
    default: Any = REQUIRED
    help: str = ""
    unit: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    limit: float | None = None
    choices: tuple[str, ...] = ()
    none: str = ""
    search: Range | tuple[Any, ...] | None = None
    guessed: bool = False
    values: str = ""

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def optional(self) -> bool:
        """Whether None is allowed."""
        return bool(self.none) or self.default is None

    @property
    def default_text(self) -> str:
        """The default as help and reference show it."""
        if self.required:
            return "required"
        if self.default is None:
            return self.none or "none"
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    @property
    def range_text(self) -> str:
        """The allowed values as help and reference show them."""
        if self.choices:
            *others, last = self.choices
            return f"{', '.join(others)} or {last}" if others else last
        limits = {">": self.above, ">=": self.least, "<": self.below, "<=": self.most}
        return " and ".join(
            f"{sign} {bound if isinstance(bound, int) else format(bound, 'g')}"
            for sign, bound in limits.items()
            if bound is not None
        )

    def check(self, value: Any) -> Any:
        """The clean value, or a ValueError that names the setting, what it must be, and what it is."""
        if self.guessed or (value is None and self.optional):
            return checks.plain(value)
        if self.kind is int:
            return self._check_integer(value)
        if self.kind is float:
            return self._check_real(value)
        if self.kind is bool:
            return checks.flag(self.name, value)
        if self.choices:
            return checks.choice(self.name, value, self.choices)
        if self.kind is str and not isinstance(value, str):
            raise ValueError(f"{self.name} must be a text, got {checks.short_repr(value)}")
        return checks.plain(value)

    def _check_integer(self, value: Any) -> int:
        (low, low_is_open), (high, high_is_open) = self._low, self._high
        least = most = None
        if low > -math.inf:
            least = math.floor(low) + 1 if low_is_open else math.ceil(low)
        if high < math.inf:
            most = math.ceil(high) - 1 if high_is_open else math.floor(high)
        limit = checks.MOST if self.limit is None else int(self.limit)
        return checks.integer(self.name, value, least=least, most=most, limit=limit)

    def _check_real(self, value: Any) -> float:
        (low, low_is_open), (high, high_is_open) = self._low, self._high
        return checks.real(
            self.name, value, least=low, most=high, open_left=low_is_open, open_right=high_is_open
        )

    @property
    def _low(self) -> tuple[float, bool]:
        """The greatest lower limit, and whether it cannot be attained."""
        limits = (-math.inf, False), (self.least, False), (self.above, True)
        return max((bound, is_open) for bound, is_open in limits if bound is not None)

    @property
    def _high(self) -> tuple[float, bool]:
        """The least upper limit, and whether it cannot be attained."""
        limits = (math.inf, True), (self.most, True), (self.below, False)
        bound, is_closed = min((bound, is_closed) for bound, is_closed in limits if bound is not None)
        return bound, not is_closed


def setting(default: Any = REQUIRED, *, help: str, kw_only: bool = False, **declaration: Any) -> Any:
    """A dataclass field that declares a setting; the keywords are those of `Setting`.

    default
        The value that it has if none is given; without one it must be given.
    help
        What it does, as a sentence.
    kw_only
        Whether it can be given by name alone.
    declaration
        Limits and more: `least`, `most`, `above`, `below`, `choices`, `unit`, `none`, `search` and `kind`.

    Returns a field for a class that is a `dataclass`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import fasturl as fu
    >>> @dataclass(frozen=True)
    ... class Rounds(fu.Declared):
    ...     rounds: int = fu.setting(3, least=1, help="How often to look.")
    >>> Rounds(rounds=5).settings()
    {'rounds': 5}
    """
    keywords = [field.name for field in dataclasses.fields(Setting) if field.name not in ("name", "default")]
    for keyword in declaration:
        if keyword not in keywords:
            raise ValueError(f"{keyword} is not a keyword of setting{checks.nearest(keyword, keywords)}")
    if isinstance(declaration.get("kind"), str):
        checks.choice("kind", declaration["kind"], PARTS)
    metadata = {_KEY: {"help": help, **declaration}}
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata, kw_only=kw_only)
    return dataclasses.field(default=default, metadata=metadata, kw_only=kw_only)


@functools.cache
def settings_of(declaring: type) -> Mapping[str, Setting]:
    """The settings that a class declares, in their order; ValueError for one that is not declared."""
    if any(isinstance(value, dataclasses.Field) for value in vars(declaring).values()):
        raise ValueError(f"{declaring.__name__} is no dataclass: write @dataclass directly above the class")
    if declared_fields(declaring):
        fields = [field for field in dataclasses.fields(declaring) if field.init]
        return types.MappingProxyType({field.name: _from_field(declaring, field) for field in fields})
    parameters = inspect.signature(declaring).parameters
    return types.MappingProxyType({name: _from_parameter(declaring, one) for name, one in parameters.items()})


def clean_settings(declaring: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of settings of a class, checked where it declares them by `setting`: of a class of somebody
    else's the types are a guess."""
    declared = declared_fields(declaring)
    return {
        name: declared[name].check(value) if name in declared else value for name, value in values.items()
    }


class Declared:
    """A dataclass whose settings are checked, and made clean, when it is made.

    Fields that are not declared by `setting` are left alone. A subclass with a `__post_init__` of its own
    calls this one first.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import fasturl as fu
    >>> @dataclass(frozen=True)
    ... class Rate(fu.Declared):
    ...     rate: float = fu.setting(0.1, above=0, most=1, help="Step size.")
    >>> Rate(rate=2)
    Traceback (most recent call last):
    ValueError: rate must be a number in (0, 1], got 2.0
    """

    def __post_init__(self) -> None:
        declaring: Any = type(self)
        for name, declared in declared_fields(declaring).items():
            checks.keep(self, **{name: declared.check(getattr(self, name))})

    def settings(self) -> dict[str, Any]:
        """All settings by name."""
        declaring: Any = type(self)
        return {name: getattr(self, name) for name in settings_of(declaring)}

    def _repr_html_(self) -> str:
        """In a notebook: the class and its settings."""
        declaring: Any = type(self)
        rows = {name: getattr(self, name) for name in declared_fields(declaring)}
        return notebook.table(rows, declaring.__name__)


def declaration_problem(declaring: type) -> str:
    """What is wrong with the declared settings of a class, in one line; nothing where all is well."""
    try:
        settings_of(declaring)
    except ValueError as error:
        return str(error)
    for one in declared_fields(declaring).values():
        defaults = () if one.required or one.default is None else (one.default,)
        searched = (one.search.low, one.search.high) if isinstance(one.search, Range) else one.search or ()
        for value in (*defaults, *searched):
            try:
                one.check(value)
            except ValueError as error:
                return f"{declaring.__name__} declares what it would refuse: {error}"
    return ""


def refuse_unknown(owner: str, names: Iterable[str], declared: Iterable[str]) -> None:
    """ValueError for a name that is not declared, with the nearest that is."""
    known = list(declared)
    for name in names:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"{name} is not a setting of {owner}{checks.nearest(name, known)}; {has}")


def refuse_without_effect(instance: object, names: Iterable[str], condition: str) -> None:
    """ValueError for a setting that is given where it has no effect; `condition` says where that is, and
    why. A setting at its default is not told from one that is left out."""
    declaring: Any = type(instance)
    declared = declared_fields(declaring)
    for name in names:
        if (value := getattr(instance, name)) != declared[name].default:
            raise ValueError(f"{name} must be left out when {condition}, got {checks.short_repr(value)}")


@functools.cache
def declared_fields(declaring: type) -> Mapping[str, Setting]:
    """Those fields of a dataclass that `setting` declares."""
    if not dataclasses.is_dataclass(declaring):
        return types.MappingProxyType({})
    fields = [field for field in dataclasses.fields(declaring) if field.init and _KEY in field.metadata]
    return types.MappingProxyType({field.name: _from_field(declaring, field) for field in fields})


def _from_field(declaring: type, field: dataclasses.Field[Any]) -> Setting:
    if _KEY not in field.metadata:
        raise ValueError(
            f"{field.name} of {declaring.__name__} is not declared: write it as setting(default, help=...)"
        )
    declaration = dict(field.metadata[_KEY])
    kind = declaration.pop("kind", None) or _kind(_annotation(declaring, field.name, field.type))
    default = REQUIRED if isinstance(field.default, type(dataclasses.MISSING)) else field.default
    return Setting(field.name, kind, default, **declaration)


def _from_parameter(declaring: type, parameter: inspect.Parameter) -> Setting:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        raise ValueError(
            f"{parameter.name} of {declaring.__name__} is not declared: its __init__ must name every setting"
        )
    default = REQUIRED if parameter.default is parameter.empty else parameter.default
    if parameter.annotation is not parameter.empty:
        kind = _kind(_annotation(declaring, parameter.name, parameter.annotation))
        return Setting(parameter.name, kind, default, guessed=kind is None)
    if default is REQUIRED:
        raise ValueError(
            f"{parameter.name} of {declaring.__name__} is not declared: give it a type or a default"
        )
    # a text such as "auto" often stands beside numbers, so it tells nothing of the kind
    kind = type(default) if isinstance(default, bool | int | float) else None
    return Setting(parameter.name, kind, default, guessed=True)


def _annotation(declaring: type, name: str, annotation: Any) -> Any:
    """An annotation as an object; a text that cannot be resolved stays what it is."""
    if not isinstance(annotation, str):
        return annotation
    for owner in (declaring, vars(declaring).get("__init__", declaring)):
        try:
            hints = typing.get_type_hints(owner)
        except Exception:  # an annotation of somebody else's may be any text
            continue
        if name in hints:
            return hints[name]
    return annotation


def _kind(annotation: Any) -> type | None:
    """The one plain type of an annotation such as `int | None`, if it has just one."""
    members = (
        typing.get_args(annotation)
        if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
        else (annotation,)
    )
    plain = [member for member in members if member is not type(None)]
    return plain[0] if len(plain) == 1 and plain[0] in _PLAIN else None

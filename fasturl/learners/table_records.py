"""Records of tables that have fields in common: those of several learners are written once.

A learner's tables are one flat named tuple, as the compiled loops take them, so that a class for the common
fields cannot be a field itself. `extending` puts its fields before those that a learner declares.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any


def extending(*bases: Any) -> Callable[[Any], Any]:
    """A decorator of a named tuple's class: the same record, with the fields of `bases` before its own."""

    def extended(own: Any) -> Any:
        fields = [name for record in (*bases, own) for name in record._fields]
        record = namedtuple(own.__name__, fields, module=own.__module__)  # type: ignore[misc]
        record.__doc__ = own.__doc__
        return record

    return extended

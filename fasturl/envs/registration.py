"""The ids under which Gymnasium finds environments: `fasturl/<class name>-v0` for every family that is known
by name, and `fasturl/BlockMDP-v0` for tables that a user hands over.

This file is also run by itself, as soon as Gymnasium is imported (see `startup`). So it imports nothing of
the package, which would bring Numba along: where fasturl is not in use yet, families are read off the texts
of entry points.
"""

from __future__ import annotations

import sys
import warnings
from importlib import metadata
from typing import Any, NamedTuple

# where it is the entry point of an older Gymnasium, that is being imported and has no attributes yet
from gymnasium.envs import registration as _gymnasium

_NAMESPACE = "fasturl/"
_GROUP = "fasturl.environments"
"""Entry points of families, as in `fasturl._base.names`."""


class _Family(NamedTuple):
    """A family by name: the package that it comes from, and where its class is, as module:name."""

    name: str
    package: str
    target: str

    @property
    def class_name(self) -> str:
        """The last part of the target, without the extras that an entry point may name behind it."""
        return self.target.rpartition(":")[2].partition("[")[0].rpartition(".")[2].strip()

    @property
    def id(self) -> str:
        """A class Corridor of any module is fasturl/Corridor-v0."""
        return f"{_NAMESPACE}{self.class_name}-v0"


def register() -> None:
    """Add all environments to Gymnasium's registry, once.

    Called when Gymnasium is imported, when `fasturl.envs` is, and when a program registers a family.

    Examples
    --------
    >>> import gymnasium
    >>> register()
    >>> "fasturl/BlockMDP-v0" in gymnasium.registry
    True
    """
    _add(f"{_NAMESPACE}BlockMDP-v0", "BlockMDPEnv", "BlockMDPVectorEnv")
    clashes = []
    for family in _families():
        if family.id not in _gymnasium.registry:
            _add(family.id, "ScalarEnv", "VectorEnv", env=family.name)
        elif _gymnasium.registry[family.id].kwargs.get("env") != family.name:
            clashes.append(family)
    for family in clashes:  # at the end: a warning may be an error, and nobody else is to blame
        warnings.warn(
            f"environment {family.name!r} of the package {family.package} gets no Gymnasium id, "
            f"since {family.id} is taken: make it as fasturl.envs.ScalarEnv({family.name!r})",
            stacklevel=2,
        )


def ids() -> list[str]:
    """The ids of the environments that Gymnasium knows from fasturl.

    Returns their names, which `gymnasium.make` takes.

    Examples
    --------
    >>> "fasturl/BlockMDP-v0" in ids()
    True
    """
    return sorted(identity for identity in _gymnasium.registry if identity.startswith(_NAMESPACE))


def _add(identity: str, scalar: str, vector: str, **arguments: Any) -> None:
    """Register an id with its two classes in `fasturl.envs` and the arguments that it stands for."""
    if identity not in _gymnasium.registry:
        _gymnasium.register(
            identity,
            entry_point=f"fasturl.envs:{scalar}",
            vector_entry_point=f"fasturl.envs:{vector}",
            kwargs=arguments,
        )


def _families() -> list[_Family]:
    """Every family that is known by name, those of fasturl first; no id follows from a target that names no
    class."""
    components = getattr(sys.modules.get("fasturl._base.names"), "components", None)
    if components is not None:
        families = [_Family(one.name, one.package, one.target) for one in components("environment").values()]
    else:
        families = _installed()
    return [family for family in families if family.class_name.isidentifier()]


def _installed() -> list[_Family]:
    """The families of installed packages, as `fasturl._base.names` finds them."""
    entries = metadata.entry_points(group=_GROUP)
    families = [_Family(entry.name, entry.dist.name if entry.dist else "", entry.value) for entry in entries]
    families.sort(key=lambda family: (family.package != "fasturl", family.package, family.name))
    first_of_name: dict[str, _Family] = {}
    for family in families:
        first_of_name.setdefault(family.name, family)
    return list(first_of_name.values())

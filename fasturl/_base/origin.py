"""Where a class comes from: what this package wrote was checked when it was written, and what a user wrote is
checked where it enters."""

from __future__ import annotations

_PACKAGE = __name__.partition(".")[0]


def is_ours(cls: type) -> bool:
    """Whether a class is one of this package's own."""
    return _is_here(cls.__module__)


def implemented_by_us(instance: object, method: str) -> bool:
    """Whether the method that an object has is one of this package's own, not one that somebody has put in
    its place."""
    return _is_here(getattr(getattr(instance, method, None), "__module__", None))


class in_method:
    """A context in which a method of somebody's component is called: what it raises goes on as it is, with a
    note that says whose method it was raised in. Methods of ours need none."""

    def __init__(self, method: str, owner: object) -> None:
        self._method, self._owner = method, owner

    def __enter__(self) -> None:
        """Nothing: a context made of a generator would take three times as long, for every call."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception) and not implemented_by_us(self._owner, self._method):
            error.add_note(f"in {self._method} of {type(self._owner).__name__}")


def _is_here(module: str | None) -> bool:
    return module is not None and (module == _PACKAGE or module.startswith(_PACKAGE + "."))

"""Registers the environments of fasturl, and of packages that add families to it, as soon as Gymnasium is
imported, by whoever imports it.

Gymnasium loads no plugins of its own accord since version 1.0. So the package installs this file beside
itself, and a `.pth` file that imports it whenever an interpreter starts. All it does then is to wait for an
import of Gymnasium; fasturl itself is imported when one of its environments is made.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing's own is not worth an import at every start
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class _WaitForGymnasium:
    def __init__(self) -> None:
        self._waits = True

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module that the other finders find, with one more thing to do after its import; None where that
        fails, so that these go on by themselves."""
        if name != "gymnasium" or not self._waits:
            return None
        self._waits = False  # the search below comes here again
        try:
            return self._with_registration(name)
        except Exception as error:  # such as a loader that lets nothing be added to it
            _warn(f"the environments of fasturl could not be registered: {error!r}")
            return None

    def _with_registration(self, name: str) -> ModuleSpec | None:
        from importlib.util import find_spec

        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register()

            # of this one loader object
            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


def register() -> None:
    """Run fasturl/envs/registration.py by itself: an import of the package would bring Numba along.

    It is also the entry point in the group `gymnasium.envs`, which Gymnasium before version 1.0, and whatever
    else reads the group, loads by itself. Nothing comes out of it: somebody is waiting for Gymnasium, or for
    another package that needs it.
    """
    try:
        from importlib.util import find_spec
        from runpy import run_path

        package = find_spec("fasturl")
        if package is not None and package.submodule_search_locations:
            run_path(f"{package.submodule_search_locations[0]}/envs/registration.py")["register"]()
    except Warning as warning:  # where warnings are errors
        _print(str(warning))
    except Exception as error:
        _warn(f"the environments of fasturl could not be registered: {error!r}")


def _warn(text: str) -> None:
    try:
        from warnings import warn

        warn(text, stacklevel=2)
    except Exception:  # where warnings are errors
        _print(text)


def _print(text: str) -> None:
    if sys.stderr is not None:  # as in programs without a terminal
        sys.stderr.write(f"{text}\n")  # at once, so that lines of several processes stay whole


sys.meta_path.insert(0, _WaitForGymnasium())

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
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                _register()

            # of this one loader object
            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec


def _register() -> None:
    """Run fasturl/envs/registration.py by itself: an import of the package would bring Numba along."""
    try:
        from importlib.util import find_spec
        from runpy import run_path

        package = find_spec("fasturl")
        if package is not None and package.submodule_search_locations:
            run_path(f"{package.submodule_search_locations[0]}/envs/registration.py")["register"]()
    except Warning as warning:  # where warnings are errors
        print(warning, file=sys.stderr)
    except Exception as error:  # Gymnasium itself is fine, and somebody is waiting for it
        _warn(f"the environments of fasturl could not be registered: {error!r}")


def _warn(text: str) -> None:
    from warnings import warn

    try:
        warn(text, stacklevel=2)
    except Warning:  # where warnings are errors
        print(text, file=sys.stderr)


sys.meta_path.insert(0, _WaitForGymnasium())

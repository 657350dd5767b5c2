"""Imports that only an extra brings."""

from __future__ import annotations

import importlib
from types import ModuleType


def need(module: str, extra: str, purpose: str, *, attribute: str | None = None) -> ModuleType:
    """Import a module of an extra, or say which extra to install; with an attribute, also where the module
    is too old to have it."""
    package = module.partition(".")[0]
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{purpose} needs {package}: pip install 'fasturl[{extra}]'") from error
    if attribute is not None and not hasattr(imported, attribute):
        version = getattr(importlib.import_module(package), "__version__", "this one")
        raise ImportError(
            f"{purpose} needs a newer {package} than {version}: pip install --upgrade 'fasturl[{extra}]'"
        )
    return imported

"""Imports that only an extra brings."""

from __future__ import annotations

import importlib
from types import ModuleType


def need(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a module of an extra, or say which extra to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'fasturl[{extra}]'") from error

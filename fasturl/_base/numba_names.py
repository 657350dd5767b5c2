"""Which of Numba's private names are used, in `numba_internals` alone, and what for.

A version of Numba without one of them is refused by name when the package is imported, and `pyproject.toml`
bounds the versions from above.
"""

from __future__ import annotations

import importlib
from typing import Any

import numba

VERSIONS = "numba>=0.68,<0.69"
"""The versions whose internals are known, as pyproject.toml has them."""

_BY_MODULE = {
    "numba.core.caching": (
        "the cache of kernels",
        "CompileResultCacheImpl.get_filename_base FunctionCache.disable FunctionCache.flush "
        "FunctionCache._index_key FunctionCache._load_overload FunctionCache.load_overload "
        "FunctionCache.save_overload "
        "UserProvidedCacheLocator.ensure_cache_path UserProvidedCacheLocator.get_suitable_cache_subpath",
    ),
    "numba.core.serialize": ("the cache of kernels", "dumps"),
    "numba.core.options": (
        "kernels that allocate nothing and have no entry that nobody calls",
        "DefaultOptions._nrt DefaultOptions.no_cfunc_wrapper DefaultOptions.no_cpython_wrapper",
    ),
    "numba.core.cpu": (
        "code over C memory",
        "CPUContext.call_conv CPUContext.cast CPUContext.create_module CPUContext.get_abi_sizeof "
        "CPUContext.get_constant CPUContext.get_data_type CPUContext.get_dummy_value "
        "CPUContext.get_value_type CPUContext.insert_const_string",
    ),
    "numba.core.base": (
        "entries of tables by their place",
        "BaseContext.enable_boundscheck BaseContext.make_array BaseContext.pack_value "
        "BaseContext.unpack_value",
    ),
    "numba.core.cgutils": (
        "code over C memory, and entries of tables",
        "alloca_once get_item_pointer unpack_tuple",
    ),
    "numba.np.arrayobj": ("code over C memory", "make_array populate_array"),
    "numba.core.ccallback": ("functions of the C face", "CFunc.compile"),
    "numba.core.compiler": (
        "functions of the C face",
        "CompilerBase DefaultPassBuilder.define_nopython_pipeline",
    ),
    "numba.core.compiler_machinery": ("functions of the C face", "register_pass"),
    "numba.core.lowering": ("functions of the C face", "Lower.create_cfunc_wrapper"),
    "numba.core.sigutils": ("functions of the C face", "normalize_signature"),
    "numba.core.typed_passes": ("functions of the C face", "BaseNativeLowering NativeLowering"),
}
NAMES = {f"{module}:{name}": use for module, (use, names) in _BY_MODULE.items() for name in names.split()}
"""Every name that is used, as module:name, and what it is for."""


def find(name: str) -> Any:
    """What a name of `NAMES` stands for; an ImportError or AttributeError where Numba has none."""
    module, _, path = name.partition(":")
    value = importlib.import_module(module)
    for attribute in path.split("."):
        value = getattr(value, attribute)
    return value


def check_names() -> None:
    """Raise an ImportError that tells which private names this version of Numba lacks."""
    missing = []
    for name, use in NAMES.items():
        try:
            find(name)
        except (ImportError, AttributeError):
            missing.append(f"{name.replace(':', '.')} (for {use})")
    if missing:
        raise ImportError(f"numba {numba.__version__} has no {', '.join(missing)}: install {VERSIONS!r}")

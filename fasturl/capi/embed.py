"""Build libfasturl: a shared library that starts Python on its first call and forwards to the table.

cffi writes the part that embeds Python; the functions of fasturl.h are one line each, made from the header.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import cffi

from .._base.whole_files import refusals, whole_files
from . import binding, header
from .checks import MESSAGES

MODULE = "_fasturl_embedded"
LIBRARY = "libfasturl.dylib" if sys.platform == "darwin" else "libfasturl.so"

_FUNCTION = re.compile(
    r"^typedef (int32_t |const char \*)fasturl_(\w+)_fn\((.*?)\);", re.DOTALL | re.MULTILINE
)

_START = """
import site
for folder in {folders!r}:
    site.addsitedir(folder)
from {module} import ffi

@ffi.def_extern()
def fasturl_load_table():
    from fasturl import capi
    return ffi.cast("void *", int(capi.ffi.cast("intptr_t", capi.table())))
"""

_TABLE = """
#include "fasturl.h"
static void *fasturl_load_table(void);
static const fasturl_table *loaded;
const fasturl_table *fasturl_get_table(void)
{
    if (!loaded)
        loaded = (const fasturl_table *)fasturl_load_table();
    return loaded;
}
"""


def build(folder: Path) -> Path:
    """Build the library in a folder and return its path."""
    if sys.platform == "win32":
        raise OSError("libfasturl is not built on Windows: call the kernels through fasturl.capi in Python")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        raise OSError(
            "libfasturl needs a Python that was built as a shared library (configure --enable-shared), which "
            "this one was not"
        )
    target = folder.resolve() / LIBRARY
    with refusals(target):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            os.replace(_compiled(Path(work)), target)
    return target


def _compiled(folder: Path) -> Path:
    """Write the source of the library to a folder, compile it there and return the path of the library."""
    source, library = folder / "embedded.c", folder / LIBRARY
    with contextlib.redirect_stdout(io.StringIO()):  # cffi tells what it writes
        _builder().emit_c_code(str(source))
    command = [*_compiler(), str(source), "-o", str(library), *_python_libraries()]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except (FileNotFoundError, PermissionError):
        raise OSError(
            f"libfasturl needs a C compiler to be built, and {command[0]!r} cannot be run: CC names the "
            "compiler"
        ) from None
    if done.returncode != 0:
        raise OSError(f"libfasturl could not be built: {done.stderr.strip()}")
    return library


def kept_library() -> Path:
    """The path of the library in `default_folder()`, which is built where there is none that is whole: bytes
    that are not what was written would be run as machine code."""
    folder = default_folder().resolve()
    library = folder / LIBRARY
    if not _is_whole(library):
        content = build(folder).read_bytes()
        with whole_files(digest_of(library)) as (draft,):
            assert draft is not None, "as one is asked for"
            draft.write_bytes(hashlib.sha256(content).digest())
    return library


def digest_of(library: Path) -> Path:
    """The file that holds the digest of a library: what stands in the library itself is the linker's."""
    return library.with_suffix(".sha256")


def _is_whole(library: Path) -> bool:
    try:
        return digest_of(library).read_bytes() == hashlib.sha256(library.read_bytes()).digest()
    except OSError:
        return False


def default_folder() -> Path:
    """Where `fasturl capi --libs` keeps the library: a place of its own for each Python environment, whose
    paths are built into it."""
    cache = binding.folder()
    if cache is None:
        raise OSError(
            "there is no cache folder to build libfasturl in: set FASTURL_CACHE_DIR, or choose one with "
            "--build"
        )
    built_in = (sys.version, sys.prefix, _python_libraries(), _site_folders())
    return cache / f"lib-{hashlib.sha256(repr(built_in).encode()).hexdigest()[:16]}"


def cflags() -> list[str]:
    return [f"-I{header.PATH.parent}"]


def libs(folder: Path) -> list[str]:
    return [f"-L{folder}", "-lfasturl", f"-Wl,-rpath,{folder}"]


def _builder() -> cffi.FFI:
    builder = cffi.FFI()
    builder.embedding_api("void *fasturl_load_table(void);")
    builder.set_source(MODULE, _TABLE + "".join(_forwarders()))
    builder.embedding_init_code(_START.format(folders=_site_folders(), module=MODULE))
    return builder


def _site_folders() -> list[str]:
    """Where the embedded Python finds the package and what it needs."""
    paths = sysconfig.get_paths()
    return sorted({paths["purelib"], paths["platlib"], str(Path(__file__).parents[2])})


def _forwarders() -> list[str]:
    declared = {
        name: (kind.strip(), " ".join(arguments.split()))
        for kind, name, arguments in _FUNCTION.findall(header.PATH.read_text("utf-8"))
    }
    functions = []
    for name in header.FUNCTIONS:
        kind, arguments = declared[name]
        names = ", ".join(re.split(r"[ *]", argument)[-1] for argument in arguments.split(","))
        missing = f'"{MESSAGES["FASTURL_E_LIBRARY"]}"' if name == "strerror" else "FASTURL_E_LIBRARY"
        functions.append(
            f"{kind} fasturl_{name}({arguments})\n{{\n"
            f"    const fasturl_table *table = fasturl_get_table();\n"
            f"    return table ? table->{name}({names}) : {missing};\n}}\n"
        )
    return functions


def _compiler() -> list[str]:
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    return [*command, "-O2", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}", *cflags()]


def _python_libraries() -> list[str]:
    folder, version = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDVERSION")
    return [f"-L{folder}", f"-lpython{version}", f"-Wl,-rpath,{folder}"]

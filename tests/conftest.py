"""Settings of the whole suite."""

import os
import shutil

# what is checked for its indices need not be fast
if os.environ.get("NUMBA_BOUNDSCHECK"):
    os.environ.setdefault("NUMBA_OPT", "1")

import hypothesis
import numba
import numpy as np
import pytest
from command_line import WARM, fasturl_alone
from registrations import passing_registrations

os.environ["MPLBACKEND"] = "Agg"
for name in ("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE", "COLUMNS", "PYTHONWARNINGS", "PYTHONDEVMODE"):
    os.environ.pop(name, None)  # commands that tests run print what they print off a terminal

# The same examples every time, and no deadline: the first example of a kernel pays for its compilation.
# What is not compiled is slow, and the same program as its reference but for the loops: half of them will do.
hypothesis.settings.register_profile(
    "fasturl",
    deadline=None,
    derandomize=True,
    max_examples=16 if numba.config.DISABLE_JIT else 32,
    database=None,
)
hypothesis.settings.load_profile("fasturl")


if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # for the instances that test files draw while they are collected


LONGEST = ("test_warmup.py", "test_plugin_package.py", "test_docs_commands.py", "test_compile_cache.py")
"""Files of tests that take minutes, in processes of their own. A worker that met one of them last would work
alone."""


def pytest_ignore_collect(collection_path, config):
    """A file without any of the marks that are asked for is not even imported."""
    asked_for = config.option.markexpr
    if not asked_for or "not" in asked_for.split() or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    has_none = not any(f"mark.{name}" in text for name in asked_for.split() if name not in ("and", "or"))
    return True if has_none else None  # None lets others decide


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Before the whole suite is spread over processes, all kernels are compiled, for else each of them would
    compile what it meets."""
    config = session.config
    whole = config.args_source is config.ArgsSource.TESTPATHS and not config.option.markexpr
    spread = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if whole and spread and not numba.config.DISABLE_JIT:
        fasturl_alone("warmup").check_returncode()
        os.environ[WARM] = "1"


@pytest.fixture(autouse=bool(numba.config.DISABLE_JIT))
def uint64_wraps_around():
    """Not compiled, the generator's additions are numpy scalars, which warn when they wrap around as they
    should."""
    with np.errstate(over="ignore"):
        yield


@pytest.fixture(autouse=True)
def registrations_end_with_their_test():
    """Tests of one process must not meet what another one has registered."""
    with passing_registrations():
        yield


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of a shared library of C plug-ins."""
    from c_face import AFFINE, shared_library
    from c_plugins import SOURCE

    return shared_library(tmp_path_factory.mktemp("plugins"), AFFINE + SOURCE)


@pytest.fixture(scope="session")
def plugins(library):
    """The same library, opened."""
    from c_plugins import ABI

    return ABI.dlopen(library)


@pytest.fixture(scope="module")
def hasty_databases():
    """SQLite does not wait for the disk at every commit: what is lost with the power is not tested, and all
    processes of this machine see the same as ever."""
    event = pytest.importorskip("sqlalchemy.event")
    engine = pytest.importorskip("sqlalchemy.engine").Engine

    def hurry(connection, _record):
        connection.execute("PRAGMA synchronous = OFF")

    event.listen(engine, "connect", hurry)
    yield
    event.remove(engine, "connect", hurry)


@pytest.fixture
def nothing_registered(monkeypatch):
    """A test finds nothing registered; what it registers is gone after it, and unknown to Gymnasium."""
    from fasturl._base import names

    before = {kind: dict(known) for kind, known in names._registered.items()}
    monkeypatch.setattr(names, "_listeners", [])
    for known in names._registered.values():
        known.clear()
    yield
    for kind, known in before.items():
        names._registered[kind] = known
    names.forget_installed()


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with the two cells of `small_store` over seeds 0..5; nobody writes to it."""
    from small_store import fill

    from fasturl.experiments.running.store import Store

    folder = tmp_path_factory.mktemp("finished") / "out"
    fill(Store(folder, create=True))
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of the finished one, to do with as a test likes."""
    return shutil.copytree(finished, tmp_path / "out")

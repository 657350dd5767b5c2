"""`fasturl warmup`: nothing is left to compile after it, for Python or for C."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import WARM, fasturl, fasturl_alone

from fasturl.cli import warmup

EVERY_KERNEL = """
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from fasturl import CACHE_FOLDER, _kernels
from fasturl.cli.warmup import compile_kernels

compile_kernels(n_jobs=1)
modules = [import_module(found.name) for found in iter_modules(_kernels.__path__, "fasturl._kernels.")]
for module in modules:
    for name, kernel in vars(module).items():
        if not isinstance(kernel, Dispatcher) or isinstance(kernel._cache, NullCache):
            continue
        stem = f"{Path(kernel.py_func.__code__.co_filename).stem}.{kernel.py_func.__name__}-"
        if not any(CACHE_FOLDER.rglob(f"{stem}*.kernel")):
            print(module.__name__, name, "is left out")
        if kernel.stats.cache_misses:
            print(module.__name__, name, "was not kept")
"""
"""Prints which kernels a warm-up leaves out, and which ones it still compiles after another one."""


C_FACE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from numba.core.event import install_recorder
from c_face import done, dynamics, start_learner, stream
from strategies import latent_labels
import fasturl as fu
from fasturl._base import names
from fasturl.capi import binding, functions
from fasturl.learners import CompiledLearner
print([name for name in functions.__all__ if not binding.compiled(name).cache_hits])
tables, _kept = dynamics(fu.LockBernoulli(3).instance(7))
with install_recorder("numba:compile") as compiled:
    for one in names.components("learner").values():
        if one.built_in and issubclass(one.cls, CompiledLearner):
            learner = start_learner(one.name, None, stream(7, 3), horizon=3, episodes=9)
            done("learner_learn", learner, tables, 5, latent_labels(5, 3, 3), 5, stream(7, 1), np.empty(5))
            done("learner_policy", learner, np.empty((3, 3), np.int64))
            actions = np.zeros((4, 3), np.int64)
            done("learner_replay", learner, 4, np.zeros((4, 4), np.int64), actions, np.zeros((4, 3)))
            done("learner_final_policy", learner, np.empty((3, 3, 4)))
print([event.data["dispatcher"].py_func.__name__ for _, event in compiled.buffer])
"""
"""Prints which functions of the C face a C program would compile when it first starts, and which loops of
learners by name when it first calls them."""


def test_warmup_fills_the_cache_with_every_kernel():
    """In the cache of all tests, so that what is compiled here need not be compiled there; where the whole
    suite runs, that has been done (conftest.py)."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    options = {"env": environment, "capture_output": True, "text": True, "check": True}
    if WARM not in os.environ:
        done = fasturl_alone("warmup", env=environment)
        assert re.search(r"kernels compiled in [\d.]+ s, kept in ", done.stdout)
    assert re.search(r"warm: \d+ compiled kernels are kept", fasturl_alone("info", env=environment).stdout)
    done = subprocess.run([sys.executable, "-P", "-c", EVERY_KERNEL], **options)
    assert done.stdout == ""
    done = subprocess.run([sys.executable, "-P", "-c", C_FACE, str(Path(__file__).parent)], **options)
    assert done.stdout == "[]\n[]\n"


@pytest.mark.parametrize("folder", [None, Path("somewhere")])
def test_a_number_of_processes_that_cannot_be_is_refused_with_or_without_a_cache(folder, monkeypatch):
    monkeypatch.setattr(warmup, "CACHE_FOLDER", folder)
    done = fasturl("warmup", "--n-jobs", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fasturl: n_jobs must be an integer >= 1, got 0\n"


def test_a_cache_without_kernels_is_cold(tmp_path):
    done = fasturl_alone("info", env=os.environ | {"FASTURL_CACHE_DIR": str(tmp_path)})
    assert "cold" in done.stdout

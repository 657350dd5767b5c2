"""What differs between systems: the branches for Windows and macOS, tried here by pretending to be there."""

import builtins
import math
import os
import platform
import sys

import pytest

from fasturl._base import c_functions, compile_cache, memory, workers
from fasturl.capi import embed
from fasturl.experiments.running import backends, processes


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.mark.parametrize(
    ("system", "variables", "place"),
    [
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/fasturl"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/fasturl"),
        ("darwin", {}, "/home/me/Library/Caches/fasturl"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/fasturl"),
        ("win32", {}, "/home/me/AppData/Local/fasturl"),
        ("win32", {"FASTURL_CACHE_DIR": "/mine"}, "/mine"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, system, variables, place):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "FASTURL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (variables | {"HOME": "/home/me"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert compile_cache._root().as_posix() == place


def test_without_affinities_all_cores_are_used(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert workers.available_cores() == 6


def test_where_the_system_does_not_tell_no_memory_is_refused(monkeypatch, tmp_path):
    real_import = builtins.__import__

    def without_resource(name, *arguments, **keywords):
        if name == "resource":
            raise ImportError(name)
        return real_import(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_resource)
    monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "missing")
    memory._least_limit_of_groups.cache_clear()
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert memory.memory_limit() == math.inf
    memory.refuse_beyond_limit("horizon", 10**9, "a run", 1e30)
    memory._least_limit_of_groups.cache_clear()


def test_on_windows_nobody_asks_by_a_signal_whether_a_process_lives(monkeypatch):
    """There, signal 0 would end it."""
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal was sent"))
    assert not processes.is_gone(platform.node(), 12345)


def test_on_windows_a_c_function_is_not_known_by_its_library(windows):
    assert c_functions._library_and_symbol(id(None)) == (None, None)


def test_on_windows_workers_start_without_signal_masks(windows, monkeypatch):
    monkeypatch.delattr(backends.signal, "pthread_sigmask", raising=False)
    with backends._interrupts_held():
        pass


def test_on_windows_the_c_library_is_refused_with_a_word(windows, tmp_path):
    with pytest.raises(OSError, match="not built on Windows"):
        embed.build(tmp_path)

"""Measuring a kernel beside its slow reference, and the table of figures at the end."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cffi
import numpy as np
import pytest


class Work(NamedTuple):
    """The same work twice. `arguments(row)` makes fresh ones; `row` turns four integers into a generator."""

    kernel: Callable[..., Any]
    reference: Callable[..., Any]
    arguments: Callable[[Callable[[list[int]], Any]], tuple[Any, ...]]
    steps: int
    """Draws, transitions or table entries: what one call does that many of."""

    def time_reference(self, benchmark, rates, name):
        benchmark.group = name
        benchmark.pedantic(self.reference, setup=lambda: (self.arguments(list), {}), rounds=2)
        if seconds := best_seconds(benchmark):
            rates[name] = self.steps / seconds
            report(benchmark, steps_per_second=rates[name])

    def time_kernel(self, benchmark, rates, name, must_reach=None):
        benchmark.group = name
        benchmark.pedantic(self.kernel, setup=lambda: (self.arguments(row), {}), rounds=50, warmup_rounds=1)
        if seconds := best_seconds(benchmark):
            report(benchmark, steps_per_second=self.steps / seconds)
            if name in rates:
                ratio = self.steps / seconds / rates[name]
                report(benchmark, ratio=ratio)
                if must_reach:
                    report(benchmark, must_reach=must_reach)
                    assert ratio >= must_reach


def measured_beside_references(work, must_reach=None):
    """The tests `test_reference` and `test_kernel` of works by name; some kernels must reach a ratio, by
    name."""

    @pytest.mark.parametrize("name", work)
    def test_reference(benchmark, reference_rates, name):
        work[name].time_reference(benchmark, reference_rates, name)

    @pytest.mark.parametrize("name", work)
    def test_kernel(benchmark, reference_rates, name):
        work[name].time_kernel(benchmark, reference_rates, name, (must_reach or {}).get(name))

    return test_reference, test_kernel


def row(generator):
    return np.array(generator, np.uint64)


def report(benchmark, **figures):
    """Figures beside the timing: in the saved file and in the table at the end."""
    benchmark.extra_info.update(
        {
            name: float(f"{value:.4g}") if isinstance(value, float) else value
            for name, value in figures.items()
        }
    )


def best_seconds(benchmark):
    """The fastest round: what the machine can do when nothing else disturbs it; None where timing is switched
    off."""
    return benchmark.stats.stats.min if benchmark.stats else None


def open_c(name, declarations, folder):
    """A program in C of this folder, compiled for this machine: its FFI and its library."""
    if not shutil.which("gcc"):
        pytest.skip("there is no compiler gcc here")
    source, library = Path(__file__).with_name(f"{name}.c"), folder / f"{name}.so"
    # products and sums are rounded one by one, as they are in Python
    flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, source, "-o", library, "-lm"], check=True)
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    return ffi, ffi.dlopen(str(library))


def process(source, **environment):
    """What a Python process of its own prints as JSON. `peak_megabytes()` is there for its program, on Linux.

    getrusage would give the peak of the parent where that was higher.
    """
    peak = """
        def peak_megabytes():
            lines = open("/proc/self/status").read().splitlines()
            return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:"))
    """
    program = "import json\n" + textwrap.dedent(peak) + textwrap.dedent(source)
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def reference_rates():
    """Steps per second of the references measured so far, by group."""
    return {}


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    rows = (
        [(bench.name, bench.extra_info) for bench in session.benchmarks if bench.extra_info]
        if session
        else []
    )
    if not rows:
        return
    terminalreporter.section("figures")
    width = max(len(name) for name, _ in rows)
    for name, figures in rows:
        terminalreporter.write_line(
            f"{name:<{width}}  " + "  ".join(f"{key}={value}" for key, value in figures.items())
        )

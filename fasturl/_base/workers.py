"""Tasks on all cores: a pool of threads whose tasks tell how far they are and can be given up.

The kernels run without the GIL, so threads use all cores and share what is compiled. Tasks are numbered, and
a thread that is done with one takes the next; the results are in the order of the numbers, whoever computed
them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

_POLL_SECONDS = 0.1

Result = TypeVar("Result")
Tick = Callable[[int], None]
"""Called by a task with the amount of work that it has done since its last call, which may be 0; there it is
ended if its result is no longer needed."""


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(
    task: Callable[[int, Tick], Result], count: int, n_jobs: int, on_progress: Callable[[int], None]
) -> list[Result]:
    """task(0, tick), ..., task(count - 1, tick), computed by `n_jobs` threads.

    `on_progress` is called now and then with the amount of work that all tasks have done. The first error of
    a task is raised, once the other threads have ended.

    A pool of `concurrent.futures` would do, but Ctrl-C while one waits for its futures may leave their locks
    held, and then nothing ends.
    """
    tasks = _Tasks(task, count)
    with _single_threaded_libraries() as limit:
        threads = [
            threading.Thread(target=tasks.work, args=(limit,), name=f"fasturl-{n}", daemon=True)
            for n in range(n_jobs)
        ]
        try:
            _start_all(threads)
            return tasks.wait_for_results(on_progress)
        finally:
            tasks.give_up()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()


class _Stopped(Exception):
    """Raised inside a task that is no longer needed, since the others were given up."""


@dataclass(frozen=True)
class _Failure:
    """What a thread puts in the place of a result when it fails."""

    error: BaseException


class _Tasks(Generic[Result]):
    """Numbered tasks that threads take one after another."""

    def __init__(self, task: Callable[[int, Tick], Result], count: int) -> None:
        self._task = task
        self._positions = iter(range(count))
        self._work_done = [0] * count
        self._results: SimpleQueue[tuple[int, Result] | _Failure] = SimpleQueue()
        self._stop = threading.Event()

    def work(self, prepare: Callable[[], object]) -> None:
        """What a thread does: `prepare`, then task after task until none is left or one fails."""
        if self._stop.is_set():  # the thread started too late, and what it prepares would outlast the others
            return
        try:
            prepare()
            for position in self._positions:
                self._tick(position, 0)
                self._results.put((position, self._task(position, partial(self._tick, position))))
        except BaseException as error:
            self._results.put(_Failure(error))

    def wait_for_results(self, on_progress: Callable[[int], None]) -> list[Result]:
        """The results of all tasks, in the order of their numbers; the first error of one is raised."""
        results: dict[int, Result] = {}
        last_call = time.perf_counter()
        while len(results) < len(self._work_done):
            try:
                result = self._results.get(timeout=_POLL_SECONDS)
            except Empty:
                pass
            else:
                if isinstance(result, _Failure):
                    raise result.error
                results[result[0]] = result[1]
            if time.perf_counter() - last_call > _POLL_SECONDS:
                on_progress(sum(self._work_done))
                last_call = time.perf_counter()
        on_progress(sum(self._work_done))  # at the end, which may have come soon after the last call
        return [results[position] for position in range(len(results))]

    def give_up(self) -> None:
        """Let every task end at its next tick."""
        self._stop.set()

    def _tick(self, position: int, amount: int) -> None:
        self._work_done[position] += amount
        if self._stop.is_set():
            raise _Stopped


def _start_all(threads: list[threading.Thread]) -> None:
    """ValueError where the system starts only some: where it lacks memory, those would soon lack it too."""
    for n_started, thread in enumerate(threads):
        try:
            thread.start()
        except RuntimeError:
            raise ValueError(
                f"n_jobs must be threads that the system can start, got {len(threads)}, of which "
                f"{n_started} started"
            ) from None


@contextmanager
def _single_threaded_libraries() -> Iterator[Callable[[], object]]:
    """One thread for each call into BLAS and OpenMP while tasks run in parallel; yields what a worker calls
    at its start.

    Their pools would fight with ours for the cores, and their sums depend on the number of threads. Where no
    oracle has been imported by now, no agent is going to use them.
    """
    if "fasturl.oracles" not in sys.modules:
        yield lambda: None
        return
    libraries = _thread_pools(len(sys.modules))
    with libraries.limit(limits=1):
        yield lambda: libraries.limit(limits=1)  # OpenMP keeps a limit for each thread


@cache
def _thread_pools(modules: int) -> Any:
    """The thread pools of all libraries that are loaded; they are searched for anew after further imports."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()

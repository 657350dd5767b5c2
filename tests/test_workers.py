"""The pool of threads: results in order, progress of all tasks together, and an end for those not needed."""

import threading
from contextlib import contextmanager

import pytest

from fasturl._base import workers
from fasturl._base.workers import in_threads


def ignore(work_done):
    pass


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_are_in_the_order_of_the_tasks(n_jobs):
    assert in_threads(lambda position, tick: position**2, 20, n_jobs, ignore) == [n**2 for n in range(20)]


def test_a_slow_first_task_comes_first():
    others_done = threading.Event()

    def task(position, tick):
        if position == 0:
            assert others_done.wait(timeout=60)
        elif position == 4:
            others_done.set()
        return position

    assert in_threads(task, 5, 2, ignore) == [0, 1, 2, 3, 4]


def test_progress_ends_with_the_work_of_all_tasks():
    def task(position, tick):
        for _ in range(position):
            tick(10)

    amounts = []
    in_threads(task, 4, 2, amounts.append)
    assert amounts == sorted(amounts)
    assert amounts[-1] == 60


def test_the_first_error_is_raised_and_ends_the_other_tasks_at_their_next_tick():
    running, begun = threading.active_count(), []
    second_runs = threading.Event()

    def task(position, tick):
        begun.append(position)
        if position == 0:
            assert second_runs.wait(timeout=60)
            raise ArithmeticError("first")
        second_runs.set()
        while True:
            tick(0)

    with pytest.raises(ArithmeticError, match="first"):
        in_threads(task, 10, 2, ignore)
    assert sorted(begun) == [0, 1]
    assert threading.active_count() == running


def test_what_ends_a_program_reaches_the_caller():
    def task(position, tick):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(task, 1, 1, ignore)


def test_an_error_while_progress_is_shown_ends_all_threads():
    running = threading.active_count()

    def task(position, tick):
        while True:
            tick(1)

    def fail(work_done):
        raise ArithmeticError("progress")

    with pytest.raises(ArithmeticError, match="progress"):
        in_threads(task, 2, 2, fail)
    assert threading.active_count() == running


def test_an_error_before_the_first_task_is_raised(monkeypatch):
    @contextmanager
    def broken_libraries():
        yield lambda: 1 / 0

    monkeypatch.setattr(workers, "_single_threaded_libraries", broken_libraries)
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda position, tick: position, 3, 2, ignore)


def test_a_task_may_return_an_exception():
    (result,) = in_threads(lambda position, tick: ValueError("a result"), 1, 1, ignore)
    assert isinstance(result, ValueError)

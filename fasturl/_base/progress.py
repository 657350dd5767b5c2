"""The progress of training, for whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import notebook, standard_error

_QUIET_SECONDS = 1.0
LINE_SECONDS = 60.0
"""Between two lines of progress where there is no terminal, so that a night's log can still be read."""


@contextmanager
def progress_bar(total: int, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """Yields what to call with the number of trajectories so far.

    On a terminal and in a notebook it is a bar, as it is wherever one is wanted; elsewhere a line a minute.
    """
    if wanted is False:
        yield lambda _: None
        return
    if notebook.in_notebook():
        with notebook.bar(total, "trajectories", wanted) as show_bar:
            yield show_bar
        return
    if wanted is None and not standard_error.is_terminal():
        yield _lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    begin = time.perf_counter()
    columns = (
        TextColumn("[bold]training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trajectories"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    bar = Progress(
        *columns, console=console, transient=console.is_terminal
    )  # elsewhere its last state is all that is written
    task = bar.add_task("", total=total)

    def show(completed: int) -> None:
        if not bar.live.is_started and (wanted or time.perf_counter() - begin > _QUIET_SECONDS):
            bar.start()
        bar.update(task, completed=completed)

    try:
        if wanted:
            show(0)
        yield show
    finally:
        bar.stop()


def _lines(total: int) -> Callable[[int], None]:
    last_line = time.monotonic()

    def show(completed: int) -> None:
        nonlocal last_line
        if (now := time.monotonic()) - last_line >= LINE_SECONDS:
            last_line = now
            standard_error.write_line(f"training: {completed:,} of {total:,} trajectories")

    return show

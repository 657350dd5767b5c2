"""Run cells over seeds, on this machine or on many, and keep what comes out.

The work is cut into seed blocks: some seeds of one cell. Workers compute, this process writes; a seed block
that is written is never computed again. Where the work is done does not change a bit of it, so a sweep may be
stopped anywhere, resumed elsewhere, or run twice at once.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..._base import checks, notebook, optional
from ..._base.exits import exits_are_faults
from ..._base.progress import LINE_SECONDS
from ..._version import __version__
from ...training import Recording, available_cores, train
from .backends import Backend, Local
from .cells import Cell
from .files import versions
from .store import Store, stored_seeds
from .time_left import TimeLeft

if TYPE_CHECKING:
    import pandas

    from ...run import Run

_BLOCK_STEPS = 20_000_000  # some seconds of work: that is lost at most when a sweep is killed
_BLOCK_SEEDS = 25  # so that quick cells are spread over workers too
_MOST_BLOCKS = 2_000  # more files would make a folder slow to read
_IMPORTED_AFTER = time.process_time()
"""Seconds of work after which this process had imported what a worker imports."""
_CALIBRATION_SECONDS = 10.0  # a dry run is waited for


@dataclass(frozen=True)
class SeedBlock:
    """Some seeds of a cell: what one worker computes at a time."""

    cell: Cell
    seeds: tuple[int, ...]

    @property
    def steps(self) -> int:
        return len(self.seeds) * run_steps(self.cell)


class Computed(NamedTuple):
    """What comes back from a worker."""

    block: SeedBlock
    run: Run | str  # the runs, or the reason why they cannot be made
    packages: dict[str, str]  # the versions that the worker has
    seconds: float  # that the worker took


def sweep(
    cells: Iterable[Cell],
    seeds: int | Iterable[int],
    out: str | Path,
    *,
    backend: Backend | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> pandas.DataFrame:
    """Run every cell over every seed, keep the results in the folder `out`, and return all that the folder
    holds.

    What is there already is not computed again. `backend` says where to compute: processes of this machine if
    not given.

    cells
        What to run.
    seeds
        A count n, for the seeds 0..n-1, or the seeds.
    out
        The folder.
    backend
        A `Local`, a `Dask` or a `Ray`.
    n_jobs
        How many runs are computed at the same time on this machine; all cores if not given.
    progress
        Whether to show progress as a bar; if not given, on a terminal or in a notebook.

    Returns the frame that `load` gives of the folder.

    Examples
    --------
    >>> import tempfile
    >>> from fasturl.experiments import Cell, sweep
    >>> cell = Cell.make("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, episodes=50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = sweep([cell], seeds=3, out=folder, n_jobs=1, progress=False)
    >>> sorted(frame["seed"].unique().tolist())
    [0, 1, 2]
    """
    chosen, wanted, folder = stored_seeds(seeds), _checked_cells(cells), checks.path("out", out)
    place, progress = chosen_backend(backend, n_jobs), checks.optional_flag("progress", progress)
    place.workers()
    if not wanted:
        raise ValueError("there is nothing to run: the grid is empty")
    optional.need("pyarrow", "experiments", "storing results")  # told before anything is computed
    optional.need("pandas", "experiments", "loading results")
    store = open_store(folder, wanted, chosen)
    complete(store, plan(store, wanted, chosen), place, progress)
    return store.frame()


def open_store(out: str | Path, cells: Sequence[Cell], seeds: Sequence[int]) -> Store:
    """The folder of results, which is made and written; one that holds all these runs need only be read."""
    try:
        return Store(out, create=True)
    except ValueError:
        with suppress(ValueError):
            store = Store(out)
            store.check_version()
            if not plan(store, cells, seeds):
                return store
        raise


def chosen_backend(backend: Backend | None, n_jobs: int | None) -> Backend:
    """Where to compute: the backend, or else `n_jobs` processes of this machine."""
    if backend is None:
        return Local(n_jobs)
    if not all(callable(getattr(backend, name, None)) for name in ("workers", "map")):
        raise ValueError(f"backend must be one such as Local(n_jobs=2), got {checks.short_repr(backend)}")
    if n_jobs is not None:
        raise ValueError(
            "n_jobs is for processes of this machine: leave it out where a backend is given, "
            f"got {checks.short_repr(n_jobs)}"
        )
    return backend


def _checked_cells(cells: Iterable[Cell]) -> list[Cell]:
    """ValueError for anything that is not a cell."""
    if not checks.are_several(cells):
        raise ValueError(f"cells must be several of Cell.make(...), got {checks.short_repr(cells)}")
    wanted = list(cells)
    for cell in wanted:
        if not isinstance(cell, Cell):
            raise ValueError(f"cells must be made by Cell.make(...), got {checks.short_repr(cell)}")
    return wanted


def plan(store: Store | None, cells: Iterable[Cell], seeds: Sequence[int]) -> list[SeedBlock]:
    """The blocks that are still missing.

    A block is long against the costs of a file and short against the sweep: a sweep makes some thousand
    files, or one a cell.
    """
    missing = {}
    for cell in dict.fromkeys(cells):
        there = store.seeds(cell) if store else set()
        missing[cell] = [seed for seed in seeds if seed not in there]
    most_steps = max(
        _BLOCK_STEPS, sum(len(left) * run_steps(cell) for cell, left in missing.items()) // _MOST_BLOCKS
    )
    most_seeds = max(_BLOCK_SEEDS, sum(map(len, missing.values())) // _MOST_BLOCKS)
    blocks = []
    for cell, left in missing.items():
        size = max(1, min(most_seeds, most_steps // run_steps(cell)))
        blocks += [SeedBlock(cell, tuple(left[first : first + size])) for first in range(0, len(left), size)]
    # the longest first: the last blocks to finish are then short
    return sorted(blocks, key=lambda block: -block.steps)


def run_steps(cell: Cell) -> int:
    """Steps of one run."""
    description = cell.environment().describe()
    return cell.player().trajectories(description, cell.episodes) * description.horizon


def complete(
    store: Store,
    blocks: Sequence[SeedBlock],
    backend: Backend,
    progress: bool | None = None,
    title: str = "",
) -> None:
    """Compute the blocks and write each as soon as it is there; ValueError at the end if cells cannot be
    trained. `title` goes before what is said of the progress."""
    if not blocks:
        return
    failed: dict[Cell, str] = {}
    with _progress(blocks, progress, title) as advance, closing(backend.map(compute, blocks)) as results:
        for block, run, packages, seconds in results:
            if packages["fasturl"] != __version__:
                raise ValueError(
                    f"a worker has fasturl {packages['fasturl']}, this machine has {__version__}: "
                    "install the same everywhere"
                )
            if isinstance(run, str):
                failed.setdefault(block.cell, run)
            else:
                store.write(block.cell, run, packages)
            advance(block, seconds)
    if failed:
        cells = dict.fromkeys(block.cell for block in blocks)
        first = next(cell for cell in cells if cell in failed)
        count = f"{len(failed)} of {len(cells)} cells cannot be trained, the others are finished"
        raise ValueError(f"{count}; {'the first' if len(failed) > 1 else 'it'} is {first}: {failed[first]}")


def compute(block: SeedBlock) -> Computed:
    """What a worker does.

    A reason why runs cannot be made is handed back like a result, so that one cell that cannot be trained
    does not end the work on all others.
    """
    cell, begin = block.cell, time.perf_counter()
    result: Run | str
    try:
        with exits_are_faults():
            cell.check_components()
            result = train(
                cell.environment(),
                cell.player(),
                cell.episodes,
                block.seeds,
                points=Recording(cell.points, cell.evaluate_every),
                n_jobs=1,
                progress=False,
            )
    except Exception as error:  # a component of somebody else's may fail in any way
        result = checks.reason_of(error)
    return Computed(block, result, versions(), time.perf_counter() - begin)


def estimate_seconds(blocks: Sequence[SeedBlock], n_workers: int | None = None) -> float:
    """How long the blocks should take, judged from short runs on this machine.

    One seed of a cell is played with a tenth and with a fifth of its episodes: what starts a run is told
    apart from what every episode costs. When the time for that is used up, the other cells are judged by the
    steps of those like them. Cells that cannot be trained are judged by all others. Workers start at the same
    time, and each needs about what this process needed: to import everything, and to load the kernels.
    """
    start = _IMPORTED_AFTER
    rates: dict[tuple[str, str], float] = {}
    total, known, unknown = 0.0, 0, 0
    begin = time.perf_counter()
    by_cell: dict[Cell, int] = {}
    for block in blocks:
        by_cell[block.cell] = by_cell.get(block.cell, 0) + len(block.seeds)
    waiting = sorted(by_cell, key=run_steps)
    kinds = {
        (cell.env, cell.agent): cell for cell in reversed(waiting)
    }  # the cheapest of each kind goes first
    for cell in dict.fromkeys([*kinds.values(), *waiting]):
        kind, steps = (cell.env, cell.agent), run_steps(cell) * by_cell[cell]
        if cell is kinds[kind] or time.perf_counter() - begin < _CALIBRATION_SECONDS:
            with suppress(ValueError):
                seconds, loading = _run_seconds(cell)
                rates[kind] = seconds / run_steps(cell)
                start += loading
        if kind in rates:
            total, known = total + rates[kind] * steps, known + steps
        else:
            unknown += steps
    if known:
        total *= (known + unknown) / known
    return start + total / (n_workers or available_cores())


def _run_seconds(cell: Cell) -> tuple[float, float]:
    """How long a run takes, and what came on top the first time: loading the kernels."""

    def play(episodes: int) -> float:
        begin = time.perf_counter()
        train(cell.environment(), cell.player(), episodes, [0], n_jobs=1, progress=False)
        return time.perf_counter() - begin

    short = max(min(cell.episodes, 50), cell.episodes // 10)
    long = min(cell.episodes, 2 * short)
    loaded = play(long)
    if loaded > _CALIBRATION_SECONDS:  # loading is little beside it, and a second look would take as long
        return loaded * cell.episodes / long, 0.0
    first, second = play(short), play(long)
    rest = (
        0.0 if long == cell.episodes else max(0.0, second - first) * (cell.episodes - long) / (long - short)
    )
    return second + rest, max(0.0, loaded - second)


@contextmanager
def _progress(
    blocks: Sequence[SeedBlock], wanted: bool | None, title: str
) -> Iterator[Callable[[SeedBlock, float], None]]:
    """Cells done, seeds done, time left: a bar on a terminal or in a notebook, otherwise a line a
    minute. Yields what to call with a block that is done and the seconds that a worker took."""
    if wanted is False:
        yield lambda block, seconds: None
        return
    left: dict[Cell, int] = {}
    for block in blocks:
        left[block.cell] = left.get(block.cell, 0) + len(block.seeds)
    n_cells, n_seeds = len(left), sum(left.values())
    begin, time_left = time.monotonic(), TimeLeft(blocks)

    def count(block: SeedBlock, seconds: float) -> None:
        left[block.cell] -= len(block.seeds)
        time_left.finish(block, seconds)

    def text() -> str:
        cells_done = sum(1 for seeds in left.values() if seeds == 0)
        counts = f"cells {cells_done}/{n_cells}  seeds {n_seeds - sum(left.values())}/{n_seeds}"
        counts = f"{title}  {counts}" if title else counts
        estimate = time_left.estimate(time.monotonic() - begin)
        return counts if estimate is None else f"{counts}  about {math.ceil(estimate / 60)} min left"

    if notebook.in_notebook():
        with notebook.bar(n_seeds, "runs", wanted) as show:

            def show_runs(block: SeedBlock, seconds: float) -> None:
                count(block, seconds)
                show(n_seeds - sum(left.values()))

            yield show_runs
        return
    if wanted is None and not sys.stderr.isatty():
        last_line = begin

        def tell(block: SeedBlock, seconds: float) -> None:
            nonlocal last_line
            count(block, seconds)
            if (now := time.monotonic()) - last_line >= LINE_SECONDS:
                last_line = now
                print(text(), file=sys.stderr, flush=True)

        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    # drawn ten times a second, as it would be, it takes two per cent of a core from the workers
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=2) as bar:
        task = bar.add_task(text(), total=sum(block.steps for block in blocks))

        def advance(block: SeedBlock, seconds: float) -> None:
            count(block, seconds)
            bar.update(task, advance=block.steps, description=text())

        yield advance

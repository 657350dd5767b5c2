"""Run cells over seeds, on this machine or on many, and keep what comes out.

The work is cut into seed blocks: some seeds of one cell. Workers compute, this process writes; a seed block
that is written is never computed again. Where the work is done does not change a bit of it, so a sweep may be
stopped anywhere, resumed elsewhere, or run twice at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..._base import checks, notebook, optional, standard_error
from ..._base.exits import exits_are_faults
from ..._base.progress import LINE_SECONDS
from ..._base.workers import available_cores
from ..._version import __version__
from ...training import Recording, train
from .backends import Backend, Local
from .cells import Cell
from .files import versions
from .store import Store, stored_seeds
from .time_left import TimeLeft

if TYPE_CHECKING:
    import pandas

    from ...run import Run

_BLOCK_STEPS = 20_000_000  # some seconds of work: that is lost at most when a sweep is killed
_SHORT_BLOCK_STEPS = 2_000_000  # a few tenths of a second, which are long against the costs of a file
_ENOUGH_BLOCKS = 64  # so that workers end together; a sweep that is too short for that has short blocks
_BLOCK_SEEDS = 25  # so that quick cells are spread over workers too
_MOST_BLOCKS = 2_000  # more files would make a folder slow to read
_IMPORT_SECONDS = time.process_time()
"""What this process took until here: about what a worker needs to import everything."""
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
    seed_list, cell_list, folder = stored_seeds(seeds), _checked_cells(cells), checks.path("out", out)
    place, progress = chosen_backend(backend, n_jobs), checks.optional_flag("progress", progress)
    place.workers()
    if not cell_list:
        raise ValueError("there is nothing to run: the grid is empty")
    optional.need("pyarrow", "experiments", "storing results")  # told before anything is computed
    optional.need("pandas", "experiments", "loading results")
    store = open_store(folder, cell_list, seed_list)
    complete(store, plan(store, cell_list, seed_list), place, progress)
    return store.frame()


def open_store(out: str | Path, cells: Sequence[Cell], seeds: Sequence[int]) -> Store:
    """The folder of results, which is made and written; one that holds all these runs need only be read."""
    try:
        return Store(out, create=True)
    except ValueError:
        with suppress(ValueError):
            store = Store(out)
            store.check_continues()
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
    """The cells as a list; ValueError for anything that is not a cell."""
    if not checks.are_several(cells):
        raise ValueError(f"cells must be several of Cell.make(...), got {checks.short_repr(cells)}")
    cell_list = list(cells)
    for cell in cell_list:
        if not isinstance(cell, Cell):
            raise ValueError(f"cells must be made by Cell.make(...), got {checks.short_repr(cell)}")
    return cell_list


def plan(store: Store | None, cells: Iterable[Cell], seeds: Sequence[int]) -> list[SeedBlock]:
    """The blocks that are still missing.

    A block is long against the costs of a file and short against the sweep: a long sweep makes some thousand
    files, or one a cell, and a short one some dozens, so that workers end together.
    """
    missing = {}
    for cell in dict.fromkeys(cells):
        stored = store.seeds(cell) if store else set()
        missing[cell] = [seed for seed in seeds if seed not in stored]
    total_steps = sum(len(cell_seeds) * run_steps(cell) for cell, cell_seeds in missing.items())
    total_seeds = sum(len(cell_seeds) for cell_seeds in missing.values())
    enough_steps = max(_SHORT_BLOCK_STEPS, total_steps // _ENOUGH_BLOCKS)
    most_steps = max(min(_BLOCK_STEPS, enough_steps), total_steps // _MOST_BLOCKS)
    most_seeds = max(_BLOCK_SEEDS, total_seeds // _MOST_BLOCKS)
    blocks = []
    for cell, cell_seeds in missing.items():
        size = max(1, min(most_seeds, most_steps // run_steps(cell)))
        for first in range(0, len(cell_seeds), size):
            blocks.append(SeedBlock(cell, tuple(cell_seeds[first : first + size])))
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
    reasons: dict[Cell, str] = {}
    with _progress(blocks, progress, title) as advance, closing(backend.map(compute, blocks)) as results:
        for block, run, packages, seconds in results:
            if packages["fasturl"] != __version__:
                raise ValueError(
                    f"a worker has fasturl {packages['fasturl']}, this machine has {__version__}: "
                    "install the same everywhere"
                )
            if isinstance(run, str):
                reasons.setdefault(block.cell, run)
            else:
                store.write(block.cell, run, packages)
            advance(block, seconds)
    if reasons:
        cells = dict.fromkeys(block.cell for block in blocks)
        first = next(cell for cell in cells if cell in reasons)
        count = f"{len(reasons)} of {len(cells)} cells cannot be trained, the others are finished"
        which = "the first" if len(reasons) > 1 else "it"
        raise ValueError(f"{count}; {which} is {first}: {reasons[first]}")


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
    start = _IMPORT_SECONDS
    seconds_per_step: dict[tuple[str, str], float] = {}
    total, known_steps, unknown_steps = 0.0, 0, 0
    begin = time.perf_counter()
    n_seeds = _seeds_by_cell(blocks)
    cheapest_first = sorted(n_seeds, key=run_steps)
    cheapest_of_kind = {(cell.env, cell.agent): cell for cell in reversed(cheapest_first)}
    for cell in dict.fromkeys([*cheapest_of_kind.values(), *cheapest_first]):
        kind, steps = (cell.env, cell.agent), run_steps(cell) * n_seeds[cell]
        if cell is cheapest_of_kind[kind] or time.perf_counter() - begin < _CALIBRATION_SECONDS:
            with suppress(ValueError):
                seconds, loading = _run_seconds(cell)
                seconds_per_step[kind] = seconds / run_steps(cell)
                start += loading
        if kind in seconds_per_step:
            total, known_steps = total + seconds_per_step[kind] * steps, known_steps + steps
        else:
            unknown_steps += steps
    if known_steps:
        total *= (known_steps + unknown_steps) / known_steps
    return start + total / (n_workers or available_cores())


def _seeds_by_cell(blocks: Iterable[SeedBlock]) -> dict[Cell, int]:
    """How many seeds of each cell the blocks have."""
    n_seeds: dict[Cell, int] = {}
    for block in blocks:
        n_seeds[block.cell] = n_seeds.get(block.cell, 0) + len(block.seeds)
    return n_seeds


def _run_seconds(cell: Cell) -> tuple[float, float]:
    """How long a run takes, and what came on top the first time: loading the kernels."""

    def play(episodes: int) -> float:
        begin = time.perf_counter()
        train(cell.environment(), cell.player(), episodes, [0], n_jobs=1, progress=False)
        return time.perf_counter() - begin

    short = max(min(cell.episodes, 50), cell.episodes // 10)
    long = min(cell.episodes, 2 * short)
    with_loading = play(long)
    if with_loading > _CALIBRATION_SECONDS:  # loading is little beside it, and another run would take as long
        return with_loading * cell.episodes / long, 0.0
    short_seconds, long_seconds = play(short), play(long)
    loading = max(0.0, with_loading - long_seconds)
    if long == cell.episodes:
        return long_seconds, loading
    further_seconds = max(0.0, long_seconds - short_seconds) * (cell.episodes - long) / (long - short)
    return long_seconds + further_seconds, loading


@contextmanager
def _progress(
    blocks: Sequence[SeedBlock], wanted: bool | None, title: str
) -> Iterator[Callable[[SeedBlock, float], None]]:
    """Cells done, seeds done, time left: a bar on a terminal or in a notebook, otherwise a line a
    minute. Yields what to call with a block that is done and the seconds that a worker took."""
    if wanted is False:
        yield lambda block, seconds: None
        return
    state = _SweepState(blocks, title)
    if notebook.in_notebook():
        with notebook.bar(state.n_seeds, "runs", wanted) as show:

            def show_runs(block: SeedBlock, seconds: float) -> None:
                state.finish(block, seconds)
                show(state.seeds_done)

            yield show_runs
    elif wanted is None and not standard_error.is_terminal():
        yield _line_a_minute(state)
    else:
        with _terminal_bar(state, sum(block.steps for block in blocks)) as advance:
            yield advance


class _SweepState:
    """How far a sweep of these blocks is; `title` goes before what is said of it."""

    def __init__(self, blocks: Sequence[SeedBlock], title: str) -> None:
        self._seeds_left, self._title = _seeds_by_cell(blocks), title
        self.n_seeds = sum(self._seeds_left.values())
        self.begin, self._time_left = time.monotonic(), TimeLeft(blocks)

    def finish(self, block: SeedBlock, seconds: float) -> None:
        """Note that a worker has computed a block, and for how long it did."""
        self._seeds_left[block.cell] -= len(block.seeds)
        self._time_left.finish(block, seconds)

    @property
    def seeds_done(self) -> int:
        return self.n_seeds - sum(self._seeds_left.values())

    def in_words(self) -> str:
        """Cells done, seeds done, and time left where that can be told."""
        cells_done = sum(1 for seeds in self._seeds_left.values() if seeds == 0)
        text = f"cells {cells_done}/{len(self._seeds_left)}  seeds {self.seeds_done}/{self.n_seeds}"
        if self._title:
            text = f"{self._title}  {text}"
        estimate = self._time_left.estimate(time.monotonic() - self.begin)
        return text if estimate is None else f"{text}  about {math.ceil(estimate / 60)} min left"


def _line_a_minute(state: _SweepState) -> Callable[[SeedBlock, float], None]:
    """What prints the state of a sweep now and then, where there is no terminal for a bar."""
    last_line = state.begin

    def advance(block: SeedBlock, seconds: float) -> None:
        nonlocal last_line
        state.finish(block, seconds)
        if (now := time.monotonic()) - last_line >= LINE_SECONDS:
            last_line = now
            standard_error.write_line(state.in_words())

    return advance


@contextmanager
def _terminal_bar(state: _SweepState, total_steps: int) -> Iterator[Callable[[SeedBlock, float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    # drawn ten times a second, as it would be, it takes two per cent of a core from the workers
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=2) as bar:
        task = bar.add_task(state.in_words(), total=total_steps)

        def advance(block: SeedBlock, seconds: float) -> None:
            state.finish(block, seconds)
            bar.update(task, advance=block.steps, description=state.in_words())

        yield advance

"""Run cells over seeds, on this machine or on many, and keep what comes out.

The work is cut into blocks: some seeds of one cell. Workers compute, this process writes; a block that is written is never
computed again. Where the work is done does not change a bit of it, so a sweep may be stopped anywhere, resumed elsewhere,
or run twice at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import validation
from ..training import available_cores, train
from .backends import Backend, Local
from .cells import Cell
from .store import Store

if TYPE_CHECKING:
    import pandas

    from ..runs import Run

_BLOCK_STEPS = 10_000_000
_BLOCK_SEEDS = 25


@dataclass(frozen=True)
class Block:
    """Some seeds of a cell: what one worker computes at a time."""

    cell: Cell
    seeds: tuple[int, ...]


def sweep(
    cells: Iterable[Cell],
    seeds: int | Iterable[int],
    out: str | Path,
    *,
    backend: Backend | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> pandas.DataFrame:
    """Run every cell over every seed, keep the results in the folder `out`, and return all that the folder holds.

    What is there already is not computed again. `backend` says where to compute: processes of this machine if not given.
    """
    chosen = validation.seeds(seeds)
    store = Store(out, create=True)
    complete(store, plan(store, cells, chosen), backend or Local(n_jobs), progress)
    return store.frame()


def plan(store: Store | None, cells: Iterable[Cell], seeds: Sequence[int]) -> list[Block]:
    """The blocks that are still missing."""
    blocks = []
    for cell in dict.fromkeys(cells):
        there = store.seeds(cell) if store else set()
        missing = [seed for seed in seeds if seed not in there]
        size = max(1, min(_BLOCK_SEEDS, _BLOCK_STEPS // (cell.episodes * cell.environment().horizon)))
        blocks += [Block(cell, tuple(missing[first : first + size])) for first in range(0, len(missing), size)]
    if not blocks and not any(True for _ in cells):
        raise ValueError("there is nothing to run: the grid is empty")
    # the longest first: the last blocks to finish are then short
    return sorted(blocks, key=lambda block: -len(block.seeds) * block.cell.episodes * block.cell.environment().horizon)


def complete(store: Store, blocks: Sequence[Block], backend: Backend, progress: bool | None = None) -> None:
    """Compute the blocks and write each as soon as it is there."""
    with _progress(blocks, progress) as advance:
        for block, run in backend.map(compute, blocks):
            store.write(block.cell, run)
            advance(block)


def compute(block: Block) -> tuple[Block, Run]:
    """What a worker does."""
    cell = block.cell
    return block, train(cell.environment(), cell.player(), cell.episodes, block.seeds, points=cell.points, n_jobs=1, progress=False)


def estimate_seconds(blocks: Sequence[Block], n_jobs: int | None = None) -> float:
    """How long the blocks should take here: each kind of cell is timed on one seed with a tenth of its episodes."""
    workers = n_jobs or available_cores()
    total, timed = 0.0, {}
    for block in blocks:
        if block.cell not in timed:
            trial = max(1, block.cell.episodes // 10)
            begin = time.perf_counter()
            train(block.cell.environment(), block.cell.player(), trial, [block.seeds[0]], n_jobs=1, progress=False)
            timed[block.cell] = (time.perf_counter() - begin) * block.cell.episodes / trial
        total += timed[block.cell] * len(block.seeds)
    return total / workers


@contextmanager
def _progress(blocks: Sequence[Block], wanted: bool | None) -> Iterator[Any]:
    """Cells done, seeds done, time left."""
    import sys

    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda block: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    left: dict[Cell, int] = {}
    work = {block: len(block.seeds) * block.cell.episodes * block.cell.environment().horizon for block in blocks}
    for block in blocks:
        left[block.cell] = left.get(block.cell, 0) + len(block.seeds)
    n_cells, n_seeds = len(left), sum(left.values())
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=sum(work.values()))

        def show() -> None:
            cells_done = sum(1 for count in left.values() if count == 0)
            bar.update(task, description=f"cells {cells_done}/{n_cells}  seeds {n_seeds - sum(left.values())}/{n_seeds}")

        def advance(block: Block) -> None:
            left[block.cell] -= len(block.seeds)
            bar.advance(task, work[block])
            show()

        show()
        yield advance

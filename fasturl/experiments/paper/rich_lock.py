"""The comparison on the rich lock: trajectories until solved at horizons 6 to 100, beside published budgets.

URL is told nothing: that states look different from level to level it finds out itself. OracleQ and OPSRL on
latent states are skylines: they need not learn to see. PCID is the baseline. It learns one level after the
other from 25 samples for each state and action, so it gets the trajectories that this takes for all levels,
and some to play what it has learned. The two good states of a level have the same past at switch 0.5, and
PCID cannot tell them apart, however many samples it gets.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base import checks, optional
from ..running.backends import Backend
from ..running.cells import Cell
from ..running.store import Store, stored_seeds
from ..running.sweeping import SeedBlock, chosen_backend, complete, plan
from .cells import RICH_LOCK, SEEDS
from .files import need_packages, work_in_words, write_figure, write_table
from .published_budgets import ORDER, PUBLISHED
from .solving import SUCCESSIVE, solved_by_seed, sum_up

if TYPE_CHECKING:
    import pandas

EPISODES = {6: 600, 12: 1_000, 25: 1_800, 50: 3_200, 100: 6_000}
"""Trajectories of a run, by horizon: a fifth more than URL takes on any seed, or more. PCID has others."""
SPACING = {6: 25, 12: 25, 25: 25, 50: 50, 100: 50}
"""Trajectories from one evaluation to the next, by horizon: URL plays 25 at a time."""
PCID_SAMPLES = 750
"""Trajectories that PCID learns a level from: 25 for each of 3 states and 10 actions. Its default is more
from H = 28 on, which at H = 100 would take longer than all else here."""
PCID_SPACING = 250
"""The same for PCID, whose policy changes with every level and no more often."""
AGENTS: dict[str, dict[str, Any]] = {
    "oracleq-lat": {},
    "opsrl-lat": {},
    "pcid": {"samples_per_level": PCID_SAMPLES},
    "url": {},
}
"""The agents with the settings that differ from their defaults, in the order in which they are run: those
that take seconds come first."""


def rich_lock_cells(
    agent: str, horizons: Iterable[int] = tuple(EPISODES), episodes_scale: float = 1.0
) -> list[Cell]:
    """The cells of an agent; `episodes_scale` shortens all runs for a quick look."""
    cells = []
    for horizon in horizons:
        episodes, spacing = _budget(agent, horizon)
        place, settings = {"horizon": horizon}, AGENTS[agent]
        count = max(1, round(episodes * episodes_scale))
        cells.append(Cell.make(RICH_LOCK, place, agent, settings, count, evaluate_every=spacing))
    return cells


def _budget(agent: str, horizon: int) -> tuple[int, int]:
    """Trajectories of a run, and from one evaluation to the next."""
    if agent != "pcid":
        return EPISODES[horizon], SPACING[horizon]
    return horizon * PCID_SAMPLES + SUCCESSIVE * PCID_SPACING, PCID_SPACING


@dataclass(frozen=True)
class Comparison:
    """What the comparison gives; the same is in the folder.

    table
        One row for each horizon, agent and rule, as `solving.sum_up` gives it, then a row for each published
        number; `source` says where a row comes from.
    by_seed
        One row for each horizon, agent, seed and rule.
    seconds
        How long it took.
    """

    folder: Path
    table: pandas.DataFrame
    by_seed: pandas.DataFrame
    seconds: float


@dataclass(frozen=True)
class Plan:
    """A comparison that was checked and not yet computed; `missing` are the runs that the folder lacks, by
    agent."""

    store: Store
    seeds: tuple[int, ...]
    cells: dict[str, list[Cell]]
    missing: dict[str, list[SeedBlock]]
    place: Backend

    @property
    def to_do(self) -> str:
        """A line that says how much there is to do."""
        n_cells = sum(map(len, self.cells.values()))
        missing = [block for blocks in self.missing.values() for block in blocks]
        return work_in_words(self.store, n_cells, len(self.seeds), missing)

    def carry_out(self, progress: bool | None = None) -> Comparison:
        """Run what is missing; sum up and draw."""
        from .rich_lock_figure import draw

        begin = time.perf_counter()
        for agent, blocks in self.missing.items():
            complete(self.store, blocks, self.place, progress, agent)
        ids = {cell.id for cells in self.cells.values() for cell in cells}
        about = [one for one in self.store.about() if one["cell"] in ids]
        by_seed = solved_by_seed(about, self.seeds)
        table = with_published(sum_up(by_seed, ORDER))
        folder = self.store.folder
        write_figure(draw(table), folder, RICH_LOCK)
        write_table(by_seed, folder / f"{RICH_LOCK}-seeds.csv")
        write_table(table, folder / f"{RICH_LOCK}.csv")
        return Comparison(folder, table, by_seed, time.perf_counter() - begin)


def planned(
    out: str | Path,
    *,
    seeds: int | Iterable[int],
    episodes_scale: float,
    place: Backend,
    horizons: Sequence[int] | None = None,
) -> Plan:
    """What `rich_lock` has to do: what is wrong or missing is said before anything is written or computed."""
    scale = checks.real("episodes_scale", episodes_scale, least=0, most=1, open_left=True)
    chosen = tuple(stored_seeds(seeds))
    cells = {agent: rich_lock_cells(agent, _horizons(horizons), scale) for agent in AGENTS}
    place.workers()
    need_packages()
    store = Store(Path(out), create=True)
    missing = {agent: plan(store, cells[agent], chosen) for agent in AGENTS}
    # a run of URL may take most of a minute: each is kept as soon as it is there
    missing["url"] = [SeedBlock(block.cell, (seed,)) for block in missing["url"] for seed in block.seeds]
    return Plan(store, chosen, cells, missing, place)


def _horizons(horizons: Sequence[int] | None) -> list[int]:
    if horizons is None:
        return list(EPISODES)
    chosen = set(horizons) if checks.are_several(horizons) else set()
    if not chosen or not chosen <= set(EPISODES):
        known = ", ".join(map(str, EPISODES))
        raise ValueError(f"horizons must be some of {known}, got {checks.short_repr(horizons)}")
    return sorted(chosen)


def rich_lock(
    out: str | Path,
    *,
    seeds: int | Iterable[int] = SEEDS,
    horizons: Sequence[int] | None = None,
    episodes_scale: float = 1.0,
    n_jobs: int | None = None,
    backend: Backend | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare agents on the rich lock, as the command `fasturl reproduce --only rich-lock` does.

    out
        Folder of results, rich-lock.png and .pdf, rich-lock.csv and rich-lock-seeds.csv; what is there is not
        computed again.
    seeds
        A count n, for the seeds 0..n-1, or the seeds.
    horizons
        Some of 6, 12, 25, 50 and 100; all if it is None.
    episodes_scale
        Shortens all runs by this factor, in (0, 1], for a quick look.
    n_jobs, backend, progress
        As `sweep` has them.

    Examples
    --------
    >>> import tempfile
    >>> from fasturl.experiments.paper.rich_lock import rich_lock
    >>> with tempfile.TemporaryDirectory() as out:
    ...     done = rich_lock(out, seeds=1, horizons=[6], n_jobs=1, progress=False)
    >>> len(done.by_seed)
    8
    """
    place, progress = chosen_backend(backend, n_jobs), checks.optional_flag("progress", progress)
    comparison = planned(out, seeds=seeds, episodes_scale=episodes_scale, place=place, horizons=horizons)
    return comparison.carry_out(progress)


def with_published(table: pandas.DataFrame) -> pandas.DataFrame:
    """The table of our runs with the published numbers below: a number that an algorithm took is its median,
    one that it was given is its budget."""
    pd = optional.need("pandas", "experiments", "summing up results")
    rows = [
        {
            "horizon": one.horizon,
            "agent": one.algorithm,
            "rule": "published",
            "budget" if one.is_cap else "median": one.episodes,
            "source": one.source,
        }
        for one in PUBLISHED
    ]
    both = pd.concat([table.assign(source="this run"), pd.DataFrame(rows)], ignore_index=True)
    whole = dict.fromkeys(("horizon", "seeds", "solved", "budget"), "Int64")
    return both.astype(whole)

"""The paper's experiments in one call: run what is missing, draw the figures, sum up, and judge the
claims."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..._base import checks, optional
from ..._base.whole_files import whole_files
from ..running.backends import Backend
from ..running.cells import Cell
from ..running.store import Store, stored_seeds
from ..running.sweeping import SeedBlock, chosen_backend, complete, plan
from . import assumptions, rich_lock
from .cells import FIGURES, RICH_LOCK, SEEDS, cells
from .claims import Claim, judge, write_claims
from .files import need_packages, work_in_words, write_figure, write_table
from .published import compare_oracles
from .summary import compare_models, summarise
from .view import ALL_FIGURES, VIEW, View

if TYPE_CHECKING:
    import pandas

SUMMARY = "summary.csv"
MODELS = "models.csv"
ORACLES = "oracles.csv"
EXPERIMENTS = (*ALL_FIGURES, RICH_LOCK)
"""All that can be asked for by name: what a view shows, and the comparison on the rich lock, which is not
part of a view."""


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` gives; the same is in the folder.

    folder, figures
        Where everything is, and the names of the figures that it shows: for each `<name>.png` and
        `<name>.pdf`.
    summary
        One row for each figure, horizon, switch, agent and oracle: final average reward, value, success rate
        and trajectories of the decoder.
        It has no rows where none of the paper's figures is shown.
    models
        If all models of PCID were asked for, as `summary` for each of them, and which one the figures show;
        else None.
    oracles
        As `summary`, for each oracle of URL as published, with what its decoder took and what the paper says
        of both.
    claims
        The claims of the paper, judged for each figure and form.
    caveat
        What the verdicts lack where these are not all of the paper's runs; empty where they are.
    seconds
        How long it took.
    comparison
        If "rich-lock" was asked for, trajectories until the rich lock is solved; else None.

    Examples
    --------
    >>> from dataclasses import fields
    >>> [one.name for one in fields(Reproduction)][:3]
    ['folder', 'figures', 'summary']
    """

    folder: Path
    figures: tuple[str, ...]
    summary: pandas.DataFrame
    models: pandas.DataFrame | None
    oracles: pandas.DataFrame
    claims: list[Claim]
    caveat: str
    seconds: float
    comparison: rich_lock.Comparison | None = None


def reproduce(
    out: str | Path,
    *,
    seeds: int | Iterable[int] = SEEDS,
    only: str | Iterable[str] | None = None,
    episodes_scale: float = 1.0,
    all_models: bool = False,
    n_jobs: int | None = None,
    backend: Backend | None = None,
    progress: bool | None = None,
) -> Reproduction:
    """Run the experiments of Feng et al. (2020), as the command `fasturl reproduce` does.

    out
        Folder of results, figures, summary.csv, oracles.csv and claims.json; what is there is not computed
        again.
    seeds
        A count n, for the seeds 0..n-1, or the seeds.
    only
        "fig1", "fig2" or "fig3", or some of them; all of these if it is None. Two more are ours.
        "assumptions": URL against PCID where what PCID assumes fails; its numbers are in assumptions.csv.
        "rich-lock": trajectories until the rich lock is solved, beside published budgets.
    episodes_scale
        Shortens all runs by this factor, in (0, 1], for a quick look.
    all_models
        Whether to run the models of PCID too that the paper's figures do not show, and compare all in
        models.csv.
    n_jobs, backend, progress
        As `sweep` has them.

    Returns what is in the folder, as a `Reproduction`.

    Examples
    --------
    >>> import tempfile
    >>> from fasturl.experiments import reproduce
    >>> with tempfile.TemporaryDirectory() as out:
    ...     done = reproduce(out, seeds=1, only="fig1", episodes_scale=0.005, n_jobs=1)
    >>> done.figures
    ('fig1',)
    """
    place, progress = chosen_backend(backend, n_jobs), checks.optional_flag("progress", progress)
    return planned(
        out, seeds=seeds, only=only, episodes_scale=episodes_scale, all_models=all_models, place=place
    ).carry_out(progress)


@dataclass(frozen=True)
class Plan:
    """A reproduction that was checked and not yet computed: of figures and of the comparison on the rich
    lock, each None where it is not asked for."""

    figures: FiguresPlan | None
    comparison: rich_lock.Plan | None

    @property
    def to_do(self) -> str:
        """A line for each part that says how much there is to do."""
        return "\n".join(part.to_do for part in (self.figures, self.comparison) if part is not None)

    def carry_out(self, progress: bool | None = None) -> Reproduction:
        """Run what is missing; draw, sum up and judge."""
        done = None if self.figures is None else self.figures.carry_out(progress)
        if self.comparison is None:
            assert done is not None
            return done
        comparison = self.comparison.carry_out(progress)
        if done is None:
            done = _nothing_of_the_paper(comparison.folder)
        return replace(
            done,
            figures=(*done.figures, RICH_LOCK),
            seconds=done.seconds + comparison.seconds,
            comparison=comparison,
        )


def _nothing_of_the_paper(folder: Path) -> Reproduction:
    """A reproduction without figures, whose tables have columns and no rows."""
    pd = optional.need("pandas", "experiments", "a reproduction")
    summary = summarise(pd.DataFrame())
    return Reproduction(folder, (), summary, None, compare_oracles(summary), [], caveat="", seconds=0.0)


@dataclass(frozen=True)
class FiguresPlan:
    """The figures of a view that were checked and not yet computed.

    cells, missing
        All its cells, and the blocks of runs that the folder lacks.
    place
        Where to compute.
    """

    store: Store
    view: View
    cells: list[Cell]
    missing: list[SeedBlock]
    place: Backend

    @property
    def to_do(self) -> str:
        """A line that says how much there is to do."""
        return work_in_words(self.store, len(self.cells), len(self.view.seeds), self.missing)

    def carry_out(self, progress: bool | None = None) -> Reproduction:
        """Run what is missing; draw, sum up and judge."""
        begin = time.perf_counter()
        view, folder = self.view, self.store.folder
        complete(self.store, self.missing, self.place, progress)
        frame = self.store.frame()
        frame = frame[frame["seed"].isin(view.seeds)]
        if assumptions.NAME in view.figures:
            of_assumptions = _rows_of(frame, assumptions.cells(view.episodes_scale))
            write_figure(assumptions.draw(of_assumptions), folder, assumptions.NAME)
            write_table(assumptions.table(of_assumptions), folder / assumptions.TABLE)
        frame = _rows_of(frame, _paper_cells(view))
        _write_figures(frame, view, folder)
        summary = summarise(frame, self.store.about())
        models = compare_models(frame) if view.all_models else None
        oracles = compare_oracles(summary)
        claims = judge(summary)
        if models is not None:
            write_table(models, folder / MODELS)
        if len(oracles):
            write_table(oracles, folder / ORACLES)
        _write_verdicts(summary, claims, view, folder)
        seconds = time.perf_counter() - begin
        return Reproduction(folder, view.figures, summary, models, oracles, claims, view.caveat, seconds)


def planned(
    out: str | Path,
    *,
    seeds: int | Iterable[int],
    only: str | Iterable[str] | None,
    episodes_scale: float,
    all_models: bool,
    place: Backend,
) -> Plan:
    """What `reproduce` has to do: what is wrong or missing is said before anything is written or computed."""
    names, chosen, scale = _experiments(only), tuple(stored_seeds(seeds)), _scale(episodes_scale)
    if all_models and not set(names) & set(FIGURES):
        raise ValueError(
            f"all_models must be left out for {' and '.join(names)} alone: it compares the models of PCID in "
            f"{', '.join(FIGURES)}"
        )
    figures = tuple(name for name in names if name in ALL_FIGURES)
    of_figures = None
    if figures:
        of_figures = _figures_plan(out, View(figures, chosen, scale, bool(all_models)), place)
    comparison = None
    if RICH_LOCK in names:
        comparison = rich_lock.planned(out, seeds=chosen, episodes_scale=scale, place=place)
    return Plan(of_figures, comparison)


def _figures_plan(out: str | Path, asked: View, place: Backend) -> FiguresPlan:
    place.workers()
    need_packages()
    store = Store(Path(out), create=True)
    view = asked.in_place_of(View.of(Path(out)), out)
    view_cells = _paper_cells(view)
    if assumptions.NAME in view.figures:
        view_cells = list(dict.fromkeys([*view_cells, *assumptions.cells(view.episodes_scale)]))
    return FiguresPlan(store, view, view_cells, plan(store, view_cells, view.seeds), place)


def _paper_cells(view: View) -> list[Cell]:
    figures = [figure for figure in view.figures if figure in FIGURES]
    return cells(figures, view.episodes_scale, all_models=view.all_models)


def _rows_of(frame: pandas.DataFrame, chosen: Iterable[Cell]) -> pandas.DataFrame:
    """The rows of the chosen cells."""
    rows: pandas.DataFrame = frame[frame["cell"].isin({cell.id for cell in chosen})]
    return rows


def _experiments(only: str | Iterable[str] | None) -> tuple[str, ...]:
    if only is None:
        return tuple(FIGURES)
    names = list(only) if checks.are_several(only) else [only]
    return tuple(dict.fromkeys(checks.choice("only", name, EXPERIMENTS) for name in names or FIGURES))


def _scale(value: float) -> float:
    return checks.real("episodes_scale", value, least=0, most=1, open_left=True)


def _write_figures(frame: pandas.DataFrame, view: View, folder: Path) -> None:
    from .figures import draw

    for figure in view.figures:
        if figure in FIGURES:
            write_figure(draw(frame, figure), folder, figure)


def _write_verdicts(summary: pandas.DataFrame, claims: list[Claim], view: View, folder: Path) -> None:
    from ..analysis.report import CLAIMS

    # the last is put in its place first
    with whole_files(folder / VIEW, folder / CLAIMS, folder / SUMMARY) as drafts:
        view_draft, claims_draft, summary_draft = filter(None, drafts)
        summary.to_csv(summary_draft, index=False, float_format="%.6g")
        write_claims(claims_draft, claims)
        view.write(view_draft)

"""The paper's experiments in one call: run what is missing, draw the figures, sum up, and judge the
claims."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..._base import checks, optional
from ..._base.whole_files import whole_files
from ..running.backends import Backend
from ..running.cells import Cell
from ..running.store import Store, stored_seeds
from ..running.sweeping import SeedBlock, chosen_backend, complete, plan
from . import assumptions
from .cells import FIGURES, SEEDS, cells
from .claims import Claim, judge, write_claims
from .published import compare_oracles
from .summary import compare_models, summarise
from .view import ALL_FIGURES, VIEW, View

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas

SUMMARY = "summary.csv"
MODELS = "models.csv"
ORACLES = "oracles.csv"


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
        "fig1", "fig2" or "fig3", or some of them; all of these if it is None. "assumptions" is a figure of
        ours: URL against PCID where what PCID assumes fails; its numbers are in assumptions.csv.
    episodes_scale
        Shortens all runs by this factor, in (0, 1], for a quick look.
    all_models
        Whether to run the models of PCID too that the figures do not show, and compare all in models.csv.
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
    """A reproduction that was checked and not yet computed.

    wanted, missing
        All its cells, and the blocks of runs that the folder lacks.
    place
        Where to compute.
    """

    store: Store
    view: View
    wanted: list[Cell]
    missing: list[SeedBlock]
    place: Backend

    @property
    def to_do(self) -> str:
        """A line that says how much there is to do."""
        return work_in_words(self.store, len(self.wanted), len(self.view.seeds), self.missing)

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


def work_in_words(store: Store, n_cells: int, n_seeds: int, missing: Iterable[SeedBlock]) -> str:
    """A line that says how much there is to do."""
    to_do = sum(len(block.seeds) for block in missing)
    counts = f"{n_cells} cells x {n_seeds} seeds; {to_do:,} of {n_cells * n_seeds:,} runs to do"
    return f"{counts}; results in {store.folder}"


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
    asked = View(_figures(only), tuple(stored_seeds(seeds)), _scale(episodes_scale), bool(all_models))
    place.workers()
    need_packages()
    store = Store(Path(out), create=True)
    view = asked.in_place_of(View.of(Path(out)), out)
    wanted = _paper_cells(view)
    if assumptions.NAME in view.figures:
        wanted = list(dict.fromkeys([*wanted, *assumptions.cells(view.episodes_scale)]))
    return Plan(store, view, wanted, plan(store, wanted, view.seeds), place)


def _paper_cells(view: View) -> list[Cell]:
    figures = [figure for figure in view.figures if figure in FIGURES]
    return cells(figures, view.episodes_scale, all_models=view.all_models)


def _rows_of(frame: pandas.DataFrame, wanted: Iterable[Cell]) -> pandas.DataFrame:
    rows: pandas.DataFrame = frame[frame["cell"].isin({cell.id for cell in wanted})]
    return rows


def need_packages() -> None:
    """Say at once what is not installed of what a reproduction needs."""
    optional.need("pyarrow", "experiments", "a reproduction")
    optional.need("pandas", "experiments", "a reproduction")
    optional.need("matplotlib", "experiments", "a reproduction")


def _figures(only: str | Iterable[str] | None) -> tuple[str, ...]:
    if only is None:
        return tuple(FIGURES)
    named = list(only) if checks.are_several(only) else [only]
    return tuple(dict.fromkeys(checks.choice("only", figure, ALL_FIGURES) for figure in named or FIGURES))


def _scale(value: float) -> float:
    return checks.real("episodes_scale", value, least=0, most=1, open_left=True)


def _write_figures(frame: pandas.DataFrame, view: View, folder: Path) -> None:
    from .figures import draw

    for figure in view.figures:
        if figure in FIGURES:
            write_figure(draw(frame, figure), folder, figure)


def write_figure(drawing: matplotlib.figure.Figure, folder: Path, name: str) -> None:
    """Write a figure as `<name>.png` and `<name>.pdf`."""
    from ..analysis import style

    with whole_files(folder / f"{name}.png", folder / f"{name}.pdf") as drafts:
        for draft in filter(None, drafts):
            style.save(drawing, draft)


def write_table(table: pandas.DataFrame, path: Path) -> None:
    with whole_files(path) as (draft,):
        table.to_csv(draft, index=False, float_format="%.6g")


def _write_verdicts(summary: pandas.DataFrame, claims: list[Claim], view: View, folder: Path) -> None:
    from ..analysis.report import CLAIMS

    # the last is put in its place first
    with whole_files(folder / VIEW, folder / CLAIMS, folder / SUMMARY) as drafts:
        view_draft, claims_draft, summary_draft = filter(None, drafts)
        summary.to_csv(summary_draft, index=False, float_format="%.6g")
        write_claims(claims_draft, claims)
        view.write(view_draft)

"""The paper's experiments in one call: run what is missing, draw the figures, sum up, and judge the
claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..._base import checks, optional
from ..._base.whole_files import whole_files
from ..running.backends import Backend
from ..running.store import Store, stored_seeds
from ..running.sweeping import chosen_backend, complete, plan
from .cells import FIGURES, SEEDS, cells
from .claims import Claim, judge, summarise, write_claims
from .view import VIEW, View

if TYPE_CHECKING:
    import pandas

SUMMARY = "summary.csv"


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` gives; the same is in the folder.

    folder, figures
        Where everything is, and the names of the figures that it shows: for each `<name>.png` and
        `<name>.pdf`.
    summary
        One row for each figure, horizon, switch and agent: final average reward, value and success rate.
    claims
        The claims of the paper, and whether these runs bear them out.
    caveat
        What the verdicts lack where these are not all of the paper's runs; empty where they are.
    seconds
        How long it took.
    """

    folder: Path
    figures: tuple[str, ...]
    summary: pandas.DataFrame
    claims: list[Claim]
    caveat: str
    seconds: float


def reproduce(
    out: str | Path,
    *,
    seeds: int | Iterable[int] = SEEDS,
    only: str | Iterable[str] | None = None,
    episodes_scale: float = 1.0,
    n_jobs: int | None = None,
    backend: Backend | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the experiments of Feng et al. (2020), as the command `fasturl reproduce` does.

    out
        Folder of results, figures, summary.csv and claims.json; what is there is not computed again.
    seeds
        A count n, for the seeds 0..n-1, or the seeds.
    only
        "fig1", "fig2" or "fig3", or some of them; all if it is None.
    episodes_scale
        Shortens all runs by this factor, in (0, 1], for a quick look.
    n_jobs, backend, progress
        As `sweep` has them.
    announce
        Called with a line that says how much there is to do, before it is done.

    Examples
    --------
    >>> import tempfile
    >>> from fasturl.experiments import reproduce
    >>> with tempfile.TemporaryDirectory() as out:
    ...     done = reproduce(out, seeds=1, only="fig2", episodes_scale=0.005, n_jobs=1)
    >>> len(done.summary)
    36
    """
    begin = time.perf_counter()
    asked = View(_figures(only), tuple(stored_seeds(seeds)), _scale(episodes_scale))
    place = chosen_backend(backend, n_jobs)
    # what is wrong or missing is said before anything is written or computed
    place.workers()
    optional.need("pyarrow", "experiments", "a reproduction")
    optional.need("pandas", "experiments", "a reproduction")
    optional.need("matplotlib", "experiments", "a reproduction")
    folder = Path(out)
    store = Store(folder, create=True)
    view = asked.in_place_of(View.of(folder), folder)
    wanted = cells(view.figures, view.episodes_scale)
    missing = plan(store, wanted, view.seeds)
    if announce is not None:
        runs, to_do = len(wanted) * len(view.seeds), sum(len(block.seeds) for block in missing)
        counts = f"{len(wanted)} cells x {len(view.seeds)} seeds; {to_do:,} of {runs:,} runs to do"
        announce(f"{counts}; results in {folder}")
    complete(store, missing, place, progress)
    frame = store.frame()
    frame = frame[frame["cell"].isin({cell.id for cell in wanted}) & frame["seed"].isin(view.seeds)]
    _write_figures(frame, view, folder)
    summary = summarise(frame)
    claims = judge(summary)
    _write_verdicts(summary, claims, view, folder)
    return Reproduction(folder, view.figures, summary, claims, view.caveat, time.perf_counter() - begin)


def _figures(only: str | Iterable[str] | None) -> tuple[str, ...]:
    if only is None:
        return tuple(FIGURES)
    named = list(only) if checks.are_several(only) else [only]
    return tuple(dict.fromkeys(checks.choice("only", figure, FIGURES) for figure in named or FIGURES))


def _scale(value: float) -> float:
    return checks.real("episodes_scale", value, least=0, most=1, open_left=True)


def _write_figures(frame: pandas.DataFrame, view: View, folder: Path) -> None:
    from ..analysis import style
    from .figures import draw

    for figure in view.figures:
        drawing = draw(frame, figure)
        with whole_files(folder / f"{figure}.png", folder / f"{figure}.pdf") as drafts:
            for draft in filter(None, drafts):
                style.save(drawing, draft)


def _write_verdicts(summary: pandas.DataFrame, claims: list[Claim], view: View, folder: Path) -> None:
    from ..analysis.report import CLAIMS

    # the last is put in its place first
    with whole_files(folder / VIEW, folder / CLAIMS, folder / SUMMARY) as drafts:
        view_draft, claims_draft, summary_draft = filter(None, drafts)
        summary.to_csv(summary_draft, index=False, float_format="%.6g")
        write_claims(claims_draft, claims)
        view.write(view_draft)

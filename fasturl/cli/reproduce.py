"""`fasturl reproduce`: the paper's figures in one command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from .._base import checks, optional
from ..experiments.paper.figures import SEEDS
from .options import N_JOBS_HELP, parse_seeds
from .outputs import whole_files

EPILOG = """Examples:

fasturl reproduce

fasturl reproduce --only fig1 --seeds 5 --episodes-scale 0.1 --out quick-look"""


def register(app: typer.Typer) -> None:
    app.command(epilog=EPILOG)(reproduce)


def reproduce(
    seeds: Annotated[str, typer.Option(help="A count n, for seeds 0..n-1, or a range as 1000:1050.")] = str(
        SEEDS
    ),
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Where results and figures go; what is there is not computed again."
        ),
    ] = Path("results/paper"),
    only: Annotated[
        list[str] | None,
        typer.Option(help="fig1, fig2 or fig3; may be given more than once.", show_default="all"),
    ] = None,
    episodes_scale: Annotated[
        float, typer.Option(help="Shorten all runs by this factor, for a quick look.")
    ] = 1.0,
    n_jobs: Annotated[int | None, typer.Option(help=N_JOBS_HELP, show_default="all cores")] = None,
) -> None:
    """Run the experiments of Feng et al. (2020): figures, success rates and claims."""
    from ..experiments.analysis import style
    from ..experiments.analysis.report import CLAIMS
    from ..experiments.paper import figures as paper
    from ..experiments.running.backends import Local
    from ..experiments.running.store import Store, stored_seeds
    from ..experiments.running.sweeping import complete, plan

    asked = [checks.choice("only", figure, paper.FIGURES) for figure in only or paper.FIGURES]
    scale = checks.real("episodes_scale", episodes_scale, least=0, most=1, open_left=True)
    chosen = stored_seeds(parse_seeds(seeds))
    place = Local(n_jobs)
    # what is wrong or missing is said before anything is written or computed
    place.workers()
    optional.need("pyarrow", "experiments", "a reproduction")
    optional.need("pandas", "experiments", "a reproduction")
    optional.need("matplotlib", "experiments", "a reproduction")
    begin = time.perf_counter()
    store = Store(out, create=True)
    view = paper.View(tuple(dict.fromkeys(asked)), tuple(chosen), scale).in_place_of(paper.View.of(out), out)
    wanted = paper.cells(view.figures, scale)
    missing = plan(store, wanted, chosen)
    console = Console()
    console.print(
        f"{len(wanted)} cells x {len(chosen)} seeds; {sum(len(block.seeds) for block in missing):,} of "
        f"{len(wanted) * len(chosen):,} runs to do; results in {out}"
    )
    complete(store, missing, place)
    ids = {cell.id for cell in wanted}
    frame = store.frame()
    frame = frame[frame["cell"].isin(ids) & frame["seed"].isin(chosen)]
    for figure in view.figures:
        drawn = paper.draw(frame, figure)
        with whole_files(out / f"{figure}.png", out / f"{figure}.pdf") as drafts:
            for draft in filter(None, drafts):
                style.save(drawn, draft)
    summary = paper.ends(frame)
    judged = paper.claims(summary)
    with whole_files(
        out / paper.VIEW, out / CLAIMS, out / "summary.csv"
    ) as drafts:  # the last is put in its place first
        record, verdicts, rates = filter(None, drafts)
        summary.to_csv(rates, index=False, float_format="%.6g")
        paper.write_claims(verdicts, judged)
        view.write(record)
    console.print(paper.success_table(summary))
    if view.caveat:
        console.print(f"[yellow]{view.caveat}[/]", highlight=False)
    for claim in judged:
        console.print(
            f"[{'green]holds' if claim.holds else 'red]fails'}[/] {claim.claim}: {claim.figures}",
            highlight=False,
        )
    files = ", ".join(f"{figure}.png" for figure in view.figures)
    console.print(f"figures {files} (and PDF), summary.csv and claims.json are in {out}")
    console.print(f"took {time.perf_counter() - begin:.1f} s")

"""`fasturl reproduce`: the paper's figures in one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from .._base import checks
from ..experiments.paper.cells import RICH_LOCK, SEEDS, URL_AS_PUBLISHED
from .options import N_JOBS_HELP, Command, parse_seeds

if TYPE_CHECKING:
    from ..experiments.paper.reproduce import Reproduction
    from ..experiments.paper.rich_lock import Comparison

EPILOG = """Examples:

fasturl reproduce

fasturl reproduce --only fig1 --seeds 5 --episodes-scale 0.1 --out quick-look

fasturl reproduce --only assumptions --seeds 20 --out results/assumptions

fasturl reproduce --only rich-lock --out results/rich-lock"""

_COLOURS = {"holds": "green", "fails": "red", "missing": "yellow"}
"""Of the verdicts on claims."""


def register(app: typer.Typer) -> None:
    app.command("reproduce", cls=Command, epilog=EPILOG)(reproduce_command)


def reproduce_command(
    seeds: Annotated[str, typer.Option(help="A count n, for seeds 0..n-1, or a range as 1000:1050.")] = str(
        SEEDS
    ),
    out: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="Where results and figures go; what is there is not computed again."
        ),
    ] = "results/paper",
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="fig1, fig2, fig3; or of ours, assumptions, and rich-lock: trajectories until the rich lock "
            "is solved, beside published budgets. May be given more than once.",
            show_default="the three of the paper",
        ),
    ] = None,
    episodes_scale: Annotated[
        float, typer.Option(help="Shorten all runs by this factor, for a quick look.")
    ] = 1.0,
    all_models: Annotated[
        bool,
        typer.Option(
            "--all-models", help="Run the models of PCID too that the figures do not show; see models.csv."
        ),
    ] = False,
    n_jobs: Annotated[int | None, typer.Option(help=N_JOBS_HELP, show_default="all cores")] = None,
) -> None:
    """Run the experiments of Feng et al. (2020): figures, success rates and claims.

    --only assumptions draws a figure of our own: URL against PCID where what PCID assumes fails.
    """
    from ..experiments.paper.reproduce import planned
    from ..experiments.running.backends import Local

    console = Console()
    plan = planned(
        checks.path("--out", out),
        seeds=parse_seeds(seeds),
        only=only,
        episodes_scale=episodes_scale,
        all_models=all_models,
        place=Local(n_jobs),
    )
    console.print(plan.to_do)
    reproduction = plan.carry_out()
    if reproduction.comparison is not None:
        _show_comparison(console, reproduction.comparison)
    if plan.figures is not None:
        _show_figures(console, reproduction)
    console.print(f"took {reproduction.seconds:.1f} s")


def _show_figures(console: Console, reproduction: Reproduction) -> None:
    from ..experiments.paper import assumptions
    from ..experiments.paper.claims import EPISODES_SOURCE, claim_in_words
    from ..experiments.paper.published import oracle_table
    from ..experiments.paper.summary import success_table

    if len(reproduction.summary):
        summary = reproduction.summary
        console.print(success_table(summary[summary["agent"] != URL_AS_PUBLISHED]))
        console.print(oracle_table(reproduction.oracles))
        console.print(f"episodes of a run: {EPISODES_SOURCE}", highlight=False)
    if reproduction.caveat:
        console.print(f"[yellow]{reproduction.caveat}[/]", highlight=False)
    for claim in reproduction.claims:
        verdict = f"[{_COLOURS[claim.verdict]}]{claim.verdict}[/]"
        console.print(f"{verdict} {claim_in_words(claim)}", highlight=False)
    figures = ", ".join(f"{name}.png" for name in reproduction.figures if name != RICH_LOCK)
    tables = ["summary.csv"] + (["oracles.csv"] if len(reproduction.oracles) else [])
    if reproduction.models is not None:
        tables.append("models.csv")
    if assumptions.NAME in reproduction.figures:
        tables.append(assumptions.TABLE)
    where = f"are in {reproduction.folder}"
    console.print(f"figures {figures} (and PDF), {', '.join(tables)} and claims.json {where}")


def _show_comparison(console: Console, comparison: Comparison) -> None:
    from ..experiments.paper import rich_lock_figure

    console.print(rich_lock_figure.solving_table(comparison.table))
    for source in rich_lock_figure.sources():
        console.print(source, highlight=False)
    where = f"are in {comparison.folder}"
    console.print(f"{RICH_LOCK}.png (and PDF), {RICH_LOCK}.csv and {RICH_LOCK}-seeds.csv {where}")

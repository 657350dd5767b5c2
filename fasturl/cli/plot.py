"""`fasturl plot`: figures from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._base import checks
from .._base.short_warnings import hide_left_out
from .options import Command
from .outputs import check_figure, whole_files

EPILOG = """Examples:

fasturl plot results --band ci --out curves.pdf

fasturl plot results --kind regret

fasturl plot results --kind scaling --where switch=0.2

fasturl plot results --kind heatmap --x learning_rate --y confidence --where agent=oracleq-lat"""
KINDS = ("curves", "regret", "success", "scaling", "seconds", "heatmap")
AGAINST_TRAJECTORIES = ("curves", "regret")
"""The kinds that have trajectories on the x axis, and a band."""


def register(app: typer.Typer) -> None:
    app.command("plot", cls=Command, epilog=EPILOG)(plot_command)


def plot_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder of results.", show_default=False)],
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "curves",
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            help="A setting, with its owner where several have it (oracle.n_states); heatmap needs it.",
            show_default="horizon",
        ),
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", help="heatmap: the other setting.", show_default=False)
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            "--of", help="heatmap: average-reward, success-rate or value.", show_default="average-reward"
        ),
    ] = None,
    band: Annotated[
        str | None,
        typer.Option(
            help="curves and regret: std, one standard deviation, or ci, bootstrap interval of the mean.",
            show_default="std",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Only these results; may be repeated, the same name means either.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="PNG, PDF or SVG.", show_default="curves.png, as the kind is called"
        ),
    ] = None,
) -> None:
    """Draw stored results: learning curves, regret, success rates, scaling, seconds or a heat map."""
    from ..experiments.analysis import figures as plots
    from ..experiments.analysis import style, summaries
    from ..experiments.running import store

    hide_left_out()
    checks.choice("kind", kind, KINDS)
    if of is not None:
        checks.choice("of", of, plots.QUANTITIES)
    if band is not None:
        checks.choice("band", band, summaries.BANDS)
    _check_options(kind, x=x, y=y, of=of, band=band)
    results = checks.path("DIR", folder)
    target = Path(f"{kind}.png") if out is None else checks.path("--out", out)
    check_figure(target)
    with whole_files(target) as (draft,):
        frame = summaries.select(store.load(results), where or [])
        if kind == "curves":
            figure = plots.curves(frame, band=band or "std")
        elif kind == "regret":
            figure = plots.regret(frame, band=band or "std")
        elif kind == "success":
            figure = plots.success(frame, x=x or "horizon")
        elif kind == "scaling":
            figure = plots.scaling(frame, x=x or "horizon")
        elif kind == "seconds":
            figure = plots.seconds(frame, store.Store(results).about(), x=x or "horizon")
        else:
            figure = plots.heatmap(frame, str(x), str(y), of=of or "average-reward")
        assert draft is not None
        style.save(figure, draft, target)
    print(f"drawn in {target}")


def _check_options(kind: str, *, x: str | None, y: str | None, of: str | None, band: str | None) -> None:
    """ValueError for an option that a kind of figure lacks, or has no use for."""
    if kind == "heatmap" and (x is None or y is None):
        raise ValueError("a heat map needs --x and --y, for example --x learning_rate --y confidence")
    if kind != "heatmap" and y is not None:
        raise ValueError("--y is for --kind heatmap")
    if kind in AGAINST_TRAJECTORIES and x is not None:
        drawn = "learning curves are" if kind == "curves" else "regret is"
        raise ValueError(
            f"--x is for --kind success, scaling, seconds and heatmap: {drawn} drawn against trajectories"
        )
    if kind != "heatmap" and of is not None:
        raise ValueError("--of is for --kind heatmap")
    if kind not in AGAINST_TRAJECTORIES and band is not None:
        raise ValueError("--band is for --kind curves and regret")

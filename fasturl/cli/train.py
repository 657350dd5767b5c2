"""`fasturl train`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import registry
from .._base import checks
from .._base.memory import in_words
from .._base.words import counted
from ..agents.level_decoding import POOLED, SEPARATE
from ..run import Run
from ..training import POINTS, train
from .options import (
    AGENT_HELP,
    DEFAULT_AGENT,
    ENV_HELP,
    EPISODES,
    N_JOBS_HELP,
    SEE_SETTINGS,
    SEEDS,
    Choice,
    SettingsCommand,
    parse_seeds,
    refuse_beside,
)
from .outputs import check_figure, is_standard_output, whole_files, write_draft

if TYPE_CHECKING:
    from ..experiments.running.cells import Cell

EPILOG = f"""{SEE_SETTINGS.format(command="train")}

The defaults are the paper's: 50,000 episodes, 50 seeds. In Python episodes must be given, and seeds are 1.

Examples:

fasturl train lock-bernoulli --horizon 20 --switch 0.2 --agent url --oracle kmeans --n-init 5

fasturl train lock-gaussian --noise 0.2 --agent oracleq-lat --seeds 1000:1050 --json result.json

fasturl train lock-bernoulli --horizon 2 --agent url-as-written --episodes 30 --epsilon 0.3 --seeds 1"""


def register(app: typer.Typer) -> None:
    app.command("train", cls=SettingsCommand, epilog=EPILOG)(train_command)


def train_command(
    ctx: typer.Context,
    env: Annotated[str, typer.Argument(metavar="ENV", help=ENV_HELP, show_default=False)],
    agent: Annotated[str, typer.Option(help=AGENT_HELP)] = DEFAULT_AGENT,
    episodes: Annotated[
        int, typer.Option(help="Trajectories of each run; of url-as-written, the learner's episodes.")
    ] = EPISODES,
    seeds: Annotated[str, typer.Option(help="A count n, for seeds 0..n-1, or a range as 1000:1050.")] = SEEDS,
    points: Annotated[
        int | None,
        typer.Option(help="Points of the learning curve to record.", show_default=str(POINTS)),
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(help=N_JOBS_HELP, show_default="all cores")] = None,
    json_file: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the result as JSON; - is standard output.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the learning curve (PNG, PDF, SVG).", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how long it should take and how much memory, and stop.")
    ] = False,
) -> None:
    """Train one agent on one environment over many seeds."""
    choice = Choice.of_line(ctx, env, agent)
    environment = registry.environment(env, **choice.env_settings())
    player = registry.agent(agent, **choice.agent_settings)
    if dry_run:
        given = {"--points": points, "--json": json_file, "--plot": plot}
        refuse_beside("--dry-run", {option: value is not None for option, value in given.items()})
        from ..experiments.running.cells import Cell

        cell = Cell.make(env, choice.env_settings(), agent, choice.agent_settings, episodes)
        _print_needs(cell, seeds, n_jobs)
        return
    if plot:
        check_figure(plot)
    printed = is_standard_output(json_file)
    with whole_files(None if printed else json_file, plot) as (json_path, plot_path):
        recorded = POINTS if points is None else points
        run = train(environment, player, episodes, parse_seeds(seeds), points=recorded, n_jobs=n_jobs)
        if plot_path:
            from ..experiments.analysis import style

            style.save(run.plot().figure, plot_path, plot)  # type: ignore[arg-type]  # no subfigures here
        if json_path:
            write_draft(json_path, json_file, json.dumps(run.summary(), indent=1) + "\n")
    if printed:
        print(json.dumps(run.summary(), indent=1))
    else:
        _print_table(run)


def _print_needs(cell: Cell, seeds: str, n_jobs: int | None) -> None:
    """What the runs of a cell should take."""
    from ..experiments.analysis.style import duration
    from ..experiments.running.backends import Local
    from ..experiments.running.sweeping import estimate_seconds, plan

    size, chosen = cell.footprint(), checks.seeds(parse_seeds(seeds))
    trajectories = cell.player().trajectories(cell.environment().describe(), cell.episodes)
    workers = size.workers(min(Local(n_jobs).workers(), len(chosen)))
    seconds = estimate_seconds(plan(None, [cell], chosen), workers)
    runs = f"{counted(len(chosen), 'run')} of {trajectories:,} trajectories"
    at_once = f"{workers} at the same time" if workers > 1 else "one at a time"
    print(f"{runs}, {at_once}: about {duration(seconds)}, and {in_words(size.total)} of memory for each run")


_LEVELS_IN_WORDS = {POOLED: " for all levels", SEPARATE: " for each level"}


def _oracles_in_words(run: Run) -> str:
    """What was seen with in the end: URL may have decided otherwise in some of the runs."""
    counts = Counter(
        f"{about.get('oracle', run.oracle)}{_LEVELS_IN_WORDS.get(str(about.get('levels')), '')}"
        for about in run.diagnostics
    )
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{words} ({n} of {run.n_seeds})" for words, n in counts.most_common())


def _print_table(run: Run) -> None:
    summary = run.summary()
    table = Table(title=run.title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    n_seeds = run.n_seeds
    table.add_row("agent", run.agent)
    if run.oracle is not None:
        table.add_row("oracle", escape(_oracles_in_words(run)))
    if isinstance(learner := run.agent_settings.get("learner"), dict):
        table.add_row("learner", escape(learner["name"]))
    table.add_row("trajectories", f"{run.total_trajectories:,} x {counted(n_seeds, 'seed')}")
    table.add_row(
        "average reward",
        f"{summary['average_reward_mean']:.4f}, standard deviation {summary['average_reward_std']:.4f}",
    )
    table.add_row(
        "regret",
        f"{summary['regret_mean']:,.2f}, standard deviation {summary['regret_std']:,.2f}",
    )
    table.add_row("value of final policy", f"{summary['value_mean']:.4f} of V* = {run.v_star:g}")
    table.add_row(
        "near-optimal seeds",
        f"[bold]{int(run.near_optimal.sum())} of {n_seeds}[/bold] ({run.success_rate:.0%})",
    )
    for sentence, seeds in run.warnings.items():
        table.add_row("warning", f"{escape(sentence)} ({len(seeds)} of {n_seeds})")
    table.add_row("wall time", f"{run.wall_seconds:.2f} s")
    Console().print(table)

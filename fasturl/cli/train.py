"""`fasturl train`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..agents.url import AS_WRITTEN_BATCH, AS_WRITTEN_DEFAULTS, DEFAULT_LEARNER
from ..learners.learners import OracleQ
from ..run import Run
from ..training import train
from .options import given, parse_seeds
from .outputs import check_figure, is_standard_output, whole_files

EPILOG = """Examples:

fasturl train lock-bernoulli --horizon 20 --switch 0.2 --agent url --oracle kmeans

fasturl train lock-gaussian --horizon 10 --noise 0.2 --agent oracleq-lat --episodes 20000 --seeds 1000:1050 --json result.json

fasturl train lock-bernoulli --horizon 2 --agent url --form as-written --episodes 30 --batch 10 --epsilon 0.3 --delta 0.3 --seeds 1"""


# defaults as the help tells them, told by those who have them
_CONFIDENCE = f"{OracleQ().confidence:g}; url {DEFAULT_LEARNER.confidence:g}"
_SCHEDULE = f"{OracleQ().schedule}; url {DEFAULT_LEARNER.schedule}"
_BATCH = f"from the horizon; as written {AS_WRITTEN_BATCH}"
_AS_WRITTEN = {name: f"{value:g}" for name, value in AS_WRITTEN_DEFAULTS.items()}


def register(app: typer.Typer) -> None:
    app.command("train", epilog=EPILOG)(train_command)


def train_command(
    env: Annotated[
        str, typer.Argument(metavar="ENV", help="lock-bernoulli or lock-gaussian", show_default=False)
    ],
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(catalog.AGENTS)}.")] = "url",
    horizon: Annotated[int, typer.Option(help="Number of levels that are acted in.")] = 20,
    switch: Annotated[
        float | None,
        typer.Option(help="Chance that a good action leads to the other live state.", show_default="0"),
    ] = None,
    noise: Annotated[
        float | None, typer.Option(help="lock-gaussian: standard deviation of the noise.", show_default="0.1")
    ] = None,
    episodes: Annotated[
        int, typer.Option(help="Trajectories of each run; as written: the learner's episodes.")
    ] = 50_000,
    seeds: Annotated[str, typer.Option(help="A count n, for seeds 0..n-1, or a range as 1000:1050.")] = "50",
    learning_rate: Annotated[
        float | None, typer.Option(help="Of the learner.", show_default="the learner's")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="oracleq, url: scale of the bonus.", show_default=_CONFIDENCE)
    ] = None,
    failure_probability: Annotated[
        float | None,
        typer.Option(
            help="oracleq, url with jin: probability that the bonus is too small.", show_default="0.05"
        ),
    ] = None,
    exploration_fraction: Annotated[
        float | None,
        typer.Option(help="qlearning: share of the episodes over which epsilon falls.", show_default="0.5"),
    ] = None,
    schedule: Annotated[
        str | None, typer.Option(help="oracleq, url: constant or jin.", show_default=_SCHEDULE)
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option(help="url: kmeans, dbscan or gmm.", show_default="kmeans for bits, gmm for reals"),
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="url: practical or as-written.", show_default="practical")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="url: trajectories of a batch.", show_default=_BATCH)
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="url as written: distance from optimal.", show_default=_AS_WRITTEN["epsilon"]),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="url as written: probability of failure.", show_default=_AS_WRITTEN["delta"]),
    ] = None,
    epsilon_1: Annotated[
        float | None,
        typer.Option(
            "--epsilon-1",
            help="url as written: error of the decoders.",
            show_default=_AS_WRITTEN["epsilon_1"],
        ),
    ] = None,
    delta_1: Annotated[
        float | None,
        typer.Option(
            "--delta-1",
            help="url as written: their probability of failure.",
            show_default=_AS_WRITTEN["delta_1"],
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="pcid: linear or neural.", show_default="linear")] = None,
    clusters: Annotated[
        int | None, typer.Option(help="pcid: largest number of states of a level.", show_default="3")
    ] = None,
    samples_per_level: Annotated[
        int | None,
        typer.Option(help="pcid: episodes that each level is learned from.", show_default="from the horizon"),
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(help="Number of threads.", show_default="all cores")] = None,
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
) -> None:
    """Train one agent on one environment over many seeds."""
    environment = catalog.environment(env, **given(horizon=horizon, switch=switch, noise=noise))
    settings = given(
        learning_rate=learning_rate,
        confidence=confidence,
        failure_probability=failure_probability,
        exploration_fraction=exploration_fraction,
        schedule=schedule,
        oracle=oracle,
        form=form,
        batch=batch,
        epsilon=epsilon,
        delta=delta,
        epsilon_1=epsilon_1,
        delta_1=delta_1,
        model=model,
        n_clusters=clusters,
        samples_per_level=samples_per_level,
    )
    player = catalog.agent(agent, **settings)
    if plot:
        check_figure(plot)
    printed = is_standard_output(json_file)
    with whole_files(None if printed else json_file, plot) as (json_path, plot_path):
        run = train(environment, player, episodes, parse_seeds(seeds), n_jobs=n_jobs)
        if plot_path:
            from ..experiments.analysis import style as looks

            looks.save(run.plot().figure, plot_path)  # type: ignore[arg-type]  # no subfigures here
        if json_path:
            json_path.write_text(json.dumps(run.summary(), indent=1) + "\n")
    if printed:
        print(json.dumps(run.summary(), indent=1))
    else:
        _print_table(run)


def _print_table(run: Run) -> None:
    summary = run.summary()
    table = Table(title=run.title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    n_seeds = len(run.seeds)
    table.add_row("agent", run.agent if run.oracle is None else f"{run.agent} with {run.oracle}")
    table.add_row("trajectories", f"{run.trajectories[-1]:,} x {n_seeds} seed{'s' if n_seeds > 1 else ''}")
    table.add_row(
        "average reward",
        f"{summary['average_reward_mean']:.4f}, standard deviation {summary['average_reward_std']:.4f}",
    )
    table.add_row("value of final policy", f"{summary['value_mean']:.4f} of V* = {run.v_star:g}")
    table.add_row(
        "near-optimal seeds",
        f"[bold]{int(run.near_optimal.sum())} of {n_seeds}[/bold] ({run.success_rate:.0%})",
    )
    if unstable := sum(not about.get("decoder_stable", True) for about in run.diagnostics):
        table.add_row("decoder", f"not stable in time: {unstable} of {n_seeds}")
    table.add_row("wall time", f"{run.wall_seconds:.2f} s")
    Console().print(table)

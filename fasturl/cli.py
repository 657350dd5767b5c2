"""The command line. Bad input is answered with one line on standard error and exit code 2."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from . import CACHE_FOLDER, catalog, compile_cache, validation
from ._version import __version__
from .runs import Run
from .training import available_cores, train
from .warmup import warmup as compile_everything

app = typer.Typer(
    name="fasturl",
    help="Exploration with rich observations: the URL framework and its baselines, compiled.",
    epilog="Example: fasturl train lock-bernoulli --horizon 20 --switch 0.2 --agent url --seeds 50",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line; the entry point of the `fasturl` program."""
    try:
        app(standalone_mode=False)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(_complain("interrupted", 130))
    except typer.TyperException as error:
        if text := error.format_message():
            sys.exit(_complain(text, 2))
        sys.exit(2)  # a bare `fasturl` has shown the help already
    except (ValueError, ImportError, OSError) as error:
        sys.exit(_complain(str(error), 2))


def _complain(text: str, code: int) -> int:
    print(f"fasturl: {' '.join(text.split())}", file=sys.stderr)
    return code


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"fasturl {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


@app.command(
    "train",
    epilog="""Examples:

fasturl train lock-bernoulli --horizon 20 --switch 0.2 --agent url --oracle kmeans

fasturl train lock-gaussian --horizon 10 --noise 0.2 --agent oracleq-lat --episodes 20000 --seeds 1000:1050 --json result.json

fasturl train lock-gaussian --horizon 2 --agent url --form as-written --episodes 20 --batch 20 --epsilon 0.3 --delta 0.3 --seeds 1""",
)
def train_command(
    env: Annotated[str, typer.Argument(metavar="ENV", help="lock-bernoulli or lock-gaussian", show_default=False)],
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(catalog.AGENTS)}.")] = "url",
    horizon: Annotated[int, typer.Option(help="Number of levels that are acted in.")] = 20,
    switch: Annotated[float | None, typer.Option(help="Chance that a good action leads to the other live state.", show_default="0")] = None,
    noise: Annotated[float | None, typer.Option(help="lock-gaussian: standard deviation of the noise.", show_default="0.1")] = None,
    episodes: Annotated[int, typer.Option(help="Trajectories of each run; as written: the learner's episodes.")] = 50_000,
    seeds: Annotated[str, typer.Option(help="A count n, for seeds 0..n-1, or a range as 1000:1050.")] = "50",
    learning_rate: Annotated[float | None, typer.Option(help="Of the learner.", show_default="the learner's")] = None,
    confidence: Annotated[float | None, typer.Option(help="oracleq, url: scale of the bonus.", show_default="0.001; url 0.0001")] = None,
    exploration_fraction: Annotated[
        float | None, typer.Option(help="qlearning: share of the episodes over which epsilon falls.", show_default="0.5")
    ] = None,
    schedule: Annotated[str | None, typer.Option(help="oracleq, url: constant or jin.", show_default="constant; url jin")] = None,
    oracle: Annotated[str | None, typer.Option(help="url: kmeans, dbscan or gmm.", show_default="kmeans for bits, gmm for reals")] = None,
    form: Annotated[str | None, typer.Option(help="url: practical or as-written.", show_default="practical")] = None,
    batch: Annotated[int | None, typer.Option(help="url: trajectories of a batch.", show_default="from the horizon")] = None,
    epsilon: Annotated[float | None, typer.Option(help="url as written: distance from optimal.", show_default="0.1")] = None,
    delta: Annotated[float | None, typer.Option(help="url as written: probability of failure.", show_default="0.1")] = None,
    epsilon_1: Annotated[
        float | None, typer.Option("--epsilon-1", help="url as written: error of the decoders.", show_default="0.01")
    ] = None,
    delta_1: Annotated[
        float | None, typer.Option("--delta-1", help="url as written: their probability of failure.", show_default="0.01")
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(help="Number of threads.", show_default="all cores")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - is standard output.", show_default=False)
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the learning curve (PNG, PDF, SVG).", show_default=False)] = None,
) -> None:
    """Train one agent on one environment over many seeds."""
    environment = catalog.environment(env, **_given(horizon=horizon, switch=switch, noise=noise))
    settings = _given(
        learning_rate=learning_rate,
        confidence=confidence,
        exploration_fraction=exploration_fraction,
        schedule=schedule,
        oracle=oracle,
        form=form,
        batch=batch,
        epsilon=epsilon,
        delta=delta,
        epsilon_1=epsilon_1,
        delta_1=delta_1,
    )
    player = catalog.agent(agent, **settings)
    with _outputs(None if json_file == "-" else json_file, plot) as (json_path, plot_path):
        run = train(environment, player, episodes, _parse_seeds(seeds), n_jobs=n_jobs)
        if plot_path:
            run.plot().figure.savefig(plot_path, dpi=200)  # type: ignore[union-attr]  # no subfigures here
        if json_path:
            json_path.write_text(json.dumps(run.summary(), indent=1) + "\n")
    if json_file == "-":
        print(json.dumps(run.summary(), indent=1))
    else:
        _print_table(run)


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given; the rest keep the defaults of what they set."""
    return {name: value for name, value in options.items() if value is not None}


def _parse_seeds(text: str) -> int | range:
    try:
        first, colon, end = text.partition(":")
        if not colon:
            return int(text)
        chosen = range(int(first), int(end))
    except ValueError:
        raise ValueError(f"seeds must be a count such as 50 or a range such as 1000:1050, got {text!r}") from None
    validation.seeds(chosen)
    return chosen


@contextmanager
def _outputs(*wanted: str | Path | None) -> Iterator[list[Path | None]]:
    """Temporary files beside the wanted ones, renamed at the end: an output is whole or not there.

    They are made before the work, so that a folder that cannot be written is known before anything is computed.
    """
    targets = [Path(name) if name else None for name in wanted]
    drafts: list[Path | None] = []
    try:
        for target in targets:
            if target is None:
                drafts.append(None)
                continue
            if target.is_dir():
                raise ValueError(f"cannot write {target}: it is a folder")
            try:
                handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
            except OSError as error:
                raise ValueError(f"cannot write {target}: {error.strerror}") from None
            os.close(handle)
            drafts.append(Path(draft))
        yield drafts
        for target, made in zip(targets, drafts, strict=True):
            if target and made:
                made.chmod(0o644)
                made.replace(target)
    finally:
        for made in drafts:
            if made:
                made.unlink(missing_ok=True)


def _print_table(run: Run) -> None:
    summary = run.summary()
    table = Table(title=run.title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    n_seeds = len(run.seeds)
    table.add_row("agent", run.agent if run.oracle is None else f"{run.agent} with {run.oracle}")
    table.add_row("trajectories", f"{run.trajectories[-1]:,} x {n_seeds} seed{'s' if n_seeds > 1 else ''}")
    table.add_row("average reward", f"{summary['average_reward_mean']:.4f} ± {summary['average_reward_std']:.4f} (one standard deviation)")
    table.add_row("value of final policy", f"{summary['value_mean']:.4f} of V* = {run.v_star:g}")
    table.add_row("near-optimal seeds", f"[bold]{int(run.near_optimal.sum())} of {n_seeds}[/bold] ({run.success_rate:.0%})")
    table.add_row("wall time", f"{run.wall_seconds:.2f} s")
    Console().print(table)


@app.command()
def info() -> None:
    """Show versions, cores and the cache of compiled kernels."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("fasturl", __version__)
    table.add_row("python", platform.python_version())
    for package in ("numba", "numpy", "scikit-learn", "cffi"):
        table.add_row(package, metadata.version(package))
    table.add_row("cores", str(available_cores()))
    table.add_row("cache folder", str(CACHE_FOLDER) if CACHE_FOLDER else "none can be written: kernels are compiled in memory")
    table.add_row("cache", "warm" if compile_cache.is_warm(CACHE_FOLDER) else "cold: the first run compiles for a while")
    Console().print(table)


@app.command()
def warmup() -> None:
    """Compile every kernel ahead, so that later runs start at once."""
    seconds = compile_everything()
    where = f"kept in {CACHE_FOLDER}" if CACHE_FOLDER else "but there is no folder to keep them in"
    print(f"kernels compiled in {seconds:.1f} s, {where}")

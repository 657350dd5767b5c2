"""`fasturl tune`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..experiments.tuning.problem import TUNING_SEEDS, Problem, Range
from ..experiments.tuning.search import METHODS, TPE_TRIALS, Tuning, study_file, tune
from .options import given, parse_seeds
from .outputs import is_standard_output, whole_files

STUDY = "fasturl-tuning.db"
SHOWN = 5

EPILOG = """Examples:

fasturl tune lock-bernoulli --horizon 5 --switch 0 --switch 0.2 --switch 0.5 --agent oracleq-lat --episodes 20000 --method grid

fasturl tune lock-gaussian --horizon 10 --noise 0.2 --agent url --search batch=25:400 --search learning_rate=none,0.03,0.1 --trials 40"""


def register(app: typer.Typer) -> None:
    app.command("tune", epilog=EPILOG)(tune_command)


def tune_command(
    env: Annotated[
        str, typer.Argument(metavar="ENV", help="lock-bernoulli or lock-gaussian", show_default=False)
    ],
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(catalog.AGENTS)}.")] = "url",
    horizon: Annotated[int, typer.Option(help="Number of levels that are acted in.")] = 20,
    switch: Annotated[
        list[float] | None,
        typer.Option(help="As for train; given several times, all count alike.", show_default="0"),
    ] = None,
    noise: Annotated[
        list[float] | None,
        typer.Option(help="lock-gaussian: as for train, also several.", show_default="0.1"),
    ] = None,
    episodes: Annotated[int, typer.Option(help="Trajectories of each run.")] = 50_000,
    seeds: Annotated[
        str, typer.Option(help="A range outside 0..49, which are for judging.")
    ] = f"{TUNING_SEEDS[0]}:{TUNING_SEEDS[-1] + 1}",
    search: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="What to search, as learning_rate=0.01,0.1 or =0.001:1 (a range, logarithmic); none is the agent's default.",
            show_default="the paper's grid",
        ),
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the agent to keep.", show_default=False
        ),
    ] = None,
    method: Annotated[str, typer.Option(help=" or ".join(METHODS) + ".")] = "tpe",
    trials: Annotated[
        int | None,
        typer.Option(
            help="Finished trials to have, old ones included.",
            show_default=f"the whole grid; tpe {TPE_TRIALS}",
        ),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the study is kept and resumed from.", show_default=STUDY),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A database for Optuna instead of a file.", show_default=False),
    ] = None,
    prune: Annotated[bool, typer.Option(help="Give up trials that do worse on their first seeds.")] = True,
    block: Annotated[int, typer.Option(help="Seeds between two looks at whether to give up.")] = 5,
    sampler_seed: Annotated[int, typer.Option(help="The same seed makes the same trials.")] = 0,
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
) -> None:
    """Search for the hyperparameters of an agent; stop it at will and run it again to go on."""
    problem = Problem.make(
        env,
        agent,
        episodes=episodes,
        env_settings=given(horizon=horizon, switch=switch, noise=noise),
        fixed={name: _value(text) for name, text in _pairs("--set", fixed or []).items()},
        search={name: _values(text) for name, text in _pairs("--search", search).items()} if search else None,
        seeds=parse_seeds(seeds),
    )
    study = Path(STUDY) if study is None and storage is None else study
    printed = is_standard_output(json_file)
    kept = study_file(study, storage)
    if json_file and kept and os.path.realpath(json_file) == os.path.realpath(kept):
        raise ValueError(f"cannot write {json_file}: the study is kept there")
    with whole_files(None if printed else json_file) as (json_path,):
        found = tune(
            problem,
            method=method,
            trials=trials,
            study=study,
            storage=storage,
            prune=prune,
            block=block,
            sampler_seed=sampler_seed,
            n_jobs=n_jobs,
        )
        if json_path:
            json_path.write_text(json.dumps(found.summary(), indent=1) + "\n")
    if printed:
        print(json.dumps(found.summary(), indent=1))
    else:
        _print_tables(found)


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name, text in map(_pair, texts):
        if name in pairs:
            raise ValueError(f"{option} {name} is given twice, as {pairs[name]} and as {text}")
        pairs[name] = text
    return pairs


def _pair(text: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not (name and equals and rest):
        raise ValueError(f"a setting is written NAME=VALUE, got {text!r}")
    return name.replace("-", "_"), rest


def _values(text: str) -> Range | list[Any]:
    low, colon, high = text.partition(":")
    if not colon:
        return [_value(part) for part in text.split(",")]
    ends = _value(low), _value(high)
    if not all(isinstance(end, int | float) for end in ends):
        raise ValueError(f"a range is written LOW:HIGH with two numbers, got {text!r}")
    return Range(*ends)


def _value(text: str) -> Any:
    if text.lower() == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _print_tables(found: Tuning) -> None:
    console = Console()
    names = list(found.problem.space)
    failed = [trial.reason for trial in found.trials if trial.reason]
    pruned = sum(trial.pruned for trial in found.trials) - len(failed)
    console.print(
        f"{found.problem}\n{len(found.trials)} trials, {pruned} of them given up early", highlight=False
    )
    if failed:
        console.print(f"{len(failed)} could not be trained; the first: {failed[0]}", highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in (*names, "average reward"):
        table.add_column(name, justify="right")
    whole = sorted(
        (trial for trial in found.trials if not trial.pruned), key=lambda trial: -trial.average_reward
    )
    for rank, trial in enumerate(whole[:SHOWN]):
        cells = [f"{trial.settings.get(name, 'default')}" for name in names]
        table.add_row(*cells, f"{trial.average_reward:.4f}", style="bold" if rank == 0 else None)
    console.print(table)
    for command in found.problem.commands(found.best.settings):
        console.print(command, soft_wrap=True, highlight=False, markup=False)

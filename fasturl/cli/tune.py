"""`fasturl tune`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .._base import checks
from .._base.schema import Range, Setting
from ..experiments.tuning.problem import TUNING_SEEDS, Problem
from ..experiments.tuning.search import METHODS, SEEDS_PER_CHECK, TPE_TRIALS, Search, Trial, Tuning, tune
from ..experiments.tuning.storage import study_file
from .options import (
    AGENT_HELP,
    DEFAULT_AGENT,
    ENV_HELP,
    EPISODES,
    N_JOBS_HELP,
    SEE_SETTINGS,
    Choice,
    SettingsCommand,
    parse_seeds,
    parsed_value,
    refuse_beside,
)
from .outputs import is_standard_output, whole_files, write_draft

STUDY = "fasturl-tuning.db"
BEST = 5
"""Trials that are printed, the best first."""

EPILOG = f"""{SEE_SETTINGS.format(command="tune")}

A setting of the environment may be given several times: all its values count alike.

Examples:

fasturl tune lock-bernoulli --horizon 5 --switch 0 --switch 0.5 --agent oracleq-lat --method grid

fasturl tune lock-gaussian --noise 0.2 --agent url --search batch=25:400 --search novelty=0.03:3"""


def register(app: typer.Typer) -> None:
    app.command("tune", cls=SettingsCommand, epilog=EPILOG)(tune_command)


def tune_command(
    ctx: typer.Context,
    env: Annotated[str, typer.Argument(metavar="ENV", help=ENV_HELP, show_default=False)],
    agent: Annotated[str, typer.Option(help=AGENT_HELP)] = DEFAULT_AGENT,
    episodes: Annotated[int, typer.Option(help="Trajectories of each run.")] = EPISODES,
    seeds: Annotated[
        str, typer.Option(help="A range outside 0..49, which are for judging.")
    ] = f"{TUNING_SEEDS[0]}:{TUNING_SEEDS[-1] + 1}",
    search: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="What to search, as learning_rate=0.01,0.1 or =0.001:1 (a range, logarithmic); none is the "
            "agent's default.",
            show_default="what the agent and its learner declare",
        ),
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the agent to keep, as --NAME VALUE.",
            show_default=False,
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
        str | None,
        typer.Option(metavar="FILE", help="Where the study is kept and resumed from.", show_default=STUDY),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A database for Optuna instead of a file.", show_default=False),
    ] = None,
    prune: Annotated[bool, typer.Option(help="Give up trials that do worse on their first seeds.")] = True,
    seeds_per_check: Annotated[
        int | None,
        typer.Option(
            help="How many seeds are trained between two checks of whether to give up.",
            show_default=str(SEEDS_PER_CHECK),
        ),
    ] = None,
    sampler_seed: Annotated[int, typer.Option(help="The same seed makes the same trials.")] = 0,
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
) -> None:
    """Search for the hyperparameters of an agent; stop it at will and run it again to go on."""
    kept = _pairs("--set", fixed or [])
    choice = Choice.of_line(ctx, env, agent, kept.items())
    _refuse_environment(choice, kept)
    problem = Problem.make(
        env,
        agent,
        episodes=episodes,
        env_settings=choice.env_values,
        fixed=choice.agent_settings,
        search=_searched(choice, search) if search else None,
        seeds=parse_seeds(seeds),
    )
    if not prune:
        refuse_beside("--no-prune", {"--seeds-per-check": seeds_per_check is not None})
    per_check = SEEDS_PER_CHECK if seeds_per_check is None else seeds_per_check
    how = Search(method, trials, prune, per_check, sampler_seed)
    study_path = None if study is None else checks.path("--study", study)
    if study is None and storage is None:
        study_path = Path(STUDY)
    printed = is_standard_output(json_file)
    file = study_file(study_path, storage)
    if json_file and file and os.path.realpath(json_file) == os.path.realpath(file):
        raise ValueError(f"cannot write {json_file}: the study is kept there")
    with whole_files(None if printed else json_file) as (json_path,):
        tuning = tune(problem, how, study=study_path, storage=storage, n_jobs=n_jobs)
        if json_path:
            write_draft(json_path, json_file, json.dumps(tuning.summary(), indent=1) + "\n")
    if printed:
        print(json.dumps(tuning.summary(), indent=1))
    else:
        _print_tables(tuning)


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name, text in (_pair(option, text) for text in texts):
        if name in pairs:
            raise ValueError(f"{option} {name} is given twice, as {pairs[name]} and as {text}")
        pairs[name] = text
    return pairs


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not (name and equals and rest):
        raise ValueError(f"{option} must be a setting written NAME=VALUE, got {text!r}")
    return name.replace("-", "_"), rest


def _refuse_environment(choice: Choice, kept: dict[str, str]) -> None:
    """ValueError where --set names a setting of the environment, whose values all count."""
    for written, text in kept.items():
        scope, setting = choice.names.owner(written)
        if scope == "env":
            option = choice.names.option(scope, setting.name)
            raise ValueError(
                f"{setting.name} is a setting of {choice.names.titles['env']}: --set keeps the agent's, "
                f"write {option} {text}"
            )


def _searched(choice: Choice, texts: list[str]) -> dict[str, Range | list[Any]]:
    """What --search asks for, by the full names of settings."""
    space: dict[str, Range | list[Any]] = {}
    for written, text in _pairs("--search", texts).items():
        name, setting = choice.searched(written)
        if name in space:
            raise ValueError(f"--search {name} is given twice")
        space[name] = _values(setting, text)
    return space


def _values(setting: Setting, text: str) -> Range | list[Any]:
    low, colon, high = text.partition(":")
    if not colon:
        # none stands for the agent's own default, whatever the setting
        return [None if part.lower() == "none" else parsed_value(setting, part) for part in text.split(",")]
    ends = _end(low, text), _end(high, text)
    try:
        return Range(*ends)
    except ValueError as error:
        raise ValueError(f"--search {setting.name}: {error}") from None


def _end(end: str, text: str) -> float:
    for kind in (int, float):
        try:
            return kind(end)
        except ValueError:
            continue
    raise ValueError(f"a range is written LOW:HIGH with two numbers, got {text!r}")


def _in_words(value: Any) -> str:
    """A value in a table; the command below it has all digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _trials_table(names: list[str], trials: Sequence[Trial]) -> Table:
    """A column for each trial, the best first, and a row for each setting: names of settings are long, and
    there may be more of them than a terminal has room for side by side."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("setting", no_wrap=True)
    for rank in range(1, len(trials) + 1):
        title, style = ("best", "bold") if rank == 1 else (str(rank), "")
        table.add_column(title, style=style, justify="right", overflow="fold")
    for name in names:
        table.add_row(name, *(_in_words(trial.settings.get(name, "default")) for trial in trials))
    table.add_row("average reward", *(f"{trial.average_reward_mean:.4f}" for trial in trials))
    return table


def _print_tables(tuning: Tuning) -> None:
    console = Console()
    names = list(tuning.problem.space)
    failed = [trial.reason for trial in tuning.trials if trial.reason]
    pruned = sum(trial.pruned for trial in tuning.trials) - len(failed)
    console.print(
        f"{tuning.problem}\n{len(tuning.trials)} trials, {pruned} of them given up early", highlight=False
    )
    if failed:
        console.print(f"{len(failed)} could not be trained; the first: {failed[0]}", highlight=False)
    whole = sorted(
        (trial for trial in tuning.trials if not trial.pruned), key=lambda trial: -trial.average_reward_mean
    )
    console.print(_trials_table(names, whole[:BEST]))
    for command in tuning.problem.commands(tuning.best.settings):
        console.print(command, soft_wrap=True, highlight=False, markup=False)

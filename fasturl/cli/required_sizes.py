"""`fasturl required-sizes`: what the theorem on URL as written asks for."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from ..agents.guarantee import RequiredSizes, power_law, required_sizes
from .options import Command
from .outputs import is_standard_output, whole_files, wide_console, write_draft

EPILOG = "Example: fasturl required-sizes --horizon 5 --n-states 3 --n-actions 4 --epsilon 0.1 --delta 0.1"


def register(app: typer.Typer) -> None:
    app.command("required-sizes", cls=Command, epilog=EPILOG)(required_sizes_command)


def required_sizes_command(
    horizon: Annotated[int, typer.Option(help="H: levels that are acted in.", show_default=False)],
    n_states: Annotated[int, typer.Option(help="|S|: bound on the states of a level.", show_default=False)],
    n_actions: Annotated[int, typer.Option(help="Number of actions.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="How far from optimal the result may be.")] = 0.1,
    delta: Annotated[float, typer.Option(help="Probability that it is farther.")] = 0.1,
    learner_episodes: Annotated[
        float | None,
        typer.Option(
            help="K: episodes that the learner needs to be (epsilon/4, 1/300)-correct; without it, those of "
            "OracleQ up to a constant.",
            show_default=False,
        ),
    ] = None,
    oracle_constant: Annotated[
        float | None,
        typer.Option(
            help="c of the c log(1/d) / e^power observations with which the oracle's error is below e with "
            "probability 1 - d; without it, 1, which is said to be up to a constant.",
            show_default=False,
        ),
    ] = None,
    oracle_power: Annotated[float, typer.Option(help="The power of 1/e there.")] = 1.0,
    json_file: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the sizes as JSON; - is standard output.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compute the sizes with which URL as written is epsilon-optimal with probability 1 - delta."""
    given = oracle_constant is not None or oracle_power != 1.0
    constant = 1.0 if oracle_constant is None else oracle_constant
    sizes = required_sizes(
        horizon,
        n_states,
        n_actions,
        epsilon=epsilon,
        delta=delta,
        learner_episodes=learner_episodes,
        oracle_samples=power_law(constant, oracle_power, prefix="--oracle-") if given else None,
    )
    if is_standard_output(json_file):
        print(json.dumps(sizes.to_dict(), indent=1))
        return
    with whole_files(json_file) as (draft,):
        if draft:
            write_draft(draft, json_file, json.dumps(sizes.to_dict(), indent=1) + "\n")
    _print_table(sizes)


def _print_table(sizes: RequiredSizes) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, number in (
        ("N, restarts", sizes.restarts),
        ("L, test episodes of each", sizes.test_episodes),
        ("J, iterations of an episode", sizes.iterations),
        ("K, --episodes", sizes.episodes),
        ("B, --batch", sizes.batch),
        ("--epsilon-1", sizes.epsilon_1),
        ("--delta-1", sizes.delta_1),
        ("trajectories", sizes.trajectories),
    ):
        table.add_row(name, f"{number:,}" if number == int(number) and number < 1e9 else f"{number:.3g}")
    for text in sizes.assumed:
        table.add_row("assumed", text)
    wide_console().print(table)

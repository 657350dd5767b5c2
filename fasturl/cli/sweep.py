"""`fasturl sweep`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from .._base import checks, optional
from .._base.memory import in_words
from .._base.words import counted
from .options import N_JOBS_HELP, Command, parse_seeds, refuse_beside
from .outputs import wide_console

if TYPE_CHECKING:
    from ..experiments.running.backends import Backend
    from ..experiments.running.cells import Cell
    from ..experiments.running.store import Store
    from ..experiments.running.sweeping import SeedBlock

EPILOG = """Examples:

fasturl sweep --example > sweep.toml

fasturl sweep sweep.toml --dry-run

fasturl sweep sweep.toml --out results

fasturl sweep sweep.toml --out results --dask tcp://192.168.0.1:8786

Stop it in any way; the same command continues where it was."""


def register(app: typer.Typer) -> None:
    app.command("sweep", cls=Command, epilog=EPILOG)(sweep_command)


def sweep_command(
    spec: Annotated[
        str | None,
        typer.Argument(metavar="SPEC.toml", help="What to run; see --example.", show_default=False),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the results.", show_default=False)
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Instead of the file's: a count n, for seeds 0..n-1, or a range as 1000:1050.",
            show_default=False,
        ),
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(help=N_JOBS_HELP, show_default="all cores")] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Compute on the Dask cluster with this scheduler.", show_default=False
        ),
    ] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Compute on Ray.")] = False,
    ray_address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A running Ray cluster.", show_default="one is started here"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and how long it should take.")
    ] = False,
    example: Annotated[bool, typer.Option("--example", help="Print a commented example of a spec.")] = False,
) -> None:
    """Run a grid of environments and agents over many seeds; what is finished is never computed again."""
    from ..experiments.running.spec import EXAMPLE, read_spec
    from ..experiments.running.store import store_to_continue, stored_seeds
    from ..experiments.running.sweeping import complete, open_store, plan

    if example:
        refuse_beside(
            "--example",
            {
                "SPEC.toml": spec is not None,
                "--out": out is not None,
                "--seeds": seeds is not None,
                "--n-jobs": n_jobs is not None,
                "--dask": dask is not None,
                "--ray": ray,
                "--ray-address": ray_address is not None,
                "--dry-run": dry_run,
            },
        )
        print(EXAMPLE, end="")
        return
    if spec is None:
        raise ValueError(
            "a file is needed that says what to run: fasturl sweep SPEC.toml --out DIR (--example prints one)"
        )
    if out is None and not dry_run:
        raise ValueError("--out DIR is needed: the folder of the results")
    folder = None if out is None else checks.path("--out", out)
    described = read_spec(checks.path("SPEC.toml", spec))
    chosen = described.seeds if seeds is None else stored_seeds(parse_seeds(seeds))
    backend = _backend(n_jobs, dask, ray, ray_address)
    workers = backend.workers()
    if dry_run:
        store = None if folder is None else store_to_continue(folder)
        _show_plan(described.cells, chosen, plan(store, described.cells, chosen), workers)
        return
    assert folder is not None
    optional.need("pyarrow", "experiments", "storing results")  # told before anything is computed
    begin = time.perf_counter()
    store = open_store(folder, described.cells, chosen)
    blocks = plan(store, described.cells, chosen)
    complete(store, blocks, backend)
    _show_results(
        store, described.cells, chosen, sum(len(block.seeds) for block in blocks), time.perf_counter() - begin
    )


def _backend(n_jobs: int | None, dask: str | None, ray: bool, ray_address: str | None) -> Backend:
    from ..experiments.running.backends import Dask, Local, Ray

    on_ray = ray or ray_address is not None
    if (n_jobs is not None) + (dask is not None) + on_ray > 1:
        raise ValueError("choose one of --n-jobs, --dask and --ray")
    if dask is not None:
        return Dask(dask)
    return Ray(ray_address) if on_ray else Local(n_jobs)


def _show_plan(
    cells: Sequence[Cell], seeds: Sequence[int], blocks: Sequence[SeedBlock], workers: int
) -> None:
    from ..experiments.analysis.style import duration
    from ..experiments.running.sweeping import estimate_seconds

    missing: dict[Cell, int] = {}
    for block in blocks:
        missing[block.cell] = missing.get(block.cell, 0) + len(block.seeds)
    varying = _varying(cells)
    table = Table(*varying, "missing runs", box=None, padding=(0, 2, 0, 0))
    for cell in cells:
        table.add_row(*_values(cell, varying), str(missing.get(cell, 0)))
    console = wide_console()
    console.print(table)
    runs = sum(missing.values())
    console.print(
        f"{counted(len(cells), 'cell')} x {counted(len(seeds), 'seed')}: {runs:,} of "
        f"{len(cells) * len(seeds):,} runs are missing, in {counted(len(blocks), 'block')}"
    )
    if blocks:
        most = max(cell.footprint().total for cell in missing)
        seconds = estimate_seconds(blocks, min(workers, len(blocks)))
        console.print(
            f"about {duration(seconds)} with {counted(workers, 'worker')} "
            f"like this machine's cores, and up to {in_words(most)} of memory for a run"
        )


def _show_results(
    store: Store, cells: Sequence[Cell], seeds: Sequence[int], computed: int, seconds: float
) -> None:
    from ..experiments.analysis.style import duration

    near: dict[str, dict[int, bool]] = {cell.id: {} for cell in cells}
    warned: dict[str, set[int]] = {cell.id: set() for cell in cells}
    spent = dict.fromkeys(near, 0.0)
    wanted = set(seeds)
    for arrow in store.tables(["seed", "near_optimal", "warnings"], cells):
        about = store.about_table(arrow)
        for row in arrow.to_pylist():
            if row["seed"] in wanted:
                near[about["cell"]][row["seed"]] = row["near_optimal"]
                if row["warnings"]:
                    warned[about["cell"]].add(row["seed"])
        spent[about["cell"]] += about["wall_seconds"]
    varying = _varying(cells)
    table = Table(*varying, "seeds", "success rate", "warned", "seconds", box=None, padding=(0, 2, 0, 0))
    for cell in cells:
        successes = near[cell.id]
        rate = f"{sum(successes.values()) / len(successes):.2f}" if successes else ""
        shown = str(len(successes)), rate, str(len(warned[cell.id])), f"{spent[cell.id]:.1f}"
        table.add_row(*_values(cell, varying), *shown)
    console = wide_console()
    console.print(table)
    console.print(
        f"{computed:,} of {len(cells) * len(seeds):,} runs computed in {duration(seconds)}; "
        f"results in {store.folder}"
    )


def _fields(cell: Cell) -> dict[str, Any]:
    """A cell as columns of a table; what the environment has too is called agent.name."""
    from ..experiments.running.cells import flat_settings

    environment = {"env": cell.env} | flat_settings(cell.env_settings)
    agent = {
        f"agent.{name}" if name in environment else name: value
        for name, value in flat_settings(cell.agent_settings).items()
    }
    return environment | {"agent": cell.agent} | agent | {"episodes": cell.episodes}


def _varying(cells: Sequence[Cell]) -> list[str]:
    """What a cell is, and the settings in which cells of the same agent differ."""
    values_of: dict[str, dict[str, set[str]]] = {}
    for cell in cells:
        for name, value in _fields(cell).items():
            values_of.setdefault(name, {}).setdefault(cell.agent, set()).add(str(value))
    varying = [name for name, values in values_of.items() if any(len(some) > 1 for some in values.values())]
    of_env = {name for cell in cells for name in cell.env_settings}
    of_agent = [name for name in varying if name not in of_env | {"env", "agent", "episodes"}]
    return ["env", *(name for name in varying if name in of_env), "agent", *of_agent, "episodes"]


def _values(cell: Cell, names: Sequence[str]) -> list[str]:
    fields = _fields(cell)
    return ["" if fields.get(name) is None else str(fields[name]) for name in names]

"""What a file of results holds, and what it is called: some seeds of one cell, in Parquet.

Rows are tidy, one for each seed and point of the curve, and depend on the configuration alone. All files of
one family have the same columns; those of several families are one table by the union of their columns. The
configuration, all settings with their kinds, versions, timings and diagnostics are in the file's metadata.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import optional
from ..._version import __version__
from .cells import Cell
from .columns import agent_columns, environment_columns

if TYPE_CHECKING:
    from ...run import Run

FORMAT = 21
"""Raised when what a file holds, or what a run of the same configuration gives, changes."""
CELL_COLUMNS = {
    "cell": "Digest of the whole configuration.",
    "env": "Name of the environment; columns of its settings follow, `horizon` always among them.",
    "agent": "Name of the agent.",
    "oracle": "Name of the agent's oracle, if it has one.",
    "learner": "Name of the agent's learner, if it is a part of the agent.",
    "episodes": "How many episodes the run was asked for.",
}
"""The columns that say what was run, and what they mean."""
RESULTS = {
    "seed": "The seed of the run.",
    "trajectories": "A point of the learning curve: how many trajectories had been played.",
    "average_reward": "Sum of the rewards of the first `trajectories` trajectories, divided by their number.",
    "regret": "Cumulative regret: `trajectories` times `optimal_value`, minus the sum of those rewards.",
    "value": "Value of the run's final policy, the same in all its rows.",
    "value_error": "Standard error that is left in `value`, 0 where it is exact.",
    "optimal_value": "V* of the instance that the seed met.",
    "near_optimal": "Whether the value is near-optimal: at most a tenth of |V*| below V*.",
    "warnings": "How many warnings the agent gave in the run.",
}
"""The columns that say what came out, and what they mean."""
ANNOTATIONS = {
    "format": "Number of this format of files.",
    "cell": "Digest of the whole configuration.",
    "config": "The whole configuration: `Cell.from_config` makes a cell of it.",
    "columns": "Kind and value of every setting of the environment (`env`) and of the agent (`agent`).",
    "oracle": "Name of the oracle that the agent used.",
    "seeds": "The seeds in this file.",
    "optimal_values": "V* of each of them.",
    "versions": "What it was computed with: fasturl, Python and the libraries.",
    "wall_seconds": "How long these seeds took.",
    "diagnostics": "What the agent said of the run of each seed.",
}
"""What the metadata of a file hold."""
_KEY = b"fasturl"


@functools.cache
def versions() -> dict[str, str]:
    """What results are computed with."""
    packages = ("numba", "numpy", "scikit-learn", "pyarrow")
    return {
        "fasturl": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


def part_of_run(run: Run, positions: list[int]) -> Run:
    """A run with some of its seeds, and their share of its time."""
    arrays = ("optimal_values", "final_average_reward", "average_reward", "values", "value_errors")
    fields: dict[str, Any] = {name: getattr(run, name)[positions] for name in arrays}
    fields |= {
        name: [getattr(run, name)[position] for position in positions] for name in ("seeds", "diagnostics")
    }
    return dataclasses.replace(run, **fields, wall_seconds=run.wall_seconds * len(positions) / run.n_seeds)


def encode(cell: Cell, run: Run, packages: dict[str, str]) -> bytes:
    """The bytes of a file: the rows of some seeds of a cell and, as metadata, all that is known of them."""
    pa, parquet = pyarrow()
    table = pa.table(_rows(cell, run)).replace_schema_metadata(
        {_KEY: json.dumps(_annotations(cell, run, packages), default=lambda number: number.item()).encode()}
    )
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", write_page_checksum=True)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _annotations(cell: Cell, run: Run, packages: dict[str, str]) -> dict[str, Any]:
    owners = {"env": environment_columns(cell), "agent": agent_columns(cell)}
    return {
        "format": FORMAT,
        "cell": cell.id,
        "config": cell.config,
        "columns": {
            owner: {name: dataclasses.asdict(column) for name, column in columns.items()}
            for owner, columns in owners.items()
        },
        "oracle": run.oracle,
        "seeds": run.seeds,
        "optimal_values": run.optimal_values.tolist(),
        "versions": packages,
        "wall_seconds": run.wall_seconds,
        "diagnostics": run.diagnostics,
    }


def _rows(cell: Cell, run: Run) -> dict[str, Any]:
    """The columns of the table. Those of the agent's settings are not among them: agents of one folder would
    have different ones."""
    pa, _ = pyarrow()
    types = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "text": pa.string()}
    points, n_seeds = run.trajectories.size, run.n_seeds
    learner = agent_columns(cell).get("learner")
    same = {
        "cell": (pa.string(), cell.id),
        "env": (pa.string(), cell.env),
        **{name: (types[one.kind], one.value) for name, one in environment_columns(cell).items()},
        "agent": (pa.string(), cell.agent),
        "oracle": (pa.string(), run.oracle),
        "learner": (pa.string(), learner and learner.value),
        "episodes": (pa.int64(), cell.episodes),
    }
    rows = {name: pa.repeat(pa.scalar(value, kind), points * n_seeds) for name, (kind, value) in same.items()}
    results = (
        np.repeat(np.array(run.seeds, np.int64), points),
        np.tile(run.trajectories, n_seeds),
        run.average_reward.ravel(),
        run.regret.ravel(),
        np.repeat(run.values, points),
        np.repeat(run.value_errors, points),
        np.repeat(run.optimal_values, points),
        np.repeat(run.near_optimal, points),
        np.repeat([len(about.get("warnings", [])) for about in run.diagnostics], points),
    )
    return rows | dict(zip(RESULTS, results, strict=True))


def decode(content: bytes, columns: list[str] | None = None) -> Any:
    """The Arrow table that a file holds, or some of its columns."""
    pa, parquet = pyarrow()
    return parquet.ParquetFile(pa.BufferReader(content)).read(columns=columns, use_threads=False)


def annotations_of_table(table: Any) -> dict[str, Any]:
    """The metadata of a table that `decode` gave."""
    annotations: dict[str, Any] = json.loads(table.schema.metadata[_KEY])
    return annotations


def annotations_of_content(content: bytes) -> dict[str, Any]:
    """The metadata of a file, without its rows."""
    pa, parquet = pyarrow()
    annotations: dict[str, Any] = json.loads(parquet.read_metadata(pa.BufferReader(content)).metadata[_KEY])
    return annotations


def file_name(cell: str, seeds: Iterable[int], content: bytes) -> str:
    """First and last seed, their number, and a digest of the bytes and of the place."""
    chosen = sorted(seeds)
    stem = f"{chosen[0]}-{chosen[-1]}-{len(chosen)}"
    return f"{stem}-{_digest(cell, stem, content)}.parquet"


def seeds_in_name(path: Path) -> tuple[int, int, int]:
    """First and last seed of a file, and how many it holds, as its name tells."""
    first, last, count = map(int, path.stem.split("-")[:3])
    return first, last, count


def is_undamaged(path: Path, content: bytes) -> bool:
    """Whether the bytes are those that were written under this name, in this place."""
    stem, _, digest = path.stem.rpartition("-")
    return _digest(path.parent.name, stem, content) == digest


def _digest(cell: str, stem: str, content: bytes) -> str:
    return hashlib.blake2b(f"{cell}/{stem}\n".encode() + content, digest_size=8).hexdigest()


def pyarrow() -> tuple[Any, Any]:
    return optional.need("pyarrow", "experiments", "storing results"), optional.need(
        "pyarrow.parquet", "experiments", "storing results"
    )

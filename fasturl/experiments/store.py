"""Results on disk: one small Parquet file for each cell and block of seeds.

A file is written under a temporary name, flushed, and linked to its own name only when it is whole, so a crash leaves
no half result and nothing that exists is ever replaced. Pages carry checksums: a damaged file is moved to
`damaged/`, which counts as not having it. Rows are tidy, one for each seed and point of the curve; configuration, versions and
timings are in the file's metadata.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import optional
from .._version import __version__
from .cells import Cell

if TYPE_CHECKING:
    import pandas

    from ..runs import Run

_MANIFEST = "fasturl-results.json"
_KEY = b"fasturl"
FORMAT = 1
"""Raised when what a file holds, or what a run of the same configuration gives, changes."""


class Store:
    """A folder of results. `Store(folder, create=True)` makes it; otherwise it must be there."""

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False) -> None:
        self.folder = Path(folder)
        manifest = self.folder / _MANIFEST
        if not manifest.exists():
            if not create:
                raise ValueError(f"there are no results in {self.folder}")
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                if any(self.folder.iterdir()) and not (self.folder / "results").exists():
                    raise ValueError(f"{self.folder} is not empty and holds no results: choose another folder")
                with _whole_file(manifest) as draft:
                    draft.write_text(json.dumps({"format": FORMAT, "version": __version__}) + "\n")
            except OSError as error:
                raise ValueError(f"cannot write {self.folder}: {error.strerror}") from None
        try:
            made_by = json.loads(manifest.read_text())
        except (OSError, ValueError):
            raise ValueError(f"cannot read {manifest}: it is damaged") from None
        if made_by.get("format") != FORMAT:
            raise ValueError(
                f"the results in {self.folder} were made by fasturl {made_by.get('version')}, whose files this version ({__version__}) "
                "does not continue: choose another folder"
            )

    def seeds(self, cell: Cell) -> set[int]:
        """The seeds whose results are there and undamaged."""
        found: set[int] = set()
        for path in self._files(cell):
            if (table := self._read(path)) is not None:
                found.update(_metadata(table)["seeds"])
        return found

    def write(self, cell: Cell, run: Run) -> None:
        """Keep the results of some seeds of a cell."""
        pa, parquet = _pyarrow()
        points = run.trajectories.size
        columns = {
            "cell": np.repeat(cell.id, len(run.seeds) * points),
            "seed": np.repeat(run.seeds, points),
            "trajectories": np.tile(run.trajectories, len(run.seeds)),
            "average_reward": run.average_reward.ravel(),
            "value": np.repeat(run.values, points),
            "value_error": np.repeat(run.value_errors, points),
            "near_optimal": np.repeat(run.near_optimal, points),
        }
        about = {
            "config": cell.config,
            "oracle": run.oracle,
            "v_star": run.v_star,
            "seeds": run.seeds,
            "versions": versions(),
            "wall_seconds": run.wall_seconds,
            "diagnostics": run.diagnostics,
        }
        table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
        target = self.folder / "results" / cell.id / f"{_block_name(run.seeds)}.parquet"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with _whole_file(target) as draft:
                parquet.write_table(table, draft, compression="zstd", write_page_checksum=True)
        except OSError as error:
            raise OSError(f"cannot write {target}: {error.strerror or error}") from None

    def tables(self) -> Iterator[Any]:
        """Every undamaged file as an Arrow table, in a fixed order."""
        for path in sorted((self.folder / "results").glob("*/*.parquet")):
            if (table := self._read(path)) is not None:
                yield table

    def about(self) -> list[dict[str, Any]]:
        """The metadata of every file: configuration, versions, timings, diagnostics."""
        return [_metadata(table) for table in self.tables()]

    def frame(self) -> pandas.DataFrame:
        """All results, tidy: one row for each cell, seed and point, with the settings as columns."""
        pd = optional.need("pandas", "experiments", "loading results")
        parts = []
        for table in self.tables():
            about = _metadata(table)
            part = table.replace_schema_metadata(None).to_pandas()
            config = about["config"]
            settings = {
                "noise": np.nan,
                **config["env_settings"],
                **{f"agent.{key}": value for key, value in config["agent_settings"].items()},
            }
            settings |= {"env": config["env"], "agent": config["agent"], "episodes": config["episodes"]}
            settings |= {"oracle": about["oracle"], "v_star": about["v_star"]}
            parts.append(part.assign(**{key: json.dumps(value) if isinstance(value, dict) else value for key, value in settings.items()}))
        if not parts:
            raise ValueError(f"there are no results in {self.folder}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # settings that some agents lack are columns of missing values
            whole = pd.concat(parts, ignore_index=True)
        # two processes on one folder may both have computed a seed; they agree to the last bit
        whole = whole.drop_duplicates(["cell", "seed", "trajectories"])
        frame: pandas.DataFrame = whole.sort_values(["cell", "seed", "trajectories"], ignore_index=True)
        return frame

    def _files(self, cell: Cell) -> list[Path]:
        return sorted((self.folder / "results" / cell.id).glob("*.parquet"))

    def _read(self, path: Path) -> Any:
        """The file as an Arrow table, or None after setting it aside because it is damaged."""
        pa, parquet = _pyarrow()
        try:
            table = parquet.read_table(path, page_checksum_verification=True, partitioning=None)
            _metadata(table)
            return table
        except FileNotFoundError:
            return None  # set aside by another process just now
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            aside = self.folder / "damaged" / f"{path.parent.name}-{path.name}"
            aside.parent.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                path.replace(aside)
                warnings.warn(f"{path} is damaged: set aside as {aside}, its results will be computed again", stacklevel=2)
            return None


def load(folder: str | os.PathLike[str]) -> pandas.DataFrame:
    """The results of a folder as a tidy pandas frame."""
    return Store(folder).frame()


def versions() -> dict[str, str]:
    packages = ("numba", "numpy", "scikit-learn", "pyarrow")
    return {"fasturl": __version__, "python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def _metadata(table: Any) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(table.schema.metadata[_KEY])
    return about


def _block_name(seeds: Iterable[int]) -> str:
    chosen = sorted(seeds)
    digest = hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:8]
    return f"{chosen[0]}-{chosen[-1]}-{digest}"


def _pyarrow() -> tuple[Any, Any]:
    return optional.need("pyarrow", "experiments", "storing results"), optional.need("pyarrow.parquet", "experiments", "storing results")


@contextlib.contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    """A draft beside the target that takes its name when it is complete and on the disk, unless the target exists by then."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".draft-", suffix=target.suffix)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o644)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, target)
        _sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

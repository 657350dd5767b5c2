"""Results on disk: a folder with one small Parquet file for each cell and block of seeds.

A file is written under a temporary name, flushed, and renamed only when it is whole, so a crash leaves no
half result. Its name ends in a digest of its bytes: a file is never replaced by something else, and one whose
bytes have changed is damaged. Readers skip a damaged file; a sweep moves it to `damaged/`. Files with other
names are ignored. What is in a file is in `files`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import tempfile
import time
import warnings
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import checks, optional
from ..._base.drafts import draft_removed
from ..._base.whole_files import read_file
from ..._version import __version__
from ...run import mean_optimal_value
from . import files
from .cells import Cell
from .columns import settings_frame
from .files import FORMAT as FORMAT
from .files import seeds_in_name
from .processes import is_gone, this_process

if TYPE_CHECKING:
    import pandas

    from ...run import Run

_MANIFEST = "fasturl-results.json"
_DRAFT = ".draft-"
_FORGOTTEN_SECONDS = 24 * 3600.0
"""Age from which on a draft of another machine is taken to be left behind."""

_CELL_NAME = re.compile("[0-9a-f]{16}")
_FILE_NAME = re.compile(r"\d+-\d+-\d+-[0-9a-f]{16}\.parquet")
_MOST_SEED = 2**63 - 1
"""The greatest seed that a column of 64-bit integers holds."""


def stored_seeds(value: int | Iterable[int]) -> list[int]:
    """Seeds as `checks.seeds` gives them, if the files have room for them."""
    chosen = checks.seeds(value)
    if max(chosen) > _MOST_SEED:
        raise ValueError(
            f"seeds must be at most 2^63 - 1 where results are kept, got {checks.short_repr(max(chosen))}"
        )
    return chosen


class Store:
    """A folder of results, which is there and is read; `Store(folder, create=True)` makes it and checks that
    it can be written. One that has lost its manifest is read and continued as any other."""

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False) -> None:
        self.folder = checks.path("folder", folder)
        self._writes = create
        manifest = self.folder / _MANIFEST
        self._made_by: dict[str, Any] | None = None
        try:
            self._made_by = _manifest(manifest)
        except FileNotFoundError:
            if not create and not _cell_folders(self.folder):
                raise ValueError(f"there are no results in {self.folder}") from None
        except OSError as error:
            raise ValueError(f"cannot read {self.folder}: {error.strerror}") from None
        except ValueError:  # damaged; every file says its own format too
            if create:
                _has_content(self.folder)
                self._set_aside(manifest, f"{_MANIFEST}-{time.time_ns()}", "it is written anew")
        if self._made_by is not None and self._made_by.get("format") != FORMAT:
            raise self._refusal(self._made_by.get("version"), self._made_by.get("format"))
        if create:
            self.check_continues()
            self._prepare(manifest)

    def check_continues(self) -> None:
        """ValueError for what no sweep continues: results of another version, which can only be read, and
        other things in a folder without a manifest that can be read."""
        if self._made_by is None:
            _has_content(self.folder)
        elif self._made_by.get("version") != __version__:
            raise self._refusal(self._made_by.get("version"), FORMAT)

    def _refusal(self, version: object, form: object) -> ValueError:
        origin = f"the results in {self.folder} were made by fasturl {version}"
        if form == FORMAT:
            return ValueError(
                f"{origin}, which this version ({__version__}) does not continue: choose another folder"
            )
        does, advice = "reads", "use the one that made them"
        if self._writes:
            does, advice = "writes", "choose another folder"
        return ValueError(
            f"{origin} in format {form}; this fasturl ({__version__}) {does} format {FORMAT}: {advice}"
        )

    def _prepare(self, manifest: Path) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._remove_drafts()
            if not manifest.exists():
                self._write_whole(
                    manifest, json.dumps({"format": FORMAT, "version": __version__}).encode() + b"\n"
                )
            else:
                with tempfile.TemporaryFile(dir=self.folder):
                    pass
        except OSError as error:
            raise ValueError(f"cannot write {self.folder}: {error.strerror or error}") from None

    def seeds(self, cell: Cell) -> set[int]:
        """The seeds whose results are there and undamaged."""
        return self._seeds_of_files(self._files(cell))

    def _seeds_of_files(self, paths: Iterable[Path]) -> set[int]:
        """The seeds of some files of a cell.

        Who writes sets files aside whose seeds are all in larger ones, or in equal ones before them: two
        processes wrote them at the same moment. All processes go through the files in this order, so that
        none sets aside what another relies on.
        """
        seeds: set[int] = set()
        for path in sorted(paths, key=lambda path: (-seeds_in_name(path)[2], path.name)):
            file_seeds = self._seeds_of(path)
            if file_seeds and self._writes and seeds.issuperset(file_seeds):
                with contextlib.suppress(OSError):  # it does no harm where it is
                    self._move(path, "duplicates", f"{path.parent.name}-{path.name}")
            seeds.update(file_seeds)
        return seeds

    def _stored_near(self, cell: Cell, seeds: Collection[int]) -> set[int]:
        """The seeds of the files that may hold one of these."""
        paths = [
            path
            for path in self._files(cell)
            if seeds_in_name(path)[0] <= max(seeds) and min(seeds) <= seeds_in_name(path)[1]
        ]
        try:
            return self._seeds_of_files(paths)
        except ValueError:  # something cannot be read: rather twice than not at all
            return set()

    def write(self, cell: Cell, run: Run, packages: dict[str, str]) -> None:
        """Keep the results of some seeds of a cell, and the versions that they were computed with.

        Seeds that another process has written in the meantime are left out, so that readers of the files see
        every run once.
        """
        folder = self.folder / "results" / cell.id
        stored = self._stored_near(cell, run.seeds)
        new_positions = [position for position, seed in enumerate(run.seeds) if seed not in stored]
        if not new_positions:
            return
        run = files.part_of_run(run, new_positions)
        content = files.encode(cell, run, packages)
        target = folder / files.file_name(cell.id, run.seeds, content)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._write_whole(target, content)
            self._stored_near(cell, run.seeds)  # another process may have written just now
        except OSError as error:
            raise OSError(
                f"cannot write {target}: {error.strerror or error}; what was written before is kept"
            ) from None

    def tables(
        self, columns: Iterable[str] | None = None, cells: Iterable[Cell] | None = None
    ) -> Iterator[Any]:
        """Every undamaged file as an Arrow table with its metadata, in a fixed order: all of them, or those
        of some cells."""
        column_list = None if columns is None else list(columns)
        if cells is None:
            paths = self._all_files()
        else:
            paths = sorted(path for cell in cells for path in self._files(cell))
        for path in paths:
            if (content := self._content(path)) is not None:
                yield files.decode(content, column_list)

    def about(self) -> list[dict[str, Any]]:
        """The metadata of every file: configuration, versions, timings, diagnostics."""
        contents = (self._content(path) for path in self._all_files())
        return [self._about_content(content) for content in contents if content is not None]

    def about_table(self, table: Any) -> dict[str, Any]:
        """The metadata of one of `tables`."""
        return self._checked(files.annotations_of_table(table))

    def _about_content(self, content: bytes) -> dict[str, Any]:
        return self._checked(files.annotations_of_content(content))

    def _checked(self, about: dict[str, Any]) -> dict[str, Any]:
        if about["format"] != FORMAT:
            raise self._refusal(about["versions"]["fasturl"], about["format"])
        return about

    def frame(self) -> pandas.DataFrame:
        """All results, tidy: one row for each cell, seed and point, with the settings as columns.

        `optimal_value` is V* of the instance that a seed met, `v_star` the mean over the seeds of a cell.
        """
        pd = optional.need("pandas", "experiments", "loading results")
        pa, _ = files.pyarrow()
        parts, owners = [], []
        cells: dict[str, dict[str, Any]] = {}
        for table in self.tables(files.RESULTS):
            about = self.about_table(table)
            cells.setdefault(about["cell"], about)
            parts.append(table.replace_schema_metadata(None))
            owners.append(len(cells) - 1)  # files come cell by cell
        if not parts:
            raise ValueError(f"there are no results in {self.folder}")
        whole = pa.concat_tables(parts).to_pandas()
        codes = np.repeat(owners, [part.num_rows for part in parts])
        order = np.lexsort([whole["trajectories"], whole["seed"], codes])
        whole, codes = whole.take(order), codes[order]
        # two processes on one folder may both have computed a seed; they agree to the last bit
        key = np.stack([codes, whole["seed"], whole["trajectories"]])
        is_first = np.append(True, np.any(np.diff(key), axis=0))
        whole, codes = whole[is_first].reset_index(drop=True), codes[is_first]
        columns = settings_frame(list(cells.values()))
        columns["v_star"] = _mean_optimal_values(codes, whole)
        frame: pandas.DataFrame = pd.concat(
            [columns.take(codes).reset_index(drop=True), whole], axis="columns"
        )
        return frame

    def _files(self, cell: Cell) -> list[Path]:
        return sorted(
            path
            for path in (self.folder / "results" / cell.id).glob("*.parquet")
            if _FILE_NAME.fullmatch(path.name)
        )

    def _all_files(self) -> list[Path]:
        paths = (self.folder / "results").glob("*/*.parquet")
        return sorted(
            path
            for path in paths
            if _CELL_NAME.fullmatch(path.parent.name) and _FILE_NAME.fullmatch(path.name)
        )

    def _content(self, path: Path) -> bytes | None:
        """The bytes of a file, or None if they are not those that were written."""
        try:
            content = read_file(path)
        except FileNotFoundError:
            return None  # set aside by another process just now
        except OSError as error:  # says nothing of the file: a network may be down
            raise ValueError(f"cannot read {path}: {error.strerror or error}") from None
        if files.is_undamaged(path, content):
            return content
        if self._writes:
            self._set_aside(path, f"{path.parent.name}-{path.name}", "its results count as missing")
        else:  # it may be on its way here
            warnings.warn(f"{path} is damaged and left out", stacklevel=2)
        return None

    def _seeds_of(self, path: Path) -> Collection[int]:
        """The seeds of a file, none if it is damaged: the digest holds for its name too, which often
        tells."""
        if (content := self._content(path)) is None:
            return ()
        first, last, count = seeds_in_name(path)
        seeds: Collection[int] = (
            range(first, last + 1) if last - first + 1 == count else self._about_content(content)["seeds"]
        )
        return seeds

    def _move(self, path: Path, folder: str, name: str) -> Path:
        aside = self.folder / folder / name
        aside.parent.mkdir(exist_ok=True)
        return path.replace(aside)

    def _set_aside(self, path: Path, name: str, consequence: str) -> None:
        try:
            aside = self._move(path, "damaged", name)
        except FileNotFoundError:
            return  # by another process just now
        except OSError as error:
            warnings.warn(
                f"{path} is damaged and left out; it cannot be set aside: {error.strerror}", stacklevel=2
            )
            return
        warnings.warn(f"{path} is damaged: set aside as {aside}, {consequence}", stacklevel=2)

    def _write_whole(self, target: Path, content: bytes) -> None:
        """Write a draft, which takes the name of the target once it is complete and on the disk.

        The folder is not flushed: a power cut may take a name back, and its results are then computed again.
        """
        host, process = this_process()
        name = self.folder / f"{_DRAFT}{host}-{process}-{secrets.token_hex(8)}"
        with draft_removed(name):
            with open(name, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, target)

    def _remove_drafts(self) -> None:
        """Remove the drafts of processes that were killed."""
        for draft in self.folder.glob(f"{_DRAFT}*"):
            host, process, *_ = [*draft.name.removeprefix(_DRAFT).rsplit("-", 2), ""]
            dead = process.isdecimal() and is_gone(host, int(process))
            with contextlib.suppress(FileNotFoundError):
                if dead or time.time() - draft.stat().st_mtime > _FORGOTTEN_SECONDS:
                    draft.unlink()


def store_to_continue(folder: Path) -> Store | None:
    """The results that a sweep into a folder would continue, to be read, and None where it would begin;
    ValueError where it would refuse the folder for what is in it."""
    if not os.path.exists(folder / _MANIFEST) and not _has_content(folder):
        return None
    store = Store(folder)
    store.check_continues()
    return store


def _has_content(folder: Path) -> bool:
    """Whether a folder without a manifest that can be read holds results; ValueError where it holds other
    things alone."""
    try:
        entries = {path.name for path in folder.iterdir() if not path.name.startswith(_DRAFT)}
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ValueError(f"cannot read {folder}: {error.strerror}") from None
    if _cell_folders(folder):
        return True
    # another process may have written the manifest just now
    entries -= {_MANIFEST, "damaged", "duplicates"}
    if not any((folder / "results").glob("*")):
        entries.discard("results")
    if entries:
        raise ValueError(f"{folder} is not empty and holds no results: choose another folder")
    return False


def _cell_folders(folder: Path) -> list[Path]:
    """The folders of cells in a folder of results."""
    return [path for path in (folder / "results").glob("*") if _CELL_NAME.fullmatch(path.name)]


def load(folder: str | os.PathLike[str]) -> pandas.DataFrame:
    """The results of a folder as a tidy pandas frame: one row for each cell, seed and point, with the
    settings as columns.

    folder
        What `sweep` or a command filled.

    Returns a frame; `fasturl list` and the reference say what its columns are.

    Examples
    --------
    >>> import tempfile
    >>> from fasturl.experiments import Cell, load, sweep
    >>> cell = Cell.make("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, episodes=50, points=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = sweep([cell], seeds=2, out=folder, n_jobs=1, progress=False)
    ...     frame = load(folder)
    >>> len(frame), int(frame["trajectories"].max())
    (10, 50)
    """
    return Store(folder).frame()


def _mean_optimal_values(codes: Any, rows: pandas.DataFrame) -> list[float]:
    """The mean of V* over the seeds of each cell: its rows, sorted by cell and seed, have the cell's
    number."""
    first = np.append(True, np.diff(codes).astype(bool) | np.diff(rows["seed"]).astype(bool))
    values, owners = rows["optimal_value"].to_numpy()[first], codes[first]
    return [mean_optimal_value(of_cell) for of_cell in np.split(values, np.flatnonzero(np.diff(owners)) + 1)]


def _manifest(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_file(path).decode("utf-8"))
    except RecursionError:  # a thousand brackets
        content = None
    if not isinstance(content, dict):
        raise ValueError
    return content

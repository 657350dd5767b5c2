"""Folders of results that are damaged: bytes are changed, files are cut, moved, doubled, emptied or replaced.

Whoever reads such a folder sees rows that were written or a refusal, never a row that was not. A sweep that
goes on in it ends with the table of an undisturbed one, bit for bit, or refuses the folder.
"""

import os
import shutil
import warnings

import pandas as pd

from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.analysis import report

from .judgement import expect, judge_refusal
from .kinds import Kind

CELLS = (
    ("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 9, 3),
    ("lock-gaussian", {"horizon": 2}, "qlearning-lat", {}, 12, 4),
)
SEEDS = range(6)
MANIFEST = "fasturl-results.json"


class ResultFolders(Kind):
    name = "result-folders"

    def __init__(self, folder):
        super().__init__(folder)
        self.cells = [Cell.make(*words) for words in CELLS]
        self.whole = folder / "whole"
        for seeds in (SEEDS[:3], [5, 3, 4]):
            sweep(self.cells, seeds, self.whole, n_jobs=1, progress=False)
        self.table = load(self.whole)

    def play(self, chance, place, tell):
        out = shutil.copytree(self.whole, place / "out")
        for _ in range(chance.choice((1, 1, 2, 3))):
            damage = chance.choice(DAMAGES)
            tell(damage.__name__.strip("_"))
            damage(chance, out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._read(out)
            if chance.random() < 0.05:  # which takes a second
                self._report(out)
            self._continue(out)

    def _read(self, out):
        try:
            frame = load(out)
        except Exception as error:
            judge_refusal(error, [str(out).replace("-", "_")])
            return
        self._see_that_rows_are_true(frame)

    def _see_that_rows_are_true(self, frame):
        key = ["cell", "seed", "trajectories"]
        true = self.table.set_index(key)
        rows = frame.set_index(key)
        expect(rows.index.is_unique, "a row is there twice")
        expect(rows.index.isin(true.index).all(), "a row is there that was never written")
        for column in ("average_reward", "value", "value_error", "optimal_value"):
            same = rows[column].to_numpy().tobytes() == true.loc[rows.index, column].to_numpy().tobytes()
            expect(same, f"{column} is not what was written")

    @staticmethod
    def _report(out):
        try:
            report.page(out)
        except Exception as error:
            judge_refusal(error, [str(out).replace("-", "_")])

    def _continue(self, out):
        try:
            frame = sweep(self.cells, SEEDS, out, n_jobs=1, progress=False)
        except Exception as error:
            judge_refusal(error, [str(out).replace("-", "_")])
            return
        try:
            pd.testing.assert_frame_equal(frame, self.table, check_exact=True)
        except AssertionError as error:
            expect(False, f"the table is another: {error}")
        drafts = [path.name for path in out.iterdir() if path.name.startswith(".draft-")]
        expect(not drafts, f"drafts are left: {drafts}")


def _files(out):
    return sorted(path for path in out.rglob("*") if path.is_file() and not path.is_symlink())


def _file(chance, out):
    files = _files(out)
    return chance.choice(files) if files else None


def _some_file(damage):
    """A damage of one file as one of a folder."""

    def damaging(chance, out):
        path = _file(chance, out)
        if path is not None:
            damage(chance, path)

    damaging.__name__ = damage.__name__
    return damaging


@_some_file
def flip_a_bit(chance, path):
    content = bytearray(path.read_bytes())
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


@_some_file
def cut(chance, path):
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) + 1)])


@_some_file
def lengthen(chance, path):
    path.write_bytes(path.read_bytes() + chance.randbytes(chance.choice((1, 100))))


@_some_file
def replace_by_noise(chance, path):
    path.write_bytes(chance.randbytes(chance.choice((0, 1, 500))))


@_some_file
def delete(chance, path):
    path.unlink()


@_some_file
def rename(chance, path):
    name = chance.choice(["x", f"{path.name}.bak", f"0-99-100-{path.stem[-16:]}.parquet", path.name.upper()])
    path.replace(path.with_name(name))


@_some_file
def double(chance, path):
    first, dash, rest = path.name.partition("-")
    shutil.copy(path, path.with_name(chance.choice([f"{first}{dash}9{rest}", f"copy of {path.name}"])))


@_some_file
def make_it_a_folder(chance, path):
    path.unlink()
    path.mkdir()


@_some_file
def make_it_a_link(chance, path):
    path.unlink()
    path.symlink_to(chance.choice([path, "/nonexistent", "/dev/null", "/", path.parent]))


@_some_file
def make_it_a_pipe(chance, path):
    path.unlink()
    os.mkfifo(path)


def move_a_file_to_another_cell(chance, out):
    path = _file(chance, out / "results") if (out / "results").is_dir() else None
    folders = [folder for folder in (out / "results").glob("*") if folder.is_dir()]
    if path is not None and folders:
        shutil.move(path, chance.choice(folders) / path.name)


def spoil_the_manifest(chance, out):
    if (out / MANIFEST).is_dir():
        return
    texts = ["", "[]", "null", "{}", '{"format": 1}', '{"format": "x", "version": null}', "\0", "[" * 100_000]
    if (out / MANIFEST).is_symlink() or (out / MANIFEST).is_fifo():
        (out / MANIFEST).unlink()
    (out / MANIFEST).write_text(chance.choice(texts))


def remove_a_folder(chance, out):
    shutil.rmtree(chance.choice([out / "results", *(out / "results").glob("*")]), ignore_errors=True)


def leave_strangers(chance, out):
    where = chance.choice([out, out / "results"])
    if where.is_dir():
        (where / chance.choice([".DS_Store", "notes.txt", "0000", "f" * 16])).write_text("x")


DAMAGES = (
    *(flip_a_bit, flip_a_bit, cut, lengthen, replace_by_noise, delete, rename, double, make_it_a_folder),
    *(make_it_a_link, make_it_a_pipe, move_a_file_to_another_cell, spoil_the_manifest, remove_a_folder),
    leave_strangers,
)
KIND = ResultFolders

"""A small folder of results for tests of how these are kept: two cells in four files."""

from fasturl.experiments import Cell
from fasturl.experiments.running.sweeping import SeedBlock, compute

CELLS = [
    Cell.make("lock-bernoulli", {"horizon": 2, "switch": 0.5}, "oracleq-lat", {}, 60, 4),
    Cell.make("lock-gaussian", {"horizon": 3}, "qlearning-lat", {"learning_rate": 0.5}, 50, 5),
]


MANIFEST = "fasturl-results.json"


def fill(store):
    for cell in CELLS:
        for seeds in ((0, 1, 2), (3, 5, 4)):
            store.write(*written(cell, seeds))


def written(cell, seeds):
    made = compute(SeedBlock(cell, seeds))
    return cell, made.run, made.packages


def files(folder):
    return sorted((folder / "results").rglob("*.parquet"))


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

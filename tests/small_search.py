"""Searches that are over in a moment, and what is left of them."""

import contextlib
import sqlite3

from fasturl.experiments.tuning import search
from fasturl.experiments.tuning.problem import Problem


def small(**changes):
    settings = {"episodes": 400, "env_settings": {"horizon": 3}, "seeds": range(100, 106)} | changes
    return Problem.make("lock-bernoulli", "oracleq-lat", **settings)


def tune(problem, *, study=None, storage=None, **how):
    return search.tune(problem, search.Search(**how), study=study, storage=storage)


def finished_trials(path):
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as database, contextlib.suppress(sqlite3.OperationalError):
        return database.execute(
            "SELECT COUNT(*) FROM trials WHERE state IN ('COMPLETE', 'PRUNED')"
        ).fetchone()[0]
    return 0

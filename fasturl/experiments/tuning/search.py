"""Search for hyperparameters on Optuna.

A trial is one choice of settings. It is trained on the tuning seeds, a block of them at a time, and its
objective is the mean over seeds of the average reward at the last trajectory. Between blocks a trial whose
seeds do worse than the same seeds of the best trial so far, by Wilcoxon's signed-rank test, is given up.

Trials are numbered draws: the n-th point of the shuffled grid, or a sample of the tree-structured Parzen
estimator (TPE) seeded by n. A sample depends on the finished trials and on n alone. A search that is stopped
or killed goes on with the first draw that is not finished, so no finished trial is repeated, and the search
makes the trials that an undisturbed one makes.

Several processes may search at once, and none waits for another: each takes the first draw that nobody has
finished or is making. A draw whose process died is free again: at once if it died on this machine, where that
can be known, and otherwise after 90 seconds without a sign of life, until when it is passed over. If two
processes make the same draw, because they looked at the same moment or because no other is left, that costs
time and nothing else: the same settings of one draw count once.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import checks, optional
from ..running.processes import is_gone, this_process
from ..running.store import FORMAT
from .problem import Problem, Range

if TYPE_CHECKING:
    import optuna
    from sqlalchemy import URL

METHODS = ("grid", "tpe")
TPE_TRIALS = 50

_PRUNING_P = 0.05
_HEARTBEAT_SECONDS = 30
_LOOKS = 30  # more than there are tables, each of which is made once
_DRAW = "draw"
_PROCESS = "process"
_REASON = "reason"


@dataclass(frozen=True)
class Trial:
    """A finished trial; a pruned one has the mean over the seeds that it was trained on, and so has one that
    could not be trained."""

    settings: dict[str, Any]
    average_reward: float
    seeds: int
    pruned: bool
    reason: str | None = None
    """Why its settings cannot be trained; such a trial counts as pruned too."""


@dataclass(frozen=True)
class Tuning:
    """The finished trials, in the order in which they were made."""

    problem: Problem
    study_name: str
    trials: list[Trial]

    @cached_property
    def best(self) -> Trial:
        """The first of the best trials that were not pruned."""
        whole = [trial for trial in self.trials if not trial.pruned]
        if not whole:
            reasons = [trial.reason for trial in self.trials if trial.reason]
            raise ValueError(
                f"no trial could be trained; the first: {reasons[0]}"
                if reasons
                else "no trial is complete yet"
            )
        return max(whole, key=lambda trial: trial.average_reward)

    def summary(self) -> dict[str, Any]:
        problem, best = self.problem, self.best
        return {
            "env": problem.env,
            "env_settings": list(problem.env_settings),
            "agent": problem.agent,
            "episodes": problem.episodes,
            "seed_values": list(problem.seeds),
            "study": self.study_name,
            "trials": len(self.trials),
            "pruned": sum(trial.pruned for trial in self.trials),
            "best": {"settings": best.settings, "average_reward_mean": best.average_reward},
            "commands": problem.commands(best.settings),
        }


def tune(
    problem: Problem,
    *,
    method: str = "tpe",
    trials: int | None = None,
    study: str | os.PathLike[str] | None = None,
    storage: str | None = None,
    prune: bool = True,
    block: int = 5,
    sampler_seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Tuning:
    """Search until `trials` trials are finished, counting those that the study holds already.

    trials
        If not given, the whole grid, or 50 for TPE.
    study
        A file to keep the study in (SQLite); the same arguments with the same file go on where the last
        search stopped. One file can hold many studies.
    storage
        Instead of a file: the URL of a database that Optuna can use. Several machines may then search at
        once.
    prune, block
        Whether to give trials up early, and after how many seeds each to think of it.
    sampler_seed
        The same seed makes the same trials.
    """
    checks.choice("method", method, METHODS)
    grid = problem.grid() if method == "grid" else None
    wanted = (
        (len(grid) if grid else TPE_TRIALS) if trials is None else checks.integer("trials", trials, least=1)
    )
    wanted = min(wanted, len(grid)) if grid else wanted
    block = checks.integer("block", block, least=1)
    sampler_seed = checks.integer("sampler_seed", sampler_seed, least=0)
    if n_jobs is not None:
        checks.integer("n_jobs", n_jobs, least=1)
    optuna = optional.need("optuna", "tune", "tuning")
    name = f"{problem.agent} on {problem.env} {_digest(problem, method, prune, block, sampler_seed)}"
    with _quiet_optuna(), _opened(study, storage) as kept:
        pruner = (
            optuna.pruners.WilcoxonPruner(p_threshold=_PRUNING_P) if prune else optuna.pruners.NopPruner()
        )
        record = optuna.create_study(
            storage=kept, study_name=name, load_if_exists=True, direction="maximize", pruner=pruner
        )
        search = _Search(problem, record, grid, sampler_seed, block, n_jobs)
        with _progress(wanted, len(problem.seeds), progress) as show:
            while (draw := search.next_draw(wanted)) is not None:
                search.make(draw, show)
        return Tuning(problem, name, [_read(trial, problem) for trial in search.finished()])


Show = Callable[["list[optuna.trial.FrozenTrial]", int], None]
"""Told of the finished trials and of the seeds that the current one has."""


class _Search:
    """The trials of one study."""

    def __init__(
        self,
        problem: Problem,
        study: optuna.Study,
        grid: list[dict[str, Any]] | None,
        sampler_seed: int,
        block: int,
        n_jobs: int | None,
    ) -> None:
        self.problem, self.study, self.grid, self.block, self.n_jobs = problem, study, grid, block, n_jobs
        self.sampler_seed = sampler_seed
        if grid:
            # in a random order the first trials are spread out, and pruning has something good to compare
            # with soon
            np.random.default_rng(sampler_seed).shuffle(grid)

    def finished(self) -> list[optuna.trial.FrozenTrial]:
        """If two processes made the same, one trial of the two, and rather a whole one than one that was
        given up.

        Two samples of TPE with the same number may differ, if other trials were finished in between; they are
        two trials then.
        """
        distinct: dict[tuple[Any, ...], optuna.trial.FrozenTrial] = {}
        for trial in (*self._trials("COMPLETE"), *self._trials("PRUNED")):
            settings = (trial.params[name] for name in self.problem.space)
            distinct.setdefault((trial.user_attrs[_DRAW], *settings), trial)
        return sorted(distinct.values(), key=lambda trial: trial.number)

    def next_draw(self, wanted: int) -> int | None:
        """The first that nobody has made or is making; at the end of a grid, the first that nobody has
        finished.

        None once `wanted` trials are finished.
        """
        import optuna

        optuna.storages.fail_stale_trials(self.study)
        # before the finished ones: what is finished in between is then among both, not among neither
        running = {
            trial.user_attrs[_DRAW]
            for trial in self._trials("RUNNING")
            if not is_gone(*trial.user_attrs[_PROCESS])
        }
        trials = self.finished()
        if len(trials) >= wanted:
            return None
        finished = {trial.user_attrs[_DRAW] for trial in trials}
        draw = _first_not_in(finished | running)
        return _first_not_in(finished) if self.grid and draw >= len(self.grid) else draw

    def make(self, draw: int, show: Show) -> None:
        """One more trial."""
        import optuna

        if self.grid:
            self.study.sampler = optuna.samplers.PartialFixedSampler(
                self.grid[draw], optuna.samplers.RandomSampler()
            )
        else:
            seed = np.random.SeedSequence([self.sampler_seed, draw]).generate_state(1)[0]
            # Optuna's constant liar would sample away from the trials that run, or seem to because they were
            # killed
            self.study.sampler = optuna.samplers.TPESampler(seed=int(seed), constant_liar=False)
        try:
            self.study.optimize(lambda trial: self._objective(trial, draw, show), n_trials=1)
        except (ValueError, optuna.exceptions.UpdateFinishedTrialError) as error:
            # another process has taken this one for dead, because it slept: the draw is open again
            if isinstance(error, ValueError) and "Cannot tell a FAIL trial" not in str(error):
                raise
        show(self.finished(), 0)

    def _objective(self, trial: optuna.Trial, draw: int, show: Show) -> float:
        import optuna

        trial.set_user_attr(_PROCESS, this_process())
        drawn = {name: self._suggest(trial, name) for name in self.problem.space}
        if self.grid and drawn != self.grid[draw]:
            raise optuna.TrialPruned  # somebody has put settings of their own into the study's queue
        trial.set_user_attr(_DRAW, draw)
        settings = self.problem.settings(drawn)
        rewards: list[float] = []
        for first in range(0, len(self.problem.seeds), self.block):
            part = self.problem.seeds[first : first + self.block]
            try:
                evaluated = self.problem.evaluate(settings, part, self.n_jobs)
            except ValueError as error:  # these settings cannot be trained; others may
                trial.set_user_attr(_REASON, ", ".join([str(error), *getattr(error, "__notes__", ())]))
                raise optuna.TrialPruned from None
            for step, reward in enumerate(evaluated, first):
                rewards.append(reward)
                trial.report(reward, step)
            show(self.finished(), len(rewards))
            if len(rewards) < len(self.problem.seeds) and trial.should_prune():
                raise optuna.TrialPruned
        return math.fsum(rewards) / len(rewards)

    def _suggest(self, trial: optuna.Trial, name: str) -> Any:
        values = self.problem.space[name]
        if not isinstance(values, Range):
            return trial.suggest_categorical(name, values)
        if self.grid:
            return trial.suggest_categorical(name, values.grid())
        if values.whole:
            return trial.suggest_int(name, int(values.low), int(values.high), log=True)
        return trial.suggest_float(name, values.low, values.high, log=True)

    def _trials(self, *states: str) -> list[optuna.trial.FrozenTrial]:
        import optuna

        trials = self.study.get_trials(
            deepcopy=False, states=[optuna.trial.TrialState[state] for state in states]
        )
        return [
            trial for trial in trials if _DRAW in trial.user_attrs
        ]  # others are about to get their number, or of another's making


def _first_not_in(taken: set[int]) -> int:
    return next(n for n in itertools.count() if n not in taken)


def _read(trial: optuna.trial.FrozenTrial, problem: Problem) -> Trial:
    rewards = list(trial.intermediate_values.values())
    pruned = trial.state.name == "PRUNED"
    mean = math.fsum(rewards) / len(rewards) if rewards else math.nan
    return Trial(problem.settings(trial.params), mean, len(rewards), pruned, trial.user_attrs.get(_REASON))


def _digest(problem: Problem, method: str, prune: bool, block: int, sampler_seed: int) -> str:
    space = {
        name: [values.low, values.high, "range"] if isinstance(values, Range) else list(values)
        for name, values in problem.space.items()
    }
    about = [
        FORMAT,
        problem.env,
        problem.env_settings,
        problem.agent,
        problem.fixed,
        space,
        problem.episodes,
        problem.seeds,
    ]
    return hashlib.sha256(
        json.dumps([*about, method, prune, block, sampler_seed], sort_keys=True).encode()
    ).hexdigest()[:12]


@contextmanager
def _opened(study: str | os.PathLike[str] | None, storage: str | None) -> Iterator[Any]:
    """Optuna's storage: a file, a database, or memory alone."""
    if study is not None and storage is not None:
        raise ValueError("study and storage are two places for one thing: give one of them")
    import optuna

    if study is None and storage is None:
        yield optuna.storages.InMemoryStorage()
        return
    url = storage or _sqlite_url(_writable(Path(study or "")))
    where = str(study or _parsed(url).render_as_string(hide_password=True))
    with _storage_errors(where, ImportError, ValueError, RuntimeError):
        kept = _connected(url)
    try:
        with _storage_errors(where):
            yield kept
    finally:
        _close(kept)


def _connected(url: str) -> optuna.storages.RDBStorage:
    """Who finds an empty database makes Optuna's tables; who comes while another makes them looks again."""
    from sqlalchemy.exc import DatabaseError, IntegrityError

    for _ in range(_LOOKS):
        try:
            return _connect(url)
        except DatabaseError as error:
            if not (isinstance(error, IntegrityError) or "already exists" in str(error)):
                raise
    return _connect(url)


def _connect(url: str) -> optuna.storages.RDBStorage:
    """A storage that cannot be used, a file that is no database for one, is closed again."""
    from optuna.storages import RDBStorage

    kept = RDBStorage.__new__(RDBStorage)
    try:
        RDBStorage.__init__(
            kept, url, heartbeat_interval=_HEARTBEAT_SECONDS, grace_period=3 * _HEARTBEAT_SECONDS
        )
    except BaseException:
        if hasattr(kept, "engine"):
            _close(kept)
        raise
    return kept


def _close(kept: optuna.storages.RDBStorage) -> None:
    kept.remove_session()
    kept.engine.dispose()


def _writable(path: Path) -> Path:
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"cannot write {path}: permission denied")
    return path.resolve()


def study_file(study: str | os.PathLike[str] | None, storage: str | None) -> Path | None:
    """The file that a study is kept in, if it is kept in one."""
    if storage is None:
        return None if study is None else Path(study)
    url = _parsed(storage)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _sqlite_url(path: Path) -> str:
    """With what has a meaning in URLs quoted, so that a file may have any name."""
    from sqlalchemy import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def _parsed(url: str) -> URL:
    optional.need("sqlalchemy", "tune", "tuning")
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url)
    except ArgumentError:
        raise ValueError(
            f"storage must be a URL such as sqlite:///study.db or postgresql://user@host/name, got {url!r}"
        ) from None


@contextmanager
def _storage_errors(where: str, *more: type[Exception]) -> Iterator[None]:
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    kinds: tuple[type[Exception], ...] = (SQLAlchemyError, StorageInternalError, *more)
    try:
        yield
    except kinds as error:
        cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
        reason = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
        raise ValueError(f"cannot use the study in {where}: {reason}") from error


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", optuna.exceptions.ExperimentalWarning
            )  # the pruner and the heartbeat
            yield
    finally:
        optuna.logging.set_verbosity(before)


@contextmanager
def _progress(trials: int, seeds: int, wanted: bool | None) -> Iterator[Show]:
    """Trials done, the best so far, time left."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda finished, seeds_done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # Rich judges by the last half a minute, and one block of seeds may take longer
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600.0) as bar:
        task = bar.add_task(f"trials 0/{trials}", total=trials * seeds)

        def show(finished: list[optuna.trial.FrozenTrial], seeds_done: int) -> None:
            values = [
                trial.value
                for trial in finished
                if trial.state.name == "COMPLETE" and trial.value is not None
            ]
            best = f"  best {max(values):.4f}" if values else ""
            done = len(finished)
            bar.update(task, description=f"trials {done}/{trials}{best}", completed=done * seeds + seeds_done)

        yield show

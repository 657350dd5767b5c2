"""Search for hyperparameters on Optuna.

A trial is one choice of settings. It is trained on the tuning seeds, a few of them at a time, and its
objective is the mean over seeds of the average reward at the last trajectory. After each few a trial whose
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
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import checks, optional, standard_error
from ..._base.schema import Range
from ..running.processes import is_gone, this_process
from ..running.store import FORMAT
from .problem import Problem, grid_values
from .storage import opened

if TYPE_CHECKING:
    import optuna

METHODS = ("grid", "tpe")
TPE_TRIALS = 50
SEEDS_PER_CHECK = 5

_PRUNING_P = 0.05
"""Level of the test by which a trial is given up."""
_DRAW, _PROCESS, _REASON = "draw", "process", "reason"
"""What is noted of a trial in its study: the number of its draw, the process that makes it, and why its
settings cannot be trained."""


@dataclass(frozen=True)
class Trial:
    """A finished trial; a pruned one has the mean over the seeds that it was trained on, and so has one that
    could not be trained."""

    settings: dict[str, Any]
    average_reward_mean: float
    n_seeds: int
    """How many seeds it was trained on."""
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
        return max(whole, key=lambda trial: trial.average_reward_mean)

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
            "best": {"settings": best.settings, "average_reward_mean": best.average_reward_mean},
            "commands": problem.commands(best.settings),
        }


@dataclass(frozen=True)
class Search:
    """How a space is searched.

    method
        "tpe" samples ranges with the tree-structured Parzen estimator, "grid" tries every combination.
    trials
        Finished trials to have, counting those that the study holds already; if not given, the whole grid, or
        50 for TPE.
    prune, seeds_per_check
        Whether to give trials up early, and how many seeds are trained between two checks of that.
    sampler_seed
        The same seed makes the same trials.
    """

    method: str = "tpe"
    trials: int | None = None
    prune: bool = True
    seeds_per_check: int = SEEDS_PER_CHECK
    sampler_seed: int = 0

    def __post_init__(self) -> None:
        checks.choice("method", self.method, METHODS)
        if self.trials is not None:
            checks.keep(self, trials=checks.integer("trials", self.trials, least=1))
        checks.keep(
            self,
            prune=checks.flag("prune", self.prune),
            seeds_per_check=checks.integer("seeds_per_check", self.seeds_per_check, least=1),
            sampler_seed=checks.integer("sampler_seed", self.sampler_seed, least=0),
        )

    def n_trials(self, grid: list[dict[str, Any]] | None) -> int:
        """How many trials there are to make; a grid has no more than its points."""
        if grid is None:
            return self.trials or TPE_TRIALS
        return min(self.trials or len(grid), len(grid))


def tune(
    problem: Problem,
    search: Search | None = None,
    *,
    study: str | os.PathLike[str] | None = None,
    storage: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Tuning:
    """Search for the settings that do best, until as many trials are finished as `search` asks for.

    search
        How to search; `Search()` if not given.
    study
        A file to keep the study in (SQLite); the same arguments with the same file go on where the last
        search stopped. One file can hold many studies.
    storage
        Instead of a file: the URL of a database that Optuna can use. Several machines may then search at
        once.
    n_jobs
        How many runs are computed at the same time; as many as there are cores if not given.
    progress
        Whether to show a progress bar; if not given, where standard error is a terminal.
    """
    search = search or Search()
    grid = problem.grid() if search.method == "grid" else None
    progress = checks.optional_flag("progress", progress)
    if n_jobs is not None:
        checks.integer("n_jobs", n_jobs, least=1)
    optuna = optional.need("optuna", "tune", "tuning")
    name = f"{problem.agent} on {problem.env} {_digest(problem, search)}"
    with _quiet_optuna(), opened(study, storage) as rdb:
        pruner = optuna.pruners.NopPruner()
        if search.prune:
            pruner = optuna.pruners.WilcoxonPruner(p_threshold=_PRUNING_P)
        record = optuna.create_study(
            storage=rdb, study_name=name, load_if_exists=True, direction="maximize", pruner=pruner
        )
        trials = _Trials(problem, record, grid, search, n_jobs)
        wanted = search.n_trials(grid)
        with _progress(wanted, len(problem.seeds), progress) as show:
            while (draw := trials.next_draw(wanted)) is not None:
                trials.make(draw, show)
        return Tuning(problem, name, [_read(trial, problem) for trial in trials.finished()])


Show = Callable[["list[optuna.trial.FrozenTrial]", int], None]
"""Told of the finished trials and of the seeds that the current one has."""


class _Trials:
    """The trials of one study."""

    def __init__(
        self,
        problem: Problem,
        study: optuna.Study,
        grid: list[dict[str, Any]] | None,
        search: Search,
        n_jobs: int | None,
    ) -> None:
        self.problem, self.study, self.grid, self.n_jobs = problem, study, grid, n_jobs
        self.seeds_per_check, self.sampler_seed = search.seeds_per_check, search.sampler_seed
        if grid:
            # in a random order the first trials are spread out, and pruning has something good to compare
            # with soon
            np.random.default_rng(search.sampler_seed).shuffle(grid)

    def finished(self) -> list[optuna.trial.FrozenTrial]:
        """The finished trials. Where two processes made the same, it is one of the two, and rather a complete
        one than one that was given up.

        Two samples of TPE with the same number may differ, if other trials were finished in between; they are
        two trials then.
        """
        distinct: dict[tuple[Any, ...], optuna.trial.FrozenTrial] = {}
        for trial in (*self._trials("COMPLETE"), *self._trials("PRUNED")):
            settings = (trial.params[name] for name in self.problem.space)
            distinct.setdefault((trial.user_attrs[_DRAW], *settings), trial)
        return sorted(distinct.values(), key=lambda trial: trial.number)

    def next_draw(self, wanted: int) -> int | None:
        """The first draw that nobody has finished or is making; at the end of a grid, the first that nobody
        has finished.

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
        point = {name: self._suggest(trial, name) for name in self.problem.space}
        if self.grid and point != self.grid[draw]:
            raise optuna.TrialPruned  # somebody has put settings of their own into the study's queue
        trial.set_user_attr(_DRAW, draw)
        settings = self.problem.settings(point)
        rewards: list[float] = []
        for first in range(0, len(self.problem.seeds), self.seeds_per_check):
            part = self.problem.seeds[first : first + self.seeds_per_check]
            try:
                new_rewards = self.problem.evaluate(settings, part, self.n_jobs)
            except ValueError as error:  # these settings cannot be trained; others may
                trial.set_user_attr(_REASON, checks.reason_of(error))
                raise optuna.TrialPruned from None
            for step, reward in enumerate(new_rewards, first):
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
            return trial.suggest_categorical(name, grid_values(values))
        if values.whole:
            return trial.suggest_int(name, int(values.low), int(values.high), log=True)
        return trial.suggest_float(name, values.low, values.high, log=True)

    def _trials(self, *states: str) -> list[optuna.trial.FrozenTrial]:
        import optuna

        trials = self.study.get_trials(
            deepcopy=False, states=[optuna.trial.TrialState[state] for state in states]
        )
        # the others are about to get their number, or were put into the study by somebody else
        return [trial for trial in trials if _DRAW in trial.user_attrs]


def _first_not_in(taken: set[int]) -> int:
    return next(n for n in itertools.count() if n not in taken)


def _read(trial: optuna.trial.FrozenTrial, problem: Problem) -> Trial:
    rewards = list(trial.intermediate_values.values())
    pruned = trial.state.name == "PRUNED"
    mean = math.fsum(rewards) / len(rewards) if rewards else math.nan
    return Trial(problem.settings(trial.params), mean, len(rewards), pruned, trial.user_attrs.get(_REASON))


def _digest(problem: Problem, search: Search) -> str:
    """What tells studies apart: all that the trials depend on, and the packages that components come from."""
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
        problem.origins,
    ]
    how = [search.method, search.prune, search.seeds_per_check, search.sampler_seed]
    return hashlib.sha256(json.dumps([*about, *how], sort_keys=True).encode()).hexdigest()[:12]


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            # the pruner and the heartbeat are experimental
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


@contextmanager
def _progress(trials: int, seeds: int, wanted: bool | None) -> Iterator[Show]:
    """Trials done, the best so far, time left."""
    if wanted is False or (wanted is None and not standard_error.is_terminal()):
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
    # Rich judges by the last half a minute, and a few seeds may take longer
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

"""`train`: one environment and one agent over many seeds, on all cores.

Each seed is one task in a pool of threads: the kernels run without the GIL, so threads use all cores and
share what is compiled. A run draws from its own streams only, so the result does not depend on the number of
threads or on the order in which they work.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ._base import checks, memory
from ._base.exits import exits_are_faults
from ._base.parts import origins_of
from ._base.patience import announce_memory
from ._base.progress import progress_bar
from ._base.streams import Streams
from .agents.agent import Agent, Outcome, check_outcome, plain_diagnostics
from .agents.checked_episodes import episodes_of
from .agents.checkpoints import Checkpoints
from .agents.evaluation import check_verdict
from .agents.footprint import Footprint, checked_footprint
from .agents.game import Game
from .agents.latent import LatentAgent
from .agents.ledger import Ledger, Tick
from .agents.observation import ObservationAgent
from .learners.learner import Learner
from .problems.block_mdp import BlockMDP
from .problems.environment import Environment
from .run import Run

_POLL_SECONDS = 0.1


POINTS = 200
"""Points of a learning curve that are recorded by default."""


@dataclass(frozen=True)
class Recording:
    """What is recorded of the runs of `train` on their way.

    points
        The points of the learning curve: a number of them, or at which numbers of trajectories.
    evaluate_every
        If given, the policy that the agent would end with is evaluated whenever so many trajectories have
        been played, or at the agent's next pause where it plays in batches, and at the end. `run.diagnostics`
        then has `evaluations`. All else stays the same, bit for bit.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env, recording = environment("lock-bernoulli", horizon=3), fu.Recording(evaluate_every=100)
    >>> run = fu.train(env, fu.OracleQ(), episodes=200, points=recording)
    >>> run.diagnostics[0]["evaluations"]["trajectories"]
    [100, 200]
    """

    points: SupportsIndex | Iterable[SupportsIndex] = POINTS
    evaluate_every: SupportsIndex | None = None

    def __post_init__(self) -> None:
        if self.evaluate_every is not None:
            checks.integer("evaluate_every", self.evaluate_every, least=1)


class _Stopped(Exception):
    """Raised inside a worker whose run is no longer needed, since the others were given up."""


@exits_are_faults()
def train(
    env: Environment,
    agent: Agent | Learner,
    episodes: SupportsIndex,
    seeds: SupportsIndex | Iterable[SupportsIndex] = 1,
    *,
    sees: str | None = None,
    points: SupportsIndex | Iterable[SupportsIndex] | Recording = POINTS,
    n_jobs: SupportsIndex | None = None,
    progress: bool | None = None,
) -> Run:
    """Train an agent on an environment, once for each seed.

    env
        The environment: a family with settings, or a `BlockMDP`.
    agent
        An agent such as `URL(...)`, or a learner such as `OracleQ(...)`, which then sees what `sees` says.
    episodes
        Number of trajectories of each run; for URL as written, the learner's number of episodes.
    seeds
        A count n, for the seeds 0..n-1, or distinct non-negative integers.
    sees
        For a learner. "latent", which is what it sees if not given: the latent states. "observation": every
        observation is a state of its own, whatever its level, which needs discrete observations; an agent
        that is told the level too is `fasturl.agents.ObservationAgent(learner, level_in_key=True)`.
    points
        How many points of the learning curve to record, evenly spaced up to the last trajectory, or at which
        numbers of trajectories: the curve then has these points alone, while `final_average_reward` and
        `summary()` are of all trajectories in any case. A `Recording` has the policy evaluated on the way
        too.
    n_jobs
        How many runs are computed at the same time; as many as there are cores if not given, and never more
        than there are seeds. The result is the same, bit for bit, for any number.
    progress
        Whether to show a progress bar; if not given, when it takes long, on a terminal or in a notebook.

    Returns a `Run`: learning curves, values and diagnostics of all seeds.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> run = fu.train(environment("lock-bernoulli", horizon=5), fu.OracleQ(), episodes=2000, seeds=3)
    >>> run.average_reward.shape, run.success_rate
    ((3, 200), 1.0)
    """
    if not isinstance(env, Environment):
        raise ValueError(f"env must be an environment such as BlockMDP, got {checks.short_repr(env)}")
    count = checks.integer("episodes", episodes, least=1)
    chosen = checks.seeds(seeds)
    player = as_agent(agent, sees)
    description = env.describe()
    player.check(description)
    total = checks.integer(
        f"trajectories of {type(player).__name__}", player.trajectories(description, count), least=1
    )
    recording = points if isinstance(points, Recording) else Recording(points)
    trajectories = _curve_points(recording.points, total)
    spacing = checked_spacing(player, recording.evaluate_every)
    progress = checks.optional_flag("progress", progress)
    size = checked_footprint(env, player, count, total)
    announce_memory("a run", size.total)
    workers = _workers(size, len(chosen), n_jobs)

    def play(seed: int, tick: Tick) -> _Record:
        streams = Streams(seed)
        instance = env.draw_checked(streams)
        checkpoints = None if spacing is None else Checkpoints(spacing, instance, streams)
        ledger = Ledger(count, total, tick, checkpoints)
        game = Game(instance, streams, latent=player.sees_latent_states, episodes=episodes_of(player))
        outcome = player.play(game, ledger)
        if not game.episodes_begun == ledger.played == total:
            raise ValueError(
                f"play of {type(player).__name__} must play {total} trajectories and enter {total} returns "
                f"in its ledger, got {game.episodes_begun} that it played and {ledger.played} that it entered"
            )
        outcome = check_outcome(player, outcome)
        ledger.refuse_no_numbers()
        if checkpoints is not None:
            outcome.diagnostics["evaluations"] = checkpoints.end(total, outcome.policy)
        return _judge(player, outcome, ledger.returns, trajectories, instance, streams)

    begin = time.perf_counter()
    records = _play_all(play, total, chosen, workers, progress)
    return Run(
        env=env.name,
        horizon=description.horizon,
        settings=env.settings(),
        agent=player.name,
        oracle=player.oracle_name(description),
        agent_settings=player.described_settings(),
        origins=dict(origins_of([("environment", env), *player.components()])),
        episodes=count,
        seeds=chosen,
        optimal_values=np.array([record.optimal_value for record in records]),
        total_trajectories=total,
        final_average_reward=np.array([record.final_average_reward for record in records]),
        trajectories=trajectories,
        average_reward=np.stack([record.average_reward for record in records]),
        values=np.array([record.value for record in records]),
        value_errors=np.array([record.value_error for record in records]),
        diagnostics=[record.diagnostics for record in records],
        wall_seconds=time.perf_counter() - begin,
    )


def _workers(size: Footprint, n_seeds: int, n_jobs: SupportsIndex | None) -> int:
    """How many runs are computed at the same time: n_jobs, or as many as fit into cores and memory."""
    if n_jobs is None:
        return size.workers(min(n_seeds, available_cores()))
    workers = min(n_seeds, checks.integer("n_jobs", n_jobs, least=1))
    memory.refuse_beyond_limit("n_jobs", workers, f"{workers} runs at the same time", workers * size.total)
    return workers


def as_agent(agent: Agent | Learner, sees: str | None) -> Agent:
    """An agent as it is, and a learner as the agent that sees what `sees` says."""
    if sees is not None:
        checks.choice("sees", sees, ("latent", "observation"))
    if isinstance(agent, type):
        raise ValueError(
            f"agent must be an instance, got the class {agent.__name__}: write {agent.__name__}()"
        )
    if isinstance(agent, Agent):
        if sees is not None:
            name = type(agent).__name__
            raise ValueError(
                f"sees must be left out for {name}: it applies to learners only; agents choose what "
                f"they see, got {sees!r}"
            )
        return agent
    if callable(getattr(agent, "start", None)):
        return ObservationAgent(agent) if sees == "observation" else LatentAgent(agent)
    raise ValueError(f"agent must be an Agent or a learner with start(), got {checks.short_repr(agent)}")


def checked_spacing(agent: Agent, evaluate_every: SupportsIndex | None) -> int | None:
    """`evaluate_every` of a recording; ValueError where the agent does not say what it has learned so far."""
    if evaluate_every is None:
        return None
    spacing = checks.integer("evaluate_every", evaluate_every, least=1)
    if not agent.offers_policies:
        raise ValueError(
            f"evaluate_every must be left out for {type(agent).__name__}, which offers no policy before the "
            f"end of a run, got {spacing}"
        )
    return spacing


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _curve_points(points: SupportsIndex | Iterable[SupportsIndex], episodes: int) -> NDArray[np.int64]:
    """The numbers of trajectories at which a learning curve is recorded."""
    if not checks.are_several(points):
        count = min(checks.integer("points", points, least=1), episodes)
        return np.unique(np.linspace(episodes / count, episodes, count).round().astype(np.int64))
    chosen = [checks.integer("points", point, least=1, most=episodes) for point in points]
    if not chosen or sorted(set(chosen)) != chosen:
        raise ValueError(
            f"points must be increasing numbers of trajectories, got {checks.short_repr(points)}"
        )
    return np.array(chosen, np.int64)


class _Record(NamedTuple):
    """What is recorded of a run; the returns of all trajectories of many seeds would fill the memory."""

    optimal_value: float
    final_average_reward: float
    average_reward: NDArray[np.float64]
    value: float
    value_error: float
    diagnostics: dict[str, Any]


def _judge(
    agent: Agent,
    outcome: Outcome,
    returns: NDArray[np.float64],
    trajectories: NDArray[np.int64],
    instance: BlockMDP,
    streams: Streams,
) -> _Record:
    """What is recorded of a run, with the verdict on its final policy."""
    begin = time.perf_counter()
    verdict = check_verdict(outcome.policy, outcome.policy.judge(instance, streams.evaluation()))
    diagnostics = outcome.diagnostics | plain_diagnostics(agent, verdict.diagnostics or {})
    if isinstance(diagnostics.get("seconds"), dict):
        diagnostics["seconds"]["evaluation"] = time.perf_counter() - begin
    total_rewards = np.cumsum(returns)
    return _Record(
        optimal_value=instance.optimal_value(),
        final_average_reward=float(total_rewards[-1] / total_rewards.size),
        average_reward=total_rewards[trajectories - 1] / trajectories,
        value=verdict.value,
        value_error=verdict.error,
        diagnostics=diagnostics,
    )


def _play_all(
    play: Callable[[int, Tick], _Record],
    trajectories: int,
    seeds: list[int],
    workers: int,
    progress: bool | None,
) -> list[_Record]:
    """`play` of every seed; each of them plays so many trajectories."""
    stop = threading.Event()
    done = [0] * len(seeds)

    def play_one(position: int) -> _Record:
        def tick(count: int) -> None:
            done[position] += count
            if stop.is_set():
                raise _Stopped

        tick(0)
        try:
            with exits_are_faults():
                return play(seeds[position], tick)
        except Exception as error:
            error.add_note(f"in the run of seed {seeds[position]}")
            raise

    with _single_threaded_libraries() as limit, progress_bar(trajectories * len(seeds), progress) as show:
        return _in_threads(play_one, len(seeds), workers, limit, stop, lambda: show(sum(done)))


def _in_threads(
    play: Callable[[int], _Record],
    count: int,
    workers: int,
    prepare: Callable[[], object],
    stop: threading.Event,
    on_progress: Callable[[], None],
) -> list[_Record]:
    """play(0), ..., play(count - 1), with a call of `on_progress` now and then.

    A pool of `concurrent.futures` would do, but Ctrl-C while one waits for its futures may leave their locks
    held, and then nothing ends.
    """
    positions = iter(range(count))
    results: SimpleQueue[tuple[int, _Record | BaseException]] = SimpleQueue()

    def work() -> None:
        prepare()
        for position in positions:
            try:
                results.put((position, play(position)))
            except BaseException as error:
                results.put((position, error))
                return

    threads = [threading.Thread(target=work, name=f"fasturl-{n}", daemon=True) for n in range(workers)]
    records: dict[int, _Record] = {}
    last_call = time.perf_counter()
    try:
        _start_all(threads)
        while len(records) < count:
            try:
                position, record = results.get(timeout=_POLL_SECONDS)
                if isinstance(record, BaseException):
                    raise record
                records[position] = record
            except Empty:
                pass
            if time.perf_counter() - last_call > _POLL_SECONDS:
                on_progress()
                last_call = time.perf_counter()
        on_progress()  # at the end, which may have come soon after the last call
        return [records[position] for position in range(count)]
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _start_all(threads: list[threading.Thread]) -> None:
    """ValueError where the system starts only some: where it lacks memory, those would soon lack it too."""
    for n_started, thread in enumerate(threads):
        try:
            thread.start()
        except RuntimeError:
            raise ValueError(
                f"n_jobs must be threads that the system can start, got {len(threads)}, of which "
                f"{n_started} started"
            ) from None


@contextmanager
def _single_threaded_libraries() -> Iterator[Callable[[], object]]:
    """One thread for each call into BLAS and OpenMP while seeds run in parallel; yields what a worker calls
    at its start.

    Their pools would fight with ours for the cores, and their sums depend on the number of threads. Where no
    oracle has been imported by now, no agent is going to use them.
    """
    if "fasturl.oracles" not in sys.modules:
        yield lambda: None
        return
    libraries = _thread_pools(len(sys.modules))
    with libraries.limit(limits=1):
        yield lambda: libraries.limit(limits=1)  # OpenMP keeps a limit for each thread


@cache
def _thread_pools(modules: int) -> Any:
    """The thread pools of all libraries that are loaded; they are searched for anew after further imports."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()

"""`train`: one environment and one agent over many seeds, on all cores.

Each seed is one task in a pool of threads. A run draws from its own streams only, so the result does not
depend on the number of threads or on the order in which they work.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ._base import checks, memory
from ._base.exits import exits_are_faults
from ._base.origin import in_method
from ._base.parts import origins_of
from ._base.patience import announce_memory
from ._base.progress import progress_bar
from ._base.workers import available_cores, in_threads
from .agents.agent import Agent
from .agents.footprint import Footprint, checked_footprint
from .agents.latent import LatentAgent
from .agents.observation import ObservationAgent
from .agents.one_run import RunPlan, RunRecord
from .learners.learner import Learner
from .problems.environment import Environment
from .run import Run

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
    check_environment(env)
    count = checks.integer("episodes", episodes, least=1)
    chosen = checks.seeds(seeds)
    plan = _checked_plan(env, as_agent(agent, sees), count, points)
    progress = checks.optional_flag("progress", progress)
    size = checked_footprint(env, plan.agent, count, plan.trajectories)
    announce_memory("a run", size.total)
    memory.keep_freed_memory()
    workers = _workers(size, len(chosen), n_jobs)
    begin = time.perf_counter()
    with progress_bar(plan.trajectories * len(chosen), progress) as show:
        records = in_threads(
            lambda position, tick: plan.play(chosen[position], tick), len(chosen), workers, show
        )
    return _run_of(plan, chosen, records, time.perf_counter() - begin)


def check_environment(env: object) -> None:
    """Refuse what is no environment."""
    checks.instance("env", env)
    if not isinstance(env, Environment):
        raise ValueError(f"env must be an environment such as BlockMDP, got {checks.short_repr(env)}")


def _checked_plan(
    env: Environment,
    agent: Agent,
    episodes: int,
    points: SupportsIndex | Iterable[SupportsIndex] | Recording,
) -> RunPlan:
    """What the runs of all seeds have in common."""
    description = env.describe()
    with in_method("check", agent):
        agent.check(description)
    with in_method("trajectories", agent):
        trajectories = agent.trajectories(description, episodes)
    total = checks.integer(f"trajectories of {type(agent).__name__}", trajectories, least=1)
    recording = points if isinstance(points, Recording) else Recording(points)
    curve_points = _curve_points(recording.points, total)
    spacing = checked_spacing(agent, recording.evaluate_every)
    return RunPlan(env, description, agent, episodes, total, curve_points, spacing)


def _run_of(plan: RunPlan, seeds: list[int], records: list[RunRecord], wall_seconds: float) -> Run:
    """The records of all seeds as one result."""
    env, agent = plan.env, plan.agent
    return Run(
        env=env.name,
        horizon=plan.description.horizon,
        settings=env.settings(),
        agent=agent.name,
        oracle=agent.oracle_name(plan.description),
        agent_settings=agent.described_settings(),
        origins=dict(origins_of([("environment", env), *agent.components()])),
        episodes=plan.episodes,
        seeds=seeds,
        optimal_values=np.array([record.optimal_value for record in records]),
        total_trajectories=plan.trajectories,
        final_average_reward=np.array([record.final_average_reward for record in records]),
        trajectories=plan.curve_points,
        average_reward=np.stack([record.average_reward for record in records]),
        values=np.array([record.value for record in records]),
        value_errors=np.array([record.value_error for record in records]),
        diagnostics=[record.diagnostics for record in records],
        wall_seconds=wall_seconds,
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
    checks.instance("agent", agent)
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

"""Planning along trajectories beside full planning: the cost of an episode where there are many labels.

A full plan costs O(H S^2 A), one along the trajectory O(H S A), for one label of each level or for two.
"""

import time
from dataclasses import replace

import numpy as np
import pytest
from conftest import best_seconds, report, row

import fasturl as fu
from fasturl.learners.learner import Task

HORIZON, N_LABELS, N_ACTIONS = 20, 50, 4
HISTORY, EPISODES = 2_000, 100
LEARNERS = {
    "UCBVI": (fu.UCBVI(scale=0.01), 5),
    "R-MAX": (fu.RMax(), None),
    "PooledUCBVI": (fu.PooledUCBVI(), None),
    "PSRL": (fu.PSRL(), 5),
    "OPSRL": (fu.OPSRL(), 5),
    "RLSVI": (fu.RLSVI(), 5),
}
"""Each with the ratio that it must reach, if it makes a full plan for every episode: R-MAX and PooledUCBVI do
so only where there is news. The scale of UCBVI is small, so that its values are not all at their cap."""


def episodes_of(learner):
    """A call that plays and learns from so many episodes, after a history in which every label was met."""
    draw = np.random.default_rng(0)
    dynamics = fu.RandomMDP(HORIZON, n_states=N_LABELS, n_actions=N_ACTIONS, emission="none")
    dynamics = dynamics.instance(0).dynamics
    memory = learner.start(Task(HORIZON, N_LABELS, N_ACTIONS, float(HORIZON), 10**9, row([1, 2, 3, 4])))
    memory.replay(
        draw.integers(N_LABELS, size=(HISTORY, HORIZON + 1)),
        draw.integers(N_ACTIONS, size=(HISTORY, HORIZON)),
        draw.integers(2, size=(HISTORY, HORIZON)).astype(float),
    )
    labels = np.tile(np.arange(N_LABELS, dtype=np.uint8), (EPISODES, HORIZON + 1, 1))
    dynamics_rng, returns = row([5, 6, 7, 8]), np.empty(EPISODES)
    return lambda: memory.learn_episodes(dynamics, labels, dynamics_rng, returns)


@pytest.mark.parametrize("name", LEARNERS)
def test_cost_of_an_episode(benchmark, name):
    """The two take turns, and their time is that of the processor, so that nothing else slows one of them
    alone."""
    benchmark.group = "planning along trajectories: cost of an episode"
    learner, must_reach = LEARNERS[name]
    forms = [replace(learner, planning=planning) for planning in ("full", "trajectory")]
    calls = {form.planning: episodes_of(form) for form in forms}
    seconds = {planning: [] for planning in calls}

    def take_turns():
        for planning, learn in calls.items():
            before = time.process_time()
            learn()
            seconds[planning].append(time.process_time() - before)

    benchmark.pedantic(take_turns, rounds=10, warmup_rounds=1)
    if best_seconds(benchmark):
        full, trajectory = (min(seconds[planning]) / EPISODES for planning in calls)
        report(benchmark, microseconds_full=full * 1e6, microseconds_trajectory=trajectory * 1e6)
        report(benchmark, ratio=full / trajectory)
        if must_reach:
            report(benchmark, must_reach=must_reach)
            assert full / trajectory >= must_reach

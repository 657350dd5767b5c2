"""`train` end to end: against a loop in plain Python, and two workers against one."""

import naive
import numpy as np
import pytest
from conftest import best_seconds, report

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._base.workers import available_cores
from fasturl.learners.learner import Task

ENV, AGENT, HORIZON = fu.LockBernoulli(20, 0.2), fu.OracleQ(), 20
GROUP = "train: OracleQ, latent states, horizon 20"


def train_naively(episodes, seed):
    """What `train` does for one seed, in plain Python: the lock, the episodes, the curve, the value of the
    final policy."""
    instance_rng, dynamics_rng, policy_rng = (
        Streams(seed).row(name).tolist() for name in ("instance", "dynamics", "policy")
    )
    transitions, rewards = np.empty((HORIZON, 3, 4, 3)), np.zeros((HORIZON, 3, 4, 3))
    naive.draw_lock(instance_rng, 0.2, [0] * 4, transitions)
    rewards[-1, :, :, :2] = 0.5
    memory = AGENT.start(Task(HORIZON, 3, 4, 1.0, episodes, np.zeros(4, np.uint64)))
    labels, returns = np.tile(np.arange(3), (episodes, HORIZON + 1, 1)), np.empty(episodes)
    instance = fu.BlockMDP(transitions, rewards)
    arguments = instance.dynamics, labels, memory.tables, dynamics_rng, policy_rng, returns
    naive.q_table.ORACLEQ.learn(*arguments, None, [0] * 3)
    naive.policy_q(
        transitions, rewards, memory.final_policy(), np.empty((HORIZON, 3, 4)), np.empty((HORIZON + 1, 3))
    )
    return np.cumsum(returns) / np.arange(1, episodes + 1)


def test_train_in_plain_python(benchmark, reference_rates):
    """A tenth of the episodes of the compiled run below; both are compared by steps per second."""
    benchmark.group = GROUP
    benchmark.pedantic(train_naively, args=(5_000, 0), rounds=2)
    if seconds := best_seconds(benchmark):
        reference_rates[GROUP] = 5_000 * HORIZON / seconds
        report(benchmark, steps_per_second=reference_rates[GROUP])


def test_train_on_one_core(benchmark, reference_rates):
    benchmark.group = GROUP
    benchmark.pedantic(fu.train, args=(ENV, AGENT, 50_000), kwargs={"n_jobs": 1}, rounds=20, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        report(benchmark, steps_per_second=50_000 * HORIZON / seconds)
        if GROUP in reference_rates:
            ratio = 50_000 * HORIZON / seconds / reference_rates[GROUP]
            report(benchmark, ratio=ratio, must_reach=500)
            assert ratio >= 500


MANY_SEEDS = {
    "OracleQ": (ENV, AGENT, 50),
    "URL on LockBernoulli": (ENV, fu.URL(), 12),
    "URL on LockGaussian": (fu.LockGaussian(HORIZON, 0.2), fu.URL(), 12),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", MANY_SEEDS)
def test_train_with_workers(benchmark, reference_rates, name, n_jobs):
    """Reported and not asserted: another process on a core is enough to spoil it."""
    benchmark.group = f"train: many seeds by number of workers, {name}"
    env, agent, seeds = MANY_SEEDS[name]
    benchmark.pedantic(
        fu.train, args=(env, agent, 50_000, seeds), kwargs={"n_jobs": n_jobs}, rounds=4, warmup_rounds=1
    )
    if seconds := best_seconds(benchmark):
        rate = seeds * 50_000 * HORIZON / seconds
        report(benchmark, steps_per_second=rate)
        if n_jobs == 1:
            reference_rates["one worker", name] = rate
        elif ("one worker", name) in reference_rates:
            ratio = rate / reference_rates["one worker", name]
            report(benchmark, ratio_to_one_worker=ratio, must_reach=1.9, cores=available_cores())

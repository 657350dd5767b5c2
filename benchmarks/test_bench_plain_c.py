"""`train` of OracleQ on the latent states of a lock, and whole runs of URL, against a loop in plain C that
does the learning alone, for locks alone (`plain_lock.c`), compiled for this machine."""

import numpy as np
import pytest
from conftest import best_seconds, open_c, report

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.learners.learner import Task

HORIZON, EPISODES = 20, 50_000
LOCK, LEARNER = fu.LockBernoulli(HORIZON, 0.2), fu.OracleQ()
GROUP = "plain C: latent states, horizon 20"


@pytest.fixture(scope="module")
def plain_c(tmp_path_factory):
    declarations = """
        void learn(int64_t, int64_t, double, const double *, double, const double *, uint64_t *, uint64_t *,
                   double *, int64_t *, double *);
    """
    return open_c("plain_lock", declarations, tmp_path_factory.mktemp("c"))


def learn_in_c(plain_c, seed, episodes):
    """Action values and returns."""
    ffi, library = plain_c
    streams, dynamics = Streams(seed), LOCK.instance(seed).dynamics
    task = Task(HORIZON, 3, 4, 1.0, episodes, np.zeros(4, np.uint64))
    tables = LEARNER.start(task).tables
    to_state_0, to_dead = dynamics.transitions[..., 0], dynamics.transitions[..., 1] == 0.0
    stays, returns = np.where(to_dead, -1.0, to_state_0), np.empty(episodes)

    def pointer(array):
        name = "double" if array.dtype == np.float64 else f"{array.dtype}_t"
        return ffi.from_buffer(f"{name}[]", array)

    library.learn(
        episodes,
        HORIZON,
        dynamics.start[0],
        pointer(stays),
        tables.rates[1],
        pointer(tables.bonuses),
        pointer(streams.row("dynamics")),
        pointer(streams.row("policy")),
        pointer(tables.q),
        pointer(tables.visits),
        pointer(returns),
    )
    return tables.q, returns


def test_plain_c_does_the_same_work(plain_c, benchmark, reference_rates):
    benchmark.group = GROUP
    run = fu.train(LOCK, LEARNER, EPISODES, seeds=[3], points=[EPISODES])
    _, returns = learn_in_c(plain_c, 3, EPISODES)
    assert returns.mean() == run.final_average_reward[0]
    benchmark.pedantic(learn_in_c, args=(plain_c, 3, EPISODES), rounds=30, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        reference_rates[GROUP] = EPISODES * HORIZON / seconds
        report(benchmark, steps_per_second=reference_rates[GROUP])


@pytest.mark.parametrize("episodes", [50_000, 5_000])
@pytest.mark.parametrize(
    ("env", "agent", "must_reach"),
    [
        (LOCK, LEARNER, {50_000: 1.1}),
        (LOCK, fu.URL(), {50_000: 4, 5_000: 10}),
        (fu.LockGaussian(HORIZON, 0.2), fu.URL(), {50_000: 7, 5_000: 14}),
    ],
    ids=["OracleQ", "URL on LockBernoulli", "URL on LockGaussian"],
)
def test_runs_over_plain_c(benchmark, reference_rates, env, agent, must_reach, episodes):
    """That of OracleQ is asserted with room for a busy machine; those of URL are not reached yet."""
    benchmark.group = f"{GROUP}, {episodes:,} trajectories"
    benchmark.pedantic(
        fu.train, args=(env, agent, episodes, [3]), kwargs={"n_jobs": 1}, rounds=30, warmup_rounds=1
    )
    if seconds := best_seconds(benchmark):
        report(benchmark, steps_per_second=episodes * HORIZON / seconds)
        if GROUP in reference_rates:
            times_of_c = reference_rates[GROUP] * seconds / (episodes * HORIZON)
            report(benchmark, times_of_plain_c=times_of_c, must_reach=must_reach.get(episodes))
            if agent is LEARNER and episodes == EPISODES:
                assert times_of_c < 1.3

"""Vector environments beside locks in plain C with one struct for each environment (`plain_envs.c`), with
observations of the same kind, stepped as often in one run."""

import numpy as np
import pytest
from conftest import best_seconds, open_c, report

import fasturl as fu
from fasturl.envs import VectorEnv

HORIZON, SWITCH, NOISE, N_ENVS, STEPS = 20, 0.2, 0.1, 4096, 105
"""105 steps are five episodes with the steps that reset."""
LOCKS = {
    "LockBernoulli": (fu.LockBernoulli(HORIZON, SWITCH), np.int8, 1.0),
    "LockGaussian": (fu.LockGaussian(HORIZON, SWITCH, NOISE), np.float32, 1.5),
}
"""With the type of an observation and how many times as fast as C it must be."""
ACTIONS = np.random.default_rng(0).integers(0, 4, (STEPS, N_ENVS))


class PlainLocks:
    """Locks in C, stepped as vector environments are."""

    def __init__(self, program, dtype):
        self._ffi, self._library = program
        self.observations = np.empty((N_ENVS, HORIZON + 3), dtype)
        self.rewards, self.terminals = np.empty(N_ENVS), np.empty(N_ENVS, np.uint8)
        self._actions = np.empty(N_ENVS, np.int64)
        shown = self._ffi.from_buffer(self.observations)
        self._locks = self._library.begin(
            N_ENVS,
            HORIZON,
            SWITCH,
            NOISE,
            self._ffi.cast("int8_t *", shown) if dtype == np.int8 else self._ffi.NULL,
            self._ffi.cast("float *", shown) if dtype == np.float32 else self._ffi.NULL,
            self._ffi.from_buffer("int64_t[]", self._actions),
            self._ffi.from_buffer("double[]", self.rewards),
            self._ffi.from_buffer("uint8_t[]", self.terminals),
        )

    def step(self, actions):
        self._actions[:] = actions
        self._library.step_all(self._locks, N_ENVS)
        return self.observations, self.rewards, self.terminals

    def close(self):
        self._library.end(self._locks, N_ENVS)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    declarations = """
        typedef struct Lock Lock;
        Lock *begin(int64_t, int, double, float, int8_t *, float *, const int64_t *, double *, uint8_t *);
        void step_all(Lock *, int64_t);
        void end(Lock *, int64_t);
    """
    return open_c("plain_envs", declarations, tmp_path_factory.mktemp("c"))


def play(envs):
    """Take all steps."""
    for chosen in ACTIONS:
        envs.step(chosen)


@pytest.mark.parametrize("name", LOCKS)
def test_plain_locks_look_like_ours(program, name):
    """Means of what is seen and earned by random actions, within five standard errors of the difference."""
    env, dtype, _ = LOCKS[name]
    ours, plain = VectorEnv(env, N_ENVS), PlainLocks(program, dtype)
    ours.reset(seed=0)
    for chosen in ACTIONS[: HORIZON + 1]:
        seen, rewards, ended, *_ = ours.step(chosen)
        seen_in_c, rewards_in_c, ended_in_c = plain.step(chosen)
        assert (ended == ended_in_c.astype(bool)).all()
        for one, other in [(seen, seen_in_c), (rewards[:, None], rewards_in_c[:, None])]:
            error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / N_ENVS)
            assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) <= 5 * error + 1e-12).all()
        # what tells nothing of the state has the same spread
        assert np.allclose(seen[:, 3:].std(axis=0), seen_in_c[:, 3:].std(axis=0), rtol=0.1)
    plain.close()


@pytest.mark.parametrize("name", LOCKS)
def test_locks_in_plain_c(benchmark, program, reference_rates, name):
    benchmark.group = f"environments: {name} beside plain C"
    envs = PlainLocks(program, LOCKS[name][1])
    benchmark.pedantic(play, args=(envs,), rounds=20, warmup_rounds=1)
    envs.close()
    if seconds := best_seconds(benchmark):
        reference_rates["plain", name] = N_ENVS * STEPS / seconds
        report(benchmark, steps_per_second=reference_rates["plain", name])


@pytest.mark.parametrize("name", LOCKS)
def test_vector_environments_beside_plain_c(benchmark, reference_rates, name):
    benchmark.group = f"environments: {name} beside plain C"
    env, _, must_reach = LOCKS[name]
    envs = VectorEnv(env, N_ENVS, copy=False)  # as in C, where arrays are written over
    envs.reset(seed=0)
    benchmark.pedantic(play, args=(envs,), rounds=20, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        rate = N_ENVS * STEPS / seconds
        report(benchmark, steps_per_second=rate)
        if ("plain", name) in reference_rates:
            ratio = rate / reference_rates["plain", name]
            report(benchmark, ratio_to_plain_c=ratio, must_reach=must_reach)
            assert ratio >= must_reach

"""Vector environments beside Gymnasium's own vectorised CartPole and beside SyncVectorEnv of our scalar
environment, in one run."""

import gymnasium
import numpy as np
import pytest
from conftest import best_seconds, report

import fasturl as fu
import fasturl.envs

HORIZON, N_ENVS, N_SYNC, STEPS = 20, 4096, 64, 105
"""105 steps are five episodes with the steps that reset."""
LOCK = {"horizon": HORIZON, "switch": 0.2}
GROUP = "environments: steps by 4,096"


class DrawnLock(fu.LockBernoulli):
    """A lock through the tables that every family has: those of locks hold for their own `draw` alone."""

    def draw(self, streams):
        return super().draw(streams)


OURS = {
    "LockBernoulli": ("fasturl/LockBernoulli-v0", LOCK),
    "LockBernoulli, same-step": ("fasturl/LockBernoulli-v0", LOCK | {"autoreset_mode": "SameStep"}),
    "LockBernoulli, reused buffers": ("fasturl/LockBernoulli-v0", LOCK | {"copy": False}),
    "LockBernoulli, latent": ("fasturl/LockBernoulli-v0", LOCK | {"observe": "latent"}),
    "LockGaussian": ("fasturl/LockGaussian-v0", LOCK | {"noise": 0.1}),
}
MUST_REACH = {"LockBernoulli": (2.0, 300.0), "LockGaussian": (0.7, None)}
"""Times CartPole, and times SyncVectorEnv of the scalar environment."""


def play(envs, n_actions, steps):
    """A function that plays so many steps with random actions, begun and warmed up."""
    actions = np.random.default_rng(0).integers(0, n_actions, (steps, envs.num_envs))
    envs.reset(seed=0)

    def run():
        for chosen in actions:
            envs.step(chosen)

    run()
    return run


def test_cartpole_of_gymnasium(benchmark, reference_rates):
    benchmark.group = GROUP
    envs = gymnasium.make_vec("CartPole-v1", N_ENVS, "vector_entry_point")
    benchmark.pedantic(play(envs, 2, STEPS), rounds=10)
    if seconds := best_seconds(benchmark):
        reference_rates["cartpole"] = N_ENVS * STEPS / seconds
        report(benchmark, steps_per_second=reference_rates["cartpole"])


@pytest.mark.parametrize("name", ["LockBernoulli", "LockGaussian"])
def test_sync_vector_env_of_scalar_environments(benchmark, reference_rates, name):
    """Fewer environments, which are as fast each: both sides are compared by steps per second."""
    benchmark.group = GROUP
    identity, settings = OURS[name]
    envs = gymnasium.make_vec(identity, N_SYNC, "sync", **settings)
    benchmark.pedantic(play(envs, 4, HORIZON + 1), rounds=5)
    if seconds := best_seconds(benchmark):
        reference_rates["sync", name] = N_SYNC * (HORIZON + 1) / seconds
        report(benchmark, steps_per_second=reference_rates["sync", name])


@pytest.mark.parametrize("name", OURS)
def test_vector_environment(benchmark, reference_rates, name):
    benchmark.group = GROUP
    identity, settings = OURS[name]
    envs = gymnasium.make_vec(identity, N_ENVS, "vector_entry_point", **settings)
    benchmark.pedantic(play(envs, 4, STEPS), rounds=10)
    if not (seconds := best_seconds(benchmark)):
        return
    rate = N_ENVS * STEPS / seconds
    report(benchmark, steps_per_second=rate)
    least_cartpole, least_sync = MUST_REACH.get(name, (None, None))
    if "cartpole" in reference_rates:
        report(benchmark, ratio_to_cartpole=rate / reference_rates["cartpole"])
        if least_cartpole:
            report(benchmark, must_reach_cartpole=least_cartpole)
    if ("sync", name) in reference_rates:
        report(benchmark, ratio_to_sync=rate / reference_rates["sync", name])
        if least_sync:
            report(benchmark, must_reach_sync=least_sync)
            assert rate / reference_rates["sync", name] >= least_sync


def test_vector_environment_of_any_family(benchmark):
    """Tables of each environment's own, which do not fit into the cache."""
    benchmark.group = GROUP
    benchmark.pedantic(play(fasturl.envs.VectorEnv(DrawnLock(**LOCK), N_ENVS), 4, STEPS), rounds=10)
    if seconds := best_seconds(benchmark):
        report(benchmark, steps_per_second=N_ENVS * STEPS / seconds)


@pytest.mark.parametrize("family", [fu.LockBernoulli, DrawnLock], ids=lambda family: family.__name__)
def test_reset_with_a_seed_for_each(benchmark, family):
    """A new instance and new streams for every environment."""
    benchmark.group = "environments: begin"
    envs = fasturl.envs.VectorEnv(family(**LOCK), N_ENVS)
    benchmark.pedantic(envs.reset, kwargs={"seed": 0}, rounds=3, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        report(benchmark, resets_per_second=N_ENVS / seconds)


@pytest.mark.parametrize(
    "family",
    [fu.LockBernoulli(HORIZON, 0.2), fu.LockGaussian(HORIZON, 0.2)],
    ids=lambda family: type(family).__name__,
)
def test_rollout(benchmark, family):
    benchmark.group = "environments: rollout of whole episodes"
    policy = family.optimal_policy()
    benchmark.pedantic(fasturl.envs.rollout, args=(family, policy, 5_000), rounds=10, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        report(benchmark, steps_per_second=5_000 * HORIZON / seconds)

"""Agents of stable-baselines3 in our environments, as docs/gymnasium.md shows it.

The package brings PyTorch and is no requirement of ours: `tests/neighbours/run.py --only stable-baselines3`
runs this file in an environment that has it.
"""

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed here")

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

LOCKS = ["fasturl/LockBernoulli-v0", "fasturl/LockGaussian-v0"]
PPO_SETTINGS = {"n_steps": 96, "batch_size": 256, "ent_coef": 0.02, "learning_rate": 2e-3, "gamma": 1.0}


def locks(envs):
    """The transition tables of the environments, as they are after a reset."""
    envs.reset()
    return [env.unwrapped.instance.transitions for env in envs.envs]


@pytest.mark.parametrize("identity", LOCKS)
@pytest.mark.parametrize("observe_level", [False, True])
def test_stable_baselines_own_checker_is_content(identity, observe_level):
    check_env(gymnasium.make(identity, horizon=3, observe_level=observe_level).unwrapped)


@pytest.mark.parametrize("identity", LOCKS)
def test_environments_of_one_call_play_one_lock_where_it_is_pinned(identity):
    free = locks(make_vec_env(identity, n_envs=4, seed=0, env_kwargs={"horizon": 5}))
    pinned = locks(make_vec_env(identity, n_envs=4, seed=0, env_kwargs={"horizon": 5, "instance_seed": 0}))
    assert all(np.array_equal(pinned[0], other) for other in pinned)
    assert not any(np.array_equal(free[0], other) for other in free[1:])
    assert np.array_equal(pinned[0], free[0])


def test_environments_in_processes_of_their_own_do_what_those_in_one_do():
    settings = {"horizon": 3, "instance_seed": 4, "observe_level": True}
    made = [
        make_vec_env(LOCKS[0], n_envs=2, seed=7, env_kwargs=settings, vec_env_cls=kind)
        for kind in (DummyVecEnv, SubprocVecEnv)
    ]
    try:
        here, there = made
        assert np.array_equal(here.reset(), there.reset())
        for action in (0, 1, 2, 3, 0, 1):
            steps = [envs.step(np.full(2, action)) for envs in made]
            for ours, theirs in zip(steps[0][:3], steps[1][:3], strict=True):
                assert np.array_equal(ours, theirs)
    finally:
        for envs in made:
            envs.close()


@pytest.mark.parametrize("identity", LOCKS)
def test_ppo_opens_a_pinned_lock(identity):
    """To 0.9 V* = 0.45 on 2,000 episodes. A policy that is right everywhere is at 0.5, 4.5 standard errors
    above: it would be refused with probability 4e-6."""
    torch.set_num_threads(1)
    settings = {"horizon": 3, "instance_seed": 0, "observe_level": True}
    agent = PPO(
        "MlpPolicy",
        make_vec_env(identity, n_envs=8, seed=0, env_kwargs=settings),
        **PPO_SETTINGS,
        seed=0,
        device="cpu",
    )
    agent.learn(15_000)
    envs = gymnasium.make_vec(identity, num_envs=2000, **settings)
    observations, _ = envs.reset(seed=1)
    returns = np.zeros(2000)
    for _ in range(3):
        actions, _ = agent.predict(observations, deterministic=True)
        observations, rewards, *_ = envs.step(actions)
        returns += rewards
    assert returns.mean() >= 0.45

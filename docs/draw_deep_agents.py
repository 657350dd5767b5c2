"""Draw the picture of deep-agents.md: python docs/draw_deep_agents.py, where stable-baselines3 is installed.

DQN and PPO learn one pinned lock of three levels, from five seeds of theirs each. Every 1,000 steps the
greedy policy plays 500 episodes."""

from pathlib import Path

import gymnasium
import numpy as np
import torch
from matplotlib import pyplot
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env

import fasturl.envs  # noqa: F401  # registers the ids

IDENTITY, HORIZON, SEEDS, STEPS, EVERY, EPISODES = "fasturl/LockBernoulli-v0", 3, 5, 15_000, 1_000, 500
SETTINGS = {"horizon": HORIZON, "instance_seed": 0, "observe_level": True}


def ppo(seed):
    envs = make_vec_env(IDENTITY, n_envs=8, seed=seed, env_kwargs=SETTINGS)
    options = {"n_steps": 96, "batch_size": 256, "ent_coef": 0.02, "learning_rate": 2e-3, "gamma": 1.0}
    return PPO("MlpPolicy", envs, seed=seed, device="cpu", **options)


def dqn(seed):
    env = make_vec_env(IDENTITY, n_envs=1, seed=seed, env_kwargs=SETTINGS)
    options = {"learning_rate": 1e-3, "gamma": 1.0, "learning_starts": 500, "exploration_fraction": 0.5}
    return DQN("MlpPolicy", env, seed=seed, device="cpu", **options)


def value(agent):
    """Mean return of the greedy policy, on locks with the same instance and other noise."""
    envs = gymnasium.make_vec(IDENTITY, num_envs=EPISODES, **SETTINGS)
    observations, _ = envs.reset(seed=10_000)
    returns = np.zeros(EPISODES)
    for _ in range(HORIZON):
        actions, _ = agent.predict(observations, deterministic=True)
        observations, rewards, *_ = envs.step(actions)
        returns += rewards
    return returns.mean()


def curve(make, seed):
    """The value every so many steps."""
    agent = make(seed)
    values = [value(agent)]
    for _ in range(STEPS // EVERY):
        agent.learn(EVERY, reset_num_timesteps=False)
        values.append(value(agent))
    return values


if __name__ == "__main__":
    torch.set_num_threads(1)
    pyplot.switch_backend("svg")
    pyplot.rcParams["svg.hashsalt"] = "fasturl"
    figure, axes = pyplot.subplots(figsize=(5.5, 3.2), layout="constrained")
    for name, make, colour in (("PPO", ppo, "#3B78B0"), ("DQN", dqn, "#E08A2E")):
        curves = np.array([curve(make, seed) for seed in range(SEEDS)])
        steps = np.arange(curves.shape[1]) * EVERY
        print(name, "at the end:", curves[:, -1])
        axes.plot(steps, curves.T, color=colour, alpha=0.3, linewidth=0.8)
        axes.plot(steps, curves.mean(axis=0), color=colour, label=name)
    axes.axhline(0.5, color="0.5", linewidth=0.8, linestyle="--")
    axes.set(xlabel="steps", ylabel="value of the greedy policy", ylim=(0, 0.6))
    axes.legend(frameon=False)
    figure.savefig(
        Path(__file__).parent / "pictures" / "deep-agents.svg", metadata={"Date": None}, facecolor="white"
    )

"""Trajectories until URL is near-optimal on a rich lock that is given as tables of one's own.

    python benchmarks/own_rich_lock.py reals 12 1600 91000:91050

Looks are random directions, rotated, with noise 0.2 (`reals`), or 24 bits of which one in twenty is flipped
beside H coins (`bits`); then the horizon, the trajectories of a run, and the seeds. docs/paper.md has what it
prints."""

import sys

import numpy as np
from scipy.stats import ortho_group

import fasturl as fu
from fasturl.emissions import Bernoulli, Gaussian

N_ACTIONS, CODE_BITS = 10, 24


def own_lock(horizon, looks, seed):
    generator = np.random.default_rng(seed)
    transitions, rewards = np.zeros((horizon, 3, N_ACTIONS, 3)), np.zeros((horizon, 3, N_ACTIONS))
    transitions[..., 2] = 1.0
    good = generator.integers(N_ACTIONS, size=(horizon, 2))
    for h in range(horizon):
        for state in (0, 1):
            rewards[h, state] = 0.05
            transitions[h, state, good[h, state]] = [0.5, 0.5, 0.0]
            rewards[h, state, good[h, state]] = float(h == horizon - 1)
    sizes = np.where(rewards == 0.05, 0.1, 1.0)  # wrong actions pay 0.1 half of the time
    emission = bits(generator, horizon) if looks == "bits" else reals(generator, horizon, seed)
    return fu.BlockMDP(transitions, rewards, reward_draw=sizes, start=[0.5, 0.5, 0.0], emission=emission)


def bits(generator, horizon):
    chances = np.full((horizon + 1, 3, horizon + CODE_BITS), 0.5)
    codes = generator.random((horizon + 1, 3, CODE_BITS)) < 0.5
    chances[..., :CODE_BITS] = np.where(codes, 0.05, 0.95)
    return Bernoulli(chances, n_levels=horizon + 1)


def reals(generator, horizon, seed):
    means = generator.normal(size=(horizon + 1, 3, max(32, horizon + 8)))
    means /= np.linalg.norm(means, axis=2, keepdims=True)
    rotation = ortho_group.rvs(means.shape[2], random_state=seed)
    return Gaussian(means, 0.2, n_levels=horizon + 1, rotation=rotation)


def solved_after(env, episodes, seed):
    """The first evaluation from which the value stays at least 0.9 V*."""
    spacing = fu.Recording(evaluate_every=max(25, episodes // 100))
    run = fu.train(env, fu.URL(), episodes, seeds=[seed], points=spacing, progress=False)
    evaluations = run.diagnostics[0]["evaluations"]
    below = np.flatnonzero(np.array(evaluations["values"]) < 0.9 * run.optimal_values[0])
    after = [0, *evaluations["trajectories"], np.inf]
    return after[below[-1] + 2 if below.size else 1]


if __name__ == "__main__":
    looks, horizon, episodes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    first, end = map(int, sys.argv[4].split(":"))
    solved = [solved_after(own_lock(horizon, looks, seed), episodes, seed) for seed in range(first, end)]
    print(
        f"{looks}, H = {horizon}: median {np.median(solved):g}, most {max(solved):g}, of {len(solved)} seeds"
    )

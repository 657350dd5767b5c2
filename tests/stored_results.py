"""Results for tests of what reads them: a small sweep on disk, and frames with known figures."""

import numpy as np
import pandas as pd

from fasturl.experiments import Cell, sweep

AGENTS = ("oracleq-lat", "qlearning-lat", "url")
HORIZONS = (2, 3)
SWITCHES = (0.0, 0.2)
SEEDS = range(100, 104)


def run_small_sweep(folder):
    cells = [
        Cell.make("lock-bernoulli", {"horizon": horizon, "switch": switch}, agent, {}, 400, points=40)
        for horizon in HORIZONS
        for switch in SWITCHES
        for agent in AGENTS
    ]
    return sweep(cells, SEEDS, folder, n_jobs=1, progress=False)


def frame_of(*cells):
    """A frame as `load` gives it, from cells written as (settings, average rewards [seeds, points],
    near_optimal [seeds])."""
    parts = []
    for number, (settings, samples, near_optimal) in enumerate(cells):
        samples = np.asarray(samples, float)
        seeds, points = samples.shape
        every, v_star = settings.get("every", 10), settings.get("v_star", 0.5)
        trajectories = np.arange(1, points + 1) * every
        rows = {
            "seed": np.repeat(np.arange(seeds), points),
            "trajectories": np.tile(trajectories, seeds),
            "average_reward": samples.ravel(),
            "regret": (trajectories * (v_star - samples)).ravel(),
            "value": np.repeat(np.where(near_optimal, 0.5, 0.1), points),
            "value_error": 0.0,
            "optimal_value": v_star,
            "near_optimal": np.repeat(near_optimal, points),
            "warnings": 0,
        }
        fixed = {
            "cell": f"{number:016x}",
            "env": "lock-bernoulli",
            "horizon": 5,
            "switch": 0.0,
            "noise": np.nan,
            "agent": "oracleq-lat",
        }
        fixed |= {
            "oracle": None,
            "learner": None,
            "agent.learning_rate": 0.1,
            "agent.confidence": 0.001,
            "episodes": points * every,
            "v_star": 0.5,
        }
        parts.append(
            pd.DataFrame(rows).assign(
                **(fixed | {key: value for key, value in settings.items() if key != "every"})
            )
        )
    return pd.concat(parts, ignore_index=True)


def turning(turn, points, every=10, v_star=0.5):
    """The average rewards of a run that plays badly until a turn, and optimally from then on."""
    n = np.arange(1, points + 1) * every
    return v_star * np.maximum(n - turn, 0) / n

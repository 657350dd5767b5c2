"""Trajectories until a lock is solved, by two rules, from the evaluations in the course of a run.

near-optimal
    The first evaluation from which on the policy's value stays at least 0.9 V*, to the end of the run.
five evaluations
    The last of the first five successive evaluations whose 20 episodes all return 1: the stricter rule of the
    literature on the rich lock.

Both count trajectories, and are as exact as the evaluations are close. A run that does not solve the lock
within its trajectories is censored: all that is known is that it takes more. It counts as more than any
number, so that a median over seeds is right wherever at least half of them solve the lock, and infinite where
fewer do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import optional
from ...run import near_optimal_value

if TYPE_CHECKING:
    import pandas

NEAR_OPTIMAL, FIVE_EVALUATIONS = RULES = ("near-optimal", "five evaluations")
SUCCESSIVE = 5
"""Successive evaluations that the rule of the literature asks for."""
BEST_RETURN = 1.0
"""What their episodes return: the prize, without a reward for a wrong action."""

Evaluations = Mapping[str, Sequence[Any]]
"""As `run.diagnostics` has them."""


def near_optimal_from(evaluations: Evaluations, v_star: float) -> float:
    """Trajectories until the value stays at least 0.9 V*; infinite where it does not at the end."""
    values = np.asarray(evaluations["values"], float)
    below = np.flatnonzero(values < near_optimal_value(v_star))
    first = below[-1] + 1 if below.size else 0
    return float(evaluations["trajectories"][first]) if first < values.size else np.inf


def five_evaluations_at(evaluations: Evaluations) -> float:
    """Trajectories until five successive evaluations have had the best return alone; infinite where none
    have."""
    in_a_row = 0
    for trajectories, lowest in zip(evaluations["trajectories"], evaluations["lowest_returns"], strict=True):
        in_a_row = in_a_row + 1 if lowest >= BEST_RETURN else 0
        if in_a_row == SUCCESSIVE:
            return float(trajectories)
    return float(np.inf)


def solved_by_seed(about: Iterable[Mapping[str, Any]], seeds: Iterable[int]) -> pandas.DataFrame:
    """One row for each run and rule: agent, horizon, seed, rule, budget and trajectories until solved.

    about
        The metadata of the files of results, as `Store.about` gives them, of cells with evaluations.
    seeds
        Those to keep.
    """
    pd = optional.need("pandas", "experiments", "summing up results")
    chosen_seeds, rows = set(seeds), []
    for one in about:
        config = one["config"]
        runs = zip(one["seeds"], one["optimal_values"], one["diagnostics"], strict=True)
        for seed, v_star, diagnostics in runs:
            if seed not in chosen_seeds:
                continue
            evaluations = diagnostics["evaluations"]
            solved = near_optimal_from(evaluations, v_star), five_evaluations_at(evaluations)
            where = config["agent"], config["env_settings"]["horizon"], seed
            rows += [(*where, rule, config["episodes"], at) for rule, at in zip(RULES, solved, strict=True)]
    names = ["agent", "horizon", "seed", "rule", "budget", "trajectories"]
    frame: pandas.DataFrame = pd.DataFrame(rows, columns=names)
    # a run that two sweeps computed at once is in two files
    return frame.drop_duplicates(names[:4]).sort_values(names[:4], ignore_index=True)


def sum_up(by_seed: pandas.DataFrame, agents: Sequence[str]) -> pandas.DataFrame:
    """One row for each horizon, agent, in this order, and rule: how many seeds solved the lock, and the
    median, lowest and highest number of trajectories that they took, infinite where that is more than the
    budget."""
    pd = optional.need("pandas", "experiments", "summing up results")
    rows = [
        {
            "horizon": horizon,
            "agent": agent,
            "rule": rule,
            "seeds": len(group),
            "solved": int(np.isfinite(group["trajectories"]).sum()),
            "median": _median(group["trajectories"].to_numpy()),
            "lowest": group["trajectories"].min(),
            "highest": group["trajectories"].max(),
            "budget": int(group["budget"].max()),
        }
        for (horizon, agent, rule), group in by_seed.groupby(["horizon", "agent", "rule"])
    ]
    rows.sort(key=lambda row: (row["horizon"], agents.index(row["agent"]), RULES.index(row["rule"])))
    return pd.DataFrame(rows)


def _median(trajectories: Any) -> float:
    """The median, infinite where one of the two in the middle is."""
    ordered = np.sort(trajectories)
    low, high = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(low if low == high else (low + high) / 2)

"""What PCID does in every episode: walk to a learned state, act at random, count what followed.

Its decoders are affine in the observation, or mixtures of logistic units, with weights for each level:
`decoding` computes their scores and labels.
"""

import numpy as np

from .compiling import kernel
from .dynamics import start_state, step
from .entries import get_entry, place_of, place_of_block, small_product
from .rng import below
from .tabular import greedy_at


@kernel
def explore(
    dynamics: tuple,
    labels: np.ndarray,
    reach: np.ndarray,
    level: int,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    trajectories: tuple,
) -> None:
    """Play episodes that show the transition into row `level` of `labels`, and fill `trajectories` as
    `tabular.rollout` does.

    An episode chooses one of the targets uniformly, is greedy in reach[target] (float64[T, level - 1, X, A],
    ties at random) on labels uint8[E, H+1, S] up to level - 1, and acts uniformly at random from there to its
    end.
    """
    states, actions, rewards = trajectories.states, trajectories.actions, trajectories.rewards
    horizon, _, n_actions, _ = dynamics.transitions.shape
    n_states = np.uint64(labels.shape[2])
    for e in range(states.shape[0]):
        target = below(policy_rng, reach.shape[0])
        s = start_state(dynamics, dynamics_rng)
        states[e, 0] = s
        seen = place_of_block(labels, e)
        for h in range(horizon):
            if h < level - 1:
                row = place_of(reach, target, h) + np.uint64(get_entry(labels, seen + np.uint64(s)))
                a, _ = greedy_at(reach, small_product(row, n_actions), policy_rng)
                seen += n_states
            else:
                a = below(policy_rng, n_actions)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            states[e, h + 1] = s
            actions[e, h] = a
            rewards[e, h] = reward


@kernel
def count(
    before: np.ndarray,
    taken: np.ndarray,
    gained: np.ndarray,
    after: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add transitions (label, action) -> label to counts float64[X, A, X] and their rewards to sums, of the
    same shape."""
    for i in range(before.size):
        counts[before[i], taken[i], after[i]] += 1.0
        sums[before[i], taken[i], after[i]] += gained[i]

"""Draw the pictures of environments.md: python docs/draw_environments.py

On the left, one instance's latent states level by level. A line is a transition: grey if some action can take
it, red if an optimal policy does, the thicker the likelier. A dot is as large as the state is likely under
random play, with a floor. On the right, what states look like: two observations of each, at the second level.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.collections import LineCollection

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.problems.environment import emission_rngs

FAMILIES = {
    "lock-gaussian": fu.LockGaussian(horizon=6, switch=0.2),
    "rich-lock": fu.RichLock(horizon=6),
    "bidirectional-lock": fu.BidirectionalLock(horizon=6),
    "detour-lock": fu.DetourLock(horizon=6),
    "river-swim": fu.RiverSwim(horizon=8),
    "deep-sea": fu.DeepSea(horizon=8),
    "random-mdp": fu.RandomMDP(horizon=4),
    "maze": fu.Maze(horizon=10, side=3),
}
SEED = 1
SHOWN = 2


def draw(env):
    """A figure of one environment."""
    instance = env.instance(SEED)
    transitions, rewards = instance.transitions, instance.rewards
    horizon, n_states, _, _ = transitions.shape
    best = optimal_actions(transitions, rewards)
    random_play, optimal_play = (
        visits(instance, transitions, weights) for weights in (np.ones_like(best) / best.shape[2], best)
    )
    figure, (graph, looks) = pyplot.subplots(
        1, 2, figsize=(9, 1.4 + 0.22 * n_states), width_ratios=(3, 2), layout="constrained"
    )
    possible = transitions.max(axis=2) * (random_play[0][:-1, :, None] > 0)
    for chances, colour, scale in ((possible, "0.8", 1.2), (optimal_play[1], "#C0392B", 2.5)):
        level, state, after = np.nonzero(chances > 1e-9)
        lines = np.stack([np.stack([level, state], 1), np.stack([level + 1, after], 1)], 1)
        widths = scale * np.sqrt(chances[level, state, after])
        graph.add_collection(LineCollection(lines, linewidths=widths, colors=colour, zorder=scale))
    levels, states = np.nonzero(random_play[0] > 0)
    graph.scatter(levels, states, 12 + 90 * random_play[0][levels, states], color="0.25", zorder=3)
    graph.set(xlabel="level", ylabel="latent state", ylim=(n_states - 0.5, -0.5))
    graph.set_xticks(range(horizon + 1), range(1, horizon + 2))
    graph.set_yticks(range(n_states))
    rows = observations(instance, n_states)
    looks.pcolormesh(rows[::-1], cmap="Greys")
    looks.set(xlabel="coordinate", ylabel="state")
    looks.set_yticks(SHOWN * (np.arange(n_states) + 0.5), range(n_states)[::-1])
    for spine in (*graph.spines.values(), *looks.spines.values()):
        spine.set_visible(False)
    return figure


def optimal_actions(transitions, rewards):
    """Probabilities [H, S, A] of a policy that is optimal, and indifferent among equally good actions."""
    values = np.zeros(transitions.shape[1])
    policy = np.zeros(transitions.shape[:3])
    for h in reversed(range(len(transitions))):
        q = (transitions[h] * (rewards[h] + values)).sum(axis=2)
        policy[h] = np.isclose(q, q.max(axis=1, keepdims=True))
        values = q.max(axis=1)
    return policy / policy.sum(axis=2, keepdims=True)


def visits(instance, transitions, policy):
    """Probabilities of states [H+1, S] and of transitions [H, S, S'] under a policy [H, S, A]."""
    there = [np.diff(instance.dynamics.start, prepend=0.0)]
    moves = []
    for h in range(len(transitions)):
        moves.append(there[-1][:, None] * np.einsum("sa,sat->st", policy[h], transitions[h]))
        there.append(moves[-1].sum(axis=0))
    return np.array(there), np.array(moves)


def observations(instance, n_states):
    """A few observations of each state at the second level, one below the other."""
    states = np.repeat(np.arange(n_states), SHOWN)
    noise = instance.emission.draw(emission_rngs(Streams(SEED)), states.size).every_state()[:, 1]
    return noise[np.arange(states.size), states]


if __name__ == "__main__":
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fasturl"  # the same file whenever it is drawn
    folder = Path(__file__).parent / "pictures"
    folder.mkdir(exist_ok=True)
    for name, env in FAMILIES.items():
        figure = draw(env)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)

"""The baselines on raw observations, by the rules of the published program: a slow, obvious reference for
whole runs of `oracleq-obs` and `qlearning-obs`.

An observation is its bits; values and visits are kept by observation, whatever the level. An observation that
is acted in starts at the learner's own value. One whose value is asked for before it was ever acted in, as
happens after the last action alone, is worth 0 and stays in the table as zeros. The episode is learned from
after its end, in the order of its levels.
"""

import numpy as np

from fasturl.problems.environment import emission_rngs

from .dynamics import start_state, step
from .tabular import epsilon_greedy, falling_epsilons


def returns_by_observation(env, learner, episodes, streams):
    """The return of each episode of OracleQ in its constant form, or of QLearning."""
    model = env.draw(streams).dynamics
    dynamics_rng, policy_rng = streams.row("dynamics").tolist(), streams.row("policy").tolist()
    observations = env.emission.draw(emission_rngs(streams), episodes).words[..., 0].tolist()
    horizon, _, n_actions, _ = model.transitions.shape
    confidence = getattr(learner, "confidence", None)
    optimistic = confidence is not None
    epsilons = np.zeros(episodes)
    if not optimistic:
        falling_epsilons(learner.exploration_fraction, epsilons)
    values, visits, returns = {}, {}, []
    for seen, epsilon in zip(observations, epsilons, strict=True):
        s, steps = start_state(model, dynamics_rng), []
        for h in range(horizon):
            x = seen[h][s]
            values.setdefault(x, [1.0 if optimistic else 0.0] * n_actions)
            a, _ = epsilon_greedy(values[x], epsilon, policy_rng)
            s, reward = step(model, dynamics_rng, h, s, a)
            steps.append((x, a, reward, seen[h + 1][s]))
        for x, a, reward, following in steps:
            visits[x, a] = visits.get((x, a), 0) + 1
            target = reward + max(values.setdefault(following, [0.0] * n_actions))
            if optimistic:
                target += confidence * np.sqrt(horizon / visits[x, a])
            value = (1 - learner.learning_rate) * values[x][a] + learner.learning_rate * target
            values[x][a] = min(1.0, value) if optimistic else value
        returns.append(sum(reward for _, _, reward, _ in steps))
    return returns

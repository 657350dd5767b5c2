"""URL as written, line by line: Algorithms 1, 2 and 3, one trajectory, one observation, one step at a
time."""

from math import ceil, log

import numpy as np

from fasturl._base.streams import Streams
from fasturl.learners.learner import Task
from fasturl.oracles.fitting import fit_decoder
from fasturl.problems.environment import emission_rngs

from .dynamics import start_state, step
from .labels import fix_label
from .rng import next_bits
from .tabular import draw_policy


class AsWritten:
    """A run from the same streams as that of the agent: what every trajectory pays and what is found on the
    way."""

    def __init__(self, env, agent, episodes, seed):
        streams = Streams(seed)
        known, self.instance = env.describe(), env.draw(streams)
        self.oracle, self.learner = agent.oracle, agent.learner
        self.K, self.B = episodes, agent.batch
        self.epsilon, self.delta, self.epsilon_1, self.delta_1 = (
            agent.epsilon,
            agent.delta,
            agent.epsilon_1,
            agent.delta_1,
        )
        self.H, self.A, self.n_labels = known.horizon, known.n_actions, agent.n_labels(known)
        self.max_return, self.reward_range = known.max_return, known.reward_range
        self.dynamics_rng, self.policy_rng = (streams.row(name).tolist() for name in ("dynamics", "policy"))
        self.rngs, self.oracle_seeds, self.lottery = (
            emission_rngs(streams),
            streams.generator("oracle"),
            streams.generator("policy"),
        )
        self.returns, self.standards = [], []
        self.algorithm_1()

    def algorithm_1(self):
        N = ceil(log(2 / self.delta) / 2)
        L = ceil(9 * self.H**2 / (2 * self.epsilon**2) * log(2 * N / self.delta))
        self.candidates, self.means = [], []
        for _ in range(N):
            policy_rng = np.array([next_bits(self.policy_rng) for _ in range(4)], np.uint64)
            memory = self.learner.start(
                Task(self.H, self.n_labels, self.A, self.max_return, self.K, policy_rng, self.reward_range)
            )
            self.Pi = []
            self.Z = [{} for _ in range(self.H + 1)]
            self.f = [lambda x: 0] * (self.H + 1)
            for k in range(1, self.K + 1):
                trajectory = self.algorithm_2(memory.policy(), k)
                memory.update(*trajectory)
            final = np.empty((self.H, self.n_labels), np.int64)
            draw_policy(np.asarray(memory.final_policy()), 0.0, policy_rng.tolist(), final)
            self.algorithm_2(final, self.K + 1)
            self.candidates.append((final, self.f))
            self.standards.append(
                [{s: len(observations) for s, observations in level.items()} for level in self.Z]
            )
        for pi, f in self.candidates:
            paid = [sum(self.play(pi, f)[2]) for _ in range(L)]
            self.means.append(np.mean(paid))
        self.best = max(range(N), key=lambda n: self.means[n])

    def algorithm_2(self, pi, k):
        J = (self.H + 1) * self.n_labels + 1
        f = self.f
        for i in range(1, J + 1):
            self.Pi.append((pi, f))
            D = self.play_uniformly(((k - 1) * J + i) * self.B)
            D_test = [self.play(pi, f)[0] for _ in range(self.B)]
            untrained = [[trajectory[h] for trajectory in D] for h in range(self.H + 1)]
            f = [self.train(untrained[h], h) for h in range(self.H + 1)]
            f = [fix_label(f[h], list(self.Z[h].items()), self.n_labels) for h in range(self.H + 1)]
            for h in range(self.H + 1):
                for s in range(self.n_labels):
                    D_test_hs = [trajectory[h] for trajectory in D_test if f[h](trajectory[h]) == s]
                    if s not in self.Z[h] and len(D_test_hs) >= 3 * self.epsilon_1 * self.B * log(
                        1 / self.delta_1
                    ):
                        self.Z[h][s] = D_test_hs
        observations, actions, rewards = self.play(pi, f)
        self.f = f
        return (
            np.array([f[h](observations[h]) for h in range(self.H + 1)]),
            np.array(actions),
            np.array(rewards),
        )

    def train(self, observations, level):
        """The oracle's function from observations to labels."""
        decoder = fit_decoder(
            self.oracle,
            np.array(observations),
            int(self.oracle_seeds.integers(2**31)),
            self.n_labels,
            open_ended=False,
        )
        return lambda x: int(decoder.decode(x[None], level + 1)[0])

    def play_uniformly(self, count):
        """Unif(Pi): how often each policy is picked, and then the trajectories of one policy after the
        other."""
        picks = self.lottery.multinomial(count, [1 / len(self.Pi)] * len(self.Pi))
        return [
            self.play(pi, f)[0] for (pi, f), times in zip(self.Pi, picks, strict=True) for _ in range(times)
        ]

    def play(self, pi, f):
        """One trajectory of the policy pi on the labels of f: observations, actions, rewards."""
        noise = self.instance.emission.draw(self.rngs, 1).every_state()[0]
        s = start_state(self.instance.dynamics, self.dynamics_rng)
        observations, actions, rewards = [noise[0, s]], [], []
        for h in range(self.H):
            actions.append(int(pi[h, f[h](observations[h])]))
            s, reward = step(self.instance.dynamics, self.dynamics_rng, h, s, actions[h])
            observations.append(noise[h + 1, s])
            rewards.append(reward)
        self.returns.append(np.cumsum(rewards)[-1])
        return observations, actions, rewards

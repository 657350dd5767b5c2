"""PCID: provably correct decoding by the past (Du et al., 2019, arXiv 1901.09018).

Which (state, action) an observation came from tells its latent state. For uniformly chosen (s, a) at level
h-1, let

    b(s') = the distribution of (s, a) given that s' followed it       (the backward distribution of s').

A regression g_h of the one-hot code of (s, a) on the observation x at level h estimates E[onehot(s, a) | x] =
b(s'), the same for all observations of s'; so the predictions gather around one point for each state, and
k-means finds the points. Level by level, from a first level with a single state, PCID

1. plays n episodes, each of which follows a policy to a uniformly chosen learned state of level h-1 and then
   acts uniformly at random,
2. regresses (decoded state, action) of level h-1 on the observation of level h, by a linear map without an
   intercept or by a network with one layer of logistic units (`past_regression`),
3. clusters the predictions, with one cluster fewer while any has under 30 samples; an observation is decoded
   as the nearest centre,
4. counts transitions from (state, action) of level h-1 to states of level h, and adds up the rewards that
   came with them,
5. finds by dynamic programming on the shares of these transitions, for each learned state of level h, a
   policy that reaches it with the greatest probability.

After level H+1, value iteration gives the policy of all further episodes. With p the shares, and r(s') the
mean reward of the transitions into s',

    Q[h, s, a] = sum over s' of p[h, s, a, s'] (r[h+1, s'] + V[h+1, s']),   V = max over a of Q,   V[H+1] = 0.

Of actions that are equally good the first is taken. One that was never tried in a state is taken only where
none was.

This is what the published program of Du et al. does. One of its rules has an alternative here, off by
default: `rewards="state-action"` puts r(s, a), the mean reward of the action, in the place of r(s'). A reward
that depends on the action and not on where it leads is hardly seen otherwise: on forty random Block MDPs with
such rewards the final policy is near-optimal in all, against 8. In eight cells of locks it never earns less
beyond chance: 0.236 against 0.170 a trajectory seen through bits with H = 5, switch 0.2 and 150 samples a
level, 0.123 against 0.096 through reals with H = 10, switch 0.2, noise 0.2 and 200.

Two states with the same backward distribution cannot be told apart, however many samples there are. The lock
with switch 0.5 has two such states: each good action leads to the two live states with equal chances, so the
past says nothing about which of the two it was. PCID sees one live state there, or splits it by noise alone,
and goes on only where some action is good in both states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.schema import Range, setting
from .._kernels import pcid as _pcid
from .._kernels import planning as _planning
from ..decoders.decoder import MAX_LABELS
from ..problems.description import Description
from .agent import Agent, Outcome
from .evaluation import DecodedPolicy
from .game import Game, Trajectories
from .ledger import Ledger, Phases
from .past_decoding import LEAST_SAMPLES, PastDecoder, cluster
from .past_regression import REGRESSIONS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REWARDS = ("state", "state-action")


@dataclass(frozen=True)
class PCID(Agent):
    """Level by level exploration with decoders learned from the past.

    At switch 0.5 a lock has two live states with the same past, which PCID cannot tell apart: it fails there
    on most locks.

    Where the episodes end before every level is learned, the last ones explore, and the final policy acts at
    random in the levels without a decoder.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=3)
    >>> fu.train(env, fu.PCID(), episodes=4000).success_rate
    1.0
    """

    offers_policies = True

    n_clusters: int | None = setting(
        None,
        least=2,
        most=MAX_LABELS,
        none="the bound that the environment declares",
        search=(3, 4, 6),
        help="The largest number of states that a level is thought to have.",
    )
    samples_per_level: int | None = setting(
        None,
        least=LEAST_SAMPLES,
        unit="episodes",
        none="25 for each state and action, or 20 H + 200 where that is more",
        search=Range(125, 2000),
        help="Episodes that each level is learned from.",
    )
    model: str = setting(
        "linear",
        choices=tuple(REGRESSIONS),
        search=("linear", "neural"),
        help="The regression: linear, or a network of n_clusters logistic units: the published one, or one "
        "that starts at the linear fit and is trained ten times quicker.",
    )

    rewards: str = setting(
        "state",
        choices=REWARDS,
        help="What rewards are averaged by: the learned state that a step leads to, as published, or the "
        "learned state and the action, so that rewards of actions are learned too.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_samples(self.n_clusters or 0)

    def check(self, description: Description) -> None:
        if description.observations is None:
            raise ValueError(
                "env must have an emission that shows vectors: PCID regresses on observations, and "
                "this env has none"
            )
        self._check_samples(self.n_labels(description))

    def _check_samples(self, n_labels: int) -> None:
        if self.samples_per_level is not None and self.samples_per_level < n_labels:
            raise ValueError(
                f"samples_per_level must be an integer >= {n_labels}, got {self.samples_per_level}"
            )

    def n_labels(self, description: Description) -> int:
        """The largest number of clusters of a level."""
        return min(max(2, description.max_states if self.n_clusters is None else self.n_clusters), MAX_LABELS)

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        n_labels = self.n_labels(game.description)
        samples = self.samples_per_level or default_samples(
            game.description.horizon, n_labels, game.description.n_actions
        )
        run = _Run(game, ledger, self, n_labels, samples)
        run.learn_levels()
        run.exploit()
        return run.outcome()


def default_samples(horizon: int, n_clusters: int, n_actions: int) -> int:
    """Samples for a level: enough for each (state, action), and more where observations have more
    coordinates."""
    return max(25 * n_clusters * n_actions, 20 * horizon + 200)


class _Run:
    """One run: decoders, counts and reach-policies of the levels learned so far."""

    def __init__(self, game: Game, ledger: Ledger, agent: PCID, n_labels: int, samples: int) -> None:
        known = game.description
        assert known.observations is not None
        self.game, self.ledger, self.n_labels, self.samples = game, ledger, n_labels, samples
        self.regression, self.rewards = REGRESSIONS[agent.model], agent.rewards
        self.horizon, self.n_actions = known.horizon, known.n_actions
        self.decoder = PastDecoder(
            self.horizon + 1, known.observations.dimension, n_labels, logistic=self.regression.logistic
        )
        self.counts = np.zeros((self.horizon, n_labels, self.n_actions, n_labels))
        self.sums = np.zeros_like(self.counts)
        self.learned = 0
        self.explored = 0
        self.phases = Phases("exploration", "regression", "exploitation")

    def learn_levels(self) -> None:
        while self.learned < self.horizon and self.ledger.left:
            self._learn_level(self.learned + 1)
            self.ledger.offer(self._policy)
        self.explored = self.ledger.played

    def exploit(self) -> None:
        policy = self._final_policy()
        while self.ledger.left:
            with self.phases.timed("exploitation"):
                episodes = self.game.begin(self.ledger.next_block(self.game.block_episodes))
                labels = episodes.labels(self.decoder)
                self.ledger.enter(episodes.play_policy(labels, policy, self.game.policy_rng).returns)
            self.ledger.offer(self._policy)

    def outcome(self) -> Outcome:
        diagnostics = {
            "states_found": self.decoder.n_found.tolist(),
            "exploration_trajectories": self.explored,
            "seconds": self.phases.seconds,
        }
        return Outcome(self._policy(), diagnostics)

    def _policy(self) -> DecodedPolicy:
        return DecodedPolicy(self.decoder, self._final_policy())

    def _learn_level(self, level: int) -> None:
        """Explore a level, and learn it if there are episodes enough."""
        with self.phases.timed("exploration"):
            reach = self._reach_policies(level - 1)
            trajectories = []
            end = self.ledger.played + min(self.samples, self.ledger.left)
            complete = self.ledger.left >= self.samples
            while self.ledger.played < end:
                trajectories.append(
                    self._explore(level, reach, min(self.game.block_episodes, end - self.ledger.played))
                )
        if complete:
            with self.phases.timed("regression"):
                self._learn_from(level, trajectories)

    def _learn_from(self, level: int, trajectories: list[Trajectories]) -> None:
        before = np.concatenate([part.labels_at(level) for part in trajectories])
        taken = np.concatenate([part.actions[:, level - 1] for part in trajectories])
        gained = np.concatenate([part.rewards[:, level - 1] for part in trajectories])
        X = np.concatenate([part.observations_at(level + 1) for part in trajectories])
        n_codes = int(self.decoder.n_found[level - 1]) * self.n_actions
        oracle_rng, codes = self.game.oracle_rng, before * self.n_actions + taken
        fit = self.regression(oracle_rng, X, codes, n_codes, self.n_labels)
        self.decoder.learn(level + 1, *fit.scores(cluster(oracle_rng, fit.points, self.n_labels)))
        after = self.decoder.decode(X, level + 1)
        _pcid.count(before, taken, gained, after, self.counts[level - 1], self.sums[level - 1])
        self.learned = level

    def _explore(self, level: int, reach: Floats, count: int) -> Trajectories:
        """Play episodes that walk to a learned state of the level before and act at random from there."""
        episodes = self.game.begin(count)
        labels = episodes.labels_with(lambda block: self.decoder.first_levels(block, level))
        trajectories = episodes.play_towards(labels, reach, level, self.game.policy_rng)
        self.ledger.enter(trajectories.returns)
        return trajectories

    def _reach_policies(self, level: int) -> Floats:
        """A policy [T, level, X, A] to each learned state of a level: 1 for the action that it takes."""
        n_targets, model = int(self.decoder.n_found[level]), self._model(level)
        policies = np.zeros((n_targets, *model.tried.shape))
        for target in range(n_targets if level else 0):
            hits = np.zeros_like(model.shares)
            hits[-1, :, :, target] = 1.0
            policies[target] = model.best_policy(hits)
        return policies

    def _final_policy(self) -> Floats:
        """The best policy [H, X, A] on the learned model; random at levels that were not learned."""
        axes = (1, 2) if self.rewards == "state" else 3
        means = _ratio(self.sums.sum(axis=axes, keepdims=True), self.counts.sum(axis=axes, keepdims=True))
        policy = np.full(self.counts.shape[:3], 1 / self.n_actions)
        rewards = np.broadcast_to(means, self.counts.shape)[: self.learned].copy()
        policy[: self.learned] = self._model(self.learned).best_policy(rewards)
        return policy

    def _model(self, levels: int) -> _Model:
        """The first levels of what was learned."""
        counts = self.counts[:levels]
        visits = counts.sum(axis=3, keepdims=True)
        return _Model(_frozen(_ratio(counts, visits)), visits[..., 0] > 0)


class _Model(NamedTuple):
    """Shares of transitions [L, X, A, X], and which actions were tried [L, X, A]."""

    shares: Floats
    tried: NDArray[np.bool_]

    def best_policy(self, rewards: Floats) -> Floats:
        """The best policy [L, X, A] where transitions pay rewards [L, X, A, X]: 1 for the action that it
        takes."""
        n_levels, n_labels, n_actions = self.tried.shape
        q, values = np.empty(self.tried.shape), np.empty((n_levels + 1, n_labels))
        _planning.optimal_q(self.shares, _frozen(rewards), q, values)
        q[~self.tried] = -np.inf
        return np.asarray(np.eye(n_actions)[q.argmax(axis=2)])


def _ratio(sums: Floats, counts: Floats) -> Floats:
    """sums / counts, 0 where nothing was counted."""
    return np.asarray(np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0))


def _frozen(table: Floats) -> Floats:
    """Read-only, as the tables of a model are: Numba compiles anew for writable ones."""
    table.setflags(write=False)
    return table

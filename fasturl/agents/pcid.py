"""PCID: provably correct decoding by the past (Du et al., 2019, arXiv 1901.09018).

Which (state, action) an observation came from tells its latent state. For uniformly chosen (s, a) at level
h-1, let

    b(s') = the distribution of (s, a) given that s' followed it       (the backward distribution of s').

A regression g_h of the one-hot code of (s, a) on the observation x at level h estimates E[onehot(s, a) | x] =
b(s'), the same for all observations of s'; so the predictions gather around one point for each state, and
k-means finds the points. Level by level, from a first level with a single state, PCID

1. plays n episodes, each of which follows a policy to a uniformly chosen learned state of level h-1 and then
   acts uniformly at random,
2. regresses (decoded state, action) of level h-1 on the observation of level h, by a linear map or by a
   network with one layer of logistic units,
3. clusters the predictions, again with only as many clusters as have 30 samples until all have; an
   observation is decoded as the nearest centre,
4. counts transitions from (state, action) of level h-1 to states of level h, and the rewards met on the way,
5. finds by dynamic programming, for each learned state of level h, a policy that reaches it if every (state,
   action) leads where it led most often.

After level H+1, value iteration on the shares of the counts and the mean rewards gives the policy of all
further episodes. A pair (state, action) that was never tried has no known successor and a value of 0.

Two states with the same backward distribution cannot be told apart, however many samples there are. The lock
with switch 0.5 has two such states: each good action leads to the two live states with equal chances, so the
past says nothing about which of the two it was. PCID sees one live state there, in which an action that is
good in both states and one that is good in one of them both seem to lead on most often. A policy that takes
the second meets the live state half as often, until it has under 30 samples and is lost.

Two of these points are readings, picked among many that were tried because they agree with the published
average rewards on the lock with H = 5: the likeliest successors in step 5, and in step 3 that K falls by all
clusters that are too small. Shares of the counts in step 5 and one cluster less at a time give 0.23 at switch
0.5, where 0.11 is published; at switch 0 and 0.2 the readings agree.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from .past_decoding import LEAST_SAMPLES, Linear, Network, PastDecoder, Standardised, cluster

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MODELS = ("linear", "neural")


@dataclass(frozen=True)
class PCID(Agent):
    """Level by level exploration with decoders learned from the past.

    At switch 0.5 a lock has two live states with the same past, which PCID cannot tell apart: it fails there
    on most locks.

    Where the episodes end before every level is learned, the levels without a decoder are acted in at random.
    The diagnostics of a run are `states_found` and `decoder_accuracy` for each level 1..H+1,
    `exploration_trajectories`, and the `seconds` of its parts.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=3)
    >>> fu.train(env, fu.PCID(), episodes=4000).success_rate
    1.0
    """

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
        choices=MODELS,
        search=MODELS,
        help="The regression: linear, or one layer of n_clusters logistic units.",
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
        run = _Run(game, ledger, self.model, n_labels, samples)
        run.learn_levels()
        run.exploit()
        return run.outcome()


def default_samples(horizon: int, n_clusters: int, n_actions: int) -> int:
    """Samples for a level: enough for each (state, action), and more where observations have more
    coordinates."""
    return max(25 * n_clusters * n_actions, 20 * horizon + 200)


class _Run:
    """One run: decoders, counts and reach-policies of the levels learned so far."""

    def __init__(self, game: Game, ledger: Ledger, regression: str, n_labels: int, samples: int) -> None:
        known = game.description
        assert known.observations is not None
        self.game, self.ledger, self.regression, self.n_labels, self.samples = (
            game,
            ledger,
            regression,
            n_labels,
            samples,
        )
        self.horizon, self.n_actions = known.horizon, known.n_actions
        self.decoder = PastDecoder(
            self.horizon + 1, known.observations.dimension, n_labels, logistic=regression == "neural"
        )
        shape = (self.horizon, self.n_labels, self.n_actions)
        self.counts = np.zeros((*shape, self.n_labels))
        self.sums = np.zeros(shape)
        self.explored = 0
        self.phases = Phases("exploration", "regression", "exploitation")

    def learn_levels(self) -> None:
        for level in range(1, self.horizon + 1):
            if self.ledger.left < self.samples:
                break
            self._learn_level(level)
        self.explored = self.ledger.played

    def exploit(self) -> None:
        with self.phases.timed("exploitation"):
            policy = self._final_policy()
            while self.ledger.left:
                count = min(self.game.block_episodes, self.ledger.left)
                self.ledger.enter(self.game.play_policy(self.decoder, policy, count).returns)

    def outcome(self) -> Outcome:
        diagnostics = {
            "states_found": self.decoder.n_found.tolist(),
            "exploration_trajectories": self.explored,
            "seconds": self.phases.seconds,
        }
        return Outcome(DecodedPolicy(self.decoder, self._final_policy()), diagnostics)

    def _learn_level(self, level: int) -> None:
        with self.phases.timed("exploration"):
            reach = self._reach_policies(level - 1)
            trajectories = []
            end = self.ledger.played + self.samples
            while self.ledger.played < end:
                trajectories.append(
                    self._explore(level, reach, min(self.game.block_episodes, end - self.ledger.played))
                )
            before = np.concatenate([part.labels_at(level) for part in trajectories])
            taken = np.concatenate([part.actions[:, level - 1] for part in trajectories])
            gained = np.concatenate([part.rewards[:, level - 1] for part in trajectories])
            X = np.concatenate([part.observations_at(level + 1) for part in trajectories])
        with self.phases.timed("regression"):
            self._fit(level, X, before * self.n_actions + taken)
            after = self.decoder.decode(X, level + 1)
            _pcid.count(before, taken, gained, after, self.counts[level - 1], self.sums[level - 1])

    def _explore(self, level: int, reach: Floats, count: int) -> Trajectories:
        """Play episodes that walk to a learned state of the level before and act at random from there."""
        episodes = self.game.begin(count)
        labels = episodes.labels_with(lambda block: self.decoder.first_levels(block, level))
        trajectories = episodes.play_towards(labels, reach, level, self.game.policy_rng)
        self.ledger.enter(trajectories.returns)
        return trajectories

    def _fit(self, level: int, X: NDArray[np.generic], codes: Ints) -> None:
        n_codes = int(self.decoder.n_found[level - 1]) * self.n_actions
        oracle_rng, data = self.game.oracle_rng, Standardised(X)
        fit = (
            Linear(data, codes, n_codes)
            if self.regression == "linear"
            else Network(data, codes, n_codes, self.n_labels)
        )
        centres = cluster(oracle_rng, fit.points, self.n_labels)
        self.decoder.learn(level + 1, *fit.scores(centres))

    def _reach_policies(self, level: int) -> Floats:
        """A policy [T, level, X, A] to each learned state of a level: 1 for the action it takes, the first of
        the best."""
        n_targets = int(self.decoder.n_found[level])
        policies = np.zeros((n_targets, level, self.n_labels, self.n_actions))
        q, values = np.empty(policies.shape[1:]), np.empty((level + 1, self.n_labels))
        likely = self._likely_transitions(level)
        for target in range(n_targets if level else 0):
            hits = np.zeros((level, self.n_labels, self.n_actions, self.n_labels))
            hits[-1, :, :, target] = 1.0
            _planning.optimal_q(likely, _frozen(hits), q, values)
            policies[target] = np.eye(self.n_actions)[q.argmax(axis=2)]
        return policies

    def _final_policy(self) -> Floats:
        """The greedy policy [H, X, A] of the learned model, ties as equal chances."""
        visits = self.counts.sum(axis=3)
        means = np.divide(self.sums, visits, out=np.zeros_like(self.sums), where=visits > 0)
        rewards = np.repeat(means[..., None], self.n_labels, axis=3)
        q, values = np.empty_like(self.sums), np.empty((self.horizon + 1, self.n_labels))
        _planning.optimal_q(_frozen(self._transitions()), _frozen(rewards), q, values)
        best = q == q.max(axis=2, keepdims=True)
        return np.asarray(best / best.sum(axis=2, keepdims=True))

    def _transitions(self) -> Floats:
        """Shares of the transitions seen; zeros for pairs that were never tried."""
        visits = self.counts.sum(axis=3, keepdims=True)
        return np.asarray(np.divide(self.counts, visits, out=np.zeros_like(self.counts), where=visits > 0))

    def _likely_transitions(self, level: int) -> Floats:
        """As `_transitions` of the first levels, all of a pair going to its most frequent successor, the
        first of equals."""
        counts = self.counts[:level]
        likely = np.eye(self.n_labels)[counts.argmax(axis=3)]
        return _frozen(np.where(counts.any(axis=3, keepdims=True), likely, 0.0))


def _frozen(table: Floats) -> Floats:
    """Read-only, as the tables of a model are: Numba compiles anew for writable ones."""
    table.setflags(write=False)
    return table

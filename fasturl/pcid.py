"""PCID: provably correct decoding by the past (Du et al., 2019, arXiv 1901.09018).

Which (state, action) an observation came from tells its latent state. For uniformly chosen (s, a) at level h-1, let

    b(s') = the distribution of (s, a) given that s' followed it       (the backward distribution of s').

A regression g_h of the one-hot code of (s, a) on the observation x at level h estimates E[onehot(s, a) | x] = b(s'), the same for all
observations of s'; so the predictions gather around one point for each state, and k-means finds the points. Level by level,
from a first level with a single state, PCID

1. plays n episodes, each of which follows a policy to a uniformly chosen learned state of level h-1 and then acts uniformly at random,
2. regresses (decoded state, action) of level h-1 on the observation of level h, by a linear map or by a network with one
   layer of logistic units,
3. clusters the predictions, again with only as many clusters as have 30 samples until all have; an observation is decoded as the
   nearest centre,
4. counts transitions from (state, action) of level h-1 to states of level h, and the rewards met on the way,
5. finds by dynamic programming, for each learned state of level h, a policy that reaches it if every (state, action) leads where it
   led most often.

After level H+1, value iteration on the shares of the counts and the mean rewards gives the policy of all further episodes. A pair
(state, action) that was never tried has no known successor and a value of 0.

Two states with the same backward distribution cannot be told apart, however many samples there are. The lock with switch 0.5 has
two such states: each good action leads to the two live states with equal chances, so the past says nothing about which of the two it
was. PCID sees one live state there, in which an action that is good in both states and one that is good in one of them both seem to
lead on most often. A policy that takes the second meets the live state half as often, until it has under 30 samples and is lost.

Two of these points are readings, picked among many that were tried because they agree with the published average rewards on the lock
with H = 5: the likeliest successors in step 5, and in step 3 that K falls by all clusters that are too small. Shares of the counts
in step 5 and one cluster less at a time give 0.23 at switch 0.5, where 0.11 is published; at switch 0 and 0.2 the readings agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import evaluation, validation
from ._kernels import pcid as _pcid
from ._kernels import planning as _planning
from .agents import Agent, Outcome, Phases, Tick
from .decoders import MAX_LABELS
from .emissions import Block
from .learners import rollout
from .models import BlockMDP, Environment, emission_lanes
from .past_decoding import LEAST_SAMPLES, Linear, Network, PastDecoder, Standardised, cluster
from .streams import Streams

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PCID(Agent):
    """Level by level exploration with decoders learned from the past.

    n_clusters
        The largest number of states that a level is thought to have.
    samples_per_level
        Episodes that each level is learned from; if not given, `default_samples` for the horizon.
    model
        The regression: "linear", or "neural" for one layer of n_clusters logistic units.

    At switch 0.5 a lock has two live states with the same past, which PCID cannot tell apart: it fails there on most locks.

    Where the episodes end before every level is learned, the levels without a decoder are acted in at random. The diagnostics of a
    run are `states_found` and `decoder_accuracy` for each level 1..H+1, `exploration_trajectories`, and the `seconds` of its parts.
    """

    n_clusters: int = 3
    samples_per_level: int | None = None
    model: str = "linear"

    def __post_init__(self) -> None:
        validation.keep(self, n_clusters=validation.integer("n_clusters", self.n_clusters, least=2, most=MAX_LABELS))
        if self.samples_per_level is not None:
            least = max(LEAST_SAMPLES, self.n_clusters)
            validation.keep(self, samples_per_level=validation.integer("samples_per_level", self.samples_per_level, least=least))
        validation.choice("model", self.model, ("linear", "neural"))

    @property
    def name(self) -> str:
        return "pcid"

    def check(self, env: Environment) -> None:
        if env.emission is None:
            raise ValueError("env must have an emission that shows vectors: PCID regresses on observations, and this env has none")

    def play(self, env: Environment, streams: Streams, episodes: int, tick: Tick) -> Outcome:
        run = _Run(self, env.draw(streams), streams, episodes, tick)
        run.learn_levels()
        run.exploit()
        return run.outcome()


def default_samples(horizon: int, n_clusters: int, n_actions: int) -> int:
    """Samples for a level: enough for each (state, action), and more where observations have more coordinates."""
    return max(25 * n_clusters * n_actions, 20 * horizon + 200)


class _Run:
    """One run: decoders, counts and reach-policies of the levels learned so far."""

    def __init__(self, agent: PCID, model: BlockMDP, streams: Streams, episodes: int, tick: Tick) -> None:
        assert model.emission is not None
        self.agent, self.model, self.streams, self.tick = agent, model, streams, tick
        self.emission = model.emission
        self.horizon, self.n_actions, self.n_labels = model.horizon, model.n_actions, agent.n_clusters
        self.samples = agent.samples_per_level or default_samples(self.horizon, self.n_labels, self.n_actions)
        self.decoder = PastDecoder(self.horizon + 1, self.emission.dimension, self.n_labels, logistic=agent.model == "neural")
        shape = (self.horizon, self.n_labels, self.n_actions)
        self.counts = np.zeros((*shape, self.n_labels))
        self.sums = np.zeros(shape)
        self.returns = np.empty(episodes)
        self.played = self.explored = 0
        self.phases = Phases("exploration", "regression", "exploitation", "evaluation")

    def learn_levels(self) -> None:
        for level in range(1, self.horizon + 1):
            if self.returns.size - self.played < self.samples:
                break
            self._learn_level(level)
        self.explored = self.played

    def exploit(self) -> None:
        with self.phases.timed("exploitation"):
            policy = self._final_policy()
            while self.played < self.returns.size:
                labels = self.decoder.table(self._draw(self.returns.size - self.played))
                luck, choice = self.streams.row("dynamics"), self.streams.row("policy")
                self._count(rollout(self.model.dynamics, labels, policy, 0.0, luck, choice)[2].sum(axis=1))

    def outcome(self) -> Outcome:
        with self.phases.timed("evaluation"):
            value, error = evaluation.decoded_value(self.model, self.decoder, self._final_policy(), self.streams)
            accuracy = evaluation.decoder_accuracy(self.model, self.decoder, self.streams)
        diagnostics = {
            "states_found": self.decoder.found.tolist(),
            "decoder_accuracy": accuracy,
            "exploration_trajectories": self.explored,
            "seconds": self.phases.seconds,
        }
        return Outcome(self.returns, value, error, diagnostics)

    def _learn_level(self, level: int) -> None:
        n = self.samples
        before, taken, after = np.empty((3, n), np.int64)
        gained, returns, seen = np.empty(n), np.empty(n), []
        with self.phases.timed("exploration"):
            reach = self._reach_policies(level - 1)
            luck, choice = self.streams.row("dynamics"), self.streams.row("policy")
            first = 0
            while first < n:
                block = self._draw(n - first)
                part = slice(first, first + block.n_episodes)
                labels = self.decoder.first_levels(block, level)
                record = before[part], taken[part], gained[part], after[part], returns[part]
                _pcid.explore(self.model.dynamics, labels, reach, level, luck, choice, *record)
                seen.append(block.level(level).observe(after[part][:, None])[:, 0])
                self._count(returns[part])
                first += block.n_episodes
        with self.phases.timed("regression"):
            X = np.concatenate(seen)
            self._fit(level, X, before * self.n_actions + taken)
            labels_after = self.decoder.decode(X, level)
            _pcid.count(before, taken, gained, labels_after, self.counts[level - 1], self.sums[level - 1])

    def _fit(self, level: int, X: NDArray[np.generic], codes: Ints) -> None:
        n_codes = int(self.decoder.found[level - 1]) * self.n_actions
        stream, data = self.streams.row("oracle"), Standardised(X)
        fit = Linear(data, codes, n_codes) if self.agent.model == "linear" else Network(data, codes, n_codes, self.n_labels)
        centres = cluster(stream, fit.points, self.n_labels)
        self.decoder.learn(level, centres.shape[0], *fit.scores(centres))

    def _reach_policies(self, level: int) -> Floats:
        """A policy [T, level, X, A] to each learned state of a level: 1 for the action it takes, the first of the best."""
        found = int(self.decoder.found[level])
        policies = np.zeros((found, level, self.n_labels, self.n_actions))
        q, values = np.empty(policies.shape[1:]), np.empty((level + 1, self.n_labels))
        likely = self._likely_transitions(level)
        for target in range(found if level else 0):
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
        """As `_transitions` of the first levels, all of a pair going to its most frequent successor, the first of equals."""
        counts = self.counts[:level]
        likely = np.eye(self.n_labels)[counts.argmax(axis=3)]
        return _frozen(np.where(counts.any(axis=3, keepdims=True), likely, 0.0))

    def _draw(self, wanted: int) -> Block:
        return self.emission.draw(emission_lanes(self.streams), min(self.emission.block_episodes, wanted))

    def _count(self, returns: Floats) -> None:
        self.returns[self.played : self.played + returns.size] = returns
        self.played += returns.size
        self.tick(returns.size)


def _frozen(table: Floats) -> Floats:
    """Read-only, as the tables of a model are: Numba compiles anew for writable ones."""
    table.setflags(write=False)
    return table

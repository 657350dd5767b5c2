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
from numpy.typing import ArrayLike, NDArray

from . import evaluation, validation
from ._kernels import fitting as _fitting
from ._kernels import pcid as _pcid
from ._kernels import planning as _planning
from .agents import Agent, Outcome, Phases, Tick
from .decoders import MAX_LABELS, Decoder, Labels, block_of, real_blocks
from .emissions import BitBlock, Block, RealBlock
from .learners import rollout
from .models import BlockMDP, Environment, emission_lanes
from .streams import Streams

LEAST_SAMPLES = 30
"""Samples that make a cluster."""
STARTS = 10
"""Starts of k-means."""
MOVES = 300
"""Moves of the centres after which a start of k-means ends."""
RIDGE = 1e-9
"""Added to the variance of each standardised coordinate in the normal equations."""
ADAM_ITERATIONS = 40
"""Few, from a good start: the network then has no time to fit the noise of a hundred coordinates."""
ADAM_RATE = 0.02

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


class PastDecoder(Decoder):
    """The nearest centre in the space of the predictions, level by level.

    A level starts with one label, which every observation gets, until `learn` sets its centres.
    """

    def __init__(self, n_levels: int, dimension: int, n_clusters: int, *, logistic: bool) -> None:
        super().__init__(n_clusters)
        padded = -(-n_clusters // 4) * 4
        self.found = np.ones(n_levels, np.int64)
        self._weights = np.zeros((n_clusters, dimension, n_levels), np.float32)
        self._bias = np.zeros((n_clusters, n_levels), np.float32)
        self._tables = np.zeros((n_levels, -(-dimension // 4), 16, padded), np.float32)
        self._mixing = np.zeros((n_clusters, n_clusters + 1, n_levels) if logistic else (0, 0, n_levels), np.float32)

    def learn(self, level: int, found: int, weights: Floats, bias: Floats, mixing: Floats | None = None) -> None:
        """The scores of a level: bias + weights x, or mixing (logistic(bias + weights x), 1) where there is a layer."""
        n_scores = bias.size
        self.found[level] = found
        self._weights[:n_scores, :, level] = weights
        self._bias[:n_scores, level] = bias
        _pcid.fill_nibble_tables(weights.astype(np.float32), bias.astype(np.float32), self._tables[level])
        if mixing is not None:
            self._mixing[:found, :, level] = mixing

    def table(self, block: Block) -> Labels:
        return self.first_levels(block, block.n_levels)

    def first_levels(self, block: Block, levels: int) -> Labels:
        """As `table`, with labels at the first levels alone; the rest is 0."""
        return self._label(block, levels, slice(None))

    def decode(self, X: ArrayLike, level: int = 0) -> Ints:
        return self._label(_one_level_each(np.asarray(X)), 1, slice(level, level + 1)).ravel().astype(np.int64)

    def _label(self, block: Block, levels: int, part: slice) -> Labels:
        found, mixing = self.found[part], np.ascontiguousarray(self._mixing[:, :, part])
        if isinstance(block, BitBlock):
            labels = np.zeros((block.n_episodes, block.n_levels, block.n_states), np.uint8)
            tables, n = self._tables[part], block.n_episodes * block.n_states
            scratch = np.empty((tables.shape[-1], n), np.float32), np.empty((self._bias.shape[0], n), np.float32)
            _pcid.bit_labels(block.words, tables, found, mixing, levels, *scratch, labels)
            return self.relabel[labels]
        weights, bias = np.ascontiguousarray(self._weights[:, :, part]), np.ascontiguousarray(self._bias[:, part])
        tail, sums, mixed = np.empty((3, *bias.shape), np.float32)
        given = []
        for real in real_blocks(block):
            labels = np.zeros((real.n_episodes, real.n_levels, real.n_states), np.uint8)
            _pcid.real_labels(real.noise, real.means, real.head, weights, bias, found, mixing, levels, tail, sums, mixed, labels)
            given.append(labels)
        return self.relabel[np.concatenate(given, axis=2)]


def _one_level_each(X: NDArray[np.generic]) -> Block:
    """Observations [n, D] as n episodes of one level with one state."""
    block = block_of(X)
    if isinstance(block, RealBlock):
        n, dimension = X.shape
        return RealBlock(np.ascontiguousarray(X, np.float32).reshape(n, dimension, 1), np.zeros((1, dimension, 1), np.float32), 0)
    return block


class _Standardised:
    """Observations with mean 0 and variance 1 in each coordinate (0 where it is constant), by rows and by columns."""

    def __init__(self, X: NDArray[np.generic]) -> None:
        data = X.astype(np.float64)
        self.centre, deviation = data.mean(axis=0), data.std(axis=0)
        self.spread = np.where(deviation > 0, deviation, 1.0)
        self.rows = (data - self.centre) / self.spread
        self.columns = np.ascontiguousarray(self.rows.T)

    def undone(self, weights: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """Weights and bias for observations as they are."""
        raw = weights / self.spread
        return raw, bias - (raw * self.centre).sum(axis=1)


def _least_squares(data: _Standardised, codes: Ints, n_codes: int) -> tuple[Floats, Floats]:
    """Slopes [R, D] and offset [R] of the regression on standardised observations."""
    n, dimension = data.rows.shape
    slopes = np.empty((n_codes, dimension))
    _fitting.least_squares(data.rows, codes, RIDGE * n, np.empty((dimension, dimension)), slopes)
    return slopes, np.bincount(codes, minlength=n_codes) / n


def _turned(matrix: Floats) -> Floats:
    """A matrix of as few rows as can be with the same lengths of all images.

    Clusters and nearest centres know predictions by their distances alone, and those of m variables live in m dimensions.
    """
    return np.asarray(np.linalg.qr(matrix, mode="r"))


class _Linear:
    """Least squares, g(x) = slopes z up to a rotation and a shift, z being the standardised observation."""

    def __init__(self, data: _Standardised, codes: Ints, n_codes: int) -> None:
        self.data = data
        self.slopes = _turned(_least_squares(data, codes, n_codes)[0])
        self.points = np.empty((self.slopes.shape[0], codes.size))
        _fitting.embed(self.slopes, np.zeros(self.slopes.shape[0]), data.columns, self.points)

    def scores(self, centres: Floats) -> tuple[Floats, Floats, None]:
        # |A z - c|^2 is smallest where c' A z - |c|^2 / 2 is largest
        return *self.data.undone(centres @ self.slopes, -np.square(centres).sum(axis=1) / 2), None


class _Network:
    """g(x) = output' (logistic(hidden (z, 1)), 1), with as many logistic units as clusters, z being the standardised observation.

    Training starts where the network is the linear fit as nearly as its units allow: each has the direction of one of the leading
    principal axes of the linear predictions, on which logistic(u) is about 1/2 + u/4.
    """

    def __init__(self, data: _Standardised, codes: Ints, n_codes: int, n_units: int) -> None:
        n, dimension = data.rows.shape
        self.data = data
        slopes, offset = _least_squares(data, codes, n_codes)
        predictions = np.empty((n_codes, n))
        _fitting.embed(slopes, offset, data.columns, predictions)
        variances, axes = np.linalg.eigh(np.cov(predictions, bias=True))
        kept = min(n_units, n_codes)
        lengths, axes = np.sqrt(np.maximum(variances[::-1][:kept], 0.0)), axes.T[::-1][:kept]
        inverses = np.divide(1.0, lengths, out=np.zeros(kept), where=lengths > 1e-6)
        self.hidden, output = np.zeros((n_units, dimension + 1)), np.zeros((n_units + 1, n_codes))
        self.hidden[:kept, :-1] = inverses[:, None] * (axes @ slopes)
        output[:kept] = 4 * lengths[:, None] * axes
        output[-1] = offset - output[:-1].sum(axis=0) / 2
        self._train(codes, output)

    def _train(self, codes: Ints, start: Floats) -> None:
        n, (n_units, n_codes) = codes.size, (self.hidden.shape[0], start.shape[1])
        columns = np.concatenate([self.data.columns, np.ones((1, n))])
        rows, narrow, hidden, output = (table.astype(np.float32, order="C") for table in (columns.T, columns, self.hidden, start))
        slopes, moments = (np.empty_like(hidden), np.empty_like(output)), (_zeros(2, *hidden.shape), _zeros(2, *output.shape))
        layers = _zeros(n_units + 1, n), _zeros(n_codes, n), _zeros(n_units, n)
        _fitting.train_network(rows, narrow, codes, ADAM_RATE, ADAM_ITERATIONS, hidden, output, *slopes, *moments, *layers)
        self.hidden, self.output = hidden.astype(np.float64), _turned(output[:-1].T.astype(np.float64))
        units, self.points = np.empty((n_units, n)), np.empty((self.output.shape[0], n))
        _fitting.embed(self.hidden, np.zeros(n_units), columns, units)
        _fitting.embed(self.output, np.zeros(self.output.shape[0]), 1 / (1 + np.exp(-units)), self.points)

    def scores(self, centres: Floats) -> tuple[Floats, Floats, Floats]:
        mixing = np.column_stack([centres @ self.output, -np.square(centres).sum(axis=1) / 2])
        return *self.data.undone(self.hidden[:, :-1], self.hidden[:, -1]), mixing


def _zeros(*shape: int) -> NDArray[np.float32]:
    return np.zeros(shape, np.float32)


def cluster(stream: NDArray[np.uint64], predictions: Floats, n_clusters: int) -> Floats:
    """Centres [K, R] of predictions [R, n]: from n_clusters, K falls to the number of clusters with at least 30 samples until all have."""
    points = predictions.astype(np.float32)  # twice as fast, and far finer than the noise of a regression
    rows = np.ascontiguousarray(points.T)
    n_axes, n = points.shape
    size = n_clusters
    while size > 1:
        (centres, trial), sizes = np.empty((2, size, n_axes), np.float32), np.empty(size, np.int64)
        labels, last_labels = np.empty((2, n), np.int32)
        scratch = trial, np.empty(size, np.bool_), labels, last_labels, np.empty(n, np.float32), np.empty((size, n), np.float32)
        _fitting.kmeans(stream, points, rows, STARTS, MOVES, *scratch, centres, sizes)
        large = int((sizes >= LEAST_SAMPLES).sum())
        if large == size:
            return centres.astype(np.float64)
        size = large
    return np.asarray(predictions.mean(axis=1)[None])


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
        stream, data = self.streams.row("oracle"), _Standardised(X)
        fit = _Linear(data, codes, n_codes) if self.agent.model == "linear" else _Network(data, codes, n_codes, self.n_labels)
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

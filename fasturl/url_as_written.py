"""URL as written: Algorithms 1, 2 and 3 of Feng et al. (2020), to the letter.

Algorithm 1 restarts the learner N times; each restart runs K episodes. For each episode the trajectory sampling routine
(Algorithm 2) refines decoders of its own for every level over J iterations: add the policy on the current decoders to the
set Pi, train the oracle on trajectories of Unif(Pi), rename labels by the standard set (FixLabel, Algorithm 3), extend the standard
set from fresh test trajectories. The learner is fed one trajectory of the refined decoders. Its final policy gets decoders in
the same way. At last each of the N policies plays L episodes, and the best is kept. With |S| labels a level,

    N = ceil(log(2 / delta) / 2),   L = ceil(9 H^2 / (2 epsilon^2) log(2 N / delta)),   J = (H + 1) |S| + 1,

and the number of trajectories is N [sum over k = 1..K+1, i = 1..J of ((k-1) J + i + 1) B, plus K + 1] + N L.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import evaluation
from ._kernels import labels as _labels
from ._kernels import rng as _rng
from .agents import Outcome, Phases, Tick
from .decoders import Decoder, Labels, LevelDecoder
from .emissions import Block
from .fitting import fit_decoder
from .learners import Floats, Ints, Learner, Task, check_policy, draw_policy, rollout, start
from .models import BlockMDP, emission_lanes, policy_table
from .oracles import OneCluster
from .streams import Streams

Observations = NDArray[np.generic]

_CHUNK = 4096
"""Trajectories that are drawn together."""


@dataclass(frozen=True)
class Sizes:
    """The numbers that Algorithms 1 and 2 compute from their input."""

    horizon: int
    n_labels: int
    episodes: int
    batch: int
    epsilon: float
    delta: float
    epsilon_1: float
    delta_1: float

    @property
    def restarts(self) -> int:
        """N"""
        return math.ceil(math.log(2 / self.delta) / 2)

    @property
    def test_episodes(self) -> int:
        """L"""
        return math.ceil(9 * self.horizon**2 / (2 * self.epsilon**2) * math.log(2 * self.restarts / self.delta))

    @property
    def iterations(self) -> int:
        """J"""
        return (self.horizon + 1) * self.n_labels + 1

    @property
    def standard_size(self) -> float:
        """How many observations make a label's standard set."""
        return 3 * self.epsilon_1 * self.batch * math.log(1 / self.delta_1)

    @property
    def trajectories(self) -> int:
        policies = (self.episodes + 1) * self.iterations
        sampled = (policies * (policies + 1) // 2 + policies) * self.batch
        return self.restarts * (sampled + self.episodes + 1 + self.test_episodes)


class ConstantDecoder(Decoder):
    """Label 0 for everything: the decoder before any training."""

    def table(self, block: Block) -> Labels:
        return np.full((block.n_episodes, block.n_levels, block.n_states), self.relabel[0])


@dataclass(frozen=True)
class DecodedPolicy:
    """A policy on labels together with the decoders that give the labels."""

    actions: Floats
    """[H, n_labels, A], zeros and ones."""
    decoder: LevelDecoder


class _Played(NamedTuple):
    """Trajectories whose observations are made only when somebody looks: they are most of the memory."""

    block: Block
    states: Ints
    actions: Ints
    rewards: Floats

    def observations(self) -> Observations:
        """[E, H+1, D]"""
        return self.block.observe(self.states)


@dataclass
class _Standards:
    """The label standard set: for each level, observations that each confirmed label stands for."""

    sets: list[dict[int, Observations]]
    n_labels: int

    def fix(self, level: int, decoder: Decoder) -> Decoder:
        """FixLabel for one level."""
        known = self.sets[level]
        if not known:
            return decoder
        starts = np.cumsum([0, *(len(members) for members in known.values())])
        raw = decoder.decode(np.concatenate(list(known.values())), level).astype(np.uint8)
        counts = np.empty((len(known), self.n_labels), np.int64)
        _labels.count_labels(raw, starts.astype(np.int64), counts)
        outputs = np.arange(self.n_labels, dtype=np.uint8)
        _labels.fix_labels(counts, np.array(list(known), np.int64), outputs)
        return decoder.relabelled(outputs)

    def extend(self, level: int, labels: Ints, seen: Observations, least: float) -> None:
        for label in np.unique(labels):
            members = seen[labels == label]
            if int(label) not in self.sets[level] and len(members) >= least:
                self.sets[level][int(label)] = members


@dataclass
class AsWrittenRun:
    """One run of Algorithm 1."""

    sizes: Sizes
    oracle: Any
    learner: Learner
    model: BlockMDP
    streams: Streams
    tick: Tick
    returns: Floats = field(init=False)
    played: int = 0
    fits: int = 0

    def __post_init__(self) -> None:
        self.returns = np.empty(self.sizes.trajectories)
        self.phases = Phases("oracle", "exploration", "learning", "selection", "evaluation")
        self.oracle_seeds = self.streams.generator("oracle")
        self.lottery = self.streams.generator("policy")  # which policies Unif(Pi) picks

    def outcome(self) -> Outcome:
        """Algorithm 1."""
        candidates = [self._restart() for _ in range(self.sizes.restarts)]
        with self.phases.timed("selection"):
            means = [self._mean_return(candidate, self.sizes.test_episodes) for candidate in candidates]
            best = candidates[int(np.argmax(means))]
        with self.phases.timed("evaluation"):
            value, error = evaluation.decoded_value(self.model, best.decoder, best.actions, self.streams)
            accuracy = evaluation.decoder_accuracy(self.model, best.decoder, self.streams)
        diagnostics = {
            "decoder_accuracy": accuracy,
            "oracle_fits": self.fits,
            "decoder_trajectories": self.played - self.sizes.restarts * (self.sizes.episodes + 1 + self.sizes.test_episodes),
            "restart_means": means,
            "seconds": self.phases.seconds,
        }
        return Outcome(self.returns, value, error, diagnostics)

    def _restart(self) -> DecodedPolicy:
        """The body of Algorithm 1's loop over n: everything starts afresh."""
        sizes, horizon = self.sizes, self.model.horizon
        shape = horizon, sizes.n_labels, self.model.n_actions
        choice = np.empty(4, np.uint64)
        _rng.fill_bits(self.streams.row("policy"), choice)  # luck of its own, also where nothing else draws from the stream
        memory = start(self.learner, Task(*shape, self.model.max_return, sizes.episodes, choice))
        decoder = LevelDecoder([ConstantDecoder(sizes.n_labels)] * (horizon + 1), sizes.n_labels)
        policies: list[DecodedPolicy] = []
        standards = _Standards([{} for _ in range(horizon + 1)], sizes.n_labels)
        for k in range(sizes.episodes + 1):
            learned = k == sizes.episodes
            chosen = draw_policy(policy_table(memory.final_policy(), *shape), choice) if learned else check_policy(memory, *shape)
            actions = np.asarray(np.eye(self.model.n_actions)[chosen])
            decoder = self._refine(actions, decoder, policies, standards)
            with self.phases.timed("learning"):
                (trajectory,) = self._play([DecodedPolicy(actions, decoder)], [1])
                if not learned:
                    seen = trajectory.observations()[0]
                    labels = np.array([decoder.decode(seen[level : level + 1], level)[0] for level in range(horizon + 1)])
                    memory.update(labels, trajectory.actions[0], trajectory.rewards[0])
        return DecodedPolicy(actions, decoder)

    def _refine(self, actions: Floats, decoder: LevelDecoder, policies: list[DecodedPolicy], standards: _Standards) -> LevelDecoder:
        """Algorithm 2 up to its last trajectory: J times, train decoders on Unif(Pi) and fix their labels."""
        sizes = self.sizes
        for _ in range(sizes.iterations):
            current = DecodedPolicy(actions, decoder)
            policies.append(current)
            shares = self.lottery.multinomial(len(policies) * sizes.batch, np.full(len(policies), 1 / len(policies)))
            with self.phases.timed("exploration"):
                training = self._observe(policies, shares)
                testing = self._observe([current], [sizes.batch])
            with self.phases.timed("oracle"):
                fitted = [standards.fix(level, self._fit(training[:, level])) for level in range(training.shape[1])]
                decoder = LevelDecoder(fitted, sizes.n_labels)
                for level in range(testing.shape[1]):
                    fresh = np.ascontiguousarray(testing[:, level])
                    standards.extend(level, decoder.decode(fresh, level), fresh, sizes.standard_size)
        return decoder

    def _fit(self, observations: Observations) -> Decoder:
        self.fits += 1
        seed, n_labels = int(self.oracle_seeds.integers(2**31)), self.sizes.n_labels
        try:
            fitted = fit_decoder(self.oracle, np.ascontiguousarray(observations), seed, n_labels, grows=False)
        except OneCluster:
            return ConstantDecoder(self.sizes.n_labels)
        if fitted.n_labels > self.sizes.n_labels:
            raise ValueError(f"oracle must give at most {self.sizes.n_labels} labels a level, got {fitted.n_labels}")
        return fitted

    def _mean_return(self, policy: DecodedPolicy, count: int) -> float:
        first = self.played
        for _ in self._play([policy], [count]):
            pass  # nobody looks
        return float(self.returns[first : self.played].mean())

    def _observe(self, policies: list[DecodedPolicy], shares: ArrayLike) -> Observations:
        """The observations [E, H+1, D] of shares[i] trajectories of policy i, in order, for every i."""
        return np.concatenate([played.observations() for played in self._play(policies, shares)])

    def _play(self, policies: list[DecodedPolicy], shares: ArrayLike) -> Iterator[_Played]:
        """Play shares[i] trajectories of policy i, in order, for every i, some at a time."""
        bounds = np.cumsum([0, *np.asarray(shares)])
        for first in range(0, int(bounds[-1]), _CHUNK):
            yield self._play_chunk(policies, np.clip(bounds, first, first + _CHUNK) - first)

    def _play_chunk(self, policies: list[DecodedPolicy], bounds: Ints) -> _Played:
        """Play trajectories bounds[i] up to bounds[i+1] with policy i, all in one call.

        A label of policy i becomes label i * n_labels + label of one large policy that holds all of them side by side.
        """
        emission, n_labels = self.model.emission, self.sizes.n_labels
        assert emission is not None
        block = emission.draw(emission_lanes(self.streams), int(bounds[-1]))
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.int32)
        met = [i for i in range(len(policies)) if bounds[i] < bounds[i + 1]]
        for position, i in enumerate(met):
            own = slice(bounds[i], bounds[i + 1])
            labels[own] = policies[i].decoder.table(block.episodes(own.start, own.stop)).astype(np.int32) + position * n_labels
        side_by_side = np.concatenate([policies[i].actions for i in met], axis=1)
        luck, choice = self.streams.row("dynamics"), self.streams.row("policy")
        states, actions, rewards = rollout(self.model.dynamics, labels, side_by_side, 0.0, luck, choice)
        self.returns[self.played : self.played + len(rewards)] = rewards.sum(axis=1)
        self.played += len(rewards)
        self.tick(len(rewards))
        return _Played(block, states, actions, rewards)

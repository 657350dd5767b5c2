"""URL as written: Algorithms 1, 2 and 3 of Feng et al. (2020), to the letter.

Algorithm 1 restarts the learner N times; each restart runs K episodes. For each episode the trajectory
sampling routine (Algorithm 2) refines decoders of its own for every level over J iterations: add the policy
on the current decoders to the set Pi, train the oracle on trajectories of Unif(Pi), rename labels by the
standard set (FixLabel, Algorithm 3), extend the standard set from fresh test trajectories. The learner is fed
one trajectory of the refined decoders. Its final policy gets decoders in the same way. At last each of the N
policies plays L episodes, and the best is kept. With |S| labels a level,

    N = ceil(log(2 / delta) / 2),   L = ceil(9 H^2 / (2 epsilon^2) log(2 N / delta)),   J = (H + 1) |S| + 1,

and the number of trajectories is N [sum over k = 1..K+1, i = 1..J of ((k-1) J + i + 1) B, plus K + 1] + N L.

A restart empties everything: the learner's memory, Pi, the label standard set and the decoders. The text of
Algorithm 1 names the learner's memory alone; the proof takes restarts for independent, and we follow the
proof (`guarantee` has the particulars). epsilon and delta bound the result only where the conditions of the
theorem are met, which ask for far larger K and B than any computer has time for: `required_sizes` computes
them, and a run says in its diagnostics which ones it does not meet.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.origin import in_method
from .._base.schema import setting
from .._kernels import labels as _labels
from .._kernels import rng as _rng
from ..decoders.by_level import LevelDecoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Ints, Learner, check_final_policy, check_policy, start
from ..learners.playing import draw_policy
from ..problems.description import Description
from .agent import Outcome
from .decoding import DecodingAgent
from .evaluation import DecodedPolicy
from .game import Game, Trajectories
from .guarantee import Sizes, unknown_conditions, unmet_conditions
from .history import observation_bytes
from .ledger import Ledger, Phases

Observations = NDArray[np.generic]

_CHUNK = 4096
"""Trajectories that are played together."""
_MOST_TRAJECTORIES = 10**9
"""Upper limit on the trajectories of a run: beyond it lie days, and sizes that nobody meant."""


@dataclass(frozen=True)
class URLAsWritten(DecodingAgent):
    """URL as Algorithms 1, 2 and 3 have it; `episodes` is K, the learner's number of episodes.

    Rewards must be in [0, 1], as in the paper. That the result is epsilon-optimal with probability 1 - delta
    is proved only for the sizes that `required_sizes` computes. The defaults are meant to be run, and do not
    meet its conditions, not even at H = 1: the diagnostics of a run have under `guarantee` the conditions
    that are `unmet`, and those that are `unknown` since they depend on the learner and the oracle.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=1)
    >>> agent = fu.URLAsWritten(batch=10, epsilon=0.9, delta=0.9)
    >>> fu.train(env, agent, episodes=3).total_trajectories
    4349
    """

    batch: int = setting(
        50,
        least=1,
        unit="trajectories",
        help="B: test trajectories of an iteration, and training ones for each policy.",
    )
    epsilon: float = setting(0.1, above=0, below=1, help="How far from optimal the result may be.")
    delta: float = setting(0.1, above=0, below=1, help="Probability that it is farther.")
    epsilon_1: float = setting(
        0.01, above=0, below=1, help="epsilon of Algorithm 2: the error of the decoders."
    )
    delta_1: float = setting(
        0.01, above=0, below=1, help="delta_1 of Algorithm 2: the probability that the decoders fail."
    )

    def check(self, description: Description) -> None:
        super().check(description)
        self.check_first_fit(description, "batch", self.batch, 1)
        low, high = description.reward_range
        if low < 0 or high > 1:
            raise ValueError(
                "env must have rewards in [0, 1]: URL as written takes its numbers of trajectories from a "
                f"theorem on those, got a reward_range of {low:g} to {high:g}"
            )

    def trajectories(self, description: Description, episodes: int) -> int:
        sizes = self.sizes(description, episodes)
        try:
            total = sizes.trajectories
        except (OverflowError, ZeroDivisionError):
            raise ValueError(
                f"URL as written would play more trajectories than can be counted with "
                f"epsilon={sizes.epsilon}, delta={sizes.delta}: "
                "choose larger ones"
            ) from None
        if total > _MOST_TRAJECTORIES:
            raise ValueError(
                f"URL as written would play {total:,} trajectories (N = {sizes.restarts}, L = "
                f"{sizes.test_episodes:,}, "
                f"J = {sizes.iterations}, K = {episodes:,}, B = {sizes.batch}): at most "
                f"{_MOST_TRAJECTORIES:,} are allowed, "
                "so choose fewer episodes, a smaller batch or a larger epsilon"
            )
        return total

    def history_bytes(self, description: Description, trajectories: int) -> float:
        counts = range(1, trajectories)
        n_fewer = bisect_left(
            counts, trajectories, key=lambda episodes: self.sizes(description, episodes).trajectories
        )
        sizes = self.sizes(description, 1 + n_fewer)  # whose trajectories these are
        n_policies = (sizes.episodes + 1) * sizes.iterations
        assert description.observations is not None
        levels, weights = description.horizon + 1, sizes.n_labels * description.observations.dimension
        # the last observations that decoders are trained on are there twice while they are put together
        training = 2.0 * observation_bytes(description, n_policies * sizes.batch)
        return training + 8.0 * n_policies * levels * weights

    def sizes(self, description: Description, episodes: int) -> Sizes:
        """The input of Algorithms 1 and 2, from which N, L and J follow."""
        return Sizes(
            description.horizon,
            self.n_labels(description),
            episodes,
            self.batch,
            self.epsilon,
            self.delta,
            self.epsilon_1,
            self.delta_1,
        )

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        return _Run(
            self.sizes(known, ledger.episodes), self.oracle_for(known), self.learner, game, ledger
        ).outcome()


@dataclass(frozen=True)
class _DecoderPolicy:
    """A policy on labels, of zeros and ones [H, n_labels, A], together with the decoders that give the
    labels."""

    actions: Floats
    decoder: LevelDecoder


@dataclass
class _Standards:
    """The label standard set: for each level, observations that each confirmed label stands for."""

    sets: list[dict[int, Observations]]
    n_labels: int

    def fix(self, level: int, decoder: Decoder) -> Decoder:
        """FixLabel for one level."""
        members_by_label = self.sets[level]
        if not members_by_label:
            return decoder
        starts = np.cumsum([0, *(len(members) for members in members_by_label.values())])
        raw = decoder.decode(np.concatenate(list(members_by_label.values())), level + 1).astype(np.uint8)
        counts = np.empty((len(members_by_label), self.n_labels), np.int64)
        _labels.count_labels(raw, starts.astype(np.int64), counts)
        outputs = np.arange(self.n_labels, dtype=np.uint8)
        _labels.fix_labels(counts, np.array(list(members_by_label), np.int64), outputs)
        return decoder.relabelled(outputs)

    def extend(self, level: int, labels: Ints, observations: Observations, least: float) -> None:
        """Confirm the labels [n] of test observations [n, D] that have at least so many of these."""
        for label in np.unique(labels):
            members = observations[labels == label]
            if int(label) not in self.sets[level] and len(members) >= least:
                self.sets[level][int(label)] = members


class _Run:
    """One run of Algorithm 1."""

    def __init__(self, sizes: Sizes, oracle: Any, learner: Learner, game: Game, ledger: Ledger) -> None:
        self.sizes, self.oracle, self.learner, self.game, self.ledger = sizes, oracle, learner, game, ledger
        self.fits = 0
        self.phases = Phases("oracle", "exploration", "learning", "selection")
        self.oracle_seeds = game.generator("oracle")
        self.policy_draws = game.generator("policy")  # for Unif(Pi)

    def outcome(self) -> Outcome:
        """Algorithm 1."""
        candidates = [self._restart() for _ in range(self.sizes.restarts)]
        with self.phases.timed("selection"):
            means = [self._mean_return(candidate, self.sizes.test_episodes) for candidate in candidates]
            best = candidates[int(np.argmax(means))]
        diagnostics = {
            "oracle_fits": self.fits,
            "decoder_trajectories": self.ledger.played
            - self.sizes.restarts * (self.sizes.episodes + 1 + self.sizes.test_episodes),
            "restart_means": means,
            "guarantee": {
                "unmet": unmet_conditions(self.sizes),
                "unknown": unknown_conditions(self.sizes, self.game.description.n_actions),
            },
            "seconds": self.phases.seconds,
        }
        return Outcome(DecodedPolicy(best.decoder, best.actions), diagnostics)

    def _restart(self) -> _DecoderPolicy:
        """The body of Algorithm 1's loop over n: everything starts afresh."""
        sizes, known = self.sizes, self.game.description
        horizon, shape = known.horizon, (known.horizon, sizes.n_labels, known.n_actions)
        policy_rng = np.empty(4, np.uint64)
        # a stream of its own: restarts must differ even where nothing else draws from the run's stream
        _rng.fill_bits(self.game.policy_rng, policy_rng)
        memory = start(self.learner, self.game.task(sizes.n_labels, sizes.episodes, policy_rng))
        decoder = LevelDecoder([ConstantDecoder(sizes.n_labels)] * (horizon + 1), sizes.n_labels)
        policies: list[_DecoderPolicy] = []
        standards = _Standards([{} for _ in range(horizon + 1)], sizes.n_labels)
        for k in range(sizes.episodes + 1):
            has_learned = k == sizes.episodes
            if has_learned:
                policy = draw_policy(check_final_policy(memory, *shape), policy_rng)
            else:
                policy = check_policy(memory, *shape)
            actions = np.asarray(np.eye(known.n_actions)[policy])
            decoder = self._refine(actions, decoder, policies, standards)
            with self.phases.timed("learning"):
                (trajectory,) = self._play([_DecoderPolicy(actions, decoder)], [1])
                if not has_learned:
                    labels = trajectory.labels[0] % sizes.n_labels
                    with in_method("update", memory):
                        memory.update(labels, trajectory.actions[0], trajectory.rewards[0])
        return _DecoderPolicy(actions, decoder)

    def _refine(
        self,
        actions: Floats,
        decoder: LevelDecoder,
        policies: list[_DecoderPolicy],
        standards: _Standards,
    ) -> LevelDecoder:
        """Algorithm 2 up to its last trajectory: J times, train decoders on Unif(Pi) and fix their labels."""
        sizes = self.sizes
        for _ in range(sizes.iterations):
            current = _DecoderPolicy(actions, decoder)
            policies.append(current)
            shares = self.policy_draws.multinomial(
                len(policies) * sizes.batch, np.full(len(policies), 1 / len(policies))
            )
            with self.phases.timed("exploration"):
                training = self._observe(policies, shares)
                testing = self._observe([current], [sizes.batch])
            with self.phases.timed("oracle"):
                decoders = [
                    standards.fix(level, self._fit(training[:, level])) for level in range(training.shape[1])
                ]
                decoder = LevelDecoder(decoders, sizes.n_labels)
                for level in range(testing.shape[1]):
                    fresh = np.ascontiguousarray(testing[:, level])
                    standards.extend(level, decoder.decode(fresh, level + 1), fresh, sizes.standard_size)
        return decoder

    def _fit(self, observations: Observations) -> Decoder:
        from ..oracles.fitting import fit_level_decoder

        self.fits += 1
        seed = int(self.oracle_seeds.integers(2**31))
        rows = np.ascontiguousarray(observations)
        return fit_level_decoder(self.oracle, rows, seed, self.sizes.n_labels)

    def _mean_return(self, policy: _DecoderPolicy, count: int) -> float:
        first = self.ledger.played
        for _ in self._play([policy], [count]):
            pass  # the ledger has their returns, which is all that is needed
        return float(self.ledger.returns[first : self.ledger.played].mean())

    def _observe(self, policies: list[_DecoderPolicy], shares: ArrayLike) -> Observations:
        """The observations [E, H+1, D] of shares[i] trajectories of policy i, in order, for every i."""
        return np.concatenate([played.observations() for played in self._play(policies, shares)])

    def _play(self, policies: list[_DecoderPolicy], shares: ArrayLike) -> Iterator[Trajectories]:
        """Play shares[i] trajectories of policy i, in order, for every i, some at a time."""
        bounds = np.cumsum([0, *np.asarray(shares)])
        for first in range(0, int(bounds[-1]), _CHUNK):
            yield self._play_chunk(policies, np.clip(bounds, first, first + _CHUNK) - first)

    def _play_chunk(self, policies: list[_DecoderPolicy], bounds: Ints) -> Trajectories:
        """Play trajectories bounds[i] up to bounds[i+1] with policy i, all in one call.

        A label of policy i becomes label i * n_labels + label of one large policy that holds all of them side
        by side.
        """
        n_labels = self.sizes.n_labels
        episodes = self.game.begin(int(bounds[-1]))
        chosen = [i for i in range(len(policies)) if bounds[i] < bounds[i + 1]]
        tables = [
            episodes.part(bounds[i], bounds[i + 1]).labels(policies[i].decoder).astype(np.int32)
            + position * n_labels
            for position, i in enumerate(chosen)
        ]
        labels = np.concatenate(tables)
        side_by_side = np.concatenate([policies[i].actions for i in chosen], axis=1)
        trajectories = episodes.play_policy(labels, side_by_side, self.game.policy_rng)
        self.ledger.enter(trajectories.returns)
        return trajectories

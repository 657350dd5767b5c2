"""How good a final policy is: judged by `train`, which may look into the instance, on streams of its own.

The value of a policy on latent states is exact, by dynamic programming. That of a policy on raw observations
is the mean return of fresh episodes, with its standard error.

A policy pi on a decoder's labels is in between. All it needs to know of observations is the chance c that a
state is given a label, and c is estimated from the labels of n fresh observations of every state of every
level. In a Block MDP the observations of different levels are independent once the states are known, so on
latent states pi acts as the policy

    p[h, s, a] = sum over labels x of c[h, s, x] pi[h, x, a],

whose value V follows by dynamic programming. The error of c is the only one that is left, and no luck of
transitions and rewards is added to it. V has one factor p[h] for each level, and the estimates of different
levels are independent: so the estimate of V is unbiased. With d[h, s] the chance that an episode of p is in s
at level h, one observation that is given the label x in place of the usual mixture changes V, to first order,
by 1/n of

    effect[h, s, x] = d[h, s] (sum over a of pi[h, x, a] Q[h, s, a] - V[h, s]).

The states of a level share their noise, levels do not, so the variance of the estimate is 1/n of the sum over
levels of the variance of (sum over s of effect[h, s, label of s]). Where no label is ever wrong that is 0,
and a mistake too rare to be met in n observations would go unmentioned. So the variance has one more term, as
though one observation more had been given the label that matters most: (greatest |effect| / n)^2. By the rule
of three, what was never met costs at most three times its root, with probability 0.95.

Emissions that do not declare independent levels get the mean return of episodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._base import checks
from .._base.streams import Streams
from .._kernels import labels as _labels
from .._kernels import planning as _planning
from ..decoders.checked import check_decoder
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, LabelTable
from ..learners.playing import play_policy, state_labels
from ..problems.block_mdp import BlockMDP, policy_table
from ..problems.environment import emission_rngs
from .label_matching import best_columns

EPISODES = 4000
"""Episodes of an evaluation that are played: they give a standard error of 0.008 on a lock."""
_LEAST_OBSERVATIONS, _MOST_OBSERVATIONS, _OBSERVED_ENTRIES = 1000, 2000, 2**22
"""Where the value is computed from observations of every state, there are as many as make a label table of
so many entries (episodes x levels x states), but no fewer than the first number and no more than the second:
those of a thousand levels would take as long as a good part of a run. Two thousand give a standard error of
0.003 where a tenth of the value of a lock is lost to wrong labels, and of 0.0002 where nothing is."""
_LEAST_EPISODES = 400
"""Lower limit on the episodes of an evaluation, however large its label table gets."""
GLANCE_EPISODES = 400
"""Episodes of an evaluation in the course of a run, where it is the mean return of episodes: there are many
such evaluations, and what they are asked is whether a policy is near-optimal."""
GLANCE_OBSERVATIONS = 100
"""Observations of every state in such an evaluation, where the value is computed from them: the standard
error is 0.013 on a lock where a tenth of the value is lost to wrong labels."""
GLANCE_RETURNS = 20
"""Episodes whose returns such an evaluation tells, as many as the literature on Block MDPs plays."""
_TABLE_ENTRIES = 2**26
"""Upper limit on the entries of the label table of an evaluation, 64 MB, as long as it has the least number
of episodes."""


@dataclass(frozen=True)
class Verdict:
    """The value of a final policy, its standard error (0 where the value is exact), and what else the judge
    found.

    value
        Expected return of the policy.
    error
        Standard error of the value.
    diagnostics
        What else there is to say, by name.

    Examples
    --------
    >>> Verdict(0.45).error
    0.0
    """

    value: float
    error: float = 0.0
    diagnostics: dict[str, Any] | None = None


class Glance(NamedTuple):
    """What an evaluation in the course of a run finds: the value of a policy, and the returns of
    `GLANCE_RETURNS` episodes.

    value
        Expected return of the policy.
    returns
        The returns of the episodes.

    Examples
    --------
    >>> import numpy as np
    >>> Glance(0.5, np.array([0.0, 1.0])).returns.min()
    np.float64(0.0)
    """

    value: float
    returns: Floats


def check_verdict(policy: object, verdict: Any) -> Verdict:
    """What `judge` returned, with plain numbers, or an error that says what is wrong with it."""
    if not (hasattr(verdict, "value") and hasattr(verdict, "error") and hasattr(verdict, "diagnostics")):
        raise ValueError(
            f"judge of {type(policy).__name__} must return a Verdict, got {checks.short_repr(verdict)}"
        )
    of_judge = f"that judge of {type(policy).__name__} returns"
    value, error = checks.real(f"value {of_judge}", verdict.value), verdict.error
    return Verdict(value, checks.real(f"error {of_judge}", error, least=0), verdict.diagnostics)


def check_glance(policy: object, glance: Any) -> Glance:
    """As `check_verdict`, of what `glance` returned."""
    of_glance = f"that glance of {type(policy).__name__} returns"
    if not (hasattr(glance, "value") and hasattr(glance, "returns")):
        raise ValueError(
            f"glance of {type(policy).__name__} must return a Glance, got {checks.short_repr(glance)}"
        )
    returns = checks.real_table(f"returns {of_glance}", glance.returns, (None,))
    return Glance(checks.real(f"value {of_glance}", glance.value), returns)


class FinalPolicy(Protocol):
    """What an agent has learned."""

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        """How good it is on an instance, with streams that were made for this alone."""


class OfferedPolicy(FinalPolicy, Protocol):
    """The policy that an agent would end with, which it offers to its ledger in the course of a run."""

    def glance(self, instance: BlockMDP, streams: Streams) -> Glance:
        """As `judge`, quicker; the streams go on from one evaluation to the next."""


@dataclass(frozen=True)
class LatentPolicy:
    """A policy on latent states: probabilities [H, S, A], S being the number of states or a bound on it.

    chances
        The probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> import fasturl as fu
    >>> from fasturl._base.streams import Streams
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> LatentPolicy(np.array([[[0.5, 0.5]]])).judge(coin, Streams(0).evaluation()).value
    0.375
    """

    chances: Floats

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        return Verdict(instance.policy_value(self._checked(instance)))

    def glance(self, instance: BlockMDP, streams: Streams) -> Glance:
        chances = self._checked(instance)
        labels = state_labels(GLANCE_RETURNS, instance.horizon, chances.shape[1])
        return Glance(instance.policy_value(chances), play_labels(instance, labels, chances, streams))

    def _checked(self, instance: BlockMDP) -> Floats:
        """The probabilities of the states that the instance has."""
        n_states = max(instance.n_states)
        return np.ascontiguousarray(_checked_chances(self.chances, instance, n_states)[:, :n_states])


@dataclass(frozen=True)
class DecodedPolicy:
    """A policy on a decoder's labels: probabilities [H, n_labels, A]. The judge also tells the decoder's
    accuracy by level.

    decoder
        What gives the labels.
    chances
        The probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from fasturl._base.streams import Streams
    >>> from fasturl.decoders import ConstantDecoder
    >>> from fasturl.registry import environment
    >>> lock = environment("lock-bernoulli", horizon=2).instance(seed=0)
    >>> policy = DecodedPolicy(ConstantDecoder(2), np.full((2, 2, 4), 1 / 4))
    >>> round(policy.judge(lock, Streams(0).evaluation()).value, 6)  # 1/2 times 1/2, twice
    0.125
    """

    decoder: Decoder
    chances: Floats

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        decoder, chances = self._checked(instance)
        labels = draw_labels(instance, decoder, streams, _most_episodes(instance))
        shares = label_shares(labels, decoder.n_labels)
        value, error = self._value(instance, labels, shares, chances, streams)
        return Verdict(value, error, {"decoder_accuracy": decoder_accuracy(instance, shares)})

    def glance(self, instance: BlockMDP, streams: Streams) -> Glance:
        decoder, chances = self._checked(instance)
        assert instance.emission is not None
        independent = instance.emission.has_independent_levels
        most = GLANCE_OBSERVATIONS if independent else GLANCE_EPISODES
        labels = draw_labels(instance, decoder, streams, most)
        shares = label_shares(labels, decoder.n_labels)
        value, _ = self._value(instance, labels, shares, chances, streams)
        return Glance(value, play_labels(instance, labels[:GLANCE_RETURNS], chances, streams))

    def _checked(self, instance: BlockMDP) -> tuple[Decoder, Floats]:
        decoder = check_decoder(self.decoder)
        return decoder, _checked_chances(self.chances, instance, decoder.n_labels)

    @staticmethod
    def _value(
        instance: BlockMDP, labels: LabelTable, shares: Floats, chances: Floats, streams: Streams
    ) -> tuple[float, float]:
        """The value and its standard error."""
        assert instance.emission is not None
        if instance.emission.has_independent_levels:
            return value_on_labels(instance, labels, shares, chances)
        return mean_and_error(play_labels(instance, labels, chances, streams))


def _checked_chances(chances: Floats, instance: BlockMDP, n_labels: int) -> Floats:
    """The policy as probabilities for `n_labels` labels or more. With fewer, a kernel that meets another
    label would read whatever lies beyond the table."""
    shape = checks.real_array("policy", chances).shape
    columns = max(shape[1], n_labels) if len(shape) > 1 else n_labels
    return policy_table(chances, instance.horizon, columns, instance.n_actions)


def _most_episodes(instance: BlockMDP) -> int:
    """Upper limit on the episodes of an evaluation, which are played or give observations of every state."""
    emission = instance.emission
    assert emission is not None
    if not emission.has_independent_levels:
        return EPISODES
    observed = _OBSERVED_ENTRIES // (int(emission.n_levels) * int(emission.n_states))
    return min(_MOST_OBSERVATIONS, max(_LEAST_OBSERVATIONS, observed))


def mean_and_error(returns: Floats) -> tuple[float, float]:
    """The mean of independent returns and its standard error."""
    return float(returns.mean()), float(returns.std(ddof=1) / np.sqrt(returns.size))


def draw_labels(instance: BlockMDP, decoder: Decoder, streams: Streams, most: int = EPISODES) -> LabelTable:
    """What a decoder says of fresh observations of every state of every level: uint8 [episodes, H+1, S], for
    `most` episodes or as many as there is room for."""
    emission = instance.emission
    assert emission is not None
    shape = int(emission.n_levels), int(emission.n_states)
    episodes = min(most, max(_LEAST_EPISODES, _TABLE_ENTRIES // math.prod(shape)))
    labels = np.empty((episodes, *shape), np.uint8)
    size = emission.block_episodes
    for part in (labels[first : first + size] for first in range(0, episodes, size)):
        part[:] = decoder.table(instance.draw_block(emission_rngs(streams), len(part)))
    return labels


def label_shares(labels: LabelTable, n_labels: int) -> Floats:
    """How often each state of each level is given each label: [H+1, S, n_labels]."""
    counts = np.empty((*labels.shape[1:], n_labels), np.int64)
    _labels.count_table(labels, counts)
    return np.asarray(counts / labels.shape[0])


def value_on_labels(
    instance: BlockMDP, labels: LabelTable, shares: Floats, chances: Floats
) -> tuple[float, float]:
    """The value of a policy on labels and its standard error, as the head of this file derives them."""
    horizon, n_labels = instance.horizon, shares.shape[2]
    actions = chances[:, :n_labels]
    policy = shares[:horizon] @ actions
    q, values = instance._policy_tables(policy)
    visits = np.empty(policy.shape[:2])
    _planning.occupancy(instance.start, instance.transitions, policy, visits)
    gains = q @ actions.transpose(0, 2, 1) - values[:horizon, :, None]
    effects, squares = visits[:, :, None] * gains, np.empty(horizon)
    _labels.effect_squares(labels, effects, squares)
    episodes = labels.shape[0]
    variance = squares.sum() / (episodes - 1) / episodes + (np.abs(effects).max() / episodes) ** 2
    return float(instance.start @ values[0]), math.sqrt(variance)


def play_labels(instance: BlockMDP, labels: LabelTable, chances: Floats, streams: Streams) -> Floats:
    """The return of an episode of a fixed policy for each row of a label table."""
    dynamics_rng, policy_rng = streams.row("dynamics"), streams.row("policy")
    trajectories = play_policy(instance.dynamics, labels, chances, dynamics_rng, policy_rng)
    return np.asarray(trajectories.rewards.sum(axis=1))


def decoder_accuracy(instance: BlockMDP, shares: Floats) -> list[float]:
    """For each level, the share of observations that get their state's label, all reachable states weighing
    the same.

    Labels are matched to states as well as one permutation for the level allows.
    """
    accuracies = []
    for level, reachable in zip(shares, instance.reachable, strict=True):
        gains = level[reachable]
        if gains.shape[0] > gains.shape[1]:
            gains = gains.T
        matches = gains[np.arange(gains.shape[0]), best_columns(gains)]
        accuracies.append(float(matches.sum() / reachable.sum()))
    return accuracies

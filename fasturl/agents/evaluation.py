"""How good a final policy is: judged by `train`, which may look into the instance, on streams of its own.

The value of a policy on latent states is exact, by dynamic programming. That of a policy on observations is
the mean return of fresh episodes, with its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._base import checks
from .._base.streams import Streams
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Labels
from ..learners.playing import play_policy
from ..problems.block_mdp import BlockMDP, policy_table
from ..problems.environment import emission_rngs

EPISODES = 4000
"""Trajectories of an evaluation: a standard error of 0.008 on a lock."""
_ACCURACY_EPISODES = 200


@dataclass(frozen=True)
class Verdict:
    """The value of a final policy, its standard error (0 where the value is exact), and what else the judge
    found."""

    value: float
    error: float = 0.0
    diagnostics: dict[str, Any] | None = None


def check_verdict(policy: object, verdict: Any) -> Verdict:
    """What `judge` returned, with plain numbers, or an error that says what is wrong with it."""
    if not (hasattr(verdict, "value") and hasattr(verdict, "error") and hasattr(verdict, "diagnostics")):
        raise ValueError(
            f"judge of {type(policy).__name__} must return a Verdict, got {checks.short_repr(verdict)}"
        )
    of_judge = f"that judge of {type(policy).__name__} returns"
    value, error = checks.real(f"value {of_judge}", verdict.value), verdict.error
    return Verdict(value, checks.real(f"error {of_judge}", error, least=0), verdict.diagnostics)


class FinalPolicy(Protocol):
    """What an agent has learned."""

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        """How good it is on an instance, with streams that were made for this alone."""


@dataclass(frozen=True)
class LatentPolicy:
    """A policy on latent states: probabilities [H, S, A], S being the number of states or a bound on it."""

    chances: Floats

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        n_states = max(instance.n_states)
        chances = _checked_chances(self.chances, instance, n_states)
        return Verdict(instance.policy_value(np.ascontiguousarray(chances[:, :n_states])))


@dataclass(frozen=True)
class DecodedPolicy:
    """A policy on a decoder's labels: probabilities [H, n_labels, A]. The judge also tells the decoder's
    accuracy by level."""

    decoder: Decoder
    chances: Floats

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        chances = _checked_chances(self.chances, instance, self.decoder.n_labels)
        value, error = mean_and_error(play_decoded(instance, self.decoder, chances, streams, EPISODES))
        accuracy = decoder_accuracy(instance, self.decoder, streams.again())
        return Verdict(value, error, {"decoder_accuracy": accuracy})


def _checked_chances(chances: Floats, instance: BlockMDP, n_labels: int) -> Floats:
    """The policy as probabilities for `n_labels` labels or more. With fewer, a kernel that meets another
    label would read whatever lies beyond the table."""
    shape = np.shape(chances)
    columns = max(shape[1], n_labels) if len(shape) > 1 else n_labels
    return policy_table(chances, instance.horizon, columns, instance.n_actions)


def mean_and_error(returns: Floats) -> tuple[float, float]:
    """The mean of independent returns and its standard error."""
    return float(returns.mean()), float(returns.std(ddof=1) / np.sqrt(returns.size))


def play_decoded(
    instance: BlockMDP, decoder: Decoder, chances: Floats, streams: Streams, episodes: int
) -> Floats:
    """The return of each episode of a fixed policy."""
    assert instance.emission is not None
    returns = np.empty(episodes)
    for first in range(0, episodes, instance.emission.block_episodes):
        part = returns[first : first + instance.emission.block_episodes]
        labels = decoder.table(instance.emission.draw(emission_rngs(streams), part.size))
        _, _, rewards = play_policy(
            instance.dynamics, labels, chances, streams.row("dynamics"), streams.row("policy")
        )
        part[:] = rewards.sum(axis=1)
    return returns


def decoder_accuracy(instance: BlockMDP, decoder: Decoder, streams: Streams) -> list[float]:
    """For each level, the share of observations that get their state's label, all reachable states weighing
    the same.

    Labels are matched to states as well as one permutation for the level allows.
    """
    assert instance.emission is not None
    labels = decoder.table(instance.emission.draw(emission_rngs(streams), _ACCURACY_EPISODES))
    return [
        _level_accuracy(labels[:, h, reachable], decoder.n_labels)
        for h, reachable in enumerate(instance.reachable)
    ]


def _level_accuracy(labels: Labels, n_labels: int) -> float:
    from scipy.optimize import linear_sum_assignment

    shares = np.stack([np.bincount(column, minlength=n_labels) for column in labels.T]) / labels.shape[0]
    rows, columns = linear_sum_assignment(shares, maximize=True)
    return float(shares[rows, columns].sum() / labels.shape[1])

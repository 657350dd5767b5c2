"""How good a policy on decoded labels is: Monte Carlo on streams of its own, and the decoder's accuracy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._kernels import labels as _labels
from .decoders import Decoder
from .learners import Floats, Labels, play_policy
from .models import BlockMDP, emission_lanes
from .streams import Streams

EPISODES = 4000
"""Trajectories of an evaluation: a standard error of 0.008 on a lock."""
_ACCURACY_EPISODES = 200


def decoded_value(model: BlockMDP, decoder: Decoder, policy: Floats, streams: Streams) -> tuple[float, float]:
    """Mean return of a policy of probabilities [H, n_labels, A] on the decoder's labels, and its standard error."""
    own = streams.evaluation()
    returns = play_decoded(model, decoder, policy, own, EPISODES)
    return float(returns.mean()), float(returns.std(ddof=1) / np.sqrt(returns.size))


def play_decoded(model: BlockMDP, decoder: Decoder, policy: Floats, streams: Streams, episodes: int) -> Floats:
    """The return of each episode of a fixed policy, which acts at random where it sees labels that it has no row for."""
    assert model.emission is not None
    returns = np.empty(episodes)
    for first in range(0, episodes, model.emission.block_episodes):
        part = returns[first : first + model.emission.block_episodes]
        labels = decoder.table(model.emission.draw(emission_lanes(streams), part.size))
        if (more := decoder.n_labels - policy.shape[1]) > 0:  # labels that turned up after all training
            policy = np.pad(policy, ((0, 0), (0, more), (0, 0)), constant_values=1 / policy.shape[2])
        _, _, rewards = play_policy(model.dynamics, labels, policy, streams.row("dynamics"), streams.row("policy"))
        part[:] = rewards.sum(axis=1)
    return returns


def decoder_accuracy(model: BlockMDP, decoder: Decoder, streams: Streams) -> list[float]:
    """For each level, the share of observations that get their state's label, all reachable states weighing the same.

    Labels are matched to states as well as one permutation for the level allows.
    """
    assert model.emission is not None
    own = streams.evaluation()
    labels = decoder.table(model.emission.draw(emission_lanes(own), _ACCURACY_EPISODES))
    return [_level_accuracy(labels[:, h, reachable], decoder.n_labels) for h, reachable in enumerate(model.reachable)]


def _level_accuracy(labels: Labels, n_labels: int) -> float:
    from scipy.optimize import linear_sum_assignment

    shares = np.stack([np.bincount(column, minlength=n_labels) for column in labels.T]) / labels.shape[0]
    rows, columns = linear_sum_assignment(shares, maximize=True)
    return float(shares[rows, columns].sum() / labels.shape[1])


def match_labels(old: NDArray[np.integer], new: NDArray[np.integer], n_labels: int) -> tuple[NDArray[np.uint8], float]:
    """The renaming of `new` that agrees best with `old`, and how well it agrees.

    The agreement is that of the worst label: the least share, over the labels of either labelling, of its observations on which
    both say the same. Rare labels count as much as frequent ones.
    """
    from scipy.optimize import linear_sum_assignment

    counts = np.empty((n_labels, n_labels), np.int64)
    _labels.count_pairs(old.astype(np.uint8), new.astype(np.uint8), counts)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    renaming = np.empty(n_labels, np.uint8)
    renaming[columns] = rows
    together = counts[rows, columns]
    sizes = np.maximum(counts.sum(axis=1)[rows], counts.sum(axis=0)[columns])
    met = sizes > 0
    return renaming, float((together[met] / sizes[met]).min())

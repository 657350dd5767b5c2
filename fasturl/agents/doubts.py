"""What a run of URL has reason to doubt, told from its own trajectories.

Nobody tells a learner whether its labels are states. Five things can be seen without the truth:

- One label for all: where a level may have several states, either one was all that was seen of it, or nothing
  was told apart.
- Labels that split: the observations of one label look like two clusters.
- Labels that move: where the last fit gave any observation another label than the one before, the oracle is
  fitted again, on a random half of the observations (a bootstrap without replacement, since observations that
  occur twice look like a cluster), and labels the other half otherwise.
- Labels that depend on the past: what follows a state and an action, the next state and the reward, does not
  depend on what came before. Of a label that stands for two states it does.
- Broken promises: where labels are states, a policy that is best for one half of the trajectories can be
  evaluated on the other half. If the last trajectories of the run earn far less, something is wrong, or the
  learner is still exploring.

Each is a figure in the diagnostics, and a warning where it says that something is amiss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._kernels import hindsight as _hindsight
from ..learners.learner import Floats, Ints
from ..problems.description import Description
from .history import History
from .label_matching import have_moved, moved_labels
from .level_decoding import LabelledSample, LevelDecoding

_REFITS = 2
"""How often an oracle is fitted again, each time on its own sample."""
_ERROR_RATE = 1e-6
"""Bound on the probability that a label is doubted for no reason."""
_PAST_INFORMATION = 0.1
"""Nats that the past must tell of what follows a label, for the label to be doubted."""
_PAST_TRAJECTORIES = 2**11
"""Trajectories that tell that, where there are more."""
_FREQUENT = 0.05
"""Share of a level's observations that such a label has at least: what is rare may be a few wrong labels of
a frequent state."""
_REWARD_CLASSES = 4
"""Classes that rewards are sorted into, where there are more different ones."""
_LATE = 10
"""The last trajectories of a run are one in so many."""
_STEPS, _PROMISING_TRAJECTORIES = 2**18, 2**13
"""A promise is made from about so many steps, or from so many trajectories where these have more steps."""
_TABLE_ENTRIES = 2**20
"""Entries of the greatest table of what followed: levels are counted together as far as that allows."""
_KEPT = 0.9
"""Share of what was promised that a run has to earn in the end, or of how far that is from its worst
return."""

WARNINGS = {
    "one_label_for_all": "all observations have one label: states may look alike to the oracle, or only one "
    "was reached",
    "labels_that_split": "labels look like several states: states may be missing, or n_states is too small",
    "labels_that_move": "other observations make other labels: states may be hard to tell apart",
    "labels_with_a_past": "what follows a label depends on what came before it: it may hide several states",
    "promise_broken": "the last trajectories earn less than what was seen promises: labels may hide "
    "states, or more trajectories are needed",
}
"""What to say of each diagnostic that is not 0."""


def doubts(
    history: History,
    decoding: LevelDecoding,
    returns: Floats,
    known: Description,
    generator: np.random.Generator,
) -> dict[str, Any]:
    """The diagnostics of a run in an environment of which so much is known, and the warnings that follow from
    them."""
    promised, earned = promised_return(history, known.max_return), late_return(returns)
    n_splitting, n_moving = _doubtful_labels(history, decoding, generator)
    diagnostics: dict[str, Any] = {
        "one_label_for_all": known.max_states > 1 and bool(history.labels.min() == history.labels.max()),
        "labels_that_split": n_splitting,
        "labels_that_move": n_moving,
        "labels_with_a_past": labels_with_a_past(history),
        "promised_return": promised,
        "late_return": earned,
    }
    # a promise of about 0 is little beside what can be lost
    size = max(abs(promised), promised - float(returns.min()))
    broken = earned + 3.0 * _standard_error(returns) < promised - (1.0 - _KEPT) * size
    doubtful = diagnostics | {"promise_broken": broken}
    return diagnostics | {"warnings": [sentence for name, sentence in WARNINGS.items() if doubtful[name]]}


def late_return(returns: Floats) -> float:
    """The mean return of the last trajectories."""
    return float(_late(returns).mean())


def _late(returns: Floats) -> Floats:
    return returns[-max(returns.size // _LATE, 1) :]


def _standard_error(returns: Floats) -> float:
    late = _late(returns)
    return float(late.std() / math.sqrt(late.size))


def _doubtful_labels(
    history: History, decoding: LevelDecoding, generator: np.random.Generator
) -> tuple[int, int]:
    """How many labels look like two clusters, and how many other fits give to other observations than the
    decoder does."""
    from ..oracles.refinement import labels_that_split

    n_splitting = n_moving = 0
    for sample in decoding.samples(history):
        n_splitting += labels_that_split(sample.rows, sample.labels, _ERROR_RATE, generator)
        if sample.have_moved:
            n_moving += _n_moving(sample, history.n_labels, decoding, generator)
    return n_splitting, n_moving


def _n_moving(
    sample: LabelledSample, n_labels: int, decoding: LevelDecoding, generator: np.random.Generator
) -> int:
    """How many of the labels of a sample other fits give to others of its observations."""
    rows, labels, _ = sample
    n_moved, sizes = np.zeros((2, n_labels), np.int64)
    for _ in range(_REFITS):
        is_fitted = generator.random(len(rows)) < 0.5
        if is_fitted.all() or not is_fitted.any():
            continue
        try:
            decoder = decoding.fitted(rows[is_fitted], labels[is_fitted], int(generator.integers(2**31)))
        except ValueError:  # half of the observations may be too few for an oracle
            continue
        other_labels = np.minimum(decoder.decode(rows[~is_fitted]), n_labels - 1)
        n_moved_here, sizes_here = moved_labels(labels[~is_fitted], other_labels, n_labels)
        n_moved += n_moved_here
        sizes += sizes_here
    return int(have_moved(n_moved, sizes).sum())


def labels_with_a_past(history: History) -> int:
    """At how many pairs of a level and a frequent label the past tells what follows.

    The past is the label and the action before, what follows is the next label and the reward. Given a label
    and an action, their mutual information is zero for a state. In a sample it is not, and twice the number
    of observations times it is close to chi-squared, so it has to pass a test too.
    """
    chosen = history.observed[:: -(-history.observed.size // _PAST_TRAJECTORIES)]
    labels, actions = (steps[chosen].astype(np.int64) for steps in (history.labels, history.actions))
    n_labels, n_actions = history.n_labels, history.n_actions
    pairs = labels[:, :-1] * n_actions + actions
    levels = np.arange(actions.shape[1] - 1)
    return _n_with_a_past(
        (levels * n_labels * n_actions + pairs[:, 1:]).ravel(),
        pairs[:, :-1].ravel(),
        followers(labels[:, 1:], history.rewards[chosen])[:, 1:].ravel(),
        (levels.size, n_labels, n_actions),
        len(labels),
    )


def followers(next_labels: Ints, rewards: Floats) -> Ints:
    """A number [n, H] for each pair of the next label and the reward."""
    values = np.unique(rewards)
    if values.size > _REWARD_CLASSES:
        values = np.quantile(rewards, np.arange(1, _REWARD_CLASSES) / _REWARD_CLASSES)
    classes = np.zeros(rewards.shape, np.int64)
    for value in values:  # which are too few for a search
        classes += rewards > value
    return np.asarray(next_labels * (values.size + 1) + classes)


def _n_with_a_past(
    pairs: Ints, past: Ints, followers: Ints, shape: tuple[int, int, int], n_trajectories: int
) -> int:
    """How many frequent labels have a past that tells what follows; pairs [n] are levels, labels and actions,
    of which there are as many as `shape` says."""
    from scipy.special import chdtrc  # which would be a third of what `import fasturl` takes

    n_pasts, n_followers = int(past.max(initial=0)) + 1, int(followers.max(initial=0)) + 1
    codes, counts = _counted((pairs * n_pasts + past) * n_followers + followers)
    pairs_and_pasts, followers = codes // n_followers, codes % n_followers
    pairs = pairs_and_pasts // n_pasts
    # n log n, summed over the cells, rows and columns of the table of pasts and followers that each pair has
    cells, _ = _log_sums(codes, counts, n_pasts * n_followers, shape)
    rows, n_rows = _log_sums(pairs_and_pasts, counts, n_pasts, shape)
    columns, n_columns = _log_sums(pairs * n_followers + followers, counts, n_followers, shape)
    tables, n_tables = _log_sums(pairs, counts, 1, shape)
    likelihood_ratio = 2.0 * (cells - rows - columns + tables)
    freedom = ((n_rows - n_tables) * (n_columns - n_tables)).sum(axis=2)
    sizes = np.bincount(pairs // shape[2], counts, minlength=shape[0] * shape[1]).reshape(shape[:2])
    # less what noise alone would tell
    information = (likelihood_ratio - freedom) / (2.0 * np.maximum(sizes, 1))
    tells = (sizes >= _FREQUENT * n_trajectories) & (information >= _PAST_INFORMATION)
    return int(np.sum(chdtrc(freedom[tells], likelihood_ratio[tells]) < _ERROR_RATE))


def _counted(codes: Ints, times: Ints | None = None) -> tuple[Ints, Ints]:
    """The distinct codes, and how often each occurs; each of those given stands for so many."""
    if codes.max(initial=0) < 4 * codes.size:  # which is faster than to sort them
        totals = np.bincount(codes, times).astype(np.int64)
        distinct = np.flatnonzero(totals)
        return distinct, totals[distinct]
    distinct, place = np.unique(codes, return_inverse=True)
    return distinct, np.bincount(place, times).astype(np.int64)


def _log_sums(codes: Ints, times: Ints, per_pair: int, shape: tuple[int, int, int]) -> tuple[Floats, Ints]:
    """The sum of n log n over the codes of each level and label, where n is how often a code occurs, and how
    many codes each pair of them and an action has; there are `per_pair` codes for each pair."""
    distinct, counts = _counted(codes, times)
    pairs = distinct // per_pair
    sums = np.bincount(pairs // shape[2], counts * np.log(counts), minlength=shape[0] * shape[1])
    numbers = np.bincount(pairs, minlength=shape[0] * shape[1] * shape[2])
    return np.asarray(sums, np.float64).reshape(shape[:2]), numbers.reshape(shape).astype(np.int64)


def promised_return(history: History, most: float) -> float:
    """The value, in one half of the trajectories, of the policy that is best in the other half: the lesser of
    the two that there are, since one half may have been lucky.

    It is no more than `most`, the greatest return that there can be: where a label now and then stands for
    another state, a reward that can be had once seems to be there twice.
    """
    n, n_levels = history.labels.shape
    stride = 2 * -(-n // max(_PROMISING_TRAJECTORIES, _STEPS // n_levels))
    parts = [_Part(history, first, stride) for first in (0, stride // 2)]
    values = [one.value(other.best_actions()) for one, other in (parts, parts[::-1])]
    return float(min(*values, most))


class _Part:
    """The trajectories first, first + stride, first + 2 stride, ..., as if labels were states."""

    def __init__(self, history: History, first: int, stride: int) -> None:
        self._history, self._first, self._stride = history, first, stride
        self._shape = history.n_labels, history.n_actions
        self._first_labels = history.labels[first::stride, 0]
        # what follows an action that was never taken is no better than the worst that was seen
        self._worst = np.zeros(history.actions.shape[1])
        if self._first_labels.size:
            _hindsight.least_returns(history.rewards, first, stride, self._worst)
        self._outcomes: _Outcomes | None = None

    def best_actions(self) -> Ints:
        """The actions of greatest estimated value: [H, K]."""
        best = np.empty((len(self._worst), self._shape[0]), np.int64)
        self._plan_backwards(_hindsight.best_actions, best)
        return best

    def value(self, policy: Ints) -> float:
        """The estimated value of a policy [H, K]."""
        values = self._plan_backwards(_hindsight.policy_values, policy)
        return float(values[self._first_labels].mean()) if self._first_labels.size else 0.0

    def _plan_backwards(self, plan: Callable[..., None], policy: Ints) -> Floats:
        """The values of the first labels [K] under a policy [H, K], which `plan` reads or writes."""
        end, ahead = len(policy), np.zeros(self._shape[0])
        while end > 0:
            outcomes = self._outcomes_before(end)
            levels = slice(outcomes.first_level, end)
            values = np.empty((len(outcomes.gains) + 1, ahead.size))
            values[-1] = ahead
            plan(outcomes.gains, outcomes.followers, self._worst[levels], policy[levels], values)
            end, ahead = outcomes.first_level, values[0]
        return ahead

    def _outcomes_before(self, end: int) -> _Outcomes:
        """What followed at as many levels up to `end` as there is room for."""
        n_labels, n_actions = self._shape
        n_levels = min(max(_TABLE_ENTRIES // (n_labels**2 * n_actions), 1), end)
        if self._outcomes is None or self._outcomes.first_level != end - n_levels:
            gains = np.empty((n_levels, n_labels, n_actions))
            followers = np.empty((*gains.shape, n_labels))
            _hindsight.count_outcomes(
                self._history.labels,
                self._history.actions,
                self._history.rewards,
                self._first,
                self._stride,
                end - n_levels,
                gains,
                followers,
            )
            self._outcomes = _Outcomes(end - n_levels, gains, followers)
        return self._outcomes


class _Outcomes(NamedTuple):
    """What followed each action at each label of some levels (see `hindsight.count_outcomes`)."""

    first_level: int
    gains: Floats
    followers: Floats

"""What a run of URL has reason to doubt, told from its own trajectories.

Nobody tells a learner whether its labels are states. Five signs that they are not can be seen without the
truth:

- One label for all: a level may have several states, and yet all observations have one label. Either the
  agent met one state alone, or the oracle told nothing apart.
- Labels that split: the observations of one label look like two clusters or more. This is not tested where a
  quicker look finds all labels clear (`clear_labels`).
- Labels that move: the oracle is refitted on a random half of the observations, labels the other half, and
  disagrees with the decoder. (The half is drawn without replacement, since observations that occur twice look
  like a cluster.) This is tested where the last fit gave any observation another label than the one before.
- Labels that depend on the past: after a state and an action, the next state and the reward do not depend on
  what came before. After a label that stands for two states they do.
- Broken promises: where labels are states, the policy that is best for one half of the trajectories can be
  evaluated on the other half. If the last trajectories of the run earn far less, something is wrong, or the
  learner is still exploring.

Each sign is a figure in the diagnostics (`diagnostics`), and a warning where it says that something is amiss.
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
"""Number of times that the oracle is refitted to see whether labels move, each time on another random half of
the observations."""
_ERROR_RATE = 1e-6
"""Upper limit on the probability that a test doubts a label although it is a state."""
_LEAST_PAST_INFORMATION = 0.1
"""A label is doubted only if the past tells at least so many nats of what follows it: the mutual information
of the two."""
_MOST_PAST_TRAJECTORIES = 2**11
"""Upper limit on the trajectories from which that information is estimated."""
_LEAST_LABEL_SHARE = 0.05
"""A label is tested for a past only if it has at least this share of its level's observations. A rarer label
may be a few observations of a frequent state that were labelled wrongly."""
_REWARD_CLASSES = 4
"""Rewards are sorted into so many classes of about equal size where they take more values than that."""
_LATE_SHARE = 0.1
"""`late_return` is the mean return of this last share of the trajectories."""
_PROMISE_STEPS = 2**18
"""`promised_return` is estimated from the trajectories of about so many steps, where a run has more."""
_LEAST_PROMISE_TRAJECTORIES = 2**13
"""Lower limit on the trajectories of that estimate, however long they are, where a run has more."""
_MOST_TABLE_ENTRIES = 2**20
"""Upper limit on the entries of a table of outcomes (levels x labels x actions x next labels), unless one
level alone has more. Outcomes are counted for as many levels at a time as fit."""
_LEAST_EARNED_SHARE = 0.9
"""A promise is broken if less than this share of it was earned: if the late return is, beyond chance, more
than the rest below it. The share is of the promised return or, where that is more, of the gap between it and
the worst return."""

WARNINGS = {
    "one_label_for_all": "all observations have one label: states may look alike to the oracle, or only one "
    "was reached",
    "labels_that_split": "labels look like several states: states may be missing, n_states too small, or the "
    "noise of a state clustered or heavy-tailed",
    "labels_that_move": "other observations make other labels: states may be hard to tell apart",
    "labels_with_a_past": "what follows a label depends on what came before it: it may hide several states",
    "promise_broken": "the last trajectories earn less than what was seen promises: labels may hide "
    "states, or more trajectories are needed",
}
"""What to say of each diagnostic that is not 0."""


def diagnose(
    history: History,
    decoding: LevelDecoding,
    returns: Floats,
    known: Description,
    generator: np.random.Generator,
) -> dict[str, Any]:
    """Look for all five signs at the end of a run.

    history
        The trajectories of the run, with their labels.
    decoding
        What made the labels, and can be refitted.
    returns
        The returns of all trajectories, in order.
    known
        What the agent knows of the environment.
    generator
        Draws the halves on which the oracle is refitted.

    Returns the diagnostics by name, with `warnings`, a list of sentences.
    """
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
    broken = earned + 3.0 * _standard_error(returns) < promised - (1.0 - _LEAST_EARNED_SHARE) * size
    doubtful = diagnostics | {"promise_broken": broken}
    return diagnostics | {"warnings": [sentence for name, sentence in WARNINGS.items() if doubtful[name]]}


def late_return(returns: Floats) -> float:
    """The mean return of the last trajectories."""
    return float(_late(returns).mean())


def _late(returns: Floats) -> Floats:
    return returns[-max(int(returns.size * _LATE_SHARE), 1) :]


def _standard_error(returns: Floats) -> float:
    late = _late(returns)
    return float(late.std() / math.sqrt(late.size))


def _doubtful_labels(
    history: History, decoding: LevelDecoding, generator: np.random.Generator
) -> tuple[int, int]:
    """The numbers of labels that look like two clusters or more, and of labels that move when the oracle is
    refitted."""
    from ..oracles.refinement import labels_that_split

    n_splitting = n_moving = 0
    for sample in decoding.samples(history):
        if not sample.are_clear:
            n_splitting += labels_that_split(sample.rows, sample.labels, _ERROR_RATE, generator)
        if sample.have_moved:
            n_moving += _n_moving(sample, history.n_labels, decoding, generator)
    return n_splitting, n_moving


def _n_moving(
    sample: LabelledSample, n_labels: int, decoding: LevelDecoding, generator: np.random.Generator
) -> int:
    """The number of labels of a sample that move when the oracle is refitted on half of its observations."""
    rows, labels = sample.rows, sample.labels
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
    """The number of pairs of level and frequent label where the past tells what follows.

    The past is the label and the action before, what follows is the next label and the reward. Given a label
    and an action, their mutual information is zero for a state. In a sample it is not, and twice the number
    of observations times it is close to chi-squared, so it has to pass a test too.
    """
    chosen = history.observed[:: -(-history.observed.size // _MOST_PAST_TRAJECTORIES)]
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
    first = rewards.flat[0] if rewards.size else 0.0
    values = np.union1d(rewards[rewards != first], first)  # most rewards are the same
    if values.size > _REWARD_CLASSES:
        values = np.quantile(rewards, np.arange(1, _REWARD_CLASSES) / _REWARD_CLASSES)
    classes = np.zeros(rewards.shape, np.uint8)
    for value in values:  # which are too few for a search
        classes += rewards > value
    return np.asarray(next_labels, np.int64) * (values.size + 1) + classes


def _n_with_a_past(
    pairs: Ints, past: Ints, followers: Ints, shape: tuple[int, int, int], n_trajectories: int
) -> int:
    """The number of frequent labels whose past tells what follows.

    pairs
        The level, label and action of each step, as one number below the product of `shape`: int64[n].
    past
        The label and action before each step, as one number: int64[n].
    followers
        The next label and the reward of each step, as one number: int64[n].
    shape
        Numbers of levels, labels and actions.
    n_trajectories
        Number of trajectories that the steps are from: that of observations of each level.
    """
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
    tells = (sizes >= _LEAST_LABEL_SHARE * n_trajectories) & (information >= _LEAST_PAST_INFORMATION)
    return int(np.sum(chdtrc(freedom[tells], likelihood_ratio[tells]) < _ERROR_RATE))


def _counted(codes: Ints, times: Ints | None = None) -> tuple[Ints, Ints]:
    """The distinct codes, and how often each occurs; with `times`, codes[i] counts times[i] times."""
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
    """The estimated value, in one half of the trajectories, of the policy that is best in the other half.

    Each half once gives the policy, and the lesser of the two values counts: one half may have been lucky. It
    is at most `most`, the greatest return that there can be. Where a label now and then stands for another
    state, a reward that can be had once seems to be there twice, and the estimate may be more than that.
    """
    n, n_levels = history.labels.shape
    stride = 2 * -(-n // max(_LEAST_PROMISE_TRAJECTORIES, _PROMISE_STEPS // n_levels))
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
        """The outcomes at the last levels before `end`, as many as a table has room for."""
        n_labels, n_actions = self._shape
        n_levels = min(max(_MOST_TABLE_ENTRIES // (n_labels**2 * n_actions), 1), end)
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

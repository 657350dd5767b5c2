"""OracleQ and QLearning: one trajectory, a run of episodes, a whole training.

The loops are those that Python's learners run in, compiled once for both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._kernels import tabular
from ..._kernels.compiling import inlined
from ...learners.bounds import LEAST_PROBABILITY, MOST_SCALE
from ...learners.episode_loops import loops_of
from ...learners.oracleq import OracleQ
from ...learners.q_table import QTables
from ...learners.qlearning import QLearning
from ..access import field, four_numbers, offset, view
from ..checks import (
    ANY,
    MAX_ACTIONS,
    MAX_LABELS,
    MOST_LEVELS,
    NUMBER,
    OK,
    RANGE,
    all_below,
    all_finite,
    check,
    check_disjoint,
    check_index,
    check_size,
    check_stream,
    check_struct,
    span,
    struct_span,
    times,
    unless,
)
from . import dynamics

_MOST_EPISODES = (1 << 60) - 1
_CONSTANT, _JIN, _SPREAD = range(3)
"""Schedules of OracleQ by their numbers, as Python orders their names."""

_oracleq, _qlearning = (loops_of(cls.functions, trusted=True).lean for cls in (OracleQ, QLearning))
_learn_greedily, _replay = _oracleq.learn, _oracleq.replay
_learn_with_random_actions = _qlearning.learn


# --- one trajectory ---


@inlined
def _check_visits(visits: Any, labels: Any, actions: Any, schedule: int) -> int:
    """Whether the schedules reach as far as one visit more at each place of a trajectory."""
    for h in range(actions.size):
        status = check_index(visits[h, labels[h], actions[h]], schedule - 1)
        if status != OK:
            return status
    return OK


def update_trajectory(
    horizon: Any,
    n_labels: Any,
    n_actions: Any,
    labels: Any,
    labels_length: Any,
    actions: Any,
    actions_length: Any,
    rewards: Any,
    rewards_length: Any,
    rates: Any,
    rates_length: Any,
    bonuses: Any,
    bonuses_length: Any,
    cap: Any,
    q: Any,
    q_length: Any,
    visits: Any,
    visits_length: Any,
) -> Any:
    shape, schedule = (horizon, n_labels, n_actions), rates_length
    entries = times(times(horizon, n_labels), n_actions)
    read = (
        span(labels, horizon + 1),
        span(actions, horizon),
        span(rewards, horizon),
        span(rates, schedule),
        span(bonuses, schedule),
    )
    status = (
        check_size(horizon, MOST_LEVELS)
        or check_size(n_labels, MAX_LABELS)
        or check_size(n_actions, MAX_ACTIONS)
        or check(labels, labels_length, horizon + 1)
        or check(actions, actions_length, horizon)
        or check(rewards, rewards_length, horizon)
        or check(rates, rates_length, 2)
        or check(bonuses, bonuses_length, schedule)
        or check(q, q_length, entries)
        or check(visits, visits_length, entries)
        or check_disjoint((span(q, entries), span(visits, entries)), read)
        or unless(all_below(labels, horizon + 1, n_labels) and all_below(actions, horizon, n_actions), RANGE)
        or unless(all_finite(rewards, horizon) and not math.isnan(cap), NUMBER)
        or _check_visits(
            view(visits, shape), view(labels, (horizon + 1,)), view(actions, (horizon,)), schedule
        )
    )
    if status == OK:
        scratch = four_numbers()
        tables = QTables(
            view(q, shape),
            view(visits, shape),
            view(rates, (schedule,)),
            view(bonuses, (schedule,)),
            cap,
            np.inf,
            view(rates, (0,)),  # no actions are chosen
            view(scratch, (1,)),
        )
        _replay(
            tables,
            view(labels, (1, horizon + 1)),
            view(actions, (1, horizon)),
            view(rewards, (1, horizon)),
            view(scratch, (4,)).view(np.uint64),  # nothing is drawn
            view(scratch, (3,)),
        )
    return status


# --- many episodes ---


@inlined
def _n_entries(t: Any) -> Any:
    """How many action values there are."""
    horizon, _, n_actions = dynamics.sizes(field(t, "dynamics"))
    return times(times(horizon, field(t, "n_labels")), n_actions)


@inlined
def _n_labelled(t: Any) -> Any:
    """How many labels there are."""
    horizon, n_states, _ = dynamics.sizes(field(t, "dynamics"))
    return times(times(field(t, "label_rows"), horizon + 1), n_states)


@inlined
def _check_arrays(t: Any) -> int:
    episodes, entries = field(t, "episodes"), _n_entries(t)
    return (
        check_size(episodes, _MOST_EPISODES)
        or check_size(field(t, "n_labels"), MAX_LABELS)
        or check_size(field(t, "label_rows"), ANY)
        or check(field(t, "labels"), field(t, "labels_length"), _n_labelled(t))
        or check_stream(field(t, "dynamics_rng"), field(t, "dynamics_rng_length"), 1)
        or check_stream(field(t, "policy_rng"), field(t, "policy_rng_length"), 1)
        or check(field(t, "q"), field(t, "q_length"), entries)
        or check(field(t, "visits"), field(t, "visits_length"), entries)
        or check(field(t, "rates"), field(t, "rates_length"), episodes + 1)
        or check(field(t, "bonuses"), field(t, "bonuses_length"), field(t, "rates_length"))
        or check(field(t, "epsilons"), field(t, "epsilons_length"), episodes)
        or check(field(t, "returns"), field(t, "returns_length"), episodes)
    )


@inlined
def _written(t: Any) -> Any:
    """What a training from the first episode writes."""
    episodes, entries, schedule = field(t, "episodes"), _n_entries(t), field(t, "rates_length")
    return (
        span(field(t, "q"), entries),
        span(field(t, "visits"), entries),
        span(field(t, "dynamics_rng"), 4),
        span(field(t, "policy_rng"), 4),
        span(field(t, "returns"), episodes),
        span(field(t, "rates"), schedule),
        span(field(t, "bonuses"), schedule),
        span(field(t, "epsilons"), episodes),
    )


@inlined
def _check_training(t: Any) -> int:
    """Everything about a training but what only `learn` reads."""
    status = check_struct(t) or dynamics.check_dynamics(field(t, "dynamics"))
    if status != OK:
        return status
    d, n_labelled = field(t, "dynamics"), _n_labelled(t)
    return (
        _check_arrays(t)
        or check_disjoint(
            _written(t), (span(field(t, "labels"), n_labelled), struct_span(t), *dynamics.spans(d))
        )
        or dynamics.check_contents(d)
        or unless(all_below(field(t, "labels"), n_labelled, field(t, "n_labels")), RANGE)
    )


@inlined
def _check_fresh(t: Any, learner: Any) -> int:
    return _check_training(t) or check_struct(learner) or check_disjoint(_written(t), (struct_span(learner),))


@inlined
def _tables(t: Any, caps: Any, scratch: Any) -> QTables:
    """The tables of the learner, with the caps of action values and of values; `scratch` holds the number of
    episodes that have been learned from."""
    horizon, _, n_actions = dynamics.sizes(field(t, "dynamics"))
    shape, schedule = (horizon, field(t, "n_labels"), n_actions), field(t, "rates_length")
    episode = view(scratch, (1,))
    episode[0] = 0
    return QTables(
        view(field(t, "q"), shape),
        view(field(t, "visits"), shape),
        view(field(t, "rates"), (schedule,)),
        view(field(t, "bonuses"), (schedule,)),
        caps[0],
        caps[1],
        view(field(t, "epsilons"), (field(t, "episodes"),)),
        episode,
    )


@inlined
def _learn(t: Any, caps: Any, loop: Any) -> None:
    d = field(t, "dynamics")
    horizon, n_states, _ = dynamics.sizes(d)
    episodes, rows = field(t, "episodes"), field(t, "label_rows")
    scratch = four_numbers()
    tables, place = _tables(t, caps, scratch), view(offset(scratch, 1), (3,))
    dynamics_rng, policy_rng = view(field(t, "dynamics_rng"), (4,)), view(field(t, "policy_rng"), (4,))
    first = 0
    while first < episodes:
        count = min(rows, episodes - first)
        labels = view(field(t, "labels"), (count, horizon + 1, n_states))
        returns = view(offset(field(t, "returns"), first), (count,))
        # C is told returns, and no more of what happens
        loop(dynamics.tables(d), labels, tables, dynamics_rng, policy_rng, returns, None, place)
        first += count


def learn(t: Any) -> Any:
    status = _check_training(t)
    if status != OK:
        return status
    room = field(t, "rates_length") - field(t, "episodes")
    status = unless(not math.isnan(field(t, "cap")), NUMBER) or unless(
        all_below(field(t, "visits"), _n_entries(t), room), RANGE
    )
    if status == OK:
        _learn(t, (field(t, "cap"), np.inf), _learn_with_random_actions)
    return status


# --- whole trainings ---


@inlined
def _start_over(t: Any, initial: float) -> None:
    entries = _n_entries(t)
    q, visits = view(field(t, "q"), (entries,)), view(field(t, "visits"), (entries,))
    for i in range(entries):
        q[i] = initial
        visits[i] = 0


@inlined
def _schedules(t: Any) -> Any:
    """The rates and bonuses by number of visits, and the share of random actions."""
    episodes = field(t, "episodes")
    rates, bonuses = view(field(t, "rates"), (episodes + 1,)), view(field(t, "bonuses"), (episodes + 1,))
    return rates, bonuses, view(field(t, "epsilons"), (episodes,))


def train_oracleq(t: Any, learner: Any) -> Any:
    status = _check_fresh(t, learner)
    if status != OK:
        return status
    schedule, rate, confidence = (
        field(learner, "schedule"),
        field(learner, "learning_rate"),
        field(learner, "confidence"),
    )
    failure, greatest = field(learner, "failure_probability"), field(learner, "max_return")
    status = (
        check_index(schedule, 3)
        or unless(0.0 <= confidence <= MOST_SCALE and np.isfinite(greatest), NUMBER)
        or unless(schedule != _CONSTANT or 0.0 < rate <= 1.0, NUMBER)
        or unless(schedule == _CONSTANT or LEAST_PROBABILITY <= failure < 1.0, NUMBER)
    )
    if status != OK:
        return status
    horizon, _, n_actions = dynamics.sizes(field(t, "dynamics"))
    rates, bonuses, epsilons = _schedules(t)
    if schedule == _CONSTANT:
        tabular.constant_schedule(horizon, rate, confidence, rates, bonuses)
    else:
        scale = confidence / float(horizon) ** 2.5 if schedule == _SPREAD else confidence
        n_labels, episodes = field(t, "n_labels"), rates.size - 1
        tabular.jin_schedule(horizon, n_labels, n_actions, episodes, scale, failure, rates, bonuses)
    epsilons[:] = 0.0
    _start_over(t, greatest)
    # action values of Jin et al. have no cap, only what is taken from them at the level before
    _learn(t, (np.inf if schedule == _JIN else greatest, greatest), _learn_greedily)
    return OK


def train_qlearning(t: Any, learner: Any) -> Any:
    status = _check_fresh(t, learner)
    if status != OK:
        return status
    rate, fraction = field(learner, "learning_rate"), field(learner, "exploration_fraction")
    status = unless(0.0 < rate <= 1.0, NUMBER) or unless(0.0 < fraction <= 1.0, NUMBER)
    if status != OK:
        return status
    rates, bonuses, epsilons = _schedules(t)
    tabular.constant_schedule(dynamics.sizes(field(t, "dynamics"))[0], rate, 0.0, rates, bonuses)
    tabular.falling_epsilons(fraction, epsilons)
    _start_over(t, 0.0)
    _learn(t, (np.inf, np.inf), _learn_with_random_actions)
    return OK

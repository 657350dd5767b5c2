"""The latent side: locks, running sums, starts and steps of episodes, backward induction."""

from __future__ import annotations

from typing import Any

from ..._kernels import dynamics, planning
from ..._kernels.compiling import inlined
from ..._kernels.records import FIXED_REWARDS, NO_REWARDS, RANDOM_REWARDS, SIZE_ONE, Dynamics
from ...problems.description import LARGEST_REWARD
from ..access import field, four_numbers, offset, view, view_const
from ..checks import (
    ANY,
    MAX_ACTIONS,
    MAX_LABELS,
    MOST_LEVELS,
    NUMBER,
    OK,
    RANGE,
    SIZE,
    TABLE,
    all_below,
    all_within,
    check,
    check_disjoint,
    check_index,
    check_size,
    check_stream,
    check_struct,
    rises_to_one,
    span,
    struct_span,
    times,
    unless,
)

_LOCK_STATES, _LOCK_ACTIONS = 3, 4
_N_KINDS = NO_REWARDS + 1


# --- the struct ---


@inlined
def sizes(d: Any) -> tuple[int, int, int]:
    return field(d, "horizon"), field(d, "n_states"), field(d, "n_actions")


@inlined
def _check_sizes(horizon: int, n_states: int, n_actions: int) -> int:
    return (
        check_size(horizon, MOST_LEVELS)
        or check_size(n_states, MAX_LABELS)
        or check_size(n_actions, MAX_ACTIONS)
    )


@inlined
def _entries(horizon: int, n_states: int, n_actions: int) -> Any:
    """How many numbers a table [H, S, A, S] has, whose sizes are within their bounds."""
    return times(horizon * n_states * n_states, n_actions)


@inlined
def _check_arrays(d: Any) -> int:
    horizon, n_states, n_actions = sizes(d)
    entries = _entries(horizon, n_states, n_actions)
    return (
        _check_sizes(horizon, n_states, n_actions)
        or check(field(d, "start"), field(d, "start_length"), n_states)
        or check(field(d, "transitions"), field(d, "transitions_length"), entries)
        or check(field(d, "rewards"), field(d, "rewards_length"), entries)
        or check(field(d, "random_rewards"), field(d, "random_rewards_length"), horizon)
    )


@inlined
def check_dynamics(d: Any) -> int:
    """The struct, its sizes, and whether its arrays are as long as they say; not what is in them."""
    return check_struct(d) or _check_arrays(d)


@inlined
def _check_rewards(d: Any) -> int:
    """All mean rewards, which are probabilities at levels where rewards are random, and 0 where there are
    none."""
    horizon, n_states, n_actions = sizes(d)
    if not all_below(field(d, "random_rewards"), horizon, _N_KINDS):
        return RANGE
    kinds = view(field(d, "random_rewards"), (horizon,))
    entries = n_states * n_actions * n_states
    for h in range(horizon):
        least, greatest = -LARGEST_REWARD, LARGEST_REWARD
        if kinds[h] != FIXED_REWARDS:
            least, greatest = 0.0, 1.0 if kinds[h] == RANDOM_REWARDS else 0.0
        if not all_within(offset(field(d, "rewards"), h * entries), entries, least, greatest):
            return NUMBER
    return OK


@inlined
def check_contents(d: Any) -> int:
    """Every row of every table."""
    horizon, n_states, n_actions = sizes(d)
    rows = horizon * n_states * n_actions
    if not rises_to_one(field(d, "start"), n_states):
        return TABLE
    for i in range(rows):
        if not rises_to_one(offset(field(d, "transitions"), i * n_states), n_states):
            return TABLE
    return _check_rewards(d)


@inlined
def spans(d: Any) -> Any:
    """The memory of the struct and of its tables, once they have been checked."""
    horizon, n_states, n_actions = sizes(d)
    entries = horizon * n_states * n_actions * n_states
    return (
        struct_span(d),
        span(field(d, "start"), n_states),
        span(field(d, "transitions"), entries),
        span(field(d, "rewards"), entries),
        span(field(d, "random_rewards"), horizon),
    )


@inlined
def tables(d: Any) -> Dynamics:
    """What the kernels take; random rewards are 0 or 1."""
    horizon, n_states, n_actions = sizes(d)
    shape = (horizon, n_states, n_actions, n_states)
    return Dynamics(
        view_const(field(d, "start"), (n_states,)),
        view_const(field(d, "transitions"), shape),
        view_const(field(d, "rewards"), shape),
        view_const(field(d, "random_rewards"), (horizon,)),
        SIZE_ONE,
    )


# --- locks and chances ---


def draw_lock(rng: Any, rng_length: Any, horizon: Any, switch: Any, out: Any, out_length: Any) -> Any:
    entries = times(horizon, _LOCK_STATES * _LOCK_ACTIONS * _LOCK_STATES)
    status = (
        check_size(horizon, ANY)
        or unless(0.0 <= switch <= 1.0, NUMBER)
        or check_stream(rng, rng_length, 1)
        or check(out, out_length, entries)
        or check_disjoint((span(rng, 4), span(out, entries)), ())
    )
    if status == OK:
        order = view(four_numbers(), (_LOCK_ACTIONS,))
        dynamics.draw_lock(
            view(rng, (4,)), switch, order, view(out, (horizon, _LOCK_STATES, _LOCK_ACTIONS, _LOCK_STATES))
        )
    return status


@inlined
def _are_chances(chances: Any) -> bool:
    """Whether every row has probabilities that add up to 1."""
    for i in range(chances.shape[0]):
        total = 0.0
        for j in range(chances.shape[1]):
            if not 0.0 <= chances[i, j] <= 1.0:
                return False
            total += chances[i, j]
        if not abs(total - 1.0) <= 1e-9:
            return False
    return True


def cumulate(chances: Any, chances_length: Any, n: Any, out: Any, out_length: Any) -> Any:
    status = check_size(n, ANY) or check_size(chances_length, ANY) or unless(chances_length % n == 0, SIZE)
    if status != OK:
        return status
    rows = chances_length // n
    status = (
        check(chances, chances_length, chances_length)
        or check(out, out_length, chances_length)
        or check_disjoint((span(out, chances_length),), (span(chances, chances_length),))
        or unless(_are_chances(view(chances, (rows, n))), NUMBER)
    )
    if status == OK:
        dynamics.cumulate(view(chances, (rows, n)), view(out, (rows, n)))
    return status


# --- episodes ---


def start(
    d: Any, dynamics_rng: Any, dynamics_rng_length: Any, n: Any, states: Any, states_length: Any
) -> Any:
    status = (
        check_dynamics(d)
        or check_size(n, ANY)
        or check_stream(dynamics_rng, dynamics_rng_length, 1)
        or check(states, states_length, n)
        or unless(rises_to_one(field(d, "start"), field(d, "n_states")), TABLE)
        or check_disjoint((span(dynamics_rng, 4), span(states, n)), spans(d))
    )
    if status != OK:
        return status
    known, rng, out = tables(d), view(dynamics_rng, (4,)), view(states, (n,))
    for i in range(n):
        out[i] = dynamics.start_state(known, rng)
    return OK


@inlined
def _check_move(d: Any, h: int, state: int, action: int) -> int:
    """The rows that a step reads: checking whole tables would cost more than the step."""
    _, n_states, n_actions = sizes(d)
    status = check_index(action, n_actions) or check_index(state, n_states)
    if status != OK:
        return status
    row = ((h * n_states + state) * n_actions + action) * n_states
    sums, means = (
        view(offset(field(d, "transitions"), row), (n_states,)),
        view(offset(field(d, "rewards"), row), (n_states,)),
    )
    last = nothing = 0.0
    for i in range(n_states):
        if not last <= sums[i]:
            return TABLE
        last = sums[i]
        nothing += means[i] - means[i]  # not a number where one is not finite
    return unless(last == 1.0, TABLE) or unless(nothing == 0.0, NUMBER)


def step(
    d: Any,
    level: Any,
    dynamics_rng: Any,
    dynamics_rng_length: Any,
    n: Any,
    actions: Any,
    actions_length: Any,
    states: Any,
    states_length: Any,
    rewards: Any,
    rewards_length: Any,
) -> Any:
    h = level - 1
    status = (
        check_dynamics(d)
        or check_size(n, ANY)
        or check_index(h, field(d, "horizon"))
        or check_stream(dynamics_rng, dynamics_rng_length, 1)
        or check(actions, actions_length, n)
        or check(states, states_length, n)
        or check(rewards, rewards_length, n)
        or check_disjoint(
            (span(dynamics_rng, 4), span(states, n), span(rewards, n)), (span(actions, n), *spans(d))
        )
        or unless(all_below(offset(field(d, "random_rewards"), h), 1, _N_KINDS), RANGE)
    )
    if status != OK:
        return status
    chosen, current = view(actions, (n,)), view(states, (n,))
    known, rng, out = tables(d), view(dynamics_rng, (4,)), view(rewards, (n,))
    if n == 1:  # what was checked is still at hand, and the shortest call is the one where that tells
        state, action = current[0], chosen[0]
        status = _check_move(d, h, state, action)
        if status == OK:
            current[0], out[0] = dynamics.step(known, rng, h, state, action)
        return status
    for i in range(n):
        status = _check_move(d, h, current[i], chosen[i])
        if status != OK:
            return status
    for i in range(n):
        current[i], out[i] = dynamics.step(known, rng, h, current[i], chosen[i])
    return OK


# --- planning ---


def optimal_q(
    chances: Any,
    chances_length: Any,
    rewards: Any,
    rewards_length: Any,
    horizon: Any,
    n_states: Any,
    n_actions: Any,
    q: Any,
    q_length: Any,
    values: Any,
    values_length: Any,
) -> Any:
    status = _check_sizes(horizon, n_states, n_actions)
    if status != OK:
        return status
    entries = _entries(horizon, n_states, n_actions)
    n_q, n_values = entries // n_states, (horizon + 1) * n_states
    status = (
        check(chances, chances_length, entries)
        or check(rewards, rewards_length, entries)
        or check(q, q_length, n_q)
        or check(values, values_length, n_values)
        or check_disjoint(
            (span(q, n_q), span(values, n_values)), (span(chances, entries), span(rewards, entries))
        )
        or unless(_are_chances(view(chances, (n_q, n_states))), NUMBER)
        or unless(all_within(rewards, entries, -LARGEST_REWARD, LARGEST_REWARD), NUMBER)
    )
    if status == OK:
        shape = (horizon, n_states, n_actions, n_states)
        filled, best = view(q, (horizon, n_states, n_actions)), view(values, (horizon + 1, n_states))
        planning.optimal_q(view_const(chances, shape), view_const(rewards, shape), filled, best)
    return status

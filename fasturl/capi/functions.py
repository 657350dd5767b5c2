"""The functions of the table: checks, then the kernel. Names, order and types of arguments are those of fasturl.h.

Nothing is written before everything has been checked, and nothing is raised: an exception in a C callback would be lost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._kernels import decoding, dynamics, emission, labels, planning, rng, seeding, tabular
from .._kernels.compiling import inlined
from .access import (
    NULL,
    NUMBER,
    OK,
    OVERLAP,
    RANGE,
    SIZE,
    TABLE,
    address,
    all_below,
    all_finite,
    check,
    check_stream,
    check_struct,
    field,
    four_numbers,
    message,
    offset,
    overlap,
    rises_to_one,
    span,
    times,
    view,
    view_const,
    view_flags,
    view_halves,
)

MAX_LABELS = 256
_LOCK_STATES, _LOCK_ACTIONS = 3, 4
_MAX_ACTIONS = 1 << 31
"""What a draw of one action among many can be made from (see `rng.below`)."""


def strerror(status: Any) -> Any:
    return message(status)


# --- streams -------------------------------------------------------------------------------------------------------


def seed_stream(seed: Any, key: Any, key_length: Any, stream: Any, stream_length: Any) -> Any:
    if key_length < 0 or stream_length < 1:
        return SIZE
    status = check(stream, stream_length, stream_length)
    if status == OK and key_length > 0:
        status = check(key, key_length, key_length)
    if status != OK:
        return status
    if key_length > 0 and overlap(span(stream, stream_length), span(key, key_length)):
        return OVERLAP
    pool = view(four_numbers(), (4,)).view(np.uint64)
    seeding.seed_stream(seed, view(key, (key_length,)), pool, view(stream, (stream_length,)))
    return OK


def fill_bits(stream: Any, stream_length: Any, bits: Any, bits_length: Any) -> Any:
    status = check_stream(stream, stream_length, 1)
    if status == OK:
        status = check(bits, bits_length, 1)
    if status != OK:
        return status
    if overlap(span(stream, 4), span(bits, bits_length)):
        return OVERLAP
    rng.fill_bits(view(stream, (4,)), view(bits, (bits_length,)))
    return OK


# --- dynamics ------------------------------------------------------------------------------------------------------


@inlined
def _check_sizes(d: Any) -> int:
    """The struct, its sizes, and whether its arrays are as long as they say; not what is in them."""
    status = check_struct(d)
    if status != OK:
        return status
    horizon, n_states, n_actions = field(d, "horizon"), field(d, "n_states"), field(d, "n_actions")
    if horizon < 1 or n_states < 1 or n_actions < 1 or n_states > MAX_LABELS or n_actions > _MAX_ACTIONS:
        return SIZE
    entries = times(times(horizon, n_states * n_states), n_actions)
    status = check(field(d, "start"), field(d, "start_length"), n_states)
    if status == OK:
        status = check(field(d, "transitions"), field(d, "transitions_length"), entries)
    if status == OK:
        status = check(field(d, "rewards"), field(d, "rewards_length"), entries)
    if status == OK:
        status = check(field(d, "random_rewards"), field(d, "random_rewards_length"), horizon)
    return status


@inlined
def _check_contents(d: Any) -> int:
    """Every row of every table."""
    n_states = field(d, "n_states")
    rows = field(d, "horizon") * n_states * field(d, "n_actions")
    if not rises_to_one(field(d, "start"), n_states):
        return TABLE
    for i in range(rows):
        if not rises_to_one(offset(field(d, "transitions"), i * n_states), n_states):
            return TABLE
    if not all_finite(field(d, "rewards"), rows * n_states):
        return NUMBER
    if not all_below(field(d, "random_rewards"), field(d, "horizon"), 2):
        return RANGE
    return OK


@inlined
def _touches(d: Any, written: tuple[int, int]) -> bool:
    """Whether memory overlaps the struct or a table of it."""
    n_states, horizon = field(d, "n_states"), field(d, "horizon")
    entries = horizon * n_states * field(d, "n_actions") * n_states
    begin = address(d)
    return (
        overlap(written, (begin, begin + np.int64(field(d, "size"))))
        or overlap(written, span(field(d, "start"), n_states))
        or overlap(written, span(field(d, "transitions"), entries))
        or overlap(written, span(field(d, "rewards"), entries))
        or overlap(written, span(field(d, "random_rewards"), horizon))
    )


def draw_lock(stream: Any, stream_length: Any, horizon: Any, switch: Any, out: Any, out_length: Any) -> Any:
    if horizon < 1:
        return SIZE
    if not 0.0 <= switch <= 1.0:
        return NUMBER
    entries = times(horizon, _LOCK_STATES * _LOCK_ACTIONS * _LOCK_STATES)
    status = check_stream(stream, stream_length, 1)
    if status == OK:
        status = check(out, out_length, entries)
    if status != OK:
        return status
    if overlap(span(stream, 4), span(out, entries)):
        return OVERLAP
    order = view(four_numbers(), (_LOCK_ACTIONS,))
    dynamics.draw_lock(view(stream, (4,)), switch, order, view(out, (horizon, _LOCK_STATES, _LOCK_ACTIONS, _LOCK_STATES)))
    return OK


def cumulate(chances: Any, chances_length: Any, n: Any, out: Any, out_length: Any) -> Any:
    if n < 1 or chances_length < 1 or chances_length % n != 0:
        return SIZE
    status = check(chances, chances_length, chances_length)
    if status == OK:
        status = check(out, out_length, chances_length)
    if status != OK:
        return status
    if overlap(span(chances, chances_length), span(out, chances_length)):
        return OVERLAP
    given = view(chances, (chances_length // n, n))
    for i in range(given.shape[0]):
        total = 0.0
        for j in range(n):
            if not 0.0 <= given[i, j] <= 1.0:
                return NUMBER
            total += given[i, j]
        if not abs(total - 1.0) <= 1e-9:
            return NUMBER
    sums = view(out, (chances_length // n, n))
    for i in range(given.shape[0]):
        total = 0.0
        last = 0
        for j in range(n):
            total += given[i, j]
            sums[i, j] = total
            if given[i, j] > 0.0:
                last = j
        for j in range(last, n):
            sums[i, j] = 1.0
        for j in range(last):
            sums[i, j] = min(sums[i, j], 1.0)
    return OK


def start(d: Any, luck: Any, luck_length: Any, n: Any, states: Any, states_length: Any) -> Any:
    status = _check_sizes(d)
    if status != OK:
        return status
    if n < 1:
        return SIZE
    status = check_stream(luck, luck_length, 1)
    if status == OK:
        status = check(states, states_length, n)
    if status != OK:
        return status
    n_states = field(d, "n_states")
    if not rises_to_one(field(d, "start"), n_states):
        return TABLE
    if overlap(span(luck, 4), span(states, n)) or _touches(d, span(luck, 4)) or _touches(d, span(states, n)):
        return OVERLAP
    shape = (field(d, "horizon"), n_states, field(d, "n_actions"), n_states)
    tables = dynamics.Dynamics(
        view(field(d, "start"), (n_states,)),
        view(field(d, "transitions"), shape),
        view_const(field(d, "rewards"), shape),
        view_flags(field(d, "random_rewards"), (shape[0],)),
    )
    stream, out = view(luck, (4,)), view(states, (n,))
    for i in range(n):
        out[i] = dynamics.start_state(tables, stream)
    return OK


def step(
    d: Any,
    level: Any,
    luck: Any,
    luck_length: Any,
    n: Any,
    actions: Any,
    actions_length: Any,
    states: Any,
    states_length: Any,
    rewards: Any,
    rewards_length: Any,
) -> Any:
    status = _check_sizes(d)
    if status != OK:
        return status
    if n < 1:
        return SIZE
    horizon, n_states, n_actions = field(d, "horizon"), field(d, "n_states"), field(d, "n_actions")
    if level < 0 or level >= horizon:
        return RANGE
    status = check_stream(luck, luck_length, 1)
    if status == OK:
        status = check(actions, actions_length, n)
    if status == OK:
        status = check(states, states_length, n)
    if status == OK:
        status = check(rewards, rewards_length, n)
    if status != OK:
        return status
    drawn, moved, paid = span(luck, 4), span(states, n), span(rewards, n)
    if overlap(drawn, moved) or overlap(drawn, paid) or overlap(moved, paid):
        return OVERLAP
    given = span(actions, n)
    if overlap(drawn, given) or overlap(moved, given) or overlap(paid, given):
        return OVERLAP
    if _touches(d, drawn) or _touches(d, moved) or _touches(d, paid):
        return OVERLAP
    flags = view(field(d, "random_rewards"), (horizon,))
    if flags[level] > 1:
        return RANGE
    chosen, current = view(actions, (n,)), view(states, (n,))
    for i in range(n):  # only the rows that are read: checking whole tables would cost more than the step
        if chosen[i] < 0 or chosen[i] >= n_actions or current[i] < 0 or current[i] >= n_states:
            return RANGE
        row = ((level * n_states + current[i]) * n_actions + chosen[i]) * n_states
        if not rises_to_one(offset(field(d, "transitions"), row), n_states):
            return TABLE
        if not all_finite(offset(field(d, "rewards"), row), n_states):
            return NUMBER
    shape = (horizon, n_states, n_actions, n_states)
    tables = dynamics.Dynamics(
        view(field(d, "start"), (n_states,)),
        view(field(d, "transitions"), shape),
        view_const(field(d, "rewards"), shape),
        view_flags(field(d, "random_rewards"), (horizon,)),
    )
    stream, out = view(luck, (4,)), view(rewards, (n,))
    for i in range(n):
        current[i], out[i] = dynamics.step(tables, stream, level, current[i], chosen[i])
    return OK


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
    if horizon < 1 or n_states < 1 or n_actions < 1 or n_states > MAX_LABELS or n_actions > _MAX_ACTIONS:
        return SIZE
    entries = times(times(horizon, n_states * n_states), n_actions)
    status = check(chances, chances_length, entries)
    if status == OK:
        status = check(rewards, rewards_length, entries)
    if status == OK:
        status = check(q, q_length, entries // n_states)
    if status == OK:
        status = check(values, values_length, (horizon + 1) * n_states)
    if status != OK:
        return status
    filled, best = span(q, entries // n_states), span(values, (horizon + 1) * n_states)
    given, paid = span(chances, entries), span(rewards, entries)
    if overlap(filled, best) or overlap(filled, given) or overlap(filled, paid) or overlap(best, given) or overlap(best, paid):
        return OVERLAP
    if not all_finite(chances, entries) or not all_finite(rewards, entries):
        return NUMBER
    shape = (horizon, n_states, n_actions, n_states)
    planning.optimal_q(
        view_const(chances, shape),
        view_const(rewards, shape),
        view(q, (horizon, n_states, n_actions)),
        view(values, (horizon + 1, n_states)),
    )
    return OK


# --- observations --------------------------------------------------------------------------------------------------


def lock_words(
    lanes: Any, lanes_length: Any, horizon: Any, episodes: Any, scratch: Any, scratch_length: Any, words: Any, words_length: Any
) -> Any:
    if horizon < 1 or episodes < 1 or horizon >= 1 << 31:
        return SIZE
    n_words = (horizon + 3 + 63) // 64
    share = max(1, 64 // horizon)
    draws = (horizon + share) // share if n_words == 1 else (horizon + 1) * n_words
    rows = (draws + 3) // 4
    size = (horizon + 1) * 3 * n_words
    status = check_stream(lanes, lanes_length, 4)
    if status == OK:
        status = check(scratch, scratch_length, 4 * rows)
    if status == OK:
        status = check(words, words_length, times(episodes, size))
    if status != OK:
        return status
    drawn, raw, filled = span(lanes, 16), span(scratch, 4 * rows), span(words, episodes * size)
    if overlap(drawn, raw) or overlap(drawn, filled) or overlap(raw, filled):
        return OVERLAP
    for e in range(episodes):
        emission.fill_words(view(lanes, (4, 4)), view(scratch, (1, rows, 4)))
        emission.lock_words(view(scratch, (1, 4 * rows)), horizon, view(offset(words, e * size), (1, horizon + 1, 3, n_words)))
    return OK


@inlined
def _check_block(b: Any, with_means: bool) -> int:
    """The struct, its sizes, and its arrays."""
    status = check_struct(b)
    if status != OK:
        return status
    episodes, n_levels, n_states = field(b, "episodes"), field(b, "n_levels"), field(b, "n_states")
    dimension, coordinates, head = field(b, "dimension"), field(b, "coordinates"), field(b, "head")
    if episodes < 1 or n_levels < 1 or n_states < 1 or dimension < 1 or coordinates < dimension or n_states > MAX_LABELS:
        return SIZE
    if head < 0 or head > dimension:
        return RANGE
    status = check(field(b, "noise"), field(b, "noise_length"), times(times(episodes, n_levels), coordinates))
    if status == OK and with_means:
        status = check(field(b, "means"), field(b, "means_length"), times(times(n_states, dimension), n_levels))
    return status


@inlined
def _block_touches(b: Any, written: tuple[int, int]) -> bool:
    """Whether memory overlaps the struct or an array of it."""
    n_levels, begin = field(b, "n_levels"), address(b)
    return (
        overlap(written, (begin, begin + np.int64(field(b, "size"))))
        or overlap(written, span(field(b, "noise"), field(b, "episodes") * field(b, "coordinates") * n_levels))
        or overlap(written, span(field(b, "means"), field(b, "n_states") * field(b, "dimension") * n_levels))
    )


def gaussian_noise(lanes: Any, lanes_length: Any, deviation: Any, b: Any, scratch: Any, scratch_length: Any) -> Any:
    status = _check_block(b, False)
    if status != OK:
        return status
    if not (deviation >= 0.0 and np.isfinite(deviation)):
        return NUMBER
    numbers = field(b, "coordinates") * field(b, "n_levels")
    if numbers % 8 != 0:
        return SIZE
    pairs = numbers // 2
    status = check_stream(lanes, lanes_length, 4)
    if status == OK:
        status = check(scratch, scratch_length, pairs)
    if status != OK:
        return status
    episodes, begin = field(b, "episodes"), address(b)
    struct = (begin, begin + np.int64(field(b, "size")))
    drawn, raw, filled = span(lanes, 16), span(scratch, pairs), span(field(b, "noise"), episodes * numbers)
    if overlap(drawn, raw) or overlap(drawn, filled) or overlap(raw, filled):
        return OVERLAP
    if overlap(drawn, struct) or overlap(raw, struct) or overlap(filled, struct):
        return OVERLAP
    bits, halves = view(scratch, (pairs // 4, 4)), view_halves(scratch, (2, pairs))
    emission.fill_normals(view(lanes, (4, 4)), bits, halves, deviation, view(field(b, "noise"), (episodes, 2, pairs)))
    return OK


def observe(b: Any, states: Any, states_length: Any, out: Any, out_length: Any) -> Any:
    status = _check_block(b, True)
    if status != OK:
        return status
    episodes, n_levels, n_states, dimension = field(b, "episodes"), field(b, "n_levels"), field(b, "n_states"), field(b, "dimension")
    visits = episodes * n_levels
    status = check(states, states_length, visits)
    if status == OK:
        status = check(out, out_length, visits * dimension)
    if status != OK:
        return status
    seen = span(out, visits * dimension)
    if overlap(seen, span(states, visits)) or _block_touches(b, seen):
        return OVERLAP
    if not all_below(states, visits, n_states):
        return RANGE
    emission.observe_reals(
        view(field(b, "noise"), (episodes, field(b, "coordinates"), n_levels)),
        view(field(b, "means"), (n_states, dimension, n_levels)),
        view(states, (episodes, n_levels)),
        view(out, (episodes, n_levels, dimension)),
    )
    return OK


# --- decoding ------------------------------------------------------------------------------------------------------


def decode_affine(
    b: Any,
    n_labels: Any,
    weights: Any,
    weights_length: Any,
    bias: Any,
    bias_length: Any,
    relabel: Any,
    relabel_length: Any,
    scratch: Any,
    scratch_length: Any,
    out: Any,
    out_length: Any,
) -> Any:
    status = _check_block(b, True)
    if status != OK:
        return status
    if n_labels < 1 or n_labels > MAX_LABELS:
        return SIZE
    episodes, n_levels, n_states, dimension = field(b, "episodes"), field(b, "n_levels"), field(b, "n_states"), field(b, "dimension")
    needed = times((n_states + 1) * n_labels, n_levels)
    n_out = times(times(episodes, n_levels), n_states)
    status = check(weights, weights_length, n_labels * dimension)
    if status == OK:
        status = check(bias, bias_length, n_labels)
    if status == OK:
        status = check(relabel, relabel_length, n_labels)
    if status == OK:
        status = check(scratch, scratch_length, needed)
    if status == OK:
        status = check(out, out_length, n_out)
    if status != OK:
        return status
    used, filled = span(scratch, needed), span(out, n_out)
    if overlap(used, filled) or _block_touches(b, used) or _block_touches(b, filled):
        return OVERLAP
    a, c, r = span(weights, n_labels * dimension), span(bias, n_labels), span(relabel, n_labels)
    if overlap(used, a) or overlap(used, c) or overlap(used, r) or overlap(filled, a) or overlap(filled, c) or overlap(filled, r):
        return OVERLAP
    coordinates = field(b, "coordinates")
    means = view(field(b, "means"), (n_states, dimension, n_levels))
    tail = view(scratch, (n_labels, n_levels))
    scores = view(offset(scratch, n_labels * n_levels), (1, n_states, n_labels, n_levels))
    matrix, shifts, names = view(weights, (n_labels, dimension)), view(bias, (n_labels,)), view(relabel, (n_labels,))
    for e in range(episodes):
        noise = view(offset(field(b, "noise"), e * coordinates * n_levels), (1, coordinates, n_levels))
        decoding.affine_scores(noise, means, field(b, "head"), matrix, shifts, tail, scores)
        decoding.best_labels(scores, names, view(offset(out, e * n_levels * n_states), (1, n_levels, n_states)))
    return OK


def latent_labels(episodes: Any, horizon: Any, n_states: Any, out: Any, out_length: Any) -> Any:
    if episodes < 1 or horizon < 1 or n_states < 1 or n_states > MAX_LABELS:
        return SIZE
    rows = times(episodes, horizon + 1)
    status = check(out, out_length, times(rows, n_states))
    if status != OK:
        return status
    seen = view(out, (rows, n_states))
    for i in range(rows):
        for s in range(n_states):
            seen[i, s] = s
    return OK


def count_labels(
    given: Any,
    given_length: Any,
    n_sets: Any,
    n_labels: Any,
    starts: Any,
    starts_length: Any,
    counts: Any,
    counts_length: Any,
) -> Any:
    if n_sets < 1 or n_labels < 1 or n_labels > MAX_LABELS or given_length < 1 or n_sets >= 1 << 31:
        return SIZE
    status = check(given, given_length, given_length)
    if status == OK:
        status = check(starts, starts_length, n_sets + 1)
    if status == OK:
        status = check(counts, counts_length, n_sets * n_labels)
    if status != OK:
        return status
    filled = span(counts, n_sets * n_labels)
    if overlap(filled, span(given, given_length)) or overlap(filled, span(starts, n_sets + 1)):
        return OVERLAP
    firsts = view(starts, (n_sets + 1,))
    for i in range(n_sets + 1):
        if firsts[i] < 0 or firsts[i] > given_length or (i > 0 and firsts[i] < firsts[i - 1]):
            return RANGE
    if not all_below(offset(given, firsts[0]), firsts[n_sets] - firsts[0], n_labels):
        return RANGE
    labels.count_labels(view(given, (given_length,)), firsts, view(counts, (n_sets, n_labels)))
    return OK


def fix_labels(
    counts: Any,
    counts_length: Any,
    n_sets: Any,
    n_labels: Any,
    standards: Any,
    standards_length: Any,
    relabel: Any,
    relabel_length: Any,
) -> Any:
    if n_sets < 1 or n_labels < 1 or n_labels > MAX_LABELS or n_sets >= 1 << 31:
        return SIZE
    status = check(counts, counts_length, n_sets * n_labels)
    if status == OK:
        status = check(standards, standards_length, n_sets)
    if status == OK:
        status = check(relabel, relabel_length, n_labels)
    if status != OK:
        return status
    written = span(relabel, n_labels)
    if overlap(written, span(counts, n_sets * n_labels)) or overlap(written, span(standards, n_sets)):
        return OVERLAP
    if not all_below(standards, n_sets, n_labels) or not all_below(relabel, n_labels, n_labels):
        return RANGE
    if not all_below(counts, n_sets * n_labels, 1 << 50):
        return RANGE
    labels.fix_labels(view(counts, (n_sets, n_labels)), view(standards, (n_sets,)), view(relabel, (n_labels,)))
    return OK


# --- learning ------------------------------------------------------------------------------------------------------


def update_trajectory(
    horizon: Any,
    n_labels: Any,
    n_actions: Any,
    seen: Any,
    seen_length: Any,
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
    if horizon < 1 or n_labels < 1 or n_actions < 1 or n_labels > MAX_LABELS or n_actions > _MAX_ACTIONS or horizon >= 1 << 31:
        return SIZE
    entries = times(horizon * n_labels, n_actions)
    status = check(seen, seen_length, horizon + 1)
    if status == OK:
        status = check(actions, actions_length, horizon)
    if status == OK:
        status = check(rewards, rewards_length, horizon)
    if status == OK:
        status = check(rates, rates_length, 2)
    if status == OK:
        status = check(bonuses, bonuses_length, rates_length)
    if status == OK:
        status = check(q, q_length, entries)
    if status == OK:
        status = check(visits, visits_length, entries)
    if status != OK:
        return status
    values, counts = span(q, entries), span(visits, entries)
    if overlap(values, counts):
        return OVERLAP
    a, b, c = span(seen, horizon + 1), span(actions, horizon), span(rewards, horizon)
    if overlap(values, a) or overlap(values, b) or overlap(values, c) or overlap(counts, a) or overlap(counts, b) or overlap(counts, c):
        return OVERLAP
    x, y = span(rates, rates_length), span(bonuses, rates_length)
    if overlap(values, x) or overlap(values, y) or overlap(counts, x) or overlap(counts, y):
        return OVERLAP
    if not all_below(seen, horizon + 1, n_labels) or not all_below(actions, horizon, n_actions):
        return RANGE
    if not all_finite(rewards, horizon) or math.isnan(cap):
        return NUMBER
    names, chosen, met = view(seen, (horizon + 1,)), view(actions, (horizon,)), view(visits, (horizon, n_labels, n_actions))
    for h in range(horizon):
        if met[h, names[h], chosen[h]] < 0 or met[h, names[h], chosen[h]] >= rates_length - 1:
            return RANGE
    tabular.update_trajectory(
        view(q, (horizon, n_labels, n_actions)),
        met,
        names,
        chosen,
        view(rewards, (horizon,)),
        view(rates, (rates_length,)),
        view(bonuses, (rates_length,)),
        cap,
    )
    return OK


@inlined
def _check_training(t: Any, fresh: bool) -> int:
    """Everything about a training; where it is fresh, what it fills itself is not read."""
    status = check_struct(t)
    if status != OK:
        return status
    d = field(t, "dynamics")
    if address(d) == 0:
        return NULL
    status = _check_sizes(d)
    if status != OK:
        return status
    horizon, n_states, n_actions = field(d, "horizon"), field(d, "n_states"), field(d, "n_actions")
    episodes, n_labels, rows = field(t, "episodes"), field(t, "n_labels"), field(t, "label_rows")
    if episodes < 1 or n_labels < 1 or rows < 1 or n_labels > MAX_LABELS or episodes >= 1 << 60:
        return SIZE
    entries = times(times(horizon, n_labels), n_actions)
    n_seen = times(times(rows, horizon + 1), n_states)
    status = check(field(t, "labels"), field(t, "labels_length"), n_seen)
    if status == OK:
        status = check_stream(field(t, "luck"), field(t, "luck_length"), 1)
    if status == OK:
        status = check_stream(field(t, "choice"), field(t, "choice_length"), 1)
    if status == OK:
        status = check(field(t, "q"), field(t, "q_length"), entries)
    if status == OK:
        status = check(field(t, "visits"), field(t, "visits_length"), entries)
    if status == OK:
        status = check(field(t, "rates"), field(t, "rates_length"), episodes + 1)
    if status == OK:
        status = check(field(t, "bonuses"), field(t, "bonuses_length"), field(t, "rates_length"))
    if status == OK:
        status = check(field(t, "epsilons"), field(t, "epsilons_length"), episodes)
    if status == OK:
        status = check(field(t, "returns"), field(t, "returns_length"), episodes)
    if status != OK:
        return status
    schedule = field(t, "rates_length")
    begin = address(t)
    spans = (
        span(field(t, "q"), entries),
        span(field(t, "visits"), entries),
        span(field(t, "luck"), 4),
        span(field(t, "choice"), 4),
        span(field(t, "returns"), episodes),
        span(field(t, "rates"), schedule),
        span(field(t, "bonuses"), schedule),
        span(field(t, "epsilons"), episodes),
        span(field(t, "labels"), n_seen),
        (begin, begin + np.int64(field(t, "size"))),
    )
    for i in range(8):  # the first eight are written, by a fresh training at least
        if _touches(d, spans[i]):
            return OVERLAP
        for j in range(i + 1, 10):
            if overlap(spans[i], spans[j]):
                return OVERLAP
    status = _check_contents(d)
    if status != OK:
        return status
    if not all_below(field(t, "labels"), n_seen, n_labels):
        return RANGE
    if not fresh:
        if math.isnan(field(t, "cap")):
            return NUMBER
        if not all_below(field(t, "visits"), entries, schedule - episodes):
            return RANGE
    return OK


@inlined
def _learn(t: Any, cap: float) -> None:
    d = field(t, "dynamics")
    horizon, n_states, n_actions = field(d, "horizon"), field(d, "n_states"), field(d, "n_actions")
    episodes, n_labels, rows = field(t, "episodes"), field(t, "n_labels"), field(t, "label_rows")
    shape = (horizon, n_states, n_actions, n_states)
    tables = dynamics.Dynamics(
        view(field(d, "start"), (n_states,)),
        view(field(d, "transitions"), shape),
        view_const(field(d, "rewards"), shape),
        view_flags(field(d, "random_rewards"), (horizon,)),
    )
    q, visits = view(field(t, "q"), (horizon, n_labels, n_actions)), view(field(t, "visits"), (horizon, n_labels, n_actions))
    rates, bonuses = view(field(t, "rates"), (field(t, "rates_length"),)), view(field(t, "bonuses"), (field(t, "rates_length"),))
    luck, choice = view(field(t, "luck"), (4,)), view(field(t, "choice"), (4,))
    first = 0
    while first < episodes:
        count = min(rows, episodes - first)
        seen = view(field(t, "labels"), (count, horizon + 1, n_states))
        epsilons = view(offset(field(t, "epsilons"), first), (count,))
        returns = view(offset(field(t, "returns"), first), (count,))
        tabular.learn(tables, seen, q, visits, rates, bonuses, cap, epsilons, luck, choice, returns)
        first += count


@inlined
def _start_over(t: Any, initial: float) -> None:
    d = field(t, "dynamics")
    entries = field(d, "horizon") * field(t, "n_labels") * field(d, "n_actions")
    q, visits = view(field(t, "q"), (entries,)), view(field(t, "visits"), (entries,))
    for i in range(entries):
        q[i] = initial
        visits[i] = 0


def learn(t: Any) -> Any:
    status = _check_training(t, False)
    if status != OK:
        return status
    _learn(t, field(t, "cap"))
    return OK


def train_oracleq(t: Any, learner: Any) -> Any:
    status = _check_training(t, True)
    if status == OK:
        status = check_struct(learner)
    if status != OK:
        return status
    schedule, rate, confidence = field(learner, "schedule"), field(learner, "learning_rate"), field(learner, "confidence")
    failure, greatest = field(learner, "failure_probability"), field(learner, "max_return")
    if schedule < 0 or schedule > 1:
        return RANGE
    if not (confidence >= 0.0 and np.isfinite(confidence) and np.isfinite(greatest)):
        return NUMBER
    if schedule == 0 and not 0.0 < rate <= 1.0:
        return NUMBER
    if schedule == 1 and not 0.0 < failure < 1.0:
        return NUMBER
    episodes = field(t, "episodes")
    d = field(t, "dynamics")
    horizon = field(d, "horizon")
    rates, bonuses = view(field(t, "rates"), (episodes + 1,)), view(field(t, "bonuses"), (episodes + 1,))
    epsilons = view(field(t, "epsilons"), (episodes,))
    rates[0] = bonuses[0] = 0.0
    term = 0.0
    if schedule == 1:
        steps = np.float64(field(t, "n_labels") * field(d, "n_actions") * episodes * horizon)
        term = np.float64(horizon * horizon * horizon) * math.log(steps / failure)
    for i in range(episodes):
        visit = np.float64(i + 1)
        if schedule == 0:
            rates[i + 1] = rate
            bonuses[i + 1] = confidence * math.sqrt(np.float64(horizon) / visit)
        else:
            rates[i + 1] = np.float64(horizon + 1) / (np.float64(horizon) + visit)
            bonuses[i + 1] = confidence * math.sqrt(term / visit)
        epsilons[i] = 0.0
    _start_over(t, greatest)
    _learn(t, greatest)
    return OK


def train_qlearning(t: Any, learner: Any) -> Any:
    status = _check_training(t, True)
    if status == OK:
        status = check_struct(learner)
    if status != OK:
        return status
    rate, fraction = field(learner, "learning_rate"), field(learner, "exploration_fraction")
    if not 0.0 < rate <= 1.0 or not 0.0 < fraction <= 1.0:
        return NUMBER
    episodes = field(t, "episodes")
    rates, bonuses = view(field(t, "rates"), (episodes + 1,)), view(field(t, "bonuses"), (episodes + 1,))
    epsilons = view(field(t, "epsilons"), (episodes,))
    rates[0] = bonuses[0] = 0.0
    for i in range(episodes):
        rates[i + 1] = rate
        bonuses[i + 1] = 0.0
        epsilons[i] = max(0.01, 1.0 - 0.99 * (np.float64(i) / (fraction * np.float64(episodes))))
    _start_over(t, 0.0)
    _learn(t, np.inf)
    return OK

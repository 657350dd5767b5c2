"""Observations of blocks of episodes, and their labels by an affine decoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._kernels import affine_decoding, emission
from ..._kernels.compiling import inlined
from ..._kernels.records import AffineScores, RealObservations
from ...problems.emissions import LARGEST as LARGEST_NOISE
from ..access import address, field, offset, view, view_halves
from ..checks import (
    ANY,
    MANY,
    MAX_LABELS,
    NUMBER,
    OK,
    RANGE,
    SIZE,
    all_below,
    all_finite,
    all_within,
    check,
    check_disjoint,
    check_size,
    check_stream,
    check_struct,
    span,
    struct_span,
    times,
    unless,
)

_LARGEST_BIAS = float(np.finfo(np.float32).max)

# --- bits ---


def lock_words(
    emission_rngs: Any,
    emission_rngs_length: Any,
    horizon: Any,
    episodes: Any,
    scratch: Any,
    scratch_length: Any,
    words: Any,
    words_length: Any,
) -> Any:
    status = check_size(horizon, MANY) or check_size(episodes, ANY)
    if status != OK:
        return status
    n_words = (horizon + 3 + 63) // 64
    share = max(1, 64 // horizon)
    draws = (horizon + share) // share if n_words == 1 else (horizon + 1) * n_words
    rows = (draws + 3) // 4
    size = (horizon + 1) * 3 * n_words
    status = (
        check_stream(emission_rngs, emission_rngs_length, 4)
        or check(scratch, scratch_length, 4 * rows)
        or check(words, words_length, times(episodes, size))
        or check_disjoint(
            (span(emission_rngs, 16), span(scratch, 4 * rows), span(words, episodes * size)), ()
        )
    )
    if status != OK:
        return status
    for e in range(episodes):
        emission.fill_words(view(emission_rngs, (4, 4)), view(scratch, (1, rows, 4)))
        emission.lock_words(
            view(scratch, (1, 4 * rows)), horizon, view(offset(words, e * size), (1, horizon + 1, 3, n_words))
        )
    return OK


# --- reals ---


@inlined
def _n_noise(b: Any) -> Any:
    return times(times(field(b, "episodes"), field(b, "n_levels")), field(b, "coordinates"))


@inlined
def _n_means(b: Any) -> Any:
    return times(times(field(b, "n_states"), field(b, "dimension")), field(b, "n_levels"))


@inlined
def _check_sizes(b: Any) -> int:
    return (
        check_size(field(b, "episodes"), ANY)
        or check_size(field(b, "n_levels"), ANY)
        or check_size(field(b, "n_states"), MAX_LABELS)
        or check_size(field(b, "coordinates"), ANY)
        or check_size(field(b, "dimension"), field(b, "coordinates"))
        or unless(0 <= field(b, "n_informative") <= field(b, "dimension"), RANGE)
    )


@inlined
def _check_noise(b: Any) -> int:
    """The struct, its sizes, and its noise."""
    return (
        check_struct(b) or _check_sizes(b) or check(field(b, "noise"), field(b, "noise_length"), _n_noise(b))
    )


@inlined
def _check_block(b: Any) -> int:
    return _check_noise(b) or check(field(b, "means"), field(b, "means_length"), _n_means(b))


@inlined
def _spans(b: Any) -> Any:
    """The memory of the struct and of its arrays, once they have been checked."""
    return struct_span(b), span(field(b, "noise"), _n_noise(b)), span(field(b, "means"), _n_means(b))


def gaussian_noise(
    emission_rngs: Any, emission_rngs_length: Any, noise: Any, b: Any, scratch: Any, scratch_length: Any
) -> Any:
    status = _check_noise(b)
    if status != OK:
        return status
    numbers = field(b, "coordinates") * field(b, "n_levels")
    pairs = numbers // 2
    status = (
        unless(0.0 <= noise <= LARGEST_NOISE, NUMBER)
        or unless(numbers % 8 == 0, SIZE)
        or check_stream(emission_rngs, emission_rngs_length, 4)
        or check(scratch, scratch_length, pairs)
        or check_disjoint(
            (span(emission_rngs, 16), span(scratch, pairs), span(field(b, "noise"), _n_noise(b))),
            (struct_span(b),),
        )
    )
    if status == OK:
        rngs, room = view(emission_rngs, (4, 4)), view_halves(scratch, (2, pairs)).view(np.float32)
        # several at once draw words of 64 bits into the place of reals, which need not be aligned for them
        episodes, out = field(b, "episodes"), field(b, "noise")
        at_once = 1 if address(out) & 7 else max(episodes, 1)
        for first in range(0, episodes, at_once):
            part = view(offset(out, first * numbers), (at_once, 2, pairs))
            emission.fill_normals(rngs, room, noise, part)
    return status


def observe(b: Any, states: Any, states_length: Any, out: Any, out_length: Any) -> Any:
    status = _check_block(b)
    if status != OK:
        return status
    episodes, n_levels, n_states, dimension = (
        field(b, "episodes"),
        field(b, "n_levels"),
        field(b, "n_states"),
        field(b, "dimension"),
    )
    visits = episodes * n_levels
    status = (
        check(states, states_length, visits)
        or check(out, out_length, visits * dimension)
        or check_disjoint((span(out, visits * dimension),), (span(states, visits), *_spans(b)))
        or unless(all_below(states, visits, n_states), RANGE)
    )
    if status == OK:
        noise = view(field(b, "noise"), (episodes, field(b, "coordinates"), n_levels))
        means = view(field(b, "means"), (n_states, dimension, n_levels))
        emission.observe_reals(
            RealObservations(noise, means, field(b, "n_informative")),
            view(states, (episodes, n_levels)),
            view(out, (episodes, n_levels, dimension)),
        )
    return status


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
    status = _check_block(b) or check_size(n_labels, MAX_LABELS)
    if status != OK:
        return status
    episodes, n_levels, n_states, dimension = (
        field(b, "episodes"),
        field(b, "n_levels"),
        field(b, "n_states"),
        field(b, "dimension"),
    )
    n_weights, n_scratch = n_labels * dimension, times((n_states + 1) * n_labels, n_levels)
    n_out = times(times(episodes, n_levels), n_states)
    status = (
        check(weights, weights_length, n_weights)
        or check(bias, bias_length, n_labels)
        or check(relabel, relabel_length, n_labels)
        or check(scratch, scratch_length, n_scratch)
        or check(out, out_length, n_out)
        or check_disjoint(
            (span(scratch, n_scratch), span(out, n_out)),
            (span(weights, n_weights), span(bias, n_labels), span(relabel, n_labels), *_spans(b)),
        )
        or unless(all_finite(weights, n_weights), NUMBER)
        # a label that is never to be given has minus infinity
        or unless(all_within(bias, n_labels, -np.inf, _LARGEST_BIAS), NUMBER)
        or unless(all_below(relabel, n_labels, n_labels), RANGE)
    )
    if status != OK:
        return status
    coordinates = field(b, "coordinates")
    means = view(field(b, "means"), (n_states, dimension, n_levels))
    tail = view(scratch, (n_labels, 2 * n_levels))  # there is room for n_states + 1 times the levels
    no_curvature = view(bias, (0,))
    scores = AffineScores(view(weights, (n_labels, dimension)), view(bias, (n_labels,)), no_curvature)
    names = view(relabel, (n_labels,))
    for e in range(episodes):
        noise = view(offset(field(b, "noise"), e * coordinates * n_levels), (1, coordinates, n_levels))
        observations = RealObservations(noise, means, field(b, "n_informative"))
        labels = view(offset(out, e * n_levels * n_states), (1, n_levels, n_states))
        affine_decoding.affine_labels(observations, scores, names, tail, labels)
    return OK

"""Labels of agents that see the latent state, and FixLabel."""

from __future__ import annotations

from typing import Any

from ..._kernels import labels
from ..._kernels.compiling import inlined
from ..access import offset, view
from ..checks import (
    ANY,
    MANY,
    MAX_LABELS,
    OK,
    RANGE,
    all_below,
    check,
    check_disjoint,
    check_size,
    span,
    times,
    unless,
)

_MOST_COUNTED = 1 << 50
"""Sums of counts stay exact."""


def latent_labels(episodes: Any, horizon: Any, n_states: Any, out: Any, out_length: Any) -> Any:
    rows = times(episodes, horizon + 1)
    status = (
        check_size(episodes, ANY)
        or check_size(horizon, ANY)
        or check_size(n_states, MAX_LABELS)
        or check(out, out_length, times(rows, n_states))
    )
    if status != OK:
        return status
    states = view(out, (rows, n_states))
    for i in range(rows):
        for s in range(n_states):
            states[i, s] = s
    return OK


@inlined
def _check_sets(n_sets: int, n_labels: int) -> int:
    return check_size(n_sets, MANY) or check_size(n_labels, MAX_LABELS)


@inlined
def _are_parts(starts: Any, length: int) -> bool:
    """Whether `starts` cut an array of a length into pieces."""
    last = 0
    for i in range(starts.size):
        if starts[i] < last or starts[i] > length:
            return False
        last = starts[i]
    return True


def count_labels(
    raw: Any,
    raw_length: Any,
    n_sets: Any,
    n_labels: Any,
    starts: Any,
    starts_length: Any,
    counts: Any,
    counts_length: Any,
) -> Any:
    status = (
        _check_sets(n_sets, n_labels)
        or check_size(raw_length, ANY)
        or check(raw, raw_length, raw_length)
        or check(starts, starts_length, n_sets + 1)
        or check(counts, counts_length, n_sets * n_labels)
        or check_disjoint(
            (span(counts, n_sets * n_labels),), (span(raw, raw_length), span(starts, n_sets + 1))
        )
        or unless(_are_parts(view(starts, (n_sets + 1,)), raw_length), RANGE)
    )
    if status != OK:
        return status
    firsts = view(starts, (n_sets + 1,))
    status = unless(all_below(offset(raw, firsts[0]), firsts[n_sets] - firsts[0], n_labels), RANGE)
    if status == OK:
        labels.count_labels(view(raw, (raw_length,)), firsts, view(counts, (n_sets, n_labels)))
    return status


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
    status = (
        _check_sets(n_sets, n_labels)
        or check(counts, counts_length, n_sets * n_labels)
        or check(standards, standards_length, n_sets)
        or check(relabel, relabel_length, n_labels)
        or check_disjoint(
            (span(relabel, n_labels),), (span(counts, n_sets * n_labels), span(standards, n_sets))
        )
        or unless(all_below(standards, n_sets, n_labels), RANGE)
        or unless(all_below(relabel, n_labels, n_labels), RANGE)
        or unless(all_below(counts, n_sets * n_labels, _MOST_COUNTED), RANGE)
    )
    if status == OK:
        labels.fix_labels(
            view(counts, (n_sets, n_labels)), view(standards, (n_sets,)), view(relabel, (n_labels,))
        )
    return status

"""100,000 calls with random and hostile arguments: each gives a status, and none writes where it may not.

A valid call is taken and up to three of its arguments are spoiled: pointers are null, crooked or those of
another array, lengths too small, numbers absurd, contents random (see `hostile_calls`). What chance would
hardly find, wrong numbers in an array, is tried number by number and for all at once.
"""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from valid_calls import cases

from fasturl.capi import ffi, header, lib

CALLS, EXAMPLES = 100_000, 50


@pytest.fixture(scope="module")
def table():
    made = cases()
    assert [case.name for case in made] == list(header.FUNCTIONS)
    return made


def test_the_calls_are_valid_before_they_are_spoiled(table):
    for case in table:
        if case.name != "strerror":
            case.restore()
            assert case.function(*case.arguments) == lib.FASTURL_OK, case.name


def test_hostile_calls_give_a_status_and_write_nowhere_else(table):
    seen = Counter()

    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, 2**64 - 1))
    def play(seed):
        chance = random.Random(seed)
        for _ in range(CALLS // EXAMPLES):
            case = chance.choice(table)
            status = case.play(chance)
            if case.name != "strerror":
                seen[case.name, status] += 1

    play()
    statuses = Counter()
    for (_, status), count in seen.items():
        statuses[status] += count
    assert set(statuses) == set(header.STATUSES.values()) - {lib.FASTURL_E_LIBRARY}
    for case in table[1:]:
        assert seen[case.name, lib.FASTURL_OK] > 100
        assert (
            sum(
                count
                for (name, status), count in seen.items()
                if name == case.name and status != lib.FASTURL_OK
            )
            > 100
        )


WRONG = [
    ("cumulate", "probabilities", -0.5, "E_NUMBER"),
    ("start", "start", np.nan, "E_TABLE"),
    ("step", "transitions", np.nan, "E_TABLE"),
    ("step", "transitions", 0.999, "E_TABLE"),
    ("step", "rewards", np.inf, "E_NUMBER"),
    ("step", "random_rewards", 3, "E_RANGE"),
    ("step", "actions", 4, "E_RANGE"),
    ("step", "states", 3, "E_RANGE"),
    ("optimal_q", "probabilities", np.nan, "E_NUMBER"),
    ("optimal_q", "probabilities", 1e308, "E_NUMBER"),
    ("optimal_q", "rewards", np.inf, "E_NUMBER"),
    ("optimal_q", "rewards", 1.1e100, "E_NUMBER"),
    ("observe", "states", -1, "E_RANGE"),
    ("decode_affine", "weights", np.nan, "E_NUMBER"),
    ("decode_affine", "weights", np.inf, "E_NUMBER"),
    ("decode_affine", "bias", np.nan, "E_NUMBER"),
    ("decode_affine", "bias", np.inf, "E_NUMBER"),
    ("decode_affine", "relabel", 3, "E_RANGE"),
    ("count_labels", "labels", 3, "E_RANGE"),
    ("count_labels", "starts", 5, "E_RANGE"),
    ("count_labels", "starts", -1, "E_RANGE"),
    ("fix_labels", "counts", -1, "E_RANGE"),
    ("fix_labels", "standards", 3, "E_RANGE"),
    ("fix_labels", "relabel", 3, "E_RANGE"),
    ("update_trajectory", "labels", 3, "E_RANGE"),
    ("update_trajectory", "actions", 4, "E_RANGE"),
    ("update_trajectory", "rewards", np.nan, "E_NUMBER"),
    ("update_trajectory", "visits", 5, "E_RANGE"),
    ("update_trajectory", "visits", -1, "E_RANGE"),
    ("learn", "visits", 1, "E_RANGE"),
    ("learn", "visits", -1, "E_RANGE"),
    ("learner_replay", "labels", 3, "E_RANGE"),
    ("learner_replay", "actions", -1, "E_RANGE"),
    ("learner_replay", "rewards", np.nan, "E_NUMBER"),
    *(
        (function, *wrong)
        for function in ("learn", "train_oracleq", "train_qlearning", "learner_learn")
        for wrong in [
            ("start", 0.999, "E_TABLE"),
            ("transitions", np.nan, "E_TABLE"),
            ("rewards", np.inf, "E_NUMBER"),
            ("rewards", 1.1e100, "E_NUMBER"),
            ("rewards", -0.5, "E_NUMBER"),  # those of the last level are Bernoulli draws
            ("random_rewards", 3, "E_RANGE"),
            ("labels", 3, "E_RANGE"),
        ]
    ),
]


@pytest.mark.parametrize("length", [2**55, 2**61, 2**62, 2**63 - 1])
def test_lengths_beyond_any_memory_are_refused(table, length):
    """Their sizes in bytes would wrap around, and then seem to overlap nothing."""
    for case in table:
        for slot in case.slots:
            if slot.kind != "length" or (case.name, slot.name) == ("gaussian_noise", "means_length"):
                continue  # means are none of the noise's business
            case.restore()
            arguments = list(case.arguments)
            case._set(arguments, slot, length)
            assert case.call(arguments) == lib.FASTURL_E_SIZE, (case.name, slot.name)


def case_of(table, function):
    """The valid call of a function, with its memory as it was."""
    (case,) = (case for case in table if case.name == function)
    case.restore()
    return case


@pytest.mark.parametrize(("function", "array", "value", "status"), WRONG)
def test_wrong_numbers_are_refused_wherever_they_are_read(table, function, array, value, status):
    case = case_of(table, function)
    slot = min(
        (slot for slot in case.slots if (slot.name, slot.kind) == (array, "pointer")),
        key=lambda slot: not slot.constant,
    )
    numbers = ffi.cast(
        slot.place[2] if slot.place else ffi.typeof(case.function).args[slot.position], slot.value
    )
    expected = getattr(lib, f"FASTURL_{status}")
    statuses = set()
    for places in [*([place] for place in range(slot.count)), range(slot.count)]:
        case.restore()
        for place in places:
            numbers[place] = value
        last = case.call(case.arguments)
        statuses.add(last)
    assert last == expected  # where all are wrong
    assert statuses <= {lib.FASTURL_OK, expected}


@pytest.mark.parametrize("value", [np.nan, -np.inf, -0.5, 3e38])
@pytest.mark.parametrize(("function", "name"), [("draw_lock", "switch_"), ("gaussian_noise", "noise")])
def test_a_number_outside_its_interval_is_refused(table, function, name, value):
    assert status_with(case_of(table, function), name, value) == lib.FASTURL_E_NUMBER


@pytest.mark.parametrize("function", ["update_trajectory", "learn"])
def test_a_cap_may_be_infinite_but_must_be_a_number(table, function):
    case = case_of(table, function)
    assert status_with(case, "cap", np.nan) == lib.FASTURL_E_NUMBER
    assert status_with(case, "cap", np.inf) == lib.FASTURL_OK


def status_with(case, name, value):
    arguments = list(case.arguments)
    others = ("pointer", "length", "struct")
    (slot,) = (slot for slot in case.slots if slot.name == name and slot.kind not in others)
    case._set(arguments, slot, float(value))
    return case.call(arguments)

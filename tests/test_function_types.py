"""What is wrong with a function of a compiled learner, told by the type that it returns."""

import numpy as np
import pytest
from numba import njit
from own_oracleq import OwnOracleQ

from fasturl.learners import Task
from fasturl.learners.function_types import what_is_wrong

TABLES = OwnOracleQ().tables(Task(4, 3, 4, 1.0, 50, np.array([1, 2, 3, 4], np.uint64)))

AN_ACTION = "an action, an integer"
AN_ACTION_AND_A_VALUE = "an action and a value, an integer and a float"


@pytest.mark.parametrize(
    ("name", "wanted", "function", "got"),
    [
        ("choose", AN_ACTION, lambda tables, level, label, rng: 0.5, "float64"),
        ("choose", AN_ACTION, lambda tables, level, label, rng: None, "None"),
        ("choose", AN_ACTION, lambda tables, level, label, rng: 0 if level < 2 else None, "int64 or None"),
        (
            "choose",
            AN_ACTION,
            lambda tables, level, label, rng: tables.q[level, label],
            "an array of float64",
        ),
        ("choose", AN_ACTION, lambda tables, level, label, rng: "left", "a text"),
        ("choose", AN_ACTION, lambda tables, level, label, rng: (0, 0.5), "(int64, float64)"),
        ("look", AN_ACTION_AND_A_VALUE, lambda tables, level, label, rng: 0, "int64"),
        ("look", AN_ACTION_AND_A_VALUE, lambda tables, level, label, rng: (0,), "(int64,)"),
        (
            "look",
            AN_ACTION_AND_A_VALUE,
            lambda tables, level, label, rng: (0, 0.5, 1.0),
            "(int64, float64, float64)",
        ),
        ("look", AN_ACTION_AND_A_VALUE, lambda tables, level, label, rng: (0.5, 0), "(float64, int64)"),
        (
            "look",
            AN_ACTION_AND_A_VALUE,
            lambda tables, level, label, rng: (0, tables.q[0, 0]),
            "(int64, an array of float64)",
        ),
        ("look", AN_ACTION_AND_A_VALUE, lambda tables, level, label, rng: None, "None"),
    ],
)
def test_a_wrong_type_is_told_with_what_is_wanted(name, wanted, function, got):
    told = what_is_wrong("Faulty", {name: njit(function)}, TABLES, {})
    assert told == f"{name} of Faulty must return {wanted}, got {got}"


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("choose", lambda tables, level, label, rng: label),
        ("choose", lambda tables, level, label, rng: True),
        ("look", lambda tables, level, label, rng: (label, 0.5)),
        ("look", lambda tables, level, label, rng: (label, 1)),
    ],
)
def test_nothing_is_wrong_with_actions_and_values(name, function):
    assert what_is_wrong("Right", {name: njit(function)}, TABLES, {}) == ""

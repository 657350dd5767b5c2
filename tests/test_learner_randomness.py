"""The functions of a compiled learner draw from the stream that they are handed, and from nothing else."""

import random
import types
from random import randrange

import numpy as np
import pytest
from numba import njit
from numpy import random as numpy_random
from numpy.random import randint
from test_faulty_learners import complaint, learner, task

from fasturl.learners import draws


@njit
def by_numpy(tables, level, label, rng):
    return np.random.randint(0, 4)  # noqa: NPY002  # it is to be refused


@njit
def by_a_module_of_numpy(tables, level, label, rng):
    return numpy_random.randint(0, 4)  # noqa: NPY002  # it is to be refused


@njit
def by_a_function_of_numpy(tables, level, label, rng):
    return randint(0, 4)  # noqa: NPY002  # it is to be refused


@njit
def by_python(tables, level, label, rng):
    return random.randrange(4)


@njit
def by_a_function_of_python(tables, level, label, rng):
    return randrange(4)


@njit
def any_action():
    return np.random.randint(0, 4)  # noqa: NPY002  # it is to be refused


HELPERS = types.ModuleType("helpers")
HELPERS.any_action = any_action


@njit
def by_a_helper(tables, level, label, rng):
    return any_action()


@njit
def by_a_helper_of_a_module(tables, level, label, rng):
    return HELPERS.any_action()


def enclosed():
    helper = any_action

    @njit
    def by_an_enclosed_helper(tables, level, label, rng):
        return helper()

    return by_an_enclosed_helper


@pytest.mark.parametrize(
    ("choose", "source"),
    [
        (by_numpy, "numpy.random"),
        (by_a_module_of_numpy, "numpy.random"),
        (by_a_function_of_numpy, "numpy.random"),
        (by_python, "random"),
        (by_a_function_of_python, "random"),
        (by_a_helper, "numpy.random"),
        (by_a_helper_of_a_module, "numpy.random"),
        (enclosed(), "numpy.random"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_draws_from_anything_else_are_refused(choose, source):
    assert complaint(learner(choose=choose)) == (
        f"choose of Faulty must draw from its rng alone, by fasturl.learners.draws, got draws from {source}"
    )


@njit
def end_by_numpy(tables, rng):
    tables.q[0, 0, 0] = np.random.random()  # noqa: NPY002  # it is to be refused


def test_the_function_that_draws_is_named():
    assert complaint(learner(end_episode=end_by_numpy)).startswith(
        "end_episode of Faulty must draw from its rng"
    )


randoms = draws.below


@njit
def by_the_stream(tables, level, label, rng):
    random = randoms(rng, 4)
    return random + int(np.floor(0.5))


def test_what_has_a_name_like_theirs_is_no_matter():
    learner(choose=by_the_stream).start(task())

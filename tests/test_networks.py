"""The kernels that train networks against their references."""

import math

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import networks
from fasturl._kernels.compiling import four_dots
from fasturl._kernels.records import AdagradWorkspace, AdamWorkspace

pytestmark = pytest.mark.kernel

FEW = hypothesis.settings(max_examples=15)


def test_the_logistic_function_is_that_of_the_textbook():
    x = np.concatenate([np.linspace(-79, 79, 4001), np.random.default_rng(0).normal(size=1000)]).astype(
        np.float32
    )
    exact = 1 / (1 + np.exp(-x.astype(float)))
    np.testing.assert_allclose([networks.logistic(value) for value in x], exact, rtol=3e-7)
    for far in (81.0, 1e6, np.inf):
        assert (networks.logistic(np.float32(far)), networks.logistic(np.float32(-far))) == (
            1,
            pytest.approx(math.exp(-80)),
        )


@FEW
@hypothesis.given(DRAWS, st.integers(1, 6), st.integers(0, 2), st.integers(0, 3))
def test_four_dots_are_products_of_rows(draw, n_eights, a, b):
    left, right = draw.normal(size=(3, 8 * n_eights)), draw.normal(size=(7, 8 * n_eights))
    left, right = left.astype(np.float32), right.astype(np.float32)
    slopes = np.full((1, 4), np.nan, np.float32)
    networks._find_slopes(left[a : a + 1], right[b : b + 4], slopes)
    exact = right[b : b + 4].astype(float) @ left[a].astype(float)
    np.testing.assert_allclose(slopes[0], exact, atol=1e-5)
    # plain Python rounds products that are added in float64, which all but never matters
    np.testing.assert_allclose(four_dots(left, a, right, b), slopes[0], rtol=1e-6, atol=1e-6)


def up_to_multiple(number, of):
    return -(-number // of) * of


def padded(table, n_rows, n_columns, kind):
    result = np.zeros((n_rows, n_columns), kind)
    result[: len(table), : len(table[0])] = table
    return result


def adagrad_problem(draw, dimension, n_codes, n_units, n):
    columns = np.vstack([draw.normal(size=(dimension, n)), np.ones(n)])
    weights = draw.uniform(-1, 1, (n_units, dimension + 1)), draw.uniform(-1, 1, (n_codes, n_units))
    return columns, draw.integers(n_codes, size=n), weights


def trained_by_adagrad(kernel, columns, codes, weights, epochs, kind=np.float32):
    (n_units, n_inputs), n_codes = weights[0].shape, len(weights[1])
    samples, inputs, units = (
        up_to_multiple(codes.size, 8),
        up_to_multiple(n_inputs, 4),
        up_to_multiple(n_units, 4),
    )
    hidden, output = padded(weights[0], n_units, inputs, kind), padded(weights[1], n_codes, units, kind)
    shapes = [(1, inputs), (1, units), (n_units, inputs), (n_codes, units), (units, samples)]
    zeros = [np.zeros(shape, kind) for shape in shapes]
    workspace = AdagradWorkspace(*zeros, *(np.full((1, samples), np.nan, kind) for _ in range(2)))
    narrow = padded(columns, inputs, samples, kind)
    done = kernel(narrow, codes.astype(np.int32), 0.1, epochs, hidden, output, workspace)
    assert not hidden[:, n_inputs:].any()
    assert not output[:, n_units:].any()
    return hidden[:, :n_inputs], output[:, :n_units], done


@FEW
@hypothesis.given(DRAWS, st.integers(1, 9), st.integers(1, 4), st.integers(1, 5), st.integers(1, 20))
def test_adagrad_network_equals_its_reference(draw, dimension, n_codes, n_units, n):
    """The reference trains in float64, the kernel in float32."""
    columns, codes, weights = adagrad_problem(draw, dimension, n_codes, n_units, n)
    ref = trained_by_adagrad(naive.networks.adagrad_network, columns, codes, weights, 4, np.float64)
    comp = trained_by_adagrad(networks.adagrad_network, columns, codes, weights, 4)
    for expected, given in zip(ref, comp, strict=True):
        np.testing.assert_allclose(expected, given, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kernel", [naive.networks.adagrad_network, networks.adagrad_network])
@pytest.mark.parametrize(
    ("output", "epochs", "done"),
    [
        pytest.param(2.0, 300, 1, id="no loss from the first"),
        pytest.param(3.0, 300, 201, id="no loss from epoch 100 on"),
        pytest.param(3.0, 150, 150, id="no time"),
    ],
)
def test_training_ends_when_the_loss_is_what_it_was_a_hundred_epochs_ago(kernel, output, epochs, done):
    """One sample and one code, 1: a unit that gives 1/2 and an output of 2 are right at the start."""
    weights = np.zeros((1, 2)), np.full((1, 1), output)
    assert trained_by_adagrad(kernel, np.ones((2, 1)), np.zeros(1, int), weights, epochs)[2] == done


def test_adagrad_makes_the_error_of_the_network_smaller():
    draw = np.random.default_rng(0)
    columns, _, weights = adagrad_problem(draw, 3, 2, 2, 60)
    codes = (columns[0] > 0).astype(int)

    def error(hidden, output, _):
        units = 1 / (1 + np.exp(-hidden @ columns))
        return np.square(output @ units - np.eye(2)[:, codes]).mean()

    errors = [
        error(*trained_by_adagrad(networks.adagrad_network, columns, codes, weights, epochs))
        for epochs in (0, 10, 150)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def adam_problem(draw, dimension, n_codes, n_units, n):
    rows = np.column_stack([draw.normal(size=(n, dimension)), np.ones(n)])
    weights = draw.normal(size=(n_units, dimension + 1)), draw.normal(size=(n_units + 1, n_codes))
    return rows, draw.integers(n_codes, size=n), weights


def trained_by_adam(kernel, rows, codes, weights, iterations, kind=np.float32):
    hidden, output = (table.astype(kind) for table in weights)
    slopes = np.full_like(hidden, np.nan), np.full_like(output, np.nan)
    moments = np.zeros((2, *hidden.shape), kind), np.zeros((2, *output.shape), kind)
    shapes = len(output), len(output[0]), len(hidden)
    scratch = [np.full((size, len(rows)), np.nan, kind) for size in shapes]
    columns = np.ascontiguousarray(rows.T, kind)
    workspace = AdamWorkspace(*slopes, *moments, *scratch)
    kernel(rows.astype(kind), columns, codes, 0.05, iterations, hidden, output, workspace)
    return hidden, output


@FEW
@hypothesis.given(DRAWS, st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(1, 20))
def test_adam_network_equals_its_reference(draw, dimension, n_codes, n_units, n):
    rows, codes, weights = adam_problem(draw, dimension, n_codes, n_units, n)
    ref = trained_by_adam(naive.networks.adam_network, rows, codes, weights, 5, np.float64)
    comp = trained_by_adam(networks.adam_network, rows, codes, weights, 5)
    for expected, given in zip(ref, comp, strict=True):
        np.testing.assert_allclose(expected, given, rtol=1e-3, atol=1e-4)


def test_adam_makes_the_error_of_the_network_smaller():
    draw = np.random.default_rng(0)
    rows, _, weights = adam_problem(draw, 3, 2, 2, 60)
    codes = (rows[:, 0] > 0).astype(int)

    def error(hidden, output):
        units = np.column_stack([1 / (1 + np.exp(-rows @ hidden.T)), np.ones(len(rows))])
        return np.square(units @ output - np.eye(2)[codes]).mean()

    errors = [
        error(*trained_by_adam(networks.adam_network, rows, codes, weights, iterations))
        for iterations in (0, 30, 200)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]

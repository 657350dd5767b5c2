"""Networks with one layer of logistic units, fitted by least squares to one-hot codes.

    g(x) = output' logistic(hidden (x, 1))

`adagrad_network` trains as Du et al. (2019) do: without a bias of the outputs, by Adagrad (Duchi et al.,
2011), whose accumulated squares s of the slopes g set the steps,

    s <- s + g^2,    w <- w - rate g / (sqrt(s) + 1e-10),

and with a step for one output after the other. `adam_network` has a bias of the outputs, and trains all of
them together by Adam (Kingma and Ba, 2015).

As in `fitting`, everything is summed in the order that is written here, and samples are the fastest axis.
"""

import math

import numpy as np

from .compiling import fma, four_dots, inlined, kernel
from .fitting import add_combination

_0, _1 = np.float32(0.0), np.float32(1.0)
_F = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _F(1.4426950408889634), _F(0.693145751953125), _F(1.4286068203094172e-06)
_HALF, _CAP, _BIAS, _MANTISSA = _F(0.5), _F(80.0), np.int32(127), np.int32(23)
_DECAY, _SQUARE_DECAY, _ADAM_TINY = _F(0.9), _F(0.999), _F(1e-8)
_ADAGRAD_TINY = _F(1e-10)
_WATCHED = 100
"""The loss is looked at in every so many epochs of `adagrad_network`."""


@inlined
def logistic(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) to 2e-7, without branches or calls, so that loops over it become vector instructions.

    exp(t) = 2^n exp(r) with n the integer nearest to t / ln 2, and exp(r) by its Taylor series on [-ln 2 / 2,
    ln 2 / 2].
    """
    t = min(max(-x, -_CAP), _CAP)
    n = np.floor(fma(t, _LOG2_E, _HALF))
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, t))
    p = fma(fma(fma(fma(fma(_F(1 / 720), r, _F(1 / 120)), r, _F(1 / 24)), r, _F(1 / 6)), r, _HALF), r, _1)
    power = np.int32((np.int32(n) + _BIAS) << _MANTISSA).view(np.float32)
    return _1 / fma(power, fma(p, r, _1), _1)


@inlined
def _dot(left: np.ndarray, a: int, right: np.ndarray, b: int) -> np.float32:
    """left[a] . right[b] as four sums side by side: one alone waits for each of its additions."""
    width = left.shape[1]
    s0, s1, s2, s3 = _0, _0, _0, _0
    i = 0
    while i + 3 < width:
        s0 += left[a, i] * right[b, i]
        s1 += left[a, i + 1] * right[b, i + 1]
        s2 += left[a, i + 2] * right[b, i + 2]
        s3 += left[a, i + 3] * right[b, i + 3]
        i += 4
    while i < width:
        s0 += left[a, i] * right[b, i]
        i += 1
    return (s0 + s1) + (s2 + s3)


@inlined
def _add_fours(weights: np.ndarray, j: int, table: np.ndarray, sums: np.ndarray, k: int) -> None:
    """sums[k] += the rows of the table, each times its entry of weights[j]; there are a multiple of four."""
    for d in range(0, table.shape[0], 4):
        w0, w1, w2, w3 = weights[j, d], weights[j, d + 1], weights[j, d + 2], weights[j, d + 3]
        for i in range(table.shape[1]):
            sums[k, i] = fma(
                w3,
                table[d + 3, i],
                fma(w2, table[d + 2, i], fma(w1, table[d + 1, i], fma(w0, table[d, i], sums[k, i]))),
            )


@inlined
def _activate(columns: np.ndarray, hidden: np.ndarray, units: np.ndarray) -> None:
    """units[k, i] = logistic(hidden[k] . columns[:, i])."""
    for k in range(hidden.shape[0]):
        for i in range(units.shape[1]):
            units[k, i] = _0
        _add_fours(hidden, k, columns, units, k)
        for i in range(units.shape[1]):
            units[k, i] = logistic(units[k, i])


@inlined
def _find_errors(
    units: np.ndarray, output: np.ndarray, r: int, targets: np.ndarray, errors: np.ndarray
) -> None:
    """errors[0, i] = output[r] . units[:, i] - (1 where the target of sample i is r, else 0); 0 for what is
    no sample."""
    for i in range(errors.shape[1]):
        errors[0, i] = _0
    _add_fours(output, r, units, errors, 0)
    for i in range(targets.size):
        errors[0, i] -= _1 if targets[i] == r else _0
    for i in range(targets.size, errors.shape[1]):
        errors[0, i] = _0


@inlined
def _find_slopes(left: np.ndarray, table: np.ndarray, slopes: np.ndarray) -> None:
    """slopes[0, d] = left[0] . table[d]."""
    for d in range(0, table.shape[0], 4):
        slopes[0, d], slopes[0, d + 1], slopes[0, d + 2], slopes[0, d + 3] = four_dots(left, 0, table, d)


@inlined
def _adagrad(weights: np.ndarray, k: int, slopes: np.ndarray, squares: np.ndarray, rate: float) -> None:
    """A step of Adagrad for weights[k]."""
    step = np.float32(rate)
    for d in range(weights.shape[1]):
        g = slopes[0, d]
        s = squares[k, d] + g * g
        squares[k, d] = s
        weights[k, d] -= step * g / (np.sqrt(s) + _ADAGRAD_TINY)


@kernel
def adagrad_network(
    columns: np.ndarray,
    targets: np.ndarray,
    rate: float,
    epochs: int,
    hidden: np.ndarray,
    output: np.ndarray,
    workspace: tuple,
) -> int:
    """Fit the one-hot code of targets int32[n] by output logistic(hidden x), from the given weights on, and
    return the number of epochs that it took.

    An epoch has a step for each output in turn, down the mean square over all samples of the error of that
    output alone. In epochs 0, 100, 200 and so on the losses that the steps have met are added up: training
    ends when the sum, to three decimals, is what it was the last time (0 at first), or after `epochs`.

    columns float32[Q, P] holds samples whose last coordinate is 1. hidden float32[K, Q], output float32[R,
    U]. For whole vectors P is n rounded up to a multiple of 8, Q and U are the numbers of coordinates and of
    units rounded up to multiples of 4, and all that is beyond the samples, coordinates and units is 0, and
    stays so. `workspace` is an `AdagradWorkspace`.
    """
    units, errors, back = workspace.units, workspace.errors, workspace.back
    n_units, n_samples = hidden.shape[0], targets.size
    share = np.float32(2.0 / n_samples)
    last_thousandths = 0.0
    for epoch in range(epochs):
        squares = 0.0
        for r in range(output.shape[0]):
            _activate(columns, hidden, units)
            _find_errors(units, output, r, targets, errors)
            if epoch % _WATCHED == 0:
                for i in range(n_samples):
                    squares += np.float64(errors[0, i]) * np.float64(errors[0, i])
            for i in range(errors.shape[1]):
                errors[0, i] *= share
            for k in range(n_units):
                w = output[r, k]
                for i in range(errors.shape[1]):
                    z = units[k, i]
                    back[0, i] = w * errors[0, i] * (z * (_1 - z))
                _find_slopes(back, columns, workspace.hidden_slopes)
                _adagrad(hidden, k, workspace.hidden_slopes, workspace.hidden_squares, rate)
            _find_slopes(errors, units, workspace.output_slopes)
            _adagrad(output, r, workspace.output_slopes, workspace.output_squares, rate)
        if epoch % _WATCHED == 0:
            thousandths = np.rint(1000.0 * squares / n_samples)
            if thousandths == last_thousandths:
                return epoch + 1
            last_thousandths = thousandths
    return epochs


@inlined
def _adam(weights: np.ndarray, slope: np.ndarray, moments: np.ndarray, rate: float, t: int) -> None:
    """Step t of Adam; moments float32[2, rows, columns] are the running means of the slope and of its
    square."""
    first, second, step = np.float32(1.0 - 0.9**t), np.float32(1.0 - 0.999**t), np.float32(rate)
    for a in range(weights.shape[0]):
        for b in range(weights.shape[1]):
            g = slope[a, b]
            m = _DECAY * moments[0, a, b] + (_1 - _DECAY) * g
            v = _SQUARE_DECAY * moments[1, a, b] + (_1 - _SQUARE_DECAY) * g * g
            moments[0, a, b], moments[1, a, b] = m, v
            weights[a, b] -= step * (m / first) / (np.float32(math.sqrt(v / second)) + _ADAM_TINY)


@kernel
def adam_network(
    rows: np.ndarray,
    columns: np.ndarray,
    targets: np.ndarray,
    rate: float,
    iterations: int,
    hidden: np.ndarray,
    output: np.ndarray,
    workspace: tuple,
) -> None:
    """Fit the one-hot code of targets int64[n] by least squares: output' (logistic(hidden x), 1), from the
    given weights on.

    rows float32[n, D + 1] and columns float32[D + 1, n] hold the same samples, whose last coordinate is 1;
    hidden float32[K, D + 1], output float32[K + 1, R]. Every iteration sees all samples. `workspace` is a
    `AdamWorkspace`.
    """
    hidden_slope, output_slope = workspace.hidden_slope, workspace.output_slope
    units, errors, back = workspace.units, workspace.errors, workspace.back
    n_samples = targets.size
    n_units, n_targets = back.shape[0], errors.shape[0]
    share = np.float32(1.0 / n_samples)
    for i in range(n_samples):
        units[n_units, i] = _1
    for t in range(1, iterations + 1):
        hidden_slope[:] = _0
        for k in range(n_units):
            for i in range(n_samples):
                units[k, i] = _0
                back[k, i] = _0
            add_combination(hidden, k, columns, units)
            for i in range(n_samples):
                units[k, i] = logistic(units[k, i])
        for r in range(n_targets):
            for i in range(n_samples):
                errors[r, i] = _0
            for k in range(n_units + 1):
                w = output[k, r]
                for i in range(n_samples):
                    errors[r, i] += w * units[k, i]
        for i in range(n_samples):
            errors[targets[i], i] -= _1
        for k in range(n_units + 1):
            for r in range(n_targets):
                output_slope[k, r] = share * _dot(units, k, errors, r)
        for k in range(n_units):
            add_combination(output, k, errors, back)
            for i in range(n_samples):
                z = units[k, i]
                back[k, i] *= share * z * (_1 - z)
            add_combination(back, k, rows, hidden_slope)
        _adam(hidden, hidden_slope, workspace.hidden_moments, rate, t)
        _adam(output, output_slope, workspace.output_moments, rate, t)

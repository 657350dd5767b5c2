"""Slow, obvious references for `_kernels/variates.py`. The layers of the ziggurats are taken from there: they
are data, which the tests compare with the densities."""

import math

from fasturl._kernels import variates

from .rng import next_bits, uniform

_EXPONENTIAL_EDGES, _EXPONENTIAL_HEIGHTS, _NORMAL_EDGES, _NORMAL_HEIGHTS = (
    table.tolist()
    for table in (
        variates.EXPONENTIAL_EDGES,
        variates.EXPONENTIAL_HEIGHTS,
        variates.NORMAL_EDGES,
        variates.NORMAL_HEIGHTS,
    )
)


def _inside(word):
    """The top 52 bits as the middle of one of 2^52 equal parts of the interval from 0 to 1."""
    return ((word >> 12) + 0.5) / 2**52


def _under(density, heights, layer, x, rng):
    """Whether a point of the layer, at x and a uniform height, lies under the density."""
    low, high = heights[layer], heights[layer + 1]
    return low + uniform(rng) * (high - low) < density(x)


def exponential(rng):
    """The ziggurat under exp(-x); beyond the last edge everything begins again."""
    edges, beyond = _EXPONENTIAL_EDGES, 0.0
    while True:
        word = next_bits(rng)
        layer = word % 256
        x = _inside(word) * edges[layer]
        if x < edges[layer + 1]:
            return beyond + x
        if layer == 0:
            beyond += edges[1]
        elif _under(lambda x: math.exp(-x), _EXPONENTIAL_HEIGHTS, layer, x, rng):
            return beyond + x


def normal(rng):
    """The ziggurat under exp(-x^2 / 2); the highest bit of the word is the sign, in two's complement."""
    edges = _NORMAL_EDGES
    while True:
        word = next_bits(rng)
        layer = word % 256
        part = (word >> 11) - (2**53 if word >= 2**63 else 0)
        x = (part + 0.5) / 2**52 * edges[layer]
        if abs(x) < edges[layer + 1]:
            return x
        if layer == 0:
            while True:
                excess, other = exponential(rng) / edges[1], exponential(rng)
                if 2 * other > excess * excess:
                    return edges[1] + excess if x > 0 else -edges[1] - excess
        if _under(lambda x: math.exp(-x * x / 2), _NORMAL_HEIGHTS, layer, x, rng):
            return x


def _gamma_from_one(rng, shape):
    """Marsaglia and Tsang (2000), the exponential for shape 1."""
    if shape == 1:
        return exponential(rng)
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(rng)
        u = _inside(next_bits(rng))
        w = c * x
        if w <= -1:
            continue
        value = d * ((1 + w) * (1 + w) * (1 + w))
        if u < 1 - 0.0331 * (x * x * (x * x)):
            return value
        if math.log(u) < x * x / 2 + d * (3 * math.log1p(w) - w * (3 + w * (3 + w))):
            return value


def _exponent(rng, shape):
    """The e for which Gamma(shape + 1) exp(-e) is Gamma(shape), for a shape less than 1; otherwise 0."""
    return min(exponential(rng) / shape, 1.7976931348623157e308) if shape < 1 else 0.0


def _times_power(rng, shape, exponent):
    """exp(-exponent) times a gamma of the shape, or of the shape + 1 where that is less than 1."""
    return _gamma_from_one(rng, shape if shape >= 1 else shape + 1) * math.exp(-exponent)


def gamma(rng, shape):
    """Marsaglia and Tsang (2000), through shape + 1 for a shape less than 1."""
    exponent = _exponent(rng, shape)
    return _times_power(rng, shape, exponent)


def beta(rng, a, b):
    """The first share of a Dirichlet of two."""
    shares = [0.0, 0.0]
    dirichlet(rng, [a, b], shares)
    return shares[0]


def dirichlet(rng, weights, out):
    """Gammas divided by their sum, all multiplied by the same number so that the sum is not 0."""
    positive = {k: float(weight) for k, weight in enumerate(weights) if weight > 0}
    exponents = {k: _exponent(rng, weight) for k, weight in positive.items()}
    least = min(exponents.values())
    gammas = {k: _times_power(rng, weight, exponents[k] - least) for k, weight in positive.items()}
    total = 0.0
    for value in gammas.values():  # not `sum`, which newer versions of Python round once
        total += value
    for k in range(len(out)):
        out[k] = gammas[k] / total if k in gammas else 0.0

"""Normal, exponential, gamma, beta and Dirichlet variates, one draw at a time, for loops that sample.

**Ziggurat** (Marsaglia and Tsang, "The ziggurat method for generating random variables", 2000; with edges as
floats as Doornik has them, 2005). The area under a decreasing density f with f(0) = 1 is covered by 256
layers of equal area v. With edges x[1] = r > x[2] > ... > x[256] = 0 and heights f[i] = f(x[i]), layer i >= 1
is the rectangle [0, x[i]] x [f[i], f[i+1]]. Layer 0 is [0, r] x [0, f[1]] together with the tail beyond r, as
if its width were x[0] = v / f[1]. Hence

    f[i+1] = f[i] + v / x[i],   x[i+1] = the point where f is f[i+1].

A draw takes a layer i and a point x uniform on [0, x[i]]. Below x[i+1] the layer lies under the density
altogether, and x is the answer: 98.5 % of normals and 97.8 % of exponentials take one word of 64 bits. Else
layer 0 draws from the tail, and any other layer accepts x where a uniform height of its own is below f(x), or
the draw starts again. The tail of the exponential is r plus an exponential. That of the normal is r + E / r,
where E and E' are exponentials with 2 E' > (E / r)^2 (Marsaglia, 1964).

**Gamma** (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000). With d = a - 1/3,
c = 1 / sqrt(9 d), x normal and u uniform, d (1 + c x)^3 is a Gamma(a) for a >= 1 where it is positive and

    log u < x^2 / 2 + d (1 - (1 + c x)^3 + 3 log(1 + c x)),

for which u < 1 - 0.0331 x^4 is enough. Gamma(1) is the exponential. For a < 1, Gamma(a) = Gamma(a + 1)
exp(-E / a) with E exponential, which is U^(1 / a) of a uniform U without its grain near 0.

**Dirichlet**: independent gammas divided by their sum; **beta** is its first share of two. Small weights give
gammas less than any float, so all are multiplied by exp(min over k of E[k] / a[k]) first, where E[k] = 0 for
a[k] >= 1. The shares are the same, and the greatest factor is 1: the sum is positive whatever the weights.

Every method is exact in law but for the rounding of floats. Tables are made by arithmetic that IEEE 754 fixes
to the last bit. The platform's exp and log only decide whether a point is accepted, apart from the exp of
gammas whose shape is less than 1.
"""

import math

import numpy as np

from .compiling import inlined
from .rng import next_bits, uniform

N_LAYERS = 256
NORMAL_TAIL = 3.654152885361009
"""Where the tail of the normal density exp(-x^2 / 2) begins: r for 256 layers."""
NORMAL_AREA = 0.004928673233974655
"""The area v of a layer under the normal density."""
EXPONENTIAL_TAIL = 7.69711747013105
"""Where the tail of the density exp(-x) begins: r for 256 layers."""
EXPONENTIAL_AREA = 0.003949659822581556
"""The area v of a layer under the exponential density."""
_NORMAL_HEIGHT = 0.0012602859304985974  # exp(-r^2 / 2)
_EXPONENTIAL_HEIGHT = 0.0004541343538414966  # exp(-r)

_LN_2 = 0.6931471805599453
_SQRT_HALF = 0.7071067811865476
_ODD_NUMBERS = range(25, 0, -2)


def _logarithm(x: float) -> float:
    """The natural logarithm to some ulps, by sums, products and quotients alone: the same bits anywhere.

    With x = m 2^n and z = (m - 1) / (m + 1), log m = 2 (z + z^3 / 3 + z^5 / 5 + ...) and |z| < 0.172.
    """
    m, n = math.frexp(x)
    if m < _SQRT_HALF:
        m, n = 2.0 * m, n - 1
    z = (m - 1.0) / (m + 1.0)
    series = 0.0
    for k in _ODD_NUMBERS:
        series = series * (z * z) + 1.0 / k
    return n * _LN_2 + 2.0 * z * series


def _layers(tail: float, height: float, area: float, is_normal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Edges x[0..256] and heights f[0..256] of a ziggurat, both float64[257]; f[0] = 0 is the ground."""
    edges, heights = np.zeros(N_LAYERS + 1), np.zeros(N_LAYERS + 1)
    edges[0], edges[1], heights[1] = area / height, tail, height
    for i in range(2, N_LAYERS):
        heights[i] = heights[i - 1] + area / edges[i - 1]
        exponent = -_logarithm(heights[i])
        edges[i] = math.sqrt(2.0 * exponent) if is_normal else exponent
    heights[N_LAYERS] = 1.0
    return edges, heights


NORMAL_EDGES, NORMAL_HEIGHTS = _layers(NORMAL_TAIL, _NORMAL_HEIGHT, NORMAL_AREA, True)
EXPONENTIAL_EDGES, EXPONENTIAL_HEIGHTS = _layers(
    EXPONENTIAL_TAIL, _EXPONENTIAL_HEIGHT, EXPONENTIAL_AREA, False
)

_0, _1, _12 = np.uint64(0), np.uint64(1), np.uint64(12)
_SIGNED_11 = np.int64(11)
_LAYER = np.uint64(N_LAYERS - 1)
_ULP_52 = 2.0**-52
_LARGEST = float(np.finfo(np.float64).max)


@inlined
def _inside(bits: np.uint64) -> float:
    """The top 52 bits as a number strictly between 0 and 1: an odd multiple of 2^-53."""
    return (np.float64(bits >> _12) + 0.5) * _ULP_52


@inlined
def exponential(rng: np.ndarray) -> float:
    """An exponential variate of mean 1, greater than 0."""
    beyond = 0.0
    while True:
        bits = next_bits(rng)
        layer = bits & _LAYER
        x = _inside(bits) * EXPONENTIAL_EDGES[layer]
        if x < EXPONENTIAL_EDGES[layer + _1]:
            return beyond + x
        if layer == _0:
            beyond += EXPONENTIAL_TAIL
        else:
            low, high = EXPONENTIAL_HEIGHTS[layer], EXPONENTIAL_HEIGHTS[layer + _1]
            if low + uniform(rng) * (high - low) < math.exp(-x):
                return beyond + x


@inlined
def _normal_tail(rng: np.ndarray) -> float:
    """A normal variate, given that it is greater than `NORMAL_TAIL`."""
    while True:
        x = exponential(rng) / NORMAL_TAIL
        if 2.0 * exponential(rng) > x * x:
            return NORMAL_TAIL + x


@inlined
def normal(rng: np.ndarray) -> float:
    """A normal variate of mean 0 and variance 1."""
    while True:
        bits = next_bits(rng)
        layer = bits & _LAYER
        # 53 bits with their sign: an odd multiple of 2^-53 between -1 and 1, neither of them nor 0
        x = (np.float64(np.uint64(bits).view(np.int64) >> _SIGNED_11) + 0.5) * _ULP_52 * NORMAL_EDGES[layer]
        if abs(x) < NORMAL_EDGES[layer + _1]:
            return x
        if layer == _0:
            return math.copysign(_normal_tail(rng), x)
        low, high = NORMAL_HEIGHTS[layer], NORMAL_HEIGHTS[layer + _1]
        if low + uniform(rng) * (high - low) < math.exp(-0.5 * (x * x)):
            return x


@inlined
def _gamma_from_one(rng: np.ndarray, shape: float) -> float:
    """A Gamma(shape) variate for shape >= 1, greater than 0."""
    # the weight under a uniform prior of what has not been seen: twice as fast as what follows
    if shape == 1.0:
        return exponential(rng)
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        w = c * x
        u = _inside(next_bits(rng))
        if w > -1.0:
            square = x * x
            root = 1.0 + w
            if u < 1.0 - 0.0331 * (square * square):
                return d * (root * root * root)
            # 1 - (1 + w)^3 is multiplied out: for a large shape the difference would lose all its digits
            if math.log(u) < 0.5 * square + d * (3.0 * math.log1p(w) - w * (3.0 + w * (3.0 + w))):
                return d * (root * root * root)


@inlined
def _shrinkage(rng: np.ndarray, shape: float) -> float:
    """E / shape for shape < 1, where exp(-E / shape) takes Gamma(shape + 1) to Gamma(shape); 0 otherwise."""
    if shape >= 1.0:
        return 0.0
    return min(exponential(rng) / shape, _LARGEST)


@inlined
def _shrunk_gamma(rng: np.ndarray, shape: float, shrinkage: float) -> float:
    """exp(-shrinkage) times a Gamma(shape), or times a Gamma(shape + 1) for shape < 1."""
    value = _gamma_from_one(rng, shape if shape >= 1.0 else shape + 1.0)
    if shrinkage > 0.0:
        value *= math.exp(-shrinkage)
    return value


@inlined
def gamma(rng: np.ndarray, shape: float) -> float:
    """A Gamma(shape) variate of scale 1, for 0 < shape <= 1e300; 0 where it is less than any float."""
    return _shrunk_gamma(rng, shape, _shrinkage(rng, shape))


@inlined
def beta(rng: np.ndarray, a: float, b: float) -> float:
    """A Beta(a, b) variate, for 1e-300 <= a, b <= 1e300: from 0 to 1, both of which rounding can give."""
    shrinkage_a = _shrinkage(rng, a)
    shrinkage_b = _shrinkage(rng, b)
    least = min(shrinkage_a, shrinkage_b)
    share_a = _shrunk_gamma(rng, a, shrinkage_a - least)
    share_b = _shrunk_gamma(rng, b, shrinkage_b - least)
    return share_a / (share_a + share_b)


@inlined
def dirichlet(rng: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (float64[K]) with a Dirichlet(weights) variate: shares that sum to 1.

    weights float64[K], each 0 or from 1e-300 to 1e300, at least one of them positive. They share no memory
    with `out`, which holds exponents on the way. A share of weight 0 is exactly 0.
    """
    least = _LARGEST
    for k in range(weights.size):
        if weights[k] > 0.0:
            out[k] = _shrinkage(rng, weights[k])
            least = min(least, out[k])
    total = 0.0
    for k in range(weights.size):
        if weights[k] > 0.0:
            out[k] = _shrunk_gamma(rng, weights[k], out[k] - least)
            total += out[k]
        else:
            out[k] = 0.0
    for k in range(weights.size):
        out[k] /= total

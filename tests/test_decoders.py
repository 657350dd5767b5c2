"""Decoders: label tables are, bit for bit, what decoding one observation at a time gives."""

import numba
import numpy as np
import pytest
from numba import types
from sklearn.svm import SVC

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.decoders import (
    AffineDecoder,
    CDecoder,
    ConstantDecoder,
    LevelDecoder,
    PredictDecoder,
    QuadraticDecoder,
    SupportVectorDecoder,
    check_decoder,
)
from fasturl.problems.blocks import BitBlock, RealBlock
from fasturl.problems.emissions import Bernoulli, Categorical, Gaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits

CDECODER = types.int32(
    types.CPointer(types.float32), *[types.int64] * 3, types.CPointer(types.int32), types.voidptr
)

RNG = np.random.default_rng(0)

EMISSIONS = {
    "lock of bits": LockBits(5),
    "lock of bits in two words": LockBits(70),
    "lock of reals": fu.LockGaussian(5, noise=0.2).emission,
    "means by level": Gaussian(RNG.standard_normal((4, 3, 6)), 0.5, n_levels=4),
    "rotated means": Gaussian(
        np.eye(3, 7), 0.3, n_levels=5, rotation=np.linalg.qr(RNG.standard_normal((7, 7)))[0]
    ),
    "means of zero": Gaussian(np.zeros((2, 5)), 1.0, n_levels=3),
    "bits by level": Bernoulli(RNG.random((4, 2, 13)), n_levels=4),
    "categories": Categorical(RNG.dirichlet(np.ones(9), 3), n_levels=4),
}


class NearestCentre:
    """A predictor that is none of ours."""

    def __init__(self, centres):
        self.centres = centres

    def predict(self, X):
        return np.array([np.argmin([np.square(x - centre).sum() for centre in self.centres]) for x in X])


def close_calls(draw, n_labels, *shape):
    """Coefficients that differ from label to label in their last bits only, so that rounding decides who
    wins."""
    common = draw.standard_normal(shape)
    return np.stack([common * (1 + draw.choice([-1, 0, 1], shape) * 2.0**-23) for _ in range(n_labels)])


def affine(draw, dimension, n_labels=3):
    return AffineDecoder(close_calls(draw, n_labels, dimension), np.full(n_labels, 0.1))


def affine_with_squares(draw, dimension):
    return AffineDecoder(close_calls(draw, 3, dimension), np.full(3, 0.1), close_calls(draw, 3))


def quadratic(draw, dimension):
    root = draw.standard_normal((dimension, 2 * dimension))
    precision = root @ root.T / dimension
    return QuadraticDecoder(
        close_calls(draw, 3, dimension), [precision * (1 + k * 2.0**-22) for k in range(3)], np.zeros(3)
    )


def quadratic_image(draw, dimension):
    means, precisions = close_calls(draw, 3, 2), np.tile(np.eye(2), (3, 1, 1))
    return QuadraticDecoder(
        means, precisions, np.zeros(3), draw.standard_normal((2, dimension)), draw.standard_normal(2)
    )


def curved_image(draw, dimension):
    matrix, offset = draw.standard_normal((2, dimension)), draw.standard_normal(2)
    return AffineDecoder(close_calls(draw, 3, 2), np.full(3, 0.1), close_calls(draw, 3), matrix, offset)


def support_vectors(draw, dimension, n_classes):
    matrix, offset = draw.standard_normal((2, dimension)), draw.standard_normal(2)
    points = draw.standard_normal((60, 2)) * 3
    classifier = SVC(gamma="scale").fit(points, (np.arange(60) + (points[:, 0] > 0)) % n_classes)
    return SupportVectorDecoder(matrix, offset, classifier)


DECODERS = {
    "affine": affine,
    "affine, 7 labels": lambda draw, dimension: affine(draw, dimension, 7),
    "affine with squares": affine_with_squares,
    "quadratic": quadratic,
    "quadratic on an image": quadratic_image,
    "curved on an image": curved_image,
    "two classes of support vectors": lambda draw, dimension: support_vectors(draw, dimension, 2),
    "three classes of support vectors": lambda draw, dimension: support_vectors(draw, dimension, 3),
    "any predict": lambda draw, dimension: PredictDecoder(
        NearestCentre(draw.standard_normal((4, dimension))), 4
    ),
    "one for each level": lambda draw, dimension: LevelDecoder(
        [affine(draw, dimension), quadratic(draw, dimension)] * 40
    ),
    "an affine one or none for each level": lambda draw, dimension: LevelDecoder(
        [
            affine(draw, dimension),
            affine(draw, dimension, 7).relabelled([3, 1, 2, 0, 6, 6, 5]),
            ConstantDecoder(3).relabelled([2, 0, 1]),
        ]
        * 27
    ),
}


def table_and_observations(decoder, emission, episodes=6):
    block = emission.draw(emission_rngs(Streams(1)), episodes)
    return decoder.table(block), block.every_state()


def decoder_for(name, emission, seed=2):
    return DECODERS[name](np.random.default_rng(seed), emission.dimension)


@pytest.fixture(params=DECODERS)
def make(request):
    """Makes the decoder of that name for an emission, its levels cut to fit."""

    def build(emission):
        decoder = decoder_for(request.param, emission)
        return (
            LevelDecoder(decoder.decoders[: emission.n_levels])
            if isinstance(decoder, LevelDecoder)
            else decoder
        )

    return build


# --- one contract ---


@pytest.mark.parametrize("emission", EMISSIONS)
def test_a_label_table_equals_decoding_one_observation_at_a_time(make, emission):
    decoder = make(EMISSIONS[emission])
    table, seen = table_and_observations(decoder, EMISSIONS[emission])
    assert table.dtype == np.uint8
    assert table.shape == seen.shape[:3]
    one_by_one = np.empty_like(table)
    for e, h, s in np.ndindex(*table.shape):
        one_by_one[e, h, s] = decoder.decode(seen[e, h, s][None], h + 1)[0]
    np.testing.assert_array_equal(table, one_by_one)


@pytest.mark.parametrize("emission", EMISSIONS)
def test_a_label_table_equals_decoding_all_observations_of_a_level(make, emission):
    decoder = make(EMISSIONS[emission])
    table, seen = table_and_observations(decoder, EMISSIONS[emission], episodes=40)
    for h in range(table.shape[1]):
        labels = decoder.decode(seen[:, h].reshape(-1, seen.shape[-1]), h + 1)
        assert labels.dtype == np.int64
        np.testing.assert_array_equal(table[:, h].ravel(), labels)


LAYOUTS = {
    "of another order": np.asfortranarray,
    "read backwards": lambda table: table[::-1].copy()[::-1],
    "cut out of a larger one": lambda table: np.repeat(table, 3, axis=-1)[..., ::3],
    "read only": lambda table: np.frombuffer(table.tobytes(), table.dtype).reshape(table.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("make", ["affine", "an affine one or none for each level"], indirect=True)
@pytest.mark.parametrize("emission", ["lock of reals", "lock of bits in two words"])
def test_blocks_of_any_layout_have_the_same_labels_and_look_the_same(make, emission, layout):
    block = EMISSIONS[emission].draw(emission_rngs(Streams(1)), 6)
    decoder, lay_out = make(EMISSIONS[emission]), LAYOUTS[layout]
    if isinstance(block, RealBlock):
        other = RealBlock(lay_out(block.noise), lay_out(block.means), block.n_informative)
    else:
        other = BitBlock(lay_out(block.words), block.dimension)
    np.testing.assert_array_equal(decoder.table(other), decoder.table(block))
    np.testing.assert_array_equal(other.every_state(), block.every_state())


def test_close_calls_are_close():
    """What the tests above rely on: several labels occur, and a sum in another order gives other labels."""
    emission = EMISSIONS["lock of reals"]
    decoder = decoder_for("affine", emission)
    table, seen = table_and_observations(decoder, emission, episodes=200)
    weights, _ = decoder.weights_and_bias
    other_order = (
        (seen[..., None, :] * weights).astype(np.float32).sum(axis=-1, dtype=np.float32).argmax(axis=-1)
    )
    assert set(np.unique(table)) == {0, 1, 2}
    assert (table != other_order).mean() > 0.01


def test_relabelling_renames_the_labels_and_leaves_the_decoder_as_it_was(make):
    emission = EMISSIONS["lock of reals"]
    decoder = make(emission)
    before, seen = table_and_observations(decoder, emission)
    permutation = np.roll(np.arange(decoder.n_labels), 1)
    renamed = decoder.relabelled(permutation)
    after, _ = table_and_observations(renamed, emission)
    np.testing.assert_array_equal(after, permutation[before])
    np.testing.assert_array_equal(
        renamed.decode(seen[:, 1, 0], 1), permutation[decoder.decode(seen[:, 1, 0], 1)]
    )
    again, _ = table_and_observations(decoder, emission)
    np.testing.assert_array_equal(before, again)


def test_relabelling_twice_is_relabelling_by_one_after_the_other(make):
    emission = EMISSIONS["lock of bits"]
    decoder = make(emission)
    draw = np.random.default_rng(3)
    first, second = draw.permutation(decoder.n_labels), draw.permutation(decoder.n_labels)
    twice, _ = table_and_observations(decoder.relabelled(first).relabelled(second), emission)
    once, _ = table_and_observations(decoder.relabelled(second[first]), emission)
    np.testing.assert_array_equal(twice, once)


def test_every_kind_of_observation_can_be_decoded(make):
    """Bits as bytes or booleans, reals in either precision, lists."""
    decoder = make(LockBits(5))
    bits = LockBits(5).draw(emission_rngs(Streams(4)), 3).every_state()[:, 0].reshape(-1, 8)
    np.testing.assert_array_equal(decoder.decode(bits), decoder.decode(bits.astype(bool)))
    reals = np.random.default_rng(5).standard_normal((7, 8)).astype(np.float32)
    np.testing.assert_array_equal(decoder.decode(reals), decoder.decode(reals.astype(np.float64)))
    np.testing.assert_array_equal(decoder.decode(reals), decoder.decode(reals.tolist()))
    np.testing.assert_array_equal(decoder.decode(reals), decoder.decode(np.asfortranarray(reals)))


def test_bytes_that_are_not_bits_are_numbers(make):
    """As the pixels of a picture."""
    pixels = np.random.default_rng(6).integers(0, 256, (40, 8)).astype(np.uint8)
    decoder = make(LockBits(5))
    np.testing.assert_array_equal(decoder.decode(pixels), decoder.decode(pixels.astype(np.float32)))


def test_an_oracle_clusters_pixels_as_it_does_numbers():
    means = 30 + 190 * np.eye(3, 6, dtype=int)
    states = np.arange(300) % 3
    pixels = (means[states] + np.random.default_rng(7).integers(-20, 20, (300, 6))).astype(np.uint8)
    for oracle in (fu.oracles.KMeans(3, random_state=0), fu.oracles.GMM(3, random_state=0)):
        labels = oracle.fit_predict(pixels)
        assert len(set(zip(states.tolist(), labels.tolist(), strict=True))) == len(set(labels.tolist())) == 3


def test_no_observations_have_no_labels(make):
    assert make(LockBits(5)).decode(np.zeros((0, 8), np.float32)).shape == (0,)


def test_one_observation_must_still_be_a_row(make):
    with pytest.raises(ValueError, match=r"X must have shape \[observations, coordinates\], got \(8,\)"):
        make(LockBits(5)).decode(np.zeros(8, np.float32))


@pytest.mark.parametrize("name", [name for name in DECODERS if name != "any predict"])
def test_observations_of_another_dimension_are_refused(name):
    """Kernels trust their callers: with too few coordinates they would read beyond the arrays."""
    decoder = decoder_for(name, LockBits(5))
    for dtype in (np.float32, np.uint8):
        for dimension in (5, 9, 80):
            with pytest.raises(ValueError, match=f"must have .*8.*{dimension}"):
                decoder.decode(np.zeros((3, dimension), dtype))


# --- each kind against its definition ---


@pytest.mark.parametrize("bits", [True, False])
def test_an_affine_decoder_gives_the_label_of_the_greatest_score(bits):
    draw = np.random.default_rng(6)
    weights, bias, bend = draw.standard_normal((5, 20)), draw.standard_normal(5), draw.standard_normal(5)
    X = (
        draw.integers(0, 2, (200, 20)).astype(np.uint8)
        if bits
        else draw.standard_normal((200, 20)).astype(np.float32)
    )
    exact = X.astype(np.float64)
    np.testing.assert_array_equal(
        AffineDecoder(weights, bias).decode(X), (exact @ weights.T + bias).argmax(axis=1)
    )
    curved = exact @ weights.T + bias + np.square(exact).sum(axis=1)[:, None] * bend
    np.testing.assert_array_equal(AffineDecoder(weights, bias, bend).decode(X), curved.argmax(axis=1))


@pytest.mark.parametrize("bits", [True, False])
def test_a_quadratic_decoder_gives_the_component_of_greatest_density(bits):
    from scipy.stats import multivariate_normal

    draw = np.random.default_rng(7)
    means, log_weights = draw.standard_normal((3, 4)), np.log([0.5, 0.3, 0.2])
    covariances = [np.cov(draw.standard_normal((4, 12))) for _ in range(3)]
    X = (
        draw.integers(0, 2, (100, 4)).astype(np.uint8)
        if bits
        else draw.standard_normal((300, 4)).astype(np.float32)
    )
    densities = [
        multivariate_normal(mean, cov).logpdf(X) for mean, cov in zip(means, covariances, strict=True)
    ]
    expected = (np.stack(densities, axis=1) + log_weights).argmax(axis=1)
    decoder = QuadraticDecoder(means, np.linalg.inv(covariances), log_weights)
    np.testing.assert_array_equal(decoder.decode(X), expected)


def test_a_decoder_for_each_level_uses_that_of_the_level():
    decoders = [
        AffineDecoder(np.eye(3, 8), np.zeros(3)).relabelled(np.roll(np.arange(3), h)) for h in range(6)
    ]
    states = LevelDecoder(decoders).table(fu.LockBernoulli(5).emission.draw(emission_rngs(Streams(8)), 2))
    for h in range(6):
        assert states[0, h].tolist() == states[1, h].tolist() == np.roll(np.arange(3), h).tolist()


@numba.cfunc(CDECODER)
def tells_level(observations, n, dimension, level, labels, context):
    for i in range(n):
        labels[i] = level - 1 + i
    return 0


@pytest.mark.parametrize("emission", ["lock of bits", "lock of reals"])
def test_a_decoder_in_c_for_each_level_is_told_its_level(emission):
    decoder = LevelDecoder([CDecoder(tells_level, 6)] * 6)
    table, seen = table_and_observations(decoder, EMISSIONS[emission])
    np.testing.assert_array_equal(table, np.broadcast_to(np.arange(6)[:, None], table.shape))
    for h in range(6):
        assert set(decoder.decode(seen[:, h, 0], h + 1)) == {h}


def test_a_decoder_of_a_level_may_be_one_for_each_level_itself():
    inner = LevelDecoder([CDecoder(tells_level, 6)] * 6)
    table, _ = table_and_observations(
        LevelDecoder([inner.relabelled(np.arange(6)[::-1])] * 6), EMISSIONS["lock of bits"]
    )
    np.testing.assert_array_equal(table, np.broadcast_to(5 - np.arange(6)[:, None], table.shape))


@pytest.mark.parametrize("n_labels", [0, 1, 257, "3", 2.5, None])
def test_decoders_have_from_2_to_256_labels(n_labels):
    with pytest.raises(ValueError, match=f"n_labels must be an integer from 2 to 256, got {n_labels!r}"):
        PredictDecoder(NearestCentre(np.zeros((1, 2))), n_labels)


def test_levels_without_a_decoder_are_refused():
    with pytest.raises(ValueError, match=r"^decoders must be one for each level, got none$"):
        LevelDecoder([])


def test_built_in_decoders_are_trusted():
    decoder = AffineDecoder(np.eye(3), np.zeros(3))
    assert check_decoder(decoder) is decoder


def test_one_decoder_for_each_level_refuses_what_has_other_levels():
    decoder = LevelDecoder([AffineDecoder(np.eye(3, 6), np.zeros(3))] * 2)
    with pytest.raises(ValueError, match="block must have 2 levels, one for each decoder, got 4"):
        decoder.table(LockBits(3).draw(emission_rngs(Streams(0)), 2))
    for level in (0, 3, -1):
        with pytest.raises(ValueError, match=f"level must be an integer from 1 to 2, got {level}"):
            decoder.decode(np.zeros((1, 6), np.float32), level)


@pytest.mark.parametrize("matrix", [np.roll(np.eye(3), 1, axis=0), 2 * np.eye(2, 3)], ids=["rolled", "cut"])
def test_a_matrix_without_an_offset_is_used(matrix):
    seen, size = np.eye(3, dtype=np.float32), len(matrix)
    for make in (
        lambda offset: AffineDecoder(np.eye(3, size), np.linspace(0, 0.1, 3), matrix=matrix, offset=offset),
        lambda offset: QuadraticDecoder(
            np.eye(3, size), [np.eye(size)] * 3, np.zeros(3), matrix=matrix, offset=offset
        ),
    ):
        assert make(None).decode(seen).tolist() == make(np.zeros(size)).decode(seen).tolist()


def test_an_offset_without_a_matrix_is_refused():
    with pytest.raises(ValueError, match="offset must be left out where there is no matrix"):
        AffineDecoder(np.eye(3), np.zeros(3), offset=np.ones(3))
    with pytest.raises(ValueError, match="offset must be left out where there is no matrix"):
        QuadraticDecoder(np.eye(3), [np.eye(3)] * 3, np.zeros(3), offset=np.ones(3))


def test_predict_is_called_once_for_a_block():
    calls = []

    class Counts(NearestCentre):
        def predict(self, X):
            calls.append(X.shape)
            return super().predict(X)

    PredictDecoder(Counts(np.eye(3, 8)), 3).table(LockBits(5).draw(emission_rngs(Streams(9)), 10))
    assert calls == [(10 * 6 * 3, 8)]

"""Code words with noise on some coordinates, seen through a linear map."""

import numpy as np
import pytest
from scipy import linalg, stats

from fasturl._base.checks import short_repr
from fasturl._base.streams import Streams
from fasturl.problems.blocks import RealBlock
from fasturl.problems.emissions import LARGEST, MappedGaussian
from fasturl.problems.environment import emission_rngs

ALARM = 1e-6
"""False-alarm rate of each statistical test; the seeds are fixed."""
RNG = np.random.default_rng(0)
CODES = RNG.normal(size=(4, 3, 5))
MATRIX = RNG.normal(size=(7, 5))
MAPS = {
    "none": (None, np.eye(5)),
    "hadamard": ("hadamard", linalg.hadamard(8)[:, :5]),
    "any": (MATRIX, MATRIX),
}


def emission(name, noise=0.5, n_noisy=3):
    return MappedGaussian(CODES, noise, n_levels=4, n_noisy=n_noisy, matrix=MAPS[name][0])


def drawn(one, episodes, seed=1):
    return one.draw(emission_rngs(Streams(seed)), episodes)


@pytest.mark.parametrize("name", MAPS)
def test_without_noise_states_show_the_image_of_their_code_words(name):
    for one in (emission(name, noise=0.0), emission(name, n_noisy=0)):
        np.testing.assert_allclose(
            drawn(one, 2).every_state(), np.stack([CODES @ MAPS[name][1].T] * 2), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("name", MAPS)
def test_noise_has_the_covariance_of_its_map(name):
    """The inverse of the map gives independent normals back, in the first coordinates alone."""
    matrix = MAPS[name][1]
    seen = drawn(emission(name), 5_000).every_state() - (CODES @ matrix.T)
    plain = (seen @ np.linalg.pinv(matrix).T)[:, :, 1] / 0.5
    assert np.abs(plain[..., 3:]).max() < 1e-4
    normals = plain[..., :3].reshape(5_000, -1)
    assert stats.kstest(normals.ravel(), "norm").pvalue > ALARM
    low, high = stats.chi2(normals.size).ppf([ALARM / 2, 1 - ALARM / 2])
    assert low < (normals**2).sum() < high
    correlations = np.corrcoef(normals, rowvar=False)[np.triu_indices(12, 1)]
    assert np.abs(correlations).max() < stats.norm.isf(ALARM / 66 / 2) / np.sqrt(5_000)


def test_a_hadamard_matrix_is_applied_as_any_other_is():
    by_butterflies = drawn(MappedGaussian(CODES, 0.5, n_levels=4, matrix="hadamard"), 20)
    by_products = drawn(MappedGaussian(CODES, 0.5, n_levels=4, matrix=linalg.hadamard(8)[:, :5]), 20)
    assert isinstance(by_butterflies, RealBlock)
    np.testing.assert_array_equal(by_butterflies.means, by_products.means)
    np.testing.assert_allclose(by_butterflies.noise, by_products.noise, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MAPS)
def test_observations_do_not_depend_on_the_size_of_blocks(name):
    rngs = emission_rngs(Streams(1))
    parts = [emission(name).draw(rngs, size).every_state() for size in (1, 5, 16, 1)]
    assert drawn(emission(name), 23).every_state().tobytes() == np.concatenate(parts).tobytes()


@pytest.mark.parametrize("name", MAPS)
def test_bounds_hold_every_observation(name):
    low, high = emission(name).bounds()
    seen = drawn(emission(name), 1_000).every_state()
    assert low < seen.min() < seen.max() < high
    still = MappedGaussian(np.ones((1, 1)), 0.0, n_levels=1)
    assert still.bounds() == (0.0, 2.0)
    assert 16 <= emission(name).block_episodes <= 2048


def test_a_subclass_with_another_draw_has_no_bounds():
    class Other(MappedGaussian):
        def draw(self, rngs, episodes):
            return super().draw(rngs, episodes)

    assert Other(CODES, 0.1, n_levels=4).bounds() == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"codes": [1.0]}, "^codes must have shape "),
        ({"codes": [[2 * LARGEST]]}, r"^codes must be in \[-1e\+15, 1e\+15\], got "),
        ({"noise": -1}, r"^noise must be a number in \[0, 1e\+15\], got -1.0$"),
        ({"n_noisy": 6}, "^n_noisy must be an integer from 0 to 5, got 6$"),
        ({"matrix": "hadamar"}, r"^matrix must be one of 'hadamard', got .* \(did you mean hadamard\?\)$"),
        ({"matrix": np.ones((3, 4))}, r"^matrix must have shape \[coordinates .*, 5\], got \(3, 4\)$"),
        ({"matrix": np.full((1, 5), np.nan)}, "^matrix must have entries in .*, got nan"),
        ({"noise": LARGEST, "matrix": 9 * MATRIX}, r"must give observations of at most 1e\+16 .*, got \d"),
        ({"matrix": [["x"]]}, "^matrix must be an array of real numbers, got "),
    ],
    ids=short_repr,
)
def test_other_arguments_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        MappedGaussian(**({"codes": CODES, "noise": 0.1, "n_levels": 4} | arguments))

"""Numbers that a decoder cannot work with."""

import numpy as np
import pytest

from fasturl.decoders import AffineDecoder, QuadraticDecoder

ROOM, PLANE = np.zeros(2), np.eye(2)


@pytest.mark.parametrize(
    ("decoder", "problem"),
    [
        (lambda: AffineDecoder([[1e300, 0.0], [0.0, 1.0]], ROOM), "weights .*, got 1e[+]300"),
        (lambda: AffineDecoder(PLANE, [0.0, -1e39]), "bias .*, got 1e[+]39"),
        (lambda: AffineDecoder(PLANE, ROOM, [1e39, 0.0]), "curvature .*, got 1e[+]39"),
        (lambda: AffineDecoder(PLANE, ROOM, None, np.full((2, 3), 1e39)), "matrix .*, got 1e[+]39"),
        (lambda: AffineDecoder(PLANE, ROOM, None, PLANE, [1e39, 0.0]), "offset .*, got 1e[+]39"),
        (lambda: QuadraticDecoder([[1e39]] * 2, np.ones((2, 1, 1)), ROOM), "means .*, got 1e[+]39"),
        (
            lambda: QuadraticDecoder(np.zeros((2, 1)), np.full((2, 1, 1), 1e78), ROOM),
            "roots of .*, got 1e[+]39",
        ),
        (lambda: QuadraticDecoder(PLANE, [np.full((2, 2), np.inf)] * 2, ROOM), "precisions must be finite"),
        (lambda: QuadraticDecoder([[1e38]] * 2, np.full((2, 1, 1), 1e4), ROOM), "roots of .*, got 1e[+]40"),
        (lambda: QuadraticDecoder(PLANE, [PLANE] * 2, [0.0, 1e39]), "log_weights .*, got 1e[+]39"),
    ],
)
def test_numbers_that_single_precision_cannot_hold_are_refused(decoder, problem):
    with pytest.raises(ValueError, match=problem):
        decoder()


def test_a_label_that_is_never_given_may_have_a_bias_of_minus_infinity():
    assert AffineDecoder(PLANE, [-np.inf, 0.0]).decode([[1.0, 0.0]]).tolist() == [1]

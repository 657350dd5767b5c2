"""Numbers that a decoder cannot work with."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from fasturl.decoders import AffineDecoder, QuadraticDecoder, SupportVectorDecoder

ROOM, PLANE = np.zeros(2), np.eye(2)


@pytest.mark.parametrize(
    ("decoder", "problem"),
    [
        (lambda: AffineDecoder([[1e300, 0.0], [0.0, 1.0]], ROOM), "weights .*, got 1e[+]300"),
        (lambda: AffineDecoder([[np.inf, 0.0], [0.0, 1.0]], ROOM), "weights .*, got inf"),
        (
            lambda: AffineDecoder([[3e38, 3e38], [0.0, 1.0]], ROOM),
            "sums of the sizes of weights .*, got 6e[+]38",
        ),
        (lambda: AffineDecoder([[3e38, 0.0], [0.0, 1.0]], [3e38, 0.0]), "sums of .*, got 6e[+]38"),
        (lambda: AffineDecoder(PLANE, [0.0, np.inf]), "bias .*, got inf"),
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


def classifier(**others):
    """What a support vector decoder reads off a fitted classifier of two classes on a line, with others in
    place of some."""
    fitted = {
        "kernel": "rbf",
        "classes_": np.arange(2),
        "support_vectors_": np.array([[0.0], [1.0]]),
        "n_support_": np.array([1, 1]),
        "dual_coef_": np.array([[-1.0, 1.0]]),  # the second class comes first
        "intercept_": np.zeros(1),
        "_gamma": 1.0,
    }
    return SimpleNamespace(**fitted | others)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (SVC(), r"classifier must be a fitted sklearn.svm.SVC, got SVC\(\), which has no classes_"),
        ("svc", "classifier must be a fitted sklearn.svm.SVC, got 'svc', which has no kernel"),
        (classifier(kernel="linear"), "classifier must have the kernel 'rbf', got 'linear'"),
        (
            classifier(support_vectors_=[[0.0], [np.nan]]),
            "support_vectors_ of classifier .*, got nan",
        ),
        (classifier(dual_coef_=np.ones((1, 3))), r"dual_coef_ of .* of shape \[1, 2\], got shape \[1, 3\]"),
        (classifier(dual_coef_=[[np.inf, 1.0]]), "dual_coef_ of classifier must be finite, got inf"),
        (classifier(intercept_=np.zeros(3)), r"intercept_ of .* of shape \[1\], got shape \[3\]"),
        (
            classifier(n_support_=[5, 9]),
            r"n_support_ of .* 2 counts of 2 vectors, got \[5, 9\]",
        ),
        (classifier(n_support_=[3, -1]), r"must be 2 counts of 2 vectors, got \[3, -1\]"),
        (classifier(_gamma=-1.0), "_gamma of classifier must be .*, got -1"),
    ],
)
def test_a_classifier_that_does_not_fit_together_is_refused(given, problem):
    """Votes would be read off beyond the end of its vectors."""
    assert SupportVectorDecoder([[1.0]], [0.0], classifier()).decode([[0.1], [0.9]]).tolist() == [0, 1]
    with pytest.raises(ValueError, match=problem):
        SupportVectorDecoder([[1.0]], [0.0], given)

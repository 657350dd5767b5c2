"""Checks of single arguments: the clean value, or an error that names argument, allowed range and what was
given."""

import math
from fractions import Fraction

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from fasturl._base import checks


@hypothesis.given(st.integers(1, 100))
def test_integers_in_range_pass(value):
    for given in (value, np.int64(value), np.uint8(value)):
        clean = checks.integer("n", given, least=1, most=100)
        assert clean == value
        assert type(clean) is int


@pytest.mark.parametrize("value", [0, 101, -1, 1.0, 2.5, "3", None, True, [1], np.nan])
def test_other_integers_are_refused(value):
    with pytest.raises(ValueError, match=r"^n must be an integer from 1 to 100, got ") as error:
        checks.integer("n", value, least=1, most=100)
    assert str(error.value).endswith(repr(value))


def test_an_integer_without_upper_limit_says_so():
    with pytest.raises(ValueError, match=r"^n must be an integer >= 1, got 0$"):
        checks.integer("n", 0, least=1)


@pytest.mark.parametrize("value", [10**12 + 1, 2**63, 10**400, 10**5000], ids=checks.short_repr)
def test_counts_beyond_any_machine_are_refused(value):
    with pytest.raises(ValueError, match=r"^n must be an integer from 1 to 1000000000000, got "):
        checks.integer("n", value, least=1)
    assert checks.integer("n", value, least=1, most=math.inf) == value


@hypothesis.given(st.floats(0, 1))
def test_reals_in_range_pass(value):
    for given in (value, np.float64(value)):
        clean = checks.real("x", given, least=0, most=1)
        assert clean == value
        assert type(clean) is float


@pytest.mark.parametrize("given", [Fraction(1, 2), np.float32(0.5), np.array(0.5)])
def test_whatever_is_a_real_number_becomes_a_float(given):
    clean = checks.real("x", given, least=0, most=1)
    assert (clean, type(clean)) == (0.5, float)


OUTSIDE = [-0.1, 1.1, np.nan, np.inf, -np.inf, 10**400, -(10**5000)]
NO_NUMBER = [
    None,
    int,
    {},
    True,
    np.True_,
    np.array(True),
    "0.5",
    b"0.5",
    np.array("0.5"),
    1j,
    np.complex128(0.5),
]
NOT_ONE = [[0.5], np.array([0.5, 0.5]), [[0.5], [0.5, 0.5]]]


@pytest.mark.parametrize("value", [*OUTSIDE, *NO_NUMBER, *NOT_ONE], ids=checks.short_repr)
def test_other_reals_are_refused(value):
    with pytest.raises(ValueError, match=r"^x must be a number in \[0, 1\], got "):
        checks.real("x", value, least=0, most=1)


def test_an_open_end_excludes_the_limit():
    assert checks.real("x", 1, least=0, most=1, open_left=True) == 1.0
    with pytest.raises(ValueError, match=r"^x must be a number in \(0, 1\], got 0.0$"):
        checks.real("x", 0, least=0, most=1, open_left=True)
    with pytest.raises(ValueError, match=r"^x must be a number in \[0, 1\), got 1.0$"):
        checks.real("x", 1, least=0, most=1, open_right=True)


def test_no_limit_still_excludes_infinity():
    assert checks.real("x", 1e300) == 1e300
    with pytest.raises(ValueError, match=r"^x must be a number in \[0, inf\), got inf$"):
        checks.real("x", np.inf, least=0)


def test_a_choice_is_one_of_the_allowed():
    assert checks.choice("colour", "red", ("red", "blue")) == "red"
    with pytest.raises(ValueError, match=r"^colour must be one of 'red', 'blue', got 'green'$"):
        checks.choice("colour", "green", ("red", "blue"))


def test_nearly_one_of_the_allowed_is_told_which():
    with pytest.raises(
        ValueError, match=r"^oracle must be one of 'kmeans', 'gmm', got 'kmean' \(did you mean kmeans\?\)$"
    ):
        checks.choice("oracle", "kmean", ("kmeans", "gmm"))


@pytest.mark.parametrize(
    "value", [None, 1, b"red", ["red"], np.array(["red", "blue"])], ids=checks.short_repr
)
def test_a_choice_is_a_text(value):
    with pytest.raises(ValueError, match=r"^colour must be one of 'red', 'blue', got "):
        checks.choice("colour", value, ("red", "blue"))


@pytest.mark.parametrize("value", [1, [0.5, 2], [[True]], np.zeros((2, 0), np.float32), range(3)])
def test_an_array_of_real_numbers_passes_as_it_is(value):
    array = checks.real_array("table", value)
    assert array.dtype == np.asarray(value).dtype
    np.testing.assert_array_equal(array, np.asarray(value))


@pytest.mark.parametrize(
    "value",
    [None, "x", {}, ["a"], [[None]], [1j], [10**400], [Fraction(1, 2)], [[1], [1, 2]]],
    ids=checks.short_repr,
)
def test_an_array_of_other_things_is_refused(value):
    with pytest.raises(ValueError, match=r"^table must be an array of real numbers, got "):
        checks.real_array("table", value)


def test_probabilities_sum_to_1_along_the_last_axis():
    assert checks.probabilities("chances", [[1, 0], [0, 1]], "outcomes").tolist() == [[1.0, 0.0], [0.0, 1.0]]
    expected = (
        r"^chances must be probabilities that sum to 1 over outcomes, got entries 0.1..0.8 with sums 0.5..1$"
    )
    with pytest.raises(ValueError, match=expected):
        checks.probabilities("chances", [[0.4, 0.1], [0.2, 0.8]], "outcomes")


@pytest.mark.parametrize(
    "value", [[1.5, -0.5], [np.nan, 1.0], [np.inf, -np.inf], [1e308, 1e308], [0.5, 0.5 + 1e-8]]
)
def test_what_is_not_a_distribution_is_refused(value):
    with pytest.raises(
        ValueError,
        match=r"^chances must be probabilities that sum to 1 over outcomes, got entries .* with sums ",
    ):
        checks.probabilities("chances", value, "outcomes")


def test_long_values_are_shown_short():
    assert checks.short_repr("word") == "'word'"
    assert len(checks.short_repr("word" * 1000)) < 200
    assert checks.short_repr(10**5000) == "one of type int"


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        (3, [0, 1, 2]),
        (np.int64(2), [0, 1]),
        ([5, 3], [5, 3]),
        (range(1000, 1003), [1000, 1001, 1002]),
        (np.array([4, 1]), [4, 1]),
    ],
)
def test_seeds_are_a_count_or_a_sequence(given, clean):
    assert checks.seeds(given) == clean


@pytest.mark.parametrize("value", [0, 2**64, 10**400])
def test_a_seed_may_be_of_any_size(value):
    assert checks.seed("seed", value) == value
    assert checks.seeds([value]) == [value]


def test_seeds_may_come_from_a_generator():
    assert checks.seeds(seed**2 for seed in range(3)) == [0, 1, 4]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "seeds must be an integer >= 1, got 0"),
        (-3, "seeds must be an integer >= 1, got -3"),
        (1.5, "seeds must be an integer >= 1, got 1.5"),
        ("3", "seeds must be an integer >= 1, got '3'"),
        (b"3", "seeds must be an integer >= 1, got b'3'"),
        ([1, -2], "seeds must be an integer >= 0, got -2"),
        ([1, 2.0], "seeds must be an integer >= 0, got 2.0"),
        ([4, 1, 4], "seeds must be distinct, got 4 more than once"),
        ([], "seeds must name at least one seed, got none"),
    ],
)
def test_other_seeds_are_refused(given, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole message is compared below
        checks.seeds(given)
    assert str(error.value) == message


def test_the_one_seed_of_many_that_comes_twice_is_found():
    with pytest.raises(ValueError, match=r"^seeds must be distinct, got 99999 more than once$"):
        checks.seeds([*range(100_000), 99_999])


MANY = [
    range(10**9, 0, -1),
    range(0, 10**9, 10),
    range(10**7 + 1),
    range(10**40),
    range(10**40, -1, -3),
    10**7 + 1,
]


@pytest.mark.parametrize("given", MANY)
def test_too_many_seeds_are_counted_without_going_through_them(given):
    with pytest.raises(ValueError, match=r"^seeds must be at most 10,000,000 in number, got "):
        checks.seeds(given)


@pytest.mark.parametrize(
    "given", [range(0, 10**9, 10**8), range(10**40, 10**40 + 3), range(10**9, 0, -(10**8))]
)
def test_few_seeds_may_lie_far_apart(given):
    assert checks.seeds(given) == list(given)


@pytest.mark.parametrize("wanted", ["0:99999999999", "5:1" + "0" * 40, "99999999999", "1" + "0" * 400])
def test_more_seeds_than_anybody_can_run_are_refused_at_once(wanted):
    with pytest.raises(ValueError, match=r"^seeds must be .*, got "):
        checks.seeds(checks.parse_seeds(wanted))


class Broken:
    def __repr__(self):
        raise RuntimeError("no picture of me")


def test_a_value_that_cannot_be_shown_is_told_by_its_type():
    assert checks.short_repr(Broken()) == "one of type Broken"
    assert checks.short_repr(10**5000) == "one of type int"
    assert "\n" not in checks.short_repr(np.eye(3))
    assert len(checks.short_repr("x" * 10**6)) < 200


@pytest.mark.parametrize("value", [(0, 1), [0.0, 1.0], np.array([0, 1]), (Fraction(0), np.float32(1))])
def test_a_range_becomes_two_floats(value):
    clean = checks.ends("reward_range", value)
    assert clean == (0.0, 1.0)
    assert [type(end) for end in clean] == [float, float]


@pytest.mark.parametrize(
    "value", [3, None, (), (1,), (1, 2, 3), (2, 1), ("a", "b"), "ab", (0, np.nan), (None, 1)]
)
def test_what_is_no_range_is_refused(value):
    with pytest.raises(ValueError, match=r"^reward_range must have two ends, the lower first, got "):
        checks.ends("reward_range", value)


@pytest.mark.parametrize("value", [np.int16(3), np.float32(0.5), np.True_, np.str_("left")])
def test_scalars_of_numpy_become_pythons_own(value):
    assert checks.plain(value) == value
    assert type(checks.plain(value)) in (int, float, bool, str)
    assert checks.plain([value]) == [value]

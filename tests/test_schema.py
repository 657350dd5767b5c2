"""Declared settings: written once, checked and made clean everywhere."""

import json
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, Birch, KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

import fasturl as fu
from fasturl._base.schema import (
    REQUIRED,
    Declared,
    Range,
    Setting,
    clean_settings,
    refuse_unknown,
    settings_of,
)


@dataclass(frozen=True)
class Corridor(Declared):
    length: int = fu.setting(help="Number of steps.", least=1, unit="steps")
    slip: float = fu.setting(0.25, least=0, below=1, help="Chance that nothing happens.")
    scale: float | None = fu.setting(None, above=0, none="that of the length", help="A scale.")
    start: str = fu.setting("left", choices=("left", "middle", "right"), help="Where it starts.")
    open_end: bool = fu.setting(False, help="Whether it ends.")
    shift: int = fu.setting(0, help="Any integer.")
    title: str = fu.setting("none", help="Any text.")


def test_a_class_declares_its_settings_once():
    declared = settings_of(Corridor)
    assert list(declared) == ["length", "slip", "scale", "start", "open_end", "shift", "title"]
    assert [one.kind for one in declared.values()] == [int, float, float, str, bool, int, str]
    assert [one.required for one in declared.values()] == [True] + [False] * 6
    assert [one.optional for one in declared.values()] == [False, False, True] + [False] * 4
    assert not any(one.guessed for one in declared.values())
    length = declared["length"]
    assert (length.name, length.help, length.unit, length.least) == ("length", "Number of steps.", "steps", 1)


def test_defaults_and_ranges_are_told_in_words():
    declared = settings_of(Corridor)
    assert [one.default_text for one in declared.values()] == [
        *("required", "0.25", "that of the length", "left", "False", "0", "none")
    ]
    assert [one.range_text for one in declared.values()] == [
        *(">= 1", ">= 0 and < 1", "> 0", "left, middle or right", "", "", "")
    ]
    assert Setting("x", str, choices=("one",)).range_text == "one"
    assert Setting("x", str, choices=("one", "two")).range_text == "one or two"
    assert Setting("x", float, least=0, most=1).range_text == ">= 0 and <= 1"
    assert Setting("x", int, least=0, most=2**32 - 1).range_text == ">= 0 and <= 4294967295"
    assert repr(REQUIRED) == "required"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length": 0}, "length must be an integer >= 1, got 0"),
        ({"length": 2.5}, "length must be an integer >= 1, got 2.5"),
        ({"length": "5"}, "length must be an integer >= 1, got '5'"),
        ({"length": True}, "length must be an integer >= 1, got True"),
        ({"slip": 1}, "slip must be a number in [0, 1), got 1.0"),
        ({"slip": None}, "slip must be a number in [0, 1), got None"),
        ({"scale": 0}, "scale must be a number in (0, inf), got 0.0"),
        (
            {"start": "rigth"},
            "start must be one of 'left', 'middle', 'right', got 'rigth' (did you mean right?)",
        ),
        ({"open_end": 1}, "open_end must be True or False, got 1"),
        ({"shift": 0.5}, "shift must be an integer, got 0.5"),
        ({"title": 3}, "title must be a text, got 3"),
    ],
)
def test_what_is_outside_its_range_is_refused_in_one_line(settings, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        Corridor(**{"length": 3} | settings)
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint64, np.int64])
def test_integers_of_numpy_become_pythons(kind):
    corridor = Corridor(kind(7), shift=kind(3))
    assert (corridor.length, type(corridor.length), type(corridor.shift)) == (7, int, int)
    assert type(fu.URL(batch=kind(100)).batch) is int
    assert type(fu.PCID(samples_per_level=kind(100)).samples_per_level) is int
    assert type(fu.LockBernoulli(kind(5)).horizon) is int
    assert type(fu.URL(batch=np.int16(300)).batch) is int


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), np.array(0.5), Fraction(1, 2)])
def test_reals_of_any_kind_become_floats(value):
    assert (Corridor(3, value).slip, type(Corridor(3, value).slip)) == (0.5, float)
    assert type(Corridor(3, open_end=np.True_).open_end) is bool
    assert type(Corridor(3, start=np.str_("left")).start) is str
    json.dumps(Corridor(np.int64(3), value, value).settings())


def test_negative_numbers_are_integers_where_nothing_is_said_against_them():
    assert Corridor(3, shift=-5).shift == -5


class Broken:
    def __repr__(self):
        raise RuntimeError("no picture of me")


@pytest.mark.parametrize(
    ("limits", "value", "allowed"),
    [
        ({"above": 0}, 0, "an integer >= 1"),
        ({"below": 5}, 5, "an integer <= 4"),
        ({"above": 0.5, "below": 4.5}, 5, "an integer from 1 to 4"),
        ({"least": 1.5, "most": 4.5}, 1, "an integer from 2 to 4"),
        ({"above": 0, "least": 2}, 1, "an integer >= 2"),
        ({"above": 0.0, "least": 0.25}, 0.125, r"a number in \[0.25, inf\)"),
        ({"above": 0.25, "least": 0.25}, 0.25, r"a number in \(0.25, inf\)"),
        ({"below": 1.0, "most": 1.0}, 1.0, r"a number in \(-inf, 1\)"),
        ({"below": 2.0, "most": 1.0}, 1.5, r"a number in \(-inf, 1\]"),
    ],
)
def test_every_limit_counts_whatever_the_kind_of_number(limits, value, allowed):
    one = Setting("size", type(value), **limits)
    with pytest.raises(ValueError, match=f"size must be {allowed}, got {value}"):
        one.check(value)


@pytest.mark.parametrize("name", ["length", "slip", "start", "open_end", "title"])
def test_a_value_that_cannot_be_shown_is_refused_as_any_other(name):
    with pytest.raises(ValueError, match=f"^{name} must be .*, got one of type Broken$"):
        Corridor(**{"length": 3} | {name: Broken()})
    for learner in (fu.OracleQ, fu.QLearning):
        with pytest.raises(ValueError, match=r"^learning_rate must be .*, got one of type Broken$"):
            learner(learning_rate=Broken())
    with pytest.raises(ValueError, match=r"^agent must be .*, got one of type Broken$"):
        fu.train(fu.LockBernoulli(2), Broken(), 5)
    with pytest.raises(ValueError, match=r"^env must be .*, got one of type Broken$"):
        fu.train(Broken(), fu.OracleQ(), 5)


def test_a_field_that_is_not_declared_is_named():
    @dataclass(frozen=True)
    class Half:
        length: int = fu.setting(3, help="Number of steps.")
        width: int = 2

    with pytest.raises(
        ValueError, match=r"width of Half is not declared: write it as setting\(default, help"
    ):
        settings_of(Half)


def test_a_class_that_is_no_dataclass_is_told_what_is_missing():
    class Plain:
        length: int = fu.setting(3, help="Number of steps.")

    with pytest.raises(ValueError, match="Plain is no dataclass: write @dataclass directly above the class"):
        settings_of(Plain)


def test_a_range_has_two_ends_above_zero():
    assert Range(1, 10).whole
    assert not Range(0.1, 10).whole
    for ends in ((0, 1), (2, 1), (-1, 1), (1, np.inf)):
        with pytest.raises(ValueError, match="a range must have ends 0 < low <= high, got"):
            Range(*ends)


def test_a_name_that_is_not_declared_is_refused_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"^lenght is not a setting of corridor \(did you mean length\?\); it has"
    ):
        refuse_unknown("corridor", ["lenght"], settings_of(Corridor))
    with pytest.raises(ValueError, match=r"^x is not a setting of nothing; it has none$"):
        refuse_unknown("nothing", ["x"], [])


# --- classes of somebody else's ---


@pytest.mark.parametrize(
    "estimator",
    [Birch, KMeans, MiniBatchKMeans, GaussianMixture, BayesianGaussianMixture, DBSCAN, SpectralClustering],
)
def test_estimators_of_scikit_learn_declare_by_their_defaults(estimator):
    declared = settings_of(estimator)
    assert {name: one.default for name, one in declared.items() if not one.required} == {
        name: value for name, value in estimator().get_params().items() if not declared[name].required
    }
    for one in declared.values():
        assert one.guessed
        for value in (None, 3, 0.5, "auto", True, np.float32(2)):  # they check their settings themselves
            assert one.check(value) == value
        assert isinstance(one.default_text, str)
        assert one.range_text == ""
    assert clean_settings(estimator, {"anything": 3}) == {"anything": 3}


def test_the_kind_of_a_setting_is_guessed_from_a_number_and_not_from_a_text():
    """`n_init="auto"` may be a number as well."""
    declared = settings_of(KMeans)
    kinds = {name: declared[name].kind for name in ("n_clusters", "tol", "copy_x", "n_init", "random_state")}
    assert kinds == {"n_clusters": int, "tol": float, "copy_x": bool, "n_init": None, "random_state": None}


class Annotated:
    def __init__(self, size: int, rate: "float | None" = None, mode: "Unknown" = "fast"):  # noqa: F821
        pass


def test_annotations_of_an_init_are_read_where_they_can_be():
    declared = settings_of(Annotated)
    assert declared["size"].kind is int
    assert declared["size"].required
    with pytest.raises(ValueError, match="size must be an integer, got 'x'"):
        declared["size"].check("x")
    assert declared["mode"].check(7) == 7


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (lambda self, size: None, "size of Other is not declared: give it a type or a default"),
        (lambda self, *sizes: None, "sizes of Other is not declared: its __init__ must name every setting"),
        (lambda self, **sizes: None, "sizes of Other is not declared: its __init__ must name every setting"),
        (lambda self, size=1, /: None, "size of Other is not declared: its __init__ must name every setting"),
    ],
)
def test_a_parameter_that_tells_nothing_is_named(init, message):
    with pytest.raises(ValueError, match=message):
        settings_of(type("Other", (), {"__init__": init}))

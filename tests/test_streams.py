"""Named streams: independent of each other, the same for the same seed."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fasturl._base.streams import NAMES, Streams
from fasturl._kernels import rng

ALARM = 1e-6
"""False-alarm rate of each statistical test below; the seeds are fixed."""


def uniforms(stream, count=20_000):
    out = np.empty(count)
    rng.fill_uniforms(stream, out)
    return out


def independent(first, second):
    """Chi-square on an 8 x 8 table of pairs."""
    cells = 8 * (8 * first).astype(int) + (8 * second).astype(int)
    return stats.chi2_contingency(np.bincount(cells, minlength=64).reshape(8, 8)).pvalue > ALARM


@pytest.mark.parametrize("seed", [0, 7, 2**40, 2**64 - 1, 2**64, 2**80])
def test_streams_are_children_of_numpys_seed_sequence(seed):
    child = np.random.SeedSequence(seed).spawn(len(NAMES))
    grandchild = child[NAMES.index("evaluation")].spawn(len(NAMES))
    for position, name in enumerate(NAMES):
        assert (
            Streams(seed).rows(name, 4).ravel().tolist()
            == child[position].generate_state(16, np.uint64).tolist()
        )
        assert (
            Streams(seed).evaluation().row(name).tolist()
            == grandchild[position].generate_state(4, np.uint64).tolist()
        )
        assert Streams(seed).generator(name).integers(2**62) == np.random.default_rng(
            child[position]
        ).integers(2**62)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_stream(name):
    np.testing.assert_array_equal(Streams(7).row(name), Streams(7).row(name))


def test_no_two_streams_of_a_hundred_seeds_are_the_same():
    rows = {tuple(Streams(seed).row(name)) for seed in range(100) for name in NAMES}
    assert len(rows) == 100 * len(NAMES)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(NAMES, 2)))
def test_streams_of_different_names_are_independent(first, second):
    streams = Streams(0)
    assert independent(uniforms(streams.row(first)), uniforms(streams.row(second)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1, 999])
def test_streams_of_neighbouring_seeds_are_independent(name, seed):
    assert independent(uniforms(Streams(seed).row(name)), uniforms(Streams(seed + 1).row(name)))


def test_the_first_draw_is_uniform_over_seeds():
    first = [uniforms(Streams(seed).row("dynamics"), 1)[0] for seed in range(2_000)]
    assert stats.kstest(first, "uniform").pvalue > ALARM


def test_a_stream_goes_on_where_it_was_left():
    streams = Streams(3)
    np.testing.assert_array_equal(
        np.concatenate([uniforms(streams.row("policy"), 5), uniforms(streams.row("policy"), 5)]),
        uniforms(Streams(3).row("policy"), 10),
    )


def test_drawing_from_one_stream_does_not_move_another():
    streams = Streams(3)
    uniforms(streams.row("policy"), 100)
    np.testing.assert_array_equal(
        uniforms(streams.row("dynamics"), 5), uniforms(Streams(3).row("dynamics"), 5)
    )


def test_asking_for_streams_in_another_order_changes_nothing():
    forwards, backwards = Streams(5), Streams(5)
    there = {name: forwards.row(name).tolist() for name in NAMES}
    back = {name: backwards.row(name).tolist() for name in reversed(NAMES)}
    assert there == back


def test_lanes_are_independent_generators():
    lanes = Streams(0).rows("emission", 4)
    assert lanes.shape == (4, 4)
    assert lanes.dtype == np.uint64
    for first, second in itertools.combinations(lanes, 2):
        assert independent(uniforms(first.copy()), uniforms(second.copy()))


def test_evaluation_has_a_set_of_its_own():
    training, evaluation = Streams(2), Streams(2).evaluation()
    for name in NAMES:
        assert training.row(name).tolist() != evaluation.row(name).tolist()
        assert Streams(2).evaluation().row(name).tolist() == evaluation.row(name).tolist()


def test_a_numpy_generator_of_a_stream_is_the_same_each_time():
    assert Streams(1).generator("oracle").random() == Streams(1).generator("oracle").random()
    assert Streams(1).generator("oracle").random() != Streams(2).generator("oracle").random()


def test_seeds_beyond_64_bits_are_seeds_too():
    assert Streams(2**80).row("instance").tolist() != Streams(2**80 + 1).row("instance").tolist()


def test_whatever_is_an_integer_is_a_seed():
    assert (
        Streams(np.int64(3)).row("instance").tolist()
        == Streams(np.uint8(3)).row("instance").tolist()
        == Streams(3).row("instance").tolist()
    )


@pytest.mark.parametrize("seed", [1.7, 1.0, -1, np.int64(-1), "1", None, np.array([1, 2])], ids=repr)
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(ValueError, match=r"^seed must be an integer >= 0, got "):
        Streams(seed)


@pytest.mark.parametrize("name", ["wind", "luck", "", None])
@pytest.mark.parametrize("ask", [Streams.row, Streams.generator])
def test_an_unknown_name_is_an_error_that_tells_the_names(ask, name):
    with pytest.raises(
        ValueError, match=f"^name must be one of 'instance', 'dynamics', .*'evaluation', got {name!r}$"
    ):
        ask(Streams(0), name)


@pytest.mark.parametrize(("first", "second"), [(1, 4), (4, 1), (4, 2)])
def test_a_stream_keeps_its_number_of_generators(first, second):
    """The first of four generators is the one that a stream of one would be: the same numbers would be drawn
    twice."""
    streams = Streams(0)
    streams.rows("emission", first)
    with pytest.raises(ValueError, match=f"^generators of 'emission' must be {first} as before, got {second}$"):
        streams.rows("emission", second)
    streams.rows("emission", first)

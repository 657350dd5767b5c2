"""A block of observations that does not fit the Block MDP, or holds what no kernel can read, is refused in
one line wherever it enters: in training, on observations, in evaluation and in Gymnasium's environments."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import ObservationAgent
from fasturl.envs import ScalarEnv, VectorEnv, rollout
from fasturl.problems.blocks import BitBlock, Block, ObservationBlock, RealBlock
from fasturl.problems.emissions import Bernoulli, Emission, Gaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits

HORIZON, N_STATES, DIMENSION = 4, 3, 6
LEVELS = HORIZON + 1
CODES = np.eye(N_STATES, DIMENSION, dtype=np.float32)


@dataclass
class Draws(Emission):
    """An emission whose `draw` gives what `make(episodes)` says."""

    make: object
    discrete: bool = False
    n_levels, n_states, dimension = LEVELS, N_STATES, DIMENSION

    def draw(self, rngs, episodes):
        return self.make(episodes)


def problem(emission):
    transitions = np.full((HORIZON, N_STATES, 2, N_STATES), 1 / N_STATES)
    return fu.BlockMDP(transitions, np.full((HORIZON, N_STATES, 2), 0.5), emission=emission)


def shown(levels=LEVELS, states=N_STATES, dimension=DIMENSION, less=0):
    """Observations of every state, right or of another size."""
    return lambda episodes: ObservationBlock(
        np.broadcast_to(
            np.eye(states, dimension, dtype=np.float32), (episodes - less, levels, states, dimension)
        )
    )


def reals(levels=LEVELS, states=N_STATES, dimension=DIMENSION, **changes):
    def make(episodes):
        means = np.repeat(np.eye(states, dimension, dtype=np.float32)[:, :, None], levels, axis=2)
        parts = {"noise": np.zeros((episodes, dimension, levels), np.float32), "means": means}
        return RealBlock(
            **parts | {"n_informative": dimension} | {k: v(episodes) for k, v in changes.items()}
        )

    return make


def bits(levels=LEVELS, states=N_STATES, dimension=DIMENSION, n_words=1, word=1):
    return lambda episodes: BitBlock(np.full((episodes, levels, states, n_words), word, np.uint64), dimension)


WRONG_SIZES = {
    "too few levels": ({"levels": 2}, "n_levels is 5, got 2"),
    "too many levels": ({"levels": 9}, "n_levels is 5, got 9"),
    "too few states": ({"states": 1}, "n_states is 3, got 1"),
    "too many states": ({"states": 5}, "n_states is 3, got 5"),
    "too few coordinates": ({"dimension": 4}, "dimension is 6, got 4"),
    "too many coordinates": ({"dimension": 100}, "dimension is 6, got 100"),
}


@pytest.mark.parametrize("wrong", WRONG_SIZES)
@pytest.mark.parametrize("make", [shown, reals, bits])
def test_a_block_of_another_size_is_refused(make, wrong):
    sizes, message = WRONG_SIZES[wrong]
    if make is bits and "dimension" in sizes:
        sizes = {**sizes, "n_words": -(-sizes["dimension"] // 64)}
    env = problem(Draws(make(**sizes), discrete=make is bits))
    whole = f"^draw of Draws must give a block whose {message}"
    with pytest.raises(ValueError, match=whole):
        fu.train(env, fu.URL(), 100)
    with pytest.raises(ValueError, match=whole):
        ScalarEnv(env).reset(seed=0)
    with pytest.raises(ValueError, match=whole):
        VectorEnv(env, num_envs=3).reset(seed=0)
    with pytest.raises(ValueError, match=whole):
        rollout(env, env.optimal_policy(), episodes=3)
    if make is bits:
        with pytest.raises(ValueError, match=whole):
            fu.train(env, fu.OracleQ(), 100, sees="observation")


def test_a_block_of_fewer_episodes_is_refused():
    with pytest.raises(ValueError, match=r"a block whose n_episodes is \d+, got \d+"):
        fu.train(problem(Draws(shown(less=1))), fu.URL(), 100)


def one(value):
    """An array of zeros with one wrong entry in the place of the noise."""

    def noise(episodes):
        array = np.zeros((episodes, DIMENSION, LEVELS), np.float32)
        array[-1, -1, -1] = value
        return array

    return noise


WRONG_CONTENTS = {
    "no block": (
        False,
        lambda episodes: "noise",
        "a block, made by fu.emissions.ObservationBlock of reals or fu.emissions.packed of bits, got 'noise'",
    ),
    "noise of doubles": (
        False,
        reals(noise=lambda episodes: np.zeros((episodes, DIMENSION, LEVELS))),
        "noise and means of float32, got float64 and float32",
    ),
    "noise that is none": (False, reals(noise=one(np.nan)), "finite numbers, got nan or infinity"),
    "infinite noise": (False, reals(noise=one(np.inf)), "finite numbers, got nan or infinity"),
    "a tail with means": (
        False,
        reals(n_informative=lambda episodes: 1),
        "means of 0 from coordinate n_informative = 1 on, got others",
    ),
    "observations that are none": (
        False,
        lambda episodes: ObservationBlock(np.full((episodes, LEVELS, N_STATES, DIMENSION), np.nan)),
        "finite numbers, got nan",
    ),
    "observations beyond float32": (
        False,
        lambda episodes: ObservationBlock(np.full((episodes, LEVELS, N_STATES, DIMENSION), 1e300)),
        "finite numbers, got 1e+300",
    ),
    "too few words": (True, bits(n_words=0), "words uint64[E, L, S, 1] for 6 bits, got uint64 of shape ("),
    "bits beyond the dimension": (
        True,
        bits(word=64),
        "words of 6 bits, got some with more bits that are set",
    ),
    "reals for bits": (
        True,
        lambda episodes: ObservationBlock(np.full((episodes, LEVELS, N_STATES, DIMENSION), 0.5)),
        "zeros and ones, got 0.5",
    ),
}


@pytest.mark.parametrize("case", WRONG_CONTENTS)
def test_a_block_that_holds_what_kernels_cannot_read_is_refused(case):
    discrete, make, message = WRONG_CONTENTS[case]
    with pytest.raises(ValueError, match="^" + re.escape(f"draw of Draws must give {message}")):
        fu.train(problem(Draws(make, discrete)), fu.URL(), 100)


def test_whether_levels_are_independent_is_true_or_false():
    """The text "no" is true to Python, and values would be computed as if levels were independent."""

    class Unsure(fu.emissions.Emission):
        discrete, n_levels, n_states, dimension = False, 3, 2, 2
        independent_levels = "no"

        def draw(self, rngs, episodes):
            return fu.emissions.ObservationBlock(np.zeros((episodes, 3, 2, 2), np.float32))

    with pytest.raises(ValueError, match="independent_levels of Unsure must be True or False, got 'no'"):
        _ = Unsure().has_independent_levels


def test_arrays_of_other_axes_make_no_block():
    with pytest.raises(ValueError, match=r"noise of a block must be an array of 3 axes, got shape \(2, 3\)"):
        RealBlock(np.zeros((2, 3), np.float32), np.zeros((1, 3, 2), np.float32), 0)
    with pytest.raises(ValueError, match=r"shape \[E, 3 or more, 2\] as its means have, got \(2, 3, 1\)"):
        RealBlock(np.zeros((2, 3, 1), np.float32), np.zeros((1, 3, 2), np.float32), 0)
    with pytest.raises(ValueError, match="words of a block must be an array of 4 axes, got list"):
        BitBlock([1, 2], 3)
    with pytest.raises(ValueError, match=r"observations of a block must be an array of 4 axes"):
        ObservationBlock(np.zeros((2, 3)))


@pytest.mark.parametrize("number", [-1, 4, 2.0, True, 10**8])
def test_a_number_of_informative_coordinates_that_there_cannot_be_makes_no_block(number):
    wrong = f"n_informative of a block must be an integer from 0 to 3, got {number}"
    with pytest.raises(ValueError, match=re.escape(wrong)):
        RealBlock(np.zeros((2, 3, 2), np.float32), np.zeros((1, 3, 2), np.float32), number)


# --- blocks of a user's own class ---


class OwnBlock(Block):
    """Shows the code of the state; `wrong` coordinates too few."""

    def __init__(self, episodes, wrong=0):
        self.n_episodes, self.n_levels, self.n_states, self.dimension = episodes, LEVELS, N_STATES, DIMENSION
        self.wrong = wrong

    def observe(self, states):
        return CODES[states][..., self.wrong :]

    def level(self, h):
        raise AssertionError("a block of ours is asked in its place")

    episodes = level


@pytest.mark.parametrize("discrete", [False, True])
def test_a_block_of_a_user_s_class_shows_what_one_of_ours_would(discrete):
    block = problem(Draws(OwnBlock, discrete)).draw_block(emission_rngs(Streams(0)), 7)
    expected = np.broadcast_to(CODES, (7, LEVELS, N_STATES, DIMENSION))
    np.testing.assert_array_equal(block.every_state(), expected)
    assert block.kind == ("bits" if discrete else "")
    own, ours = (fu.train(problem(Draws(make, discrete)), fu.URL(), 300) for make in (OwnBlock, shown()))
    np.testing.assert_array_equal(own.average_reward, ours.average_reward)


def test_a_block_of_a_user_s_class_that_shows_too_little_is_refused():
    with pytest.raises(ValueError, match=r"observations of shape \(\d+, 5, 3, 6\), got \(\d+, 5, 3, 4\)"):
        fu.train(problem(Draws(lambda episodes: OwnBlock(episodes, wrong=2))), fu.URL(), 100)


# --- emissions that change after they were accepted ---


def test_an_emission_that_changes_its_dimension_in_a_run_is_refused():
    """Rows of observations have room for the words that an agent was told of."""
    emission = Draws(bits(), discrete=True)
    env = problem(emission)

    def grows(episodes):
        emission.dimension = 130
        return bits(dimension=130, n_words=3)(episodes)

    emission.make = grows
    with pytest.raises(ValueError, match="a block whose dimension is 6, got 130"):
        fu.train(env, ObservationAgent(fu.OracleQ()), 100)


@pytest.mark.parametrize("name", ["n_levels", "dimension"])
@pytest.mark.parametrize(
    "emission",
    [Gaussian(CODES, 0.1, n_levels=LEVELS), Bernoulli(CODES, n_levels=LEVELS), LockBits(HORIZON)],
    ids=lambda emission: type(emission).__name__,
)
def test_the_sizes_of_an_emission_of_ours_cannot_be_changed(emission, name):
    with pytest.raises(AttributeError, match=f"{name} of a {type(emission).__name__} cannot be changed"):
        setattr(emission, name, 50)


def test_a_block_of_ours_is_handed_on_as_it_is():
    """What is ours pays for four comparisons a block and no more."""
    env = fu.LockGaussian(4, noise=0.1).instance(0)
    block = env.draw_block(emission_rngs(Streams(0)), 5)
    again = env.emission.draw(emission_rngs(Streams(0)), 5)
    np.testing.assert_array_equal(block.noise, again.noise)
    assert block.means is again.means


@pytest.mark.parametrize("missing", ["n_levels", "n_states", "dimension", "discrete"])
def test_an_emission_that_does_not_say_its_sizes_is_refused(missing):
    sizes = {"n_levels": LEVELS, "n_states": N_STATES, "dimension": DIMENSION, "discrete": False}
    del sizes[missing]
    silent = type("Silent", (Emission,), {**sizes, "draw": lambda self, rngs, episodes: None})()
    with pytest.raises(ValueError, match=f"^{missing} of Silent must be .*, got None"):
        fu.train(problem(silent), fu.URL(), 10)

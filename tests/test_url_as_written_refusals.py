"""What URL as written refuses."""

from fractions import Fraction

import numpy as np
import pytest
from written_parts import SMALL, Perfect

import fasturl as fu
from fasturl.problems.emissions import Gaussian


def test_too_many_trajectories_are_refused_before_anything_is_played():
    with pytest.raises(
        ValueError, match=r"would play [\d,]+ trajectories .* at most 1,000,000,000 are allowed"
    ):
        fu.train(fu.LockGaussian(20), fu.URLAsWritten(), 10_000)


@pytest.mark.parametrize("settings", [{"epsilon": 1e-200}, {"delta": 1e-320}])
def test_numbers_beyond_counting_are_refused(settings):
    with pytest.raises(
        ValueError,
        match=r"would play more trajectories than can be counted with epsilon=.*: choose larger ones",
    ):
        fu.train(fu.LockGaussian(2), fu.URLAsWritten(**settings), 1)


def test_probabilities_may_be_written_as_any_number():
    assert fu.URLAsWritten(epsilon=Fraction(1, 10)) == fu.URLAsWritten(epsilon=0.1)


@pytest.mark.parametrize("reward_range", [(-0.5, 1.0), (0.0, 1.5)])
def test_rewards_outside_zero_and_one_are_refused(reward_range):
    """The numbers of Algorithm 1 are for returns in [0, H]."""
    env = fu.BlockMDP(
        np.ones((1, 1, 2, 1)),
        np.ones((1, 1, 2)),
        emission=Gaussian([[0.0]], 0.1, n_levels=2),
        reward_range=reward_range,
    )
    low, high = reward_range
    message = rf"^env must have rewards in \[0, 1\]: .*, got a reward_range of {low:g} to {high:g}$"
    with pytest.raises(ValueError, match=message):
        fu.train(env, fu.URLAsWritten(n_states=2, **SMALL), 1)


def test_an_oracle_with_too_many_labels_is_refused():
    with pytest.raises(ValueError, match="oracle must give at most 3 labels a level, got 4"):
        fu.train(fu.LockGaussian(2), fu.URLAsWritten(oracle=Perfect(n_states=4), **SMALL), 1)


def test_a_batch_with_fewer_observations_than_clusters_is_refused():
    with pytest.raises(
        ValueError,
        match=r"batch must be at least 3: the first decoder is fitted on n_states = 3 observations .*, got 2",
    ):
        fu.train(fu.LockGaussian(2), fu.URLAsWritten(**(SMALL | {"batch": 2})), 1)


@pytest.mark.parametrize("name", ["epsilon", "delta", "epsilon_1", "delta_1"])
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, float("nan")])
def test_probabilities_outside_zero_and_one_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name} must be a number in \(0, 1\)"):
        fu.URLAsWritten(**{name: value})


def test_settings_of_this_form_are_refused_by_the_other():
    with pytest.raises(TypeError, match="unexpected keyword argument 'epsilon'"):
        fu.URL(epsilon=0.1)

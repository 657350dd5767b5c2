"""The paper's locks: their tables, checks and exact values."""

import time
from dataclasses import dataclass

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest

import fasturl as fu
from fasturl._base.checks import short_repr
from fasturl._base.streams import Streams
from fasturl._kernels.records import NO_REWARDS, RANDOM_REWARDS

LOCKS = [fu.LockBernoulli, fu.LockGaussian]


@pytest.mark.parametrize("kind", LOCKS)
@hypothesis.given(horizon=st.integers(1, 30), switch=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_every_lock_is_worth_one_half(kind, horizon, switch, seed):
    """The formula and the tables agree to the last bit."""
    lock = kind(horizon, switch)
    assert lock.optimal_value(seed) == lock.instance(seed).optimal_value() == 0.5


@hypothesis.given(horizon=st.integers(1, 30), switch=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_the_optimal_policy_attains_the_optimal_value(horizon, switch, seed):
    env = fu.LockBernoulli(horizon, switch)
    assert env.policy_value(env.optimal_policy(seed), seed) == pytest.approx(0.5, abs=1e-12)


@hypothesis.given(horizon=st.integers(1, 20), switch=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_acting_at_random_opens_a_lock_with_probability_two_to_the_minus_horizon(horizon, switch, seed):
    uniform = np.full((horizon, 3, 4), 0.25)
    assert fu.LockBernoulli(horizon, switch).policy_value(uniform, seed) == pytest.approx(0.5 * 0.5**horizon)


def test_a_lock_has_three_states_and_four_actions():
    env = fu.LockGaussian(horizon=5, switch=0.2, noise=0.1)
    assert (env.horizon, env.n_actions, env.max_states, env.instance().n_states) == (5, 4, 3, (3,) * 6)


def test_a_lock_is_the_one_that_its_seed_draws():
    """Bit for bit the reference's lock, from the seed's own stream."""
    ref = np.empty((6, 3, 4, 3))
    naive.draw_lock(Streams(11).row("instance").tolist(), 0.2, [0] * 4, ref)
    np.testing.assert_array_equal(fu.LockBernoulli(6, 0.2).instance(11).transitions, ref)


def test_locks_of_different_seeds_differ_and_both_kinds_of_lock_share_their_latent_side():
    first, second = (fu.LockBernoulli(6, 0.2).instance(seed).transitions for seed in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, fu.LockGaussian(6, 0.2, noise=0.3).instance(0).transitions)


def test_a_lock_starts_in_state_0_and_pays_a_coin_at_the_end_to_those_alive():
    lock = fu.LockBernoulli(3).instance()
    assert lock.start.tolist() == [1.0, 0.0, 0.0]
    assert lock.rewards[:-1].max() == 0.0
    assert lock.rewards[-1].reshape(12, 3).tolist() == [[0.5, 0.5, 0.0]] * 12
    assert lock.dynamics.reward_kinds.tolist() == [NO_REWARDS, NO_REWARDS, RANDOM_REWARDS]
    assert lock.max_return == 1.0


def test_settings_and_repr_say_which_lock_it_is():
    assert fu.LockBernoulli(5, 0.2).settings() == {"horizon": 5, "switch": 0.2}
    assert fu.LockGaussian(5, 0.2, 0.1).settings() == {"horizon": 5, "switch": 0.2, "noise": 0.1}
    assert repr(fu.LockGaussian(5, 0.2, 0.1)) == "LockGaussian(horizon=5, switch=0.2, noise=0.1)"


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("horizon", [0, -1, 2.0, "20", None, True, np.nan, [3], 10**400], ids=short_repr)
def test_a_lock_refuses_other_horizons(kind, horizon):
    with pytest.raises(ValueError, match=r"^horizon must be an integer .*, got "):
        kind(horizon)


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("horizon", [10**7 + 1, 10**10])
def test_a_lock_that_no_memory_holds_is_refused_before_anything_is_made(kind, horizon):
    with pytest.raises(ValueError, match=rf"^horizon must be an integer from 1 to 10000000, got {horizon}$"):
        kind(horizon)


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize(
    "switch", [-0.1, 1.1, np.nan, np.inf, "0.2", None, np.True_, np.complex128(0.2), 10**400], ids=short_repr
)
def test_a_lock_refuses_other_switches(kind, switch):
    with pytest.raises(ValueError, match=r"^switch must be a number in \[0, 1\], got "):
        kind(5, switch)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, 1e16, "0.2", None, 10**400], ids=short_repr)
def test_a_gaussian_lock_refuses_other_noises(noise):
    with pytest.raises(ValueError, match=r"^noise must be a number in \[0, 1e\+15\], got "):
        fu.LockGaussian(5, 0.2, noise)


@pytest.mark.parametrize("seed", [-1, 0.5, "0"])
def test_an_instance_needs_a_seed(seed):
    with pytest.raises(ValueError, match=r"^seed must be an integer >= 0, got "):
        fu.LockBernoulli(5).instance(seed)


def test_a_long_lock_is_set_up_in_a_moment():
    """A loop over its levels in Python would take ten seconds or more, during which nothing could be
    interrupted."""
    begin = time.perf_counter()
    lock = fu.LockBernoulli(200_000, 0.2).instance()
    assert lock.max_return == 1.0
    assert lock.reachable[-1].tolist() == [True, True, True]
    assert time.perf_counter() - begin < 5


@dataclass(frozen=True)
class Lottery(fu.LockBernoulli):
    """A lock that pays a share of what locks pay: what they know of themselves does not hold for it."""

    def draw(self, streams):
        lock = super().draw(streams)
        share = np.random.default_rng(streams.row("instance")).random()
        return fu.BlockMDP(lock.transitions, lock.rewards * share, emission=self.emission)


def test_a_subclass_that_draws_other_tables_has_other_optimal_values():
    values = [Lottery(4, 0.2).optimal_value(seed) for seed in range(3)]
    assert values == [Lottery(4, 0.2).instance(seed).optimal_value() for seed in range(3)]
    assert len(set(values)) == 3
    assert max(values) < 0.5

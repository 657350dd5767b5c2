"""The contract of environments: what follows from what a family declares."""

from dataclasses import dataclass

import numpy as np
import pytest

import fasturl as fu
from fasturl._base import names
from fasturl._base.streams import Streams
from fasturl.problems.description import Description, ObservationSpace
from fasturl.problems.emissions import Gaussian


@dataclass(frozen=True)
class Coins(fu.Environment):
    """One state a level; which of two actions pays is drawn for each level and seed."""

    horizon: int = fu.setting(3, least=1, help="Number of levels that are acted in.")
    prize: float = fu.setting(1.0, least=0, most=1, help="Chance of a reward.")

    n_actions = 2
    max_states = 1

    def draw(self, streams):
        better = np.random.default_rng(streams.row("instance")).integers(2, size=self.horizon)
        rewards = self.prize * np.eye(2)[better].reshape(self.horizon, 1, 2)
        return fu.BlockMDP(np.ones((self.horizon, 1, 2, 1)), rewards)


def test_a_description_holds_what_is_declared_and_what_follows():
    assert Coins(5).describe() == Description(5, 2, 1, (0.0, 1.0), 5.0, None)
    lock = fu.LockGaussian(4, noise=0.2).describe()
    assert lock == Description(4, 4, 3, (0.0, 1.0), 1.0, ObservationSpace("reals", 7))
    assert str(lock.observations) == "7 reals"


def test_values_and_policies_are_those_of_the_instance_of_the_seed():
    env = Coins(4, 0.25)
    policies = [env.optimal_policy(seed) for seed in range(4)]
    assert len({policy.tobytes() for policy in policies}) > 1
    for seed, policy in enumerate(policies):
        assert env.policy_value(policy, seed) == env.optimal_value(seed) == 1.0
        assert env.policy_value(1 - policy, seed) == 0.0


def test_an_instance_carries_what_its_family_declares():
    class Generous(Coins):
        max_states, reward_range, max_return = 7, (-1.0, 2.0), 5.0

    instance = Generous().instance(3)
    assert (instance.max_states, instance.reward_range, instance.max_return) == (7, (-1.0, 2.0), 5.0)
    assert instance.describe() == Generous().describe()


def test_only_a_block_mdp_is_its_own_instance():
    assert not Coins().single_instance
    assert not fu.LockBernoulli(3).single_instance
    assert Coins().instance(0).single_instance


@pytest.mark.parametrize("attribute", ["horizon", "n_actions", "max_states"])
def test_sizes_that_are_none_are_refused(attribute):
    env = type("Wrong", (Coins,), {})()
    object.__setattr__(env, attribute, 0)
    with pytest.raises(ValueError, match=f"^{attribute} must be an integer >= 1, got 0$"):
        env.describe()


def test_settings_and_name_identify_an_environment(monkeypatch):
    assert (Coins(2).name, Coins(2).settings()) == ("coins", {"horizon": 2, "prize": 1.0})
    monkeypatch.setitem(names._registered, "environment", {})
    fu.register(Coins, name="two-coins")
    assert Coins(2).name == "two-coins"


def test_emissions_of_instances_must_be_of_the_declared_kind():
    class Seeing(Coins):
        emission = Gaussian([[0.0, 1.0]], 0.1, n_levels=4)

    with pytest.raises(ValueError, match=r"^draw of Seeing must give observations of 2 reals .*, got none$"):
        Seeing().draw_checked(Streams(0))

"""`fasturl.envs.rollout`: whole batches of episodes of a fixed policy."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from strategies import chances, mdp

import fasturl as fu
import fasturl.envs


@pytest.mark.parametrize("family", [fu.LockBernoulli(5, 0.2), fu.LockGaussian(5, 0.5, 0.2)])
def test_a_rollout_is_what_stepping_through_the_environment_gives(family):
    policy = family.optimal_policy(7)
    observations, actions, rewards, states = fasturl.envs.rollout(family, policy, 600, seed=7)
    env = gymnasium.make(f"fasturl/{type(family).__name__}-v0", **family.settings())
    assert (len(observations), len(states), len(actions), len(rewards)) == (
        600 * 6,
        600 * 6,
        600 * 5,
        600 * 5,
    )
    for e in range(600):
        record = [env.reset(seed=7 if e == 0 else None)]
        while len(record) < 6:
            info = record[-1][-1]
            record.append(env.step(policy[info["level"] - 1, info["latent_state"]]))
        np.testing.assert_array_equal(observations[6 * e : 6 * e + 6], np.stack([step[0] for step in record]))
        assert states[6 * e : 6 * e + 6].tolist() == [step[-1]["latent_state"] for step in record]
        assert rewards[5 * e : 5 * e + 5].tolist() == [step[1] for step in record[1:]]
    np.testing.assert_array_equal(
        actions.reshape(600, 5), policy[np.arange(5), states.reshape(600, 6)[:, :5]]
    )


def test_a_rollout_of_probabilities_has_the_exact_value():
    """20,000 episodes: the mean return is within five standard errors."""
    draw = np.random.default_rng(8)
    model, policy = fu.BlockMDP(*mdp(draw, 3, 3, 2), start=chances(draw, 3)), chances(draw, 3, 3, 2)
    played = fasturl.envs.rollout(model, policy, 20_000)
    returns = played.rewards.reshape(-1, 3).sum(axis=1)
    assert abs(returns.mean() - model.policy_value(policy)) < 5 * returns.std() / np.sqrt(returns.size)
    shares = np.bincount(
        played.actions.reshape(-1, 3)[played.states.reshape(-1, 4)[:, 0] == 1, 0], minlength=2
    )
    assert abs(shares[0] / shares.sum() - policy[0, 1, 0]) < 5 / np.sqrt(shares.sum())


def test_a_rollout_without_emission_observes_latent_states():
    model = fu.BlockMDP(*mdp(np.random.default_rng(5), 3, 3, 2))
    played = fasturl.envs.rollout(model, np.zeros((3, 3), int), 10)
    np.testing.assert_array_equal(played.observations, played.states)


def test_a_rollout_takes_environments_of_gymnasium_and_leaves_them_alone():
    lock = {"id": "fasturl/LockBernoulli-v0", "horizon": 3, "switch": 0.2}
    env, untouched, envs = (
        gymnasium.make(**lock),
        gymnasium.make(**lock),
        gymnasium.make_vec(**lock, num_envs=2),
    )
    env.reset(seed=1), untouched.reset(seed=1)
    ref = fasturl.envs.rollout(fu.LockBernoulli(3, 0.2), np.zeros((3, 3), int), 4, seed=2)
    for gym_env in (env, envs):
        for ours, theirs in zip(
            fasturl.envs.rollout(gym_env, np.zeros((3, 3), int), 4, seed=2), ref, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
    assert data_equivalence(env.step(0), untouched.step(0), exact=True)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            ("lock", np.zeros((3, 3), int), 1),
            "^env must be an environment of fasturl or of fasturl.envs, got 'lock'",
        ),
        ((fu.LockBernoulli(3), np.full((3, 3), 4), 1), "^policy must hold actions from 0 to 3"),
        ((fu.LockBernoulli(3), np.zeros((2, 3), int), 1), "^policy must be "),
        ((fu.LockBernoulli(3), np.zeros((3, 3), int), 0), "^episodes must be an integer >= 1, got 0"),
    ],
)
def test_a_rollout_refuses(arguments, match):
    with pytest.raises(ValueError, match=match):
        fasturl.envs.rollout(*arguments)


@pytest.mark.parametrize("episodes", [10**11, 10**12])
def test_a_rollout_that_does_not_fit_into_memory_is_refused_with_the_size(episodes):
    for env in (fu.LockBernoulli(3), fu.BlockMDP([[[[1.0]]]], [[[0.5]]])):
        policy = np.zeros((env.horizon, env.max_states), int)
        with pytest.raises(
            ValueError, match=r"^episodes must be smaller: the arrays of a rollout would take"
        ):
            fasturl.envs.rollout(env, policy, episodes)

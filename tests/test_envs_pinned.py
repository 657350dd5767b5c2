"""Environments as libraries of deep agents use them: one instance with many episodes, the level among what is
observed, and the length of an episode in the spec."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import TimeAwareObservation

import fasturl as fu
from fasturl.envs import BlockMDPEnv, ScalarEnv, VectorEnv, rollout

LOCKS = ["fasturl/LockBernoulli-v0", "fasturl/LockGaussian-v0", "fasturl/RichLock-v0"]


def table(env):
    return env.unwrapped.instance.transitions


def whole_episode(env, seed):
    """Observations, rewards and latent states of an episode of action 0."""
    observation, info = env.reset(seed=seed)
    rows, terminated = [(observation, 0.0, info["latent_state"])], False
    while not terminated:
        observation, reward, terminated, _, info = env.step(0)
        rows.append((observation, reward, info["latent_state"]))
    observations, rewards, states = zip(*rows, strict=True)
    return np.array(observations).tolist(), rewards, states


# --- a pinned instance ---


@pytest.mark.parametrize("identity", LOCKS)
def test_an_instance_seed_pins_the_lock_while_episodes_vary(identity):
    pinned = gymnasium.make(identity, horizon=4, switch=0.5, instance_seed=7)
    episodes = [whole_episode(pinned, seed) for seed in range(4)]
    locks = []
    for seed in range(4):
        pinned.reset(seed=seed)
        locks.append(table(pinned))
    assert all(np.array_equal(lock, locks[0]) for lock in locks)
    assert len({repr(observations) for observations, _, _ in episodes}) == 4


@pytest.mark.parametrize("identity", LOCKS)
def test_the_pinned_lock_is_the_one_of_training_with_that_seed(identity):
    free = gymnasium.make(identity, horizon=4, switch=0.5)
    pinned = gymnasium.make(identity, horizon=4, switch=0.5, instance_seed=7)
    assert whole_episode(pinned, 7) == whole_episode(free, 7)
    assert np.array_equal(table(pinned), table(free))
    free.reset(seed=8)
    assert not np.array_equal(table(pinned), table(free))


@pytest.mark.parametrize("identity", LOCKS)
@pytest.mark.parametrize("observe_level", [False, True])
def test_pinned_vector_environments_do_what_pinned_scalar_ones_do(identity, observe_level):
    settings = {"horizon": 3, "switch": 0.2, "instance_seed": 5, "observe_level": observe_level}
    envs = gymnasium.make_vec(identity, num_envs=3, **settings)
    scalars = [gymnasium.make(identity, **settings) for _ in range(3)]
    shown, _ = envs.reset(seed=20)
    expected = [env.reset(seed=20 + e)[0] for e, env in enumerate(scalars)]
    assert np.array_equal(shown, expected)
    for action in (0, 1, 2):
        shown, rewards, *_ = envs.step(np.full(3, action))
        steps = [env.step(action) for env in scalars]
        assert np.array_equal(shown, [step[0] for step in steps])
        assert rewards.tolist() == [step[1] for step in steps]


def test_a_pinned_environment_has_no_other_instance():
    for env in (
        ScalarEnv("lock-bernoulli", instance_seed=1),
        VectorEnv("lock-bernoulli", 2, instance_seed=1),
    ):
        with pytest.raises(ValueError, match="new_instance"):
            env.reset(seed=0, options={"new_instance": True})


def test_a_rollout_of_a_pinned_environment_plays_its_lock():
    env = ScalarEnv("lock-bernoulli", horizon=4, instance_seed=3)
    policy = fu.LockBernoulli(horizon=4).optimal_policy(seed=3)
    assert set(rollout(env, policy, 50, seed=11).states.tolist()) <= {0, 1}  # never in the absorbing state


@pytest.mark.parametrize("seed", [-1, 0.5, "3"])
def test_other_instance_seeds_are_refused_by_name(seed):
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ValueError, match="instance_seed"):
            make("fasturl/LockBernoulli-v0", instance_seed=seed)


def test_what_is_one_instance_cannot_be_pinned():
    coin = fu.BlockMDP([[[[1.0]]]], [[[0.5]]])
    with pytest.raises(ValueError, match="instance_seed must be None for a BlockMDP"):
        ScalarEnv(coin, observe="latent", instance_seed=0)


# --- the level ---


@pytest.mark.parametrize("identity", LOCKS)
def test_the_one_hot_of_the_level_stands_behind_the_observation(identity):
    plain = whole_episode(gymnasium.make(identity, horizon=3), 4)
    with_level = whole_episode(gymnasium.make(identity, horizon=3, observe_level=True), 4)
    for level in range(4):
        assert with_level[0][level] == plain[0][level] + np.eye(4)[level].tolist()
    assert with_level[1:] == plain[1:]


def test_behind_a_latent_state_stands_the_level_itself():
    observations, _, states = whole_episode(
        gymnasium.make("fasturl/LockBernoulli-v0", horizon=3, observe="latent", observe_level=True), 4
    )
    assert observations == [[state, level] for level, state in enumerate(states)]


@pytest.mark.parametrize("observe", ["observation", "latent"])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("copy", [True, False])
def test_vector_environments_show_the_level_of_each(observe, mode, copy):
    envs = gymnasium.make_vec(
        "fasturl/LockGaussian-v0",
        num_envs=2,
        horizon=2,
        observe=observe,
        observe_level=True,
        autoreset_mode=mode,
        copy=copy,
    )
    shown, infos = envs.reset(seed=0)
    for _ in range(7):
        level = shown[:, 1] if observe == "latent" else shown[:, -3:].argmax(axis=1)
        assert (level == infos["level"] - 1).all()
        assert envs.observation_space.contains(shown)
        shown, _, ended, _, infos = envs.step(np.zeros(2, np.int64))
        if mode == "SameStep" and ended.any():
            last = infos["final_obs"][0]
            assert (last[1] == 2) if observe == "latent" else (last[-3:].tolist() == [0, 0, 1])


@pytest.mark.parametrize("identity", LOCKS)
@pytest.mark.parametrize("observe", ["observation", "latent"])
@pytest.mark.filterwarnings("error")
def test_gymnasium_finds_nothing_to_warn_of(identity, observe):
    env = gymnasium.make(identity, horizon=3, observe=observe, observe_level=True, instance_seed=0)
    check_env(env.unwrapped, skip_render_check=True)


def test_own_tables_may_show_the_level_too():
    coin = fu.BlockMDP([[[[1.0]]]], [[[0.5]]])
    assert BlockMDPEnv(coin, observe="latent", observe_level=True).reset(seed=0)[0].tolist() == [0, 0]
    env = gymnasium.make("fasturl/BlockMDP-v0", instance=coin, observe="latent", observe_level=True)
    assert env.reset(seed=0)[0].tolist() == [0, 0]


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_whether_the_level_is_observed_is_a_bool(value):
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ValueError, match="observe_level"):
            make("fasturl/LockBernoulli-v0", observe_level=value)


# --- the length of an episode ---


def test_the_spec_has_the_length_of_an_episode_whatever_the_horizon():
    for horizon in (2, 30):
        env = gymnasium.make("fasturl/LockBernoulli-v0", horizon=horizon)
        assert env.spec.max_episode_steps == env.unwrapped.spec.max_episode_steps == horizon
        envs = gymnasium.make_vec("fasturl/LockBernoulli-v0", num_envs=2, horizon=horizon)
        assert envs.spec.max_episode_steps == horizon
        whole_episode(env, 0)  # nothing cuts it short


def test_environments_can_be_made_from_their_specs():
    env = gymnasium.make("fasturl/LockBernoulli-v0", horizon=3, instance_seed=1)
    again = gymnasium.make(env.spec)
    assert whole_episode(again, 2) == whole_episode(env, 2)
    assert again.spec == env.spec
    envs = gymnasium.make_vec("fasturl/LockBernoulli-v0", num_envs=2, horizon=3)
    assert gymnasium.make_vec(envs.spec).reset(seed=0)[0].tolist() == envs.reset(seed=0)[0].tolist()


def test_a_limit_that_would_cut_episodes_of_vector_environments_short_is_refused():
    with pytest.raises(ValueError, match="max_episode_steps must be an integer >= 3, got 2"):
        gymnasium.make_vec("fasturl/LockBernoulli-v0", num_envs=2, horizon=3, max_episode_steps=2)


def test_environments_without_an_id_have_no_spec():
    assert ScalarEnv("lock-bernoulli").spec is None
    assert VectorEnv("lock-bernoulli").spec is None


@pytest.mark.parametrize("identity", LOCKS)
def test_gymnasium_s_own_wrapper_can_add_the_time(identity):
    env = TimeAwareObservation(gymnasium.make(identity, horizon=3), normalize_time=True)
    env.reset(seed=0)
    assert env.step(0)[0][-1] == pytest.approx(1 / 3)


@pytest.mark.parametrize("options", ["x", 3, ["new_instance"]])
def test_options_that_are_no_table_are_refused_by_name(options):
    for env in (ScalarEnv("lock-bernoulli"), VectorEnv("lock-bernoulli")):
        with pytest.raises(ValueError, match="options must be a dict or None, got"):
            env.reset(seed=0, options=options)

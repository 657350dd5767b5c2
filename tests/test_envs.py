"""Scalar environments as Gymnasium's users meet them."""

import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from strategies import chances

import fasturl as fu
import fasturl.envs
from fasturl._base.streams import Streams
from fasturl.learners.playing import rollout
from fasturl.problems.blocks import BitBlock, RealBlock
from fasturl.problems.emissions import Bernoulli, Categorical, Emission, Gaussian
from fasturl.problems.environment import emission_rngs

LOCKS = ["fasturl/LockBernoulli-v0", "fasturl/LockGaussian-v0"]
OTHERS = [
    *("RichLock", "BidirectionalLock", "DetourLock", "Bandit", "RiverSwim", "DeepSea", "RandomMDP", "Maze"),
]


def block_mdp(emission=None, horizon=3, n_states=3, n_actions=2):
    draw = np.random.default_rng(5)
    transitions = chances(draw, horizon, n_states, n_actions, n_states)
    return fu.BlockMDP(
        transitions,
        draw.random((horizon, n_states, n_actions)),
        start=chances(draw, n_states),
        emission=emission,
    )


EMISSIONS = {
    "none": None,
    "gaussian": Gaussian(np.eye(3, 4), 0.3, n_levels=4),
    "bernoulli": Bernoulli(np.random.default_rng(0).random((3, 70)), n_levels=4),
    "categorical": Categorical(chances(np.random.default_rng(1), 3, 5), n_levels=4),
}
CASES = {
    **{
        f"{name}, {observe}": (name, {"horizon": 3, "switch": 0.2, "observe": observe})
        for name in LOCKS
        for observe in ("observation", "latent")
    },
    **{name: (f"fasturl/{name}-v0", {"horizon": 3}) for name in OTHERS},
    "rich lock of bits": ("fasturl/RichLock-v0", {"horizon": 3, "emission": "bernoulli"}),
    **{
        f"instance, {kind}": (
            "fasturl/BlockMDP-v0",
            {"instance": block_mdp(emission), "observe": "observation" if emission else "latent"},
        )
        for kind, emission in EMISSIONS.items()
    },
}


def make(case, **changes):
    identity, settings = CASES.get(case, (case, {}))
    return gymnasium.make(identity, **(settings | changes))


def episode(env, actions, **resetting):
    """Everything that one episode returns."""
    seen, info = env.reset(**resetting)
    record = [(seen, info)]
    for action in actions:
        record.append(env.step(action))
        if record[-1][2]:
            break
    return record


# --- Gymnasium's own checks ---


@pytest.mark.parametrize("case", CASES)
def test_gymnasium_finds_nothing_to_warn_of(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(case).unwrapped)


def test_every_registered_id_is_checked():
    assert {identity for identity in gymnasium.registry if identity.startswith("fasturl/")} == set(
        fasturl.envs.ids()
    )
    assert {identity for identity, _ in CASES.values()} == set(fasturl.envs.ids())


# --- the science ---


@pytest.mark.parametrize(
    "family", [fu.LockBernoulli(20, 0.2), fu.LockBernoulli(70, 0.5), fu.LockGaussian(6, 0.2, 0.3)]
)
def test_episodes_are_those_that_training_meets_with_the_same_seed(family):
    """The lock, the noise and the luck of 40 trajectories, against the loop that `train` plays."""
    streams = Streams(9)
    instance = family.draw(streams)
    block = instance.emission.draw(emission_rngs(streams), 40)
    labels = np.tile(np.arange(3, dtype=np.uint8), (40, family.horizon + 1, 1))
    q = np.random.default_rng(0).random((family.horizon, 3, 4)) + 2 * (instance._optimal_tables()[0] > 0)
    states, actions, rewards = rollout(
        instance.dynamics, labels, q, 0.0, streams.row("dynamics"), streams.row("policy")
    )
    seen = block.observe(states)

    env = gymnasium.make(f"fasturl/{type(family).__name__}-v0", **family.settings())
    for e in range(40):
        record = episode(env, actions[e], **({"seed": 9} if e == 0 else {}))
        assert [step[-1]["latent_state"] for step in record] == states[e].tolist()
        np.testing.assert_array_equal(np.stack([step[0] for step in record]), seen[e])
        assert [step[1] for step in record[1:]] == rewards[e].tolist()
    assert rewards.sum() > 0
    np.testing.assert_array_equal(env.unwrapped.instance.transitions, instance.transitions)


@pytest.mark.parametrize("case", CASES)
def test_an_episode_runs_through_all_levels_and_terminates(case):
    env = make(case)
    record = episode(env, [0] * 99, seed=0)
    assert [step[-1]["level"] for step in record] == [1, 2, 3, 4]
    assert [step[2] for step in record[1:]] == [False, False, True]
    assert not any(step[3] for step in record[1:])
    value = env.unwrapped.environment.optimal_value()
    assert all(step[-1]["optimal_value"] == value for step in record)
    assert all(step[0] in env.observation_space for step in record)


def test_latent_observations_are_the_latent_states():
    for case in ("fasturl/LockGaussian-v0, latent", "instance, none"):
        assert all(step[0] == step[-1]["latent_state"] for step in episode(make(case), [1, 0, 1], seed=2))


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "categorical"])
def test_a_model_is_seen_through_its_emission(kind):
    env = make(f"instance, {kind}")
    streams = Streams(3)
    block = EMISSIONS[kind].draw(emission_rngs(streams), 2)
    for e in range(2):
        record = episode(env, [0, 1, 0], **({"seed": 3} if e == 0 else {}))
        states = np.array([[step[-1]["latent_state"] for step in record]] * 2)
        np.testing.assert_array_equal(np.stack([step[0] for step in record]), block.observe(states)[e])


@pytest.mark.parametrize("identity", LOCKS)
def test_a_new_instance_is_the_next_of_its_stream(identity):
    env, streams = gymnasium.make(identity, horizon=6, switch=0.2), Streams(4)
    family = env.unwrapped.environment
    locks = [family.draw(streams).transitions for _ in range(3)]
    drawn = []
    for options in ({}, {"new_instance": False}, {"new_instance": True}, None, {"new_instance": True}):
        env.reset(seed=4 if not drawn else None, options=options)
        drawn.append(env.unwrapped.instance.transitions)
    for lock, place in zip(drawn, [0, 0, 1, 1, 2], strict=True):
        np.testing.assert_array_equal(lock, locks[place])


def test_a_seed_brings_its_own_lock_whether_a_new_one_is_asked_for_or_not():
    env = gymnasium.make(LOCKS[0], horizon=6)
    env.reset(seed=1)
    env.reset(seed=2, options={"new_instance": True})
    np.testing.assert_array_equal(
        env.unwrapped.instance.transitions, fu.LockBernoulli(6).instance(2).transitions
    )


def test_without_a_seed_two_environments_differ():
    first, second = (gymnasium.make(LOCKS[1]) for _ in range(2))
    assert not np.array_equal(first.reset()[0], second.reset()[0])


def test_a_generator_of_ones_own_is_where_the_seed_comes_from():
    env, seen = gymnasium.make(LOCKS[1]).unwrapped, []
    for _ in range(2):
        env = gymnasium.make(LOCKS[1]).unwrapped
        env.np_random = np.random.default_rng(0)
        seen.append(env.reset()[0])
    np.testing.assert_array_equal(*seen)


def test_the_bounds_of_reals_hold_the_most_extreme_noise_there_is():
    """A radius from 32 bits is at most sqrt(2 log 2^33) deviations."""
    space = gymnasium.make(LOCKS[1], horizon=3, noise=0.2).observation_space
    assert space.low.max() < -0.2 * np.sqrt(2 * 33 * np.log(2)) < 0
    assert space.high.min() > 1 + 0.2 * np.sqrt(2 * 33 * np.log(2))


@pytest.mark.parametrize("means", [np.zeros((3, 2)), np.eye(3)])
def test_reals_without_noise_have_a_space_with_room(means):
    env = make("fasturl/BlockMDP-v0", instance=block_mdp(Gaussian(means, 0.0, n_levels=4)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


class Doubled(Emission):
    """An emission of somebody else: the state twice, in reals of unknown bounds."""

    discrete = False
    n_levels, n_states, dimension = 4, 3, 2

    def draw(self, rngs, episodes):
        means = np.repeat(np.arange(3, dtype=np.float32)[:, None, None], 2, axis=1).repeat(4, axis=2)
        return RealBlock(np.zeros((episodes, 2, 4), np.float32), np.ascontiguousarray(means), 2)


class Flags(Doubled):
    """Bits of somebody else."""

    discrete = True

    def draw(self, rngs, episodes):
        return BitBlock(np.full((episodes, 4, 3, 1), 2, np.uint64), 2)


def test_any_emission_can_be_shown_by_both_forms():
    for emission, space in (
        (Doubled(), gymnasium.spaces.Box(-np.inf, np.inf, (2,))),
        (Flags(), gymnasium.spaces.MultiBinary(2)),
    ):
        instance = block_mdp(emission)
        env, envs = (
            gymnasium.make("fasturl/BlockMDP-v0", instance=instance),
            gymnasium.make_vec("fasturl/BlockMDP-v0", 2, instance=instance),
        )
        assert env.observation_space == space
        record = episode(env, [0, 1, 1], seed=1)
        observations, _ = envs.reset(seed=[1, 1])
        for place, action in enumerate([0, 1, 1]):
            np.testing.assert_array_equal(observations, [record[place][0]] * 2)
            assert observations in envs.observation_space
            observations, *_ = envs.step([action] * 2)
    assert [step[0].tolist() for step in record] == [[0, 1]] * 4


# --- bad input ---


@pytest.mark.parametrize(
    "action", [4, -1, 2**70, 0.0, np.nan, "1", None, [1], np.array([1]), np.float64(1), np.uint64(1)]
)
def test_an_action_outside_the_space_is_refused_and_nothing_moves(action):
    env, untouched = make(LOCKS[0]), make(LOCKS[0])
    env.reset(seed=0), untouched.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction, match=r"is not in Discrete\(4\)$"):
        env.step(action)
    assert data_equivalence(env.step(1), untouched.step(1), exact=True)


@pytest.mark.parametrize("action", [1, np.int64(1), np.int8(1), np.array(1)])
def test_an_action_may_be_any_integer_of_the_space(action):
    env, usual = make(LOCKS[0]), make(LOCKS[0])
    env.reset(seed=0), usual.reset(seed=0)
    assert data_equivalence(env.step(action), usual.step(1), exact=True)


def test_a_step_before_reset_is_refused_with_and_without_wrappers():
    for env in (make(LOCKS[0]), make(LOCKS[0]).unwrapped):
        with pytest.raises(
            gymnasium.error.ResetNeeded, match=r"^Cannot call env.step\(\) before calling env.reset\(\)"
        ):
            env.step(0)


def test_a_step_after_the_end_is_refused_until_the_next_reset():
    env = make(LOCKS[0], horizon=2)
    episode(env, [0, 0], seed=0)
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded, match="after the episode has terminated"):
            env.step(0)
    assert len(episode(env, [0, 0])) == 3


@pytest.mark.parametrize("seed", [-1, 0.5, "3"])
def test_other_seeds_are_refused_as_gymnasium_does(seed):
    with pytest.raises(gymnasium.error.Error, match=r"^Seed must be "):
        make(LOCKS[0]).reset(seed=seed)


@pytest.mark.parametrize(
    ("identity", "settings", "match"),
    [
        (LOCKS[0], {"horizon": 0}, "^horizon must be "),
        (LOCKS[1], {"noise": -1.0}, "^noise must be "),
        (
            LOCKS[0],
            {"observe": "everything"},
            "^observe must be one of 'observation', 'latent', got 'everything'",
        ),
        ("fasturl/BlockMDP-v0", {"instance": "lock"}, "^instance must be a fasturl.BlockMDP, got 'lock'"),
        (
            "fasturl/BlockMDP-v0",
            {"instance": block_mdp()},
            "^observe must be 'latent' for an environment without emission",
        ),
    ],
)
def test_other_settings_are_refused_by_both_forms(identity, settings, match):
    for maker in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ValueError, match=match):
            maker(identity, **settings)


def test_other_render_modes_are_refused():
    with pytest.raises(ValueError, match=r"^render_mode must be one of 'ansi', 'rgb_array', got 'smell'"):
        fasturl.envs.ScalarEnv("lock-bernoulli", render_mode="smell")


@pytest.mark.parametrize("value", ["no", 1, None])
@pytest.mark.parametrize("kind", [fasturl.envs.ScalarEnv, fasturl.envs.VectorEnv])
def test_whether_an_instance_is_new_is_a_bool(kind, value):
    env = kind("lock-bernoulli", horizon=3)
    with pytest.raises(
        ValueError, match=rf"^options\['new_instance'\] must be True or False, got {value!r}$"
    ):
        env.reset(options={"new_instance": value})
    env.reset(options={"new_instance": np.True_})


def test_a_model_has_no_other_instance_to_draw():
    env = make("instance, none")
    with pytest.raises(ValueError, match="must be False: a BlockMDP is the same for every seed"):
        env.reset(options={"new_instance": True})


# --- outside clients ---


def test_gymnasium_wrappers_work():
    env = gymnasium.make(LOCKS[1], horizon=6, max_episode_steps=4)
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.wrappers.FlattenObservation(env))
    record = episode(env, [0] * 4, seed=0)
    assert record[-1][2:4] == (False, True)
    assert record[-1][4]["episode"]["l"] == 4
    assert record[0][0].shape == (9,)


def test_gymnasium_makes_one_hot_codes_of_latent_states_and_resets_by_itself():
    env = gymnasium.wrappers.Autoreset(
        gymnasium.wrappers.FlattenObservation(gymnasium.make(LOCKS[0], horizon=2, observe="latent"))
    )
    observation, info = env.reset(seed=0)
    levels = []
    for _ in range(6):
        np.testing.assert_array_equal(observation, np.eye(3)[info["latent_state"]])
        observation, _, _, _, info = env.step(0)
        levels.append(info["level"])
    assert levels == [2, 3, 1, 2, 3, 1]


def test_a_tabular_agent_that_only_knows_gymnasium_opens_a_lock():
    """Q-learning on (level, latent state) from rewards alone, its value computed exactly from its tables."""
    env = gymnasium.make(LOCKS[0], horizon=3, switch=0.2, observe="latent", disable_env_checker=True)
    q, draw = np.zeros((4, 3, 4)), np.random.default_rng(0)
    state, info = env.reset(seed=1)
    for _ in range(1500):
        state, info = env.reset()
        terminated = False
        while not terminated:
            level = info["level"] - 1
            action = int(draw.integers(4)) if draw.random() < 0.5 else int(q[level, state].argmax())
            following, reward, terminated, _, info = env.step(action)
            q[level, state, action] += 0.1 * (
                reward + q[level + 1, following].max() * (not terminated) - q[level, state, action]
            )
            state = following
    assert env.unwrapped.instance.policy_value(q[:3].argmax(axis=2)) == pytest.approx(0.5)


def test_a_pickled_environment_goes_on_where_it_was():
    env = make(LOCKS[1]).unwrapped
    env.reset(seed=5)
    env.step(0)
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(3):
        assert data_equivalence(env.step(1), twin.step(1), exact=True)
    assert data_equivalence(env.reset(), twin.reset(), exact=True)

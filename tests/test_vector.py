"""Many environments at once, against Gymnasium's own way to have many."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from strategies import chances

import fasturl as fu
import fasturl.envs
from fasturl.problems.buffers import NormalsAroundMeans, StoredObservations
from fasturl.problems.emissions import Bernoulli, Categorical, Gaussian
from fasturl.problems.locks import LockBits, LockCoins

# --- the vector environment against many scalar ones ---


def block_mdp(emission=None, horizon=4, n_states=3, n_actions=2):
    draw = np.random.default_rng(5)
    transitions = chances(draw, horizon, n_states, n_actions, n_states)
    rewards = draw.random((horizon, n_states, n_actions))
    return fu.BlockMDP(transitions, rewards, start=chances(draw, n_states), emission=emission)


def emission(kind, horizon=4, n_states=3):
    draw = np.random.default_rng(6)
    shape = (horizon + 1, n_states, 70)
    if kind == "gaussian":
        return Gaussian(draw.normal(size=(n_states, 5)), 0.3, n_levels=horizon + 1)
    if kind == "bernoulli":
        return Bernoulli(draw.random(shape), n_levels=horizon + 1)
    return Categorical(chances(draw, *shape), n_levels=horizon + 1)


CASES = {
    "bits": ("fasturl/LockBernoulli-v0", {"horizon": 3, "switch": 0.2}),
    "many bits": ("fasturl/LockBernoulli-v0", {"horizon": 65, "switch": 0.5}),
    "reals": ("fasturl/LockGaussian-v0", {"horizon": 3, "switch": 0.2, "noise": 0.3}),
    "latent": ("fasturl/LockGaussian-v0", {"horizon": 3, "switch": 1.0, "observe": "latent"}),
    "one step": ("fasturl/LockBernoulli-v0", {"horizon": 1}),
    "instance, gaussian": ("fasturl/BlockMDP-v0", {"instance": block_mdp(emission("gaussian"))}),
    "instance, bernoulli": ("fasturl/BlockMDP-v0", {"instance": block_mdp(emission("bernoulli"))}),
    "instance, categorical": ("fasturl/BlockMDP-v0", {"instance": block_mdp(emission("categorical"))}),
    "instance, latent": ("fasturl/BlockMDP-v0", {"instance": block_mdp(), "observe": "latent"}),
}
MODES = list(AutoresetMode)


def make(name, num_envs=3, **changes):
    identity, settings = CASES[name]
    return gymnasium.make_vec(identity, num_envs, "vector_entry_point", **(settings | changes))


def sync(name, num_envs=3, mode=AutoresetMode.NEXT_STEP):
    identity, settings = CASES[name]
    return gymnasium.make_vec(identity, num_envs, "sync", vector_kwargs={"autoreset_mode": mode}, **settings)


def assert_same(ours, theirs):
    assert type(ours) is tuple
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert data_equivalence(mine, other, exact=True), (mine, other)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_equals_as_many_scalar_environments_step_by_step(name, mode):
    """Observations, rewards, ends and infos with all their masks, over several episodes."""
    ours, theirs = make(name, autoreset_mode=mode), sync(name, mode=mode)
    actions = np.random.default_rng(0)
    assert ours.metadata["autoreset_mode"] is mode
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert_same(ours.reset(seed=11), theirs.reset(seed=11))
    for _ in range(2 * CASES[name][1].get("horizon", 4) + 3):
        chosen = actions.integers(0, ours.single_action_space.n, 3)
        results = ours.step(chosen)
        assert_same(results, theirs.step(chosen))
        assert results[0] in ours.observation_space
        if mode is AutoresetMode.DISABLED and results[2].any():
            assert_same(ours.reset(), theirs.reset())


@pytest.mark.parametrize("mode", MODES)
def test_equals_scalar_environments_that_are_at_different_levels(mode):
    ours, theirs = make("bits", autoreset_mode=mode), sync("bits", mode=mode)
    assert_same(ours.reset(seed=0), theirs.reset(seed=0))
    over = np.zeros(3, bool)
    for turn in range(12):
        if turn in (1, 4, 9) or (mode is AutoresetMode.DISABLED and over.any()):
            mask = np.array([turn % 2 == 0, True, False]) | over
            assert_same(
                ours.reset(options={"reset_mask": mask}), theirs.reset(options={"reset_mask": mask.copy()})
            )
        results = ours.step(np.full(3, turn % 4))
        assert_same(results, theirs.step(np.full(3, turn % 4)))
        over = results[2]


@pytest.mark.parametrize("name", ["reals", "instance, bernoulli"])
def test_some_environments_can_be_reset_with_seeds_of_their_own(name):
    ours, theirs = make(name), sync(name)
    assert_same(ours.reset(seed=0), theirs.reset(seed=0))
    mask = np.array([False, True, True])
    assert_same(ours.step([0, 1, 0]), theirs.step(np.array([0, 1, 0])))
    assert_same(
        ours.reset(seed=[1, 7, None], options={"reset_mask": mask}),
        theirs.reset(seed=[1, 7, None], options={"reset_mask": mask}),
    )
    assert_same(ours.step([0, 1, 0]), theirs.step(np.array([0, 1, 0])))
    assert ours.np_random_seed == (0, 7, 2)


def test_new_instances_equal_those_of_scalar_environments():
    ours, theirs = make("bits"), sync("bits")
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    before = [ours.instance(e).transitions for e in range(3)]
    assert_same(ours.reset(options={"new_instance": True}), theirs.reset(options={"new_instance": True}))
    for e in range(3):
        np.testing.assert_array_equal(
            ours.instance(e).transitions, theirs.envs[e].unwrapped.instance.transitions
        )
        assert not np.array_equal(ours.instance(e).transitions, before[e])


@pytest.mark.parametrize("value", ["no", 1, None])
def test_whether_arrays_are_copied_is_a_bool(value):
    with pytest.raises(ValueError, match=rf"^copy must be True or False, got {value!r}$"):
        fasturl.envs.VectorEnv("lock-bernoulli", copy=value)


def test_an_integer_seeds_environments_one_after_the_other_and_a_list_each_by_itself():
    one, listed = make("bits"), make("bits")
    assert_same(one.reset(seed=5), listed.reset(seed=[5, 6, 7]))
    assert one.np_random_seed == (5, 6, 7)
    np.testing.assert_array_equal(
        one.instance(1).transitions, fu.LockBernoulli(3, 0.2).instance(6).transitions
    )


def test_without_seeds_environments_differ_and_streams_go_on():
    first, second = make("reals"), make("reals")
    seen = [envs.reset()[0] for envs in (first, second, first)]
    assert len({each.tobytes() for observations in seen for each in observations}) == 9
    assert len(set(first.np_random_seed)) == 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["bits", "reals", "instance, categorical", "latent"])
def test_buffers_are_copied_or_reused_by_choice(name, mode):
    """What is copied stays what it was; what is reused is the same array with the same content."""
    copied, reused = make(name, autoreset_mode=mode), make(name, copy=False, autoreset_mode=mode)
    kept = [copied.reset(seed=0)[0]]
    buffer = reused.reset(seed=0)[0]
    frozen = [kept[0].copy()]
    for _ in range(3):
        observations, *_, infos = copied.step([0, 1, 0])
        same, *_, reused_infos = reused.step([0, 1, 0])
        assert same is buffer
        np.testing.assert_array_equal(same, observations)
        assert data_equivalence(infos, reused_infos, exact=True)
        kept.append(observations)
        frozen.append(observations.copy())
    for array, then in zip(kept, frozen, strict=True):
        np.testing.assert_array_equal(array, then)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(kept) for b in kept[:i])


def test_what_is_returned_can_be_spoiled_without_harm():
    ours, theirs = make("bits", autoreset_mode="SameStep"), sync("bits", mode=AutoresetMode.SAME_STEP)
    ours.reset(seed=0), theirs.reset(seed=0)
    for turn in range(7):
        results, expected = ours.step([turn % 4] * 3), theirs.step(np.array([turn % 4] * 3))
        assert_same(results, expected)
        for array in (
            *results[:4],
            *(value for value in results[4].values() if isinstance(value, np.ndarray)),
        ):
            array.fill(0)


class Shifted(Gaussian):
    """An emission that draws in its own way: the faster buffer of its base would show something else."""

    def draw(self, rngs, episodes):
        block = super().draw(rngs, episodes)
        block.noise[:] += 1
        return block


class Flipped(LockBits):
    """As `Shifted`."""

    def draw(self, rngs, episodes):
        block = super().draw(rngs, episodes)
        block.words[:] ^= np.uint64(1)
        return block


def test_an_emission_brings_its_own_buffer_unless_a_subclass_draws_otherwise():
    assert type(LockBits(3).observation_buffer(2)) is LockCoins
    assert type(emission("gaussian").observation_buffer(2)) is NormalsAroundMeans
    for other in (emission("bernoulli"), Shifted(np.eye(3), 0.1, n_levels=5), Flipped(3)):
        assert type(other.observation_buffer(2)) is StoredObservations
    assert Shifted(np.eye(3), 0.1, n_levels=5).bounds() == (-np.inf, np.inf)


# --- bad input ---


@pytest.mark.parametrize("name", ["bits", "reals", "latent", "instance, bernoulli"])
@pytest.mark.parametrize(
    "actions",
    [
        [0, 1, 4],
        [0, -1, 0],
        [0, 0, 2**40],
        [0, 1],
        [[0, 1, 0]],
        0,
        [0.0, 1.0, 0.0],
        [np.nan, 0, 0],
        [True, False, True],
        ["0", "1", "0"],
        [0, [1], 0],
        None,
        [2**63, 0, 0],
        np.array([2**64 - 1, 0, 0], np.uint64),
        np.array([255, 0, 0], np.uint8),
    ],
)
def test_an_action_outside_the_space_is_refused_and_nothing_moves(name, actions):
    envs, untouched = make(name), make(name)
    envs.reset(seed=0), untouched.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction, match="is not in MultiDiscrete"):
        envs.step(actions)
    assert_same(envs.step([0, 1, 0]), untouched.step([0, 1, 0]))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions_of_any_integer_type_are_taken(kind):
    envs, usual = make("bits"), make("bits")
    envs.reset(seed=0), usual.reset(seed=0)
    assert_same(envs.step(np.array([3, 0, 1, 9, 2, 9], kind)[[0, 2, 4]]), usual.step(np.array([3, 1, 2])))
    strided = np.array([3, 9, 0, 9, 1, 9], kind)[::2]
    assert_same(envs.step(strided), usual.step(np.array([3, 0, 1])))


def test_a_step_before_reset_is_refused():
    with pytest.raises(
        gymnasium.error.ResetNeeded, match=r"^Cannot call envs.step\(\) before calling envs.reset\(\)"
    ):
        make("bits").step([0, 0, 0])


def test_a_step_after_the_end_is_refused_where_nothing_resets_by_itself():
    envs = make("one step", autoreset_mode="Disabled")
    envs.reset(seed=0)
    envs.step([0, 0, 0])
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"reset environments \[0, 1, 2\] first"):
        envs.step([0, 0, 0])
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"reset environments \[1\] first"):
        envs.step([0, 0, 0])
    envs.reset()
    assert envs.step([0, 0, 0])[2].all()


@pytest.mark.parametrize("seed", [-1, 0.5, "3", np.int64(3), [1, -2, 3], [1, 2.0, 3]])
def test_other_seeds_are_refused_as_gymnasium_does(seed):
    envs, untouched = make("bits"), make("bits")
    envs.reset(seed=0), untouched.reset(seed=0)
    with pytest.raises(gymnasium.error.Error, match=r"^Seed must be "):
        envs.reset(seed=seed)
    assert_same(envs.step([0, 1, 2]), untouched.step([0, 1, 2]))


def test_a_list_of_seeds_must_have_one_for_each():
    with pytest.raises(ValueError, match="must match num_envs=3 but got length=2"):
        make("bits").reset(seed=[1, 2])


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False, True], TypeError),
        (np.array([1, 0, 1]), TypeError),
        (np.ones(2, bool), ValueError),
        (np.zeros(3, bool), ValueError),
    ],
)
def test_other_reset_masks_are_refused(mask, error):
    envs = make("bits")
    envs.reset(seed=0)
    with pytest.raises(error, match=r"^`options\['reset_mask'\]` must "):
        envs.reset(options={"reset_mask": mask})


def test_no_part_can_be_reset_before_the_whole():
    with pytest.raises(gymnasium.error.ResetNeeded):
        make("bits").reset(options={"reset_mask": np.array([True, False, False])})


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("autoreset_mode", "Sometimes", "'NextStep', 'SameStep', 'Disabled'"),
        ("observe", "all", "'observation', 'latent'"),
    ],
)
def test_other_settings_are_refused(setting, value, allowed):
    with pytest.raises(ValueError, match=f"^{setting} must be one of {allowed}, got '{value}'$"):
        make("bits", **{setting: value})


@pytest.mark.parametrize("num_envs", [0, -1, 1.5])
def test_there_is_at_least_one_environment(num_envs):
    with pytest.raises(ValueError, match=r"^num_envs must be an integer >= 1, got "):
        fasturl.envs.VectorEnv("lock-bernoulli", num_envs)


# --- outside clients ---


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_gymnasium_records_statistics_of_every_episode(mode):
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make("bits", num_envs=5, autoreset_mode=mode))
    envs.reset(seed=0)
    policies = [envs.unwrapped.instance(e).optimal_policy() for e in range(5)]
    states, returns = envs.unwrapped._players.states, []
    for turn in range(8 if mode is AutoresetMode.NEXT_STEP else 6):
        level = turn % (4 if mode is AutoresetMode.NEXT_STEP else 3)
        actions = [policies[e][min(level, 2), states[e]] for e in range(5)]
        _, rewards, ended, _, _ = envs.step(actions)
        returns.extend(rewards[ended])
    assert list(envs.length_queue) == [3] * 10
    assert list(envs.return_queue) == returns
    assert 0 < sum(returns) < 10


def test_gymnasium_wrappers_of_vector_environments_work():
    envs = gymnasium.wrappers.vector.RescaleObservation(make("reals"), np.float32(-1), np.float32(1))
    envs = gymnasium.wrappers.vector.DictInfoToList(gymnasium.wrappers.vector.ClipReward(envs, -0.5, 0.5))
    observations, infos = envs.reset(seed=0)
    assert np.abs(observations).max() < 1
    assert infos == [{"level": 1, "latent_state": 0, "optimal_value": 0.5}] * 3
    for _ in range(4):
        *_, infos = envs.step(envs.action_space.sample())
    assert [info["level"] for info in infos] == [1, 1, 1]


def test_latent_states_can_be_flattened_to_one_hot_codes():
    envs = gymnasium.wrappers.vector.FlattenObservation(make("latent"))
    observations, infos = envs.reset(seed=0)
    np.testing.assert_array_equal(observations, np.eye(3, dtype=int)[infos["latent_state"]])


@pytest.mark.parametrize("render_mode", ["ansi", "rgb_array"])
def test_frames_are_those_of_scalar_environments(render_mode):
    ours = make("bits", render_mode=render_mode)
    identity, settings = CASES["bits"]
    theirs = gymnasium.make_vec(identity, 3, "sync", render_mode=render_mode, **settings)
    ours.reset(seed=4), theirs.reset(seed=4)
    for turn in range(6):
        for mine, other in zip(ours.render(), theirs.render(), strict=True):
            np.testing.assert_array_equal(mine, other)
        ours.step([turn % 4] * 3), theirs.step(np.array([turn % 4] * 3))


def test_rendering_needs_a_mode_and_a_reset():
    with pytest.raises(gymnasium.error.ResetNeeded):
        make("bits", render_mode="ansi").render()
    with pytest.warns(UserWarning, match="render mode"):
        assert make("bits").render() is None


def test_the_spec_makes_the_same_again():
    envs = make("bits", autoreset_mode="SameStep")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = gymnasium.make_vec(envs.spec)
    assert again.metadata == envs.metadata
    assert_same(again.reset(seed=1), envs.reset(seed=1))

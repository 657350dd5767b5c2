"""Families that nobody here has seen, through both forms of environment and through Gymnasium's ids."""

import warnings
from dataclasses import dataclass
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from strategies import chances

import fasturl as fu
import fasturl.envs
from fasturl._base import names
from fasturl.problems.emissions import Bernoulli, Gaussian
from fasturl.problems.vector_tables import InstanceTables, SharedInstance


def emission_of_kind(kind, horizon, draw):
    """An emission for five states, whose parameters are drawn; None for latent states."""
    if kind == "bits":
        return Bernoulli(draw.random((5, 9)), n_levels=horizon + 1)
    return Gaussian(draw.normal(size=(5, 4)), 0.3, n_levels=horizon + 1) if kind == "reals" else None


@dataclass(frozen=True)
class Warren(fu.Environment):
    """Up to five states a level; their numbers, transitions, rewards and start are drawn for each seed."""

    horizon: int = fu.setting(4, least=1, help="Number of levels that are acted in.")
    kind: str = fu.setting("bits", choices=("bits", "reals", "latent"), help="Kind of observations.")

    n_actions = 3
    max_states = 5

    @property
    def emission(self):
        return _EMISSIONS[self.kind, self.horizon]

    def draw(self, streams):
        draw = np.random.default_rng(streams.row("instance"))
        streams.row("instance")[:] = draw.integers(1, 2**63, 4)  # the next instance is another one
        sizes = [*draw.integers(1, 6, self.horizon), 5]
        transitions = [chances(draw, n, 3, following) for n, following in pairwise(sizes)]
        rewards = [draw.random((n, 3)) * (draw.random() < 0.7) for n in sizes[:-1]]
        start = chances(draw, sizes[0])
        return fu.BlockMDP(transitions, rewards, start=start, emission=self.emission_of(draw))

    def emission_of(self, draw):
        return self.emission


_EMISSIONS = {
    (kind, horizon): emission_of_kind(kind, horizon, np.random.default_rng(0))
    for kind in ("bits", "reals", "latent")
    for horizon in (1, 4)
}


class Disguised(Warren):
    """Every instance has an emission of its own."""

    def emission_of(self, draw):
        return emission_of_kind(self.kind, self.horizon, draw)


@dataclass(frozen=True)
class Backwards(fu.LockBernoulli):
    """A lock with other tables: it starts in either live state, its actions are turned round, and it pays at
    every level."""

    def draw(self, streams):
        lock = super().draw(streams)
        rewards = np.zeros_like(lock.rewards)
        rewards[..., :2] = 0.25
        return fu.BlockMDP(
            lock.transitions[:, :, ::-1], rewards, start=[0.5, 0.5, 0.0], emission=self.emission
        )


class Relabelled(fu.LockGaussian):
    """A subclass that calls its base class and gives what it gives."""

    def draw(self, streams):
        return super().draw(streams)


FAMILIES = {
    "warren, bits": (Warren(kind="bits"), "observation"),
    "warren, reals": (Warren(kind="reals"), "observation"),
    "warren, latent": (Warren(kind="latent"), "latent"),
    "warren of one level": (Warren(1, "bits"), "observation"),
    "own emissions, bits": (Disguised(kind="bits"), "observation"),
    "own emissions, reals": (Disguised(kind="reals"), "observation"),
    "lock with another draw": (Backwards(3, 0.2), "observation"),
    "lock with another draw, latent": (Backwards(3, 0.2), "latent"),
    "rewards of different sizes": (fu.RichLock(3, n_actions=2), "observation"),
    "rewards of different sizes, latent": (fu.RichLock(3, n_actions=2), "latent"),
    "symbols": (fu.RandomMDP(3, emission="categorical"), "observation"),
    "lock with the same draw": (Relabelled(3, 0.2, 0.3), "observation"),
}


def both_forms(case, mode=AutoresetMode.NEXT_STEP, n_envs=3):
    """Our vector environment, and Gymnasium's of as many scalar ones."""
    family, observe = FAMILIES[case]
    ours = fasturl.envs.VectorEnv(family, n_envs, observe=observe, autoreset_mode=mode)
    scalars = [lambda: fasturl.envs.ScalarEnv(family, observe=observe)] * n_envs
    return ours, gymnasium.vector.SyncVectorEnv(scalars, autoreset_mode=mode)


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert data_equivalence(mine, other, exact=True), (mine, other)


@pytest.fixture
def known(monkeypatch):
    """What is registered in a test is forgotten after it, by fasturl and by Gymnasium."""
    monkeypatch.setitem(names._registered, "environment", dict(names._registered["environment"]))
    before = set(gymnasium.registry)
    yield
    for identity in set(gymnasium.registry) - before:
        del gymnasium.registry[identity]


# --- the vector environment against scalar ones


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("case", FAMILIES)
def test_every_vector_environment_equals_scalar_ones_bit_for_bit(case, mode):
    ours, theirs = both_forms(case, mode)
    draw, earned = np.random.default_rng(0), 0.0
    assert ours.observation_space == theirs.observation_space
    assert_same(ours.reset(seed=20), theirs.reset(seed=20))
    for turn in range(40):
        actions = draw.integers(0, ours.single_action_space.n, 3)
        results = ours.step(actions)
        assert_same(results, theirs.step(actions))
        assert results[0] in ours.observation_space or "own" in case  # whose bounds are the family's affair
        earned += results[1].sum()
        if turn == 17:
            assert_same(
                ours.reset(options={"new_instance": True}), theirs.reset(options={"new_instance": True})
            )
        elif mode is AutoresetMode.DISABLED and results[2].any():
            mask = np.array([True, turn % 2 == 0, True])
            for over in (mask, np.ones(3, bool)):
                options = {"reset_mask": over}
                assert_same(ours.reset(options=dict(options)), theirs.reset(options=dict(options)))
    assert earned > 0


@pytest.mark.parametrize("case", FAMILIES)
def test_instances_are_those_of_the_seeds(case):
    family, observe = FAMILIES[case]
    envs = fasturl.envs.VectorEnv(family, 4, observe=observe)
    envs.reset(seed=[3, 9, 3, 0])
    for e, seed in enumerate([3, 9, 3, 0]):
        for table in ("transitions", "rewards", "start", "n_states"):
            np.testing.assert_array_equal(
                getattr(envs.instance(e), table), getattr(family.instance(seed), table)
            )


def test_a_subclass_that_draws_as_its_base_gives_the_bits_of_its_base():
    base, same = fu.LockGaussian(3, 0.2, 0.3), Relabelled(3, 0.2, 0.3)
    assert isinstance(same.vector_tables(2), InstanceTables)
    ours, theirs = (fasturl.envs.VectorEnv(family, 5) for family in (same, base))
    assert_same(ours.reset(seed=0), theirs.reset(seed=0))
    for turn in range(12):
        assert_same(ours.step([turn % 4] * 5), theirs.step([turn % 4] * 5))


def test_a_block_mdp_shares_its_tables_unless_a_subclass_draws_others():
    class Rerolled(fu.BlockMDP):
        def draw(self, streams):
            rewards = np.random.default_rng(streams.row("instance")).random((2, 2, 2))
            return fu.BlockMDP(self.transitions, rewards)

    tables = np.full((2, 2, 2, 2), 0.5), np.zeros((2, 2, 2))
    assert isinstance(fu.BlockMDP(*tables).vector_tables(3), SharedInstance)
    envs = fasturl.envs.VectorEnv(Rerolled(*tables), 3, observe="latent")
    _, infos = envs.reset(seed=0)
    assert infos["optimal_value"].tolist() == [Rerolled(*tables).optimal_value(seed) for seed in range(3)]
    envs.reset(options={"new_instance": True})


# --- optimal values


@pytest.mark.parametrize("case", FAMILIES)
def test_the_optimal_value_is_that_of_each_instance(case):
    family, observe = FAMILIES[case]
    values = [family.optimal_value(seed) for seed in range(5)]
    ours = fasturl.envs.VectorEnv(family, 5, observe=observe)
    assert ours.reset(seed=0)[1]["optimal_value"].tolist() == values
    env = fasturl.envs.ScalarEnv(family, observe=observe)
    assert [env.reset(seed=seed)[1]["optimal_value"] for seed in range(5)] == values
    assert env.step(0)[-1]["optimal_value"] == values[-1]
    if "warren" in case:
        assert len(set(values)) > 1


def test_a_new_instance_has_an_optimal_value_of_its_own():
    env = fasturl.envs.ScalarEnv(Warren())
    values = [
        env.reset(seed=0)[1]["optimal_value"],
        env.reset(options={"new_instance": True})[1]["optimal_value"],
    ]
    assert values[1] == env.instance.optimal_value() != values[0]


# --- what a family declares is checked before kernels see it


def plain(horizon, n_states, n_actions, emission=None):
    """A Block MDP of some size, which pays nothing."""
    transitions = np.full((horizon, n_states, n_actions, n_states), 1 / n_states)
    return fu.BlockMDP(transitions, np.zeros((horizon, n_states, n_actions)), emission=emission)


@pytest.mark.parametrize(
    ("instance", "match"),
    [
        (plain(2, 1, 1), "must give 3 levels and 1 actions as declared, got 2 and 1$"),
        (plain(3, 1, 2), "must give 3 levels and 1 actions as declared, got 3 and 2$"),
        (plain(3, 2, 1), "must give at most max_states = 1 states a level, got 2$"),
        (plain(3, 1, 1), "must give observations of 2 reals as declared, got none$"),
        (
            plain(3, 1, 1, Bernoulli([[0.5, 0.5]], n_levels=4)),
            "must give observations of 2 reals as declared, got 2 bits$",
        ),
        ("lock", "must give a BlockMDP, got 'lock'$"),
    ],
    ids=["levels", "actions", "states", "no emission", "another emission", "no Block MDP"],
)
def test_an_instance_that_is_not_as_declared_is_refused_by_both_forms(instance, match):
    class Wrong(fu.Environment):
        horizon, n_actions, max_states = 3, 1, 1
        emission = Gaussian([[0.0, 1.0]], 0.1, n_levels=4)

        def draw(self, streams):
            return instance

    for form in (fasturl.envs.ScalarEnv, fasturl.envs.VectorEnv):
        with pytest.raises(ValueError, match=f"^draw of Wrong {match}"):
            form(Wrong()).reset(seed=0)


def test_instances_with_and_without_an_emission_of_their_own_are_refused():
    emissions = [_EMISSIONS["reals", 4], emission_of_kind("reals", 4, np.random.default_rng(1))]

    class Fickle(Warren):
        def emission_of(self, draw):
            return emissions.pop(0)

    envs = fasturl.envs.VectorEnv(Fickle(kind="reals"), 1)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="must give all instances the emission of the family, or each "):
        envs.reset(options={"new_instance": True})


# --- ids


def test_a_registered_family_has_an_id_at_once(known):
    fu.register(Warren)
    assert "fasturl/Warren-v0" in fasturl.envs.ids()
    env = gymnasium.make("fasturl/Warren-v0", horizon=1, kind="reals")
    assert env.unwrapped.environment == Warren(1, "reals")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    envs = gymnasium.make_vec("fasturl/Warren-v0", 4, horizon=1, observe="latent", autoreset_mode="SameStep")
    assert envs.reset(seed=0)[1]["optimal_value"].tolist() == [
        Warren(1).optimal_value(seed) for seed in range(4)
    ]
    assert gymnasium.make(env.spec).unwrapped.environment == Warren(1, "reals")


def test_a_family_that_is_registered_again_keeps_its_id(known):
    fu.register(Warren)
    fu.register(Warren)
    assert fasturl.envs.ids().count("fasturl/Warren-v0") == 1


def test_an_id_that_is_taken_is_told_and_harms_nobody(known):
    fu.register(Warren)
    other = dataclass(frozen=True)(type("Warren", (Warren,), {"__doc__": "Another of the same name."}))
    with pytest.warns(UserWarning, match="'other-warren' of the package .* since fasturl/Warren-v0 is taken"):
        fu.register(other, name="other-warren")
    assert gymnasium.make("fasturl/Warren-v0").unwrapped.environment.name == "warren"
    assert type(fasturl.envs.ScalarEnv("other-warren").environment) is other


# --- bad input


@pytest.mark.parametrize("form", [fasturl.envs.ScalarEnv, fasturl.envs.VectorEnv])
@pytest.mark.parametrize(
    ("env", "settings", "match"),
    [
        ("lock-bernouli", {}, r"^environment must be one of .* \(did you mean lock-bernoulli\?\)$"),
        (
            "lock-bernoulli",
            {"swich": 0.2},
            r"^swich is not a setting of .* \(did you mean switch\?\)",
        ),
        (
            "lock-bernoulli",
            {"obseve": "latent"},
            r"^obseve is not a .* \(did you mean observe\?\)",
        ),
        (Warren(), {"horizon": 2}, r"^horizon cannot be set beside env Warren\(.*\): set it in the object"),
        (Warren, {}, r"^env must be an instance, got the class Warren: write Warren\(\)$"),
        (None, {}, "^env must be an environment of fasturl or the name of one, got None$"),
    ],
)
def test_other_environments_are_refused(form, env, settings, match):
    with pytest.raises(ValueError, match=match):
        form(env, **settings)


def test_a_setting_that_gymnasium_has_too_is_refused_by_name_and_taken_as_an_object(known):
    @fu.register
    @dataclass(frozen=True)
    class Copied(Warren):
        copy: int = fu.setting(1, help="An argument of vector environments has this name.")

    with pytest.raises(ValueError, match=r"^copy of copied is an argument of Gymnasium's environments too: "):
        gymnasium.make("fasturl/Copied-v0", copy=2)
    assert gymnasium.make("fasturl/Copied-v0", env=Copied(copy=2)).unwrapped.environment.copy == 2


@pytest.mark.parametrize("form", [fasturl.envs.ScalarEnv, fasturl.envs.VectorEnv])
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ("x", "^options must be a dict or None, got 'x'$"),
        (["new_instance"], "^options must be a dict or None, got "),
        ({"new_instanc": True}, r"^a key of options must be .*\(did you mean new_instance\?\)$"),
    ],
)
def test_other_options_are_refused(form, options, match):
    with pytest.raises(ValueError, match=match):
        form(Warren()).reset(options=options)


def test_there_is_no_instance_before_the_first_reset():
    with pytest.raises(gymnasium.error.ResetNeeded):
        _ = fasturl.envs.ScalarEnv(Warren()).instance
    with pytest.raises(gymnasium.error.ResetNeeded):
        fasturl.envs.VectorEnv(Warren(), 2).instance(0)

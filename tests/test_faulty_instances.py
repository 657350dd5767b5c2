"""An instance that is not what its family declares, or whose tables were tampered with, never reaches a
kernel."""

import numpy as np
import pytest

import fasturl as fu
from fasturl._kernels.records import NO_REWARDS
from fasturl.envs import ScalarEnv, VectorEnv, rollout
from fasturl.problems.vector_tables import InstanceTables, VectorTables

H, S, A = 3, 3, 2
TABLES = np.full((H, S, A, S), 1 / S), np.full((H, S, A), 0.5)


class Family(fu.Environment):
    """Draws what `make` gives."""

    horizon, n_actions, max_states = H, A, S

    def __init__(self, make=lambda streams: fu.BlockMDP(*TABLES)):
        self.make = make

    def draw(self, streams):
        return self.make(streams)


def refused(family, message):
    """Everybody who draws an instance is told the same."""
    for use in (
        lambda: fu.train(family, fu.OracleQ(), 20),
        lambda: family.optimal_value(),
        lambda: ScalarEnv(family, observe="latent").reset(seed=0),
        lambda: VectorEnv(family, num_envs=2, observe="latent").reset(seed=0),
        lambda: rollout(family, np.zeros((H, S), int), episodes=2),
    ):
        with pytest.raises(ValueError, match=message):
            use()


def test_what_a_family_declares_right_is_played():
    assert fu.train(Family(), fu.OracleQ(), 20).v_star == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("horizon", -5),
        ("horizon", 0),
        ("horizon", 2.5),
        ("n_actions", 0),
        ("max_states", ()),
        ("max_states", "many"),
        ("horizon", 10**13),
    ],
)
def test_a_family_declares_whole_numbers(name, value):
    refused(type("Declares", (Family,), {name: value})(), f"{name} must be an integer ")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, S, A, S), "3 levels and 2 actions as declared, got 2 and 2"),
        ((H, S, 5, S), "3 levels and 2 actions as declared, got 3 and 5"),
        ((H, 5, A, 5), "at most max_states = 3 states a level, got 5"),
    ],
)
def test_an_instance_of_another_size_is_refused(shape, message):
    other = fu.BlockMDP(np.full(shape, 1 / shape[-1]), np.zeros(shape[:3]))
    refused(Family(lambda streams: other), f"draw of Family must give {message}")


def test_a_family_whose_size_varies_by_seed_is_refused_where_it_passes_its_bound():
    def draw(streams):
        size = int(streams.generator("instance").integers(1, 7))
        return fu.BlockMDP(np.full((H, size, A, size), 1 / size), np.full((H, size, A), 0.5))

    with pytest.raises(ValueError, match=r"at most max_states = 3 states a level, got [456]"):
        fu.train(Family(draw), fu.OracleQ(), 20, seeds=10)


def test_an_object_that_is_no_block_mdp_is_refused():
    class Liar:
        def declared_by(self, family):
            return self

    refused(Family(lambda streams: Liar()), "draw of Family must give a BlockMDP, got <")
    refused(Family(lambda streams: None), "draw of Family must give a BlockMDP, got None")


def test_a_subclass_cannot_talk_its_way_past_the_check():
    class Liar(fu.BlockMDP):
        def declared_by(self, family):
            return self

    wide = Liar(np.full((2, 5, 4, 5), 0.2), np.zeros((2, 5, 4)))
    refused(Family(lambda streams: wide), "3 levels and 2 actions as declared, got 2 and 4")


# --- tables that change after they were checked ---


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_states", ()),
        ("n_states", (1, 1, 1, 1)),
        ("horizon", 9),
        ("n_actions", 9),
        ("transitions", np.full((H, S, A, S), 7.0)),
        ("rewards", np.zeros(1)),
        ("start", np.zeros(1)),
        ("emission", "lens"),
        ("dynamics", None),
    ],
)
def test_the_tables_of_a_block_mdp_cannot_be_put_in_another_s_place(name, value):
    with pytest.raises(AttributeError, match=f"{name} of a BlockMDP cannot be changed: make another one"):
        setattr(fu.BlockMDP(*TABLES), name, value)


def test_nor_can_their_entries():
    with pytest.raises(ValueError, match="read-only"):
        fu.BlockMDP(*TABLES).transitions[0, 0, 0] = 7.0


def own_class(**attributes):
    """A Block MDP of a user's class that has filled in some of its attributes without asking anybody."""

    class Own(fu.BlockMDP):
        pass

    instance = Own(*TABLES)
    vars(instance).update(attributes)
    return instance


def dynamics(**changes):
    return {"dynamics": fu.BlockMDP(*TABLES).dynamics._replace(**changes)}


FILLED_IN = {
    "no states": ({"n_states": ()}, r"n_states, 4 integers from 1 to 3, got \(\)"),
    "too few states": ({"n_states": (1, 1, 1, 1)}, "n_states whose greatest is 3 as its tables have"),
    "another horizon": ({"horizon": 9}, "9 levels and 2 actions as declared, got 3 and 2"),
    "another horizon than it draws": (
        {"draw": lambda streams: own_class(n_actions=9)},
        "horizon 3 and n_actions 2 as its tables have, got 3 and 9",
    ),
    "flat transitions": (
        dynamics(transitions=np.ones(3)),
        r"transitions of shape \[H, S, A, S\], got \(3,\)",
    ),
    "transitions that are not sums": (
        dynamics(transitions=np.zeros((H, S, A, S))),
        "dynamics.transitions that are the running sums of transitions, got others",
    ),
    "transitions that are none": (
        {"transitions": np.full((H, S, A, S), np.nan)},
        "transitions that is finite, got nan",
    ),
    "chances beyond 1": (
        {"transitions": np.full((H, S, A, S), 7.0)},
        "transitions of what draw of Own gives must be probabilities that sum to 1 over next states",
    ),
    "too few rewards": (
        dynamics(rewards=np.zeros((1, S, A, S))),
        r"dynamics.rewards, contiguous float64 of shape \(3, 3, 2, 3\), got float64 of shape \(1, 3, 2, 3\)",
    ),
    "rewards of another type": (dynamics(rewards=np.zeros((H, S, A, S), int)), "got int64 of shape"),
    "too few levels of random rewards": (
        dynamics(reward_kinds=np.ones(1, np.uint8)),
        r"dynamics.reward_kinds, contiguous uint8 of shape \(3,\), got uint8 of shape \(1,\)",
    ),
    "a kind of rewards that there is not": (
        dynamics(reward_kinds=np.full(H, 3, np.uint8)),
        "dynamics.reward_kinds from 0 to 2, got 3",
    ),
    "rewards where it says that there are none": (
        dynamics(reward_kinds=np.full(H, NO_REWARDS, np.uint8)),
        "rewards of 0 where dynamics.reward_kinds is 2, got others",
    ),
}


@pytest.mark.parametrize("case", FILLED_IN)
def test_tables_that_a_user_s_class_filled_in_are_looked_at(case):
    attributes, message = FILLED_IN[case]
    with pytest.raises(ValueError, match=message):
        fu.train(own_class(**attributes), fu.OracleQ(), 20)


def test_a_user_s_class_that_changed_nothing_is_played():
    own, ours = (fu.train(env, fu.OracleQ(), 50) for env in (own_class(), fu.BlockMDP(*TABLES)))
    np.testing.assert_array_equal(own.average_reward, ours.average_reward)


# --- tables of vector environments ---


class OwnTables(VectorTables):
    """The tables of a family's instances, with `changes` to what kernels read."""

    def __init__(self, family, n_envs, changes):
        self.good, self.changes = InstanceTables(family, n_envs), changes
        self.emissions, self.optimal_values = self.good.emissions, self.good.optimal_values

    def seed(self, index, streams):
        self.good.seed(index, streams)

    def draw(self, mask):
        self.good.draw(mask)
        self.arrays = self.good.arrays._replace(**self.changes)

    def instance(self, index):
        return self.good.instance(index)


def envs(changes):
    class Tabled(Family):
        def vector_tables(self, n_envs):
            return OwnTables(self, n_envs, changes)

    return VectorEnv(Tabled(), num_envs=4, observe="latent")


def test_tables_of_a_user_s_class_that_fit_are_played():
    own, ours = envs({}), VectorEnv(Family(), num_envs=4, observe="latent")
    own.reset(seed=0), ours.reset(seed=0)
    for _ in range(2 * H):
        np.testing.assert_array_equal(own.step(np.zeros(4, int))[0], ours.step(np.zeros(4, int))[0])


ROWS = H * 4 * S * A


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ways": np.full((H, 4, S, A), ROWS)}, f"ways from 0 to {ROWS - 1}, got {ROWS}..{ROWS}"),
        ({"ways": np.full((H, 4, S, A), -1)}, "ways from 0 to"),
        ({"ways": np.zeros((1, 4, S, A), int)}, "ways, integer of shape .* got int64 of shape"),
        ({"ways": np.zeros((H, 4, S, A))}, "ways, integer of shape .* got float64 of shape"),
        ({"start": np.ones((2, S))}, "start, float64 of shape"),
        ({"start": np.zeros((4, S))}, "start that are running sums of probabilities up to 1"),
        ({"outcomes": np.ones((ROWS, S + 2))}, "outcomes, float64 of shape"),
        ({"rewards": np.ones((H, 4, S, A, 1))}, "rewards, float64 of shape"),
        ({"random_rewards": np.ones(H, bool)}, "random_rewards, bool.* of shape"),
        ({"reward_sizes": np.ones((1, 1, 1))}, "reward_sizes, float64 of shape"),
    ],
)
def test_tables_of_a_user_s_class_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=f"vector_tables of Tabled must give {message}"):
        envs(changes).reset(seed=0)


def test_tables_that_are_none_are_refused():
    class Tabled(Family):
        def vector_tables(self, n_envs):
            return "tables"

    with pytest.raises(ValueError, match="vector_tables of Tabled must give VectorTables, got 'tables'"):
        VectorEnv(Tabled(), num_envs=2, observe="latent")


def test_a_third_family_moves_side_by_side_as_it_does_alone():
    """A subclass of a lock with a `draw` of its own meets its own instances, not those of the lock."""

    class Generous(fu.LockBernoulli):
        def draw(self, streams):
            lock = super().draw(streams)
            rewards = np.zeros((self.horizon, 3, 4, 3))
            rewards[-1] = 0.5
            return fu.BlockMDP(lock.transitions, rewards, emission=lock.emission)

    side_by_side = VectorEnv(Generous(H), num_envs=500)
    side_by_side.reset(seed=0)
    total = sum(side_by_side.step(np.zeros(500, int))[1].mean() for _ in range(H))
    # a mean of 500 coins is within 0.1 of 1/2 but for one seed in 10^5; this seed is fixed
    assert total == pytest.approx(0.5, abs=0.1)

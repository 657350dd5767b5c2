"""What an environment declares and its agents are told: the number of states, those that nobody visits, and
the greatest return."""

import numpy as np
import pytest
from known_parts import LOCKS, SMALL, Behind, bits_of
from url_parts import Explorer, ExplorerMemory

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.evaluation import LatentPolicy
from fasturl.problems.description import Description
from fasturl.problems.emissions import Categorical, Gaussian

# --- the bound on the number of states ---


@pytest.mark.parametrize("kind", LOCKS)
def test_more_labels_than_states_open_a_lock_as_well(kind):
    run = fu.train(LOCKS[kind](5), fu.URL(n_states=6), 4_000, seeds=6)
    assert run.success_rate == 1.0


@pytest.mark.parametrize("kind", LOCKS)
def test_url_as_written_may_have_more_labels_than_there_are_states(kind):
    lock, agent = LOCKS[kind](1), fu.URLAsWritten(n_states=5, **SMALL)
    assert agent.sizes(lock.describe(), 1).iterations == 2 * 5 + 1
    run = fu.train(lock, agent, 1)
    assert np.isfinite(run.values).all()


class Told(Explorer):
    """Keeps the tasks that it is told."""

    def __init__(self):
        self.tasks = []

    def start(self, task):
        self.tasks.append(task)
        return ExplorerMemory(task)


def tasks_of(env, *agents):
    """What the learner of each kind of agent is told on an environment."""
    learners = [Told() for _ in agents]
    for make, learner in zip(agents, learners, strict=True):
        fu.train(env, make(learner), 1 if make is as_written else 60, n_jobs=1)
    return [learner.tasks[0] for learner in learners]


class Constant:
    """An oracle that tells nothing apart."""

    n_clusters = 2

    def fit(self, X):
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def latent(learner):
    return learner


def practical(learner):
    return fu.URL("gmm", learner)


def as_written(learner):
    return fu.URLAsWritten(Constant(), learner, **SMALL)


def gaussian_lock(**declared):
    """The tables of a lock with two levels, seen through reals, with what is declared of them."""
    lock = fu.LockGaussian(2, 0.2)
    instance = lock.instance(0)
    return fu.BlockMDP(instance.transitions, instance.rewards, emission=lock.emission, **declared)


@pytest.mark.parametrize(("declared", "n_labels"), [({}, 3), ({"max_states": 7}, 7)])
def test_the_bound_is_what_the_environment_declares(declared, n_labels):
    env = gaussian_lock(**declared)
    assert env.describe().max_states == env.instance(0).describe().max_states == n_labels
    assert [task.n_labels for task in tasks_of(env, latent, practical, as_written)] == [n_labels] * 3
    assert (
        fu.URL(n_states=4).n_labels(env.describe())
        == fu.URLAsWritten(n_states=4).n_labels(env.describe())
        == 4
    )
    assert fu.PCID().n_labels(env.describe()) == n_labels
    assert fu.train(env, fu.OracleQ(), 2_000, seeds=3).success_rate == 1.0


def test_the_bound_cannot_be_below_the_number_of_states():
    with pytest.raises(ValueError, match="max_states must be an integer >= 3, got 2"):
        gaussian_lock(max_states=2)

    class Understated(Behind):
        def __init__(self, other):
            super().__init__(other)
            self.max_states = 2

    with pytest.raises(
        ValueError, match="draw of Understated must give at most max_states = 2 states a level"
    ):
        fu.train(Understated(fu.LockBernoulli(2)), fu.OracleQ(), 5)


# --- states that are never visited ---


def with_an_unreachable_state(horizon=2):
    """A lock with a fourth state that nothing leads to, each state being a symbol of its own."""
    lock = fu.LockBernoulli(horizon, 0.2).instance(2)
    transitions = np.zeros((horizon, 4, 4, 4))
    transitions[:, :3, :, :3] = lock.transitions
    transitions[:, 3, :, 3] = 1.0
    rewards = np.zeros_like(transitions)
    rewards[:, :3, :, :3] = lock.rewards
    emission = Categorical(np.eye(4), n_levels=horizon + 1)
    return fu.BlockMDP(transitions, rewards, emission=emission, max_return=1)


class Reads:
    """An oracle that knows the states, and calls the one that nobody visits as it is told."""

    def __init__(self, *labels):
        self.labels = np.array(labels)

    def fit(self, X):
        return self

    def predict(self, X):
        return self.labels[np.asarray(X).argmax(axis=1)]


@pytest.mark.parametrize("learner", [fu.URL().learner, fu.QLearning(), Explorer()], ids=type)
@pytest.mark.parametrize("labels", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("n_states", [None, 3])
def test_a_label_that_only_an_unvisited_state_gets_changes_nothing(learner, labels, n_states):
    env = with_an_unreachable_state()
    runs = [
        bits_of(fu.train(env, fu.URL(Reads(*labels, other), learner, n_states, batch=10), 300, seeds=[1, 2]))
        for other in (0, 1, 2, 3, 4, 100, 255)
    ]
    assert runs.count(runs[0]) == len(runs)


class Declares(Reads):
    n_clusters = 9


def practical_with(oracle):
    return fu.URL(oracle), 200


def as_written_with(oracle):
    return fu.URLAsWritten(oracle, n_states=9, **SMALL), 1


@pytest.mark.parametrize("make", [practical_with, as_written_with])
def test_nor_does_it_where_the_oracle_says_how_many_labels_it_gives(make):
    env = with_an_unreachable_state(1)
    runs = [bits_of(fu.train(env, *make(Declares(0, 1, 2, other)))) for other in (0, 3, 8)]
    assert runs.count(runs[0]) == len(runs)


def test_nor_does_it_in_the_form_as_written():
    env = with_an_unreachable_state(1)
    runs = [
        bits_of(fu.train(env, fu.URLAsWritten(Reads(0, 1, 2, other), **SMALL), 2, seeds=2))
        for other in (0, 1, 2, 3)
    ]
    assert runs.count(runs[0]) == len(runs)


# --- the greatest return ---


class Ladder(fu.Environment):
    """Three levels, one state, two actions; a step pays one of two rewards."""

    horizon, n_actions, max_states = 3, 2, 1
    emission = Gaussian(np.zeros((1, 2)), 0.1, n_levels=4)

    def __init__(self, low, high, **declared):
        self.low, self.high = low, high
        for name, value in declared.items():
            setattr(self, name, value)

    def draw(self, streams):
        rewards = np.tile([float(self.low), float(self.high)], (3, 1, 1))
        return fu.BlockMDP(
            np.ones((3, 1, 2, 1)), rewards, reward_draw="deterministic", emission=self.emission
        )


@pytest.mark.parametrize(
    ("env", "greatest"),
    [
        (fu.LockGaussian(3), 1.0),
        (Ladder(0, 1), 3.0),
        (Ladder(0, 1, max_return=2.5), 2.5),
        (Ladder(-1, 2, reward_range=(-1, 2)), 6.0),
        (Ladder(-3, -2, reward_range=(-3, -2)), -2.0),
        (Ladder(-3, -2, reward_range=(-3, -2), max_return=-4), -4.0),
        (Ladder(-3, 0, reward_range=(-3, 0)), 0.0),
        (Ladder(-3, -2).draw(None), -2.0),
        (gaussian_lock(), 1.0),
        (gaussian_lock(max_return=2), 2.0),
    ],
    ids=lambda value: getattr(value, "name", None) or repr(value),
)
def test_values_are_capped_at_the_declared_range_of_returns(env, greatest):
    assert env.describe().max_return == greatest
    # URL as written takes rewards in [0, 1] alone
    low, high = env.describe().reward_range
    agents = (latent, practical, as_written) if low >= 0 and high <= 1 else (latent, practical)
    told = tasks_of(env, *agents)
    assert [task.max_return for task in told] == [greatest] * len(agents)
    tables = fu.OracleQ().tables(told[0])
    assert (tables.cap, tables.q.max()) == (greatest, greatest)


@pytest.mark.parametrize("agent", [fu.OracleQ(), fu.URL(), fu.QLearning()], ids=type)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 2), (-3, -2), (-3, 0)])
def test_rewards_of_any_sign_are_learned_from(agent, low, high):
    run = fu.train(Ladder(low, high, reward_range=(low, high)), agent, 600, seeds=3)
    assert run.values.tolist() == pytest.approx([3.0 * high] * 3)


def test_a_policy_on_more_states_than_there_are_is_judged_by_those_there_are():
    lock = fu.LockBernoulli(2).instance(0)
    best = np.eye(4)[lock.optimal_policy()]
    wide = np.concatenate([best, np.full((2, 4, 4), 0.25)], axis=1)
    assert LatentPolicy(wide).judge(lock, Streams(0)).value == 0.5
    assert isinstance(lock.describe(), Description)

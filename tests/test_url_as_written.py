"""URL as written: Algorithms 1, 2 and 3."""

import tracemalloc

import numpy as np
import pytest
from naive.url_as_written import AsWritten
from scipy.stats import binom
from url_parts import Explorer, play
from written_parts import SMALL, FirstTrace, Perfect

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import url_as_written
from fasturl.agents.guarantee import Sizes
from fasturl.agents.url_as_written import _Standards
from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.predict import PredictDecoder
from fasturl.problems.emissions import Gaussian
from fasturl.problems.environment import emission_rngs


@pytest.mark.parametrize(("epsilon", "delta", "horizon"), [(0.1, 0.1, 3), (0.5, 0.05, 2), (0.25, 0.6, 4)])
def test_n_l_and_j_are_those_of_the_paper(epsilon, delta, horizon):
    sizes = Sizes(horizon, 3, 10, 5, epsilon, delta, 0.01, 0.01)
    assert sizes.restarts == int(np.ceil(np.log(2 / delta) / 2))
    assert sizes.test_episodes == int(
        np.ceil(9 * horizon**2 / (2 * epsilon**2) * np.log(2 * sizes.restarts / delta))
    )
    assert sizes.iterations == (horizon + 1) * 3 + 1


@pytest.mark.parametrize(("horizon", "episodes", "batch"), [(2, 1, 3), (2, 3, 2), (3, 2, 4)])
def test_the_number_of_trajectories_is_exactly_that_of_the_algorithm(horizon, episodes, batch):
    agent = fu.URLAsWritten(oracle=Perfect(), epsilon=0.5, delta=0.2, batch=batch)
    env = fu.LockGaussian(horizon)
    run = fu.train(env, agent, episodes)
    N, L, J = (
        getattr(agent.sizes(env.describe(), episodes), name)
        for name in ("restarts", "test_episodes", "iterations")
    )
    sampled = sum(((k - 1) * J + i + 1) * batch for k in range(1, episodes + 2) for i in range(1, J + 1))
    assert run.trajectories[-1] == N * (sampled + episodes + 1) + N * L
    assert run.diagnostics[0]["oracle_fits"] == N * (episodes + 1) * J * (horizon + 1)
    assert run.diagnostics[0]["decoder_trajectories"] == N * sampled
    seconds = run.diagnostics[0]["seconds"]
    assert list(seconds) == ["oracle", "exploration", "learning", "selection", "evaluation"]
    assert all(spent > 0 for spent in seconds.values())
    assert sum(seconds.values()) <= run.wall_seconds


def test_each_restart_starts_the_learner_afresh_and_feeds_it_k_trajectories():
    learner = FirstTrace()
    fu.train(
        fu.LockGaussian(2),
        fu.URLAsWritten(oracle=Perfect(), learner=learner, epsilon=0.5, delta=0.03, batch=3),
        4,
    )
    assert [len(memory.fed) for memory in learner.memories] == [4, 4, 4]  # N = ceil(log(2 / 0.03) / 2) = 3


class Changes(FirstTrace):
    """A learner that explores with action 0 and has learned, in the end, to play action 1 with the given
    probability."""

    def __init__(self, chance):
        super().__init__()
        self.chance = chance

    def start(self, task):
        memory = super().start(task)
        memory.final_policy = lambda: np.tile(
            [1 - self.chance, self.chance], (task.horizon, task.n_labels, 1)
        )
        return memory


def paying(chances):
    """One level, and an action for each chance of a reward of 1."""
    look = Gaussian(np.eye(2), 0.1, n_levels=2)
    return fu.BlockMDP(np.full((1, 2, len(chances), 2), 0.5), np.tile(chances, (1, 2, 1)), emission=look)


def test_what_is_kept_is_the_final_policy_of_the_learner_and_not_one_of_its_exploration():
    agent = fu.URLAsWritten(oracle=Perfect(2), learner=Changes(1.0), **SMALL)
    env = paying([0.0, 1.0])
    outcome, ledger = play(env, agent, 3, Streams(0))
    sizes = agent.sizes(env.describe(), 3)
    assert outcome.policy.judge(env, Streams(0).evaluation()).value == 1.0
    assert ledger.returns[-sizes.test_episodes :].tolist() == [1.0] * sizes.test_episodes
    explored = (
        sum((k * sizes.iterations + i + 2) * sizes.batch for k in range(3) for i in range(sizes.iterations))
        + 3
    )
    assert not ledger.returns[:explored].any()


def test_a_learner_that_never_stops_exploring_ends_with_what_it_has_learned():
    """With the policy that it would explore with next, 3 of these seeds end well."""
    run = fu.train(
        narrow_path(2), fu.URLAsWritten(oracle=Perfect(2), learner=Explorer(), **SMALL), 9, seeds=8
    )
    assert (run.values >= run.v_star - SMALL["epsilon"]).all()


def test_a_policy_of_probabilities_is_drawn_once():
    """A policy of Algorithm 1 is a function: each run keeps one action, the likelier one more often than 12
    times in 40 (else: 2e-7)."""
    agent = fu.URLAsWritten(oracle=Perfect(2), learner=Changes(0.7), epsilon=0.9, delta=0.9, batch=1)
    values = fu.train(paying([0.0, 1.0]), agent, 1, seeds=40).values
    assert set(values) == {0.0, 1.0}
    assert values.sum() > 12


def test_labels_keep_their_meaning_through_all_refits():
    """The oracle renames the states at each fit; FixLabel must undo it once a label has its standard set.

    The batch is large enough for the start state to have a standard set after the first iteration.
    """
    learner = FirstTrace()
    fu.train(
        fu.LockGaussian(2, noise=0.05),
        fu.URLAsWritten(oracle=Perfect(), learner=learner, **(SMALL | {"batch": 30})),
        8,
    )
    for memory in learner.memories:
        assert len({labels[0] for labels, _, _ in memory.fed}) == 1


def test_fix_swaps_a_label_that_more_than_three_fifths_of_a_standard_set_gets():
    class Fixed:
        def predict(self, X):
            return np.asarray(X)[:, 0].astype(int)

    decoder = PredictDecoder(Fixed(), 3)
    most = np.array([[2.0]] * 7 + [[0.0]] * 3, np.float32)
    assert _Standards([{1: most}], 3).fix(0, decoder).decode(np.array([[0.0], [1.0], [2.0]])).tolist() == [
        0,
        2,
        1,
    ]
    exactly = np.array([[2.0]] * 6 + [[0.0]] * 4, np.float32)
    assert _Standards([{1: exactly}], 3).fix(0, decoder).decode(np.array([[0.0], [1.0], [2.0]])).tolist() == [
        0,
        1,
        2,
    ]


def test_fix_tells_the_decoder_which_level_it_is():
    class Told(PredictDecoder):
        def decode(self, X, level=1):
            told.append(level)
            return super().decode(X, level)

    told, seen = [], np.zeros((4, 3), np.float32)
    standards = _Standards([{0: seen} for _ in range(3)], 3)
    for level in range(3):
        standards.fix(level, Told(Perfect().fit(seen), 3))
    assert told == [1, 2, 3]


def test_the_selection_keeps_no_observations(monkeypatch):
    """It is by far the longest play, and takes less than a quarter of the memory that its observations would
    take."""
    monkeypatch.setattr(url_as_written, "_CHUNK", 256)
    env = fu.BlockMDP(
        np.full((1, 2, 2, 2), 0.5), np.zeros((1, 2, 2)), emission=Gaussian(np.eye(2, 500), 0.1, n_levels=2)
    )
    short, long = (
        fu.URLAsWritten(oracle=Perfect(2), epsilon=epsilon, delta=0.3, batch=2) for epsilon in (0.5, 0.03)
    )
    observations = long.sizes(env.describe(), 1).test_episodes * 2 * 500 * 4
    assert observations > 35e6
    play(env, short, 1, Streams(0))  # loads the kernels, which take memory of their own
    tracemalloc.start()
    play(env, long, 1, Streams(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < observations / 4


def test_a_label_enters_the_standard_set_once_and_only_with_enough_observations():
    standards = _Standards([{}], 2)
    seen = np.arange(10.0)[:, None]
    standards.extend(0, np.array([0] * 7 + [1] * 3), seen, least=4)
    assert {label: len(members) for label, members in standards.sets[0].items()} == {0: 7}
    standards.extend(0, np.array([0] * 5 + [1] * 5), seen, least=4)
    assert {label: len(members) for label, members in standards.sets[0].items()} == {0: 7, 1: 5}


def narrow_path(horizon):
    """Two states whose looks change places at every level. Action h % 2 stays on a path that pays 1 at its
    end; the rest ends with 0.1.

    One of 2^H deterministic policies on the path is optimal, and all others are 0.9 worse.
    """
    transitions, rewards = np.zeros((horizon, 2, 2, 2)), np.zeros((horizon, 2, 2))
    for h in range(horizon):
        transitions[h, 0, h % 2, 0] = transitions[h, 0, 1 - h % 2, 1] = 1.0
        transitions[h, 1, :, 1] = 1.0
    rewards[-1, 0, (horizon - 1) % 2], rewards[-1, 1] = 1.0, 0.1
    means = np.stack([np.roll(np.eye(2), h, axis=0) for h in range(horizon + 1)])
    emission = Gaussian(means, 0.1, n_levels=horizon + 1)
    return fu.BlockMDP(transitions, rewards, emission=emission, max_return=float(horizon))


@pytest.mark.parametrize(
    ("oracle", "seed", "best", "chunk"),
    [(Perfect(2), 11, 0, 5), (fu.oracles.KMeans(2), 5, 1, 4096)],
    ids=["perfect, few drawn together", "k-means, many drawn together"],
)
def test_a_run_is_that_of_the_algorithms_line_by_line(oracle, seed, best, chunk, monkeypatch):
    """Every reward, every standard set, every candidate's mean, and which one is kept; the seeds are such
    that one of two is good."""
    standards = []

    class Watched(_Standards):
        def __init__(self, *fields):
            super().__init__(*fields)
            standards.append(self)

    monkeypatch.setattr(url_as_written, "_CHUNK", chunk)
    monkeypatch.setattr(url_as_written, "_Standards", Watched)
    sizes = {
        "epsilon": 0.9,
        "delta": 0.1,
        "epsilon_1": 0.06,
        "delta_1": 0.1,
        "batch": 6,
    }  # three of a batch make a standard set
    env, agent = narrow_path(2), fu.URLAsWritten(oracle=oracle, **sizes)
    comp, ledger = play(env, agent, 2, Streams(seed))
    ref = AsWritten(env, agent, 2, seed)
    np.testing.assert_array_equal(ledger.returns, ref.returns)
    assert [
        [{s: len(members) for s, members in level.items()} for level in one.sets] for one in standards
    ] == ref.standards
    assert comp.diagnostics["restart_means"] == ref.means
    assert [mean > 0.5 for mean in ref.means] == [n == best for n in range(2)]
    policy, decoders = ref.candidates[ref.best]
    decoder = comp.policy.decoder
    np.testing.assert_array_equal(comp.policy.chances, np.eye(2)[policy])
    observations = env.emission.draw(emission_rngs(Streams(9)), 20).every_state()
    for e, h, s in np.ndindex(*observations.shape[:3]):
        x = observations[e, h, s]
        assert decoder.decode(x[None], h + 1)[0] == decoders[h](x)


class Compiled(Perfect):
    """Decodes without Python, for long runs."""

    def fit(self, X):
        self.decoder_ = AffineDecoder(
            np.eye(*np.shape(X[: self.n_states])), np.zeros(self.n_states)
        ).relabelled(super().fit(X).names)
        return self


class Hopeful:
    """Optimistic Q-learning without a bonus that hopes for a tenth more than there is, and so tries what it
    has not tried before it repeats itself."""

    def start(self, task):
        low, high = task.reward_range
        hoped = task._replace(max_return=1.1 * task.max_return, reward_range=(low, 1.1 * high))
        return fu.UCBQBernstein(c1=0, c2=0).start(hoped)


def steep_path(horizon, n_states):
    """As the narrow path, with any number of states to fall into. Each step on it pays 1 / H, and whoever has
    fallen gets nothing.

    One of 2^H deterministic policies on the path is optimal, and all others are 1 / H worse or more. Whoever
    tries everything knows it after 2 H episodes.
    """
    fallen = np.arange(1, n_states)
    transitions, rewards = np.zeros((horizon, n_states, 2, n_states)), np.zeros((horizon, n_states, 2))
    for h in range(horizon):
        transitions[h, 0, h % 2, 0], transitions[h, 0, 1 - h % 2, 1:] = 1.0, 1 / fallen.size
        transitions[h, fallen, :, fallen] = 1.0
        rewards[h, 0, h % 2] = 1 / horizon
    looks = np.stack([np.roll(np.eye(n_states), h, axis=0) for h in range(horizon + 1)])
    emission = Gaussian(looks, 0.1, n_levels=horizon + 1)
    return fu.BlockMDP(transitions, rewards, reward_draw="deterministic", emission=emission)


@pytest.mark.parametrize(
    ("horizon", "n_states", "oracle", "delta", "n_seeds", "misses"),
    [
        (2, 3, Compiled(3), 0.2, 14, 0),
        (3, 3, Compiled(3), 0.3, 9, 0),
        (4, 2, Compiled(2), 0.3, 9, 0),
        (2, 3, fu.oracles.KMeans(3, n_init=1), 0.3, 14, 1),
        (3, 2, fu.oracles.KMeans(2, n_init=1), 0.3, 9, 0),
    ],
    ids=[
        "2, 3 states, perfect, restarts",
        "3, 3 states, perfect",
        "4, 2 states, perfect",
        "2, 3 states, k-means",
        "3, 2 states, k-means",
    ],
)
def test_small_block_mdps_are_solved_to_epsilon_at_the_promised_rate(
    horizon, n_states, oracle, delta, n_seeds, misses
):
    """An algorithm whose chance of success is below 1 - delta passes a case with probability 0.05 at most."""
    assert binom.cdf(misses, n_seeds, delta) < 0.05
    env = steep_path(horizon, n_states)
    batch = 6 if isinstance(oracle, Perfect) else 12  # k-means needs more to go by
    agent = fu.URLAsWritten(oracle=oracle, learner=Hopeful(), epsilon=0.8 / horizon, delta=delta, batch=batch)
    assert agent.sizes(env.describe(), 2 * horizon).restarts == (2 if delta == 0.2 else 1)
    run = fu.train(env, agent, 2 * horizon, seeds=n_seeds)
    assert run.v_star == pytest.approx(1.0)
    assert (run.values < run.v_star - agent.epsilon).sum() <= misses


def test_a_level_may_have_one_state_for_dbscan_too():
    """The first level always has: no cluster there is told from another, and all labels are 0. In four
    episodes every state of the last level is met."""
    run = fu.train(narrow_path(2), fu.URLAsWritten(oracle="dbscan", **(SMALL | {"batch": 30})), 4, seeds=2)
    for diagnostics in run.diagnostics:
        np.testing.assert_array_equal(diagnostics["decoder_accuracy"], 1.0)


def test_restarts_have_luck_of_their_own():
    class Draws(FirstTrace):
        def start(self, task):
            seen.append(task.generator().random())
            return super().start(task)

    seen = []
    fu.train(
        narrow_path(2),
        fu.URLAsWritten(oracle=Perfect(2), learner=Draws(), **(SMALL | {"delta": 0.03})),
        1,
        n_jobs=1,
    )
    assert len(set(seen)) == len(seen) == 3


@pytest.mark.parametrize("action", [-1, 9])
def test_actions_that_do_not_exist_are_refused(action):
    class Wrong(FirstTrace):
        def start(self, task):
            memory = super().start(task)
            memory.policy = lambda: np.full((task.horizon, task.n_labels), action)
            return memory

    with pytest.raises(
        ValueError, match=rf"policy of _Trace must give actions from 0 to 1, got {action}..{action}"
    ):
        fu.train(narrow_path(2), fu.URLAsWritten(oracle=Perfect(2), learner=Wrong(), **SMALL), 1)


@pytest.mark.parametrize("n_labels", [1, 3])
def test_a_policy_for_another_number_of_labels_is_refused(n_labels):
    """Policies stand side by side: a wider one would be read where the next begins."""

    class Other(FirstTrace):
        def start(self, task):
            return super().start(task._replace(n_labels=n_labels))

    with pytest.raises(
        ValueError,
        match=rf"policy of _Trace must give an integer array \[2, 2\], got int64 of shape \(2, {n_labels}\)",
    ):
        fu.train(narrow_path(2), fu.URLAsWritten(oracle=Perfect(2), learner=Other(), **SMALL), 1)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    agent = fu.URLAsWritten(**SMALL)
    one, two = (fu.train(narrow_path(2), agent, 2, seeds=3, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.average_reward, two.average_reward)
    np.testing.assert_array_equal(one.values, two.values)

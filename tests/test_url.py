"""URL, practical form: the same science as one step at a time, any learner, any Block MDP."""

import naive.url
import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from url_parts import SHORT, Explorer, ExplorerMemory, Perfect, play, returns, same

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.oracles import DBSCAN, GMM, KMeans
from fasturl.problems.emissions import Bernoulli, Categorical, Gaussian

LOCKS = {
    "bits": lambda horizon, switch: fu.LockBernoulli(horizon, switch),
    "reals, noise 0.1": lambda horizon, switch: fu.LockGaussian(horizon, switch, 0.1),
    "reals, noise 0.2": lambda horizon, switch: fu.LockGaussian(horizon, switch, 0.2),
}


# --- the same science ---


@pytest.mark.parametrize(
    ("env", "settings"),
    [
        (fu.LockBernoulli(3, 0.2), {"oracle": KMeans(3)}),
        (fu.LockBernoulli(4, 0.5), {"oracle": KMeans(3), "learner": fu.OracleQ(0.3), "batch": 7}),
        (
            fu.LockBernoulli(3, 0.2),
            {"oracle": KMeans(3), "learner": fu.OracleQ(schedule="spread", confidence=0.3)},
        ),
        (fu.LockGaussian(3, 0.2, 0.1), {"oracle": GMM(3)}),
        (fu.LockGaussian(4, 0.0, 0.2), {"oracle": GMM(3), "learner": fu.QLearning(), "batch": 40}),
        (fu.LockGaussian(3, 0.2, 0.2), {"oracle": GMM(3, covariance="full", n_directions="all")}),
        (fu.LockBernoulli(3, 0.2), {"oracle": DBSCAN(3)}),
    ],
    ids=repr,
)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_return_is_that_of_playing_and_decoding_one_step_at_a_time(env, settings, seed):
    agent, episodes = fu.URL(**settings, levels="pooled"), 200
    ref = naive.url.practical_url(env, agent, episodes, seed)
    comp = returns(env, agent, episodes, seed)
    np.testing.assert_array_equal(ref, comp)
    run = fu.train(env, agent, episodes, seeds=[seed], points=range(1, episodes + 1))
    np.testing.assert_array_equal(run.average_reward[0], np.cumsum(ref) / np.arange(1, episodes + 1))
    assert run.diagnostics[0]["oracle_fits"] >= 1


@pytest.mark.parametrize("env", [SHORT, fu.LockGaussian(3, 0.2, 0.2)], ids=repr)
@pytest.mark.parametrize("n_jobs", [2, 5])
def test_results_do_not_depend_on_the_number_of_workers(env, n_jobs):
    same(
        fu.train(env, fu.URL(), 300, seeds=5, n_jobs=1), fu.train(env, fu.URL(), 300, seeds=5, n_jobs=n_jobs)
    )


def test_results_do_not_depend_on_the_order_of_seeds_or_on_which_others_there_are():
    everyone = fu.train(SHORT, fu.URL(), 300, seeds=5)
    same(fu.train(SHORT, fu.URL(), 300, seeds=[4, 0, 3, 1, 2]), everyone, [4, 0, 3, 1, 2])
    same(fu.train(SHORT, fu.URL(), 300, seeds=[3]), everyone, [3])


def test_results_do_not_depend_on_what_was_trained_before():
    agent = fu.URL(KMeans(3))
    np.random.seed(1)  # noqa: NPY002  # of the generator that all share who bring none of their own
    first = fu.train(SHORT, agent, 300, seeds=2)
    fu.train(fu.LockGaussian(2), agent, 100, seeds=3)
    np.random.seed(2)  # noqa: NPY002  # the same
    same(fu.train(SHORT, agent, 300, seeds=2), first)


# --- success ---


@pytest.mark.parametrize("switch", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("lock", LOCKS)
def test_locks_of_horizon_5_are_opened(lock, switch):
    """As well as by a learner that sees the latent states, with the same seeds, and decoded without a mistake
    but at noise 0.2."""
    env = LOCKS[lock](5, switch)
    run = fu.train(env, fu.URL(), episodes=5_000, seeds=8)
    skyline = fu.train(env, fu.URL().learner, episodes=5_000, seeds=8)
    assert run.success_rate == 1.0
    assert run.average_reward[:, -1].mean() >= 0.9 * skyline.average_reward[:, -1].mean()
    assert min(min(one["decoder_accuracy"]) for one in run.diagnostics) >= (0.98 if "0.2" in lock else 1.0)


@pytest.mark.parametrize("oracle", [KMeans(3), GMM(3), DBSCAN(3)], ids=repr)
def test_every_oracle_opens_a_lock(oracle):
    run = fu.train(fu.LockGaussian(4, 0.2, 0.1), fu.URL(oracle), episodes=3_000, seeds=4)
    assert run.success_rate == 1.0
    assert run.oracle == type(oracle).__name__.lower()


# --- what is counted ---


def test_every_trajectory_counts_those_before_any_decoder_too():
    """The learner starts at once, with one label for everything: on a lock with one level the first
    trajectory wins a quarter of the time."""
    env = fu.LockBernoulli(1)
    run = fu.train(env, fu.URL(batch=100), episodes=500, seeds=120, points=[1, 500])
    assert run.trajectories.tolist() == [1, 500]
    assert run.average_reward[:, 0].mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 120))
    assert run.average_reward[:, 1].mean() > 0.35


def test_agents_meet_the_same_luck_whatever_they_do_with_it():
    """After as many trajectories, the streams of lock, luck and noise stand where those of any other agent
    do."""
    after = []
    for agent in (fu.URL(), fu.URL(batch=3), fu.URL(Perfect()), fu.URL(learner=Explorer())):
        streams = Streams(9)
        play(SHORT, agent, 150, streams)
        after.append(
            [
                streams.row("instance").tolist(),
                streams.row("dynamics").tolist(),
                streams.rows("emission", 4).tolist(),
            ]
        )
    assert all(one == after[0] for one in after)


@pytest.mark.parametrize("episodes", [1, 2, 10, 49, 50, 51])
def test_fewer_trajectories_than_a_batch_still_give_a_result(episodes):
    run = fu.train(SHORT, fu.URL(), episodes, seeds=3, points=range(1, episodes + 1))
    assert run.average_reward.shape == (3, episodes)
    assert np.isfinite(run.average_reward).all()
    assert np.all((run.values >= 0) & (run.values <= 1))
    assert min(one["oracle_fits"] for one in run.diagnostics) >= 1


def test_a_decoder_that_never_settles_is_not_called_stable():
    """Four clusters for three states: the fourth is somewhere else after each fit. The learner makes do."""
    oracle = GaussianMixture(4, init_params="random_from_data")
    run = fu.train(fu.LockGaussian(5, 0.2, 0.1), fu.URL(oracle), 3_000, seeds=4)
    assert [one["decoder_stable"] for one in run.diagnostics] == [False] * 4
    assert run.success_rate == 1.0


def test_a_run_says_what_the_decoder_cost():
    run = fu.train(SHORT, fu.URL(batch=30), 500, seeds=3)
    for one in run.diagnostics:
        assert len(one["decoder_accuracy"]) == 4
        assert one["levels"] == "pooled"
        assert one["oracle_fits"] >= 1
        assert one["relabellings"] >= 1
        assert 30 <= one["decoder_trajectories"] <= 250
        assert one["decoder_stable"]
        assert set(one["seconds"]) == {"oracle", "learning", "evaluation"}
        assert all(seconds > 0 for seconds in one["seconds"].values())
    assert np.all(run.value_errors > 0)
    assert run.agent == "url"


def test_refits_wait_longer_the_longer_decoders_agree():
    """Half as many trajectories again after the first, then twice as long, and never longer than until there
    are four times as many."""
    sizes = []

    class Records(Perfect):
        def fit(self, X):
            sizes.append(len(X) // 4)
            return super().fit(X)

    returns(SHORT, fu.URL(Records(), batch=10), 1_000, 0)
    assert sizes == [10, 15, 45, 180, 720]


def test_progress_is_told_for_every_trajectory():
    ticks = []
    play(SHORT, fu.URL(), 700, Streams(0), ticks.append)
    assert sum(ticks) == 700
    assert min(ticks) == 0  # after each fit


@pytest.mark.parametrize(("n_states", "missing"), [(2, True), (3, False)])
@pytest.mark.parametrize("levels", ["pooled", "separate"])
def test_a_bound_that_is_too_small_for_what_there_is_to_see_is_told(n_states, missing, levels):
    agent = fu.URL(n_states=n_states, levels=levels)
    run = fu.train(fu.LockGaussian(2, 0.2, 0.1), agent, 600, seeds=2)
    assert [one["labels_that_split"] > 0 for one in run.diagnostics] == [missing] * 2


# --- any learner ---


def test_any_learner_that_offers_the_protocol_can_be_used():
    run = fu.train(fu.LockBernoulli(1, 0.2), fu.URL(learner=Explorer()), episodes=800, seeds=5)
    assert run.values.mean() > 0.45
    same(run, fu.train(fu.LockBernoulli(1, 0.2), fu.URL(learner=Explorer()), episodes=800, seeds=5, n_jobs=1))


def test_a_learner_is_fed_every_trajectory_and_all_of_them_again_when_labels_change():
    learner, memories = Explorer(), []
    learner.start = lambda task: memories.append(ExplorerMemory(task)) or memories[-1]
    outcome, ledger = play(SHORT, fu.URL(Perfect(), learner, batch=10), 200, Streams(3))
    assert len(memories) == 1 + outcome.diagnostics["relabellings"]
    assert len(memories[0].trajectories) == 10
    for labels, actions, rewards in memories[-1].trajectories:
        assert (labels.shape, actions.shape, rewards.shape) == ((4,), (3,), (3,))
        assert set(labels) <= {0, 1, 2}
    fed = [rewards.sum() for _, _, rewards in memories[-1].trajectories]
    np.testing.assert_array_equal(ledger.returns, fed)


# --- any Block MDP ---

DRAW = np.random.default_rng(0)
ROTATION = np.linalg.qr(DRAW.standard_normal((6, 6)))[0]
SYMBOLS = np.kron(np.eye(3), np.ones(4) / 4)
EMISSIONS = {
    "Gaussian": Gaussian(np.eye(3, 6), 0.1, n_levels=4),
    "Gaussian, rotated": Gaussian(np.eye(3, 6), 0.1, n_levels=4, rotation=ROTATION),
    "Gaussian, means by level": Gaussian(
        np.eye(3, 6) + 0.1 * DRAW.standard_normal((4, 3, 6)), 0.05, n_levels=4
    ),
    "Bernoulli": Bernoulli(
        np.hstack([np.kron(np.eye(3), np.ones(6)) * 0.9 + 0.05, np.full((3, 3), 0.5)]), n_levels=4
    ),
    "Categorical": Categorical(np.eye(3, 5), n_levels=4),
}


@pytest.mark.parametrize("kind", EMISSIONS)
def test_a_block_mdp_of_ones_own_is_explored_through_any_emission(kind):
    lock = fu.LockBernoulli(3, 0.2).instance(4)
    env = fu.BlockMDP(lock.transitions, lock.rewards, emission=EMISSIONS[kind])
    run = fu.train(env, fu.URL(), episodes=3_000, seeds=4)
    assert run.v_star == pytest.approx(0.5)
    assert run.success_rate == 1.0


def test_levels_may_have_different_numbers_of_states():
    """One state, then two that look different and need different actions, then one: V* = 1."""
    transitions = [np.full((1, 2, 2), 0.5), np.ones((2, 2, 1))]
    rewards = [np.zeros((1, 2)), np.eye(2)]
    env = fu.BlockMDP(transitions, rewards, emission=Gaussian([[0.0, 0.0], [1.0, 0.0]], 0.1, n_levels=3))
    run = fu.train(env, fu.URL(), episodes=1_000, seeds=4)
    assert run.v_star == pytest.approx(1.0)
    assert run.success_rate == 1.0


# --- a learner that suits every environment ---


def noisy(seed):
    """Four levels, three states, three actions, and rewards that are 0 or 1 with any chance."""
    draw = np.random.default_rng(seed)
    transitions, rewards = draw.dirichlet(np.ones(3), size=(4, 3, 3)), draw.random((4, 3, 3))
    return fu.BlockMDP(transitions, rewards, emission=Gaussian(np.eye(3, 8), 0.1, n_levels=5))


TWO_ARMS = fu.BlockMDP(
    np.full((1, 2, 2, 2), 0.5),
    np.tile([0.3, 0.5], (1, 2, 1)),
    emission=Gaussian(np.eye(2, 5), 0.1, n_levels=2),
)


@pytest.mark.parametrize(
    "env", [TWO_ARMS, noisy(2), noisy(3), noisy(5)], ids=["two arms", "noisy 2", "noisy 3", "noisy 5"]
)
def test_noisy_rewards_are_explored_long_enough(env):
    """Bad luck in the first pulls of a good arm must be found out, with the learner that URL has if none is
    given."""
    assert fu.train(env, fu.URL(), episodes=4_000, seeds=8).success_rate == 1.0


def test_the_default_learner_is_the_same_whatever_the_environment():
    """It is written where the class declares it, and known before any environment is."""
    assert fu.URL().learner == fu.URLAsWritten().learner == fu.PooledUCBVI()
    assert fu.URL(learner="oracleq").learner == fu.OracleQ()


def same_as_state(emission):
    """The action that has the state's own number pays 1 at the second of two levels; everything else is
    luck."""
    rewards = np.zeros((2, 3, 3))
    rewards[-1] = np.eye(3)
    return fu.BlockMDP(np.full((2, 3, 3, 3), 1 / 3), rewards, start=[1 / 3] * 3, emission=emission)


@pytest.mark.parametrize(
    "emission",
    [
        Gaussian(np.random.default_rng(0).standard_normal((3, 3, 20)), 0.2, n_levels=3),
        Bernoulli(np.random.default_rng(0).random((3, 3, 40)).round() * 0.9 + 0.05, n_levels=3),
        Categorical(np.eye(9).reshape(3, 3, 9), n_levels=3),
    ],
    ids=lambda emission: type(emission).__name__,
)
def test_states_may_look_different_at_each_level(emission):
    """Whether levels are decoded one by one, or all alike by a decoder that is told how many states there are
    to tell apart on all of them."""
    for agent in (fu.URL(), fu.URL(levels="separate"), fu.URL(n_states=9, levels="pooled")):
        run = fu.train(same_as_state(emission), agent, 2_000, seeds=3)
        assert run.success_rate == 1.0
        assert min(min(one["decoder_accuracy"]) for one in run.diagnostics) > 0.98


def test_a_learner_that_begins_anew_has_luck_of_its_own():
    drawn = []

    class Draws(Explorer):
        def start(self, task):
            drawn.extend(task.generator().random() for _ in range(2))
            return super().start(task)

    class MoreAndMore(Perfect):
        def fit(self, X):
            self.n_states = 3 + len(X) // 100
            self.names = np.arange(3)
            return self

    fu.train(SHORT, fu.URL(MoreAndMore(), learner=Draws(), batch=10), 300, n_jobs=1)
    assert len(set(drawn)) == len(drawn) >= 4

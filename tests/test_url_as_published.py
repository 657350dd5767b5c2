"""URL as published: the appendix's procedure, its oracles by name, and what it counts."""

import naive.url_as_published as naive
import numpy as np
import pytest
from url_parts import SHORT, Explorer, play, returns, same

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.oracles import DBSCAN, PCADBSCAN, FullGMM, KMeans, PCAKMeans
from fasturl.registry import agent as named_agent

ORACLES = {"pca-kmeans": naive.pca_kmeans, "pca-dbscan": naive.pca_dbscan, "full-gmm": naive.full_gmm}
LEARNER = {"learning_rate": 0.3, "confidence": 0.01}

# limits on iterations are the published program's, whose scikit-learn warns of them
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# --- the same science ---


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize(
    ("env", "seed"),
    [
        (fu.LockBernoulli(3, 0.2), 0),
        (fu.LockBernoulli(4, 0.5), 1),
        (fu.LockGaussian(3, 0.2, 0.1), 2),
        (fu.LockGaussian(4, 0.0, 0.2), 3),
    ],
    ids=repr,
)
def test_every_return_is_that_of_the_appendix_with_the_steps_of_scikit_learn(env, oracle, seed):
    agent = fu.URLAsPublished(oracle, fu.OracleQ(**LEARNER), batch=30, iterations=3)
    ref = naive.url_as_published(env, ORACLES[oracle], 250, seed, batches=[30] * 3, **LEARNER)
    comp = returns(env, agent, 250, seed)
    np.testing.assert_array_equal(ref, comp)
    run = fu.train(env, agent, 250, seeds=[seed], points=range(1, 251))
    np.testing.assert_array_equal(run.average_reward[0], np.cumsum(ref) / np.arange(1, 251))


@pytest.mark.parametrize(
    ("settings", "batches", "episodes"),
    [
        ({"batch": 12, "iterations": 7, "late_batch": 4}, [12] * 5 + [4] * 2, 150),
        ({"batch": 12, "iterations": 7}, [12] * 7, 150),
        ({"batch": 20, "iterations": 1}, [20], 150),
        ({"batch": 20, "iterations": 9}, [20] * 9, 50),  # the last batch is what is left
        ({"batch": 20, "iterations": 2}, [20] * 2, 41),  # no trajectory is left for the learner
        ({"batch": 20, "iterations": 2}, [20] * 2, 42),
    ],
)
def test_batches_have_the_sizes_that_were_asked_for(settings, batches, episodes):
    agent = fu.URLAsPublished("pca-kmeans", fu.OracleQ(**LEARNER), **settings)
    ref = naive.url_as_published(SHORT, naive.pca_kmeans, episodes, 3, batches=batches, **LEARNER)
    np.testing.assert_array_equal(ref, returns(SHORT, agent, episodes, 3))


def states_and_colours(data):
    """The state of a lock, told apart by the first coin once there is enough data, and then by two of
    them."""
    coins = min(2, len(data) // 80)
    return lambda x: int(np.argmax(x[:3]) + 3 * sum(2**i * x[3 + i] for i in range(coins)))


class Colours:
    """The same as an oracle, which finds more labels the more it sees."""

    def fit(self, X):
        self.decode = states_and_colours(X)
        self.n_states = 3 * 2 ** min(2, len(X) // 80)
        return self

    def predict(self, X):
        return [self.decode(x) for x in np.asarray(X, float)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_learner_keeps_what_it_knows_of_a_label_when_there_are_more(seed):
    agent = fu.URLAsPublished(Colours(), fu.OracleQ(**LEARNER), batch=10, iterations=6)
    ref = naive.url_as_published(SHORT, states_and_colours, 200, seed, batches=[10] * 6, **LEARNER)
    np.testing.assert_array_equal(ref, returns(SHORT, agent, 200, seed))
    outcome, _ = play(SHORT, agent, 200, Streams(seed))
    assert outcome.diagnostics["labels_found"] == 12


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_results_do_not_depend_on_the_number_of_workers(n_jobs):
    agent = fu.URLAsPublished(batch=20)
    same(fu.train(SHORT, agent, 200, seeds=4, n_jobs=1), fu.train(SHORT, agent, 200, seeds=4, n_jobs=n_jobs))


def test_any_learner_may_act():
    run = fu.train(SHORT, fu.URLAsPublished(learner=Explorer(), batch=30), 300, seeds=2)
    assert np.isfinite(run.values).all()


# --- success ---


@pytest.mark.parametrize(
    ("oracle", "env"),
    [
        ("kmeans", fu.LockBernoulli(5, 0.2)),
        ("gmm", fu.LockGaussian(5, 0.2, 0.2)),
        ("dbscan", fu.LockGaussian(5, 0.2, 0.1)),
    ],
)
def test_each_oracle_of_the_paper_opens_a_lock_of_five_levels_on_most_seeds(oracle, env):
    run = fu.train(env, fu.URLAsPublished(oracle), 5_000, seeds=range(7300, 7308))
    assert run.success_rate > 0.5


# --- what it tells ---


def test_it_tells_what_its_decoder_took():
    agent = fu.URLAsPublished("kmeans", batch=20, iterations=6, late_batch=3)
    (about,) = fu.train(SHORT, agent, 300).diagnostics
    assert (about["oracle_fits"], about["decoder_trajectories"], about["labels_found"]) == (6, 103, 3)
    assert set(about["seconds"]) == {"oracle", "exploration", "learning", "evaluation"}


# --- by name ---


@pytest.mark.parametrize(("name", "oracle"), [("kmeans", PCAKMeans), ("dbscan", PCADBSCAN), ("gmm", FullGMM)])
def test_the_papers_names_are_those_of_its_oracles(name, oracle):
    assert type(fu.URLAsPublished(name).oracle) is oracle
    assert type(named_agent("url-as-published", oracle=name, n_states=4).oracle) is oracle
    assert type(fu.URLAsPublished({"name": name, "random_state": 5}).oracle) is oracle


@pytest.mark.parametrize("oracle", [KMeans(), DBSCAN(), FullGMM(max_iter=7)], ids=repr)
def test_an_object_is_used_as_it_is(oracle):
    assert fu.URLAsPublished(oracle).oracle is oracle


def test_settings_reach_the_papers_oracle():
    agent = named_agent("url-as-published", oracle="pca-dbscan", eps=0.3, max_iter=50)
    assert (agent.oracle.eps, agent.oracle.max_iter) == (0.3, 50)
    agent = named_agent("url-as-published", oracle="dbscan", eps=0.3)
    assert (type(agent.oracle), agent.oracle.eps) == (PCADBSCAN, 0.3)
    with pytest.raises(ValueError, match="max_samples is not a setting of pca-dbscan"):
        named_agent("url-as-published", oracle="dbscan", max_samples=100)


def test_the_default_is_the_published_programs():
    agent = fu.URLAsPublished()
    assert (agent.batch, agent.iterations, agent.learner) == (100, 2, fu.OracleQ())
    assert agent.oracle_name(SHORT.describe()) == "pca-kmeans"


# --- what is refused ---


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch": 0}, "batch must be an integer >= 1, got 0"),
        ({"iterations": 0}, "iterations must be an integer >= 1, got 0"),
        ({"late_batch": 0}, "late_batch must be an integer >= 1, got 0"),
        ({"oracle": "spectral"}, "oracle must be one of .*, got 'spectral'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        fu.URLAsPublished(**settings)


@pytest.mark.parametrize(
    ("settings", "episodes", "name"), [({"batch": 1}, 100, "batch"), ({}, 1, "episodes")]
)
def test_a_first_fit_on_too_little_is_refused(settings, episodes, name):
    with pytest.raises(
        ValueError, match=f"{name} must be at least 2: the first decoder is fitted on n_states"
    ):
        fu.train(fu.LockBernoulli(1), fu.URLAsPublished(**settings), episodes)

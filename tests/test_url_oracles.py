"""URL with any oracle: ours, scikit-learn's, a user's own, and those that cannot be used."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from url_parts import SHORT, Perfect, returns, same

import fasturl as fu
from fasturl.agents import doubts, pooled_decoding
from fasturl.agents.pooled_decoding import PooledDecoding
from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.decoder import Decoder
from fasturl.oracles import DBSCAN, GMM
from fasturl.problems.emissions import Gaussian

QUICK = {"batch": 10, "epsilon": 0.5, "delta": 0.5}


@pytest.mark.parametrize(
    "env", [fu.LockBernoulli(20, 0.5), fu.LockGaussian(20, 0.5, 0.2)], ids=lambda env: env.name
)
def test_long_locks_are_solved_on_every_seed_with_the_default_settings(env):
    """The hardest settings of the paper, in no more trajectories than it has, and at the pace of an agent
    that sees the states."""
    run = fu.train(env, fu.URL(), episodes=50_000, seeds=range(7200, 7204))
    skyline = fu.train(env, fu.OracleQ(), episodes=50_000, seeds=range(7200, 7204))
    assert run.success_rate == 1.0
    assert run.average_reward[:, -1].mean() >= 0.9 * skyline.average_reward[:, -1].mean()


def test_a_pipeline_of_scikit_learn_is_an_oracle():
    pipeline = make_pipeline(StandardScaler(), PCA(2), SklearnKMeans(3, n_init=5))
    run = fu.train(fu.LockGaussian(2, 0.2, 0.1), fu.URL(pipeline), episodes=1_000, seeds=3)
    assert run.oracle == "pipeline"
    assert run.success_rate == 1.0
    same(run, fu.train(fu.LockGaussian(2, 0.2, 0.1), fu.URL(pipeline), episodes=1_000, seeds=3, n_jobs=1))


def test_an_oracle_object_needs_fit_and_predict_and_nothing_else():
    run = fu.train(fu.LockBernoulli(4, 0.2), fu.URL(Perfect()), episodes=2_000, seeds=[1])
    assert run.success_rate == 1.0
    assert run.diagnostics[0]["decoder_accuracy"] == [1.0] * 5


def test_labels_keep_their_meaning_when_decoders_change_their_names():
    """An oracle that renames its labels at every fit, and one that never does, lead to the same run."""

    class Steady(Perfect):
        def fit(self, X):
            super().fit(X)
            self.names = np.roll(np.arange(3), 1)
            return self

    env = fu.LockBernoulli(4, 0.2)
    np.testing.assert_array_equal(
        returns(env, fu.URL(Perfect(), batch=5), 400, 2), returns(env, fu.URL(Steady(), batch=5), 400, 2)
    )


def test_results_with_an_oracle_that_cannot_be_cloned_do_not_depend_on_the_number_of_workers():
    """Seeds must not share what one of them has fitted."""
    env = fu.LockBernoulli(4, 0.2)
    same(
        fu.train(env, fu.URL(Perfect()), 300, seeds=6, n_jobs=1),
        fu.train(env, fu.URL(Perfect()), 300, seeds=6, n_jobs=3),
    )
    same(
        fu.train(env, fu.URL(Perfect()), 300, seeds=[5], n_jobs=1),
        fu.train(env, fu.URL(Perfect()), 300, seeds=6, n_jobs=1),
        [5],
    )


def test_an_oracle_is_left_as_it_was_given():
    oracle = Perfect()
    fu.train(SHORT, fu.URL(oracle), 100)
    assert oracle.fits == 0


def test_a_perfect_oracle_makes_an_agent_that_sees_latent_states():
    """Once the decoder is stable: the learner's average is that of its latent twin within noise."""
    env = fu.LockBernoulli(4, 0.2)
    run = fu.train(env, fu.URL(Perfect(), batch=1), episodes=3_000, seeds=[0, 1], n_jobs=1)
    skyline = fu.train(env, fu.URL().learner, episodes=3_000, seeds=[0, 1])
    np.testing.assert_allclose(run.average_reward[:, -1], skyline.average_reward[:, -1], atol=0.05)


class Changing:
    """An oracle that finds another number of labels at each fit, and keeps count of them in `found`."""

    def __init__(self, sizes, found):
        self.sizes, self.found = sizes, found

    def __deepcopy__(self, memo):
        return Changing(self.sizes, self.found)

    def fit(self, X):
        self.n_clusters = self.sizes[min(len(self.found), len(self.sizes) - 1)]
        self.found.append(self.n_clusters)
        return self

    def predict(self, X):
        return (1000 * np.abs(np.asarray(X)[:, 0])).astype(int) % self.n_clusters


@pytest.mark.parametrize("levels", ["pooled", "separate", "auto"])
@pytest.mark.parametrize("sizes", [(2, 5, 40), (3, 2, 2), (40, 2, 3), (2, 200, 2, 200)], ids=str)
def test_an_oracle_may_find_another_number_of_labels_at_every_fit(sizes, levels, monkeypatch):
    monkeypatch.setattr(doubts, "_REFITS", 0)  # fits that only check the labels do not count
    found = []
    agent = fu.URL(Changing(sizes, found), batch=20, levels=levels)
    run = fu.train(fu.LockGaussian(3, 0.2, 0.2), agent, 400, seeds=[1], n_jobs=1)
    assert found[: len(sizes)] == list(sizes)
    assert run.diagnostics[0]["oracle_fits"] == len(found) > len(sizes)
    assert np.isfinite(run.values).all()


@pytest.mark.parametrize("seed", [2, 7])
def test_dbscan_may_lose_a_cluster_and_find_it_again(seed):
    found = []

    class LosesOne(DBSCAN):
        def fit(self, X):
            self.n_states = 2 if len(found) == 1 else 3
            super().fit(X)
            found.append(self.decoder_.n_labels)
            return self

    run = fu.train(fu.LockGaussian(5, 0.2, 0.1), fu.URL(LosesOne(3)), 3_000, seeds=[seed], n_jobs=1)
    assert found[:3] == [3, 2, 3]
    assert run.success_rate == 1.0


@pytest.mark.parametrize(("old", "new"), [(3, 2), (2, 3)])
def test_a_renamed_decoder_knows_how_many_labels_it_gives(old, new):
    decoder = AffineDecoder(np.eye(new, 3), np.zeros(new))
    renamed = decoder.relabelled(np.roll(np.arange(max(old, new)), 1))
    given = renamed.decode(np.eye(3, dtype=np.float32)[: max(2, new)])
    assert given.max() < renamed.n_labels <= max(old, new)


class Fails(Perfect):
    def fit(self, X):
        raise ArithmeticError("too few colours")


class TooManyLabels(Perfect):
    def predict(self, X):
        return super().predict(X) + 1


class NoNumbers(Perfect):
    def predict(self, X):
        return np.full(len(X), np.nan)


class WrongShape(Perfect):
    def predict(self, X):
        return np.zeros((len(X), 3), int)


class NoNumbersAndNoStates(NoNumbers):
    def __init__(self):
        self.fits = 0


@pytest.mark.parametrize(
    "oracle",
    [TooManyLabels(), NoNumbers(), WrongShape(), NoNumbersAndNoStates()],
    ids=lambda oracle: type(oracle).__name__,
)
def test_an_oracle_whose_labels_cannot_be_used_is_named(oracle):
    with pytest.raises(ValueError, match=f"predict of {type(oracle).__name__} must give"):
        fu.train(SHORT, fu.URL(oracle), 100, seeds=2)


def test_an_oracle_that_fails_is_named_and_says_why():
    with pytest.raises(Exception, match="too few colours") as caught:
        fu.train(SHORT, fu.URL(Fails()), 100, seeds=2)
    told = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert any("Fails" in line for line in told)


def test_the_seed_whose_run_failed_is_named():
    with pytest.raises(ValueError, match="found only noise") as caught:
        fu.train(fu.LockGaussian(3), fu.URL(DBSCAN(eps=1e-6)), 100, seeds=[17])
    assert "in the run of seed 17" in caught.value.__notes__


def test_dbscan_that_finds_nothing_says_what_to_change():
    with pytest.raises(ValueError, match=r"DBSCAN found only noise .*: try a larger eps"):
        fu.train(fu.LockGaussian(3), fu.URL(DBSCAN(eps=1e-6)), 100)


@pytest.mark.parametrize(
    ("levels", "needed"),
    [("auto", 10), ("pooled", 10), ("separate", 40)],
    ids=["auto", "pooled", "separate"],
)
@pytest.mark.parametrize("oracle", [None, "kmeans", "splits"])
def test_the_first_fit_waits_for_as_many_observations_as_the_oracle_needs(oracle, levels, needed):
    """A decoder of all levels sees four observations of a trajectory, one of a level sees one."""
    small, enough = (fu.URL(oracle, n_states=40, levels=levels, batch=batch) for batch in (1, needed))
    assert small.batch_for(SHORT.describe()) == needed
    same(fu.train(SHORT, small, 50), fu.train(SHORT, enough, 50))


def test_default_settings_work_however_many_states_there_may_be():
    env, agent = fu.LockBernoulli(1), fu.URL(n_states=60)
    assert agent.batch_for(SHORT.describe()) == fu.URL().batch == 25
    assert agent.batch_for(env.describe()) == 30
    assert fu.train(env, agent, 40).total_trajectories == 40


@pytest.mark.parametrize(
    ("oracle", "noise", "decoder_sizes", "oracle_sizes"),
    [
        (GMM(), 0.1, (2_000, 5_000), (2_000, 5_000)),
        (GMM(), 0.35, (17_000, 33_000), (8_000, 8_193)),
        (SklearnKMeans(3), 0.35, (8_500, 33_000), (8_500, 16_385)),
    ],
    ids=["clear labels", "labels that overlap", "any other oracle"],
)
def test_decoders_are_made_from_more_observations_where_labels_overlap(
    oracle, noise, decoder_sizes, oracle_sizes, monkeypatch
):
    """Clusters are found in fewer; an oracle whose answer is not refined may need all pairs of its
    observations."""
    seen_by_decoders, seen_by_oracles, fitted = [], [], PooledDecoding.fitted

    class Records(type(oracle)):
        def fit(self, X):
            seen_by_oracles.append(len(X))
            return super().fit(X)

    def record(self, rows, *arguments):
        seen_by_decoders.append(len(rows))
        return fitted(self, rows, *arguments)

    monkeypatch.setattr(PooledDecoding, "fitted", record)
    monkeypatch.setattr(pooled_decoding, "are_clear", lambda *_: False)  # fits would end with the second
    agent = fu.URL(Records(**oracle.get_params()), levels="pooled")
    run = fu.train(fu.LockGaussian(3, noise=noise), agent, 16_000)
    last = run.diagnostics[0]["oracle_fits"] - 1  # those that see whether labels move come later
    assert decoder_sizes[0] < seen_by_decoders[last] < decoder_sizes[1]
    assert oracle_sizes[0] < seen_by_oracles[last] < oracle_sizes[1]


@pytest.mark.parametrize(
    "env", [fu.LockBernoulli(20, 0.2), fu.LockGaussian(20, 0.2)], ids=lambda env: env.name
)
def test_a_decoder_that_a_fit_confirms_stays_and_so_do_its_labels(env, monkeypatch):
    """It may stay where a fit has no more observations than it had, 4,096 of them in the end."""
    decoders, may_stay, refit, fitted = [], [], PooledDecoding.refit, PooledDecoding.fitted

    def record_decoder(self, history):
        changed = refit(self, history)
        if len(may_stay) > len(decoders):
            decoders.append(self.decoder)
        rows = history.observations.reshape(-1, history.observations.shape[-1])
        np.testing.assert_array_equal(history.observed_labels.ravel(), self.decoder.decode(rows))
        return changed

    def record_present(self, rows, old_labels, seed, present=None):
        may_stay.append(present is not None)
        return fitted(self, rows, old_labels, seed, present)

    monkeypatch.setattr(PooledDecoding, "refit", record_decoder)
    monkeypatch.setattr(PooledDecoding, "fitted", record_present)
    monkeypatch.setattr(pooled_decoding, "are_clear", lambda *_: False)
    run = fu.train(env, fu.URL(levels="pooled"), 8_000)
    assert run.success_rate == 1.0
    # after 25, 38, 114, 456, 1,824 and 7,296 trajectories
    assert may_stay == [False] * 4 + [True] * 2
    assert [new is old for old, new in pairwise(decoders)] == may_stay[1:]


# --- oracles that do not say how many labels they give ---


class Bare:
    """Knows the states of a lock, and has fit and predict and nothing else."""

    def fit(self, X):
        return self

    def predict(self, X):
        return np.asarray(X)[:, :3].argmax(axis=1)


@pytest.mark.parametrize("env", [fu.LockBernoulli(2, 0.2), fu.LockGaussian(2, 0.2)], ids=lambda env: env.name)
@pytest.mark.parametrize(
    ("agent", "episodes"),
    [(fu.URL(Bare()), 200), (fu.URLAsWritten(Bare(), **QUICK), 5)],
    ids=["practical", "as written"],
)
def test_fit_and_predict_are_enough_for_an_oracle(env, agent, episodes):
    """A label table holds a label for every latent state, also for those that nobody has met so far."""
    run = fu.train(env, agent, episodes, seeds=2)
    assert [one["decoder_accuracy"] for one in run.diagnostics] == [[1.0] * 3] * 2


class Surprises(Bare):
    """Gives a label that it has not given before to one observation in 10,000, up to the given number of
    labels."""

    def __init__(self, n_labels):
        self.labels = n_labels

    def predict(self, X):
        rare = (1e7 * np.abs(np.asarray(X)[:, -1])).astype(int)
        return np.where(rare % 10_000 < 1, 3 + rare // 10_000 % (self.labels - 3), super().predict(X))


@pytest.mark.parametrize("seed", [0, 1])
def test_labels_may_turn_up_at_any_time(seed):
    """In training the learner begins anew with room for them, and in the evaluation nobody knows what to do
    about them."""
    run = fu.train(fu.LockGaussian(2, 0.2, 0.2), fu.URL(Surprises(250)), 2_000, seeds=[seed])
    assert 0 < run.values[0] < 0.6


def test_more_labels_than_a_byte_can_name_are_refused():
    with pytest.raises(ValueError, match="predict of Surprises must give labels from 0 to 255, got "):
        fu.train(fu.LockGaussian(2, 0.2, 0.2), fu.URL(Surprises(9_000)), 2_000)


def test_more_labels_than_states_are_refused_as_written():
    with pytest.raises(ValueError, match="predict of Surprises must give labels from 0 to 2, got "):
        fu.train(
            fu.LockGaussian(2, 0.2, 0.2),
            fu.URLAsWritten(Surprises(250), **QUICK),
            9,
        )


def test_an_oracle_of_one_cluster_is_none_that_is_ever_stable():
    run = fu.train(SHORT, fu.URL(SklearnKMeans(1, n_init=1)), 400, seeds=2)
    assert [one["decoder_stable"] for one in run.diagnostics] == [False, False]


@pytest.mark.parametrize("horizon", [1, 5])
def test_a_decoder_that_tells_nothing_apart_is_not_stable(horizon):
    run = fu.train(fu.LockGaussian(horizon, 0.2, 0.45), fu.URL("kmeans"), 2_000, seeds=2)
    for one in run.diagnostics:
        assert one["decoder_stable"] <= (min(one["decoder_accuracy"][1:]) > 0.4)


class Constant:
    def fit(self, X):
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def test_a_model_of_one_state_a_level_needs_no_more_than_one_label():
    env = fu.BlockMDP(
        np.ones((2, 1, 3, 1)),
        np.tile([0.0, 1.0, 0.0], (2, 1, 1)),
        emission=Gaussian(np.zeros((1, 4)), 0.1, n_levels=3),
    )
    run = fu.train(env, fu.URL(Constant()), 400, seeds=2)
    assert [one["decoder_stable"] for one in run.diagnostics] == [True, True]
    assert run.success_rate == 1.0
    assert fu.train(env, fu.URL(), 400, seeds=2).success_rate == 1.0


def test_a_decoder_that_a_user_wrote_is_checked_in_a_run():
    class Wrong(Decoder):
        def table(self, block):
            return np.full((block.n_episodes, block.n_levels, block.n_states), 200, np.uint8)

    class Oracle(Constant):
        def fit(self, X):
            self.decoder_ = Wrong(3)
            return self

    for agent in (fu.URL(Oracle()), fu.URLAsWritten(Oracle(), **QUICK)):
        with pytest.raises(ValueError, match="of Wrong must give labels from 0 to 2, got 200"):
            fu.train(SHORT, agent, 5)

"""What URL refuses, before anything is played and in the user's own words."""

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from url_parts import SHORT, Explorer, ExplorerMemory, Perfect

import fasturl as fu
from fasturl.oracles import KMeans
from fasturl.problems.emissions import Gaussian


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_states": 1}, "n_states must be an integer from 2 to 256, got 1"),
        ({"n_states": "three"}, "n_states must be"),
        ({"n_init": 0}, "n_init must be"),
        ({"scale": 3}, "scale must be True, False or 'auto', got 3"),
        ({"min_separation": -1}, "min_separation must be"),
        ({"n_directions": 50}, "n_directions must be"),
        ({"random_state": 1.5}, "random_state must be"),
    ],
)
def test_settings_of_an_oracle_are_checked_before_anything_is_played(settings, message):
    with pytest.raises(ValueError, match=message):
        fu.URL(KMeans(**settings)).check(SHORT.describe())


@pytest.mark.parametrize("learner", [3, range(3)])
def test_a_learner_must_be_an_object_with_start(learner):
    with pytest.raises(ValueError, match="learner must be an object with start, such as OracleQ"):
        fu.URL(learner=learner)


class Forgets(Explorer):
    def start(self, task):
        memory = ExplorerMemory(task)
        memory.final_policy = lambda: np.ones((1, 1, 4))
        return memory


def test_a_final_policy_of_the_wrong_shape_is_refused():
    with pytest.raises(
        ValueError,
        match=r"final_policy of ExplorerMemory must be an integer array of shape \(3, 3\) or a float",
    ):
        fu.train(SHORT, fu.URL(learner=Forgets()), 300)


@pytest.mark.parametrize("batch", [0, -1, 2.5, "many"])
def test_a_batch_must_be_a_positive_integer(batch):
    with pytest.raises(ValueError, match="batch must be an integer >= 1, got "):
        fu.URL(batch=batch)


@pytest.mark.parametrize("oracle", ["kmeanz", 3, object()])
def test_an_oracle_must_have_fit_and_predict(oracle):
    with pytest.raises(ValueError, match=r"oracle must .*, got "):
        fu.URL(oracle)


def test_an_environment_without_emission_is_refused():
    lock = SHORT.instance(0)
    with pytest.raises(ValueError, match="env must have an emission"):
        fu.train(fu.BlockMDP(lock.transitions, lock.rewards), fu.URL(), 100)


@pytest.mark.parametrize(
    ("agent", "episodes", "message"),
    [
        (
            fu.URLAsPublished(batch=1),
            100,
            "batch must be at least 2: the first decoder is fitted on n_states = 3 observations or "
            "more, got 1",
        ),
        (
            fu.URL(),
            1,
            "episodes must be at least 2: the first decoder is fitted on n_states = 3 observations or "
            "more, got 1",
        ),
        (
            fu.URL("dbscan"),
            2,
            "episodes must be at least 3: the first decoder is fitted on min_samples = 5 observations or "
            "more, got 2",
        ),
        (
            fu.URLAsWritten("dbscan", batch=4),
            1,
            "batch must be at least 5: the first decoder is fitted on min_samples = 5 observations or "
            "more, got 4",
        ),
        (fu.URL(SklearnKMeans(300)), 1_000, "oracle must give at most 256 labels, got 300"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_anything_is_played(agent, episodes, message):
    env = fu.LockBernoulli(1)
    with pytest.raises(ValueError, match=message) as caught:
        fu.train(env, agent, episodes)
    assert not hasattr(caught.value, "__notes__")  # those of a run


def test_more_states_than_there_are_labels_are_refused_by_a_built_in_oracle():
    env = fu.BlockMDP(
        np.full((1, 300, 1, 300), 1 / 300),
        np.zeros((1, 300, 1)),
        emission=Gaussian(np.eye(300), 0.1, n_levels=2),
    )
    with pytest.raises(
        ValueError,
        match="n_states must be at most 256, got the 300 that the environment declares: give a smaller one",
    ):
        fu.train(env, fu.URL(), 1_000)


class Unfinished(Explorer):
    def start(self, task):
        memory = ExplorerMemory(task)
        return type("Draft", (), {"policy": memory.policy})()


@pytest.mark.parametrize(
    ("agent", "settings"),
    [(fu.URL, {}), (fu.URLAsWritten, {"epsilon": 0.5, "delta": 0.5, "batch": 10})],
    ids=["practical", "as written"],
)
def test_a_memory_that_lacks_a_method_is_refused_at_its_start(agent, settings):
    with pytest.raises(
        ValueError,
        match=r"start of Unfinished must return an object with .*, got Draft without update and final_policy",
    ):
        fu.train(SHORT, agent(Perfect(), learner=Unfinished(), **settings), 5)

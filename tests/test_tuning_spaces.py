"""What a search can look for: spaces that components declare, and settings of their parts."""

import pytest

from fasturl._base.schema import Range
from fasturl.experiments.tuning.problem import Problem, default_space


def test_spaces_come_from_what_agents_and_their_learners_declare():
    step = Range(1e-4, 1.0)
    assert default_space("oracleq-obs", {}) == {"learning_rate": step, "confidence": step}
    assert default_space("qlearning-lat", {}) == {"learning_rate": step, "exploration_fraction": step}
    of_learner = {
        "learner.deviations": Range(0.3, 5.0),
        "learner.novelty": Range(0.03, 3.0),
        "learner.pooled_visits": Range(0.5, 10.0),
    }
    assert default_space("url", {}) == {"batch": Range(10, 200)} | of_learner
    assert default_space("url-as-written", {}) == of_learner
    assert default_space("url-as-published", {}) == {
        "batch": Range(25, 400),
        "iterations": (1, 2, 5, 10),
        "learner.learning_rate": step,
        "learner.confidence": step,
    }
    assert set(default_space("pcid", {})) == {"n_clusters", "samples_per_level", "model"}


def test_a_space_has_what_can_be_set_beside_what_is_fixed():
    assert set(default_space("url", {"learner": "oracleq", "learner.schedule": "constant"})) == {
        "batch",
        "learner.learning_rate",
        "learner.confidence",
    }
    assert set(default_space("url", {"learner": "oracleq", "learner.schedule": "spread"})) == {
        "batch",
        "learner.confidence",
    }
    assert set(default_space("oracleq-lat", {"schedule": "jin"})) == {"confidence"}
    assert set(default_space("url", {"learner": "qlearning", "batch": 50})) == {
        "learner.learning_rate",
        "learner.exploration_fraction",
    }


def test_settings_of_parts_may_be_written_with_or_without_their_owner():
    problem = Problem.make(
        "lock-bernoulli", "url", episodes=400, search={"novelty": [1e-5, 1e-4]}, fixed={"agent.batch": 50}
    )
    assert problem.fixed == {"batch": 50}
    assert problem.space == {"learner.novelty": [1e-5, 1e-4]}
    with pytest.raises(ValueError, match=r"learner\.novelty is searched, so it cannot be set to 0\.1"):
        Problem.make(
            "lock-bernoulli",
            "url",
            episodes=400,
            search={"novelty": [1e-5]},
            fixed={"learner.novelty": 0.1},
        )

"""Environments and agents by name."""

import pytest
from fasturl.oracles.oracles import BY_NAME

import fasturl as fu
from fasturl import registry as catalog
from fasturl.agents.observation import ObservationAgent
from fasturl.agents.url import ORACLES


def test_an_environment_is_made_from_its_name_and_settings():
    env = catalog.environment("lock-gaussian", horizon=7, switch=0.2, noise=0.3)
    assert isinstance(env, fu.LockGaussian)
    assert env.parameters() == {"horizon": 7, "switch": 0.2, "noise": 0.3}


@pytest.mark.parametrize("name", catalog.AGENTS)
def test_every_agent_calls_itself_by_the_name_it_is_made_from(name):
    assert catalog.agent(name).name == name


def test_settings_reach_the_learner():
    agent = catalog.agent("oracleq-obs", learning_rate=0.7)
    assert agent == ObservationAgent(fu.OracleQ(learning_rate=0.7))


def test_url_keeps_its_own_learner_unless_told_otherwise():
    lock = fu.LockBernoulli(3)
    assert (
        catalog.agent("url").learner_on(lock)
        == fu.URL().learner_on(lock)
        == fu.OracleQ(schedule="jin", confidence=1e-5)
    )


def test_a_learning_rate_asks_url_for_the_constant_schedule():
    assert catalog.agent("url", learning_rate=0.3).learner == fu.OracleQ(
        learning_rate=0.3, confidence=1e-5, schedule="constant"
    )


@pytest.mark.parametrize(
    ("make", "name", "settings", "message"),
    [
        (
            catalog.environment,
            "lock-bernouli",
            {},
            "environment must be one of 'lock-bernoulli', 'lock-gaussian', got 'lock-bernouli'",
        ),
        (
            catalog.environment,
            "lock-bernoulli",
            {"noise": 0.1},
            "noise is not a setting of lock-bernoulli; it has horizon, switch",
        ),
        (catalog.agent, "dqn", {}, "agent must be one of .*, got 'dqn'"),
        (catalog.agent, "qlearning-lat", {"confidence": 1.0}, "confidence is not a setting of qlearning-lat"),
        (catalog.agent, "url", {"schedule": ""}, "schedule must be one of 'constant', 'jin', got ''"),
        (
            catalog.agent,
            "oracleq-lat",
            {"learning_rat": 1.0},
            r"learning_rat is not a setting of oracleq-lat \(did you mean learning_rate\?\)",
        ),
        (
            catalog.agent,
            "url",
            {"oracle_settings": {"n_init": 2}},
            "oracle must be one of 'kmeans', 'dbscan', 'gmm' where oracle_settings are given, got None",
        ),
        (
            catalog.agent,
            "url",
            {"oracle": "kmeans", "oracle_settings": 3},
            "oracle_settings must be a table of settings, got 3",
        ),
    ],
)
def test_what_is_not_known_is_refused(make, name, settings, message):
    with pytest.raises(ValueError, match=message):
        make(name, **settings)


def test_the_failure_probability_of_the_theoretical_schedule_is_a_setting_of_url():
    assert catalog.agent("url", failure_probability=0.2).learner.failure_probability == 0.2
    with pytest.raises(ValueError, match="failure_probability must be left out when schedule='constant'"):
        catalog.agent("url", failure_probability=0.2, learning_rate=0.3)


def test_the_names_of_oracles_that_are_known_without_scikit_learn_are_all_of_them():
    assert tuple(BY_NAME) == ORACLES

"""Environments and agents by name, and how people write their settings."""

from dataclasses import dataclass
from typing import Any

import pytest
from url_parts import Explorer

import fasturl as fu
from fasturl import registry
from fasturl._base import names
from fasturl.agents.observation import ObservationAgent
from fasturl.oracles import GMM


def test_an_environment_is_made_from_its_name_and_settings():
    env = registry.environment("lock-gaussian", horizon=7, switch=0.2, noise=0.3)
    assert isinstance(env, fu.LockGaussian)
    assert env.settings() == {"horizon": 7, "switch": 0.2, "noise": 0.3}


@pytest.mark.parametrize("name", registry.agent_names())
def test_every_agent_calls_itself_by_the_name_it_is_made_from(name):
    assert registry.agent(name).name == name


def test_settings_reach_the_learner():
    agent = registry.agent("oracleq-obs", learning_rate=0.7)
    assert agent == ObservationAgent(fu.OracleQ(learning_rate=0.7))


def test_an_agent_on_observations_has_a_setting_beside_those_of_its_learner():
    agent = registry.agent("oracleq-obs", learning_rate=0.7, level_in_key=True)
    assert agent == ObservationAgent(fu.OracleQ(learning_rate=0.7), level_in_key=True)
    settings = registry.agent_settings("oracleq-obs", {"level_in_key": True})
    assert settings == {**fu.OracleQ().settings(), "level_in_key": True}
    assert registry.agent("oracleq-obs", **settings) == ObservationAgent(fu.OracleQ(), level_in_key=True)
    with pytest.raises(ValueError, match="level_in_key is not a setting of oracleq-lat"):
        registry.agent("oracleq-lat", level_in_key=True)


def test_a_learner_keeps_a_setting_that_is_called_as_the_agents(monkeypatch):
    @dataclass(frozen=True)
    class Deep(fu.OracleQ):
        level_in_key: int = fu.setting(3, help="Something else.")

    monkeypatch.setitem(names._registered, "learner", {})
    fu.register(Deep)
    assert registry.agent("deep-obs", level_in_key=4) == ObservationAgent(Deep(level_in_key=4))


@pytest.mark.parametrize(
    ("name", "agent"),
    [("url", fu.URL), ("url-as-published", fu.URLAsPublished), ("url-as-written", fu.URLAsWritten)],
)
def test_an_agent_by_name_has_the_defaults_of_its_class(name, agent):
    assert registry.agent(name) == agent()


@pytest.mark.parametrize("written", ["confidence", "learner.confidence"])
def test_a_setting_of_the_learner_leaves_its_other_settings_as_they_are(written, monkeypatch):
    @dataclass(frozen=True)
    class Spreading(fu.URL):
        learner: Any = fu.setting(
            fu.OracleQ(schedule="spread"), kind="learner", help="With a setting that is not its default."
        )

    monkeypatch.setitem(names._registered, "agent", {})
    fu.register(Spreading)
    learner = registry.agent("spreading", **{written: 0.5}).learner
    assert learner == fu.OracleQ(confidence=0.5, schedule="spread")


def test_the_default_of_a_part_may_be_its_name(monkeypatch):
    @dataclass(frozen=True)
    class Named(fu.URL):
        oracle: Any = fu.setting("gmm", kind="oracle", help="A part whose default is a name.")

    monkeypatch.setitem(names._registered, "agent", {})
    fu.register(Named)
    assert isinstance(registry.agent("named").oracle, GMM)
    for written in ("covariance", "oracle.covariance"):
        oracle = registry.agent("named", **{written: "full"}).oracle
        assert (type(oracle), oracle.covariance) == (GMM, "full")
    setting_names = registry.SettingNames("lock-bernoulli", "named", {})
    assert setting_names.titles["oracle"] == "oracle gmm"
    assert setting_names.owner("covariance")[0] == "oracle"
    assert setting_names.scopes["oracle"]["covariance"].default == "spherical"


def test_a_learner_without_rules_is_one_agent(monkeypatch):
    monkeypatch.setitem(names._registered, "learner", {})
    fu.register(Explorer)
    assert set(registry.possible_agent_names()) - set(registry.agent_names()) == {"explorer-obs"}
    with pytest.raises(ValueError, match=r"got 'explorer-ob' \(did you mean explorer-lat\?\)"):
        registry.agent("explorer-ob")


@pytest.mark.parametrize("part", ["learner", "oracle"])
@pytest.mark.parametrize("spellings", ["table bare", "table dotted", "bare dotted", "dotted bare"])
def test_a_setting_of_a_part_in_two_spellings_is_refused(part, spellings):
    parts = {"learner": ({"name": "oracleq"}, "confidence"), "oracle": ({"name": "kmeans"}, "n_init")}
    table, inner = parts[part]
    settings = {part: table}
    for value, spelling in enumerate(spellings.split(), 5):
        if spelling == "table":
            settings[part] = table | {inner: value}
        else:
            settings[inner if spelling == "bare" else f"{part}.{inner}"] = value
    with pytest.raises(ValueError, match=rf"^{part}\.{inner} is given twice, as 5 and as 6$"):
        registry.agent("url", **settings)


def test_an_oracle_may_be_a_table_with_settings():
    tables = ({"oracle": "kmeans", "n_init": 2}, {"oracle": {"name": "kmeans", "n_init": 2}})
    assert [registry.agent("url", **table).oracle.n_init for table in tables] == [2, 2]


@pytest.mark.parametrize(
    ("make", "name", "settings", "message"),
    [
        (
            registry.environment,
            "lock-bernouli",
            {},
            "environment must be one of .*'lock-bernoulli', 'lock-gaussian', .*, got 'lock-bernouli' "
            r"\(did you mean lock-bernoulli\?\)",
        ),
        (
            registry.environment,
            "lock-bernoulli",
            {"noise": 0.1},
            "noise is not a setting of lock-bernoulli; it has horizon, switch",
        ),
        (registry.agent, "dqn", {}, "agent must be one of .*, got 'dqn'"),
        (
            registry.agent,
            "qlearning-lat",
            {"confidence": 1.0},
            "confidence is not a setting of qlearning-lat",
        ),
        (
            registry.agent,
            "url",
            {"learner": "oracleq", "schedule": ""},
            "schedule must be one of 'constant', 'jin', 'spread', got ''",
        ),
        (
            registry.agent,
            "oracleq-lat",
            {"learning_rat": 1.0},
            r"learning_rat is not a setting of oracleq-lat \(did you mean learning_rate\?\)",
        ),
        (registry.agent, "url", {"oracle": {"n_init": 2}}, "oracle must have a name where it has settings"),
        (
            registry.agent,
            "url",
            {"learner": "oracleq", "schedule": "spread", "learning_rate": 0.3},
            "learning_rate must be left out when schedule='spread', which sets its own",
        ),
        (
            registry.agent,
            "url",
            {"learner": "oracleq", "failure_probability": 0.2, "schedule": "constant"},
            "failure_probability must be left out when schedule='constant'",
        ),
    ],
)
def test_what_is_not_known_is_refused(make, name, settings, message):
    with pytest.raises(ValueError, match=message):
        make(name, **settings)


def test_a_setting_is_written_alone_where_one_has_it_and_with_its_owner_otherwise():
    setting_names = registry.SettingNames("lock-bernoulli", "url", {"oracle": "kmeans"})
    assert [setting_names.owner(word)[0] for word in ("horizon", "batch", "n_init", "n-init", "novelty")] == [
        "env",
        "agent",
        "oracle",
        "oracle",
        "learner",
    ]
    assert setting_names.owner("oracle.n_states")[0] == "oracle"
    assert setting_names.option("oracle", "n_states") == "--oracle.n-states"
    assert setting_names.option("learner", "pooled_visits") == "--pooled-visits"
    assert setting_names.owner("n_states")[0] == "agent"  # which goes before its parts
    with pytest.raises(ValueError, match=r"oracle\.n_init cannot be set: name the oracle of url first"):
        registry.SettingNames("lock-bernoulli", "url", {}).owner("oracle.n_init")


def test_every_written_setting_finds_its_owner_again():
    for env in registry.environment_names():
        for agent in registry.agent_names():
            setting_names = registry.SettingNames(env, agent, {})
            for scope, settings in setting_names.scopes.items():
                for name in settings:
                    owner, setting = setting_names.owner(setting_names.spelling(scope, name))
                    assert (owner, setting.name) == (scope, name)


def test_settings_of_the_same_name_are_listed_with_their_owner():
    with pytest.raises(ValueError, match="foo is not a setting of url; it has ") as refusal:
        registry.agent("url", oracle="kmeans", foo=3)
    listed = str(refusal.value).partition("it has ")[2].split(", ")
    assert {"n_states", "oracle.n_states", "n_init"} <= set(listed)
    assert len(set(listed)) == len(listed)

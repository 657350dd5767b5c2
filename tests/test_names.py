"""Components by name: registered by a program or by an installed package, ours like anybody's."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from named_parts import KINDS, Corridor, Counts, Lazy, Threshold
from sklearn.cluster import Birch

import fasturl as fu
from fasturl import registry
from fasturl._base import names
from fasturl._base.parts import describe_part
from fasturl.agents.agent import Agent

pytestmark = pytest.mark.usefixtures("nothing_registered")


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_of_each_kind_is_registered_by_a_call_and_by_a_decorator(kind):
    cls = KINDS[kind]
    assert fu.register(cls) is cls
    assert fu.register(name="by-decorator")(cls) is cls
    assert names.find(kind, cls.__name__.lower()).cls is names.find(kind, "by-decorator").cls is cls
    component = names.find(kind, "by-decorator")
    assert (component.kind, component.carried, component.built_in) == (kind, True, False)
    assert component.target == f"{cls.__module__}:{cls.__name__}"


def test_what_is_registered_can_be_trained_by_name():
    for cls in KINDS.values():
        fu.register(cls)
    env = registry.environment("corridor", horizon=3, slip=0.1)
    assert (env.name, env.settings()) == ("corridor", {"horizon": 3, "slip": 0.1})
    run = fu.train(env, registry.agent("lazy", rest=1), 50)
    assert (run.agent, run.values[0]) == ("lazy", pytest.approx(0.9**3))
    assert fu.train(env, registry.agent("counts-lat", patience=4), 50).agent == "counts-lat"
    url = registry.agent("url", oracle="threshold", learner="counts", coordinate=1, patience=2)
    assert (url.oracle.coordinate, url.learner.patience) == (1, 2)
    assert fu.train(fu.LockBernoulli(2), url, 80).oracle == "threshold"
    assert registry.agent_settings("url", {"oracle": "threshold", "patience": 2, "learner": "counts"}) == {
        "oracle": {"name": "threshold", "coordinate": 0},
        "learner": {"name": "counts", "patience": 2},
        "n_states": None,
        "batch": 25,
        "levels": "auto",
    }
    assert {"lazy", "counts-lat"} <= set(registry.agent_names())
    assert "counts-obs" not in registry.agent_names()  # it has no rules
    assert [name for _, name, _ in registry.carried("corridor", "lazy", {})] == ["corridor", "lazy"]


def test_installed_packages_are_read_once_and_again_when_the_path_changes(monkeypatch, tmp_path):
    """To read the files of all of them takes a third of a second."""
    reads = []
    monkeypatch.setattr(names.metadata, "packages_distributions", lambda: reads.append(1) or {})
    names._distributions.cache_clear()
    try:
        for _ in range(2):
            for cls in KINDS.values():
                fu.register(cls)
        assert len(reads) == 1
        monkeypatch.syspath_prepend(str(tmp_path))
        fu.register(Corridor)
        assert len(reads) == 2
    finally:
        names._distributions.cache_clear()


def test_a_class_that_is_defined_again_takes_the_place_of_the_former():
    """As when a cell of a notebook runs again."""

    def cell(default):
        class Again:
            def __init__(self, size=default):
                self.size = size

            fit = predict = lambda self, X: X

        return fu.register(Again, name="again")

    first, second = cell(1), cell(2)
    assert names.find("oracle", "again").cls is second is not first
    assert names.find("oracle", "again").settings["size"].default == 2
    assert describe_part("oracle", first()) == {"name": "again", "size": 1}


def test_a_clusterer_of_scikit_learn_is_registered_as_it_is():
    fu.register(Birch)
    agent = registry.agent("url", oracle="birch", threshold=np.float32(0.25), n_clusters=3)
    assert fu.train(fu.LockGaussian(2, 0.2, 0.1), agent, 300).oracle == "birch"
    settings = registry.agent_settings("url", {"oracle": {"name": "birch", "n_clusters": None}})
    assert settings["oracle"]["n_clusters"] is None
    assert settings["oracle"]["branching_factor"] == 50
    json.dumps(describe_part("oracle", Birch(threshold=np.float32(0.25), n_clusters=np.int64(3))))
    assert names.find("oracle", "birch").package == "scikit-learn"
    with pytest.raises(ValueError, match=r"treshold is not a setting of url \(did you mean threshold\?\)"):
        registry.agent("url", oracle="birch", treshold=0.5)


def undeclared(self, size):
    pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Corridor(),), r"a class is registered, got Corridor\("),
        (
            (int,),
            "int cannot be registered: it is no Environment and no Agent, has no start as a learner has,",
        ),
        (
            (Threshold, "Two Words"),
            "name must be small letters and digits with hyphens between them, got 'Two",
        ),
        ((Threshold, "x", "orcale"), r"kind must be one of .*, got 'orcale' \(did you mean oracle\?\)"),
        ((Threshold, "x", "learner"), "Threshold cannot be registered: Threshold has no start"),
        (
            (Threshold, "x", "agent"),
            "Threshold cannot be registered: .* must be a subclass of fasturl's Agent",
        ),
        (
            (Threshold, "kmeans"),
            "oracle 'kmeans' is taken by the package fasturl .*: register Threshold under",
        ),
        (
            (Lazy, "oracleq-lat"),
            "agent 'oracleq-lat' is taken by learner 'oracleq': register Lazy under another",
        ),
        (
            (type("Undeclared", (Threshold,), {"__init__": undeclared}),),
            "Undeclared cannot be registered: size of Undeclared is not declared: give it a type",
        ),
        (
            (type("Unfinished", (Agent,), {}),),
            "Unfinished cannot be registered: Unfinished does not define",
        ),
    ],
)
def test_what_cannot_be_registered_is_refused_in_one_line(arguments, message):
    cls, name, kind = (*arguments, None, None)[:3]
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        fu.register(cls, name=name, kind=kind)
    assert "\n" not in str(caught.value)


def test_a_learner_cannot_take_the_names_of_an_agent():
    fu.register(Lazy, name="slow-obs")
    with pytest.raises(
        ValueError, match="learner 'slow' is taken by agent 'slow-obs': register Counts under"
    ):
        fu.register(Counts, name="slow")


def test_another_class_of_a_name_is_refused():
    fu.register(Threshold, name="mine")
    with pytest.raises(
        ValueError, match=r"oracle 'mine' is taken by the package .*: register Birch under another"
    ):
        fu.register(Birch, name="mine")


def test_a_setting_that_is_a_column_of_results_is_refused():
    @dataclass(frozen=True)
    class Seeded(Corridor):
        seed: int = fu.setting(0, help="A seed.")

    with pytest.raises(ValueError, match="seed is a column of results and cannot be a setting of Seeded"):
        fu.register(Seeded)


def test_an_object_that_no_name_stands_for_is_refused_with_the_line_that_registers_it():
    with pytest.raises(ValueError, match=r"^oracle .* register its class first, fu.register\(Threshold\)$"):
        describe_part("oracle", Threshold())


def test_a_setting_that_an_object_does_not_keep_is_named():
    class Forgetful(Threshold):
        def __init__(self, depth: int = 3):
            super().__init__()

    fu.register(Forgetful)
    with pytest.raises(
        ValueError, match="Forgetful must keep its setting depth as an attribute of that name"
    ):
        describe_part("oracle", Forgetful())


def test_ours_are_registered_like_anybodys():
    ours = {kind: {n for n, one in names.components(kind).items() if one.built_in} for kind in names.GROUPS}
    assert ours == {
        "environment": {
            *("lock-bernoulli", "lock-gaussian", "rich-lock", "bidirectional-lock", "detour-lock"),
            *("bandit", "river-swim", "deep-sea", "random-mdp", "maze"),
        },
        "oracle": {
            *("kmeans", "gmm", "dbscan", "pca-kmeans", "pca-dbscan", "full-gmm", "splits"),
            *("bernoulli-mixture", "categorical-mixture", "poisson-mixture"),
            *("autoencoder-simhash", "subspaces"),
        },
        "learner": {
            *("oracleq", "qlearning", "ucbq-bernstein", "ucbvi", "pooled-ucbvi", "rmax"),
            *("psrl", "opsrl", "rlsvi"),
        },
        "agent": {"url", "url-as-published", "url-as-written", "pcid"},
    }
    for kind, known in ours.items():
        for name in known:
            component = names.find(kind, name)
            assert names.find_class(kind, component.cls) == component
            assert component.settings


def test_what_a_name_is_made_of():
    assert names.default_name(fu.LockBernoulli) == "lock-bernoulli"
    assert names.default_name(fu.BlockMDP) == "block-mdp"
    assert names.default_name(type("My_Own2Thing", (), {})) == "my-own2-thing"
    assert names.default_name(type("X", (), {"name": "chosen"})) == "chosen"

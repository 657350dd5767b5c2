"""Components that an installed package makes known by its entry points."""

import sys
import types
import warnings
from importlib import metadata

import pytest
from named_parts import Corridor, Lazy, Threshold

import fasturl as fu
from fasturl import registry
from fasturl._base import names
from fasturl._base.parts import describe_part

pytestmark = pytest.mark.usefixtures("nothing_registered")


class Package:
    """A distribution that is not installed."""

    def __init__(self, name, version="1.2"):
        self.name, self.version = name, version


@pytest.fixture
def install(monkeypatch):
    """Add entry points (group, name, value, package) to those that are installed."""

    def add(*entries):
        real = metadata.entry_points

        def entry_points(**selection):
            mine = []
            for kind, name, value, package in entries:
                entry = metadata.EntryPoint(name, value, names.GROUPS.get(kind, kind))
                mine.append(entry._for(Package(package)))
            installed = real()
            theirs = [one for group in installed.groups for one in installed.select(group=group)]
            return metadata.EntryPoints([*theirs, *mine]).select(**selection)

        monkeypatch.setattr(metadata, "entry_points", entry_points)
        names.forget_installed()

    return add


@pytest.fixture
def module(monkeypatch):
    """A module of some package, with what is put into it."""

    def make(name, **content):
        made = types.ModuleType(name)
        vars(made).update(content)
        monkeypatch.setitem(sys.modules, name, made)

    return make


def test_a_package_makes_its_classes_known_by_entry_points(install, module):
    module("elsewhere", Corridor=Corridor, Threshold=Threshold)
    install(
        ("environment", "hall", "elsewhere:Corridor", "elsewhere-package"),
        ("oracle", "limit", "elsewhere:Threshold", "elsewhere-package"),
    )
    component = names.find("environment", "hall")
    assert (component.origin, component.carried) == ("elsewhere-package 1.2", False)
    assert registry.environment("hall", horizon=2).horizon == 2
    assert registry.origins("hall", "url", {"oracle": {"name": "limit"}}) == {
        "environment hall": "elsewhere-package 1.2",
        "agent url": names.find("agent", "url").origin,
        "oracle limit": "elsewhere-package 1.2",
    }
    # the classes are defined in another module than the one that shows them
    assert Corridor().name == "hall"
    assert describe_part("oracle", Threshold(1)) == {"name": "limit", "coordinate": 1}
    assert registry.carried("hall", "url", {"oracle": {"name": "limit"}}) == []


def test_a_name_that_is_taken_twice_is_left_out_with_one_line(install, module):
    module("second", Threshold=Threshold, Lazy=Lazy)
    install(
        ("oracle", "kmeans", "second:Threshold", "second-package"),
        ("oracle", "limit", "second:Threshold", "second-package"),
        ("oracle", "limit", "third:Threshold", "third-package"),
        ("agent", "oracleq-obs", "second:Lazy", "second-package"),
        ("agent", "Very Lazy", "second:Lazy", "second-package"),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert names.find("oracle", "kmeans").cls is fu.oracles.KMeans
        assert names.find("oracle", "limit").cls is Threshold
        registry.agent("oracleq-obs")
        names.components("oracle")
    ours = names.find("oracle", "kmeans").origin
    learner = names.find("learner", "oracleq").origin
    assert sorted(str(one.message) for one in caught) == sorted(
        [
            f"oracle 'kmeans' of the package second-package is left out: the name is taken by {ours}",
            "oracle 'limit' of the package third-package is left out: the name is taken by "
            "second-package 1.2",
            "agent 'oracleq-obs' of the package second-package is left out: the name is taken by "
            f"learner 'oracleq' of {learner}",
            "agent 'Very Lazy' of the package second-package is left out: "
            "a name must be small letters and digits with hyphens between them",
        ]
    )


def test_a_group_that_is_nearly_one_of_ours_is_told_of_in_one_line(install, module):
    module("second", Threshold=Threshold)
    install(
        ("fasturl.oracle", "limit", "second:Threshold", "second-package"),
        ("fasturl_extras", "limit", "second:Threshold", "second-package"),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "limit" not in names.components("oracle")
        names.components("agent")
    assert [str(one.message) for one in caught] == [
        "'limit' of the package second-package is left out: there is no group fasturl.oracle of entry points "
        "(did you mean fasturl.oracles?); there are fasturl.environments, fasturl.oracles, fasturl.learners, "
        "fasturl.agents"
    ]


def test_an_installation_that_is_listed_twice_is_no_quarrel(install, module):
    module("twice", Threshold=Threshold)
    install(*[("oracle", "limit", "twice:Threshold", "twice-package")] * 2)
    assert names.find("oracle", "limit").cls is Threshold  # warnings are errors


def test_a_package_that_fails_is_named_and_harms_nobody_else(install, module, monkeypatch, tmp_path):
    (tmp_path / "breaks_on_import.py").write_text("raise RuntimeError('two\\nlines')")
    (tmp_path / "leaves_on_import.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(str(tmp_path))

    class Undeclared(Threshold):
        def __init__(self, size):
            pass

    module("half_done", Undeclared=Undeclared, number=3)
    broken = {
        "gone": ("no_such_module_here:Oracle", "cannot be loaded: ModuleNotFoundError: No module named"),
        "breaks": ("breaks_on_import:Oracle", "cannot be loaded: RuntimeError: two lines"),
        "leaves": ("leaves_on_import:Oracle", "cannot be loaded: SystemExit: 3"),
        "lost": ("half_done:Oracle", "cannot be loaded: AttributeError: "),
        "undeclared": (
            "half_done:Undeclared",
            "cannot be used: size of Undeclared is not declared: give it a",
        ),
        "number": ("half_done:number", "cannot be used: it must be a class, got 3"),
    }
    install(*(("oracle", name, value, "bad-package") for name, (value, _) in broken.items()))
    for name, (_, reason) in broken.items():
        with pytest.raises(
            ValueError, match=f"^oracle '{name}' of the package bad-package 1.2 {reason}"
        ) as caught:
            registry.agent("url", oracle={"name": name})
        assert "\n" not in str(caught.value)
    run = fu.train(fu.LockBernoulli(2), registry.agent("url", oracle="kmeans"), 100)
    assert run.oracle == "kmeans"
    assert fu.train(fu.LockBernoulli(2), fu.URL(Threshold()), 100).oracle == "threshold"
    assert set(broken) < set(names.components("oracle"))

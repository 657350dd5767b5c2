"""Hyperparameter search: what it finds, how it goes on after a stop, and the file of what it found."""

import contextlib
import dataclasses
import itertools
import math
import os
import sqlite3
import sys

import pytest
from small_search import finished_trials, small, tune

from fasturl import registry
from fasturl._base.schema import Range
from fasturl.experiments.tuning.problem import Problem, grid_values

optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
pytestmark = pytest.mark.usefixtures("hasty_databases")


@pytest.fixture
def hill(monkeypatch):
    """Training is replaced by a hill over the learning rate, highest at 0.01, with a little noise of the
    seed; lists what was asked."""
    asked = []

    def evaluate(self, settings, seeds, n_jobs):
        asked.append((settings["learning_rate"], settings["confidence"], tuple(seeds)))
        height = -abs(math.log10(settings["learning_rate"]) + 2) - 0.1 * settings["confidence"]
        return [height + 0.001 * math.sin(seed) for seed in seeds]

    monkeypatch.setattr(Problem, "evaluate", evaluate)
    return asked


def test_a_grid_finds_the_rate_that_learns():
    found = tune(small(search={"learning_rate": [1e-4, 0.2]}, fixed={"confidence": 0.001}), method="grid")
    assert found.best.settings == {"confidence": 0.001, "learning_rate": 0.2}
    assert found.best.average_reward_mean > 0.3
    assert len(found.trials) == 2


def test_the_objective_is_the_mean_over_environments_and_seeds():
    import fasturl as fu

    problem = small(env_settings={"horizon": 3, "switch": [0.0, 0.5]}, search={"confidence": [0.01]})
    expected = [
        fu.train(fu.LockBernoulli(3, switch), fu.OracleQ(confidence=0.01), 400, problem.seeds)
        .average_reward[:, -1]
        .mean()
        for switch in (0.0, 0.5)
    ]
    assert tune(problem, method="grid", seeds_per_check=4).best.average_reward_mean == pytest.approx(
        sum(expected) / 2, rel=1e-12
    )


def test_tpe_climbs_the_hill(hill):
    found = tune(small(), trials=30)
    assert math.log10(found.best.settings["learning_rate"]) == pytest.approx(-2, abs=0.3)


def test_the_grid_is_the_papers():
    assert small().grid()[:2] == [
        {"learning_rate": 1e-4, "confidence": 1e-4},
        {"learning_rate": 1e-4, "confidence": 1e-3},
    ]
    assert grid_values(Range(1e-4, 1.0)) == (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    assert grid_values(Range(25, 300)) == (25, 50, 100, 200, 300)


def test_the_name_of_a_study_tells_the_packages_that_components_come_from(hill, monkeypatch):
    problem = small()
    version = registry.names.find("learner", "oracleq").origin
    assert problem.origins == {"environment lock-bernoulli": version, "learner oracleq": version}
    other = dataclasses.replace(problem, origins=problem.origins | {"learner oracleq": "fasturl 99"})
    assert tune(problem, trials=1).study_name != tune(other, trials=1).study_name


@pytest.mark.parametrize("method", ["grid", "tpe"])
def test_a_search_goes_on_where_it_stopped(method, hill, tmp_path):
    undisturbed = tune(small(), method=method, trials=8)
    hill.clear()
    tune(small(), method=method, trials=3, study=tmp_path / "study.db")
    resumed = tune(small(), method=method, trials=8, study=tmp_path / "study.db")
    assert len(set(hill)) == len(hill)
    assert resumed.trials == undisturbed.trials
    hill.clear()
    again = tune(small(), method=method, trials=8, study=tmp_path / "study.db")
    assert again.trials == undisturbed.trials
    assert hill == []


@pytest.mark.parametrize("method", ["grid", "tpe"])
def test_an_interrupted_trial_is_made_again(method, hill, tmp_path, monkeypatch):
    undisturbed = tune(small(), method=method, trials=8)
    plain, calls = Problem.evaluate, []

    def interrupted(self, *words):
        calls.append(words)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return plain(self, *words)

    monkeypatch.setattr(Problem, "evaluate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(small(), method=method, trials=8, study=tmp_path / "study.db")
    assert tune(small(), method=method, trials=8, study=tmp_path / "study.db").trials == undisturbed.trials


def test_a_point_that_two_processes_tried_counts_once(tmp_path, monkeypatch):
    """While A tries the second point, C starts the third and is stopped; meanwhile B finds none free and
    tries the second too."""
    tried = []

    def search(**more):
        problem = small(search={"learning_rate": [0.1, 0.2, 0.3]})
        return tune(
            problem, method="grid", storage=f"sqlite:///{tmp_path}/study.db", seeds_per_check=6, **more
        )

    def evaluate(self, settings, seeds, n_jobs):
        tried.append(settings["learning_rate"])
        if len(tried) == 2:
            with pytest.raises(KeyboardInterrupt):
                search()  # C
        elif len(tried) == 3:
            search(trials=2)  # B
            raise KeyboardInterrupt
        return [settings["learning_rate"]] * len(seeds)

    monkeypatch.setattr(Problem, "evaluate", evaluate)
    found = search()
    assert [tried[n] for n in (1, 2)] == [tried[n] for n in (3, 4)]
    assert [trial.settings["learning_rate"] for trial in found.trials] == tried[:3]
    assert found.best.settings == {"learning_rate": 0.3}


@pytest.mark.parametrize("method", ["grid", "tpe"])
def test_two_processes_that_make_the_same_draw_find_what_one_finds(method, hill, tmp_path, monkeypatch):
    """B takes A for dead. When A looks whether to go on with its first trial, B has made that one and better
    ones."""

    def search(**more):
        return tune(small(), method=method, storage=f"sqlite:///{tmp_path}/study.db", **more)

    def nobody_lives(*_):
        raise ProcessLookupError

    undisturbed = tune(small(), method=method, trials=8)
    plain, others = Problem.evaluate, []

    def evaluate(self, *words):
        if not others:
            others.append(None)
            with monkeypatch.context() as while_b_searches:
                while_b_searches.setattr(os, "kill", nobody_lives)
                others[:] = [search(trials=8)]
        return plain(self, *words)

    monkeypatch.setattr(Problem, "evaluate", evaluate)
    assert search(trials=8).trials == undisturbed.trials
    assert others[0].trials == undisturbed.trials
    assert finished_trials(tmp_path / "study.db") == 9


@contextlib.contextmanager
def study_in(url):
    """The one study of a database, as somebody else opens it."""
    storage = optuna.storages.RDBStorage(url)
    try:
        (name,) = optuna.get_all_study_names(storage)
        yield optuna.load_study(study_name=name, storage=storage)
    finally:
        storage.remove_session()
        storage.engine.dispose()


def fail_what_runs(url):
    """As a process does that has heard nothing of another for long."""
    with study_in(url) as study:
        for trial in study.get_trials(states=[optuna.trial.TrialState.RUNNING]):
            study._storage.set_trial_state_values(trial._trial_id, optuna.trial.TrialState.FAIL)


@pytest.mark.parametrize("method", ["grid", "tpe"])
@pytest.mark.parametrize("call", [1, 4])
def test_a_process_that_slept_and_was_taken_for_dead_goes_on(method, call, hill, tmp_path, monkeypatch):
    undisturbed = tune(small(), method=method, trials=8, seeds_per_check=6)
    url, plain, calls = f"sqlite:///{tmp_path}/study.db", Problem.evaluate, itertools.count(1)

    def evaluate(self, *words):
        if next(calls) == call:
            fail_what_runs(url)
        return plain(self, *words)

    monkeypatch.setattr(Problem, "evaluate", evaluate)
    assert tune(small(), method=method, trials=8, seeds_per_check=6, storage=url).trials == undisturbed.trials


def test_settings_that_somebody_put_into_the_queue_take_no_point_of_the_grid(hill, tmp_path):
    problem, url = (
        small(search={"learning_rate": [0.01, 0.1, 1.0], "confidence": [0.0]}),
        f"sqlite:///{tmp_path}/study.db",
    )
    tune(problem, method="grid", trials=1, storage=url)
    with study_in(url) as study:
        study.enqueue_trial({"learning_rate": 1.0, "confidence": 0.0})
    assert tune(problem, method="grid", storage=url).trials == tune(problem, method="grid").trials


def test_trials_that_are_worse_are_given_up_after_a_block(hill):
    problem = small(
        search={"learning_rate": [1e-4, 1e-3, 1e-2, 1e-1, 1.0], "confidence": [0.0]}, seeds=range(100, 120)
    )
    found = tune(problem, method="grid", seeds_per_check=5)
    pruned = [trial for trial in found.trials if trial.pruned]
    assert pruned
    assert all(trial.n_seeds == 5 for trial in pruned)
    assert found.best.settings["learning_rate"] == 1e-2
    assert found.best.n_seeds == 20
    whole = tune(problem, method="grid", seeds_per_check=5, prune=False)
    assert not any(trial.pruned for trial in whole.trials)
    assert whole.best == found.best


def test_the_sampler_seed_makes_the_trials(hill):
    assert tune(small(), trials=12, sampler_seed=1).trials == tune(small(), trials=12, sampler_seed=1).trials
    assert tune(small(), trials=12, sampler_seed=1).trials != tune(small(), trials=12, sampler_seed=2).trials


def test_one_file_holds_several_studies(hill, tmp_path):
    study = tmp_path / "study.db"
    assert len(tune(small(), trials=3, study=study).trials) == 3
    assert len(tune(small(episodes=500), trials=2, study=study).trials) == 2
    assert len(tune(small(), trials=4, storage=f"sqlite:///{study}").trials) == 4


def test_a_trial_that_somebody_else_put_into_the_study_does_not_count(hill, tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    tune(small(), trials=2, storage=url)
    with study_in(url) as study:
        study.add_trial(optuna.trial.create_trial(value=-1000.0))
    assert tune(small(), trials=3, storage=url).trials == tune(small(), trials=3).trials


def test_a_search_ends_when_others_finish_the_grid_while_it_looks_for_a_point(hill, tmp_path, monkeypatch):
    def search():
        return tune(small(), method="grid", storage=f"sqlite:///{tmp_path}/study.db").trials

    plain, others = optuna.storages.fail_stale_trials, []

    def meanwhile(study):
        if not others:
            others.append(None)
            others[:] = search()
        plain(study)

    monkeypatch.setattr(optuna.storages, "fail_stale_trials", meanwhile)
    assert search() == others
    assert len(others) == finished_trials(tmp_path / "study.db") == 25


def test_a_search_that_starts_while_another_makes_the_tables_goes_on(hill, tmp_path, monkeypatch):
    from sqlalchemy import MetaData

    plain, calls = MetaData.create_all, []

    def late(self, engine):
        calls.append(engine)
        if len(calls) == 1:
            plain(self, engine)  # the other process, after this one found no tables
            plain(self, engine, checkfirst=False)
        plain(self, engine)

    monkeypatch.setattr(MetaData, "create_all", late)
    assert len(tune(small(), trials=2, storage=f"sqlite:///{tmp_path}/study.db").trials) == 2
    assert len(calls) == 2


def test_a_file_that_is_no_database_is_closed_again(tmp_path, monkeypatch):
    plain, opened = sqlite3.dbapi2.connect, []
    monkeypatch.setattr(
        sqlite3.dbapi2, "connect", lambda *words, **more: opened.append(plain(*words, **more)) or opened[-1]
    )
    (tmp_path / "notes.db").write_text("no database\n" * 100)
    with pytest.raises(ValueError, match="file is not a database"):
        tune(small(), trials=1, study=tmp_path / "notes.db")
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            connection.execute("SELECT 1")


@pytest.mark.parametrize("method", ["grid", "tpe"])
def test_settings_that_cannot_be_trained_do_not_end_the_search(method, hill, tmp_path, monkeypatch):
    real = Problem.evaluate

    def picky(self, settings, seeds, n_jobs):
        if settings["learning_rate"] > 0.05:
            raise ValueError("one cluster")
        return real(self, settings, seeds, n_jobs)

    monkeypatch.setattr(Problem, "evaluate", picky)
    problem = small(search={"learning_rate": [0.001, 0.01, 0.1], "confidence": [0.1, 0.2]})
    found = tune(problem, method=method, trials=6, study=tmp_path / "study.db")
    assert len(found.trials) == 6
    assert all(
        (trial.reason == "one cluster") == (trial.settings["learning_rate"] == 0.1) for trial in found.trials
    )
    assert found.best.settings["learning_rate"] == 0.01
    assert tune(problem, method=method, trials=6, study=tmp_path / "study.db").best == found.best

    hopeless = tune(small(search={"learning_rate": [0.1, 0.2]}, fixed={"confidence": 0.1}), method="grid")
    with pytest.raises(ValueError, match="no trial could be trained; the first: one cluster"):
        hopeless.summary()


def test_none_stands_for_the_default():
    problem = Problem.make(
        "lock-gaussian",
        "url",
        episodes=300,
        env_settings={"horizon": 3},
        search={"batch": [None, 60]},
        seeds=[100],
    )
    found = tune(problem, method="grid")
    assert sorted(map(len, (trial.settings for trial in found.trials))) == [0, 1]


@pytest.mark.parametrize("name", ["a?b.db", "a%20b.db", "a#{b}.db", "ä &=+.db", ":memory:"])
def test_a_study_may_have_any_name(name, hill, tmp_path):
    made = tune(small(), trials=2, study=tmp_path / name).trials
    hill.clear()
    assert tune(small(), trials=2, study=tmp_path / name).trials == made
    assert hill == []
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"tuning needs optuna: pip install 'fasturl\[tune\]'"):
        tune(small())

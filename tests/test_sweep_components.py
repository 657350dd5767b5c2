"""Components of users in cells: described by name, refused where they have none, and carried to workers."""

import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from corridor import Cautious, Corridor, Threshold
from registrations import registered
from sklearn.base import BaseEstimator

import fasturl as fu
from fasturl._base import names
from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.running.store import Store
from fasturl.experiments.running.sweeping import SeedBlock, complete, compute, plan

LOCK = ("lock-bernoulli", {"horizon": 2})


@pytest.fixture
def known():
    with registered(Corridor, Threshold, Cautious):
        yield


def test_parts_may_be_objects():
    by_object = Cell.make(*LOCK, "url", {"oracle": fu.oracles.KMeans(3), "learner": fu.QLearning(0.5)}, 100)
    by_name = Cell.make(
        *LOCK,
        "url",
        {"oracle": {"name": "kmeans", "n_states": 3}, "learner": {"name": "qlearning", "learning_rate": 0.5}},
        100,
    )
    assert by_object == by_name
    assert by_object.id == by_name.id
    assert by_object.agent_settings["oracle"]["name"] == "kmeans"
    assert by_object.player().oracle.n_states == 3


class Guess(BaseEstimator):
    """An oracle that nobody knows by name."""

    def __init__(self, table=None, share: float = 0.5):
        self.table, self.share = table, share

    def fit(self, observations):
        return self

    def predict(self, observations):
        return np.arange(len(observations)) % 2


def test_an_object_without_a_name_is_refused_with_the_line_that_registers_it():
    with pytest.raises(
        ValueError, match=r"oracle Guess.* has no name .*: register its class first, fu\.register\(Guess\)"
    ):
        Cell.make(*LOCK, "url", {"oracle": Guess()}, 100)
    with registered(Guess):
        cell = Cell.make(*LOCK, "url", {"oracle": Guess(share=0.25)}, 100)
    assert cell.agent_settings["oracle"] == {"name": "guess", "table": None, "share": 0.25}


def test_a_setting_that_no_file_can_keep_is_refused():
    with registered(Guess):
        cell = Cell.make(*LOCK, "url", {"oracle": Guess(table=(np.int64(1), 2.0))}, 100)
        assert cell.agent_settings["oracle"]["table"] == [1, 2]
        with pytest.raises(
            ValueError, match=r"oracle of url must be a number, a text or a list of them"
        ) as refusal:
            Cell.make(*LOCK, "url", {"oracle": Guess(table=np.zeros(3))}, 100)
    assert "\n" not in str(refusal.value)


def broken(kind, name, target="gone.module:Class"):
    def load():
        raise ModuleNotFoundError("No module named 'gone'")

    return names.Component(kind, name, "gone-lab", "1.2", False, target, load)


def test_a_component_that_cannot_be_loaded_is_refused_in_one_line(monkeypatch):
    monkeypatch.setitem(names._registered["environment"], "gone", broken("environment", "gone"))
    message = (
        "environment 'gone' of the package gone-lab 1.2 cannot be loaded: ModuleNotFoundError: No module"
    )
    with pytest.raises(ValueError, match=message) as refusal:
        Cell.make("gone", {}, "oracleq-lat", {}, 100)
    assert "\n" not in str(refusal.value)
    assert Cell.make(*LOCK, "oracleq-lat", {}, 100)


def test_a_pickled_cell_brings_the_classes_that_a_program_registered(known):
    settings = {"oracle": Threshold(), "learner": Cautious(patience=2)}
    cell = Cell.make("corridor", {"length": 2}, "url", settings, 200, 3)
    content = pickle.dumps(cell)
    for kind in names.GROUPS:
        names._registered[kind].clear()
    again = pickle.loads(content)
    assert again == cell
    assert {kind: list(known) for kind, known in names._registered.items() if known} == {
        "environment": ["corridor"],
        "oracle": ["threshold"],
        "learner": ["cautious"],
    }


@pytest.mark.parametrize(
    ("present", "message"),
    [
        (
            None,
            r"environment 'corridor' is not known on the worker \S+: install corridor-lab 1\.2 there too",
        ),
        ("1.3", r"is of corridor-lab 1\.3 on the worker \S+ and of corridor-lab 1\.2 in the cell"),
    ],
)
def test_a_worker_without_the_package_of_a_class_says_so_in_one_line(present, message, monkeypatch, tmp_path):
    def installed(version):
        return names.Component(
            "environment", "corridor", "corridor-lab", version, False, "corridor:Corridor", lambda: Corridor
        )

    entries = names._registered["environment"]
    monkeypatch.setitem(entries, "corridor", installed("1.2"))
    cell = Cell.make("corridor", {"length": 2}, "oracleq-lat", {}, 60, 3)
    block = SeedBlock(cell, (0, 1))

    class Elsewhere:
        def map(self, function, items):
            content = pickle.dumps(items)
            with monkeypatch.context() as patch:
                if present:
                    patch.setitem(entries, "corridor", installed(present))
                else:
                    patch.delitem(entries, "corridor")
                results = [function(item) for item in pickle.loads(content)]
            yield from results

    store = Store(tmp_path / "out", create=True)
    with pytest.raises(ValueError, match=message) as refusal:
        complete(store, [block], Elsewhere(), progress=False)
    assert "\n" not in str(refusal.value)
    assert compute(block).run.seeds == [0, 1]
    assert plan(store, [cell], [0, 1]) == [block]


SCRIPT = (
    Path(__file__).with_name("corridor.py").read_text()
    + """

import sys
from fasturl.experiments import Cell, Dask, sweep

if __name__ == "__main__":
    for cls in (Corridor, Threshold, Cautious):
        fu.register(cls)
    parts = {"oracle": Threshold(0.125), "learner": Cautious(patience=2)}
    cells = [
        Cell.make("corridor", {"length": length}, agent, settings, 300, 3)
        for length in (2, 3)
        for agent, settings in (("url", parts), ("cautious-lat", {"patience": 3}))
    ]
    if sys.argv[2] == "processes":
        sweep(cells, 6, sys.argv[1], n_jobs=2, progress=False)
    elif sys.argv[2] == "here":
        sweep(cells, 6, sys.argv[1], n_jobs=1, progress=False)
    elif sys.argv[2] == "ray":
        import ray
        from fasturl.experiments import Ray

        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
        sweep(cells, 6, sys.argv[1], backend=Ray(), progress=False)
    else:
        from distributed import LocalCluster

        quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        one = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
        with LocalCluster(**one, **quiet) as cluster:
            sweep(cells, 6, sys.argv[1], backend=Dask(cluster.scheduler_address, timeout=60), progress=False)
"""
)


def run_script(folder, place):
    script = folder / "experiment.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script, folder / place, place],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return load(folder / place)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What the script computes in its own process."""
    return run_script(tmp_path_factory.mktemp("here"), "here")


@pytest.mark.parametrize(
    ("place", "package"), [("processes", "joblib"), ("dask", "distributed"), ("ray", "ray")]
)
def test_classes_of_a_script_travel_to_workers(place, package, expected, tmp_path):
    pytest.importorskip(package, reason=f"{package} is not installed")
    frame = run_script(tmp_path, place)
    assert len(frame) == 4 * 6 * 3
    assert frame.to_csv() == expected.to_csv()
    assert set(frame["env"]) == {"corridor"}
    assert set(frame["oracle"].dropna()) == {"threshold"}
    assert set(frame["learner"].dropna()) == {"cautious"}


def test_a_sweep_of_a_users_family_is_resumed(known, tmp_path):
    cells = [
        Cell.make("corridor", {"length": 2, "slip": slip}, "oracleq-lat", {}, 60, 3) for slip in (0, 0.5)
    ]
    sweep(cells[:1], 2, tmp_path, n_jobs=1)
    assert [(block.cell, block.seeds) for block in plan(Store(tmp_path), cells, range(3))] in (
        [(cells[1], (0, 1, 2)), (cells[0], (2,))],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = sweep(cells, 3, tmp_path, n_jobs=1)
    assert frame.groupby("slip")["seed"].unique().map(list).tolist() == [[0, 1, 2]] * 2
    assert re.fullmatch("[0-9a-f]{16}", cells[0].id)

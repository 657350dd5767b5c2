"""The same sweep on Ray, started on this machine."""

import sys
from functools import partial

import pandas as pd
import pytest
from command_line import fasturl

from fasturl.experiments import Cell, Ray, load, sweep
from fasturl.experiments.running import sweeping as machinery

CELLS = [
    Cell.make("lock-bernoulli", {"horizon": 3, "switch": switch}, "oracleq-lat", {}, 300)
    for switch in (0.0, 0.5)
]
SPEC = """
episodes = 300
seeds = 6
env = {name = "lock-bernoulli", horizon = 3, switch = [0.0, 0.5]}
agent = {name = "oracleq-lat"}
"""


def test_a_cluster_that_cannot_be_reached_is_known_before_anything_is_written(tmp_path):
    pytest.importorskip(
        "ray", reason="Ray is not installed"
    ).shutdown()  # a process that is connected stays where it is
    with pytest.raises(ValueError, match=r"cannot reach a Ray cluster at 127.0.0.1:9: "):
        sweep(CELLS, 6, tmp_path / "out", backend=Ray("127.0.0.1:9"))
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def ray():
    """Ray, which the first sweep starts and the others find running; with two workers, however large the
    machine is."""
    module = pytest.importorskip("ray", reason="Ray is not installed")
    module.shutdown()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "init", partial(module.init, num_cpus=2))
        yield module
    module.shutdown()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return sweep(CELLS, 6, tmp_path_factory.mktemp("expected"), n_jobs=1)


def test_ray_changes_nothing(ray, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(machinery, "_BLOCK_SEEDS", 2)
    frame = sweep(CELLS, 6, tmp_path, backend=Ray())
    assert Ray().workers() == 2
    pd.testing.assert_frame_equal(frame, expected, check_exact=True)


def test_the_command_computes_on_a_running_cluster(ray, expected, tmp_path):
    Ray().workers()
    (tmp_path / "spec.toml").write_text(SPEC)
    address = ray.get_runtime_context().gcs_address
    done = fasturl("sweep", "spec.toml", "--out", "out", "--ray-address", address, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 of 12 runs computed" in done.stdout
    pd.testing.assert_frame_equal(load(tmp_path / "out"), expected, check_exact=True)


def test_without_ray_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"a Ray cluster needs ray: pip install 'fasturl\[ray\]'"):
        sweep(CELLS, 6, tmp_path / "out", backend=Ray())
    assert not list(tmp_path.iterdir())

"""The same sweep on Ray, started on this machine."""

import sys

import pandas as pd
import pytest

from fasturl.experiments import Cell, Ray, sweep
from fasturl.experiments import sweeping as machinery

CELLS = [Cell.make("lock-bernoulli", {"horizon": 3, "switch": switch}, "oracleq-lat", {}, 300) for switch in (0.0, 0.5)]


def test_ray_changes_nothing(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setattr(machinery, "_BLOCK_SEEDS", 2)
    try:
        frame = sweep(CELLS, 6, tmp_path / "ray", backend=Ray())
    finally:
        ray.shutdown()
    pd.testing.assert_frame_equal(frame, sweep(CELLS, 6, tmp_path / "here", n_jobs=1), check_exact=True)


def test_a_cluster_that_cannot_be_reached_is_known_before_anything_is_written(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.raises(ValueError, match=r"cannot reach a Ray cluster at 127.0.0.1:9: "):
        sweep(CELLS, 6, tmp_path / "out", backend=Ray("127.0.0.1:9"))
    assert not list(tmp_path.iterdir())


def test_without_ray_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"a Ray cluster needs ray: pip install 'fasturl\[ray\]'"):
        sweep(CELLS, 6, tmp_path / "out", backend=Ray())
    assert not list(tmp_path.iterdir())

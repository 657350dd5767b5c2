"""A sweep that is killed ends as if nothing had happened: a few times in the test command, and two hundred
times by `pytest tests/fuzz/kill --kills 200`."""

import sys
import time

import pytest

from ..conftest import TALLY
from .campaign import KillCampaign
from .disks import why_no_small_disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a sweep in /proc")

WAYS = ("the sweep", "a worker", "slow disk", "full disk", "dask worker", "dask scheduler")
IN_THE_TEST_COMMAND = ("slow disk", "full disk")
"""Two sweeps on a slow disk and one on a full one: `tests/test_sweep_faults.py` kills sweeps and workers on
sound disks, and `tests/test_sweep_dask.py` a Dask worker."""


def test_a_sweep_that_is_killed_at_random_moments_ends_as_if_undisturbed(
    option, tmp_path, record_property, capfd
):
    kills = option("--kills")
    if kills:
        pytest.importorskip("distributed", reason="Dask is not installed")
    reason = why_no_small_disk(tmp_path)
    ways = [way for way in (WAYS if kills else IN_THE_TEST_COMMAND) if not (reason and way == "full disk")]

    def tell(line):
        if kills:
            with capfd.disabled():
                print(line, flush=True)

    campaign = KillCampaign(tmp_path, time.time_ns() if kills else 0, 5 if kills else 2, tell)
    try:
        campaign.run(kills or 3, ways)
    finally:
        story = "\n".join([*campaign.lines(), *([f"  no full disk: {reason}"] if reason else [])])
        if kills:
            record_property(TALLY, story)

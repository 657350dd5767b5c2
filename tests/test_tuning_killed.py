"""Searches whose process is killed: trials that were under way are made again, by whoever may."""

import contextlib
import json
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest
from small_search import finished_trials, small, tune

from fasturl.experiments.tuning.problem import Problem

DIES_IN_A_TRIAL = """
import itertools, os, signal, sys
from fasturl.cli.main import main
from fasturl.experiments.tuning.problem import Problem

evaluate, calls, last = Problem.evaluate, itertools.count(1), int(sys.argv.pop(1))

def dying(self, *words):
    if next(calls) == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return evaluate(self, *words)

Problem.evaluate = dying
main()
"""


def die_in_call(number, arguments, folder):
    victim = subprocess.run(
        [sys.executable, "-P", "-c", DIES_IN_A_TRIAL, str(number), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert (victim.returncode, victim.stdout) == (-signal.SIGKILL, "")


def test_a_killed_search_is_completed(tmp_path):
    words = "tune lock-bernoulli --agent oracleq-lat --horizon 5 --episodes 8000 --seeds 100:106"
    more = "--set confidence=0.001 --method grid --study study.db --json -"
    arguments = [*words.split(), *more.split()]
    die_in_call(6, arguments, tmp_path)  # six seeds make two calls a trial, or one where it is given up
    assert 0 < finished_trials(tmp_path / "study.db") < 5
    program = [sys.executable, "-P", "-c", "from fasturl.cli import main; main()", *arguments]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    problem = Problem.make(
        "lock-bernoulli",
        "oracleq-lat",
        episodes=8000,
        env_settings={"horizon": 5},
        fixed={"confidence": 0.001},
        seeds=range(100, 106),
    )
    assert json.loads(done.stdout)["best"] == tune(problem, method="grid").summary()["best"]
    assert finished_trials(tmp_path / "study.db") == 5
    assert list(tmp_path.iterdir()) == [tmp_path / "study.db"]


@pytest.fixture(scope="module")
def killed_study(tmp_path_factory):
    """Of a search with TPE that was killed in its 13th trial: late enough for the twelve before to bear on
    what is sampled."""
    folder = tmp_path_factory.mktemp("killed")
    words = "tune lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 50 --seeds 100:106"
    words += " --seeds-per-check 6"
    die_in_call(13, [*words.split(), "--study", "study.db"], folder)
    return folder / "study.db"


def search_on(study=None):
    problem = small(episodes=50, env_settings={"horizon": 2})
    return tune(problem, trials=15, seeds_per_check=6, study=study).trials


def test_a_trial_whose_process_was_killed_is_made_again(killed_study, tmp_path):
    assert search_on(shutil.copy(killed_study, tmp_path)) == search_on()


def test_a_trial_that_another_machine_may_be_making_is_passed_over(killed_study, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "another machine")
    study = shutil.copy(killed_study, tmp_path)
    set_heartbeats(study, "+1 day")  # however slow this test is
    undisturbed, found = search_on(), search_on(study)
    assert len(found) == 15
    assert found[:12] == undisturbed[:12]
    assert found[12] != undisturbed[12]


def test_a_trial_without_a_sign_of_life_is_made_again_on_any_machine(killed_study, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "another machine")
    study = shutil.copy(killed_study, tmp_path)
    set_heartbeats(study, "-2 minutes")
    assert search_on(study) == search_on()


def set_heartbeats(study, shift):
    with contextlib.closing(sqlite3.connect(study)) as database, database:
        database.execute("UPDATE trial_heartbeats SET heartbeat = datetime('now', ?)", (shift,))

"""A component that calls sys.exit is answered as any other fault is, and ends nothing but its own run."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest
from command_line import fasturl
from registrations import registered

import fasturl as fu
from fasturl.agents import Agent

LOCK = fu.LockBernoulli(horizon=2)
SPEC = """
episodes = 50
seeds = 2
env = {name = "lock-bernoulli", horizon = 2}
agent = [{name = "quitter"}, {name = "oracleq-lat"}]
"""


@dataclass(frozen=True)
class Quitter(Agent):
    """Ends the program instead of playing."""

    sees_latent_states = True

    def play(self, game, ledger):
        sys.exit(3)


@dataclass(frozen=True)
class EarlyQuitter(Quitter):
    """Ends the program before anything is played."""

    def check(self, description):
        sys.exit("enough")


@dataclass(frozen=True)
class Interrupted(Agent):
    """Is stopped by Ctrl-C."""

    sees_latent_states = True

    def play(self, game, ledger):
        raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def known():
    with registered(Quitter, EarlyQuitter):
        yield


@pytest.mark.parametrize("words", ["list", "list --json", "train --help", "info"])
def test_a_reader_that_goes_is_no_fault(words):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from fasturl.cli import main; main()", *words.split()],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_train_says_it_in_one_line_with_its_place():
    done = fasturl("train", "lock-bernoulli", "--agent", "quitter", "--seeds", "1", "--episodes", "10")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    line = "fasturl: RuntimeError: sys.exit(3) was called (in the run of seed 0, "
    assert done.stderr.startswith(line)
    assert "test_exits.py, line " in done.stderr


def test_so_it_does_where_nothing_is_played_yet():
    done = fasturl("train", "lock-bernoulli", "--agent", "early-quitter")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "sys.exit('enough') was called" in done.stderr


@pytest.mark.parametrize("agent", [Quitter(), EarlyQuitter()])
def test_a_program_goes_on(agent):
    with pytest.raises(RuntimeError, match="was called"):
        fu.train(LOCK, agent, 10)


def test_a_sweep_finishes_the_other_cells(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    done = fasturl("sweep", "spec.toml", "--out", "out", "--n-jobs", "1", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "1 of 2 cells cannot be trained, the others are finished" in done.stderr
    assert "sys.exit(3) was called" in done.stderr
    assert fu.load(tmp_path / "out")["agent"].unique().tolist() == ["oracleq-lat"]


def test_an_interrupt_stays_one():
    with pytest.raises(KeyboardInterrupt):
        fu.train(LOCK, Interrupted(), 10)

"""`fasturl required-sizes`, run as a person runs it."""

import json
import re

import pytest
from command_line import fasturl

import fasturl as fu
from fasturl.agents.guarantee import power_law

SIZES = ["required-sizes", "--horizon", "1", "--n-states", "3", "--n-actions", "4"]


def test_required_sizes_are_those_of_python():
    words = ["--learner-episodes", "1000", "--oracle-constant", "10", "--oracle-power", "2", "--json", "-"]
    expected = fu.required_sizes(1, 3, 4, learner_episodes=1000, oracle_samples=power_law(10, 2))
    assert json.loads(fasturl(*SIZES, *words).stdout) == expected.to_dict()


def test_required_sizes_are_shown_with_what_was_assumed(tmp_path):
    target = tmp_path / "sizes.json"
    done = fasturl(*SIZES, "--json", str(target))
    expected = fu.required_sizes(1, 3, 4)
    assert json.loads(target.read_text()) == expected.to_dict()
    assert re.search(rf"K, --episodes +{re.escape(f'{expected.episodes:.3g}')} ", done.stdout)
    assert len(re.findall(r"^assumed ", done.stdout, re.MULTILINE)) == 2


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--epsilon", "0"], "epsilon must be a number in (0, 1), got 0.0"),
        (["--learner-episodes", "-1"], "learner_episodes must be a number in (0, 1e+50], got -1.0"),
        (["--learner-episodes", "1e300"], "learner_episodes must be a number in (0, 1e+50], got 1e+300"),
        (["--oracle-constant", "0"], "--oracle-constant must be a number in (0, 1e+50], got 0.0"),
        (["--oracle-power", "-1"], "--oracle-power must be a number in [0, 10], got -1.0"),
        (["--oracle-power", "1000"], "--oracle-power must be a number in [0, 10], got 1000.0"),
        (
            ["--oracle-power", "10"],
            "--oracle-constant and --oracle-power must be such that at most 1e+300 observations make an "
            "error less than 1.65e-36, got 1 and 10",
        ),
        (["--horizon", "0"], "horizon must be an integer >= 1, got 0"),
    ],
)
def test_bad_sizes_are_answered_in_one_line(words, answer):
    sizes = {"--horizon": "1", "--n-states": "3", "--n-actions": "4"} | dict([words])
    done = fasturl("required-sizes", *(word for pair in sizes.items() for word in pair))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"fasturl: {answer}\n")

"""Inputs of every kind: each is answered by a right result or by a refusal that names what is wrong.

The test command plays the same few of each kind every time. `pytest tests/fuzz --campaign 30m` plays others,
for half an hour, and prints how many inputs of each kind were tried, what broke, and how to play it again.
"""

import time

import pytest

from .conftest import TALLY
from .driver import play_inputs, seconds_of
from .kinds import KINDS

BOUNDED = {
    "command-lines": 15,
    "toml-files": 100,
    "result-folders": 15,
    "python-arguments": 120,
    "lying-objects": 60,
    "c-calls": 3_000,
}
"""How many inputs of each kind the test command plays: some seconds of each."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_input_crashes_is_answered_by_a_traceback_or_is_wrong_without_a_word(
    kind, option, tmp_path, record_property
):
    if option("--campaign"):
        first = time.time_ns() // 1000 if option("--first") is None else option("--first")
        seconds = seconds_of(option("--campaign")) * KINDS[kind]
        tally = play_inputs(kind, tmp_path, first, count=10**9, seconds=seconds)
    else:
        tally = play_inputs(kind, tmp_path, 0, count=BOUNDED[kind])
        assert tally.tried == BOUNDED[kind]
    story = "\n".join(tally.lines())
    if option("--campaign"):
        record_property(TALLY, story)
    assert not tally.finds, story

"""Beside stable-baselines3: the tests that need it, in the environment that has it."""

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

if __name__ == "__main__":  # processes of SubprocVecEnv import this file again
    # neither the settings of the project nor its plug-ins, which this environment lacks
    options = ["-q", "-c", "/dev/null", "--rootdir", str(TESTS), "-p", "no:cacheprovider", "--noconftest"]
    page = f"{TESTS / 'test_docs.py'}::test_the_code_of_a_page_runs[docs/deep-agents.md]"
    sys.exit(pytest.main([*options, str(TESTS / "test_stable_baselines3.py"), page]))

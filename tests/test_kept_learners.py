"""Machine code of learners is kept: a later process loads it, and nothing stale is ever loaded."""

import os
import subprocess
import sys
import textwrap
from types import ModuleType

import numpy as np
import pytest
from numba import njit

from fasturl._base.user_functions import compiled_again, fingerprint

# --- fingerprints ---


def functions_of(source, **names):
    """The function `choose` of a source text."""
    namespace = {"njit": njit, "np": np} | names
    exec(textwrap.dedent(source), namespace)
    return [namespace["choose"]]


CALLS_A_HELPER = """
@njit
def helper(label):
    return label + 1

@njit
def choose(label):
    return helper(label) * STEP
"""


def module_with(source):
    """A module of helpers."""
    module = ModuleType("helpers")
    exec(textwrap.dedent(source), module.__dict__ | {"njit": njit}, module.__dict__)
    for value in list(vars(module).values()):
        if hasattr(value, "py_func"):
            value.py_func.__globals__.update(vars(module))
    return module


HELPERS = "SIZE = 3\n@njit\ndef add(label):\n    return label + SIZE\n"
TWICE = njit(lambda label: 2 * label)
THRICE = njit(lambda label: 3 * label)
FROM_A_MODULE = "@njit\ndef choose(label):\n    return helpers.add(label) + helpers.SIZE\n"
READS = "@njit\ndef choose(label):\n    return TABLE[label]\n"
EDITS = {
    "the function itself": (
        CALLS_A_HELPER,
        CALLS_A_HELPER.replace("* STEP", "- STEP"),
        {"STEP": 2},
        {"STEP": 2},
    ),
    "a helper": (CALLS_A_HELPER, CALLS_A_HELPER.replace("label + 1", "label + 2"), {"STEP": 2}, {"STEP": 2}),
    "a number": (CALLS_A_HELPER, CALLS_A_HELPER, {"STEP": 2}, {"STEP": 3}),
    "the kind of a number": (CALLS_A_HELPER, CALLS_A_HELPER, {"STEP": 2}, {"STEP": 2.0}),
    "a tuple": (READS, READS, {"TABLE": (1, 2)}, {"TABLE": (1, 3)}),
    "one entry of a long array": (
        *(READS, READS),
        *({"TABLE": np.zeros(5_000)}, {"TABLE": np.eye(1, 5_000, 2_500)[0]}),
    ),
    "an array inside a tuple": (
        *(READS, READS),
        *({"TABLE": (np.zeros(5_000),)}, {"TABLE": (np.eye(1, 5_000, 2_500)[0],)}),
    ),
    "a function of another module": (
        *(FROM_A_MODULE, FROM_A_MODULE),
        *({"helpers": module_with(HELPERS)}, {"helpers": module_with(HELPERS.replace("+", "-"))}),
    ),
    "a number of another module": (
        *(FROM_A_MODULE, FROM_A_MODULE),
        *({"helpers": module_with(HELPERS)}, {"helpers": module_with(HELPERS.replace("3", "4"))}),
    ),
    "which function a name stands for": (
        *("@njit\ndef choose(label):\n    return act(label)\n",) * 2,
        *({"act": TWICE}, {"act": THRICE}),
    ),
    "a default": (
        "@njit\ndef choose(label, shift=1):\n    return label + shift\n",
        "@njit\ndef choose(label, shift=2):\n    return label + shift\n",
        *({}, {}),
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_anything_that_machine_code_is_made_of_changes_the_fingerprint(edit):
    before, after, names, other_names = EDITS[edit]
    assert fingerprint(functions_of(before, **names)) == fingerprint(functions_of(before, **names))
    assert fingerprint(functions_of(before, **names)) != fingerprint(functions_of(after, **other_names))


def test_an_edit_of_a_comment_or_of_a_name_that_is_not_used_changes_nothing():
    names = {"STEP": 2}
    commented = "# now with a comment\n" + CALLS_A_HELPER
    assert fingerprint(functions_of(CALLS_A_HELPER, **names)) == fingerprint(
        functions_of(commented, OTHER=3, **names)
    )


def test_an_enumeration_is_its_members():
    source = "from enum import IntEnum\nclass Way(IntEnum):\n    LEFT = 0\n    RIGHT = 1\n"
    source += "@njit\ndef choose(label):\n    return Way.RIGHT\n"
    assert fingerprint(functions_of(source)) == fingerprint(functions_of(source))
    assert fingerprint(functions_of(source)) != fingerprint(functions_of(source.replace("= 1", "= 2")))


@pytest.mark.skipif(hasattr(TWICE, "py_func") is False, reason="nothing is compiled")
@pytest.mark.parametrize("how", ["by its name", "by its module", "by a closure"])
def test_whatever_a_function_calls_is_compiled_with_our_options(how):
    """A helper reads beyond its array, which only code that checks indices finds out."""
    helpers = module_with("@njit\ndef read(values, i):\n    return values[i]\n")
    sources = {
        "by its name": "@njit\ndef choose(values, i):\n    return read(values, i)\n",
        "by its module": "@njit\ndef choose(values, i):\n    return helpers.read(values, i)\n",
        "by a closure": "def make(read):\n    return njit(lambda values, i: read(values, i))\n"
        "choose = make(read)\n",
    }
    functions = functions_of(sources[how], helpers=helpers, read=helpers.read)
    (checked,) = compiled_again(functions, {"boundscheck": True})
    assert checked(np.arange(3.0), 2) == 2.0
    with pytest.raises(IndexError):
        checked(np.arange(3.0), 3)


# --- between processes ---

HELPER_FILE = """
from numba import njit

SHARE = 0.5

@njit
def move(value, target):
    return value + SHARE * (target - value)
"""
LEARNER_FILE = """
from typing import NamedTuple
import numpy as np
from numba import njit
import fasturl as fu
import moving
from moving import move

RATE = 1.0

class Tables(NamedTuple):
    q: np.ndarray
    other: np.ndarray

@njit
def weigh(reward):
    return 8.0 * reward

@njit
def choose(tables, level, label, rng):
    return 0

@njit
def take_step(tables, level, label, action, reward, next_level, next_label):
    tables.q[level, label, action] = RATE * move(0.0, weigh(reward)) + 0.0 * moving.move(0.0, 1.0)

@njit
def fill_policy(tables, chances):
    chances[:] = 1.0 / chances.shape[2]

class Mine(fu.CompiledLearner):
    functions = fu.learner_functions(choose=choose, take_step=take_step, fill_policy=fill_policy)

    def tables(self, task):
        shape = task.n_levels, task.n_labels, task.n_actions
        return Tables(q=np.zeros(shape), other=np.full(shape, -1.0))
"""
SECOND_LEARNER = """
@njit
def take_double_step(tables, level, label, action, reward, next_level, next_label):
    tables.q[level, label, action] = 100.0

class Second(Mine):
    functions = fu.learner_functions(choose=choose, take_step=take_double_step, fill_policy=fill_policy)
"""
USE = """
import numpy as np
from fasturl.learners import Task
from fasturl.learners.episode_loops import loops_of

def use(learner):
    memory = learner.start(Task(1, 1, 1, 1.0, 5, np.ones(4, np.uint64)))
    memory.update([0, 0], [0], [1.0])
    stats = loops_of(learner.functions, trusted=False).lean.replay.stats
    hits, misses = sum(stats.cache_hits.values()), sum(stats.cache_misses.values())
    print(memory.tables.q[0, 0, 0], "loaded" if (hits, misses) == (1, 0) else "compiled")
"""


class Folder:
    """A folder with a learner's files and a cache, and how to run programs there."""

    def __init__(self, folder):
        self.folder = folder
        self.write("moving.py", HELPER_FILE)
        self.write("mine.py", LEARNER_FILE)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *words):
        """The lines that a program prints."""
        environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        environment |= {"FASTURL_CACHE_DIR": str(self.folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def use(self):
        return self.run("-c", "from mine import Mine\n" + USE + "use(Mine())")


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_later_process_loads_and_no_edit_is_missed(folder):
    assert folder.use() == ["4.0 compiled"]
    assert folder.use() == ["4.0 loaded"]
    edits = {
        "RATE = 1.0": ("mine.py", "RATE = 2.0", "8.0"),
        "8.0 * reward": ("mine.py", "16.0 * reward", "8.0"),
        "SHARE * (target - value)": ("moving.py", "(target - value)", "8.0"),
        "SHARE = 0.5": ("moving.py", "SHARE = 0.25", "2.0"),
        "    q: np.ndarray\n    other: np.ndarray": (
            "mine.py",
            "    other: np.ndarray\n    q: np.ndarray",
            "4.0",
        ),
    }
    for text, (file, edited, value) in edits.items():
        original = {"mine.py": LEARNER_FILE, "moving.py": HELPER_FILE}[file]
        folder.write(file, original.replace(text, edited))
        assert folder.use() == [f"{value} compiled"], text
        folder.write(file, original)
    assert folder.use() == ["4.0 loaded"]


def test_learners_with_the_same_tables_do_not_load_each_other_s_code(folder):
    folder.write("mine.py", LEARNER_FILE + SECOND_LEARNER)
    program = "from mine import Mine, Second\n" + USE + "use(Mine())\nuse(Second())"
    assert folder.run("-c", program) == ["4.0 compiled", "100.0 compiled"]
    assert folder.run("-c", program) == ["4.0 loaded", "100.0 loaded"]


@pytest.mark.parametrize("how", ["a program", "typed in"])
def test_a_learner_of_the_main_program_works_and_is_kept(folder, how):
    """What is typed in, as in a notebook, has no file."""
    program = LEARNER_FILE + USE + "use(Mine())\n"
    folder.write("main.py", program)
    words = ["main.py"] if how == "a program" else ["-c", program]
    assert folder.run(*words) == ["4.0 compiled"]
    assert folder.run(*words) == ["4.0 loaded"]

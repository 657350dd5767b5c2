"""The reference is whole: every public name says what it is, what it takes, what it returns, and shows an
example that runs; every command, key, field and column has a sentence of its own."""

import doctest
import inspect
import sys
from pathlib import Path

import pytest

import fasturl as fu
from fasturl.experiments import Cell, sweep
from fasturl.experiments.running import files, spec
from fasturl.experiments.running.store import Store
from fasturl.run import SUMMARY_FIELDS

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from building import docstrings, reference
from building.public import public_names

sys.path.pop(0)

NAMES = {one.path: one.value for one in public_names() if one.is_documented_object}
EXAMPLES = doctest.DocTestFinder(recurse=False)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("path", NAMES)
def test_a_public_name_says_what_it_is(path):
    assert docstrings.read(NAMES[path]).text


@pytest.mark.parametrize("path", NAMES)
def test_a_public_name_says_what_it_takes(path):
    described = docstrings.read(NAMES[path]).arguments
    assert [name for name in docstrings.parameters_of(NAMES[path]) if name not in described] == []


@pytest.mark.parametrize("path", [path for path, value in NAMES.items() if not inspect.isclass(value)])
def test_a_public_function_says_what_it_returns(path):
    if docstrings.types_of(NAMES[path])["return"] != "None":
        assert docstrings.read(NAMES[path]).returns


@pytest.mark.parametrize("path", NAMES)
def test_a_public_name_has_an_example_that_runs(path):
    thing = inspect.unwrap(NAMES[path])
    module = sys.modules[thing.__module__]
    (example,) = EXAMPLES.find(thing, path, module=module, globs=vars(module) | {"__name__": "__main__"})
    assert example.examples
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    report = []
    runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_what_lacks_a_part_is_found():
    def silent(first, second):
        """Do something.

        first
            The first.
        """

    doc = docstrings.read(silent)
    assert list(doc.arguments) == ["first"]
    assert (doc.returns, doc.examples) == ("", "")


def test_the_arguments_of_a_component_are_its_declared_settings():
    about = docstrings.read(fu.LockGaussian).arguments["noise"]
    assert about == "Standard deviation of every coordinate. (number >= 0 and <= 1e+15; default: 0.1)"


# --- files ---


def test_every_field_of_the_json_of_a_run_is_described():
    lock = fu.LockBernoulli(horizon=2)
    summary = fu.train(lock, fu.OracleQ(), episodes=10).summary()
    assert set(summary) == set(SUMMARY_FIELDS) | set(lock.settings())


def test_every_column_and_annotation_of_stored_results_is_described(tmp_path):
    cell = Cell.make("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, episodes=10)
    sweep([cell], seeds=1, out=tmp_path, n_jobs=1, progress=False)
    (table,) = Store(tmp_path).tables()
    columns = set(table.column_names) - set(cell.env_settings)
    assert columns == set(files.CELL_COLUMNS) | set(files.RESULTS)
    assert set(Store(tmp_path).about()[0]) == set(files.ANNOTATIONS)


def test_a_sweep_file_may_have_the_keys_that_are_described():
    with pytest.raises(ValueError, match=r"may have episodes, points, .*, seeds, group"):
        spec.parse_spec({"epsodes": 3})


# --- pages ---


def test_every_command_is_on_the_page_of_commands():
    page = reference.commands()
    for name in ("train", "sweep", "reproduce", "tune", "plot", "report", "list", "info", "warmup", "capi"):
        assert f"## fasturl {name}\n" in page
    assert "| `--episodes` | 50000 |" in page

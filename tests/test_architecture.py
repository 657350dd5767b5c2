"""The house shows its architecture: who names what, and how long things are."""

import ast
import re
from pathlib import Path

import pytest

import fasturl as fu
from fasturl._base.names import components

PACKAGE = Path(fu.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
TEXTS = [
    *SOURCES,
    *(path for kind in ("h", "js", "css", "html", "toml") for path in sorted(PACKAGE.rglob(f"*.{kind}"))),
]
OBJECT_LAYER = [
    source for source in SOURCES if source.relative_to(PACKAGE).parts[0] not in ("_kernels", "capi")
]
COMMANDS = "cli"
"""Typer reads the options of a command off its arguments, so commands have as many as options."""
HOMES = {
    family.cls.__name__: f"{family.module.removeprefix('fasturl.').replace('.', '/')}.py"
    for family in components("environment").values()
    if family.built_in
}
"""The file of each family that fasturl brings."""
FAMILIES = re.compile("|".join([*(rf"\b{name}\b" for name in HOMES), "\"switch\"|'switch'"]))
MAY_NAME_FAMILIES = ("__init__.py", "problems/__init__.py", "experiments/paper/")
"""The public face, and the paper, which has cells of its own families."""
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_ARGUMENTS = 8


def path_in_package(source):
    return source.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("source", TEXTS, ids=path_in_package)
def test_a_family_is_named_in_its_own_file_the_paper_and_the_public_face_alone(source):
    if path_in_package(source).startswith(MAY_NAME_FAMILIES):
        return
    named = set(FAMILIES.findall(source.read_text(encoding="utf-8")))
    own = {name for name, home in HOMES.items() if home == path_in_package(source)}
    assert named <= own


@pytest.mark.parametrize("source", SOURCES, ids=path_in_package)
def test_a_file_can_be_read_in_one_sitting(source):
    assert len(source.read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF_A_FILE


def functions(source):
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function):
    """Lines from the first statement to the end, but for the docstring."""
    body = function.body[ast.get_docstring(function) is not None :]
    return function.end_lineno - body[0].lineno + 1 if body else 0


def arguments(function):
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [argument.arg for argument in named if argument.arg not in ("self", "cls")]


@pytest.mark.parametrize("source", OBJECT_LAYER, ids=path_in_package)
def test_a_function_of_the_object_layer_fits_on_a_screen(source):
    assert {f.name: n for f in functions(source) if (n := body_lines(f)) > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("source", OBJECT_LAYER, ids=path_in_package)
def test_a_function_of_the_object_layer_takes_few_arguments(source):
    if path_in_package(source).startswith(COMMANDS):
        return
    long = {f.name: arguments(f) for f in functions(source) if len(arguments(f)) > MOST_ARGUMENTS}
    assert long == {}

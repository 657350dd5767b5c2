"""Every kernel has a slow twin in tests/naive: in the module of the same name, with the same name and
arguments."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import fasturl._kernels


def kernels():
    for source in sorted(Path(fasturl._kernels.__file__).parent.glob("*.py")):
        for definition in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(definition, ast.FunctionDef) and any(
                ast.unparse(mark) == "kernel" for mark in definition.decorator_list
            ):
                yield pytest.param(source.stem, definition, id=f"{source.stem}.{definition.name}")


@pytest.mark.parametrize(("module", "definition"), list(kernels()))
def test_a_kernel_has_a_twin(module, definition):
    twin = getattr(importlib.import_module(f"naive.{module}"), definition.name)
    taken = inspect.signature(twin).bind(*(argument.arg for argument in definition.args.args)).arguments
    taken.pop("scratch", None)  # arrays that a twin has no use for, all together
    assert list(taken) == list(taken.values())

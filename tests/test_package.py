"""What `import fasturl` costs and offers."""

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from command_line import WARM

import fasturl as fu

HEAVY = [
    "scipy.special",
    "scipy.linalg",
    "scipy.optimize",
    "sklearn",
    "matplotlib",
    "pandas",
    "pyarrow",
    "typer",
    "rich",
    "gymnasium",
    "optuna",
    "joblib",
    "distributed",
    "ray",
]

IMPORT = """
import json, sys
import fasturl
folders = ("fasturl._kernels", "fasturl._base.plugin_loops")
kernels = [
    thing
    for name, module in sys.modules.items() if name.startswith(folders)
    for thing in vars(module).values() if hasattr(thing, "signatures")
]
compiled = [str(kernel) for kernel in kernels if kernel.signatures]
print(json.dumps({"modules": list(sys.modules), "kernels": len(kernels), "compiled": compiled}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """What a fresh process has after `import fasturl`."""
    folder = tmp_path_factory.mktemp("cache")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"} | {
        "FASTURL_CACHE_DIR": str(folder)
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(done.stdout) | {"files": [file for file in folder.rglob("*") if file.is_file()]}


@pytest.mark.parametrize("module", HEAVY)
def test_importing_fasturl_does_not_import(imported, module):
    assert module not in imported["modules"]


def test_importing_fasturl_compiles_nothing(imported):
    assert imported["kernels"] > 10
    assert imported["compiled"] == []
    assert imported["files"] == []


COMMAND = """
import json, sys
from fasturl.cli.main import main
sys.argv = ["fasturl", *sys.argv[1].split()]
main()
print(json.dumps(list(sys.modules)))
"""


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ("lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 10", set()),
        ("lock-bernoulli --horizon 2 --episodes 50", {"scipy.special"}),
        ("lock-gaussian --horizon 2 --episodes 50", {"scipy.special"}),
        ("lock-bernoulli --horizon 2 --episodes 50 --oracle full-gmm", {"scipy.special", "sklearn"}),
    ],
)
def test_the_command_line_loads_only_what_it_shows_and_what_the_work_needs(arguments, needed):
    """scikit-learn takes a second to import, and brings pandas along. Kernels that are kept come without
    what Numba compiles with, SciPy's linear algebra among it."""
    command = [sys.executable, "-P", "-c", COMMAND, f"train {arguments} --seeds 1"]
    for _ in range(1 if WARM in os.environ else 2):  # the first of two compiles what is not kept
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    with_sklearn = {"joblib", "pandas", "pyarrow", "scipy.linalg", "scipy.optimize"}
    brought_along = with_sklearn if "sklearn" in needed else set()
    assert (loaded & set(HEAVY)) - brought_along == {"typer", "rich"} | needed


KERNELS = sorted((Path(fu.__file__).parent / "_kernels").rglob("*.py"))


@pytest.mark.parametrize("source", KERNELS, ids=lambda source: source.stem)
def test_a_kernel_imports_only(source):
    """numpy, numba and math, typing for its records, and the kernels beside it."""
    allowed = {"numpy", "numba", "math", "typing"}
    for statement in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            assert {alias.name.partition(".")[0] for alias in statement.names} <= allowed
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 1 or (
                statement.level == 0 and statement.module.partition(".")[0] in allowed
            )


@pytest.mark.parametrize("source", KERNELS, ids=lambda source: source.stem)
def test_no_text_in_a_kernel_s_file_reads_like_an_import(source):
    """Whoever searches the files for imports finds imports alone."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    imports = {
        statement.lineno for statement in ast.walk(tree) if isinstance(statement, ast.Import | ast.ImportFrom)
    }
    lines = enumerate(source.read_text(encoding="utf-8").splitlines(), start=1)
    assert {number for number, line in lines if line.lstrip().startswith(("from ", "import "))} == imports


# --- what the installation brings ---

ROOT = Path(fu.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = importlib.metadata.packages_distributions()


def declared(requirements):
    return {re.split(r"[<>=\[]", requirement)[0] for requirement in requirements}


def distribution(module):
    name = module.partition(".")[0]
    return DISTRIBUTIONS.get(name, [name])[0].lower()


def statements(part):
    """Of a module, or of a whole subpackage."""
    for source in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
        yield from ast.walk(ast.parse(source.read_text(encoding="utf-8")))


def imported_modules(part):
    for statement in statements(part):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.level == 0:
            yield statement.module


def needs(part):
    """(module, extra) of every optional.need(module, extra, purpose)."""
    for statement in statements(part):
        if (
            isinstance(statement, ast.Call)
            and isinstance(statement.func, ast.Attribute)
            and statement.func.attr == "need"
        ):
            yield statement.args[0].value, statement.args[1].value


PARTS = [part for part in sorted(ROOT.iterdir()) if part.suffix == ".py" or (part / "__init__.py").exists()]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.stem)
def test_every_imported_package_is_declared(part):
    """Among the dependencies, or in an extra that this part of the package asks for by name where it is
    missing."""
    extras = PROJECT["optional-dependencies"]
    for module, extra in needs(part):
        assert distribution(module) in declared(extras[extra])
    brought = declared(PROJECT["dependencies"]).union(*(declared(extras[extra]) for _, extra in needs(part)))
    for module in imported_modules(part):
        top = module.partition(".")[0]
        assert top in sys.stdlib_module_names or top == "fasturl" or distribution(module) in brought, module


def test_every_public_name_is_there():
    for name in fu.__all__:
        assert getattr(fu, name) is not None


LATER = ["emissions", "envs", "experiments", "load", "oracles"]


@pytest.mark.parametrize("name", LATER)
def test_what_is_imported_on_first_use_is_there(name):
    program = f"import fasturl; assert {name!r} in dir(fasturl); print(fasturl.{name}.__name__)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() in (name, f"fasturl.{name}")


def test_emissions_can_be_imported_by_their_public_name():
    from fasturl import emissions
    from fasturl.emissions import Gaussian

    assert fu.emissions is emissions
    assert issubclass(Gaussian, emissions.Emission)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'fasturl' has no attribute 'lode'"):
        _ = fu.lode


def test_the_version_is_that_of_the_installed_package():
    assert fu.__version__ == importlib.metadata.version("fasturl")


def test_the_package_is_typed():
    assert (Path(fu.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize(("method", "module"), [("to_pandas", "pandas"), ("plot", "matplotlib")])
def test_what_needs_an_extra_says_which_one_when_it_is_missing(monkeypatch, method, module):
    run = fu.train(fu.LockBernoulli(2), fu.OracleQ(), episodes=5)
    for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ImportError, match=rf"Run.{method} needs {module}: pip install 'fasturl\[experiments\]'"
    ):
        getattr(run, method)()


def test_what_needs_no_extra_works_without_any(monkeypatch):
    for name in HEAVY:
        monkeypatch.setitem(sys.modules, name, None)
    run = fu.train(fu.LockBernoulli(2), fu.OracleQ(), episodes=5)
    assert run.summary()["total_trajectories"] == 5
    assert np.isfinite(run.values).all()

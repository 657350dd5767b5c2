"""The decorator of every kernel, and what it does when its cache fails."""

import pickle
import re
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache

from fasturl._base import compile_cache, numba_internals, numba_names
from fasturl._kernels import compiling

pytestmark = pytest.mark.kernel


def add_one(x):
    return x + 1


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """`add_one` as a kernel with a cache folder of its own, compiled even where the suite runs without
    compilation."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(compile_cache, "folder", lambda: tmp_path)
    return lambda: compiling.kernel(add_one)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_decorating_compiles_nothing(compiled, tmp_path):
    assert compiled().signatures == []
    assert files(tmp_path) == []


def test_machine_code_is_kept_and_found_again(compiled, tmp_path):
    assert compiled()(1) == 2
    assert [file.suffix for file in files(tmp_path)] == [".kernel"]
    again = compiled()
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 1


def test_without_a_folder_kernels_are_compiled_in_memory(compiled, tmp_path, monkeypatch):
    monkeypatch.setattr(compile_cache, "folder", lambda: None)
    function = compiled()
    assert function(1) == 2
    assert function.stats.cache_path is None
    assert files(tmp_path) == []


def test_where_the_folder_cannot_be_used_kernels_are_compiled_in_memory(compiled, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(compile_cache, "folder", lambda: tmp_path / "file")
    function = compiled()
    assert function(1) == 2
    assert function.stats.cache_path is None
    function.recompile()
    assert function(1) == 2


DAMAGES = {
    "emptied": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "overwritten": lambda content: b"not what was written",
    "of another layout": lambda content: pickle.dumps([1, 2, 3]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_file_costs_one_compilation_and_not_the_run(compiled, tmp_path, damage):
    compiled()(1)
    (damaged,) = files(tmp_path)
    whole = damaged.read_bytes()
    damaged.write_bytes(DAMAGES[damage](whole))
    again = compiled()
    assert (again(1), sum(again.stats.cache_misses.values())) == (2, 1)
    later = compiled()
    assert (later(1), sum(later.stats.cache_hits.values())) == (2, 1)


def test_a_whole_file_under_the_name_of_another_signature_is_not_run(compiled, tmp_path):
    compiled()(1)
    (of_integers,) = files(tmp_path)
    compiled()(1.5)
    (of_floats,) = set(files(tmp_path)) - {of_integers}
    of_floats.write_bytes(of_integers.read_bytes())
    again = compiled()
    assert (again(1.5), sum(again.stats.cache_misses.values())) == (2.5, 1)


def test_a_whole_file_that_this_numba_cannot_read_is_compiled_again(compiled, monkeypatch):
    """Such as one whose pickle names a class that is gone."""
    monkeypatch.setattr(numba_internals, "_dumps", lambda data: pickle.dumps([1, 2, 3]))
    compiled()(1)
    again = compiled()
    assert (again(1), sum(again.stats.cache_misses.values())) == (2, 1)


def test_code_that_checks_indices_is_kept_apart_from_code_that_does_not(compiled, tmp_path, monkeypatch):
    compiled()(1)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", not numba.config.BOUNDSCHECK)
    other = compiled()
    assert (other(1), sum(other.stats.cache_misses.values()), len(files(tmp_path))) == (2, 1, 2)


def test_a_kernel_that_is_compiled_anew_by_hand_forgets_its_files(compiled, tmp_path):
    function = compiled()
    function(1), function(1.5)
    stranger = files(tmp_path)[0].with_name("another.kernel")
    stranger.touch()
    function._cache.flush()
    assert files(tmp_path) == [stranger]


@pytest.mark.parametrize(
    "error", [OSError("disk is full"), PermissionError("read-only"), FileNotFoundError("folder is gone")]
)
@pytest.mark.parametrize("method", ["_load_overload", "save_overload"])
def test_a_folder_that_fails_costs_a_compilation_and_not_the_run(compiled, monkeypatch, method, error):
    calls = []

    def fail(*_):
        calls.append(method)
        raise error

    monkeypatch.setattr(FunctionCache, method, fail)
    assert compiled()(1) == 2
    assert calls == [method]


def test_a_damaged_folder_that_cannot_be_cleared_costs_a_compilation_and_not_the_run(compiled, monkeypatch):
    def fail(*_):
        raise PermissionError("read-only")

    for method in ("_load_overload", "flush"):
        monkeypatch.setattr(FunctionCache, method, fail)
    assert compiled()(1) == 2


def test_a_kernel_looks_for_its_folder_when_it_is_first_called(compiled, monkeypatch):
    calls = []
    monkeypatch.setattr(compile_cache, "folder", lambda: calls.append("asked"))
    function = compiled()
    assert calls == []
    assert (function(1), calls) == (2, ["asked"])


def test_kernels_release_the_gil_and_divide_as_c_does(compiled):
    options = compiled().targetoptions
    assert options["nogil"] is True
    assert options["error_model"] == "numpy"


def test_this_numba_has_every_private_name():
    numba_names.check_names()
    assert len(numba_names.NAMES) > 25


@pytest.mark.parametrize("name", numba_names.NAMES)
def test_a_private_name_that_is_missing_is_named(name, monkeypatch):
    """A version of Numba without it: the error says which, what it is for, and which versions have it."""
    find, use = numba_names.find, numba_names.NAMES[name]

    def find_all_others(wanted):
        if wanted == name:
            raise AttributeError(wanted)
        return find(wanted)

    monkeypatch.setattr(numba_names, "find", find_all_others)
    with pytest.raises(ImportError) as caught:
        numba_names.check_names()
    dotted = name.replace(":", ".")
    assert str(caught.value) == (
        f"numba {numba.__version__} has no {dotted} (for {use}): install 'numba>=0.68,<0.69'"
    )


def test_what_numba_has_lost_is_named_for_real(monkeypatch):
    monkeypatch.delattr("numba.core.caching.FunctionCache")
    monkeypatch.delattr("numba.np.arrayobj.populate_array")
    with pytest.raises(
        ImportError,
        match=r"has no numba\.core\.caching\.FunctionCache\.disable \(for the cache of kernels\), .*"
        r"numba\.np\.arrayobj\.populate_array \(for code over C memory\): install",
    ):
        numba_names.check_names()


def test_the_bound_of_the_package_is_that_of_the_message():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert f'"{numba_names.VERSIONS}"' in text
    assert '"llvmlite>=0.50,<0.51"' in text


PACKAGE = Path(compiling.__file__).parents[1]


def test_numba_s_internals_are_named_in_one_file_and_used_in_another():
    private = re.compile(r"numba\.(core|np|misc|typed|targets)\b|numba\.core|llvmlite\.binding")
    users = [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if private.search(path.read_text(encoding="utf-8"))
    ]
    assert users == ["_base/numba_internals.py", "_base/numba_names.py"]

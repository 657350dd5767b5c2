"""How Gymnasium comes to know the environments."""

import subprocess
import sys
import warnings
from importlib.metadata import entry_points

import gymnasium
import pytest

import fasturl.envs


def python(code):
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout


@pytest.mark.parametrize("identity", ["fasturl/LockBernoulli-v0", "fasturl.envs:fasturl/LockBernoulli-v0"])
def test_gymnasium_alone_is_enough(identity):
    assert (
        python(f'import gymnasium; print(gymnasium.make("{identity}", horizon=2).reset(seed=0)[1]["level"])')
        == "1\n"
    )


def test_an_import_of_gymnasium_does_not_import_fasturl():
    known = "sorted(i for i in gymnasium.registry if i.startswith('fasturl/'))"
    found = python(f"import sys, gymnasium; print({known}, {{'fasturl', 'numba'}} & sys.modules.keys())")
    assert found == f"{sorted(fasturl.envs.ids())} set()\n"


def test_interpreters_that_do_not_import_gymnasium_only_wait_for_it():
    assert (
        python("import sys; print([type(one).__name__ for one in sys.meta_path].count('_WaitForGymnasium'))")
        == "1\n"
    )


def test_a_failure_to_register_is_a_warning_and_gymnasium_goes_on():
    # the hook is gone by now: ask for a second one
    broken = "import sys, gymnasium.envs.registration as r, warnings"
    again = (
        "r.registry.clear(); gymnasium = sys.modules.pop('gymnasium'); sys.modules.pop('_fasturl_gymnasium')"
    )
    refuse = "r.register = None; import _fasturl_gymnasium"
    record = "caught = warnings.catch_warnings(record=True); messages = caught.__enter__()"
    listen = f"{record}; warnings.simplefilter('always')"
    show = "import gymnasium; print([str(w.message)[:52] for w in messages])"
    assert (
        python("; ".join([broken, again, refuse, listen, show]))
        == "['the environments of fasturl could not be registered:']\n"
    )


def test_the_entry_point_registers_once():
    (point,) = (point for point in entry_points(group="gymnasium.envs") if point.name == "fasturl")
    before = dict(gymnasium.registry)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        point.load()()
    assert dict(gymnasium.registry) == before


def test_without_gymnasium_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "try:\n    import fasturl.envs\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "fasturl.envs needs gymnasium: pip install 'fasturl[gym]'\n"

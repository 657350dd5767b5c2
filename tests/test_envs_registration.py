"""How Gymnasium comes to know the environments."""

import os
import subprocess
import sys
import warnings
from importlib.metadata import entry_points

import gymnasium
import pytest

from fasturl._base import names
from fasturl.envs import registration


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
    families = [one.target for one in names.components("environment").values() if not one.carried]
    ids = [f"fasturl/{target.partition(':')[2]}-v0" for target in families]
    assert found == f"{sorted(['fasturl/BlockMDP-v0', *ids])} set()\n"


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


@pytest.mark.parametrize(
    "fault",
    [
        "r.register = None",
        "import importlib.metadata as m; m.entry_points = None",
        "import importlib.util as u; find = u.find_spec; u.find_spec = lambda name: name < 'g' or find(name)",
    ],
    ids=["Gymnasium", "entry points", "the package"],
)
def test_no_failure_comes_out_of_an_import_of_gymnasium_where_warnings_are_errors(fault):
    again = "import sys, gymnasium.envs.registration as r; r.registry.clear()"
    forget = "sys.modules.pop('gymnasium'); sys.modules.pop('_fasturl_gymnasium')"
    program = "; ".join(
        [again, forget, fault, "import _fasturl_gymnasium", "import gymnasium", "print('fine')"]
    )
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program], capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "fine\n"
    assert done.stderr.startswith("the environments of fasturl could not be registered: ")
    assert done.stderr.count("\n") == 1


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


FAMILY = """
import fasturl as fu
class Walk(fu.Environment):
    n_actions = max_states = 1
    def __init__(self, horizon: int = 2): self.horizon = horizon
    def draw(self, streams):
        return fu.BlockMDP([[[[1.0]]]] * self.horizon, [[[0.5]]] * self.horizon)
"""


def test_families_of_other_packages_have_ids_and_a_broken_one_harms_nobody(tmp_path):
    """Two packages as installers leave them; Gymnasium alone is imported."""
    for package, entry, source in (
        ("walks", "walk = walks:Walk", FAMILY),
        ("wrecks", "wreck = wrecks:Wreck", "1 / 0"),
    ):
        (tmp_path / f"{package}.py").write_text(source, encoding="utf-8")
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
        )
        (folder / "entry_points.txt").write_text(f"[fasturl.environments]\n{entry}\n", encoding="utf-8")
    program = (
        "import sys, gymnasium\n"
        "assert 'fasturl' not in sys.modules\n"
        "env = gymnasium.make('fasturl/Walk-v0', horizon=3, observe='latent')\n"
        "print(env.reset(seed=0)[1]['optimal_value'])\n"
        "envs = gymnasium.make_vec('fasturl/Walk-v0', 2, observe='latent')\n"
        "print(envs.reset(seed=0)[1]['optimal_value'].tolist())\n"
        "try:\n"
        "    gymnasium.make('fasturl/Wreck-v0')\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.splitlines() == [
        "1.5",
        "[1.0, 1.0]",
        "environment 'wreck' of the package wrecks 1.0 cannot be loaded: ZeroDivisionError: division by zero",
    ]
    assert done.stderr == ""


def test_ids_are_there_whichever_is_imported_first():
    family = (
        "import fasturl as fu\n"
        "class Walk(fu.Environment):\n"
        "    horizon = n_actions = max_states = 1\n"
        "    def __init__(self): pass\n"
        "    def draw(self, streams): return fu.BlockMDP([[[[1.0]]]], [[[0.5]]])\n"
        "fu.register(Walk)\n"
    )
    use = 'print(gymnasium.make("fasturl/Walk-v0", observe="latent").reset(seed=0)[1]["optimal_value"])\n'
    for program in ("import gymnasium\n" + family + use, family + "import gymnasium\n" + use):
        done = subprocess.run(
            [sys.executable, "-P", "-W", "error", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        assert done.stdout == "0.5\n"


def test_ids_come_from_entry_points_where_fasturl_is_not_in_use(monkeypatch):
    """Ours come first; a name that is taken is left to `fasturl` to tell of."""

    class Entry:
        def __init__(self, package, name, value):
            self.name, self.value, self.dist = name, value, type("Distribution", (), {"name": package})

    entries = [
        Entry("a-package", "walk", "a.walks:Outer.Walk"),
        Entry("fasturl", "lock", "fasturl.problems.locks:Lock"),
        Entry("b-package", "walk", "b:Walk"),
        Entry("c-package", "run", "c:Run [fast]"),
        Entry("d-package", "no-class", "d:not a class"),
    ]
    monkeypatch.setattr(registration.metadata, "entry_points", lambda group: entries)
    monkeypatch.delitem(sys.modules, "fasturl._base.names")
    assert [(family.name, family.package, family.id) for family in registration._families()] == [
        ("lock", "fasturl", "fasturl/Lock-v0"),
        ("walk", "a-package", "fasturl/Walk-v0"),
        ("run", "c-package", "fasturl/Run-v0"),
    ]

"""A package of somebody else's, known by its entry points alone, works wherever what fasturl brings works.

`plugin_package` is installed into a virtual environment of its own, which sees the packages of this one.
Every test runs commands and programs there.
"""

import json
import os
import shutil
import site
import subprocess
import sys
import time
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "plugin_package"
AGENTS = ["url", "url-as-published", "url-as-written", "pcid", "scout"]
AGENTS += [
    "oracleq-lat",
    "qlearning-lat",
    "counts-lat",
    "means-lat",
    "oracleq-obs",
    "qlearning-obs",
    "means-obs",
]


class Installation:
    """A virtual environment with the package, and how to run things in it."""

    def __init__(self, folder):
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def run(self, *words, cwd, code=0):
        """What a program prints; it must end with this exit code."""
        done = subprocess.run([self.python, *map(str, words)], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    def fasturl(self, *words, cwd, code=0):
        return self.run("-m", "fasturl", *words, cwd=cwd, code=code)

    def commands(self, lines, cwd):
        """Exit code, standard output and standard error of each command, all run by one process."""
        texts = [[str(word) for word in words] for words in lines]
        return json.loads(self.run("-c", COMMANDS, json.dumps(texts), cwd=cwd))


COMMANDS = """
import contextlib, io, json, sys
from fasturl.cli import main

answers = []
for words in json.loads(sys.argv[1]):
    sys.argv, code = ["fasturl", *words], 0
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    answers.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    installation = Installation(folder / "venv")
    packages = installation.run("-c", "import site; print(site.getsitepackages()[0])", cwd=folder).strip()
    lines = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
    Path(packages, "packages_of_the_tests.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", installation.python, "--quiet"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *offline, source], check=True, cwd=folder)
    return installation


def train(installed, folder, *words):
    return json.loads(installed.fasturl("train", "corridor", *words, "--json", "-", cwd=folder))


def test_the_list_shows_where_components_come_from_and_what_they_can_be_told(installed, tmp_path):
    text = " ".join(installed.fasturl("list", cwd=tmp_path).split())
    for name in (
        "corridor",
        "nearest-centre",
        "counts",
        "means",
        "scout",
        "lock-bernoulli",
        "kmeans",
        "oracleq",
        "url",
    ):
        assert name in text
    assert "corridors 0.3.0" in text
    for setting in ("width", "slip", "door", "rounds", "plan_every", "share"):
        assert setting in text


@pytest.fixture(scope="session")
def trained(installed, tmp_path_factory):
    """What `fasturl train corridor` says of every agent."""
    sizes = ["--length", 2, "--width", 3, "--slip", 0.2, "--coins", 2, "--seeds", 2, "--json", "-"]
    more = {
        "url-as-written": ["--episodes", 3, "--batch", 20, "--epsilon", 0.3, "--delta", 0.3],
        "scout": ["--episodes", 600, "--oracle", "nearest-centre", "--learner", "counts"],
    }
    lines = [
        ["train", "corridor", "--agent", agent, *sizes, *more.get(agent, ["--episodes", 600])]
        for agent in AGENTS
    ]
    return dict(zip(AGENTS, installed.commands(lines, tmp_path_factory.mktemp("train")), strict=True))


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_is_trained_on_the_corridor(agent, trained):
    code, out, err = trained[agent]
    assert code == 0, err
    told = json.loads(out)
    assert (told["env"], told["length"], told["width"], told["slip"]) == ("corridor", 2, 3, 0.2)
    assert (told["agent"], told["seeds"]) == (agent, 2)
    assert 0 < told["v_star"] <= 0.8
    if agent != "url-as-written":  # three episodes of its learner teach nothing
        assert told["value_mean"] > 0.5 * told["v_star"]


def test_the_learner_and_the_oracle_go_into_the_agents_of_fasturl(installed, tmp_path):
    for learner in (("counts", "--bonus", 0.2), ("means", "--patience", 3)):
        parts = ["--oracle", "nearest-centre", "--rounds", 4, "--learner", *learner]
        told = train(installed, tmp_path, "--agent", "url", *parts, "--episodes", 500, "--seeds", 2)
        assert told["oracle"] == "nearest-centre"
        assert told["agent_settings"]["learner"]["name"] == learner[0]


def test_bad_input_gets_one_line(installed, tmp_path):
    messages = {
        ("--slip", 1): "slip must be a number in [0, 1), got 1.0",
        ("--width", 1): "width must be an integer from 2 to 60, got 1",
        ("--door", "lft"): "door must be one of 'random', 'left', 'right', got 'lft' (did you mean left?)",
        ("--wide", 3): "wide is neither an option nor a setting of corridor",
        ("--agent", "scout", "--share", 0): "share must be a number in (0, 1), got 0.0",
        ("--agent", "counts-lat", "--bonus", -1): "bonus must be a number in [0, inf), got -1.0",
        ("--agent", "counts-obs"): "agent must be a compiled learner",
    }
    lines = [["train", "corridor", *words, "--episodes", 50, "--seeds", 1] for words in messages]
    for message, (code, out, err) in zip(messages.values(), installed.commands(lines, tmp_path), strict=True):
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


SPEC = """
seeds = 6
episodes = 60
points = 5

[[env]]
name = "corridor"
length = [2, 3]
width = 3
door = "left"

[[env]]
name = "lock-bernoulli"
horizon = 2

[[agent]]
name = "scout"
oracle = "nearest-centre"
learner = "counts"

[[agent]]
name = "counts-lat"
bonus = [0.1, 0.3]
"""


@pytest.fixture(scope="session")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("spec") / "mixed.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def results(installed, spec, tmp_path_factory):
    """A folder of results, computed by two processes."""
    folder = tmp_path_factory.mktemp("sweep")
    installed.fasturl("sweep", spec, "--out", "results", "--n-jobs", 2, cwd=folder)
    return folder / "results"


FRAME = """
import sys
import time
import fasturl as fu
columns = ["cell", "seed", "trajectories", "average_reward", "value", "near_optimal"]
frame = fu.load(sys.argv[1]).sort_values(columns[:3])
print(frame[columns].to_json(orient="split", index=False, double_precision=15))
"""


def stored(installed, folder):
    """All results of a folder, as text that can be compared."""
    return installed.run("-c", FRAME, folder, cwd=folder)


def test_a_frame_holds_the_settings_of_both_families(installed, results):
    program = """
import json, fasturl as fu
frame = fu.load(".")
columns = ["cell", "seed", "length", "width", "slip", "door", "horizon", "switch"]
print(json.dumps({name: {column: sorted(family[column].dropna().unique().tolist()) for column in columns}
                  for name, family in frame.groupby("env")}))
"""
    corridor, lock = json.loads(installed.run("-c", program, cwd=results)).values()
    assert (len(corridor["cell"]), len(lock["cell"])) == (6, 3)
    assert corridor["seed"] == lock["seed"] == list(range(6))
    assert [corridor[name] for name in ("length", "width", "slip", "door")] == [[2, 3], [3], [0.1], ["left"]]
    assert [lock[name] for name in ("horizon", "switch")] == [[2], [0]]
    assert not any(lock[name] for name in ("length", "width", "slip", "door"))
    assert (corridor["horizon"], corridor["switch"]) == ([2, 3], [])


def test_results_tell_which_package_made_them(installed, results):
    program = """
import json, pyarrow.parquet as parquet, pathlib
metadata = [parquet.read_schema(path).metadata for path in pathlib.Path(".").rglob("*.parquet")]
print(" ".join(value.decode() for one in metadata for value in one.values()))
"""
    text = installed.run("-c", program, cwd=results)
    for part in ("environment corridor", "agent scout", "oracle nearest-centre", "learner counts"):
        assert f'"{part}": "corridors 0.3.0"' in text


def test_a_sweep_that_is_killed_goes_on(installed, spec, results, tmp_path):
    words = [installed.python, "-m", "fasturl", "sweep", spec, "--out", "results", "--n-jobs", "1"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if list(tmp_path.glob("results/**/*.parquet")):
            process.kill()
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    installed.fasturl("sweep", spec, "--out", "results", "--n-jobs", 1, cwd=tmp_path)
    assert stored(installed, tmp_path / "results") == stored(installed, results)


def test_seeds_that_are_added_later_give_the_same_results(installed, spec, results, tmp_path):
    for seeds in ("0:3", "0:6"):
        words = ["sweep", spec, "--out", "results", "--seeds", seeds, "--n-jobs", 1]
        installed.fasturl(*words, cwd=tmp_path)
    assert stored(installed, tmp_path / "results") == stored(installed, results)


CLUSTER = """
import subprocess, sys
from distributed import LocalCluster

if __name__ == "__main__":
    local = dict(host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **local) as cluster:
        words = ["sweep", sys.argv[1], "--out", "results", "--dask", cluster.scheduler_address]
        subprocess.run([sys.executable, "-m", "fasturl", *words], check=True)
"""


def test_dask_changes_nothing(installed, spec, results, tmp_path):
    (tmp_path / "cluster.py").write_text(CLUSTER, encoding="utf-8")
    installed.run("cluster.py", spec, cwd=tmp_path)
    assert stored(installed, tmp_path / "results") == stored(installed, results)


def test_settings_of_agent_oracle_and_learner_are_tuned(installed, tmp_path):
    words = ["tune", "corridor", "--length", 2, "--width", 3, "--agent", "scout", "--episodes", 100]
    words += ["--seeds", "1000:1002", "--trials", 2, "--n-jobs", 1, "--json", "-"]
    parts = ["--set", "oracle=nearest-centre", "--set", "learner=counts"]
    told = json.loads(installed.fasturl(*words, *parts, cwd=tmp_path))
    assert "share" in json.dumps(told)
    told = json.loads(
        installed.fasturl(*words, *parts, "--search", "bonus=0.1:1", "--study", "bonus.db", cwd=tmp_path)
    )
    assert "bonus" in json.dumps(told)


def test_results_are_drawn(installed, results, tmp_path):
    corridor = ["--where", "env=corridor"]
    kinds = [
        [],
        corridor,
        [*corridor, "--kind", "success", "--x", "length"],
        [*corridor, "--kind", "scaling", "--x", "length"],
        [*corridor, "--where", "agent=counts-lat", "--kind", "heatmap", "--x", "length", "--y", "bonus"],
    ]
    lines = [["plot", results, *words, "--out", f"{n}.png"] for n, words in enumerate(kinds)]
    for n, (code, _, err) in enumerate(installed.commands(lines, tmp_path)):
        assert code == 0, err
        assert (tmp_path / f"{n}.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_is_drawn(installed, tmp_path):
    words = ["--episodes", 100, "--seeds", 2, "--agent", "counts-lat", "--plot", "curve.png"]
    installed.fasturl("train", "corridor", *words, cwd=tmp_path)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_results_of_the_corridor_alone_are_drawn_and_reported(installed, tmp_path):
    spec = tmp_path / "alone.toml"
    spec.write_text(SPEC.replace('name = "lock-bernoulli"\nhorizon = 2', 'name = "corridor"\nlength = 1'))
    installed.fasturl("sweep", spec, "--out", "results", "--seeds", 2, "--n-jobs", 1, cwd=tmp_path)
    kinds = [[], ["--kind", "success"], ["--kind", "scaling", "--x", "length"]]
    lines = [["plot", "results", *words, "--out", "figure.png"] for words in kinds]
    for code, _, err in installed.commands([*lines, ["report", "results"]], tmp_path):
        assert code == 0, err
    assert "slip" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_results_are_reported(installed, results, tmp_path):
    installed.fasturl("report", results, "--out", "report.html", cwd=tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for word in ("corridor", "scout", "nearest-centre", "counts-lat", "lock-bernoulli", "width", "slip"):
        assert word in page


GYMNASIUM = """
import gymnasium, numpy as np
from gymnasium.utils.env_checker import check_env

settings = dict(length=3, width=4, slip=0.3)
env = gymnasium.make("fasturl/Corridor-v0", **settings)
check_env(env.unwrapped, skip_render_check=True)
envs = gymnasium.make_vec("fasturl/Corridor-v0", num_envs=5, **settings)
assert env.action_space.n == 3 and env.observation_space.shape == (16,)
together, infos = envs.reset(seed=7)
alone = [gymnasium.make("fasturl/Corridor-v0", **settings) for _ in range(5)]
for i, one in enumerate(alone):
    observation, info = one.reset(seed=7 + i)
    assert (observation == together[i]).all() and info["latent_state"] == infos["latent_state"][i]
    assert info["optimal_value"] == infos["optimal_value"][i]
assert len(set(infos["optimal_value"])) > 1
rng = np.random.default_rng(0)
for level in range(3):
    actions = rng.integers(3, size=5)
    together, rewards, ended, _, _ = envs.step(actions)
    for i, one in enumerate(alone):
        observation, reward, terminated, _, _ = one.step(int(actions[i]))
        assert (observation == together[i]).all() and reward == rewards[i] and terminated == ended[i]
assert ended.all()
another = dict(options={"new_instance": True})
values = [[one.reset(**another)[1]["optimal_value"] for one in alone] for _ in range(4)]
assert values == [envs.reset(**another)[1]["optimal_value"].tolist() for _ in range(4)]
assert len(set(map(tuple, values))) > 1
env = gymnasium.make("fasturl/Corridor-v0", observe="latent", render_mode="ansi", **settings)
env.reset(seed=0)
assert env.render()
"""


def test_gymnasium_finds_the_corridor(installed, tmp_path):
    installed.run("-W", "error", "-c", GYMNASIUM, cwd=tmp_path)

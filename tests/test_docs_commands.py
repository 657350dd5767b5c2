"""The commands of the documentation run: each block as it stands, by bash, in an empty folder, on less work.

README's test command is not among them: it runs this very suite (`.ci/run` follows it in a fresh
environment). Ray's are not either: to end what they start ends every Ray cluster of the user.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the blocks are written for bash")

ROOT = Path(__file__).parents[1]
LESS_WORK = {
    "train": {"--horizon": "3", "--episodes": "100", "--seeds": "2"},
    "tune": {"--horizon": "2", "--episodes": "20", "--seeds": "100:101", "--trials": "2"},
    "reproduce": {"--seeds": "1", "--episodes-scale": "0.01", "--only": "fig1"},
    "sweep": {"--seeds": "1"},
}
"""Options that take the place of those that a page gives."""
IN_ONE_PROCESS = ("reproduce", "sweep")
"""Commands that would start workers, each of which takes longer to start than to work here."""
FASTURL = f"""#!{sys.executable}
import re, sys
from pathlib import Path
from fasturl.cli.main import main
if "--example" not in sys.argv:
    for option, value in {LESS_WORK}.get(sys.argv[1], {{}}).items():
        while option in sys.argv:
            place = sys.argv.index(option)
            del sys.argv[place : place + 2]
        sys.argv += [option, value]
    if sys.argv[1] in {IN_ONE_PROCESS} and not {{"--dask", "--ray", "--n-jobs"}} & set(sys.argv):
        sys.argv += ["--n-jobs", "1"]
for spec in map(Path, sys.argv):
    if spec.suffix == ".toml":
        text = spec.read_text().replace("horizon = 1_000", "horizon = 13")
        text = re.sub(r"(?m)^env.horizon = (\\d)00$", r"env.horizon = 1\\1", text)
        spec.write_text(re.sub(r"(?m)^episodes = .*$", "episodes = 100", text))
main()
"""
PIP = f"""#!{sys.executable}
import re, sys
from importlib import metadata
(wanted,) = re.findall(r"\\[(.*)\\]$", sys.argv[-1])
assert set(wanted.split(",")) <= set(metadata.metadata("fasturl").get_all("Provides-Extra"))
"""


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.fixture
def folder(tmp_path):
    """With the files that the pages name, and programs that do less than those they stand for."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {"fasturl": FASTURL, "pip": PIP}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def environment(folder):
    path = os.pathsep.join([str(folder / "programs"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "MPLBACKEND": "Agg"}


def run(script, folder):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme(folder):
    reproduce, _, commands = blocks("README.md", "bash")
    run(reproduce, folder)
    assert (folder / "results" / "paper" / "fig1.png").exists()
    run(commands, folder)
    assert {"result.json", "curve.png"} <= {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("page", ["docs/theory.md", "docs/environments.md", "docs/learners.md"])
def test_theory_environments_and_learners(page, folder):
    for commands in blocks(page, "bash"):
        run(commands, folder)


def test_sweeps(folder):
    spec, *_ = blocks("docs/sweeps.md", "toml")
    commands, *_ = blocks("docs/sweeps.md", "bash")
    run(commands, folder)
    (folder / "sweep.toml").write_text(spec)
    run("fasturl sweep sweep.toml --out results/second", folder)
    assert list(folder.glob("results/second/results/*/*.parquet"))


def test_figures(folder):
    grid = 'env = {name = "lock-bernoulli", horizon = [2, 3], switch = 0.2}\nagent = {name = "oracleq-lat"}\n'
    learner = "learner = {learning_rate = [0.1, 0.3], confidence = [0.001, 0.01]}\n"
    (folder / "spec.toml").write_text("episodes = 200\nseeds = 5\n" + grid + learner)
    (commands,) = blocks("docs/figures.md", "bash")
    run("fasturl sweep spec.toml --out results\n" + commands, folder)
    assert {"curves.png", "curves.pdf", "success.png", "scaling.png", "heatmap.png", "report.html"} <= {
        file.name for file in folder.iterdir()
    }


def test_the_command_of_the_paper_is_that_of_readme():
    (command,) = blocks("docs/paper.md", "bash")
    assert blocks("README.md", "bash")[0].endswith(f"&& {command}")


def test_tuning(folder):
    (command,) = blocks("docs/tuning.md", "bash")
    run(command, folder)


def test_calling_from_c(folder):
    (commands,) = blocks("docs/calling-from-c.md", "bash")
    sources = blocks("docs/calling-from-c.md", "c")
    assert len(sources) == 2
    for source in sources:
        (folder / "program").unlink(missing_ok=True)
        (folder / "program.c").write_text(source)
        run(commands, folder)
        assert (folder / "program").exists()


def test_a_dask_cluster(folder):
    """The scheduler and a machine of workers, both here."""
    install, scheduler, worker, sweep = [
        line.partition("#")[0].strip() for line in blocks("docs/clusters.md", "bash")[0].splitlines() if line
    ]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    def here(command):
        return (
            command.replace("192.168.0.1", "127.0.0.1")
            .replace("8786", port)
            .replace("--nworkers 16", "--nworkers 1")
        )

    run(install, folder)
    (folder / "sweep.toml").write_text(
        'episodes = 50\nenv = {name = "lock-bernoulli", horizon = 2}\nagent = {name = "oracleq-lat"}\n'
    )
    cluster = []
    try:
        for command in (scheduler, worker):
            words = ["bash", "-c", "exec " + here(command)]
            cluster.append(
                subprocess.Popen(
                    words,
                    cwd=folder,
                    env=environment(folder),
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
            wait_for_port(int(port))
        run(
            f"for _ in $(seq 60); do {here(sweep)} && exit; sleep 1; done; exit 1", folder
        )  # the worker may need a while
    finally:
        for process in reversed(cluster):
            process.terminate()
            process.wait()
    assert list(folder.glob("results/results/*/*.parquet"))


def wait_for_port(port):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nobody listens at port {port}")

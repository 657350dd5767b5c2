"""fasturl beside other packages, each set in a virtual environment of its own.

    python tests/neighbours/run.py [--only NAME] [--list]

makes an environment for each set of neighbours with the package in it, and checks that nothing fails there
because of it. Where the registry of packages cannot be reached it says so and ends well: a machine without a
network tests what it can.

Without a name, the sets run that replace one small package of the environment which the script runs in: they
are layers over it, and take seconds. rlberry-scool and stable-baselines3 bring a hundred packages and PyTorch
along: they have whole environments, and run where they are asked for by name.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


class Neighbours(NamedTuple):
    """What is installed beside fasturl, group by group, and the script that is then run. A layer takes all
    other packages from the environment of this interpreter, fasturl and its compiled kernels among them."""

    packages: list[list[str]]
    script: str
    layer: bool = False


SETS = {
    "gymnasium-0.29": Neighbours([["gymnasium==0.29.1"]], "old_gymnasium.py", layer=True),
    "gymnasium-1.0": Neighbours([["gymnasium==1.0.0"]], "old_gymnasium.py", layer=True),
    "rlberry-scool": Neighbours([["rlberry", "rlberry-scool"]], "tabular_agents.py"),
    "stable-baselines3": Neighbours(
        [["torch"], ["stable-baselines3", "gymnasium>=1.4", "pytest"]], "deep_agents.py"
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Test fasturl beside other packages.")
    parser.add_argument("--only", choices=list(SETS), help="One set; without it, the layers.")
    parser.add_argument("--list", action="store_true", help="Print the names of the sets.")
    arguments = parser.parse_args()
    if arguments.list:
        print(*SETS, sep="\n")
        return 0
    if not registry_is_reachable():
        print("neighbours: skipped, since the registry of packages cannot be reached")
        return 0
    names = [arguments.only] if arguments.only else [name for name, one in SETS.items() if one.layer]
    return max(check(name, SETS[name]) for name in names)


def registry_is_reachable() -> bool:
    """Whether pip finds a small package there, within a few seconds."""
    with tempfile.TemporaryDirectory() as folder:
        options = [
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--retries",
            "0",
            "--timeout",
            "5",
            "--dest",
            folder,
        ]
        command = [sys.executable, "-m", "pip", "download", *options, "Farama-Notifications"]
        return subprocess.run(command, capture_output=True).returncode == 0


def check(name: str, neighbours: Neighbours) -> int:
    """Install a set and run its script; returns 0 where all went well."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix=f"fasturl-{name}-") as folder:
        python = Path(folder, "venv", "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", Path(folder, "venv")], check=True)
        options = ["--quiet", "--disable-pip-version-check"]
        if neighbours.layer:
            options.append("--no-deps")
            below = [path for path in sys.path if Path(path).name == "site-packages"]
            (own,) = Path(folder, "venv", "lib").glob("python*/site-packages")
            lines = [f"import site; site.addsitedir({path!r})" for path in below]
            Path(own, "layer_below.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
        ours = [] if neighbours.layer else [str(ROOT)]
        for packages in [*neighbours.packages[:-1], [*ours, *neighbours.packages[-1]]]:
            pip = [python, "-m", "pip", "install", *options, "--ignore-installed", *packages]
            installed = subprocess.run(pip, capture_output=True, text=True)
            if installed.returncode != 0:
                print(f"neighbours: {name} cannot be installed: {installed.stderr.strip()[-2000:]}")
                return 1
        ready = time.perf_counter()
        settings = {"PYTHONPATH": ""}
        if not neighbours.layer:
            settings["FASTURL_CACHE_DIR"] = str(Path(folder, "cache"))
        script = [python, "-P", HERE / neighbours.script]
        done = subprocess.run(script, cwd=folder, env=os.environ | settings)
    seconds = f"{ready - begin:.0f} s to install, {time.perf_counter() - ready:.0f} s to run"
    print(f"neighbours: {name} {'is fine' if done.returncode == 0 else 'FAILED'} ({seconds})", flush=True)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())

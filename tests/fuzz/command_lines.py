"""Command lines: every command, with options that it has and has not, and values that it wants and does not.

Most are run inside the child process; one in a hundred is a process of its own, as a person starts it. A line
ends with exit code 0, or with 2 and one line on standard error that no exception leaks into. The JSON of a
`train` that succeeds holds figures that can be and, for one in five, those of the same call of `train`.
"""

import contextlib
import functools
import io
import json
import math
import os
import subprocess
import sys
from unittest import mock

import typer

import fasturl as fu
from fasturl import registry
from fasturl.cli.main import main
from fasturl.experiments import Cell, sweep

from .judgement import LEAKED, Broken, expect
from .kinds import Kind

WORDS = (
    *("", "0", "1", "2", "3", "-1", "0.5", "1e308", "nan", "inf", "-0", "1e-320", "10" * 20, "0x10", "1_0"),
    *(
        "true",
        "no",
        "none",
        "auto",
        "x",
        "é",
        "\udcff",
        "--",
        "-",
        "--help",
        "=",
        "a=b",
        "[1,2]",
        "1:3",
        "3:1",
    ),
    *(
        ":",
        "0:2",
        "%s",
        "{}",
        "lock-bernoulli",
        "url",
        "kmeans",
        "oracleq",
        "jin",
        "gaussian",
        "..",
        "/dev/null",
    ),
    *(
        "/dev/full",
        "/proc/1/mem",
        "/nonexistent/file",
        ".png",
        "x.png",
        "x.json",
        "~",
        "*",
        "$HOME",
        "\n",
        "\t",
    ),
)
QUICK = {"url-as-written": {"batch": 6, "epsilon": 0.9, "delta": 0.9, "n_states": 3}}
"""Settings with which an agent that is made for proofs plays a few hundred trajectories."""
COMMANDS = {
    "train": ("--agent", "--episodes", "--seeds", "--points", "--n-jobs", "--json", "--plot", "--help"),
    "tune": (
        "--agent",
        "--episodes",
        "--seeds",
        "--search",
        "--set",
        "--method",
        "--study",
        "--storage",
        "--json",
    ),
    "sweep": ("--out", "--seeds", "--n-jobs", "--dry-run", "--example", "--dask"),
    "plot": ("--kind", "--x", "--y", "--of", "--band", "--where", "--out"),
    "report": ("--out",),
    "list": ("--json", "--markdown"),
    "required-sizes": ("--horizon", "--n-states", "--n-actions", "--epsilon", "--delta"),
    "info": ("--help",),
    "reproduce": ("--only", "--seeds"),
    "capi": ("--header", "--cflags"),
    "": ("--version", "--help", "--nonsense"),
}
"""Commands and options of theirs. Those that compute for long are given wrong values alone."""


class CommandLines(Kind):
    name = "command-lines"

    def __init__(self, folder):
        super().__init__(folder)
        typer.main.get_command = functools.cache(typer.main.get_command)  # which takes most of a line's time
        self.results = folder / "results"
        if not self.results.exists():
            sweep(
                [Cell.make("lock-bernoulli", {"horizon": 1}, "oracleq-lat", {}, 9, 3)],
                2,
                self.results,
                n_jobs=1,
            )
        self.environments, self.agents = registry.environment_names(), registry.agent_names()

    def play(self, chance, place, tell):
        if chance.random() < 0.5:
            words, settings = self._training(chance, place)
        else:
            words, settings = self._any_command(chance, place), None
        apart = chance.random() < 0.01
        tell(f"fasturl {' '.join(map(repr, words))}{' (in a process of its own)' if apart else ''}")
        code, out, err = _run_apart(words, place) if apart else _run_here(words, place)
        _judge(code, out, err)
        if settings and code == 0:
            _judge_training(settings, out, chance.random() < 0.2)

    def _training(self, chance, place):
        """A training that takes a moment, of which up to two values are spoiled. Returns the line and, where
        nothing is spoiled, what it asks for."""
        env, agent = chance.choice(self.environments), chance.choice(self.agents)
        values = {"episodes": chance.choice((1, 2, 20)), "seeds": chance.choice((1, 2)), "points": 3}
        own = (
            {"horizon": 1 if agent in QUICK else chance.choice((1, 2, 3))}
            if "horizon" in registry.environment_declaration(env)
            else {}
        )
        declared = [
            *registry.environment_declaration(env).values(),
            *registry.agent_declaration(agent).values(),
        ]
        options = {name: str(value) for name, value in (values | own | QUICK.get(agent, {})).items()}
        spoiled = chance.choice((0, 0, 1, 1, 2))
        for _ in range(spoiled):
            option = chance.choice([*options, *(one.name for one in declared), "nonsense"])
            options[option] = chance.choice(WORDS)
        line = ["train", env, "--agent", agent, "--n-jobs", "1", "--json", "-"]
        for option, value in options.items():
            line += _as_option(chance, option, value)
        if spoiled:
            line = _mutated(chance, line) if chance.random() < 0.3 else line
            return _harmless(line), None
        return line, (env, own, agent, values)

    def _any_command(self, chance, place):
        command = chance.choice(list(COMMANDS))
        line = [command] if command else []
        if command in ("plot", "report"):
            line.append(str(chance.choice([self.results, place, place / "none", ""])))
            line += ["--out", str(place / chance.choice(["a.png", "a.html", "a", ".png", ".svg"]))]
        if command == "tune":
            line += [chance.choice(self.environments), "--trials", chance.choice(["0", "x", "-1"])]
        if command == "reproduce":
            line += [
                "--episodes-scale",
                chance.choice(["0", "-1", "nan", "x", "inf"]),
                "--out",
                str(place / "out"),
            ]
        if command == "required-sizes":
            line += ["--horizon", "2", "--n-states", "3", "--n-actions", "4"]
        for _ in range(chance.randrange(4)):
            option = chance.choice([*COMMANDS[command], chance.choice(WORDS)])
            line += [option] if chance.random() < 0.3 else [option, chance.choice(WORDS)]
        return _harmless(_mutated(chance, line) if chance.random() < 0.3 else line)


def _as_option(chance, name, value):
    option = f"--{name.replace('_', chance.choice('-_'))}"
    return [f"{option}={value}"] if chance.random() < 0.3 else [option, value]


def _mutated(chance, line):
    """A line with a word left out, doubled, in another place, or with a character changed."""
    line = list(line)
    if not line:
        return line
    position = chance.randrange(len(line))
    way = chance.randrange(4)
    if way == 0:
        del line[position]
    elif way == 1:
        line.insert(position, line[position])
    elif way == 2:
        line.insert(chance.randrange(len(line)), line.pop(position))
    else:
        word = line[position]
        cut = chance.randrange(len(word) + 1)
        line[position] = word[:cut] + chance.choice("-=x0\n .é") + word[cut + chance.randrange(2) :]
    return line


def _harmless(line):
    """The line, unless it asks for something that takes long in earnest: many episodes, the paper, or a
    cluster. Those are what the command is for."""
    text = " ".join(line)
    earnest = "warmup" in text or "--ray" in text or "--build" in text or "--libs" in text
    if line[:1] == ["train"] and "--episodes" not in text:
        earnest = True  # 50,000 of them
    if line[:1] == ["train"] and "--seeds" not in text:
        earnest = True
    return ["list"] if earnest else line


def _run_here(words, place):
    out, err = io.StringIO(), io.StringIO()
    code = 0
    before = os.getcwd()
    os.chdir(place)
    try:
        with (
            mock.patch.object(sys, "argv", ["fasturl", *words]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main()
    except SystemExit as stop:
        code = stop.code
    finally:
        os.chdir(before)
    return code or 0, out.getvalue(), err.getvalue()


def _run_apart(words, place):
    if any("\0" in word for word in words):
        return 2, "", "fasturl: no system starts a process with such a word\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from fasturl.cli import main; main()", *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=place,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def _judge(code, out, err):
    expect(code in (0, 2), f"exit code {code}: {err[-500:]}")
    expect("Traceback" not in err + out, f"a traceback: {err[-1500:]}")
    leaked = LEAKED.search(err)
    expect(not leaked, f"an exception leaks: {err[-500:]}")
    if code == 2 and err:
        lines = err.splitlines()
        expect(
            all(line.startswith("fasturl: ") for line in lines), f"other words on standard error: {err[:500]}"
        )
        expect(len(lines[-1]) > len("fasturl: "), "no reason is told")


def _judge_training(settings, out, compare):
    env, own, agent, values = settings
    try:
        result = json.loads(out, parse_constant=_refuse_constant)
    except ValueError as error:
        raise Broken(f"no JSON: {error}: {out[:300]}") from None
    for name in ("average_reward_mean", "average_reward_std", "value_mean", "success_rate", "v_star"):
        expect(math.isfinite(result[name]), f"{name} is {result[name]}")
    expect(0 <= result["success_rate"] <= 1, f"success_rate {result['success_rate']}")
    expect(result["seeds"] == values["seeds"], f"seeds {result['seeds']}")
    if compare:
        run = fu.train(
            *(
                registry.environment(env, **own),
                registry.agent(agent, **QUICK.get(agent, {})),
                values["episodes"],
            ),
            **{"seeds": values["seeds"], "points": 3, "n_jobs": 1, "progress": False},
        )
        same = run.average_reward.mean(axis=0).tolist() == result["curve"]["mean"]
        expect(same and float(run.values.mean()) == result["value_mean"], "train gives other figures")


def _refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


KIND = CommandLines

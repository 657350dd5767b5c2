"""Files that describe sweeps: a valid one, of which values, keys or characters are replaced.

A file is read into cells or refused in one line that begins with its name. Cells that are read describe
themselves: made again from their own configuration they have the same id. One in thirty is swept, where that
takes a moment.
"""

import json
import warnings

import numpy as np

from fasturl.experiments import Cell, read_spec, sweep
from fasturl.experiments.running.spec import EXAMPLE

from .judgement import expect, judge_refusal
from .kinds import Kind

SPECS = (
    """seeds = 2
episodes = 9
points = 3
[env]
name = "lock-bernoulli"
horizon = [1, 2]
switch = 0.2
[agent]
name = ["oracleq-lat", "qlearning-lat"]
learning_rate = 0.3
""",
    """seeds = "3:5"
episodes = [5, 9]
[[group]]
env = {name = "lock-gaussian", horizon = 1, noise = [0.1, 0.2]}
agent = {name = "url", batch = 20}
oracle = {name = ["kmeans", "gmm"]}
[[group]]
env = {name = "river-swim", horizon = 2}
agent = {name = ["psrl-lat", "ucbvi-lat"]}
evaluate_every = 5
""",
    EXAMPLE,
)
VALUES = (
    *(
        "0",
        "1",
        "2",
        "-1",
        "1e400",
        "nan",
        "inf",
        "-inf",
        "0.5",
        "1e30",
        "9223372036854775808",
        "0x1F",
        "true",
    ),
    *(
        '""',
        '"x"',
        '"url"',
        '"kmeans"',
        '"none"',
        '"1:3"',
        '"3:1"',
        '"\\\\u0000"',
        "[]",
        "[[]]",
        "[1, 2]",
        '["a", 1]',
    ),
    *(
        "[1, 1]",
        "{}",
        '{name = "url"}',
        '{name = ""}',
        "1979-05-27",
        "07:32:00",
        "[nan]",
        "[true, 0]",
        "'''x'''",
    ),
    *(
        "[1000000000000, 2]",
        "1_000",
        "+1",
        "[{name = 'oracleq'}]",
        "{a = {b = {c = 1}}}",
        "99999999999999999999999",
    ),
    "[" * 5000,
    "[" * 3000 + "]" * 3000,
)
KEYS = (
    *("seeds", "episodes", "points", "evaluate_every", "env", "agent", "oracle", "learner", "group", "name"),
    *(
        "horizon",
        "switch",
        "noise",
        "learning_rate",
        "batch",
        "n_states",
        "x",
        "''",
        '"a.b"',
        "env.name",
        "a.b",
    ),
)
MOST_CELLS = 20


class TomlFiles(Kind):
    name = "toml-files"

    def play(self, chance, place, tell):
        text = chance.choice(SPECS)
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            text = chance.choice((_value, _value, _key, _line, _character))(chance, text)
        tell(repr(text))
        path = place / "spec.toml"
        path.write_bytes(_encoded(chance, text))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                spec = read_spec(path)
            except Exception as error:
                judge_refusal(error, [str(path).replace("-", "_")])
                return
            self._judge(spec, chance, place)

    @staticmethod
    def _judge(spec, chance, place):
        expect(spec.cells and spec.seeds, "an empty sweep is accepted")
        for cell in spec.cells[:MOST_CELLS]:
            again = Cell.from_config(json.loads(json.dumps(cell.config, allow_nan=False)))
            expect(again.id == cell.id and again == cell, f"a cell is not itself: {cell} and {again}")
        work = len(spec.cells) * len(spec.seeds) * max(cell.episodes for cell in spec.cells)
        if work < 500 and chance.random() < 0.03:
            try:
                frame = sweep(spec.cells, spec.seeds, place / "out", n_jobs=1, progress=False)
            except Exception as error:
                judge_refusal(error, ["cells cannot be trained"])
                return
            expect(
                np.isfinite(frame[["average_reward", "value", "optimal_value"]]).all(axis=None), "not finite"
            )
            runs = len(frame.drop_duplicates(["cell", "seed"]))
            expect(runs == len(spec.cells) * len(spec.seeds), f"{runs} runs are in the table")


def _value(chance, text):
    lines = text.splitlines()
    places = [number for number, line in enumerate(lines) if "=" in line]
    if places:
        number = chance.choice(places)
        key = lines[number].partition("=")[0]
        lines[number] = f"{key}= {chance.choice(VALUES)}"
    return "\n".join(lines) + "\n"


def _key(chance, text):
    lines = text.splitlines()
    number = chance.randrange(len(lines) + 1)
    lines.insert(number, f"{chance.choice(KEYS)} = {chance.choice(VALUES)}")
    return "\n".join(lines) + "\n"


def _line(chance, text):
    lines = text.splitlines() or [""]
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.choice((0, 1, 2))):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return "\n".join(lines) + "\n"


def _character(chance, text):
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice("[]{}=\"'#\n,.\0é1-_ ") + text[place + chance.randrange(3) :]


def _encoded(chance, text):
    way = chance.randrange(40)
    if way == 0:
        return text.encode("utf-16")
    if way == 1:
        return text.encode() + b"\xff\xfe"
    if way == 2:
        return b"\xef\xbb\xbf" + text.encode()
    return text.encode()


KIND = TomlFiles

"""The C code of the documentation compiles without a warning and runs; its Python blocks are run by
test_docs."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_face import needs_cc, needs_shared_python, run_program

import fasturl as fu
from fasturl.capi import HEADER, embed

DOCS = Path(__file__).parents[1] / "docs"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def build_program(folder, source):
    (folder / "program.c").write_text(source)
    embed.build(folder)
    flags = [*embed.cflags(), *embed.libs(folder)]
    command = ["cc", *STRICT, str(folder / "program.c"), *flags, "-o", str(folder / "program")]
    subprocess.run(command, check=True)
    return folder / "program"


@needs_shared_python
def test_the_first_program_of_the_page_runs(tmp_path):
    done = run_program(build_program(tmp_path, blocks("calling-from-c.md", "c")[0]))
    assert (done.returncode, done.stderr) == (0, "")
    chances = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert np.allclose(chances, fu.LockBernoulli(5, 0.2).instance(7).transitions[0, 0, :, 0])


@needs_shared_python
def test_the_program_that_trains_a_learner_by_name_trains_it_as_python_does(tmp_path):
    _, source = blocks("calling-from-c.md", "c")
    learner = fu.QLearning(learning_rate=0.2)
    run = fu.train(fu.LockBernoulli(3, 0.2), learner, episodes=2_000, seeds=[7])
    done = run_program(build_program(tmp_path, source))
    assert (done.returncode, done.stderr) == (0, "")
    average, *chances = (float(line.split()[-1]) for line in done.stdout.splitlines())
    assert average == pytest.approx(run.average_reward[0, -1], rel=1e-5)
    assert (sum(chances), max(chances)) == (1.0, 1.0)


@needs_shared_python
def test_a_program_prints_why_a_learner_cannot_be_had(tmp_path):
    _, source = blocks("calling-from-c.md", "c")
    done = run_program(build_program(tmp_path, source.replace("learning_rate=", "learning_rat=")))
    assert done.returncode == 1
    assert "learning_rat is not a setting of learner 'qlearning'" in done.stderr
    assert "did you mean learning_rate?" in done.stderr


@needs_cc
def test_the_plug_ins_that_the_page_shows_are_those_that_it_runs(tmp_path):
    shown = blocks("c-plugins.md", "c")
    python = "".join(blocks("c-plugins.md", "python"))
    executed = re.findall(r'write_text\("""(.*?)"""\)', python, re.DOTALL)
    assert len(shown) == 2
    for source, ran in zip(shown, executed, strict=True):
        assert re.sub(r"/\*.*?\*/\n", "", source).split() == ran.split()
        (tmp_path / "plugins.c").write_text(source)
        subprocess.run(
            ["cc", *STRICT, "-fsyntax-only", f"-I{HEADER.parent}", str(tmp_path / "plugins.c")], check=True
        )

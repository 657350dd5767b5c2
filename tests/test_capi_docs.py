"""The C code of the documentation compiles without a warning and runs; its Python blocks are run by
test_docs."""

import re
import subprocess
from pathlib import Path

import numpy as np
from c_face import needs_cc, needs_shared_python, run_program

import fasturl as fu
from fasturl.capi import HEADER, embed

DOCS = Path(__file__).parents[1] / "docs"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@needs_shared_python
def test_the_program_of_the_page_runs(tmp_path):
    (source,) = blocks("calling-from-c.md", "c")
    (tmp_path / "program.c").write_text(source)
    embed.build(tmp_path)
    flags = [*embed.cflags(), *embed.libs(tmp_path)]
    subprocess.run(
        ["cc", *STRICT, str(tmp_path / "program.c"), *flags, "-o", str(tmp_path / "program")], check=True
    )
    done = run_program(tmp_path / "program")
    assert (done.returncode, done.stderr) == (0, "")
    chances = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert np.allclose(chances, fu.LockBernoulli(5, 0.2).instance(7).transitions[0, 0, :, 0])


@needs_cc
def test_the_plug_ins_that_the_page_shows_are_those_that_it_runs(tmp_path):
    (shown,) = blocks("c-plugins.md", "c")
    python = "".join(blocks("c-plugins.md", "python"))
    bare = re.sub(r"/\*.*?\*/\n", "", shown)
    assert bare.split() == re.search(r'write_text\("""(.*?)"""\)', python, re.DOTALL).group(1).split()
    (tmp_path / "plugins.c").write_text(shown)
    subprocess.run(
        ["cc", *STRICT, "-fsyntax-only", f"-I{HEADER.parent}", str(tmp_path / "plugins.c")], check=True
    )

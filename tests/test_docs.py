"""Python blocks that the site does not execute when it is built: those of README.md, and of pages about
packages that are no requirement of ours. They run here, in order, in one namespace, in an empty folder. TOML
blocks are read here, as sweeps or as part of a package's pyproject.toml."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from fasturl._base import names
from fasturl.experiments import read_spec

ROOT = Path(__file__).parents[1]


def blocks_by_page(language):
    block = re.compile(rf"^```{language}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {str(page.relative_to(ROOT)): block.findall(page.read_text(encoding="utf-8")) for page in pages}


PAGES = blocks_by_page("python")
TOML = [(page, block) for page, blocks in blocks_by_page("toml").items() for block in blocks]
NEEDED_BY_A_SWEEP = {"episodes": "100", "env": '{name = "lock-bernoulli"}'}
"""What a block may leave out that shows a part of a sweep."""


NEEDS = {"README.md": "fasturl", "docs/deep-agents.md": "stable_baselines3"}
"""The pages that run here, each with the package that it is about."""


@pytest.mark.parametrize("page", NEEDS)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip(NEEDS[page], reason=f"{NEEDS[page]} is not installed here")
    monkeypatch.chdir(tmp_path)
    registered = {kind: dict(components) for kind, components in names._registered.items()}
    monkeypatch.setattr(names, "_registered", registered)  # what a page registers ends with it
    namespace = {"__name__": "__main__"}
    for number, block in enumerate(PAGES[page], 1):
        exec(compile(block, f"{page}, block {number}", "exec"), namespace)


def test_the_site_executes_all_other_pages():
    """The exceptions of docs/conf.py are those that run here."""
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8"))
    (left_out,) = [
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and getattr(one.targets[0], "id", "") == "NEEDS_MORE"
    ]
    assert {f"docs/{name}" for name in left_out} == set(NEEDS) - {"README.md"}


def test_there_are_pages_with_code():
    assert PAGES["README.md"]
    assert PAGES["docs/gymnasium.md"]


def test_the_pictures_of_environments_are_those_that_the_script_draws(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import draw_environments

    page = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\(pictures/([a-z-]+)\.svg\)", page)
    assert sorted(pictures) == sorted(draw_environments.FAMILIES)
    figure = draw_environments.draw(draw_environments.FAMILIES["rich-lock"])
    assert [axes.get_xlabel() for axes in figure.axes] == ["level", "coordinate"]


def test_the_picture_of_the_framework_is_the_one_that_the_script_draws(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import draw_framework

    kept = (ROOT / "docs" / "pictures" / "framework.svg").read_text(encoding="utf-8")
    assert kept == draw_framework.picture()


def test_every_picture_is_shown_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    texts = "".join(page.read_text(encoding="utf-8") for page in pages)
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f"pictures/{picture.name}" in texts


def cells_of(toml, folder):
    """The cells of a sweep, or of a part of one."""
    lacking = [
        f"{key} = {value}\n" for key, value in NEEDED_BY_A_SWEEP.items() if key not in tomllib.loads(toml)
    ]
    (folder / "sweep.toml").write_text("".join(lacking) + toml)
    return read_spec(folder / "sweep.toml").cells


@pytest.mark.parametrize(("page", "block"), TOML)
def test_the_toml_of_a_page_is_read(page, block, tmp_path):
    if "project" in (content := tomllib.loads(block)):
        assert set(content["project"]["entry-points"]) <= set(names.GROUPS.values())
    else:
        assert cells_of(block, tmp_path)


def test_the_three_ways_to_set_a_part_are_the_same(tmp_path):
    (block,) = [block for page, block in TOML if page == "docs/sweeps.md" and block.count("[[agent]]") == 3]
    tables = [f"[[agent]]{text}" for text in block.split("[[agent]]")[1:]]
    first, second, third = (cells_of(table, tmp_path) for table in tables)
    assert len(first) == 2
    assert first == second == third

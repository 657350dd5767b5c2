"""Every Python block of the documentation runs: those of one file in order, in one namespace, in an empty
folder."""

import re
from pathlib import Path

import pytest

from fasturl._base import names

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = {
    str(page.relative_to(ROOT)): BLOCK.findall(page.read_text(encoding="utf-8"))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}


NEEDS = {"docs/deep-agents.md": "stable_baselines3"}
"""Pages about packages that are no requirement of ours."""


@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items() if blocks])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], reason=f"{NEEDS[page]} is not installed here")
    monkeypatch.chdir(tmp_path)
    registered = {kind: dict(components) for kind, components in names._registered.items()}
    monkeypatch.setattr(names, "_registered", registered)  # what a page registers ends with it
    namespace = {"__name__": "__main__"}
    for number, block in enumerate(PAGES[page], 1):
        exec(compile(block, f"{page}, block {number}", "exec"), namespace)


def test_there_are_pages_with_code():
    assert PAGES["README.md"]
    assert PAGES["docs/gymnasium.md"]

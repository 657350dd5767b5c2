"""Pages of plain Markdown whose Python blocks are executed when the site is built.

A page says ```python, which every reader of Markdown can show. The build takes such a block for a cell of a
notebook: the cells of one page run in order, in one process, in an empty folder, and what they print and draw
stands below them. What was executed is kept under a digest of the library's sources, so that an edit of the
library executes all pages again and an edit of a page only that page.
"""

import hashlib
import re
from pathlib import Path

from myst_nb.core.read import read_myst_markdown_notebook

BLOCK = re.compile(r"^```python$", re.MULTILINE)
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def has_code(page: Path) -> bool:
    """Whether a page has a block to execute."""
    return BLOCK.search(page.read_text(encoding="utf-8")) is not None


def read_page(text: str):
    """A page as a notebook, whose cells are the Python blocks."""
    notebook = read_myst_markdown_notebook(BLOCK.sub("```{code-cell} python", text), add_source_map=True)
    notebook.metadata["kernelspec"] = KERNEL
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return notebook


def digest_of_sources(package: Path) -> str:
    """A few letters that change whenever a source file of the library does."""
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode() + source.read_bytes())
    return digest.hexdigest()[:12]

"""The site: pip install '.[docs]' && sphinx-build -W --keep-going docs docs/_build

Pages are Markdown and are executed; the gallery is made of examples/*.py, the reference of declarations and
docstrings. Nothing needs the network. With FASTURL_DOCS_LINKS=1 names of NumPy, pandas, scikit-learn and
Gymnasium become links, for which their inventories are fetched.
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import fasturl  # noqa: E402
from building import executed_pages  # noqa: E402

os.environ["MPLBACKEND"] = "Agg"  # for the examples; pages are drawn by their own kernels

project = "fasturl"
author = "the fasturl developers"
copyright = "the fasturl developers"
version = release = fasturl.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "building.mathematics",
    "building.reference",
]
exclude_patterns = ["_build", "reference/parts"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

nb_custom_formats = {".md": "building.executed_pages.read_page"}
nb_execution_mode = "cache"
nb_execution_cache_path = str(
    DOCS / "_build" / ".executed" / executed_pages.digest_of_sources(Path(fasturl.__file__).parent)
)
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_show_tb = True
nb_merge_streams = True
NEEDS_MORE = ["deep-agents.md"]
"""Pages about packages that are no requirement of ours: tests/neighbours/run.py executes them."""
nb_execution_excludepatterns = [
    *NEEDS_MORE,
    *(page.name for page in DOCS.glob("*.md") if not executed_pages.has_code(page)),
    "reference/*.md",
]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "show_memory": False,
    "plot_gallery": True,
    "abort_on_example_error": False,
    "image_srcset": ["2x"],
    "within_subsection_order": "FileNameSortKey",
    "matplotlib_animations": True,
}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "gymnasium": ("https://gymnasium.farama.org", None),
    }
    if os.environ.get("FASTURL_DOCS_LINKS")
    else {}
)

html_theme = "pydata_sphinx_theme"
html_title = "fasturl"
html_static_path = ["_static"]
html_css_files = ["fasturl.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}

"""The site: pip install '.[docs]' && sphinx-build -W --keep-going docs docs/_build

Pages are Markdown and are executed; the gallery is made of examples/*.py, the reference of declarations and
docstrings. Nothing needs the network. With FASTURL_DOCS_LINKS=1 names of NumPy, pandas, scikit-learn and
Gymnasium become links, for which their inventories are fetched.
"""

import importlib.util
import os
import re
import sys
from pathlib import Path

import matplotlib.animation

import fasturl

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from building import executed_pages  # noqa: E402  # found by the path of the line above

os.environ.pop("MPLBACKEND", None)  # pages draw inline; the gallery chooses for itself

# the player of animations fetches an icon font from the network, which the theme has here already
matplotlib.animation.JS_INCLUDE = re.sub(r"<link[^>]*>", "", matplotlib.animation.JS_INCLUDE, flags=re.DOTALL)

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
exclude_patterns = ["_build", "jupyter_execute", "gallery/*.ipynb", "gallery/*.json"]

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
nb_output_stderr = "remove"  # what libraries say of the machine that builds
NEEDS_MORE = {"deep-agents.md": "stable_baselines3"}
"""Pages about packages that are no requirement of ours. They are executed where the package is installed; its
name is a tag there. tests/neighbours/run.py executes them too."""
found = {package for package in NEEDS_MORE.values() if importlib.util.find_spec(package)}
for package in found:
    tags.add(package)  # noqa: F821  # a name that Sphinx gives
nb_execution_excludepatterns = [
    *(page for page, package in NEEDS_MORE.items() if package not in found),
    *(page.name for page in DOCS.glob("*.md") if not executed_pages.has_code(page)),
    "*/reference/*.md",
]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "matplotlib_animations": True,
    "image_scrapers": ("matplotlib", "building.gallery.returned_figures"),
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False  # types are in the declarations already

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
html_context = {"default_mode": "auto"}
html_sidebars = {page: [] for page in ("index", "install", "tour", "extending", "performance")}

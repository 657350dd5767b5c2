"""Figures from stored results, for papers: `curves`, `regret`, `success`, `scaling`, `seconds` and `heatmap`
take a frame from `fasturl.experiments.load`, and say which measure of spread is drawn.

A kind of figure is one file beside this one; `panels` has what they share, `style` their colours and sizes.
"""

from .comparisons import scaling, seconds, success
from .curves import caption, curve_panel, curves
from .heatmaps import QUANTITIES, heatmap
from .panels import title
from .regret import regret

__all__ = [
    "QUANTITIES",
    "caption",
    "curve_panel",
    "curves",
    "heatmap",
    "regret",
    "scaling",
    "seconds",
    "success",
    "title",
]

"""Pictures of the gallery that pyplot does not know of: the figures that fasturl itself returns."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def returned_figures(block, block_vars, gallery_conf):
    """Save the figure that a block of an example has left in the variable `figure`, unless pyplot made it."""
    names = block_vars["example_globals"]
    figure = names.get("figure")
    of_pyplot = getattr(figure, "number", None) is not None
    if not isinstance(figure, Figure) or of_pyplot or figure is names.get("_saved_figure"):
        return ""
    names["_saved_figure"] = figure
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=160)
    return figure_rst([path], gallery_conf["src_dir"])

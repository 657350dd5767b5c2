"""What tests of figures look at: the words and the lines of a Matplotlib figure."""

import itertools

from matplotlib.text import Text


def texts(figure):
    """All that is written in a figure."""
    figure.draw_without_rendering()
    return " ".join(
        artist.get_text() for artist in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


def lines(axes):
    """The lines that have a name, by their names."""
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def assert_legible(figure):
    """All words lie inside the figure and none on others."""
    figure.draw_without_rendering()
    written = [
        artist for artist in figure.findobj(Text) if artist.get_text().strip() and artist.get_visible()
    ]
    ticks = [
        tick
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in {*axis.majorTicks, *axis.minorTicks} - {*axis._update_ticks()}
    ]
    outside = {label for tick in ticks for label in (tick.label1, tick.label2)}  # of what is seen of the axes
    written = [text for text in written if text not in outside]
    boxes = [(text.get_text(), text.get_window_extent()) for text in written]
    for words, box in boxes:
        assert -1 <= box.x0 <= box.x1 <= figure.bbox.width + 1, words
        assert -1 <= box.y0 <= box.y1 <= figure.bbox.height + 1, words
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert min(a.x1, b.x1) - max(a.x0, b.x0) < 1 or min(a.y1, b.y1) - max(a.y0, b.y0) < 1, (one, other)

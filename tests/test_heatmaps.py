"""Heat maps: what is drawn are the means of cells, legibly."""

import math

import numpy as np
from figure_parts import assert_legible
from plot_samples import SAMPLES, SUCCEEDED
from stored_results import frame_of

from fasturl.experiments.analysis import figures as plots


def grid(width, height):
    settings = [
        {"agent.learning_rate": (i + 1) / 1000, "agent.confidence": (j + 1) / 1000}
        for i in range(width)
        for j in range(height)
    ]
    cells = [
        (one | {"switch": switch}, SAMPLES[:2, -1:], SUCCEEDED[:2])
        for one in settings
        for switch in (0, 0.2, 0.5)
    ]
    return plots.heatmap(frame_of(*cells), "learning_rate", "confidence")


def test_numbers_of_a_heat_map_are_as_small_and_as_few_as_its_cells_ask_for():
    sizes = {}
    for shape in [(2, 2), (10, 2), (1, 30), (30, 1)]:
        figure = grid(*shape)
        assert_legible(figure)
        sizes[shape] = [text.get_fontsize() for text in figure.axes[0].texts]
        assert len(sizes[shape]) in (0, shape[0] * shape[1])
    assert set(sizes[2, 2]) == {6}
    assert 4 <= sizes[10, 2][0] < 6
    assert sizes[1, 30] == sizes[30, 1] == []


def test_a_heat_map_shows_the_mean_of_each_cell_and_leaves_gaps():
    settings = [(0.1, 0.01), (0.1, 0.1), (0.3, 0.01)]
    frame = frame_of(
        *(
            ({"agent.learning_rate": a, "agent.confidence": b}, SAMPLES + i, SUCCEEDED)
            for i, (a, b) in enumerate(settings)
        )
    )
    axes = plots.heatmap(frame, "learning_rate", "agent.confidence").axes[0]
    shown = axes.images[0].get_array().filled(np.nan)
    last = SAMPLES[:, -1].mean()
    np.testing.assert_allclose(shown, [[last, last + 2], [last + 1, math.nan]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "0.3"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0.01", "0.1"]
    rates = plots.heatmap(frame, "learning_rate", "confidence", of="success-rate").axes[0]
    assert rates.images[0].get_array().compressed().tolist() == [0.75] * 3

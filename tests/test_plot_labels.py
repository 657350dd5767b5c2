"""How figures tell cells apart: names, colours, lines and markers."""

import itertools

import numpy as np
import pytest
from figure_parts import lines
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from plot_samples import SAMPLES, SUCCEEDED, quadratic
from stored_results import frame_of

from fasturl import registry
from fasturl.experiments.analysis import figures as plots
from fasturl.experiments.analysis import style, summaries


def test_cells_are_never_mixed_and_named_by_what_tells_them_apart():
    frame = frame_of(
        ({"agent.learning_rate": 0.1, "agent.confidence": 0.1}, SAMPLES, SUCCEEDED),
        ({"agent.learning_rate": 0.3, "agent.confidence": 0.1}, SAMPLES + 1, SUCCEEDED),
    )
    axes = Figure().subplots()
    plots.curve_panel(axes, frame)
    drawn = lines(axes)
    assert list(drawn) == ["oracleq-lat, learning rate 0.1", "oracleq-lat, learning rate 0.3"]
    np.testing.assert_allclose(drawn["oracleq-lat, learning rate 0.3"].get_ydata(), SAMPLES.mean(axis=0) + 1)
    assert [line.get_color() for line in drawn.values()] == [
        "#005B8E",
        "#0072B2",
    ]  # its own colour, and that with black in it
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in drawn.values()}) == 2


def test_settings_that_go_along_with_others_stay_out_of_the_name():
    frame = frame_of(
        ({"agent": "pcid", "agent.model": "linear", "agent.batch": 10}, SAMPLES, SUCCEEDED),
        ({"agent": "pcid", "agent.model": "neural", "agent.batch": 20}, SAMPLES, SUCCEEDED),
        ({"agent": "pcid", "agent.model": "linear", "agent.batch": 30, "horizon": 10}, SAMPLES, SUCCEEDED),
        ({"agent": "pcid", "agent.model": "neural", "agent.batch": 40, "horizon": 10}, SAMPLES, SUCCEEDED),
    )
    assert list(summaries.labels(frame).values()) == ["pcid, model linear"] * 2 + ["pcid, model neural"] * 2


@pytest.mark.parametrize("column", ["agent.learning_rate", "episodes"])
def test_variants_come_in_the_order_of_their_numbers(column):
    numbers = [1000, 200, 3e-5, 10, 0.5]
    frame = quadratic((4, 8), points=50, variants=[{column: number} for number in numbers])
    expected = [f"{number:g}" for number in sorted(numbers)]
    named = list(dict.fromkeys(summaries.labels(frame).values()))
    assert [name.split()[-1] for name in named] == expected
    assert summaries.cell_table(frame)[column].tolist() == sorted(numbers) * 2
    for draw in (plots.scaling, plots.curves):
        assert [text.get_text().split()[-1] for text in draw(frame).legends[0].get_texts()] == expected


@pytest.mark.parametrize(
    ("column", "words"), [("points", "points"), ("oracle.n_init", "n init"), ("episodes", "episodes")]
)
def test_cells_that_differ_in_one_thing_alone_are_told_apart(column, words):
    frame = quadratic((4, 8), points=100, variants=[{column: 10}, {column: 200}])
    assert list(dict.fromkeys(summaries.labels(frame).values())) == [
        f"oracleq-lat, {words} 10",
        f"oracleq-lat, {words} 200",
    ]
    for draw in (plots.scaling, plots.curves):
        figure = draw(frame)
        assert len(figure.legends[0].get_texts()) == 2
        assert [axes.get_title() for axes in figure.axes][-1].startswith("lock-bernoulli, ")
        assert words not in "".join(axes.get_title() for axes in figure.axes)
    assert len(plots.heatmap(frame, "horizon", "learning_rate").axes) == 3  # two, and the colours


def test_points_that_follow_from_the_axis_do_not_set_cells_apart():
    frame = quadratic((4, 8))
    assert len(plots.scaling(frame.assign(points=frame["horizon"] * 10)).legends[0].get_texts()) == 1


def test_settings_of_an_oracle_have_names_of_their_own():
    settings = [{"agent": "url", "oracle": "kmeans", "oracle.n_init": n} for n in (1, 5)]
    frame = frame_of(*((one, SAMPLES, SUCCEEDED) for one in settings))
    assert list(summaries.labels(frame).values()) == ["url, n init 1", "url, n init 5"]
    assert len(summaries.select(frame, ["n_init=5"])) == len(frame) / 2
    assert plots.success(frame, x="n_init").axes[0].lines[0].get_xdata().tolist() == [1, 5]


def test_every_agent_of_ours_has_a_colour_of_its_own():
    assert set(registry.agent_names()) <= set(style.COLOURS)
    assert len(set(style.paints([*style.COLOURS, "theirs"]).values())) == len(style.COLOURS) + 1


def test_agents_of_others_have_stable_colours_that_nobody_shares():
    names = [f"agent-{number}" for number in range(2 * len(style.OTHER_COLOURS))]
    for first, second in itertools.combinations(names, 2):
        assert style.paints([first, second])[first] != style.paints([first, second])[second]
    together = style.paints([*names, *style.COLOURS])
    assert style.paints(reversed([*names, *style.COLOURS])) == together
    for shade in ("light", "dark"):
        assert len({getattr(paint, shade) for paint in together.values()}) == len(together)
    assert len({style.paints([name])[name] for name in names}) > len(style.OTHER_COLOURS) / 2


def test_a_plug_in_s_agents_are_told_apart_in_every_figure():
    agents = ("theirs", "others", "url", "third-party")
    frame = frame_of(
        *(({"agent": agent, "horizon": h}, SAMPLES, SUCCEEDED) for agent in agents for h in (4, 8))
    )
    for draw in (plots.curves, plots.regret, plots.success, plots.scaling):
        figure = draw(frame)
        (legend,) = figure.legends
        assert {text.get_text() for text in legend.get_texts()} == set(agents)
        assert len({line.get_color() for line in legend.findobj(Line2D)}) == 4


def test_more_lines_than_anybody_can_tell_apart_are_refused():
    frame = quadratic(
        (4, 8), points=20, variants=[{"agent.learning_rate": rate / 100} for rate in range(1, 14)]
    )
    for draw in (plots.success, plots.curves):
        with pytest.raises(
            ValueError,
            match=r"there are 13 lines to plot in a panel: .*, for example --where learning_rate=0\.01",
        ):
            draw(frame)
    plots.curves(frame[frame["agent.learning_rate"] < 0.13])

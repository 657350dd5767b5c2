"""Figures: what is drawn are the numbers that are stored, and the figure says what it shows."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from figure_parts import assert_legible, lines, texts
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from plot_samples import SAMPLES, SUCCEEDED, quadratic
from stored_results import AGENTS, frame_of, run_small_sweep

import fasturl as fu
from fasturl.experiments import load
from fasturl.experiments.analysis import figures as plots
from fasturl.experiments.analysis import statistics, summaries
from fasturl.experiments.analysis import style as style


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("plots") / "results"
    run_small_sweep(place)
    return place


@pytest.mark.parametrize("band", ["std", "ci"])
def test_a_panel_draws_mean_and_band_of_each_agent(band):
    frame = frame_of(
        ({"agent": "url"}, SAMPLES, SUCCEEDED), ({"agent": "oracleq-lat"}, SAMPLES[:5] + 0.1, SUCCEEDED[:5])
    )
    axes = Figure().subplots()
    plots.curve_panel(axes, frame, band=band)
    drawn = lines(axes)
    assert list(drawn) == ["url", "oracleq-lat"]
    assert drawn["url"].get_xdata().tolist() == list(range(10, 310, 10))
    np.testing.assert_allclose(drawn["url"].get_ydata(), SAMPLES.mean(axis=0))
    np.testing.assert_allclose(drawn["oracleq-lat"].get_ydata(), SAMPLES[:5].mean(axis=0) + 0.1)
    shaded = [artist for artist in axes.collections if isinstance(artist, FillBetweenPolyCollection)]
    corners = shaded[0].get_paths()[0].vertices
    if band == "std":
        low, high = SAMPLES.mean(axis=0) - SAMPLES.std(axis=0), SAMPLES.mean(axis=0) + SAMPLES.std(axis=0)
    else:
        low, high = statistics.bootstrap_interval(SAMPLES)
    for trajectories, bottom, top in zip(range(10, 310, 10), low, high, strict=True):
        heights = corners[corners[:, 0] == trajectories][:, 1]
        assert (heights.min(), heights.max()) == pytest.approx((bottom, top))


def test_a_panel_shows_the_optimal_value_and_starts_at_zero():
    axes = Figure().subplots()
    plots.curve_panel(axes, frame_of(({}, SAMPLES, SUCCEEDED)), legend=True)
    assert [0.5, 0.5] in [list(line.get_ydata()) for line in axes.lines]
    assert axes.get_xlim() == (0, 300)
    assert axes.get_ylim()[0] == 0
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["oracleq-lat"]


def test_a_curve_of_one_point_has_a_marker():
    axes = Figure().subplots()
    plots.curve_panel(axes, frame_of(({}, SAMPLES[:, :1], SUCCEEDED)))
    (bars,) = axes.containers
    assert bars.lines[0].get_marker() not in ("", "None", None)
    assert bars.lines[0].get_ydata().tolist() == [SAMPLES[:, 0].mean()]


def test_a_figure_of_curves_says_which_band_is_drawn():
    frame = frame_of(({}, SAMPLES, SUCCEEDED))
    assert "Line: mean over 12 seeds. Shaded: one standard deviation." in texts(plots.curves(frame)).replace(
        "\n", " "
    )
    assert "Shaded: 95% bootstrap confidence interval of the mean." in texts(
        plots.curves(frame, band="ci")
    ).replace("\n", " ")


def test_a_curve_is_drawn_the_same_from_a_run_and_from_stored_results():
    run = fu.train(fu.LockBernoulli(3, 0.2), fu.OracleQ(), episodes=50, seeds=4, points=5)
    stored = run.to_pandas().assign(
        **{"cell": "a", "env": run.env, **run.settings, "agent": run.agent, "episodes": 50},
        **{
            "v_star": run.v_star,
            "optimal_value": run.v_star,
            "value": 0.5,
            "near_optimal": True,
            "warnings": 0,
        },
    )
    from_run, from_store = run.plot(), Figure().subplots()
    plots.curve_panel(from_store, stored)
    for axes in (from_run, from_store):
        assert lines(axes)[run.agent].get_ydata().tolist() == run.average_reward.mean(axis=0).tolist()
    bands = [axes.collections[0].get_paths()[0].vertices.tolist() for axes in (from_run, from_store)]
    assert bands[0] == bands[1]
    assert from_run.get_xlim() == from_store.get_xlim()
    assert from_run.get_ylim() == from_store.get_ylim()
    plt.close(from_run.figure)


def slippery(**settings):
    """A cell of a family that is not ours: its settings are a number and a word."""
    fixed = {"env": "ice", "switch": np.nan, "noise": np.nan, "slip": 0.1, "width": "narrow"}
    return (fixed | settings, SAMPLES - 1, SUCCEEDED)


def test_panels_of_a_third_family_are_its_settings():
    cells = [slippery(slip=slip, width=width) for slip in (0.3, 0.1) for width in ("wide", "narrow")]
    figure = plots.curves(frame_of(*cells))
    assert [axes.get_title().replace("\n", " ") for axes in figure.axes] == [
        "ice, H = 5, slip 0.1, width narrow",
        "ice, H = 5, slip 0.1, width wide",
        "ice, H = 5, slip 0.3, width narrow",
        "ice, H = 5, slip 0.3, width wide",
    ]
    assert {axes.get_subplotspec().get_gridspec().ncols for axes in figure.axes} == {2}
    assert plots.success(frame_of(*cells), x="slip").axes[0].lines[0].get_xdata().tolist() == [0.1, 0.3]
    assert_legible(figure)


def test_families_may_be_mixed():
    lock = {"slip": np.nan, "width": None}
    frame = frame_of(
        *(slippery(horizon=h) for h in (4, 8)),
        *(
            (lock | {"horizon": h, "switch": switch}, SAMPLES, SUCCEEDED)
            for h in (4, 8)
            for switch in (0, 0.2)
        ),
    )
    titles = [axes.get_title().replace("\n", " ") for axes in plots.curves(frame).axes]
    assert titles == [
        "ice, H = 4, slip 0.1, width narrow",
        "ice, H = 8, slip 0.1, width narrow",
        *(f"lock-bernoulli, H = {h}, switch {switch}" for h in (4, 8) for switch in (0, 0.2)),
    ]
    titles = [axes.get_title().replace("\n", " ") for axes in plots.scaling(frame).axes]
    assert titles == ["ice, slip 0.1, width narrow", "lock-bernoulli, switch 0", "lock-bernoulli, switch 0.2"]


@pytest.mark.parametrize(("shift", "v_star"), [(0.3, 0.5), (-0.3, 0.5), (-1.0, -0.2)])
def test_bands_and_the_word_v_star_are_inside_the_panel(shift, v_star):
    figure = plots.curves(frame_of(({"v_star": v_star}, SAMPLES + shift, SUCCEEDED)))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    mean, deviation = (SAMPLES + shift).mean(axis=0), SAMPLES.std(axis=0)
    low, high = axes.get_ylim()
    assert high > (mean + deviation).max()
    assert low == 0 if mean.min() >= 0 else low < (mean - deviation).min()
    (word,) = [text for text in axes.texts if text.get_text() == "V*"]
    assert word.get_window_extent().y1 < axes.bbox.y1


def test_every_environment_has_a_panel(folder):
    figure = plots.curves(load(folder))
    assert [axes.get_title() for axes in figure.axes] == [
        "lock-bernoulli, H = 2, switch 0",
        "lock-bernoulli, H = 2, switch 0.2",
        "lock-bernoulli, H = 3, switch 0",
        "lock-bernoulli, H = 3, switch 0.2",
    ]
    assert all(set(lines(axes)) == set(AGENTS) for axes in figure.axes)


def test_success_rates_with_wilson_intervals():
    frame = frame_of(({"horizon": 5}, SAMPLES, SUCCEEDED), ({"horizon": 10}, SAMPLES, ~SUCCEEDED))
    figure = plots.success(frame)
    (bars,) = figure.axes[0].containers
    assert bars.lines[0].get_xdata().tolist() == [5, 10]
    assert bars.lines[0].get_ydata().tolist() == [9 / 12, 3 / 12]
    ends = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose(ends, [statistics.wilson_interval(9, 12), statistics.wilson_interval(3, 12)])
    assert "95% Wilson interval, 12 seeds" in texts(figure)


@pytest.mark.parametrize("draw", [plots.success, plots.scaling])
def test_agents_stand_side_by_side_at_the_only_value_of_a_setting(draw):
    figure = draw(quadratic((5,), variants=[{"agent": agent} for agent in AGENTS]))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    points = [bars.lines[0].get_window_extent() for bars in axes.containers]
    places = [(box.x0 + box.x1 - 2 * axes.bbox.x0) / (2 * axes.bbox.width) for box in points]
    np.testing.assert_allclose(places, [0.43, 0.5, 0.57], atol=0.01)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["5"]


def test_scaling_finds_the_exponent():
    figure = plots.scaling(quadratic((4, 8, 16)))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    (bars,) = axes.containers
    assert bars.lines[0].get_ydata().tolist() == [160, 640, 2560]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["slope 2.00 ± 0.00"]
    assert "median over 7 seeds" in texts(figure)


def test_seconds_are_those_of_a_run_whatever_the_files_they_lie_in():
    frame = quadratic((4, 8, 16))
    cells = frame.drop_duplicates("cell").set_index("horizon")["cell"]
    about = [
        {"cell": cells[horizon], "wall_seconds": 0.01 * horizon**3 * len(seeds), "seeds": seeds}
        for horizon in cells.index
        for seeds in (range(5), range(5, 7))
    ]
    figure = plots.seconds(frame, about)
    (axes,) = figure.axes
    (points,) = [line for line in axes.lines if len(line.get_xdata()) == 3]
    np.testing.assert_allclose(points.get_ydata(), [0.64, 5.12, 40.96])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["slope 3.00 ± 0.00"]
    assert "mean over 7 seeds" in texts(figure)
    assert_legible(figure)


def test_too_few_seeds_for_an_interval_have_no_bars():
    frame = quadratic((4, 8))
    few = frame[frame["seed"] < 5]
    assert summaries.cell_table(few)[["needed_low", "needed_high"]].isna().all(axis=None)
    figure = plots.scaling(few)
    (bars,) = figure.axes[0].containers
    assert all(len(segment) == 0 for segment in bars.lines[2][0].get_segments())
    assert not any(np.isfinite(cap.get_ydata()).any() for cap in bars.lines[1])
    assert "median over 5 seeds; too few seeds for an interval; arrows" in texts(figure).replace("\n", " ")
    mixed = frame[(frame["seed"] < 5) | (frame["horizon"] == 8)]
    assert "interval of the median, where there are seeds enough;" in texts(plots.scaling(mixed)).replace(
        "\n", " "
    )


RATES = tuple(n / 10 for n in range(1, 8))


@pytest.mark.parametrize("draw", [plots.scaling, plots.success, plots.curves, plots.regret])
def test_variants_of_an_agent_have_colours_and_lines_and_markers_of_their_own(draw):
    figure = draw(quadratic((4, 8), variants=[{"agent.learning_rate": rate} for rate in RATES]))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        f"oracleq-lat, learning rate {rate}" for rate in RATES
    ]
    handles, _ = figure.axes[0].get_legend_handles_labels()
    drawn = [handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle for handle in handles]
    assert len({line.get_color() for line in drawn}) == 7
    if draw not in (plots.curves, plots.regret):  # which have no markers
        assert len({(line.get_marker(), str(line._dash_pattern)) for line in drawn}) == 7


def test_where_no_run_gets_there_the_marker_still_tells_whose_it_is():
    frame = quadratic((20, 30), variants=[{"agent.learning_rate": rate} for rate in (0.1, 0.3)])
    figure = plots.scaling(frame)
    (axes,) = figure.axes
    hollow = [line for line in axes.lines if line.get_fillstyle() == "none"]
    assert [line.get_ydata().tolist() for line in hollow] == [[4000, 4000]] * 2
    assert [line.get_marker() for line in hollow] == [
        line.get_marker() for line in figure.legends[0].findobj(Line2D)
    ]
    assert axes.get_legend() is None


def test_long_names_leave_room_for_the_panels():
    settings = [
        {"agent.learning_rate": rate, "agent.confidence": rate, "switch": switch}
        for rate in RATES
        for switch in (0, 0.2, 0.5)
    ]
    for draw in (plots.scaling, plots.success, plots.curves, plots.regret):
        figure = draw(quadratic((4, 8), points=30, variants=settings))
        figure.draw_without_rendering()
        for axes in figure.axes:
            box = axes.get_window_extent()
            assert min(box.width, box.height) > 0.8 * figure.dpi


WORDY = "a setting of so many words that no panel has room for all of them on one line"


@pytest.mark.parametrize("draw", [plots.scaling, plots.success, plots.curves, plots.regret])
@pytest.mark.parametrize("switches", [[0.1], [0.1, 0.2, 0.3, 0.4]])
def test_words_keep_clear_of_each_other_and_of_the_edges(draw, switches):
    settings = [
        {"env": "lock-gaussian", "noise": 0.15, "switch": switch, "agent.model": model}
        for switch in switches
        for model in (WORDY, "b")
    ]
    assert_legible(draw(quadratic((4,) if draw is plots.curves else (4, 8), points=30, variants=settings)))


def test_where_runs_do_not_get_there_an_arrow_stands_at_the_end():
    (axes,) = plots.scaling(quadratic((4, 8, 20))).axes
    arrows = [line for line in axes.lines if line.get_marker() == r"$\uparrow$"]
    assert [line.get_ydata().tolist() for line in arrows] == [[4000]]
    assert axes.containers[0].lines[0].get_ydata().tolist() == [160, 640]


def test_one_row_for_each_cell_with_its_figures():
    frame = quadratic((4, 20))
    table = summaries.cell_table(frame).set_index("horizon")
    assert table.loc[4, ["seeds", "successes", "reached", "trajectories"]].tolist() == [7, 7, 7, 4000]
    assert table.loc[4, ["needed", "needed_low", "needed_high"]].tolist() == [160, 140, 180]
    assert table.loc[20, ["needed", "needed_low", "needed_high", "reached"]].tolist() == [
        math.inf,
        3980,
        math.inf,
        2,
    ]
    last = frame[(frame["horizon"] == 4) & (frame["trajectories"] == 4000)]["average_reward"]
    assert table.loc[4, ["average_reward_mean", "average_reward_std"]].tolist() == pytest.approx(
        [last.mean(), last.std(ddof=0)]
    )
    assert tuple(table.loc[4, ["average_reward_low", "average_reward_high"]]) == pytest.approx(
        statistics.bootstrap_interval(last)
    )
    regret = 4000 * (0.5 - last)
    assert table.loc[4, ["regret_mean", "regret_std"]].tolist() == pytest.approx(
        [regret.mean(), regret.std(ddof=0)]
    )
    assert tuple(table.loc[4, ["regret_low", "regret_high"]]) == pytest.approx(
        statistics.bootstrap_interval(regret)
    )
    assert tuple(table.loc[4, ["success_low", "success_high"]]) == pytest.approx(
        statistics.wilson_interval(7, 7)
    )


def test_results_are_chosen_by_conditions(folder):
    frame = load(folder)
    chosen = summaries.select(frame, ["horizon=3", "switch=0.20", "agent=url"])
    assert set(zip(chosen["horizon"], chosen["switch"], chosen["agent"], strict=True)) == {(3, 0.2, "url")}
    assert len(summaries.select(frame, ["oracle=default"])) == len(frame[frame["agent"] != "url"])
    either = summaries.select(frame, ["horizon=2", "agent=url", "horizon=3", "agent=oracleq-lat"])
    assert set(zip(either["horizon"], either["agent"], strict=True)) == {
        (h, agent) for h in (2, 3) for agent in ("url", "oracleq-lat")
    }


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_a_figure_is_written_the_same_every_time(kind, tmp_path):
    frame = frame_of(({}, SAMPLES, SUCCEEDED))
    for name in ("one", "two"):
        style.save(plots.curves(frame), tmp_path / f"{name}.{kind}")
    content = (tmp_path / f"one.{kind}").read_bytes()
    assert content == (tmp_path / f"two.{kind}").read_bytes()
    assert content.startswith({"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[kind])


def test_a_png_has_200_dots_an_inch_and_the_width_of_the_text(folder, tmp_path):
    style.save(plots.curves(load(folder)), tmp_path / "curves.png")
    assert int.from_bytes((tmp_path / "curves.png").read_bytes()[16:20]) == 200 * style.TEXT_WIDTH


def two_kinds():
    kinds = ({"horizon": 10, "agent": "url"}, {"horizon": 9, "agent": "pcid"})
    return frame_of(*((settings, SAMPLES, SUCCEEDED) for settings in kinds))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda frame: plots.curves(frame[:0]), "there is nothing to plot: no results"),
        (lambda frame: plots.curves(frame, band="sem"), "band must be one of 'std', 'ci', got 'sem'"),
        (
            lambda frame: plots.success(frame, x="horizn"),
            r"horizn is not a setting of these results \(did you mean horizon\?\)",
        ),
        (
            lambda _: summaries.select(two_kinds(), ["horizon=9", "agent=url"]),
            "there are no results with horizon=9 and agent=url",
        ),
        (
            lambda _: summaries.select(two_kinds(), ["horizon=7"]),
            "there are no results with horizon 7; horizon is 9, 10",
        ),
        (lambda frame: plots.success(frame, x="agent"), "agent is not a number in these results"),
        (
            lambda frame: plots.scaling(frame, x="switch"),
            "switch is not always positive in these results: it cannot be a logarithmic axis",
        ),
        (
            lambda frame: plots.heatmap(frame, "horizon", "horizon"),
            "a heat map needs two different settings, got horizon twice",
        ),
        (
            lambda frame: plots.heatmap(frame, "horizon", "switch", of="height"),
            "of must be one of 'average-reward', .*, got 'height'",
        ),
        (lambda frame: plots.heatmap(frame, "horizon", "noise"), "noise is not a number in these results"),
        (
            lambda frame: style.save(plots.curves(frame), "curves.xyz"),
            "cannot write curves.xyz: write .png, .pdf or .svg",
        ),
        (
            lambda frame: style.save(plots.curves(frame), "missing/curves.png"),
            "cannot write missing/curves.png: No such file",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(frame_of(({}, SAMPLES, SUCCEEDED)))

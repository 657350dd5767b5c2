"""Cumulative regret: of runs, and as a figure with slopes."""

from dataclasses import replace

import numpy as np
import pytest
from figure_parts import assert_legible, lines, texts
from stored_results import frame_of

import fasturl as fu
from fasturl.experiments.analysis import figures, statistics, summaries
from fasturl.problems.environment import Environment

POINTS = 60
N = np.arange(1, POINTS + 1) * 10
"""The numbers of trajectories of the frames below, as `frame_of` has them."""


def one_state(*rewards):
    """One level, one state, and an action for each reward."""
    table = np.array(rewards, float).reshape(1, 1, -1)
    return fu.BlockMDP(np.ones((1, 1, len(rewards), 1)), table, reward_draw="deterministic")


class Uneven(Environment):
    """A family whose best reward is another one for each seed; the other action pays 1 less."""

    horizon, n_actions, max_states, reward_range = 1, 2, 1, (-5.0, 4.0)

    def draw(self, streams):
        best = float(streams.generator("instance").integers(-4, 5))
        return one_state(best - 1, best)


def test_who_cannot_lose_has_no_regret():
    run = fu.train(one_state(0.25, 0.25), fu.OracleQ(), 500, seeds=3)
    assert run.regret.shape == run.average_reward.shape
    assert not run.regret.any()
    assert run.final_regret.tolist() == [0, 0, 0]
    rounded = fu.train(one_state(0.1, 0.1), fu.OracleQ(), 500, seeds=3)
    np.testing.assert_allclose(rounded.regret, 0, atol=1e-11)


def test_regret_counts_what_each_trajectory_lost_against_the_optimum_of_its_seed():
    run = fu.train(Uneven(), fu.OracleQ(), 60, seeds=8, points=60)
    assert len(set(run.optimal_values)) > 2
    returns = np.diff(run.average_reward * run.trajectories, prepend=0)
    lost = np.rint(run.optimal_values[:, None] - returns)
    assert set(lost.ravel()) == {0.0, 1.0}
    np.testing.assert_allclose(run.regret, lost.cumsum(axis=1), atol=1e-10)


def test_a_lucky_run_has_a_regret_below_zero():
    run = fu.train(one_state(0.5), fu.OracleQ(), 100, seeds=2, points=2)
    lucky = replace(run, average_reward=np.array([[0.75, 0.5], [0.5, 0.25]]))
    assert lucky.regret.tolist() == [[-12.5, 0], [0, 25]]


def test_the_final_regret_is_of_all_trajectories_wherever_the_curve_ends():
    env = fu.LockBernoulli(horizon=3)
    run, whole = (fu.train(env, fu.OracleQ(), 100, seeds=4, points=points) for points in ([1, 5], 100))
    np.testing.assert_array_equal(run.final_regret, whole.regret[:, -1])
    assert run.regret.tolist() == whole.regret[:, [0, 4]].tolist()
    for key, figure in (("regret_mean", np.mean), ("regret_std", np.std)):
        assert run.summary()[key] == whole.summary()[key] == figure(run.final_regret)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_slope_is_the_exponent(exponent):
    assert statistics.second_half_slope(N, 7 * N**exponent).slope == pytest.approx(exponent)


def test_the_slope_is_of_the_second_half_alone():
    regret = np.where(N < 300, N, np.sqrt(300 * N))
    assert statistics.second_half_slope(N, regret).slope == pytest.approx(0.5)
    assert statistics.second_half_slope([50, 100], [1, 2]).slope == pytest.approx(1)
    with pytest.raises(ValueError, match="a slope needs at least two different x"):
        statistics.second_half_slope([49, 100], [1, 2])


def cell(regret, agent="oracleq-lat", spread=0.2, **settings):
    """A cell of two seeds whose regret has this mean, and so many times it as its standard deviation."""
    regret = np.asarray(regret) * np.array([[1 - spread], [1 + spread]])
    return {"agent": agent, **settings}, 0.5 - regret / N[: regret.shape[1]], [True, True]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_figure_shows_mean_and_deviation_on_logarithmic_axes_with_the_slope_in_the_legend():
    figure = figures.regret(frame_of(cell(3 * np.sqrt(N), "url"), cell(0.4 * N)))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (figure.get_supxlabel(), axes.get_ylabel()) == ("number of trajectories", "cumulative regret")
    assert legend(figure) == ["url, slope 0.50", "oracleq-lat, slope 1.00"]
    line = lines(axes)["url, slope 0.50"]
    assert line.get_xdata().tolist() == N.tolist()
    np.testing.assert_allclose(line.get_ydata(), 3 * np.sqrt(N))
    corners = axes.collections[0].get_paths()[0].vertices
    heights = corners[corners[:, 0] == 600][:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((0.8 * 3 * np.sqrt(600), 1.2 * 3 * np.sqrt(600)))
    words = texts(figure).replace("\n", " ")
    assert "Line: mean over 2 seeds. Shaded: one standard deviation." in words
    assert "Slope: of the second half of the trajectories." in words
    assert "Left out" not in words
    assert_legible(figure)


def test_the_confidence_interval_is_shaded_instead():
    frame = frame_of(cell(np.sqrt(N)))
    figure = figures.regret(frame, band="ci")
    assert "95% bootstrap confidence interval of the mean" in texts(figure).replace("\n", " ")
    with pytest.raises(ValueError, match="band must be one of 'std', 'ci', got 'sem'"):
        figures.regret(frame, band="sem")
    with pytest.raises(ValueError, match="there is nothing to plot: no results"):
        figures.regret(frame[:0])


def test_every_panel_has_the_slopes_of_its_own_lines():
    exponents = {("url", 0.0): 0.5, ("url", 0.2): 1.0, ("pcid", 0.0): 0.25, ("pcid", 0.2): 0.75}
    cells = [cell(2 * N**b, agent, switch=switch) for (agent, switch), b in exponents.items()]
    figure = figures.regret(frame_of(*cells))
    assert legend(figure) == ["pcid", "url"] or legend(figure) == ["url", "pcid"]
    for axes, switch in zip(figure.axes, (0.0, 0.2), strict=True):
        slopes = [text.get_text() for text in axes.get_legend().get_texts()]
        assert slopes == [f"slope {exponents[agent, switch]:.2f}" for agent in legend(figure)]
        colours = [handle.get_color() for handle in axes.get_legend().legend_handles]
        assert colours == [lines(axes)[agent].get_color() for agent in legend(figure)]
    assert_legible(figure)


def test_a_band_that_reaches_zero_ends_at_the_edge_of_the_panel():
    (axes,) = figures.regret(frame_of(cell(np.sqrt(N), spread=1.5))).axes
    bottom, top = axes.get_ylim()
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert 0 < bottom == heights.min() < np.sqrt(10) < heights.max() < top


def test_points_that_are_not_positive_are_left_out_and_the_figure_says_so():
    regret = np.sqrt(N)
    regret[[0, 2, 40]] = [-1, 0, -5]
    figure = figures.regret(frame_of(cell(regret)))
    (axes,) = figure.axes
    (line,) = lines(axes).values()
    assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [0, 2, 40]
    assert legend(figure) == ["oracleq-lat, slope 0.50"]
    assert "Left out: 3 points whose mean is not positive." in texts(figure).replace("\n", " ")
    lone = [mark for mark in axes.lines if mark.get_linestyle() == "None"]
    assert [mark.get_xdata().tolist() for mark in lone] == [[20]]  # between two that are left out


def test_a_run_of_luck_alone_leaves_an_empty_panel_that_says_why():
    figure = figures.regret(frame_of(cell(-N)))
    assert legend(figure) == ["oracleq-lat, no slope"]
    assert "Left out: 60 points whose mean is not positive." in texts(figure).replace("\n", " ")
    assert_legible(figure)


def test_rounding_is_not_taken_for_regret():
    averages = np.cumsum(np.full((1, 600), 0.1), axis=1)[:, N - 1] / N
    frame = frame_of(({"v_star": 0.1}, averages, [True]))
    assert (frame["regret"] > 0).any()
    assert "Left out: 60 points" in texts(figures.regret(frame)).replace("\n", " ")


def test_a_curve_of_one_point_has_a_marker_and_no_slope():
    figure = figures.regret(frame_of(cell([5.0], every=10)))
    (bars,) = figure.axes[0].containers
    assert bars.lines[0].get_ydata().tolist() == [5.0]
    assert legend(figure) == ["oracleq-lat, no slope"]


def test_a_setting_that_two_parts_have_is_written_with_its_owner():
    both = {"agent": "url", "oracle": "dbscan", "learner": "qlearning", "oracle.epsilon": None}
    frame = frame_of(*(cell(N, **both, **{"learner.epsilon": share}) for share in (0.1, 0.2)))
    with pytest.raises(ValueError, match=r"of several parts .*: write oracle\.epsilon or learner\.epsilon"):
        figures.success(frame, x="epsilon")
    assert figures.success(frame, x="learner.epsilon").axes[0].lines[0].get_xdata().tolist() == [0.1, 0.2]
    with pytest.raises(ValueError, match=r"oracle\.epsilon is not a number in these results"):
        figures.success(frame, x="oracle.epsilon")


def test_a_setting_that_the_agent_itself_lacks_is_that_of_its_part():
    frame = frame_of(
        cell(N, agent="oracleq-lat"),
        *(cell(N, "url", learner="oracleq", **{"learner.confidence": share}) for share in (0.1, 0.2)),
    )
    frame.loc[frame["agent"] == "url", "agent.confidence"] = np.nan
    own = summaries.select(frame, ["agent=oracleq-lat"])
    assert figures.success(own, x="confidence").axes[0].lines[0].get_xdata().tolist() == [0.001]
    url = summaries.select(frame, ["agent=url"])
    assert figures.success(url, x="confidence").axes[0].lines[0].get_xdata().tolist() == [0.1, 0.2]

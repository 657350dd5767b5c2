"""The figure of URL against PCID where PCID's assumptions fail: its points, its table, and what is drawn."""

import numpy as np
import pandas as pd
import pytest
from command_line import fasturl

import fasturl as fu
from fasturl.experiments import load, reproduce
from fasturl.experiments.paper import assumptions
from fasturl.experiments.tuning.problem import TUNING_SEEDS

IDENTIFIABILITY, REACHABILITY = assumptions.AXES
SCALE = 0.025
"""Runs of 500 trajectories: enough for a figure, too few to learn."""


@pytest.fixture(scope="module")
def quick_look(tmp_path_factory):
    out = tmp_path_factory.mktemp("assumptions") / "out"
    seeds = list(TUNING_SEEDS)[:2]
    return reproduce(out, seeds=seeds, only="assumptions", episodes_scale=SCALE, n_jobs=1, progress=False)


def test_both_agents_have_the_same_trajectories_at_every_point():
    cells = assumptions.cells()
    points = {(cell.env, cell.env_settings[dial]) for cell in cells for dial in [_dial(cell)]}
    expected = [(axis.env, value) for axis in assumptions.AXES for value in axis.values]
    assert points == set(expected)
    assert [cell.agent for cell in cells] == ["url", "pcid"] * len(expected)
    assert {(cell.episodes, cell.env_settings["horizon"]) for cell in cells} == {(20_000, 20)}


def _dial(cell):
    return next(axis.dial for axis in assumptions.AXES if axis.env == cell.env)


def test_url_has_one_setting_everywhere():
    settings = [cell.agent_settings for cell in assumptions.cells() if cell.agent == "url"]
    assert all(one == settings[0] for one in settings)


@pytest.mark.parametrize("axis", assumptions.AXES, ids=lambda axis: axis.dial)
def test_pcid_has_the_best_of_its_scores_at_every_point(axis):
    scores = assumptions._scores()[axis.dial]
    assert set(scores) == {f"{value:g}" for value in axis.values}
    for value in axis.values:
        settings = assumptions.pcid_settings(axis, value)
        chosen = f"{settings['n_clusters']}x{settings['samples_per_level']}"
        at_point = scores[f"{value:g}"]
        assert len(at_point) > 1
        assert at_point[chosen] == max(at_point.values())


@pytest.mark.parametrize("switch", [0.0, 0.3, 0.5])
def test_the_pasts_of_the_live_states_come_together_as_switch_goes_to_one_half(switch):
    """The backward distributions differ by |1 - 2 switch| in total variation."""
    p = fu.LockBernoulli(3, switch).instance(1).transitions[1, :2, :, :2]
    pasts = p / p.sum(axis=(0, 1))
    distance = np.abs(pasts[..., 0] - pasts[..., 1]).sum() / 2
    assert distance == pytest.approx(abs(1 - 2 * switch))


@pytest.mark.parametrize("reach", REACHABILITY.values)
def test_the_dotted_line_is_what_a_policy_is_worth_that_is_blind_to_the_rare_state(reach):
    """By a recursion on the shares of episodes that are in a good state and in the detour."""
    good, detour = 1.0, 0.0
    for _ in range(assumptions.HORIZON):
        good, detour = (1 - reach) * good + detour / 4, reach * good
    assert assumptions.blind_share(REACHABILITY, reach) == pytest.approx(good + detour)
    assert assumptions.blind_share(IDENTIFIABILITY, 0.5) is None


def test_the_share_that_is_lost_is_about_what_the_family_says():
    reach, lock = 0.02, fu.DetourLock(assumptions.HORIZON)
    lost = 1 - assumptions.blind_share(REACHABILITY, reach)
    assert lost == pytest.approx(1 - (1 - reach * (1 - 1 / lock.n_actions)) ** lock.horizon, abs=0.02)


def test_a_folder_has_the_figure_and_its_numbers(quick_look):
    assert quick_look.figures == ("assumptions",)
    assert quick_look.summary.empty
    assert quick_look.claims == []
    assert (quick_look.folder / "assumptions.png").read_bytes().startswith(b"\x89PNG")
    assert (quick_look.folder / "assumptions.pdf").read_bytes().startswith(b"%PDF")
    table = pd.read_csv(quick_look.folder / "assumptions.csv")
    n_points = sum(len(axis.values) for axis in assumptions.AXES)
    assert len(table) == 2 * n_points
    assert (table["seeds"] == 2).all()
    for name in ("success_rate", "share_mean"):
        low, high = table[f"{name.split('_')[0]}_low"], table[f"{name.split('_')[0]}_high"]
        assert ((low <= table[name] + 1e-12) & (table[name] <= high + 1e-12)).all()


def test_shares_are_values_of_final_policies_against_v_star(quick_look):
    frame = load(quick_look.folder)
    table = assumptions.table(frame).set_index(["dial", "value", "agent"])
    runs = frame[(frame["env"] == "detour-lock") & (frame["reach"] == 0.3) & (frame["agent"] == "url")]
    values = runs.drop_duplicates("seed")["value"]
    assert table.loc[("reach", 0.3, "url"), "share_mean"] == pytest.approx(values.mean() / 0.5)


def test_a_panel_has_a_line_for_each_agent_and_the_assumption_fails_to_the_right(quick_look):
    drawing = assumptions.draw(load(quick_look.folder))
    success, _, share, reach_share = drawing.axes
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == [
        *("URL", "PCID", "optimal but for the rare state (exact)"),
    ]
    assert success.get_xlim()[0] < success.get_xlim()[1]
    assert reach_share.get_xlim()[0] > reach_share.get_xlim()[1]  # a rarer state stands farther right
    assert "trajectories, 2 seeds" in drawing.legends[0].get_title().get_text()
    assert share.get_ylabel() == "value of the final policy / V*"


def test_the_command_names_the_figure(quick_look):
    words = ["--only", "assumptions", "--seeds", "10000:10002", "--episodes-scale", str(SCALE)]
    done = fasturl("reproduce", *words, "--out", str(quick_look.folder))
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stdout.split())
    assert "0 of 56 runs to do" in printed
    assert "figures assumptions.png (and PDF), summary.csv, assumptions.csv and claims.json" in printed

"""The paper's claims, judged on made-up results: figure by figure, form by form, each with its threshold and
whose number that is."""

import dataclasses
import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

from fasturl.experiments.paper import cells as paper
from fasturl.experiments.paper.claims import Claim, claim_in_words, judge, write_claims
from fasturl.experiments.paper.summary import success_table, summarise

ORACLES = ("pca-dbscan", "pca-kmeans")
DECODER_TRAJECTORIES = {5: 100.0, 10: 800.0, 20: 2500.0}
AS_PUBLISHED = {
    "url": 0.48,
    "url-as-published": 0.47,
    "oracleq-lat": 0.49,
    "qlearning-lat": 0.1,
    "pcid": 0.3,
    "oracleq-obs": 0.001,
    "qlearning-obs": 0.0,
}
FAR, SKYLINE, BASELINE, PCID, NEAR_OPTIMAL, DECODER = (
    "raw observations",
    "skyline",
    "baseline",
    "PCID",
    "near-optimal",
    "decoder",
)


def summary(figures=tuple(paper.FIGURES), **averages):
    """A summary in which every panel has the given average reward for each agent, and success rates of 1."""
    rows = [
        {
            "figure": figure,
            "horizon": horizon,
            "switch": switch,
            "agent": agent,
            "oracle": oracle,
            "average_reward_mean": value,
            "success_rate": 1.0,
            "decoder_trajectories": DECODER_TRAJECTORIES[horizon] if oracle else np.nan,
        }
        for figure, horizon, switch in product(figures, paper.HORIZONS, paper.SWITCHES)
        for agent, value in averages.items()
        for oracle in (ORACLES if agent == "url-as-published" else ["kmeans" if agent == "url" else None])
        if figure == "fig1" or agent not in paper.BITS_ONLY
    ]
    return pd.DataFrame(rows)


def verdicts(table, subject, figure="LockBernoulli"):
    """The verdict of each form on a claim about a subject."""
    return {
        claim.form: claim.verdict
        for claim in judge(table)
        if claim.figure == figure and subject in claim.claim
    }


def of(table, subject, figure="LockBernoulli", form="url"):
    (claim,) = (
        claim
        for claim in judge(table)
        if (claim.figure, claim.form) == (figure, form) and subject in claim.claim
    )
    return claim


def test_every_claim_holds_for_results_such_as_the_published_ones():
    judged = judge(summary(**AS_PUBLISHED))
    assert {claim.verdict for claim in judged} == {"holds"}
    n_forms = 1 + len(ORACLES)
    on_url, on_decoders = 4 * n_forms, len(ORACLES)
    assert len(judged) == 2 + 3 * (on_url + on_decoders)


def test_each_figure_and_form_is_judged_by_itself():
    table = summary(**AS_PUBLISHED)
    worse = (table["figure"] == "fig3") & (table["oracle"] == "pca-dbscan")
    table.loc[worse, "average_reward_mean"] = 0.2
    failing = {(claim.figure, claim.form) for claim in judge(table) if claim.verdict == "fails"}
    assert failing == {("LockGaussian 0.2", "url-as-published (pca-dbscan)")}


def test_only_figures_that_were_run_are_judged():
    judged = judge(summary(["fig2"], **AS_PUBLISHED))
    assert {claim.figure for claim in judged} == {"LockGaussian 0.1"}


@pytest.mark.parametrize(
    ("change", "subject", "form"),
    [
        ({"oracleq-obs": 0.25}, FAR, "oracleq-obs"),
        ({"qlearning-obs": 0.25}, FAR, "qlearning-obs"),
        ({"url": 0.44}, SKYLINE, "url"),
        ({"qlearning-lat": 0.24}, BASELINE, "url"),
        ({"pcid": 0.48}, PCID, "url"),
    ],
)
def test_a_claim_fails_when_the_figures_say_otherwise(change, subject, form):
    assert verdicts(summary(**(AS_PUBLISHED | change)), subject)[form] == "fails"


@pytest.mark.parametrize(
    ("rate", "bits", "reals"),
    [(0.8, "holds", "holds"), (0.76, "fails", "holds"), (0.75, "fails", "fails")],
)
def test_80_percent_is_met_by_80_percent_and_over_75_percent_is_not_met_by_75_percent(rate, bits, reals):
    table = summary(**AS_PUBLISHED)
    at_one_switch = (table["horizon"] == 20) & (table["switch"] == 0.5)
    table.loc[table["agent"].str.startswith("url") & at_one_switch, "success_rate"] = rate
    assert set(verdicts(table, NEAR_OPTIMAL).values()) == {bits}
    for figure in ("LockGaussian 0.1", "LockGaussian 0.2"):
        assert set(verdicts(table, NEAR_OPTIMAL, figure).values()) == {reals}
    assert of(table, NEAR_OPTIMAL).measured == f"100% at switch 0.2, {rate:.0%} at switch 0.5"


def test_the_papers_rates_are_never_met_by_our_form_without_saying_so():
    for claim in judge(summary(**AS_PUBLISHED)):
        assert ("our practical form" in claim.note) == (claim.form == "url")
        assert claim.note in claim_in_words(claim)


def test_every_threshold_and_number_of_episodes_has_its_source():
    judged = judge(summary(**AS_PUBLISHED))
    assert all(claim.threshold and claim.source and claim.episodes for claim in judged)
    assert "20,000 at H = 5 (example of the published program)" in judged[0].episodes
    sources = {claim.source for claim in judged if "near-optimal with" in claim.claim}
    assert sources == {"the paper's share; that 0.9 V* is near-optimal is ours"}
    assert of(summary(**AS_PUBLISHED), PCID).source == "ours"
    on_reals = of(summary(**AS_PUBLISHED), PCID, "LockGaussian 0.2")
    assert on_reals.source == "ours; the paper says it of LockBernoulli only"


def test_a_form_above_the_skyline_is_flagged():
    assert of(summary(**AS_PUBLISHED), SKYLINE).note == "our practical form"
    table = summary(**(AS_PUBLISHED | {"url": 0.495}))
    claim = of(table, SKYLINE)
    assert claim.verdict == "holds"
    assert "above the skyline in 9 of 9 panels" in claim.note


def test_nobody_is_as_good_as_a_skyline_that_earns_nothing():
    claim = of(summary(**dict.fromkeys(AS_PUBLISHED, 0.0)), SKYLINE)
    assert (claim.verdict, claim.measured) == ("fails", "0 of 9 panels")


def test_agents_that_solve_the_shortest_lock_are_not_far_from_optimal():
    table = summary(**AS_PUBLISHED)
    short = table["agent"].isin(paper.BITS_ONLY) & (table["horizon"] == 5)
    table.loc[short, ["average_reward_mean", "success_rate"]] = 0.447, 0.98
    claim = of(table, FAR, form="qlearning-obs")
    assert claim.verdict == "fails"
    assert "0.4470 at H = 5 (98%), 0.0000 at H = 10" in claim.measured


@pytest.mark.parametrize(("horizon", "most"), [(5, 100), (10, 1000), (20, 2500)])
def test_the_decoder_may_take_as_many_trajectories_as_the_appendix_says(horizon, most):
    form = "url-as-published (pca-kmeans)"
    table = summary(**AS_PUBLISHED)
    there = (table["oracle"] == "pca-kmeans") & (table["horizon"] == horizon)
    for trajectories, verdict in ((most, "holds"), (most + 1, "fails")):
        table.loc[there & (table["switch"] == 0.2), "decoder_trajectories"] = trajectories
        assert verdicts(table, DECODER)[form] == verdict
    assert f"{most + 1:,} at H = {horizon}" in of(table, DECODER, form=form).measured


@pytest.mark.parametrize(
    ("absent", "subject", "form", "measured"),
    [
        ("url-as-published", NEAR_OPTIMAL, "url-as-published", "not in these results: url-as-published"),
        ("url-as-published", DECODER, "url-as-published", "not in these results: url-as-published"),
        ("oracleq-obs", FAR, "oracleq-obs", "not in these results: oracleq-obs"),
        ("pcid", PCID, "url", "not in these results: pcid"),
    ],
)
def test_what_the_results_lack_is_told(absent, subject, form, measured):
    table = summary(**{agent: value for agent, value in AS_PUBLISHED.items() if agent != absent})
    claim = of(table, subject, form=form)
    assert (claim.verdict, claim.measured) == ("missing", measured)


def test_an_oracle_that_was_run_at_one_horizon_is_judged_by_what_there_is():
    table, form = summary(**AS_PUBLISHED), "url-as-published (pca-dbscan)"
    table = table[(table["oracle"] != "pca-dbscan") | (table["horizon"] == 5)]
    for subject in (BASELINE, NEAR_OPTIMAL):
        claim = of(table, subject, form=form)
        assert (claim.verdict, claim.measured) == ("missing", f"not in these results: {form} at H = 20")
    claim = of(table, PCID, form=form)
    assert (claim.verdict, claim.measured) == ("holds", "3 of 3 panels")
    assert claim.note == "3 of 9 panels were run"


def test_runs_that_do_not_tell_the_trajectories_of_the_decoder_are_not_judged_by_them():
    table = summary(**AS_PUBLISHED).assign(decoder_trajectories=np.nan)
    assert set(verdicts(table, DECODER).values()) == {"missing"}


def test_a_file_has_every_field_of_every_claim(tmp_path):
    judged = judge(summary(**AS_PUBLISHED))
    write_claims(tmp_path / "claims.json", judged)
    assert json.loads((tmp_path / "claims.json").read_text()) == [
        dataclasses.asdict(claim) for claim in judged
    ]


def test_a_claim_in_words_has_all_of_it():
    claim = Claim("URL wins", "LockBernoulli", "url", "all", "ours", "20,000", "9 of 9", "holds", "so what")
    assert claim_in_words(claim) == (
        "LockBernoulli, url (so what): URL wins. Measured: 9 of 9. Threshold: all (ours)."
    )


def results(agent, oracle, cell):
    """Stored rows of two seeds in one panel of Figure 1."""
    return pd.DataFrame(
        {
            "cell": cell,
            "seed": [0, 1],
            "trajectories": 20,
            "average_reward": 0.4,
            "regret": 2.0,
            "value": 0.5,
            "value_error": 0.0,
            "optimal_value": 0.5,
            "near_optimal": True,
            "warnings": 0,
            "env": "lock-bernoulli",
            "horizon": 5,
            "switch": 0.0,
            "agent": agent,
            "oracle": oracle,
            "agent.model": None,
            "episodes": 20,
        }
    )


def test_a_summary_has_a_row_for_each_oracle_and_the_median_of_the_decoders_trajectories():
    frame = pd.concat(
        [results("url", "kmeans", "u"), results("oracleq-lat", None, "l"), results("url", "gmm", "v")],
        ignore_index=True,
    )
    about = [
        {"cell": "u", "seeds": [0], "diagnostics": [{"decoder_trajectories": 100}]},
        {
            "cell": "u",
            "seeds": [1, 7],  # seed 7 is not among the results that are shown
            "diagnostics": [{"decoder_trajectories": 200}, {"decoder_trajectories": 9000}],
        },
        {"cell": "l", "seeds": [0, 1], "diagnostics": [{}, {}]},
    ]
    table = summarise(frame, about).set_index(["agent", "oracle"])
    assert table.loc[("url", "kmeans"), "decoder_trajectories"] == 150
    assert np.isnan(table.loc[("url", "gmm"), "decoder_trajectories"])
    headings = [column.header for column in success_table(summarise(frame, about)).columns]
    assert headings == ["lock", "H", "switch", "url\ngmm", "url\nkmeans", "oracleq\nlat"]

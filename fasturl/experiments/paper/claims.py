"""What the paper says of its experiments (Feng et al., 2020: the Results paragraph and the appendix on
experiments), each statement judged by our runs, figure by figure and form by form.

The paper's statements on URL are about the procedure of its appendix, which is our `url-as-published`, a cell
for each oracle of the paper. `url` is our own practical form: it is judged by the same measures, in rows that
name it. Where the paper gives a number this is the threshold; where it says "mostly" or "far" the threshold
is ours, and so is what near-optimal means: a final policy worth at least 0.9 V*. Every row tells which.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...problems.locks import OPTIMAL_VALUE as V_STAR
from .cells import BITS_ONLY, EPISODES, FIGURES, HORIZONS, SWITCHES, URL_AS_PUBLISHED, figure_name
from .published import DECODER_RANGES, decoder_range_in_words
from .summary import DECODER_TRAJECTORIES

if TYPE_CHECKING:
    import pandas

WITHIN = 0.9
"""As good as the skyline: from this share of its average reward on. Ours: the paper has no number."""
FAR = 0.5
"""Far from optimal: an average reward below this share of V*. Ours: the paper has no number."""
MUCH = 2.0
"""Much better: more than so many times the average reward. Ours: the paper has no number."""
EPISODES_SOURCE = (
    f"{EPISODES[5]:,} at H = 5 (example of the published program), {EPISODES[10]:,} at H = 10 and "
    f"{EPISODES[20]:,} at H = 20 (ours: the text of the paper tells none)"
)
_FORMS = ("url", URL_AS_PUBLISHED)
_OURS = "our practical form"
_LONG = 20
"""The horizon of which the paper says most."""
_PANELS = len(HORIZONS) * len(SWITCHES)
"""Panels of a figure."""

HOLDS, FAILS, MISSING = "holds", "fails", "missing"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper on one figure, judged for one form.

    claim, figure
        What is said, and of which figure, by its environment.
    form
        The agent that is judged, with its oracle where there are several.
    threshold, source
        What it takes to hold, and whose number that is: the paper's or ours.
    episodes
        How long the runs are, and whose number that is.
    measured, verdict
        What came out; "holds", "fails", or "missing" where the results lack what it takes.
    note
        What a reader has to know before comparing; may be empty.
    """

    claim: str
    figure: str
    form: str
    threshold: str
    source: str
    episodes: str
    measured: str
    verdict: str
    note: str = ""


@dataclass(frozen=True)
class _Result:
    """What a measure found."""

    holds: bool
    measured: str
    note: str = ""


@dataclass(frozen=True)
class _Statement:
    """A statement of the paper and how it is measured.

    figures, said_of
        The figures that it is judged on, and those that the paper says it of.
    agents
        The agents that it is about, each judged by itself.
    needs
        Agents that these are compared with.
    measure
        From the panels of a form: one row for each horizon and switch, with the results of the form, and the
        average reward of each agent of `needs` in a column of its name.
    result
        A column of results without which it cannot be judged.
    horizon
        The horizon without whose panels it cannot be judged; None where any will do.
    """

    claim: str
    threshold: str
    source: str
    figures: tuple[str, ...]
    said_of: tuple[str, ...]
    agents: tuple[str, ...]
    needs: tuple[str, ...]
    measure: Callable[[pandas.DataFrame], _Result]
    result: str = "average_reward_mean"
    horizon: int | None = None

    def source_on(self, figure: str) -> str:
        if figure in self.said_of:
            return self.source
        names = " and ".join(figure_name(one) for one in self.said_of)
        return f"{self.source}; the paper says it of {names} only"


def judge(summary: pandas.DataFrame) -> list[Claim]:
    """Every statement on the figures that a summary has, as `summary.summarise` makes it."""
    present = set(summary["figure"])
    return [
        claim
        for figure in FIGURES
        if figure in present
        for statement in STATEMENTS
        if figure in statement.figures
        for claim in _judge_statement(statement, figure, summary[summary["figure"] == figure])
    ]


def _judge_statement(statement: _Statement, figure: str, rows: pandas.DataFrame) -> Iterator[Claim]:
    for agent in statement.agents:
        for form, panels in _forms(agent, rows):
            missing = [name for name in statement.needs if name not in set(rows["agent"])]
            if panels.empty or panels[statement.result].isna().all():
                missing.insert(0, form)
            elif statement.horizon is not None and statement.horizon not in set(panels["horizon"]):
                missing.insert(0, f"{form} at H = {statement.horizon}")
            notes = [_OURS] if agent == "url" else []
            if 0 < len(panels) < _PANELS:
                notes.append(f"{len(panels)} of {_PANELS} panels were run")
            if missing:
                result, verdict = _Result(False, f"not in these results: {', '.join(missing)}"), MISSING
            else:
                result = statement.measure(_beside(panels, rows, statement.needs))
                verdict = HOLDS if result.holds else FAILS
            yield Claim(
                statement.claim,
                figure_name(figure),
                form,
                statement.threshold,
                statement.source_on(figure),
                EPISODES_SOURCE,
                result.measured,
                verdict,
                "; ".join(filter(None, [*notes, result.note])),
            )


def _forms(agent: str, rows: pandas.DataFrame) -> Iterator[tuple[str, pandas.DataFrame]]:
    """The name and the panels of each form of an agent: one for each oracle of the form as published."""
    own = rows[rows["agent"] == agent]
    if agent != URL_AS_PUBLISHED or own.empty:
        yield agent, own
        return
    for oracle, panels in own.groupby("oracle"):
        yield f"{agent} ({oracle})", panels


def _beside(panels: pandas.DataFrame, rows: pandas.DataFrame, agents: Sequence[str]) -> pandas.DataFrame:
    """Panels with the average reward of other agents, each in a column of its name."""
    for agent in agents:
        others = rows[rows["agent"] == agent].set_index(["horizon", "switch"])["average_reward_mean"]
        panels = panels.join(others.rename(agent), on=["horizon", "switch"])
    return panels


# --- measures ---


def _far_from_optimal(panels: pandas.DataFrame) -> _Result:
    best = panels.groupby("horizon")["average_reward_mean"].max()
    rates = panels.groupby("horizon")["success_rate"].max()
    texts = (f"{value:.4f} at H = {horizon} ({rates[horizon]:.0%})" for horizon, value in best.items())
    return _Result(
        bool((best < FAR * V_STAR).all()),
        f"best average reward of a switch, and most near-optimal seeds: {', '.join(texts)}; V* = {V_STAR:g}",
    )


def _as_good_as_the_skyline(panels: pandas.DataFrame) -> _Result:
    skyline = panels["oracleq-lat"]
    ratio = (panels["average_reward_mean"] / skyline).where(skyline > 0)  # none where it earns nothing
    as_good = ratio >= WITHIN
    spread = f", ratios {ratio.min():.3f} to {ratio.max():.3f}" if ratio.notna().any() else ""
    above = int((ratio > 1).sum())
    note = f"above the skyline in {above} of {len(panels)} panels, which is none there" if above else ""
    return _Result(bool(as_good.mean() > 0.5), f"{as_good.sum()} of {len(panels)} panels{spread}", note)


def _better_than_the_baseline(panels: pandas.DataFrame) -> _Result:
    own, baseline = panels["average_reward_mean"], panels["qlearning-lat"]
    better, long = own > baseline, panels["horizon"] == _LONG
    return _Result(
        bool((own > MUCH * baseline)[long].all() and better.mean() > 0.5),
        f"better in {better.sum()} of {len(panels)} panels; at H = {_LONG} at least {own[long].min():.3f} "
        f"against at most {baseline[long].max():.3f}",
    )


def _better_than_pcid(panels: pandas.DataFrame) -> _Result:
    better = panels["average_reward_mean"] > panels["pcid"]
    return _Result(bool(better.mean() > 0.5), f"{better.sum()} of {len(panels)} panels")


def _rates(panels: pandas.DataFrame) -> tuple[pandas.Series, str]:
    """The success rates that the paper speaks of, and the same in words."""
    chosen = panels[(panels["horizon"] == _LONG) & (panels["switch"] > 0)]
    texts = (f"{row.success_rate:.0%} at switch {row.switch:g}" for row in chosen.itertuples())
    return chosen["success_rate"], ", ".join(texts)


def _near_optimal_at_least_80(panels: pandas.DataFrame) -> _Result:
    rates, words = _rates(panels)
    return _Result(bool((rates >= 0.8).all()), words)


def _near_optimal_over_75(panels: pandas.DataFrame) -> _Result:
    rates, words = _rates(panels)
    return _Result(bool((rates > 0.75).all()), words)


def _decoder_is_stable_early(panels: pandas.DataFrame) -> _Result:
    medians = panels.groupby("horizon")[DECODER_TRAJECTORIES].agg(["min", "max"])
    texts = []
    for row in medians.itertuples():
        span = f"{row.min:,.0f}" if row.min == row.max else f"{row.min:,.0f} to {row.max:,.0f}"
        texts.append(f"{span} at H = {row.Index}")
    in_time = [most <= DECODER_RANGES[int(horizon)][1] for horizon, most in medians["max"].items()]
    return _Result(all(in_time), f"medians over seeds, by switch: {', '.join(texts)}")


_ALL = tuple(FIGURES)
_NEAR_OPTIMAL = "the paper's share; that 0.9 V* is near-optimal is ours"
STATEMENTS = (
    _Statement(
        claim="learning on raw observations stays far from optimal, at small horizons too",
        threshold=f"average reward below {FAR:g} V* at every horizon",
        source="ours",
        figures=("fig1",),
        said_of=("fig1",),
        agents=BITS_ONLY,
        needs=(),
        measure=_far_from_optimal,
    ),
    _Statement(
        claim="URL is mostly as good as the skyline OracleQ-lat",
        threshold=f"at least {WITHIN:g} of its average reward in more than half of the panels",
        source="ours",
        figures=_ALL,
        said_of=("fig1",),
        agents=_FORMS,
        needs=("oracleq-lat",),
        measure=_as_good_as_the_skyline,
    ),
    _Statement(
        claim=f"URL is much better than the baseline QLearning-lat, above all at H = {_LONG}",
        threshold="higher average reward in more than half of the panels, "
        f"over {MUCH:g} times at H = {_LONG}",
        source="ours",
        figures=_ALL,
        said_of=("fig1",),
        agents=_FORMS,
        needs=("qlearning-lat",),
        measure=_better_than_the_baseline,
        horizon=_LONG,
    ),
    _Statement(
        claim="URL outperforms PCID in most cases",
        threshold="higher average reward in more than half of the panels",
        source="ours",
        figures=_ALL,
        said_of=("fig1",),
        agents=_FORMS,
        needs=("pcid",),
        measure=_better_than_pcid,
    ),
    _Statement(
        claim=f"at H = {_LONG}, URL is near-optimal with a probability of 80 % at switch 0.2 and 0.5",
        threshold="80 % of the seeds or more at each",
        source=_NEAR_OPTIMAL,
        figures=("fig1",),
        said_of=("fig1",),
        agents=_FORMS,
        needs=(),
        measure=_near_optimal_at_least_80,
        horizon=_LONG,
    ),
    _Statement(
        claim=f"at H = {_LONG}, URL is near-optimal with a probability over 75 % at switch 0.2 and 0.5",
        threshold="more than 75 % of the seeds at each",
        source=_NEAR_OPTIMAL,
        figures=("fig2", "fig3"),
        said_of=("fig2", "fig3"),
        agents=_FORMS,
        needs=(),
        measure=_near_optimal_over_75,
        horizon=_LONG,
    ),
    _Statement(
        claim=f"the decoder is stable after {decoder_range_in_words(5)} trajectories at H = 5, "
        f"{decoder_range_in_words(10)} at H = 10 and {decoder_range_in_words(_LONG)} at H = {_LONG}",
        threshold="no more than the greatest of these, in the median over seeds of every switch",
        source="the paper's numbers (appendix); that fewer will do is ours",
        figures=_ALL,
        said_of=_ALL,
        agents=(URL_AS_PUBLISHED,),
        needs=(),
        measure=_decoder_is_stable_early,
        result=DECODER_TRAJECTORIES,
    ),
)


def write_claims(path: Path, judged: Sequence[Claim]) -> None:
    """As the report reads them."""
    path.write_text(json.dumps([asdict(claim) for claim in judged], indent=1) + "\n")


def claim_in_words(claim: Claim) -> str:
    """All of a claim on one line but its verdict."""
    form = f"{claim.form} ({claim.note})" if claim.note else claim.form
    return (
        f"{claim.figure}, {form}: {claim.claim}. Measured: {claim.measured}. "
        f"Threshold: {claim.threshold} ({claim.source})."
    )

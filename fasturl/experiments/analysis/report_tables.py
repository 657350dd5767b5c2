"""The tables of the report, as HTML: claims, results, configuration and timings."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..._base import checks
from ..running.cells import flat_settings
from . import summaries
from .charts import needed_in_words
from .panels import missing, title, varying
from .style import duration
from .summaries import in_words, show

if TYPE_CHECKING:
    import pandas

Columns = list[tuple[str, str]]
"""Name and CSS class of each column of a table; without a class it holds numbers."""


VERDICTS = {"holds": "✓ holds", "fails": "✗ fails", "missing": "? missing"}
"""The verdicts on claims, and how the page shows them."""
_CLAIM_COLUMNS = ("claim", "figure", "form", "threshold", "source", "episodes", "measured", "note")
"""What is told of a claim besides its verdict; claim and measured are always there."""


def checked_claim(content: Any) -> dict[str, str]:
    """A claim of a file; KeyError where it lacks what every claim has."""
    claim = {name: str(content.get(name, "")) for name in _CLAIM_COLUMNS}
    return claim | {
        "claim": str(content["claim"]),
        "measured": str(content["measured"]),
        "verdict": checks.choice("verdict", content["verdict"], VERDICTS),
    }


def claims_table(claims: list[dict[str, str]], caveat: str) -> str:
    """The claims of a paper and whether they hold, with the columns that any of them fills; nothing without
    claims."""
    if not claims:
        return ""
    names = [name for name in _CLAIM_COLUMNS if any(one[name] for one in claims)]
    columns: Columns = [("Verdict", "word"), *((name.capitalize(), "word") for name in names)]
    rows = []
    for one in claims:
        cells = "".join(f"<td>{html.escape(one[name])}</td>" for name in names if name != "claim")
        verdict = f'<td class="{one["verdict"]}">{VERDICTS[one["verdict"]]}</td>'
        rows.append(f'<tr>{verdict}<th scope="row">{html.escape(one["claim"])}</th>{cells}</tr>')
    counts = [f"{sum(one['verdict'] == 'holds' for one in claims)} of {len(claims)} hold"]
    if missing := sum(one["verdict"] == "missing" for one in claims):
        counts.append(f"{missing} cannot be judged")
    notice = f'<p class="notice">{html.escape(caveat)}</p>' if caveat else ""
    table = f'<table class="claims">{_head(columns)}<tbody>{"".join(rows)}</tbody></table>'
    return (
        f'<section aria-labelledby="claims-title">'
        f'<h2 id="claims-title">Claims: {", ".join(counts)}</h2>'
        f'{notice}<div class="scroll">{table}</div></section>'
    )


def results_table(frame: pandas.DataFrame, table: pandas.DataFrame) -> str:
    """What came out, a row for each cell."""
    labels = summaries.labels(frame)
    settings = [name for name in summaries.env_settings(frame) if name == "horizon" or name in varying(frame)]
    columns: Columns = [("Environment", "word")]
    columns += [("H" if name == "horizon" else in_words(name).capitalize(), "") for name in settings]
    columns += [
        ("Agent", "word"),
        ("Seeds", ""),
        ("Success rate", ""),
        ("Average reward", ""),
        ("its IQM", ""),
        ("Regret", ""),
    ]
    columns += [("Value", ""), ("its IQM", ""), ("Trajectories to near-optimal", ""), ("Warned", "")]
    rows = []
    for _, row in table.iterrows():
        texts = [
            str(row["env"]),
            *("\u2013" if missing(row[name]) else show(row[name]) for name in settings),
            labels[row["cell"]],
            f"{row['seeds']}",
            f"{row['success_rate']:.0%} {_interval(row, 'success', '.0%')}",
            f"{row['average_reward_mean']:.3f}\u00a0±\u00a0{row['average_reward_std']:.3f} "
            f"{_interval(row, 'average_reward', '.3f')}",
            f"{row['average_reward_iqm']:.3f}",
            f"{_amount(row['regret_mean'])}\u00a0±\u00a0{_amount(row['regret_std'])} "
            f"[{_amount(row['regret_low'])}, {_amount(row['regret_high'])}]",
            f"{row['value_mean']:.3f} {_interval(row, 'value', '.3f')}",
            f"{row['value_iqm']:.3f}",
            needed_in_words(row),
            f"{row['warned']}",
        ]
        rows.append(_row(row["cell"], columns, texts))
    return f'<table id="results" class="cells">{_head(columns)}<tbody>{"".join(rows)}</tbody></table>'


def warnings_table(frame: pandas.DataFrame, table: pandas.DataFrame, about: list[dict[str, Any]]) -> str:
    """What agents have warned of, a row for each cell and sentence; nothing where they have not."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for block in about:
        for seed, diagnostics in zip(block["seeds"], block["diagnostics"], strict=True):
            for sentence in diagnostics.get("warnings", []):
                seeds.setdefault((block["cell"], sentence), set()).add(seed)
    if not seeds:
        return ""
    columns: Columns = [("Environment", "word"), ("Agent", "word"), ("Warning", "word"), ("Seeds", "")]
    places, labels = ["env", *summaries.env_settings(frame)], summaries.labels(frame)
    rows = []
    for at, row in table.iterrows():
        for (cell, sentence), warned_seeds in seeds.items():
            if cell == row["cell"]:
                where, share = title(table.loc[[at], places]), f"{len(warned_seeds)} of {row['seeds']}"
                rows.append(_row(cell, columns, (where, labels[cell], sentence, share)))
    return (
        '<section aria-labelledby="warnings-title"><h2 id="warnings-title">Warnings</h2>'
        '<p class="note">What agents found amiss in their own runs, without knowing the truth.</p>'
        '<div class="scroll" role="region" aria-labelledby="warnings-title" tabindex="0">'
        f'<table class="cells">{_head(columns)}<tbody>{"".join(rows)}</tbody></table></div></section>'
    )


def configuration_table(table: pandas.DataFrame, frame: pandas.DataFrame, about: list[dict[str, Any]]) -> str:
    """What was run, a row for each cell."""
    columns: Columns = [("Environment", "word"), ("Agent", "word"), ("Settings of the agent", "settings")]
    columns += [("Episodes", ""), ("Time", ""), ("Id", "word small")]
    blocks: dict[str, list[dict[str, Any]]] = {}
    for block in about:
        blocks.setdefault(block["cell"], []).append(block)
    places = ["env", *summaries.env_settings(frame)]
    rows = []
    for at, row in table.iterrows():
        config, oracle = blocks[row["cell"]][0]["config"], blocks[row["cell"]][0]["oracle"]
        seconds = sum(block["wall_seconds"] for block in blocks[row["cell"]])
        texts = [
            title(table.loc[[at], places]),
            str(row["agent"]),
            _settings_in_words(config["agent_settings"] | ({"oracle": oracle} if oracle else {})),
            f"{config['episodes']:,}",
            duration(seconds),
            row["cell"],
        ]
        rows.append(_row(row["cell"], columns, texts))
    return f'<table class="cells">{_head(columns)}<tbody>{"".join(rows)}</tbody></table>'


def _settings_in_words(settings: Mapping[str, Any]) -> str:
    flat = flat_settings(settings)
    return ", ".join(
        f"{name.replace('_', ' ')} {show(value)}" for name, value in flat.items() if value is not None
    )


def timings_list(about: list[dict[str, Any]]) -> str:
    """How long all runs took, and with which versions of packages."""
    seconds = sum(block["wall_seconds"] for block in about)
    runs = sum(len(block["seeds"]) for block in about)
    versions = dict.fromkeys(
        ", ".join(f"{name} {version}" for name, version in block["versions"].items()) for block in about
    )
    time = f"{duration(seconds)} for {count_in_words(runs, 'run')}, {seconds / max(runs, 1):.3g} s a run"
    entries = [("Time of all runs", time), *(("Versions", version) for version in versions)]
    items = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in entries)
    return f"<dl>{items}</dl>"


def count_in_words(number: int, word: str, several: str | None = None) -> str:
    return f"{number:,} {word if number == 1 else several or word + 's'}"


def _head(columns: Columns) -> str:
    cells = "".join(f'<th scope="col"{_class(kind)}>{html.escape(name)}</th>' for name, kind in columns)
    return f"<thead><tr>{cells}</tr></thead>"


def _row(cell: str, columns: Columns, texts: Iterable[str]) -> str:
    """Each cell of the table carries the name of its column, for screens too narrow for columns; an interval
    stays in one piece."""
    cells = []
    for (name, kind), text in zip(columns, texts, strict=True):
        content = html.escape(text) if kind else _with_whole_intervals(html.escape(text))
        cells.append(f'<td{_class(kind)} data-name="{html.escape(name)}">{content}</td>')
    return f'<tr data-cells="{html.escape(cell)}">{"".join(cells)}</tr>'


def _with_whole_intervals(text: str) -> str:
    return re.sub(r"\[.*\]|\(.*\)", r"<span>\g<0></span>", text)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _amount(value: float) -> str:
    """A sum of rewards in three digits, or all of its whole ones: 1.20, 12.3, 12,346."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:#.3g}"


def _interval(row: Mapping[str, Any], name: str, form: str) -> str:
    return f"[{row[f'{name}_low']:{form}}, {row[f'{name}_high']:{form}}]"

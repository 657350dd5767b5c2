"""One HTML page about a folder of results: figures to hover and zoom, tables, configuration and timings.

The page is self-contained: styles, script and data are inside it, and its own policy forbids it the network.
Tables are plain HTML; the figures are drawn by report.js from the data below.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._version import __version__
from ...run import NEAR_OPTIMAL
from ..paper.view import View
from ..running.store import Store
from . import figures as plots
from . import statistics, summaries
from . import style as looks
from .summaries import show

if TYPE_CHECKING:
    import pandas

CLAIMS = "claims.json"
_MOST_POINTS = 200
_ON_DARK = {
    "#D55E00": "#F5843F",
    "#0072B2": "#58A9E0",
    "#56B4E9": "#9AD4F5",
    "#CC79A7": "#E6A3C8",
    "#009E73": "#35C79B",
    "#000000": "#E8E8E8",
    "#8C564B": "#C49A8E",
    "#5D3A9B": "#B79AE8",
}


def page(folder: str | os.PathLike[str]) -> str:
    """The page about the results of a folder. `claims.json` in it, a list of {claim, holds, figures}, becomes
    a table."""
    store = Store(folder)
    frame, about = store.frame(), store.about()
    table = summaries.cell_table(frame)
    content = report_data(frame, table)
    parts = {
        "title": html.escape(Path(folder).resolve().name),
        "lead": html.escape(_lead(frame, table)),
        "share": f"{NEAR_OPTIMAL:.0%}",
        "level": f"{statistics.LEVEL:.0%}",
        "claims": _claims_table(_claims(Path(folder) / CLAIMS), View.of(Path(folder))),
        "results": _results_table(content["cells"]),
        "timings": _timings(about),
        "configuration": _configuration_table(content["cells"], about),
        "version": html.escape(__version__),
        "style": _file("report.css"),
        "script": _file("report.js"),
        "data": embed(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("report.html"))


def write(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """Write the page about the results of a folder."""
    Path(out).write_text(page(folder), encoding="utf-8")


def report_data(frame: pandas.DataFrame, table: pandas.DataFrame) -> dict[str, Any]:
    """What the script of the page draws: the cells with their curves and figures, and the choices of the
    filter."""
    labels = summaries.labels(frame)
    groups = dict(iter(frame.groupby("cell", sort=False)))
    cells = [_cell(row, groups[row["cell"]], labels) for _, row in table.iterrows()]
    filters = [
        {
            "key": key,
            "name": name,
            "values": list(dict.fromkeys(cell["filter"][key] for cell in _ordered(cells, key))),
        }
        for key, name in (
            ("environment", "Environment"),
            ("horizon", "Horizon"),
            ("switch", "Switch"),
            ("agent", "Agent"),
        )
    ]
    bands = [
        {"value": key, "text": text, "said": summaries.BANDS[key]}
        for key, text in (("std", "standard deviation"), ("ci", "bootstrap"))
    ]
    return {
        "cells": cells,
        "filters": filters,
        "bands": [*bands, {"value": "none", "text": "nothing", "said": "nothing"}],
        "slopes": _slopes(cells),
    }


def embed(content: dict[str, Any]) -> str:
    """JSON for inside a page: nothing in it can end the element that holds it."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _ordered(cells: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """The cells in the order of one choice of the filter: numbers by size, agents as in all figures,
    environments by name."""
    if key == "agent":
        return sorted(cells, key=lambda cell: summaries.agent_rank(cell["agent"]))
    if key == "environment":
        return sorted(cells, key=lambda cell: str(cell["filter"][key]))
    return sorted(
        cells, key=lambda cell: float(cell["filter"][key]) if cell["filter"][key] != "none" else math.inf
    )


def _cell(row: Any, rows: pandas.DataFrame, labels: dict[str, str]) -> dict[str, Any]:
    agent, label = str(row["agent"]), labels[row["cell"]]
    light, line, _, depth = looks.look(agent, label, labels.values())
    dark = looks.mixed(_ON_DARK.get(looks.colour(agent), looks.colour(agent)), "#FFFFFF", depth)
    where = rows[["env", *summaries.env_settings(rows)]].iloc[:1]
    drawn = summaries.curve(rows)
    keep = slice(None, None, max(1, math.ceil(drawn.trajectories.size / _MOST_POINTS)))
    kept = summaries.Curve(drawn.trajectories[::-1][keep][::-1], drawn.samples[:, ::-1][:, keep][:, ::-1])
    interval = kept.band("ci")
    return {
        "id": row["cell"],
        "agent": agent,
        "label": label,
        "rank": list(labels).index(row["cell"]),
        "look": {"light": light, "dark": dark, "dash": _dashes(line)},
        "place": plots.title(where),
        "family": plots.title(where.drop(columns="horizon", errors="ignore")),
        "filter": {
            "environment": plots.title(where.drop(columns=["horizon", "switch"], errors="ignore")),
            "horizon": _shown(row, "horizon"),
            "switch": _shown(row, "switch"),
            "agent": agent,
        },
        "horizon": _plain(row.get("horizon")),
        "seeds": int(row["seeds"]),
        "trajectories": int(row["trajectories"]),
        "v_star": float(row["v_star"]),
        "success": {"count": int(row["successes"])}
        | {name: float(row[f"success_{name}"]) for name in ("rate", "low", "high")},
        "reward": {name: float(row[f"reward_{name}"]) for name in ("mean", "std", "iqm", "low", "high")},
        "value": {name: float(row[f"value_{name}"]) for name in ("mean", "iqm", "low", "high")},
        "needed": {
            "median": _plain(row["needed"]),
            "low": _plain(
                row["needed_low"]
            ),  # None: too few seeds for an interval; of the upper end also: not known
            "high": _plain(row["needed_high"]),
            "reached": int(row["reached"]),
        },
        "curve": {
            "trajectories": kept.trajectories.tolist(),
            "mean": _short(kept.mean),
            "std": _short(kept.samples.std(axis=0)),
            "low": _short(interval.low),
            "high": _short(interval.high),
        },
    }


def _slopes(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Fitted power laws of trajectories to near-optimal against the horizon, by family of environments and
    label."""
    found = {}
    for key in dict.fromkeys((cell["family"], cell["label"]) for cell in cells):
        members = [cell for cell in cells if (cell["family"], cell["label"]) == key]
        pairs = [
            (cell["horizon"], cell["needed"]["median"])
            for cell in members
            if cell["horizon"] and cell["needed"]["median"]
        ]
        if len({x for x, _ in pairs}) > 1:
            fit = statistics.log_log_slope(*zip(*pairs, strict=True))
            error = "" if math.isnan(fit.error) else f" ± {fit.error:.2f}"
            ends = [[x, math.exp(fit.intercept) * x**fit.slope] for x in (min(pairs)[0], max(pairs)[0])]
            found["|".join(key)] = {"text": f"{fit.slope:.2f}{error}", "ends": ends}
    return found


def _lead(frame: pandas.DataFrame, table: pandas.DataFrame) -> str:
    runs = int(table["seeds"].sum())
    total = int((table["seeds"] * table["trajectories"]).sum())
    counts = [_count(len(table), "cell"), _count(runs, "run"), _count(total, "trajectory", "trajectories")]
    return f"{', '.join(counts)}; {_count(frame['seed'].nunique(), 'seed')}, {_count(frame['agent'].nunique(), 'agent')}."


def _claims(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        claims = json.loads(path.read_text(encoding="utf-8"))
        return [
            {"claim": str(one["claim"]), "holds": bool(one["holds"]), "figures": str(one["figures"])}
            for one in claims
        ]
    except (OSError, ValueError, TypeError, KeyError):
        raise ValueError(
            f"cannot read {path}: it must be a list of objects with claim, holds and figures"
        ) from None


def _claims_table(claims: list[dict[str, Any]], view: View | None) -> str:
    if not claims:
        return ""
    rows = [
        f'<tr><th scope="row">{html.escape(one["claim"])}</th><td class="{"holds" if one["holds"] else "fails"}">'
        f"{'✓ holds' if one['holds'] else '✗ fails'}</td><td>{html.escape(one['figures'])}</td></tr>"
        for one in claims
    ]
    holding = sum(one["holds"] for one in claims)
    caveat = f'<p class="notice">{html.escape(view.caveat)}</p>' if view and view.caveat else ""
    head = _head([("Claim", "word"), ("Verdict", "word"), ("Figures behind it", "word")])
    return (
        f'<section aria-labelledby="claims-title"><h2 id="claims-title">Claims: {holding} of {len(claims)} hold</h2>'
        f'{caveat}<div class="scroll"><table class="claims">{head}<tbody>{"".join(rows)}</tbody></table></div></section>'
    )


def _results_table(cells: list[dict[str, Any]]) -> str:
    columns = [
        ("Environment", "word"),
        ("H", ""),
        ("Switch", ""),
        ("Agent", "word"),
        ("Seeds", ""),
        ("Success rate", ""),
    ]
    columns += [
        ("Average reward", ""),
        ("its IQM", ""),
        ("Value", ""),
        ("its IQM", ""),
        ("Trajectories to near-optimal", ""),
    ]
    rows = []
    for cell in cells:
        chosen, success, reward, value = cell["filter"], cell["success"], cell["reward"], cell["value"]
        texts = [
            chosen["environment"],
            chosen["horizon"],
            chosen["switch"],
            cell["label"],
            f"{cell['seeds']}",
            f"{success['rate']:.0%} {_brackets(success, '.0%')}",
            f"{reward['mean']:.3f}\u00a0±\u00a0{reward['std']:.3f} {_brackets(reward, '.3f')}",
            f"{reward['iqm']:.3f}",
            f"{value['mean']:.3f} {_brackets(value, '.3f')}",
            f"{value['iqm']:.3f}",
            _needed(cell),
        ]
        rows.append(_row(cell["id"], columns, texts))
    return f'<table id="results" class="cells">{_head(columns)}<tbody>{"".join(rows)}</tbody></table>'


def _needed(cell: dict[str, Any]) -> str:
    needed = cell["needed"]
    if needed["median"] is None:
        return f"over\u00a0{cell['trajectories']:,} ({needed['reached']} of {cell['seeds']} got there)"
    if needed["low"] is None:
        return f"{needed['median']:,.0f} [too few seeds]"
    high = "∞" if needed["high"] is None else f"{needed['high']:,.0f}"
    return f"{needed['median']:,.0f} [{needed['low']:,.0f}, {high}]"


def _timings(about: list[dict[str, Any]]) -> str:
    seconds = sum(block["wall_seconds"] for block in about)
    runs = sum(len(block["seeds"]) for block in about)
    versions = dict.fromkeys(
        ", ".join(f"{name} {version}" for name, version in block["versions"].items()) for block in about
    )
    entries = [
        (
            "Time of all runs",
            f"{looks.duration(seconds)} in {_count(len(about), 'block')}, {seconds / runs:.3g} s a run",
        )
    ]
    entries += [("Versions", version) for version in versions]
    return f"<dl>{''.join(f'<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>' for name, text in entries)}</dl>"


def _configuration_table(cells: list[dict[str, Any]], about: list[dict[str, Any]]) -> str:
    columns = [
        ("Environment", "word"),
        ("Agent", "word"),
        ("Settings of the agent", "settings"),
        ("Episodes", ""),
        ("Time", ""),
    ]
    columns += [("Id", "word small")]
    blocks: dict[str, list[dict[str, Any]]] = {}
    for block in about:
        blocks.setdefault(block["cell"], []).append(block)
    rows = []
    for cell in cells:
        config, oracle = blocks[cell["id"]][0]["config"], blocks[cell["id"]][0]["oracle"]
        settings = dict(config["agent_settings"]) | ({"oracle": oracle} if oracle else {})
        words = ", ".join(
            f"{name.replace('_', ' ')} {show(value)}" for name, value in settings.items() if value is not None
        )
        seconds = sum(block["wall_seconds"] for block in blocks[cell["id"]])
        rows.append(
            _row(
                cell["id"],
                columns,
                [
                    cell["place"],
                    cell["agent"],
                    words,
                    f"{config['episodes']:,}",
                    looks.duration(seconds),
                    cell["id"],
                ],
            )
        )
    return f'<table class="cells">{_head(columns)}<tbody>{"".join(rows)}</tbody></table>'


def _head(columns: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f'<th scope="col"{_class(kind)}>{html.escape(name)}</th>' for name, kind in columns)
    return f"<thead><tr>{cells}</tr></thead>"


def _row(cell: str, columns: Iterable[tuple[str, str]], texts: Iterable[str]) -> str:
    """Each cell of the table carries the name of its column, for screens too narrow for columns; an interval
    stays in one piece."""
    cells = [
        f'<td{_class(kind)} data-name="{html.escape(name)}">{html.escape(text) if kind else _together(html.escape(text))}</td>'
        for (name, kind), text in zip(columns, texts, strict=True)
    ]
    return f'<tr data-cell="{html.escape(cell)}">{"".join(cells)}</tr>'


def _together(text: str) -> str:
    return re.sub(r"\[.*\]|\(.*\)", r"<span>\g<0></span>", text)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _brackets(figures: dict[str, float], form: str) -> str:
    return f"[{figures['low']:{form}}, {figures['high']:{form}}]"


def _dashes(line: Any) -> str:
    """Matplotlib's dashes as SVG writes them."""
    return "none" if line == "-" else " ".join(f"{1.6 * length:.1f}" for length in line[1])


def _shown(row: Any, name: str) -> str:
    text = show(row.get(name))
    return "none" if text == "default" else text


def _plain(value: Any) -> float | int | None:
    """A number of JSON, which has neither infinity nor numbers that are none."""
    if value is None or not math.isfinite(value):
        return None
    number = float(value)
    return int(number) if number.is_integer() else number


def _short(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def _count(number: int, word: str, several: str | None = None) -> str:
    return f"{number:,} {word if number == 1 else several or word + 's'}"


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")

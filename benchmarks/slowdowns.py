"""Say which benchmarks have become slower: python benchmarks/slowdowns.py BASELINE.json FIGURES.json

Prints a comment in Markdown, and nothing where no benchmark is slower by more than `TOLERANCE`. Both files
are what pytest-benchmark writes, made on one machine in one go; the fastest round of each benchmark counts.
"""

import json
import sys
from pathlib import Path

TOLERANCE = 0.15
"""Share of time that two runs of the same code may differ by on a shared machine."""


def fastest_rounds(path: Path) -> dict[str, float]:
    """Seconds of the fastest round, by the name of the benchmark."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return {one["name"]: one["stats"]["min"] for one in content["benchmarks"]}


def comment(before: dict[str, float], after: dict[str, float]) -> str:
    """A table of the benchmarks that both have and that are slower now, the worst first."""
    ratios = {name: after[name] / before[name] for name in before.keys() & after.keys()}
    slower = sorted((ratio, name) for name, ratio in ratios.items() if ratio > 1 + TOLERANCE)
    if not slower:
        return ""
    rows = [
        f"| `{name}` | {before[name]:.3g} s | {after[name]:.3g} s | {ratio:.2f} |"
        for ratio, name in slower[::-1]
    ]
    share = f"{len(slower)} of {len(ratios)} benchmarks"
    head = f"{share} are more than {TOLERANCE:.0%} slower than the base commit."
    return "\n".join([head, "", "| benchmark | before | now | ratio |", "|---|---|---|---|", *rows, ""])


if __name__ == "__main__":
    print(comment(*map(fastest_rounds, map(Path, sys.argv[1:3]))), end="")

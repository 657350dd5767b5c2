"""Draw the picture of the framework: python docs/draw_framework.py

Boxes and arrows of plain SVG, a few kilobytes, on a white ground so that it reads in a dark theme too.
"""

from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 400
INK, FAINT = "#22303C", "#5B6B7A"
BOXES = {
    "environment": (
        20,
        130,
        190,
        140,
        "#E8EEF4",
        "Block MDP",
        ["rich observations of", "few latent states,", "which nobody sees"],
    ),
    "oracle": (350, 20, 200, 90, "#FBEFD9", "oracle", ["clusters observations,", "knows no rewards"]),
    "decoder": (
        350,
        155,
        200,
        90,
        "#FBEFD9",
        "decoder",
        ["observation → label,", "one for every level or all"],
    ),
    "table": (
        660,
        130,
        220,
        140,
        "#E3F1E6",
        "label table",
        ["[episode, level, state]", "decoded once for each block,", "then only looked up"],
    ),
    "learner": (350, 290, 200, 90, "#F6E3E3", "learner", ["tabular, no-regret,", "on (level, label)"]),
}
"""Name, then left, top, width, height, colour, title and lines of each box."""
ARROWS = [
    ("M 115 130 V 65 H 350", 225, 50, "all observations so far"),
    ("M 450 110 V 155", 462, 138, "fit"),
    ("M 210 200 H 350", 280, 190, "a block of noise"),
    ("M 550 200 H 660", 605, 190, "labels"),
    ("M 770 270 V 335 H 550", 680, 352, "labels and rewards"),
    ("M 350 335 H 115 V 270", 225, 352, "actions"),
]
"""The path of each arrow, and where its words stand."""


def picture() -> str:
    """The whole picture."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        "<title>How an oracle and a learner explore together</title>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" fill="{INK}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#FFFFFF"/>',
        *(arrow(*one) for one in ARROWS),
        *(box(*one) for one in BOXES.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def box(left, top, width, height, colour, title, lines) -> str:
    """A rounded box with a title and a few lines of words."""
    middle, first = left + width / 2, top + height / 2 - 9 * len(lines) + 4
    words = [text(middle, first, title, 17, INK, "bold")]
    words += [text(middle, first + 21 + 18 * number, line, 13, FAINT) for number, line in enumerate(lines)]
    place = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    frame = f'<rect {place} rx="9" fill="{colour}" stroke="{INK}"/>'
    return frame + "".join(words)


def arrow(path, x, y, words) -> str:
    """A line with a tip, and what it carries."""
    start = "start" if words == "fit" else "middle"
    line = f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.6" marker-end="url(#tip)"/>'
    return line + text(x, y, words, 13, INK, anchor=start)


def text(x, y, words, size, colour, weight="normal", anchor="middle") -> str:
    """One line of words."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


if __name__ == "__main__":
    (Path(__file__).parent / "pictures" / "framework.svg").write_text(picture(), encoding="utf-8")

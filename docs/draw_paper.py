"""Draw the figures of paper.md: python docs/draw_paper.py FOLDER, where `fasturl reproduce --out FOLDER` has
been.

They are those that the command draws, as SVG, with every fourth recorded point so that the files stay small.
The picture of README.md is one panel of the first."""

import io
import re
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot

import fasturl as fu
from fasturl.experiments.analysis import figures, style
from fasturl.experiments.paper.figures import draw

EVERY = 4
FIGURES = ("fig1", "fig2", "fig3")
PICTURES = Path(__file__).parent / "pictures"


def thinned(frame):
    """Every fourth point of each curve; the last one is among them."""
    points = frame.groupby(["cell", "seed"])["trajectories"].rank(method="first").astype(int)
    return frame[points % EVERY == 0]


def one_panel(frame):
    """LockBernoulli with H = 20 and switch 0.2, small: all agents of the paper."""
    rows = frame[(frame["env"] == "lock-bernoulli") & (frame["horizon"] == 20) & (frame["switch"] == 0.2)]
    with style.style():
        figure, axes = pyplot.subplots(figsize=(6.4, 2.8), layout="constrained")
        figures.curve_panel(axes, rows, band="std")
        axes.set(xlabel="number of trajectories", ylabel="average reward")
        axes.set_title("LockBernoulli, H = 20, switch 0.2: mean and standard deviation of 50 seeds")
        figure.legend(loc="outside right center")
    return figure


def save(figure, name):
    """One SVG, the same file whenever it is drawn from the same results."""
    matplotlib.rcParams["svg.hashsalt"] = "fasturl"
    text = io.StringIO()
    with style.style():
        figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="white")
    # two digits after the point are a hundredth of a dot, and half the size
    short = re.sub(r"[1-9]\d*\.\d{3,}", lambda number: f"{float(number[0]):.2f}", text.getvalue())
    (PICTURES / f"{name}.svg").write_text(short, encoding="utf-8")
    pyplot.close(figure)


if __name__ == "__main__":
    matplotlib.use("svg")
    frame = thinned(fu.load(sys.argv[1]))
    for name in FIGURES:
        save(draw(frame, name), name)
    save(one_panel(frame), "lock-bernoulli-20")

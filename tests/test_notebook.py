"""What a notebook shows: runs, environments, agents, oracles and frames as HTML, plots inline, and a progress
bar below the cell that runs. The notebook is executed by a real kernel."""

import re

import numpy as np
import pytest

import fasturl as fu
from fasturl._base import notebook as html

nbformat = pytest.importorskip("nbformat", reason="the extra test brings what executes a notebook")
nbclient = pytest.importorskip("nbclient", reason="the extra test brings what executes a notebook")
pytest.importorskip("ipykernel", reason="the extra test brings what executes a notebook")

CELLS = {
    "run": "import fasturl as fu\nlock = fu.LockBernoulli(horizon=3)\n"
    "run = fu.train(lock, fu.OracleQ(), episodes=300, seeds=2)\nrun",
    "environment": "lock",
    "agent": "fu.URL()",
    "oracle": "fu.oracles.KMeans(3)",
    "frame": "run.to_pandas()",
    "plot": "%matplotlib inline\nrun.plot();",
    "progress": "fu.train(lock, fu.OracleQ(), episodes=300, progress=True);",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell shows, by its name: a list of outputs, each by type of content."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS.values()])
    folder = tmp_path_factory.mktemp("notebook")
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return {
        name: [output["data"] for output in cell.outputs if "data" in output]
        for name, cell in zip(CELLS, book.cells, strict=True)
    }


def shown(outputs, name):
    (data,) = outputs[name]
    return data["text/html"]


def test_a_run_shows_a_table_and_a_curve(outputs):
    page = shown(outputs, "run")
    assert "300 of each of 2 seeds" in page
    assert "near-optimal seeds" in page
    assert len(re.findall(r"<polyline", page)) == 1


def test_an_environment_shows_its_settings_and_what_agents_are_told(outputs):
    page = shown(outputs, "environment")
    assert "LockBernoulli" in page
    assert "switch" in page
    assert "agents are told: max_states" in page


@pytest.mark.parametrize(
    ("name", "words"), [("agent", "PooledUCBVI"), ("oracle", "KMeans"), ("frame", "regret")]
)
def test_agents_oracles_and_frames_show_themselves(outputs, name, words):
    assert words in shown(outputs, name)


def test_a_plot_appears_below_its_cell(outputs):
    assert any("image/png" in data for data in outputs["plot"])


def test_a_progress_bar_is_there_while_a_cell_runs_and_gone_at_its_end(outputs):
    (data,) = outputs["progress"]
    assert data["text/html"] == ""


def test_a_bar_counts(monkeypatch):
    shown = []

    class Handle:
        def update(self, content):
            shown.append(content)

    class Display:
        HTML = staticmethod(lambda text: text)

        @staticmethod
        def display(content, display_id):
            shown.append(content)
            return Handle()

    monkeypatch.setattr(html, "import_module", lambda name: Display)
    monkeypatch.setattr(html, "_UPDATE_SECONDS", -1.0)
    with html.bar(10, "trajectories", True) as show:
        show(4)
    assert [re.sub("<.*>", "", text).strip() for text in shown] == [
        "0 of 10 trajectories",
        "4 of 10 trajectories",
        "",
    ]


def test_there_is_no_notebook_here():
    assert not html.in_notebook()


def test_what_a_table_shows_is_text():
    assert "<script>" not in html.table({"<script>": "<b>"}, "<i>")


def test_a_curve_stays_inside_its_picture_also_below_zero():
    x = np.array([1, 50, 100])
    mean = np.array([-2.0, -1.0, -0.5])
    numbers = [
        float(one)
        for one in re.findall(r"[\d.]+,([\d.-]+)", html.curve(x, mean, (mean - 1, mean + 0.2), -0.4))
    ]
    assert min(numbers) >= 0
    assert max(numbers) <= 170


def test_a_run_of_one_point_can_be_shown():
    assert "<svg" in fu.train(fu.LockBernoulli(2), fu.OracleQ(), episodes=1)._repr_html_()

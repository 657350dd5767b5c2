"""`fasturl plot` and `fasturl report`, run as a person runs them."""

import sys

import pytest
from stored_results import run_small_sweep

from fasturl.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("plots") / "results"
    run_small_sweep(place)
    return place


@pytest.fixture
def fasturl(monkeypatch, capsys, tmp_path):
    """The command line in an empty folder: gives exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["fasturl", *words])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    "words",
    [
        ["--kind", "curves", "--band", "ci"],
        ["--kind", "heatmap", "--x", "horizon", "--y", "switch", "--where", "agent=url"],
    ],
)
def test_the_command_writes_one_file(words, folder, fasturl, tmp_path):
    assert fasturl("plot", str(folder), *words, "--out", "figure.pdf") == (0, "drawn in figure.pdf\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.pdf"]
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    "words",
    [
        "plot {} --out figure.pdf",
        "train lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 50 --plot figure.pdf --json -",
    ],
)
def test_publishers_take_the_fonts_of_a_figure(words, folder, fasturl, tmp_path):
    code, _, err = fasturl(*words.format(folder).split())
    assert (code, err) == (0, "")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/CIDFontType2" in content


def test_a_page_on_standard_output(folder, fasturl, tmp_path):
    code, out, err = fasturl("report", str(folder), "--out", "-")
    assert (code, err) == (0, "")
    assert fasturl("report", str(folder), "--out", "page.html")[0] == 0
    assert out == (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["regret", "success", "scaling", "seconds"])
def test_the_name_of_the_kind_is_the_name_of_the_file(kind, folder, fasturl, tmp_path):
    assert fasturl("plot", str(folder), "--kind", kind) == (0, f"drawn in {kind}.png\n", "")
    assert (tmp_path / f"{kind}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("plot missing", "there are no results in missing"),
        (
            "plot {} --kind pie",
            "kind must be one of 'curves', 'regret', 'success', 'scaling', 'seconds', 'heatmap', got 'pie'",
        ),
        ("plot {} --band sem", "band must be one of 'std', 'ci', got 'sem'"),
        ("plot {} --kind success --band sem", "band must be one of 'std', 'ci', got 'sem'"),
        ("plot {} --kind scaling --band ci", "--band is for --kind curves and regret"),
        ("plot {} --kind heatmap --x horizon --y switch --band std", "--band is for --kind curves"),
        (
            "plot {} --of success",
            "of must be one of 'average-reward', 'success-rate', 'value', got 'success'",
        ),
        ("plot {} --of value", "--of is for --kind heatmap"),
        ("plot {} --kind success --of average-reward", "--of is for --kind heatmap"),
        (
            "plot {} --kind success --x horizen",
            "horizen is not a setting of these results (did you mean horizon?)",
        ),
        ("plot {} --kind heatmap --x horizon", "a heat map needs --x and --y"),
        ("plot {} --kind scaling --y switch", "--y is for --kind heatmap"),
        ("plot {} --x switch", "--x is for --kind success, scaling, seconds and heatmap"),
        (
            "plot {} --kind regret --x switch",
            "--x is for --kind success, scaling, seconds and heatmap: regret is drawn",
        ),
        ("plot {} --kind regret --y switch", "--y is for --kind heatmap"),
        ("plot {} --where horizon=7", "there are no results with horizon 7; horizon is 2, 3"),
        ("plot {} --where horizon", "a condition is written NAME=VALUE"),
        ("plot {} --where horizon=", "a condition is written NAME=VALUE"),
        ("plot {} --where =2", "a condition is written NAME=VALUE"),
        ("plot {} --out missing/curves.png", "cannot write missing/curves.png: No such file or directory"),
        ("plot {} --out curves.doc", "cannot write curves.doc: write .png, .pdf or .svg"),
        ("report missing", "there are no results in missing"),
        (
            "report {} --out missing/report.html",
            "cannot write missing/report.html: No such file or directory",
        ),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(words, message, folder, fasturl, tmp_path):
    code, out, err = fasturl(*words.format(folder).split())
    assert (code, out) == (2, "")
    assert err.startswith("fasturl: ")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []

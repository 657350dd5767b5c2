"""`fasturl sweep`, run as a person runs it."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
from command_line import fasturl, fasturl_alone

import fasturl as fu
from fasturl.experiments import parse_spec
from fasturl.experiments.running.spec import EXAMPLE
from fasturl.experiments.running.store import FORMAT

SPEC = """
episodes = 100
seeds = 3
env = {name = "lock-bernoulli", horizon = [2, 3]}
agent = {name = "oracleq-lat"}
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_one_of_a_thing_is_no_plural(place):
    (place / "one.toml").write_text(
        'episodes = 50\nseeds = 1\nenv = {name = "lock-bernoulli"}\nagent = {name = "oracleq-lat"}\n'
    )
    plan = fasturl("sweep", "one.toml", "--dry-run", "--n-jobs", "1", cwd=place)
    assert "1 cell x 1 seed: 1 of 1 runs are missing, in 1 block\n" in plan.stdout
    assert " with 1 worker like " in plan.stdout


def test_a_sweep_is_shown_run_continued_and_loaded(place):
    plan = fasturl("sweep", "spec.toml", "--out", "out", "--dry-run", cwd=place)
    assert (plan.returncode, plan.stderr) == (0, "")
    assert "2 cells x 3 seeds: 6 of 6 runs are missing, in 2 blocks" in plan.stdout
    assert re.search(r"about [\d.]+ s with \d+ worker.* up to [\d.]+ kB of memory for a run\n", plan.stdout)
    assert names(place) == ["spec.toml"]

    done = fasturl("sweep", "spec.toml", "--out", "out", "--n-jobs", "1", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    header, *rows, last = done.stdout.splitlines()
    columns = ["env", "horizon", "agent", "episodes", "seeds", "success", "rate", "warned", "seconds"]
    assert header.split() == columns
    rates = {
        horizon: fu.train(fu.LockBernoulli(horizon), fu.OracleQ(), 100, 3).success_rate for horizon in (2, 3)
    }
    assert [row.split()[:-1] for row in rows] == [
        ["lock-bernoulli", str(h), "oracleq-lat", "100", "3", f"{rates[h]:.2f}", "0"] for h in (2, 3)
    ]
    assert last.startswith("6 of 6 runs computed in")

    again = fasturl("sweep", "spec.toml", "--out", "out", "--seeds", "2:5", "--dry-run", cwd=place)
    assert "2 cells x 3 seeds: 4 of 6 runs are missing" in again.stdout
    more = fasturl("sweep", "spec.toml", "--out", "out", "--seeds", "2:5", "--n-jobs", "1", cwd=place)
    assert more.stdout.splitlines()[-1].startswith("4 of 6 runs computed in")
    frame = fu.load(place / "out")
    assert frame.groupby("horizon")["seed"].unique().map(list).tolist() == [[0, 1, 2, 3, 4]] * 2


IN_NOISE = """
episodes = 100
seeds = 2
env = {name = "lock-gaussian", horizon = [2, 3]}
agent = {name = "url"}
oracle = {name = "dbscan", min_samples = 6, eps = [0.5, 0.000001]}
"""
"""Of points that count as near only when they are the same, DBSCAN sees no cluster, and URL cannot be
trained."""


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_cells_that_cannot_be_trained_are_named_when_the_others_are_finished(place, n_jobs):
    (place / "spec.toml").write_text(IN_NOISE)
    command = ["sweep", "spec.toml", "--out", "out", "--n-jobs", n_jobs]
    done = fasturl(*command, cwd=place)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "fasturl: 2 of 4 cells cannot be trained, the others are finished; the first is lock-gaussian, "
    )
    assert re.search(
        r"horizon [23], .*: url, oracle dbscan, .*oracle\.eps 1e-06, .*oracle\.min_samples 6, "
        r".*learner pooled-ucbvi, .*100 episodes: .*only noise .* in the run of seed [01]",
        done.stderr,
    )
    assert done.stderr.count("\n") == 1
    frame = fu.load(place / "out")
    assert frame.groupby(["horizon", "oracle.eps"])["seed"].unique().map(list).to_dict() == {
        (2, 0.5): [0, 1],
        (3, 0.5): [0, 1],
    }
    again = fasturl("sweep", "spec.toml", "--out", "out", "--dry-run", cwd=place)
    assert "4 of 8 runs are missing, in 2 blocks" in again.stdout
    assert fasturl(*command, cwd=place).stderr.startswith("fasturl: 2 of 2 cells cannot be trained")


def test_the_example_can_be_used_as_it_is_printed():
    shown = fasturl("sweep", "--example").stdout
    assert shown == EXAMPLE
    assert parse_spec(tomllib.loads(shown)).cells


def test_all_commands_take_a_folder_that_has_lost_its_manifest(place):
    sweep = ["sweep", "spec.toml", "--out", "out", "--n-jobs", "1"]
    assert fasturl(*sweep, cwd=place).returncode == 0
    manifest = place / "out" / "fasturl-results.json"
    manifest.unlink()
    assert "0 of 6 runs are missing" in fasturl(*sweep, "--dry-run", cwd=place).stdout
    assert fasturl("plot", "out", cwd=place).returncode == 0
    assert fasturl("report", "out", cwd=place).returncode == 0
    assert not manifest.exists()
    assert "0 of 6 runs computed" in fasturl(*sweep, cwd=place).stdout


@pytest.mark.parametrize("manifest", [None, "{"])
def test_a_dry_run_refuses_the_folders_that_a_sweep_refuses(place, manifest):
    (place / "out").mkdir()
    (place / "out" / "thesis.tex").touch()
    if manifest:
        (place / "out" / "fasturl-results.json").write_text(manifest)
    sweep = ["sweep", "spec.toml", "--out", "out"]
    done, dry = fasturl(*sweep, cwd=place), fasturl(*sweep, "--dry-run", cwd=place)
    assert (dry.returncode, dry.stdout, dry.stderr) == (done.returncode, done.stdout, done.stderr)
    assert dry.stderr == "fasturl: out is not empty and holds no results: choose another folder\n"


def test_what_packages_bring_in_vain_is_said_once_and_where_it_matters(place):
    about = place / "site" / "hallways-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hallways\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[fasturl.environments]\nLock = hallways:Lock\n")
    paths = [str(place / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    line = (
        "fasturl: environment 'Lock' of the package hallways is left out: a name must be small letters and "
        "digits with hyphens between them\n"
    )
    sweep = ["sweep", "spec.toml", "--out", "out", "--n-jobs", "2"]
    assert fasturl_alone(*sweep, cwd=place, env=environment).stderr == line
    for words in (["plot", "out"], ["report", "out"]):
        done = fasturl_alone(*words, cwd=place, env=environment)
        assert (done.returncode, done.stderr) == (0, "")


def test_damaged_results_are_said_in_one_line(place):
    assert fasturl("sweep", "spec.toml", "--out", "out", "--n-jobs", "1", cwd=place).returncode == 0
    path = next((place / "out" / "results").rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-1])
    done = fasturl("sweep", "spec.toml", "--out", "out", "--n-jobs", "1", cwd=place)
    assert done.returncode == 0
    assert re.fullmatch(
        r"fasturl: \S+ is damaged: set aside as \S+, its results count as missing\n", done.stderr
    )
    assert done.stdout.splitlines()[-1].startswith("3 of 6 runs computed in")


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (
            ("horizon", "horzon"),
            "--out out",
            "horzon is not a setting of lock-bernoulli (did you mean horizon?); it has horizon, switch",
        ),
        (("[2, 3]", "[]"), "--out out", "spec.toml: [env] horizon is an empty list: there is nothing to run"),
        (
            ('"lock-bernoulli"', '"lock-gaussian"'),
            "--out out --seeds 0",
            "seeds must be an integer >= 1, got 0",
        ),
        (('"oracleq-lat"', '"oracleq-obs"'), "", "--out DIR is needed: the folder of the results"),
        (("100", "100"), "--out spec.toml", "cannot read spec.toml: Not a directory"),
        (("100", "100"), "--out spec.toml/out", "cannot read spec.toml/out: Not a directory"),
        (("100", "100"), "--out spec.toml --dry-run", "cannot read spec.toml: Not a directory"),
        (("100", "100"), "--out other", "the results in other were made by fasturl 9.9"),
        (("100", "100"), "--out other --dry-run", "the results in other were made by fasturl 9.9"),
        (("100", "100"), "--out older", "the results in older were made by fasturl 0.0.1"),
        (("100", "100"), "--out older --dry-run", "the results in older were made by fasturl 0.0.1"),
        (
            ("100", "100"),
            f"--out out --seeds {2**63}:{2**63 + 1}",
            f"seeds must be at most 2^63 - 1 where results are kept, got {2**63}",
        ),
        (("100", "100"), "--out .", ". is not empty and holds no results: choose another folder"),
        (("100", "100"), "--out out --n-jobs 0", "n_jobs must be an integer >= 1, got 0"),
        (
            ("100", "100"),
            "--out out --n-jobs 2 --dask tcp://127.0.0.1:9",
            "choose one of --n-jobs, --dask and --ray",
        ),
        (
            ("100", "100"),
            "--out out --dask tcp://127.0.0.1:9",
            "cannot reach a Dask scheduler at tcp://127.0.0.1:9: ",
        ),
        (("100", "100"), "--out out --dask nonsense://", "cannot reach a Dask scheduler at nonsense://: "),
    ],
)
def test_bad_input_gets_one_line_and_nothing_is_written(change, words, message, place):
    (place / "spec.toml").write_text(SPEC.replace(*change))
    (place / "other").mkdir()
    (place / "other" / "fasturl-results.json").write_text(json.dumps({"format": 99, "version": "9.9"}))
    (place / "older").mkdir()
    (place / "older" / "fasturl-results.json").write_text(json.dumps({"format": FORMAT, "version": "0.0.1"}))
    done = fasturl("sweep", "spec.toml", *words.split(), cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.startswith("fasturl: ")
    assert done.stderr.count("\n") == 1
    assert names(place) == ["older", "other", "spec.toml"]
    assert names(place / "other") == ["fasturl-results.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [("", "a file is needed that says what to run"), ("gone.toml --out out", "cannot read gone.toml")],
)
def test_without_a_file_there_is_nothing_to_run(words, message, tmp_path):
    done = fasturl("sweep", *words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert names(tmp_path) == []


def test_the_table_has_a_column_for_what_varies_of_an_oracle(place):
    grid = 'env = {name = "lock-bernoulli", horizon = 2}\nagent = {name = "url"}\n'
    (place / "spec.toml").write_text(
        f'episodes = 300\nseeds = 1\n{grid}oracle = {{name = "kmeans", n_init = [1, 2]}}\n'
    )
    done = fasturl("sweep", "spec.toml", "--out", "out", "--n-jobs", "1", cwd=place)
    header, *rows = [line.split() for line in done.stdout.splitlines()[:3]]
    assert [row[header.index("oracle.n_init")] for row in rows] == ["1", "2"]


def test_the_plan_has_columns_for_what_varies_of_any_environment(place):
    families = (
        '[[env]]\nname = "lock-bernoulli"\nhorizon = 2\n[[env]]\nname = "lock-gaussian"\nnoise = [0.1, 0.2]\n'
    )
    (place / "spec.toml").write_text(f'episodes = 100\n{families}[agent]\nname = "oracleq-lat"\n')
    done = fasturl("sweep", "spec.toml", "--dry-run", cwd=place)
    header, *rows = [line.split() for line in done.stdout.splitlines()[:4]]
    assert header == ["env", "horizon", "noise", "agent", "episodes", "missing", "runs"]
    assert rows == [
        ["lock-bernoulli", "2", "oracleq-lat", "100", "50"],
        ["lock-gaussian", "20", "0.1", "oracleq-lat", "100", "50"],
        ["lock-gaussian", "20", "0.2", "oracleq-lat", "100", "50"],
    ]


WARNING = """
import warnings
from fasturl.cli import main
from fasturl.experiments.running import sweeping

compute = sweeping.compute

def compute_with_a_warning(block):
    warnings.warn("this may take\\na while")
    return compute(block)

sweeping.compute = compute_with_a_warning
main()
"""


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_a_warning_is_one_line_whichever_process_gives_it(place, n_jobs):
    words = ["sweep", "spec.toml", "--out", "out", "--n-jobs", n_jobs]
    done = subprocess.run(
        [sys.executable, "-P", "-c", WARNING, *words], cwd=place, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, 2 * "fasturl: this may take a while\n")

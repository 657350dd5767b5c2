"""The command line, run as a person runs it."""

import json
import os
import subprocess
import sys

import pytest
from command_line import fasturl, fasturl_alone

import fasturl as fu
from fasturl.cli.main import main

QUICK = [
    "train",
    "lock-bernoulli",
    "--agent",
    "oracleq-lat",
    "--horizon",
    "3",
    "--episodes",
    "200",
    "--seeds",
    "3",
]


MANY_DIGITS = "9" * 5000
AN_INTEGER = f"must be an integer of at most 1000000000000, got '{'9' * 139} ... {'9' * 39}'\n"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_json_on_standard_output_is_all_that_is_printed_there(name):
    done = fasturl_alone(*QUICK, "--switch", "0.2", "--json", name)
    result = json.loads(done.stdout)
    expected = fu.train(fu.LockBernoulli(3, 0.2), fu.OracleQ(), 200, seeds=3)
    assert done.returncode == 0
    names = "env horizon switch agent oracle episodes seeds v_star average_reward_mean average_reward_std"
    more = "value_mean success_rate total_trajectories wall_seconds curve version"
    assert {*names.split(), *more.split()} <= set(result)
    assert (result["env"], result["agent"]) == ("lock-bernoulli", "oracleq-lat")
    assert (result["horizon"], result["switch"], result["episodes"], result["seeds"]) == (3, 0.2, 200, 3)
    assert result["average_reward_mean"] == expected.average_reward[:, -1].mean()
    assert result["curve"]["mean"] == expected.average_reward.mean(axis=0).tolist()
    assert result["regret_mean"] == result["curve"]["regret_mean"][-1] == expected.regret[:, -1].mean()
    assert result["curve"]["trajectories"][-1] == result["total_trajectories"] == 200


def test_the_number_of_points_of_the_curve():
    done = fasturl(*QUICK, "--points", "4", "--json", "-")
    assert json.loads(done.stdout)["curve"]["trajectories"] == [50, 100, 150, 200]


def test_a_range_of_seeds():
    done = fasturl(*QUICK[:-1], "1000:1003", "--json", "-")
    assert json.loads(done.stdout)["seed_values"] == [1000, 1001, 1002]


def test_url_with_an_oracle_of_choice():
    done = fasturl(
        "train",
        "lock-gaussian",
        "--horizon",
        "3",
        "--oracle",
        "kmeans",
        "--episodes",
        "400",
        "--seeds",
        "1",
        "--json",
        "-",
    )
    result = json.loads(done.stdout)
    assert (result["agent"], result["oracle"], result["noise"]) == ("url", "kmeans", 0.1)


def test_url_as_written_counts_all_its_trajectories():
    settings = "--epsilon 0.5 --delta 0.5 --batch 10"
    words = f"train lock-gaussian --horizon 2 --agent url-as-written {settings} --episodes 1 --seeds 1"
    result = json.loads(fasturl(*words.split(), "--json", "-").stdout)
    agent = fu.URLAsWritten(epsilon=0.5, delta=0.5, batch=10)
    assert (result["agent"], result["episodes"]) == ("url-as-written", 1)
    assert result["total_trajectories"] == agent.trajectories(fu.LockGaussian(2).describe(), 1)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_without_json_there_is_a_table(encoding):
    done = fasturl_alone(*QUICK, env=os.environ | {"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, "")
    assert "near-optimal seeds" in done.stdout
    assert "lock-bernoulli, horizon 3, switch 0" in done.stdout


@pytest.mark.parametrize(
    ("words", "oracle"),
    [
        ("lock-bernoulli --horizon 2", "kmeans for all levels"),
        ("rich-lock --horizon 3", "splits for each level"),
        ("rich-lock --horizon 2", "splits for each level (5 of 8), gmm for all levels (3 of 8)"),
        ("lock-bernoulli --horizon 2 --agent url-as-published", "pca-kmeans"),
    ],
)
def test_the_table_names_the_oracle_that_was_used_and_the_learner(words, oracle):
    done = fasturl("train", *words.split(), "--episodes", "30", "--seeds", "8", COLUMNS="120")
    learner = "oracleq" if "published" in words else "pooled-ucbvi"
    rows = [" ".join(row.split()) for row in done.stdout.splitlines()]
    assert f"oracle {oracle}" in rows
    assert f"learner {learner}" in rows


def test_files_are_written_whole(tmp_path):
    done = fasturl(*QUICK, "--json", "result.json", "--plot", "curve.png", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "result.json").read_text())["agent"] == "oracleq-lat"
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curve.png", "result.json"]


def test_version():
    assert fasturl("--version").stdout == f"fasturl {fu.__version__}\n"


def test_info_names_versions_cores_and_cache():
    out = fasturl("info").stdout
    assert all(word in out for word in ("numba", "scikit-learn", "cores", "cache folder"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "train lock-bernouli",
            "got 'lock-bernouli' (did you mean lock-bernoulli?)",
        ),
        ("train", "Missing argument 'ENV'"),
        ("train lock-bernoulli --horizon 0", "horizon must be an integer >= 1, got 0"),
        (
            "train lock-bernoulli --horizon many",
            "horizon must be an integer >= 1, got 'many'",
        ),
        (
            "train lock-bernoulli --episodes many",
            "fasturl: --episodes must be an integer, got 'many'\n",
        ),
        (
            "train lock-bernoulli --horizon 999999999999",
            "horizon must be an integer from 1 to 10000000, got 999999999999",
        ),
        (
            "train lock-bernoulli --horizon 99999999999999999999",
            "horizon must be an integer from 1 to 10000000, got 9999",
        ),
        (
            "train lock-bernoulli --episodes 99999999999999999999",
            "episodes must be an integer from 1 to 1000000000000, got 9999",
        ),
        ("train lock-bernoulli --switch nan", "switch must be a number in [0, 1], got nan"),
        ("train lock-gaussian --noise -1", "noise must be a number in [0, 1e+15], got -1.0"),
        (
            "train lock-bernoulli --noise 0.1",
            "noise is neither an option nor a setting of lock-bernoulli, url, oracle kmeans or learner",
        ),
        ("train lock-bernoulli --episodes 0", "episodes must be an integer >= 1, got 0"),
        ("train lock-bernoulli --seeds 0", "seeds must be an integer >= 1, got 0"),
        ("train lock-bernoulli --seeds 5:5", "seeds must name at least one seed, got none"),
        ("train lock-bernoulli --seeds -3:2", "seeds must be an integer >= 0, got -3"),
        (
            "train lock-bernoulli --seeds ten",
            "seeds must be a count such as 50 or a range such as 1000:1050, got 'ten'",
        ),
        ("train lock-bernoulli --agent dqn", "agent must be one of"),
        ("train lock-bernoulli --agent ulr", "got 'ulr' (did you mean url?)"),
        ("train lock-bernoulli --agent oracleq-la", "got 'oracleq-la' (did you mean oracleq-lat?)"),
        (
            "train lock-bernoulli --agent oracleq-lat --learning-rate 0",
            "learning_rate must be a number in (0, 1], got 0.0",
        ),
        (
            "train lock-bernoulli --agent oracleq-lat --learning-rate 0.1 --schedule jin",
            "learning_rate must be left out",
        ),
        (
            "train lock-bernoulli --agent qlearning-lat --confidence 1",
            "confidence is neither an option nor a setting of lock-bernoulli or qlearning-lat",
        ),
        ("train lock-bernoulli --n-jobs 0", "n_jobs must be an integer >= 1, got 0"),
        (
            "train lock-bernoulli --oracle spectral",
            "oracle must be one of 'autoencoder-simhash', 'bernoulli-mixture', 'categorical-mixture', "
            "'dbscan', 'full-gmm', 'gmm', 'kmeans', 'pca-dbscan', 'pca-kmeans', 'poisson-mixture', 'splits', "
            "'subspaces', got 'spectral'",
        ),
        ("train lock-bernoulli --oracle kmean", "got 'kmean' (did you mean kmeans?)"),
        (
            "train lock-bernoulli --learner oracle-q",
            "learner must be one of 'opsrl', 'oracleq', 'pooled-ucbvi', 'psrl', 'qlearning', 'rlsvi', "
            "'rmax', 'ucbq-bernstein', 'ucbvi', got 'oracle-q' (did you mean oracleq?)",
        ),
        (
            "train lock-gaussian --horizon 3 --oracle dbscan --eps 0.000001 --episodes 300 --seeds 3:4",
            "coordinates, in the run of seed 3)",
        ),
        ("train lock-bernoulli --batch 0", "batch must be an integer >= 1, got 0"),
        (
            "train lock-bernoulli --agent url-as-written --delta 2",
            "delta must be a number in (0, 1), got 2.0",
        ),
        (
            "train lock-bernoulli --form as-written",
            "form is neither an option nor a setting of lock-bernoulli, url, oracle kmeans or learner",
        ),
        ("train lock-bernoulli --points 0", "points must be an integer >= 1, got 0"),
        (
            "train lock-bernoulli --oracle kmeans --covariance full",
            "covariance is neither an option nor a setting of lock-bernoulli, url, oracle kmeans or learner",
        ),
        (
            "train lock-bernoulli --oracle kmeans --oracle.covariance full",
            "covariance is not a setting of oracle kmeans",
        ),
        (
            "train lock-bernoulli --oracle kmeans --n-init 0",
            "n_init must be an integer from 1 to 10000, got 0",
        ),
        (
            "train lock-bernoulli --agent pcid --learner.confidence 1",
            "learner.confidence cannot be set: pcid has no learner",
        ),
        (
            "train lock-bernoulli --agent pcid --learner oracleq",
            "learner is neither an option nor a setting of lock-bernoulli or pcid",
        ),
        ("train lock-bernoulli --agent.batc 3", "batc is not a setting of url (did you mean batch?)"),
        (
            "train lock-bernoulli --orcale.n-init 3",
            "orcale.n_init cannot be set: url has no orcale (did you mean oracle?)",
        ),
        ("train lock-bernoulli --horizon 3 --env.horizon 4", "horizon is given twice, as 3 and as 4"),
        ("train lock-bernoulli --batch 3 --agent.batch 4", "batch is given twice, as 3 and as 4"),
        ("train lock-bernoulli --oracle gmm --oracle kmeans", "oracle is given twice, as gmm and as kmeans"),
        ("train lock-bernoulli --seeds 3 --seeds 4", "--seeds is given twice, as 3 and as 4"),
        ("train lock-bernoulli --horizon", "--horizon needs a value"),
        ("train lock-bernoulli --horizon --switch 0.2", "--horizon needs a value"),
        ("train lock-bernoulli --horizn 3", "(did you mean horizon?)"),
        ("train lock-bernoulli --episods 3", "(did you mean episodes?)"),
        ("train lock-gaussian --agent oracleq-obs", "needs an environment with discrete observations"),
        (
            "train lock-bernoulli --agent ucbvi-obs --level-in-key false",
            "level_in_key must be true for UCBVI, whose plan is by level, got False",
        ),
        (
            "train lock-bernoulli --agent oracleq-obs --level-in-key deep",
            "level_in_key must be True or False, got 'deep'",
        ),
        (
            "train lock-bernoulli --json missing/result.json",
            "cannot write missing/result.json: No such file or directory",
        ),
        ("train lock-bernoulli --json .", "cannot write .: it is a folder"),
        ("train lock-bernoulli --plot curve", "cannot write curve: write .png, .pdf or .svg"),
        (
            "train lock-bernoulli --json curve.png --plot curve.png",
            "cannot write curve.png: two outputs have this name",
        ),
        ("train lock-bernoulli --plot curve.doc", "cannot write curve.doc: write .png, .pdf or .svg"),
        (
            "train lock-bernoulli --agent oracleq-lat --failure-probability 1",
            "failure_probability must be a number in [1e-100, 1), got 1.0",
        ),
        (
            "train lock-bernoulli --agent pcid --failure-probability 0.1",
            "failure_probability is neither an option nor a setting of lock-bernoulli or pcid",
        ),
        ("train lock-bernoulli --bogus 1", "bogus is neither an option nor a setting of lock-bernoulli, url"),
        ("train lock-bernoulli --bogus", "bogus is neither an option nor a setting of lock-bernoulli, url"),
        ("train lock-bernoulli --dry-rn", "pooled-ucbvi (did you mean dry_run?)"),
        ("train --horizon lock-bernoulli", "--horizon needs a value"),
        ("train lock-bernoulli --oracle", "--oracle needs a value"),
        (
            "tune lock-bernoulli --dry-run",
            "dry_run is neither an option nor a setting of lock-bernoulli, url",
        ),
        (
            "tune --dry-run lock-bernoulli",
            "dry_run is neither an option nor a setting of lock-bernoulli, url",
        ),
        ("tune lock-bernoulli --dry-run", "or learner pooled-ucbvi\n"),
        ("tune lock-bernoulli --metod grid", "(did you mean method?)"),
        ("train lock-bernoulli -x", "No such option"),
        ("sweep --bogus", "No such option"),
        ("list envs", "kind must be one of 'environments', 'oracles', 'learners', 'agents', got 'envs'"),
        ("list --json --markdown", "choose one of --json and --markdown"),
        ("train lock-bernoulli --dry-run --json -", "choose one of --dry-run and --json"),
        ("train lock-bernoulli --plot curve.png --dry-run", "choose one of --dry-run and --plot"),
        ("train lock-bernoulli --points 200 --dry-run", "choose one of --dry-run and --points"),
        ("sweep --example --out out", "choose one of --example and --out"),
        ("sweep --example --dry-run", "choose one of --example and --dry-run"),
        ("sweep --example spec.toml", "choose one of --example and SPEC.toml"),
        ("sweep --example --seeds 3", "choose one of --example and --seeds"),
        ("sweep s.toml --out a --out b", "--out is given twice, as a and as b"),
        ("sweep s.toml --seeds 5 --seeds=2", "--seeds is given twice, as 5 and as 2"),
        ("reproduce --seeds 5 --only fig1 --only fig2 --seeds 2", "--seeds is given twice, as 5 and as 2"),
        ("report r --out a --out b", "--out is given twice, as a and as b"),
        ("plot r --kind curves --kind regret", "--kind is given twice, as curves and as regret"),
        (
            "required-sizes --horizon 5 --n-states 3 --n-actions 4 --horizon 6",
            "--horizon is given twice, as 5 and as 6",
        ),
        ("capi --build a --build b", "--build is given twice, as a and as b"),
        ("tune lock-bernoulli --prune --no-prune", "choose one of --prune and --no-prune"),
        ("train lock-bernoulli --json=--agent --agent dqn", "agent must be one of"),
        ("train lock-bernoulli --json=--agent --json b", "--json is given twice, as --agent and as b"),
        (
            "train lock-bernoulli --seeds 99999999999999999999999",
            "seeds must be at most 10,000,000 in number, got 99999999999999999999999",
        ),
        (
            "train lock-bernoulli --seeds 5:99999999999999999999999",
            "seeds must be at most 10,000,000 in number, got 5:99999999999999999999999",
        ),
        (f"train lock-bernoulli --episodes {MANY_DIGITS}", f"--episodes {AN_INTEGER}"),
        (f"tune lock-bernoulli --trials {MANY_DIGITS}", f"--trials {AN_INTEGER}"),
        ("reproduce --episodes-scale half", "fasturl: --episodes-scale must be a number, got 'half'\n"),
        ("fly", "No such command 'fly'"),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["fasturl", *words.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    output = capsys.readouterr()
    assert (stop.value.code, output.out) == (2, "")
    assert output.err.startswith("fasturl: ")
    assert message in output.err
    assert output.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("agent", ["url", "url-as-published", "url-as-written", "url --oracle kmeans"])
@pytest.mark.parametrize("command", ["train", "train --dry-run", "tune"])
def test_an_environment_that_shows_nothing_is_refused(command, agent):
    done = fasturl(*f"{command} river-swim --emission none --agent {agent}".split())
    line = "fasturl: env must have an emission: without one there is nothing to see\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_bad_input_ends_the_program_with_exit_code_2():
    done = fasturl_alone("train", "lock-bernoulli", "--horizn", "3")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "command", [["sweep", "spec.toml"], ["sweep", "spec.toml", "--dry-run"], ["reproduce"]]
)
def test_a_folder_without_a_name_is_refused(command, tmp_path):
    done = fasturl(*command, "--out", "", cwd=tmp_path)
    line = "fasturl: --out must be the name of a file or a folder, got ''\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_a_file_without_a_name_is_refused(option):
    done = fasturl(*QUICK, option, "")
    assert done.returncode == 2
    assert done.stderr.startswith("fasturl: cannot write ")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


def test_a_missing_matplotlib_is_told_before_the_training(tmp_path):
    program = """
import sys
sys.modules["matplotlib"] = None
from fasturl.cli import train as training
training.train = lambda *_, **__: print("trained")
from fasturl.cli.main import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *QUICK, "--plot", "curve.png"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    message = "fasturl: a figure needs matplotlib: pip install 'fasturl[experiments]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert list(tmp_path.iterdir()) == []

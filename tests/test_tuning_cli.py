"""`fasturl tune`, run as a person runs it."""

import json
import re
import shutil
import sys

import pytest

from fasturl import registry
from fasturl.cli import main
from fasturl.experiments.tuning.problem import Problem


def run_here(words, monkeypatch, folder):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["fasturl", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


QUICK = (
    "tune lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 50 --seeds 100:102 "
    "--search confidence=0.001,0.1 --method grid"
)


def test_the_command_prints_the_best_and_how_to_train_it(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys,
        "argv",
        ["fasturl", *QUICK.split(), "--switch", "0", "--switch", "0.5", "--set", "learning-rate=0.25"],
    )
    main()
    out = capsys.readouterr().out
    assert "2 trials" in out
    assert (
        "fasturl train lock-bernoulli --horizon 2 --switch 0.5 --agent oracleq-lat --learning-rate 0.25 "
        "--confidence" in out
    )
    assert [path.name for path in tmp_path.iterdir()] == ["fasturl-tuning.db"]


def test_the_command_writes_json(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["fasturl", *QUICK.split(), "--json", "best.json"])
    main()
    result = json.loads((tmp_path / "best.json").read_text())
    assert result["seed_values"] == [100, 101]
    assert result["trials"] == 2
    assert set(result["best"]) == {"settings", "average_reward_mean"}
    assert result["commands"][0].startswith(
        "fasturl train lock-bernoulli --horizon 2 --switch 0 --agent oracleq-lat --confidence "
    )


def test_the_table_has_whole_names_and_few_digits(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    words = "--horizon 2 --episodes 50 --seeds 100:101 --trials 1"
    monkeypatch.setattr(sys, "argv", ["fasturl", "tune", "lock-bernoulli", *words.split()])
    main()
    table, command = capsys.readouterr().out.split("fasturl train")
    assert "…" not in table
    assert max(map(len, table.splitlines()[-1].split())) <= len("0.03456")
    assert re.search(r"--novelty \d\.\d{10}", command)


def test_the_table_fits_a_terminal_of_80_columns(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    words = "--horizon 2 --episodes 50 --seeds 100:101 --trials 5"
    monkeypatch.setattr(sys, "argv", ["fasturl", "tune", "lock-bernoulli", *words.split()])
    main()
    header, *rows = capsys.readouterr().out.splitlines()[2:-1]
    assert header.split() == ["setting", "best", "2", "3", "4", "5"]
    names = [row.split("  ")[0] for row in rows]
    searched = ["batch", "learner.deviations", "learner.novelty", "learner.pooled_visits"]
    assert names == [*searched, "average reward"]
    rewards = rows[-1].split()[2:]
    assert rewards == sorted(rewards, reverse=True)


@pytest.mark.parametrize("agent", [name for name in registry.agent_names() if name != "url-as-written"])
def test_the_printed_command_can_be_run(agent, monkeypatch, tmp_path, capsys):
    problem = Problem.make("lock-bernoulli", agent, episodes=200, env_settings={"horizon": 2})
    (command,) = problem.commands(problem.grid()[-1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [*command.split(), "--seeds", "100:101"])
    main()
    assert agent in capsys.readouterr().out


def test_the_printed_command_writes_a_setting_of_the_agent_by_its_name_alone():
    problem = Problem.make("lock-bernoulli", "url", episodes=400, search={"agent.n_states": [3, 4]})
    (command,) = problem.commands({"n_states": 4, "learner.novelty": 1e-4})
    assert "--agent url --n-states 4 --novelty 0.0001 --episodes 400" in command


def test_the_command_printed_for_a_failure_probability_can_be_run(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    words = "tune lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 200 --seeds 100:102 --method grid"
    more = "--set schedule=jin --search failure_probability=0.1"
    monkeypatch.setattr(sys, "argv", ["fasturl", *words.split(), *more.split()])
    main()
    (command,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("fasturl train"))
    assert "--failure-probability 0.1" in command
    monkeypatch.setattr(sys, "argv", [*command.split(), "--seeds", "100:101"])
    main()
    assert "near-optimal seeds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--agent dqn", "agent must be one of"),
        (
            "--seeds 20",
            "are for judging and cannot be tuned on: choose others such as 10000:10020, got 0..19",
        ),
        (
            "--seeds 49:60",
            "are for judging and cannot be tuned on: choose others such as 10000:10020, got 49",
        ),
        ("--trials 0", "trials must be an integer >= 1, got 0"),
        ("--seeds-per-check 0", "seeds_per_check must be an integer >= 1, got 0"),
        ("--no-prune --seeds-per-check 5", "choose one of --no-prune and --seeds-per-check"),
        ("--method annealing", "method must be one of 'grid', 'tpe', got 'annealing'"),
        ("--set learning_rate=0.1 --set confidence=0.1", "there is nothing to search for oracleq-lat"),
        ("--search rate=0.1,1", "rate is not a setting of lock-bernoulli or oracleq-lat"),
        ("--search learning_rate=0.1,2", "learning_rate must be a number in (0, 1], got 2"),
        (
            "--search learning_rate=0:1",
            "--search learning_rate: a range must have ends 0 < low <= high, got 0:1",
        ),
        ("--search learning_rate=a:b", "a range is written LOW:HIGH with two numbers, got 'a:b'"),
        ("--search learning_rate", "--search must be a setting written NAME=VALUE, got 'learning_rate'"),
        (
            "--search learning_rate=0.1,0.3 --set learning_rate=0.2",
            "learning_rate is searched, so it cannot be set to 0.2: leave one out",
        ),
        (
            "--search confidence=0.1 --search confidence=0.2,1",
            "--search confidence is given twice, as 0.1 and as 0.2,1",
        ),
        (
            "--set learning_rate=0.1 --set learning-rate=0.2",
            "--set learning_rate is given twice, as 0.1 and as 0.2",
        ),
        ("--search confidence=0.1,1,0.10", "confidence must have distinct values, got 0.1 more than once"),
        ("--switch 0.2 --switch 0.2", "switch must have distinct values, got 0.2 more than once"),
        ("--set schedule=jin --search learning_rate=0.1", "learning_rate must be left out"),
        ("--search horizon=2,3", "horizon is a setting of lock-bernoulli: only the agent's are searched"),
        (
            "--horizn 3",
            "horizn is neither an option nor a setting of lock-bernoulli or oracleq-lat "
            "(did you mean horizon?)",
        ),
        ("--confidence 0.1 --set confidence=0.2", "confidence is given twice, as 0.1 and as 0.2"),
        (
            "--search schedule=jinn",
            "schedule must be one of 'constant', 'jin', 'spread', got 'jinn' (did you mean jin?)",
        ),
        ("--set oracle.n_init=2", "oracle.n_init cannot be set: oracleq-lat has no oracle"),
        ("--set horizon=1", "lock-bernoulli: --set keeps the agent's, write --horizon 1"),
        ("--set env.switch=0.5", "lock-bernoulli: --set keeps the agent's, write --switch 0.5"),
        ("--horizon 0", "horizon must be an integer >= 1, got 0"),
        ("--study missing/study.db", "cannot write missing/study.db: there is no folder missing"),
        ("--study .", "cannot write .: it is a folder"),
        ("--study a.db --storage sqlite:///b.db", "study and storage are two places for one thing"),
        ("--storage nonsense", "storage must be a URL such as"),
        (
            "--storage sqlite:////proc/study.db",
            "cannot use the study in sqlite:////proc/study.db: unable to open database file",
        ),
        (
            "--storage oracle+never://me:secret@nowhere/x",
            "cannot use the study in oracle+never://me:***@nowhere/x",
        ),
        ("--json missing/best.json", "cannot write missing/best.json"),
        ("--study x.db --json ./x.db", "cannot write ./x.db: the study is kept there"),
        ("--json fasturl-tuning.db", "cannot write fasturl-tuning.db: the study is kept there"),
        ("--storage sqlite:///x.db --json x.db", "cannot write x.db: the study is kept there"),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(words, message, monkeypatch, tmp_path, capsys):
    usual = {"--horizon": "2", "--episodes": "50", "--agent": "oracleq-lat"}
    more = [word for pair in usual.items() if pair[0] not in words.split() for word in pair]
    assert run_here(["tune", "lock-bernoulli", *words.split(), *more], monkeypatch, tmp_path) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("fasturl: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_study_is_left_alone(monkeypatch, tmp_path, capsys):
    (tmp_path / "notes.db").write_text(
        "not a database at all, but long enough to look like a file of one\n" * 20
    )
    kept = shutil.copy(tmp_path / "notes.db", tmp_path / "copy")
    assert run_here([*QUICK.split(), "--study", "notes.db"], monkeypatch, tmp_path) == 2
    assert "cannot use the study in notes.db: file is not a database" in capsys.readouterr().err
    assert (tmp_path / "notes.db").read_bytes() == (tmp_path / kept).read_bytes()


def test_a_study_is_not_replaced_through_a_link_either(monkeypatch, tmp_path, capsys):
    (tmp_path / "study.db").write_bytes(b"")
    (tmp_path / "best.json").symlink_to("study.db")
    assert (
        run_here([*QUICK.split(), "--study", "study.db", "--json", "best.json"], monkeypatch, tmp_path) == 2
    )
    assert "cannot write best.json: the study is kept there" in capsys.readouterr().err
    assert (tmp_path / "study.db").read_bytes() == b""

"""Specifications of sweeps that cannot be run: what is wrong, and in which file."""

import pytest
from minimal_spec import MINIMAL, parse

from fasturl.experiments import parse_spec, read_spec


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("episodes = 100", "episode = 100", r"episode is not known in the spec \(did you mean episodes\?\)"),
        ("episodes = 100", "", "episodes is missing: a number is needed"),
        ("episodes = 100", "episodes = 0", "episodes must be an integer >= 1, got 0"),
        ("episodes = 100", "episodes = 'many'", "episodes must be an integer >= 1, got 'many'"),
        ("episodes = 100", "episodes = []", "episodes is an empty list: there is nothing to run"),
        ("seeds = 3", "seeds = 0", "seeds must be an integer >= 1, got 0"),
        ("seeds = 3", "seeds = []", "seeds must name at least one seed, got none"),
        ("seeds = 3", "seeds = [1, 1]", "seeds must be distinct, got 1 more than once"),
        (
            "seeds = 3",
            "seeds = 'all'",
            "seeds must be a count such as 50 or a range such as 1000:1050, got 'all'",
        ),
        ("seeds = 3", "points = 0", "points must be an integer >= 1, got 0"),
        ("env = {", "enw = {", r"enw is not known in the spec \(did you mean env\?\)"),
        (
            'env = {name = "lock-bernoulli", horizon = 2}',
            "env = 3",
            r"env must be a table, headed \[env\], got 3",
        ),
        (
            'env = {name = "lock-bernoulli", horizon = 2}',
            "env = []",
            "env is an empty list: there is nothing to run",
        ),
        (
            'env = {name = "lock-bernoulli", horizon = 2}',
            "",
            r"env is missing: a table \[env\] with a name is needed",
        ),
        (
            'name = "lock-bernoulli"',
            'nam = "lock-bernoulli"',
            r"\[env\] needs a name: .* \(is nam meant to be name\?\)",
        ),
        (
            '"lock-bernoulli"',
            '"lock-bernouli"',
            r"\[env\] name must be one of .*, got 'lock-bernouli' \(did you mean lock-bernoulli\?\)",
        ),
        ('"lock-bernoulli"', "[]", r"\[env\] name is an empty list: there is nothing to run"),
        ('"lock-bernoulli"', "{}", r"\[env\] name must be one of"),
        (
            "horizon = 2",
            "horizn = 2",
            r"horizn is not a setting of lock-bernoulli \(did you mean horizon\?\)",
        ),
        (
            "horizon = 2",
            "horizon = 2, swich = 0.5",
            r"swich is not a setting of lock-bernoulli \(did you mean switch\?\)",
        ),
        ("horizon = 2", "horizon = []", r"\[env\] horizon is an empty list: there is nothing to run"),
        ("horizon = 2", "horizon = [2, 0]", "horizon must be an integer >= 1, got 0"),
        ("horizon = 2", "horizon = 2, noise = 0.1", "noise is not a setting of lock-bernoulli"),
        (
            '"oracleq-lat"',
            '"oracleq-lab"',
            r"\[agent\] name must be one of .* \(did you mean oracleq-lat\?\)",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat", lerning_rate = 1}',
            r"lerning_rate is not a setting of .* \(did you mean learning_rate\?\)",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat", learning_rate = [0.5, 2.0]}',
            r"learning_rate must be a number in \(0, 1\], got 2.0",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat"}\nlearner = {confidense = 1}',
            r"\[learner\] confidense .* \(did you mean confidence\?\)",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat"}\nlearner = [{confidence = 1}]',
            r"learner must be one table, headed \[learner\]",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat", confidence = 1}\nlearner = {confidence = 1}',
            r"\[learner\] confidence is a setting that no agent",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat"}\noracle = {name = "kmeans"}',
            r"\[oracle\] is of no use: no agent here takes an oracle",
        ),
        ('"oracleq-lat"}', '"url"}\noracle = {n_init = 2}', r"\[oracle\] needs a name"),
        ('"oracleq-lat"}', '"url"}\noracle = {}', r"\[oracle\] needs a name"),
        ('"oracleq-lat"}', '"url"}\noracle = [{name = "kmeans"}, {}]', r"\[oracle\] needs a name"),
        (
            '"oracleq-lat"}',
            '"url", oracle = {n_init = 2}}',
            "oracle must have a name where it has settings: one of .*kmeans",
        ),
        ('"oracleq-lat"}', '"url"}\noracle = {name = "kmean"}', "oracle must be one of .*, got 'kmean'"),
        (
            '"oracleq-lat"}',
            '"url"}\nlearner = {name = "oracelq"}',
            r"learner must be one of .*, got 'oracelq' \(did you mean oracleq\?\)",
        ),
        (
            '"oracleq-lat"}',
            '"url"}\nlearner = {name = "qlearning", confidence = 1}',
            "confidence is not a setting of qlearning; it has learning_rate, exploration_fraction",
        ),
        (
            '"oracleq-lat"}',
            '"pcid"}\nlearner = {name = "oracleq"}',
            r"\[learner\] is of no use: no agent here takes a learner",
        ),
        (
            '"oracleq-lat"}',
            '"oracleq-lat"}\nlearner = {name = "qlearning", learning_rate = 0.5}',
            r"\[learner\] is of no use: no agent here takes a learner",
        ),
        (
            '"oracleq-lat"}',
            '"pcid"}\nlearner = {confidence = 1}',
            r"\[learner\] confidence .* no agent here takes",
        ),
        (
            '"oracleq-lat"}',
            '"url", learner.noveltie = 1}',
            r"noveltie is not a setting of pooled-ucbvi \(did you mean novelty\?\)",
        ),
        (
            '"oracleq-lat"}',
            '"url", "learner.noveltie" = 1}',
            r"noveltie is not a setting of the learner of url \(did you mean novelty\?\)",
        ),
        (
            '"oracleq-lat"}',
            '"url", oracle = {name = "kmeans", n_init = []}}',
            r"\[agent\] n_init is an empty list: there is nothing to run",
        ),
        (
            '"oracleq-lat"}',
            '"url"}\noracle = {name = "kmeans", n_int = 2}',
            r"n_int is not a setting of kmeans \(did you mean n_init\?\)",
        ),
        (
            '"lock-bernoulli", horizon = 2}',
            '"lock-gaussian", horizon = 2}\ngroup = [{agent.name = "oracleq-obs"}]',
            "discrete",
        ),
        (
            '"oracleq-lat"}',
            '"url", novelty = 0.1, learner = {novelty = [0.2, 0.4]}}',
            r"^url on lock-bernoulli: learner.novelty is given twice, as 0.2 and as 0.1$",
        ),
        (
            '"oracleq-lat"}',
            '"url", oracle = {name = "kmeans", n_init = 5}, n_init = 6}',
            r"oracle.n_init is given twice, as 5 and as 6$",
        ),
        (
            "agent = {",
            "group = [{episods = 1}]\nagent = {",
            r"episods is not known in \[\[group\]\] \(did you mean episodes\?\)",
        ),
        ("agent = {", "group = [{seeds = 1}]\nagent = {", "seeds is for the whole sweep"),
        ("agent = {", "group = []\nagent = {", r"group must be tables, each headed \[\[group\]\]"),
        (
            "horizon = 2",
            f"horizon = {list(range(1, 1001))}, switch = {[n / 1000 for n in range(101)]}",
            r"the grid of \[env\] has 101,000 cells: at most 100,000 are allowed",
        ),
        (
            'horizon = 2}\nagent = {name = "oracleq-lat"}',
            f"horizon = {list(range(1, 1001))}}}\n"
            f'agent = {{name = "oracleq-lat", confidence = {list(range(1, 102))}}}',
            "the grid has 101,000 cells: at most 100,000 are allowed",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(before, after, message):
    assert before in MINIMAL
    with pytest.raises(ValueError, match=message):
        parse(MINIMAL.replace(before, after))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"episodes = = 3", "is not TOML: .*line 1"),
        (
            b"seeds = 3\nepisodes = " + b"9" * 5000,
            r"an integer must have at most 4300 digits, got 'episodes = 9+ \.\.\. 9+' in line 2$",
        ),
        (b"\xff\xfe", "it is not text in UTF-8"),
        (b"x = 1", r"spec.toml: x is not known in"),
    ],
)
def test_errors_name_the_file(content, message, tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as refusal:
        read_spec(path)
    assert str(path) in str(refusal.value)


def test_a_file_that_is_not_there():
    with pytest.raises(ValueError, match=r"cannot read nowhere.toml: No such file or directory"):
        read_spec("nowhere.toml")


@pytest.mark.parametrize("content", [MINIMAL, 3, None, ["env"]], ids=["text", "number", "none", "list"])
def test_what_is_no_table_of_a_file_is_refused(content):
    with pytest.raises(ValueError, match=r"^content must be the tables of a file, got "):
        parse_spec(content)

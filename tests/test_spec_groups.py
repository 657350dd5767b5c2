"""Groups of a sweep: everything above them is a default of theirs, however it is written."""

import pytest
from minimal_spec import parse

TOP = """
episodes = 50
env = {name = "lock-bernoulli", horizon = 2}
"""


def cells(top, group):
    """What the cells of one group have, with lines above it."""
    return [cell.agent_settings for cell in parse(f"{TOP}{top}\n[[group]]\n{group}\n").cells]


@pytest.mark.parametrize(
    "above", ["novelty = 0.5", '"learner.novelty" = 0.5', "learner = {novelty = [0.5, 0.6]}"]
)
@pytest.mark.parametrize(
    "group",
    ["novelty = 0.1", '"learner.novelty" = 0.1', "learner = {novelty = 0.1}", "learner.novelty = 0.1"],
)
def test_a_setting_of_a_part_goes_before_the_one_above_however_both_are_written(above, group):
    (settings,) = cells(f'agent = {{name = "url", {above}}}', f"agent = {{{group}}}")
    assert settings["learner"]["novelty"] == 0.1


@pytest.mark.parametrize(
    "above",
    [
        'learner = {name = "ucbvi", scale = 0.5}',
        'learner = "ucbvi", scale = 0.5',
        'learner = "ucbvi", "learner.scale" = 0.5',
    ],
)
def test_a_part_above_stays_where_a_group_sets_something_else_of_it(above):
    (settings,) = cells(f'agent = {{name = "url", {above}}}', 'agent.learner.planning = "trajectory"')
    learner = settings["learner"]
    assert (learner["name"], learner["scale"], learner["planning"]) == ("ucbvi", 0.5, "trajectory")


def test_what_is_set_of_a_default_part_stays():
    (settings,) = cells(
        'agent = {name = "url", learner.novelty = 0.1}', 'agent.learner.planning = "trajectory"'
    )
    assert (settings["learner"]["novelty"], settings["learner"]["planning"]) == (0.1, "trajectory")


def test_an_oracle_above_needs_no_name_in_a_group():
    (settings,) = cells(
        'agent = {name = "url", oracle = {name = "kmeans", n_init = 5}}', "agent.oracle.n_init = 10"
    )
    assert (settings["oracle"]["name"], settings["oracle"]["n_init"]) == ("kmeans", 10)


@pytest.mark.parametrize(
    "above", ["learner.novelty = 0.5", "novelty = 0.5", 'learner = {name = "ucbvi", scale = 0.5}']
)
@pytest.mark.parametrize("group", ['learner = {name = "oracleq"}', 'learner = "oracleq"'])
def test_another_part_begins_without_the_settings_of_the_one_above(above, group):
    (settings,) = cells(f'agent = {{name = "url", {above}}}', f"agent = {{{group}}}")
    assert [settings] == cells('agent = {name = "url", learner = "oracleq"}', "episodes = 50")


def test_settings_of_a_part_above_stay_where_the_group_names_the_same():
    (settings,) = cells(
        'agent = {name = "url", oracle = [{name = ["kmeans", "gmm"], n_init = 5}, "dbscan"]}',
        'agent.oracle.name = "gmm"',
    )
    assert (settings["oracle"]["name"], settings["oracle"]["n_init"]) == ("gmm", 5)


def test_lists_of_parts_above_and_in_a_group_span_a_grid():
    made = cells(
        'agent = {name = "url", oracle = ["kmeans", "gmm"], n_init = [2, 3]}', "agent.oracle.n_init = [4, 5]"
    )
    assert [(one["oracle"]["name"], one["oracle"]["n_init"]) for one in made] == [
        ("kmeans", 4),
        ("kmeans", 5),
        ("gmm", 4),
        ("gmm", 5),
    ]


def test_a_setting_above_belongs_to_the_part_that_a_group_names():
    top = 'agent = {name = "url", n_init = 5}'
    (settings,) = cells(top, 'agent.oracle = "kmeans"')
    assert settings["oracle"]["n_init"] == 5
    (settings,) = cells(top, 'agent.oracle = {name = "kmeans", n_init = 10}')
    assert settings["oracle"]["n_init"] == 10
    (settings,) = cells(f'{top}\noracle = {{name = "kmeans"}}', "agent.oracle.n_init = 10")
    assert settings["oracle"]["n_init"] == 10


def test_each_agent_of_a_list_has_its_own_owner_of_a_setting():
    spec = parse(
        f'{TOP}agent = {{name = ["oracleq-lat", "url"], learning_rate = 0.5}}\n'
        '[[group]]\nagent.name = ["oracleq-lat", "qlearning-lat"]\nagent.learning_rate = 0.25\n'
        '[[group]]\nagent = {name = "url", learner = {name = "oracleq", learning_rate = 0.125}}\n'
    )
    rates = [(cell.agent, cell.agent_settings.get("learner", cell.agent_settings)) for cell in spec.cells]
    assert [(agent, settings["learning_rate"]) for agent, settings in rates] == [
        ("oracleq-lat", 0.25),
        ("qlearning-lat", 0.25),
        ("url", 0.125),
    ]


@pytest.mark.parametrize(
    ("group", "oracle", "n_init"),
    [
        ('oracle.name = "gmm"', "gmm", 1),
        ("oracle.n_init = 7", "kmeans", 7),
        ('oracle.name = "kmeans"', "kmeans", 5),
    ],
)
def test_a_shared_table_is_merged_in_the_same_way(group, oracle, n_init):
    (settings,) = cells('agent = {name = "url"}\noracle = {name = "kmeans", n_init = 5}', group)
    assert (settings["oracle"]["name"], settings["oracle"]["n_init"]) == (oracle, n_init)


def test_a_shared_learner_is_named_by_a_group():
    (settings,) = cells('agent = {name = "url"}\nlearner = {confidence = 0.5}', 'learner.name = "oracleq"')
    assert (settings["learner"]["name"], settings["learner"]["confidence"]) == ("oracleq", 0.5)


@pytest.mark.parametrize(
    ("above", "group", "message"),
    [
        ("novelty = 0.5, learner.novelty = 0.1", "batch = 5", "is given twice, as 0.1 and as 0.5"),
        ("batch = 5", "novelty = 0.5, learner.novelty = 0.1", "is given twice, as 0.1 and as 0.5"),
        ("novelti = 1", "batch = 5", r"novelti is not a setting of url \(did you mean novelty"),
        ("batch = 5", 'name = "urk"', r"name must be one of .*, got 'urk'"),
        ("batch = 5", "name = []", r"\[agent\] name is an empty list"),
        ("batch = 5", 'learner = "ucbwi"', r"learner must be one of .* got 'ucbwi'"),
        ("batch = 5", "learner = 3", "learner"),
        ("learner = 3", "learner.novelty = 1.0", "learner"),
        ("learner = 3, novelty = 0.5", "batch = 5", "learner"),
        ("oracle = []", "n_init = 5", "n_init is not a setting of url|empty list"),
    ],
)
def test_what_cannot_be_run_is_refused(above, group, message):
    with pytest.raises(ValueError, match=message):
        cells(f'agent = {{name = "url", {above}}}', f"agent = {{{group}}}")

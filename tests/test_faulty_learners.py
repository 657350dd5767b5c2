"""What a compiled learner can get wrong ends in one line that names function, level and value, never in a
crash."""

import re

import numpy as np
import pytest
from numba import njit
from own_oracleq import OwnOracleQ, choose, fill_policy, look, take_step, take_value

import fasturl as fu
from fasturl.learners import Task, draws

LOCK = fu.LockBernoulli(4, 0.2)


def task(**changes):
    size = {"horizon": 4, "n_labels": 3, "n_actions": 4, "max_return": 1.0, "episodes": 50}
    return Task(**size | {"policy_rng": np.array([1, 2, 3, 4], np.uint64)} | changes)


def learner(tables=None, **functions):
    """OwnOracleQ with some of its functions replaced, and `tables(good tables, task)` in place of its own."""
    chosen = {"choose": choose, "take_step": take_step, "fill_policy": fill_policy} | functions

    class Faulty(OwnOracleQ):
        def tables(self, task):
            good = super().tables(task)
            return good if tables is None else tables(good, task)

    Faulty.functions = fu.learner_functions(**chosen)
    return Faulty()


def complaint(agent, **options):
    """The one line in which training ends."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the caller compares its text
        fu.train(LOCK, agent, 200, seeds=2, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 500
    return line


# --- tables ---


BAD_TABLES = {
    "no named tuple": (lambda good, task: tuple(good), "must return a named tuple of arrays, got \\("),
    "nothing": (lambda good, task: None, "must return a named tuple of arrays, got None"),
    "objects": (
        lambda good, task: good._replace(q=np.full((4, 3, 4), None)),
        "C-contiguous arrays of numbers that can be written, got object of shape \\[4, 3, 4\\] for q",
    ),
    "complex numbers": (lambda good, task: good._replace(q=good.q + 0j), "got complex128 .* for q"),
    "wide numbers": (lambda good, task: good._replace(q=good.q.astype(np.longdouble)), "float128|longdouble"),
    "foreign byte order": (lambda good, task: good._replace(q=good.q.astype(">f8")), "got >f8 .* for q"),
    "columns": (lambda good, task: good._replace(q=good.q.T), "got non-contiguous float64 .* for q"),
    "a read-only array": (
        lambda good, task: good._replace(q=frozen(good.q)),
        "got read-only float64 of shape \\[4, 3, 4\\] for q",
    ),
    "a masked array": (lambda good, task: good._replace(q=np.ma.ones((4, 3, 4))), "arrays and numbers, got"),
    "a list": (lambda good, task: good._replace(cap=[1.0]), "arrays and numbers, got \\[1.0\\] for cap"),
    "a huge number": (lambda good, task: good._replace(rate=2**70), "got 1180591620717411303424 for rate"),
    "a text": (lambda good, task: good._replace(cap=np.str_("one")), "got .*'one'.* for cap"),
    "nan": (
        lambda good, task: good._replace(q=np.where(np.arange(48).reshape(4, 3, 4) == 20, np.nan, 1.0)),
        "must return numbers, got nan in q\\[1, 2, 0\\] at level 2",
    ),
    "a number that is none": (lambda good, task: good._replace(cap=np.nan), "got nan in cap$"),
    "an exception": (lambda good, task: good.missing, "failed: AttributeError: .*missing"),
}


def frozen(array):
    array.setflags(write=False)
    return array


@pytest.mark.parametrize("case", BAD_TABLES)
def test_tables_that_loops_cannot_take_are_refused_before_one_runs(case):
    tables, message = BAD_TABLES[case]
    line = complaint(learner(tables))
    assert line.startswith("tables of Faulty ")
    assert re.search(message, line), line


SMALL_TABLES = {
    "too few levels": (
        lambda good, task: good._replace(q=good.q[:2].copy()),
        "(choose|take_step) .* level 3",
    ),
    "too few labels": (
        lambda good, task: good._replace(q=good.q[:, :1].copy()),
        "(choose|take_step) .* level",
    ),
    "no actions": (lambda good, task: good._replace(q=good.q[:, :, :0].copy()), "choose .* level 1"),
    "too few visits": (
        lambda good, task: good._replace(visits=good.visits[:3].copy()),
        "take_step .* level 4",
    ),
}


@pytest.mark.parametrize("case", SMALL_TABLES)
def test_tables_that_are_too_small_end_at_the_index_that_leaves_them(case):
    tables, message = SMALL_TABLES[case]
    assert re.match(f"{message}.* failed: IndexError: ", complaint(learner(tables)))


@pytest.mark.parametrize("case", ["too few labels", "no actions"])
def test_so_do_those_of_rows_of_observations(case):
    tables, message = SMALL_TABLES[case]
    line = complaint(learner(tables), sees="observation")
    assert re.match(f"{message}.* failed: IndexError: ", line)


def test_a_subclass_of_ours_with_a_schedule_that_is_too_short_ends_at_the_step_that_leaves_it():
    class Short(fu.OracleQ):
        def tables(self, task):
            good = super().tables(task)
            return good._replace(rates=good.rates[:3].copy())

    assert re.match(r"take_value of Short at level 1 failed: IndexError: ", complaint(Short()))


def test_tables_that_do_not_grow_are_refused():
    shrinking = learner(lambda good, task: good._replace(q=good.q[:, : 6 - task.n_labels].copy()))
    memory = shrinking.start(task(n_labels=2))
    with pytest.raises(
        ValueError, match=r"tables of Faulty must grow .* got shape \[4, 1, 4\] after \[4, 2, 4\]"
    ):
        memory.grown(5)


# --- functions ---


@njit
def out_of_range(tables, level, label, rng):
    return 4 if level == 2 else 0


@njit
def below_zero(tables, level, label, rng):
    return -1


@njit
def look_out_of_range(tables, level, label, rng):
    return 4 if level == 2 else 0, 0.0


@njit
def look_too_far(tables, level, label, rng):
    return 0, tables.q[level + 2, label, 0]


@njit
def take_too_much(tables, level, label, action, reward, value):
    tables.q[level, label, action + 4 * level] = value


@njit
def spoil(tables, level, label, action, reward, next_level, next_label):
    tables.q[level, label, action] = np.nan if level == 1 else 0.5


@njit
def spoil_all(tables, rng):
    tables.visits[:] = 0
    tables.q[:] = np.nan


@njit
def half(tables, chances):
    chances[:] = 0.25
    chances[2, 1] = 0.125


@njit
def nan_policy(tables, chances):
    chances[:] = np.nan


@njit
def forgotten(tables, chances):
    pass


WRONG = {
    "an action that there is not": (
        {"choose": out_of_range},
        "choose of Faulty at level 3 must give an action that there is, got 4",
    ),
    "a negative action": (
        {"choose": below_zero},
        "choose of Faulty at level 1 must give an action that there is, got -1",
    ),
    "an action that there is not from a look": (
        {"look": look_out_of_range, "take_value": take_value},
        "look of Faulty at level 3 must give an action that there is, got 4",
    ),
    "a look that leaves the tables": (
        {"look": look_too_far, "take_value": take_value},
        "look of Faulty at level 3 failed: IndexError: ",
    ),
    "a value that leaves the tables": (
        {"look": look, "take_value": take_too_much},
        "take_value of Faulty at level 2 failed: IndexError: ",
    ),
    "nan from a step": (
        {"take_step": spoil},
        "take_step and end_episode of Faulty must leave numbers in its tables, got nan in q[1, ",
    ),
    "nan from an episode": (
        {"end_episode": spoil_all},
        "take_step and end_episode of Faulty must leave numbers in its tables, "
        "got nan in q[0, 0, 0] at level 1",
    ),
    "chances that do not add up": (
        {"fill_policy": half},
        "fill_policy of Faulty must give probabilities of actions, got [0.125, 0.125, 0.125, 0.125] "
        "at level 3 for label 1",
    ),
    "chances that are none": (
        {"fill_policy": nan_policy},
        "fill_policy of Faulty must give probabilities of actions, got [nan, nan, nan, nan] at level 1",
    ),
    "chances that were never filled": (
        {"fill_policy": forgotten},
        "fill_policy of Faulty must give probabilities of actions, got [0.0, 0.0, 0.0, 0.0] at level 1",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_functions_give_is_checked(case):
    functions, message = WRONG[case]
    assert complaint(learner(**functions)).startswith(message)


@pytest.mark.parametrize("case", ["a negative action", "nan from an episode", "chances that are none"])
def test_what_functions_give_is_checked_inside_url_and_on_observations_too(case):
    functions, message = WRONG[case]
    assert complaint(fu.URL(learner=learner(**functions))).startswith(message)
    on_observations = message.removesuffix(" at level 1")  # whose tables have one level
    assert complaint(learner(**functions), sees="observation").startswith(on_observations)


@pytest.mark.parametrize("given", [{"look": look}, {"take_value": take_value}])
def test_a_look_and_what_learns_from_its_value_come_together(given):
    missing = ({"look", "take_value"} - given.keys()).pop()
    with pytest.raises(ValueError, match=f"^{missing} must be a function compiled by Numba, got None$"):
        learner(**given)


@njit
def raise_at_begin(tables, rng):
    raise RuntimeError("no dice")


@njit
def raise_when_choosing(tables, level, label, rng):
    if level == 2:
        raise KeyError("no dice")
    return 0


@njit
def raise_when_learning(tables, level, label, action, reward, next_level, next_label):
    if level == 1:
        raise ValueError("no dice")


@njit
def raise_when_filling(tables, chances):
    raise ZeroDivisionError("no dice")


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (
            {"begin_episode": raise_at_begin},
            r"begin_episode of Faulty failed: RuntimeError: no dice \(.*line \d+\)",
        ),
        ({"choose": raise_when_choosing}, r"choose of Faulty at level 3 failed: KeyError: 'no dice' \("),
        ({"take_step": raise_when_learning}, r"take_step of Faulty at level 2 failed: no dice$"),
        ({"end_episode": raise_at_begin}, r"end_episode of Faulty failed: RuntimeError: no dice \("),
        ({"fill_policy": raise_when_filling}, r"fill_policy of Faulty failed: ZeroDivisionError: no dice \("),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_exception_is_told_with_the_function_and_the_level(functions, message):
    assert re.match(message, complaint(learner(**functions)))


@njit
def write_beyond_the_stream(tables, level, label, rng):
    rng[level + 3] = 1
    return 0


@njit
def hand_on_a_wrong_row(tables, level, label, rng):
    return draws.greedy(tables.q[level, label + 50], rng)[0]


@njit
def hand_on_a_wrong_place(tables, level, label, rng):
    return draws.greedy_at(tables.q, draws.place_of(tables.q, level, label + 50), rng)[0]


@pytest.mark.parametrize("function", [write_beyond_the_stream, hand_on_a_wrong_row, hand_on_a_wrong_place])
def test_no_index_leaves_the_array_that_it_belongs_to(function):
    assert re.match(r"choose of Faulty at level \d failed: IndexError: ", complaint(learner(choose=function)))


@njit
def unknown_field(tables, level, label, rng):
    return tables.nothing[level]


@njit
def python_objects(tables, level, label, rng):
    return int(str(level), base="x")


@pytest.mark.parametrize("function", [unknown_field, python_objects])
def test_functions_that_cannot_be_compiled_are_told_why(function):
    line = complaint(learner(choose=function))
    assert re.match("choose of Faulty cannot be compiled: .{10}", line), line


def test_functions_that_return_something_else_are_told_with_their_type():
    half = njit(lambda tables, level, label, rng: 0.5)
    line = complaint(learner(choose=half))
    assert line == "choose of Faulty must return an action, an integer, got float64"
    line = complaint(learner(look=half, take_value=take_value))
    assert line == "look of Faulty must return an action and a value, an integer and a float, got float64"


def test_functions_that_are_right_one_by_one_and_not_together_are_told_of_together():
    """A truth value is an action, and no axis of an array."""

    @njit
    def choose_true(tables, level, label, rng):
        return True

    @njit
    def sum_along_the_action(tables, level, label, action, reward, next_level, next_label):
        tables.q[level, label] = tables.q[level, label:].sum(axis=action)

    line = complaint(learner(choose=choose_true, take_step=sum_along_the_action))
    assert line.startswith("the functions of Faulty cannot be compiled: ")


@pytest.mark.parametrize("value", [None, 3, print, OwnOracleQ, "choose"])
def test_what_is_no_function_is_refused_when_the_class_is_written(value):
    with pytest.raises(ValueError, match="choose must be a function compiled by Numba, got "):
        fu.learner_functions(choose=value, take_step=take_step, fill_policy=fill_policy)


@pytest.mark.parametrize("name", ["choose", "take_step", "fill_policy", "end_episode", "start_at_zero"])
@pytest.mark.parametrize("function", [lambda tables: None, lambda a, b, c, d, e, f, g, h: None])
def test_functions_that_take_something_else_are_refused_when_the_class_is_written(name, function):
    with pytest.raises(ValueError, match=rf"^{name} must take \(tables, .*\), got \((tables|a, b, .*)\)$"):
        learner(**{name: njit(function)})


@pytest.mark.parametrize(
    "function", [lambda tables, level, label, rng, shift=0: shift, lambda tables, *others: len(others)]
)
def test_functions_may_have_room_for_more_arguments(function):
    assert learner(choose=njit(function))


def test_functions_that_were_not_made_by_learner_functions_are_refused():
    class Loose(OwnOracleQ):
        functions = (choose, take_step, fill_policy)

    assert complaint(Loose()).startswith("functions of Loose must be what learner_functions gives, got (")


@njit
def choose_by_sorting(tables, level, label, rng):
    """Allocates arrays and a list."""
    order = np.argsort(-tables.q[level, label])
    ties = [a for a in order if tables.q[level, label, a] == tables.q[level, label, order[0]]]
    return ties[draws.below(rng, len(ties))]


def test_functions_that_allocate_memory_work():
    run = fu.train(LOCK, learner(choose=choose_by_sorting), 3_000, seeds=4)
    assert run.success_rate == 1.0


def test_functions_that_allocate_memory_work_in_threads_that_start_together():
    """Each finds out that reference counts are needed while another may be compiling."""

    @njit
    def choose_once_more(tables, level, label, rng):
        return choose_by_sorting(tables, level, label, rng)

    allocating = learner(choose=choose_once_more)
    one, two = (fu.train(LOCK, allocating, 100, seeds=4, n_jobs=n_jobs) for n_jobs in (2, 1))
    np.testing.assert_array_equal(one.average_reward, two.average_reward)

"""The loops around a learner's functions, against a reference that calls the same functions step by step.

The learner of these tests keeps a diary: every call of one of its functions is an entry, with all that the
function was given and a number that it drew. Two loops that leave the same diary called the same functions
with the same arguments in the same order, and drew the same luck.
"""

import copy
from typing import NamedTuple

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from numba import njit
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

from fasturl._kernels import learning, rng
from fasturl._kernels.learning import (
    BEGIN_EPISODE,
    CHOOSE,
    END_EPISODE,
    FILL_POLICY,
    LOOK,
    START_AT_ZERO,
    TAKE_STEP,
    TAKE_VALUE,
)
from fasturl._kernels.records import EpisodeWorkspace, HashTable, ObservationKeys, Trajectories
from fasturl.learners.compiled import learner_functions
from fasturl.learners.episode_loops import loops_of

pytestmark = pytest.mark.kernel

EPISODES = 4
N_LABELS = st.integers(1, 4)
NEVER = -1


class Diary(NamedTuple):
    """What was called, and what goes wrong when."""

    entries: np.ndarray  # float64[n, 8]
    size: np.ndarray  # int64[1]
    n_actions: int
    wrong_entry: int  # the call of `choose` or `look` at this entry gives `wrong_action`
    wrong_action: int
    failing_entry: int  # the call at this entry fails


def keeping_a_diary(below, compiled, looks=False):
    """The functions of the learner, which draw by `below`; with those that make do with one look, or not."""

    @compiled
    def note(tables, function, level, label, action, reward, next_level, next_label, drawn):
        if tables.size[0] == tables.failing_entry:
            raise RuntimeError("the diary is torn")
        entry = tables.entries[tables.size[0]]
        entry[0], entry[1], entry[2], entry[3] = function, level, label, action
        entry[4], entry[5], entry[6], entry[7] = reward, next_level, next_label, drawn
        tables.size[0] += 1

    @compiled
    def begin_episode(tables, rng):
        note(tables, BEGIN_EPISODE, 0, 0, 0, 0.0, 0, 0, below(rng, 100))

    @compiled
    def draw_action(tables, rng):
        action = below(rng, tables.n_actions)
        return tables.wrong_action if tables.size[0] == tables.wrong_entry else action

    @compiled
    def choose(tables, level, label, rng):
        action = draw_action(tables, rng)
        note(tables, CHOOSE, level, label, action, 0.0, 0, 0, 0)
        return action

    @compiled
    def look(tables, level, label, rng):
        action = draw_action(tables, rng)
        note(tables, LOOK, level, label, action, 0.0, 0, 0, 0)
        return action, 10.0 * level + label

    @compiled
    def take_value(tables, level, label, action, reward, value):
        note(tables, TAKE_VALUE, level, label, action, reward, 0, 0, value)

    @compiled
    def take_step(tables, level, label, action, reward, next_level, next_label):
        note(tables, TAKE_STEP, level, label, action, reward, next_level, next_label, 0)

    @compiled
    def end_episode(tables, rng):
        note(tables, END_EPISODE, 0, 0, 0, 0.0, 0, 0, below(rng, 100))

    @compiled
    def fill_policy(tables, chances):
        note(tables, FILL_POLICY, 0, 0, 0, 0.0, 0, 0, 0)
        chances[:] = 1.0 / tables.n_actions

    @compiled
    def start_at_zero(tables, level, label):
        note(tables, START_AT_ZERO, level, label, 0, 0.0, 0, 0, 0)

    return learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_policy,
        begin_episode=begin_episode,
        end_episode=end_episode,
        start_at_zero=start_at_zero,
        look=look if looks else None,
        take_value=take_value if looks else None,
    )


FUNCTIONS = keeping_a_diary(rng.below, njit)
REFERENCE = naive.learning.Loops(keeping_a_diary(naive.below, lambda function: function))
COMPILED = {trusted: loops_of(FUNCTIONS, trusted=trusted).lean for trusted in (True, False)}
WITH_LOOKS = keeping_a_diary(rng.below, njit, looks=True)
LOOKING = {trusted: loops_of(WITH_LOOKS, trusted=trusted).lean.learn for trusted in (True, False)}
LOOKING_REFERENCE = naive.learning.Loops(
    keeping_a_diary(naive.below, lambda function: function, looks=True)
).learn_by_looks
KINDS = pytest.mark.parametrize("trusted", COMPILED, ids=["trusted", "checked"])


def diary(n_actions, wrong_entry=NEVER, wrong_action=0, failing_entry=NEVER):
    return Diary(
        np.full((500, 8), np.nan), np.zeros(1, int), n_actions, wrong_entry, wrong_action, failing_entry
    )


class Game:
    """Arguments of every loop, with streams for a reference or for a kernel."""

    def __init__(
        self, draw, sizes, n_labels, modes=(True, False), recorded=True, n_slots=None, n_rows=EPISODES
    ):
        self.horizon, n_states, self.n_actions = sizes
        self.n_labels = n_labels
        self.dynamics = dynamics(draw, *sizes)
        self.table = draw.integers(0, n_labels, (EPISODES, self.horizon + 1, n_states)).astype(np.uint8)
        self.words = draw.integers(0, 3, (EPISODES, self.horizon + 1, n_states, 1)).astype(np.uint64)
        self.history = (
            draw.integers(n_labels, size=(EPISODES, self.horizon + 1)),
            draw.integers(self.n_actions, size=(EPISODES, self.horizon)),
            draw.random((EPISODES, self.horizon)),
        )
        # the loop that learns writes down all episodes or none
        self.modes, self.recorded, self.n_slots = modes, recorded, n_slots
        # it may see the same in all of them
        self.learned_table = self.table[:n_rows]

    def arguments(self, loop, tables, dynamics_rng, policy_rng):
        """The arguments of a loop, and those of them that it fills."""
        episodes = self.horizon, EPISODES
        match loop:
            case "learn":
                filled, record = np.full(EPISODES, np.nan), self._blank(*episodes) if self.recorded else None
                given = self.dynamics, self.learned_table, tables, dynamics_rng, policy_rng, filled, record
                return given, [filled, *(record or ())]
            case "explore":
                filled = self._blank(*episodes)
                return (self.dynamics, self.table, tables, dynamics_rng, policy_rng, filled), filled
            case "replay":
                return (tables, *self.history, policy_rng), []
            case "take_in":
                return (tables, *self.history), []
            case "draw_policy":
                filled = np.full((self.horizon, self.n_labels), NEVER)
                return (tables, self.n_actions, policy_rng, filled), [filled]
            case "fill_policy":
                filled = np.full((self.horizon, self.n_labels, self.n_actions), np.nan)
                return (tables, filled), [filled]
        keys, filled = self._keys(), np.full(EPISODES, np.nan)
        scratch = EpisodeWorkspace(
            np.empty(self.horizon + 1, np.int64), np.empty(self.horizon, np.int64), np.empty(self.horizon)
        )
        rngs = dynamics_rng, policy_rng
        return (self.dynamics, self.words, keys, tables, *rngs, filled, scratch), [filled, *keys.table]

    def _blank(self, horizon, episodes):
        return Trajectories(
            np.full((episodes, horizon + 1), NEVER),
            np.full((episodes, horizon), NEVER),
            np.full((episodes, horizon), np.nan),
        )

    def _keys(self):
        rows = EPISODES * (self.horizon + 1)
        table = HashTable(
            np.full(self.n_slots or 1 << (2 * rows).bit_length(), NEVER, np.int32),
            np.zeros((rows, 2), np.uint64),
            np.zeros(1, np.int64),
        )
        return ObservationKeys(table, *self.modes)


def run(loops, loop, game, tables, dynamics_rng, policy_rng):
    """What a loop returns and fills, and the place where it was at the end."""
    arguments, filled = game.arguments(loop, tables, dynamics_rng, policy_rng)
    place = np.zeros(3, np.int64)
    went_well = getattr(loops, loop)(*arguments, place)
    return went_well, filled, place.tolist()


def assert_same(ref, comp):
    for expected, computed in zip(ref, comp, strict=True):
        np.testing.assert_array_equal(expected, computed)


LOOPS = pytest.mark.parametrize("loop", learning.Loops._fields)
PLAYING = pytest.mark.parametrize("loop", ["learn", "explore", "draw_policy", "learn_observations"])
STREAMS = st.tuples(GENERATORS, GENERATORS)
MODES = st.tuples(st.booleans(), st.booleans())
N_ROWS = st.sampled_from([1, EPISODES])


@KINDS
@LOOPS
@hypothesis.given(DRAWS, SIZES, N_LABELS, STREAMS, MODES, st.sampled_from([0, EPISODES]), N_ROWS)
def test_a_loop_calls_the_functions_as_its_reference_does(
    loop, trusted, draw, sizes, n_labels, streams, modes, recorded, n_rows
):
    game, ref = Game(draw, sizes, n_labels, modes, recorded, n_rows=n_rows), diary(sizes[2])
    comp, (dynamics_rng, policy_rng) = copy.deepcopy(ref), copy.deepcopy(streams)
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref_well, ref_filled, ref_place = run(REFERENCE, loop, game, ref, dynamics_rng, policy_rng)
    comp_well, comp_filled, comp_place = run(COMPILED[trusted], loop, game, comp, dynamics_row, policy_row)
    assert ref_well
    assert comp_well
    assert ref.size[0] > 0
    assert_same(ref, comp)
    assert_same(ref_filled, comp_filled)
    assert comp_place[0] == (0 if trusted else ref_place[0])
    assert (dynamics_row.tolist(), policy_row.tolist()) == (dynamics_rng, policy_rng)


@PLAYING
@pytest.mark.parametrize("action", [-1, 1, 2, 10**12, -(10**12)])
@pytest.mark.parametrize("number", [1, 2])
def test_an_action_that_there_is_not_ends_a_checked_loop(loop, action, number):
    """One action, number 0; the first or the second call of `choose` gives another one."""
    draw, generators = np.random.default_rng(0), ([1, 2, 3, 4], [5, 6, 7, 8])
    game, first = Game(draw, (2, 2, 1), 1), 1
    second = first + (2 if loop == "learn" else 1)
    ref = diary(1, wrong_entry={1: first, 2: second}[number], wrong_action=action)
    comp = copy.deepcopy(ref)
    ref_well, ref_filled, ref_place = run(REFERENCE, loop, game, ref, *copy.deepcopy(generators))
    comp_well, comp_filled, comp_place = run(COMPILED[False], loop, game, comp, *map(row, generators))
    assert (ref_well, comp_well) == (False, False)
    assert comp_place == ref_place == [CHOOSE, number, action]
    assert_same(ref, comp)
    assert_same(ref_filled, comp_filled)


@LOOPS
def test_where_a_function_fails_the_place_says_which_and_at_what_level(loop):
    """Every call fails in turn."""
    draw, generators = np.random.default_rng(0), ([1, 2, 3, 4], [5, 6, 7, 8])
    game, tables = Game(draw, (2, 2, 2), 2), diary(2)
    run(REFERENCE, loop, game, tables, *copy.deepcopy(generators))
    for entry, (function, level) in enumerate(tables.entries[: tables.size[0], :2].astype(int)):
        failing = diary(2, failing_entry=entry)
        ref = place_of_failure(REFERENCE, loop, game, failing, copy.deepcopy(generators))
        comp = place_of_failure(COMPILED[False], loop, game, copy.deepcopy(failing), map(row, generators))
        assert comp[0] == ref[0] == function
        if function in (CHOOSE, TAKE_STEP):
            assert comp[1] == ref[1]
            assert comp[1] == level + 1 or loop == "learn_observations"  # whose tables have one level here


class Looks:
    """Learning with one look a step, in the place of all loops."""

    def __init__(self, learn):
        self.learn = learn


@KINDS
@hypothesis.given(DRAWS, SIZES, N_LABELS, STREAMS, N_ROWS)
def test_a_learner_that_makes_do_with_one_look_is_called_as_by_its_reference(
    trusted, draw, sizes, n_labels, streams, n_rows
):
    game, ref = Game(draw, sizes, n_labels, recorded=False, n_rows=n_rows), diary(sizes[2])
    comp, generators = copy.deepcopy(ref), copy.deepcopy(streams)
    rows = [row(generator) for generator in generators]
    ref_well, ref_filled, _ = run(Looks(LOOKING_REFERENCE), "learn", game, ref, *generators)
    comp_well, comp_filled, _ = run(Looks(LOOKING[trusted]), "learn", game, comp, *rows)
    assert (ref_well, comp_well) == (True, True)
    assert_same(ref, comp)
    assert_same(ref_filled, comp_filled)
    assert [one.tolist() for one in rows] == list(generators)


@pytest.mark.parametrize("action", [-1, 1, 2, 10**12, -(10**12)])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_an_action_that_there_is_not_ends_it_after_the_look_that_gave_it(action, level):
    """One action, number 0; the look at one of three levels gives another one."""
    game, generators = Game(np.random.default_rng(0), (3, 2, 1), 1, recorded=False), ([1] * 4, [2] * 4)
    # an episode begins, looks once, and then looks ahead at every step and learns from it
    ref = diary(1, wrong_entry=[1, 2, 4][level], wrong_action=action)
    comp = copy.deepcopy(ref)
    ref_well, _, ref_place = run(Looks(LOOKING_REFERENCE), "learn", game, ref, *copy.deepcopy(generators))
    comp_well, _, comp_place = run(Looks(LOOKING[False]), "learn", game, comp, *map(row, generators))
    assert (ref_well, comp_well) == (False, False)
    assert comp_place == ref_place == [LOOK, level, action]
    assert_same(ref, comp)


def test_where_a_look_or_what_follows_from_it_fails_the_place_says_so():
    """Every call fails in turn."""
    game, generators = Game(np.random.default_rng(0), (3, 2, 2), 2, recorded=False), ([1] * 4, [2] * 4)
    tables = diary(2)
    run(Looks(LOOKING_REFERENCE), "learn", game, tables, *copy.deepcopy(generators))
    for entry, (function, level) in enumerate(tables.entries[: tables.size[0], :2].astype(int)):
        failing = diary(2, failing_entry=entry)
        comp = place_of_failure(Looks(LOOKING[False]), "learn", game, failing, map(row, generators))
        assert comp[0] == function
        if function in (LOOK, TAKE_VALUE):
            assert comp[1] == level + (function == TAKE_VALUE)


def place_of_failure(loops, loop, game, tables, streams):
    arguments, _ = game.arguments(loop, tables._replace(size=np.zeros(1, int)), *streams)
    place = np.zeros(3, np.int64)
    with pytest.raises(RuntimeError, match="the diary is torn"):
        getattr(loops, loop)(*arguments, place)
    return place.tolist()


@KINDS
def test_a_table_that_no_cache_holds_has_the_rows_of_a_small_one(trusted):
    def returns_and_rows(n_slots):
        game = Game(np.random.default_rng(0), (3, 2, 2), 2, n_slots=n_slots)
        streams = row([1, 2, 3, 4]), row([5, 6, 7, 8])
        went_well, (returns, _, *rows), _ = run(
            COMPILED[trusted], "learn_observations", game, diary(2), *streams
        )
        assert went_well
        return returns, *rows

    assert_same(returns_and_rows(2**8), returns_and_rows(2**18))


def test_a_learner_that_has_nothing_to_do_between_episodes_draws_nothing():
    stream = row([1, 2, 3, 4])
    learning.do_nothing(diary(1), stream)
    assert stream.tolist() == [1, 2, 3, 4]

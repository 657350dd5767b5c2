"""Learners written in C inside the loops of all learners: OracleQ in C is OracleQ, and hostile ones are
stopped."""

import pickle
import re

import cffi
import numba
import numpy as np
import pytest
from c_face import shared_library, stream
from numba import types

import fasturl as fu
from fasturl.capi import header
from fasturl.learners import CLearner, c_learner
from fasturl.learners.learner import Task

SOURCE = r"""
#include <math.h>
#include "fasturl.h"

static uint64_t next_bits(uint64_t *s)
{
    const uint64_t mixed = s[0] + s[3], shifted = s[1] << 17;
    const uint64_t result = ((mixed << 23) | (mixed >> 41)) + s[0];
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3];
    s[2] ^= shifted, s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

static int64_t below(uint64_t *rng, uint64_t n)
{
    uint64_t product = (next_bits(rng) >> 32) * n;
    while ((product & 0xffffffff) < ((1ull << 32) - n) % n)
        product = (next_bits(rng) >> 32) * n;
    return (int64_t)(product >> 32);
}

static double greatest(const double *row, int64_t n_actions)
{
    double best = row[0];
    for (int64_t a = 1; a < n_actions; a++)
        best = row[2 * a] > best ? row[2 * a] : best;
    return best;
}

/* OracleQ with two numbers an action: its value and its visits. Context: learning rate, confidence. */
int32_t oracleq(int64_t operation, const fasturl_learner_sizes *sizes, fasturl_learner_step *step,
                const fasturl_learner_rewards *rewards, double *numbers, double *chances, uint64_t *rng,
                void *context)
{
    const int64_t n_actions = sizes->n_actions, n_labels = sizes->n_labels;
    const double rate = ((double *)context)[0], confidence = ((double *)context)[1];
    if (operation == FASTURL_LEARNER_START) {
        for (int64_t i = 0; i < sizes->n_levels * n_labels * n_actions; i++)
            numbers[2 * i] = rewards->max_return;
    } else if (operation == FASTURL_LEARNER_CHOOSE) {
        const double *row = numbers + 2 * n_actions * ((step->level - 1) * n_labels + step->label);
        const double best = greatest(row, n_actions);
        int64_t ties = 0, skip, a = -1;
        for (int64_t i = 0; i < n_actions; i++)
            ties += row[2 * i] == best;
        skip = ties > 1 ? below(rng, (uint64_t)ties) : 0;
        while (skip >= 0)
            skip -= row[2 * ++a] == best;
        step->action = a;
    } else if (operation == FASTURL_LEARNER_TAKE_STEP) {
        double *row = numbers + 2 * n_actions * ((step->level - 1) * n_labels + step->label);
        double *entry = row + 2 * step->action, next = 0.0;
        if (step->next_level <= sizes->n_levels)
            next = greatest(numbers + 2 * n_actions * ((step->next_level - 1) * n_labels + step->next_label),
                            n_actions);
        entry[1] += 1.0;
        next += rewards->reward;
        next += confidence * sqrt((double)sizes->horizon / entry[1]);
        next = (1.0 - rate) * entry[0] + rate * next;
        entry[0] = next < rewards->max_return ? next : rewards->max_return;
    } else if (operation == FASTURL_LEARNER_START_AT_ZERO) {
        for (int64_t a = 0; a < n_actions; a++)
            numbers[2 * (n_actions * ((step->level - 1) * n_labels + step->label) + a)] = 0.0;
    } else if (operation == FASTURL_LEARNER_FILL_POLICY) {
        for (int64_t i = 0; i < sizes->n_levels * n_labels; i++) {
            const double *row = numbers + 2 * n_actions * i, best = greatest(row, n_actions);
            int64_t ties = 0;
            for (int64_t a = 0; a < n_actions; a++)
                ties += row[2 * a] == best;
            for (int64_t a = 0; a < n_actions; a++)
                chances[n_actions * i + a] = row[2 * a] == best ? 1.0 / (double)ties : 0.0;
        }
    }
    return 0;
}

/* Does one thing wrong, which the context names: an operation, and what happens there. */
enum { NOTHING, FAILS, TOO_GREAT, NAN_IN_NUMBERS, ZEROS_IN_STREAM, NAN_IN_CHANCES, NEGATIVE, HALF };

int32_t hostile(int64_t operation, const fasturl_learner_sizes *sizes, fasturl_learner_step *step,
                const fasturl_learner_rewards *rewards, double *numbers, double *chances, uint64_t *rng,
                void *context)
{
    const int64_t *wrong = context, entries = sizes->n_levels * sizes->n_labels * sizes->n_actions;
    const int64_t here = wrong[0] == operation && (operation < 2 || operation > 3 || step->level == 2);
    (void)rewards;
    if (operation == FASTURL_LEARNER_CHOOSE && !(here && wrong[1] == NOTHING))
        step->action = here && wrong[1] == TOO_GREAT ? sizes->n_actions : 0;
    if (operation == FASTURL_LEARNER_FILL_POLICY)
        for (int64_t i = 0; i < entries; i++)
            chances[i] = 1.0 / (double)sizes->n_actions;
    if (here && wrong[1] == NAN_IN_NUMBERS)
        numbers[entries - 1] = NAN;
    if (here && wrong[1] == ZEROS_IN_STREAM)
        rng[0] = rng[1] = rng[2] = rng[3] = 0;
    if (here && wrong[1] == NAN_IN_CHANCES)
        chances[entries - 1] = NAN;
    if (here && wrong[1] == NEGATIVE)
        chances[0] = 1.5, chances[1] = -0.5;
    if (here && wrong[1] == HALF)
        chances[0] = 0.0;
    return here && wrong[1] == FAILS ? 42 : 0;
}
"""
NOTHING, FAILS, TOO_GREAT, NAN_IN_NUMBERS, ZEROS_IN_STREAM, NAN_IN_CHANCES, NEGATIVE, HALF = range(8)
ABI = cffi.FFI()
ABI.cdef(
    "".join(
        f"int32_t {name}(int64_t, void *, void *, void *, double *, double *, uint64_t *, void *);"
        for name in ("oracleq", "hostile")
    )
)


@pytest.fixture(scope="module")
def learners(tmp_path_factory):
    return ABI.dlopen(shared_library(tmp_path_factory.mktemp("learners"), SOURCE))


def in_c(learners, rate=0.3, confidence=1e-3):
    return CLearner(learners.oracleq, n_numbers=2, context=np.array([rate, confidence]))


# --- OracleQ in C is OracleQ ---


def same(one, other):
    assert np.array_equal(one.average_reward, other.average_reward)
    assert np.array_equal(one.values, other.values)
    assert one.values.max() > 0.3


@pytest.mark.parametrize("horizon", [1, 4])
def test_on_latent_states(learners, horizon):
    env = fu.LockBernoulli(horizon, 0.2)
    runs = [
        fu.train(env, learner, episodes=1_500, seeds=3, points=100, n_jobs=jobs)
        for learner, jobs in ((fu.OracleQ(), 1), (in_c(learners), 2))
    ]
    same(*runs)


def test_on_observations_whose_rows_grow(learners, monkeypatch):
    monkeypatch.setattr("fasturl.agents.observation._FIRST_BYTES", 0)
    env = fu.LockBernoulli(2, 0.2)
    runs = [
        fu.train(env, learner, sees="observation", episodes=800, seeds=2, points=50)
        for learner in (fu.OracleQ(), in_c(learners))
    ]
    same(*runs)


def test_inside_url(learners):
    env = fu.LockGaussian(3, 0.2, noise=0.1)
    runs = [
        fu.train(env, fu.URL(learner=learner), episodes=1_000, seeds=2, points=50)
        for learner in (fu.OracleQ(), in_c(learners))
    ]
    same(*runs)


def test_replaying_is_learning(learners):
    rng = np.random.default_rng(0)
    labels, actions = rng.integers(3, size=(30, 5)), rng.integers(4, size=(30, 4))
    rewards = rng.random((30, 4))
    ours, theirs = (
        learner.start(Task(4, 3, 4, 1.0, 30, stream(0, 3))) for learner in (fu.OracleQ(), in_c(learners))
    )
    ours.replay(labels, actions, rewards)
    theirs.replay(labels, actions, rewards)
    assert np.array_equal(ours.tables.q, theirs.tables.numbers[..., 0])
    assert np.array_equal(ours.final_policy(), theirs.final_policy())
    assert np.array_equal(ours.policy(), theirs.policy())


def test_more_room_keeps_what_was_learned_and_tells_the_new_sizes(learners):
    memory = in_c(learners).start(Task(4, 3, 4, 1.0, 30, stream(0, 3)))
    memory.update([0, 1, 2, 0, 1], [0, 1, 2, 3], [0.0, 0.0, 0.0, 1.0])
    larger = memory.grown(7)
    assert np.array_equal(larger.tables.numbers[:, :3], memory.tables.numbers)
    assert np.all(larger.tables.numbers[:, 3:, :, 0] == 1.0)
    assert larger.tables.sizes.tolist() == [4, 4, 7, 4, 2, 30]
    larger.update([6, 5, 4, 3, 1], [0, 1, 2, 3], [0.0, 0.0, 0.0, 1.0])
    assert larger.tables.numbers[0, 6, 0, 1] == 1.0


# --- hostile ones ---

WRONG = {
    "start fails": ((c_learner.START, FAILS), "hostile failed to start: it returned 42"),
    "begin fails": ((c_learner.BEGIN_EPISODE, FAILS), "hostile failed at level 1: it returned 42"),
    "choose fails": ((c_learner.CHOOSE, FAILS), "hostile failed at level 2: it returned 42"),
    "step fails": ((c_learner.TAKE_STEP, FAILS), "hostile failed at level 2: it returned 42"),
    "end fails": ((c_learner.END_EPISODE, FAILS), "hostile failed at level 4: it returned 42"),
    "policy fails": ((c_learner.FILL_POLICY, FAILS), "hostile failed at level 1: it returned 42"),
    "no action": (
        (c_learner.CHOOSE, NOTHING),
        "hostile must give actions from 0 to 3, got -1 at level 2",
    ),
    "action too great": (
        (c_learner.CHOOSE, TOO_GREAT),
        "hostile must give actions from 0 to 3, got 4 at level 2",
    ),
    "nan at the start": (
        (c_learner.START, NAN_IN_NUMBERS),
        "hostile must leave numbers in its memory, got nan for label 2, action 3, number 0 at level 4",
    ),
    "nan in a step": (
        (c_learner.TAKE_STEP, NAN_IN_NUMBERS),
        "hostile must leave numbers in its memory, got nan for label 2, action 3, number 0 at level 4",
    ),
    "stream of zeros": (
        (c_learner.CHOOSE, ZEROS_IN_STREAM),
        "hostile must give back a stream that can be drawn from, got 0 at level 2",
    ),
    "nan in the policy": (
        (c_learner.FILL_POLICY, NAN_IN_CHANCES),
        "hostile must give probabilities that add up to 1, got [0.25, 0.25, 0.25, nan] "
        "for label 2 at level 4",
    ),
    "negative probability": (
        (c_learner.FILL_POLICY, NEGATIVE),
        "hostile must give probabilities that add up to 1, got [1.5, -0.5, 0.25, 0.25] "
        "for label 0 at level 1",
    ),
    "probabilities of 3/4": (
        (c_learner.FILL_POLICY, HALF),
        "hostile must give probabilities that add up to 1, got [0.0, 0.25, 0.25, 0.25] "
        "for label 0 at level 1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_run_whose_learner_is_wrong_stops_and_says_where(learners, name):
    context, message = WRONG[name]
    learner = CLearner(learners.hostile, context=np.array(context))
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        fu.train(fu.LockBernoulli(4), learner, episodes=50)
    assert str(caught.value) == message
    assert caught.value.__notes__ == ["in the run of seed 0"]


def test_what_goes_wrong_while_learning_is_told_by_the_call_that_learned(learners):
    """Not by the next one that asks for a policy."""
    for name in ("step fails", "end fails", "nan in a step"):
        context, message = WRONG[name]
        learner = CLearner(learners.hostile, context=np.array(context))
        memory = learner.start(Task(4, 3, 4, 1.0, 30, stream(0, 3)))
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            memory.update([0, 1, 2, 0, 1], [0, 1, 2, 3], [0.0, 0.0, 0.0, 1.0])


def test_a_learner_that_went_wrong_is_not_called_again(learners):
    learner = CLearner(learners.hostile, context=np.array([c_learner.CHOOSE, TOO_GREAT]))
    memory = learner.start(Task(3, 3, 4, 1.0, 30, stream(0, 3)))
    for _ in range(2):
        with pytest.raises(ValueError, match="got 4 at level 2"):
            memory.policy()


def test_what_makes_no_sense_is_refused(learners):
    with pytest.raises(ValueError, match="n_numbers must be an integer >= 1, got 0"):
        CLearner(learners.oracleq, n_numbers=0)
    with pytest.raises(ValueError, match="context must be None, a NumPy array, or a pointer"):
        CLearner(learners.oracleq, context=[1.0])


# --- where functions come from ---

CALL = types.int32(
    types.int64,
    types.CPointer(types.int64),
    types.CPointer(types.int64),
    types.CPointer(types.float64),
    types.CPointer(types.float64),
    types.CPointer(types.float64),
    types.CPointer(types.uint64),
    types.voidptr,
)


@numba.cfunc(CALL)
def first_action_in_numba(operation, sizes, step, _rewards, _numbers, chances, _rng, _context):
    if operation == 2:
        step[2] = 0
    if operation == 5:
        for i in range(sizes[1] * sizes[2]):
            for a in range(sizes[3]):
                chances[i * sizes[3] + a] = 1.0 if a == 0 else 0.0
    return 0


def test_a_numba_cfunc_serves_too():
    memory = CLearner(first_action_in_numba).start(Task(3, 2, 4, 1.0, 30, stream(0, 3)))
    assert np.all(memory.policy() == 0)
    assert np.all(memory.final_policy()[..., 0] == 1.0)


def test_a_learner_is_pickled_as_library_and_symbol(learners):
    learner = in_c(learners)
    other = pickle.loads(pickle.dumps(learner))
    assert other.function.address == learner.function.address
    assert other.n_numbers == 2
    assert np.array_equal(other.context.value, learner.context.value)
    with pytest.raises(TypeError, match="first_action_in_numba cannot be sent to another process"):
        pickle.dumps(CLearner(first_action_in_numba))


def test_operations_and_structs_are_those_of_the_header():
    names = ("START", "BEGIN_EPISODE", "CHOOSE", "TAKE_STEP", "END_EPISODE", "FILL_POLICY", "START_AT_ZERO")
    assert header.constants("fasturl_learner_operation") == {
        f"FASTURL_LEARNER_{name}": getattr(c_learner, name) for name in names
    }
    task = Task(5, 3, 4, 2.0, 30, stream(0, 3), (-1.0, 1.5), levels_apart=False)
    tables = CLearner(first_action_in_numba, n_numbers=6).tables(task)
    sizes, step, rewards = (
        header.ffi.from_buffer(f"fasturl_learner_{name} *", array)[0]
        for name, array in (("sizes", tables.sizes), ("step", tables.step), ("rewards", tables.rewards))
    )
    assert (sizes.horizon, sizes.n_levels, sizes.n_labels) == (5, 1, 3)
    assert (sizes.n_actions, sizes.n_numbers, sizes.episodes) == (4, 6, 30)
    assert (rewards.least, rewards.greatest, rewards.max_return) == (-1.0, 1.5, 2.0)
    c_learner.start_at_zero(tables, 0, 2)
    assert (step.level, step.label, step.action, step.next_level, step.next_label) == (1, 2, -1, 2, 0)
    c_learner.take_step(tables, 0, 1, 2, 0.5, 1, 3)
    assert (step.level, step.label, step.action, step.next_level, step.next_label) == (1, 1, 2, 2, 3)
    assert rewards.reward == 0.5

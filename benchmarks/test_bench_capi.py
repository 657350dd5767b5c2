"""The C face: what a call costs, training through it beside training from Python, and a decoder in C beside
the built-in one."""

import time

import cffi
import numpy as np
import pytest
from c_face import (
    AFFINE,
    Training,
    affine_pair,
    done,
    dynamics,
    shared_library,
    start_learner,
    stream,
    struct,
)
from conftest import report
from strategies import latent_labels

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels.compiling import kernel
from fasturl._kernels.dynamics import step
from fasturl.capi import table
from fasturl.learners.learner import Task
from fasturl.problems.environment import emission_rngs

ROUNDS = 15
OVERHEAD_NS, TRAINING_RATIO, NAMED_RATIO, DECODER_RATIO = 30.0, 0.95, 0.9, 2.0

SOURCE = r"""
#define _POSIX_C_SOURCE 199309L
#define FASTURL_NO_PROTOTYPES
#include <time.h>
#include "fasturl.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds of n calls, each of which draws `words` words */
double calls(const fasturl_table *table, int64_t n, int64_t words)
{
    uint64_t stream[4] = {1, 2, 3, 4}, out[64];
    const double begin = now();
    for (int64_t i = 0; i < n; i++)
        if (table->fill_bits(stream, 4, out, words))
            return -1.0;
    return now() - begin;
}

/* seconds of n steps of one episode each: a call for each, or one call for all */
double steps(const fasturl_table *table, const fasturl_dynamics *dynamics, int64_t n, int64_t *states,
             int64_t *actions, double *rewards, int64_t together)
{
    uint64_t rng[4] = {1, 2, 3, 4};
    const double begin = now();
    for (int64_t i = 0; i < n; i += together)
        if (table->step(dynamics, 1, rng, 4, together, actions + i, together, states + i, together,
                        rewards + i, together))
            return -1.0;
    return now() - begin;
}
"""

DECLARATIONS = """
double calls(const void *table, int64_t n, int64_t words);
double steps(const void *table, const void *dynamics, int64_t n, int64_t *states,
             int64_t *actions, double *rewards, int64_t together);
int32_t affine(const float *, int64_t, int64_t, int64_t, int32_t *, void *);
"""


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    """Compiled for this machine, as kernels are."""
    path = shared_library(tmp_path_factory.mktemp("guest"), SOURCE + AFFINE, "-march=native")
    own = cffi.FFI()
    own.cdef(DECLARATIONS)
    return own, own.dlopen(path)


def best(*plays, rounds=ROUNDS):
    """The fastest of several rounds of each, in seconds. They take turns, so that what slows the machine down
    for a while slows down all of them."""
    seconds = np.full((len(plays), rounds), np.inf)
    for k in range(rounds):
        for row, play in zip(seconds, plays, strict=True):
            begin = time.perf_counter()
            play()
            row[k] = time.perf_counter() - begin
    return seconds.min(axis=1)


def test_a_call(benchmark, guest):
    """A call that draws one word, less the time that a word takes inside a long call."""
    own, library = guest
    pointer, n = own.cast("void *", table()), 1_000_000
    benchmark.pedantic(library.calls, (pointer, n, 1), rounds=ROUNDS, warmup_rounds=1)
    one = min(library.calls(pointer, n, 1) for _ in range(ROUNDS)) / n * 1e9
    word = (min(library.calls(pointer, n, 64) for _ in range(ROUNDS)) / n * 1e9 - one) / 63
    report(benchmark, ns_per_call=one, ns_of_work=word, overhead_ns=one - word, must_stay_below=OVERHEAD_NS)
    assert one - word < OVERHEAD_NS


@kernel
def bare_steps(tables, rng, actions, states, rewards):
    for i in range(states.size):
        states[i], rewards[i] = step(tables, rng, 0, states[i], actions[i])


def test_a_step(benchmark, guest):
    """A call that makes one step, less what the kernel takes for a step: the call with most checks."""
    own, library = guest
    model, n = fu.LockBernoulli(20, 0.2).instance(0), 1_000
    made, _kept = dynamics(model)
    draw = np.random.default_rng(0)
    states, actions, rewards = np.zeros(n, np.int64), draw.integers(4, size=n), np.zeros(n)
    arrays = [
        own.from_buffer(f"{kind}[]", array)
        for kind, array in (("int64_t", states), ("int64_t", actions), ("double", rewards))
    ]

    def seconds(together):
        states[:] = draw.integers(3, size=n)
        return library.steps(own.cast("void *", table()), own.cast("void *", made), n, *arrays, together)

    long, dynamics_rng = 100 * n, Streams(0).row("dynamics")
    many_actions, many_states = draw.integers(4, size=long), draw.integers(3, size=long)
    many_rewards = np.zeros(long)

    def bare():
        bare_steps(model.dynamics, dynamics_rng, many_actions, many_states.copy(), many_rewards)

    benchmark.pedantic(seconds, (1,), rounds=ROUNDS, warmup_rounds=1)
    one, many = (min(seconds(together) for _ in range(1_000)) / n * 1e9 for together in (1, n))
    (work,) = best(bare, rounds=50) / long * 1e9
    report(
        benchmark,
        ns_per_call=one,
        ns_of_a_thousandth=many,
        ns_of_work=work,
        overhead_ns=one - work,
        must_stay_below=OVERHEAD_NS,
    )
    assert one - work < OVERHEAD_NS


def test_training(benchmark):
    """A whole training of OracleQ through the C face, beside the same from Python."""
    horizon, episodes = 20, 20_000
    model, labels = fu.LockBernoulli(horizon, 0.2).instance(0), latent_labels(512, horizon, 3)
    training = Training(model, labels, episodes, seed=0)
    given = training.struct()
    settings = struct("fasturl_oracleq", learning_rate=0.3, confidence=1e-3, max_return=1.0)

    def in_c():
        streams = Streams(0)
        training.dynamics_rng[:], training.policy_rng[:] = streams.row("dynamics"), streams.row("policy")
        done("train_oracleq", given, settings)

    returns = np.empty(episodes)

    def in_python():
        streams = Streams(0)
        memory = fu.OracleQ().start(Task(horizon, 3, 4, 1.0, episodes, streams.row("policy")))
        for first in range(0, episodes, 512):
            part = returns[first : first + 512]
            memory.learn_episodes(model.dynamics, labels[: part.size], streams.row("dynamics"), part)

    benchmark.pedantic(in_c, rounds=ROUNDS, warmup_rounds=1)
    seconds, reference = best(in_c, in_python)
    assert np.array_equal(training.returns, returns)
    report(
        benchmark,
        steps_per_second=horizon * episodes / seconds,
        ratio_to_python=reference / seconds,
        must_reach=TRAINING_RATIO,
    )
    assert reference / seconds >= TRAINING_RATIO


@pytest.mark.parametrize("horizon", [5, 20])
def test_a_decoder_in_c(benchmark, guest, horizon):
    """The label tables of blocks of LockGaussian, by the same affine decoder in C and built in."""
    _, library = guest
    built_in, in_c = affine_pair(library, horizon + 3)
    emission = fu.LockGaussian(horizon, 0.2).emission
    block = emission.draw(emission_rngs(Streams(0)), emission.block_episodes)
    assert np.array_equal(in_c.table(block), built_in.table(block))
    benchmark.pedantic(in_c.table, (block,), rounds=200, warmup_rounds=1)
    seconds, reference = best(lambda: in_c.table(block), lambda: built_in.table(block), rounds=300)
    steps = block.n_episodes * block.n_levels
    report(
        benchmark,
        ns_per_step=seconds / steps * 1e9,
        times_built_in=seconds / reference,
        must_stay_below=DECODER_RATIO,
    )
    assert seconds / reference <= DECODER_RATIO


def test_a_learner_by_name(benchmark):
    """A whole training of QLearning by its name, beside the same from Python."""
    horizon, episodes = 20, 20_000
    model, labels = fu.LockBernoulli(horizon, 0.2).instance(0), latent_labels(512, horizon, 3)
    (tables, _kept), returns, expected = dynamics(model), np.empty(episodes), np.empty(episodes)
    sizes = {"horizon": horizon, "episodes": episodes}

    def in_c():
        handle = start_learner("qlearning", **sizes)
        done("learner_learn", handle, tables, episodes, labels, 512, stream(0, 1), returns)
        done("learner_free", handle)

    def in_python():
        memory = fu.QLearning().start(Task(horizon, 3, 4, 1.0, episodes, stream(0, 3)))
        dynamics_rng = stream(0, 1)
        for first in range(0, episodes, 512):
            part = expected[first : first + 512]
            memory.learn_episodes(model.dynamics, labels[: part.size], dynamics_rng, part)

    benchmark.pedantic(in_c, rounds=ROUNDS, warmup_rounds=1)
    seconds, reference = best(in_c, in_python)
    assert np.array_equal(returns, expected)
    report(
        benchmark,
        steps_per_second=horizon * episodes / seconds,
        ratio_to_python=reference / seconds,
        must_reach=NAMED_RATIO,
    )
    assert reference / seconds >= NAMED_RATIO

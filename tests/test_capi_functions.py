"""Every function of the C face gives what Python gives, bit for bit."""

import math

import numpy as np
import pytest
from c_face import Training, call, done, dynamics, oracleq, qlearning, stream, struct
from hypothesis import given
from hypothesis import strategies as st
from strategies import latent_labels

import fasturl as fu
from fasturl._base.streams import NAMES, Streams
from fasturl.capi import lib
from fasturl.decoders import AffineDecoder
from fasturl.learners.learner import Task
from fasturl.learners.playing import rollout
from fasturl.problems.emissions import Gaussian, cumulative
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits

# --- streams and dynamics ---


@given(
    seed=st.integers(0, 2**64 - 1),
    key=st.lists(st.integers(0, 2**32 - 1), max_size=9),
    words=st.integers(1, 17),
)
def test_seeds_are_those_of_numpy(seed, key, words):
    made = stream(seed, *key, words=words)
    assert (
        made.tolist() == np.random.SeedSequence(seed, spawn_key=key).generate_state(words, np.uint64).tolist()
    )


@pytest.mark.parametrize("seed", [0, 7, 2**63])
def test_streams_are_those_of_a_run(seed):
    for position, name in enumerate(NAMES):
        assert stream(seed, position).tolist() == Streams(seed).row(name).tolist()
        assert stream(seed, 5, position).tolist() == Streams(seed).evaluation().row(name).tolist()
    assert stream(seed, 2, words=16).tolist() == emission_rngs(Streams(seed)).ravel().tolist()


def test_bits_continue_where_they_stopped():
    first, bits, more = stream(7, 0), np.empty(5, np.uint64), np.empty(6, np.uint64)
    done("fill_bits", first, bits)
    done("fill_bits", first, more)
    together = np.empty(11, np.uint64)
    done("fill_bits", stream(7, 0), together)
    assert [*bits, *more] == together.tolist()
    assert len(set(together)) == 11


@pytest.mark.parametrize("switch", [0.0, 0.2, 0.5])
def test_a_lock_is_that_of_a_run(switch):
    out = np.empty((6, 3, 4, 3))
    done("draw_lock", stream(7, 0), 6, switch, out)
    model = fu.LockBernoulli(6, switch).instance(7)
    assert np.array_equal(out, model.transitions)
    sums = np.empty_like(out)
    done("cumulate", out, 3, sums)
    assert np.array_equal(sums, model.dynamics.transitions)


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any), min_size=1, max_size=5))
def test_running_sums_are_python_s(weights):
    chances = np.array([np.array(row) / sum(row) for row in weights])
    sums = np.empty_like(chances)
    done("cumulate", chances, 4, sums)
    assert np.array_equal(sums, cumulative(chances))


def test_steps_draw_what_a_run_draws():
    model = fu.LockBernoulli(5, 0.3).instance(3)
    made, _ = dynamics(model)
    dynamics_rng = stream(3, 1)
    streams = Streams(3)
    q = np.random.default_rng(0).random((5, 3, 4))
    states, actions, rewards = rollout(
        model.dynamics, latent_labels(40, 5, 3), q, 0.0, streams.row("dynamics"), streams.row("policy")
    )
    for e in range(40):
        state, reward = np.empty(1, np.int64), np.empty(1)
        done("start", made, dynamics_rng, 1, state)
        path = [int(state[0])]
        for h in range(5):
            done("step", made, h + 1, dynamics_rng, 1, actions[e, h : h + 1], state, reward)
            path.append(int(state[0]))
            assert reward[0] == rewards[e, h]
        assert path == states[e].tolist()
    assert dynamics_rng.tolist() == streams.row("dynamics").tolist()


def test_a_batch_of_steps_draws_one_after_the_other():
    made, _ = dynamics(fu.LockBernoulli(4, 0.4).instance(1))
    starts, actions = np.array([0, 1, 2, 0, 1]), np.array([0, 1, 2, 3, 0])
    together, rewards = starts.copy(), np.empty(5)
    done("step", made, 4, stream(9, 1), 5, actions, together, rewards)
    dynamics_rng = stream(9, 1)
    for i in range(5):
        state, reward = starts[i : i + 1].copy(), np.empty(1)
        done("step", made, 4, dynamics_rng, 1, actions[i : i + 1], state, reward)
        assert (state[0], reward[0]) == (together[i], rewards[i])


def test_backward_induction_is_python_s():
    model = fu.LockBernoulli(5, 0.2).instance(2)
    q, values = np.empty((5, 3, 4)), np.empty((6, 3))
    done("optimal_q", np.array(model.transitions), np.array(model.rewards), 5, 3, 4, q, values)
    expected_q, expected = model._optimal_tables()
    assert np.array_equal(q, expected_q)
    assert np.array_equal(values, expected)
    assert values[0, 0] == 0.5


# --- observations and decoding ---


@pytest.mark.parametrize("horizon", [1, 2, 20, 33, 61, 62, 150])
def test_bits_of_a_lock_are_those_of_a_run(horizon):
    n_words = -(-(horizon + 3) // 64)
    draws = (horizon + 1) * n_words if n_words > 1 else -(-(horizon + 1) // max(1, 64 // horizon))
    words, scratch = (
        np.empty((5, horizon + 1, 3, n_words), np.uint64),
        np.empty(-(-draws // 4) * 4, np.uint64),
    )
    done("lock_words", stream(4, 2, words=16), horizon, 5, scratch, words)
    assert np.array_equal(words, LockBits(horizon).draw(emission_rngs(Streams(4)), 5).words)
    status = call("lock_words", stream(4, 2, words=16), horizon, 5, scratch[:-1], words)
    assert status == lib.FASTURL_E_TOO_SMALL


def gaussian_block(emission, episodes, seed, *, aligned=True):
    """The same noise drawn twice: Python's block, and the struct and its array of the C face, which may be
    aligned for words of 64 bits."""
    expected = emission.draw(emission_rngs(Streams(seed)), episodes)
    room = np.full(expected.noise.size + 2, np.nan, np.float32)
    first = room.ctypes.data % 8 // 4 + (0 if aligned else 1)
    noise = room[first : first + expected.noise.size].reshape(expected.noise.shape)
    sizes = {
        "episodes": episodes,
        "n_levels": expected.n_levels,
        "n_states": expected.n_states,
        "dimension": expected.dimension,
    }
    made = struct(
        "fasturl_block",
        **sizes,
        coordinates=noise.shape[1],
        n_informative=expected.n_informative,
        noise=noise,
        means=expected.means,
    )
    scratch = np.empty(math.prod(noise.shape[1:]) // 2, np.uint64)
    done("gaussian_noise", stream(seed, 2, words=16), emission.noise, made, scratch)
    return expected, made, noise


@pytest.mark.parametrize("episodes", [1, 2, 5])
@pytest.mark.parametrize("aligned", [False, True])
def test_noise_need_be_aligned_for_reals_alone(episodes, aligned):
    expected, _, noise = gaussian_block(fu.LockGaussian(4, 0.2).emission, episodes, 5, aligned=aligned)
    assert noise.ctypes.data % 8 == (0 if aligned else 4)
    assert np.array_equal(noise, expected.noise)


@pytest.mark.parametrize("horizon", [1, 4, 20])
def test_gaussian_observations_and_their_labels_are_those_of_a_run(horizon):
    rng = np.random.default_rng(horizon)
    expected, made, noise = gaussian_block(fu.LockGaussian(horizon, 0.2, noise=0.3).emission, 7, 5)
    assert np.array_equal(noise, expected.noise)

    states = rng.integers(3, size=(7, horizon + 1))
    seen = np.empty((7, horizon + 1, horizon + 3), np.float32)
    done("observe", made, states, seen)
    assert np.array_equal(seen, expected.observe(states))

    decoder = AffineDecoder(rng.normal(size=(4, horizon + 3)), 0.1 * rng.normal(size=4)).relabelled(
        [2, 0, 3, 1]
    )
    labels, scratch = np.empty((7, horizon + 1, 3), np.uint8), np.empty((4, 4, horizon + 1), np.float32)
    parts = *decoder.weights_and_bias, decoder.relabel
    done("decode_affine", made, 4, *parts, scratch, labels)
    assert np.array_equal(labels, decoder.table(expected))
    assert len(np.unique(labels)) > 1


def test_a_bias_of_minus_infinity_rules_a_label_out():
    _, made, _ = gaussian_block(Gaussian(np.eye(3), 0.1, n_levels=8), 2, 0)
    bias, relabel = np.array([0.0, -np.inf, 0.0], np.float32), np.arange(3, dtype=np.uint8)
    labels, scratch = np.empty((2, 8, 3), np.uint8), np.empty((4, 3, 8), np.float32)
    done("decode_affine", made, 3, np.eye(3, dtype=np.float32), bias, relabel, scratch, labels)
    assert set(labels.flat) == {0, 2}


def test_noise_comes_in_eights():
    emission = Gaussian(np.eye(2, 3), 0.1, n_levels=3)
    _, made, _ = gaussian_block(emission, 2, 0)
    made.coordinates = 3
    assert (
        call("gaussian_noise", stream(0, 2, words=16), 0.1, made, np.empty(99, np.uint64))
        == lib.FASTURL_E_SIZE
    )


@given(st.lists(st.lists(st.integers(0, 3), max_size=30), min_size=1, max_size=6), st.integers(0, 2**32))
def test_labels_are_fixed_as_python_does(sets, seed):
    from fasturl._kernels import labels as kernels

    given_labels = np.array([label for labels in sets for label in labels] + [0], np.uint8)
    starts = np.concatenate([[0], np.cumsum([len(labels) for labels in sets])])
    standards = np.random.default_rng(seed).integers(4, size=len(sets))
    counts, expected = np.empty((len(sets), 4), np.int64), np.empty((len(sets), 4), np.int64)
    done("count_labels", given_labels, len(sets), 4, starts, counts)
    kernels.count_labels(given_labels, starts, expected)
    assert np.array_equal(counts, expected)
    relabel, wanted = np.arange(4, dtype=np.uint8), np.arange(4, dtype=np.uint8)
    done("fix_labels", counts, len(sets), 4, standards, relabel)
    kernels.fix_labels(counts, standards, wanted)
    assert relabel.tolist() == wanted.tolist()


# --- learning ---


def python_s(model, learner, episodes, seed):
    """What Python's own run of the same training has at its end: memory and returns."""
    streams = Streams(seed)
    memory = learner.start(Task(model.horizon, 3, model.n_actions, 1.0, episodes, streams.row("policy")))
    returns = np.empty(episodes)
    memory.learn_episodes(
        model.dynamics, latent_labels(episodes, model.horizon, 3), streams.row("dynamics"), returns
    )
    return memory, returns


LEARNERS = {
    "constant": (fu.OracleQ(), "train_oracleq", oracleq()),
    "jin": (
        fu.OracleQ(schedule="jin", confidence=1e-4),
        "train_oracleq",
        oracleq(schedule=1, confidence=1e-4),
    ),
    "spread": (
        fu.OracleQ(schedule="spread", confidence=0.1),
        "train_oracleq",
        oracleq(schedule=2, confidence=0.1),
    ),
    "qlearning": (fu.QLearning(), "train_qlearning", qlearning()),
}


@pytest.mark.parametrize("rows", [1, 17, 400])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_whole_training_is_python_s(name, rows):
    learner, function, settings = LEARNERS[name]
    model = fu.LockBernoulli(4, 0.2).instance(7)
    training = Training(model, latent_labels(rows, 4, 3), 400, 7)
    done(function, training.struct(), settings)
    memory, returns = python_s(model, learner, 400, 7)
    assert np.array_equal(training.returns, returns)
    assert np.array_equal(training.visits, memory.tables.visits)
    assert np.array_equal(training.q, memory.tables.q)
    assert 0 < returns.sum() < 400


def test_a_whole_training_is_that_of_train():
    training = Training(fu.LockBernoulli(4, 0.2).instance(7), latent_labels(512, 4, 3), 1500, 7)
    done("train_oracleq", training.struct(), oracleq())
    run = fu.train(fu.LockBernoulli(4, 0.2), fu.OracleQ(), episodes=1500, seeds=[7], points=[1, 10, 1500])
    assert np.array_equal(run.average_reward[0], np.cumsum(training.returns)[[0, 9, 1499]] / [1, 10, 1500])


def test_learning_in_pieces_is_learning_at_once():
    model = fu.LockBernoulli(3, 0.2).instance(2)
    labels = np.random.default_rng(0).integers(3, size=(60, 4, 3))
    whole, parts = Training(model, labels, 60, 2), Training(model, labels, 60, 2)
    done("train_oracleq", whole.struct(), oracleq())
    parts.rates[:], parts.bonuses[:], parts.epsilons[:], parts.q[:], parts.visits[:] = (
        whole.rates,
        whole.bonuses,
        0.0,
        1.0,
        0,
    )
    for first in range(0, 60, 20):
        piece = slice(first, first + 20)
        changes = {
            "labels": parts.labels[piece],
            "label_rows": 20,
            "episodes": 20,
            "returns": parts.returns[piece],
        }
        done("learn", parts.struct(**changes))
    assert np.array_equal(whole.returns, parts.returns)
    assert np.array_equal(whole.q, parts.q)


def test_an_update_of_a_trajectory_is_python_s():
    rng = np.random.default_rng(1)
    q, visits = rng.random((6, 3, 4)), rng.integers(5, size=(6, 3, 4))
    labels, actions, rewards = rng.integers(3, size=7), rng.integers(4, size=6), rng.random(6)
    memory = fu.OracleQ().start(Task(6, 3, 4, 1.2, 6, stream(0, 3)))
    rates, bonuses = rng.random((2, memory.tables.rates.size))
    given = {"q": q, "visits": visits, "rates": rates, "bonuses": bonuses}
    for name, values in given.items():
        getattr(memory.tables, name)[:] = values
    assert memory.tables.cap == memory.tables.value_cap == 1.2
    memory.update(labels, actions, rewards)
    done("update_trajectory", 6, 3, 4, labels, actions, rewards, rates, bonuses, 1.2, q, visits)
    assert np.array_equal(q, memory.tables.q)
    assert np.array_equal(visits, memory.tables.visits)


def test_latent_labels_are_python_s():
    out = np.empty((5, 4, 3), np.uint8)
    done("latent_labels", 5, 3, 3, out)
    assert np.array_equal(out, latent_labels(5, 3, 3))

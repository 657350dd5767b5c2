"""Kernels stay within their arrays at sizes on the edges: one level, one state, one action, 256 labels, words
of 63 to 65 and 127 to 129 bits, batches of nothing.

`NUMBA_BOUNDSCHECK=1 pytest -m bounds` runs them with every index checked: one beyond its array is an error
there, and elsewhere would be somebody else's memory. `-m 'kernel or bounds'` also checks the comparisons of
kernels with their references so, whose indices NumPy checks where nothing is compiled.
"""

import numba
import numpy as np
import pytest
from url_parts import Explorer

import fasturl as fu
from fasturl._base import compile_cache
from fasturl._base.streams import Streams
from fasturl._kernels.compiling import kernel
from fasturl.agents import DecodedPolicy
from fasturl.agents.game import Game
from fasturl.decoders import AffineDecoder, ConstantDecoder, QuadraticDecoder
from fasturl.envs import VectorEnv, rollout
from fasturl.learners import Task, start
from fasturl.problems.emissions import Bernoulli, Categorical, Gaussian, MappedGaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits

pytestmark = pytest.mark.bounds
SIZES = [(1, 1, 1), (1, 3, 2), (4, 1, 2), (4, 3, 1)]
"""Levels, states and actions."""
WIDTHS = [63, 64, 65, 127, 128, 129]
"""Bits of an observation: words of 64 are full, or one bit short of it, or one bit over."""


def problem(size, emission=None):
    """A Block MDP of a size, whose transitions are uniform and whose rewards are fair coins."""
    horizon, n_states, n_actions = size
    transitions = np.full((horizon, n_states, n_actions, n_states), 1 / n_states)
    return fu.BlockMDP(transitions, np.full((horizon, n_states, n_actions), 0.5), emission=emission)


@kernel
def _entry(array, index):
    return array[index]


@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="indices are not checked in this pass")
def test_an_index_beyond_its_array_is_found_in_this_pass():
    with pytest.raises(IndexError, match="index is out of bounds"):
        _entry(np.zeros(3), 3)


@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="indices are not checked in this pass")
def test_it_is_found_in_the_loops_of_our_learners_too():
    memory = start(fu.OracleQ(), task((4, 3, 2)))
    states = np.zeros((2, 5, 1), np.uint8) + 7  # labels that there are not
    with pytest.raises(ValueError, match=r"OracleQ .*failed: IndexError"):
        memory.learn_episodes(problem((4, 1, 2)).dynamics, states, Streams(0).row("dynamics"), np.empty(2))


def test_kernels_that_check_indices_are_kept_apart_from_those_that_do_not(monkeypatch):
    before = compile_cache.digest()
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", not numba.config.BOUNDSCHECK)
    assert compile_cache.digest() != before


def task(size, episodes=20):
    horizon, n_labels, n_actions = size
    return Task(horizon, n_labels, n_actions, 1.0, episodes, np.array([1, 2, 3, 4], np.uint64))


# --- learners ---

LEARNERS = [fu.OracleQ(), fu.PooledUCBVI(), fu.RMax()]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learners_at_the_edges(learner):
    for size in SIZES:
        run = fu.train(problem(size), learner, 20)
        assert run.values[0] == pytest.approx(size[0] / 2)  # whatever it does earns half a point a level


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learners_learn_nothing_from_nothing(learner):
    memory = start(learner, task((4, 3, 2)))
    memory.replay(np.empty((0, 5), int), np.empty((0, 4), int), np.empty((0, 4)))
    np.testing.assert_allclose(memory.final_policy(), 0.5)


@pytest.mark.parametrize("n_states", [255, 256, 257])
def test_latent_states_on_both_sides_of_a_byte(n_states):
    run = fu.train(problem((2, n_states, 2)), fu.OracleQ(), 300)
    assert run.values[0] == pytest.approx(1.0)


# --- observations of bits ---


@pytest.mark.parametrize("width", WIDTHS)
def test_words_of_bits_are_drawn_shown_and_hashed(width):
    lock = fu.LockBernoulli(width - 3)
    block = lock.instance(0).draw_block(emission_rngs(Streams(0)), 3)
    shown = block.every_state()
    assert shown.shape == (3, width - 2, 3, width)
    np.testing.assert_array_equal(shown[..., :3], np.broadcast_to(np.eye(3), shown[..., :3].shape))
    assert fu.train(lock, fu.OracleQ(), 20, sees="observation").diagnostics[0]["observations_met"] > 20


@pytest.mark.parametrize("width", [63, 65, 128])
def test_words_of_bits_are_learned_from_and_decoded(width):
    frequencies = np.where(np.arange(width) % 2 == np.arange(2)[:, None], 0.95, 0.05)
    env = problem((2, 2, 2), Bernoulli(frequencies, n_levels=3))
    run = fu.train(env, fu.URL(oracle=fu.oracles.KMeans(2)), 200)
    assert min(run.diagnostics[0]["decoder_accuracy"]) == pytest.approx(1.0)


@pytest.mark.parametrize("width", WIDTHS)
def test_words_of_bits_move_side_by_side(width):
    """As many steps as two episodes and a half have."""
    envs = VectorEnv(fu.LockBernoulli(width - 3), num_envs=3)
    observations, _ = envs.reset(seed=0)
    for _ in range(5 * (width - 3) // 2):
        observations, *_ = envs.step(np.zeros(3, int))
    assert observations.shape == (3, width)
    assert set(np.unique(observations)) <= {0, 1}


# --- emissions and decoders ---

EMISSIONS = [
    Bernoulli([[0.5]], n_levels=2),
    Categorical([[1.0]], n_levels=2),
    Gaussian([[0.0]], 1.0, n_levels=2),
    MappedGaussian([[0.0]], 1.0, n_levels=2),
    LockBits(1),
]


@pytest.mark.parametrize("emission", EMISSIONS, ids=lambda emission: type(emission).__name__)
def test_emissions_of_one_coordinate_and_of_no_episodes(emission):
    for episodes in (0, 1, 5):
        block = emission.draw(emission_rngs(Streams(0)), episodes)
        assert block.every_state().shape == (episodes, 2, emission.n_states, emission.dimension)
        states = np.zeros((episodes, 2), np.int64)
        assert block.observe(states).shape == (episodes, 2, emission.dimension)


def decoders(n_labels, dimension):
    rng = np.random.default_rng(0)
    weights, bias = rng.normal(size=(n_labels, dimension)), rng.normal(size=n_labels)
    precisions = np.tile(np.eye(dimension), (n_labels, 1, 1))
    return [
        AffineDecoder(weights, bias),
        QuadraticDecoder(weights, precisions, bias),
        ConstantDecoder(n_labels),
    ]


@pytest.mark.parametrize("n_labels", [2, 255, 256])
@pytest.mark.parametrize("dimension", [1, 8, 9])
def test_decoders_of_as_many_labels_as_a_byte_has(n_labels, dimension):
    for decoder in decoders(n_labels, dimension):
        for n in (0, 1, 70):
            X = np.random.default_rng(1).normal(size=(n, dimension)).astype(np.float32)
            labels = decoder.decode(X)
            assert labels.shape == (n,)
            assert n == 0 or labels.max() < n_labels


@pytest.mark.parametrize("width", WIDTHS)
def test_decoders_of_words_of_bits(width):
    rng = np.random.default_rng(0)
    decoder = AffineDecoder(rng.normal(size=(256, width)), np.zeros(256))
    X = rng.integers(2, size=(50, width), dtype=np.uint8)
    np.testing.assert_array_equal(decoder.decode(X), decoder.decode(X.astype(np.float32)))
    assert decoder.decode(X[:0]).shape == (0,)


def test_a_policy_on_256_labels_is_judged():
    env = problem((2, 2, 2), Gaussian(np.eye(2), 0.1, n_levels=3)).instance(0)
    decoder = AffineDecoder(np.random.default_rng(0).normal(size=(256, 2)), np.zeros(256))
    policy = DecodedPolicy(decoder, np.full((2, 256, 2), 0.5))
    assert policy.judge(env, Streams(0)).value == pytest.approx(1.0)


@pytest.mark.parametrize("learner", [fu.OracleQ(), Explorer()], ids=["compiled", "a user's"])
def test_games_of_no_episodes(learner):
    streams = Streams(0)
    game = Game(fu.LockGaussian(3).instance(0), streams)
    assert game.play_random(0).returns.shape == (0,)
    decoder = AffineDecoder(np.eye(3, 6), np.zeros(3))
    memory = start(learner, game.task(3, 10))
    game.learn(memory, decoder, np.empty(0))
    assert game.explore(memory, decoder, 0).actions.shape == (0, 3)
    assert game.learn_in_view(memory, decoder, 0).actions.shape == (0, 3)


# --- whole runs ---


@pytest.mark.parametrize("env", [fu.LockBernoulli(1), fu.LockGaussian(2)], ids=lambda env: env.name)
def test_url_on_short_locks(env):
    run = fu.train(env, fu.URL(), 300)
    assert run.values[0] >= 0.45


def test_pcid_on_a_short_lock():
    assert fu.train(fu.LockBernoulli(2), fu.PCID(), 2000).values[0] >= 0.45


@pytest.mark.parametrize("size", SIZES)
def test_fixed_policies_at_the_edges(size):
    horizon, n_states, _ = size
    env = problem(size, Gaussian(np.eye(n_states, 3), 0.1, n_levels=horizon + 1))
    played = rollout(env, np.zeros((horizon, n_states), int), episodes=7)
    assert played.observations.shape == (7 * (horizon + 1), 3)
    envs = VectorEnv(env, num_envs=1)
    envs.reset(seed=0)
    for _ in range(2 * horizon + 1):
        envs.step(np.zeros(1, int))

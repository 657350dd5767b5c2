"""Each kernel beside its reference of tests/naive: the same arguments, the same work."""

import naive
import numpy as np
from conftest import Work, measured_beside_references, row
from strategies import filling, filling_rows, latent_labels

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels import (
    affine_decoding,
    decoding,
    dynamics,
    emission,
    hashing,
    labels,
    planning,
    quadratic_decoding,
    records,
    rng,
    tabular,
    variates,
    vector,
    voting,
)
from fasturl._kernels.compiling import inlined
from fasturl.agents.observation import _Rows
from fasturl.learners.compiled import CompiledMemory
from fasturl.learners.learner import Task
from fasturl.problems.emissions import cumulative
from fasturl.problems.environment import emission_rngs

HORIZON, EPISODES = 20, 5_000
LEVELS, DIMENSION = HORIZON + 1, HORIZON + 3
DYNAMICS_RNG, POLICY_RNG = [5, 6, 7, 8], [1, 2, 3, 4]
MODEL = fu.LockBernoulli(HORIZON, 0.2).instance(0)
LABELS = latent_labels(EPISODES, HORIZON, 3)
DRAW = np.random.default_rng(0)


def block(dtype):
    return lambda stream: (stream(DYNAMICS_RNG), np.empty(100_000, dtype))


def variate(name, *parameters):
    """A block of consecutive draws."""
    return Work(
        inlined(filling(getattr(variates, name))),
        filling(getattr(naive.variates, name)),
        lambda stream: (stream(POLICY_RNG), np.empty(100_000), *parameters),
        100_000,
    )


def posterior(prior, share_visited):
    """A Dirichlet of three states for each row of a table of counts, `share_visited` of which are not the
    prior alone. A step is a share, and the same table is sampled ten times, as learners do."""
    visited = DRAW.random((HORIZON * 12, 1)) < share_visited
    counts = DRAW.integers(1, 60, (HORIZON * 12, 3)) * (DRAW.random((HORIZON * 12, 3)) < 0.5)
    weights = np.tile(prior + visited * counts, (10, 1))
    return Work(
        inlined(filling_rows(variates.dirichlet)),
        filling_rows(naive.variates.dirichlet),
        lambda stream: (stream(POLICY_RNG), weights, np.empty_like(weights)),
        weights.size,
    )


def lock(stream):
    return stream(DYNAMICS_RNG), 0.2, np.empty(4, np.int64), np.empty((1_000, 3, 4, 3))


def running_sums(_):
    chances = fu.LockBernoulli(1_000, 0.2).instance(0).transitions.reshape(-1, 3)
    return chances, np.empty_like(chances)


def jin_et_al(_):
    return HORIZON, 3, 4, 10_000, 0.01, 0.05, *np.empty((2, 10_001))


def exploring(_):
    return 0.5, np.empty(10_000)


def memory_of(learner, horizon=HORIZON, episodes=EPISODES):
    return learner.start(Task(horizon, 3, 4, 1.0, episodes, row(POLICY_RNG)))


def learning(learner):
    def arguments(stream):
        return memory_of(learner), MODEL.dynamics, LABELS, stream(DYNAMICS_RNG), np.empty(EPISODES)

    return arguments


def learning_by(loops):
    """The reference of a memory's compiled episodes."""

    def learn(memory, dynamics, labels, dynamics_rng, returns):
        rngs = dynamics_rng, POLICY_RNG.copy()
        loops.learn(dynamics, labels, memory.tables, *rngs, returns, None, [0] * 3)

    return learn


def episodes(stream):
    record = records.Trajectories(
        np.empty((EPISODES, HORIZON + 1), np.int64),
        np.empty((EPISODES, HORIZON), np.int64),
        np.empty((EPISODES, HORIZON)),
    )
    return (
        MODEL.dynamics,
        LABELS,
        np.zeros((HORIZON, 3, 4)),
        0.0,
        stream(DYNAMICS_RNG),
        stream(POLICY_RNG),
        record,
    )


def trajectory(_):
    """A long one, so that the cost of the call itself does not count."""
    horizon = 5_000
    labels, actions = np.arange(horizon + 1) % 3, np.arange(horizon) % 4
    return memory_of(fu.OracleQ(), horizon, 1), labels[None], actions[None], np.zeros((1, horizon))


def replay_naively(memory, labels, actions, rewards):
    naive.q_table.ORACLEQ.replay(memory.tables, labels, actions, rewards, POLICY_RNG.copy(), [0] * 3)


def every_row(stream):
    return np.zeros((2_000, 3, 4)), 0.1, stream(POLICY_RNG), np.empty((2_000, 3), np.int64)


# --- tables of observations ---

OBSERVATIONS = MODEL.emission.draw(emission_rngs(Streams(0)), EPISODES).words
MET = EPISODES * HORIZON


def learning_observations(stream):
    task = Task(HORIZON, 1, 4, 1.0, EPISODES, row(POLICY_RNG))
    rows = _Rows(fu.OracleQ(), task, HORIZON + 3)
    return rows.memory, MODEL.dynamics, OBSERVATIONS, rows.keys, stream(DYNAMICS_RNG), np.empty(EPISODES)


def learn_observations_naively(memory, dynamics, words, keys, dynamics_rng, returns):
    arguments = dynamics, words, keys, memory.tables, dynamics_rng, POLICY_RNG.copy(), returns
    naive.q_table.ORACLEQ.learn_observations(*arguments, None, [0] * 3)


def playing_observations(stream):
    arguments = learning_observations(row)
    CompiledMemory.learn_observations(*arguments)
    memory, _, _, keys, _, returns = arguments
    rngs = stream(DYNAMICS_RNG), stream(POLICY_RNG)
    return MODEL.dynamics, OBSERVATIONS, keys, memory.final_policy(), *rngs, returns


def entering(_):
    table = playing_observations(row)[2].table
    table.slots[:] = -1
    return (table,)


# --- blocks of observations ---

BLOCK = 100
SEEN = BLOCK * LEVELS * 3
BITS = OBSERVATIONS[:BLOCK]
REALS = fu.LockGaussian(HORIZON, 0.2).emission.draw(emission_rngs(Streams(0)), BLOCK)
RAW = DRAW.integers(2**64, size=(BLOCK, LEVELS * DIMENSION // 2 + 1), dtype=np.uint64)


def normals(*shape):
    return DRAW.standard_normal(shape, np.float32)


def scores():
    return np.zeros((BLOCK, 3, 3, LEVELS), np.float32)


def words():
    return np.empty((BLOCK, LEVELS, 3, 1), np.uint64)


def table_of_labels():
    return np.empty((BLOCK, LEVELS, 3), np.uint8)


def lock_bits(_):
    return RAW[:, :8].copy(), HORIZON, words()


def any_bits(_):
    return RAW.view(np.uint32), DRAW.integers(2**32, size=(LEVELS, 3, DIMENSION), dtype=np.uint64), words()


def categories(_):
    return RAW, cumulative(DRAW.dirichlet(np.ones(DIMENSION), (LEVELS, 3))), words()


def packed(_):
    return BITS.reshape(SEEN, 1), np.empty((SEEN, DIMENSION), np.uint8)


def unpacked(_):
    return DRAW.integers(2, size=(SEEN, DIMENSION), dtype=np.uint8), np.empty((SEEN, 1), np.uint64)


def observing(_):
    return (
        REALS.arrays(),
        DRAW.integers(3, size=(BLOCK, LEVELS)),
        np.empty((BLOCK, LEVELS, DIMENSION), np.float32),
    )


STRAIGHT = np.empty(0, np.float32)
"""The curvature of scores without one."""


def affine(_):
    affine_scores = records.AffineScores(normals(3, DIMENSION), normals(3), STRAIGHT)
    return REALS.arrays(), affine_scores, normals(3, 2 * LEVELS), scores()


def affine_by_level(_):
    affine_scores = records.AffineScores(normals(3, DIMENSION, LEVELS), normals(3, LEVELS), STRAIGHT)
    return REALS.arrays(), affine_scores, normals(3, 2 * LEVELS), scores()


def affine_labels(_):
    affine_scores = records.AffineScores(normals(3, DIMENSION), normals(3), STRAIGHT)
    names, tail = np.arange(3, dtype=np.uint8), normals(3, 2 * LEVELS)
    return REALS.arrays(), affine_scores, names, tail, np.empty((BLOCK, LEVELS, 3), np.uint8)


def bent_labels(_):
    observations, affine_scores, names, _, out = affine_labels(_)
    return observations, affine_scores._replace(curvature=normals(3)), names, normals(4, 2 * LEVELS), out


def quadratic(_):
    """Points in the plane, as oracles show a lock to it."""
    observations = records.RealObservations(normals(BLOCK, 2, LEVELS), normals(3, 2, LEVELS), 2)
    mixture = records.QuadraticScores(normals(3, 2, 2), normals(3, 2), normals(3))
    return observations, mixture, normals(2, LEVELS), scores()


def mixing_units(_):
    return scores(), normals(3, 4, LEVELS), scores()


def best(_):
    return normals(BLOCK, 3, 3 * LEVELS), np.arange(3, dtype=np.uint8), table_of_labels()


def support_vectors(_):
    """Thirty for each of three classes."""
    vectors, starts = DRAW.normal(size=(2, 90)), np.array([0, 30, 60, 90])
    classifier = records.SupportVectors(vectors, starts, DRAW.normal(size=(2, 90)), DRAW.normal(size=3), 0.7)
    return (
        normals(BLOCK, 2, 3, LEVELS),
        classifier,
        records.voting_workspace(classifier),
        np.arange(3, dtype=np.uint8),
        table_of_labels(),
    )


def pairs_of_labels(_):
    return *DRAW.integers(3, size=(2, 100_000), dtype=np.uint8), np.empty((3, 3), np.int64)


def whole_policy(stream):
    record = (
        np.empty((EPISODES, LEVELS), np.int64),
        np.empty((EPISODES, HORIZON), np.int64),
        np.empty((EPISODES, HORIZON)),
    )
    return (
        MODEL.dynamics,
        cumulative(np.full((HORIZON, 3, 4), 0.25)),
        stream(DYNAMICS_RNG),
        stream(POLICY_RNG),
        *record,
    )


def plan(*policy):
    model = fu.LockBernoulli(1_000, 0.2).instance(0)
    return lambda stream: (
        model.transitions,
        model.rewards,
        *policy,
        np.empty((1_000, 3, 4)),
        np.empty((1_001, 3)),
    )


WORK = {
    "rng: block of bits": Work(rng.fill_bits, naive.fill_bits, block(np.uint64), 100_000),
    "rng: block of uniforms": Work(rng.fill_uniforms, naive.fill_uniforms, block(np.float64), 100_000),
    "variates: normals": variate("normal"),
    "variates: exponentials": variate("exponential"),
    "variates: gammas of shape 0.5": variate("gamma", 0.5),
    "variates: gammas of shape 1": variate("gamma", 1.0),
    "variates: gammas of shape 2.5": variate("gamma", 2.5),
    "variates: betas of shapes 2.5 and 1.5": variate("beta", 2.5, 1.5),
    "variates: Dirichlets of counts on a uniform prior": posterior(1.0, 0.5),
    "variates: Dirichlets of counts on a prior of thirds": posterior(1 / 3, 0.5),
    "dynamics: lock": Work(dynamics.draw_lock, naive.draw_lock, lock, 1_000),
    "dynamics: running sums": Work(dynamics.cumulate, naive.cumulate, running_sums, 12_000),
    "tabular: schedule of Jin et al.": Work(tabular.jin_schedule, naive.jin_schedule, jin_et_al, 10_000),
    "tabular: share of random actions": Work(
        tabular.falling_epsilons, naive.falling_epsilons, exploring, 10_000
    ),
    "learners: episodes of OracleQ": Work(
        CompiledMemory.learn_episodes,
        learning_by(naive.q_table.ORACLEQ),
        learning(fu.OracleQ()),
        EPISODES * HORIZON,
    ),
    "learners: episodes of QLearning": Work(
        CompiledMemory.learn_episodes,
        learning_by(naive.q_table.QLEARNING),
        learning(fu.QLearning()),
        EPISODES * HORIZON,
    ),
    "learners: replay of a trajectory": Work(CompiledMemory.replay, replay_naively, trajectory, 5_000),
    "learners: episodes on observations": Work(
        CompiledMemory.learn_observations, learn_observations_naively, learning_observations, MET
    ),
    "tabular: rollout": Work(tabular.rollout, naive.rollout, episodes, EPISODES * HORIZON),
    "tabular: policy of an episode": Work(tabular.draw_policy, naive.draw_policy, every_row, 6_000),
    "tabular: episodes of a fixed policy": Work(
        vector.play_policy, naive.vector.play_policy, whole_policy, EPISODES * HORIZON
    ),
    "hashing: play": Work(hashing.play, naive.hashing.play, playing_observations, MET),
    "hashing: rows into a larger table": Work(hashing.rehash, naive.hashing.rehash, entering, MET),
    "emission: bits of a lock": Work(emission.lock_words, naive.lock_words, lock_bits, SEEN),
    "emission: bits of any frequency": Work(emission.bernoulli_words, naive.bernoulli_words, any_bits, SEEN),
    "emission: categories": Work(emission.categorical_words, naive.categorical_words, categories, SEEN),
    "emission: unpack": Work(emission.unpack, naive.unpack, packed, SEEN),
    "emission: pack": Work(emission.pack, naive.pack, unpacked, SEEN),
    "emission: reals along a path": Work(
        emission.observe_reals, naive.observe_reals, observing, BLOCK * LEVELS
    ),
    "decoding: affine scores": Work(affine_decoding.affine_scores, naive.affine_scores, affine, SEEN),
    "decoding: labels of affine scores": Work(
        affine_decoding.affine_labels, naive.affine_labels, affine_labels, SEEN
    ),
    "decoding: labels of scores with curvature": Work(
        affine_decoding.affine_labels, naive.affine_labels, bent_labels, SEEN
    ),
    "decoding: quadratic scores": Work(
        quadratic_decoding.quadratic_scores, naive.quadratic_scores, quadratic, SEEN
    ),
    "decoding: affine scores by level": Work(
        affine_decoding.affine_scores, naive.affine_scores, affine_by_level, SEEN
    ),
    "decoding: mixtures of units": Work(decoding.mix_units, naive.mix_units, mixing_units, SEEN),
    "decoding: best labels": Work(decoding.best_labels, naive.best_labels, best, SEEN),
    "decoding: support vectors": Work(
        voting.support_vector_labels, naive.support_vector_labels, support_vectors, SEEN
    ),
    "labels: pairs": Work(labels.count_pairs, naive.count_pairs, pairs_of_labels, 100_000),
    "planning: optimal values": Work(planning.optimal_q, naive.optimal_q, plan(), 12_000),
    "planning: policy values": Work(
        planning.policy_q, naive.policy_q, plan(np.full((1_000, 3, 4), 0.25)), 12_000
    ),
}

MUST_REACH = {"learners: episodes of OracleQ": 500}


test_reference, test_kernel = measured_beside_references(WORK, MUST_REACH)

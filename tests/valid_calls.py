"""A valid call of every function of the C face, for tests that spoil them."""

import numpy as np
from c_face import stream, tables_in_c
from hostile_calls import Case, Cell, Handle, Struct
from strategies import latent_labels

import fasturl as fu


def cases():
    rng = np.random.default_rng(0)
    model = fu.LockBernoulli(2, 0.3).instance(0)
    tables = tables_in_c(model)

    def dynamics():
        return Struct("fasturl_dynamics", horizon=2, n_states=3, n_actions=4, **tables)

    def block(**changes):
        sizes = {
            "episodes": 2,
            "n_levels": 2,
            "n_states": 3,
            "dimension": 3,
            "coordinates": 4,
            "n_informative": 3,
        }
        arrays = {
            "noise": rng.normal(size=(2, 4, 2)).astype(np.float32),
            "means": rng.normal(size=(3, 3, 2)).astype(np.float32),
        }
        return Struct("fasturl_block", **(sizes | arrays | changes))

    def training():
        arrays = {
            "labels": latent_labels(2, 2, 3),
            "dynamics_rng": stream(0, 1),
            "policy_rng": stream(0, 3),
            "q": np.ones((2, 3, 4)),
        }
        arrays |= {
            "visits": np.zeros((2, 3, 4), np.int64),
            "rates": np.full(6, 0.3),
            "bonuses": np.zeros(6),
            "epsilons": np.zeros(5),
        }
        sizes = {"dynamics": dynamics(), "episodes": 5, "n_labels": 3, "label_rows": 2, "cap": 1.0}
        return Struct("fasturl_training", **arrays, **sizes, returns=np.zeros(5))

    oracleq = Struct(
        "fasturl_oracleq",
        schedule=0,
        learning_rate=0.3,
        confidence=1e-3,
        failure_probability=0.05,
        max_return=1.0,
    )
    task = Struct(
        "fasturl_task",
        horizon=2,
        n_labels=3,
        n_actions=4,
        episodes=5,
        max_return=1.0,
        least_reward=0.0,
        greatest_reward=1.0,
    )
    qlearning = Struct("fasturl_qlearning", learning_rate=0.3, exploration_fraction=0.5)
    rngs, dynamics_rng, numbers = stream(0, 2, words=16), stream(0, 1), rng.random(6)
    weights, bias, relabel = (
        rng.normal(size=(3, 3)).astype(np.float32),
        np.zeros(3, np.float32),
        np.arange(3, dtype=np.uint8),
    )
    actions, states = np.array([0, 1, 3]), np.array([0, 1, 2])
    chances, rewards = np.array(model.transitions), np.array(model.rewards)
    path, doubles, visits = np.array([0, 1, 2]), np.ones((2, 3, 4)), np.zeros((2, 3, 4), np.int64)
    return [
        Case("strerror", 3),
        Case("seed_stream", 7, np.array([1, 2], np.uint32), np.zeros(4, np.uint64)),
        Case("fill_bits", dynamics_rng, np.zeros(5, np.uint64)),
        Case("draw_lock", dynamics_rng, 2, 0.2, np.zeros((2, 3, 4, 3))),
        Case("cumulate", chances, 3, np.zeros_like(chances)),
        Case("start", dynamics(), dynamics_rng, 3, np.zeros(3, np.int64)),
        Case("step", dynamics(), 1, dynamics_rng, 3, actions, states, np.zeros(3)),
        Case("optimal_q", chances, rewards, 2, 3, 4, doubles, np.zeros((3, 3))),
        Case("lock_words", rngs, 5, 2, np.zeros(4, np.uint64), np.zeros((2, 6, 3, 1), np.uint64)),
        Case("gaussian_noise", rngs, 0.1, block(), np.zeros(4, np.uint64)),
        Case("observe", block(), np.array([[0, 1], [2, 0]]), np.zeros((2, 2, 3), np.float32)),
        Case(
            "decode_affine",
            block(),
            3,
            weights,
            bias,
            relabel,
            np.zeros((4, 3, 2), np.float32),
            np.zeros((2, 2, 3), np.uint8),
        ),
        Case("latent_labels", 2, 2, 3, np.zeros((2, 3, 3), np.uint8)),
        Case(
            "count_labels",
            np.array([0, 1, 2, 1], np.uint8),
            2,
            3,
            np.array([0, 1, 4]),
            np.zeros((2, 3), np.int64),
        ),
        Case("fix_labels", np.array([[0, 0, 9], [1, 5, 0]]), 2, 3, np.array([0, 1]), relabel),
        Case(
            "update_trajectory",
            2,
            3,
            4,
            path,
            np.array([1, 3]),
            np.zeros(2),
            numbers,
            numbers,
            1.0,
            doubles,
            visits,
        ),
        Case("learn", training()),
        Case("train_oracleq", training(), oracleq),
        Case("train_qlearning", training(), qlearning),
        Case("learner_start", b"oracleq", b"confidence=0.1 schedule=spread", task, stream(0, 3), Cell()),
        Case(
            "learner_learn",
            Handle(),
            dynamics(),
            5,
            latent_labels(2, 2, 3),
            2,
            stream(0, 1),
            np.zeros(5),
        ),
        Case("learner_policy", Handle(), np.zeros((2, 3), np.int64)),
        Case(
            "learner_replay",
            Handle(),
            2,
            np.array([[0, 1, 2], [2, 1, 0]]),
            np.array([[0, 3], [1, 2]]),
            np.array([[0.0, 1.0], [0.5, 0.0]]),
        ),
        Case("learner_final_policy", Handle(), np.zeros((2, 3, 4))),
        Case("learner_free", Handle()),
        Case("last_error", np.zeros(50, np.int8)),
    ]

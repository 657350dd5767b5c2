"""Values of policies on decoded labels, the accuracy of decoders, and the matching of labels."""

import hypothesis
import hypothesis.strategies as st
import naive.url
import numpy as np
import pytest
from strategies import DRAWS

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.evaluation import DecodedPolicy, decoder_accuracy
from fasturl.agents.label_matching import match_labels
from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.by_level import LevelDecoder
from fasturl.decoders.predict import PredictDecoder
from fasturl.problems.emissions import Gaussian
from fasturl.problems.environment import emission_rngs

HORIZON = 4
PERFECT = AffineDecoder(np.eye(3, HORIZON + 3), np.zeros(3))
"""Reads the one-hot code of a lock."""


class Blind:
    def predict(self, X):
        return np.zeros(len(X), int)


BLIND = PredictDecoder(Blind(), 3)


def play(env, seed, policy, decoder=PERFECT):
    streams = Streams(seed)
    verdict = DecodedPolicy(decoder, policy).judge(env.draw(streams), streams.evaluation())
    return verdict.value, verdict.error


# --- values ---


@pytest.mark.parametrize(
    "env", [fu.LockBernoulli(HORIZON, 0.2), fu.LockGaussian(HORIZON, 0.2, 0.1)], ids=repr
)
def test_the_value_on_perfect_labels_is_that_on_latent_states(env):
    """Within 5 standard errors of the exact value, for good, random and bad policies."""
    for seed in range(5):
        best = np.eye(4)[env.optimal_policy(seed)]
        for policy in (best, np.full((HORIZON, 3, 4), 0.25), 1 / 3 - best / 3):
            chances = (policy > 0) / (policy > 0).sum(axis=2, keepdims=True)
            value, error = play(env, seed, policy)
            assert abs(value - env.policy_value(chances, seed)) <= max(5 * error, 0.005)


@pytest.mark.parametrize("chances", [[0.4, 0.2, 0.2, 0.2], [0.0, 0.9, 0.1, 0.0], [0.05, 0.05, 0.05, 0.85]])
def test_probabilities_mean_what_they_mean_on_latent_states(chances):
    """Within 5 standard errors, on locks whose actions are permuted; labels beyond the states are never
    met."""
    env = fu.LockBernoulli(2, 0.2)
    decoder = AffineDecoder(np.eye(5, 5), np.where(np.arange(5) < 3, 0.0, -9.0))
    for seed in range(5):
        best = env.optimal_policy(seed)
        policy = np.array(chances)[(np.arange(4) - best[..., None]) % 4]
        value, error = play(env, seed, np.concatenate([policy, policy[:, :2]], axis=1), decoder)
        assert abs(value - env.policy_value(policy, seed)) <= 5 * error


def test_an_agent_that_sees_states_and_one_that_decodes_them_value_a_policy_alike():
    class Fixed:
        def start(self, task):
            memory = fu.OracleQ().start(task)
            memory.final_policy = lambda: np.tile([0.4, 0.2, 0.2, 0.2], (task.horizon, task.n_labels, 1))
            return memory

    env = fu.LockBernoulli(1)
    latent, decoded = (fu.train(env, agent, 300, seeds=3) for agent in (Fixed(), fu.URL(learner=Fixed())))
    np.testing.assert_allclose(
        decoded.values, latent.values, atol=5 * 0.0072
    )  # standard errors of 4,000 episodes


def test_the_error_is_the_standard_error_of_4000_coins():
    env = fu.LockBernoulli(HORIZON)
    value, error = play(env, 0, np.eye(4)[env.optimal_policy(0)])
    assert error == pytest.approx(np.sqrt(value * (1 - value) / 3_999))


def positions(streams):
    return [
        *(streams.row(name).tolist() for name in ("dynamics", "policy", "instance")),
        emission_rngs(streams).tolist(),
    ]


def test_an_evaluation_is_repeatable_and_leaves_the_streams_of_training_alone():
    env, streams = fu.LockBernoulli(HORIZON, 0.2), Streams(1)
    instance, final = env.draw(streams), DecodedPolicy(PERFECT, np.full((HORIZON, 3, 4), 0.25))
    before = positions(streams)
    first = final.judge(instance, streams.evaluation())
    assert final.judge(instance, streams.evaluation()) == first
    assert positions(streams) == before


def test_a_policy_is_followed_on_labels_and_not_on_states():
    """A blind decoder calls every state 0: with the optimal action of state 0 everywhere, it is a policy of
    its own."""
    env = fu.LockBernoulli(2, 0.5)
    values = []
    for seed in range(5):
        policy = env.optimal_policy(seed)
        value, error = play(env, seed, np.eye(4)[policy], BLIND)
        assert abs(value - env.policy_value(np.repeat(policy[:, :1], 3, axis=1), seed)) < 5 * error
        values.append(value)
    assert min(values) < 0.4 < max(values)


# --- accuracy ---


def accuracy(env, decoder, seed=0):
    streams = Streams(seed)
    return decoder_accuracy(env.draw(streams), decoder, streams)


def test_a_perfect_decoder_is_right_at_every_level_up_to_a_permutation_of_its_own():
    renamed = LevelDecoder([PERFECT.relabelled(np.roll(np.arange(3), h)) for h in range(HORIZON + 1)])
    for decoder in (PERFECT, PERFECT.relabelled([2, 0, 1]), renamed):
        assert accuracy(fu.LockBernoulli(HORIZON, 0.2), decoder) == [1.0] * (HORIZON + 1)


def test_states_that_no_policy_reaches_do_not_count():
    """A lock starts in state 0: there a blind decoder is right. Later it is right for one state of three."""
    assert accuracy(fu.LockBernoulli(HORIZON, 0.2), BLIND) == pytest.approx([1.0] + [1 / 3] * HORIZON)


def test_the_accuracy_of_a_threshold_is_that_of_the_normal_distribution():
    """Two states one unit apart, noise 0.5: the middle is one deviation away, so 84.1 % of labels are
    right."""
    transitions, rewards = np.full((1, 2, 2, 2), 0.5), np.zeros((1, 2, 2))
    env = fu.BlockMDP(
        transitions, rewards, start=[0.5, 0.5], emission=Gaussian([[0.0], [1.0]], 0.5, n_levels=2)
    )
    decoder = AffineDecoder([[0.0], [1.0]], [0.0, -0.5])
    assert accuracy(env, decoder) == pytest.approx([0.841, 0.841], abs=5 * np.sqrt(0.84 * 0.16 / 400))


# --- matching ---


@hypothesis.given(DRAWS, st.integers(2, 4), st.integers(1, 60))
def test_matching_equals_trying_every_renaming(draw, n_labels, count):
    old = draw.integers(n_labels, size=count)
    new = np.where(
        draw.random(count) < 0.8, draw.permutation(n_labels)[old], draw.integers(n_labels, size=count)
    )
    renaming, agreement = match_labels(old, new, n_labels)
    ref, _ = naive.url.match_labels(old.tolist(), new.tolist(), n_labels)
    assert sorted(renaming.tolist()) == list(range(n_labels))
    assert (renaming[new] == old).sum() == (np.array(ref)[new] == old).sum()
    shares = [
        ((renaming[new] == k) & (old == k)).sum() / max((old == k).sum(), (renaming[new] == k).sum())
        for k in set(old) | set(renaming[new])
    ]
    assert agreement == pytest.approx(min(shares))


def test_matching_undoes_a_permutation():
    old = np.array([0, 0, 1, 2, 2, 2])
    for permutation in ([1, 2, 0], [2, 1, 0], [0, 1, 2]):
        new = np.array(permutation)[old]
        renaming, agreement = match_labels(old, new, 3)
        assert renaming[new].tolist() == old.tolist()
        assert agreement == 1.0


def test_the_agreement_is_that_of_the_worst_label_however_rare():
    """999 observations agree, and half of the two of a rare label do."""
    old = np.array([0] * 998 + [1, 1])
    new = np.array([0] * 998 + [1, 0])
    assert match_labels(old, new, 2)[1] == 0.5


def test_labels_that_do_not_occur_do_not_count():
    assert match_labels(np.array([0, 0, 1]), np.array([2, 2, 0]), 5)[1] == 1.0

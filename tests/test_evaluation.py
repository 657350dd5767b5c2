"""Values of policies on decoded labels, the accuracy of decoders, and the matching of labels."""

import hypothesis
import hypothesis.strategies as st
import naive.url
import numpy as np
import pytest
from scipy.stats import binom, norm
from strategies import DRAWS

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents import evaluation
from fasturl.agents.evaluation import DecodedPolicy
from fasturl.agents.label_matching import labels_differ, match_labels
from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.by_level import LevelDecoder
from fasturl.decoders.predict import PredictDecoder
from fasturl.problems.blocks import ObservationBlock
from fasturl.problems.emissions import Bernoulli, Categorical, CEmission, Emission, Gaussian, MappedGaussian
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
def test_the_value_on_labels_without_a_mistake_is_that_on_latent_states(env):
    """For good, random and bad policies. What is left is what a single mistake would have changed."""
    for seed in range(5):
        best = np.eye(4)[env.optimal_policy(seed)]
        for policy in (best, np.full((HORIZON, 3, 4), 0.25), 1 / 3 - best / 3):
            value, error = play(env, seed, policy)
            assert value == pytest.approx(env.policy_value(policy, seed), abs=1e-12)
            assert error <= 0.5 / evaluation._MOST_OBSERVATIONS


@pytest.mark.parametrize("chances", [[0.4, 0.2, 0.2, 0.2], [0.0, 0.9, 0.1, 0.0], [0.05, 0.05, 0.05, 0.85]])
def test_probabilities_mean_what_they_mean_on_latent_states(chances):
    """On locks whose actions are permuted; labels beyond the states are never met."""
    env = fu.LockBernoulli(2, 0.2)
    decoder = AffineDecoder(np.eye(5, 5), np.where(np.arange(5) < 3, 0.0, -9.0))
    for seed in range(5):
        best = env.optimal_policy(seed)
        policy = np.array(chances)[(np.arange(4) - best[..., None]) % 4]
        value, _ = play(env, seed, np.concatenate([policy, policy[:, :2]], axis=1), decoder)
        assert value == pytest.approx(env.policy_value(policy, seed), abs=1e-12)


def test_an_agent_that_sees_states_and_one_that_decodes_them_value_a_policy_alike():
    class Fixed:
        def start(self, task):
            memory = fu.OracleQ().start(task)
            memory.final_policy = lambda: np.tile([0.4, 0.2, 0.2, 0.2], (task.horizon, task.n_labels, 1))
            return memory

    env = fu.LockBernoulli(1)
    latent, decoded = (fu.train(env, agent, 300, seeds=3) for agent in (Fixed(), fu.URL(learner=Fixed())))
    np.testing.assert_allclose(decoded.values, latent.values, rtol=1e-12)


class Thresholds:
    """Two states one unit apart that are told apart in the middle, and a path of four levels on which an
    action is good in a state and bad in the other."""

    decoder = AffineDecoder([[0.0], [1.0]], [0.0, -0.5])
    policy = np.tile(np.eye(2), (4, 1, 1))

    def __init__(self, noise):
        draw = np.random.default_rng(5)
        transitions, rewards = draw.dirichlet([1, 1], (4, 2, 2)), draw.random((4, 2, 2))
        emission = Gaussian([[0.0], [1.0]], noise, n_levels=5)
        self.env = fu.BlockMDP(transitions, rewards, emission=emission)
        wrong = norm.cdf(-0.5 / noise)
        mixed = np.tile([[1 - wrong, wrong], [wrong, 1 - wrong]], (4, 1, 1))
        self.value = self.env.policy_value(mixed)

    def judged(self, seed):
        return play(self.env, seed, self.policy, self.decoder)


@pytest.mark.parametrize("noise", [0.2, 0.5, 2.0])
def test_values_are_unbiased_and_their_errors_are_those_of_a_normal_estimate(noise):
    """Three states of affairs: few mistakes, many, hardly anything seen. The value is known from the normal
    distribution. Of 400 evaluations, 1.96 errors contain it 380 times if the errors are right: fewer than
    364 or more than 395 happen by chance less than once in 200. And the mean is off by 4 of its own errors
    once in 15,000."""
    judged = np.array([Thresholds(noise).judged(seed) for seed in range(400)])
    distances = (judged[:, 0] - Thresholds(noise).value) / judged[:, 1]
    assert binom.cdf(363, 400, 0.95) + binom.sf(395, 400, 0.95) < 1 / 200
    assert 364 <= (np.abs(distances) <= 1.96).sum() <= 395
    assert abs(distances.mean()) < 4 * distances.std(ddof=1) / 20


def test_mistakes_too_rare_to_be_met_are_within_three_errors():
    """Noise such that two mistakes are met in an evaluation, on average. None is met in 14 % of them, and
    then the value is that of a perfect decoder, and its error that of one mistake at the worst place. Less
    than 90 % of 400 within three errors would happen 3 times in 10^5 if 95 % are, the rule of three."""
    noise = 0.5 / norm.isf(2 / (5 * 2 * evaluation._MOST_OBSERVATIONS))
    truth = Thresholds(noise).value
    judged = np.array([Thresholds(noise).judged(seed) for seed in range(400)])
    assert binom.cdf(359, 400, 0.95) < 3e-5
    assert (np.abs(judged[:, 0] - truth) <= 3 * judged[:, 1]).sum() >= 360
    assert (judged[:, 1] > 0).all()


@pytest.mark.parametrize("noise", [0.3, 0.4])
def test_the_value_is_what_100000_episodes_give(noise):
    """A lock whose decoder errs at every level: within 4 standard errors of the difference (1 in 15,000), of
    which nearly all is that of the episodes."""
    env = fu.LockGaussian(10, 0.2, noise)
    decoder, policy = AffineDecoder(np.eye(3, 13), np.zeros(3)), np.eye(4)[env.optimal_policy(0)]
    value, error = play(env, 0, policy, decoder)
    instance, rngs = env.draw(Streams(0)), Streams(77).evaluation()
    returns = np.concatenate(
        [
            evaluation.play_labels(instance, evaluation.draw_labels(instance, decoder, rngs), policy, rngs)
            for _ in range(25)
        ]
    )
    mean, mean_error = evaluation.mean_and_error(returns)
    assert returns.size == 100_000
    assert abs(value - mean) < 4 * np.hypot(error, mean_error)
    assert error < 0.004 < 0.5 - value


@hypothesis.given(DRAWS, st.integers(1, 3), st.integers(1, 3), st.integers(2, 4))
@hypothesis.settings(max_examples=30, deadline=None)
def test_value_and_error_are_those_of_one_observation_at_a_time(draw, horizon, n_states, n_labels):
    transitions = draw.dirichlet(np.ones(n_states), (horizon, n_states, 2))
    env = fu.BlockMDP(
        transitions, draw.random((horizon, n_states, 2)), start=draw.dirichlet(np.ones(n_states))
    )
    labels = draw.integers(n_labels, size=(7, horizon + 1, n_states)).astype(np.uint8)
    chances = draw.dirichlet([1, 1], (horizon, n_labels))
    shares = evaluation.label_shares(labels, n_labels)
    comp = evaluation.value_on_labels(env, labels, shares, chances)
    np.testing.assert_allclose(comp, naive.evaluation.value_on_labels(env, labels, chances), rtol=1e-9)


class Foggy(Emission):
    """Some episodes have fog, which hides the states of all levels alike: levels are not independent."""

    discrete, n_levels, n_states, dimension = False, 3, 2, 2

    def draw(self, rngs, episodes):
        fog = Bernoulli([[0.5]], n_levels=1).draw(rngs, episodes).every_state().reshape(episodes, 1, 1, 1)
        looks = np.broadcast_to(np.eye(2), (episodes, 3, 2, 2)) * (1 - fog)
        return ObservationBlock(looks.astype(np.float32))


class Drifting(Gaussian):
    """Draws in its own way, and does not say what that means for levels."""

    def draw(self, rngs, episodes):
        return super().draw(rngs, episodes)


def test_levels_that_share_their_noise_are_played():
    """Half of the episodes have fog at both levels and get label 0 there. The value is the mean of that with
    and that without fog, where fog at each level for itself would give another."""
    transitions = np.tile(np.eye(2)[:, None], (2, 1, 2, 1))
    rewards = np.zeros((2, 2, 2))
    rewards[1] = np.eye(2)
    transitions[0, 0], transitions[0, 1] = np.eye(2), np.eye(2)[::-1]
    env = fu.BlockMDP(transitions, rewards, start=[0.5, 0.5], emission=Foggy())
    decoder, policy = AffineDecoder(np.eye(2), [0.01, 0.0]), np.tile(np.eye(2), (2, 1, 1))
    verdict = DecodedPolicy(decoder, policy).judge(env, Streams(0).evaluation())
    foggy = np.tile([[1.0, 0.0]], (2, 2, 1))
    truth = (env.policy_value(policy) + env.policy_value(foggy)) / 2
    assert abs(verdict.value - truth) < 4 * verdict.error
    assert abs(env.policy_value((policy + foggy) / 2) - truth) > 8 * verdict.error
    assert verdict.error == pytest.approx(
        np.sqrt(verdict.value * (1 - verdict.value) / (evaluation.EPISODES - 1))
    )


def test_an_emission_says_itself_that_levels_are_independent():
    """What a class says holds for its own `draw`, not for that of a subclass."""
    looks = np.eye(2)
    for emission in (
        fu.LockBernoulli(2).emission,
        Gaussian(looks, 0.1, n_levels=2),
        MappedGaussian(looks, 0.1, n_levels=2),
        Bernoulli(looks, n_levels=2),
        Categorical(looks, n_levels=2),
    ):
        assert emission.has_independent_levels
    assert CEmission.independent_levels
    assert not Foggy().has_independent_levels
    assert not Drifting(looks, 0.1, n_levels=2).has_independent_levels


def test_large_tables_get_fewer_episodes(monkeypatch):
    """They take the memory that is allowed, or that of the least number of episodes where it is more."""
    instance, decoder = fu.LockBernoulli(HORIZON).instance(0), PERFECT
    entries = (HORIZON + 1) * 3
    for allowed, episodes in ((entries * 1000, 1000), (entries, 400), (entries * 10**6, 4000)):
        monkeypatch.setattr(evaluation, "_TABLE_ENTRIES", allowed)
        assert len(evaluation.draw_labels(instance, decoder, Streams(0))) == episodes


@pytest.mark.parametrize(("levels_are_independent", "least"), [(True, 1000), (False, 4000)])
def test_long_horizons_are_judged_by_fewer_observations_and_as_many_episodes(
    levels_are_independent, least, monkeypatch
):
    """Where the value is computed from observations; means of episodes would lose precision."""
    most = 2000 if levels_are_independent else 4000
    for horizon, episodes in ((20, most), (900, max(2**22 // (901 * 3), least)), (2000, least)):
        instance = fu.LockBernoulli(horizon).instance(0)
        monkeypatch.setattr(type(instance.emission), "has_independent_levels", levels_are_independent)
        assert evaluation._most_episodes(instance) == episodes


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
        value, _ = play(env, seed, np.eye(4)[policy], BLIND)
        assert value == pytest.approx(env.policy_value(np.repeat(policy[:, :1], 3, axis=1), seed))
        values.append(value)
    assert min(values) < 0.4 < max(values)


# --- accuracy ---


def accuracy(env, decoder, seed=0):
    streams = Streams(seed)
    policy = np.full((env.horizon, decoder.n_labels, env.n_actions), 1 / env.n_actions)
    return DecodedPolicy(decoder, policy).judge(env.draw(streams), streams).diagnostics["decoder_accuracy"]


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
    assert accuracy(env, decoder) == pytest.approx([0.841, 0.841], abs=5 * np.sqrt(0.84 * 0.16 / 2000))


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


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([200, 3_000], [[196, 4], [4, 2_996]], False),  # four of a rare label lie near a border
        ([200, 3_000], [[180, 20], [0, 3_000]], True),
        ([3_000], [[2_994, 6]], True),  # a label of its own for what was not told apart
        ([3_000, 6], [[3_000, 0], [6, 0]], True),
        ([200, 3_000], [[0, 200], [3_000, 0]], False),  # other names alone
    ],
    ids=["near a border", "part of a label", "new", "gone", "renamed"],
)
def test_labels_differ_where_more_than_those_near_a_border_have_moved(old, new, expected):
    """How many observations of each old label have each of the new ones."""
    before = np.repeat(np.arange(len(old)), old)
    after = np.concatenate([np.repeat(np.arange(2), sizes) for sizes in new])
    assert labels_differ(before, after, 2) is expected


def test_labels_that_do_not_occur_do_not_count():
    assert match_labels(np.array([0, 0, 1]), np.array([2, 2, 0]), 5)[1] == 1.0

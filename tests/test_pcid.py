"""PCID: against a slow reference, its published figures, and what it cannot do."""

import re

import naive
import numpy as np
import pytest
from numba import cfunc, types
from url_parts import returns

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.past_decoding import PastDecoder, cluster
from fasturl.agents.past_regression import Linear
from fasturl.agents.pcid import default_samples
from fasturl.problems.emissions import Bernoulli, Categorical, CEmission, Gaussian
from fasturl.problems.environment import emission_rngs


def ladder(emission, horizon=3):
    """Two states, three actions; rewards at every level that depend on state and action and say nothing of
    the next state."""
    draw = np.random.default_rng(5)
    transitions = draw.dirichlet([0.3, 0.3], (horizon, 2, 3))
    rewards = draw.integers(0, 3, (horizon, 2, 3)) / 2
    return fu.BlockMDP(transitions, rewards, emission=emission)


def two_kinds_of_bits(n_levels):
    """Six bits that are usually on in one state and off in the other."""
    return Bernoulli([[0.95] * 6, [0.05] * 6], n_levels=n_levels)


@pytest.mark.parametrize(
    ("env", "n_clusters", "samples", "episodes"),
    [
        pytest.param(fu.LockBernoulli(3, 0.2), 3, 250, 900, id="lock of bits"),
        pytest.param(fu.LockBernoulli(3, 0.5), 3, 200, 700, id="states that look alike"),
        pytest.param(fu.LockGaussian(3, 0.0, 0.2), 3, 250, 900, id="lock of reals"),
        pytest.param(ladder(two_kinds_of_bits(4)), 2, 100, 400, id="rewards everywhere"),
        pytest.param(fu.LockBernoulli(3, 0.2), 4, 60, 200, id="too few samples for clusters"),
        pytest.param(fu.LockBernoulli(3, 0.2), 3, 200, 450, id="episodes end while exploring"),
    ],
)
@pytest.mark.parametrize(
    ("model", "fit"),
    [("linear", naive.pcid.fit_line), ("neural-warm-start", naive.pcid.fit_warm_network)],
)
def test_a_run_equals_its_reference(env, n_clusters, samples, episodes, model, fit):
    """The reference of the network trains in float64, the library in float32: no label may turn on the
    difference."""
    for seed in range(2):
        streams = Streams(seed)
        ref = naive.pcid.Explorer(
            env.instance(seed), streams, emission_rngs(streams), n_clusters, samples, fit
        ).play(episodes)
        comp = returns(env, fu.PCID(n_clusters, samples, model), episodes, seed)
        np.testing.assert_array_equal(ref, comp)


@pytest.mark.parametrize(
    ("env", "n_clusters", "samples", "episodes"),
    [
        pytest.param(fu.LockBernoulli(3, 0.2), 3, 250, 900, id="lock of bits"),
        pytest.param(fu.LockGaussian(3, 0.0, 0.2), 3, 250, 900, id="lock of reals"),
        pytest.param(fu.LockBernoulli(3, 0.2), 4, 60, 150, id="episodes end while exploring"),
    ],
)
def test_a_run_of_the_published_network_equals_its_reference(env, n_clusters, samples, episodes):
    """As above. Hundreds of epochs in float64 take their time, so there are fewer runs."""
    streams = Streams(0)
    ref = naive.pcid.Explorer(
        env.instance(0), streams, emission_rngs(streams), n_clusters, samples, naive.pcid.fit_network
    ).play(episodes)
    comp = returns(env, fu.PCID(n_clusters, samples, "neural"), episodes, 0)
    np.testing.assert_array_equal(ref, comp)


def live_share(horizon, samples):
    """The rewards that exploration of a lock is due to meet: who is alive at level h survives each random
    action with chance 1/2."""
    return samples * sum(
        (1 if level == 1 else 2 / 3) * 0.5 ** (horizon + 2 - level) for level in range(1, horizon + 1)
    )


@pytest.mark.parametrize(
    ("env", "samples", "episodes"),
    [
        (fu.LockBernoulli(5, 0.0), 300, 4000),
        (fu.LockBernoulli(5, 0.2), 300, 4000),
        (fu.LockGaussian(5, 0.2, 0.1), 300, 4000),
        (fu.LockBernoulli(10, 0.2), 500, 8000),
    ],
)
@pytest.mark.parametrize("model", ["linear", "neural-warm-start"])
def test_the_average_reward_is_that_of_a_right_decoder(env, samples, episodes, model):
    """Every exploring episode reaches its target, every other one earns 1/2: the published 0.337 and
    0.209."""
    run = fu.train(env, fu.PCID(3, samples, model), episodes, seeds=5)
    explored = env.horizon * samples
    expected = (live_share(env.horizon, samples) + (episodes - explored) / 2) / episodes
    deviation = (
        np.sqrt(live_share(env.horizon, samples) + (episodes - explored) / 4)
        / episodes
        / np.sqrt(len(run.seeds))
    )
    assert abs(run.average_reward[:, -1].mean() - expected) < 4.5 * deviation
    assert run.success_rate == 1
    for diagnostics in run.diagnostics:
        assert diagnostics["states_found"] == [1] + [3] * env.horizon
        assert min(diagnostics["decoder_accuracy"]) > 0.97
        assert diagnostics["exploration_trajectories"] == explored
        assert diagnostics["seconds"].keys() == {"exploration", "regression", "exploitation", "evaluation"}


def test_the_published_network_solves_most_locks_from_a_random_start():
    """Some starts end in a decoder that takes two states for one."""
    run = fu.train(fu.LockBernoulli(5, 0.2), fu.PCID(3, 300, "neural"), 4000, seeds=20)
    expected = (live_share(5, 300) + (4000 - 5 * 300) / 2) / 4000
    assert abs(run.average_reward[:, -1].mean() - expected) < 0.01
    assert run.success_rate >= 0.9
    accuracies = np.array([diagnostics["decoder_accuracy"] for diagnostics in run.diagnostics])
    assert (accuracies.min(axis=1) > 0.97).mean() > 0.7


def published_lock(horizon, switch, seed):
    """The lock of the published program, which differs from that of the paper: the second good action of a
    state is the one after the first, so that the two states have none in common on a quarter of the levels
    and not on a sixth; and the last step does not switch."""
    draw = np.random.default_rng([7, seed])
    transitions = np.zeros((horizon, 3, 4, 3))
    transitions[..., 2] = 1
    for h, state in np.ndindex(horizon, 2):
        chance = switch if h < horizon - 1 else 0
        stay = draw.integers(4)
        go = (stay + 1) % 4
        transitions[h, state, [stay, go], 2] = 0
        transitions[h, state, stay, [state, 1 - state]] = [1 - chance, chance]
        transitions[h, state, go, [state, 1 - state]] = [chance, 1 - chance]
    rewards = np.zeros_like(transitions)
    rewards[-1, :, :, :2] = 0.5
    return fu.BlockMDP(transitions, rewards, emission=fu.LockBernoulli(horizon).emission)


def test_the_average_reward_at_switch_one_half_is_the_published_one():
    """0.11 with a standard deviation of 0.14 over 50 seeds on the lock of the published program: most runs
    earn what exploration does, and a few half of the time."""
    rewards = np.array(
        [
            fu.train(published_lock(5, 0.5, seed), fu.PCID(3, 300), 4000, seeds=[seed]).average_reward[0, -1]
            for seed in range(100)
        ]
    )
    assert abs(rewards.mean() - 0.11) < 2 * 0.14 * np.sqrt(1 / 50 + 1 / 100)
    assert abs(rewards.std(ddof=1) - 0.14) < 0.03
    assert (rewards < 0.05).mean() > 0.4
    assert 0.05 < (rewards > 0.3).mean() < 0.45


@pytest.mark.parametrize("model", ["linear", "neural-warm-start"])
@pytest.mark.parametrize("switch", [0.0, 0.2])
def test_the_default_number_of_samples_solves_a_lock_with_twenty_levels(model, switch):
    run = fu.train(
        fu.LockBernoulli(20, switch), fu.PCID(model=model), 20 * default_samples(20, 3, 4), seeds=4
    )
    assert run.success_rate == 1


def test_the_live_states_of_a_lock_with_switch_one_half_have_one_backward_distribution():
    """Their predictions draw together as samples grow, down to nothing; with switch 0.2 they stay apart."""

    def gap(switch, n):
        draw = np.random.default_rng(3)
        before, taken = draw.integers(2, size=n), draw.integers(2, size=n)
        after = np.where(draw.random(n) < switch, 1 - taken, taken)  # alive, and the action that is good
        points = Linear(Streams(0).row("oracle"), np.eye(2)[after], before * 2 + taken, 4, 2).points
        return np.linalg.norm(points[:, after == 0].mean(axis=1) - points[:, after == 1].mean(axis=1))

    assert gap(0.5, 400_000) < 0.1 * gap(0.5, 400) < 0.05
    assert abs(gap(0.2, 400_000) - 0.6) < 0.01


def test_the_live_states_of_a_lock_with_switch_one_half_are_not_told_apart():
    half, fifth = (
        np.array(
            [
                d["decoder_accuracy"][1:]
                for d in fu.train(fu.LockBernoulli(5, switch), fu.PCID(3, 600), 4000, seeds=10).diagnostics
            ]
        )
        for switch in (0.5, 0.2)
    )
    assert fifth.min() == 1
    assert half.mean() < 0.75  # 2/3 where the third label is never given


def test_a_lock_with_switch_one_half_is_not_solved():
    run = fu.train(fu.LockBernoulli(10, 0.5), fu.PCID(3, 500), 8000, seeds=10)
    assert run.values.mean() < 0.25
    assert run.average_reward[:, -1].mean() < 0.1


@cfunc(
    types.int32(
        types.CPointer(types.uint64),
        types.int64,
        types.int64,
        types.CPointer(types.float32),
        types.int64,
        types.voidptr,
    )
)
def two_squares(stream, level, state, x, dimension, context):
    """Uniform on one of two squares that touch nowhere."""
    for i in range(dimension):
        x[i] = 2 * state + types.float32(stream[i] >> 40) / 2**24
    return 0


@pytest.mark.parametrize("model", ["linear", "neural", "neural-warm-start"])
@pytest.mark.parametrize(
    "emission",
    [
        two_kinds_of_bits(5),
        Gaussian([[0, 0, 1.0], [1.0, 0, 0]], 0.1, n_levels=5),
        Categorical([[0.5, 0.5, 0, 0], [0, 0, 0.3, 0.7]], n_levels=5),
        CEmission(two_squares, 2),
    ],
    ids=["bits", "reals", "symbols", "C"],
)
def test_any_block_mdp_with_vectors_can_be_learned(emission, model):
    env = ladder(emission, 4)
    run = fu.train(env, fu.PCID(2, 1000, model, rewards="state-action"), 5000, seeds=2)
    best = env.optimal_value()
    assert (run.values > 0.93 * best).all()


def test_rewards_of_states_are_learned_by_default_and_those_of_actions_too_when_asked_for():
    """Two actions that lead to one state each, of which one pays; and a ladder whose actions pay, wherever
    they lead."""
    emission = Gaussian([[0, 0, 1.0], [1.0, 0, 0]], 0.1, n_levels=2)
    states_pay = fu.BlockMDP(np.tile(np.eye(2), (1, 2, 1, 1)), [[[[0.0, 1.0]]]], emission=emission)
    actions_pay = ladder(Gaussian([[0, 0, 1.0], [1.0, 0, 0]], 0.1, n_levels=5), 4)

    def values(env, rewards):
        return fu.train(env, fu.PCID(2, 1000, rewards=rewards), 5000, seeds=4).values

    assert (values(states_pay, "state") == 1).all()
    assert (values(states_pay, "state-action") == 1).all()
    assert values(actions_pay, "state").mean() < 0.95 * values(actions_pay, "state-action").mean()


def test_more_clusters_than_states_do_no_harm():
    run = fu.train(fu.LockBernoulli(5, 0.2), fu.PCID(6, 800), 5000, seeds=3)
    assert run.success_rate == 1


def test_pairs_that_were_never_tried_give_no_nan():
    """Thirty samples over forty actions."""
    transitions = np.tile([0.5, 0.5], (3, 2, 40, 1))
    env = fu.BlockMDP(transitions, np.full((3, 2, 40), 0.5), emission=two_kinds_of_bits(4))
    run = fu.train(env, fu.PCID(2, 30), 200, seeds=3)
    assert np.isfinite(run.average_reward).all()
    assert np.isfinite(run.values).all()


@pytest.mark.parametrize("episodes", [1, 299, 300, 700, 1500])
def test_a_run_that_ends_while_exploring_is_valid(episodes):
    run = fu.train(fu.LockBernoulli(5, 0.2), fu.PCID(3, 300), episodes, seeds=2)
    learned = min(episodes // 300, 5)
    for diagnostics in run.diagnostics:
        assert diagnostics["exploration_trajectories"] == episodes
        assert diagnostics["states_found"] == [1] + [3] * learned + [1] * (5 - learned)
    assert np.isfinite(run.values).all()


@pytest.mark.parametrize("env", [fu.LockBernoulli(4, 0.2), fu.LockGaussian(4, 0.2)], ids=["bits", "reals"])
@pytest.mark.parametrize("model", ["linear", "neural", "neural-warm-start"])
def test_the_number_of_threads_changes_nothing(env, model):
    agent = fu.PCID(3, 200, model)
    one, two = (fu.train(env, agent, 1200, seeds=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.average_reward, two.average_reward)
    np.testing.assert_array_equal(one.values, two.values)


def random_decoder(dimension, n_levels, n_labels, logistic):
    draw = np.random.default_rng(8)
    decoder = PastDecoder(n_levels, dimension, n_labels, logistic=logistic)
    for level in range(1, n_levels):
        mixing = draw.normal(size=(n_labels - 1, n_labels + 1)) if logistic else None
        n_scores = n_labels if logistic else n_labels - 1
        decoder.learn(level + 1, draw.normal(size=(n_scores, dimension)), draw.normal(size=n_scores), mixing)
    return decoder


@pytest.mark.parametrize("env", [fu.LockBernoulli(66), fu.LockGaussian(6, noise=1.0)], ids=["bits", "reals"])
@pytest.mark.parametrize("logistic", [False, True])
def test_a_block_gets_the_labels_of_its_observations(env, logistic):
    emission = env.emission
    decoder = random_decoder(emission.dimension, emission.n_levels, 5, logistic).relabelled([3, 1, 0, 2, 4])
    block = emission.draw(emission_rngs(Streams(0)), 50)
    labels, X = decoder.table(block), block.every_state()
    assert set(labels[:, 0].ravel()) == {3}
    assert set(labels[:, 1:].ravel()) == {0, 1, 2, 3}
    for level in range(emission.n_levels):
        observations = X[:, level].reshape(-1, emission.dimension)
        np.testing.assert_array_equal(decoder.decode(observations, level + 1), labels[:, level].ravel())
    np.testing.assert_array_equal(decoder.first_levels(block, 4)[:, :4], labels[:, :4])


@pytest.mark.parametrize(
    ("sizes", "found"),
    [([40, 40, 40], 3), ([40, 40, 29], 2), ([200, 20, 20], 2), ([200, 14, 15], 1), ([100, 29], 1)],
)
def test_a_cluster_has_at_least_thirty_samples(sizes, found):
    places = 10.0 * np.eye(3)[np.repeat(np.arange(len(sizes)), sizes)]
    points = np.ascontiguousarray((places + np.random.default_rng(0).normal(0, 0.1, places.shape)).T)
    centres = cluster(Streams(0).row("oracle"), points, 3)
    assert len(centres) == found
    if found == 3:
        np.testing.assert_allclose(centres[np.argsort(centres @ [0.0, 1.0, 2.0])], 10 * np.eye(3), atol=0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples_per_level": 29}, "samples_per_level must be an integer >= 30, got 29"),
        ({"n_clusters": 40, "samples_per_level": 39}, "samples_per_level must be an integer >= 40, got 39"),
        ({"samples_per_level": 50.5}, "samples_per_level must be an integer >= 30, got 50.5"),
        ({"n_clusters": 1}, "n_clusters must be an integer from 2 to 256, got 1"),
        ({"n_clusters": 257}, "n_clusters must be an integer from 2 to 256, got 257"),
        ({"model": "forest"}, "model must be one of 'linear', 'neural', 'neural-warm-start', got 'forest'"),
        ({"rewards": "none"}, "rewards must be one of 'state', 'state-action', got 'none'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        fu.PCID(**settings)


def test_an_environment_without_vectors_is_refused():
    with pytest.raises(ValueError, match=r"^env must have an emission that shows vectors"):
        fu.train(ladder(None), fu.PCID(2), 100)

"""The kernels of vector environments against their references."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS, GENERATORS, SIZES, chances, dynamics, reward_sizes, row

from fasturl._kernels import vector
from fasturl._kernels.records import RANDOM_REWARDS, Coins, Normals, Players, SharedTables
from fasturl.problems.vector_tables import read_only

pytestmark = pytest.mark.kernel

HORIZONS = [1, 2, 4, 5, 20, 21, 32, 33, 60, 61, 62, 64, 125, 126]
"""From many levels in one raw word to several words in one observation, and observations of fewer than eight
bits."""
OWN = st.sampled_from(["none", "ways", "all"])
"""Which tables environments have of their own."""


def tables(draw, sizes, n_ways, n_rewards=1):
    """Random tables, of which every environment has its own or all have the same: ways on the one hand, and
    starts and rewards on the other."""
    horizon, n_states, n_actions = sizes
    several = [dynamics(draw, *sizes) for _ in range(n_rewards)]
    outcomes = several[0].transitions.reshape(-1, n_states)
    kind = np.uint8 if n_ways > 1 else np.int32
    ways = draw.integers(0, min(255, len(outcomes)), (horizon, n_ways, n_states, n_actions)).astype(kind)
    rewards = np.stack([one.rewards for one in several], axis=1)
    sizes = reward_sizes(draw, rewards.shape)
    return SharedTables(
        read_only(np.stack([one.start for one in several])),
        outcomes,
        ways,
        read_only(rewards),
        read_only(np.stack([one.reward_kinds == RANDOM_REWARDS for one in several], axis=1)),
        sizes if sizes.ndim == 5 else sizes[None],
    )


def own_or_shared(draw, sizes, n_envs, own):
    """Tables that all share, or with ways of each environment's own as locks have them, or all its own."""
    return tables(draw, sizes, 1 if own == "none" else n_envs, n_envs if own == "all" else 1)


def players(draw, n_envs):
    words = draw.integers(1, 2**63, (n_envs, 20)).astype(np.uint64)
    dynamics_rng, rngs = words[:, :4].copy(), words[:, 4:].reshape(n_envs, 4, 4).copy()
    return Players(dynamics_rng, rngs, np.zeros(n_envs, np.int64), np.zeros(n_envs, np.int64))


def coins(horizon, n_envs):
    """The coins of a lock, laid out as `emission.lock_words` reads them, all zeros."""
    levels, n_words = np.arange(horizon + 1), -(-(horizon + 3) // 64)
    share = max(1, 64 // horizon) if n_words == 1 else 1  # levels to a word
    draws = -(-(horizon + 1) * n_words // share)
    raw = np.zeros((n_envs, -(-draws // 4), 4), np.uint64)
    return Coins(
        raw,
        raw.reshape(n_envs, -1),
        levels // share * n_words,
        (levels % share * horizon).astype(np.uint64),
        np.uint64(3 if n_words == 1 else 0),
    )


def normals(means, deviation, n_envs):
    """Noise of zeros around means [L, S, D]; the draws of an episode are a multiple of eight."""
    n_levels, _, dimension = means.shape
    coordinates = dimension
    while coordinates * n_levels % 8:
        coordinates += 1
    grid = np.empty((2, coordinates, n_levels), np.float32)
    noise = np.zeros((n_levels, n_envs, dimension), np.float32)
    informative = np.flatnonzero(means.any(axis=(0, 1)))
    return Normals(
        np.float32(deviation),
        grid.reshape(2, 2, -1),
        grid,
        noise,
        noise.reshape(n_levels, -1),
        means.astype(np.float32),
        int(informative[-1]) + 1 if informative.size else 0,
    )


def copied(group):
    return type(group)(*(np.copy(part) for part in group))


def play_both(draw, kind, given, n_envs, ref_noise, comp_noise, empty, flat=False, close=0.0):
    """Play kernel and reference side by side, with episodes that begin at different times, and compare
    everything they leave."""
    horizon, _, _, n_actions = given.ways.shape
    begin, step = getattr(vector, f"begin_{kind}"), getattr(vector, f"step_{kind}")
    ref_begin, ref_step = getattr(naive.vector, f"begin_{kind}"), getattr(naive.vector, f"step_{kind}")
    comp = players(draw, n_envs)
    ref = copied(comp)
    for turn in range(min(2 * horizon + 3, 10)):
        outs, results = [empty() for _ in range(2)], []
        mask = np.ones(n_envs, bool) if turn == 0 else draw.random(n_envs) < 0.3
        actions = draw.integers(0, n_actions, n_envs)
        for (start, move), these, noise, out in zip(
            ((ref_begin, ref_step), (begin, step)), (ref, comp), (ref_noise, comp_noise), outs, strict=True
        ):
            also = (out, out.reshape(-1)) if flat else (out,)
            if turn % 3 == 0:
                start(given, these, mask, *noise, *also)
                results.append((0, np.zeros(n_envs), np.zeros(n_envs, bool)))
            else:
                rewards, ended = np.full(n_envs, np.nan), np.ones(n_envs, bool)
                count = move(given, these, actions, *noise, *also, rewards, ended)
                results.append((count, rewards, ended))
        np.testing.assert_allclose(outs[1], outs[0], rtol=0, atol=close)
        for ours, theirs in zip(results[1], results[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)
        for ours, theirs in zip(comp, ref, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        if turn == 0:
            comp.levels[:] = ref.levels[:] = draw.integers(max(0, horizon - 9), horizon + 1, n_envs) * (
                draw.random() < 0.5
            )


@hypothesis.settings(max_examples=20)
@hypothesis.given(st.lists(GENERATORS, min_size=1, max_size=4), st.integers(1, 4), DRAWS)
def test_locks_equal_their_reference(states, horizon, draw):
    mask = draw.random(len(states)) < 0.7
    ref, comp = np.full((2, horizon, len(states), 3, 4), 9, np.uint8)
    ref_streams, comp_streams = row(states), row(states)
    naive.vector.draw_locks(ref_streams, mask, np.empty(4, np.int64), ref)
    vector.draw_locks(comp_streams, mask, np.empty(4, np.int64), comp)
    np.testing.assert_array_equal(comp, ref)
    np.testing.assert_array_equal(comp_streams, ref_streams)


@pytest.mark.parametrize("horizon", HORIZONS)
def test_bits_equal_their_reference(horizon):
    draw, n_envs = np.random.default_rng(horizon), 3
    given = tables(draw, (horizon, 3, 4), n_envs)
    ref, comp = (coins(horizon, n_envs) for _ in range(2))
    play_both(
        draw,
        "bits",
        given,
        n_envs,
        (ref,),
        (comp,),
        lambda: np.full((n_envs, horizon + 3), 9, np.int8),
    )


@hypothesis.settings(max_examples=12)
@hypothesis.given(DRAWS, SIZES, st.integers(1, 3), st.integers(1, 5), OWN)
def test_reals_equal_their_reference(draw, sizes, n_envs, dimension, own):
    """To the precision of the normals: those of the reference are rounded from doubles."""
    given = own_or_shared(draw, sizes, n_envs, own)
    means = draw.normal(size=(sizes[0] + 1, sizes[1], dimension)) * (draw.random(dimension) < 0.7)
    ref, comp = (normals(means, 0.5, n_envs) for _ in range(2))

    def empty():
        return np.full((n_envs, dimension), np.nan, np.float32)

    play_both(draw, "reals", given, n_envs, (ref,), (comp,), empty, flat=True, close=1e-3)


def test_noise_of_an_environment_does_not_depend_on_who_else_begins():
    """The bits of one environment are drawn while the normals of another are made."""
    draw, n_envs, horizon = np.random.default_rng(0), 7, 3
    given, everyone = tables(draw, (horizon, 3, 2), n_envs), players(draw, n_envs)
    alone, out = copied(everyone), np.empty((n_envs, 5), np.float32)
    means = np.tile(np.eye(3, 5), (horizon + 1, 1, 1))
    at_once, one_by_one, by_turns = (normals(means, 0.1, n_envs) for _ in range(3))
    turns = copied(everyone)
    vector.begin_reals(given, everyone, np.ones(n_envs, bool), at_once, out, out.reshape(-1))
    for e in (3, 0, 6, 1, 2, 5, 4):
        vector.begin_reals(given, alone, np.arange(n_envs) == e, one_by_one, out, out.reshape(-1))
    for first in (1, 0):
        vector.begin_reals(given, turns, np.arange(n_envs) % 2 == first, by_turns, out, out.reshape(-1))
    for noise, there in ((one_by_one, alone), (by_turns, turns)):
        np.testing.assert_array_equal(noise.noise, at_once.noise)
        np.testing.assert_array_equal(there.emission_rngs, everyone.emission_rngs)


def test_reals_are_the_noise_plus_the_mean_whether_levels_differ_or_not():
    """The two ways of showing them give the same bits, signs of zeros included."""
    draw, n_envs, horizon = np.random.default_rng(0), 4, 3
    given = tables(draw, (horizon, 3, 2), n_envs)
    noise = normals(np.tile(np.eye(3, 5), (horizon + 1, 1, 1)), 0.1, n_envs)
    there, out = players(draw, n_envs), np.empty((n_envs, 5), np.float32)
    noise.noise[0, :, 1] = -0.0
    for levels in ([0, 0, 0, 0], [0, 1, 0, 2]):
        there.levels[:], there.states[:] = levels, [0, 1, 2, 1]
        vector.begin_reals(given, there, np.zeros(n_envs, bool), noise, out, out.reshape(-1))
        expected = noise.noise[there.levels, np.arange(n_envs)] + noise.means[there.levels, there.states]
        assert out.tobytes() == expected.tobytes()


@hypothesis.settings(max_examples=12)
@hypothesis.given(DRAWS, SIZES, st.integers(1, 3), OWN, st.sampled_from([np.int8, np.float32]))
def test_looks_equal_their_reference(draw, sizes, n_envs, own, kind):
    given = own_or_shared(draw, sizes, n_envs, own)
    observations = (draw.normal(size=(sizes[0] + 1, n_envs, sizes[1], 3)) * 20).astype(kind)
    play_both(
        draw,
        "observations",
        given,
        n_envs,
        (observations,),
        (observations,),
        lambda: np.full((n_envs, 3), 99, kind),
    )


@hypothesis.settings(max_examples=12)
@hypothesis.given(DRAWS, SIZES, st.integers(1, 3), OWN)
def test_latent_states_equal_their_reference(draw, sizes, n_envs, own):
    play_both(
        draw, "latent", own_or_shared(draw, sizes, n_envs, own), n_envs, (), (), lambda: np.full(n_envs, -1)
    )


@hypothesis.given(DRAWS, SIZES, GENERATORS, GENERATORS, st.integers(0, 4))
def test_playing_a_policy_equals_its_reference(draw, sizes, dynamics_rng, policy_rng, episodes):
    horizon, n_states, n_actions = sizes
    given, policy = dynamics(draw, *sizes), chances(draw, horizon, n_states, n_actions).cumsum(axis=2)
    policy[..., -1] = 1.0
    ref, comp = (
        [
            np.full((episodes, horizon + 1), -1),
            np.full((episodes, horizon), -1),
            np.full((episodes, horizon), np.nan),
        ]
        for _ in range(2)
    )
    rows = row(dynamics_rng), row(policy_rng)
    naive.vector.play_policy(given, policy, dynamics_rng, policy_rng, *ref)
    vector.play_policy(given, policy, *rows, *comp)
    for ours, theirs in zip(comp, ref, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [stream.tolist() for stream in rows] == [dynamics_rng, policy_rng]

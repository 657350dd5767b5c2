"""More labels than states, where states have several looks, and no more where noise is not normal."""

import numpy as np
import pytest
from scipy.special import ndtri

import fasturl as fu
from fasturl.agents import further_labels, pooled_decoding
from fasturl.agents.further_labels import FurtherLabels, most_labels, symbol_decoder
from fasturl.agents.pooled_decoding import PooledDecoding, _observation_parts
from fasturl.oracles.refinement import refined_decoder
from fasturl.problems.blocks import ObservationBlock, packed


class Looks(fu.emissions.Emission):
    """A state shows one of its looks [S, K, D], each as often: means of reals, or shares of bits."""

    independent_levels = True

    def __init__(self, looks, n_levels, *, discrete):
        self.looks, self.n_levels, self.discrete = looks, n_levels, discrete
        self.n_states, _, self.dimension = looks.shape

    def draw(self, rngs, episodes):
        width = self.dimension + 1
        words = fu.emissions.raw_words(rngs, episodes, self.n_levels * width)
        chances = ((words >> np.uint64(11)) + 0.5) / 2**53
        chances = chances[:, : self.n_levels * width].reshape(episodes, self.n_levels, width)
        shown = (chances[..., 0] * self.looks.shape[1]).astype(int)
        means = self.looks.swapaxes(0, 1)[shown]
        draws = chances[:, :, None, 1:]
        if self.discrete:
            return packed((draws < means).astype(np.uint8))
        return ObservationBlock((means + 0.1 * ndtri(draws)).astype(np.float32))


def lock_with_looks(*, discrete, horizon=6):
    """The paper's lock, whose three states have two looks each."""
    generator = np.random.default_rng(3)
    looks = generator.normal(size=(3, 2, 12))
    looks /= np.linalg.norm(looks, axis=2, keepdims=True)
    if discrete:
        looks = np.where(generator.random((3, 2, 24)) < 0.5, 0.04, 0.96)
    lock = fu.LockBernoulli(horizon, switch=0.2).instance(0)
    emission = Looks(looks, horizon + 1, discrete=discrete)
    return fu.BlockMDP(lock.transitions, lock.rewards, emission=emission)


@pytest.mark.parametrize("discrete", [False, True])
def test_states_with_two_looks_have_two_labels_each(discrete):
    run = fu.train(lock_with_looks(discrete=discrete), fu.URL(), 2_000, seeds=3)
    assert run.success_rate == 1.0
    assert [max(diagnostics["labels_found"]) for diagnostics in run.diagnostics] == [6, 6, 6]
    assert run.warnings == {}


def test_all_levels_may_have_further_labels_once_each_was_decoded_by_itself():
    """The two looks of a state are opposite, so a few trajectories make levels look different."""
    means = np.random.default_rng(1).normal(size=(3, 1, 12))
    means /= np.linalg.norm(means, axis=2, keepdims=True)
    emission = Looks(np.concatenate([means, -means], axis=1), 9, discrete=False)
    lock = fu.LockBernoulli(8, switch=0.5).instance(0)
    env = fu.BlockMDP(lock.transitions, lock.rewards, emission=emission)
    run = fu.train(env, fu.URL(), 3_000, seeds=4)
    assert run.success_rate == 1.0
    assert [one["levels"] for one in run.diagnostics] == ["pooled"] * 4


def test_a_decoder_with_further_labels_stays_only_against_as_few_observations(monkeypatch):
    """It is made from a sample of those of the fit, so a fit on more of them may draw better borders."""
    added, fit, fits = FurtherLabels.added, PooledDecoding._fit_on_history, []

    def record_added(self, decoder, *arguments):
        found = added(self, decoder, *arguments)
        fits.append([found is not decoder])
        return found

    def record_fit(self, *arguments, **settings):
        result = fit(self, *arguments, **settings)
        fits[-1] += [result.n_rows, sum(map(len, _observation_parts(arguments[0])))]
        return result

    monkeypatch.setattr(further_labels, "MOST_REFINED", 500)
    monkeypatch.setattr(pooled_decoding, "MOST_REFINED", 500)
    monkeypatch.setattr(FurtherLabels, "added", record_added)
    monkeypatch.setattr(PooledDecoding, "_fit_on_history", record_fit)
    fu.train(lock_with_looks(discrete=False), fu.URL(levels="pooled"), 500, seeds=1)
    assert any(has_further and n_rows < n_observations for has_further, n_rows, n_observations in fits)
    for has_further, n_rows, n_observations in fits:
        assert n_rows == (min(500, n_observations) if has_further else n_observations)


def test_a_bound_that_somebody_gave_is_kept():
    for agent in (fu.URL(n_states=3), fu.URL(oracle=fu.oracles.GMM(n_states=3))):
        run = fu.train(lock_with_looks(discrete=False), agent, 500, seeds=1)
        assert max(run.diagnostics[0]["labels_found"]) == 3
        assert any("several states" in warning for warning in run.diagnostics[0]["warnings"])


@pytest.mark.parametrize("shares", [[0.5, 0.3, 0.2], [1 / 12] * 12, [0.9, *[0.005] * 20]])
def test_symbols_need_not_be_counted(shares):
    """Three states, each of as many symbols."""
    lock = fu.LockBernoulli(6, switch=0.2).instance(0)
    symbols = fu.emissions.Categorical(np.kron(np.eye(3), shares), n_levels=7)
    env = fu.BlockMDP(lock.transitions, lock.rewards, emission=symbols)
    run = fu.train(env, fu.URL(), 2_000, seeds=3)
    assert run.success_rate == 1.0
    assert run.warnings == {}


def test_each_symbol_has_a_label_where_there_are_more_than_states():
    rows = np.eye(300, dtype=np.uint8)[np.random.default_rng(0).integers(12, size=400)]
    decoder = symbol_decoder(rows, 5, 12)
    labels = decoder.decode(rows)
    np.testing.assert_array_equal(labels, np.unique(rows.argmax(axis=1), return_inverse=True)[1])
    assert symbol_decoder(rows, 12, 256) is None  # a label for each state is enough
    assert symbol_decoder(rows, 5, 11) is None  # too many
    assert symbol_decoder(rows.astype(np.float32), 5, 12) is None
    two_ones = rows.copy()
    two_ones[-1, :2] = 1
    assert symbol_decoder(two_ones, 5, 12) is None


@pytest.mark.parametrize(
    ("horizon", "n_actions", "n_states", "most"),
    [(20, 4, 3, 256), (128, 4, 3, 256), (200, 4, 3, 204), (1000, 4, 3, 91), (1000, 100, 40, 40)],
)
def test_a_model_of_all_labels_has_a_quarter_of_a_gigabyte(horizon, n_actions, n_states, most):
    """It has a number of 8 bytes for each level, label, action and next label; states have labels anyway."""
    assert most_labels(n_states, horizon, n_actions) == most


def test_symbols_get_labels_within_the_memory_of_a_model(monkeypatch):
    monkeypatch.setattr(further_labels, "_MODEL_NUMBERS", 6 * 4 * 8**2)
    found = []
    for n_symbols in (2, 3):
        lock = fu.LockBernoulli(6, switch=0.2).instance(0)
        shares = np.full(n_symbols, 1 / n_symbols)
        symbols = fu.emissions.Categorical(np.kron(np.eye(3), shares), n_levels=7)
        env = fu.BlockMDP(lock.transitions, lock.rewards, emission=symbols)
        found.append(max(fu.train(env, fu.URL(), 200).diagnostics[0]["labels_found"]))
    assert found[0] == 6
    assert found[1] <= 8


def clouds(noise):
    """Observations of three states with this noise [n, 6] around them, and a decoder of the states."""
    states = np.arange(len(noise)) % 3
    rows = (8.0 * np.eye(3, 6)[states] + noise).astype(np.float32)
    return rows, refined_decoder(rows, states)


def added(decoder, rows, n_states=3, by_level=None):
    """What is made of a decoder where each observation is a trajectory of one level, or those given are."""
    trajectories = rows[:, None] if by_level is None else by_level
    return FurtherLabels(n_states, 256).added(decoder, rows, trajectories, 100, np.random.default_rng(0))


def kinds_of_noise():
    generator = np.random.default_rng(0)
    shape, angles = (3000, 6), generator.uniform(0.0, 2 * np.pi, 3000)
    ring = 0.1 * generator.normal(size=shape)
    ring[:, 3:5] += 2.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return {
        "normal": generator.normal(size=shape),
        "uniform": generator.uniform(-1.0, 1.0, shape),
        "long tails": 0.3 * generator.standard_t(3, shape),
        "ring": ring,
    }


@pytest.mark.parametrize("kind", kinds_of_noise())
def test_noise_of_any_shape_gets_no_labels(kind):
    rows, decoder = clouds(kinds_of_noise()[kind])
    assert added(decoder, rows) is decoder


def test_clusters_within_a_label_get_labels():
    generator = np.random.default_rng(0)
    noise, side = 0.3 * generator.normal(size=(3000, 6)), generator.integers(2, size=3000)
    noise[:, 4] += 3.0 * side
    rows, decoder = clouds(noise)
    labels = added(decoder, rows).decode(rows)
    pairs = {
        (label, state, look) for label, state, look in zip(labels, np.arange(3000) % 3, side, strict=True)
    }
    assert len(pairs) == 6
    assert added(decoder, rows, n_states=4) is decoder  # room is left
    by_level = np.stack([rows[side == 0][:1400], rows[side == 1][:1400]], axis=1)
    assert added(decoder, rows, by_level=by_level) is decoder  # of two levels that look different

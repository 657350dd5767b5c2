"""Whether levels look alike, told from labelled observations, and what URL makes of it."""

import hypothesis
import numpy as np
import pytest
from scipy.special import ndtri
from strategies import DRAWS

import fasturl as fu
from fasturl.agents.level_comparison import predict_better, unexplained
from fasturl.problems.blocks import ObservationBlock


def slow_errors(observations, labels):
    """Every observation of one half is predicted from the other half."""
    n, n_levels, _ = observations.shape
    together = apart = 0.0
    for half in (0, 1):
        known = [(i, h) for i in range(half, n, 2) for h in range(n_levels)]
        everything = np.mean([observations[i, h] for i, h in known], axis=0)

        def mean(rows, other):
            return (np.sum(rows, axis=0) + other) / (len(rows) + 1) if rows else other

        for i in range(1 - half, n, 2):
            for h in range(n_levels):
                alike = [observations[a, b] for a, b in known if labels[a, b] == labels[i, h]]
                level = mean([observations[a, b] for a, b in known if b == h], everything)
                here = [observations[a, b] for a, b in known if b == h and labels[a, b] == labels[i, h]]
                together += np.square(observations[i, h] - mean(alike, everything)).sum()
                apart += np.square(observations[i, h] - mean(here, level)).sum()
    return together, apart


@pytest.mark.parametrize("of_bits", [False, True], ids=["reals", "bits"])
@hypothesis.given(DRAWS)
@hypothesis.settings(max_examples=30)
def test_the_errors_are_those_of_predicting_one_observation_at_a_time(of_bits, draw):
    n, n_levels, dimension, n_labels = draw.integers([2, 1, 1, 1], [9, 5, 4, 4])
    observations = draw.normal(3.0, 1.0, (n, n_levels, dimension)).astype(np.float32)
    if of_bits:
        observations = (observations > 3.0).astype(np.uint8)
    labels = draw.integers(n_labels, size=(n, n_levels))
    comp = unexplained(observations, labels, n_labels)
    assert (comp.together, comp.apart) == pytest.approx(slow_errors(observations, labels), rel=1e-4)


def seen(n, by_level, seed=0):
    """Observations of two states at six levels, [n, 6, 8], which look the same at all levels or not."""
    generator = np.random.default_rng(seed)
    means = generator.normal(size=(6, 2, 8))
    if not by_level:
        means[:] = means[0]
    states = generator.integers(2, size=(n, 6))
    noise = generator.normal(0, 0.2, (n, 6, 8))
    return (means[np.arange(6), states] + noise).astype(np.float32), states


@pytest.mark.parametrize("n", [8, 40, 1_000])
@pytest.mark.parametrize("seed", range(5))
def test_few_trajectories_tell_whether_levels_differ(n, seed):
    assert not unexplained(*seen(n, by_level=False, seed=seed), 2).levels_differ
    assert unexplained(*seen(n, by_level=True, seed=seed), 2).levels_differ


def slow_log_spread(rows, labels, kinds):
    """The logarithm of the determinant of the errors of predicting one observation at a time."""
    n, n_levels, dimension = rows.shape
    errors = []
    for i, h in np.ndindex(n, n_levels):
        known = [(a, b) for a in range(1 - i % 2, n, 2) for b in range(n_levels) if kinds[b] == kinds[h]]
        everything = np.mean([rows[at] for at in known], axis=0)
        alike = [rows[at] for at in known if labels[at] == labels[i, h]]
        errors.append(rows[i, h] - np.mean([*alike, everything], axis=0))
    return np.linalg.slogdet(np.transpose(errors) @ errors + np.eye(dimension))[1]


@hypothesis.given(DRAWS)
@hypothesis.settings(max_examples=60)
def test_the_better_labels_have_the_smaller_determinant_of_errors(draw):
    n, n_levels, dimension, n_labels = draw.integers([4, 1, 1, 1], [9, 5, 4, 4])
    observations = draw.normal(3.0, 1.0, (n, n_levels, dimension)).astype(np.float32)
    separate, pooled = draw.integers(n_labels, size=(2, n, n_levels))
    rows = (observations - observations.mean(axis=(0, 1))) / observations.std(axis=(0, 1))
    kinds = np.arange(n_levels)
    gain = slow_log_spread(rows, pooled, 0 * kinds) - slow_log_spread(rows, separate, kinds)
    hypothesis.assume(abs(gain - np.log(2)) > 1e-3)
    assert predict_better(separate, pooled, observations) == (gain > np.log(2))


@pytest.mark.parametrize("seed", range(5))
def test_units_and_mixtures_of_coordinates_do_not_tell_which_labels_are_better(seed):
    """One of the coordinates has a unit in which its noise is all that one sees, and all are mixed."""
    generator = np.random.default_rng(seed)
    matrix = generator.normal(size=(8, 8))
    matrix[0] *= 1e3
    for by_level in (False, True):
        observations, states = seen(400, by_level, seed)
        sides = (observations[:, :, 0] > np.median(observations[:, :, 0])).astype(np.int64)
        for rows in (observations, observations @ matrix.astype(np.float32)):
            assert predict_better(states, states, rows) == by_level
            assert not predict_better(sides, states, rows) or by_level


class InManyUnits(fu.emissions.Emission):
    """Clusters at random places, which are eight times the noise apart, in units from 0.001 to 1,000."""

    independent_levels = True

    def __init__(self, n_states, n_levels, *, seed, by_level=False):
        generator = np.random.default_rng(seed)
        self.n_states, self.n_levels, self.discrete, self.dimension = n_states, n_levels, False, 13
        means = generator.normal(size=(n_states, 13))
        gaps = np.linalg.norm(means[:, None] - means, axis=2)
        self.means = 8.0 * means / gaps[gaps > 0].min()
        self.units = 10.0 ** generator.uniform(-3, 3, size=13)
        if by_level:
            self.means = self.means + 4.0 * generator.normal(size=(n_levels, 1, 13))

    def draw(self, rngs, episodes):
        words = fu.emissions.raw_words(rngs, episodes, self.n_levels * 13)
        chances = ((words[:, : self.n_levels * 13] >> np.uint64(11)) + 0.5) / 2**53
        noise = ndtri(chances.reshape(episodes, self.n_levels, 1, 13))
        return ObservationBlock(((self.means + noise) * self.units).astype(np.float32))


@pytest.mark.parametrize(
    ("by_level", "levels", "episodes"), [(False, "pooled", 400), (True, "separate", 5_000)]
)
def test_a_split_of_the_noise_of_the_largest_unit_does_not_win(by_level, levels, episodes):
    """A lock of two good states, one of whose three actions is right. Few observations of a level do not tell
    that their noise is uneven."""
    transitions, rewards = np.zeros((5, 3, 3, 3)), np.zeros((5, 3, 3))
    transitions[..., 2], rewards[4, :2] = 1.0, 0.8
    for h, s in np.ndindex(5, 2):
        transitions[h, s, (h + s) % 3] = [0.5, 0.5, 0.0]
    env = fu.BlockMDP(transitions, list(rewards), emission=InManyUnits(3, 6, seed=9, by_level=by_level))
    run = fu.train(env, fu.URL(), episodes, seeds=[1, 2, 4])
    assert run.success_rate == 1.0
    assert {one["levels"] for one in run.diagnostics} == {levels}


@pytest.mark.parametrize(
    ("env", "levels"),
    [
        (fu.LockBernoulli(6, 0.2), "pooled"),
        (fu.LockGaussian(6, 0.2, 0.2), "pooled"),
        (fu.RiverSwim(8), "pooled"),
        (fu.RichLock(6), "separate"),
        (fu.RichLock(6, emission="bernoulli"), "separate"),
        (fu.RiverSwim(4, n_states=3, looks="different"), "separate"),
    ],
    ids=repr,
)
def test_observations_decide_how_levels_are_decoded(env, levels):
    """And the outcome is as good as if the agent had been told."""
    run = fu.train(env, fu.URL(), 1_000, seeds=2)
    assert [one["levels"] for one in run.diagnostics] == [levels] * 2
    assert run.success_rate == 1.0


@pytest.mark.parametrize("oracle", [fu.oracles.KMeans(3), fu.oracles.DBSCAN(3)], ids=repr)
def test_an_oracle_that_a_level_is_too_little_for_serves_all_levels_until_there_is_more(oracle):
    """Two trajectories are two observations of a level, and enough of all levels. Nobody has asked for
    decoders of single levels, so the run goes on."""
    run = fu.train(fu.RichLock(6), fu.URL(oracle, batch=2), 60, seeds=2)
    assert run.total_trajectories == 60


def test_an_oracle_that_finds_nothing_at_a_level_says_so_where_single_levels_were_asked_for():
    with pytest.raises(ValueError, match="only noise"):
        fu.train(fu.RichLock(6), fu.URL(fu.oracles.DBSCAN(3), batch=2, levels="separate"), 60)


@pytest.mark.parametrize("emission", ["gaussian", "bernoulli"])
@pytest.mark.parametrize(
    "family",
    [fu.RiverSwim, fu.RandomMDP, fu.Maze, fu.BidirectionalLock, fu.DeepSea],
    ids=lambda family: family.__name__,
)
def test_every_family_is_solved_through_either_emission(family, emission):
    run = fu.train(family(8, emission=emission), fu.URL(), 3_000, seeds=2)
    assert run.success_rate == 1.0

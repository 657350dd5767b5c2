"""Whether levels look alike, told from labelled observations, and what URL makes of it."""

import hypothesis
import numpy as np
import pytest
from strategies import DRAWS

import fasturl as fu
from fasturl.agents.level_comparison import unexplained


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

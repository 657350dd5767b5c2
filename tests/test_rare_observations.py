"""What is kept of states that few observations show, where whole trajectories are let go."""

import numpy as np
import pytest
from told_trajectories import trajectories_of

import fasturl as fu
from fasturl.agents import pooled_decoding, rare_observations
from fasturl.agents.history import History
from fasturl.agents.pooled_decoding import PooledDecoding
from fasturl.agents.rare_observations import RareObservations
from fasturl.agents.url_training import URLTraining

HORIZON, DIMENSION, BLOCK = 8, 5, 10
ENOUGH = 2 * DIMENSION


def block(first):
    """Trajectories from the number `first` on, whose observations are their number and level. Label 1 is met
    once in each, label 2 at every second level, label 0 elsewhere."""
    labels = np.zeros((BLOCK, HORIZON + 1), np.int64)
    labels[:, 1::2] = 2
    labels[:, 4] = 1
    numbers = first + np.arange(BLOCK, dtype=np.float32)
    observations = np.zeros((BLOCK, HORIZON + 1, DIMENSION), np.float32)
    observations[..., 0], observations[..., 1] = numbers[:, None], np.arange(HORIZON + 1)
    actions, rewards = np.zeros((BLOCK, HORIZON), np.int64), np.zeros((BLOCK, HORIZON))
    return trajectories_of(labels, actions, rewards, observations)


def filled(n_blocks=12, *, keeps_rare=True):
    """A history with room for the observations of four trajectories."""
    history = History(HORIZON, 3, 2)
    history.most_observations, history.keeps_rare = 4 * (HORIZON + 1), keeps_rare
    for number in range(n_blocks):
        history.add(block(number * BLOCK))
    return history


def test_enough_observations_of_a_label_are_kept_and_no_more_than_a_block_beyond():
    history = filled()
    left = np.bincount(history.rare_labels, minlength=3) + np.bincount(
        history.observed_labels.ravel(), minlength=3
    )
    assert ENOUGH <= left[1] <= ENOUGH + BLOCK
    assert len(history.observations) <= 4


def test_what_is_rare_in_trajectories_that_are_let_go_is_kept():
    """Ten trajectories come at once, of which every second is let go until there are four or fewer. Labels 0
    and 2 are met often enough in what is left of the first halving, label 1 is not."""
    history = filled(1)
    assert len(history.observations) == 3
    dropped = np.setdiff1d(np.arange(BLOCK), history.observed)
    kept = history.rare.cells[history.rare_labels == 1]
    assert sorted(kept.tolist()) == [[number, 4] for number in dropped]


def test_an_observation_is_that_of_its_cell():
    history = filled()
    np.testing.assert_array_equal(history.rare.observations[:, :2], history.rare.cells)
    assert len(np.unique(history.rare.cells, axis=0)) == len(history.rare)


def test_nothing_is_kept_twice():
    """Neither beside itself nor beside the trajectory that it belongs to."""
    history = filled()
    looked_at = set(history.observations[:, 0, 0].astype(int).tolist())
    assert looked_at.isdisjoint(history.rare.cells[:, 0].tolist())


def test_labels_of_single_observations_can_be_set():
    history = filled()
    history.set_rare_labels(np.arange(len(history.rare)) % 3)
    np.testing.assert_array_equal(history.rare_labels, np.arange(len(history.rare)) % 3)
    trajectory, level = history.rare.cells[2]
    assert history.labels[trajectory, level] == 2


def test_what_is_rare_is_judged_by_what_is_left(monkeypatch):
    """By the labels of whole trajectories and of single observations together, at every block."""
    history, keep, n_kept = History(HORIZON, 3, 2), RareObservations.keep_of_trajectories, []
    history.most_observations, history.keeps_rare = 6 * (HORIZON + 1), True

    def compare(rare, trajectories, first, first_number, counts, dimension):
        left = [*history.observed_labels.ravel(), *history.rare_labels]
        np.testing.assert_array_equal(counts, np.bincount(left, minlength=3))
        n_kept.append(len(history.observations))
        keep(rare, trajectories, first, first_number, counts, dimension)

    monkeypatch.setattr(RareObservations, "keep_of_trajectories", compare)
    for number in range(40):
        if number % 5 == 4:  # so that there is something to keep again
            history.set_rare_labels(np.zeros(len(history.rare)))
        history.add(block(number * BLOCK))
    assert len(n_kept) == 39
    assert any(np.diff(n_kept) < 0)  # trajectories were let go on the way


def test_what_has_become_rare_by_other_labels_is_kept_again():
    """Label 1 where single observations get another label, label 2 where whole trajectories do."""
    for label, change in (
        (1, lambda history: history.set_rare_labels(np.zeros(len(history.rare)))),
        (2, lambda history: history.set_labels(np.zeros_like(history.observed_labels))),
    ):
        history, undisturbed = filled(), filled()
        change(history)
        for one in (history, undisturbed):
            one.add(block(12 * BLOCK))
        of_last = [one.rare_labels[one.rare.cells[:, 0] >= 12 * BLOCK] for one in (history, undisturbed)]
        assert label in of_last[0]
        assert of_last[1].size == 0


def test_nothing_is_kept_where_labels_mean_something_else_at_every_level():
    assert len(filled(keeps_rare=False).rare) == 0


def test_the_memory_that_they_take_is_limited(monkeypatch):
    monkeypatch.setattr(rare_observations, "MOST_RARE_BYTES", 4 * DIMENSION * 4)
    assert len(filled().rare) == 4


@pytest.mark.parametrize("env", [fu.LockBernoulli(12), fu.LockGaussian(12, noise=0.1)])
def test_in_a_run_their_labels_are_those_of_the_present_decoder(env, monkeypatch):
    runs, play = [], URLTraining.run
    monkeypatch.setattr(URLTraining, "run", lambda self: (runs.append(self), play(self))[1])
    monkeypatch.setattr(PooledDecoding, "most_observations", 13 * 20)
    monkeypatch.setattr(pooled_decoding, "_MOST_KEPT", 13 * 20)
    monkeypatch.setattr(pooled_decoding, "_MOST_KEPT_CLEAR", 13 * 20)
    run = fu.train(env, fu.URL(levels="pooled"), 800, n_jobs=1)
    history, decoder = runs[0]._history, runs[0]._decoding.decoder
    assert len(history.rare) > 0
    assert len(history.observations) <= 20
    np.testing.assert_array_equal(history.rare_labels, decoder.decode(history.rare.observations))
    assert run.success_rate == 1.0

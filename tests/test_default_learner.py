"""The learner of URL if none is given: near-optimal on every seed of problems that have nothing in common.

Smaller cases of what docs/learners.md reports, on other seeds.
"""

import numpy as np
import pytest

import fasturl as fu
from fasturl.agents.decoding import DEFAULT_LEARNER

PROBLEMS = {
    "lock": (fu.LockBernoulli(20, 0.2), 5_000),
    "long lock": (fu.LockBernoulli(100, 0.5), 10_000),
    "rewards that lead astray": (fu.RichLock(25), 10_000),
    "against the stream": (fu.RiverSwim(emission="none"), 5_000),
    "random tables": (fu.RandomMDP(emission="none"), 5_000),
    "many actions": (fu.RandomMDP(5, n_states=12, n_actions=40, emission="none"), 10_000),
    "maze": (fu.Maze(emission="none"), 5_000),
    "two ends": (fu.BidirectionalLock(10, emission="none"), 5_000),
    "deep sea": (fu.DeepSea(15, emission="none"), 5_000),
    "two arms": (fu.Bandit(emission="none"), 10_000),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_seed_ends_near_optimal(name):
    env, episodes = PROBLEMS[name]
    run = fu.train(env, DEFAULT_LEARNER, episodes, seeds=range(500, 520))
    assert run.success_rate == 1.0


class LateArms(fu.Environment):
    """Nineteen levels without a choice that matters, and then two arms of means 0.5 and 0.6: a small bonus,
    which long horizons seem to ask for, takes bad luck for a bad arm."""

    horizon, n_actions, max_states, max_return = 20, 2, 1, 1.0

    def draw(self, streams):
        means = np.zeros((20, 1, 2))
        means[-1, 0] = 0.5, 0.6
        return fu.BlockMDP(np.ones((20, 1, 2, 1)), means)


def test_bad_luck_at_the_end_of_a_long_episode_is_found_out():
    assert fu.train(LateArms(), DEFAULT_LEARNER, 10_000, seeds=50).success_rate == 1.0


def test_url_and_the_learner_by_name_agree_on_the_default():
    assert fu.URL().learner == fu.URLAsWritten().learner == DEFAULT_LEARNER
    assert fu.URL(learner="pooled-ucbvi").learner == DEFAULT_LEARNER

"""A class where an object of it is wanted is refused in the same words everywhere."""

import numpy as np
import pytest

import fasturl as fu
from fasturl import envs, registry
from fasturl.agents import LatentAgent, ObservationAgent
from fasturl.experiments import Cell
from fasturl.learners import Task, start
from fasturl.oracles import KMeans, fit_decoder

LOCK = fu.LockBernoulli(3)
TASK = Task(3, 2, 4, 1.0, 100, np.array([1, 2, 3, 4], np.uint64))


class Plain(fu.Environment):
    """A family whose emission is a class."""

    horizon, n_actions, max_states = 1, 2, 1
    emission = fu.emissions.Gaussian

    def draw(self, streams):
        return fu.BlockMDP(np.ones((1, 1, 2, 1)), np.zeros((1, 1, 2)))


GIVEN = {
    "an environment to train": (lambda: fu.train(fu.LockBernoulli, fu.URL(), 10), "env", "LockBernoulli()"),
    "one with tables": (lambda: fu.train(fu.BlockMDP, fu.URL(), 10), "env", "BlockMDP(...)"),
    "an environment of Gymnasium's": (lambda: envs.ScalarEnv(fu.Maze), "env", "Maze()"),
    "one of a rollout": (lambda: envs.rollout(fu.Maze, [[0]], 1), "env", "Maze()"),
    "an agent": (lambda: fu.train(LOCK, fu.URL, 10), "agent", "URL()"),
    "a learner as an agent": (lambda: fu.train(LOCK, fu.OracleQ, 10), "agent", "OracleQ()"),
    "a learner of URL": (lambda: fu.URL(learner=fu.OracleQ), "learner", "OracleQ()"),
    "a learner on states": (lambda: LatentAgent(fu.OracleQ), "learner", "OracleQ()"),
    "a learner on observations": (lambda: ObservationAgent(fu.OracleQ), "learner", "OracleQ()"),
    "a learner that starts": (lambda: start(fu.OracleQ, TASK), "learner", "OracleQ()"),
    "a learner of a named agent": (
        lambda: registry.agent("url", learner=fu.OracleQ),
        "learner",
        "OracleQ()",
    ),
    "an oracle": (lambda: fu.URL(oracle=KMeans), "oracle", "KMeans()"),
    "an oracle as published": (lambda: fu.URLAsPublished(oracle=KMeans), "oracle", "KMeans()"),
    "an oracle as written": (lambda: fu.URLAsWritten(oracle=KMeans), "oracle", "KMeans()"),
    "an oracle of a cell": (
        lambda: Cell.make("maze", {}, "url", {"oracle": KMeans}, episodes=10),
        "oracle",
        "KMeans()",
    ),
    "an oracle that is fitted": (lambda: fit_decoder(KMeans, np.eye(9), 0, 3), "oracle", "KMeans()"),
    "an emission": (
        lambda: fu.BlockMDP(np.ones((1, 1, 2, 1)), np.zeros((1, 1, 2)), emission=fu.emissions.Gaussian),
        "emission",
        "Gaussian(...)",
    ),
    "the emission of a family": (
        lambda: Plain().describe(),
        "emission",
        "Gaussian(...)",
    ),
}


@pytest.mark.parametrize("case", GIVEN)
def test_a_class_is_no_instance(case):
    use, argument, written = GIVEN[case]
    name = written.partition("(")[0]
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # its whole text is compared
        use()
    assert str(caught.value) == f"{argument} must be an instance, got the class {name}: write {written}"


@pytest.mark.parametrize("agent", [LatentAgent, ObservationAgent])
@pytest.mark.parametrize("learner", [None, 3, fu.URL()], ids=["None", "a number", "an agent"])
def test_what_has_no_start_is_no_learner(agent, learner):
    with pytest.raises(ValueError, match=r"^learner must be an object with start, such as OracleQ\(\), got"):
        agent(learner)

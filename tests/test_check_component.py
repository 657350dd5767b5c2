"""`fu.check_component`: ours pass, and what is wrong with a stranger's is said in one line."""

from dataclasses import dataclass

import numpy as np
import pytest
from first_action import Memory
from own_oracleq import OwnOracleQ
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import fasturl as fu
from fasturl.agents import Agent, LatentPolicy, Outcome

RIGHT = {
    "an oracle": fu.oracles.KMeans(),
    "a clusterer of scikit-learn": SklearnKMeans(3, n_init=1),
    "a pipeline": make_pipeline(PCA(2), SklearnKMeans(3, n_init=1)),
    "a learner": fu.OracleQ(),
    "a learner of another's": OwnOracleQ(),
    "an agent": fu.URL(),
    "an environment": fu.RichLock(3),
    "one without observations": fu.RiverSwim(),
    "a single problem": fu.BlockMDP(np.ones((2, 1, 2, 1)), np.full((2, 1, 2), 0.5)),
    "an emission of bits": fu.LockBernoulli(4).emission,
    "an emission of reals": fu.LockGaussian(4).emission,
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_passes(case):
    assert fu.check_component(RIGHT[case]) is None


class Threshold(BaseEstimator):
    """An oracle that looks at the first coordinate."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)


class Guesses(Threshold):
    def predict(self, X):
        return np.random.default_rng().integers(3, size=len(X))


class Ranks(Threshold):
    """Whether an observation is among the greater half depends on the others."""

    def predict(self, X):
        return (X[:, 0] > np.median(X[:, 0])).astype(int) if len(X) % 3 else np.zeros(len(X), int)


class Halves(Threshold):
    def predict(self, X):
        return np.full(len(X), 0.5)


class Forgets(Threshold):
    def __init__(self, cut=0.5):
        self.cut = 0.5


class Leaks:
    """A learner that goes on with the action that it ended with in the run before."""

    action = 0

    def start(self, task):
        self.action += 1
        memory = Memory(task)
        memory.policy = lambda: np.full(memory.shape[:2], self.action % task.n_actions)
        return memory


class Greets:
    def start(self, task):
        return "hello"


@dataclass(frozen=True)
class Careless(Agent):
    """Acts by chance that no stream knows."""

    sees_latent_states = True

    def play(self, game, ledger):
        known = game.description
        shape = known.horizon, known.max_states, known.n_actions
        ledger.enter(game.play_random(ledger.left).returns)
        return Outcome(LatentPolicy(np.random.default_rng().dirichlet(np.ones(shape[2]), shape[:2])))


class Moody(fu.Environment):
    """A family that draws from no stream."""

    horizon, n_actions, max_states = 2, 2, 1

    def draw(self, streams):
        return fu.BlockMDP(
            np.full((self.horizon, 1, 2, 1), 1.0), np.random.default_rng().random((self.horizon, 1, 2))
        )


class Noise(fu.emissions.Emission):
    """Uniform numbers, rounded to eighths."""

    discrete, n_levels, n_states, dimension = False, 3, 2, 2

    def draw(self, rngs, episodes):
        words = fu.emissions.raw_words(rngs, episodes, 12)[:, :12].reshape(episodes, 3, 2, 2)
        return fu.emissions.ObservationBlock(self.observed(words % np.uint64(8) / 8).astype(np.float32))

    def observed(self, numbers):
        return numbers


class Unseeded(Noise):
    def observed(self, numbers):
        return np.random.default_rng().random(numbers.shape)


class Crowded(Noise):
    """Observations that depend on how many are drawn."""

    def observed(self, numbers):
        return numbers / len(numbers)


class Narrow(Noise):
    def bounds(self):
        return 0.25, 0.5


class Empty(Noise):
    def observed(self, numbers):
        return numbers * np.nan


WRONG = {
    "a class": (fu.OracleQ, "component must be an instance, got the class OracleQ: write OracleQ()"),
    "no component": (3, "component must be an environment, an emission, an agent, a learner with start or"),
    "a guess": (Guesses(), "Guesses must give the same labels after each fit with one random_state"),
    "labels by company": (Ranks(), "Ranks must label an observation alike whatever others are"),
    "labels in between": (Halves(), "predict of Halves must give labels from 0 to "),
    "a learner that leaks": (Leaks(), "a run with Leaks must depend on its seed alone, got another for"),
    "a learner without memory": (Greets(), "start of Greets must return an object with policy, update and"),
    "an agent of its own luck": (Careless(), "a run with Careless must depend on its seed alone"),
    "a family of its own luck": (Moody(), "draw of Moody must give the same instance for the same streams"),
    "an emission of its own luck": (Unseeded(), "draw of Unseeded must draw from its rngs alone, got others"),
    "an emission by blocks": (Crowded(), "draw of Crowded must show the same in blocks of any size"),
    "an emission out of bounds": (Narrow(), "draw of Narrow must keep to its bounds 0.25 and 0.5, got"),
    "an emission of nothing": (Empty(), "draw of Empty must give "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line(case):
    component, message = WRONG[case]
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # its beginning is compared
        fu.check_component(component)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_setting_must_come_back_as_it_was_given():
    oracle = Forgets()
    oracle.cut = 0.25
    with pytest.raises(ValueError, match=r"^Forgets must keep its setting cut as it is given, got 0\.5 of"):
        fu.check_component(oracle)


def test_an_oracle_for_bits_is_tried_on_bits():
    fu.check_component(fu.oracles.BernoulliMixture(), env=fu.LockBernoulli(3))
    with pytest.raises(ValueError, match="env must be an environment such as"):
        fu.check_component(fu.OracleQ(), env="lock-bernoulli")


@pytest.mark.parametrize(
    ("component", "env", "message"),
    [
        (fu.OracleQ(), "lock-bernoulli", "env must be an environment such as BlockMDP, got 'lock-bernoulli'"),
        (fu.URL(), fu.LockBernoulli, r"env must be an instance, got the class LockBernoulli: .*"),
        (
            fu.LockBernoulli(3),
            fu.LockBernoulli(3),
            "env must be left out for an environment or an emission, got .*",
        ),
    ],
)
def test_a_problem_to_try_it_on_is_an_environment_and_for_what_needs_one(component, env, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        fu.check_component(component, env)

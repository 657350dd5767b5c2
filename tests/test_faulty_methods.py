"""An exception in a method of a user's component goes on as it is, with a note on whose method it was; what a
method returns and should not is told with its owner and name."""

import traceback

import numpy as np
import pytest
from first_action import Memory

import fasturl as fu
from fasturl.agents import Agent, Glance, Outcome, Verdict
from fasturl.decoders import Decoder

BITS, REALS = fu.LockBernoulli(3), fu.LockGaussian(3)


def fails(*arguments, **options):
    raise KeyError("boom")


def with_method(cls, **methods):
    """A subclass with other methods and the same name."""
    return type(cls.__name__, (cls,), methods)


class Learner:
    """Starts memories of a class."""

    def __init__(self, memory_class=Memory):
        self.memory_class = memory_class

    def start(self, task):
        return self.memory_class(task)


class Oracle:
    """Sees no differences."""

    def fit(self, X):
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


class Uniform:
    """A final policy that is always worth the same."""

    def judge(self, instance, streams):
        return Verdict(0.5)

    def glance(self, instance, streams):
        return Glance(0.5, np.zeros(20))


class Player(Agent):
    """Plays at random, and offers its policy."""

    sees_latent_states = True
    offers_policies = True
    policy_class = Uniform

    def play(self, game, ledger):
        ledger.enter(game.play_random(ledger.left).returns)
        ledger.offer(self.policy_class)
        return Outcome(self.policy_class())


class OwnLock(fu.LockBernoulli):
    """A family of a user's own."""


class Blind(Decoder):
    """Gives every observation the label 0."""

    def table(self, block):
        return np.zeros((block.n_episodes, block.n_levels, block.n_states), np.uint8)


def with_decoder(**methods):
    """URL with an oracle whose decoder has other methods."""

    def fit(self, X):
        self.decoder_ = with_method(Blind, **methods)(2)

    return fu.URL(oracle=with_method(Oracle, fit=fit)())


def with_memory(**methods):
    return Learner(with_method(Memory, **methods))


FAILING = {
    "start of Learner": lambda: fu.train(BITS, with_method(Learner, start=fails)(), 10),
    "policy of Memory": lambda: fu.train(BITS, with_memory(policy=fails), 10),
    "update of Memory": lambda: fu.train(REALS, fu.URL(learner=with_memory(update=fails)), 100),
    "final_policy of Memory": lambda: fu.train(BITS, with_memory(final_policy=fails), 10),
    "predict of Oracle": lambda: fu.train(REALS, fu.URL(oracle=with_method(Oracle, predict=fails)()), 100),
    "check_settings of Oracle": lambda: fu.train(
        REALS, fu.URL(oracle=with_method(Oracle, check_settings=fails)()), 100
    ),
    "least_observations of Oracle": lambda: fu.train(
        REALS, fu.URL(oracle=with_method(Oracle, least_observations=fails)()), 100
    ),
    "table of Blind": lambda: fu.train(REALS, with_decoder(table=fails), 100),
    "decode of Blind": lambda: fu.train(REALS, with_decoder(decode=fails), 100),
    "play of Player": lambda: fu.train(BITS, with_method(Player, play=fails)(), 10),
    "check of Player": lambda: fu.train(BITS, with_method(Player, check=fails)(), 10),
    "trajectories of Player": lambda: fu.train(BITS, with_method(Player, trajectories=fails)(), 10),
    "judge of Uniform": lambda: fu.train(
        BITS, with_method(Player, policy_class=with_method(Uniform, judge=fails))(), 10
    ),
    "glance of Uniform": lambda: fu.train(
        BITS,
        with_method(Player, policy_class=with_method(Uniform, glance=fails))(),
        10,
        points=fu.Recording(evaluate_every=5),
    ),
    "draw of OwnLock": lambda: fu.train(with_method(OwnLock, draw=fails)(3), fu.OracleQ(), 10),
}


@pytest.mark.parametrize("case", FAILING)
def test_an_exception_says_whose_method_it_was_raised_in(case):
    with pytest.raises(KeyError, match="boom") as caught:
        FAILING[case]()
    assert f"in {case}" in caught.value.__notes__
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fails"


def test_a_method_of_ours_is_not_blamed_for_what_it_calls():
    """Nothing says that it was raised in play of URL, which is ours."""
    with pytest.raises(KeyError) as caught:
        fu.train(REALS, fu.URL(learner=with_memory(policy=fails)), 100)
    assert caught.value.__notes__ == ["in policy of Memory", "in the run of seed 0"]


WRONG_RESULTS = {
    "fractions for actions": (
        with_memory(policy=lambda self: np.zeros(self.shape[:2])),
        r"policy of Memory must give an integer array \[3, 3 or more\], got float64 of shape \(3, 3\)",
    ),
    "actions that there are not": (
        with_memory(policy=lambda self: np.full(self.shape[:2], 9)),
        r"policy of Memory must give actions from 0 to 3, got 9\.\.9",
    ),
    "no final policy": (
        with_memory(final_policy=lambda self: None),
        "final_policy of Memory must be an array of real numbers, got None",
    ),
    "a final policy of another shape": (
        with_memory(final_policy=lambda self: np.ones((1, 1, 1))),
        r"final_policy of Memory must be .* float array of shape \(3, 3, 4\), got float64 of shape",
    ),
    "chances that do not add up": (
        with_memory(final_policy=lambda self: np.ones(self.shape)),
        "final_policy of Memory must be probabilities that sum to 1 over actions, got .* sums 4..4",
    ),
}


@pytest.mark.parametrize("case", WRONG_RESULTS)
def test_what_a_memory_should_not_return_is_told_with_its_class(case):
    learner, message = WRONG_RESULTS[case]
    with pytest.raises(ValueError, match=f"^{message}"):
        fu.train(BITS, learner, 10)


@pytest.mark.parametrize(
    "agent_with",
    [
        lambda learner: fu.URL(learner=learner),
        lambda learner: fu.URLAsPublished(learner=learner, batch=20, iterations=2),
        lambda learner: fu.URLAsWritten(learner=learner, batch=6, epsilon=0.9, delta=0.9),
    ],
    ids=["url", "url as published", "url as written"],
)
def test_so_it_is_inside_every_form_of_url(agent_with):
    agent = agent_with(with_memory(final_policy=lambda self: np.full(self.shape, np.nan)))
    episodes = 2 if isinstance(agent, fu.URLAsWritten) else 150
    with pytest.raises(ValueError, match=r"^final_policy of Memory must be probabilities"):
        fu.train(REALS, agent, episodes)


@pytest.mark.parametrize(
    ("glance", "message"),
    [
        (None, "glance of Uniform must return a Glance, got None"),
        (0.5, "glance of Uniform must return a Glance, got 0.5"),
        (Glance("much", np.zeros(20)), "value that glance of Uniform returns must be a number"),
        (Glance(0.5, None), "returns that glance of Uniform returns must be "),
        (Glance(0.5, []), "returns that glance of Uniform returns must be "),
    ],
)
def test_what_a_glance_should_not_return_is_told_with_its_class(glance, message):
    policy_class = with_method(Uniform, glance=lambda self, instance, streams: glance)
    agent = with_method(Player, policy_class=policy_class)()
    with pytest.raises(ValueError, match=f"^{message}"):
        fu.train(BITS, agent, 10, points=fu.Recording(evaluate_every=5))


@pytest.mark.parametrize(("least", "message"), [(5, "numbers by name, got 5"), ({"n": "a"}, "got 'a'")])
def test_what_an_oracle_needs_is_numbers_by_name(least, message):
    oracle = with_method(Oracle, least_observations=lambda self: least)()
    with pytest.raises(ValueError, match=f"least_observations of Oracle must .*{message}"):
        fu.train(REALS, fu.URL(oracle=oracle), 100)


@pytest.mark.parametrize("method", ["learner_bytes", "history_bytes"])
@pytest.mark.parametrize("told", [None, "much", -1, np.nan])
def test_what_an_agent_says_that_it_takes_is_a_number(method, told):
    agent = with_method(Player, **{method: lambda self, description, count: told})()
    with pytest.raises(ValueError, match=rf"^{method} of Player must be a number in \[0, inf\), got"):
        fu.train(BITS, agent, 10)


def test_an_oracle_that_cannot_be_copied_is_named():
    def get_params(self, deep=True):
        raise AttributeError("absent")

    oracle = with_method(Oracle, get_params=get_params, set_params=fails)()
    with pytest.raises(AttributeError, match="absent") as caught:
        fu.train(REALS, fu.URL(oracle=oracle), 100)
    assert caught.value.__notes__ == ["while Oracle was copied"]


def test_settings_that_are_set_need_not_be_returned():
    """A set_params of a user's that ends without `return self` serves as well."""

    class Settled(Oracle):
        n_states = None

        def get_params(self, deep=True):
            return {}

        def set_params(self, **settings):
            pass

    assert fu.train(REALS, fu.URL(oracle=Settled()), 100).values.size == 1

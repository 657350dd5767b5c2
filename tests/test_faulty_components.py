"""What a stranger's component can get wrong is told in one line, and harms no other component."""

from dataclasses import dataclass

import numpy as np
import pytest
from command_line import fasturl

import fasturl as fu
from fasturl._base.checks import reason_of
from fasturl._base.schema import declaration_problem
from fasturl.agents import Agent, LatentPolicy, Outcome


def coin(**attributes):
    """A family of one level, one state and two actions."""

    def draw(self, streams):
        return fu.BlockMDP(np.ones((1, 1, 2, 1)), self.rewards, reward_draw="deterministic")

    members = {"horizon": 1, "n_actions": 2, "max_states": 1, "rewards": [[[0.0, 1.0]]], "draw": draw}
    return type("Coin", (fu.Environment,), members | attributes)()


def test_a_keyword_of_setting_that_is_nearly_one_is_told_which():
    with pytest.raises(ValueError, match=r"leest is not a keyword of setting \(did you mean least\?\)"):
        fu.setting(3, leest=1, help="Levels.")
    with pytest.raises(ValueError, match="kind must be one of 'oracle', 'learner', got 'orcale'"):
        fu.setting(None, kind="orcale", help="What sees.")


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        (fu.setting(0, least=1, help="Levels."), "size must be an integer >= 1, got 0"),
        (fu.setting(2, most=3, search=fu.Range(1, 9), help="Levels."), "size must be .* 3, got 9"),
    ],
)
def test_a_class_that_would_refuse_its_own_declaration_is_not_registered(setting, problem):
    class Declaring(fu.Declared):
        size: int = setting

        def start(self, task):
            raise NotImplementedError

    declaring = dataclass(frozen=True)(Declaring)
    assert declaration_problem(declaring).startswith("Declaring declares what it would refuse: size must be")
    with pytest.raises(ValueError, match=problem):
        fu.register(declaring, name="declaring")


@pytest.mark.parametrize("name", ["horizon", "n_actions", "max_states"])
def test_an_environment_that_lacks_a_size_is_told_which(name):
    members = {"horizon": 1, "n_actions": 2, "max_states": 1, "draw": lambda self, streams: None}
    del members[name]
    lacking = type("Lacking", (fu.Environment,), members)()
    with pytest.raises(ValueError, match=f"Lacking must have {name}, an integer >= 1"):
        fu.train(lacking, fu.OracleQ(), 10)


def test_rewards_outside_the_declared_range_are_refused():
    assert fu.train(coin(), fu.OracleQ(), 50).v_star == 1.0
    losing = coin(rewards=[[[-1.0, 0.5]]])
    with pytest.raises(
        ValueError, match=r"reward_range \(0.0, 1.0\) that it declares, got rewards from -1 to 0.5"
    ):
        fu.train(losing, fu.OracleQ(), 50)
    assert fu.train(coin(rewards=[[[-1.0, 0.5]]], reward_range=(-1, 1)), fu.OracleQ(), 50).v_star == 0.5


class Guesser(Agent):
    """Acts at random; what it enters is up to the test."""

    sees_latent_states = True

    def __init__(self, enter):
        self.enter = enter

    def play(self, game, ledger):
        self.enter(game, ledger)
        return Outcome(LatentPolicy(np.full((1, 1, 2), 0.5)))


def forgetful(game, ledger):
    game.play_random(5)
    ledger.enter(game.play_random(ledger.left).returns)


def not_a_number(game, ledger):
    ledger.enter(np.full(ledger.left, np.nan))


def text(game, ledger):
    ledger.enter("much")


def inventive(game, ledger):
    ledger.enter(np.ones(ledger.left))


@pytest.mark.parametrize(
    ("enter", "message"),
    [
        (forgetful, "must play 20 trajectories and enter 20 returns in its ledger, got 25 .* and 20 "),
        (inventive, "must play 20 trajectories and enter 20 returns in its ledger, got 0 .* and 20 "),
        (not_a_number, "returns must be finite, got nan"),
        (text, "returns must be an array of real numbers, got 'much'"),
    ],
)
def test_an_agent_enters_the_return_of_every_trajectory_that_it_plays(enter, message):
    with pytest.raises(ValueError, match=message):
        fu.train(coin(), Guesser(enter), 20)


def test_an_error_that_was_not_meant_for_people_is_one_line_with_its_place():
    try:
        {}["absent"]
    except KeyError as error:
        error.add_note("in the run of seed 3")
        line = reason_of(error)
    assert line.startswith("KeyError: 'absent' (in the run of seed 3, ")
    assert "test_faulty_components.py, line " in line
    assert "\n" not in line


def test_a_run_says_what_was_run_and_where_it_came_from():
    run = fu.train(fu.LockBernoulli(horizon=2), fu.URL(oracle=fu.oracles.KMeans(n_init=5)), 200)
    summary = run.summary()
    assert summary["agent_settings"]["oracle"]["name"] == "kmeans"
    assert summary["agent_settings"]["oracle"]["n_init"] == 5
    assert summary["agent_settings"]["learner"]["name"] == "pooled-ucbvi"
    origin = f"fasturl {fu.__version__}"
    assert summary["origins"] == dict.fromkeys(
        ["environment lock-bernoulli", "agent url", "oracle kmeans", "learner pooled-ucbvi"], origin
    )


def test_an_agent_s_own_setting_goes_before_that_of_its_oracle():
    done = fasturl(
        *("train", "lock-bernoulli", "--horizon", "2", "--oracle", "kmeans", "--n-states", "5"),
        *("--episodes", "200", "--seeds", "1", "--json", "-"),
    )
    assert done.returncode == 0, done.stderr
    assert '"n_states": 5' in done.stdout

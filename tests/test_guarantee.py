"""What the theorem on URL as written asks for, and what a run says of it."""

import json
import math
import re

import numpy as np
import pytest

import fasturl as fu
from fasturl.agents.guarantee import (
    RequiredSizes,
    Sizes,
    jin_episodes,
    power_law,
    unknown_conditions,
    unmet_conditions,
)

H, S, A, EPSILON, DELTA = 3, 3, 4, 0.2, 0.1


def asked(**changes):
    given = {"epsilon": EPSILON, "delta": DELTA, "learner_episodes": 500, "oracle_samples": power_law(2, 1)}
    return fu.required_sizes(H, S, A, **(given | changes))


def as_sizes(asked, epsilon=EPSILON, delta=DELTA):
    return Sizes(H, S, asked.episodes, asked.batch, epsilon, delta, asked.epsilon_1, asked.delta_1)


@pytest.mark.parametrize("oracle", [50, power_law(2, 0), power_law(2, 1), power_law(0.1, 2.5)])
@pytest.mark.parametrize("episodes", [1, 500, 10**7, lambda error, failure: 3 / (error * failure)])
def test_the_sizes_meet_every_condition_of_the_proof(oracle, episodes):
    """Written down once more from the paper; its open constants are 1."""
    sizes = asked(oracle_samples=oracle, learner_episodes=episodes)
    K, B, J, error = sizes.episodes, sizes.batch, sizes.iterations, sizes.decoder_error
    log = math.log(1 / sizes.delta_1)
    if callable(episodes):
        assert episodes(EPSILON / 4, sizes.learner_failure) <= K
    assert 50 * H * sizes.epsilon_1 * S * log < error < 1 / 2  # lem:tsr
    assert 0 < sizes.epsilon_1 * log <= 0.1  # lem:label
    assert EPSILON / 4 + (H + 1) ** 2 * error <= EPSILON / 3 * (1 + 1e-12)  # prop:main
    failure = sizes.learner_failure + K * (H + 1) * error + K * J * H * S * sizes.delta_1
    assert failure <= 0.01 * (1 + 1e-12)
    inverse = oracle if callable(oracle) else lambda error, failure: oracle
    for m in (1, 2, 3, J, K * J // 2 + 1, K * J, (K + 1) * J):  # eq:choiceB is that of m = K J
        assert B * m >= inverse(sizes.epsilon_1**2 / m, sizes.delta_1) * (1 - 1e-12)
    assert 3 / sizes.epsilon_1 <= B
    assert unmet_conditions(as_sizes(sizes)) == []


def test_n_l_and_j_are_those_of_algorithms_1_and_2():
    sizes = asked()
    assert sizes.restarts == math.ceil(math.log(2 / DELTA) / 2) == 2
    assert sizes.test_episodes == math.ceil(9 * H**2 / (2 * EPSILON**2) * math.log(2 * 2 / DELTA))
    assert sizes.iterations == (H + 1) * S + 1
    assert sizes.episodes == 500
    assert sizes.trajectories == as_sizes(sizes).trajectories
    assert sizes.assumed == ()


def test_one_observation_less_than_the_oracle_needs_would_be_too_few():
    sizes = asked(oracle_samples=power_law(2, 1))
    needed = 2 * math.log(1 / sizes.delta_1) / sizes.epsilon_1**2
    assert sizes.batch == pytest.approx(needed, rel=1e-9)


def test_what_is_not_given_is_of_the_right_order_and_said_to_be_assumed():
    sizes = fu.required_sizes(H, S, A)
    assert len(sizes.assumed) == 2
    assert all("up to a constant" in text for text in sizes.assumed)
    assert len(fu.required_sizes(H, S, A, learner_episodes=7).assumed) == 1


def test_the_episodes_of_oracleq_are_the_least_that_its_regret_bound_allows():
    """sqrt(H^5 S A K log(S A H K / p)) = K e d/2 with p = d/2; with twice the constant, four times as many
    but for the logarithm."""
    error, failure = 0.05, 0.01
    K = jin_episodes(H, S, A)(error, failure)
    regret = math.sqrt(H**5 * S * A * K * math.log(S * A * H * K / (failure / 2)))
    assert regret == pytest.approx(K * error * failure / 2)
    assert 4 < jin_episodes(H, S, A, constant=2.0)(error, failure) / K < 4.5


@pytest.mark.parametrize("horizon", [1, 5, 20])
def test_the_defaults_of_the_agent_do_not_meet_the_conditions(horizon):
    """50 H epsilon_1 |S| log(1/delta_1) = 6.9 at H = 1 with 3 states."""
    agent, env = fu.URLAsWritten(), fu.LockBernoulli(horizon)
    unmet = unmet_conditions(agent.sizes(env.describe(), 100))
    assert unmet[0] == (
        "50 H epsilon_1 |S| log(1/delta_1) must be below 1/2, "
        f"and is {50 * horizon * 0.01 * 3 * math.log(100):.3g}"
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"epsilon_1": 1e-3}, ["50 H epsilon_1 |S|", "(H+1)^2 epsilon'", "K (H+1) epsilon'"]),
        ({"epsilon": 1e-6}, ["(H+1)^2 epsilon'"]),
        ({"episodes": 10**9}, ["K (H+1) epsilon'"]),
        ({"batch": 50}, ["B must be at least 3 / epsilon_1"]),
        ({"delta_1": 1e-4}, ["K (H+1) epsilon' + K J H |S| delta_1"]),
    ],
)
def test_each_condition_that_is_broken_is_named(changes, named):
    fine = vars(as_sizes(asked()))
    unmet = unmet_conditions(Sizes(**(fine | changes)))
    assert len(unmet) == len(named)
    assert all(text.startswith(start) for text, start in zip(unmet, named, strict=True))


def test_a_run_says_in_its_diagnostics_what_it_does_not_meet():
    agent = fu.URLAsWritten(epsilon=0.9, delta=0.9, batch=10)
    run = fu.train(fu.LockBernoulli(1), agent, 3)
    sizes = agent.sizes(fu.LockBernoulli(1).describe(), 3)
    assert run.diagnostics[0]["guarantee"] == {
        "unmet": unmet_conditions(sizes),
        "unknown": unknown_conditions(sizes, 4),
    }
    assert len(unmet_conditions(sizes)) == 4
    learner, oracle = unknown_conditions(sizes, 4)
    assert learner.startswith("the learner must be (epsilon/4, delta_2)-correct after K = 3 episodes")
    assert oracle.startswith("B = 10 must be at least B_0")


@pytest.mark.parametrize("setting", ["epsilon_1", "delta_1"])
def test_a_run_ends_well_whose_conditions_no_number_of_observations_meets(setting):
    agent = fu.URLAsWritten(epsilon=0.9, delta=0.9, batch=10, **{setting: 1e-200})
    (diagnostics,) = fu.train(fu.LockBernoulli(1), agent, 2).diagnostics
    assert re.search("asks for the order of (inf|5e.06)$", diagnostics["guarantee"]["unknown"][1])


def test_the_oracle_that_is_told_of_asks_for_what_required_sizes_finds():
    sizes = as_sizes(asked(oracle_samples=power_law(1, 1)))
    _, oracle = unknown_conditions(sizes, A)
    assert oracle.endswith(f"asks for the order of {sizes.batch:.1g}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, r"epsilon must be a number in \(0, 1\), got 0"),
        ({"delta": 1.0}, r"delta must be a number in \(0, 1\), got 1.0"),
        ({"epsilon": np.nan}, r"epsilon must be a number in \(0, 1\), got nan"),
        ({"learner_episodes": 0}, r"learner_episodes must be a number in \(0, 1e\+50\], got 0"),
        ({"learner_episodes": "many"}, r"learner_episodes must be a number in .*, got 'many'"),
        ({"oracle_samples": -1}, r"oracle_samples must be a number in .*, got -1"),
        (
            {"oracle_samples": lambda error, failure: math.inf},
            r"oracle_samples\(.*\) must be a number in .*, got inf",
        ),
        ({"epsilon": 1e-300, "learner_episodes": None}, "epsilon and delta must be such that all sizes are"),
        (
            {"epsilon": 1e-80, "learner_episodes": None, "oracle_samples": None},
            "epsilon and delta must be such that all sizes are at most 1e.300, got 1e-80 and",
        ),
        ({"delta": 1e-320}, "epsilon and delta must be such that all sizes are at most 1e.300, got 0.2 and"),
        (
            {"learner_episodes": 1e50, "oracle_samples": 1e299},
            r".* with horizon \d, .*, learner_episodes 1e\+50, oracle_samples 1e\+299$",
        ),
    ],
)
def test_bad_input_is_answered_in_words(changes, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        asked(**changes)


@pytest.mark.parametrize("name", ["horizon", "n_states", "n_actions"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_sizes_of_the_problem_are_integers_from_1(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be an integer >= 1, got "):
        fu.required_sizes(**({"horizon": H, "n_states": S, "n_actions": A} | {name: value}))


@pytest.mark.parametrize(
    ("constant", "power", "name"),
    [(0, 1, "constant"), (1e60, 1, "constant"), (1, -1, "power"), (1, 11, "power")],
)
def test_a_power_law_has_a_constant_above_0_and_a_power_from_0_to_10(constant, power, name):
    with pytest.raises(ValueError, match=rf"^{name} must be a number in "):
        power_law(constant, power)


def test_a_power_law_is_refused_where_it_asks_for_more_than_can_be_counted():
    answer = (
        r"^constant and power must be such that at most 1e\+300 observations make an error less than 1e-40"
    )
    with pytest.raises(ValueError, match=rf"{answer}, got 2 and 8$"):
        power_law(2, 8)(1e-40, 0.5)


def test_all_sizes_go_into_json():
    sizes = asked()
    read = json.loads(json.dumps(sizes.to_dict()))
    assert RequiredSizes(**(read | {"assumed": tuple(read["assumed"])})) == sizes

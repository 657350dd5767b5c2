"""`train` with agents and environments of a user's own: what they get wrong is named in one line."""

import json

import numpy as np
import pytest

import fasturl as fu
from fasturl.agents.agent import Agent, Outcome
from fasturl.agents.evaluation import DecodedPolicy, LatentPolicy, Verdict
from fasturl.decoders.affine import AffineDecoder

ENV = fu.LockBernoulli(horizon=4, switch=0.2)

# --- agents of a user's own ---


class Plays(Agent):
    """An agent that plays at random, enters so many returns at a time, and ends with what it is given."""

    sees_latent_states = True

    def __init__(self, outcome=None, sizes=(10,), diagnostics=None):
        self.outcome, self.sizes, self.diagnostics = outcome, sizes, diagnostics or {}

    def play(self, game, ledger):
        for size in self.sizes:
            returns = np.zeros(size)
            returns.T[:] = game.play_random(len(returns)).returns
            ledger.enter(returns)
        uniform = np.full((4, 3, 4), 0.25)
        return Outcome(LatentPolicy(uniform), self.diagnostics) if self.outcome is None else self.outcome


class Judges:
    """A final policy whose judge says what it is told."""

    def __init__(self, verdict):
        self.verdict = verdict

    def judge(self, instance, streams):
        return self.verdict


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (
            Plays(sizes=[4]),
            "play of Plays must play 10 trajectories and enter 10 returns in its ledger, got 4 .* and 4 ",
        ),
        (
            Plays(sizes=[4, 7]),
            "a ledger of 10 trajectories must be given the 6 that are left or fewer, got 7",
        ),
        (Plays(sizes=[(5, 2)]), r"returns must have shape \[trajectories\], got \(5, 2\)"),
        (Plays(3), "play of Plays must return an Outcome whose policy has a method judge, got 3"),
        (
            Plays(Outcome(np.zeros(3))),
            "play of Plays must return an Outcome whose policy has a method judge, got",
        ),
        (Plays(Outcome(LatentPolicy(np.ones((4, 3, 4))))), "policy must be probabilities that sum to 1"),
        (Plays(Outcome(LatentPolicy(np.full((4, 2, 4), 0.25)))), r"policy must be .* shape \(4, 3, 4\), got"),
        (
            Plays(Outcome(LatentPolicy(np.full(4, 0.25)))),
            r"policy must be .* shape \(4, 3, 4\), got .* \(4,\)",
        ),
        (Plays(Outcome(LatentPolicy("first"))), "policy must be an array of real numbers, got 'first'"),
        (Plays(Outcome(Judges(0.5))), "judge of Judges must return a Verdict, got 0.5"),
        (Plays(Outcome(Judges(Verdict("good")))), "value that judge of Judges returns must be a number in"),
        (
            Plays(Outcome(Judges(Verdict(1, -1)))),
            r"error that judge of Judges returns must be a number in \[0,",
        ),
        (
            Plays(Outcome(Judges(Verdict(1)), [3])),
            r"play of Plays must return diagnostics by name, got \[3\]",
        ),
        (Plays(diagnostics={"odd": object()}), r"diagnostics of Plays must be numbers, texts, .* in 'odd'"),
        (
            Plays(diagnostics={"odd": [{1, 2}]}),
            r"diagnostics of Plays must be numbers, .*, got {1, 2} in 'odd'",
        ),
        (Plays(diagnostics={3: 4}), "diagnostics of Plays must be named by texts, got 3"),
        (Plays(diagnostics={"deep": {3: 4}}), "diagnostics of Plays must be named by texts, got 3"),
    ],
)
def test_what_an_agent_gets_wrong_is_named(agent, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        fu.train(ENV, agent, 10)
    assert "\n" not in str(caught.value)


def test_diagnostics_are_what_json_can_hold():
    diagnostics = {
        "count": np.int64(3),
        "share": np.float32(0.5),
        "list": np.arange(3),
        "table": {"deep": (np.True_, None)},
        "seconds": 3,
    }
    run = fu.train(ENV, Plays(diagnostics=diagnostics), 10)
    expected = {"count": 3, "share": 0.5, "list": [0, 1, 2], "table": {"deep": [True, None]}, "seconds": 3}
    assert json.loads(json.dumps(run.diagnostics)) == [expected]
    assert isinstance(diagnostics["list"], np.ndarray)  # what the agent handed over is left alone


def test_a_decoded_policy_has_an_action_for_every_label_of_its_decoder():
    decoder = AffineDecoder(np.eye(3, 7), np.zeros(3))
    for n_labels in (3, 5):
        policy = DecodedPolicy(decoder, np.full((4, n_labels, 4), 0.25))
        assert 0 <= fu.train(ENV, Plays(Outcome(policy)), 10).values[0] <= 1
    with pytest.raises(ValueError, match=r"policy must be .* float array of shape \(4, 3, 4\), got"):
        fu.train(ENV, Plays(Outcome(DecodedPolicy(decoder, np.full((4, 2, 4), 0.25)))), 10)


@pytest.mark.parametrize(
    ("count", "message"),
    [(0, "an integer >= 1, got 0"), (2.5, "an integer >= 1, got 2.5"), (None, "got None")],
)
def test_an_agent_says_how_many_trajectories_it_plays(count, message):
    class Says(Plays):
        def trajectories(self, description, episodes):
            return count

    with pytest.raises(ValueError, match=f"trajectories of Says must be .*{message}"):
        fu.train(ENV, Says(), 10)


# --- environments of a user's own ---


class Odd(fu.Environment):
    """A lock with something odd about it."""

    def __init__(self, drawn=None, **declared):
        self.horizon, self.n_actions, self.max_states = 4, 4, 3
        self.drawn = drawn
        for name, value in declared.items():
            setattr(self, name, value)

    def draw(self, streams):
        return ENV.draw(streams) if self.drawn is None else self.drawn


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Odd(horizon=-5), "horizon must be an integer >= 1, got -5"),
        (Odd(horizon=None), "horizon must be an integer >= 1, got None"),
        (Odd(n_actions=2.5), "n_actions must be an integer >= 1, got 2.5"),
        (Odd(max_states=()), r"max_states must be an integer >= 1, got \(\)"),
        (Odd(horizon=5), "draw of Odd must give 5 levels and 4 actions as declared, got 4 and 4"),
        (Odd(n_actions=3), "draw of Odd must give 4 levels and 3 actions as declared, got 4 and 4"),
        (Odd(max_states=2), "draw of Odd must give at most max_states = 2 states a level, got 3"),
        (Odd(drawn=3), "draw of Odd must give a BlockMDP, got 3"),
        (Odd(drawn="lock"), "draw of Odd must give a BlockMDP, got 'lock'"),
        (Odd(reward_range=3), "reward_range must have two ends, the lower first, got 3"),
        (Odd(reward_range=(1, 0)), r"reward_range must have two ends, the lower first, got \(1, 0\)"),
        (Odd(reward_range=("a", "b")), "reward_range must have two ends, the lower first, got"),
        (Odd(max_return="much"), "max_return must be a number .*, got 'much'"),
        (Odd(max_return=np.nan), "max_return must be a number .*, got nan"),
        (Odd(max_return=-1), r"max_return must be a number in \[0, inf\), got -1.0"),
        (
            Odd(reward_range=(-1e300, 1)),
            r"reward_range must have ends of at most 1e\+100 in size, got -1e\+300",
        ),
        (Odd(emission="bits"), "emission must be .*, got 'bits'"),
    ],
)
def test_what_an_environment_gets_wrong_is_named(env, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        fu.train(env, fu.OracleQ(), 10)
    assert "\n" not in str(caught.value)

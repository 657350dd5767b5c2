"""An agent that a user wrote may hand a loop nothing that the loop would read or write beyond its arrays."""

import numpy as np
import pytest

import fasturl as fu
from fasturl import registry
from fasturl._base.streams import Streams
from fasturl.agents import Agent, LatentPolicy, ObservationAgent, Outcome
from fasturl.agents.checked_episodes import CheckedEpisodes, PaidReturns
from fasturl.agents.game import Episodes, Game
from fasturl.agents.observation import _Rows
from fasturl.decoders import AffineDecoder, Decoder

LOCK = fu.LockBernoulli(3)
H, S, A = 3, 3, 4
EPISODES = 20
STREAM = np.array([1, 2, 3, 4], np.uint64)


class Plays(Agent):
    """Does what `play_all(game, count)` says, which returns the returns of all trajectories."""

    def __init__(self, play_all):
        self.play_all = play_all

    def play(self, game, ledger):
        ledger.enter(self.play_all(game, ledger.left))
        return Outcome(LatentPolicy(np.full((H, S, A), 1 / A)))


def policy(labels=1, levels=H, actions=A):
    return np.full((levels, labels, actions), 1 / actions)


def table(count=EPISODES, levels=H + 1, states=S, label=0, kind=np.uint8):
    return np.full((count, levels, states), label, kind)


def memory(game, n_labels=S):
    return fu.OracleQ().start(game.task(n_labels, EPISODES))


def played(method, *arguments):
    """What happens if a method of the episodes is called so; a function among the arguments is given the
    game."""

    def play_all(game, count):
        episodes = game.begin(count)
        given = [one(game) if callable(one) else one for one in arguments]
        trajectories = getattr(episodes, method)(*given)
        return given[-1] if trajectories is None else trajectories.returns

    return fu.train(LOCK, Plays(play_all), EPISODES)


GOOD = {
    "play_policy": (table(), policy(), STREAM.copy()),
    "play_towards": (table(), policy(levels=1)[None], 2, STREAM.copy()),
    "explore": (memory, table()),
    "learn": (memory, table(), np.empty(EPISODES)),
    "learn_in_view": (memory, table()),
}


@pytest.mark.parametrize("method", GOOD)
def test_what_fits_is_played(method):
    assert played(method, *GOOD[method]).episodes == EPISODES


LABELS = {
    "of too few episodes": (table(count=1), r"labels must be integers of shape \[20, 4, 3\], got uint8 of"),
    "of too few levels": (table(levels=2), r"got uint8 of shape \[20, 2, 3\]"),
    "of too few states": (table(states=1), r"got uint8 of shape \[20, 4, 1\]"),
    "that are negative": (table(label=-1, kind=np.int32), "labels must be 0 or more, got -1"),
    "that are fractions": (table(kind=np.float64), "labels must be integers .* got float64"),
}


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("method", GOOD)
def test_labels_that_do_not_fit_are_refused(method, case):
    labels, message = LABELS[case]

    def is_label_table(one):
        return isinstance(one, np.ndarray) and one.ndim == 3 and one.shape[0] == EPISODES

    arguments = [labels if is_label_table(one) else one for one in GOOD[method]]
    with pytest.raises(ValueError, match=message):
        played(method, *arguments)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        (
            "play_policy",
            (table(label=200), policy(), STREAM),
            r"chances must have shape \[3, 201 or more, 4\], got \[3, 1, 4\]",
        ),
        ("play_policy", (table(), policy(levels=1), STREAM), r"\[3, 1 or more, 4\], got \[1, 1, 4\]"),
        ("play_policy", (table(), policy(actions=9), STREAM), r"\[3, 1 or more, 4\], got \[3, 1, 9\]"),
        ("play_policy", (table(), policy() * 2, STREAM), "chances must be probabilities that sum to 1"),
        ("play_policy", (table(), policy() * np.nan, STREAM), "chances must be probabilities"),
        ("play_policy", (table(), policy(), np.zeros(1, np.uint64)), "policy_rng must be a stream"),
        ("play_policy", (table(), policy(), None), "policy_rng must be a stream"),
        ("play_towards", (table(), policy(levels=1), 2, STREAM), r"reach must have shape \[policies, 1,"),
        ("play_towards", (table(), policy()[None], 2, STREAM), r"reach must have shape \[1, 1 or more, 4\]"),
        ("play_towards", (table(), policy()[None][:0], 4, STREAM), "level must be an integer from 1 to 3"),
        ("learn", (memory, table(label=3), np.empty(EPISODES)), "cannot play 3 levels, 4 labels and 4 act"),
        ("explore", (memory, table(label=3)), "cannot play 3 levels, 4 labels and 4 actions"),
        ("learn_in_view", (memory, table(label=3)), "cannot play 3 levels, 4 labels and 4 actions"),
        ("learn", (memory, table(), np.empty(1)), r"returns must be .* 20 episodes .*, got float64 of shape"),
        ("learn", (memory, table(), np.empty(EPISODES, np.int64)), "got int64 of shape"),
        ("learn", (memory, table(), [0.0] * EPISODES), "returns must be an array of float64 .* got none"),
    ],
)
def test_what_a_loop_cannot_play_is_refused(method, arguments, message):
    with pytest.raises(ValueError, match=message):
        played(method, *arguments)


class Outside(Decoder):
    """Gives labels that there are not."""

    def table(self, block):
        return np.full((block.n_episodes, block.n_levels, block.n_states), 99, np.uint8)


@pytest.mark.parametrize("method", ["learn", "explore", "learn_in_view", "play_policy"])
def test_a_decoder_that_an_agent_brings_along_is_checked(method):
    def play_all(game, count):
        if method == "play_policy":
            return game.play_policy(Outside(2), policy(2), count).returns
        last = np.empty(count) if method == "learn" else count
        getattr(game, method)(memory(game), Outside(2), last)

    with pytest.raises(ValueError, match="table of Outside must give labels from 0 to 1, got 99"):
        fu.train(LOCK, Plays(play_all), EPISODES)


def test_an_agent_may_learn_on_latent_states_from_more_episodes_than_a_block_has():
    class Learns(Plays):
        sees_latent_states = True

    def play_all(game, count):
        returns = np.empty(count)
        game.learn(fu.OracleQ().start(game.task(S, count)), None, returns)
        return returns

    count = 2 * Game(LOCK.draw_checked(Streams(0)), Streams(0), latent=True).block_episodes + 1
    own, ours = (fu.train(LOCK, agent, count) for agent in (Learns(play_all), fu.OracleQ()))
    np.testing.assert_array_equal(own.average_reward, ours.average_reward)


def test_an_agent_on_observations_is_not_shown_the_latent_states():
    def play_all(game, count):
        game.learn(memory(game), None, np.empty(count))

    with pytest.raises(ValueError, match="decoder must be given to an agent that does not see latent"):
        fu.train(LOCK, Plays(play_all), EPISODES)


@pytest.mark.parametrize("method", ["learn", "explore", "learn_in_view", "play_policy"])
@pytest.mark.parametrize("decoder", [None, "kmeans", AffineDecoder], ids=["None", "text", "class"])
def test_what_is_no_decoder_is_refused_before_anything_is_played(method, decoder):
    def play_all(game, count):
        first = decoder if method == "play_policy" else memory(game)
        second = policy(2) if method == "play_policy" else decoder
        try:
            getattr(game, method)(first, second, np.empty(count) if method == "learn" else count)
        finally:
            assert game.episodes_begun == 0

    with pytest.raises(
        ValueError, match=r"^decoder must be (a fasturl.decoders.Decoder|given to an agent .*), got"
    ):
        fu.train(LOCK, Plays(play_all), EPISODES)


def test_episodes_with_observations_do_not_play_on_latent_states():
    def play_all(game, count):
        game.begin(count).learn_on_states(memory(game), np.empty(count))

    with pytest.raises(ValueError, match="must be learned on by an agent that sees them"):
        fu.train(LOCK, Plays(play_all), EPISODES)


def test_a_memory_that_an_agent_brings_to_latent_states_has_room_for_them():
    class Learns(Plays):
        sees_latent_states = True

    def play_all(game, count):
        game.begin(count).learn_on_states(fu.OracleQ().start(game.task(S - 1, count)), np.empty(count))

    with pytest.raises(ValueError, match=f"cannot play {LOCK.horizon} levels, {S} labels"):
        fu.train(LOCK, Learns(play_all), EPISODES)


WRONG_PLACES = {
    "of one level": np.zeros((4, 1, H + 3), np.uint8),
    "of too many coordinates": np.zeros((4, H + 1, 500), np.uint8),
    "of too many episodes": np.zeros((EPISODES + 1, H + 1, H + 3), np.uint8),
    "of other numbers": np.zeros((4, H + 1, H + 3), np.float32),
    "with gaps": np.zeros((8, H + 1, H + 3), np.uint8)[::2],
    "that cannot be written": np.broadcast_to(np.uint8(0), (4, H + 1, H + 3)),
    "that is none": None,
}


@pytest.mark.parametrize("case", WRONG_PLACES)
def test_observations_are_written_where_there_is_room_for_them_alone(case):
    def play_all(game, count):
        game.play_random(count).observe_into(WRONG_PLACES[case])

    with pytest.raises(ValueError, match="out must be an array of uint8 that can be written"):
        fu.train(LOCK, Plays(play_all), EPISODES)


@pytest.mark.parametrize(
    "env",
    [LOCK, fu.LockGaussian(3), registry.environment("rich-lock", horizon=3)],
    ids=["bits", "reals", "rotated"],
)
def test_observations_are_the_same_wherever_they_are_written(env):
    streams = Streams(0)
    trajectories = Game(env.draw_checked(streams), streams).play_random(10)
    expected = trajectories.observations(7)
    out = np.full((12, *expected.shape[1:]), 99, expected.dtype)
    trajectories.observe_into(out[2:9])
    np.testing.assert_array_equal(out[2:9], expected)
    assert (out[:2] == 99).all()
    assert (out[9:] == 99).all()


@pytest.mark.parametrize("count", [-3, 2.5, "all"])
def test_a_game_begins_a_whole_number_of_episodes(count):
    with pytest.raises(ValueError, match="count must be an integer >= 0, got"):
        fu.train(LOCK, Plays(lambda game, _: game.begin(count)), EPISODES)


# --- rows of observations ---


class OwnObservationAgent(ObservationAgent):
    """A class of a user's that changes nothing."""


def test_a_subclass_of_the_agent_on_observations_does_the_same():
    own, ours = (fu.train(LOCK, kind(fu.OracleQ()), 500) for kind in (OwnObservationAgent, ObservationAgent))
    np.testing.assert_array_equal(own.average_reward, ours.average_reward)


@pytest.mark.parametrize("change", [{"horizon": 1}, {"horizon": 5}, {"n_actions": 2}], ids=str)
def test_a_memory_for_other_episodes_learns_from_no_observations(change):
    def play_all(game, count):
        rows = _Rows(fu.OracleQ(), game.task(1, count)._replace(**change), n_bits=H + 3, n_rows=64)
        game.begin(count).learn_observations(rows.memory, rows.keys, np.empty(count))

    with pytest.raises(ValueError, match=r"cannot learn on 64 rows of .* in 3 levels with 4 actions"):
        fu.train(LOCK, Plays(play_all), EPISODES)


@pytest.mark.parametrize(
    ("first", "end", "message"),
    [
        (0, EPISODES + 1, "end must be an integer from 0 to 20, got 21"),
        (-1, 5, "first must be an integer from 0 to 20, got -1"),
        (7, 6, "end must be an integer from 7 to 20, got 6"),
    ],
)
def test_a_part_is_of_the_episodes_that_there_are(first, end, message):
    with pytest.raises(ValueError, match=message):
        played("part", first, end)


# --- what an agent enters and returns ---


def test_returns_of_two_axes_are_refused():
    with pytest.raises(ValueError, match=r"returns must have shape \[trajectories\], got \(20, 3\)"):
        fu.train(LOCK, Plays(lambda game, count: game.play_random(count).rewards), EPISODES)


def test_a_loop_that_fills_in_no_numbers_is_told():
    class Fills(Plays):
        def play(self, game, ledger):
            game.play_random(ledger.left)
            with ledger.entry(ledger.left) as returns:
                returns[:] = np.nan
            return Outcome(LatentPolicy(np.full((H, S, A), 1 / A)))

    with pytest.raises(ValueError, match="returns must be finite, got nan"):
        fu.train(LOCK, Fills(None), EPISODES)


@pytest.mark.parametrize("name", ["returns", "played"])
def test_a_ledger_cannot_be_rewritten(name):
    class Rewrites(Plays):
        def play(self, game, ledger):
            setattr(ledger, name, np.zeros((EPISODES, 2)))

    with pytest.raises(AttributeError, match=f"property '{name}' of 'Ledger' object has no setter"):
        fu.train(LOCK, Rewrites(None), EPISODES)


@pytest.mark.parametrize("value", ["x", None, np.nan, [0.5, 0.5]])
def test_a_value_that_is_no_number_is_refused(value):
    class Judged:
        def judge(self, instance, streams):
            return fu.agents.Verdict(value)

    class Boasts(Plays):
        def play(self, game, ledger):
            ledger.enter(game.play_random(ledger.left).returns)
            return Outcome(Judged())

    with pytest.raises(ValueError, match="value that judge of Judged returns must be a number in"):
        fu.train(LOCK, Boasts(None), EPISODES)


def test_agents_of_ours_play_episodes_as_they_are():
    """They pay nothing for what only a user's agent can get wrong."""
    agents = {fu.URL(): Episodes, OwnObservationAgent(fu.OracleQ()): CheckedEpisodes}
    for agent, kind in agents.items():
        assert type(PaidReturns(agent).episodes(LOCK.instance(0), Streams(0), 5, None)) is kind


def test_a_policy_on_labels_is_played_where_its_decoder_fits():
    decoder = AffineDecoder(np.eye(2, 6), np.zeros(2))
    assert fu.train(LOCK, Plays(lambda game, n: game.play_policy(decoder, policy(2), n).returns), EPISODES)

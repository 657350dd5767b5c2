"""What an agent that a user wrote enters in its ledger is what its trajectories have paid."""

import numpy as np
import pytest
from test_faulty_agents import EPISODES, LOCK, STREAM, A, Plays, S, memory, policy

import fasturl as fu
from fasturl._kernels import hindsight as _hindsight
from fasturl.agents import LatentPolicy, Outcome
from fasturl.decoders import AffineDecoder
from fasturl.learners.rollouts import returns_of


def one_state(rewards, **settings):
    """A problem with one state, whose levels pay these rewards."""
    table = np.tile(np.reshape(rewards, (-1, 1, 1)), (1, 1, A))
    return fu.BlockMDP(np.ones((len(rewards), 1, A, 1)), table, **settings)


STAIRS = one_state([0.25, 0.5, 1.0], reward_draw="deterministic")
COINS = one_state([0.5, 0.5, 0.5])


class Latent(Plays):
    """Sees the one state that there is."""

    sees_latent_states = True

    def play(self, game, ledger):
        super().play(game, ledger)
        return Outcome(LatentPolicy(policy()))


@pytest.mark.parametrize(
    ("env", "returns_of", "message"),
    [
        (STAIRS, lambda one: one.rewards.mean(axis=1), "got 0.583333 for trajectory 1, which paid 1.75"),
        (STAIRS, lambda one: one.rewards @ [1, 0.9, 0.81], "got 1.51 for trajectory 1, which paid 1.75"),
        (STAIRS, lambda one: one.rewards[:, -1], "got 1 for trajectory 1, which paid 1.75"),
        (STAIRS, lambda one: one.returns + 10 * (np.arange(EPISODES) == 7), "got 11.75 for trajectory 8,"),
        (COINS, lambda one: np.sort(one.returns), r"got \d for trajectory \d+, which paid \d"),
    ],
    ids=["mean", "discounted", "last", "one of them", "order"],
)
def test_an_agent_enters_what_was_paid(env, returns_of, message):
    agent = Latent(lambda game, count: returns_of(game.play_random(count)))
    with pytest.raises(ValueError, match="play of Latent must enter in its ledger what each .*" + message):
        fu.train(env, agent, EPISODES)


@pytest.mark.parametrize(
    "returns_of",
    [lambda rewards: rewards[:, ::-1].sum(axis=1), lambda rewards: rewards.astype(np.float32).sum(axis=1)],
    ids=["order", "precision"],
)
def test_rewards_may_be_added_up_in_any_order_and_precision(returns_of):
    env = one_state([0.1, 0.1, 0.3], reward_draw="deterministic")
    agent = Latent(lambda game, count: returns_of(game.play_random(count).rewards))
    assert fu.train(env, agent, EPISODES).final_average_reward == pytest.approx(0.5)


def test_what_a_loop_has_filled_in_cannot_be_changed():
    class Improves(Plays):
        def play(self, game, ledger):
            with ledger.entry(ledger.left) as returns:
                game.learn(memory(game), AffineDecoder(np.eye(2, 6), np.zeros(2)), returns)
            ledger.returns[3] = 5
            return Outcome(LatentPolicy(policy(S)))

    with pytest.raises(ValueError, match="got 5 for trajectory 4, which paid"):
        fu.train(LOCK, Improves(None), EPISODES)


@pytest.mark.parametrize("name", ["rewards", "returns"])
def test_what_trajectories_have_paid_cannot_be_changed(name):
    def play_all(game, count):
        trajectories = game.play_random(count)
        getattr(trajectories, name)[:] = 1
        return trajectories.returns

    with pytest.raises(ValueError, match="read-only"):
        fu.train(LOCK, Plays(play_all), EPISODES)


def test_no_kernel_is_compiled_for_rewards_that_cannot_be_changed():
    def play_all(game, count):
        trajectories = game.play_random(count)
        memory(game).replay(trajectories.labels, trajectories.actions, trajectories.rewards)
        return returns_of(trajectories.rewards)

    before = len(_hindsight.add_rewards.signatures)
    assert fu.train(LOCK, Plays(play_all), EPISODES)
    assert len(_hindsight.add_rewards.signatures) <= max(before, 1)


def test_episodes_are_played_once():
    def play_all(game, count):
        episodes = game.begin(count)
        for _ in range(2):
            returns = episodes.play_policy(episodes.blank_labels(), policy(), STREAM.copy()).returns
        return returns

    with pytest.raises(ValueError, match="must play each episode that it begins once, got 40 played of 20"):
        fu.train(LOCK, Plays(play_all), EPISODES)


def test_parts_of_episodes_may_be_played_in_any_order():
    def play_all(game, count):
        episodes = game.begin(count)
        parts = episodes.part(5, count), episodes.part(0, 5)
        played = [part.play_policy(part.blank_labels(), policy(), STREAM.copy()) for part in parts]
        return np.concatenate([one.returns for one in played])

    assert fu.train(LOCK, Plays(play_all), EPISODES)

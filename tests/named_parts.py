"""Components of each kind that a program or a package may register."""

from dataclasses import dataclass

import numpy as np
from url_parts import Explorer

import fasturl as fu
from fasturl.agents.agent import Agent, Outcome
from fasturl.agents.evaluation import LatentPolicy


@dataclass(frozen=True)
class Corridor(fu.Environment):
    horizon: int = fu.setting(4, least=1, help="Number of levels.")
    slip: float = fu.setting(0.0, least=0, most=1, help="Chance that an action has no effect.")

    n_actions, max_states = 2, 2

    def draw(self, streams):
        transitions = np.zeros((self.horizon, 2, 2, 2))
        transitions[:, 0] = [[1 - self.slip, self.slip], [0, 1]]
        transitions[:, 1, :, 1] = 1
        rewards = np.zeros((self.horizon, 1, 1, 2))
        rewards[-1, ..., 0] = 1
        return fu.BlockMDP(transitions, rewards)


class Threshold:
    """An oracle with fit and predict."""

    def __init__(self, coordinate: int = 0):
        self.coordinate = coordinate

    def fit(self, X):
        return self

    def predict(self, X):
        return (np.asarray(X)[:, self.coordinate] > 0.5).astype(int)


class Counts(Explorer):
    """A learner with one setting."""

    def __init__(self, patience: int = 3):
        self.patience = patience


@dataclass(frozen=True)
class Lazy(Agent):
    """An agent that always plays the first action."""

    rest: float = fu.setting(0.5, least=0, help="Nothing.")

    sees_latent_states = True

    def play(self, game, ledger):
        while ledger.left:
            ledger.enter(game.play_random(min(10, ledger.left)).returns)
        known = game.description
        return Outcome(
            LatentPolicy(np.eye(known.n_actions)[np.zeros((known.horizon, known.max_states), int)])
        )


KINDS = {"environment": Corridor, "oracle": Threshold, "learner": Counts, "agent": Lazy}

"""A third family, an oracle and a learner as users write them."""

from dataclasses import dataclass

import numpy as np

import fasturl as fu


@dataclass(frozen=True)
class Corridor(fu.Environment):
    """Two states; the right action, which may slip, pays what the instance draws: V* is another for every
    seed."""

    length: int = fu.setting(help="Number of levels.", least=1)
    slip: float = fu.setting(0.0, least=0, most=1, help="Probability that an action has no effect.")
    doors: int | None = fu.setting(None, least=0, none="as many as levels", help="Without effect.")
    lit: bool = fu.setting(True, help="Without effect.")
    paint: str = fu.setting("white", help="Without effect.")

    n_actions = 2
    max_states = 2

    @property
    def horizon(self):
        return self.length

    @property
    def emission(self):
        return fu.emissions.Gaussian(np.eye(2), 0.05, n_levels=self.length + 1)

    def draw(self, streams):
        best = streams.generator("instance").uniform(0.1, 0.9)
        transitions = np.empty((self.length, 2, 2, 2))
        transitions[:, :, 0], transitions[:, :, 1] = [1, 0], [self.slip, 1 - self.slip]
        rewards = np.zeros((self.length, 2, 2, 2))
        rewards[-1, :, :, 1] = best
        return fu.BlockMDP(transitions, rewards, emission=self.emission)


@dataclass(frozen=True)
class Burrow(fu.Environment):
    """Declares names of others' settings with kinds of its own: doors and slip in words, paint in numbers."""

    horizon: int = fu.setting(2, least=1, help="Number of levels.")
    doors: str = fu.setting("many", help="Without effect.")
    slip: int = fu.setting(1, least=0, help="Without effect.")
    paint: float = fu.setting(0.5, help="Without effect.")

    n_actions = 2
    max_states = 2

    def draw(self, streams):
        return Corridor(self.horizon).draw(streams)


@dataclass(frozen=True)
class Threshold:
    """An oracle: which of the first two coordinates is the larger."""

    margin: float = fu.setting(0.0, help="Added to the first.")

    def fit(self, observations):
        return self

    def predict(self, observations):
        observations = np.asarray(observations)
        return (observations[:, 1] > observations[:, 0] + self.margin).astype(np.int64)


@dataclass(frozen=True)
class Cautious(fu.QLearning):
    """A learner: QLearning under another name, with a setting that must be given."""

    patience: int = fu.setting(help="Without effect.", least=1, kw_only=True)

"""An environment family: a corridor in which every step is to the left, straight on or to the right.

At each level and position, which action goes where is shuffled for each seed. A step goes straight on with
probability `slip`, whatever the action. The corridor ends at a door, whose position is drawn for each seed
too: whoever stands before it at the last level earns 1 with probability `prize`. So V* differs between seeds.
"""

from dataclasses import dataclass

import numpy as np

import fasturl as fu

MOVES = (-1, 0, 1)
LAMPS = 3
"""Bits that each position sets for itself."""


@dataclass(frozen=True)
class Corridor(fu.Environment):
    """A corridor seen through bits: three lamps for each position, lit at that position alone, then coins."""

    length: int = fu.setting(4, least=1, unit="levels", help="Number of steps to the door.")
    width: int = fu.setting(5, least=2, most=60, unit="positions", help="Number of positions side by side.")
    slip: float = fu.setting(0.1, least=0, below=1, help="Probability that a step goes straight on.")
    prize: float = fu.setting(0.8, above=0, most=1, help="Probability that the door pays.")
    door: str = fu.setting("random", choices=("random", "left", "right"), help="Where the door is.")
    coins: int | None = fu.setting(None, least=0, none="as many as positions", help="Bits without meaning.")

    n_actions = len(MOVES)
    max_return = 1.0

    def __post_init__(self):
        super().__post_init__()
        coins = self.width if self.coins is None else self.coins
        lamps = np.repeat(np.eye(self.width), LAMPS, axis=1)
        frequencies = np.hstack([lamps, np.full((self.width, coins), 0.5)])
        emission = fu.emissions.Bernoulli(frequencies, n_levels=self.length + 1)
        object.__setattr__(self, "emission", emission)

    @property
    def horizon(self):
        return self.length

    @property
    def max_states(self):
        return self.width

    def draw(self, streams):
        rng = streams.generator("instance")
        positions = np.arange(self.width)
        transitions = np.zeros((self.length, self.width, self.n_actions, self.width))
        for level in range(self.length):
            for position in positions:
                for action, move in enumerate(rng.permutation(MOVES)):
                    target = min(max(position + move, 0), self.width - 1)
                    transitions[level, position, action, target] += 1 - self.slip
                    transitions[level, position, action, position] += self.slip
        door = {"random": int(rng.integers(self.width)), "left": 0, "right": self.width - 1}[self.door]
        rewards = np.zeros((self.length, 1, 1, self.width))
        rewards[-1, 0, 0, door] = self.prize
        start = np.full(self.width, 1 / self.width)
        return fu.BlockMDP(transitions, rewards, start=start, emission=self.emission)

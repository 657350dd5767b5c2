"""The contract of emissions, and what ours share.

An emission draws noise for a block of episodes from the emission stream, without knowing policy or state. The
block can then show the observation along any path of states, or hand all of them at once to a decoder.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._base import checks
from ..._base.origin import implemented_by_us
from ..._kernels import dynamics as _dynamics
from ..._kernels import emission as _emission
from ..blocks import Block, Floats, Rngs, Words
from ..buffers import ObservationBuffer, StoredObservations
from ..description import ObservationSpace

N_RNGS = 4
"""Number of generators side by side in an emission stream."""
_BLOCK_BYTES = 1 << 22  # half as large ones take 2 or 3 % longer; more would take a share of others' cache
MOST_EPISODES = 2048
"""Upper limit on the episodes of a block: long against the microseconds of a kernel call, short for a
person."""


def refuse_emission(value: object) -> NoReturn:
    """What is told of an object that is no emission."""
    checks.instance("emission", value)
    raise ValueError(
        f"emission must be None or one of fu.emissions such as Gaussian, got {checks.short_repr(value)}"
    )


class Emission(ABC):
    """How observations are drawn for latent states, for blocks of episodes at a time.

    A subclass has the attributes `n_levels` (H+1), `n_states` (the largest number of states of a level),
    `dimension` (number of coordinates of an observation) and `discrete` (True for bits, False for reals), and
    implements `draw`. An episode must take a fixed number of draws, so that episode n meets the same noise
    whatever the size of the blocks. A class whose `draw` gives observations that are independent from level
    to level once the states are known, as those of a Block MDP are, says so by `independent_levels = True`:
    values of policies on decoders are then computed, and else they are means of episodes.

    Examples
    --------
    >>> import numpy as np
    >>> from fasturl.emissions import ObservationBlock
    >>> class OneHot(Emission):
    ...     discrete, n_levels, n_states, dimension = False, 4, 3, 3
    ...     def draw(self, rngs, episodes):
    ...         return ObservationBlock(np.broadcast_to(np.eye(3, dtype=np.float32), (episodes, 4, 3, 3)))
    >>> OneHot().bounds()
    (-inf, inf)
    """

    n_levels: int
    n_states: int
    dimension: int
    discrete: bool
    independent_levels: bool = False

    def __setattr__(self, name: str, value: object) -> None:
        sized = name in ("n_levels", "n_states", "dimension", "discrete") and vars(self).get(name)
        # kernels of ours trust the sizes that they were made for
        if sized and sized != value and implemented_by_us(self, "draw"):
            raise AttributeError(f"{name} of a {type(self).__name__} cannot be changed: make another one")
        super().__setattr__(name, value)

    @abstractmethod
    def draw(self, rngs: Rngs, episodes: int) -> Block:
        """The observations of the next episodes, for every state that each level can have.

        rngs
            The four generators of the emission stream, uint64[4, 4]. They go on from there.
        episodes
            Number of episodes.

        Returns an `ObservationBlock` of float32 [episodes, n_levels, n_states, dimension] for reals, and for
        bits the block that `packed` makes of uint8 in the same shape.
        """

    def sized(self, n_levels: int, n_states: int) -> Self:
        """The emission for a Block MDP of this size; ValueError where it was made for another."""
        self._check_sizes()
        if (self.n_levels, self.n_states) != (n_levels, n_states):
            raise ValueError(
                f"emission must be made for {n_levels} levels and {n_states} states, "
                f"got {self.n_levels} and {self.n_states}"
            )
        return self

    def bounds(self) -> tuple[float, float]:
        """Two numbers between which every coordinate of every observation lies; infinite where they are not
        known."""
        return (0.0, 1.0) if self.discrete else (-math.inf, math.inf)

    def observation_buffer(self, n_envs: int) -> ObservationBuffer:
        """What shows the observations of `n_envs` environments side by side.

        This works for every emission, from `draw` alone. A subclass may have one that is faster and gives the
        same bits.
        """
        return StoredObservations([self] * n_envs, self.n_levels, self.n_states)

    @property
    def has_independent_levels(self) -> bool:
        """Whether the class that `draw` comes from declares `independent_levels`: what it declares does not
        hold for a subclass that draws in its own way."""
        drawing = next(cls for cls in type(self).__mro__ if "draw" in vars(cls))
        declared = vars(drawing).get("independent_levels", False)
        return checks.flag(f"independent_levels of {drawing.__name__}", declared)

    @property
    def observation_space(self) -> ObservationSpace:
        """Kind and dimension of observations, as agents are told."""
        self._check_sizes()
        discrete = checks.flag(f"discrete of {type(self).__name__}", getattr(self, "discrete", None))
        return ObservationSpace("bits" if discrete else "reals", int(self.dimension))

    def _check_sizes(self) -> None:
        """ValueError where a size that a subclass declares is no count, or is missing."""
        for name in ("n_levels", "n_states", "dimension"):
            checks.integer(f"{name} of {type(self).__name__}", getattr(self, name, None), least=1)

    @property
    def block_episodes(self) -> int:
        """How many episodes make a block that stays in the cache."""
        return max(16, min(MOST_EPISODES, _BLOCK_BYTES // self._episode_bytes()))

    @property
    def episode_bytes(self) -> int:
        """Memory that one episode takes in a block."""
        return self._episode_bytes()

    def _episode_bytes(self) -> int:
        """Memory that an episode takes in a block."""
        return 4 * int(self.n_levels) * int(self.n_states) * int(self.dimension)


def cumulative(chances: Floats) -> Floats:
    """Running sums of probabilities along the last axis; the kernel says what is made of rounding.

    chances
        Probabilities, which sum to 1 along the last axis.

    Returns an array of the same shape, whose last entries are 1.

    Examples
    --------
    >>> import numpy as np
    >>> cumulative(np.array([0.25, 0.5, 0.25])).tolist()
    [0.25, 0.75, 1.0]
    """
    rows = np.ascontiguousarray(chances, np.float64).reshape(-1, chances.shape[-1])
    sums = np.empty_like(rows)
    _dynamics.cumulate(rows, sums)
    return sums.reshape(chances.shape)


def per_level(name: str, table: ArrayLike, n_levels: int) -> NDArray[Any]:
    """A table [S, D] or [L, S, D] as one of L levels; ValueError for any other shape."""
    levels = checks.integer("n_levels", n_levels, least=1)
    array = checks.real_array(name, table)
    if array.ndim not in (2, 3) or 0 in array.shape or (array.ndim == 3 and array.shape[0] != levels):
        raise ValueError(
            f"{name} must have shape [states, coordinates] or [{levels}, states, coordinates], "
            f"got {array.shape}"
        )
    return np.broadcast_to(array, (levels, *array.shape[-2:]))


def raw_words(rngs: Rngs, episodes: int, count: int) -> Words:
    """Rows of at least `count` raw words, one row for each episode.

    rngs
        The generators of an emission stream: uint64[4, 4].
    episodes
        Number of rows.
    count
        The least number of words in a row.

    Returns uint64[episodes, words]. The four generators take turns, so that the number of words is `count`
    rounded up to a multiple of four. The generators go on from there.

    Examples
    --------
    >>> from fasturl._base.streams import Streams
    >>> from fasturl.problems.environment import emission_rngs
    >>> raw_words(emission_rngs(Streams(0)), episodes=3, count=2).shape[0]
    3
    """
    raw = np.empty((episodes, -(-count // N_RNGS), N_RNGS), np.uint64)
    _emission.fill_words(rngs, raw)
    return raw.reshape(episodes, raw.shape[1] * N_RNGS)

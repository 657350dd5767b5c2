"""Named random streams: one set per run, derived from the run's seed and from nothing else.

Each name is an independent child of the seed's `numpy.random.SeedSequence`. The instance, its transitions
and the observation noise have streams of their own that no agent's actions can advance out of step, so two
agents with the same seed meet the same instance and the same random numbers.
"""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from .._kernels import seeding as _seeding
from . import checks

NAMES = ("instance", "dynamics", "emission", "policy", "oracle", "evaluation")
_POSITIONS = {name: position for position, name in enumerate(NAMES)}


class Streams:
    """The generators of one run. A stream is made when it is first asked for, and then advances.

    It keeps the number of generators that it is first asked for with: the first of four is the one that a
    single one would be, so with both the same numbers would be drawn twice.
    """

    def __init__(self, seed: SupportsIndex, key: tuple[int, ...] = ()) -> None:
        try:
            self._seed, self._key = operator.index(seed), key
        except TypeError:
            self._seed = -1
        if self._seed < 0:
            raise ValueError(f"seed must be an integer >= 0, got {checks.short_repr(seed)}")
        self._rows: dict[str, NDArray[np.uint64]] = {}
        self._generators: dict[str, np.random.Generator] = {}

    def row(self, name: str) -> NDArray[np.uint64]:
        """The named stream as one generator, uint64[4]."""
        return self.rows(name, 1).reshape(4)

    def rows(self, name: str, count: int) -> NDArray[np.uint64]:
        """The named stream as several generators side by side, uint64[count, 4]."""
        if name not in self._rows:
            self._rows[name] = self._state(name, 4 * count).reshape(count, 4)
        rows = self._rows[name]
        if rows.shape[0] != count:
            raise ValueError(f"generators of {name!r} must be {rows.shape[0]} as before, got {count}")
        return rows

    def generator(self, name: str) -> np.random.Generator:
        """The named stream as a NumPy generator, for code outside the kernels: another one than its rows.
        Like them it is made when it is first asked for, and then goes on."""
        if name not in self._generators:
            self._generators[name] = np.random.default_rng(self._sequence(name))
        return self._generators[name]

    def evaluation(self) -> Streams:
        """A full set of streams for evaluating a policy, apart from those of training."""
        return Streams(self._seed, self._child("evaluation"))

    def again(self) -> Streams:
        """The same streams from their beginning."""
        return Streams(self._seed, self._key)

    def _child(self, name: str) -> tuple[int, ...]:
        if name not in _POSITIONS:
            raise ValueError(
                f"name must be one of {', '.join(map(repr, NAMES))}, got {checks.short_repr(name)}"
            )
        return (*self._key, _POSITIONS[name])

    def _sequence(self, name: str) -> np.random.SeedSequence:
        return np.random.SeedSequence(self._seed, spawn_key=self._child(name))

    def _state(self, name: str, words: int) -> NDArray[np.uint64]:
        if self._seed >= 2**64:  # more than the kernel knows how to hash
            return np.asarray(self._sequence(name).generate_state(words, np.uint64), np.uint64)
        state = np.empty(words, np.uint64)
        _seeding.seed_stream(
            np.uint64(self._seed), np.array(self._child(name), np.uint32), np.empty(4, np.uint64), state
        )
        return state

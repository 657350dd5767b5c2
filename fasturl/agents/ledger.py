"""The returns of a run, entered in the order in which its trajectories were played; every entry is a tick of
the progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.workers import Tick

if TYPE_CHECKING:
    from .checkpoints import Checkpoints
    from .evaluation import OfferedPolicy

Floats = NDArray[np.float64]


class Ledger:
    """What a run has earned so far.

    episodes
        What the run was asked for: the number of trajectories, or, for URL as written, of the learner's
        episodes.
    trajectories
        How many trajectories the run plays.
    tick
        Called with the number of trajectories whenever some were entered.
    checkpoints
        When and how policies are evaluated on the way; None for never.

    Examples
    --------
    >>> import numpy as np
    >>> ledger = Ledger(episodes=3, trajectories=3, tick=lambda count: None)
    >>> ledger.enter(np.array([0.0, 1.0]))
    >>> ledger.played, ledger.left
    (2, 1)
    """

    def __init__(
        self, episodes: int, trajectories: int, tick: Tick, checkpoints: Checkpoints | None = None
    ) -> None:
        self.episodes, self._tick, self._checkpoints = episodes, tick, checkpoints
        self._returns = np.empty(trajectories)
        self._played, self._has_offers = 0, False

    @property
    def has_offers(self) -> bool:
        """Whether a policy has been offered."""
        return self._has_offers

    @property
    def returns(self) -> Floats:
        """The return of every trajectory, [trajectories]; those from `played` on are yet to come."""
        return self._returns

    @property
    def played(self) -> int:
        """How many trajectories have been entered."""
        return self._played

    @property
    def left(self) -> int:
        """How many trajectories are still to be played."""
        return self.returns.size - self.played

    def next_block(self, most: int) -> int:
        """How many trajectories to play next: `most`, or fewer where fewer are left or an evaluation is due
        before."""
        count = min(most, self.left)
        return count if self._checkpoints is None else min(count, self._checkpoints.until_next(self.played))

    def offer(self, policy: Callable[[], OfferedPolicy]) -> None:
        """Say what the final policy would be if the run ended here; `policy` is called where an evaluation is
        due, and must leave the run as it is."""
        self._has_offers = True
        if self._checkpoints is not None and self._checkpoints.due(self.played):
            self._checkpoints.evaluate(self.played, policy())

    def enter(self, returns: Floats) -> None:
        """Enter the returns of trajectories that were played: an array [E]."""
        entries = checks.real_array("returns", returns).astype(np.float64, copy=False)
        if entries.ndim != 1:
            raise ValueError(f"returns must have shape [trajectories], got {entries.shape}")
        _refuse_no_numbers(entries)
        self._refuse_more_than_are_left(entries.size)
        self.returns[self.played : self.played + entries.size] = entries
        self._advance(entries.size)

    @contextmanager
    def entry(self, count: int) -> Iterator[Floats]:
        """The entries of the next `count` trajectories, for a loop to fill in."""
        self._refuse_more_than_are_left(count)
        yield self.returns[self.played : self.played + count]
        self._advance(count)

    def refuse_no_numbers(self) -> None:
        """ValueError where a loop has filled in a return that is no number."""
        _refuse_no_numbers(self._returns[: self._played])

    def pause(self) -> None:
        """A moment between two long parts at which a run can be stopped."""
        self._tick(0)

    def _refuse_more_than_are_left(self, count: int) -> None:
        if not 0 <= count <= self.left:
            raise ValueError(
                f"a ledger of {self.returns.size} trajectories must be given the {self.left} that are left "
                f"or fewer, got {count}"
            )

    def _advance(self, count: int) -> None:
        self._played += count
        self._tick(count)


def _refuse_no_numbers(returns: Floats) -> None:
    if not np.isfinite(returns).all():
        raise ValueError(f"returns must be finite, got {returns[~np.isfinite(returns)][0]}")


class Phases:
    """Seconds that the parts of a run take."""

    def __init__(self, *names: str) -> None:
        self.seconds = dict.fromkeys(names, 0.0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time of what happens inside to one of the parts."""
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

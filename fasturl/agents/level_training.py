"""URL with a decoder for each level: fitting, relabelling and planning never stop.

A level that looks like no other has to be decoded by itself (footnote 1 of the paper has both ways), and deep
levels show one state only until exploration gets there. So there is no phase in which the decoder is trained.
A batch of trajectories is played and learned from on the present labels. Then the oracle is fitted again at
the levels that have news, and where that changes labels, all history is labelled anew and the learner learns
from it again: no trajectory is wasted, and a state that turns up late is new to the learner, who goes there.

What is news at a level comes from the pairs of label and action of the level before. Where each of them has
been tried n times,

    news = sum over the pairs of 1 + log(n) / log(3/2)

counts how often the visits of some pair have grown by half: a pair that was taken a thousand times shows
nothing that it has not shown, one that was never taken may lead to a new state. Of the first level it is the
number of trajectories that counts so. The oracle is fitted again at a level that has fewer labels than it may
when half as many news have come in as there are actions, and at any level when the number of trajectories has
grown by half: more data make a better decoder.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decoders.by_level import LevelDecoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Learner
from .agent import Outcome
from .evaluation import DecodedPolicy
from .game import Game
from .history import History
from .ledger import Ledger, Phases

_GROWTH = 1.5
"""Growth of a pair's visits that is a piece of news."""
_MORE_TRAJECTORIES = 1.5
"""Growth of the number of trajectories after which a level is fitted again, news or not."""


class LevelTraining:
    """One run with a decoder for each level."""

    def __init__(self, game: Game, ledger: Ledger, oracle: Any, learner: Learner, n_states: int) -> None:
        self._game, self._ledger, self._oracle, self._learner = game, ledger, oracle, learner
        self._n_states, self._n_labels = n_states, n_states
        known = game.description
        self._history = History(known.horizon, n_states, known.n_actions)
        self._decoders: list[Decoder] = [ConstantDecoder(2) for _ in range(known.horizon + 1)]
        self._news_at_fit, self._played_at_fit = np.zeros(known.horizon + 1), np.zeros(known.horizon + 1)
        self._oracle_seeds = game.generator("oracle")
        self._fits = self._changes = self._last_change = 0
        self._phases = Phases("oracle", "learning")

    def run(self, batch: int) -> Outcome:
        """Play all trajectories of the ledger, `batch` at a time, and tell what has been learned."""
        self._relearn()
        while self._ledger.left:
            with self._phases.timed("learning"):
                self._play(min(batch, self._ledger.left))
            with self._phases.timed("oracle"):
                changed = self._refit()
            if changed:
                with self._phases.timed("learning"):
                    self._relearn()
            self._ledger.offer(self._policy)
        return Outcome(self._policy(), self._diagnostics())

    def _policy(self) -> DecodedPolicy:
        return DecodedPolicy(self._decoder, self._memory.final_policy())

    def _diagnostics(self) -> dict[str, Any]:
        found = [len(np.unique(labels)) for labels in self._history.labels.T]
        return {
            "oracle_fits": self._fits,
            "relabellings": self._changes,
            "decoder_trajectories": self._last_change,
            "decoder_stable": 2 * self._last_change <= self._ledger.played,
            "labels_found": found,
            "seconds": self._phases.seconds,
        }

    def _play(self, count: int) -> None:
        trajectories = self._game.learn_in_view(self._memory, self._decoder, count)
        self._history.add(trajectories)
        self._ledger.enter(trajectories.returns)

    def _relearn(self) -> None:
        self._decoder = LevelDecoder(self._decoders, self._n_labels)
        self._memory = self._history.learned(self._learner, self._game, self._ledger.returns.size)

    def _refit(self) -> bool:
        """Fit the oracle at the levels that have news; returns whether any label has changed."""
        news, found = self._news()
        self._news_at_fit = np.minimum(self._news_at_fit, news)
        played, more = self._ledger.played, news - self._news_at_fit
        wanted = np.where(found < self._n_states, self._game.description.n_actions / 2, np.inf)
        due = (more >= wanted) | (played >= _MORE_TRAJECTORIES * self._played_at_fit)
        levels = np.flatnonzero(due) + 1
        changed = [self._fit(level) for level in levels.tolist()]
        self._news_at_fit[levels - 1] = news[levels - 1]
        self._played_at_fit[levels - 1] = played
        if any(changed):
            self._changes += 1
            self._last_change = self._ledger.played
        return any(changed)

    def _fit(self, level: int) -> bool:
        from ..oracles.fitting import fit_level_decoder

        observations = self._history.observations(level)
        seed = int(self._oracle_seeds.integers(2**31))
        try:
            decoder = fit_level_decoder(self._oracle, observations, seed, self._n_states)
        except Exception as error:
            error.add_note(f"at level {level}")
            raise
        names, changed = self._history.rename(level, decoder.decode(observations, level))
        self._decoders[level - 1] = decoder.relabelled(names)
        self._fits += 1
        self._ledger.pause()
        return changed

    def _news(self) -> tuple[Floats, NDArray[np.int64]]:
        """The news of every level, and how many labels it has: [H+1] each."""
        visits = self._history.visits()
        pieces = np.where(visits > 0, 1.0 + np.log(np.maximum(visits, 1)) / np.log(_GROWTH), 0.0)
        first = self._game.description.n_actions * np.log1p(self._ledger.played)
        news = np.concatenate([[first], pieces.sum(axis=(1, 2))])
        last = np.unique(self._history.labels[:, -1]).size
        return news, np.append((visits.sum(axis=2) > 0).sum(axis=1), last)

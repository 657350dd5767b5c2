"""A run of URL: fitting, relabelling and planning never stop.

Deep levels show one state only until exploration gets there, so there is no phase in which the decoder is
trained. Trajectories are played and learned from on the present labels. When the way to decode wants it, the
oracle is fitted again, and where that changes labels, all history is labelled anew and the learner learns
from it again: no trajectory is wasted, and a state that turns up late is new to the learner, who goes there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..learners.learner import Learner, check_final_policy
from .agent import Outcome
from .doubts import diagnose
from .evaluation import DecodedPolicy
from .game import Game
from .history import History
from .ledger import Ledger, Phases
from .level_decoding import LevelDecoding


class URLTraining:
    """One run."""

    def __init__(
        self,
        game: Game,
        ledger: Ledger,
        learner: Learner,
        decoding: LevelDecoding,
        n_labels: int,
        generator: np.random.Generator,
    ) -> None:
        self._generator = generator
        self._game, self._ledger, self._learner, self._decoding = game, ledger, learner, decoding
        known = game.description
        self._history = History(known.horizon, n_labels, known.n_actions, ledger.returns.size)
        self._follow_decoding()
        self._relabellings = 0
        self._phases = Phases("oracle", "learning")

    def run(self) -> Outcome:
        """Play all trajectories of the ledger, and return what has been learned."""
        ledger = self._ledger
        self._relearn()
        while ledger.left:
            due = ledger.played + min(self._decoding.until_due(ledger.played), ledger.left)
            while ledger.played < due:
                with self._phases.timed("learning"):
                    self._play(ledger.next_block(min(self._game.block_episodes, due - ledger.played)))
                if ledger.played < due:
                    ledger.offer(self._policy)
            self._refit()
            ledger.offer(self._policy)
        return Outcome(self._policy(), self._diagnostics())

    def _play(self, count: int) -> None:
        trajectories = self._game.learn_in_view(self._memory, self._decoding.decoder, count)
        self._history.add(trajectories)
        self._ledger.enter(trajectories.returns)

    def _refit(self) -> None:
        with self._phases.timed("oracle"):
            changed = self._decoding.refit(self._history)
            self._follow_decoding()
            self._ledger.pause()
        self._relabellings += changed
        believed_after = self._decoding.believed_after(self._history)
        if (
            changed
            or self._history.n_labels > self._memory_labels
            or not np.array_equal(believed_after, self._believed_after)
        ):
            with self._phases.timed("learning"):
                self._relearn()

    def _follow_decoding(self) -> None:
        """Let the history keep what the present way to decode makes use of."""
        self._history.most_observations = self._decoding.most_observations
        self._history.keeps_rare = self._decoding.keeps_rare

    def _relearn(self) -> None:
        self._memory_labels = self._history.n_labels
        self._believed_after = self._decoding.believed_after(self._history)
        self._memory = self._history.learned(
            self._learner, self._game, self._ledger.returns.size, self._believed_after
        )

    def _policy(self) -> DecodedPolicy:
        known, decoder = self._game.description, self._decoding.decoder
        chances = check_final_policy(self._memory, known.horizon, decoder.n_labels, known.n_actions)
        return DecodedPolicy(decoder, chances)

    def _is_settled(self) -> bool:
        """Whether the decoder has not changed in the second half of the run."""
        return 2 * self._decoding.last_change <= self._ledger.played

    def _diagnostics(self) -> dict[str, Any]:
        with self._phases.timed("oracle"):
            known, returns = self._game.description, self._ledger.returns
            answers = diagnose(self._history, self._decoding, returns, known, self._generator)
        doubtful = any(
            answers[name] for name in ("one_label_for_all", "labels_that_split", "labels_that_move")
        )
        return {
            "levels": self._decoding.levels,
            "oracle": self._decoding.oracle_name,
            "oracle_fits": self._decoding.fits,
            "telling_directions": self._decoding.n_directions,
            "relabellings": self._relabellings,
            "decoder_trajectories": self._decoding.last_change,
            "decoder_stable": self._is_settled() and not doubtful,
            "labels_found": self._history.labels_met().tolist(),
            **answers,
            "seconds": self._phases.seconds,
        }

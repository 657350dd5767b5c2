"""URL, practical form: an unsupervised oracle and a no-regret tabular learner explore together (Feng et al.,
2020).

It betters the procedure of the paper's experiments. All observations are kept and pooled over levels. An
iteration plays a batch of trajectories with the current policy on the current decoder (actions at random in
the first), refits the oracle on everything, matches the new labels with the old ones, and feeds the learner
one trajectory. Once the decoder is stable, the learner goes on alone. The level is part of the learner's
state. Every trajectory counts.

That is for levels that look alike. Where they do not, each has a decoder of its own: `level_training`. The
procedure as the paper has it is in `url_as_published`, the form as written in `url_as_written`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base.schema import Range, setting
from ..problems.description import Description
from .agent import Outcome
from .decoder_training import DecoderTraining
from .decoding import DecodingAgent
from .game import Game
from .label_matching import match_labels
from .ledger import Ledger
from .level_training import LevelTraining

POOLED, SEPARATE = "pooled", "separate"
STABLE_AGREEMENT = 0.98
"""Two successive decoders must agree on at least this share of every label's observations. Below it lies a
missing cluster; above it the 1 % of points near a border that may flip."""
STABLE_ITERATIONS = 2
"""Successive agreements that make a decoder stable: one may be chance, while a rare state is not yet met; by
the second there is four times the data."""
DECODER_SHARE = 0.5
"""Share of the trajectories that may be spent on the decoder: a learner that waits for it is at most twice as
slow as one that need not."""


@dataclass(frozen=True)
class URL(DecodingAgent):
    """Unsupervised reinforcement learning on observations, in its practical form.

    The decoder is judged stable when, in two successive iterations, the old and the new one agree on the
    trajectories that the old one has not been fitted on: for every label, on at least 98 % of its
    observations. A decoder that gives all of them one label is never stable, unless a level has one state at
    most. One that is not stable after half of all trajectories, or after the first batch where that is
    longer, is taken as it is, so that the learner has the rest; `decoder_stable` in the diagnostics tells. An
    oracle may find another number of labels at each fit: the learner has room for all so far, and begins anew
    where there are more.

    All levels are decoded alike, with levels="pooled": what is seen at one level helps at all. Where a state
    looks different from level to level, levels="separate" gives each level a decoder of its own and never
    stops fitting (see `level_training`); the oracle that is used if none is given is then `Splits`. Pooled,
    such a problem needs an `n_states` as large as the number of clusters that the observations of all levels
    make together.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> run = fu.train(env, fu.URL(), episodes=2000)
    >>> run.oracle, run.success_rate
    ('kmeans', 1.0)
    """

    offers_policies = True

    batch: int | None = setting(
        None,
        least=1,
        unit="trajectories",
        none="5 for each level and at least 50; 25 where levels are decoded separately",
        search=Range(25, 400),
        help="Trajectories of the first iteration; each later one plays as many as all before it together, "
        "or as many as the first where levels are decoded separately.",
    )
    levels: str = setting(
        POOLED,
        choices=(POOLED, SEPARATE),
        help="Whether one decoder is for all levels, or each has its own: where states look different from "
        "level to level.",
    )

    def check(self, description: Description) -> None:
        super().check(description)
        self._check_first_fit(description, "batch", self.first_batch(description))

    def first_batch(self, description: Description) -> int:
        """Trajectories of the first iteration."""
        if self.levels == SEPARATE:
            return self.batch or 25
        return self.batch or max(50, 5 * description.horizon)

    def trajectories(self, description: Description, episodes: int) -> int:
        self._check_first_fit(description, "episodes", episodes)
        return episodes

    def _check_first_fit(self, description: Description, name: str, trajectories: int) -> None:
        observations = 1 if self.levels == SEPARATE else description.horizon + 1
        self.check_first_fit(description, name, trajectories, observations)

    def _default_oracle(self, description: Description) -> str:
        return "splits" if self.levels == SEPARATE else super()._default_oracle(description)

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        parts = game, ledger, self.oracle_for(known), self.learner, self.n_labels(known)
        if self.levels == SEPARATE:
            return LevelTraining(*parts).run(self.first_batch(known))
        run = _Run(*parts)
        spent, stable = run.learn_decoder(self.first_batch(known))
        run.learn_policy()
        return run.outcome(decoder_trajectories=spent, decoder_stable=stable)


class _Run(DecoderTraining):
    """One run, whose decoder is trained until it is stable."""

    def learn_decoder(self, batch: int) -> tuple[int, bool]:
        """Train the decoder; returns how many trajectories that took, and whether it is stable."""
        ledger, size = self.ledger, batch
        most = min(max(size, int(DECODER_SHARE * ledger.returns.size)), ledger.returns.size)
        stable = 0
        while stable < STABLE_ITERATIONS and ledger.played < most:
            with self.phases.timed("exploration"):
                fresh = self.play_batch(min(size, most - ledger.played))
            with self.phases.timed("oracle"):
                agreement = self._refit(fresh)
            stable = stable + 1 if agreement >= STABLE_AGREEMENT else 0
            with self.phases.timed("learning"):
                self.learn(min(1, ledger.left))
            ledger.offer(self.policy)
            size = ledger.played
        return ledger.played, stable >= STABLE_ITERATIONS

    def _refit(self, fresh: NDArray[np.generic]) -> float:
        """Fit on all observations and match labels with the old decoder; returns how well the two agree on
        the fresh observations."""
        decoder = self.fit()
        agreement = 0.0
        if self.decoder is not None:
            old, new = self.decoder.decode(fresh), decoder.decode(fresh)
            renaming, agreement = match_labels(old, new, max(decoder.n_labels, self.decoder.n_labels))
            decoder = decoder.relabelled(renaming)
            if self.game.description.max_states > 1 and new.min() == new.max():
                agreement = 0.0  # two decoders that tell nothing apart agree on everything
        self.decoder = decoder
        if self.memory is None or decoder.n_labels > self.n_labels:
            # a learner that begins anew with room for every label forgets a few trajectories at most
            self.begin_learning(max(decoder.n_labels, self.n_states))
        return agreement

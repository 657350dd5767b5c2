"""URL, practical form: an unsupervised oracle and a no-regret tabular learner explore together (Feng et al.,
2020).

It betters the procedure of the paper's experiments. All trajectories are kept. The learner acts on the labels
of the present decoder and learns from every trajectory; the oracle is fitted again and again, and where
labels change, the learner learns from all history anew (`url_training`). The level is part of the learner's
state. One decoder serves all levels (`pooled_decoding`), or each level has its own (`separate_decoding`),
whichever the observations ask for (`chosen_decoding`).

The procedure as the paper has it is in `url_as_published`, the form as written in `url_as_written`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.names import make
from .._base.schema import Range, setting
from ..problems.description import Description
from .agent import Outcome
from .chosen_decoding import ChosenDecoding
from .decoding import DecodingAgent
from .further_labels import most_labels
from .game import Game
from .history import history_bytes
from .ledger import Ledger
from .level_decoding import POOLED, SEPARATE, LevelDecoding
from .pooled_decoding import PooledDecoding
from .separate_decoding import SeparateDecoding
from .url_training import URLTraining

AUTO = "auto"
SPLITS = "splits"
"""The name of the oracle for single levels."""


@dataclass(frozen=True)
class URL(DecodingAgent):
    """Unsupervised reinforcement learning on observations, in its practical form.

    With levels="pooled" all levels are decoded alike: what is seen at one level helps at all. With "separate"
    each level has a decoder of its own, as it must where a state looks different from level to level; the
    oracle that is used if none is given is then `Splits`. With "auto" the observations decide, again and
    again as they grow; the diagnostics say what it was in the end.

    The decoder is called stable where it has not changed in the second half of the run: at each fit, the old
    and the new one agree on 98 % of the observations of every label, give or take a few. An oracle for all
    levels may find more labels than the bound on states; the learner then has room for them. So it does where
    states have several looks, unless `n_states` or the oracle says how many labels there are
    (`further_labels`).

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

    batch: int = setting(
        25,
        least=1,
        unit="trajectories",
        search=Range(10, 200),
        help="Trajectories before the oracle is fitted first, and between two looks for news where levels "
        "are decoded separately, while there is news; as many as the oracle needs for its first fit, where "
        "that is more.",
    )
    levels: str = setting(
        AUTO,
        choices=(AUTO, POOLED, SEPARATE),
        help="Whether one decoder is for all levels, or each has its own: where states look different from "
        "level to level. Auto decides from the observations.",
    )

    def history_bytes(self, description: Description, trajectories: int) -> float:
        return history_bytes(description, trajectories)

    def check(self, description: Description) -> None:
        super().check(description)
        self.refuse_too_many_labels(description)

    def trajectories(self, description: Description, episodes: int) -> int:
        self.check_first_fit(description, "episodes", episodes, self._fitted_together(description))
        return episodes

    def batch_for(self, description: Description) -> int:
        """Trajectories before the first fit: `batch`, or as many as the oracle needs where that is more."""
        return max(self.batch, self.least_trajectories(description, self._fitted_together(description)))

    def _fitted_together(self, description: Description) -> int:
        """How many observations of a trajectory one decoder is fitted on."""
        return 1 if self.levels == SEPARATE else description.horizon + 1

    def _default_oracle(self, description: Description) -> str:
        return SPLITS if self.levels == SEPARATE else super()._default_oracle(description)

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        seeds, n_labels = game.generator("oracle"), self.n_labels(game.description)
        decoding = self._decoding(game.description, seeds)
        return URLTraining(game, ledger, self.learner, decoding, n_labels, seeds).run()

    def _most_labels(self, known: Description) -> int | None:
        """Upper limit on the labels where there may be more than states: nobody has said how many, and the
        oracle believes in clusters that can be split. None elsewhere."""
        from ..oracles import fitting

        oracle = self.oracle_for(known)
        has_centres = getattr(oracle, "clusters_have_centres", False)
        if self.n_states is not None or not has_centres or fitting.n_labels_of(oracle) is not None:
            return None
        return most_labels(self.n_labels(known), known.horizon, known.n_actions)

    def _decoding(self, known: Description, seeds: np.random.Generator) -> LevelDecoding:
        n_labels, batch = self.n_labels(known), self.batch_for(known)
        pooled = PooledDecoding(
            self.oracle_for(known), n_labels, seeds, batch, most_labels=self._most_labels(known)
        )
        if self.levels == POOLED:
            return pooled
        oracle = make("oracle", SPLITS, {}) if self.oracle is None else self.oracle
        separate = SeparateDecoding(oracle, n_labels, seeds, batch, known.horizon + 1)
        return separate if self.levels == SEPARATE else ChosenDecoding(pooled, separate)

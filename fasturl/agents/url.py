"""URL, practical form: an unsupervised oracle and a no-regret tabular learner explore together (Feng et al.,
2020).

This form improves on the procedure of the paper's experiments. It repeats four steps (`url_training`):

1. play: the learner acts on the labels that the present decoder gives to observations, and learns from each
   trajectory; all trajectories are kept,
2. fit: from time to time the oracle is fitted on a sample of all observations, which gives a new decoder,
   unless the labels are so clear that it could tell nothing new (`clear_labels`),
3. relabel: where the new decoder disagrees with the old one, all trajectories get new labels,
4. relearn: then the learner starts again and learns from all trajectories with their new labels.

The learner's state is the pair of level and label. One decoder serves all levels (`pooled_decoding`), or each
level has its own (`separate_decoding`), whichever the observations ask for (`chosen_decoding`).

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

    The agent plays with a learner on the labels of the present decoder, and keeps all trajectories. Again and
    again it fits the oracle on a sample of their observations. Where the new decoder gives other labels, all
    trajectories are relabelled and the learner learns from them anew.

    With levels="pooled" one decoder serves all levels, so that observations of each level help to decode all
    others. With "separate" each level has a decoder of its own, as is needed where a state looks different
    from level to level; the default oracle is then `Splits`. With "auto" the agent begins with one decoder
    and decides from the observations, again and again as they grow; the diagnostic `levels` says which way
    was used in the end.

    The diagnostic `decoder_stable` is true if the decoder has not changed in the second half of the run and
    no label looks doubtful at the end. A decoder counts as unchanged by a fit if the old and the new one
    agree on about 98 % of the observations of every label.

    Where a state may show itself in several ways, there can be more labels than states. One decoder for all
    levels may then have more labels than the bound on the states of a level, unless `n_states` or the oracle
    says how many there are (`further_labels`), and the learner has room for them.

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
        help="Trajectories before the first fit of the oracle; as many as the oracle needs for it, where "
        "that is more. Where each level has its own decoder, also the least number of trajectories between "
        "two checks whether some level must be fitted again.",
    )
    levels: str = setting(
        AUTO,
        choices=(AUTO, POOLED, SEPARATE),
        help="pooled: one decoder for all levels. separate: one decoder for each level, as is needed where a "
        "state looks different from level to level. auto: decided from the observations.",
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

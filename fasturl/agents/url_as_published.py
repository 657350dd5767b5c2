"""URL as published: the procedure of the appendix on experiments of Feng et al. (2020).

All observations are kept and pooled over levels. A fixed number of times,

    1. play B trajectories with the learner's current policy on the current decoder, and add their
       observations to the others; the first time, actions are uniformly random;
    2. fit the oracle on all observations, which gives the new decoder; its labels are taken as they come;
    3. play one trajectory with the new decoder and feed it to the learner.

Then the decoder is kept and the learner goes on alone. The level is part of the learner's state. Every
trajectory counts. The paper's oracles are `pca_kmeans`, `pca_dbscan` and `full_gmm`, its learner OracleQ with
a constant rate.

What the appendix leaves open is read off the published program: how many principal components there are and
how they are scaled, the settings of the three oracles, and that a learner which has met a label keeps what it
knows of it, whatever that label means to the next decoder. Its defaults of B and of the number of iterations
are ours too; both are to be tuned. The program's `max_train_iter` is one more than `iterations`, and its
curves count the batches' trajectories but not their rewards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .._base import checks
from .._base.schema import Range, setting
from ..learners.oracleq import OracleQ
from ..problems.description import Description
from .agent import Outcome
from .decoding import DecodingAgent
from .game import Game
from .history import observation_bytes
from .ledger import Ledger
from .published_training import PublishedTraining

PAPER_NAMES = {"kmeans": "pca-kmeans", "dbscan": "pca-dbscan", "gmm": "full-gmm"}
"""What the paper calls its oracles, and what they are called here."""
FULL_BATCHES = 5
"""Iterations after which the published program plays shorter batches, where it does."""


@dataclass(frozen=True)
class URLAsPublished(DecodingAgent):
    """Unsupervised reinforcement learning as the paper's experiments have it: a fixed number of batches of a
    fixed size for the decoder, labels that nobody matches, OracleQ with a constant rate.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> run = fu.train(env, fu.URLAsPublished(batch=50), episodes=2000)
    >>> run.oracle, run.diagnostics[0]["decoder_trajectories"]
    ('pca-kmeans', 100)
    """

    default_oracles: ClassVar[Mapping[str, str]] = {"bits": "pca-kmeans", "reals": "pca-kmeans"}

    offers_policies = True

    oracle: Any = setting(
        None,
        kind="oracle",
        none="pca-kmeans",
        help="What learns to see: pca-kmeans, pca-dbscan or full-gmm, which may also be written as in the "
        "paper, kmeans, dbscan or gmm; or any object with fit and predict.",
    )
    learner: Any = setting(
        OracleQ(),
        kind="learner",
        help="What learns to act: the name of a learner, or any object with start.",
    )
    batch: int = setting(
        100,
        least=1,
        unit="trajectories",
        search=Range(25, 400),
        help="B: trajectories of an iteration.",
    )
    iterations: int = setting(
        2, least=1, search=(1, 2, 5, 10), help="How often the decoder is trained before it is kept."
    )
    late_batch: int | None = setting(
        None,
        least=1,
        unit="trajectories",
        none="batch",
        help=f"Trajectories of an iteration after the first {FULL_BATCHES}; the published program has 5 "
        "where the oracle is a mixture.",
    )

    def __post_init__(self) -> None:
        checks.keep(self, oracle=_by_our_name(self.oracle))
        super().__post_init__()

    def check(self, description: Description) -> None:
        super().check(description)
        self.check_first_fit(description, "batch", self.batch, description.horizon + 1)

    def trajectories(self, description: Description, episodes: int) -> int:
        self.check_first_fit(description, "episodes", episodes, description.horizon + 1)
        return episodes

    def batch_of(self, iteration: int) -> int:
        """Trajectories of an iteration, which are counted from 0."""
        if iteration < FULL_BATCHES or self.late_batch is None:
            return self.batch
        return self.late_batch

    def history_bytes(self, description: Description, trajectories: int) -> float:
        n_late = max(self.iterations - FULL_BATCHES, 0)
        played = (self.iterations - n_late) * self.batch + n_late * self.batch_of(FULL_BATCHES)
        # they are there twice while the oracle is handed all of them
        return 2.0 * observation_bytes(description, min(played, trajectories))

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        run = PublishedTraining(game, ledger, self.oracle_for(known), self.learner, self.n_labels(known))
        for iteration in range(self.iterations):
            if ledger.left:
                run.iterate(self.batch_of(iteration))
                ledger.offer(run.policy)
        run.learn_policy()
        return run.outcome(decoder_trajectories=run.training_trajectories, labels_found=run.labels_found)


def _by_our_name(oracle: Any) -> Any:
    """An oracle whose name is the paper's, by the name that it has here; any other as it is."""
    if isinstance(oracle, Mapping) and "name" in oracle:
        return {**oracle, "name": _by_our_name(oracle["name"])}
    return PAPER_NAMES.get(oracle, oracle) if isinstance(oracle, str) else oracle

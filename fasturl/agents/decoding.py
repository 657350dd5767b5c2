"""What all forms of URL share: an oracle, a learner, and a bound on the number of labels."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .._base import checks
from .._base.names import components, make, name_of
from .._base.schema import setting
from ..decoders.decoder import MAX_LABELS
from ..learners.learner import check_learner
from ..learners.pooled_ucbvi import PooledUCBVI
from ..learners.table_bytes import known_table_bytes
from ..problems.description import Description
from .agent import Agent, described_observations
from .game import task_of

DEFAULT_LEARNER = PooledUCBVI()
"""One learner for every environment, which nobody has to tune: docs/learners.md has the evidence."""


@dataclass(frozen=True)
class DecodingAgent(Agent):
    """An agent that learns to see with an oracle and to act with a tabular learner on (level, label).

    Examples
    --------
    >>> import fasturl as fu
    >>> isinstance(fu.URL(oracle="kmeans"), DecodingAgent), fu.URL(oracle="kmeans").oracle
    (True, KMeans())
    """

    default_oracles: ClassVar[Mapping[str, str]] = {"bits": "kmeans", "reals": "gmm"}
    """The oracle for each kind of observations, where none is given."""

    oracle: Any = setting(
        None,
        kind="oracle",
        none="k-means for bits, a Gaussian mixture for reals",
        help="What learns to see: the name of an oracle, or any object with fit and predict.",
    )
    learner: Any = setting(
        DEFAULT_LEARNER,
        kind="learner",
        help="What learns to act: the name of a learner, or any object with start.",
    )
    n_states: int | None = setting(
        None,
        least=1,
        most=MAX_LABELS,
        none="the bound that the environment declares",
        help="Bound on the number of states of a level, and so of labels.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_learner(self.learner)
        if self.oracle is None:
            return
        missing = [name for name in ("fit", "predict") if not callable(getattr(self.oracle, name, None))]
        if missing:
            raise ValueError(
                f"oracle must be an object with fit and predict or one of "
                f"{', '.join(components('oracle'))}, got {checks.short_repr(self.oracle)} without "
                f"{' and '.join(missing)}"
            )
        _check_takes_history(self.oracle)

    def oracle_name(self, description: Description) -> str:
        return self._default_oracle(description) if self.oracle is None else name_of("oracle", self.oracle)

    def oracle_for(self, description: Description) -> Any:
        """The oracle that is fitted."""
        if self.oracle is None:
            return make("oracle", self._default_oracle(description), {})
        return self.oracle

    def n_labels(self, description: Description) -> int:
        """How many labels there is room for: the bound on the number of states, and two at least."""
        return max(2, description.max_states if self.n_states is None else self.n_states)

    def learner_bytes(self, description: Description, episodes: int) -> int:
        return known_table_bytes(self.learner, task_of(description, self.n_labels(description), episodes))

    def check(self, description: Description) -> None:
        super().check(description)
        # loaded before the workers start, so that its thread pools can be limited
        from ..oracles import fitting

        oracle, n_labels = self.oracle_for(description), self.n_labels(description)
        declared = fitting.n_labels_of(oracle)
        if declared is None:
            self.refuse_too_many_labels(description)
        if (declared or 0) > MAX_LABELS:
            raise ValueError(f"oracle must give at most {MAX_LABELS} labels, got {declared}")
        fitting.check_oracle(oracle, n_labels, described_observations(description).dimension)

    def refuse_too_many_labels(self, description: Description) -> None:
        """ValueError where there are more states than labels can tell apart."""
        if (n_labels := self.n_labels(description)) > MAX_LABELS:
            raise ValueError(
                f"n_states must be at most {MAX_LABELS}, got the {n_labels} that the environment "
                f"declares: give a smaller one"
            )

    def check_first_fit(
        self, description: Description, name: str, trajectories: int, observations: int
    ) -> None:
        """Refuse a first fit on fewer observations than the oracle needs: `name` says how many trajectories
        it has, with so many each."""
        for need, least in self._least_observations(description).items():
            if trajectories * observations < least:
                raise ValueError(
                    f"{name} must be at least {-(-least // observations)}: the first decoder is fitted "
                    f"on {need} = {least} observations or more, got {trajectories}"
                )

    def least_trajectories(self, description: Description, observations: int) -> int:
        """The trajectories, with so many observations each, that a first fit needs."""
        return -(-max(self._least_observations(description).values(), default=1) // observations)

    def _least_observations(self, description: Description) -> dict[str, int]:
        from ..oracles import fitting

        return fitting.least_observations(self.oracle_for(description), self.n_labels(description))

    def _default_oracle(self, description: Description) -> str:
        return self.default_oracles[described_observations(description).kind]


def _check_takes_history(oracle: Any) -> None:
    """Refuse an oracle that asks for history and has no arguments for it."""
    if not getattr(oracle, "takes_history", False):
        return
    try:
        signature = inspect.signature(oracle.fit)
    except (TypeError, ValueError):  # nothing tells what it takes
        return
    try:
        signature.bind(None, None, groups=None)
    except TypeError:
        raise ValueError(
            f"oracle must have a fit that is called as fit(X, y, groups=...) where takes_history is True, "
            f"and that of {type(oracle).__name__} is fit{signature}"
        ) from None

"""What an agent may know of an environment. The paper's agents have "no knowledge of P, r and f"; neither
have ours.

Values are capped at the greatest return, which is what the environment declares, or else follows from the
range of its rewards: H times the greatest reward, or that reward itself where it is below 0, since the last
step earns no more than one of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ObservationSpace:
    """Kind and dimension of observations.

    kind
        "bits" (uint8 zeros and ones) or "reals" (float32).
    dimension
        Number of coordinates.

    Examples
    --------
    >>> from fasturl.registry import environment
    >>> environment("lock-bernoulli", horizon=5).describe().observations
    ObservationSpace(kind='bits', dimension=8)
    """

    kind: str
    dimension: int

    @property
    def discrete(self) -> bool:
        """Whether there are finitely many observations."""
        return self.kind == "bits"

    def __str__(self) -> str:
        return f"{self.dimension} {self.kind}"


@dataclass(frozen=True)
class Description:
    """All that an agent is told of an environment before it plays.

    horizon
        Number of levels H that are acted in.
    n_actions
        Number of actions, the same at every level.
    max_states
        An upper bound M on the number of latent states of a level.
    reward_range
        The least and the greatest reward of a step.
    max_return
        The greatest return that can be ahead at any level, as far as the environment declares it.
    observations
        Kind and dimension of observations; None where the latent states are all there is to see.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> coin.describe().horizon, coin.describe().max_return
    (1, 1.0)
    """

    horizon: int
    n_actions: int
    max_states: int
    reward_range: tuple[float, float]
    max_return: float
    observations: ObservationSpace | None


def greatest_return(horizon: int, greatest_reward: float) -> float:
    """The greatest return that can be ahead at any level where every step pays at most `greatest_reward`."""
    return max(horizon * greatest_reward, greatest_reward)

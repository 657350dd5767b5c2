"""What an agent may know of an environment. The paper's agents have "no knowledge of P, r and f"; neither
have ours.

Values are capped at the greatest return, which is what the environment declares, or else follows from the
range of its rewards: H times the greatest reward, or that reward itself where it is below 0, since the last
step earns no more than one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._base import checks

LARGEST_REWARD = 1e100
"""Upper limit on the size of a reward: sums and squares of such rewards are finite."""
_ROUNDING = 1e-9
"""By how much, in relation to it, a sum of rewards may miss what a person has computed."""


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


def least_return(horizon: int, least_reward: float) -> float:
    """The least return that can be ahead at any level where every step pays at least `least_reward`."""
    return min(horizon * least_reward, least_reward)


def checked_reward_range(
    declared: object, payments: tuple[float, float] | None = None
) -> tuple[float, float]:
    """A range of rewards, or a ValueError where no table of rewards could have it, or where it leaves out the
    least or the greatest of the payments that are known."""
    low, high = checks.ends("reward_range", declared)
    for end in (low, high):
        if abs(end) > LARGEST_REWARD:
            raise ValueError(
                f"reward_range must have ends of at most {LARGEST_REWARD:g} in size, got {end!r}"
            )
    least, greatest = (low, high) if payments is None else payments
    slack = _ROUNDING * max(abs(least), abs(greatest))
    if least < low - slack or greatest > high + slack:
        raise ValueError(
            f"reward_range must hold all rewards, from {least:g} to {greatest:g}, got {low:g} to {high:g}"
        )
    return low, high


def checked_max_return(declared: object, horizon: int, reward_range: tuple[float, float]) -> float:
    """A greatest return, or a ValueError where rewards in the range never add up to so little."""
    least = least_return(horizon, reward_range[0])
    return checks.real("max_return", declared, least=least - _ROUNDING * abs(least))

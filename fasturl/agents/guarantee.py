"""What the theorem on URL as written asks for (Feng et al., 2020, Theorem thm:main), in numbers.

With H levels, |S| states a level and A actions, Algorithm 1 gives an epsilon-optimal policy with probability
1 - delta if each of its N restarts gives an epsilon/3-optimal one with probability 0.99 (Proposition
prop:main). For that, with C the episodes that the learner needs and g(n, d) the error of the oracle on n
observations with probability 1 - d, the proof asks for

    K >= C(epsilon/4, delta_2)                                          the learner is correct
    50 H epsilon_1 |S| log(1/delta_1) < epsilon' < 1/2                  Lemma lem:tsr
    epsilon_1 log(1/delta_1) <= 0.1                                     Lemma lem:label
    (H+1)^2 epsilon' <= epsilon/12                                      so that epsilon/4 becomes epsilon/3
    delta_2 + K (H+1) epsilon' + K J H |S| delta_1 <= 0.01              the restart succeeds
    B >= B_0 = g^-1(epsilon_1^2 / (K J), delta_1) / (K J)               Equation eq:choiceB

where g^-1(e, d) is how many observations make the error less than e. `required_sizes` solves these from top
to bottom: delta_2 and the two other terms get a third of the 0.01 each.

The proof leaves constants open, in O(delta_1), O(H^2 epsilon') and the Theta of B_0; they are 1 here. It says
of B_0 that it serves every iteration, from the first, which has B observations of one policy, to the last:
what its steps use there is m g(m B, delta_1) <= epsilon_1^2 with m policies in Pi. So our B is the greatest
of g^-1(epsilon_1^2 / m, delta_1) / m for m = 1, 2, 4, ... and (K+1) J, the last of which is the paper's B_0.
Its Chernoff bounds are right from B = 3 / epsilon_1 on, which is asked for too.

What a restart empties. The text says that Algorithm 1 clears the memory of the learner, and that the policy
set Pi is empty at the beginning of Algorithm 1. The proof takes the N restarts for independent, counts
((k-1) J + i) B observations in iteration i of episode k whatever the restart, and draws them from the
policies of the same restart. We follow the proof: learner, Pi, the label standard set and the decoders start
afresh.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from .._base import checks

Samples = Callable[[float, float], float]
"""How many samples make an error less than the first number, with a probability of 1 less the second."""

_RESTART_FAILURE = 0.01
"""Probability with which a restart may fail (Proposition prop:main)."""
_FAILURE_SHARE = _RESTART_FAILURE / 3
"""What each of the three terms of a restart's failure gets of it."""
_LEAST_MARGIN = 50
"""epsilon' is greater than so many times H epsilon_1 |S| log(1/delta_1) (Lemma lem:tsr)."""
_MARGIN = 51
"""The factor that is used for the condition before: a whole number above its bound."""
_CHERNOFF = 3
"""B epsilon_1 is at least this, so that counts of B test observations are within a factor of 2 of their
means."""
_MOST = 1e300
"""Upper limit on numbers of samples: beyond it, what is computed from them is infinite."""
_MOST_GIVEN = 1e50
"""Upper limit on a given number of episodes and on the constant of a power law: the trajectories grow with
the fourth power of the episodes."""
_MOST_POWER = 10.0
"""Upper limit on the power of a power law, at which the least problems ask for about 1e300 observations."""


@dataclass(frozen=True)
class Sizes:
    """The input of Algorithms 1 and 2, and the numbers that they compute from it."""

    horizon: int
    n_labels: int
    episodes: int
    batch: int
    epsilon: float
    delta: float
    epsilon_1: float
    delta_1: float

    @property
    def restarts(self) -> int:
        """N"""
        return math.ceil(math.log(2 / self.delta) / 2)

    @property
    def test_episodes(self) -> int:
        """L"""
        return math.ceil(
            9 * self.horizon**2 / (2 * self.epsilon**2) * math.log(2 * self.restarts / self.delta)
        )

    @property
    def iterations(self) -> int:
        """J"""
        return (self.horizon + 1) * self.n_labels + 1

    @property
    def standard_size(self) -> float:
        """How many observations make a label's standard set."""
        return 3 * self.epsilon_1 * self.batch * math.log(1 / self.delta_1)

    @property
    def trajectories(self) -> int:
        """How many trajectories Algorithm 1 plays."""
        policies = (self.episodes + 1) * self.iterations
        sampled = (policies * (policies + 1) // 2 + policies) * self.batch
        return self.restarts * (sampled + self.episodes + 1 + self.test_episodes)

    @property
    def decoder_error(self) -> float:
        """The least epsilon' that Lemma lem:tsr allows."""
        return _LEAST_MARGIN * self.horizon * self.epsilon_1 * self.n_labels * math.log(1 / self.delta_1)


@dataclass(frozen=True)
class RequiredSizes:
    """What Theorem thm:main asks for; `required_sizes` computes it.

    restarts, test_episodes, iterations, episodes, batch
        N, L, J, K and B. `episodes` and `batch` are the arguments of `train` and `URLAsWritten` that a run
        with the guarantee has.
    epsilon_1, delta_1
        What `URLAsWritten` takes under these names.
    decoder_error, learner_failure
        epsilon' and delta_2 of the proof.
    trajectories
        How many trajectories such a run plays.
    assumed
        What was not given and stands here up to a constant, in words.
    """

    restarts: int
    test_episodes: int
    iterations: int
    episodes: int
    batch: int
    epsilon_1: float
    delta_1: float
    decoder_error: float
    learner_failure: float
    trajectories: int
    assumed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it by name, as JSON has it."""
        return asdict(self) | {"assumed": list(self.assumed)}


def required_sizes(
    horizon: int,
    n_states: int,
    n_actions: int,
    *,
    epsilon: float = 0.1,
    delta: float = 0.1,
    learner_episodes: float | Samples | None = None,
    oracle_samples: float | Samples | None = None,
) -> RequiredSizes:
    """The sizes with which URL as written is epsilon-optimal with probability 1 - delta.

    Parameters
    ----------
    horizon, n_states, n_actions
        H, the bound |S| on the states of a level, and the number of actions: integers, 1 or more.
    epsilon, delta
        How far from optimal the result may be, and the probability that it is farther: in (0, 1). Rewards
        are in [0, 1].
    learner_episodes
        C: the number of episodes after which the learner's policy is e-optimal with probability 1 - d, or a
        function of e and d. If it is not given, that of Jin et al. (2018) up to a constant, `jin_episodes`.
    oracle_samples
        g^-1: the number of observations with which the oracle's error is less than e with probability 1 - d,
        or a function of e and d. If it is not given, log(1/d) / e, `power_law(1, 1)`.

    Returns
    -------
    RequiredSizes

    Examples
    --------
    >>> import fasturl as fu
    >>> sizes = fu.required_sizes(1, 2, 2, epsilon=0.5, delta=0.5, learner_episodes=100, oracle_samples=50)
    >>> sizes.restarts, sizes.test_episodes, sizes.iterations, sizes.episodes, sizes.batch
    (1, 25, 5, 100, 231547834)
    """
    H = checks.integer("horizon", horizon, least=1)
    S = checks.integer("n_states", n_states, least=1)
    A = checks.integer("n_actions", n_actions, least=1)
    epsilon, delta = (
        checks.real(name, value, least=0, most=1, open_left=True, open_right=True)
        for name, value in (("epsilon", epsilon), ("delta", delta))
    )
    assumed = []
    if learner_episodes is None:
        learner_episodes = _countable(jin_episodes(H, S, A))
        assumed.append(
            "K is that of OracleQ, H^5 |S| A log(...) / (e d)^2, up to a constant (Jin et al., 2018)"
        )
    elif not callable(learner_episodes):
        checks.real("learner_episodes", learner_episodes, least=0, most=_MOST_GIVEN, open_left=True)
    if oracle_samples is None:
        oracle_samples = _countable(lambda error, failure: -math.log(failure) / error)
        assumed.append("B is that of an oracle that needs log(1/d) / e observations, up to a constant")
    try:
        return _solve(H, S, epsilon, delta, learner_episodes, oracle_samples, tuple(assumed))
    except (OverflowError, ZeroDivisionError):
        given = {"learner_episodes": learner_episodes, "oracle_samples": oracle_samples}
        numbers = [f"{name} {value:g}" for name, value in given.items() if not callable(value)]
        raise ValueError(
            f"epsilon and delta must be such that all sizes are at most {_MOST:g}, got {epsilon:g} and "
            f"{delta:g} with {', '.join([f'horizon {H}', f'n_states {S}', f'n_actions {A}', *numbers])}"
        ) from None


def _solve(
    H: int,
    S: int,
    epsilon: float,
    delta: float,
    learner: float | Samples,
    oracle: float | Samples,
    assumed: tuple[str, ...],
) -> RequiredSizes:
    """The conditions at the head of this file, from top to bottom."""
    K = _count("learner_episodes", learner, epsilon / 4, _FAILURE_SHARE)
    J = (H + 1) * S + 1
    decoder_error = min(epsilon / (12 * (H + 1) ** 2), _FAILURE_SHARE / (K * (H + 1)))
    delta_1 = _FAILURE_SHARE / (K * J * H * S)
    epsilon_1 = decoder_error / (_MARGIN * H * S * -math.log(delta_1))
    B = max(math.ceil(_CHERNOFF / epsilon_1), _batch(oracle, (K + 1) * J, epsilon_1, delta_1))
    sizes = Sizes(H, S, K, B, epsilon, delta, epsilon_1, delta_1)
    float(sizes.trajectories)  # raises OverflowError, which `required_sizes` turns into a refusal
    return RequiredSizes(
        restarts=sizes.restarts,
        test_episodes=sizes.test_episodes,
        iterations=J,
        episodes=K,
        batch=B,
        epsilon_1=epsilon_1,
        delta_1=delta_1,
        decoder_error=decoder_error,
        learner_failure=_FAILURE_SHARE,
        trajectories=sizes.trajectories,
        assumed=assumed,
    )


def _batch(oracle_samples: float | Samples, policies: int, epsilon_1: float, delta_1: float) -> int:
    """The greatest of g^-1(epsilon_1^2 / m, delta_1) / m over m = 1, 2, 4, ... and the last m; where g^-1 is
    a power of 1 / epsilon, no other m has more."""
    counts = [*(1 << i for i in range(policies.bit_length())), policies]
    samples = [_count("oracle_samples", oracle_samples, epsilon_1**2 / m, delta_1) for m in counts]
    return max(-(-n // m) for n, m in zip(samples, counts, strict=True))


def _count(name: str, samples: float | Samples, error: float, failure: float) -> int:
    """A number of samples, or what the function says of it, rounded up."""
    if callable(samples):
        name = f"{name}({error:.3g}, {failure:.3g})"
        samples = samples(error, failure)
    return max(1, math.ceil(checks.real(name, samples, least=0, most=_MOST, open_left=True)))


def _countable(samples: Samples) -> Samples:
    """The same for what nobody has given: OverflowError, and no refusal of it, where they are too many."""

    def countable(error: float, failure: float) -> float:
        if not (number := samples(error, failure)) <= _MOST:
            raise OverflowError
        return number

    return countable


def power_law(constant: float, power: float, *, prefix: str = "") -> Samples:
    """The samples constant log(1/d) / e^power: polynomial, as the theorem takes it of an oracle. `prefix` is
    what a refusal puts before the names of the two, which may be those of options."""
    constant = checks.real(f"{prefix}constant", constant, least=0, most=_MOST_GIVEN, open_left=True)
    power = checks.real(f"{prefix}power", power, least=0, most=_MOST_POWER)

    def samples(error: float, failure: float) -> float:
        errors = float(error**power)
        count = -constant * math.log(failure) / errors if errors > 0 else math.inf
        if not count <= _MOST:
            raise ValueError(
                f"{prefix}constant and {prefix}power must be such that at most {_MOST:g} observations make "
                f"an error less than {error:.3g}, got {constant:g} and {power:g}"
            )
        return count

    return samples


def jin_episodes(horizon: int, n_states: int, n_actions: int, constant: float = 1.0) -> Samples:
    """The episodes K of OracleQ's theoretical form, up to the constant, which Jin et al. (2018) do not state.

    With probability 1 - p the regret of K episodes is at most constant sqrt(H^5 |S| A K log(|S| A H K / p))
    (Theorem 1, with H K steps). So the policy of an episode that is chosen at random is e-optimal with
    probability 1 - d if p = d/2 and that bound is at most K e d/2, by Markov's inequality. This is a
    statement on such a policy: nothing is proved of the final one, which our learners end with.
    """

    def episodes(error: float, failure: float) -> float:
        pairs = n_states * n_actions
        scale = float(constant**2 * horizon**5 * pairs) / (error * failure / 2) ** 2
        count = scale
        for _ in range(100):  # K = scale log(... K): a contraction, as the logarithm grows slowly
            count = scale * math.log(2 * pairs * horizon * count / failure)
        return count

    return episodes


def unmet_conditions(sizes: Sizes) -> list[str]:
    """The conditions of the theorem that sizes do not meet, of those that need no knowledge of the learner
    and of the oracle; in words."""
    H, S, K, J = sizes.horizon, sizes.n_labels, sizes.episodes, sizes.iterations
    error, factor = sizes.decoder_error, math.log(1 / sizes.delta_1)
    failure = K * (H + 1) * error + K * J * H * S * sizes.delta_1
    loss = (H + 1) ** 2 * error
    conditions = [
        (error < 0.5, f"50 H epsilon_1 |S| log(1/delta_1) must be below 1/2, and is {error:.3g}"),
        (
            sizes.epsilon_1 * factor <= 0.1,
            f"epsilon_1 log(1/delta_1) must be at most 0.1, and is {sizes.epsilon_1 * factor:.3g}",
        ),
        (
            loss <= sizes.epsilon / 12,
            f"(H+1)^2 epsilon' must be at most epsilon/12 = {sizes.epsilon / 12:.3g}, and is {loss:.3g}",
        ),
        (
            failure < _RESTART_FAILURE,
            f"K (H+1) epsilon' + K J H |S| delta_1 must be below {_RESTART_FAILURE}, and is {failure:.3g}",
        ),
        (
            sizes.batch * sizes.epsilon_1 >= _CHERNOFF,
            f"B must be at least 3 / epsilon_1 = {_CHERNOFF / sizes.epsilon_1:.3g}, and is {sizes.batch}",
        ),
    ]
    return [text for is_met, text in conditions if not is_met]


def unknown_conditions(sizes: Sizes, n_actions: int) -> list[str]:
    """The conditions that are up to the learner and the oracle, whose sample complexities no run knows, in
    words; with what they would be for the learner of Jin et al. (2018) and an oracle that needs log(1/d) / e
    observations."""
    learner = jin_episodes(sizes.horizon, sizes.n_labels, n_actions)(sizes.epsilon / 4, _FAILURE_SHARE)
    # such an oracle asks for as many at every iteration; divided twice, since the square may be 0
    oracle = -math.log(sizes.delta_1) / sizes.epsilon_1 / sizes.epsilon_1
    return [
        f"the learner must be (epsilon/4, delta_2)-correct after K = {sizes.episodes} episodes; Jin et al. "
        f"(2018) ask for the order of {learner:.1g}",
        f"B = {sizes.batch} must be at least B_0, which is the oracle's; one that needs log(1/d) / e "
        f"observations for an error of e asks for the order of {oracle:.1g}",
    ]

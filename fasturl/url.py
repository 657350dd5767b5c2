"""URL: an unsupervised oracle and a no-regret tabular learner explore together (Feng et al., 2020).

The practical form is the procedure of the paper's experiments. All observations are kept and pooled over levels. An
iteration plays a batch of trajectories with the current policy on the current decoder (actions at random in the first),
refits the oracle on everything, matches the new labels with the old ones, and feeds the learner one trajectory. Once the
decoder is stable, the learner goes on alone. The level is part of the learner's state. Every trajectory counts.

The form as written is in `url_as_written`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import evaluation, validation
from .agents import Agent, Outcome, Phases, Tick
from .decoders import MAX_LABELS, Decoder, Labels
from .emissions import Block
from .learners import Learner, Memory, OracleQ, Task, explore, learn, rollout, start
from .models import BlockMDP, Environment, LockBernoulli, LockGaussian, emission_lanes, policy_table
from .streams import Streams

if TYPE_CHECKING:
    from .url_as_written import Sizes

STABLE_AGREEMENT = 0.98
"""Between what a decoder does near the border of two clusters at noise 0.2, where 1 % may change sides, and a cluster that is missing."""
STABLE_ITERATIONS = 2
"""Two: one agreement may be luck, while a rare state has not been met; by the second there is four times the data."""
DECODER_SHARE = 0.5
"""One half: a learner that waits for its decoder is at most twice as slow as one that need not."""

ORACLES = ("kmeans", "dbscan", "gmm")
"""The names in `oracles.BY_NAME`, for those who must not wait for scikit-learn to load."""
AS_WRITTEN_DEFAULTS = {"epsilon": 0.1, "delta": 0.1, "epsilon_1": 0.01, "delta_1": 0.01}
AS_WRITTEN_BATCH = 50
_MOST_TRAJECTORIES = 10**9


@dataclass(frozen=True)
class DefaultLearner(OracleQ):
    """What URL learns with unless it is told: the theoretical rates, with which the final policy does not waver, and a bonus that suits
    the environment.

    On a lock dead ends are tried again as often as the bonus is large, and it grows with H^1.5: ten times this confidence leaves 1
    policy in 30 at one when H = 100. Elsewhere bad luck may hide that an action pays more, and a small bonus never asks again: there the
    bonus is 0.2 sqrt(log(S A T / p) / t), of the size of the noise of rewards, whatever the horizon.
    """

    confidence: float = 1e-5
    """On locks."""
    schedule: str = "jin"
    confidence_elsewhere: float = 0.2
    """Divided by H^1.5, with which the theoretical bonus grows."""

    def on(self, env: Environment) -> OracleQ:
        lock = isinstance(env, LockBernoulli | LockGaussian)
        return OracleQ(schedule=self.schedule, confidence=self.confidence if lock else self.confidence_elsewhere / env.horizon**1.5)


DEFAULT_LEARNER = DefaultLearner()


@dataclass(frozen=True)
class URL(Agent):
    """Unsupervised reinforcement learning on observations.

    The practical form judges its decoder stable when, in two successive iterations, the old and the new decoder agree on the
    trajectories that the old one has not been fitted on: for every label, on at least 98 % of its observations. A decoder that gives
    all of them one label is never stable, unless no level has a second state. One that is not stable after half of all trajectories,
    or after the first batch where that is longer, is taken as it is, so that the learner has the rest; `decoder_stable` in the
    diagnostics tells. An oracle may find another number of labels at each fit: the learner has room for all so far, and begins anew
    where there are more.
    """

    oracle: Any = None
    """Any object with `fit` and `predict`, or the name of a built-in oracle: "kmeans", "dbscan" or "gmm". If not given, k-means for
    bits and a Gaussian mixture for reals. A built-in oracle has as many labels as a level has states, or, where states look different
    from level to level, as many as there are looks: the practical form decodes all levels alike."""
    learner: Learner = DEFAULT_LEARNER
    """A tabular learner on (level, label). If not given, OracleQ(schedule="jin"), with a confidence of 1e-5 on locks and of 0.2 / H^1.5
    elsewhere, where rewards may be noisy."""
    form: str = "practical"
    """"practical", or "as-written" for Algorithms 1 to 3, where `episodes` is the learner's number of episodes."""
    batch: int | None = None
    """Trajectories of a batch. Practical: those of the first iteration, five for each level and at least 50 if not given; each later
    iteration plays as many as all before it together, so that every refit has twice the data. As written: B, 50 if not given."""
    epsilon: float | None = None
    """As written: how far from optimal the result may be; 0.1 if not given."""
    delta: float | None = None
    """As written: with what probability it may be farther; 0.1 if not given."""
    epsilon_1: float | None = None
    """As written: epsilon of Algorithm 2, the decoders' error; 0.01 if not given."""
    delta_1: float | None = None
    """As written: delta_1 of Algorithm 2; 0.01 if not given."""

    def __post_init__(self) -> None:
        validation.choice("form", self.form, ("practical", "as-written"))
        if self.batch is not None:
            validation.integer("batch", self.batch, least=1)
        for name in AS_WRITTEN_DEFAULTS:
            value = getattr(self, name)
            if value is not None:
                validation.keep(self, **{name: validation.real(name, value, least=0, most=1, open_left=True, open_right=True)})
                if self.form == "practical":
                    raise ValueError(f"{name} must be left out when form='practical', which has no use for it, got {value}")
        if isinstance(self.learner, type) or not callable(getattr(self.learner, "start", None)):
            raise ValueError(f"learner must be an object with start, such as OracleQ(), got {self.learner!r}")
        if isinstance(self.oracle, str):
            validation.choice("oracle", self.oracle, ORACLES)
        elif self.oracle is not None and (isinstance(self.oracle, type) or not all(hasattr(self.oracle, n) for n in ("fit", "predict"))):
            raise ValueError(f"oracle must be an object with fit and predict or one of {', '.join(ORACLES)}, got {self.oracle!r}")

    @property
    def name(self) -> str:
        return "url"

    def oracle_name(self, env: Environment) -> str:
        return type(self._oracle(env)).__name__.lower()

    def _oracle(self, env: Environment) -> Any:
        if self.oracle is not None and not isinstance(self.oracle, str):
            return self.oracle
        from .oracles import BY_NAME

        assert env.emission is not None
        n_labels = _n_looks(env) if self.form == "practical" else max(env.n_states)
        return BY_NAME[self.oracle or ("kmeans" if env.emission.discrete else "gmm")](min(max(2, n_labels), MAX_LABELS))

    def learner_on(self, env: Environment) -> Learner:
        """The learner that explores this environment."""
        return self.learner.on(env) if isinstance(self.learner, DefaultLearner) else self.learner

    def check(self, env: Environment) -> None:
        if env.emission is None:
            raise ValueError("env must have an emission: without one there is nothing for an oracle to learn from")
        from . import fitting, oracles  # loaded before the workers start, so that its thread pools can be limited

        oracle = self._oracle(env)
        if oracle is not self.oracle and max(env.n_states) > MAX_LABELS:
            raise ValueError(f"env must have at most {MAX_LABELS} states a level for a built-in oracle, got {max(env.n_states)}")
        if isinstance(oracle, oracles.Oracle):
            oracle.check_settings(env.emission.dimension)
        elif (said := fitting.n_labels_of(oracle) or 0) > MAX_LABELS:
            raise ValueError(f"oracle must give at most {MAX_LABELS} labels, got {said}")
        self._check_first_fit(env, "batch", self._first_batch(env))

    def _first_batch(self, env: Environment) -> int:
        return self.batch or (AS_WRITTEN_BATCH if self.form == "as-written" else max(50, 5 * env.horizon))

    def _check_first_fit(self, env: Environment, name: str, trajectories: int) -> None:
        """Refuse a first fit of a built-in oracle on fewer observations than it needs; `name` is who said how many trajectories it has."""
        from .oracles import Oracle

        oracle = self._oracle(env)
        if not isinstance(oracle, Oracle):
            return
        seen = 1 if self.form == "as-written" else env.horizon + 1  # observations of a trajectory that a decoder is fitted on
        for need in ("n_states", "min_samples"):
            least = getattr(oracle, need, 0)
            if trajectories * seen < least:
                raise ValueError(
                    f"{name} must be at least {-(-least // seen)}: the first decoder is fitted on {need} = {least} observations or more, "
                    f"got {trajectories}"
                )

    def trajectories(self, env: Environment, episodes: int) -> int:
        if self.form == "practical":
            self._check_first_fit(env, "episodes", episodes)
            return episodes
        sizes = self.sizes(env, episodes)
        try:
            total = sizes.trajectories
        except (OverflowError, ZeroDivisionError):
            raise ValueError(
                f"URL as written would play more trajectories than can be counted with epsilon={sizes.epsilon}, delta={sizes.delta}: "
                "choose larger ones"
            ) from None
        if total > _MOST_TRAJECTORIES:
            raise ValueError(
                f"URL as written would play {total:,} trajectories (N = {sizes.restarts}, L = {sizes.test_episodes:,}, "
                f"J = {sizes.iterations}, K = {episodes:,}, B = {sizes.batch}): at most {_MOST_TRAJECTORIES:,} are allowed, "
                "so choose fewer episodes, a smaller batch or a larger epsilon"
            )
        return total

    def sizes(self, env: Environment, episodes: int) -> Sizes:
        """The numbers N, L and J of the form as written."""
        from .url_as_written import Sizes

        given = {name: getattr(self, name) or default for name, default in AS_WRITTEN_DEFAULTS.items()}
        return Sizes(env.horizon, max(2, *env.n_states), episodes, self.batch or AS_WRITTEN_BATCH, **given)

    def play(self, env: Environment, streams: Streams, episodes: int, tick: Tick) -> Outcome:
        model = env.draw(streams)
        oracle, learner = self._oracle(env), self.learner_on(env)
        if self.form == "practical":
            return _PracticalRun(self._first_batch(env), oracle, learner, model, streams, episodes, tick).outcome()
        from .url_as_written import AsWrittenRun

        return AsWrittenRun(self.sizes(env, episodes), oracle, learner, model, streams, tick).outcome()


def _n_looks(env: Environment) -> int:
    """How many labels it takes to tell all states apart where every level is decoded in the same way."""
    looks = env.emission.looks() if env.emission else None
    if looks is None or np.array_equal(looks[1:], looks[:-1]):
        return max(env.n_states)
    return len(np.unique(np.concatenate([looks[h, :count] for h, count in enumerate(env.n_states)]), axis=0))


class _PracticalRun:
    """One run of the practical form: its data, decoder and learner."""

    def __init__(self, batch: int, oracle: Any, learner: Learner, model: BlockMDP, streams: Streams, episodes: int, tick: Tick) -> None:
        assert model.emission is not None
        self.batch, self.oracle, self.learner, self.model, self.streams, self.tick = batch, oracle, learner, model, streams, tick
        self.emission = model.emission
        self.oracle_seeds = streams.generator("oracle")
        self.returns = np.empty(episodes)
        self.played = 0
        self.data: list[NDArray[np.generic]] = []
        self.decoder: Decoder | None = None
        self.memory: Memory | None = None
        self.n_labels = 0
        self.fits = 0
        self.decoder_trajectories = 0
        self.decoder_stable = False
        self.phases = Phases("oracle", "exploration", "learning", "evaluation")

    def outcome(self) -> Outcome:
        self._learn_decoder()
        self._learn_policy()
        assert self.decoder is not None
        assert self.memory is not None
        with self.phases.timed("evaluation"):
            policy = policy_table(self.memory.final_policy(), self.model.horizon, self.n_labels, self.model.n_actions)
            value, error = evaluation.decoded_value(self.model, self.decoder, policy, self.streams)
            accuracy = evaluation.decoder_accuracy(self.model, self.decoder, self.streams)
        diagnostics = {
            "decoder_accuracy": accuracy,
            "oracle_fits": self.fits,
            "decoder_trajectories": self.decoder_trajectories,
            "decoder_stable": self.decoder_stable,
            "seconds": self.phases.seconds,
        }
        return Outcome(self.returns, value, error, diagnostics)

    def _learn_decoder(self) -> None:
        size = self.batch
        most = min(max(size, int(DECODER_SHARE * self.returns.size)), self.returns.size)
        stable = 0
        while stable < STABLE_ITERATIONS and self.played < most:
            with self.phases.timed("exploration"):
                fresh = self._play_batch(min(size, most - self.played))
            with self.phases.timed("oracle"):
                agreement = self._refit(fresh)
            stable = stable + 1 if agreement >= STABLE_AGREEMENT else 0
            with self.phases.timed("learning"):
                self._learn(min(1, self.returns.size - self.played))
            size = self.played
        self.decoder_trajectories = self.played
        self.decoder_stable = stable >= STABLE_ITERATIONS

    def _learn_policy(self) -> None:
        with self.phases.timed("learning"):
            while self.played < self.returns.size:
                self._learn(min(self.emission.block_episodes, self.returns.size - self.played))

    def _play_batch(self, size: int) -> NDArray[np.generic]:
        """The observations of `size` trajectories, [n, D]; they are kept."""
        first = len(self.data)
        end = self.played + size
        while self.played < end:
            count = min(self.emission.block_episodes, end - self.played)
            block = self.emission.draw(emission_lanes(self.streams), count)
            luck = self.streams.row("dynamics")
            if self.decoder is None or self.memory is None:
                blank = np.zeros((count, self.model.horizon + 1, block.n_states), np.uint8)
                flat = np.zeros((self.model.horizon, 1, self.model.n_actions))
                states, _, rewards = rollout(self.model.dynamics, blank, flat, 0.0, luck, self.streams.row("policy"))
            else:
                labels = self._labels(block)
                states, _, rewards = explore(self.memory, self.model.dynamics, labels, luck)
            self.data.append(block.observe(states).reshape(-1, block.dimension))
            self._count(rewards.sum(axis=1))
        return np.concatenate(self.data[first:])

    def _refit(self, fresh: NDArray[np.generic]) -> float:
        """Fit on all data and match labels with the old decoder; returns how well the two agree on the fresh data."""
        from .fitting import fit_decoder

        seed = int(self.oracle_seeds.integers(2**31))
        decoder = fit_decoder(self.oracle, np.concatenate(self.data), seed, max(2, *self.model.n_states))
        self.fits += 1
        agreement = 0.0
        if self.decoder is not None:
            old, new = self.decoder.decode(fresh), decoder.decode(fresh)
            renaming, agreement = evaluation.match_labels(old, new, max(decoder.n_labels, self.decoder.n_labels))
            decoder = decoder.relabelled(renaming)
            if max(self.model.n_states) > 1 and new.min() == new.max():
                agreement = 0.0  # two decoders that tell nothing apart agree on everything
        self.decoder = decoder
        self._make_room()
        return agreement

    def _labels(self, block: Block) -> Labels:
        """The labels of a block; a decoder whose number of labels nobody knows may find more at any time."""
        assert self.decoder is not None
        labels = self.decoder.table(block)
        self._make_room()
        return labels

    def _make_room(self) -> None:
        """See that the learner has room for every label; one that begins anew forgets a few trajectories at most."""
        assert self.decoder is not None
        if self.memory is None or self.decoder.n_labels > self.n_labels:
            self.n_labels = max(self.decoder.n_labels, *self.model.n_states)
            size = self.model.horizon, self.n_labels, self.model.n_actions
            self.memory = start(self.learner, Task(*size, self.model.max_return, self.returns.size, self.streams.row("policy")))

    def _learn(self, count: int) -> None:
        if count == 0:
            return
        labels = self._labels(self.emission.draw(emission_lanes(self.streams), count))
        assert self.memory is not None
        learn(self.memory, self.model.dynamics, labels, self.streams.row("dynamics"), self.returns[self.played : self.played + count])
        self.played += count
        self.tick(count)

    def _count(self, returns: NDArray[np.float64]) -> None:
        self.returns[self.played : self.played + returns.size] = returns
        self.played += returns.size
        self.tick(returns.size)

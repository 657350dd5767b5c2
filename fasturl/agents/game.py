"""A way to play: all that an agent has of an environment besides its description.

    episodes = game.begin(512)             the next 512 episodes: noise is drawn, actions are not yet taken
    labels = episodes.labels(decoder)      what the decoder says of every observation that they can show
    trajectories = episodes.play_policy(labels, chances, policy_rng)
                                           what happened: labels, actions, rewards, observations on demand

The noise of an observation does not depend on the policy, only the latent state does. So a block of episodes
is decoded for every state that a level can have, and a compiled loop then walks through that table: exactly
what decoding step by step would give. The table is for such loops alone, and every loop that plays is called
from here: no function of an agent or of a learner is handed the tables that it plays on. What an agent learns
from are trajectories: it never sees which state it was in, or what a state looks like that it did not visit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.streams import Streams
from .._kernels import hashing as _hashing
from .._kernels import labels as _labels
from .._kernels import pcid as _pcid
from .._kernels import records as _records
from .._kernels.records import Dynamics, ObservationKeys
from ..decoders.checked import check_decoder
from ..decoders.decoder import Decoder
from ..learners import playing
from ..learners.compiled import CompiledMemory
from ..learners.learner import Floats, Ints, LabelTable, Memory, Stream, Task
from ..learners.rollouts import returns_of
from ..problems.block_mdp import BlockMDP, policy_table
from ..problems.blocks import BitBlock, Block
from ..problems.description import Description
from ..problems.environment import emission_rngs

_BLOCK_STATES, _FEW_STATES = 2**18, 4
"""Levels times states of a block without observations, and the states of a level that count as one: for most
learners some milliseconds of work for each call of a loop. One that plans takes longer the more there are."""
_KINDS = {"bits": np.dtype(np.uint8), "reals": np.dtype(np.float32), "": np.dtype(np.float32)}
"""The numbers that observations of a block of each kind consist of."""
_LEAST_EPISODES = 16
"""Episodes of such a block, however long they are."""


@dataclass(frozen=True)
class Trajectories:
    """Finished trajectories of E episodes, as an agent sees them.

    actions, rewards
        Int and float arrays [E, H].

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl._base.streams import Streams
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> Game(coin, Streams(0), latent=True).play_random(3).returns.shape
    (3,)
    """

    actions: Ints
    rewards: Floats
    _labels: LabelTable
    _states: Ints
    _block: Block | None
    _returns: Floats | None = None

    @cached_property
    def labels(self) -> Ints:
        """What the decoder said of each observation that was met: [E, H+1]."""
        labels = np.empty(self._states.shape, np.int64)
        self.labels_into(labels)
        return labels

    def labels_into(self, out: NDArray[np.integer]) -> None:
        """Fill `out` [E, H+1], integers that can hold them, with the labels."""
        _labels.labels_along(np.ascontiguousarray(self._labels), self._states, out)

    def labels_at(self, level: int) -> Ints:
        """What the decoder said of the observation of one level, 1 to H + 1: [E]."""
        rows = np.arange(len(self._states))
        return np.asarray(self._labels[rows, level - 1, self._states[:, level - 1]], np.int64)

    @cached_property
    def returns(self) -> Floats:
        """The return of each episode, its rewards added up in their order."""
        return returns_of(self.rewards) if self._returns is None else self._returns

    def observations(self, count: int | None = None) -> NDArray[np.generic]:
        """All observations, or those of the first `count` episodes: [E, H+1, D]. They are made here, since
        they are most of the memory."""
        assert self._block is not None
        count = len(self._states) if count is None else count
        return self._block.episodes(0, count).observe(self._states[:count])

    def observe_into(self, out: NDArray[np.generic]) -> None:
        """Fill `out` [n, H+1, D] with the observations of the first n episodes."""
        assert self._block is not None
        count, kind = checks.array("out", out).shape[0] if np.ndim(out) else 0, _KINDS[self._block.kind]
        states = self._states[:count]
        shape = *states.shape, self._block.dimension
        fits = isinstance(out, np.ndarray) and (out.shape, out.dtype) == (shape, kind)
        if not (fits and out.flags.c_contiguous and out.flags.writeable):
            raise ValueError(
                f"out must be an array of {kind} that can be written, without gaps, of shape [n, {shape[1]}, "
                f"{shape[2]}] for the first n of {len(self._states)} episodes, got {checks.short_repr(out)}"
            )
        self._block.episodes(0, count).observe_into(states, out)

    def observations_at(self, level: int) -> NDArray[np.generic]:
        """The observations of one level, 1 to H + 1: [E, D]."""
        assert self._block is not None
        return np.asarray(self._block.level(level - 1).observe(self._states[:, level - 1 : level])[:, 0])


class Episodes:
    """Some episodes of a game whose noise is drawn and whose actions are not yet taken."""

    def __init__(self, instance: BlockMDP, streams: Streams, count: int, block: Block | None) -> None:
        self._instance, self._streams, self.count, self._block = instance, streams, count, block

    def labels(self, decoder: Decoder) -> LabelTable:
        """The label of every observation that these episodes can show: [E, H+1, S]."""
        return check_decoder(decoder).table(self._observed)

    def labels_with(self, decode: Callable[[Block], LabelTable]) -> LabelTable:
        """As `labels`, for decoders that can do more than the contract asks, such as decode some levels
        alone."""
        return decode(self._observed)

    def blank_labels(self) -> LabelTable:
        """One label for everything: [E, H+1, S]."""
        return np.zeros((self.count, self._instance.horizon + 1, max(self._instance.n_states)), np.uint8)

    def play_policy(self, labels: LabelTable, chances: Floats, policy_rng: Stream) -> Trajectories:
        """Play a policy of probabilities [H, n_labels, A] on a label table."""
        record = playing.play_policy(self._dynamics, labels, chances, self._dynamics_rng, policy_rng)
        return self._trajectories(labels, record)

    def play_towards(self, labels: LabelTable, reach: Floats, level: int, policy_rng: Stream) -> Trajectories:
        """Play one of the policies `reach` [T, level - 1, n_labels, A] in each episode, and act at random
        from `level` on: how PCID explores."""
        record = _records.blank_trajectories(self.count, self._instance.horizon)
        _pcid.explore(self._dynamics, labels, reach, level, self._dynamics_rng, policy_rng, record)
        return self._trajectories(labels, record)

    def play_rows(self, keys: ObservationKeys, chances: Floats, policy_rng: Stream, returns: Floats) -> None:
        """Play the likeliest action of each observation's row, and fill in the returns."""
        _hashing.play(self._dynamics, self._words, keys, chances, self._dynamics_rng, policy_rng, returns)

    def explore(self, memory: Memory, labels: LabelTable) -> Trajectories:
        """Play with the memory's current policy, without learning."""
        record = playing.player_of(memory).explore(self._dynamics, labels, self._dynamics_rng)
        return self._trajectories(labels, record)

    def learn(self, memory: Memory, labels: LabelTable, returns: Floats) -> None:
        """Play and learn, and fill in the returns."""
        playing.player_of(memory).learn(self._dynamics, labels, self._dynamics_rng, returns)

    def learn_on_states(self, memory: Memory, returns: Floats) -> None:
        """Play and learn on the latent states themselves, and fill in the returns."""
        if self._block is not None:
            raise ValueError("latent states must be learned on by an agent that sees them, got another")
        playing.player_of(memory).learn_on_states(self._dynamics, self._dynamics_rng, returns)

    def learn_in_view(self, memory: Memory, labels: LabelTable) -> Trajectories:
        """Play and learn, and return what happened."""
        returns = np.empty(labels.shape[0])
        record = playing.player_of(memory).learn_in_view(self._dynamics, labels, self._dynamics_rng, returns)
        return self._trajectories(labels, record, returns)

    def learn_observations(self, memory: CompiledMemory, keys: ObservationKeys, returns: Floats) -> None:
        """Play and learn, where a label is the row of an observation among the keys, and fill in the
        returns."""
        playing.learn_observations(memory, self._dynamics, self._words, keys, self._dynamics_rng, returns)

    def part(self, first: int, end: int) -> Episodes:
        """The episodes from `first` up to `end`."""
        part = copy.copy(self)
        part.count, part._block = end - first, self._observed.episodes(first, end)
        return part

    def _trajectories(
        self, labels: LabelTable, record: _records.Trajectories, returns: Floats | None = None
    ) -> Trajectories:
        """What an agent may see of episodes whose record a loop has filled in, and maybe their returns."""
        return Trajectories(record.actions, record.rewards, labels, record.states, self._block, returns)

    @property
    def _dynamics(self) -> Dynamics:
        return self._instance.dynamics

    @property
    def _dynamics_rng(self) -> Stream:
        return self._streams.row("dynamics")

    @property
    def _observed(self) -> Block:
        assert self._block is not None
        return self._block

    @property
    def _words(self) -> NDArray[np.uint64]:
        """The packed bits of every observation that these episodes can show: [E, H+1, S, words]."""
        block = self._observed
        assert isinstance(block, BitBlock)
        return block.words


class EpisodeFactory(Protocol):
    """Makes so many episodes of an instance, whose noise is a block."""

    def __call__(self, instance: BlockMDP, streams: Streams, count: int, block: Block | None) -> Episodes: ...


def task_of(known: Description, n_labels: int, episodes: int, policy_rng: Stream | None = None) -> Task:
    """What a learner is told; without a stream, for questions that need none, such as the size of tables."""
    rng = np.zeros(4, np.uint64) if policy_rng is None else policy_rng
    levels, actions = known.horizon, known.n_actions
    return Task(levels, n_labels, actions, known.max_return, episodes, rng, known.reward_range)


class Game:
    """One run's instance of an environment, to be played and not looked into.

    instance
        The Block MDP that is played.
    streams
        The named random streams of the run.
    latent
        Whether labels may be latent states.
    episodes
        What makes the episodes that are played; those of agents that are not ours are checked.
    description
        What the agent may know.
    policy_rng
        The stream that the agent's own randomness comes from, uint64[4].

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl._base.streams import Streams
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])
    >>> game = Game(coin, Streams(0), latent=True)
    >>> game.play_random(5).actions.shape
    (5, 1)
    """

    def __init__(
        self,
        instance: BlockMDP,
        streams: Streams,
        *,
        latent: bool = False,
        episodes: EpisodeFactory = Episodes,
    ) -> None:
        self.description: Description = instance.describe()
        self._instance, self._streams, self._latent = instance, streams, latent
        self._episodes = episodes
        self.episodes_begun = 0
        """How many episodes were begun so far; each of them counts."""

    @property
    def policy_rng(self) -> Stream:
        return self._streams.row("policy")

    @property
    def oracle_rng(self) -> Stream:
        """The stream for what an oracle draws, uint64[4]."""
        return self._streams.row("oracle")

    def generator(self, name: str) -> np.random.Generator:
        """A NumPy generator of the agent's own, "policy" or "oracle": another one than the stream of the same
        name."""
        return self._streams.generator(checks.choice("name", name, ("policy", "oracle")))

    def task(self, n_labels: int, episodes: int, policy_rng: Stream | None = None) -> Task:
        """What a learner on so many labels a level is told before the first of its episodes."""
        rng = self.policy_rng if policy_rng is None else policy_rng
        return task_of(self.description, n_labels, episodes, rng)

    @property
    def block_episodes(self) -> int:
        """How many episodes make a block: so many that its observations stay in the cache, or where there are
        none, that a loop does not take long."""
        emission = self._instance.emission
        if self._latent or emission is None:
            states = max(1, int(max(self._instance.n_states)) // _FEW_STATES)
            return max(_LEAST_EPISODES, _BLOCK_STATES // (int(self._instance.horizon) * states))
        return int(emission.block_episodes)

    def begin(self, count: int) -> Episodes:
        """The next `count` episodes."""
        self.episodes_begun += checks.integer("count", count, least=0)
        block = None
        if not self._latent:
            rngs = emission_rngs(self._streams)
            block = self._instance.draw_block(rngs, count, self.description.observations)
        return self._episodes(self._instance, self._streams, count, block)

    def play_random(self, count: int) -> Trajectories:
        """Play with actions that are uniformly random."""
        known = self.description
        uniform = np.full((known.horizon, 1, known.n_actions), 1 / known.n_actions)
        episodes = self.begin(count)
        return episodes.play_policy(episodes.blank_labels(), uniform, self.policy_rng)

    def play_policy(self, decoder: Decoder, chances: Floats, count: int) -> Trajectories:
        """Play a policy of probabilities [H, n_labels, A] on the labels of a decoder."""
        known = self.description
        columns = max(*checks.array("policy", chances).shape[1:2], self._n_labels(decoder), 1)
        policy = policy_table(chances, known.horizon, columns, known.n_actions)
        episodes = self.begin(count)
        return episodes.play_policy(episodes.labels(decoder), policy, self.policy_rng)

    def explore(self, memory: Memory, decoder: Decoder, count: int) -> Trajectories:
        """Play with the memory's current policy on the labels of a decoder, without learning."""
        self._check_room(memory, self._n_labels(decoder))
        episodes = self.begin(count)
        return episodes.explore(memory, episodes.labels(decoder))

    def learn_in_view(self, memory: Memory, decoder: Decoder, count: int) -> Trajectories:
        """Play and learn `count` episodes on the labels of a decoder, and return what happened."""
        self._check_room(memory, self._n_labels(decoder))
        episodes = self.begin(count)
        return episodes.learn_in_view(memory, episodes.labels(decoder))

    def learn(self, memory: Memory, decoder: Decoder | None, returns: Floats) -> None:
        """Play and learn one episode for each entry of `returns`, on the labels of a decoder; None shows the
        latent states, to an agent that sees them."""
        on_states = decoder is None and self._latent
        self._check_room(memory, max(self._instance.n_states) if on_states else self._n_labels(decoder))
        if decoder is not None:
            episodes = self.begin(returns.size)
            episodes.learn(memory, episodes.labels(decoder), returns)
            return
        most = self.block_episodes
        for part in (returns[first : first + most] for first in range(0, returns.size, most)):
            self.begin(part.size).learn_on_states(memory, part)

    def _n_labels(self, decoder: Decoder | None) -> int:
        """How many labels a decoder gives; ValueError for what is no decoder."""
        if decoder is None and not self._latent:
            raise ValueError("decoder must be given to an agent that does not see latent states, got None")
        if not isinstance(decoder, Decoder):
            raise ValueError(f"decoder must be a fasturl.decoders.Decoder, got {checks.short_repr(decoder)}")
        return decoder.n_labels

    def _check_room(self, memory: Memory, n_labels: int) -> None:
        """Refuse a compiled memory that was made for another task: its loops would leave its tables."""
        known = self.description
        playing.player_of(memory).check_room(known.horizon, n_labels, known.n_actions)

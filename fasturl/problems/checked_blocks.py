"""Blocks that a user's emission draws, checked where they enter kernels.

Kernels take states and levels for positions in the arrays of a block and check nothing. So the sizes of every
block are compared with what the Block MDP has, whoever drew it; what its arrays hold is looked at where
`draw` is a user's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.origin import implemented_by_us, in_method, is_ours
from .blocks import BitBlock, Block, ObservationBlock, Rngs, bit_block
from .description import ObservationSpace

if TYPE_CHECKING:
    from .emissions import Emission


_SIZES = ("n_episodes", "n_levels", "n_states", "dimension")


class BlockSize(NamedTuple):
    """What a block of a Block MDP has: H+1 levels, the states of a level, and observations of a kind and
    dimension."""

    n_levels: int
    n_states: int
    observations: ObservationSpace


def draw_block(emission: Emission, rngs: Rngs, episodes: int, size: BlockSize) -> Block:
    """The noise of the next episodes, or an error that says what is wrong with it."""
    with in_method("draw", emission):
        block: Any = emission.draw(rngs, episodes)
    n_levels, n_states, observations = size
    wanted = episodes, n_levels, n_states, observations.dimension
    if tuple(getattr(block, name, None) for name in _SIZES) != wanted:
        _refuse_size(emission, block, wanted)
    if implemented_by_us(emission, "draw"):
        return block  # type: ignore[no-any-return]  # as the contract says
    return _looked_at(f"draw of {type(emission).__name__} must give", block, size)


def _refuse_size(emission: Emission, block: Any, wanted: tuple[int, ...]) -> None:
    must = f"draw of {type(emission).__name__} must give"
    _refuse_no_block(must, block)
    for name, number in zip(_SIZES, wanted, strict=True):
        own = getattr(block, name, None)
        if own != number:
            raise ValueError(f"{must} a block whose {name} is {number}, got {checks.short_repr(own)}")


def _refuse_no_block(must: str, block: Any) -> None:
    if not callable(getattr(block, "every_state", None)):
        raise ValueError(
            f"{must} a block, made by fu.emissions.ObservationBlock of reals or fu.emissions.packed of bits, "
            f"got {checks.short_repr(block)}"
        )


def _looked_at(must: str, block: Block, size: BlockSize) -> Block:
    """The block itself where kernels can read its arrays as they are, and else one of ours that shows the
    same."""
    _refuse_no_block(must, block)
    if is_ours(type(block)) and block.kind == size.observations.kind:
        if problem := block.problem():
            raise ValueError(f"{must} {problem}")
        return block
    shape = (block.n_episodes, size.n_levels, size.n_states, size.observations.dimension)
    observations = checks.real_array(
        f"observations that {must.partition(' must')[0]} gives", block.every_state()
    )
    if observations.shape != shape:
        raise ValueError(f"{must} observations of shape {shape}, got {observations.shape}")
    return _as_bits(must, observations) if size.observations.discrete else _as_reals(must, observations)


def _as_bits(must: str, observations: NDArray[Any]) -> BitBlock:
    bits = (observations == 0) | (observations == 1)
    if not bits.all():
        raise ValueError(f"{must} zeros and ones, got {observations[~bits][0]}")
    return bit_block(observations.astype(np.uint8))


def _as_reals(must: str, observations: NDArray[Any]) -> ObservationBlock:
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused
        reals = np.ascontiguousarray(observations, np.float32)
    finite = np.isfinite(reals)
    if not finite.all():
        raise ValueError(f"{must} finite numbers, got {observations[~finite][0]}")
    return ObservationBlock(reals)

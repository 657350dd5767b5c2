"""Observations that a C function of the user's writes."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from ..._base import checks, plugin_loops
from ..._base.c_functions import CFunction, Context, call_of, explain
from ..._kernels.records import EmissionWorkspace
from ..blocks import ObservationBlock, Rngs
from .emission import N_RNGS, Emission


class CEmission(Emission):
    """Real observations that a C function writes: it has the signature of `fasturl_emission_fn` in fasturl.h.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once,
        without the GIL.
    dimension
        Number of coordinates of an observation, 1 or more.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or
        ctypes.
    n_levels, n_states
        Numbers of levels (H+1) and states; by default those of the Block MDP that the emission is given to.

    `docs/c-plugins.md` has complete examples, such as
    `BlockMDP(transitions, rewards, emission=CEmission(library.observe, dimension=8))`.

    Examples
    --------
    >>> from numba import carray, cfunc, types
    >>> of = types.int64, types.int64, types.CPointer(types.float32), types.int64, types.voidptr
    >>> @cfunc(types.int32(types.CPointer(types.uint64), *of))
    ... def one_hot(rng, level, state, x, dimension, context):
    ...     observation = carray(x, (dimension,))
    ...     for j in range(dimension):
    ...         observation[j] = 1.0 if j == state else 0.0
    ...     return 0
    >>> CEmission(one_hot, dimension=3).dimension
    3
    """

    discrete = False
    independent_levels = True  # each level has a generator of its own

    def __init__(
        self,
        pointer: Any,
        dimension: int,
        context: Any = None,
        *,
        n_levels: int | None = None,
        n_states: int | None = None,
    ) -> None:
        self._function = CFunction(pointer, "fasturl_emission_fn")
        self._context = Context(context)
        self.dimension = checks.integer("dimension", dimension, least=1)
        self.n_levels = 0 if n_levels is None else checks.integer("n_levels", n_levels, least=1)
        self.n_states = 0 if n_states is None else checks.integer("n_states", n_states, least=1)

    def sized(self, n_levels: int, n_states: int) -> Self:
        sized = copy.copy(self)
        sized.n_levels, sized.n_states = self.n_levels or n_levels, self.n_states or n_states
        return super(CEmission, sized).sized(n_levels, n_states)

    def draw(self, rngs: Rngs, episodes: int) -> ObservationBlock:
        observations = np.empty((episodes, self.n_levels, self.n_states, self.dimension), np.float32)
        problem = np.zeros(3, np.int64)
        workspace = EmissionWorkspace(seeds=np.empty((1, N_RNGS), np.uint64), rng=np.empty(4, np.uint64))
        call = call_of(self._function, self._context)
        plugin_loops.emission_observations(rngs, call, workspace, observations, problem)
        if problem[0] == plugin_loops.NUMBER:
            level, coordinate = problem[1], problem[2]
            wrong = observations[:, level - 1, :, coordinate]
            value = wrong[~np.isfinite(wrong)][0]
            raise ValueError(
                f"{self._function.name} must give finite numbers, "
                f"got {value} in coordinate {coordinate} at level {level}"
            )
        explain(problem, self._function, "finite numbers")
        return ObservationBlock(observations)

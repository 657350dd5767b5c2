"""Episode loops of compiled learners: made once for each set of functions, kept on disk, and called with an
eye on what a user's functions do.

The functions of a learner are compiled again with our options (see `user_functions`) and become part of the
loops of `_kernels.learning`. Loops of functions that are not ours check indices and actions. Where such a
function allocates memory, all functions of its learner count references, which is slower. The loops do not:
what a function allocates ends with it.
"""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import numba
import numpy as np
from numba import NumbaError
from numpy.typing import NDArray

from .._base import checks, compile_cache, user_functions
from .._base.random_sources import random_source
from .._kernels import learning as _learning
from .._kernels.compiling import OPTIONS
from .._kernels.learning import LearnerFunctions, Loops, OneLook
from .function_types import compiler_reason, what_is_wrong

_BY_FUNCTIONS: dict[tuple[LearnerFunctions, bool], EpisodeLoops] = {}
_LOCK = threading.Lock()
_FUNCTIONS = (
    "begin_episode",
    "choose",
    "take_step",
    "end_episode",
    "fill_policy",
    "start_at_zero",
    "look",
    "take_value",
)
"""The names of functions by the numbers that `_kernels.learning` gives them."""


class EpisodeLoops:
    """The loops of one learner's functions, compiled when they are first called."""

    def __init__(self, functions: LearnerFunctions, *, trusted: bool) -> None:
        self._functions, self._trusted = _those_in_use(functions), trusted
        self.lean = self._make(counts_references=False)
        """The loops themselves, as other compiled functions call them."""
        self._counting: Loops | None = None  # for functions that allocate memory
        self._random_sources = {} if trusted else _random_sources(self._functions)

    def refuse_other_randomness(self, learner: object) -> None:
        """ValueError where a function draws from anything but the stream that it is handed."""
        for name, source in self._random_sources.items():
            raise ValueError(
                f"{name} of {type(learner).__name__} must draw from its rng alone, by "
                f"fasturl.learners.draws, got draws from {source}"
            )

    def run(self, name: str, memory: Any, *arguments: Any) -> None:
        """Run a loop for a `CompiledMemory`; what goes wrong in its learner's functions is an error of one
        line."""
        place = np.zeros(3, np.int64)
        owner = type(memory.learner).__name__
        try:
            went_well = self._call(name, *arguments, place)
        except NumbaError as error:
            by_name = _by_name(self._functions)
            told = what_is_wrong(owner, by_name, memory.tables, self._options(counts_references=True))
            together = f"the functions of {owner} cannot be compiled: {compiler_reason(error)}"
            raise ValueError(told or together) from error
        except Exception as error:
            # the compiler's check of an index knows no line of the function that it is in
            reason = f"IndexError: {error}" if isinstance(error, IndexError) else checks.reason_of(error)
            raise ValueError(f"{_where(place, owner)} failed: {reason}") from error
        if not went_well:
            raise ValueError(f"{_where(place, owner)} must give an action that there is, got {place[2]}")

    def _call(self, name: str, *arguments: Any) -> bool:
        """Run a loop without reference counts, or with them where the compiler refuses to do without."""
        if self._counting is None:
            try:
                return bool(getattr(self.lean, name)(*arguments))
            except NumbaError:
                if self._trusted:
                    raise
        with _LOCK:
            if self._counting is None:
                self._counting = self._make(counts_references=True)
        return bool(getattr(self._counting, name)(*arguments))

    def _options(self, *, counts_references: bool) -> dict[str, Any]:
        """How the functions are compiled."""
        # loops alone call them, so an entry for Python would be compiled for nothing
        own = {**OPTIONS, "_nrt": counts_references, "forceinline": True, "no_cpython_wrapper": True}
        return own | {"boundscheck": not self._trusted}

    def _make(self, *, counts_references: bool) -> Loops:
        *plain, one_look = self._functions
        every = [*plain, *(one_look or ())]
        options = self._options(counts_references=counts_references)
        again = iter(user_functions.compiled_again(every, options))
        functions = LearnerFunctions(*islice(again, len(plain)))
        if one_look:
            functions = functions._replace(one_look=OneLook(*again))
        tag = f"{user_functions.fingerprint(every)}-{counts_references:d}{self._trusted:d}"

        def compile_loop(loop: Any) -> Any:
            if numba.config.DISABLE_JIT:
                return loop
            dispatcher = numba.njit(**OPTIONS)(loop)
            compile_cache.keep_tagged(dispatcher, tag, with_users=not self._trusted)
            return dispatcher

        return _learning.make_loops(functions, compile_loop, not self._trusted)


def _those_in_use(functions: LearnerFunctions) -> LearnerFunctions:
    """The functions without their one look where it stands in the place of others: those of a class that has
    replaced one."""
    look = functions.one_look
    if look is None or (look.choose, look.take_step) == (functions.choose, functions.take_step):
        return functions
    return functions._replace(one_look=None)


def _by_name(functions: LearnerFunctions) -> dict[str, Any]:
    """The functions that there are, each under its name."""
    named = functions._asdict() | (functions.one_look._asdict() if functions.one_look else {})
    return {name: named[name] for name in _FUNCTIONS if name in named}


def _random_sources(functions: LearnerFunctions) -> dict[str, str]:
    """The functions that draw from a module, each with that module."""
    sources = {name: random_source(function) for name, function in _by_name(functions).items()}
    return {name: source for name, source in sources.items() if source}


def _where(place: NDArray[np.int64], owner: str) -> str:
    """The function that a loop was in, and the level where there is one."""
    function = _FUNCTIONS[place[0]]
    level = place[1] + (place[0] == _learning.LOOK)
    by_level = function in ("choose", "take_step", "look", "take_value")
    return f"{function} of {owner}" + (f" at level {level}" if by_level else "")


def loops_of(functions: LearnerFunctions, *, trusted: bool) -> EpisodeLoops:
    """The loops of a learner's functions, the same ones for all runs of a process."""
    with _LOCK:
        if (functions, trusted) not in _BY_FUNCTIONS:
            _BY_FUNCTIONS[functions, trusted] = EpisodeLoops(functions, trusted=trusted)
        return _BY_FUNCTIONS[functions, trusted]

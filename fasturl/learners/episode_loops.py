"""Episode loops of compiled learners: made once for each set of functions, kept on disk, and called with an
eye on what a user's functions do.

The functions of a learner are compiled again with our options (see `user_functions`) and become part of the
loops of `_kernels.learning`. Loops of functions that are not ours check indices and actions. Where such a
function allocates memory, its loops count references, which is slower.
"""

from __future__ import annotations

import threading
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from .._base import checks, compile_cache, user_functions
from .._kernels import learning as _learning
from .._kernels.compiling import OPTIONS
from .._kernels.learning import LearnerFunctions, Loops

_BY_FUNCTIONS: dict[tuple[LearnerFunctions, bool], EpisodeLoops] = {}
_LOCK = threading.Lock()
_FUNCTIONS = ("begin_episode", "choose", "take_step", "end_episode", "fill_policy")
"""By their numbers in `_kernels.learning`."""


class EpisodeLoops:
    """The loops of one learner's functions, compiled when they are first called."""

    def __init__(self, functions: LearnerFunctions, *, trusted: bool) -> None:
        self._functions, self._trusted = functions, trusted
        self._counts_references = False
        self._loops = self._make()

    @property
    def loops(self) -> Loops:
        """The loops themselves, for functions that are compiled with them inside."""
        return self._loops

    def run(self, name: str, learner: object, *arguments: Any) -> None:
        """Run a loop; what goes wrong in the learner's functions is an error of one line."""
        place = np.zeros(3, np.int64)
        try:
            went_well = getattr(self._loops, name)(*arguments, place)
        except NumbaError as error:
            if self._counts_references or self._trusted:
                raise ValueError(
                    f"the functions of {type(learner).__name__} cannot be compiled: {_compiler_reason(error)}"
                ) from error
            self._count_references()
            self.run(name, learner, *arguments)
            return
        except Exception as error:
            raise ValueError(
                f"{_FUNCTIONS[place[0]]} of {type(learner).__name__} failed at level {place[1]}: "
                f"{checks.reason_of(error)}"
            ) from error
        if not went_well:
            raise ValueError(
                f"choose of {type(learner).__name__} must give an action that there is, got {place[2]} "
                f"at level {place[1]}"
            )

    def _count_references(self) -> None:
        """Compile for functions that allocate memory."""
        self._counts_references = True
        self._loops = self._make()

    def _make(self) -> Loops:
        options = {**OPTIONS, "_nrt": self._counts_references}
        own = {**options, "forceinline": True, "boundscheck": not self._trusted}
        functions = LearnerFunctions(*user_functions.compiled_again(self._functions, own))
        tag = f"{user_functions.fingerprint(self._functions)}-{self._counts_references:d}{self._trusted:d}"

        def compile_loop(loop: Any) -> Any:
            if numba.config.DISABLE_JIT:
                return loop
            dispatcher = numba.njit(**options)(loop)
            compile_cache.keep_tagged(dispatcher, tag)
            return dispatcher

        return _learning.make_loops(functions, compile_loop, not self._trusted)


def loops_of(functions: LearnerFunctions, *, trusted: bool) -> EpisodeLoops:
    """The loops of a learner's functions, the same ones for all runs of a process."""
    with _LOCK:
        if (functions, trusted) not in _BY_FUNCTIONS:
            _BY_FUNCTIONS[functions, trusted] = EpisodeLoops(functions, trusted=trusted)
        return _BY_FUNCTIONS[functions, trusted]


def _compiler_reason(error: NumbaError) -> str:
    """What the compiler says, on one line: its first lines tell where it was, the last ones what was
    wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [
        line for line in lines if not line.startswith(("Failed in nopython", "During:", "^", "<source"))
    ]
    return " ".join(telling[:3])[:300]

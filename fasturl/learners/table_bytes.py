"""How many bytes the tables of a compiled learner take, computed before they are made.

A table grows at most with the square of the number of labels, as a model of transitions does, and at most in
proportion to the number of episodes, as a schedule does. So its bytes are a polynomial in the two numbers,
and small tables give its coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import CompiledLearner
from .learner import Task

MOST_BYTES = 4 * 2**30
"""Upper limit on the memory of a learner's tables: a model of a thousand labels and ten actions at a level
has 80 megabytes."""


class TableBytes:
    """The memory that a learner's tables take, by the number of labels: what follows from tables of up to
    three labels, and of one and two episodes."""

    def __init__(self, learner: CompiledLearner, task: Task) -> None:
        def bytes_of(n_labels: int) -> int:
            first, second = (
                _bytes(learner.tables(task._replace(n_labels=n_labels, episodes=n))) for n in (1, 2)
            )
            return first + (task.episodes - 1) * (second - first)

        one, two, three = map(bytes_of, (1, 2, 3))
        self._one, self._square = one, (three - 2 * two + one) / 2
        self._line = two - one - 3 * self._square

    def of(self, n_labels: int) -> int:
        """Bytes of the tables of so many labels."""
        return int(self._one + self._line * (n_labels - 1) + self._square * (n_labels**2 - 1))


def table_bytes(learner: CompiledLearner, task: Task) -> int:
    """The memory that the tables of a task take."""
    return TableBytes(learner, task).of(task.n_labels)


def known_table_bytes(learner: object, task: Task) -> int:
    """As `table_bytes`; 0 for a learner of another kind, or one that makes no small tables."""
    if not isinstance(learner, CompiledLearner):
        return 0
    try:
        return table_bytes(learner, task)
    except Exception:  # a user's `tables` may fail in any way, which the run will tell
        return 0


def _bytes(tables: Any) -> int:
    return sum(table.nbytes for table in tables if isinstance(table, np.ndarray))

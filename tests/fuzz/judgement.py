"""What counts as broken: the only answers that are allowed are a right result and a refusal in words."""

import re
import traceback

import numpy as np

LEAKED = re.compile(r"(?<![\w.])[A-Z]\w*(Error|Exception|Interrupt|Warning): .*line \d+\)")
"""How the command line words an exception that was not meant for people."""


class Broken(Exception):
    """An input was answered as it may not be."""


class OwnError(Exception):
    """What an object of the campaign raises itself: whoever wrote it may see it again as it is."""


def expect(true, words):
    if not true:
        raise Broken(words)


def judge_refusal(error, names=()):
    """Whether an exception is a refusal: a ValueError or TypeError of one line that has one of the names,
    where there are any. Else Broken, with the place where it was raised."""
    where = " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        for frame in reversed(traceback.extract_tb(error.__traceback__)[-4:])
    )
    story = f"{type(error).__name__}: {str(error)[:300]} ({where})"
    if isinstance(error, OwnError) or _is_their_own(error):
        return
    expect(type(error) in (ValueError, TypeError), story)
    expect(str(error).strip() and "\n" not in str(error), f"not one line: {story}")
    words = str(error).replace("-", "_")
    expect(not names or any(name in words for name in names), f"names none of {sorted(names)}: {story}")


def _is_their_own(error):
    """Whether it was raised in the code of a user's object, which fasturl had called."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = [position for position, file in enumerate(files) if "/fasturl/" in file]
    return bool(ours) and any(file.endswith("honest_parts.py") for file in files[ours[0] :])


def judge_run(run, lowest=0.0, highest=1.0):
    """Broken where the figures of a run cannot be: not finite, or beyond the least and the greatest
    return."""
    slack = 1e-9 * max(1.0, abs(lowest), abs(highest))
    for name in ("average_reward", "final_average_reward", "values", "value_errors", "optimal_values"):
        numbers = np.asarray(getattr(run, name))
        expect(numbers.dtype == np.float64 and np.isfinite(numbers).all(), f"{name} is {numbers}")
        if name != "value_errors":
            inside = (numbers >= lowest - slack).all() and (numbers <= highest + slack).all()
            expect(inside, f"{name} leaves {lowest}..{highest}: {numbers.min()}..{numbers.max()}")
    expect(np.ndim(run.average_reward) == 2, f"average_reward has shape {np.shape(run.average_reward)}")
    above = run.values - run.optimal_values - 6 * run.value_errors
    expect((above <= slack).all(), f"values {run.values} above V* {run.optimal_values}")
    expect((np.diff(run.trajectories) > 0).all(), f"trajectories are {run.trajectories}")

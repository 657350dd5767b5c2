"""The kinds of inputs by name; a module is imported only where its inputs are played."""

from abc import ABC, abstractmethod
from importlib import import_module

KINDS = {
    "command-lines": 0.2,
    "toml-files": 0.1,
    "result-folders": 0.1,
    "python-arguments": 0.2,
    "lying-objects": 0.2,
    "c-calls": 0.2,
}
"""Each kind and its share of the time of a campaign."""


class Kind(ABC):
    """What makes and plays the inputs of one kind, each from a source of random numbers.

    folder
        Of the child process, for what all its inputs share.
    """

    name = ""

    def __init__(self, folder):
        self.folder = folder

    @abstractmethod
    def play(self, chance, place, tell):
        """Make an input, `tell` what it is in words, and play it in `place`, an empty folder; Broken where
        the answer may not be."""


def kind_named(name):
    """The class of a kind."""
    if name not in KINDS:
        raise SystemExit(f"kind must be one of {', '.join(KINDS)}, got {name!r}")
    return import_module(f"fuzz.{name.replace('-', '_')}").KIND

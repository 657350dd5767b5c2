"""Whose turn it is, slow and obvious: the labels that `learners/planning.py` backs up after an episode."""

from collections import defaultdict


class Turns:
    """The labels that were met at each level, in the order of their first meeting, and whose turn is next."""

    def __init__(self):
        self.met, self.turn = defaultdict(list), defaultdict(int)

    def meet(self, path):
        for h, x in enumerate(path):
            if x not in self.met[h]:
                self.met[h].append(x)

    def to_back_up(self, path):
        """(level, label) of the path, the last level first, each followed by the one whose turn it is."""
        for h in reversed(range(len(path))):
            other = self.met[h][self.turn[h]]
            self.turn[h] = (self.turn[h] + 1) % len(self.met[h])
            yield h, path[h]
            if other != path[h]:
                yield h, other

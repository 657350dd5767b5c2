"""The few directions of observations in which their clusters stand apart.

Clusters of a Block MDP are as rare as their states are hard to reach: on a lock with 20 levels, random play shows one of the
live states in 2 % of the observations. Principal component analysis looks for large variance, the leading eigenvectors of
E[z z'] where z is an observation that was centred (and scaled), and a rare cluster has little of it. Fourth moments see it:
where each observation counts with its squared length, E[|z|^2 z z'], as in fourth-order blind identification (Cardoso, 1989),
a cluster of frequency p adds about 1/p. In that space k-means counts each point with its squared length too, which
gives rare clusters their due.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Observations = NDArray[np.generic]

KINDS = ("moments", "pca")

_PIECE = 4096
"""Observations that are read at a time."""


class Projection:
    """z = A x + b: centred, scaled where asked, on the leading directions of fourth moments or of variance.

    The data are read in pieces, as they are: a copy of all of them in double precision would be most of a run's memory.
    """

    def __init__(self, data: Observations, n_axes: int, scale: bool | str, kind: str) -> None:
        pieces = [data[first : first + _PIECE] for first in range(0, data.shape[0], _PIECE)]
        centre = sum((piece.sum(axis=0, dtype=np.float64) for piece in pieces), np.zeros(data.shape[1])) / data.shape[0]
        spread = np.ones_like(centre)
        if scale == "auto":
            scale = all(((piece == 0) | (piece == 1)).all() for piece in (data[:1], *pieces))
        if scale:
            squares = sum((np.square(piece - centre).sum(axis=0) for piece in pieces), np.zeros(data.shape[1]))
            deviation = np.sqrt(squares / data.shape[0])
            spread = np.where(deviation > 0, deviation, 1.0)
        moments = np.zeros((data.shape[1], data.shape[1]))
        for piece in pieces:
            z = (piece - centre) / spread
            moments += (z if kind == "pca" else z * np.square(z).sum(axis=1, keepdims=True)).T @ z
        axes = np.linalg.eigh(moments)[1][:, ::-1][:, :n_axes].T
        self.matrix = axes / spread
        self.offset = -self.matrix @ centre
        self.points = np.concatenate([piece @ self.matrix.T for piece in pieces]) + self.offset
        self.weights = None if kind == "pca" else np.square(self.points).sum(axis=1)

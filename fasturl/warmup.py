"""Compile every kernel ahead, by training each agent for a moment."""

from __future__ import annotations

import time

from . import catalog
from .training import train


def warmup() -> float:
    """Compile or load all kernels; returns the seconds it took."""
    begin = time.perf_counter()
    for name in catalog.AGENTS:
        train(catalog.environment("lock-bernoulli", horizon=3), catalog.agent(name), episodes=10, progress=False)
    return time.perf_counter() - begin

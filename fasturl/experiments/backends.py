"""Where blocks are computed: joblib's backends behind one small face.

`Local` uses processes of this machine, `Dask` a cluster whose scheduler is reached by its address, `Ray` a Ray cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .. import optional, validation
from ..training import available_cores

T = TypeVar("T")
R = TypeVar("R")


class Backend(Protocol):
    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The function of every item, in the order in which they are done."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine: all cores if `n_jobs` is not given."""

    n_jobs: int | None = None

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        jobs = available_cores() if self.n_jobs is None else validation.integer("n_jobs", self.n_jobs, least=1)
        if jobs == 1:
            yield from map(function, items)
            return
        yield from _parallel(function, items, jobs, "loky")


@dataclass(frozen=True)
class Dask:
    """The workers of a Dask cluster, for example Dask("tcp://host:8786")."""

    address: str
    timeout: float = 10.0

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        distributed = optional.need("distributed", "dask", "a Dask cluster")
        try:
            client = distributed.Client(self.address, timeout=self.timeout, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot reach a Dask scheduler at {self.address}: {error}") from None
        with client:
            # seeds are deterministic, so a block that was on a worker that died is simply computed again elsewhere
            futures = client.map(function, items, pure=False, retries=3)
            for future in distributed.as_completed(futures):
                yield future.result()


@dataclass(frozen=True)
class Ray:
    """A Ray cluster: the one at `address`, or one started on this machine."""

    address: str | None = None

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        ray = optional.need("ray", "ray", "a Ray cluster")
        try:
            if not ray.is_initialized():
                ray.init(address=self.address, include_dashboard=False, log_to_driver=False)
        except (ConnectionError, ValueError) as error:
            raise ValueError(f"cannot reach a Ray cluster at {self.address}: {error}") from None
        remote = ray.remote(max_retries=3)(function)
        waiting = [remote.remote(item) for item in items]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)


def _parallel(function: Callable[[T], R], items: Sequence[T], jobs: int, backend: str) -> Iterator[R]:
    import joblib

    pool = joblib.Parallel(n_jobs=jobs, backend=backend, return_as="generator_unordered", pre_dispatch="2 * n_jobs", batch_size=1)
    yield from pool(joblib.delayed(function)(item) for item in items)

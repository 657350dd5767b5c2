"""Where a sweep is computed: processes of this machine, a Dask cluster or a Ray cluster, behind one small
interface, `Backend`."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, Generic, Protocol, TypeVar

from ..._base import checks, optional
from ..._base.short_warnings import hide_left_out, show_warnings_short, warnings_are_short
from ..._base.standard_error import write_line
from ..._base.workers import available_cores

T = TypeVar("T")
R = TypeVar("R")

_WATCH_SECONDS = 0.5
"""Time between two looks at whether a parent, or a cluster, is still there."""
_KNOCK_SECONDS = 5.0
"""Time allowed to find out whether anybody listens at an address."""
_CONNECT_SECONDS = 30.0
"""Time allowed to connect once the port is known to be open."""
_LONGEST_GREETING = 2**20
"""Bytes with which a Dask scheduler answers at most."""
_DESERTED_SECONDS = 60.0
"""How long a cluster may be without workers: long enough for one that is restarted or takes the place of
another."""
_WARNINGS = "PYTHONWARNINGS"
_RESUME = "what was written is kept, and the same command continues from there"


class WorkersLost(OSError):
    """The work cannot go on: workers or the cluster are gone."""


class Backend(Protocol):
    """What computes the blocks of a sweep."""

    def workers(self) -> int:
        """How many items are computed at a time; ValueError where nothing can be computed."""

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        """The function of every item, in the order in which they are done."""


@dataclass(frozen=True)
class Local:
    """Processes of this machine: all cores if `n_jobs` is not given.

    n_jobs
        How many runs are computed at the same time.

    Examples
    --------
    >>> Local(n_jobs=2)
    Local(n_jobs=2)
    """

    n_jobs: int | None = None

    def workers(self) -> int:
        return available_cores() if self.n_jobs is None else checks.integer("n_jobs", self.n_jobs, least=1)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        jobs = min(self.workers(), len(items))
        if jobs <= 1:
            yield from map(function, items)
            return
        import joblib

        pool = joblib.Parallel(
            n_jobs=jobs,
            backend="loky",
            return_as="generator_unordered",
            pre_dispatch="2 * n_jobs",
            batch_size=1,
        )
        task = joblib.delayed(_Child(function, os.getpid()))
        # one that has grown is replaced by a fresh one, which changes nothing
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        with ExitStack() as starting:
            starting.enter_context(_interrupts_held())
            results = pool(task(item) for item in items)
            try:
                starting.close()
                for result in results:  # noqa: UP028  # `yield from` would close them where they warn
                    yield result
            except BrokenProcessPool:
                raise WorkersLost(f"a worker process died (killed, or out of memory): {_RESUME}") from None
            finally:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that work in progress is given up
                    results.close()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes that are started here never see Ctrl-C or the end of a terminal, not even while they start: a
    terminal tells them too, and it is for their parent to end them. To this thread it comes at the end."""
    if sys.platform == "win32":
        yield
        return
    interrupts = {signal.SIGINT, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, interrupts)
    try:
        _start_trackers()
        signal.pthread_sigmask(signal.SIG_BLOCK, interrupts)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start the processes that remove what an interrupted sweep leaves behind, which they need not tell.

    Each lets interrupts through to this thread once it has started, so none may start with the first worker.
    """
    from joblib.externals.loky.backend import resource_tracker as tracker_of_joblib

    before = os.environ.get(_WARNINGS)
    os.environ[_WARNINGS] = ",".join(filter(None, [before, "ignore:resource_tracker:UserWarning"]))
    try:
        for tracker in (resource_tracker, tracker_of_joblib):
            tracker.ensure_running()
    finally:
        os.environ.pop(_WARNINGS)
        if before is not None:
            os.environ[_WARNINGS] = before


class _Child(Generic[T, R]):
    """A function in a worker process that does not outlive its parent, not even a parent that is killed, and
    that shows warnings as its parent does."""

    watching = False

    def __init__(self, function: Callable[[T], R], parent: int) -> None:
        self.function, self.parent = function, parent
        self.warns_briefly = warnings_are_short()

    def __call__(self, item: T) -> R:
        if not _Child.watching:
            _Child.watching = True
            threading.Thread(target=self._watch, daemon=True).start()
        if self.warns_briefly and not warnings_are_short():
            show_warnings_short()
            hide_left_out()
        return self.function(item)

    def _watch(self) -> None:
        while os.getppid() == self.parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)


@dataclass(frozen=True)
class Dask:
    """The workers of a Dask cluster, for example Dask("tcp://host:8786").

    address
        That of its scheduler.

    Examples
    --------
    >>> Dask("tcp://host:8786").address
    'tcp://host:8786'
    """

    address: str
    timeout: float = 5.0
    """Seconds to wait for a first worker."""

    def workers(self) -> int:
        with self._client() as client:
            threads: dict[str, int] = client.nthreads()
            return sum(threads.values())

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        distributed = optional.need("distributed", "dask", "a Dask cluster")
        # the client logs a page of traceback when the scheduler is lost
        with _silenced("distributed.client"), self._client() as client:
            # an item whose worker dies is given to another by the scheduler: the same seeds, the same results
            futures = distributed.as_completed(client.map(function, items, pure=False), loop=client.loop)
            try:
                while not futures.is_empty():
                    self._wait(client, futures)
                    future = next(futures)
                    result = future.result()
                    future.release()
                    yield result
            except ImportError as error:
                raise self._not_installed(error) from None
            except (CancelledError, distributed.KilledWorker, distributed.core.CommClosedError) as error:
                raise WorkersLost(
                    f"the Dask cluster at {self.address} gave up: {_first_line(error)}; {_RESUME}"
                ) from None

    def _wait(self, client: Any, futures: Any) -> None:
        """Wait until a future is done: Dask alone would wait for ever where there are no workers."""
        deserted_since = 0.0
        while not futures.has_ready():
            with futures.thread_condition:
                if futures.thread_condition.wait(_WATCH_SECONDS):
                    continue
            try:
                workers = client.nthreads()
            except OSError:
                raise WorkersLost(
                    f"the Dask cluster at {self.address} gave up: its scheduler does not answer; {_RESUME}"
                ) from None
            if workers:
                deserted_since = 0.0
            elif not deserted_since:
                deserted_since = time.monotonic()
                write_line(f"the Dask cluster at {self.address} has no workers, waiting")
            elif time.monotonic() - deserted_since > _DESERTED_SECONDS:
                raise WorkersLost(f"the Dask cluster at {self.address} has no workers any more; {_RESUME}")

    def _not_installed(self, error: ImportError) -> ValueError:
        return ValueError(
            f"fasturl must be installed on the workers of the Dask cluster at {self.address}: "
            f"{_first_line(error)}"
        )

    def _client(self) -> Any:
        distributed = optional.need("distributed", "dask", "a Dask cluster")
        try:
            _listen_for_greeting(distributed.comm.resolve_address(self.address))
            client = distributed.Client(self.address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(
                f"cannot reach a Dask scheduler at {self.address}: {_first_line(error)}"
            ) from None
        try:
            client.wait_for_workers(1, timeout=self.timeout)
        except TimeoutError:
            client.close()
            raise ValueError(f"the Dask scheduler at {self.address} has no workers") from None
        # a lambda is sent as it is: a function of fasturl's could not even be received where fasturl is
        # missing
        answers = client.run(lambda module: bool(__import__(module)), __name__, on_error="return")
        for answer in answers.values():
            if isinstance(answer, ImportError):
                client.close()
                raise self._not_installed(answer)
        return client


@dataclass(frozen=True)
class Ray:
    """A Ray cluster: the one that this process is connected to already, else the one at `address`, else one
    started on this machine.

    address
        That of the head of the cluster, as host:port.

    Examples
    --------
    >>> Ray("host:6379").address
    'host:6379'
    """

    address: str | None = None

    def workers(self) -> int:
        return int(self._connected().cluster_resources().get("CPU", 1))

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        ray = self._connected()
        remote = ray.remote(max_retries=3)(function)
        waiting = [remote.remote(item) for item in items]
        try:
            while waiting:
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            raise WorkersLost(f"the Ray cluster gave up: {_first_line(error)}; {_RESUME}") from None
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)

    def _connected(self) -> Any:
        ray = optional.need("ray", "ray", "a Ray cluster")
        try:
            if not ray.is_initialized():
                _knock(self.address or "")
                ray.init(
                    address=self.address,
                    include_dashboard=False if self.address is None else None,
                    log_to_driver=False,
                )
        except (OSError, ValueError, RuntimeError) as error:
            raise ValueError(f"cannot reach a Ray cluster at {self.address}: {_first_line(error)}") from None
        return ray


@contextmanager
def _silenced(logger: str) -> Iterator[None]:
    log = logging.getLogger(logger)
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _knock(address: str) -> None:
    """OSError where nobody listens: the libraries themselves would wait, Ray for minutes."""
    if connection := _connection(address):
        connection.close()


def _listen_for_greeting(address: str) -> None:
    """OSError where who listens is no Dask scheduler, which says at once how many bytes its greeting has:
    Dask would wait for a web server, or take its words for a number of bytes."""
    connection = _connection(address)
    if connection is None:
        return
    with connection:
        if not address.startswith("tcp://"):  # else it is encrypted
            return
        connection.settimeout(_CONNECT_SECONDS)
        with connection.makefile("rb") as answer:
            length = answer.read(8)
    if len(length) < 8 or int.from_bytes(length, "little") > _LONGEST_GREETING:
        raise OSError("who listens there is no Dask scheduler")


def _connection(address: str) -> socket.socket | None:
    """A connection to whoever listens at an address, if that has a port; OSError where nobody does."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not port.isdecimal():
        return None
    return socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

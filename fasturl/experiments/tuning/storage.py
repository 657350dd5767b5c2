"""Where studies are kept: a file, a database, or memory alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base import optional

if TYPE_CHECKING:
    import optuna
    from sqlalchemy import URL

_HEARTBEAT_SECONDS = 30
_ATTEMPTS = 30
"""How often to connect while another process makes Optuna's tables: more than there are tables, each of which
is made once."""


@contextmanager
def opened(study: str | os.PathLike[str] | None, storage: str | None) -> Iterator[Any]:
    """Optuna's storage: a file, a database, or memory alone."""
    if study is not None and storage is not None:
        raise ValueError("study and storage are two places for one thing: give one of them")
    import optuna

    if study is None and storage is None:
        yield optuna.storages.InMemoryStorage()
        return
    url = storage or _sqlite_url(_writable(Path(study or "")))
    place = str(study or _parsed(url).render_as_string(hide_password=True))
    with _storage_errors(place, ImportError, ValueError, RuntimeError):
        rdb = _connected(url)
    try:
        with _storage_errors(place):
            yield rdb
    finally:
        _close(rdb)


def _connected(url: str) -> optuna.storages.RDBStorage:
    """Who finds an empty database makes Optuna's tables; who comes while another makes them looks again."""
    from sqlalchemy.exc import DatabaseError, IntegrityError

    for _ in range(_ATTEMPTS):
        try:
            return _connect(url)
        except DatabaseError as error:
            if not (isinstance(error, IntegrityError) or "already exists" in str(error)):
                raise
    return _connect(url)


def _connect(url: str) -> optuna.storages.RDBStorage:
    """A storage that cannot be used, a file that is no database for one, is closed again."""
    from optuna.storages import RDBStorage

    rdb = RDBStorage.__new__(RDBStorage)
    try:
        RDBStorage.__init__(
            rdb, url, heartbeat_interval=_HEARTBEAT_SECONDS, grace_period=3 * _HEARTBEAT_SECONDS
        )
    except BaseException:
        if hasattr(rdb, "engine"):
            _close(rdb)
        raise
    return rdb


def _close(rdb: optuna.storages.RDBStorage) -> None:
    rdb.remove_session()
    rdb.engine.dispose()


def _writable(path: Path) -> Path:
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"cannot write {path}: permission denied")
    return path.resolve()


def study_file(study: str | os.PathLike[str] | None, storage: str | None) -> Path | None:
    """The file that a study is kept in, if it is kept in one."""
    if storage is None:
        return None if study is None else Path(study)
    url = _parsed(storage)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _sqlite_url(path: Path) -> str:
    """With what has a meaning in URLs quoted, so that a file may have any name."""
    from sqlalchemy import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def _parsed(url: str) -> URL:
    optional.need("sqlalchemy", "tune", "tuning")
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url)
    except ArgumentError:
        raise ValueError(
            f"storage must be a URL such as sqlite:///study.db or postgresql://user@host/name, got {url!r}"
        ) from None


@contextmanager
def _storage_errors(place: str, *more: type[Exception]) -> Iterator[None]:
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    kinds: tuple[type[Exception], ...] = (SQLAlchemyError, StorageInternalError, *more)
    try:
        yield
    except kinds as error:
        cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
        reason = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
        raise ValueError(f"cannot use the study in {place}: {reason}") from error

"""Lines on standard error stay whole where several processes write to one terminal or file."""

import io
import sys
import time

from fasturl._base import progress
from fasturl._base.short_warnings import complain
from fasturl._base.standard_error import write_line
from fasturl.cli import interrupts


class Record(io.StringIO):
    """Keeps what each call has written: between two calls another process may write a line of its own."""

    def __init__(self):
        super().__init__()
        self.pieces = []

    def write(self, text):
        self.pieces.append(text)
        return super().write(text)


def recorded(monkeypatch):
    """Standard error from here on; in a fixture pytest would take it away again."""
    monkeypatch.setattr(sys, "stderr", Record())
    return sys.stderr


def test_a_line_is_written_at_once(monkeypatch):
    record = recorded(monkeypatch)
    write_line("well")
    assert record.pieces == ["well\n"]


def test_a_complaint_is_written_at_once(monkeypatch):
    record = recorded(monkeypatch)
    complain("it took\n  a while")
    assert record.pieces == ["fasturl: it took a while\n"]


def test_a_line_of_progress_is_written_at_once(monkeypatch):
    record = recorded(monkeypatch)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with progress.progress_bar(2_000, None) as show:
        show(1_000)
    assert record.pieces == ["training: 1,000 of 2,000 trajectories\n"]


def test_an_interrupt_is_told_at_once(monkeypatch):
    record = recorded(monkeypatch)
    monkeypatch.setattr(interrupts, "_said", interrupts.threading.Lock())
    assert interrupts.say() == interrupts.EXIT_CODE
    assert record.pieces == ["fasturl: interrupted\n"]


def test_nothing_is_written_where_there_is_no_standard_error(monkeypatch, capsys):
    """As in programs without a terminal on Windows; `print` would take standard output instead."""
    monkeypatch.setattr(sys, "stderr", None)
    write_line("well")
    assert capsys.readouterr().out == ""


def test_training_shows_no_progress_where_there_is_no_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with progress.progress_bar(2_000, None) as show:
        show(1_000)

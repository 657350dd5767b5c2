"""`fasturl report`: a page from stored results."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .._base import checks
from .._base.short_warnings import hide_left_out
from .options import Command
from .outputs import is_standard_output, output_errors, whole_files, write_draft

EPILOG = "Example: fasturl report results --out report.html"


def register(app: typer.Typer) -> None:
    app.command("report", cls=Command, epilog=EPILOG)(report_command)


def report_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder of results.", show_default=False)],
    out: Annotated[str, typer.Option(metavar="FILE", help="The page; - is standard output.")] = "report.html",
) -> None:
    """Write one HTML page, which needs no network: figures to hover and zoom, tables, settings, timings."""
    from ..experiments.analysis import report

    hide_left_out()
    results = checks.path("DIR", folder)
    if is_standard_output(out):
        page = report.page(results).encode()  # whatever the terminal writes, the page says that it is UTF-8
        with output_errors():
            sys.stdout.buffer.write(page)
        return
    with whole_files(out) as (draft,):
        assert draft is not None
        write_draft(draft, out, report.page(results))
    print(f"written to {out}: open it in a browser")

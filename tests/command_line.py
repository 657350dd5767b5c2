"""The command line as tests run it: in this process, where nothing has to be imported or loaded again, or as
a person does, in one of its own."""

import contextlib
import io
import os
import subprocess
import sys
from unittest import mock

from fasturl.cli import main

WARM = "FASTURL_TESTS_ARE_WARM"
"""The variable that says that all kernels were compiled before the first test."""


def fasturl(*words, cwd=".", **environment):
    """Exit code, output and complaints of a command in this process."""
    arguments = ["fasturl", *map(str, words)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "argv", arguments),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def fasturl_alone(*words, **options):
    """The same of a process of its own, of the package that is installed and no checkout (-P)."""
    return subprocess.run(
        [sys.executable, "-P", "-c", "from fasturl.cli import main; main()", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )

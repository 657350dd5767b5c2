"""The command line. Bad input is answered with one line on standard error and exit code 2."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .._base.checks import MOST, reason_of, short_repr
from .._base.exits import exits_are_faults
from .._base.short_warnings import complain, short_warnings
from .._version import __version__
from . import (
    capi,
    info,
    interrupts,
    list,
    plot,
    report,
    reproduce,
    required_sizes,
    sweep,
    train,
    tune,
    warmup,
)
from .options import Command, Program
from .outputs import OutputError, check_standard_output, discard_output, told_output_errors

_TRACEBACK = "FASTURL_TRACEBACK"
"""An environment variable that asks for the whole story of an error."""

app = typer.Typer(
    name="fasturl",
    cls=Program,
    help="Exploration with rich observations: the URL framework and its baselines, compiled.",
    epilog="Example: fasturl train lock-bernoulli --horizon 20 --switch 0.2 --agent url --seeds 50",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


for command in (train, sweep, reproduce, tune, plot, report, list, required_sizes, info, warmup, capi):
    command.register(app)
for registered in app.registered_commands:
    if registered.cls is TyperCommand:
        registered.cls = Command


def main() -> None:
    """Run the command line; the entry point of the `fasturl` program."""
    try:
        with interrupts.answered(), short_warnings(), exits_are_faults():
            check_standard_output()
            with told_output_errors():
                code = app(standalone_mode=False)
                print(end="", flush=True)  # what nobody reads is met here, not after the end
        if code == interrupts.EXIT_CODE:  # how Typer passes on Ctrl-C
            interrupts.say()
        if code:
            sys.exit(code)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(interrupts.say())
    except typer.TyperException as error:
        if text := _refusal(error):
            sys.exit(_complain(text, 2))
        sys.exit(2)  # a bare `fasturl` has shown the help already
    except BrokenPipeError:  # the reader has seen enough, as head has
        discard_output()
        sys.exit(1)
    except OutputError as error:
        discard_output()
        sys.exit(_complain(str(error), 2))
    except (OverflowError, MemoryError) as error:  # a horizon or a number of episodes beyond any machine
        sys.exit(_complain(f"too large for this machine: {error}", 2))
    except Exception as error:  # bad input, or a component of somebody else's that fails in any way
        if os.environ.get(_TRACEBACK):
            raise
        sys.exit(_complain(reason_of(error), 2))


_NUMBERS = {
    "int_parsing": "an integer",
    "int_parsing_size": f"an integer of at most {MOST}",
    "float_parsing": "a number",
}
"""What an option must be, for each kind of error that Typer finds in a number."""


def _refusal(error: Any) -> str:
    """What Typer says of a line, with the value that is wrong, which it leaves out."""
    for wrong in getattr(error.__cause__, "errors", tuple)():
        value = short_repr(wrong["input"])
        if allowed := _NUMBERS.get(wrong["type"]):
            return f"{error.param.opts[0]} must be {allowed}, got {value}"
        return f"{error.format_message()}, got {value}"
    return str(error.format_message())


def _complain(text: str, code: int) -> int:
    complain(text)
    return code


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"fasturl {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass

"""The options of the campaigns, and what they print at the end."""

import pytest

from .driver import seconds_of

TALLY = "campaign"
"""The property of a test's report that holds lines for the summary; it reaches the main process of xdist."""


def pytest_addoption(parser):
    group = parser.getgroup("campaigns")
    group.addoption(
        "--campaign", metavar="TIME", help="Play inputs of all kinds for this time, such as 90s, 30m or 2h."
    )
    group.addoption(
        "--first", type=int, metavar="N", help="The number of the campaign's first input; else by the clock."
    )
    group.addoption(
        "--kills", type=int, metavar="N", help="How many times the kill campaign kills something."
    )


def pytest_configure(config):
    try:
        seconds_of(config.getoption("--campaign", None) or "0s")
    except ValueError as error:
        raise pytest.UsageError(f"--campaign: {error}") from None


def pytest_terminal_summary(terminalreporter):
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    texts = [text for report in reports for name, text in report.user_properties if name == TALLY]
    if texts:
        terminalreporter.section("campaigns")
        for text in texts:
            terminalreporter.write_line(text)


@pytest.fixture
def option(request):
    """The value of an option; None where it was not given, or where this folder was not named in the
    command, which is when its options are not known."""
    return lambda name: request.config.getoption(name, None)

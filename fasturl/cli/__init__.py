"""The command line, a file for each command."""

from .main import main as main

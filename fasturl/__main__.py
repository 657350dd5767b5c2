"""`python -m fasturl` is the command `fasturl`."""

from .cli import main

main()

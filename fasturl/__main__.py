"""`python -m fasturl` is the command `fasturl`."""

from .cli.main import main

main()

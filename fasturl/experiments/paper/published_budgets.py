"""What the comparison on the rich lock shows: our agents in their order, and the published numbers beside
them."""

from __future__ import annotations

from typing import NamedTuple

ORDER = ("url", "oracleq-lat", "opsrl-lat", "pcid")
"""The order of tables and legends."""


class Published(NamedTuple):
    """A number of episodes that is reported for another algorithm on the rich lock.

    horizon
        None where the number is for all horizons.
    is_cap
        Whether it is what the algorithm was given at most, not what it took.
    """

    algorithm: str
    horizon: int | None
    episodes: int
    source: str
    is_cap: bool = False


_MUSIK = "Mhammedi, Foster and Rakhlin, ICML 2023 (PMLR 202:24659-24700), as reported"
_BRIEE = "Zhang, Song, Uehara, Wang, Agarwal and Sun, ICML 2022 (PMLR 162:26517-26547), as reported"
PUBLISHED = (
    Published("MusIK", 25, 73_000, _MUSIK),
    Published("MusIK", 50, 320_000, _MUSIK),
    Published("MusIK", 100, 1_210_000, _MUSIK),
    Published("BRIEE", None, 10_000_000, _BRIEE, is_cap=True),
)

"""What reproductions have in common: the packages that they need, the line that says how much there is to do,
and the figures and tables that they write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..._base import optional
from ..._base.whole_files import whole_files
from ..._base.words import counted
from ..running.store import Store
from ..running.sweeping import SeedBlock

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas


def need_packages() -> None:
    """Say at once what is not installed of what a reproduction needs."""
    optional.need("pyarrow", "experiments", "a reproduction")
    optional.need("pandas", "experiments", "a reproduction")
    optional.need("matplotlib", "experiments", "a reproduction")


def work_in_words(store: Store, n_cells: int, n_seeds: int, missing: Iterable[SeedBlock]) -> str:
    """A line that says how much there is to do."""
    to_do = sum(len(block.seeds) for block in missing)
    runs = f"{to_do:,} of {n_cells * n_seeds:,} runs to do"
    return f"{counted(n_cells, 'cell')} x {counted(n_seeds, 'seed')}; {runs}; results in {store.folder}"


def write_figure(drawing: matplotlib.figure.Figure, folder: Path, name: str) -> None:
    """Write a figure as `<name>.png` and `<name>.pdf`."""
    from ..analysis import style

    wanted = folder / f"{name}.png", folder / f"{name}.pdf"
    with whole_files(*wanted) as drafts:
        for draft, path in zip(drafts, wanted, strict=True):
            assert draft is not None
            style.save(drawing, draft, path)


def write_table(table: pandas.DataFrame, path: Path) -> None:
    """Write a table as CSV, with six significant digits."""
    with whole_files(path) as (draft,):
        table.to_csv(draft, index=False, float_format="%.6g")

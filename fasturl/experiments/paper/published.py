"""URL as published beside what the paper says of it: the share of near-optimal seeds, and how many
trajectories the decoder took."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..._base import optional
from ..analysis import summaries
from .cells import FIGURES, PUBLISHED, PUBLISHED_ORACLES, figure_name, figure_rows

if TYPE_CHECKING:
    import pandas

PAPER_DECODER_TRAJECTORIES = {5: "100", 10: "500 to 1,000", 20: "1,000 to 2,500"}
"""How many training trajectories the decoder took in the paper's experiments, by horizon."""
PAPER_SHARES = {"fig1": "80 %", "fig2": "over 75 %", "fig3": "over 75 %"}
"""How likely the paper finds URL near-optimal at H = 20 with switch 0.2 and 0.5, which is all it tells."""
_RESULTS = ("average_reward_mean", "average_reward_std", "value_mean")
_RATES = ("success_rate", "success_low", "success_high")


def compare_oracles(frame: pandas.DataFrame, about: Iterable[dict[str, Any]]) -> pandas.DataFrame:
    """One row for each figure, horizon, switch and oracle of URL as published.

    It has the final average reward, value and success rate over seeds; decoder_trajectories, the mean number
    of trajectories that the decoder was fitted on; shown, whether the figure shows this oracle; and what the
    paper says, as paper_success_rate and paper_decoder_trajectories.

    about
        The metadata of the files of results, as `Store.about` gives them.
    """
    pd = optional.need("pandas", "experiments", "summing up results")
    rows = frame[frame["agent"] == PUBLISHED]
    parts = {figure: figure_rows(rows, figure) for figure in FIGURES}
    tables = [summaries.cell_table(part).assign(figure=figure) for figure, part in parts.items() if len(part)]
    table = pd.concat(tables)
    spent = _decoder_trajectories(about, set(rows["seed"]))
    table["decoder_trajectories"] = table["cell"].map(lambda cell: sum(spent[cell]) / len(spent[cell]))
    table["shown"] = table["oracle"] == PUBLISHED_ORACLES[0]
    table["paper_success_rate"] = [
        PAPER_SHARES[row.figure] if row.horizon == 20 and row.switch > 0 else "" for row in table.itertuples()
    ]
    table["paper_decoder_trajectories"] = table["horizon"].map(PAPER_DECODER_TRAJECTORIES)
    own = ("decoder_trajectories", "paper_success_rate", "paper_decoder_trajectories")
    columns = ["figure", "horizon", "switch", "oracle", "shown", "seeds", *_RESULTS, *_RATES, *own]
    result: pandas.DataFrame = table.sort_values(
        ["figure", "horizon", "oracle", "switch"], ignore_index=True
    )[columns]
    return result


def _decoder_trajectories(about: Iterable[dict[str, Any]], seeds: set[int]) -> dict[str, list[int]]:
    """What the decoders of some seeds took, by cell."""
    spent: dict[str, list[int]] = {}
    for one in about:
        if one["config"]["agent"] == PUBLISHED:
            spent.setdefault(one["cell"], []).extend(
                told["decoder_trajectories"]
                for seed, told in zip(one["seeds"], one["diagnostics"], strict=True)
                if seed in seeds
            )
    return spent


def oracle_table(oracles: pandas.DataFrame) -> Any:
    """What `compare_oracles` gives as a rich table, a line for each figure, horizon and oracle."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=f"{PUBLISHED} beside the paper's words",
        title_justify="left",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    switches = sorted(oracles["switch"].unique())
    table.add_column("lock", no_wrap=True)
    table.add_column("H", justify="right")
    table.add_column("oracle", no_wrap=True)
    listed = " / ".join(f"{switch:g}" for switch in switches)
    table.add_column(f"near-optimal at\nswitch {listed}", justify="right", no_wrap=True)
    table.add_column("paper", justify="right")
    table.add_column("decoder's\ntrajectories", justify="right")
    table.add_column("paper", justify="right")
    for (figure, horizon, oracle), group in oracles.groupby(["figure", "horizon", "oracle"]):
        shares = " / ".join(f"{100 * rate:.0f}" for rate in group.sort_values("switch")["success_rate"])
        table.add_row(
            figure_name(figure).removeprefix("Lock"),
            str(horizon),
            oracle,
            f"{shares} %",
            max(group["paper_success_rate"]),
            f"{group['decoder_trajectories'].mean():,.0f}",
            group["paper_decoder_trajectories"].iloc[0],
        )
    return table

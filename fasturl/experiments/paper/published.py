"""URL as published beside what the paper says of it: the share of near-optimal seeds, and how many
trajectories the decoder took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import PUBLISHED_ORACLES, URL_AS_PUBLISHED, figure_name

if TYPE_CHECKING:
    import pandas

DECODER_RANGES = {5: (100, 100), 10: (500, 1000), 20: (1000, 2500)}
"""Training trajectories that the decoder took in the paper's experiments, least and most, by horizon (its
appendix)."""
PAPER_SHARES = {"fig1": "80 %", "fig2": "over 75 %", "fig3": "over 75 %"}
"""How likely the paper finds URL near-optimal at H = 20 with switch 0.2 and 0.5, which is all it tells."""


def compare_oracles(summary: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of URL as published in a summary, with what the paper says of them.

    shown tells whether the figure shows this oracle; paper_success_rate and paper_decoder_trajectories are
    the paper's words.
    """
    table = summary[summary["agent"] == URL_AS_PUBLISHED].drop(columns=["agent", "model"])
    shares = [
        PAPER_SHARES[row.figure] if row.horizon == 20 and row.switch > 0 else "" for row in table.itertuples()
    ]
    result: pandas.DataFrame = table.assign(
        shown=table["oracle"] == PUBLISHED_ORACLES[0],
        paper_success_rate=shares,
        paper_decoder_trajectories=table["horizon"].map(decoder_range_in_words),
    ).sort_values(["figure", "horizon", "oracle", "switch"], ignore_index=True)
    return result


def decoder_range_in_words(horizon: int) -> str:
    """What the paper says of the decoder's trajectories at a horizon: 500 to 1,000."""
    return " to ".join(f"{count:,}" for count in dict.fromkeys(DECODER_RANGES[horizon]))


def oracle_table(oracles: pandas.DataFrame) -> Any:
    """What `compare_oracles` gives as a rich table, a line for each figure, horizon and oracle."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=f"{URL_AS_PUBLISHED} beside the paper's words",
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
    table.add_column("decoder's\ntrajectories", justify="right", no_wrap=True)
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

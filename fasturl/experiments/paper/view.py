"""What the figures, the summary and the claims of a folder show: which figures, of which runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ..._base.words import counted
from . import assumptions
from .cells import FIGURES, SEEDS

VIEW = "view.json"
"""The file of a folder that holds its view."""
ALL_FIGURES = (*FIGURES, assumptions.NAME)
"""The paper's figures, and ours."""


@dataclass(frozen=True)
class View:
    """What the figures, the summary and the claims of a folder show.

    all_models
        Whether the folder also compares the models of PCID; one that does goes on doing so.
    """

    figures: tuple[str, ...]
    seeds: tuple[int, ...]
    episodes_scale: float
    all_models: bool = False

    @classmethod
    def of(cls, folder: Path) -> View | None:
        """The view of a folder; None where it has none."""
        try:
            content = json.loads((folder / VIEW).read_text())
            return cls(
                tuple(content["figures"]),
                tuple(content["seeds"]),
                float(content["episodes_scale"]),
                bool(content["all_models"]),
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{folder / VIEW} is damaged: remove it or choose another folder") from None

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self) | {"caveat": self.caveat}) + "\n")

    def in_place_of(self, present: View | None, folder: str | Path) -> View:
        """What to show in a folder that shows something already: figures of the same runs join those that are
        there; less is refused."""
        if present is None:
            return self
        wanted = replace(self, all_models=self.all_models or present.all_models)
        if (set(self.seeds), self.episodes_scale) == (set(present.seeds), present.episodes_scale):
            both = {*self.figures, *present.figures}
            return replace(wanted, figures=tuple(figure for figure in ALL_FIGURES if figure in both))
        others = set(present.seeds) - set(self.seeds)
        fewer_figures = not set(self.figures) >= set(present.figures)
        if others or self.episodes_scale < present.episodes_scale or fewer_figures:
            same = ", not the same ones" if others and len(self.seeds) >= len(present.seeds) else ""
            raise ValueError(
                f"{folder} shows {present}; {self}{same} would not show all of that: choose another folder"
            )
        return wanted

    @property
    def caveat(self) -> str:
        """What the verdicts lack where these are not all of the paper's runs."""
        lacks = []
        if len(self.seeds) < SEEDS:
            lacks.append(f"{counted(len(self.seeds), 'seed')} instead of {SEEDS}")
        if self.episodes_scale < 1:
            lacks.append(f"runs of {self.episodes_scale:g} times the paper's episodes")
        if not lacks:
            return ""
        return f"A quick look with {' and '.join(lacks)}: the verdicts may be others in full."

    def __str__(self) -> str:
        scale = "" if self.episodes_scale == 1 else f" at episodes-scale {self.episodes_scale:g}"
        return f"{', '.join(self.figures)} of {counted(len(self.seeds), 'seed')}{scale}"

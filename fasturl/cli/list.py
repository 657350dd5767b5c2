"""`fasturl list`: the components that are known here, with their settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from .. import registry
from .._base import checks, names
from .._base.parts import describe_part
from .._base.schema import Range, Setting
from .options import Command, default_text, meaning_with_default, values_text
from .outputs import wide_console

KINDS = {"environments": "environment", "oracles": "oracle", "learners": "learner", "agents": "agent"}
EPILOG = """Examples:

fasturl list

fasturl list agents

fasturl list environments --json"""
_PAGE = """# Settings

What `fasturl` brings, and every setting of it. A setting has the same name, unit and default in Python, in
files of sweeps and on the command line, where `n_init` is written `--n-init` or, with its owner,
`--oracle.n-init`. `fasturl list` also shows what other packages add; `fasturl list --markdown` prints this
page.
"""
_TYPES: dict[type | None, str] = {int: "integer", float: "number", bool: "boolean", str: "text"}
_LIMITS = ("least", "most", "above", "below", "unit", "none", "choices", "values")


def register(app: typer.Typer) -> None:
    app.command("list", cls=Command, epilog=EPILOG)(list_command)


def list_command(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="KIND", help="environments, oracles, learners or agents.", show_default="all"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference page of what fasturl itself brings.")
    ] = False,
) -> None:
    """Show environments, oracles, learners and agents, the packages they come from, and their settings."""
    if as_json and as_markdown:
        raise ValueError("choose one of --json and --markdown")
    kinds = list(KINDS) if kind is None else [checks.choice("kind", kind, KINDS)]
    if as_json:
        print(
            json.dumps(
                {plural: [entry.as_json() for entry in _entries(plural)] for plural in kinds}, indent=1
            )
        )
    elif as_markdown:
        print(_page(kinds), end="")
    else:
        console = wide_console()
        for plural in kinds:
            _print_kind(console, plural)


@dataclass(frozen=True)
class _Entry:
    """A component as it is listed; `learner` names the learner whose settings an agent has."""

    name: str
    component: names.Component
    learner: str | None = None

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Those of the component, and of a learner's agent also its own."""
        return registry.agent_declaration(self.name) if self.learner else self.component.settings

    @property
    def own_settings(self) -> dict[str, Setting]:
        """Those that a learner's agent has beside the learner's."""
        return {name: one for name, one in self.settings.items() if name not in self.component.settings}

    @cached_property
    def problem(self) -> str:
        """Why the component cannot be used; empty where it can be."""
        try:
            self.component.settings  # noqa: B018  # a property that loads the class, which may fail
        except ValueError as error:
            return str(error)
        return ""

    def as_json(self) -> dict[str, Any]:
        component = self.component
        about: dict[str, Any] = {
            "name": self.name,
            "package": component.package,
            "version": component.version,
            "class": component.target,
        }
        if self.learner:
            about["learner"] = self.learner
        if self.problem:
            return about | {"problem": self.problem}
        return about | {"settings": [_setting_json(setting) for setting in self.settings.values()]}


def _entries(plural: str) -> Iterator[_Entry]:
    kind = KINDS[plural]
    for name, component in names.components(kind).items():
        yield _Entry(name, component)
    if kind == "agent":
        for name in registry.agent_names():
            if name not in names.components("agent"):
                component, _ = registry.agent_component(name)
                yield _Entry(name, component, learner=component.name)


def _setting_json(setting: Setting) -> dict[str, Any]:
    kind = setting.kind if isinstance(setting.kind, str) else _TYPES.get(setting.kind, "any")
    about: dict[str, Any] = {"name": setting.name, "type": kind, "help": setting.help}
    if not setting.required:
        is_part = isinstance(setting.kind, str)
        about["default"] = describe_part(str(setting.kind), setting.default) if is_part else setting.default
    about |= {
        name: getattr(setting, name) for name in _LIMITS if getattr(setting, name) not in (None, "", ())
    }
    search = setting.search
    if search is not None:
        about["search"] = {"low": search.low, "high": search.high} if isinstance(search, Range) else [*search]
    return about


def _print_kind(console: Console, plural: str) -> None:
    console.print(f"[bold]{plural}[/]")
    entries = list(_entries(plural))
    for entry in entries:
        if entry.learner:
            continue
        if entry.problem:
            console.print(f"  [red]{escape(entry.problem)}[/]", highlight=False, soft_wrap=True)
            continue
        console.print(_title(entry), highlight=False)
        if summary := _summary(entry.component.cls):
            console.print(_indented(escape(summary)), highlight=False)
        console.print(_settings_table(entry.component.settings.values()))
        console.print()
    of_learners = [entry for entry in entries if entry.learner and not entry.problem]
    for entry in of_learners:
        settings = " and ".join([f"the settings of the learner {entry.learner}", *entry.own_settings])
        console.print(f"{_title(entry)} has {escape(settings)}", highlight=False)
    if of_learners:
        console.print(_settings_table(_own_settings(of_learners)))
        console.print()


def _title(entry: _Entry) -> str:
    return f"  [bold cyan]{escape(entry.name)}[/] [dim]({escape(entry.component.origin)})[/]"


def _own_settings(of_learners: Iterable[_Entry]) -> list[Setting]:
    """What agents of learners have beside the settings of these."""
    return list({name: one for entry in of_learners for name, one in entry.own_settings.items()}.values())


def _settings_table(settings: Iterable[Setting]) -> Padding:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for setting in settings:
        table.add_row(escape(setting.name), escape(_values(setting)), meaning_with_default(setting))
    return _indented(table)


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 4), expand=False)


def _values(setting: Setting) -> str:
    return f"{values_text(setting)}{f', in {setting.unit}' if setting.unit else ''}"


def _page(kinds: list[str]) -> str:
    parts = [_PAGE]
    for plural in kinds:
        parts.append(f"\n## {plural.capitalize()}\n")
        entries = [entry for entry in _entries(plural) if entry.component.built_in]
        for entry in entries:
            if not entry.learner:
                parts.append(
                    f"\n### {entry.name}\n\n{_summary(entry.component.cls)}\n\n"
                    f"{_markdown_table(entry.settings.values())}"
                )
        of_learners = [entry for entry in entries if entry.learner]
        if of_learners:
            listed = ", ".join(f"`{entry.name}`" for entry in of_learners)
            parts.append(
                "\n### Learners as agents\n\nA learner L is the agent `L-lat`, which sees the latent "
                "states, and where it is compiled also `L-obs`, which takes each observation for a state.\n"
                f"They have the settings of the learner: {listed}.\n"
                f"`L-obs` also has\n\n{_markdown_table(_own_settings(of_learners))}"
            )
    return "".join(parts)


def _summary(cls: type) -> str:
    """The first paragraph of a class's documentation, in one line; nothing where it has none but what
    `dataclass` writes by itself."""
    text = cls.__doc__
    if not isinstance(text, str) or text.startswith(f"{cls.__name__}("):
        return ""
    return " ".join(text.split("\n\n")[0].split())


def _markdown_table(settings: Iterable[Setting]) -> str:
    rows = [(one.name, _values(one), default_text(one), one.help) for one in settings]
    if not rows:
        return "It has no settings.\n"
    lines = ["| setting | values | default | meaning |", "|---|---|---|---|"]
    for name, *texts in rows:
        lines.append(f"| `{name}` | {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |")
    return "\n".join(lines) + "\n"

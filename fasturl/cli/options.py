"""Options of commands that train: their own, and those that come from what the named components declare.

`fasturl train ENV --agent NAME` has an option for every setting of the environment, of the agent and of the
agent's oracle and learner. They are not known before the names are, so a command takes its own options out of
the line and keeps the rest, which are pairs of a name and a value, for the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Self

import typer
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from typer.core import TyperCommand, TyperGroup

from .. import registry
from .._base import names
from .._base.checks import parse_seeds as parse_seeds
from .._base.parts import describe_part
from .._base.schema import Setting
from .._base.setting_texts import parsed_value as parsed_value
from .._base.setting_texts import part_value
from ..registry import SettingNames

DEFAULT_AGENT = "url"
EPISODES, SEEDS = 50_000, "50"
"""Defaults of --episodes and --seeds: those of the paper's experiments. In Python, episodes have no default,
and seeds are one."""
ENV_HELP = "Name of an environment; fasturl list environments shows them."
AGENT_HELP = "Name of an agent; fasturl list agents shows them."
SEE_SETTINGS = (
    "Every setting of the environment, of the agent and of its oracle and learner is an option too: "
    "fasturl {command} ENV --agent NAME --help shows them. One that several of them have is written with its "
    "owner, as --oracle.n-states; without an owner it is the agent's, if the agent has it. A setting "
    "that is true or false is written with its value, as --rotation false."
)
N_JOBS_HELP = "How many runs are computed at the same time."
_WORDS = "fasturl.settings"
_NAMED = "fasturl.named"
_OPTIONS = "fasturl.options"

Words = list[tuple[str, str | None]]
"""Settings as they were written: pairs of a name and a value, None where a value is missing."""


class _PlainFlags:
    """Help that shows no type beside a flag, which takes no value: Typer writes `<bool>` there."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for option in self.get_params(ctx):  # type: ignore[attr-defined]  # of the class it is mixed into
            if getattr(option, "is_flag", False):
                option.metavar = ""
        super().format_help(ctx, formatter)  # type: ignore[misc]  # that class too


class Program(_PlainFlags, TyperGroup):
    """The program, whose commands are the names that follow it."""


class Command(_PlainFlags, TyperCommand):
    """A command whose options are given once, except those that are made to be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help" not in args:
            self._refuse_repeated(args)
        return super().parse_args(ctx, args)

    def _params(self) -> dict[str, Any]:
        """The command's own options, as they are written."""
        params = {option: param for param in self.params for option in (*param.opts, *param.secondary_opts)}
        return {option: param for option, param in params.items() if option.startswith("--")}

    def _options(self, args: list[str]) -> Iterator[tuple[str, str | None]]:
        """The options of a line with their values, and None as that of a flag."""
        params = self._params()
        rest = iter(args)
        for word in rest:
            if word == "--":
                return
            option, equals, value = word.partition("=")
            if getattr(params.get(option), "is_flag", False):
                yield option, None
            elif option in params:
                yield option, value if equals else next(rest, None)

    def _refuse_repeated(self, args: list[str]) -> None:
        params = self._params()
        given: dict[str, tuple[str, str | None]] = {}
        for option, value in self._options(args):
            name = params[option].name
            if name not in given or getattr(params[option], "multiple", False):
                given[name] = option, value
            elif given[name][0] != option:
                raise ValueError(f"choose one of {given[name][0]} and {option}")
            elif value is not None:
                raise ValueError(f"{option} is given twice, as {given[name][1]} and as {value}")


class SettingsCommand(Command):
    """A command with an argument ENV and an option --agent, which takes the settings of both as options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own, words, positional = self._split(args)
        if not positional and (env := _environment_among_values(words)):
            own.append(env)
            positional.append(env)
        agent = dict(self._options(own)).get("--agent") or DEFAULT_AGENT
        ctx.meta[_WORDS] = words
        ctx.meta[_OPTIONS] = [_setting_name(option) for option in self._params()]
        ctx.meta[_NAMED] = (positional[0] if positional else None, agent)
        return super().parse_args(ctx, own)

    def _split(self, args: list[str]) -> tuple[list[str], Words, list[str]]:
        """The command's own words, those of settings, and among the former those that are no options."""
        params = self._params()
        own: list[str] = []
        words: Words = []
        positional: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if not word.startswith("--") or word == "--":
                own.append(word)
                positional.append(word)
                continue
            written, equals, value = word.partition("=")
            option = written.replace("_", "-")
            if option == "--help" or getattr(params.get(option), "is_flag", False):
                own.append(option + equals + value)
                continue
            if not equals:
                if not rest or rest[0].startswith("--"):
                    if "--help" in args:
                        continue
                    if option in params:
                        raise ValueError(f"{option} needs a value")
                    words.append((_setting_name(option), None))
                    continue
                value = rest.pop(0)
            if option not in params:
                words.append((_setting_name(option), value))
                continue
            own += [option, value]
        return own, words, positional

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The common options, and the settings of what the line names."""
        super().format_help(ctx, formatter)
        env, agent = ctx.meta.get(_NAMED, (None, DEFAULT_AGENT))
        if env is None:
            return
        choice = Choice.of_line(ctx, env, agent)
        console = Console()
        for scope, settings in choice.names.scopes.items():
            if settings:
                console.print(_settings_panel(choice.names, scope))


def refuse_beside(option: str, others: Mapping[str, bool]) -> None:
    """ValueError where `option` would leave another one without effect; `others` says which are given."""
    for other, is_given in others.items():
        if is_given:
            raise ValueError(f"choose one of {option} and {other}")


def _setting_name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def _environment_among_values(words: Words) -> str | None:
    """The environment of a line that seems to have none: it was taken for the value of the option before it,
    which is left without one."""
    for position, (name, value) in enumerate(words):
        if value in registry.environment_names():
            words[position] = (name, None)
            return value
    return None


def written_settings(ctx: typer.Context) -> Words:
    """The settings of a line, as `SettingsCommand` left them."""
    return list(ctx.meta[_WORDS])


class Choice:
    """The settings of an environment and an agent that a line chooses.

    options
        Names of the command's own options, of which one may be meant by a word that is no setting.
    env_values
        For each setting of the environment its values, in the order in which they were written.
    agent_settings
        The settings of the agent, with those of its parts written as learner.confidence.
    """

    def __init__(self, env: str, agent: str, words: Words, options: Collection[str]) -> None:
        environment = registry.environment_declaration(env)
        declaration = registry.agent_declaration(agent)
        parts = {
            name: part_value(declaration[name], text)
            for written, text in words
            if text is not None
            and (name := written.removeprefix("agent.")) in declaration
            and isinstance(declaration[name].kind, str)
        }
        env_settings = {
            name: parsed_value(environment[name], text)
            for written, text in words
            if text is not None and (name := written.removeprefix("env.")) in environment
        }
        parts = {**registry.default_parts(env, env_settings, agent), **parts}
        self.names = SettingNames(env, agent, parts)
        self.env_values: dict[str, list[Any]] = {}
        self.agent_settings: dict[str, Any] = {}
        self._texts: dict[str, str] = {}
        for written, text in words:
            scope, setting = self.names.owner(written, options)
            if text is None:
                raise ValueError(f"--{written.replace('_', '-')} needs a value")
            self._add(scope, setting, text)
        for part, value in parts.items():
            if any(name.startswith(f"{part}.") for name in self.agent_settings):
                self.agent_settings.setdefault(part, value)

    @classmethod
    def of_line(
        cls, ctx: typer.Context, env: str, agent: str, more_words: Iterable[tuple[str, str]] = ()
    ) -> Self:
        """What a line chooses, and further settings."""
        return cls(env, agent, [*written_settings(ctx), *more_words], ctx.meta[_OPTIONS])

    def _add(self, scope: str, setting: Setting, text: str) -> None:
        value = parsed_value(setting, text)
        if scope == "env":
            self.env_values.setdefault(setting.name, []).append(value)
            return
        name = setting.name if scope == "agent" else f"{scope}.{setting.name}"
        if name in self._texts:
            raise ValueError(f"{name} is given twice, as {self._texts[name]} and as {text}")
        self._texts[name] = text
        self.agent_settings[name] = value

    def env_settings(self) -> dict[str, Any]:
        """The settings of the environment, each of which may be given once."""
        for name, values in self.env_values.items():
            if len(values) > 1:
                raise ValueError(f"{name} is given twice, as {values[0]} and as {values[1]}")
        return {name: values[0] for name, values in self.env_values.items()}

    def searched(self, written: str) -> tuple[str, Setting]:
        """A setting of the agent that is searched: its name as `agent_settings` has it, and what it is."""
        scope, setting = self.names.owner(written)
        if scope == "env":
            raise ValueError(
                f"{setting.name} is a setting of {self.names.titles['env']}: only the agent's are searched"
            )
        return (setting.name if scope == "agent" else f"{scope}.{setting.name}"), setting


def _settings_panel(setting_names: SettingNames, scope: str) -> Panel:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column(style="yellow")
    table.add_column()
    for setting in setting_names.scopes[scope].values():
        option = setting_names.option(scope, setting.name)
        table.add_row(option, escape(values_text(setting)), meaning_with_default(setting))
    return Panel(
        table, title=f"Settings of {setting_names.titles[scope]}", title_align="left", border_style="dim"
    )


def values_text(setting: Setting) -> str:
    """What a setting may be, as help and reference show it: its type, or the names, and the range."""
    if isinstance(setting.kind, str):
        return f"name of {'an' if setting.kind[0] in 'aeiou' else 'a'} {setting.kind}"
    if setting.choices or setting.values:
        return setting.values or setting.range_text
    plain: dict[type | None, str] = {
        int: "integer",
        float: "number",
        bool: "true or false",
        str: "text",
        None: "any",
    }
    kind = plain[setting.kind] if setting.kind in plain else getattr(setting.kind, "__name__", "any")
    return " ".join(filter(None, (kind, setting.range_text)))


def meaning_with_default(setting: Setting) -> str:
    """What a setting is and its default, as rich prints them."""
    default = "required" if setting.required else f"default: {default_text(setting)}"
    return f"{escape(setting.help)} [dim]\\[{escape(default)}][/]".strip()


def default_text(setting: Setting) -> str:
    """The default of a setting; of a part that is an object, its name and the settings that differ."""
    if not isinstance(setting.kind, str) or setting.required or setting.default is None:
        return setting.default_text
    described = describe_part(setting.kind, setting.default)
    component = names.find(setting.kind, described.pop("name"))
    different = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in described.items()
        if value != component.settings[name].default
    ]
    return " with ".join(filter(None, (component.name, ", ".join(different))))

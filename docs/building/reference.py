"""The reference: pages that are written when the site is built, from what the package declares and says.

A page for each public name, one for the commands with their options, and one for the fields and columns of
files. `docs/reference/` holds them and is not kept.
"""

import inspect
import re
from pathlib import Path

import typer

from fasturl.agents.diagnostics import DIAGNOSTICS
from fasturl.cli.main import app as command_line
from fasturl.experiments.running import files, spec
from fasturl.run import SUMMARY_FIELDS

from . import docstrings
from .public import FOUNDATION, NAMESPACES, public_names

PUBLIC = {one.path: one for one in public_names()}
PATHS = {id(one.value): one.path for one in PUBLIC.values()}
BY_NAME = {one.name: one.path for one in reversed(PUBLIC.values())} | {
    f"fu.{one.path.removeprefix('fasturl.')}": one.path for one in PUBLIC.values()
}


def setup(app):
    """Write the pages before Sphinx looks for them, and read our docstrings for it."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", rewrite_docstring, priority=400)  # before napoleon, at 500
    app.connect("autodoc-skip-member", skip_foreign_member)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link(code):
    """A link to a public name, anything else as it is."""
    name = code.removesuffix("()")
    path = BY_NAME.get(name) or (name if name in PUBLIC else None)
    return f":py:obj:`{code} <{path}>`" if path else f"``{code}``"


def rewrite_docstring(app, what, name, thing, options, lines):
    """Put the sections of a docstring where napoleon looks for them."""
    if what == "attribute":
        lines[:] = docstrings.as_text("\n".join(lines), link).split("\n")
        return
    source = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    if not lines or not getattr(source, "__doc__", None):
        return
    lines[:] = docstrings.as_numpydoc(source, link)
    bases = [PATHS[id(base)] for base in getattr(thing, "__mro__", ())[1:] if id(base) in PATHS]
    if bases and inspect.isclass(thing):
        place = lines.index("") if "" in lines else len(lines)
        lines[place:place] = ["", f"A subclass of {', '.join(f':py:obj:`{base}`' for base in bases)}."]


def skip_foreign_member(app, what, name, thing, skip, options):
    """Members that another library's base class brings are described there."""
    source = thing.fget if isinstance(thing, property) else thing
    module = getattr(source, "__module__", None) or "fasturl"
    return True if not module.startswith("fasturl") else None


def write_pages(app):
    """Write all pages of the reference, each only where it has changed."""
    folder = Path(app.srcdir) / "reference"
    pages = {f"{one.path}.rst": page_of(one) for one in PUBLIC.values() if one.is_documented_object}
    pages |= {"index.md": index(), "commands.md": commands(), "files.md": stored_files()}
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def page_of(public):
    """The page of one class or function."""
    directive = "autoclass" if inspect.isclass(public.value) else "autofunction"
    members = "   :members:\n" if inspect.isclass(public.value) else ""
    title = public.path
    return f"{title}\n{'=' * len(title)}\n\n.. {directive}:: {public.path}\n{members}"


def index():
    """All names under headings, with the first sentence of each."""
    text = [
        "# Reference\n\nEvery public name, command, setting and field. It is written from declarations and "
        "docstrings, and what stands under *Examples* is run.\n"
        "\n- [Commands and options](commands.md)\n- [Settings of components](../settings.md)"
        "\n- [Fields of files: TOML, JSON, Parquet](files.md)\n"
    ]
    hidden = ["commands", "../settings", "files"]
    for heading in [FOUNDATION, *filter(None, NAMESPACES.values())]:
        names = [one for one in PUBLIC.values() if one.heading == heading]
        text.append(f"\n## {heading}\n\n| name | what it is |\n|---|---|")
        for one in sorted(names, key=lambda one: one.name.lower()):
            if one.is_documented_object:
                summary = first_sentence(one.value)
                text.append(f"| [`{one.path}`]({one.path}.rst) | {summary} |")
                hidden.append(one.path)
            else:
                text.append(f"| `{one.path}` | {CONSTANTS[one.path]} |")
    toctree = "\n".join(hidden)
    return "\n".join(text) + f"\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"


CONSTANTS = {
    "fasturl.emissions.N_RNGS": "How many generators an emission draws from.",
    "fasturl.decoders.MAX_LABELS": "The greatest number of labels that a decoder may give.",
    "fasturl.capi.HEADER": "The path of `fasturl.h`.",
    "fasturl.capi.ffi": "What a compiled cffi module would offer as `ffi`.",
    "fasturl.capi.lib": "The functions of `fasturl.h`, each compiled when it is first asked for.",
}
"""Constants cannot say themselves what they are."""


def first_sentence(thing):
    """The first sentence of a docstring, in one line."""
    text = " ".join(docstrings.read(thing).text.split("\n\n")[0].split())
    return re.split(r"(?<=[.:;]) ", text)[0].rstrip(";:").replace("|", "\\|")


def commands():
    """Every command with its arguments and options."""
    group = typer.main.get_command(command_line)
    text = [
        "# Commands and options\n\n`fasturl COMMAND --help` prints the same. Commands that train also take "
        "every [setting](../settings.md) of the environment, the agent and its parts as an option.\n"
    ]
    for name, command in group.commands.items():
        text.append(f"\n## fasturl {name}\n\n{plain(inspect.cleandoc(command.help or ''))}\n")
        text.append("\n| argument or option | default | meaning |\n|---|---|---|\n")
        for parameter in command.params:
            if getattr(parameter, "hidden", False) or parameter.name == "help":
                continue
            text.append(f"| {' | '.join(map(cell, option(parameter)))} |\n")
        examples = re.findall(r"^fasturl .*$", plain(command.epilog or ""), re.MULTILINE)
        if examples:
            text.append("\n```text\n" + "\n".join(examples) + "\n```\n")
    return "".join(text)


def option(parameter):
    """How a parameter of a command is written, its default, and what it means."""
    if parameter.param_type_name == "argument":
        written = f"`{parameter.metavar or parameter.name.upper()}`"
    else:
        written = ", ".join(f"`{one}`" for one in (*parameter.opts, *parameter.secondary_opts))
    shown = getattr(parameter, "show_default", None)
    default = shown if isinstance(shown, str) else parameter.default
    if callable(default) or default in (None, False, (), []) or "Sentinel" in repr(default):
        default = "required" if parameter.required else ""
    return written, str(default), plain(getattr(parameter, "help", "") or "")


def plain(text):
    """Help without the marks that Rich reads."""
    return (
        re.sub(r"\[/?(?:bold|dim|cyan|red|yellow|italic)[^\]]*\]", "", text)
        .replace("\\[", "[")
        .replace("\f", "")
    )


def cell(text):
    """A text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def stored_files():
    """What sweep files, JSON and Parquet hold, from the tables that the code itself goes by."""
    parts = {
        "Keys of a sweep file": (
            "Top-level keys of the TOML file that `fasturl sweep` reads; those of `[[group]]` are the same "
            "but for `seeds` and `group`. [Sweeps](../sweeps.md) has examples, [settings](../settings.md) "
            "what the tables take.",
            spec.KEYS,
        ),
        "JSON of a run": (
            "What `fasturl train --json` writes and `Run.summary()` gives. The settings of the environment "
            "are fields too.",
            SUMMARY_FIELDS,
        ),
        "Diagnostics of a run": (
            "What agents say about their runs: a dictionary for each seed, in `Run.diagnostics` and in the "
            "metadata of stored results. The agents that have an entry stand before its meaning.",
            {name: f"*{one.agents}.* {one.meaning}" for name, one in DIAGNOSTICS.items()},
        ),
        "Columns of stored results": (
            "Of the Parquet files of a sweep and of `fasturl.load`. Each setting of the environment is a "
            "column too; the frame of `fasturl.load` also has those of the agent, as `agent.x`, and of its "
            "parts, as `oracle.x` and `learner.x`, and `points` and `v_star`. [Results](../results.md) says "
            "more.",
            files.CELL_COLUMNS | files.RESULTS,
        ),
        "Metadata of stored results": (
            "JSON under the key `fasturl` in the metadata of each Parquet file.",
            files.ANNOTATIONS,
        ),
    }
    text = ["# Fields of files\n"]
    for heading, (introduction, fields) in parts.items():
        text.append(f"\n## {heading}\n\n{introduction}\n\n| name | meaning |\n|---|---|\n")
        text += [f"| `{name}` | {cell(meaning)} |\n" for name, meaning in fields.items()]
    return "".join(text)

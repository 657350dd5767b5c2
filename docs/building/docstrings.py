"""Docstrings as our sources write them, read into parts and written as numpydoc sections.

A docstring of ours is sentences; then arguments, each a line with its name and indented lines that say what
it is; a paragraph that begins with "Returns"; and an example under the heading Examples. Settings of
components are not in the docstring: they are declared, and are taken from the declaration.
"""

import ast
import inspect
import itertools
import re
import textwrap
import typing
from dataclasses import dataclass, field
from typing import Any

from fasturl._base.schema import declared_fields
from fasturl.cli.options import default_text, values_text

HEADINGS = re.compile(r"^(Parameters|Returns|Examples)\n-+\n", re.MULTILINE)
ARGUMENT = re.compile(r"^(\w+(?:\([^)]*\))?(?:, \w+(?:\([^)]*\))?)*)\n((?:    .*\n|\n)+)", re.MULTILINE)
CODE = re.compile(r"(`[^`]+`)")


@dataclass
class Docstring:
    """The parts of a docstring: `arguments` by name, with what the docstring or a declaration says."""

    text: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    examples: str = ""


def read(thing: Any) -> Docstring:
    """The parts of the docstring of a class or function, with the settings that a class declares."""
    own = thing.__doc__ if thing.__doc__ else ""
    pieces = HEADINGS.split(inspect.cleandoc(own) + "\n")
    doc = Docstring(pieces[0])
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    doc.examples = sections.get("Examples", "").strip()
    doc.returns = sections.get("Returns", "").strip()
    arguments = ARGUMENT.findall(sections.get("Parameters", ""))
    if not arguments:
        arguments = ARGUMENT.findall(doc.text)
        doc.text = ARGUMENT.sub("", doc.text)
    for names, meaning in arguments:
        for name in re.findall(r"(\w+)(?:\([^)]*\))?", re.sub(r"\([^)]*\)", "", names)):
            doc.arguments[name] = inspect.cleandoc("    " + meaning.strip())
    paragraphs = [part for part in doc.text.split("\n\n") if part.strip()]
    if not doc.returns:
        doc.returns = " ".join(part for part in paragraphs if part.startswith("Returns ")).strip()
        paragraphs = [part for part in paragraphs if not part.startswith("Returns ")]
        doc.returns = doc.returns.removeprefix("Returns ")
    doc.text = "\n\n".join(part.strip("\n") for part in paragraphs)
    if inspect.isclass(thing):
        doc.arguments |= {name: _of_setting(one) for name, one in declared_fields(thing).items()}
        doc.arguments |= {
            name: text for name, text in _of_fields(thing).items() if name in parameters_of(thing)
        }
    return doc


def _of_fields(cls: type) -> dict[str, str]:
    """What a class says of its fields, as a text below each."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return {
        one.target.id: inspect.cleandoc(text.value.value)
        for one, text in itertools.pairwise(body)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(text.value.value, str)
    }


def _of_setting(setting: Any) -> str:
    default = "required" if setting.required else f"default: {default_text(setting)}"
    return f"{setting.help} ({values_text(setting)}; {default})"


def parameters_of(thing: Any) -> list[str]:
    """The names that a call takes."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    if inspect.isclass(thing) and getattr(thing, "_is_protocol", False):
        return []
    return [name for name in signature.parameters if name != "self" and not name.startswith("_")]


def types_of(thing: Any) -> dict[str, str]:
    """The annotations of a call, as they are written in the source."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return {}
    types = {name: _written(one.annotation) for name, one in signature.parameters.items()}
    if signature.return_annotation is not signature.empty:
        types["return"] = _written(signature.return_annotation)
    return types


def _written(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def as_numpydoc(thing: Any, link: Any) -> list[str]:
    """The lines of a docstring with sections; `link(code)` writes what stands between backticks."""
    doc, types = read(thing), types_of(thing)
    lines = as_text(doc.text, link).split("\n")
    if doc.arguments:
        lines += ["", "Parameters", "----------"]
        for name, meaning in doc.arguments.items():
            kind = "" if inspect.isclass(thing) and name in declared_fields(thing) else types.get(name, "")
            lines.append(f"{name} : {kind}" if kind else name)
            lines += ["    " + line if line else "" for line in as_text(meaning, link).split("\n")]
    if doc.returns:
        kind = types.get("return", "object")
        lines += ["", "Returns", "-------", kind if kind != "None" else "object"]
        lines += ["    " + line for line in as_text(doc.returns, link).split("\n")]
    if doc.examples:
        lines += ["", "Examples", "--------", *doc.examples.split("\n")]
    return [*lines, ""]


def as_text(text: str, link: Any) -> str:
    """Sentences as reStructuredText: code is linked, and signs that mean something there mean themselves."""
    pieces = CODE.split(text)
    for number, piece in enumerate(pieces):
        if number % 2:
            pieces[number] = link(" ".join(piece.strip("`").split()))
        else:
            pieces[number] = re.sub(r"([*|_\\])", r"\\\1", piece)
    return "".join(pieces)

"""Formulas as MathML, which browsers draw by themselves: the site needs no script and no network for them."""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml


def setup(app):
    """Add the renderer that `html_math_renderer = "mathml"` asks for."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_inline(translator, node):
    """A formula within a sentence."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator, node):
    """A formula on lines of its own, which scrolls where the screen is narrower."""
    translator.body.append(f'<div class="math-block">{mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(tex: str, as_block: bool = False) -> str:
    """The MathML of a formula; ValueError with the formula where it cannot be read."""
    try:
        return latex2mathml.tex2mathml(tex, as_block=as_block)
    except MathError as error:
        raise ValueError(f"cannot read the formula {tex!r}: {error}") from error

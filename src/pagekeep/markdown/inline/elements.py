"""Write the inline elements: one function per element, and the table of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pagekeep.markdown.inline.emphasis import EM, ENDS, SIGNS, STRIKE, STRONG
from pagekeep.markdown.inline.links import emphasised_link, footnote_reference, image, link, make_link
from pagekeep.markdown.inline.run import Action, Run, Stack
from pagekeep.markdown.inline.scripts import write_subscript, write_superscript
from pagekeep.model.clean_tree import CleanElement, text_of


def strong(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write bold text."""
    _emphasise(run, node, stack, STRONG)


def emphasis(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write italic text."""
    _emphasise(run, node, stack, EM)


def struck(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write struck-through text."""
    _emphasise(run, node, stack, STRIKE)


def _emphasise(run: Run, node: CleanElement, stack: Stack, mark: str) -> None:
    children = node.children
    only = children[0] if len(children) == 1 else ""
    if isinstance(only, CleanElement) and only.tag == "a" and not run.is_card(only):
        # `[**text**](url)` renders like `**[text](url)**`, and also right before a letter.
        emphasised_link(run, only, stack, mark)
        return
    run.open(mark)
    stack.append(SIGNS[ENDS[mark]])
    stack.extend(children[::-1])


def span(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write inline math, or just the content."""
    if "math-inline" in node.attr("class"):
        run.math(text_of(node))
    else:
        stack.extend(node.children[::-1])


def superscript(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write a footnote reference or a superscript."""
    if not footnote_reference(run, node):
        _script(run, node, stack, write_superscript)


def subscript(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write a subscript."""
    _script(run, node, stack, write_subscript)


def _script(run: Run, node: CleanElement, stack: Stack, form: Callable[[str, str], str | None]) -> None:
    children = node.children
    only = children[0] if len(children) == 1 else None
    if isinstance(only, str):
        script = form(" ".join(only.split()), run.last_char())
        if script is not None:
            run.text(script)
            return
    stack.extend(children[::-1])


def quotation(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write a short quotation with the quotation marks that a browser would show."""
    run.text("“")
    stack.append("”")
    stack.extend(node.children[::-1])


def reading_aid(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write ruby text in parentheses, which the page may already have."""
    if node not in run.inline.bracketed:
        run.text("(")
        stack.append(")")
    stack.extend(node.children[::-1])


def code_span(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write a code span. A link or key inside would be lost, so these become the outer element."""
    children = node.children
    only = children[0] if len(children) == 1 else None
    if isinstance(only, CleanElement) and only.tag == "a" and not run.in_link:
        _linked_code(run, only)
    elif node.tag == "kbd" and any(isinstance(child, CleanElement) and child.tag == "kbd" for child in children):
        stack.extend(children[::-1])
    else:
        run.code(text_of(node))


def _linked_code(run: Run, node: CleanElement) -> None:
    inside = Run(run.inline, flat=True, in_link=True)
    inside.code(text_of(node))
    href = node.attr("href")
    if not href or href.startswith("#"):
        run.code(text_of(node))
    elif inside.parts:
        run.atom(make_link(inside.take(), href))


def line_break(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write a line break."""
    run.line_break()


ACTIONS: Final[dict[str, Action]] = {
    **dict.fromkeys(("strong", "b", "mark"), strong),
    **dict.fromkeys(("em", "i", "cite", "dfn", "var"), emphasis),
    **dict.fromkeys(("s", "del", "strike"), struck),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), code_span),
    "a": link,
    "br": line_break,
    "img": image,
    "q": quotation,
    "rt": reading_aid,
    "span": span,
    "sub": subscript,
    "sup": superscript,
}

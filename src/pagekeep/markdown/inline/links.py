"""Write links, images and references to footnotes."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.dom import Element
from pagekeep.markdown.inline.emphasis import ENDS
from pagekeep.markdown.inline.escape import BANG, clean, destination, escape, escape_first, link_title
from pagekeep.markdown.inline.run import Run, Stack, one_line, only_text
from pagekeep.text import compile_lazily

_FILE_NAME: Final = compile_lazily(r"\S*[_\d.]\S*")
"""A title without spaces, such as `IMG_2034` or `harbour.jpg`, which programs write by themselves."""


def link(run: Run, node: Element, stack: Stack, mark: str | None = None) -> None:
    """Write a link; without a target, or inside another link, only its text."""
    href = (node.attr("href") or "").strip()
    if run.in_link or not href or href.startswith("#"):
        stack.extend([ENDS[mark], *node.children[::-1], mark] if mark else node.children[::-1])
        return
    children = node.children
    words = only_text(children) if mark is None else None
    if words:
        raw = children[0].data  # type: ignore[attr-defined]
        _add(run, escape_first(words, in_link=True), href, node, raw)
        return
    inside = Run(run.inline, flat=True, in_link=True)
    inside.active = dict(run.active)
    inside.fill([ENDS[mark], *children[::-1], mark] if mark else list(children[::-1]))
    taken = inside.take()
    _add(run, one_line(taken), href, node, taken.strip("\x01\x02\x03\x04\x05\x06"))


def _add(run: Run, text: str, href: str, node: Element, raw: str) -> None:
    """Add the finished link, with spaces at the ends of its text outside it."""
    if raw[:1].isspace():
        run.text(" ")
    if text:
        run.atom(make_link(text, href, node.attr("title") or ""))
    if raw[-1:].isspace():
        run.text(" ")


def make_link(text: str, href: str, title: str = "") -> str:
    """Return a link around finished text, without a title that only repeats the text or the URL."""
    title = " ".join(title.split())
    repeats = not title or title.casefold() == text.casefold() or title.replace(" ", "_") in href
    suffix = "" if repeats else link_title(title)
    return f"[{text}]({destination(href)}{suffix})"


def image(run: Run, node: Element, stack: Stack) -> None:
    """Write an image that links to itself, unless it is already in a link."""
    src = destination(node.attr("src") or "")
    if not src:
        return
    alt, title = (clean(" ".join((node.attr(name) or "").split())) for name in ("alt", "title"))
    suffix = link_title(title) if alt and _adds_words(title, alt) else ""
    markdown = f"{BANG}[{escape(alt or title, in_link=True)}]({src}{suffix})"
    run.atom(markdown if run.in_link else f"[{markdown}]({src})")


def _adds_words(title: str, alt: str) -> bool:
    """Return whether an image's title says more than its alternative text: not the name of a file, nor the same again."""
    return title.casefold() not in alt.casefold() and _FILE_NAME.fullmatch(title) is None


_LABEL: Final = compile_lazily(r"[^\w-]+")


def footnote_label(fragment: str) -> str:
    """Return the label of a footnote: `1` for `#fn-1` and `fn-1`."""
    return _LABEL.sub("-", fragment.removeprefix("#").removeprefix("fn-"))


def complete_notes(root: Element) -> frozenset[str]:
    """Return the labels of the footnotes that have both a text and a reference."""
    texts = {footnote_label(node.attr("id") or "") for node in dom.select(root, "section.footnotes li[id]")}
    if not texts:
        return frozenset()
    links = dom.select(root, "sup.footnote-ref a[href]")
    references = {footnote_label(node.attr("href") or "") for node in links}
    return frozenset((texts & references) - {""})


def footnote_reference(run: Run, node: Element) -> bool:
    """Write `[^1]` if the superscript refers to a complete footnote; return whether it does."""
    if run.in_link or "footnote-ref" not in (node.attr("class") or ""):
        return False
    link = dom.first(node, "a[href]")
    label = footnote_label(link.attr("href") or "") if link is not None else ""
    if label not in run.inline.notes:
        return False
    run.atom(f"[^{label}]")
    return True

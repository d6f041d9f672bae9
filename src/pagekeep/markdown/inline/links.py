"""Write links, images and references to footnotes."""

from __future__ import annotations

from typing import Final

from pagekeep.markdown.inline.emphasis import ENDS, SIGNS
from pagekeep.markdown.inline.escape import BANG, clean, destination, escape, escape_first, link_title
from pagekeep.markdown.inline.run import Run, Stack, one_line, only_text
from pagekeep.model.clean_tree import CleanElement, CleanTree, find_all
from pagekeep.text import compile_lazily

_FILE_NAME: Final = compile_lazily(r"\S*[_\d.]\S*")
"""A title without spaces, such as `IMG_2034` or `harbour.jpg`, which programs write by themselves."""


def link(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write a link; without a target, or inside another link, only its text."""
    href, children = node.attributes.get("href", "").strip(), node.children
    if run.in_link or not href or href.startswith("#"):
        stack.extend(children[::-1])
        return
    if words := only_text(children):
        text = children[0]
        assert isinstance(text, str)
        _add(run, escape_first(words, in_link=True), href, node, text)
    else:
        _write_content(run, node, list(children[::-1]), href)


def emphasised_link(run: Run, node: CleanElement, stack: Stack, mark: str) -> None:
    """Write a link with all of its text emphasised."""
    href = node.attr("href").strip()
    content: Stack = [SIGNS[ENDS[mark]], *node.children[::-1], SIGNS[mark]]
    if run.in_link or not href or href.startswith("#"):
        stack.extend(content)
    else:
        _write_content(run, node, content, href)


def _write_content(run: Run, node: CleanElement, content: Stack, href: str) -> None:
    """Write a link of more than one text."""
    inside = Run(run.inline, flat=True, in_link=True)
    inside.active = dict(run.active)
    inside.fill(content)
    taken = inside.take()
    _add(run, one_line(taken), href, node, taken.strip("\x01\x02\x03\x04\x05\x06"))


def _add(run: Run, text: str, href: str, node: CleanElement, raw: str) -> None:
    """Add the finished link, with spaces at the ends of its text outside it."""
    if raw[:1].isspace():
        run.text(" ")
    if text:
        run.atom(make_link(text, href, node.attr("title")))
    if raw[-1:].isspace():
        run.text(" ")


def make_link(text: str, href: str, title: str = "") -> str:
    """Return a link around finished text, without a title that only repeats the text or the URL."""
    if not title:
        return f"[{text}]({destination(href)})"
    title = " ".join(title.split())
    repeats = not title or title.casefold() == text.casefold() or title.replace(" ", "_") in href
    suffix = "" if repeats else link_title(title)
    return f"[{text}]({destination(href)}{suffix})"


def image(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write an image that links to itself, unless it is already in a link."""
    src = destination(node.attr("src"))
    if not src:
        return
    alt, title = _words(node.attr("alt")), _words(node.attr("title"))
    suffix = link_title(title) if alt and _adds_words(title, alt) else ""
    markdown = f"{BANG}[{escape(alt or title, in_link=True)}]({src}{suffix})"
    run.atom(markdown if run.in_link else f"[{markdown}]({src})")


def _words(text: str) -> str:
    return clean(" ".join(text.split())) if text else ""


def _adds_words(title: str, alt: str) -> bool:
    """Return whether an image's title says more than its alternative text: not the name of a file, nor the same again."""
    return title.casefold() not in alt.casefold() and _FILE_NAME.fullmatch(title) is None


_LABEL: Final = compile_lazily(r"[^\w-]+")


def footnote_label(fragment: str) -> str:
    """Return the label of a footnote: `1` for `#fn-1` and `fn-1`."""
    return _LABEL.sub("-", fragment.removeprefix("#").removeprefix("fn-"))


def complete_notes(tree: CleanTree) -> frozenset[str]:
    """Return the labels of the footnotes that have both a text and a reference."""
    sections = [node for node in tree.tagged.get("section", ()) if "footnotes" in node.attr("class").split()]
    notes = [item for node in sections for item in find_all(node, ("li",)) if "id" in item.attributes]
    texts = {footnote_label(note.attr("id")) for note in notes}
    if not texts:
        return frozenset()
    references = {
        footnote_label(link.attr("href")) for node in tree.tagged.get("sup", ()) for link in _note_links(node)
    }
    return frozenset((texts & references) - {""})


def _note_links(node: CleanElement) -> list[CleanElement]:
    """Return the links in a superscript that refers to a footnote."""
    if "footnote-ref" not in node.attr("class"):
        return []
    return [link for link in find_all(node, ("a",)) if "href" in link.attributes]


def footnote_reference(run: Run, node: CleanElement) -> bool:
    """Write `[^1]` if the superscript refers to a complete footnote; return whether it does."""
    links = [] if run.in_link else _note_links(node)
    label = footnote_label(links[0].attr("href")) if links else ""
    if label not in run.inline.notes:
        return False
    run.atom(f"[^{label}]")
    return True

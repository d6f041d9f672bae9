"""Write the inline elements: one function per element, the table of all, and links, images and scripts.

Raised and lowered digits, signs and single letters become Unicode characters (`x²`, `H₂O`, `Aᵀ`). Letters after a digit and
trade marks are written as they are (`1st`, `AcmeTM`). Anything else is written as in TeX: `x_max`, `2^(n+1)`. `~x~` is not
an option: GitHub strikes it through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pagekeep.markdown.inline.escape import BANG, clean, destination, escape, escape_first, link_title
from pagekeep.markdown.inline.run import EM, ENDS, SIGNS, STRIKE, STRONG, Action, Run, Stack, one_line, only_text
from pagekeep.model.clean_tree import CleanElement, CleanTree, find_all, text_of
from pagekeep.text import compile_lazily


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


def image(run: Run, node: CleanElement, stack: Stack) -> None:
    """Write an image that links to itself, unless it is already in a link."""
    src = destination(node.attr("src"))
    if not src:
        return
    alt, title = _words(node.attr("alt")), _words(node.attr("title"))
    suffix = link_title(title) if alt and _adds_words(title, alt) else ""
    markdown = f"{BANG}[{escape(alt or title, in_link=True)}]({src}{suffix})"
    run.atom(markdown if run.in_link else f"[{markdown}]({src})")


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

_FILE_NAME: Final = compile_lazily(r"\S*[_\d.]\S*")
"""A title without spaces, such as `IMG_2034` or `harbour.jpg`, which programs write by themselves."""


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


_SUPER: Final = dict(
    zip(
        "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW*°′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ*°′",
        strict=True,
    )
)
_SUB: Final = dict(zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_MAX_CHARS: Final = 24
"""A longer script is a text that the page only shows smaller."""


def write_superscript(text: str, before: str) -> str | None:
    """Return the superscript as plain text after `before`, or None to write it as it is."""
    if text.isalpha() and (before.isdigit() or (len(text) == 2 and text.isupper())):
        return text
    return _write_raised(text, before, _SUPER, "^")


def write_subscript(text: str, before: str) -> str | None:
    """Return the subscript as plain text after `before`, or None to write it as it is."""
    return _write_raised(text, before, _SUB, "_")


def _write_raised(text: str, before: str, table: dict[str, str], sign: str) -> str | None:
    if not text or len(text) > _MAX_CHARS or not (before.isalnum() or before in ")]}"):
        return None
    letters = sum(map(str.isalpha, text))
    if letters < 2 and all(char in table for char in text):
        return "".join([table[char] for char in text])
    if not any(map(str.isalnum, text)) or not before:
        return None
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"

"""Callouts: notes, tips and warnings of every documentation tool in one form."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    HEADINGS,
    CleanState,
    Removals,
    class_names,
    fill,
    first_elements,
    is_blank,
    shown_before,
)
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

_CLASS_PARTS: Final = (
    "alert", "allout", "dmon", "hint", "notice", "notecard", "custom-block", "custom-container", "starlight-aside", "message",
    "blockquote-tag", "information-macro",
)  # fmt: skip
_ASIDES: Final = frozenset("div aside section blockquote details p table figure article".split())
_PAIRS: Final = (
    "note note info info tip tip hint tip success success check success done success important important warning "
    "warning warn warning attention warning caution caution danger danger error danger failure danger bug bug "
    "example example quote quote question question help question faq question abstract abstract summary abstract "
    "tldr abstract todo todo seealso info see-also info primary note secondary note advice tip idea tip critical "
    "danger alert warning default note definition note deprecated warning experimental warning versionadded info "
    "versionchanged info information info warnung warning achtung warning hinweis note tipp tip attention warning "
    "notable important cautionary caution severe danger fail danger failed danger missing danger"
).split()
_KINDS: Final = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""What pages call a callout, and the kind it becomes."""
_KIND_OF_CLASS: Final = compile_lazily(
    r"(?:[a-z0-9]+-)*?(?:alert|admonition|callout|hint|notices?|custom-block|starlight-aside|is|message|style|type|"
    r"blockquote-tag|information-macro|notecard)[-_]{1,2}([a-z-]+?)(?:__\w+|_\w{4,8})?"
)
_KIND_ATTRIBUTES: Final = (
    "data-callout",
    "data-callout-type",
    "data-admonition-type",
    "data-type",
    "data-variant",
    "data-kind",
)
_NAMES: Final = frozenset(("callout", "admonition", "theme-admonition"))
"""Classes of a callout, whatever its kind."""
_FAMILIES: Final = frozenset(
    "alert callout admonition admonitionblock admon hint notice notices notecard message blockquote-tag custom-block "
    "custom-container".split()
)
"""Classes beside which the bare name of a kind is one."""
_BARE: Final = frozenset(("note", "warning", "tip", "caution", "important", "danger"))
"""Kinds that are also the class of a box without any other sign of a callout."""
_MAX_BARE_CHARS: Final = 2_000
_SIGNS: Final = {
    **dict.fromkeys("⚠🚧", "warning"),
    **dict.fromkeys("🚫🛑⛔❌", "danger"),
    **dict.fromkeys("ℹ📘", "info"),
    "❗": "important",
    "✅": "success",
}
"""Icons whose meaning is clear, for callouts that do not name their kind."""
_WORDS: Final = compile_lazily(r"[A-Z]?[a-z]+")
_TITLE_WORDS: Final = frozenset(("title", "heading", "header", "label"))
_PART_WORDS: Final = _TITLE_WORDS | frozenset(
    "content body icon inner text link fold emoji container image button close list item".split()
)
"""Last words in the classes of parts of a callout."""
_LETTER: Final = compile_lazily(r"\w")
_MAX_HEAD_ELEMENTS: Final = 16
"""First elements of a callout that may be its title and icon."""
_MAX_TITLE_CHARS: Final = 200
"""A longer first line is text of the callout."""
_ICONS: Final = ".callout-fold,.callout-icon,.admonition-icon,[class*=admonitionIcon],td.icon"
_MAX_LABEL_DEPTH: Final = 2
"""Elements of a callout that may be its first word in bold."""
_MAX_ICON_CHARS: Final = 8
"""Characters of an emoji with its joiners."""
_LABEL_TAGS: Final = frozenset({"strong", "b", *HEADINGS})
"""What the name of a box is written in."""


def mark_callouts(state: CleanState) -> list[Removal]:
    """Turn notes, tips and warnings into quotes that carry their kind and title."""
    removals = Removals(state.changes)
    selectors = [state.index.class_selector(_CLASS_PARTS), "details[class]" if state.index.has_tag("details") else ""]
    selectors += [f".{name}" for name in state.index.find_names(_BARE)]
    selector = ",".join(filter(None, selectors))
    for node in dom.select(state.root, selector) if selector else ():
        if (node.tag not in _ASIDES and "-" not in node.tag) or node.parent is None or _is_part(node):
            continue
        kind = _kind(node) or _labelled_kind(node) or _titled_kind(node)
        if kind and not _is_only_around(node):
            _write(node, kind, removals)
    return removals


def _kind(node: dom.Element) -> str:
    """Return the kind of callout; empty if the element is not one."""
    declared = (node.attr("data-callout") or "").strip().lower()
    if declared:
        return _KINDS.get(declared, "note")
    names = [name.lower() for name in class_names(node)]
    for name in names:
        match = _KIND_OF_CLASS.fullmatch(name)
        if match and match.group(1) in _KINDS:
            return _KINDS[match.group(1)]
    if node.tag == "details" or any(name in _FAMILIES or name.endswith("hint") for name in names):
        for name in names:
            if name in _KINDS and name not in ("alert", "hint", "default", "primary", "secondary"):
                return _KINDS[name]
    if "hint" in names and "hint" not in names[1:]:
        return "tip" if len(names) == 1 else ""
    if _NAMES.isdisjoint(names) and not (_find_sign(node) and any("callout" in _words(name) for name in names)):
        return ""
    named = (_KINDS.get((node.attr(name) or "").strip().lower()) for name in _KIND_ATTRIBUTES)
    return next(filter(None, named), None) or _SIGNS.get(dom.text_of(node).lstrip()[:1], "") or "note"


def _labelled_kind(node: dom.Element) -> str:
    """Return the kind of a box that has only the name of it as class, when its first line says the same."""
    if len(dom.text_of(node)) > _MAX_BARE_CHARS:
        return ""
    last_words = (name.rpartition("-")[2].lower() for name in class_names(node))
    kind = next((_KINDS[word] for word in last_words if word in _BARE), "")
    head = first_elements(node, _MAX_HEAD_ELEMENTS) if kind else []
    label = next((part for part in head if _is_title(part) or part.tag in _LABEL_TAGS), None)
    is_first = label is not None and dom.text_of(node).strip().startswith(dom.text_of(label).strip())
    return kind if label is not None and is_first and _repeats(dom.text_of(label), kind) else ""


def _titled_kind(node: dom.Element) -> str:
    """Return the kind that the title of an alert or callout names, when no class does."""
    if not any("alert" in name or "callout" in name.lower() for name in class_names(node)):
        return ""
    head = first_elements(node, _MAX_HEAD_ELEMENTS) if len(dom.text_of(node)) <= _MAX_BARE_CHARS else []
    title = next((part for part in head if _is_title(part)), None)
    kind = _KINDS.get(dom.text_of(title).strip(" :!\n").lower(), "") if title is not None else ""
    return (
        kind if kind and title is not None and dom.text_of(node).strip().startswith(dom.text_of(title).strip()) else ""
    )


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _is_part(node: dom.Element) -> bool:
    """Return whether this is the title, icon or body of a callout."""
    names = class_names(node)
    return (_NAMES | _FAMILIES).isdisjoint(names) and any(_names_part(name, _PART_WORDS) for name in names)


def _names_part(name: str, parts: frozenset[str]) -> bool:
    """Return whether a class such as `callout-title`, `starlight-aside__title` or `admonitionHeading_x1` names a part."""
    for form in (name, name.rpartition("__")[0]):  # with and without what a tool adds to make it unique
        words = _words(form)
        if len(words) > 1 and (words[-1] in parts or words[1] in parts):
            return True
    return False


def _is_only_around(node: dom.Element) -> bool:
    """Return whether the element only wraps a callout, which is marked itself."""
    shown = [child for child in node.children if not is_blank(child)]
    inner = shown[0] if len(shown) == 1 else None
    return isinstance(inner, dom.Element) and inner.tag in _ASIDES and not _is_part(inner) and bool(_kind(inner))


def _write(node: dom.Element, kind: str, removals: Removals) -> None:
    title = _take_title(node, kind)
    for part in first_elements(node, _MAX_HEAD_ELEMENTS):
        if dom.matches(part, _ICONS):
            removals.drop(part, "icon of a callout")
    if (sign := _find_sign(node)) is not None:
        removals.drop(sign, "icon of a callout")
    _drop_label(node, kind)
    body = _body(node)
    if body is not node:
        around = list(node.children)
        fill(node, *body.children)
        removals.record_words(around, "text outside the body of a callout")
    if title and all(is_blank(child) for child in node.children):
        fill(node, dom.element("p", None, title))
        title = ""
    # In place: moving the content into a new element costs a walk through all of it, at every level of a nest.
    dom.retag(node, "blockquote")
    dom.set_attr(node, "data-callout", None)
    for name, value in (("class", "callout"), ("data-callout", kind), ("data-title", title or None)):
        dom.set_attr(node, name, value)


def _drop_label(node: dom.Element, kind: str) -> None:
    """Remove a bold first word that only repeats the kind: "Note:"."""
    label = next((part for part in first_elements(node, _MAX_LABEL_DEPTH) if part.tag in ("strong", "b")), None)
    if label is None or label.parent is None or shown_before(label) is not None:
        return
    if label.parent is not node and shown_before(label.parent) is not None:
        return
    if _repeats(dom.text_of(label), kind):
        after = label.next_sibling
        dom.drop(label)
        if isinstance(after, dom.Text):
            dom.replace(after, after.data.lstrip(" :\u00a0\n"))


def _repeats(text: str, kind: str) -> bool:
    """Return whether a title is only another name of the kind."""
    name = text.strip(" :!\n").lower()
    return name == kind or _KINDS.get(name) == kind


def _find_sign(node: dom.Element) -> dom.Element | None:
    """Return the box at the beginning of a callout that has only an emoji or a drawing."""
    first = next((child for child in node.children if not is_blank(child)), None)
    if (
        not isinstance(first, dom.Element)
        or first.tag not in ("div", "span", "svg", "i")
        or not dom.next_element(first)
    ):
        return None
    text = dom.text_of(first).strip()
    if not text and first.tag != "svg" and dom.first(first, "svg,i") is None:
        return None
    is_sign = len(text) <= _MAX_ICON_CHARS and not _LETTER.search(text) and dom.first(first, "img,pre,table") is None
    return first if is_sign else None


def _body(node: dom.Element) -> dom.Element:
    """Return what holds the callout's words: the cell beside the icon in a table, else the callout itself."""
    return next(
        (
            part
            for part in first_elements(node, _MAX_HEAD_ELEMENTS)
            if part.tag == "td" and "content" in class_names(part)
        ),
        node,
    )


def _is_title(part: dom.Element) -> bool:
    """Return whether the element is the title line of a callout."""
    names = class_names(part)
    return part.tag == "summary" or "title" in names or any(_names_part(name, _TITLE_WORDS) for name in names)


def _take_title(node: dom.Element, kind: str) -> str:
    """Detach the title line and return its text; empty if it only repeats the kind."""
    title = next((part for part in first_elements(node, _MAX_HEAD_ELEMENTS) if _is_title(part)), None)
    if title is None:
        return ""
    for icon in dom.select(
        title, ".callout-icon,.icon,[class*=sr-only],[class*=screen-reader],[class*=visually-hidden]"
    ):
        dom.drop(icon)
    text = " ".join(dom.text_of(title).split())
    if len(text) > _MAX_TITLE_CHARS or dom.first(title, "img,pre,table,ul,ol") is not None:
        return ""
    dom.drop(title)
    return "" if _repeats(text, kind) else text

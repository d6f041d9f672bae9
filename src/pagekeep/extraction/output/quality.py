"""Quality: score the result, and check that no structure of the page was lost on the way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from pagekeep import dom
from pagekeep.extraction.clean import Changes
from pagekeep.extraction.clean.formulas import find_formulas, find_image_source
from pagekeep.extraction.clean.images import is_emoji
from pagekeep.extraction.clean.state import ancestors
from pagekeep.extraction.locate import strategies
from pagekeep.model import Check, Colour, Metadata, PageWarning, Quality, QualityLevel, Strategy
from pagekeep.text import compile_lazily, number_of
from pagekeep.values import dataclass

__all__ = [
    "KINDS",
    "NOT_COMPARED",
    "Arrived",
    "Comparison",
    "Counts",
    "Expected",
    "Output",
    "Structure",
    "StructureKind",
    "assess",
    "compare",
    "count_in_clean",
    "discarded",
    "expect",
    "find_unwritten",
    "record",
    "squeeze",
    "top_of",
    "unassessed",
]


_PARAGRAPHS: Final = tuple("p blockquote pre li".split())

_LEVELS: Final[dict[Strategy, QualityLevel]] = {
    "readability": "article",
    "simplified": "simplified",
    "full_page": "simplified",
    "bookmark": "bookmark",
    "verbatim": "article",
    "document": "article",
    "discarded": "discarded",
}
"""The best level that a strategy's result can have."""
_COLOURS: Final[dict[QualityLevel, Colour]] = {
    "article": "green",
    "simplified": "yellow",
    "bookmark": "orange",
    "discarded": "grey",
}
_MAX_CUT_SCORE: Final = 50
"""The highest score of a page whose end was left out: how much is missing is not known."""

_DECISIVE: Final = ("whole_page", "nothing_lost")
"""Checks that an article must pass."""
_CUT: Final = "the page is too large: its end was left out"
_MIN_WORDS: Final = 100
_MIN_PARAGRAPHS: Final = 2
_MIN_TEXT_SHARE: Final = 0.25
"""Share of text in the content's HTML; below it the content is mostly markup."""
_MAX_LINK_SHARE: Final = 0.3
"""Share of text in links; above it the content is mostly navigation."""


@dataclass(frozen=True, slots=True)
class Output:
    """The content in all its forms."""

    root: dom.Element
    """The tree of the clean HTML."""
    html: str
    text: str
    markdown: str
    word_count: int


def assess(
    output: Output,
    strategy: Strategy,
    metadata: Metadata,
    reason: str | None,
    comparison: Comparison,
    *,
    is_cut: bool = False,
) -> Quality:
    """Return the score, level and checks of one result; `reason` is why extraction failed, for a bookmark.

    `is_cut` says that the end of the page was left out because it is too large. An article that scores too low or lost
    something is only `simplified`, for the reason given.
    """
    blocks, words = len(dom.tagged(output.root, strategies.BLOCKS)), output.word_count
    points = strategies.score(has_title=bool(metadata.title), words=words, blocks=blocks, text=output.text)
    if is_cut:
        points = min(points, _MAX_CUT_SCORE)
    checks = _checks(output, metadata, comparison, is_cut)
    level = _LEVELS[strategy]
    if level == "article":
        faults = [check.reason for check in checks if not check.passed and check.name in _DECISIVE]
        faults += (
            [f"it scores {points} of 100, under {strategies.GOOD_SCORE}"] if points < strategies.GOOD_SCORE else []
        )
        level, reason = ("simplified", "; ".join(faults)) if faults else (level, reason)
    return Quality(points, level, _COLOURS[level], _message(level, output.word_count), checks, reason)


def discarded(reason: str) -> Quality:
    """Return the quality of a page that a rule discards."""
    return Quality(0, "discarded", _COLOURS["discarded"], "Discarded by a rule", (), reason)


def unassessed(strategy: Strategy) -> Quality:
    """Return the quality of a result that could not be assessed: nothing is claimed about it."""
    level = _LEVELS[strategy]
    level = "simplified" if level == "article" else level
    return Quality(0, level, _COLOURS[level], _message(level, 0), (), "its quality could not be assessed")


def _message(level: QualityLevel, words: int) -> str:
    if level == "article":
        return f"Article captured ({number_of(words, 'word')})"
    return "Article captured (simplified)" if level == "simplified" else "Saved as bookmark - extraction failed"


def _checks(output: Output, metadata: Metadata, comparison: Comparison, is_cut: bool) -> tuple[Check, ...]:
    paragraphs = len(dom.tagged(output.root, _PARAGRAPHS))
    characters = len(output.text)
    density = characters / len(output.html) if output.html else 0.0
    linked = sum(len(dom.text_of(link)) for link in dom.select(output.root, "a"))
    link_density = min(1.0, linked / characters) if characters else 0.0
    in_links = f"{link_density:.0%} of the text is in links"
    known = [name for name in ("title", "author", "published") if getattr(metadata, name)]
    return (
        Check("words", output.word_count > _MIN_WORDS, number_of(output.word_count, "word")),
        Check("paragraphs", paragraphs > _MIN_PARAGRAPHS, number_of(paragraphs, "paragraph")),
        Check("text_density", density > _MIN_TEXT_SHARE, f"{density:.0%} of the content's HTML is text"),
        Check("link_density", link_density < _MAX_LINK_SHARE, in_links),
        Check("metadata", "title" in known and len(known) > 1, f"known: {', '.join(known) or 'nothing'}"),
        Check("whole_page", not is_cut, _CUT if is_cut else "the whole page was read"),
        Check("nothing_lost", comparison.passed, comparison.text),
    )


_CHUNK_CHARS: Final = 12
_MIN_CHUNK_SHARE: Final = 0.3
"""Share of a structure's text that must be left of it: line numbers, buttons and marks between its words are removed."""
_MAX_NESTING: Final = dom.MAX_DEPTH + 10
"""Levels between a structure and the content's root, or a removed element around it."""
_FORMULAS: Final = "span.math-inline,div.math-block"


StructureKind = Literal["code blocks", "tables", "lists", "images", "math"]

KINDS: Final[dict[str, StructureKind]] = {
    "pre": "code blocks",
    "table": "tables",
    "ul": "lists",
    "ol": "lists",
    "img": "images",
}
"""The structures that are found by their tag; formulas have many forms."""


_STRUCTURES: Final = f"{','.join(KINDS)},.math-inline,.math-block"
_IN_PART: Final = "the page has more code, tables, lists and images than are compared; the others are all there"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of the loss check."""

    lost: tuple[str, ...] = ()
    """What was lost, in words."""
    unknown: str | None = None
    """What was not compared, if anything."""
    note: str = "code, tables, lists, images, math and links are all there"
    """What is claimed when nothing was lost and everything was compared."""
    warnings: tuple[PageWarning, ...] = ()
    """What the clean-up removed by design."""

    @property
    def passed(self) -> bool:
        """Return whether everything was compared and nothing was lost."""
        return not self.lost and self.unknown is None

    @property
    def text(self) -> str:
        """Return what was lost, else what was not compared, else that everything is there."""
        return "; ".join(self.lost) or self.unknown or self.note


NOT_COMPARED: Final = Comparison(unknown="nothing was compared with the page")


def compare(expected: Expected, content: dom.Element, changes: Changes, root: dom.Element, markdown: str) -> Comparison:
    """Look for what is expected in the cleaned content and in the clean HTML, and for everything of that in the Markdown.

    `changes` are what rules and clean-up did to the content on purpose.
    """
    counts = Counter([structure.kind for structure in (*expected.structures, *expected.vanished)])
    lost = Counter(structure.kind for structure in expected.vanished)
    lost.update(_find_lost(expected, content, changes, root))
    words = [f"{lost[kind]} of {max(lost[kind], counts[kind])} {kind} lost" for kind in lost]
    had = _count_kinds(content)
    has = had if root is content else _count_kinds(root)
    words += [f"{had[kind] - has[kind]} of {had[kind]} {kind} lost" for kind in had if has[kind] < had[kind]]
    words += find_unwritten(root, markdown)
    unknown = None if expected.is_complete else _IN_PART
    return Comparison(tuple(dict.fromkeys(words)), unknown, warnings=_report_reduced(counts, has))


def _report_reduced(counts: Counter[StructureKind], clean: Counter[StructureKind]) -> tuple[PageWarning, ...]:
    """Return a warning with what the clean-up left of each kind, when it removed some by design."""
    less = [
        f"{clean[kind]} of {count} {kind}" for kind, count in counts.items() if kind != "math" and clean[kind] < count
    ]
    text = f"the clean-up kept {', '.join(less)}; what showed nothing or only laid out the page was removed"
    return (PageWarning("reduced", text),) if less else ()


def _find_lost(
    expected: Expected, content: dom.Element, changes: Changes, root: dom.Element
) -> Iterator[StructureKind]:
    """Yield the kind of all that is expected, or was made of it, and is neither in the content nor removed on purpose."""
    present = set(dom.select(content, _STRUCTURES))
    missing = [structure for structure in expected.structures if structure.node not in present]
    formulas: Counter[str] | None = None
    known = {structure.node for structure in missing}
    for structure in missing:
        if structure.kind == "math":
            if formulas is None:
                formulas = Counter(squeeze(dom.text_of(node)) for node in dom.select(root, _FORMULAS))
            is_kept = _take(formulas, structure)
        else:
            is_kept = _is_below(structure.node, content, changes.removed) or _is_kept_in_another_form(
                structure, changes, root
            )
        if not is_kept:
            yield structure.kind
    for node in changes.made:
        is_gone = node not in present and node not in known and not _is_below(node, content, changes.removed)
        if is_gone and dom.text_of(node).strip():  # without text it was taken apart
            yield KINDS.get(node.tag, "math")


def _is_kept_in_another_form(structure: Structure, changes: Changes, root: dom.Element) -> bool:
    """Return whether a structure that is no longer there was an emoji, or was taken apart and its text is there.

    What was in it may also have been removed on purpose, such as buttons and tooltips.
    """
    if structure.is_intact:
        return structure.kind == "images" and is_emoji(structure.node)
    if structure.node in changes.reduced:
        return True
    text = squeeze(dom.text_of(root))
    return structure.start in text or _has_much_of(text, structure.start)


def _take(formulas: Counter[str], structure: Structure) -> bool:
    """Take the formula out of those of the result; return whether it is there, alone or in an equation of several."""
    if formulas[structure.start] > 0:
        formulas[structure.start] -= 1
        return True
    return not structure.start or any(structure.start in formula for formula in formulas)


def _is_below(node: dom.Node, content: dom.Element, removed: Collection[dom.Node]) -> bool:
    """Return whether the node is still in the content, under another tag, or in something that was removed on purpose."""
    above: dom.Node | None = node
    for _ in range(_MAX_NESTING):
        if above is None or above is content or above in removed:
            break
        above = above.parent
    return above is not None


def _has_much_of(text: str, start: str) -> bool:
    """Return whether a text has much of a structure, without what the clean-up removes between its words."""
    if len(start) < 2 * _CHUNK_CHARS:
        return False
    chunks = [start[place : place + _CHUNK_CHARS] for place in range(0, len(start) - _CHUNK_CHARS + 1, _CHUNK_CHARS)]
    return sum(chunk in text for chunk in chunks) >= _MIN_CHUNK_SHARE * len(chunks)


def _count_kinds(tree: dom.Element) -> Counter[StructureKind]:
    return Counter([KINDS[node.tag] for node in dom.tagged(tree, tuple(KINDS))])


_WITHOUT_TEXT: Final = ("images", "math")
_ARRIVED_FORMULAS: Final = ("math", "mjx-container", "script", "tex-math", "mml:math", "m:math")
_LANDMARKS: Final = ("p", "h1", "h2", "h3", "h4", "h5", "h6")
"""Elements that show where on the page something was."""
_RECORDED: Final = (*KINDS, *_ARRIVED_FORMULAS, *_LANDMARKS)
_FORMULA_LEVELS: Final = 4
"""Levels between a formula and a drawing of it."""
_START_CHARS: Final = 160
"""Characters, without white space, from which a structure that was taken apart is recognised."""
_READ_CHARS: Final = 4 * _START_CHARS
"""Characters that are read for them: code and tables are indented."""
_MAX_CHARS: Final = 20_000_000
"""Characters of text in the content's structures together: nested ones are read several times, which is bounded here."""


class Structure(NamedTuple):
    """A code block, table, list, image or formula of the page."""

    kind: StructureKind
    node: dom.Element
    parent: dom.Node | None
    """The element that it was in."""
    start: str = ""
    """Of a formula its TeX; of others the beginning of the text without white space, once they are cut out."""

    @property
    def is_intact(self) -> bool:
        """Return whether its content is still in it, wherever it is now; it is not when it was taken apart."""
        return self.kind == "images" or bool(dom.text_of(self.node).strip())


class Arrived(NamedTuple):
    """The structures of the page as it arrived."""

    structures: list[Structure]
    order: list[dom.Element]
    """They, paragraphs and headings in document order."""


class Expected(NamedTuple):
    """The structures that belong to the content, which must be in the result."""

    structures: list[Structure]
    vanished: list[Structure]
    """Those of them that were gone before the content was cut out, though no step recorded a removal."""
    is_complete: bool
    """Whether all of them were looked at, whatever their number and length."""


def squeeze(text: str) -> str:
    """Return the text without white space."""
    return "".join(text.split())


def record(body: dom.Element) -> Arrived:
    """Note all structures of the page. Call it before anything changes the page."""
    order = dom.tagged(body, _RECORDED)
    structures: list[Structure] = []
    may_have_formulas = False
    for node in order:
        kind = KINDS.get(node.tag)
        if kind is not None:
            structures.append(Structure(kind, node, node.parent))
            if kind == "images" and not may_have_formulas:
                may_have_formulas = find_image_source(node) is not None
        elif node.tag in _ARRIVED_FORMULAS and (node.tag != "script" or (node.attr("type") or "").startswith("math/")):
            may_have_formulas = True
    if may_have_formulas:
        structures = _with_formulas(body, structures)
    return Arrived(structures, order)


def _with_formulas(body: dom.Element, structures: list[Structure]) -> list[Structure]:
    """Return the structures with formulas; images that are part of a formula are left out."""
    formulas = {node: squeeze(tex) for node, tex in find_formulas(body)}
    found = [Structure("math", node, node.parent, tex) for node, tex in formulas.items()]
    for structure in structures:
        node = structure.node
        if node.tag == "img" and any(above in formulas for above in ancestors(node, _FORMULA_LEVELS)):
            continue
        tex = find_image_source(node) if node.tag == "img" else None
        found.append(Structure("math", node, structure.parent, squeeze(tex)) if tex else structure)
    return found


def expect(arrived: Arrived, content: dom.Element, root: dom.Node, removed: Collection[dom.Node]) -> Expected:
    """Return which structures belong to the content.

    `content` is what was cut out, `root` the element it was cut out of, and `removed` what was removed from the page with a
    reason: navigation, share bars, what rules remove. A formula stays expected when it was hidden or removed by a rule,
    because some sites show only a drawing of it.
    """
    cut_out = set(dom.tagged(content, tuple(KINDS)))
    attached = set(dom.tagged(top_of(root), tuple(KINDS)))
    tops: dict[dom.Node, dom.Node] = {}
    surroundings = _Surroundings(arrived.order, content, tops)
    expected: list[Structure] = []
    vanished: list[Structure] = []
    chars_left = _MAX_CHARS
    for structure in arrived.structures:
        node = structure.node
        if node in cut_out:
            text = dom.text_of(node) if structure.kind != "images" and chars_left > 0 else ""
            chars_left -= len(text)
            if structure.kind in _WITHOUT_TEXT:
                expected.append(structure)
            elif start := squeeze(text[:_READ_CHARS])[:_START_CHARS]:  # else all of it was removed with a reason
                expected.append(structure._replace(start=start))
        elif node not in attached:
            top = _find_top(node, tops)
            if top is content:
                expected.append(structure)
            elif _is_vanished(structure, top, removed) and _was_in(structure, content, root, surroundings):
                vanished.append(structure)
    return Expected(expected, vanished, chars_left > 0)


def _is_vanished(structure: Structure, top: dom.Node, removed: Collection[dom.Node]) -> bool:
    """Return whether a structure that is no longer on the page was not removed on purpose, nor only taken apart."""
    return top not in removed and not isinstance(top, dom.Document) and structure.is_intact


def _find_top(node: dom.Node, tops: dict[dom.Node, dom.Node]) -> dom.Node:
    """Return the outermost node around this one; `tops` are those already found, so that no node is passed twice."""
    passed = [node]
    while (above := node.parent) is not None:
        if (known := tops.get(above)) is not None:
            node = known
            break
        passed.append(above)
        node = above
    tops.update(dict.fromkeys(passed, node))
    return node


class _Surroundings:
    """What was around each structure on the page, found for all of them at once when it is first asked for."""

    def __init__(self, order: list[dom.Element], content: dom.Element, tops: dict[dom.Node, dom.Node]) -> None:
        self._order = order
        self._content = content
        self._tops = tops
        self._between: set[dom.Node] | None = None

    def are_content(self, node: dom.Element) -> bool:
        """Return whether the nearest elements before and after this one that are still somewhere are in the content."""
        if self._between is None:
            self._between = self._follow(self._order) & self._follow(reversed(self._order))
        return node in self._between

    def _follow(self, nodes: Iterable[dom.Element]) -> set[dom.Node]:
        """Return the nodes which come after one of the content, with nothing of the rest of the page between them."""
        following: set[dom.Node] = set()
        in_content = False
        for node in nodes:
            if in_content:
                following.add(node)
            top = _find_top(node, self._tops)
            if top is self._content:
                in_content = True
            elif isinstance(top, dom.Document):
                in_content = False
        return following


def _was_in(structure: Structure, content: dom.Element, root: dom.Node, surroundings: _Surroundings) -> bool:
    """Return whether the structure was in the content: within it, or between two of its elements."""
    above: dom.Node | None = structure.parent
    while above is not None:
        if above is content or above is root:
            return True
        if isinstance(above, dom.Document):
            return False
        above = above.parent
    return surroundings.are_content(structure.node)


def top_of(node: dom.Node) -> dom.Node:
    while node.parent is not None:
        node = node.parent
    return node


_IN_CLEAN_HTML: Final = {
    "code blocks": "pre",
    "tables": "table:not(:has(pre,table))",
    "list items": "li",
    "images": "img",
    "math": "span.math-inline,div.math-block",
    "links": 'a[href]:not([href^="#"])',
    "footnotes": "section.footnotes > ol > li",
}
_TAGS: Final = {
    "code blocks": ("pre",),
    "tables": ("table",),
    "list items": ("li",),
    "images": ("img",),
    "math": ("span", "div"),
    "links": ("a",),
    "footnotes": ("section",),
}
"""The tags of each kind; a selector takes longer than counting them."""
_WRITTEN_AS_TEXT: Final = {
    "list items": ":is(td,th) li,section.footnotes > ol > li",
    "links": ":is(pre,code,kbd) a[href]",
}
"""What Markdown cannot express in that place, so that only its words are written."""
# Patterns for the start of a line begin with the line break, which is several times as fast to search for as `^`.
_FENCE: Final = compile_lazily(r"\n[ >\t]*(?:[-*+\d.)]+[ \t]+)*(`{3,}|~{3,})")
_FENCED: Final = compile_lazily(r"(\n[ >\t]*(?:[-*+\d.)]+[ \t]+)*)(`{3,}|~{3,}).*?\n[ >\t]*\2[ \t]*(?=\n)", re.S)
_TABLE_RULE: Final = compile_lazily(r"\n[ >\t]*(?:[-*+\d.)]+[ \t]+)*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?=\n)")
_ITEM_START: Final = compile_lazily(r"\n[ >\t]*((?:(?:[-*+]|\d+[.)])(?:[ \t>]+|(?=\n)))+)")
_NOTE: Final = compile_lazily(r"\n\[\^[^\]\n]+\]:")

Counts = Mapping[str, int]


def count_in_clean(root: dom.Element) -> Counts:
    """Count the pieces of each kind in the clean HTML that Markdown can express."""
    tags = Counter([node.tag for node in dom.elements(root)])
    counts = {kind: _count(root, css, [tags[tag] for tag in _TAGS[kind]]) for kind, css in _IN_CLEAN_HTML.items()}
    for kind, css in _WRITTEN_AS_TEXT.items():
        if counts[kind]:
            counts[kind] -= len(dom.select(root, css))
    return counts


def _count(root: dom.Element, css: str, tagged: list[int]) -> int:
    """Count what a selector finds; `tagged` are the numbers of elements by tag, which are the answer for a tag alone."""
    return len(dom.select(root, css)) if any(tagged) and not css.isalpha() else sum(tagged)


def find_unwritten(root: dom.Element, markdown: str) -> list[str]:
    """Return in words what the clean HTML has and the Markdown has not; empty when nothing is missing."""
    had = count_in_clean(root)
    has = _count_in_markdown(root, markdown, had)
    return [f"{had[kind] - has[kind]} of {had[kind]} {kind} lost" for kind in had if has[kind] < had[kind]]


def _count_in_markdown(root: dom.Element, markdown: str, had: Counts) -> Counts:
    """Count the kinds that the clean HTML has in the Markdown."""
    markdown = f"\n{markdown}\n"
    fences = len(_FENCE.findall(markdown)) // 2 if had["code blocks"] else 0
    if fences:
        markdown = _FENCED.sub(r"\1", markdown)
    return {
        "code blocks": fences,
        "tables": len(_TABLE_RULE.findall(markdown)) if had["tables"] else 0,
        "list items": _count_items(markdown) if had["list items"] > 0 else 0,
        "images": markdown.count("!["),
        "math": _count_formulas(markdown) if had["math"] else 0,
        "links": _count_links(root, markdown, had) if had["links"] > 0 else 0,
        "footnotes": len(_NOTE.findall(markdown)) if had["footnotes"] else 0,
    }


def _count_items(markdown: str) -> int:
    """Count the marks of list items; several on a line begin nested lists."""
    return sum(len(marks.replace(">", " ").split()) for marks in _ITEM_START.findall(markdown))


def _count_formulas(markdown: str) -> int:
    markdown = markdown.replace("\\$", "")
    blocks = markdown.count("$$")
    return blocks // 2 + (markdown.count("$") - 2 * blocks) // 2


def _count_links(root: dom.Element, markdown: str, had: Counts) -> int:
    """Count the links other than those of images, which look the same; an empty one is not written and counts as kept."""
    targets = markdown.count("](") - markdown.count("\\](")
    images = had["images"]
    linked = len(dom.select(root, "a img")) if images else 0
    empty = len(dom.select(root, 'a[href]:not([href^="#"]):empty'))
    return targets - images - (images - linked) + empty

"""Exemptions: when an element that looks like boilerplate is content after all.

Layouts name the column of the article `content-sidebar-wrap`, old sites put the whole page in one form, and the text of a
closed accordion is hidden. So each reason has one record: how much of the page's text exempts an element, and which checks do.

Links and spans within a paragraph are named after their looks (`btn`, `nav-link`), their purpose (`promo-link`) or what a
script does with them (`popup`, `tooltip`). To leave one of them out would cut words out of the sentence.

Words such as `comment` or `copyright` in a name make an element suspect (`class_names`). Where a name of several words
describes what the element is about, and the element has prose, it is content after all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Reason
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.survey import HEADINGS, INLINE, PHRASING, TEXT, Sign, Survey, find_signs
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

_CONTENT_TAGS: Final = frozenset({"main", "article", "section", "li"})
_QUOTES: Final = frozenset({"blockquote"})
_FOLDABLE: Final = frozenset({"div", "section", "p", "ul", "ol", "dl", "dd"})
"""Elements that a title of an accordion opens."""
_MARK: Final = compile_lazily(r"[\[(]?\s?(?:\d{1,3}|[a-z]|[*†‡§]{1,3})\s?[\])]?", re.I)
"""The mark of a footnote."""
_CALLOUTS: Final = frozenset({"note", "warning", "tip", "caution", "important", "danger", "hint"})
"""Classes of an `aside` that is a callout."""
_NOTE_ROLES: Final = frozenset({"doc-footnote", "doc-endnote", "doc-endnotes"})
_FOLDED: Final = int(Sign.FOLDED)
_QUOTE: Final = int(Sign.QUOTE)

# The figures below, and the shares in the table, were chosen on one half of the 790 labelled pages and checked on the other.
# docs/extraction.md logs the gains in F1.

MIN_ARTICLE_CHARS: Final = 1_000
"""With at least this much prose outside the comments, the comments belong to an article, however long they are."""
MIN_NOSCRIPT_PAGE_CHARS: Final = 1_000
"""A `noscript` of at least this many characters is the whole page for browsers without scripts, as forums write it. Shorter
ones ask to enable JavaScript."""
MIN_FOOTER_PAGE_SHARE: Final = 0.9
"""Share of all text that a `footer` element needs to be content: the longest block may be a list of service areas
(2 pages, F1 +0.002 over all pages)."""
PARAGRAPH_CHARS: Final = 300
"""Characters that a byline, share bar or call to action never exceeds; a longer element has its name for another reason
(18 pages with calls to action, 33 with forms and bars)."""
MAX_BUTTON_CHARS: Final = 100
"""Characters up to which an element named a button is one; longer ones are cards that can be clicked."""
MAX_MENU_LINK_SHARE: Final = 0.3
"""An element with at least this share of its text in links is a menu."""
MIN_FOLD_TITLE_CHARS: Final = 15
"""Characters of the shortest button that is the title of an accordion; shorter ones say "More" or "Menu"."""
MAX_OPTION_CHARS: Final = 60
"""Characters of the longest option in a list of filters; a longer text is content (11 pages, F1 of collections +0.003)."""
OPENER_NODES: Final = 5
"""How many elements of an opener are searched for `aria-expanded`."""
TITLE_LEVELS: Final = 3
"""Boxes around a title of an accordion, at most, before the block it opens."""
NOTE_NODES: Final = 12
"""Nodes of an element that are searched for the first footnote in it."""
NEARBY_NODES: Final = 400
"""Nodes of an element that are searched for code or text: a bound on work."""


@dataclass(frozen=True, slots=True)
class Context:
    """What exemptions are decided on."""

    survey: Survey
    sentences: Sequence[int]
    """Characters of sentences in each subtree."""
    text: Sequence[int]
    """Characters in each subtree that count as content for this kind of page."""
    profile: Profile
    _note_names: list[frozenset[str]] = field(default_factory=list, repr=False)

    def find_note_names(self) -> frozenset[str]:
        """Return the places in the page that numbers and signs link to, which are footnotes; found on the first call."""
        if not self._note_names:
            names: set[str] = set()
            for index in self.survey.places.get("a", ()):
                link = self.survey.nodes[index]
                target = link.attr("href")  # type: ignore[attr-defined]
                if target and target[0] == "#" and _MARK.fullmatch(dom.text_of(link).strip()) is not None:
                    names.add(target[1:])
            self._note_names.append(frozenset(names))
        return self._note_names[0]

    def is_inside(self, index: int, tags: frozenset[str]) -> bool:
        """Return whether one of these elements is around the node."""
        return any(self.survey.tag[above] in tags for above in self.survey.ancestors(index))


Check = Callable[[Context, int], bool]


def _never(_page: Context, _index: int) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Exemption:
    """When an element suspected for one reason is content."""

    min_share: float = 0.3
    """An element with at least this share of the page's text is content."""
    by_sentences: bool = False
    """Whether the share of sentences must reach `min_share` too, because menus would pass for text
    (11 lists and collections, F1 +0.002 over all pages)."""
    covers_subtree: bool = False
    """Whether the reason is also ignored inside an exempt element: every comment of a thread is content."""
    unless: Check = _never
    """Exempts the element, whatever its share, if this holds."""
    by_tag: Check = _never
    """A suspicion because of the tag is ignored if this holds."""
    by_name: Check = _never
    """A suspicion because of the class or id is ignored if this holds."""
    by_attribute: Check = _never
    """A suspicion because of the role or a hiding attribute is ignored if this holds."""


def _is_section_header(page: Context, index: int) -> bool:
    """Return whether a header has the heading of a section, on pages where that is content."""
    return page.profile.keeps_headers and page.is_inside(index, _CONTENT_TAGS)


def _is_named_quote(page: Context, index: int) -> bool:
    return bool(page.survey.flags[index] & _QUOTE)


def _is_note(page: Context, index: int) -> bool:
    """Return whether the element is a footnote, or the box of some: a mark links to it, or its role says so."""
    survey = page.survey
    for node in survey.nodes[index : min(survey.end[index], index + NOTE_NODES)]:
        if isinstance(node, dom.Element):
            name = node.attr("id")
            if node.attr("role") in _NOTE_ROLES or (name is not None and name in page.find_note_names()):
                return True
    return False


def _is_quote_or_note(page: Context, index: int) -> bool:
    """Return whether an `aside` is a side note, a callout within the content, or a footnote."""
    node = page.survey.nodes[index]
    names = (node.attr("class") or "").lower().split() if isinstance(node, dom.Element) else ()
    if not _CALLOUTS.isdisjoint(names) and page.is_inside(index, _CONTENT_TAGS):
        return True
    return _is_named_quote(page, index) or _is_note(page, index)


def _is_source_or_notes(page: Context, index: int) -> bool:
    """Return whether a footer has the source of a quotation, or the footnotes of the article around it."""
    return page.is_inside(index, _QUOTES) or (page.is_inside(index, _CONTENT_TAGS) and _is_note(page, index))


def _has_no_text(page: Context, index: int) -> bool:
    """Return whether a `noscript` has only an image, which may be the only copy of it."""
    return not page.survey.chars[index]


def _is_script_notice(page: Context, index: int) -> bool:
    return page.survey.chars[index] < MIN_NOSCRIPT_PAGE_CHARS


def _is_beside_article(page: Context, index: int) -> bool:
    return page.sentences[0] - page.sentences[index] > MIN_ARTICLE_CHARS


def _is_footer_of_page(page: Context, index: int) -> bool:
    survey = page.survey
    return survey.tag[index] == "footer" and survey.chars[index] < MIN_FOOTER_PAGE_SHARE * survey.chars[0]


def _is_long_or_code(page: Context, index: int) -> bool:
    return page.survey.chars[index] > MAX_BUTTON_CHARS or _contains_code(page, index)


def _is_long_title_or_formula(page: Context, index: int) -> bool:
    if page.survey.chars[index] > MAX_BUTTON_CHARS or _is_fold_title(page, index):
        return True
    return "math" in page.survey.tag[index : min(page.survey.end[index], index + NEARBY_NODES)]


def _is_text_named_navigation(page: Context, index: int) -> bool:
    chars, linked = page.survey.chars[index], page.survey.linked[index]
    return linked < MAX_MENU_LINK_SHARE * chars and (chars > PARAGRAPH_CHARS or _contains_code(page, index))


def _is_paragraph_without_links(page: Context, index: int) -> bool:
    """Return whether a paragraph named "related" has no link, so that it is related to its own heading."""
    return page.survey.tag[index] == "p" and not page.survey.linked[index]


def _is_longer_than_paragraph(page: Context, index: int) -> bool:
    return page.survey.chars[index] - page.survey.linked[index] > PARAGRAPH_CHARS


def _is_callout(page: Context, index: int) -> bool:
    """Return whether an alert is a callout within the content, not a notice of the site outside it."""
    return page.is_inside(index, _CONTENT_TAGS) or _CONTENT_TAGS.isdisjoint(page.survey.places)


def _contains_code(page: Context, index: int) -> bool:
    """Return whether there is code inside: highlighters put it in a `code-toolbar`, or behind a `dropdown` of languages."""
    return "pre" in page.survey.tag[index : min(page.survey.end[index], index + NEARBY_NODES)]


def _is_title_of_code(page: Context, index: int) -> bool:
    """Return whether a `label` is the title of the code block after it, or a `fieldset` is the box of one."""
    if page.survey.tag[index] == "fieldset":
        return _contains_code(page, index)
    node = page.survey.nodes[index]
    after = dom.next_element(node) if page.survey.tag[index] == "label" else None
    return after is not None and after.tag == "pre"


def _contains_longer_text(page: Context, index: int) -> bool:
    """Return whether a text near the beginning is longer than an option to choose."""
    survey = page.survey
    nearby = range(index, min(survey.end[index], index + NEARBY_NODES))
    return any(survey.tag[inner] == TEXT and survey.chars[inner] > MAX_OPTION_CHARS for inner in nearby)


def _is_shown_later(page: Context, index: int) -> bool:
    """Return whether a hidden element is shown on demand: a folded part, a panel, or text right after its opener."""
    survey = page.survey
    node = survey.nodes[index]
    if survey.flags[index] & _FOLDED:
        return True
    if not isinstance(node, dom.Element):
        return False
    if node.attr("role") == "tabpanel":
        return True
    if survey.linked[index] >= MAX_MENU_LINK_SHARE * survey.chars[index]:
        return False
    opener = dom.previous_element(node)
    return opener is not None and any(map(_opens, (opener, *islice(dom.elements(opener), OPENER_NODES))))


def _is_formula(page: Context, index: int) -> bool:
    """Return whether a hidden element is the source of a formula, of which the page shows a drawing."""
    survey = page.survey
    return not survey.chars[index] and "math" in survey.tag[index : min(survey.end[index], index + NEARBY_NODES)]


def _is_needed(page: Context, index: int) -> bool:
    """Return whether a hidden element is content: shown on demand, the source of a formula, a callout or a footnote."""
    if _is_named_quote(page, index) or _is_formula(page, index):
        return True
    return _is_shown_later(page, index) or _is_note(page, index)


def _is_formula_or_note(page: Context, index: int) -> bool:
    return _is_formula(page, index) or _is_note(page, index)


def _opens(node: dom.Element) -> bool:
    """Return whether the element opens and closes another."""
    return node.tag == "summary" or node.attr("aria-expanded") is not None or node.attr("aria-controls") is not None


def _is_fold_title(page: Context, index: int) -> bool:
    """Return whether a button is the title of an accordion: it opens the text, and it is the text's heading."""
    survey = page.survey
    node = survey.nodes[index]
    if survey.tag[survey.parent[index]] in HEADINGS or any(
        survey.tag[inner] in HEADINGS for inner in range(index, survey.end[index])
    ):
        return True
    if not isinstance(node, dom.Element) or survey.chars[index] < MIN_FOLD_TITLE_CHARS:
        return False
    controls, expanded = bool(node.attr("aria-controls")), bool(node.attr("aria-expanded"))
    return (controls and expanded) or ((controls or expanded) and _directly_precedes_block(node))


def _directly_precedes_block(node: dom.Element) -> bool:
    """Return whether the element is the only one of its kind directly before a block: one of several in a row is a tab."""
    above: dom.Node | None = node
    for _ in range(TITLE_LEVELS):
        if not isinstance(above, dom.Element) or dom.previous_element(above) is not None:
            return False
        after = dom.next_element(above)
        if after is not None:
            return after.tag in _FOLDABLE
        above = above.parent
    return False


_SMALL: Final = Exemption(by_name=_is_longer_than_paragraph)
"""For what is never longer than a paragraph."""

EXEMPTIONS: Final[dict[Reason, Exemption]] = {
    Reason.ALERT: Exemption(by_attribute=_is_callout),
    Reason.ASIDE: Exemption(0.4, by_sentences=True, by_tag=_is_quote_or_note, by_attribute=_is_note),
    Reason.BAR: _SMALL,
    Reason.BUTTON: Exemption(by_tag=_is_fold_title, by_name=_is_long_or_code, by_attribute=_is_long_title_or_formula),
    Reason.BYLINE: _SMALL,
    Reason.CALL_TO_ACTION: _SMALL,
    Reason.COMMENTS: Exemption(0.7, covers_subtree=True, unless=_is_beside_article),
    Reason.COOKIE_NOTICE: Exemption(0.95),
    Reason.DIALOG: Exemption(0.9),
    Reason.FILTERS: Exemption(0.6, by_name=_contains_longer_text),
    Reason.FOOTER: Exemption(0.9, by_sentences=True, unless=_is_footer_of_page, by_tag=_is_source_or_notes),
    Reason.FORM: Exemption(0.4, covers_subtree=True, by_tag=_is_title_of_code),
    Reason.HEADER: Exemption(0.4, by_sentences=True, by_tag=_is_section_header),
    Reason.HIDDEN: Exemption(by_name=_is_formula_or_note, by_attribute=_is_needed),
    Reason.HIDDEN_BY_CLASS: Exemption(by_name=_is_needed),
    Reason.MEMBER_CARD: _SMALL,
    Reason.NAVIGATION: Exemption(0.6, by_sentences=True, by_name=_is_text_named_navigation),
    Reason.NOSCRIPT: Exemption(unless=_is_script_notice, by_tag=_has_no_text),
    Reason.RELATED: Exemption(by_name=_is_paragraph_without_links),
    Reason.REVIEWS: Exemption(0.9, covers_subtree=True),
    Reason.SHARE: _SMALL,
    Reason.SIDEBAR: Exemption(covers_subtree=True),
    Reason.SMALL_PRINT: Exemption(0.95),
    Reason.TOOLTIP: _SMALL,
}
"""One record per reason. The shares are highest where even a long text is what the reason says: a cookie notice that is all a
page has is still a cookie notice. A dialog needs nine tenths because of long terms of sale (20 product pages, F1 +0.023)."""

DEFAULT_EXEMPTION: Final = Exemption()
"""For reasons without a record."""

_CONTROLS: Final = frozenset({"button", "label"})
"""Controls, which are words of a sentence only when there are words on both sides."""
_BREAKS: Final = frozenset({"br", "img"})
"""Inline elements that end a line; what is before a picture is not part of the words below it."""
_SCAN_NODES: Final = 60
"""Nodes of a line that are searched for words on either side, and nodes of an element that are checked: a bound on work."""
_MIN_WORDS: Final = 3
"""Words on one side, where there are none on the other: with fewer it is a label with a value, or an entry with a button."""
_LINES: Final = frozenset("p li dd td th blockquote h1 h2 h3 h4 h5 h6".split())
"""Blocks that hold one text; in others, what begins with a capital letter is another text than the element before it."""
_TEXT_WORD: Final = compile_lazily(r"\w+")
_ENDS_SENTENCE: Final = compile_lazily(
    r"[.!?\u2026\u3002\uff01\uff1f\u061f\u0964\u0589\u1362][\"'\u00bb\u201d\u2019)\]]*\s*$"
)
_ENDS_PART: Final = compile_lazily(r"[|\u00b7\u2022/\u2013\u2014\u00bb\u203a>\u2192-]\s*$")
_BEGINS_PART: Final = compile_lazily(r"\s*[|\u00b7\u2022/\u00ab\u2039<\u2190]")


def is_within_sentence(survey: Survey, index: int, suspicious: int) -> bool:
    """Return whether an inline element has words of the same sentence before it, after it, or both.

    Words of links and of elements with one of the `suspicious` signs make no sentence by themselves: a row of buttons is not
    a sentence.
    """
    tag = survey.tag[index]
    is_control = tag in _CONTROLS
    if tag not in PHRASING and not is_control and "-" not in tag:  # names of custom elements have a hyphen
        return False
    inside = survey.tag[index + 1 : min(survey.end[index], index + _SCAN_NODES)]
    if not survey.chars[index] or any(name not in INLINE for name in inside):
        return False
    line = _Line(survey, index, suspicious)
    before, after = line.read_before(), line.read_after()
    if not line.has_own_words or _ENDS_PART.search(before) or _BEGINS_PART.match(after):
        return False
    words_before, words_after = len(_TEXT_WORD.findall(before)), len(_TEXT_WORD.findall(after))
    if words_before and words_after:
        return words_before + words_after > 1
    if is_control:
        return False
    if words_before >= _MIN_WORDS and not _ENDS_SENTENCE.search(before):
        return True
    return words_after >= _MIN_WORDS and (survey.tag[line.block] in _LINES or not after.lstrip()[:1].isupper())


class _Line:
    """The line of text around an inline element."""

    def __init__(self, survey: Survey, index: int, suspicious: int) -> None:
        self._survey, self._index, self._suspicious = survey, index, suspicious
        self._around: list[int] = []
        """The inline elements around the element, innermost first."""
        self.block = survey.parent[index]
        while self.block and survey.tag[self.block] in PHRASING:
            self._around.append(self.block)
            self.block = survey.parent[self.block]
        self.has_own_words = False
        """Whether some of the words read so far are in no link."""

    def read_before(self) -> str:
        """Return the text before the element."""
        first = max(self.block, self._index - _SCAN_NODES)
        return "".join(reversed(self._read_line(range(self._index - 1, first, -1))))

    def read_after(self) -> str:
        """Return the text after the element."""
        begin = self._survey.end[self._index]
        return "".join(self._read_line(range(begin, min(self._survey.end[self.block], begin + _SCAN_NODES))))

    def _read_line(self, places: range) -> list[str]:
        """Return the texts at these places, up to what ends the line."""
        texts: list[str] = []
        for place in places:
            tag = self._survey.tag[place]
            if tag == TEXT:
                texts.append(self._read(place))
            elif tag in _BREAKS or (tag not in PHRASING and tag not in _CONTROLS and "-" not in tag):
                break
        return texts

    def _read(self, place: int) -> str:
        """Return a text of the line, or nothing if an element around it is suspect itself."""
        survey, above = self._survey, self._survey.parent[place]
        is_linked = False
        while above != self.block and above not in self._around:
            if survey.flags[above] & self._suspicious or survey.tag[above] in _CONTROLS:
                return ""
            is_linked = is_linked or survey.tag[above] == "a"
            above = survey.parent[above]
        data: str = survey.nodes[place].data  # type: ignore[attr-defined]
        self.has_own_words = self.has_own_words or (not is_linked and bool(_TEXT_WORD.search(data)))
        return data


_MIN_SENTENCE_CHARS: Final = 400
"""Characters of sentences that an element named after its subject has; a notice or a form has fewer."""
_MAX_LINK_SHARE: Final = 0.2
"""Share of text in links below which the text is prose and not a list of other pages."""
_HEADING_NODES: Final = 8
"""Nodes within which the element must have its heading."""
_HEADING_CHARS: Final = 200
"""Characters of a heading that are compared with a name, more than a name has."""
_MAX_NAMES: Final = 40
"""Names of one element that are read, a bound on work."""

_HYPHENATED: Final = compile_lazily(r"[a-z]+(?:-[a-z]+){1,7}")
_NAME_WORD: Final = compile_lazily(r"[a-z0-9]+")
_PHRASE_WORDS: Final = frozenset("about against and for from in of on the to under upon".split())
"""Words of sentences: with one of them inside, a name is a phrase."""
_LAYOUT_WORDS: Final = frozenset(
    "actions area bar block body bottom box btn button card col column container content count details field footer form"
    " grid group header holder icon info inline inner item js label layout left line link links list main menu message meta"
    " module nav note notice outer page panel right row section sidebar site statement submit text title top widget wrap"
    " wrapper year".split()
)
"""Words for parts of a layout: beside one of them, a suspect word says what the part is."""
_DISCUSSION: Final = int(Sign.COMMENTS | Sign.REVIEWS | Sign.MEMBER)
"""Signs of texts by readers: these have prose too, and their names are many."""


def is_named_after_subject(survey: Survey, sentences: Sequence[int], index: int, suspicious: int) -> bool:
    """Return whether each name that makes the element suspect is about its subject, and the element has prose."""
    node = survey.nodes[index]
    is_prose = survey.linked[index] < _MAX_LINK_SHARE * survey.chars[index] and sentences[index] > _MIN_SENTENCE_CHARS
    if not is_prose or not isinstance(node, dom.Element):
        return False
    names = [(name, signs) for name in _names(node) if (signs := find_signs(name) & suspicious)]
    heading = _heading_words(survey, index)
    return bool(names) and all(_is_subject(name, signs, heading) for name, signs in names)


def _names(node: dom.Element) -> Iterator[str]:
    yield from (node.attr("class") or "").split()[:_MAX_NAMES]
    if name := node.attr("id"):
        yield name


def _heading_words(survey: Survey, index: int) -> list[str]:
    """Return the words of the heading that the element starts with."""
    for inner in range(index + 1, min(survey.end[index], index + _HEADING_NODES)):
        if survey.tag[inner] in HEADINGS:
            return _content_words(_NAME_WORD.findall(dom.text_of(survey.nodes[inner])[:_HEADING_CHARS].lower()))
    return []


def _content_words(words: list[str]) -> list[str]:
    return [word for word in words if word not in _PHRASE_WORDS and word not in ("a", "an")]


def _is_subject(name: str, signs: int, heading: list[str]) -> bool:
    """Return whether the name is the heading's words, a phrase, or a suspect word before another that is not of a layout."""
    if not _HYPHENATED.fullmatch(name):
        return False
    words = name.split("-")
    own = _content_words(words)
    if len(own) > 1 and own == heading[: len(own)]:
        return True
    if not _PHRASE_WORDS.isdisjoint(words[1:-1]) and _LAYOUT_WORDS.isdisjoint(words[:-1]):
        return True
    return not signs & _DISCUSSION and bool(find_signs(words[0]) & signs) and _LAYOUT_WORDS.isdisjoint(words[1:])

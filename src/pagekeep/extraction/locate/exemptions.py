"""Exemptions: when an element that looks like boilerplate is content after all.

Layouts name the column of the article `content-sidebar-wrap`, old sites put the whole page in one form, and the text of a
closed accordion is hidden. So each reason has one record: how much of the page's text exempts an element, and which checks do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.exclusions import Reason
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
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
                if target and target[0] == "#" and _is_mark(link):
                    names.add(target[1:])
            self._note_names.append(frozenset(names))
        return self._note_names[0]

    def is_inside(self, index: int, tags: frozenset[str]) -> bool:
        """Return whether one of these elements is around the node."""
        return any(self.survey.tag[above] in tags for above in self.survey.ancestors(index))


def _is_mark(link: dom.Node) -> bool:
    return _MARK.fullmatch(dom.text_of(link).strip()) is not None


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
    return _is_source_of_quote(page, index) or (page.is_inside(index, _CONTENT_TAGS) and _is_note(page, index))


def _is_source_of_quote(page: Context, index: int) -> bool:
    return page.is_inside(index, _QUOTES)


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

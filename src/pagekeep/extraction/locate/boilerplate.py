"""Find what is surely not content: boilerplate by tag, role, class and id, and sections about something else."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.exemptions import (
    DEFAULT_EXEMPTION,
    EXEMPTIONS,
    Context,
    is_named_after_subject,
    is_within_sentence,
)
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.survey import HEADINGS, PHRASING, TEXT, Sign, Survey
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

TAGS: Final = {
    "nav": Reason.NAVIGATION,
    "menu": Reason.NAVIGATION,
    "footer": Reason.FOOTER,
    "aside": Reason.ASIDE,
    "form": Reason.FORM,
    "fieldset": Reason.FORM,
    "legend": Reason.FORM,
    "button": Reason.BUTTON,
    "label": Reason.FORM,
    "dialog": Reason.DIALOG,
    "header": Reason.HEADER,
    "noscript": Reason.NOSCRIPT,
}
_SIGNS: Final = {
    Sign.HIDDEN: Reason.HIDDEN,
    Sign.NAVIGATION: Reason.NAVIGATION,
    Sign.FOOTER: Reason.FOOTER,
    Sign.HEADER: Reason.HEADER,
    Sign.COMMENTS: Reason.COMMENTS,
    Sign.RELATED: Reason.RELATED,
    Sign.SIDEBAR: Reason.SIDEBAR,
    Sign.ADVERT: Reason.ADVERTISEMENT,
    Sign.SHARE: Reason.SHARE,
    Sign.SIGNUP: Reason.SIGN_UP,
    Sign.COOKIES: Reason.COOKIE_NOTICE,
    Sign.POPUP: Reason.DIALOG,
    Sign.MEMBER: Reason.MEMBER_CARD,
    Sign.BYLINE: Reason.BYLINE,
    Sign.AUTHOR_BOX: Reason.AUTHOR_BOX,
    Sign.CONTROL: Reason.BUTTON,
    Sign.REVIEWS: Reason.REVIEWS,
    Sign.TOOLTIP: Reason.TOOLTIP,
    Sign.APPEAL: Reason.CALL_TO_ACTION,
    Sign.OVERLAY: Reason.OVERLAY,
    Sign.SMALL_PRINT: Reason.SMALL_PRINT,
    Sign.CONCEALED: Reason.HIDDEN_BY_CLASS,
    Sign.FILTERS: Reason.FILTERS,
    Sign.FORM: Reason.FORM,
    Sign.BAR: Reason.BAR,
}
"""Signs that make an element suspect; the first one that an element has gives the reason."""
SUSPICIOUS_SIGNS: Final = int(sum(_SIGNS))
_REASONS_BY_SIGN: Final = tuple((int(sign), reason) for sign, reason in _SIGNS.items())
_DISCUSSIONS: Final = {Reason.COMMENTS: int(Sign.COMMENTS), Reason.REVIEWS: int(Sign.REVIEWS)}
"""What has many parts with the same sign."""

HIDDEN: Final = (
    '[hidden], [aria-hidden="true"], [style*="display:none"], [style*="display: none"], [style*="visibility:hidden"],'
    ' [style*="visibility: hidden"]'
)
_ROLES: Final = {
    "navigation": Reason.NAVIGATION,
    "banner": Reason.HEADER,
    "contentinfo": Reason.FOOTER,
    "complementary": Reason.ASIDE,
    "dialog": Reason.DIALOG,
    "alertdialog": Reason.DIALOG,
    "search": Reason.FORM,
    "menu": Reason.NAVIGATION,
    "menubar": Reason.NAVIGATION,
    "alert": Reason.ALERT,
    "status": Reason.ALERT,
    "button": Reason.BUTTON,
}
# Wider than `HIDDEN` and the roles but with fewer parts, because every part is tried on every element of the page.
_WITH_ATTRIBUTES: Final = '[hidden], [aria-hidden="true"], [style*="none"], [style*="hidden"], [role], [data-ad]'

_MIN_MAIN_SHARE: Final = 0.1
"""Share of the page's text that a `main` must have; one with less is that of a dialog. Chosen on the corpus."""

# Headings are named after their own words, quotations after their source.
_NAMED_FOR_THEIR_TEXT: Final = HEADINGS | {"blockquote"}
_WORDS: Final = frozenset({"a", "abbr"})
_HEADER: Final = int(Sign.HEADER)
_TOOLTIP: Final = int(Sign.TOOLTIP)
_MAX_TERM_CHARS: Final = 100
"""Characters of the longest term that has a tooltip; a longer text is the tooltip."""
_HIDING: Final = int(Sign.HIDDEN | Sign.CONCEALED)
# The class names of docutils and Asciidoctor, which make ids of headings.
_SECTIONS: Final = frozenset({"section", "sect1", "sect2", "sect3", "sect4", "sect5"})
_HEADING_NODES: Final = 6
"""Nodes within which a section of a manual has its heading, as docutils and Asciidoctor write it."""
_HEADING_CHARS: Final = 200
"""Characters of a heading that are compared with an id, more than an id has."""
_WORD: Final = compile_lazily(r"[a-z0-9]+")
_MAX_ROUNDS: Final = 4
"""How often accusations are checked again: the article may be in several accused elements, one within the other."""
_NEVER: Final = frozenset({"body", "main", "article", "html"})
# Highlighters use names such as `comment` and `button` for the parts of code, and formulas are drawn from hidden parts.
_WHOLE: Final = frozenset({"pre", "code", "math", "mjx-container"})
_SUSPECT_TAGS: Final = frozenset(TAGS) | _WHOLE


def find(survey: Survey, sentences: Sequence[int], text: Sequence[int], profile: Profile) -> Reasons:
    """Return the outermost subtrees that are not content.

    `sentences` and `text` are the characters in each subtree: those in sentences, and all that count as content.
    """
    by_attribute = _suspect_attributes(survey)
    page = _Page(Context(survey, sentences, text, profile), by_attribute, _around_main(survey))
    suspects = sorted({*survey.find_signs(SUSPICIOUS_SIGNS), *survey.find_tags(*_SUSPECT_TAGS), *by_attribute} - {0})
    reasons = _find_outermost(page, suspects)
    if profile.all_text and not profile.is_thread:
        return reasons  # other pages are made of short parts, and a dialog may be their longest text
    for _ in range(_MAX_ROUNDS):
        found = find_disbelieved(survey, text, reasons, _DISCUSSIONS)
        if not found:
            break
        page.disbelieved |= found
        page.exempt_until.clear()
        reasons = _find_outermost(page, suspects)
    return reasons


def _find_outermost(page: _Page, suspects: Sequence[int]) -> Reasons:
    """Judge the suspect elements in document order, but none within another that is excluded."""
    tags, ends = page.context.survey.tag, page.context.survey.end
    reasons: Reasons = {}
    end = 0
    for index in suspects:
        if index < end:
            continue
        if reason := page.judge(index):
            reasons[index] = reason
        if reason or tags[index] in _WHOLE:
            end = ends[index]
    return reasons


def mark(survey: Survey, excluded: Exclusions) -> bytearray:
    """Return one byte per node, set where the node is excluded."""
    dead = bytearray(len(survey.nodes))
    for index in excluded:
        end = survey.end[index]
        dead[index:end] = b"\1" * (end - index)
    return dead


def _suspect_attributes(survey: Survey) -> dict[int, Reason]:
    """Return the elements with a role or a hiding attribute that makes them suspect."""
    suspects: dict[dom.Element, Reason] = {}
    for node in dom.select(survey.nodes[0], _WITH_ATTRIBUTES):
        reason = _ROLES.get(node.attr("role") or "") or (Reason.HIDDEN if dom.matches(node, HIDDEN) else None)
        if reason is None and node.attr("data-ad") not in (None, "false", "0"):
            reason = Reason.ADVERTISEMENT
        if reason:
            suspects[node] = reason
    return {index: suspects[node] for node, index in survey.find_nodes(suspects).items()}  # type: ignore[index]


def _around_main(survey: Survey) -> frozenset[int]:
    """Return the elements around the page's `main`: a `content-sidebar-wrap` is not a sidebar."""
    if "main" not in survey.places:
        return frozenset()
    index = survey.places["main"][0]
    is_main = survey.chars[index] > _MIN_MAIN_SHARE * survey.chars[0]
    return frozenset(survey.ancestors(index)) if is_main else frozenset()


@dataclass(slots=True)
class _Page:
    """Judges the suspect elements of one page, in document order."""

    context: Context
    by_attribute: dict[int, Reason]
    around_main: frozenset[int]
    exempt_until: dict[Reason, int] = field(default_factory=dict)
    """Reason to the index up to which it no longer counts."""
    disbelieved: frozenset[int] = frozenset()
    """Accused elements that are content all the same."""

    def judge(self, index: int) -> Reason | None:
        """Return why the element is not content, or `None` when it is."""
        reason = self._find_reason(index)
        if reason is None or index in self.around_main or index in self.disbelieved:
            return None
        is_word = is_within_sentence(self.context.survey, index, SUSPICIOUS_SIGNS) and not self._is_hidden(index)
        return None if is_word else reason

    def _is_hidden(self, index: int) -> bool:
        """Return whether the page does not show the element, or only above its word: a long or inner tooltip."""
        survey = self.context.survey
        flags, above = survey.flags[index], survey.parent[index]
        if flags & _HIDING or self.by_attribute.get(index) is Reason.HIDDEN:
            return True
        is_inner = bool(survey.flags[above] & _TOOLTIP) and survey.tag[above] in PHRASING
        return bool(flags & _TOOLTIP) and (is_inner or survey.chars[index] > _MAX_TERM_CHARS)

    def _find_reason(self, index: int) -> Reason | None:
        survey = self.context.survey
        tag = survey.tag[index]
        if tag in _NEVER or tag in _WHOLE:
            return None
        reason = TAGS.get(tag)
        if reason:
            is_exempt = EXEMPTIONS[reason].by_tag(self.context, index) or self._has_enough_text(index, reason)
            return None if is_exempt else reason
        reason = self._suspect_name(index)
        if reason:
            exemption = EXEMPTIONS.get(reason, DEFAULT_EXEMPTION)
            if not exemption.by_name(self.context, index) and not self._has_enough_text(index, reason):
                return reason
        reason = self.by_attribute.get(index)
        if reason:
            exemption = EXEMPTIONS.get(reason, DEFAULT_EXEMPTION)
            if not exemption.by_attribute(self.context, index) and not self._has_enough_text(index, reason):
                return reason
        return None

    def _suspect_name(self, index: int) -> Reason | None:
        """Return what the element's class or id makes it suspect of."""
        survey = self.context.survey
        signs = survey.flags[index] & SUSPICIOUS_SIGNS & ~self.context.profile.ignored
        if (
            not signs
            or survey.tag[index] in _NAMED_FOR_THEIR_TEXT
            or _is_part_of_text(survey, index)
            or _is_named_after_heading(survey, index)
            or is_named_after_subject(survey, self.context.sentences, index, signs)
        ):
            return None
        return next(reason for sign, reason in _REASONS_BY_SIGN if signs & sign)

    def _has_enough_text(self, index: int, reason: Reason) -> bool:
        """Return whether the element has so much of the page's text that it is content."""
        if index < self.exempt_until.get(reason, 0):
            return True
        page, exemption = self.context, EXEMPTIONS.get(reason, DEFAULT_EXEMPTION)
        share = page.text[index] / (page.text[0] or 1)
        if exemption.by_sentences:
            share = min(share, page.sentences[index] / (page.sentences[0] or 1))
        if share < exemption.min_share or exemption.unless(page, index):
            return False
        if exemption.covers_subtree:
            self.exempt_until[reason] = page.survey.end[index]
        return True


def _is_part_of_text(survey: Survey, index: int) -> bool:
    """Return whether it is a heading's link to itself (`a.header`), a word explained elsewhere (`a.glossary-tooltip`), or the
    title of a figure (`figcaption.header`)."""
    flags = survey.flags[index]
    if survey.tag[index] == "figcaption" and flags & _HEADER:
        return True
    if survey.tag[index] not in _WORDS or flags & _HIDING:
        return False
    return bool(flags & _TOOLTIP) or (bool(flags & _HEADER) and survey.tag[survey.parent[index]] in HEADINGS)


def _is_named_after_heading(survey: Survey, index: int) -> bool:
    """Return whether a section's id is made of the words of its heading: `#sharing-a-lamp` is not a share bar."""
    node = survey.nodes[index]
    if not isinstance(node, dom.Element):
        return False
    name = node.attr("id")
    if not name or not _SECTIONS.intersection((node.attr("class") or "").split()):
        return False
    for inner in range(index + 1, min(survey.end[index], index + _HEADING_NODES)):
        if survey.tag[inner] in HEADINGS:
            words = _WORD.findall(dom.text_of(survey.nodes[inner])[:_HEADING_CHARS].lower())
            named = _WORD.findall(name.lower())
            return len(words) > 1 and named[: len(words)] == words[: len(named)]
    return False


MAX_KEPT_CHARS: Final = 1_000
"""Characters of text outside all accused elements from which on the accusations leave an article."""
_MIN_CHARS: Final = 500
"""Characters of an accused element that may be the content."""
_MIN_RATIO: Final = 5
"""How many times the text outside all accused elements an accused element must have: terms of sale in a dialog may be longer
than what is sold."""
_MIN_GROUP: Final = 3
"""Elements accused of the same thing that are the parts of one text."""
_ALWAYS_BELIEVED: Final = frozenset({Reason.COOKIE_NOTICE, Reason.SMALL_PRINT, Reason.NOSCRIPT, Reason.SIGN_UP})
"""What may be nearly all that a page shows, without being its content."""
_BELIEVED_TAGS: Final = frozenset({"nav", "menu", "footer", "noscript"})
"""Tags that say it better than any name."""


def find_disbelieved(survey: Survey, text: Sequence[int], reasons: Reasons, signs: dict[Reason, int]) -> frozenset[int]:
    """Return the accused elements that are content after all, because hardly any text is outside of all of them.

    `text` has the characters of each subtree that count as content, `signs` the sign of what has many parts with that sign.
    """
    kept = text[0] - sum(text[index] for index in reasons)
    if kept >= MAX_KEPT_CHARS or text[0] - kept < _MIN_CHARS:
        return frozenset()
    min_chars = max(_MIN_CHARS, _MIN_RATIO * kept)
    groups: dict[Reason, list[int]] = {}
    for index, reason in reasons.items():
        if text[index] and reason not in _ALWAYS_BELIEVED and survey.tag[index] not in _BELIEVED_TAGS:
            groups.setdefault(reason, []).append(index)
    own = {
        index: _measure_own(survey, text, index, signs.get(reason, 0))
        for reason, group in groups.items()
        for index in group
        if text[index] >= min_chars
    }
    best = max(own, key=lambda index: own[index], default=0)
    if best and own[best] >= min_chars:
        return frozenset({best})
    for group in groups.values():
        if len(group) >= _MIN_GROUP and sum(text[index] for index in group) >= min_chars:
            return frozenset(group)
    return frozenset()


def _measure_own(survey: Survey, text: Sequence[int], accused: int, sign: int) -> int:
    """Return the characters that are in no further element with the same sign: a list of comments has none."""
    own = text[accused]
    index, end = accused + 1, survey.end[accused]
    while sign and index < end:
        if survey.flags[index] & sign:
            own -= text[index]
            index = survey.end[index]
        else:
            index += 1
    return own


_SECTION_HEADINGS: Final = frozenset({"h2", "h3", "h4", "h5", "h6"})
_MAX_HEADING_CHARS: Final = 80
"""Characters up to which a heading announces a section; a longer one is a sentence."""
_MAX_SHARE: Final = 0.5
"""Share of the content below which a section may be removed for its heading alone: never the better part of a page.
Chosen on the corpus."""

# How such headings begin, in 16 languages.
_OTHER_PRODUCTS: Final = r"""
related (?:products?|items?|accessories|searches)|similar (?:products?|items?|models)|compare (?:with )?similar
recommended (?:products?|items?|for you|accessories)|explore (?:more|related|similar)|sponsored|featured products
more (?:from|like this|items|to explore|to love)|other (?:products|items|sellers|customers)|products related to this
you (?:may|might|will|could|would)? ?(?:also|be interested|enjoy|love|like)|you ?['’]ll (?:also|love|like)|we think you
(?:customers|people|shoppers|others|guests) (?:who|also|viewed|bought|love|ultimately)|buy it with
(?:frequently|often|commonly) (?:bought|purchased)|(?:recently|previously|last) viewed|inspired by your
your (?:recently viewed|browsing history)|complete (?:the|your) (?:look|set|outfit)|shop (?:the look|similar|more)
(?:pairs|goes|works) (?:well|great|best|perfectly) with|best ?sellers|new arrivals|trending (?:now|products)
as seen on|follow us
ähnliche (?:artikel|produkte)|das könnte (?:dir|ihnen|dich|sie)|kunden (?:kauften|haben|interessierten)
zuletzt (?:angesehen|gesehen)|wird oft zusammen|passend dazu|weitere (?:artikel|produkte)
produits (?:similaires|associés|complémentaires|apparentés|liés)|vous (?:aimerez|pourriez)|les clients (?:ayant|ont)
récemment (?:consultés|vus)|souvent achetés|dans la même catégorie
productos (?:relacionados|similares|recomendados)|también (?:te|le) puede|(?:te|le) puede (?:gustar|interesar)
vistos recientemente
prodotti (?:correlati|simili|consigliati)|potrebbe(?:ro)? (?:anche )?(?:piacerti|interessarti)|visti di recente
produtos (?:relacionados|semelhantes|similares|recomendados)|você também|quem (?:viu|comprou)
gerelateerde producten|vergelijkbare producten|anderen bekeken
liknande produkter|relaterade produkter|relaterede produkter|andre (?:købte|kjøpte)
podobne produkty|produkty powiązane|klienci kupili
похожие товары|с этим товаром|вы смотрели
benzer ürünler
関連商品|おすすめ商品|この商品を|最近チェック
相关商品|相关产品|猜你喜欢|看了又看|推荐商品
관련 상품|추천 상품
"""
_REVIEWS: Final = r"""
(?:customer|user|product|verified|buyer|guest|seller)s? (?:reviews?|ratings?|feedback)|reviews?(?=\W|$)
ratings? (?:and|&) reviews?|what (?:our )?(?:customers|people) (?:say|are saying)|about (?:this|the) seller|write a review
kundenbewertungen|kundenrezensionen|bewertungen
avis(?: clients)?(?=\W|$)
opiniones|reseñas|valoraciones|recensioni|avaliações|beoordelingen|omdömen|anmeldelser|opinie|yorumlar|değerlendirmeler
отзывы|レビュー|カスタマーレビュー|用户评价|商品评价|상품평|리뷰
"""


def compile_lines(phrases: str) -> re.Pattern[str]:
    """Return a pattern of the alternatives in a text, on as many lines as it takes."""
    return compile_lazily("|".join(phrases.split("\n")[1:-1]))


_ANNOUNCEMENTS: Final = (
    (compile_lines(_OTHER_PRODUCTS), Reason.OTHER_PRODUCTS),
    (compile_lines(_REVIEWS), Reason.REVIEWS),
)


def find_sections(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find the sections under such headings, except one that is the better part of the content."""
    headings = [
        (index, reason)
        for index in range(root + 1, survey.end[root])
        if survey.tag[index] in _SECTION_HEADINGS
        and 0 < survey.chars[index] <= _MAX_HEADING_CHARS
        and (reason := _find_announcement(survey, index))
    ]
    texts = _find_texts(survey, root, excluded) if headings else []
    reasons: Reasons = {}
    for index, reason in headings:
        section = _find_section(survey, root, index, texts)
        if section is not None:
            reasons[section] = reason
    return reasons


def _find_announcement(survey: Survey, heading: int) -> Reason | None:
    text = " ".join(dom.text_of(survey.nodes[heading]).lower().split())
    return next((reason for pattern, reason in _ANNOUNCEMENTS if pattern.match(text)), None)


def _find_texts(survey: Survey, root: int, excluded: Exclusions) -> list[int]:
    """Find the text nodes that are not excluded."""
    texts: list[int] = []
    index, end = root + 1, survey.end[root]
    while index < end:
        if index in excluded:
            index = survey.end[index]
            continue
        if survey.tag[index] == TEXT:
            texts.append(index)
        index += 1
    return texts


def _find_section(survey: Survey, root: int, heading: int, texts: Sequence[int]) -> int | None:
    """Find the largest element that begins with the heading and has more text than the heading."""
    parents, chars = survey.parent, survey.chars
    section = heading
    while parents[section] != root and chars[parents[section]] < _MAX_SHARE * chars[root]:
        first = bisect_left(texts, parents[section])
        if first < len(texts) and texts[first] < heading:
            break
        section = parents[section]
    return section if chars[section] > chars[heading] else None


# Chosen on the articles with such a list: 6 of our 790 labelled pages (F1 of articles +0.0007) and 4 of Mozilla's.
_MIN_ARTICLE_CHARS: Final = 1_000
"""Characters of sentences beside the teasers; with fewer, the teasers may be the content."""
_MIN_TEASERS: Final = 4
"""Teasers that make a list of them."""
_MIN_TITLE_CHARS: Final = 20
"""Characters of the link that is a teaser's title."""
_MAX_LINK_SHARE: Final = 0.7
"""Share of text in links from which on an item is only a link."""
_MAX_TEASER_CHARS: Final = 900
"""Characters of the longest teaser; a longer item is a text with links."""
_TEASER_HEADINGS: Final = frozenset({"h2", "h3", "h4", "h5"})


def remove_teaser_votes(survey: Survey, own: list[int], min_chars: int) -> list[int]:
    """Return each block's own characters, but none within teasers; `own` itself without any or without an article."""
    lists = _find_lists(survey)
    if not lists:
        return own
    votes = list(own)
    for index in lists:
        end = survey.end[index]
        votes[index:end] = [0] * (end - index)
    left = sum(chars for chars in votes if chars >= min_chars)
    return votes if left >= _MIN_ARTICLE_CHARS else own


def find_teaser_lists(survey: Survey) -> Reasons:
    """Find lists of teasers whose titles are headings: those are never part of an article."""
    tags, chars, linked = survey.tag, survey.chars, survey.linked
    reasons: Reasons = {}
    for index in _find_lists(survey):
        inside = range(index, survey.end[index])
        titles = sum(tags[inner] in _TEASER_HEADINGS and 0 < chars[inner] == linked[inner] for inner in inside)
        if titles >= _MIN_TEASERS:
            reasons[index] = Reason.TEASERS
    return reasons


def _find_lists(survey: Survey) -> list[int]:
    """Find the lists with enough teasers."""
    count: dict[int, int] = {}
    for index in survey.places.get("li", ()):
        linked, chars = survey.linked[index], survey.chars[index]
        if _MIN_TITLE_CHARS <= linked < _MAX_LINK_SHARE * chars and chars < _MAX_TEASER_CHARS:
            parent = survey.parent[index]
            count[parent] = count.get(parent, 0) + 1
    return [index for index, teasers in count.items() if teasers >= _MIN_TEASERS]

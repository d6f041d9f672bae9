"""Survey: number the nodes of a page, measure their text, and read the signs in their class names and ids."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import IntFlag
from functools import lru_cache
from itertools import compress
from typing import Final

from pagekeep import dom
from pagekeep.dom import Element, Text
from pagekeep.model import PageWarning
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

TEXT: Final = "#text"

# Elements whose id names a part of the layout. On headings, sections and list items the id is a slug of their text.
_WITH_LAYOUT_ID: Final = frozenset("div ul ol aside nav form footer header table center dialog article".split())

_IDEOGRAPHS: Final = "\u2e80"
"""Start of the CJK blocks in Unicode."""
_LETTERS_PER_IDEOGRAPH: Final = 3
"""One Chinese, Japanese or Korean character carries about as much text as three letters, or a little less."""

MAX_NODES: Final = 300_000
"""Nodes beyond this are ignored and the page is marked as truncated: about 2 s of work on one core."""

# Elements whose text is never content: it is not counted, and their children are not visited.
OPAQUE: Final = frozenset(
    "script style template svg math head iframe canvas object embed select datalist textarea input audio video"
    " map source track param meta link title base frame frameset applet area".split()
)
# Those of them that are listed all the same, because they may be kept, and those whose text is lost with them.
OPAQUE_LISTED: Final = frozenset({"iframe", "svg", "math", "audio", "video", "object", "embed", "canvas"})
_UNLISTED: Final = OPAQUE - OPAQUE_LISTED
_CHILDLESS: Final = OPAQUE | {"br", "hr", "img", "wbr"}
_CONTROLS: Final = frozenset({"select", "textarea"})


@dataclass(slots=True)
class Survey:
    """Flat arrays over the page. Filled once by `survey`, then only read."""

    nodes: list[dom.Node]
    tag: list[str]
    parent: list[int]
    end: list[int]
    """Index after the last descendant."""
    flags: list[int]
    """Signs in the class and id of the element itself (`class_names.Sign`)."""
    chars: list[int]
    """Characters of text in the subtree."""
    linked: list[int]
    """Characters of text in the subtree that are in links."""
    places: dict[str, list[int]]
    """The indices of each tag, in document order; those of the text nodes under `TEXT`."""
    flagged: list[int]
    """The indices of the elements with signs, in document order."""
    texts: list[str]
    """What the text nodes hold, in document order: `texts[i]` is what the node at `places[TEXT][i]` holds."""
    controls: list[tuple[int, dom.Element]]
    """Form controls with text, which are not listed, each with the index of its parent."""
    truncated: bool
    too_deep: bool
    """Elements below `dom.MAX_DEPTH` were not visited: flatten the tree and survey it again."""

    def find_nodes(self, elements: Collection[dom.Element]) -> dict[dom.Node, int]:
        """Return the index of each of these elements that is listed."""
        wanted = set(elements)
        tags = {node.tag for node in elements}
        listed = [(self.nodes[index], index) for tag in tags if tag in self.places for index in self.places[tag]]
        return {node: index for node, index in listed if node in wanted}

    def find_tags(self, *tags: str) -> list[int]:
        """Return the indices of the elements with one of these tags, in document order."""
        return sorted([index for tag in tags if tag in self.places for index in self.places[tag]])

    def find_signs(self, signs: int) -> list[int]:
        """Return the indices of the elements with one of these signs, in document order."""
        flags = self.flags
        return [index for index in self.flagged if flags[index] & signs]

    def texts_in(self, first: int, end: int) -> list[str]:
        """Return what the text nodes from one index up to another hold."""
        places = self.places[TEXT]
        return self.texts[bisect_left(places, first) : bisect_left(places, end)]

    def iterate_outermost(self, indices: Iterable[int]) -> Iterator[int]:
        """Yield those of the nodes that are not within another one of them, in document order."""
        end = 0
        for index in sorted(indices):
            if index >= end:
                yield index
                end = self.end[index]

    def ancestors(self, index: int) -> list[int]:
        """Return the indices from the parent up to the root."""
        chain = []
        while index:
            index = self.parent[index]
            chain.append(index)
        return chain


def count_chars(data: str) -> int:
    """Return how many characters the data of a text node counts for."""
    if data.isspace() or not data:
        return 0
    length = len(data) if data[0] > " " else len(data.strip())
    # Two samples tell the script: the middle, and the first quarter where the middle is a number or a name.
    if not data.isascii() and max(data[len(data) // 2], data[len(data) // 4]) >= _IDEOGRAPHS:
        length *= _LETTERS_PER_IDEOGRAPH
    return length


def survey_page(root: dom.Element) -> tuple[Survey, tuple[PageWarning, ...]]:
    """Survey a tree, after flattening deep nesting, and cut off what is beyond the limit of nodes."""
    warnings: list[PageWarning] = []
    surveyed = survey(root)
    if surveyed.too_deep:
        flattened = dom.bound_depth(root)
        text = f"nested too deep: {flattened} elements were flattened, no text was lost"
        warnings.append(PageWarning("flattened", text))
        surveyed = survey(root)
    if surveyed.truncated:
        dom.drop_after(surveyed.nodes[-1])
        text = f"truncated: the page has more than {MAX_NODES} nodes, the rest was left out"
        warnings.append(PageWarning("truncated", text))
    return surveyed, tuple(warnings)


def survey(root: dom.Element) -> Survey:
    """Walk the tree under `root` once.

    It is one long function because every node of every page goes through it. An element with one text and nothing else, as
    a third of them are, is finished together with its text: to enter and leave it takes as long as to read it.
    """
    nodes: list[dom.Node] = [root]
    tags, parents, ends, flags, chars, linked = [root.tag], [0], [0], [0], [0], [0]
    places: defaultdict[str, list[int]] = defaultdict(list, {TEXT: [], root.tag: [0]})
    text_places, flagged, texts, controls = places[TEXT], list[int](), list[str](), list[tuple[int, Element]]()
    known: dict[str | None, int] = {None: 0}  # signs by class; the cache of all pages is farther away in memory
    truncated = too_deep = in_link = False
    here = 1  # the next index
    index = total = total_linked = 0  # the element whose children are visited, and the characters in it so far
    children = iter(root.children)
    outer: list[tuple[Iterator[dom.Node], int, bool, int, int]] = []  # the same for the elements around it
    while True:
        for child in children:
            owner, is_linked = index, in_link
            if isinstance(child, Element):
                name = child.tag
                if name in _UNLISTED:
                    if name in _CONTROLS:
                        controls.append((index, child))
                    continue
                if truncated := here >= MAX_NODES:
                    break
                nodes.append(child)
                tags.append(name)
                parents.append(index)
                chars.append(0)
                linked.append(0)
                signs = known.get(names := child.attr("class"), -1)
                if signs < 0:
                    signs = known[names] = find_signs(names or "")
                if name in _WITH_LAYOUT_ID and (names := child.attr("id")):
                    signs |= find_id_signs(names)
                flags.append(signs)
                if signs:
                    flagged.append(here)
                places[name].append(here)
                owner, here = here, here + 1
                ends.append(here)
                inner = () if name in _CHILDLESS else child.children
                if not inner:
                    continue
                if len(outer) > dom.MAX_DEPTH:  # leaves may be one level below the bound
                    too_deep = True
                    continue
                is_linked = in_link or name == "a"
                child = inner[0]
                if len(inner) > 1 or not isinstance(child, Text):
                    outer.append((children, index, in_link, total, total_linked))
                    children, index, in_link, total, total_linked = iter(inner), owner, is_linked, 0, 0
                    break
            elif not isinstance(child, Text):
                continue
            data = child.data
            if data.isspace() or not data:
                continue
            if truncated := here >= MAX_NODES:
                break
            length = len(data) if data[0] > " " and data.isascii() else count_chars(data)
            nodes.append(child)
            tags.append(TEXT)
            parents.append(owner)
            flags.append(0)
            chars.append(length)
            text_places.append(here)
            texts.append(data)
            here += 1
            ends.append(here)
            total += length
            in_links = length if is_linked else 0
            linked.append(in_links)
            total_linked += in_links
            if owner != index:  # all that is in the element
                chars[owner], linked[owner], ends[owner] = length, in_links, here
        else:
            chars[index], linked[index], ends[index] = total, total_linked, here
            if not outer:
                break
            children, index, in_link, above, above_linked = outer.pop()
            total, total_linked = above + total, above_linked + total_linked
        if truncated:
            children = iter(())  # the rest is left out
    lists = (nodes, tags, parents, ends, flags, chars, linked)
    return Survey(*lists, dict(places), flagged, texts, controls, truncated, too_deep)


PHRASING: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span"
    " strike strong sub sup time tt u var wbr br".split()
)
"""Elements that are part of a sentence."""
INLINE: Final = PHRASING | {TEXT}
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def is_within_line(node: dom.Node) -> bool:
    """Return whether words, or an element among them, are right beside the node."""
    return _is_words(_sibling(node, forward=False)) or _is_words(_sibling(node, forward=True))


def _sibling(node: dom.Node, *, forward: bool) -> dom.Node | None:
    """Return the nearest sibling that shows something."""
    beside = node.next_sibling if forward else node.previous_sibling
    while beside is not None and not isinstance(beside, dom.Element):
        if isinstance(beside, dom.Text) and not beside.data.isspace():
            break
        beside = beside.next_sibling if forward else beside.previous_sibling
    return beside


def _is_words(node: dom.Node | None) -> bool:
    return isinstance(node, dom.Text) or (isinstance(node, dom.Element) and node.tag in PHRASING and node.tag != "br")


def measure_own_text(survey: Survey, *, links: bool = False) -> list[int]:
    """Count the characters in each block itself, not in a block within it; those in links only when `links` is set."""
    tags, parents, linked, chars = survey.tag, survey.parent, survey.linked, survey.chars
    own = [0] * len(tags)
    blocks: dict[int, int] = {}
    for index in survey.places[TEXT]:
        if links or not linked[index]:
            block = parents[index]
            if tags[block] in PHRASING:
                above = parents[block]
                block = (
                    above if tags[above] not in PHRASING else blocks.get(block) or _find_block(survey, block, blocks)
                )
            own[block] += chars[index]
    return own


def _find_block(survey: Survey, index: int, blocks: dict[int, int]) -> int:
    """Find the block around an element within a sentence; `blocks` are those already found, so that none is passed twice."""
    passed: list[int] = []
    while index and survey.tag[index] in PHRASING and index not in blocks:
        passed.append(index)
        index = survey.parent[index]
    block = blocks.get(index, index)
    blocks.update(dict.fromkeys(passed, block))
    return block


def has_no_block(survey: Survey, index: int) -> bool:
    """Return whether an element has only text and inline elements in it."""
    tags = survey.tag
    inner, end = index + 1, survey.end[index]
    while inner < end and tags[inner] in INLINE:
        inner += 1
    return inner == end


def find_blocks(own: Sequence[int], min_chars: int) -> list[int]:
    """Return the indices of the blocks with at least `min_chars` characters, a positive number; most nodes have none."""
    return [index for index in compress(range(len(own)), own) if own[index] >= min_chars]


def sum_blocks(survey: Survey, own: Sequence[int], min_chars: int, dead: bytearray | None = None) -> list[int]:
    """Sum up, for each subtree, the text of its blocks that have at least `min_chars` characters and are not dead."""
    parents = survey.parent
    total = [0] * len(own)
    for index in find_blocks(own, min_chars):
        if not (dead and dead[index]):
            total[index] = own[index]
    for index in range(len(total) - 1, 0, -1):
        if total[index]:
            total[parents[index]] += total[index]
    return total


def find_innermost(survey: Survey, mass: Sequence[int], share: float) -> int:
    """Find the innermost element that still has `share` of the page's mass."""
    tags, ends = survey.tag, survey.end
    root, min_mass = 0, share * mass[0]
    while True:
        child, end = root + 1, ends[root]
        while child < end and (mass[child] < min_mass or tags[child] == TEXT or not mass[child]):
            child = ends[child]
        if child >= end:
            return root
        root = child


class Sign(IntFlag):
    """What an element's names suggest it is."""

    NONE = 0
    NAVIGATION = 1
    FOOTER = 2
    HEADER = 4
    SIDEBAR = 8
    ADVERT = 16
    SHARE = 32
    COMMENTS = 64
    RELATED = 128
    SIGNUP = 256
    POPUP = 512
    HIDDEN = 1024
    BYLINE = 2048
    CONTENT = 4096
    CONTROL = 8192
    AUTHOR_BOX = 16384
    FOLDED = 32768
    QUOTE = 65536
    COOKIES = 131072
    MEMBER = 262144
    PRICE = 524288
    BUY = 1048576
    POST = 2097152
    MANUAL = 4194304
    REVIEWS = 8388608
    TOOLTIP = 16777216
    OVERLAY = 33554432
    SMALL_PRINT = 67108864
    APPEAL = 134217728
    CONCEALED = 268435456
    FILTERS = 536870912
    FORM = 1073741824
    BAR = 2147483648


_WORDS: Final[dict[Sign, str]] = {
    Sign.NAVIGATION: "nav navbar navigation menu menus submenu megamenu menubar breadcrumb breadcrumbs crumbs pagination"
    " pager paginator burger hamburger sitemap skip skiplink topnav subnav sidenav navs navlinks offcanvas dropdown navigazione"
    " navegacion navegacao navigatie",
    Sign.FOOTER: "footer foot colophon copyright copyrights",
    Sign.HEADER: "masthead topbar",
    Sign.SIDEBAR: "sidebar sidebars complementary seitenleiste marginalspalte randspalte",
    Sign.ADVERT: "ad ads advert adverts advertisement advertisements advertising adsense adsbygoogle sponsor sponsored"
    " sponsors promo promos promoted promotion promotions dfp taboola outbrain adunit adslot werbung publicite"
    " publicidad publicidade pubblicita reklama advertentie",
    Sign.SHARE: "share sharing sharer social socials sharedaddy addtoany addthis sharethis facebook twitter linkedin"
    " pinterest whatsapp instagram rss print teilen partager partage compartir condividi condivisione delen udostepnij paylas",
    Sign.COMMENTS: "comments comment disqus respond commentlist commentform reply"
    " kommentare kommentarer kommentarbereich commentaires comentarios commenti reacties komentarze yorumlar kommentit",
    Sign.RELATED: "related recommended recommendation recommendations recirc recirculation trending popular recent"
    " readmore youmaylike upsell crosssell verwandte aehnliche similaires connexes relacionado relacionados"
    " relacionadas correlati gerelateerd relaterade relaterede relaterte powiazane podobne ilgili meistgelesen",
    Sign.SIGNUP: "newsletter subscribe subscription signup signin login register optin mailchimp mc4wp paywall gform"
    " hsform donate",
    Sign.POPUP: "modal popup popover lightbox dialog toast snackbar announcement",
    Sign.COOKIES: "cookie cookies consent gdpr onetrust privacy cookiebot iubenda didomi usercentrics truste cookieyes cmplz"
    " termly osano",
    Sign.MEMBER: "signature userextras userdetails usertitle userbanner flair badge badges postprofile avatar userinfo"
    " lastedit reputation karma postsignature",
    Sign.HIDDEN: "sronly",
    Sign.BYLINE: "byline dateline timestamp published updated postmeta postedon credit credits",
    Sign.CONTROL: "btn button buttons toolbar cart wishlist checkout addtocart submit searchform",
    Sign.AUTHOR_BOX: "authorbox bio authorbio",
    Sign.FOLDED: "tab tabs tabpanel pane accordion collapse collapsible collapsed expander expandable faq answer toggle panel"
    " details disclosure",
    Sign.QUOTE: "quote onebox footnote footnotes sidenote admonition callout starlight",
    Sign.REVIEWS: "review reviews bazaarvoice yotpo jdgm okendo loox trustpilot powerreviews",
    Sign.TOOLTIP: "tooltip tooltips",
    Sign.FILTERS: "filter filters facet facets refine refinement refinements sort sortby sorting",
    Sign.FORM: "form",
    Sign.BAR: "bar",
    Sign.PRICE: "price prices pricing",
    Sign.OVERLAY: "overlay",
    Sign.SMALL_PRINT: "disclaimer disclaimers",
    Sign.BUY: "addtocart addtobag addtobasket",
    Sign.APPEAL: "cta ctas",
}

# Whole class or id names, compared unchanged.
_NAMES: Final[dict[Sign, str]] = {
    Sign.HIDDEN: "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only elementor-screen-only"
    " u-visually-hidden a11y-hidden is-hidden hide-text hidden-print noprint no-print assistive-text show-for-sr",
    Sign.HEADER: "header site-header page-header-wrapper main-header global-header siteheader",
    Sign.SIDEBAR: "widget-area secondary right-rail left-rail rail right-sidebar left-sidebar aside sidebar-right"
    " sidebar-left widget widgets",
    Sign.CONTENT: "entry-content post-content article-content article-body article__body post-body post__content"
    " story-body articlebody article-text entry__content post_content content-body body-content post-entry td-post-content"
    " available-content w-richtext prose markdown-body node__content field--name-body elementor-widget-theme-post-content"
    " wp-block-post-content rich-text rte mw-parser-output bbwrapper message-body js-post-body s-prose cooked postbody"
    " theme-doc-markdown article-body-content story-content articlecontent single-content blog-content post-text",
    Sign.RELATED: "more-stories more-articles more-posts read-more read-next also-like you-may-like you-might-also-like"
    " up-next next-post prev-post previous-post post-navigation nav-links further-reading see-also-posts recent-posts"
    " latest-posts latest-news related-posts similar-posts jp-relatedposts",
    Sign.AUTHOR_BOX: "author-box author-bio about-author about-the-author author-info author-card post-author-box"
    " author__bio",
    Sign.BUY: "add-to-cart add_to_cart add-to-bag add-to-basket add-to-cart-button product-form__submit btn-addtocart",
    Sign.TOOLTIP: "tool-tip",
    Sign.POST: "message--post topic-post topic-body postbody post_body bbwrapper js-post forum-post poststream-item"
    " comment-tree answercell postcell messagetext postbitlegacy postbit postcontainer js-post__content-text ipscomment cpost"
    " ipscomment_content post_wrapper commentpost crawler-post itemcomment itemdiscussion usertext-body commtext comment-node"
    " lia-message-body-content bbp-reply-content bbp-topic-content jive-message-body",
    Sign.MANUAL: "theme-doc-markdown rst-content sphinxsidebar md-content docmaincontainer bodywrapper vpdoc mw-parser-output"
    " markdown-section mdbook-content",
    Sign.MEMBER: "message-userextras message-userdetails message-user message-lastedit user-details user-info post-signature"
    " user-signature post-author-info",
    Sign.BYLINE: "authors author-list author-names article-authors article-author"
    " post-meta entry-meta article-meta meta-info post-info post-date entry-date posted-on article-date"
    " publish-date read-time reading-time post-tags tags-links entry-tags cat-links post-categories entry-categories"
    " tag-list taglist tagcloud",
}

# Names that hide an element, unless another name beside them shows it again on wider screens: `hidden md:block`.
_CONCEALING: Final = frozenset({"hidden", "hide", "d-none", "display-none", "u-hidden", "js-hidden"})
_CONCEALED: Final = int(Sign.CONCEALED)
_SHOWING: Final = ("d-", "show", "visible")

# A name that states whether something exists does not name the element: `has-sidebar`, `no-nav`, `CtxtMenu_Attached_0`.
_STATE_WORDS: Final = frozenset(
    {"has", "no", "with", "without", "not", "enabled", "disabled", "attached", "hide", "show"}
)
_QUOTE: Final = int(Sign.QUOTE)
# Notes are below the text and part of it: `footnotes-footer` is not a footer.
_NOTES: Final = frozenset(
    {"footnote", "footnotes", "endnote", "endnotes", "sidenote", "sidenotes", "marginnote", "marginnotes"}
)

_SPLIT: Final = re.compile(r"[^a-zA-Z]+")
# Page builders make names of letters and digits: there is no advertisement in `elementor-element-38ad5ea`.
_GENERATED: Final = re.compile(r"(?<![a-z0-9])[a-z]*\d+[a-z](?:[a-z0-9]{3,}-[a-z0-9]{2}(?![a-z0-9])|[a-z0-9]*)")
_BY_CAMEL: Final = compile_lazily(r"[a-z]{3,}")
_CAMEL: Final = compile_lazily(r"(?<=[a-z])(?=[A-Z])")


def _index_words(lists: dict[Sign, str]) -> dict[str, int]:
    """Map each word to all its signs."""
    signs: dict[str, int] = {}
    for sign, words in lists.items():
        for word in words.split():
            signs[word] = signs.get(word, 0) | int(sign)
    return signs


_WORD_SIGNS: Final = _index_words(_WORDS)
_NAME_SIGNS: Final = _index_words(_NAMES)
_KNOWN: Final = frozenset(_WORD_SIGNS)

_MAX_NAME_CHARS: Final = 80
"""Longer names are ignored: results are cached, and a page must not fill memory with them."""
_CACHED_NAMES: Final = 32_768
"""Names whose signs are cached: a few megabytes at most."""
_MAX_CACHED_CHARS: Final = 200
"""Characters of the longest attribute whose signs are cached: pages of one site have the same ones."""
_MAX_NAMES: Final = 40
"""Names of one element that are read, a bound on work."""
_MAX_ID_CHARS: Final = 40
"""Characters of the longest id that names a part of the layout; a longer one is made of a heading's words."""
_MAX_ID_SEPARATORS: Final = 2
"""Hyphens or underscores in such an id; `share-a-profile-with-others` has more and is made of a heading's words."""


def find_signs(names: str) -> int:
    """Return the signs in a class or id attribute."""
    return _find_cached_signs(names) if len(names) <= _MAX_CACHED_CHARS else _find_all_signs(names)


def _find_all_signs(names: str) -> int:
    signs = 0
    parts = names.split()[:_MAX_NAMES]
    for name in parts:
        if len(name) <= _MAX_NAME_CHARS:
            signs |= _find_name_signs(name)
    if not _CONCEALING.isdisjoint(parts) and not any(_shows(name) for name in parts):
        signs |= _CONCEALED
    return signs


_find_cached_signs: Final = lru_cache(maxsize=_CACHED_NAMES)(_find_all_signs)


def _shows(name: str) -> bool:
    return ":" in name or (name.startswith(_SHOWING) and name not in _CONCEALING)


def find_id_signs(identifier: str) -> int:
    """Return the signs in an id, unless it is made of a heading's words."""
    separators = max(identifier.count("-"), identifier.count("_"))
    is_slug = len(identifier) > _MAX_ID_CHARS or separators > _MAX_ID_SEPARATORS
    return 0 if is_slug else find_signs(identifier)


@lru_cache(maxsize=_CACHED_NAMES)
def _find_name_signs(name: str) -> int:
    if ":" in name or "[" in name:
        return 0  # `print:hidden` and `w-[40rem]` are about looks, not about meaning
    signs = _NAME_SIGNS.get(name.lower(), 0)
    # Tools that hash class names make `adKqa`: a word in camel case has three letters or more.
    words = (
        _SPLIT.split(_GENERATED.sub("-", name)) if name.islower() else _BY_CAMEL.findall(_CAMEL.sub("-", name).lower())
    )
    if not _NOTES.isdisjoint(words):
        return _QUOTE
    if not _KNOWN.isdisjoint(words) and _STATE_WORDS.isdisjoint(words):
        for word in words:
            signs |= _WORD_SIGNS.get(word, 0)
    return signs

"""Find the signs in class and id: what the words in them suggest about an element.

Names are split into whole words (`share-bar`, `shareBar` and `share_bar` are `share` and `bar`) and every word is looked up;
a word inside another never counts: `ad` is not in `shadow`, `nav` not in `unavailable`. The lists hold words that, over
hundreds of real pages of all kinds, were on elements whose text is not content (a tenth of their words or less).
"""

from __future__ import annotations

import re
from enum import IntFlag
from functools import lru_cache
from typing import Final

from pagekeep.text import compile_lazily


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

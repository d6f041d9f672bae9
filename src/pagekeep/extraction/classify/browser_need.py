"""Decide whether a page needs a browser, by comparing the extracted text with the signs of an app in the markup.

A framework's marker alone means nothing: a server may have rendered its React page. What counts is an app root
without text, a `<noscript>` that asks for JavaScript, or scripts with almost nothing else: then also a menu around an
empty element of any name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.survey import TEXT, Sign, Survey
from pagekeep.model import NeedRender, Strategy
from pagekeep.rules.rule import Rendering
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

ENOUGH_CHARS: Final = 500
ENOUGH_WORDS: Final = 80
"""As long as 500 letters; languages that need fewer characters reach the words first."""
_MAX_SHELL_CHARS: Final = 2_500
"""A page with more characters outside links is not a shell, and is not examined further."""
_MAX_CHROME_CHARS: Final = 1_500
"""Header, footer and notices around an empty root have fewer characters."""
_MIN_CONTENT_CHARS: Final = 60
"""Characters outside links, header and footer that are content, in a root without heading, form or figure."""
_MIN_LINK_CHARS: Final = 300
"""Characters in links outside the navigation that are content: a list of products or posts."""
_LOADING_CHARS: Final = 100
"""A page that shows only a loading message has fewer characters."""
_MAX_BUNDLE_CHARS: Final = 200
"""Characters outside links below which a page with an app's scripts has hardly any text."""
_MAX_SCRIPTED_CHARS: Final = 50
"""The same for a page with any script."""
_MAX_MENU_LINK_CHARS: Final = 20
"""The mean length of links in a menu; the titles of posts and products are longer."""
_MAX_HOLLOW_NODES: Final = 2_000
"""Nodes searched for an empty element."""
_MIN_INLINE_APP: Final = 1_000
"""Characters of an inline script that may be a small app or a redirect."""
# Limits of the search, far above what real pages have.
_MAX_SCRIPTS: Final = 300
_MAX_NOSCRIPT_CHARS: Final = 2_000
_MAX_ROOTS: Final = 5
_MAX_URL_CHARS: Final = 500
_MAX_NAME_CHARS: Final = 40
_MAX_BUSY_NODES: Final = 200
"""Nodes searched for a spinner or a skeleton."""

_ROOT_IDS: Final = frozenset(
    "root app __next __nuxt ___gatsby app-root approot app_root react-root reactroot react-app react-mount main-app svelte"
    " q-app ember-app application app-container app-mount appmount mount app-content app-shell root-app vue-app spa".split()
)
_ROOT_MARKS: Final = (
    "data-reactroot",
    "ng-app",
    "data-ng-app",
    "ng-version",
    "data-server-rendered",
    "data-v-app",
    "ui-view",
)
_HOLDER_TAGS: Final = frozenset("main article section div".split())
"""Elements that scripts write content into, beside custom elements."""
_CHROME_TAGS: Final = frozenset("header nav footer aside dialog noscript".split())
_CHROME_SIGNS: Final = int(Sign.HEADER | Sign.NAVIGATION | Sign.FOOTER | Sign.POPUP)
_NOTICE_SIGNS: Final = int(Sign.COOKIES)
_MEDIA_TAGS: Final = frozenset({"img", "iframe", "object"})
_VISIBLE_TAGS: Final = frozenset("figure video table pre".split())
_VISIBLE_TAGS_WITH_TEXT: Final = frozenset("h1 h2 h3 form".split())

_SCRIPT_REQUEST: Final = compile_lazily(
    r"enable java ?script|java ?script (?:is )?(?:required|disabled|enabled|needed|must)|turn on java ?script"
    r"|requires? java ?script|needs? java ?script|without java ?script|activate java ?script|java ?script to run this"
    r"|java ?script (?:aktivieren|einschalten|ist deaktiviert|wird benötigt|muss)"
    r"|aktivieren sie (?:bitte )?java ?script"
    r"|(?:activer|activez) (?:le )?java ?script|java ?script (?:est|doit)|nécessite java ?script"
    r"|(?:habilit|activ|ativ|abilit|attiv)\w* (?:el |o |il )?java ?script|java ?script (?:habilitado|activado"
    r"|ativado|abilitato)"
    r"|(?:requiere|necesita|requer|precisa de|richiede) java ?script|schakel java ?script"
    r"|java ?script (?:in te schakelen|inschakelen|nodig)"
    r"|включ\w+ java ?script|java ?script (?:отключ|необходим|выключ)\w*"
    r"|java ?scriptを有効|java ?scriptが(?:必要|無効)|(?:启用|啟用|开启|開啟|打开) ?java ?script|需要 ?java ?script"
)
_LOADING: Final = compile_lazily(
    r"\W*(?:loading|please wait|just a second|initiali[sz]ing|wird geladen|lädt|laden\W*$|bitte warten|einen moment"
    r"|chargement|veuillez patienter|cargando|caricamento|attendere|carregando|aguarde|even geduld|bezig met laden"
    r"|загрузка|ид[её]т загрузка|подождите|読み込み中|ロード中|お待ちください|加载中|載入中|请稍候|正在加载)"
)
_BUNDLE: Final = compile_lazily(
    r"(?:^|/)(?:main|app|index|bundle|vendors?|runtime|polyfills?|chunk|commons?|client|entry|start|webpack)"
    r"(?:[-.~_][\w.~-]*)?\.m?js(?:$|\?)|/_next/|/_nuxt/|/_app/immutable/|/static/js/|/assets/index"
    r"|[-.][0-9a-f]{8,}\.m?js"
)
_TRACKERS: Final = (
    *("googletagmanager", "google-analytics", "gtag/js", "matomo", "piwik", "plausible", "hotjar", "fbevents"),
    *("analytics", "doubleclick", "cookielaw", "cookiebot", "/cdn-cgi/"),
)


@dataclass(frozen=True, slots=True)
class RenderSigns:
    """Signs in the markup that a page needs a browser, collected before anything is removed from it."""

    light: bool
    """Whether there is little enough text to be a shell; only then are the other fields set."""
    prose: int = 0
    """Characters of the body outside links and `<noscript>`."""
    empty_root: str | None = None
    """An empty app root, as in CSS."""
    filled: bool = False
    """Whether the body has content outside its header and footer: text, a heading, a form or a figure."""
    shows: bool = False
    """Whether there is a heading or form with text, a table, figure or video outside header and footer."""
    text: str = ""
    """The body's text outside links, header, footer and cookie notices, lower-cased, in one line."""
    asks_for_script: bool = False
    """Whether a `<noscript>` or the page itself asks to turn JavaScript on."""
    loading: bool = False
    """Whether the body shows only a loading message."""
    bundle: bool = False
    """Whether scripts look like an app, not like a tracker."""
    scripted: bool = False
    """Whether there is any script other than trackers."""
    media: bool = False
    """Whether the body has images or embedded documents."""
    hollow: str | None = None
    """An element that a script may fill, as in CSS: it is empty, and outside header and footer there is hardly any text."""


def collect(document: dom.Document, survey: Survey) -> RenderSigns:
    """Collect the signs; call it before pruning. Costs almost nothing on pages with much text."""
    noscript, prose = _read_noscripts(survey)
    if prose > _MAX_SHELL_CHARS:
        return RenderSigns(light=False, prose=prose)
    # One query per tag, which uses the tree's index: a selector for all of them takes twice the time.
    bundle, scripted = _classify_scripts(dom.select(document, "script")[:_MAX_SCRIPTS])
    body = _Part.read(survey, 0)
    return RenderSigns(
        light=True,
        prose=prose,
        empty_root=_empty_root(document, survey, body, scripted),
        filled=body.filled(scripted),
        shows=body.shows,
        text=body.text,
        asks_for_script=body.asks or asks_for_script(noscript),
        loading=body.loading or (not body.text and _is_busy(survey)),
        bundle=bundle,
        scripted=scripted,
        media=not _MEDIA_TAGS.isdisjoint(survey.places),
        hollow=_hollow_element(survey) if scripted and body.is_only_menu else None,
    )


def need_render(signs: RenderSigns, text: str, words: int, strategy: Strategy) -> NeedRender | None:
    """Return why a browser would show more, or `None` when the text is what the markup suggests."""
    if not signs.light:
        return None
    chars = 0 if strategy == "bookmark" else len(text)
    enough = chars and (chars >= ENOUGH_CHARS or words >= ENOUGH_WORDS)
    if enough and not _is_only_chrome(signs, chars, strategy):
        return None
    reason = _missing_content(signs)
    return NeedRender(f"{reason}, and there are only {chars} characters of content") if reason else None


def _is_only_chrome(signs: RenderSigns, chars: int, strategy: Strategy) -> bool:
    """Return whether the extracted text is what surrounds an empty root: little text, and not an article."""
    if strategy == "simplified" and chars > 2 * signs.prose:
        return False  # more than the body has: it comes from the structured data
    is_little = max(signs.prose, chars) < _MAX_CHROME_CHARS
    if signs.hollow and signs.prose < _MAX_BUNDLE_CHARS:
        return is_little
    return bool(signs.empty_root) and is_little and (strategy == "full_page" or not signs.shows)


def _missing_content(signs: RenderSigns) -> str | None:
    if signs.empty_root:
        return f"The element {signs.empty_root} that should hold the content is empty"
    if signs.hollow:
        return f"The element {signs.hollow} is empty, and around it are only links"
    if signs.filled:
        return None
    if signs.asks_for_script:
        return "The page asks for JavaScript"
    if signs.loading and signs.scripted:
        return "The page only says that it is loading"
    if signs.bundle and signs.prose < _MAX_BUNDLE_CHARS:
        return "The page is a script with hardly any text"
    if signs.scripted and signs.prose < _MAX_SCRIPTED_CHARS and not signs.media:
        return "The page is a script without text"
    return None


def asks_for_script(text: str) -> bool:
    """Return whether a lower-case text asks to turn JavaScript on."""
    return "script" in text and bool(_SCRIPT_REQUEST.search(text))


def _classify_scripts(scripts: list[dom.Element]) -> tuple[bool, bool]:
    """Return whether the scripts look like an app, and whether any script may write text at all."""
    bundle = scripted = False
    for script in scripts:
        kind = (script.attr("type") or "").lower()
        if "json" in kind or "template" in kind:
            continue
        address = script.attr("src") or ""
        if address:
            is_tracker = any(word in address for word in _TRACKERS)
            scripted = scripted or not is_tracker
            bundle = bundle or (not is_tracker and (kind == "module" or bool(_BUNDLE.search(address[:_MAX_URL_CHARS]))))
        else:
            inline = dom.text_of(script)
            scripted = scripted or len(inline) >= _MIN_INLINE_APP or "location" in inline or "document." in inline
            bundle = bundle or kind == "module"
    return bundle, scripted


def _read_noscripts(survey: Survey) -> tuple[str, int]:
    """Return the text in `<noscript>` in lower case, and the number of characters outside it and outside links."""
    prose = survey.chars[0] - survey.linked[0]
    texts: list[str] = []
    end = 0
    for index in survey.places.get("noscript", ()):
        if index >= end:  # else it is within another one and was read with it
            prose -= survey.chars[index] - survey.linked[index]
            texts.append(dom.text_of(survey.nodes[index])[:_MAX_NOSCRIPT_CHARS])
            end = survey.end[index]
    return " ".join(" ".join(texts).lower().split()), prose


@dataclass(frozen=True, slots=True)
class _Part:
    """The content of a part of the page outside its header, navigation and footer."""

    text: str
    """Text outside links, in lower case, on one line."""
    linked: int
    """Characters in links."""
    shows: bool
    """Whether it has a heading or form with text, a table, figure or video."""
    links: int = 0
    """Number of links."""
    has_media: bool = False
    """Whether it has pictures, tables, figures, videos or forms: content without text."""

    @property
    def is_only_menu(self) -> bool:
        """Return whether there is nothing but short links, and perhaps a heading."""
        is_menu = self.linked <= _MAX_MENU_LINK_CHARS * self.links
        return is_menu and len(self.text) < _MIN_CONTENT_CHARS and not self.has_media

    @property
    def loading(self) -> bool:
        limit = _MIN_CONTENT_CHARS if self.shows else _LOADING_CHARS
        return len(self.text) < limit and bool(_LOADING.match(self.text))

    @property
    def asks(self) -> bool:
        return len(self.text) < ENOUGH_CHARS and asks_for_script(self.text)

    def filled(self, scripted: bool) -> bool:
        """Return whether this is content; without scripts any text is."""
        enough = (
            self.shows or len(self.text) >= (_MIN_CONTENT_CHARS if scripted else 1) or self.linked >= _MIN_LINK_CHARS
        )
        return enough and not self.loading and not self.asks

    @classmethod
    def read(cls, survey: Survey, root: int) -> _Part:
        texts: list[str] = []
        linked = links = 0
        shows = has_media = False
        for index in _inside(survey, root):
            tag = survey.tag[index]
            if tag == TEXT:
                linked += survey.linked[index]
                if not survey.linked[index]:
                    texts.append(survey.nodes[index].data)  # type: ignore[attr-defined]
                continue
            links += tag == "a"
            has_media = has_media or tag in _MEDIA_TAGS or tag in _VISIBLE_TAGS or tag == "form"
            if tag in _VISIBLE_TAGS or (tag in _VISIBLE_TAGS_WITH_TEXT and survey.chars[index]):
                shows = True
        return cls(" ".join(" ".join(texts).lower().split()), linked, shows, links, has_media)


def _inside(survey: Survey, root: int) -> Iterator[int]:
    """Yield the nodes below the root that are not in its header, navigation, footer or cookie notice."""
    index, end = root + 1, survey.end[root]
    half = survey.chars[root] / 2
    while index < end:
        if survey.tag[index] in _CHROME_TAGS or _is_chrome(survey.flags[index], survey.chars[index] > half):
            index = survey.end[index]
        else:
            yield index
            index += 1


def _is_chrome(flags: int, has_most_text: bool) -> bool:
    """Ignore a misleading name on an element with most of the text; a cookie notice may be all there is."""
    return bool(flags & _NOTICE_SIGNS or (flags & _CHROME_SIGNS and not has_most_text))


def _empty_root(document: dom.Document, survey: Survey, body: _Part, scripted: bool) -> str | None:
    """Return the name of the empty element meant for the content: `<main>`, else an app root, else a custom element."""
    mains = dom.select(document, "main") or dom.select(document, "div[role=main]")
    holders = mains or [node for node in dom.select(document, "div[id]") if node.attr("id") in _ROOT_IDS]
    holders = holders or [node for node in survey.nodes[1:3] if isinstance(node, dom.Element) and _is_app_root(node)]
    if not holders:
        return None if body.filled(scripted) else _empty_custom_element(survey, scripted)
    places = survey.find_nodes(holders[:_MAX_ROOTS])
    known = [(places[node], node) for node in holders[:_MAX_ROOTS] if node in places]
    if not known or any(_Part.read(survey, index).filled(scripted) for index, _ in known):
        return None
    return _name(known[0][1])


def apply_rule(
    need: NeedRender | None, rendering: tuple[str, Rendering] | None, *, rendered: bool
) -> NeedRender | None:
    """Return whether a browser is needed after a rule decided; `rendering` is the rule's id and its settings."""
    if rendering is None:
        return need
    rule_id, wanted = rendering
    if wanted.mode == "never":
        need = None
    elif wanted.mode == "force":
        need = None if rendered else NeedRender(f"the rule {rule_id} asks for it")
    return replace(need, wait_for=wanted.wait_for, timeout=wanted.timeout) if need else None


def _is_app_root(node: dom.Element) -> bool:
    return any(node.attr(name) is not None for name in _ROOT_MARKS)


def _empty_custom_element(survey: Survey, scripted: bool) -> str | None:
    """Return the name of an empty custom element directly below the body, such as `<shop-app></shop-app>`."""
    index = 1
    while index < survey.end[0]:
        if "-" in survey.tag[index] and not _Part.read(survey, index).filled(scripted):
            return survey.tag[index][:_MAX_NAME_CHARS]
        index = survey.end[index]
    return None


def _hollow_element(survey: Survey) -> str | None:
    """Return the name of the first element for content that has no text, outside header, navigation and footer."""
    for index in islice(_inside(survey, 0), _MAX_HOLLOW_NODES):
        tag = survey.tag[index]
        if (tag in _HOLDER_TAGS or "-" in tag) and not survey.chars[index]:
            return _name(survey.nodes[index])  # type: ignore[arg-type]
    return None


def _name(node: dom.Element) -> str:
    identifier = (node.attr("id") or "").split()
    return f"{node.tag}#{identifier[0][:_MAX_NAME_CHARS]}" if identifier else node.tag


_BUSY: Final = ("skeleton", "spinner", "loader", "loading", "shimmer", "placeholder", "preloader", "splash")


def _is_busy(survey: Survey) -> bool:
    """Return whether a body without text shows a spinner or a skeleton."""
    for node in survey.nodes[:_MAX_BUSY_NODES]:
        if isinstance(node, dom.Element):
            names = (node.attr("class") or "").lower()
            if node.attr("aria-busy") == "true" or any(word in names for word in _BUSY):
                return True
    return False

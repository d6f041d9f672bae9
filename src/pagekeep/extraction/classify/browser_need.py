"""Whether a page needs a browser: the text that was found, held against what the markup promises.

A framework's marker alone promises nothing: a server that rendered its React page has kept the promise already. What counts
is an app root without text, a `<noscript>` that asks for JavaScript, or scripts with next to nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.model import NeedRender, Strategy

ENOUGH_CHARS: Final = 500
ENOUGH_WORDS: Final = 80
"""500 characters of an alphabet; scripts that write more in a character reach the words first."""
_LIGHT: Final = 2_500
"""A page with more characters outside links is no shell, and is not looked at closer."""
_CHROME: Final = 1_500
"""Header, footer and notices around an empty root stay below this."""
_FILLED: Final = 60
"""Characters outside links, header and footer from which on a root has content, if it has no heading, form or figure."""
_FILLED_WITH_LINKS: Final = 300
"""Characters in links outside the navigation: a list of products or posts."""
_LOADING_CHARS: Final = 100
"""Characters that a page stays below which only says that it is loading."""
_NEARLY_NOTHING: Final = 200
_NOTHING: Final = 50
_INLINE_APP: Final = 1_000
"""Characters of inline script that may well be a whole small app, or a redirect."""
_MAX_SCRIPTS: Final = 300
_MAX_ASIDE: Final = 2_000
_MAX_ROOTS: Final = 5

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
_AROUND: Final = frozenset("header nav footer aside dialog noscript".split())
_AROUND_SIGNS: Final = int(Sign.HEADER | Sign.NAVIGATION | Sign.FOOTER | Sign.POPUP)
_NOTICES: Final = int(Sign.COOKIES)
_SHOWING: Final = frozenset("figure video table pre".split())
_SHOWING_WITH_TEXT: Final = frozenset("h1 h2 h3 form".split())

_ASKS: Final = re.compile(
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
_LOADING: Final = re.compile(
    r"\W*(?:loading|please wait|just a second|initiali[sz]ing|wird geladen|lädt|laden\W*$|bitte warten|einen moment"
    r"|chargement|veuillez patienter|cargando|caricamento|attendere|carregando|aguarde|even geduld|bezig met laden"
    r"|загрузка|ид[её]т загрузка|подождите|読み込み中|ロード中|お待ちください|加载中|載入中|请稍候|正在加载)"
)
_BUNDLE: Final = re.compile(
    r"(?:^|/)(?:main|app|index|bundle|vendors?|runtime|polyfills?|chunk|commons?|client|entry|start|webpack)"
    r"(?:[-.~_][\w.~-]*)?\.m?js(?:$|\?)|/_next/|/_nuxt/|/_app/immutable/|/static/js/|/assets/index"
    r"|[-.][0-9a-f]{8,}\.m?js"
)
_COUNTERS: Final = (
    *("googletagmanager", "google-analytics", "gtag/js", "matomo", "piwik", "plausible", "hotjar", "fbevents"),
    *("analytics", "doubleclick", "cookielaw", "cookiebot", "/cdn-cgi/"),
)


@dataclass(frozen=True, slots=True)
class Promise:
    """What the page's markup promises, gathered before anything is cut out of it."""

    light: bool
    """Little enough text to be a shell; the rest was looked at only then."""
    prose: int = 0
    """Characters of the body outside links and `<noscript>`."""
    empty_root: str | None = None
    """An app root with nothing in it, as in CSS."""
    filled: bool = False
    """There is content in the body outside its header and footer: text, a heading, a form or a figure."""
    shows: bool = False
    """There is a heading or a form with text, a table, a figure or a video outside header and footer."""
    said: str = ""
    """The body's text outside links, header, footer and cookie notices, lower-cased, in one line."""
    asks_for_script: bool = False
    """A `<noscript>` or the page itself asks to turn JavaScript on."""
    loading: bool = False
    """All that the body says is that it is loading."""
    bundle: bool = False
    """Scripts that look like an app and not like a visitor counter."""
    scripted: bool = False
    """Any script beyond visitor counters."""
    media: bool = False
    """Images or embedded documents in the body."""


def look(document: dom.Document, survey: Survey, source: str) -> Promise:
    """What the page promises. Next to free on pages with much text; ask before the cut."""
    del source  # part of the contract; the tree tells enough
    asides, prose = _noscripts(survey)
    if prose > _LIGHT:
        return Promise(light=False, prose=prose)
    # By single tags, which the tree has an index for: one selector with all of this takes twice the time.
    bundle, scripted = _weigh_scripts(dom.select(document, "script")[:_MAX_SCRIPTS])
    body = _Part.read(survey, 0)
    return Promise(
        light=True,
        prose=prose,
        empty_root=_empty_root(document, survey, body, scripted),
        filled=body.filled(scripted),
        shows=body.shows,
        said=body.text,
        asks_for_script=body.asks or asks_for_script(asides),
        loading=body.loading or (not body.text and _is_busy(survey)),
        bundle=bundle,
        scripted=scripted,
        media="img" in survey.tag or "iframe" in survey.tag or "object" in survey.tag,
    )


def need_render(promise: Promise, text: str, words: int, strategy: Strategy) -> NeedRender | None:
    """Why a browser would show more, or `None` when the page kept what its markup promises."""
    if not promise.light:
        return None
    found = 0 if strategy == "bookmark" else len(text)
    enough = found and (found >= ENOUGH_CHARS or words >= ENOUGH_WORDS)
    if enough and not _is_only_chrome(promise, found, strategy):
        return None
    reason = _broken_promise(promise)
    return NeedRender(f"{reason}, and there are only {found} characters of content") if reason else None


def _is_only_chrome(promise: Promise, found: int, strategy: Strategy) -> bool:
    """Whether the text that was found is what stands around an empty root: little in all, and no article of its own."""
    if strategy == "simplified" and found > 2 * promise.prose:
        return False  # more than the body holds: it came from the page's data
    little = max(promise.prose, found) < _CHROME
    return bool(promise.empty_root) and little and (strategy == "full_page" or not promise.shows)


def _broken_promise(promise: Promise) -> str | None:
    if promise.empty_root:
        return f"The element {promise.empty_root} that should hold the content is empty"
    if promise.filled:
        return None
    if promise.asks_for_script:
        return "The page asks for JavaScript"
    if promise.loading and promise.scripted:
        return "The page only says that it is loading"
    if promise.bundle and promise.prose < _NEARLY_NOTHING:
        return "The page is a script with hardly any text"
    if promise.scripted and promise.prose < _NOTHING and not promise.media:
        return "The page is a script without text"
    return None


def asks_for_script(text: str) -> bool:
    """Whether a lower-cased text asks to turn JavaScript on."""
    return "script" in text and bool(_ASKS.search(text))


def _weigh_scripts(scripts: list[dom.Element]) -> tuple[bool, bool]:
    """Whether the scripts look like an app, and whether there is any that may write text at all."""
    bundle = scripted = False
    for script in scripts:
        kind = (script.attr("type") or "").lower()
        if "json" in kind or "template" in kind:
            continue
        address = script.attr("src") or ""
        if address:
            counts = any(word in address for word in _COUNTERS)
            scripted = scripted or not counts
            bundle = bundle or (not counts and (kind == "module" or bool(_BUNDLE.search(address[:500]))))
        else:
            inline = dom.text_of(script)
            scripted = scripted or len(inline) >= _INLINE_APP or "location" in inline or "document." in inline
            bundle = bundle or kind == "module"
    return bundle, scripted


def _noscripts(survey: Survey) -> tuple[str, int]:
    """What stands in `<noscript>`, lower-cased, and the characters outside links and outside of it."""
    prose = survey.chars[0] - survey.linked[0]
    said: list[str] = []
    left, index = survey.tag.count("noscript"), 0
    while left > 0:
        index = survey.tag.index("noscript", index)
        prose -= survey.chars[index] - survey.linked[index]
        said.append(dom.text_of(survey.nodes[index])[:_MAX_ASIDE])
        left -= 1 + survey.tag[index + 1 : survey.end[index]].count("noscript")  # what is nested was read with it
        index = survey.end[index]
    return " ".join(" ".join(said).lower().split()), prose


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of the page holds outside its header, navigation and footer."""

    text: str
    """Text outside links, lower-cased, in one line."""
    linked: int
    """Characters in links."""
    shows: bool
    """It has a heading or a form with text, a table, a figure or a video."""

    @property
    def loading(self) -> bool:
        limit = _FILLED if self.shows else _LOADING_CHARS
        return len(self.text) < limit and bool(_LOADING.match(self.text))

    @property
    def asks(self) -> bool:
        return len(self.text) < ENOUGH_CHARS and asks_for_script(self.text)

    def filled(self, scripted: bool) -> bool:
        """Whether this is content; where no script can add to it, any text is."""
        enough = self.shows or len(self.text) >= (_FILLED if scripted else 1) or self.linked >= _FILLED_WITH_LINKS
        return enough and not self.loading and not self.asks

    @classmethod
    def read(cls, survey: Survey, root: int) -> _Part:
        texts: list[str] = []
        linked = 0
        shows = False
        for index in _inside(survey, root):
            tag = survey.tag[index]
            if tag == TEXT:
                linked += survey.linked[index]
                if not survey.linked[index]:
                    texts.append(survey.nodes[index].data)  # type: ignore[attr-defined]
            elif tag in _SHOWING or (tag in _SHOWING_WITH_TEXT and survey.chars[index]):
                shows = True
        return cls(" ".join(" ".join(texts).lower().split()), linked, shows)


def _inside(survey: Survey, root: int) -> Iterator[int]:
    """Nodes below the root that are not in its header, navigation, footer or in what is named a cookie notice."""
    index, end = root + 1, survey.end[root]
    most = survey.chars[root] / 2
    while index < end:
        if survey.tag[index] in _AROUND or _is_around(survey.flags[index], survey.chars[index] > most):
            index = survey.end[index]
        else:
            yield index
            index += 1


def _is_around(flags: int, holds_most: bool) -> bool:
    """Names mislead where they stand on what holds most of the text; a cookie notice may be all there is."""
    return bool(flags & _NOTICES or (flags & _AROUND_SIGNS and not holds_most))


def _empty_root(document: dom.Document, survey: Survey, body: _Part, scripted: bool) -> str | None:
    """The name of what should hold the content and does not: `<main>`, else an app's root, else an element of its own."""
    mains = dom.select(document, "main") or dom.select(document, "div[role=main]")
    holders = mains or [node for node in dom.select(document, "div[id]") if node.attr("id") in _ROOT_IDS]
    holders = holders or [node for node in survey.nodes[1:3] if isinstance(node, dom.Element) and _is_marked(node)]
    if not holders:
        return None if body.filled(scripted) else _empty_custom_element(survey, scripted)
    places = {node: index for index, node in enumerate(survey.nodes)}
    known = [(places[node], node) for node in holders[:_MAX_ROOTS] if node in places]
    if not known or any(_Part.read(survey, index).filled(scripted) for index, _ in known):
        return None
    return _name(known[0][1])


def _is_marked(node: dom.Element) -> bool:
    return any(node.attr(name) is not None for name in _ROOT_MARKS)


def _empty_custom_element(survey: Survey, scripted: bool) -> str | None:
    """An element of the page's own making right below the body that has no content: `<shop-app></shop-app>`."""
    index = 1
    while index < survey.end[0]:
        if "-" in survey.tag[index] and not _Part.read(survey, index).filled(scripted):
            return survey.tag[index][:40]
        index = survey.end[index]
    return None


def _name(node: dom.Element) -> str:
    identifier = (node.attr("id") or "").split()
    return f"{node.tag}#{identifier[0][:40]}" if identifier else node.tag


_BUSY: Final = ("skeleton", "spinner", "loader", "loading", "shimmer", "placeholder", "preloader", "splash")


def _is_busy(survey: Survey) -> bool:
    """Whether a body without text shows a spinner or a skeleton."""
    for node in survey.nodes[:200]:
        if isinstance(node, dom.Element):
            names = (node.attr("class") or "").lower()
            if node.attr("aria-busy") == "true" or any(word in names for word in _BUSY):
                return True
    return False

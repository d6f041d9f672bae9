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
from pagekeep.extract.survey import TEXT, Survey
from pagekeep.extract.tokens import Sign
from pagekeep.model import NeedRender, Strategy

ENOUGH_CHARS: Final = 500
ENOUGH_WORDS: Final = 80
"""500 characters of an alphabet; scripts that write more in a character reach the words first."""
_LIGHT: Final = 2_500
"""A page with more characters outside links is no shell, and is not looked at closer."""
_HEAVY: Final = 60_000
"""A page with more characters outside links is nothing but itself: not even walked."""
_CHROME: Final = 1_500
"""Header, footer and notices around an empty root stay below this."""
_FILLED: Final = 60
"""Characters outside links, header and footer from which on a root has content, if it has no heading, form or figure."""
_NEARLY_NOTHING: Final = 200
_NOTHING: Final = 50
_INLINE_APP: Final = 1_000
"""Characters of inline script that may well be a whole small app, or a redirect."""
_MAX_SCRIPTS: Final = 300

_ROOTS: Final = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#app-root,#approot,#react-root,#reactroot,#react-app,#main-app,#svelte,#q-app,"
    "#ember-app,#application,#app-container,#app-mount,#mount,#app-content,#root-app,app-root,my-app,ion-app,"
    "[data-reactroot],[ng-app],[data-ng-app],[ng-version],[data-server-rendered],[data-app],[data-v-app],[ui-view],[ng-view]"
)
SELECTOR: Final = "script,noscript,title,iframe,form,input[type=password]," + _ROOTS
"""One walk in C serves this module and `caught`: walking costs most of the time."""
_NOT_ROOTS: Final = frozenset(("script", "noscript", "title", "iframe", "form", "input", "html", "body"))
_AROUND: Final = frozenset("header nav footer aside dialog noscript".split())
_AROUND_SIGNS: Final = int(Sign.HEADER | Sign.NAVIGATION | Sign.FOOTER | Sign.COOKIES | Sign.POPUP)
_CONTENT_SIGNS: Final = frozenset("form figure video table pre".split())
_HEADINGS: Final = frozenset("h1 h2 h3".split())

_ASKS: Final = re.compile(
    r"enable java ?script|java ?script (?:is )?(?:required|disabled|enabled|needed|must)|turn on java ?script"
    r"|requires? java ?script|needs? java ?script|without java ?script|activate java ?script|java ?script to run this"
    r"|java ?script (?:aktivieren|einschalten|ist deaktiviert|wird benötigt|muss)|aktivieren sie (?:bitte )?java ?script"
    r"|(?:activer|activez) (?:le )?java ?script|java ?script (?:est|doit)|nécessite java ?script"
    r"|(?:habilit|activ|ativ|abilit|attiv)\w* (?:el |o |il )?java ?script|java ?script (?:habilitado|activado|ativado|abilitato)"
    r"|(?:requiere|necesita|requer|precisa de|richiede) java ?script|schakel java ?script|java ?script (?:in te schakelen|inschakelen|nodig)"
    r"|включ\w+ java ?script|java ?script (?:отключ|необходим|выключ)\w*"
    r"|java ?scriptを有効|java ?scriptが(?:必要|無効)|(?:启用|啟用|开启|開啟|打开) ?java ?script|需要 ?java ?script"
)
_LOADING: Final = re.compile(
    r"\W*(?:loading|please wait|just a second|initiali[sz]ing|starting|wird geladen|l[aä]dt|laden|bitte warten|einen moment"
    r"|chargement|veuillez patienter|cargando|espere|caricamento|attendere|carregando|aguarde|even geduld|bezig met laden"
    r"|загрузка|идет загрузка|подождите|読み込み中|ロード中|お待ちください|加载中|載入中|请稍候|正在加载)"
)
_BUNDLE: Final = re.compile(
    r"(?:^|/)(?:main|app|index|bundle|vendors?|runtime|polyfills?|chunk|commons?|client|entry|start|webpack)"
    r"(?:[-.~_][\w.~-]*)?\.m?js(?:$|\?)|/_next/|/_nuxt/|/_app/immutable/|/static/js/|/assets/index|[-.][0-9a-f]{8,}\.m?js"
)
_COUNTERS: Final = (
    "googletagmanager", "google-analytics", "gtag/js", "matomo", "piwik", "plausible", "hotjar", "fbevents", "analytics",
    "doubleclick", "cookielaw", "cookiebot", "/cdn-cgi/",
)  # fmt: skip


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
    met: tuple[dom.Element, ...] = ()
    """Elements of `SELECTOR` in document order."""


def look(document: dom.Document, survey: Survey, source: str) -> Promise:
    """What the page promises. Cheap, and next to free on pages with much text; ask before the cut."""
    del source  # part of the contract; the tree tells enough
    prose = survey.chars[0] - survey.linked[0]
    if prose > _HEAVY:
        return Promise(light=False, prose=prose)
    met = tuple(dom.select(document, SELECTOR))
    if prose > _LIGHT:
        return Promise(light=False, prose=prose, met=met)
    return _look_closer(survey, met)


def need_render(promise: Promise, text: str, words: int, strategy: Strategy) -> NeedRender | None:
    """Why a browser would show more, or `None` when the page kept what its markup promises."""
    if not promise.light:
        return None
    found = 0 if strategy == "bookmark" else len(text)
    enough = found and (found >= ENOUGH_CHARS or words >= ENOUGH_WORDS)
    if enough and not (strategy == "full_page" and promise.empty_root and promise.prose < _CHROME):
        return None
    reason = _broken_promise(promise)
    return NeedRender(f"{reason}, and there are only {found} characters of content") if reason else None


def _broken_promise(promise: Promise) -> str | None:
    if promise.empty_root and promise.scripted:
        return f"The app root {promise.empty_root} is empty"
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


def _look_closer(survey: Survey, met: tuple[dom.Element, ...]) -> Promise:
    scripts = [node for node in met if node.tag == "script"][:_MAX_SCRIPTS]
    bundle, scripted = _weigh_scripts(scripts)
    asides, prose = _noscripts(survey)
    body = _Part.read(survey, 0)
    return Promise(
        light=True,
        prose=prose,
        empty_root=_empty_root(survey, met),
        filled=body.filled,
        asks_for_script=body.asks or asks_for_script(asides),
        loading=body.loading or (not body.text and _is_busy(survey)),
        bundle=bundle,
        scripted=scripted,
        media="img" in survey.tag or "iframe" in survey.tag or "object" in survey.tag,
        met=met,
    )


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
    if "noscript" in survey.tag:
        for index, tag in enumerate(survey.tag):
            if tag == "noscript":
                prose -= survey.chars[index] - survey.linked[index]
                said.append(dom.text_of(survey.nodes[index])[:2_000])
    return " ".join(" ".join(said).lower().split()), prose


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of the page holds outside its header, navigation and footer."""

    text: str
    """Text outside links, lower-cased."""
    shows: bool
    """It has a heading with text, a form, a table or a figure."""

    @property
    def loading(self) -> bool:
        return len(self.text) < _NEARLY_NOTHING and bool(_LOADING.match(self.text))

    @property
    def filled(self) -> bool:
        return (self.shows or len(self.text) >= _FILLED) and not self.loading and not self.asks

    @property
    def asks(self) -> bool:
        return len(self.text) < ENOUGH_CHARS and asks_for_script(self.text)

    @classmethod
    def read(cls, survey: Survey, root: int) -> _Part:
        texts: list[str] = []
        shows = False
        for index in _inside(survey, root):
            tag = survey.tag[index]
            if tag == TEXT and not survey.linked[index]:
                texts.append(survey.nodes[index].data)  # type: ignore[attr-defined]
            elif tag in _CONTENT_SIGNS or (tag in _HEADINGS and survey.chars[index]):
                shows = True
        return cls(" ".join(" ".join(texts).lower().split()), shows)


def _inside(survey: Survey, root: int) -> Iterator[int]:
    """Nodes below the root that are not in its header, navigation, footer or in what is named a cookie notice."""
    index, end = root + 1, survey.end[root]
    while index < end:
        if survey.tag[index] in _AROUND or survey.flags[index] & _AROUND_SIGNS:
            index = survey.end[index]
        else:
            yield index
            index += 1


def _empty_root(survey: Survey, met: tuple[dom.Element, ...]) -> str | None:
    """The name of the first app root without content, unless another one has some."""
    roots = [node for node in met if node.tag not in _NOT_ROOTS]
    if not roots:
        return _empty_custom_element(survey)
    places = {node: index for index, node in enumerate(survey.nodes)}
    empty: str | None = None
    for node in roots[:20]:
        index = places.get(node)
        if index is None:
            continue
        if _Part.read(survey, index).filled:
            return None
        empty = empty or _name(node)
    return empty


def _empty_custom_element(survey: Survey) -> str | None:
    """An element of the page's own making right below the body that has no text: `<shop-app></shop-app>`."""
    index = 1
    while index < survey.end[0]:
        if "-" in survey.tag[index] and not _Part.read(survey, index).filled:
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

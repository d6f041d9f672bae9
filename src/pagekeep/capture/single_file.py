"""One HTML file with everything that a page shows: no scripts, each picture and font once, and a list of what is missing."""

from __future__ import annotations

import base64
import email
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin

from pagekeep import dom
from pagekeep.errors import ParseError
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Options

POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'"
)
"""In the file itself, for users who open it from their disk."""
_DROPPED: Final = tuple(
    "script noscript base object embed applet portal template audio video source track set animate animatemotion "
    "animatetransform animateMotion animateTransform foreignObject foreignobject".split()
)
_DROPPED_ATTRS: Final = frozenset(
    "srcset sizes integrity nonce crossorigin ping action formaction srcdoc background manifest".split()
)
_LINKS: Final = ("http://", "https://", "mailto:", "tel:", "#")
_ACTIVE_ADDRESS: Final = re.compile(r"(?:javascript|vbscript|livescript|data)\s*:", re.IGNORECASE)
_NOT_SHOWN: Final = re.compile(r"[\x00-\x20\x7f-\xa0]+")
_CANDIDATE: Final = re.compile(r"([^\s,]\S*)(?:\s+[\d.]+[wx])?\s*(?:,|$)")
_NOTE_STYLE: Final = (
    "all:initial;display:block;clear:both;font:14px sans-serif;padding:1em;border-top:1px solid gray;"
    "overflow-wrap:anywhere"
)
_FOREIGN: Final = ("svg", "math", "noembed", "noframes", "xmp", "plaintext", "listing")
"""Elements whose content is read differently in another place."""
_MAX_FRAMES: Final = 20
_MAX_FRAME_DEPTH: Final = 2
_MAX_CANDIDATES: Final = 20


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that the page shows and the file does not."""

    url: str
    reason: str
    """A code of `LeftOut`."""
    size: int | None


@dataclass(frozen=True, slots=True)
class SingleFile:
    """The finished file."""

    html: bytes
    missing: tuple[Missing, ...]
    resources: int
    """Pictures and fonts in it."""


@dataclass(frozen=True, slots=True)
class DecodeTask:
    """Decode a raw page, so that the browser reads it as we do, whatever the headers said."""

    body: bytes
    encoding: str | None

    def run(self) -> bytes:
        """Return the page in UTF-8, with a byte order mark."""
        text, _ = decode(self.body, Options(encoding=self.encoding, max_bytes=len(self.body) + 1))
        return text.encode("utf-8-sig", "replace")


@dataclass(frozen=True, slots=True)
class SingleFileTask:
    """Make one HTML file from a snapshot of a page."""

    mhtml: bytes
    url: str
    saved_at: str

    def run(self) -> SingleFile:
        """Return the file."""
        main, parts = read_snapshot(self.mhtml)
        url = self.url if main.startswith("cid:") else main
        for dropped in ((), _FOREIGN):
            builder = _Builder(parts, self.saved_at, dropped)
            html = builder.build(parts[main], url, final=True)
            if _is_inert(html):
                break
        else:
            raise ParseError("No copy without scripts can be made of this page.")
        missing = tuple(Missing(url, reason, size) for url, (reason, size) in builder.missing.items())
        return SingleFile(html.encode("utf-8", "replace"), missing, builder.count)


class _Builder:
    """Builds the page and the pages in its frames."""

    def __init__(self, parts: dict[str, Part], saved_at: str, dropped: tuple[str, ...]) -> None:
        self._parts = parts
        self._saved_at = saved_at
        self._dropped = dropped
        """Elements that are left out beside those that run."""
        self._frames = 0
        self.missing: dict[str, tuple[str, int | None]] = {}
        self.count = 0

    def build(self, part: Part, url: str, *, depth: int = 0, final: bool = False) -> str:
        document = dom.parse_bounded(part.text)[0]
        resources = Resources(self._parts)
        base = dom.first(document, "base[href]")
        page = _Page(document, join(url, dom.attributes(base)["href"]) if base else url, resources)
        for element in dom.tagged(document, self._dropped):
            dom.drop(element)
        page.clean()
        page.collect()
        page.embed()
        for frame in dom.tagged(document, ("iframe", "frame")):
            self._embed_frame(frame, depth)
        self.missing |= resources.missing
        self.count += len(resources.kept)
        page.add_head(resources.shared_style())
        if final:
            page.add_note(url, self._saved_at, self.missing)
        return "<!DOCTYPE html>\n" + dom.html_of(document).removeprefix("<!DOCTYPE html>").lstrip()

    def _embed_frame(self, frame: dom.Element, depth: int) -> None:
        source = dom.attributes(frame).get("src", "")
        part = self._parts.get(source)
        attrs = dom.attributes(frame)
        kept = {name: attrs[name] for name in attrs if name in ("width", "height", "title", "style")}
        if part is None or "html" not in part.media_type or depth >= _MAX_FRAME_DEPTH or self._frames >= _MAX_FRAMES:
            if source.startswith(("http://", "https://")):
                self.missing.setdefault(source, ("not_wanted", None))
            dom.drop(frame)
            return
        self._frames += 1
        location = next((url for url, other in self._parts.items() if other is part and not url.startswith("cid:")), "")
        html = self.build(part, location or "about:blank", depth=depth + 1)
        dom.replace(frame, dom.element("iframe", {**kept, "sandbox": "", "srcdoc": html}))


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a snapshot."""

    media_type: str
    charset: str
    body: bytes

    @property
    def text(self) -> str:
        """The file as text, in an encoding of the web: Python has others, which a page must not choose."""
        decoded = dom.decode(self.body, self.charset)
        return self.body.decode("utf-8", "replace") if decoded is None else decoded[0]


@dataclass(slots=True)
class Resources:
    """Decides for every use of a file what is written there."""

    parts: dict[str, Part]
    uses: Counter[str] = field(default_factory=Counter)
    """How often each file is used, counted before anything is written."""
    missing: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    """Address to the reason and the size of what is left out."""
    kept: dict[str, str] = field(default_factory=dict)
    """Address to the data URL of what is kept."""
    _shared: dict[str, str] = field(default_factory=dict)
    _bytes: int = 0

    def data_url(self, url: str) -> str | None:
        """Return the file as a data URL; `None` when it is left out."""
        if url in self.kept or url in self.missing:
            return self.kept.get(url)
        part = self.parts.get(url)
        reason = self._why_left_out(part)
        if part is None or reason is not None:
            self._leave_out(url, reason or "unreachable", len(part.body) if part else None)
            return None
        self._bytes += len(part.body)
        self.kept[url] = f"data:{part.media_type};base64,{base64.b64encode(part.body).decode('ascii')}"
        return self.kept[url]

    def _why_left_out(self, part: Part | None) -> str | None:
        if part is None:
            return "unreachable"
        if not _EMBEDDED.fullmatch(part.media_type):
            return "not_wanted"
        if len(part.body) > MAX_RESOURCE_BYTES:
            return "too_large"
        return "page_full" if self._bytes + len(part.body) > MAX_PAGE_BYTES else None

    def variable(self, url: str) -> str | None:
        """Return the name of the style variable that holds a file which is used several times; `None` for others."""
        if self.uses[url] < 2 or self.data_url(url) is None:
            return None
        return self._shared.setdefault(url, f"--pagekeep-{len(self._shared) + 1}")

    def shared_style(self) -> str:
        """Return the style sheet with the shared files."""
        values = "".join(f'{name}:url("{self.kept[url]}");' for url, name in self._shared.items())
        return f":root{{{values}}}" if values else ""

    def _leave_out(self, url: str, reason: str, size: int | None) -> None:
        if len(self.missing) < _MAX_MISSING and not url.startswith(("cid:", "data:", "blob:", "about:")):
            self.missing[url] = (reason, size)


@dataclass(slots=True)
class _Page:
    """One document of the file."""

    document: dom.Document
    base: str
    resources: Resources

    def clean(self) -> None:
        """Remove what runs, and make links absolute."""
        for element in dom.tagged(self.document, ("img",)):
            dom.set_attr(element, "src", self._chosen_source(element))
        for element in dom.tagged(self.document, _DROPPED):
            dom.drop(element)
        for element in dom.select(self.document, "meta[http-equiv], meta[charset], link:not([rel~=stylesheet i])"):
            dom.drop(element)
        for element in dom.elements(self.document):
            for name, value in dom.attributes(element).items():
                if not _may_stay(element, name.lower(), value):
                    dom.set_attr(element, name, None)
            if element.tag in ("a", "area"):
                self._clean_link(element)

    def _chosen_source(self, image: dom.Element) -> str | None:
        """Return the address of the picture that the browser loaded: one of several that fit different screens."""
        attrs = dom.attributes(image)
        found = [attrs.get("src", "")]
        parent = image.parent
        if isinstance(parent, dom.Element) and parent.tag == "picture":
            sets = [dom.attributes(source).get("srcset", "") for source in dom.tagged(parent, ("source",))]
        else:
            sets = []
        for text in (attrs.get("srcset", ""), *sets):
            found += [match[1].rstrip(",") for match in list(_CANDIDATE.finditer(text[:20_000]))[:_MAX_CANDIDATES]]
        urls = [join(self.base, url) for url in found if url]
        loaded = (url for url in urls if url in self.resources.parts or url.startswith("data:image/"))
        return next(loaded, urls[0] if urls else None)

    def _clean_link(self, link: dom.Element) -> None:
        href = dom.attributes(link).get("href")
        if href is None:
            return
        target = href if href.startswith("#") else join(self.base, href)
        dom.set_attr(link, "href", target if target.lower().startswith(_LINKS) else None)
        dom.set_attr(link, "rel", "noreferrer noopener")

    def collect(self) -> None:
        """Turn style sheets into `style` elements with absolute addresses, and count the uses of all files."""
        for link in dom.tagged(self.document, ("link",)):
            url = join(self.base, dom.attributes(link).get("href", ""))
            part = self.resources.parts.get(url)
            if part is None or "css" not in part.media_type:
                self.resources.missing.setdefault(url, ("unreachable", None))
                dom.drop(link)
                continue
            media = dom.attributes(link).get("media")
            css = inline_imports(part.text, url if not url.startswith("cid:") else self.base, self.resources)
            dom.replace(link, dom.element("style", {"media": media} if media else None, css))
        for style in dom.tagged(self.document, ("style",)):
            css = inline_imports(dom.text_of(style), self.base, self.resources)
            count_uses(css, self.resources)
            attrs = {name: value for name, value in dom.attributes(style).items() if name == "media"}
            dom.replace(style, dom.element("style", attrs, css))
        for element in dom.select(self.document, "[style]"):
            css = inline_imports(dom.attributes(element)["style"], self.base, self.resources)
            count_uses(css, self.resources)
            dom.set_attr(element, "style", css)
        for image in dom.tagged(self.document, ("img",)):
            source = dom.attributes(image).get("src", "")
            if source and not source.startswith("data:"):
                self.resources.uses[source] += 1

    def embed(self) -> None:
        """Put all files where they are used."""
        for style in dom.tagged(self.document, ("style",)):
            css = embed(dom.text_of(style), self.resources)
            dom.replace(style, dom.element("style", dom.attributes(style), css))
        for element in dom.select(self.document, "[style]"):
            dom.set_attr(element, "style", embed(dom.attributes(element)["style"], self.resources))
        for image in dom.tagged(self.document, ("img",)):
            self._embed_image(image)
        for element in dom.tagged(self.document, ("image", "use", "feimage", "feImage", "input")):
            for name in ("href", "xlink:href", "src"):
                value = dom.attributes(element).get(name, "")
                if value and not value.startswith("#"):
                    dom.set_attr(element, name, self.resources.data_url(join(self.base, value)))

    def _embed_image(self, image: dom.Element) -> None:
        attrs = dom.attributes(image)
        source = attrs.get("src", "")
        if not source or source.startswith("data:image/"):
            return
        name = self.resources.variable(source)
        if name is None:
            dom.set_attr(image, "src", self.resources.data_url(source))
            return
        dom.set_attr(image, "src", None)
        dom.set_attr(image, "style", f"{attrs.get('style', '')};content:var({name})".lstrip(";"))

    def add_head(self, shared_style: str) -> None:
        """Add the encoding, the policy and the shared files at the beginning of the head."""
        head = dom.first(self.document, "head")
        if head is None:
            return
        style = [dom.element("style", None, shared_style)] if shared_style else []
        dom.prepend(
            head,
            dom.element("meta", {"charset": "utf-8"}),
            dom.element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
            dom.element("meta", {"name": "referrer", "content": "no-referrer"}),
            *style,
        )

    def add_note(self, url: str, saved_at: str, missing: dict[str, tuple[str, int | None]]) -> None:
        """Say at the end of the page where it came from, and what is missing."""
        body = dom.first(self.document, "body")
        if body is None or not missing:
            return
        entries = [
            dom.element("li", None, f"{address} ({reason.replace('_', ' ')})")
            for address, (reason, _) in missing.items()
        ]
        text = f"Copy of {url}, made by Pagekeep on {saved_at[:10]}. Missing here:"
        dom.append(
            body,
            dom.element(
                "aside",
                {"lang": "en", "style": _NOTE_STYLE},
                dom.element("p", None, text),
                dom.element("ul", None, *entries),
            ),
        )


def _may_stay(element: dom.Element, name: str, value: str) -> bool:
    """Return whether an attribute neither runs nor loads anything."""
    if name.startswith("on") or name in _DROPPED_ATTRS:
        return False
    if element.tag == "img" and name == "src":
        return True
    if name in ("style", "title", "alt", "class", "id"):
        return True
    return _ACTIVE_ADDRESS.match(_NOT_SHOWN.sub("", value[:200])) is None


def _is_inert(html: str, depth: int = 0) -> bool:
    """Return whether the finished file, read again as a browser reads it, has nothing that runs.

    Written markup is not always read back as the same tree: text of one place can be elements in another.
    """
    document = dom.parse_bounded(html)[0]
    if dom.tagged(document, _DROPPED, limit=1):
        return False
    for element in dom.elements(document):
        for name, value in dom.attributes(element).items():
            if element.tag == "iframe" and name in ("srcdoc", "sandbox"):
                if name == "srcdoc" and (depth > _MAX_FRAME_DEPTH or not _is_inert(value, depth + 1)):
                    return False
            elif name in ("href", "xlink:href", "src") and value.startswith("data:image/"):
                continue  # an embedded picture, which runs no scripts
            elif not _may_stay(element, name.lower(), value) and not _is_own(element):
                return False
    return True


def _is_own(element: dom.Element) -> bool:
    """Return whether an element is the policy that we add."""
    attrs = dom.attributes(element)
    return element.tag == "meta" and attrs.get("content") == POLICY


_MARKUP: Final = re.compile(r"<(?=[A-Za-z/!?])")
"""What begins markup. Elsewhere `<` compares, as in `@media (width < 40em)`."""
_MAX_IMPORT_DEPTH: Final = 5
_MAX_SHEET_CHARS: Final = 5_000_000
_URL: Final = re.compile(
    r"""url\(\s*(?:"([^"\n]{0,2000000})"|'([^'\n]{0,2000000})'|([^)"'\s]{0,2000000}))\s*\)""", re.IGNORECASE
)
_IMPORT: Final = re.compile(
    r"""@import\s+(?:url\(\s*)?["']?([^"')\s;]{1,4000})["']?\s*\)?\s*([^;{}]{0,500});""", re.IGNORECASE
)
_FONT_FACE: Final = re.compile(r"@font-face\s*\{[^{}]*\}", re.IGNORECASE)
_ACTIVE_STYLE: Final = re.compile(r"expression\s*\(|-moz-binding|behavior\s*:", re.IGNORECASE)


def join(base: str, url: str) -> str:
    """Return an address as an absolute one; as it is when it cannot be joined."""
    try:
        return urljoin(base, url.strip())
    except ValueError:
        return url


def inline_imports(css: str, base: str, resources: Resources, depth: int = 0) -> str:
    """Return the style sheet with imported ones in their place, and all addresses absolute."""

    def insert(match: re.Match[str]) -> str:
        url = join(base, match[1])
        part = resources.parts.get(url)
        if part is None or depth >= _MAX_IMPORT_DEPTH or "css" not in part.media_type:
            return ""
        inner = inline_imports(part.text, url, resources, depth + 1)
        condition = match[2].strip()
        return f"@media {condition}{{{inner}}}" if condition else inner

    def absolute(url: str) -> str:
        quoted = join(base, url).replace("\\", "%5C").replace('"', "%22").replace("\n", "")
        return f'url("{quoted}")'

    return _replace_urls(_IMPORT.sub(insert, css[:_MAX_SHEET_CHARS]), absolute)


def count_uses(css: str, resources: Resources) -> None:
    """Count the files that a style sheet with absolute addresses uses."""
    _replace_urls(css, lambda url: resources.uses.update([url]))


def embed(css: str, resources: Resources) -> str:
    """Return the style sheet with its files; those that are used several times are shared, except in `@font-face`."""
    css = _ACTIVE_STYLE.sub("removed(", css)
    css = _FONT_FACE.sub(lambda match: _replace_urls(match[0], lambda url: _data(url, resources)), css)
    css = _replace_urls(css, lambda url: _variable(url, resources) or _data(url, resources))
    # In `svg` and `math` the text of a style is read as markup, so nothing in it may begin any; CSS reads the escape as `<`.
    return _MARKUP.sub(r"\\3c ", css)


def _variable(url: str, resources: Resources) -> str | None:
    name = resources.variable(url)
    return f"var({name})" if name else None


def _data(url: str, resources: Resources) -> str:
    data = resources.data_url(url)
    return f'url("{data}")' if data else 'url("data:,")'


def _replace_urls(css: str, replace: Callable[[str], str | None]) -> str:
    def change(match: re.Match[str]) -> str:
        url = next(group for group in match.groups() if group is not None)
        if url.startswith(("#", "data:")):
            return match[0]
        return replace(url) or match[0]

    return _URL.sub(change, css)


MAX_RESOURCE_BYTES: Final = 5_000_000
"""Larger pictures and fonts are left out."""
MAX_PAGE_BYTES: Final = 25_000_000
"""All pictures and fonts of a page together."""
_MAX_PARTS: Final = 5_000
_MAX_MISSING: Final = 200
_EMBEDDED: Final = re.compile(
    r"(?:image|font)/[\w.+-]+|application/(?:x-)?font-[\w.+-]+|application/vnd\.ms-fontobject"
)
"""Types that are put into the file: pictures, which run no scripts, and fonts."""


def read_snapshot(mhtml: bytes) -> tuple[str, dict[str, Part]]:
    """Return the address of the page and all files by their addresses; the page itself is the first."""
    message = email.message_from_bytes(mhtml)
    parts: dict[str, Part] = {}
    for entry in message.walk():
        if entry.is_multipart() or len(parts) >= _MAX_PARTS:
            continue
        payload = entry.get_payload(decode=True)
        body = payload if isinstance(payload, bytes) else b""
        part = Part(entry.get_content_type(), entry.get_content_charset() or "utf-8", body)
        names = (entry.get("Content-Location"), f"cid:{str(entry.get('Content-ID') or '').strip('<>')}")
        for name in names:
            if name and name != "cid:":
                parts.setdefault(str(name).strip(), part)
    if not parts:
        raise ParseError("The browser's snapshot of the page is empty.")
    return next(iter(parts)), parts

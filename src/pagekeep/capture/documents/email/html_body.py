"""The HTML of a message: what is hidden or counts readers goes, layout tables are flattened, links lead to their targets."""

from __future__ import annotations

import json
import re
from dataclasses import field
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pagekeep import dom
from pagekeep.capture.documents.email.message import Message, decode_base64
from pagekeep.extraction.clean.state import Removals
from pagekeep.model import Removal
from pagekeep.text import count_words, one_line
from pagekeep.values import dataclass

MAX_ELEMENTS: Final = 60_000
"""Elements of a body that are looked at; the largest newsletters have about 6,000."""
_HIDING: Final = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|max-height\s*:\s*0(?:px)?\s*(?:!important)?\s*(?:;|$)|"
    r"opacity\s*:\s*0(?:\.0+)?\s*(?:!important)?\s*(?:;|$)|font-size\s*:\s*[01](?:px)?\s*(?:!important)?\s*(?:;|$))",
    re.I,
)
_PREHEADER: Final = re.compile(
    r"(?:^|[\s_-])(?:preheader|pre-header|preview-?text|mcnpreviewtext|hidden-?preheader|preview)(?:$|[\s_-])", re.I
)
_MAX_PREHEADER_WORDS: Final = 80
_FILLER: Final = re.compile(
    "[\u200c\u200b\u034f\u2007\u00ad\ufeff\u2060\u180e]{2,}|(?:[\u200c\u200b\u034f\u2007\u00ad\ufeff][\\s\u00a0]+){3,}"
)
"""Characters that push the text after a preheader out of the preview."""
_FILLING: Final = re.compile("[\u200c\u200b\u034f\u2007\u00ad\ufeff\u2060\u180e]+")
_SIZE: Final = re.compile(r"\s*(\d+)")
_STYLE_SIZE: Final = re.compile(r"(?:^|;)\s*(?:max-)?(?:width|height)\s*:\s*([01])px", re.I)
_PIXEL_PATH: Final = re.compile(
    r"/(?:open|opens|wf/open|o|pixel|beacon|track(?:/open)?|trk|e3t/cto|img/open|ss/o)(?:[./?]|$)", re.I
)
_MAX_PIXEL: Final = 2
_MAX_ICON: Final = 48
"""Pixels."""
_MIN_DATA_ROWS: Final = 2
_MAX_DATA_CELL_CHARS: Final = 120
_BLOCK_TAGS: Final = "h1,h2,h3,h4,p p,ul,ol,blockquote,pre,hr,img"


@dataclass(slots=True)
class Body:
    """The HTML of a message on its way."""

    root: dom.Element
    message: Message
    online: str = ""
    """Where the message says that it can be read on the web."""
    names: tuple[str, ...] = ()
    """Sender, list and subject, which the text often repeats."""
    pictures: dict[str, str] = field(default_factory=dict)
    """Content id to the address under which a picture of the message can be had."""


def make_body(html: str, message: Message) -> Body:
    """Return the parsed HTML; a body of too many elements is cut."""
    document = dom.parse(html)
    root = dom.first(document, "body") or dom.element("div")
    dom.bound_depth(root)
    for number, node in enumerate(dom.elements(root)):
        if number >= MAX_ELEMENTS:
            dom.drop_after(node)
            message.truncated.append(f"more than {MAX_ELEMENTS:,} elements")
            break
    content = dom.element("div", None, *list(root.children))
    if root.attr("dir"):
        dom.set_attr(content, "dir", root.attr("dir"))
    return Body(content, message)


def drop_hidden(body: Body) -> list[Removal]:
    """Remove what the message hides, such as the text that only its preview shows."""
    removals = Removals()
    for node in dom.select(body.root, "[style],[class],[id],[hidden]"):
        if node.parent is None:
            continue
        if node.attr("hidden") is not None or _HIDING.search(node.attr("style") or ""):
            if node.tag not in ("td", "th", "tr", "tbody", "table", "body") or not _holds_content(node):
                removals.drop(node, "hidden")
        elif _is_named_preheader(node) and _is_preview(node):
            removals.drop(node, "text for the preview of the message")
    for text in [node for node in dom.nodes(body.root) if isinstance(node, dom.Text) and _FILLER.search(node.data)]:
        dom.replace(text, _FILLER.sub(" ", text.data))
    return removals


def is_hiding(node: dom.Element) -> bool:
    """Return whether an element holds text that only the preview of the message shows."""
    return bool(_HIDING.search(node.attr("style") or "")) or _is_named_preheader(node)


def _is_named_preheader(node: dom.Element) -> bool:
    return _PREHEADER.search(f"{node.attr('class') or ''} {node.attr('id') or ''}") is not None


def without_filler(text: str) -> str:
    """Return text without the characters that fill up a preview."""
    return one_line(_FILLING.sub(" ", text))


def _holds_content(node: dom.Element) -> bool:
    """Return whether a cell with letters of size 0, against gaps between pictures, holds elements that set their own size."""
    style = (node.attr("style") or "").lower()
    return (
        "font-size" in style
        and "display" not in style
        and any("font-size" in (inner.attr("style") or "").lower() for inner in dom.elements(node))
    )


def _is_preview(node: dom.Element) -> bool:
    return count_words(dom.text_of(node)) <= _MAX_PREHEADER_WORDS and dom.first(node, "h1,h2,h3") is None


def drop_pixels(body: Body) -> list[Removal]:
    """Remove pictures of one pixel, which report that the message was opened."""
    removals = Removals()
    for image in dom.tagged(body.root, ("img",)):
        if _is_pixel(image):
            removals.drop(image, "tracking pixel")
    return removals


def _is_pixel(image: dom.Element) -> bool:
    sizes = [int(found[1][:6]) for name in ("width", "height") if (found := _SIZE.match(image.attr(name) or ""))]
    if sizes and min(sizes) <= _MAX_PIXEL:
        return True
    if len(_STYLE_SIZE.findall(image.attr("style") or "")) >= 1 and not sizes:
        return True
    source = image.attr("src") or ""
    return not sizes and not (image.attr("alt") or "").strip() and bool(_PIXEL_PATH.search(source.partition("?")[0]))


def drop_icons(body: Body) -> list[Removal]:
    """Remove small pictures without a text: hearts, arrows, portraits beside a name."""
    removals = Removals()
    for image in dom.tagged(body.root, ("img",)):
        size = _SIZE.match(image.attr("width") or image.attr("height") or "")
        if size and int(size[1][:6]) <= _MAX_ICON and not (image.attr("alt") or "").strip():
            removals.drop(image, "icon")
    return removals


def resolve_links(body: Body) -> None:
    """Make links lead to their targets instead of counters of clicks."""
    for link in dom.tagged(body.root, ("a",)):
        address = link.attr("href")
        if address:
            dom.set_attr(link, "href", unwrap(address))


def resolve_pictures(body: Body) -> None:
    """Give the pictures that are parts of the message their addresses, and drop those that have none."""
    for image in dom.tagged(body.root, ("img",)):
        source = (image.attr("src") or "").strip()
        if source.lower().startswith("cid:"):
            address = body.pictures.get(source[4:].strip("<>"))
            if address:
                dom.set_attr(image, "src", address)
            elif (image.attr("alt") or "").strip():
                dom.replace(image, image.attr("alt") or "")
            else:
                dom.drop(image)


def flatten_tables(body: Body) -> None:
    """Turn the cells of layout tables into boxes, innermost first; only tables of data stay."""
    for table in reversed(dom.tagged(body.root, ("table",))):
        rows = _rows(table)
        if not _is_data(table, rows):
            _flatten(table, rows)
    for stray in dom.tagged(body.root, ("center", "font")):
        dom.unwrap(stray) if stray.tag == "font" else dom.retag(stray, "div")


def _rows(table: dom.Element) -> list[list[dom.Element]]:
    """Return the table's own cells, row by row."""
    rows = []
    for child in table.children:
        if not isinstance(child, dom.Element):
            continue
        for row in list(child.children) if child.tag in ("thead", "tbody", "tfoot") else [child]:
            if isinstance(row, dom.Element) and row.tag == "tr":
                rows.append(
                    [cell for cell in row.children if isinstance(cell, dom.Element) and cell.tag in ("td", "th")]
                )
    return rows


def _is_data(table: dom.Element, rows: list[list[dom.Element]]) -> bool:
    """Return whether a table shows data: a head, or rows of short cells that are all filled."""
    if table.attr("role") in ("presentation", "none") and not any(cell.tag == "th" for row in rows for cell in row):
        return False
    filled = [row for row in rows if any(dom.text_of(cell).strip() for cell in row)]
    widest = max(map(len, filled), default=0)
    if widest < 2 or len(filled) < _MIN_DATA_ROWS or dom.first(table, "table") is not None:
        return False
    cells = [cell for row in filled for cell in row]
    texts = [dom.text_of(cell).strip() for cell in cells]
    if any(len(text) > _MAX_DATA_CELL_CHARS for text in texts) or dom.first(table, _BLOCK_TAGS) is not None:
        return False
    if any(cell.tag == "th" for cell in cells):
        return True
    even = sum(1 for row in filled if len(row) == widest)
    return even >= 0.7 * len(filled) and sum(map(bool, texts)) >= 0.8 * len(texts)


def _flatten(table: dom.Element, rows: list[list[dom.Element]]) -> None:
    boxes: list[dom.Node] = []
    for child in list(table.children):
        if isinstance(child, dom.Element) and child.tag == "caption":
            boxes.append(dom.element("p", None, *list(child.children)))
    for row in rows:
        for cell in row:
            box = dom.element("div", None, *list(cell.children))
            for name in ("dir", "lang"):
                if cell.attr(name) or table.attr(name):
                    dom.set_attr(box, name, cell.attr(name) or table.attr(name))
            boxes.append(box)
    dom.replace(table, *boxes)


_MAX_URL_CHARS: Final = 8_000
_MAX_HOPS: Final = 3
"""Counters within counters that are undone."""
_REDIRECTING_PART: Final = re.compile(
    r"c|cl|cl0|l0|cc|ct|clk|click\d?|clicks|clicktrack|clickthrough|l|ls|lt|link\d?|links|r|rd|redir|redirect\w?|redirects|"
    r"t|tr|track|tracking|trk|trklnk|u|url|out|outgoing|go|goto|away|f|e|l\.php|click\.php|link\.php|safelink|v2|v3|uni",
    re.I,
)
"""Segments of the paths of counters."""
_REDIRECTING_HOST: Final = re.compile(
    r"(?:clicks?|clk|ct|track(?:ing)?|trk|links?|lnks?|go|email|e|em|t|r|l|u|url|urls|redirect|ablink|lt|cl|c|eur\d\d|"
    r"nam\d\d|gbr\d\d|apc\d\d|aus\d\d|urldefense|safelinks)\d{0,2}",
    re.I,
)
"""First labels of the hosts of counters."""
_COUNTING: Final = re.compile(r"(?:click|track|trk|redir|cl0$|l0$)", re.I)
"""Segments that only counters have."""
_KEPT_PATH: Final = re.compile(
    r"shar(?:e|er|ing)|intent|login|signin|sign-in|oauth|authorize|submit|web|compose|validator", re.I
)
"""Segments of addresses that name another on purpose: sharing, signing in, archives."""
_IN_PATH: Final = re.compile(r"/(https?)(?::|%3A)(?:/|%2F){1,2}([^\s?#]+)", re.I)
_TARGET_NAMES: Final = frozenset(
    "url u q to target dest destination redirect redirect_to redirecturl r link l href goto go out p d lnk e "
    "uri rurl loc".split()
)
_BASE64: Final = re.compile(r"(?:aHR0c|eyJ)[A-Za-z0-9_+/-]{8,6000}={0,2}")
"""Base64 of `http` or of a JSON object."""
_WEB: Final = re.compile(r"https?://[^\s/?#\"<>\\]+\.[^\s\"<>\\]+", re.I)
_PROOFPOINT_2: Final = re.compile(r"https?://urldefense\.(?:proofpoint\.)?com/v2/url\?(?:[^#]*&)?u=([^&#]+)", re.I)
_PROOFPOINT_3: Final = re.compile(r"https?://urldefense\.(?:proofpoint\.)?com/v3/__(.+?)__;", re.I)


def unwrap(url: str) -> str:
    """Return the target of a link through a counter if the link has it, else the link as it is."""
    url = url.strip()
    if not url.lower().startswith(("http://", "https://")) or len(url) > _MAX_URL_CHARS:
        return url
    for _ in range(_MAX_HOPS):
        target = _find_target(url)
        if target is None or target == url:
            break
        url = target
    return url


def is_counter(url: str) -> bool:
    """Return whether a link looks as if it led through a counter of clicks: it says nothing about where it leads."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    segments = [part for part in parts.path.split("/") if part]
    if any(_COUNTING.match(part) for part in segments[:4]):
        return True
    label = (parts.hostname or "").partition(".")[0]
    is_marked = any(_REDIRECTING_PART.fullmatch(part) for part in segments) or _REDIRECTING_HOST.fullmatch(label)
    return bool(is_marked) and (any(len(part) > 40 for part in segments) or len(parts.query) > 60)


def _find_target(url: str) -> str | None:
    guarded = _undo_mail_guard(url)
    if guarded:
        return guarded
    try:
        parts = urlsplit(url)
        segments = [part for part in parts.path.split("/") if part]
        if any(_KEPT_PATH.match(part) for part in segments[:3]):
            return None
        host = parts.hostname or ""
        is_redirector = (
            any(_REDIRECTING_PART.fullmatch(part) for part in segments[:4])
            or _REDIRECTING_HOST.fullmatch(host.partition(".")[0]) is not None
        )
        if not is_redirector:
            return None
        return _in_query(parts.query) or _in_path(parts.path) or _in_base64(segments)
    except ValueError:
        return None


def _undo_mail_guard(url: str) -> str | None:
    """Return the target of a link that a company's mail guard has rewritten."""
    match = _PROOFPOINT_3.match(url)
    if match:
        return _check(match[1].replace("https:/", "https://", 1) if "://" not in match[1] else match[1])
    match = _PROOFPOINT_2.match(url)
    if match:
        return _check(unquote(match[1].translate(str.maketrans("-_", "%/"))))
    return None


def _in_query(query: str) -> str | None:
    for name, value in parse_qsl(query, max_num_fields=50):
        if name.lower() in _TARGET_NAMES:
            target = _check(value) or _check(unquote(value)) or _decode(value)
            if target:
                return target
    return None


def _in_path(path: str) -> str | None:
    match = _IN_PATH.search(path)
    if match is None:
        return None
    is_whole = "%" in match[0][:14]  # the address is escaped, so what follows its segment belongs to the counter
    rest = match[2].partition("/")[0] if is_whole else match[2]
    return _check(f"{match[1].lower()}://{unquote(rest)}")


def _in_base64(segments: list[str]) -> str | None:
    return next((target for part in reversed(segments) if (target := _decode(part))), None)


def _decode(text: str) -> str | None:
    """Return the address in a Base64 text: as it is, or in a JSON object, also as the middle of a signed token."""
    for part in text.split(".")[:3]:
        if not _BASE64.fullmatch(part):
            continue
        decoded = decode_base64(part.replace("-", "+").replace("_", "/").encode()).decode("utf-8", "replace")
        if decoded.startswith("http"):
            return _check(decoded)
        try:
            value = json.loads(decoded)
        except (ValueError, RecursionError):
            continue
        found = [one for one in (value.values() if isinstance(value, dict) else ()) if isinstance(one, str)]
        target = next((address for one in found if (address := _check(one))), None)
        if target:
            return target
    return None


def _check(text: str) -> str | None:
    """Return a text if it is the address of a web page."""
    return text if _WEB.fullmatch(text) else None

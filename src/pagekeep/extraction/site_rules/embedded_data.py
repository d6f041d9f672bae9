"""Read a text that a page has as data for its scripts, also as BBCode, and put it into the page."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any, Final

from pagekeep import dom
from pagekeep.rules.rule import Action, DataFormat
from pagekeep.text import compile_lazily

_MAX_CHARS: Final = 5_000_000
"""Characters of data that are read."""


def insert_data(node: dom.Element, action: Action) -> bool:
    """Insert the text after the element that has it as data; return whether there is one."""
    source = (node.attr(action.attr) if action.attr else dom.text_of(node)) or ""
    value = _follow(_load(source[:_MAX_CHARS], action.after or ""), action.path or "")
    if not isinstance(value, str) or not value.strip():
        return False
    box = dom.parse_fragment(_write(value, action.format))
    dom.bound_depth(box)
    attributes = {"class": action.class_} if action.class_ else None
    dom.add_after(node, dom.element("div", attributes, *box.children))
    return True


def _load(source: str, after: str) -> Any:
    """Return the first JSON value after the given text."""
    begin = source.find(after) if after else 0
    if begin < 0:
        return None
    begin += len(after)
    starts = [place for place in (source.find("{", begin), source.find("[", begin)) if place >= 0]
    try:
        return json.JSONDecoder().raw_decode(source, min(starts))[0] if starts else None
    except (ValueError, RecursionError):
        return None


def _follow(value: Any, path: str) -> Any:
    """Return the value at a path of keys and indexes, such as `0.body`."""
    for key in path.split("."):
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value


def _write(text: str, data_format: DataFormat) -> str:
    if data_format == "html":
        return text
    if data_format == "bbcode":
        return bbcode_to_html(text)
    return html.escape(text, quote=False).replace("\n", "<br>")


_TAG: Final = compile_lazily(r"\[(/?)([a-z0-9*]{1,20})(?:=([^\]\n]{0,2000}))?( [^\]\n]{0,500})?\]", re.I)
_CODE: Final = compile_lazily(r"\[(code|noparse)\](.*?)\[/\1\]", re.I | re.S)
_BLOCK: Final = "</?(?:p|ul|ol|li|h[1-6]|blockquote|table|tr|td|th|pre|hr|iframe)>"
_BREAK_AT_BLOCK: Final = compile_lazily(rf"(?:<br>\s*)+(?={_BLOCK})|({_BLOCK})(?:\s*<br>)+")
"""Line feeds beside a block, which only lay out the source."""
_SHOP_IMAGES: Final = "https://clan.akamai.steamstatic.com/images"
"""Where Steam has the images that its announcements refer to as `{STEAM_CLAN_IMAGE}`."""

_PLAIN: Final = {
    **{name: name for name in "b i u s p ul ol li table tr th td sub sup".split()},
    "strike": "s",
    "list": "ul",
    "olist": "ol",
    "h1": "h2",
    "h2": "h3",
    "h3": "h4",
}
"""Tags that are an element of HTML each. Headings begin at the second level: the title of the page is the first."""


def bbcode_to_html(source: str) -> str:
    """Return the BBCode as HTML; what is not a known tag stays as text."""
    parts = _CODE.split(source.replace("\r\n", "\n"))
    # `split` returns text, the name and the content of a code block, text...
    return "".join(
        _convert(text) + (_write_code(parts[3 * index + 2]) if 3 * index + 2 < len(parts) else "")
        for index, text in enumerate(parts[::3])
    )


def _write_code(text: str) -> str:
    return f"<pre><code>{html.escape(text.strip(chr(10)))}</code></pre>"


def _convert(text: str) -> str:
    escaped = html.escape(text, quote=False)
    written = _IMAGE.sub(_write_image, escaped)
    written = _LINK.sub(_write_link, written)
    return _BREAK_AT_BLOCK.sub(r"\1", _TAG.sub(_write_tag, written).replace("\n", "<br>"))


_IMAGE: Final = compile_lazily(
    r"\[img(?:=[^\]\n]{0,99})?(?: src=\"?([^\]\n\"]{1,2000})\"?)?\]([^\[\n]{0,2000})\[/img\]", re.I
)
_LINK: Final = compile_lazily(r"\[url\]([^\[\n]{1,2000})\[/url\]", re.I)


def _write_image(match: re.Match[str]) -> str:
    source = (match[1] or match[2]).strip().replace("{STEAM_CLAN_IMAGE}", _SHOP_IMAGES)
    return f'<img src="{_attribute(source)}">'


def _write_link(match: re.Match[str]) -> str:
    return f'<a href="{_attribute(match[1].strip())}">{match[1].strip()}</a>'


def _write_tag(match: re.Match[str]) -> str:
    is_end, name, value = match[1] == "/", match[2].lower(), match[3] or ""
    if name in _PLAIN:
        return f"<{match[1]}{_PLAIN[name]}>"
    write = _SPECIAL.get(name)
    return write(is_end, _attribute(value)) if write else match[0]


def _attribute(value: str) -> str:
    return value.strip().strip('"').replace('"', "%22")


def _video(is_end: bool, value: str) -> str:
    name = value.partition(";")[0]
    return "" if is_end or not name else f'<iframe src="https://www.youtube.com/embed/{name}"></iframe>'


_SPECIAL: Final[dict[str, Callable[[bool, str], str]]] = {
    "*": lambda is_end, _: "</li>" if is_end else "<li>",
    "url": lambda is_end, target: "</a>" if is_end else f'<a href="{target}">',
    "quote": lambda is_end, author: (
        "</blockquote>" if is_end else "<blockquote>" + (f"<p>{author}:</p>" if author else "")
    ),
    "hr": lambda is_end, _: "" if is_end else "<hr>",
    "previewyoutube": _video,
    "youtube": _video,
    "color": lambda _, __: "",
    "size": lambda _, __: "",
    "font": lambda _, __: "",
    "center": lambda _, __: "",
    "spoiler": lambda _, __: "",
    "expand": lambda _, __: "",
    "carousel": lambda _, __: "",
}

"""Style sheets of a single file: imports are put in place, and addresses become files inside of the sheet."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin

from pagekeep.capture.single_file.resources import Resources

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
_ACTIVE: Final = re.compile(r"expression\s*\(|-moz-binding|behavior\s*:", re.IGNORECASE)


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

    def absolute(match: re.Match[str]) -> str:
        url = next(group for group in match.groups() if group is not None)
        if url.startswith(("#", "data:")):
            return match[0]
        return f'url("{_quote(join(base, url))}")'

    return _URL.sub(absolute, _IMPORT.sub(insert, css[:_MAX_SHEET_CHARS]))


def count_uses(css: str, resources: Resources) -> None:
    """Count the files that a style sheet with absolute addresses uses."""
    _replace_urls(css, lambda url: resources.uses.update([url]))


def embed(css: str, resources: Resources) -> str:
    """Return the style sheet with its files; those that are used several times are shared, except in `@font-face`."""
    css = _ACTIVE.sub("removed(", css)
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


def _quote(url: str) -> str:
    return url.replace("\\", "%5C").replace('"', "%22").replace("\n", "")

"""Split Markdown, also of other programs, into its words and the URLs of its links and images."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pagekeep.text import normalise_url

_DESTINATION: Final = r"(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))"
_TARGET: Final = re.compile(rf"\]\({_DESTINATION}(?:[ \t]++\"[^\"\n]*+\")?\)")
_IMAGE: Final = re.compile(rf"!\[((?:[^\[\]\\\n]++|\\.)*+)\]\({_DESTINATION}")
_AUTOLINK: Final = re.compile(r"<(https?://[^<>\s]++)>")
_SYNTAX: Final = re.compile(
    r"^[ \t]*+(?:[#>|]++|[-*+](?= )|\[\^[^\]\n]{1,60}\]:)[ \t]*+|[*`\[\]\\|]++|~~|(?<!\w)_++|_++(?!\w)", re.M
)


class MarkdownParts(NamedTuple):
    """The parts of a Markdown text."""

    words: str
    """The words, without syntax, link targets and images."""
    links: tuple[str, ...]
    """URLs of links, each one once, without links to images that the text shows."""
    images: tuple[str, ...]
    """URLs of images, each one once."""


def split_markdown(markdown: str) -> MarkdownParts:
    """Split a Markdown text into its parts."""
    images = dict.fromkeys(match[2] or match[3] for match in _IMAGE.finditer(markdown))
    image_urls = {normalise_url(url) for url in images}
    targets = [match[1] or match[2] for match in _TARGET.finditer(markdown)]
    targets += [match[1] for match in _AUTOLINK.finditer(markdown)]
    links = dict.fromkeys(url for url in targets if url and normalise_url(url) not in image_urls)
    words = _TARGET.sub("]", _IMAGE.sub("(", _AUTOLINK.sub(" ", markdown)).replace("[(", "["))
    return MarkdownParts(_SYNTAX.sub(" ", words), tuple(links), tuple(url for url in images if url))

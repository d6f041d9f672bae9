"""What stands in a Markdown text: its words, and where its links and pictures lead. For texts that others wrote, too."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pagekeep.text import address

_DESTINATION: Final = r"(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))"
_TARGET: Final = re.compile(rf"\]\({_DESTINATION}(?:[ \t]++\"[^\"\n]*+\")?\)")
_PICTURE: Final = re.compile(rf"!\[((?:[^\[\]\\\n]++|\\.)*+)\]\({_DESTINATION}")
_BARE: Final = re.compile(r"<(https?://[^<>\s]++)>")
_SIGNS: Final = re.compile(
    r"^[ \t]*+(?:[#>|]++|[-*+](?= )|\[\^[^\]\n]{1,60}\]:)[ \t]*+|[*`\[\]\\|]++|~~|(?<!\w)_++|_++(?!\w)", re.M
)


class Parts(NamedTuple):
    """What a reader meets in a text."""

    words: str
    """Its words, without signs, targets of links, and pictures."""
    links: tuple[str, ...]
    """Where links lead, each place once, without those to the pictures that are shown."""
    pictures: tuple[str, ...]


def parts_of(markdown: str) -> Parts:
    """The parts of a Markdown text."""
    pictures = dict.fromkeys(found[2] or found[3] for found in _PICTURE.finditer(markdown))
    shown = {address(url) for url in pictures}
    targets = [found[1] or found[2] for found in _TARGET.finditer(markdown)]
    targets += [found[1] for found in _BARE.finditer(markdown)]
    links = dict.fromkeys(url for url in targets if url and address(url) not in shown)
    words = _TARGET.sub("]", _PICTURE.sub("(", _BARE.sub(" ", markdown)).replace("[(", "["))
    return Parts(_SIGNS.sub(" ", words), tuple(links), tuple(url for url in pictures if url))

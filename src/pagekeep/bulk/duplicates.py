"""Pages that say the same: word for word, or nearly. The first one that comes is kept."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from pagekeep.errors import UnsupportedContent

PERMUTATIONS: Final = 128
BANDS: Final = 16
"""Pages that share nine tenths of their three-word passages meet in some band with 99.99 % certainty, those that share half
with 6 %; all that meet are compared."""
_ROWS: Final = PERMUTATIONS // BANDS
ALIKE: Final = 0.85
"""Estimated share of passages in common from which two pages say the same."""
_SEED: Final = 1
_WORD: Final = re.compile(r"\w+")
_PASSAGE: Final = 3
_RECORD: Final = struct.Struct(f"<16s{PERMUTATIONS}I")

Signature = tuple[bytes, tuple[int, ...]]
"""Digest of the words, and their min-hashes."""
Duplicate = Literal["duplicate", "near duplicate"]


def signature(text: str) -> Signature:
    """What is compared of a page, small enough to be kept for millions."""
    words = _WORD.findall(text.lower())
    return hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest(), _hashes(words)


def _hashes(words: list[str]) -> tuple[int, ...]:
    try:
        from rensa import RMinHash
    except ImportError as missing:
        raise UnsupportedContent(
            "Looking for duplicates needs one more package.", suggestions=("Install it: pip install 'pagekeep[bulk]'.",)
        ) from missing
    made = RMinHash(num_perm=PERMUTATIONS, seed=_SEED)
    made.update([" ".join(words[start : start + _PASSAGE]) for start in range(max(1, len(words) - _PASSAGE + 1))])
    return tuple(made.digest())


def packed(pages: Sequence[Signature]) -> bytes:
    """Signatures as bytes, all of one length."""
    return b"".join(_RECORD.pack(digest, *hashes) for digest, hashes in pages)


def unpacked(data: bytes) -> Iterator[Signature]:
    """Signatures again."""
    for digest, *hashes in _RECORD.iter_unpack(data):
        yield digest, tuple(hashes)


class Seen:
    """The pages so far. About 2 KB of memory a page with `near`, 0.1 KB without."""

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self._digests: set[bytes] = set()
        self._bands: list[dict[tuple[int, ...], list[tuple[int, ...]]]] = [{} for _ in range(BANDS)]

    def add(self, page: Signature) -> Duplicate | None:
        """What the page is to those before it; a page that is new joins them."""
        digest, hashes = page
        if digest in self._digests:
            return "duplicate"
        if self._near and any(_likeness(hashes, other) >= ALIKE for other in self._neighbours(hashes)):
            return "near duplicate"
        self.join([page])
        return None

    def join(self, pages: Iterable[Signature]) -> None:
        """Pages that were found new before."""
        for digest, hashes in pages:
            self._digests.add(digest)
            if self._near:
                for band, place in zip(self._bands, _slices(hashes), strict=True):
                    band.setdefault(place, []).append(hashes)

    def _neighbours(self, hashes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for band, place in zip(self._bands, _slices(hashes), strict=True):
            yield from band.get(place, ())


def _slices(hashes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return (hashes[start : start + _ROWS] for start in range(0, PERMUTATIONS, _ROWS))


def _likeness(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return sum(map(int.__eq__, one, other)) / PERMUTATIONS

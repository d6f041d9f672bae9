"""Find pages with the same or nearly the same words, of which the first is kept."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from pagekeep import extras
from pagekeep.errors import UnsupportedContent

PERMUTATIONS: Final = 128
BANDS: Final = 16
"""Pages that have 90 % of their three-word sequences in common share a band with a probability of 99.99 %, those with 50 %
with 6 %. Pages that share a band are compared."""
_BAND_HASHES: Final = PERMUTATIONS // BANDS
MIN_SIMILARITY: Final = 0.85
"""Pages with this share of three-word sequences in common, as estimated by min-hashes, are near duplicates."""
_SEED: Final = 1
_WORD: Final = re.compile(r"\w+")
_SHINGLE_WORDS: Final = 3
_RECORD: Final = struct.Struct(f"<16s{PERMUTATIONS}I")

Signature = tuple[bytes, tuple[int, ...]]
"""Digest of the words, and min-hashes of their three-word sequences."""
Duplicate = Literal["duplicate", "near duplicate"]


def compute_signature(text: str) -> Signature:
    """Return what is compared of a page, small enough to keep for millions of pages."""
    words = _WORD.findall(text.lower())
    return hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest(), _min_hashes(
        words
    )


def _min_hashes(words: list[str]) -> tuple[int, ...]:
    try:
        from rensa import RMinHash
    except ImportError:
        extras.require("bulk", "Finding duplicates", error=UnsupportedContent)
        from rensa import RMinHash
    min_hash = RMinHash(num_perm=PERMUTATIONS, seed=_SEED)
    min_hash.update(
        [" ".join(words[start : start + _SHINGLE_WORDS]) for start in range(max(1, len(words) - _SHINGLE_WORDS + 1))]
    )
    return tuple(min_hash.digest())


def pack_signatures(pages: Sequence[Signature]) -> bytes:
    """Return signatures as bytes, all of the same length."""
    return b"".join(_RECORD.pack(digest, *hashes) for digest, hashes in pages)


def unpack_signatures(data: bytes) -> Iterator[Signature]:
    """Yield the signatures in bytes from `pack_signatures`."""
    for digest, *hashes in _RECORD.iter_unpack(data):
        yield digest, tuple(hashes)


class DuplicateFilter:
    """Remembers pages and recognises duplicates. It takes about 2 KB of memory per page with `near`, 0.1 KB without."""

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self._digests: set[bytes] = set()
        self._bands: list[dict[tuple[int, ...], list[tuple[int, ...]]]] = [{} for _ in range(BANDS)]

    def add(self, page: Signature) -> Duplicate | None:
        """Return whether the page is a duplicate, and remember it when it is not."""
        digest, hashes = page
        if digest in self._digests:
            return "duplicate"
        if self._near and any(_similarity(hashes, other) >= MIN_SIMILARITY for other in self._neighbours(hashes)):
            return "near duplicate"
        self.remember([page])
        return None

    def remember(self, pages: Iterable[Signature]) -> None:
        """Remember pages that are known not to be duplicates."""
        for digest, hashes in pages:
            self._digests.add(digest)
            if self._near:
                for band, key in zip(self._bands, _split_bands(hashes), strict=True):
                    band.setdefault(key, []).append(hashes)

    def _neighbours(self, hashes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for band, key in zip(self._bands, _split_bands(hashes), strict=True):
            yield from band.get(key, ())


def _split_bands(hashes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return (hashes[start : start + _BAND_HASHES] for start in range(0, PERMUTATIONS, _BAND_HASHES))


def _similarity(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    return sum(map(int.__eq__, first, second)) / PERMUTATIONS

"""The raw pages of a joined article in one file: a line that says what it is, a line of JSON about them, their bytes.

So an article over several pages is stored, compared, verified and extracted again as any other page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Literal

from pagekeep.errors import ParseError
from pagekeep.model import Fetched
from pagekeep.values import dataclass

PAGES_TYPE: Final = "application/x-pagekeep-pages"
"""The content type under which the pages of a joined article are stored."""
MAX_PAGES: Final = 20
"""Pages of one article."""
_MAGIC: Final = b"%PAGEKEEP-PAGES 1\n"
_MAX_HEAD_BYTES: Final = 10_000_000
"""For the JSON line: 20 pages with 100 headers of 4,000 characters each."""
_FACTS: Final = ("url", "final_url", "status", "encoding", "content_type", "rendered", "etag", "last_modified")


@dataclass(frozen=True, slots=True)
class Part:
    """One page of an article, as it was fetched."""

    fetched: Fetched
    note: str = ""
    """How it was found."""
    role: Literal["page", "whole"] = "page"
    """`whole` for a page that has all of the article."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The pages of an article, and why there are no more of them."""

    parts: tuple[Part, ...]
    missing: str | None = None
    """What is missing and why, if something is."""


def is_joined(fetched: Fetched) -> bool:
    """Return whether a response has all the pages of a joined article."""
    return fetched.content_type == PAGES_TYPE


def pack(pages: Parts) -> Fetched:
    """Return the pages of an article as one response: that of the first page, with the bytes of all.

    It has no `ETag`: that one page has not changed says nothing about the others.
    """
    first = pages.parts[0].fetched
    about = {"missing": pages.missing, "pages": [_describe(part) for part in pages.parts]}
    head = json.dumps(about, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
    body = b"".join((_MAGIC, head, b"\n", *(part.fetched.body for part in pages.parts)))
    return replace(first, body=body, encoding=None, content_type=PAGES_TYPE, etag=None, last_modified=None, html=None)


def unpack(body: bytes) -> Parts:
    """Return the pages of an article; raise `ParseError` for anything that `pack` did not write."""
    end = body.find(b"\n", len(_MAGIC), len(_MAGIC) + _MAX_HEAD_BYTES)
    if not body.startswith(_MAGIC) or end < 0:
        raise _damaged()
    try:
        about = json.loads(body[len(_MAGIC) : end])
        sizes = [int(entry["size"]) for entry in about["pages"]]
        if not 0 < len(sizes) <= MAX_PAGES + 1 or min(sizes) < 0 or sum(sizes) != len(body) - end - 1:
            raise ValueError
        parts, start = list[Part](), end + 1
        for entry, size in zip(about["pages"], sizes, strict=True):
            parts.append(_part(entry, body[start : start + size]))
            start += size
        return Parts(tuple(parts), _text(about["missing"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged() from None


def read_head(body: bytes) -> str:
    """Return what comes before the bytes of the pages, as text; `assemble` needs it."""
    end = body.find(b"\n", len(_MAGIC), len(_MAGIC) + _MAX_HEAD_BYTES)
    return body[: end + 1].decode("ascii")


def assemble(head: str, bodies: Iterable[bytes]) -> bytes:
    """Return the pages of an article in one file again; raise `ParseError` if they are not those that the head describes."""
    body = b"".join((head.encode("ascii", "replace"), *bodies))
    unpack(body)
    return body


def first_page(fetched: Fetched) -> Fetched:
    """Return the first page of a joined article as it was fetched; any other response stays as it is."""
    return unpack(fetched.body).parts[0].fetched if is_joined(fetched) else fetched


def _damaged() -> ParseError:
    return ParseError("The stored pages of this article are damaged.", suggestions=("Fetch the article again.",))


def _describe(part: Part) -> dict[str, Any]:
    fetched = part.fetched
    facts = {name: getattr(fetched, name) for name in _FACTS}
    from pagekeep.fetch.headers import keep_headers  # extracting a file needs no network

    headers = keep_headers(fetched.headers)
    return {**facts, "headers": headers, "size": len(fetched.body), "role": part.role, "note": part.note}


def _part(entry: dict[str, Any], body: bytes) -> Part:
    fetched = Fetched(
        url=str(entry["url"]),
        final_url=str(entry["final_url"]),
        status=int(entry["status"]),
        headers={str(name): str(value) for name, value in entry["headers"].items()},
        body=body,
        content_type=str(entry["content_type"]),
        rendered=entry["rendered"] is True,
        encoding=_text(entry["encoding"]),
        etag=_text(entry["etag"]),
        last_modified=_text(entry["last_modified"]),
    )
    return Part(fetched, str(entry["note"]), "whole" if entry["role"] == "whole" else "page")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""A remote reader with Jina's conventions: asked for a page, it answers with the page's Markdown below a few lines about it.

What goes out is the page's address, or its HTML where a caller has it, and the key: never headers, cookies or settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final
from urllib.parse import quote

from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchError, FetchHttpError, FetchTimeout, PagekeepError, ParseError
from pagekeep.fetch.client import Client
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched

CONTENT_TYPE: Final = "text/x-reader"
"""By which the answer of a reader is told from a page, as long as it is kept."""
MOST_SECONDS: Final = 180
"""The longest that a reader can be asked to take."""

_HEAD: Final = re.compile(r"(Title|URL Source|Published Time|Warning|Description):[ \t]*(.*)")
_CONTENT: Final = "Markdown Content:"
_HEAD_LINES: Final = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader says about a page."""

    markdown: str
    title: str | None = None
    url: str | None = None
    """Where the reader found the page."""
    published: str | None = None
    """As the reader wrote it."""
    description: str | None = None
    warnings: tuple[str, ...] = ()


def read_answer(text: str) -> Answer:
    """The parts of a reader's answer; one without lines about the page is Markdown from its first line."""
    lines = text.replace("\r\n", "\n").lstrip("\ufeff\n").split("\n", _HEAD_LINES)
    said: dict[str, list[str]] = {}
    for number, line in enumerate(lines[:_HEAD_LINES]):
        if line.startswith(_CONTENT):
            rest = "\n".join([line.removeprefix(_CONTENT).strip(), *lines[number + 1 :]])
            return _answer(rest.strip("\n"), said)
        found = _HEAD.match(line)
        if found:
            said.setdefault(found[1], []).append(found[2].strip())
        elif line.strip():
            break
    return Answer(text.strip("\n"))


def _answer(markdown: str, said: Mapping[str, list[str]]) -> Answer:
    def first(name: str) -> str | None:
        return next((value for value in said.get(name, ()) if value), None)

    return Answer(
        markdown=markdown,
        title=first("Title"),
        url=first("URL Source"),
        published=first("Published Time"),
        description=first("Description"),
        warnings=tuple(filter(None, said.get("Warning", ()))),
    )


class Reader:
    """The reader that the settings name; use one for many pages, as an async context manager."""

    def __init__(self, settings: Settings) -> None:
        if settings.remote_url is None:
            raise ParseError(
                f"The mode `{settings.mode}` needs a remote reader, and none is configured.",
                suggestions=("Set `remote_url`, or the mode to `local`.",),
            )
        self._url = settings.remote_url
        self._key = settings.remote_key
        self._seconds = settings.remote_timeout
        self._host = split_url(self._url).host
        # The owner named it: it may be on this machine. That opens the way to it, and to no page.
        self._client = Client(replace(settings, allow_hosts=(*settings.allow_hosts, self._host.name)))
        self._public = Guard()
        self._own = Guard(settings.allow_hosts)

    async def __aenter__(self) -> Reader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def ask(self, url: str) -> Fetched:
        """The reader's answer about a page, as a page of its own kind. What fails is told as the reader's failure."""
        self._refuse_private(url)
        place = self._url if self._url.endswith(("/", "=")) else f"{self._url}/"
        # As it is, which all readers know; what stands behind a `#` would not arrive so.
        asked = place + (quote(url.strip(), safe="", errors="replace") if "#" in url else split_url(url).url)
        try:
            answer = await self._client.fetch(asked, headers=self._headers(), deadline=self._seconds)
        except FetchError as error:
            raise self._told(error) from None
        return _as_page(answer, url)

    async def ask_about(self, html: str, url: str | None) -> Fetched:
        """The reader's answer about a page that is sent to it."""
        form = {"html": html, **({"url": url} if url else {})}
        try:
            answer = await self._client.send(
                self._url.rstrip("/"), form, headers=self._headers(), deadline=self._seconds
            )
        except FetchError as error:
            raise self._told(error) from None
        return _as_page(answer, url or "")

    def _headers(self) -> dict[str, str]:
        headers = {"accept": "text/plain", "x-timeout": str(max(1, min(int(self._seconds), MOST_SECONDS)))}
        return {**headers, "authorization": f"Bearer {self._key}"} if self._key else headers

    def _refuse_private(self, url: str) -> None:
        """Pages of the owner's own hosts are nothing for a reader elsewhere: their names are not to be known there."""
        if self._is_private(url) and not self._is_private(self._url):
            raise BlockedAddress(
                "The page is on a private host, of which the remote reader is not told.", suggestions=()
            )

    def _is_private(self, url: str) -> bool:
        try:
            self._public.check_url(url)
        except BlockedAddress:
            return True
        return self._own.is_exception(url)

    def _told(self, error: FetchError) -> FetchError:
        name = self._host.name
        if isinstance(error, FetchHttpError):
            hint = "Check `remote_key`." if error.status in (401, 402, 403) else "Try again later."
            return FetchHttpError(
                f"The remote reader `{name}` answered with the status {error.status}.",
                status=error.status,
                suggestions=(hint,),
            )
        if isinstance(error, FetchTimeout):
            return FetchTimeout(
                f"The remote reader `{name}` did not answer in time.", suggestions=("Raise `remote_timeout`.",)
            )
        return type(error)(f"The remote reader `{name}` could not be reached.", suggestions=("Check `remote_url`.",))


def _as_page(answer: Fetched, url: str) -> Fetched:
    found = read_answer(answer.body.decode("utf-8", "replace")).url
    return replace(
        answer,
        url=url,
        final_url=_trusted(found, url),
        content_type=CONTENT_TYPE,
        headers={},
        etag=None,
        last_modified=None,
    )


def _trusted(found: str | None, url: str) -> str:
    """Where the reader says that it found the page, if that is on the same host: a page's own title can hold a line that
    looks like the reader's, and must not pass for a page of someone else."""
    try:
        place, asked = split_url(found or url), split_url(url)
    except PagekeepError:
        return url
    same = place.host.name.removeprefix("www.") == asked.host.name.removeprefix("www.")
    return place.url if found and same else url

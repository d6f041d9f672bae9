"""The client of a remote reader: a service like Jina's that returns a page's Markdown after a few lines of metadata.

It is sent the page's URL, or its HTML if the caller has it, and the key: never headers, cookies or settings.
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
"""The content type under which an answer is stored, so that it is not taken for a page."""
MAX_SECONDS: Final = 180
"""The largest timeout that a remote reader accepts."""

_HEAD: Final = re.compile(r"(Title|URL Source|Published Time|Warning|Description):[ \t]*(.*)")
_CONTENT: Final = "Markdown Content:"
_MAX_HEAD_LINES: Final = 60
"""Lines in which the start of the Markdown must come; Jina writes five to ten."""


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """A remote reader's answer."""

    markdown: str
    title: str | None = None
    url: str | None = None
    """The final URL of the page."""
    published: str | None = None
    """The date as the remote reader wrote it."""
    description: str | None = None
    warnings: tuple[str, ...] = ()


def parse_answer(text: str) -> RemoteAnswer:
    """Parse a remote reader's answer; one without metadata lines is Markdown from its first line."""
    lines = text.replace("\r\n", "\n").lstrip("\ufeff\n").split("\n", _MAX_HEAD_LINES)
    head: dict[str, list[str]] = {}
    for number, line in enumerate(lines[:_MAX_HEAD_LINES]):
        if line.startswith(_CONTENT):
            rest = "\n".join([line.removeprefix(_CONTENT).strip(), *lines[number + 1 :]])
            return _make_answer(rest.strip("\n"), head)
        match = _HEAD.match(line)
        if match:
            head.setdefault(match[1], []).append(match[2].strip())
        elif line.strip():
            break
    return RemoteAnswer(text.strip("\n"))


def _make_answer(markdown: str, head: Mapping[str, list[str]]) -> RemoteAnswer:
    def first(name: str) -> str | None:
        return next((value for value in head.get(name, ()) if value), None)

    return RemoteAnswer(
        markdown=markdown,
        title=first("Title"),
        url=first("URL Source"),
        published=first("Published Time"),
        description=first("Description"),
        warnings=tuple(filter(None, head.get("Warning", ()))),
    )


class RemoteReader:
    """A client of the remote reader in the settings; use one for many pages, with `async with`."""

    def __init__(self, settings: Settings) -> None:
        if settings.remote_url is None:
            raise ParseError(
                f"The mode `{settings.mode}` needs a remote reader, but `remote_url` is not set.",
                suggestions=("Set `remote_url`, or set `mode` to `local`.",),
            )
        self._url = settings.remote_url
        self._key = settings.remote_key
        self._seconds = settings.remote_timeout
        self._host = split_url(self._url).host
        # The remote reader itself may have a private address, as the owner configured it; pages may not.
        self._client = Client(replace(settings, allow_hosts=(*settings.allow_hosts, self._host.name)))
        self._public_guard = Guard()
        self._guard = Guard(settings.allow_hosts)

    async def __aenter__(self) -> RemoteReader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def read_url(self, url: str) -> Fetched:
        """Return the remote reader's answer for a URL, as a page of content type `CONTENT_TYPE`."""
        self._refuse_private(url)
        prefix = self._url if self._url.endswith(("/", "=")) else f"{self._url}/"
        # Unquoted, which all remote readers accept; only a fragment would get lost that way.
        target = prefix + (quote(url.strip(), safe="", errors="replace") if "#" in url else split_url(url).url)
        try:
            answer = await self._client.fetch(target, headers=self._headers(), deadline=self._seconds)
        except FetchError as error:
            raise self._reader_error(error) from None
        return _make_page(answer, url)

    async def read_html(self, html: str, url: str | None) -> Fetched:
        """Send HTML to the remote reader and return its answer."""
        form = {"html": html, **({"url": url} if url else {})}
        try:
            answer = await self._client.post_form(
                self._url.rstrip("/"), form, headers=self._headers(), deadline=self._seconds
            )
        except FetchError as error:
            raise self._reader_error(error) from None
        return _make_page(answer, url or "")

    def _headers(self) -> dict[str, str]:
        headers = {"accept": "text/plain", "x-timeout": str(max(1, min(int(self._seconds), MAX_SECONDS)))}
        return {**headers, "authorization": f"Bearer {self._key}"} if self._key else headers

    def _refuse_private(self, url: str) -> None:
        """Refuse to send the URLs of private hosts to a remote reader on the internet."""
        if self._is_private(url) and not self._is_private(self._url):
            raise BlockedAddress(
                "The page is on a private host, and private URLs are not sent to the remote reader.", suggestions=()
            )

    def _is_private(self, url: str) -> bool:
        try:
            self._public_guard.check_url(url)
        except BlockedAddress:
            return True
        return self._guard.is_exception(url)

    def _reader_error(self, error: FetchError) -> FetchError:
        """Return the error as a failure of the remote reader, not of the page."""
        name = self._host.name
        if isinstance(error, FetchHttpError):
            hint = "Check `remote_key`." if error.status in (401, 402, 403) else "Try again later."
            return FetchHttpError(
                f"The remote reader `{name}` returned status {error.status}.",
                status=error.status,
                suggestions=(hint,),
            )
        if isinstance(error, FetchTimeout):
            return FetchTimeout(
                f"The remote reader `{name}` did not respond in time.", suggestions=("Increase `remote_timeout`.",)
            )
        return type(error)(f"The remote reader `{name}` could not be reached.", suggestions=("Check `remote_url`.",))


def _make_page(answer: Fetched, url: str) -> Fetched:
    final_url = parse_answer(answer.body.decode("utf-8", "replace")).url
    return replace(
        answer,
        url=url,
        final_url=_checked_url(final_url, url),
        content_type=CONTENT_TYPE,
        headers={},
        etag=None,
        last_modified=None,
    )


def _checked_url(final_url: str | None, url: str) -> str:
    """Return the final URL in an answer if it is on the same host, else the requested one.

    A page's title can contain a line that looks like the remote reader's, and must not claim another site's URL.
    """
    try:
        final, requested = split_url(final_url or url), split_url(url)
    except PagekeepError:
        return url
    is_same_host = final.host.name.removeprefix("www.") == requested.host.name.removeprefix("www.")
    return final.url if final_url and is_same_host else url

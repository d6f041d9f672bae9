"""One fetch in progress: its options, its state, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pagekeep.fetch.content_type import charset
from pagekeep.fetch.cookies import CookieJar
from pagekeep.fetch.deadline import Deadline
from pagekeep.fetch.response_bodies import Response
from pagekeep.fetch.urls import SplitUrl
from pagekeep.model import Fetched


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The options of one fetch."""

    max_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] | None = None
    conditional: bool = False
    """Whether a 304 response is expected."""
    pages_only: bool = True
    """Whether everything except pages is refused."""
    form: bytes | None = None
    """A form, or another body, to send with POST."""
    single: bool = False
    """One request: no redirect is followed, nothing is tried again, and a response of any status is returned."""
    method: str | None = None
    """Another method than GET, or POST for a body."""
    any_status: bool = False
    """With `single`: the body of an error is read too."""
    spaced: bool = True
    """Whether to keep the delay per host; the images of a page are loaded together, as browsers do, in their own slots."""


@dataclass(slots=True)
class FetchState:
    """A fetch in progress."""

    options: FetchOptions
    first: SplitUrl
    current: SplitUrl
    jar: CookieJar
    deadline: Deadline
    seconds: dict[str, float]
    redirects: int = 0
    is_moved: bool = True
    """Whether all redirects so far were permanent."""
    moved_to: str | None = None


def make_fetched(
    url: str, state: FetchState, response: Response, body: bytes, content_type: str, *, not_modified: bool = False
) -> Fetched:
    """Return the result of a fetch."""
    headers = response.headers.fields
    return Fetched(
        url=url,
        final_url=state.current.url,
        status=response.status,
        headers=headers,
        body=body,
        encoding=charset(headers),
        content_type=content_type,
        not_modified=not_modified,
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        moved_to=state.moved_to,
        seconds=state.seconds,
    )

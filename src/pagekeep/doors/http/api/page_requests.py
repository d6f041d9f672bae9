"""What routes that read pages share: from the caller's wish to the use case's request."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from fastapi import Depends

from pagekeep.capture.from_url import Request
from pagekeep.capture.uploads import sent_page
from pagekeep.doors.http.api.models import Asked
from pagekeep.doors.http.observability.logs import about
from pagekeep.doors.http.service import Service, service_of
from pagekeep.errors import PagekeepError
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched

Here = Annotated[Service, Depends(service_of)]


def request_of(asked: Asked) -> Request:
    """How to ask for the page. What the log says of it is its host."""
    if asked.url:
        note(asked.url)
    return Request(asked.url or "", render=asked.render, wait_for=asked.wait_for)


def note(url: str) -> None:
    """Tell the log which host the request is about."""
    with suppress(PagekeepError):
        about(split_url(url).host.name)


def given_by(asked: Asked) -> Fetched | None:
    """The page itself, when it was sent."""
    if asked.html is None:
        return None
    return sent_page(asked.url or "", asked.html, rendered=asked.rendered, selection=asked.selection)

"""What routes that read pages share: from the caller's wish to the use case's request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from pagekeep.app.capture import Request
from pagekeep.app.posted import posted
from pagekeep.doors.http.api.shapes import Asked
from pagekeep.doors.http.service import Service, service_of
from pagekeep.model import Fetched

Here = Annotated[Service, Depends(service_of)]


def request_of(asked: Asked) -> Request:
    """How to ask for the page."""
    return Request(asked.url or "", render=asked.render, wait_for=asked.wait_for)


def given_by(asked: Asked) -> Fetched | None:
    """The page itself, when it was sent."""
    if asked.html is None:
        return None
    return posted(asked.url or "", asked.html, rendered=asked.rendered, selection=asked.selection)

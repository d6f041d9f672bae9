"""The answers of `/r`: the plain body and the JSON that clients of reader services know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pagekeep.doors.http.compat.jina_options import Wishes
from pagekeep.library.page_request import Form, PageRequest, PageResponse
from pagekeep.model import Page, plain

_NAMES: Final[dict[Form, str]] = {"html": "html", "text": "text"}


def plain_body(call: PageRequest, given: PageResponse, wishes: Wishes) -> str:
    """Title, source, date, then the Markdown; other forms are the body alone."""
    if call.form not in ("content", "markdown"):
        return given.body
    return "\n\n".join(_blocks(call, given, wishes)).rstrip("\n") + "\n"


def _blocks(call: PageRequest, given: PageResponse, wishes: Wishes) -> Iterator[str]:
    about = given.page.metadata
    yield f"Title: {' '.join((about.title or '').split())}"
    yield f"URL Source: {given.page.url or ''}"
    if about.published:
        yield f"Published Time: {about.published}"
    if given.warning:
        yield f"Warning: {' '.join(given.warning.split())}"
    yield f"Markdown Content:\n{given.body.rstrip()}"
    if wishes.flag("with-images-summary"):
        yield "\n".join(["Images:", *(f"- ![{label}]({url})" for label, url in _images(given.page))])
    if wishes.flag("with-links-summary"):
        yield "\n".join(["Links/Buttons:", *(f"- [{text}]({url})" for text, url in _links(given.page))])


def json_body(call: PageRequest, given: PageResponse, wishes: Wishes) -> dict[str, Any]:
    """The same for programs."""
    about = given.page.metadata
    data: dict[str, Any] = {
        "title": about.title or "",
        "description": about.description or "",
        "url": given.page.url or "",
        **({} if given.picture is not None else {_NAMES.get(call.form, "content"): given.body}),
        "publishedTime": about.published,
        "metadata": plain(about),
        "usage": {"tokens": given.tokens},
    }
    if given.warning:
        data["warning"] = given.warning
    if wishes.flag("with-images-summary"):
        data["images"] = _summary(wishes.text("with-images-summary"), _images(given.page))
    if wishes.flag("with-links-summary"):
        data["links"] = _summary(wishes.text("with-links-summary"), _links(given.page))
    return {"code": 200, "status": 20000, "data": data}


def _summary(wanted: str, pairs: Iterator[tuple[str, str]]) -> dict[str, str] | list[list[str]]:
    """By name; with `all`, every one of several that have the same name."""
    return [list(pair) for pair in pairs] if wanted.lower() == "all" else dict(pairs)


def _links(page: Page) -> Iterator[tuple[str, str]]:
    for link in page.links:
        yield " ".join(link.text.split()), link.url


def _images(page: Page) -> Iterator[tuple[str, str]]:
    images = (medium for medium in page.media if medium.kind == "image")
    for number, image in enumerate(images, start=1):
        alt = " ".join(image.alt.split())
        yield f"Image {number}: {alt}" if alt else f"Image {number}", image.url

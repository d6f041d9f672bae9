"""The responses of `/r`: plain text and JSON, as Jina Reader returns them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pagekeep.doors.http.compat.jina_options import JinaOptions
from pagekeep.library.page_request import Form, PageRequest, PageResponse
from pagekeep.model import Page, plain

_NAMES: Final[dict[Form, str]] = {"html": "html", "text": "text"}


def plain_body(call: PageRequest, result: PageResponse, options: JinaOptions) -> str:
    """Return title, source, date and the Markdown; other formats have no header."""
    if call.form not in ("content", "markdown"):
        return result.body
    return "\n\n".join(_blocks(call, result, options)).rstrip("\n") + "\n"


def _blocks(call: PageRequest, result: PageResponse, options: JinaOptions) -> Iterator[str]:
    about = result.page.metadata
    yield f"Title: {' '.join((about.title or '').split())}"
    yield f"URL Source: {result.page.url or ''}"
    if about.published:
        yield f"Published Time: {about.published}"
    if result.warning:
        yield f"Warning: {' '.join(result.warning.split())}"
    yield f"Markdown Content:\n{result.body.rstrip()}"
    if options.flag("with-images-summary"):
        yield "\n".join(["Images:", *(f"- ![{label}]({url})" for label, url in _images(result.page))])
    if options.flag("with-links-summary"):
        yield "\n".join(["Links/Buttons:", *(f"- [{text}]({url})" for text, url in _links(result.page))])


def json_body(call: PageRequest, result: PageResponse, options: JinaOptions) -> dict[str, Any]:
    """Return the JSON response."""
    about = result.page.metadata
    data: dict[str, Any] = {
        "title": about.title or "",
        "description": about.description or "",
        "url": result.page.url or "",
        **({} if result.picture is not None else {_NAMES.get(call.form, "content"): result.body}),
        "publishedTime": about.published,
        "metadata": plain(about),
        "usage": {"tokens": result.tokens},
    }
    if result.warning:
        data["warning"] = result.warning
    if options.flag("with-images-summary"):
        data["images"] = _summary(options.text("with-images-summary"), _images(result.page))
    if options.flag("with-links-summary"):
        data["links"] = _summary(options.text("with-links-summary"), _links(result.page))
    return {"code": 200, "status": 20000, "data": data}


def _summary(mode: str, pairs: Iterator[tuple[str, str]]) -> dict[str, str] | list[list[str]]:
    """Return the links by name; with `all`, as a list that keeps those with the same name."""
    return [list(pair) for pair in pairs] if mode.lower() == "all" else dict(pairs)


def _links(page: Page) -> Iterator[tuple[str, str]]:
    for link in page.links:
        yield " ".join(link.text.split()), link.url


def _images(page: Page) -> Iterator[tuple[str, str]]:
    images = (medium for medium in page.media if medium.kind == "image")
    for number, image in enumerate(images, start=1):
        alt = " ".join(image.alt.split())
        yield f"Image {number}: {alt}" if alt else f"Image {number}", image.url

"""A page that someone already has, as a browser shows it: it takes the same way as one that was fetched."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched


def posted(url: str, html: str, *, rendered: bool = True, selection: str | None = None) -> Fetched:
    """The page at `url` as it was sent; with a `selection`, that part of it under the page's own head.

    `InvalidUrl` or `InvalidProtocol` for what is no address of a page; an empty one stands for a page without.
    """
    if url:
        split_url(url)
    shown = html if not selection else _only(html, selection)
    return Fetched(
        url=url,
        final_url=url,
        status=200,
        headers={},
        body=shown.encode("utf-8", "replace"),
        encoding="utf-8",
        rendered=rendered,
    )


def _only(html: str, selection: str) -> str:
    """What was selected is all that is wanted of the page; its head still says what the page is."""
    head = dom.first(dom.parse(html), "head")
    told = dom.inner_html(head) if head else ""
    return f"<!doctype html><html><head>{told}</head><body><main><article>{selection}</article></main></body></html>"

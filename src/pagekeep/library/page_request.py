"""One call of a reader service: a page from the library when it is fresh enough, else from the web, as the caller wants it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from pagekeep import clock
from pagekeep.capture.extract_worker import ExtractPool
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval
from pagekeep.capture.uploads import sent_page
from pagekeep.capture.view_options import DEFAULT_VIEW, ViewOptions
from pagekeep.errors import Conflict, InvalidQuery, RenderError
from pagekeep.library.preview import look, look_fresh_enough
from pagekeep.model import Fetched, Options, Page
from pagekeep.present.token_count import estimate, trim
from pagekeep.store import Store

Form = Literal["content", "markdown", "html", "text", "screenshot", "pageshot"]
Picture = Literal["window", "whole"]
FRESH: Final = 3600.0
"""Seconds for which a page in the library is as good as the one on the web, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a caller wants."""

    request: Request
    html: str | None = None
    """The page itself; then nothing is fetched."""
    form: Form = "content"
    picture: Picture | None = None
    """A picture of the page as well: what a window shows of it, or the whole."""
    view: ViewOptions = DEFAULT_VIEW
    frames: bool = False
    """Whether what frames show belongs to the page."""
    tolerance: float = FRESH
    """Seconds; 0 takes nothing from the library."""
    waits: bool = False
    """Whether the caller named something to wait for: then a browser is used, if there is one."""
    budget: int | None = None
    """Refuse a page of more tokens."""
    most_tokens: int | None = None
    """Cut the page off there."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller gets."""

    page: Page
    fetched: Fetched
    """What it was made from."""
    body: str
    """The page in the form that was asked for."""
    tokens: int
    warning: str | None
    picture: bytes | None = None
    """PNG."""


def _silent(_stage: str) -> None:
    """Nobody watches."""


async def give(
    call: Call, store: Store, retrieval: Retrieval, extractor: ExtractPool, *, progress: Progress = _silent
) -> Given:
    """The page. `Conflict` when it is over the budget, `RenderError` for a picture where there is no browser."""
    captured, picture = await _found(call, store, retrieval, progress)
    page, fetched = captured.page, captured.fetched
    view = replace(call.view, whole=call.form == "markdown")
    if call.frames:
        from pagekeep.capture.frames import inline_frames

        fetched = await inline_frames(fetched, retrieval, call.request.timeout)
    if view != DEFAULT_VIEW or fetched is not captured.fetched:
        progress("Extracting")
        page = await extractor.extract(fetched, _options(retrieval), view=view)
    body = _body(call.form, page, fetched)
    return _counted(call, Given(page, fetched, body, estimate(body), _warning(captured.page), picture))


def _body(form: Form, page: Page, fetched: Fetched) -> str:
    if form in ("screenshot", "pageshot"):
        return ""
    return source(fetched) if form == "html" else page.text if form == "text" else page.markdown


async def _found(call: Call, store: Store, retrieval: Retrieval, progress: Progress) -> tuple[Captured, bytes | None]:
    """The page, and its picture: then from the browser in any case, and both of one visit."""
    if call.picture is None:
        return await _captured(call, store, retrieval, progress), None
    request = call.request
    if not request.url:
        raise InvalidQuery("A picture is of a page that has an address.", suggestions=("Give `url`, too.",))
    progress("Starting the browser")
    screenshots = await retrieval.screenshots()
    progress("Rendering")
    fetched, picture = await screenshots.take(
        store.user_id,
        request.url,
        call.picture,
        wait_for=request.wait_for,
        timeout=request.render_timeout or retrieval.settings.render_timeout,
        html=None if call.html is None else call.html.encode("utf-8", "replace"),
    )
    return await look(request, retrieval, given=fetched), picture


async def _captured(call: Call, store: Store, retrieval: Retrieval, progress: Progress) -> Captured:
    if call.html is not None:
        return await look(call.request, retrieval, given=sent_page(call.request.url, call.html, rendered=False))
    if call.tolerance > 0:
        kept = await look_fresh_enough(call.request.url, call.tolerance, store, retrieval)
        if kept is not None and (kept.fetched.rendered or call.request.render != "force"):
            return kept
    if not call.waits or call.request.render is not None:
        return await look(call.request, retrieval, progress=progress)
    try:
        return await look(replace(call.request, render="force"), retrieval, progress=progress)
    except RenderError:  # no browser to wait in: the page as it comes may well hold what was waited for
        return await look(call.request, retrieval, progress=progress)


def _options(retrieval: Retrieval) -> Options:
    return Options(saved_at=clock.to_the_second(clock.now()), max_bytes=retrieval.settings.max_bytes)


def source(fetched: Fetched) -> str:
    """The page as it came, as text."""
    from pagekeep.extraction.input.decode import decode

    return decode(fetched.body, Options(encoding=fetched.encoding, max_bytes=len(fetched.body)))[0]


def _counted(call: Call, given: Given) -> Given:
    """Within what the caller can take."""
    if call.budget is not None and given.tokens > call.budget:
        raise Conflict(
            f"The page has about {given.tokens} tokens, the budget is {call.budget}.",
            suggestions=("Raise the budget, or have the page trimmed with X-Max-Tokens.",),
        )
    if call.most_tokens is None or given.tokens <= call.most_tokens:
        return given
    body = trim(given.body, call.most_tokens)
    cut = f"The page was cut off after about {call.most_tokens} of {given.tokens} tokens."
    return replace(given, body=body, tokens=estimate(body), warning=" ".join(filter(None, [given.warning, cut])))


def _warning(page: Page) -> str | None:
    """What the caller should know before believing the page."""
    unrendered = [warning.text for warning in page.trace.warnings if warning.code == "not_rendered"]
    failed = [page.quality.reason] if page.quality.level != "article" and page.quality.reason else []
    return " ".join([*failed, *unrendered]) or None

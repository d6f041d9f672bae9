"""Pages without saving them: preview one, or answer a request for one in a format."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass, replace
from typing import Final, Literal

from pagekeep import clock
from pagekeep.capture.extract import DEFAULT_VIEW, ViewOptions
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval, capture, ignore_progress
from pagekeep.capture.measure import EXTRACTING, RENDERING, STARTING_BROWSER, measure
from pagekeep.capture.source import decode_source
from pagekeep.capture.uploads import page_in_file, sent_page
from pagekeep.errors import Conflict, InvalidQuery, PagekeepError, RenderError
from pagekeep.library import normal_url
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item_and_raw
from pagekeep.model import TEXT_FIELDS, Fetched, MadeField, Options, Page, RawPage, TextField
from pagekeep.present.sections import count_tokens, trim_to_tokens
from pagekeep.store import Store


async def preview_page(
    request: Request,
    retrieval: Retrieval,
    *,
    needs: tuple[MadeField, ...] = (),
    leaves_out: tuple[TextField, ...] = (),
    uploaded: Fetched | None = None,
    progress: Progress = ignore_progress,
) -> Captured:
    """Return the page at an address, or the uploaded one, with the fields that the caller needs.

    The text of a page that is fetched is never left out: it is compared with that of the next pages of its article.
    """
    if uploaded is None:
        leaves_out = tuple(name for name in leaves_out if name != "text")
    options = preview_options(retrieval, clock.now(), needs, leaves_out)
    with measure(request.url, progress, retrieval.report) as measured:
        if uploaded is None:
            captured = await capture(request, retrieval, options=options, progress=measured.progress)
        else:
            measured.progress(EXTRACTING)
            captured = Captured(await retrieval.extract(uploaded, options), uploaded)
        measured.page, measured.page_bytes = captured.page, len(captured.fetched.body)
        measured.outcome = "extracted"
    return captured


async def preview_item(key: str, store: Store, retrieval: Retrieval, *, needs: tuple[MadeField, ...] = ()) -> Page:
    """Return a saved item, extracted again from its stored page; raise `NotFound` when that was not stored."""
    item, raw = await to_thread(get_item_and_raw, store, key)
    return await retrieval.extract(build_item.to_fetched(raw), preview_options(retrieval, item.saved_at, needs))


async def preview_recent(
    url: str,
    seconds: float,
    store: Store,
    retrieval: Retrieval,
    *,
    needs: tuple[MadeField, ...] = (),
    leaves_out: tuple[TextField, ...] = (),
) -> Captured | None:
    """Return the saved page at an address if it was fetched within the last `seconds`; nothing is fetched."""
    raw = await to_thread(_find_recent, url, seconds, store)
    if raw is None:
        return None
    fetched = build_item.to_fetched(raw)
    options = preview_options(retrieval, clock.now(), needs, leaves_out)
    return Captured(await retrieval.extract(fetched, options), fetched)


def _find_recent(url: str, seconds: float, store: Store) -> RawPage | None:
    try:
        item = store.items.by_url(normal_url.normalise(url))
    except PagekeepError:
        return None
    raw = store.items.raw(item.id) if item is not None and item.deleted_at is None else None
    if raw is None or raw.fetched_at < clock.add_seconds(clock.now(), -seconds):
        return None
    return raw


def preview_options(
    retrieval: Retrieval, saved_at: str, needs: tuple[MadeField, ...] = (), leaves_out: tuple[TextField, ...] = ()
) -> Options:
    """Return the options of an extraction whose document shows this time of saving."""
    max_bytes = retrieval.settings.max_bytes
    return Options(saved_at=clock.to_the_second(saved_at), max_bytes=max_bytes, needs=needs, leaves_out=leaves_out)


Form = Literal["content", "markdown", "html", "text", "screenshot", "pageshot"]
Picture = Literal["window", "whole"]
FRESH_SECONDS: Final = 3600.0
"""Seconds for which a page in the library is used instead of the one on the web, unless the caller sets another limit."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request for a page."""

    request: Request
    html: bytes | None = None
    """The page itself, in UTF-8; then nothing is fetched."""
    file: bytes | None = None
    """A document such as a PDF, or a page, as a file; then nothing is fetched."""
    form: Form = "content"
    picture: Picture | None = None
    """Also a screenshot: of the visible window, or of the whole page."""
    view: ViewOptions = DEFAULT_VIEW
    frames: bool = False
    """Whether the content of frames is part of the page."""
    tolerance: float = FRESH_SECONDS
    """Maximum age in seconds of a page from the library; 0 never uses the library."""
    waits: bool = False
    """Whether the caller waits for an element: then a browser is used, if there is one."""
    budget: int | None = None
    """Tokens above which the page is refused."""
    needs: tuple[MadeField, ...] = ()
    """The fields of the page that the caller reads."""
    document: bool = False
    """Whether the caller reads the page's document too."""
    max_tokens: int | None = None
    """Tokens after which the page is cut off."""

    @property
    def leaves_out(self) -> tuple[TextField, ...]:
        """The texts of the page that nothing reads: each may be as long as the page."""
        reads = {"text"} if self.form == "text" else {"markdown"} if self.form in ("content", "markdown") else set()
        return tuple(name for name in TEXT_FIELDS if name not in reads and not (name == "document" and self.document))


@dataclass(frozen=True, slots=True)
class PageResponse:
    """The answer to a request for a page."""

    page: Page
    fetched: Fetched
    """The page before extraction."""
    body: str
    """The page in the requested format."""
    tokens: int
    warning: str | None
    picture: bytes | None = None
    """PNG."""


async def answer_request(
    call: PageRequest,
    store: Store,
    retrieval: Retrieval,
    *,
    progress: Progress = ignore_progress,
) -> PageResponse:
    """Return the page; raise `Conflict` when it is over the budget, `RenderError` for a screenshot without a browser."""
    captured, picture = await _capture_with_picture(call, store, retrieval, progress)
    page, fetched = captured.page, captured.fetched
    view = replace(call.view, whole=call.form == "markdown")
    if call.frames:
        from pagekeep.capture.frames import inline_frames

        fetched = await inline_frames(fetched, retrieval, call.request.timeout)
    if view != DEFAULT_VIEW or fetched is not captured.fetched:
        progress(EXTRACTING)
        page = await retrieval.extract(
            fetched, preview_options(retrieval, clock.now(), call.needs, call.leaves_out), view=view
        )
    body = await _body(call.form, page, fetched, retrieval)
    return _limit_tokens(call, PageResponse(page, fetched, body, count_tokens(body), _warning(captured.page), picture))


async def _body(form: Form, page: Page, fetched: Fetched, retrieval: Retrieval) -> str:
    if form in ("screenshot", "pageshot"):
        return ""
    if form == "html":
        return await decode_source(fetched, retrieval)
    return page.text if form == "text" else page.markdown


async def _capture_with_picture(
    call: PageRequest, store: Store, retrieval: Retrieval, progress: Progress
) -> tuple[Captured, bytes | None]:
    """Return the page and, if requested, its screenshot: then both come from one visit with the browser."""
    if call.picture is None:
        return await _capture(call, store, retrieval, progress), None
    request = call.request
    if not request.url:
        raise InvalidQuery("A screenshot needs the page's address.", suggestions=("Send `url` as well.",))
    progress(STARTING_BROWSER)
    screenshots = await retrieval.screenshots()
    progress(RENDERING)
    fetched, picture = await screenshots.take(
        store.user_id,
        request.url,
        call.picture,
        wait_for=request.wait_for,
        timeout=request.render_timeout or retrieval.settings.render_timeout,
        html=call.html,
    )
    return await _preview(call, retrieval, uploaded=fetched), picture


async def _capture(call: PageRequest, store: Store, retrieval: Retrieval, progress: Progress) -> Captured:
    if call.file is not None:
        uploaded = await page_in_file(call.file, "", retrieval, url=call.request.url)
        return await _preview(call, retrieval, uploaded=uploaded)
    if call.html is not None:
        return await _preview(call, retrieval, uploaded=sent_page(call.request.url, call.html, rendered=False))
    if call.tolerance > 0:
        recent = await preview_recent(
            call.request.url, call.tolerance, store, retrieval, needs=call.needs, leaves_out=call.leaves_out
        )
        if recent is not None and (recent.fetched.rendered or call.request.render != "force"):
            return recent
    if not call.waits or call.request.render is not None:
        return await _preview(call, retrieval, progress=progress)
    try:
        forced = replace(call, request=replace(call.request, render="force"))
        return await _preview(forced, retrieval, progress=progress)
    except RenderError:  # no browser to wait in: the static page may contain the element
        return await _preview(call, retrieval, progress=progress)


async def _preview(
    call: PageRequest, retrieval: Retrieval, *, uploaded: Fetched | None = None, progress: Progress = ignore_progress
) -> Captured:
    return await preview_page(
        call.request, retrieval, needs=call.needs, leaves_out=call.leaves_out, uploaded=uploaded, progress=progress
    )


def _limit_tokens(call: PageRequest, response: PageResponse) -> PageResponse:
    """Refuse a page over the budget; cut off one that is longer than the caller accepts."""
    if call.budget is not None and response.tokens > call.budget:
        raise Conflict(
            f"The page has about {response.tokens} tokens, the budget is {call.budget}.",
            suggestions=("Raise the budget, or send X-Max-Tokens to cut the page off.",),
        )
    if call.max_tokens is None or response.tokens <= call.max_tokens:
        return response
    body = trim_to_tokens(response.body, call.max_tokens)
    cut = f"The page was cut off after about {call.max_tokens} of {response.tokens} tokens."
    return replace(
        response, body=body, tokens=count_tokens(body), warning=" ".join(filter(None, [response.warning, cut]))
    )


def _warning(page: Page) -> str | None:
    """Return what may be wrong with the page."""
    unrendered = [warning.text for warning in page.trace.warnings if warning.code in ("not_rendered", "pages_missing")]
    failed = [page.quality.reason] if page.quality.level != "article" and page.quality.reason else []
    return " ".join([*failed, *unrendered]) or None

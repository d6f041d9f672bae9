"""The modes of saving: read here, by a remote reader, by both to compare them, or by the reader where we fail.

Without a mode that says so and a reader that is configured, nothing is ever asked of one. Pages that someone sends us are
always read here.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pagekeep.capture.comparisons import Comparison, compare, note
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval, capture
from pagekeep.errors import BlockedAddress, PagekeepError
from pagekeep.model import Options, PageWarning


async def capture_by_mode(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """The page at an address, by whoever the settings have read it."""
    mode = retrieval.settings.mode
    if mode == "remote":
        return await _ask(request, retrieval, options, progress)
    if mode == "compare":
        return await _both(request, retrieval, options, progress)
    if mode == "fallback":
        return await _with_fallback(request, retrieval, options, progress)
    return await capture(request, retrieval, options=options, progress=progress)


async def _ask(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    reader = await retrieval.reader()
    progress("Asking the remote reader")
    fetched = await reader.read_url(request.url)
    from pagekeep.capture.remote_page import page_of_answer  # it brings the whole pipeline along

    return Captured(page_of_answer(fetched, options), fetched)


async def _with_fallback(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """Ours, unless we fail and the reader does not."""
    await retrieval.reader()  # a mistake in the settings is told at once, not at the first page that fails
    ours: Captured | PagekeepError
    try:
        ours = await capture(request, retrieval, options=options, progress=progress)
    except BlockedAddress:
        raise
    except PagekeepError as error:
        ours = error
    if isinstance(ours, Captured) and ours.page.quality.level != "bookmark":
        return ours
    try:
        theirs = await _ask(request, retrieval, options, progress)
    except PagekeepError as error:
        if isinstance(ours, PagekeepError):
            ours.suggestions = (*ours.suggestions, error.message)
            raise ours from None
        return _with_warning(ours, PageWarning("not_read_remotely", f"not read remotely: {error.message}"))
    if theirs.page.quality.level == "bookmark" and isinstance(ours, Captured):
        return ours
    why = ours.message if isinstance(ours, PagekeepError) else ours.page.quality.reason or "no content was found"
    return _with_warning(theirs, PageWarning("read_remotely", f"read remotely: {why}"))


async def _both(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """Ours; what the reader makes of the page is only compared with it, and may fail."""
    await retrieval.reader()
    asking = asyncio.create_task(_ask(request, retrieval, options, lambda _stage: None))
    try:
        ours: Captured | PagekeepError = await capture(request, retrieval, options=options, progress=progress)
    except PagekeepError as error:
        ours = error
    except BaseException:
        asking.cancel()
        raise
    progress("Comparing")
    try:
        theirs: Captured | PagekeepError = await asking
    except PagekeepError as error:
        theirs = error
    await asyncio.to_thread(note, retrieval.settings, _compared(request.url, ours, theirs))
    if isinstance(ours, PagekeepError):
        raise ours
    return ours


def _compared(url: str, ours: Captured | PagekeepError, theirs: Captured | PagekeepError) -> Comparison:
    return compare(
        url,
        ours if isinstance(ours, PagekeepError) else ours.page,
        theirs if isinstance(theirs, PagekeepError) else theirs.page,
    )


def _with_warning(captured: Captured, warning: PageWarning) -> Captured:
    return replace(captured, page=captured.page.with_warnings(warning))

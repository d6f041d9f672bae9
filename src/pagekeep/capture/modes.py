"""The modes of saving: extract locally, with a remote reader, with both to compare them, or remotely when local fails.

A remote reader is used only if the mode says so and one is configured. Pages that a user sends are always extracted
locally.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from pagekeep.capture.comparisons import Comparison, compare, log_comparison
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval, capture
from pagekeep.errors import BlockedAddress, PagekeepError
from pagekeep.model import Options, Page, PageWarning


async def capture_by_mode(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """Capture the page at a URL in the mode of the settings."""
    mode = retrieval.settings.mode
    if mode == "remote":
        return await _read_remotely(request, retrieval, options, progress)
    if mode == "compare":
        return await _capture_and_compare(request, retrieval, options, progress)
    if mode == "fallback":
        return await _capture_with_fallback(request, retrieval, options, progress)
    return await capture(request, retrieval, options=options, progress=progress)


async def _read_remotely(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    reader = await retrieval.remote_reader()
    progress("Waiting for the remote reader")
    fetched = await reader.read_url(request.url)
    return Captured(await retrieval.extract(fetched, options), fetched)


async def _capture_with_fallback(
    request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """Capture the page locally, and with the remote reader if that fails."""
    await retrieval.remote_reader()  # reports faulty settings now, not at the first page that fails
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
        theirs = await _read_remotely(request, retrieval, options, progress)
    except PagekeepError as error:
        if isinstance(ours, PagekeepError):
            ours.suggestions = (*ours.suggestions, error.message)
            raise ours from None
        return _add_warning(ours, PageWarning("not_read_remotely", f"not read remotely: {error.message}"))
    if theirs.page.quality.level == "bookmark" and isinstance(ours, Captured):
        return ours
    reason = ours.message if isinstance(ours, PagekeepError) else ours.page.quality.reason or "no content was found"
    return _add_warning(theirs, PageWarning("read_remotely", f"read remotely: {reason}"))


async def _capture_and_compare(
    request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """Capture the page locally; the remote reader's result is only compared with it, and may fail."""
    await retrieval.remote_reader()
    remote = asyncio.create_task(_read_remotely(request, retrieval, options, lambda _stage: None))
    try:
        ours: Captured | PagekeepError = await capture(request, retrieval, options=options, progress=progress)
    except PagekeepError as error:
        ours = error
    except BaseException:
        remote.cancel()
        raise
    progress("Comparing")
    try:
        theirs: Captured | PagekeepError = await remote
    except PagekeepError as error:
        theirs = error
    comparison = await retrieval.run(_Compare(request.url, _page_of(ours), _page_of(theirs)))
    await asyncio.to_thread(log_comparison, retrieval.settings, comparison)
    if isinstance(ours, PagekeepError):
        raise ours
    return ours


@dataclass(frozen=True, slots=True)
class _Compare:
    url: str
    ours: Page | PagekeepError
    theirs: Page | PagekeepError

    def run(self) -> Comparison:
        """Compare the two results."""
        return compare(self.url, self.ours, self.theirs)


def _page_of(result: Captured | PagekeepError) -> Page | PagekeepError:
    return result if isinstance(result, PagekeepError) else result.page


def _add_warning(captured: Captured, warning: PageWarning) -> Captured:
    return replace(captured, page=captured.page.with_warnings(warning))

"""Decide when a page has settled: its text has stopped growing, and no open request is likely to add more.

`networkidle` (no request for 500 ms) waits for the wrong thing. A page that polls, streams or sends analytics is never
idle and costs the whole timeout; a page that is done costs 500 ms in any case; and a page whose script starts its request
late is taken for done before it has any text. The text is what is needed, so the text is watched: changes too small to be
content (a clock, a counter) do not count, and an open request counts only while it is young, is of a type that brings
content, and earlier requests to the same URL did not end without any effect.

This module only computes; the clock and the browser are elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from math import inf
from typing import Final

ENOUGH_TEXT: Final = 500
"""Characters of text from which a page is taken to have content, and not only its navigation."""
QUIET_SECONDS: Final = 0.15
"""Seconds without growth after which a page with enough text has settled."""
QUIET_SECONDS_LITTLE_TEXT: Final = 0.5
"""The same for a page with little text: more may come from a timer or a socket, which cannot be observed."""
QUIET_SECONDS_AWAITED: Final = 0.03
"""The same once the caller's selector matches."""
MAX_REQUEST_AGE: Final = 3.0
"""Seconds for which a page with enough text waits for an open request. Older ones are streams and long polls. A page with
little text waits until the deadline."""
MAX_GROWTH_SECONDS: Final = 8.0
"""Seconds after which a page that has enough text and still grows is assumed to grow forever."""
MAX_REQUEST_DELAY: Final = 1.0
"""A page with enough text waits only for requests that began within this many seconds of its last growth."""
POLL_REPEATS: Final = 3
"""After this many responses from one URL without growth it is not waited for any more: it is being polled."""

# Frames, pings, sockets and event streams add no text to the page.
_TEXT_TYPES: Final = frozenset(["document", "script", "fetch", "xhr"])


@dataclass(slots=True)
class Traffic:
    """The requests of a page that may still bring text."""

    _open: dict[Hashable, tuple[float, str]] = field(default_factory=dict)
    _without_effect: Counter[str] = field(default_factory=Counter)

    def add(self, request: Hashable, kind: str, place: str, now: float) -> None:
        """Add a request that started. `place` is its method and URL; the query is ignored."""
        if kind in _TEXT_TYPES:
            self._open[request] = (now, place.partition("?")[0])

    def remove(self, request: Hashable) -> None:
        """Remove a request that was answered or failed."""
        entry = self._open.pop(request, None)
        if entry is not None:
            self._without_effect[entry[1]] += 1

    def note_growth(self) -> None:
        """Note that the text grew: the responses so far had an effect."""
        self._without_effect.clear()

    def has_pending(self, after: float, before: float) -> bool:
        """Return whether an open request that started between the two times is worth waiting for."""
        return any(
            after < start < before and self._without_effect[place] < POLL_REPEATS
            for start, place in self._open.values()
        )


@dataclass(slots=True)
class Settling:
    """Follows the length of a page's text from the time `start`."""

    start: float
    traffic: Traffic
    selector_matched: bool = False
    """The caller gave a selector to wait for, and it matches."""
    _length: int = -1
    _grew_at: float = 0.0

    def is_settled(self, now: float, length: int) -> bool:
        """Return whether a page whose text is `length` characters long at `now` has settled."""
        if self._length < 0 or abs(length - self._length) > self._length // 100:
            self._length, self._grew_at = length, now
            self.traffic.note_growth()
        enough = length >= ENOUGH_TEXT or self.selector_matched
        if enough and now - self.start >= MAX_GROWTH_SECONDS:
            return True
        return now - self._grew_at >= self._quiet_seconds(enough) and not self._is_waiting(now, enough)

    def _is_waiting(self, now: float, enough: bool) -> bool:
        if enough:
            return self.traffic.has_pending(after=now - MAX_REQUEST_AGE, before=self._grew_at + MAX_REQUEST_DELAY)
        return self.traffic.has_pending(after=-inf, before=inf)

    def _quiet_seconds(self, enough: bool) -> float:
        if self.selector_matched:
            return QUIET_SECONDS_AWAITED
        return QUIET_SECONDS if enough else QUIET_SECONDS_LITTLE_TEXT

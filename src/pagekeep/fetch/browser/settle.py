"""When a page has settled: its text has stopped growing, and nothing it asked for can be expected to add more.

`networkidle` (no request for 500 ms) waits for the wrong thing. A page that polls, streams or reports to its analytics
never falls idle and costs the whole timeout; a page that is done costs the 500 ms in any case; and a page whose script
starts its request late is taken for done before it has any text. The text is what we came for, so the text is watched:
changes too small to be content (a clock, a counter) do not count, an open request counts only while it is young, of a
kind that brings content, and its like has not been answered before to no effect.

Everything here is plain arithmetic on readings; the clock and the browser are elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from math import inf
from typing import Final

ENOUGH_TEXT: Final = 500
"""Characters from which on a page is taken to have content and not only its frame."""
QUIET: Final = 0.15
"""Seconds without growth after which a page with enough text has settled."""
QUIET_LITTLE: Final = 0.5
"""The same for a page with little text: more may well come from a timer or a socket, which cannot be seen waiting."""
QUIET_AWAITED: Final = 0.03
"""The same once the selector that the caller named is there."""
PATIENCE: Final = 3.0
"""Age in seconds up to which a page with enough text waits for an open request. Older ones are streams and long polls.
A page with little text waits until the deadline."""
ENDLESS: Final = 8.0
"""Seconds after which a page that has enough text and still grows is taken to grow without end."""
SOON: Final = 1.0
"""Seconds after the last growth within which a request must have begun for a page with enough text to wait for it."""
REPEATS: Final = 3
"""Answers from one place without any growth after which its next ones are no longer waited for: it is being polled."""

# Frames, pings, sockets, event streams and all that is not loaded bring no text into the page.
_BRINGS_TEXT: Final = frozenset(["document", "script", "fetch", "xhr"])


@dataclass(slots=True)
class Traffic:
    """The requests of a page that may still bring text."""

    _open: dict[Hashable, tuple[float, str]] = field(default_factory=dict)
    _vain: Counter[str] = field(default_factory=Counter)

    def began(self, request: Hashable, kind: str, place: str, now: float) -> None:
        """A request started. `place` is its method and address; what follows the `?` does not count."""
        if kind in _BRINGS_TEXT:
            self._open[request] = (now, place.partition("?")[0])

    def ended(self, request: Hashable) -> None:
        """A request was answered or failed."""
        known = self._open.pop(request, None)
        if known is not None:
            self._vain[known[1]] += 1

    def grew(self) -> None:
        """The page's text grew: what was answered until now was not in vain."""
        self._vain.clear()

    def awaited(self, after: float, before: float) -> bool:
        """Whether there is an open request worth waiting for that began between the two moments."""
        return any(after < began < before and self._vain[place] < REPEATS for began, place in self._open.values())


@dataclass(slots=True)
class Settling:
    """Follows the length of a page's text from `began` on."""

    began: float
    traffic: Traffic
    named_content: bool = False
    """The caller named what to wait for, and it is there."""
    _length: int = -1
    _grew_at: float = 0.0

    def settled(self, now: float, length: int) -> bool:
        """Whether a page whose text is `length` characters long at `now` has settled."""
        if self._changed(length):
            self._length, self._grew_at = length, now
            self.traffic.grew()
        enough = length >= ENOUGH_TEXT or self.named_content
        if enough and now - self.began >= ENDLESS:
            return True
        return now - self._grew_at >= self._quiet(enough) and not self._waiting(now, enough)

    def _waiting(self, now: float, enough: bool) -> bool:
        if enough:
            return self.traffic.awaited(after=now - PATIENCE, before=self._grew_at + SOON)
        return self.traffic.awaited(after=-inf, before=inf)

    def _changed(self, length: int) -> bool:
        return self._length < 0 or abs(length - self._length) > self._length // 100

    def _quiet(self, enough: bool) -> float:
        if self.named_content:
            return QUIET_AWAITED
        return QUIET if enough else QUIET_LITTLE

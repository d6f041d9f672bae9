"""How often a token may be used: a program that asks in a loop must not take the server from others.

Each process of a server counts on its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from pagekeep.errors import TooManyRequests

MAX_TOKENS: Final = 10_000
"""Tokens that are counted; the one used longest ago is forgotten first."""


class TokenRates:
    """The requests that each token has left. A pause gives them back, so that a whole library can be read at once."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """Requests left, and when they were counted; the token used last is at the end."""
        self._lock = Lock()

    def take(self, token_id: str) -> None:
        """Count a request; `TooManyRequests`, with the seconds to wait, when there are too many."""
        if not self._per_minute:
            return
        with self._lock:
            now, most = self._clock(), float(self._per_minute)
            left, counted = self._left.pop(token_id, (most, now))
            left = min(most, left + (now - counted) * most / 60)
            self._left[token_id] = max(0.0, left - 1) if left >= 1 else left, now
            if len(self._left) > MAX_TOKENS:
                del self._left[next(iter(self._left))]
        if left < 1:
            seconds = math.ceil((1 - left) * 60 / most)
            raise TooManyRequests(
                "Too many requests with this token.",
                suggestions=(f"Wait {seconds} s. The setting `token_requests` says how many are allowed in a minute.",),
                seconds=seconds,
            )

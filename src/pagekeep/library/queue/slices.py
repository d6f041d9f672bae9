"""Long jobs run in slices, so that other jobs get their share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SLICE_SECONDS: Final = 5.0
"""Seconds that a job runs before it returns to the queue."""


@dataclass(frozen=True, slots=True)
class SliceResult:
    """The report of a job that is done, or the progress of one that is not."""

    report: Mapping[str, Any] | None = None
    so_far: Mapping[str, Any] | None = None

"""The log of the mode `compare`: what we and a remote reader made of the same pages, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.markdown_parts import Parts, parts_of
from pagekeep.config import Settings
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.model import Page
from pagekeep.text import Overlap, overlap, score_words, similarity

LONGEST: Final = 200_000
"""Characters of a text that are logged."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two made of a page."""

    title: str | None = None
    words: int = 0
    markdown: str = ""
    error: str | None = None
    """Why there is nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How our reading of a page agrees with the remote reader's. The numbers are `None` unless both have one."""

    at: str
    url: str
    ours: Side
    theirs: Side
    similarity: float | None = None
    coverage_words: float | None = None
    """Share of their words that we have; the same for links and images (`None` when they have none)."""
    missing_words: int | None = None
    extra_words: int | None = None
    coverage_links: float | None = None
    missing_links: int | None = None
    extra_links: int | None = None
    coverage_images: float | None = None
    missing_images: int | None = None
    extra_images: int | None = None


def compare(url: str, ours: Page | PagekeepError, theirs: Page | PagekeepError) -> Comparison:
    """The two readings side by side; a failure is a side, too."""
    told = Comparison(clock.now(), url, _side(ours), _side(theirs))
    if isinstance(ours, PagekeepError) or isinstance(theirs, PagekeepError):
        return told
    return _measured(told, parts_of(ours.markdown), parts_of(theirs.markdown))


def _side(reading: Page | PagekeepError) -> Side:
    if isinstance(reading, PagekeepError):
        return Side(error=f"{reading.type}: {reading.message}")
    return Side(reading.metadata.title, reading.word_count, reading.markdown[:LONGEST])


def _measured(told: Comparison, ours: Parts, theirs: Parts) -> Comparison:
    words = score_words(ours.words, theirs.words)
    numbers: dict[str, Any] = {
        "similarity": similarity(ours.words, theirs.words),
        "coverage_words": words.recall,
        "missing_words": words.missing,
        "extra_words": words.extra,
        **_named("links", overlap(ours.links, theirs.links)),
        **_named("images", overlap(ours.pictures, theirs.pictures)),
    }
    return Comparison(told.at, told.url, told.ours, told.theirs, **numbers)


def _named(what: str, found: Overlap) -> dict[str, Any]:
    return {f"{number}_{what}": getattr(found, number) for number in Overlap._fields}


def log_path(settings: Settings) -> Path:
    """Where the log is: beside the library."""
    from pagekeep.store.opening import default_library

    where = settings.library
    if where is None or "://" in where:
        return default_library().with_name("comparisons.jsonl")
    path = Path(where)
    return path.with_name(f"{path.name}.comparisons.jsonl")


def note(settings: Settings, comparison: Comparison) -> None:
    """Put a comparison at the end of the log, in one write: several processes may."""
    path = log_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(comparison), ensure_ascii=False) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode("utf-8", "replace"))
    finally:
        os.close(file)


def read_log(path: Path) -> Iterator[Comparison]:
    """All comparisons, oldest first; a line that was cut off by a crash is passed over. `NotFound` when there is no log."""
    try:
        lines = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise NotFound(
            "Nothing has been compared yet.", suggestions=("Save pages in the mode `compare`: PAGEKEEP_MODE=compare.",)
        ) from None
    with lines:
        for line in lines:
            try:
                said = json.loads(line)
                yield Comparison(**{**said, "ours": Side(**said["ours"]), "theirs": Side(**said["theirs"])})
            except (ValueError, TypeError, KeyError):
                continue


def latest(log: Iterator[Comparison]) -> list[Comparison]:
    """The last comparison of each page, in the order of the log."""
    found: dict[str, Comparison] = {}
    for comparison in log:
        found.pop(comparison.url, None)
        found[comparison.url] = comparison
    return list(found.values())


def summary(log: Sequence[Comparison]) -> dict[str, Any]:
    """The log in numbers: how many pages, who failed, means and deviations, and what is missing and extra in all."""
    both = [entry for entry in log if entry.similarity is not None]
    told: dict[str, Any] = {
        "pages": len(log),
        "compared": len(both),
        "failed_here": sum(entry.ours.error is not None for entry in log),
        "failed_there": sum(entry.theirs.error is not None for entry in log),
        **_mean("similarity", both),
        **{name: value for part in _PARTS for name, value in _mean(f"coverage_{part}", both).items()},
    }
    for part in _PARTS:
        for kind in ("missing", "extra"):
            told[f"{kind}_{part}"] = sum(getattr(entry, f"{kind}_{part}") or 0 for entry in both)
    return told


_PARTS: Final = ("words", "links", "images")


def _mean(name: str, log: Sequence[Comparison]) -> Mapping[str, float | None]:
    values = [value for entry in log if (value := getattr(entry, name)) is not None]
    mean, deviation = (fmean(values), pstdev(values)) if values else (None, None)
    return {name: mean, f"std_{name}": deviation}

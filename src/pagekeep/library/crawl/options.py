"""The options of a crawl, its limits, and which options make it another crawl."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal

from pagekeep.errors import InvalidQuery
from pagekeep.library.crawl.deciding import addresses

MAX_SEEDS: Final = 50
"""Seeds of one crawl, and with that its hosts."""
MAX_BATCH: Final = 1_000
"""Seeds of a crawl that follows no links."""
MAX_PAGES: Final = 10_000_000
MAX_DEPTH: Final = 100
_MAX_GLOBS: Final = 100
_MAX_GLOB_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """What to crawl, and how much of it. Everything is bounded, also where the user sets no limit."""

    seeds: tuple[str, ...]
    include: tuple[str, ...] = ()
    """Globs of addresses to follow, instead of everything below the folders of the seeds."""
    exclude: tuple[str, ...] = ()
    """Globs of addresses not to follow."""
    depth: int = 20
    """Links from a seed to a page."""
    pages: int = 10_000
    """Pages that are kept."""
    bytes: int = 10_000_000_000
    minutes: float = 1_440.0
    sitemap: Literal["include", "skip", "only"] = "include"
    """Whether sitemaps are read; with `only`, links are not followed."""
    render: Literal["auto", "force", "never"] | None = None
    save: bool = False
    """Whether the pages are saved into the library at the end."""
    tags: tuple[str, ...] = ()
    webhook: str | None = None
    """The id of the sink that gets its events."""

    def to_json(self) -> dict[str, Any]:
        """Return the options as they are stored."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def name(self) -> str:
        """What makes this another crawl: limits do not."""
        scope = (sorted(self.seeds), sorted(self.include), sorted(self.exclude), self.sitemap, self.render)
        return json.dumps(scope, ensure_ascii=False)


_NAMES: Final = frozenset(field.name for field in fields(CrawlOptions))


def from_json(stored: Mapping[str, Any]) -> CrawlOptions:
    """Return options from their stored form; those of a newer version are ignored."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items() if name in _NAMES
    }
    return CrawlOptions(**values)


def check(options: CrawlOptions) -> CrawlOptions:
    """Return the options with seeds in normal form; `InvalidUrl` or `InvalidQuery` for what cannot be crawled."""
    seeds = tuple(dict.fromkeys(addresses.tidy(seed).url for seed in options.seeds))
    globs = (*options.include, *options.exclude)
    most = MAX_SEEDS if options.depth else MAX_BATCH
    if not 1 <= len(seeds) <= most:
        raise InvalidQuery(f"A crawl has 1 to {most:,} seeds.", suggestions=("Start several crawls.",))
    if len(globs) > _MAX_GLOBS or any(not 0 < len(glob) <= _MAX_GLOB_CHARS for glob in globs):
        raise InvalidQuery("Too many or too long patterns.", suggestions=("Use at most 100, of 500 characters each.",))
    for name, value, limit in (
        ("pages", options.pages, MAX_PAGES),
        ("depth", options.depth + 1, MAX_DEPTH + 1),
        ("bytes", options.bytes, 10**15),
        ("minutes", options.minutes, 10**6),
    ):
        if not 0 < value <= limit:
            raise InvalidQuery(f"The limit `{name}` cannot be {value:,}.", suggestions=(f"Use at most {limit:,}.",))
    return replace(options, seeds=seeds)

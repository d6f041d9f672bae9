"""Which addresses belong to a crawl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from posixpath import dirname
from urllib.parse import urlsplit

from pagekeep.fetch.urls import split_url
from pagekeep.library.crawl.deciding import addresses
from pagekeep.library.crawl.options import CrawlOptions


@dataclass(frozen=True, slots=True)
class Scope:
    """Hosts, folders and patterns within which links are followed."""

    hosts: frozenset[str]
    """Hosts with their ports, whose robots.txt is known."""
    folders: tuple[tuple[str, str], ...]
    """Hosts without `www.`, and the folder of each below which pages are."""
    include: tuple[str, ...]
    exclude: tuple[str, ...]

    def reject(self, url: str) -> str | None:
        """Return why an address does not belong to the crawl; `None` when it does."""
        host = addresses.authority(url)
        if host not in self.hosts:
            return "off_site"
        return self.reject_path(url, host)

    def reject_path(self, url: str, host: str) -> str | None:
        """Return why an address on a host of the crawl does not belong to it."""
        path = "/" + url.partition("://")[2].partition("/")[2]
        if self.include:
            if not any(_matches(glob, url, path) for glob in self.include):
                return "not_included"
        elif not any(_is_below(folder, path) for name, folder in self.folders if addresses.is_sister(name, host)):
            return "off_path"
        return "excluded" if any(_matches(glob, url, path) for glob in self.exclude) else None

    def is_sister_of_seed(self, url: str) -> bool:
        """Return whether the host is a seed's, with or without `www.`."""
        host = addresses.authority(url)
        return any(addresses.is_sister(name, host) for name, _ in self.folders)


def make_scope(options: CrawlOptions, hosts: frozenset[str]) -> Scope:
    """Return the scope of a crawl on these hosts."""
    folders = tuple((addresses.authority(seed), _folder(seed)) for seed in options.seeds)
    return Scope(hosts, folders, options.include, options.exclude)


def _folder(seed: str) -> str:
    """Return the folder of a seed: `/docs/` for `/docs/guide.html`, and `/docs` for `/docs`, which may be a folder itself."""
    path = urlsplit(split_url(seed).target).path
    name = path.rpartition("/")[2]
    if not name or "." in name:
        folder = path if path.endswith("/") else dirname(path)
        return folder if folder.endswith("/") else f"{folder}/"
    return path


def _is_below(folder: str, path: str) -> bool:
    bare = folder.rstrip("/")
    return (
        path.startswith(folder if folder.endswith("/") else f"{folder}/")
        or path.partition("?")[0] == bare
        or (path.partition("?")[0] == folder)
    )


def _matches(glob: str, url: str, path: str) -> bool:
    """Return whether a glob fits: of the path when it starts with `/`, else of the whole address."""
    return bool(_pattern(glob).fullmatch(path if glob.startswith("/") else url))


@lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(re.sub(r"\*{2,}", "*", glob)))

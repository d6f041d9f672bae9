"""A site to get lost in: pages in sections on several hosts, and every kind of trap that has no end.

Everything is made from its address, so that the site is the same each time; only failures that pass remember who asked.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic

from tests.site.server import Handler, Reply, Request, Site

WORDS = "harbour keeper lamp tide rope gull mast anchor fog chart pier storm crate barrel compass ledger bell oar hull deck".split()
TRAPS = (
    *("calendar", "events", "shop", "store", "loop", "deep", "filter", "ring", "hop", "echo", "list", "table", "grow"),
)
"""The first segment of every trap's addresses."""
SHARED = "<p>Tell a friend about these pages and come back on Friday.</p>"
"""What every page of a section ends with."""
LASTMOD = "2025-02-03"
"""When the pages of the sitemap changed."""
SECTION = 25
"""Pages in a section."""


def words(seed: str, number: int) -> str:
    """Text that is the same for the same seed, and another one for another."""
    source = random.Random(seed)
    return " ".join(source.choice(WORDS) for _ in range(number))


def paragraphs(seed: str, number: int = 4) -> str:
    return "".join(f"<p>{words(f'{seed} {part}', 45).capitalize()}.</p>" for part in range(number))


def show(title: str, links: list[str], text: str, *, head: str = "") -> str:
    """A page with an article, and links beside it."""
    listed = "".join(f'<li><a href="{link}">{link[-40:]}</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head><body><article><h1>{title}</h1>{text}</article>"
        f"<nav><ul>{listed}</ul></nav></body></html>"
    )


@dataclass
class Answer:
    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Log:
    """What a host was asked, and when."""

    targets: list[str] = field(default_factory=list)
    times: list[tuple[float, float]] = field(default_factory=list)
    """When a request came, and when its response was sent."""


class Maze:
    """The pages, and how each host answers. `urls` is set when the servers run."""

    def __init__(
        self,
        pages: int,
        hosts: int = 1,
        *,
        failures: float = 0.05,
        delay: float = 0.0,
        limit: int = 0,
        words: int = 180,
    ) -> None:
        self.hosts = hosts
        self.paragraphs = max(1, words // 45)
        self.urls: list[str] = []
        self.delay = delay
        self.limit = limit
        """Requests per second that the last host bears, 0 for any number."""
        self.counts: Counter[tuple[int, str]] = Counter()
        self.logs = [Log() for _ in range(hosts)]
        self.etags = False
        self.lastmod = LASTMOD
        self.statuses: list[int] = []
        share = pages // hosts
        self.names = [self._names(host, share) for host in range(hosts)]
        source = random.Random("failures")
        normal = [(host, name) for host in range(hosts) for name in self.names[host] if name.startswith("/s")]
        chosen = source.sample(normal, int(len(normal) * failures))
        self.dead = set(chosen[: len(chosen) // 2])
        self.flaky = set(chosen[len(chosen) // 2 :])

    def reset(self) -> None:
        """Forget who asked for what."""
        self.counts.clear()
        self.statuses.clear()
        for log in self.logs:
            log.targets.clear()
            log.times.clear()

    def _names(self, host: int, share: int) -> list[str]:
        return [f"/s{number // SECTION}/p{number % SECTION}-{host}.html" for number in range(share)]

    def expected(self) -> set[str]:
        """The addresses of all pages that a crawl must keep, apart from those of traps."""
        good = {
            self.urls[host] + name
            for host in range(self.hosts)
            for name in self.names[host]
            if (host, name) not in self.dead
        }
        sections = {f"{self.urls[host]}/s{number}/" for host in range(self.hosts) for number in self._sections(host)}
        return good | sections | {f"{url}/" for url in self.urls} | {f"{self.urls[0]}/traps"}

    def _sections(self, host: int) -> range:
        return range((len(self.names[host]) + SECTION - 1) // SECTION)

    def answer(self, host: int, request: Request) -> Answer:
        path, target = request.path, request.target
        self.counts[(host, target)] += 1
        if path == "/robots.txt":
            lines = ["User-agent: *", "Disallow: /private/", f"Sitemap: {self.urls[host]}/sitemap_index.xml"]
            return Answer(
                "\n".join(lines + ([f"Crawl-delay: {self.delay}"] if self.delay and host == 1 else [])),
                headers={"content_type": "text/plain"},
            )
        if path.startswith("/sitemap"):
            return self._sitemap(host, path)
        if path == "/":
            links = [f"/s{number}/" for number in self._sections(host)]
            links += ["/traps"] if host == 0 else []
            links += [f"{url}/" for url in self.urls] + ["/private/diary", "/files/picture.png"]
            return Answer(show(f"Home {host}", links, paragraphs(f"home {host}")))
        first = path.split("/")[1]
        if first in TRAPS or path == "/traps":
            return self._trap(first, path, request)
        if first.startswith("s") and first[1:].isdigit():
            return self._section(host, path, int(first[1:]))
        if first == "old":
            return Answer(status=301, headers={"location": path.replace("/old", "", 1)})
        return Answer(show("Nothing", [], "<p>There is no such page.</p>"), 404)

    def _sitemap(self, host: int, path: str) -> Answer:
        base = self.urls[host]
        if path == "/sitemap_index.xml":
            entry = f"<sitemap><loc>{base}/sitemap-0.xml.gz</loc><lastmod>2025-01-01</lastmod></sitemap>"
            return Answer(
                f'<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</sitemapindex>',
                headers={"content_type": "application/xml"},
            )
        last = self.names[host][-5:]
        urls = "".join(f"<url><loc>{base}{name}</loc><lastmod>{self.lastmod}</lastmod></url>" for name in last)
        body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
        return Answer(gzip.compress(body.encode(), mtime=0), headers={"content_type": "application/gzip"})

    def _section(self, host: int, path: str, section: int) -> Answer:
        names = [name for name in self.names[host] if name.startswith(f"/s{section}/")]
        if path == f"/s{section}/":
            links = [*names[: SECTION - 8], f"/old{names[0]}", f"/missing/{section}"]
            return Answer(show(f"Section {section} of {host}", links, paragraphs(f"section {section} {host}")))
        if path not in names:
            return Answer(show("Nothing", [], "<p>There is no such page.</p>"), 404)
        if (host, path) in self.dead or ((host, path) in self.flaky and self.counts[(host, path)] <= 2):
            return Answer(show("Broken", [], "<p>The server has a problem.</p>"), 500)
        place = names.index(path)
        # The last eight of a section are found on the page before only, unless a page that is broken is between.
        links = ["/", f"/s{section}/", *names[place + 1 : place + 3], f"{path}?utm_source=page#top"]
        links += names[SECTION - 8 :] if place in (0, 1, 2) else []
        title = f"Page {place} of section {section} on {host}"
        return Answer(show(title, links, paragraphs(f"{host} {path}", self.paragraphs) + SHARED))

    def _trap(self, first: str, path: str, request: Request) -> Answer:
        if path == "/traps":
            starts = ["/calendar/2024/5/", "/events?year=2024&month=5", "/shop/item0?sid=abcdef0123456789", "/store/a"]
            starts += ["/loop/a/", "/deep/one/", "/filter?f1=a", "/ring/a", "/hop/1", "/echo/start", "/list?page=1"]
            starts += ["/table?sort=name", "/grow?q=x", "/list?page=1&utm_medium=mail"]
            return Answer(show("Traps", starts, paragraphs("traps")))
        return getattr(self, f"_{first}")(path, request)

    def _calendar(self, path: str, _request: Request) -> Answer:
        year, month = (int(part) for part in path.strip("/").split("/")[1:3])
        links = [
            f"/calendar/{year + (month == 12)}/{month % 12 + 1}/",
            f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1}/",
        ]
        return Answer(show(f"{month}/{year}", links, paragraphs(path, 2)))

    def _events(self, _path: str, request: Request) -> Answer:
        year, month = int(request.query.get("year", 2024)), int(request.query.get("month", 1))
        links = [
            f"/events?year={year + (month == 12)}&amp;month={month % 12 + 1}",
            f"/events?month={month}&amp;year={year + 1}",
        ]
        return Answer(show(f"Events {month}/{year}", links, paragraphs(f"events {year} {month}", 2)))

    def _shop(self, path: str, request: Request) -> Answer:
        fresh = hashlib.sha256(request.target.encode()).hexdigest()[:24]
        return Answer(
            show(f"Shop {path}", [f"/shop/item{number}?sid={fresh}" for number in range(5)], paragraphs(path))
        )

    def _store(self, path: str, request: Request) -> Answer:
        fresh = hashlib.sha256(request.target.encode()).hexdigest()[:24]
        return Answer(
            show("Store", [f"/store/{name};jsessionid={fresh}" for name in "abc"], paragraphs(path.partition(";")[0]))
        )

    def _loop(self, path: str, _request: Request) -> Answer:
        return Answer(show(f"Loop {path}", ["a/", "b/"], paragraphs(path, 2)))

    def _deep(self, path: str, _request: Request) -> Answer:
        name = words(path, 1) + str(path.count("/"))
        return Answer(show(f"Deep {path.count('/')}", [f"{name}/"], paragraphs(path, 2)))

    def _filter(self, _path: str, request: Request) -> Answer:
        used = len(request.query)
        more = "&amp;".join(f"f{number}=a" for number in range(1, used + 2))
        other = "&amp;".join(f"g{number}=b" for number in range(1, used + 2))
        return Answer(
            show(
                f"Filter {sorted(request.query)}",
                [f"/filter?{more}", f"/filter?{other}"],
                paragraphs(request.target, 2),
            )
        )

    def _ring(self, path: str, _request: Request) -> Answer:
        return Answer(
            status=302, headers={"location": {"/ring/a": "/ring/b", "/ring/b": "/ring/c"}.get(path, "/ring/a")}
        )

    def _hop(self, path: str, _request: Request) -> Answer:
        return Answer(status=302, headers={"location": f"/hop/{int(path.rpartition('/')[2]) + 1}"})

    def _echo(self, path: str, _request: Request) -> Answer:
        links = [f"/echo/{words(f'{path} {number}', 2).replace(' ', '-')}" for number in range(3)]
        return Answer(show("Echo", links, paragraphs("echo")))

    def _list(self, _path: str, request: Request) -> Answer:
        number = int(request.query.get("page", "1"))
        return Answer(show(f"List {number}", [f"/list?page={number + 1}"], paragraphs(f"list {number}", 2)))

    def _table(self, _path: str, _request: Request) -> Answer:
        links = [f"/table?sort={name}&amp;order={way}" for name in WORDS[:8] for way in ("asc", "desc")]
        return Answer(show("Table", links, paragraphs("table")))

    def _grow(self, _path: str, request: Request) -> Answer:
        value = request.query.get("q", "")
        return Answer(show(f"Grow {len(value)}", [f"/grow?q={value}{'y' * 60}"], paragraphs(f"grow {len(value)}", 2)))

    def handler(self, host: int) -> Handler:
        log = self.logs[host]

        async def handle(request: Request, reply: Reply) -> None:
            began = monotonic()
            log.targets.append(request.target)
            answer = self._limited(host, began) or self.answer(host, request)
            etag = f'"{hashlib.sha256(answer.body if isinstance(answer.body, bytes) else answer.body.encode()).hexdigest()[:16]}"'
            if self.etags and answer.status == 200:
                answer.headers["etag"] = etag
                if request.headers.get("if-none-match") == etag:
                    answer = Answer(status=304, headers={"etag": etag})
            self.statuses.append(answer.status)
            await reply.send(answer.body, answer.status, **answer.headers)
            log.times.append((began, monotonic()))

        return handle

    def _limited(self, host: int, now: float) -> Answer | None:
        """Refuse requests of a client that is too fast for the last host."""
        recent = [began for began, _ in self.logs[host].times[-50:] if began > now - 1.0]
        if not self.limit or host != self.hosts - 1 or len(recent) < self.limit:
            return None
        return Answer("Slow down", 429, {"retry_after": "1"})


class _Always(dict[str, Handler]):
    """One handler for every path."""

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def get(self, _name: str, _default: object = None) -> Handler:  # type: ignore[override]
        return self._handler


class MazeServers:
    """Runs a maze on 127.0.0.1, 127.0.0.2 and so on. A context manager."""

    def __init__(self, maze: Maze, ports: list[int] | None = None) -> None:
        self.maze = maze
        ports = ports or [0] * maze.hosts
        self._sites = [
            Site(_Always(maze.handler(number)), host=f"127.0.0.{number + 1}", port=ports[number])
            for number in range(maze.hosts)
        ]

    def __enter__(self) -> Maze:
        for site in self._sites:
            site.__enter__()
        self.maze.urls = [site.url("") for site in self._sites]
        return self.maze

    def __exit__(self, *exception: object) -> None:
        for site in self._sites:
            site.__exit__(*exception)


def main() -> None:
    """Serve a maze until the process is ended: `python -m tests.site.maze PAGES HOSTS PORT`; prints what was asked at the end."""
    import sys

    pages, hosts = (int(value) for value in sys.argv[1:3])
    with MazeServers(Maze(pages, hosts)) as maze:
        print(" ".join(maze.urls), flush=True)
        asyncio.run(asyncio.Event().wait())  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

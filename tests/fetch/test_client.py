from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pagekeep import (
    BlockedAddress,
    FetchError,
    FetchHttpError,
    FetchNetworkError,
    FetchTimeout,
    InvalidProtocol,
    InvalidUrl,
    Options,
    PagekeepError,
    TooLarge,
    UnsupportedContent,
)
from pagekeep.config import Settings
from pagekeep.extraction.input.decode import decode
from pagekeep.fetch import Client, fetch
from pagekeep.fetch.guard import Guard
from pagekeep.model import Fetched
from tests.site.address_forms import ALL
from tests.site.bombs import PACKERS
from tests.site.pages import ARTICLE, CHARSETS, PAGES
from tests.site.process import site_process
from tests.site.secure import Authority, Http2Site
from tests.site.server import Canary, Site

GOOD = ARTICLE.encode()


@pytest.fixture
def get(site: Site, settings: Settings, run: Any, clock: Any) -> Any:
    """Fetches a path of the site."""

    def get(path: str, **more: Any) -> Fetched:
        changed = {name: more.pop(name) for name in list(more) if name in Settings.__dataclass_fields__}

        async def go() -> Fetched:
            async with Client(replace(settings, **changed), clock=clock) as client:
                return await client.fetch(site.url(path), **more)

        return run(go())  # type: ignore[no-any-return]

    return get


# A good page


def test_a_page_comes_with_everything_known_about_it(get: Any, site: Site) -> None:
    page = get("/article?x=1#part")
    assert page.body == GOOD
    assert page.url == site.url("/article?x=1#part")
    assert page.final_url == site.url("/article?x=1")
    assert (page.status, page.content_type, page.encoding) == (200, "text/html", "utf-8")
    assert page.headers["content-length"] == str(len(GOOD))
    assert set(page.seconds) == {"connect", "first_byte", "body", "total"}
    assert not page.rendered


def test_one_page_can_be_fetched_without_a_client(site: Site, settings: Settings, run: Any) -> None:
    assert run(fetch(site.url("/article"), settings=settings)).body == GOOD


def test_the_request_says_honestly_who_asks_and_for_what(get: Any) -> None:
    sent = get("/echo").body.decode()
    assert "user-agent: Pagekeep/" in sent
    assert "accept: text/html,application/xhtml+xml" in sent
    assert "accept-encoding: gzip, br, zstd, deflate" in sent
    assert "cookie" not in sent


def test_headers_and_cookies_of_the_caller_are_sent(get: Any) -> None:
    sent = get("/echo", headers={"Accept-Language": "de", "User-Agent": "Mine"}, cookies={"a": "1", "b": "2"}).body
    assert b"accept-language: de" in sent
    assert b"user-agent: Mine" in sent
    assert b"cookie: a=1; b=2" in sent


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"X": "a\r\nY: b"}, {"a b": "c"}, {"": "x"}, {"X": "\0"}])
def test_headers_that_would_break_the_request_are_refused(header: dict[str, str], get: Any, site: Site) -> None:
    with pytest.raises(FetchError):
        get("/article", headers=header)
    assert not site.requests


@pytest.mark.parametrize("cookie", [{"a": "b; c=d"}, {"a\r\n": "b"}, {"a=b": "c"}])
def test_cookies_that_would_break_the_request_are_refused(cookie: dict[str, str], get: Any) -> None:
    with pytest.raises(FetchError):
        get("/article", cookies=cookie)


def test_connections_are_used_again(site: Site, settings: Settings, run: Any) -> None:
    async def five() -> None:
        async with Client(settings) as client:
            for _ in range(5):
                await client.fetch(site.url("/hops/1"))

    before = site.connections
    run(five())
    assert site.connections - before == 1


def test_proxies_in_the_environment_are_not_used(get: Any, canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    assert get("/article").body == GOOD
    assert canary.connections == 0


# Content codings and sizes


@pytest.mark.parametrize("chunk", [1, 100_000])
@pytest.mark.parametrize("by", [*PACKERS, "gzip,br", "br,zstd,deflate"])
def test_every_content_coding_is_decoded(by: str, chunk: int, get: Any) -> None:
    assert get(f"/coded?by={quote(by)}&chunk={chunk}").body == GOOD


@pytest.mark.parametrize("after_redirect", [False, True])
@pytest.mark.parametrize("by", [*PACKERS, "gzip,br", "zstd,gzip,deflate"])
def test_bombs_end_at_the_limit(by: str, after_redirect: bool, get: Any) -> None:
    path = f"/bomb?mb=30&by={quote(by)}"
    with pytest.raises(TooLarge):
        get(f"/to?url={quote(path)}" if after_redirect else path, max_bytes=1_000_000)


def test_a_bomb_behind_an_error_status_is_only_the_error(get: Any) -> None:
    with pytest.raises(FetchHttpError) as caught:
        get("/bomb?mb=30&by=br&status=404", max_bytes=1_000_000)
    assert caught.value.page is None  # type: ignore[attr-defined]


def test_an_endless_plain_page_ends_at_the_limit(get: Any) -> None:
    with pytest.raises(TooLarge):
        get("/plain-bomb", max_bytes=1_000_000)


def test_a_page_of_exactly_the_limit_is_taken_and_one_more_byte_is_not(get: Any) -> None:
    assert len(get("/sized?bytes=5000", max_bytes=5000).body) == 5000
    with pytest.raises(TooLarge):
        get("/sized?bytes=5001", max_bytes=5000)


def test_a_document_may_be_five_times_as_large(get: Any) -> None:
    assert len(get("/sized?bytes=5001&type=application/pdf", max_bytes=5000).body) == 5001
    with pytest.raises(TooLarge):
        get("/sized?bytes=25001&type=application/pdf", max_bytes=5000)


@pytest.mark.parametrize(
    "path", ["/coded?by=gzip&cut=5", "/coded?by=br&cut=5", "/coded?by=gzip&named=br", "/too-short"]
)
def test_a_page_that_is_damaged_or_breaks_off_is_an_error(path: str, get: Any) -> None:
    with pytest.raises(FetchNetworkError):
        get(path)


def test_more_than_the_promised_length_is_ignored(get: Any) -> None:
    assert get("/too-long").body == GOOD[:-100]


# Character sets and content types


@pytest.mark.parametrize("by", ["header", "meta"])
@pytest.mark.parametrize("name", CHARSETS)
def test_character_sets_are_read(name: str, by: str, get: Any) -> None:
    if by == "meta" and name.startswith("utf-16"):
        by = "bom"  # what is in two-byte letters cannot be declared in one-byte ones
    page = get(f"/charset/{name}?by={by}")
    assert page.encoding == (name if by == "header" else None)
    text, _ = decode(page.body, Options(encoding=page.encoding))
    assert CHARSETS[name] in text


@pytest.mark.parametrize(
    "kind",
    ["text/html", "TEXT/HTML;charset=utf-8", "application/xhtml+xml", "text/plain", "text/markdown; variant=GFM"],
)
def test_pages_are_kept_with_their_type(kind: str, get: Any) -> None:
    assert get(f"/type?is={quote(kind)}").content_type == kind.partition(";")[0].lower()


@pytest.mark.parametrize(
    "kind", ["application/zip", "image/png", "video/mp4", "application/json", "text/css", "x/\u001fy"]
)
def test_other_types_are_refused(kind: str, get: Any) -> None:
    with pytest.raises(UnsupportedContent):
        get(f"/type?is={quote(kind)}")


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("body=%20%0A<!DOCTYPE html><p>x", "text/html"),
        ("body=<html><p>x", "text/html"),
        ("is=application/octet-stream&body=<head></head>x", "text/html"),
        ("is=text/xml&body=<?xml version='1.0'?><!-- c --><html xmlns='x'>", "application/xhtml+xml"),
        ("body=Just some words.", "text/plain"),
        ("body=%25PDF-1.7", "application/pdf"),
        ("is=text/html&body=%25PDF-1.7", "application/pdf"),
        ("is=application/pdf&body=<!DOCTYPE html><p>Sign in", "text/html"),
    ],
)
def test_a_page_without_a_type_is_known_by_its_beginning(query: str, kind: str, get: Any) -> None:
    assert get(f"/type?{quote(query, safe='=&%')}").content_type == kind


@pytest.mark.parametrize(
    "query", ["is=application/pdf&body=%00%01", "body=%89PNG%0D%0A%1A%0A%00%00", "is=text/xml&body=<rss>", "body=a%00b"]
)
def test_what_is_not_a_page_by_its_beginning_is_refused(query: str, get: Any) -> None:
    with pytest.raises(UnsupportedContent):
        get(f"/type?{quote(query, safe='=&%')}")


def test_anything_can_be_downloaded_through_the_same_guard(site: Site, settings: Settings, run: Any) -> None:
    async def go() -> Fetched:
        async with Client(settings) as client:
            with pytest.raises(BlockedAddress):
                await client.download("http://127.0.0.2/icon.png")
            with pytest.raises(TooLarge):
                await client.download(site.url("/article"), max_bytes=10)
            return await client.download(site.url("/type?is=image/png"), accept="image/*")

    assert run(go()).content_type == "image/png"


def test_parts_of_a_page_do_not_wait_for_one_another(site: Site, settings: Settings, clock: Any, run: Any) -> None:
    async def go() -> None:
        async with Client(replace(settings, per_host_delay=30), clock=clock) as client:
            for number in range(4):
                await client.download(site.url(f"/type?is=image/png&number={number}"))

    run(go())
    assert [
        pause for pause in clock.slept if pause > 5
    ] == []  # a dropped connection is retried after less than a second


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(status: int, get: Any, site: Site) -> None:
    page = get(f"/to?url=/article%23part&status={status}")
    assert page.body == GOOD
    assert page.final_url == site.url("/article")
    assert page.url.endswith(f"status={status}")


def test_ten_redirects_are_followed_and_eleven_are_not(get: Any) -> None:
    assert get("/hops/10").body == GOOD
    with pytest.raises(FetchHttpError, match="more than 10 times"):
        get("/hops/11")


def test_a_hundred_hops_end_too(get: Any, site: Site) -> None:
    with pytest.raises(FetchHttpError):
        get("/hops/100")
    assert len(site.requests) == 11


def test_loops_end(get: Any, site: Site) -> None:
    with pytest.raises(FetchHttpError):
        get("/loop")
    assert site.asked("/loop") == 11


def test_slow_chains_end_with_the_deadline(get: Any, site: Site) -> None:
    with pytest.raises(FetchTimeout):
        get("/slow-hops", deadline=1)
    assert site.asked("/slow-hops") <= 4


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:alert(1)", "data:text/html,hello", "gopher://x"]
)
def test_redirects_to_other_protocols_are_refused(target: str, get: Any) -> None:
    with pytest.raises(InvalidProtocol):
        get(f"/to?url={quote(target)}")


@pytest.mark.parametrize("form", ALL.values(), ids=ALL.keys())
def test_redirects_to_forbidden_addresses_are_refused(form: str, site: Site, canary: Canary, run: Any) -> None:
    # Reached by a name, so that loopback as such is not allowed.
    class Dns:
        async def addresses(self, name: str) -> list[str]:
            if name != "site.example":
                raise OSError
            return ["127.0.0.1"]

    async def go() -> None:
        guard = Guard(["site.example"], resolver=Dns())
        async with Client(Settings(retries=0), guard=guard) as client:
            await client.fetch(
                site.url(f"/to?url={quote(form.format(port=canary.port), safe='')}", host="site.example")
            )

    with pytest.raises(PagekeepError) as caught:
        run(go())
    # Browsers read some of these in a location as a harmless one: a name that there is not, or a path of the same site.
    assert caught.value.type in ("BlockedAddress", "InvalidUrl", "FetchNetworkError", "FetchHttpError")
    assert canary.connections == 0
    assert site.asked("/to") == 1


@pytest.mark.parametrize("target", ["", "http://", "http://[::1", "//", "http://a:b/"])
def test_redirects_to_nowhere_are_refused(target: str, get: Any) -> None:
    with pytest.raises(InvalidUrl):
        get(f"/to?url={quote(target)}")


def test_a_redirect_without_a_location_is_an_error_with_its_page(get: Any) -> None:
    with pytest.raises(FetchHttpError) as caught:
        get("/no-location")
    assert b"nobody knows" in caught.value.page.body  # type: ignore[attr-defined]


def test_a_location_in_bare_unicode_is_followed(get: Any, site: Site) -> None:
    assert get(f"/to?url={quote('/article?ü')}").final_url == site.url("/article?%C3%BC")


def test_cookies_set_on_the_way_come_back_within_the_fetch_only(get: Any, site: Site) -> None:
    assert get("/cookie-wall").body == GOOD
    assert "set-cookie" not in get("/cookie-wall").headers
    assert "cookie" not in get("/echo").body.decode()


def test_secrets_do_not_follow_a_redirect_to_another_host(get: Any, site: Site) -> None:
    elsewhere = quote(site.url("/echo", host="localhost"))
    secrets = {"headers": {"Authorization": "Bearer x", "X-Note": "y"}, "cookies": {"session": "z"}}
    there = get(f"/to?url={elsewhere}", **secrets).body
    assert b"Bearer" not in there
    assert b"session" not in there
    assert b"x-note: y" in there
    here = get("/to?url=/echo", **secrets).body
    assert b"Bearer x" in here
    assert b"session=z" in here


# Statuses, retries, conditions


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 500, 501])
def test_error_statuses_carry_the_page_and_are_not_asked_again(status: int, get: Any, site: Site) -> None:
    with pytest.raises(FetchHttpError) as caught:
        get(f"/status/{status}")
    assert caught.value.status == status
    assert f"says {status}".encode() in caught.value.page.body  # type: ignore[attr-defined]
    assert caught.value.suggestions
    assert len(site.requests) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(status: int, get: Any, clock: Any) -> None:
    assert get(f"/busy/{status}?times=2&status={status}").body == GOOD
    assert len(clock.slept) == 2
    assert 0.25 <= clock.slept[0] <= 0.75 <= clock.slept[1] * 1.5


def test_a_server_that_stays_busy_is_an_error(get: Any, site: Site) -> None:
    with pytest.raises(FetchHttpError) as caught:
        get("/busy/always?times=99")
    assert caught.value.status == 503
    assert site.asked("/busy/always") == 3


def test_retry_after_is_waited_for(get: Any, clock: Any) -> None:
    assert get("/busy/asks?times=1&after=3", timeout=15).body == GOOD
    assert clock.slept == [3.0]


def test_retry_after_beyond_the_deadline_is_not_waited_for_and_others_keep_away_too(
    site: Site, settings: Settings, clock: Any, run: Any
) -> None:
    async def go() -> None:
        async with Client(settings, clock=clock) as client:
            with pytest.raises(FetchHttpError) as caught:
                await client.fetch(site.url("/busy/long?times=1&after=600&status=429"))
            assert caught.value.status == 429
            with pytest.raises(FetchHttpError):
                await client.fetch(site.url("/article"))
            clock.time += 601
            await client.fetch(site.url("/article"))

    run(go())
    assert clock.slept == []
    assert site.asked("/article") == 1


@pytest.mark.parametrize("how", ["reset", "hang-up"])
def test_a_server_that_hangs_up_is_asked_again(how: str, get: Any, clock: Any) -> None:
    assert get(f"/shaky/{how}?times=2&how={how}").body == GOOD
    assert len(clock.slept) == 2


@pytest.mark.parametrize("path", ["/reset", "/hang-up"])
def test_a_server_that_always_hangs_up_is_an_error(path: str, get: Any, site: Site) -> None:
    with pytest.raises(FetchNetworkError):
        get(path)
    assert site.asked(path) == 3


def test_without_retries_a_busy_server_is_asked_once(get: Any, site: Site) -> None:
    with pytest.raises(FetchHttpError):
        get("/busy/once?times=1", retries=0)
    assert len(site.requests) == 1


@pytest.mark.parametrize("known", [{"etag": '"v1"'}, {"last_modified": "Mon, 03 Mar 2025 10:00:00 GMT"}])
def test_a_page_that_is_still_good_is_not_sent_again(known: dict[str, str], get: Any) -> None:
    first = get("/dated")
    assert (first.etag, first.last_modified) == ('"v1"', "Mon, 03 Mar 2025 10:00:00 GMT")
    again = get("/dated", **known)
    assert again.not_modified
    assert again.status == 304
    assert again.body == b""


def test_a_page_that_changed_is_sent_again(get: Any) -> None:
    page = get("/dated", etag='"v0"')
    assert not page.not_modified
    assert page.body == GOOD


def test_not_modified_without_having_asked_is_an_error(get: Any) -> None:
    with pytest.raises(FetchHttpError):
        get("/type?status=304&body=")


# Time


@pytest.mark.parametrize(
    "path",
    ["/silent", "/drip", "/drip?every=0.01", "/drip-head", "/endless-chunks", "/withheld", "/continues"],
)
def test_whatever_a_server_delays_ends_with_the_deadline(path: str, get: Any) -> None:
    with pytest.raises(FetchTimeout):
        get(path, timeout=0.5)


def test_a_slow_page_does_not_hold_up_a_good_one(site: Site, settings: Settings, run: Any) -> None:
    async def go() -> bytes:
        async with Client(settings) as client:
            slow = asyncio.create_task(client.fetch(site.url("/silent"), deadline=30))
            await asyncio.sleep(0.05)
            page = await client.fetch(site.url("/article"))
            slow.cancel()
            return page.body

    assert run(go()) == GOOD


def test_standing_in_our_own_queue_does_not_use_up_the_deadline(site: Site, settings: Settings, run: Any) -> None:
    async def go() -> list[Fetched]:
        async with Client(replace(settings, per_host_connections=1, per_host_delay=0.15, timeout=0.4)) as client:
            return list(await asyncio.gather(*(client.fetch(site.url("/article")) for _ in range(6))))

    assert [page.body for page in run(go())] == [GOOD] * 6


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted in /proc")
def test_descriptors_are_given_back_whatever_happens(settings: Settings, clock: Any, run: Any) -> None:
    paths = [
        "/article",
        "/silent",
        "/reset",
        "/drip",
        "/bomb?mb=30&by=br",
        "/loop",
        "/status/500",
        "/too-short",
        "/hang-up",
    ]

    async def go(site: str) -> None:
        async with Client(replace(settings, timeout=0.1), clock=clock) as client:
            for path in paths:
                for url in (site + path, site.replace("http:", "https:") + path):
                    with suppress(PagekeepError):
                        await client.fetch(url)
            await asyncio.sleep(0.05)
            descriptors.append(len(os.listdir("/proc/self/fd")))

    descriptors: list[int] = []
    with site_process() as site:
        for _ in range(3):
            run(go(site))
    assert descriptors[2] <= descriptors[0]


# Nonsense


@pytest.mark.parametrize(
    "sent",
    [
        *("", "\r\n\r\n", "hello", "SSH-2.0-OpenSSH_9.0\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n"),
        *("HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nabc"),
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzz\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffffffff\r\nx",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\x00: \x00\r\n\r\n",
        "HTTP/1.1 302 Found\r\nlocation: \xff\xfe\r\n\r\n",
        "HTTP/1.1 999 X\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n",
    ],
)
def test_nonsense_gives_nothing_but_our_errors(sent: str, get: Any) -> None:
    with pytest.raises(PagekeepError) as caught:
        get(f"/raw?bytes={quote(sent, encoding='latin-1')}", retries=0, timeout=2)
    assert "127.0.0.1:" not in str(caught.value.to_json())


def test_an_endless_head_is_ended(get: Any) -> None:
    with pytest.raises(FetchNetworkError):
        get("/flood-head")


# Errors tell nothing about the inside


@pytest.mark.parametrize(
    "path",
    ["/silent", "/reset", "/too-short", "/raw?bytes=x", "/status/500", "/loop", "/coded?by=gzip&named=br", "/closed"],
)
def test_errors_never_show_the_resolved_address(path: str, site: Site, run: Any) -> None:
    class Dns:
        async def addresses(self, name: str) -> list[str]:
            return ["127.0.0.1"]

    async def go() -> None:
        guard = Guard(["secret.example"], resolver=Dns())
        async with Client(Settings(timeout=0.5, retries=0), guard=guard) as client:
            url = "http://secret.example:1/" if path == "/closed" else site.url(path, host="secret.example")
            await client.fetch(url)

    with pytest.raises(PagekeepError) as caught:
        run(go())
    error: BaseException | None = caught.value
    while error is not None:
        assert "127.0.0.1" not in f"{error} {error.args} {getattr(error, 'suggestions', '')}"
        error = error.__cause__


# TLS and HTTP/2


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def _secure(url: str, settings: Settings, run: Any, authority: Authority | None, **more: Any) -> Fetched:
    async def go() -> Fetched:
        async with Client(settings, tls=authority.client if authority else None, **more) as client:
            return await client.fetch(url)

    return run(go())  # type: ignore[no-any-return]


def test_a_secure_page_is_fetched(settings: Settings, authority: Authority, run: Any) -> None:
    with Site(PAGES, tls=authority.server("localhost")) as site:
        assert _secure(site.url("/coded?by=br", host="localhost"), settings, run, authority).body == GOOD


def test_a_certificate_from_an_unknown_authority_is_refused(settings: Settings, authority: Authority, run: Any) -> None:
    with Site(PAGES, tls=authority.server("localhost")) as site:
        with pytest.raises(FetchNetworkError, match="certificate"):
            _secure(site.url("/article", host="localhost"), settings, run, None)
        assert not site.requests


def test_a_certificate_for_another_name_is_refused(settings: Settings, authority: Authority, run: Any) -> None:
    with (
        Site(PAGES, tls=authority.server("other.example")) as site,
        pytest.raises(FetchNetworkError, match="certificate"),
    ):
        _secure(site.url("/article", host="localhost"), settings, run, authority)


def test_a_server_that_does_not_speak_tls_is_a_network_error(
    canary: Canary, settings: Settings, clock: Any, run: Any
) -> None:
    with pytest.raises(FetchNetworkError):
        _secure(f"https://127.0.0.1:{canary.port}/", settings, run, None, clock=clock)
    assert canary.connections


def test_http2_is_spoken_with_many_pages_on_one_connection(settings: Settings, authority: Authority, run: Any) -> None:
    async def many(site: Http2Site) -> list[Fetched]:
        async with Client(settings, tls=authority.client) as client:
            first = await client.fetch(site.url("/first"))
            rest = await asyncio.gather(*(client.fetch(site.url(f"/{number}")) for number in range(12)))
            return [first, *rest]

    with Http2Site(authority.server("localhost", protocols=("h2",)), GOOD) as site:
        pages = run(many(site))
        assert [page.body for page in pages] == [GOOD] * 13
        assert site.streams == 13
        assert site.connections == 1


@pytest.mark.parametrize("path", ["/reset", "/bye", "/junk"])
def test_http2_servers_that_misbehave_are_network_errors(
    path: str, settings: Settings, authority: Authority, clock: Any, run: Any
) -> None:
    with (
        Http2Site(authority.server("localhost", protocols=("h2",)), GOOD) as site,
        pytest.raises(FetchNetworkError),
    ):
        _secure(site.url(path), settings, run, authority, clock=clock)


def test_http2_bombs_end_at_the_limit(settings: Settings, authority: Authority, run: Any) -> None:
    from tests.site.bombs import bomb

    server = authority.server("localhost", protocols=("h2",))
    with (
        Http2Site(server, bomb(("br",), 60), [("content-encoding", "br")]) as site,
        pytest.raises(TooLarge),
    ):
        _secure(site.url("/"), settings, run, authority)

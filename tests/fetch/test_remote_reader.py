"""A remote reader: its answers read, and what is sent to it, on a real server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

import pytest

from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchHttpError, FetchNetworkError, FetchTimeout, ParseError
from pagekeep.fetch.remote_reader import CONTENT_TYPE, RemoteReader, parse_answer
from pagekeep.model import Fetched

ANSWER = """Title: The keeper: a log

URL Source: https://example.com/keeper?day=2

Published Time: 2025-03-19T10:30:00+00:00

Warning: This page may be out of date.

Markdown Content:
The keeper
==========

Ships were counted. Title: not a line about the page.
"""


def test_the_lines_about_the_page_are_read() -> None:
    answer = parse_answer(ANSWER)
    assert (answer.title, answer.url) == ("The keeper: a log", "https://example.com/keeper?day=2")
    assert answer.published == "2025-03-19T10:30:00+00:00"
    assert answer.warnings == ("This page may be out of date.",)
    assert answer.markdown.startswith("The keeper\n====")
    assert answer.markdown.endswith("not a line about the page.")


@pytest.mark.parametrize(
    "text",
    ["# Only Markdown\n\nTitle: nothing", "Title: A book\nof ships\n\nMarkdown Content: is a phrase here", ""],
)
def test_a_text_without_such_lines_is_markdown_from_its_first_line(text: str) -> None:
    assert parse_answer(text).markdown == text
    assert parse_answer(text).title is None


def test_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    assert parse_answer("\ufeff" + ANSWER.replace("\n", "\r\n")) == parse_answer(ANSWER)


class Post(ThreadingHTTPServer):
    """A reader that writes down what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], dict[str, list[str]]]] = []
        self.status = 200
        self.location = ""
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/r/"


class _Handler(BaseHTTPRequestHandler):
    server: Post

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self._answer(parse_qs(self.rfile.read(length).decode()))

    def _answer(self, form: dict[str, list[str]]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, form))
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("location", self.server.location)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Not to the terminal."""


@contextmanager
def running() -> Iterator[Post]:
    with Post() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def post() -> Iterator[Post]:
    with running() as server:
        yield server


def ask(settings: Settings, url: str, html: str | None = None) -> Fetched:
    async def one() -> Fetched:
        async with RemoteReader(settings) as reader:
            return await (reader.read_url(url) if html is None else reader.read_html(html, url))

    return asyncio.run(one())


@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("https://example.com/a b?day=2&x=%2F", "/r/https://example.com/a%20b?day=2&x=%2F"),
        ("https://example.com/app?a=1#/page", "/r/https%3A%2F%2Fexample.com%2Fapp%3Fa%3D1%23%2Fpage"),
    ],
)
def test_the_page_is_named_whole_and_the_key_goes_along(post: Post, page: str, path: str) -> None:
    answer = ask(Settings(remote_url=post.url, remote_key="k-1"), page)
    (method, asked, headers, _) = post.asked[0]
    assert (method, asked) == ("GET", path)
    assert headers["authorization"] == "Bearer k-1"
    assert headers["accept"] == "text/plain"
    assert (answer.content_type, answer.final_url) == (CONTENT_TYPE, "https://example.com/keeper?day=2")


def test_a_page_cannot_pass_for_one_of_another_host(post: Post) -> None:
    assert ask(Settings(remote_url=post.url), "https://evil.example/a").final_url == "https://evil.example/a"
    assert (
        ask(Settings(remote_url=post.url), "https://www.example.com/a").final_url == "https://example.com/keeper?day=2"
    )


def test_without_a_key_none_is_sent(post: Post) -> None:
    ask(Settings(remote_url=post.url), "https://example.com/")
    assert "authorization" not in post.asked[0][2]


def test_a_page_at_hand_is_sent_as_a_form(post: Post) -> None:
    ask(Settings(remote_url=post.url), "https://example.com/a", html="<p>Schön & gut</p>")
    method, path, _, form = post.asked[0]
    assert (method, path) == ("POST", "/r")
    assert form == {"html": ["<p>Schön & gut</p>"], "url": ["https://example.com/a"]}


def test_a_form_does_not_follow_a_redirect(post: Post) -> None:
    post.status, post.location = 307, "http://127.0.0.1:1/elsewhere"
    with pytest.raises(FetchHttpError):
        ask(Settings(remote_url=post.url), "https://example.com/a", html="<p>x</p>")
    assert len(post.asked) == 1


def test_failures_are_reported_as_the_readers_without_the_key(post: Post) -> None:
    post.status = 401
    with pytest.raises(FetchHttpError, match="remote reader") as refused:
        ask(Settings(remote_url=post.url, remote_key="secret-key"), "https://example.com/")
    assert "`remote_key`" in refused.value.suggestions[0]
    assert "secret-key" not in str(refused.value.to_json())
    with pytest.raises(FetchNetworkError, match="could not be reached"):
        ask(Settings(remote_url="http://127.0.0.1:1/", retries=0), "https://example.com/")


def test_a_reader_that_does_not_answer_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(FetchTimeout, match="remote reader"):
            ask(Settings(remote_url=address, remote_timeout=0.2), "https://example.com/")


@pytest.mark.parametrize(
    "page", ["http://127.0.0.1/", "http://localhost/x", "http://wiki.intern/x", "http://10.0.0.7/"]
)
def test_a_reader_elsewhere_learns_nothing_of_private_hosts(page: str) -> None:
    settings = Settings(remote_url="https://reader.example/", allow_hosts=("wiki.intern",))
    with pytest.raises(BlockedAddress, match="private host"):
        ask(settings, page)


def test_without_an_address_there_is_no_reader() -> None:
    with pytest.raises(ParseError, match="`remote`"):
        RemoteReader(Settings(mode="remote"))


def test_the_key_is_not_shown_with_the_settings() -> None:
    assert "secret-key" not in repr(Settings(remote_key="secret-key"))

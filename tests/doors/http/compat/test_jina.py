"""`/r`: every option, in every way it can be sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from pagekeep.capture.from_url import Request
from pagekeep.library.saving.preview import Form, PageRequest
from pagekeep.store import Store
from tests.site.fixtures import SENTENCE, Shore, article

EXTRA = (
    '<p>See <a href="/next">the next page</a> and <img src="/boat.png" alt="A boat">.</p>'
    f'<aside class="teaser"><p>Odd words. {SENTENCE}</p></aside>'
)
PAGE = (
    '<title>The keeper</title><meta property="article:published_time" content="2025-03-19T10:30:00Z">'
    f'<nav><a href="/home">Way home</a></nav><article><h1>The keeper</h1>{f"<p>{SENTENCE * 3}</p>" * 5}{EXTRA}'
    '<div id="part" class="tab"><p>Just this part.</p></div></article>'
)


@pytest.fixture
def page(shore: Shore) -> str:
    shore.bodies["a"] = PAGE
    return shore.url("a")


def get(client: TestClient, url: str, accept: str = "text/plain", **options: str) -> Any:
    headers = {"accept": accept, **{f"x-{name.replace('_', '-')}": value for name, value in options.items()}}
    return client.get(f"/r/{url}", headers=headers)


def content(client: TestClient, url: str, **options: str) -> str:
    answer = get(client, url, "application/json", **options)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["data"]["content"])


def test_the_plain_body_is_the_one_that_clients_know(client: TestClient, page: str) -> None:
    answer = get(client, page)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    head, _, markdown = answer.text.partition("Markdown Content:\n")
    assert head == f"Title: The keeper\n\nURL Source: {page}\n\nPublished Time: 2025-03-19T10:30:00Z\n\n"
    assert markdown.rstrip("\n") == content(client, page).rstrip("\n")
    assert SENTENCE.strip() in markdown


def test_the_json_is_the_one_that_clients_know(client: TestClient, page: str) -> None:
    reported = get(client, page, "application/json").json()
    assert (reported["code"], reported["status"]) == (200, 20000)
    data = reported["data"]
    assert (data["title"], data["url"], data["publishedTime"]) == ("The keeper", page, "2025-03-19T10:30:00Z")
    assert data["usage"]["tokens"] > 100
    assert data["metadata"]["title"] == "The keeper"


def test_the_markdown_is_the_one_of_the_command_line(client: TestClient, page: str) -> None:
    command = [sys.executable, "-m", "pagekeep", "extract", page, "--render", "never"]
    environ = {
        **os.environ,
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    for accept, form in (("application/json", "markdown"), ("text/markdown", "document")):
        said = subprocess.run([*command, "--format", form], capture_output=True, text=True, check=True, env=environ)
        answer = get(client, page, accept)
        ours = answer.json()["data"]["content"] if form == "markdown" else answer.text
        without_moment = [
            [line for line in text.splitlines() if not line.startswith("saved_at:")] for text in (said.stdout, ours)
        ]
        assert without_moment[0] == without_moment[1]


def test_events_tell_the_stages_and_then_the_page(client: TestClient, page: str) -> None:
    text = get(client, page, "text/event-stream").text
    names = [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
    assert names[-1] == "data"
    assert set(names[:-1]) == {"stage"}
    last = [line for line in text.splitlines() if line.startswith("data: ")][-1]
    assert json.loads(last.removeprefix("data: "))["title"] == "The keeper"


def test_an_event_shows_what_went_wrong(client: TestClient, shore: Shore) -> None:
    text = get(client, shore.url("gone"), "text/event-stream").text
    assert "event: error" in text
    assert "FetchHttpError" in text


@pytest.mark.parametrize("way", ["as it is", "encoded", "one slash", "query", "form", "json", "json in the query"])
def test_an_address_comes_in_many_ways(client: TestClient, shore: Shore, way: str) -> None:
    shore.bodies["a"] = article(300)
    url = shore.url("a") + "?b=c&d=%20e"
    answer = {
        "as it is": lambda: client.get(f"/r/{url}"),
        "encoded": lambda: client.get(f"/r/{quote(url, safe='')}"),
        "one slash": lambda: client.get(f"/r/{url.replace('://', ':/')}"),
        "query": lambda: client.post("/r", params={"url": url}),
        "form": lambda: client.post("/r", data={"url": url}),
        "json": lambda: client.post("/r", json={"url": url}),
        "json in the query": lambda: client.post(f"/r?url={quote(url, safe='')}", json={}),
    }[way]()
    assert answer.status_code == 200
    assert shore.site.requests[-1].target == "/page/a?b=c&d=%20e"


def test_a_route_behind_a_hash_is_read_by_post(client: TestClient, page: str) -> None:
    assert client.post("/r", json={"url": f"{page}#/inner"}).status_code == 200


def test_html_is_read_without_fetching(client: TestClient, shore: Shore) -> None:
    for asked in ({"json": {"html": PAGE, "url": shore.url("x")}}, {"data": {"html": PAGE}}):
        answer = client.post("/r", headers={"accept": "application/json"}, **asked)  # type: ignore[arg-type]
        assert answer.json()["data"]["title"] == "The keeper"
    assert shore.site.requests == []


def test_a_long_page_arrives_whole(client: TestClient) -> None:
    """It is sent in parts; a lone surrogate, which UTF-8 cannot encode, is replaced."""
    code = "\u6e2f&amp;" * 100_000
    html = f"<title>Long</title><article><pre>{code}</pre><p>{SENTENCE * 9}" + "\ud800</p></article>"
    answer = client.post("/r", content=json.dumps({"url": "https://example.com/a", "html": html}))
    assert answer.status_code == 200
    assert len(answer.content) == int(answer.headers["content-length"]) > 400_000
    assert "\u6e2f&" * 100_000 in answer.text
    assert SENTENCE.strip() in answer.text


def test_no_text_of_the_page_is_sent_by_a_worker_that_nothing_reads() -> None:
    def left_out(form: Form, **more: Any) -> set[str]:
        return set(PageRequest(Request("https://example.com/"), form=form, **more).leaves_out)

    assert left_out("content") == {"document", "text"}
    assert left_out("markdown", document=True) == {"text"}
    assert left_out("text") == {"markdown", "document"}
    assert left_out("html") == left_out("pageshot") == {"markdown", "document", "text"}


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b'{"url": 3}', b"{}", b"[" * 100_000])
def test_a_body_that_makes_no_sense_is_the_callers_fault(client: TestClient, body: bytes) -> None:
    assert client.post("/r", content=body, headers={"content-type": "application/json"}).status_code == 422


WAYS = ("header", "query", "json", "form")


@pytest.mark.parametrize("way", WAYS)
def test_an_option_comes_in_every_way(client: TestClient, page: str, way: str) -> None:
    """By the example of what to respond with."""
    accept = {"accept": "application/json"}
    answer = {
        "header": lambda: client.get(f"/r/{page}", headers={**accept, "x-respond-with": "text"}),
        "query": lambda: client.get(f"/r/{quote(page, safe='')}?respondWith=text", headers=accept),
        "json": lambda: client.post("/r", json={"url": page, "respondWith": "text"}, headers=accept),
        "form": lambda: client.post("/r", data={"url": page, "respondWith": "text"}, headers=accept),
    }[way]()
    assert answer.json()["data"]["text"].startswith("The keeper")


def test_forms(client: TestClient, page: str) -> None:
    assert "Way home" not in content(client, page, respond_with="content")
    assert "Way home" in content(client, page, respond_with="markdown")
    assert "Way home" in content(client, page, return_format="markdown")
    assert get(client, page, respond_with="html").text == PAGE
    text = get(client, page, respond_with="text").text
    assert "](" not in text
    assert "the next page" in text
    assert get(client, page, respond_with="poem").status_code == 422


def test_only_the_parts_that_are_wanted(client: TestClient, page: str) -> None:
    assert content(client, page, target_selector="#part").strip() == "Just this part."
    both = content(client, page, target_selector="#part, nav")
    assert "Way home" in both
    assert "kettle" not in both
    missing = get(client, page, target_selector="#nothing")
    assert (missing.status_code, missing.json()["error"]["type"]) == (422, "ParseError")


def test_parts_that_are_not_wanted(client: TestClient, page: str) -> None:
    assert "Just this part" in content(client, page)
    left = content(client, page, remove_selector="#part, .teaser")
    assert "Just this part" not in left
    assert "Odd words" not in left
    assert "kettle" in left


@pytest.mark.parametrize("selector", ["p[", "::", "a:has(b:has(c)) d"])
def test_what_is_not_a_selector_is_refused(client: TestClient, page: str, selector: str) -> None:
    for option in ("target_selector", "remove_selector"):
        assert get(client, page, **{option: selector}).status_code == 422


def test_what_lies_over_the_page_is_removed(client: TestClient, shore: Shore) -> None:
    over = f'<div role="dialog"><p>Sign our book. {SENTENCE * 3}</p></div>'
    shore.bodies["a"] = article(300).replace("</article>", f"{over}</article>")
    assert "Sign our book" in content(client, shore.url("a"), respond_with="markdown")
    assert "Sign our book" not in content(client, shore.url("a"), respond_with="markdown", remove_overlay="true")


def test_images_are_kept_left_out_or_reported(client: TestClient, page: str, shore: Shore) -> None:
    picture = shore.site.url("/boat.png")
    assert f"({picture})" in content(client, page)
    assert "boat" not in content(client, page, retain_images="none").lower()
    reported = content(client, page, retain_images="alt")
    assert "A boat" in reported
    assert "boat.png" not in reported


def test_links_are_kept_left_out_or_reported(client: TestClient, page: str, shore: Shore) -> None:
    assert f"[the next page]({shore.site.url('/next')})" in content(client, page)
    assert "next" not in content(client, page, retain_links="none")
    reported = content(client, page, retain_links="text")
    assert "the next page" in reported
    assert "/next" not in reported


def test_links_and_images_are_listed(client: TestClient, page: str, shore: Shore) -> None:
    text = get(client, page, with_links_summary="true", with_images_summary="true").text
    assert text.endswith(
        f"\n\nImages:\n- ![Image 1: A boat]({shore.site.url('/boat.png')})"
        f"\n\nLinks/Buttons:\n- [the next page]({shore.site.url('/next')})\n"
    )
    data = get(client, page, "application/json", with_links_summary="true", with_images_summary="all").json()["data"]
    assert data["links"] == {"the next page": shore.site.url("/next")}
    assert data["images"] == [["Image 1: A boat", shore.site.url("/boat.png")]]
    assert "links" not in get(client, page, "application/json").json()["data"]


def test_frames_become_parts_of_the_page(client: TestClient, shore: Shore) -> None:
    frames = (
        '<iframe src="/page/inner"></iframe><iframe srcdoc="&lt;p&gt;Written inside the frame.&lt;/p&gt;"></iframe>'
    )
    shore.bodies["inner"] = f"<p>From another page. {SENTENCE}</p>"
    shore.bodies["a"] = article(300).replace("</article>", f"{frames}</article>")
    assert "another page" not in content(client, shore.url("a"), no_cache="true")
    reported = content(client, shore.url("a"), with_iframe="true")
    assert "From another page." in reported
    assert "Written inside the frame." in reported


def test_frames_cannot_reach_where_pages_cannot(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(300, extra='<iframe src="http://169.254.169.254/latest/"></iframe>')
    assert get(client, shore.url("a"), with_iframe="true").status_code == 200


def test_a_page_over_the_budget_is_refused(client: TestClient, page: str) -> None:
    answer = get(client, page, token_budget="20")
    assert (answer.status_code, answer.json()["error"]["type"]) == (409, "Conflict")
    assert get(client, page, token_budget="100000").status_code == 200


def test_a_page_is_cut_off_and_that_is_said(client: TestClient, page: str) -> None:
    data = get(client, page, "application/json", max_tokens="100").json()["data"]
    assert data["usage"]["tokens"] <= 100
    assert "cut off" in data["warning"]
    assert "Warning: The page was cut off" in get(client, page, max_tokens="100").text


def test_time_is_bounded_by_the_caller(client: TestClient, page: str) -> None:
    assert get(client, page, timeout="0.000001").status_code == 504
    assert get(client, page, timeout="30").status_code == 200
    assert get(client, page, timeout="181").status_code == 422
    assert get(client, page, timeout="soon").status_code == 422


def test_a_page_in_the_library_is_taken_while_it_is_fresh(client: TestClient, page: str, shore: Shore) -> None:
    assert client.post("/api/v1/saves", json={"url": page}).status_code == 201
    shore.bodies["a"] = article(300, "Another title")
    assert "Title: The keeper" in get(client, page).text
    assert "Title: The keeper" in get(client, page, cache_tolerance="600").text
    assert "Title: Another title" in get(client, page, no_cache="true").text
    assert "Title: Another title" in get(client, page, cache_tolerance="0").text


def test_reading_stores_nothing(client: TestClient, page: str, library: Store) -> None:
    get(client, page)
    assert library.counts.totals()["items"] == 0


def test_the_engine_is_the_callers_choice(client: TestClient, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.errors import RenderError

    async def none(_self: Retrieval) -> Any:
        raise RenderError("There is no browser here.")

    monkeypatch.setattr(Retrieval, "browser", none)
    assert get(client, page, engine="direct").status_code == 200
    assert get(client, page, engine="auto").status_code == 200
    forced = get(client, page, engine="browser")
    assert (forced.status_code, forced.json()["error"]["type"]) == (502, "RenderError")
    assert get(client, page, engine="steam").status_code == 422
    waited = get(client, page, wait_for_selector="article")
    assert waited.status_code == 200  # there is nothing to wait in: what came is all there is


def test_what_was_caught_instead_of_the_page_is_said(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = "<title>The keeper</title><p>Soon.</p>"
    assert "\n\nWarning: " in get(client, shore.url("a")).text


def test_an_address_that_is_not_public_is_refused(client: TestClient) -> None:
    answer = get(client, "http://169.254.169.254/latest/meta-data/")
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "BlockedAddress")


def test_search_is_over_the_library(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = (
        f"<title>The keeper</title><article><h1>The keeper</h1>{'<p>A lamp and a kettle, every night of the year.</p>' * 20}</article>"
    )
    url = shore.url("a")
    client.post("/api/v1/saves", json={"url": url})
    text = client.get("/s/kettle").text
    assert text.startswith(f"[1] Title: The keeper\n[1] URL Source: {url}\n[1] Description: ")
    assert "A lamp and a kettle" in text.partition("\n\n")[2]
    answer = client.get(
        "/s", params={"q": "kettle"}, headers={"Accept": "application/json", "X-Respond-With": "no-content"}
    ).json()
    assert (answer["code"], [(one["url"], one["content"]) for one in answer["data"]]) == (200, [(url, "")])
    assert client.get("/s/kettle", params={"site": "other.example"}).text == ""
    assert client.get("/s").status_code == 422

"""The reader's own files, and what makes it an application."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient


def test_files_are_kept_for_ever_under_the_address_of_their_content(client: TestClient) -> None:
    [address] = re.findall(r'href="(/static/reader\.css\?v=\w+)"', client.get("/offline").text)
    assert "immutable" in client.get(address).headers["cache-control"]
    assert client.get("/static/reader.css?v=old").headers["cache-control"] == "no-cache"


def test_texts_are_compressed_for_browsers_that_can_read_that(client: TestClient) -> None:
    small = client.get("/static/reader.css", headers={"Accept-Encoding": "gzip"})
    plain = client.get("/static/reader.css", headers={"Accept-Encoding": "identity"})
    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert small.text == plain.text
    assert {small.headers["vary"], plain.headers["vary"]} == {"Accept-Encoding"}
    assert "content-encoding" not in client.get("/static/icon-192.png", headers={"Accept-Encoding": "gzip"}).headers


def test_type_is_from_the_scale_of_the_design(client: TestClient) -> None:
    style = client.get("/static/reader.css").text.partition("*, *::before")[2]
    sizes = re.findall(r"font(?:-size)?: (?:italic )?(?:\d{3} )?([\d.]+rem)", style)
    assert set(sizes) <= {"4rem"}, "docs/design.md has the sizes"  # the number on an error page


def test_only_our_own_files_are_served(client: TestClient) -> None:
    for name in ("nothing.css", "../files.py", "..%2Ffiles.py", "%2e%2e/files.py"):
        assert client.get(f"/static/{name}").status_code == 404


def test_the_manifest_shares_to_the_form_that_asks(client: TestClient) -> None:
    reported = client.get("/manifest.webmanifest").json()
    assert reported["share_target"]["action"] == "/add"
    assert reported["share_target"]["method"] == "GET"
    for icon in reported["icons"]:
        assert client.get(icon["src"]).status_code == 200


def test_the_service_worker_knows_the_files_of_this_version(client: TestClient) -> None:
    script = client.get("/service-worker.js")
    assert script.headers["cache-control"] == "no-cache"
    for address in re.findall(r'"(/static/[^"]+)"', script.text.split("\n")[1]):
        assert client.get(address).status_code == 200


def test_every_script_of_a_page_has_the_nonce_and_nothing_is_inline(client: TestClient) -> None:
    for path in ("/", "/add", "/settings", "/playground", "/import", "/offline"):
        page = client.get(path)
        [nonce] = re.findall(r"script-src 'nonce-([^']+)'", page.headers["content-security-policy"])
        for script in re.findall(r"<script[^>]*>", page.text):
            assert f'nonce="{nonce}"' in script
            assert " src=" in script
        assert not re.search(r"<style|\sstyle=|\son\w+=", page.text)

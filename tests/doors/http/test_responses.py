"""Responses: a long one has the bytes of a short one."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pagekeep.doors.http.responses import Json, LongJson, LongText

CONTENTS: list[dict[str, Any]] = [
    {},
    {"page": {"text": "", "links": [], "caught": None, "words": 0.5}},
    {
        "page": {"text": 'a"\\\n\u6e2f\U0001f6a2' * 40_000, "links": [{"url": f"/{n}"} for n in range(1_000)]},
        "more": [1],
    },
    {"text": "x" * 65_535 + "\ud800" + "y" * 100_000, "list": ["\udfff"]},
]


@pytest.mark.parametrize("content", CONTENTS)
def test_long_json_has_the_bytes_of_json(content: dict[str, Any]) -> None:
    app = FastAPI()
    app.add_api_route("/json", lambda: Json(content))
    app.add_api_route("/long", lambda: LongJson(content))
    client = TestClient(app)
    short, long = client.get("/json"), client.get("/long")
    assert long.content == short.content
    assert dict(long.headers) == dict(short.headers)


def test_a_long_text_is_its_pieces() -> None:
    app, pieces = FastAPI(), ["", "\u6e2f" * 70_000, "\ud800", "end\n"]
    app.add_api_route("/", lambda: LongText(pieces, headers={"Content-Type": "text/plain; charset=utf-8"}))
    answer = TestClient(app).get("/")
    assert answer.text == "\u6e2f" * 70_000 + "?end\n"
    assert int(answer.headers["content-length"]) == len(answer.content)

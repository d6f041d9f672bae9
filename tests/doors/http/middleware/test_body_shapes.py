"""Bodies with millions of values are refused before they are parsed; pages are not."""

from __future__ import annotations

import json
from itertools import pairwise
from urllib.parse import urlencode

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.doors.http.middleware.arrivals import MAX_FIELDS, MAX_OTHER_BYTES, MAX_STRINGS, JsonShape

FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/json"}
BOMBS = (
    b'["a",' + b'"a",' * MAX_STRINGS + b'"a"]',
    b"[1," + b"1," * MAX_OTHER_BYTES + b"1]",
    b"[" * (MAX_OTHER_BYTES + 1),
    b'{"html": "' + b'\\"' * 100 + b'", "x": [' + b"[]," * MAX_OTHER_BYTES + b"1]}",
)


@pytest.mark.parametrize("path", ["/api/v1/extract", "/api/v1/saves", "/r", "/v2/scrape", "/api/v1/rules/try"])
@pytest.mark.parametrize("bomb", BOMBS)
def test_json_of_many_values_is_refused(client: TestClient, path: str, bomb: bytes) -> None:
    answer = client.post(path, content=bomb, headers=JSON)
    error = answer.json()["error"]
    message = error if path == "/v2/scrape" else error["message"]
    assert (answer.status_code, message) == (413, "The request has too many values.")


@pytest.mark.parametrize("path", ["/add", "/r", "/sign-in", "/settings/look"])
def test_a_form_of_many_fields_is_refused(client: TestClient, path: str) -> None:
    answer = client.post(path, content=b"a=%41&" * (MAX_FIELDS + 1), headers=FORM)
    assert answer.status_code == 413


def test_a_page_full_of_quotes_commas_and_brackets_is_accepted(client: TestClient) -> None:
    page = '<p title="a">' + '"[{,\\' * 100_000 + "</p><p>The keeper counts the ships at dawn.</p>"
    assert client.post("/api/v1/extract", json={"html": page}).status_code == 200


def test_only_routes_that_take_a_page_accept_large_bodies(client: TestClient) -> None:
    large = json.dumps({"yaml": "x" * 5_000_000})
    assert client.post("/api/v1/rules/check", content=large, headers=JSON).status_code == 413
    assert client.post("/api/v1/extract", json={"html": "<p>word</p>" + "<!-- -->" * 600_000}).status_code == 200


def test_the_largest_form_of_ids_is_accepted(client: TestClient) -> None:
    form = urlencode([("action", "pin"), *(("ids", f"{number:032x}") for number in range(1_000))])
    assert client.post("/items", content=form, headers=FORM).status_code != 413


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('"\\a,[é'), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.sampled_from('"\\a'), max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.hypothesis
@given(values, st.lists(st.integers(0, 400), max_size=6))
def test_strings_are_counted_however_the_body_is_cut(value: object, cuts: list[int]) -> None:
    body = json.dumps(value, ensure_ascii=False).encode()
    shape = JsonShape()
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    for start, end in pairwise(edges):
        shape.add(body[start:end])
    assert shape._quotes == 2 * count_strings(value)
    assert not shape._inside


def count_strings(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(count_strings, value.values()))
    if isinstance(value, list):
        return sum(map(count_strings, value))
    return isinstance(value, str)

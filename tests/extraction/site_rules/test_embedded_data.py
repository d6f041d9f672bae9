"""Texts that a page has as data for its scripts."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.site_rules.embedded_data import insert_data
from pagekeep.rules.rule import Action


def _insert(html: str, **fields: str) -> str:
    root = dom.parse_fragment(html)
    node = dom.first(root, "script, div")
    assert node is not None
    insert_data(node, Action("insert_data", "x", **fields))  # type: ignore[arg-type]
    return " ".join(dom.text_of(added) for added in dom.select(root, "div.new"))


def test_a_text_in_a_script_is_found_after_what_precedes_the_data() -> None:
    html = '<script>var a = {"x": "no"}; var state = {"film": {"text": "The mill\\nturned."}}; go();</script>'
    assert _insert(html, after="var state =", path="film.text", class_="new") == "The millturned."


@pytest.mark.parametrize("data", ["", "{", '{"film": 1}', '{"film": {"text": ["a"]}}', "[" * 100_000])
def test_data_without_such_a_text_changes_nothing(data: str) -> None:
    assert _insert(f"<script>state = {data}</script>", after="state =", path="film.text", class_="new") == ""


def test_html_in_data_is_read_as_html() -> None:
    html = """<div data-post='{"body": "<p>The <b>mill</b></p>"}'></div>"""
    assert _insert(html, attr="data-post", path="body", format="html", class_="new") == "The mill"

"""Hostile pages, texts and code, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

import asyncio

from tests.hostile import command_bombs, diff_work, foreign_content, highlight_lexers


def test_hostile_pages_cost_the_server_itself_nothing() -> None:
    assert foreign_content.attack(["html tags with new attributes"], 20_000) == []


def test_commands_end_with_a_result_or_a_clear_error() -> None:
    assert command_bombs.attack(["html tags with new attributes"], 170_000) == []


def test_texts_that_are_slow_to_compare_are_compared_within_the_limits() -> None:
    assert diff_work.attack(3_000) == []


def test_hostile_code_is_shown_in_every_language() -> None:
    assert asyncio.run(highlight_lexers.attack(["agda", "c"], 20_000)) == []

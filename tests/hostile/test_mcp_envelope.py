"""Forged marks through every tool of a running server, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

from tests.hostile import mcp_envelope


def test_no_text_of_a_page_leaves_its_envelope() -> None:
    count, faults = mcp_envelope.run(mcp_envelope.forged(2), outlines=[400])
    assert faults == []
    assert count > 50

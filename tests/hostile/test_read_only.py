"""Read-only tokens, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import read_only_tokens


def test_a_read_only_token_changes_no_row(
    tmp_path: Path, shared_workers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    requests, tools, changed = read_only_tokens.attack("sqlite", tmp_path, 1)
    assert requests > 100
    assert tools > 5
    assert changed == []

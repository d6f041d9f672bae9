"""Pages whose site has gone show all their pictures, everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")


def test_pictures_outlive_their_site(tmp_path: Path, shared_workers: None) -> None:
    from tests.hostile.site_gone import run

    assert run(4, tmp_path) == []

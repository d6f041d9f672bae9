"""Items for the dialects, and the programs of others that speak them."""

from __future__ import annotations

from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[4] / ".dialect-tools" / "bin"


@pytest.fixture
def tools() -> Path:
    """The folder of the other programs; without it, the test is skipped."""
    if not (TOOLS / "python").exists():
        pytest.skip("Clients of the dialects are not installed: scripts/install-dialect-tools gets them.")
    return TOOLS

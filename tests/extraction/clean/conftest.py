"""What every test of the clean-up needs: HTML in, clean and sanitised HTML out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.clean import clean
from pagekeep.extraction.output.sanitise import sanitise

BASE = "https://example.org/posts/tea.html"


@pytest.fixture
def cleaned() -> Callable[..., str]:
    def run(html: str, base_url: str | None = BASE) -> str:
        return sanitise(clean(dom.parse_fragment(html), base_url)[0])[0]

    return run

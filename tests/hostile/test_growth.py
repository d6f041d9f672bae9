"""Pages that once took quadratic time or memory, at a thirtieth of the length; `make hostile` has the full ones, with ratios."""

from __future__ import annotations

import math

import pytest

from tests.hostile import growth


@pytest.mark.parametrize("shape", ["double dollars", "font sizes and paragraphs"])
def test_the_page_is_read_within_its_limits(shape: str) -> None:
    assert not any(map(math.isnan, growth.check(shape, 0.03)))

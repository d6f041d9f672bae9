"""TeX to MathML."""

from __future__ import annotations

import pytest

from pagekeep.present.markdown_html import MAX_FORMULA_CHARS, MAX_FORMULA_DEPTH, to_mathml


def test_a_formula_is_typeset() -> None:
    made = to_mathml(r"\frac{1}{2}", block=False)
    assert made == (
        '<math display="inline"><mrow><mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac></mrow></math>'
    )
    assert 'display="block"' in str(to_mathml("x", block=True))


@pytest.mark.parametrize(
    "tex",
    ["{", r"\frac{", "x" * (MAX_FORMULA_CHARS + 1), "{" * (MAX_FORMULA_DEPTH + 1) + "}" * (MAX_FORMULA_DEPTH + 1)],
)
def test_what_cannot_be_typeset_is_none(tex: str) -> None:
    assert to_mathml(tex, block=False) is None


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{</mtext><script>alert(1)</script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(https://e.example)}{x}",
        r"\class{toast}{x}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r'\color{red" onclick="alert(1)}{x}',
        r"\mbox{<img src=x>}",
    ],
)
def test_no_formula_makes_anything_but_mathematics(tex: str) -> None:
    made = to_mathml(tex, block=False) or ""
    for bad in ("<script", "<img", "href=", " style=", "class=", 'onclick="'):
        assert bad not in made

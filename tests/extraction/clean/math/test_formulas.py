from __future__ import annotations

import pytest

INLINE = '<p>so <span class="math-inline">x^2</span> holds</p>'
BLOCK = '<div class="math-block">x^2</div>'
MATHML = "<math><semantics><msup><mi>x</mi><mn>2</mn></msup>{}</semantics></math>"
NOTED = MATHML.format('<annotation encoding="application/x-tex">x^2</annotation>')


@pytest.mark.parametrize(
    "formula",
    [
        f'<span class="katex"><span class="katex-mathml">{NOTED}</span><span class="katex-html" aria-hidden="true">x2</span></span>',
        '<span class="MathJax_Preview"></span><span class="MathJax" id="m1">x2</span><script type="math/tex">x^2</script>',
        f'<mjx-container jax="SVG"><svg></svg><mjx-assistive-mml>{NOTED}</mjx-assistive-mml></mjx-container>',
        NOTED,
        '<math alttext="x^2"><mi>x</mi></math>',
        '<math alttext="{\\displaystyle x^2}" class="ltx_Math"><mi>x</mi></math>',
        f'<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none">{NOTED}</span>'
        '<img class="mwe-math-fallback-image-inline" src="/m.svg" alt="{\\displaystyle x^2}"></span>',
        '<img class="mwe-math-fallback-image-inline" src="/m.svg" alt="{\\displaystyle x^2}">',
        '<img class="latex" src="/latex.php?x" alt="x^2">',
        "\\(x^2\\)",
    ],
)
def test_every_renderer_gives_the_same_inline_formula(cleaned, formula):
    assert cleaned(f"<p>so {formula} holds</p>") == INLINE


@pytest.mark.parametrize(
    "formula",
    [
        f'<span class="katex-display"><span class="katex">{NOTED}</span></span>',
        '<div class="MathJax_Display"><span class="MathJax">x2</span></div><script type="math/tex; mode=display">x^2</script>',
        f'<mjx-container display="true"><mjx-assistive-mml>{NOTED}</mjx-assistive-mml></mjx-container>',
        NOTED.replace("<math>", '<math display="block">'),
        '<table class="ltx_equation ltx_eqn_table"><tr><td></td><td><math alttext="x^2"></math></td><td>(1)</td></tr></table>',
        "<p>$$x^2$$</p>",
        "<p>\\[ x^2 \\]</p>",
        '<p><img src="/eq.png" alt="\\frac{x}{x}x"></p>',
    ],
)
def test_every_renderer_gives_the_same_block(cleaned, formula):
    expected = BLOCK if "frac" not in formula else '<div class="math-block">\\frac{x}{x}x</div>'
    assert cleaned(f"<div><p>so</p>{formula}<p>holds</p></div>") == f"<p>so</p>{expected}<p>holds</p>"


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mfrac><mi>a</mi><mn>2</mn></mfrac>", "\\frac{a}{2}"),
        ("<msqrt><mi>n</mi></msqrt>", "\\sqrt{n}"),
        ("<mroot><mi>n</mi><mn>3</mn></mroot>", "\\sqrt[3]{n}"),
        ("<msub><mi>x</mi><mi>i</mi></msub>", "x_{i}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<mi>α</mi><mo>≤</mo><mi>β</mi>", "\\alpha \\leq \\beta"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>",
            "\\sum_{i = 1}^{n}",
        ),
        ("<mi>sin</mi><mi>x</mi>", "\\sin x"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "\\bar{x}"),
        ("<mtext>if dry</mtext>", "\\text{if dry}"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr>"
            "</mtable>",
            "\\begin{matrix} 1 &amp; 0 \\\\ 0 &amp; 1 \\end{matrix}",
        ),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<mi>100</mi><mo>%</mo>", "100 \\%"),
    ],
)
def test_presentation_mathml_becomes_tex(cleaned, mathml, tex):
    assert cleaned(f"<p>a <math>{mathml}</math></p>") == f'<p>a <span class="math-inline">{tex}</span></p>'


def test_drawn_mathjax_without_mathml_becomes_tex(cleaned):
    drawn = (
        '<mjx-container display="true"><mjx-math><mjx-mfrac><mjx-frac><mjx-num><mjx-mi><mjx-c class="mjx-c1D465"></mjx-c>'
        "</mjx-mi></mjx-num><mjx-dbox><mjx-dtable><mjx-row><mjx-den><mjx-mn><mjx-c class='mjx-c32'></mjx-c></mjx-mn>"
        "</mjx-den></mjx-row></mjx-dtable></mjx-dbox></mjx-frac></mjx-mfrac></mjx-math></mjx-container>"
    )
    assert cleaned(f"<div>{drawn}</div>") == '<div class="math-block">\\frac{x}{2}</div>'


def test_dollars_are_math_only_where_tex_is_certain(cleaned):
    assert cleaned("<p>from $5 to $9 a cup</p>") == "<p>from $5 to $9 a cup</p>"
    expected = '<p>Let <span class="math-inline">n</span> be <span class="math-inline">a_{1}</span>.</p>'
    assert cleaned("<p>Let $n$ be $a_{1}$.</p>") == expected


def test_dollars_in_code_stay(cleaned):
    assert cleaned("<pre>$a_{1}$ \\(x\\)</pre>") == "<pre><code>$a_{1}$ \\(x\\)</code></pre>"


def test_a_deep_formula_is_written_without_error(cleaned):
    deep = "<mrow>" * 300 + "<mi>x</mi>" + "</mrow>" * 300
    assert cleaned(f"<p>a <math>{deep}</math></p>") == '<p>a <span class="math-inline">x</span></p>'

from __future__ import annotations

import pytest

BLOCK = '<pre><code class="language-python">def brew():\n    return "tea"</code></pre>'
LINE_1 = '<span class="k">def</span> <span class="nf">brew</span>():'
LINE_2 = '    <span class="k">return</span> <span class="s">"tea"</span>'


@pytest.mark.parametrize(
    "html",
    [
        f'<pre><code class="language-python">{LINE_1}\n{LINE_2}\n</code></pre>',
        f'<pre class="language-python"><code>{LINE_1}\n{LINE_2}</code></pre>',
        f'<pre><code class="lang-python">{LINE_1}\n{LINE_2}</code></pre>',
        f'<pre><code class="python">{LINE_1}\n{LINE_2}</code></pre>',
        f'<pre><code class="python hljs">{LINE_1}\n{LINE_2}</code></pre>',
        f'<div class="code-block" data-lang="python">{LINE_1}\n{LINE_2}</div>',
        f'<code class="hl python block">\n      {LINE_1}\n      {LINE_2}\n    </code>',
        f'<pre><code class="hljs python">{LINE_1}\n{LINE_2}</code></pre>',
        f'<pre data-language="python">{LINE_1}<br>{LINE_2}</pre>',
        f'<pre class="brush: python">{LINE_1}\n{LINE_2}</pre>',
        f'<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>{LINE_1}\n{LINE_2}\n</pre></div></div>',
        f'<div class="highlight highlight-source-python"><pre>{LINE_1}\n{LINE_2}</pre></div>',
        f'<div class="sourceCode"><pre class="sourceCode python"><code>{LINE_1}\n{LINE_2}</code></pre></div>',
        '<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>'
        f'<td class="code"><div class="highlight-python"><pre>{LINE_1}\n{LINE_2}</pre></div></td></tr></table>',
        '<div class="highlight"><div class="chroma"><table class="lntable"><tr><td class="lntd"><pre><code>'
        '<span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre>'
        f'<code class="language-python" data-lang="python"><span class="line"><span class="cl">{LINE_1}\n</span></span>'
        f'<span class="line"><span class="cl">{LINE_2}</span></span></code></pre></td></tr></table></div></div>',
        '<div class="language-python highlighter-rouge"><div class="highlight"><pre><code><table class="rouge-table">'
        '<tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code">'
        f"<pre>{LINE_1}\n{LINE_2}</pre></td></tr></tbody></table></code></pre></div></div>",
        '<figure class="highlight python"><table><tr><td class="gutter"><pre><span class="line">1</span><br>'
        f'<span class="line">2</span><br></pre></td><td class="code"><pre><span class="line">{LINE_1}</span><br>'
        f'<span class="line">{LINE_2}</span><br></pre></td></tr></table></figure>',
        f'<pre class="shiki" data-language="python"><code><span class="line">{LINE_1}</span>\n<span class="line">{LINE_2}'
        "</span></code></pre>",
        f'<pre data-language="python"><code style="display:grid"><span data-line="">{LINE_1}</span><span data-line="">'
        f"{LINE_2}</span></code></pre>",
        '<pre><code class="language-python"><span class="linenumber" style="user-select:none">1</span>'
        f'{LINE_1}\n<span class="linenumber" style="user-select:none">2</span>{LINE_2}</code></pre>',
        f'<pre><code class="language-python"><span class="ln">1</span>{LINE_1}\n<span class="ln">2</span>{LINE_2}</code></pre>',
        '<div class="CodeMirror" ><div class="CodeMirror-code" data-lang="python">'
        f'<div><pre class="CodeMirror-line">{LINE_1}</pre></div><div><pre class="CodeMirror-line">{LINE_2}</pre></div></div></div>',
        f'<div class="cm-content" data-language="python"><div class="cm-line">{LINE_1}</div><div class="cm-line">{LINE_2}</div></div>',
        '<div data-lang="python"><table><tr><td class="blob-num" data-line-number="1"></td>'
        f'<td class="blob-code">{LINE_1}</td></tr><tr><td class="blob-num" data-line-number="2"></td>'
        f'<td class="blob-code">{LINE_2}</td></tr></table></div>',
        f'<pre class="prism-code language-python"><div class="token-line">{LINE_1}</div><div class="token-line">{LINE_2}</div></pre>',
        f'<pre><code class="language-python"><button>Copy</button>{LINE_1}\n{LINE_2}</code></pre>',
        f'<div><div class="bar"><span>Python</span><button>Copy code</button></div><pre><code>{LINE_1}\n{LINE_2}</code></pre></div>',
        f'<code class="wrap"><pre><code class="language-python">{LINE_1}\n{LINE_2}</code></pre></code>',
        '<pre><code class="language-python"><table class="hljs-ln"><tr><td class="hljs-ln-numbers" data-line-number="1">'
        f'</td><td class="hljs-ln-code">{LINE_1}</td></tr><tr><td class="hljs-ln-numbers" data-line-number="2"></td>'
        f'<td class="hljs-ln-code">{LINE_2}</td></tr></table></code></pre>',
    ],
)
def test_every_highlighter_gives_the_same_block(cleaned, html):
    assert cleaned(html) == BLOCK


def test_empty_lines_and_indentation_are_exact(cleaned):
    html = "<pre><code>a\n\n\n    b\n\tc  d\n</code></pre>"
    assert cleaned(html) == "<pre><code>a\n\n\n    b\n\tc  d</code></pre>"


def test_empty_line_elements_are_empty_lines(cleaned):
    html = '<pre><div class="l">a</div><div class="l"></div><div class="l">b</div></pre>'
    assert cleaned(html) == "<pre><code>a\n\nb</code></pre>"


def test_the_first_line_may_be_indented(cleaned):
    assert cleaned("<pre>    a\n  b</pre>") == "<pre><code>    a\n  b</code></pre>"


@pytest.mark.parametrize("name", ["plaintext", "text", "none", "nohighlight"])
def test_no_language_is_not_a_class(cleaned, name):
    assert cleaned(f'<pre><code class="language-{name}">x</code></pre>') == "<pre><code>x</code></pre>"


def test_a_file_name_above_the_block_stays_as_a_line(cleaned):
    html = '<div><div class="filename">brew.py</div><pre><code class="language-python">x</code></pre></div>'
    assert cleaned(html) == '<p>brew.py</p><pre><code class="language-python">x</code></pre>'


def test_markup_in_code_is_text(cleaned):
    assert cleaned("<pre><code>&lt;b&gt; &amp;amp;</code></pre>") == "<pre><code>&lt;b&gt; &amp;amp;</code></pre>"


def test_inline_code_stays_inline(cleaned):
    assert cleaned("<p>call <code>brew()</code> now</p>") == "<p>call <code>brew()</code> now</p>"


def test_inline_code_with_line_breaks_is_a_block(cleaned):
    assert cleaned("<div><code>a<br>b</code></div>") == "<pre><code>a\nb</code></pre>"


def test_a_table_of_numbers_is_not_a_gutter(cleaned):
    html = "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table><pre>x</pre>"
    assert cleaned(html).count("<td>") == 4


def test_a_pre_around_a_picture_is_text_with_line_breaks(cleaned):
    expected = '<p>one<br>two <img src="https://example.org/a.png"></p>'
    assert cleaned('<pre>one\ntwo <img src="/a.png"></pre>') == expected


def test_pieces_of_one_program_are_one_block(cleaned):
    html = (
        '<div><code class="hl lean block"><span>#check tea\n</span></code> <pre class="hl output">tea : Leaf</pre>'
        '<code class="hl lean block"><span>\n</span></code><code class="hl lean block"><span>#eval cups</span></code></div>'
    )
    assert cleaned(html) == '<pre><code class="language-lean">#check tea\ntea : Leaf\n\n#eval cups</code></pre>'


def test_separate_blocks_stay_apart(cleaned):
    assert cleaned("<div><pre>a</pre><pre>b</pre></div>") == "<pre><code>a</code></pre><pre><code>b</code></pre>"


def test_lines_that_a_host_marks_as_changed_carry_the_sign(cleaned):
    html = (
        '<table><tr><td class="blob-num"></td><td class="blob-code"><span class="blob-code-inner" data-code-marker="-">tea</span>'
        '</td></tr><tr><td class="blob-num"></td><td class="blob-code"><span data-code-marker="+">more tea</span></td></tr></table>'
    )
    assert cleaned(html) == "<pre><code>-tea\n+more tea</code></pre>"


def test_a_box_named_for_code_that_holds_text_is_text(cleaned):
    html = '<div class="code-tabs" data-lang="python"><p>Choose a language.</p></div>'
    assert cleaned(html) == "<p>Choose a language.</p>"


@pytest.mark.parametrize("cells", ["<td><pre>x</pre><pre>y</pre>", "<td><pre>x\nz</pre><td><pre>y\nz</pre>"])
def test_several_blocks_beside_numbers_all_stay(cleaned, cells):
    html = cleaned(f"<table><tr><td><pre>1\n2</pre>{cells}</table>")
    assert html.index("x") < html.index("y")

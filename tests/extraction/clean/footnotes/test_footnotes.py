from __future__ import annotations

import pytest

REF_1 = '<sup class="footnote-ref"><a href="#fn-1">1</a></sup>'
REF_2 = '<sup class="footnote-ref"><a href="#fn-2">2</a></sup>'
NOTES = '<section class="footnotes"><ol><li id="fn-1">Boil it first.</li><li id="fn-2">Green or <em>black</em>.</li></ol></section>'
EXPECTED = f"<p>Water{REF_1} and leaves{REF_2}.</p>{NOTES}"

FORMS = {
    "pandoc": (
        '<p>Water<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a> and leaves'
        '<a href="#fn2" class="footnote-ref" id="fnref2"><sup>2</sup></a>.</p><section class="footnotes"><hr><ol>'
        '<li id="fn1"><p>Boil it first.<a href="#fnref1" class="footnote-back">↩︎</a></p></li>'
        '<li id="fn2"><p>Green or <em>black</em>.<a href="#fnref2" class="footnote-back">↩︎</a></p></li></ol></section>'
    ),
    "markdown-it": (
        '<p>Water<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup> and leaves'
        '<sup class="footnote-ref"><a href="#fn2" id="fnref2">[2]</a></sup>.</p><hr class="footnotes-sep">'
        '<section class="footnotes"><ol class="footnotes-list"><li id="fn1"><p>Boil it first. '
        '<a href="#fnref1" class="footnote-backref">↩</a></p></li><li id="fn2"><p>Green or <i>black</i>. '
        '<a href="#fnref2">↩</a></p></li></ol></section>'
    ),
    "wikipedia": (
        '<p>Water<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span>[</span>1<span>]</span></a></sup> and leaves'
        '<sup id="cite_ref-2" class="reference"><a href="#cite_note-2">[2]</a></sup>.</p><h2>Notes</h2>'
        '<div class="reflist"><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><b>'
        '<a href="#cite_ref-1">^</a></b></span> <span class="reference-text">Boil it first.</span></li>'
        '<li id="cite_note-2"><span class="mw-cite-backlink">^ <a href="#cite_ref-2"><sup>a</sup></a></span> '
        '<span class="reference-text">Green or <i>black</i>.</span></li></ol></div>'
    ),
    "substack": (
        '<p>Water<a class="footnote-anchor" id="footnote-anchor-1" href="#footnote-1">1</a> and leaves'
        '<a class="footnote-anchor" id="footnote-anchor-2" href="#footnote-2">2</a>.</p>'
        '<div class="footnote"><a id="footnote-1" href="#footnote-anchor-1" class="footnote-number">1</a>'
        '<div class="footnote-content"><p>Boil it first.</p></div></div>'
        '<div class="footnote"><a id="footnote-2" href="#footnote-anchor-2" class="footnote-number">2</a>'
        '<div class="footnote-content"><p>Green or <em>black</em>.</p></div></div>'
    ),
    "wordpress": (
        '<p>Water<sup data-fn="a" class="fn"><a href="#a-1" id="a-1-link">1</a></sup> and leaves'
        '<sup data-fn="b" class="fn"><a href="#b-2" id="b-2-link">2</a></sup>.</p><ol class="wp-block-footnotes">'
        '<li id="a-1">Boil it first. <a href="#a-1-link" aria-label="Jump to reference">↩︎</a></li>'
        '<li id="b-2">Green or <em>black</em>. <a href="#b-2-link">↩︎</a></li></ol>'
    ),
    "easy footnotes": (
        '<p>Water<span class="easy-footnote"><a href="#easy-footnote-bottom-1-7" title="x"><sup>1</sup></a></span> and leaves'
        '<span class="easy-footnote"><a href="#easy-footnote-bottom-2-7"><sup>2</sup></a></span>.</p>'
        '<ol class="easy-footnotes-wrapper"><li class="easy-footnote-single"><span id="easy-footnote-bottom-1-7"></span>'
        'Boil it first.<a class="easy-footnote-to-top" href="#easy-footnote-1-7"></a></li><li class="easy-footnote-single">'
        '<span id="easy-footnote-bottom-2-7"></span>Green or <em>black</em>.<a class="easy-footnote-to-top" href="#e"></a>'
        "</li></ol>"
    ),
    "lesswrong": (
        '<p>Water<span class="footnote-reference" id="fnrefab"><sup><a href="#fnab">[1]</a></sup></span> and leaves'
        '<span class="footnote-reference" id="fnrefcd"><sup><a href="#fncd">[2]</a></sup></span>.</p>'
        '<ol class="footnotes"><li class="footnote-item" id="fnab"><span class="footnote-back-link"><sup><strong>'
        '<a href="#fnrefab">^</a></strong></sup></span><div class="footnote-content"><p>Boil it first.</p></div></li>'
        '<li class="footnote-item" id="fncd"><span class="footnote-back-link"><sup><a href="#fnrefcd">^</a></sup></span>'
        '<div class="footnote-content"><p>Green or <em>black</em>.</p></div></li></ol>'
    ),
    "paragraphs with anchors": (
        '<p>Water<a name="r1" href="#note1">[1]</a> and leaves<a name="r2" href="#note2">[2]</a>.</p><hr>'
        '<p><a name="note1" href="#r1">[1]</a> Boil it first.</p><p><a name="note2" href="#r2">[2]</a> Green or <em>black</em>.</p>'
    ),
    "whole address of the page": (
        '<p>Water<sup><a href="https://example.org/posts/tea.html#fn1">1</a></sup> and leaves'
        '<sup><a href="tea.html#fn2">2</a></sup>.</p><ol><li id="fn1">Boil it first.</li><li id="fn2">Green or <i>black</i>.</li></ol>'
    ),
    "bare numbers": (
        "<p>Water<sup>1</sup> and leaves<sup>2</sup>.</p><h3>Notes</h3><p><sup>1</sup>Boil it first.</p>"
        "<p><sup>2</sup>Green or <em>black</em>.</p>"
    ),
    "side notes": (
        '<p>Water<label for="s1" class="margin-toggle sidenote-number"></label><input type="checkbox" id="s1" class="margin-toggle">'
        '<span class="sidenote">Boil it first.</span> and leaves<span class="sidenote">Green or <em>black</em>.</span>.</p>'
    ),
    "latexml": (
        '<p>Water<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span class="ltx_note_outer">'
        '<span class="ltx_note_content"><sup class="ltx_note_mark">1</sup>Boil it first.</span></span></span> and leaves'
        '<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">2</sup><span class="ltx_note_outer">'
        '<span class="ltx_note_content"><sup class="ltx_note_mark">2</sup>Green or <em>black</em>.</span></span></span>.</p>'
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_generator_gives_the_same_footnotes(cleaned, form):
    assert cleaned(FORMS[form]).replace(". </li>", ".</li>") == EXPECTED


def test_notes_are_numbered_in_order_of_first_reference(cleaned):
    html = (
        '<p>a<sup><a href="#fn9">9</a></sup> b<sup><a href="#fn4">4</a></sup> c<sup><a href="#fn9">9</a></sup></p>'
        '<ol><li id="fn4">four</li><li id="fn9">nine</li></ol>'
    )
    assert cleaned(html) == (
        f"<p>a{REF_1} b{REF_2} c{REF_1}</p>"
        '<section class="footnotes"><ol><li id="fn-1">nine</li><li id="fn-2">four</li></ol></section>'
    )


def test_an_unreferenced_note_stays_after_the_others(cleaned):
    html = '<p>a<sup><a href="#fn2">2</a></sup></p><ol><li id="fn1">lonely</li><li id="fn2">used</li></ol>'
    assert cleaned(html).endswith('<ol><li id="fn-1">used</li><li id="fn-2">lonely</li></ol></section>')


def test_the_content_itself_is_never_a_note(cleaned):
    html = '<p>a<sup><a href="#fn1">1</a></sup></p><span id="fn1">The note.</span>'
    assert "The note." in cleaned(html)


def test_a_note_of_several_paragraphs_keeps_them(cleaned):
    html = '<p>a<sup><a href="#fn1">1</a></sup></p><ol><li id="fn1"><p>one</p><p>two <a href="#r">↩</a></p></li></ol>'
    assert '<li id="fn-1"><p>one</p><p>two </p></li>' in cleaned(html)


def test_several_marks_in_one_raised_box_are_several_references(cleaned):
    html = (
        '<p>a<sup><a href="#fn1">1</a>, <a href="#fn2">2</a></sup></p><ol><li id="fn1">x</li><li id="fn2">y</li></ol>'
    )
    assert cleaned(html).startswith(f"<p>a{REF_1}, {REF_2}</p>")


def test_a_link_to_a_section_is_not_a_footnote(cleaned):
    html = '<p>see <a href="#s2">2</a></p><h2 id="s2">Steeping</h2><p>text</p>'
    assert cleaned(html) == "<p>see 2</p><h2>Steeping</h2><p>text</p>"


def test_exponents_are_not_footnotes(cleaned):
    html = "<p>10<sup>2</sup> cups</p><p><sup>2</sup>H is heavy.</p>"
    assert "footnote" not in cleaned(html)


def test_a_link_in_a_note_stays(cleaned):
    html = '<p>a<sup><a href="#fn1">1</a></sup></p><ol><li id="fn1">see <a href="/book">the book</a></li></ol>'
    assert 'see <a href="https://example.org/book">the book</a>' in cleaned(html)


def test_a_heading_of_references_stays_and_one_of_notes_goes(cleaned):
    html = '<p>a<sup><a href="#fn1">1</a></sup></p><h2>{}</h2><ol><li id="fn1">one</li></ol>'
    assert "<h2>References</h2>" in cleaned(html.format("References"))
    assert "h2" not in cleaned(html.format("Footnotes"))


def test_a_loose_note_keeps_the_blocks_that_follow_it(cleaned):
    html = (
        "<p>Water<sup>1</sup> and leaves<sup>2</sup>.</p><hr><p><strong>1</strong> Boil it:</p><ul><li>once</li></ul>"
        "<p>Not twice.</p><p><strong>2</strong> Green.</p>"
    )
    assert cleaned(html) == (
        f"<p>Water{REF_1} and leaves{REF_2}.</p>"
        '<section class="footnotes"><ol><li id="fn-1"><p>Boil it:</p><ul><li>once</li></ul><p>Not twice.</p></li>'
        '<li id="fn-2">Green.</li></ol></section>'
    )


def test_bold_numbers_that_no_rule_announces_are_not_notes(cleaned):
    html = "<p>Water<sup>1</sup>.</p><p><strong>1</strong> Boil it.</p>"
    assert "footnote" not in cleaned(html)


def test_marks_that_scripts_follow_find_the_notes_by_their_ids(cleaned):
    html = (
        '<p>Water<sup class="footnoteref"><a href="javascript:;" id="footnoteref-1">1</a></sup>.</p><div class="notes">'
        '<div class="title">Footnotes</div><div id="footnote-1"><a href="javascript:;">1</a>. Boil it.</div></div>'
    )
    assert (
        cleaned(html)
        == f'<p>Water{REF_1}.</p><section class="footnotes"><ol><li id="fn-1">Boil it.</li></ol></section>'
    )


def test_a_saved_page_finds_its_notes_by_its_old_address(cleaned):
    html = (
        '<p>See [<a href="https://old.example/p#bib.bib7">7</a>].</p><h2>References</h2>'
        '<ul><li id="bib.bib7"><span>[7]</span> <span>A book.</span></li></ul>'
    )
    assert cleaned(html) == (
        f'<p>See {REF_1}.</p><h2>References</h2><section class="footnotes"><ol><li id="fn-1">A book.</li></ol></section>'
    )

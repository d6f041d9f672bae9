"""ODT files, written by hand: what every part of OpenDocument text becomes."""

from __future__ import annotations

from tests.capture.documents.reading import markdown, read
from tests.capture.documents.tiny_office import make_odt


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def h(text: str, level: int = 1) -> str:
    return f'<text:h text:outline-level="{level}">{text}</text:h>'


def span(style: str, text: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


def items(*texts: str, style: str = "L1", more: str = "") -> str:
    inner = "".join(f"<text:list-item>{text if text.startswith('<') else p(text)}</text:list-item>" for text in texts)
    return f'<text:list text:style-name="{style}" {more}>{inner}</text:list>'


def test_headings_marks_and_links() -> None:
    text = f"The {span('B', 'old ')}{span('B', 'mill')} {span('I', 'turns')} {span('S', 'not')} x{span('Up', '2')} {span('M', 'f()')}"
    link = '<text:a xlink:href="https://a.example/">link</text:a> <text:a xlink:href="#here">inside</text:a>'
    body = p("Mills", "Title") + h("One") + p(text) + h("Two", 2) + p(link)
    expected = "# Mills\n\n## One\n\nThe **old mill** *turns* ~~not~~ x² `f()`\n\n### Two\n\n[link](https://a.example/) inside\n"
    assert markdown(make_odt(body)) == expected


def test_spaces_of_the_source_are_one_and_elements_are_several() -> None:
    body = p("a\n   b<text:s text:c='3'/>c<text:line-break/>d") + p("if x:", "Preformatted_20_Text")
    body += p("<text:s text:c='4'/>return", "Preformatted_20_Text")
    assert markdown(make_odt(body)) == "a b c\\\nd\n\n```\nif x:\n    return\n```\n"


def test_lists_nest_go_on_and_have_further_paragraphs() -> None:
    nested = p("two") + items("inner", "second")
    body = (
        items("one", nested, p("three") + p("more of three")) + p("Between") + items("a", "b", style="L2") + p("Then")
    )
    body += items("c", style="L2", more='text:continue-numbering="true"')
    expected = "- one\n\n- two\n  1. inner\n  2. second\n\n- three\n\n  more of three\n\nBetween\n\n1. a\n2. b\n\nThen\n\n3. c\n"
    assert markdown(make_odt(body)) == expected


def test_tables_with_merged_cells_and_a_caption() -> None:
    def cell(text: str, about: str = "") -> str:
        return f"<table:table-cell {about}>{p(text)}</table:table-cell>"

    table = (
        "<table:table><table:table-header-rows><table:table-row>"
        + cell("Boat")
        + cell("Size", 'table:number-columns-spanned="2"')
        + "<table:covered-table-cell/></table:table-row></table:table-header-rows><table:table-row>"
        + cell("Anna", 'table:number-rows-spanned="2"')
        + cell("12")
        + cell("m")
        + "</table:table-row><table:table-row><table:covered-table-cell/>"
        + cell("40")
        + cell("ft")
        + "</table:table-row></table:table>"
    )
    html = read(make_odt(p("Boats of the town", "Table") + table)).html
    assert "<caption>Boats of the town</caption>" in html
    assert '<th colspan="2">Size</th>' in html
    assert '<td rowspan="2">Anna</td>' in html


def test_notes_frames_formulas_and_quotes() -> None:
    note = f"<text:note><text:note-citation>1</text:note-citation><text:note-body>{p('The note.')}</text:note-body></text:note>"
    group = f"<draw:g><draw:frame><draw:text-box>{p('one')}</draw:text-box></draw:frame><draw:custom-shape>{p('two')}</draw:custom-shape></draw:g>"
    assert markdown(make_odt(p(f"Text{group}"))) == "Text\n\none\n\ntwo\n"
    picture = "<draw:frame><draw:image/><svg:desc>The quay</svg:desc></draw:frame>"
    box = f"<draw:frame><draw:text-box>{p('In the box')}</draw:text-box></draw:frame>"
    formula = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    math = '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>x</mi><mn>2</mn></msup></math>'
    body = p(f"Text{note} and {formula}") + p(f"Around{box}") + p(picture) + p("Words.", "P1")
    found = markdown(make_odt(body, **{"Object 1__content.xml": math}))
    expected = "Text[^1] and $x^{2}$\n\nAround\n\nIn the box\n\nThe quay\n\n> Words.\n\n[^1]: The note.\n"
    assert found == expected


def test_changes_comments_hidden_text_and_contents_are_left_out() -> None:
    body = (
        f"<text:tracked-changes><text:changed-region><text:deletion>{p('gone')}</text:deletion></text:changed-region></text:tracked-changes>"
        f"<text:table-of-content><text:index-body>{p('One 1')}</text:index-body></text:table-of-content>"
        + p(f"Kept<office:annotation>{p('a comment')}</office:annotation>{span('V', 'hidden')}")
    )
    page = read(make_odt(body))
    assert page.markdown == "Kept\n"
    reasons = {removal.reason for removal in page.trace.removals}
    assert reasons == {"deleted by tracked changes", "table of contents", "comment", "hidden text"}


def test_metadata_and_protection() -> None:
    meta = "<dc:title>The mill</dc:title><meta:initial-creator>Ann Lee</meta:initial-creator><dc:language>de-DE</dc:language>"
    about = read(make_odt(h("The mill") + p("Wasser."), meta)).metadata
    assert (about.title, about.author, about.language) == ("The mill", "Ann Lee", "de-de")
    locked = read(make_odt(p("x"), manifest="<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"))
    assert locked.caught is not None
    assert locked.caught.kind == "encrypted_file"

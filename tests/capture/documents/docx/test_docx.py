"""DOCX files, written by hand: what every part of Word's format becomes."""

from __future__ import annotations

from tests.capture.documents.reading import markdown, read
from tests.capture.documents.tiny_office import item, make_docx, p, r


def test_headings_come_from_styles_their_parents_and_outline_levels() -> None:
    body = p("One", "H1") + p("Two", "Own") + p("Three", "", '<w:outlineLvl w:val="2"/>') + p("Text")
    assert markdown(make_docx(body)) == "# One\n\n## Two\n\n### Three\n\nText\n"


def test_a_title_is_above_the_headings() -> None:
    page = read(make_docx(p("The mill", "Titel") + p("Wheel", "H1") + p("Water.")))
    assert (page.markdown, page.metadata.title) == ("# The mill\n\n## Wheel\n\nWater.\n", "The mill")


def test_short_bold_paragraphs_are_headings_where_no_style_names_any() -> None:
    def bold(text: str) -> str:
        return p(r(text, "<w:b/>"))

    body = (
        bold("The wheel")
        + p("It turns.")
        + bold("The water")
        + p("It falls.")
        + bold("A whole sentence in bold.")
        + p("End.")
    )
    expected = "## The wheel\n\nIt turns.\n\n## The water\n\nIt falls.\n\n**A whole sentence in bold.**\n\nEnd.\n"
    assert markdown(make_docx(body)) == expected
    assert markdown(make_docx(bold("Only one") + p("Text."))) == "**Only one**\n\nText.\n"
    assert "**Bold**" in markdown(make_docx(p("Styled", "H1") + bold("Bold") + p("a") + bold("More") + p("b")))


def test_numbered_headings_have_their_numbers() -> None:
    number = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="2"/></w:numPr>'
    body = p("A", "H1", number.format(0)) + p("B", "H2", number.format(1)) + p("C", "H1", number.format(0)) + p("Text")
    assert markdown(make_docx(body)) == "# 1. A\n\n## 1.a B\n\n# 2. C\n\nText\n"


def test_runs_that_word_split_are_joined_and_spaces_are_outside_of_marks() -> None:
    bold = "<w:b/>"
    text = r("The ") + r("old ", bold) + r("har", bold) + r("bour ", bold) + r("is ") + r("deep", "<w:i/>") + r(".")
    assert markdown(make_docx(p(text))) == "The **old harbour** is *deep*.\n"


def test_marks() -> None:
    text = (
        r("a ", '<w:b w:val="0"/>')
        + r("struck", "<w:strike/>")
        + r(" H")
        + r("2", '<w:vertAlign w:val="subscript"/>')
        + r("O ")
        + r("styled", '<w:rStyle w:val="Strong"/>')
        + r(" ")
        + r("code()", '<w:rFonts w:ascii="Courier New"/>')
        + r("hidden", "<w:vanish/>")
    )
    assert markdown(make_docx(p(text))) == "a ~~struck~~ H₂O **styled** `code()`\n"


def test_lists_nest_go_on_and_begin_where_the_numbering_says() -> None:
    body = (
        item("one")
        + item("inner", level=1)
        + item("two")
        + p("Between")
        + item("first", 2)
        + item("second", 2)
        + p("Then")
        + item("third", 2)
        + p("New")
        + item("five", 4)
    )
    expected = "- one\n  - inner\n- two\n\nBetween\n\n1. first\n2. second\n\nThen\n\n3. third\n\nNew\n\n5. five\n"
    assert markdown(make_docx(body)) == expected


def test_paragraphs_without_a_mark_belong_to_the_item_before() -> None:
    body = item("one") + item("more of one", 3) + item("two") + p("still two", "LP") + p("Text")
    assert markdown(make_docx(body)) == "- one\n\n  more of one\n\n- two\n\n  still two\n\nText\n"


def test_list_styles_are_lists() -> None:
    body = p("one", "Bullets") + p("inner", "Bullets2") + p("two", "Bullets")
    assert markdown(make_docx(body)) == "- one\n  - inner\n- two\n"


def test_tables_with_merged_cells() -> None:
    def cell(text: str, about: str = "") -> str:
        return f"<w:tc><w:tcPr>{about}</w:tcPr>{p(text) if text else '<w:p/>'}</w:tc>"

    rows = (
        "<w:tr><w:trPr><w:tblHeader/></w:trPr>" + cell("Boat") + cell("Size", '<w:gridSpan w:val="2"/>') + "</w:tr>"
        "<w:tr>" + cell("Anna", '<w:vMerge w:val="restart"/>') + cell("12") + cell("m") + "</w:tr>"
        "<w:tr>" + cell("", "<w:vMerge/>") + cell("40") + cell("ft") + "</w:tr>"
    )
    page = read(make_docx(f"<w:tbl>{rows}</w:tbl>" + p("Boats of the town", "Cap")))
    assert '<th colspan="2">Size</th>' in page.html
    assert '<td rowspan="2">Anna</td>' in page.html
    assert "<caption>Boats of the town</caption>" in page.html


def test_a_table_of_one_cell_is_a_box() -> None:
    assert markdown(make_docx(f"<w:tbl><w:tr><w:tc>{p('Mind the gap.')}</w:tc></w:tr></w:tbl>")) == "Mind the gap.\n"


def test_links_of_relationships_and_of_fields() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://b.example/x" </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + r("field") + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    simple = "<w:fldSimple w:instr=' HYPERLINK \"https://c.example/\" '>" + r("simple") + "</w:fldSimple>"
    text = f'<w:hyperlink r:id="x">{r("link")}</w:hyperlink>' + r(" ") + field + r(" ") + simple + r(" end")
    expected = "[link](https://a.example/) [field](https://b.example/x) [simple](https://c.example/) end\n"
    assert markdown(make_docx(p(text), links={"x": "https://a.example/"})) == expected


def test_footnotes_are_numbered_by_their_first_reference() -> None:
    def note(key: int) -> str:
        return f'<w:r><w:footnoteReference w:id="{key}"/></w:r>'

    notes = f'<w:footnote w:id="7">{p("Seven.")}</w:footnote><w:footnote w:id="3">{p("Three.")}</w:footnote>'
    body = p(r("a") + note(3) + r(" b") + note(7) + r(" c") + note(3))
    assert markdown(make_docx(body, notes)) == "a[^1] b[^2] c[^1]\n\n[^1]: Three.\n\n[^2]: Seven.\n"


def test_tracked_changes_are_accepted_and_comments_left_out() -> None:
    text = (
        r("The ")
        + "<w:del><w:r><w:delText>young </w:delText></w:r></w:del>"
        + f"<w:ins>{r('old ')}</w:ins><w:commentRangeStart w:id='1'/>"
        + r("mill")
        + '<w:r><w:commentReference w:id="1"/></w:r>'
    )
    deleted_end = p("First half", "", "<w:rPr><w:del/></w:rPr>") + p(" and second")
    page = read(make_docx(p(text) + deleted_end))
    assert page.markdown == "The old mill\n\nFirst half and second\n"
    assert any("deleted" in removal.reason for removal in page.trace.removals)


def test_code_and_quotes_by_style_and_font() -> None:
    mono = '<w:rFonts w:ascii="Consolas"/>'
    body = p("def f():", "Code") + p("    return 1", "Code") + p(r("x = 2", mono)) + p("Words.", "Q") + p("More.", "Q")
    assert markdown(make_docx(body)) == "```\ndef f():\n    return 1\nx = 2\n```\n\n> Words.\n>\n> More.\n"


def test_a_table_of_contents_is_left_out() -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \\o</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    body = p(begin + r("One 1")) + p(r("Two 2") + end) + p("Three 3", "TOC1") + p("Text")
    assert markdown(make_docx(body)) == "Text\n"


def test_pictures_show_their_text_and_text_boxes_follow_their_paragraph() -> None:
    picture = '<w:r><w:drawing><wp:inline><wp:docPr descr="The quay at night"/></wp:inline></w:drawing></w:r>'
    box = (
        "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>"
        + p("In the box")
        + "</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>"
        + p("In the box")
        + "</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    inner = f"<w:r><w:pict><v:textbox><w:txbxContent>{p('inner')}</w:txbxContent></v:textbox></w:pict></w:r>"
    outer = f"<w:r><w:pict><v:textbox><w:txbxContent>{p(r('outer') + inner)}</w:txbxContent></v:textbox></w:pict></w:r>"
    assert markdown(make_docx(p(r("Text") + outer))) == "Text\n\nouter\n\ninner\n"
    nameless = '<w:r><w:drawing><wp:inline><wp:docPr descr="image1.png"/></wp:inline></w:drawing></w:r>'
    page = read(make_docx(p(r("Before") + picture) + p(r("Around") + box) + p(nameless)))
    assert page.markdown == "Before\n\nThe quay at night\n\nAround\n\nIn the box\n"
    assert [removal.reason for removal in page.trace.removals] == ["picture without a text"]
    row = f"<w:tr><w:tc>{p('a')}</w:tc><w:tc>{p('b')}</w:tc></w:tr>"
    captioned = read(make_docx(f"<w:tbl>{row}{row}</w:tbl>" + p(nameless) + p("Figure 1: The quay", "Cap")))
    assert captioned.html.endswith("</table><p>Figure 1: The quay</p>")


def test_formulas_become_tex() -> None:
    def run(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = f"<m:f><m:num>{run('a')}</m:num><m:den>{run('b+1')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{run('x')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    total = f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("i=1")}</m:sub><m:sup>{run("n")}</m:sup><m:e>{run("αi")}</m:e></m:nary>'
    body = p(r("So ") + f"<m:oMath>{fraction}{power}</m:oMath>") + p(
        f"<m:oMathPara><m:oMath>{total}</m:oMath></m:oMathPara>"
    )
    assert markdown(make_docx(body)) == "So $\\frac{a}{b+1}x^{2}$\n\n$$\n\\sum_{i=1}^{n} \\alpha i\n$$\n"


def test_metadata_is_checked_against_the_text() -> None:
    core = (
        "<dc:title>The old mill</dc:title><dc:creator>Ann Lee;user</dc:creator><cp:keywords>mill; water</cp:keywords>"
    )
    about = read(make_docx(p("The old mill", "H1") + p("Water."), core=core)).metadata
    assert (about.title, about.author, about.keywords) == ("The old mill", "Ann Lee", ("mill", "water"))
    other = read(make_docx(p("Boats", "H1") + p("Water."), core="<dc:title>Template of the firm</dc:title>")).metadata
    assert other.title == "Boats"


def test_a_file_without_text_and_one_that_is_cut_say_why() -> None:
    empty = read(make_docx("<w:p/>"))
    assert empty.caught is not None
    assert (empty.caught.kind, empty.caught.reason) == ("empty_file", "The DOCX has no text")
    data = make_docx(p("Text"))
    broken = read(data.replace(b"PK\x05\x06", b"PK\x00\x00"))
    assert broken.caught is not None
    assert (broken.caught.kind, broken.quality.level) == ("damaged_file", "bookmark")

"""Bytes to text, and what is not text."""

from __future__ import annotations

import codecs
import encodings.aliases
import pkgutil

import pytest

from pagekeep import dom
from pagekeep.errors import ParseError, TooLarge, UnsupportedContent
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Options

RUSSIAN = "<p>Мельник считал мешки один за другим, пока не начался прилив и большое колесо не остановилось.</p>" * 8
JAPANESE = "<p>粉屋は潮が変わるまで、袋を一つずつ数えていました。大きな水車は静かに止まりました。</p>" * 8
CHINESE = "<p>磨坊主一袋一袋地数着，直到潮水退去，巨大的水轮停了下来。村里没有人见过这样的事情。</p>" * 8
FRENCH = (
    "<p>Le meunier comptait les sacs, l’un après l’autre, jusqu’à la marée. Où était la clé ? À côté, déjà.</p>" * 8
)


def text(data: str | bytes, encoding: str | None = None) -> str:
    return decode(data, Options(encoding=encoding))[0]


def with_meta(charset: str, html: str) -> str:
    return f'<meta charset="{charset}">{html}'


def test_text_is_taken_as_it_is() -> None:
    assert decode("<p>Grüße</p>", Options()) == ("<p>Grüße</p>", ())


def test_utf8_bytes_are_read_without_a_note() -> None:
    assert decode("<p>Grüße 漢字</p>".encode(), Options()) == ("<p>Grüße 漢字</p>", ())


@pytest.mark.parametrize(
    ("bom", "encoding"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_a_byte_order_mark_wins_over_every_declaration(bom: bytes, encoding: str) -> None:
    html = with_meta("koi8-r", RUSSIAN)
    assert text(bom + html.encode(encoding), "windows-1251") == html


@pytest.mark.parametrize(
    ("encoding", "html"),
    [
        ("windows-1251", RUSSIAN),
        ("koi8-r", RUSSIAN),
        ("shift_jis", JAPANESE),
        ("euc-jp", JAPANESE),
        ("iso-2022-jp", JAPANESE),
        ("gbk", CHINESE),
        ("big5", "<p>磨坊主一袋一袋地數著，直到潮水退去，巨大的水輪停了下來。</p>" * 8),
        ("euc-kr", "<p>방앗간 주인은 조수가 바뀔 때까지 자루를 하나씩 세었습니다.</p>" * 8),
        ("windows-1252", FRENCH),
    ],
)
class TestAnOldEncoding:
    def test_is_read_as_the_transport_names_it(self, encoding: str, html: str) -> None:
        assert text(html.encode(encoding), encoding) == html

    def test_is_read_as_the_page_names_it(self, encoding: str, html: str) -> None:
        page = with_meta(encoding, html)
        assert text(page.encode(encoding)) == page

    def test_is_noted(self, encoding: str, html: str) -> None:
        _, warnings = decode(with_meta(encoding, html).encode(encoding), Options())
        assert [warning.code for warning in warnings] == ["encoding"]
        assert warnings[0].text.startswith("decoded as ")


@pytest.mark.parametrize(
    ("encoding", "html"),
    [("windows-1251", RUSSIAN), ("shift_jis", JAPANESE), ("gbk", CHINESE), ("windows-1252", FRENCH)],
)
def test_an_undeclared_encoding_is_known_by_its_content(encoding: str, html: str) -> None:
    assert text(html.encode(encoding)) == html


@pytest.mark.parametrize(
    "wrong", ["windows-1252", "iso-8859-1", "shift_jis", "koi8-r", "us-ascii", "no-such-thing", ""]
)
def test_utf8_that_is_declared_as_something_else_is_still_utf8(wrong: str) -> None:
    html = with_meta(wrong, RUSSIAN)
    assert text(html.encode(), wrong) == html


@pytest.mark.parametrize("encoding", ["windows-1251", "shift_jis", "gbk"])
def test_what_is_declared_as_utf8_and_is_not_is_known_by_its_content(encoding: str) -> None:
    html = {"windows-1251": RUSSIAN, "shift_jis": JAPANESE, "gbk": CHINESE}[encoding]
    assert text(with_meta("utf-8", html).encode(encoding), "utf-8").endswith(html)


@pytest.mark.parametrize("label", ["iso-8859-1", "latin1", "us-ascii", "ISO-8859-1"])
def test_labels_mean_what_they_mean_to_a_browser(label: str) -> None:
    assert text("<p>“quoted” – it’s</p>".encode("windows-1252"), label) == "<p>“quoted” – it’s</p>"


@pytest.mark.parametrize(
    ("label", "encoding", "html"), [("gb2312", "gbk", "<p>镕鎔</p>" * 30), ("shift_jis", "cp932", "<p>①髙橋</p>" * 30)]
)
def test_an_old_label_covers_its_later_characters(label: str, encoding: str, html: str) -> None:
    assert text(html.encode(encoding), label) == html


@pytest.mark.parametrize("encoding", ["windows-1251", "shift_jis", "gbk"])
def test_what_the_server_calls_utf8_and_is_not_is_known_by_its_content(encoding: str) -> None:
    html = {"windows-1251": RUSSIAN, "shift_jis": JAPANESE, "gbk": CHINESE}[encoding]
    assert text(html.encode(encoding), "utf-8") == html


@pytest.mark.parametrize(
    "label", ["no-such-thing", "x" * 10_000, "utf-8\0", " ", "rot13", "hex", "idna", "unicode_escape"]
)
def test_a_charset_that_is_none_is_passed_over(label: str) -> None:
    assert text(FRENCH.encode("windows-1252"), label) == FRENCH


def test_a_few_broken_bytes_do_not_spoil_a_utf8_page() -> None:
    data = RUSSIAN.encode() + b"\xff" + "<p>конец</p>".encode()
    found = text(with_meta("utf-8", "").encode() + data)
    assert "Мельник считал мешки" in found
    assert "<p>конец</p>" in found


def test_a_character_cut_in_half_at_the_end_does_not_spoil_a_page() -> None:
    assert "Мельник считал мешки" in text(with_meta("utf-8", RUSSIAN).encode() + "я".encode()[:1])


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff\xe0JFIF",
        b"PK\x03\x04\x14\x00",
        b"\x1f\x8b\x08\x00",
        b"\x7fELF\x02",
        b"wOF2\x00",
        b"SQLite format 3\x00",
        bytes(range(32)) * 100,
    ],
)
def test_binary_files_are_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedContent) as caught:
        decode(data, Options())
    assert caught.value.suggestions


@pytest.mark.parametrize("data", ["", b"", "   \n\t", b"\n\n", codecs.BOM_UTF8, b"\0\0\0", "\ufeff"])
def test_empty_input_is_not_a_page(data: str | bytes) -> None:
    with pytest.raises((ParseError, UnsupportedContent)):
        decode(data, Options())


def test_nuls_in_a_page_are_accepted() -> None:
    assert "words" in text(b"<p>some\0 words</p>\0")


@pytest.mark.parametrize("data", ["<p>12345", b"<p>12345"])
def test_the_limit_is_the_callers(data: str | bytes) -> None:
    assert decode(data, Options(max_bytes=8))
    with pytest.raises(TooLarge, match="limit"):
        decode(data, Options(max_bytes=7))


def test_lone_surrogates_are_replaced() -> None:
    found = text("<p>a\ud800b\udfffc</p>")
    assert found == "<p>a?b?c</p>"
    found.encode("utf-8")


def test_whole_surrogate_pairs_are_left_alone() -> None:
    assert text("<p>\U0001f600</p>") == "<p>\U0001f600</p>"


def test_a_wrong_declaration_is_not_rewritten_in_the_text() -> None:
    page = with_meta("utf-8", "<p>charset</p>" + RUSSIAN)
    assert text(page.encode("windows-1251")) == page


def test_codecs_of_python_that_are_not_web_encodings_are_ignored() -> None:
    names = {module.name for module in pkgutil.iter_modules(encodings.__path__)} | set(encodings.aliases.aliases)
    accepted = {name for name in names if dom.decode(b"caf\xe9", name) is not None}
    not_for_the_web = (
        "punycode",
        "idna",
        "utf_7",
        "utf_32",
        "unicode_escape",
        "rot_13",
        "hex",
        "zlib",
        "cp437",
        "mbcs",
    )
    assert not accepted & set(not_for_the_web)
    page = "<p>caf\xe9</p>".encode("windows-1252")
    for name in (*sorted(names - accepted), "no-such-codec", "a" * 10_000, "utf-8\0", "\xe9", "../etc"):
        declared, warnings = decode(page, Options(encoding=name))
        assert (declared, warnings) == decode(page, Options())

"""The words of RTF: control words with their numbers, groups, and text in code pages."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_CHARSETS: Final = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
_CODE_PAGES: Final = frozenset(
    "cp437 cp850 cp852 cp855 cp857 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp932 cp949 cp950 cp1250 cp1251 "
    "cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 gbk utf-8 mac_roman".split()
)
SIGNS: Final = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "tab": "\t",
    "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005", "cell": "", "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip


class Token(NamedTuple):
    """A word, a byte, a sign, a brace or text; exactly one is set."""

    word: str = ""
    number: int | None = None
    byte: int | None = None
    sign: str = ""
    brace: str = ""
    text: str = ""


def read_tokens(data: bytes) -> Iterator[Token]:
    """Yield the tokens of a file; line ends mean nothing."""
    source = data.decode("latin-1")
    place = 0
    while match := _TOKEN.match(source, place):
        place = match.end()
        word, number, byte, sign, brace, text = match.groups()
        if word:
            value = int(number) if number else None
            if word == "bin" and value:
                place += max(0, value)
            yield Token(word=word, number=value)
        elif text:
            yield Token(text=text)
        elif brace:
            yield Token(brace=brace)
        elif byte:
            yield Token(byte=int(byte, 16))
        elif sign:
            yield Token(sign=sign)


def page_of_charset(charset: int) -> str | None:
    """Return the code page of a font's character set; `None` for that of the document."""
    return _CHARSETS.get(charset)


def page_of_number(number: int) -> str:
    """Return the code page with a number, as the document names it."""
    name = {65001: "utf-8", 936: "gbk", 10000: "mac_roman"}.get(number, f"cp{number}")
    return name if name in _CODE_PAGES else "cp1252"


def decode(data: bytes, page: str) -> str:
    """Return bytes of a code page as text."""
    if page == "cp1252":  # its five unused places are controls, as in browsers
        return "".join(
            chr(byte) if byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes((byte,)).decode("cp1252") for byte in data
        )
    return codecs.decode(data, page, "replace")


def join_surrogates(text: str) -> str:
    """Return text in which two halves of a character are one."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

"""RTF files under attack."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.documents.kind import WORDS, Kind

TEXT = " ".join(WORDS)
_HEAD = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}{\f1\fmodern Courier New;}}{\stylesheet{\s1 heading 1;}}"


def _make(body: str) -> bytes:
    return f"{_HEAD}{body}}}".encode("latin-1")


def originals() -> list[bytes]:
    """Return sound files of several shapes."""
    row = rf"\trowd\cellx1000\cellx2000\pard\intbl {TEXT}\cell x\cell\row"
    link = r'{\field{\*\fldinst{HYPERLINK "https://a.example/"}}{\fldrslt{link}}}'
    plain = rf"\pard\s1 The harbour\par\pard {TEXT}{{\b bold}} {link}{{\footnote {TEXT}}}\par"
    listing = rf"\pard{{\listtext\'b7\tab}}\ls1\ilvl0 {TEXT}\par" * 3
    return [_make(plain + listing), _make(plain + row * 3 + rf"\pard{{\f1 code()\par}}{TEXT}\par")]


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield files made to take time or memory."""
    yield "deep groups", _make("{" * 500_000 + TEXT)
    yield "many groups", _make("{}" * 1_500_000 + TEXT)
    yield "many runs", _make(r"\pard " + r"{\b a}{\i b}" * 200_000)
    yield "many paragraphs", _make(r"\pard x\par" * 500_000)
    yield (
        "many cells",
        _make(
            r"\trowd" + "".join(rf"\cellx{n}" for n in range(50_000)) + r"\pard\intbl" + r" x\cell" * 50_000 + r"\row"
        ),
    )
    yield "many rows", _make(r"\trowd\cellx1000\pard\intbl x\cell\row" * 50_000)
    yield "many notes", _make(r"\pard x{\footnote y}" * 50_000)
    yield "notes in notes", _make(r"\pard x" + r"{\footnote y" * 900)
    yield (
        "large numbers",
        _make(
            rf"\pard\li9999999999\fi-9999999999\ilvl9999999999\f9999999999\s9999999999\uc9999999999 {TEXT}\u9999999999 x\par"
        ),
    )
    yield "binary data", _make(rf"{{\pict\bin9999999999 x}}{TEXT}")
    yield "many fonts", _make("{\\fonttbl" + "".join(rf"{{\f{n} F{n};}}" for n in range(300_000)) + "}" + TEXT)
    yield "unicode", _make(r"\pard " + r"\u-10179?" * 500_000)


KIND = Kind(originals, bombs)

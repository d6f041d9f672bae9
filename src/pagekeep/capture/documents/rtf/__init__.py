"""RTF: our own reader of its words, from groups with their formatting, fields, notes and lists to blocks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from pagekeep.capture.documents.parsed import DamagedFile, Declared, Dropped, ParsedDocument
from pagekeep.capture.documents.rtf.story import NO_MARK, CellPlan, Properties, Story
from pagekeep.capture.documents.word_blocks import (
    Block,
    Notes,
    Run,
    is_monospaced,
    make_document,
    mark_bold_headings,
    raise_title,
    write_blocks,
)
from pagekeep.model import Options


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in an RTF file."""
    reader = Reader()
    blocks = mark_bold_headings(raise_title(reader.read(data)))
    info = reader.info
    declared = Declared(
        "rtf",
        title=info.get("title", ""),
        authors=tuple(info.get("author", "").split(";")),
        subject=info.get("doccomm", "") or info.get("subject", ""),
        keywords=info.get("keywords", ""),
    )
    return make_document(blocks, reader.notes, reader.dropped, declared, "an RTF, read by its paragraphs")


_MAX_DEPTH: Final = 1_000
_SKIPPED: Final = frozenset(
    "colortbl pict header headerl headerr headerf footer footerl footerr footerf nonshppict ftnsep ftnsepc aftnsep aftnsepc "
    "shprslt objdata xe tc rxe themedata colorschememapping datastore latentstyles sp generator fldtype datafield".split()
)
_READ_STARRED: Final = frozenset("fldinst shpinst shptxt listtable listoverridetable footnote cs".split())
"""Destinations marked as optional that are read all the same."""
_CAPTURED: Final = frozenset("title author subject keywords doccomm fldinst listtext pntext".split())
_MARKS: Final = {"b": "strong", "i": "em", "strike": "s", "striked": "s", "super": "sup", "sub": "sub"}
_LINK: Final = re.compile(r"\s*HYPERLINK\s+(?:\\[hmnot]\s+)*(?:\"([^\"]*)\"|([^\s\\\"]\S*))", re.I)
_BREAK: Final = Run("", html="<br>")


@dataclass(slots=True)
class Group:
    """The formatting within a pair of braces."""

    to: str = "text"
    """Where text goes: `text`, `skip`, or the name of a destination."""
    marks: frozenset[str] = frozenset()
    hidden: bool = False
    font: int = 0
    unicode_skip: int = 1
    href: str | None = None
    is_start: bool = True
    starred: bool = False
    story: Story | None = None
    """A story that ends with the group, of a note or a text box."""
    field_code: list[str] = field(default_factory=list)
    """The instruction of the field that the group is in, shared with its parts."""


class Reader:
    """Reads a whole file."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.dropped = Dropped("rtf")
        self.info: dict[str, str] = {}
        self._group = Group()
        self._stack: list[Group] = []
        self._story = Story()
        self._stories: list[tuple[Story, Properties]] = []
        self._about = Properties()
        self._fonts: dict[int, tuple[bool, str | None]] = {}
        """Number to whether it is monospaced, and its code page."""
        self._font = self._style = self._default_font = 0
        self._styles: dict[int, str] = {}
        self._captured: dict[str, list[str]] = {}
        self._page = "cp1252"
        self._bytes = bytearray()
        self._text: list[str] = []
        self._skip = 0
        self._note_count = 0
        self._joins_left = self._joins_above = False

    def read(self, data: bytes) -> list[Block]:
        """Return the blocks of the file."""
        for token in read_tokens(data):
            if self.dropped.is_cut:
                break
            if token.word:
                self._read_word(token)
            elif token.brace:
                self._flush()
                self._open() if token.brace == "{" else self._close()
            elif token.byte is not None:
                self._add_byte(token.byte)
            elif token.sign:
                self._read_sign(token.sign)
            else:
                self._add_text(token.text)
        self._flush()
        while self._stack:
            self._close()
        return self._story.finish(self._about)

    # Groups

    def _open(self) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            raise DamagedFile("it is nested too deeply")
        self._stack.append(self._group)
        self._group = replace(self._group, is_start=True, starred=False, story=None)
        self._skip = 0

    def _close(self) -> None:
        self._flush()
        self._skip = 0
        ended = self._group
        if self._stack:
            self._group = self._stack.pop()
        if ended.story is not None:
            self._end_story(ended)
        elif ended.to in _CAPTURED and self._group.to != ended.to:
            self._use_captured(ended.to)

    def _end_story(self, ended: Group) -> None:
        blocks = self._story.finish(self._about)
        self._story, self._about = self._stories.pop()
        if ended.to == "text" and ended.starred:  # a text box
            self._story.after += blocks
            return
        self._note_count += 1
        self.notes.add(str(self._note_count), write_blocks(blocks))
        reference = self.notes.refer(str(self._note_count))
        self._story.runs += [reference] if reference else []

    def _begin_story(self, *, is_box: bool) -> None:
        self._stories.append((self._story, self._about))
        self._story, self._about = Story(), Properties()
        group = self._group
        group.to, group.story, group.starred = "text", self._story, is_box
        group.marks, group.href = frozenset(), None

    def _use_captured(self, name: str) -> None:
        text = "".join(self._captured.pop(name, []))
        if name in ("listtext", "pntext"):
            self._about.marker = text.strip() or NO_MARK
        elif name == "fldinst":
            self._group.field_code[:] = [text]
        else:
            self.info[name] = text

    # Text

    def _add_byte(self, byte: int) -> None:
        if self._skip:
            self._skip -= 1
        else:
            self._bytes.append(byte)

    def _add_text(self, text: str) -> None:
        if self._group.is_start and self._group.to == "text":
            self._group.is_start = False
        if self._skip:
            taken = min(self._skip, len(text))
            self._skip -= taken
            text = text[taken:]
        if self._group.to != "skip":
            self._bytes += text.encode("latin-1", "replace")

    def _add_char(self, char: str) -> None:
        self._decode()
        self._text.append(char)

    def _decode(self) -> None:
        if self._bytes:
            page = self._fonts.get(self._group.font, (False, None))[1] if self._group.to == "text" else None
            self._text.append(decode(bytes(self._bytes), page or self._page))
            self._bytes.clear()

    def _flush(self) -> None:
        """Add the text so far, with the formatting that is in force."""
        self._decode()
        if not self._text:
            return
        text, self._text = join_surrogates("".join(self._text)), []
        group = self._group
        if group.to == "text":
            if group.hidden:
                self.dropped.add("v", "hidden or deleted text", text)
            elif self.dropped.take(text):
                is_code = self._fonts.get(group.font, (False, None))[0]
                self._story.runs.append(Run(text, group.marks | {"code"} if is_code else group.marks, group.href))
        elif group.to == "fonttbl":
            known = self._fonts.get(self._font, (False, None))
            self._fonts[self._font] = (known[0] or is_monospaced(text), known[1])
        elif group.to == "stylesheet":
            if name := text.partition(";")[0].strip():
                self._styles[self._style] = name.replace("_20_", " ")  # how LibreOffice names its own styles
        elif group.to in _CAPTURED:
            self._captured.setdefault(group.to, []).append(text[:4_000])

    # Words

    def _read_sign(self, sign: str) -> None:
        if sign == "*":
            self._group.starred = True
            return
        if self._skip:
            self._skip -= 1
            return
        if sign in "\r\n":
            self._end_paragraph()
        elif sign in "{}\\":
            self._add_char(sign)
        elif sign in "~_":
            self._add_char("\xa0" if sign == "~" else "-")

    def _read_word(self, token: Token) -> None:
        word, number = token.word, token.number
        group = self._group
        if word == "u" and number is not None:
            if group.to != "skip":
                self._add_char(chr(number % 0x10000))
            self._skip = group.unicode_skip
            return
        if word == "uc":
            group.unicode_skip = max(0, min(number if number is not None else 1, 20))
            return
        if word in SIGNS and word != "cell":
            if self._skip:
                self._skip -= 1
            elif group.to != "skip":
                self._add_char(SIGNS[word])
            return
        self._flush()
        if group.is_start and self._choose_destination(word, group):
            return
        group.is_start = False
        if group.to == "text":
            self._format(word, number, group)
        elif group.to == "fonttbl":
            self._read_font(word, number)
        elif group.to == "stylesheet" and word == "s" and number is not None:
            self._style = number
        elif group.to == "stylesheet" and word in ("cs", "ts", "ds"):
            self._style = -1

    def _choose_destination(self, word: str, group: Group) -> bool:
        """Set where the text of a group goes, by its first word; return whether that is all the word means."""
        if group.to == "skip":
            return True
        if word in _SKIPPED or (group.starred and word not in _READ_STARRED):
            if word == "pict":
                self.dropped.add("pict", "picture")
            group.to = "skip"
        elif word in ("footnote", "annotation") and group.to == "text":
            self._begin_story(is_box=False)
        elif word == "shptxt":
            self._begin_story(is_box=True)
        elif word in ("listtable", "listoverridetable", "revtbl"):
            group.to = "skip"
        elif word == "field":
            group.field_code = []
        elif word == "fldrslt":
            match = _LINK.match("".join(group.field_code))
            group.href = (match[1] or match[2] or None) if match else group.href
        elif word in ("fonttbl", "stylesheet", "info") or word in _CAPTURED:
            group.to = word
            if word == "stylesheet":
                self._style = 0
        elif word == "shpinst":
            group.to = "text"
        else:
            return False
        group.is_start = False
        return True

    def _read_font(self, word: str, number: int | None) -> None:
        if word == "f" and number is not None:
            self._font = number
        elif word == "fcharset" and number is not None:
            self._fonts[self._font] = (self._fonts.get(self._font, (False, None))[0], _CHARSETS.get(number))
        elif word in ("fmodern",) or (word == "fprq" and number == 1):
            self._fonts[self._font] = (True, self._fonts.get(self._font, (False, None))[1])

    def _format(self, word: str, number: int | None, group: Group) -> None:
        is_on = number != 0
        if word in _MARKS:
            group.marks = group.marks | {_MARKS[word]} if is_on else group.marks - {_MARKS[word]}
        elif word == "nosupersub":
            group.marks -= {"sup", "sub"}
        elif word in ("up", "dn") and number is not None:
            mark = "sup" if word == "up" else "sub"
            group.marks = group.marks | {mark} if number else group.marks - {"sup", "sub"}
        elif word == "plain":
            group.marks, group.hidden, group.font = frozenset(), False, self._default_font
        elif word in ("v", "deleted"):
            group.hidden = is_on
        elif word == "f" and number is not None:
            group.font = number
        elif word == "deff" and number is not None:
            group.font = self._default_font = number
        elif word == "ansicpg" and number is not None:
            self._page = page_of_number(number)
        elif word in ("mac", "pc", "pca"):
            self._page = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
        else:
            self._format_paragraph(word, number)

    # Paragraphs and tables

    def _format_paragraph(self, word: str, number: int | None) -> None:
        about, story = self._about, self._story
        match word:
            case "par" | "sect" | "page" | "nestcell":
                self._end_paragraph()
            case "pard":  # the mark of an item comes before or after this word
                self._about = Properties(marker=about.marker)
            case "s":
                about.style = self._styles.get(number or 0, "")
            case "outlinelevel":
                about.outline = number
            case "ls":
                about.list_key = number
            case "ilvl":
                about.level = max(0, min(number or 0, 8))
            case "li":
                about.indent = number or 0
            case "fi":
                about.first = number or 0
            case "intbl":
                about.in_table = True
            case "line" | "lbr":
                story.runs.append(_BREAK)
            case "trowd":
                story.plan, story.is_head = [], False
                self._joins_left = self._joins_above = False
            case "cellx":
                story.plan.append(CellPlan(number or 0, self._joins_left, self._joins_above))
                self._joins_left = self._joins_above = False
            case "clmrg":
                self._joins_left = True
            case "clvmrg":
                self._joins_above = True
            case "trhdr":
                story.is_head = True
            case "cell":
                story.end_cell(about)
                about.marker = ""
            case "row":
                story.end_row()

    def _end_paragraph(self) -> None:
        self._flush()
        self._story.end_paragraph(self._about)
        self._about.marker = ""


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

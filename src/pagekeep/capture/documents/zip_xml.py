"""The ZIP archives and the XML of office files and books, read with bounds on their size, number and depth."""

from __future__ import annotations

import io
import itertools
import zipfile
import zlib
from typing import Final
from xml.etree.ElementTree import Element
from xml.parsers import expat

from pagekeep.capture.documents.parsed import DamagedFile, EncryptedFile
from pagekeep.errors import TooLarge

MAX_FILES: Final = 10_000
MAX_UNPACKED_BYTES: Final = 300_000_000
"""What all files together may declare; pictures count too, though none is unpacked."""
MAX_FILE_BYTES: Final = 60_000_000
"""Of one file that is read: 10 MB of packed XML are 60 to 150."""
MAX_READ_BYTES: Final = 120_000_000
"""Of all files that are read."""
MAX_RATIO: Final = 200
"""Unpacked to packed bytes of a file that is not small: XML of office programs reaches about 60, a bomb 1,000."""
_SMALL_BYTES: Final = 1_000_000
_INDEX_ENTRY: Final = b"PK\x01\x02"
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER_BYTES: Final = 30
_ENCRYPTED: Final = 0x1
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError)


class Archive:
    """A ZIP archive in memory, by the names of its files.

    Raises `DamagedFile`, and `TooLarge` for one that unpacks to more than a document can have.
    """

    def __init__(self, data: bytes) -> None:
        if data.count(_INDEX_ENTRY) > MAX_FILES:
            raise TooLarge(f"The file is an archive of more than {MAX_FILES:,} files.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _BROKEN as error:
            raise DamagedFile("its list of files cannot be read") from error
        # Not `is_dir`, which fails for a file without a name.
        entries = [entry for entry in self._zip.infolist() if entry.filename and not entry.filename.endswith("/")]
        _check_sizes(entries)
        _check_overlaps(entries)
        self._entries = {entry.filename: entry for entry in reversed(entries)}
        self._folded = {name.casefold(): name for name in reversed(self._entries)}
        self._left = MAX_READ_BYTES

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, in the order of the list."""
        return tuple(reversed(self._entries))

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def read(self, name: str) -> bytes:
        """Return a file; raise `DamagedFile` if it is missing or damaged, `EncryptedFile`, or `TooLarge`."""
        entry = self._find(name)
        if entry is None:
            raise DamagedFile(f"{name[:100]} is missing")
        if entry.flag_bits & _ENCRYPTED:
            raise EncryptedFile
        if entry.compress_type not in _METHODS:
            raise DamagedFile(f"{name[:100]} has an unknown compression")
        limit = min(entry.file_size, MAX_FILE_BYTES, self._left)
        try:
            with self._zip.open(entry) as stream:
                data = stream.read(limit + 1)
        except _BROKEN as error:
            raise DamagedFile(f"{name[:100]} cannot be unpacked") from error
        if len(data) > limit:
            raise TooLarge("The file unpacks to more than a document can have.")
        self._left -= len(data)
        return data

    def read_if_there(self, name: str) -> bytes | None:
        """Return a file, or `None` if it is missing or damaged: of a part that the text does not need."""
        try:
            return self.read(name)
        except DamagedFile:
            return None

    def parse_if_sound(self, name: str) -> Element | None:
        """Return the root of an XML file, or `None` if it is missing or damaged: of a part that the text does not need."""
        data = self.read_if_there(name)
        try:
            return parse_xml(data) if data else None
        except DamagedFile:
            return None

    def _find(self, name: str) -> zipfile.ZipInfo | None:
        """Return the entry of a name; some programs differ in the case of letters from what they refer to."""
        name = name.lstrip("/")
        found = self._entries.get(name)
        return found if found is not None else self._entries.get(self._folded.get(name.casefold(), ""))


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    for entry in entries:
        if entry.file_size > _SMALL_BYTES and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
            raise TooLarge(f"A part of the file unpacks to more than {MAX_RATIO} times its size.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise TooLarge(f"The file unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB.")


def _check_overlaps(entries: list[zipfile.ZipInfo]) -> None:
    """Raise `DamagedFile` when two files of the list share bytes: how a bomb declares the same bytes many times."""
    places = sorted(
        (entry.header_offset, entry.header_offset + _HEADER_BYTES + entry.compress_size) for entry in entries
    )
    if any(start < end for (_, end), (start, _) in itertools.pairwise(places)):
        raise DamagedFile("its files overlap")


MAX_DEPTH: Final = 120
"""Levels of elements; the files of office programs have up to about 40."""
MAX_ELEMENTS: Final = 1_500_000
"""About 500 MB as a tree, with their attributes."""
MAX_ATTRIBUTES: Final = 4_000_000
_OFFICE: Final = "http://schemas.openxmlformats.org/"
_STRICT: Final = "http://purl.oclc.org/ooxml/"
_OASIS: Final = "urn:oasis:names:tc:opendocument:xmlns:"
_PREFIXES: Final = {
    **{
        f"{base}{name}": prefix
        for base, name_2006 in ((_OFFICE, "/2006"), (_STRICT, ""))
        for name, prefix in (
            (f"wordprocessingml{name_2006}/main", "w"),
            (f"officeDocument{name_2006}/relationships", "r"),
            (f"officeDocument{name_2006}/math", "m"),
            (f"drawingml{name_2006}/wordprocessingDrawing", "wp"),
            (f"drawingml{name_2006}/main", "a"),
            (f"drawingml{name_2006}/picture", "pic"),
        )
    },
    f"{_OFFICE}package/2006/relationships": "rel",
    f"{_OFFICE}package/2006/content-types": "ct",
    f"{_OFFICE}package/2006/metadata/core-properties": "cp",
    f"{_OFFICE}markup-compatibility/2006": "mc",
    "http://schemas.microsoft.com/office/word/2010/wordprocessingShape": "wps",
    "http://schemas.microsoft.com/office/word/2010/wordml": "w14",
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
    **{
        f"{_OASIS}{name}:1.0": prefix
        for name, prefix in (
            ("office", "office"),
            ("style", "style"),
            ("text", "text"),
            ("table", "table"),
            ("drawing", "draw"),
            ("meta", "meta"),
            ("manifest", "manifest"),
            ("svg-compatible", "svg"),
            ("xsl-fo-compatible", "fo"),
            ("container", "container"),
        )
    },
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.w3.org/1999/xlink": "xlink",
    "http://www.w3.org/XML/1998/namespace": "xml",
    "http://www.w3.org/1998/Math/MathML": "math",
    "http://www.idpf.org/2007/opf": "opf",
    "http://www.idpf.org/2007/ops": "epub",
    "http://www.w3.org/1999/xhtml": "html",
    "http://www.daisy.org/z3986/2005/ncx/": "ncx",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
}
"""Namespaces to the prefixes that the readers know, whatever a file calls them; both forms of Office Open XML are one."""


def parse_xml(data: bytes) -> Element:
    """Return the root of the tree, with names such as `w:p`; raise `DamagedFile`, or `TooLarge`."""
    builder = _Builder()
    parser = expat.ParserCreate(namespace_separator="\n")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.add_text
    parser.StartDoctypeDeclHandler = _refuse_own_doctype
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DamagedFile("a part of it is not XML") from error
    if builder.root is None:
        raise DamagedFile("a part of it is empty")
    return builder.root


def _refuse_own_doctype(_name: str, _system: str | None, _public: str | None, has_own_part: int) -> None:
    """Refuse a document type with declarations; a reference to a file elsewhere is harmless, as it is not loaded."""
    if has_own_part:
        raise DamagedFile("it declares a document type")


def _refuse_entity(*_: object) -> None:
    raise DamagedFile("it declares entities")


class _Builder:
    """Builds the tree."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._last: Element | None = None
        """The element that text is behind, if it is not inside the innermost open one."""
        self._names: dict[str, str] = {}
        self._elements = self._attributes = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        self._attributes += len(attributes)
        if self._elements > MAX_ELEMENTS or self._attributes > MAX_ATTRIBUTES:
            raise TooLarge("The file has too many elements to be read.")
        if len(self._open) >= MAX_DEPTH:
            raise DamagedFile("it is nested too deeply")
        short = self._short
        element = Element(short(name), {short(key): value for key, value in attributes.items()})
        if self._open:
            self._open[-1].append(element)
        elif self.root is None:
            self.root = element
        self._open.append(element)
        self._last = None

    def end(self, _name: str) -> None:
        self._last = self._open.pop()

    def add_text(self, text: str) -> None:
        if self._last is not None:
            self._last.tail = (self._last.tail or "") + text
        elif self._open:
            self._open[-1].text = (self._open[-1].text or "") + text

    def _short(self, name: str) -> str:
        known = self._names.get(name)
        if known is None:
            namespace, separator, local = name.rpartition("\n")
            prefix = _PREFIXES.get(namespace, "other")
            known = self._names[name] = f"{prefix}:{local}" if separator else local
        return known


def text_of(element: Element | None) -> str:
    """Return all text in the element, with single spaces."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""

"""XML of others as a tree: no entities, bounded depth and size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element
from xml.parsers import expat

from pagekeep.capture.documents.refusals import DamagedFile
from pagekeep.errors import TooLarge

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


def parse(data: bytes) -> Element:
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


def walk(element: Element, name: str) -> Iterator[Element]:
    """Iterate over the descendants with a name, in document order."""
    return element.iter(name)

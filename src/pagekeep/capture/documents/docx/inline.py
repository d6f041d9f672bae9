"""The runs of a DOCX paragraph: marks, links, fields, notes, pictures, text boxes and formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.docx.math import to_tex
from pagekeep.capture.documents.docx.styles import read_marks
from pagekeep.capture.documents.docx.symbols import read_symbol
from pagekeep.capture.documents.parts.blocks import Block, write_figure
from pagekeep.capture.documents.parts.runs import Run

if TYPE_CHECKING:
    from pagekeep.capture.documents.docx.body import Body

_TRANSPARENT: Final = frozenset(
    "w:ins w:moveTo w:smartTag w:customXml w:sdt w:sdtContent w:dir w:bdo w:ruby w:rubyBase w:subDoc".split()
)
"""Elements around runs that change nothing."""
_LINK: Final = re.compile(r"\s*HYPERLINK\s+(?:\\[hmnot]\s+)*(?:\"([^\"]*)\"|([^\s\\\"]\S*))", re.I)
_CONTENTS: Final = re.compile(r"\s*(?:TOC|INDEX|TOA)\b", re.I)
_FILE_NAME: Final = re.compile(
    r"\S*\.(?:png|jpe?g|gif|bmp|emf|wmf|tiff?|svg|webp)|(?:picture|image|grafik|bild) ?\d*", re.I
)
_MAX_FIELDS: Final = 50
_BREAK: Final = Run("", html="<br>")


@dataclass(slots=True)
class Field:
    """A field that is open: its instruction, and whether its result is being read."""

    code: str = ""
    in_result: bool = False

    @property
    def href(self) -> str | None:
        match = _LINK.match(self.code)
        return (match[1] or match[2] or "").strip() or None if match else None

    @property
    def is_contents(self) -> bool:
        return _CONTENTS.match(self.code) is not None


@dataclass(slots=True)
class Inline:
    """Collects the runs of one paragraph."""

    body: Body
    links: dict[str, str]
    base_marks: frozenset[str] = frozenset()
    runs: list[Run] = field(default_factory=list)
    after: list[Block] = field(default_factory=list)
    """Text boxes and pictures, which follow the paragraph."""
    has_rule: bool = False
    has_formula_block: bool = False

    def read(self, parent: Element, href: str | None = None) -> None:
        """Read the runs in an element."""
        for child in parent:
            tag = child.tag
            if tag == "w:r":
                self._read_run(child, href)
            elif tag == "w:hyperlink":
                self.read(child, self.links.get(child.get("r:id", "")) or href)
            elif tag == "w:fldSimple":
                opened = Field(child.get("w:instr", "")[:4_000], True)
                self.read(child, opened.href or href)
            elif tag in ("w:del", "w:moveFrom"):
                self.body.dropped.add(
                    "w:del", "deleted by a tracked change", " ".join(t.text or "" for t in child.iter("w:delText"))
                )
            elif tag == "m:oMath":
                self._add_formula(child)
            elif tag == "m:oMathPara":
                self.has_formula_block = True
                for one in child.findall("m:oMath"):
                    self._add_formula(one)
            elif tag in _TRANSPARENT:
                self.read(child, href)
            elif tag == "mc:AlternateContent":
                self.read(_choose(child), href)

    def _add_formula(self, element: Element) -> None:
        tex = to_tex(element)
        if tex and self.body.dropped.take(tex):
            self.runs.append(Run("", html=f'<span class="math-inline">{escape(tex, quote=False)}</span>'))

    def _read_run(self, run: Element, href: str | None) -> None:
        fields = self.body.fields
        properties = run.find("w:rPr")
        marks = self._marks(properties)
        if "hidden" in marks:
            self.body.dropped.add("w:r", "hidden text", "".join(text.text or "" for text in run.iter("w:t")))
            marks, hidden = marks - {"hidden"}, True
        else:
            hidden = False
        for child in run:
            if child.tag == "w:fldChar":
                self._read_field_mark(child)
            elif child.tag == "w:instrText":
                if fields and not fields[-1].in_result and len(fields[-1].code) < 4_000:
                    fields[-1].code += child.text or ""
            elif not hidden and all(one.in_result for one in fields):
                target = next((found for one in reversed(fields) if (found := one.href)), href)
                self._read_piece(child, marks, target)

    def _marks(self, properties: Element | None) -> frozenset[str]:
        if properties is None:
            return self.base_marks
        style = properties.find("w:rStyle")
        inherited = self.body.styles.get(style.get("w:val")) if style is not None else None
        marks = set(self.base_marks | (inherited.marks if inherited else frozenset()))
        if inherited and inherited.hidden:
            marks.add("hidden")
        on, off = read_marks(properties)
        return frozenset((marks - off) | on)

    def _read_field_mark(self, mark: Element) -> None:
        fields, kind = self.body.fields, mark.get("w:fldCharType")
        if kind == "begin" and len(fields) < _MAX_FIELDS:
            fields.append(Field())
        elif kind == "separate" and fields:
            fields[-1].in_result = True
        elif kind == "end" and fields:
            fields.pop()

    def _read_piece(self, child: Element, marks: frozenset[str], href: str | None) -> None:
        tag = child.tag
        if tag == "w:t":
            self._add(child.text or "", marks, href)
        elif tag in ("w:tab", "w:ptab"):
            self._add("\t", marks, href)
        elif tag == "w:br":
            if child.get("w:type") not in ("page", "column"):
                self.runs.append(_BREAK)
        elif tag == "w:cr":
            self.runs.append(_BREAK)
        elif tag == "w:noBreakHyphen":
            self._add("-", marks, href)
        elif tag == "w:sym":
            self._add(read_symbol(child.get("w:font", ""), child.get("w:char", "")), marks, href)
        elif tag in ("w:footnoteReference", "w:endnoteReference"):
            note = self.body.read_note(tag[2:-9], child.get("w:id", ""))
            self.runs += [note] if note else []
        elif tag == "mc:AlternateContent":
            for piece in _choose(child):
                self._read_piece(piece, marks, href)
        elif tag in ("w:drawing", "w:pict", "w:object"):
            self._read_drawing(child)

    def _add(self, text: str, marks: frozenset[str], href: str | None) -> None:
        if text and self.body.dropped.take(text):
            self.runs.append(Run(text, marks, href))

    def _read_drawing(self, drawing: Element) -> None:
        boxes = _outer_boxes(drawing)
        for box in boxes:
            self.after += self.body.read_blocks(box, self.links)
        if boxes:
            return
        if any(one.get("o:hr") in ("t", "true") for one in drawing.iter("v:rect")):
            self.has_rule = True
            return
        alternative = _alternative(drawing)
        if alternative and self.body.dropped.take(alternative):
            self.after.append(Block("html", html=write_figure(alternative)))
        else:
            self.body.dropped.add("w:drawing", "picture without a text")
            self.after.append(Block("html"))  # what follows is not the caption of a table before


def _outer_boxes(element: Element) -> list[Element]:
    """Return the text boxes in a drawing that are not inside another one, which reads its own."""
    found: list[Element] = []
    for child in _choose(element) if element.tag == "mc:AlternateContent" else element:
        found += [child] if child.tag == "w:txbxContent" else _outer_boxes(child)
    return found


def _choose(alternatives: Element) -> Element:
    """Return the alternative to read: the first, unless only the fallback has text."""
    options = [child for child in alternatives if child.tag in ("mc:Choice", "mc:Fallback")]
    with_text = (
        one
        for one in options
        if next(one.iter("w:txbxContent"), None) is not None or next(one.iter("w:t"), None) is not None
    )
    return next(with_text, options[0] if options else alternatives)


def _alternative(drawing: Element) -> str:
    """Return the text of a picture; not a name that a program made up."""
    named = next(drawing.iter("wp:docPr"), None)
    texts = [named.get("descr"), named.get("title")] if named is not None else []
    texts += [shape.get("alt") for shape in drawing.iter("v:shape")]
    found = next((" ".join(text.split()) for text in texts if text and text.strip()), "")
    return "" if _FILE_NAME.fullmatch(found) else found[:2_000]


def formula_block(runs: list[Run]) -> str:
    """Return the formulas of a paragraph as blocks, if it has nothing else."""
    if any(run.html is None and run.text.strip() for run in runs):
        return ""
    inner = [run.html for run in runs if run.html and "math-inline" in run.html]
    return "".join(
        html.replace("<span", "<div").replace("math-inline", "math-block").replace("</span>", "</div>")
        for html in inner
    )

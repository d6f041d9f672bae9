"""The runs of a DOCX paragraph: marks, links, fields, notes, pictures, text boxes, symbols, and formulas as TeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents.docx.styles import read_marks
from pagekeep.capture.documents.word_blocks import Block, Run, write_figure

if TYPE_CHECKING:
    from pagekeep.capture.documents.docx import Body


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
        tex = " ".join(_children(element).split())[:_MAX_CHARS]
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


_MAX_CHARS: Final = 20_000
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωϵϑϕϱϖ",
        "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi chi psi "
        "omega epsilon vartheta phi varrho varpi".split(),
        strict=True,
    )
)
_CAPITALS: Final = dict(
    zip("ΓΔΘΛΞΠΣΥΦΨΩ", "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(), strict=True)
)
_SIGNS: Final = {
    **_GREEK, **_CAPITALS,
    "×": "times", "÷": "div", "±": "pm", "∓": "mp", "⋅": "cdot", "·": "cdot", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx",
    "≡": "equiv", "∞": "infty", "∂": "partial", "∇": "nabla", "∈": "in", "∉": "notin", "⊂": "subset", "⊆": "subseteq",
    "∪": "cup", "∩": "cap", "∧": "wedge", "∨": "vee", "¬": "neg", "∀": "forall", "∃": "exists", "→": "to", "←": "leftarrow",
    "⇒": "Rightarrow", "⇔": "Leftrightarrow", "↔": "leftrightarrow", "∑": "sum", "∏": "prod", "∫": "int", "∬": "iint",
    "∮": "oint", "√": "surd", "…": "ldots", "⋯": "cdots", "∝": "propto", "∼": "sim", "≅": "cong", "⊥": "perp", "∥": "parallel",
    "⟨": "langle", "⟩": "rangle", "ℏ": "hbar", "ℓ": "ell", "∘": "circ", "⊕": "oplus", "⊗": "otimes", "∅": "emptyset",
    "{": "{", "}": "}", "%": "%", "&": "&", "#": "#", "$": "$", "_": "_",
}  # fmt: skip
_ACCENTS: Final = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot", "\u0308": "ddot",
                   "\u20d7": "vec", "\u030c": "check", "\u0306": "breve"}  # fmt: skip
_FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp lim max min sup inf det dim ker gcd".split()
)
_BRACKETS: Final = {"{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "⌊": r"\lfloor", "⌋": r"\rfloor",
                    "⌈": r"\lceil", "⌉": r"\rceil", "": "."}  # fmt: skip
_PROPERTIES: Final = frozenset({"m:rPr", "m:ctrlPr", "w:rPr"})


def _children(element: Element | None) -> str:
    return "".join(map(_convert, element)) if element is not None else ""


def _convert(element: Element) -> str:
    tag = element.tag
    if tag == "m:r":
        return _text(element)
    if tag in _PROPERTIES or tag.endswith("Pr"):
        return ""
    handler = _HANDLERS.get(tag)
    return handler(element) if handler else _children(element)


def _text(run: Element) -> str:
    properties = run.find("m:rPr")
    text = "".join(one.text or "" for one in run if one.tag in ("m:t", "w:t"))
    is_plain = properties is not None and (properties.find("m:nor") is not None or _value(properties, "m:sty") == "p")
    if text.strip() in _FUNCTIONS:
        return f"\\{text.strip()} "
    if is_plain and len(text.strip()) > 1 and text.strip().isalpha():
        return f"\\text{{{text}}}"
    return "".join(_sign(char) for char in text)


def _sign(char: str) -> str:
    found = _SIGNS.get(char)
    if found is None:
        return {"\\": r"\backslash ", "−": "-", "~": r"\sim ", "^": r"\hat{}"}.get(char, char)
    return f"\\{found} " if found.isalpha() else f"\\{found}"


def _value(element: Element | None, name: str, default: str = "") -> str:
    found = element.find(name) if element is not None else None
    return found.get("m:val", default) if found is not None else default


def _part(element: Element, name: str) -> str:
    return _children(element.find(name)).strip()


def _fraction(element: Element) -> str:
    kind = _value(element.find("m:fPr"), "m:type")
    over, under = _part(element, "m:num"), _part(element, "m:den")
    if kind == "lin":
        return f"{over}/{under}"
    return f"\\binom{{{over}}}{{{under}}}" if kind == "noBar" else f"\\frac{{{over}}}{{{under}}}"


def _scripts(element: Element) -> str:
    under, over = _part(element, "m:sub"), _part(element, "m:sup")
    base = _part(element, "m:e")
    base = base if len(base) <= 1 or (base.startswith("\\") and base[1:].isalpha()) else f"{{{base}}}"
    return base + (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")


def _scripts_before(element: Element) -> str:
    return f"{{}}_{{{_part(element, 'm:sub')}}}^{{{_part(element, 'm:sup')}}}{_part(element, 'm:e')}"


def _root(element: Element) -> str:
    degree = _part(element, "m:deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'm:e')}}}"


def _large_operator(element: Element) -> str:
    sign = _value(element.find("m:naryPr"), "m:chr", "∫")
    under, over = _part(element, "m:sub"), _part(element, "m:sup")
    limits = (f"_{{{under}}}" if under else "") + (f"^{{{over}}}" if over else "")
    return f"{_sign(sign).strip()}{limits} {_part(element, 'm:e')}"


def _brackets(element: Element) -> str:
    about = element.find("m:dPr")
    begin, end = _value(about, "m:begChr", "("), _value(about, "m:endChr", ")")
    inner = f" {_value(about, 'm:sepChr', '|')} ".join(_children(one).strip() for one in element.findall("m:e"))
    return f"\\left{_BRACKETS.get(begin, begin)} {inner} \\right{_BRACKETS.get(end, end)}"


def _function(element: Element) -> str:
    name = _part(element, "m:fName")
    sign = "\\" if name in _FUNCTIONS else ""
    return f"{sign}{name} {_part(element, 'm:e')}"


def _accent(element: Element) -> str:
    sign = _value(element.find("m:accPr"), "m:chr", "\u0302")
    return f"\\{_ACCENTS.get(sign, 'hat')}{{{_part(element, 'm:e')}}}"


def _bar(element: Element) -> str:
    place = _value(element.find("m:barPr"), "m:pos", "bot")
    return f"\\{'overline' if place == 'top' else 'underline'}{{{_part(element, 'm:e')}}}"


def _limit(element: Element) -> str:
    sign = "_" if element.tag == "m:limLow" else "^"
    return f"{_part(element, 'm:e')}{sign}{{{_part(element, 'm:lim')}}}"


def _matrix(element: Element) -> str:
    rows = (" & ".join(_children(cell).strip() for cell in row.findall("m:e")) for row in element.findall("m:mr"))
    inner = " \\\\ ".join(rows)
    return f"\\begin{{matrix}} {inner} \\end{{matrix}}"


def _equations(element: Element) -> str:
    rows = " \\\\ ".join(_children(row).strip() for row in element.findall("m:e"))
    return f"\\begin{{aligned}} {rows} \\end{{aligned}}"


_HANDLERS: Final[dict[str, Callable[[Element], str]]] = {
    "m:f": _fraction,
    "m:sSup": _scripts,
    "m:sSub": _scripts,
    "m:sSubSup": _scripts,
    "m:sPre": _scripts_before,
    "m:rad": _root,
    "m:nary": _large_operator,
    "m:d": _brackets,
    "m:func": _function,
    "m:acc": _accent,
    "m:bar": _bar,
    "m:limLow": _limit,
    "m:limUpp": _limit,
    "m:m": _matrix,
    "m:eqArr": _equations,
}

_LETTERS: Final = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SMALL: Final = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL: Final = {
    **{0x41 + place: letter for place, letter in enumerate(_LETTERS)},
    **{0x61 + place: letter for place, letter in enumerate(_SMALL)},
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•",
    0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCE: "∈", 0xD0: "∠",
    0xD1: "∇", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDE: "⇒", 0xE5: "∑",
    0xF2: "∫",
}  # fmt: skip
_WINGDINGS: Final = {
    0x4A: "☺", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x76: "❖", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xDF: "←", 0xE0: "→",
    0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip


def read_symbol(font: str, code: str) -> str:
    """Return the character of a font at a hexadecimal place; empty for one that is not known."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    place = number - 0xF000 if 0xF000 <= number <= 0xF0FF else number
    name = font.lower()
    if name.startswith("symbol"):
        return _SYMBOL.get(place, chr(place) if 0x20 <= place < 0x7F else "")
    if name.startswith("wingdings"):
        return _WINGDINGS.get(place, "")
    return chr(number) if 0x20 <= number < 0xD800 else ""

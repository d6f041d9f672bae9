"""Print documents with pdflatex: several fonts, one and two columns, indents or space between paragraphs."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pagekeep import dom
from printed.compose import Sample

_LANGUAGES = {"en": "english", "de": "ngerman", "fr": "french", "es": "spanish", "it": "italian", "ru": "russian"}
_FONTS = (
    r"\usepackage[T1]{fontenc}\usepackage{lmodern}",
    r"",  # Computer Modern: accents are built from two characters
    r"\usepackage[T1]{fontenc}\usepackage{mathptmx}",
    r"\usepackage[T1]{fontenc}\usepackage{mathpazo}",
    r"\usepackage[T1]{fontenc}\usepackage{helvet}\renewcommand{\familydefault}{\sfdefault}",
)
_SPECIAL = {**{char: "\\" + char for char in "#$%&_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}"} | {
    "^": r"\textasciicircum{}",
    "·": r"\textperiodcentered{}",
}


def print_latex(sample: Sample, folder: Path) -> None:
    """Write the PDF of a document; raise `RuntimeError` with the end of the log when that fails."""
    with TemporaryDirectory(prefix="latex-") as name:
        Path(name, "a.tex").write_text(make_source(sample), "utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
        for _ in range(2):
            run = subprocess.run(command, cwd=name, capture_output=True, check=False, timeout=60)
            if run.returncode:
                raise RuntimeError(f"{sample.name}: {run.stdout[-800:].decode('utf-8', 'replace')}")
        (folder / f"{sample.name}.pdf").write_bytes(Path(name, "a.pdf").read_bytes())


def make_source(sample: Sample) -> str:
    """Return the LaTeX source of a document."""
    pick = random.Random(f"style-{sample.number}")
    russian = sample.language == "ru"
    font = r"\usepackage[T2A]{fontenc}" if russian else pick.choice(_FONTS)
    options = f"{pick.choice((10, 11, 12))}pt,a4paper{',twocolumn' if sample.columns == 2 else ''}"
    head = [
        rf"\documentclass[{options}]{{article}}\usepackage[utf8]{{inputenc}}{font}",
        rf"\usepackage[{_LANGUAGES[sample.language]}]{{babel}}\usepackage{{textcomp,booktabs,caption,fancyhdr}}",
        rf"\usepackage[{pick.choice(('hidelinks', 'colorlinks', ''))}]{{hyperref}}\pagestyle{{fancy}}\fancyhf{{}}",
        rf"\fancyhead[C]{{\small {_escape(sample.head)}}}\fancyfoot[C]{{\thepage}}",
        rf"\renewcommand{{\headrulewidth}}{{{pick.choice((0, 0.4))}pt}}",
        r"\usepackage[top=30mm,bottom=30mm,left=25mm,right=25mm]{geometry}\emergencystretch=3em",
    ]
    if pick.random() < 0.4:
        head.append(r"\setlength{\parindent}{0pt}\setlength{\parskip}{6pt plus 2pt}")
    if pick.random() < 0.3:
        head.append(r"\raggedright")
    writer = _Latex(sample, pick)
    root = dom.parse_fragment(sample.body)
    body = "\n".join(writer.block(node) for node in root.children if getattr(node, "tag", None))
    return "\n".join(head) + "\n\\begin{document}\n\\thispagestyle{fancy}\n" + body + "\n\\end{document}\n"


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in text)


class _Latex:
    def __init__(self, sample: Sample, pick: random.Random) -> None:
        self._notes = sample.notes
        self._table = pick.choice(("booktabs", "grid", "lines", "plain"))
        self._author = "class=author" in sample.body

    def block(self, node: Any) -> str:
        tag, kind = node.tag, node.attr("class") or ""
        if tag == "section":
            return ""
        if tag == "h1":
            author = r"\author{Ann Lee}" if self._author else ""
            return rf"\title{{{self.inline(node)}}}{author}\date{{}}\maketitle\thispagestyle{{fancy}}"
        if tag in ("h2", "h3"):
            return self._heading(node, kind)
        if tag == "p":
            return self._paragraph(node, kind)
        if tag == "blockquote":
            return rf"\begin{{quote}}{self.inline(node)}\end{{quote}}"
        if tag in ("ul", "ol"):
            return self._list(node)
        if tag == "table":
            return self._make_table(node)
        return rf"\begin{{verbatim}}{chr(10)}{dom.text_of(node).rstrip()}{chr(10)}\end{{verbatim}}"

    def _heading(self, node: Any, kind: str) -> str:
        if kind == "abstract":
            return ""
        text, level = self.inline(node), "section" if node.tag == "h2" else "subsection"
        number, _, rest = text.partition(" ")
        if number.replace(".", "").isdigit():
            return rf"\{level}{{{rest}}}"
        return rf"\{level}*{{{text}}}"

    def _paragraph(self, node: Any, kind: str) -> str:
        if kind == "author":
            return ""
        if kind == "abstract":
            return rf"\begin{{abstract}}{self.inline(node)}\end{{abstract}}"
        if kind == "caption":
            return rf"\begin{{center}}\captionof*{{table}}{{{self.inline(node)}}}\end{{center}}"
        if kind == "math":
            return rf"\[{dom.text_of(node)}\]"
        return self.inline(node) + "\n"

    def inline(self, node: Any) -> str:
        out = []
        for child in node.children:
            if isinstance(child, dom.Text):
                out.append(_escape(child.data))
                continue
            inner, tag = self.inline(child), child.tag
            if tag == "a":
                inner = rf"\href{{{child.attr('href')}}}{{{inner}}}"
            elif tag == "sup":
                inner = rf"\footnote{{{_escape(self._notes[int(dom.text_of(child)) - 1])}}}"
            elif tag == "span":
                inner = f"${dom.text_of(child)}$"
            else:
                command = {"b": "textbf", "i": "textit", "code": "texttt"}.get(tag)
                inner = rf"\{command}{{{inner}}}" if command else inner
            out.append(inner)
        return "".join(out)

    def _list(self, node: Any) -> str:
        name = "itemize" if node.tag == "ul" else "enumerate"
        items = []
        for item in node.children:
            nested = [child for child in item.children if getattr(child, "tag", None) == "ul"]
            inner = "".join(self._list(child) for child in nested)
            for child in nested:
                dom.drop(child)
            items.append(rf"\item {self.inline(item)}{inner}")
        return rf"\begin{{{name}}}{''.join(items)}\end{{{name}}}"

    def _make_table(self, node: Any) -> str:
        rows = [[self.inline(cell) for cell in dom.select(row, "td, th")] for row in dom.select(node, "tr")]
        lines = [" & ".join(row) + r" \\" for row in rows]
        columns = "l" * len(rows[0])
        if self._table == "booktabs":
            lines = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
        elif self._table == "grid":
            columns = "|" + "|".join(columns) + "|"
            lines = [r"\hline", *(f"{line} \\hline" for line in lines)]
        elif self._table == "lines":
            lines = [lines[0], r"\hline", *lines[1:]]
        return rf"\begin{{center}}\begin{{tabular}}{{{columns}}}{chr(10).join(lines)}\end{{tabular}}\end{{center}}"

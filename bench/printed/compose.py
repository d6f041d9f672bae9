"""Compose documents from our own sentences: HTML whose text and structure are known."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import yaml

TEXTS = yaml.safe_load((Path(__file__).parent.parent / "document_texts.yaml").read_text("utf-8"))
CODE = (
    "def tide(hours):\n    if hours < 0:\n        raise ValueError(hours)\n\n    return 1.7 * hours\n",
    "for boat in boats:\n    print(boat.name, boat.length)\n",
    "server {\n  listen 8080;\n  location / {\n    root /srv/harbour;\n  }\n}\n",
)
FORMULAS = ("h = a + b", "n = 3k + 1", "x + y > 7")
ABSTRACT = {
    "en": "Abstract",
    "de": "Zusammenfassung",
    "fr": "Résumé",
    "es": "Resumen",
    "it": "Sommario",
    "ru": "Аннотация",
}
TABLE = {"en": "Table", "de": "Tabelle", "fr": "Tableau", "es": "Tabla", "it": "Tabella", "ru": "Таблица"}
FONTS = ("DejaVu Serif", "DejaVu Sans", "DejaVu Serif Condensed", "DejaVu Sans Condensed")


@dataclass
class Sample:
    """One document: how it is printed, and the HTML that it must become again."""

    source: str
    """The program that prints it: "chromium", "latex" or "office"."""
    number: int
    language: str
    tagged: bool
    columns: int
    body: str
    head: str
    """The running head."""
    html: str = ""
    """For Chromium: the page with its style."""
    notes: list[str] = field(default_factory=list)
    first_half: bool = True

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.source}-{self.number}"


def compose(number: int) -> Sample:
    """Return the document of a number, for Chromium."""
    pick = random.Random(number)
    language = list(TEXTS)[number % 6]
    tagged, columns = number // 6 % 2 == 0, 2 if number // 12 % 5 in (1, 3) else 1
    words = TEXTS[language]
    writer = Writer(pick, words)
    body = writer.document(pick.choice(("article", "manual", "paper")))
    head = f"{pick.choice(words['headings'])} · {1900 + number}"
    style = (
        f"@page {{ size: {pick.choice(('A4', 'Letter'))}; margin: 22mm 20mm; "
        f"@top-center {{ content: '{head}'; font-size: 9pt }} @bottom-center {{ content: counter(page); font-size: 9pt }} }}"
        f"body {{ font: {pick.choice((9.5, 10, 11, 12))}pt/{pick.choice((1.2, 1.35, 1.5))} '{pick.choice(FONTS)}' }}"
        f"main {{ columns: {columns}; column-gap: 8mm; text-align: {pick.choice(('left', 'justify'))};"
        f" hyphens: {pick.choice(('manual', 'auto'))} }} pre, code {{ font-family: 'DejaVu Sans Mono'; font-size: 0.85em }}"
        f"table {{ border-collapse: collapse; margin: 1em 0 }} td, th {{ padding: 3px 8px; text-align: left;"
        f" {pick.choice(('border: 1px solid #555', 'border-bottom: 1px solid #999', ''))} }}"
        f"{'p { margin: 0; text-indent: 1.5em }' if pick.random() < 0.25 else ''}"
    )
    html = f"<!doctype html><html lang={language}><meta charset=utf-8><title>{escape(writer.title)}</title>"
    html += f"<style>{style}</style><main>{body}</main></html>"
    return Sample("chromium", number, language, tagged, columns, body, head, html)


def compose_rich(source: str, number: int) -> Sample:
    """Return the document of a number, for LaTeX or an office program: also with quotes, notes, captions and formulas."""
    pick = random.Random(f"{source}-{number}")
    language = list(TEXTS)[number % 6]
    tagged, columns = source == "office" and number // 6 % 2 == 0, 2 if number // 12 % 5 in (1, 3) else 1
    writer = RichWriter(pick, TEXTS[language], language, numbered=source == "latex" and pick.random() < 0.5)
    body = writer.document(pick.choice(("article", "manual", "paper")))
    head = f"{pick.choice(TEXTS[language]['headings'])} · {1900 + number}"
    return Sample(source, number, language, tagged, columns, body, head, notes=writer.notes)


class Writer:
    """Composes the body of a document."""

    def __init__(self, pick: random.Random, words: dict[str, list[str]]) -> None:
        self.pick, self.words, self.title = pick, words, ""

    def document(self, kind: str) -> str:
        pick = self.pick
        headings = pick.sample(self.words["headings"], 8)
        self.title = headings[0]
        out = [f"<h1>{escape(self.title)}</h1>", self.paragraph()]
        for number, heading in enumerate(headings[1 : pick.choice((4, 6, 8))], 1):
            prefix = f"{number}. " if kind == "paper" else ""
            out += [f"<h2>{prefix}{escape(heading)}</h2>", *(self.paragraph() for _ in range(pick.choice((1, 2, 3))))]
            parts = {"article": "pp l", "manual": "pplcl3t", "paper": "pptl3p"}[kind]
            for part in pick.sample(parts, 3):
                out += {"l": [self.list()], "t": [self.table()], "c": [self.code()], "3": self.section()}.get(
                    part, [self.paragraph()]
                )
        return "".join(out)

    def section(self) -> list[str]:
        return [f"<h3>{escape(self.pick.choice(self.words['headings']))}</h3>", self.paragraph()]

    def paragraph(self) -> str:
        sentences = [escape(one) for one in self.pick.sample(self.words["sentences"], self.pick.choice((2, 3, 4, 5)))]
        for index, sentence in enumerate(sentences):
            if self.pick.random() < 0.2:
                sentences[index] = self.mark(sentence)
        return f"<p>{' '.join(sentences)}</p>"

    def mark(self, sentence: str) -> str:
        words = sentence.split()
        start = self.pick.randrange(len(words) - 2)
        tag = self.pick.choice(("b", "i", "a", "a", "code"))
        target = f' href="https://example.com/{self.pick.randrange(1000)}"' if tag == "a" else ""
        words[start : start + 2] = [f"<{tag}{target}>{' '.join(words[start : start + 2])}</{tag}>"]
        return " ".join(words)

    def list(self) -> str:
        tag = self.pick.choice(("ul", "ul", "ol"))
        items = [escape(one) for one in self.pick.sample(self.words["items"], self.pick.choice((3, 4, 5)))]
        if self.pick.random() < 0.3:
            items[1] += f" {escape(self.pick.choice(self.words['sentences']))}"
        if self.pick.random() < 0.3:
            nested = self.pick.sample(self.words["items"], 2)
            items[2] += f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in nested)}</ul>"
        return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"

    def table(self) -> str:
        columns = self.pick.choice((2, 3, 4))
        head = "".join(f"<th>{escape(str(one))}</th>" for one in self.words["heads"][:columns])
        cells = [str(cell) for cell in self.words["cells"]]
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(self.pick.choice(cells))}</td>' for _ in range(columns))}</tr>"
            for _ in range(self.pick.choice((3, 4, 6)))
        )
        return f"<table><tr>{head}</tr>{rows}</table>"

    def code(self) -> str:
        return f"<pre><code>{escape(self.pick.choice(CODE))}</code></pre>"


class RichWriter(Writer):
    """Composes documents as people write them with LaTeX or an office program."""

    def __init__(self, pick: random.Random, words: dict[str, list[str]], language: str, *, numbered: bool) -> None:
        super().__init__(pick, words)
        self.language, self.numbered = language, numbered
        self._dot = "." if language == "es" else ""  # as LaTeX numbers Spanish sections
        self.notes: list[str] = []
        self._tables = self._sections = self._subsections = 0

    def document(self, kind: str) -> str:
        pick = self.pick
        headings = pick.sample(self.words["headings"], 8)
        self.title = headings[0]
        out = [f"<h1>{escape(self.title)}</h1>"]
        if kind == "paper":
            out += [f"<p class=author>Ann Lee</p><h2 class=abstract>{ABSTRACT[self.language]}</h2>", self.abstract()]
        for heading in headings[1 : pick.choice((4, 6, 8))]:
            self._sections, self._subsections = self._sections + 1, 0
            prefix = f"{self._sections}{self._dot} " if self.numbered else ""
            out += [f"<h2>{prefix}{escape(heading)}</h2>", *(self.paragraph() for _ in range(pick.choice((1, 2, 3))))]
            parts = {"article": "pplqf", "manual": "pplcl3tq", "paper": "pptl3pfqm"}[kind]
            for part in pick.sample(parts, 3):
                out += self.part(part)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return "".join(out) + (f"<section class=footnotes><ol>{notes}</ol></section>" if notes else "")

    def part(self, part: str) -> list[str]:
        if part == "t":
            self._tables += 1
            label = f"{TABLE[self.language]} {self._tables}"
            colon = "." if self.language == "fr" else ":"  # LaTeX puts a space before a French colon
            caption = f"<p class=caption>{label}{colon} {escape(self.pick.choice(self.words['items']))}</p>"
            return [caption, self.table()]
        makers = {"l": self.list, "c": self.code, "q": self.quote, "f": self.noted, "m": self.formula}
        return self.section() if part == "3" else [makers.get(part, self.paragraph)()]

    def abstract(self) -> str:
        return f"<p class=abstract>{escape(' '.join(self.pick.sample(self.words['sentences'], 3)))}</p>"

    def section(self) -> list[str]:
        self._subsections += 1
        prefix = f"{self._sections}.{self._subsections}{self._dot} " if self.numbered else ""
        return [f"<h3>{prefix}{escape(self.pick.choice(self.words['headings']))}</h3>", self.paragraph()]

    def quote(self) -> str:
        return f"<blockquote><p>{escape(' '.join(self.pick.sample(self.words['sentences'], 2)))}</p></blockquote>"

    def noted(self) -> str:
        first, second, third = (escape(one) for one in self.pick.sample(self.words["sentences"], 3))
        note = (
            f"{self.pick.choice(self.words['items'])}, {self.pick.randrange(1850, 1950)}, {self.pick.randrange(400)}."
        )
        self.notes.append(note[0].upper() + note[1:])
        return f"<p>{first} {second}<sup class=footnote-ref>{len(self.notes)}</sup> {third}</p>"

    def formula(self) -> str:
        first, second = (escape(one) for one in self.pick.sample(self.words["sentences"], 2))
        formula = self.pick.choice(FORMULAS)
        if self.pick.random() < 0.5:
            return f"<p>{first} <span class=math>{escape(formula)}</span> {second}</p>"
        return f"<p>{first}</p><p class=math>{escape(formula)}</p><p>{second}</p>"

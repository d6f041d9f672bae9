"""Measure how well PDF files are read: our texts, printed by Chromium, compared with what they were printed from.

    python bench/documents.py [COUNT] [--keep FOLDER] [--show NUMBER]

COUNT documents (default 120: a fifth are two columns of each kind) in six languages, tagged and not. `pdftotext` is measured
beside us if it is installed. Everything is derived from the number of a document, so that two runs print the same.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml

from pagekeep import dom
from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.documents.read import read_document
from pagekeep.fetch.browser.chromium import find
from pagekeep.model import Options

TEXTS = yaml.safe_load((Path(__file__).parent / "document_texts.yaml").read_text("utf-8"))
CODE = (
    "def tide(hours):\n    if hours < 0:\n        raise ValueError(hours)\n\n    return 1.7 * hours\n",
    "for boat in boats:\n    print(boat.name, boat.length)\n",
    "server {\n  listen 8080;\n  location / {\n    root /srv/harbour;\n  }\n}\n",
)
FONTS = ("DejaVu Serif", "DejaVu Sans", "DejaVu Serif Condensed", "DejaVu Sans Condensed")
NAMES = "words grams headings levels paragraphs lists tables links code heads".split()


@dataclass
class Sample:
    """One document: how it is printed, and the HTML it is printed from."""

    number: int
    language: str
    tagged: bool
    columns: int
    html: str
    body: str
    head: str


def compose(number: int) -> Sample:
    """Return the document of a number."""
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
    return Sample(number, language, tagged, columns, html, body, head)


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


def print_all(samples: list[Sample], folder: Path) -> None:
    """Print every document that is not in the folder yet."""
    from playwright.sync_api import sync_playwright

    missing = [one for one in samples if not (folder / f"{one.number}.pdf").exists()]
    if not missing:
        return
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(find().path), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        for one in missing:
            page.set_content(one.html)
            page.pdf(path=folder / f"{one.number}.pdf", tagged=one.tagged, prefer_css_page_size=True)
        browser.close()


def text(node: Any) -> str:
    return " ".join(dom.text_of(node).split())


@dataclass
class Facts:
    """What of a document is compared."""

    words: list[str]
    headings: list[str]
    levels: list[str]
    paragraphs: list[str]
    lists: list[str]
    tables: list[str]
    links: list[str]
    code: list[str]


def facts(html: str) -> Facts:
    """Return what is compared, of the HTML that was printed or that was read."""
    root = dom.parse_fragment(html)
    headings = [node for node in dom.elements(root) if node.tag in ("h1", "h2", "h3", "h4", "h5", "h6")]
    cells = [
        f"{row}:{column}:{text(cell)}"
        for table in dom.select(root, "table")
        for row, line in enumerate(dom.select(table, "tr"))
        for column, cell in enumerate(dom.select(line, "td, th"))
    ]
    return Facts(
        words=block_text(root).split(),
        headings=[text(node) for node in headings],
        levels=[f"{node.tag}:{text(node)}" for node in headings],
        paragraphs=[text(node) for node in dom.select(root, "p")],
        lists=[f"{depth(node)}:{own_text(node)}" for node in dom.select(root, "li")],
        tables=cells,
        links=[f"{node.attr('href')}:{text(node)}" for node in dom.select(root, "a")],
        code=[
            line.rstrip() for node in dom.select(root, "pre") for line in dom.text_of(node).splitlines() if line.strip()
        ],
    )


def depth(node: Any) -> str:
    tags, parent = [], node.parent
    while parent is not None and hasattr(parent, "tag"):
        tags += [parent.tag] if parent.tag in ("ul", "ol") else []
        parent = parent.parent
    return ">".join(reversed(tags))


def own_text(node: Any) -> str:
    copy = dom.copy(node)
    for nested in dom.select(copy, "ul, ol"):
        dom.drop(nested)
    return text(copy)


def block_text(root: Any) -> str:
    from pagekeep.markdown import to_text

    return to_text(root)


def f1(truth: Iterable[Any], found: Iterable[Any]) -> float | None:
    """Return the F1 of two bags; `None` when the truth has nothing and nothing was found."""
    a, b = Counter(truth), Counter(found)
    if not a and not b:
        return None
    common = sum((a & b).values())
    return 2 * common / (sum(a.values()) + sum(b.values()))


def grams(words: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(4)), strict=False))


def compare(one: Sample, html: str, pages: int) -> dict[str, float | None]:
    """Return the scores of one document."""
    truth, found = facts(one.body), facts(html)
    whole = Counter(truth.paragraphs) & Counter(found.paragraphs)
    scores = {name: f1(getattr(truth, name), getattr(found, name)) for name in NAMES if hasattr(truth, name)}
    scores["grams"] = f1(grams(truth.words), grams(found.words))
    scores["paragraphs"] = sum(whole.values()) / len(truth.paragraphs)
    scores["heads"] = " ".join(found.words).count(one.head) / max(1, pages)
    return scores


def read_all(samples: list[Sample], folder: Path) -> tuple[list[dict[str, float | None]], float, int]:
    """Return the scores of every document, the seconds of CPU time and the number of pages."""
    results, pages, seconds = [], 0, 0.0
    for one in samples:
        data = (folder / f"{one.number}.pdf").read_bytes()
        file_type = detect(data)
        assert file_type is not None
        start = time.process_time()
        page = read_document(file_type, data, None, Options())
        seconds += time.process_time() - start
        count = int(page.trace.kind_reasons[0].partition("a PDF of ")[2].split()[0])
        pages += count
        results.append(compare(one, page.html, count))
    return results, seconds, pages


def measure_pdftotext(samples: list[Sample], folder: Path) -> list[dict[str, float | None]]:
    results = []
    for one in samples:
        out = subprocess.run(
            ["pdftotext", folder / f"{one.number}.pdf", "-"], capture_output=True, text=True, check=True
        )
        truth, found = facts(one.body), out.stdout.replace("\f", " ").split()
        heads = " ".join(found).count(one.head) / max(1, out.stdout.count("\f"))
        scores = {"words": f1(truth.words, found), "grams": f1(grams(truth.words), grams(found)), "heads": heads}
        results.append(scores)
    return results


def mean(results: list[dict[str, float | None]], name: str) -> str:
    values = [value for one in results if (value := one.get(name)) is not None]
    return f"{sum(values) / len(values):.3f}" if values else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=120)
    parser.add_argument("--keep", type=Path, help="folder for the PDFs; printed ones are used again")
    parser.add_argument("--show", type=int, help="print what was read of one document, and its scores")
    options = parser.parse_args()
    folder = options.keep or Path(mkdtemp(prefix="documents-"))
    folder.mkdir(parents=True, exist_ok=True)
    samples = [compose(number) for number in range(options.count)]
    print_all(samples, folder)
    if options.show is not None:
        return show(samples[options.show], folder)
    results, seconds, pages = read_all(samples, folder)
    groups = {
        "all": samples,
        "tagged": [one for one in samples if one.tagged],
        "untagged": [one for one in samples if not one.tagged],
        "untagged, 1 column": [one for one in samples if not one.tagged and one.columns == 1],
        "untagged, 2 columns": [one for one in samples if not one.tagged and one.columns == 2],
    }
    print(f"{len(samples)} documents, {pages} pages, {seconds / pages * 1000:.1f} ms of CPU time per page\n")
    print(f"| | documents | {' | '.join(NAMES)} |\n|---|---|{'---|' * len(NAMES)}")
    for name, group in groups.items():
        rows = [results[one.number] for one in group]
        print(f"| {name} | {len(rows)} | {' | '.join(mean(rows, column) for column in NAMES)} |")
    if shutil.which("pdftotext"):
        rows = measure_pdftotext(samples, folder)
        print(f"| pdftotext | {len(rows)} | {' | '.join(mean(rows, column) for column in NAMES)} |")
    if options.keep is None:
        shutil.rmtree(folder)
    return 0


def show(one: Sample, folder: Path) -> int:
    data = (folder / f"{one.number}.pdf").read_bytes()
    file_type = detect(data)
    assert file_type is not None
    page = read_document(file_type, data, None, Options())
    print(page.markdown)
    truth, found = facts(one.body), facts(page.html)
    print(one.language, "tagged" if one.tagged else "untagged", one.columns, compare(one, page.html, 1), one.head)
    for name in ("headings", "levels", "paragraphs", "lists", "tables", "links", "code"):
        wanted, got = Counter(getattr(truth, name)), Counter(getattr(found, name))
        for what, bag in (("missing", wanted - got), ("extra", got - wanted)):
            for entry in bag:
                print(f"{name} {what}: {entry[:150]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

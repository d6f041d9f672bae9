"""Measure how well DOCX, ODT, RTF and EPUB are read: our texts, written by pandoc and by LibreOffice, and read back.

    python bench/documents_office.py [COUNT] [--peers] [--keep FOLDER] [--show FILE]

COUNT documents (default 48) in six languages with headings, nested lists, tables, code, quotes, footnotes and links, each as
seven files. What was read is compared with what was written, as Markdown. With `--peers`, pandoc reads the files too, and
mammoth and striprtf if they are installed. Needs `pandoc` and `soffice` (Debian: pandoc, libreoffice-writer-nogui).
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from printed.compose import Sample, compose_rich
from printed.office import make_source
from printed.score import NAMES, Scores, compare, differences, mean, render

from pagekeep import dom, markdown
from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.documents.read import read_document
from pagekeep.model import Options

PANDOC, OFFICE = ("docx", "odt", "rtf", "epub"), ("docx", "odt", "rtf")
SHOWN = [name for name in NAMES if name != "heads"]
_FORMAT = "commonmark+footnotes+pipe_tables+strikeout+subscript+superscript"


def link_notes(html: str) -> str:
    """Return the document with references that lead to their notes."""
    html = re.sub(
        r"<sup class=footnote-ref>(\d+)</sup>", r'<sup class="footnote-ref"><a href="#fn-\1">\1</a></sup>', html
    )
    text, start, notes = html.partition("<section class=footnotes>")
    numbers = itertools.count(1)
    return (
        text
        + start.replace("=footnotes", '="footnotes"')
        + re.sub("<li>", lambda _: f'<li id="fn-{next(numbers)}">', notes)
    )


def write_all(samples: list[Sample], folder: Path) -> None:
    """Write every document that is not in the folder yet, by both programs."""
    missing = [one for one in samples if not (folder / f"pandoc-{one.number}.epub").exists()]
    for one in missing:
        source = folder / f"{one.number}.md"
        source.write_text(markdown.to_markdown(dom.parse_fragment(link_notes(one.body))), "utf-8")
        (folder / f"office-{one.number}.fodt").write_text(make_source(one), "utf-8")
        for kind in PANDOC:
            about = ["-M", f"lang={one.language}", "-M", f"pagetitle={one.number}"]
            out = folder / f"pandoc-{one.number}.{kind}"
            subprocess.run(["pandoc", "-s", "-f", _FORMAT, *about, source, "-o", out], check=True, capture_output=True)
    files = [str(folder / f"office-{one.number}.fodt") for one in missing]
    for kind in OFFICE if files else ():
        command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", kind]
        subprocess.run([*command, "--outdir", str(folder), *files], check=True, capture_output=True, timeout=900)


def read_pagekeep(file: Path) -> str:
    """Return a file as HTML of the Markdown that we make of it."""
    data = file.read_bytes()
    file_type = detect(data)
    assert file_type is not None
    return render(read_document(file_type, data, None, Options()).markdown)


def read_pandoc(file: Path) -> str:
    """Return a file as HTML of the Markdown that pandoc makes of it."""
    command = ["pandoc", "-t", "gfm+footnotes" if file.suffix == ".epub" else _FORMAT, "--wrap=none", file]
    return render(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def read_mammoth(file: Path) -> str:
    """Return a DOCX as mammoth's HTML."""
    import mammoth  # type: ignore[import-not-found, unused-ignore]

    with file.open("rb") as stream:
        return str(mammoth.convert_to_html(stream).value)


def read_striprtf(file: Path) -> str:
    """Return an RTF as paragraphs of striprtf's text."""
    from striprtf.striprtf import rtf_to_text  # type: ignore[import-not-found, unused-ignore]

    text = rtf_to_text(file.read_text("latin-1"), errors="ignore")
    return "".join(f"<p>{line}</p>" for line in text.splitlines() if line.strip())


def measure(samples: list[Sample], program: str, kind: str, folder: Path, read: Callable[[Path], str]) -> str:
    """Return the row of a table: the means over all documents of one program and type."""
    results: list[Scores] = []
    start = time.process_time()
    for one in samples:
        try:
            html = read(folder / f"{program}-{one.number}.{kind}")
        except (subprocess.CalledProcessError, ImportError):
            return ""
        results.append(compare(one, html, 1))
    seconds = (time.process_time() - start) / len(samples)
    return f"{' | '.join(mean(results, name) for name in SHOWN)} | {seconds * 1000:.0f}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=48)
    parser.add_argument("--peers", action="store_true", help="let other readers read the same files")
    parser.add_argument("--keep", type=Path, help="folder for the files; those there are used again")
    parser.add_argument("--show", help="print what was read of one file, such as pandoc-3.docx, and what differs")
    options = parser.parse_args()
    folder = options.keep or Path(mkdtemp(prefix="office-documents-"))
    folder.mkdir(parents=True, exist_ok=True)
    samples = [compose_rich("office", number) for number in range(options.count)]
    write_all(samples, folder)
    if options.show:
        file = folder / options.show
        html = read_pagekeep(file)
        print(html)
        print("\n".join(differences(samples[int(file.stem.partition("-")[2])], html)))
        return 0
    readers: dict[str, Callable[[Path], str]] = {"pagekeep": read_pagekeep}
    if options.peers:
        readers |= {"pandoc": read_pandoc, "mammoth": read_mammoth, "striprtf": read_striprtf}
    print(f"| {options.count} documents | reader | {' | '.join(SHOWN)} | ms |\n|---|---|{'---|' * (len(SHOWN) + 1)}")
    for program, kinds in (("pandoc", PANDOC), ("office", OFFICE)):
        for kind in kinds:
            for name, read in readers.items():
                fits = {"mammoth": ("docx",), "striprtf": ("rtf",), "pandoc": ("docx", "odt", "epub")}.get(name, kinds)
                if kind in fits and (row := measure(samples, program, kind, folder, read)):
                    print(f"| {kind.upper()} of {program} | {name} | {row} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

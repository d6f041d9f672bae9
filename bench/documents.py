"""Measure how well PDF files are read, beside other readers: our texts, printed by Chromium, LaTeX and LibreOffice.

    python bench/documents.py [--only GROUP] [--peers] [--keep FOLDER] [--show NAME]

120 documents of Chromium, 60 of LaTeX and 48 of LibreOffice in six languages, tagged and not, one and two columns. What was
read is compared with what was printed, as Markdown. Everything is derived from the number of a document, so that two runs
print the same. With `--peers`, the readers of bench/documents_peers.txt are installed into .venv-pdf-peers and read the
same files, each in a separate process. Needs Chromium; `pdflatex` (Debian: texlive-latex-recommended,
texlive-fonts-recommended, lmodern, cm-super, texlive-lang-*) and `soffice` (libreoffice-writer-nogui) for their prints.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from printed.compose import Sample, compose, compose_rich
from printed.latex import print_latex
from printed.office import print_office
from printed.score import NAMES, Scores, compare, differences, mean, render
from pypdfium2 import PdfDocument

from pagekeep.fetch.browser.chromium import find_chromium

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = ("opendataloader-pdf", "liteparse", "pdf-oxide", "pdf-inspector")
COUNTS = {"chromium": 120, "latex": 60, "office": 48}
PROGRAMS = {"latex": "pdflatex", "office": "soffice"}
GROUPS: dict[str, Callable[[Sample], bool]] = {
    "Chromium, tagged": lambda one: one.source == "chromium" and one.tagged,
    "Chromium, untagged": lambda one: one.source == "chromium" and not one.tagged,
    "Chromium, untagged, two columns": lambda one: one.source == "chromium" and not one.tagged and one.columns == 2,
    "LaTeX, one column": lambda one: one.source == "latex" and one.columns == 1,
    "LaTeX, two columns": lambda one: one.source == "latex" and one.columns == 2,
    "LibreOffice, tagged": lambda one: one.source == "office" and one.tagged,
    "LibreOffice, untagged": lambda one: one.source == "office" and not one.tagged,
    "all": lambda one: True,
    "all, first half": lambda one: one.first_half,
    "all, other half": lambda one: not one.first_half,
}


def compose_all(only: str | None) -> list[Sample]:
    """Return the documents whose printing program is here; say what is left out."""
    samples = []
    for source, count in COUNTS.items():
        if only and source != only:
            continue
        if source in PROGRAMS and not shutil.which(PROGRAMS[source]):
            print(f"{source}: left out, {PROGRAMS[source]} is not installed", file=sys.stderr)
            continue
        for number in range(count):
            one = compose(number) if source == "chromium" else compose_rich(source, number)
            one.first_half = number < count / 2
            samples.append(one)
    return samples


def print_all(samples: list[Sample], folder: Path) -> None:
    """Print every document that is not in the folder yet."""
    missing = [one for one in samples if not (folder / f"{one.name}.pdf").exists()]
    print_chromium([one for one in missing if one.source == "chromium"], folder)
    print_office([one for one in missing if one.source == "office"], folder)
    for one in missing:
        if one.source == "latex":
            print_latex(one, folder)


def print_chromium(samples: list[Sample], folder: Path) -> None:
    """Print documents with Chromium."""
    from playwright.sync_api import sync_playwright

    if not samples:
        return
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=str(find_chromium().path), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        for one in samples:
            page.set_content(one.html)
            page.pdf(path=folder / f"{one.name}.pdf", tagged=one.tagged, prefer_css_page_size=True)
        browser.close()


def count_pages(samples: list[Sample], folder: Path) -> dict[str, int]:
    """Return the number of pages of every document."""
    pages = {}
    for one in samples:
        document = PdfDocument(folder / f"{one.name}.pdf")
        pages[one.name] = len(document)
        document.close()
    return pages


def peers_python() -> Path:
    """Return the Python that has the other readers, installed again only when their versions change."""
    venv, wanted = ROOT / ".venv-pdf-peers", HERE / "documents_peers.txt"
    done = venv / wanted.name
    if not done.exists() or done.read_text() != wanted.read_text():
        print("Installing the readers to compare with into .venv-pdf-peers ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", wanted], check=True)
        shutil.copy(wanted, done)
    return venv / "bin" / "python"


def read_all(
    name: str, python: Path, samples: list[Sample], folder: Path, pages: dict[str, int]
) -> tuple[dict[str, Scores], float, float]:
    """Return the scores of a reader, its milliseconds of CPU time per page, and its megabytes."""
    with TemporaryDirectory(prefix="read-") as out:
        files = [str(folder / f"{one.name}.pdf") for one in samples]
        command = [python, HERE / "printed" / "peers.py", name, out, *files]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"{name}: {run.stderr[-2000:]}")
        used = json.loads(run.stdout.splitlines()[-1])
        results = {}
        for one in samples:
            file = Path(out, f"{one.name}.md")
            text = file.read_text("utf-8") if file.exists() else ""
            results[one.name] = compare(one, render(text), pages[one.name])
    return results, used["seconds"] * 1000 / sum(pages.values()), used["megabytes"]


def show(one: Sample, folder: Path) -> int:
    """Print what was read of one document, and what is wrong with it."""
    with TemporaryDirectory(prefix="read-") as out:
        command = [sys.executable, HERE / "printed" / "peers.py", "pagekeep", out, folder / f"{one.name}.pdf"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        text = Path(out, f"{one.name}.md").read_text("utf-8")
    print(text, one.language, "tagged" if one.tagged else "untagged", one.columns, one.head)
    print(compare(one, render(text), 1))
    print("\n".join(differences(one, render(text))))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(COUNTS), help="prints of one program")
    parser.add_argument("--peers", action="store_true", help="measure other readers beside us")
    parser.add_argument("--keep", type=Path, help="folder for the PDFs; printed ones are used again")
    parser.add_argument("--show", help='print what was read of one document, such as "latex-7", and what is wrong')
    options = parser.parse_args()
    folder = options.keep or Path(mkdtemp(prefix="documents-"))
    folder.mkdir(parents=True, exist_ok=True)
    samples = compose_all(options.show.partition("-")[0] if options.show else options.only)
    if options.show:
        samples = [one for one in samples if one.name == options.show]
    print_all(samples, folder)
    if options.show:
        return show(samples[0], folder)
    pages = count_pages(samples, folder)
    readers = {"pagekeep": Path(sys.executable)}
    if options.peers:
        readers |= dict.fromkeys(PEERS, peers_python())
    if shutil.which("pdftotext"):
        readers["pdftotext"] = Path(sys.executable)
    measured = {name: read_all(name, python, samples, folder, pages) for name, python in readers.items()}
    print(f"{len(samples)} documents, {sum(pages.values())} pages\n")
    print(f"| | | files | {' | '.join(NAMES)} | ms a page | MB |\n|---|---|---|{'---|' * (len(NAMES) + 2)}")
    for group, belongs in GROUPS.items():
        names = [one.name for one in samples if belongs(one)]
        for reader, (results, milliseconds, megabytes) in measured.items():
            if names:
                rows = [results[name] for name in names]
                cost = f"{milliseconds:.1f} | {megabytes:.0f}" if group == "all" else " | "
                scores = " | ".join(mean(rows, column) for column in NAMES)
                print(f"| {group} | {reader} | {len(rows)} | {scores} | {cost} |")
    if options.keep is None:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run one PDF reader over files in a separate process, so that its CPU time and memory can be measured.

    PYTHON peers.py READER FOLDER FILE...

Writes FOLDER/NAME.md for each file, and one line of JSON: seconds of CPU time, and megabytes at the peak.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def _pagekeep(files: list[Path], out: Path) -> None:
    from pagekeep.capture.documents.file_types import detect
    from pagekeep.capture.documents.read import read_document
    from pagekeep.model import Options

    for file in files:
        data = file.read_bytes()
        file_type = detect(data)
        assert file_type is not None
        (out / f"{file.stem}.md").write_text(read_document(file_type, data, None, Options()).markdown, "utf-8")


def _opendataloader(files: list[Path], out: Path) -> None:
    import opendataloader_pdf

    opendataloader_pdf.convert(
        list(map(str, files)),
        output_dir=str(out),
        format="markdown",
        quiet=True,
        use_struct_tree=True,
        table_method="cluster",
        image_output="off",
    )


def _liteparse(files: list[Path], out: Path) -> None:
    from liteparse import LiteParse

    parser = LiteParse(ocr_enabled=False, output_format="markdown", quiet=True, num_workers=1, image_mode="off")
    for file in files:
        (out / f"{file.stem}.md").write_text(parser.parse(str(file)).text, "utf-8")


def _oxide(files: list[Path], out: Path) -> None:
    from pdf_oxide import PdfDocument

    for file in files:
        text = PdfDocument(str(file)).to_markdown_all(include_artifacts=False)
        (out / f"{file.stem}.md").write_text(text, "utf-8")


def _inspector(files: list[Path], out: Path) -> None:
    import pdf_inspector

    for file in files:
        (out / f"{file.stem}.md").write_text(pdf_inspector.process_pdf(str(file)).markdown or "", "utf-8")


def _pdftotext(files: list[Path], out: Path) -> None:
    for file in files:
        subprocess.run(["pdftotext", file, out / f"{file.stem}.md"], check=True)


READERS: dict[str, Callable[[list[Path], Path], None]] = {
    "pagekeep": _pagekeep,
    "opendataloader-pdf": _opendataloader,
    "liteparse": _liteparse,
    "pdf-oxide": _oxide,
    "pdf-inspector": _inspector,
    "pdftotext": _pdftotext,
}


def main() -> None:
    name, out, *files = sys.argv[1:]
    READERS[name](list(map(Path, files)), Path(out))
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in usage)
    # Java and poppler are children of this process. Its own `ru_maxrss` would be that of the process that started it.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    kilobytes = max(int(status["VmHWM"].split()[0]), usage[1].ru_maxrss)
    print(json.dumps({"seconds": seconds, "megabytes": kilobytes / 1000}))


if __name__ == "__main__":
    main()

"""Compare the processor time of a page through `/r` with that of an earlier revision: server and worker processes together.

`python bench/reader_cost.py REVISION [--pages 150] [--rounds 5] [--corpus FOLDER]`. Goal: at most 1.15 times.

Both servers run at the same time and get the same pages by turns, so that what else the machine does falls on both alike. The
time of extraction alone, without a server, is measured as well: what grew there was not spent on keeping the server safe.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile.attack.machine import times
from tests.site.server import Reply, Request, Site

ROOT = Path(__file__).parents[1]
MAX_RATIO = 1.15
CORPUS = next(
    (path for path in (ROOT.parent / "shared" / "corpora" / "wcxb",) if path.exists()), ROOT / "tests" / "corpus"
)
MAX_PAGE_BYTES = 2_000_000
_EXTRACT = """
import sys, time, pickle
from pagekeep import PagekeepError, extract
pages = pickle.load(sys.stdin.buffer)
def run():
    began = time.process_time()
    for page in pages:
        try: extract(page, "https://example.com/page")
        except PagekeepError: pass
    return time.process_time() - began
run()
print(min(run() for _ in range(2)))
"""


def read_pages(corpus: Path, count: int) -> list[bytes]:
    """Return pages of a corpus, spread over it."""
    files = sorted(file for file in corpus.rglob("*") if file.name.endswith((".html", ".html.gz")))
    chosen = files[:: max(1, len(files) // count)][:count]
    pages = [gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in chosen]
    return [page for page in pages if len(page) <= MAX_PAGE_BYTES]


def unpack(revision: str, folder: Path) -> Path:
    """Write the sources of a revision to a folder; return where its packages are."""
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


@contextmanager
def serve(source: Path, library: Path) -> Iterator[tuple[int, str]]:
    """Run the server of a source tree; yield its process ID and address."""
    settings = {
        "ALLOW_HOSTS": "127.0.0.1",
        "PER_HOST_DELAY": "0",
        "RENDER": "never",
        "CONFIG": "",
        "RULES": f"{library}.rules",
    }
    environ = {
        **os.environ,
        **{f"PAGEKEEP_{name}": value for name, value in settings.items()},
        "PYTHONPATH": str(source),
    }
    command = [
        sys.executable,
        "-m",
        "pagekeep",
        "serve",
        "--port",
        "0",
        "--library",
        str(library),
        "--log-level",
        "error",
    ]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.pid, process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def read_all(address: str, site: str, count: int) -> None:
    """Ask for all pages through `/r`, one after the other."""
    for number in range(count):
        try:
            with urllib.request.urlopen(f"{address}r/{site}/page/{number}", timeout=60) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            error.read()


def extraction_time(source: Path, pages: list[bytes]) -> float:
    """Return the processor seconds that extraction alone takes."""
    environ = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", _EXTRACT]
    done = subprocess.run(command, input=pickle.dumps(pages), env=environ, capture_output=True, check=True)
    return float(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="The earlier revision.")
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    asked = parser.parse_args()
    pages = read_pages(asked.corpus, asked.pages)

    async def send(request: Request, reply: Reply) -> None:
        await reply.send(pages[int(request.path.rpartition("/")[2])], content_type="text/html")

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sources = {"before": unpack(asked.revision, folder), "now": ROOT / "src"}
        site = stack.enter_context(Site({"page": send})).url("").rstrip("/")
        servers = {name: stack.enter_context(serve(path, folder / f"{name}.db")) for name, path in sources.items()}
        spent: dict[str, list[float]] = {name: [] for name in servers}
        inside: dict[str, list[float]] = {name: [] for name in servers}
        for number in range(asked.rounds + 1):
            for name, (pid, address) in servers.items():
                began = times(pid)
                read_all(address, site, len(pages))
                if number:  # the first round loads everything
                    used = times(pid).since(began)
                    spent[name].append(used.tree)
                    inside[name].append(used.server)
        alone = {name: extraction_time(path, pages) for name, path in sources.items()}
    ratio = median(now / before for before, now in zip(spent["before"], spent["now"], strict=True))
    best = min(spent["now"]) / min(spent["before"])
    print(json.dumps({name: [round(seconds, 2) for seconds in found] for name, found in spent.items()}))
    for name, found in spent.items():
        whole, own, pure = (1000 * each / len(pages) for each in (median(found), median(inside[name]), alone[name]))
        print(
            f"{name}: {whole:.1f} ms a page through /r, {own:.1f} of it in the server's process; extraction alone {pure:.1f}"
        )
    print(
        f"{len(pages)} pages, {asked.rounds} rounds: {ratio:.2f} times ({best:.2f} of the best; at most {MAX_RATIO:g})"
    )
    print(f"extraction alone: {alone['now'] / alone['before']:.2f} times")
    return int(ratio > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())

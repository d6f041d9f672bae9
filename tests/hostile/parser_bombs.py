"""Parse and extract small pages that make HTML parsers slow or large; print seconds and megabytes for each shape.

Run: `python -m tests.hostile.parser_bombs [BYTES]`. Every shape runs in its own process with limits on memory and CPU
time, then all of them run through a server, as pages and as selections: it must answer with a result or an error of ours,
and have at most 100 MB more afterwards. The exit code is the number of shapes over the limits.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

SIZE: Final = 2_000_000
MAX_SECONDS: Final = 5.0
MAX_MEGABYTES: Final = 1_000
MAX_GROWTH_MEGABYTES: Final = 100
"""Of a server, after all shapes."""
_FORMATTING: Final = "b big code em font i nobr s small strike strong tt u".split()


def numbered(unit: Callable[[int], str], size: int) -> str:
    """Repeat a unit with a running number up to a size."""
    return "".join(unit(number) for number in range(size // len(unit(1)) + 1))[:size]


def repeated(unit: str, size: int) -> str:
    """Repeat a unit up to a size."""
    return unit * (size // len(unit))


SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "html tags with new attributes": lambda n: numbered(lambda i: f"<html a{i}=1>", n),
    "body tags with new attributes": lambda n: "<p>" + numbered(lambda i: f"<BODY/a{i}=1>", n),
    "two html tags of many attributes": lambda n: "".join(
        "<html " + numbered(lambda i, part=part: f"{part}{i} ", n // 2) + ">" for part in "ab"
    ),
    "40 body tags of many attributes": lambda n: "".join(
        "<body " + numbered(lambda i, part=part: f"a{part}_{i} ", n // 40) + ">" for part in range(40)
    ),
    "font and paragraph": lambda n: numbered(lambda i: f"<font size={i}><p>", n),
    "bold and paragraph": lambda n: numbered(lambda i: f"<b id={i}><p>", n),
    "500 bold, then paragraphs": lambda n: "<p>" + numbered(lambda i: f"<b id={i}>", 5_000) + repeated("<p>x", n),
    "39 formatting tags, then paragraphs": lambda n: (
        "<p>" + "".join(f"<{name}>" * 3 for name in _FORMATTING) + repeated("<p>x", n)
    ),
    "formatting hidden from a scan by a comment": lambda n: (
        "<!--<b title='-->" + numbered(lambda i: f"<b id={i}><p>", n) + "'></b>"
    ),
    "formatting with quotes in odd places": lambda n: numbered(lambda i: f"""<b "x="1>{i}"><p>""", n),
    "formatting with quotes that overlap": lambda n: repeated("""<b x="' y='" z=""", n),
    "formatting in tables": lambda n: numbered(lambda i: f"<table><font x={i}>", n),
    "links and paragraphs": lambda n: numbered(lambda i: f"<a href={i}><p>", n),
    "nobr and divisions": lambda n: numbered(lambda i: f"<nobr x={i}><div>", n),
    "misnested bold": lambda n: numbered(lambda i: f"<b id={i}><p></b>", n),
    "nested tables": lambda n: repeated("<table><tr><td>", n),
    "text in tables": lambda n: repeated("<table><tr>x", n),
    "nested templates": lambda n: repeated("<template><col>", n),
    "nested selects": lambda n: repeated("<select><optgroup><option>", n),
    "nested drawings": lambda n: repeated("<svg><g>", n),
    "end tags that close nothing": lambda n: "<svg>" + "<g>" * 20_000 + repeated("</z>", n),
    "items in deep divisions": lambda n: "<div>" * 20_000 + repeated("<li>abc", n),
    "one tag of many attributes": lambda n: "<p " + numbered(lambda i: f"a{i}=1 ", n) + ">",
    "formulas in double dollars": lambda n: "<p>" + repeated("$$a$$ ", n),
    "formulas that do not end": lambda n: "<p>" + repeated("\\(a ", n),
    "unclosed comments": lambda n: repeated("<!--", n),
}


def main() -> int:
    """Run every shape in its own process; return the number of shapes over the limits."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else SIZE
    failed = 0
    for shape in SHAPES:
        command = [sys.executable, "-m", "tests.hostile.parser_bombs", str(size), shape]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds, megabytes = map(float, done.stdout.split() or ("nan", "nan"))
        good = seconds <= MAX_SECONDS and megabytes <= MAX_MEGABYTES
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {shape:45} {seconds:6.2f} s {megabytes:6.0f} MB", flush=True)
    faults = attack_server(SHAPES, size)
    print(f"through a server: {2 * len(SHAPES)} requests, {len(faults)} faults", *faults, sep="\n  ")
    return failed + len(faults)


def attack_server(shapes: Iterable[str], size: int) -> list[str]:
    """Send every shape to a server, as a page and as a selection; return what is wrong."""
    from tests.hostile.attack.machine import memory
    from tests.hostile.attack.wire import Wire
    from tests.hostile.server import served

    faults = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "library.db", render="never") as server:
        wire, pid = Wire(server.address), server.process.pid
        good = {"url": "https://bombs.example/", "html": "<p>A page without a bomb.</p>"}
        for _ in range(3):  # starts the workers
            wire.post("/api/v1/extract", good)
        before = memory(pid)
        for shape in shapes:
            bomb = SHAPES[shape](size)
            for body in ({**good, "html": bomb}, {**good, "selection": bomb}):
                status = wire.post("/api/v1/extract", body)
                if status not in ("200", "400", "413", "422"):
                    faults.append(f"{shape}: {status}")
        if wire.post("/api/v1/extract", good) != "200":
            faults.append("a good page is no longer extracted")
        after = memory(pid)
    grown = {"the server": after.main - before.main, "the server and its workers": after.tree - before.tree}
    print(", ".join(f"{name}: {megabytes:+.0f} MB" for name, megabytes in grown.items()))
    return faults + [f"{name}: {more:+.0f} MB" for name, more in grown.items() if more > MAX_GROWTH_MEGABYTES]


def run_shape(size: int, shape: str) -> None:
    """Extract one page, then print CPU seconds and peak memory."""
    from pagekeep import PagekeepError, extract

    resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    html = SHAPES[shape](size)
    started = time.process_time()
    with suppress(PagekeepError):
        extract(html, "https://bombs.example/page")
    print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run_shape(int(sys.argv[1]), sys.argv[2])
    else:
        sys.exit(main())

"""Pages and texts that once took quadratic time: twice the length takes about twice the processor time.

    python -m tests.hostile.growth [SCALE]      # lengths in proportion (1)

Each shape is processed with n and with 2n in its own process, the best of three times each, after one run to load everything;
the exit code is the number of shapes over the limit.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

MAX_RATIO: Final = 3.0
"""Linear is 2, quadratic 4; caches and memory make linear work a little slower."""
MAX_CPU_SECONDS: Final = 60
ROUNDS: Final = 3


def _extract(html: str) -> None:
    from pagekeep import PagekeepError, extract

    with suppress(PagekeepError):
        extract(html, "https://growth.example/page")


def _outline(markdown: str) -> None:
    from pagekeep.present.sections import outline

    outline(markdown)


def _compare(text: str) -> None:
    from pagekeep.present.diff import difference

    lines = text.splitlines()
    list(difference("\n".join(lines), "\n".join(lines[1::2] + lines[::2])))


def _render(markdown: str) -> None:
    from pagekeep.present.markdown_html import render

    render(markdown)


def _repeat(unit: str, chars: int) -> str:
    return unit * (chars // len(unit))


def _number(unit: str, chars: int) -> str:
    count = chars // (len(unit) + 2)
    return "".join(unit.replace("@", str(number)) for number in range(count))


SHAPES: Final[dict[str, tuple[Callable[[str], None], Callable[[int], str], int]]] = {
    "formulas in parentheses that do not end": (_extract, lambda n: "<p>" + _repeat("\\(a ", n), 900_000),
    "formulas in brackets that do not end": (_extract, lambda n: "<p>" + _repeat("\\[a ", n), 900_000),
    "dollars": (_extract, lambda n: "<p>" + _repeat("$a ", n), 900_000),
    "double dollars": (_extract, lambda n: "<p>" + _repeat("$$a ", n), 900_000),
    "environments that do not end": (_extract, lambda n: "<p>" + _repeat("\\begin{align}a ", n), 900_000),
    "ends of formulas": (_extract, lambda n: "<p>" + _repeat("a\\) ", n), 900_000),
    "font sizes and paragraphs": (_extract, lambda n: _number("<font size=@><p>", n), 200_000),
    "fonts that are closed": (_extract, lambda n: _number("<font size=@>a</font><p>", n), 400_000),
    "fonts in paragraphs of text": (_extract, lambda n: "<p>" + _number("<font color=@>words of text ", n), 200_000),
    "cards with pictures": (
        _extract,
        lambda n: (
            "<main>"
            + _number("<div class=card><a href=/@><img src=/@.jpg alt=@></a><h3>Lamp @</h3><p>Lit @.</p></div>\n", n)
        ),
        3_000_000,
    ),
    "headings of all levels": (_outline, lambda n: _number("# a\n\n## b @\n\n### c\n\n", n), 400_000),
    "headings without text": (_outline, lambda n: _repeat("#\n", n), 400_000),
    "headings of one title": (_outline, lambda n: _repeat("## The same\n\n", n), 400_000),
    "lists to compare": (_compare, lambda n: _number("- item @\n", n), 100_000),
    "equal lines to compare": (_compare, lambda n: _repeat("a\nb\n", n), 100_000),
    "code": (_render, lambda n: _repeat("```c\nint a = b[0];\n```\n\n", n), 60_000),
}


def measure(shape: str, scale: float) -> tuple[float, float]:
    """Return the processor seconds for n and for 2n, in this process."""
    work, make, chars = SHAPES[shape]
    short, long = make(int(chars * scale)), make(int(2 * chars * scale))
    work(make(1_000))
    return tuple(min(_time(work, text) for _ in range(ROUNDS)) for text in (short, long))  # type: ignore[return-value]


def _time(work: Callable[[str], None], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began


def check(shape: str, scale: float) -> tuple[float, float]:
    """Measure a shape in its own process, which ends when it takes far too long."""
    command = [sys.executable, "-m", "tests.hostile.growth", str(scale), shape]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    short, long = map(float, done.stdout.split() or ("nan", "nan"))
    return short, long


def main() -> int:
    """Return the number of shapes over the limit."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    failed = 0
    for shape in SHAPES:
        short, long = check(shape, scale)
        good = long / short <= MAX_RATIO
        failed += not good
        print(
            f"{'ok  ' if good else 'FAIL'} {shape:42} {short:6.2f} s, {long:6.2f} s: {long / short:4.1f} times",
            flush=True,
        )
    return failed


if __name__ == "__main__":
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
        print(*measure(sys.argv[2], float(sys.argv[1])))
    else:
        sys.exit(main())

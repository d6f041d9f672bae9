"""Open pages with hostile code in every language that the highlighting library knows (H9).

Run: `python -m tests.hostile.highlight_lexers [LANGUAGES] [BYTES]`. Each page has blocks of 200 KB together, of the kinds of
code that lexers are slow on, and is rendered in a worker room within the limits of a server. The exit code is the number of
pages that took longer, or were not shown.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Final

from pygments.lexers import get_all_lexers

from pagekeep.present.markdown_html import LANGUAGES
from pagekeep.present.renderer import Renderer
from pagekeep.workers import TEXT, Room

SIZE: Final = 200_000
BLOCK: Final = 19_000
"""Just under the length up to which a block is highlighted."""
UNITS: Final = (
    "\n",
    "((((",
    "{",
    "<a ",
    "/*",
    "\\\\\n",
    "'",
    '"',
    "$x",
    "a.b(",
    "#{",
    "[[",
    "0x",
    " \t",
    "=begin\n",
    "--",
)


def languages() -> list[str]:
    """Return the name of every lexer, and of every language that is highlighted."""
    known = {aliases[0].lower() for _, aliases, _, _ in get_all_lexers() if aliases}
    return sorted(known | LANGUAGES)


def page(language: str, size: int) -> str:
    """Return a text with blocks of hostile code."""
    blocks = [(unit * (BLOCK // len(unit)))[:BLOCK] for unit in UNITS[: max(1, size // BLOCK)]]
    return "\n\n".join(f"~~~~~{language}\n{block}\n~~~~~" for block in blocks)


async def attack(names: list[str], size: int) -> list[str]:
    """Render a page in each language; return what is wrong."""
    faults: list[str] = []
    slowest, sources = (0.0, ""), 0
    room = Room(1)
    try:
        renderer = Renderer(room)
        for name in names:
            started = time.monotonic()
            rendered = await renderer.render(page(name, size))
            seconds = time.monotonic() - started
            slowest = max(slowest, (seconds, name))
            sources += rendered.is_temporary
            if "<pre" not in rendered.html:
                faults.append(f"{name}: not shown")
            if seconds > TEXT.wall_seconds + 5:
                faults.append(f"{name}: {seconds:.1f} s")
    finally:
        room.close()
    print(f"{len(names)} languages, {sources} shown as source, slowest {slowest[1]} with {slowest[0]:.1f} s")
    return faults


def main() -> int:
    """Attack with all languages, or with this many."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else SIZE
    names = languages()
    faults = asyncio.run(attack(names[:: max(1, len(names) // count)], size))
    print(f"{len(faults)} faults", *faults, sep="\n  ")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())

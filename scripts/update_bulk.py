"""Write the table of columns in docs/bulk.md from the code; with --check, only report whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from pagekeep.bulk.row import COLUMNS

DOCUMENT = Path(__file__).parents[1] / "docs" / "bulk.md"
START, END = "<!-- columns -->\n", "<!-- /columns -->"
TYPES = {"text": "string", "integer": "int32", "number": "float32"}


def update_columns(text: str) -> str:
    """Return the document with the current columns."""
    rows = "".join(f"| `{column.name}` | {TYPES[column.type]} | {column.help} |\n" for column in COLUMNS)
    head, _, rest = text.partition(START)
    return f"{head}{START}| column | type | what |\n|---|---|---|\n{rows}{END}{rest.partition(END)[2]}"


def main() -> int:
    """Update the document, or check it."""
    text = DOCUMENT.read_text("utf-8")
    updated = update_columns(text)
    if "--check" in sys.argv:
        return int(text != updated)
    DOCUMENT.write_text(updated, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

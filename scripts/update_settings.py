"""Write docs/settings.md from the table in config.py; with `--check`, write nothing and fail when it is out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from pagekeep import config

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
HEAD = """# Settings

Generated from `config.py` by `scripts/update_settings.py`. A flag wins over the environment, the environment over
`config.toml` in the platform's configuration folder (`PAGEKEEP_CONFIG` names another file), the file over the default.
In the environment a list is written with commas: `PAGEKEEP_ALLOW_HOSTS=127.0.0.1,intranet.example`.

Default locations (`pagekeep doctor` shows the paths on your machine):

| | settings | your rules | library |
|---|---|---|---|
| Linux | `~/.config/pagekeep/config.toml` | `~/.config/pagekeep/rules/` | `~/.local/share/pagekeep/library.db` |
| macOS | `~/Library/Application Support/pagekeep/config.toml` | `rules/` beside it | `library.db` beside it |
| Windows | `%APPDATA%\\pagekeep\\config.toml` | `rules\\` beside it | `%LOCALAPPDATA%\\pagekeep\\library.db` |

On Linux, `XDG_CONFIG_HOME` and `XDG_DATA_HOME` are used if they are set.

| setting | environment | takes | default | |
|---|---|---|---|---|
"""


def page() -> str:
    rows = [
        f"| `{row.name}` | `{row.variable}` | {row.kind} | {_format_default(row.default)} | {row.help} |"
        for row in config.table()
    ]
    return HEAD + "\n".join(rows) + "\n"


def _format_default(default: object) -> str:
    return "" if default in (None, ()) else f"`{default}`"


def main() -> int:
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

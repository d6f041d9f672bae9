"""The commands in the documentation: found in it, and what they mean in a test."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guides").glob("*.md"))]
ELSEWHERE = {"requirements.md": "scripts/check_requirements.py runs every command of it"}
_FENCE = re.compile(r"^```(?:sh|console|shell|bash|text)?\n(.*?)^```", re.M | re.S)
_ANY_FENCE = re.compile(r"^(`{3,}).*?^\1`*$", re.M | re.S)
_INDENTED = re.compile(r"^ {4,}(\S.*)$", re.M)
_INLINE = re.compile(r"`(?:\./)?pagekeep ([^`]+)`")
_CALL = re.compile(r"(?:^|\| *)(?:\$ )?(?:[A-Z_]+=\S* )*(?:\./)?pagekeep (.*)$")


class Command(NamedTuple):
    """A command as it is written in a file."""

    file: str
    text: str

    @property
    def words(self) -> list[str]:
        """Its arguments, without comment, redirection and pipe."""
        lexer = shlex.shlex(self.text, posix=True, punctuation_chars="|<>;&")
        lexer.whitespace_split = True
        found: list[str] = []
        for word in lexer:
            if word[0] in "|<>;&":
                break
            found.append(word)
        return found


def in_blocks() -> list[Command]:
    """Commands in blocks of code, which people copy."""
    found = []
    for path in FILES:
        if path.name in ELSEWHERE:
            continue
        text = path.read_text("utf-8")
        indented = _INDENTED.findall(_ANY_FENCE.sub("", text))
        lines = [*(line for block in _FENCE.findall(text) for line in block.splitlines()), *indented]
        found += [Command(path.name, call.group(1)) for line in lines if (call := _CALL.search(line.strip()))]
    return list(dict.fromkeys(found))


def in_sentences() -> list[Command]:
    """Commands that a sentence names, often without their arguments."""
    found = []
    for path in FILES:
        if path.name not in ELSEWHERE:
            found += [Command(path.name, " ".join(text.split())) for text in _INLINE.findall(path.read_text("utf-8"))]
    return list(dict.fromkeys(found))


NOT_RUN = (
    (r"serve\b", "runs until it is stopped; tests/doors/http/test_serve.py starts it"),
    (r"mcp\b", "speaks with an assistant; tests/doors/cli/test_mcp.py does"),
    (r"work$|work ", "runs until it is stopped, but for --until-empty, which importing.md has"),
    (r"mirror --watch", "runs until it is stopped; tests/library/mirror does it"),
    (r"copy\b", "needs a browser; tests/browser/test_copies.py has one"),
    (r"bulk 's3:", "needs a cluster and a bucket"),
    (r"bulk pages\.parquet|bulk 'crawl/", "the same command with other files as the first of bulk.md"),
    (r"library install", "needs a PostgreSQL server; tests/store does it"),
    (r"sinks (test|pair|add readwise)", "needs another program; tests/doors/cli/test_sinks.py has one"),
    (r"mail (add|poll)", "needs a mail server; tests/library/mail has one"),
    (r"compare|compared", "measures a corpus for minutes, or needs a remote reader; tests/lab does it on few pages"),
    (r"crawl URL\.\.\.|crawl list \|", "a summary of the options"),
    (r"crawl |pack |map ", "crawls a site; tests/doors/cli/test_crawl.py and test_pack.py do"),
    (r"demo\b", "fills a library for seconds; tests/doors/cli/test_demo.py does"),
    (r"check-links\b", "visits every page of the library; tests/library/history does"),
    (r"reparse --refetch", "visits every page of the library; tests/library/reparse does"),
    (r"verify archive\.wacz --key", "needs a key; tests/doors/cli/test_library.py has one"),
    (r"user add mira *$", "the same as the one before it, on another server"),
    (r"save https://example.com/paper.pdf", "the same as with a file"),
    (
        r"(extract|save) (letter|book|minutes)",
        "the same as with paper.pdf; tests/doors/cli/test_documents.py has each type",
    ),
    (r"extract - ", "tests/doors/cli/test_extract.py does it"),
    (
        r"annotations --format (csv|readwise)",
        "the same as with Markdown; tests/doors/cli/test_annotations.py has each format",
    ),
    (r"export --format (epub|html|wacz|warc) .*(pinned|pages\.html|harbour)", "the same as without a query"),
)
"""Commands that are parsed, but not run here, and why."""


def reason_not_to_run(command: Command) -> str | None:
    """Return why a command is not run here."""
    if command.text.startswith("work --until-empty"):
        return None
    return next((why for pattern, why in NOT_RUN if re.match(pattern, command.text)), None)

"""Fail on words of the old dialect in text that people read: names, docstrings, comments, docs, templates, extension.

Usage: python scripts/check_words.py [PATH ...]; without paths, everything that `make lint` checks.
The plain words are in docs/glossary.md. Of tests, names, docstrings and comments are checked, not the texts of their pages.
A true use of a listed word ends its line with `plain-words: ok`.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKED = (
    "src",
    "tests",
    "docs",
    "extension",
    "scripts",
    "bench",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Makefile",
)
SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".css", ".json", ".yaml", ".toml", ".sql", ""})
EXCEPT = frozenset(
    {
        "scripts/check_words.py",
        "docs/glossary.md",
        "docs/examples/tide-clock.html",
        "src/pagekeep/extraction/prune/judge/forest_data.py",
    }
)
"""Files that list the words on purpose, the example page, which is prose, and words that were counted on pages."""
ALLOWED = "plain-words: ok"
TEST_NAME = re.compile(r"(?<=def )test_\w+")
"""Read as a sentence."""
TEXTS = frozenset({tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)})

PHRASES = (
    r"told|tells|anew|whoever|whomever|nobody|somebody|someone|once more|so many|thereby|hitherto",
    r"(?<!there )(?:is|are|was|were|be) no (?!longer\b|more\b|less\b)[a-z]+",
    r"(?:stands?|stood) (?:in|on|for|at|by|beside|behind|before|after|above|below|under|within|there|alone|around|over)",
    r"(?:lies|lay) (?:in|on|at|within|under|beside)",
    r"of (?:its|their|his|her|our|one's) own",
    r"(?:one|two|three|some) a (?:line|page|row|second|user|minute|request|kind|item|chapter)",
    r"deeds?|wish(?:es|ed)?",
)
NAMES = (
    r"(?:[A-Z_]*_)?(?:MOST|LONGEST|BIGGEST|FEWEST|SHORTEST|LARGEST|SMALLEST|LEAST)(?:_[A-Z_]+)?",
    r"_?(?:moments|deeds|trying|looking|posted|camera|desk)(?=\s*[(.=:,\]])",
    r"RuleDeed|Wish|Told|Asked|Given|_told|_shown|_given|_asked|_said",
)
_FAULT = re.compile(rf"(?i:\b(?:{'|'.join(PHRASES)})\b)|\b(?:{'|'.join(NAMES)})\b")


def main(paths: list[str]) -> int:
    """Print every line with a listed word; return 1 when there is one."""
    faults = [fault for path in find_files(paths) for fault in check(path)]
    print("\n".join(faults) if faults else "No words of the old dialect.")
    if faults:
        print(f"{len(faults)} lines use words of the old dialect; docs/glossary.md has the plain ones.")
    return int(bool(faults))


def find_files(paths: list[str]) -> Iterator[Path]:
    """Yield the text files under the paths, in order."""
    for start in [Path(path).resolve() for path in paths] or [ROOT / name for name in CHECKED]:
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            hidden = any(part in {"__pycache__", "node_modules", "sites", "texts", "vendor"} for part in path.parts)
            if hidden or not path.is_file() or name_of(path) in EXCEPT:
                continue
            if path.suffix == ".py" if is_test(path) else path.suffix in SUFFIXES:
                yield path


def name_of(path: Path) -> str:
    """Return the path as people write it: from the top of the project, with slashes."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def is_test(path: Path) -> bool:
    """Return whether the file is part of the tests, whose pages and words are made up."""
    return name_of(path).startswith("tests/")


def without_prose(text: str) -> str:
    """Return the source with blanks instead of strings that are not docstrings: pages in tests use any words."""
    lines = text.splitlines()
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in TEXTS and before not in (
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENCODING,
        ):
            (first, start), (last, end) = token.start, token.end
            for number in range(first, last + 1):
                line = lines[number - 1]
                left = start if number == first else 0
                right = end if number == last else len(line)
                lines[number - 1] = line[:left] + " " * (right - left) + line[right:]
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return "\n".join(lines)


def check(path: Path) -> Iterator[str]:
    """Yield `file:line: words` for each line that uses a listed word."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return  # a picture or an archive
    if is_test(path):
        text = TEST_NAME.sub(lambda name: name[0].replace("_", " "), without_prose(text))
    for number, line in enumerate(text.splitlines(), 1):
        found = [match.group() for match in _FAULT.finditer(line)]
        if found and ALLOWED not in line:
            yield f"{name_of(path)}:{number}: {', '.join(found)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write and read the YAML block at the top of a document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from pagekeep.errors import ParseError
from pagekeep.model import Metadata, Quality
from pagekeep.text import compile_lazily, reading_time
from pagekeep.values import interpreted

_SURROGATE: Final = compile_lazily(r"[\ud800-\udfff]")
_WIDTH: Final = 1 << 30
"""Lines are never folded, so that a search finds a value by its words."""


_SIMPLE: Final = re.compile(
    r"(?:[A-Za-z]|[^\0-\x7f]|[0-9](?=.*[g-su-wyG-SU-WY]))(?:[^ :#]| (?![ #])|[:#](?=[^ :#]))*+(?<! )|[0-9]{1,9} min"
)
"""Text that needs no quotes in YAML: it starts with a letter and has no colon before a space and no `#` after one. If it
starts with a digit, it has a letter that no number and no time has."""
_SIMPLE_IN_LIST: Final = compile_lazily(r"(?:[A-Za-z]|[^\0-\x7f])(?:[A-Za-z0-9_./&+%()-]|[^\0-\x7f]| (?! ))*+(?<! )")
_QUOTED: Final = re.compile(r"(?! )(?=[\"'#,\[\]{}&*!|>%@`]|.*: |.* #|.*:\Z).*+(?<! )")
"""Text that needs quotes in YAML, by its first character, a colon or a `#`."""
_LAST_UNESCAPED: Final = "\ufffd"
"""YAML escapes characters above it, and those that are not printable."""
_PLAIN_HOST: Final = re.compile(r"https?://([A-Za-z0-9.-]++)(?=[/?#]|\Z)")
_NUMBERS: Final = 1 << 63
"""Whole numbers below it, and from its negative on, have 64 bits."""
_RESERVED: Final = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})


@interpreted
class _Flow(list[Any]):
    """A list written as `[a, b]`."""


@interpreted
class Stamp(str):
    """A timestamp, written without quotes like YAML's own."""

    __slots__ = ()


class _Yaml(NamedTuple):
    """PyYAML's safe dumper and loader, in C if available (0.1 ms per page instead of 0.5)."""

    dumper: Any
    """Repeats equal values instead of referring to them."""
    loader: Any
    """Leaves timestamps, and numbers over 64 bits, as they are written."""


@cache
def _yaml() -> _Yaml:
    """Return the YAML library's part for frontmatter, loaded when it is first needed: most pages do without it."""
    import yaml

    dumper: Any = type("Dumper", (getattr(yaml, "CSafeDumper", yaml.SafeDumper),), {})
    dumper.ignore_aliases = lambda _dumper, _data: True
    dumper.add_representer(
        _Flow, lambda one, data: one.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
    )
    dumper.add_representer(Stamp, lambda one, data: one.represent_scalar("tag:yaml.org,2002:timestamp", str(data)))
    loader: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _loader, node: Stamp(node.value))
    loader.add_constructor("tag:yaml.org,2002:int", _read_number)
    return _Yaml(dumper, loader)


def _read_number(loader: Any, node: Any) -> int | str:
    """Return a whole number; one that no database, JSON reader or text conversion takes stays text."""
    number: int = loader.construct_yaml_int(node)
    return number if -_NUMBERS <= number < _NUMBERS else str(node.value)


def write_frontmatter(fields: Mapping[str, object]) -> str:
    """Return the fields in order between `---` lines, without those that are None or empty; always valid YAML."""
    present = {name: _plain(value) for name, value in fields.items() if not _is_absent(value)}
    if not present:
        return ""
    lines = [_simple_line(name, value) for name, value in present.items()]
    block = _dump(present) if None in lines else "".join(line for line in lines if line)
    return f"---\n{block}---\n"


def _dump(fields: Mapping[str, object]) -> str:
    import yaml

    block: str = yaml.dump(
        fields, Dumper=_yaml().dumper, allow_unicode=True, sort_keys=False, width=_WIDTH, default_flow_style=False
    )
    return block


def _simple_line(name: str, value: object) -> str | None:
    """Return the line that PyYAML would write if nothing needs escapes, else `None`.

    An import of 100,000 bookmarks spends a third of its time in PyYAML without it, and a command that extracts one page
    18 ms loading it.
    """
    if name in _RESERVED or not name.isidentifier():
        return None
    if isinstance(value, (Stamp, bool, int)):
        return f"{name}: {str(value).lower() if isinstance(value, bool) else value}\n"
    if isinstance(value, str):
        if _is_written_as_is(value) and _QUOTED.fullmatch(value):
            quoted = value.replace("'", "''")
            return f"{name}: '{quoted}'\n"
        return f"{name}: {value}\n" if _is_simple(value, _SIMPLE) else None
    if isinstance(value, list) and all(isinstance(item, str) and _is_simple(item, _SIMPLE_IN_LIST) for item in value):
        return f"{name}: [{', '.join(value)}]\n"
    return None


def _is_simple(text: str, pattern: re.Pattern[str]) -> bool:
    return _is_written_as_is(text) and pattern.fullmatch(text) is not None and text.lower() not in _RESERVED


def _is_written_as_is(text: str) -> bool:
    """Return whether YAML needs no escapes for the text; false when in doubt."""
    return text.isprintable() and (text.isascii() or max(text) <= _LAST_UNESCAPED)


def split_block(text: str) -> tuple[str, str]:
    """Return the block between the `---` lines at the top of a text, and the rest without leading blank lines."""
    if not text.startswith("---\n"):
        return "", text
    block, end, rest = text[4:].partition("\n---\n")
    if not end:
        block, end, rest = (text[4:-4], "---", "") if text.endswith("\n---") else ("", "", text)
    return (block + "\n", rest.lstrip("\n")) if end else ("", text)


def read_block(block: str) -> dict[str, Any]:
    """Return the fields of a block, timestamps as `Stamp`; raise `ParseError` when it is not valid, or too large."""
    if len(block) > _MAX_CHARS:
        raise ParseError(f"The frontmatter has more than {_MAX_CHARS:,} characters.", suggestions=())
    import yaml

    try:
        _refuse_hostile(block)
        fields = yaml.load(block, Loader=_yaml().loader)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 2
        raise ParseError(
            f"The frontmatter is not valid YAML (line {line}).", suggestions=("Correct that line.",)
        ) from None
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise ParseError("The frontmatter must have one `name: value` field per line.", suggestions=())
    return {str(name): value for name, value in fields.items()}


# Limits against hostile files, far above what real documents have.
_MAX_CHARS: Final = 100_000
_MAX_DEPTH: Final = 50
_MAX_EVENTS: Final = 30_000


def _refuse_hostile(block: str) -> None:
    """Refuse nesting that would overflow the C library's stack, aliases, which can multiply values, and tags.

    For a value that does not fit its tag, such as `!!float x`, PyYAML raises errors of any type.
    """
    import yaml

    depth = 0
    for count, event in enumerate(yaml.parse(block, Loader=_yaml().loader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        is_special = isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None
        if depth > _MAX_DEPTH or count > _MAX_EVENTS or is_special:
            raise ParseError(
                "The frontmatter is nested too deep, too long, or uses YAML aliases (`*`) or tags (`!`).",
                suggestions=(),
            )


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, (str, list, tuple, Mapping)) and not value)


def _plain(value: object) -> object:
    """Return the value in a form for YAML: lists in flow style, lone surrogates replaced."""
    if isinstance(value, Stamp):
        return value
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, (list, tuple)):
        return _Flow(_plain(item) for item in value)
    return value


def page_fields(
    metadata: Metadata,
    quality: Quality,
    *,
    url: str | None,
    word_count: int,
    saved_at: str | None = None,
    rule_id: str | None = None,
) -> dict[str, object]:
    """Return the frontmatter fields of a page in order, missing values None; `rule_id` is the rule that discarded it.

    A page has no `tags`: those are the user's, and are added where an item is shown.
    """
    fields: dict[str, object] = {
        "source": url,
        "title": metadata.title or domain(url),
        "author": metadata.author,
        "published_date": stamp((metadata.published or "")[:10]),
        "domain": domain(url),
        "site_name": metadata.site_name,
        "language": metadata.language,
        "word_count": word_count,
        "reading_time": reading_time(word_count),
        "hero_image": metadata.hero_image,
        "description": metadata.description,
        "suggested_tags": list(metadata.suggested_tags),
        "quality": quality.level,
        "saved_at": stamp(saved_at),
    }
    if quality.level == "bookmark":
        fields |= {"extraction_failed": True, "reason": quality.reason}
    elif quality.level == "discarded":
        fields |= {"discarded": True, "reason": quality.reason, "rule_id": rule_id}
    return fields


_ISO: Final = compile_lazily(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")


def stamp(moment: str | None) -> str | None:
    """Return a date or time as a YAML timestamp; anything else, such as 31 February, stays text."""
    if not moment or not _ISO.fullmatch(moment):
        return moment or None
    try:
        datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return Stamp(moment)


def domain(url: str | None) -> str | None:
    """Return the URL's host in lower case without a leading `www.`; None without a host."""
    plain = _PLAIN_HOST.match(url or "")
    if plain:
        return plain[1].lower().removeprefix("www.")
    try:
        host = urlsplit(url or "").hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None

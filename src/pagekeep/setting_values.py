"""Values of settings: how each kind is read from text or from a typed value, and called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class Parser(NamedTuple):
    """Parses a value from text (environment, command line) or from a typed value (TOML, Python)."""

    kind: str
    parse: Callable[[object], object]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


def _positive_number(value: object) -> float:
    number = _number(value)
    if number == 0:
        raise ValueError
    return number


def _integer(value: object) -> int:
    number = int(value.replace("_", "")) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError
    return number


def _positive_integer(value: object) -> int:
    number = _integer(value)
    if number == 0:
        raise ValueError
    return number


def _text(value: object) -> str:
    if not isinstance(value, (str, Path)) or not str(value).strip() or not str(value).isprintable():
        raise ValueError
    return str(value).strip()


def _list(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return tuple(_text(item) for item in value if item != "")


def _copies(value: object) -> tuple[str, ...]:
    kinds = _list(value)
    if not set(kinds) <= {"screenshot", "pdf", "html"}:
        raise ValueError
    return kinds


def _networks(value: object) -> tuple[str, ...]:
    import ipaddress

    return tuple(str(ipaddress.ip_network(entry.strip(), strict=False)) for entry in _list(value))


def _switch(value: object) -> bool:
    if isinstance(value, str):
        value = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(value.lower())
    if not isinstance(value, bool):
        raise ValueError
    return value


def _choice(*choices: str, aliases: Mapping[str, str] | None = None) -> Parser:
    def parse(value: object) -> str:
        value = (aliases or {}).get(str(value), value)
        if value not in choices:
            raise ValueError
        return str(value)

    *first, last = choices
    return Parser(f"{', '.join(first)} or {last}", parse)


SECONDS = Parser("a number of seconds above 0", _positive_number)
DELAY = Parser("a number of seconds, 0 or more", _number)
COUNT = Parser("a whole number, 0 or more", _integer)
AMOUNT = Parser("a whole number above 0", _positive_integer)
TEXT = Parser("text", _text)
LIST = Parser("a list of texts", _list)
NETWORKS = Parser("a list of IP addresses or networks", _networks)
SWITCH = Parser("true or false", _switch)
RENDER = _choice("auto", "force", "never")
LOG_LEVEL = _choice("debug", "info", "warning", "error")
PICTURES = _choice("all", "hero", "none")
COPIES = Parser("a list of: screenshot, pdf, html", _copies)
MODE = _choice("local", "remote", "compare", "fallback", aliases={"jina": "remote"})

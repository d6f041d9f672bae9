"""What a caller of `/r` wants, told by header, query or body in the names that reader services use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, get_args
from urllib.parse import unquote

from fastapi import Request

from pagekeep.capture.from_url import RenderMode
from pagekeep.capture.from_url import Request as Wanted
from pagekeep.capture.view_options import ViewOptions
from pagekeep.errors import InvalidQuery, InvalidUrl
from pagekeep.library.page_request import FRESH_SECONDS, Form, PageRequest, Picture

LONGEST: Final = 180.0
"""Seconds that a caller may ask for."""
_NAMES: Final = (
    *("respond-with", "return-format", "target-selector", "wait-for-selector", "remove-selector", "timeout", "engine"),
    *("no-cache", "cache-tolerance", "retain-images", "retain-links", "with-links-summary", "with-images-summary"),
    *("with-iframe", "remove-overlay", "token-budget", "max-tokens"),
)
_ENGINES: Final[dict[str, RenderMode | None]] = {"auto": None, "browser": "force", "direct": "never"}
_PICTURES: Final[dict[Form, Picture]] = {"screenshot": "window", "pageshot": "whole"}
_SCHEME: Final = re.compile(r"(?i)(https?):/{1,2}(?=[^/])")
_LIST: Final = re.compile(r",\s+")
_NO: Final = frozenset({"", "false", "0", "no", "off"})


class Wishes:
    """The wishes of one request by their names in the form `respond-with`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def of(cls, request: Request, query: Mapping[str, Any], body: Mapping[str, Any]) -> Wishes:
        """A body wins over the query, that over headers."""
        found: dict[str, Any] = {}
        for name in _NAMES:
            for value in (body.get(_camel(name)), query.get(_camel(name)), request.headers.get(f"x-{name}")):
                if value is not None:
                    found[name] = value
                    break
        return cls(found)

    def text(self, name: str) -> str:
        """A word; empty when nothing was said."""
        value = self._values.get(name, "")
        return value.strip() if isinstance(value, str) else str(value).lower()

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of these, the first when nothing was said."""
        said = self.text(name).lower() or choices[0]
        if said not in choices:
            raise _wrong(name, f"one of {', '.join(choices)}")
        return said

    def flag(self, name: str) -> bool:
        """Whether it is wanted."""
        return self.text(name).lower() not in _NO

    def number(self, name: str, most: float = 1e9) -> float | None:
        """A number that is not negative."""
        said = self.text(name)
        if not said:
            return None
        try:
            number = float(said)
        except ValueError:
            number = -1.0
        if not 0 <= number <= most:
            raise _wrong(name, f"a number from 0 to {most:g}")
        return number

    def selectors(self, name: str) -> tuple[str, ...]:
        """A list, parted by a comma and a space or given as one."""
        value = self._values.get(name, "")
        parts = value if isinstance(value, list) else _LIST.split(str(value))
        return tuple(part.strip() for part in map(str, parts) if part.strip())


def _wrong(name: str, wanted: str) -> InvalidQuery:
    return InvalidQuery(f"`X-{name.title()}` cannot be read.", suggestions=(f"Give {wanted}.",))


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(part.capitalize() for part in rest)


def call_of(url: str, html: str | None, wishes: Wishes) -> PageRequest:
    """What the use case is asked for."""
    if not url and html is None:
        raise InvalidUrl("There is no address to read.")
    only = wishes.selectors("target-selector")
    wait_for = ", ".join(wishes.selectors("wait-for-selector") or only) or None
    seconds = wishes.number("timeout", LONGEST) or None
    form = _form(wishes)
    return PageRequest(
        request=Wanted(
            address(url) if url else "",
            render=_ENGINES[wishes.choice("engine", tuple(_ENGINES))],
            wait_for=wait_for,
            render_timeout=seconds,
            timeout=seconds,
        ),
        html=html,
        form=form,
        picture=_PICTURES.get(form),
        view=ViewOptions(
            only=only,
            without=wishes.selectors("remove-selector"),
            overlays=not wishes.flag("remove-overlay"),
            images=wishes.choice("retain-images", ("all", "none", "alt")),  # type: ignore[arg-type]
            links=wishes.choice("retain-links", ("all", "none", "text")),  # type: ignore[arg-type]
        ),
        frames=wishes.flag("with-iframe"),
        tolerance=_tolerance(wishes),
        waits=bool(wishes.selectors("wait-for-selector")),
        budget=_whole(wishes.number("token-budget")),
        max_tokens=_whole(wishes.number("max-tokens")),
    )


def _form(wishes: Wishes) -> Form:
    name = "respond-with" if wishes.text("respond-with") else "return-format"
    return wishes.choice(name, get_args(Form))  # type: ignore[return-value]


def _tolerance(wishes: Wishes) -> float:
    if wishes.flag("no-cache"):
        return 0.0
    given = wishes.number("cache-tolerance")
    return FRESH_SECONDS if given is None else given


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def address_in_path(raw_path: str, query: str) -> tuple[str, bool]:
    """The address behind `/r/`, and whether the query was part of it: it is where the address stands as it is."""
    given = raw_path.removeprefix("/r/")
    if _SCHEME.match(given):
        return given + (f"?{query}" if query else ""), True
    return unquote(given), False


def address(url: str) -> str:
    """A whole address: proxies make one slash of two, and people leave the scheme out."""
    url = url.strip()
    if _SCHEME.match(url):
        return _SCHEME.sub(lambda found: f"{found[1]}://", url, count=1)
    return url if "://" in url else f"https://{url}"

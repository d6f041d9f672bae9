"""The options of `/r`, given by header, query or body under the names of Jina Reader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, get_args
from urllib.parse import unquote

from fastapi import Request

from pagekeep.capture.from_url import RenderMode
from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.view_options import ViewOptions
from pagekeep.errors import InvalidQuery, InvalidUrl
from pagekeep.library.page_request import FRESH_SECONDS, Form, PageRequest, Picture
from pagekeep.model import MadeField

MAX_TIMEOUT: Final = 180.0
"""Seconds."""
_NAMES: Final = (
    *("respond-with", "return-format", "target-selector", "wait-for-selector", "remove-selector", "timeout", "engine"),
    *("no-cache", "cache-tolerance", "retain-images", "retain-links", "with-links-summary", "with-images-summary"),
    *("with-iframe", "remove-overlay", "token-budget", "max-tokens"),
)
_ENGINES: Final[dict[str, RenderMode | None]] = {"auto": None, "browser": "force", "direct": "never"}
_PICTURES: Final[dict[Form, Picture]] = {"screenshot": "window", "pageshot": "whole"}
_SUMMARIES: Final[dict[str, MadeField]] = {"with-images-summary": "media", "with-links-summary": "links"}
"""Options that list a field of the page below its text."""
_SCHEME: Final = re.compile(r"(?i)(https?):/{1,2}(?=[^/])")
_LIST: Final = re.compile(r",\s+")
_NO: Final = frozenset({"", "false", "0", "no", "off"})


class JinaOptions:
    """The options of one request, by names such as `respond-with`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def parse(cls, request: Request, query: Mapping[str, Any], body: Mapping[str, Any]) -> JinaOptions:
        """Collect the options; the body overrides the query, and the query overrides headers."""
        values: dict[str, Any] = {}
        for name in _NAMES:
            for value in (body.get(_camel(name)), query.get(_camel(name)), request.headers.get(f"x-{name}")):
                if value is not None:
                    values[name] = value
                    break
        return cls(values)

    def text(self, name: str) -> str:
        """Return an option as text; empty if not given."""
        value = self._values.get(name, "")
        return value.strip() if isinstance(value, str) else str(value).lower()

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices, the first if not given."""
        value = self.text(name).lower() or choices[0]
        if value not in choices:
            raise _invalid(name, f"one of {', '.join(choices)}")
        return value

    def flag(self, name: str) -> bool:
        """Return whether the option is on."""
        return self.text(name).lower() not in _NO

    def number(self, name: str, maximum: float = 1e9) -> float | None:
        """Return a number from 0 to the maximum; `None` if not given."""
        text = self.text(name)
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number <= maximum:
            raise _invalid(name, f"a number from 0 to {maximum:g}")
        return number

    def selectors(self, name: str) -> tuple[str, ...]:
        """Return a list of selectors, given as a list or separated by a comma and a space."""
        value = self._values.get(name, "")
        parts = value if isinstance(value, list) else _LIST.split(str(value))
        return tuple(part.strip() for part in map(str, parts) if part.strip())


def _invalid(name: str, expected: str) -> InvalidQuery:
    return InvalidQuery(f"Invalid value of `X-{name.title()}`.", suggestions=(f"Use {expected}.",))


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(part.capitalize() for part in rest)


def make_call(url: str, html: str | None, options: JinaOptions, file: bytes | None = None) -> PageRequest:
    """Return the call of the use case for these options."""
    if not url and html is None and file is None:
        raise InvalidUrl("No URL was given.")
    only = options.selectors("target-selector")
    wait_for = ", ".join(options.selectors("wait-for-selector") or only) or None
    seconds = options.number("timeout", MAX_TIMEOUT) or None
    form = _form(options)
    return PageRequest(
        request=CaptureRequest(
            complete_url(url) if url else "",
            render=_ENGINES[options.choice("engine", tuple(_ENGINES))],
            wait_for=wait_for,
            render_timeout=seconds,
            timeout=seconds,
        ),
        html=html,
        file=file,
        form=form,
        picture=_PICTURES.get(form),
        view=ViewOptions(
            only=only,
            without=options.selectors("remove-selector"),
            overlays=not options.flag("remove-overlay"),
            images=options.choice("retain-images", ("all", "none", "alt")),  # type: ignore[arg-type]
            links=options.choice("retain-links", ("all", "none", "text")),  # type: ignore[arg-type]
        ),
        needs=tuple(field for name, field in _SUMMARIES.items() if options.flag(name)),
        frames=options.flag("with-iframe"),
        tolerance=_tolerance(options),
        waits=bool(options.selectors("wait-for-selector")),
        budget=_to_int(options.number("token-budget")),
        max_tokens=_to_int(options.number("max-tokens")),
    )


def _form(options: JinaOptions) -> Form:
    name = "respond-with" if options.text("respond-with") else "return-format"
    return options.choice(name, get_args(Form))  # type: ignore[return-value]


def _tolerance(options: JinaOptions) -> float:
    if options.flag("no-cache"):
        return 0.0
    seconds = options.number("cache-tolerance")
    return FRESH_SECONDS if seconds is None else seconds


def _to_int(number: float | None) -> int | None:
    return None if number is None else int(number)


def url_in_path(raw_path: str, query: str) -> tuple[str, bool]:
    """Return the URL after `/r/`, and whether the query belongs to it, as for a URL that is not percent-encoded."""
    path = raw_path.removeprefix("/r/")
    if _SCHEME.match(path):
        return path + (f"?{query}" if query else ""), True
    return unquote(path), False


def complete_url(url: str) -> str:
    """Return a complete URL: proxies merge the two slashes, and people omit the scheme."""
    url = url.strip()
    if _SCHEME.match(url):
        return _SCHEME.sub(lambda match: f"{match[1]}://", url, count=1)
    return url if "://" in url else f"https://{url}"

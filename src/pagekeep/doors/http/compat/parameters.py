"""Parameters of a dialect's request, from the query, a form or JSON: other servers take them from any of these."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from pagekeep.doors.http.caller import FORM_LIMITS
from pagekeep.errors import InvalidQuery

_FORM_TYPES: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_INDEX: Final = re.compile(r"\[[0-9]{0,6}\]$")
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_MAX_VALUES: Final = 1_000
"""Of one name."""


class Parameters:
    """The values by name; a name with `[]` or `[0]` at its end has several."""

    def __init__(self, values: Iterable[tuple[str, Any]]) -> None:
        self._values: dict[str, list[Any]] = {}
        for name, value in values:
            stored = self._values.setdefault(_INDEX.sub("", name), [])
            stored += value if isinstance(value, list) else [value]

    def __contains__(self, name: str) -> bool:
        return any(value is not None for value in self._values.get(name, ()))

    def has(self, name: str) -> bool:
        """Return whether the name was sent, even without a value."""
        return name in self._values

    def text(self, name: str, default: str = "", *, max_chars: int = 8_192) -> str:
        """Return the last value as text; numbers and flags of JSON too."""
        values = [value for value in self._values.get(name, ()) if value is not None]
        if not values:
            return default
        value = values[-1]
        if isinstance(value, (dict, list)):
            raise InvalidQuery(f"`{name}` must be a text.", suggestions=())
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if len(text) > max_chars:
            raise InvalidQuery(f"`{name}` is too long.", suggestions=(f"Use at most {max_chars:,} characters.",))
        return text.encode("utf-8", "replace").decode()

    def flag(self, name: str) -> bool | None:
        """Return whether the value is 1 or true; `None` without a value that means one of both."""
        value = self.text(name).strip().lower()
        return True if value in _TRUE else False if value in _FALSE else None

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        """Return a number within limits; the default for what is not a number."""
        value = self.text(name).strip()
        is_number = re.fullmatch(r"[+-]?[0-9]{1,20}", value) is not None
        return max(low, min(int(value), high)) if is_number else default

    def values(self, name: str) -> list[str]:
        """Return all values of a name."""
        found = [str(value) for value in self._values.get(name, ()) if value is not None]
        if len(found) > _MAX_VALUES:
            raise InvalidQuery(f"`{name}` has too many values.", suggestions=(f"Send at most {_MAX_VALUES:,}.",))
        return found

    def list(self, name: str) -> list[str] | None:
        """Return a list, sent as one or as texts with commas; `None` when the name was not sent."""
        if name not in self:
            return None
        return [part.strip() for value in self.values(name) for part in value.split(",") if part.strip()]

    def raw(self, name: str) -> Any:
        """Return what JSON has under the name, a list if it is one."""
        return self._values.get(name, [])


async def read_parameters(request: Request) -> Parameters:
    """Return the parameters of a request; those of the body count more. `InvalidQuery` for JSON that cannot be read."""
    values: list[tuple[str, Any]] = list(request.query_params.multi_items())
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _FORM_TYPES:
        form = await request.form(**FORM_LIMITS)
        return Parameters([*values, *((name, value) for name, value in form.multi_items() if isinstance(value, str))])
    data = await request.body()
    if data.strip():
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise InvalidQuery("The body is not a JSON object.", suggestions=())
        values += body.items()
    return Parameters(values)


SentParameters = Annotated[Parameters, Depends(read_parameters)]
"""The type of a route's parameter. It comes after the library, which is opened for callers who may use it only."""

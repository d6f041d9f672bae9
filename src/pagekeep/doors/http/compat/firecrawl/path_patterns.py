"""Turn Firecrawl's patterns of paths, which are regular expressions, into globs.

Most are simple: `/blog/.*`, `^/docs/`, `guide`. Others are refused: a regular expression of a caller may take any time.
"""

from __future__ import annotations

import re
from typing import Final

from pagekeep.errors import NotOffered

_TOKEN: Final = re.compile(r"\.[*+]\??|\[\^/\][*+]\??|\\(?P<escaped>[^a-zA-Z0-9])|(?P<plain>[^\\^$.|?*+()\[\]{}])|\.")
_GLOB_SIGNS: Final = frozenset("*?[")


def to_glob(pattern: str) -> str:
    """Return a glob for the same addresses, of the path if it starts with `/`; `NotOffered` for a pattern that has none."""
    inner = pattern.removeprefix("^")
    starts = "" if inner != pattern else "*://*" if inner.startswith("/") else "*://*/*"
    ends = "" if inner.endswith("$") and not inner.endswith(r"\$") else "*"
    inner = inner if ends else inner.removesuffix("$")
    parts, position = [starts], 0
    while position < len(inner):
        token = _TOKEN.match(inner, position)
        if token is None:
            raise NotOffered(
                f"The pattern `{pattern[:100]}` is not offered.",
                suggestions=("Use plain paths with `.*`, such as `^/docs/.*`.",),
            )
        parts.append(_translate(token))
        position = token.end()
    return re.sub(r"\*+", "*", "".join([*parts, ends]))


def _translate(token: re.Match[str]) -> str:
    literal = token["escaped"] or token["plain"]
    if literal:
        return f"[{literal}]" if literal in _GLOB_SIGNS else literal
    return "?" if token[0] == "." else "*"

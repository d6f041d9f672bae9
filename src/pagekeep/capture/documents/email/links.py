"""Links of newsletters: most lead through a counter of clicks. Where the target is in the link itself, it takes its place."""

from __future__ import annotations

import json
import re
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pagekeep.capture.documents.email.headers import decode_base64

_MAX_URL_CHARS: Final = 8_000
_MAX_HOPS: Final = 3
"""Counters within counters that are undone."""
_REDIRECTING_PART: Final = re.compile(
    r"c|cl|cl0|l0|cc|ct|clk|click\d?|clicks|clicktrack|clickthrough|l|ls|lt|link\d?|links|r|rd|redir|redirect\w?|redirects|"
    r"t|tr|track|tracking|trk|trklnk|u|url|out|outgoing|go|goto|away|f|e|l\.php|click\.php|link\.php|safelink|v2|v3|uni",
    re.I,
)
"""Segments of the paths of counters."""
_REDIRECTING_HOST: Final = re.compile(
    r"(?:clicks?|clk|ct|track(?:ing)?|trk|links?|lnks?|go|email|e|em|t|r|l|u|url|urls|redirect|ablink|lt|cl|c|eur\d\d|"
    r"nam\d\d|gbr\d\d|apc\d\d|aus\d\d|urldefense|safelinks)\d{0,2}",
    re.I,
)
"""First labels of the hosts of counters."""
_COUNTING: Final = re.compile(r"(?:click|track|trk|redir|cl0$|l0$)", re.I)
"""Segments that only counters have."""
_KEPT_PATH: Final = re.compile(
    r"shar(?:e|er|ing)|intent|login|signin|sign-in|oauth|authorize|submit|web|compose|validator", re.I
)
"""Segments of addresses that name another on purpose: sharing, signing in, archives."""
_IN_PATH: Final = re.compile(r"/(https?)(?::|%3A)(?:/|%2F){1,2}([^\s?#]+)", re.I)
_TARGET_NAMES: Final = frozenset(
    "url u q to target dest destination redirect redirect_to redirecturl r link l href goto go out p d lnk e "
    "uri rurl loc".split()
)
_BASE64: Final = re.compile(r"(?:aHR0c|eyJ)[A-Za-z0-9_+/-]{8,6000}={0,2}")
"""Base64 of `http` or of a JSON object."""
_WEB: Final = re.compile(r"https?://[^\s/?#\"<>\\]+\.[^\s\"<>\\]+", re.I)
_PROOFPOINT_2: Final = re.compile(r"https?://urldefense\.(?:proofpoint\.)?com/v2/url\?(?:[^#]*&)?u=([^&#]+)", re.I)
_PROOFPOINT_3: Final = re.compile(r"https?://urldefense\.(?:proofpoint\.)?com/v3/__(.+?)__;", re.I)


def unwrap(url: str) -> str:
    """Return the target of a link through a counter if the link has it, else the link as it is."""
    url = url.strip()
    if not url.lower().startswith(("http://", "https://")) or len(url) > _MAX_URL_CHARS:
        return url
    for _ in range(_MAX_HOPS):
        target = _find_target(url)
        if target is None or target == url:
            break
        url = target
    return url


def is_counter(url: str) -> bool:
    """Return whether a link looks as if it led through a counter of clicks: it says nothing about where it leads."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    segments = [part for part in parts.path.split("/") if part]
    if any(_COUNTING.match(part) for part in segments[:4]):
        return True
    label = (parts.hostname or "").partition(".")[0]
    is_marked = any(_REDIRECTING_PART.fullmatch(part) for part in segments) or _REDIRECTING_HOST.fullmatch(label)
    return bool(is_marked) and (any(len(part) > 40 for part in segments) or len(parts.query) > 60)


def _find_target(url: str) -> str | None:
    guarded = _undo_mail_guard(url)
    if guarded:
        return guarded
    try:
        parts = urlsplit(url)
        segments = [part for part in parts.path.split("/") if part]
        if any(_KEPT_PATH.match(part) for part in segments[:3]):
            return None
        host = parts.hostname or ""
        is_redirector = (
            any(_REDIRECTING_PART.fullmatch(part) for part in segments[:4])
            or _REDIRECTING_HOST.fullmatch(host.partition(".")[0]) is not None
        )
        if not is_redirector:
            return None
        return _in_query(parts.query) or _in_path(parts.path) or _in_base64(segments)
    except ValueError:
        return None


def _undo_mail_guard(url: str) -> str | None:
    """Return the target of a link that a company's mail guard has rewritten."""
    match = _PROOFPOINT_3.match(url)
    if match:
        return _check(match[1].replace("https:/", "https://", 1) if "://" not in match[1] else match[1])
    match = _PROOFPOINT_2.match(url)
    if match:
        return _check(unquote(match[1].translate(str.maketrans("-_", "%/"))))
    return None


def _in_query(query: str) -> str | None:
    for name, value in parse_qsl(query, max_num_fields=50):
        if name.lower() in _TARGET_NAMES:
            target = _check(value) or _check(unquote(value)) or _decode(value)
            if target:
                return target
    return None


def _in_path(path: str) -> str | None:
    match = _IN_PATH.search(path)
    if match is None:
        return None
    is_whole = "%" in match[0][:14]  # the address is escaped, so what follows its segment belongs to the counter
    rest = match[2].partition("/")[0] if is_whole else match[2]
    return _check(f"{match[1].lower()}://{unquote(rest)}")


def _in_base64(segments: list[str]) -> str | None:
    return next((target for part in reversed(segments) if (target := _decode(part))), None)


def _decode(text: str) -> str | None:
    """Return the address in a Base64 text: as it is, or in a JSON object, also as the middle of a signed token."""
    for part in text.split(".")[:3]:
        if not _BASE64.fullmatch(part):
            continue
        decoded = decode_base64(part.replace("-", "+").replace("_", "/").encode()).decode("utf-8", "replace")
        if decoded.startswith("http"):
            return _check(decoded)
        try:
            value = json.loads(decoded)
        except (ValueError, RecursionError):
            continue
        found = [one for one in (value.values() if isinstance(value, dict) else ()) if isinstance(one, str)]
        target = next((address for one in found if (address := _check(one))), None)
        if target:
            return target
    return None


def _check(text: str) -> str | None:
    """Return a text if it is the address of a web page."""
    return text if _WEB.fullmatch(text) else None

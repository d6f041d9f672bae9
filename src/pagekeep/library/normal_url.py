"""When two addresses are the same page: the normal form of a URL, and which of a page's addresses to trust."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.errors import InvalidUrl, PagekeepError
from pagekeep.fetch.urls import split_url

_TRACKING_PREFIXES: Final = ("utm_", "mtm_", "matomo_", "piwik_", "pk_", "hsa_", "__hs", "_hs", "vero_", "oly_")
_TRACKING: Final = frozenset(
    (
        *("fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "ysclid", "ttclid", "twclid"),
        *("li_fat_id", "igshid", "igsh", "mc_cid", "mc_eid", "mkt_tok", "srsltid", "epik", "rb_clickid", "wickedid"),
        *("s_kwcid", "ef_id", "_openstat", "_ga", "_gl", "hsctatracking", "ref_src", "ref_url", "at_medium"),
        *("at_campaign", "at_custom1", "guccounter", "guce_referrer", "guce_referrer_sig", "cmpid", "xtor", "trk_info"),
    )
)
"""Query parameters that say who sent the reader and never which page is meant. Only names that no site uses otherwise:
a parameter too many makes a second copy of a page, one too few mixes two pages up."""

MAIL: Final = "mid:"
"""Scheme of the addresses of messages (RFC 2392), which cannot be fetched."""
MAIL_HOST: Final = "mail.invalid"
"""The domain of a message whose id names none."""
_MESSAGE: Final = re.compile(r"[!-~]{3,2000}")
_HOST: Final = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+")
_ESCAPE: Final = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_OTHER_FORMS: Final = ("www.", "m.", "mobile.", "amp.")
"""First labels under which sites serve the same pages again."""
_OTHER_VIEWS: Final = frozenset({"amp", "amp.html", "print"})
"""Last segments that show the page above them in another dress."""


def normalise(url: str) -> str:
    """The address without what does not say which page is meant; `InvalidUrl` or `InvalidProtocol` for what is none.

    Host in lower-case ASCII, no default port, no dot segments, percent-encoding in one form, no tracking parameters
    (the others in their order), no fragment unless it is a route (`#!/page`, `#/page`).
    The address of a message, `mid:`, is its own normal form.
    """
    if is_mail(url):
        return _normalise_mail(url)
    parts = split_url(url)
    path, _, query = parts.target.partition("?")
    kept = "&".join(pair for pair in query.split("&") if pair and not _is_tracking(pair))
    route = _route(url)
    return parts.origin + _without_dots(_one_encoding(path)) + (f"?{_one_encoding(kept)}" if kept else "") + route


def is_mail(url: str) -> bool:
    """Return whether an address is that of a message."""
    return url[: len(MAIL)].lower() == MAIL


def _normalise_mail(url: str) -> str:
    name = url.strip()[len(MAIL) :]
    if not _MESSAGE.fullmatch(name) or "<" in name or ">" in name or '"' in name:
        raise InvalidUrl("The address of the message has no valid message id.")
    return MAIL + _one_encoding(name)


def domain(url: str) -> str:
    """The host of a normalised address without a leading `www.`; of a message, the one that its id names."""
    if is_mail(url):
        host = url.partition("/")[0].rpartition("@")[2].lower()
        return host.removeprefix("www.") if _HOST.fullmatch(host) else MAIL_HOST
    return split_url(url).host.name.removeprefix("www.")


def identity(given: str, final: str, canonical: str | None) -> str:
    """Return the normalised address that identifies a page: its canonical link if that can be trusted, else its own.

    `given` is the address from the user, `final` the one after redirects.
    """
    if is_mail(given) or is_mail(final):
        return normalise(given if is_mail(given) else final)
    found = normalise(final)
    if _leads_home(normalise(given), found):
        return normalise(given)
    if "#" not in found:  # a route is not sent to servers, so redirects lose it
        found += _route(given)
    if canonical is None:
        return found
    try:
        named = normalise(canonical)
    except PagekeepError:
        return found
    return named if _is_trustworthy(named, found) else found


def _leads_home(asked: str, found: str) -> bool:
    """Whether a site sent us to its home page instead of the page asked for, as some do when that is gone."""
    return _target(found) == "/" != _target(asked) and _site(asked) == _site(found)


def _is_tracking(pair: str) -> bool:
    name = _one_encoding(pair.partition("=")[0]).lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _route(url: str) -> str:
    """Return the fragment with its `#` if an app uses it to show another page, else an empty string."""
    fragment = url.strip().partition("#")[2].partition(":~:")[0]
    if not fragment.startswith(("!", "/")) or len(fragment) == 1:
        return ""
    # `split_url` has refused what is invalid in an address; the escaping of a query fits a fragment too.
    return "#" + _one_encoding(split_url(f"http://route/?{fragment.replace('#', '%23')}").target[2:])


def _one_encoding(text: str) -> str:
    """Return the text with escapes in capitals, and none for characters that need none."""
    return _ESCAPE.sub(_escape, text) if "%" in text else text


def _escape(found: re.Match[str]) -> str:
    char = chr(int(found[0][1:], 16))
    return char if char in _UNRESERVED else found[0].upper()


def _without_dots(path: str) -> str:
    """Return the path with `.` and `..` resolved, as in RFC 3986."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _is_trustworthy(named: str, found: str) -> bool:
    """Return whether a canonical link can be trusted.

    Templates often give the home page or the section for every page below it, or omit the one parameter that distinguishes
    pages; trusting those would store one page over another.
    """
    if _site(named) != _site(found) or "#" in found:
        return False
    named_path, _, named_query = _target(named).partition("?")
    path, _, query = _target(found).partition("?")
    if named_path == "/" and not named_query:
        return path == "/" and not query
    if named_path == path:
        return bool(named_query) or not query
    return not _is_section(named_path, path)


def _is_section(named: str, path: str) -> bool:
    """Whether the named path lies above the page's own, other than as the page behind a print or AMP view."""
    above = named.rstrip("/") + "/"
    return path.startswith(above) and path.removeprefix(above).strip("/") not in ("", *_OTHER_VIEWS)


def _target(url: str) -> str:
    return split_url(url).target


def _site(url: str) -> tuple[str, int]:
    """Host and port, other forms of one site alike. The scheme does not matter: most sites have moved to https."""
    parts = split_url(url)
    name = parts.host.name
    for label in _OTHER_FORMS:
        name = name.removeprefix(label)
    return name, 443 if parts.port == 80 else parts.port

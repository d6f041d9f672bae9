"""Import FiveFilters site config files (`example.com.txt`).

A file has `key: value` lines with XPath values and becomes one rule for its host. `body` is the scope, the `strip` keys
are removals, `title`, `author` and `date` are metadata, `wrap_in` and `move_into` are actions, `next_page_link` and
`single_page_link` are links to the rest of an article. What has no counterpart here (headers, logins, replacing strings in the
source) is reported line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pagekeep.rules import hosts
from pagekeep.rules.value_types import nearest
from pagekeep_lab.rule_importers.imported import Imported, LeftOut, make_rule, selector_fault
from pagekeep_lab.rule_importers.xpath import Css, NotCss, quote, to_css

MAX_CHARS: Final = 200_000
"""A bound against hostile files; site configs have a few kilobytes."""
_MAX_SCOPES: Final = 2
"""A rule has two: `article` and `wrapper`."""
_QUOTED_CHARS: Final = 80

_LINE: Final = re.compile(r"([A-Za-z_]+)\s*(?:\((.*?)\))?\s*:(.*)", re.DOTALL)
_UNSUPPORTED: Final = {
    "if_page_contains": "a link of a rule is followed whenever it is on the page",
    "find_string": "the source is not changed before it is parsed",
    "replace_string": "the source is not changed before it is parsed",
    "native_ad_clue": "advertorials are not detected",
    "http_header": "HTTP headers are an option of the request, not of a rule",
    "parser": "there is one parser",
    "tidy": "there is one parser",
    "prune": "the content that `body` selects is always cleaned",
    "autodetect_on_failure": "automatic extraction is always the fallback",
    "skip_json_ld": "metadata from rules always overrides JSON-LD",
    "src_lazy_load_attr": "lazy-loaded images are always found",
    "test_url": "a test, not part of the rule",
    "test_contains": "a test, not part of the rule",
    "requires_login": "logins are not supported",
    "login_uri": "logins are not supported",
    "login_username_field": "logins are not supported",
    "login_password_field": "logins are not supported",
    "login_extra_fields": "logins are not supported",
    "not_logged_in_xpath": "logins are not supported",
}
_PAGE_LINKS: Final = {"next_page_link": "next_page", "single_page_link": "single_page"}
_METADATA: Final = {"title": "title", "author": "author", "date": "published"}


class _Line(NamedTuple):
    number: int
    key: str
    argument: str | None
    value: str


@dataclass(slots=True)
class _Draft:
    """A rule being built, and what was left out of it."""

    file: str
    scopes: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, line: _Line, why: str) -> None:
        what = f"{line.key}: {line.value[:_QUOTED_CHARS]}" if line.key else line.value[:_QUOTED_CHARS]
        self.left_out.append(LeftOut(self.file, line.number, what, why))

    def css(self, line: _Line, xpath: str, *, attribute: bool = False) -> Css | None:
        """Return the XPath as CSS, or `None` after reporting why that is not possible."""
        try:
            css = to_css(xpath)
        except NotCss as error:
            self.leave_out(line, str(error))
            return None
        fault = selector_fault(css.selector)
        if not fault and css.attr and not attribute:
            fault = "selects an attribute where an element is needed"
        if fault:
            self.leave_out(line, fault)
            return None
        return css


def read(name: str, text: str) -> Imported:
    """Read the rule of one file, whose name is the host. Raises nothing."""
    draft = _Draft(name)
    trigger = _trigger(name, draft)
    if len(text) > MAX_CHARS:
        draft.left_out.append(LeftOut(name, 1, "the end of the file", f"more than {MAX_CHARS:,} characters"))
    for line in _lines(text[:MAX_CHARS], draft):
        _import_line(line, draft)
    if trigger is None:
        return Imported((), tuple(draft.left_out))
    effects = _effects(draft)
    if not effects:
        draft.left_out.append(LeftOut(name, 0, "the file", "nothing in it could be imported"))
        return Imported((), tuple(draft.left_out))
    (form, host), *_ = trigger.items()
    rule_id = f"fivefilters-{host}"[:70] + ("-below" if form == "ends_with" else "")
    imported = make_rule({"id": rule_id, "phase": "pre", "trigger": {"host": trigger}, **effects}, name)
    return Imported(imported.rules, (*draft.left_out, *imported.left_out))


def _trigger(name: str, draft: _Draft) -> dict[str, str] | None:
    """Return the trigger: `example.com.txt` means the host with and without `www.`, `.example.com.txt` its subdomains."""
    host = name.removesuffix(".txt")
    try:
        normal = hosts.normalise(host.removeprefix("."))
    except hosts.HostError:
        draft.left_out.append(LeftOut(name, 0, "the file", "its name is not a host name"))
        return None
    if "." not in normal:
        draft.left_out.append(LeftOut(name, 0, "the file", "it applies to all sites"))
        return None
    if host.startswith("."):
        draft.left_out.append(LeftOut(name, 0, "only subdomains", f"the rule also applies to {normal} itself"))
        return {"ends_with": normal}
    return {"equals": normal}


def _lines(text: str, draft: _Draft) -> list[_Line]:
    lines: list[_Line] = []
    for number, raw in enumerate(text.splitlines(), 1):
        stripped = raw.strip().lstrip("\ufeff")
        if not stripped or stripped.startswith("#"):
            continue
        match = _LINE.fullmatch(stripped)
        if match is None:
            draft.leave_out(_Line(number, "", None, stripped), "not a `key: value` line")
            continue
        line = _Line(number, match[1].lower(), match[2], match[3].strip())
        if line.value or line.key in ("replace_string", "find_string"):
            lines.append(line)
        else:
            draft.leave_out(line, "no value")
    return lines


def _import_line(line: _Line, draft: _Draft) -> None:
    importer = _IMPORTERS.get(line.key)
    if importer is not None:
        importer(line, draft)
    elif line.key in _UNSUPPORTED:
        draft.leave_out(line, _UNSUPPORTED[line.key])
    else:
        near = nearest(line.key, (*_IMPORTERS, *_UNSUPPORTED))
        draft.leave_out(line, "unknown directive" + (f"; did you mean `{near}`?" if near else ""))


def _body(line: _Line, draft: _Draft) -> None:
    if css := draft.css(line, line.value):
        if len(draft.scopes) == _MAX_SCOPES:
            draft.leave_out(line, f"a rule has at most {_MAX_SCOPES} scopes")
        else:
            draft.scopes.append(css.selector)


def _metadata(line: _Line, draft: _Draft) -> None:
    name = _METADATA[line.key]
    if name in draft.metadata:
        draft.leave_out(line, "a rule has one source per field; the first is used")
    elif css := draft.css(line, line.value, attribute=True):
        draft.metadata[name] = {"selector": css.selector, **({"attr": css.attr} if css.attr else {})}


def _strip(line: _Line, draft: _Draft) -> None:
    if css := draft.css(line, line.value):
        draft.remove.append(css.selector)


def _strip_named(line: _Line, draft: _Draft) -> None:
    word = _quoted_value(line, draft)
    draft.remove += [f"[class*={word}]", f"[id*={word}]"] if word else []


def _strip_image(line: _Line, draft: _Draft) -> None:
    word = _quoted_value(line, draft)
    draft.remove += [f"img[src*={word}]"] if word else []


def _quoted_value(line: _Line, draft: _Draft) -> str:
    try:
        word = quote(line.value.strip("'\""))
    except NotCss as error:
        draft.leave_out(line, str(error))
        return ""
    fault = selector_fault(f"[class*={word}]")
    if fault or word == '""':
        draft.leave_out(line, fault or "no value")
        return ""
    return word


def _strip_attr(line: _Line, draft: _Draft) -> None:
    css = draft.css(line, line.value, attribute=True)
    if css and css.attr:
        draft.actions.append({"op": "remove_attrs", "selector": css.selector, "attrs": [css.attr]})
    elif css:
        draft.leave_out(line, "selects no attribute")


def _page_link(line: _Line, draft: _Draft) -> None:
    css = draft.css(line, line.value, attribute=True)
    if css and css.attr not in (None, "href"):
        draft.leave_out(line, "only an address in `href` is followed")
    elif css:
        draft.links.setdefault(_PAGE_LINKS[line.key], []).append(css.selector)


def _wrap_in(line: _Line, draft: _Draft) -> None:
    css = draft.css(line, line.value)
    if css and line.argument:
        draft.actions.append({"op": "wrap", "selector": css.selector, "wrapper_tag": line.argument.strip().lower()})
    elif css:
        draft.leave_out(line, "no wrapper element named")


def _move_into(line: _Line, draft: _Draft) -> None:
    css = draft.css(line, line.value)
    target = draft.css(line, line.argument or "") if css else None
    if css and target:
        draft.actions.append({"op": "move", "selector": css.selector, "target": target.selector})


_IMPORTERS: Final[dict[str, Callable[[_Line, _Draft], None]]] = {
    "title": _metadata,
    "author": _metadata,
    "date": _metadata,
    "body": _body,
    "next_page_link": _page_link,
    "single_page_link": _page_link,
    "strip": _strip,
    "strip_id_or_class": _strip_named,
    "strip_image_src": _strip_image,
    "strip_attr": _strip_attr,
    "wrap_in": _wrap_in,
    "move_into": _move_into,
}


def _effects(draft: _Draft) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "selector_overrides": dict(zip(("article", "wrapper"), draft.scopes, strict=False)),
        "remove": list(dict.fromkeys(draft.remove)),
        "actions": draft.actions,
        **{key: list(dict.fromkeys(selectors)) for key, selectors in draft.links.items()},
        "metadata": draft.metadata,
    }
    return {key: value for key, value in keys.items() if value}

"""Site config files of FiveFilters (`example.com.txt`) as rules.

A file is `key: value` lines with XPath values and becomes one rule for its host. `body` is the scope, `strip` and its
kin are removals, `title`, `author` and `date` are metadata, `wrap_in` and `move_into` actions. What has no counterpart
here (paging, headers, logins, replacing strings in the source) is told, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pagekeep.rules import hosts
from pagekeep.rules.importers.imported import Imported, LeftOut, make_rule, selector_fault
from pagekeep.rules.importers.xpath import Css, NotCss, quoted, to_css
from pagekeep.rules.kinds import nearest

MAX_CHARACTERS: Final = 200_000

_LINE: Final = re.compile(r"([A-Za-z_]+)\s*(?:\((.*?)\))?\s*:(.*)", re.DOTALL)
_WITHOUT: Final = {
    "single_page_link": "pages are saved as they are found, their other parts are not fetched",
    "next_page_link": "pages are saved as they are found, their other parts are not fetched",
    "if_page_contains": "it belongs to a link to other parts, which are not fetched",
    "find_string": "the source is not changed before it is parsed",
    "replace_string": "the source is not changed before it is parsed",
    "native_ad_clue": "advertisements that look like articles are not told apart",
    "http_header": "headers are given with the call, not by rules",
    "parser": "there is one parser",
    "tidy": "there is one parser",
    "prune": "the part that `body` names is cleaned in any case",
    "autodetect_on_failure": "where the part is not found, the content is always looked for",
    "skip_json_ld": "what rules say wins over JSON-LD in any case",
    "src_lazy_load_attr": "images that load late are found in any case",
    "test_url": "it is a test, not a part of the rule",
    "test_contains": "it is a test, not a part of the rule",
    "requires_login": "logins are not carried over",
    "login_uri": "logins are not carried over",
    "login_username_field": "logins are not carried over",
    "login_password_field": "logins are not carried over",
    "login_extra_fields": "logins are not carried over",
    "not_logged_in_xpath": "logins are not carried over",
}
_METADATA: Final = {"title": "title", "author": "author", "date": "published"}


class _Line(NamedTuple):
    number: int
    key: str
    argument: str | None
    value: str


@dataclass(slots=True)
class _Draft:
    """The rule in the making."""

    file: str
    scopes: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, line: _Line, why: str) -> None:
        what = f"{line.key}: {line.value[:80]}" if line.key else line.value[:80]
        self.left_out.append(LeftOut(self.file, line.number, what, why))

    def css(self, line: _Line, xpath: str, *, attribute: bool = False) -> Css | None:
        """The value in CSS, or `None` after it was told why not."""
        try:
            found = to_css(xpath)
        except NotCss as error:
            self.leave_out(line, str(error))
            return None
        fault = selector_fault(found.selector)
        if not fault and found.attr and not attribute:
            fault = "it names an attribute, where an element is meant"
        if fault:
            self.leave_out(line, fault)
            return None
        return found


def read(name: str, text: str) -> Imported:
    """The rule of one file, whose name says the host. Raises nothing."""
    draft = _Draft(name)
    trigger = _trigger(name, draft)
    if len(text) > MAX_CHARACTERS:
        draft.left_out.append(
            LeftOut(name, 1, "the end of the file", f"it has more than {MAX_CHARACTERS:,} characters")
        )
    for line in _lines(text[:MAX_CHARACTERS], draft):
        _carry(line, draft)
    if trigger is None:
        return Imported((), tuple(draft.left_out))
    effects = _effects(draft)
    if not effects:
        draft.left_out.append(LeftOut(name, 0, "the file", "nothing in it could be carried over"))
        return Imported((), tuple(draft.left_out))
    (form, host), *_ = trigger.items()
    rule_id = f"fivefilters-{host}"[:70] + ("-below" if form == "ends_with" else "")
    made = make_rule({"id": rule_id, "phase": "pre", "trigger": {"host": trigger}, **effects}, name)
    return Imported(made.rules, (*draft.left_out, *made.left_out))


def _trigger(name: str, draft: _Draft) -> dict[str, str] | None:
    """`example.com.txt` is for the host with and without `www.`, `.example.com.txt` for those below it."""
    host = name.removesuffix(".txt")
    try:
        normal = hosts.normal(host.removeprefix("."))
    except hosts.HostError:
        draft.left_out.append(LeftOut(name, 0, "the file", "its name is no host"))
        return None
    if "." not in normal:
        draft.left_out.append(LeftOut(name, 0, "the file", "it is for all sites"))
        return None
    if host.startswith("."):
        draft.left_out.append(LeftOut(name, 0, "only subdomains", f"the rule is for {normal} itself too"))
        return {"ends_with": normal}
    return {"equals": normal}


def _lines(text: str, draft: _Draft) -> list[_Line]:
    lines: list[_Line] = []
    for number, written in enumerate(text.splitlines(), 1):
        stripped = written.strip().lstrip("\ufeff")
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            draft.leave_out(_Line(number, "", None, stripped), "it is no `key: value`")
            continue
        line = _Line(number, found[1].lower(), found[2], found[3].strip())
        if line.value or line.key in ("replace_string", "find_string"):
            lines.append(line)
        else:
            draft.leave_out(line, "it has no value")
    return lines


def _carry(line: _Line, draft: _Draft) -> None:
    carrier = _CARRIERS.get(line.key)
    if carrier is not None:
        carrier(line, draft)
    elif line.key in _WITHOUT:
        draft.leave_out(line, _WITHOUT[line.key])
    else:
        near = nearest(line.key, (*_CARRIERS, *_WITHOUT))
        draft.leave_out(line, "there is no such directive" + (f"; did you mean `{near}`?" if near else ""))


def _body(line: _Line, draft: _Draft) -> None:
    if found := draft.css(line, line.value):
        if len(draft.scopes) == 2:
            draft.leave_out(line, "a rule names two places at most")
        else:
            draft.scopes.append(found.selector)


def _metadata(line: _Line, draft: _Draft) -> None:
    name = _METADATA[line.key]
    if name in draft.metadata:
        draft.leave_out(line, "a rule names one place; the first is kept")
    elif found := draft.css(line, line.value, attribute=True):
        draft.metadata[name] = {"selector": found.selector, **({"attr": found.attr} if found.attr else {})}


def _strip(line: _Line, draft: _Draft) -> None:
    if found := draft.css(line, line.value):
        draft.remove.append(found.selector)


def _strip_named(line: _Line, draft: _Draft) -> None:
    word = _plain_word(line, draft)
    draft.remove += [f"[class*={word}]", f"[id*={word}]"] if word else []


def _strip_image(line: _Line, draft: _Draft) -> None:
    word = _plain_word(line, draft)
    draft.remove += [f"img[src*={word}]"] if word else []


def _plain_word(line: _Line, draft: _Draft) -> str:
    try:
        word = quoted(line.value.strip("'\""))
    except NotCss as error:
        draft.leave_out(line, str(error))
        return ""
    fault = selector_fault(f"[class*={word}]")
    if fault or word == '""':
        draft.leave_out(line, fault or "it has no value")
        return ""
    return word


def _strip_attr(line: _Line, draft: _Draft) -> None:
    found = draft.css(line, line.value, attribute=True)
    if found and found.attr:
        draft.actions.append({"op": "remove_attrs", "selector": found.selector, "attrs": [found.attr]})
    elif found:
        draft.leave_out(line, "it names no attribute")


def _wrap_in(line: _Line, draft: _Draft) -> None:
    found = draft.css(line, line.value)
    if found and line.argument:
        draft.actions.append({"op": "wrap", "selector": found.selector, "wrapper_tag": line.argument.strip().lower()})
    elif found:
        draft.leave_out(line, "it does not say in what")


def _move_into(line: _Line, draft: _Draft) -> None:
    found = draft.css(line, line.value)
    target = draft.css(line, line.argument or "") if found else None
    if found and target:
        draft.actions.append({"op": "move", "selector": found.selector, "target": target.selector})


_CARRIERS: Final[dict[str, Callable[[_Line, _Draft], None]]] = {
    "title": _metadata,
    "author": _metadata,
    "date": _metadata,
    "body": _body,
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
        "metadata": draft.metadata,
    }
    return {key: value for key, value in keys.items() if value}

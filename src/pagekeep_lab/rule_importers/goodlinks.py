"""Import the compact JSON rules of GoodLinks.

The file is an object of rules, alone or in a script (`ck-rules.js`), each under its host, the MD5 of its host, or a selector
that identifies a platform. Hashes are resolved by hashing known hosts; a rule whose hash matches none of them is left out
and reported."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep.rules import hosts
from pagekeep.rules.rule import Rule
from pagekeep.rules.schema import MAX_CHILD_INDEX, MAX_PRIORITY
from pagekeep_lab.rule_importers.imported import Imported, LeftOut, make_rule, selector_fault

MAX_CHARS: Final = 5_000_000
"""A bound against hostile files; a thousand rules take well under a megabyte."""
_MAX_OBJECTS: Final = 1_000
"""Braces of a script that are tried as the start of the rules."""
_MAX_NAME_CHARS: Final = 60
_MAX_KEY_CHARS: Final = 40

_HASH: Final = re.compile("[0-9a-f]{32}")
_UNSAFE: Final = re.compile("[^a-z0-9._-]+")
_SELECTOR_TAGS: Final = frozenset(
    "html body main article section div span header footer aside nav figure p a ul ol li table form h1 h2 h3".split()
)
"""Elements that start a selector which looks like a host: `.post` and `.page` are top-level domains too."""
_WELL_KNOWN: Final = """
    theguardian.com nytimes.com wsj.com cnn.com bbc.com bbc.co.uk washingtonpost.com reuters.com bloomberg.com ft.com
    economist.com newyorker.com theatlantic.com wired.com theverge.com arstechnica.com techcrunch.com vox.com npr.org
    medium.com substack.com wikipedia.org en.wikipedia.org reddit.com old.reddit.com news.ycombinator.com github.com
    stackoverflow.com dev.to react.dev developer.mozilla.org youtube.com twitter.com x.com mastodon.social forbes.com
    businessinsider.com politico.com time.com usatoday.com latimes.com apnews.com axios.com nature.com science.org
    scientificamerican.com nationalgeographic.com smithsonianmag.com spiegel.de zeit.de lemonde.fr elpais.com
""".split()
_METADATA: Final = {
    "t": "title",
    "a": "author",
    "d": "published",
    "p": "published",
    "date": "published",
    "i": "hero_image",
    "image": "hero_image",
    "s": "site_name",
}
_FIELDS: Final = ("title", "author", "published", "modified", "description", "site_name", "hero_image", "language")


@dataclass(slots=True)
class _Draft:
    """A rule being built, and what was left out of it."""

    name: str
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, what: str, why: str) -> None:
        self.left_out.append(LeftOut(self.name, 0, what, why))

    def selectors(self, value: Any, what: str) -> list[str]:
        """Return the valid ones of one selector or a list; the others are reported."""
        good: list[str] = []
        for item in value if isinstance(value, list) else [value]:
            fault = selector_fault(item) if isinstance(item, str) else "not a selector"
            if fault:
                self.leave_out(what, fault)
            else:
                good.append(item.strip())
        return good

    def selector(self, value: Any, what: str) -> str | None:
        return ", ".join(self.selectors(value, what)) or None


def read(name: str, text: str, known_hosts: Iterable[str] = (), rules: Iterable[Rule] = ()) -> Imported:
    """Read the rules of one file; hashes are looked up among the known hosts, the hosts of other rules and well-known ones."""
    if len(text) > MAX_CHARS:
        return _reject(name, f"more than {MAX_CHARS:,} characters")
    try:
        data = _parse(text)
    except (ValueError, RecursionError):
        return _reject(name, "neither valid JSON nor JavaScript with the rules as JSON in it")
    if not isinstance(data, Mapping):
        return _reject(name, "not a JSON object of rules")
    hashes = {_md5(host): host for host in _candidates(known_hosts, rules)}
    return Imported.merge(_rule(name, str(key), value, hashes) for key, value in data.items())


def _parse(text: str) -> Any:
    """Return the JSON of a file: all of it, or the largest object in a script such as `const rules = {...};`."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    decoder, at = json.JSONDecoder(), 0
    found: list[tuple[int, Any]] = []
    for _ in range(_MAX_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            data, end = decoder.raw_decode(text, at)
        except ValueError:
            at += 1  # the brace of a function or a block
        else:
            if data and all(isinstance(value, Mapping) for value in data.values()):
                found.append((end - at, data))
            at = end
    if not found:
        raise ValueError("no JSON object")
    return max(found, key=lambda pair: pair[0])[1]


def _reject(name: str, why: str) -> Imported:
    return Imported((), (LeftOut(name, 0, "the file", why),))


def _candidates(known: Iterable[str], rules: Iterable[Rule]) -> Iterator[str]:
    for host in (*_WELL_KNOWN, *_hosts_of(rules), *known):
        try:
            bare = hosts.without_www(hosts.normalise(host))
        except hosts.HostError:
            continue
        yield from (bare, f"www.{bare}")


def _hosts_of(rules: Iterable[Rule]) -> Iterator[str]:
    for host in (rule.trigger.host for rule in rules):
        if host:
            yield from (*host.equals, *host.equals_www, *host.ends_with, *host.etld_plus_one)


def _md5(host: str) -> str:
    return hashlib.md5(host.encode("ascii"), usedforsecurity=False).hexdigest()


def _rule(file: str, key: str, value: Any, hashes: Mapping[str, str]) -> Imported:
    draft = _Draft(f"{file} {key[:_MAX_NAME_CHARS]}")
    trigger = _trigger(key, hashes, draft)
    if not isinstance(value, Mapping):
        draft.leave_out("the rule", "not a JSON object")
    if trigger is None or not isinstance(value, Mapping):
        return Imported((), tuple(draft.left_out))
    data = {"id": _id(key, hashes), "phase": "pre", "trigger": trigger, **_body(value, draft)}
    if len(data) == len(("id", "phase", "trigger")):
        draft.leave_out("the rule", "nothing in it could be imported")
        return Imported((), tuple(draft.left_out))
    imported = make_rule(data, file)
    return Imported(imported.rules, (*draft.left_out, *imported.left_out))


def _id(key: str, hashes: Mapping[str, str]) -> str:
    name = hashes.get(key.lower(), key).lower()
    return "goodlinks-" + (_UNSAFE.sub("-", name).strip("-.") or "rule")[:_MAX_NAME_CHARS]


def _trigger(key: str, hashes: Mapping[str, str], draft: _Draft) -> dict[str, Any] | None:
    if _HASH.fullmatch(key.lower()):
        host = hashes.get(key.lower())
        if host is None:
            draft.leave_out("the rule", "unknown host; add it to a list of hosts")
            return None
        return {"host": {"equals": host}}
    if host := _as_host(key):
        return {"host": {"equals": host}}
    selector = draft.selector(key, "the signature")
    return {"dom": {"any": selector}} if selector else None


def _as_host(key: str) -> str | None:
    """Return the host that a key names (`example.com`), or `None` for a selector such as `article.post`."""
    try:
        host = hosts.normalise(key)
    except hosts.HostError:
        return None
    is_host = host.partition(".")[0] not in _SELECTOR_TAGS and hosts.has_known_suffix(host)
    return hosts.without_www(host) if is_host else None


def _body(value: Mapping[str, Any], draft: _Draft) -> dict[str, Any]:
    data: dict[str, Any] = {}
    scope: dict[str, Any] = {}
    for key, item in value.items():
        match key:
            case "a" | "we":
                scope["article" if key == "a" else "wrapper"] = draft.selector(item, key)
            case "e" | "i":
                data["remove" if key == "e" else "include"] = draft.selectors(item, key)
            case "d":
                data["discard"] = bool(item)
            case "p" if isinstance(item, int):
                data["priority"] = max(-MAX_PRIORITY, min(MAX_PRIORITY, int(item)))
            case "m":
                data["metadata"] = _metadata(item, draft)
            case "ac":
                data["actions"] = _actions(item, draft)
            case "ea":
                if item and "a" not in value:
                    draft.leave_out("ea", "a rule for the whole page needs a selector")
            case _:
                draft.leave_out(str(key)[:_MAX_KEY_CHARS], "unknown key")
    scope = {name: selector for name, selector in scope.items() if selector}
    return {name: part for name, part in {**data, "selector_overrides": scope}.items() if part}


def _metadata(value: Any, draft: _Draft) -> dict[str, Any]:
    sources: dict[str, Any] = {}
    if not isinstance(value, Mapping):
        draft.leave_out("m", "not a JSON object")
        return sources
    for key, place in value.items():
        name = key if key in _FIELDS else _METADATA.get(str(key))
        attr = place.get("a", place.get("attr")) if isinstance(place, Mapping) else None
        raw_selector = place.get("s", place.get("selector")) if isinstance(place, Mapping) else place
        selector = draft.selector(raw_selector, f"m.{key}") if name else None
        if name is None:
            draft.leave_out(f"m.{str(key)[:_MAX_KEY_CHARS]}", "unknown field")
        elif selector:
            sources[name] = {"selector": selector, **({"attr": attr} if isinstance(attr, str) else {})}
    return sources


def _actions(value: Any, draft: _Draft) -> list[dict[str, Any]]:
    """Return the actions, highest priority first."""
    actions: list[tuple[int, dict[str, Any]]] = []
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        what = f"ac[{number}]"
        if not isinstance(item, Mapping):
            draft.leave_out(what, "not a JSON object")
            continue
        selector = draft.selector(item.get("s"), f"{what}.s")
        priority = item["p"] if isinstance(item.get("p"), int) else 0
        actions += [(priority, {"selector": selector, **change}) for change in _changes(item, what, draft) if selector]
    return [action for _, action in sorted(actions, key=lambda pair: -pair[0])]


def _changes(item: Mapping[str, Any], what: str, draft: _Draft) -> Iterator[dict[str, Any]]:
    """Convert one GoodLinks action, which may do several things, to our actions."""
    if not any(key in item for key in (*_CHANGES, "t", "tp")):
        draft.leave_out(what, "no known operation")
    for key, make in _CHANGES.items():
        if item.get(key) and (change := make(item[key], draft, f"{what}.{key}")):
            yield change
    target = item.get("tp") or item.get("t")
    if target and (selector := draft.selector(target, f"{what}.tp")):
        yield {"op": "move", "target": selector, **_position(item.get("ts"))}
    for key in item:
        if key not in _CHANGES and key not in ("s", "p", "t", "tp", "ts"):
            draft.leave_out(f"{what}.{str(key)[:_MAX_KEY_CHARS]}", "unknown key")


def _position(slot: Any) -> dict[str, Any]:
    if isinstance(slot, int) and not isinstance(slot, bool) and 0 <= slot <= MAX_CHILD_INDEX:
        return {"position": "index", "index": slot}
    return {"position": slot} if slot in ("append", "prepend", "before", "after") else {}


def _retag(value: Any, draft: _Draft, what: str) -> dict[str, Any] | None:
    return {"op": "retag", "tag": str(value).lower()}


def _remove_to(value: Any, draft: _Draft, what: str) -> dict[str, Any] | None:
    parent = draft.selector(value, what)
    return {"op": "remove_to_parent", "parent": parent} if parent else None


def _remove_attrs(value: Any, draft: _Draft, what: str) -> dict[str, Any] | None:
    return {"op": "remove_attrs", "attrs": [str(name) for name in (value if isinstance(value, list) else [value])]}


def _group(value: Any, draft: _Draft, what: str) -> dict[str, Any] | None:
    return {"op": "group_siblings", "wrapper_tag": value.lower() if isinstance(value, str) else "div"}


_CHANGES: Final[dict[str, Callable[[Any, _Draft, str], dict[str, Any] | None]]] = {
    "rt": _retag,
    "rc": lambda value, draft, what: {"op": "remove_container"},
    "rp": lambda value, draft, what: {"op": "remove_parent"},
    "rop": lambda value, draft, what: {"op": "remove_outer_parent"},
    "rtp": _remove_to,
    "ra": _remove_attrs,
    "g": _group,
    "gs": _group,
}

"""Every key of a rule in one table: its kind, whether it must be there, and what it is for.

The loader reads by it, `schema` publishes it for editors, and the reference in the docs is made from it.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, Final, get_args

from pagekeep.rules import rule
from pagekeep.rules.kinds import (
    Cases,
    Choice,
    Group,
    HostName,
    Key,
    ListOf,
    Nullable,
    OneOrMore,
    Pattern,
    Selector,
    Share,
    Switch,
    Text,
    Whole,
    WordOr,
)

_HIDING = "script style template noscript iframe textarea title xmp plaintext noembed noframes select option head html"
_VOID = "area base br col embed hr img input link meta source track wbr"

_ID: Final = Pattern(re.compile("[a-z0-9][a-z0-9._-]{0,79}"), "a short name in lower case, such as `example-com`")
_TAG: Final = Pattern(
    re.compile("[a-z][a-z0-9-]{0,39}"),
    "the name of an element that may hold text, such as `figure`",
    frozenset(f"{_HIDING} {_VOID}".split()),
    "This one would hide what is in it.",
)
_ATTRIBUTE: Final = Pattern(
    re.compile("[A-Za-z_][A-Za-z0-9_.:-]{0,79}"), "the name of an attribute, such as `datetime`"
)
_CLASS: Final = Pattern(re.compile("[A-Za-z_-][A-Za-z0-9_-]{0,79}"), "the name of a class")
_HOSTS: Final = OneOrMore(HostName())
_SELECTOR: Final = Selector()
_SELECTORS: Final = OneOrMore(_SELECTOR)

_HOST_FORMS: Final = ("equals", "equals_www", "ends_with", "etld_plus_one")
_DOM_FORMS: Final = ("any", "all", "any_text_contains")

HOST: Final = Group(
    "the hosts a rule is for",
    (
        Key("equals", _HOSTS, "The host, with or without `www.` before it."),
        Key("equals_www", _HOSTS, "The host exactly as written: `www.example.com` is not `example.com`."),
        Key("ends_with", _HOSTS, "The host and every host below it, by whole labels."),
        Key("etld_plus_one", _HOSTS, "The registered domain by the public suffix list, such as `bbc.co.uk`."),
    ),
    rule.HostTrigger,
    _HOST_FORMS,
)

DOM: Final = Group(
    "what the page must hold",
    (
        Key("any", _SELECTORS, "At least one of these selectors finds something."),
        Key("all", _SELECTORS, "Every one of these selectors finds something."),
        Key("any_text_contains", OneOrMore(Text()), "At least one of these texts stands in the page."),
    ),
    rule.DomTrigger,
    _DOM_FORMS,
)

TRIGGER: Final = Group(
    "a trigger",
    (
        Key(
            "mode",
            Choice(get_args(rule.TriggerMode)),
            "Whether both must hold or one is enough, where host and dom are both given.",
            default="all",
        ),
        Key("host", HOST, "Hosts the rule is for; one that fits is enough."),
        Key("dom", DOM, "What the page must hold: the raw page in `pre`, the extracted content in `post`."),
    ),
    rule.Trigger,
    ("host", "dom"),
)

RENDERING: Final = Group(
    "how the page is to be fetched",
    (
        Key(
            "mode",
            Choice(get_args(rule.RenderMode)),
            "In the browser always, never, or when the page needs it.",
            default="auto",
        ),
        Key("wait_for", _SELECTOR, "What must be there before a page in the browser is read."),
        Key("timeout", Whole(100, 120_000), "Milliseconds for the browser."),
    ),
    rule.Rendering,
)

SCOPE: Final = Group(
    "the part of the page that is looked at",
    (
        Key("wrapper", _SELECTOR, "The part that holds the content; nothing outside is seen."),
        Key("article", _SELECTOR, "The content itself; preferred over the wrapper where both are found."),
    ),
    rule.Scope,
    ("wrapper", "article"),
)

QUALITY: Final = Group(
    "what a good result looks like",
    (
        Key("min_words", Whole(0, 100_000), "Words from which a result counts as an article."),
        Key("max_link_density", Share(), "Share of the text that may stand in links."),
    ),
    rule.Thresholds,
    ("min_words", "max_link_density"),
)

_STATED: Final = Group(
    "where the page states it",
    (
        Key("selector", _SELECTOR, "The element that states it.", required=True),
        Key("attr", Nullable(_ATTRIBUTE), "The attribute that holds it; without one, the element's text."),
    ),
    rule.MetadataSource,
)

METADATA: Final = Group(
    "where the page states what",
    tuple(
        Key(
            name,
            WordOr(get_args(rule.Unstated)[0], _STATED),
            f"Where the page states its {name.replace('_', ' ')}; `none` where what it says is not to be believed.",
        )
        for name in get_args(rule.MetadataField)
    ),
    lambda **sources: MappingProxyType(sources),
    get_args(rule.MetadataField),
)

_ON: Final = Key("selector", _SELECTOR, "The elements to change.", required=True)
_NEW_TAG: Final = Key("tag", _TAG, "The new name.", required=True)
_WRAPPER_TAG: Final = Key("wrapper_tag", _TAG, "The element to put around.", required=True)
_NEW_CLASS: Final = Key("class", _CLASS, "A class for the new element.")
_PARENT: Final = Key("parent", _SELECTOR, "The ancestor to go up to.", required=True)
_TARGET: Final = Key("target", _SELECTOR, "Where to; the first element it finds.", required=True)
_POSITION: Final = Key("position", Choice(get_args(rule.Position)), "Where in or beside the target.", default="append")
_INDEX: Final = Key("index", Whole(0, 10_000), "Which child to become, from 0; only with `position: index`.")
_ATTRS: Final = Key("attrs", OneOrMore(_ATTRIBUTE), "The attributes to take away.", required=True)
_ATTR: Final = Key("attr", _ATTRIBUTE, "The attribute to set.", required=True)
_VALUE: Final = Key("value", Text(empty_allowed=True), "What it is to hold.", required=True)
_TEMPLATE: Final = Key(
    "template", Text(), "The text; `{src}` stands for what the attribute `src` holds.", required=True
)
_METHOD: Final = Key("method", Choice(get_args(rule.ReorderMethod)), "Where among its siblings.", required=True)

_OPERATIONS: Final[dict[rule.Op, tuple[str, tuple[Key, ...]]]] = {
    "retag": ("Give elements another name.", (_ON, _NEW_TAG)),
    "wrap": ("Put an element around each.", (_ON, _WRAPPER_TAG, _NEW_CLASS)),
    "unwrap": ("Take elements away and keep what is in them.", (_ON,)),
    "remove_container": ("The same as `unwrap`.", (_ON,)),
    "remove_children": ("Take away the elements in these and keep their text.", (_ON,)),
    "remove_parent": ("Take away the element around each and keep what is in it.", (_ON,)),
    "remove_outer_parent": ("Take away the element around the element around each.", (_ON,)),
    "remove_to_parent": ("Take away all elements between each and an ancestor.", (_ON, _PARENT)),
    "move": ("Put elements elsewhere.", (_ON, _TARGET, _POSITION, _INDEX)),
    "remove_attrs": ("Take attributes away.", (_ON, _ATTRS)),
    "set_attr": ("Set an attribute.", (_ON, _ATTR, _VALUE)),
    "replace_with_text": ("Put a text in the place of each.", (_ON, _TEMPLATE)),
    "group_siblings": ("Put one element around neighbours.", (_ON, _WRAPPER_TAG, _NEW_CLASS)),
    "reorder": ("Put elements first or last among their siblings.", (_ON, _METHOD)),
}


def _action(**values: Any) -> rule.Action:
    if "class" in values:
        values["class_"] = values.pop("class")
    return rule.Action(**values)


def _operation(op: str, what: str, keys: tuple[Key, ...]) -> Group:
    return Group(op, (Key("op", Choice((op,)), what, required=True), *keys), _action)


ACTION: Final = Cases("op", {op: _operation(op, what, keys) for op, (what, keys) in _OPERATIONS.items()})

EFFECTS: Final = (
    *("rendering", "selector_overrides", "remove", "include", "actions", "metadata", "quality", "discard"),
)
"""The keys by which a rule does something."""

RULE: Final = Group(
    "a rule",
    (
        Key("id", _ID, "A name of its own.", required=True),
        Key(
            "phase",
            Choice(get_args(rule.Phase)),
            "Before the content is looked for, on what was found, or both.",
            required=True,
        ),
        Key("priority", Whole(-1_000, 1_000), "Higher runs first within a phase.", default=50),
        Key("trigger", TRIGGER, "When the rule applies.", required=True),
        Key("rendering", RENDERING, "How pages of these hosts are fetched."),
        Key("selector_overrides", SCOPE, "The part of the page that is all the extractor sees."),
        Key("remove", _SELECTORS, "Elements to take away with all that is in them."),
        Key("include", _SELECTORS, "Elements to keep, though the extractor left them out."),
        Key("actions", ListOf(ACTION), "Changes of the tree, in order."),
        Key("metadata", METADATA, "Where the page states what; wins over all else."),
        Key("quality", QUALITY, "What a good result of this site looks like."),
        Key("discard", Switch(), "Keep only a record that the page was left out.", default=False),
    ),
    rule.Rule,
    EFFECTS,
)

"""Every key of a rule: its type, whether it is required, and its help text.

The loader reads rule files by it, `schema` publishes it for editors, and `docs/rules.md` is generated from it.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, Final, get_args

from pagekeep.rules import rule
from pagekeep.rules.value_types import (
    Cases,
    Choice,
    Group,
    HostName,
    JsonSchema,
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

_INVISIBLE_TAGS = (
    "script style template noscript iframe textarea title xmp plaintext noembed noframes select option head html"
)
_VOID_TAGS = "area base br col embed hr img input link meta source track wbr"

_ID: Final = Pattern(re.compile("[a-z0-9][a-z0-9._-]{0,79}"), "a short lower-case name such as `example-com`")
_TAG: Final = Pattern(
    re.compile("[a-z][a-z0-9-]{0,39}"),
    "the name of an element that can contain text, such as `figure`",
    frozenset(f"{_INVISIBLE_TAGS} {_VOID_TAGS}".split()),
    "This element would hide its content.",
)
_ATTRIBUTE: Final = Pattern(re.compile("[A-Za-z_][A-Za-z0-9_.:-]{0,79}"), "an attribute name such as `datetime`")
_CLASS: Final = Pattern(re.compile("[A-Za-z_-][A-Za-z0-9_-]{0,79}"), "a class name")
# Bounds against slips of the keyboard; every shipped rule is far inside them.
_MIN_TIMEOUT_MS: Final = 100
_MAX_TIMEOUT_MS: Final = 120_000
_MAX_WORDS: Final = 100_000
MAX_CHILD_INDEX: Final = 10_000
MAX_PRIORITY: Final = 1_000

_HOSTS: Final = OneOrMore(HostName())
_SELECTOR: Final = Selector()
_SELECTORS: Final = OneOrMore(_SELECTOR)

_HOST_FORMS: Final = ("equals", "equals_www", "ends_with", "etld_plus_one")
_DOM_FORMS: Final = ("any", "all", "any_text_contains")

HOST: Final = Group(
    "the hosts the rule applies to",
    (
        Key("equals", _HOSTS, "The host, with or without a leading `www.`."),
        Key("equals_www", _HOSTS, "The exact host: `www.example.com` does not match `example.com`."),
        Key("ends_with", _HOSTS, "The host and all its subdomains."),
        Key("etld_plus_one", _HOSTS, "The registered domain by the public suffix list, such as `bbc.co.uk`."),
    ),
    rule.HostTrigger,
    _HOST_FORMS,
)

DOM: Final = Group(
    "what the page must contain",
    (
        Key("any", _SELECTORS, "At least one of these selectors matches."),
        Key("all", _SELECTORS, "All of these selectors match."),
        Key("any_text_contains", OneOrMore(Text()), "The page contains at least one of these texts; case is ignored."),
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
            "Whether host and dom must both match (`all`) or one is enough (`any`).",
            default="all",
        ),
        Key("host", HOST, "Hosts the rule applies to; one match is enough."),
        Key("dom", DOM, "What the page must contain: the raw page in `pre`, the extracted content in `post`."),
    ),
    rule.Trigger,
    ("host", "dom"),
)

RENDERING: Final = Group(
    "how to fetch the page",
    (
        Key(
            "mode",
            Choice(get_args(rule.RenderMode)),
            "Render the page in the browser always, never, or when needed.",
            default="auto",
        ),
        Key("wait_for", _SELECTOR, "Wait until this selector matches before reading the rendered page."),
        Key("timeout", Whole(_MIN_TIMEOUT_MS, _MAX_TIMEOUT_MS), "Time limit for the browser, in milliseconds."),
    ),
    rule.Rendering,
)

SCOPE: Final = Group(
    "the part of the page to extract from",
    (
        Key("wrapper", _SELECTOR, "The part that contains the content; everything outside is ignored."),
        Key("article", _SELECTOR, "The content itself; preferred over the wrapper when both match."),
    ),
    rule.Scope,
    ("wrapper", "article"),
)

_MESSAGE_SOURCE: Final = Group(
    "where a message states it",
    (
        Key("selector", _SELECTOR, "The element in the message; without it, the message itself."),
        Key("attrs", OneOrMore(_ATTRIBUTE), "The attributes that contain it; without any, the element's text."),
        Key("unit", Text(), "A word to write after a bare number, such as `points`."),
    ),
    rule.MessageSource,
    ("selector", "attrs"),
)

_SPEAKER: Final = Group(
    "who says the messages that a selector matches",
    (
        Key("selector", _SELECTOR, "The messages, or an element in them.", required=True),
        Key("name", Text(), "The name to show.", required=True),
    ),
    rule.Speaker,
)

THREAD: Final = Group(
    "the messages of a thread",
    (
        Key("message", _SELECTOR, "Each message; one inside another is a reply to it.", required=True),
        Key("text", _SELECTOR, "The text in a message.", required=True),
        Key(
            "style",
            Choice(get_args(rule.ThreadStyle)),
            "A post and `comments` on it, `messages` of equal rank (mail), or the turns of a `chat`.",
            default="comments",
        ),
        Key("post", _SELECTOR, "What the comments are about; without it, the first message."),
        Key("self_replies", Switch(), "The author's next messages belong to the first one.", default=False),
        Key("author", _MESSAGE_SOURCE, "Who wrote a message."),
        Key("speakers", ListOf(_SPEAKER), "Names for messages that do not state their author."),
        Key("date", _MESSAGE_SOURCE, "When it was written; of an ISO date or a Unix time, the day is shown."),
        Key("link", _MESSAGE_SOURCE, "Its own address; without it, the link at its date."),
        Key("score", _MESSAGE_SOURCE, "Its points or votes."),
        Key("depth", _MESSAGE_SOURCE, "How far it is indented, a number, where replies are not inside each other."),
        Key("citations", _SELECTOR, "Links to sources in the text, which become footnotes."),
    ),
    rule.Thread,
)

QUALITY: Final = Group(
    "quality thresholds",
    (
        Key("min_words", Whole(0, _MAX_WORDS), "Fewest words of a result that counts as an article."),
        Key("max_link_density", Share(), "Largest share of the text that may be in links."),
    ),
    rule.Thresholds,
    ("min_words", "max_link_density"),
)

_SOURCE: Final = Group(
    "where the page states the field",
    (
        Key("selector", _SELECTOR, "The element that states it.", required=True),
        Key("attr", Nullable(_ATTRIBUTE), "The attribute that contains it; without one, the element's text."),
    ),
    rule.MetadataSource,
)

METADATA: Final = Group(
    "where the page states its metadata",
    tuple(
        Key(
            name,
            WordOr(get_args(rule.NoSource)[0], _SOURCE),
            f"Where the page states its {name.replace('_', ' ')}; `none` to ignore what it states.",
        )
        for name in get_args(rule.MetadataField)
    ),
    lambda **sources: MappingProxyType(sources),
    get_args(rule.MetadataField),
)

_ON: Final = Key("selector", _SELECTOR, "The elements to change.", required=True)
_NEW_TAG: Final = Key("tag", _TAG, "The new name.", required=True)
_WRAPPER_TAG: Final = Key("wrapper_tag", _TAG, "The name of the new wrapper element.", required=True)
_NEW_CLASS: Final = Key("class", _CLASS, "A class for the new element.")
_PARENT: Final = Key("parent", _SELECTOR, "The ancestor to stop at.", required=True)
_TARGET: Final = Key("target", _SELECTOR, "Where to move them: the first element that matches.", required=True)
_POSITION: Final = Key(
    "position", Choice(get_args(rule.Position)), "Position in or beside the target.", default="append"
)
_INDEX: Final = Key(
    "index", Whole(0, MAX_CHILD_INDEX), "Position among the target's children, from 0; only with `position: index`."
)
_ATTRS: Final = Key("attrs", OneOrMore(_ATTRIBUTE), "The attributes to remove.", required=True)
_ATTR: Final = Key("attr", _ATTRIBUTE, "The attribute to set.", required=True)
_VALUE: Final = Key("value", Text(empty_allowed=True), "The new value.", required=True)
_TEMPLATE: Final = Key(
    "template", Text(), "The text; `{src}` is replaced by the value of the attribute `src`.", required=True
)
_METHOD: Final = Key(
    "method", Choice(get_args(rule.ReorderMethod)), "Where to move it among its siblings.", required=True
)

_DATA_ATTR: Final = Key("attr", _ATTRIBUTE, "The attribute that contains the data; without it, the element's text.")
_AFTER: Final = Key("after", Text(), "The text in front of the data, such as `window.state =`.")
_PATH: Final = Key("path", Text(), "Keys and indexes that lead to the text, such as `0.post.body`.", required=True)
_FORMAT: Final = Key(
    "format", Choice(get_args(rule.DataFormat)), "How the text is written: plain, HTML or BBCode.", default="text"
)

_OPERATIONS: Final[dict[rule.Op, tuple[str, tuple[Key, ...]]]] = {
    "retag": ("Rename elements.", (_ON, _NEW_TAG)),
    "wrap": ("Wrap each element in a new one.", (_ON, _WRAPPER_TAG, _NEW_CLASS)),
    "unwrap": ("Remove elements but keep their content.", (_ON,)),
    "remove_container": ("The same as `unwrap`.", (_ON,)),
    "remove_children": ("Remove the elements inside but keep their text.", (_ON,)),
    "remove_parent": ("Remove the parent of each element but keep the parent's content.", (_ON,)),
    "remove_outer_parent": ("Remove the grandparent of each element but keep the grandparent's content.", (_ON,)),
    "remove_to_parent": (
        "Remove all elements between each element and an ancestor but keep their content.",
        (_ON, _PARENT),
    ),
    "move": ("Move elements.", (_ON, _TARGET, _POSITION, _INDEX)),
    "remove_attrs": ("Remove attributes.", (_ON, _ATTRS)),
    "set_attr": ("Set an attribute.", (_ON, _ATTR, _VALUE)),
    "replace_with_text": ("Replace each element with text.", (_ON, _TEMPLATE)),
    "group_siblings": ("Wrap adjacent elements in one new element.", (_ON, _WRAPPER_TAG, _NEW_CLASS)),
    "reorder": ("Move elements to the start or end of their siblings.", (_ON, _METHOD)),
    "insert_data": (
        "Insert a text that an element has as JSON after the element.",
        (_ON, _DATA_ATTR, _AFTER, _PATH, _FORMAT, _NEW_CLASS),
    ),
    "break_lines": ("Turn the line feeds in their text into line breaks.", (_ON,)),
}


def _action(**values: Any) -> rule.Action:
    if "class" in values:
        values["class_"] = values.pop("class")
    return rule.Action(**values)


def _operation(op: str, what: str, keys: tuple[Key, ...]) -> Group:
    return Group(op, (Key("op", Choice((op,)), what, required=True), *keys), _action)


ACTION: Final = Cases("op", {op: _operation(op, what, keys) for op, (what, keys) in _OPERATIONS.items()})

EFFECTS: Final = (
    *("rendering", "selector_overrides", "thread", "remove", "include", "actions", "next_page", "single_page"),
    *("metadata", "quality", "discard"),
)
"""The keys that make a rule do something."""

RULE: Final = Group(
    "a rule",
    (
        Key("id", _ID, "A unique name.", required=True),
        Key(
            "phase",
            Choice(get_args(rule.Phase)),
            "Before extraction (`pre`), on the extracted content (`post`), or both.",
            required=True,
        ),
        Key("priority", Whole(-MAX_PRIORITY, MAX_PRIORITY), "Higher runs first within a phase.", default=50),
        Key("trigger", TRIGGER, "When the rule applies.", required=True),
        Key("rendering", RENDERING, "How to fetch pages of these hosts."),
        Key("selector_overrides", SCOPE, "The part of the page that the extractor sees."),
        Key("thread", THREAD, "The messages of a discussion, a mail thread or a chat; they are the content."),
        Key("remove", _SELECTORS, "Elements to remove with their content."),
        Key("include", _SELECTORS, "Elements to keep even if the extractor leaves them out."),
        Key("actions", ListOf(ACTION), "Changes to the tree, in order."),
        Key(
            "next_page",
            _SELECTORS,
            "The link to the next page of an article over several pages, in the page as it came.",
        ),
        Key(
            "single_page", _SELECTORS, "The link to all of an article on one page, which is used instead of the pages."
        ),
        Key("metadata", METADATA, "Where the page states its metadata; overrides everything else."),
        Key("quality", QUALITY, "Quality thresholds for this site."),
        Key("discard", Switch(), "Save only a record that the page was discarded.", default=False),
        Key(
            "basis",
            Choice(get_args(rule.Basis)),
            "Why a rule is shipped: it gains on pages it was not written with (`measured`), or it knows a site or platform"
            " that many people save pages of (`platform knowledge`).",
        ),
    ),
    rule.Rule,
    EFFECTS,
)


def schema() -> JsonSchema:
    """Return the JSON Schema (draft 2020-12) of a rule file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pagekeep rules",
        "description": "What is special about a site or platform, and what to do about it.",
        "type": ["array", "null"],
        "items": RULE.schema(),
    }

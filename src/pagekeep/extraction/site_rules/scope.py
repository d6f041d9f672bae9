"""Find the part of a page that a rule limits extraction to, or the messages of a thread that it names.

A thread is written in one way: a post is followed by a rule, a heading and its comments: quotes that begin with author, date
and score, each reply in the quote it replies to. Messages of equal rank are such quotes alone; turns of a chat are separated
by rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urljoin, urlsplit

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import THREAD_CLASS, ScopeKind
from pagekeep.extraction.metadata.dates import to_iso
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, count_words, outermost, select_all
from pagekeep.model import RuleEffect
from pagekeep.rules.rule import MessageSource, Rule, Thread
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass


@dataclass(slots=True)
class Message:
    """A message as the page shows it."""

    node: dom.Element
    level: int = 0
    author: str = ""
    date: str = ""
    link: str = ""
    score: str = ""
    texts: list[dom.Element] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FoundThread:
    """A thread's post and messages, still in the page."""

    thread: Thread
    post: tuple[dom.Element, ...]
    messages: tuple[Message, ...]
    citations: tuple[dom.Element, ...] = ()
    """Links to sources in the texts, which footnotes replace."""

    def parts(self) -> tuple[dom.Element, ...]:
        """Return the elements with the thread's texts."""
        return (*self.post, *(text for message in self.messages for text in message.texts))

    def opening(self) -> Message | None:
        """Return the message that is the post, if one is."""
        is_first = self.thread.style == "comments" and not self.post
        return self.messages[0] if is_first and self.messages else None

    def write(self) -> dom.Element:
        """Move post and messages into one new element."""
        thread, messages = self.thread, list(self.messages)
        for part in self.parts():
            _shape(part)
            if thread.style == "messages":
                _drop_quoted_end(part)
        root = dom.element("div", {"class": THREAD_CLASS}, *self.post)
        if thread.style == "chat":
            _write_turns(root, messages)
        else:
            if self.opening():
                messages = _write_first(root, messages, self_replies=thread.self_replies)
            if thread.style == "comments" and messages and root.children:
                dom.append(root, dom.element("hr"), dom.element("h2", {"class": HEADING_CLASS}, HEADING))
            _write_quotes(root, messages)
        if self.citations:
            _write_citations(root, self.citations)
        return root


@dataclass(frozen=True, slots=True)
class FoundScope:
    """The elements that a rule's scope matches."""

    parts: tuple[dom.Element, ...]
    kind: ScopeKind
    """An `article` is the content, apart from boilerplate in it; in a `wrapper` the content is still to be located."""
    thread: FoundThread | None = None
    """The thread that the elements are the texts of."""

    def take(self) -> dom.Element:
        """Return the element, or move several into one new element, in order.

        Call it after everything that needs the whole page: moving leaves the page empty.
        """
        if self.thread:
            return self.thread.write()
        return self.parts[0] if len(self.parts) == 1 else dom.element("div", None, *self.parts)


def find_scope(
    body: dom.Element, rule: Rule, url: str | None = None
) -> tuple[FoundScope | None, tuple[RuleEffect, ...]]:
    """Return the rule's thread if it is there, else its article, else its wrapper, with the effects."""
    effects: list[RuleEffect] = []
    if rule.thread:
        found = find_thread(body, rule.thread, url)
        count, words = (len(found.messages), count_words(found.parts())) if found else (0, 0)
        effects.append(RuleEffect("thread", rule.thread.message, count, words, "" if found else NOTHING_FOUND))
        if found:
            return FoundScope(found.parts(), "article", found), tuple(effects)
    scope = rule.selector_overrides
    if scope is None:
        return None, tuple(effects)
    pairs: tuple[tuple[ScopeKind, str | None], ...] = (("article", scope.article), ("wrapper", scope.wrapper))
    for kind, selector in pairs:
        if selector is None:
            continue
        nodes = select_all(body, selector)
        parts = list(outermost(nodes or [], selector))
        if any(dom.text_of(part).strip() for part in parts):
            effects.append(RuleEffect("scope", selector, len(parts), count_words(parts), kind))
            return FoundScope(tuple(parts), kind), tuple(effects)
        effects.append(RuleEffect("scope", selector, len(parts), 0, BAD_SELECTOR if nodes is None else NOTHING_FOUND))
    return None, tuple(effects)


HEADING: Final = "Comments"
HEADING_CLASS: Final = "comments"
_POST_CLASS: Final = "forum-post"
_BOXES: Final = frozenset("div span section article header td li font".split())
_INLINE: Final = frozenset("span a font b i u em strong".split())
MAX_LEVELS: Final = 40
"""Replies below this level are written beside each other: deeper quotes are unreadable."""
_MAX_CHARS: Final = 120
"""Characters of an author, a date or a score; more is not one."""
_ISO_DAY: Final = compile_lazily(r"\d{4}-\d{2}-\d{2}(?=$|[T ])")
_UNIX_TIME: Final = compile_lazily(r"\d{10}(?:\d{3})?(?:\.\d+)?")
_NUMBER: Final = compile_lazily(r"-?\d+(?:\.\d+)?")
_BARE_NUMBER: Final = compile_lazily(r"-?[\d.,]+[kKmM]?")
_SECONDS_DIGITS: Final = 10
_SHORT_DATE_CHARS: Final = 32
"""A date is at most this long; a longer one has a weekday and a time zone too."""


def find_thread(body: dom.Element, thread: Thread, url: str | None = None) -> FoundThread | None:
    """Return the thread, or `None` when the page has no message with a text and no post.

    `url` is the page's address: a message whose link is only a place in the page needs it.
    """
    nodes = select_all(body, thread.message) or []
    messages = {node: Message(node) for node in nodes}
    for node, text in _find_owned(body, thread.text, messages, only_outermost=True):
        messages[node].texts.append(text)
    _read_heads(body, thread, messages)
    _set_levels(body, thread, messages)
    for message in messages.values():
        message.link = urljoin(url or "", message.link) if message.link.startswith("#") else message.link
    posts = _find_posts(body, thread, messages)
    citations = outermost(select_all(body, thread.citations) or [], thread.citations) if thread.citations else ()
    sources = tuple(node for node in citations if _source_of(node) and _owner(node, messages) is not None)
    found = FoundThread(thread, posts, tuple(one for one in messages.values() if one.texts), sources)
    return found if any(dom.text_of(part).strip() for part in found.parts()) else None


def _find_posts(body: dom.Element, thread: Thread, messages: dict[dom.Element, Message]) -> tuple[dom.Element, ...]:
    if not thread.post:
        return ()
    nodes = outermost(select_all(body, thread.post) or [], thread.post)
    return tuple(node for node in nodes if _owner(node, messages) is None)


def _find_owned(
    body: dom.Element, css: str | None, messages: dict[dom.Element, Message], *, only_outermost: bool = False
) -> Iterator[tuple[dom.Element, dom.Element]]:
    """Yield every message with each match inside it; a match in a reply belongs to the reply alone."""
    if css is None:
        yield from ((node, node) for node in messages)
        return
    nodes = select_all(body, css) or []
    for node in outermost(nodes, css) if only_outermost else nodes:
        owner = _owner(node, messages)
        if owner is not None:
            yield owner, node


def _owner(node: dom.Node, messages: dict[dom.Element, Message]) -> dom.Element | None:
    """Return the innermost message that the node is in or is."""
    above: dom.Node | None = node
    while isinstance(above, dom.Element):
        if above in messages:
            return above
        above = above.parent
    return None


def _read_heads(body: dom.Element, thread: Thread, messages: dict[dom.Element, Message]) -> None:
    """Read who wrote each message, when, where it is and what it scored."""
    for node, author, _ in _read(body, thread.author, messages):
        messages[node].author = messages[node].author or author.rstrip(" :·")
    for speaker in thread.speakers:
        for node, _ in _find_owned(body, speaker.selector, messages):
            messages[node].author = messages[node].author or speaker.name
    for node, date, source in _read(body, thread.date, messages):
        message = messages[node]
        if not message.date:
            message.date, message.link = _format_date(date), _find_link(source, node)
    for node, link, _ in _read(body, thread.link, messages, "href"):
        messages[node].link = link
    for node, score, _ in _read(body, thread.score, messages):
        unit = thread.score.unit if thread.score and _BARE_NUMBER.fullmatch(score) else None
        messages[node].score = messages[node].score or (f"{score} {unit}" if unit else score)


def _read(
    body: dom.Element, source: MessageSource | None, messages: dict[dom.Element, Message], *default_attrs: str
) -> Iterator[tuple[dom.Element, str, dom.Element]]:
    """Yield each message with a value of the source, and the element that states it."""
    if source is None:
        return
    attrs = source.attrs or default_attrs
    for node, element in _find_owned(body, source.selector, messages):
        value = next((text for name in attrs if (text := element.attr(name))), "") if attrs else _text(element)
        if value := " ".join(value.split())[:_MAX_CHARS] if not default_attrs else value.strip():
            yield node, value, element


def _text(node: dom.Element) -> str:
    """Return the element's text; that of adjacent elements is apart."""
    return " ".join(dom.texts_of(node))


def _format_date(value: str) -> str:
    """Return the day of an ISO date, a Unix time or a date that is spelled out; a short date as it is written."""
    if day := _ISO_DAY.match(value):
        return day.group()
    if _UNIX_TIME.fullmatch(value):
        return datetime.fromtimestamp(int(value[:_SECONDS_DIGITS]), UTC).date().isoformat()
    spelled_out = to_iso(value) if len(value) > _SHORT_DATE_CHARS else None
    return spelled_out[:10] if spelled_out else value


def _find_link(date: dom.Element, message: dom.Element) -> str:
    """Return the target of the link around the date, or in it."""
    above: dom.Node | None = date
    while isinstance(above, dom.Element) and above is not message:
        if above.tag == "a" and (target := above.attr("href")):
            return target
        above = above.parent
    inner = dom.first(date, "a[href]") if date is not message else None
    return (inner.attr("href") or "") if inner is not None else ""


def _set_levels(body: dom.Element, thread: Thread, messages: dict[dom.Element, Message]) -> None:
    """Set how deep each message is among the replies."""
    if thread.depth is None:
        for node, message in messages.items():
            parent = _owner(node.parent, messages) if node.parent is not None else None
            message.level = messages[parent].level + 1 if parent is not None else 0
        return
    indents: dict[dom.Element, float] = {}
    for node, value, _ in _read(body, thread.depth, messages):
        if number := _NUMBER.match(value):
            indents.setdefault(node, float(number.group()))
    open_indents: list[float] = []
    for node, message in messages.items():
        indent = indents.get(node, 0.0)
        while open_indents and open_indents[-1] >= indent:
            open_indents.pop()
        message.level = len(open_indents)
        open_indents.append(indent)


# Writing


def _shape(part: dom.Element) -> None:
    """Make a part a block; its names, such as `comment`, must not accuse it of being boilerplate."""
    if part.tag in _BOXES:
        dom.retag(part, "div")
        dom.set_attr(part, "class", _POST_CLASS)
        dom.set_attr(part, "id", None)


def _drop_quoted_end(part: dom.Element) -> None:
    """Drop the lines after `>` that a mail ends with: they repeat an earlier message."""
    line: list[dom.Text] = []
    box: dom.Node | None = None
    for node in reversed(list(dom.nodes(part))):
        is_text = isinstance(node, dom.Text)
        if (is_text and _box_of(node) is not box) or (isinstance(node, dom.Element) and node.tag == "br"):
            if not _drop_quoted(line):
                return
            line = []
        if isinstance(node, dom.Text):
            line.append(node)
            box = _box_of(node)
    _drop_quoted(line)


def _drop_quoted(line: list[dom.Text]) -> bool:
    """Drop a line, given from its end, if it is quoted; return whether it is quoted or blank."""
    text = "".join(piece.data for piece in reversed(line)).strip()
    for piece in line if text.startswith(">") else ():
        dom.drop(piece)
    return not text or text.startswith(">")


def _box_of(node: dom.Node) -> dom.Node | None:
    """Return the innermost block around the node."""
    above = node.parent
    while isinstance(above, dom.Element) and above.tag in _INLINE:
        above = above.parent
    return above


def _write_first(root: dom.Element, messages: list[Message], *, self_replies: bool) -> list[Message]:
    """Write the first message as the post, with the next ones by its author where they belong to it; return the rest."""
    count = 1
    while self_replies and count < len(messages) and messages[count].author == messages[0].author:
        count += 1
    for index, message in enumerate(messages[:count]):
        dom.append(root, *([dom.element("hr")] if index else []), *message.texts)
    return messages[count:]


def _write_quotes(root: dom.Element, messages: Iterable[Message]) -> None:
    """Write each message as a quote in the quote it replies to."""
    parents: list[tuple[int, dom.Element]] = []
    for message in messages:
        while parents and (parents[-1][0] >= message.level or len(parents) >= MAX_LEVELS):
            parents.pop()
        quote = dom.element("blockquote", {"class": _POST_CLASS}, *_head(message), *message.texts)
        dom.append(parents[-1][1] if parents else root, quote)
        parents.append((message.level, quote))


def _write_turns(root: dom.Element, messages: Iterable[Message]) -> None:
    """Write the turns of a chat; one that goes on with the same author needs no new name."""
    author: str | None = None
    for message in messages:
        if author is None or message.author != author:
            dom.append(root, *([dom.element("hr")] if author is not None else []), *_head(message))
        author = message.author
        dom.append(root, *message.texts)


def _head(message: Message) -> list[dom.Element]:
    """Return the line above a message: author, date and score."""
    parts: list[dom.Node | str] = []
    if message.author:
        parts.append(dom.element("strong", None, message.author))
    if message.date:
        date = dom.element("a", {"href": message.link}, message.date) if message.link else message.date
        parts += (" · ", date) if parts else (date,)
    if message.score:
        parts += (" · ", message.score) if parts else (message.score,)
    return [dom.element("p", None, *parts)] if parts else []


def _source_of(citation: dom.Element) -> str:
    """Return the address that a citation leads to."""
    link = citation if citation.tag == "a" else dom.first(citation, "a[href]")
    target = (link.attr("href") or "") if link is not None else ""
    return target if target.startswith(("https://", "http://")) else ""


def _write_citations(root: dom.Element, citations: Iterable[dom.Element]) -> None:
    """Replace links to sources by footnotes, one for each source."""
    numbers: dict[str, int] = {}
    for node in citations:
        target = _source_of(node)
        number = numbers.setdefault(target, len(numbers) + 1)
        anchor = dom.element("a", {"href": f"#cite-{number}"}, str(number))
        dom.replace(node, dom.element("sup", {"class": "footnote-ref"}, anchor))
    notes = [
        dom.element("li", {"id": f"cite-{number}"}, dom.element("a", {"href": target}, _host(target)))
        for target, number in numbers.items()
    ]
    dom.append(root, dom.element("section", {"class": "footnotes"}, dom.element("ol", None, *notes)))


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or address).removeprefix("www.")
    except ValueError:
        return address

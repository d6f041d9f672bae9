"""The messages of a thread, found by a rule and written in one way."""

from __future__ import annotations

from pagekeep.extraction.site_rules.scope import MAX_LEVELS
from pagekeep.pipeline import extract
from pagekeep.rules.rule import MessageSource, Speaker, Thread

TEXT = "Nine clocks of ten stop because something touches a hand, and the hood is what touches it."


def _message(number: int, inside: str = "", indent: int = 0) -> str:
    return (
        f'<li class="c" data-depth="{indent}"><b class="who">user{number}</b>'
        f'<a href="/c/{number}"><time datetime="2025-03-0{number % 9 + 1}T09:12:00Z">long ago</time></a>'
        f'<i class="votes">{number}</i><div class="comment">{TEXT} That is number {number}.</div>{inside}</li>'
    )


THREAD = Thread(
    post=".post",
    message=".c",
    text=".comment",
    author=MessageSource(".who"),
    date=MessageSource("time", ("datetime",)),
    score=MessageSource(".votes", unit="points"),
)


def _extract(rule, book, html, **fields):
    page = f'<title>Clocks</title><nav><a href="/">Home</a></nav>{html}'
    rules = book(rule(thread=fields.get("thread", THREAD)))
    return extract(page, "https://clocks.example/t/1", rules=rules)


def test_replies_inside_a_message_are_quotes_in_its_quote(rule, book):
    html = f'<div class="post">{TEXT}</div><ul>{_message(1, f"<ul>{_message(2)}</ul>")}{_message(3)}</ul>'
    page = _extract(rule, book, html)
    assert "> **user1** · [2025-03-02](https://clocks.example/c/1) · 1 points" in page.markdown
    assert "\n> > **user2** · " in page.markdown
    assert "\n> **user3** · " in page.markdown
    assert page.kind == "forum"


def test_replies_are_nested_by_a_number_where_messages_are_neighbours(rule, book):
    html = "".join(_message(number, indent=indent) for number, indent in enumerate((0, 40, 80, 40, 0), start=1))
    thread = Thread(THREAD.message, THREAD.text, author=THREAD.author, depth=MessageSource(None, ("data-depth",)))
    page = _extract(rule, book, f'<div class="post">{TEXT}</div><ul>{_message(9)}{html}</ul>', thread=thread)
    heads = [line for line in page.markdown.splitlines() if "**user" in line]
    assert heads == ["> **user1**", "> > **user2**", "> > > **user3**", "> > **user4**", "> **user5**"]


def test_the_heading_above_comments_is_in_the_markdown_and_not_in_the_text(rule, book):
    page = _extract(rule, book, f'<div class="post">{TEXT}</div><ul>{_message(1)}</ul>')
    assert "\n## Comments\n" in page.markdown
    assert "Comments" not in page.text


def test_the_first_message_is_the_post_and_gives_author_and_date(rule, book):
    thread = Thread(THREAD.message, THREAD.text, author=THREAD.author, date=THREAD.date)
    page = _extract(rule, book, f"<ul>{_message(1)}{_message(2)}</ul>", thread=thread)
    assert "**user1**" not in page.markdown
    assert "> **user2** · " in page.markdown
    assert (page.metadata.author, page.metadata.published) == ("user1", "2025-03-02")


def test_messages_that_an_author_adds_to_the_first_belong_to_it(rule, book):
    thread = Thread(THREAD.message, THREAD.text, author=THREAD.author, self_replies=True)
    page = _extract(rule, book, f"<ul>{_message(1)}{_message(1)}{_message(2)}{_message(1)}</ul>", thread=thread)
    before, _, after = page.markdown.partition("## Comments")
    assert before.count("That is number 1.") == 2
    assert "> **user2**" in after
    assert "> **user1**" in after


def test_mails_lose_the_quoted_lines_at_their_end_and_keep_those_between_answers(rule, book):
    mail = "<br>&gt; Which dog?<br>A brown one.<br><br>&gt; Friday is fine.<br>&gt; The dog is in the yard.<br>"
    html = f'<div class="c"><b class="who">Quill</b><div class="comment">{TEXT}{mail}</div></div>'
    thread = Thread(THREAD.message, THREAD.text, style="messages", author=THREAD.author)
    text = _extract(rule, book, html, thread=thread).text
    assert "Which dog?" in text
    assert "A brown one." in text
    assert "Friday is fine" not in text
    assert "yard" not in text


def test_turns_of_a_chat_are_under_the_names_of_their_speakers(rule, book):
    html = f'<div class="c q">May I ask?</div><div class="c a">{TEXT}</div><div class="c a">More of it follows.</div>'
    speakers = (Speaker(".q", "You"), Speaker(".a", "Oracle"))
    page = _extract(rule, book, html, thread=Thread(".c", ".c", style="chat", speakers=speakers))
    assert page.markdown.count("**Oracle**") == 1
    assert page.markdown.index("**You**") < page.markdown.index("---") < page.markdown.index("**Oracle**")


def test_links_to_sources_become_one_footnote_for_each_source(rule, book):
    pill = '<span class="pill"><a href="https://{}.example/x?utm_source=clocks.example">{}</a></span>'
    said = f"<p>{TEXT}{pill.format('yard', 'yard')}</p><p>{TEXT[5:]}{pill.format('mill', 'mill')}</p>"
    again = f"<p>And again.{pill.format('yard', 'yard')}</p>"
    html = f'<div class="c a">{said}{again}</div>'
    page = _extract(rule, book, html, thread=Thread(".c", ".c", style="chat", citations=".pill"))
    assert "And again.[^1]" in page.markdown
    assert "[^2]: [mill.example](https://mill.example/x" in page.markdown


def test_endless_replies_do_not_nest_without_end(rule, book):
    nested = ""
    for number in range(2 * MAX_LEVELS, 0, -1):
        nested = f"<ul>{_message(number, nested)}</ul>"
    page = _extract(rule, book, f'<div class="post">{TEXT}</div>{nested}')
    assert f"That is number {2 * MAX_LEVELS}." in page.text
    assert "> " * (MAX_LEVELS + 1) not in page.markdown


def test_a_page_without_messages_is_extracted_as_any_other(rule, book, article):
    page = extract(article(), "https://clocks.example/", rules=book(rule(thread=THREAD)))
    assert "Paragraph 6" in page.text

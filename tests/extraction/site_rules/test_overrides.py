"""Metadata where a rule says it stands: above everything else, cleaned like everything else."""

from __future__ import annotations

import pytest

from pagekeep import extract
from pagekeep.rules.rule import MetadataSource

URL = "https://example.com/mill"


@pytest.fixture
def field_value(rule, book, article):
    """A field of the metadata, read from the markup at the place given."""

    def read(field, markup, selector=".x", attr=None, phase="pre", head=""):
        wanted = rule("own", phase=phase, metadata={field: MetadataSource(selector, attr)})
        page = extract(article(around=f"<footer>{markup}</footer>", head=head), URL, rules=book(wanted))
        return getattr(page.metadata, field), page.metadata.origins.get(field)

    return read


@pytest.mark.parametrize("phase", ["pre", "post"])
@pytest.mark.parametrize(
    ("field", "markup", "attr", "value"),
    [
        ("title", "<b class=x> The   old\nmill &amp; more </b>", None, "The old mill & more"),
        ("author", "<b class=x>By Ines Okafor and Bo Lind</b>", None, "Ines Okafor, Bo Lind"),
        (
            "author",
            "<b class=x>Ines Okafor</b><b class=x>Bo Lind</b><b class=x>ines okafor</b>",
            None,
            "Ines Okafor, Bo Lind",
        ),
        ("published", "<time class=x datetime=2025-03-19>yesterday</time>", None, "2025-03-19"),
        ("published", "<b class=x>March 5, 2024</b>", None, "2024-03-05"),
        ("modified", "<b class=x data-when=2024-03-06T10:30:00Z>x</b>", "data-when", "2024-03-06T10:30:00Z"),
        ("description", "<b class=x>In short.</b>", None, "In short."),
        ("site_name", "<b class=x>Mill News</b>", None, "Mill News"),
        ("canonical", "<a class=x href=/the-mill>x</a>", None, "https://example.com/the-mill"),
        ("hero_image", "<img class=x src=/wheel.jpg>", None, "https://example.com/wheel.jpg"),
        ("language", "<b class=x lang=de_AT>x</b>", None, "de-at"),
        ("language", "<b class=x>pt-BR</b>", None, "pt-br"),
    ],
)
def test_a_rule_names_the_source_of_a_field(field_value, field, markup, attr, value, phase):
    assert field_value(field, markup, attr=attr, phase=phase) == (value, "rule own")


def test_a_rule_wins_over_what_the_page_declares(field_value):
    head = '<meta name="author" content="Somebody Else"><script type="application/ld+json">{"@type":"Article","author":"Third Person"}</script>'
    assert field_value("author", "<b class=x>Ines Okafor</b>", head=head) == ("Ines Okafor", "rule own")


def test_a_meta_element_states_its_content(field_value):
    assert field_value("title", "", "meta[name=t]", head='<meta name="t" content="The wheel">') == (
        "The wheel",
        "rule own",
    )


@pytest.mark.parametrize("markup", ["", "<b class=x> </b>", "<b class=x>no date at all</b>"])
def test_a_place_that_says_nothing_leaves_what_the_page_says(field_value, markup):
    head = '<meta property="article:published_time" content="2020-01-02">'
    assert field_value("published", markup, head=head) == ("2020-01-02", "opengraph")


def test_a_bad_selector_is_reported_and_ignored(rule, book, article):
    wanted = rule(metadata={"title": MetadataSource("..")})
    page = extract(article(), URL, rules=book(wanted))
    assert page.metadata.title == "The mill"
    assert page.trace.rules[0].effects[0].note == "title: not a selector, ignored"


def test_the_place_is_looked_for_in_the_untouched_page(rule, book, article):
    wanted = rule(metadata={"author": MetadataSource(".x")}, remove=(".x",))
    page = extract(article("<p class=x>Ines Okafor</p>"), URL, rules=book(wanted))
    assert page.metadata.author == "Ines Okafor"
    assert "Okafor" not in page.text


def test_the_first_rule_that_finds_a_field_wins(rule, book, article):
    rules = book(
        rule("a", metadata={"author": MetadataSource(".absent")}),
        rule("b", metadata={"author": MetadataSource(".b")}),
        rule("c", metadata={"author": MetadataSource(".c")}),
        rule("d", phase="post", metadata={"author": MetadataSource(".c"), "title": MetadataSource(".c")}),
    )
    html = article(around="<footer><i class=b>Bo Lind</i><i class=c>Cy Dove</i></footer>")
    about = extract(html, URL, rules=rules).metadata
    assert (about.author, about.origins["author"]) == ("Bo Lind", "rule b")
    assert (about.title, about.origins["title"]) == ("Cy Dove", "rule d")


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_a_rule_may_say_that_a_field_is_not_to_be_believed(rule, book, article, phase):
    head = '<meta name="author" content="The Web Team"><meta property="article:published_time" content="2020-01-02">'
    wanted = rule("own", phase=phase, metadata={"author": "none", "language": "none"})
    page = extract(article(head=head), URL, rules=book(wanted))
    assert (page.metadata.author, page.metadata.language, page.metadata.published) == (None, None, "2020-01-02")
    assert "author:" not in page.document
    assert page.trace.rules[0].effects[0].note == "author: none, the page's value is ignored"


def test_none_wins_over_the_rules_after_it(rule, book, article):
    rules = book(rule("a", metadata={"author": "none"}), rule("b", metadata={"author": MetadataSource(".b")}))
    assert extract(article(around="<footer><i class=b>Bo Lind</i></footer>"), URL, rules=rules).metadata.author is None


def test_an_action_shows_the_value(rule, book, article):
    wanted = rule(metadata={"author": MetadataSource(".x")})
    page = extract(article(around="<b class=x>Bo Lind</b>"), URL, rules=book(wanted))
    assert page.trace.rules[0].effects[0].note == "author: Bo Lind"

"""Reading on: the same place on every device, next and previous, similar pages, listening, all highlights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.library.items.annotations import annotate
from pagekeep.store import Store, open_store
from tests.browser.conftest import Window
from tests.browser.extended import until
from tests.browser.serving import Server
from tests.browser.test_accessibility import violations
from tests.store.making import make_item, moment

BOTH = pytest.mark.parametrize("size", ["desktop", "phone"])
SUBJECTS = ("lighthouse paraffin keeper", "sourdough oven flour", "lighthouse paraffin harbour")
Fill = Callable[[], list[str]]
VOICES = """() => {
  const voices = [
    { name: "Anna", lang: "de-DE", voiceURI: "anna", default: true, localService: true },
    { name: "Daniel", lang: "en-GB", voiceURI: "daniel", default: false, localService: true },
    { name: "Karen", lang: "en-AU", voiceURI: "karen", default: false, localService: true },
  ];
  window.spoken = [];
  let current = null;
  const stub = {
    getVoices: () => voices,
    addEventListener() {},
    cancel() { current?.onerror?.({ error: "interrupted" }); current = null; },
    speak(utterance) {
      current = utterance;
      window.spoken.push({ text: utterance.text, rate: utterance.rate, lang: utterance.lang, voice: utterance.voice?.name });
    },
  };
  window.endSentence = () => { const ended = current; current = null; ended.onend(); };
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  Object.defineProperty(window, "speechSynthesis", { value: stub, configurable: true });
}"""
"""A stand-in for the browser's voices: a headless browser has none."""


def article(subject: str, paragraphs: int = 40) -> str:
    one, two, three = subject.split()
    text = f"The {one} stood beside the {two} for {'years' if one == 'lighthouse' else 'hours'}. It was a {three}. "
    return "\n\n".join(f"Paragraph {number}. {text * 4}" for number in range(paragraphs))


@pytest.fixture
def store(fresh: Server, settings: Settings) -> Any:
    with closing(open_store(settings.library)) as opened:
        yield opened


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Three long articles, the last saved first in the list, and one in Arabic."""
    made = []
    for number, subject in enumerate(SUBJECTS):
        item = make_item(
            number,
            title=f"About the {subject}",
            content=article(subject),
            saved_at=moment(number),
            tags=["sea"] if number != 1 else [],
            quality="article",
            language="en",
        )
        made.append(store.items.save(item, None).id)
    return made


def read_to(page: Any, part: float) -> None:
    """Scroll as a hand does."""
    page.mouse.move(150, 400)
    page.mouse.wheel(0, 1)
    page.evaluate(
        "part => scrollTo({ top: part * document.getElementById('content').scrollHeight, behavior: 'instant' })", part
    )


@BOTH
def test_one_goes_on_reading_on_another_device(store: Store, ids: list[str], window: Window, size: str) -> None:
    page = window(f"/items/{ids[0]}", size)
    read_to(page, 0.5)
    until(lambda: store.reading.get(ids[0]).state == "reading")
    stored = store.reading.get(ids[0])
    assert 0.4 < stored.progress < 0.75
    assert 10 < stored.block < 30

    other = window(
        "/", "phone" if size == "desktop" else "desktop"
    )  # another context: nothing is shared but the server
    shelf = other.get_by_role("region", name="Continue reading")
    expect(shelf.get_by_role("link")).to_have_count(1)
    expect(other.locator(f"#item-{ids[0]} .reading-progress")).to_contain_text("% read")
    shelf.get_by_role("link").click()
    block = other.locator("#content p").nth(stored.block)
    expect(block).to_be_in_viewport()
    assert store.reading.get(ids[0]) == stored  # going to the place is not a report

    read_to(other, 1)
    until(lambda: store.reading.get(ids[0]).state == "read")
    expect(other.get_by_role("button", name="Mark as unread")).to_be_visible()
    other.keyboard.press("r")
    expect(other.get_by_role("button", name="Mark as read")).to_be_visible()
    assert (store.reading.get(ids[0]).state, store.reading.get(ids[0]).chosen) == ("unread", True)


def test_a_place_that_could_not_be_sent_is_sent_from_the_next_page(
    store: Store, ids: list[str], window: Window
) -> None:
    page = window(f"/items/{ids[0]}")
    page.context.set_offline(True)
    read_to(page, 0.5)
    until(lambda: page.evaluate("localStorage.getItem('pagekeep:unsent')?.includes('progress')"))
    assert store.reading.get(ids[0]).progress == 0
    page.context.set_offline(False)
    page.goto("/highlights")
    until(lambda: store.reading.get(ids[0]).progress > 0.4)
    until(lambda: page.evaluate("localStorage.getItem('pagekeep:unsent')") == "{}")


@BOTH
def test_next_and_previous_follow_the_list_without_scripts(ids: list[str], window: Window, size: str) -> None:
    page = window("/?tag=sea", size, java_script_enabled=False)
    page.get_by_role("link", name="About the lighthouse paraffin harbour").first.click()
    page.get_by_role("navigation", name="In this list").get_by_role("link", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("About the lighthouse paraffin keeper")  # not the bread
    expect(page.locator("[rel=next]")).to_have_count(0)
    page.locator("[rel=prev]").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("About the lighthouse paraffin harbour")
    page.get_by_role("button", name="Mark as read").click()
    expect(page.get_by_role("button", name="Mark as unread")).to_be_visible()
    page.get_by_role("link", name="Similar pages").click()
    expect(page.locator(".similar-pages a")).to_have_text(["About the lighthouse paraffin keeper"])
    page.go_back()
    page.locator(".back-link").click()
    assert page.url.endswith("/?tag=sea")


def test_keys_lead_to_the_next_article_and_similar_pages_come_by_themselves(ids: list[str], window: Window) -> None:
    page = window(f"/items/{ids[2]}")
    page.keyboard.press("]")
    expect(page.get_by_role("heading", level=1)).to_have_text("About the sourdough oven flour")
    page.keyboard.press("]")
    expect(page.get_by_role("heading", level=1)).to_have_text("About the lighthouse paraffin keeper")
    page.locator(".neighbours").scroll_into_view_if_needed()
    expect(page.locator(".similar-pages a")).to_have_text(["About the lighthouse paraffin harbour"])


@BOTH
def test_an_article_is_read_aloud_with_the_sentence_marked(
    store: Store, ids: list[str], window: Window, size: str
) -> None:
    annotate(store, ids[0], "lighthouse stood beside", note="inside a sentence")
    page = window("/offline", size)
    page.context.add_init_script(f"({VOICES})()")
    page.goto(f"/items/{ids[0]}")
    page.keyboard.press("l")
    player = page.get_by_role("region", name="Listen")
    expect(player).to_be_visible()
    spoken = page.evaluate("spoken")
    assert spoken == [{"text": "Paragraph 0.", "rate": 1, "lang": "en", "voice": "Daniel"}]
    page.evaluate("endSentence()")
    marked = "[...CSS.highlights.get('spoken')].map((range) => range.toString().trim()).join('|')"
    assert page.evaluate(marked) == "The lighthouse stood beside the paraffin for years."
    expect(page.locator("mark.highlight")).to_have_text(["lighthouse stood beside"])  # the highlight is whole
    player.get_by_role("button", name="Next sentence").click()
    page.keyboard.press(",")
    page.get_by_label("Speed").select_option("1.5")
    page.get_by_label("Voice").select_option("karen")
    last = page.evaluate("spoken.at(-1)")
    assert last == {
        "text": "The lighthouse stood beside the paraffin for years.",
        "rate": 1.5,
        "lang": "en",
        "voice": "Karen",
    }
    player.get_by_role("button", name="Pause").click()
    count = page.evaluate("spoken.length")
    player.get_by_role("button", name="Play").click()
    assert page.evaluate("spoken.length") == count + 1
    assert page.evaluate("spoken.at(-1).text") == last["text"]
    player.get_by_role("button", name="Stop listening").click()
    expect(player).to_be_hidden()
    assert page.evaluate(marked) == ""


def test_listening_is_hidden_where_the_browser_has_no_voices(ids: list[str], window: Window) -> None:
    page = window("/offline")
    page.context.add_init_script(
        "Object.defineProperty(window, 'speechSynthesis', { value: { getVoices: () => [], addEventListener() {} } })"
    )
    page.goto(f"/items/{ids[0]}")
    page.get_by_title("More", exact=True).click()
    expect(page.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    expect(page.get_by_role("button", name="Listen")).to_be_hidden()


@BOTH
@pytest.mark.parametrize("scripts", [True, False])
def test_a_highlight_opens_its_page_at_the_place(
    store: Store, ids: list[str], window: Window, size: str, scripts: bool
) -> None:
    annotate(store, ids[0], "Paragraph 33. The lighthouse stood", note="far down")
    annotate(store, ids[1], "words that were never there")
    page = window("/", size, java_script_enabled=scripts)
    page.goto("/highlights")
    expect(page.get_by_role("heading", level=2)).to_have_text(
        ["About the sourdough oven flour", "About the lighthouse paraffin keeper"]
    )
    expect(page.locator(".not-found")).to_have_count(1)
    page.get_by_label("Search highlights and notes").fill("far lighth")
    page.locator(".search-highlights button").click()
    page.locator(".annotation blockquote a").click()
    expect(page.locator("#content p").nth(33)).to_be_in_viewport()


@BOTH
def test_axe_finds_nothing_while_one_reads(store: Store, ids: list[str], window: Window, size: str) -> None:
    store.items.set_metadata(ids[0], moment(9), archived=False)
    arabic = make_item(
        9, title="الفنار والحارس", content="كان الفنار يضيء كل ليلة.\n\n" * 30, quality="article", language="ar"
    )
    right = store.items.save(arabic, None).id
    annotate(store, right, "الفنار يضيء", note="ملاحظة")
    page = window("/offline", size, bypass_csp=True)
    page.context.add_init_script(f"({VOICES})()")
    page.goto(f"/items/{right}")
    page.keyboard.press("l")
    expect(page.locator("#player")).to_be_visible()
    assert violations(page) == []
    read_to(page, 0.3)
    until(lambda: store.reading.get(right).state == "reading")
    page.goto("/")
    expect(page.locator(".continue a")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for path in ("/highlights", "/highlights?by=day", f"/items/{ids[0]}/similar"):
        page.goto(path)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

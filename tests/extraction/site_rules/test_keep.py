"""Parts that a rule wants stay where they stand, in the order of the page."""

from __future__ import annotations

from pagekeep.pipeline import extract
from pagekeep.rules.rule import DomTrigger, Rule, Trigger
from pagekeep.rules.rulebook import Rulebook


def post(name: str, date: str, body: str) -> str:
    return (
        f'<article class="message"><div class="user-card"><a class="avatar" href="/u">A</a><b class="name">{name}</b>'
        f'</div><div class="meta share"><time>{date}</time><a href="#">Report</a></div>'
        f'<div class="body"><p>{body}</p></div></article>'
    )


THREAD = "<title>Sails</title><body><main>" + "".join(
    post(name, date, f"{text} The sail was cut from heavy cotton, and it held through the winter gales of that year.")
    for name, date, text in (
        ("Ada", "1 May 2024", "I asked around the harbour first."),
        ("Ben", "2 May 2024", "They told me something else entirely."),
        ("Ada", "2 May 2024", "Then one of us is wrong about the cloth."),
        ("Cem", "3 May 2024", "Both of you may well be right here."),
    )
)


def book(*include: str) -> Rulebook:
    trigger = Trigger(dom=DomTrigger(any=("article.message",)))
    return Rulebook((Rule("thread", "pre", trigger, include=include),))


def test_short_parts_that_repeat_stay_each_in_its_place() -> None:
    text = extract(THREAD, rules=book(".name", "time")).text
    reported = [line for line in text.splitlines() if line.split(" ")[0] in ("Ada", "Ben", "Cem") or line[:1].isdigit()]
    names = [word for line in reported for word in line.split() if word in ("Ada", "Ben", "Cem")]
    assert names == ["Ada", "Ben", "Ada", "Cem"]
    assert text.index("Ben") < text.index("They told me") < text.index("Then one of us")


def test_what_was_dropped_around_a_part_stays_dropped() -> None:
    text = extract(THREAD, rules=book(".name", "time")).text
    assert "1 May 2024" in text
    assert "Report" not in text


def test_explain_says_that_they_stayed() -> None:
    page = extract(THREAD, rules=book("time", ".body"))
    effects = [
        (effect.selector, effect.note)
        for match in page.trace.rules
        for effect in match.effects
        if effect.what == "include"
    ]
    assert effects == [("time", "where it stood"), (".body", "already there")] * 4


def test_a_part_that_is_dropped_itself_is_kept_whole() -> None:
    html = (
        THREAD.replace("</main>", "")
        + '<aside class="related"><p>Sail makers of the coast, a list by town.</p></aside>'
    )
    assert "Sail makers" not in extract(html).text
    assert "Sail makers of the coast" in extract(html, rules=book("aside.related")).text


def test_a_part_within_something_hidden_is_shown() -> None:
    for hidden in (
        "hidden",
        'class="visually-hidden"',
        'style="display:none"',
        'aria-hidden="true"',
        'class="sr-only"',
    ):
        html = (
            THREAD.replace("</main>", "")
            + f'<div {hidden}><div class="specs"><p>Weight: two kilograms.</p></div></div>'
        )
        assert "two kilograms" in extract(html, rules=book(".specs")).text, hidden

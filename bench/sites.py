"""Measure what is gained by knowing a site: F1 of words on 20 made-up sites, with and without the text that their pages share.

Usage: python bench/sites.py [--pages N] [--show SITE]. Each site has a layout and a purpose: documentation, blog, shop, forum
or news. Its furniture has no class names that say what it is. The text is composed from our own words, so that it is known.
Five more sites have uneven pages: on some of them most of the words are beside the content, or in one part of it. They
show what the learned selector adds; the selector and the platform's rules are used for all 25.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterable
from statistics import fmean

from pagekeep import Options, dom, extract
from pagekeep.extraction.site import fingerprint, learn, learn_signs, read_signs, split_words
from pagekeep.model.page import SiteKnowledge
from pagekeep.rules import shipped

PURPOSES = ("docs", "blog", "shop", "forum", "news")
WHO = "keeper pilot carpenter fisherman teacher sailor clerk painter baker engineer widow smith captain doctor cook".split()
DID = "counted repaired painted described borrowed measured forgot sold carried replaced examined drew cleaned hid".split()
WHAT = "lanterns ropes barrels oars letters charts nets windows stones bells sails ladders clocks boots candles anchors".split()
WHERE = "pier,chapel,long shed,harbour wall,market,lighthouse,school,bridge,old mill,inn,quarry,boatyard,customs house".split(
    ","
)
WHEN = "in spring,after the storm,before dawn,at low tide,on Sunday,in the war,without a word,for nine days,by lamplight".split(
    ","
)
LINKS = "and so,although,because,while,until,but,since,whenever".split(",")


class Words:
    """Our text, always the same for the same seed."""

    def __init__(self, seed: str) -> None:
        self.pick = random.Random(seed)

    def clause(self) -> str:
        """Return half a sentence."""
        one = self.pick.choice
        number = self.pick.randint(2, 90)
        return f"the {one(WHO)} {one(DID)} {number} {one(WHAT)} near the {one(WHERE)} {one(WHEN)}"

    def sentence(self) -> str:
        """Return a sentence."""
        text = f"{self.clause()}, {self.pick.choice(LINKS)} {self.clause()}."
        return text[0].upper() + text[1:]

    def paragraph(self) -> str:
        """Return a paragraph."""
        return " ".join(self.sentence() for _ in range(self.pick.randint(2, 4)))

    def title(self) -> str:
        """Return a heading."""
        one = self.pick.choice
        return f"{one(WHAT).title()} of the {one(WHO)} {one(WHEN)}"


def article(words: Words) -> list[str]:
    """Return the blocks of a text with headings and a list."""
    parts = [f"<p>{words.paragraph()}</p>" for _ in range(3)]
    items = "".join(f"<li>{words.clause()}</li>" for _ in range(3))
    return [
        *parts,
        f"<h2>{words.title()}</h2>",
        f"<p>{words.paragraph()}</p>",
        f"<ul>{items}</ul>",
        f"<p>{words.paragraph()}</p>",
    ]


def manual(words: Words) -> list[str]:
    """Return a page of documentation: its headings are the same on every page, and are content."""
    lines = "".join(f"tie({words.pick.choice(WHAT)!r}, {words.pick.randint(1, 99)})\n" for _ in range(3))
    return [
        f"<p>{words.paragraph()}</p>", "<h2>Syntax</h2>", f"<pre><code>{lines}</code></pre>", "<h2>Parameters</h2>",
        f"<p>{words.sentence()}</p>", "<h2>Examples</h2>", f"<p>{words.paragraph()}</p>",
    ]  # fmt: skip


def product(words: Words) -> list[str]:
    """Return a product: a few sentences and a table with the same labels on every page."""
    rows = "".join(
        f"<tr><td>{name}</td><td>{words.pick.randint(1, 900)} {unit}</td></tr>"
        for name, unit in (("Weight", "g"), ("Length", "cm"))
    )
    return [
        f"<p>{words.paragraph()}</p>",
        f"<p>{words.sentence()}</p>",
        f"<table><tr><th>Property</th><th>Value</th></tr>{rows}</table>",
        f"<p>{words.paragraph()}</p>",
    ]


def thread(words: Words) -> list[str]:
    """Return the posts of a thread."""
    return [f"<div><p>{words.paragraph()}</p><p>{words.sentence()}</p></div>" for _ in range(4)]


CONTENT: dict[str, Callable[[Words], list[str]]] = {
    "docs": manual, "blog": article, "shop": product, "forum": thread, "news": article,
}  # fmt: skip


def furniture(words: Words, purpose: str) -> dict[str, str]:
    """Return what every page of a site shows, by its place: nothing says by name what it is."""
    entries = [words.title() for _ in range(8)]
    menu = "".join(f'<div><a href="/{number}">{entry}</a></div>' for number, entry in enumerate(entries))
    labels = "".join(f"<div>{words.pick.choice(WHERE).title()}</div>" for _ in range(6))
    pitch = {
        "docs": "You are reading the manual of a version that is still in the making.",
        "blog": "If you like these pages, tell a friend about them and leave your letter box open on Fridays.",
        "shop": "All parcels leave our shed on the day of the order and arrive dry, or we send another one.",
        "forum": "Be kind to new members, search before you ask, and keep one question to one thread.",
        "news": "Our reporters walk the harbour every day, and readers pay for their shoes.",
    }[purpose]
    return {
        "above": f"<div>{menu}</div><p>{pitch} {words.sentence()}</p>",
        "within": f"<p>{words.sentence()}</p>",
        "below": f"<p>{words.paragraph()}</p><div>{labels}</div><p>{words.sentence()} {pitch}</p>",
    }


def lay_out(layout: int, title: str, parts: list[str], around: dict[str, str]) -> str:
    """Return a page in one of four layouts; the furniture is inside the element of the content."""
    middle = len(parts) // 2
    body = [f"<h1>{title}</h1>", *parts[:middle], around["within"], *parts[middle:]]
    inner = around["above"] + "".join(body) + around["below"]
    match layout:
        case 0:
            page = f"<main>{inner}</main>"
        case 1:
            page = f'<div class="css-1k2j"><div class="css-9x8y">{inner}</div></div>'
        case 2:
            page = f'<table><tr><td width="80%">{inner}</td></tr></table>'
        case _:
            page = f"<x-app><x-page><article>{inner}</article></x-page></x-app>"
    return f"<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body>{page}</body></html>"


def make_site(purpose: str, layout: int, pages: int) -> list[tuple[str, str]]:
    """Return the pages of a site, each with its true text."""
    around = furniture(Words(f"{purpose} {layout}"), purpose)
    made = []
    for number in range(pages):
        words = Words(f"{purpose} {layout} {number}")
        title, parts = words.title(), CONTENT[purpose](words)
        truth = extract_words("".join(parts) + f"<h1>{title}</h1>")
        made.append((lay_out(layout, title, parts, around), truth))
    return made


def make_uneven_site(purpose: str, pages: int) -> list[tuple[str, str]]:
    """Return the pages of a site on which every third has a long discussion below, and every fourth one long part."""
    made = []
    for number in range(pages):
        words = Words(f"uneven {purpose} {number}")
        title, parts = words.title(), CONTENT[purpose](words)
        if number % 4 == 1:
            long = "".join(f"<p>{words.paragraph()}</p>" for _ in range(24))
            parts.append(f'<div class="b-{number}">{long}</div>')
        beside = "".join(f"<div><p>{words.paragraph()}</p></div>" for _ in range(12 if number % 3 == 2 else 0))
        inner = f'<div class="k-text"><h1>{title}</h1>{"".join(parts)}</div><div class="k-rest">{beside}</div>'
        html = f"<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body><div>{inner}</div></body></html>"
        made.append((html, extract_words("".join(parts) + f"<h1>{title}</h1>")))
    return made


def know(site: list[tuple[str, str]]) -> tuple[SiteKnowledge, SiteKnowledge]:
    """Return what the pages of a site share, without and with its selector and platform."""
    prints = [fingerprint(extract(html, "https://site.example/").text) for html, _ in site]
    repeats = learn(prints)
    signs = (
        read_signs(dom.parse(html), "https://site.example/", text, repeats, shipped())
        for (html, _), text in zip(site, prints, strict=True)
    )
    return repeats, learn_signs(repeats, signs)


def extract_words(html: str) -> str:
    """Return the text of HTML without tags."""
    return dom.text_of(dom.parse(html.replace("<", " <")))


def f1(found: str, truth: str) -> float:
    """Return the F1 of the words."""
    ours, theirs = Counter(split_words(found)), Counter(split_words(truth))
    common = (ours & theirs).total()
    return 2 * common / max(1, ours.total() + theirs.total())


def measure(site: list[tuple[str, str]], options: Options) -> Iterable[float]:
    """Yield the F1 of each page; the title counts, wherever it is."""
    for number, (html, truth) in enumerate(site):
        page = extract(html, f"https://site.example/{number}", options=options)
        title = page.metadata.title or ""
        yield f1(page.text if title in page.text else f"{title} {page.text}", truth)


def main() -> None:
    """Print a row for each site, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=16)
    parser.add_argument("--show", type=int, help="Print a page of this site, with its knowledge.")
    asked = parser.parse_args()
    regular = [
        (f"{purpose:6} layout {layout}", make_site(purpose, layout, asked.pages))
        for purpose in PURPOSES
        for layout in range(4)
    ]
    uneven = [(f"{purpose:6} uneven  ", make_uneven_site(purpose, max(24, asked.pages))) for purpose in PURPOSES]
    every: list[tuple[float, float, float]] = []
    for number, (name, site) in enumerate([*regular, *uneven]):
        repeats, all_known = know(site)
        results = [fmean(measure(site, Options(site=known))) for known in (None, repeats, all_known)]
        every.append((results[0], results[1], results[2]))
        print(
            f"{number:2} {name}: {results[0]:.3f} alone, {results[1]:.3f} without repeated text,"
            f" {results[2]:.3f} also with {all_known.selector or 'no selector'}"
        )
        if asked.show == number:
            print(extract(site[0][0], options=Options(site=all_known)).markdown)
    for title, some in (("all 20 sites", every[: len(regular)]), ("5 uneven sites", every[len(regular) :])):
        alone, known, selected = map(fmean, zip(*some, strict=True))
        print(
            f"{title}: {alone:.3f} alone, {known:.3f} without repeated text, {selected:.3f} also with selector and platform"
        )


if __name__ == "__main__":
    main()

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.input import structured
from pagekeep.extraction.metadata import clues
from pagekeep.extraction.metadata.dates.anywhere import find_anywhere, find_in_scripts

TEXT = "<p>Rye stands tall in the wind and is cut late in the year, when the barley is long in the barn.</p>" * 5


def find(html: str, url: str = "https://example.com/a/page") -> str | None:
    document = dom.parse(html)
    found = find_anywhere(clues.collect(document, structured.read(document), url))
    return found[0] if found else None


@pytest.mark.parametrize(
    "html",
    [
        f"{TEXT}<p>Published on May 3, 2024</p><p>May 9, 2024</p>",
        f"{TEXT}<b>Datum:</b> <i>03.05.2024</i><p>9. Mai 2024</p><p>10. Mai 2024</p>",
        f"{TEXT}<p>发布时间：2024-05-03 10:20 来源：报</p><p>2024-05-09</p>",
        f"{TEXT}<footer><p>Published: 2024-05-03</p></footer>",
        f"{TEXT}<div class='entry-date'>May 3, 2024</div><p>May 9, 2024</p><p>May 10, 2024</p>",
        f"{TEXT}<div id='pubtime'>2024-05-03 10:20</div><p>2024-05-09</p><p>2024-05-10</p>",
        f"{TEXT}<p>Friday, May 3, 2024</p>",
        f"{TEXT}<p>2024-05-03 | News</p>",
        f"<p>Bern (03.05.2024). Rye stands tall in the wind and is cut late in the year, when all is long in the barn.</p>{TEXT}",
        f"{TEXT}<b>Published:</b> May 3, 2024 by Ann<p>May 9, 2024</p>",
        f"{TEXT}<p>来源：山村日报社新闻中心记者部　编辑：山人　校对：水人　审核：石人　发布时间：2024-05-03　点击：123次　{'字' * 40}</p>",
        f"{TEXT}<em>May 3, 2024</em><ul><li><b>May 9, 2024</b></li><li><b>May 10, 2024</b></li></ul>",
        f"{TEXT}<p>Last updated: May 3, 2024</p>",
        f"{TEXT}<p>Diese Seite wurde zuletzt am 3. Mai 2024 um 10:20 Uhr bearbeitet.</p>",
        f"{TEXT}<div class='footer'>Letzte Änderung: 03.05.2024</div>",
    ],
)
def test_words_names_and_places_mark_the_date(html: str) -> None:
    assert (find(html) or "")[:10] == "2024-05-03"


@pytest.mark.parametrize(
    "html",
    [
        f"{TEXT}<p>On May 3, 2024</p>",
        f"{TEXT}<p>Sale ends May 3, 2024</p>",
        f"{TEXT}<p>\u00a9 May 3, 2024 The mill</p>",
        f"{TEXT}<p>May 3, 2024</p><p>May 9, 2024</p>",
        f"{TEXT}<pre>2024-05-03</pre>",
        f"{TEXT}<table><tr><td>May 3, 2024</td></tr></table>",
        f"{TEXT}<p>On 3 May 2024 the mill was opened and everyone from the valley came to see it and to taste the bread.</p>",
        f"{TEXT}<a href='/x'><h3>How the old mill by the river was rebuilt</h3><span class='date'>May 3, 2024</span></a>",
        f"{TEXT}<div class='comment'><p>Posted on May 3, 2024</p></div>",
    ],
)
def test_days_of_other_things_are_left(html: str) -> None:
    assert find(html) is None


def test_home_page_has_only_the_one_day_it_labels() -> None:
    home = "https://example.com/"
    assert find(f"{TEXT}<p>Stand: 03.05.2024</p>", home) == "2024-05-03"
    assert find(f"{TEXT}<p>3 May 2024</p>", home) is None
    assert find(f"{TEXT}<p>Posted 3 May 2024</p><p>Posted 4 May 2024</p>", home) is None


@pytest.mark.parametrize(
    "script",
    [
        '{"id": 7, "publishedAt": "2024-05-03T10:00:00Z"}',
        'var publish_time = "2024-05-03";',
        "{pubtime: '2024-05-03 10:20'}",
        '{"pubDate":1714730400000}',
        '{\\"publishDate\\": \\"2024-05-03\\"}',
    ],
)
def test_only_day_of_publication_in_the_scripts_is_found(script: str) -> None:
    found = find_in_scripts(dom.parse(f"<p>Rye</p><script>{script}</script>"))
    assert found is not None
    assert found[0].startswith("2024-05-03")


@pytest.mark.parametrize(
    "script",
    [
        '[{"publishedAt": "2024-05-03"}, {"publishedAt": "2024-05-09"}]',
        '{"publisher": "2024-05-03"}',
        '{"date": "2024-05-03"}',
    ],
)
def test_days_of_several_pages_in_the_scripts_are_left(script: str) -> None:
    assert find_in_scripts(dom.parse(f"<script>{script}</script>")) is None


def test_many_keys_in_scripts_are_bounded() -> None:
    keys = "publish " * 100_000 + '"publishedAt": "2024-05-03"'
    assert find_in_scripts(dom.parse(f"<script>{keys}</script>")) is None

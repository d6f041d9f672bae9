"""Find the date of a page in its whole text, for pages that state none in their data, near the heading or in the address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from pagekeep import dom
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.extraction.metadata.dates import split_at_date, to_iso
from pagekeep.text import compile_lazily

_MAX_NODES: Final = 5_000
"""Nodes of the page that are searched."""
_MAX_DATES: Final = 60
"""Dates that are judged."""
_MIN_DATE_CHARS: Final = 8
"""The shortest date with a year of four digits: 5.3.2024."""
_MAX_LINE_CHARS: Final = 1_000
_UNREAD: Final = frozenset(
    ("script", "style", "noscript", "template", "title", "textarea", "option", "svg", "pre", "code")
)
_OTHER_CONTENT: Final = frozenset("blockquote q figure table tr td th dl dd li".split())
_MAX_CLIMB: Final = 2
"""The element and its parent: farther up, tables and lists are the layout of old pages."""
_MAX_OTHER_LETTERS: Final = 50
"""Letters besides the date in a line about the date: "Posted on", "at 9:30 a.m. by the desk"."""
_MAX_BARE_LETTERS: Final = 12
"""Letters besides a date that no words and no name mark: a weekday, a section."""
_SEPARATOR: Final = compile_lazily(r"[|,:/\u2022\u00b7\u2013\u2014-]")
_MAX_LABEL_CHARS: Final = 40
_COLONS: Final = (":", "\uff1a")
_MAX_NAMED_DAYS: Final = 2
"""Days in elements named after dates: that of the publication, and that of the last change."""
_MIN_OPENING_LETTERS: Final = 60
_MAX_PLACE_CHARS: Final = 30
_MAX_PLACE_WORDS: Final = 2
"""Letters after, and characters and words before the date that opens an article: "Karlsruhe, 12.11.2021. The..."."""
_NAMED: Final = compile_lazily(
    r"date|datum|time|fecha|publi|posted|created|authored|byline|zeit|(?:meta|info)\b", re.IGNORECASE
)
"""Classes of an element that contains the date of a page."""
_MAX_SCRIPT_CHARS: Final = 500_000
"""Characters of all scripts that are searched."""
_MAX_KEYS: Final = 100
_KEYS: Final = ("ublish", "ublication", "ubDate", "ubdate", "ubtime")
"""The middle of the names that `_ASSIGNED` reads, the most telling first."""
_ANY_KEY: Final = compile_lazily("ub(?:lish|lication|Date|date|time)")
"""They are found at once, and much faster than by a pattern that starts with more than letters."""
_KEY_START: Final = 10
_KEY_CHARS: Final = 90
_ASSIGNED: Final = compile_lazily(
    r"(?:first_?|date_?)?pub(?:li(?:sh|shed|cation))?_?(?:date|time|at|on)?(?:_?gmt|_?utc)?\\?[\"']?\s{0,2}[:=]\s{0,2}\\?[\"']?"
    r"(?P<value>[^\"'<>,;{}\\]{8,40})",
    re.IGNORECASE,
)
"""A date of publication in the data of a script: `"publishedAt": "2024-03-05T10:00"`, `var publish_time = "2024-03-05"`."""


class _Dated(NamedTuple):
    """A date in the text of the page."""

    iso: str
    before: str
    """The part of its line before the date."""
    after: str
    words: str
    """The words beside it: in its line, or in the line before when it has a line to itself."""
    letters: int
    """Letters in its line besides the date."""
    element: dom.Element


def find_anywhere(clues: Clues) -> FieldValue | None:
    """Return the date that its words, its name or its place mark as the page's; a home page has only labelled ones."""
    dates = [dated for dated in islice(_dates(clues), _MAX_DATES) if not mentions_other_day(dated.words)]
    labelled = [
        dated for dated in dates if dated.letters <= _MAX_OTHER_LETTERS or dated.before.rstrip().endswith(_COLONS)
    ]
    updated = [dated for dated in labelled if mentions_update(dated.words)]
    published = [dated for dated in labelled if mentions_publication(dated.words) and dated not in updated]
    if clues.is_home:
        found = _unless_list([*published, *updated], 1)
    else:
        found = _first_labelled(clues, published) or _first_unlabelled(clues, dates) or _first_labelled(clues, updated)
    return (found.iso, "line") if found else None


def find_in_scripts(document: dom.Document) -> FieldValue | None:
    """Return the only day of publication in the data of the page's scripts."""
    days: dict[str, str] = {}
    left, keys = _MAX_SCRIPT_CHARS, _MAX_KEYS
    for script in dom.select(document, "script"):
        text = dom.text_of(script)[:left]
        left -= len(text)
        for at in _key_positions(text)[:keys]:
            keys -= 1
            found = _ASSIGNED.search(text[max(at - _KEY_START, 0) : at + _KEY_CHARS])
            if found and (iso := to_iso(found["value"])):
                days.setdefault(iso[:10], iso)
        if len(days) > 1 or left <= 0 or keys <= 0:
            break
    return (next(iter(days.values())), "script") if len(days) == 1 else None


def _key_positions(text: str) -> list[int]:
    found = [(_KEYS.index(key[0]), key.start()) for key in _ANY_KEY.finditer(text)]
    return [at for _, at in sorted(found)]


def _dates(clues: Clues) -> Iterator[_Dated]:
    text_type, element_type = dom.Text, dom.Element
    before: dom.Node | None = None
    texts: list[str] = []
    for node in islice(dom.nodes(clues.document), _MAX_NODES):
        # The text of a script follows its element at once; only there the tag matters. This loop is most of the cost.
        if type(node) is text_type and not (type(before) is element_type and before.tag in _UNREAD):
            data: str = node.data
            if ("20" in data or "19" in data or "年" in data) and _MIN_DATE_CHARS <= len(data) <= _MAX_LINE_CHARS:
                line, parent = " ".join(data.split()), node.parent
                parts = split_at_date(line, day_first=clues.day_first)
                if parts and isinstance(parent, dom.Element):
                    yield _judge(parts, _find_label(texts), parent)
            texts.append(data)
        before = node


def _find_label(texts: list[str]) -> str:
    """Return the end of the last text that is not only white space."""
    label = next((text for text in reversed(texts) if not text.isspace()), "")
    return " ".join(label.split())[-_MAX_LABEL_CHARS:]


def _judge(parts: tuple[str, str, str], label: str, element: dom.Element) -> _Dated:
    iso, before, after = parts
    letters = sum(map(str.isalpha, before + after))
    words = f"{before} {after}" if letters else label
    words = f"{label} {words}" if letters and label.endswith(_COLONS) else words
    if before.rstrip().endswith(_COLONS):
        words = before[-_MAX_LABEL_CHARS:]
    return _Dated(iso, before, after, words, letters, element)


def _first_labelled(clues: Clues, dates: list[_Dated]) -> _Dated | None:
    """Return the first date that is not another page's; the footer may state when the page was changed."""
    return next((dated for dated in dates if not clues.is_foreign(dated.element, with_footer=False)), None)


def _first_unlabelled(clues: Clues, dates: list[_Dated]) -> _Dated | None:
    """Return the date in an element named after dates, the only one with a line to itself, or the one that opens the text."""
    own = [dated for dated in dates if not mentions_update(dated.words) and not clues.is_foreign(dated.element)]
    named = [dated for dated in own if dated.letters <= _MAX_OTHER_LETTERS and _has_name(dated.element)]
    bare = [dated for dated in own if _is_bare(dated)]
    return _unless_list(named, _MAX_NAMED_DAYS) or _unless_list(bare, 1) or (own[0] if own and _opens(own[0]) else None)


def _unless_list(dates: list[_Dated], max_days: int) -> _Dated | None:
    """Return the first date; where there are more, of a list of pages or of events, the only one with its markup."""
    if not dates or len({dated.iso[:10] for dated in dates}) <= max_days:
        return dates[0] if dates else None
    return find_unrepeated(dates, element=lambda dated: dated.element, day=lambda dated: dated.iso[:10])


def _is_bare(dated: _Dated) -> bool:
    """Return whether a line is a date, perhaps with a weekday or a section: "15 May 2024 | News", not "On 15 May 2024"."""
    is_joined = any(map(str.isalpha, dated.before)) and not _SEPARATOR.search(dated.before)
    return dated.letters <= _MAX_BARE_LETTERS and not is_joined and not _in_other_content(dated.element)


def _opens(dated: _Dated) -> bool:
    """Return whether the date is at the start of the text: "Karlsruhe (12.11.2021). The..."."""
    is_place = len(dated.before) <= _MAX_PLACE_CHARS and len(dated.before.split()) <= _MAX_PLACE_WORDS
    return is_place and dated.letters >= _MIN_OPENING_LETTERS and not dated.after.lstrip()[:1].isalnum()


def _has_name(element: dom.Element) -> bool:
    names = [f"{node.attr('class') or ''} {node.attr('id') or ''}" for node in _with_parent(element)]
    return _NAMED.search(" ".join(names)) is not None


def _with_parent(element: dom.Element) -> Iterator[dom.Element]:
    yield element
    if isinstance(element.parent, dom.Element):
        yield element.parent


def _in_other_content(element: dom.Element) -> bool:
    """Return whether the element is in a quotation, table or list."""
    node: dom.Node | None = element
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element):
            return False
        if node.tag in _OTHER_CONTENT:
            return True
        node = node.parent
    return False


_LEVELS: Final = 3
"""The element of a date and two around it, whose tags and classes are compared."""

Dated = TypeVar("Dated")
Signature = tuple[tuple[str, str], ...]


def find_unrepeated(
    dates: Sequence[Dated], element: Callable[[Dated], dom.Element], day: Callable[[Dated], str]
) -> Dated | None:
    """Return the first date whose markup no other date has, unless there are others of another day."""
    signatures = [_signature(element(dated)) for dated in dates]
    counts = Counter(signatures)
    single = [dated for dated, signature in zip(dates, signatures, strict=True) if counts[signature] == 1]
    return single[0] if single and len({day(dated) for dated in single}) == 1 else None


def _signature(element: dom.Element) -> Signature:
    levels: list[tuple[str, str]] = []
    node: dom.Node | None = element
    while isinstance(node, dom.Element) and len(levels) < _LEVELS:
        levels.append((node.tag, node.attr("class") or ""))
        node = node.parent
    return tuple(levels)


_PUBLISHED: Final = compile_lazily(
    r"\b(?:publi(?:shed|cation|cado|cada|cat|cerad|ziert|kováno|kované|kuota)|posted|written on|issued|released|created"
    r"|submitted|filed|dated|date\s*:"
    r"|veröffentlich|erschienen|erstellt|verfasst|geschrieben|eingestellt|online seit|datum|vom\b|stand\b"
    r"|publié|posté|rédigé|écrit le|créé le|mise? en ligne|paru le|fecha|escrito|creado|subido|postado|criado|data\s*:"
    r"|pubblicat|postato|scritto il|inserito|gepubliceerd|geplaatst|geschreven|toegevoegd|publicera|skrive[tn]|skapad|publisert"
    r"|skrevet|opprettet|udgivet|oprettet|offentliggjort|julkais|kirjoitettu|luotu"
    r"|opublikowan|data publikacji|dodan[oey]|napisan|utworzon|zveřejněn|vydáno|vloženo|vytvořen|přidáno|uverejnen|pridané"
    r"|közzétéve|megjelen|publikálva|létrehozva|objavljen|postat|scris|опубликован|дата публикации|размещен|добавлен|создан"
    r"|написан|опубліковано|створено|додано|публикуван|δημοσ|yayın|eklenme|oluşturul|tarih|diterbitkan|dipublikasikan|tayang"
    r"|ngày đăng|đăng lúc|xuất bản)"
    r"|نشر|انتشار|פורסם|תאריך|प्रकाशित|เผยแพร่"
    r"|发布|發布|發佈|发表|發表|发稿|刊登|时间|時間|日期|公開|掲載|投稿|配信|作成|등록|입력|작성|게시|발행",
    re.IGNORECASE,
)
_MODIFIED: Final = (
    "update", "modif", "edited", "revised", "revision", "reviewed", "changed", "last change", "aktualis", "änderung",
    "geändert", "zuletzt bearbeitet", "bearbeitet am", "uhr bearbeitet", "mis à jour", "mise à jour", "actualiz", "atualiz",
    "editad", "aggiornat", "bijgewerkt", "gewijzigd", "bewerkt", "uppdatera", "ändrad", "opdatere", "ændret", "oppdatere",
    "endret", "päivitetty", "muokattu", "zaktualizowan", "edytowan", "aktualiz", "upraven", "frissítve", "módosít",
    "обновлен", "изменен", "редактир", "оновлено", "змінено", "актуализ", "промен", "ενημερώθηκε", "τροποποι", "güncellen",
    "değiştir", "diperbarui", "cập nhật", "تحديث", "تعديل", "عدل", "עודכן", "更新", "修改", "修订", "修正", "编辑于", "수정",
)  # fmt: skip
_OTHER_DAY: Final = compile_lazily(
    r"\u00a9|\b(?:copyright|registered|joined|member|since|born|expires?|until|deadline|founded|est|vol|volume|issue"
    r"|ends?|valid|availab\w+|retrieved|accessed|starts?|begins?|opens|offer|sale|last post"
    r"|geboren|seit|bis zum|abgerufen|zugriff|gültig|né le|née le|consulté|nacid[oa]|desde|consultado|nat[oa] il)\b"
    r"|版权|版權|注册|註冊|截止|有效|今天是|今日は",
    re.IGNORECASE,
)


def mentions_publication(text: str) -> bool:
    """Return whether the words beside a date are about the publication."""
    return _PUBLISHED.search(text) is not None


def mentions_update(text: str) -> bool:
    """Return whether the words beside a date are about a later change."""
    lowered = text.lower()
    return any(word in lowered for word in _MODIFIED)


def mentions_other_day(text: str) -> bool:
    """Return whether the words beside a date are about something other than the page: a copyright, a birth, a deadline."""
    return _OTHER_DAY.search(text) is not None

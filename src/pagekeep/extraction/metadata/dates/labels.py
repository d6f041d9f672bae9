"""The words beside a date that say what it is the date of, in many languages."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.text import compile_lazily

_PUBLISHED: Final = compile_lazily(
    r"\b(?:publi(?:shed|cation|cado|cada|cat|cerad|ziert|kováno|kované|kuota)|posted|first posted|written on|issued|released"
    r"|date(?: of (?:issue|release))?\s*:|created|submitted|filed"
    r"|veröffentlich|erschienen|erstellt|eingestellt|datum|vom\b|stand\b|publié|posté|mis en ligne|paru le|fecha|pubblicat"
    r"|gepubliceerd|geplaatst|publicerad|publicerat|publisert|udgivet|offentliggjort|julkaistu|opublikowan|data publikacji"
    r"|dodano|zveřejněno|vydáno|uverejnené|közzétéve|megjelen|publikálva|objavljeno|objavljen|опубликован|дата публикации"
    r"|размещен|опубліковано|публикуван|δημοσ|yayın|eklenme|tarih|diterbitkan|dipublikasikan|tayang|ngày đăng|đăng lúc"
    r"|xuất bản)"
    r"|نشر|انتشار|פורסם|תאריך|प्रकाशित|เผยแพร่"
    r"|发布|發布|發佈|发表|發表|发稿|刊登|时间|時間|日期|公開|掲載|投稿|配信|作成|등록|입력|작성|게시|발행",
    re.IGNORECASE,
)
_MODIFIED: Final = (
    "update", "modif", "edited", "aktualis", "revised", "revision", "reviewed", "changed", "mis à jour", "actualiz",
    "atualiz", "aggiornat", "bijgewerkt", "обновлен", "изменен", "更新", "수정", "uppdatera", "opdatere", "oppdatere",
    "päivitetty", "zaktualizowan", "güncellen", "ενημερώθηκε", "frissítve", "оновлено", "änderung", "geändert",
    "modificat", "修改", "修订", "cập nhật", "diperbarui", "تحديث", "عدل", "актуализ", "עודכן",
)  # fmt: skip
_OTHER_DAY: Final = compile_lazily(
    r"\u00a9|\b(?:copyright|registered|joined|member|since|born|expires?|until|deadline|founded|est|vol|volume|issue"
    r"|ends?|valid|availab\w+|retrieved|accessed|starts?|begins?|opens|offer|sale|last post"
    r"|geboren|seit|bis zum|abgerufen|zugriff|gültig|né le|née le|consulté|nacid[oa]|desde|consultado|nat[oa] il)\b"
    r"|版权|版權|注册|註冊|截止|有效",
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

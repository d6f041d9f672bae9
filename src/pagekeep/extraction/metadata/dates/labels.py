"""The words beside a date that say what it is the date of, in many languages."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.text import compile_lazily

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

"""Which language the page is written in: what its text shows, else what it declares."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom

_ENOUGH: Final = 80
"""Letters from which a guess is better than none."""
_CERTAIN: Final = 300
"""Letters from which the text outweighs what the page declares: templates declare what their author spoke."""
_SAMPLE: Final = 1_000
"""Characters looked at. Three times as many changed 2 of 603 measured answers and cost twice the time."""
_CODE: Final = re.compile(r"\A([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?![a-z])")
_DECLARED: Final = (
    'html[lang], meta[http-equiv="content-language" i], meta[property="og:locale"], meta[name="language" i]'
)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalpha())
_IDEOGRAPHS: Final = re.compile(r"(?:(?![\W\d_])[\u2e80-\U0010ffff])+")
# The same language under two codes: old ones, and macrolanguages that pages and detectors name differently.
_SAME: Final = {"iw": "he", "in": "id", "ji": "yi", "nb": "no", "nn": "no", "cmn": "zh", "tl": "fil", "mo": "ro"}

# The identifier speaks ISO 639-3, the web ISO 639-1; languages without a two-letter code keep three.
_TWO_LETTERS: Final = dict(
    pair.split(":")
    for pair in (
        "afr:af aka:ak amh:am ara:ar aze:az bel:be ben:bn bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da deu:de ell:el eng:en"
        " epo:eo est:et eus:eu fas:fa fin:fi fra:fr gle:ga glg:gl guj:gu heb:he hin:hi hrv:hr hun:hu hye:hy ind:id isl:is"
        " ita:it jav:jv jpn:ja kan:kn kat:ka kaz:kk khm:km kor:ko lat:la lav:lv lit:lt mal:ml mar:mr mkd:mk mon:mn mya:my"
        " nep:ne nld:nl nno:nn nob:no nor:no ori:or pan:pa pes:fa pol:pl por:pt ron:ro rus:ru sin:si slk:sk slv:sl sna:sn"
        " som:so spa:es sqi:sq srp:sr swa:sw swe:sv tam:ta tel:te tgl:fil tha:th tuk:tk tur:tr ukr:uk urd:ur uzb:uz vie:vi"
        " yid:yi yor:yo zho:zh zul:zu"
    ).split()
)


def detect(document: dom.Document, text: str) -> tuple[str | None, str]:
    """The language code in lower case (`en`, `pt-br`) and its origin: `text`, `declared`, or `none` for no code."""
    declared = _declared(document)
    sample = text[:_SAMPLE]
    letters = _letters(sample)
    if letters < (_CERTAIN if declared else _ENOUGH):
        return (declared, "declared") if declared else (None, "none")
    code = _identify(sample)
    if code is None:
        return (declared, "declared") if declared else (None, "none")
    return (declared if declared and _primary(declared) == _primary(code) else code), "text"


def _letters(text: str) -> int:
    """Letters in the text; an ideograph says as much as several."""
    if text.isascii():
        return len(text.encode().translate(None, _NO_LETTERS))
    return sum(map(len, _LETTERS.findall(text))) + 3 * sum(map(len, _IDEOGRAPHS.findall(text)))


def _declared(document: dom.Document) -> str | None:
    if document.root is not None and (code := normal(document.root.attr("lang") or "")):
        return code  # the first there could be, so most pages need not be searched
    for element in dom.select(document, _DECLARED):
        value = element.attr("lang") if element.tag == "html" else element.attr("content")
        if code := normal(value or ""):
            return code
    return None


def normal(value: str) -> str | None:
    """`en_US.UTF-8` as `en-us`; the script (`zh-Hant`) is left out when there is a region."""
    found = _CODE.match(value.strip()[:40].lower())
    if found is None:
        return None
    language, script, region = found.groups()
    return "-".join(part for part in (_SAME.get(language, language), region or script) if part)


def _primary(code: str) -> str:
    language = code.partition("-")[0]
    return _SAME.get(language, language)


def _identify(sample: str) -> str | None:
    code = dom.language_of(sample)
    return _TWO_LETTERS.get(code, code) if code else None

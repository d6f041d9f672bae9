"""What is around the text of a newsletter: lines above it ("view in browser"), and the footer with its unsubscribe links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.email.html_body import Body, is_counter
from pagekeep.capture.documents.email.message import parse_date
from pagekeep.extraction.clean.state import BLOCKS
from pagekeep.extraction.steps import element_name
from pagekeep.model import Removal
from pagekeep.text import count_words, one_line
from pagekeep.values import dataclass

_SOCIAL: Final = frozenset(
    "facebook twitter x instagram linkedin youtube mastodon bluesky threads tiktok pinterest whatsapp telegram reddit rss "
    "website web blog podcast spotify github email e mail share tweet like comment restack forward app store google play "
    "and und et y follow us on".split()
)
"""Words of a row of links to social networks."""
_STREET: Final = re.compile(r"\b\d{1,5}[A-Za-z]?\b")
_FORWARDED: Final = re.compile(r"forwarded this|was this (?:e-?mail )?forwarded", re.I)
_LETTER: Final = re.compile(r"\w")
_MAX_FOOTER_WORDS: Final = 150
_MAX_FOOTER_SHARE: Final = 0.35
"""Of all words that may follow the first unsubscribe link, so that a short note is not lost for its footer."""
_MAX_FURNITURE_WORDS: Final = 90
_MAX_HEAD_BLOCKS: Final = 20
_MAX_HEAD_WORDS: Final = 15
"""A block with more words begins the text."""
_MAX_CALLS: Final = 2
"""Blocks at the top in which an unsubscribe link belongs to the head, and not to the footer of a short message."""
_NUMBER: Final = re.compile(r"\d+")
_MAX_LINE_WORDS: Final = 40
_MAX_NAME_CHARS: Final = 200
_MAX_SHORT_WORDS: Final = 8
_MAX_SHORT_BLOCKS: Final = 6
_DATE: Final = re.compile(
    r"(?:[a-z]{3,9},? )?(?:[^\W\d]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|"
    r"\d{1,2}\.? [^\W\d]{3,9}\.?(?:,? \d{4})?|\d{4}-\d\d-\d\d)"
)
_MAX_START_CHARS: Final = 1_000
_MAX_SOCIAL_WORDS: Final = 25
_WORD: Final = re.compile(r"\w+")
_MAX_LOGO: Final = 80
"""Pixels of a picture that is an icon."""


@dataclass(slots=True)
class Block:
    """Nodes that are shown as one block: an element, or a run of text and inline elements between two."""

    nodes: list[dom.Node]
    text: str
    links: list[dom.Element]
    images: list[dom.Element]
    is_heading: bool = False

    @property
    def words(self) -> int:
        """The number of words."""
        return count_words(self.text)

    @property
    def start(self) -> str:
        """The beginning of the text, which is enough to recognise it."""
        return self.text[:_MAX_START_CHARS]

    @property
    def is_social(self) -> bool:
        """Whether it has only names of social networks."""
        words = _WORD.findall(self.start.lower())
        return 0 < len(words) <= _MAX_SOCIAL_WORDS and set(words) <= _SOCIAL


def collect_blocks(root: dom.Element) -> list[Block]:
    """Return what is shown, block by block; two line breaks part blocks too."""
    return [block for run in _runs(root) if (block := _make_block(run)) is not None]


def _runs(node: dom.Element) -> Iterator[list[dom.Node]]:
    run: list[dom.Node] = []
    breaks = 0
    for child in list(node.children):
        is_block = isinstance(child, dom.Element) and (child.tag in BLOCKS or _holds_block(child))
        is_break = isinstance(child, dom.Element) and child.tag == "br"
        is_blank = isinstance(child, dom.Text) and not child.data.strip()
        breaks = breaks + 1 if is_break else breaks if is_blank else 0
        if (is_block or breaks == 2) and run:
            yield run
            run = []
        if not is_block:
            run.append(child)
        elif isinstance(child, dom.Element):
            if _is_container(child):
                yield from _runs(child)
            else:
                yield [child]
    if run:
        yield run


def _holds_block(node: dom.Element) -> bool:
    return any(inner.tag in BLOCKS for inner in dom.elements(node))


def _is_container(node: dom.Element) -> bool:
    """Return whether a block is made of blocks, or of lines that two breaks part."""
    return node.tag not in ("table", "pre", "ul", "ol", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6") and (
        _holds_block(node) or dom.first(node, "br + br") is not None
    )


def _make_block(nodes: list[dom.Node]) -> Block | None:
    text = one_line(" ".join(dom.text_of(node) for node in nodes))
    inside = [node for node in nodes if isinstance(node, dom.Element)]
    images = [image for node in inside for image in ([node] if node.tag == "img" else dom.tagged(node, ("img",)))]
    links = [link for node in inside for link in ([node] if node.tag == "a" else dom.tagged(node, ("a",)))]
    if not text and not images:
        return None
    is_heading = len(inside) == 1 and inside[0].tag in ("h1", "h2", "h3", "h4", "h5", "h6")
    return Block(nodes, text, links, images, is_heading)


def find_online(body: Body) -> None:
    """Note the link under which the message can be read on the web."""
    for link in dom.tagged(body.root, ("a",), 2_000):
        address = (link.attr("href") or "").strip()
        if address.startswith(("http://", "https://")) and VIEW_ONLINE.search(one_line(dom.text_of(link))[:100]):
            body.online = "" if is_counter(address) else address
            return


def drop_head(body: Body) -> list[Removal]:
    """Remove the lines above the text: where to read it on the web, the sender's name or logo, the date, the subject again."""
    removals: list[Removal] = []
    known = [one_line(name).casefold() for name in body.names if name]
    day = (parse_date(body.message.header("date")) or "")[8:10].lstrip("0")
    blocks = collect_blocks(body.root)
    for place, block in enumerate(blocks[:_MAX_HEAD_BLOCKS]):
        if not _keeps_text(blocks[place + 1 :]):
            break
        if _is_line_above(block, place):
            removals.append(_drop(block, "line above the message"))
        elif _is_known(block, known, day):
            removals.append(_drop(block, "name, date or subject, which the metadata has"))
        elif block.words > _MAX_HEAD_WORDS:
            break
    return removals


def _is_line_above(block: Block, place: int) -> bool:
    if not block.links or block.words > _MAX_LINE_WORDS:
        return False
    is_call = _FORWARDED.match(block.start) or (place < _MAX_CALLS and UNSUBSCRIBE.search(block.start))
    return bool(VIEW_ONLINE.search(block.start) or is_call)


def _is_known(block: Block, known: list[str], day: str) -> bool:
    """Return whether a short block only repeats the sender, the subject or the date."""
    text = block.text or " ".join(filter(None, (image.attr("alt") for image in block.images)))
    text = one_line(text[: 2 * _MAX_NAME_CHARS]).casefold()
    if block.is_heading or not text or len(text) > _MAX_NAME_CHARS:
        return False
    if _DATE.fullmatch(text):
        return day in [number.lstrip("0") for number in _NUMBER.findall(text)]
    return any(text == name or name.startswith(f"{text} ") for name in known)


def drop_footer(body: Body) -> list[Removal]:
    """Remove the footer: unsubscribe links, postal address, why the reader got the message, social networks."""
    blocks = collect_blocks(body.root)
    start = _find_footer(blocks, _unsubscribe_targets(body))
    return [_drop(block, "footer of the message") for block in blocks[start:]]


def _unsubscribe_targets(body: Body) -> frozenset[str]:
    """Return the addresses that the headers name for unsubscribing: links to them are understood in every language."""
    value = body.message.header("list-unsubscribe")
    return frozenset(part.strip(" <>") for part in value.split(",") if "http" in part)


def _find_footer(blocks: list[Block], targets: frozenset[str]) -> int:
    """Return where the footer begins; the number of blocks when there is none."""
    total = sum(block.words for block in blocks)
    limit = max(_MAX_FOOTER_WORDS, _MAX_FOOTER_SHARE * total) if total > 2 * _MAX_FURNITURE_WORDS else _MAX_FOOTER_WORDS
    after, start = 0, len(blocks)
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        after += block.words
        if after > limit:
            break
        if _is_unsubscribe(block, targets):
            start = place
    if start == len(blocks):
        return start
    return start if _keeps_text(blocks[: (start := _climb(blocks, start))]) else len(blocks)


def _climb(blocks: list[Block], start: int) -> int:
    """Return where the footer begins whose unsubscribe link is at `start`: lines of a postal address may be short blocks."""
    short = 0
    for place in range(start - 1, -1, -1):
        block = blocks[place]
        if _is_furniture(block):
            start, short = place, 0
        elif _is_short(block) and short < _MAX_SHORT_BLOCKS:
            short += 1
        else:
            break
    return start


def _is_short(block: Block) -> bool:
    text = block.text.rstrip()
    return (
        0 < block.words <= _MAX_SHORT_WORDS
        and not (block.is_heading or block.links or block.images)
        and not text.endswith((".", "!", "?", "\u2026", "\u3002"))
    )


def _keeps_text(blocks: list[Block]) -> bool:
    return any(block.words >= 3 or block.images for block in blocks)


def _is_unsubscribe(block: Block, targets: frozenset[str]) -> bool:
    if block.words > _MAX_FURNITURE_WORDS:
        return False
    for link in block.links:
        address = link.attr("href") or ""
        if (
            address in targets
            or UNSUBSCRIBE.search(one_line(dom.text_of(link))[:200])
            or "unsubscribe" in address.lower()
        ):
            return True
    return bool(block.links) and UNSUBSCRIBE.search(block.start) is not None


def _is_furniture(block: Block) -> bool:
    """Return whether a block above an unsubscribe link belongs to the footer too."""
    if not _LETTER.search(block.text):
        return not block.images or _has_only_icons(block)
    if block.is_heading and not block.is_social and not FURNITURE.search(block.start):
        return False
    if block.words > _MAX_FURNITURE_WORDS:
        return False
    if VIEW_ONLINE.search(block.start) or (UNSUBSCRIBE.search(block.start) and block.links):
        return True
    if block.is_social:
        return True
    if FURNITURE.search(block.start):
        return block.words <= 60
    return _is_address(block)


def _has_only_icons(block: Block) -> bool:
    sizes = [re.match(r"\d{1,5}", image.attr("width") or "") for image in block.images]
    return all(size is not None and int(size[0]) <= _MAX_LOGO for size in sizes)


def _is_address(block: Block) -> bool:
    """Return whether a short block is a postal address: several parts, a number, and not a sentence."""
    text = block.text
    parts = [part for part in re.split(r"[,·|•\n]|\s-\s", text) if part.strip()]
    return (
        block.words <= 20
        and len(parts) >= 3
        and _STREET.search(text) is not None
        and not text.rstrip().endswith(("?", "!", ":"))
        and not block.links
        and all(count_words(part) <= 6 for part in parts)
    )


def _drop(block: Block, reason: str) -> Removal:
    first = next((node for node in block.nodes if isinstance(node, dom.Element)), block.nodes[0])
    removal = Removal(element_name(first), reason, block.words)
    for node in block.nodes:
        dom.drop(node)
    return removal


VIEW_ONLINE: Final = re.compile(
    r"view (?:it |this |the )?(?:\w+ )?(?:online|(?:in|on) (?:your |a |the |my )?(?:web ?)?(?:browser|web))|"
    r"(?:read|open|view|see) (?:it |this )?(?:(?:email|message|issue|post|newsletter) )?"
    r"(?:online|in (?:your |the )?browser|in (?:the )?app|on the web)|"
    r"web version|webversion|browser version|online version|having trouble (?:viewing|reading)|"
    r"(?:not displaying|doesn.t display|can.t see|problems? viewing)|(?:im|in ihrem|in deinem) browser|"
    r"online ?(?:ansehen|lesen|anzeigen|version)|webansicht|darstellungsprobleme|"
    r"(?:dans|sur) (?:votre|le|un|ton) navigateur|version (?:en ligne|web|online)|voir en ligne|"
    r"lire en ligne|en (?:tu|su|el) navegador|ver en l[ií]nea|versi[oó]n (?:web|online|en l[ií]nea)|"
    r"no seu navegador|ver(?:são)? (?:no navegador|online)|nel (?:tuo )?browser|versione (?:web|online)|"
    r"in (?:uw|je|de) browser|online ?versie|i (?:din )?(?:webb?l[æä]sare|browser|nettleser)|"
    r"w przeglądarce|в браузере|веб-версия|الإصدار على الويب|عرض (?:هذه الرسالة )?في المتصفح|في المتصفح|"
    r"צפה בדפדפן|בדפדפן|在浏览器中|在瀏覽器中|网页版|ブラウザで|webで読む|브라우저에서",
    re.I,
)
"""Links to the message on the web."""
UNSUBSCRIBE: Final = re.compile(
    r"un-?subscrib|opt[ -]?out|"
    r"(?:manage|update|change|edit) (?:your |my |email |newsletter )*(?:preferences|subscriptions?|settings|profile)|"
    r"(?:email|subscription|notification|communication) (?:preferences|settings)|stop receiving|"
    r"turn off these|abbestell|abmelden|austragen|abonnement verwalten|d[ée]sabonn|d[ée]sinscri|"
    r"se d[ée]sinscrire|g[ée]rer (?:vos|mes) pr[ée]f[ée]rences|dar(?:se|me|te)? de baja|date de baja|"
    r"cancelar (?:la |tu |su |a )?(?:suscripci|inscri|subscri)|anular (?:la )?suscripci|disiscriv|"
    r"annulla(?:re)? l.iscrizione|cancellati|afmelden|uitschrijven|avprenumerera|avregistrera|avmeld|"
    r"afmeld|wypisz|rezygnuj|отписаться|отказаться от рассылки|إلغاء الاشتراك|ביטול (?:ה)?(?:הרשמה|מנוי)|"
    r"להסרה|退订|取消订阅|取消訂閱|配信停止|購読解除|수신 ?거부|구독 ?취소",
    re.I,
)
"""Links with which readers stop or change a subscription."""
FURNITURE: Final = re.compile(
    r"you(?:.re| are)? (?:are )?receiv(?:ing|ed) (?:this|it)|you received this|"
    r"(?:was|were) sent (?:to|by)|this (?:e-?mail|message|newsletter) (?:was|is) (?:sent|intended)|"
    r"why did (?:i|you) get|our (?:mailing|postal) address|mailing address|all rights reserved|"
    r"copyright ?(?:©|\(c\)|\d{4})|\(c\) ?\d{4}|©|forward (?:this e?-?mail|this to|to a friend)|"
    r"was this (?:e-?mail )?forwarded|forwarded this|add us to your address book|"
    r"privacy (?:policy|notice)|terms of (?:use|service)|follow us|find us on|connect with us|get the app|"
    r"download (?:the|our) app|^(?:powered|sent|published|made|built) (?:with|by|via|on)|start writing|"
    r"refer a friend|advertise (?:with|in|here)|sie erhalten diese|"
    r"diese(?:r|s)? (?:e-?mail|newsletter|nachricht) (?:wurde|ging)|impressum|datenschutz|"
    r"alle rechte vorbehalten|vous recevez (?:ce|cette)|cet? (?:e-?mail|courriel|message) (?:a été|vous)|"
    r"mentions légales|tous droits réservés|politique de confidentialité|recib(?:es|iste|e) este|"
    r"has recibido|todos los derechos|aviso legal|política de privacidad|recebeu este|todos os direitos|"
    r"ricevi questa|hai ricevuto|tutti i diritti|u ontvangt deze|je ontvangt deze|alle rechten|"
    r"du f[åa]r (?:detta|denne)|вы получили это|все права защищены|تلقيت هذ|جميع الحقوق محفوظة|"
    r"קיבלת (?:את )?(?:ה)?(?:מייל|הודעה|דוא)|כל הזכויות שמורות|您收到|你收到|版权所有|このメール|無断転載|이 메일|모든 권리",
    re.I,
)
"""What else is in footers: why the reader got the message, rights, addresses, other services."""

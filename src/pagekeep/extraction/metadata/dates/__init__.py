"""Parse dates in the forms that pages use, and return them as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

from pagekeep import dom
from pagekeep.text import compile_lazily

__all__ = [
    "MONTHS",
    "date_in_path",
    "is_day_first",
    "month_number",
    "parse_month",
    "remove_date",
    "split_at_date",
    "to_iso",
    "to_short_iso",
]


_MAX_TEXT_CHARS: Final = 200
_MAX_PATH_CHARS: Final = 500
_YEARS: Final = range(1990, 2101)
"""The web began in 1990; years after 2100 are typing errors."""

_CLOCK: Final = (
    r"(?:(?:,|\s|T|at|um|à|-|\u2013|\||\u2022)*(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?!\d)(?:[:.](?P<second>\d{2})(?!\d))?"
    r"(?:[.,]\d{1,9})?\s{0,2}(?P<half>[AaPp]\.?[Mm]\b)?"
    r"\s{0,2}(?P<zone>Z\b|GMT\b|UTC\b|[+-]\d{2}:?\d{2}(?!\d)|[+-]\d{2}(?!\d))?)?"
)
_ISO: Final = compile_lazily(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)" + _CLOCK)
_YEAR_FIRST: Final = compile_lazily(
    r"(?<![\d/.])(?P<year>\d{4})\s?[/.]\s?(?P<month>\d{1,2})\s?[/.]\s?(?P<day>\d{1,2})(?!\d)" + _CLOCK
)
_EAST_ASIAN: Final = compile_lazily(
    r"(?:(?P<era>民國|民国|平成|令和)\s?(?P<era_year>\d{1,3}|元)|(?P<year>\d{4}))\s?[年년]"
    r"\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})(?:\s?[日号號일])?(?:\s?\([^\W\d_]{1,3}\))?" + _CLOCK
)
_NAME: Final = r"(?P<name>[^\W\d_](?:[^\W\d_]|[\u0654\u0900-\u0dff\u0e30-\u0e4e\u200c]){1,12})\.?"
"""The name of a month; some scripts write vowels as marks that are not letters."""
_DAY_NAME_YEAR: Final = compile_lazily(
    r"(?<![\d:])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?[\s,./-]{0,3}(?:de\s|of\s|d'|[^\W\d_]{3,9}\s?/\s?)?"
    + _NAME
    + r"[\s,./-]{0,3}(?:de\s|del\s)?(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_NAME_DAY_YEAR: Final = compile_lazily(
    r"(?<![^\W\d_])"
    + _NAME
    + r"[\s./-]{0,3}(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s,./-]{1,3}(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_YEAR_NAME_DAY: Final = compile_lazily(
    r"(?<!\d)(?P<year>\d{4})[\s,./-]{1,3}(?:m\.\s)?" + _NAME + r"[\s,./-]{0,3}(?P<day>\d{1,2})(?!\d)" + _CLOCK
)
_VIETNAMESE: Final = compile_lazily(
    r"(?<!\d)(?P<day>\d{1,2})\s?(?:tháng|thg|th)\.?\s?(?P<month>\d{1,2}),?\s{0,2}(?:năm\s)?(?P<year>\d{4})(?!\d)"
    + _CLOCK,
    re.IGNORECASE,
)
_YEAR_LAST: Final = compile_lazily(
    r"(?<![\d/.:-])(?P<first>\d{1,2})\s?(?P<mark>[./|-])\s?(?P<second_number>\d{1,2})\s?(?P=mark)\s?(?P<year>\d{4})(?!\d)"
    + _CLOCK
)
_COMPACT: Final = compile_lazily(
    r"\A(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<zone>Z)?)?\Z"
)
_NAME_DAY_CLOCK_YEAR: Final = compile_lazily(
    r"(?<![^\W\d_])" + _NAME + r"\s(?P<day>\d{1,2})\s(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r"\s(?P<zone>UTC|GMT)?(?:[A-Z]{3,4})?\s?(?P<year>\d{4})(?!\d)"
)
_SHORT_YEAR: Final = compile_lazily(
    r"(?<![\d/.:-])(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<last>\d{2})(?![\d/:-]|\.\d)"
)
_NAME_YEAR: Final = compile_lazily(_NAME + r",?\s(?:de\s)?(?P<year>\d{4})")
_MAY_BE_DATE: Final = re.compile(r"\d\D{0,24}\d{4}|\d{4}\D{0,24}\d|[年년]")
"""Every date has a year of four digits and a day nearby, or the word for year, and most texts have not: a quick test."""
_UNIX: Final = compile_lazily(r"\A(\d{9,10})(?:\d{3})?(?:\.0+)?\Z")
_PATTERNS: Final = (
    _ISO,
    _YEAR_FIRST,
    _EAST_ASIAN,
    _DAY_NAME_YEAR,
    _NAME_DAY_YEAR,
    _YEAR_LAST,
    _COMPACT,
    _NAME_DAY_CLOCK_YEAR,
    _YEAR_NAME_DAY,
    _VIETNAMESE,
)
_ERAS: Final = {"民國": 1911, "民国": 1911, "平成": 1988, "令和": 2018}
"""The year before the first of each era of the Republic of China and of Japan."""
_BUDDHIST: Final = 543
"""Years that the Thai calendar is ahead."""
_THAI: Final = compile_lazily(r"[\u0e00-\u0e7f]")
_NUMERALS: Final = compile_lazily(r"[〇○零一二三四五六七八九十]{1,4}(?=\s?[年月日号號])")
_DIGITS: Final = str.maketrans("〇○零一二三四五六七八九", "000123456789")
_PATH: Final = compile_lazily(r"/((?:19|20)\d{2})[/_-]([01]?\d)[/_-]([0-3]\d(?=[/+_.-]|\Z)|\d(?=/|\Z))")
_PATH_COMPACT: Final = compile_lazily(r"[/_-]t?((?:19|20)\d{2})[/-]?(0\d|1[0-2])[/-]?([0-2]\d|3[01])(?=[/_.a-z-]|\Z)")
_PATH_NAMED: Final = compile_lazily(r"/((?:19|20)\d{2})/([a-z]{3,9})/([0-3]?\d)(?=/|\Z)")
_PATH_YEAR_LAST: Final = compile_lazily(r"[/~_-]([0-3]?\d)-([0-3]?\d)-((?:19|20)\d{2})(?=[/_.-]|\Z)")
_ARCHIVED: Final = compile_lazily(r"\A/web/\d{14}[a-z_]{0,3}/")
"""The Wayback Machine's prefix: the date of the copy, not of the page."""


def to_iso(text: str, *, day_first: bool = False) -> str | None:
    """Return the first date in the text as ISO 8601, with time and offset if stated; `None` without a date in range.

    `day_first` reads 03/05/2024 as 3 May.
    """
    text = text.strip()[:_MAX_TEXT_CHARS]
    if not _MAY_BE_DATE.search(text):
        return None
    if (stamp := _UNIX.match(text)) and not _COMPACT.match(text):
        moment = datetime.fromtimestamp(int(stamp[1]), UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year in _YEARS else None
    found = _search(text, day_first)
    return found[0] if found else None


def to_short_iso(text: str, *, day_first: bool = False, year_first: bool = False) -> str | None:
    """Return the first date with a year of two digits, such as 05.03.24; `None` if there is none."""
    for match in _SHORT_YEAR.finditer(text[:_MAX_TEXT_CHARS]):
        first, second, last = match["first"], match["second"], match["last"]
        if year_first:
            iso = _date(_long_year(int(first)), int(second), int(last))
        else:
            month, day = _by_mark(int(first), int(second), match["mark"], day_first)
            iso = _date(_long_year(int(last)), month, day)
        if iso:
            return iso
    return None


def _long_year(short: int) -> int:
    return short + (1900 if short >= _YEARS[0] % 100 else 2000)


def parse_month(text: str) -> str | None:
    """Parse a text that is only a month, such as "November 2015", as `2015-11`; else return `None`."""
    match = _NAME_YEAR.fullmatch(text.strip()[:_MAX_TEXT_CHARS])
    month = month_number(match["name"]) if match else 0
    return f"{match['year']}-{month:02}" if match and month and int(match["year"]) in _YEARS else None


def remove_date(text: str) -> str:
    """Return the text without its first date."""
    found = _find(text, day_first=False)
    return text[: found[1]] + text[found[2] :] if found else text


def split_at_date(text: str, *, day_first: bool = False) -> tuple[str, str, str] | None:
    """Return the first date in the text as ISO 8601, and the text before and after it; `None` without a date."""
    found = _find(text, day_first)
    return (found[0], text[: found[1]], text[found[2] :]) if found else None


def date_in_path(path: str, *, day_first: bool = True) -> str | None:
    """Return the date in the path of a URL, such as `/2024/03/05/`."""
    path = _ARCHIVED.sub("/", path[:_MAX_PATH_CHARS].lower())
    if match := _PATH.search(path) or _PATH_COMPACT.search(path):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _PATH_NAMED.search(path):
        return _date(int(match[1]), month_number(match[2]), int(match[3]))
    if match := _PATH_YEAR_LAST.search(path):
        first, second = int(match[1]), int(match[2])
        month, day = (second, first) if first > 12 or (day_first and second <= 12) else (first, second)
        return _date(int(match[3]), month, day)
    return None


def _find(text: str, day_first: bool) -> tuple[str, int, int] | None:
    """Return the first date in a text as ISO 8601, and where it starts and ends."""
    text = text[:_MAX_TEXT_CHARS]
    return _search(text, day_first) if _MAY_BE_DATE.search(text) else None


def _search(text: str, day_first: bool) -> tuple[str, int, int] | None:
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if iso := _to_iso(match.groupdict(), day_first):
                return iso, match.start(), match.end()
    digits = _NUMERALS.sub(_to_digits, text) if "年" in text else text
    # The positions in the text differ: a date in Chinese numerals counts as the whole text.
    return (found[0], 0, len(text)) if digits != text and (found := _search(digits, day_first)) else None


def _to_digits(numeral: re.Match[str]) -> str:
    """Return 二〇一八 as 2018 and 二十五 as 25."""
    tens, ten, ones = numeral[0].partition("十")
    return f"{tens.translate(_DIGITS) or '1'}{ones.translate(_DIGITS) or '0'}" if ten else tens.translate(_DIGITS)


def _to_iso(parts: dict[str, str | None], day_first: bool) -> str | None:
    month, day = _month_and_day(parts, day_first)
    iso = _date(_year(parts), month, day)
    return iso + _clock(parts) if iso else None


def _year(parts: dict[str, str | None]) -> int:
    if era := parts.get("era"):
        ordinal = parts["era_year"]
        return _ERAS[era] + (1 if ordinal == "元" else int(ordinal or 0))
    year = int(parts["year"] or 0)
    return year - _BUDDHIST if year not in _YEARS and _THAI.match(parts.get("name") or "") else year


def _month_and_day(parts: dict[str, str | None], day_first: bool) -> tuple[int, int]:
    if name := parts.get("name"):
        return month_number(name), int(parts["day"] or 0)
    if (first_number := parts.get("first")) is None:
        return int(parts["month"] or 0), int(parts["day"] or 0)
    return _by_mark(int(first_number), int(parts["second_number"] or 0), parts["mark"] or "", day_first)


def _by_mark(first: int, second: int, mark: str, day_first: bool) -> tuple[int, int]:
    """Return month and day of the two numbers before a year."""
    # Dots and dashes have the day first; a slash may be either, unless one number cannot be a month.
    first_is_day = first > 12 or (second <= 12 and (day_first or mark != "/"))
    return (second, first) if first_is_day else (first, second)


def _date(year: int, month: int, day: int) -> str | None:
    if year not in _YEARS:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _clock(parts: dict[str, str | None]) -> str:
    """Return the time of day as `T10:30:00+02:00`; empty without one, or for midnight without a zone (a bare date)."""
    if parts.get("hour") is None:
        return ""
    hour, minute, second = int(parts["hour"] or 0), int(parts["minute"] or 0), int(parts.get("second") or 0)
    half = (parts.get("half") or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    zone = _zone(parts.get("zone"))
    if hour > 23 or minute > 59 or second > 59 or (not zone and not half and hour == minute == second == 0):
        return ""
    return f"T{hour:02}:{minute:02}:{second:02}{zone}"


def _zone(zone: str | None) -> str:
    if not zone:
        return ""
    if zone[0] not in "+-":
        return "Z"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return f"{zone[0]}{digits[:2]}:{digits[2:]}"


_REGION: Final = compile_lazily(r"\A\w+://[^/:?#]+\.([a-z]{2})(?=[:/?#]|\Z)|/en[-_]([a-z]{2})(?=/|\Z)", re.IGNORECASE)
"""A country in the address, which says how dates are written in English there."""
_MONTH_FIRST: Final = frozenset("us ph io co ai tv me fm ly to cc ws gg so sh im la am gl".split())
"""Countries that write the month first, and those whose names anyone uses."""


def is_day_first(document: dom.Document, url: str | None = None) -> bool:
    """Return whether dates have the day first. American ones do not; English without a region is mostly American."""
    language = _declared_language(document) or "en"
    if language == "en" and (region := _REGION.search(url or "")):
        return (region[1] or region[2]).lower() not in _MONTH_FIRST
    return language not in ("en", "en-us", "en-ph", "es-us")


def _declared_language(document: dom.Document) -> str:
    root = dom.first(document, "html")
    return ((root.attr("lang") if root is not None else None) or "").strip().lower().replace("_", "-")


# Left out: names that mean another month in a more common language (Croatian "listopad" is October, Polish and Czech
# November), and abbreviations that are words or product names elsewhere ("11 Pro 2019").
_NAMES: Final = (
    "january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari januarie tammikuuta "
    "tammikuu tammi janúar stycznia styczeń sty ledna leden januára január siječnja siječanj sij јануар јан "
    "януари яну јануари января январь янв січня січень січ студзеня студзень сту ianuarie ian ιανουαρίου "
    "ιανουάριος ιαν ocak oca yanvar yan janar jaanuar jaan janvāris sausio sausis saus gener xaneiro xan "
    "urtarrila eanáir ean ionawr يناير جانفي ינואר ינו ژانویهٔ ژانویه جنوری जनवरी জানুয়ারী জানু जानेवारी जाने "
    "ஜனவரி జనవరి มกราคม იანვარი იან հունվարի հունվար հնվ қаңтар қаң",
    "february feb februar février févr febrero febbraio fevereiro fev februari februarie helmikuuta helmikuu "
    "helmi febrúar lutego luty lut února únor úno februára február veljače veljača velj фебруар феб февруари фев "
    "февраля февраль февр лютого лютий лют лютага люты febr φεβρουαρίου φεβρουάριος φεβ şubat şub fevral shkurt "
    "shk veebruar veebr februāris vasario vasaris febrer febreiro otsaila ots feabhra feabh chwefror chwef chw "
    "pebrero peb فبراير فيفري פברואר פבר فوریهٔ فوریه فروری फ़रवरी फ़र ফেব্রুয়ারী ফেব फेब्रुवारी फेब्रु பிப்ரவரி "
    "பிப் ఫిబ్రవరి ఫిబ్ర กุมภาพันธ์ თებერვალი თებ փետրվարի փետրվար փտվ ақпан ақп fevrier fév feber subat شباط",
    "march mar märz mär mars marzo março maart mrt marts maaliskuuta maaliskuu maalis marca marzec března březen "
    "bře marec ožujka ožujak ožu март мар mart марта березня березень бер сакавіка сакавік сак martie március "
    "márc μαρτίου μάρτιος μαρ μάρ märts kovo kovas kov març martxoa márta mawrth maret mac marso machi مارس מרץ "
    "مارچ मार्च মার্চ மார்ச் மார் మార్చి มีนาคม მარტი მარ մարտի մարտ մրտ наурыз нау mrz marz maerz marco maar "
    "آذار",
    "april apr avril avr abril abr aprile huhtikuuta huhtikuu huhti apríl kwietnia kwiecień kwi dubna duben "
    "apríla travnja travanj април апр апреля апрель квітня квітень квіт красавіка красавік кра aprilie április "
    "ápr απριλίου απρίλιος απρ nisan nis aprel prill aprill aprīlis balandžio balandis apirila aibreán aib ebrill "
    "ebr aprili أبريل أفريل אפריל אפר آوریل اپریل अप्रैल এপ্রিল এপ্রি एप्रिल एप्रि ஏப்ரல் ஏப் ఏప్రిల్ ఏప్రి "
    "เมษายน აპრილი აპრ ապրիլի ապրիլ ապր сәуір сәу نيسان",
    "may mai mayo maggio mag maio mei maj toukokuuta toukokuu touko maí maja května květen kvě mája máj svibnja "
    "svibanj svi мај май мая травня травень трав május μαΐου μάιος μαΐ μάι mayıs maijs gegužės gegužė geg maig "
    "maiatza bealtaine beal مايو ماي מאי مهٔ مئی मई মে मे மே మే พฤษภาคม მაისი მაი մայիսի մայիս մյս мамыр мам "
    "mayis أيار",
    "june jun juni juin junio giugno giu junho junie kesäkuuta kesäkuu kesä júní jún czerwca czerwiec cze června "
    "červen čvn júna junij lipnja lipanj јун юни јуни июня июнь июн червня червень черв чэрвеня чэрвень чэр iunie "
    "iun június ιουνίου ιούνιος ιουν ιούν haziran haz iyun iyn qershor qer juuni jūnijs jūn birželio birželis "
    "birž juny xuño ekaina meitheamh meith mehefin hunyo يونيو جوان יוני ژوئن جون जून জুন ஜூன் జూన్ มิถุนายน "
    "ივნისი ივნ հունիսի հունիս հնս маусым мау حزيران",
    "july jul juli juillet juil julio luglio lug julho julie heinäkuuta heinäkuu heinä júlí júl lipca lipiec lip "
    "července červenec čvc júla julij srpnja srpanj јул юли јули июля июль июл липня липень лип ліпеня ліпень ліп "
    "iulie iul július ιουλίου ιούλιος ιουλ ιούλ temmuz tem iyul iyl korrik korr juuli jūlijs jūl liepos liepa "
    "liep juliol xullo xul uztaila iúil gorffennaf gorff julai hulyo hul يوليو يوليوز جويلية יולי ژوئیهٔ ژوئیه "
    "جولائی जुलाई जुल জুলাই জুল जुलै ஜூலை జులై กรกฎาคม ივლისი ივლ հուլիսի հուլիս հլս шілде шіл تموز",
    "august aug août agosto ago augustus augusti elokuuta elokuu elo ágúst ágú sierpnia sierpień sie srpna srpen "
    "augusta avgust avg kolovoza kolovoz kol август авг августа серпня серпень серп жніўня жнівень жні augusztus "
    "αυγούστου αύγουστος αυγ αύγ ağustos ağu avqust avq gusht gush augusts rugpjūčio rugpjūtis rugp agost abuztua "
    "abu lúnasa lún awst agustus agu ogos ogo agosti أغسطس غشت أوت אוגוסט אוג اوت اگست अगस्त আগস্ট ऑगस्ट ஆகஸ்ட் "
    "ఆగస్టు สิงหาคม აგვისტო აგვ օգոստոսի օգոստոս օգս тамыз там aout agustos",
    "september sep sept septembre septiembre settembre set setembro syyskuuta syyskuu syys września wrzesień wrz "
    "září zář septembra rujna rujan ruj септембар сеп septembar септември сентября сентябрь сент вересня вересень "
    "вер верасня верасень septembrie szeptember szept σεπτεμβρίου σεπτέμβριος σεπ eylül eyl sentyabr sen shtator "
    "sht septembris rugsėjo rugsėjis rugs setembre iraila mfómh medi setyembre septemba سبتمبر شتنبر ספטמבר ספט "
    "سپتامبر ستمبر सितंबर सित সেপ্টেম্বর সেপ सप्टेंबर सप्टें செப்டம்பர் செப் సెప్టెంబర్ సెప్టెం กันยายน "
    "სექტემბერი სექ սեպտեմբերի սեպտեմբեր սեպ қыркүйек қыр sentabr eylul сен أيلول",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta lokakuu loka október października "
    "październik paź října říjen říj októbra октобар окт oktobar октомври октября октябрь жовтня жовтень жовт "
    "кастрычніка кастрычнік кас octombrie οκτωβρίου οκτώβριος οκτ ekim eki oktyabr tetor tet oktoober oktobris "
    "spalio spalis spal urria dfómh hydref hyd oktubre oktoba أكتوبر אוקטובר אוק اکتبر اکتوبر अक्टूबर अक्टू "
    "অক্টোবর অক্টো ऑक्टोबर ऑक्टो அக்டோபர் அக் అక్టోబర్ అక్టో ตุลาคม ოქტომბერი ოქტ հոկտեմբերի հոկտեմբեր հոկ қазан "
    "қаз oktabr",
    "november nov novembre noviembre novembro marraskuuta marraskuu marras nóvember nóv listopada listopad lis "
    "listopadu novembra studenoga studeni stu новембар нов novembar ноември ное ноября ноябрь нояб листопада "
    "листопад лист лістапада лістапад ліс noiembrie νοεμβρίου νοέμβριος νοε νοέ kasım kas noyabr noy nëntor nën "
    "novembris lapkričio lapkritis lapkr azaroa samhain samh tachwedd nobyembre nob novemba نوفمبر نونبر נובמבר "
    "נוב نوامبر نومبر नवंबर নভেম্বর নভে नोव्हेंबर नोव्हें நவம்பர் నవంబర్ నవం พฤศจิกายน ნოემბერი ნოე նոյեմբերի "
    "նոյեմբեր նոյ қараша қар kasim ноя",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember des joulukuuta joulukuu "
    "joulu grudnia grudzień gru prosince prosinec decembra prosinca prosinac децембар дец decembar декември дек "
    "декабря декабрь грудня грудень груд снежня снежань сне decembrie δεκεμβρίου δεκέμβριος δεκ aralık ara dekabr "
    "dek dhjetor dhj detsember dets decembris gruodžio gruodis gruod desembre decembro abendua nollaig rhagfyr "
    "rhag disember disyembre desemba ديسمبر دجنبر דצמבר דצמ دسامبر دسمبر दिसंबर दिस ডিসেম্বর ডিসে डिसेंबर डिसें "
    "டிசம்பர் டிச డిసెంబర్ డిసెం ธันวาคม დეკემბერი დეკ դեկտեմբերի դեկտեմբեր դեկ желтоқсан жел decembre aralik",
)

MONTHS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
"""The number of each month by its name in lower case."""


def month_number(name: str) -> int:
    """Return the number of a month by its name, 0 if it is not one."""
    name = name.lower()
    # Hebrew writes "in" before the name as a letter of it.
    return MONTHS.get(name) or MONTHS.get(name.removeprefix("\u05d1"), 0)

"""Detect a captcha or bot wall: the server checks whether the client is a person."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.extraction.classify.caught.wording import Names, Wording
from pagekeep.model import Caught

SUGGESTION: Final = "Retry with the browser, or send the page from your own browser."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_WORDS: Final = 250
"""Extracted words of a wall with the mark of a known service."""
_MAX_WORDS_UNMARKED: Final = 150
"""Extracted words of a wall without one."""
_SHORT_PAGE: Final = 1_500
"""A wall has fewer characters outside links."""
_VERY_SHORT_PAGE: Final = 600
"""On a page with fewer characters, words in the text are enough."""

# Marks of the wall itself. What these services add to every page they protect (beacons, sensors) needs a short page too.
_MARKS: Final = (
    ("_cf_chl_opt", "Cloudflare"),
    ("cf-browser-verification", "Cloudflare"),
    ("cf_chl_", "Cloudflare"),
    ('id="cf-error-details"', "Cloudflare"),
    ('id="challenge-form"', "Cloudflare"),
    ("captcha-delivery.com", "DataDome"),
    ("px-captcha", "HUMAN"),
    ("captcha.px-cdn.net", "HUMAN"),
    ("captcha.px-cloud.net", "HUMAN"),
    ("errors.edgesuite.net", "Akamai"),
    ("sec-if-cpt-container", "Akamai"),
    ("/_sec/cp_challenge", "Akamai"),
    ("bm-verify=", "Akamai"),
    ("Incapsula incident ID", "Imperva"),
    ("_Incapsula_Resource", "Imperva"),
    ("gokuProps", "AWS WAF"),
    (".awswaf.com", "AWS WAF"),
    ("/.within.website/x/", "Anubis"),
    ("anubis_challenge", "Anubis"),
    ("window.KPSDK={}", "Kasada"),
    ("sucuri_cloudproxy_js", "Sucuri"),
    ("/.well-known/ddos-guard/", "DDoS-Guard"),
    ("/errors/validateCaptcha", "Amazon"),
    ("/sorry/index", "Google"),
    ("/showcaptcha", "Yandex"),
    ("/_____tmd_____/punish", "Alibaba"),
    ("/.well-known/vercel/security/", "Vercel"),
)
_WIDGETS: Final = (
    ("challenges.cloudflare.com", "Turnstile"),
    ("cf-turnstile", "Turnstile"),
    ("hcaptcha.com", "hCaptcha"),
    ("h-captcha", "hCaptcha"),
    ("/recaptcha/", "reCAPTCHA"),
    ("g-recaptcha", "reCAPTCHA"),
    ("geetest", "GeeTest"),
    ("captcha", "a captcha"),
)

_NAMES: Final = Names(
    r"just a moment(?:$|\.\.|…)|attention required|access denied(?:$|\W)"
    r"|access to this (?:page|site|website) has been (?:denied|blocked)",
    r"please verify (?:that )?you|verify(?:ing)? (?:that )?you are (?:a )?human|verifying your (?:browser|connection)"
    r"|human verification",
    r"are you (?:a )?(?:human|robot)|robot check|bot (?:check|detection|verification)|client challenge",
    r"security (?:check|verification|checkpoint)|vercel security checkpoint|checking your browser|one more step(?:$|\W)",
    r"pardon our interruption|ddos[- ]guard|ddos protection|making sure you're not a bot|unusual traffic",
    r"(?:sorry, )?you (?:have been|are|were) blocked|request (?:blocked|rejected)|too many requests",
    r"captcha(?:$|\W)|(?:error )?403(?:$|[ :|–-]+(?:$|error|forbidden|access))",
    r"zugriff verweigert|sicherheits(?:ü|ue)berprüfung|sicherheitscheck|(?:sind sie|bist du) ein (?:mensch|roboter)",
    r"accès (?:refusé|interdit)|vérification de sécurité|êtes-vous un (?:humain|robot)|un instant(?:$|…|\.\.)",
    r"acceso denegado|verificación de seguridad|¿?eres (?:un )?(?:humano|robot)|un momento(?:$|…|\.\.)",
    r"accesso negato|verifica di sicurezza|sei un (?:umano|robot)",
    r"acesso negado|verificação de segurança|você é (?:um )?(?:humano|robô)",
    r"toegang geweigerd|beveiligingscontrole|ben je een (?:mens|robot)|een moment geduld",
    r"доступ (?:ограничен|запрещ[её]н)|вы не робот|проверка (?:браузера|безопасности)|подтвердите, что вы не робот",
    r"アクセスが拒否|(?:私は)?ロボットではありません|セキュリティ(?:チェック|確認)",
    r"访问(?:被拒绝|受限|验证)|安全(?:验证|驗證|检查)|人机验证|请完成验证|存取遭拒",
)
_HUMAN: Final = r"(?:(?:a )?human|a person|not a (?:ro)?bot)"
_WORDS: Final = Wording(
    ("checking ", r"checking (?:your browser|if the site connection is secure)"),
    ("you are ", rf"(?:verify(?:ing)?|confirm|prove|make sure|let us know) (?:that )?you are {_HUMAN}"),
    ("you're ", rf"(?:verify(?:ing)?|confirm|prove|mak(?:e|ing) sure) (?:that )?you're {_HUMAN}"),
    ("security of your connection", r"needs to review the security of your connection"),
    ("unusual ", r"unusual (?:traffic|activity) (?:from|on|coming)"),
    (" hold", r"press (?:&|and) hold"),
    ("to continue", r"enable (?:javascript and cookies|cookies and javascript) to continue"),
    ("permission to access", r"you don't have permission to access"),
    ("blocked", r"you (?:have been|were|are) blocked|request (?:was |has been )?blocked|blocked by network security"),
    ("automated ", r"automated (?:access|requests|traffic|queries)"),
    ("complete the ", r"complete the (?:captcha|security check|challenge)"),
    ("url was rejected", r"the requested url was rejected"),
    ("solve ", r"please solve (?:the|this) (?:captcha|puzzle)"),
    ("slide ", r"slide (?:right )?to (?:verify|complete)"),
    ("made us think", r"(?:browser|activity|behaviou?r) made us think"),
    ("bestätigen sie", r"bestätigen sie,? dass sie (?:ein mensch|kein (?:ro)?bot)"),
    ("ihr browser", r"ihr browser wird (?:überprüft|geprüft)"),
    ("ungewöhnlich", r"ungewöhnlich\w* (?:datenverkehr|aktivität|zugriffe)"),
    ("humain", r"(?:confirme[rz]|vérifie[rz]|prouvez) que vous êtes (?:bien )?(?:un )?(?:être )?humain"),
    ("robot", r"(?:confirme[rz]|vérifie[rz]|prouvez) que vous n'êtes pas un robot"),
    ("trafic ", r"trafic (?:inhabituel|suspect)"),
    ("votre navigateur", r"vérification de votre navigateur"),
    ("human", r"(?:confirm|verifi|demuestr)\w+ que (?:\w+ )?(?:eres|es|é) (?:um? |un )?(?:ser )?human[oa]"),
    ("umano", r"(?:conferm|verific|dimostr)\w+ (?:di|che) (?:essere|sei) (?:un )?umano"),
    (
        "robot",
        r"(?:confirm|verifi|demuestr|conferm|dimostr)\w+ (?:que|di|che) no[n]? (?:eres|es|essere"
        r"|sei) un robot",
    ),
    ("robô", r"(?:confirm|verifi)\w+ que (?:você )?não é um robô"),
    ("tráfico inusual", r"tráfico inusual"),
    ("tráfego incomum", r"tráfego incomum"),
    ("traffico ", r"traffico (?:anomalo|insolito)"),
    ("navegador", r"(?:comprobando|verificando) (?:o )?(?:su|tu|seu) navegador"),
    ("robot", r"(?:bevestig|controleer|bewijs) dat (?:je|u) geen robot"),
    ("een mens", r"(?:bevestig|controleer|bewijs) dat (?:je|u) een mens"),
    ("ongebruikelijk", r"ongebruikelijk (?:verkeer|netwerkverkeer)"),
    ("что вы ", r"(?:подтвердите|докажите),? что вы (?:не робот|человек)"),
    ("трафик", r"необычн\w+ (?:сетевой )?трафик"),
    ("вашего браузера", r"проверка вашего браузера"),
    ("автоматическ", r"автоматическ\w+ запрос"),
    ("ことを", r"(?:人間である|ロボットではない|ロボットでない)ことを(?:確認|証明)"),
    ("ブラウザ", r"ブラウザを(?:確認|チェック)しています"),
    ("トラフィック", r"(?:異常|通常と異なる)な?トラフィック"),
    ("机器人", r"(?:确认|验证|证明)您?不是机器人"),
    ("機器人", r"(?:確認|驗證|證明)您?不是機器人"),
    ("真人", r"(?:确认|验证|证明|確認|驗證)您?是真人"),
    ("异常", r"异常(?:流量|访问)"),
    ("浏览器", r"正在检查(?:您的)?浏览器"),
    ("滑块", r"拖动(?:下方)?滑块"),
)


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall by the mark of a known service, by the page's title and headings, or by its words."""
    if extracted.words >= _MAX_WORDS or signals.render_signs.prose >= _SHORT_PAGE or signals.is_declared:
        return None
    reason = _by_mark(signals, extracted) or _by_words(signals, extracted)
    return Caught("bot_wall", reason, SUGGESTION) if reason else None


def _by_mark(signals: Signals, extracted: Extracted) -> str | None:
    is_empty = not extracted.words and signals.render_signs.prose < _VERY_SHORT_PAGE
    if is_empty or _NAMES.find(signals.names) or _WORDS.find(signals.text):
        service = signals.find_mark(_MARKS)
        return f"This is the bot wall of {service}" if service else None
    return None


def _by_words(signals: Signals, extracted: Extracted) -> str | None:
    if extracted.words >= _MAX_WORDS_UNMARKED:
        return None
    if name := _NAMES.find(signals.names):
        return f'The page calls itself "{name}"'
    words = _WORDS.find(signals.text)
    if words and (len(signals.text) < _VERY_SHORT_PAGE or signals.find_mark(_WIDGETS)):
        return f'A short page says "{words}"'
    return None

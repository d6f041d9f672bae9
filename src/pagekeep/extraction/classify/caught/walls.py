"""Detect walls in front of a page: captchas, cookie consent, login, and offers to subscribe."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Names, Signals, Wording
from pagekeep.extraction.input.structured import Json, type_names
from pagekeep.model import Caught
from pagekeep.text import compile_lazily

BOT_WALL_SUGGESTION: Final = "Retry with the browser, or send the page from your own browser."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_BOT_WORDS: Final = 250
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

_BOT_NAMES: Final = Names(
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
_BOT_WORDS: Final = Wording(
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


def detect_bot_wall(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall by the mark of a known service, by the page's title and headings, or by its words."""
    if extracted.words >= _MAX_BOT_WORDS or signals.render_signs.prose >= _SHORT_PAGE or signals.is_declared:
        return None
    reason = _by_mark(signals, extracted) or _find_bot_words(signals, extracted)
    return Caught("bot_wall", reason, BOT_WALL_SUGGESTION) if reason else None


def _by_mark(signals: Signals, extracted: Extracted) -> str | None:
    is_empty = not extracted.words and signals.render_signs.prose < _VERY_SHORT_PAGE
    if is_empty or _BOT_NAMES.find(signals.names) or _BOT_WORDS.find(signals.text):
        service = signals.find_mark(_MARKS)
        return f"This is the bot wall of {service}" if service else None
    return None


def _find_bot_words(signals: Signals, extracted: Extracted) -> str | None:
    if extracted.words >= _MAX_WORDS_UNMARKED:
        return None
    if name := _BOT_NAMES.find(signals.names):
        return f'The page calls itself "{name}"'
    words = _BOT_WORDS.find(signals.text)
    if words and (len(signals.text) < _VERY_SHORT_PAGE or signals.find_mark(_WIDGETS)):
        return f'A short page says "{words}"'
    return None


CONSENT_WALL_SUGGESTION: Final = "Retry with the browser, or send the page from your own browser."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_CONSENT_WORDS: Final = 450
"""Extracted words of a consent wall."""
_MAX_CONSENT_PROSE: Final = 5_000
"""Characters outside links."""
_MIN_HITS: Final = 4
"""Words about consent; a single cookie notice has fewer."""
_MAX_CHARS_PER_HIT: Final = 200
"""Characters of text per word about consent."""
_MAX_CHARS_PER_HIT_NAMED: Final = 400
"""The same when title or heading names a consent page."""

_MIN_HITS_GATE: Final = 2
"""Words about cookies of a page that calls itself a gate ("Before you continue"), or has the host of one."""

_CONSENT_HOSTS: Final = ("consent.", "myprivacy.", "guce.", "privacy-gate.", "cmp-consent-tool.", "collectconsent.")
"""Hosts on which platforms (Google, YouTube, Yahoo, AOL, publishers in Europe) ask for consent and show nothing else."""
_GATES: Final = Names(
    r"before (?:you|u) continue|bevor (?:sie|du) (?:zu \S+ |mit \S+ )?(?:weitergeh|fortf(?:ahr|ähr))",
    r"avant d(?:'accéder|e (?:continuer|poursuivre))",
    r"antes de (?:ir a|continuar|acceder|aceder|avançar)|abans de continuar|prima di (?:continuare|procedere)",
    r"voordat (?:je|u) (?:verdergaat|doorgaat|naar)|zanim przejdziesz|innan du fortsätter|før du fortsæt\w+|før du går videre",
    r"ennen kuin jatkat|než (?:budete pokračovat|přejdete)|predtým, ako|mielőtt (?:továbblép|folytat)|înainte de a continua",
    r"πριν (?:συνεχίσετε|μεταβείτε)|прежде чем (?:перейти|продолжить)|перш ніж (?:перейти|продовжити)|преди да продължите",
    r"\S{1,30} devam etmeden önce|sebelum (?:anda )?melanjutkan|trước khi (?:bạn )?tiếp tục|قبل المتابعة|לפני שממשיכים",
    r".{0,30}(?:にアクセスする前に|続行する前に|계속하기 전에|(?:搜索|使用|繼續|继续).{0,12}(?:之前|前))",
    r"在(?:您|你)?(?:继续|繼續)",
)
"""Titles of pages that ask for consent before the page that was asked for."""
_CONSENT_NAMES: Final = Names(
    r"(?:\S+ )?privacy ?(?:gate|wall)|cookie[- ]?(?:consent|wall|zustimmung|toestemming)|(?:manage )?consent(?:$|\W)",
    r"your privacy (?:choices|matters)|\S+ (?:values?|cares? about|respects?) your privacy",
    r"wir (?:brauchen|benötigen) (?:ihre|deine) (?:zustimmung|einwilligung)|zustimmung (?:erforderlich"
    r"|zur datenverarbeitung)",
    r"(?:nous respectons|le respect de) votre vie privée|(?:valoramos|respetamos) (?:tu|su) privacidad",
    r"(?:rispettiamo|abbiamo a cuore) la (?:tua|vostra) privacy|(?:valorizamos|respeitamos) a sua privacidade",
    r"(?:wij |we )?(?:respecteren|waarderen) (?:je|uw|jouw) privacy|мы (?:ценим|уважаем) вашу",
    r"(?:お客様の)?プライバシーを(?:尊重|大切)|我们(?:重视|尊重)您的隐私",
)
_CONSENT: Final = compile_lazily(
    r"cookies?|consent|partner|personali[sz]ed|legitimate interest|advertis|privacy|einwilligung|zustimm"
    r"|werbung|datenschutz"
    r"|personalisiert|publicité|vie privée|partenaires|traceurs|publicidad|privacidad|socios|consenso"
    r"|pubblicità|parceiros"
    r"|toestemming|advertenties|согласи|конфиденциальност|クッキー|同意|プライバシー|广告|隐私|隱私"
)
_COOKIES: Final = compile_lazily(r"cookie|consent|evästei|çerez|кук[иі]|クッキー|쿠키|ملفات تعريف|עוגיות")
_ACCEPT: Final = compile_lazily(
    r"\baccept|\bagree\b|allow all|i consent|reject all|manage (?:options|preferences|settings)|akzeptier|zustimmen"
    r"|einverstanden|ablehnen|j'accepte|tout refuser|aceptar|acepto|rechazar|accetta|rifiuta|aceitar|aceito|rejeitar"
    r"|akkoord|weigeren|afwijzen|zaakceptuj|odrzuć|godkänn|avvisa|godta|avvis|afvis|hyväksy|hylkää|přijmout|odmítnout"
    r"|prijať|elfogad|elutasít|kabul et|reddet|accept|αποδοχή|απόρριψη|прийняти|приемам|setuju|terima|chấp nhận|수락|거부"
    r"|قبول|אישור|принять|соглас|отклонить|同意する|同意して|すべて許可|拒否|接受|同意并|拒绝"
)
_POLICY: Final = compile_lazily(
    r"polic(?:y|ies)|notice|statement|declaration|terms|richtlinie|erklärung|hinweise|politique|política|politica"
    r"|informativa|verklaring|beleid|политика|ポリシー|方針|政策|声明|guide|what (?:is|are)|\bhow\b"
)


def detect_consent_wall(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall when the extracted text, or all text if there is none, is about consent and little else."""
    if extracted.words >= _MAX_CONSENT_WORDS or signals.render_signs.prose >= _MAX_CONSENT_PROSE or signals.is_declared:
        return None
    if reason := _find_gate(signals):
        return Caught("consent_wall", reason, CONSENT_WALL_SUGGESTION)
    # A notice over an empty app is not the reason why the content is missing.
    if signals.render_signs.empty_root or any(_POLICY.search(name) for name in signals.names):
        return None
    name = _CONSENT_NAMES.find(signals.names)
    is_named = bool(name)
    # Other content beside a notice rules the wall out, whether or not extraction separated the two.
    texts = [extracted.text or signals.text, *([signals.render_signs.text] if signals.render_signs.filled else [])]
    if not all(_is_about_consent(text, is_named) for text in texts) or not _ACCEPT.search(signals.text):
        return None
    reason = f'The page calls itself "{name}"' if name else "The page speaks of cookies and consent and of little else"
    return Caught("consent_wall", reason, CONSENT_WALL_SUGGESTION)


def _find_gate(signals: Signals) -> str | None:
    """Return how the page shows that it is a gate: by its host, or by its title and the buttons of such a page."""
    if signals.host.startswith(_CONSENT_HOSTS) and _COOKIES.search(signals.text):
        return f"{signals.host} asks for consent to cookies and shows nothing else"
    name = _GATES.find(signals.names)
    if not name or len(_COOKIES.findall(signals.text)) < _MIN_HITS_GATE or not _ACCEPT.search(signals.text):
        return None
    return f'The page calls itself "{name}"'


def _is_about_consent(text: str, is_named: bool) -> bool:
    hits = len(_CONSENT.findall(text))
    return hits >= _MIN_HITS and len(text) <= hits * (_MAX_CHARS_PER_HIT_NAMED if is_named else _MAX_CHARS_PER_HIT)


LOGIN_WALL_SUGGESTION: Final = "Send the page from your own browser (log in there first)."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_LOGIN_WORDS: Final = 150
"""Extracted words of a login wall."""
_MAX_WORDS_UNNAMED: Final = 60
"""Extracted words when neither title nor URL names a login."""
_MAX_LOGIN_PROSE: Final = 2_500
"""Characters outside links."""
_MAX_FORM_CHARS: Final = 800
"""Characters outside links of a page that is a form and hardly anything else."""

_LOGIN: Final = (
    r"(?:log ?in|log ?on|sign ?in|member login|anmelden|anmeldung|einloggen|connexion|se connecter|connectez-vous"
    r"|identifiez-vous|iniciar sesi[oó]n|inicia sesi[oó]n|acceder|ingresar|identif[ií]cate|accedi|accesso|entrar"
    r"|iniciar sess[aã]o|fazer login|acessar|inloggen|aanmelden|войти|вход|авторизация|ログイン|サインイン"
    r"|登录|登入|登錄|用户登录|會員登入)"
)
_LOGIN_NAMES: Final = Names(
    rf"(?:please |bitte |veuillez (?:vous )?|por favor,? )?{_LOGIN}(?:$|[^\w ]| [^\w]| to | or | bei | in )",
    r"welcome back|authentication required|members only|you (?:must|need to) (?:be logged in|log in|sign in)",
    rf".{{1,60}}[|·:–—-] ?{_LOGIN}$",
)
_PATHS: Final = compile_lazily(
    r"/(?:log-?in|sign-?in|logon|signon|authwall|sso|oauth2?|wp-login\.php|accounts/login|users/sign_in"
    r"|session/new)(?:[/.]|$)"
)
_LOGIN_HOSTS: Final = ("login.", "accounts.", "auth.", "signin.", "sso.", "idp.")
_TO: Final = r"(?:to|in order to|before you can) (?:view|see|access|read|continue|proceed|use|do that)"
_LOGIN_WORDS: Final = Wording(
    ("you ", rf"you (?:must|need to|have to) (?:be (?:logged|signed) in|log ?in|sign ?in|register"
             rf"|be a (?:registered )?member)[^.!?]{{0,30}} {_TO}"),
    ("in ", rf"(?:please )?(?:log|sign) ?in (?:or (?:register|sign up|create an account) )?(?:below )?{_TO}"),
    ("members", r"(?:page|content|group|forum|thread|area|section) is (?:only (?:visible|available"
                r"|accessible) to|for) (?:registered )?members"),
    ("is private", r"(?:page|account|profile|group|wiki|forum) is private"),
    ("logged", r"(?:only|restricted to) logged[- ]in (?:users|members)|you are not logged in"),
    ("registered", r"(?:only|restricted to) registered (?:users|members)"),
    ("melde", r"melden? (?:sie sich|dich)[^.!?]{0,20} an,? um"),
    ("anmelden", r"(?:sie müssen sich|bitte) anmelden"),
    ("angemeldet", r"müssen angemeldet sein|nur für angemeldete"),
    ("vous ", r"vous devez (?:être connecté|vous (?:connecter|identifier))|veuillez vous (?:connecter|identifier)"
              r"|connectez-vous pour (?:voir|accéder|continuer|consulter)"),
    ("iniciar sesión", r"(?:debes|debe|tienes que|necesitas) iniciar sesión"),
    ("inicia sesión", r"inicia sesión para (?:ver|continuar|acceder)"),
    ("accede", r"(?:devi|è necessario) accedere"),
    ("accedi", r"accedi per (?:vedere|continuare|visualizzare|leggere)"),
    ("effettua", r"(?:devi|è necessario) effettuare (?:il login|l'accesso)"),
    ("fazer login", r"(?:precisa|é necessário|deve) fazer login"),
    ("iniciar sessão", r"(?:tem de|é necessário|deve|precisa de) iniciar sessão"),
    ("para ", r"(?:entre|faça login|inicie sessão) para (?:ver|continuar|acessar|aceder)"),
    ("ingelogd", r"(?:je|u) (?:moet|dient) (?:\S{1,20} ){0,2}ingelogd"),
    ("inloggen", r"(?:je|u) (?:moet|dient) (?:\S{1,20} ){0,2}inloggen"),
    ("log in om", r"log in om (?:deze|verder|te|door)"),
    ("чтобы", r"(?:войдите|авторизуйтесь|зарегистрируйтесь)[^.!?]{0,30},? чтобы"),
    ("войти", r"(?:необходимо|нужно|требуется) войти"),
    ("авториз", r"(?:необходимо|нужно) авторизоваться|требуется авторизация|только (?:для )?авторизованн"),
    ("ログイン", r"ログイン(?:してください|して続行|が必要)"),
    ("サインイン", r"サインイン(?:してください|して続行|が必要)"),
    ("登录", r"请先?登录|(?:需要|必须)先?登录|登录后(?:查看|可见|才能|继续)"),
    ("登入", r"(?:请|請)先?登入|(?:需要|必須)先?登入"),
)  # fmt: skip


def detect_login_wall(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall by a login form with little else, or by words that ask to sign in before reading."""
    if extracted.words >= _MAX_LOGIN_WORDS or signals.is_declared or signals.render_signs.prose >= _MAX_LOGIN_PROSE:
        return None
    reason = _by_form(signals, extracted) or _find_login_words(signals, extracted)
    return Caught("login_wall", reason, LOGIN_WALL_SUGGESTION) if reason else None


def _by_form(signals: Signals, extracted: Extracted) -> str | None:
    name = _LOGIN_NAMES.find(signals.names)
    has_login_url = bool(_PATHS.search(signals.path)) or signals.host.startswith(_LOGIN_HOSTS)
    if signals.passwords and (name or has_login_url):
        return "The page is a login form"
    if signals.passwords and extracted.words < _MAX_WORDS_UNNAMED and signals.render_signs.prose < _MAX_FORM_CHARS:
        return "There is a login form and hardly anything else"
    if name and (has_login_url or _LOGIN_WORDS.find(signals.text)):
        return f'The page calls itself "{name}"'
    return None


def _find_login_words(signals: Signals, extracted: Extracted) -> str | None:
    words = _LOGIN_WORDS.find(signals.text) if extracted.words < _MAX_WORDS_UNNAMED else None
    return f'The page says "{words}" and little else' if words else None


PAYWALL_SUGGESTION: Final = "Send the page from your own browser (log in there first)."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_TEASER_WORDS: Final = 250
"""With fewer words a declared wall, or one in the text, is enough."""
_MAX_LONG_TEASER_WORDS: Final = 500
"""With fewer words it is enough if the wall is right where the text ends."""
_WALL_CHARS: Final = 1_500
"""Characters after the end of the text that are searched for that wall."""
_END_CHARS: Final = 40
"""Last characters of the extracted text, by which its end is found in the page."""
_LAST_CHARS: Final = 400
"""Last characters of the extracted text that are searched for the wall."""
_MAX_WORD_COUNT: Final = 1e9
_MAX_DIGITS: Final = 8
_GATED: Final = compile_lazily(r"(?:Article|Posting|Report|Page|CreativeWork|Review|Story)$")
_LOCKED: Final = ("locked", "paid", "premium", "subscriber")

_MORE: Final = (
    r"(?:reading|(?:full |unlimited )?access|the (?:full|rest|whole|entire)"
    r"|this (?:article|story|post|content|full)|more)"
)
_PAYWALL_WORDS: Final = Wording(
    ("subscribe", rf"(?:subscribe|subscribers?)(?: now| today)?(?: or [\w ]{{2,20}})? (?:to|for) (?:continue"
                  rf"|keep|finish|read|unlock|get|access) ?(?:on )?{_MORE}"),
    ("reading", r"(?:sign up|register|log ?in|sign in|account|member|trial|join)(?: now| today"
                r"| for free)? (?:to|and) (?:continue|keep|finish) reading"),
    ("to read", r"(?:sign up|register|log ?in|sign in|account|member|trial|join)(?: now| today"
                r"| for free)? to read (?:the (?:full|rest|whole|entire)|this (?:article|story|post))"),
    ("reading", r"(?:continue|keep) reading (?:this (?:article|post|story) )?(?:with (?:a|an|your)|for (?:free"
                r"|just|only|\W))"),
    ("subscribers", r"(?:article|story|post|content|piece|report|episode|newsletter) is (?:only )?(?:for"
                    r"|available to|reserved for|exclusive(?:ly)? (?:to|for)"
                    r"|restricted to) (?:\S{1,20} ){0,2}subscribers"),
    ("members", r"(?:article|story|post|content|piece|report|episode) is (?:only )?(?:for|available to"
                r"|reserved for|exclusive(?:ly)? (?:to|for)|restricted to) (?:\S{1,20} ){0,2}members"),
    ("subscribers", r"(?:only for|for) (?:paid |paying |our )?subscribers(?: only)?(?:$|[.!:|])"),
    ("-only", r"(?:subscriber|member)s?-only (?:content|article|story|post)"),
    (" only", r"(?:subscriber|member)s? only (?:content|article|story|post)"),
    ("to continue reading", r"to continue reading[^.!?]{0,60}(?:subscri|log in|sign (?:in|up)|register|trial"
                            r"|member|account|upgrade)"),
    ("to read the", r"to read the (?:full|rest|whole|entire)[^.!?]{0,60}(?:subscri|log in|sign (?:in|up)"
                    r"|register|trial|member|account|upgrade)"),
    ("free article", r"you(?:'ve| have) (?:reached|hit|read|used)[^.!?]{0,40}free articles?"),
    ("article limit", r"(?:reached|hit) your (?:\w+ ){0,2}article limit"),
    ("unlock ", r"unlock (?:this|the (?:full|whole|rest|entire)) (?:article|story|post|content)"),
    ("the rest of this", r"the rest of this (?:article|story|post) is"),
    ("artikel", r"dieser artikel[^.!?]{0,40}(?:abonnent|exklusiv|kostenpflichtig)|ganzen? artikel (?:lesen"
                r"|freischalten)"),
    ("abonnent", r"(?:nur|exklusiv) für abonnent"),
    ("weiterlesen", r"(?:jetzt )?weiterlesen mit|(?:abo|abonnement|angebot)[^.!?]{0,40}weiterlesen"
                    r"|weiterlesen[^.!?]{0,40}(?:abo\b|abonnent|registrier)"),
    ("weiterzulesen", r"um (?:diesen artikel )?weiterzulesen"),
    ("réservé", r"réservée? (?:aux|à nos) abonnés"),
    ("il vous reste", r"il vous reste [^.!?]{0,30}(?:à lire|à découvrir|de cet article)"),
    ("abonnez-vous", r"abonnez-vous pour (?:lire|continuer|accéder|découvrir)"),
    ("lire la suite", r"pour lire la suite"),
    ("suscriptores", r"(?:exclusiv|reservad|sol)[oa] para suscriptores"),
    ("suscríbete", r"suscríbete (?:ahora )?(?:para|y) (?:seguir|sigue|continuar|leer|lee)"),
    ("leyendo", r"para (?:seguir|continuar) leyendo"),
    ("abbonati", r"(?:riservato|esclusivo) (?:agli|per gli) abbonati|abbonati (?:ora )?per (?:continuare|leggere)"),
    ("a leggere", r"per continuare a leggere"),
    ("assinantes", r"(?:exclusiv|restrit|reservad)[oa] (?:para|a|aos) assinantes"),
    ("assine", r"assine (?:já |agora )?(?:para|e) (?:continu|ler|leia)"),
    ("para continuar", r"para continuar (?:a ler|lendo|a leitura)"),
    ("abonnees", r"(?:alleen|exclusief) (?:beschikbaar )?voor abonnees"),
    ("lezen", r"(?:abonneer|log in|abonnee|abonnement)[^.!?]{0,40}(?:verder (?:te )?lezen|door te lezen"
              r"|verderlezen|te lezen)"),
    ("подпис", r"(?:материал|статья|текст|публикация)[^.!?]{0,20}(?:доступ\w+|открыт\w*) (?:только )?(?:для "
               r"|по )?подпис|(?:оформите|купите) подписку[^.!?]{0,40}(?:чита|продолж|доступ)"),
    ("чтобы ", r"чтобы (?:продолжить чтение|дочитать|читать дальше)"),
    ("会員", r"(?:この|こちらの)(?:記事|コンテンツ)は[^。]{0,12}会員|(?:続き|残り)(?:を|は)[^。]{0,20}会員|会員(?:限定|専用)"),
    ("有料", r"(?:この|こちらの)(?:記事|コンテンツ)は[^。]{0,12}有料|(?:続き|残り)(?:を|は)[^。]{0,20}有料"),
    ("残り", r"残り ?\d+ ?文字"),
    ("订阅", r"(?:本文|该文章|此内容|全文)[^。]{0,12}订阅|订阅[^。]{0,10}(?:阅读全文|继续阅读|查看全文)"),
    ("訂閱", r"(?:本文|此內容|全文)[^。]{0,12}訂閱|訂閱[^。]{0,10}(?:閱讀全文|繼續閱讀)"),
    ("付费", r"(?:本文|该文章|此内容|全文)[^。]{0,12}付费|付费[^。]{0,10}(?:阅读全文|继续阅读|查看全文)"),
    ("会员", r"(?:本文|该文章|此内容|全文)[^。]{0,12}会员"),
)  # fmt: skip


def detect_paywall(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall when the page declares or mentions it, and its text is short or ends there."""
    if extracted.words >= _MAX_LONG_TEASER_WORDS:
        return None
    declared = _find_declaration(signals)
    if declared and (extracted.words < _MAX_TEASER_WORDS or _declares_more_words(signals, extracted)):
        return Caught("paywall", f"{declared}, and only {extracted.words} words are here", PAYWALL_SUGGESTION)
    words = _PAYWALL_WORDS.find(signals.text)
    if words and (extracted.words < _MAX_TEASER_WORDS or _ends_at_wall(signals, extracted)):
        return Caught("paywall", f'After {extracted.words} words the page says "{words}"', PAYWALL_SUGGESTION)
    return None


def _find_declaration(signals: Signals) -> str | None:
    """Return how the page declares that it is not free."""
    tier = signals.structured.opengraph.get("article:content_tier") or signals.structured.meta.get(
        "og:article:content_tier"
    )
    if tier and tier.strip().lower() in _LOCKED:
        return f'The page declares its content "{tier.strip().lower()}"'
    if any(_is_gated(item) for item in signals.structured.json_ld):
        return "The page declares that it is not free"
    return None


def _is_gated(item: Json) -> bool:
    """Return whether the item is a text that is not free; museums and courses declare fees too."""
    free = item.get("isAccessibleForFree")
    is_paid = free is False or (isinstance(free, str) and free.strip().lower().endswith("false"))
    return is_paid and any(_GATED.search(name) for name in type_names(item))


def _declares_more_words(signals: Signals, extracted: Extracted) -> bool:
    """Return whether the page declares at least twice the words that were extracted."""
    counts = (item.get("wordCount") for item in signals.structured.json_ld)
    return any(_number(count) >= 2 * extracted.words for count in counts)


def _number(value: object) -> int:
    if isinstance(value, (int, float)) and abs(value) < _MAX_WORD_COUNT:
        return int(value)
    return (
        int(value)
        if isinstance(value, str) and len(value) <= _MAX_DIGITS and value.isascii() and value.isdigit()
        else 0
    )


def _ends_at_wall(signals: Signals, extracted: Extracted) -> bool:
    """Return whether the words of the wall are at the end of the text, or follow right after it."""
    if _PAYWALL_WORDS.find(extracted.text[-_LAST_CHARS:]):
        return True
    end = signals.text.rfind(extracted.text[-_END_CHARS:]) if len(extracted.text) >= _END_CHARS else -1
    return end >= 0 and _PAYWALL_WORDS.find(signals.text[end : end + _WALL_CHARS]) is not None

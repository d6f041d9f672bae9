"""Detect a login wall: the page is only for users who are signed in."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.classify.caught.signals import Extracted, Signals
from pagekeep.extraction.classify.caught.wording import Names, Wording
from pagekeep.model import Caught
from pagekeep.text import compile_lazily

SUGGESTION: Final = "Send the page from your own browser (log in there first)."

# Set by hand; tests/extraction/classify/caught/test_labelled_pages.py holds them.
_MAX_WORDS: Final = 150
"""Extracted words of a login wall."""
_MAX_WORDS_UNNAMED: Final = 60
"""Extracted words when neither title nor URL names a login."""
_MAX_PROSE: Final = 2_500
"""Characters outside links."""
_MAX_FORM_CHARS: Final = 800
"""Characters outside links of a page that is a form and hardly anything else."""

_LOGIN: Final = (
    r"(?:log ?in|log ?on|sign ?in|member login|anmelden|anmeldung|einloggen|connexion|se connecter|connectez-vous"
    r"|identifiez-vous|iniciar sesi[oó]n|inicia sesi[oó]n|acceder|ingresar|identif[ií]cate|accedi|accesso|entrar"
    r"|iniciar sess[aã]o|fazer login|acessar|inloggen|aanmelden|войти|вход|авторизация|ログイン|サインイン"
    r"|登录|登入|登錄|用户登录|會員登入)"
)
_NAMES: Final = Names(
    rf"(?:please |bitte |veuillez (?:vous )?|por favor,? )?{_LOGIN}(?:$|[^\w ]| [^\w]| to | or | bei | in )",
    r"welcome back|authentication required|members only|you (?:must|need to) (?:be logged in|log in|sign in)",
    rf".{{1,60}}[|·:–—-] ?{_LOGIN}$",
)
_PATHS: Final = compile_lazily(
    r"/(?:log-?in|sign-?in|logon|signon|authwall|sso|oauth2?|wp-login\.php|accounts/login|users/sign_in"
    r"|session/new)(?:[/.]|$)"
)
_HOSTS: Final = ("login.", "accounts.", "auth.", "signin.", "sso.", "idp.")
_TO: Final = r"(?:to|in order to|before you can) (?:view|see|access|read|continue|proceed|use|do that)"
_WORDS: Final = Wording(
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


def detect(signals: Signals, extracted: Extracted) -> Caught | None:
    """Detect the wall by a login form with little else, or by words that ask to sign in before reading."""
    if extracted.words >= _MAX_WORDS or signals.is_declared or signals.render_signs.prose >= _MAX_PROSE:
        return None
    reason = _by_form(signals, extracted) or _by_words(signals, extracted)
    return Caught("login_wall", reason, SUGGESTION) if reason else None


def _by_form(signals: Signals, extracted: Extracted) -> str | None:
    name = _NAMES.find(signals.names)
    has_login_url = bool(_PATHS.search(signals.path)) or signals.host.startswith(_HOSTS)
    if signals.passwords and (name or has_login_url):
        return "The page is a login form"
    if signals.passwords and extracted.words < _MAX_WORDS_UNNAMED and signals.render_signs.prose < _MAX_FORM_CHARS:
        return "There is a login form and hardly anything else"
    if name and (has_login_url or _WORDS.find(signals.text)):
        return f'The page calls itself "{name}"'
    return None


def _by_words(signals: Signals, extracted: Extracted) -> str | None:
    words = _WORDS.find(signals.text) if extracted.words < _MAX_WORDS_UNNAMED else None
    return f'The page says "{words}" and little else' if words else None

"""Consent gates: pages of a platform that ask for consent before the page that was asked for."""

from __future__ import annotations

import pytest

from pagekeep import extract

ANY_HOST = "https://www.harbour.example/search?q=tide"
GATES = [
    ("Before you continue to Harbour", "We use cookies and data to run our services", "Reject all", "Accept all"),
    ("Bevor Sie zu Hafen weitergehen", "Wir verwenden Cookies und Daten", "Alle ablehnen", "Alle akzeptieren"),
    ("Avant d'accéder à Port", "Nous utilisons des cookies et des données", "Tout refuser", "Tout accepter"),
    ("Antes de ir a Puerto", "Utilizamos cookies y datos", "Rechazar todo", "Aceptar todo"),
    ("Antes de continuar para o Porto", "Utilizamos cookies e dados", "Rejeitar tudo", "Aceitar tudo"),
    ("Prima di continuare su Porto", "Utilizziamo i cookie e i dati", "Rifiuta tutto", "Accetta tutto"),
    ("Voordat je verdergaat naar Haven", "We gebruiken cookies en gegevens", "Alles afwijzen", "Alles accepteren"),
    ("Zanim przejdziesz do Portu", "Używamy plików cookie i danych", "Odrzuć wszystko", "Zaakceptuj wszystko"),
    ("Innan du fortsätter till Hamnen", "Vi använder cookies och data", "Avvisa alla", "Godkänn alla"),
    ("Før du fortsætter til Havnen", "Vi bruger cookies og data", "Afvis alle", "Acceptér alle"),
    ("Прежде чем перейти к Порту", "Мы используем файлы cookie и данные", "Отклонить все", "Принять все"),
    ("Liman'a devam etmeden önce", "Çerezleri ve verileri kullanırız", "Tümünü reddet", "Tümünü kabul et"),
    ("ポート にアクセスする前に", "Cookie とデータを使用します", "すべて拒否", "すべて同意する"),
    ("在您继续使用海港搜索前", "我们会使用 Cookie 和数据", "全部拒绝", "全部接受"),
]


def page(title: str, text: str, reject: str, accept: str) -> str:
    purposes = "".join(f"<li>{text} {number}.</li>" for number in range(1, 9))
    buttons = f"<form><button>{reject}</button></form><form><button>{accept}</button></form>"
    return f"<title>{title}</title><body><h1>{title}</h1><div>{text}:</div><ul>{purposes}</ul>{buttons}"


@pytest.mark.parametrize(("title", "text", "reject", "accept"), GATES)
def test_a_gate_in_any_language_is_not_an_article(title: str, text: str, reject: str, accept: str) -> None:
    result = extract(page(title, text, reject, accept), ANY_HOST)
    assert result.caught is not None
    assert (result.caught.kind, result.quality.level) == ("consent_wall", "bookmark")


@pytest.mark.parametrize("host", ["consent.google.com", "consent.youtube.com", "consent.yahoo.com", "guce.aol.com"])
def test_a_short_page_about_cookies_on_a_consent_host_is_a_gate(host: str) -> None:
    text = "We and our partners store cookies on your device. " + "This is how we run what you came for. " * 8
    result = extract(f"<title>{host}</title><body><h1>Welcome</h1><p>{text}</p>", f"https://{host}/m?continue=x")
    assert result.caught is not None
    assert result.caught.kind == "consent_wall"
    assert extract(f"<title>x</title><body><h1>Welcome</h1><p>{text}</p>", ANY_HOST).caught is None


def test_an_article_with_such_a_title_is_an_article() -> None:
    story = "".join(
        f"<p>Day {day}: the pilot waited for the tide and read the chart once more.</p>" for day in range(60)
    )
    assert (
        extract(
            f"<title>Before you continue to sea</title><body><h1>Before you continue to sea</h1>{story}", ANY_HOST
        ).caught
        is None
    )

"""Pages in any script: nothing about length or punctuation assumes spaces or Latin letters."""

from __future__ import annotations

import pytest

from pagekeep import extract

# Three short paragraphs each; the last of them is the shortest.
NOTES = {
    "zh": [
        "渡轮今天早上没有开，因为江面上的雾太大，连对岸的灯塔也看不见。",
        "船长说等雾散了再走，大家就坐在码头上喝茶，听他讲三十年前的大水。",
        "中午十二点，雾散了，船也开了，没有人着急。",
    ],
    "ja": [
        "今朝は霧が深く、対岸の灯台さえ見えなかったので、渡し船は出なかった。",
        "船長は霧が晴れるまで待とうと言い、皆で桟橋に座ってお茶を飲み、昔の洪水の話を聞いた。",
        "正午に霧が晴れ、船は静かに岸を離れた。",
    ],
    "ko": [
        "오늘 아침에는 안개가 짙어 건너편 등대조차 보이지 않았기 때문에 나룻배가 뜨지 못했다.",
        "선장은 안개가 걷히면 떠나자고 했고 사람들은 부두에 앉아 차를 마시며 옛날 홍수 이야기를 들었다.",
        "정오가 되자 안개가 걷히고 배가 떠났다.",
    ],
    "th": [
        "เช้านี้เรือข้ามฟากไม่ได้ออกเพราะหมอกหนามากจนมองไม่เห็นประภาคารฝั่งตรงข้าม",
        "กัปตันบอกว่ารอให้หมอกจางก่อนแล้วค่อยไปทุกคนจึงนั่งดื่มชาที่ท่าเรือและฟังเรื่องน้ำท่วมเมื่อสามสิบปีก่อน",
        "ตอนเที่ยงหมอกจางลงและเรือก็ออกจากท่า",
    ],
    "hi": [
        "आज सुबह नाव नहीं चली, क्योंकि नदी पर इतना घना कोहरा था कि सामने का प्रकाश स्तंभ भी नहीं दिखता था।",
        "नाविक ने कहा कि कोहरा छँटने पर चलेंगे, और सब घाट पर बैठकर चाय पीते हुए पुरानी बाढ़ की कहानी सुनते रहे।",
        "दोपहर को कोहरा छँटा और नाव चल पड़ी।",
    ],
    "ar": [
        "لم تبحر العبارة هذا الصباح لأن الضباب كان كثيفا حتى إن المنارة على الضفة الأخرى لم تظهر.",
        "قال القبطان إننا سننتظر حتى ينقشع الضباب، فجلس الجميع على الرصيف يشربون الشاي ويسمعون حكاية الفيضان القديم.",
        "عند الظهر انقشع الضباب وأبحرت العبارة.",
    ],
    "he": [
        "המעבורת לא יצאה הבוקר, כי הערפל על הנהר היה כבד כל כך שלא ראו אפילו את המגדלור שבגדה השנייה.",
        "רב החובל אמר שנחכה עד שהערפל יתפזר, וכולם ישבו על המזח, שתו תה ושמעו את סיפור השיטפון הישן.",
        "בצהריים התפזר הערפל והמעבורת יצאה לדרך.",
    ],
    "ru": [
        "Сегодня утром паром не пошёл, потому что туман над рекой был такой густой, что не было видно даже маяка.",
        "Капитан сказал подождать, и все сидели на пристани, пили чай и слушали рассказ о старом наводнении.",
        "В полдень туман рассеялся, и паром отошёл.",
    ],
    "el": [
        "Το φέρι δεν έφυγε σήμερα το πρωί, γιατί η ομίχλη ήταν τόσο πυκνή που δεν φαινόταν ούτε ο φάρος απέναντι.",
        "Ο καπετάνιος είπε να περιμένουμε, κι έτσι όλοι κάθισαν στην προβλήτα, ήπιαν τσάι και άκουσαν για την παλιά πλημμύρα.",
        "Το μεσημέρι η ομίχλη διαλύθηκε και το φέρι έφυγε.",
    ],
    "de": [
        "Heute Morgen fuhr die Fähre nicht, denn der Nebel lag so dicht auf dem Fluss, dass man nicht einmal den Leuchtturm sah.",
        "Der Kapitän sagte, man warte eben, und alle saßen am Steg, tranken Tee und hörten die Geschichte vom alten Hochwasser.",
        "Mittags hob sich der Nebel, und die Fähre legte ab.",
    ],
    "ta": [
        "இன்று காலை படகு புறப்படவில்லை, ஏனெனில் ஆற்றின் மேல் மூடுபனி அடர்த்தியாக இருந்ததால் எதிர்க்கரை விளக்கும் தெரியவில்லை.",
        "பனி விலகும் வரை காத்திருப்போம் என்று படகோட்டி சொன்னார், எல்லோரும் கரையில் அமர்ந்து தேநீர் குடித்தபடி பழைய வெள்ளக் கதையைக் கேட்டார்கள்.",
        "நண்பகலில் பனி விலகியது, படகும் புறப்பட்டது.",
    ],
}
MENU = "<nav><a href=/a>1</a> <a href=/b>2</a></nav>"


@pytest.mark.parametrize("language", NOTES)
def test_a_short_note_is_kept_whole_in_any_script(language: str) -> None:
    paragraphs = NOTES[language]
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    page = extract(f'<html lang="{language}"><body>{MENU}<div class="story">{body}</div><footer>© 2025</footer>')
    assert page.strategy == "readability"
    assert page.markdown.strip().split("\n\n") == paragraphs
    assert page.word_count >= 20


@pytest.mark.parametrize("language", NOTES)
def test_an_article_is_distinguished_from_links_beside_it_in_any_script(language: str) -> None:
    body = "".join(f"<p>{text} {day}</p>" for day in range(4) for text in NOTES[language])
    links = "".join(f'<li><a href="/{index}">{text}</a></li>' for index, text in enumerate(NOTES[language]))
    page = extract(f'<html lang="{language}"><body><div>{body}</div><div><ul>{links}</ul></div>')
    assert page.kind == "article"
    assert page.markdown.count(NOTES[language][0]) == 4

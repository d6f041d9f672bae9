"""The names of the months in many languages, whole and abbreviated, as Unicode's CLDR lists them."""

from __future__ import annotations

from typing import Final

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

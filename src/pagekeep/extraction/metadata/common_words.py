"""Words that are too common in a language to be tags; words of up to three letters are never tags anyway."""

from __future__ import annotations

from typing import Final

_TEXTS: Final = {
    "en": (
        "about above across after again against ahead almost alone along already also although always among another"
        " anyone anything aren't around available away back based became because become been before began behind"
        " being below best better between both bring called came can't cannot come comes could couldn't days didn't"
        " different does doesn't doing done don't down during each early easily easy either else enough especially"
        " even ever every everyone everything example fact feel find first following found from full gave gets"
        " getting give given gives giving goes going good great hadn't hand hard hasn't have haven't having he'd"
        " he'll he's help here hers herself high himself however i'll i'm i've important include including inside"
        " instead into isn't it's its itself just keep keeps kind knew know known knows large last later least left"
        " less let's like likely little long longer look looking looks made main make makes making many maybe mean"
        " means might month months more most much must myself near nearly need needed needs never next nothing number"
        " often once only open order other others ours ourselves outside over part parts past people per perhaps"
        " place point possible probably provide provides pull push quite rather read real really right said same says"
        " second seem seems seen several shall she'd she'll she's should shouldn't show shows side simply since small"
        " some"
        " someone"  # plain-words: ok
        " something sometimes soon still stuff such sure take taken takes taking tell than that that's"
        " their theirs them themselves then there there's therefore these they they'd they'll they're they've thing"
        " things think this those though thought three through throughout thus time times today together"
        " told"  # plain-words: ok
        " took"
        " toward towards turn twice under understand unless until upon used useful user uses using usually various"
        " very want wants wasn't ways we'd we'll we're we've week weeks well went were weren't what what's when where"
        " whether which while whole whom whose will with within without won't work works would wouldn't year years"
        " you'd you'll you're you've your yours yourself click share subscribe email please page site website"
        " customer customers experiences million reviews seller services solutions star stars table verified"
        " able actually added adding allow allows amazing apart appear apply area areas asked avoid basic begin"
        " beginning believe benefit benefits bigger broad built call case cases certain change changed changes check"
        " choose clear close common complete completely consider contact contains continue core create created creating"
        " current currently daily deal decide decided definitely detail details develop discover enable ensure entire"
        " essential everyday exactly excellent expect extra face fall fast felt field final finally fine form forward"
        " free friend friends gain general generally ideal ideas improve includes increase increasing incorporate"
        " individual info inspired issue item items join kept latest layer lead leading learn level levels line link"
        " list lists live load location lots lower maintain major manage matter method mind minutes mode moment move"
        " multiple name nice none note offer offers okay option options original overall pain perfect person picked"
        " piece popular post posted posts present previous problem process proper prove pretty question questions quick"
        " quickly reach ready reason reasons recent recommend related remember require required requires rest result"
        " results return returns review rich role running save section select sell sense setting short shown similar"
        " simple single size skip soft solution sort special specific stage stand start started starting starts state"
        " stay step steps stop strong style talk task term terms text thank thanks tips title topic topics total track"
        " tried true truly trying type types unique update updated value version view visit wait walk watch wear"
        " whatever wide wish wonder word words worth write wrong young"  # plain-words: ok
    ),
    "de": (
        "aber alle allem allen aller alles also andere anderem anderen anderer anderes auch außerdem beim bereits"
        " besonders besser bisher bist dabei dafür dagegen daher damit danach dann daran darauf daraus darf darüber"
        " darum dass davon dazu deine deinem deinen deiner denen denn dennoch deren derer deshalb dessen diese diesem"
        " diesen dieser dieses doch dort drei durch dürfen eben ebenfalls ebenso eigentlich eine einem einen einer"
        " eines einfach einige einigen einmal erst erste ersten etwa etwas euch euer eure fast ganz ganze geben gegen"
        " gegeben gehen geht gemacht genau gerade gern gibt gleich große großen habe haben hatte hatten hätte hätten"
        " heute hier hinter ihnen ihre ihrem ihren ihrer ihres immer inzwischen jahr jahre jahren jede jedem jeden"
        " jeder jedes jedoch jene jetzt kann kannst kein keine keinem keinen keiner kommen kommt konnte könnte"
        " könnten können lange lassen letzten liegt machen macht mehr mein meine meinem meinen meiner menschen mich"
        " mindestens möchte möglich muss müssen musste nach nachdem natürlich neben nein neue neuen nicht nichts noch"
        " nämlich nun nunmehr oder ohne oft prozent schon sehen sehr seien sein seine seinem seinen seiner seit"
        " selbst sich sicher sieht sind sogar solche solchen soll sollen sollte sollten somit sondern sonst soviel"
        " sowie statt steht stets tage teil trotz über überhaupt uhr unter unser unsere unserem unseren unserer viel"
        " viele vielen vielleicht vier voll vom von vor wann warum wegen weil weiter weitere weiteren welche welchem"
        " welchen welcher wenig weniger wenn werde werden wieder will wird wirklich wissen wobei wohl wollen wollte"
        " worden wurde wurden würde würden zeit zudem zum zunächst zur zurück zwar zwei zwischen"
    ),
    "fr": (
        "ainsi ailleurs alors après assez aucun aucune aujourd'hui auparavant auquel aura aurait aussi autant autre"
        " autres avaient avait avant avec avez avoir avons beaucoup bien bonne cela celle celles celui cependant"
        " certain certaine certaines certains cette ceux chacun chaque chez comme comment contre dans davantage"
        " dehors déjà demain depuis dernier dernière derrière dessous dessus deux devant devrait dire dois doit"
        " doivent donc dont durant elle elles encore enfin ensuite entre envers environ était étaient étant être eux"
        " faire fait faites faut fois font grand grande hors ici ils jamais jour jours jusqu jusque laquelle lequel"
        " lesquelles lesquels leur leurs loin lors lorsque lui maintenant mais malgré même mêmes mieux moins mon"
        " monde nombre non nos notamment notre nous nouveau nouvelle ont ou où par parce parfois parmi partout pas"
        " pendant permet personne personnes petit petite peu peut peuvent plupart plus plusieurs plutôt point pour"
        " pourquoi pourrait pouvez pouvoir premier première près presque puis puisque qu'elle qu'il qu'on qu'un"
        " qu'une quand quant quel quelle quelles quelque quelques quels qui quoi rien sans sauf selon sera serait"
        " seront ses seul seule seulement sinon soit son sont sous souvent suite suivant sur surtout tant tel telle"
        " tels temps toujours tous tout toute toutes toutefois très trois trop trouve trouver vers veut voici voilà"
        " voir vont vos votre vous vraiment c'est d'un d'une n'est l'on années année"
    ),
    "es": (
        "además ahora algo alguien algún alguna algunas alguno algunos allí ante antes años aquel aquella aquellos"
        " aquí así aunque bajo bien cada casi como cómo con contra cosas cual cuál cuales cualquier cuando cuándo"
        " cuanto cuenta debe deben decir del desde después día días dice dicho diferentes donde dónde dos durante"
        " ella ellas ello ellos embargo entonces entre era eran eres esa esas ese eso esos está estaba estado están"
        " estar este esta estas esto estos estoy forma fue fueron fuera gran grande grandes había haber hace hacen"
        " hacer hacia hasta hay haya incluso junto largo lugar luego mayor más mediante mejor menos mientras mismo"
        " misma mismos mucha muchas mucho muchos muy nada nadie ninguno ninguna nosotros nuestra nuestras nuestro"
        " nuestros nueva nuevo nunca otra otras otro otros para parte pero personas poco pocos podemos poder podría"
        " porque posible primer primera primero propia propio pueda puede pueden pues quien quién quienes quiere"
        " realizar respecto saber sean según seguir sería será serán siempre sido siendo sino sobre solamente solo"
        " sólo somos suele sus suya suyo también tampoco tanto tener tenía tenido tiempo tiene tienen toda todas"
        " todavía todo todos trabajo tras través tres una unas uno unos usted ustedes vamos varias varios veces ver"
        " vez vida vuestra vuestro"
    ),
    "it": (
        "abbastanza abbiamo adesso alcuna alcune alcuni all'interno alla alle allo allora altra altre altri altro"
        " anche ancora anni anno appena aveva avevano avere avuto bene bisogna buona buono ciascuno cioè circa come"
        " comunque con contro così cosa cose cui dagli dai dal dall dalla dalle dallo degli dei del dell della delle"
        " dello dentro deve devono dire dopo dove dovrebbe due durante ecco entrambi erano essere esempio fare fatto"
        " fino forma fosse fuori giorni giorno già gli grande grandi grazie hanno infatti insieme invece loro lungo"
        " maggior mai meglio meno mentre mia mio modo molta molte molti molto negli nei nel nell nella nelle nello"
        " nemmeno nessun nessuna niente noi non nostra nostre nostri nostro nulla nuova nuovo ogni ognuno oltre"
        " oppure ora ovvero parte perché perciò per però persone più poche pochi poco poi possiamo possibile possono"
        " potrebbe prima primo proprio può puoi pure qualche qualcosa qualcuno quale quali qualsiasi quando quanto"
        " quasi quella quelle quelli quello quest questa queste questi questo quindi sarà sarebbe se secondo sempre"
        " senza sia siamo siano sono sopra soprattutto sotto spesso stata state stati stato stessa stesso sua sue"
        " sugli sui sul sull sulla sulle suo suoi tale tali tanto tempo tra tramite troppo tutta tutte tutti tuttavia"
        " tutto una uno vari verso viene vita volta volte vostra vostro"
    ),
    "pt": (
        "acordo agora ainda além algo alguém algum alguma algumas alguns ambos anos antes ano apenas após aquela"
        " aquelas aquele aqueles aquilo aqui assim através até bastante bem boa cada cerca coisa coisas com como"
        " contra contudo cuja cujo daquele das dele deles dela delas depois desde dessa desse desta deste deve devem"
        " dia dias disse disso disto dois durante ela elas ele eles embora enquanto entanto então entre era eram essa"
        " essas esse esses está estamos estão estar estava este esta estas estes exemplo fazer feito fez ficar foi"
        " fora foram forma geral grande grandes haver havia hoje isso isto já junto lhe lugar maior maioria mais mas"
        " melhor menos mesma mesmo mesmos muita muitas muito muitos nada não nas nem nenhum nenhuma nessa nesse nesta"
        " neste ninguém nos nossa nossas nosso nossos nova novo num numa nunca onde ontem outra outras outro outros"
        " para parte partir pela pelas pelo pelos perante pessoas pode podem poder poderia porém porque portanto"
        " pouco poucos primeira primeiro própria próprio qual quais qualquer quando quanto quase que quem sabe são"
        " segundo seja sem sempre sendo será serão seria seu seus sido sim sobre sob sua suas também tanto tão tem"
        " têm tempo ter teve tinha toda todas todavia todo todos trabalho três tudo uma umas uns usar vários você"
        " vocês vezes vida"
    ),
    "nl": (
        "aan aantal achter afgelopen alle alleen alles als altijd ander andere anderen beetje behalve beide beter"
        " bijna bijvoorbeeld binnen blijft boven buiten daar daarbij daardoor daarmee daarna daarom daarvan deze"
        " dezelfde dingen direct doen doet door doorgaans drie dus echt echter eens eerder eerst eerste eigen elke"
        " enige enkele erg even gaan gaat geeft geen gehad geven geweest geworden goed goede graag grote hadden haar"
        " hebben heeft heel helemaal hele hem hen hier hoe hoewel hun ieder iedere iedereen iemand iets inmiddels"
        " jaar jaren jouw jullie kan komen komt kort krijgen kunnen kunt laatste laten lang later liever maak maakt"
        " maar maken manier meer meest meestal meeste mensen met mijn minder misschien moet moeten mogelijk mogen"
        " naar naast namelijk natuurlijk neemt niet niets niemand nieuwe nodig nog nooit nooit omdat onder ondanks"
        " ongeveer onze ook opnieuw over overal per plaats precies rond samen sinds slechts sommige soms soort staan"
        " staat steeds sterk tegen terug terwijl tijd tijdens toch toen tot tussen twee uit uiteindelijk uren vaak"
        " vanaf vanuit van veel verder verschillende vier vind vindt volgens volledig voor vooral voordat waar"
        " waarbij waardoor waarin waarmee waarom waren wanneer want weer weet welke werd werden wereld wilde willen"
        " word worden wordt zal zeer zegt zelf zelfs zich zien zijn zoals zodat zonder zou zouden zowel zullen"
    ),
    "sv": (
        "aldrig alla allt alltid alltså andra annan annat använda bara behöver bland bli blir blev blivit bort borde"
        " både därför däremot denna deras dess dessa dessutom detta dock efter eftersom egen egna eller endast enligt"
        " ens eran ett fick finns flera flesta framför från fram få fått före första förut genom gjorde gjort god"
        " göra gör gott hade han hans har hela heller henne hennes honom hos hur här idag igen ihop inför ingen inget"
        " inne innan inom inte istället jag just kan kanske knappast komma kommer kring kunde kunna lite länge längre"
        " långt låta man med mellan men mera mest mina minst mitt mycket måste många möjligt nej ner nog nu nya nära"
        " något någon några när nästan också ofta olika oss rätt samma samt sedan sig sina sitt själv själva skall"
        " ska skulle snart som stor stora större sätt säga säger sådan sådana tar tid tidigare till tills tillsammans"
        " trots två under upp ut utan utanför vad var vara varandra varför varit varje vars vart vem verkligen vi vid"
        " vidare vilja vilka vilken vilket vill visa visar våra vår väl även över åren året människor"
    ),
    "pl": (
        "albo albowiem ależ aniżeli bardzo bardziej bez bowiem będzie będą był była było były być cała całe cały"
        " chce chcą choć chociaż chwili ciągu coraz czasu często czego czemu czyli czym dalej dany dlaczego dlatego"
        " dla dobrze dopiero dość dużo dwa dwie dzień dziś dzięki dzisiaj gdy gdyby gdyż gdzie głównie innych inna"
        " inne inny jak jaka jakby jaki jakich jakie jako jednak jeden jednej jednym jedna jedno jego jej jemu jest"
        " jestem jeszcze jeśli jeżeli już kiedy kilka kilku kto która które którego której który których którym"
        " którzy lat lata lecz ludzi ludzie lub mają mam mamy mają mieć mi między mimo mnie mogą może możemy można"
        " możliwe musi muszą nad nadal należy nam nami nas nasz nasza nasze naszych natomiast nawet nic nich nie"
        " niego niej niektóre nigdy nim nimi niż nowe nowy obok oczywiście około one ona oni oraz osób osoby pan pani"
        " po pod podczas pomocą ponad ponieważ poprzez pracy prawie prawo proszę przed przede przez przy przykład raz"
        " razie roku również sam sama samo same siebie się sobie sposób swoich swoje swój swoją tak taka taki takich"
        " takie także tam tego tej temu ten też tylko tym tymi tych tysięcy tutaj używać wam was wasze wciąż wiele"
        " wielu więc więcej właśnie wszystko wszystkich wszystkie wszyscy według wśród zaś zawsze ze został została"
        " zostały znów żadna żaden żeby życia"
    ),
    "ru": (
        "более больше большой будет будут была были было быть важно ведь весь вместе вместо вновь возможно вокруг"
        " вообще время времени всего всей всем всеми всему всех всегда впрочем вроде всюду вторая второй года году"
        " годы год даже далее два двух день дела дело действительно для дней довольно должен должна должны другая"
        " другие других другой другом ему если есть еще ещё жизни жизнь зачем здесь значит именно иметь имеет иногда"
        " использовать каждого каждой каждый кажется какая какие какой каких когда кого кому конечно которая которого"
        " которое которой котором которую которые который которых кроме куда кто либо лучше люди людей между менее"
        " меня мере место может можно могут мое мой момент моя надо наиболее нам нами начала наш наша наше наши"
        " нашего него нее неё нельзя необходимо несколько нет нибудь никогда ним них ничего новая новые новый нужно"
        " обычно один одна однако одного одной около она они оно опять особенно очень первая первый перед подобные"
        " под пока после поскольку потом потому поэтому почему почти при примерно про просто против процентов прямо"
        " путем пусть раза разные раз разве рядом сама сами самого самое самой самый самых свое своего своей свои"
        " своих свой свою сделать себе себя сегодня сейчас сказал сказать скорее словно снова совсем согласно собой"
        " стал стала стали стать столь сразу среди также такая так такие таким таких такого такое такой там твой тебе"
        " тебя тем теми тех теперь того тоже той только том тому тогда три туда тут тысяч уже хорошо хотел хотя хочет"
        " чаще часто часть чего чем чему через человек человека что чтобы эта эти этим этих это этого этой этом этот"
        " эту является являются"
    ),
    "da": (
        "aldrig alle allerede alligevel altid anden andet andre blev blive bliver burde denne dens deres derfor dette"
        " disse efter eller ellers endnu enten flere fordi forrige første gennem gjorde hans have havde hele hende"
        " hendes hvad hvem hver hvilken hvis hvor hvordan hvorfor hvornår igen ikke imellem imod ingen inden indtil"
        " kommer kunne lille mange meget mellem mens mere mest mindre mine måske nogen noget nogle også omkring over"
        " samme selv sidste siden sige skal skulle sådan store tidligere uden under ville være været vores"
    ),
    "no": (
        "aldri alle allerede alltid andre annet bare begge blir blitt bruke burde dere deres derfor dessuten dette"
        " disse eller ellers enda ennå etter fikk fleste flere fordi første gjennom gjorde gjør hadde hans hele henne"
        " hennes hver hvem hvilken hvis hvor hvordan hvorfor igjen ikke ingen innen kanskje kommer kunne like mange"
        " mellom mens mest mindre mine noen også over samme selv siden siste skal skulle slik sier slike store sånn"
        " tidligere uten under vært være ville våre"
    ),
    "fi": (
        "aina ainakin aivan asti eikä eivät ennen enää ettei että heidän heille hyvin häntä ihan itse jälkeen joiden"
        " joka jokainen joko jolla jolloin jonka jopa joskus jota jotka jotta juuri kaikki kaikkea kanssa kautta kerran"
        " koko koska koskaan kuin kuinka kuten kyllä meidän mikä minkä minun missä mistä mitä molemmat moni muita mukaan"
        " mutta muun muut myös niiden niin niitä noin näiden näin olemme oleva olisi olivat olla ollut oman onko ovat"
        " paitsi paljon sekä sellainen siellä sillä silloin siitä sitä sitten suuri taas tämä tämän tässä teidän toinen"
        " tulee vaan vaikka vain voidaan voivat yksi"
    ),
    "cs": (
        "ačkoli bude budou byla bylo byli chce další dále dnes dobře dokonce jako jaké jeden jedna jedné jeho její"
        " jejich jenom jestli ještě jich jiné jsem jsme jsou jste kdyby když která které kteří který kterou kterých mají"
        " mezi místo mnoho mohou moci může musí nebo nejsou není nich nové nový pokud pouze proč proto protože před přes"
        " přesto první sice svůj také takže takto tedy této tento tímto tohoto toto tyto určitě uvnitř vedle velmi více"
        " však všechny všech vždy zatím zpět"
    ),
    "sk": (
        "alebo bola bolo bude budú ďalšie dnes ešte jeden jeho jednej ktorá ktoré ktorí ktorý ktorých lebo majú medzi"
        " môže musí naše niekedy nové podľa pokiaľ potom práve preto pretože pred prvý spolu svoje takto také takže"
        " tento tiež tieto toho veľmi viac však všetko vždy"
    ),
    "tr": (
        "acaba ancak artık aslında ayrıca bazı belki beri bile biraz birçok biri birkaç birlikte bizim bunlar bunu"
        " bunun burada bütün çünkü daha değil diğer diye doğru dolayı eden ederek edilen eğer etmek fakat gibi göre"
        " halen hangi hatta henüz hepsi için ilgili işte itibaren kadar karşın kendi kendine kimse nasıl neden nedenle"
        " olan olarak oldu olduğu olduğunu olmak olması olsa olup onlar onun oysa önce rağmen sadece şekilde sonra şöyle"
        " tarafından üzere veya yani yapılan yapmak yeni yerine yine yoksa zaten"
    ),
    "uk": (
        "адже багато більш більше буде будуть були було бути вона вони воно всіх відтак дуже його їхній інші іноді"
        " іншого коли кого кожен крім куди лише майже мало мають може можна можуть наприклад навіть нібито ніколи нічого"
        " однак одного окрім перед поки після потім проте просто самі саме своє свої себе серед стала також такий така"
        " таким такого тепер тільки того тоді тому треба усіх хоча через цього цьому часто чому чого якщо який яких якої"
    ),
    "hu": (
        "addig ahogy ahol akár akik akkor alatt általában amely amelyek amelyet amikor annak arra azok azonban aztán"
        " azzal benne csak előtt első ember ennek éppen erre ezek ezért ezzel hanem helyett hiszen hogy hogyan igen"
        " illetve ilyen inkább ismét jobban kell kellett keresztül kívül között közül legalább lehet lehetett lenne lett"
        " maga mellett mert mindig minden mindenki mint mintha mivel most nagy nagyon néha néhány nekem nélkül olyan"
        " össze pedig például persze saját sokat számára szemben szerint szinte talán tehát teljes tovább több ugyanis"
        " után utolsó vagy vagyis valaki valami való vannak vele viszont volna volt voltak"
    ),
    "ro": (
        "aceasta această acea acela acele acest acesta aceste acestea acestui acolo acum adică aici aproape asemenea"
        " asta astfel atunci avea avem bine când care cărora către ceea cele celor chiar cine cumva dacă datorită decât"
        " deci deja deoarece deși despre după este eram fără fiecare fiind foarte fost încă între însă lângă mare mult"
        " multe mulți niciodată nimic noastre noștri nostru numai odată orice oricum pentru peste poate prea prin puțin"
        " spre sunt suntem toate toată totuși trebuie unde unele unor unui urma vostru"
    ),
    "ca": (
        "abans això així aleshores algun alguna algunes alguns allò altra altre altres aquell aquella aquest aquesta"
        " aquestes aquests baix cada contra cosa dalt darrere davant després dins durant elles encara entre eren eres"
        " esser estan estar està estava fins forma havia hores llavors llocs mateix mateixa menys meva molt molta moltes"
        " molts mentre moment nosaltres només nostra nostre però perquè pocs podem poden poder qual quals quan quant"
        " quelcom segons sempre sense seva seves seus sobre sota també tant tenen tenir teniu tota totes tots través"
        " vaig veure"
    ),
    "el": (
        "ακόμα ακόμη αλλά άλλα άλλες άλλη άλλο άλλοι αλλιώς αμέσως αντί αρκετά αυτά αυτές αυτή αυτήν αυτό αυτοί αυτόν"
        " αυτός αυτών αφού γιατί γύρω δηλαδή διότι είμαι είναι είτε είχα είχαν είχε εκεί εκείνα εκείνη εκείνο εκείνος"
        " έναν ένας επειδή επίσης έτσι έχει έχουν ήταν θέλει ίδια ίδιο ίσως κάθε κάποια κάποιο κάποιος κατά κάτι λόγω"
        " μάλλον μαζί μέσα μετά μέχρι μόνο μπορεί μπορούν όλες όλοι όπου όπως όταν ούτε παρά πάντα πάρα περισσότερα"
        " περισσότερο πολλά πολλές πολλοί πολύ πρέπει πριν προς πρώτα στην στις στον στους συνέχεια σχεδόν τέτοια τελικά"
        " τόσο τους τότε χωρίς ώστε"
    ),
    "id": (
        "adalah adanya agar akan akhirnya anda antara apabila apakah atas atau bagaimana bagi bahkan bahwa banyak baru"
        " bawah beberapa begitu belum berbagai berdasarkan bersama bisa boleh bukan cara cukup dalam dapat dari dengan"
        " depan dilakukan dimana dirinya dulu hanya harus hingga ingin jadi jangan jika juga kami kamu karena kata"
        " kemudian kepada ketika kita kurang lagi lain lalu lebih maka masih masing maupun melalui melakukan memang"
        " membuat memiliki mengenai menggunakan menjadi mereka merupakan mulai mungkin namun oleh orang pada paling para"
        " pernah saat saja salah sama sampai sangat saya sebagai sebelum sebuah secara sedang sehingga sejak sekarang"
        " selain selalu selama seluruh semua sendiri seorang seperti serta sesuai setelah setiap sudah supaya tanpa"
        " telah tentang terhadap termasuk tersebut tetap tetapi tidak untuk walaupun yaitu yakni yang"
    ),
}  # fmt: skip

COMMON_WORDS: Final = {language: frozenset(text.split()) for language, text in _TEXTS.items()}
"""Language code to its common words."""

"""Phrases of newsletters, by which the lines around their text are recognised, in twenty languages."""

from __future__ import annotations

import re
from typing import Final

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

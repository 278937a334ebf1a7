"""Failures of the past: somebody tells, in words of their own, that an error is gone.

A text that a program printed is never settled by a word in it ("retry: works now"), nor is one whose writer goes on to
a "but still" or a question.
"""

from __future__ import annotations

import re

from gpuwhy.symptoms.document import is_asked, is_printed

MOST = 1 << 13
"""Characters above which nobody only tells that something is over."""

_TITLE = re.compile(
    r"\W{0,4}(?:title|subject|betreff|re|aw|objet|asunto|assunto|oggetto|тема)?\W{0,4}"
    r"[\[(【](?:re)?(?:solved|resolved|fixed|closed|gel[oö]st|erledigt|behoben|r[ée]solu|resuelto|solucionado"
    r"|resolvido|risolto"
    r"|vyřešeno|rozwiązan[ey]|opgelost|решено|已解决|解決済み?|해결됨?|çözüldü)[\])】]",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:(?:is|was|are|were|has been|have been|got|now) (?:now |already |finally |since )?(?:solved|fixed"
    r"|resolved|gone|repaired)"
    r"|(?:works?|runs?|working|running) (?:again|now|fine|since)|(?:solved|fixed) (?:it|this|by|with)|went away"
    r"|no longer (?:happens|occurs|appears|shows)|never (?:came back|seen? again)"
    r"|(?:ist|sind|wurde|wurden) (?:\w+ ){0,4}(?:behoben|gel[oö]st|beseitigt|erledigt|repariert)"
    r"|l[aä]uft (?:\w+ )?(?:wieder|jetzt|nun)"
    r"|(?:est|a été|sont|ont été) (?:\w+ )?(?:résolue?s?|corrigée?s?|réparée?s?)|(?:re)?marche (?:de nouveau"
    r"|maintenant)"
    r"|fonctionne (?:de nouveau|maintenant|à nouveau)"
    r"|(?:está|estão|fue|foi|ha sido|quedó|ficou) (?:\w+ )?(?:resuelt[oa]|solucionad[oa]|resolvid[oa]"
    r"|corrigid[oa]|arreglad[oa])"
    r"|(?:ya|agora|já) (?:no aparece|não aparece|funciona)|funciona (?:de nuevo|ahora|agora|de novo|otra vez)"
    r"|(?:è stato|sono stati|è) (?:\w+ )?(?:risolto|risolti|corretto)|ora funziona|funziona di nuovo"
    r"|(?:je|byl[ao]?|jest|został[ao]?) (?:\w+ )?(?:vyřešen\w*|opraven\w*|odstraněn\w*|rozwiązan\w*"
    r"|naprawion\w*)|(?:už|teď|znovu|już|znów) (?:zase )?(?:běží|funguje|działa)"
    r"|(?:is|zijn) (?:\w+ )?(?:opgelost|verholpen)|werkt (?:weer|nu)"
    r"|исправлен\w*|решен[аоы]?\b|устранен\w*|устранён\w*|(?:теперь|снова|опять) (?:вс[её] )?работает"
    r"|çözüldü|giderildi|artık çalışıyor)\b"
    r"|已(?:经)?(?:解决|修复|恢复)|解决了|修好了|恢复正常|解決(?:しました|済み|した)|直りました|復旧(?:しました|済み)|해결(?:됐|되었|했)|고쳤",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"[?？]|\b(?:but|however|still|except|until|unless|yet|now (?:i|we) (?:get|see|have)|instead|not|n't|aber"
    r"|noch|jedoch|trotzdem|mais|pourtant|encore"
    r"|toujours|pero|sin embargo|todavía|aún|mas|porém|ainda|ma|però|ancora|ale|přesto|stále|jednak|wciąż|maar"
    r"|nog|но|однако"
    r"|ещ[её]|ama|hâlâ)\b|但是?|不过|しかし|でも|まだ|하지만|아직",
    re.IGNORECASE,
)
"""What takes the good news back."""
_TO_MANY = re.compile(
    r"^\W{0,4}(?:dear|hi|hello|hey|good (?:morning|afternoon))[ ,]{1,3}(?:all|everyone|everybody|users?|team"
    r"|colleagues|folks|cluster users|hpc users)\b"
    r"|^\W{0,4}(?:liebe|sehr geehrte|hallo) (?:alle|kolleg\w+|nutzer\w*|team)|^\W{0,4}(?:chers?"
    r"|bonjour à) (?:tous|toutes|utilisateurs|collègues)"
    r"|^\W{0,4}(?:estimad[oa]s|hola a) (?:tod[oa]s|usuari\w+|compañer\w+)|^\W{0,4}car[io] (?:tutti|colleghi|utenti)"
    r"|^\W{0,4}(?:prezados|olá a) (?:todos|usuários)|^各位|^大家好|^皆様|^여러분|^(?:уважаемые|дорогие) "
    r"|^subject: [^\n]{0,20}\[[\w-]{0,30}(?:users|announce|all|status|news)\]",
    re.IGNORECASE | re.MULTILINE,
)
HEAD = 400
"""In how many characters a letter says to whom it goes."""
_SENTENCES = re.compile(r"(?<=[.!。！…])\s+|\n+|(?<=[。！])")


def is_settled(text: str) -> bool:
    """Whether nothing speaks but a person, who says that the failure is over, or tells many of what is to come."""
    if len(text) > MOST or any(map(is_printed, text.splitlines())):
        return False
    if _TO_MANY.search(text[:HEAD]) and not is_asked(text):
        return True
    if _TITLE.match(text) and "?" not in text:
        return True
    told = [one for one in _SENTENCES.split(text) if one.strip()]
    over = [at for at, one in enumerate(told) if _OVER.search(one) and not _STILL.search(one)]
    return bool(over) and not any(map(_AGAIN.search, told[over[-1] + 1 :]))


_AGAIN = re.compile(
    r"[?？]|error|fail|crash|problem|fehler|erreur|échou|falla|erro|errore|chyb|błąd|fout|ошибк|hata|错误|报错|失败|エラー|오류",
    re.IGNORECASE,
)
"""What a sentence speaks of that tells of another failure."""

"""Genre: what a text is by its form: output, a person's words, a question, source, a listing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.log.document import is_document, is_guide, is_printed, somebody_asks, tells_an_end
from gpuwhy.log.log import Genre

SHARE, FEWEST = 0.6, 5
PLAINLY, DEPTHS = 0.9, 3
"""Which part of a file of settings is settings, and how deep they are nested."""
CODES = 4
"""Numbers explained one below the other: nobody prints so many ends of one program."""
_CODE = re.compile(
    r"^\s*(?:#\s*include\b|import [\w., ]+$|from [\w.]+ import |def \w+\(|class \w+[(:]|@\w|//|/\*"
    r"|\*/|[})\]];?\s*$|#\s*(?:define|if|ifdef|ifndef|endif|else|pragma)\b|.*\\\s*$"
    r"|(?:if|for|while|try|else|elif|except|with|return|switch|catch)\b.*[:{(;]\s*$|.*[;{]\s*$"
    r"|#\s*\w|(?:return|raise|yield|pass|break|continue)\b"
    r"|\w[\w.<>:*& \[\]]* ?=(?!=) ?\S|[\w.:<>]+\(.*\)[;{]?\s*$|print\(|std::|namespace |using "
    r"|template ?<|__global__)"
)
_DOCSTRING = re.compile(r"^\s*(\"{3}|'{3})[\s\S]{0,4000}?\1\s*\n", re.MULTILINE)
_BEGINS = re.compile(
    r"^\s*(?:#\s*(?:include\s*[<\"]|define |pragma |ifdef |ifndef )|import \w|from [\w.]+ import "
    r"|(?:int|void) main\(|__global__ |template ?<|namespace \w|using \w|def \w+\("
    r"|cmake_minimum_required|#!/)"
)
_RAN = re.compile(
    r"Traceback \(most recent|^\w*(?:Error|Exception)\b|^\[?[\w :.,-]{1,60}\] "
    r"|: (?:fatal )?error\b|core dumped|^\d{4}-\d\d-\d\d|^E\d{4} |^\S+\(\d+\): error"
    r"|#.{0,60}\b(?:returned|returns|prints|gives|outputs?)\b|nvidia-smi|^>>>|^In \[|^\$ ",
    re.MULTILINE,
)
_ASKS = re.compile(
    r"^\s*(?:why|how|what|which|when|can|does|is|should|where)\b[^\n]{5,300}\?\s*$",
    re.IGNORECASE,
)
_PATCH = re.compile(
    r"^diff --git |^> ?[+-] {2,}\S[^\n]*\n> ?[+-] {2,}\S|^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@",
    re.MULTILINE,
)
_HISTORY = re.compile(
    r"^#{1,4} (?:added|changed|fixed|removed|deprecated|security|bug fixes|features)\b"
    r"|[*-] [^\n]{5,200} by @[\w-]{1,40} in (?:#\d|https?:)",
    re.IGNORECASE | re.MULTILINE,
)
_WONDERS = re.compile(
    r"\b(?:would|should|which|will i|do i need|is it worth|can i|does the)\b[^\n]{0,200}\?",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"^(?:subject|from|to|re|hi|hello|dear|hey)\b[^\n]{0,120}$", re.IGNORECASE | re.MULTILINE
)
_MANUAL = re.compile(
    r"^(?:NAME|SYNOPSIS|DESCRIPTION|OPTIONS|DIAGNOSTICS|EXIT STATUS|RETURN VALUES?|EXAMPLES?"
    r"|AUTHORS?|NOTES|COPYRIGHT|ENVIRONMENT|FILES|BUGS|SEE ALSO)$",
    re.MULTILINE,
)
_CODES = re.compile(
    r"^\W{0,20}(?:return|exit|error|status|result) (?:code|value) (-?\d+) ?[-–:=]",
    re.IGNORECASE | re.MULTILINE,
)
_USAGE = re.compile(r"\s*usage: \S", re.IGNORECASE)
_OPTION = re.compile(r"^ {1,8}-{1,2}\w[\w-]*", re.MULTILINE)
_REFUSED = re.compile(
    r"^\S+: (?:fatal )?error: |^error\b|Traceback \(most recent", re.IGNORECASE | re.MULTILINE
)
_SETTING = re.compile(r"\s*(?:- )?[\w.$/-]+:(?: \S.*)?$|\s*- \S|\s*#|---$")
_REPORTED = re.compile(
    r"^\s*(?:- )?(?:status|state|message|reason|log|error|stderr|stdout|lastState|exitCode):",
    re.MULTILINE,
)
_RECORDS = re.compile(
    r"\"(?:status|state|message|msg|reason|log|err\w*|std\w+|exception|traceback|text|output|level"
    r"|stack\w*|detail\w*)\"\s*:",
    re.IGNORECASE,
)
LISTING = "Collecting environment information"
_LISTINGS = re.compile(
    rf"{LISTING}|^PyTorch version: \S|^Package +Version\s*$|^# packages in environment at ",
    re.MULTILINE,
)


def genre_of(text: str, printed: bool) -> Genre:
    """What a text is; `printed`: a program is known to have printed it."""
    if not text.strip():
        return "empty"
    if printed:
        return "output"
    if _ASKS.match(text) and len(text) < 400:
        return "question"
    if any(written(text) for written in (_is_manual, _is_object, is_document, is_guide)):
        return "source"
    if is_over(text):
        return "words"
    if _RAN.search(text):
        return _output(text)
    if _HISTORY.search(text) or _PATCH.search(text):
        return "source"
    if _LETTER.match(text.split(",", 1)[0]) and _WONDERS.search(text):
        return "question"
    lines = list(filter(str.strip, text.splitlines()[:400]))
    if _is_code(lines) or (_are_settings(lines) and not _REPORTED.search(text)):
        return "source"
    return _output(text)


def _output(text: str) -> Genre:
    return "listing" if _LISTINGS.search(text[:4096]) else "output"


def _is_object(text: str) -> bool:
    """Whether it is one value in JSON that reports nothing."""
    if not text.lstrip().startswith(("{", "[")) or _RECORDS.search(text):
        return False
    try:
        return isinstance(msgspec.json.decode(text.encode()), (dict, list))
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_manual(text: str) -> bool:
    """Whether it is a manual, or what a program says when it is asked how to use it."""
    if _REFUSED.search(text):
        return False
    if len(set(_CODES.findall(text))) >= CODES:
        return True
    usage = bool(_USAGE.match(text)) and len(_OPTION.findall(text)) > 1
    return len(_MANUAL.findall(text)) > 1 or usage


def _are_settings(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are nested settings."""
    depths = {len(line) - len(line.lstrip()) for line in lines}
    found = sum(bool(_SETTING.match(line)) for line in lines)
    return len(lines) >= FEWEST and len(depths) >= DEPTHS and found >= PLAINLY * len(lines)


def _is_code(lines: Sequence[str]) -> bool:
    """Whether it begins as a program does, and most of its lines are code."""
    if len(lines) < FEWEST or not any(_BEGINS.match(line) for line in lines[:2]):
        return False
    if tells_an_end(lines):
        return False
    bare = _DOCSTRING.sub("", "\n".join(lines)).splitlines()
    return sum(bool(_CODE.match(line)) for line in bare) >= SHARE * len(bare)


# ---------------------------------------------------------------- failures of the past

MOST = 1 << 13
"""Characters above which nobody only tells that something is over."""
HEAD = 400
_TITLE = re.compile(
    r"\W{0,4}(?:title|subject|betreff|re|aw|objet|asunto|assunto|oggetto|тема)?\W{0,4}"
    r"[\[(【](?:re)?(?:solved|resolved|fixed|closed|gel[oö]st|erledigt|behoben|r[ée]solu|resuelto"
    r"|solucionado|resolvido|risolto|vyřešeno|rozwiązan[ey]|opgelost|решено|已解决|解決済み?"
    r"|해결됨?|çözüldü)[\])】]",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:(?:is|was|are|were|has been|have been|got|now) (?:now |already |finally |since )?"
    r"(?:solved|fixed|resolved|gone|repaired)"
    r"|(?:works?|runs?|working|running) (?:again|now|fine|since)"
    r"|(?:solved|fixed) (?:it|this|by|with)|went away"
    r"|no longer (?:happens|occurs|appears|shows)|never (?:came back|seen? again)"
    r"|(?:ist|sind|wurde|wurden) (?:\w+ ){0,4}(?:behoben|gel[oö]st|beseitigt|erledigt|repariert)"
    r"|l[aä]uft (?:\w+ )?(?:wieder|jetzt|nun)"
    r"|(?:est|a été|sont|ont été) (?:\w+ )?(?:résolue?s?|corrigée?s?|réparée?s?)"
    r"|(?:re)?marche (?:de nouveau|maintenant)|fonctionne (?:de nouveau|maintenant|à nouveau)"
    r"|(?:está|estão|fue|foi|ha sido|quedó|ficou) (?:\w+ )?"
    r"(?:resuelt[oa]|solucionad[oa]|resolvid[oa]|corrigid[oa]|arreglad[oa])"
    r"|(?:ya|agora|já) (?:no aparece|não aparece|funciona)"
    r"|funciona (?:de nuevo|ahora|agora|de novo|otra vez)"
    r"|(?:è stato|sono stati|è) (?:\w+ )?(?:risolto|risolti|corretto)"
    r"|ora funziona|funziona di nuovo"
    r"|(?:je|byl[ao]?|jest|został[ao]?) (?:\w+ )?"
    r"(?:vyřešen\w*|opraven\w*|odstraněn\w*|rozwiązan\w*|naprawion\w*)"
    r"|(?:už|teď|znovu|już|znów) (?:zase )?(?:běží|funguje|działa)"
    r"|(?:is|zijn) (?:\w+ )?(?:opgelost|verholpen)|werkt (?:weer|nu)"
    r"|исправлен\w*|решен[аоы]?\b|устранен\w*|устранён\w*"
    r"|(?:теперь|снова|опять) (?:вс[её] )?работает|çözüldü|giderildi|artık çalışıyor)\b"
    r"|已(?:经)?(?:解决|修复|恢复)|解决了|修好了|恢复正常|解決(?:しました|済み|した)|直りました"
    r"|復旧(?:しました|済み)|해결(?:됐|되었|했)|고쳤",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"[?？]|\b(?:but|however|still|except|until|unless|yet|now (?:i|we) (?:get|see|have)|instead"
    r"|not|n't|aber|noch|jedoch|trotzdem|mais|pourtant|encore|toujours|pero|sin embargo|todavía"
    r"|aún|mas|porém|ainda|ma|però|ancora|ale|přesto|stále|jednak|wciąż|maar|nog|но|однако"
    r"|ещ[её]|ama|hâlâ)\b|但是?|不过|しかし|でも|まだ|하지만|아직",
    re.IGNORECASE,
)
"""What takes the good news back."""
_TO_MANY = re.compile(
    r"^\W{0,4}(?:dear|hi|hello|hey|good (?:morning|afternoon))[ ,]{1,3}"
    r"(?:all|everyone|everybody|users?|team|colleagues|folks|cluster users|hpc users)\b"
    r"|^\W{0,4}(?:liebe|sehr geehrte|hallo) (?:alle|kolleg\w+|nutzer\w*|team)"
    r"|^\W{0,4}(?:chers?|bonjour à) (?:tous|toutes|utilisateurs|collègues)"
    r"|^\W{0,4}(?:estimad[oa]s|hola a) (?:tod[oa]s|usuari\w+|compañer\w+)"
    r"|^\W{0,4}car[io] (?:tutti|colleghi|utenti)"
    r"|^\W{0,4}(?:prezados|olá a) (?:todos|usuários)"
    r"|^各位|^大家好|^皆様|^여러분|^(?:уважаемые|дорогие) "
    r"|^subject: [^\n]{0,20}\[[\w-]{0,30}(?:users|announce|all|status|news)\]",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCES = re.compile(r"(?<=[.!。！…])\s+|\n+|(?<=[。！])")
_AGAIN = re.compile(
    r"[?？]|error|fail|crash|problem|fehler|erreur|échou|falla|erro|errore|chyb|błąd|fout|ошибк"
    r"|hata|错误|报错|失败|エラー|오류",
    re.IGNORECASE,
)


def is_over(text: str) -> bool:
    """Whether only a person speaks, who says that the failure is over, or informs many."""
    if len(text) > MOST or any(map(is_printed, text.splitlines())):
        return False
    if _TO_MANY.search(text[:HEAD]) and not somebody_asks(text):
        return True
    if _TITLE.match(text) and "?" not in text:
        return True
    told = [one for one in _SENTENCES.split(text) if one.strip()]
    over = [at for at, one in enumerate(told) if _OVER.search(one) and not _STILL.search(one)]
    return bool(over) and not any(map(_AGAIN.search, told[over[-1] + 1 :]))

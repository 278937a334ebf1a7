"""Makes the Answer of a text: a cause, several, a reply from tables, or nothing that is known."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from gpuwhy._version import __version__
from gpuwhy.advise.place import Place
from gpuwhy.advise.questions import Observation, question_for
from gpuwhy.advise.remedies import remedies
from gpuwhy.advise.say import command, say
from gpuwhy.answer import answer as of
from gpuwhy.answer.contract import ended, symptoms
from gpuwhy.answer.text import clip, counted, sentence
from gpuwhy.answer.tree import Language
from gpuwhy.ask.answer import (
    ask,
    is_loud,
    is_question,
    is_short,
    is_source,
    of_messages,
    of_source,
    unanswered,
)
from gpuwhy.ask.question import Point, Reply
from gpuwhy.causes.load import catalogue
from gpuwhy.diagnose.diagnosis import Because, Diagnosis, Ranked
from gpuwhy.facts.facts import Facts
from gpuwhy.log.log import Log

SHELLS: dict[str, Language] = {"cmd": "bat", "powershell": "powershell", "notebook": "python"}
REPLIED = 0.9, 0.45, 0.1
"""Confidence of the cause that a reply names; of those it leaves open, at most and at least."""
MOST, REMEDIED = 6, 3  # so many causes are listed; so many of them with a remedy


def explained(
    log: Log, diagnosis: Diagnosis, place: Place, asked: bool = False, facts: Facts | None = None
) -> of.Answer:
    """What a text says of the GPU stack, with the machine's findings where they were weighed;
    `asked` is a text that is known to be a question.
    """
    reply = _reply(log, diagnosis, asked)
    if reply:
        return replied(reply, log, diagnosis, place)
    first = diagnosis.first
    if first is None:
        return _without_cause(log, diagnosis)
    failed = log.ending.kind != "none" and not log.ending.well
    decided = failed or any(one.role == "error" for one in log.deciding)
    if first.cause == of.NOT_GPU and not decided and not _complaint(log):
        harmless = cause_found(first, log, place, facts, remedied(0))
        return _answer(log, diagnosis, "healthy", f"nothing fails: {harmless.because[0].text}")
    question = _question(question_for(diagnosis, log, facts), place)
    causes = tuple(
        cause_found(one, log, place, facts, remedied(order))
        for order, one in enumerate(diagnosis.causes[:MOST])
    )
    reason = next((one for one in first.because if not _is_quoted(one, log)), first.because[0])
    fact, quoted = reason.text, _is_quoted(reason, log)
    if first.confidence >= of.FOUND:
        if first.cause == of.NOT_GPU:
            said = _ended(log) if log.ending.kind == "exception" else first.because[0].text
            fact = f"not a GPU problem: {said}"
        elif quoted:
            fact = _title(first.cause)
        question = None if first.confidence >= of.SURE else question
        return _answer(log, diagnosis, "found", f"{_where(log)}{fact}", causes, question)
    if quoted:
        raised = log.ending.type and log.ending.holds(reason.line)
        fact = _ended(log) if raised else f'"{clip(fact, 60)}"'
    fit = f"; {counted(len(causes), 'cause')} fit" if len(causes) > 1 else ""
    return _answer(log, diagnosis, "undecided", f"{_where(log)}{fact}{fit}", causes, question)


def causes_of(log: Log, diagnosis: Diagnosis) -> list[tuple[str, float]]:
    """The causes with their confidence, best first, without remedies."""
    reply = _reply(log, diagnosis)
    if reply is None or reply.verdict == "unanswered" or diagnosis.causes:
        return [(one.cause, one.confidence) for one in diagnosis.causes]
    return [(one.id, one.confidence) for one in replied(reply, log, diagnosis, Place()).causes]


def _reply(log: Log, diagnosis: Diagnosis, asked: bool = False) -> Reply | None:
    """What tables and rows say of a question, of source, or of a program's own line."""
    text = log.excerpt
    if not asked and log.ending.exit_code is None and is_source(log):
        lines = of_source(log, text)
        if not lines:
            return SOURCE
        rows = [Point(f"Line {one.line}", one.headline) for one in lines]
        head = "A program's source, no log; what it gets wrong, by line:"
        points = (*rows, *lines[0].points[:1], *SOURCE.points)
        return replace(lines[0], headline=head, points=points)
    question = asked or is_question(log)
    own = None if question else of_messages(log)
    sure = diagnosis.first is not None and diagnosis.first.confidence >= of.FOUND
    if own is None and (question or is_short(log)):
        found = ask(log, text)
        if found and not (sure and found.verdict == "undecided"):
            return found
        if not sure and question and not any(map(is_loud, log.messages)):
            return of_messages(log) or unanswered(log, text)
    return _by_facts(own, diagnosis)


def _by_facts(reply: Reply | None, diagnosis: Diagnosis) -> Reply | None:
    """An undecided reply gives way where the text or the machine decides; what the machine shows
    of one of its causes decides it.
    """
    first = diagnosis.first
    if not reply or reply.verdict != "undecided" or not first or first.confidence < of.FOUND:
        return reply
    seen = next((one for one in first.because if one.evidence), None)
    if not seen or first.cause not in {row.means for row in reply.rows}:
        return None
    row = next(row for row in reply.rows if row.means == first.cause)
    do = (Point("Do this", row.text, row.command),)
    head = f"{reply.fact or reply.headline}: {seen.text}"
    return replace(reply, headline=head, verdict="found", cause=first.cause, points=do, rows=())


SOURCE = Reply(
    "source",
    "This is a program's source, no log: it does not say how the program failed",
    points=(Point("Run it", command="gpuwhy run -- PROGRAM"),),
)


def replied(reply: Reply, log: Log, diagnosis: Diagnosis, place: Place) -> of.Answer:
    """A reply from tables as an Answer."""
    shell: Language = "bat" if "windows" in (place.os, reply.os) else "sh"
    told = (of.Proof(reply.quoted, f"line {reply.line}"),) if reply.quoted else ()
    know = (of.Proof(reply.headline, reply.source),) if reply.source else ()
    because = of.Reason(reply.fact or reply.headline, know=know, told=told, line=reply.line)
    fixes = _fixes_of(reply, shell)
    weighed = {one.cause: min(one.confidence, REPLIED[1]) for one in diagnosis.causes}
    sure = {reply.cause: REPLIED[0]} if reply.cause else dict.fromkeys(fixes, REPLIED[2]) | weighed
    causes = tuple(
        of.CauseFound(cause, _title(cause), sure[cause], "", (because,), (), fixes.get(cause, ()))
        for cause in sorted(sure, key=lambda one: -sure[one])
    )
    rows = tuple(of.Row(row.sees, row.means, "", row.text, str(row.command)) for row in reply.rows)
    answers = {row.sees: row.means for row in rows if row.means}
    points = tuple(
        of.Point(one.label, one.text, str(one.command), reply.source * (at == 0))
        for at, one in enumerate(reply.points)
    )
    verdict: of.Verdict = "unrecognised" if reply.verdict == "unanswered" else reply.verdict
    tries = tuple(of.Untried(one.label, one.command) for one in points)
    return replace(
        _answer(log, diagnosis, verdict, reply.headline, causes),
        question=of.Question(reply.id, "", reply.run, answers, rows, shell) if rows else None,
        points=points if verdict == "answered" else (),
        not_tried=tries if verdict == "unrecognised" else (),
    )


def _fixes_of(reply: Reply, shell: Language) -> dict[str, tuple[of.Fix, ...]]:
    """What to do, by cause: of the cause that is named its first row, of others their own."""

    def fix(text: str, command: object, worked_if: str = "", if_not: str = "") -> of.Fix:
        typed = str(command)
        language: Language = "python" if "\n" in typed else shell
        made = of.Fix(text, typed, True, False, False, "", language=language)
        return replace(made, worked_if=worked_if, if_not=if_not)

    if reply.cause and reply.points:
        first, said = reply.points[0], {one.label: one.text for one in reply.points}
        seen = said.get("Worked if") or catalogue().causes[reply.cause].worked_if
        return {reply.cause: (fix(first.text, first.command, seen, said.get("If not", "")),)}
    out: dict[str, tuple[of.Fix, ...]] = {}
    for row in (one for one in reply.rows if one.means):
        out.setdefault(row.means, (fix(row.text, row.command),))
    return out


def _without_cause(log: Log, diagnosis: Diagnosis) -> of.Answer:
    """Health, a failure that has nothing to do with the GPU, or words that nobody knows."""
    harmless = [one for one in log.messages if one.role == "harmless"]
    failed = log.ending.kind != "none" and not log.ending.well
    if (diagnosis.healthy or (harmless and not failed)) and not _complaint(log):
        head = f"Nothing fails in {counted(log.lines, 'line')}"
        note = f"; line {harmless[0].line} is harmless" if harmless else ""
        return _answer(log, diagnosis, "healthy", head + note)
    raised = failed and log.ending.kind == "exception"
    what = _complaint(log) or "no message that gpuwhy knows"
    what = _ended(log) if raised else what
    made = _answer(log, diagnosis, "unrecognised", f"Not recognised: {what}")
    last = of.LogLine(log.lines, log.last_line) if log.last_line else None
    tries = (of.Untried("watch the program itself", "gpuwhy run -- python PROGRAM"),)
    return replace(made, last_line=last, not_tried=tries)


def _complaint(log: Log) -> str:
    """The line that calls itself an error, where no later one says that all is well."""
    line, text = log.complaint
    well = max((one.line for one in log.messages if one.role == "healthy"), default=0)
    return clip(text, 100) if line > well and not log.ending.well else ""


def _where(log: Log) -> str:
    """That a program went on without the GPU, by its own words: the silent fall-back."""
    if log.ending.kind != "none" and not log.ending.well:
        return ""
    for stated in log.case.programs:
        if program := catalogue().programs.get(stated.value):
            cpu, gpu = (
                max((one.line for one in log.messages if one.id in ids), default=0)
                for ids in (program.on_cpu, program.on_gpu)
            )
            if cpu > gpu:
                return f"{program.title} runs on the CPU: "
    return ""


def _ended(log: Log) -> str:
    """The exception, and the place in the user's own code."""
    ending = log.ending
    frame = ending.user_frame
    where = f" at {frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame and frame.line else ""
    what = f"{ending.name}: {clip(ending.message, 90)}".rstrip(": ")
    return f"{what}{where}"


def remedied(order: int, sure: bool = False) -> int:
    """How many remedies the first cause has, those after it, and any other that is sure."""
    return 4 if order == 0 else int(sure or order < REMEDIED)


def cause_found(
    one: Ranked, log: Log | None, place: Place, facts: Facts | None, most: int
) -> of.CauseFound:
    """A cause with its reasons, and at most so many remedies."""
    found = remedies(one, log, facts, place)[:most] if most else ()
    fixes = []
    for remedy in found:
        said = say(remedy, place)
        fix = of.Fix(
            text=said.text,
            command=said.command,
            safe=remedy.reversible and not remedy.root,
            root=remedy.root,
            reboot=remedy.reboot,
            check="",
            action=remedy.do,
            worked_if=said.worked_if,
            if_not=said.if_not,
            verified=remedy.verified,
            language=_language(place),
        )
        fixes.append(fix)
    because = tuple(_reason(reason, log or Log()) for reason in one.because)
    return of.CauseFound(
        id=one.cause,
        title=_title(one.cause),
        confidence=round(one.confidence, 3),
        subject=one.subject,
        because=because or (of.Reason(_title(one.cause)),),
        explains=(),
        fixes=tuple(fixes),
        with_gpu=one.with_gpu,
    )


def _is_quoted(reason: Because, log: Log) -> bool:
    """Whether the reason is the line itself: its clue has no sentence of its own."""
    return reason.message >= 0 and log.messages[reason.message].text == reason.text


def _reason(one: Because, log: Log) -> of.Reason:
    seen: dict[str, list[of.Proof]] = {"saw": [], "know": [], "told": []}
    line = one.line
    message = log.messages[one.message] if one.message >= 0 else None
    if message and message.observed:
        line = 0
        seen["saw"].append(of.Proof(message.text, str(message.observed)))
    elif message and message.text:
        seen["told"].append(of.Proof(message.text, f"line {message.line}"))
    for proof in one.evidence:
        where = f"{proof.source.where} {proof.source.detail}".strip()
        seen[proof.kind].append(of.Proof(proof.text, where))
    saw, know, told = map(tuple, seen.values())
    return of.Reason(sentence(one.text), saw, know, told, line)


def _language(place: Place) -> Language:
    return SHELLS.get(place.shell, "bat" if place.os == "windows" else "sh")


def _question(asked: Observation | None, place: Place) -> of.Question | None:
    """The observation that decides, as a table."""
    if asked is None:
        return None
    rows = []
    for one in asked.outcomes:
        said = say(one.remedy, place) if one.remedy else None
        text = said.text if said and not one.is_said else ""
        title = one.says or _title(one.means)
        rows.append(of.Row(one.sees, one.means, title, text, said.command if said else ""))
    return of.Question(
        id=rows[0].means.split(".")[0],
        text=asked.when_to_run,
        command=command(asked.look, place),
        answers={one.sees: one.means for one in rows},
        rows=tuple(rows),
        language=_language(place),
    )


def _title(cause: str) -> str:
    known = catalogue().causes.get(cause)
    return known.title if known else cause


def plain_answer(verdict: of.Verdict, headline: str, noticed: str = "") -> of.Answer:
    """An answer that is a sentence."""
    made = _answer(Log(), Diagnosis(), verdict, headline)
    return replace(made, noticed=(of.Noticed(None, noticed),) if noticed else ())


def _answer(
    log: Log,
    diagnosis: Diagnosis,
    verdict: of.Verdict,
    headline: str,
    causes: Iterable[of.CauseFound] = (),
    question: of.Question | None = None,
) -> of.Answer:
    status: dict[str, Any] = {"healthy": "healthy", "answered": "healthy", "found": "broken"}
    if log.ending.rank.isdigit() and verdict in ("found", "undecided", "unrecognised"):
        first = " failed first" if len(log.case.ranks) != 1 else ""
        headline = f"rank {log.ending.rank}{first}: {headline}"
    return of.Answer(
        status=status.get(verdict, "unknown"),
        headline=sentence(headline),
        causes=tuple(causes),
        ruled_out=tuple(of.RuledOut(one.cause, one.because) for one in diagnosis.ruled_out),
        undetermined=tuple(
            of.Open(one.cause, one.missing, one.how) for one in diagnosis.undetermined
        ),
        crashed=(),
        layers=(),
        unseen=(),
        facts={},
        gpuwhy=__version__,
        took=0.0,
        verdict=verdict,
        noticed=tuple(of.Noticed(None, one.text) for one in diagnosis.noticed),
        symptoms=symptoms(log),
        ending=ended(log.ending),
        question=question,
    )

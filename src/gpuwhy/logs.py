"""What version 0's look at a machine reads of texts: imports, a status; through the new reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from gpuwhy.advise.remedy import Install, Remove
from gpuwhy.answer import contract
from gpuwhy.answer.answer import NOT_GPU, Answer, CauseFound, Reason
from gpuwhy.answer.answer import Fix as SaidFix
from gpuwhy.api.machine import Seen
from gpuwhy.api.text import answer_of
from gpuwhy.diagnose.weigh import diagnose
from gpuwhy.facts.fact import Source as NewSource
from gpuwhy.facts.finding import Effect, Weight
from gpuwhy.facts.finding import Evidence as NewEvidence
from gpuwhy.facts.finding import Finding as NewFinding
from gpuwhy.knowledge.codes import signature
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message
from gpuwhy.log.read import read
from gpuwhy.model.cause import Evidence, Finding, Fix
from gpuwhy.knowledge.code import Code
from gpuwhy.model.fact import Source
from gpuwhy.model.report import Noticed, Report, RuledOut, Shown
from gpuwhy.model.symptom import Symptom
from gpuwhy.model.threshold import MOST, TOLD
from gpuwhy.reason.report import condition_of
from gpuwhy.reason.tried import Failed, with_printed, with_words
from gpuwhy.render.json import render


def report_v0(answer: Answer) -> Report:
    """An answer as a report of version 0."""
    return Report(
        status=answer.status,
        headline=answer.headline,
        causes=tuple(map(_shown, answer.causes)),
        ruled_out=tuple(RuledOut(one.id, one.because) for one in answer.ruled_out),
        undetermined=(),
        crashed=(),
        layers=(),
        unseen=answer.unseen,
        facts=answer.facts,
        gpuwhy=answer.gpuwhy,
        took=answer.took,
        symptoms=tuple(Symptom(one.id, one.line, one.text, fields=one.fields) for one in answer.symptoms),
        noticed=tuple(Noticed(one.id or "", one.text) for one in answer.noticed),
    )


def _shown(cause: CauseFound) -> Shown:
    because, fixes = tuple(map(_finding, cause.because)), tuple(map(_fix, cause.fixes))
    return Shown(cause.id, cause.title, cause.confidence, cause.subject, because, (), fixes, True, cause.with_gpu)


def _finding(reason: Reason) -> Finding:
    said = [("told", one) for one in reason.told] + [("saw", one) for one in reason.saw]
    evidence = tuple(Evidence(kind, one.text, Source("log", one.source)) for kind, one in said)  # type: ignore[arg-type]
    return Finding("strong", reason.text, evidence)


def _fix(one: SaidFix) -> Fix:
    installs = [step for step in one.action if isinstance(step, Install) and not step.manager]
    removed = [name for step in one.action if isinstance(step, Remove) for name in step.packages]
    wanted = [name for step in installs for name in step.packages]
    made = Fix(one.text, one.command, one.safe, one.root, one.reboot)
    return structs.replace(made, install=tuple(wanted), uninstall=tuple(removed))


def explained(text: str) -> Report:
    """What a text says by itself."""
    return report_v0(answer_of(read(text)))


def read_imports(by_facts: Report, failed: Sequence[Failed], took: float, again: str) -> Report:
    """The report after imports that failed: their words are read as a log; the facts have had their say before."""
    return with_words(by_facts, [(one, explained(one.one.text)) for one in failed], condition_of(by_facts.as_if))


def read_printed(by_facts: Report, imported: Sequence[Failed], took: float, again: str) -> Report:
    """The report after imports that went well: what they printed is read as a log, for parts that did not load."""
    return with_printed(by_facts, [(one, explained(one.one.text)) for one in imported], condition_of(by_facts.as_if))


def behind(code: Code) -> Code:
    """A status with the causes that `explain` tells where nothing but that status is said."""
    number = code.numbers[0].code if code.numbers else 0
    if code.api == "windows":
        plain = f"exit code 0x{number:X}\n" if number > 0xFFFF else f"LoadLibrary failed with error {number}\n"
        log = read(plain)
    elif name := signature(code):
        log = Log(messages=(Message(name, 1, name, fields={"xid": str(number)}),), mentions_gpu=True)
    else:
        return code
    found = (one.cause for one in diagnose(log).causes if one.confidence >= TOLD)
    return structs.replace(code, causes=tuple(found)[:MOST])


def seen(report: Report) -> Seen:
    """The findings of a report of version 0."""
    known = contract.read(render(report))
    return Seen(tuple(_findings(report, _can_rule_out(known))), known)


def _can_rule_out(known: Answer) -> bool:
    """Whether the machine has a GPU and a framework; a text from elsewhere is not judged by what
    a bare machine lacks.
    """
    marks = {layer.name.split(" ")[0]: layer.mark for layer in known.layers}
    others = set(marks) - {"GPU", "driver", "CUDA", "cuDNN", "Python", "container", "WSL"}
    return marks.get("GPU", "none") != "none" and bool(others)


def _findings(report: Report, rule_out: bool) -> Iterator[NewFinding]:
    for cause in report.causes:
        for one in cause.because:
            yield _as_new(cause.id, cause.subject, one, cause.with_gpu)
    for gone in report.ruled_out if rule_out else ():
        if gone.id == NOT_GPU:
            continue
        yield NewFinding(gone.id, Weight.AGAINST, "{text}", {"text": gone.because})


def _as_new(cause: str, subject: str, one: Any, with_gpu: bool = False) -> NewFinding:
    """A finding of version 0."""
    return NewFinding(
        cause,
        Weight(one.weight),
        "{text}",
        {"text": one.text},
        tuple(NewEvidence(e.kind, e.text, _source(e.source)) for e in one.evidence),
        subject,
        Effect.STOPS if one.stops else Effect.SLOWS,
        one.linked,
        with_gpu,
    )


def _source(source: Any) -> NewSource:
    return NewSource(source.kind, source.where, source.detail)

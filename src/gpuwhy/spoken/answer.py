"""Answer: a report on plain words becomes that on a question: the likely causes, each with its test, and how to go on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import structs

from gpuwhy.model.cause import Cause, Evidence, Finding, Fix
from gpuwhy.model.fact import Source
from gpuwhy.model.guide import Guide, Way
from gpuwhy.model.report import Report, Shown
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.threshold import LIKELY
from gpuwhy.spoken.guides import ANYTHING
from gpuwhy.spoken.heard import hear, plain, printed
from gpuwhy.spoken.topics import guide as guide_to

Remedies = Callable[[str, list[Symptom], Reading], tuple[Fix, ...]]
_INNOCENT = "other.not_gpu"
_VAGUE = re.compile(r"title\.[a-z]|generic\.")
"""Signatures of words that people use, not of a program's messages."""
_TROUBLE = "title.trouble"
"""The signature of "it fails", which tells nothing else."""
_BARE = frozenset(
    [
        "torch.unavailable",
        "torch.no_gpus",
        "torch.falls_back",
        "jax.falls_back",
        "nvidia.smi_missing",
        "memory.torch_oom_bare",
        "memory.oom_words",
        "signal.segv",
        "signal.kernel_died",
    ]
)
"""Those of messages that people quote in a few words, without what would decide."""
_SYSTEMS = {"windows": "windows", "wsl": "wsl"}
DECIDED = 0.85
"""So sure is a message that names one of the likely causes outright: there is nothing to tell apart."""


def answered(report: Report, reading: Reading, causes: Mapping[str, Cause], remedies: Remedies) -> Report:
    """The report as it is, or the answer to plain words where it found nothing surer than they are."""
    if not plain(reading.excerpt):
        return report
    heard = hear(reading.excerpt)
    guide = guide_to(heard)
    if guide is None or _surer(report, guide, reading.excerpt):
        return report
    said = understood(reading)
    shown = tuple(_shown(causes[way.cause], way, place, said, remedies) for place, way in enumerate(guide.ways))
    return structs.replace(
        report, status="unknown", headline=guide.about, causes=shown, guide=guide, question=None, origin=None,
        undetermined=(), ruled_out=tuple(r for r in report.ruled_out if r.id not in {w.cause for w in guide.ways}),
    )  # fmt: skip


def seen_here(answer: Report, here: Report) -> Report:
    """The answer with what is seen on this machine; a cause that is found here goes before all likely ones."""
    guide = answer.guide
    if guide is None:
        return answer
    found = tuple(one for one in here.causes if one.found and one.because) if guide.ways else ()
    ids = {one.id for one in found}
    ways = (
        *(Way(one.id, one.because[0].text, seen=True) for one in found),
        *(way for way in guide.ways if way.cause not in ids),
    )
    return structs.replace(
        answer,
        causes=(*found, *(one for one in answer.causes if one.id not in ids)),
        guide=structs.replace(guide, here=here.headline, ways=ways),
    )


def _surer(report: Report, guide: Guide, text: str) -> bool:
    """Whether a message of a program was found; words that people use too decide only where they stand out."""
    if guide.topic == ANYTHING:
        return _says_something(report)
    found = [one.signature for one in report.symptoms if one.role in ("error", "echo")]
    if any(name.startswith("generic.") for name in found) and report.causes[0].confidence >= DECIDED:
        return True
    bare = _BARE.intersection(found)
    if any(not _VAGUE.match(name) for name in found if name not in bare):
        return True
    if not bare:
        return False
    return printed(text) or not guide.ways or _stands_out(report, guide)


def _says_something(report: Report) -> bool:
    """Whether the words say more than that something fails."""
    if not report.symptoms:
        return bool(report.causes)
    return any(one.signature != _TROUBLE for one in report.symptoms)


def _stands_out(report: Report, guide: Guide) -> bool:
    """Whether one cause is likely, and all but certain where it is one of the topic's own."""
    first = report.causes[0] if report.causes else None
    if first is None or first.id == _INNOCENT:
        return False
    named = any(way.cause == first.id for way in guide.ways)
    return first.confidence >= (DECIDED if named else LIKELY)


def understood(reading: Reading) -> Reading:
    """The reading as its words were understood, for the choice among remedies and the place they are for."""
    heard = hear(reading.excerpt)
    told = structs.replace(
        reading.told,
        os=_SYSTEMS.get(heard.place, reading.told.os),
        container=reading.told.container or heard.place == "container",
    )
    line = Symptom("words.said", 1, heard.words, role="told")
    return structs.replace(reading, told=told, symptoms=(line,), excerpt=heard.words)


def _shown(cause: Cause, way: Way, place: int, reading: Reading, remedies: Remedies) -> Shown:
    """A likely cause; the first of several is no surer than its place."""
    told = Evidence("told", reading.symptoms[0].text, Source("log", "input", "plain words"))
    known = [fix for fix in remedies(cause.id, list(reading.symptoms), reading) if fix.role != "look"]
    fixes = (Fix(way.fix, safe=True),) if way.fix else tuple(known)
    because = Finding("weak", f"such words often mean this; it is so if {way.tell}", (told,))
    return Shown(cause.id, cause.title, round(0.4 / (place + 1), 2), "", (because,), (), fixes, cause.stops)

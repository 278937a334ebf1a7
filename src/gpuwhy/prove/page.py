"""The answer of a session, as the contract gpuwhy.proof/1 and as a document."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import asdict, replace

from gpuwhy._version import __version__
from gpuwhy.answer import blocks, ci
from gpuwhy.answer.answer import Answer, CauseFound, Fix, Reason, RuledOut, Verdict
from gpuwhy.answer.answer import Proof as Seen
from gpuwhy.answer.blocks import item, items, pair, pairs
from gpuwhy.answer.text import counted
from gpuwhy.answer.tree import Code, Document, Heading, Item, Mark, Soft
from gpuwhy.log.ending import Ending
from gpuwhy.prove.counts import counts, flaky
from gpuwhy.prove.proof import Cause, Counts, End, Once, Outcome, Proof, Status, Trial, Tweak
from gpuwhy.prove.session import WORDS, Session
from gpuwhy.prove.tweaks import change_of, hard_limits, in_words, named

SPEAKS = 0.25
"""The confidence from which on the report chooses among the causes that a change stands for."""
PROVEN, LIKELY, OPEN = 0.99, 0.7, 0.05
_MARKS: dict[str, Mark] = {"same": "bad", "flaky": "warn", "other": "warn"}
_MARKS |= {"open": "unknown", "unclear": "unknown"}
_ROWS, _PLANNED, _LONG = 4, 40, 140
"""Experiments of which the text tells, changes that --dry-run lists, letters of an ending."""


def proof_of(session: Session, titles: Mapping[str, str], hide: Callable[[str], str]) -> Proof:
    """What the session has come to, also where it was stopped; `hide` takes secrets out."""
    runs, found, plan = session.runs, session.found, session.plan
    now = counts(runs, frozenset(one.id for one in found))
    status: Status = "flaky" if session.base and flaky(runs) else "open"
    if runs and all(one.outcome == "passes" for one in runs):
        status = "not_failing"
    status = "proven" if session.proven else status
    helps = in_words(found, plan.environ) if now.passed[0] else []
    refuted = () if helps or session.base is None else tuple(_refuted(session))
    gone = {one.id for one in refuted}
    return Proof(
        status=status,
        headline=_headline(session, status, now, helps, gone),
        causes=_causes(session, now, helps, titles, gone),
        ruled_out=refuted,
        change=change_of(found, plan.environ) if helps else None,
        runs=len(runs),
        experiments=tuple(_trials(runs, hide)),
        ending=_end(session.base or (runs[-1].ending if runs else Ending()), hide),
        counts=now,
        rate="fails {} of {}".format(*now.failed) if flaky(runs) else "",
        notes=tuple(_notes(session, status, now)),
        left=tuple(hard_limits(plan)) if status == "open" and session.base else (),
        seconds=round(time.monotonic() - session.began, 1),
        interrupted=session.interrupted,
    )


def _end(ending: Ending, hide: Callable[[str], str]) -> End:
    kept, shown = ("kind", "type", "line", "exit_code"), ("file", "line", "function", "owner")
    frame = {name: getattr(ending.frame, name) for name in shown} if ending.frame else None
    end: End = {name: getattr(ending, name) for name in kept}
    return end | {"message": hide(ending.message), "frame": frame}


def _trials(runs: Sequence[Once], hide: Callable[[str], str]) -> Iterator[Trial]:
    """The runs as a table: each change once, in the order in which it was first tried."""
    worst: Sequence[Outcome] = ("same", "other", "unclear", "passes")
    for key in dict.fromkeys(one.key for one in runs):
        group = [one for one in runs if one.key == key]
        shown = min(group, key=lambda one: worst.index(one.outcome))
        yield Trial(
            change=named(shown.tweaks),
            tweaks=tuple(one.id for one in shown.tweaks),
            outcome=shown.outcome,
            n=len(group),
            seconds=round(sum(one.seconds for one in group) / len(group), 2),
            ending=_end(shown.ending, hide) if shown.outcome in ("same", "other") else None,
            outcomes=tuple(one.outcome for one in group),
            note=next((hide(one.note) for one in group if one.note), ""),
            purpose=group[0].purpose,
        )


def _causes(
    session: Session,
    now: Counts,
    helps: Sequence[Tweak],
    titles: Mapping[str, str],
    gone: set[str],
) -> tuple[Cause, ...]:
    """Those that the change speaks for, first; then what explain names and nothing refuted."""
    known = session.answer.causes if session.answer else ()
    text = ("proven: " if session.proven else "") + _sentence(helps, now)
    because = Reason(text, tuple(Seen(one.text, f"rerun ({one.id})") for one in helps))
    fixes = tuple(Fix(f"Run it {one.text}", one.command, True, False, False, "") for one in helps)
    guilty = []  # the cause of each tweak, the likeliest tweak first
    for tweak in sorted(session.found, key=lambda one: -one.weight) if helps else ():
        likely = max(tweak.causes, key=lambda cause: session.causes.get(cause, 0.0), default="")
        spoken = tweak.kind != "limit" and session.causes.get(likely, 0.0) >= SPEAKS
        guilty.append(likely if spoken else tweak.causes[0])
    first, sure = [], PROVEN if session.proven else LIKELY
    for id_ in dict.fromkeys(guilty):
        plain = CauseFound(id_, titles.get(id_, id_), 0.0, "", (), (), ())
        old = next((one for one in known if one.id == id_), plain)
        told = asdict(old) | {"because": (because, *old.because), "fixes": (*fixes, *old.fixes)}
        told |= {"confidence": max(sure, old.confidence), "with_gpu": False}
        first.append(Cause(**told, proven=session.proven))
    share = 1.0 if not helps else 0.5 if not session.proven else 1.0 - PROVEN
    rest = (one for one in known if one.id not in gone and one.id not in guilty)
    lowered = (replace(one, confidence=round(one.confidence * share, 3)) for one in rest)
    return (*first, *(Cause(**asdict(one)) for one in lowered if one.confidence >= OPEN))


def _refuted(session: Session) -> Iterator[RuledOut]:
    """Causes whose every tweak was in place when it failed as before; a hard limit may hide one."""
    failed = [one.key for one in session.runs if one.outcome == "same" and one.key]
    for cause in session.causes:
        own = [one for one in session.tweaks if cause in one.causes[:1]]
        untried = cause == "env.limit" and hard_limits(session.plan)
        if own and not untried and any({one.id for one in own} <= key for key in failed):
            yield RuledOut(cause, f"it fails the same {named(own)}")


def _sentence(tweaks: Sequence[Tweak], now: Counts) -> str:
    """with … it runs (3 of 3), as it is it fails (3 of 3)."""
    text = " and ".join(one.text for one in tweaks)
    removed = "with it" if len(tweaks) == 1 else "with them"
    other = removed if all(one.removes for one in tweaks) else "as it is"
    (ran, of_ran), (failed, of_failed) = now.passed, now.failed
    return f"{text} it runs ({ran} of {of_ran}), {other} it fails ({failed} of {of_failed})"


def _headline(
    session: Session, status: str, now: Counts, helps: Sequence[Tweak], gone: set[str]
) -> str:
    n, (failed, of), answer = len(session.runs), now.failed, session.answer
    if status == "not_failing":
        return f"it does not fail: {n} of {n} runs succeeded"
    if session.base is None:
        return "undecided: it neither failed nor succeeded in the time that it had"
    if status == "flaky" and failed == of:
        return f"flaky: it failed {of} of {of} times, but what made it run once did not again"
    if status == "flaky":
        return f"flaky: as it is, it fails {failed} of {of} times"
    if helps:
        return f"{'proven' if session.proven else 'likely, not proven'}: {_sentence(helps, now)}"
    if answer and not any(one.id in gone for one in answer.causes[:1]):
        return answer.headline
    return _not_proven(session, now)


def _not_proven(session: Session, now: Counts) -> str:
    tried = len({one.id for run in session.runs for one in run.tweaks})
    runs, (failed, of) = counted(len(session.runs), "run"), now.failed
    none = f"none of {tried} changes in {runs} makes it run"
    return f"not proven: it fails {failed} of {of} times, and {none}"


def _notes(session: Session, status: str, now: Counts) -> Iterator[str]:
    base, plan = session.base, session.plan
    if session.interrupted:
        yield "interrupted: this is what was known by then"
    elif session.spent and status != "proven":
        spent = f"the budget of {session.budget:.0f} s or {plan.runs} runs is spent"
        yield f"{spent}: --budget and --runs allow more"
    if base is None:
        if status == "open":
            yield "--seconds N, --timeout N or --ok REGEX say what counts as success or failure"
        return
    if status == "open" and not session.found:
        yield _not_proven(session, now)
    plain = [one.outcome for one in session.runs if not one.key and one.outcome != "unclear"]
    if "passes" in plain and plain == sorted(plain, reverse=True):
        heals = "a run left something behind (a cache, a file) that heals it"
        yield f"it failed at first and then ran as it is: it fails at times, or {heals}"
    if base.type.endswith("EOFError"):
        yield "it asks for input: gpuwhy prove -- CMD < FILE gives every run the same"
    if base.kind == "timeout" and not plan.timeout:
        yield f"{plan.quiet:.0f} s without output or work are a hang; --timeout N says when else"


def document(proof: Proof, answer: Answer | None, whole: bool = False) -> Document:
    """What is proven and what to do, else explain's answer; and the runs that show it."""
    shown = blocks.document(_answer(proof, answer)).blocks if answer else ()
    heading, mark = Heading((proof.headline,)), _MARKS.get(proof.status, "ok")
    heading = next((one for one in shown[:1] if isinstance(one, Heading)), heading)
    if not answer or proof.headline != answer.headline:
        heading = replace(heading, mark=mark)
    also = [pair("Not", (Code(row.id), f": {row.because}")) for row in proof.ruled_out[:4]]
    also += [pair("Note", note) for note in proof.notes if note != proof.headline]
    also += [pair("Also", one) for one in proof.left]
    title = Heading((f"Experiments: {counted(proof.runs, 'run')}",), level=2)
    rows = _rows(proof.experiments, len(proof.experiments) if whole else _ROWS)
    return Document(
        (heading, *shown[1:], title, items(rows), pairs(*also)),
        title=proof.headline,
        made_by=f"gpuwhy {__version__}",
    )


def _answer(proof: Proof, answer: Answer) -> Answer:
    """Explain's answer with what the experiments decided, and its own reason for a cause first."""
    if proof.headline == answer.headline and not proof.change:
        return answer
    causes = [replace(one, because=(*one.because[1:], *one.because[:1])) for one in proof.causes]
    verdict: Verdict = "found" if proof.change and causes else "undecided"
    decided = replace(answer, headline=proof.headline, causes=tuple(causes))
    return replace(decided, verdict=verdict, question=None)


def _silence(one: Trial) -> tuple[bool, bool, int]:
    return bool(one.tweaks) and one.outcome != "passes", one.outcome != "other", len(one.tweaks)


def _rows(experiments: Sequence[Trial], most: int) -> Iterator[Item]:
    """The experiments; of many, those that tell most."""
    kept = sorted(experiments, key=_silence)[:most]
    for one in (one for one in experiments if one in kept):
        times = f" ({one.outcomes.count(one.outcome)} of {one.n})" if one.n > 1 else ""
        note = f", {one.note}" if one.note else ""
        text = f"{one.change}: {WORDS[one.outcome]}{times}, {one.seconds:.1f} s{note}"
        ended = one.ending if one.ending and one.outcome == "other" else {}
        words = ": ".join(filter(None, (ended.get("type"), ended.get("message"))))
        more = [(Soft(words.split("\n")[0][:_LONG]),)] if words else []
        yield item((text,), *more, mark=_MARKS.get(one.outcome, "ok"))
    if len(experiments) > len(kept):
        yield item(f"and {len(experiments) - len(kept)} more: --json has them")


def listed(tweaks: Sequence[Tweak], runs: int, budget: str) -> Document:
    """What `--dry-run` prints: what would be tried, the likeliest first."""
    total = sum(one.weight for one in tweaks) or 1.0
    rows = [f"{one.weight / total:.1%} {one.text}" for one in tweaks[:_PLANNED]]
    more = [f"and {len(tweaks) - _PLANNED} more"] if len(tweaks) > _PLANNED else []
    head = f"Would run it as it is twice, then with changes: at most {runs} times in {budget}"
    many = f"{counted(len(tweaks), 'change')}, many at once, halved until the smallest is left"
    headings = Heading((head,)), Heading((many,), level=2)
    return Document((*headings, items(map(item, rows + more))), title="gpuwhy prove --dry-run")


def notes(proof: Proof, answer: Answer | None) -> tuple[ci.Note, ...]:
    """The causes as build servers read them; one note where none is known."""
    if answer and proof.causes:
        return ci.notes(_answer(proof, answer))
    level: ci.Level = "passed" if proof.status == "not_failing" else "error"
    return (ci.Note("", 0, f"gpuwhy.{proof.status}", proof.headline, level),)

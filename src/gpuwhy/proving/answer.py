"""The answer of a session: status, cause, change, table."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

from gpuwhy.answer.answer import CauseFound, RuledOut
from gpuwhy.causes.load import catalogue
from gpuwhy.facts.fact import value_or
from gpuwhy.log.ending import Ending
from gpuwhy.machine.redact import of_this_machine
from gpuwhy.prove.counts import arms, flaky, rate
from gpuwhy.prove.endings import name, said
from gpuwhy.prove.proof import Arms, Proof, Status, Trial, Tweak
from gpuwhy.prove.remedies import hard
from gpuwhy.prove.setting import change_of, in_words
from gpuwhy.prove.verdict import causes_of, refuted, sentence, shown, trials
from gpuwhy.proving.session import Session
from gpuwhy.proving.stage import may_exceed


def proof_of(session: Session) -> Proof:
    """What the session has come to, also where it was stopped."""
    found = session.found
    now = arms(session.runs, frozenset(one.id for one in found) or frozenset({"nothing"}))
    causes, out = _causes(session, now)
    status = _status(session)
    return Proof(
        status=status,
        headline=_headline(session, status, now),
        causes=causes,
        ruled_out=out,
        change=change_of(found, session.plan.environ) if found and now.passed else None,
        runs=len(session.runs),
        experiments=tuple(map(_told, trials(session.runs))),
        ending=_shared(session.base or (session.runs[-1].ending if session.runs else Ending())),
        arms=now,
        rate="fails {} of {}".format(*rate(session.runs)) if flaky(session.runs) else "",
        notes=tuple(_notes(session, status)),
        left=(*session.left, *_hard(session, status)),
        seconds=round(time.monotonic() - session.began, 1),
        interrupted=session.interrupted,
    )


def _shared(ending: Ending) -> Ending:
    """Without what looks like a secret: an answer is pasted into reports."""
    return msgspec.structs.replace(ending, message=of_this_machine().hide(ending.message))


def _told(trial: Trial) -> Trial:
    return msgspec.structs.replace(trial, ending=_shared(trial.ending)) if trial.ending else trial


def _words(session: Session) -> list[Tweak]:
    return in_words(session.found, session.plan.environ)


def _status(session: Session) -> Status:
    if session.proven:
        return "proven"
    if session.base is None:
        passed = [one for one in session.runs if one.outcome == "passes"]
        return "not_failing" if passed and len(passed) == len(session.runs) else "open"
    return "flaky" if flaky(session.runs) else "open"


def _causes(session: Session, now: Arms) -> tuple[tuple[CauseFound, ...], tuple[RuledOut, ...]]:
    known = session.known
    if session.base is None:
        return (), ()
    others = [one for one in session.tweaks if one not in session.found]
    out = refuted(session.runs, others, [one.id for one in known])
    found = session.found and now.passed
    guilty = causes_of(session.found, session.causes) if found else ()
    out = tuple(row for row in out if row.id not in guilty)
    gone = {row.id for row in out}
    left = tuple(one for one in known if one.id not in gone)
    if not found:
        return left, out
    titles = {cause.id: cause.title for cause in catalogue().causes.values()}
    return shown(guilty, _words(session), now, titles, left, session.proven), out


def _headline(session: Session, status: Status, now: Arms) -> str:
    n = len(session.runs)
    if status == "proven":
        return f"proven: {sentence(_words(session), now)}"
    if status == "not_failing":
        return f"it does not fail: {n} of {n} runs succeeded"
    if session.base is None:
        return "undecided: it neither failed nor succeeded in the time that it had"
    failed, of = rate(session.runs)
    if status == "flaky" and failed == of:
        return f"flaky: it failed {of} of {of} times as it is, but what made it run once did not the next time"
    if status == "flaky":
        return f"flaky: as it is, it fails {failed} of {of} times{_hint(session, now)}"
    if session.found and now.passed:
        return f"likely, not proven: {sentence(_words(session), now)}"
    tried = len({one.id for run in session.runs for one in run.tweaks})
    return f"open: it fails the same way {failed} of {of} times, and none of {tried} changes in {n} runs makes it run"


def _hint(session: Session, now: Arms) -> str:
    if not session.found:
        return ", and no change was found that ends this"
    text = " and ".join(one.text for one in _words(session))
    return f"; {text} it ran {now.passed} of {now.of_passed} times, which may be chance"


def _hard(session: Session, status: Status) -> list[str]:
    return hard(session.plan.limits, may_exceed()) if status in ("open", "flaky") and session.base else []


def _healed(session: Session) -> bool:
    plain = [one.outcome for one in session.runs if not one.key and one.outcome in ("same", "passes")]
    failed = plain.count("same")
    return failed > 0 and len(plain) - failed > 1 and plain == ["same"] * failed + ["passes"] * (len(plain) - failed)


def _notes(session: Session, status: Status) -> list[str]:
    return [*_of_the_budget(session, status), *_of_the_runs(session), *_of_the_failure(session, status)]


def _of_the_budget(session: Session, status: Status) -> Iterator[str]:
    if session.interrupted:
        yield "interrupted: this is what was known by then"
    elif session.spent and status != "proven":
        spent = f"the budget of {session.budget:.0f} s or {session.plan.runs} runs is spent"
        yield f"{spent}: --budget and --runs allow more"


def _of_the_runs(session: Session) -> Iterator[str]:
    for one in session.turns:
        ending = next((run.ending for run in session.runs if one.id in run.key and run.outcome == "other"), None)
        if ending:
            yield f"{one.text} it fails otherwise: {said(ending)}"
    if _healed(session):
        yield (
            "it failed at first and then ran as it is, every time: something changed meanwhile, "
            "or a run left something behind (a cache, a file) that heals it"
        )
    if len(session.bases) > 1:
        ways = "; ".join(said(one).split("\n")[0][:80] for one in session.bases[:4])
        yield f"it fails in {len(session.bases)} ways, all taken for the same failure: {ways}"


def _of_the_failure(session: Session, status: Status) -> Iterator[str]:
    base = session.base
    if base is None:
        if status == "open":
            yield (
                "--timeout N: from then on it hangs; --seconds N: still running then is a success; "
                "--ok REGEX: this is one"
            )
        return
    if name(base) == "EOFError":
        yield "it asks for input, and there is none: gpuwhy prove -- CMD < FILE gives every run the same"
    after = session.after
    if base.type == "SIGKILL" and after and value_or(after.facts.run.oom_kills, 0):
        yield "the kernel killed it because memory ran out; in every run it was asked to take this program first"
    if base.kind == "timeout" and not session.plan.timeout:
        hangs = f"it was taken to hang after {session.plan.quiet:.0f} s without output or work"
        yield f"{hangs}; --timeout N says when else"

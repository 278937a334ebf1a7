"""The record of a proof: every run with its outcome, so that the reasoning can be repeated without the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gpuwhy.answer.answer import CauseFound
from gpuwhy.facts.fact import Source
from gpuwhy.log.ending import Ending
from gpuwhy.machine.redact import of_this_machine
from gpuwhy.prove.counts import Once
from gpuwhy.prove.proof import Outcome, Tweak
from gpuwhy.prove.variables import LISTS
from gpuwhy.proving.bench import Bench
from gpuwhy.proving.plan import Plan
from gpuwhy.proving.session import Session, SpentError
from gpuwhy.proving.trial import Ran

SCHEMA = "gpuwhy.proof-record/1"


class RecordedRun(msgspec.Struct, frozen=True):
    """One run as it is kept."""

    tweaks: tuple[str, ...]
    outcome: Outcome
    ending: Ending
    seconds: float
    purpose: str
    note: str
    output: str
    outlived: bool = False


class Record(msgspec.Struct, frozen=True):
    """Everything that the reasoning needs; no value of a variable that is not a list of folders or flags."""

    schema: str
    program: str
    tweaks: tuple[Tweak, ...]
    causes: dict[str, float]
    shown: tuple[dict[str, Any], ...]  # causes, as this version or 0.x wrote them
    runs: tuple[RecordedRun, ...]


class BadRecordError(Exception):
    """A file that is no record of a proof."""


def record_of(session: Session) -> bytes:
    """The record as JSON, without what looks like a secret."""
    def kept(once: Once, ran: Ran) -> dict[str, Any]:
        return {
            "tweaks": [one.id for one in once.tweaks],
            "outcome": once.outcome,
            "ending": msgspec.to_builtins(once.ending),
            "seconds": once.seconds,
            "purpose": once.purpose,
            "note": once.note,
            "outlived": once.outlived,
            "output": ran.output,
        }

    data = {
        "schema": SCHEMA,
        "program": session.plan.argv[0].rpartition("/")[2],
        "tweaks": msgspec.to_builtins(session.tweaks),
        "causes": session.causes,
        "shown": msgspec.to_builtins(session.known),
        "runs": [kept(once, ran) for once, ran in zip(session.runs, session.rans, strict=True)],
    }
    return msgspec.json.format(msgspec.json.encode(of_this_machine().values(data)), indent=1)


class Replay(Session):
    """The same reasoning over recorded runs."""

    def __init__(self, record: Record) -> None:
        plan = Plan((record.program,), _environ(record.tweaks), ".", budget=1e9, runs=len(record.runs) + 1)
        super().__init__(plan, Bench(plan))
        self._record = record
        self._waiting = list(record.runs)
        self._known = {one.id: one for one in record.tweaks}

    def once(self, tweaks: Sequence[Tweak], purpose: str, keep: int = 0) -> Once:
        """The next recorded run of the same change."""
        key = {one.id for one in tweaks}
        found = next((one for one in self._waiting if set(one.tweaks) == key), None)
        if found is None:
            raise SpentError
        self._waiting.remove(found)
        once = Once(
            tuple(tweaks), found.outcome, found.ending, found.seconds, found.purpose, found.note, found.outlived
        )
        self.runs.append(once)
        self.rans.append(Ran(0, 0, found.seconds, found.output))
        return once

    def _think(self, ran: Ran) -> None:
        self.tweaks, self.causes = list(self._record.tweaks), dict(self._record.causes)
        self.known = tuple(map(_cause, self._record.shown))

    def _loud(self) -> None:
        """As it was recorded, if it was."""
        if any(one.tweaks == ("loud",) for one in self._waiting):
            self.once((Tweak("loud", "set", "with every layer speaking", heals=False),), "loud")


def _cause(kept: dict[str, Any]) -> CauseFound:
    """A cause of a record; version 0 wrote evidence in one list, and left out what was empty."""
    because = [_reason(one) for one in kept["because"]] or [{"text": kept["title"]}]
    fixes = [{**_FIX, **one} for one in kept["fixes"]]
    return msgspec.convert({**kept, "because": because, "fixes": fixes}, CauseFound)


_FIX = {"command": "", "safe": False, "root": False, "reboot": False, "check": ""}


def _reason(kept: dict[str, Any]) -> dict[str, Any]:
    evidence = kept.get("evidence")
    if evidence is None:
        return kept
    out: dict[str, Any] = {"text": kept["text"]}
    for one in evidence:
        source = msgspec.convert(one["source"], Source)
        proof = {"text": one["text"], "source": str(source)}
        out.setdefault(one["kind"], []).append(proof)
    return out


def _environ(tweaks: Sequence[Tweak]) -> dict[str, str]:
    """The lists that were taken apart, put together again."""
    out: dict[str, str] = {}
    for one in tweaks:
        if one.kind == "drop":
            between = (LISTS.get(one.name) or ":")[0]
            out[one.name] = between.join(filter(None, (out.get(one.name, ""), one.value)))
    return out


def replay(data: bytes) -> Replay:
    """The session of a record, reasoned anew; raises BadRecordError."""
    try:
        record = msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadRecordError(str(error)) from error
    if record.schema != SCHEMA:
        raise BadRecordError(f"its schema is {record.schema!r}, not {SCHEMA}")
    try:
        tuple(map(_cause, record.shown))
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise BadRecordError(f"its causes make no sense: {error}") from error
    session = Replay(record)
    session.go()
    return session

"""A machine whose answers are kept, each question asked once; written as a file, and read back.

The file is readable JSON, one question a line, without secrets and names of people.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy._version import __version__
from gpuwhy.facts.fact import Fact, Unknown
from gpuwhy.machine.machine import Machine, answer_type, key_of, printable

if TYPE_CHECKING:
    from gpuwhy.machine.redact import Redactor

SCHEMA = "gpuwhy.record/1"
HOME = {"/": "/home/user", "C": "C:/Users/user"}
"""The home folder of whoever recorded, as recordings write it; on Windows, the latter."""
MAX_BYTES = 256 << 20


class Recording(msgspec.Struct, frozen=True):
    """The file form: the options that were asked with, and every question with its answer."""

    schema: str
    gpuwhy: str
    options: dict[str, Any]
    answers: dict[str, Any]
    home: str = ""  # the user's home folder, as the answers write it; "" = of version 0
    note: str = ""
    run: dict[str, Any] = {}  # of `gpuwhy run`: "facts", "output", "samples"


class RecordingMachine(Machine):
    """Passes questions to another machine and remembers the answers."""

    def __init__(self, inner: Machine) -> None:
        self._inner = inner
        self.home = inner.home
        self._lock = threading.Lock()
        self._asked: dict[str, tuple[str, tuple[Any, ...]]] = {}
        self._under_way: dict[str, threading.Event] = {}
        self.answers: dict[str, Fact[Any]] = {}

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """Answer like the inner machine; the same question is put to it once, by whoever."""
        key = key_of(question, args)
        with self._lock:
            if key in self.answers:
                return self.answers[key]
            waiting = self._under_way.get(key)
            if waiting is None:
                mine = self._under_way[key] = threading.Event()
        if waiting is not None:
            waiting.wait()
            return self.answers.get(key, Unknown(f"{key}: no answer"))
        try:
            answer = self._inner.ask(question, *args)
            with self._lock:
                self.answers[key] = answer
                self._asked[key] = question, args
            return answer
        finally:
            mine.set()

    def ahead(self, *questions: tuple[str, ...]) -> None:
        """Each in a thread of its own."""
        for one in questions:
            threading.Thread(target=self.ask, args=one, daemon=True).start()

    def dump(self, options: dict[str, Any], **more: Any) -> bytes:
        """The recording as a file; `more` are further fields of it."""
        from gpuwhy.machine.redact import of_this_machine

        with self._lock:
            answers = dict(sorted(self.answers.items()))
            asked = dict(self._asked)
        home = HOME["C" if self.home[1:2] == ":" else "/"]
        redactor = of_this_machine(home_as=home, user_as="user")
        head = {"schema": SCHEMA, "gpuwhy": __version__, "home": home, "options": options, **more}
        body = ",\n".join(f'"{k}": {_hidden(redactor, v)}' for k, v in head.items())
        lines = (
            f"{_hidden(redactor, key)}: {_answer(redactor, asked[key], answers[key])}"
            for key in answers
        )
        text = redactor.again(",\n".join(lines))
        return ("{\n" + body + ',\n"answers": {\n' + text + "\n}}\n").encode()


def _answer(redactor: Redactor, asked: tuple[str, tuple[Any, ...]], answer: Fact[Any]) -> str:
    """One answer without what a replay puts back."""
    question, args = asked
    plain = msgspec.to_builtins(answer)
    if plain.get("source") == usual_source(question, args):
        del plain["source"]
    named = question in ("list", "gather") and plain["state"] == "known"
    for entry in plain["value"] if named else ():  # as in paths: below /home it is a person's
        shown = redactor.hide(f"{str(args[0]).rstrip('/')}/{entry['name']}/x")
        if "/" in shown:
            entry["name"] = shown.rpartition("/")[0].rpartition("/")[2]
    return _hidden(redactor, plain)


def usual_source(question: str, args: tuple[Any, ...]) -> dict[str, str]:
    """The source that nearly every answer about a path has; a recording leaves it out."""
    kind = "folder" if question in ("list", "gather", "disk") else "file"
    return {"kind": kind, "where": str(args[0]) if args else ""}


def _hidden(redactor: Redactor, value: Any) -> str:
    return msgspec.json.encode(redactor.values(msgspec.to_builtins(value))).decode()


# ------------------------------------------------------------ reading


class BadRecordingError(ValueError):
    """The file is not a recording that this version can replay."""


def read_recording(data: bytes, name: str) -> Recording:
    """Parse a recording, or say in one line why it is none."""
    try:
        recording = msgspec.json.decode(unzipped(data, name), type=Recording)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadRecordingError(f"{name} is not a gpuwhy recording: {error}") from error
    if recording.schema != SCHEMA:
        said = f"{name} has schema {printable(recording.schema)!r}"
        raise BadRecordingError(f"{said}; this gpuwhy reads {SCHEMA!r}")
    return recording


def unzipped(data: bytes, name: str) -> bytes:
    """The bytes of a file that may be compressed; raises BadRecordingError."""
    if data[:2] != b"\x1f\x8b":
        return data
    import zlib

    try:
        unpacked = zlib.decompressobj(31).decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise BadRecordingError(f"{name} is a damaged gzip file: {error}") from error
    if len(unpacked) >= MAX_BYTES:
        raise BadRecordingError(f"{name} unpacks to more than {MAX_BYTES >> 20} MiB")
    return unpacked


class RecordedMachine(Machine):
    """A machine as it answered when it was recorded; what was not asked then is Unknown."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.home = recording.home
        self._decoded: dict[str, Fact[Any]] = {}

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        """Look the question up."""
        key = key_of(question, args)
        if key not in self._decoded:
            self._decoded[key] = self._decode(question, args, key)
        return self._decoded[key]

    def _decode(self, question: str, args: tuple[Any, ...], key: str) -> Fact[Any]:
        if key not in self.recording.answers:
            return Unknown(f"not in the recording: {key}")
        return decoded(question, args, self.recording.answers[key])


def decoded(question: str, args: tuple[Any, ...], answer: Any) -> Fact[Any]:
    """An answer of a recording as a fact."""
    if isinstance(answer, dict) and answer.get("state") in ("known", "absent"):
        answer = {"source": usual_source(question, args), **answer}
    try:
        fact: Fact[Any] = msgspec.convert(answer, type=answer_type(question))
    except msgspec.ValidationError as error:
        said = f"the recording's answer to '{key_of(question, args)}' makes no sense: {error}"
        return Unknown(said)
    return fact


def recorded_machine(recording: Recording) -> RecordedMachine:
    """The machine that a recording holds, whichever version wrote it."""
    if recording.home:
        return RecordedMachine(recording)
    from gpuwhy.machine.recorded_v0 import RecordedV0

    return RecordedV0(recording)

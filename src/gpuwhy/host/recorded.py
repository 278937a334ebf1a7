"""Recorded: answers from a recording. What was not asked then is Unknown now."""

from __future__ import annotations

from typing import Any

import msgspec

from gpuwhy.host.base import Host, answer_type, question
from gpuwhy.host.ends import of_words
from gpuwhy.host.recording import SCHEMA, RecordingFile, usual_source
from gpuwhy.model.fact import Fact, Known, Unknown, Why

MAX_BYTES = 256 << 20
Kinds = tuple[tuple[str, Why], ...]


class BadRecordingError(ValueError):
    """The file is not a recording that this version can replay."""


def read_recording(data: bytes, name: str) -> RecordingFile:
    """Parse a recording, or say in one line why it is none."""
    if data[:2] == b"\x1f\x8b":
        data = _unzip(data, name)
    try:
        recording = msgspec.json.decode(data, type=RecordingFile)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadRecordingError(f"{name} is not a gpuwhy recording: {error}") from error
    if recording.schema != SCHEMA:
        raise BadRecordingError(f"{name} has schema {recording.schema!r}; this gpuwhy reads {SCHEMA!r}")
    return recording


def _unzip(data: bytes, name: str) -> bytes:
    import zlib

    try:
        unpacked = zlib.decompressobj(31).decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise BadRecordingError(f"{name} is a damaged gzip file: {error}") from error
    if len(unpacked) >= MAX_BYTES:
        raise BadRecordingError(f"{name} unpacks to more than {MAX_BYTES >> 20} MiB")
    return unpacked


_FILE_KINDS: Kinds = (
    ("ermission denied", "denied"), ("symbolic links", "loop"), ("too long", "long"), ("not ELF", "foreign"),
    ("not PE", "foreign"), ("cut short", "cut"), ("past the end", "cut"),
)  # fmt: skip
_ENDS = ("died by signal", "ran out of time", "ended with code", "took more than")
_KINDS: dict[str, Kinds] = {
    **dict.fromkeys(("stat", "list", "elf", "pe"), _FILE_KINDS),
    "python": (("cannot be asked", "offline"), *((words, "ended") for words in _ENDS)),
}
"""What a reason's words mean in recordings from before Unknown had a kind: the one place that reads them."""


def _with_kind(op: str, fact: Unknown) -> Unknown:
    """An answer that an older release recorded, as today's would be."""
    kind = fact.kind or next((kind for words, kind in _KINDS.get(op, ()) if words in fact.reason), "")
    return msgspec.structs.replace(fact, kind=kind)


def _with_end(line: dict[str, Any]) -> dict[str, Any]:
    """The last line of a child, in a recording from before it had values."""
    words = line.get("ended")
    return of_words(words) if isinstance(words, str) and "how" not in line else line


class RecordedHost(Host):
    """A machine as it answered when it was recorded."""

    def __init__(self, recording: RecordingFile) -> None:
        self.recording = recording
        self._decoded: dict[str, Fact[Any]] = {}

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Look the question up."""
        key = question(op, args)
        if key not in self._decoded:
            self._decoded[key] = self._decode(op, key)
        return self._decoded[key]

    def _decode(self, op: str, key: str) -> Fact[Any]:
        if key not in self.recording.answers:
            return Unknown(f"not in the recording: {key}")
        answer = self.recording.answers[key]
        if isinstance(answer, dict) and answer.get("state") in ("known", "absent") and "source" not in answer:
            answer = {**answer, "source": usual_source(op, key.split(" ")[1] if " " in key else "")}
        try:
            fact: Fact[Any] = msgspec.convert(answer, type=answer_type(op))
        except msgspec.ValidationError as error:
            return Unknown(f"the recording's answer to '{key}' makes no sense: {error}")
        if isinstance(fact, Unknown):
            return _with_kind(op, fact)
        if op in ("call", "python") and isinstance(fact, Known):
            return msgspec.structs.replace(fact, value=tuple(map(_with_end, fact.value)))
        return fact

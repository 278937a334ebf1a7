"""Recording: a host that keeps every answer it passes on; `dump` writes them as a file that replays elsewhere."""

from __future__ import annotations

import os
import threading
from typing import Any

import msgspec

from gpuwhy._version import __version__
from gpuwhy.border.secrets import Redactor, of_values
from gpuwhy.border.shared import machine_name
from gpuwhy.host.base import Host, question
from gpuwhy.model.fact import Fact, Unknown

SCHEMA = "gpuwhy.record/1"


class RecordingFile(msgspec.Struct, frozen=True):
    """The file form of a recording: which options were asked with, and every question with its answer."""

    schema: str
    gpuwhy: str
    options: dict[str, Any]
    answers: dict[str, Any]
    note: str = ""
    run: dict[str, Any] = {}  # of `gpuwhy run`: "facts", "output", "samples"


class RecordingHost(Host):
    """Passes questions to another host and remembers the answers."""

    def __init__(self, inner: Host) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._under_way: dict[str, threading.Event] = {}
        self.answers: dict[str, Fact[Any]] = {}

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """Answer like the inner host; the same question is put to it once, whoever asks first."""
        key = question(op, args)
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
            answer = self._inner.ask(op, *args)
            with self._lock:
                self.answers[key] = answer
                if op == "activated":  # the variables are others from now on
                    self.answers.pop("environ", None)
                    self._under_way.pop("environ", None)
            return answer
        finally:
            mine.set()

    def hide(self, text: str) -> str:
        """See Host.hide."""
        return self._inner.hide(text)

    def path(self, aliased: str) -> str:
        """See Host.path."""
        return self._inner.path(aliased)

    def dump(self, options: dict[str, Any], **more: Any) -> bytes:
        """The recording as readable JSON, one question a line, sorted; `more` are further fields of the file."""
        with self._lock:
            answers = dict(sorted(self.answers.items()))
        redactor = Redactor(
            machine_name(), environ=os.environ
        )  # of answers once more: a child or a future question may have slipped by

        def hidden(value: Any) -> str:
            return _json(of_values(value, redactor.hide, redactor.named))

        head = {"schema": SCHEMA, "gpuwhy": __version__, "options": options, **more}
        lines = [f"{hidden(key)}: {hidden(_brief(key, one))}" for key, one in answers.items()]
        body = ",\n".join(f"{_json(k)}: {hidden(msgspec.to_builtins(v))}" for k, v in head.items())
        return ("{\n" + body + ',\n"answers": {\n' + redactor.again(",\n".join(lines)) + "\n}}\n").encode()


def usual_source(op: str, path: str) -> dict[str, str]:
    """The source that nearly every answer about a path has; a recording leaves it out."""
    return {"kind": "folder" if op in ("list", "disk") else "file", "where": path}


def _brief(key: str, answer: Fact[Any]) -> Any:
    plain = msgspec.to_builtins(answer)
    op, _, rest = key.partition(" ")
    if plain.get("source") == usual_source(op, rest.split(" ")[0]):
        del plain["source"]
    return plain


def _json(value: Any) -> str:
    return msgspec.json.encode(_plain(msgspec.to_builtins(value))).decode()


def _plain(value: Any) -> Any:
    """JSON cannot hold lone surrogates (non-UTF-8 file names): write them as backslash escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_plain(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value

"""The server: takes messages, answers each in its turn, and ends what is cancelled."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from gpuwhy._version import __version__
from gpuwhy.answer.text import lines_of
from gpuwhy.machine import asking
from gpuwhy.machine.redact import of_this_machine
from gpuwhy.mcp import kept, protocol
from gpuwhy.mcp.protocol import Message, RefusedError
from gpuwhy.mcp.tools import INSTRUCTIONS, MORE, TOOLS, Command, command, described

AT_ONCE = 4
"""Commands that run at the same time; further ones wait."""
NOTE = 200
"""The longest note about a step: a watched program may print what looks like one."""
WAITING = 64
"""Requests that may be under way; beyond that the client is told to wait itself."""
ANSWERS = "gpuwhy://answer/"
CAUSES = "gpuwhy://cause/"
Answer = dict[str, Any]
_INFO = {"name": "gpuwhy", "title": "gpuwhy", "version": __version__}


class Call:
    """One request while it is answered."""

    def __init__(self, message: Message, notify: Callable[[bytes], None]) -> None:
        self.id = message.id
        self._token, self._notify = message.meta.get("progressToken"), notify
        self._steps = 0
        self._lock = threading.Lock()
        self._asking: asking.Asking | None = None
        self.cancelled = False

    def note(self, text: str) -> None:
        """Tell the client which step runs, where it asked to be told."""
        if self._token is None or self.cancelled:
            return
        self._steps += 1
        step = {"progress": self._steps, "message": _shared(text)[:NOTE]}
        params = {"progressToken": self._token, **step}
        self._notify(protocol.notification("notifications/progress", params))

    def ask(self, command: Command, kept: bool = False) -> asking.Asked:
        """Run a command of ours for this request."""
        given = command.stdin.encode("utf-8", "replace")
        one = asking.Asking(command.argv, given, command.folder, kept)
        with self._lock:
            self._asking = one
            if self.cancelled:
                one.end()
        return one.go(command.seconds, self.note)

    def cancel(self) -> None:
        """End what runs for it; it is not answered any more."""
        with self._lock:
            self.cancelled = True
            if self._asking is not None:
                self._asking.end()


class Found(NamedTuple):
    """What a command answered: its contract and its plain text."""

    value: Answer
    text: str = ""


class FailedError(Exception):
    """A tool could not answer; the text says why, for the model."""


class Server:
    """One session with one client; `send` writes a line and may be called from any thread."""

    def __init__(self, send: Callable[[bytes], None], allow_run: bool = False) -> None:
        self._send = send
        self._tools = {tool.name: tool for tool in TOOLS if allow_run or not tool.runs}
        self._allow_run = allow_run
        self._kept = kept.Kept()
        self._calls: dict[str | int, Call] = {}
        self._lock = threading.Lock()
        self._turn = threading.Semaphore(AT_ONCE)

    def serve(self, lines: Iterable[bytes | None]) -> None:
        """Answer until the client closes its side; then nothing of ours is left running."""
        threads: list[threading.Thread] = []
        try:
            for line in lines:
                thread = self.take(line)
                threads = [one for one in threads if one.is_alive()] + ([thread] if thread else [])
        finally:
            for call in tuple(self._calls.values()):
                call.cancel()
            for one in threads:
                one.join(20)

    def take(self, line: bytes | None) -> threading.Thread | None:
        """Understand one line; what takes long goes to a thread of its own."""
        if line is not None and not line.strip():
            return None
        try:
            if line is None:
                text = (
                    f"a line of more than {protocol.LONGEST >> 20} MiB; give a long log as a file"
                )
                raise RefusedError(protocol.REQUEST, text)
            message = protocol.parsed(line)
        except RefusedError as error:
            self._send(protocol.refusal(None, error))
            return None
        if message is None:
            return None
        if message.id is None:
            self._notified(message)
            return None
        if message.method in ("tools/call", "resources/list", "resources/read"):
            return self._start(message)
        self._reply(message, None)
        return None

    def _notified(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            number = message.params.get("requestId")
            call = self._calls.get(number) if isinstance(number, (str, int)) else None
            if call is not None:
                call.cancel()

    def _start(self, message: Message) -> threading.Thread | None:
        call = Call(message, self._send)
        assert message.id is not None
        with self._lock:
            twice, many = message.id in self._calls, len(self._calls) >= WAITING
            if not (twice or many):
                self._calls[message.id] = call
        if twice or many:
            many_words = f"{WAITING} requests are under way: wait for one of them"
            text = "this id is being answered" if twice else many_words
            self._send(protocol.refusal(message.id, RefusedError(protocol.REQUEST, text)))
            return None
        thread = threading.Thread(target=self._reply, args=(message, call), daemon=True)
        thread.start()
        return thread

    def _reply(self, message: Message, call: Call | None) -> None:
        """Answer a request, unless it was cancelled meanwhile."""
        assert message.id is not None
        try:
            line = protocol.result(message.id, self._stamped(message, self._answer(message, call)))
        except RefusedError as error:
            line = protocol.refusal(message.id, error)
        except Exception as error:
            text = f"gpuwhy itself failed: {type(error).__name__}: {error}"
            line = protocol.refusal(message.id, RefusedError(protocol.INTERNAL, _shared(text)))
        finally:
            if call is not None:
                with self._lock:
                    self._calls.pop(message.id, None)
        if call is None or not call.cancelled:
            self._send(line)

    def _stamped(self, message: Message, answer: Answer) -> Answer:
        """What a revision without a handshake wants of every answer."""
        if protocol.VERSION_KEY not in message.meta:
            return answer
        answer = {"resultType": "complete", **answer, "_meta": {protocol.SERVER_KEY: _INFO}}
        if message.method == "server/discover" or message.method.endswith("/list"):
            answer |= {"ttlMs": 3_600_000, "cacheScope": "private"}
        elif message.method == "resources/read":
            answer |= {"ttlMs": 0, "cacheScope": "private"}
        return answer

    def _answer(self, message: Message, call: Call | None) -> Answer:
        """The result of one request."""
        version = message.meta.get(protocol.VERSION_KEY)
        known = version is None or version in protocol.STATELESS
        if not known and message.method != "initialize":
            data = {"supported": list(protocol.STATELESS), "requested": str(version)}
            raise RefusedError(protocol.UNSUPPORTED, f"revision {version} is not known", data)
        match message.method:
            case "initialize":
                return self._initialized(message.params)
            case "server/discover":
                return {"supportedVersions": list(protocol.STATELESS), **self._who()}
            case "ping":
                return {}
            case "tools/list":
                tools = [described(tool, self._allow_run) for tool in self._tools.values()]
                return {"tools": [*tools, MORE]}
            case "resources/templates/list":
                return {"resourceTemplates": _templates()}
        if call is None:
            raise RefusedError(protocol.METHOD, f"no method {message.method!r}")
        return self._answer_by_call(message, call)

    def _answer_by_call(self, message: Message, call: Call) -> Answer:
        """The result of a request that starts something."""
        match message.method:
            case "tools/call":
                return self._called(message.params, call)
            case "resources/list":
                return {"resources": self._resources(call)}
            case "resources/read":
                return {"contents": [self._read(str(message.params.get("uri", "")), call)]}
        raise RefusedError(protocol.METHOD, f"no method {message.method!r}")

    def _initialized(self, params: Answer) -> Answer:
        wanted = params.get("protocolVersion")
        version = wanted if wanted in protocol.VERSIONS else protocol.VERSIONS[-1]
        return {"protocolVersion": version, "serverInfo": _INFO, **self._who()}

    def _who(self) -> Answer:
        return {"capabilities": {"tools": {}, "resources": {}}, "instructions": INSTRUCTIONS}

    def _called(self, params: Answer, call: Call) -> Answer:
        """The result of a tool; what the model can put right is a result too."""
        name, given = str(params.get("name")), params.get("arguments") or {}
        tool = self._tools.get(name)
        if tool is None and name != "more":
            known = any(one.name == name for one in TOOLS)
            hint = "; start with `gpuwhy mcp --allow-run` for it" if known else ""
            raise RefusedError(protocol.PARAMS, f"no tool {name[:60]!r}{hint}")
        try:
            if not isinstance(given, dict):
                raise ValueError("the arguments are an object")
            if tool is None:
                return self._more(given)
            wanted = command(tool, given, self._allow_run)
            with self._turn:
                found = self._watched(wanted, call) if name == "run" else _answer(wanted, call)
            return self._told(found)
        except (ValueError, FailedError, OSError) as error:
            return {"content": [_text(_shared(_told_error(error))[: kept.TEXT])], "isError": True}

    def _watched(self, wanted: Command, call: Call) -> Found:
        """Run a program of the user, then explain what it left."""
        with asking.scratch() as record:
            name, *rest = wanted.argv
            argv = [name, "--quiet", f"--record={record}", *rest]
            done = call.ask(wanted._replace(argv=argv), kept=True)
            tail = _tail(done)
            if done.code is None:
                raise FailedError(f"{done.why or 'ended from outside'}\n{tail}")
            try:
                explain = Command(["explain", "--json", f"--from={record}"])
                found = _answer(explain, call)
            except FailedError:
                raise FailedError(tail) from None
            return Found(found.value, f"{found.text}\n{tail}")

    def _told(self, found: Found) -> Answer:
        """The short form of an answer with its text; the whole waits under a name."""
        brief = kept.short(found.value)
        text, left = kept.cut_text(found.text)
        if left or kept.size(brief) < kept.size(found.value):
            name = self._kept.keep({**found.value, "text": found.text})
            brief = {**brief, "rest": {"answer": name, "uri": ANSWERS + name}}
            text += f"\n(shortened; the rest: tool more, answer {name})"
        return {"content": [_text(text)], "structuredContent": brief, "isError": False}

    def _more(self, given: Answer) -> Answer:
        name, part, start = (given.get(one) for one in ("answer", "part", "start"))
        fields = MORE["inputSchema"]["properties"]
        if unknown := [one for one in given if one not in fields]:
            has = ", ".join(fields)
            raise ValueError(f"more has no field {unknown[0][:60]!r}; it has {has}")
        value = self._kept.get(str(name))
        if value is None:
            names = ", ".join(self._kept.names()) or "none"
            raise ValueError(f"no answer {str(name)[:60]!r} is kept; there is {names}")
        found = kept.page(kept.part(value, str(part or "")), start if isinstance(start, int) else 0)
        tail = ""
        if found.next is not None:
            span = f"characters {found.start} to {found.next} of {found.total}"
            tail = f"\n({span}; start={found.next} goes on)"
        return {"content": [_text(found.text + tail)], "isError": False}

    def _resources(self, call: Call) -> list[Answer]:
        with self._turn:
            listed = _answer(Command(["cause", "--json"]), call).value["causes"]
        answers = [_resource(ANSWERS, one, "a whole answer", _JSON) for one in self._kept.names()]
        return [*answers, *(_resource(CAUSES, one["id"], one["title"], _PAGE) for one in listed)]

    def _read(self, uri: str, call: Call) -> Answer:
        if uri.startswith(ANSWERS):
            value = self._kept.get(uri.removeprefix(ANSWERS))
            if value is not None:
                whole = msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
                return {"uri": uri, "mimeType": _JSON, "text": whole}
        elif uri.startswith(CAUSES):
            asked = Command(["cause", "--json", "--", uri.removeprefix(CAUSES)])
            with self._turn, contextlib.suppress(FailedError):
                return {"uri": uri, "mimeType": _PAGE, "text": _answer(asked, call).value["page"]}
        raise RefusedError(protocol.NOT_FOUND, f"no resource {uri[:200]!r}", {"uri": uri[:200]})


_JSON, _PAGE = "application/json", "text/markdown"


def _resource(base: str, name: str, about: str, kind: str) -> Answer:
    return {"uri": base + name, "name": name, "description": about, "mimeType": kind}


def _templates() -> list[Answer]:
    rows = ((CAUSES + "{id}", "cause", _PAGE), (ANSWERS + "{name}", "answer", _JSON))
    return [{"uriTemplate": uri, "name": name, "mimeType": kind} for uri, name, kind in rows]


def _answer(wanted: Command, call: Call) -> Found:
    """The contract that a command printed, with its text; raises FailedError with its complaint."""
    done = call.ask(wanted, kept=wanted.argv[0] == "prove")
    if done.code is None:
        raise FailedError(done.why or "it was ended from outside")
    try:
        value = msgspec.json.decode(done.out)
    except (msgspec.DecodeError, UnicodeError):
        value = None
    if not isinstance(value, dict):
        said = done.err.removeprefix("gpuwhy: ")
        raise FailedError(said or f"it ended with code {done.code} and said nothing")
    return Found(value["values"], value["text"])


def _tail(done: asking.Asked) -> str:
    """How a watched program ended, and its last lines."""
    out = done.out[-4000:].decode("utf-8", "replace")
    lines = [*out.splitlines()[-12:], *done.err.splitlines()[-12:]]
    how = "was ended" if done.code is None else f"ended with code {done.code}"
    how = f"died by signal {-done.code}" if done.code and done.code < 0 else how
    quoted = "\n".join(f"  | {line}" for line in lines)
    return _shared(f"the program {how}; its last lines:\n{quoted}")


def _told_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _shared(text: str) -> str:
    """A text without secrets and what steers a terminal, as everything that leaves."""
    return "\n".join(lines_of(of_this_machine().hide(text)))


def _text(text: str) -> Answer:
    return {"type": "text", "text": text}

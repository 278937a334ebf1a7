"""The server: takes messages, answers each in its turn, and ends what is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, NamedTuple

import msgspec

from gpuwhy._version import __version__
from gpuwhy.border import asking
from gpuwhy.border.plain import plain
from gpuwhy.border.shared import shareable
from gpuwhy.mcp import protocol, short
from gpuwhy.mcp.arguments import Command, More, Run
from gpuwhy.mcp.protocol import Message, RefusedError
from gpuwhy.mcp.tools import TOOLS, Tool, described, understood
from gpuwhy.mcp.words import words

AT_ONCE = 4
"""Commands that run at the same time; further ones wait."""
NOTE = 200
"""The longest note about a step: a watched program may print what looks like one."""
WAITING = 64
"""Requests that may be under way; beyond that the client is told to wait itself."""
INSTRUCTIONS = (
    "gpuwhy says why a GPU stack fails and what to do. A program failed: call explain with its whole output (log_only "
    "if it ran elsewhere). Nothing ran yet, or the GPU is not seen: check. Choosing versions: plan. Answers are short; "
    "`more` with the name at the end of an answer reads the rest. Commands in fixes are for the user's shell."
)
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
        params = {"progressToken": self._token, "progress": self._steps, "message": _shared(text)[:NOTE]}
        self._notify(protocol.notification("notifications/progress", params))

    def ask(self, command: Command, kept: bool) -> asking.Asked:
        """Run a command of ours for this request."""
        one = asking.Asking(command.argv, command.stdin.encode("utf-8", "replace"), command.folder, kept)
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
    """What a command answered, and what a watched program printed last."""

    value: Answer
    tail: str = ""


class FailedError(Exception):
    """A tool could not answer; the text says why, for the model."""


class Server:
    """One session with one client; `send` writes a line and may be called from any thread."""

    def __init__(self, send: Callable[[bytes], None], allow_run: bool = False) -> None:
        self._send = send
        self._tools = {tool.name: tool for tool in TOOLS if allow_run or not tool.runs}
        self._allow_run = allow_run
        self._kept = short.Kept()
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
                text = f"a line of more than {protocol.LONGEST >> 20} MiB; give a long log as a file"
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
            text = "this id is being answered" if twice else f"{WAITING} requests are under way: wait for one of them"
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
        if message.method in ("server/discover", "tools/list", "resources/list", "resources/templates/list"):
            answer |= {"ttlMs": 3_600_000, "cacheScope": "private"}
        elif message.method == "resources/read":
            answer |= {"ttlMs": 0, "cacheScope": "private"}
        return answer

    def _answer(self, message: Message, call: Call | None) -> Answer:
        """The result of one request."""
        version = message.meta.get(protocol.VERSION_KEY)
        if version is not None and version not in protocol.STATELESS and message.method != "initialize":
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
                return {"tools": [described(tool) for tool in self._tools.values()]}
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
        tool = self._tools.get(str(params.get("name")))
        if tool is None:
            hint = "; start with `gpuwhy mcp --allow-run` for it" if params.get("name") in ("run", "prove") else ""
            raise RefusedError(protocol.PARAMS, f"no tool {str(params.get('name'))[:60]!r}{hint}")
        try:
            asked = understood(tool, params.get("arguments"))
            if isinstance(asked, More):
                return self._more(asked)
            return self._told(tool, self._found(tool, asked, call))
        except (ValueError, KeyError, FailedError, OSError) as error:
            text = str(error.args[0]) if isinstance(error, KeyError) else _told_error(error)
            return {"content": [_text(_shared(text)[: short.TEXT])], "isError": True}

    def _found(self, tool: Tool, asked: Any, call: Call) -> Found:
        """Ask the command behind a tool."""
        if getattr(asked, "probe", "") == "full" and not self._allow_run:
            raise ValueError("a full probe computes on the GPU: start the server with --allow-run, or probe gently")
        with self._turn, ExitStack() as stack:
            record = stack.enter_context(asking.scratch()) if isinstance(asked, Run) else ""
            command = asked.command(record)
            done = call.ask(command, kept=tool.runs)
            if not isinstance(asked, Run):
                return Found(_value(done))
            tail = _tail(done)
            if done.code is None:
                raise FailedError(f"{done.why or 'ended from outside'}\n{tail}")
            replayed = call.ask(Command(["explain", "--json", f"--from={record}"]), kept=False)
            return Found(_value(replayed, done.err), tail)

    def _told(self, tool: Tool, found: Found) -> Answer:
        """The short form of an answer with its text; the whole waits under a name."""
        value = found.value
        brief = short.short(value)
        text, left = short.cut_lines([*words(value), *found.tail.splitlines()], short.TOKENS - 50)
        if left or short.size(brief) < short.size(value):
            name = self._kept.keep(value)
            brief = {**brief, "more": {"answer": name, "uri": ANSWERS + name, "parts": list(value)}}
            text += f"\n(shortened; the rest: tool more, answer {name}" + (f", or {ANSWERS}{name})" if left else ")")
        return {"content": [_text(plain(text))], "structuredContent": brief, "isError": False}

    def _more(self, asked: More) -> Answer:
        value = self._kept.get(asked.answer)
        if value is None:
            raise ValueError(f"no answer {asked.answer!r} is kept; there is {', '.join(self._kept.names()) or 'none'}")
        found = short.page(short.part(value, asked.part), asked.start)
        tail = f"\n(characters {found.start} to {found.next} of {found.total}; start={found.next} goes on)"
        return {"content": [_text(found.text + (tail if found.next is not None else ""))], "isError": False}

    def _resources(self, call: Call) -> list[Answer]:
        listed = self._ask(["cause", "--json"], call)["causes"]
        causes = [
            {"uri": CAUSES + one["id"], "name": one["id"], "description": one["title"], "mimeType": "text/markdown"}
            for one in listed
        ]
        kept = [
            {"uri": ANSWERS + name, "name": name, "description": "a whole answer", "mimeType": "application/json"}
            for name in self._kept.names()
        ]
        return [*kept, *causes]

    def _read(self, uri: str, call: Call) -> Answer:
        if uri.startswith(ANSWERS):
            value = self._kept.get(uri.removeprefix(ANSWERS))
            if value is not None:
                whole = msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
                return {"uri": uri, "mimeType": "application/json", "text": whole}
        elif uri.startswith(CAUSES):
            try:
                page = self._ask(["cause", "--json", "--", uri.removeprefix(CAUSES)], call)["page"]
                return {"uri": uri, "mimeType": "text/markdown", "text": page}
            except FailedError:
                pass
        raise RefusedError(protocol.NOT_FOUND, f"no resource {uri[:200]!r}", {"uri": uri[:200]})

    def _ask(self, argv: list[str], call: Call) -> Answer:
        with self._turn:
            return _value(call.ask(Command(argv), kept=False))


def _templates() -> list[Answer]:
    return [
        {"uriTemplate": CAUSES + "{id}", "name": "cause", "title": "A cause's page", "mimeType": "text/markdown"},
        {
            "uriTemplate": ANSWERS + "{name}",
            "name": "answer",
            "title": "A whole answer",
            "mimeType": "application/json",
        },
    ]


def _value(done: asking.Asked, before: str = "") -> Answer:
    """The JSON that a command printed; raises FailedError with its complaint."""
    if done.code is None:
        raise FailedError(done.why or "it was ended from outside")
    try:
        value = msgspec.json.decode(done.out)
    except (msgspec.DecodeError, UnicodeError):
        value = None
    if not isinstance(value, dict):
        raise FailedError(
            (before or done.err).removeprefix("gpuwhy: ") or f"it ended with code {done.code} and said nothing"
        )
    return value


def _tail(done: asking.Asked) -> str:
    """How a watched program ended, and its last lines."""
    lines = [*done.out[-4000:].decode("utf-8", "replace").splitlines()[-12:], *done.err.splitlines()[-12:]]
    how = "was ended" if done.code is None else f"ended with code {done.code}"
    how = f"died by signal {-done.code}" if done.code and done.code < 0 else how
    return _shared("\n".join([f"the program {how}; its last lines:", *(f"  | {line}" for line in lines)]))


def _told_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _shared(text: str) -> str:
    """A text without secrets, as everything that leaves."""
    return str(shareable(plain(text)))


def _text(text: str) -> Answer:
    return {"type": "text", "text": text}

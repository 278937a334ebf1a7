"""The server: takes messages, answers each in its turn, and ends what is cancelled."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from gpuwhy._version import __version__
from gpuwhy.answer.text import lines_of
from gpuwhy.machine import asking
from gpuwhy.machine.redact import of_this_machine
from gpuwhy.mcp import protocol
from gpuwhy.mcp.protocol import Message, RefusedError
from gpuwhy.mcp.tools import INSTRUCTIONS, TOOLS, Command, command, described

AT_ONCE = 4
"""Commands that run at the same time; further ones wait."""
WAITING = 64
"""Requests that may be under way; beyond that the client is told to wait itself."""
NOTE = 200
"""The longest note about a step: a watched program may print what looks like one."""
TEXT, VALUES = 8_000, 8_000
"""Characters of an answer's text and of its values as JSON."""
Answer = dict[str, Any]
_INFO = {"name": "gpuwhy", "title": "gpuwhy", "version": __version__}


class FailedError(Exception):
    """A tool could not answer; the text says why, for the model."""


class Call:
    """One request while it is answered."""

    def __init__(self, message: Message, send: Callable[[bytes], None]) -> None:
        self._token, self._send = message.meta.get("progressToken"), send
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
        self._send(protocol.line_of(method="notifications/progress", params=params))

    def ask(self, wanted: Command, kept: bool) -> asking.Asked:
        """Run a command of ours for this request; raises FailedError where it did not end."""
        given = wanted.stdin.encode("utf-8", "replace")
        one = asking.Asking(wanted.argv, given, wanted.folder, kept)
        with self._lock:
            self._asking = one
            if self.cancelled:
                one.end()
        return one.go(wanted.seconds, self.note)

    def answer(self, wanted: Command) -> tuple[Answer, str]:
        """The contract that a command printed, and its text; raises FailedError."""
        done = self.ask(wanted, kept=wanted.argv[0] == "prove")
        if done.code is None:
            raise FailedError(done.why or "it was ended from outside")
        try:
            value = msgspec.json.decode(done.out)
            return value["values"], value["text"]
        except (msgspec.DecodeError, UnicodeError, TypeError, KeyError):
            said = done.err.removeprefix("gpuwhy: ")
            silent = f"it ended with code {done.code} and said nothing"
            raise FailedError(said or silent) from None

    def watch(self, wanted: Command) -> tuple[Answer, str]:
        """Run a program of the user, then explain what it left."""
        with asking.scratch() as record:
            name, *rest = wanted.argv
            argv = [name, "--quiet", f"--record={record}", *rest]
            done = self.ask(wanted._replace(argv=argv), kept=True)
            how = f"ended with code {done.code}"
            if done.code is None or done.code < 0:
                how = "was ended" if done.code is None else f"died by signal {-done.code}"
            printed = done.out[-4000:].decode("utf-8", "replace").splitlines()[-12:]
            quoted = "\n".join(f"  | {one}" for one in [*printed, *done.err.splitlines()[-12:]])
            tail = _shared(f"the program {how}; its last lines:\n{quoted}")
            if done.code is None:
                raise FailedError(f"{done.why or 'ended from outside'}\n{tail}")
            try:
                value, text = self.answer(Command(["explain", "--json", f"--from={record}"]))
            except FailedError:
                raise FailedError(tail) from None
            return value, f"{text}\n{tail}"

    def cancel(self) -> None:
        """End what runs for it; it is not answered any more."""
        with self._lock:
            self.cancelled = True
            if self._asking is not None:
                self._asking.end()


class Server:
    """One session with one client; `send` writes a line and may be called from any thread."""

    def __init__(self, send: Callable[[bytes], None], allow_run: bool = False) -> None:
        self._send = send
        self._tools = {tool.name: tool for tool in TOOLS if allow_run or not tool.runs}
        self._allow_run = allow_run
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
        """Understand one line; a tool that is called gets a thread of its own."""
        if line is not None and not line.strip():
            return None
        try:
            message = protocol.parsed(line)
        except RefusedError as error:
            self._send(protocol.refusal(None, error))
            return None
        if message is None:
            return None
        if message.id is None:
            number = message.params.get("requestId")
            call = self._calls.get(number) if isinstance(number, (str, int)) else None
            if message.method == "notifications/cancelled" and call:
                call.cancel()
            return None
        if message.method != "tools/call":
            self._reply(message, message.id, Call(message, self._send))
            return None
        return self._start(message, message.id)

    def _start(self, message: Message, number: str | int) -> threading.Thread | None:
        call, refused = Call(message, self._send), ""
        with self._lock:
            if number in self._calls:
                refused = "this id is being answered"
            elif len(self._calls) >= WAITING:
                refused = f"{WAITING} requests are under way: wait for one of them"
            else:
                self._calls[number] = call
        if refused:
            self._send(protocol.refusal(number, RefusedError(protocol.REQUEST, refused)))
            return None
        given = (message, number, call)
        thread = threading.Thread(target=self._reply, args=given, daemon=True)
        thread.start()
        return thread

    def _reply(self, message: Message, number: str | int, call: Call) -> None:
        """Answer a request, unless it was cancelled meanwhile."""
        try:
            answer = self._answer(message, call)
            if protocol.VERSION_KEY in message.meta:  # a revision without a handshake
                answer = {"resultType": "complete", **answer, "_meta": {protocol.SERVER_KEY: _INFO}}
                if message.method in ("server/discover", "tools/list"):
                    answer |= {"ttlMs": 3_600_000, "cacheScope": "private"}
            line = protocol.line_of(id=number, result=answer)
        except RefusedError as error:
            line = protocol.refusal(number, error)
        except Exception as error:
            text = f"gpuwhy itself failed: {type(error).__name__}: {error}"
            line = protocol.refusal(number, RefusedError(protocol.INTERNAL, _shared(text)))
        with self._lock:
            if self._calls.get(number) is call:
                del self._calls[number]
        if not call.cancelled:
            self._send(line)

    def _answer(self, message: Message, call: Call) -> Answer:
        """The result of one request."""
        version = message.meta.get(protocol.VERSION_KEY)
        known = version is None or version in protocol.STATELESS
        if not known and message.method != "initialize":
            data = {"supported": list(protocol.STATELESS), "requested": str(version)}
            raise RefusedError(protocol.UNSUPPORTED, f"revision {version} is not known", data)
        about = {"capabilities": {"tools": {}}, "instructions": INSTRUCTIONS}
        match message.method:
            case "initialize":
                wanted = message.params.get("protocolVersion")
                agreed = wanted if wanted in protocol.VERSIONS else protocol.VERSIONS[-1]
                return {"protocolVersion": agreed, "serverInfo": _INFO, **about}
            case "server/discover":
                return {"supportedVersions": list(protocol.STATELESS), **about}
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [described(one, self._allow_run) for one in self._tools.values()]}
            case "tools/call":
                return self._called(message.params, call)
        raise RefusedError(protocol.METHOD, f"no method {message.method!r}")

    def _called(self, params: Answer, call: Call) -> Answer:
        """The result of a tool; what the model can put right is a result too."""
        name, given = str(params.get("name")), params.get("arguments") or {}
        tool = self._tools.get(name)
        if tool is None:
            known = any(one.name == name for one in TOOLS)
            hint = "; start with `gpuwhy mcp --allow-run` for it" if known else ""
            raise RefusedError(protocol.PARAMS, f"no tool {name[:60]!r}{hint}")
        try:
            wanted = command(tool, given, self._allow_run)
            with self._turn:
                value, text = call.watch(wanted) if name == "run" else call.answer(wanted)
        except (ValueError, FailedError, OSError) as error:
            said = str(error)
            if isinstance(error, OSError) and error.filename:
                said = f"{error.filename}: {error.strerror}"
            content = {"type": "text", "text": _shared(said)[:TEXT]}
            return {"content": [content], "isError": True}
        values, text = shortened(value, text)
        content = {"type": "text", "text": text}
        return {"content": [content], "structuredContent": values, "isError": False}


def shortened(value: Answer, text: str) -> tuple[Answer, str]:
    """An answer in few characters: the text's first lines, the values still in their contract."""
    longest, short = 24, value
    while longest and len(msgspec.json.encode(short)) > VALUES:
        short = _cut({**value, "facts": {}} if "facts" in value else value, longest)
        longest //= 2
    cut = text
    if len(text) > TEXT:
        cut = text[: text.rfind("\n", 0, TEXT) + 1 or TEXT]
    if cut is text and short is value:
        return value, text
    return short, f"{cut}\n(shortened: the command itself prints all, with --json and -v)"


def _cut(value: Any, longest: int) -> Any:
    """Lists of at most so many, texts of at most a hundred times as many characters."""
    if isinstance(value, dict):
        return {name: _cut(one, longest) for name, one in value.items()}
    if isinstance(value, list):
        return [_cut(one, longest) for one in value[:longest]]
    most = max(160, 100 * longest)
    return value[: most - 2] + " …" if isinstance(value, str) and len(value) > most else value


def _shared(text: str) -> str:
    """A text without secrets and what steers a terminal, as everything that leaves."""
    return "\n".join(lines_of(of_this_machine().hide(text)))

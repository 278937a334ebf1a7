"""The protocol's lines: JSON-RPC 2.0, one message a line, bounded."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import msgspec

LONGEST = 24 << 20
"""The longest line that is read; a log beyond that is given as a file."""
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions with a handshake; the last is offered to a client that asks for one we do not know."""
STATELESS = ("2026-07-28",)
"""Revisions in which every request says its version and there is no handshake."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
PARSE, REQUEST, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED = -32022


class RefusedError(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, text: str, data: Any = None) -> None:
        super().__init__(text)
        self.code, self.data = code, data


class Message(NamedTuple):
    """A request (with an id) or a notification (without)."""

    method: str
    params: dict[str, Any]
    id: str | int | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """What goes along with the parameters."""
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}


def lines(stream: BinaryIO, most: int = LONGEST) -> Iterator[bytes | None]:
    """The lines of a client; None for one that is too long, of which nothing is kept."""
    while line := stream.readline(most + 1):
        if len(line) <= most:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(1 << 20)
        yield None


def parsed(line: bytes | None) -> Message | None:
    """What a line asks; None for one that asks nothing (an answer); raises RefusedError."""
    if line is None:
        text = f"a line of more than {LONGEST >> 20} MiB; give a long log as a file"
        raise RefusedError(REQUEST, text)
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RefusedError(PARSE, f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RefusedError(REQUEST, "one JSON object a line, please")
    method, params, number = value.get("method"), value.get("params", {}), value.get("id")
    if method is None and ("result" in value or "error" in value):
        return None
    if isinstance(number, bool) or not isinstance(number, (str, int, type(None))):
        raise RefusedError(REQUEST, "an id is a text or a whole number")
    if not isinstance(method, str) or not isinstance(params, dict):
        raise RefusedError(REQUEST, "a request has a method and an object of parameters", number)
    return Message(method, params, number)


def line_of(**fields: Any) -> bytes:
    """A message of ours."""
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"


def refusal(number: str | int | None, error: RefusedError) -> bytes:
    """An error of the protocol."""
    data = {} if error.data is None else {"data": error.data}
    return line_of(id=number, error={"code": error.code, "message": str(error), **data})

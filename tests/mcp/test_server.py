"""The MCP server without processes: the protocol, hostile lines, short answers."""

import io
import json
import threading

import jsonschema
import pytest

from gpuwhy.answer.contract import as_json
from gpuwhy.api.text import explain
from gpuwhy.machine import asking
from gpuwhy.mcp import protocol, server
from gpuwhy.mcp.server import Server
from gpuwhy.mcp.tools import TOOLS, Command, command, described

STATELESS = {"_meta": {protocol.VERSION_KEY: "2026-07-28"}}


class Talk:
    """A session whose commands are answered from a table instead of by processes."""

    def __init__(self, monkeypatch, answers=(), **options) -> None:
        self.said: list[dict] = []
        self.asked: list[Command] = []
        self.answers = dict(answers)
        monkeypatch.setattr(asking, "Asking", self._asking)
        self.server = Server(lambda line: self.said.append(json.loads(line)), **options)

    def _asking(self, argv, stdin=b"", folder="", kept=False):
        self.asked.append(Command(argv, stdin.decode(), folder))
        out = self.answers.get(argv[0], b"")
        if isinstance(out, dict):
            out = json.dumps({"text": "", "values": out} if "schema" in out else out).encode()

        class Ready:
            def go(self, seconds, note):
                note("a step")
                return asking.Asked(0, out, "gpuwhy: no")

            def end(self, why=""):
                pass

        return Ready()

    def ask(self, method, params=None, number=1):
        before = len(self.said)
        line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        thread = self.server.take(json.dumps(line).encode() + b"\n")
        if thread:
            thread.join(10)
        return self.said[before:][-1]

    def call(self, name, /, *given, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": given[0] if given else arguments})

    def text(self, name, **arguments) -> str:
        return self.call(name, **arguments)["result"]["content"][0]["text"]


@pytest.fixture
def talk(monkeypatch):
    return lambda answers=(), **options: Talk(monkeypatch, answers, **options)


def test_the_handshake_agrees_on_a_version_and_later_ones_need_none(talk):
    one = talk()
    for asked, agreed in (("2025-03-26", "2025-03-26"), ("1999-01-01", "2025-11-25")):
        known = one.ask("initialize", {"protocolVersion": asked})["result"]
        assert (known["protocolVersion"], known["serverInfo"]["name"]) == (agreed, "gpuwhy")
    found = one.ask("server/discover", STATELESS)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert found["_meta"][protocol.SERVER_KEY]["name"] == "gpuwhy"
    refused = one.ask("tools/list", {"_meta": {protocol.VERSION_KEY: "2031-01-01"}})["error"]
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])
    assert one.ask("ping")["result"] == {}


def test_tools_say_what_they_may_do_and_runs_are_offered_only_where_allowed(talk):
    tools = {one["name"]: one for one in talk().ask("tools/list")["result"]["tools"]}
    offered = "check explain plan fit lint inspect releases code cause"
    assert list(tools) == offered.split()
    assert all(one["annotations"]["readOnlyHint"] for one in tools.values())
    assert all(one["outputSchema"]["type"] == "object" for one in tools.values())
    more = talk(allow_run=True).ask("tools/list")["result"]["tools"]
    assert "probe" in more[0]["inputSchema"]["properties"]
    running = [one["name"] for one in more if not one["annotations"]["readOnlyHint"]]
    assert running == ["run", "prove"]
    assert "--allow-run" in talk().call("run", program=["true"])["error"]["message"]
    assert "--allow-run" in talk().text("check", probe=True)
    for tool in TOOLS:
        jsonschema.Draft202012Validator.check_schema(described(tool)["inputSchema"])


@pytest.mark.parametrize(
    "line, code",
    [
        (b"{not json\n", -32700),
        (b"[" * 100_000 + b"\n", -32700),
        (b"[]\n", -32600),
        (b"17\n", -32600),
        (b'{"id": true, "method": "ping"}\n', -32600),
        (b'{"id": 1, "method": "ping", "params": []}\n', -32600),
        (b'{"id": 1}\n', -32600),
        (None, -32600),
    ],
)
def test_a_line_that_is_no_request_gets_an_error_and_the_session_goes_on(talk, line, code):
    one = talk()
    assert one.server.take(line) is None
    assert one.said[-1]["error"]["code"] == code
    assert one.ask("ping")["result"] == {}


def test_answers_notifications_and_empty_lines_get_none(talk):
    one = talk()
    for line in (b"\n", b'{"id": 1, "result": {}}\n', b'{"method": "notifications/x"}\n'):
        one.server.take(line)
    cancelled = b'{"method": "notifications/cancelled", "params": {"requestId": %s}}\n'
    for number in (b"9", b'"x"', b"null", b"1.5"):
        one.server.take(cancelled % number)
    assert one.said == []


def test_lines_are_bounded_and_a_long_one_is_passed_over():
    data = b"x" * 50 + b"\n" + b"ok\n" + b"y" * 30
    assert list(protocol.lines(io.BytesIO(data), 20)) == [None, b"ok\n", None]


@pytest.mark.parametrize(
    "name, arguments, says",
    [
        ("code", {}, "code"),
        ("code", {"code": {"a": 1}}, "a list of texts"),
        ("code", {"code": "1", "extra": 1}, "code has no field 'extra'; it has code"),
        ("explain", {}, "either text or words"),
        ("explain", {"text": "a", "words": ["b"]}, "either text or words"),
        ("explain", {"text": "x" * ((8 << 20) + 1)}, "longer"),
        ("explain", {"text": "a", "log_only": "yes"}, "true or false"),
        ("inspect", {"path": ""}, "needs 'path'"),
        ("releases", {"works_with": ["--platform"]}, "dash"),
        ("fit", {"model": "m", "quantise": "2bit"}, "one of 8bit, 4bit"),
        ("code", ["719"], "the arguments are an object"),
    ],
)
def test_what_the_model_asks_wrongly_it_is_told_as_a_result(talk, name, arguments, says):
    found = talk().call(name, arguments)["result"]
    assert found["isError"]
    assert says in found["content"][0]["text"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_value_never_becomes_an_option(tool):
    """Every text that a client gives stands behind -- or in --name=value."""
    evil = "--html=/tmp/x"
    fields = described(tool, True)["inputSchema"]["properties"]
    lists = {name for name, one in fields.items() if one.get("items", {}).get("type") == "string"}
    texts = {name for name, one in fields.items() if one.get("type") == "string"} - {"text"}
    given = dict.fromkeys(texts, evil) | {name: [evil] for name in lists - {"works_with"}}
    argv = command(tool, given, True).argv
    assert evil not in argv[: argv.index("--")] if "--" in argv else argv
    assert any(evil in one for one in argv) or not given


def test_the_command_gives_text_and_contract_in_few_characters(talk):
    whole = json.loads(as_json(explain("CUDA error: out of memory")))
    whole["facts"] = {"a": {"b": ["x" * 90] * 300}}
    one = talk({"check": {"text": "✓ healthy\n" * 1900, "values": whole}})
    found = one.call("check", folder="/", python="/x")["result"]
    assert one.asked == [Command(["check", "--python=/x", "--json"], "", "/")]
    brief, text = found["structuredContent"], found["content"][0]["text"]
    assert text.startswith("✓ healthy\n")
    assert text.splitlines()[-1].startswith("(shortened: ")
    assert len(text) <= server.TEXT + 100
    assert len(json.dumps(brief)) <= server.VALUES + 1000
    assert brief["facts"] == {}
    assert brief["causes"][0]["id"] == whole["causes"][0]["id"]
    jsonschema.validate(brief, described(TOOLS[0])["outputSchema"])  # as official clients do


def test_progress_goes_to_whom_asked_for_it(talk):
    one = talk({"code": {"text": "t", "values": {"schema": "gpuwhy.code/1"}}})
    params = {"name": "code", "arguments": {"code": "1"}, "_meta": {"progressToken": "t"}}
    one.ask("tools/call", params)
    assert one.said[0]["params"] == {"progressToken": "t", "progress": 1, "message": "a step"}
    one.call("code", code="1")
    assert len(one.said) == 3


def test_a_command_that_fails_tells_its_complaint_without_secrets(talk, monkeypatch):
    one = talk({"code": b"no json"})
    found = one.call("code", code="719")["result"]
    assert (found["isError"], found["content"][0]["text"]) == (True, "no")


def test_a_flood_of_requests_is_refused_not_kept(talk, monkeypatch):
    one = talk({"code": {"schema": "gpuwhy.code/1", "asked": "1", "matches": []}})
    gate = threading.Event()
    monkeypatch.setattr(one.server, "_called", lambda params, call: gate.wait(10) and {})
    line = '{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {}}\n'
    threads = [one.server.take((line % number).encode()) for number in range(70)]
    one.server.take((line % 3).encode())
    assert [thread is None for thread in threads] == [False] * 64 + [True] * 6
    assert "under way" in one.said[0]["error"]["message"]
    assert "being answered" in one.said[-1]["error"]["message"]
    gate.set()
    for thread in filter(None, threads):
        thread.join(10)
    assert one.ask("tools/call", number=5)["result"] == {}
    assert one.ask("no/such")["error"]["code"] == -32601

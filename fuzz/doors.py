"""The doors added last, as a black box: agents, models, jobs, pages, annotations; planted secrets, odd files, kills.

    python -m fuzz.doors [secrets] [forged] [files] [streams] [agents]

Each part runs the real command in a process of its own and prints what leaked, was forged, crashed, hung or was left
behind; the exit code says whether anything did. Linux; about ten minutes on two cores. What it found is kept small in
tests/border/test_doors.py.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fuzz.secrets import Planter

GPUWHY = [sys.executable, "-I", "-m", "gpuwhy"]
MODEL = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2}
MODEL |= {"num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 1000, "max_position_embeddings": 2048}  # type: ignore[dict-item]
FORGERY = "x\n::error::forged\x1b[31m\u202e]]></failure><testcase/><script>alert(1)</script> @octocat ![i](http://e.example/i.png) `"
FAILS = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
Found = Iterator[str]


class Count:
    """How many attempts were made."""

    attempts = 0


def asked(argv: list[str], folder: Path, environ: dict[str, str], **more: Any) -> tuple[list[str], str, str]:
    """What is wrong with how a command ended, and what it printed on both streams."""
    Count.attempts += 1
    start = more.pop("start", [*GPUWHY, *argv])
    try:
        done = subprocess.run(start, cwd=folder, env=environ, capture_output=True, timeout=120, input=b"", **more)
    except subprocess.TimeoutExpired:
        return [f"hang: {argv}"], "", ""
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    program = argv[0] == "run"
    bad = "Traceback" in err or "itself failed" in err or not (program or done.returncode in (0, 1, 2, 4))
    return [f"crash ({done.returncode}): {argv}: {err[-300:]}"] if bad else [], out, err


def plain_environ(home: Path) -> dict[str, str]:
    """A small environment."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


def model(folder: Path, metadata: dict[str, str], **config: Any) -> Path:
    """A small model with its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**MODEL, **config}))
    tensor = {"dtype": "F16", "shape": [1000, 64], "data_offsets": [0, 128000]}
    head = json.dumps({"__metadata__": metadata, "model.embed_tokens.weight": tensor}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + bytes(128000))
    return folder


def planted(top: Path, planter: Planter) -> tuple[Path, dict[str, str]]:
    """A home full of secrets: models, logs, ranks, requirements, variables."""
    home = top / "home" / planter.person()
    facts = {"hf_token": planter.token(), "author": planter.mail(), "_name_or_path": f"/home/{planter.person()}/m"}
    model(home / "model", {"token": planter.token(), "path": f"/scratch/{planter.person()}/x"}, **facts)
    end = f'\nFile "/scratch/{planter.person()}/t.py", line 3\n{FAILS} /home/{planter.person()}/x token={planter.token()}\n'
    (home / "train.log").write_text("\n".join(planter.lines(240)) + end)
    (home / "ranks").mkdir()
    for number in range(3):
        host = planter.machine()
        text = f"hostname: {host}\n" + "\n".join(planter.lines(48)) + f"\n[rank{number}]: {FAILS} {planter.token()}\n"
        (home / "ranks" / f"{host}_rank{number}.log").write_text(text)
    index = f"--index-url https://ci:{planter.password()}@packages.example.org/simple\n"
    (home / "requirements.txt").write_text(f"{index}torch==2.5.1\ntensorflow-gpu==2.15\n# {planter.mail()}\n")
    environ = plain_environ(home) | {
        "USER": home.name, "LD_LIBRARY_PATH": f"/mnt/x?token={planter.word()}:{home}/lib", "NVIDIA_PAT": planter.word(),
        "CUDA_HOME": f"https://u:{planter.password()}@example.org/cuda", "XLA_FLAGS": f"--xla_token={planter.word()}",
        "HF_TOKEN": planter.token(), "HF_HOME": f"/home/{planter.person()}/hf", "PADDLE_MASTER": planter.machine(),
    }  # fmt: skip
    return home, environ


SHARED = (
    ("fit model --gpu H100 --json", ""), ("fit model --gpu-memory 100MB --train --markdown --html o.html", "o.html"),
    ("explain --log-only train.log --junit j.xml --json", "j.xml"), ("explain --log-only train.log --github", ""),
    ("explain train.log --markdown --html e.html", "e.html"), ("explain --ranks ranks --markdown --html r.html", "r.html"),
    ("lint . --markdown --html l.html", "l.html"), ("lint requirements.txt --github", ""), ("check --junit c.xml --github", "c.xml"),
    ("check --markdown --html c.html", "c.html"), ("report --markdown --html p.html", "p.html"),
    ("run --json run.json --html run.html -- cat none", "run.json run.html"),
)  # fmt: skip


def secrets(top: Path) -> Found:
    """Nothing planted is in anything that is passed on."""
    planter = Planter(77)
    home, environ = planted(top, planter)
    for line, files in SHARED:
        bad, out, _ = asked(line.split(), home, environ)
        yield from bad
        said = out + "".join((home / name).read_text(encoding="utf-8") for name in files.split())
        yield from (f"leak: {line}: {one}" for one in planter.planted if one in said)
    calls = [("explain", {"file": "train.log"}), ("fit", {"model": "model", "gpu": "H100"}), ("lint", {"paths": ["."]})]
    calls += [("run", {"command_line": ["/bin/sh", "-c", "sed 's/^/… /' train.log >&2; exit 3"]}), ("check", {})]
    lines = [call(name, number, arguments) for number, (name, arguments) in enumerate(calls)]
    with client(home, environ, "--allow-run") as server:
        for number, line in enumerate(lines):
            for answer in until(server, line, number):
                yield from (f"leak: mcp {calls[number][0]}: {one}" for one in planter.planted if one in answer)


def call(name: str, number: Any, arguments: dict[str, Any]) -> bytes:
    """One request of an agent."""
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": number}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


def client(folder: Path, environ: dict[str, str], *options: str) -> subprocess.Popen[bytes]:
    """A server and its three pipes."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*GPUWHY, "mcp", *options], cwd=folder, env=environ, stdin=pipe, stdout=pipe, stderr=pipe)


def until(server: subprocess.Popen[bytes], line: bytes, number: Any) -> Iterator[str]:
    """Everything that is said up to the answer to a request; ends where the server does."""
    assert server.stdin
    assert server.stdout
    Count.attempts += 1
    server.stdin.write(line)
    server.stdin.flush()
    while said := server.stdout.readline():
        yield said.decode()
        if json.loads(said).get("id") == number:
            return


def forged(top: Path) -> Found:
    """No name, variable or log forges a line, an element or a mention."""
    odd = model(top / FORGERY.replace("/", "_")[:60], {}, model_type=FORGERY, architectures=[FORGERY], torch_dtype=FORGERY)
    (top / "e.log").write_text(f"{FORGERY}\nNo module named '{FORGERY}'\n{FAILS} {FORGERY}\n::error::forged\n")
    (top / "ranks").mkdir()
    for number in range(2):
        (top / "ranks" / f"a<script>\n::error::forged_rank{number}.log").write_text(f"[rank{number}]: {FAILS} {FORGERY}\n")
    (top / "requirements.txt").write_text(f"torch==2.5.1+cu999 @octocat\ntensorflow-gpu==2.15 # <img src=x>\n{FORGERY}\n")
    environ = plain_environ(top) | dict.fromkeys(("LD_LIBRARY_PATH", "CUDA_HOME", "XLA_FLAGS"), FORGERY)
    page = ["--markdown", "--html", "p.html"]
    for argv in (
        ["fit", str(odd), "--gpu", "H100", *page], ["fit", str(odd)], ["fit", FORGERY], ["fit", str(odd), "--gpu", FORGERY],
        ["explain", "--log-only", "e.log", "--junit", "j.xml", *page], ["explain", "--log-only", "e.log", "--github"],
        ["explain", "--ranks", "ranks", *page], ["explain", "--ranks", "ranks", "--why"], ["explain", "--log-only", FORGERY],
        ["lint", ".", *page], ["lint", ".", "--github"], ["check", "--junit", "j.xml", *page], ["help", FORGERY],
        ["completion", FORGERY], ["releases", FORGERY], ["fleet", "--ray", FORGERY],
    ):  # fmt: skip
        bad, out, err = asked(argv, top, environ)
        yield from bad
        html = (top / "p.html").read_text(encoding="utf-8") if "p.html" in argv and (top / "p.html").exists() else ""
        yield from (f"{what}: {argv}" for what in _forgeries(out, err, html, "--markdown" in argv))
        if "j.xml" in argv:
            root = ElementTree.parse(top / "j.xml").getroot()
            if len(list(root.iter("testcase"))) != int(root.get("tests", "-1")):
                yield f"an element more: {argv}"


def _forgeries(out: str, err: str, html: str, markdown: bool) -> Found:
    for text in (out, err, html):
        if STEERS.search(text):
            yield "control character"
    if any(re.match(r"\s*::error::forged", line) for line in f"{out}\n{err}".splitlines()):
        yield "forged line"
    if re.search(r"<script>alert|<img", html):
        yield "element"
    fences = re.sub(r"(?ms)^(`{3,})[^\n]*\n.*?^\1\s*$", "", out)
    if markdown and re.search(r"(?<!\\)@octocat|(?<!\\)!\[|(?<!\\)<(?:script|img)", re.sub(r"(`+).+?\1", "", fences)):
        yield "mention, picture or element in Markdown"


def files(top: Path) -> Found:
    """Pipes, devices, sockets, folders, a terabyte, nothing: read and written."""
    model(top / "m", {})
    os.mkfifo(top / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(top / "sock"))
    with (top / "huge.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", 1 << 39))
        file.truncate(1 << 40)
    (top / "odd").mkdir()
    os.mkfifo(top / "odd" / "config.json")
    (top / "loop").symlink_to("loop")
    (top / "deep.json").write_text("[" * 200_000)
    (top / "x.log").write_text(FAILS)
    for odd in ("fifo", "/dev/zero", "sock", "huge.safetensors", "odd", "loop", "deep.json", ".", "none", "", "/proc", "/dev/full"):
        for argv in (
            ["fit", odd, "--gpu", "H100"], ["explain", "--ranks", odd], ["explain", "--log-only", odd], ["fleet", "compare", odd],

            ["fit", "m", "--gpu", "H100", "--html", odd], ["explain", "--log-only", "x.log", "--junit", odd],
            ["run", "--json", odd, "--", "true"],
        ):  # fmt: skip
            yield from asked(argv, top, plain_environ(top))[0]


def streams(top: Path) -> Found:
    """Closed and full streams, eight descriptors, a folder that is gone, variables that lead nowhere."""
    model(top / "m", {})
    (top / "x.log").write_text(FAILS)
    commands = ("fit {0}/m --gpu H100|fit {0}/m|explain --ranks {0}/x.log|explain --log-only {0}/x.log --junit /dev/stdout|help fit"
                "|releases torch|completion bash|mcp|fleet --ray --probe|run --json {0}/r.json -- true|report --markdown")  # fmt: skip
    ways = ("ulimit -n 8; {}", "exec {} <&-", "exec {} >&-", "exec {} >/dev/full", "cd $(mktemp -d) && rmdir $PWD && {}")
    ways += ("TMPDIR=/none {}", "HOME=/none {}", "COLUMNS=1 {}", "LC_ALL=C {}", "GPUWHY_DATA=/dev/zero {}", "ulimit -v 400000; {}")
    for argv in (one.format(top).split() for one in commands.split("|")):
        for way in ways:
            start = ["/bin/bash", "-c", way.format('"$@"'), "-", *GPUWHY, *argv]
            yield from (f"{way}: {one}" for one in asked(argv, top, plain_environ(top), start=start)[0])


JUNK: tuple[bytes, ...] = (
    b"[]", b"\xff\xfe", b"[" * 100_000, b'{"id":1,"meth\x97":"ping"}', b'{"id":{},"method":"ping"}', b'{"id":' + b"9" * 5000 + b"}",
    *(b'{"method":"notifications/cancelled","params":{"requestId":%b}}' % one for one in (b"[1]", b"{}", b"null", b"true")),
    b'{"id":4,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":{}}}}', b"x" * (25 << 20),
    b'{"id":6,"method":"resources/read","params":{"uri":"gpuwhy://cause/../../etc/passwd"}}',
    *(call(name, 7, {key: value}).strip() for name, key, value in (
        ("fit", "model", "\0"), ("fit", "model", "/dev/zero"), ("explain", "file", "/dev/zero"), ("check", "python", "/dev/zero"),
        ("code", "code", "--help"), ("check", "probe", "full"))),
)  # fmt: skip
SLOW = call("run", 1, {"command_line": ["/bin/sh", "-c", "sleep 600 & setsid sleep 601 & sleep 602"]})


def agents(top: Path) -> Found:
    """A client that talks nonsense, and clients that end in every way while a program runs."""
    server = client(top, plain_environ(top))
    for junk in JUNK:
        ping = b'{"jsonrpc":"2.0","id":"alive","method":"ping"}\n'
        if not any('"alive"' in said for said in until(server, junk + b"\n" + ping, "alive")):
            yield f"the server ended: {junk[:80]!r}"
            server = client(top, plain_environ(top))
    server.communicate(timeout=60)
    ends: tuple[Callable[[subprocess.Popen[bytes]], object], ...] = (
        lambda one: one.stdin and one.stdin.close(),
        *(lambda one, number=number: one.send_signal(number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)),  # type: ignore[misc]
    )
    for number, end in enumerate(ends):
        mark = f"FUZZ_DOORS_{os.getpid()}_{number}"
        one = client(top, {**plain_environ(top), mark: "1"}, "--allow-run")
        assert one.stdin
        one.stdin.write(SLOW)
        one.stdin.flush()
        _until_true(lambda mark=mark: len(_marked(mark)) >= 5, 30)  # type: ignore[misc]
        end(one)
        Count.attempts += 1
        if not _until_true(lambda mark=mark: not _marked(mark), 40):  # type: ignore[misc]
            yield f"left behind after end {number}: {_marked(mark)}"
            for pid in _marked(mark):
                os.kill(pid, signal.SIGKILL)
        one.wait(10)


def _until_true(asks: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not asks():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _marked(mark: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{mark}=1".encode() in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


PARTS: dict[str, Callable[[Path], Iterable[str]]] = {
    "secrets": secrets,
    "forged": forged,
    "files": files,
    "streams": streams,
    "agents": agents,
}


def main(words: list[str]) -> int:
    """Attack, print what gave way, and say by the exit code whether anything did."""
    total = 0
    for name in words or PARTS:
        before, bad = Count.attempts, 0
        with tempfile.TemporaryDirectory(prefix="doors-") as place:
            for text in PARTS[name](Path(place)):
                bad += 1
                print(f"  {text}", flush=True)
        print(f"{name:8} {Count.attempts - before} attempts, {bad} that gave way", flush=True)
        total += bad
    return bool(total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

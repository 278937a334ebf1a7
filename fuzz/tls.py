"""Hostile servers for `releases --update`: what they send, how slowly, and where they lead.

    python -m fuzz.tls

Each server answers in its own bad way on this machine, with a certificate that the client is told to trust (but for the
first rows); the command must end by itself with a sentence, small and soon. Needs openssl. Linux.
"""

from __future__ import annotations

import os
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

GPUWHY = [sys.executable, "-I", "-m", "gpuwhy"]
KEY = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
Answer = Callable[[socket.socket, int], None]
OK = b"HTTP/1.1 200 OK\r\n"


def _forever(line: bytes) -> Answer:
    def answer(peer: socket.socket, _: int) -> None:
        while True:
            peer.sendall(line)

    return answer


def _once(text: bytes) -> Answer:
    return lambda peer, port: peer.sendall(text.replace(b"PORT", b"%d" % port))


def _slowly(peer: socket.socket, _: int) -> None:
    peer.sendall(OK + b"Content-Length: 1000000\r\n\r\n")
    while True:
        peer.sendall(b"x")
        time.sleep(0.5)


def _body(peer: socket.socket, _: int) -> None:
    peer.sendall(OK + b"\r\n")
    while True:
        peer.sendall(bytes(1 << 16))


ROWS: dict[str, Answer] = {
    "headers without end": _forever(b"X-A: " + b"b" * 1000 + b"\r\n"),
    "a status line without end": _forever(b"x" * 4096),
    "a body without end": _body,
    "a byte each half second": _slowly,
    "nothing": lambda peer, _: time.sleep(600),
    "closed at once": lambda peer, _: None,
    "rubbish": _once(os.urandom(4096)),
    "to http": _once(b"HTTP/1.1 302 x\r\nLocation: http://localhost:PORT/x\r\n\r\n"),
    "to a file": _once(b"HTTP/1.1 302 x\r\nLocation: file:///etc/passwd\r\n\r\n"),
    "to itself": _once(
        b"HTTP/1.1 302 x\r\nLocation: https://localhost:PORT/x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ),
    "to nowhere": _once(b"HTTP/1.1 302 x\r\nLocation: https://\xff\xfe[::/\r\n\r\n"),
    "a length of 2^62": _once(OK + b"Content-Length: 4611686018427387904\r\n\r\nx"),
    "a length of 5,000 digits": _once(OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nx"),
    "a length below nothing": _once(OK + b"Content-Length: -5\r\n\r\nx"),
    "chunks of 2^62": _once(OK + b"Transfer-Encoding: chunked\r\n\r\n4000000000000000\r\nx"),
    "chunks of rubbish": _once(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
    "an order in the reason": _once(b"HTTP/1.1 404 \x1b]52;c;QUJD\x07\x1b[31mno\r\nContent-Length: 0\r\n\r\n"),
    "switching protocols": _once(b"HTTP/1.1 101 x\r\n\r\n"),
    "status 999999": _once(b"HTTP/1.1 999999 x\r\n\r\n"),
    "wrong signature": _once(OK + b"Content-Length: 4\r\nConnection: close\r\n\r\nabcd"),
}


def _serve(listener: socket.socket, context: ssl.SSLContext | None, answer: Answer) -> None:
    while True:
        try:
            raw, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_answered, args=(raw, context, answer, listener.getsockname()[1]), daemon=True).start()


def _answered(raw: socket.socket, context: ssl.SSLContext | None, answer: Answer, port: int) -> None:
    try:
        with context.wrap_socket(raw, server_side=True) if context else raw as peer:
            peer.settimeout(600)
            if context:
                peer.recv(65536)
            answer(peer, port)
    except OSError:
        return


def _certificate(place: Path) -> ssl.SSLContext:
    argv = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost".split()
    subprocess.run([*argv, "-keyout", "key.pem", "-out", "cert.pem"], cwd=place, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "cert.pem", place / "key.pem")
    return context


def tried(
    name: str, answer: Answer, context: ssl.SSLContext | None, place: Path, trusted: bool, seconds: float
) -> bool:
    """Whether the command ended as it should; prints how it did."""
    with socket.create_server(("localhost", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, context, answer), daemon=True).start()
        argv = [*GPUWHY, "releases", "--update", f"https://localhost:{listener.getsockname()[1]}/x.tar", "--key", KEY]
        environ = {"PATH": os.environ["PATH"], "HOME": str(place), "LANG": "C.UTF-8"}
        environ |= {"SSL_CERT_FILE": str(place / "cert.pem")} if trusted else {}
        start = time.monotonic()
        try:
            done = subprocess.run(argv, env=environ, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            print(f"hang  {name}: more than {seconds:.0f} s", flush=True)
            return False
    err = done.stderr.decode("utf-8", "replace")
    good = done.returncode == 2 and "Traceback" not in err and "\x1b" not in err and len(err) < 2000
    print(
        f"{'ok   ' if good else 'BAD  '} {name}: {done.returncode}, {time.monotonic() - start:.1f} s: {err.strip()[:160]}",
        flush=True,
    )
    return good


def main() -> int:
    """Try all of them; the exit code says whether any gave way."""
    results = list[bool]()
    with tempfile.TemporaryDirectory(prefix="tls-") as folder:
        place = Path(folder)
        context = _certificate(place)
        results.append(tried("a certificate of nobody", _once(OK + b"\r\n"), context, place, False, 60))
        results.append(tried("no TLS at all", _forever(b"x"), None, place, True, 60))
        results += [tried(name, answer, context, place, True, 400) for name, answer in ROWS.items()]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{len(results)} servers, {results.count(False)} that the command gave way to, {peak} MiB at most")
    return int(False in results)


if __name__ == "__main__":
    sys.exit(main())

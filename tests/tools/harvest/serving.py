"""A small HTTP server with good and bad manners, and wheels to serve."""

import io
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tools.harvest.index import IndexFile
from tools.harvest.tags import Tagged, parse


class Server:
    """Files by name; `manners` tells how it answers: ranges, whole, page, fails (twice, then ranges), short."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.manners = "ranges"
        self.asked: list[str] = []
        self.address = ""

    def answer(self, path: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(f"{path} {wanted}")
        data = self.files.get(path.lstrip("/"))
        if data is None:
            return 404, {}, b"no such file"
        if self.manners == "fails" and len(self.asked) <= 2:
            return 503, {}, b"later"
        if self.manners == "page":
            return 200, {"Content-Type": "text/html"}, b"<html>please log in</html>"
        if self.manners == "whole" or not wanted:
            return 200, {}, data
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted).groups()
        start = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last), len(data) - 1) if first and last else len(data) - 1
        body = data[start : end + 1]
        if self.manners == "short":
            body = body[:-1]
        return 206, {"Content-Range": f"bytes {start}-{end}/{len(data)}"}, body


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = server.answer(self.path, self.headers.get("Range", ""))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.address = f"http://127.0.0.1:{http.server_port}/"
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def wheel_bytes(members: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tagged(name: str, project: str, sha256: str = "0" * 64, url: str = "") -> Tagged:
    found = parse(IndexFile(name, url, sha256, "2024-01-02T03:04:05Z", False), project)
    assert found is not None
    return found

"""An update as it is published: a key and a signature by minisign, over https with a certificate made here."""

from __future__ import annotations

import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests import started

TOOLS = [name for name in ("minisign", "openssl") if not shutil.which(name)]
pytestmark = [
    pytest.mark.doors,
    pytest.mark.skipif(bool(TOOLS), reason=f"{' and '.join(TOOLS)} is not installed"),
]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """What docs/commands/releases.md tells a publisher to do, by its own commands."""
    folder = tmp_path_factory.mktemp("published")

    def run(*argv: str, given: str = "") -> None:
        subprocess.run(argv, cwd=folder, input=given, text=True, check=True, capture_output=True)

    for name in ("mine", "other"):
        run("minisign", "-G", "-W", "-p", f"{name}.pub", "-s", f"{name}.key")
    subprocess.run([sys.executable, "-m", "tools.make_update", str(folder / "rows.zip")], cwd=ROOT, check=True)
    run("minisign", "-S", "-s", "mine.key", "-m", "rows.zip")
    shutil.copy(folder / "rows.zip.minisig", folder / "changed.zip.minisig")
    (folder / "changed.zip").write_bytes((folder / "rows.zip").read_bytes() + b"x")
    made = "req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -days 2 -subj /CN=localhost"
    run("openssl", *made.split(), "-addext", "subjectAltName=DNS:localhost")
    return folder


@pytest.fixture
def address(published) -> Iterator[str]:
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(published))
    server = http.server.ThreadingHTTPServer(("localhost", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(published / "tls.crt", published / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def _key(published: Path, name: str) -> str:
    return (published / f"{name}.pub").read_text().splitlines()[-1]


def test_an_update_over_https_is_taken_and_what_is_wrong_is_refused(published, address, tmp_path):
    environ = {**os.environ, "GPUWHY_DATA": str(tmp_path / "data"), "SSL_CERT_FILE": str(published / "tls.crt")}

    def update(file: str, key: str, **more: str) -> tuple[int, str]:
        argv = ["releases", "--update", f"{address}/{file}", "--key", _key(published, key)]
        done = started.gpuwhy(argv, env={**environ, **more})
        return done.returncode, done.stderr

    assert update("rows.zip", "mine", SSL_CERT_FILE="/nowhere")[0] == 2
    assert "signed with another key" in update("rows.zip", "other")[1]
    assert "changed or cut" in update("changed.zip", "mine")[1]
    assert not (tmp_path / "data" / "releases.zip").exists()
    code, said = update("rows.zip", "mine")
    assert (code, "knows releases up to" in said) == (0, True)
    assert (tmp_path / "data" / "releases.zip").exists()

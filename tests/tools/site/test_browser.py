"""Every page of the site in Chromium: no error, nothing missing, nobody else asked."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.browser


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("site") / "out"
    subprocess.run([sys.executable, "-m", "tools.site", str(folder)], cwd=ROOT, check=True, timeout=300)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def page(site):
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        one = browser.new_page()
        one.wrong = []
        one.on("console", lambda said: said.type == "error" and one.wrong.append(said.text))
        one.on("pageerror", lambda error: one.wrong.append(str(error)))
        one.on("response", lambda got: got.status >= 400 and one.wrong.append(f"{got.status} {got.url}"))
        one.on(
            "request", lambda asked: asked.url.startswith((site[1], "data:", "blob:")) or one.wrong.append(asked.url)
        )
        yield one
        browser.close()


def test_no_page_has_an_error_or_asks_somebody_else(site, page):
    folder, address = site
    pages = sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("index.html"))
    assert len(pages) > 70
    for one in pages:
        page.goto(f"{address}{one}/" if one != "." else address)
    assert page.wrong == []

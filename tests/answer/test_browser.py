"""Pages in Chromium, headless: `pytest -n0 -m browser tests/answer`; CONTRIBUTING.md says what it
needs.
"""

import os
import shutil

import pytest

from gpuwhy.answer import html
from gpuwhy.answer.blocks import document
from tests.answer.examples import ANSWERS, DOCUMENTS
from tests.answer.injections import planted

pytestmark = pytest.mark.browser

PAGES = {name: html.page(document(answer, 2)) for name, answer in ANSWERS.items()} | {
    name: html.page(one) for name, one in DOCUMENTS.items()
}
OPEN = "for (const one of document.querySelectorAll('details')) one.open = true"
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("GPUWHY_CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("no chromium; apt-get install chromium")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """One tab that notes everything which a page must not do."""

    def __init__(self, browser, folder, **options) -> None:
        self.noted: list[str] = []
        self.file = folder / "page.html"
        self.page = browser.new_context(**options).new_page()
        self.page.on("console", lambda said: self.noted.append(f"console: {said.text}"))
        self.page.on("pageerror", lambda error: self.noted.append(f"error: {error}"))
        self.page.on("dialog", lambda one: (self.noted.append("a dialog"), one.dismiss()))
        self.page.on("request", self._request)

    def _request(self, request) -> None:
        if request.url.split("#")[0] != self.file.as_uri():
            self.noted.append(f"request: {request.url}")

    def show(self, text: str, at: str = ""):
        self.file.write_text(text, encoding="utf-8")
        self.page.goto("about:blank")
        self.page.goto(self.file.as_uri() + at)
        return self.page


@pytest.mark.parametrize(("width", "scheme"), [(375, "dark"), (768, "light"), (1280, "light")])
def test_no_page_scrolls_sideways_or_breaks_its_policy(chromium, tmp_path, width, scheme):
    tab = Tab(chromium, tmp_path, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for name, text in PAGES.items():
        page = tab.show(text)
        assert page.evaluate(WIDE) <= width, name
        page.evaluate(OPEN)
        assert page.evaluate(WIDE) <= width, name
        assert not tab.noted, (name, tab.noted)


def test_nothing_but_the_page_s_own_script_runs(chromium, tmp_path):
    tab = Tab(chromium, tmp_path)
    page = tab.show(PAGES["check-broken"])
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 1';"
        " const i = new Image(); i.src = 'http://evil.invalid/x.png'; document.body.append(s, i); }"
    )
    assert page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in note for note in tab.noted)


def test_no_injection_runs_fetches_or_scrolls(chromium, tmp_path):
    tab = Tab(chromium, tmp_path, viewport={"width": 375, "height": 800})
    for answer in planted():
        page = tab.show(html.page(document(answer, 2)))
        page.evaluate(OPEN)
        assert page.evaluate("window.pwned") is None
        assert page.evaluate(WIDE) <= 375
        assert not tab.noted, tab.noted


def test_copy_buttons_and_keys(chromium, tmp_path):
    rights = ["clipboard-read", "clipboard-write"]
    tab = Tab(chromium, tmp_path, permissions=rights, viewport={"width": 1280, "height": 800})
    page = tab.show(PAGES["check-broken"])
    button = page.locator("dl.do button.copy").first
    button.press("Enter")
    page.wait_for_function("document.querySelector('button.copy').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == "unset LD_LIBRARY_PATH"
    page.locator("summary").nth(1).press("Enter")
    assert page.locator("details").nth(1).get_attribute("open") is not None


def test_without_a_script_everything_can_be_read(chromium, tmp_path):
    tab = Tab(chromium, tmp_path, java_script_enabled=False)
    page = tab.show(PAGES["check-broken"])
    assert page.locator("button").count() == 0
    page.locator("summary").nth(1).click()
    assert page.get_by_text("sudo apt remove libcudnn9-cuda-13").is_visible()

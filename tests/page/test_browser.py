"""Pages in a real browser, headless: `pytest -n0 -m browser tests/page`; CONTRIBUTING.md says what it needs."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpuwhy.page.page import page as drawn
from tests.page import forms
from tests.page.injections import STRINGS, planted

pytestmark = pytest.mark.browser

HOSTS = (
    "h200-bare", "h200-compat-first", "h200-conda", "h200-container-no-gpu",
    "h200-empty-cudnn", "h200-memory-held", "h200-mig", "h200-no-libcuda",
    "h200-no-module", "h200-no-permission", "h200-podman-rootless", "h200-probe-cublas-text",
    "h200-probe-cudnn-cut", "h200-probe-cudnn-gone", "h200-probe-jax-plugin-gone", "h200-probe-libcuda-empty",
    "h200-probe-memory-held", "h200-probe-nccl-interface", "h200-probe-shm-full", "h200-probe-visible-7",
    "h200-wsl", "h200", "laptop-cpu-only",
)  # fmt: skip
AXE = "axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})"
"""Every rule that is on, and WCAG 2.2's size of targets, which is not."""
RUNS = ("fragmentation-held-unused", "host-killed", "other-process-in-container", "xid-meanwhile", "limit-files")
PLANS = {"plan-tf": ("tensorflow",), "plan-set": ("torch", "jax", "numpy<2"), "plan-old": ("tensorflow==1.15",)}


def reports() -> dict[str, str]:
    """The pages, by name: recorded machines, faults of an H200, watched runs, a proof, plans and the others."""
    out = {name: drawn(forms.host(name)) for name in HOSTS}
    out |= {f"run-{name}": drawn(*forms.watched(name)) for name in RUNS}
    out["proven"] = drawn(forms.proven())
    out |= {name: drawn(forms.planned(*words)) for name, words in PLANS.items()}
    out |= {f"small-{name}": drawn(*one) for name, one in forms.small().items() if name != "host"}
    return out


@contextmanager
def open_browser():
    """Chromium as the system has it."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("GPUWHY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("no chromium; apt-get install chromium")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium():
    with open_browser() as browser:
        yield browser


class Tab:
    """One tab that notes everything which a page must not do."""

    def __init__(self, browser, folder: Path, **options) -> None:
        self.folder, self.noted = folder, []
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.noted.append(f"console {said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.noted.append(f"error: {error}"))
        self.page.on("dialog", lambda one: (self.noted.append("a dialog"), one.dismiss()))
        self.page.on("request", self._request)
        self.url = ""

    def _request(self, request) -> None:
        if request.url != self.url:
            self.noted.append(f"request: {request.url}")

    def show(self, text: str):
        file = self.folder / "page.html"
        file.write_text(text, encoding="utf-8", errors="replace")
        self.url = file.as_uri()
        self.page.goto(self.url)
        return self.page


@pytest.fixture(scope="module")
def pages():
    return reports()


def axe() -> str:
    path = os.environ.get("GPUWHY_AXE", "")
    if not path:
        pytest.skip("GPUWHY_AXE names no axe.min.js")
    return Path(path).read_text()


@pytest.mark.parametrize("width,scheme", [(360, "dark"), (1280, "light")])
def test_25_reports_without_error_request_violation_or_scrolling(chromium, pages, tmp_path, width, scheme):
    checker = axe()
    assert len(pages) >= 25
    tab = Tab(chromium, tmp_path, viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    wrong = []
    for name, text in pages.items():
        page = tab.show(text)
        wide = page.evaluate("document.documentElement.scrollWidth")
        wrong += [f"{name}: {wide} pixels wide"] if wide > width else []
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        wide = page.evaluate("document.documentElement.scrollWidth")
        wrong += [f"{name}, opened: {wide} pixels wide"] if wide > width else []
        page.evaluate(checker)
        found = page.evaluate(AXE)
        for one in found["violations"]:
            wrong.append(
                f"{name}: {one['id']} {[n['target'] for n in one['nodes'][:2]]} {one['nodes'][0]['failureSummary']}"
            )
        wrong += [f"{name}: {note}" for note in tab.noted]
        tab.noted.clear()
    assert not wrong, "\n".join(wrong)
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    again = page.evaluate(AXE)
    assert [one["id"] for one in again["violations"]] == ["button-name"], "axe would have seen it"


def test_under_its_own_policy_nothing_is_refused_and_nothing_else_could_run(chromium, pages, tmp_path):
    tab = Tab(chromium, tmp_path)
    for name, text in pages.items():
        page = tab.show(text)
        assert not tab.noted, (name, tab.noted)
        assert page.evaluate("document.querySelector('.gpuwhy').classList.contains('js')"), name
    tab.show(pages["h200-bare"]).evaluate(
        "() => { const s = document.createElement('script');"
        " s.textContent = 'window.pwned = 1';"
        " const i = new Image(); i.src = 'http://evil.invalid/x.png'; document.body.append(s, i); }"
    )
    assert tab.page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in note for note in tab.noted)


def test_keyboard_alone_reaches_the_evidence_the_folds_and_the_copy_button(chromium, pages, tmp_path):
    tab = Tab(
        chromium, tmp_path, viewport={"width": 1280, "height": 800}, permissions=["clipboard-write", "clipboard-read"]
    )
    page = tab.show(pages["h200-probe-cudnn-gone"])
    shown = "() => [...document.querySelectorAll('.why')].filter(one => one.offsetParent).map(one => one.id)"
    focused = "() => document.activeElement.dataset.shows || document.activeElement.tagName"
    page.keyboard.press("Tab")
    first = page.evaluate(focused)
    assert page.evaluate(shown) == [first]
    page.keyboard.press("ArrowDown")
    second = page.evaluate(focused)
    assert second != first
    assert page.evaluate(shown) == [second]
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus can be seen"
    seen: set[str] = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        tag = page.evaluate("() => document.activeElement.tagName")
        if tag == "SUMMARY" and tag not in seen:
            opened = "() => document.activeElement.parentElement.open"
            before = page.evaluate(opened)
            page.keyboard.press("Enter")
            assert page.evaluate(opened) is not before
        if tag == "BUTTON" and tag not in seen:
            page.keyboard.press("Enter")
            page.wait_for_function("() => document.activeElement.textContent === 'Copied'")
            copied = page.evaluate("() => navigator.clipboard.readText()")
            assert copied.startswith("uv pip install")
        seen.add(tag)
    assert {"SUMMARY", "BUTTON", "A"} <= seen
    assert not tab.noted


def test_pointing_at_a_layer_shows_its_evidence_and_leaving_brings_back_the_chosen(chromium, pages, tmp_path):
    tab = Tab(chromium, tmp_path, viewport={"width": 1280, "height": 800})
    page = tab.show(pages["h200-no-module"])
    shown = "() => [...document.querySelectorAll('.why')].filter(one => one.offsetParent).map(one => one.id)"
    before = page.evaluate(shown)
    target = page.evaluate("() => [...document.querySelectorAll('a.layer:not(.seen)')][0].dataset.shows")
    page.hover(f"a[data-shows={target}]")
    assert page.evaluate(shown) == [target]
    page.hover("footer")
    assert page.evaluate(shown) == before
    assert "broken" in page.inner_text("a.layer.bad")
    assert page.locator(".joint.bad").count() >= 1


def test_a_name_from_right_to_left_moves_nothing_else(chromium, tmp_path):
    row = {"id": "\u05d0\u05d1\u05d2/\u05d3\u05d4\u05d5", "because": "123 \u05d0 is fine"}
    tab = Tab(chromium, tmp_path)
    page = tab.show(drawn({"schema": "gpuwhy.report/1", "headline": "x", "ruled_out": [row]}))
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    places = page.evaluate(
        "() => { const li = document.querySelector('section[aria-labelledby=decided] li');"
        " const range = document.createRange(); range.selectNode(li.lastChild);"
        " return [li.querySelector('code').getBoundingClientRect().right, range.getBoundingClientRect().left]; }"
    )
    assert places[0] <= places[1] + 1, "what follows the name stands after it"


def test_without_javascript_everything_can_be_read(chromium, pages, tmp_path):
    tab = Tab(chromium, tmp_path, java_script_enabled=False)
    page = tab.show(pages["h200-probe-cudnn-gone"])
    panels = page.locator(".why")
    assert panels.count() > 5
    assert all(panels.nth(place).is_visible() for place in range(panels.count()))
    assert page.locator("button").count() == 0
    opened = page.locator("details[open]").count()
    page.locator("details:not([open]) > summary").first.click()
    assert page.locator("details[open]").count() == opened + 1


def test_on_paper_the_evidence_is_printed_and_the_noise_is_not(chromium, pages, tmp_path):
    tab = Tab(chromium, tmp_path)
    page = tab.show(pages["run-fragmentation-held-unused"])
    page.emulate_media(media="print")
    assert page.locator(".why").first.is_visible()
    assert len(page.pdf()) > 10_000
    assert not tab.noted


def test_no_injection_runs_fetches_or_leaves_its_place(chromium, tmp_path):
    tab = Tab(chromium, tmp_path)
    shown = ""
    for values, log in planted():
        page = tab.show(drawn(values, log))
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("window.pwned") is None
        assert not tab.noted, (tab.noted, json.dumps(values)[:300])
        counted = page.evaluate("() => ['script', 'style', 'iframe', 'form', 'img', 'input', 'base', 'link', 'math']"
                                ".map(name => document.getElementsByTagName(name).length)")  # fmt: skip
        assert counted == [1, 1, 0, 0, 0, 0, 0, 0, 0]
        assert page.evaluate("document.querySelectorAll('main').length") == 1
        shown += page.evaluate("document.body.textContent")
    missing = [one for one in STRINGS if one.strip().isascii() and one.isprintable() and one[:60] not in shown]
    assert len(STRINGS) >= 200
    assert not missing, "each of them was there to be read"

"""The page: self-contained and closed; whatever is in it stays text."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from gpuwhy.answer import html
from gpuwhy.answer.blocks import document
from gpuwhy.answer.tree import Document, Link, Paragraph
from tests.answer.examples import ANSWERS, BROKEN, DOCUMENTS
from tests.answer.injections import STRINGS, planted

ALL = {name: document(answer, 2) for name, answer in ANSWERS.items()} | DOCUMENTS
EMPTY = {"meta"}
TAGS = {
    "a", "article", "b", "code", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "h1",
    "h2", "h3", "h4", "li", "main", "mark", "ol", "p", "path", "pre", "rect", "small", "span",
    "strong", "summary", "svg", "table", "tbody", "td", "th", "thead", "title", "tr", "ul",
    "html", "head", "body", "meta", "style", "script",
}  # fmt: skip
ATTRIBUTES = {
    "aria-hidden", "aria-label", "class", "d", "data-copy", "height", "href", "id", "open", "rel",
    "role", "scope", "viewbox", "width", "x", "y",
}  # fmt: skip


class Seen(HTMLParser):
    """What a parser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        if tag not in ("meta", "html"):
            self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text += data


def checked(text: str) -> Seen:
    """The structure that every page and part has, whatever it holds."""
    seen = Seen(text)
    assert not seen.wrong
    assert not seen.open
    assert set(seen.tags) <= TAGS
    assert seen.attributes <= ATTRIBUTES
    assert all(link.startswith("https://") for link in seen.links)
    return seen


@pytest.mark.parametrize("name", ALL)
def test_every_answer_has_a_page_of_its_own(name):
    text = html.page(ALL[name])
    seen = checked(text)
    assert seen.tags["h1"] == seen.tags["main"] == seen.tags["style"] == seen.tags["script"] == 1
    assert not re.search(r"(?:src|action|data)=[\"']?(?:https?:|//|data:)|@import|url\(", text)
    assert " style=" not in text
    assert len(text) < 60_000


def test_the_head_names_product_day_file_and_answer():
    text = html.page(ALL["explain-sure"])
    assert "<title>gpuwhy: JAX loaded cuDNN 8.5.0 but was built with 8.6.0</title>" in text
    assert "<span>gpuwhy 1.0.0</span><span>2026-11-18</span><span>l1.txt</span>" in text


def test_the_policy_admits_this_style_and_this_script_alone():
    policy = html.policy()
    assert html.escaped(policy) in html.page(ALL["fit"])
    assert policy.count("sha256-") == 2
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "</" not in html.asset("style.css")
    assert "</" not in html.asset("script.js")


def test_a_part_of_a_notebook_has_no_script():
    part = checked(html.fragment(document(BROKEN, 1)))
    assert part.tags["script"] == part.tags["main"] == part.tags["h1"] == 0


def test_several_answers_in_one_page():
    seen = checked(html.page(ALL["check-broken"], ALL["check-broken"], ALL["fit"]))
    assert seen.tags["article"] == 3


def test_a_link_leads_to_an_address_and_nowhere_else():
    line = (Link("there", "https://docs.nvidia.com/cuda/"), Link("x", "javascript:alert(1)"))
    text = html.page(Document((Paragraph(line),)))
    assert checked(text).links == ["https://docs.nvidia.com/cuda/"]


def test_whatever_is_in_an_answer_stays_text():
    shown = ""
    for answer in planted():
        seen = checked(html.page(document(answer, 2)))
        assert [seen.tags[name] for name in ("script", "style", "h1")] == [1, 1, 1]
        assert not any(c in seen.text for c in "\u202e\u2066\ufeff\x00\x1b")
        part = checked(html.fragment(document(answer, 2)))
        assert [part.tags[name] for name in ("script", "style")] == [0, 1]
        shown += seen.text
    missing = [one for one in STRINGS if one.isascii() and one.isprintable() and one not in shown]
    assert not missing, "each of them was there to be read"

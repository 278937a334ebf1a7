"""The structure of a page: self-contained, closed, without secrets; whatever is in it stays text."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.model.facts.loads import Rule
from gpuwhy.page import document, loads
from gpuwhy.page.element import ATTRIBUTES, TAGS, el, escaped
from gpuwhy.page.page import UndrawableError, page, pages, part
from tests.page import forms
from tests.page.injections import STRINGS, planted

EMPTY = {"br", "meta"}
OWN = {"html", "head", "body", "meta", "title", "style", "script"}


class Seen(HTMLParser):
    """What a parser makes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.points: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag not in OWN:
            self.attributes |= {name for name, _ in attrs}
        for name, value in attrs:
            self.ids += [value or ""] if name == "id" else []
            self.points += [(value or "").lstrip("#")] if name in ("href", "aria-labelledby", "data-shows") else []
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    parser.close()
    return parser


@cache
def lean() -> dict[str, Any]:
    return {name: (forms.lean(values), log[-300:]) for name, (values, log) in forms.small().items()}


@pytest.mark.parametrize("name", forms.NAMES)
def test_every_form_has_a_closed_page_of_its_own(name):
    text = page(*forms.small()[name])
    found = seen(text)
    assert not found.wrong
    assert not found.open
    assert set(found.tags) <= TAGS | OWN
    assert {a for a in found.attributes if a not in {b.lower() for b in ATTRIBUTES}} == set()
    assert found.tags["h1"] == found.tags["main"] == found.tags["header"] == 1
    assert found.tags["script"] == found.tags["style"] == 1
    assert len(found.ids) == len(set(found.ids)), "an id stands once"
    assert set(found.points) <= set(found.ids), "what is pointed at is there"
    assert len(text) < 1_000_000
    assert not re.search(r"""(?:src|href|action|data)=["']?(?:https?:|//|data:)|@import|url\(""", text)


def test_the_policy_admits_this_style_and_this_script_alone():
    text = page(*forms.small()["host"])
    policy = document.policy()
    assert escaped(policy) in text
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    assert style[1] == document.asset("style.css")
    assert "</" not in document.asset("style.css")
    assert "</" not in document.asset("script.js")
    assert " style=" not in text
    assert not re.search(r"<[^>]* on\w+=", text.split("<script>")[0])


def test_the_picture_comes_first_and_shows_the_broken_joint():
    values = forms.small()["host"][0]
    text = page(values)
    assert text.index("The stack") < text.index('id="why"') < text.index("What the loader picks")
    assert text.count("breaks here") == 1
    for layer in values["layers"]:
        assert escaped(layer["name"]) in text
        assert escaped(layer["text"]) in text
    order = [text.index(f">{name}<") for name in ("PyTorch", "Python", "cuDNN", "driver", "GPU")]
    assert order == sorted(order), "the program on top, the GPU at the bottom"


def test_a_log_alone_has_a_picture_of_what_it_tells():
    from gpuwhy.logs import explained as explain_text
    from gpuwhy.showing import plain_values

    log = (
        "Driver Version: 470.82.01    CUDA Version: 11.4\ntorch==2.4.0\n"
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\n"
    )
    text = page(plain_values(explain_text(log)), log)
    assert "told, not seen" in text or "driver.too_old" in text
    assert "470.82.01" in text.split('id="why"')[0]
    assert "breaks here: driver: driver.too_old" in text
    joint = text.index("breaks here")
    assert text.index(">cuDNN<") < joint < text.index(">driver<"), "what stands on the driver is not served"
    assert ">11.4<" not in text, "the newest CUDA that the driver runs is no installed one"
    assert 'id="stack"' not in page({"schema": "gpuwhy.report/1", "headline": "nothing"})


def test_saw_know_and_told_are_words_not_colours_alone():
    values, log = forms.small()["run"]
    text = page(values, log)
    assert "seen on this machine" in text
    assert "told by the program" in text
    assert '<span class="bad">' in text
    assert "broken " in text


def test_memory_is_drawn_with_what_was_refused_and_told_in_numbers_too():
    text = page(*forms.small()["run"])
    assert "asked for and refused: 2.0 GiB" in text
    assert 'class="own"' in text
    assert "the same in numbers" in text


def test_host_memory_over_time():
    curve = [{"seconds": t, "own": t << 30, "left": (8 - t) << 30} for t in range(5)]
    use = {"peak": 4 << 30, "curve": curve}
    values = {"schema": "gpuwhy.report/1", "facts": {"run": {"host": {"state": "known", "value": use}}}}
    assert "The host: memory over 4.0 seconds" in page(values)


def test_without_samples_the_message_itself_is_drawn():
    text = page(*forms.small()["explain"])
    assert "79.0 GiB of 80.0 GiB was held, 1.0 GiB was free, 2.0 GiB was asked for" in text


def test_the_tree_tells_winners_losers_and_the_search():
    text = page(*forms.small()["inspect"])
    for word in ("1 lost", "loses", "where the search went: 2 places", "lies where nobody looks", "/opt/libnccl.so.2"):
        assert word in text


def test_a_report_tells_the_copies_that_lose_too():
    values = {"schema": "gpuwhy.report/1", "facts": {"loads": {
        "trees": {"state": "known", "value": [{"framework": "torch", "libraries": [
            {"name": "libcudnn.so.9", "path": "/v/libcudnn.so.9", "via": "RPATH", "needed_by": "/v/t.so"}]}]},
        "needs": {"state": "known", "value": [{"framework": "torch", "name": "libcudnn.so.9",
                                               "elsewhere": ["/usr/lib/libcudnn.so.9"], "found": {"state": "known"}}]},
    }}}  # fmt: skip
    text = page(values)
    assert "1 lost" in text
    assert "/usr/lib/libcudnn.so.9" in text


def test_long_lists_and_long_logs_stay_below_a_megabyte():
    rows = [{"id": f"a.{n}", "because": "it is not that, by what was seen " * 3} for n in range(20_000)]
    values = {"schema": "gpuwhy.report/1", "headline": "x", "ruled_out": rows}
    assert len(page(values, "a line of a log that goes on and on\n" * 40_000)) < 1_000_000


def test_lines_that_were_left_out_keep_the_numbers():
    from gpuwhy.page.page import lines_of

    lines = lines_of("a\n[… 12 bytes, 1,000 lines left out …]\nb\n")
    assert [(line.number, line.text) for line in lines] == [(1, "a"), (1002, "b")]


def test_several_reports_in_one_file_keep_their_names_apart():
    rows = [(*forms.small()[name], name) for name in forms.NAMES]
    found = seen(pages(rows))
    assert not found.wrong
    assert len(found.ids) == len(set(found.ids))
    assert set(found.points) <= set(found.ids)
    assert found.tags["main"] == 0


def test_a_part_for_a_notebook_has_no_script_and_a_style_that_holds_for_nothing_else():
    text = part(forms.small()["host"][0])
    found = seen(text)
    assert found.tags["script"] == found.tags["main"] == 0
    css = re.sub(r"@media[^{]*\{|/\*.*?\*/", "", document.asset("style.css"))
    for rule in re.findall(r"([^{}]+)\{", css):
        assert all(".gpuwhy" in one for one in rule.split(",")), rule


def test_every_injection_stays_text():
    for values, log in planted():
        found = seen(page(values, log))
        assert not found.wrong
        assert set(found.tags) <= TAGS | OWN
        assert found.tags["script"] == found.tags["style"] == 1
        assert not [name for name in found.attributes if name.startswith("on") or name in ("style", "src", "srcdoc")]
    assert len(STRINGS) >= 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.sampled_from(forms.NAMES), st.integers(1, 400), json_values)
def test_a_form_that_lies_about_its_types_still_has_a_closed_page(name, place, value):
    values, log = lean()[name]
    found = seen(page(_replaced(values, [place], value), log))
    assert not found.wrong
    assert set(found.tags) <= TAGS | OWN


def _replaced(value: Any, count: list[int], new: Any) -> Any:
    """The same values with the n-th of them replaced; the schema stays."""
    if count[0] == 0:
        count[0] -= 1
        return new
    count[0] -= 1
    if isinstance(value, dict):
        return {k: v if k == "schema" else _replaced(v, count, new) for k, v in value.items()} if value else value
    if isinstance(value, list):
        return [_replaced(one, count, new) for one in value[:6]]
    return value


def test_what_has_no_page_says_so():
    with pytest.raises(UndrawableError):
        page({"schema": "gpuwhy.unheard/1"})
    with pytest.raises(UndrawableError):
        page([])


BAD: tuple[tuple[str, dict[str, str]], ...] = (
    ("script", {}), ("iframe", {}), ("a", {"href": "https://x"}), ("a", {"href": "#a:b"}), ("p", {"onclick": "x"}),
    ("p", {"style": "x"}), ("p", {"id": "a b<"}),
)  # fmt: skip


def test_an_element_takes_no_tag_attribute_or_link_that_is_not_on_the_list():
    for tag, attributes in BAD:
        with pytest.raises(ValueError, match=r"of ours|nowhere"):
            el(tag, **attributes)
    assert str(el("p", "<b>", class_="x")) == '<p class="x">&lt;b&gt;</p>'


@pytest.mark.parametrize("form", ["report", "plan", "inspect", "lint", "fleet", "ranks", "fit", "proof"])
def test_an_answer_that_holds_nothing_is_not_fine(form):
    text = page({"schema": f"gpuwhy.{form}/1"})
    head = text[text.index("<header") : text.index("</header>")]
    assert "not known" in head
    assert "fine" not in head


def test_a_group_whose_state_is_unknown_is_not_fine():
    text = page({"schema": "gpuwhy.fleet/1", "groups": [{"nodes": ["a"], "status": "unknown"}]})
    assert "fine" not in text[text.index("<header") : text.index("</header>")]


def test_a_job_names_who_failed_first_and_counts_from_there():
    text = page(*forms.small()["ranks"])
    assert "rank 1 failed first: CUDA out of memory" in text[text.index("<header") : text.index("</header>")]
    assert text.index(">rank 1<") < text.index(">rank 0<"), "the first failure stands on top"
    assert "all_reduce 12" in text


def test_libraries_that_lack_what_is_asked_of_them_are_not_everything():
    values = {"schema": "gpuwhy.inspect/1", "path": "/v/a.so", "missing": [], "unmet": ["f of libx.so"]}
    text = page(values)
    assert "everything it needs is found" not in text
    assert "broken" in text[text.index("<header") : text.index("</header>")]


def test_the_words_of_the_contract_are_those_of_the_facts():
    assert Rule.OFF_PATH.value == loads.OFF_PATH

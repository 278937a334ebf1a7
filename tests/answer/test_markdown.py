"""Markdown for issues: a fence holds, nobody is mentioned, nothing is linked or formatted."""

import re

import pytest

from gpuwhy.answer import markdown
from gpuwhy.answer.blocks import document, item, items, pair, pairs, table
from gpuwhy.answer.tree import Code, Command, Document, Fold, Heading, Link, Paragraph, Quote
from tests.answer.injections import STRINGS, planted


def outside_fences(text: str) -> tuple[list[str], int]:
    """The lines outside fences without their code spans, and how many fences there were."""
    out, fence, count = [], "", 0
    for line in text.split("\n"):
        found = re.match(r"\s*(`{3,})[a-z]*$", line)
        if fence:
            if found and len(found[1]) >= len(fence) and line.strip() == found[1]:
                fence = ""
        elif found:
            fence, count = found[1], count + 1
        else:
            out.append(re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
    assert not fence, "every fence is closed"
    return out, count


def test_whatever_is_in_an_answer_stays_text():
    for answer in planted():
        text = markdown.write(document(answer, 2))
        assert all(c.isprintable() for c in text.replace("\n", ""))
        lines, _ = outside_fences(text)
        for line in lines:
            tags = re.findall(r"(?<!\\)<[^>]*>", line)
            assert set(tags) <= {
                "<br>", "<details>", "</details>", "<summary>", "</summary>", "<!-- -->", "<sub>",
                "</sub>",
            }, line  # fmt: skip
            assert not re.search(r"@\w|#\d|(?i:\bgh-\d)|(?i:https?:|www\.)", line), line
            raw = line.startswith("<summary>")  # HTML, in which nothing formats
            assert raw or not re.search(r"(?<!\\)[\[\]~$]", line), line


@pytest.mark.parametrize("text", STRINGS)
def test_a_paragraph_begins_no_list_title_or_fence(text):
    line = markdown.line((text,))
    assert "\n" not in line
    assert not re.match(r"\s*([-+=]|#|>|\d+[.)]|```|~~~|\|)", line), line


def test_a_fence_is_longer_than_any_in_it():
    text = "a\n```\nb\n`````\n@octocat"
    lines, count = outside_fences(markdown.write(Document((Command(text),))))
    assert count == 1
    assert not any("@octocat" in line for line in lines)


def test_code_spans_hold_backticks_and_end_no_cell():
    assert markdown.code("a`b``c") == "```a`b``c```"
    assert markdown.code("`a`") == "`` `a` ``"
    one = Document((table(("a", "b"), [((Code("x | y"),), "p | q")]),))
    assert "| `x \\| y` | p \\| q |" in markdown.write(one)


def test_a_summary_is_escaped_as_html():
    text = markdown.write(Document((Fold("<b>@octocat</b>", (Paragraph(("x",)),)),)))
    assert "<summary>&lt;b&gt;@<!-- -->octocat&lt;/b&gt;</summary>" in text


def test_only_plain_addresses_of_ours_become_links():
    line = (Link("release notes", "https://docs.nvidia.com/cuda/"), " ", Link("x", "javascript:x"))
    assert markdown.line(line) == "[release notes](https://docs.nvidia.com/cuda/) x"


def test_lists_fences_and_quotes_stand_inside_their_row():
    one = Document(
        (
            Heading(("title",), "bad"),
            items([item("first", Command("a"), "then"), item("second")], numbered=True),
            pairs(pair("Run", Command("b"))),
            Quote(((3, "x"), (40, "y")), 40),
        )
    )
    assert markdown.write(one) == (
        "### ✗ title\n\n"
        "1. first\n   ```sh\n   a\n   ```\n   then\n2. second\n\n"
        "- **Run**\n  ```sh\n  b\n  ```\n\n"
        "```text\n   3 | x\n> 40 | y\n```\n\n"
    )

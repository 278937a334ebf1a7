"""What is printed where the console does not speak UTF-8."""

import io
import json

import pytest

from gpuwhy.cli.terminal import write


def printed(text: str, encoding: str) -> bytes:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    write(text, stream)
    return raw.getvalue()


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii", "utf-8"])
def test_json_keeps_every_letter(encoding):
    value = {"path": "C:/Größe 東京 😀", "text": "2.3 – 2.10 … ✓"}
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    assert json.loads(printed(text, encoding).decode(encoding)) == value


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_signs_have_plain_forms(encoding):
    assert printed("✓ a · b … “c” → d\n", encoding) == b'+ a - b ... "c" -> d\n'


def test_nothing_that_steers_a_terminal_or_a_workflow_is_printed():
    hostile = "\x1b[2Ja \x1b[31mb\x1b[0m \x1b]0;title\x07\u202e\r\x1b\n::error file=x::y\n"
    said = printed(hostile, "utf-8").decode()
    assert said.replace("\x1b[31m", "").replace("\x1b[0m", "").count("\x1b") == 0
    assert not set(said) & set("\x07\r\u202e")
    assert said.splitlines()[1].startswith("· ::error")

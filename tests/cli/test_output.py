"""What is printed where the console does not speak UTF-8."""

from __future__ import annotations

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

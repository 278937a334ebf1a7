"""Nothing from outside steers a terminal or a workflow."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gpuwhy.border.plain import json_plain, lines, one_line, plain
from gpuwhy.border.shared import as_json

EVIL = "a\x1b]52;c;QUJD\x07\x9b31m\x85\u202eb\u2066\u200f\u2028c\x00\r\n::error::forged\n  ##[error]forged\ud800"
BAD = ("\x1b", "\x07", "\x9b", "\x85", "\u202e", "\u2066", "\u200f", "\u2028", "\x00", "\r")


def test_control_direction_and_orders_are_gone():
    for shown in (plain(EVIL), one_line(EVIL), lines([EVIL, EVIL])):
        assert not [one for one in BAD if one in shown]
        assert not [line for line in shown.split("\n") if line.lstrip().startswith(("::", "##["))]
        shown.encode()
    assert "\n" not in one_line(EVIL)
    assert lines([EVIL, "", EVIL]).count("\n") == 2


def test_what_is_harmless_stays():
    for text in ("std::runtime_error: x", "  at::native::foo", "C++ a::b\n\tx", "naïve – ✓ 日本語 é", "::1 is IPv6"):
        assert plain(text) == text
    assert plain("\x1b[31mred\x1b[0m", tinted=True) == "\x1b[31mred\x1b[0m"


def test_json_keeps_the_value_and_shows_letters():
    made = as_json({"text": "a\x9b\u202eb\udcff"})
    assert not [one for one in BAD if one in made]
    assert json.loads(made)["text"] == "a\x9b\u202eb\\udcff"
    assert json_plain('"\u202e"') == '"\\u202e"'


@pytest.mark.skipif(os.name == "nt", reason="names that Windows does not allow")
@pytest.mark.parametrize(
    "argv",
    [
        ["explain", "--log-only", "{}"],
        ["lint", "{}"],
        ["check", "--python", "{}"],
        ["check", "--root", "{}"],
        ["check", "--from", "{}"],
        ["inspect", "{}"],
        ["record", "-o", "/nowhere/{}"],
        ["run", "--", "{}"],
        ["code", "{}"],
        ["--{}"],
        ["{}"],
    ],
    ids=lambda argv: argv[0],
)
def test_a_name_in_an_error_steers_nothing(argv, tmp_path):
    evil = "x\x1b]52;c;QUJD\x07\u202e\n::error::forged\udcff"
    command = [sys.executable, "-m", "gpuwhy", *(one.replace("{}", evil) for one in argv)]
    done = subprocess.run([os.fsencode(one) for one in command], capture_output=True, cwd=tmp_path, timeout=100)
    said = (done.stdout + done.stderr).decode(errors="surrogateescape")
    assert not [one for one in BAD if one in said], said
    assert not [line for line in said.split("\n") if line.lstrip().startswith("::")], said
    assert "Traceback" not in said
    assert done.returncode in (0, 1, 2, 126, 127), said


@pytest.mark.skipif(os.name == "nt", reason="variables with lines in them are POSIX's")
def test_a_variable_cannot_forge_a_line(tmp_path, bare):
    evil = "0\n::error::forged\n✓ Healthy, forged\u202e"
    names = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "XLA_FLAGS", "CUDA_HOME", "TF_GPU_ALLOCATOR")
    environ = {**os.environ, **dict.fromkeys(names, evil)}
    argv = [sys.executable, "-m", "gpuwhy", "check", "-vv", "--python", bare]
    done = subprocess.run(argv, capture_output=True, text=True, env=environ, cwd=tmp_path, timeout=100)
    for line in done.stdout.splitlines():
        assert not line.startswith(("::", "✓ Healthy, forged")), line
    assert "forged" in done.stdout
    assert "\u202e" not in done.stdout

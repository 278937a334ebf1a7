"""The terminal: 80 columns, glyphs that speak without colour, colour only where it is wanted."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import msgspec
import pytest

from gpuwhy.host.base import Host
from gpuwhy.host.recording import RecordingHost
from gpuwhy.render.terminal import Paper, certainty, render

from .reports import ALL, awkward, blind, broken, healthy

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def flat(text: str) -> str:
    """The text as if it had never been folded."""
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 60, 100])
@pytest.mark.parametrize("name", ALL)
def test_width_is_kept(name, width):
    """Only a line that is one unbreakable word, or a command to copy, may be longer."""
    report = ALL[name]()
    commands = {line.strip() for cause in report.causes for fix in cause.fixes for line in fix.command.splitlines()}
    for line in render(report, Paper(width)).splitlines():
        if len(line) > width:
            words = line.split()
            assert line.strip() in commands or len(words) == 1 or len(words[-1]) > width - 20, line


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_no_control_characters_without_colour(name, verbose):
    text = render(ALL[name](), Paper(80, colour=False), verbose)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


@pytest.mark.parametrize("name", ALL)
def test_colour_adds_nothing_but_colour(name):
    plain, coloured = render(ALL[name](), Paper(80)), render(ALL[name](), Paper(80, colour=True))
    assert ANSI.search(coloured)
    assert ANSI.sub("", coloured) == plain


def test_the_answer_comes_first():
    assert render(broken(), Paper()).startswith(
        "✗ No program can use the GPU here\n\ncause  driver.missing · certain\n"
    )
    assert render(healthy(), Paper()).startswith("✓ ")
    assert render(blind(), Paper()).startswith("? ")


def test_every_mark_has_its_glyph():
    text = render(awkward(), Paper())
    rows = {
        name: re.search(rf"^  (.) {name} ", text, re.MULTILINE) for name in ("GPU", "driver", "CUDA", "cuDNN", "ONNX")
    }
    assert {name: row and row.group(1) for name, row in rows.items()} == {
        "GPU": "✓", "driver": "✗", "CUDA": "!", "cuDNN": "–", "ONNX": "?"
    }  # fmt: skip


def test_the_block_convinces():
    text = render(broken(), Paper())
    for part in ("\n  because ", "\n    saw   ", "\n  fix 1   ", "\n  check   gpuwhy check"):
        assert part in text
    assert "then look again (needs root)" in flat(render(awkward(), Paper()))
    assert "Reboot (needs a reboot)" in flat(render(awkward(), Paper()))


def test_a_file_name_cannot_steer_the_terminal():
    for colour in (False, True):
        text = render(awkward(), Paper(80, colour))
        assert "\x1b[2J" not in text
        assert "\x07" not in text
        assert "evil ?[2J? name" in ANSI.sub("", text)


def test_what_could_not_be_seen_is_said_briefly_and_in_full():
    brief, full = render(awkward(), Paper()), render(awkward(), Paper(), verbose=True)
    assert "could not tell:" in brief
    assert "device.hardware: the kernel log could not be read (sudo dmesg | gpuwhy explain)" in flat(brief)
    assert "surroundings.field_5" not in brief
    assert "surroundings.field_5" in full
    assert "gpuwhy failed to judge env.path" in brief
    assert "device.hardware: the kernel log could not be read → sudo dmesg | gpuwhy explain" in flat(full)


def test_verbose_shows_every_fact_with_its_source():
    text = render(healthy(), Paper(), verbose=True)
    assert "driver.module_version: 580.159.04  [" in text
    assert "ruled out" in text


def test_verbose_shows_a_process_whose_own_state_is_a_fact():
    state = {"state": "known", "value": "sleeping", "source": {"kind": "file", "where": "/proc/7/status"}}
    holders = {"state": "known", "value": [{"pid": 7, "state": state}], "source": {"kind": "call", "where": "NVML"}}
    text = render(msgspec.structs.replace(healthy(), facts={"devices": {"holders": holders}}), Paper(), verbose=True)
    assert "pid=7 state=sleeping" in text


@pytest.mark.parametrize("confidence, word", [(0.99, "certain"), (0.85, "likely"), (0.4, "possible")])
def test_certainty(confidence, word):
    assert certainty(confidence) == word


@pytest.fixture
def recording(tmp_path):
    file = tmp_path / "host.json"
    file.write_bytes(RecordingHost(Host()).dump({}))
    return str(file)


@pytest.mark.parametrize(
    "variables, coloured",
    [
        ({}, False),
        ({"NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colour_through_the_program(recording, variables, coloured):
    """A pipe gets no colour unless it is forced."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    argv = [sys.executable, "-m", "gpuwhy", "check", "--from", recording]
    done = subprocess.run(argv, capture_output=True, env={**kept, **variables, "PYTHONIOENCODING": "utf-8"})
    text = done.stdout.decode()
    assert bool(ANSI.search(text)) == coloured
    assert ANSI.sub("", text).startswith("? Cannot tell")


@pytest.mark.parametrize("variables, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_on_a_terminal(recording, variables, coloured):
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    main, side = os.openpty()
    argv = [sys.executable, "-m", "gpuwhy", "check", "--from", recording]
    environ = {**kept, "TERM": "xterm", **variables, "PYTHONIOENCODING": "utf-8"}
    try:
        subprocess.run(argv, stdout=side, stderr=side, env=environ, timeout=30)
        text = os.read(main, 100_000).decode()
    finally:
        os.close(main)
        os.close(side)
    assert bool(ANSI.search(text)) == coloured


def test_an_encoding_without_glyphs_is_no_crash(recording):
    argv = [sys.executable, "-m", "gpuwhy", "check", "--from", recording]
    done = subprocess.run(argv, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.stderr == b""
    assert done.stdout.isascii()

"""Words of Windows: what only looks like a failure of the stack there, and what tells that a text is from it."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.symptoms.reader import read_text


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: module 'signal' has no attribute 'SIGKILL'",
        "AttributeError: module 'signal' has no attribute 'SIGALRM'",
        "AttributeError: module 'os' has no attribute 'geteuid'",
    ],
)
def test_what_windows_lacks_is_no_shadowed_module(text):
    assert "shadow.attribute" not in {one.signature for one in read_text(text).symptoms}
    assert "WSL 2" in explain_text(f"C:\\proj> python app.py\n{text}\n").causes[0].fixes[0].text


def test_what_every_system_has_is_a_shadowed_module():
    found = read_text("AttributeError: module 'signal' has no attribute 'SIGINT'").symptoms
    assert "shadow.attribute" in {one.signature for one in found}


def test_a_file_in_use_is_no_card_in_use():
    text = "OSError: [WinError 32] The process cannot access the file because it is being used by another process: 'x'"
    found = {one.signature for one in read_text(text).symptoms}
    assert not found & {"title.held", "remark.busy"}
    assert "remark.busy" in {one.signature for one in read_text("the GPU is used by another process").symptoms}


@pytest.mark.parametrize(
    "text",
    [
        "fatal error C1060: compiler is out of heap space",
        "LINK : fatal error LNK1104: cannot open file 'x.lib'",
        "error MSB3721: the command exited with code 1",
        "'cudafe++' died with status 0xC0000409",
    ],
)
def test_visual_studio_tells_the_system(text):
    assert read_text(text).told.os == "windows"


@pytest.mark.parametrize("line", ["OS Platform and Distribution: Windows", "| OS | Windows |", "I'm using Windows."])
def test_a_bug_form_tells_the_system(line):
    assert read_text(f"{line}\nRuntimeError: CUDA error: out of memory").told.os == "windows"


@pytest.mark.parametrize("line", ["OS Platform (e.g., Linux, Windows): Linux Ubuntu", "Platform: Windows / Linux"])
def test_a_choice_in_a_bug_form_tells_no_system(line):
    assert read_text(f"{line}\nRuntimeError: CUDA error: out of memory").told.os != "windows"

"""A text from another machine is answered for the place it tells of, not for the machine that reads it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.facts import Facts
from gpuwhy.reason.whose import foreign
from gpuwhy.shell.place import place_of
from gpuwhy.symptoms.reader import read_text
from tests.rooms.facts import base, change

BARE: dict[str, Any] = {
    "surroundings.wsl": {"absent": True},
    "devices.devices": {"known": []},
    "devices.pci": {"known": []},
    "driver.module_version": {"absent": True},
}
BLOCKED = "user@host:/mnt/c$ nvidia-smi\nFailed to initialize NVML: GPU access blocked by the operating system\n"
OLD = (
    "CUDA error 222 at ggml-cuda.cu:5965: the provided PTX was compiled with an unsupported toolchain.\n"
    "| NVIDIA-SMI 470.82.01    Driver Version: 470.82.01    CUDA Version: 11.4     |\n"
)


@pytest.fixture
def bare() -> Facts:
    """A Linux machine without a GPU."""
    plain = base("healthy")
    for path, value in BARE.items():
        change(plain, path, value)
    return msgspec.convert(plain, type=Facts)


@pytest.mark.parametrize("text", [BLOCKED, OLD])
def test_the_reading_machine_has_no_say_in_the_fixes(bare: Facts, text: str):
    here, alone = explain_text(text, bare), explain_text(text)
    assert here.causes[0].fixes == alone.causes[0].fixes
    assert not any("This machine has no NVIDIA GPU" in fix.text for fix in here.causes[0].fixes)


def test_a_driver_that_told_its_number_is_not_of_a_machine_without_one(bare: Facts):
    table = "| NVIDIA-SMI 510.68.02    Driver Version: 510.68.02    CUDA Version: 11.6     |\n"
    text = f"Failed to initialize NVML: Unknown Error\n{table}"
    assert "510.68.02" in foreign(read_text(text), bare)


def test_python_is_told_by_paths_without_a_traceback(bare: Facts):
    text = '  File "/opt/envs/dml/lib/python3.7/site-packages/google/protobuf/x.py", line 560, in f\nTypeError: x\n'
    assert "Python 3.7" in foreign(read_text(text), bare)


def test_what_starts_the_container_is_told_by_the_text(bare: Facts):
    text = "trainer  | step 1\ntrainer  | RuntimeError: CUDA error: out of memory\ntrainer  | stopped\n"
    place = place_of(bare, read_text(text))
    assert place.container
    assert place.box is not None
    assert place.box.name == "trainer"


@pytest.mark.parametrize(
    "prompt, system",
    [
        ("me@DESKTOP-4H2K9QX:~/llm$ python run.py", "wsl"),
        ("(gptq) root@LAPTOP-AB12CD34:/srv# python run.py", "wsl"),
        ("me@desktop:~$ python run.py", ""),
        ("me@DESKTOP-4H2K9QX MINGW64 ~/llm", ""),
    ],
)
def test_a_unix_prompt_with_the_name_that_windows_gives_is_of_wsl(prompt: str, system: str):
    assert read_text(f"{prompt}\nLoading model ...\nKilled\n").told.os == system

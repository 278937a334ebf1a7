"""The first two fixes: of the cause that is told, and doing something; what takes away for another cause waits."""

from __future__ import annotations

import pytest
from msgspec import structs

from gpuwhy.logs import read_text, rules
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.deeds import destroys, only_looks
from gpuwhy.model.precedent import Alike, Precedent
from gpuwhy.model.report import Shown
from gpuwhy.reason.first_two import ordered
from gpuwhy.reason.precedents import with_their_cure
from gpuwhy.shell.gate import fitting
from gpuwhy.shell.place import Place

OWN, LATER = Fix("Search the right folder", "export A=1"), Fix("Or the other", "export B=1")


@pytest.mark.parametrize(
    "command",
    [
        "pip uninstall -y opencv-python",
        "sudo rm /usr/lib/libcuda.so.1",
        "sudo apt purge '*nvidia*' && sudo apt install nvidia-driver-550",
        "sudo apt-get update && sudo apt-get install -y nvidia-driver-535",
        "sudo ubuntu-drivers install",
        "rmdir /s venv",
        "conda env remove -n tf",
        "pip install --force-reinstall torch",
        "kubectl delete pod x",
        "taskkill /PID 12 /F",
        "wsl --unregister Ubuntu",
    ],
)
def test_what_takes_away(command: str) -> None:
    assert destroys("Do it", command)


@pytest.mark.parametrize(
    "command",
    [
        "export A=1",
        "pip install torch",
        "docker run --rm --gpus all IMAGE",
        "sudo nvidia-ctk runtime configure",
        "cmake -B build",
        "sudo apt install nvidia-container-toolkit",
    ],
)
def test_what_takes_nothing_away(command: str) -> None:
    assert not destroys("Do it", command)
    assert destroys("Uninstall the other copy", command)


def test_what_only_looks() -> None:
    for command in (
        "nvidia-smi",
        "sudo dmesg | grep -i xid",
        "ls /dev/nvidia* && id",
        "ldconfig -p | grep cuda 2>/dev/null",
    ):
        assert only_looks(command), command
    for command in (
        "",
        "echo 1 | sudo tee /sys/x",
        "echo x >> ~/.bashrc",
        "ls && rm x",
        "find / -name x -delete",
        "export A=1",
    ):
        assert not only_looks(command), command


def test_another_cause_is_never_first() -> None:
    other = Fix("If the build is for the CPU: build anew", "cmake -B build", of="framework.cpu_only")
    assert ordered((other, OWN, LATER)) == (OWN, other, LATER)


def test_another_cause_that_takes_away_is_second_only_under_its_condition() -> None:
    plain = Fix("Or, as for others who saw this: build anew", "pip uninstall -y x", of="framework.cpu_only")
    assert ordered((plain, OWN, LATER)) == (OWN, LATER, plain)
    said = structs.replace(plain, text="Only if the installed framework is a CPU-only build: build anew")
    assert ordered((said, OWN, LATER)) == (OWN, said, LATER)


def test_what_does_goes_before_what_looks() -> None:
    look = Fix("Take the folder out of the image", "ldconfig -p | grep libcuda")
    assert ordered((look, OWN)) == (OWN, look)
    then = Fix("Then", "export A=1")
    assert ordered((look, then)) == (look, then)
    short, says = (
        Fix("Read the table", "nvidia-smi"),
        Fix("End the program that holds the memory, which the table names by number", "nvidia-smi"),
    )
    assert ordered((OWN, short, LATER)) == (OWN, LATER, short)
    assert ordered((OWN, says, LATER)) == (OWN, says, LATER)
    assert ordered((says, short, LATER)) == (says, LATER, short)


def test_a_step_is_never_without_its_first_and_one_that_looks_waits() -> None:
    then = Fix("Then", "free -g")
    assert ordered((OWN, then, LATER)) == (OWN, LATER, then)
    assert ordered((OWN, then)) == (OWN, then)


def test_at_a_place_a_step_goes_with_its_first() -> None:
    place = Place("linux", rights="none")
    ask = Fix("Give it more memory", on.linux("sudo swapon /swapfile"), root=True)
    steps = (ask, Fix("Then start it again", "python train.py"), OWN)
    assert [fix.command for fix in fitting(steps, place)] == [OWN.command, ask.command, "python train.py"]
    docker = (
        Fix("Start it with the GPU", "docker run --gpus all IMAGE"),
        Fix("Compose: the same there", on.code("runtime: nvidia")),
    )
    assert fitting((*docker, OWN), Place("linux", container=True, launcher="kubernetes")) == (OWN,)


def _their_cure(cure: Fix, first: float, second: float, *steps: Fix) -> tuple[Fix, ...]:
    row = Precedent(says=("something odd",), cause="framework.cpu_only", do="")
    known = structs.replace(rules(), alike=lambda _: (Alike(row, {}, 13),), cured=lambda *_: (cure,))
    shown = (
        Shown("cuda.mixed_libraries", "t", first, "", (), (), (OWN, *steps, LATER), True),
        Shown("framework.cpu_only", "u", second, "", (), (), (), True),
    )
    return with_their_cure(known, shown, read_text("something odd"), None)[0].fixes


def test_the_cure_of_a_precedent_with_another_cause_is_second_and_near() -> None:
    cure = Fix("Build it", "cmake -B build")
    for first in (0.3, 0.45, 0.6, 0.85):
        fixes = _their_cure(cure, first, 0.8 * first)
        assert fixes[0] == OWN
        assert fixes[1].of == "framework.cpu_only"
        assert _their_cure(cure, first, 0.2 * first) == (OWN, LATER)


def test_the_cure_of_a_precedent_that_takes_away_says_its_condition() -> None:
    fixes = _their_cure(Fix("Build it", "pip uninstall -y opencv-python"), 0.4, 0.3)
    assert fixes[1].text.startswith("Only if ")
    assert ordered(fixes)[0] == OWN


def test_what_reads_alike_is_told_once() -> None:
    assert ordered((OWN, Fix(OWN.text.lower(), OWN.command), LATER)) == (OWN, LATER)


def test_the_cure_of_a_precedent_parts_no_steps() -> None:
    then = Fix("Then start it again", "python x.py")
    fixes = _their_cure(Fix("Build it", "cmake -B build"), 0.4, 0.3, then)
    assert fixes[:2] == (OWN, then)
    assert fixes[2].of == "framework.cpu_only"

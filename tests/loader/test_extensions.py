"""Extensions built on torch: which release of it their metadata asks for, once a symbol is missing."""

from __future__ import annotations

from typing import Any

import pytest

from gpuwhy.formats.elf import Elf
from gpuwhy.host.base import Entry, Host, Stat
from gpuwhy.observe.loader_v0.extensions import extensions
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Distribution, Facts, Framework, Target

HERE = Source("call", "test")
SITE = "/venv/site"


class Fake(Host):
    """One torchvision with one library beside one torch."""

    def __init__(self, metadata: Fact[tuple[str, ...]], lacking: tuple[str, ...] = ("_ZN3c10aE",)) -> None:
        self.metadata, self.lacking, self.asked = metadata, lacking, []

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        self.asked.append((op, args[0]))
        if op == "lines":
            return self.metadata if args[0].endswith("METADATA") else Known(("torchvision/_C.so,sha256=x,9",), HERE)
        if op == "elf":
            return Known(Elf(64, "x86_64", 3, ("libtorch_cpu.so",), "", "", "", "", 0, 9), HERE)
        if op == "unmet":
            return Known(self.lacking, HERE)
        return Known(Stat("file", 9, "-rw-r--r--", 0.0, True), HERE) if op == "stat" else Absent(HERE)


def machine() -> Facts:
    unknown = Unknown("not needed")
    torch = Framework("torch", "PyTorch", "torch", "2.5.1", f"{SITE}/torch", *([unknown] * 6))
    package = Distribution("torchvision", "0.17.0", f"{SITE}/torchvision-0.17.0.dist-info", unknown)
    return Facts(target=Target(frameworks=Known((torch,), HERE), distributions=Known((package,), HERE)))


@pytest.mark.parametrize(
    "line, wants",
    [
        ("Requires-Dist: torch (==2.2.0)", "==2.2.0"),
        ("Requires-Dist: torch==2.2.0 ; extra == 'x'", "==2.2.0"),
        ("Requires-Dist: torch>=2.1,<2.3", ">=2.1,<2.3"),
        ("Requires-Dist: torch", ""),
        ("Requires-Dist: torchvision==0.1", ""),
    ],
)
def test_the_torch_that_metadata_asks_for(line, wants):
    (one,) = extensions(Fake(Known((line,), HERE)), machine()).need() or ()
    assert (one.count, one.symbols) == (1, ("_ZN3c10aE",))
    assert value_or(one.wants, "") == wants


def test_metadata_that_cannot_be_read_stays_unknown():
    (one,) = extensions(Fake(Unknown("permission denied")), machine()).need() or ()
    assert isinstance(one.wants, Unknown)


def test_a_sound_package_costs_no_further_question():
    host = Fake(Known((), HERE), lacking=())
    (one,) = extensions(host, machine()).need() or ()
    assert one.count == 0
    assert not any(str(path).endswith("METADATA") for _, path in host.asked)


def test_libraries_for_the_stable_interface_are_looked_at_too():
    class Stable(Fake):
        def ask(self, op: str, *args: Any) -> Fact[Any]:
            if op == "unmet":
                return Known(() if args[1].startswith("_Z") else ("aoti_torch_abi_version",), HERE)
            return super().ask(op, *args)

    (one,) = extensions(Stable(Known((), HERE)), machine()).need() or ()
    assert (one.count, one.symbols) == (1, ("aoti_torch_abi_version",))


class Left(Fake):
    """The same torchvision beside a torchaudio whose metadata is gone."""

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        if op == "list":
            inside = {SITE: "torchaudio", f"{SITE}/torchaudio/lib": "libtorchaudio.so"}.get(args[0])
            return Known((Entry(inside, "folder"),), HERE) if inside else Absent(HERE)
        if op == "lines" and args[0].endswith("version.py"):
            return Known(("__version__ = '2.5.1+cu124'",), HERE)
        return super().ask(op, *args)


def test_what_an_interrupted_removal_left_is_imported_all_the_same():
    found = extensions(Left(Absent(HERE)), machine()).need() or ()
    assert [(one.distribution, one.version) for one in found] == [
        ("torchvision", "0.17.0"),
        ("torchaudio", "2.5.1+cu124"),
    ]
    assert found[1].path == f"{SITE}/torchaudio/lib/libtorchaudio.so"

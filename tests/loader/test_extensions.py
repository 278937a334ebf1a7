"""Extensions built on torch: which release of it their metadata asks for, once a symbol is missing."""

from typing import Any

import pytest

from gpuwhy.formats.elf import Elf
from gpuwhy.machine.machine import Machine, Stat
from gpuwhy.loader.symbols import extensions
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.environment import Environment, Files, Package
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Frameworks

HERE = Source("call", "test")
SITE = "/venv/site"


class Fake(Machine):
    """One torchvision with one library beside one torch."""

    def __init__(self, lacking: tuple[str, ...] = ("_ZN3c10aE",)) -> None:
        self.lacking = lacking

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        if op == "elf":
            return Known(Elf(64, "x86_64", 3, ("libtorch_cpu.so",), "", "", "", "", 0, 9), HERE)
        if op == "unmet":
            of_torch = args[1].startswith("_Z")
            return Known(tuple(one for one in self.lacking if one.startswith("_Z") == of_torch), HERE)
        return Known(Stat("file", 9, "-rw-r--r--", 0.0, True), HERE) if op == "stat" else Absent(HERE)


def facts_with(requires: Fact[tuple[str, ...]]) -> Facts:
    unknown = Unknown("not needed")
    torch = Framework("torch", "PyTorch", "torch", "2.5.1", f"{SITE}/torch", *([unknown] * 6))
    place, files = f"{SITE}/torchvision-0.17.0.dist-info", Files("torchvision/_C.so,sha256=x,9\n", "all")
    package = Package("torchvision", "0.17.0", place, SITE, files, requires)
    packages = Environment(packages=Known((package,), HERE))
    return Facts(environment=packages, frameworks=Frameworks(installed=Known((torch,), HERE)))


NOTHING: Fact[tuple[str, ...]] = Known((), HERE)


@pytest.mark.parametrize(
    "line, wants",
    [
        ("torch (==2.2.0)", "==2.2.0"),
        ("torch==2.2.0 ; extra == 'x'", "==2.2.0"),
        ("torch>=2.1,<2.3", ">=2.1,<2.3"),
        ("torch", ""),
        ("torchvision==0.1", ""),
    ],
)
def test_the_torch_that_metadata_asks_for(line, wants):
    (one,) = extensions(Fake(), facts_with(Known((line,), HERE))).need() or ()
    assert (one.count, one.symbols) == (1, ("_ZN3c10aE",))
    assert value_or(one.wants, "") == wants


def test_what_cannot_be_read_stays_unknown_and_what_is_sound_lacks_nothing():
    (unread,) = extensions(Fake(), facts_with(Unknown("permission denied"))).need() or ()
    (sound,) = extensions(Fake(lacking=()), facts_with(NOTHING)).need() or ()
    assert (isinstance(unread.wants, Unknown), sound.count) == (True, 0)


def test_libraries_for_the_stable_interface_are_looked_at_too():
    (one,) = extensions(Fake(("aoti_torch_abi_version",)), facts_with(NOTHING)).need() or ()
    assert (one.count, one.symbols) == (1, ("aoti_torch_abi_version",))

"""The one walk: what metadata and RECORDs say, damaged and hostile ones among them."""

import pytest

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Absent, Known
from gpuwhy.look.look import Options, look
from tests.look.world import SITE, World


def packages(world: World) -> dict[str, Package]:
    found = world.look("environment").environment.packages
    assert isinstance(found, Known)
    return {one.name: one for one in found.value}


def test_what_a_package_is(world: World) -> None:
    folder = world.install("Torch_Thing", "2.0", {"torch_thing/__init__.py": "x"}, ["numpy>=1"])
    world.file(f"{folder}/WHEEL", "Wheel-Version: 1.0\nTag: cp312-cp312-linux_x86_64\n")
    one = packages(world)["torch-thing"]
    assert (one.version, one.location, one.site) == ("2.0", folder, SITE)
    assert one.requires.need() == ("numpy>=1",)
    assert one.installer == "pip"
    assert one.files.known == "all"
    assert one.files.find("torch_thing/__init__.py")
    assert list(one.files.modules(1)) == ["torch_thing/__init__.py"]


def test_each_file_is_read_once(world: World) -> None:
    for name in ("torch", "numpy", "triton"):
        world.install(name, "1.0", {f"{name}/__init__.py": "x"})
    machine = world.machine()
    look(machine, Options(), ("environment", "frameworks", "installs"))
    gathered = [one for one in machine.asked if one[0] == "gather"]
    assert [one[1] for one in gathered] == [SITE]
    read = [one for one in machine.asked if one[0] in ("read", "lines")]
    assert not [one for one in read if one[1].endswith(("/METADATA", "/RECORD", "/WHEEL"))]


@pytest.mark.parametrize("content", [b"", None, "link"])
def test_damaged_metadata(world: World, content: bytes | str | None) -> None:
    folder = world.install("torch", "2.0")
    place = world.root / f"{folder}/METADATA"[1:]
    place.unlink()
    if content == "link":
        world.link(f"{folder}/METADATA", "/nowhere")
    elif isinstance(content, bytes):
        place.write_bytes(content)
    one = packages(world)["torch"]
    assert one.version == "2.0"
    assert content is not None or isinstance(one.requires, Absent)


def test_eggs_and_what_is_no_package(world: World) -> None:
    world.file(f"{SITE}/old-1.2-py3.8.egg-info/PKG-INFO", "Name: old\nVersion: 1.2\n")
    world.file(f"{SITE}/single-0.1.egg-info", "Name: single\nVersion: 0.1\n")
    world.file(f"{SITE}/~orch-2.0.dist-info/METADATA", "Name: torch\nVersion: 2.0\n")
    world.file(f"{SITE}/nonsense.dist-info/METADATA", "no fields at all")
    world.file(f"{SITE}/odd.dist-info/METADATA", "Name: odd-one\nVersion: 3\n")
    found = packages(world)
    versions = {name: one.version for name, one in found.items()}
    assert versions == {"old": "1.2", "single": "0.1", "odd-one": "3"}
    assert not found["single"].recorded

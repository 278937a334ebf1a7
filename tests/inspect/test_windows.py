"""Windows libraries, programs, wheels and environments: anywhere, and below a Windows disk."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpuwhy.answer.contract import as_json
from gpuwhy.answer.terminal import Paper, write
from gpuwhy.inspect.document import document
from gpuwhy.inspect.inspected import Inspected, values
from tests.formats.made_pe import pe
from tests.inspect.worlds import UnreadableError, inspected, machine_of, wheel
from tests.windows import trees

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "inspect.schema.json").read_text("utf-8"))
SITE = "C:/Python38/Lib/site-packages"


def valid(found: Inspected) -> dict[str, Any]:
    """The inspection as JSON, by the published schema."""
    told: dict[str, Any] = json.loads(as_json(values(found)))
    jsonschema.validate(told, SCHEMA)
    return told


def here(path: Path) -> Inspected:
    """On this machine, which is no Windows."""
    return inspected(machine_of({}), path)


@pytest.fixture
def disk(tmp_path):
    disk = trees.windows(tmp_path)
    trees.python(disk)
    return disk


def below(disk: trees.Disk, path: str, **environ: str) -> Inspected:
    """Below a Windows disk, with some variables."""
    found = inspected(machine_of(environ, str(disk.folder)), path)
    valid(found)
    return found


def text(found: Inspected) -> str:
    return write(document(found), Paper(200))


def names(found: Inspected) -> list[tuple[str, str]]:
    return [(one.path, one.via) for one in found.tree.libraries]


def test_elsewhere_the_tables_are_told_and_no_search_is_made_up(tmp_path):
    file = tmp_path / "x.dll"
    needs = {"cudart64_12.dll": ["a"], "api-ms-win-crt-a.dll": ["b"]}
    file.write_bytes(pe(needs, delayed=["nvcuda.dll"]))
    found = here(file)
    assert (found.kind, found.searched, found.sound) == ("library", False, True)
    assert found.needed == tuple(needs)
    assert found.header is not None
    assert found.header.delayed == ("nvcuda.dll",)
    assert found.tree.libraries == found.tree.missing == ()
    assert "--root for a Windows disk" in text(found)
    assert text(found).startswith("? ")
    told = valid(found)
    assert (told["searched"], told["delayed"], told["bits"]) == (False, ["nvcuda.dll"], 64)


@pytest.mark.parametrize("data", [b"", b"hello", b"MZ" + bytes(80), pe()[:200]])
def test_what_is_no_library_is_said_in_one_line(tmp_path, data):
    (tmp_path / "x.dll").write_bytes(data)
    with pytest.raises(UnreadableError, match=r"x\.dll: (empty file|not PE|DOS|.*past the end)"):
        here(tmp_path / "x.dll")


def test_an_extension_gets_what_its_python_searches(disk):
    """Its own folder, the program's, System32; PATH does not count since Python 3.8."""
    needs = ("python38.dll", "gwa.dll", "msvcp140.dll", "gwb.dll")
    disk.put(f"{SITE}/x/_x.pyd", pe({name: ["a"] for name in needs}))
    disk.put(f"{SITE}/x/gwa.dll", pe())
    disk.put("C:/one/gwb.dll", pe())
    found = below(disk, f"{SITE}/x/_x.pyd", PATH="C:\\one")
    assert names(found) == [
        ("C:/Python38/python38.dll", "folder of the program"),
        (f"{SITE}/x/gwa.dll", "folder of the library"),
        ("C:/Windows/System32/msvcp140.dll", "System32"),
    ]
    assert [one.name for one in found.tree.missing] == ["gwb.dll"]
    assert "C:/one" not in {one.where.rpartition("/")[0] for one in found.tree.missing[0].searched}
    assert not found.sound
    assert "✗ gwb.dll not found, needed by" in text(found)


def test_without_path_nothing_that_could_lie_there_is_called_missing(disk):
    disk.put("C:/app/run.exe", pe({"gwa.dll": ["a"]}, dll=False))
    found = below(disk, "C:/app/run.exe")
    assert (found.tree.missing, found.tree.unsure, found.sound) == ((), ("gwa.dll",), True)
    assert "gwa.dll could be on PATH alone, which is not known" in text(found)


def test_an_environment_gives_the_tree_of_its_framework(disk):
    trees.tensorflow(disk, SITE)
    folder = trees.toolkit(disk, "10.1", trees.CUDA_10_1)
    for path in ("C:/Python38", SITE):
        found = below(disk, path, PATH=folder)
        assert found.kind == "environment"
        assert (f"{folder}/cublas64_10.dll", "PATH") in names(found)
        assert [one.name for one in found.tree.missing] == ["cudnn64_7.dll"]


def test_a_wheel_for_windows(tmp_path):
    needs = {
        "demo/_demo.pyd": ("python38.dll", "DEMO.dll", "cublas64_10.dll", "nvcuda.dll"),
        "demo/demo.dll": ("KERNEL32.dll", "MSVCP140.dll", "api-ms-win-x.dll"),
    }
    members = {file: pe({name: ["a"] for name in names}) for file, names in needs.items()}
    file = wheel(tmp_path / "demo-1.2-cp38-cp38-win_amd64.whl", members)
    found = here(file)
    assert found.bundle is not None
    assert [part.name for part in found.bundle.parts] == list(members)
    assert [(one.name, one.kind) for one in found.bundle.asks] == [
        ("nvcuda.dll", "driver"),
        ("cublas64_10.dll", "cuda"),
        ("python38.dll", "framework"),
        ("MSVCP140.dll", "system"),
    ]
    valid(found)


def test_a_damaged_library_in_a_wheel_is_named(tmp_path):
    members = {"demo/x.dll": b"MZ", "demo/y.dll": pe()}
    found = here(wheel(tmp_path / "demo-1.2-cp38-cp38-win_amd64.whl", members))
    assert found.bundle is not None
    assert [part.name for part in found.bundle.parts] == ["demo/y.dll"]
    assert found.bundle.problems[0].startswith("demo/x.dll: DOS header cut short")
    assert not found.sound

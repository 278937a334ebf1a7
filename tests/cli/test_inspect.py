"""`gpuwhy inspect` from outside: exit codes, one-line errors, the contract, and paths a program can open."""

import json
import os
import sys
import tarfile
from shutil import copy
from pathlib import Path

import jsonschema
import pytest

from gpuwhy.cli.inspect import is_image
from tests import started
from tests.formats.made import elf
from tests.inspect.worlds import wheel

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "inspect.schema.json").read_text(encoding="utf-8"))
PROMISED = {"schema", "path", "needed", "libraries", "missing", "gpu"}
@pytest.fixture
def home(tmp_path) -> Path:
    """A home folder with a library, one that needs another, a wheel and an environment."""
    home = tmp_path / "zaphod"
    home.mkdir()
    (home / "libgood.so").write_bytes(elf((), "libgood.so"))
    (home / "libbad.so").write_bytes(elf(("libgood.so", "libnowhere.so.7"), "", "$ORIGIN"))
    wheel(home / "demo-1.2-py3-none-any.whl", {"demo/liba.so": elf(("libcuda.so.1",))})
    site = home / "venv" / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (home / "venv" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    (home / "venv" / "bin").mkdir()
    (home / "venv" / "bin" / "python").symlink_to(sys.executable)
    return home


def run(home: Path, *argv: str):
    environ = {**os.environ, "HOME": str(home), "USER": "zaphod", "LD_LIBRARY_PATH": ""}
    return started.gpuwhy(["inspect", *argv], env=environ, text=False)


@pytest.mark.parametrize(
    "name, code", [("libgood.so", 0), ("libbad.so", 1), ("demo-1.2-py3-none-any.whl", 0), ("venv", 0)]
)
def test_json_fits_the_schema_and_the_exit_code_tells(home, name, code):
    done = run(home, str(home / name), "--json")
    found = json.loads(done.stdout)
    assert [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(found)] == []
    assert set(found) >= PROMISED
    assert done.returncode == code, done.stdout
    assert found["path"] == f"~/{name}"


def test_the_terminal_says_it_first_and_what_is_passed_on_hides_the_home(home):
    done = run(home, str(home / "libbad.so"))
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 1
    assert text.startswith("✗ /")
    assert "libbad.so, a shared library: libnowhere.so.7 not found" in text
    shared = run(home, str(home / "libbad.so"), "--markdown").stdout.decode()
    assert "zaphod" not in shared
    assert "libgood.so" in shared


def test_variables_can_be_given(home, tmp_path):
    (tmp_path / "libnowhere.so.7").write_bytes(elf((), "libnowhere.so.7"))
    done = run(home, str(home / "libbad.so"), "--json", "--env", f"LD_LIBRARY_PATH={tmp_path}")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["libraries"][1]["via"] == "LD_LIBRARY_PATH"
    assert found["variables"] == {"LD_LIBRARY_PATH": str(tmp_path)}


def test_a_relative_path_and_another_root(home, monkeypatch):
    monkeypatch.chdir(home)
    assert json.loads(run(home, "libgood.so", "--json").stdout)["path"] == "~/libgood.so"
    found = json.loads(run(home, "libbad.so", "--root", str(home), "--json").stdout)
    assert found["path"] == "/libbad.so"
    assert found["libraries"][0]["path"] == "/libgood.so"


@pytest.mark.parametrize(
    "make, argv, said",
    [
        (None, ["/nowhere.so"], "/nowhere.so: no such file or folder"),
        (b"", [], "empty file at offset 0"),
        (elf(("libc.so.6",))[:30], [], "cut short"),
        (b"#!/bin/sh\n", [], "a script for /bin/sh, not a program"),
        (b"hello", [], "not ELF at offset 0"),
        (elf(("libc.so.6",), padding=9000)[:4000], [], "it ends at offset 4000"),
        (None, ["/bin/sh", "--env", "NOVALUE"], "--env NOVALUE: not NAME=VALUE"),
        (None, ["/bin/sh", "--root", "/nowhere"], "--root /nowhere: no such file or directory"),
        (None, ["/dev/zero"], "not a regular file but a device"),
        (None, ["/proc/kmsg"], "empty file"),
        (None, ["pipe"], "not a regular file but a pipe"),
        (None, ["no.whl"], "no.whl: not a zip archive at offset 0"),
        (None, ["empty"], "empty: no Python environment; name a file in it"),
    ],
)
def test_bad_input_is_2_and_one_clear_line(home, make, argv, said, monkeypatch):
    """Issue 47.1 too: a pipe, a device and a file of the kernel are never opened."""
    monkeypatch.chdir(home)
    os.mkfifo("pipe")
    (home / "empty").mkdir()
    (home / "no.whl").write_bytes(b"not a zip")
    if make is not None:
        (home / "x.so").write_bytes(make)
        argv = ["x.so"]
    done = run(home, *argv)
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert said in text
    assert len(text.splitlines()) == 1
    assert done.stdout == b""


def test_what_a_program_opens_by_name_is_told(tmp_path):
    """The name is in its bytes, not among what it needs."""
    prog = tmp_path / "prog"
    copy("/bin/true", prog)
    with prog.open("ab") as file:
        file.write(b"\0libcudart.so.10.0\0libcudnn.so.%d\0libcudnn.so.7\0")
    done = started.gpuwhy(["inspect", str(prog), "--json"])
    said = json.loads(done.stdout)
    assert said["opens"] == [{"name": "libcudart.so.10.0", "path": ""}, {"name": "libcudnn.so.7", "path": ""}]
    jsonschema.validate(said, SCHEMA)
    assert done.returncode == 0, "what it needs is there"


def test_an_archive_and_an_oci_layout_are_images(tmp_path: Path) -> None:
    saved, layout, library = tmp_path / "image.tar", tmp_path / "layout", tmp_path / "libcudart.so.12"
    with tarfile.open(saved, "w") as archive:
        archive.addfile(tarfile.TarInfo("manifest.json"))
    layout.mkdir()
    (layout / "oci-layout").write_text("{}")
    library.write_bytes(b"\x7fELF" + bytes(200))
    assert is_image(str(saved))
    assert is_image(str(layout))
    assert not is_image(str(library))
    assert not is_image(str(tmp_path))
    assert not is_image("")

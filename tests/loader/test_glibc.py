"""glibc is the judge: over every combination of tags, variables and copies, we predict the file it loads."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess

import pytest

from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.loader.glibc import World
from gpuwhy.loader.process import Process

from .worlds import ask_glibc, build, needs_gcc

KINDS = ("none", "rpath", "runpath")
COPIES = ("P", "A", "E")

pytestmark = needs_gcc


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    build(folder)
    return folder


def predict(program, library_path, way):
    """What gpuwhy says is loaded as libb.so."""
    host = RecordingMachine(LiveMachine({"HOME": "/nowhere"}))
    process = Process(World(host, "x86_64", library_path))
    process.start(str(program))
    if way == "opens":
        process.dlopen("libb.so", process.get("liba.so"))
    found = process.get("libb.so")
    return os.path.realpath(found.path) if found else "none"


def real(path):
    return path if path == "none" else os.path.realpath(path)


@pytest.mark.parametrize("way", ["needs", "opens"])
@pytest.mark.parametrize("prog", KINDS)
@pytest.mark.parametrize("liba", KINDS)
def test_rpath_env_runpath_order(parts, tmp_path, way, prog, liba):
    """RPATH before LD_LIBRARY_PATH before RUNPATH; RPATH is inherited, RUNPATH is not; RUNPATH switches RPATH off."""
    shutil.copy(parts / f"prog-{prog}", tmp_path / "prog")
    shutil.copy(parts / f"liba-{way}-{liba}.so", tmp_path / "liba.so")
    os.makedirs(tmp_path / "P")
    shutil.copy(tmp_path / "liba.so", tmp_path / "P" / "liba.so")  # prog finds liba through its own tag or the variable
    os.makedirs(tmp_path / "P" / "A")
    os.makedirs(tmp_path / "E")
    wrong = []
    places = {"P": tmp_path / "P", "A": tmp_path / "P" / "A", "E": tmp_path / "E"}
    for count in range(4):
        for copies in itertools.combinations(COPIES, count):
            for name, folder in places.items():
                (folder / "libb.so").unlink(missing_ok=True)
                if name in copies:
                    shutil.copy(parts / "libb.so", folder / "libb.so")
            for variable in ("", f"{tmp_path}/E"):
                # liba itself must be found in every world
                library_path = f"{variable}:{tmp_path}/P/../P" if prog == "none" and variable else variable
                if prog == "none" and not variable:
                    library_path = f"{tmp_path}/P"
                environ = {"LD_LIBRARY_PATH": library_path} if library_path else {}
                said = real(ask_glibc(tmp_path / "prog", environ))
                mine = predict(tmp_path / "prog", library_path, way)
                if said != mine:
                    wrong.append((copies, library_path, said, mine))
    assert wrong == []


BAD = {
    "folder": lambda p: p.mkdir(),
    "empty": lambda p: p.write_bytes(b""),
    "text": lambda p: p.write_text("INPUT ( -lb )\n"),
    "cut header": lambda p: p.write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 9),
    "dangling": lambda p: p.symlink_to("nowhere.so"),
    "wrong machine": lambda p: p.write_bytes(_patched(18, b"\xb7\x00")),
    "32 bit": lambda p: p.write_bytes(_patched(4, b"\x01")),
    "missing": lambda p: None,
}
_LIBB: list[bytes] = []


def _patched(offset, data):
    raw = bytearray(_LIBB[0])
    raw[offset : offset + len(data)] = data
    return bytes(raw)


@pytest.mark.parametrize("what", list(BAD))
def test_bad_file_in_an_earlier_folder(parts, tmp_path, what):
    """A file for another machine or a dangling link is skipped; a folder, empty or text file stops the search."""
    _LIBB[:] = [(parts / "libb.so").read_bytes()]
    shutil.copy(parts / "prog-rpath", tmp_path / "prog")
    os.makedirs(tmp_path / "P")
    shutil.copy(parts / "liba-opens-none.so", tmp_path / "P" / "liba.so")
    for name in ("first", "second"):
        os.makedirs(tmp_path / name)
    shutil.copy(parts / "libb.so", tmp_path / "second" / "libb.so")
    BAD[what](tmp_path / "first" / "libb.so")
    library_path = f"{tmp_path}/first:{tmp_path}/second"
    said = real(ask_glibc(tmp_path / "prog", {"LD_LIBRARY_PATH": library_path}))
    assert predict(tmp_path / "prog", library_path, "opens") == said


@pytest.mark.parametrize(
    "variable",
    ["{w}/E:", ":{w}/E", "{w}/E;{w}/X", "{w}//E/", "{w}/X:{w}/E:{w}/E", "$ORIGIN/E", "${{ORIGIN}}/P/../E", "E"],
)
def test_spellings_of_the_variable(parts, tmp_path, variable):
    """Empty elements, semicolons, doubled slashes, $ORIGIN (the asker's folder) and relative folders."""
    shutil.copy(parts / "prog-rpath", tmp_path / "prog")
    os.makedirs(tmp_path / "P")
    os.makedirs(tmp_path / "E")
    shutil.copy(parts / "liba-opens-none.so", tmp_path / "P" / "liba.so")
    shutil.copy(parts / "libb.so", tmp_path / "E" / "libb.so")
    library_path = variable.format(w=tmp_path)
    said = real(ask_glibc(tmp_path / "prog", {"LD_LIBRARY_PATH": library_path}))
    assert predict(tmp_path / "prog", library_path, "opens") == said


def test_the_python_we_run_in():
    """Every object of a real program: the same files that LD_DEBUG shows."""
    import sys

    program = os.path.realpath(sys.executable)
    said = subprocess.run(
        [program, "-I", "-S", "-c", "import ssl, ctypes, lzma"],
        env={**os.environ, "LD_DEBUG": "files"},
        capture_output=True,
        text=True,
    )
    shown = {
        os.path.realpath(line.split("calling init: ")[1])
        for line in said.stderr.splitlines()
        if "calling init: " in line
    }
    live = LiveMachine()
    process = Process(World(RecordingMachine(live), os.uname().machine, os.environ.get("LD_LIBRARY_PATH", "")))
    main = process.start(program)
    extensions = [p for p in shown if "lib-dynload" in p]
    for path in extensions:
        process.dlopen(path, main)
    mine = {os.path.realpath(one.path) for one in process.loaded} - {program}
    assert mine == shown
    assert process.missing == []

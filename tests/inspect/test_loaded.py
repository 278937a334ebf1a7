"""`inspect --probe`: the system's own loader as the judge, and what it must never run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.inspect.inspected import Inspected, Probed
from gpuwhy.machine.children import loaded as child
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import read_recording, recorded_machine

from .worlds import elf, inspected, machine_of, wheel

GLIBC = Path("/lib64/ld-linux-x86-64.so.2").exists() and os.uname().machine == "x86_64"
needs_glibc = pytest.mark.skipif(not GLIBC, reason="glibc on x86-64 is the judge")
needs_gcc = pytest.mark.skipif(
    not shutil.which("gcc") or not GLIBC, reason="no gcc, or another loader"
)


def host_of(**variables: str) -> Machine:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    return machine_of({**environ, **variables})


def asked(path: object, **variables: str) -> Inspected:
    return inspected(host_of(**variables), path, "/", probe=True)


def probe_of(path: object, **variables: str) -> Probed:
    found = asked(path, **variables).probe
    assert found is not None
    return found


class Answering(Machine):
    """A machine whose loader answers what a test says."""

    def __init__(self, *lines: dict[str, Any]) -> None:
        self.inner, self.lines = host_of(), lines

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        return (
            Known(self.lines, Source("call", "loaded"))
            if op == "call"
            else self.inner.ask(op, *args)
        )


def gcc(folder: Path, name: str, *options: str, code: str = "int main(void) { return 0; }") -> Path:
    (folder / "x.c").write_text(code)
    subprocess.run(
        ["gcc", "-o", str(folder / name), str(folder / "x.c"), *options], check=True, cwd=folder
    )
    return folder / name


def library(folder: Path, name: str) -> Path:
    return gcc(folder, name, "-shared", "-fPIC", code="int f(void) { return 1; }")


@needs_glibc
@pytest.mark.parametrize(
    "path", ["/bin/sh", "/usr/bin/env", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"]
)
def test_system_files_are_as_predicted(path):
    if not Path(path).exists():
        pytest.skip("not here")
    found = asked(path)
    assert found.probe is not None
    assert found.probe.differences == ()
    assert found.probe.skipped == ""
    assert len(found.probe.libraries) == len(found.tree.libraries) or path.endswith("libc.so.6")


@needs_gcc
def test_a_library_that_is_missing_for_both(tmp_path):
    library(tmp_path, "libaa.so")
    library(tmp_path, "libbb.so")
    app = gcc(tmp_path, "app", "-Wl,--no-as-needed", "-L.", "-laa", "-lbb", "-Wl,-rpath,$ORIGIN")
    os.remove(tmp_path / "libbb.so")
    found = probe_of(app)
    assert found.differences == ()
    assert {one.name: one.path for one in found.libraries}["libbb.so"] is None
    assert {one.name: one.path for one in found.libraries}["libaa.so"] == str(tmp_path / "libaa.so")


@needs_gcc
def test_what_only_mapping_shows(tmp_path):
    """A library cut off in its middle: its headers read well, the loader dies."""
    made = library(tmp_path, "libaa.so")
    app = gcc(tmp_path, "app", "-Wl,--no-as-needed", "-L.", "-laa", "-Wl,-rpath,$ORIGIN")
    data = made.read_bytes()
    os.remove(made)
    made.write_bytes(data[:9000])
    found = asked(app)
    assert found.probe is not None
    assert found.probe.differences == ("the loader says: died by signal 7 (SIGBUS)",)
    assert not found.sound


@needs_gcc
def test_variables_count_for_the_loader_too(tmp_path):
    (tmp_path / "other").mkdir()
    library(tmp_path, "libaa.so")
    app = gcc(
        tmp_path,
        "app",
        "-Wl,--no-as-needed",
        "-L.",
        "-laa",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--enable-new-dtags",
    )
    library(tmp_path / "other", "libaa.so")
    found = probe_of(app, LD_LIBRARY_PATH=str(tmp_path / "other"), LD_PRELOAD="/nowhere.so")
    assert found.differences == ()
    assert str(tmp_path / "other" / "libaa.so") in {one.path for one in found.libraries}


@needs_gcc
def test_nothing_of_the_file_is_run(tmp_path):
    mark = tmp_path / "mark"
    body = f'fclose(fopen("{mark}", "w"));'
    code = f"#include <stdio.h>\n__attribute__((constructor)) void f(void) {{ {body} }}\n"
    gcc(tmp_path, "libaa.so", "-shared", "-fPIC", code=code)
    app = gcc(
        tmp_path,
        "app",
        "-Wl,--no-as-needed",
        "-L.",
        "-laa",
        "-Wl,-rpath,$ORIGIN",
        code=code + "int main() {}",
    )
    assert probe_of(app).differences == ()
    assert probe_of(tmp_path / "libaa.so").differences == ()
    steered = {
        "LD_AUDIT": str(tmp_path / "libaa.so"),
        "LD_PRELOAD": str(tmp_path / "libaa.so"),
        "LD_WARN": "yes",
    }
    assert probe_of(app, **steered).differences == ()
    assert not mark.exists()


@needs_gcc
@pytest.mark.parametrize("name", ["evil", "ld-linux-x86-64.so.2"])
def test_a_loader_of_the_files_own_is_not_run(tmp_path, name):
    mark, evil = tmp_path / "mark", tmp_path / name
    evil.write_text(f"#!/bin/sh\ntouch {mark}\n")
    evil.chmod(0o755)
    app = gcc(tmp_path, "app", f"-Wl,--dynamic-linker={evil}")
    assert probe_of(app).skipped == f"{evil} is not a loader of this system"
    assert not mark.exists()
    os.remove(evil)
    assert probe_of(app).skipped == f"{evil}: No such file or directory"


@needs_gcc
def test_what_the_loader_is_not_asked(tmp_path):
    app = gcc(tmp_path, "app")
    app.chmod(0o4755)
    assert "setuid" in probe_of(app).skipped
    other = bytearray(elf((), "libaa.so"))
    other[18:20] = (183).to_bytes(2, "little")
    (tmp_path / "libarm.so").write_bytes(other)
    assert probe_of(tmp_path / "libarm.so").skipped.startswith(
        "it is for aarch64, this machine is x86_64"
    )
    (tmp_path / "libmusl.so").write_bytes(elf(("libc.musl-x86_64.so.1",)))
    assert "musl" in probe_of(tmp_path / "libmusl.so").skipped
    made = wheel(tmp_path / "demo-1.2-py3-none-any.whl", {"demo/liba.so": elf(("libcuda.so.1",))})
    assert "a program or a shared library only" in probe_of(made).skipped


@needs_gcc
def test_a_static_program_has_no_loader(tmp_path):
    try:
        app = gcc(tmp_path, "app", "-static")
    except subprocess.CalledProcessError:
        pytest.skip("no static C library")
    assert "statically linked" in probe_of(app).skipped


@needs_glibc
@pytest.mark.parametrize(
    "change, words",
    [
        ({"libc.so.6": "/etc/passwd"}, "libc.so.6: the loader takes /etc/passwd; /"),
        ({"libc.so.6": None}, "libc.so.6: the loader does not find it; /"),
        (
            {"libnew.so.1": "/etc/passwd"},
            "libnew.so.1: the loader takes /etc/passwd; the prediction does not have it",
        ),
        (
            {"libnew.so.1": None},
            "libnew.so.1: the loader looks for it and does not find it, unlike predicted",
        ),
        ({"libc.so.6": "left out"}, "was predicted; the loader does not load it"),
    ],
)
def test_each_difference_has_its_sentence(change, words):
    real = {one.name: one.path for one in probe_of("/bin/sh").libraries}
    lines = [
        {"name": name, "path": path}
        for name, path in {**real, **change}.items()
        if path != "left out"
    ]
    found = inspected(Answering(*lines, {"code": 0, "said": ""}), "/bin/sh", probe=True)
    assert found.probe is not None
    (text,) = found.probe.differences
    assert words in text
    assert not found.sound


@needs_glibc
def test_another_order_is_a_difference():
    real = [
        {"name": one.name, "path": one.path} for one in reversed(probe_of("/usr/bin/env").libraries)
    ]
    found = inspected(Answering(*real, {"code": 0, "said": ""}), "/usr/bin/env", probe=True).probe
    assert found is not None
    assert found.differences[0].startswith("the order differs from ")


@needs_glibc
@pytest.mark.parametrize(
    "lines, said, skipped",
    [
        (({"code": None, "said": ""},), "no answer in time", ""),
        (
            ({"code": 127, "said": "sh: error while loading shared libraries: x"},),
            "sh: error while loading shared",
            "",
        ),
        (({"refused": "no"},), "", "no"),
        (({"ended": "loaded ran out of time"},), "", "loaded ran out of time"),
        ((), "", "the loader gave no answer"),
        (({"garbled": "x"}, {"name": 7}, {"name": "a", "path": 7}, {"code": "x"}), "", ""),
    ],
)
def test_a_loader_that_does_not_answer_well(lines, said, skipped):
    found = inspected(Answering(*lines), "/bin/sh", probe=True).probe
    assert found is not None
    assert found.said.startswith(said)
    assert found.skipped == skipped
    assert not said or any(said in text for text in found.differences)


@needs_glibc
def test_a_recording_replays_it():
    host: Any = host_of()
    found = inspected(host, "/bin/sh", probe=True)
    replayed = recorded_machine(read_recording(host.dump({}), "x"))
    assert inspected(replayed, "/bin/sh", probe=True) == found


def test_a_host_that_runs_nothing(tmp_path):
    (tmp_path / "liba.so").write_bytes(elf((), "liba.so"))
    found = inspected(machine_of({}, str(tmp_path)), "/liba.so", probe=True).probe
    assert found is not None
    assert "a folder cannot be asked" in found.skipped
    assert isinstance(found, Probed)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/bin/sh", "/tmp", "/nowhere/ld-linux.so.2", "/lib/../etc/ld.so.conf"]
)
def test_what_is_no_loader(path):
    assert child.refused(path)


def test_unknown_is_told_as_it_is():
    class Silent(Answering):
        def ask(self, op: str, *args: Any) -> Fact[Any]:
            return (
                Unknown("loaded: cannot be started: no memory")
                if op == "call"
                else self.inner.ask(op, *args)
            )

    found = inspected(Silent(), "/bin/sh", probe=True).probe
    assert found is not None
    assert found.skipped == "loaded: cannot be started: no memory"

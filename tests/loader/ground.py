"""Grounds on which tiny compiled worlds stand: this machine, or a root folder with a C library of its own.

A world is a program and libraries; the program dlopens what its arguments say and prints every object in it. The same
question goes to gpuwhy, and the lists must be equal.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuwhy.machine.machine import Machine
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.loader.glibc import World, glibc_version
from gpuwhy.loader.process import Process

needs_gcc = pytest.mark.skipif(
    not (shutil.which("gcc") and os.uname().machine == "x86_64"), reason="a C compiler for x86_64 builds the worlds"
)
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int show(struct dl_phdr_info *info, size_t size, void *data) { printf("%s\n", info->dlpi_name); return 0; }
void open_main(const char *name) { dlopen(name, RTLD_NOW | RTLD_GLOBAL); }
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char asks[256] = "open_", *name = strchr(argv[i], '=');
    *name++ = 0;
    if (!strcmp(argv[i], "setenv")) { setenv("LD_LIBRARY_PATH", name, 1); continue; }
    void (*open_it)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, strcat(asks, argv[i]));
    if (open_it) open_it(name);
  }
  dl_iterate_phdr(show, 0);
  return 0;
}
"""
LIBRARY = "#include <dlfcn.h>\nvoid open_%s(const char *name) { dlopen(name, RTLD_NOW | RTLD_GLOBAL); }\n"
FAILED = ["does not start"]


class Ground:
    """A folder `seen` by the programs of a world, and where it is on this machine's disk."""

    def __init__(self, tmp: Path, seen: str, disk: Path, glibc: tuple[int, int]) -> None:
        self.tmp, self.seen, self.disk, self.glibc = tmp, seen, disk, glibc
        self.links: tuple[str, ...] = ("-ldl",)
        (tmp / "stubs").mkdir(parents=True, exist_ok=True)
        disk.mkdir(parents=True, exist_ok=True)

    def host(self) -> Machine:
        """The host that sees what the programs see."""
        return RecordingMachine(LiveMachine({"HOME": "/nowhere"}))

    def command(self, program: str) -> list[str]:
        """How a program is run."""
        return [program]

    def place(self, path: str) -> Path:
        """Where a path of the world is on disk: relative ones below the world's folder."""
        return self.disk / path

    def real(self, path: str) -> str:
        """A path of the world, links resolved."""
        return os.path.realpath(path)

    def library(self, path: str, needs: tuple[str, ...] = (), soname: str | None = "", **more: object) -> Path:
        """Compile a library; its SONAME is its file's name unless one (or None) is given."""
        name = path.rpartition("/")[2]
        soname = name if soname == "" else soname
        options = ["-shared", "-fPIC", *([f"-Wl,-soname,{soname}"] if soname else [])]
        return self._compile(LIBRARY % name.removeprefix("lib").split(".")[0], path, options, needs, **more)

    def plain(self, *paths: str) -> None:
        """Compile libraries that need nothing."""
        for path in paths:
            self.library(path)

    def program(self, needs: tuple[str, ...] = (), path: str = "prog", **more: object) -> Path:
        """Compile the program."""
        return self._compile(PROGRAM, path, ["-rdynamic"], needs, **more)

    def _compile(self, source: str, path: str, options: list[str], needs, rpath="", runpath="", extra=()) -> Path:
        out = self.place(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        code = self.tmp / "code.c"
        code.write_text(source)
        if rpath or runpath:
            kind = "--disable-new-dtags" if rpath else "--enable-new-dtags"
            options = [*options, f"-Wl,-rpath,{(rpath or runpath).replace('@', self.seen)}", f"-Wl,{kind}"]
        asked = ["-Wl,--no-as-needed", *(self._stub(name) for name in needs), *extra]
        argv = ["gcc", "-w", "-o", str(out), str(code), *options, "-Wl,--allow-shlib-undefined", *asked, *self.links]
        subprocess.run(argv, check=True, capture_output=True)
        return out

    def _stub(self, name: str) -> str:
        """What the linker is shown for a library: an empty one, so that the name alone is written into NEEDED."""
        stub = self.tmp / "stubs" / name.strip("/").replace("/", "_")
        if not stub.exists():
            empty = ["gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null", f"-Wl,-soname,{name}"]
            subprocess.run([*empty, "-o", str(stub)], check=True, capture_output=True)
        return str(stub)

    def ask(self, *opens: str, folder: str = "/", program: str = "prog", **environ: str) -> list[str]:
        """What glibc has loaded in the end, links resolved; the loader and the kernel's part left out."""
        argv = [*self.command(f"{self.seen}/{program}"), *(one.replace("@", self.seen) for one in opens)]
        said = subprocess.run(argv, env=self._environ(environ), cwd=folder, capture_output=True, text=True)
        if said.returncode:
            return FAILED
        kept = (path for path in said.stdout.split() if _kept(path))
        return [self.real(f"{folder}/{path}" if path[0] != "/" else path) for path in kept]

    def predict(self, *opens: str, folder: str = "/", program: str = "prog", **environ: str) -> list[str]:
        """What gpuwhy says is loaded in the end."""
        process = self.process(folder, program, **environ)
        if process.missing:
            return FAILED
        for one in opens:
            caller, name = one.replace("@", self.seen).split("=", 1)
            asker = process.loaded[0] if caller == "main" else process.get(f"lib{caller}.so")
            if asker is not None and not process.closed(asker):
                process.dlopen(name, asker)
        kept = [one for one in process.loaded[1:] if not process.closed(one)]
        return [self.real(one.path) for one in kept if _kept(one.path)]

    def process(self, folder: str = "/", program: str = "prog", **environ: str) -> Process:
        """gpuwhy's process of a program, started."""
        given = self._environ(environ)
        path, preload = given.get("LD_LIBRARY_PATH", ""), given.get("LD_PRELOAD", "")
        more = {"folder": folder, "glibc": self.glibc, "preload": preload}
        process = Process(World(self.host(), os.uname().machine, path, **more))
        process.start(f"{self.seen}/{program}")
        return process

    def _environ(self, environ: dict[str, str]) -> dict[str, str]:
        short = {"PATH_": "LD_LIBRARY_PATH", "PRELOAD": "LD_PRELOAD"}
        return {"PATH": "/usr/bin:/bin", **{short[k]: v.replace("@", self.seen) for k, v in environ.items()}}


class RootGround(Ground):
    """The same inside a root folder, entered with chroot."""

    def __init__(self, tmp: Path, root: Path, glibc: tuple[int, int], old: bool = False) -> None:
        self.root = root
        super().__init__(tmp, f"/w/{tmp.name}", root / "w" / tmp.name, glibc)
        folder = root / "lib/x86_64-linux-gnu"
        if old:  # symbols of the root's own, older C library
            self.links = ("-nodefaultlibs", f"{folder}/libdl.so.2", f"{folder}/libc.so.6", f"{folder}/ld-2.31.so")

    def host(self) -> Machine:
        return RecordingMachine(FolderMachine(FolderSystem(str(self.root))))

    def command(self, program: str) -> list[str]:
        enter = [] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user"]
        chroot = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin") or "chroot"
        return [*enter, chroot, str(self.root), program]

    def real(self, path: str) -> str:
        found = FolderMachine(FolderSystem(str(self.root))).real(path).need()
        return found or path

    def ldconfig(self, *folders: str) -> None:
        """Write the root's cache from an ld.so.conf with these folders, by its own ldconfig or else ours."""
        write(self.root / "etc/ld.so.conf", "".join(f"{one}\n" for one in folders).replace("@", self.seen))
        tool = [shutil.which("ldconfig", path="/usr/sbin:/sbin:/usr/bin") or "ldconfig", "-r", str(self.root)]
        if (self.root / "sbin/ldconfig").exists():
            tool = self.command("/sbin/ldconfig")
        subprocess.run(tool, check=True, capture_output=True)


def _kept(path: str) -> bool:
    return bool(path) and "linux-vdso" not in path and "/ld-" not in path


def small_root(folder: Path) -> Path:
    """A root with nothing but this machine's loader and C library, and its processor's description."""
    for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"):
        copy = folder / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(path), copy)
    (folder / "usr/lib/x86_64-linux-gnu").mkdir(parents=True, exist_ok=True)
    describe_cpu(folder)
    return folder


def describe_cpu(root: Path) -> None:
    """Give a root /proc/cpuinfo: the processor is this machine's."""
    text = Path("/proc/cpuinfo").read_text()
    write(root / "proc/cpuinfo", text.split("\n\n")[0] + "\n")


def write(path: Path, text: str) -> None:
    """Write a file anew, never into one that may be hard-linked from elsewhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)


def can_enter_roots() -> bool:
    """Whether chroot is allowed here, as root or in a user namespace."""
    probe = ["true"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "true"]
    try:
        return subprocess.run(probe, capture_output=True).returncode == 0
    except OSError:
        return False


def this_glibc() -> tuple[int, int]:
    """This machine's C library."""
    return glibc_version(os.confstr("CS_GNU_LIBC_VERSION") or "")


def agree(ground: Ground, *opens: str, **environ: str) -> list[str]:
    """Both answers, equal; as paths below the world's folder."""
    said = ground.ask(*opens, **environ)
    assert ground.predict(*opens, **environ) == said
    start = f"{ground.real(ground.seen)}/"
    return [path.removeprefix(start) for path in said if path.startswith(start) or said is FAILED]

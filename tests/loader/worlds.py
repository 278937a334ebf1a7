"""Tiny compiled worlds in which glibc itself is asked what it loads.

`prog` needs `liba.so`, which needs (or dlopens) `libb.so`. Where copies of libb lie and what prog and liba carry as
DT_RPATH or DT_RUNPATH is the world; which copy is loaded is glibc's answer, printed by the program through dladdr.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_gcc = pytest.mark.skipif(
    not (shutil.which("gcc") and os.uname().machine == "x86_64"), reason="a C compiler for x86_64 builds the worlds"
)

PROG = "int a(void); int main(void) { return a(); }"
A_NEEDS = "int b(void); int a(void) { return b(); }"
A_OPENS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int a(void) { void *h = dlopen("libb.so", RTLD_NOW); int (*b)(void);
  if (!h) { printf("none\n"); return 0; }
  b = (int (*)(void))dlsym(h, "b"); return b(); }
"""
B = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int b(void) { Dl_info i; dladdr((void *)b, &i); printf("%s\n", i.dli_fname); return 0; }
"""


def gcc(source: str, out: Path, *options: str) -> None:
    """Compile one file."""
    code = out.with_suffix(".c")
    code.write_text(source)
    subprocess.run(["gcc", "-o", str(out), str(code), *options], check=True, capture_output=True)


def tag(kind: str, folder: str) -> list[str]:
    """Linker options that write a DT_RPATH or DT_RUNPATH."""
    if kind == "none":
        return []
    return [f"-Wl,-rpath,{folder}", "-Wl,--disable-new-dtags" if kind == "rpath" else "-Wl,--enable-new-dtags"]


def build(parts: Path) -> None:
    """Compile every variant once: prog-{tag}, liba-{needs,opens}-{tag}.so, libb.so.

    Folders are spelt relative to $ORIGIN: prog and liba live in W/, their tagged folders are W/P and W/A.
    """
    parts.mkdir(exist_ok=True)
    gcc(B, parts / "libb.so", "-shared", "-fPIC", "-Wl,-soname,libb.so", "-ldl")
    for kind in ("none", "rpath", "runpath"):
        for way, source in (("needs", A_NEEDS), ("opens", A_OPENS)):
            link = [str(parts / "libb.so")] if way == "needs" else ["-ldl"]
            out = parts / f"liba-{way}-{kind}.so"
            gcc(source, out, "-shared", "-fPIC", "-Wl,-soname,liba.so", *link, *tag(kind, "$ORIGIN/A"))
        stand_in = parts / "liba-opens-none.so"
        shutil.copy(stand_in, parts / "liba.so")
        out = parts / f"prog-{kind}"
        gcc(PROG, out, f"-L{parts}", "-la", *tag(kind, "$ORIGIN/P"), "-Wl,--allow-shlib-undefined")


def ask_glibc(program: Path, environ: dict[str, str]) -> str:
    """The copy of libb that glibc loads, or 'none'."""
    said = subprocess.run([str(program)], env=environ, capture_output=True, text=True, cwd="/")
    return said.stdout.strip() or "none"

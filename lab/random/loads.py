"""Load-level operators: what the dynamic loader finds first, run paths, majors, folders, builds without symbols, limits.

Part `load`. All break files that the program maps on the healthy machine; the truth is in the way they are broken.
"""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator
from lab.random.files import GONE, layer, over, victim

PART = "load"
BAD, PATH, SET, LIM, OT = "install.corrupted", "env.path", "env.setting", "env.limit", "other.not_gpu"
MIXED = {"cudnn": "cudnn.mixed_libraries"}
OTHER = {"cudnn": "cudnn.version_mismatch"}


def empty(soname: str, place: str) -> str:
    """Shell: a library of that name in which nothing is."""
    return f"echo 'int nothing_here;' > $W/n.c; gcc -shared -fPIC -Wl,-soname,{soname} -o {place} $W/n.c || exit 97; rm -f $W/n.c"


def near(path: str, cause: str, *more: str) -> tuple[str, ...]:
    """The causes that name a broken library of this part of the stack as rightly."""
    kind = layer(path)
    fair = (GONE[kind][0], *GONE[kind][1], *more)
    return tuple(dict.fromkeys(one for one in fair if one != cause))


STRANGERS = {
    "without symbols": "@EMPTY@",
    "a text": "echo 'see /opt/shared' > $W/first/@NAME@",
    "of no bytes": ": > $W/first/@NAME@",
    "cut": "head -c 5000 @PATH@ > $W/first/@NAME@",
    "of another machine": "@EMPTY@; printf '\\267' | dd of=$W/first/@NAME@ bs=1 seek=18 conv=notrunc status=none",
    "a folder": "mkdir -p $W/first/@NAME@",
    "a link to nowhere": "ln -sfn /opt/gone/@NAME@ $W/first/@NAME@",
    "the same": "ln -sfn @PATH@ $W/first/@NAME@",
}


@operator("found-first", PART)
def found_first(rng: random.Random, machine: Machine) -> Draw | None:
    """A folder of LD_LIBRARY_PATH has another file under the name of a library that the program needs."""
    found = victim(rng, machine, r"\.so")
    if not found:
        return None
    program, path = found
    name, way = path.rpartition("/")[2], rng.choice(sorted(STRANGERS))
    shell = STRANGERS[way].replace("@EMPTY@", empty(name, f"$W/first/{name}")).replace("@NAME@", name)
    cause = BAD if way in ("a text", "of no bytes", "cut") else MIXED.get(layer(path), "cuda.mixed_libraries")
    also = near(path, cause, PATH, "cuda.mixed_libraries", BAD, SET, "env.shadowed", "framework.extension_abi", OTHER.get(layer(path), "cuda.version_mismatch"))  # fmt: skip
    setup = f"mkdir -p $W/first; {shell.replace('@PATH@', path)}"
    return Draw("found-first", f"{name}: {way}", program, cause, also, setup, {"LD_LIBRARY_PATH": "$W/first:$OLD_LD"})


SYSTEM = ("libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libgomp.so.1", "libffi.so.8")


@operator("system-first", PART)
def system_first(rng: random.Random, machine: Machine) -> Draw | None:
    """A folder of LD_LIBRARY_PATH brings another system library, as modules of a cluster and old conda do."""
    program, name = rng.choice(machine.programs()), rng.choice(SYSTEM)
    if not any(f.rpartition("/")[2].startswith(name.partition(".")[0]) for f in machine.maps[program]):
        return None
    bad = rng.random() < 0.3
    shell = f"echo stub > $W/first/{name}" if bad else empty(name, f"$W/first/{name}")
    also = (SET, BAD, OT, "framework.extension_abi", "cuda.mixed_libraries", "env.shadowed", "install.conflict")
    environ = {"LD_LIBRARY_PATH": "$W/first:$OLD_LD"}
    target = f"{name}: {'a text' if bad else 'without versions'}"
    return Draw("system-first", target, program, PATH, also, f"mkdir -p $W/first; {shell}", environ)


@operator("run-path-lost", PART)
def run_path_lost(rng: random.Random, machine: Machine) -> Draw | None:
    """A library was repacked: it no longer knows where its neighbours lie."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    shell = (
        "[ $(stat -Lc %s $G) -lt 200000000 ] && grep -q 'ORIGIN' $G || exit 97; cp --remove-destination $(readlink -f $G) $F; "
        "sed -i 's/\\$ORIGIN/\\$0RIGIN/g' $F"
    )
    also = near(path, PATH, BAD, "cuda.missing_library", "cudnn.missing")
    return Draw("run-path-lost", path, program, PATH, also, over(path, shell))


@operator("other-major", PART)
def other_major(rng: random.Random, machine: Machine) -> Draw | None:
    """Only the library of another major is there."""
    found = victim(rng, machine, r"^lib(cu|nv|nccl)\w*\.so\.\d+$")
    if not found:
        return None
    program, path = found
    stem, _, major = path.rpartition(".")
    new = f"{stem}.{int(major) + rng.choice((-1, 1, -2))}"
    cause = OTHER.get(layer(path), "cuda.version_mismatch")
    return Draw(
        "other-major",
        f"{path} -> {new.rpartition('/')[2]}",
        program,
        cause,
        near(path, cause, BAD),
        over(path, f"mv $F {new}"),
    )


@operator("no-symbols", PART)
def no_symbols(rng: random.Random, machine: Machine) -> Draw | None:
    """A build of the library that offers nothing of what is asked of it stands in its place."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    name, cause = path.rpartition("/")[2], MIXED.get(layer(path), "cuda.mixed_libraries")
    if layer(path) in ("framework", "other"):
        cause = BAD
    also = near(path, cause, BAD, "framework.extension_abi", "install.conflict", "install.inconsistent", OTHER.get(layer(path), "cuda.version_mismatch"))  # fmt: skip
    return Draw("no-symbols", path, program, cause, also, over(path, f"rm -f $F; {empty(name, '$F')}"))


FOLDERS = {
    "was renamed": "mv {0} {0}_old",
    "is empty": "rm -rf {0}/*",
    "lost every third file": "ls {0} | awk 'NR % 3 == 0' | while read f; do rm -rf {0}/$f; done",
    "has files of no bytes": "for f in {0}/*.so*; do [ -f $f ] && {{ rm -f $f; : > $f; }}; done",
    "lost its versions": "for f in {0}/*.so.*; do [ -f $f ] && mv $f ${{f%%.so.*}}.so; done",
}


@operator("folder-hit", PART)
def folder_hit(rng: random.Random, machine: Machine) -> Draw | None:
    """A whole folder of libraries of one of NVIDIA's wheels was moved, emptied or thinned out."""
    program = rng.choice(machine.programs())
    homes = sorted({p.rpartition("/")[0] for p in machine.libraries(program) if "/nvidia/" in p})
    if not homes:
        return None
    home, way = rng.choice(homes), rng.choice(sorted(FOLDERS))
    one = next(p for p in machine.libraries(program) if p.startswith(home + "/"))
    cause = BAD if "bytes" in way else GONE[layer(one)][0]
    also = near(one, cause, BAD, "cudnn.missing", "cuda.missing_library", "cuda.compiler_missing", "install.inconsistent", "cudnn.mixed_libraries", PATH)  # fmt: skip
    setup = f"over {home.rpartition('/')[0]}; {FOLDERS[way].format(home)}"
    return Draw("folder-hit", f"{home} {way}", program, cause, also, setup)


@operator("closed-folder", PART)
def closed_folder(rng: random.Random, machine: Machine) -> Draw | None:
    """A folder of libraries that this user may not enter."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    home = path.rpartition("/")[0]
    also = near(path, BAD, LIM, PATH, OT, "cudnn.missing", "cuda.missing_library")
    return Draw(
        "closed-folder",
        home,
        program,
        BAD,
        also,
        f"over {home.rpartition('/')[0]}; chmod 700 {home}; chown root {home}",
        user="nobody",
    )


LIMITS = (*(f"ulimit -v {n}" for n in (400000, 900000, 1500000, 2500000)), *(f"ulimit -n {n}" for n in (5, 9, 14, 20, 32)), *(f"ulimit -d {n}" for n in (60000, 150000)), "ulimit -s 40", "ulimit -f 0; ulimit -c 0")  # fmt: skip


@operator("load-limit", PART)
def load_limit(rng: random.Random, machine: Machine) -> Draw | None:
    """A limit under which the libraries cannot be loaded."""
    limit = rng.choice(LIMITS)
    return Draw("load-limit", limit, rng.choice(machine.programs()), LIM, ("memory.host", OT), limit=limit)


@operator("twice-broken", PART)
def twice_broken(rng: random.Random, machine: Machine) -> Draw | None:
    """The library is gone, and a file of that name elsewhere on LD_LIBRARY_PATH is no library of this machine."""
    found = victim(rng, machine, r"^lib(cu|nv|nccl)")
    if not found:
        return None
    program, path = found
    name = path.rpartition("/")[2]
    odd = f"{empty(name, f'$W/first/{name}')}; printf '\\267' | dd of=$W/first/{name} bs=1 seek=18 conv=notrunc status=none"
    cause = GONE[layer(path)][0]
    setup = f"mkdir -p $W/first; {odd}; {over(path, 'rm -f $F')}"
    also = near(path, cause, BAD, PATH, "cuda.mixed_libraries", "framework.platform_dropped")
    return Draw("twice-broken", name, program, cause, also, setup, {"LD_LIBRARY_PATH": "$W/first:$OLD_LD"})


USED = ("hide-library", "cut-library", "swap-library", "close-library", "odd-library", "library-marks", "library-holes", "preload", "path-file", "wrong-tag", "marked-source", "odd-variable")  # fmt: skip
"""Operators of other parts that break what is loaded."""


GONE_WHOLE = ("cudnn.missing", "cuda.missing_library", "cuda.compiler_missing", BAD)
BOTH = ("cuda.mixed_libraries", "cudnn.mixed_libraries")
NARROW: dict[str, tuple[str, ...]] = {
    "hide-library": GONE_WHOLE,
    "twice-broken": GONE_WHOLE,
    "odd-library": (*GONE_WHOLE, OT),
    "folder-hit": (*GONE_WHOLE, "cudnn.mixed_libraries"),
    "other-major": (*GONE_WHOLE, "cuda.version_mismatch", "cudnn.version_mismatch"),
    "no-symbols": (BAD, *BOTH, "install.conflict", "cuda.version_mismatch", "cudnn.version_mismatch"),
    "found-first": (*BOTH, PATH, BAD),
    "system-first": (PATH, "cuda.mixed_libraries", "framework.extension_abi", SET),
    "preload": (SET, PATH, *BOTH),
    "run-path-lost": (PATH, *GONE_WHOLE),
    "closed-folder": (BAD, LIM, PATH),
    "close-library": (BAD, LIM, PATH),
    "swap-library": (BAD,),
    "cut-library": (BAD,),
    "library-marks": (BAD,),
    "library-holes": (BAD,),
    "path-file": ("env.shadowed",),
    "marked-source": (BAD,),
    "wrong-tag": (BAD, "install.inconsistent", "framework.platform_dropped"),
    "preloaded-agent": ("env.setting", PATH, "env.shadowed", LIM),
    "headers-spoilt": (BAD, "cuda.compiler_missing", "program.build"),
    "bitcode-spoilt": (BAD, "cuda.compiler_missing"),
    "assembler-spoilt": (BAD, "cuda.compiler_missing"),
    "dependencies-spoilt": (BAD,),
    "folders-unwound": (*GONE_WHOLE, LIM, PATH, "framework.cpu_only"),
    "markers-spoilt": (BAD, PATH, "install.inconsistent", "framework.cpu_only"),
    "out-of-sight": ("container.no_gpu", "driver.permission", "driver.not_ready", LIM, "memory.host", PATH),
}
"""What a reader with the machine before him would call right: narrower than what the text alone can tell."""


def narrowed(row: dict[str, object]) -> set[str]:
    """The causes that are right for a kept draw where the machine's facts are at hand."""
    also = row["also_acceptable"] if isinstance(row["also_acceptable"], list) else []
    name, target = str(row["operator"]), str(row["target"])
    more = {OT} if "/" in target and layer(target.partition(" (")[0]) == "other" else set()
    more |= {BAD} if target.endswith(": a text") else {SET} if "sitecustomize" in target else set()
    return {str(row["cause"]), *more, *NARROW.get(name, tuple(also))}

"""Empty libraries in place of NVIDIA's gigabytes: they have the names and the calls that a wheel's files ask for.

Every call answers 0. With them a framework that is linked with CUDA can be imported, and what its import does with
other packages is seen; nothing is said about CUDA itself.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

OF_CUDA = re.compile(r"NEEDED.*\[(lib(?:cu|nv|nccl)\w*\.so[.\d]*)\]")
CUDA_CALL = re.compile(r" U (_*(?:cu|nv|nccl)\w+)(?:@+([\w.]+))?")
HOW = ("gcc", "-w", "-shared", "-fPIC", "-fno-builtin")


def make(files: Iterable[Path], folder: Path) -> bool:
    """One library for each of CUDA that these files are linked with and that is not beside them."""
    every = list(files)
    paths, beside = [str(file) for file in every], {file.name for file in every}
    names = set(OF_CUDA.findall(said_by("readelf", "-d", *paths))) - beside
    calls: dict[str, set[str]] = {}
    for call, node in CUDA_CALL.findall(said_by("nm", "-D", *paths)):
        calls.setdefault(node, set()).add(call)
    folder.mkdir(parents=True, exist_ok=True)
    foreign = {node: own for node, own in calls.items() if node and node not in names and ".so" not in node}
    others = {"": calls.get("", set()), **foreign}  # NVSHMEM's calls bear a version that is no library's name
    return bool(names) and all(_built(folder, name, calls.get(name, set()), others) for name in names)


def _built(folder: Path, name: str, own: set[str], others: dict[str, set[str]]) -> bool:
    """One of them: its own calls bear its name as their version, as NVIDIA's do."""
    source = folder / f"{name}.c"
    nodes = {name: own, **others} if own else others  # one caller asks with a version, another without
    every = set().union(*nodes.values())
    source.write_text("".join(f"long {call}(void) {{ return 0; }}\n" for call in sorted(every)))
    script = source.with_suffix(".map")
    lines = [f"{node} {{ global: {'; '.join(sorted(mine))}; }};\n" for node, mine in nodes.items() if node and mine]
    script.write_text("".join(lines))
    how = [f"-Wl,-soname,{name}", *([f"-Wl,--version-script={script}"] if lines else [])]
    done = subprocess.run([*HOW, *how, "-o", str(folder / name), str(source)], capture_output=True, timeout=600)
    return done.returncode == 0


def said_by(*command: str) -> str:
    """What a program of binutils prints."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def left_out(requires: Iterable[str]) -> str:
    """Lines of an override file for uv that leave NVIDIA's wheels out, of what a release asks for."""
    names = {name.partition("[")[0] for name in requires}
    return "".join(f"{name}; sys_platform == 'none'\n" for name in sorted(names) if re.match("nvidia-|cuda-", name))

"""Operators on the driver, its nodes and the card's memory."""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator
from lab.random.files import over
from lab.worlds import ALL_NODES, CONTAINER, new_dev

NODES = ("nvidia0", "nvidiactl", "nvidia-uvm")


def _any(rng: random.Random, machine: Machine) -> str | None:
    programs = [p for p in machine.programs() if p not in ("onnx-cpu", "numba-cpu")]
    return rng.choice(programs) if programs else None


@operator("node-number", "judge")
def node_number(rng: random.Random, machine: Machine) -> Draw | None:
    """A device node with the number of another device, as a stale bind into a container leaves it."""
    program, node = _any(rng, machine), rng.choice(NODES)
    if not program:
        return None
    numbers = rng.choice(("195 9", "240 0", "1 3", "508 7", "10 200"))
    shell = f"{new_dev(ALL_NODES)}; rm -f /dev/{node}; mknod -m 666 /dev/{node} c {numbers}"
    return Draw(
        "node-number", f"{node} = {numbers}", program, "driver.permission", ("container.no_gpu",), shell, user="nobody"
    )


@operator("node-gone", "tune")
def node_gone(rng: random.Random, machine: Machine) -> Draw | None:
    """A device node is missing and may not be made."""
    program, node = _any(rng, machine), rng.choice((*NODES, "all"))
    if not program:
        return None
    keep = " ".join(n for n in ALL_NODES.split() if n != node) if node != "all" else ""
    return Draw("node-gone", node, program, "driver.permission", ("container.no_gpu",), new_dev(keep), user="nobody")


@operator("node-closed", "judge")
def node_closed(rng: random.Random, machine: Machine) -> Draw | None:
    """A device node that this user may not open, or that is something else."""
    program, node = _any(rng, machine), rng.choice(NODES)
    if not program:
        return None
    how = rng.choice(
        (
            f"chmod 0600 /dev/{node}",
            f"chown root:root /dev/{node}; chmod 0640 /dev/{node}",
            f"rm /dev/{node}; : > /dev/{node}; chmod 666 /dev/{node}",
            f"rm /dev/{node}; ln -s /dev/gone /dev/{node}",
            f"rm /dev/{node}; mkdir /dev/{node}",
        )
    )
    return Draw(
        "node-closed",
        f"{node}: {how.split(';')[0]}",
        program,
        "driver.permission",
        ("container.no_gpu",),
        f"{new_dev(ALL_NODES)}; {how}",
        user="nobody",
    )


DRIVER_FILES = {
    "libcuda.so": ("driver.missing", ("container.no_gpu", "install.corrupted")),
    "libnvidia-ptxjitcompiler": ("cuda.compiler_missing", ("driver.missing", "install.corrupted", "container.no_gpu")),
    "libnvidia-nvvm": ("cuda.compiler_missing", ("driver.missing", "install.corrupted")),
    "libnvidia-ml": ("driver.missing", ("install.corrupted",)),
}


@operator("driver-file-gone", "tune")
def driver_file_gone(rng: random.Random, machine: Machine) -> Draw | None:
    """A library of the driver is not there."""
    program, name = _any(rng, machine), rng.choice(sorted(DRIVER_FILES))
    if not program or not machine.driver:
        return None
    cause, also = DRIVER_FILES[name]
    return Draw(
        "driver-file-gone", name, program, cause, also, over(f"{machine.driver}/x", f"rm -f {machine.driver}/{name}*")
    )


@operator("driver-file-cut", "judge")
def driver_file_cut(rng: random.Random, machine: Machine) -> Draw | None:
    """The driver's libcuda is cut, empty, a text, or another library."""
    program = _any(rng, machine)
    if not program or not machine.driver:
        return None
    how = rng.choice(("head -c 3000000 $R > $F", ": > $F", "echo version 580 > $F", "cp $LOWER/libnvidia-ml.so.1 $F"))
    shell = over(
        f"{machine.driver}/x",
        f"for F in $(ls {machine.driver}/libcuda.so.*); do R=$(readlink -f $LOWER/$(basename $F)); rm -f $F; {how}; done",
    )
    return Draw(
        "driver-file-cut", how, program, "install.corrupted", ("driver.missing", "driver.library_mismatch"), shell
    )


@operator("stub-first", "judge")
def stub_first(rng: random.Random, machine: Machine) -> Draw | None:
    """The toolkit's stub libcuda is what the loader finds, by one of several ways."""
    program = _any(rng, machine)
    if not program:
        return None
    found = f"S=$(find {machine.toolkit}*/ -path '*stubs/libcuda.so' | head -1)"
    stub = f'{found}; mkdir -p $W/stubs; [ -n "$S" ] && ln -sf $S $W/stubs/libcuda.so.1'
    way: dict[str, str | None] = rng.choice(
        (
            {"LD_LIBRARY_PATH": "$W/stubs:$OLD_LD"},
            {"LD_PRELOAD": "$W/stubs/libcuda.so.1"},
            {"LD_LIBRARY_PATH": "$W/stubs"},
        )
    )
    return Draw("stub-first", next(iter(way)), program, "driver.stub", (), stub, way)


@operator("compat-first", "tune")
def compat_first(rng: random.Random, machine: Machine) -> Draw | None:
    """An older cuda-compat libcuda first."""
    program = _any(rng, machine)
    if not program:
        return None
    shell = "C=$(ls -d /usr/local/cuda-*/compat | head -1); mkdir -p $W/compat; mount --bind $C $W/compat"
    return Draw(
        "compat-first",
        "LD_LIBRARY_PATH",
        program,
        "driver.compat_misuse",
        ("driver.library_mismatch",),
        shell,
        {"LD_LIBRARY_PATH": "$W/compat:$OLD_LD"},
    )


@operator("container-without", "judge")
def container_without(rng: random.Random, machine: Machine) -> Draw | None:
    """A container that was given nothing of the GPU: no node, no driver library, docker's mark."""
    program = _any(rng, machine)
    if not program or not machine.driver:
        return None
    names = [f"{machine.driver}/{name}*" for name in ("libcuda.so", "libnvidia")]
    gone = over(f"{machine.driver}/x", f"rm -f {' '.join(names)}")
    inside = f"rm -f {' '.join('$W/ov/m' + name for name in names)} 2>/dev/null; true"
    shell = f"{new_dev('')}; {gone}; mount -t tmpfs none /proc/driver; {CONTAINER}; {inside}"
    return Draw("container-without", "all", program, "container.no_gpu", ("driver.missing",), shell, command="CHROOT")


@operator("memory-held", "judge")
def memory_held(rng: random.Random, machine: Machine) -> Draw | None:
    """Another process holds nearly all of the card's memory."""
    programs = machine.programs("torch-large", "torch-matmul", "cupy-matmul", "jax-matmul", "cpp-cublas", "torch-train")
    if not programs:
        return None
    return Draw("memory-held", "GPU memory", rng.choice(programs), "memory.other_process", (), hold=True)

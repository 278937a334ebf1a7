"""Copies of CUDA libraries: found once each, with health, owner and version."""

import base64
import hashlib
import struct

import pytest

from gpuwhy.facts.fact import Unknown, known
from gpuwhy.facts.libraries import Flaw, Libraries, LibraryCopy
from gpuwhy.facts.fact import Owner
from gpuwhy.look.look import Options
from gpuwhy.look.libraries import examine, libraries

from .machines import SITE, Made


def elf(machine: int = 62, extent: int = 256, size: int | None = None) -> bytes:
    """A little-endian 64-bit shared object without a dynamic section, whose one segment ends at `extent`."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, extent, extent, 4096)
    return (head + segment).ljust(extent if size is None else size, b"\0")[: extent if size is None else size]


CUDNN = f"{SITE}/nvidia/cudnn"
LIB = "/usr/lib/x86_64-linux-gnu"


def see(machine: Made, **environ: str) -> Libraries:
    machine.answers[("environ",)] = known(environ, "env", "environment")
    return libraries(machine, machine.facts(), Options())


def seen(machine: Made, **environ: str) -> dict[str, LibraryCopy]:
    return {one.path: one for one in see(machine, **environ).copies.need() or ()}


def record(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def test_the_name_programs_ask_for_is_listed_once(machine: Made) -> None:
    machine.write(f"{LIB}/libcudnn.so.9.14.0", elf())
    machine.symlink(f"{LIB}/libcudnn.so.9", "libcudnn.so.9.14.0")
    machine.symlink(f"{LIB}/libcudnn.so", "/etc/alternatives/libcudnn_so")
    machine.symlink("/etc/alternatives/libcudnn_so", f"{LIB}/libcudnn.so.9")
    machine.write(f"{LIB}/libcudnn_static.a", b"!<arch>")
    machine.write(f"{LIB}/libcurl.so.4", elf())
    (copy,) = seen(machine).values()
    assert (copy.name, copy.real, copy.where) == (
        "libcudnn.so.9",
        f"{LIB}/libcudnn.so.9.14.0",
        "default folder",
    )
    assert copy.version == known("9.14.0", "file", f"{LIB}/libcudnn.so.9.14.0", "its name")
    assert copy.health.need() is Flaw.NONE
    assert copy.size.need() == 256


def test_the_compilers_link_counts_where_nothing_versioned_is_beside_it(machine: Made) -> None:
    machine.write(f"{SITE}/torch/lib/libnvrtc-builtins.so", elf())
    machine.write(f"{SITE}/torch/lib/libcudart-a7b20f20.so.11.0", elf())
    machine.write("/usr/local/lib/libnccl.so", "INPUT(libnccl.so.2)\n")
    machine.wheel("torch", "1.12.1")
    found = seen(machine)
    assert sorted((c.name, c.family) for c in found.values()) == [
        ("libcudart-a7b20f20.so.11.0", "cudart"),
        ("libnvrtc-builtins.so", "nvrtc"),
    ]
    bundled = found[f"{SITE}/torch/lib/libcudart-a7b20f20.so.11.0"]
    assert bundled.owner.need() == Owner("torch", "1.12.1", "pip")
    assert isinstance(bundled.version, Unknown)  # 11.0 is the SONAME of every CUDA 11


def test_two_wheels_in_one_folder_are_told_apart_by_size_and_hash(machine: Made) -> None:
    small, twin, large = elf(), elf()[:-1] + b"x", elf(extent=512)
    machine.write(f"{CUDNN}/lib/libcudnn.so.9", small)
    machine.write(f"{CUDNN}/lib/libcudnn_ops.so.9", large)
    inside = "nvidia/cudnn/lib/libcudnn"
    machine.wheel(
        "nvidia-cudnn-cu12",
        "9.27.0.42",
        record(f"{inside}.so.9", small) + record(f"{inside}_ops.so.9", small),
    )
    machine.wheel(
        "nvidia-cudnn-cu13", "9.26.0.51", record(f"{inside}.so.9", twin) + record(f"{inside}_ops.so.9", large)
    )
    found = seen(machine)
    assert found[f"{CUDNN}/lib/libcudnn.so.9"].version.need() == "9.27.0"
    assert found[f"{CUDNN}/lib/libcudnn_ops.so.9"].version.need() == "9.26.0"


def test_a_library_in_another_wheel_s_folder_is_not_the_wheel_s_own(machine: Made) -> None:
    """Somebody copied an older cuDNN beside cuBLAS: the installed cuDNN does not tell its release."""
    inside = "nvidia/cudnn/lib/libcudnn.so.9"
    machine.wheel("nvidia-cudnn-cu12", "9.3.0.75", f"{inside},sha256=x,256\n")
    for folder in ("cudnn", "cublas"):
        machine.write(f"{SITE}/nvidia/{folder}/lib/libcudnn.so.9", elf())
    found = seen(machine)
    assert found[f"{SITE}/{inside}"].version.need() == "9.3.0"
    stray = found[f"{SITE}/nvidia/cublas/lib/libcudnn.so.9"]
    assert isinstance(stray.owner, Unknown)
    assert isinstance(stray.version, Unknown)


def test_where_they_lie_and_conda_s_owner(machine: Made) -> None:
    machine.write("/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", elf())
    machine.symlink("/usr/local/cuda-12.4/lib64/libcudart.so.12", "libcudart.so.12.4.127")
    machine.write("/conda/lib/libcudnn.so.9.3.0", elf())
    machine.write("/conda/conda-meta/cudnn-9.3.0.75-cuda12.6.json", "{}")
    machine.write(f"{LIB}/libnccl.so.2.18.3", elf())
    machine.write("/usr/local/cuda-12.4/version.txt", "CUDA Version 12.4.1")
    found = seen(machine, CONDA_PREFIX="/conda")
    assert {(c.name, c.where) for c in found.values()} == {
        ("libcudart.so.12", "toolkit"),
        ("libcudnn.so.9.3.0", "conda"),
        ("libnccl.so.2.18.3", "default folder"),
    }
    assert found["/conda/lib/libcudnn.so.9.3.0"].owner.need() == Owner("cudnn", "9.3.0.75", "conda")
    assert isinstance(found["/usr/local/cuda-12.4/lib64/libcudart.so.12"].owner, Unknown)


@pytest.mark.parametrize(
    ("content", "flaw"),
    [
        (elf(), Flaw.NONE),
        (b"", Flaw.EMPTY),
        (elf(extent=4096, size=300), Flaw.TRUNCATED),
        (elf()[:40], Flaw.TRUNCATED),
        (b"404 Not Found", Flaw.FOREIGN),
        (elf(machine=183), Flaw.MACHINE),
    ],
)
def test_health(machine: Made, content: bytes, flaw: Flaw) -> None:
    machine.write("/x/libcudnn.so.9", content)
    size, health = examine(machine, "/x/libcudnn.so.9", "x86_64")
    assert (health.need(), size.need()) == (flaw, len(content))

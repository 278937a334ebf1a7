"""Copies of CUDA libraries: found once each, with health, owner and version."""

import base64
import hashlib

import pytest

from gpuwhy.facts.fact import Unknown, known
from gpuwhy.facts.libraries import Flaw, Libraries, LibraryCopy
from gpuwhy.facts.fact import Owner
from gpuwhy.look.look import Options
from gpuwhy.look.libraries import examine, libraries

from .machines import SITE, Made
from .world import shared_object


WHOLE = shared_object("libc.so.6", padding=100)
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
    machine.write(f"{LIB}/libcudnn.so.9.14.0", WHOLE)
    machine.symlink(f"{LIB}/libcudnn.so.9", "libcudnn.so.9.14.0")
    machine.symlink(f"{LIB}/libcudnn.so", "/etc/alternatives/libcudnn_so")
    machine.symlink("/etc/alternatives/libcudnn_so", f"{LIB}/libcudnn.so.9")
    machine.write(f"{LIB}/libcudnn_static.a", b"!<arch>")
    machine.write(f"{LIB}/libcurl.so.4", WHOLE)
    (copy,) = seen(machine).values()
    assert (copy.name, copy.real) == ("libcudnn.so.9", f"{LIB}/libcudnn.so.9.14.0")
    assert copy.version == known("9.14.0", "file", f"{LIB}/libcudnn.so.9.14.0", "its name")
    assert copy.health.need() is Flaw.NONE
    assert copy.size.need() == len(WHOLE)


def test_the_compilers_link_counts_where_nothing_versioned_is_beside_it(machine: Made) -> None:
    machine.write(f"{SITE}/torch/lib/libnvrtc-builtins.so", WHOLE)
    machine.write(f"{SITE}/torch/lib/libcudart-a7b20f20.so.11.0", WHOLE)
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
    small, twin, large = WHOLE, WHOLE[:-1] + b"x", shared_object(padding=512)
    machine.write(f"{CUDNN}/lib/libcudnn.so.9", small)
    machine.write(f"{CUDNN}/lib/libcudnn_ops.so.9", large)
    inside = "nvidia/cudnn/lib/libcudnn"
    for package, first, second in (("cu12 9.27.0.42", small, small), ("cu13 9.26.0.51", twin, large)):
        name, version = package.split()
        listed = record(f"{inside}.so.9", first) + record(f"{inside}_ops.so.9", second)
        machine.wheel(f"nvidia-cudnn-{name}", version, listed)
    found = seen(machine)
    assert found[f"{CUDNN}/lib/libcudnn.so.9"].version.need() == "9.27.0"
    assert found[f"{CUDNN}/lib/libcudnn_ops.so.9"].version.need() == "9.26.0"


def test_a_library_in_another_wheel_s_folder_is_not_the_wheel_s_own(machine: Made) -> None:
    """Somebody copied an older cuDNN beside cuBLAS: the installed cuDNN does not tell its release."""
    inside = "nvidia/cudnn/lib/libcudnn.so.9"
    machine.wheel("nvidia-cudnn-cu12", "9.3.0.75", f"{inside},sha256=x,{len(WHOLE)}\n")
    for folder in ("cudnn", "cublas"):
        machine.write(f"{SITE}/nvidia/{folder}/lib/libcudnn.so.9", WHOLE)
    found = seen(machine)
    assert found[f"{SITE}/{inside}"].version.need() == "9.3.0"
    stray = found[f"{SITE}/nvidia/cublas/lib/libcudnn.so.9"]
    assert isinstance(stray.owner, Unknown)
    assert isinstance(stray.version, Unknown)


def test_where_they_lie_and_conda_s_owner(machine: Made) -> None:
    machine.write("/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", WHOLE)
    machine.symlink("/usr/local/cuda-12.4/lib64/libcudart.so.12", "libcudart.so.12.4.127")
    machine.write("/conda/lib/libcudnn.so.9.3.0", WHOLE)
    machine.write("/conda/conda-meta/cudnn-9.3.0.75-cuda12.6.json", "{}")
    machine.write(f"{LIB}/libnccl.so.2.18.3", WHOLE)
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
        (WHOLE, Flaw.NONE),
        (b"", Flaw.EMPTY),
        (WHOLE[:-50], Flaw.TRUNCATED),
        (WHOLE[:40], Flaw.TRUNCATED),
        (b"404 Not Found", Flaw.FOREIGN),
        (shared_object(machine=183), Flaw.MACHINE),
    ],
)
def test_health(machine: Made, content: bytes, flaw: Flaw) -> None:
    machine.write("/x/libcudnn.so.9", content)
    size, health = examine(machine, "/x/libcudnn.so.9", "x86_64")
    assert (health.need(), size.need()) == (flaw, len(content))

from __future__ import annotations

import base64
import hashlib
import os
import re
from pathlib import Path

import msgspec
import pytest

from gpuwhy.formats.ldcache import CacheEntry
from gpuwhy.host.base import question
from gpuwhy.host.recorded import RecordedHost
from gpuwhy.host.recording import SCHEMA, RecordingFile
from gpuwhy.knowledge.libraries import FAMILIES, FILES, parse
from gpuwhy.model.fact import Absent, Known, Unknown, known
from gpuwhy.model.facts import LibraryCopy, Toolkit, Toolkits
from gpuwhy.observe.libraries import copies, examine
from gpuwhy.observe.owners import candidate_wheels, defined_version
from gpuwhy.observe.scene import Options, Scene
from tests.observe.worlds import SITE, World, elf

CUDNN = f"{SITE}/nvidia/cudnn"
LIB = "/usr/lib/x86_64-linux-gnu"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def seen(scene: Scene) -> dict[str, LibraryCopy]:
    found = copies(scene)
    assert isinstance(found, Known)
    return {copy.path: copy for copy in found.value}


def record(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def test_the_name_programs_ask_for_is_listed_once(world: World) -> None:
    world.file(f"{LIB}/libcudnn.so.9.14.0", elf())
    world.link(f"{LIB}/libcudnn.so.9", "libcudnn.so.9.14.0")
    world.link(f"{LIB}/libcudnn.so", "/etc/alternatives/libcudnn_so")
    world.link("/etc/alternatives/libcudnn_so", f"{LIB}/libcudnn.so.9")
    world.file(f"{LIB}/libcudnn_static.a", b"!<arch>")
    world.file(f"{LIB}/libcurl.so.4", elf())
    (copy,) = seen(world.scene()).values()
    assert (copy.name, copy.real, copy.where) == ("libcudnn.so.9", f"{LIB}/libcudnn.so.9.14.0", "default folder")
    assert copy.version == known("9.14.0", "file", f"{LIB}/libcudnn.so.9.14.0", "its name")
    assert copy.health.need() == "ok"
    assert copy.size.need() == 256


def test_an_old_copy_beside_a_new_one_and_a_missing_soname_link_show(world: World) -> None:
    world.file(f"{LIB}/libcublas.so.12.4.5.8", elf())
    world.link(f"{LIB}/libcublas.so.12", "libcublas.so.12.4.5.8")
    world.file(f"{LIB}/libcublas.so.11.9.2.110", elf())
    world.link(f"{LIB}/libcublas.so", "libcublas.so.12")
    assert sorted(c.name for c in seen(world.scene()).values()) == ["libcublas.so.11.9.2.110", "libcublas.so.12"]


def test_the_compilers_link_counts_where_nothing_versioned_is_beside_it(world: World) -> None:
    world.file(f"{SITE}/torch/lib/libnvrtc-builtins.so", elf())
    world.file(f"{SITE}/torch/lib/libcudart-a7b20f20.so.11.0", elf())
    world.file("/usr/local/lib/libnccl.so", "INPUT(libnccl.so.2)\n")
    world.wheel("torch", "1.12.1")
    found = seen(world.scene())
    assert sorted((c.name, c.family) for c in found.values()) == [
        ("libcudart-a7b20f20.so.11.0", "cudart"),
        ("libnvrtc-builtins.so", "nvrtc"),
    ]
    bundled = found[f"{SITE}/torch/lib/libcudart-a7b20f20.so.11.0"]
    assert bundled.owner.need() == "torch 1.12.1 (pip)"
    assert isinstance(bundled.version, Unknown)  # 11.0 is the SONAME of every CUDA 11


def test_one_wheel_gives_owner_and_version(world: World) -> None:
    world.file(f"{CUDNN}/lib/libcudnn.so.9", elf())
    world.file(f"{SITE}/nvidia/cu13/lib/libcufft.so.12", elf())
    world.wheel("nvidia-cudnn-cu13", "9.19.0.56")
    world.wheel("nvidia-cufft", "12.2.0.57")
    found = seen(world.scene())
    assert found[f"{CUDNN}/lib/libcudnn.so.9"].owner.need() == "nvidia-cudnn-cu13 9.19.0.56 (pip)"
    assert found[f"{CUDNN}/lib/libcudnn.so.9"].version.need() == "9.19.0"
    assert found[f"{SITE}/nvidia/cu13/lib/libcufft.so.12"].version.need() == "12.2.0.57"


def test_two_wheels_in_one_folder_are_told_apart_by_size_and_hash(world: World) -> None:
    small, twin, large = elf(), elf()[:-1] + b"x", elf(extent=512)
    world.file(f"{CUDNN}/lib/libcudnn.so.9", small)
    world.file(f"{CUDNN}/lib/libcudnn_ops.so.9", large)
    inside = "nvidia/cudnn/lib/libcudnn"
    world.wheel("nvidia-cudnn-cu12", "9.27.0.42", record(f"{inside}.so.9", small) + record(f"{inside}_ops.so.9", small))
    world.wheel("nvidia-cudnn-cu13", "9.26.0.51", record(f"{inside}.so.9", twin) + record(f"{inside}_ops.so.9", large))
    found = seen(world.scene())
    assert found[f"{CUDNN}/lib/libcudnn.so.9"].version.need() == "9.27.0"
    assert found[f"{CUDNN}/lib/libcudnn_ops.so.9"].version.need() == "9.26.0"


def test_two_wheels_that_no_record_tells_apart_leave_the_header(world: World) -> None:
    world.file(f"{CUDNN}/lib/libcudnn.so.9", elf())
    defines = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 5\n#define CUDNN_PATCHLEVEL 1\n"
    world.file(f"{CUDNN}/include/cudnn_version.h", defines)
    world.wheel("nvidia-cudnn-cu12", "9.27.0.42", "nvidia/cudnn/lib/libcudnn.so.9,,\n../../../etc/passwd,,1\n")
    world.wheel("nvidia-cudnn-cu13", "9.26.0.51")
    (copy,) = seen(world.scene()).values()
    assert isinstance(copy.owner, Unknown)
    assert copy.version == known("9.5.1", "file", f"{CUDNN}/include/cudnn_version.h")


def test_a_header_of_another_major_is_not_believed(world: World) -> None:
    world.file("/data/cudnn/lib64/libcudnn.so.8", elf())
    defines = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 5\n#define CUDNN_PATCHLEVEL 1\n"
    world.file("/data/cudnn/include/cudnn_version.h", defines)
    (copy,) = seen(world.scene(LD_LIBRARY_PATH="/data/cudnn/lib64")).values()
    assert copy.where == "LD_LIBRARY_PATH"
    assert isinstance(copy.version, Unknown)


def test_a_library_in_another_wheel_s_folder_is_not_the_wheel_s_own(world: World) -> None:
    """Somebody copied an older cuDNN beside cuBLAS: the installed cuDNN does not tell its release."""
    inside = "nvidia/cudnn/lib/libcudnn.so.9"
    world.wheel("nvidia-cudnn-cu12", "9.3.0.75", f"{inside},sha256=x,256\n")
    for folder in ("cudnn", "cublas"):
        world.file(f"{SITE}/nvidia/{folder}/lib/libcudnn.so.9", elf())
    found = {copy.path: copy for copy in copies(world.scene()).need() or ()}
    assert found[f"{SITE}/{inside}"].version.need() == "9.3.0"
    stray = found[f"{SITE}/nvidia/cublas/lib/libcudnn.so.9"]
    assert isinstance(stray.owner, Unknown)
    assert isinstance(stray.version, Unknown)


def test_toolkit_conda_and_dpkg_owners(world: World) -> None:
    world.file("/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", elf())
    world.link("/usr/local/cuda-12.4/lib64/libcudart.so.12", "libcudart.so.12.4.127")
    world.file("/conda/lib/libcudnn.so.9.3.0", elf())
    world.file("/conda/conda-meta/cudnn-9.3.0.75-cuda12.6.json", "{}")
    world.file(f"{LIB}/libnccl.so.2.18.3", elf())
    world.file("/var/lib/dpkg/info/libnccl2.list", f"/.\n{LIB}/libnccl.so.2.18.3\n")
    world.file("/var/lib/dpkg/info/libc6.list", f"{LIB}/libc.so.6\n")
    scene = world.scene(CONDA_PREFIX="/conda")
    toolkit = Toolkit(
        "/usr/local/cuda-12.4", "system", known("12.4", "file", "x"), Absent(known("", "file", "x").source)
    )
    scene.facts = msgspec.structs.replace(scene.facts, toolkits=Toolkits(toolkits=known((toolkit,), "folder", "x")))
    found = seen(scene)
    assert {(c.name, c.where) for c in found.values()} == {
        ("libcudart.so.12", "toolkit"),
        ("libcudnn.so.9.3.0", "conda"),
        ("libnccl.so.2.18.3", "default folder"),
    }
    assert found["/conda/lib/libcudnn.so.9.3.0"].owner.need() == "cudnn 9.3.0.75 (conda)"
    assert found[f"{LIB}/libnccl.so.2.18.3"].owner.need() == "libnccl2 (dpkg)"
    assert isinstance(found["/usr/local/cuda-12.4/lib64/libcudart.so.12"].owner, Unknown)


def test_the_cache_is_read_and_other_machines_entries_are_not(world: World) -> None:
    entries = (
        CacheEntry("libcublas.so.12", "/opt/x/libcublas.so.12", 0x0303, 0),
        CacheEntry("libcublas.so.12", "/opt/x32/libcublas.so.12", 0x0003, 0),
        CacheEntry("libc.so.6", "/lib/libc.so.6", 0x0303, 0),
    )
    answers = {question("ldcache", ()): {"state": "known", "value": [vars_of(e) for e in entries], "source": SOURCE}}
    scene = world.scene()
    scene.host = RecordedHost(RecordingFile(SCHEMA, "0", {}, answers))
    found = copies(scene)
    assert isinstance(found, Known)
    assert [(c.path, c.where) for c in found.value] == [("/opt/x/libcublas.so.12", "ld.so.cache")]
    assert isinstance(found.value[0].health, Unknown)


SOURCE = {"kind": "file", "where": "/etc/ld.so.cache"}


def vars_of(entry: CacheEntry) -> dict[str, object]:
    return {"name": entry.name, "path": entry.path, "flags": entry.flags, "hwcap": entry.hwcap}


@pytest.mark.parametrize(
    "content, health",
    [
        (elf(), "ok"),
        (b"", "empty"),
        (elf(extent=4096, size=300), "truncated: needs 4096 bytes, has 300"),
        (elf()[:40], "truncated: "),
        (b"404 Not Found", "not ELF: "),
        (elf(machine=183), "wrong architecture: aarch64, this machine is x86_64"),
    ],
)
def test_health(world: World, content: bytes, health: str) -> None:
    world.file("/x/libcudnn.so.9", content)
    size, said, _ = examine(world.scene().host, "/x/libcudnn.so.9", "x86_64")
    assert (said.need() or "").startswith(health)
    assert size.need() == len(content)


def test_health_of_links_and_folders(world: World) -> None:
    world.link("/x/libcudnn.so.9", "libcudnn.so.9.1.0")
    world.link("/x/libnccl.so.2", "libnccl.so.2")
    world.folder("/x/libcublas.so.12")
    host = world.scene().host
    assert examine(host, "/x/libcudnn.so.9", "x86_64")[1].need() == "dangling link to libcudnn.so.9.1.0"
    assert (examine(host, "/x/libnccl.so.2", "x86_64")[1].need() or "").startswith("unreadable: too many levels")
    assert examine(host, "/x/libcublas.so.12", "x86_64")[1].need() == "not ELF: a folder"
    found = seen(world.scene(LD_LIBRARY_PATH="/x"))
    assert found["/x/libcudnn.so.9"].health.need() == "dangling link to libcudnn.so.9.1.0"
    assert isinstance(found["/x/libcudnn.so.9"].version, Unknown)


def test_a_file_without_permission_is_unreadable(world: World) -> None:
    path = "/x/libcudnn.so.9"
    stat = {"kind": "file", "size": 9, "mode": "----------", "mtime": 0.0}
    answers = {
        question("stat", (path,)): {"state": "known", "value": stat, "source": SOURCE},
        question("elf", (path,)): {"state": "unknown", "reason": f"{path}: permission denied"},
    }
    host = RecordedHost(RecordingFile(SCHEMA, "0", {}, answers))
    assert examine(host, path, "x86_64")[1].need() == "unreadable: permission denied"


def test_a_crowded_folder_and_odd_names_cost_nothing(world: World) -> None:
    folder = world.root / "x"
    folder.mkdir()
    for number in range(2000):
        (folder / f"file-{number}").touch()
    (folder / os.fsdecode(b"libcudnn\xff.so.9")).touch()
    world.file("/x/libcudnn.so.9", elf())
    assert list(seen(world.scene(LD_LIBRARY_PATH="/x;/x/:/missing"))) == ["/x/libcudnn.so.9"]


def test_nothing_seen_is_unknown() -> None:
    assert isinstance(copies(Scene(RecordedHost(RecordingFile(SCHEMA, "0", {}, {})), Options())), Unknown)


def test_every_family_is_let_through_the_folder_filter_and_parsed_back() -> None:
    samples = {
        "cudart": "libcudart.so.12", "cublas": "libcublas.so.12", "cublasLt": "libcublasLt.so.12",
        "cudnn": "libcudnn_engines_precompiled.so.9", "cufft": "libcufftw.so.11", "curand": "libcurand.so.10",
        "cusolver": "libcusolverMg.so.11", "cusparse": "libcusparse.so.12", "cusparselt": "libcusparseLt.so.0",
        "nccl": "libnccl.so.2", "nvrtc": "libnvrtc-builtins.so.12.9", "nvjitlink": "libnvJitLink.so.12",
        "cupti": "libcupti.so.12", "nvtx": "libnvToolsExt.so.1", "cufile": "libcufile.so.0",
        "nvshmem": "libnvshmem_host.so.3", "tensorrt": "libnvinfer_plugin.so.10",
    }  # fmt: skip
    assert set(samples) == {family.name for family in FAMILIES}
    for family, name in samples.items():
        parsed = parse(name)
        assert parsed is not None
        assert parsed.family.name == family
        assert re.match(FILES, name)
    for other in ("libcuda.so.1", "libcudart_static.a", "libnvidia-ml.so.1", "libcudnn.so.9.bak", "libnvrtc.alt.so.12"):
        assert parse(other) is None


def test_unsuffixed_wheels_own_the_new_layout_only(world: World) -> None:
    world.wheel("nvidia-cublas", "13.4.1.3")
    world.wheel("nvidia-cublas-cu12", "12.9.2.10")
    cublas = next(family for family in FAMILIES if family.name == "cublas")
    new = candidate_wheels(world.distributions, cublas, "nvidia/cu13/lib/libcublas.so.13")
    old = candidate_wheels(world.distributions, cublas, "nvidia/cublas/lib/libcublas.so.12")
    assert ([d.name for d in new], [d.name for d in old]) == (["nvidia-cublas"], ["nvidia-cublas-cu12"])


def test_defined_version() -> None:
    assert defined_version(["#define CUDART_VERSION  12090"], ["CUDART_VERSION"]) == "12.9"
    assert defined_version(["  #define CUSOLVER_VER_MAJOR 11"], ["CUSOLVER_VER_MAJOR", "CUSOLVER_VER_MINOR"]) == ""

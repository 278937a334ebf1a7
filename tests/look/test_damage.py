"""RECORD against the disk: conflicts and damage, with hostile RECORDs among them."""

import pytest

from gpuwhy.facts.installs import Conflict
from tests.look.world import SITE, World, shared_object

CUDNN = "nvidia/cudnn/lib/libcudnn.so.9"
GOOD = shared_object("libc.so.6", padding=100)


def damaged(world: World, **options: bool) -> list[tuple[str, str]]:
    found = world.look(**options).installs.damage.need()
    assert found is not None
    return [(d.kind.value, d.path.removeprefix(f"{SITE}/")) for d in found]


def conflicts(world: World) -> list[Conflict]:
    return list(world.look().installs.conflicts.need() or ())


def winners(found: Conflict) -> dict[str, int]:
    return {str(one.owner): one.files for one in found.winners.need() or ()}


@pytest.mark.parametrize(
    "content, what",
    [
        (b"", "empty"),
        (GOOD[:-50], "truncated"),
        (GOOD[:40], "truncated"),
        (b"<html>404 not found</html>", "not a library"),
        (bytes(len(GOOD)), "not a library"),
        (GOOD[:-1] + b"Xmore", "other size"),
        (GOOD[:120] + (6).to_bytes(4, "little") + GOOD[124:] + bytes(4096), "not loadable"),
        (GOOD + b"signature", ""),
    ],
)
def test_broken_contents(world: World, content: bytes, what: str) -> None:
    world.install("nvidia-cudnn-cu12", "9.27.0", {CUDNN: GOOD})
    world.file(f"{SITE}/{CUDNN}", content)
    assert damaged(world) == ([(what, CUDNN)] if what else [])


def test_missing_dangling_looping(world: World) -> None:
    files: dict[str, bytes | str] = {f"nvidia/cudnn/lib/lib{n}.so": GOOD for n in ("a", "b", "c", "d")}
    world.install("nvidia-cudnn-cu12", "9.27.0", files)
    folder = world.root / SITE.lstrip("/") / "nvidia/cudnn/lib"
    for name in ("a", "b", "c"):
        (folder / f"lib{name}.so").unlink()
    (folder / "libb.so").symlink_to("nowhere.so")
    (folder / "libc.so").symlink_to("libc.so")
    assert [what for what, _ in damaged(world)] == ["missing", "dangling link", "unreadable"]


def test_same_size_other_bytes_needs_verify(world: World) -> None:
    tool = shared_object(machine=183)
    world.install("nvidia-cudnn-cu12", "9.27.0", {CUDNN: GOOD, "nvidia/tool/for_another_machine.so": tool})
    world.file(f"{SITE}/{CUDNN}", GOOD[:-1] + b"!")
    assert damaged(world) == []
    assert damaged(world, files="all") == [("other hash", CUDNN)]


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("_core.cpython-312-x86_64-linux-gnu.so", None),
        ("_core.cpython-312-aarch64-linux-gnu.so", ("x86_64", "aarch64")),
        ("_core.cpython-310-x86_64-linux-gnu.so", ("3.12", "3.10")),
        ("_core.cpython-312t-x86_64-linux-gnu.so", ("3.12", "3.12t")),
        ("_core.cp312-win_amd64.pyd", ("Linux", "Windows")),
        ("_core.cpython-312-darwin.so", ("Linux", "macOS")),
        ("_core.abi3.so", None),
        ("libcore.so.1", None),
    ],
)
def test_a_package_of_another_machine_system_or_python(
    world: World, file: str, told: tuple[str, str] | None
) -> None:
    world.install("cupy-cuda12x", "13.6.0", {f"cupy/{file}": GOOD})
    found = [(d.expected, d.actual) for d in world.look().installs.damage.need() or ()]
    assert found == ([told] if told else [])


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("torch/__init__.py", "missing"),
        ("torch/testing/_creation.py", "missing"),
        ("torch/test/common.py", None),
        ("torch/nn/empty.py", None),  # it was empty when it came
    ],
)
def test_python_files_that_are_gone(world: World, file: str, what: str | None) -> None:
    world.install("torch", "2.6.0", {"torch/__init__.py": "x", file: "" if "empty" in file else "x"})
    (world.root / SITE.lstrip("/") / file).unlink()
    assert damaged(world) == ([(what, file)] if what else [])


def test_what_kernels_are_compiled_with(world: World) -> None:
    tool, device = "nvidia/cuda_nvcc/bin/ptxas", "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"
    world.install("nvidia-cuda-nvcc-cu12", "12.6.85", {tool: "x", device: "x"})
    (world.root / SITE.lstrip("/") / tool).chmod(0o755)
    assert damaged(world) == []
    (world.root / SITE.lstrip("/") / tool).chmod(0o644)
    (world.root / SITE.lstrip("/") / device).unlink()
    assert damaged(world) == [("missing", device), ("not executable", tool)]


def test_two_wheels_write_one_file_and_the_last_wins(world: World) -> None:
    world.install("nvidia-cudnn-cu13", "9.26.0.51", {CUDNN: GOOD})
    world.install("nvidia-cudnn-cu12", "9.27.0.42", {CUDNN: GOOD + bytes(10)})
    (found,) = conflicts(world)
    assert tuple(map(str, found.owners)) == ("nvidia-cudnn-cu12 9.27.0.42", "nvidia-cudnn-cu13 9.26.0.51")
    assert (found.files, found.module, found.example) == (1, "nvidia.cudnn", f"{SITE}/{CUDNN}")
    assert winners(found) == {"nvidia-cudnn-cu12 9.27.0.42": 1}
    assert damaged(world) == []


def test_equal_sizes_are_told_apart_by_hash(world: World) -> None:
    world.install("onnxruntime", "1.20", {"onnxruntime/capi/x.so": GOOD})
    world.install("onnxruntime-gpu", "1.20", {"onnxruntime/capi/x.so": GOOD[:-1] + b"!"})
    (found,) = conflicts(world)
    assert found.module == "onnxruntime"
    assert winners(found) == {"onnxruntime-gpu 1.20": 1}


def test_hostile_record(world: World) -> None:
    folder = world.install("torch", "2.9.0", {"torch/lib/libtorch.so": GOOD})
    rows = [
        b"../../../../../../etc/secret.so,sha256=x,1",
        b"/etc/absolute.so,sha256=x,1",
        b"torch/../../up.so,sha256=x,1",
        b"~/home.so,sha256=x,1",
        b"no commas.so",
        b"torch/lib/\xff\xfe.so,sha256=x,7",
        b"torch/nul\0.so,sha256=x,7",
        b"torch/lib/libtorch.so,md5=1,99999999999999999999999999",
        b'"torch/lib/a,b.so",sha256=x,7',
        b"torch/readme.so.txt,sha256=x,7",
    ]
    world.file(f"{folder}/RECORD", b"\r\n".join(rows))
    assert [what for what, _ in damaged(world)] == ["missing", "missing"]
    assert [path for _, path in damaged(world)] == ["torch/lib/\\udcff\\udcfe.so", "torch/readme.so.txt"]


def test_what_the_stack_stands_on_is_looked_at_and_what_has_a_list(world: World) -> None:
    folder = world.install("torch", "2.6.0", {"torch/core.so": GOOD}, requires=("sympy",))
    for name in ("numpy", "sympy", "lxml"):
        world.install(name, "2.0", {f"{name}/core.so": GOOD})
    for name in ("numpy", "sympy", "lxml", "torch"):
        world.file(f"{SITE}/{name}/core.so", b"")
    empty = [("empty", f"{name}/core.so") for name in ("numpy", "sympy", "torch")]
    assert sorted(damaged(world)) == empty
    (world.root / f"{folder}/RECORD".lstrip("/")).unlink()
    assert sorted(damaged(world)) == empty[:2]


@pytest.mark.parametrize("stale, real", [("8.9.7", "9.1.0"), ("9.1.0", "8.9.7")])
def test_two_metadata_folders_and_whose_files_are_there(world: World, stale: str, real: str) -> None:
    files = {CUDNN: GOOD + b"of another size", "nvidia/cudnn/lib/libgone.so": GOOD}
    world.install("nvidia-cudnn-cu12", stale, files)
    world.install("nvidia-cudnn-cu12", real, {CUDNN: GOOD})
    (world.root / f"{SITE}/nvidia/cudnn/lib/libgone.so".lstrip("/")).unlink()
    found = world.look()
    assert found.environment.by_name["nvidia-cudnn-cu12"].version == real
    assert not found.installs.damage.need()
    assert conflicts(world) == []


@pytest.mark.parametrize("lost", [True, False])
def test_a_framework_that_an_upgrade_left_in_parts_is_told_by_the_list_that_pip_moved_aside(
    world: World, lost: bool
) -> None:
    aside = f"{SITE}/~ensorflow-2.16.2.dist-info"
    world.file(f"{aside}/METADATA", "Name: tensorflow\nVersion: 2.16.2\n")
    listed = ("tensorflow/__init__.py", "tensorflow/python/tools/__init__.py", "../x/__init__.py")
    world.file(f"{aside}/RECORD", "".join(f"{one},,\n" for one in listed))
    world.file(f"{SITE}/tensorflow/__init__.py", "")
    if not lost:
        world.file(f"{SITE}/tensorflow/python/tools/__init__.py", "")
    assert (("an upgrade was broken off", "tensorflow/python/tools/__init__.py") in damaged(world)) is lost

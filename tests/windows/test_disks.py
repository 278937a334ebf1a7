"""Windows disks with their hives: variables of the registry, files of another Python, one cut file of a cuDNN."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.app import Options, Run, root_host
from gpuwhy.showing import exit_code
from tests.formats.made_hive import hive
from tests.windows import trees
from tests.windows.scene import CUDNN, World
from tests.windows.test_others import install


def hives(disk: trees.Disk, path: list[str], own: dict[str, str], system: dict[str, str] | None = None) -> None:
    """The variables of the machine and of its one user, as Windows keeps them."""
    text = ";".join(path).replace("/", "\\")
    environment = {"Path": text, **(system or {})}
    tree = {"Select": {"Current": 1}, "ControlSet001": {"Control": {"Session Manager": {"Environment": environment}}}}
    disk.put("C:/Windows/System32/config/SYSTEM", hive(tree))
    disk.put("C:/Users/ann/NTUSER.DAT", hive({"Environment": own}))


def judged(disk: trees.Disk):
    return Run(root_host(str(disk.folder)), Options()).report()


@pytest.mark.parametrize(
    ("own", "system", "key"),
    [
        ({"CUDA_VISIBLE_DEVICES": "-1"}, {}, r'"HKCU\Environment"'),
        ({}, {"Cuda_Visible_Devices": "none"}, r"Session Manager\Environment"),
        ({"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "-1"}, ""),
        ({"CUDA_VISIBLE_DEVICES": "1"}, {}, ""),
    ],
)
def test_a_variable_of_the_registry_hides_whichever_gpu_there_is(tmp_path: Path, own, system, key):
    world = World(tmp_path)
    hives(world.disk, world.path, own, system)
    report = judged(world.disk)
    found = {one.id: one for one in report.causes}
    assert (bool(key), int(bool(key))) == ("device.selection" in found, exit_code(report)), report.headline
    if key:
        assert key in found["device.selection"].fixes[0].command
        assert "CUDA_VISIBLE_DEVICES /f" in found["device.selection"].fixes[0].command


def test_a_dead_entry_of_path_that_means_another_folder_is_no_fix(tmp_path: Path):
    world = World(tmp_path)
    path = [one for one in world.path if not one.startswith(CUDNN)]
    hives(world.disk, [*path, f"{world.bin.rpartition('/')[0]}/libnvvp"], {})
    cause = judged(world.disk).causes[0]
    assert cause.id == "env.path"
    assert all("libnvvp" not in fix.text for fix in cause.fixes)
    hives(world.disk, [*path, f'"{CUDNN}/bin"'], {})
    again = judged(world.disk).causes[0]
    assert "has quotes in it" in again.fixes[1].text


def onnxruntime(folder: Path, python: str, wheel: str) -> trees.Disk:
    """onnxruntime-gpu 1.16.3 with the extension of the wheel for one Python, in another."""
    disk = trees.windows(folder, "551.86")
    site = trees.python(disk, f"{python}.9", f"C:/Python{python.replace('.', '')}")
    dll = f"python{wheel.replace('.', '')}.dll"
    files = {
        "onnxruntime/capi/onnxruntime_pybind11_state.pyd": trees.pe({dll: ["Py_Main"], **trees.KERNEL}),
        "onnxruntime/capi/onnxruntime_providers_cuda.dll": trees.pe({"cublas64_11.dll": [], **trees.KERNEL}),
        "onnxruntime/__init__.py": b"",
    }
    install(disk, site, "onnxruntime-gpu", "1.16.3", files)
    install(disk, site, "numpy", "1.26.4", {"numpy/__init__.py": b""})
    libraries = {"cublas64_11.dll": "11.11.3", "cudart64_110.dll": "11.8.89"}
    hives(disk, [f"C:/Python{python.replace('.', '')}", trees.toolkit(disk, "11.8", libraries)], {})
    return disk


def test_files_of_another_python_are_replaced_where_there_is_a_wheel_for_this_one(tmp_path: Path):
    first = judged(onnxruntime(tmp_path, "3.11", "3.10")).causes[0]
    assert first.id == "install.corrupted"
    assert "is built for Python 3.10" in first.because[0].text
    command = first.fixes[0].command
    assert "onnxruntime-gpu==1.16.3" in command
    assert "numpy==1.26.4" in command
    assert "py -3.10" not in command


def test_a_release_without_a_wheel_for_this_python_says_how_to_get_the_right_one(tmp_path: Path):
    first = judged(onnxruntime(tmp_path, "3.12", "3.10")).causes[0]
    assert first.id == "framework.platform_dropped"
    lines = first.fixes[0].command.splitlines()
    assert lines[0] == "winget install --exact --id Python.Python.3.10"
    assert lines[1].startswith("py -3.10 -m venv")


def test_a_cut_part_of_cudnn_is_replaced_by_the_same_release(tmp_path: Path):
    from tests.windows.test_scene import zlib_missing

    world = World(tmp_path)
    zlib_missing(world)
    world.disk.put(f"{CUDNN}/bin/zlibwapi.dll", trees.pe())
    part = world.disk.at(f"{CUDNN}/bin/cudnn_cnn_infer64_8.dll")
    part.write_bytes(part.read_bytes()[:600])
    cause = next(one for one in world.run().report().causes if one.id == "install.corrupted")
    text = " ".join(fix.text for fix in cause.fixes)
    assert "cudnn_cnn_infer64_8.dll of cuDNN 8.9.4" in text
    assert "8.1.1" not in text, "no other release is mixed in"


def test_the_framework_that_was_installed_is_named_not_what_it_brought(tmp_path: Path):
    disk = trees.windows(tmp_path, "551.86")
    site = trees.python(disk, "3.10.11", "C:/Python310")
    info = b"is_cuda_build = False\n"
    install(disk, site, "tensorflow", "2.12.0", {})
    install(disk, site, "tensorflow-intel", "2.12.0", {
        "tensorflow/__init__.py": b"", "tensorflow/python/platform/build_info.py": info,
        "tensorflow/python/_pywrap_tensorflow_internal.pyd": trees.pe(),
    })  # fmt: skip
    install(disk, site, "jax", "0.4.30", {"jax/__init__.py": b""})
    install(disk, site, "jaxlib", "0.4.30", {"jaxlib/__init__.py": b"", "jaxlib/xla_extension.pyd": trees.pe()})
    hives(disk, ["C:/Python310"], {})
    report = Run(root_host(str(disk.folder)), Options(), elsewhere=None).report()
    assert [one.subject for one in report.causes if one.id == "framework.platform_dropped"] == ["TensorFlow 2.12.0"]


@pytest.mark.parametrize("folder", ["C:/lib/cudnn", "C:/ml/cudnn-8"])
def test_a_cudnn_below_a_folder_of_ones_own_is_not_nowhere(tmp_path: Path, folder: str):
    world = World(tmp_path)
    world.disk.put(f"{folder}/bin/cudnn64_7.dll", trees.cudnn7())
    world.remove(CUDNN)
    hives(world.disk, [one for one in world.path if not one.startswith(CUDNN)], {})
    cause = judged(world.disk).causes[0]
    assert cause.id == "env.path"
    assert f"{folder}/bin holds it" in cause.because[0].text

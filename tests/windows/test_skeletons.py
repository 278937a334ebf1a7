"""Every skeleton reads as the library it was taken from."""

from __future__ import annotations

import pytest

from gpuwhy.model.fact import Known
from tests.windows import trees

NAMES = sorted(path.name.removesuffix(".json.gz") for path in trees.SKELETONS.glob("*.json.gz"))
VERSIONS = {
    "cudart64_110.dll": "11.8.89",
    "cudart64_12.dll": "12.4.127",
    "cudnn64_8.dll": "8.9.4",
    "cudnn_ops_infer64_8.dll": "8.9.4",
    "cudnn64_9.dll": "9.1.0",
    "cudnn_graph64_9.dll": "9.1.0",
    "cudnn_cnn64_9.dll": "9.1.0",
    "cublas64_11.dll": "11.10.3.66",
    "cublasLt64_11.dll": "11.10.3.66",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_skeleton_has_its_size_and_its_needs(tmp_path, name):
    disk = trees.windows(tmp_path)
    disk.real(f"C:/x/{name}")
    host = disk.host(PATH="x")
    found = host.pe(f"C:/x/{name}").need()
    assert found is not None
    assert (found.machine, found.is_dll) == ("x86_64", True)
    assert any(need.upper() == "KERNEL32.DLL" or need.startswith("api-ms-win") for need in found.imports)
    assert found.extent <= disk.at(f"C:/x/{name}").stat().st_size


@pytest.mark.parametrize("name", VERSIONS)
def test_the_version_of_a_real_library(tmp_path, name):
    disk = trees.windows(tmp_path)
    disk.real(f"C:/x/{name}")
    assert disk.host(PATH="x").cuda_version(f"C:/x/{name}").need() == VERSIONS[name]


def test_the_gpu_code_of_tensorflow(tmp_path):
    disk = trees.windows(tmp_path)
    package = trees.tensorflow(disk, "C:/site")
    found = disk.host(PATH="x").gpu_code(f"{package}/python/_pywrap_tensorflow_internal.pyd")
    assert isinstance(found, Known)
    assert found.value.usual_sass == ("sm_35", "sm_37", "sm_52", "sm_60", "sm_61", "sm_70")
    assert found.value.usual_ptx == ("compute_70",)

"""Readers: what each generation of a framework's wheels tells, from wheels made for the purpose."""

import struct

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("isal")
pytest.importorskip("capstone")
pytest.importorskip("numpy")

from tools.harvest import binaries
from tools.harvest.readers import Disagreement, jax, library, onnxruntime, others, tensorflow, torch
from tools.harvest.reading import requirements
from tools.harvest.web import Web
from tools.harvest.wheel import Wheel

from .serving import serving, tagged, wheel_bytes


@pytest.fixture(scope="module")
def read():
    """Read a wheel of some members with a reader's light half."""
    with serving() as server:
        web = Web(2, 0.0)

        def one(light, name, project, members):
            server.files[name] = wheel_bytes(members)
            return light(Wheel(web, server.address + name), tagged(name, project))

        yield one


BUILD = "tensorflow/python/platform/build_info.py"
CONFIG = "tensorflow/include/external/local_config_cuda/cuda/cuda/cuda_config.h"
META = "x.dist-info/METADATA"
LINUX, WINDOWS = "cp38-cp38-manylinux2010_x86_64.whl", "cp38-cp38-win_amd64.whl"


def config(**versions: str) -> str:
    return "".join(f'#define TF_{name}_VERSION "{value}"\n' for name, value in versions.items())


def test_tensorflow_says_ten_and_the_header_says_which(read):
    found = read(tensorflow.light, f"tensorflow-2.2.0-{LINUX}", "tensorflow", {
        META: "", BUILD: "is_cuda_build = True\ncuda_version_number = '10'\ncudnn_version_number = '7'\n",
        CONFIG: config(CUDA="10.1", CUDA_LIB="10", CUDNN="7"),
    })  # fmt: skip
    assert found.values["cuda"] == "10.1"
    assert found.values["cudnn"] == "7"
    assert found.values["opens"][:2] == ["libcudart.so.10.1", "libcublas.so.10"]
    assert found.evidence["cuda"] == f"config@{CONFIG}"
    assert "sass" not in found.values


def test_tensorflow_on_windows_joins_dll_names(read):
    info = ("build_info = collections.OrderedDict([('cuda_compute_capabilities', ['sm_35', 'compute_80']), "
            "('cuda_version', '64_112'), ('cudnn_version', '64_8'), ('is_cuda_build', True)])")  # fmt: skip
    header = config(CUDA="64_112", CUDART="64_110", CUBLAS="64_11", CUSOLVER="64_11", CURAND="64_10", CUFFT="64_10",
                    CUSPARSE="64_11", CUDNN="64_8")  # fmt: skip
    found = read(
        tensorflow.light, f"tensorflow-2.10.0-{WINDOWS}", "tensorflow", {META: "", BUILD: info, CONFIG: header}
    )
    assert (found.values["cuda"], found.values["cudnn"]) == ("11.2", "8")
    assert found.values["sass"] == ["sm_35", "sm_80"]
    assert found.values["ptx"] == ["compute_80"]
    assert "cudart64_110.dll" in found.values["opens"]
    assert "cublasLt64_11.dll" in found.values["opens"]


NO_CUDA = {
    "tensorflow": (tensorflow.light, f"tensorflow-1.15.2-{LINUX}", {META: "", BUILD: "is_cuda_build = False\n"}),
    "stub": (tensorflow.light, f"tensorflow-2.12.0-{WINDOWS}", {META: "Requires-Dist: tensorflow-intel==2.12.0\n"}),
    "torch": (torch.light, f"torch-2.1.0-{WINDOWS}", {"torch/version.py": "cuda: Optional[str] = None\n"}),
    "jaxlib": (jax.light, f"jaxlib-0.4.30-{LINUX}", {META: "", "jaxlib/xla_extension.so": b"x"}),
}


@pytest.mark.parametrize("name", NO_CUDA)
def test_without_cuda(read, name):
    light, file, members = NO_CUDA[name]
    found = read(light, file, file.partition("-")[0], members)
    assert found.values["cuda"] is None
    assert name != "stub" or found.evidence["cuda"] == f"stub@{META}"


def test_tensorflow_that_contradicts_itself_is_no_row(read):
    with pytest.raises(Disagreement, match=r"CUDA 11\.0, cuda_config\.h 10\.1"):
        read(tensorflow.light, f"tensorflow-2.4.0-{LINUX}", "tensorflow", {
            META: "", CONFIG: config(CUDA="10.1"),
            BUILD: "build_info = {'cuda_version': '11.0', 'is_cuda_build': True}"})  # fmt: skip


def test_torch_pins_and_markers(read):
    meta = ("Name: torch\nRequires-Dist: nvidia-cudnn-cu12 (==8.9.2.26) ; platform_system == \"Linux\" and "
            "platform_machine == \"x86_64\"\nRequires-Dist: sympy\n\nRequires-Dist: nvidia-body-cu12\n")  # fmt: skip
    members = {"torch/version.py": "__all__ = ['cuda', 'hip']\ncuda: Optional[str] = '12.1.1'\n", META: meta}
    found = read(torch.light, "torch-2.1.0-cp310-cp310-manylinux1_x86_64.whl", "torch", members)
    assert found.values["cuda"] == "12.1"
    assert found.values["cudnn"] == "8.9.2"
    assert found.values["requires"] == {"nvidia-cudnn-cu12": "==8.9.2.26"}
    arm = read(torch.light, "torch-2.1.0-cp310-cp310-manylinux2014_aarch64.whl", "torch", members)
    assert "requires" not in arm.values


def test_onnxruntime_by_its_opening_module(read):
    found = read(onnxruntime.light, f"onnxruntime_gpu-1.15.1-{LINUX}", "onnxruntime-gpu", {
        META: "", "onnxruntime/capi/libonnxruntime_providers_cuda.so": b"x",
        "onnxruntime/capi/_ld_preload.py": 'CDLL("libcudart.so.11.0")\nCDLL("libcudnn.so.8")\n'})  # fmt: skip
    assert (found.values["cuda"], found.values["cudnn"]) == ("11", "8")
    assert found.values["opens"] == ["libcudart.so.11.0", "libcudnn.so.8"]


def test_library_wheels(read):
    found = read(library.light, "nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl", "nvidia-cudnn-cu12", {
        META: "Requires-Dist: nvidia-cublas-cu12\n", "nvidia/cudnn/lib/libcudnn.so.9": b"x",
        "nvidia/cudnn/include/cudnn_version.h":
            "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n"})  # fmt: skip
    assert found.values == {
        "requires": {"nvidia-cublas-cu12": ""}, "ships": ["libcudnn.so.9"], "cuda": "12", "cudnn": "9.1.0"}  # fmt: skip


def test_cupy_and_xformers(read):
    cupy = read(others.cupy, f"cupy_cuda112-10.0.0-{LINUX}", "cupy-cuda112", {
        META: "",
        "cupy/.data/_wheel.json": '{"cuda": "11.2", "cudnn": {"version": "8.2.1.32"}, "nccl": null}'})  # fmt: skip
    assert (cupy.values["cuda"], cupy.values["cudnn"]) == ("11.2", "8.2.1")
    built = '{"version": {"cuda": 1208}, "env": {"TORCH_CUDA_ARCH_LIST": "8.0+PTX 9.0a"}}'
    made = read(others.xformers, f"xformers-0.0.31-{LINUX}", "xformers", {META: "", "xformers/cpp_lib.json": built})
    assert made.values["cuda"] == "12.8"
    assert (made.values["sass"], made.values["ptx"]) == (["sm_80", "sm_90a"], ["compute_80"])


def test_both_syntaxes_of_requirements():
    text = "Requires-Dist: a_b (>=1,<2) ; extra == 'x'\nRequires-Dist: c[d,e]==1.0; os_name == 'nt'\n"
    assert requirements(text) == [("a-b", "", ">=1,<2", "extra == 'x'"), ("c", "d,e", "==1.0", "os_name == 'nt'")]


def region(*entries: tuple[int, int]) -> bytes:
    body = b""
    for kind, arch in entries:
        head = bytearray(64)
        struct.pack_into("<HHIQ", head, 0, kind, 1, 64, 8)
        struct.pack_into("<HHI", head, 24, 3, 6, arch)
        body += bytes(head) + bytes(8)
    return bytes.fromhex("50ed55ba01001000") + struct.pack("<Q", len(body)) + body


def test_gpu_code_of_a_stream_is_what_most_regions_carry():
    usual, odd = region((2, 70), (2, 80), (1, 80)), region((2, 35))
    data = b"head" + odd + usual + bytes(100) + usual + b"tail"
    for size in (7, 64, 10_000):
        code = binaries.gpu_code((data[i : i + size] for i in range(0, len(data), size)), 100, 1 << 20)
        assert code == (["sm_70", "sm_80"], ["compute_80"], "6.3", 3)
    assert binaries.gpu_code(iter([data]), 1, 1 << 20).sass == ["sm_70", "sm_80"], "one architecture is not enough"
    assert binaries.gpu_code(iter([b"nothing"]), 1, 1 << 20).regions == 0


def test_names_between_nuls():
    data = b"\0libcudart.so.9.0\0xlibcudnn.so.7\0libcuda.so.1\0cublas64_90.dll\0"
    assert binaries.names(iter([data]), 1 << 20) == ["libcudart.so.9.0", "libcuda.so.1", "cublas64_90.dll"]

"""What each framework was built for and opens, read from small copies of its own files."""

from __future__ import annotations

import pytest

from gpuwhy.facts.fact import Absent, Known, Unknown
from gpuwhy.facts.frameworks import Framework
from gpuwhy.look.environment.packages import gpu_related
from gpuwhy.look.frameworks.builds import assigned, dotted
from tests.look.world import SITE, World, shared_object

INFO = "python/platform/build_info.py"


def only(world: World) -> Framework:
    found = world.look().frameworks.installed.need()
    assert found is not None
    assert len(found) == 1
    return found[0]


def names(framework: Framework, *, optional: bool = False) -> list[str]:
    return [o.name for o in framework.opens.need() or () if o.optional == optional]


def tensorflow(
    world: World,
    version: str,
    info: str,
    folder: str = "tensorflow",
    requires: list[str] | None = None,
):
    number = "1" if version.startswith("1.") else "2"
    files: dict[str, bytes | str] = {
        "tensorflow/__init__.py": "",
        f"{folder}/{INFO}": info,
        f"{folder}/libtensorflow_framework.so.{number}": shared_object("libc.so.6"),
    }
    world.install("tensorflow", version, files, requires or [])
    return only(world)


MODERN = (
    "import collections\nbuild_info = collections.OrderedDict([('cpu_compiler', 'clang'), "
    "('cuda_compute_capabilities', ['sm_60', 'sm_89', 'compute_90']), "
    "('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True)])\n"
)


def test_tensorflow_2_21(world: World) -> None:
    requires = [
        'nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"',
        "nvidia-nccl-cu12<3.0,>=2.27.7",
    ]
    found = tensorflow(world, "2.21.0", MODERN, requires=requires)
    assert found.gpu_build.need() is True
    assert (found.built_for_cuda.need(), found.built_for_cudnn.need()) == ("12.5", "9.3.0")
    assert found.sass.need() == ("sm_60", "sm_89", "sm_90")
    assert found.ptx.need() == ("compute_90",)
    assert names(found) == [
        "libcudart.so.12",
        "libcublas.so.12",
        "libcublasLt.so.12",
        "libcufft.so.11",
        "libcusolver.so.11",
        "libcusparse.so.12",
        "libcudnn.so.9",
    ]
    assert names(found, optional=True) == ["libnccl.so.2"]


OLD = ("libcublas.so.8.0", "libcudnn.so.6", "libcudart.so.8.0")


def test_tensorflow_1_15_says_only_10(world: World) -> None:
    info = (
        "is_rocm_build = False\nis_cuda_build = True\n\n"
        "cuda_version_number = '10'\ncudnn_version_number = '7'\n"
    )
    found = tensorflow(world, "1.15.5", info, "tensorflow_core")
    assert found.built_for_cuda.need() == "10.0"
    assert found.path.endswith("/tensorflow_core")
    assert names(found) == [
        "libcudart.so.10.0",
        "libcublas.so.10.0",
        "libcufft.so.10.0",
        "libcurand.so.10.0",
        "libcusolver.so.10.0",
        "libcusparse.so.10.0",
        "libcudnn.so.7",
    ]
    assert all(
        o.by.endswith("tensorflow_core/libtensorflow_framework.so.1")
        for o in found.opens.need() or ()
    )


@pytest.mark.parametrize(
    "version, cuda, expected",
    [
        (
            "2.3.4",
            "10.1",
            {"libcudart.so.10.1", "libcublas.so.10", "libcusolver.so.10", "libcurand.so.10"},
        ),
        (
            "2.4.1",
            "11.0",
            {"libcudart.so.11.0", "libcublasLt.so.11", "libcusolver.so.10", "libcusparse.so.11"},
        ),
        (
            "2.10.1",
            "11.2",
            {"libcudart.so.11.0", "libcufft.so.10", "libcusolver.so.11", "libcurand.so.10"},
        ),
    ],
)
def test_tensorflow_names_by_cuda(
    world: World, version: str, cuda: str, expected: set[str]
) -> None:
    info = f"build_info = {{'cuda_version': '{cuda}', 'cudnn_version': '8', 'is_cuda_build': True}}"
    assert expected <= set(names(tensorflow(world, version, info)))


@pytest.mark.parametrize(
    "version, caller",
    [
        ("2.3.4", "tensorflow/libtensorflow_framework.so.2"),
        ("2.4.4", "tensorflow/python/_pywrap_tensorflow_internal.so"),
        ("2.10.1", "tensorflow/python/_pywrap_tensorflow_internal.so"),
        ("2.11.1", "tensorflow/libtensorflow_framework.so.2"),
    ],
)
def test_tensorflow_file_that_opens(world: World, version: str, caller: str) -> None:
    found = tensorflow(world, version, MODERN).opens.need() or ()
    assert found
    assert all(o.by.endswith(caller) for o in found)


@pytest.mark.parametrize(
    "version, opened, optional",
    [
        ("2.3.4", {"libcurand.so.10"}, set()),
        ("2.13.1", {"libcurand.so.10", "libcublasLt.so.12"}, set()),
        ("2.14.1", {"libcublasLt.so.12"}, set()),
        ("2.20.0", {"libcublasLt.so.12"}, set()),
        ("2.21.0", {"libcublasLt.so.12"}, {"libnccl.so.2"}),
    ],
)
def test_tensorflow_names_by_release(
    world: World, version: str, opened: set[str], optional: set[str]
) -> None:
    found = tensorflow(
        world, version, MODERN, requires=["nvidia-nccl-cu12 (==2.16.5) ; extra == 'and-cuda'"]
    )
    assert set(names(found)) & {"libcurand.so.10", "libcublasLt.so.12"} == opened
    assert set(names(found, optional=True)) == optional


def test_tensorflow_for_an_unheard_cuda_opens_we_do_not_know_what(world: World) -> None:
    found = tensorflow(
        world,
        "1.12.0",
        "is_cuda_build = True\ncuda_version_number = '7.0'\ncudnn_version_number='6'",
    )
    assert isinstance(found.opens, Unknown)


def test_tensorflow_windows_values(world: World) -> None:
    info = "build_info = {'cuda_version': '64_101', 'cudnn_version': '64_7', 'is_cuda_build': True}"
    found = tensorflow(world, "2.3.0", info)
    assert (found.built_for_cuda.need(), found.built_for_cudnn.need()) == ("10.1", "7")


def test_tensorflow_1_13_has_needed_entries(world: World) -> None:
    found = tensorflow(world, "1.13.1", "is_cuda_build = True\n")
    library = shared_object("libcublas.so.10.0", "libcuda.so.1", "libcudnn.so.7", "libm.so.6")
    world.file(f"{found.path}/libtensorflow_framework.so.1", library)
    assert names(only(world)) == ["libcublas.so.10.0", "libcudnn.so.7"]
    extension = shared_object("libcusolver.so.10.0")
    world.file(f"{found.path}/python/_pywrap_tensorflow_internal.so", extension)
    assert names(only(world)) == ["libcublas.so.10.0", "libcudnn.so.7", "libcusolver.so.10.0"]


def test_tensorflow_cpu_build_is_told_by_build_info_not_by_name(world: World) -> None:
    found = tensorflow(
        world, "2.21.0", "build_info = {'is_cuda_build': False, 'is_rocm_build': False}"
    )
    assert found.gpu_build.need() is False
    assert isinstance(found.built_for_cuda, Absent)
    assert found.opens.need() == ()


def test_tensorflow_with_garbage_for_build_info(world: World) -> None:
    found = tensorflow(
        world, "2.21.0", "\udcff\x00('is_cuda".encode("utf-8", "surrogatepass").decode("latin-1")
    )
    assert isinstance(found.gpu_build, Unknown)


def torch(world: World, cuda: str, hip: str = "None") -> Framework:
    files: dict[str, bytes | str] = {
        "torch/version.py": (
            f"__version__ = '2.9.0'\ncuda: Optional[str] = {cuda}\nhip: Optional[str] = {hip}\n"
        ),
        "torch/lib/libtorch_cuda.so": shared_object(
            "libcudart.so.13", "libcudnn.so.9", "libc10_cuda.so", "libcuda.so.1"
        ),
        "torch/lib/libtorch_cpu.so": shared_object("libcupti.so.13", "libcudart.so.13"),
        "torch/lib/libtorch_cuda_linalg.so": shared_object("libcusolver.so.12"),
    }
    requires = [
        "nvidia-cuda-runtime==13.0.48; platform_system == 'Linux'",
        "nvidia-cudnn-cu13 (==9.19.0.56) ; x",
    ]
    world.install("torch", "2.9.0", files, requires)
    return only(world)


def test_torch(world: World) -> None:
    found = torch(world, "'13.0'")
    assert (found.built_for_cuda.need(), found.built_for_cudnn.need()) == ("13.0", "9.19.0")
    assert names(found) == ["libcudart.so.13", "libcudnn.so.9", "libcupti.so.13"]
    assert names(found, optional=True) == ["libcusolver.so.12"]
    assert isinstance(found.sass, Unknown)


def test_torch_old_version_is_cut(world: World) -> None:
    assert torch(world, "'10.0.130'").built_for_cuda.need() == "10.0"


def test_torch_cpu_and_rocm_builds(world: World) -> None:
    assert torch(world, "None").gpu_build.need() is False
    rocm = torch(world, "None", "'6.2'").gpu_build
    assert isinstance(rocm, Known)
    assert "ROCm" in rocm.source.detail


def test_torch_with_a_broken_main_library(world: World) -> None:
    found = torch(world, "'13.0'")
    world.file(f"{found.path}/lib/libtorch_cuda.so", b"")
    again = only(world)
    assert isinstance(again.opens, Unknown)
    assert again.gpu_build.need() is True


def test_jax_without_and_with_plugin(world: World) -> None:
    world.install("jax", "0.12.0", {"jax/__init__.py": ""})
    world.install("jaxlib", "0.12.0", {"jaxlib/__init__.py": ""})
    plain = only(world).gpu_build
    assert isinstance(plain, Known)
    assert plain.value is False
    assert "no jax-cuda plugin" in plain.source.detail
    world.file(f"{SITE}/jax_plugins/xla_cuda12/xla_cuda_plugin.so", b"")
    world.install(
        "jax-cuda12-plugin",
        "0.12.0",
        {},
        ["nvidia-cudnn-cu12<10.0,>=9.10.2.21; extra == 'with-cuda'"],
    )
    found = only(world)
    assert (found.built_for_cuda.need(), found.built_for_cudnn.need()) == ("12", "9.10.2")
    assert "libcudnn.so.9" in names(found)
    assert "libnccl.so.2" in names(found, optional=True)


def test_old_jaxlib_tells_by_its_version(world: World) -> None:
    world.install("jax", "0.4.13", {"jax/__init__.py": ""})
    world.install("jaxlib", "0.4.13+cuda11.cudnn86")
    found = only(world)
    assert (found.gpu_build.need(), found.built_for_cuda.need(), found.built_for_cudnn.need()) == (
        True,
        "11",
        "8.6",
    )


def test_onnxruntime_by_its_provider(world: World) -> None:
    world.install("onnxruntime-gpu", "1.20.0", {"onnxruntime/__init__.py": ""})
    assert only(world).gpu_build.need() is False
    provider = shared_object("libcublasLt.so.12", "libcudnn.so.9", "libcuda.so.1")
    world.install(
        "onnxruntime-gpu", "1.20.0", {"onnxruntime/capi/libonnxruntime_providers_cuda.so": provider}
    )
    found = only(world)
    assert (found.gpu_build.need(), found.built_for_cuda.need()) == (True, "12")
    assert names(found) == ["libcublasLt.so.12", "libcudnn.so.9"]


def test_onnxruntime_opens_the_cudnn_that_its_text_names(world: World) -> None:
    text = '    cudnn_dll_paths = [\n        ("nvidia", "cudnn", "lib", "libcudnn.so.9"),\n'
    provider = shared_object("libcublas.so.13", "libcudart.so.13")
    files = {
        "onnxruntime/__init__.py": text,
        "onnxruntime/capi/libonnxruntime_providers_cuda.so": provider,
    }
    world.install("onnxruntime-gpu", "1.31.1", files)
    found = only(world)
    assert names(found) == ["libcublas.so.13", "libcudart.so.13"]
    assert names(found, optional=True) == ["libcudnn.so.9"]


def test_cupy_needs_its_compiler_and_cublas_and_asks_for_the_rest_when_used(world: World) -> None:
    files = {
        "cupy/__init__.py": "",
        "cupy/cuda/jitify.cpython-312-x86_64-linux-gnu.so": shared_object("libnvrtc.so.12"),
        "cupy/cuda/cufft.cpython-312-x86_64-linux-gnu.so": shared_object("libcufft.so.11"),
        "cupy_backends/cuda/api/runtime.cpython-312-x86_64-linux-gnu.so": shared_object(
            "libc.so.6"
        ),
        "cupy_backends/cuda/libs/cublas.cpython-312-x86_64-linux-gnu.so": shared_object(
            "libcublas.so.12"
        ),
        "cupy_backends/cuda/libs/nccl.cpython-312-x86_64-linux-gnu.so": shared_object(
            "libnccl.so.2"
        ),
    }
    world.install("cupy-cuda12x", "13.6.0", files)
    found = only(world)
    assert sorted(names(found)) == ["libcublas.so.12", "libnvrtc.so.12"]
    assert sorted(names(found, optional=True)) == ["libcufft.so.11", "libnccl.so.2"]


def test_onnxruntime_gpu_that_lost_its_provider_is_still_a_gpu_build(world: World) -> None:
    provider = "onnxruntime/capi/libonnxruntime_providers_cuda.so"
    info = {
        "onnxruntime/capi/build_and_package_info.py": (
            "package_name = 'onnxruntime-gpu'\ncuda_version = '13.0'\n"
        )
    }
    world.install("onnxruntime-gpu", "1.31.1", {provider: shared_object("libcublas.so.13"), **info})
    (world.root / f"{SITE}/{provider}".lstrip("/")).unlink()
    found = only(world)
    assert (found.gpu_build.need(), found.built_for_cuda.need()) == (True, "13.0")


def test_onnxruntime_over_onnxruntime_gpu_is_a_cpu_build(world: World) -> None:
    files = {
        "onnxruntime/capi/libonnxruntime_providers_cuda.so": shared_object("libcublas.so.13"),
        "onnxruntime/capi/build_and_package_info.py": (
            "package_name = 'onnxruntime'\n__version__ = '1.31.1'\n"
        ),
    }
    world.install("onnxruntime", "1.31.1", files)
    (found,) = world.look().frameworks.installed.need() or ()
    assert found.gpu_build.need() is False


def test_onnxruntime_with_stripped_needs_preloads(world: World) -> None:
    files: dict[str, bytes | str] = {
        "onnxruntime/capi/libonnxruntime_providers_cuda.so": shared_object("libm.so.6"),
        "onnxruntime/capi/_ld_preload.py": (
            "_cdll = CDLL('libcublas.so.11', mode=RTLD_GLOBAL)\nCDLL('libcudnn.so.8')\n"
        ),
    }
    world.install("onnxruntime-gpu", "1.14.1", files)
    assert names(only(world)) == ["libcublas.so.11", "libcudnn.so.8"]


def test_small_ones(world: World) -> None:
    world.install(
        "cupy-cuda12x",
        "13.0",
        {"cupy/__init__.py": "", "cupy/.data/_wheel.json": '{"cuda": "12.x"}'},
    )
    world.install(
        "paddlepaddle-gpu",
        "2.6",
        {"paddle/version/__init__.py": "cuda_version = '11.7'\ncudnn_version = '8.4.1'\n"},
    )
    world.install("mxnet-cu112", "1.9", {"mxnet/libmxnet.so": shared_object("libcudart.so.11.0")})
    world.install(
        "xformers",
        "0.0.30",
        {"xformers/__init__.py": "", "xformers/_C.so": shared_object("libcudart.so.12")},
    )
    world.install(
        "bitsandbytes",
        "0.45",
        {f"bitsandbytes/libbitsandbytes_cuda{n}.so": b"" for n in (118, 121)},
    )
    world.install(
        "triton", "3.9.0", {"triton/backends/nvidia/include/cuda.h": "#define CUDA_VERSION 12080\n"}
    )
    world.install("numba", "0.61", {"numba/__init__.py": ""})
    world.install(
        "flash-attn",
        "2.7+cu12",
        {"flash_attn/__init__.py": "", "flash_attn_2_cuda.so": shared_object("libcudart.so.12")},
    )
    found = {f.name: f for f in world.look().frameworks.installed.need() or ()}
    told = {
        name: f.built_for_cuda.need()
        for name, f in found.items()
        if isinstance(f.built_for_cuda, Known)
    }
    assert told == {
        "cupy": "12",
        "paddle": "11.7",
        "mxnet": "11",
        "xformers": "12",
        "triton": "12.8",
        "flash_attn": "12",
    }
    several = found["bitsandbytes"].built_for_cuda
    assert isinstance(several, Unknown)
    assert "11.8, 12.1" in several.reason
    assert isinstance(found["numba"].gpu_build, Unknown)


def test_leftover_metadata_is_no_framework(world: World) -> None:
    world.install("torch", "2.9.0")
    assert world.look().frameworks.installed.need() == ()


def test_neighbours_of_tensorflow_are_not_tensorflow() -> None:
    assert gpu_related("tensorflow-cpu-aws")
    assert gpu_related("nvidia-nccl-cu13")
    for name in (
        "tensorflow-estimator",
        "tensorflow-datasets",
        "torchmetrics",
        "keras",
        "jaxtyping",
    ):
        assert not gpu_related(name)


def test_assigned_reads_all_spellings() -> None:
    text = (
        "a = '1'\nb: Optional[str] = None\n"
        "build_info = {'c': True, \"d\": '64_101'}\n[('e', ['x', 'y'])]"
    )
    assert assigned(text) == {"a": "1", "b": "None", "c": "True", "d": "64_101", "e": "['x', 'y']"}


def test_dotted() -> None:
    assert [dotted(d) for d in ("112", "92", "12", "100")] == ["11.2", "9.2", "12", "10.0"]

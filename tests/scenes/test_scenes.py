"""Whole scenes: an environment as it really lies on disk, judged from the first look to the last sentence.

The ones marked `real` read multi-gigabyte installs below $GPUWHY_LAB; the others build the same scene from small files.
"""

import os
from pathlib import Path

import pytest

from tests.look.world import World, shared_object

from .stage import LAB, live, small, told

real = pytest.mark.real


def lab(*names: str) -> Path:
    """A real environment or folder, or a skip."""
    path = LAB.joinpath(*names)
    if not os.environ.get("GPUWHY_LAB") or not path.exists():
        pytest.skip(f"GPUWHY_LAB has no {'/'.join(names)}")
    return path


# ---------------------------------------------------------------- small worlds, on every change


def tensorflow(world: World, version: str, cuda: str, cudnn: str, package: str = "tensorflow") -> None:
    """TensorFlow of the generation that opens its libraries by name and looks into no wheel."""
    world.venv()
    info = f"cuda_version_number = '{cuda}'\ncudnn_version_number = '{cudnn}'\nis_cuda_build = True\n"
    major = version.split(".")[0]
    world.install(
        "tensorflow-gpu",
        version,
        {
            "tensorflow/__init__.py": "",
            f"{package}/python/platform/build_info.py": info,
            f"{package}/libtensorflow_framework.so.{major}": shared_object(),
            f"{package}/python/_pywrap_tensorflow_internal.so": shared_object(),
        },
    )


def toolkit(world: World, folder: str, *names: str) -> None:
    """Libraries by their asked-for names, each a link to a file with its full version."""
    for name in names:
        asked, _, full = name.partition(" ")
        target = asked.split(".so")[0] + f".so.{full}" if full else asked
        world.file(f"{folder}/{target}", shared_object())
        if full:
            os.symlink(target, world.root / f"{folder}/{asked}".lstrip("/"))
    world.environ["LD_LIBRARY_PATH"] = folder


def test_tensorflow_2_3_beside_cuda_11_and_cudnn_8(tmp_path):
    world = World(tmp_path)
    tensorflow(world, "2.3.4", "10.1", "7")
    toolkit(world, "/usr/local/cuda-11.2/lib64", "libcudart.so.11.0 11.2.152", "libcublas.so.11 11.4.1.1043",
            "libcufft.so.10 10.4.1.152", "libcurand.so.10 10.2.3.152", "libcusolver.so.11 11.1.0.152",
            "libcusparse.so.11 11.4.1.1152", "libcudnn.so.8 8.1.1")  # fmt: skip
    found = small(world)
    assert set(found) == {"cuda.version_mismatch", "cudnn.version_mismatch"}
    cuda, cudnn = told(found["cuda.version_mismatch"]), told(found["cudnn.version_mismatch"])
    assert (
        "TensorFlow 2.3.4 is built for CUDA 10.1 and opens libcudart.so.10.1 and 3 more; only libcudart.so.11.0" in cuda
    )
    assert "opens libcudnn.so.7; only libcudnn.so.8 is installed" in cudnn
    assert "unset LD_LIBRARY_PATH" in cudnn


def test_tensorflow_1_15_beside_cuda_10_1_and_cudnn_7_4(tmp_path):
    world = World(tmp_path)
    tensorflow(world, "1.15.5", "10", "7", "tensorflow_core")
    toolkit(world, "/usr/local/cuda-10.1/lib64", "libcudart.so.10.1 10.1.243", "libcublas.so.10 10.2.1.243",
            "libcufft.so.10 10.1.1.243", "libcurand.so.10 10.1.1.243", "libcusolver.so.10 10.2.0.243",
            "libcusparse.so.10 10.3.0.243", "libcudnn.so.7 7.4.1")  # fmt: skip
    found = small(world)
    assert set(found) == {"cuda.version_mismatch", "cudnn.version_mismatch"}
    assert "built for CUDA 10.0 and opens libcudart.so.10.0 and 5 more" in told(found["cuda.version_mismatch"])
    assert "TensorFlow 1.15.5 was compiled with cuDNN 7.6.0 and needs 7.6 or a newer 7; 7.4.1 is loaded" in told(
        found["cudnn.version_mismatch"]
    )


def test_a_lone_library_of_another_version_does_not_make_a_mismatch(tmp_path):
    world = World(tmp_path)
    tensorflow(world, "2.3.4", "10.1", "7")
    toolkit(world, "/opt/lib", "libcudart.so.13 13.0.48")
    assert set(small(world)) == {"cuda.missing_library", "cudnn.missing"}


# ---------------------------------------------------------------- real installs

NOT_FOUND = "libcusolver.so.11 is installed, but not where TensorFlow looks for it"
NEEDS = "libcusparse.so.12 12.3.1.170 needs __nvJitLinkComplete_12_4 and 7 more from libnvJitLink"
REAL = [
    *((name, "", {}) for name in ("t251", "tv", "jax", "tf215", "tf2200")),  # sound
    ("tf", "", {"cuda.missing_library": f"{NOT_FOUND}|nvidia/cusolver/lib${{LD_LIBRARY_PATH"}),
    ("tf", "tf/lib/python3.12/site-packages/nvidia/cusolver/lib", {}),  # that line cures it
    ("t251", "cudnn912/nvidia/cudnn/lib",
     {"cudnn.mixed_libraries": "loads libcudnn 9.1.0|all its parts 9.12.0, found by LD_LIBRARY_PATH"}),
    ("t251", "nvj121/nvidia/nvjitlink/lib",
     {"cuda.mixed_libraries": f"{NEEDS}|not taken: libnvJitLink.so.12 12.4.127"}),
    ("tf215", "cudnn-8.5.0.96/nvidia/cudnn/lib",
     {"cudnn.version_mismatch": "needs 8.9 or a newer 8; 8.5.0 is loaded, found by LD_LIBRARY_PATH"}),
    ("tvbad", "",
     {"framework.extension_abi": "that torch 2.5.1 does not have|torchvision asks for torch ==2.2.0"}),
]  # fmt: skip


@real
@pytest.mark.parametrize(("name", "folder", "wanted"), REAL)
def test_a_real_environment(name, folder, wanted):
    found = live(lab(name), **({"LD_LIBRARY_PATH": str(lab(*folder.split("/")))} if folder else {}))
    assert set(found) == set(wanted), {k: told(v) for k, v in found.items()}
    for cause, words in wanted.items():
        assert all(one in told(found[cause]) for one in words.split("|")), told(found[cause])

"""Whole scenes: an environment as it really lies on disk, judged from the first look to the last sentence.

The ones marked `real` read multi-gigabyte installs below $GPUWHY_LAB; the others build the same scene from small files.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.look.world import World, shared_object

from .stage import LAB, broken_copy, live, rewrite, small, told

real = pytest.mark.real


def lab(*names: str) -> Path:
    """A real environment or folder, or a skip."""
    path = LAB.joinpath(*names)
    if not os.environ.get("GPUWHY_LAB") or not path.exists():
        pytest.skip(f"GPUWHY_LAB has no {'/'.join(names)}")
    return path


def site(venv: Path) -> Path:
    return next(venv.glob("lib/python3*/site-packages"))


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


@real
@pytest.mark.parametrize("name", ["t251", "tv", "jax", "tf215", "tf2200"])
def test_a_sound_environment_shows_nothing(name):
    assert {k: told(v) for k, v in live(lab(name)).items()} == {}


@real
def test_tensorflow_2_21_lost_a_folder_from_its_runpath():
    found = live(lab("tf"))
    assert set(found) == {"cuda.missing_library"}
    text = told(found["cuda.missing_library"])
    assert "libcusolver.so.11 is installed, but not where TensorFlow looks for it" in text
    assert "nvidia/cusolver/lib${LD_LIBRARY_PATH" in text


@real
def test_that_line_cures_it():
    venv = lab("tf")
    assert live(venv, LD_LIBRARY_PATH=str(site(venv) / "nvidia/cusolver/lib")) == {}


@real
def test_torch_over_another_cudnn_is_a_mixture():
    other = str(lab("cudnn912", "nvidia", "cudnn", "lib"))
    found = live(lab("t251"), LD_LIBRARY_PATH=other)
    assert set(found) == {"cudnn.mixed_libraries"}
    assert "loads libcudnn 9.1.0" in told(found["cudnn.mixed_libraries"])
    assert "all its parts 9.12.0, found by LD_LIBRARY_PATH" in told(found["cudnn.mixed_libraries"])
    assert f"Take {other} out of LD_LIBRARY_PATH" in told(found["cudnn.mixed_libraries"])


@real
def test_torch_with_an_older_nvjitlink_first():
    found = live(lab("t251"), LD_LIBRARY_PATH=str(lab("nvj121", "nvidia", "nvjitlink", "lib")))
    assert set(found) == {"cuda.mixed_libraries"}
    text = told(found["cuda.mixed_libraries"])
    assert "libcusparse.so.12 12.3.1.170 needs __nvJitLinkComplete_12_4 and 7 more from libnvJitLink.so.12" in text
    assert "not taken: libnvJitLink.so.12 12.4.127" in text


@real
@pytest.mark.parametrize(
    "name, suffixes, cudnn",
    [
        ("tf234", "cudart.so.11.0 cublas.so.11 cufft.so.10 curand.so.10 cusolver.so.11 cusparse.so.11", "8.1.1"),
        ("tf115", "cudart.so.10.1 cublas.so.10 cufft.so.10 curand.so.10 cusolver.so.10 cusparse.so.10", "7.4.1"),
    ],
)
def test_an_old_tensorflow_beside_a_newer_cuda(tmp_path, name, suffixes, cudnn):
    """The same as in the small worlds, for the wheels themselves and for Pythons older than our own."""
    for one in (*suffixes.split(), f"cudnn.so.{cudnn}"):
        (tmp_path / f"lib{one}").write_bytes(shared_object())
    (tmp_path / f"libcudnn.so.{cudnn[0]}").symlink_to(f"libcudnn.so.{cudnn}")
    assert set(live(lab(name), LD_LIBRARY_PATH=str(tmp_path))) == {"cuda.version_mismatch", "cudnn.version_mismatch"}


@real
def test_tensorflow_2_15_gets_an_older_cudnn_of_another_cuda():
    found = live(lab("tf215"), LD_LIBRARY_PATH=str(lab("cudnn-8.5.0.96", "nvidia", "cudnn", "lib")))
    assert set(found) == {"cudnn.version_mismatch"}
    assert "needs 8.9 or a newer 8; 8.5.0 is loaded, found by LD_LIBRARY_PATH" in told(found["cudnn.version_mismatch"])


@real
def test_two_cuda_majors_in_one_environment():
    found = live(lab("big"))
    assert {"cuda.missing_library", "install.conflict", "cuda.mixed_libraries"} <= set(found)
    text = told(found["cuda.mixed_libraries"])
    assert "of CUDA 12, found by preloading in torch/__init__.py" in text
    assert not any(f.stops for f in found["cuda.mixed_libraries"].findings)


@real
def test_companions_of_an_older_torch():
    found = live(lab("tvbad"))
    assert set(found) == {"framework.extension_abi"}
    text = told(found["framework.extension_abi"])
    assert "that torch 2.5.1 does not have" in text
    assert "torchvision asks for torch ==2.2.0" in text


CUSPARSE = "nvidia/cusparse/lib/libcusparse.so.12"
DAMAGES = {
    "empty": (b"", 0o644, "empty"),
    "text": (b"version https://git-lfs.github.com/spec/v1\n", 0o644, "not ELF"),
    "truncated": (None, 0o644, "truncated"),
    "wrong-architecture": (shared_object(machine=183), 0o644, "wrong architecture"),
}


@real
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_library_is_named_as_what_it_is(tmp_path, kind):
    venv = broken_copy(lab("t251"), tmp_path / "venv")
    content, mode, word = DAMAGES[kind]
    library = site(venv) / CUSPARSE
    rewrite(library, library.read_bytes()[:1_000_000] if content is None else content, mode)
    found = live(venv)
    assert set(found) == {"install.corrupted"}, {k: told(v) for k, v in found.items()}
    assert "libcusparse.so.12" in told(found["install.corrupted"])
    assert word in told(found["install.corrupted"])


@real
@pytest.mark.parametrize("name, cpu", [("tf-over", "tensorflow-cpu 2.21.0"), ("ort-over", "onnxruntime 1.31.1")])
def test_who_overwrote_what(name, cpu):
    """A CPU flavour installed over the GPU flavour, by the installer itself."""
    found = live(lab(name))
    assert set(found) <= {"install.conflict", "framework.cpu_only"}
    text = told(found["install.conflict"])
    assert f"on disk: {cpu}" in text
    assert "the build without CUDA was written last" in text

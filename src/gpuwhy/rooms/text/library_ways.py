"""Library ways: where the CUDA libraries that a program opens come from, besides the very file: newest release, image, folder, module."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from gpuwhy.knowledge.installs import NEWEST
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.ways import own_ways, tried
from gpuwhy.rooms.text.where import by_conda

_FOLDER = Later(r"/usr/local/cuda-(\d+\.\d+)")
_MODULES = Later(r"\bmodule (?:load|list|avail|purge)|Currently Loaded Modules|/sw/|/apps/|spack", re.IGNORECASE)
_ENGINE = Later(r"deserializ|version tag does not match|serialization|engine plan file|please rebuild", re.IGNORECASE)
_WHEELS_FIRST = "unset LD_LIBRARY_PATH"


_TENSORRT = Later(r"No module named '?tensorrt|libnvinfer\w*\.so|nvinfer_\d+\.dll")


def applications(case: Asked) -> Iterator[Fix]:
    """What an application says to install, before all else."""
    if case.framework in ("onnxruntime", "torch", "") and _TENSORRT.search(case.lines):
        yield tried("TensorRT is not installed, and it is optional: leave it out, and CUDA does the work", on.code("providers = ['CUDAExecutionProvider', 'CPUExecutionProvider']"))  # fmt: skip
        yield tried("Or install it, for CUDA 12", 'pip install "tensorrt-cu12==10.*"')
    if not case.windows:
        yield from _of_the_system(case)
        yield from _another_cuda(case)
        for one in case.programs:  # Paddle's own way is one to cuDNN
            if one.name != "paddle" or case.kind in ("cudnn", ""):
                yield from own_ways(structs.replace(case, programs=(one,)), "libraries")


_COMPILED = Later(
    r"\.java:\d+\)|\bOrtException\b|\bmaven\b|\.jar\b|UnsatisfiedLinkError|\.cs:line \d|\bdotnet\b|node_modules|\bcargo\b|\.rs:\d+:|panicked at|\.go:\d+|DynamicLoader\.cpp"
)
"""Programs that no pip serves: Java, C#, JavaScript, Rust, Go, C++."""


_IMAGES = {11: "11.8.0-cudnn8-runtime-ubuntu22.04", 12: "12.4.1-cudnn-runtime-ubuntu22.04"}
"""Tags of images with CUDA's libraries and cuDNN, by the major release."""


def _of_the_system(case: Asked) -> Iterator[Fix]:
    """A program that is none of Python: the libraries of the system, or an image that has them."""
    if not _COMPILED.search(case.text) or not case.library or any(one.libraries[0] for one in case.programs):
        return
    told = major_minor(case.reading.told.version("cuda"))
    cuda = told if numbers(told)[:1] == (case.cuda_major,) else {11: "11.8", 12: "12.4"}.get(case.cuda_major, case.cuda)
    if not cuda:
        return
    folder = f"/usr/local/cuda-{cuda}/lib64"
    cudnn = " libcudnn8" if case.cuda_major == 11 else " libcudnn9-cuda-12" if case.cuda_major == 12 else ""
    yield tried(f"Have the loader find CUDA {cuda} where it is installed: add its folder to the loader's list", on.linux(f"echo {folder} | sudo tee /etc/ld.so.conf.d/cuda.conf && sudo ldconfig && ldconfig -p | grep {case.library.split('.')[0]}"), root=True)  # fmt: skip
    yield tried("Where it is not: install these libraries and cuDNN from NVIDIA's repository; in an image, start from one that has both", on.linux(f"sudo apt install cuda-libraries-{cuda.replace('.', '-')}{cudnn}    # image: nvidia/cuda:{_IMAGES.get(case.cuda_major, _IMAGES[12])}"), root=True)  # fmt: skip


_THROUGH = Later(r"(?:'|\b)(lib\w+\.so\.\d+)'?; dlerror: (lib\w+\.so\.(\d+)): cannot open|(lib\w+\.so[\d.]*): [^\n]*?(lib\w+\.so\.(\d+)): cannot open")  # fmt: skip


def _another_cuda(case: Asked) -> Iterator[Fix]:
    """The library is there, and it needs one of another CUDA: so it is another CUDA's copy."""
    found = _THROUGH.search(case.text)
    if not found or case.windows:
        return
    asked, needs, major = (found[1], found[2], found[3]) if found[1] else (found[4], found[5], found[6])
    if asked.split(".")[0] != needs.split(".")[0] and case.framework in ("tensorflow", "torch", "jax"):
        yield tried(f"The {asked} that is found needs {needs}, so it is a copy of CUDA {major}: put the folder of the CUDA that the framework was built for first, or take the other one out of the search", on.linux("unset LD_LIBRARY_PATH    # or: export LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64"))  # fmt: skip


def brought(case: Asked) -> Iterator[Fix]:
    """A release that brings its libraries, an image or a module that has them, a folder that the text names."""
    yield from _told_folder(case)
    if case.tools & {"container", "image"}:
        yield from _image(case)
    if _MODULES.search(case.text) and not case.windows:
        number = f"/{case.cuda}" if case.cuda else ""
        yield tried("On a cluster: load the modules of that CUDA and of cuDNN, in the job's script too", on.linux(f"module load cuda{number} cudnn"))  # fmt: skip
    yield from _OF_FRAMEWORK.get(case.framework, _of_none)(case)


def _has_twelve(case: Asked) -> bool:
    """Whether the text tells of a CUDA 12 or newer, by the toolkit or the driver."""
    told = (case.reading.told.version("cuda"), case.reading.told.version("nvcc"), case.speaks)
    return any(numbers(one)[:1] >= (12,) for one in told)


def _tensorflow(case: Asked) -> Iterator[Fix]:
    if case.windows:
        return
    if case.version and not case.brings and at_least(case.version, "2.6") and _has_twelve(case):
        yield tried(f"Or take the next TensorFlow after {case.version} that brings its CUDA libraries as wheels (Python 3.9 to 3.11)", 'pip install "tensorflow[and-cuda]==2.15.1"')  # fmt: skip
    if case.brings and case.library and case.cuda_major < 12:
        yield tried("Or keep a TensorFlow before 2.14, and bring its libraries from conda", on.linux("conda install -c conda-forge cudatoolkit=11.8 cudnn=8.6\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib:$LD_LIBRARY_PATH"))  # fmt: skip
    else:
        yield from _newest(case)


def _jax(case: Asked) -> Iterator[Fix]:
    yield from _newest(case)
    if case.brings and not case.windows:
        yield tried("Where its wheels are installed, another CUDA's libraries are found first: leave the search to the wheels, and unload such modules", on.linux("unset LD_LIBRARY_PATH    # a cluster: module purge"))  # fmt: skip


def _newest(case: Asked) -> Iterator[Fix]:
    """The newest release with its libraries, where the program is none of an old Python, release or CUDA."""
    old = bool(case.python) and numbers(case.python) < (3, 9)
    past = case.brings or bool(case.version) or 0 < case.cuda_major < 11
    if not (case.windows or old or past):
        yield tried(f"Or install the newest {case.title}, which brings its CUDA libraries as wheels", f'pip install --upgrade "{NEWEST[case.framework]}"')  # fmt: skip


def _onnxruntime(case: Asked) -> Iterator[Fix]:
    if not case.tools & {"dotnet", "native"}:
        yield tried("Or install the newest ONNX Runtime with its CUDA libraries, and call onnxruntime.preload_dlls() before the first session", f'pip install --upgrade "{NEWEST["onnxruntime"]}"')  # fmt: skip


_CUPY = Later(r"\bcupy-cuda\d+x?\b")


def _cupy(case: Asked) -> Iterator[Fix]:
    told = " ".join(dict.fromkeys(["cupy", *_CUPY.findall(case.text)]))
    there = numbers(case.reading.told.version("nvcc") or case.speaks)[:1]
    major = there[0] if there and there[0] >= 12 else max(case.cuda_major, 12)
    yield tried("Take the CuPy that is built for the CUDA that is there, or one that brings its own CUDA", f'pip uninstall -y {told} && pip install "cupy-cuda{major}x[ctk]"')  # fmt: skip


def _torch(case: Asked) -> Iterator[Fix]:
    yield tried("Remove every copy of PyTorch and install it again, with what it needs", "pip uninstall -y torch torchvision torchaudio && pip install --no-cache-dir torch torchvision")  # fmt: skip


def _of_none(case: Asked) -> Iterator[Fix]:
    if case.library.startswith("libnvrtc.so.11."):  # CuPy's wheels alone open it by this name
        yield from _cupy(case)


_OF_FRAMEWORK = {"tensorflow": _tensorflow, "jax": _jax, "onnxruntime": _onnxruntime, "cupy": _cupy, "torch": _torch}


def _told_folder(case: Asked) -> Iterator[Fix]:
    """A toolkit's folder that the text names, of the CUDA that is asked for."""
    found = [one for one in _FOLDER.findall(case.text) if not case.cuda or numbers(one)[0] == case.cuda_major]
    if found and not case.windows:
        path = f"/usr/local/cuda-{found[0]}/lib64"
        yield tried(f"Where CUDA {found[0]} is installed, as the text says: have its libraries found", f"export LD_LIBRARY_PATH={path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}")  # fmt: skip


def _image(case: Asked) -> Iterator[Fix]:
    if case.framework == "tensorflow" and case.version:
        yield tried("Use TensorFlow's own image, which has the CUDA that this release opens", on.dockerfile(f"FROM tensorflow/tensorflow:{case.version}-gpu"))  # fmt: skip
    elif "." in case.cuda and at_least(case.cuda, "11"):
        cudnn = "cudnn" if at_least(case.cuda, "12.4") else "cudnn8"
        yield tried("Use an image with that CUDA and cuDNN", on.dockerfile(f"FROM nvidia/cuda:{case.cuda}.0-{cudnn}-runtime-ubuntu22.04    # its exact tags are on the image's page"))  # fmt: skip


def matched(case: Asked) -> Iterator[Fix]:
    """Two CUDA releases that differ: the build of the framework for the one that is there, or the other's toolkit."""
    if any(one.name == "tensorrt" for one in case.programs) and _ENGINE.search(case.text):
        yield tried("Build the engine again with the TensorRT and on the GPU that are to run it: an engine fits no other release", "trtexec --onnx=MODEL.onnx --saveEngine=MODEL.engine")  # fmt: skip
        return
    has = major_minor(case.fields.get("has", "")) or major_minor(case.reading.told.version("nvcc"))
    if has and case.framework == "torch":
        free = structs.replace(case, version="") if case.fields.get("has") else case
        found = pin(case, cuda=has) or pin(free, cuda=has) or pin(case, speaks=f"{numbers(has)[0]}.9")
        if found and numbers(found.cuda)[:1] == numbers(has)[:1]:
            yield found.fix(f"to go with the CUDA {has} that is there")
    if case.framework == "jax":
        yield tried("Leave JAX to the libraries that its wheels bring, and make them of one release", f'{_WHEELS_FIRST} && pip install --upgrade "jax[cuda{case.cuda_major if case.cuda_major == 13 else 12}]"')  # fmt: skip
    yield from brought(case)


def other_copy(case: Asked) -> Iterator[Fix]:
    """A library of another release that is found first: leave the search to the wheels, or take the copy out."""
    if case.windows:
        return
    if by_conda(case.reading):
        least = major_minor(case.fields.get("built", ""))
        wanted = f'"cudnn>={least}"' if numbers(least) and numbers(least)[0] < 20 else "cudnn"
        yield tried("Where the copy that is found first is conda's: update that one", f"conda install -c conda-forge {wanted}")  # fmt: skip
    yield tried("Where the right one is installed, another copy is found first: leave the search to the framework's own", _WHEELS_FIRST)  # fmt: skip


_LIBDEVICE = Later(r"(?<![\w.])((?:/[\w.+-]+)+)/libdevice\.10\.bc")


def put_libdevice(case: Asked) -> Iterator[Fix]:
    """XLA looks below nvvm/libdevice of one folder: the file that the text lists is put there."""
    found = _LIBDEVICE.search(case.text) if case.reading.has("tf.libdevice") and not case.windows else None
    if found and not found[1].endswith("/nvvm/libdevice"):
        put = f"mkdir -p {found[1]}/nvvm/libdevice && cp {found[1]}/libdevice.10.bc {found[1]}/nvvm/libdevice/"
        yield tried("XLA looks for libdevice.10.bc in nvvm/libdevice below the folder that XLA_FLAGS names: put the one that is there into such a folder, and name it", on.linux(f"{put}\nexport XLA_FLAGS=--xla_gpu_cuda_data_dir={found[1]}"))  # fmt: skip
    elif found:
        yield tried("Name the folder with nvvm/libdevice to XLA", on.linux(f"export XLA_FLAGS=--xla_gpu_cuda_data_dir={found[1].removesuffix('/nvvm/libdevice')}"))  # fmt: skip

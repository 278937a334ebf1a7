"""Installing: the fixes of several causes that bring a CUDA library, a cuDNN or a set of packages that fits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.causes.text.asked import Asked
from gpuwhy.knowledge.cudnn_rules import compiled, exists_for
from gpuwhy.knowledge.installs import NEWEST, PRELOADS, gpu_requirement, pip_newest, wheel_of
from gpuwhy.knowledge.releases import built_with, find
from gpuwhy.knowledge.windows import PLATFORM
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, major_minor, numbers

PROJECTS = {"tensorflow": "tensorflow", "torch": "torch", "jax": "jax-cuda12-plugin", "onnxruntime": "onnxruntime-gpu"}

OLD_CUDNN = {7: ("10.1", "7.6"), 6: ("8.0", "6.0"), 5: ("8.0", "5.1")}
"""Majors that no wheel holds: the CUDA they were mostly used with, and the last release."""

_CUDNN_FOLDER = '$(python -c "import nvidia.cudnn as n; print(list(n.__path__)[0])")/lib'


def own(case: Asked) -> Iterator[Fix]:
    """The framework's own requirement, where it brings the libraries."""
    if not case.brings:
        return
    if wanted := _own_requirement(case):
        again = "--force-reinstall " if case.framework == "torch" else ""
        text = f"Install {case.title} with the CUDA libraries that it was built for"
        yield Fix(text, f'pip install {again}"{wanted}"', safe=True)
    if call := PRELOADS.get(case.framework):
        yield Fix(f"Call {call} at the start of the program, before the first session: it loads them", safe=True)


def _own_requirement(case: Asked) -> str:
    major = case.cuda_major or None
    if case.framework == "cupy":
        wanted = f"cupy-cuda{major}x{'[ctk]' if major > 11 else ''}" if major else ""
    else:
        compiled_so = [one.version for one in built_with(case.framework, case.fields.get("built", ""))]
        version = case.version or max(compiled_so, key=numbers, default="")
        wanted = gpu_requirement(case.framework, case.framework, version, major) if version else ""
    if not wanted and case.framework == "jax" and major == 13:
        return "jax[cuda13]"
    return wanted or NEWEST.get(case.framework, "")


def conda(case: Asked, cuda: str, cudnn: str = "") -> Fix:
    """The libraries of a CUDA, and of a cuDNN, from conda."""
    also = f" cudnn={cudnn}" if cudnn else ""
    package = f"cudatoolkit={cuda}" if not at_least(cuda, "12") else f"cuda-version={cuda} cuda-libraries"
    path = "" if case.windows else "\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    return Fix(
        f"conda: the libraries of CUDA {cuda}{f' and cuDNN {cudnn}' if cudnn else ''}",
        f"conda install -c {'conda-forge' if at_least(cuda, '9.2') else 'defaults'} {package}{also}{path}",
        safe=True,
    )


def _windows_toolkit(case: Asked) -> Iterator[Fix]:
    cuda = _cuda_on_windows(case)
    yield Fix(f"Install CUDA {cuda} with NVIDIA's installer: {case.library} is part of it, then open a new window")
    versioned = rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{cuda}\bin"
    folder = versioned if "." in cuda else r"%CUDA_PATH%\bin"
    yield Fix("If it is installed: put its folder on PATH, in this window", f'set "PATH={folder};%PATH%"', safe=True)
    if case.framework != "tensorflow":
        yield add_dll_directory(folder)


def add_dll_directory(folder: str = r"%CUDA_PATH%\bin") -> Fix:
    """For what Python itself loads: from 3.8 on it does not look along PATH."""
    inner = "os.path.join(os.environ['CUDA_PATH'], 'bin')" if "%" in folder else f"r'{folder}'"
    text = "Or let Python 3.8 and newer, which does not look along PATH for what it loads itself, look there: before the import"
    return Fix(text, f"os.add_dll_directory({inner})", safe=True)


def _tensorflow_on_windows(case: Asked) -> Iterator[Fix]:
    """What a release opens, where the text names the release and no DLL."""
    row = find("tensorflow-gpu", case.version, PLATFORM) or find("tensorflow", case.version, PLATFORM)
    if row and isinstance(row.cuda, str):
        cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
        yield Fix(
            f"Install CUDA {row.cuda}{cudnn}, which TensorFlow {case.version} opens, and put both bin folders on PATH"
        )


def _cuda_on_windows(case: Asked) -> str:
    """The CUDA of a TensorFlow release where it is told; 11.2 for cusolver64_11, which 11.0 does not have."""
    row = find("tensorflow-gpu", case.version, PLATFORM) if case.framework == "tensorflow" and case.version else None
    row = row or (
        find("tensorflow", case.version, PLATFORM) if case.framework == "tensorflow" and case.version else None
    )
    if row and isinstance(row.cuda, str):
        return row.cuda
    return "11.2" if case.library.lower() == "cusolver64_11.dll" else case.cuda


def onnxruntime_on_windows(case: Asked) -> Iterator[Fix]:
    """What this ONNX Runtime opens on Windows, and the two ways to bring it."""
    row = find("onnxruntime-gpu", case.version, PLATFORM) if case.version else None
    cuda = str(row.cuda) if row and isinstance(row.cuda, str) else "12"
    major = "8" if (case.version and not at_least(case.version, "1.19")) or cuda.startswith("11") else "9"
    which = f"ONNX Runtime {case.version}" if case.version else "onnxruntime-gpu 1.19 and newer"
    yield Fix(
        f"Install CUDA {cuda} and cuDNN {major}, which {which} opens, and put both bin folders on PATH; then open a new window"
    )
    if "dotnet" in case.tools:
        return
    if major == "9":
        yield Fix("Or install PyTorch 2.4 or newer, whose Windows wheel brings cuDNN 9 and CUDA, and import torch before onnxruntime",
                  'pip install "torch>=2.4"', safe=True)  # fmt: skip
        yield Fix("Or install the ONNX Runtime that uses CUDA 11.8 and cuDNN 8", 'pip install "onnxruntime-gpu==1.18.*"', safe=True)  # fmt: skip
    yield Fix(
        "Or bring them as wheels: from 1.21 on, call onnxruntime.preload_dlls() before the first session",
        pip_newest("onnxruntime"),
        safe=True,
    )


def missing_library(case: Asked) -> Iterator[Fix]:
    """The library that was asked for, from where this framework and system have it."""
    if case.windows and case.framework == "onnxruntime":
        yield from onnxruntime_on_windows(case)
        return
    yield from own(case)
    if case.windows and case.framework == "tensorflow" and case.version and not case.library:
        yield from _tensorflow_on_windows(case)
    if not case.library or not case.cuda:
        return
    if case.windows:
        yield from _windows_toolkit(case)
    if not case.brings:
        yield from _wheel_that_holds_it(case)
        yield conda(case, case.cuda, _cudnn_beside(case))


def _wheel_that_holds_it(case: Asked) -> Iterator[Fix]:
    wheel = wheel_of(case.library, case.cuda_major)
    if wheel and case.framework != "tensorflow":  # an old one looks into no wheel's folder
        text = "Install the wheel that holds it, then check where it is looked for"
        yield Fix(text, f'pip install "{wheel}"', safe=True)


def _cudnn_beside(case: Asked) -> str:
    """The cuDNN that goes with the CUDA that was asked for."""
    row = compiled(case.framework, case.version) if case.version else None
    if row and exists_for(numbers(row.cudnn)[0], case.cuda_major):  # else it asks for another's libraries
        return major_minor(row.cudnn)
    return "7.6" if case.cuda in ("10.0", "10.1", "10.2") else ""


def cudnn(case: Asked, major: int) -> Iterator[Fix]:
    """A cuDNN of one major version, from where it is to be had."""
    if major in OLD_CUDNN:
        cuda, last = OLD_CUDNN[major]
        cuda = case.cuda if "." in case.cuda else cuda
        yield conda(case, cuda, last)
        where = "bin folder" if case.windows else "lib64 folder"
        yield Fix(
            f"Or unpack cuDNN {last} for CUDA {cuda}, from NVIDIA's cuDNN archive, into the CUDA {where}: no wheel holds it"
        )
        return
    cuda_major = case.cuda_major if case.cuda_major in (11, 12, 13) else 12 if major >= 9 else 11
    release = "8.9.*" if major == 8 else f"{major}.*"
    name = wheel_of(f"libcudnn.so.{major}", cuda_major)
    either = " (for CUDA 12: -cu12)" if cuda_major == 11 and not case.cuda and not case.version else ""
    if case.windows:
        yield Fix(
            f"Unpack cuDNN {release} for CUDA {cuda_major} into the CUDA folder, so that cudnn64_{major}.dll is on PATH"
        )
    elif not case.brings:
        path = f"export LD_LIBRARY_PATH={_CUDNN_FOLDER}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
        yield Fix(
            f"Install cuDNN {major} for CUDA {cuda_major}{either}, and have it found",
            f'pip install "{name}=={release}"\n{path}',
            safe=True,
        )
        yield Fix("conda", f'conda install -c conda-forge "cudnn={release.removesuffix(".*")}"', safe=True)


def jax_together(case: Asked, lines: str) -> Fix:
    """One requirement that sets jax, jaxlib and the plug-in to one release: that of jax, else of jaxlib."""
    named = re.search(r"\bjax version (\d[\w.]*\d)", lines) or re.search(r"\bjaxlib version (\d[\w.]*\d)", lines)
    major = re.search(r"cuda(\d\d)", lines)
    version = named[1] if named else case.version
    wanted = gpu_requirement("jax", "jax", version, int(major[1]) if major else None) if version else ""
    wanted = wanted or f"jax[cuda{13 if major and major[1] == '13' else 12}]"
    return Fix("Install jax, jaxlib and the plug-in of one release", f'pip install -U "{wanted}"', safe=True)

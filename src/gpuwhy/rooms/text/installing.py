"""Installing: the fixes of several causes that bring a CUDA library, a cuDNN or a set of packages that fits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.cudnn_rules import compiled, exists_for, has_minor
from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.installs import NEWEST, PRELOADS, gpu_requirement, pip_newest, wheel_of
from gpuwhy.knowledge.ptx import cuda_of
from gpuwhy.knowledge.releases import built_with, family, find
from gpuwhy.knowledge.windows import PLATFORM, installer
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.text.asked import Asked

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
    path = "export LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    install = f"conda install -c {'conda-forge' if at_least(cuda, '9.2') else 'defaults'} {package}{also}"
    text = f"conda: the libraries of CUDA {cuda}{f' and cuDNN {cudnn}' if cudnn else ''}"
    return Fix(text, install if case.windows else on.linux(f"{install}\n{path}"), safe=True)


def _windows_toolkit(case: Asked) -> Iterator[Fix]:
    cuda = _cuda_on_windows(case)
    also = _with_cudnn(case, cuda)
    cuda = "11.2" if also and cuda == "11" else cuda
    yield Fix(
        f"Install CUDA {cuda} with NVIDIA's installer: {case.library} is part of it{also}, then open a new window"
    )
    versioned = bin_folder(cuda)
    folder = versioned if "." in cuda else r"%CUDA_PATH%\bin"
    yield Fix(
        "If it is installed: put its folder on PATH, in this window", on.cmd(f'set "PATH={folder};%PATH%"'), safe=True
    )
    if case.framework != "tensorflow":
        yield add_dll_directory(folder)


def bin_folder(cuda: str) -> str:
    """Where the toolkit's DLLs lie: from CUDA 13 on in a folder by the processor."""
    deeper = r"\x64" if at_least(cuda, "13") else ""
    return rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{cuda}\bin{deeper}"


def _with_cudnn(case: Asked, cuda: str) -> str:
    """TensorFlow opens cuDNN beside CUDA, and NVIDIA's installer does not bring it: the archive that goes with it."""
    if case.framework != "tensorflow":
        return ""
    row = installer("11.2" if cuda == "11" else cuda)
    if row is None:
        return ""
    older = "; TensorFlow 2.4 wants CUDA 11.0 and cuDNN 8.0" if cuda == "11" and not case.version else ""
    return f"; and unpack cuDNN {major_minor(row.cudnn)} for it ({row.archive}, from NVIDIA's cuDNN archive) into the same folder{older}"


def add_dll_directory(folder: str = r"%CUDA_PATH%\bin") -> Fix:
    """For what Python itself loads: from 3.8 on it does not look along PATH."""
    inner = "os.path.join(os.environ['CUDA_PATH'], 'bin')" if "%" in folder else f"r'{folder}'"
    text = "Or let Python 3.8 and newer, which does not look along PATH for what it loads itself, look there: before the import"
    return Fix(text, on.code(f"os.add_dll_directory({inner})"), safe=True)


def tensorflow_fitting(case: Asked) -> Iterator[Fix]:
    """The CUDA and cuDNN of a TensorFlow that the text names, and the TensorFlow of the CUDA that it names."""
    row = _tensorflow_row(case)
    if row is None or not isinstance(row.cuda, str):
        return
    title, cudnn = f"TensorFlow {case.version}", row.cudnn if isinstance(row.cudnn, str) else ""
    if case.windows:
        also = f" and cuDNN {major_minor(cudnn)}" if cudnn else ""
        folder = rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{row.cuda}\bin"
        text = f"Install CUDA {row.cuda}{also}, which {title} opens, beside what is there, cuDNN's files in the toolkit's own folders, and put it first on PATH"
        yield Fix(text, on.cmd(f'set "PATH={folder};%PATH%"'), safe=True)
    elif not case.brings:
        yield conda(case, row.cuda, major_minor(cudnn))
    there = major_minor(case.cuda)
    other = _tensorflow_for(there, row.platform) if "." in there and there != row.cuda else None
    if other:
        spans = [one for one in other.pythons if re.fullmatch(r"3\.\d+", one)]
        needs = f" (Python {spans[0]} to {spans[-1]})" if spans else ""
        yield Fix(f"Or install TensorFlow {other.version}, which was built for CUDA {there}{needs}", f'pip install "{other.name}=={other.version}"', safe=True)  # fmt: skip


def _tensorflow_row(case: Asked) -> Release | None:
    """2.3 stands for 2.3.0, and a patch that no row has for another of its series."""
    platform = PLATFORM if case.windows else "linux-x86_64"
    minor = major_minor(case.version)
    versions = (case.version, *(f"{minor}.{patch}" for patch in range(6)))
    rows = (find(name, one, platform) for one in versions for name in ("tensorflow-gpu", "tensorflow"))
    return next((row for row in rows if row and isinstance(row.cuda, str)), None)


def _tensorflow_for(cuda: str, platform: str) -> Release | None:
    """The newest TensorFlow that was built for a CUDA."""
    known = family("tensorflow-gpu")
    rows = (
        [one for one in known.rows if one.platform == platform and re.fullmatch(r"[\d.]+", one.version)]
        if known
        else []
    )
    return next((one for one in reversed(rows) if isinstance(one.cuda, str) and major_minor(one.cuda) == cuda), None)


def newer_ptx(case: Asked) -> Iterator[Fix]:
    """Code of a newer CUDA than the driver compiles: each version of PTX came with one."""
    made, runs = cuda_of(case.fields.get("ptx", "")), cuda_of(case.fields.get("knows", ""))
    least, most = f" (PTX {case.fields['ptx']} is that of CUDA {made})" if made else "", f" {runs}" if runs else ""
    if case.windows:
        yield Fix(f"Install a newer driver from NVIDIA{least}, then restart", reboot=True)
    else:
        yield Fix(on.in_linux(f"install a newer driver{least}"), NEWEST_DRIVER, root=True, reboot=True)
        yield Fix(
            on.in_windows_or_wsl(f"install a newer driver from NVIDIA on Windows{least}, then restart"), reboot=True
        )
    if runs:
        package = f"cudatoolkit={runs}" if not at_least(runs, "12") else f"cuda-version={runs} cuda-nvcc"
        if not at_least(runs, "9.2"):  # conda's own channel has one of each of the older majors
            package = f"-c defaults cudatoolkit={'9.0' if at_least(runs, '9') else '8.0'}"
        yield Fix(f"Or use a toolkit no newer than CUDA{most}, which this driver knows", f"conda install -c conda-forge {package}", safe=True)  # fmt: skip


def cupy_on_windows(case: Asked) -> Iterator[Fix]:
    """What a CuPy wheel opens: the CUDA in its name."""
    yield Fix(
        f"Install CUDA {case.cuda} with NVIDIA's installer: this CuPy opens its DLLs, by CUDA_PATH; then open a new window"
    )
    yield Fix("If another CUDA is installed: take the CuPy for it instead (cupy-cuda11x for 11.2 to 11.8, cupy-cuda12x, cupy-cuda13x)",
              "pip uninstall -y cupy cupy-cuda111 && pip install cupy-cuda12x".replace("cupy-cuda111", f"cupy-cuda{case.cuda.replace('.', '')}"), safe=True)  # fmt: skip
    yield Fix("Or conda's, which brings all that it needs", "conda install -c conda-forge cupy", safe=True)


_ELEVEN = re.compile(r"cuda ?(?:toolkit )?v?11\b|cudart64_110|cublas64_11", re.IGNORECASE)


def _cuda_on_windows(case: Asked) -> str:
    """The CUDA of a TensorFlow release where it is told; 11.2 for cusolver64_11, which 11.0 does not have: that one is
    the last with cusolver64_10, and the only one with that and the other names of CUDA 11."""
    if case.library.lower() == "cusolver64_10.dll" and (
        at_least(case.version or "0", "2.4") or _ELEVEN.search(case.text)
    ):
        return "11.0"
    row = _tensorflow_row(case) if case.framework == "tensorflow" and case.version else None
    if row and isinstance(row.cuda, str):
        return row.cuda
    return "11.2" if case.library.lower() == "cusolver64_11.dll" else case.cuda


def onnxruntime_on_windows(case: Asked) -> Iterator[Fix]:
    """What this ONNX Runtime opens on Windows, and the two ways to bring it."""
    cuda, major = _pair_of_onnxruntime(case)
    before, spec = ("before 1.19", "==1.18.*") if major == "8" else ("1.19 and newer", ">=1.19")
    which = f"ONNX Runtime {case.version}" if case.version else f"onnxruntime-gpu {before}"
    text = f"Install CUDA {cuda} and cuDNN {major}, which {which} opens, and put both bin folders on PATH; then open a new window"
    if case.tools & {"dotnet", "native"}:
        yield Fix(text)
        return
    newer = "" if case.version else f'pip install --upgrade "onnxruntime-gpu{spec}"'
    yield Fix(f"{text}; and that release of it" if newer else text, newer)
    if major == "9":
        yield Fix("Or install PyTorch 2.4 or newer, whose Windows wheel brings cuDNN 9 and CUDA, and import torch before onnxruntime",
                  'pip install "torch>=2.4"', safe=True)  # fmt: skip
        yield Fix("Or install the ONNX Runtime that uses CUDA 11.8 and cuDNN 8", 'pip install "onnxruntime-gpu==1.18.*"', safe=True)  # fmt: skip
    yield Fix(
        "Or bring them as wheels: from 1.21 on, call onnxruntime.preload_dlls() before the first session",
        pip_newest("onnxruntime"),
        safe=True,
    )


def _pair_of_onnxruntime(case: Asked) -> tuple[str, str]:
    """The CUDA and the major of cuDNN that a release opens; of the newest where none is told."""
    row = find("onnxruntime-gpu", case.version, PLATFORM) if case.version else None
    there = case.cuda if case.cuda_major == 11 and not case.version else "12"
    cuda = str(row.cuda) if row and isinstance(row.cuda, str) else there
    old = (case.version and not at_least(case.version, "1.19")) or cuda.startswith("11")
    return cuda, "8" if old else "9"


def missing_library(case: Asked) -> Iterator[Fix]:
    """The library that was asked for, from where this framework and system have it."""
    if case.windows and case.framework == "onnxruntime":
        yield from onnxruntime_on_windows(case)
    elif cupti := re.fullmatch(r"libcupti\.so\.(\d+\.\d+)", case.library):
        yield from _profiler(cupti[1])
    else:
        yield from _with_library(case)


def _with_library(case: Asked) -> Iterator[Fix]:
    yield from own(case)
    if case.windows and case.framework == "tensorflow" and case.version and not case.library:
        yield from tensorflow_fitting(case)
    if case.windows and case.framework == "cupy" and case.cuda and not case.library:
        yield from cupy_on_windows(case)
    yield from _of_two_majors(case)
    if not case.library or not case.cuda:
        return
    if case.windows:
        yield from _windows_toolkit(case)
    if not case.brings:
        yield from _wheel_that_holds_it(case)
        yield conda(case, case.cuda, _cudnn_beside(case))


def _of_two_majors(case: Asked) -> Iterator[Fix]:
    """A library that two majors of CUDA have by this name: the later one's."""
    if case.library and case.newest and not case.cuda and not case.windows:
        yield conda(case, case.newest, "8.0" if case.newest == "11.0" else "")


def _profiler(cuda: str) -> Iterator[Fix]:
    """CUPTI of a CUDA release whose number is in the file's name; toolkits keep it in a folder of its own."""
    if at_least(cuda, "11.3"):
        text = f"Conda: CUPTI of CUDA {cuda}, which holds it"
        path = "export LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        yield Fix(text, on.linux(f"conda install -c nvidia/label/cuda-{cuda}.0 cuda-cupti\n{path}"), safe=True)
    folder = f"/usr/local/cuda-{cuda}/extras/CUPTI/lib64"
    text = f"Or, where CUDA {cuda} is installed: add the toolkit's folder for CUPTI to LD_LIBRARY_PATH"
    yield Fix(text, on.linux(f"export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"), safe=True)


def _wheel_that_holds_it(case: Asked) -> Iterator[Fix]:
    wheel = wheel_of(case.library, case.cuda_major)
    if wheel and case.framework != "tensorflow":  # an old one looks into no wheel's folder
        part = re.sub(r"-cu\d+$", "", wheel.removeprefix("nvidia-")).replace("-", "_")
        if case.framework in ("torch", "jax", "onnxruntime", "cupy") or case.windows or case.cuda_major >= 13:
            yield Fix(
                "Install the wheel that holds it, then check where it is looked for",
                f'pip install "{wheel}"',
                safe=True,
            )
        else:
            folder = f'$(python -c "import nvidia.{part} as n; print(list(n.__path__)[0])")/lib'
            yield Fix("Install the wheel that holds it, and have its folder searched", on.linux(f'pip install "{wheel}"\nexport LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}'), safe=True)  # fmt: skip


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
        cuda = case.cuda if "." in case.cuda and has_minor(major, case.cuda) else cuda
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
        yield from _cudnn_on_windows(case, major, cuda_major)
    elif not case.brings:
        path = f"export LD_LIBRARY_PATH={_CUDNN_FOLDER}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
        yield Fix(
            f"Install cuDNN {major} for CUDA {cuda_major}{either}, and have it found",
            on.linux(f'pip install "{name}=={release}"\n{path}'),
            safe=True,
        )
        yield Fix("conda", f'conda install -c conda-forge "cudnn={release.removesuffix(".*")}"', safe=True)


def _cudnn_on_windows(case: Asked, major: int, cuda_major: int) -> Iterator[Fix]:
    """The archive of a cuDNN, by its name, and the folder where it is found."""
    old_tf = case.framework == "tensorflow" and major == 8
    row = installer("11.2" if old_tf and not at_least(case.version or "2.10", "2.11") else "11.8" if cuda_major == 11 else "12.4")  # fmt: skip
    if major == 8 and row:
        zlib = "" if old_tf else ", with zlibwapi.dll of zlib123dllx64.zip beside it, which cuDNN 8.3 and newer needs"
        yield Fix(f"Unpack cuDNN {major_minor(row.cudnn)} for CUDA {row.cuda if old_tf else cuda_major} ({row.archive}, from NVIDIA's cuDNN archive) into the CUDA folder, so that cudnn64_8.dll lies in its bin, which is on PATH{zlib}; then open a new window")  # fmt: skip
        return
    yield Fix(f"Unpack cuDNN {major} for CUDA {cuda_major} (its zip archive for Windows, from NVIDIA's cuDNN page) and put its bin folder, or the DLLs in it, where CUDA's own are, so that cudnn64_{major}.dll is on PATH; then open a new window")  # fmt: skip
    if wheel := wheel_of(f"libcudnn.so.{major}", cuda_major):
        yield Fix(on.in_windows("or take it as a wheel, and put its folder on PATH before the program starts", "in cmd"), on.cmd(f'pip install "{wheel}=={major}.*"\nfor /f "delims=" %i in (\'python -c "import nvidia.cudnn as n; print(list(n.__path__)[0])"\') do set "PATH=%i\\bin;%PATH%"'), safe=True)  # fmt: skip


def jax_together(case: Asked, lines: str) -> Fix:
    """One requirement that sets jax, jaxlib and the plug-in to one release: that of jax, else of jaxlib."""
    named = re.search(r"\bjax version (\d[\w.]*\d)", lines) or re.search(r"\bjaxlib version (\d[\w.]*\d)", lines)
    major = re.search(r"cuda(\d\d)", lines)
    version = named[1] if named else case.version
    wanted = gpu_requirement("jax", "jax", version, int(major[1]) if major else None) if version else ""
    wanted = wanted or f"jax[cuda{13 if major and major[1] == '13' else 12}]"
    return Fix("Install jax, jaxlib and the plug-in of one release", f'pip install -U "{wanted}"', safe=True)

"""Windows modules: a compiled module that does not load: whose it is, for which PyTorch and CUDA it must be, and where that one lies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.extension_wheels import BY_FILE, BY_INDEX, BY_PACKAGE
from gpuwhy.knowledge.extensions import BUILT_BY, package_of
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text import windows_steps as steps
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_FAILED = Later(r"DLL load failed while importing (?P<module>\w+)", re.IGNORECASE)
_WHERE = re.compile(r"site-packages[\\/]+(?P<package>[A-Za-z]\w+)[\\/]", re.IGNORECASE)
_FRAMES = Later(r"from (?P<package>[A-Za-z]\w+)(?:\.\w+)* import|import (?P<module>[A-Za-z]\w+)$", re.MULTILINE)
_TOLD = Later(r"\btorch(?:[ =:]|-)+v?(\d+\.\d+(?:\.\d+)?)(?:\+(cu\d{3}))?", re.IGNORECASE)
_ONLY_CU = Later(r"\+(cu1\d{2})\b|_cuda(1[12]\d)\.dll|whl/(cu1\d{2})")
_PLAIN = frozenset({"numpy", "scipy", "pandas", "sklearn", "cv2", "pycuda", "cupy", "tensorflow", "torch", "onnxruntime", "PyQt5", "PIL", "matplotlib", "h5py", "pip", "setuptools", "transformers", "gradio", "diffusers"})  # fmt: skip


class Built(NamedTuple):
    """The PyTorch that a compiled package must be for, as far as the text tells."""

    torch: str = ""
    cu: str = ""

    @property
    def whole(self) -> bool:
        """Whether both are told."""
        return bool(self.torch and self.cu)


def _built(case: Asked) -> Built:
    release, _, local = case.version.partition("+") if case.framework == "torch" else ("", "", "")
    told, cuda = _TOLD.search(case.text), _ONLY_CU.search(case.text)
    named = next(filter(None, cuda.groups()), "") if cuda else ""
    cu = local or (told[2] if told and told[2] else "") or (named if named.startswith("cu") else f"cu{named}" if named else "")  # fmt: skip
    return Built(release or (told[1] if told else ""), cu)


def _package(case: Asked) -> str:
    """The package of the module that does not load: by the module's name, else by the last folder of the stack."""
    found = _FAILED.search(case.text)
    module = found["module"] if found else ""
    known = package_of(module) if module else ""
    if known in BY_INDEX or known in BY_FILE or known in BUILT_BY:
        return known
    bare = re.sub(r"_?(?:cuda|ext|C|kernels|cpp|native)$", "", module)
    if bare in BY_FILE or bare in BY_INDEX or bare in BY_PACKAGE:
        return bare
    folders = [one["package"] for one in _WHERE.finditer(case.text)]
    return next((one for one in reversed(folders) if one not in _PLAIN), "")


_WITHOUT_KIT = Later(r"\b(gsplat): no cuda toolkit found", re.IGNORECASE)


def of_gsplat(case: Asked) -> Iterator[Fix]:
    """gsplat compiles itself at its first use: its makers' wheel needs no toolkit."""
    if case.windows and _WITHOUT_KIT.search(case.text):
        yield from _by_index("gsplat", _built(case), case)


def of_its_package(case: Asked) -> Iterator[Fix]:
    """A module that was compiled against PyTorch, and for another one: the wheel, or the build, for the one that is there."""
    package = _package(case)
    if not case.windows or not package or not _FAILED.search(case.text):
        return
    built = _built(case)
    if package in BY_INDEX:
        yield from _by_index(package, built, case)
    elif package in BY_FILE:
        yield from _by_file(package, built, case)
    elif package in BY_PACKAGE:
        yield tried(on.in_windows(f"{BY_PACKAGE[package].rpartition(' ')[2]} is for one PyTorch alone, and another is installed: install it again with the one that it asks for"), BY_PACKAGE[package])  # fmt: skip
    elif package in BUILT_BY:
        again = steps.chain(case, steps.tools(case), steps.compiler(case), steps.activated(case), steps.variable("DISTUTILS_USE_SDK", "1"), steps.Step(BUILT_BY[package]))  # fmt: skip
        yield tried(on.in_windows(f"{package} was compiled for another PyTorch or CUDA than the one that is there: build it again, in a window that has Visual Studio's compiler and the CUDA toolkit of PyTorch's CUDA"), again)  # fmt: skip


_LATEST = Built("2.4.0", "cu121")


def _by_index(package: str, built: Built, case: Asked) -> Iterator[Fix]:
    row, known = BY_INDEX[package], built if built.whole else _LATEST
    short = ".".join(known.torch.split(".")[:2])
    release = re.search(rf"\b{re.escape(row.title)}(?:==|[ -]v?|\s+)(\d+\.\d+\.\d+)", case.text)
    given = {"name": row.title, "torch": f"{short}.0" if "pyg" in row.command else known.torch, "short": short, "flat": short.replace(".", ""), "cu": known.cu, "release": f"=={release[1]}" if release else ""}  # fmt: skip
    command = row.command
    for name, value in given.items():
        command = command.replace(f"{{{name}}}", value)
    which = f"PyTorch {known.torch} with CUDA {known.cu[2:4]}.{known.cu[4:]}" if built.whole else "the PyTorch that is there (the command names 2.4.0 with cu121: put what python -c \"import torch; print(torch.__version__)\" prints)"  # fmt: skip
    yield tried(on.in_windows(f"{row.title} must be for the very PyTorch: take it away, and install its wheel for {which}, from its own list"), command)  # fmt: skip


def _by_file(package: str, built: Built, case: Asked) -> Iterator[Fix]:
    name = package.replace("_", "-")
    tag = f"cp3{numbers(case.python)[1]}" if len(numbers(case.python)) > 1 else "cp311 for Python 3.11"
    which = f"torch{'.'.join(built.torch.split('.')[:2])} and {built.cu}" if built.whole else "the torch and the cu number that python -c \"import torch; print(torch.__version__)\" prints"  # fmt: skip
    file = f"{package}-RELEASE-win_amd64.whl"
    if "installer_files" in case.text:
        yield tried(on.in_windows(f"{name} was compiled for another PyTorch than the one that an update brought: delete the folder installer_files, and start start_windows.bat, which installs all of it anew, of one release; models and settings stay"), steps.chain(case, steps.Step("rmdir /s /q installer_files", "Remove-Item -Recurse -Force installer_files"), steps.Step("start_windows.bat", ".\\start_windows.bat")), safe=False)  # fmt: skip
    yield tried(on.in_windows(f"{name} was compiled for another PyTorch or CUDA: take it away, then install its wheel for Windows whose name has {which} and {tag}, a file of the release page of {BY_FILE[package]} on GitHub (without it programs take PyTorch's own attention)"), f"pip uninstall -y {name}\npip install --no-deps {file}")  # fmt: skip


_OF_TORCH = Later(r"WinError (?:127|193|1114)\][^\n]*site-packages[\\/]+torch[\\/]+lib[\\/]+(?P<dll>[\w.-]+\.dll)", re.IGNORECASE)  # fmt: skip
_SAME = "python -c \"import importlib.metadata as m, subprocess, sys; v = m.version('torch'); subprocess.run([sys.executable, '-m', 'pip', 'install', '--force-reinstall', '--no-deps', '--no-cache-dir', 'torch==' + v, '--index-url', 'https://download.pytorch.org/whl/' + (v.partition('+')[2] or 'cpu')])\""  # fmt: skip
"""PyTorch of the very release and index that is installed."""


def torch_again(case: Asked) -> Iterator[Fix]:
    """A DLL of PyTorch's own folder that is of another set than its neighbours: all of it again, of the same release."""
    found = _OF_TORCH.search(case.text)
    if not case.windows or not found or "1114" in found[0]:
        return
    yield tried(on.in_windows(f"{found['dll']} in torch\\lib is not the one that belongs to its neighbours (copied there, or cut off): close every Python of this environment, and install the very same PyTorch again over it, which brings the whole set; torchvision and the rest stay"), _SAME)  # fmt: skip


_BUILTINS = Later(r"nvrtc-builtins64_(?P<number>1\d\d)\.dll", re.IGNORECASE)


def nvrtc_of_torch(case: Asked) -> Iterator[Fix]:
    """A part of PyTorch's own NVRTC that is not found: the very same PyTorch again, which brings it into torch\\lib."""
    found, built = _BUILTINS.search(case.text), _built(case)
    if case.windows and found and built.whole and built.cu == f"cu{found['number']}":
        yield tried(on.in_windows(f"{found[0]} is a part of this PyTorch (torch\\lib): it was taken away, or another CUDA's NVRTC is found first on PATH. Install the very same PyTorch again over it, and take other CUDA folders off PATH in that window"), f"pip install --force-reinstall --no-deps --no-cache-dir torch=={built.torch} --index-url https://download.pytorch.org/whl/{built.cu}")  # fmt: skip


_VISION = Later(r"torchvision::\w+' (?:with arguments from the 'CUDA'|is only available)", re.IGNORECASE)


def vision_of_torch(case: Asked) -> Iterator[Fix]:
    """torchvision for the CPU beside a PyTorch with CUDA: the one that belongs to that PyTorch, from its index."""
    built = _built(case)
    mine = going_with("torchvision", built.torch) if built.whole else ""
    if mine and _VISION.search(case.text):
        yield tried(f"torchvision is a build for the CPU, and PyTorch is {built.torch}+{built.cu}: install its own pair from the same index, and leave PyTorch as it is", f"pip install --force-reinstall --no-deps torchvision=={mine} --index-url https://download.pytorch.org/whl/{built.cu}")  # fmt: skip


_LINKED = frozenset({"cv2", "_driver", "_dlib_pybind11", "_pyflamegpu", "pyflamegpu", "_swigfaiss", "swigfaiss", "nvjpeg", "pynvcodec", "_PyNvVideoCodec", "PyNvCodec", "_pycuda", "_cudart", "pycolmap", "open3d", "pybind", "_nvimgcodec", "ctranslate2", "_ext"})  # fmt: skip
_PLAIN_CV = Later(r"WITH_CUDA|built (?:\w+ ){0,3}(?:with|from)|CUDA|nvcc", re.IGNORECASE)


def beside_path(case: Asked) -> Iterator[Fix]:
    """Python 3.8 and newer does not look along PATH: a module that is linked with CUDA is told its folder."""
    found = _FAILED.search(case.text)
    old = bool(case.python) and numbers(case.python) < (3, 8)
    if (
        not case.windows
        or not found
        or old
        or found["module"] not in _LINKED
        or case.library
        or _PROCEDURE.search(case.lines or case.text)
    ):
        return
    if found["module"] == "cv2" and not _PLAIN_CV.search(case.text):
        return
    cuda = steps.kit(case)
    folder = rf'r"{steps.KITS}\v{cuda}\bin"' if cuda else "os.path.join(os.environ['CUDA_PATH'], 'bin')"
    name = {"_driver": "PyCUDA", "cv2": "OpenCV"}.get(found["module"], found["module"])
    also = "; for good, for OpenCV: the same folder in BINARIES_PATHS of cv2\\config.py in site-packages" if name == "OpenCV" else ""  # fmt: skip
    yield tried(on.in_windows(f"Python 3.8 and newer does not look along PATH for the DLLs that {name} needs: name CUDA's folder (and that of cuDNN, where it is another) in the program, before the import{also}"), on.code(f"import os; os.add_dll_directory({folder})"))  # fmt: skip
    if not cuda:
        yield tried(on.in_windows(f"Where no CUDA toolkit is installed: install the one that {name} was built with, then open a new window"), on.cmd("winget install --exact --id Nvidia.CUDA --version 11.8"))  # fmt: skip


_PROCEDURE = Later(r"procedure could not be found|找不到指定的程序|procédure spécifiée|プロシージャ|angegebene Prozedur|procedimiento especificado|процедура", re.IGNORECASE)  # fmt: skip


def other_release(case: Asked) -> Iterator[Fix]:
    """PyCUDA's module is there, and lacks a function: it was built for another CUDA, or the driver is older."""
    found = _FAILED.search(case.text)
    if not case.windows or not found or found["module"] != "_driver" or not _PROCEDURE.search(case.text):
        return
    again = steps.chain(case, steps.tools(case), steps.compiler(case), steps.activated(case), steps.Step("pip uninstall -y pycuda"), steps.Step("pip install --no-binary pycuda pycuda"))  # fmt: skip
    yield tried(on.in_windows("PyCUDA was built for another CUDA than the one that is there: build it again with the toolkit of CUDA_PATH (nvcc --version names it), in a window that has Visual Studio's compiler"), again)  # fmt: skip
    yield tried(on.in_windows("Or update NVIDIA's driver (nvidia.com/drivers), where that CUDA is newer than the one nvidia-smi names, and restart"))  # fmt: skip

"""The genuine tensorflow-gpu 2.3.4 for Windows under Wine: its libraries laid out in some way, and what it then says.

Its CUDA libraries are small ones built with mingw-w64 that have the right names; nvcuda.dll is a stand-in (nvcuda.c),
so that TensorFlow goes on to open them. What is judged is the search, which is Wine's and TensorFlow's own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

GCC = "x86_64-w64-mingw32-gcc"
HERE = Path(__file__).parent
TENSORFLOW = os.environ.get("GPUWHY_WINDOWS_TF", "")  # C:/Python38/python.exe
CUDA = (
    "cudart64_101.dll", "cublas64_10.dll", "cufft64_10.dll", "curand64_10.dll",
    "cusolver64_10.dll", "cusparse64_10.dll",
)  # fmt: skip
CUDA_11 = (
    "cudart64_110.dll", "cublas64_11.dll", "cufft64_10.dll", "curand64_10.dll",
    "cusolver64_10.dll", "cusparse64_11.dll",
)  # fmt: skip
CUDNN = "cudnn64_7.dll"
_OPENED = re.compile(r"Successfully opened dynamic library (\S+)")
_LOST = re.compile(r"Could not load dynamic library '([^']+)'")

QUICK = """
import ctypes, os, sys, types
tell = lambda text: (sys.stdout.buffer.write((text + "\\n").encode("utf-8")), sys.stdout.flush())
tell("PATH " + os.environ["PATH"])
for name in ("tensorflow", "tensorflow.python"):  # its packages without what they import: the search is the same
    module = types.ModuleType(name)
    module.__path__ = [os.path.join(sys.prefix, "Lib", "site-packages", *name.split("."))]
    sys.modules[name] = module
from tensorflow.python import pywrap_tfe
pywrap_tfe.TF_ListPhysicalDevices()
kernel = ctypes.WinDLL("kernel32")
kernel.GetModuleHandleW.restype = ctypes.c_void_p
kernel.GetModuleHandleW.argtypes = [ctypes.c_wchar_p]
kernel.GetModuleFileNameW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint]
for name in sys.argv[1:]:
    handle, text = kernel.GetModuleHandleW(name), ctypes.create_unicode_buffer(520)
    if handle and kernel.GetModuleFileNameW(handle, text, 520):
        tell("FILE %s %s" % (name, text.value))
"""
"""TensorFlow's own check and extension, then where each library came from."""

WHOLE = "import tensorflow as tf\nprint('GPUs:', tf.config.list_physical_devices('GPU'))\n"


def build(kit: Path) -> Path:
    """Every library that a layout may need."""
    kit.mkdir(parents=True, exist_ok=True)
    code = kit / "empty.c"
    code.write_text("__declspec(dllexport) int gpuwhy(void) { return 1; }\n")
    need = kit / "need.c"
    need.write_text("int gpuwhy(void);\n__declspec(dllexport) int needs(void) { return gpuwhy(); }\n")
    for target, sources in {
        "plain.dll": (code,),
        "cublasLt64_10.dll": (code,),
        "needs_lt.dll": (need, kit / "cublasLt64_10.dll"),
        "nvcuda.dll": (HERE / "nvcuda.c", "-w"),
    }.items():
        subprocess.run([GCC, "-O1", "-s", "-shared", "-o", kit / target, *sources, "-static"], check=True)
    return kit


class Layout:
    """Folders on C: with libraries in them, and the variables of a process."""

    def __init__(self, kit: Path) -> None:
        self.kit, self.prefix = kit, Path(os.environ["WINEPREFIX"])
        self.name = f"gpuwhy-{uuid.uuid4().hex[:8]}"
        self.drive = self.prefix / "drive_c"
        self.top = self.drive / self.name
        self.path: list[str] = []
        self.variables: dict[str, str] = {}
        self._undo: list[Callable[[], object]] = [lambda: shutil.rmtree(self.top, ignore_errors=True)]
        self.top.mkdir()

    def put(self, folder: str, *names: str, source: str = "plain.dll", data: bytes | None = None) -> None:
        """Copies of a library under other names, below our own folder."""
        target = self.top / folder
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            (target / name).write_bytes((self.kit / source).read_bytes() if data is None else data)

    def beside(self, folder: str, name: str, source: str = "plain.dll") -> None:
        """A library in a folder that is not ours, until the end."""
        target = self.drive / folder / name
        if target.exists():
            raise FileExistsError(target)
        self._undo.append(target.unlink)
        shutil.copy(self.kit / source, target)

    def system(self, name: str, source: str = "plain.dll") -> None:
        """A library in System32."""
        self.beside("windows/system32", name, source)

    def without(self, name: str) -> None:
        """System32 without one of its libraries."""
        self.aside(f"windows/system32/{name}")
        self.variables["WINEDLLOVERRIDES"] = f"{name.removesuffix('.dll')}="  # or Wine brings its own

    def aside(self, path: str) -> None:
        """A file of the C: drive is not there, until the end."""
        file = self.drive / path
        away = file.with_name(f"{file.name}.aside")
        file.rename(away)
        self._undo.append(lambda: away.rename(file))

    def on_path(self, *folders: str) -> None:
        """Folders of ours that PATH begins with."""
        self.path += [f"C:\\{self.name}\\{folder}" for folder in folders]

    def cleared(self) -> None:
        """Everything as it was."""
        for undo in reversed(self._undo):
            undo()

    def run(self, python: str, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A Windows Python with these folders on PATH."""
        environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PATH")}
        environ |= {"PATH": os.environ["PATH"], "WINEDEBUG": "-all", "WINEPATH": ";".join(self.path), **self.variables}
        return subprocess.run(
            ["wine", python, "-c", code, *arguments],
            env=environ, cwd=self.top, capture_output=True, text=True, encoding="utf-8", errors="replace",
            timeout=300, check=False,
        )  # fmt: skip


@contextmanager
def layout(kit: Path, make: Callable[[Layout], None]) -> Iterator[Layout]:
    """A layout, made and taken away again."""
    place = Layout(kit)
    try:
        place.system("nvcuda.dll", "nvcuda.dll")
        make(place)
        yield place
    finally:
        place.cleared()


def lines_of(text: str) -> dict[str, bool]:
    """What TensorFlow says of each library: whether it opened it."""
    return {**dict.fromkeys(_LOST.findall(text), False), **dict.fromkeys(_OPENED.findall(text), True)}


# ---------------------------------------------------------------- the layouts


def whole(place: Layout) -> None:
    place.put("cuda/bin", *CUDA)
    place.put("cudnn/bin", CUDNN)
    place.on_path("cuda/bin", "cudnn/bin")


def nothing(place: Layout) -> None:
    place.on_path("none")


def cudnn_off_path(place: Layout) -> None:
    whole(place)
    place.path.pop()


def cudnn_8_only(place: Layout) -> None:
    cudnn_off_path(place)
    place.put("cuda/bin", "cudnn64_8.dll")


def cuda_11_only(place: Layout) -> None:
    place.put("cuda/bin", *CUDA_11, CUDNN)
    place.on_path("cuda/bin")


def one_missing(place: Layout) -> None:
    whole(place)
    (place.top / "cuda/bin/cusolver64_10.dll").unlink()


def text_only(place: Layout) -> None:
    cudnn_off_path(place)
    place.put("cuda/bin", CUDNN, data=b"<html>404</html>\n")


def text_first(place: Layout) -> None:
    text_only(place)
    place.on_path("cudnn/bin")


def empty_first(place: Layout) -> None:
    text_first(place)
    (place.top / "cuda/bin" / CUDNN).write_bytes(b"")


def cut_first(place: Layout) -> None:
    text_first(place)
    body = (place.kit / "plain.dll").read_bytes()
    (place.top / "cuda/bin" / CUDNN).write_bytes(body[: len(body) // 2])


def folder_first(place: Layout) -> None:
    whole(place)
    (place.top / "cuda/bin" / CUDNN).mkdir()


def i386_only(place: Layout) -> None:
    cudnn_off_path(place)
    place.put("cuda/bin", CUDNN, source="i386.dll")


def i386_first(place: Layout) -> None:
    i386_only(place)
    place.on_path("cudnn/bin")


def arm64_first(place: Layout) -> None:
    whole(place)
    place.put("cuda/bin", CUDNN, source="arm64.dll")


def beside_python(place: Layout) -> None:
    cudnn_off_path(place)
    place.beside(TENSORFLOW.removeprefix("C:/").rpartition("/")[0], CUDNN)


def in_system32(place: Layout) -> None:
    whole(place)
    place.system(CUDNN)


def beside_the_extension(place: Layout) -> None:
    cudnn_off_path(place)
    home = TENSORFLOW.removeprefix("C:/").rpartition("/")[0]
    place.beside(f"{home}/Lib/site-packages/tensorflow/python", CUDNN)


def two_copies(place: Layout) -> None:
    whole(place)
    place.put("other", CUDNN, "cublas64_10.dll")
    place.path.insert(0, f"C:\\{place.name}\\other")


def upper_case(place: Layout) -> None:
    cudnn_off_path(place)
    place.put("cuda/bin", "CUDNN64_7.DLL")


def dependency_missing(place: Layout) -> None:
    whole(place)
    place.put("cuda/bin", "cublas64_10.dll", source="needs_lt.dll")


def dependency_on_path(place: Layout) -> None:
    dependency_missing(place)
    place.put("cudnn/bin", "cublasLt64_10.dll", source="cublasLt64_10.dll")


def dependency_beside_off_path(place: Layout) -> None:
    dependency_missing(place)
    place.put("off", "cublasLt64_10.dll", source="cublasLt64_10.dll")


def quoted_path(place: Layout) -> None:
    whole(place)
    place.path[-1] = f'"{place.path[-1]}"'


def unreplaced_variable(place: Layout) -> None:
    whole(place)
    place.variables["CUDNN_HOME"] = f"C:\\{place.name}\\cudnn"
    place.path[-1] = "%CUDNN_HOME%\\bin"


def forward_slashes(place: Layout) -> None:
    whole(place)
    place.path = [f"{folder}/".replace("\\", "/") for folder in place.path]


def other_letters(place: Layout) -> None:
    place.put("Größe 東京/bin", *CUDA, CUDNN)
    place.on_path("Größe 東京/bin")


def no_runtime(place: Layout) -> None:
    whole(place)
    place.without("msvcp140_1.dll")


LAYOUTS: dict[str, Callable[[Layout], None]] = {
    one.__name__: one
    for one in (
        whole, nothing, cudnn_off_path, cudnn_8_only, cuda_11_only, one_missing, text_only, text_first, empty_first,
        cut_first, folder_first, i386_only, i386_first, arm64_first, beside_python, in_system32, beside_the_extension,
        two_copies, upper_case, dependency_missing, dependency_on_path, dependency_beside_off_path, quoted_path,
        unreplaced_variable, forward_slashes, other_letters, no_runtime,
    )
}  # fmt: skip

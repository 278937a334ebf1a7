"""cudnn.dependency_missing in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.installs import wheel_of
from gpuwhy.knowledge.messages import NO_CUDNN
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error, told
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.conditions import all_of, field, line, no, wants, whole, with_
from gpuwhy.rooms.text.libraries import behind_cudnn
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

_LIBRARY = re.compile(
    r"(?:Error: |dlerror: |[\s:/])(?P<wanted>lib(?!cudnn)[a-zA-Z]+\.so(?:\.[\d.]*\d)?)[^\n]{0,20}(?:cannot open|not found|: No such)"
)
_ROOT = '$(python -c "import nvidia.{part} as n; print(list(n.__path__)[0])")/lib'
_PARTS = {"nvidia-cuda-nvrtc": "cuda_nvrtc", "nvidia-cublas": "cublas", "nvidia-cuda-runtime": "cuda_runtime"}


def _needed(case: Asked) -> Iterator[Fix]:
    """The very library that cuDNN did not find, from the wheel that holds it, and found by the loader."""
    found = _LIBRARY.search(case.text)
    wanted = found["wanted"] if found else case.fields.get("wanted", "")
    if case.windows or not wanted.startswith("lib"):
        return
    major = _major(case, wanted)
    bare = wanted == "libnvrtc.so"
    wheel = wheel_of(f"libnvrtc.so.{major}" if bare else wanted, major)
    part = _PARTS.get(wheel.removesuffix(f"-cu{major}"), "")
    if not part:
        return
    folder = _ROOT.replace("{part}", part)
    link = f"\nln -sf $(ls {folder}/libnvrtc.so.* | head -1) {folder}/libnvrtc.so" if bare else ""
    why = ", which its wheel has under a name with a number only" if bare else ""
    text = f"Install {wanted} for CUDA {major}, which this cuDNN opens{why}, and have it found"
    path = f"export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
    yield Fix(text, on.linux(f'pip install "{wheel}"{link}\n{path}'), safe=True)
    if told := _FOLDER.search(case.text):
        yield Fix(f"Or, where CUDA {told[1]} is installed: have its folder searched", f"export LD_LIBRARY_PATH={told[0]}/lib64${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}", safe=True)  # fmt: skip


_FOLDER = re.compile(r"/usr/local/cuda-(\d+\.\d+)")
_BUILD = re.compile(r"\+cu(\d\d)\d\b|-cu(\d\d)\b")


def _major(case: Asked, wanted: str) -> int:
    """The CUDA of the library by its own number, of the framework's build, or of cuDNN's wheel; else that of cuDNN 8."""
    own = re.search(r"\.so\.(\d+)", wanted)
    built = _BUILD.search(case.text)
    if own and not wanted.startswith("libz"):
        return int(own[1])
    return int(built[1] or built[2]) if built else case.cuda_major or 12


_OTHER_BITS = line(r"\b193\b|not a valid win32|32-bit, 64-bit|bad image")
"""A file of the name is there, and Windows refuses it for what it was built for."""


TEXT = Text(
    "cudnn.dependency_missing",
    signatures=(
        told("remark.behind_cudnn", r"\b(?:missing|lacks|without|needs?) (?:the )?(?:zlib\w{0,8}|nvrtc\w{0,20})"
             r"|(?:\bzlib\w{0,8}|\bnvrtc64\w{0,12}|libnvrtc\S{0,20}|\blibz\.so\S{0,4}"
             r"|\bcublas(?:lt)?64_\d+)(?:\.dll)?[^\n]{0,50}(?:not (?:installed|present|found|there)|missing"
             r"|could not be found|cannot open)", "zlib", "nvrtc", "libz.so", "cublas"),
        error("cudnn.part_alone", r"loaded (?P<library>cudnn\w*64_\d+\.dll) without its dependencies", "without its dependencies"),
        error("cudnn.behind", r"^(?!.*could not load library)[^\n]{0,200}?(?P<library>libcudnn\w*(?:\.so[.\d]*\d)?"
              r"|cudnn\w*64_\d+\.dll)\b(?:(?!cannot open|not found|missing|no such|undefined)[^\n]){0,40}?(?::"
              r"|\b(?:needs?|requires?|fail\w*|load\w*|but|depends?\b[^\n]{0,4}|dlerror)\b)(?:(?!cannot open"
              r"|not found|missing|no such|undefined)[^\n]){0,30}?(?P<wanted>\blib(?!cudnn|cuda\."
              r"|nvidia)[a-z][\w+-]*\.so[.\d]*|\b(?!cudnn)\w+\.dll)\b[^\n]{0,30}?(?:cannot open|not found|missing"
              r"|no such file|could not be found)",
              "libcudnn", "cudnn64", "cudnn_", covers=("loader.", "title.", "windows.")),
        error("loader.zlib", r"(?P<library>zlibwapi\.dll|libz\.so\.1)(?!\.?\d).*", "zlibwapi", covers=("windows.dll_not_found",)),
    ),
    clues=(
        ("remark.behind_cudnn", 4.8, "cuDNN is there, and a library that it needs is not", whole(r"cudnn_[a-z_]{3,40}64_|libcudnn_[a-z_]{3,40}\.so|cudnn needs")),
        ("cudnn.behind", 5.0, "{library} is there, and {wanted}, which it needs, is not"),
        ("loader.ldd_missing", 5.0, "{library}, which cuDNN needs, is not found", behind_cudnn),
        ("cudnn.part_alone", 5.0, "{library} is found, and a DLL that it needs is not"),
        ("loader.zlib", 5.0, "cuDNN needs {library}, and the one that is found is for 32-bit programs (error 193)", _OTHER_BITS),
        ("loader.zlib", 5.0, "cuDNN needs {library}, and it is not found", no(_OTHER_BITS)),
        ("loader.cudnn_sub", 4.2, "cuDNN's part {library} needs {wanted}, and it is not found", wants("nvrtc")),
        ("loader.cudnn_sub", 3.0, "cuDNN's part {library} needs {wanted}, and it is not found", wants("cuda", "other")),
        ("loader.cannot_open", 3.4, "{library} without a number is what cuDNN 8 opens", field("library", r"libnvrtc\.so$")),
        ("loader.cudnn_by_path", 3.8, "{library} is loaded by its full path: a DLL that it needs is not found", with_("windows.module_missing")),
        ("loader.cudnn_by_path", 2.4, "{library}, or a DLL that it needs, is not found"),
        ("windows.torch_dll", 3.4, "{library}, or a DLL that it needs such as zlibwapi.dll, is not found", all_of(field("library", r"cudnn_"), field("number", "126"))),
        ("loader.cudnn_windows", 2.3, "{library}, or a DLL that it needs, is not found", field("number", "126")),
        ("loader.cudnn_path", 2.0, "{library} is asked for, and not found"),
        ("cudnn.runtime_prerequisite_missing", 3.4, "cuDNN says that something it needs at run time is missing"),
        ("cudnn.not_supported_runtime_prerequisite_missing", 3.4, "cuDNN says that something it needs at run time is missing"),
        ("signal.kernel_died", 1.3, "the notebook's kernel died; this happens when cuDNN lacks zlibwapi.dll"),
        ("signal.windows", 1.8, "a crash; this happens when cuDNN lacks zlibwapi.dll"),
        ("cudnn.internal_error_compilation_failed", 2.4, "cuDNN could not compile: NVRTC is missing or another"),
    ),
    made=_needed,
    remedies=(
        meant(on.in_windows("copy no single DLL: put the whole bin folder of that cuDNN, and the bin folder of the CUDA that it is for (cuBLAS), on PATH, and delete the copy in the program's folder; then open a new window"),
              said="cudnn.part_alone"),
        meant(on.in_windows("or bring all of them as wheels"), "pip install nvidia-cudnn-cu12 nvidia-cublas-cu12", said="cudnn.part_alone", line="64_9", safe=True),
        meant(on.in_windows("put the 64-bit zlibwapi.dll (zlib123dllx64.zip) on PATH, beside cuDNN's DLLs", "cuDNN 8")),
        meant(on.in_linux("install NVRTC (libnvrtc.so) in the same environment"), 'pip install "nvidia-cuda-nvrtc-cu12"', safe=True),
    ),
    admitted_by=NO_CUDNN,
)  # fmt: skip

"""cudnn.dependency_missing in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.causes.text.conditions import all_of, field, wants, with_
from gpuwhy.causes.text.libraries import behind_cudnn
from gpuwhy.causes.text.meant import meant
from gpuwhy.causes.text.room import Text
from gpuwhy.knowledge.messages import NO_CUDNN
from gpuwhy.model import on
from gpuwhy.model.signature import error

TEXT = Text(
    "cudnn.dependency_missing",
    signatures=(
        error("cudnn.part_alone", r"loaded (?P<library>cudnn\w*64_\d+\.dll) without its dependencies", "without its dependencies"),
        error("cudnn.behind", r"^(?!.*could not load library)[^\n]{0,200}?(?P<library>libcudnn\w*(?:\.so[.\d]*\d)?|cudnn\w*64_\d+\.dll)\b(?:(?!cannot open|not found|missing|no such|undefined)[^\n]){0,40}?(?::|\b(?:needs?|requires?|fail\w*|load\w*|but|depends?\b[^\n]{0,4}|dlerror)\b)(?:(?!cannot open|not found|missing|no such|undefined)[^\n]){0,30}?(?P<wanted>\blib(?!cudnn|cuda\.|nvidia)[a-z][\w+-]*\.so[.\d]*|\b(?!cudnn)\w+\.dll)\b[^\n]{0,30}?(?:cannot open|not found|missing|no such file|could not be found)",
              "libcudnn", "cudnn64", "cudnn_", covers=("loader.", "title.", "windows.")),
        error("loader.zlib", r"(?P<library>zlibwapi\.dll|libz\.so\.1)(?!\.?\d).*", "zlibwapi", covers=("windows.dll_not_found",)),
    ),
    clues=(
        ("cudnn.behind", 5.0, "{library} is there, and {wanted}, which it needs, is not"),
        ("loader.ldd_missing", 5.0, "{library}, which cuDNN needs, is not found", behind_cudnn),
        ("cudnn.part_alone", 5.0, "{library} is found, and a DLL that it needs is not"),
        ("loader.zlib", 5.0, "cuDNN needs {library}, and it is not found"),
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
    remedies=(
        meant(on.in_windows("copy no single DLL: put the whole bin folder of that cuDNN, and the bin folder of the CUDA that it is for (cuBLAS), on PATH, and delete the copy in the program's folder; then open a new window"), said="cudnn.part_alone"),
        meant(on.in_windows("or bring all of them as wheels"), "pip install nvidia-cudnn-cu12 nvidia-cublas-cu12", said="cudnn.part_alone", line="64_9", safe=True),
        meant(on.in_windows("put the 64-bit zlibwapi.dll (zlib123dllx64.zip) on PATH, beside cuDNN's DLLs", "cuDNN 8")),
        meant(on.in_linux("install NVRTC (libnvrtc.so) in the same environment"), 'pip install "nvidia-cuda-nvrtc-cu12"', safe=True),
    ),
    admitted_by=NO_CUDNN,
)  # fmt: skip

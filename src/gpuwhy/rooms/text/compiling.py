"""Compiling: what a compiler refuses, and its remedy: the option that it names itself, a name that CUDA no longer has, a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge.archs import first_toolkit
from gpuwhy.knowledge.removed import removed
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.symptom import Symptom

_DIR = "/usr/local/cuda"
_UNKNOWN = re.compile(
    r"identifier \"(\w+)\" is undefined|has no member \"(\w+)\"|\b(\w+) is not a template|no template named '(\w+)'"
    r"|‘?'?(\w+)'?’? was not declared|too (?:few|many) arguments in function call\s+[^\n]*?\b(cu\w+)\(|argument of type [^\n]+\s+[^\n]*?\b(cuda\w+)\("
)
_HALF = re.compile(r"from \"__(?:half|nv_bfloat16)\"|\"__half\"|operand types are: __half")


class Origin(NamedTuple):
    """Where a header comes from that is not CUDA's own."""

    headers: str
    text: str
    command: str = ""


_ORIGINS = (
    Origin(r"helper_\w+\.h|exception\.h", "Clone NVIDIA's cuda-samples: the header is in its folder Common; give the compiler that folder", "nvcc -I cuda-samples/Common FILE.cu"),
    Origin(r"(?:cutlass|cute)/\S+", "Clone NVIDIA's cutlass (header files only; often a git submodule that was not fetched), and give the compiler its folder include",
           "git submodule update --init --recursive\nnvcc -I cutlass/include FILE.cu"),
    Origin(r"nvToolsExt\w*\.h",
           "Include <nvtx3/nvToolsExt.h> instead: from CUDA 13 on NVTX is header files only, in that folder, and needs no library",
           f"nvcc -I{_DIR}/include/nvtx3 FILE.cu"),
    Origin(r"(?:thrust|cub|cuda/std)/\S+",
           "From CUDA 13 on Thrust and CUB are in include/cccl: nvcc knows it, another compiler is given the folder",
           on.linux(f"g++ -I{_DIR}/include/cccl -I{_DIR}/include -c FILE.cpp")),
    Origin(r"cudnn_frontend\S*", "Install cuDNN's frontend, which is a package of its own (header files only)", "pip install nvidia-cudnn-frontend"),
    Origin(r"pybind11/\S+", "Install pybind11", "pip install pybind11"),
    Origin(r"texture_fetch_functions\.h",
           "Use a clang that knows this CUDA, an older CUDA (12 has the file, 13 has not), or nvcc", on.linux(f"clang++ --cuda-path={_DIR}-12 FILE.cu")),
)  # fmt: skip


def made(symptom: Symptom, where: str, text: str) -> Iterator[Fix]:
    """The remedies for one complaint of a compiler, in the words of its build system; nothing where it is none of these."""
    kind = symptom.signature
    if kind == "build.names_option":
        yield from _option(symptom.get("flag").rstrip(".,"), where)
    elif kind == "build.nvcc_option":
        yield from _for_host(symptom.get("flag"), where)
    elif kind == "build.nvcc_value":
        yield from _value(symptom, where)
    elif kind == "build.native":
        yield from _native(where)
    elif kind == "build.dialect":
        yield _fix(
            "Ask for a C++ that this nvcc knows: CUDA_STANDARD 17 (or 20) in CMakeLists.txt; or install a newer CUDA toolkit",
            "cmake -B build -DCMAKE_CUDA_STANDARD=17",
        )
    elif kind == "build.find_cuda_gone":
        yield _fix(
            "CMakeLists.txt: find_package(CUDAToolkit) and enable_language(CUDA) instead of find_package(CUDA), which newer CMake no longer has"
        )
        yield _fix(
            "Or, until then, let CMake bring the old module back, in a fresh build folder",
            "cmake -B build -DCMAKE_POLICY_DEFAULT_CMP0146=OLD",
        )
    elif kind == "build.cannot_find_l" and "nvToolsExt" in symptom.get("library"):
        yield _fix(
            "Leave -lnvToolsExt out, and include <nvtx3/nvToolsExt.h>: from CUDA 13 on NVTX is header files only"
        )
    elif kind in ("build.header", "build.other_header"):
        yield from _header(symptom, where)
    elif kind in ("build.cu_error", "build.packs", "build.clang_version"):
        yield from _refused(symptom, text)


def _fix(text: str, command: str = "", *, look: bool = False) -> Fix:
    return Fix(text, command, safe=True, check="gpuwhy explain LOG", role="look" if look else "remedy")


def _option(flag: str, where: str) -> Iterator[Fix]:
    """The option that the message itself names, for whom it is meant."""
    if flag.startswith("-D"):
        yield _fix(
            "Give CMake the option that it names",
            f'export CMAKE_ARGS="{flag}"' if where in ("pip", "torch") else f"cmake -B build {flag}",
        )
        return
    if flag.startswith("-f"):
        yield from _for_host(flag, where)
        return
    if where == "cmake":
        yield _fix(f"CMakeLists.txt: target_compile_options(TARGET PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:{flag}>)")
    yield _fix("Give nvcc the option that it names", f"nvcc {flag} FILE.cu")
    yield _fix("Or for every call of nvcc, whoever makes it", f'export NVCC_APPEND_FLAGS="{flag}"')


def _for_host(flag: str, where: str) -> Iterator[Fix]:
    """An option of the host compiler, which nvcc only hands on."""
    if where == "cmake" and flag == "-fPIC":
        yield _fix(
            "Give CMake the option for all it compiles, in a fresh build folder",
            "cmake -B build -DCMAKE_POSITION_INDEPENDENT_CODE=ON",
        )
    elif where == "cmake":
        yield _fix(
            f"CMakeLists.txt: target_compile_options(TARGET PRIVATE $<$<COMPILE_LANGUAGE:CXX>:{flag}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler={flag}>)"
        )
    yield _fix(
        f"Hand {flag} on to the host compiler: nvcc takes such options behind -Xcompiler",
        f"nvcc -Xcompiler {flag} -c FILE.cu",
    )
    yield _fix(f"If {flag} is meant for nvcc itself, check whether this release has it", "nvcc --help", look=True)


def _architecture(value: str) -> Iterator[Fix]:
    """An architecture that nvcc does not know: the toolkit that does, where it is of a card; or another architecture."""
    number = re.sub(r"\D", "", value)
    least = first_toolkit(f"{number[:-1]}.{number[-1]}") if len(number) > 1 else None
    if least:
        yield _fix(f"Install CUDA {least} or newer, the first that knows {value}, and have its nvcc found first: the one that is called is older (or, for a card that CUDA has dropped, newer)", on.linux(f"export PATH=/usr/local/cuda-{least}/bin:$PATH CUDA_HOME=/usr/local/cuda-{least}\nnvcc --version"))  # fmt: skip
    yield _fix(
        f"{'Or compile' if least else 'Compile'} for an architecture that this CUDA knows: {value} is newer, or is no longer there",
        "nvcc --list-gpu-arch\nnvcc -arch=sm_86 FILE.cu",
    )


def _value(symptom: Symptom, where: str) -> Iterator[Fix]:
    option, value = symptom.get("option"), symptom.get("value")
    if option == "std":
        given = "cmake -B build -DCMAKE_CUDA_STANDARD=17" if where == "cmake" else "nvcc -std=c++17 FILE.cu"
        yield _fix(f"Ask for an older C++ than {value}, which this nvcc does not know: -std=c++17 or c++20", given)
        yield _fix("Or install a newer CUDA toolkit")
    elif option in ("gpu-name", "gpu-architecture", "arch", "gpu-code"):
        yield from _architecture(value)
    else:
        yield _fix(
            f"Give --{option} one of the values that it accepts", on.linux(f"nvcc --help | grep -A12 -e --{option}")
        )


def _native(where: str) -> Iterator[Fix]:
    yield _fix(
        "Set the GPU's architecture: there is no GPU to ask on this machine",
        "cmake -B build -DCMAKE_CUDA_ARCHITECTURES=86" if where in ("cmake", "") else "nvcc -arch=sm_86 FILE.cu",
    )


def _header(symptom: Symptom, where: str) -> Iterator[Fix]:
    """Where a header comes from that CUDA has not, or has elsewhere."""
    header = symptom.get("header")
    if re.match(r"<command-line>", symptom.text) and where != "msvc":
        yield _fix(
            "Run the nvcc of a whole CUDA toolkit: this one does not find its own headers, as when it was moved or is only a part",
            f"export PATH={_DIR}/bin:$PATH\nnvcc --version",
        )
        return
    found = next(
        (
            row
            for row in _ORIGINS
            if re.fullmatch(row.headers, header) or re.search(rf"[</\s'\"]{row.headers}", symptom.text)
        ),
        None,
    )
    if found:
        yield _fix(found.text, found.command)


def elsewhere(header: str) -> Iterator[Fix]:
    """A header that nobody here knows."""
    yield _fix(f"Install the package that has {header}, and give the compiler its folder (-I); a folder of the project itself may be a git submodule that was not fetched",
               on.linux("git submodule update --init --recursive\ng++ -I FOLDER -c FILE.cpp"))  # fmt: skip


_CLASHES: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"NV_IS_DEVICE|NV_IF_ELSE_TARGET|nv/target"),
     "CUDA 13 keeps these headers (CCCL) in the folder include/cccl of the toolkit: give the compiler, or NVRTC, that folder too (-I TOOLKIT/include/cccl), of the same CUDA as the other headers",
     ""),
    (re.compile(r"exception specification is incompatible[^\n]*(?:cospi|sinpi|rsqrt)|mathcalls\.h"),
     "This glibc (2.41 and newer) declares functions that CUDA's math_functions.h declares too: build with a newer CUDA toolkit (13), or in an image with an older glibc; another gcc does not help",
     "docker run --gpus all -it -v .:/work -w /work nvidia/cuda:12.4.1-devel-ubuntu22.04"),
)  # fmt: skip
"""Headers that clash, whatever the project: what is found, why, and the way around."""


def _refused(symptom: Symptom, text: str) -> Iterator[Fix]:
    """A name that this CUDA no longer has; else what to look at."""
    clash = next(((why, command) for shape, why, command in _CLASHES if shape.search(text)), None)
    if clash:
        yield _fix(*clash)
        return
    if symptom.signature == "build.clang_version" or "unknown-cuda-version" in text:
        yield _fix(
            "Use a clang that knows this CUDA, give it an older one, or compile with nvcc",
            on.linux(f"clang++ --cuda-path={_DIR}-12 FILE.cu"),
        )
        return
    if _HALF.search(text):
        yield _fix("Allow the operators of __half: remove -D__CUDA_NO_HALF_OPERATORS__ and its kin (PyTorch's extensions set them), and compile for sm_53 or newer",
                   'export NVCC_APPEND_FLAGS="-U__CUDA_NO_HALF_OPERATORS__ -U__CUDA_NO_HALF_CONVERSIONS__"')  # fmt: skip
        return
    named = [name for found in _UNKNOWN.finditer(text) for name in filter(None, found.groups())]
    called = re.findall(r"\b(cuda\w+|cu[A-Z]\w+) ?\(", text)
    for name in (*named, *called):
        row = removed(name)
        if row is None:
            continue
        yield _fix(f"Change the code: CUDA {row.since} and newer have no {name} of that form; {row.instead}")
        yield _fix(
            f"Or compile it with a CUDA toolkit older than {row.since}",
            on.linux(f"export CUDA_HOME={_DIR}-OLDER PATH={_DIR}-OLDER/bin:$PATH"),
        )
        return

"""Builds: what a failing build misses, and how that is given to the build system that speaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text import compiling
from gpuwhy.rooms.text.build_archs import too_old, unknown_arch
from gpuwhy.rooms.text.build_parts import PARTS, Part, by_header, by_library, by_symbol

_SYSTEMS = (
    (
        "tensorflow",
        r"Cuda Configuration Error|find_cuda_config|cuda_configure\.bzl|local_config_cuda|TF_CUDA|matching version '",
    ),
    (
        "jit",
        r"torch[\\/]_inductor|_dynamo|torchinductor|triton[\\/](?:runtime|backends|common)|/tmp/tmp\w+/main\.c|/tmp/tmp\w+/cuda_utils\.c|__triton_launcher",
    ),
    ("bazel", r"bazel-out|Target //|Build did NOT complete|\.bzl\b|bazel build"),
    ("torch", r"torch[\\/]utils[\\/]cpp_extension|Error compiling objects for extension|TORCH_CUDA_ARCH_LIST"),
    ("pip", r"subprocess-exited-with-error|Building wheel for|error: command '|running build_ext|scikit[-_]build"),
    (
        "cmake",
        r"CMake Error|CMakeLists\.txt|CMakeFiles[\\/]|^(?:\S+ )?-- (?:Found|Detecting|Including|Looking|The C|Configuring)|GGML_",
    ),
    ("msvc", r"\b(?:LNK|C|MSB)\d{4}\b|\.vcxproj|cl\.exe|Visual Studio"),
    ("meson", r"meson\.build"),
    ("cargo", r"custom build command|cargo:|^error: (?:linking with|aborting due to|could not compile)|rust-lld"),
    ("make", r"^g?make(?:\[\d+\])?: "),
)
_GENERAL = ("build.cmake_compiler", "build.cmake_find", "build.nvcc_missing", "build.bazel")
"""What a tool says of a failure that a compiler explains better."""
_DIR = "/usr/local/cuda"


def system(text: str) -> str:
    """The build system that speaks; "" for a compiler alone."""
    return next((name for name, shape in _SYSTEMS if re.search(shape, text, re.MULTILINE)), "")


def fixes(reading: Reading, windows: bool) -> Iterator[Fix]:
    """The remedies for what the text says is missing, in the words of its build system; nothing where that is unclear."""
    text = reading.excerpt
    where = "msvc" if windows and system(text) in ("", "make") else system(text)
    made = tuple(too_old(text)) or (tuple(_tensorflow_paths()) if "Cuda Configuration Error" in text else ())
    if made:
        yield from made
        return
    said = [one for one in reading.symptoms if one.role in ("error", "echo", "aside")]
    for symptom in sorted(said, key=lambda one: one.signature in _GENERAL):
        made = (
            *compiling.made(symptom, where, text),
            *(_for_windows if windows else _for)(symptom, where, text),
        ) or tuple(_unknown_header(symptom))
        if made:
            yield from made
            return


def _unknown_header(symptom: Symptom) -> Iterator[Fix]:
    if symptom.signature == "build.other_header":
        yield from compiling.elsewhere(symptom.get("header"))


def of_tool(reading: Reading, windows: bool) -> Iterator[Fix]:
    """The same where a build tool speaks, for the causes that lie behind a missing compiler or path."""
    if system(reading.excerpt):
        yield from fixes(reading, windows)


_MAKERS: dict[str, Callable[[Symptom, str, str], Iterable[Fix]]] = {
    "build.undefined_reference": lambda symptom, where, _: _undefined(symptom, where),
    "build.nvcc_arch": lambda symptom, where, text: unknown_arch(symptom.get("arch"), where, text),
    "build.host_compiler": lambda _, where, text: _host(text, where),
    "build.cmake_find": lambda _, where, text: _cmake_find(text),
    "build.cmake_compiler": lambda _, where, text: _compiler(where, text),
    "build.nvcc_missing": lambda _, where, text: _compiler(where, text),
    "build.bazel": lambda symptom, where, _: _tensorflow(symptom) if where in ("tensorflow", "bazel") else (),
}
"""Message of a build → what makes its fixes, of the symptom, the tool that builds and the text."""


def _for(symptom: Symptom, where: str, text: str) -> Iterable[Fix]:
    if symptom.signature in _MAKERS:
        return _MAKERS[symptom.signature](symptom, where, text)
    part = _lacking(symptom)
    if part is None:
        return ()
    return _library(part, where) if symptom.signature == "build.cannot_find_l" else _header(part, where)


def _lacking(symptom: Symptom) -> Part | None:
    """The part of a toolkit that a missing header or library belongs to."""
    if symptom.signature in ("build.header", "build.other_header"):
        return by_header(symptom.get("header").rpartition("/")[2]) or by_header(symptom.get("header"))
    return by_library(symptom.get("library")) if symptom.signature == "build.cannot_find_l" else None


def _for_windows(symptom: Symptom, where: str, text: str) -> Iterator[Fix]:
    """The same for Visual Studio's compiler; nothing where the rows of the cause say it better."""
    kind = symptom.signature
    part = by_symbol(_symbol(symptom)) if kind == "build.undefined_reference" else _lacking(symptom)
    if part:
        yield from _told_windows(part, where)
    elif kind in ("build.undefined_reference", "build.nvcc_arch"):
        yield from _for(symptom, where, text)
    elif kind in ("build.cmake_compiler", "build.cmake_find", "build.nvcc_missing") and where == "cmake":
        yield from _cmake_on_windows(text)


def _told_windows(part: Part, where: str) -> Iterator[Fix]:
    if where == "cmake" and part.target:
        yield from _told(part, where)
    elif where in ("pip", "torch"):
        yield _fix(
            "In the x64 Native Tools prompt of Visual Studio: tell its compiler and linker where CUDA is, and build again",
            on.cmd('set "INCLUDE=%CUDA_PATH%\\include;%INCLUDE%"\nset "LIB=%CUDA_PATH%\\lib\\x64;%LIB%"'),
        )
    else:
        yield from _told(part, "msvc")
    if part.wheel == "nvidia-cudnn":
        yield _fix("cuDNN's archive for Windows has its headers and cudnn.lib: unpack it into %CUDA_PATH%")


def _cmake_on_windows(text: str) -> Iterator[Fix]:
    made = tuple(_compiler("", text)) if "toolset found" in text or "non-empty" in text else ()
    yield from made
    if not made:
        root = "CUDA_TOOLKIT_ROOT_DIR" if "FindCUDA.cmake" in text else "CUDAToolkit_ROOT"
        yield _fix(
            "Tell CMake where the CUDA toolkit is, in a fresh build folder and in the x64 Native Tools prompt",
            on.cmd(f'cmake -B build -G Ninja -D{root}="%CUDA_PATH%"'),
        )
        yield _fix("Or install the CUDA toolkit with NVIDIA's installer, after Visual Studio: it has nvcc")


def _fix(text: str, command: str = "", root: bool = False) -> Fix:
    return Fix(text, command, safe=not root, root=root, check="gpuwhy explain LOG")


def _get(part: Part) -> Iterator[Fix]:
    """Where the part itself comes from."""
    if part.wheel:
        folder = part.wheel.removeprefix("nvidia-").replace("-", "_")
        python = f"python -c 'import nvidia.{folder} as m; print(list(m.__path__)[0])'"
        yield _fix(
            f"Install {part.title} with its headers, for CUDA 12 (for 13: -cu13), and let gcc and nvcc search there",
            on.linux(
                f"pip install {part.wheel}-cu12\nexport CPATH=$({python})/include${{CPATH:+:$CPATH}}\n"
                f"export LIBRARY_PATH=$({python})/lib${{LIBRARY_PATH:+:$LIBRARY_PATH}}"
            ),
        )
    if part.apt:
        yield _fix(
            f"Or, with NVIDIA's package repository: {part.title} for the system",
            on.linux(f"sudo apt install {part.apt}"),
            True,
        )
    elif part.wheel:
        yield _fix(
            f"Or install the whole CUDA toolkit, which has {part.title}",
            on.linux("sudo apt install nvidia-cuda-toolkit"),
            True,
        )


def _header(part: Part, where: str) -> Iterator[Fix]:
    yield from _told(part, where, header=True)
    if part.wheel or part.apt:
        yield from _get(part)


def _library(part: Part, where: str) -> Iterator[Fix]:
    if part.library == "cuda" and where not in ("cmake", "msvc"):
        yield _fix("The driver is there as libcuda.so.1, and the linker looks for libcuda.so: give it a link of that name in a folder of yours", on.linux("mkdir -p ~/.local/lib/cuda && ln -sf $(ldconfig -p | grep -m1 -o '/.*libcuda.so.1') ~/.local/lib/cuda/libcuda.so && export LIBRARY_PATH=~/.local/lib/cuda${LIBRARY_PATH:+:$LIBRARY_PATH}"))  # fmt: skip
    if part.library == "cuda":
        yield _fix(
            "Link against the toolkit's stub: the real libcuda comes with the driver, on the machine that runs the program. "
            "Never put the stubs folder into LD_LIBRARY_PATH",
            on.linux(f"export LIBRARY_PATH={_DIR}/lib64/stubs${{LIBRARY_PATH:+:$LIBRARY_PATH}}"),
        )
        if where == "cmake":
            yield _fix(
                "CMakeLists.txt: find_package(CUDAToolkit REQUIRED), target_link_libraries(TARGET PRIVATE CUDA::cuda_driver)"
            )
        return
    if part.wheel in ("nvidia-cudnn", "nvidia-nccl") or not part.target:
        yield from _get(part)
    yield from _told(part, where)


def _told(part: Part, where: str, header: bool = False) -> Iterator[Fix]:
    """How the build system is told where the part is."""
    if where == "cmake":
        target = part.target or f"{_DIR}/lib64/lib{part.library}.so"
        more = "" if part.target else f", and target_include_directories(TARGET PRIVATE {_DIR}/include)"
        yield _fix(
            f"CMakeLists.txt: find_package(CUDAToolkit REQUIRED), target_link_libraries(TARGET PRIVATE {target}){more}"
        )
    elif where in ("bazel", "tensorflow"):
        yield _fix(
            f"Tell Bazel where {part.title} is; in BUILD the same are copts and linkopts",
            on.linux(
                f"bazel build --copt=-I{_DIR}/include --linkopt=-L{_DIR}/lib64 --linkopt=-l{part.library} //TARGET"
            ),
        )
    elif where == "msvc":
        yield _fix(
            f"Visual Studio, for x64 (not Win32): add %CUDA_PATH%\\include to the include folders, %CUDA_PATH%\\lib\\x64 to the library folders and "
            f"{part.library}.lib to the linker's input; cuDNN's files are copied there first, or named as folders of their own"
        )
    elif where in ("pip", "torch"):
        yield _fix(
            "Tell pip's compiler where CUDA is, and build again (-I, as for -I/usr/local/cuda/include)",
            f"export CUDA_HOME={_DIR} CPATH={_DIR}/include LIBRARY_PATH={_DIR}/lib64\npip install --no-build-isolation -v .",
        )
    elif where == "cargo":
        yield _fix(
            "Tell Rust's linker where CUDA is; in build.rs the same are cargo:rustc-link-search and cargo:rustc-link-lib",
            f'export LIBRARY_PATH={_DIR}/lib64 RUSTFLAGS="-L {_DIR}/lib64 -l {part.library}"',
        )
    elif where == "make":
        yield _fix(
            "Tell make where CUDA is",
            on.linux(
                f"make CPPFLAGS=-I{_DIR}/include LDFLAGS=-L{_DIR}/lib64 LDLIBS=-l{part.library}\n"
                f"export CPATH={_DIR}/include LIBRARY_PATH={_DIR}/lib64    # where the Makefile takes no flags"
            ),
        )
    elif where == "jit":
        folder = "$CONDA_PREFIX/targets/x86_64-linux"
        yield _fix(
            "Tell the compiler that the framework starts at run time where CUDA's headers and libraries are",
            on.linux(f"export CPATH={_DIR}/include:$CPATH LIBRARY_PATH={_DIR}/lib64:{_DIR}/lib64/stubs:$LIBRARY_PATH"),
        )
        yield _fix(
            "In a conda environment: bring them into it, and name its folder",
            on.linux(f"conda install -c nvidia cuda-cudart-dev cuda-nvcc\nexport CPATH={folder}/include:$CPATH"),
        )
    elif header:
        yield _fix(
            "Tell the compiler where CUDA's headers are (nvcc knows it by itself)",
            on.linux(f"g++ -I{_DIR}/include -c FILE.cpp"),
        )
    else:
        yield _fix("Give the linker the folder (-L) and the library (-l), after the files that use it",
                   on.linux(f"g++ FILE.o -o PROGRAM -L{_DIR}/lib64 -l{part.library}"))  # fmt: skip


def _symbol(symptom: Symptom) -> str:
    """The name that the linker misses, in whatever language it says so."""
    named = re.findall(r"external symbol \"?_*(\w+)|LNK20\d\d: [^\n]*?\b(?:__imp_)?(cu\w+|nv\w+)", symptom.text)
    return symptom.get("symbol").partition("@")[0] or next((one or two for one, two in named), "")


def _all_libraries(symptom: Symptom, first: Part) -> Fix:
    """Every library whose symbols the linker of Visual Studio misses, in one line."""
    names = re.findall(r"external symbol \"?_*(?:imp_+)?(\w+)", symptom.text)
    parts = dict.fromkeys((first, *(part for name in names if (part := by_symbol(name)))))
    wanted = " ".join(f"{'nvml' if part.library == 'nvidia-ml' else part.library}.lib" for part in parts)
    return _fix(f"Visual Studio, for x64 (not Win32): add {wanted} to the linker's input and %CUDA_PATH%\\lib\\x64 to its library folders; of a library that is not there (cuDNN, TensorRT) the lib folder of its own archive too")  # fmt: skip


def _undefined(symptom: Symptom, where: str) -> Iterator[Fix]:
    name = _symbol(symptom)
    if "__cudaRegisterLinkedBinary" in name or "__fatbinwrap" in name:
        yield _fix("Link the device code too: let nvcc do the last link", "nvcc -rdc=true *.o -o PROGRAM")
        yield _fix("Or make the device link yourself, and give its result to g++",
                   on.linux(f"nvcc -dlink *.o -o device.o\ng++ *.o device.o -L{_DIR}/lib64 -lcudadevrt -lcudart -o PROGRAM"))  # fmt: skip
        yield _fix("CMake: set_target_properties(TARGET PROPERTIES CUDA_SEPARABLE_COMPILATION ON)")
        return
    if "cxx11" in name or "cxx11" in symptom.text:
        yield _fix("Compile everything with the same C++ ABI: a library of the old one needs it everywhere",
                   "export CXXFLAGS=-D_GLIBCXX_USE_CXX11_ABI=0")  # fmt: skip
        yield _fix("See which one PyTorch has", "python -c 'import torch; print(torch.compiled_with_cxx11_abi())'")
        return
    part = by_symbol(name)
    if part is None:
        return
    if where == "msvc":
        yield _all_libraries(symptom, part)
        return
    if part.library == "cuda" and where in ("", "make"):
        yield _fix("Link with the driver's library, behind the files that need it; where it is not installed, by the stub",
                   on.linux(f"g++ FILE.o -o PROGRAM -L{_DIR}/lib64/stubs -lcuda"))  # fmt: skip
        return
    yield from _told(part, where)
    if part.wheel in ("nvidia-cudnn", "nvidia-nccl"):
        yield from _get(part)


def _host(text: str, where: str) -> Iterator[Fix]:
    found = re.search(r"gcc versions? (?:later|greater|newer) than (4\.\d|\d+)", text)
    if found and where == "cmake":
        gcc = found[1]
        yield _fix(
            "Give CMake the newest host compiler that this nvcc accepts, in a fresh build folder",
            on.linux(f"sudo apt install g++-{gcc}\ncmake -B build -DCMAKE_CUDA_HOST_COMPILER=/usr/bin/g++-{gcc}"), True,
        )  # fmt: skip


def _cmake_find(text: str) -> Iterator[Fix]:
    target = re.search(r"CUDA::(\w+)", text)
    if target and "target was not found" in text:
        yield _fix(f"Install the part of the CUDA toolkit that has {target[1]}, headers included, and run CMake in a fresh folder",
                   on.linux("sudo apt install nvidia-cuda-toolkit"), True)  # fmt: skip
        return
    missing = re.search(r"Could NOT find (\w+)[^()]{0,80}\(missing:\s*([^)]+)\)", text)
    if re.search(r"(?i)could not find[^\n]*\n?[^\n]*torch|FindTorch", text):
        yield _fix("Tell CMake where PyTorch is",
                   on.linux("cmake -B build -DCMAKE_PREFIX_PATH=$(python -c 'import torch; print(torch.utils.cmake_prefix_path)')"))  # fmt: skip
    elif part := _wanted(text):
        names = [word for word in (missing[2].split() if missing else ()) if re.fullmatch(r"\w+", word)]
        given = (
            " ".join(f"-D{name}={_value(name, part)}" for name in names[:4]) or f"-D{_package(text, part)}_ROOT={_DIR}"
        )
        yield _fix(f"Tell CMake where {part.title} is, once it is installed", f"cmake -B build {given}")
        yield from _get(part)
    else:
        old = "FindCUDA.cmake" in text or "CUDA_TOOLKIT_ROOT_DIR" in text
        option = f"-DCUDA_TOOLKIT_ROOT_DIR={_DIR}" if old else f"-DCUDAToolkit_ROOT={_DIR}"
        yield _fix("Tell CMake where the CUDA toolkit is, in a fresh build folder", f"cmake -B build {option}")
        yield _toolkit()


def _wanted(text: str) -> Part | None:
    """The part, other than the toolkit itself, whose package CMake does not find."""
    found = re.search(r"(?i)(?:could not find[^()\n]{0,60}|Find|provided by\s+\")(cudnn|nccl|tensorrt)\b", text)
    return next((part for part in PARTS if found and part.title.lower() == found[1].lower()), None)


def _package(text: str, part: Part) -> str:
    """How CMake calls the package."""
    found = re.search(r'provided by\s+"(\w+)"', text)
    return found[1] if found else part.title.upper()


def _value(name: str, part: Part) -> str:
    if re.search(r"(?i)include", name):
        return f"{_DIR}/include"
    return f"{_DIR}/lib64/lib{part.library}.so" if re.search(r"(?i)librar", name) else _DIR


def _toolkit() -> Fix:
    return _fix("Or install the CUDA toolkit, which has nvcc", on.linux("sudo apt install nvidia-cuda-toolkit"), True)


def _compiler(where: str, text: str) -> Iterator[Fix]:
    if "toolset found" in text:
        yield _fix("Visual Studio: install the CUDA toolkit again with its Visual Studio integration, after Visual Studio; or use "
                   "CMake's Ninja generator in the x64 Native Tools prompt", "cmake -B build -G Ninja")  # fmt: skip
        return
    if "non-empty" in text and "CMAKE_CUDA_ARCHITECTURES" in text:
        yield _fix(
            "Name the GPU's architecture, in a fresh build folder", "cmake -B build -DCMAKE_CUDA_ARCHITECTURES=86"
        )
        return
    if where == "cmake" or "CMAKE_CUDA_COMPILER" in text or "CUDAToolkit_ROOT" in text:
        old = "FindCUDA.cmake" in text or "CUDA_TOOLKIT_ROOT_DIR" in text
        root = f"-DCUDA_TOOLKIT_ROOT_DIR={_DIR}" if old else f"-DCUDAToolkit_ROOT={_DIR}"
        given = f"-DCMAKE_CUDA_COMPILER={_DIR}/bin/nvcc {root}"
        if where in ("pip", "torch"):
            yield _fix("Tell the CMake that pip starts where nvcc is",
                       f'export CUDACXX={_DIR}/bin/nvcc CMAKE_ARGS="{given}"\npip install --no-cache-dir -v PACKAGE')  # fmt: skip
        else:
            yield _fix("Tell CMake where nvcc is, in a fresh build folder", f"cmake -B build {given}")
    else:
        yield _fix(
            "Put nvcc on PATH, where the toolkit is installed",
            on.linux(f"export CUDA_HOME={_DIR} PATH={_DIR}/bin:$PATH"),
        )
    yield _toolkit()


def _tensorflow(symptom: Symptom) -> Iterator[Fix]:
    if "crosstool" in symptom.text:
        yield _fix("Run TensorFlow's configure with CUDA, then build with its settings",
                   on.linux("TF_NEED_CUDA=1 ./configure\nbazel build --config=cuda //tensorflow/tools/pip_package:wheel"))  # fmt: skip
        return
    yield from _tensorflow_paths()


def _tensorflow_paths() -> Iterator[Fix]:
    """Where TensorFlow's configure looks, and what a newer one fetches itself."""
    yield _fix("Tell configure every folder to search: CUDA's, cuDNN's and the system's",
               on.linux(f"export TF_CUDA_PATHS={_DIR},/usr,/usr/lib/x86_64-linux-gnu CUDNN_INSTALL_PATH=/usr\n./configure"))  # fmt: skip
    yield _fix("From TensorFlow 2.18 on Bazel fetches CUDA and cuDNN itself: name the versions",
               on.linux("bazel build --config=cuda_wheel --repo_env=HERMETIC_CUDA_VERSION=12.5.1 "
               "--repo_env=HERMETIC_CUDNN_VERSION=9.3.0 //tensorflow/tools/pip_package:wheel"))  # fmt: skip

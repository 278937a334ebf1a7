"""Eleventh operators, builds by CMake, ninja and setuptools, the toolkit's smaller tools, link-time code, programs made for nobody's card."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    ABI,
    BAD,
    BUILD,
    COMPILER,
    LIB,
    LIM,
    NVCC,
    OLD,
    OT,
    PATH,
    SET,
    SHADOW,
    STUB,
    UNSUP,
    VERSION,
    Case,
    enter,
    lines,
)
from lab.random.programs import CPP

GOOD = CPP["cpp-add"][1]
NEAR = (PATH, OT, LIB)


def cmake(target: str, cause: str, also: tuple[str, ...], text: tuple[str, ...], expect: str, options: str = "", before: str = "") -> Case:  # fmt: skip
    """A project of CMake around a good program."""
    whole = ("cmake_minimum_required(VERSION 3.18)", *text)
    command = f"nvcc --version > /dev/null; mkdir -p $W/p; cd $W/p; cp $SCRIPT main.cu; printf '%s\\n' {lines(*whole)} > CMakeLists.txt; {before} cmake -S . -B b {options} && cmake --build b && ./b/app"
    return Case("cpp-add", target, cause, also, code=GOOD, command=command, expect=expect, void="")


LANG = ("project(app LANGUAGES CXX CUDA)",)
APP = (*LANG, "add_executable(app main.cu)")
enter(
    "cmake-looks-for-cuda",
    cmake("compiler of a folder that is gone", PATH, (BUILD, COMPILER), APP, "(?i)nvcc|CMAKE_CUDA_COMPILER|CUDA compiler", "-DCMAKE_CUDA_COMPILER=/opt/cuda-12.6/bin/nvcc"),
    cmake("no compiler on the path", COMPILER, (PATH, BUILD), APP, "(?i)CMAKE_CUDA_COMPILER|nvcc", "-DCMAKE_CUDA_ARCHITECTURES=90", "CM=$(command -v cmake); mkdir t; for n in gcc g++ cc c++ make ninja ld as ar ranlib sh bash sed uname; do p=$(command -v $n) && ln -sf $p t/$n; done; cmake() { PATH=$W/p/t $CM \"$@\"; }; unset CUDACXX CUDA_PATH CUDA_HOME;"),
    cmake("a later toolkit wanted", VERSION, (BUILD, PATH), (*LANG, "find_package(CUDAToolkit 14.2 REQUIRED)", "add_executable(app main.cu)"), "(?i)CUDAToolkit|14.2|version"),
    cmake("an old toolkit, exactly", VERSION, (BUILD, PATH), (*LANG, "find_package(CUDAToolkit 11.8 EXACT REQUIRED)", "add_executable(app main.cu)"), "(?i)CUDAToolkit|11.8|version"),
    cmake("the old way of finding it", BUILD, (VERSION, OT, PATH), ("cmake_policy(SET CMP0146 NEW)", "project(app CXX)", "find_package(CUDA REQUIRED)", "cuda_add_executable(app main.cu)"), "(?i)CUDA"),
    cmake("environment names a wrapper that is gone", PATH, (BUILD, COMPILER, SET), APP, "(?i)nvcc_wrapper|CUDACXX", before="export CUDACXX=/opt/kokkos/bin/nvcc_wrapper;"),
)  # fmt: skip
enter(
    "cmake-cards",
    cmake("card of two numbers ago", BUILD, (UNSUP, VERSION), APP, "(?i)unsupported|compute_35|sm_35|nvcc fatal|not supported", "-DCMAKE_CUDA_ARCHITECTURES=35"),
    cmake("card of tomorrow", BUILD, (UNSUP, VERSION), APP, "(?i)unsupported|compute_150|sm_150|nvcc fatal|not supported", "-DCMAKE_CUDA_ARCHITECTURES=150"),
    cmake("name instead of a number", BUILD, (SET, OT), APP, "(?i)hopper|CUDA_ARCHITECTURES", "-DCMAKE_CUDA_ARCHITECTURES=hopper"),
    cmake("number with a dot", BUILD, (SET, OT, UNSUP), APP, "(?i)9[.]0|CUDA_ARCHITECTURES", "-DCMAKE_CUDA_ARCHITECTURES=9.0"),
    cmake("only for a card that is not here", UNSUP, (BUILD,), APP, "(?i)no kernel image", "-DCMAKE_CUDA_ARCHITECTURES=80-real"),
    cmake("none at all", BUILD, (UNSUP, SET, OT), (*LANG, "add_executable(app main.cu)", "set_property(TARGET app PROPERTY CUDA_ARCHITECTURES)"), "(?i)CUDA_ARCHITECTURES"),
)  # fmt: skip
enter(
    "cmake-projects",
    cmake("standard of C++ of the next decade", BUILD, (OT,), (*LANG, "set(CMAKE_CUDA_STANDARD 29)", "add_executable(app main.cu)"), "(?i)29|CUDA_STANDARD"),
    cmake("library of the toolkit misnamed", BUILD, NEAR, (*LANG, "find_package(CUDAToolkit REQUIRED)", "add_executable(app main.cu)", "target_link_libraries(app CUDA::cudart_shared_all)"), "(?i)cudart_shared_all"),
    cmake("language forgotten", BUILD, (OT,), ("project(app LANGUAGES CXX)", "add_executable(app main.cu)"), "(?i)linker language|LANGUAGE|main.cu"),
    cmake("package of a neighbour", BUILD, (PATH, LIB, OT), (*LANG, "find_package(cuCollections CONFIG REQUIRED)", "add_executable(app main.cu)"), "(?i)cuCollections"),
    cmake("source that moved", BUILD, (OT, PATH), (*LANG, "add_executable(app main.cu kernels/reduce.cu)"), "(?i)reduce.cu"),
    cmake("option of nvcc for every language", BUILD, (OT,), (*LANG, "file(WRITE h.cpp \"int h() { return 1; }\")", "add_compile_options(--expt-relaxed-constexpr --use_fast_math)", "add_executable(app main.cu h.cpp)"), "(?i)expt-relaxed-constexpr|use_fast_math"),
    cmake("cache of another folder", BUILD, (OT, PATH, BAD), APP, "(?i)CMakeCache|different", before="mkdir b; printf 'CMAKE_CACHEFILE_DIR:INTERNAL=/home/alice/solver/b\\nCMAKE_HOME_DIRECTORY:INTERNAL=/home/alice/solver\\n' > b/CMakeCache.txt;"),
    cmake("maker that is not installed", BUILD, (PATH, OT, COMPILER), APP, "(?i)ninja-acme|MAKE_PROGRAM|build program", "-G Ninja -DCMAKE_MAKE_PROGRAM=/opt/ninja-acme/ninja"),
)  # fmt: skip


def ninja(target: str, cause: str, also: tuple[str, ...], text: tuple[str, ...], expect: str) -> Case:
    """Rules for ninja written by a script."""
    command = f"nvcc --version > /dev/null; mkdir -p $W/p; cd $W/p; cp $SCRIPT main.cu; printf '%s\\n' {lines(*text)} > build.ninja; ninja && ./app"
    return Case("cpp-add", target, cause, also, code=GOOD, command=command, expect=expect, void="")


RULE = ("rule nvcc", "  command = nvcc -arch=sm_90 -o $out $in")
enter(
    "ninja-rules",
    ninja("source nobody makes", BUILD, (OT, PATH), (*RULE, "build app: nvcc main.cu fft.cu"), "(?i)fft.cu"),
    ninja("rule of another name", BUILD, (OT,), (*RULE, "build app: nvlink main.cu"), "(?i)unknown build rule|nvlink"),
    ninja("blank that is a tab", BUILD, (OT,), ("rule nvcc", "\tcommand = nvcc -arch=sm_90 -o $out $in", "build app: nvcc main.cu"), "(?i)tab"),
    ninja("circle", BUILD, (OT,), (*RULE, "build a.cu: nvcc app", "build app: nvcc a.cu"), "(?i)cycle"),
    ninja("compiler by a path of the author", PATH, (BUILD, COMPILER), ("rule nvcc", "  command = /home/alice/cuda/bin/nvcc -o $out $in", "build app: nvcc main.cu"), "(?i)alice/cuda"),
    ninja("two makers of one file", BUILD, (OT,), (*RULE, "build app: nvcc main.cu", "build app: nvcc b.cu"), "(?i)multiple rules"),
)  # fmt: skip
EXT = "mkdir -p $W/p; cd $W/p; cp $SCRIPT main.py; printf '%s\\n' @SRC@ > op.cu; printf '%s\\n' @SETUP@ > setup.py; @ENV@ TORCH_CUDA_ARCH_LIST=@A@ MAX_JOBS=2 $PYTHON setup.py -q build_ext --inplace 2>&1 | tail -n 60; test ${PIPESTATUS[0]} = 0 && $PYTHON main.py"
SETUP = ("from setuptools import setup", "from torch.utils.cpp_extension import BuildExtension, CUDAExtension", "setup(name='op', ext_modules=[CUDAExtension('op', ['op.cu'])], cmdclass={'build_ext': BuildExtension})")  # fmt: skip
PLAIN = ("int f() { return 1; }",)


def setup(target: str, cause: str, also: tuple[str, ...], expect: str, *, arch: str = "9.0", env: str = "", src: tuple[str, ...] = PLAIN, text: tuple[str, ...] = SETUP) -> Case:  # fmt: skip
    """An extension of torch built by setup.py; it fails before the long compilation."""
    command = EXT.replace("@SRC@", lines(*src)).replace("@SETUP@", lines(*text)).replace("@ENV@", env).replace("@A@", arch)  # fmt: skip
    code = "import torch\nprint('cuda', torch.ones(1, device='cuda').item(), flush=True)\nimport op\n"
    return Case("torch-compile", target, cause, also, code=code, command=command, expect=expect, void="")


enter(
    "setup-py-builds",
    setup("card's name misspelt in the list", SET, (BUILD, UNSUP), "(?i)Hoppper|unknown CUDA arch", arch="Hoppper"),
    setup("toolkit's folder is gone", PATH, (BUILD, COMPILER), "(?i)cuda-12.1|CUDA_HOME|No such file", env="CUDA_HOME=/usr/local/cuda-12.1"),
    setup("slip in the source", BUILD, (OT,), "(?i)error", src=("int f( { return 1; }",)),
    setup("source that is not in the package", BUILD, (OT, PATH), "(?i)ops/attn.cu|No such file", text=(*SETUP[:2], SETUP[2].replace("'op.cu'", "'ops/attn.cu'"))),
    setup("module without an entry", BUILD, (OT, ABI), "(?i)PyInit_op|export function"),
    setup("built in a clean room without torch", BUILD, (OT, PATH), "(?i)No module named .torch|torch", env="PYTHONNOUSERSITE=1", text=("import sys", "sys.modules['torch'] = None", *SETUP[1:])),
    setup("host compiler that is not there", BUILD, (PATH, COMPILER), "(?i)g[+][+]-19", env="CC=gcc-19 CXX=g++-19"),
)  # fmt: skip


def made(target: str, cause: str, also: tuple[str, ...], shell: str, expect: str, code: str = GOOD) -> Case:
    """A good program, made by hand in steps."""
    return Case("cpp-add", target, cause, also, code=code, command=f"nvcc --version > /dev/null; cd $W; cp $SCRIPT a.cu; {shell}", expect=expect, void="")  # fmt: skip


enter(
    "steps-of-nvcc",
    made("link-time code without its linker's option", BUILD, (UNSUP, OT), "nvcc -dc -gencode arch=compute_90,code=lto_90 -o a.o a.cu && nvcc -arch=sm_90 -o a a.o && ./a", "(?i)lto|nvlink|undefined|error|no kernel"),
    made("parts for two cards linked for one", UNSUP, (BUILD,), "nvcc -dc -gencode arch=compute_80,code=sm_80 -o a.o a.cu && nvcc -gencode arch=compute_80,code=sm_80 -o a a.o && ./a", "(?i)no kernel image"),
    made("virtual card above the real one", BUILD, (UNSUP,), "nvcc -gencode arch=compute_100,code=sm_90 -o a a.cu && ./a", "(?i)nvcc fatal|incompatible|compute_100|not"),
    made("letter a of another card", UNSUP, (BUILD,), "nvcc -gencode arch=compute_100a,code=sm_100a -o a a.cu && ./a", "(?i)no kernel image"),
    made("registers told by a word", BUILD, (OT,), "nvcc -arch=sm_90 -Xptxas --maxrregcount=many -o a a.cu && ./a", "(?i)many|maxrregcount|ptxas"),
    made("text given to the assembler", BUILD, (BAD, OT), "cp a.cu a.ptx; ptxas -arch=sm_90 -o a.cubin a.ptx && ./a", "(?i)ptxas|fatal|parsing|version"),
    made("a binary of cards started as a program", OT, (BUILD,), "nvcc -arch=sm_90 -cubin -o a a.cu && chmod 755 a && ./a", "(?i)exec format|cannot execute"),
    made("fast and exact at once by a slip", BUILD, (OT,), "nvcc -arch=sm_90 --fmad=perhaps -o a a.cu && ./a", "(?i)fmad|perhaps"),
)  # fmt: skip
PTX = "nvcc -arch=compute_90 -ptx -o k.ptx k.cu && "
LOADS = '#include <cuda.h>\n#include <cstdio>\n#include <cstdlib>\n#define CK(c) do { CUresult r = (c); if (r) { const char* s; cuGetErrorName(r, &s); fprintf(stderr, "loader: %s: %s\\n", #c, s); exit(3); } } while (0)\nint main() { CUdevice d; CUcontext c; CUmodule m; CUfunction f; CK(cuInit(0)); CK(cuDeviceGet(&d, 0)); CK(cuDevicePrimaryCtxRetain(&c, d)); CK(cuCtxSetCurrent(c)); CK(cuModuleLoad(&m, "k.bin")); CK(cuModuleGetFunction(&f, m, "k")); CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, nullptr, nullptr)); CK(cuCtxSynchronize()); puts("ran"); }\n'
KCU = "echo 'extern \"C\" __global__ void k() {}' > k.cu; "


def loads(target: str, cause: str, also: tuple[str, ...], shell: str, expect: str) -> Case:
    """A program that loads code from a file made in the step before."""
    return made(target, cause, also, f"{KCU}{shell} && nvcc -o ld a.cu -lcuda && ./ld", expect, LOADS)


enter(
    "code-from-files",
    loads("text of a later language", OLD, (VERSION, BUILD, UNSUP), PTX + "sed 's/^[.]version .*/.version 9.8/' k.ptx > k.bin", "(?i)UNSUPPORTED_PTX|INVALID_PTX"),
    loads("text for a later card", UNSUP, (BUILD, OLD), PTX + "sed 's/^[.]target .*/.target sm_103/' k.ptx > k.bin", "(?i)NO_BINARY|INVALID_PTX|UNSUPPORTED"),
    loads("binary for an older card", UNSUP, (BUILD,), "nvcc -arch=sm_80 -cubin -o k.bin k.cu", "(?i)NO_BINARY"),
    loads("cut binary", BAD, (BUILD, "program.illegal_access"), "nvcc -arch=sm_90 -cubin -o f k.cu && head -c 700 f > k.bin", "(?i)loader:"),
    loads("object of the host", BUILD, (BAD, UNSUP), "nvcc -arch=sm_90 -c -o k.bin k.cu", "(?i)loader:"),
    loads("name changed by C++", BUILD, (OT,), "echo '__global__ void k() {}' > k.cu; nvcc -arch=sm_90 -cubin -o k.bin k.cu", "(?i)NOT_FOUND"),
    loads("never written", OT, (PATH, BUILD), "true", "(?i)FILE_NOT_FOUND"),
    loads("text with a call to nowhere", BUILD, (OT, LIB), "echo 'extern \"C\" __device__ float other(float); extern \"C\" __global__ void k() { float x = other(1); if (x > 3) __trap(); }' > k.cu; nvcc -arch=compute_90 -rdc=true -ptx -o k.bin k.cu", "(?i)INVALID_PTX|NOT_FOUND|loader:|LINK|unresolved"),
)  # fmt: skip
STUBS = "S=$(find @T@/ -path '*stubs/libcuda.so' | head -1); [ -n \"$S\" ] || exit 97; mkdir -p lib; cp $S lib/libcuda.so.1; "
enter(
    "ways-to-the-library",
    made("stub shipped beside the program", STUB, (BUILD, PATH, SHADOW), STUBS + "nvcc -o app a.cu -lcuda -Xlinker --disable-new-dtags -Xlinker -rpath='$ORIGIN/lib' && ./app", "(?i)STUB|loader:", LOADS),
    made("run path with a slip", PATH, (BUILD, LIB), "echo 'int s() { return 1; }' > s.c; mkdir -p libs; gcc -shared -fPIC -Wl,-soname,libgpusolve.so.4 -o libs/libgpusolve.so s.c; nvcc -arch=sm_90 -Xlinker --no-as-needed -o app a.cu -Llibs -lgpusolve -Xlinker -rpath='$0RIGIN/libs' && ./app", "libgpusolve"),
    made("static library taken for a shared one", BUILD, (PATH, LIB, OT), "nvcc -arch=sm_90 -cudart shared -o app a.cu -Xlinker -l:libcudart.a && ./app", "libcudart.a"),
    made("all as one file", BUILD, (LIB, PATH), "nvcc -arch=sm_90 -Xcompiler -static -o app a.cu -lcuda && ./app", "(?i)libcuda|cannot find|static"),
)  # fmt: skip
enter(
    "compiling-without-room",
    made("temporary folder that may not be written", LIM, (BUILD, PATH, OT), "mkdir t; mount -t tmpfs -o ro none t; TMPDIR=$W/t " + NVCC, "(?i)tmp|read-only|permission|open|denied"),
    made("temporary folder of eight kilobytes", LIM, (BUILD, OT, BAD), "mkdir t; mount -t tmpfs -o size=8k none t; TMPDIR=$W/t " + NVCC, "(?i)space|write|error"),
    made("half a minute is too long", LIM, (OT, BUILD), "ulimit -t 1; for i in 1 2 3 4 5 6; do nvcc -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -include thrust/sort.h -o a a.cu || exit 1; done; ./a", "(?i)killed|died|CPU time|signal"),
    made("harmless: everything kept", BUILD, (OT,), "mkdir k; nvcc -arch=sm_90 --keep --keep-dir k -o a a.cu && ./a", ""),
)  # fmt: skip

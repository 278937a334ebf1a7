"""Seventh operators, what is loaded: preloads, injections, plug-ins, compiled files, compilers on PATH, extensions."""

from __future__ import annotations

from lab.random.programs import CPP
from lab.random.seventh import (
    ABI,
    ANY,
    BAD,
    BUILD,
    COMPILER,
    CONFLICT,
    DNN,
    LIB,
    LIM,
    MIXED,
    OT,
    PATH,
    SET,
    SHADOW,
    STUB,
    Case,
    enter,
)


# ------------------------------------------------------------------------------------------------ loaded before the rest
def found(name: str, places: str) -> str:
    """Shell: link the machine's own copy of a library to $W/pre.so; no such copy, no draw."""
    return f"L=$(find -L {places} -maxdepth 2 -name '{name}' -type f 2>/dev/null | grep -v stubs | sort | head -1); [ -n \"$L\" ] || exit 97; ln -sfn $L $W/pre.so"


SYSTEM, KIT = "/usr/lib/x86_64-linux-gnu /usr/local/lib", "@T@/lib64 @T@/targets/x86_64-linux/lib"
PRE = {"LD_PRELOAD": "$W/pre.so"}
NEAR_DNN = (MIXED, "cudnn.version_mismatch", PATH, SET, SHADOW, ABI)
NEAR = ("cuda.version_mismatch", PATH, SET, SHADOW, ABI, DNN)
enter(
    "preload-system",
    Case("torch-train torch-vision jax-conv", "cuDNN of the system", DNN, NEAR_DNN, setup=found("libcudnn.so.[89]*", SYSTEM), environ=PRE),
    Case("torch-train jax-conv", "a part of the system's cuDNN", DNN, NEAR_DNN, setup=found("libcudnn_graph.so.9*", SYSTEM), environ=PRE),
    Case("torch-matmul torch-train jax-matmul cupy-matmul", "cuBLAS of the toolkit", MIXED, NEAR, setup=found("libcublasLt.so.1[0-9].*", KIT), environ=PRE),
    Case("torch-solve cupy-svd jax-solve", "cuSOLVER of the toolkit", MIXED, NEAR, setup=found("libcusolver.so.1[0-9].*", KIT), environ=PRE),
    Case("torch jax cupy", "runtime of the toolkit", MIXED, NEAR, setup=found("libcudart.so.1[0-9].*", KIT), environ=PRE),
    Case("torch jax-solve cupy-svd", "nvJitLink of the toolkit", MIXED, NEAR, setup=found("libnvJitLink.so.1[0-9].*", KIT), environ=PRE),
    Case("torch-nccl", "NCCL of the system", MIXED, (*NEAR, "distributed.nccl", CONFLICT), setup=found("libnccl.so.2*", SYSTEM), environ=PRE),
    Case("cupy-raw torch-bessel", "NVRTC of the toolkit", MIXED, (*NEAR, COMPILER), setup=found("libnvrtc.so.1[0-9].*", KIT), environ=PRE),
    Case("torch-matmul jax-matmul cupy-matmul", "harmless: a library nobody calls", MIXED, NEAR, setup=found("libz.so.1*", SYSTEM), environ=PRE),
)  # fmt: skip
FIRST = "import ctypes, os\nctypes.CDLL(os.environ['OUR_LIB'], mode=ctypes.RTLD_GLOBAL)\n"
OUR = {"OUR_LIB": "$W/pre.so"}
enter(
    "loaded-first",
    Case("torch-train torch-vision jax-conv", "cuDNN of the system by ctypes", DNN, NEAR_DNN, before=FIRST, setup=found("libcudnn.so.[89]*", SYSTEM), environ=OUR),
    Case("torch-matmul cupy-matmul jax-matmul", "cuBLAS of the toolkit by ctypes", MIXED, NEAR, before=FIRST, setup=found("libcublas.so.1[0-9].*", KIT), environ=OUR),
    Case("torch-fft cupy-fft jax-fft", "cuFFT of the toolkit by ctypes", MIXED, NEAR, before=FIRST, setup=found("libcufft.so.1[0-9].*", KIT), environ=OUR),
    Case("torch", "OpenMP of the compiler by ctypes", MIXED, NEAR, before=FIRST, setup=found("libgomp.so.1*", SYSTEM), environ=OUR),
    Case("torch jax cupy", "all symbols global", MIXED, (*NEAR, OT), before="import os, sys\nsys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)\n"),
    Case("torch-train torch-matmul", "harmless: jax imported first", DNN, NEAR_DNN, before="import jax\nprint(jax.__version__)\n"),
    Case("torch-train torch-fft", "harmless: cupy computes first", DNN, NEAR_DNN, before="import cupy\nprint('cupy', float(cupy.ones(8).sum()))\n"),
    Case("jax-conv jax-matmul", "harmless: torch convolves first", DNN, NEAR_DNN, before="import torch\nprint(torch.nn.Conv2d(3, 4, 3).to('@D@')(torch.ones(1, 3, 8, 8, device='@D@')).shape)\n"),
    Case("cupy-matmul cupy-svd", "harmless: torch imported first", MIXED, NEAR, before="import torch\nprint(torch.ones(2, device='@D@').sum().item())\n"),
)  # fmt: skip
NEAR_SET = (LIM, OT, BAD, PATH)
enter(
    "loader-variables",
    Case(ANY, "no room for static TLS", SET, NEAR_SET, environ={"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=0"}),
    Case("torch jax cupy", "LD_PREFER_MAP_32BIT and few namespaces", SET, NEAR_SET, environ={"GLIBC_TUNABLES": "glibc.rtld.nns=1:glibc.rtld.optional_static_tls=64", "LD_PREFER_MAP_32BIT_EXEC": "1"}),
    Case("torch jax cupy triton", "audit library that refuses", SET, (*NEAR_SET, SHADOW), setup="printf 'unsigned la_version(unsigned v){return v;}\\nchar *la_objsearch(const char *n, unsigned long *c, unsigned f){int i=0;while(n[i])i++;while(i&&n[i]!=47)i--;char*p=(char*)n+i+1;return p[0]==108&&p[1]==105&&p[2]==98&&p[3]==99&&p[4]==117?0:(char*)n;}\\n' > $W/au.c; gcc -shared -fPIC -o $W/audit.so $W/au.c || exit 97; chmod 755 $W/audit.so", environ={"LD_AUDIT": "$W/audit.so"}),
    Case(ANY, "harmless: audit library is gone", SET, NEAR_SET, environ={"LD_AUDIT": "/opt/trace/lib/libaudit_hook.so"}),
    Case(ANY, "harmless: fewer instructions", SET, NEAR_SET, environ={"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F"}),
    Case(ANY, "harmless: bind now", SET, NEAR_SET, environ={"LD_BIND_NOW": "1", "LD_WARN": "1"}),
    Case(ANY, "harmless: other heap", SET, NEAR_SET, environ={"MALLOC_ARENA_MAX": "1", "MALLOC_PERTURB_": "85", "MALLOC_CHECK_": "3"}),
)  # fmt: skip
STUBS = "S=$(find @T@/ -path '*stubs/libcuda.so' | head -1); [ -n \"$S\" ] || exit 97; mkdir -p $W/stubs; ln -sfn $S $W/stubs/libcuda.so.1; ln -sfn $S $W/stubs/libcuda.so"
ASKS = '#include <cuda.h>\n#include <cstdio>\nint main() { CUresult r = cuInit(0); int n = 0; if (r) { fprintf(stderr, "cuInit failed with code %d\\n", r); return 1; } r = cuDeviceGetCount(&n); printf("RESULT %d devices\\n", n); return r; }\n'
enter(
    "stub-linked",
    Case("cpp-add", "run path to the stubs, old tags", STUB, (BUILD, PATH), setup=STUBS, code=ASKS, command="nvcc -arch=sm_90 -o $W/a $SCRIPT -L$W/stubs -lcuda -Xlinker --disable-new-dtags -Xlinker -rpath -Xlinker $W/stubs && $W/a"),
    Case("cpp-add", "run path to the stubs", STUB, (BUILD, PATH), setup=STUBS, code=ASKS, command="unset LD_LIBRARY_PATH; nvcc -arch=sm_90 -o $W/a $SCRIPT -L$W/stubs -lcuda -Xlinker -rpath -Xlinker $W/stubs && $W/a"),
    Case("cupy", "opened by its full name", STUB, (PATH, OT), setup=STUBS, environ={"DRV": "$W/stubs/libcuda.so"}, code="import ctypes, os\ncu = ctypes.CDLL(os.environ['DRV'])\ncode = cu.cuInit(0)\nif code:\n    raise SystemExit(f'cuInit(0) returned {code}')\n"),
    Case("numba-kernel", "NUMBA_CUDA_DRIVER", STUB, (PATH, SET), setup=STUBS, environ={"NUMBA_CUDA_DRIVER": "$W/stubs/libcuda.so.1"}),
    Case("torch-matmul jax-matmul cupy-matmul", "in the folder of the binaries' own libraries, global", STUB, (PATH, SHADOW), setup=STUBS, environ={"OUR_LIB": "$W/stubs/libcuda.so.1"}, before=FIRST),
    Case("cpp-add", "harmless: linked with it, not run with it", STUB, (BUILD, PATH), setup=STUBS, command="nvcc -arch=sm_90 -o $W/b $SCRIPT -L$W/stubs -lcuda && $W/b", code=CPP["cpp-add"][1]),
    Case("triton-add torch-compile", "harmless: the compiler links with it", STUB, (PATH, SET, BUILD), setup=STUBS, environ={"TRITON_LIBCUDA_PATH": "$W/stubs"}),
)  # fmt: skip
INJ = "printf '{0}' > $W/i.c; gcc -shared -fPIC -o $W/inject.so $W/i.c || exit 97; chmod 755 $W/inject.so"
NEAR_INJ = (PATH, LIB, BAD, "driver.missing", "driver.not_ready", "driver.library_mismatch", OT)
TOOL = "torch-matmul torch-train jax-matmul cupy-matmul cupy-raw numba-kernel cpp-add"
enter(
    "injection",
    Case(TOOL, "profiler's library is gone", SET, NEAR_INJ, environ={"CUDA_INJECTION64_PATH": "/opt/nvidia/nsight/libToolsInjection64.so"}),
    Case(TOOL, "library without the entry", SET, NEAR_INJ, setup=INJ.format("int other(void){return 1;}\\n"), environ={"CUDA_INJECTION64_PATH": "$W/inject.so"}),
    Case(TOOL, "library is a text", SET, NEAR_INJ, setup="echo 'moved to /opt/tools' > $W/inject.so", environ={"CUDA_INJECTION64_PATH": "$W/inject.so"}),
    Case(TOOL, "entry ends the process", SET, (*NEAR_INJ, "program.illegal_access"), setup=INJ.format("#include <stdio.h>\\n#include <stdlib.h>\\nint InitializeInjection(void){fputs(\"tracer: no licence server\\\\n\", stderr); exit(5);}\\n"), environ={"CUDA_INJECTION64_PATH": "$W/inject.so"}),
    Case(TOOL, "harmless: entry that does nothing", SET, NEAR_INJ, setup=INJ.format("int InitializeInjection(void){return 1;}\\n"), environ={"CUDA_INJECTION64_PATH": "$W/inject.so"}),
    Case(TOOL, "harmless: marks' library is gone", SET, NEAR_INJ, environ={"NVTX_INJECTION64_PATH": "/opt/nvidia/libnvtx.so", "NSYS_PROFILING_SESSION_ID": "4711"}),
)  # fmt: skip

"""Tenth operators, builds: g++ and archives, configure scripts, modules for Python made by hand, own kernels behind ctypes."""

from __future__ import annotations

from lab.random.tenth import (  # fmt: skip
    ABI,
    BAD,
    BUILD,
    COMPILER,
    ILL,
    LAU,
    LIB,
    LIM,
    NVCC,
    OT,
    PATH,
    SHA,
    UNSUP,
    VERSION,
    Case,
    enter,
)

K = "printf '%s\\n' '#include <cuda_runtime.h>' '__global__ void k(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] += 2; }' '@C@ int step(float* x, int n) { k<<<1, 256>>>(x, n); return (int)cudaDeviceSynchronize(); }' > $W/step.cu; "
MAIN = "printf '%s\\n' '#include <cstdio>' '#include <cuda_runtime.h>' 'extern \"C\" int step(float*, int);' 'int main() { float* p; if (cudaMalloc(&p, 4096)) return 1; return step(p, 64); }' > $W/m.cpp; "
TK = "-I@T@/include -L@T@/lib64"
NEAR = (PATH, OT, LIB)


def linked(target: str, cause: str, also: tuple[str, ...], shell: str, expect: str) -> Case:
    """A kernel by nvcc, a main by g++, and how they are put together."""
    whole = (K + MAIN).replace("@C@", 'extern "C"') + f"cd $W && {shell.replace('; ', ' && ')} && ./a && echo done"
    return Case("cpp-add", target, cause, also, code="int main() { return 0; }\n", command=f"nvcc --version > /dev/null && {{ {whole}; }}", expect=expect)  # fmt: skip


OBJ = "nvcc -arch=sm_90 -c -o step.o step.cu; "
enter(
    "linked-by-gxx",
    linked("runtime's library forgotten", BUILD, NEAR, OBJ + f"g++ {TK} -o a m.cpp step.o", "(?i)undefined reference"),
    linked("headers' folder forgotten", BUILD, NEAR, OBJ + "env -u CPATH -u CPLUS_INCLUDE_PATH g++ -o a m.cpp step.o -L@T@/lib64 -lcudart", "(?i)No such file|fatal error"),
    linked("library before what needs it", BUILD, NEAR, OBJ + f"g++ -Wl,--as-needed {TK} -o a -lcudart_static m.cpp step.o", "(?i)undefined reference"),
    linked("static runtime without its helpers", BUILD, NEAR, OBJ + f"g++ {TK} -nodefaultlibs -o a m.cpp step.o -lcudart_static -lstdc++ -lm -lc", "(?i)undefined reference|DSO missing|hidden"),
    linked("names of C++ on one side", BUILD, (OT,), OBJ + f"sed -i 's/extern \"C\" //' m.cpp; g++ {TK} -o a m.cpp step.o -lcudart", "(?i)undefined reference.*step"),
    linked("linker that is not installed", BUILD, (PATH, OT), OBJ + f"g++ -fuse-ld=mold {TK} -o a m.cpp step.o -lcudart", "(?i)cannot find.*ld|mold"),
    linked("code for the linker of cards, never linked", BUILD, (OT,), f"nvcc -arch=sm_90 -dc -o step.o step.cu; g++ {TK} -o a m.cpp step.o -lcudart", "(?i)cudaRegisterLinkedBinary|undefined reference"),
    linked("library of nothing", BUILD, NEAR, f"ar rcs libstep.a; g++ {TK} -o a m.cpp -L. -lstep -lcudart", "(?i)undefined reference"),
    linked("position that is fixed", BUILD, (OT,), "nvcc -arch=sm_90 -Xcompiler -fno-pic,-mcmodel=medium -c -o step.o step.cu; g++ -shared -o libstep.so step.o; g++ -Wl,-z,defs " + TK + " -o a m.cpp -L. -lstep -lcudart", "(?i)relocation|recompile with|undefined"),
)  # fmt: skip
CONF = "cd $W; printf '%s\\n' '#!/bin/sh' @LINES@ > configure; chmod 755 configure; ./configure @ARGS@ && nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"


def configured(target: str, cause: str, also: tuple[str, ...], lines: tuple[str, ...], expect: str, args: str = "") -> Case:  # fmt: skip
    """A project whose configure script looks for CUDA its own way."""
    quoted = " ".join("'" + line.replace("'", "'\\''") + "'" for line in lines)
    return Case("cpp-add", target, cause, also, code="int main() { return 0; }\n", command=CONF.replace("@LINES@", quoted).replace("@ARGS@", args), expect=expect)  # fmt: skip


CHECK = 'echo -n "checking for CUDA toolkit... "'
enter(
    "configure-scripts",
    configured("toolkit looked for in one place", PATH, (BUILD, COMPILER, OT), (CHECK, 'd=${with_cuda:-/opt/nvidia/hpc_sdk/cuda}; if [ -x $d/bin/nvcc ]; then echo $d; else echo no; echo "configure: error: CUDA toolkit not found in $d; use --with-cuda=DIR" >&2; exit 1; fi'), "CUDA toolkit not found"),
    configured("version read and refused", VERSION, (BUILD, OT), (CHECK, 'v=$(nvcc --version | sed -n "s/.*release \\([0-9]*\\).*/\\1/p"); echo $v; [ "$v" -le 11 ] || { echo "configure: error: CUDA $v is not supported, need CUDA 10 or 11" >&2; exit 1; }'), "not supported"),
    configured("library that is not there", LIB, (BUILD, PATH, OT), (CHECK + "; echo yes", 'echo -n "checking for -lcufftmp... "; f=$(ls /usr/lib/x86_64-linux-gnu/libcufftMp.so* /usr/local/cuda/lib64/libcufftMp.so* 2>/dev/null | head -1); if [ -n "$f" ]; then echo yes; else echo no; echo "configure: error: libcufftMp is required for multi-GPU transforms" >&2; exit 1; fi'), "cufftMp is required"),
    configured("trial program does not link", BUILD, (PATH, LIB, OT), (CHECK + "; echo yes", 'echo "int main() { return 0; }" > conf.cu', "nvcc -o conf conf.cu -lmagma_sparse 2> conf.log || { cat conf.log >&2; echo 'configure: error: cannot link against MAGMA' >&2; exit 1; }"), "MAGMA|magma"),
    configured("described by a file that is missing", BUILD, (PATH, LIB, OT), (CHECK + "; echo yes", "echo \"Package 'cuda-11.2', required by 'virtual:world', not found\" >&2; echo 'configure: error: Package requirements (cuda-11.2 >= 11.2) were not met' >&2; exit 1"), "requirements", ),
    configured("option of another release", OT, (BUILD,), ('for a in "$@"; do case $a in --enable-gpu|--prefix=*) ;; *) echo "configure: error: unrecognized option: $a" >&2; exit 1;; esac; done',), "unrecognized option", "--enable-gpu --with-cuda-arch=90"),
)  # fmt: skip
MOD = "mkdir -p $W/m; cd $W/m; printf '%s\\n' '#include <Python.h>' @BODY@ > fast.c; gcc -shared -fPIC @FLAGS@ -o fast.so fast.c && PYTHONPATH=$W/m $PYTHON $SCRIPT"
PYTHON_H = "-I$($PYTHON -c 'import sysconfig; print(sysconfig.get_paths()[\"include\"])')"
USE = "import torch\nx = torch.ones(4, device='@D@')\nprint('on', x.device, flush=True)\nimport fast\nprint(fast.scale(x.data_ptr(), 4))\n"
INIT = 'static struct PyModuleDef d = {PyModuleDef_HEAD_INIT, "fast", 0, -1, 0}; PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&d); }'


def module(target: str, cause: str, also: tuple[str, ...], body: tuple[str, ...], expect: str, flags: str = PYTHON_H) -> Case:  # fmt: skip
    """An extension module built by the job itself, as small projects do."""
    lines = " ".join("'" + line.replace("'", "'\\''") + "'" for line in body)
    return Case("torch-matmul", target, cause, also, code=USE, command=MOD.replace("@BODY@", lines).replace("@FLAGS@", flags), expect=expect, void="")  # fmt: skip


enter(
    "modules-by-hand",
    module("Python's headers not told", BUILD, (PATH, OT), (INIT,), "(?i)Python.h", ""),
    module("entry of another name", OT, (BUILD, ABI), (INIT.replace("PyInit_fast", "PyInit_faster"),), "(?i)module export function|PyInit"),
    module("function never made", BUILD, (ABI, OT, LIB), ("extern int launch_scale(void*, int);", "int (*keep)(void*, int) = launch_scale;", INIT), "(?i)undefined symbol"),
    module("library it was linked with is gone", PATH, (LIB, BUILD, OT, ABI), (INIT,), "(?i)libscale", PYTHON_H + " -L$W/m -Wl,--no-as-needed $(echo 'int s;' > s.c; gcc -shared -fPIC -Wl,-soname,libscale.so.2 -o libscale.so s.c; echo -lscale)"),
    module("says no when it is loaded", OT, (BUILD, ABI), ('PyMODINIT_FUNC PyInit_fast(void) { PyErr_SetString(PyExc_ImportError, "fast: built for sampling rate 44100, config says 48000"); return 0; }',), "44100"),
    module("slip in the source", BUILD, (OT,), (INIT, "int scale(float* x) { return x[0] }"), "(?i)error"),
)  # fmt: skip
BIND = "mkdir -p $W/m; cd $W/m; printf '%s\\n' @SRC@ > own.cu; nvcc @FLAGS@ -Xcompiler -fPIC -shared -o libown.so own.cu && OWN=$W/m/libown.so $PYTHON $SCRIPT"
SRC = ("#include <cuda_runtime.h>", "__global__ void k(float* x, int n, float s) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= s; }", 'extern "C" int scale(float* x, int n, float s) { k<<<(n + 127) / 128, 128>>>(x, n, s); int e = cudaGetLastError(); return e ? e : cudaDeviceSynchronize(); }', 'extern "C" const char* words(int e) { return cudaGetErrorString((cudaError_t)e); }')  # fmt: skip
CALL = "import ctypes, os, torch\nlib = ctypes.CDLL(os.environ['OWN'])\nlib.words.restype = ctypes.c_char_p\nx = torch.ones(1 << 14, device='cuda')\ntorch.cuda.synchronize()\nprint('loaded', flush=True)\n{0}\nif e:\n    raise RuntimeError(f'own.scale: status {{e}}: {{lib.words(e).decode()}}')\nprint(x.sum().item())\n"
GOOD = "e = lib.scale(ctypes.c_void_p(x.data_ptr()), 1 << 14, ctypes.c_float(2))"


def bound(target: str, cause: str, also: tuple[str, ...], call: str, expect: str, flags: str = "-arch=sm_90", src: tuple[str, ...] = SRC) -> Case:  # fmt: skip
    """A library of kernels made by the job and called from Python without a wrapper."""
    lines = " ".join("'" + line.replace("'", "'\\''") + "'" for line in src)
    return Case("torch-graph", target, cause, also, code=CALL.format(call), command=BIND.replace("@SRC@", lines).replace("@FLAGS@", flags), expect=expect, void="")  # fmt: skip


enter(
    "kernels-behind-ctypes",
    bound("address cut to 32 bits", ILL, (SHA,), "e = lib.scale(x.data_ptr(), 1 << 14, ctypes.c_float(2))", "(?i)illegal|status|Segmentation|OverflowError|ArgumentError|error"),
    bound("made for older cards", UNSUP, (BUILD,), GOOD, "(?i)no kernel image|status 209", "-gencode arch=compute_80,code=sm_80"),
    bound("made for a later card", UNSUP, (BUILD,), GOOD, "(?i)no kernel image|status 209|status", "-gencode arch=compute_100,code=sm_100"),
    bound("number of bytes for a number of values", ILL, (SHA,), "e = lib.scale(ctypes.c_void_p(x.data_ptr()), (1 << 31) - 200, ctypes.c_float(2))", "(?i)illegal|status"),
    bound("tensor of the host", ILL, (SHA, "device.selection"), "y = torch.ones(1 << 14)\ne = lib.scale(ctypes.c_void_p(0x5000000000), 1 << 14, ctypes.c_float(2))", "(?i)illegal|status"),
    bound("names of C++", BUILD, (ABI, OT), GOOD, "(?i)undefined symbol", src=tuple(line.replace('extern "C" int', "int") for line in SRC)),
    bound("nothing to do", LAU, (SHA,), "e = lib.scale(ctypes.c_void_p(x.data_ptr()), 0, ctypes.c_float(2))", "(?i)invalid configuration|status 9"),
    bound("answer differs from the reference", OT, (ILL, SHA, LAU), "e = lib.scale(ctypes.c_void_p(x.data_ptr()), 1 << 14, ctypes.c_float(2))\nassert x.sum().item() == (1 << 14), 'own.scale: result differs from the reference'", "(?i)differs"),
)  # fmt: skip
NVCC_ENV = "cd $W; @SET@ " + NVCC


def surrounded(target: str, cause: str, also: tuple[str, ...], setup: str, expect: str) -> Case:
    """A good program whose compiler finds something odd around it."""
    return Case("cpp-add", target, cause, also, code="#include <cstdio>\n#include <cuda_runtime.h>\nint main() { int n; cudaGetDeviceCount(&n); printf(\"%d\\n\", n); return 0; }\n", command=NVCC_ENV.replace("@SET@", setup), expect=expect)  # fmt: skip


enter(
    "compiler-surroundings",
    surrounded("another project's headers first", "env.shadowed", (BUILD, PATH, OT), "mkdir -p inc; echo '#error this is the emulator of ACME, not CUDA' > inc/cuda_runtime_api.h; export CPLUS_INCLUDE_PATH=$W/inc CPATH=$W/inc;", "(?i)emulator|ACME|error"),
    surrounded("standard header of another compiler first", "env.shadowed", (BUILD, PATH, OT), "mkdir -p inc; echo '#include <bits/gone_config.h>' > inc/cstdio; export CPLUS_INCLUDE_PATH=$W/inc;", "(?i)gone_config"),
    surrounded("libraries of another toolkit first", BUILD, (PATH, BAD, LIB, OT), "mkdir -p lib; echo 'old' > lib/libcudart_static.a; export LIBRARY_PATH=$W/lib NVCC_APPEND_FLAGS=-L$W/lib;", "(?i)libcudart_static|format|syntax|skipping|file"),
    surrounded("temporary folder in a place that is gone", LIM, (BUILD, PATH, OT, COMPILER), "export TMPDIR=/mnt/scratch/job-77;", "(?i)scratch|tmp|No such|open"),
    surrounded("wrapper of the compiler counts in vain", COMPILER, (BUILD, PATH, OT), "mkdir -p bin; printf '#!/bin/sh\\necho \"ccache: error: cache directory is locked by another job\" >&2\\nexit 1\\n' > bin/g++; cp bin/g++ bin/gcc; chmod 755 bin/*; export PATH=$W/bin:$PATH;", "(?i)ccache|locked"),
)  # fmt: skip

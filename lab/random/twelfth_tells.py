"""Twelfth operators, C++ programs that tell of the runtime's errors in the words of well-known programs and of other languages.

Every kind of failure is real; only the way of telling it differs: glog, llama.cpp, GROMACS, Kokkos, RMM, OpenCV, TensorRT, NAMD,
PETSc, AMReX, Rust, Julia, Go, records, numbers alone, words of other tongues.
"""

from __future__ import annotations

from lab.random.eleventh import HOST, IDX, ILL, LAU, NVCC, OOM, ORD, SEL, SHA, UNSUP, Case
from lab.random.twelfth import enter

HEAD = "#include <cstdio>\n#include <cstdlib>\n#include <cassert>\n#include <new>\n#include <stdexcept>\n#include <string>\n#include <cuda_runtime.h>\n"
FILL = "__global__ void fill(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }\n"
END = " CK(cudaGetLastError()); CK(cudaDeviceSynchronize());"
AMPERE = "nvcc -gencode arch=compute_80,code=sm_80 -o $W/a $SCRIPT && $W/a"
KINDS: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    "wild": (ILL, (), "__global__ void k(float* p) { p[1ll << 37] = 1; }\n", "k<<<1, 1>>>(d);" + END),
    "odd": (ILL, (SHA,), "__global__ void k(float* p) { *(float4*)(p + 1) = make_float4(1, 2, 3, 4); }\n", "k<<<1, 1>>>(d);" + END),
    "null": (ILL, (), "__global__ void k(float** p, float* o) { *o = **p; }\n", "k<<<1, 1>>>((float**)nullptr, d);" + END),
    "large": (OOM, (), "", "void* q; CK(cudaMalloc(&q, 900ull << 30));"),
    "wide": (LAU, (), "", "fill<<<1, 4096>>>(d, 64);" + END),
    "shared": (LAU, (), "", "fill<<<1, 64, 1 << 20>>>(d, 64);" + END),
    "empty": (LAU, (SHA,), "", "int rows = 0; fill<<<rows, 64>>>(d, 64);" + END),
    "card": (SEL, (), "", "CK(cudaSetDevice(5));"),
    "check": (IDX, (ILL,), "__global__ void k(float* p, int n) { int i = threadIdx.x; assert(i < n && \"cell outside the box\"); p[i] = 1; }\n", "k<<<1, 64>>>(d, 40);" + END),
    "taken": (ORD, (), "", "cudaStream_t s; CK(cudaStreamCreate(&s)); CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); void* q; CK(cudaMalloc(&q, 4096));"),
    "pinned": (HOST, (OOM,), "", "void* q; CK(cudaMallocHost(&q, 40ull << 40));"),
    "twice": (ILL, (SHA, ORD), "", "void* q; CK(cudaMalloc(&q, 64)); CK(cudaFree(q)); CK(cudaFree(q));"),
    "long": (SHA, (ILL,), "__constant__ float t[16];\n", "float h[64] = {0}; CK(cudaMemcpyToSymbol(t, h, sizeof h));"),
    "pitch": (SHA, (), "", "CK(cudaMemcpy2D(d, 16, d + 4096, 16, 64, 4, cudaMemcpyDeviceToDevice));"),
    "other": (UNSUP, (), "", "fill<<<4, 64>>>(d, 256);" + END),
}  # fmt: skip
"""What goes wrong: the cause, its neighbours, what stands above main, what main does."""


def style(name: str, macro: str, kinds: str, expect: str) -> tuple[Case, ...]:
    """The kinds of failure as one program tells them; `macro` has `c` for the call and `e_` for the error."""
    cases = []
    for kind in kinds.split():
        cause, also, top, body = KINDS[kind]
        first = "" if kind == "other" else "fill<<<64, 256>>>(d, 1 << 14);" + END
        code = f'{HEAD}{FILL}{top}#define CK(c) do {{ cudaError_t e_ = (c); if (e_ != cudaSuccess) {{ {macro} }} }} while (0)\nint main() {{\n  float* d; CK(cudaMalloc(&d, 1 << 20)); {first} printf("step 0 done\\n"); fflush(stdout);\n  {body}\n  printf("all done\\n"); return 0; }}\n'
        cases.append(Case("cpp-add", f"{name}: {kind}", cause, also, code=code, command=AMPERE if kind == "other" else NVCC, expect=expect))  # fmt: skip
    return tuple(cases)


WORDS = "cudaGetErrorName(e_), cudaGetErrorString(e_)"
enter(
    "cpp-tells-like-glog",
    *style("glog", 'fprintf(stderr, "F1116 04:12:07.551203  2207 math_functions.cu:%d] Check failed: error == cudaSuccess (%d vs. 0)  %s\\n*** Check failure stack trace: ***\\n    @     0x7f3c1d2a5b03  google::LogMessage::Fail()\\n", __LINE__, (int)e_, cudaGetErrorString(e_)); abort();', "wild large wide card check other", "Check failed"),
)  # fmt: skip
enter(
    "cpp-tells-like-llama",
    *style("llama.cpp", 'int n_ = 0; cudaGetDevice(&n_); fprintf(stderr, "ggml_cuda_compute_forward: MUL_MAT failed\\nCUDA error: %s\\n  current device: %d, in function %s at ggml-cuda.cu:%d\\n  %s\\nggml-cuda.cu:88: CUDA error\\n", cudaGetErrorString(e_), n_, __func__, __LINE__, #c); abort();', "wild odd wide card taken other", "current device"),
    *style("llama.cpp buffers", 'fprintf(stderr, "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 921600.00 MiB on device 0: %s failed: %s\\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 966367641600\\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\\n", #c, cudaGetErrorString(e_)); exit(1);', "large", "unable to allocate"),
)  # fmt: skip
enter(
    "cpp-tells-like-gromacs",
    *style("GROMACS", 'fprintf(stderr, "\\n-------------------------------------------------------\\nProgram:     mdrun, version 2026.1\\nSource file: src/gpu_utils/devicebuffer.cuh (line %d)\\n\\nFatal error:\\n%s failed. CUDA error #%d (%s): %s.\\n\\nFor more information and tips for troubleshooting, please check the website.\\n-------------------------------------------------------\\n", __LINE__, #c, (int)e_, ' + WORDS + "); exit(1);", "wild null large shared pinned check", "Fatal error"),
)  # fmt: skip
enter(
    "cpp-tells-like-kokkos",
    *style("Kokkos", 'throw std::runtime_error(std::string(#c) + " error( " + cudaGetErrorName(e_) + "): " + cudaGetErrorString(e_) + " /src/core/Cuda/Kokkos_Cuda_Instance.cpp:" + std::to_string(__LINE__));', "wild odd empty card twice other", "Kokkos_Cuda"),
    *style("AMReX", 'fprintf(stderr, "amrex::Abort::0::CUDA error %d in file Src/Base/AMReX_GpuDevice.cpp line %d: %s !!!\\nSIGABRT\\nSee Backtrace.0 file for details\\n", (int)e_, __LINE__, cudaGetErrorString(e_)); abort();', "wild large", "amrex::Abort"),
)  # fmt: skip
enter(
    "cpp-tells-like-rapids",
    *style("RMM", 'if (e_ == cudaErrorMemoryAllocation) { static std::string w_; w_ = std::string("std::bad_alloc: out_of_memory: CUDA error (failed to allocate 966367641600 bytes) at: /include/rmm/mr/cuda_memory_resource.hpp:") + std::to_string(__LINE__) + ": " + cudaGetErrorName(e_) + " " + cudaGetErrorString(e_); struct O : std::bad_alloc { const char* what() const noexcept override { return w_.c_str(); } }; throw O(); } throw std::logic_error(std::string("CUDA error encountered at: /src/copying/gather.cu:") + std::to_string(__LINE__) + ": " + std::to_string((int)e_) + " " + cudaGetErrorName(e_) + " " + cudaGetErrorString(e_));', "large wild null wide long pinned", "(?i)CUDA error"),
)  # fmt: skip
enter(
    "cpp-tells-like-opencv",
    *style("OpenCV", 'throw std::runtime_error(std::string("OpenCV(4.11.0) /build/opencv/modules/core/src/cuda/gpu_mat.cu:") + std::to_string(__LINE__) + ": error: (-217:Gpu API call) " + cudaGetErrorString(e_) + " in function \'call\'\\n");', "wild odd large pitch card other", "Gpu API call"),
)  # fmt: skip
enter(
    "cpp-tells-like-tensorrt",
    *style("TensorRT", 'fprintf(stderr, "[11/16/2026-04:12:07] [E] Error[1]: [resizingAllocator.cpp::call::%d] Error Code 1: Cuda Runtime (%s)\\n[11/16/2026-04:12:07] [E] Inference set up failed\\n&&&& FAILED TensorRT.trtexec [TensorRT v101300] # trtexec --onnx=net.onnx\\n", __LINE__, cudaGetErrorString(e_)); exit(1);', "wild large shared card taken check", "Error Code 1"),
)  # fmt: skip
enter(
    "cpp-tells-like-simulations",
    *style("NAMD", 'fprintf(stderr, "FATAL ERROR: CUDA error %s in file src/CudaTileListKernel.cu, function build, line %d\\n on Pe 0 (gpu-07 device 0 pci 0:1b:0): %s\\n------------- Processor 0 Exiting: Called CmiAbort ------------\\n", #c, __LINE__, cudaGetErrorString(e_)); abort();', "wild wide large", "FATAL ERROR"),
    *style("PETSc", 'fprintf(stderr, "[0]PETSC ERROR: --------------------- Error Message --------------------------------------------------------------\\n[0]PETSC ERROR: GPU error\\n[0]PETSC ERROR: cuda error %d (%s) : %s\\n[0]PETSC ERROR: #1 MatMult_SeqAIJCUSPARSE() at aijcusparse.cu:%d\\n", (int)e_, ' + WORDS + ", __LINE__); exit(97);", "odd card pinned other", "PETSC ERROR"),
)  # fmt: skip
enter(
    "cpp-tells-like-other-languages",
    *style("Rust", 'fprintf(stderr, "thread \'main\' panicked at src/engine.rs:%d:10:\\ncalled `Result::unwrap()` on an `Err` value: Cuda(%s, \\"%s\\")\\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\\n", __LINE__, ' + WORDS + "); exit(101);", "wild large card", "panicked"),
    *style("Julia", 'fprintf(stderr, "ERROR: LoadError: CUDA error: %s (code %d, %s)\\nStacktrace:\\n [1] throw_api_error(res::CUDA.cudaError_enum)\\n   @ CUDA lib/cudadrv/libcuda.jl:30\\n", cudaGetErrorString(e_), (int)e_, cudaGetErrorName(e_)); exit(1);', "null shared other", "LoadError"),
    *style("Go", 'fprintf(stderr, "panic: cuda: %s (%d)\\n\\ngoroutine 1 [running]:\\nmain.(*Engine).Step(0xc0000b2000)\\n\\t/src/engine.go:88 +0x1d4\\nexit status 2\\n", cudaGetErrorString(e_), (int)e_); exit(2);', "wild wide check", "goroutine"),
)  # fmt: skip
enter(
    "cpp-tells-in-records",
    *style("record", 'printf("{\\"ts\\":\\"2026-11-16T04:12:07Z\\",\\"sev\\":\\"FATAL\\",\\"mod\\":\\"raycast\\",\\"cuda\\":{\\"code\\":%d,\\"name\\":\\"%s\\"},\\"line\\":%d}\\n", (int)e_, cudaGetErrorName(e_), __LINE__); exit(7);', "wild large wide card", "FATAL"),
    *style("name only", 'fprintf(stderr, "raycast: %s\\n", cudaGetErrorName(e_)); exit(7);', "odd shared taken", "raycast: cuda"),
    *style("other tongue", 'fprintf(stderr, "FEHLER in Schritt 1: Aufruf auf der Grafikkarte fehlgeschlagen, CUDA-Fehler %d (%s)\\n", (int)e_, cudaGetErrorString(e_)); exit(7);', "null large", "FEHLER"),
)  # fmt: skip
enter(
    "cpp-tells-a-number",
    *style("number", 'fprintf(stderr, "raycast: cuda error %d at line %d\\n", (int)e_, __LINE__); exit(9);', "wild large card other check", "cuda error"),
    *style("hexadecimal", 'fprintf(stderr, "raycast: CUDA runtime returned 0x%x from %s\\n", (int)e_, #c); exit(9);', "odd taken large", "CUDA runtime returned"),
)  # fmt: skip

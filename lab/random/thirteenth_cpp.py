"""Thirteenth operators, C++: grids computed wrongly, waits of the whole grid, graphs that hold memory, libraries too early or too late, pictures, sources that do not compile, errors that nobody looked at, arenas."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.eleventh import (  # fmt: skip
    BAD,
    BUILD,
    FRAG,
    ILL,
    LAU,
    OLD,
    OOM,
    ORD,
    OT,
    PATH,
    SHA,
    UNSUP,
    VERSION,
    Case,
)
from lab.random.eleventh_cpp import HEAD, cu
from lab.random.thirteenth import enter

enter(
    "cpp-grids-computed-wrongly",
    cu("fewer cells than a block has threads", LAU, (SHA,), "volatile int n = 100; fill<<<n / 256, 256>>>(d, n); DONE;"),
    cu("two layers of a full block", LAU, (), "fill<<<1, dim3(32, 32, 2)>>>(d, 64); DONE;"),
    cu("rows in the second direction", LAU, (), "volatile int rows = 70000; fill<<<dim3(1, rows), 32>>>(d, 64); DONE;"),
    cu("number of bytes beyond an int", LAU, (SHA,), "volatile int n = 1 << 30; int b = n * 4; fill<<<b / 256, 256>>>(d, 64); DONE;"),
    cu("room counted in bytes twice", LAU, (), "fill<<<1, 256, sizeof(float) * sizeof(float) * 16384>>>(d, 64); DONE;"),
    cu("threads of a processor as threads of a block", LAU, (), "int t; GO(cudaDeviceGetAttribute(&t, cudaDevAttrMaxThreadsPerMultiProcessor, 0)); fill<<<8, t>>>(d, 64); DONE;"),
    cu("depth of a block", LAU, (), "fill<<<1, dim3(1, 1, 128)>>>(d, 64); DONE;"),
    cu("difference of two sizes below nought", LAU, (SHA,), "volatile int a = 3, b = 9; fill<<<a - b, 64>>>(d, 64); DONE;"),
)  # fmt: skip
CG = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(float* p) { p[blockIdx.x] = 1; cg::this_grid().sync(); p[0] += p[blockIdx.x]; }\n"
TOGETHER = "void* a[] = {&d}; GO(cudaLaunchCooperativeKernel((void*)k, @G@, a, @S@, 0)); DONE;"
enter(
    "cpp-whole-grid-waits",
    cu("started the usual way", ORD, (LAU, ILL), "k<<<8, 32>>>(d); DONE;", CG),
    cu("more blocks than stand at once", LAU, (), TOGETHER.replace("@G@", "dim3(1 << 20), dim3(256)").replace("@S@", "0"), CG),
    cu("one block for each processor and one more", LAU, (), "int n; GO(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0)); GO(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10)); " + TOGETHER.replace("@G@", "dim3(n + 1), dim3(64)").replace("@S@", "200 << 10"), CG),
    cu("together and too wide", LAU, (), TOGETHER.replace("@G@", "dim3(1), dim3(1056)").replace("@S@", "0"), CG),
    cu("no block at all", LAU, (SHA,), TOGETHER.replace("@G@", "dim3(0), dim3(64)").replace("@S@", "0"), CG),
)  # fmt: skip
TAKE = "float* q; cudaStream_t s; cudaGraph_t g; cudaGraphExec_t x, y; GO(cudaStreamCreate(&s)); GO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); GO(cudaMallocAsync((void**)&q, 1 << 20, s)); fill<<<64, 256, 0, s>>>(q, 1 << 14); @F@GO(cudaStreamEndCapture(s, &g)); "
KEPT = TAKE.replace("@F@", "")
enter(
    "cpp-graphs-that-hold-memory",
    cu("played twice, given back never", ORD, (SHA, OOM), KEPT + "GO(cudaGraphInstantiate(&x, g, 0)); GO(cudaGraphLaunch(x, s)); GO(cudaStreamSynchronize(s)); GO(cudaGraphLaunch(x, s)); GO(cudaStreamSynchronize(s));"),
    cu("made ready twice", ORD, (SHA,), KEPT + "GO(cudaGraphInstantiate(&x, g, 0)); GO(cudaGraphInstantiate(&y, g, 0)); GO(cudaGraphLaunch(y, s)); GO(cudaGraphLaunch(x, s)); GO(cudaStreamSynchronize(s));"),
    cu("copied", ORD, (SHA,), KEPT + "cudaGraph_t h; GO(cudaGraphClone(&h, g));"),
    cu("used before it is played", ILL, (ORD,), KEPT + "GO(cudaGraphInstantiate(&x, g, 0)); fill<<<64, 256>>>(q, 1 << 14); DONE;"),
    cu("given back by hand before it is played", ORD, (ILL, SHA), KEPT + "GO(cudaGraphInstantiate(&x, g, 0)); GO(cudaFree(q));"),
    cu("a child of another graph", ORD, (SHA,), KEPT + "cudaGraph_t h; cudaGraphNode_t n; GO(cudaGraphCreate(&h, 0)); GO(cudaGraphAddChildGraphNode(&n, h, nullptr, 0, g));"),
)  # fmt: skip
LB = '#define ST(c) do { int r_ = (int)(c); if (r_) { fprintf(stderr, "[fatal] mesh.cu:%d  %s returned status %d\\n", __LINE__, #c, r_); exit(13); } } while (0)\n'
FFT, RND, BLAS = LB + "#include <cufft.h>\n", LB + "#include <curand.h>\n", LB + "#include <cublas_v2.h>\n"
PLAN = "cufftHandle p; "
GEN = "curandGenerator_t r; ST(curandCreateGenerator(&r, CURAND_RNG_PSEUDO_DEFAULT)); "
EARLY = (SHA, OT)
enter(
    "cpp-libraries-too-early-or-late",
    cu("plan thrown away, then carried out", ORD, EARLY, PLAN + "ST(cufftPlan1d(&p, 256, CUFFT_C2C, 1)); ST(cufftDestroy(p)); ST(cufftExecC2C(p, (cufftComplex*)d, (cufftComplex*)d, CUFFT_FORWARD));", FFT, "-lcufft"),
    cu("plan begun and never made", ORD, EARLY, PLAN + "ST(cufftCreate(&p)); ST(cufftExecC2C(p, (cufftComplex*)d, (cufftComplex*)d, CUFFT_FORWARD));", FFT, "-lcufft"),
    cu("made for real, carried out as complex", SHA, (ORD, OT), PLAN + "ST(cufftPlan1d(&p, 256, CUFFT_R2C, 1)); ST(cufftExecZ2Z(p, (cufftDoubleComplex*)d, (cufftDoubleComplex*)d, CUFFT_FORWARD));", FFT, "-lcufft"),
    cu("chance's source thrown away, then asked", ORD, EARLY, GEN + "ST(curandDestroyGenerator(r)); ST(curandGenerateUniform(r, d, 64));", RND, "-lcurand"),
    cu("pairs of normal numbers, an odd count", SHA, (OT,), GEN + "ST(curandGenerateNormal(r, d, 63, 0, 1));", RND, "-lcurand"),
    cu("dimensions beyond the table", SHA, (OT,), "curandGenerator_t r; ST(curandCreateGenerator(&r, CURAND_RNG_QUASI_SOBOL32)); ST(curandSetQuasiRandomGeneratorDimensions(r, 90000));", RND, "-lcurand"),
    cu("seed for a source that knows none", SHA, (ORD, OT), "curandGenerator_t r; ST(curandCreateGenerator(&r, CURAND_RNG_QUASI_SOBOL32)); ST(curandSetPseudoRandomGeneratorSeed(r, 7ull));", RND, "-lcurand"),
    cu("products without a handle", ORD, (SHA, OOM), "float one = 1; ST(cublasSaxpy(nullptr, 64, &one, d, 1, d + 64, 1));", BLAS, "-lcublas"),
)  # fmt: skip
JPEG = (
    LB
    + '#include <nvjpeg.h>\n#include <string>\nstatic nvjpegHandle_t j; static nvjpegJpegState_t t; static int c, w[4], h[4]; static nvjpegChromaSubsampling_t u;\nstatic void info(const std::string& b) { ST(nvjpegCreateSimple(&j)); ST(nvjpegJpegStateCreate(j, &t)); ST(nvjpegGetImageInfo(j, (const unsigned char*)b.data(), b.size(), &c, &u, w, h)); printf("%d x %d\\n", w[0], h[0]); }\n'
)
enter(
    "cpp-pictures",
    cu("page instead of a picture", OT, (BAD, SHA), 'info("<html><body>403 Forbidden</body></html>");', JPEG, "-lnvjpeg"),
    cu("another kind of picture", OT, (BAD, SHA), 'info(std::string("\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR", 16));', JPEG, "-lnvjpeg"),
    cu("picture cut after its first bytes", OT, (BAD, SHA), 'info(std::string("\\xff\\xd8\\xff\\xe0\\0\\x10JFIF\\0\\1\\1", 13));', JPEG, "-lnvjpeg"),
    cu("batch of none", SHA, (OT, ORD), "ST(nvjpegCreateSimple(&j)); ST(nvjpegJpegStateCreate(j, &t)); ST(nvjpegDecodeBatchedInitialize(j, t, -1, 1, NVJPEG_OUTPUT_RGB));", JPEG, "-lnvjpeg"),
)  # fmt: skip
REFUSED = "(?i)error"


def src(target: str, top: str, body: str = "k<<<1, 32>>>(d); DONE;", also: tuple[str, ...] = (OT,), expect: str = REFUSED, link: str = "") -> Case:  # fmt: skip
    """A source that the compiler refuses."""
    return cu(target, BUILD, also, body, top, link, expect)


enter(
    "cpp-words-of-the-host-in-kernels",
    src("function without a name, no option for it", "template <class F> __global__ void k(float* p, F f) { p[0] = f(p[1]); }\n", "k<<<1, 1>>>(d, [] __device__(float v) { return 2 * v; }); DONE;", expect="(?i)extended-lambda|error"),
    src("sorts by the host's library", "#include <algorithm>\n__global__ void k(float* p) { std::stable_sort(p, p + 8); }\n", expect="(?i)__host__"),
    src("reads a variable of the host", "static float weight = 2;\n__global__ void k(float* p) { p[0] = weight; }\n", expect='(?i)undefined in device code|"weight"'),
    src("throws", "__global__ void k(float* p) { if (p[0] < 0) throw 1; }\n"),
    src("writes to the stream", "#include <iostream>\n__global__ void k(float* p) { std::cout << p[0]; }\n"),
    src("kernel inside a class", "struct S { __global__ void k(float* p) { p[0] = 1; } };\n", "S s; s.k<<<1, 1>>>(d);"),
    src("kernel that answers", "__global__ float k(float* p) { return p[0]; }\n", expect="(?i)void return"),
    src("shared array of a size known late", "__global__ void k(float* p, int n) { __shared__ float s[n]; s[0] = 1; p[0] = s[0]; }\n", "k<<<1, 1>>>(d, 8); DONE;"),
    src("launched with one value too few", "__global__ void k(float* p, int n) { p[n] = 1; }\n", expect="(?i)too few arguments"),
)  # fmt: skip
enter(
    "cpp-assembly-inside",
    src("instruction nobody knows", '__global__ void k(float* p) { asm volatile("addd.f32 %0, %0, %0;" : "+f"(p[0])); }\n', expect="(?i)ptxas|not a name of any known instruction"),
    src("operands of another type", '__global__ void k(float* p) { double a = 1; asm volatile("add.f32 %0, %0, %0;" : "+d"(a)); p[0] = a; }\n', expect="(?i)ptxas|mismatch"),
    src("instruction of the next card", '__global__ void k(float* p) { asm volatile("tcgen05.wait::ld.sync.aligned;"); p[0] = 1; }\n', also=(UNSUP,), expect="(?i)ptxas|tcgen05"),
    src("register never told of", '__global__ void k(float* p) { asm volatile("mov.f32 %%acc, 0f00000000;"); p[0] = 1; }\n', expect="(?i)ptxas|unknown symbol|acc"),
    src("one mark twice", '__device__ __forceinline__ void w() { asm volatile("AGAIN: bra.uni AGAIN;"); }\n__global__ void k(float* p) { if (p[0] > 1) w(); if (p[1] > 2) w(); }\n', expect="(?i)ptxas|duplicate"),
    src("letter for an operand that is none", '__global__ void k(float* p) { asm volatile("mov.f32 %0, 0f00000000;" : "=z"(p[0])); }\n'),
)  # fmt: skip
enter(
    "cpp-sources-that-refuse",
    src("asks for a later card", "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000\n#error \"this kernel needs sm_100 or newer\"\n#endif\n__global__ void k(float* p) { p[0] = 1; }\n", also=(UNSUP,), expect="needs sm_100"),
    src("asks for a later toolkit", "#include <cuda_runtime_api.h>\n#if CUDART_VERSION < 19000\n#error \"CUDA 19.0 is required\"\n#endif\n__global__ void k(float* p) { p[0] = 1; }\n", also=(VERSION, OLD), expect="19.0 is required"),
    src("asks for an option", "#ifndef ACME_TILE\n#error \"build with -DACME_TILE=<n>\"\n#endif\n__global__ void k(float* p) { p[0] = ACME_TILE; }\n", expect="ACME_TILE"),
    src("promise about a size", 'template <int B> __global__ void k(float* p) { static_assert(B % 128 == 0, "block must be a multiple of 128"); p[0] = B; }\n', "k<96><<<1, 96>>>(d); DONE;", (LAU, OT), "multiple of 128"),
    src("words of a later standard", "template <class T> requires(sizeof(T) == 4) __global__ void k(T* p) { p[0] = 1; }\n", link="-std=c++17"),
    src("header that is asked for", '#if !__has_include("acme/tiles.h")\n#error "acme/tiles.h not found, run git submodule update --init"\n#endif\n__global__ void k(float* p) { p[0] = 1; }\n', also=(PATH, OT), expect="submodule"),
    src("warnings taken for errors", "__global__ void k(float* p) { int unused = 3; p[0] = 1; }\n", link="-Werror all-warnings", expect="(?i)never referenced|error"),
)  # fmt: skip


def parts(target: str, files: Mapping[str, str], body: str, expect: str, top: str = "", also: tuple[str, ...] = (OT,)) -> Case:  # fmt: skip
    """A program in several files that do not go together."""
    code = f"{HEAD}{top}\nint main() {{ float* d; GO(cudaMalloc(&d, 1 << 20)); {body} DONE; return 0; }}\n"
    build = f"cd $(dirname $SCRIPT) && nvcc -arch=sm_90 -o $W/a main.cu {' '.join(n for n in files if not n.endswith('.h'))} && $W/a"
    return Case("cpp-add", target, BUILD, also, code=code, files=files, command=build, expect=expect)


KH = "#pragma once\n__global__ void scale(float* p) { p[0] *= 2; }\n"
enter(
    "cpp-parts-in-several-files",
    parts("kernel in a header of two", {"scale.h": KH, "other.cu": '#include "scale.h"\nvoid other(float* d) { scale<<<1, 1>>>(d); }\n'}, "scale<<<1, 1>>>(d); other(d);", "(?i)multiple definition", '#include "scale.h"\nvoid other(float*);\n'),
    parts("told with another type", {"other.cu": "void advance(double* d, int n) {}\n"}, "advance(d, 3);", "(?i)undefined reference", "void advance(float*, int);\n"),
    parts("function of a file in C", {"other.c": "int cells(int n) { return 2 * n; }\n"}, 'printf("%d\\n", cells(3));', "(?i)undefined reference", "int cells(int);\n"),
    parts("two beginnings", {"other.cu": "int main() { return 0; }\n"}, "fill<<<1, 1>>>(d, 1);", "(?i)multiple definition"),
    parts("kernel kept to its file", {"other.cu": "static __global__ void scale(float* p) { p[0] *= 2; }\nvoid unused(float* d) { scale<<<1, 1>>>(d); }\n"}, "scale<<<1, 1>>>(d);", "(?i)undefined", "extern __global__ void scale(float*);\n"),
    parts("header that names itself otherwise", {"cells.h": "#ifndef MESH_H\n#define MESH_H\nstruct Cell { float v; };\n#endif\n", "mesh.h": '#ifndef MESH_H\n#define MESH_H\n#include "cells.h"\nstruct Mesh { Cell c; };\n#endif\n'}, "Mesh m; (void)m;", "(?i)error|Cell", '#include "mesh.h"\n'),
)  # fmt: skip


def unseen(target: str, cause: str, also: tuple[str, ...], top: str, body: str, arch: str = "-arch=sm_90") -> Case:
    """A program that never looks at an error and finds its sum wrong."""
    code = f'#include <cstdio>\n#include <cstdlib>\n#include <cmath>\n{top}__global__ void twice(float* x, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2 * x[i]; }}\nint main() {{\n  const int n = 4096; static float h[n], g[n]; for (int i = 0; i < n; i++) h[i] = i; float* d;\n  {body}\n  cudaMemcpy(g, d, sizeof g, cudaMemcpyDeviceToHost); int bad = 0; for (int i = 0; i < n; i++) bad += fabs(g[i] - 2 * h[i]) > 1e-5;\n  if (bad) {{ fprintf(stderr, "verification FAILED: %d of %d values differ (first expected 2, got %g)\\n", bad, n, g[1]); return 1; }}\n  printf("verification passed\\n"); return 0; }}\n'
    return Case("cpp-add", target, cause, (*also, OT), code=code, command=f"nvcc {arch} -o $W/a $SCRIPT && $W/a", expect="verification FAILED")  # fmt: skip


GOOD = "cudaMalloc(&d, sizeof h); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); "
enter(
    "cpp-errors-nobody-looked-at",
    unseen("too wide a block", LAU, (), "", GOOD + "twice<<<2, 2048>>>(d, n);"),
    unseen("too much shared room", LAU, (), "", GOOD + "twice<<<16, 256, 1 << 20>>>(d, n);"),
    unseen("more than any card has", OOM, (), "", "cudaMalloc(&d, 900ull << 30); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); twice<<<16, 256>>>(d, n);"),
    unseen("built for another card", UNSUP, (BUILD,), "", GOOD + "twice<<<16, 256>>>(d, n);", "-gencode arch=compute_80,code=sm_80"),
    unseen("a wild kernel before", ILL, (), "__global__ void wild(float* p) { p[1ll << 37] = 1; }\n", GOOD + "wild<<<1, 1>>>(d); twice<<<16, 256>>>(d, n);"),
    unseen("begun while captured", ORD, (), "", GOOD + "cudaStream_t s; cudaStreamCreate(&s); cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed); twice<<<16, 256, 0, s>>>(d, n); cudaGraph_t g2; cudaStreamEndCapture(s, &g2);"),
)  # fmt: skip
ARENA = "#include <map>\n#include <stdexcept>\n#include <string>\nstruct Arena { char* base; size_t size; std::map<size_t, size_t> free_; Arena(size_t n) : size(n) { GO(cudaMalloc(&base, n)); free_[0] = n; }\n  size_t take(size_t n) { size_t sum = 0, top = 0; for (auto& f : free_) { sum += f.second; top = std::max(top, f.second); if (f.second >= n) { size_t at = f.first, left = f.second - n; free_.erase(at); if (left) free_[at + n] = left; return at; } } @SAY@ }\n  void give(size_t at, size_t n) { free_[at] = n; } };\n"
SAYS = {
    "told with numbers": 'fprintf(stderr, "[fatal] arena: no block of %zu MiB on device 0: %zu MiB free of %zu MiB, largest free block %zu MiB\\n", n >> 20, sum >> 20, size >> 20, top >> 20); exit(21);',
    "thrown": 'throw std::runtime_error("[fatal] device arena: cannot place " + std::to_string(n) + " bytes, free " + std::to_string(sum) + ", largest contiguous " + std::to_string(top) + " (fragmented)");',
    "told as a record": 'printf("[fatal] {\\"event\\":\\"gpu_arena_exhausted\\",\\"want\\":%zu,\\"free\\":%zu,\\"largest\\":%zu}\\n", n, sum, top); exit(22);',
}
USE = "Arena a(512 << 20); size_t at[32]; for (auto& p : at) p = a.take(16 << 20); for (int i = 0; i < 32; i += 2) a.give(at[i], 16 << 20); a.take(96 << 20);"
enter(
    "cpp-arenas-in-pieces",
    *(cu(name, FRAG, (OOM,), USE, "#include <algorithm>\n" + ARENA.replace("@SAY@", say)) for name, say in SAYS.items()),
    cu("not enough at all", OOM, (), "Arena a(512 << 20); for (int i = 0; i < 40; i++) a.take(16 << 20);", "#include <algorithm>\n" + ARENA.replace("@SAY@", SAYS["told with numbers"])),
)  # fmt: skip

"""Twelfth operators, C++: libraries of kernels, green contexts, memory from outside, launches from the card, sources of older releases, compiling at run time, things used after their end."""

from __future__ import annotations

from dataclasses import replace

from lab.random.eleventh import (  # fmt: skip
    BAD,
    BUILD,
    HOST,
    ILL,
    LAU,
    LIM,
    OLD,
    ORD,
    OT,
    PATH,
    SEL,
    SET,
    SHA,
    UNSUP,
    VERSION,
    Case,
)
from lab.random.eleventh_cpp import cu
from lab.random.twelfth import enter

PTX = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k() { ret; }\\n'  # fmt: skip
LOAD = 'cudaLibrary_t l; cudaKernel_t f; GO(cudaLibraryLoadData(&l, "@P@", 0, 0, 0, 0, 0, 0)); '
GOOD = LOAD.replace("@P@", PTX)
enter(
    "cpp-libraries-of-kernels",
    cu("file never made", OT, (PATH, BUILD), 'cudaLibrary_t l; GO(cudaLibraryLoadFromFile(&l, "kernels_sm90.fatbin", 0, 0, 0, 0, 0, 0));'),
    cu("page instead of code", BAD, (BUILD, UNSUP, OT), LOAD.replace("@P@", "<html><body>404</body></html>")),
    cu("kernel by another name", BUILD, (OT, SHA), GOOD + 'GO(cudaLibraryGetKernel(&f, l, "advance_cells"));'),
    cu("variable it has not", BUILD, (OT, SHA), GOOD + 'void* p; size_t n; GO(cudaLibraryGetGlobal(&p, &n, l, "params"));'),
    cu("text of a later language", OLD, (VERSION, BUILD, UNSUP), LOAD.replace("@P@", PTX.replace("8.0", "9.9")) + 'GO(cudaLibraryGetKernel(&f, l, "k"));'),
    cu("text for a later card", UNSUP, (BUILD, OLD), LOAD.replace("@P@", PTX.replace("8.0", "8.7").replace("sm_90", "sm_103")) + 'GO(cudaLibraryGetKernel(&f, l, "k")); GO(cudaLaunchKernel((void*)f, dim3(1), dim3(1), nullptr, 0, 0)); DONE;'),
    cu("its kernel with two thousand threads", LAU, (), GOOD + 'GO(cudaLibraryGetKernel(&f, l, "k")); GO(cudaLaunchKernel((void*)f, dim3(1), dim3(2000), nullptr, 0, 0));'),
    cu("text with a slip", BUILD, (BAD, OT), LOAD.replace("@P@", PTX.replace("ret;", "retrun;")) + 'GO(cudaLibraryGetKernel(&f, l, "k"));'),
)  # fmt: skip
DR = '#include <cuda.h>\n#define DR(c) do { CUresult r_ = (c); if (r_) { const char *a_ = "?", *b_ = "?"; cuGetErrorName(r_, &a_); cuGetErrorString(r_, &b_); fprintf(stderr, "[fatal] mesh.cu:%d  %s -> %s (%d): %s\\n", __LINE__, #c, a_, (int)r_, b_); exit(14); } } while (0)\n'
SMS = "CUdevResource r, part; DR(cuDeviceGetDevResource(0, &r, CU_DEV_RESOURCE_TYPE_SM)); unsigned n = 1; CUdevResourceDesc t; CUgreenCtx g; "
HALF = (
    SMS
    + "DR(cuDevSmResourceSplitByCount(&part, &n, &r, nullptr, 0, 16)); DR(cuDevResourceGenerateDesc(&t, &part, 1)); "
)
enter(
    "cpp-parts-of-the-card",
    cu("more processors than the card has", LAU, (SHA, SEL, OT), SMS + "DR(cuDevSmResourceSplitByCount(&part, &n, &r, nullptr, 0, 4000));", DR, "-lcuda"),
    cu("context without its flag", SHA, (ORD, OT), HALF + "DR(cuGreenCtxCreate(&g, t, 0, 0));", DR, "-lcuda"),
    cu("stream of the usual kind", SHA, (ORD, OT), HALF + "DR(cuGreenCtxCreate(&g, t, 0, CU_GREEN_CTX_DEFAULT_STREAM)); CUstream s; DR(cuGreenCtxStreamCreate(&s, g, CU_STREAM_DEFAULT, 0));", DR, "-lcuda"),
    cu("processors of the fifth card", SEL, (SHA,), "CUdevResource r; CUdevice v; DR(cuDeviceGet(&v, 4)); DR(cuDeviceGetDevResource(v, &r, CU_DEV_RESOURCE_TYPE_SM));", DR, "-lcuda"),
    cu("kind of part nobody knows", SHA, (OT,), "CUdevResource r; DR(cuDeviceGetDevResource(0, &r, (CUdevResourceType)77));", DR, "-lcuda"),
)  # fmt: skip
EXT = "cudaExternalMemoryHandleDesc h = {}; h.type = cudaExternalMemoryHandleTypeOpaqueFd; h.size = 1 << 21; cudaExternalMemory_t m; "
UNI = "#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\n"
enter(
    "cpp-memory-from-outside",
    cu("handle that is closed", SHA, (OT, ORD, ILL), EXT + "h.handle.fd = 991; GO(cudaImportExternalMemory(&m, &h));", UNI),
    cu("handle of a plain file", SHA, (OT, ORD, ILL), EXT + 'h.handle.fd = open("/dev/null", O_RDWR); GO(cudaImportExternalMemory(&m, &h));', UNI),
    cu("pool shared by a file", SHA, (OT, ORD), 'cudaMemPool_t p; int f = open("/dev/null", O_RDWR); GO(cudaMemPoolImportFromShareableHandle(&p, (void*)(size_t)f, cudaMemHandleTypePosixFileDescriptor, 0));', UNI),
    cu("block shared by a file", SHA, (OT, ORD), 'CUmemGenericAllocationHandle h; int f = open("/dev/null", O_RDWR); DR(cuMemImportFromShareableHandle(&h, (void*)(size_t)f, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));', UNI + DR, "-lcuda"),
    cu("address of nothing registered", SHA, (ILL, HOST, OT), "GO(cudaHostRegister((void*)0x5000, 1 << 16, cudaHostRegisterDefault));", UNI),
    cu("more registered than was mapped", SHA, (ILL, HOST, LIM), "void* p = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); GO(cudaHostRegister(p, 1ull << 42, cudaHostRegisterDefault));", UNI),
)  # fmt: skip
RDC = "-rdc=true"
enter(
    "cpp-launches-from-the-card",
    cu("without separate compilation", BUILD, (), "k<<<1, 1>>>(d); DONE;", "__global__ void c(float* p) { p[0] = 1; }\n__global__ void k(float* p) { c<<<1, 1>>>(p); }\n", expect="(?i)separate compilation|error"),
    cu("waits for the host in a kernel", BUILD, (VERSION,), "k<<<1, 1>>>(d); DONE;", "__global__ void c(float* p) { p[0] = 1; }\n__global__ void k(float* p) { c<<<1, 1>>>(p); cudaDeviceSynchronize(); p[1] = p[0]; }\n", RDC, "(?i)error.*cudaDeviceSynchronize|not allowed|undefined"),
    cu("child too wide, told by the parent", LAU, (), "int h = 0; k<<<1, 1>>>(d, (int*)d); GO(cudaDeviceSynchronize()); GO(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost)); GO((cudaError_t)h);", "__global__ void c(float* p) { p[0] = 1; }\n__global__ void k(float* p, int* o) { c<<<1, 4096>>>(p); *o = (int)cudaGetLastError(); }\n", RDC),
    cu("child writes far away", ILL, (), "k<<<1, 1>>>(d); DONE;", "__global__ void c(float* p) { p[1ll << 37] = 1; }\n__global__ void k(float* p) { c<<<1, 1>>>(p); }\n", RDC),
    cu("function of another file that is not linked", BUILD, (), "k<<<1, 1>>>(d); DONE;", "extern __device__ float weight(int);\n__global__ void k(float* p) { p[0] = weight(threadIdx.x); }\n", RDC, "(?i)undefined|unresolved"),
    cu("template never made", BUILD, (), "advance<double>(d);", "template <typename T> void advance(float* p);\n", expect="(?i)undefined reference"),
)  # fmt: skip
OLDER = (VERSION, OT)
enter(
    "cpp-sources-of-older-releases",
    cu("texture of the old kind", BUILD, OLDER, "k<<<1, 1>>>(d); DONE;", "texture<float, 1, cudaReadModeElementType> tex;\n__global__ void k(float* p) { p[0] = tex1Dfetch(tex, 0); }\n", expect="(?i)error"),
    cu("clock rate of the card", BUILD, OLDER, 'cudaDeviceProp p; GO(cudaGetDeviceProperties(&p, 0)); printf("%d kHz\\n", p.clockRate);', expect="(?i)clockRate"),
    cu("prefetched the old way", BUILD, OLDER, "float* m; GO(cudaMallocManaged(&m, 4096)); GO(cudaMemPrefetchAsync(m, 4096, 0, 0));", expect="(?i)error"),
    cu("advised the old way", BUILD, OLDER, "float* m; GO(cudaMallocManaged(&m, 4096)); GO(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, 0));", expect="(?i)error"),
    cu("shuffles without a mask", BUILD, (UNSUP, *OLDER), "k<<<1, 32>>>(d); DONE;", "__global__ void k(float* p) { p[threadIdx.x] = __shfl_down(p[threadIdx.x], 1); }\n", expect="(?i)__shfl_down"),
    cu("votes without a mask", BUILD, (UNSUP, *OLDER), "k<<<1, 32>>>(d); DONE;", "__global__ void k(float* p) { if (__any(p[threadIdx.x] > 0)) p[0] = 1; }\n", expect="(?i)__any"),
    cu("waits by the old name", BUILD, OLDER, "GO(cudaThreadSynchronize());", expect="(?i)cudaThreadSynchronize"),
    cu("several cards at once, the old way", BUILD, OLDER, "cudaLaunchParams p; GO(cudaLaunchCooperativeKernelMultiDevice(&p, 1, 0));", expect="(?i)cudaLaunch"),
    cu("function object of the old library", BUILD, OLDER, "thrust::device_vector<float> v(8);", "#include <thrust/device_vector.h>\n#include <thrust/functional.h>\nstruct twice : public thrust::unary_function<float, float> { __device__ float operator()(float a) const { return 2 * a; } };\n", expect="(?i)unary_function"),
)  # fmt: skip
RTC = '#include <nvrtc.h>\n#include <string>\n#define RT(c) do { nvrtcResult q_ = (c); if (q_) { fprintf(stderr, "[fatal] jit: %s -> %s\\n", #c, nvrtcGetErrorString(q_)); exit(15); } } while (0)\nstatic std::string made(const char* text, const char* option) { nvrtcProgram p; RT(nvrtcCreateProgram(&p, text, "cell.cu", 0, nullptr, nullptr)); if (nvrtcCompileProgram(p, 1, &option)) { size_t n; nvrtcGetProgramLogSize(p, &n); std::string s(n, 0); nvrtcGetProgramLog(p, &s[0]); fprintf(stderr, "[fatal] jit: cell.cu did not compile:\\n%s\\n", s.c_str()); exit(15); } size_t n; RT(nvrtcGetCUBINSize(p, &n)); std::string b(n, 0); RT(nvrtcGetCUBIN(p, &b[0])); return b; }\n'
JIT, LINK = RTC + DR, "-lnvrtc -lcuda"
H90 = "--gpu-architecture=sm_90"


def rtc(target: str, cause: str, also: tuple[str, ...], text: str, option: str = H90, then: str = "") -> Case:
    """A kernel that the program compiles for itself."""
    return cu(target, cause, also, f'std::string b = made("{text}", "{option}"); CUmodule m; CUfunction f; DR(cuModuleLoadData(&m, b.data())); DR(cuModuleGetFunction(&f, m, "k")); {then}', JIT, LINK)  # fmt: skip


KERNEL = 'extern \\"C\\" __global__ void k(float* p) { p[0] = 1; }'
enter(
    "cpp-compiles-for-itself",
    rtc("slip in the kernel", BUILD, (OT,), KERNEL.replace("p[0] = 1;", "p[0] = one;")),
    rtc("header that is not given", BUILD, (PATH, OT), '#include \\"params.h\\"\\n' + KERNEL),
    rtc("container of the host's library", BUILD, (PATH, OT), "#include <vector>\\n" + KERNEL),
    rtc("card of long ago", BUILD, (UNSUP, SET, OT), KERNEL, "--gpu-architecture=sm_35"),
    rtc("card of tomorrow", UNSUP, (BUILD,), KERNEL, "--gpu-architecture=sm_100"),
    rtc("name of C++ not asked for", BUILD, (OT,), KERNEL.replace('extern \\"C\\" ', "")),
    rtc("launched too wide", LAU, (), KERNEL, then="void* a[] = {&d}; DR(cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, 0, a, nullptr));"),
)  # fmt: skip
BIG = "float* q; size_t n = 256 << 20; "
USE = "fill<<<64, 256>>>(q, 1 << 14); DONE;"
enter(
    "cpp-used-after-its-end",
    cu("given back, then filled", ILL, (ORD,), BIG + "GO(cudaMalloc(&q, n)); GO(cudaFree(q)); " + USE),
    cu("pool trimmed, then filled", ILL, (ORD,), BIG + "cudaMemPool_t p; GO(cudaDeviceGetDefaultMemPool(&p, 0)); GO(cudaMallocAsync(&q, n, 0)); GO(cudaFreeAsync(q, 0)); GO(cudaStreamSynchronize(0)); GO(cudaMemPoolTrimTo(p, 0)); " + USE),
    cu("graph played after its buffer's end", ILL, (ORD,), BIG + "GO(cudaMalloc(&q, n)); cudaStream_t s; cudaGraph_t g; cudaGraphExec_t x; GO(cudaStreamCreate(&s)); GO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); fill<<<64, 256, 0, s>>>(q, 1 << 14); GO(cudaStreamEndCapture(s, &g)); GO(cudaGraphInstantiate(&x, g, 0)); GO(cudaFree(q)); GO(cudaGraphLaunch(x, s)); GO(cudaStreamSynchronize(s));"),
    cu("card reset in between", ILL, (ORD, SHA), BIG + "GO(cudaMalloc(&q, n)); GO(cudaDeviceReset()); " + USE),
    cu("view of a block unmapped", ILL, (ORD,), BIG + "GO(cudaHostAlloc((void**)&q, 64 << 20, cudaHostAllocMapped)); float* v; GO(cudaHostGetDevicePointer((void**)&v, q, 0)); GO(cudaFreeHost(q)); fill<<<64, 256>>>(v, 1 << 14); DONE;"),
    cu("copied out after its end", SHA, (ILL, ORD), BIG + "GO(cudaMalloc(&q, n)); GO(cudaFree(q)); std::vector<float> h(64); GO(cudaMemcpy(h.data(), q, 256, cudaMemcpyDeviceToHost));"),
)  # fmt: skip
enter(
    "cpp-slips-in-kernels",
    cu("product of sizes turns negative", ILL, (), "k<<<1, 32>>>(d, 50000); DONE;", "__global__ void k(float* p, int n) { p[(long long)(n * n) * 64] = threadIdx.x; }\n"),
    cu("table of rows never filled", ILL, (), "float** t; GO(cudaMalloc(&t, 64)); GO(cudaMemset(t, 0, 64)); k<<<1, 8>>>(t); DONE;", "__global__ void k(float** t) { t[threadIdx.x][0] = 1; }\n"),
    cu("shared array far beyond", ILL, (), "k<<<1, 64>>>(d, 100000000); DONE;", "__global__ void k(float* p, int o) { __shared__ float s[64]; s[threadIdx.x + o] = p[0]; __syncthreads(); p[0] = s[o]; }\n"),
    cu("own array far beyond", ILL, (), "k<<<1, 1>>>(d, 1 << 28); DONE;", "__global__ void k(float* p, int o) { volatile float a[8]; for (int i = 0; i < 8; i++) a[i] = i; a[o] = 3; p[0] = a[o / 2]; }\n"),
    cu("function by an address that is none", ILL, (), "k<<<1, 1>>>(d, nullptr); DONE;", "typedef float (*F)(float);\n__global__ void k(float* p, F f) { p[0] = f(p[1]); }\n"),
    cu("sum at an odd address", ILL, (), "k<<<1, 1>>>((char*)d + 2); DONE;", "__global__ void k(char* p) { atomicAdd((unsigned long long*)p, 1ull); }\n"),
    cu("loop down past nought", ILL, (), "k<<<1, 1>>>(d); DONE;", "__global__ void k(float* p) { for (unsigned i = 9; i >= 0; i--) p[(size_t)i * 64] = 1; }\n"),
    cu("stride of another layout", ILL, (), "k<<<4096, 256>>>(d, 1 << 14); DONE;", "__global__ void k(float* p, long long pitch) { p[blockIdx.x * pitch * pitch + threadIdx.x] = 1; }\n"),
)  # fmt: skip


def flag(target: str, link: str, expect: str, top: str = "", also: tuple[str, ...] = (OT,)) -> Case:
    """A good program, built with a flag that does not go."""
    return replace(cu(target, BUILD, also, "", top, link, expect), void="")


enter(
    "cpp-flags-of-other-years",
    flag("library of algorithms by the standard of 2014", "-std=c++14", "(?i)C\\+\\+17|C\\+\\+14|error", "#include <thrust/device_vector.h>\n", (VERSION, OT)),
    flag("standard of tomorrow", "-std=c++26", "(?i)c\\+\\+26"),
    flag("checker of the host for all", "-fsanitize=address", "(?i)unknown option|fsanitize"),
    flag("machine's own instructions", "-march=native", "(?i)unknown option|march"),
    flag("threads the way of g++", "-pthread", "(?i)unknown option|pthread"),
    flag("library by a version in its name", "-lcudart.so.12", "(?i)cannot find|cudart.so.12", also=(VERSION, PATH, OT)),
    flag("cards of the list before last", "-gencode arch=compute_60,code=sm_60 -gencode arch=compute_61,code=sm_61", "(?i)unsupported gpu|compute_60", also=(UNSUP, VERSION)),
)  # fmt: skip

"""Eleventh operators, C++: tensor cores, CUB, transforms, images, managed memory, occupancy, peers, priorities, graphs that change, locks, own checks."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    BUILD,
    HOST,
    IDX,
    ILL,
    LAU,
    NVCC,
    OLD,
    OOM,
    ORD,
    OT,
    SEL,
    SHA,
    TAKEN,
    UNSUP,
    VERSION,
    Case,
    enter,
)

HEAD = (
    "#include <cstdio>\n#include <cstdlib>\n#include <cstdint>\n#include <cstring>\n#include <vector>\n#include <cuda_runtime.h>\n"
    '#define GO(c) do { cudaError_t e_ = (c); if (e_ != cudaSuccess) { fprintf(stderr, "[fatal] mesh.cu:%d  %s -> %s: %s\\n", __LINE__, #c, cudaGetErrorName(e_), cudaGetErrorString(e_)); exit(12); } } while (0)\n'
    "#define DONE GO(cudaGetLastError()); GO(cudaDeviceSynchronize())\n"
    "__global__ void fill(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }\n"
)


def cu(target: str, cause: str, also: tuple[str, ...], body: str, top: str = "", link: str = "", expect: str = r"\[fatal\]") -> Case:  # fmt: skip
    """A program that fills an array on the card, then does what the body says."""
    code = f'{HEAD}{top}\nint main() {{\n  float* d; GO(cudaMalloc(&d, 1 << 20)); fill<<<64, 256>>>(d, 1 << 14); DONE; printf("[info] mesh ready\\n"); fflush(stdout);\n  {body}\n  printf("[info] done\\n"); return 0; }}\n'
    command = NVCC.replace("$SCRIPT &&", f"$SCRIPT {link} &&") if link else NVCC
    return Case("cpp-add", target, cause, also, code=code, command=command, expect=expect)


enter(
    "cpp-managed",
    cu("advice for a card that is none", SEL, (SHA,), "float* m; GO(cudaMallocManaged(&m, 4096)); cudaMemLocation l; l.type = cudaMemLocationTypeDevice; l.id = 5; GO(cudaMemPrefetchAsync(m, 4096, l, 0, 0));"),
    cu("given back twice", ILL, (SHA, ORD), "float* m; GO(cudaMallocManaged(&m, 4096)); GO(cudaFree(m)); GO(cudaFree(m));"),
    cu("a kernel walks past its end by far", ILL, (), "float* m; GO(cudaMallocManaged(&m, 1 << 16)); k<<<1, 1>>>(m); DONE;", "__global__ void k(float* p) { p[1ll << 36] = 1; }\n"),
    cu("a list of the host handed to the card", ILL, (), "struct N { float v; N* next; }; N* n = new N{1, nullptr}; n->next = n; k<<<1, 1>>>((float*)0x40, d); DONE; delete n;", "__global__ void k(float* p, float* o) { *o = *p; }\n"),
    cu("no bytes of it", SHA, (OOM, OT), "float* m; GO(cudaMallocManaged(&m, 0));"),
)  # fmt: skip
WM = "#include <mma.h>\n#include <cuda_fp16.h>\nusing namespace nvcuda;\n"
enter(
    "cpp-tensor-cores",
    cu("tile that does not exist", BUILD, (SHA,), "k<<<1, 32>>>((half*)d, d); DONE;", WM + "__global__ void k(half* a, float* c) { wmma::fragment<wmma::matrix_a, 24, 24, 16, half, wmma::row_major> f; wmma::load_matrix_sync(f, a, 16); }\n", expect="(?i)error"),
    cu("address that is no multiple", ILL, (SHA,), "k<<<1, 32>>>((half*)d + 1, d); DONE;", WM + "__global__ void k(half* a, float* c) { wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> g; wmma::fragment<wmma::accumulator, 16, 16, 16, float> o; wmma::fill_fragment(o, 0); wmma::load_matrix_sync(f, a, 16); wmma::load_matrix_sync(g, a, 16); wmma::mma_sync(o, f, g, o); wmma::store_matrix_sync(c, o, 16, wmma::mem_row_major); }\n"),
    cu("compiled for a card before them", BUILD, (UNSUP,), "k<<<1, 32>>>(d); DONE;", '__global__ void k(float* p) { asm volatile("wgmma.fence.sync.aligned;"); p[0] = 1; }\n', expect="(?i)wgmma|ptxas"),
    cu("answer far outside", ILL, (), "k<<<1, 32>>>(d, 1ll << 37); DONE;", WM + "__global__ void k(float* c, long long o) { wmma::fragment<wmma::accumulator, 16, 16, 16, float> f; wmma::fill_fragment(f, 0); wmma::store_matrix_sync(c + o, f, 16, wmma::mem_row_major); }\n"),
)  # fmt: skip
CUB = "#include <cub/device/device_reduce.cuh>\n"
enter(
    "cpp-cub",
    cu("room asked for and not given", SHA, (ILL, ORD, LAU), "size_t n = 1; void* t; GO(cudaMalloc(&t, 1)); GO(cub::DeviceReduce::Sum(t, n, d, d, 1 << 14)); DONE;", CUB),
    cu("sums into the host's memory", ILL, (), "size_t n = 0; float* h = (float*)0x7f00; GO(cub::DeviceReduce::Sum(nullptr, n, d, h, 1 << 14)); void* t; GO(cudaMalloc(&t, n)); GO(cub::DeviceReduce::Sum(t, n, d, h, 1 << 14)); DONE;", CUB),
    cu("more threads in the block than told", LAU, (SHA,), "k<<<1, 2048>>>(d); DONE;", "#include <cub/block/block_reduce.cuh>\n__global__ void k(float* p) { typedef cub::BlockReduce<float, 1024> R; __shared__ typename R::TempStorage t; float s = R(t).Sum(p[threadIdx.x]); if (!threadIdx.x) p[0] = s; }\n"),
)  # fmt: skip
FFT = '#include <cufft.h>\n#define FT(c) do { cufftResult r_ = (c); if (r_) { fprintf(stderr, "[fatal] mesh.cu:%d  %s -> CUFFT status %d\\n", __LINE__, #c, (int)r_); exit(13); } } while (0)\n'
enter(
    "cpp-spectral",
    cu("plan used as another kind", SHA, (OT,), "cufftHandle p; FT(cufftPlan1d(&p, 256, CUFFT_R2C, 1)); FT(cufftExecZ2Z(p, (cufftDoubleComplex*)d, (cufftDoubleComplex*)d, CUFFT_FORWARD));", FFT, "-lcufft"),
    cu("two cards asked of one", SEL, (SHA, OT), "cufftHandle p; FT(cufftCreate(&p)); int g[2] = {0, 1}; FT(cufftXtSetGPUs(p, 2, g));", FFT + "#include <cufftXt.h>\n", "-lcufft"),
    cu("grid too large for the card", OOM, (SHA,), "cufftHandle p; size_t w; FT(cufftCreate(&p)); FT(cufftMakePlan3d(p, 9001, 9001, 9001, CUFFT_Z2Z, &w));", FFT, "-lcufft"),
    cu("made before the program's plan", ORD, (SHA, OT), "cufftHandle p; FT(cufftCreate(&p)); FT(cufftExecC2C(p, (cufftComplex*)d, (cufftComplex*)d, CUFFT_FORWARD));", FFT, "-lcufft"),
)  # fmt: skip
enter(
    "cpp-launch-attributes",
    cu("cluster of thirty-two", LAU, (SHA,), "cudaLaunchConfig_t c = {}; c.gridDim = 64; c.blockDim = 64; cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeClusterDimension; a[0].val.clusterDim.x = 32; a[0].val.clusterDim.y = 1; a[0].val.clusterDim.z = 1; c.attrs = a; c.numAttrs = 1; GO(cudaLaunchKernelEx(&c, fill, d, 64)); DONE;"),
    cu("all at once and too many", LAU, (), "int n = 64; void* a[] = {&d, &n}; GO(cudaLaunchCooperativeKernel((void*)fill, dim3(1 << 16), dim3(256), a));"),
    cu("bounds promised and broken", LAU, (), "k<<<4, 512>>>(d); DONE;", "__global__ void __launch_bounds__(128) k(float* p) { p[threadIdx.x] = 1; }\n"),
    cu("occupancy asked of no kernel", SHA, (LAU, ILL, OT), "int b; GO(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, (const void*)0x10, 128, 0));"),
    cu("share of shared memory beyond all", LAU, (SHA,), "GO(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));"),
    cu("grid below nothing by arithmetic", LAU, (SHA,), "int n = 100; int blocks = (n - 356) / 256; fill<<<blocks, 256>>>(d, n); DONE;"),
)  # fmt: skip
G = "cudaGraph_t g; cudaGraphExec_t x; cudaStream_t s; GO(cudaStreamCreate(&s)); "
CAP = G + "GO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); "
enter(
    "cpp-graphs-that-change",
    cu("updated to another form", ORD, (SHA, OT), CAP + "fill<<<4, 64, 0, s>>>(d, 64); GO(cudaStreamEndCapture(s, &g)); GO(cudaGraphInstantiate(&x, g, 0)); cudaGraph_t h; GO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); fill<<<4, 64, 0, s>>>(d, 64); GO(cudaMemsetAsync(d, 0, 64, s)); GO(cudaStreamEndCapture(s, &h)); cudaGraphExecUpdateResultInfo r; GO(cudaGraphExecUpdate(x, h, &r));"),
    cu("pinned memory made inside", ORD, (), CAP + "void* h; GO(cudaMallocHost(&h, 4096)); GO(cudaStreamEndCapture(s, &g));"),
    cu("asked whether it is ready inside", ORD, (), CAP + "fill<<<4, 64, 0, s>>>(d, 64); GO(cudaStreamQuery(s));"),
    cu("ended that never began", ORD, (), G + "GO(cudaStreamEndCapture(s, &g));"),
    cu("the card reset inside", ORD, (), CAP + "GO(cudaDeviceSynchronize());"),
    cu("a circle of nodes", SHA, (ORD, OT), "cudaGraph_t g; cudaGraphNode_t a, b; GO(cudaGraphCreate(&g, 0)); GO(cudaGraphAddEmptyNode(&a, g, nullptr, 0)); GO(cudaGraphAddEmptyNode(&b, g, &a, 1)); GO(cudaGraphAddDependencies(g, &b, &a, nullptr, 1)); cudaGraphExec_t x; GO(cudaGraphInstantiate(&x, g, 0));"),
    cu("launched into a stream that was given back", ORD, (ILL, SHA), CAP + "fill<<<4, 64, 0, s>>>(d, 64); GO(cudaStreamEndCapture(s, &g)); GO(cudaGraphInstantiate(&x, g, 0)); GO(cudaGraphExecDestroy(x)); GO(cudaGraphDestroy(g)); GO(cudaGraphLaunch(nullptr, s));"),
)  # fmt: skip
SAYS = 'fprintf(stderr, "[fatal] mesh: @W@\\n", @A@); return 21;'
enter(
    "cpp-own-checks",
    cu("a later driver wanted", OLD, (VERSION, OT), "int v; GO(cudaDriverGetVersion(&v)); if (v < 13040) { " + SAYS.replace("@W@", "needs a driver for CUDA 13.4, this one serves %d.%d").replace("@A@", "v / 1000, v % 1000 / 10") + " }", expect="needs a driver"),
    cu("built by another release than it runs with", VERSION, (BUILD, OT), "int v; GO(cudaRuntimeGetVersion(&v)); if (v / 1000 != 12) { " + SAYS.replace("@W@", "compiled modules are for CUDA 12, runtime is %d").replace("@A@", "v") + " }", expect="runtime is"),
    cu("wants a card of another kind", UNSUP, (SEL, OT), "cudaDeviceProp p; GO(cudaGetDeviceProperties(&p, 0)); if (p.major < 10) { " + SAYS.replace("@W@", "compute capability 10.0 or later is required, %s has %d.%d").replace("@A@", "p.name, p.major, p.minor") + " }", expect="capability 10"),
    cu("wants four cards", SEL, (OT,), "int n; GO(cudaGetDeviceCount(&n)); if (n < 4) { " + SAYS.replace("@W@", "4 CUDA devices requested with -g, %d visible").replace("@A@", "n") + " }", expect="visible"),
    cu("wants more than the card has", OOM, (TAKEN, OT), "size_t f, t; GO(cudaMemGetInfo(&f, &t)); size_t want = 400ull << 30; if (want > t) { " + SAYS.replace("@W@", "grid needs %zu MiB of device memory, the card has %zu MiB in all").replace("@A@", "want >> 20, t >> 20") + " }", expect="grid needs"),
    cu("pinned rings beyond the host", HOST, (OOM,), "void* h; GO(cudaHostAlloc(&h, 40ull << 40, cudaHostAllocPortable));"),
    cu("residual of its own", OT, (), SAYS.replace("@W@", "solver diverged after %d GPU iterations").replace("@A@", "400"), expect="diverged"),
)  # fmt: skip
enter(
    "cpp-streams-and-events",
    cu("time of an event that cannot", ORD, (SHA, OT), "cudaEvent_t a, b; GO(cudaEventCreateWithFlags(&a, cudaEventDisableTiming)); GO(cudaEventCreate(&b)); GO(cudaEventRecord(a)); GO(cudaEventRecord(b)); GO(cudaDeviceSynchronize()); float t; GO(cudaEventElapsedTime(&t, a, b));"),
    cu("time not over yet", ORD, (OT,), "cudaEvent_t a, b; GO(cudaEventCreate(&a)); GO(cudaEventCreate(&b)); GO(cudaEventRecord(a)); slow<<<1, 1>>>(d); GO(cudaEventRecord(b)); float t; GO(cudaEventElapsedTime(&t, a, b));", "__global__ void slow(float* p) { long long t = clock64(); while (clock64() - t < 2000000000ll) {} p[0] = 1; }\n"),
    cu("flags of a stream nobody knows", SHA, (OT,), "cudaStream_t s; GO(cudaStreamCreateWithFlags(&s, 0x77));"),
    cu("shared event that may be timed", SHA, (ORD, OT), "cudaEvent_t a; GO(cudaEventCreateWithFlags(&a, cudaEventInterprocess));"),
    cu("window of the cache beyond the card", SHA, (OT, LAU), "GO(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1ull << 50)); cudaStreamAttrValue v = {}; v.accessPolicyWindow.base_ptr = d; v.accessPolicyWindow.num_bytes = 1ull << 40; v.accessPolicyWindow.hitRatio = 9.f; GO(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &v));"),
    cu("peer that is itself", SEL, (ORD, SHA), "GO(cudaDeviceEnablePeerAccess(0, 0));"),
)  # fmt: skip
enter(
    "cpp-kernels-that-stop",
    cu("trap of its own", ILL, (LAU, OT, IDX), "k<<<1, 32>>>(d); DONE;", "__global__ void k(float* p) { if (p[threadIdx.x] > 5) __trap(); }\n"),
    cu("instruction that breaks for a debugger", ILL, (OT, LAU, ORD), "k<<<1, 32>>>(d); DONE;", "__global__ void k(float* p) { if (p[threadIdx.x] > 5) __brkpt(); p[0] = 1; }\n"),
    cu("division checked by an assertion", IDX, (OT, ILL), "k<<<1, 32>>>(d); DONE;", "#include <cassert>\n__global__ void k(float* p) { assert(p[threadIdx.x] != 0.f); p[0] = 1 / p[threadIdx.x]; }\n"),
    cu("constant table read beyond", ILL, (IDX,), "k<<<1, 32>>>(d, 1 << 28); DONE;", "__constant__ float t[64];\n__global__ void k(float* p, int o) { p[0] = t[threadIdx.x + o]; }\n"),
    cu("null from a heap that is full", ILL, (OOM,), "k<<<64, 256>>>(); DONE;", "__global__ void k() { float* p = (float*)malloc(1 << 20); p[0] = 1; }\n"),
    cu("double read of an odd address", ILL, (), "k<<<1, 1>>>((char*)d + 5); DONE;", "__global__ void k(char* p) { *(double2*)p = make_double2(1, 2); }\n"),
    cu("virtual function of an object from the host", ILL, (), "B* b = new D; B* q; GO(cudaMalloc(&q, sizeof(D))); GO(cudaMemcpy(q, b, sizeof(D), cudaMemcpyHostToDevice)); k<<<1, 1>>>(q, d); DONE;", "struct B { __host__ __device__ virtual float f() = 0; __host__ __device__ virtual ~B() {} };\nstruct D : B { __host__ __device__ float f() override { return 2; } };\n__global__ void k(B* b, float* p) { p[0] = b->f(); }\n"),
)  # fmt: skip

"""Tenth operators, C++: calls out of callbacks, forks, threads, faults of the card by kind, sharing, late checks, lower libraries."""

from __future__ import annotations

from lab.random.tenth import BUILD, FORK, IDX, ILL, LAU, NVCC, OOM, ORD, OT, SEL, SHA, UNSUP, Case, enter

HEAD = (
    "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <vector>\n#include <string>\n#include <stdexcept>\n#include <cuda_runtime.h>\n"
    'static void must(cudaError_t e, const char* what) { if (e != cudaSuccess) throw std::runtime_error(std::string("wave: ") + what + " gave " + cudaGetErrorName(e) + " (" + cudaGetErrorString(e) + ")"); }\n'
    "#define MUST(c) must((c), #c)\n"
    "__global__ void add1(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }\n"
)
START = '    float* d; MUST(cudaMalloc(&d, 1 << 16)); MUST(cudaMemset(d, 0, 1 << 16)); add1<<<16, 128>>>(d, 2048); MUST(cudaDeviceSynchronize()); puts("wave: ready"); fflush(stdout);\n'


def cx(target: str, cause: str, also: tuple[str, ...], body: str, top: str = "", link: str = "", expect: str = "gave") -> Case:  # fmt: skip
    """A program that works on the card first, does what the body says, and tells by an exception it catches itself."""
    code = f'{HEAD}{top}\nint main() {{\n  try {{\n{START}    {body}\n  }} catch (const std::exception& e) {{ fprintf(stderr, "%s\\n", e.what()); return 9; }}\n  return 0; }}\n'
    command = NVCC.replace("$SCRIPT &&", f"$SCRIPT {link} &&") if link else NVCC
    return Case("cpp-add", target, cause, also, code=code, command=command, expect=expect)


BACK = "static cudaError_t said = cudaSuccess; static float* kept;\nstatic void CUDART_CB inside(void*) { said = @CALL@; }\nstatic void CUDART_CB after(cudaStream_t, cudaError_t, void*) { said = @CALL@; }\n"
HOST_FN = "kept = d; cudaStream_t s; MUST(cudaStreamCreate(&s)); MUST(cudaLaunchHostFunc(s, inside, nullptr)); MUST(cudaStreamSynchronize(s)); MUST(said);"
enter(
    "cpp-callbacks",
    cx("allocates inside", ORD, (), HOST_FN, BACK.replace("@CALL@", "cudaMalloc((void**)&kept, 64)")),
    cx("waits inside", ORD, (), HOST_FN, BACK.replace("@CALL@", "cudaDeviceSynchronize()")),
    cx("copies inside, the old way", ORD, (), "kept = d; static float h[4]; MUST(cudaStreamAddCallback(0, after, nullptr, 0)); MUST(cudaDeviceSynchronize()); MUST(said);", BACK.replace("@CALL@", "cudaMemset(kept, 0, 4)")),
    cx("throws by itself inside", OT, (ORD,), "cudaStream_t s; MUST(cudaStreamCreate(&s)); MUST(cudaLaunchHostFunc(s, boom, nullptr)); MUST(cudaStreamSynchronize(s));", 'static void CUDART_CB boom(void*) { throw std::out_of_range("frame 7 is not in the ring"); }\n', expect="frame 7|terminate|Abort"),
)  # fmt: skip
CHILD = "#include <unistd.h>\n#include <sys/wait.h>\n"
WAIT = 'int st; waitpid(p, &st, 0); if (st) { fprintf(stderr, "wave: worker %d left with %d\\n", 1, WEXITSTATUS(st)); return 4; }'
KID = (
    'try { @DO@ } catch (const std::exception& e) { fprintf(stderr, "[worker] %s\\n", e.what()); _exit(5); } _exit(0);'
)


def forked(target: str, what: str) -> Case:
    """The parent has used the card; its child uses it too."""
    body = f"pid_t p = fork(); if (!p) {{ {KID.replace('@DO@', what)} }} {WAIT}"
    return cx(target, FORK, (), body, CHILD, expect="gave|left with")


enter(
    "cpp-forks",
    forked("child allocates", "float* q; MUST(cudaMalloc(&q, 64));"),
    forked("child starts a kernel on the parent's memory", "add1<<<1, 32>>>(d, 32); MUST(cudaGetLastError()); MUST(cudaDeviceSynchronize());"),
    forked("child copies the result", "float h[4]; MUST(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost));"),
    forked("child asks how much is free", "size_t a, b; MUST(cudaMemGetInfo(&a, &b));"),
)  # fmt: skip
THREAD = "#include <thread>\n#include <future>\n"
enter(
    "cpp-thread-takes-a-card",
    cx("card by the thread's number", SEL, (), "std::vector<std::future<void>> f; for (int t = 0; t < 4; ++t) f.push_back(std::async(std::launch::async, [t] { MUST(cudaSetDevice(t)); MUST(cudaFree(0)); })); for (auto& one : f) one.get();", THREAD),
    cx("card by the rank of MPI", SEL, (), 'setenv("OMPI_COMM_WORLD_LOCAL_RANK", "5", 0); int r = atoi(getenv("OMPI_COMM_WORLD_LOCAL_RANK")); MUST(cudaSetDevice(r));'),
    cx("cards halved among two", SEL, (SHA,), 'int n = 0; MUST(cudaGetDeviceCount(&n)); if (n < 2) { fprintf(stderr, "wave: domain is cut in 2 and there is %d CUDA device\\n", n); return 2; }', expect="domain is cut"),
    cx("by the place on the bus", SEL, (SHA,), 'int dev; MUST(cudaDeviceGetByPCIBusId(&dev, "0000:ff:1f.0"));'),
    cx("properties of the second", SEL, (), "cudaDeviceProp p; MUST(cudaGetDeviceProperties(&p, 1));"),
)  # fmt: skip
SYNC = " MUST(cudaGetLastError()); MUST(cudaDeviceSynchronize());"
enter(
    "cpp-faults-by-kind",
    cx("address between the steps", ILL, (), "k<<<1, 32>>>((char*)d);" + SYNC, "__global__ void k(char* p) { *(long long*)(p + 3 + threadIdx.x) = 1; }\n"),
    cx("shared memory beyond its end", ILL, (), "k<<<1, 32>>>(d, 1 << 24);" + SYNC, "__global__ void k(float* p, int o) { __shared__ float s[32]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = s[threadIdx.x + o]; }\n"),
    cx("own memory added to by all", ILL, (), "k<<<1, 32>>>(d);" + SYNC, "__global__ void k(float* p) { float v[4] = {1, 2, 3, 4}; float* q = &v[(int)p[0] & 3]; atomicAdd(q, 1.f); p[0] = v[1]; }\n"),
    cx("jump to nowhere", ILL, (), "k<<<1, 1>>>(d, 0x1234567890ull);" + SYNC, "__global__ void k(float* p, unsigned long long a) { typedef void (*F)(float*); ((F)a)(p); }\n"),
    cx("grows its stack without an end", ILL, (OOM, LAU), "k<<<64, 256>>>(d, 1 << 20);" + SYNC, "__device__ __noinline__ float deep(float* p, int n) { float t[64]; for (int i = 0; i < 64; ++i) t[i] = p[i] + n; return n ? deep(p, n - 1) + t[n & 63] : t[0]; }\n__global__ void k(float* p, int n) { p[threadIdx.x] = deep(p, n); }\n"),
    cx("one's own assertion about the mesh", IDX, (ILL, OT), "k<<<1, 64>>>(d, 48);" + SYNC, '#include <cassert>\n__global__ void k(float* p, int n) { int cell = threadIdx.x; assert(cell < n && "cell outside the mesh"); p[cell] = 1; }\n', expect="cell outside|gave"),
)  # fmt: skip
CLUSTER = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
enter(
    "cpp-hopper",
    cx("neighbour's shared memory that is not there", ILL, (LAU,), "k<<<4, 64>>>(d);" + SYNC, CLUSTER + "__global__ void __cluster_dims__(2, 1, 1) k(float* p) { __shared__ float s[64]; s[threadIdx.x] = 1; auto c = cg::this_cluster(); c.sync(); float* far = c.map_shared_rank(s, 7); p[threadIdx.x] = far[threadIdx.x]; c.sync(); }\n"),
    cx("grid that is no whole number of clusters", LAU, (), "k<<<3, 64>>>(d);" + SYNC, CLUSTER + "__global__ void __cluster_dims__(2, 1, 1) k(float* p) { p[threadIdx.x] = 1; }\n"),
    cx("tensor map with a box too wide", SHA, (LAU, OT), "CUtensorMap m; cuuint64_t dim[2] = {1024, 16}, st[1] = {4096}; cuuint32_t box[2] = {512, 4}, es[2] = {1, 1}; CUresult r = cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, d, dim, st, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); if (r) { const char* n; cuGetErrorName(r, &n); fprintf(stderr, \"wave: cuTensorMapEncodeTiled gave %s\\n\", n); return 3; }", "#include <cuda.h>\n", "-lcuda"),
    cx("instruction of the letter a", BUILD, (UNSUP, OT), "k<<<1, 128>>>(d);" + SYNC, '__global__ void k(float* p) { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); p[0] = 1; }\n', expect="(?i)setmaxnreg|ptxas"),
    cx("more than the optional shared memory", LAU, (OOM, SHA), "MUST(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024)); k<<<1, 32, 228 * 1024>>>(d);" + SYNC, "__global__ void k(float* p) { extern __shared__ float s[]; s[threadIdx.x] = p[0]; p[0] = s[3]; }\n"),
)  # fmt: skip
enter(
    "cpp-checked-late",
    cx("bad copy, told by the next launch", SHA, (ILL, ORD, OT), "std::vector<float> h(64); cudaMemcpy(d, h.data(), 256, (cudaMemcpyKind)9); add1<<<1, 32>>>(d, 32); MUST(cudaGetLastError());"),
    cx("card chosen wrongly, told three calls later", SEL, (), "cudaSetDevice(9); std::vector<float> h(64); add1<<<1, 32>>>(d, 32); MUST(cudaGetLastError());"),
    cx("launch refused, told by the library's check", LAU, (), "add1<<<1, 1 << 12>>>(d, 32); float h; cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); MUST(cudaPeekAtLastError());"),
    cx("far write, told at the end of the scope", ILL, (), "far<<<1, 32>>>(d, 1ll << 37); std::vector<float> h(16); cudaError_t e = cudaMemcpy(h.data(), d, 64, cudaMemcpyDeviceToHost); cudaFree(d); MUST(e);", "__global__ void far(float* p, long long o) { p[o + threadIdx.x] = 1; }\n"),
    cx("memory refused, told by the first use", OOM, (ILL, SHA, LAU), 'float* q = nullptr; if (cudaMalloc(&q, 1ull << 45) != cudaSuccess) fprintf(stderr, "wave: field u: %s\\n", cudaGetErrorString(cudaPeekAtLastError())); MUST(cudaMemset(q, 0, 64)); MUST(cudaGetLastError());', expect="out of memory"),
)  # fmt: skip
DRV = '#include <cuda.h>\n#define DR(c) do { CUresult r_ = (c); if (r_) { const char* n_ = "?"; cuGetErrorName(r_, &n_); fprintf(stderr, "wave: %s gave %s\\n", #c, n_); return 6; } } while (0)\n'
enter(
    "cpp-sharing",
    cx("handle of the host's memory", SHA, (ILL, OT, ORD), "void* h; MUST(cudaMallocHost(&h, 4096)); cudaIpcMemHandle_t m; MUST(cudaIpcGetMemHandle(&m, h));"),
    cx("handle of a pool's memory", SHA, (ILL, OT, ORD), "float* q; MUST(cudaMallocAsync(&q, 4096, 0)); MUST(cudaStreamSynchronize(0)); cudaIpcMemHandle_t m; MUST(cudaIpcGetMemHandle(&m, q));"),
    cx("own handle opened by itself", ORD, (SHA, FORK, OT), "cudaIpcMemHandle_t m; MUST(cudaIpcGetMemHandle(&m, d)); void* q; MUST(cudaIpcOpenMemHandle(&q, m, cudaIpcMemLazyEnablePeerAccess));"),
    cx("handle of zeros", SHA, (ILL, OT, ORD), "cudaIpcMemHandle_t m; memset(&m, 0, sizeof m); void* q; MUST(cudaIpcOpenMemHandle(&q, m, cudaIpcMemLazyEnablePeerAccess));"),
    cx("exported without having asked for it", SHA, (ORD, OT), "CUmemGenericAllocationHandle h; CUmemAllocationProp p = {}; p.type = CU_MEM_ALLOCATION_TYPE_PINNED; p.location.type = CU_MEM_LOCATION_TYPE_DEVICE; DR(cuMemCreate(&h, 2 << 20, &p, 0)); int fd; DR(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));", DRV, "-lcuda"),
    cx("imported from a file that is none", SHA, (ORD, OT, ILL), "CUmemGenericAllocationHandle h; DR(cuMemImportFromShareableHandle(&h, (void*)(long)4711, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));", DRV, "-lcuda"),
)  # fmt: skip
LT = '#include <cublasLt.h>\n#define LT(c) do { int r_ = (int)(c); if (r_) { fprintf(stderr, "wave: %s gave CUBLAS status %d (%s)\\n", #c, r_, cublasLtGetStatusString((cublasStatus_t)r_)); return 7; } } while (0)\n'
LAY = "cublasLtHandle_t h; LT(cublasLtCreate(&h)); cublasLtMatmulDesc_t op; LT(cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F)); cublasLtMatrixLayout_t a, b, c; float one = 1, none = 0; "
enter(
    "cpp-cublaslt",
    cx("inner sizes that differ", SHA, (OT,), LAY + "LT(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 16, 8, 16)); LT(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 12, 4, 12)); LT(cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, 16, 4, 16)); LT(cublasLtMatmul(h, op, &one, d, a, d, b, &none, d, c, d, c, nullptr, nullptr, 0, 0));", LT, "-lcublasLt"),
    cx("types that do not go together", SHA, (OT, UNSUP), LAY + "LT(cublasLtMatrixLayoutCreate(&a, CUDA_R_8I, 16, 16, 16)); LT(cublasLtMatrixLayoutCreate(&b, CUDA_R_64F, 16, 16, 16)); LT(cublasLtMatrixLayoutCreate(&c, CUDA_R_16F, 16, 16, 16)); LT(cublasLtMatmul(h, op, &one, d, a, d, b, &none, d, c, d, c, nullptr, nullptr, 0, 0));", LT, "-lcublasLt"),
    cx("attribute of another size", SHA, (OT,), LAY + "char t = 1; LT(cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t));", LT, "-lcublasLt"),
    cx("eight bits without a transposed side", SHA, (OT, UNSUP), LAY + "LT(cublasLtMatrixLayoutCreate(&a, CUDA_R_8F_E4M3, 16, 16, 16)); LT(cublasLtMatrixLayoutCreate(&b, CUDA_R_8F_E4M3, 16, 16, 16)); LT(cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, 16, 16, 16)); LT(cublasLtMatmul(h, op, &one, d, a, d, b, &none, d, c, d, c, nullptr, nullptr, 0, 0));", LT, "-lcublasLt"),
    cx("no handle", ORD, (SHA, OT), "LT(cublasLtMatmul(nullptr, nullptr, nullptr, d, nullptr, d, nullptr, nullptr, d, nullptr, d, nullptr, nullptr, nullptr, 0, 0));", LT, "-lcublasLt"),
)  # fmt: skip
enter(
    "cpp-symbols-and-modules",
    cx("symbol of the host", SHA, (ILL, OT, BUILD), "float v = 1; MUST(cudaMemcpyToSymbol((const void*)&plain, &v, 4));", "static float plain = 0;\n"),
    cx("offset beyond the table", SHA, (ILL, OT, IDX), "float v[8] = {}; MUST(cudaMemcpyToSymbol(table, v, 32, 60));", "__device__ float table[16];\n"),
    cx("library file that is a text", BUILD, (ILL, OT, "install.corrupted", SHA), 'CUlibrary l; DR(cuLibraryLoadData(&l, "this is no image at all, and long enough to be one", nullptr, nullptr, 0, nullptr, nullptr, 0));', DRV, "-lcuda"),
    cx("kernel that the library has not", OT, (BUILD, SHA, ILL), 'CUlibrary l; CUkernel k; DR(cuLibraryLoadData(&l, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0)); DR(cuLibraryGetKernel(&k, l, "flux_limiter"));', DRV + 'static const char* ptx = ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry flux() { ret; }\\n";\n', "-lcuda"),
    cx("function that the driver has not", OT, (BUILD, SHA, "driver.too_old"), 'void* f; CUdriverProcAddressQueryResult q; DR(cuGetProcAddress("cuFluxCompute", &f, 13000, 0, &q)); if (!f || q != CU_GET_PROC_ADDRESS_SUCCESS) { fprintf(stderr, "wave: cuGetProcAddress(cuFluxCompute) gave %d\\n", (int)q); return 6; }', DRV, "-lcuda"),
)  # fmt: skip

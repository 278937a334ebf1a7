"""Ninth operators, C++ calls: kinds of memory, pools, limits, driver contexts, graphs made by hand, textures, occupancy, launches."""

from __future__ import annotations

from lab.random.ninth import BUILD, ILL, LAU, NVCC, OOM, ORD, OT, SEL, SET, SHA, UNSUP, Case, enter

HEAD = (
    "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <vector>\n#include <cuda_runtime.h>\n"
    'static void must(cudaError_t e, const char* what) { if (e != cudaSuccess) { fprintf(stderr, "[sim] %s: %s\\n", what, cudaGetErrorString(e)); exit(20); } }\n'
    "#define DO(c) must((c), #c)\n"
    "__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }\n"
)
START = '  float* d; DO(cudaMalloc(&d, 1 << 16)); DO(cudaMemset(d, 0, 1 << 16)); twice<<<16, 128>>>(d, 2048); DO(cudaDeviceSynchronize()); printf("[sim] started\\n"); fflush(stdout);\n'


def cc(target: str, cause: str, also: tuple[str, ...], body: str, top: str = "", expect: str = "sim\\] ", command: str = NVCC) -> Case:  # fmt: skip
    """A program that works on the card first and then does what the body says."""
    code = f"{HEAD}{top}\nint main() {{\n{START}  {body}\n  return 0; }}\n"
    return Case("cpp-add", target, cause, also, code=code, command=command, expect=expect)


LOST = (SHA, ORD, OT)
enter(
    "cpp-kinds-of-memory",
    cc("memory of the stack freed", ILL, LOST, "float t[8]; DO(cudaFree(t));"),
    cc("memory of malloc freed", ILL, LOST, "void* p = malloc(64); DO(cudaFree(p));"),
    cc("pinned memory freed twice", ILL, LOST, "void* p; DO(cudaMallocHost(&p, 4096)); DO(cudaFreeHost(p)); DO(cudaFreeHost(p));"),
    cc("inside of a block freed", ILL, LOST, "DO(cudaFree(d + 64));"),
    cc("host memory filled from the card", ILL, LOST, "std::vector<float> h(64); DO(cudaMemset(h.data(), 0, 256)); DO(cudaDeviceSynchronize());"),
    cc("plain memory prefetched", SHA, (ILL, ORD, OT, SEL), "cudaMemLocation l = {}; l.type = cudaMemLocationTypeDevice; l.id = 0; DO(cudaMemPrefetchAsync(d, 256, l, 0)); DO(cudaDeviceSynchronize());"),
    cc("mapped pointer of memory never mapped", ILL, LOST, "std::vector<float> h(64); float* m; DO(cudaHostGetDevicePointer(&m, h.data(), 0));"),
    cc("pitch below the width", SHA, (ILL, OT), "std::vector<float> h(4096); DO(cudaMemcpy2D(d, 16, h.data(), 256, 256, 8, cudaMemcpyHostToDevice));"),
    cc("unregistered twice", ILL, LOST, "void* p = aligned_alloc(4096, 8192); DO(cudaHostRegister(p, 8192, 0)); DO(cudaHostUnregister(p)); DO(cudaHostUnregister(p));"),
    cc("attached though not managed", SHA, (ILL, ORD, OT), "cudaStream_t s; DO(cudaStreamCreate(&s)); DO(cudaStreamAttachMemAsync(s, d, 0, cudaMemAttachSingle)); DO(cudaStreamSynchronize(s));"),
)  # fmt: skip
POOL = "cudaMemPool_t pool; cudaMemPoolProps pr = {}; pr.allocType = cudaMemAllocationTypePinned; pr.location.type = cudaMemLocationTypeDevice; pr.location.id = @ID@; DO(cudaMemPoolCreate(&pool, &pr)); "
enter(
    "cpp-pools",
    cc("terabytes in order of the stream", OOM, (), "void* p; DO(cudaMallocAsync(&p, (size_t)1 << 44, 0)); DO(cudaStreamSynchronize(0));", expect="(?i)memory"),
    cc("pool on the sixth card", SEL, (SHA, OT), POOL.replace("@ID@", "5")),
    cc("more than the pool may have", OOM, (SHA, LAU), POOL.replace("@ID@", "0").replace("DO(cudaMemPoolCreate", "pr.maxSize = 1 << 20; DO(cudaMemPoolCreate") + "void* p; DO(cudaMallocFromPoolAsync(&p, 1 << 28, pool, 0)); DO(cudaStreamSynchronize(0));"),
    cc("freed twice in order of the stream", ILL, LOST, "void* p; DO(cudaMallocAsync(&p, 4096, 0)); DO(cudaFreeAsync(p, 0)); DO(cudaStreamSynchronize(0)); DO(cudaFreeAsync(p, 0)); DO(cudaStreamSynchronize(0));"),
    cc("freed as pinned memory", ILL, LOST, "void* p; DO(cudaMallocAsync(&p, 4096, 0)); DO(cudaStreamSynchronize(0)); DO(cudaFreeHost(p));"),
    cc("stack's address freed in order of the stream", ILL, LOST, "float t[4]; DO(cudaFreeAsync(t, 0)); DO(cudaStreamSynchronize(0));"),
    cc("managed memory of terabytes", OOM, (), "float* m; DO(cudaMallocManaged(&m, (size_t)1 << 49));", expect="(?i)memory"),
    cc("pinned memory of terabytes", "memory.host", (OOM,), "float* m; DO(cudaMallocHost(&m, (size_t)1 << 45));"),
    cc("array of all the world", OOM, (SHA, LAU), "cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<float4>(); cudaExtent e = make_cudaExtent(16384, 16384, 16384); DO(cudaMalloc3DArray(&a, &f, e));"),
)  # fmt: skip
enter(
    "cpp-card-limits",
    cc("line for printing of petabytes", OOM, (LAU, SET, SHA, OT), "DO(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, (size_t)1 << 50)); say<<<1, 1>>>(); DO(cudaDeviceSynchronize());", '__global__ void say() { printf("k\\n"); }\n'),
    cc("heap of petabytes", OOM, (LAU, SET, SHA), "DO(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 50)); grow<<<1, 1>>>(d); DO(cudaDeviceSynchronize());", "__global__ void grow(float* x) { float* t = (float*)malloc(64); x[0] = t ? 1 : 2; free(t); }\n"),
    cc("heap changed after its use", ORD, (OOM, SET, OT), "grow<<<1, 1>>>(d); DO(cudaDeviceSynchronize()); DO(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));", "__global__ void grow(float* x) { float* t = (float*)malloc(64); x[0] = t ? 1 : 2; free(t); }\n"),
    cc("stack of one gigabyte a thread", OOM, (LAU, SET, SHA), "DO(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 30)); twice<<<1, 32>>>(d, 32); DO(cudaGetLastError()); DO(cudaDeviceSynchronize());"),
    cc("recursion without an end", ILL, (LAU, OOM), "deep<<<1, 32>>>(d, 1 << 20); DO(cudaGetLastError()); DO(cudaDeviceSynchronize());", "__device__ __noinline__ float down(float* x, int n) { volatile float t[64]; t[n & 63] = x[n & 15]; return n ? down(x, n - 1) + t[n & 31] : t[0]; }\n__global__ void deep(float* x, int n) { x[threadIdx.x] = down(x, n); }\n"),
    cc("limit that nobody knows", SHA, (SET, OT, UNSUP), "DO(cudaDeviceSetLimit((cudaLimit)77, 1));"),
    cc("attribute that nobody knows", SHA, (OT, SEL), "int v; DO(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0));"),
    cc("flags after the start", ORD, (SHA, OT), "DO(cudaSetDeviceFlags(0xffff));"),
    cc("card of an address that is none", SEL, (SHA, OT), 'int v; DO(cudaDeviceGetByPCIBusId(&v, "0000:ff:1f.0"));'),
)  # fmt: skip
DRV = "#include <cuda.h>\nstatic void dmust(CUresult r, const char* what) { const char* n = 0; if (r) { cuGetErrorName(r, &n); fprintf(stderr, \"[sim] %s gave %s (%d)\\n\", what, n ? n : \"?\", (int)r); exit(21); } }\n#define DR(c) dmust((c), #c)\n"  # fmt: skip
LCUDA = NVCC.replace("$SCRIPT &&", "$SCRIPT -lcuda &&")


def drv(target: str, cause: str, also: tuple[str, ...], body: str, top: str = "") -> Case:
    """The same by the driver's own calls."""
    return cc(target, cause, also, body, DRV + top, command=LCUDA)


PTX = '"//\\n.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k() { ret; }\\n"'
MODULE = f"CUmodule m; CUfunction f; DR(cuModuleLoadData(&m, {PTX})); DR(cuModuleGetFunction(&f, m, \"k\")); "  # fmt: skip
enter(
    "cpp-driver-contexts",
    drv("variable that the module has not", OT, (BUILD, SHA), MODULE + 'CUdeviceptr p; size_t n; DR(cuModuleGetGlobal(&p, &n, m, "weights"));'),
    drv("block of three thousand", LAU, (SHA,), MODULE + "DR(cuLaunchKernel(f, 1, 1, 1, 3000, 1, 1, 0, 0, 0, 0));"),
    drv("shared memory never asked for", LAU, (SHA,), MODULE + "DR(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 120000, 0, 0, 0));"),
    drv("stack of contexts is empty", ORD, (OT, "program.fork"), "CUcontext c; DR(cuCtxPopCurrent(&c)); DR(cuCtxPopCurrent(&c)); CUdeviceptr p; DR(cuMemAlloc(&p, 64));"),
    drv("memory of no bytes", SHA, (OT, OOM), "CUdeviceptr p; DR(cuMemAlloc(&p, 0));"),
    drv("context released too often", ORD, (OT, "program.fork"), "CUdevice v; DR(cuDeviceGet(&v, 0)); for (int i = 0; i < 4; i++) DR(cuDevicePrimaryCtxRelease(v)); CUdeviceptr p; DR(cuMemAlloc(&p, 64));"),
    drv("module unloaded, function used", ORD, (ILL, OT, LAU, SHA), MODULE + "DR(cuModuleUnload(m)); DR(cuModuleUnload(m)); DR(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));"),
    drv("linker given a text", BUILD, ("cuda.compiler_missing", SHA, OT, "install.corrupted"), 'CUlinkState l; DR(cuLinkCreate(0, 0, 0, &l)); char t[] = "not a program"; DR(cuLinkAddData(l, CU_JIT_INPUT_PTX, t, sizeof t, "gen.ptx", 0, 0, 0)); void* o; size_t n; DR(cuLinkComplete(l, &o, &n));'),
    drv("device by a name that is none", SEL, (SHA, OT), 'CUdevice v; DR(cuDeviceGetByPCIBusId(&v, "17"));'),
)  # fmt: skip
VM = "CUmemAllocationProp pr = {}; pr.type = CU_MEM_ALLOCATION_TYPE_PINNED; pr.location.type = CU_MEM_LOCATION_TYPE_DEVICE; pr.location.id = @ID@; size_t g = 0; CUmemGenericAllocationHandle h; CUdeviceptr p = 0; "
GRAIN = "DR(cuMemGetAllocationGranularity(&g, &pr, CU_MEM_ALLOC_GRANULARITY_MINIMUM)); "
MAPPED = (
    VM.replace("@ID@", "0")
    + GRAIN
    + "DR(cuMemAddressReserve(&p, g, 0, 0, 0)); DR(cuMemCreate(&h, g, &pr, 0)); DR(cuMemMap(p, g, 0, h, 0)); "
)
enter(
    "cpp-virtual-memory",
    drv("size between the steps", SHA, (OT, OOM), VM.replace("@ID@", "0") + "DR(cuMemCreate(&h, 12345, &pr, 0));"),
    drv("on the fourth card", SEL, (SHA, OT), VM.replace("@ID@", "3") + "DR(cuMemCreate(&h, 2 << 20, &pr, 0));"),
    drv("mapped without leave", ILL, (ORD,), MAPPED + "twice<<<1, 32>>>((float*)p, 32); DR((CUresult)cudaDeviceSynchronize());"),
    drv("leave for another card", SEL, (SHA, OT), MAPPED + "CUmemAccessDesc a = {}; a.location.type = CU_MEM_LOCATION_TYPE_DEVICE; a.location.id = 6; a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE; DR(cuMemSetAccess(p, g, &a, 1));"),
    drv("mapped twice at one place", ORD, (SHA, OT, ILL), MAPPED + "DR(cuMemMap(p, g, 0, h, 0));"),
    drv("place given back while mapped", ORD, (SHA, OT, ILL), MAPPED + "DR(cuMemAddressFree(p, g)); DR(cuMemUnmap(p, g)); DR(cuMemUnmap(p, g));"),
    drv("terabytes of it", OOM, (), VM.replace("@ID@", "0") + "DR(cuMemCreate(&h, (size_t)1 << 42, &pr, 0));"),
)  # fmt: skip
NODE = "cudaGraph_t g; DO(cudaGraphCreate(&g, 0)); int n = 32; void* a[] = {&d, &n}; cudaKernelNodeParams k = {}; k.func = (void*)twice; k.gridDim = dim3(@G@); k.blockDim = dim3(@B@); k.kernelParams = a; cudaGraphNode_t x, y; DO(cudaGraphAddKernelNode(&x, g, 0, 0, &k)); "
FINE = NODE.replace("@G@", "1").replace("@B@", "32")
GO = "cudaGraphExec_t e; DO(cudaGraphInstantiate(&e, g, 0)); "
enter(
    "cpp-graphs-by-hand",
    cc("node with too large a block", LAU, (SHA, ORD), NODE.replace("@G@", "1").replace("@B@", "5000") + GO + "DO(cudaGraphLaunch(e, 0)); DO(cudaDeviceSynchronize());"),
    cc("destroyed, then launched", ORD, (ILL, OT, SHA), FINE + GO + "DO(cudaGraphDestroy(g)); DO(cudaGraphInstantiate(&e, g, 0));"),
    cc("memory node of unlike kinds", SHA, (ORD, OT, ILL), "cudaGraph_t g; DO(cudaGraphCreate(&g, 0)); cudaGraphNode_t x; float h[8]; DO(cudaGraphAddMemcpyNode1D(&x, g, 0, 0, nullptr, h, 32, cudaMemcpyHostToDevice));"),
    cc("filled by a width of three", SHA, (ORD, OT), "cudaGraph_t g; DO(cudaGraphCreate(&g, 0)); cudaGraphNode_t x; cudaMemsetParams m = {}; m.dst = d; m.elementSize = 3; m.width = 8; m.height = 1; DO(cudaGraphAddMemsetNode(&x, g, 0, 0, &m));"),
    cc("child that is itself", ORD, (SHA, OT, ILL), FINE + "cudaGraphNode_t c; DO(cudaGraphAddChildGraphNode(&c, g, 0, 0, g)); " + GO),
    cc("node of nothing asked", ORD, (SHA, OT, ILL), FINE + "cudaGraphNodeType t; DO(cudaGraphNodeGetType(nullptr, &t));"),
    cc("function of the host as a node", LAU, (BUILD, SHA, UNSUP, OT), FINE.replace("(void*)twice", "(void*)&exit") + GO + "DO(cudaGraphLaunch(e, 0));"),
    cc("written for a card that is not there", ORD, (SHA, OT, SEL), FINE + 'DO(cudaGraphDebugDotPrint(g, "/proc/none/g.dot", 0));'),
)  # fmt: skip
TD = "cudaResourceDesc r = {}; cudaTextureDesc t = {}; cudaTextureObject_t o; "
enter(
    "cpp-textures",
    cc("address between the steps", SHA, (OT, ILL), TD + "r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = (char*)d + 4; r.res.linear.desc = cudaCreateChannelDesc<float>(); r.res.linear.sizeInBytes = 1024; DO(cudaCreateTextureObject(&o, &r, &t, 0));"),
    cc("no array behind it", SHA, (OT, ILL), TD + "r.resType = cudaResourceTypeArray; r.res.array.array = nullptr; DO(cudaCreateTextureObject(&o, &r, &t, 0));"),
    cc("interpolated whole numbers", SHA, (OT,), TD + "cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<int>(); DO(cudaMallocArray(&a, &f, 64)); r.resType = cudaResourceTypeArray; r.res.array.array = a; t.filterMode = cudaFilterModeLinear; t.readMode = cudaReadModeElementType; DO(cudaCreateTextureObject(&o, &r, &t, 0));"),
    cc("surface of an array not made for it", SHA, (OT, ORD), "cudaResourceDesc r = {}; cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(); DO(cudaMallocArray(&a, &f, 64, 64)); r.resType = cudaResourceTypeArray; r.res.array.array = a; cudaSurfaceObject_t s; DO(cudaCreateSurfaceObject(&s, &r)); DO(cudaFreeArray(a)); DO(cudaFreeArray(a));"),
    cc("pixels of three parts", SHA, (OT, BUILD), "cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned); DO(cudaMallocArray(&a, &f, 64, 64));"),
    cc("levels beyond one pixel", SHA, (OT,), "cudaMipmappedArray_t m; cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(); DO(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 16, 0), 4)); cudaArray_t l; DO(cudaGetMipmappedArrayLevel(&l, m, 9));"),
)  # fmt: skip

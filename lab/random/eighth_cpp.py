"""Eighth operators, C++: exceptions of Thrust and of their own, graphs, library statuses, host compilers, own libraries."""

from __future__ import annotations

from lab.random.eighth import (
    ABI,
    BUILD,
    COMPILER,
    IDX,
    ILL,
    LAU,
    LIB,
    NVCC,
    OOM,
    ORD,
    OT,
    PATH,
    SEL,
    SHA,
    UNSUP,
    Case,
    enter,
)

HEAD = (
    "#include <cstdio>\n#include <cstdlib>\n#include <stdexcept>\n#include <string>\n#include <vector>\n"
    "#define OK(c) do { cudaError_t got_ = (c); if (got_ != cudaSuccess) throw std::runtime_error(std::string(#c \" -> \") + cudaGetErrorString(got_)); } while (0)\n"
    "__global__ void scale(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }\n"
)  # fmt: skip
WARM = '  float* d; OK(cudaMalloc(&d, 4096 * 4)); OK(cudaMemset(d, 0, 4096 * 4)); scale<<<32, 128>>>(d, 4096); OK(cudaDeviceSynchronize()); printf("warm-up done\\n"); fflush(stdout);\n'


def cpp(target: str, cause: str, also: tuple[str, ...], body: str, top: str = "", command: str = NVCC, expect: str = "") -> Case:  # fmt: skip
    """A program whose main does a healthy warm-up, then the body."""
    code = f"{HEAD}{top}\nint main() {{\n{WARM}  {body}\n  return 0; }}\n"
    return Case("cpp-add", target, cause, also, code=code, command=command, expect=expect)


THRUST = "#include <thrust/device_vector.h>\n#include <thrust/host_vector.h>\n#include <thrust/sort.h>\n#include <thrust/for_each.h>\n"
enter(
    "thrust-throws",
    cpp("vector of terabytes", OOM, (), "thrust::device_vector<double> v((size_t)1 << 43); printf(\"%zu\\n\", v.size());", THRUST, expect="alloc"),
    cpp("functor writes far away", ILL, (), "thrust::device_vector<float> v(1024); float* p = thrust::raw_pointer_cast(v.data()); thrust::sort(v.begin(), v.end()); far<<<1, 32>>>(p); thrust::sort(v.begin(), v.end()); cudaDeviceSynchronize(); thrust::host_vector<float> h = v; printf(\"%f\\n\", h[0]);", THRUST + "__global__ void far(float* p) { p[(1ll << 38) + threadIdx.x] = 1; }\n", expect="illegal|terminate"),
    cpp("sorted range of a made-up pointer", ILL, (), "thrust::device_ptr<int> p((int*)0x10000000000ull); thrust::sort(p, p + 4096); cudaDeviceSynchronize(); thrust::device_vector<int> out(p, p + 16); printf(\"%d\\n\", (int)out[0]);", THRUST, expect="terminate|illegal|rror"),
    cpp("own exception around it", OOM, (), "try { thrust::device_vector<char> v((size_t)1 << 46); } catch (const std::exception& e) { fprintf(stderr, \"[fatal] particle store: %s\\n\", e.what()); return 4; }", THRUST, expect="alloc"),
)  # fmt: skip
enter(
    "cpp-throws",
    cpp("cooperative grid beyond the card", LAU, (), "int n = 1; void* a[] = {&d, &n}; OK(cudaLaunchCooperativeKernel((void*)scale, dim3(200000), dim3(256), a, 0, 0)); OK(cudaDeviceSynchronize());", expect="cooperative|too many"),
    cpp("shared memory asked for beyond the card", LAU, (OOM,), "OK(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 400 * 1024)); scale<<<1, 32, 400 * 1024>>>(d, 4); OK(cudaGetLastError());", expect="->"),
    cpp("assertion in a kernel", IDX, (ILL,), "check<<<2, 64>>>(d, 100); OK(cudaDeviceSynchronize());", "#include <cassert>\n__global__ void check(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; assert(i < n); x[i] = i; }\n", expect="ssert"),
    cpp("kernel's own heap is small", ILL, (OOM,), "OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20)); fill<<<64, 256>>>(d); OK(cudaDeviceSynchronize());", "__global__ void fill(float* x) { float* t = (float*)malloc(1 << 20); t[threadIdx.x] = 1; x[0] = t[0]; free(t); }\n", expect="->"),
    cpp("pointer of the host", ILL, (SHA,), "std::vector<float*> t(8, nullptr); follow<<<1, 8>>>((float**)d); OK(cudaDeviceSynchronize());", "__global__ void follow(float** t) { t[threadIdx.x][64] = 1; }\n", expect="->"),
    cpp("freed twice", ILL, (ORD, OT, SHA), "OK(cudaFree(d)); OK(cudaFree(d));", expect="->"),
    cpp("symbol of another size", SHA, (ILL, OT), "std::vector<float> h(64); OK(cudaMemcpyToSymbol(table, h.data(), 64 * 4));", "__constant__ float table[16];\n", expect="->"),
    cpp("texture wider than allowed", SHA, (LAU, OOM, OT), "cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(); OK(cudaMallocArray(&a, &f, 1 << 20, 1 << 10));", expect="->"),
    cpp("peer that is not there", SEL, (), "OK(cudaDeviceEnablePeerAccess(1, 0));", expect="->"),
    cpp("fourth card of one", SEL, (), "OK(cudaSetDevice(3));", expect="->"),
)  # fmt: skip
CAP = "cudaStream_t s; OK(cudaStreamCreate(&s)); OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); "
enter(
    "cpp-capture",
    cpp("waits inside", ORD, (), CAP + "scale<<<1, 32, 0, s>>>(d, 32); OK(cudaStreamSynchronize(s));", expect="captur"),
    cpp("allocates inside", ORD, (), CAP + "float* q; OK(cudaMalloc(&q, 64)); cudaGraph_t g; OK(cudaStreamEndCapture(s, &g));", expect="captur"),
    cpp("old stream used inside", ORD, (), CAP + "scale<<<1, 32>>>(d, 32); OK(cudaGetLastError()); cudaGraph_t g; OK(cudaStreamEndCapture(s, &g));", expect="captur|legacy"),
    cpp("ended on another stream", ORD, (), CAP + "cudaStream_t t; OK(cudaStreamCreate(&t)); cudaGraph_t g; OK(cudaStreamEndCapture(t, &g));", expect="captur|->"),
    cpp("side stream never joined", ORD, (), CAP + "cudaEvent_t e; cudaStream_t t; OK(cudaEventCreate(&e)); OK(cudaStreamCreate(&t)); OK(cudaEventRecord(e, s)); OK(cudaStreamWaitEvent(t, e, 0)); scale<<<1, 32, 0, t>>>(d, 32); cudaGraph_t g; OK(cudaStreamEndCapture(s, &g));", expect="join|captur"),
    cpp("graph never instantiated", ORD, (ILL, SHA, OT), "OK(cudaGraphLaunch(nullptr, 0));", expect="->"),
    cpp("event never recorded", ORD, (SHA, OT, ILL), "cudaEvent_t a, b; float ms; OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b)); OK(cudaEventElapsedTime(&ms, a, b));", expect="->"),
)  # fmt: skip
BLAS = "#include <cublas_v2.h>\n"
LB = NVCC.replace("$SCRIPT &&", "$SCRIPT -lcublas -lcufft &&")
DIE = 'if (r) { fprintf(stderr, "solver.cpp:88 library status %d\\n", (int)r); return 12; }'
enter(
    "library-status",
    cpp("no handle", ORD, (ILL, OT), "float one = 1; cublasStatus_t r = cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, d, 8, d, 8, &one, d, 8); " + DIE, BLAS, LB, "status"),
    cpp("rows apart too little", SHA, (OT,), "cublasHandle_t h; cublasCreate(&h); float one = 1; cublasStatus_t r = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, d, 8, d, 64, &one, d, 64); " + DIE, BLAS, LB, "status 7"),
    cpp("after a wild kernel", ILL, (), "cublasHandle_t h; cublasCreate(&h); far<<<1, 1>>>(d); cudaDeviceSynchronize(); float one = 1; cublasStatus_t r = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, d, 8, d, 8, &one, d, 8); if (r) { fprintf(stderr, \"cublasSgemm: %s, last error: %s\\n\", cublasGetStatusString(r), cudaGetErrorString(cudaPeekAtLastError())); return 3; } OK(cudaDeviceSynchronize());", BLAS + "__global__ void far(float* p) { p[1ll << 39] = 1; }\n", LB, "illegal"),
    cpp("transform of minus one", SHA, (OT,), "cufftHandle p; cufftResult r = cufftPlan1d(&p, -1, CUFFT_C2C, 1); " + DIE, "#include <cufft.h>\n", LB, "status"),
    cpp("plan that was taken down", ORD, (ILL, OT), "cufftHandle p; cufftPlan1d(&p, 256, CUFFT_C2C, 1); cufftDestroy(p); cufftResult r = cufftExecC2C(p, (cufftComplex*)d, (cufftComplex*)d, CUFFT_FORWARD); " + DIE, "#include <cufft.h>\n", LB, "status"),
    cpp("direction that is none", SHA, (OT, ORD), "cufftHandle p; cufftPlan1d(&p, 256, CUFFT_C2C, 1); cufftResult r = cufftExecC2C(p, nullptr, nullptr, 7); " + DIE, "#include <cufft.h>\n", LB, "status"),
)  # fmt: skip
NEAR = (COMPILER, PATH, OT)
enter(
    "host-compiler",
    cpp("named and not there", BUILD, NEAR, "", command=NVCC.replace("nvcc", "nvcc -ccbin g++-4.8", 1), expect="g\\+\\+-4.8"),
    cpp("later than the toolkit knows", BUILD, ("cuda.version_mismatch", *NEAR), "", command=NVCC.replace("nvcc", "nvcc -Xcompiler -U__GNUC__ -Xcompiler -D__GNUC__=99", 1), expect="unsupported GNU"),
    cpp("card that the toolkit forgot", BUILD, (UNSUP, "cuda.version_mismatch"), "", command=NVCC.replace("sm_90", "sm_52"), expect="nsupported gpu"),
    cpp("library of templates that is not here", BUILD, (LIB, PATH), "", "#include <cutlass/gemm/device/gemm.h>\n", expect="cutlass"),
    cpp("math library of another name", BUILD, (LIB, PATH), "", command=NVCC.replace("$SCRIPT &&", "$SCRIPT -lcublas_static_v9 &&"), expect="cannot find"),
    cpp("function of the host in a kernel", BUILD, (), "look<<<1, 1>>>(d);", "float table(int i) { return i * 0.5f; }\n__global__ void look(float* p) { p[0] = table(3); }\n", expect="__host__|host function"),
    cpp("declared and never made", BUILD, (), "step(d);", "void step(float*);\n", expect="undefined reference"),
    cpp("kernel in another file, not linked for it", BUILD, (), "use<<<1, 1>>>(d);", "extern __device__ float helper(int);\n__global__ void use(float* p) { p[0] = helper(1); }\n", expect="helper"),
)  # fmt: skip
LIBRARY = "printf '%s\\n' '__global__ void k(float* x) { x[threadIdx.x] += 1; }' 'extern \"C\" int @NAME@(float* x) { k<<<1, 32>>>(x); return cudaDeviceSynchronize(); }' > $W/lib.cu && nvcc -arch=sm_90 -Xcompiler -fPIC -shared -o $W/lib/libstep.so $W/lib.cu"
USES = 'extern "C" int step_grid(float*);\n'
LINK = (
    "mkdir -p $W/lib; "
    + LIBRARY.replace("@NAME@", "step_grid")
    + " && nvcc -arch=sm_90 -o $W/a $SCRIPT -L$W/lib -lstep@MORE@ && @THEN@$W/a"
)
enter(
    "own-library",
    cpp("found by the linker, not by the loader", PATH, (BUILD, OT, LIB), "return step_grid(d);", USES, LINK.replace("@MORE@", "").replace("@THEN@", ""), "libstep"),
    cpp("moved since it was built", PATH, (BUILD, OT, LIB), "return step_grid(d);", USES, LINK.replace("@MORE@", " -Xlinker -rpath -Xlinker $W/lib").replace("@THEN@", "mkdir -p $W/new && mv $W/lib/libstep.so $W/new/ && "), "libstep"),
    cpp("built anew with another name inside", BUILD, (ABI, OT), "return step_grid(d);", USES, LINK.replace("@MORE@", " -Xlinker -rpath -Xlinker $W/lib").replace("@THEN@", LIBRARY.replace("@NAME@", "step_grid_v2") + " && "), "symbol"),
    cpp("built for another card", UNSUP, (BUILD,), "int r = step_grid(d); if (r) { fprintf(stderr, \"libstep: %s (%d)\\n\", cudaGetErrorString((cudaError_t)r), r); } else OK(cudaGetLastError()); return r;", USES, LINK.replace("nvcc -arch=sm_90 -Xcompiler", "nvcc -gencode arch=compute_86,code=sm_86 -Xcompiler").replace("@MORE@", " -cudart shared -Xlinker -rpath -Xlinker $W/lib").replace("@THEN@", "").replace("-o $W/lib", "-cudart shared -o $W/lib"), "kernel image|libstep"),
    cpp("empty since the disk was full", "install.corrupted", (BUILD, OT, PATH), "return step_grid(d);", USES, LINK.replace("@MORE@", " -Xlinker -rpath -Xlinker $W/lib").replace("@THEN@", ": > $W/lib/libstep.so && "), "libstep"),
)  # fmt: skip

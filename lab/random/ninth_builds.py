"""Ninth operators, building and the libraries of the toolkit: flags, objects, makefiles, places of the compiler, statuses."""

from __future__ import annotations

from lab.random.ninth import BUILD, COMPILER, LIB, LIM, NVCC, ORD, OT, PATH, SEL, SET, SHA, UNSUP, Case, enter
from lab.random.ninth_cpp import DRV, cc

NEAR = (COMPILER, PATH, OT, SET)


def flagged(target: str, flags: str, expect: str, also: tuple[str, ...] = NEAR, top: str = "", body: str = "") -> Case:
    """A good program, built with other flags."""
    return cc(target, BUILD, also, body, top, expect, NVCC.replace("nvcc", f"nvcc {flags}", 1))


enter(
    "build-flags",
    flagged("option with a slip", "--gencod=arch=compute_90,code=sm_90", "(?i)unknown option|gencod"),
    flagged("two cards in one word", "-gencode arch=compute_90;sm_90", "(?i)arch|sm_90|unsupported|option|not found", (*NEAR, UNSUP)),
    flagged("threads by a library of another compiler", "-Xcompiler -fopenmp -liomp_acme", "(?i)iomp_acme"),
    flagged("warnings are errors", "-Werror all-warnings", "(?i)error|declared|unused", top="static int unused_rows(int n) { int m = n; return 7; }\n"),
    flagged("symbol defined on the command line is no number", "-DBLOCK=", "(?i)error|expected", body="static float t[BLOCK]; t[0] = 1; twice<<<1, BLOCK>>>(d, (int)t[0]);"),
    flagged("host compiler's flag unknown", "-Xcompiler -mgpu-native", "(?i)mgpu-native|unrecognized"),
    flagged("output of one kind only", "-ptx", "(?i)fatal|error|cannot|exec|format|denied|No such", (*NEAR, LIM)),
    flagged("machine of another kind", "-m32", "(?i)m32|32|unsupported|unknown"),
    flagged("file of options is gone", "--options-file $W/release.opts", "(?i)release.opts|option"),
)  # fmt: skip
enter(
    "build-sources",
    cc("kernel that returns", BUILD, (OT,), "", "__global__ int bad(float* p) { return 1; }\n", "(?i)void"),
    cc("container inside a kernel", BUILD, (OT,), "", "#include <vector>\n__global__ void bad(float* p) { std::vector<float> v(4); v.push_back(p[0]); p[0] = v[1]; }\n", "(?i)__host__|host function|undefined"),
    cc("recursion of a template", BUILD, (OT,), "", "template <int N> struct S { static const int v = S<N - 1>::v + 1; };\nint x = S<5>::v;\n", "(?i)depth|recurs|instantiat"),
    cc("reference as a kernel's argument in the launch", BUILD, (OT,), "fill<<<1, 1>>>(d, 3.0, 4);", "__global__ void fill(float* p, float v) { p[0] = v; }\n", "(?i)argument"),
    cc("launch marks in a plain function", BUILD, (OT,), "plain<<<1, 1>>>(d);", "void plain(float* p) { p[0] = 1; }\n", "(?i)__global__|configured"),
    cc("kernel's parameters beyond the limit", BUILD, ("program.launch", OT), "", "struct Big { float v[20000]; };\n__global__ void bad(Big b, float* p) { p[0] = b.v[0]; }\n", "(?i)parameter|space|size"),
    cc("check of the card at compile time", BUILD, (UNSUP, OT), "", "__global__ void tc(float* p) {\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000\n#error \"this kernel needs tensor memory of sm_100\"\n#endif\n}\n", "(?i)tensor memory"),
    cc("bracket forgotten at the end", BUILD, (OT,), "if (d) {", "", "(?i)expected|brace|end of|error"),
    cc("header of the toolkit before last", BUILD, (PATH, LIB, OT, "cuda.version_mismatch"), "", "#include <cuda_texture_types.h>\n#include <texture_fetch_functions.h>\ntexture<float, 1> table;\n", "(?i)texture"),
    cc("name of the standard library not brought in", BUILD, (OT,), "auto m = std::make_unique<int>(3); std::unordered_map<int, int> k; printf(\"%d\", *m);", "", "(?i)std|make_unique|namespace|unordered"),
)  # fmt: skip
MAKE = "cd $W/d; printf '@TEXT@' > Makefile; make"


def make(target: str, cause: str, also: tuple[str, ...], text: str, expect: str, before: str = "") -> Case:
    """A project with a makefile."""
    return cc(target, cause, also, "", "", expect, before + MAKE.replace("@TEXT@", text))


enter(
    "makefiles",
    make("compiler by a variable that is empty", PATH, (BUILD, COMPILER, OT, SET), "NVCC = $(CUDA_ROOT)/bin/nvcc\\nall:\\n\\t$(NVCC) -arch=sm_90 -o a main.cu && ./a\\n", "(?i)nvcc|not found"),
    make("compiler of a toolkit that was taken away", PATH, (BUILD, COMPILER, OT), "NVCC = /usr/local/cuda-11.4/bin/nvcc\\nall:\\n\\t$(NVCC) -o a main.cu\\n", "(?i)cuda-11.4"),
    make("library's folder of another system", BUILD, (LIB, PATH, OT), "all:\\n\\tnvcc -arch=sm_90 -o a main.cu -L/opt/cray/lib -lacme_fields\\n", "(?i)acme_fields"),
    make("source that is not there", BUILD, (OT, PATH), "a: main.o grid.o\\n\\tnvcc -o a main.o grid.o\\n%%.o: %%.cu\\n\\tnvcc -arch=sm_90 -c -o $@ $<\\n", "(?i)grid.o|No rule"),
    make("object of a text", BUILD, (OT, "install.corrupted"), "a:\\n\\techo stale > old.o\\n\\tnvcc -arch=sm_90 -o a main.cu old.o\\n", "(?i)old.o|format|syntax"),
    make("rule that ends by itself", OT, (BUILD,), "all:\\n\\tnvcc -arch=sm_90 -o a main.cu\\n\\t./a\\n\\ttest -f golden/field_0100.bin\\n", "(?i)Error 1"),
    make("two objects with the same function", BUILD, (OT,), "a:\\n\\tnvcc -arch=sm_90 -c -o x.o main.cu\\n\\tcp x.o y.o\\n\\tnvcc -o a x.o y.o\\n", "(?i)multiple definition|duplicate"),
    make("code for cards linked without its linker", BUILD, (OT,), "a:\\n\\tnvcc -arch=sm_90 -dc -o x.o main.cu\\n\\tg++ -o a x.o -L/usr/local/cuda/lib64 -lcudart\\n", "(?i)undefined reference|cudaRegister"),
)  # fmt: skip


def placed(target: str, setup: str, command: str, expect: str, user: str = "") -> Case:
    """A good program where the compiler cannot put its files."""
    one = cc(target, LIM, (BUILD, COMPILER, OT, PATH, SET), "", "", expect, command)
    return Case(one.needs, target, one.cause, one.also, code=one.code, setup=setup, command=command, user=user, expect=expect)  # fmt: skip


SMALL = "mkdir -p $W/k; mount -t tmpfs -o @HOW@ none $W/k || exit 97; chmod 777 $W/k"
enter(
    "compiler-places",
    placed("room for a few pages", SMALL.replace("@HOW@", "size=16k"), "TMPDIR=$W/k " + NVCC, "(?i)space|write|error|died"),
    placed("room for three names", SMALL.replace("@HOW@", "nr_inodes=3"), "TMPDIR=$W/k " + NVCC, "(?i)space|write|error|creat"),
    placed("result where nothing may be written", SMALL.replace("@HOW@", "ro"), "nvcc -arch=sm_90 -o $W/k/a $SCRIPT && $W/k/a", "(?i)read-only|cannot open|k/a"),
    placed("result where nothing may be started", SMALL.replace("@HOW@", "noexec"), "nvcc -arch=sm_90 -o $W/k/a $SCRIPT && $W/k/a", "(?i)denied"),
    placed("result's name is a folder", "mkdir -p $W/k/a", "nvcc -arch=sm_90 -o $W/k/a $SCRIPT && $W/k/a", "(?i)directory|k/a"),
    placed("source of somebody else", "mkdir -p $W/k; cp $D/main.cu $W/k/main.cu; chmod 600 $W/k/main.cu; chmod 755 $W/k", "nvcc -arch=sm_90 -o /dev/shm/a.$$ $W/k/main.cu", "(?i)denied|open|main.cu", "nobody"),
    placed("files of 20 kB at most", ":", "ulimit -f 20; " + NVCC, "(?i)large|signal|size|exceed|died|error|write"),
)  # fmt: skip
STAT = '#define ST(c) do { int r_ = (int)(c); if (r_) { fprintf(stderr, "[sim] %s -> status %d\\n", #c, r_); return 30; } } while (0)\n'


def status(target: str, cause: str, also: tuple[str, ...], body: str, header: str, library: str, expect: str = "status") -> Case:  # fmt: skip
    """A call of a toolkit's library whose status alone is told."""
    command = NVCC.replace("$SCRIPT &&", f"$SCRIPT {library} &&")
    return cc(target, cause, also, body, f"{header}\n{STAT}", expect, command)


RAND, SPARSE, SOLVER = "#include <curand.h>", "#include <cusparse.h>", "#include <cusolverDn.h>"
enter(
    "library-statuses",
    status("odd number of normal draws", SHA, (OT,), "curandGenerator_t g; ST(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT)); ST(curandGenerateNormal(g, d, 33, 0.f, 1.f));", RAND, "-lcurand"),
    status("generator for the host asked for the card's", SHA, (OT, ORD), "curandGenerator_t g; ST(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32)); ST(curandSetPseudoRandomGeneratorSeed(g, 7));", RAND, "-lcurand"),
    status("dimensions below one", SHA, (OT,), "curandGenerator_t g; ST(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32)); ST(curandSetQuasiRandomGeneratorDimensions(g, 0));", RAND, "-lcurand"),
    status("matrix with fewer than no entries", SHA, (OT,), "cusparseSpMatDescr_t m; ST(cusparseCreateCsr(&m, 4, 4, -8, d, d, d, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));", SPARSE, "-lcusparse"),
    status("sparse product without a handle", ORD, (OT, SHA), "cusparseDnVecDescr_t v; ST(cusparseCreateDnVec(&v, 16, d, CUDA_R_32F)); ST(cusparseSetStream(nullptr, 0));", SPARSE, "-lcusparse"),
    status("factors with too narrow rows", SHA, (OT,), "cusolverDnHandle_t h; int n; ST(cusolverDnCreate(&h)); ST(cusolverDnSgetrf_bufferSize(h, 16, 16, d, 4, &n));", SOLVER, "-lcusolver"),
    status("transform of a length beyond all", SHA, ("memory.oom", OT), "cufftHandle p; long long n[1] = {1ll << 45}; size_t w; ST(cufftCreate(&p)); ST(cufftMakePlanMany64(p, 1, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &w));", "#include <cufft.h>", "-lcufft"),
    status("ranks of a transform", SHA, (OT,), "cufftHandle p; int n[1] = {64}; ST(cufftPlanMany(&p, 7, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1));", "#include <cufft.h>", "-lcufft"),
    status("product of types that do not go together", SHA, (OT, UNSUP), "cublasHandle_t h; float one = 1; ST(cublasCreate(&h)); ST(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, d, CUDA_R_8I, 8, d, CUDA_R_64F, 8, &one, d, CUDA_R_16F, 8, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));", "#include <cublas_v2.h>", "-lcublas"),
    status("batch of unlike sizes", SHA, (OT,), "cublasHandle_t h; float one = 1; ST(cublasCreate(&h)); ST(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, 8, &one, d, 8, 64, d, 8, 64, &one, d, 4, 64, -3));", "#include <cublas_v2.h>", "-lcublas"),
    status("vector with no step", SHA, (OT,), "cublasHandle_t h; ST(cublasCreate(&h)); ST(cublasSetVector(64, 4, &h, 0, d, 0));", "#include <cublas_v2.h>", "-lcublas"),
)  # fmt: skip
ML = "#include <nvml.h>"
enter(
    "compilers-and-watchers-by-call",
    status("NVML: fifth card", SEL, (OT,), "nvmlDevice_t v; ST(nvmlInit_v2()); ST(nvmlDeviceGetHandleByIndex_v2(4, &v));", ML, "-lnvidia-ml"),
    status("NVML: before it is begun", ORD, (OT,), "unsigned n; ST(nvmlDeviceGetCount_v2(&n));", ML, "-lnvidia-ml"),
    status("NVML: card by a name", SEL, (OT, SHA), 'nvmlDevice_t v; ST(nvmlInit_v2()); ST(nvmlDeviceGetHandleByUUID("GPU-00000000-1111-2222-3333-444444444444", &v));', ML, "-lnvidia-ml"),
    status("NVML: fan that the card has not", OT, (SHA, SEL, UNSUP), "nvmlDevice_t v; unsigned s; ST(nvmlInit_v2()); ST(nvmlDeviceGetHandleByIndex_v2(0, &v)); ST(nvmlDeviceGetFanSpeed_v2(v, 9, &s));", ML, "-lnvidia-ml"),
    status("NVRTC: option that nobody knows", BUILD, (SET, COMPILER, OT), 'nvrtcProgram p; const char* o[] = {"--fast-as-light"}; ST(nvrtcCreateProgram(&p, "__global__ void k() {}", "k.cu", 0, nullptr, nullptr)); ST(nvrtcCompileProgram(p, 1, o));', "#include <nvrtc.h>", "-lnvrtc"),
    status("NVRTC: header not given", BUILD, (COMPILER, OT, PATH), 'nvrtcProgram p; ST(nvrtcCreateProgram(&p, "#include \\"phys.cuh\\"\\n__global__ void k() {}", "k.cu", 0, nullptr, nullptr)); nvrtcResult r = nvrtcCompileProgram(p, 0, nullptr); size_t n; nvrtcGetProgramLogSize(p, &n); std::vector<char> l(n); nvrtcGetProgramLog(p, l.data()); if (r) fprintf(stderr, "%s", l.data()); ST(r);', "#include <nvrtc.h>", "-lnvrtc"),
    status("NVRTC: code asked for before compiling", ORD, (BUILD, OT), 'nvrtcProgram p; size_t n; ST(nvrtcCreateProgram(&p, "__global__ void k() {}", "k.cu", 0, nullptr, nullptr)); ST(nvrtcGetPTXSize(p, &n)); ST(n > 2 ? 0 : 97); std::vector<char> c(n); ST(nvrtcGetCUBIN(p, c.data()));', "#include <nvrtc.h>", "-lnvrtc"),
    status("nvJitLink: card nobody has", BUILD, (UNSUP, COMPILER, OT), 'nvJitLinkHandle h; const char* o[] = {"-arch=sm_777"}; ST(nvJitLinkCreate(&h, 1, o));', "#include <nvJitLink.h>", "-lnvJitLink"),
    cc("profiler started twice by the driver", ORD, (OT, SHA), "DR(cuCtxSynchronize()); CUcontext c; DR(cuCtxGetCurrent(&c)); DR(cuCtxDestroy(c)); DR(cuCtxSynchronize());", DRV, command=NVCC.replace("$SCRIPT &&", "$SCRIPT -lcuda &&")),
)  # fmt: skip

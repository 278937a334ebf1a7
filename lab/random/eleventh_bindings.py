"""Eleventh operators, NVIDIA's libraries by ctypes beside torch: cuBLAS, cuFFT, cuSOLVER, cuSPARSE, cuRAND, NVRTC, nvJitLink, cuDNN's graphs, NVML, CUPTI."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    BUILD,
    COMPILER,
    ILL,
    LIB,
    NCCL,
    ORD,
    OT,
    SEL,
    SHA,
    UNSUP,
    Case,
    enter,
    py,
)

HEAD = """import ctypes, glob, os, sysconfig
import torch
x = torch.ones(256, 256, device='cuda')
torch.cuda.synchronize()
print('torch works', flush=True)
P, S, I, B = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.byref
def lib(name):
    for line in open('/proc/self/maps'):
        if '/' + name + '.so' in line:
            return ctypes.CDLL(line.split()[-1])
    site = sysconfig.get_paths()['purelib']
    found = sorted(glob.glob(os.path.join(site, 'nvidia', '*', 'lib', name + '.so*')))
    return ctypes.CDLL(found[0] if found else name + '.so')
class Failed(RuntimeError):
    pass
def do(l, call, *a):
    e = getattr(l, call)(*a)
    if e:
        raise Failed(f'{call} returned {e}')
d = P(x.data_ptr())
"""
NEED = "torch-graph"


def own(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "returned") -> Case:
    """A user's own binding to a library of NVIDIA's, beside torch."""
    return py(NEED, target, cause, also, HEAD + body, expect)


BLAS = "torch.mm(x, x)\nb = lib('libcublas')\nh = P()\ndo(b, 'cublasCreate_v2', B(h))\none = ctypes.c_float(1)\n"
enter(
    "cublas-by-ctypes",
    own("leading size below the rows", SHA, (OT,), BLAS + "do(b, 'cublasSgemm_v2', h, 0, 0, 64, 64, 64, B(one), d, 8, d, 64, B(one), d, 64)\n"),
    own("fewer rows than none", SHA, (OT,), BLAS + "do(b, 'cublasSgemm_v2', h, 0, 0, -4, 64, 64, B(one), d, 64, d, 64, B(one), d, 64)\n"),
    own("handle never made", ORD, (SHA, OT), BLAS + "do(b, 'cublasSscal_v2', None, 8, B(one), d, 1)\n"),
    own("operation that is none", SHA, (OT,), BLAS + "do(b, 'cublasSgemm_v2', h, 7, 0, 8, 8, 8, B(one), d, 8, d, 8, B(one), d, 8)\n"),
    own("answer wanted on the card, given on the host's side", ILL, (SHA,), BLAS + "do(b, 'cublasSetPointerMode_v2', h, 1)\nr = P(0x10)\ndo(b, 'cublasSasum_v2', h, 4096, d, 1, r)\ntorch.cuda.synchronize()\n", "(?i)returned|illegal|CUDA error"),
    own("mode of mathematics nobody knows", SHA, (OT,), BLAS + "do(b, 'cublasSetMathMode', h, 4711)\n"),
)  # fmt: skip
FFT = "torch.fft.rfft(x)\nf = lib('libcufft')\np = I()\n"
enter(
    "cufft-by-ctypes",
    own("kind of transform nobody knows", SHA, (OT,), FFT + "do(f, 'cufftPlan1d', B(p), 256, 0x99, 1)\n"),
    own("no batch", SHA, (OT,), FFT + "do(f, 'cufftPlan1d', B(p), 256, 0x29, 0)\n"),
    own("rank four", SHA, (OT,), FFT + "n = (I * 4)(8, 8, 8, 8)\ndo(f, 'cufftPlanMany', B(p), 4, n, None, 1, 0, None, 1, 0, 0x29, 1)\n"),
    own("plan of another number", ORD, (SHA, OT), FFT + "do(f, 'cufftExecC2C', 4711, d, d, -1)\n"),
    own("two sides of a plan for one", SHA, (OT, ORD), FFT + "do(f, 'cufftPlan1d', B(p), 256, 0x2a, 1)\ndo(f, 'cufftExecC2C', p, d, d, 5)\n"),
    own("sizes asked of no plan", ORD, (SHA, OT), FFT + "w = S()\ndo(f, 'cufftGetSize', 99, B(w))\n"),
)  # fmt: skip
SOL = "torch.linalg.eigh(torch.eye(8, device='cuda'))\ntorch.linalg.cholesky(torch.eye(700, device='cuda'))\ns = lib('libcusolver')\nh = P()\ndo(s, 'cusolverDnCreate', B(h))\nw = I()\n"
enter(
    "cusolver-by-ctypes",
    own("rows apart too little", SHA, (OT,), SOL + "do(s, 'cusolverDnSpotrf_bufferSize', h, 0, 64, d, 8, B(w))\n"),
    own("matrix of minus one", SHA, (OT,), SOL + "do(s, 'cusolverDnSgetrf_bufferSize', h, -1, 8, d, 8, B(w))\n"),
    own("handle of another library", ORD, (SHA, ILL, OT), SOL + "do(s, 'cusolverDnSgetrf_bufferSize', None, 8, 8, d, 8, B(w))\n"),
    own("not positive, told by the library", OT, (SHA,), SOL + "a = -torch.eye(8, device='cuda')\ni = torch.zeros(1, dtype=torch.int32, device='cuda')\nwork = torch.zeros(1 << 16, device='cuda')\ndo(s, 'cusolverDnSpotrf', h, 0, 8, P(a.data_ptr()), 8, P(work.data_ptr()), 1 << 16, P(i.data_ptr()))\nif i.item():\n    raise Failed(f'cusolverDnSpotrf: leading minor {i.item()} is not positive definite')\n", "leading minor"),
)  # fmt: skip
SPA = "sp = lib('libcusparse')\nh, m = P(), P()\ndo(sp, 'cusparseCreate', B(h))\nL = ctypes.c_int64\n"
enter(
    "cusparse-by-ctypes",
    own("kind of index nobody knows", SHA, (OT,), SPA + "do(sp, 'cusparseCreateCsr', B(m), L(4), L(4), L(4), d, d, d, 9, 9, 0, 0)\n"),
    own("fewer rows than none", SHA, (OT,), SPA + "do(sp, 'cusparseCreateCsr', B(m), L(-4), L(4), L(4), d, d, d, 2, 2, 0, 0)\n"),
    own("dense matrix of a narrow row", SHA, (OT,), SPA + "do(sp, 'cusparseCreateDnMat', B(m), L(64), L(64), L(2), d, 0, 1)\n"),
    own("version asked without a handle", ORD, (SHA, OT), SPA + "v = I()\ndo(sp, 'cusparseGetVersion', None, B(v))\n"),
)  # fmt: skip
RND = "r = lib('libcurand')\ng = P()\n"
enter(
    "curand-by-ctypes",
    own("generator nobody knows", SHA, (OT,), RND + "do(r, 'curandCreateGenerator', B(g), 4711)\n"),
    own("seed of an order without any", SHA, (ORD, OT), RND + "do(r, 'curandCreateGenerator', B(g), 200)\ndo(r, 'curandSetPseudoRandomGeneratorSeed', g, ctypes.c_ulonglong(7))\n"),
    own("odd number of pairs", SHA, (OT,), RND + "do(r, 'curandCreateGenerator', B(g), 100)\ndo(r, 'curandGenerateNormal', g, d, S(7), ctypes.c_float(0), ctypes.c_float(1))\n"),
    own("order of the numbers nobody knows", SHA, (OT,), RND + "do(r, 'curandCreateGenerator', B(g), 100)\ndo(r, 'curandSetGeneratorOrdering', g, 4711)\n"),
)  # fmt: skip
RTC = "n = lib('libnvrtc')\np = P()\ndef make(src, *opts):\n    do(n, 'nvrtcCreateProgram', B(p), src.encode(), b'k.cu', 0, None, None)\n    o = (ctypes.c_char_p * len(opts))(*[s.encode() for s in opts])\n    e = n.nvrtcCompileProgram(p, len(opts), o)\n    if e:\n        size = S()\n        n.nvrtcGetProgramLogSize(p, B(size))\n        log = ctypes.create_string_buffer(size.value)\n        n.nvrtcGetProgramLog(p, log)\n        raise Failed('kernel could not be built:\\n' + log.value.decode())\nGOOD = 'extern \"C\" __global__ void k(float* p) { p[0] = 1; }'\n"
enter(
    "nvrtc-by-ctypes",
    own("card by its marketing name", BUILD, (UNSUP, OT, SHA), RTC + "make(GOOD, '--gpu-architecture=h200')\n", "(?i)gpu-architecture|could not be built"),
    own("header of the standard library", BUILD, (COMPILER, "env.path", OT), RTC + "make('#include <vector>\\n' + GOOD, '-arch=sm_90')\n", "(?i)vector"),
    own("header of the toolkit without its folder", BUILD, ("env.path", COMPILER, OT), RTC + "make('#include <cooperative_groups.h>\\n' + GOOD, '-arch=sm_90')\n", "(?i)cooperative_groups"),
    own("type of the standard library", BUILD, (OT,), RTC + "make('extern \"C\" __global__ void k(std::size_t* p) { p[0] = 1; }', '-arch=sm_90')\n", "(?i)std|namespace"),
    own("host's own code in it", BUILD, (OT,), RTC + "make(GOOD + ' int main() { k<<<1, 1>>>(0); return printf(\"x\"); }', '-arch=sm_90', '-default-device')\n", "(?i)error|could not"),
    own("name never registered", ORD, (BUILD, OT, SHA), RTC + "make(GOOD, '-arch=sm_90')\nq = ctypes.c_char_p()\ndo(n, 'nvrtcGetLoweredName', p, b'step<float>', B(q))\n"),
    own("code asked of a text only", ORD, (BUILD, OT, SHA), RTC + "do(n, 'nvrtcCreateProgram', B(p), GOOD.encode(), b'k.cu', 0, None, None)\nz = S()\ndo(n, 'nvrtcGetCUBINSize', p, B(z))\n"),
)  # fmt: skip
JIT = "j = lib('libnvJitLink')\nver = next(v for v in ('13_0', '12_9', '12_8', '12_6', '12_4') if hasattr(j, '__nvJitLinkCreate_' + v))\nh = P()\ndef jl(call, *a):\n    e = getattr(j, f'__nvJitLink{call}_{ver}')(*a)\n    if e:\n        size = S()\n        words = b''\n        if h.value and not getattr(j, f'__nvJitLinkGetErrorLogSize_{ver}')(h, B(size)) and size.value:\n            buf = ctypes.create_string_buffer(size.value)\n            getattr(j, f'__nvJitLinkGetErrorLog_{ver}')(h, buf)\n            words = buf.value\n        raise Failed(f'nvJitLink{call} returned {e}: {words.decode()}')\ndef begin(*opts):\n    jl('Create', B(h), ctypes.c_uint32(len(opts)), (ctypes.c_char_p * len(opts))(*[o.encode() for o in opts]))\n"
PTX = "t = b'.version 8.0\\n.target sm_80\\n.address_size 64\\n.extern .func (.param .b32 r) flux(.param .b32 a);\\n.visible .entry k() { .param .b32 a; .param .b32 r; st.param.b32 [a], 1; call.uni (r), flux, (a); ret; }\\n'\n"
enter(
    "nvjitlink-by-ctypes",
    own("no card told", BUILD, (SHA, OT, SEL), JIT + "begin('-O3')\n"),
    own("option misspelt", BUILD, (SHA, OT), JIT + "begin('-arch=sm_90', '-ltoo')\n"),
    own("function that no part has", BUILD, (OT, LIB), JIT + PTX + "begin('-arch=sm_90')\njl('AddData', h, 2, t, S(len(t)), b'step.ptx')\njl('Complete', h)\n", "(?i)returned|flux"),
    own("text with a slip", BUILD, (OT, "install.corrupted"), JIT + "begin('-arch=sm_90')\nt = b'.version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { movv.u32 %r1; }\\n'\njl('AddData', h, 2, t, S(len(t)), b'step.ptx')\njl('Complete', h)\n"),
    own("binary of another card", UNSUP, (BUILD, OT, "install.corrupted"), JIT + "begin('-arch=sm_90')\nt = b'not an image of any kind' * 9\njl('AddData', h, 1, t, S(len(t)), b'step.cubin')\njl('Complete', h)\n"),
    own("file that is not there", OT, (BUILD, "env.path"), JIT + "begin('-arch=sm_90')\njl('AddFile', h, 10, b'build/step.ltoir')\n"),
)  # fmt: skip
DNN = "torch.nn.functional.conv2d(torch.ones(1, 1, 8, 8, device='cuda'), torch.ones(1, 1, 3, 3, device='cuda'))\nc = lib('libcudnn')\nc.cudnnGetErrorString.restype = ctypes.c_char_p\ndef dnn(call, *a):\n    e = getattr(c, call)(*a)\n    if e:\n        words = ctypes.create_string_buffer(512)\n        c.cudnnGetLastErrorString(words, S(512))\n        raise Failed(f'{call}: {c.cudnnGetErrorString(e).decode()} ({e}): {words.value.decode()}')\nh, t = P(), P()\ndnn('cudnnCreate', B(h))\nL = ctypes.c_int64\n"
STATUS = "CUDNN_STATUS"
enter(
    "cudnn-graphs-by-ctypes",
    own("description finished while empty", ORD, (SHA, OT), DNN + "dnn('cudnnBackendCreateDescriptor', 15, B(t))\ndnn('cudnnBackendFinalize', t)\n", STATUS),
    own("kind of description nobody knows", SHA, (OT,), DNN + "dnn('cudnnBackendCreateDescriptor', 4711, B(t))\n", STATUS),
    own("five sizes and four steps", SHA, (OT, ORD), DNN + "dnn('cudnnBackendCreateDescriptor', 15, B(t))\nv = (L * 4)(1, 1, 8, 8)\nu, ty, al = L(7), I(0), L(16)\ndnn('cudnnBackendSetAttribute', t, 906, 3, L(1), B(u))\ndnn('cudnnBackendSetAttribute', t, 901, 1, L(1), B(ty))\ndnn('cudnnBackendSetAttribute', t, 900, 3, L(1), B(al))\ndnn('cudnnBackendSetAttribute', t, 902, 3, L(4), v)\ndnn('cudnnBackendSetAttribute', t, 903, 3, L(9), v)\ndnn('cudnnBackendFinalize', t)\n", STATUS),
    own("plan carried out that was never made", ORD, (SHA, OT), DNN + "dnn('cudnnBackendCreateDescriptor', 12, B(t))\ndnn('cudnnBackendExecute', h, t, t)\n", STATUS),
    own("chance of more than one", SHA, (OT,), DNN + "dnn('cudnnCreateDropoutDescriptor', B(t))\nz = S()\ndnn('cudnnDropoutGetStatesSize', h, B(z))\ndnn('cudnnSetDropoutDescriptor', t, h, ctypes.c_float(1.5), d, z, ctypes.c_ulonglong(1))\n", STATUS),
    own("pooling over minus two", SHA, (OT,), DNN + "dnn('cudnnCreatePoolingDescriptor', B(t))\ndnn('cudnnSetPooling2dDescriptor', t, 0, 0, -2, -2, 0, 0, 1, 1)\n", STATUS),
)  # fmt: skip
enter(
    "cupti-and-marks",
    own("watcher of a kind nobody knows", SHA, (OT, ORD), "c = lib('libcupti')\ndo(c, 'cuptiActivityEnable', 4711)\n"),
    own("records wanted before any place for them", ORD, (OT, SHA), "c = lib('libcupti')\ndo(c, 'cuptiActivityRegisterCallbacks', None, None)\n"),
    own("second watcher of one program", ORD, (OT, "device.busy"), "c = lib('libcupti')\ns, t = P(), P()\nF = ctypes.CFUNCTYPE(None, P, I, I, P)\nf = F(lambda *a: None)\ndo(c, 'cuptiSubscribe', B(s), f, None)\ndo(c, 'cuptiSubscribe', B(t), f, None)\n"),
    own("time asked of a context that is none", ORD, (SHA, OT), "c = lib('libcupti')\nt = ctypes.c_uint64()\ndo(c, 'cuptiDeviceGetTimestamp', P(0), B(t))\n"),
)  # fmt: skip
NV = "nv = ctypes.CDLL('libnvidia-ml.so.1')\ndo(nv, 'nvmlInit_v2')\ng, u = P(), ctypes.c_uint()\n"
enter(
    "nvml-by-ctypes",
    own("card by a foreign name", SEL, (OT,), NV + "do(nv, 'nvmlDeviceGetHandleByUUID', b'GPU-00000000-1111-2222-3333-444444444444', B(g))\n"),
    own("card on a bus that is none", SEL, (OT,), NV + "do(nv, 'nvmlDeviceGetHandleByPciBusId_v2', b'0000:FE:00.0', B(g))\n"),
    own("slice of a card that is whole", SEL, (OT, "device.busy", SHA, UNSUP), NV + "do(nv, 'nvmlDeviceGetHandleByIndex_v2', 0, B(g))\nm = P()\ndo(nv, 'nvmlDeviceGetMigDeviceHandleByIndex', g, 3, B(m))\n"),
    own("used after it was ended", ORD, (OT,), NV + "do(nv, 'nvmlShutdown')\ndo(nv, 'nvmlDeviceGetCount_v2', B(u))\n"),
    own("clock of a kind nobody knows", SHA, (OT, UNSUP), NV + "do(nv, 'nvmlDeviceGetHandleByIndex_v2', 0, B(g))\ndo(nv, 'nvmlDeviceGetClockInfo', g, 77, B(u))\n"),
)  # fmt: skip
NC = "nc = ctypes.CDLL('libnccl.so.2') if not any('libnccl' in l for l in open('/proc/self/maps')) else lib('libnccl')\nclass Id(ctypes.Structure):\n    _fields_ = [('b', ctypes.c_char * 128)]\nu, comm = Id(), P()\nnc.ncclCommInitRank.argtypes = [P, I, Id, I]\ndo(nc, 'ncclGetUniqueId', B(u))\ndo(nc, 'ncclCommInitRank', B(comm), 1, u, 0)\n"
enter(
    "nccl-windows-and-splits",
    own("sends to a rank that is none", NCCL, (SHA, OT, ORD), NC + "do(nc, 'ncclSend', d, S(64), 7, 5, comm, None)\n"),
    own("own sum of no kind", NCCL, (SHA, OT), NC + "op, v = I(), ctypes.c_float(2)\ndo(nc, 'ncclRedOpCreatePreMulSum', B(op), B(v), 99, 1, comm)\n"),
    own("memory of the host in a collective", NCCL, (SHA, ILL, OT), "import os\nos.environ['NCCL_CHECK_POINTERS'] = '1'\n" + NC + "h = ctypes.create_string_buffer(4096)\ndo(nc, 'ncclAllReduce', h, h, S(64), 7, 0, comm, None)\n"),
    own("no communicator", NCCL, (SHA, ORD, OT), NC + "do(nc, 'ncclAllReduce', d, d, S(64), 7, 0, None, None)\n"),
    own("ended twice", NCCL, (ORD, OT, ILL), NC + "do(nc, 'ncclCommDestroy', comm)\ndo(nc, 'ncclAllReduce', d, d, S(64), 7, 0, comm, None)\n", "(?i)returned|Segmentation|core dumped|Abort"),
)  # fmt: skip

"""Thirteenth operators, C++ programs that tell of the runtime's errors in the words of more well-known programs.

Every kind of failure is real; only the way of telling it differs: Darknet, Caffe, MXNet, Kaldi, Fortran's and OpenACC's runtimes,
decoders of video, renderers, miners and crackers, searchers, servers, Java, .NET, MATLAB, PyTorch's C++, Paddle, simulations.
"""

from __future__ import annotations

from lab.random.eleventh import HOST, IDX, ILL, LAU, NVCC, OOM, ORD, SEL, SHA, UNSUP, Case
from lab.random.thirteenth import enter

HEAD = "#include <cassert>\n#include <cstdio>\n#include <cstdlib>\n#include <stdexcept>\n#include <string>\n#include <cuda_runtime.h>\n__global__ void warm(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }\n"
SEE = " CK(cudaGetLastError()); CK(cudaDeviceSynchronize());"
AMPERE = "nvcc -gencode arch=compute_80,code=sm_80 -o $W/a $SCRIPT && $W/a"
KINDS: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    "past": (ILL, (), "__global__ void k(float* p, long long n) { p[n * n] = 1; }\n", "k<<<1, 32>>>(d, 1ll << 19);" + SEE),
    "atomic": (ILL, (), "__global__ void k(float* p) { atomicAdd(p - (1ll << 36), 1.f); }\n", "k<<<4, 32>>>(d);" + SEE),
    "odd": (ILL, (SHA,), "__global__ void k(char* p) { *(double2*)(p + 8) = make_double2(1, 2); }\n", "k<<<1, 1>>>((char*)d);" + SEE),
    "async": (OOM, (), "", "void* q; CK(cudaMallocAsync(&q, 800ull << 30, 0));"),
    "pitched": (OOM, (), "", "void* q; size_t p; CK(cudaMallocPitch(&q, &p, 1 << 20, 1 << 20));"),
    "cube": (OOM, (), "", "cudaPitchedPtr q; CK(cudaMalloc3D(&q, make_cudaExtent(16384, 8192, 8192)));"),
    "deep": (LAU, (), "", "warm<<<1, dim3(8, 8, 80)>>>(d, 64);" + SEE),
    "rows": (LAU, (), "", "warm<<<dim3(1, 99999), 64>>>(d, 64);" + SEE),
    "room": (LAU, (), "", "warm<<<4, 64, 240 << 10>>>(d, 64);" + SEE),
    "option": (LAU, (SHA,), "", "CK(cudaFuncSetAttribute(warm, cudaFuncAttributeMaxDynamicSharedMemorySize, 512 << 10));"),
    "card": (SEL, (), "", "CK(cudaSetDevice(3));"),
    "lookup": (SEL, (), "", "cudaDeviceProp p; CK(cudaGetDeviceProperties(&p, 2));"),
    "assert": (IDX, (ILL,), "__global__ void k(float* p, int label, int classes) { assert(label >= 0 && label < classes); p[label] = 1; }\n", "k<<<1, 1>>>(d, 1000, 10);" + SEE),
    "captured": (ORD, (), "", "cudaStream_t s; CK(cudaStreamCreate(&s)); CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); CK(cudaDeviceSynchronize());"),
    "never": (ORD, (SHA,), "", "cudaEvent_t a, b; float t; CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b)); CK(cudaEventElapsedTime(&t, a, b));"),
    "pinned": (HOST, (OOM,), "", "void* q; CK(cudaHostAlloc(&q, 60ull << 40, cudaHostAllocPortable));"),
    "kind": (SHA, (ILL,), "", "float h[4]; CK(cudaMemcpy(d, h, sizeof h, (cudaMemcpyKind)9));"),
    "other": (UNSUP, (), "", "warm<<<4, 64>>>(d, 256);" + SEE),
}  # fmt: skip
"""What goes wrong: the cause, its neighbours, what stands above main, what main does."""


def style(name: str, macro: str, kinds: str, expect: str) -> tuple[Case, ...]:
    """The kinds of failure as one program tells them; `macro` has `c` for the call and `e_` for the error."""
    cases = []
    for kind in kinds.split():
        cause, also, top, body = KINDS[kind]
        first = "" if kind == "other" else "warm<<<64, 256>>>(d, 1 << 14);" + SEE
        code = f'{HEAD}{top}#define CK(c) do {{ cudaError_t e_ = (c); if (e_ != cudaSuccess) {{ {macro} }} }} while (0)\nint main() {{\n  float* d; CK(cudaMalloc(&d, 1 << 20)); {first} printf("started\\n"); fflush(stdout);\n  {body}\n  printf("finished\\n"); return 0; }}\n'
        cases.append(Case("cpp-add", f"{name}: {kind}", cause, also, code=code, command=AMPERE if kind == "other" else NVCC, expect=expect))  # fmt: skip
    return tuple(cases)


NAME, TEXT = "cudaGetErrorName(e_)", "cudaGetErrorString(e_)"
enter(
    "cpp-tells-like-older-frameworks",
    *style("Darknet", f'fprintf(stderr, "CUDA status Error: file: ./src/dark_cuda.c : () : line: %d : build time: Nov 16 2026 - 04:12:07\\n\\n CUDA Error: %s\\nCUDA Error: %s: File exists\\n", __LINE__, {TEXT}, {TEXT}); exit(255);', "past pitched card other", "CUDA Error"),
    *style("Caffe", f'fprintf(stderr, "F1116 04:12:07.551203  2207 syncedmem.cpp:%d] Check failed: error == cudaSuccess (%d vs. 0)  %s\\n*** Check failure stack trace: ***\\nAborted (core dumped)\\n", __LINE__, (int)e_, {TEXT}); abort();', "cube atomic rows", "Check failed"),
    *style("MXNet", f'throw std::runtime_error("[04:12:07] src/storage/./pooled_storage_manager.h:" + std::to_string(__LINE__) + ": cudaMalloc retry failed: " + {TEXT} + "\\nStack trace:\\n  [bt] (0) /lib/libmxnet.so(+0x6b8b5b) [0x7f1c0a6b8b5b]");', "async pitched", "retry failed"),
    *style("Kaldi", f'fprintf(stderr, "ERROR (nnet3-train[5.5]:CuDevice::call():cu-device.cc:%d) cudaError_t %d : \\"%s\\" returned from \'%s\'\\n\\n[ Stack-Trace: ]\\nkaldi::MessageLogger::LogMessage() const\\n", __LINE__, (int)e_, {TEXT}, #c); exit(255);', "odd captured pinned lookup", "cudaError_t"),
)  # fmt: skip
enter(
    "cpp-tells-like-fortran",
    *style("CUDA Fortran", f'fprintf(stderr, "0: %s: %d(%s)\\n", #c, (int)e_, {TEXT}); exit(127);', "past rows pinned other", "(?m)^0: cuda"),
    *style("OpenACC", f'fprintf(stderr, "Failing in Thread:1\\nAccelerator Fatal Error: call to cuStreamSynchronize returned error %d (%s): %s\\n File: /src/advec_cell.f90\\n Function: advec_cell:%d\\n", (int)e_, {NAME}, {TEXT}, __LINE__); exit(1);', "past atomic odd", "Accelerator Fatal"),
    *style("OpenACC memory", f'fprintf(stderr, "Out of memory allocating 858993459200 bytes of device memory\\ntotal/free CUDA memory: 150109880320/148970340352\\nAccelerator Fatal Error: call to cuMemAlloc returned error %d (%s): Out of memory\\n File: /src/build_field.f90\\n", (int)e_, {NAME}); exit(1);', "async", "Accelerator Fatal"),
)  # fmt: skip
enter(
    "cpp-tells-like-video",
    *style("FFmpeg", f'fprintf(stderr, "[AVHWDeviceContext @ 0x55d0c5c3e2c0] %s failed -> %s: %s\\nDevice creation failed: -542398533.\\n[h264 @ 0x55d0c5c1a3c0] No device available for decoder: device type cuda needed for codec h264.\\nError opening output files: Generic error in an external library\\n", #c, {NAME}, {TEXT}); exit(187);', "card lookup async", "AVHWDeviceContext"),
    *style("GStreamer", f'fprintf(stderr, "ERROR: from element /GstPipeline:pipeline0/GstCudaUpload:up: CUDA call failed: %s, %s\\nAdditional debug info:\\n../gst-libs/gst/cuda/gstcudautils.cpp(%d): _gst_cuda_debug ()\\nERROR: pipeline doesn\'t want to preroll.\\n", {NAME}, {TEXT}, __LINE__); exit(1);', "odd pitched kind", "CUDA call failed"),
    *style("DeepStream", f'fprintf(stderr, "CUDA failure:  status=%d in %s at line %d\\n0:00:04.118 2207 ERROR nvinfer gstnvinfer.cpp:676: Error in NvDsInferContextImpl: (%s)\\n", (int)e_, "nvinfer", __LINE__, {TEXT}); exit(1);', "past other assert", "CUDA failure"),
)  # fmt: skip
enter(
    "cpp-tells-like-renderers",
    *style("Cycles", f'fprintf(stderr, "ERROR (cycles): %s in %s (/build/intern/cycles/device/cuda/device_impl.cpp:%d)\\n\\nRefer to the Cycles GPU rendering documentation for possible solutions.\\nError: %s\\n", {TEXT}, #c, __LINE__, {TEXT}); exit(1);', "past cube room", "cycles"),
    *style("OptiX", f'fprintf(stderr, "[ 2][       ERROR]: Error launching work to RTX\\n\\tcuda call (%s ) failed with code %d (line %d)\\nCaught exception: CUDA error on synchronize with error \'%s\'\\n", #c, (int)e_, __LINE__, {TEXT}); exit(1);', "odd atomic deep", "cuda call"),
    *style("Mitsuba", f'fprintf(stderr, "Critical Dr.Jit compiler failure: cuda_check(): API error %04d (%s): \\"%s\\" in core/init.cpp:%d.\\n", (int)e_, {NAME}, {TEXT}, __LINE__); abort();', "past async captured", "Critical"),
)  # fmt: skip
enter(
    "cpp-tells-like-crackers-and-searchers",
    *style("hashcat", f'fprintf(stderr, "* Device #1: ATTENTION! %s(): %d\\n\\nStarted: Mon Nov 16 04:12:07 2026\\nStopped: Mon Nov 16 04:12:08 2026\\n", {NAME}, (int)e_); exit(255);', "async room past", "ATTENTION"),
    *style("miner", f'fprintf(stderr, " m 04:12:07 cuda-0   CUDA error in func search at line %d : %s.\\n cu 04:12:07 cuda-0   terminating\\n", __LINE__, {TEXT}); exit(1);', "past deep cube", "CUDA error in func"),
    *style("Faiss", f'throw std::runtime_error("Error in virtual void* faiss::gpu::StandardGpuResourcesImpl::allocMemory(const faiss::gpu::AllocRequest&) at StandardGpuResources.cpp:" + std::to_string(__LINE__) + ": Error: \'err == cudaSuccess\' failed: StandardGpuResources: alloc fail type IVFLists dev 0 space Device stream 0x0 size 858993459200 bytes (cudaMalloc error " + {TEXT} + " [" + std::to_string((int)e_) + "])");', "async pitched", "alloc fail"),
    *style("Faiss asserts", f'fprintf(stderr, "Faiss assertion \'err__ == cudaSuccess\' failed in void faiss::gpu::runL2Norm() at L2Norm.cu:%d; details: CUDA error %d %s\\n", __LINE__, (int)e_, {TEXT}); abort();', "odd rows other", "Faiss assertion"),
)  # fmt: skip
enter(
    "cpp-tells-like-servers",
    *style("Triton server", f'fprintf(stderr, "E1116 04:12:07.551 2207 model_repository_manager.cc:%d] failed to load \'embed\' version 1: Internal: unable to create stream for embed_0: %s\\nerror: creating server: Internal - failed to load all models\\n", __LINE__, {TEXT}); exit(1);', "card async other", "failed to load"),
    *style("ONNX Runtime", f'throw std::runtime_error("Non-zero status code returned while running FusedConv node. Name:\'Conv_12\' Status Message: /onnxruntime_src/onnxruntime/core/providers/cuda/cuda_call.cc:" + std::to_string(__LINE__) + " CUDA failure " + std::to_string((int)e_) + ": " + {TEXT} + " ; GPU=0 ; hostname=gpu-07 ; expr=" #c ";");', "past cube captured", "CUDA failure"),
    *style("FasterTransformer", f'throw std::runtime_error(std::string("[FT][ERROR] CUDA runtime error: ") + {TEXT} + " /src/fastertransformer/utils/allocator.h:" + std::to_string(__LINE__) + " \\n");', "async atomic option", "FT"),
    *style("CTranslate2", f'throw std::runtime_error(std::string("CUDA failed with error ") + {TEXT});', "pitched odd other", "CUDA failed with error"),
)  # fmt: skip
enter(
    "cpp-tells-like-other-runtimes",
    *style("JCuda", f'fprintf(stderr, "Exception in thread \\"main\\" jcuda.CudaException: %s\\n\\tat jcuda.runtime.JCuda.checkResult(JCuda.java:469)\\n\\tat com.acme.Solver.step(Solver.java:%d)\\n", {NAME}, __LINE__); exit(1);', "past async card", "CudaException"),
    *style("ILGPU", f'fprintf(stderr, "Unhandled exception. ILGPU.Runtime.Cuda.CudaException (0x80004005): %s\\n   at ILGPU.Runtime.Cuda.CudaException.ThrowIfFailed(CudaError cudaStatus)\\n   at Acme.Program.Main(String[] args) in Program.cs:line %d\\n", {TEXT}, __LINE__); abort();', "rows pinned odd", "Unhandled exception"),
    *style("MATLAB", f'fprintf(stderr, "Error using gpuArray/subsref\\nAn unexpected error occurred during CUDA execution. The CUDA error was:\\n%s\\n", {NAME}); exit(1);', "past deep", "The CUDA error was"),
    *style("R", f'fprintf(stderr, "Error in gpu_solve(A, b) : CUDA error %d: %s\\nCalls: main -> gpu_solve\\nExecution halted\\n", (int)e_, {TEXT}); exit(1);', "async kind lookup", "Execution halted"),
    *style("OCaml", f'fprintf(stderr, "Fatal error: exception Cudajit.Cuda_error(%s)\\nRaised at Mesh.step in file \\"mesh.ml\\", line %d\\n", {NAME}, __LINE__); exit(2);', "atomic never", "Fatal error"),
)  # fmt: skip
enter(
    "cpp-tells-like-science",
    *style("AMBER", f'fprintf(stderr, "%s failed %s\\n", #c, {TEXT}); exit(255);', "past async option", "failed"),
    *style("LAMMPS", 'fprintf(stderr, "Cuda driver error %d in call at file \'lib/gpu/geryon/nvd_timer.h\' in line %d.\\n--------------------------------------------------------------------------\\nMPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\\nwith errorcode -1.\\n", (int)e_, __LINE__); exit(255);', "past odd", "Cuda driver error"),
    *style("VASP", f'fprintf(stderr, " ----------------------------------------------------------------------------- \\n|     EEEEEEE  RRRRRR   RRRRRR   OOOOO   RRRRRR                              |\\n|   CUDA Error in cuda_mem.cu, line %d: %s                     |\\n|         ---->  I REFUSE TO CONTINUE WITH THIS SICK JOB ... BYE!!! <----    |\\n", __LINE__, {TEXT}); exit(1);', "cube pinned", "SICK JOB"),
    *style("OpenMM", f'throw std::runtime_error(std::string("Error invoking kernel computeNonbonded: ") + {NAME} + " (" + std::to_string((int)e_) + ")");', "past deep room", "Error invoking kernel"),
    *style("RELION", f'fprintf(stderr, "ERROR: %s in /src/acc/cuda/custom_allocator.cuh at line %d (error-code %d)\\nin: cuda_settings.h, line 65\\n=== Backtrace  ===\\n/bin/relion_refine(_ZN11RelionErrorC1ERKSsS1_l+0x41)\\nERROR: \\nA GPU-function failed to execute.\\n", {TEXT}, __LINE__, (int)e_); exit(1);', "async other", "GPU-function"),
)  # fmt: skip
enter(
    "cpp-tells-like-deep-learning",
    *style("c10", f'throw std::runtime_error(std::string("CUDA error: ") + {TEXT} + "\\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\\n\\nException raised from c10_cuda_check_implementation at CUDAException.cpp:" + std::to_string(__LINE__));', "past odd card other captured", "c10_cuda_check"),
    *style("Paddle", f'fprintf(stderr, "--------------------------------------\\nC++ Traceback (most recent call last):\\n--------------------------------------\\n0   paddle::memory::allocation::CUDAAllocator::AllocateImpl(unsigned long)\\n\\n----------------------\\nError Message Summary:\\n----------------------\\nExternalError: CUDA error(%d), %s. \\n  [Hint: \'%s\'.] (at /paddle/phi/backends/gpu/cuda/cuda_info.cc:%d)\\n", (int)e_, {TEXT}, {NAME}, __LINE__); exit(1);', "past assert rows", "ExternalError"),
    *style("ncnn-like codes", 'fprintf(stderr, "cudaStatus=%d line=%d\\n", (int)e_, __LINE__); exit(100);', "async past card", "cudaStatus"),
    *style("TVM", f'throw std::runtime_error("[04:12:07] /src/runtime/cuda/cuda_device_api.cc:" + std::to_string(__LINE__) + ": InternalError: Check failed: (e == cudaSuccess || e == cudaErrorCudartUnloading) is false: CUDA: " + {TEXT});', "pitched option never", "InternalError"),
)  # fmt: skip

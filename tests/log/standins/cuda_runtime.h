// A stand-in for CUDA's header: what docs/cpp.md uses of it. CUDA_SAYS is the error that cudaMalloc gives.
#pragma once
#include <cstdlib>
enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorInsufficientDriver = 35 };
inline cudaError_t cudaMalloc(void **, size_t) { return cudaError_t(std::atoi(std::getenv("CUDA_SAYS"))); }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *v) { *v = 12020; return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *v) { *v = 12040; return cudaSuccess; }
inline const char *cudaGetErrorName(cudaError_t e) {
    return e == 2 ? "cudaErrorMemoryAllocation" : e == 35 ? "cudaErrorInsufficientDriver" : "cudaSuccess";
}
inline const char *cudaGetErrorString(cudaError_t e) {
    return e == 2 ? "out of memory" : "CUDA driver version is insufficient for CUDA runtime version";
}

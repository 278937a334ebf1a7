// A stand-in for cuDNN's header: what docs/cpp.md uses of it. CUDNN_SAYS is the status that cudnnCreate gives.
#pragma once
#include <cstdlib>
#define CUDNN_VERSION 90100
enum cudnnStatus_t { CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_NOT_INITIALIZED = 1001, CUDNN_STATUS_VERSION_MISMATCH = 1002 };
typedef struct cudnnContext *cudnnHandle_t;
inline cudnnStatus_t cudnnCreate(cudnnHandle_t *) { return cudnnStatus_t(std::atoi(std::getenv("CUDNN_SAYS"))); }
inline size_t cudnnGetVersion() { return 80902; }
inline const char *cudnnGetErrorString(cudnnStatus_t s) {
    return s == 1002 ? "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH" : "CUDNN_STATUS_NOT_INITIALIZED";
}

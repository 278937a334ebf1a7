/* A stand-in libnvidia-ml with two GPUs: the first answers some queries, the second has fallen off the bus. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOST 15
#define NOT_SUPPORTED 3
#define INSUFFICIENT_SIZE 7

typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } process_t;

int nvmlInitWithFlags(unsigned flags) {
    const char *code = getenv("FAKE_NVML_INIT");
    if (code && !strcmp(code, "abort")) abort();
    if (code && !strcmp(code, "hang")) sleep(60);
    return code ? atoi(code) : 0;
}
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strncpy(text, "580.159.04", size); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 13000; return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu) { *gpu = (void *)1; return index ? LOST : 0; }
int nvmlDeviceGetName(void *gpu, char *text, unsigned size) { strncpy(text, "Stand-in 9000", size); return 0; }
int nvmlDeviceGetUUID(void *gpu, char *text, unsigned size) {
    strncpy(text, "GPU-0a1b2c3d-1111-2222-3333-444455556666", size);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *total_free_used) {
    total_free_used[0] = 1000; total_free_used[1] = 400; total_free_used[2] = 600;
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(void *gpu, int *major, int *minor) { *major = 9; *minor = 0; return 0; }
int nvmlDeviceGetComputeMode(void *gpu, int *mode) { *mode = 3; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *count, process_t *list) {
    if (!list) { *count = 1; return INSUFFICIENT_SIZE; }
    *count = 1;
    list[0] = (process_t){getppid(), 600, 0, 0};
    return 0;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *gpu, unsigned *count, process_t *list) { *count = 0; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *bits) { *bits = 0x1 | 0x4 | 0x40; return 0; }
int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, int *active) { *active = link != 1; return link < 4 ? 0 : NOT_SUPPORTED; }
int nvmlDeviceGetTotalEccErrors(void *gpu, int kind, int counter, unsigned long long *count) { *count = 7; return 0; }
int nvmlDeviceGetRemappedRows(void *gpu, unsigned *c, unsigned *u, unsigned *pending, unsigned *failed) {
    *c = 1; *u = 2; *pending = 1; *failed = 0;
    return 0;
}
int nvmlDeviceGetRetiredPages(void *gpu, int cause, unsigned *count, unsigned long long *list) { return NOT_SUPPORTED; }
int nvmlDeviceGetMigMode(void *gpu, unsigned *current, unsigned *pending) { return NOT_SUPPORTED; }

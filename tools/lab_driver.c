/* A stand-in libcuda.so.1 for tools/capture_lab.py: one device that answers questions and computes nothing, good for
   getting a program as far as its own check of driver and libraries. Answers come from the environment:
   FAKECUDA="driver=12080;devices=1;cc=80;cuInit=803". cuGetExportTable answers "not found": nothing here poses as
   NVIDIA's driver. The other names of the driver's interface are stubs that tools/capture_lab.py adds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int R;
#define API __attribute__((visibility("default")))
static long conf(const char *key, long fallback) {
  const char *s = getenv("FAKECUDA");
  size_t n = strlen(key);
  for (const char *p = s; p && *p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
    if (!strncmp(p, key, n) && p[n] == '=') return strtol(p + n + 1, NULL, 10);
  return fallback;
}
R standin_note(const char *name) {
  if (getenv("FAKECUDA_LOG")) fprintf(stderr, "standin: %s\n", name);
  return 0;
}
static void *const HANDLE = (void *)0x5eed0;
static void *current;
API R cuInit(unsigned f) { (void)f; standin_note("cuInit"); return (R)conf("cuInit", 0); }
API R cuDriverGetVersion(int *v) { *v = (int)conf("driver", 12090); return 0; }
API R cuDeviceGetCount(int *n) { *n = (int)conf("devices", 1); return 0; }
API R cuDeviceGet(int *d, int i) { *d = i; return i < conf("devices", 1) ? 0 : 101; }
API R cuDeviceGetName(char *s, int n, int d) { (void)d; snprintf(s, n, "Stand-in GPU"); return 0; }
API R cuDeviceGetPCIBusId(char *s, int n, int d) { snprintf(s, n, "0000:%02x:00.0", d + 1); return 0; }
API R cuDeviceGetByPCIBusId(int *d, const char *s) { (void)s; *d = 0; return 0; }
API R cuDeviceGetUuid(void *u, int d) { memset(u, 1 + d, 16); return 0; }
API R cuDeviceGetUuid_v2(void *u, int d) { return cuDeviceGetUuid(u, d); }
API R cuDeviceTotalMem_v2(size_t *b, int d) { (void)d; *b = (size_t)conf("mem", 8L << 30); return 0; }
API R cuDeviceTotalMem(size_t *b, int d) { return cuDeviceTotalMem_v2(b, d); }
API R cuMemGetInfo_v2(size_t *f, size_t *t) { *t = (size_t)conf("mem", 8L << 30); *f = (size_t)conf("free", 7L << 30); return 0; }
API R cuMemGetInfo(size_t *f, size_t *t) { return cuMemGetInfo_v2(f, t); }
API R cuDeviceComputeCapability(int *a, int *b, int d) { (void)d; *a = (int)conf("cc", 80) / 10; *b = (int)conf("cc", 80) % 10; return 0; }
API R cuDeviceGetAttribute(int *v, int a, int d) {
  (void)d;
  switch (a) {
  case 1: case 2: case 3: case 39: *v = 1024; break; /* threads */
  case 4: *v = 64; break;
  case 5: case 6: case 7: *v = 65535; break;
  case 8: *v = 49152; break; /* shared memory per block */
  case 10: *v = 32; break; /* warp */
  case 12: *v = 65536; break; case 82: *v = 65536; break;
  case 13: *v = 1410000; break; case 16: *v = 108; break; /* clock, SMs */
  case 36: *v = 1215000; break; case 37: *v = 5120; break; case 38: *v = 41943040; break;
  case 75: *v = (int)conf("cc", 80) / 10; break; case 76: *v = (int)conf("cc", 80) % 10; break;
  case 81: case 97: *v = 166912; break;
  case 41: *v = 1; break;
  default: *v = 0;
  }
  return 0;
}
API R cuDeviceGetProperties(int *p, int d) { (void)d; for (int i = 0; i < 10; i++) p[i] = 1024; return 0; }
API R cuDeviceCanAccessPeer(int *v, int a, int b) { (void)a; (void)b; *v = 0; return 0; }
API R cuDeviceGetP2PAttribute(int *v, int k, int a, int b) { (void)k; (void)a; (void)b; *v = 0; return 0; }
API R cuDevicePrimaryCtxGetState(int d, unsigned *f, int *on) { (void)d; *f = 0; *on = 0; return 0; }
API R cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = HANDLE; return 0; }
API R cuCtxCreate_v2(void **c, unsigned f, int d) { (void)f; (void)d; *c = current = HANDLE; return 0; }
API R cuCtxCreate(void **c, unsigned f, int d) { return cuCtxCreate_v2(c, f, d); }
API R cuCtxGetCurrent(void **c) { *c = current; return 0; }
API R cuCtxSetCurrent(void *c) { current = c; return 0; }
API R cuCtxPushCurrent_v2(void *c) { current = c; return 0; }
API R cuCtxPopCurrent_v2(void **c) { *c = current; return 0; }
API R cuCtxGetDevice(int *d) { *d = 0; return 0; }
API R cuCtxGetApiVersion(void *c, unsigned *v) { (void)c; *v = 3020; return 0; }
API R cuCtxGetStreamPriorityRange(int *a, int *b) { if (a) *a = 0; if (b) *b = -5; return 0; }
API R cuCtxGetSharedMemConfig(int *v) { *v = 1; return 0; }
API R cuStreamCreate(void **s, unsigned f) { (void)f; *s = HANDLE; return 0; }
API R cuStreamCreateWithPriority(void **s, unsigned f, int p) { (void)f; (void)p; *s = HANDLE; return 0; }
API R cuEventCreate(void **s, unsigned f) { (void)f; *s = HANDLE; return 0; }
API R cuEventElapsedTime(float *t, void *a, void *b) { (void)a; (void)b; *t = 0; return 0; }
API R cuMemAlloc_v2(void **p, size_t n) { (void)n; *p = NULL; return 2; } /* out of memory: it has none */
API R cuMemAlloc(void **p, size_t n) { return cuMemAlloc_v2(p, n); }
API R cuMemHostAlloc(void **p, size_t n, unsigned f) { (void)f; return (*p = malloc(n)) ? 0 : 2; }
API R cuMemAllocHost_v2(void **p, size_t n) { return (*p = malloc(n)) ? 0 : 2; }
API R cuMemFreeHost(void *p) { free(p); return 0; }
API R cuMemAllocManaged(void **p, size_t n, unsigned f) { (void)n; (void)f; *p = NULL; return 2; }
API R cuModuleLoadData(void **m, const void *d) { (void)d; *m = HANDLE; return 0; }
API R cuModuleGetFunction(void **f, void *m, const char *n) { (void)m; (void)n; *f = HANDLE; return 0; }
/* names and sentences as in cuda.h */
static const struct { int code; const char *name, *says; } errors[] = {
  {0, "CUDA_SUCCESS", "no error"}, {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
  {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
  {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
  {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
  {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
  {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
static int known(int e) { for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == e) return (int)i; return -1; }
API R cuGetErrorName(int e, const char **s) { int i = known(e); *s = i < 0 ? NULL : errors[i].name; return i < 0 ? 1 : 0; }
API R cuGetErrorString(int e, const char **s) { int i = known(e); *s = i < 0 ? NULL : errors[i].says; return i < 0 ? 1 : 0; }
API R cuGetExportTable(const void **t, const void *id) { (void)id; *t = NULL; return 500; }
API R cuGetProcAddress(const char *n, void **f, int v, unsigned long long fl) {
  (void)fl;
  char name[200];
  int asks_itself = !strcmp(n, "cuGetProcAddress") && v < 12000; /* its second form came with CUDA 12 */
  snprintf(name, sizeof name, asks_itself ? "%s" : "%s_v2", n);
  Dl_info self; dladdr((void *)cuInit, &self);
  void *me = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  *f = me ? dlsym(me, name) : NULL;
  if (me && !*f) *f = dlsym(me, n);
  return *f ? 0 : 500;
}
API R cuGetProcAddress_v2(const char *n, void **f, int v, unsigned long long fl, int *st) { R r = cuGetProcAddress(n, f, v, fl); if (st) *st = r ? 1 : 0; return r; }

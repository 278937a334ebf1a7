/* Stand-ins for the driver and for libraries on top of it: they answer what a test tells them and compute on the host.
   Built once per library with -DCUDA, -DNVRTC, -DCUDART, -DCUBLAS, -DCUDNN or -DNCCL. None of them poses as
   the real thing to the real thing: NVIDIA's runtime asks for tables that only its driver has, and gets none.

   STANDIN="cuInit=803,devices=2,cuDevicePrimaryCtxRetain@1=46,cudnnCreate=die11,cuMemAlloc_v2=hang,cublasSgemm_v2=wrong"
   A call answers with a number, dies by a signal, hangs, or computes something wrong; @N: on device N only. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef uint64_t U;
enum { WRONG = -1 };

static const char *asked(const char *key) {
  size_t n = strlen(key);
  for (const char *p = getenv("STANDIN"); p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
    if (!strncmp(p, key, n) && p[n] == '=') return p + n + 1;
  return NULL;
}
static long number(const char *key, long fallback) { const char *s = asked(key); return s ? strtol(s, NULL, 10) : fallback; }
static int here(void) { int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "standin_device"); return f ? f() : 0; }
static int answer(const char *name) {
  char key[100];
  snprintf(key, sizeof key, "%s@%d", name, here());
  const char *s = asked(key) ? asked(key) : asked(name);
  if (!s) return 0;
  if (!strncmp(s, "die", 3)) { signal(atoi(s + 3), SIG_DFL); raise(atoi(s + 3)); }
  if (!strncmp(s, "exit", 4)) { fprintf(stderr, "standin: leaving\n"); _exit(atoi(s + 4)); }
  if (!strncmp(s, "hang", 4)) for (;;) pause();
  if (!strncmp(s, "wrong", 5)) return WRONG;
  return atoi(s);
}
#define ASK int code = answer(__func__); if (code > 0) return code

#ifdef CUDA
static int device;
static size_t used;
int standin_device(void) { return device; }
int cuInit(unsigned f) { ASK; return 0; }
int cuDriverGetVersion(int *v) { ASK; *v = number("driver", 12080); return 0; }
int cuDeviceGetCount(int *n) { ASK; *n = number("devices", 1); return 0; }
int cuDeviceGet(int *d, int i) { ASK; *d = i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { ASK; snprintf(s, n, "Stand-in 9000"); return 0; }
int cuDeviceGetPCIBusId(char *s, int n, int d) { ASK; snprintf(s, n, "0000:%02X:00.0", d + 10); return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { ASK; *b = 64 << 20; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  ASK;
  int cc = number("cc", 90);
  *v = a == 75 ? cc / 10 : a == 76 ? cc % 10 : a == 20 ? number("mode", 0) : 1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { device = d; ASK; *c = (void *)(U)(d + 1); used += 1 << 20; return 0; }
int cuDevicePrimaryCtxRelease(int d) { ASK; used -= 1 << 20; return 0; }
int cuCtxSetCurrent(void *c) { ASK; device = (int)(U)c - 1; return 0; }
int cuCtxSynchronize(void) { ASK; return 0; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { ASK; *f = number("free", 8 << 20); *t = 64 << 20; return 0; }
int cuMemAlloc_v2(U *p, size_t n) {
  ASK;
  if (used + n > (size_t)number("free", 8 << 20)) return 2;
  size_t *block = malloc(n + 16);
  block[0] = n; used += n; *p = (U)(block + 2);
  return 0;
}
int cuMemFree_v2(U p) { ASK; size_t *block = (size_t *)p - 2; used -= block[0]; free(block); return 0; }
int cuMemcpyHtoD_v2(U d, const void *s, size_t n) { ASK; memcpy((void *)d, s, n); return 0; }
int cuMemcpyDtoH_v2(void *d, U s, size_t n) { ASK; memcpy(d, (void *)s, n); return 0; }
int cuMemcpyDtoD_v2(U d, U s, size_t n) { ASK; memmove((void *)d, (void *)s, n); if (code) ((char *)d)[n / 2] ^= 1; return 0; }
int cuMemsetD8_v2(U d, unsigned char v, size_t n) { ASK; memset((void *)d, v, n); return 0; }
int cuMemsetD32_v2(U d, unsigned v, size_t n) { ASK; for (size_t i = 0; i < n; i++) ((unsigned *)d)[i] = v; return 0; }
int cuModuleLoadData(void **m, const char *image) {
  ASK;
  if (image[0] != 0x7f && answer("ptx")) return answer("ptx");
  *m = (void *)1; return 0;
}
int cuModuleUnload(void *m) { ASK; return 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { ASK; *f = (void *)1; return strcmp(name, "twice_and_one") ? 500 : 0; }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z, unsigned s, void *st,
                   void **p, void **e) {
  ASK;
  float *out = *(float **)p[0], *in = *(float **)p[1];
  for (int i = 0; i < *(int *)p[2] && i < (int)(a * x); i++) out[i] = 2 * in[i] + 1 + (code == WRONG && i == 77);
  return 0;
}
#ifndef OLD
int cuGetErrorName(int e, const char **s) { static char t[40]; snprintf(t, sizeof t, "CUDA_ERROR_STANDIN_%d", e); *s = t; return 0; }
int cuGetErrorString(int e, const char **s) { *s = "the stand-in says no"; return 0; }
#endif
#endif

#ifdef NVRTC
static const char PTX[] = "// .entry twice_and_one", BIN[] = "\177ELF twice_and_one";
static int machine;
int nvrtcVersion(int *a, int *b) { ASK; *a = 12; *b = 8; return 0; }
#ifndef OLD
int nvrtcGetNumSupportedArchs(int *n) { ASK; *n = 3; return 0; }
int nvrtcGetSupportedArchs(int *a) { ASK; a[0] = 75; a[1] = 80; a[2] = 90; return 0; }
int nvrtcGetCUBINSize(void *p, size_t *n) { ASK; *n = machine ? sizeof BIN : 0; return 0; }
int nvrtcGetCUBIN(void *p, char *s) { ASK; memcpy(s, BIN, machine ? sizeof BIN : 0); return 0; }
#endif
int nvrtcCreateProgram(void **p, const char *s, const char *n, int h, void *a, void *b) { ASK; *p = (void *)1; return 0; }
int nvrtcCompileProgram(void *p, int n, const char **o) { ASK; machine = strstr(o[0], "=sm_") != NULL; return 0; }
int nvrtcGetProgramLogSize(void *p, size_t *n) { ASK; *n = 20; return 0; }
int nvrtcGetProgramLog(void *p, char *s) { ASK; strcpy(s, "no builtins here"); return 0; }
int nvrtcGetPTXSize(void *p, size_t *n) { ASK; *n = sizeof PTX; return 0; }
int nvrtcGetPTX(void *p, char *s) { ASK; memcpy(s, PTX, sizeof PTX); if (code) memset(s, 32, sizeof PTX); return 0; }
int nvrtcDestroyProgram(void **p) { ASK; return 0; }
const char *nvrtcGetErrorString(int e) { return "NVRTC_ERROR_STANDIN"; }
#endif

#ifdef CUDART
int cudaRuntimeGetVersion(int *v) { ASK; *v = number("cudart", 12080); return 0; }
int cudaDriverGetVersion(int *v) { ASK; *v = number("driver", 12080); return 0; }
int cudaGetDeviceCount(int *n) { ASK; *n = number("devices", 1); return 0; }
int cudaPeekAtLastError(void) { ASK; return 0; }
int cudaGetLastError(void) { ASK; return 0; }
const char *cudaGetErrorName(int e) { return "cudaErrorStandin"; }
const char *cudaGetErrorString(int e) { return "the stand-in says no"; }
#endif

#ifdef CUBLAS
int cublasCreate_v2(void **h) { ASK; *h = (void *)1; return 0; }
int cublasDestroy_v2(void *h) { ASK; return 0; }
int cublasGetVersion_v2(void *h, int *v) { ASK; *v = 120800; return 0; }
int cublasSgemm_v2(void *h, int ta, int tb, int m, int n, int k, const float *al, const float *A, int lda, const float *B,
                   int ldb, const float *be, float *C, int ldc) {
  ASK;
  for (int j = 0; j < n; j++) {
    memset(C + (size_t)j * ldc, 0, 4 * m);
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) C[i + (size_t)j * ldc] += A[i + (size_t)l * lda] * B[l + (size_t)j * ldb];
  }
  if (code == WRONG) C[0] += 1;
  return 0;
}
#ifndef OLD
const char *cublasGetStatusName(int e) { return "CUBLAS_STATUS_STANDIN"; }
const char *cublasGetStatusString(int e) { return "the stand-in says no"; }
#endif
#endif

#ifdef CUDNN
size_t cudnnGetVersion(void) { answer(__func__); return number("cudnn", 90100); }
size_t cudnnGetCudartVersion(void) { return 12080; }
int cudnnGetProperty(int which, int *v) { ASK; *v = which ? 1 : number("major", 9); return 0; }
const char *cudnnGetErrorString(int e) { return "CUDNN_STATUS_STANDIN"; }
void cudnnGetLastErrorString(char *s, size_t n) { snprintf(s, n, "the stand-in says no"); }
int cudnnGraphVersionCheck(void) { ASK; return 0; }
int cudnnOpsVersionCheck(void) { ASK; return 0; }
int cudnnCnnVersionCheck(void) { ASK; return 0; }
int cudnnAdvVersionCheck(void) { ASK; return 0; }
int cudnnCreate(void **h) { ASK; *h = (void *)1; return 0; }
int cudnnDestroy(void *h) { ASK; return 0; }
#endif

#ifdef NCCL
static const float *from[8];
static float *to[8];
static size_t count, calls;
int ncclGetVersion(int *v) { ASK; *v = 22304; return 0; }
int ncclCommInitAll(void **c, int n, const int *d) { ASK; for (int i = 0; i < n; i++) c[i] = (void *)(U)(d[i] + 1); return 0; }
int ncclAllReduce(const float *s, float *r, size_t n, int type, int op, void *c, void *st) { ASK; from[calls] = s; to[calls++] = r; count = n; return type == 7 && op == 0 ? 0 : 4; }
int ncclGroupStart(void) { ASK; calls = 0; return 0; }
int ncclGroupEnd(void) {
  ASK;
  for (size_t i = 0; i < count; i++) {
    float s = code == WRONG;
    for (size_t k = 0; k < calls; k++) s += from[k][i];
    for (size_t k = 0; k < calls; k++) to[k][i] = s;
  }
  return 0;
}
int ncclCommDestroy(void *c) { ASK; return 0; }
const char *ncclGetErrorString(int e) { return "unhandled system error"; }
const char *ncclGetLastError(void *c) { return "the stand-in says no"; }
#endif

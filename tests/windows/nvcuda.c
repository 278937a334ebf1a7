/* A stand-in nvcuda.dll: one device that answers questions and computes nothing. It takes a program as far as the
   program's own check of its CUDA libraries. Answers come from the environment: GPUWHY_CUDA="devices=1;cc=75;init=0". */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define API __declspec(dllexport) int __stdcall

static long conf(const char *key, long otherwise) {
  const char *text = getenv("GPUWHY_CUDA");
  size_t length = strlen(key);
  for (const char *p = text; p && *p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
    if (!strncmp(p, key, length) && p[length] == '=') return strtol(p + length + 1, NULL, 10);
  return otherwise;
}

API cuInit(unsigned flags) { return (int)conf("init", 0); }
API cuDriverGetVersion(int *version) { *version = (int)conf("driver", 10020); return 0; }
API cuDeviceGetCount(int *count) { *count = (int)conf("devices", 1); return 0; }
API cuDeviceGet(int *device, int index) { *device = index; return index < conf("devices", 1) ? 0 : 101; }
API cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "GeForce RTX 2080"); return 0; }
API cuDeviceGetPCIBusId(char *bus, int size, int device) { snprintf(bus, size, "0000:%02x:00.0", device + 1); return 0; }
API cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)8 << 30; return 0; }
API cuDeviceGetProperties(int *values, int device) { for (int i = 0; i < 10; i++) values[i] = 1024; return 0; }
API cuDeviceCanAccessPeer(int *can, int device, int other) { *can = 0; return 0; }
API cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0; *active = 0; return 0; }
API cuDevicePrimaryCtxRetain(void **context, int device) { return 2; }
API cuDevicePrimaryCtxRelease(int device) { return 0; }
API cuDevicePrimaryCtxSetFlags(int device, unsigned flags) { return 0; }

API cuDeviceComputeCapability(int *major, int *minor, int device) {
  *major = (int)conf("cc", 75) / 10;
  *minor = (int)conf("cc", 75) % 10;
  return 0;
}

API cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 1: case 2: case 3: case 4: case 39: *value = 1024; break; /* threads */
  case 5: case 6: case 7: *value = 65535; break;                 /* blocks */
  case 8: case 81: *value = 49152; break;                        /* shared memory */
  case 10: *value = 32; break;                                   /* warp */
  case 12: case 82: *value = 65536; break;                       /* registers */
  case 13: *value = 1710000; break;                              /* clock, kHz */
  case 16: *value = 46; break;                                   /* multiprocessors */
  case 36: *value = 7000000; break;                              /* memory clock, kHz */
  case 37: *value = 256; break;                                  /* memory bus, bits */
  case 75: *value = (int)conf("cc", 75) / 10; break;
  case 76: *value = (int)conf("cc", 75) % 10; break;
  default: *value = 0;
  }
  return 0;
}

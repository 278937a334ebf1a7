/* A stand-in libnvidia-ml.so.1 for tools/capture_lab.py: nvmlInit answers FAKENVML, there is one device, and all the rest
   is not supported. The other names of the interface are stubs that tools/capture_lab.py adds. */
#include <stdio.h>
#include <stdlib.h>
#define API __attribute__((visibility("default")))
typedef int R;
R standin_note(const char *name) { (void)name; return 3; }
static int start(void) { const char *s = getenv("FAKENVML"); return s ? atoi(s) : 0; }
API R nvmlInit(void) { return start(); }
API R nvmlInit_v2(void) { return start(); }
API R nvmlInitWithFlags(unsigned f) { (void)f; return start(); }
API R nvmlShutdown(void) { return 0; }
API R nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
API R nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(0x10L + i); return 0; }
API R nvmlDeviceGetHandleByPciBusId_v2(const char *s, void **d) { (void)s; *d = (void *)0x10; return 0; }
API R nvmlSystemGetDriverVersion(char *s, unsigned n) { snprintf(s, n, "575.51.03"); return 0; }
API const char *nvmlErrorString(int e) { /* sentences as in nvml.h */
  switch (e) {
  case 0: return "Success";
  case 3: return "Not Supported";
  case 4: return "Insufficient Permissions";
  case 9: return "Driver Not Loaded";
  case 15: return "GPU is lost";
  case 18: return "Driver/library version mismatch";
  default: return "Unknown Error";
  }
}

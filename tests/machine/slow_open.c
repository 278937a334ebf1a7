/* Preloaded: opening any path that ends in "nvidia1" never comes back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static int slow(const char *name, const char *path, int flags, int mode) {
    size_t length = strlen(path);
    if (length > 7 && !strcmp(path + length - 7, "nvidia1")) for (;;) pause();
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    return real(path, flags, mode);
}
#define SLOW(name) int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    return slow(#name, path, flags, mode); }
SLOW(open)
SLOW(open64)

/* Preloaded into a program that XLA ends because of a wrong value in XLA_FLAGS: prints the whole usage text from the heap,
 * which the logging library cuts after 15,000 bytes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char head[] = "usage: ";

static void print_longest(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], *best = NULL;
    size_t most = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) != 3 || strncmp(mode, "rw", 2) || strstr(line, "[v")) continue;
        for (char *at = (char *)start; (at = memmem(at, (char *)end - at, head, sizeof head - 1)); at++) {
            size_t length = strnlen(at, (char *)end - at);
            if (length > most) { most = length; best = at; }
        }
    }
    if (best) { write(2, "\n", 1); write(2, best, most); }
}

void abort(void) { print_longest(); syscall(SYS_exit_group, 134); __builtin_unreachable(); }
void _exit(int code) { print_longest(); syscall(SYS_exit_group, code); __builtin_unreachable(); }

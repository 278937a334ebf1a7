/* Loads libraries as its arguments say and prints which files Windows took, or the error code. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

static void report(const char *asked, HMODULE module) {
    char path[4096] = "";
    if (!module) {
        printf("%s error %lu\n", asked, GetLastError());
        return;
    }
    GetModuleFileNameA(module, path, sizeof path);
    printf("%s ok %s\n", asked, path);
}

int main(int count, char **words) {
    SetErrorMode(SEM_FAILCRITICALERRORS);
    for (int i = 1; i + 1 < count; i += 2) {
        const char *how = words[i], *name = words[i + 1];
        wchar_t wide[4096];
        MultiByteToWideChar(CP_ACP, 0, name, -1, wide, 4096);
        if (!strcmp(how, "add"))
            AddDllDirectory(wide);
        else if (!strcmp(how, "folder"))
            SetCurrentDirectoryA(name);
        else if (!strcmp(how, "plain"))
            report(name, LoadLibraryA(name));
        else if (!strcmp(how, "altered"))
            report(name, LoadLibraryExA(name, NULL, LOAD_WITH_ALTERED_SEARCH_PATH));
        else if (!strcmp(how, "listed"))
            report(name, LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS));
        else if (!strcmp(how, "listed_own"))
            report(name, LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR));
        else if (!strcmp(how, "where"))
            report(name, GetModuleHandleA(name));
    }
    return 0;
}

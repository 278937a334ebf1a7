"""Builds LAB/driver/libcuda.so.1 for tools/capture_process.py: a stand-in driver that answers any call with a code.

    python3 tools/process_driver.py LAB [FOLDER of cuda.h]

From lab_driver.c and the names in cuda.h: FAKECUDA="cc=90;cuLaunchKernelEx=701" lets that call answer 701. Its memory is
the host's and its kernels do nothing, so Numba and Triton come as far as the call that is to fail. It does not pose as
NVIDIA's own driver: the CUDA runtime and what is built on it stop before.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from gpuwhy.knowledge import codes

EXTRA = """
API R cuFuncGetAttribute(int *v, int a, void *f) { (void)f; *v = a == 4 ? 255 : a == 0 ? 1024 : a == 3 ? 32 : 0; return 0; }
API R cuModuleLoadDataEx(void **m, const void *d, unsigned n, int *o, void **v) { (void)n; (void)o; (void)v; return cuModuleLoadData(m, d); }
API R cuLibraryLoadData(void **m) { *m = HANDLE; return (R)conf("cuLibraryLoadData", 0); }
API R cuLibraryGetKernel(void **k) { *k = HANDLE; return 0; }
API R cuKernelGetFunction(void **k) { *k = HANDLE; return 0; }
API R cuLibraryGetModule(void **k) { *k = HANDLE; return 0; }
API R cuPointerGetAttribute(void *d, int a, unsigned long long p) { (void)a; *(unsigned long long *)d = p; return 0; }
API R cuMemcpyHtoD_v2(unsigned long long d, const void *s, size_t n) { memcpy((void *)d, s, n); return (R)conf("cuMemcpyHtoD", 0); }
API R cuMemcpyDtoH_v2(void *d, unsigned long long s, size_t n) { R r = (R)conf("cuMemcpyDtoH", 0); if (!r) memcpy(d, (void *)s, n); return r; }
"""
STUB = '__attribute__((visibility("default"))) int {name}(void) {{ return (int)standin_conf("{call}"); }}\n'
OWN = re.compile(r"^API [\w ]+?\*?(\w+)\(", re.MULTILINE)


def errors(header: str) -> str:
    """The driver's codes with their names and sentences."""
    says = {slug: text for text, slug in codes.cuda_messages().items()}
    rows = re.findall(r"^\s+(CUDA_ERROR_\w+)\s*=\s*(\d+)", header, re.MULTILINE)
    lines = [f'{{{code}, "{name}", "{says.get(codes.cuda_by_number(int(code)), "")}"}},' for name, code in rows]
    return "\n".join(['{0, "CUDA_SUCCESS", "no error"},', *lines])


def source(header: str) -> tuple[str, set[str]]:
    """lab_driver.c with all codes, memory, and a limit of shared memory that can be chosen; and the names it defines."""
    code = Path(__file__).with_name("lab_driver.c").read_text(encoding="utf-8")
    code = re.sub(r"(errors\[\] = \{)\n.*?\n\};", lambda m: f"{m[1]}\n{errors(header)}\n}};", code, flags=re.DOTALL)
    code = code.replace(
        "*p = NULL; return 2; } /* out of memory: it has none */",
        'R r = (R)conf("cuMemAlloc", 0); if (!r) *p = malloc(n); return r; }',
    )
    code = code.replace("case 81: case 97: *v = 166912;", 'case 81: case 97: *v = (int)conf("shared", 101376);')
    code = code.replace(
        "R standin_note(", "long standin_conf(const char *key) { return conf(key, 0); }\nR standin_note(", 1
    )
    return code + EXTRA, set(OWN.findall(code + EXTRA))


def main(lab: Path, include: Path) -> None:
    """Generate and compile."""
    header = (include / "cuda.h").read_text(encoding="utf-8", errors="replace")
    code, own = source(header)
    names = set(re.findall(r"\b(cu[A-Z]\w+)\s*\(|#define (cu[A-Z]\w+)|(cu[A-Z]\w+_v[23])", header))
    missing = sorted({name for found in names for name in found if name} - own)
    stubs = "".join(STUB.format(name=name, call=name.removesuffix("_v2")) for name in missing)
    folder = lab / "driver"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "driver.c").write_text(code, encoding="utf-8")
    (folder / "stubs.c").write_text(f"long standin_conf(const char *);\n{stubs}", encoding="utf-8")
    options = ["-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-w", "-Wl,-soname,libcuda.so.1"]
    files = [str(folder / "driver.c"), str(folder / "stubs.c")]
    subprocess.run(["gcc", *options, *files, "-o", str(folder / "libcuda.so.1"), "-ldl"], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "/usr/local/cuda/include"))

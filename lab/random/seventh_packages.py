"""Seventh operators, packages and compilers: plug-ins, compiled files, twins of metadata, tools on PATH, extensions."""

from __future__ import annotations

from lab.random.programs import CPP
from lab.random.seventh import (
    ABI,
    ANY,
    BAD,
    BUILD,
    COMPILER,
    CONFLICT,
    LIB,
    LIM,
    NVCC,
    ODD,
    OT,
    PATH,
    SET,
    SHADOW,
    UNSUP,
    Case,
    T,
    enter,
)

PLUG = {"PYTHONPATH": "$D/plug"}


def plugged(group: str, entry: str, body: str = "") -> dict[str, str]:
    """The files of a third party's package that enters itself into a framework; without a body its module is gone."""
    home = "plug/acme_accel-0.4.1.dist-info"
    files = {f"{home}/METADATA": "Metadata-Version: 2.1\nName: acme-accel\nVersion: 0.4.1\n"}
    files |= {f"{home}/entry_points.txt": f"[{group}]\n{entry}\n", f"{home}/INSTALLER": "pip\n"}
    return files | ({"plug/acme_accel.py": body} if body else {})


RAISES = "raise ImportError('/opt/acme/_C.so: undefined symbol: _ZN3c104cuda20CUDACachingAllocator9allocatorE')\n"
NEAR = (BAD, ODD, CONFLICT, OT, SHADOW)
enter(
    "plugin-broken",
    Case("torch", "torch: module of the plug-in is gone", BAD, (ODD, CONFLICT, OT, SET), environ=PLUG, files=plugged("torch.backends", "acme = acme_accel:autoload")),
    Case("torch", "torch: built for another release", ABI, NEAR, environ=PLUG, files=plugged("torch.backends", "acme = acme_accel:autoload", RAISES)),
    Case("torch", "torch: raises when loaded", ODD, (BAD, ABI, CONFLICT, OT, SET), environ=PLUG, files=plugged("torch.backends", "acme = acme_accel:autoload", "import torch\nif torch.__version__ > '2.1':\n    raise RuntimeError('acme_accel 0.4.1 needs torch==2.1.0, found ' + torch.__version__)\ndef autoload():\n    pass\n")),
    Case("triton-add torch-compile", "triton: backend's module is gone", BAD, (ODD, CONFLICT, OT, SET), environ=PLUG, files=plugged("triton.backends", "acme = acme_accel.triton")),
    Case("triton-add torch-compile", "triton: built for another release", ABI, NEAR, environ=PLUG, files=plugged("triton.backends", "acme = acme_accel", RAISES)),
    Case("torch-compile", "dynamo: backend's module is gone", BAD, (ODD, CONFLICT, OT, SET), environ=PLUG, files=plugged("torch_dynamo_backends", "inductor = acme_accel:compile")),
    Case("jax", "harmless: jax says so and goes on", ODD, NEAR, environ=PLUG, files=plugged("jax_plugins", "acme = acme_accel", RAISES)),
    Case("numba-kernel", "harmless: numba says so and goes on", ODD, NEAR, environ=PLUG, files=plugged("numba_extensions", "init = acme_accel:init", "def init():\n    raise RuntimeError('needs numba 0.55')\n")),
    Case("torch jax numba-kernel", "harmless: entries nobody reads", ODD, NEAR, environ=PLUG, files=plugged("pytest11", "acme = acme_accel.gone")),
    Case("torch", "harmless: loading switched off", ODD, NEAR, environ={**PLUG, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, files=plugged("torch.backends", "acme = acme_accel:autoload", RAISES)),
)  # fmt: skip


def compiled(module: str, how: str) -> str:
    """Shell: the module's compiled file made anew in an overlay, then changed ($P)."""
    folder, _, name = f"@SITE@/{module}".rpartition("/")
    return f"over {folder}; unset PYTHONPYCACHEPREFIX; @P@ -m compileall -q -f {folder}/{name}.py || exit 97; P=$(ls {folder}/__pycache__/{name}.cpython-3??.pyc) || exit 97; {how}"


CUT = "head -c 700 $P > $W/p; rm -f $P; cp $W/p $P"
ZEROS = "n=$(stat -c %s $P); (head -c 16 $P; head -c $((n - 16)) /dev/zero) > $W/p; rm -f $P; cp $W/p $P"
STALE = "(printf '\\x42\\x0d\\x0d\\x0a'; tail -c +5 $P) > $W/p; rm -f $P; cp $W/p $P"
OLD_OF = "(head -c 16 $P; tail -c +17 $(ls $(dirname $P)/../__pycache__/*.pyc | grep -v /$(basename $P) | head -1)) > $W/p; [ $(stat -c %s $W/p) -gt 100 ] || exit 97; rm -f $P; cp $W/p $P"
enter(
    "pyc-spoilt",
    Case("torch", "torch/nn/functional, cut", BAD, (OT,), setup=compiled("torch/nn/functional", CUT), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("torch", "torch/serialization, zeros", BAD, (OT,), setup=compiled("torch/serialization", ZEROS), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("jax", "jax/_src/core, cut", BAD, (OT,), setup=compiled("jax/_src/core", CUT), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("jax", "jax/_src/dtypes, of another module", BAD, (OT, ODD, SHADOW), setup=compiled("jax/_src/dtypes", "@P@ -m compileall -q -f @SITE@/jax/_src/config.py; " + OLD_OF), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("cupy", "cupy/_environment, zeros", BAD, (OT,), setup=compiled("cupy/_environment", ZEROS), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("triton-add", "triton/runtime/jit, cut", BAD, (OT,), setup=compiled("triton/runtime/jit", CUT), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("torch", "harmless: of another Python", BAD, (OT,), setup=compiled("torch/nn/functional", STALE), environ={"PYTHONPYCACHEPREFIX": None}),
    Case("jax", "harmless: leftovers without a source", BAD, (OT,), setup=compiled("jax/_src/core", "cp $P $(dirname $P)/gone_module.cpython-38.pyc; head -c 40 $P > $(dirname $P)/core.cpython-36.pyc")),
)  # fmt: skip


def tool(name: str, text: str) -> str:
    """Shell: a script of that name in a folder that comes first on PATH; $REAL is the machine's own tool."""
    return f"mkdir -p $W/bin; REAL=$(command -v {name}) || REAL=/bin/false; printf '#!/bin/sh\\n{text}\\n' > $W/bin/{name}; sed -i \"s|@REAL@|$REAL|\" $W/bin/{name}; chmod 755 $W/bin/{name}"


NEAR_TOOL = (COMPILER, BUILD, SET, BAD, OT, SHADOW)
FRONT: dict[str, str | None] = {"PATH": "$W/bin:$PATH", "CC": None, "CXX": None}
JIT = "triton-add torch-compile"
GOOD = CPP["cpp-add"][1]
enter(
    "other-compiler",
    Case(JIT, "gcc of a build farm that is gone", PATH, NEAR_TOOL, setup=tool("gcc", 'exec /opt/ccache/bin/ccache gcc "$@"'), environ=FRONT),
    Case(JIT, "gcc without its parts", PATH, NEAR_TOOL, setup=tool("gcc", "echo \"gcc: fatal error: cannot execute 'cc1': execvp: No such file or directory\" >&2; exit 1"), environ=FRONT),
    Case(JIT, "gcc for another machine", PATH, NEAR_TOOL, setup=tool("gcc", 'exec @REAL@ -m16 -ffreestanding "$@"'), environ=FRONT),
    Case(JIT, "gcc that wants a licence", PATH, NEAR_TOOL, setup=tool("gcc", "echo \"pgcc: license server lic01 does not answer\" >&2; exit 5"), environ=FRONT),
    Case("cpp-add", "nvcc of another toolkit", PATH, (*NEAR_TOOL, UNSUP, "cuda.version_mismatch"), setup=tool("nvcc", "echo \"nvcc fatal   : Unsupported gpu architecture compute_90\" >&2; exit 1"), environ=FRONT, code=GOOD, command=NVCC),
    Case("cpp-add", "nvcc by a wrapper for an old card", PATH, (*NEAR_TOOL, UNSUP), setup=tool("nvcc", 'exec @REAL@ -gencode arch=compute_37,code=sm_37 "$@"'), environ=FRONT, code=GOOD, command="nvcc -o $W/a $SCRIPT && $W/a"),
    Case("cpp-add", "g++ without its parts", PATH, NEAR_TOOL, setup=tool("gcc", "echo \"gcc: error trying to exec cc1plus: execvp: No such file or directory\" >&2; exit 1") + "; cp $W/bin/gcc $W/bin/g++", environ=FRONT, code=GOOD, command=NVCC),
    Case("cpp-add", "linker of another system", PATH, NEAR_TOOL, setup=tool("ld", "echo \"ld: unrecognised emulation mode: elf_x86_64\" >&2; exit 1") + "; cp $W/bin/ld $W/bin/x86_64-linux-gnu-ld", environ={**FRONT, "COMPILER_PATH": "$W/bin"}, code=GOOD, command=NVCC),
    Case(JIT, "harmless: a wrapper that counts", PATH, NEAR_TOOL, setup=tool("gcc", 'echo "$@" >> /dev/null; exec @REAL@ "$@"'), environ=FRONT),
    Case(JIT, "harmless: another ptxas on PATH", PATH, NEAR_TOOL, setup=tool("ptxas", "echo broken >&2; exit 1"), environ=FRONT),
)  # fmt: skip


def extension(code: str, name: str = "ops.so", link: str = "") -> str:
    """Shell: a compiled module of the user's own beside the program, out of one line of C."""
    return f"printf '%s\\n' '{code}' > $W/e.c; gcc -shared -fPIC -o $D/{name} $W/e.c {link} || exit 97; rm -f $W/e.c; chmod 755 $D/{name}"


def needing(soname: str) -> str:
    """Shell: the same, linked with a library that is not on this machine."""
    return f"echo 'int g;' > $W/g.c; gcc -shared -fPIC -Wl,-soname,{soname} -o $W/libg.so $W/g.c || exit 97; {extension('void* PyInit_ops(void){return 0;}', link='-L$W -Wl,--no-as-needed -lg')}; rm -f $W/libg.so $W/g.c"


OPS = T + "x = torch.ones(4, device='@D@')\nprint('device', x.device, flush=True)\nimport ops\nprint(ops.nms(x))\n"
WANTS = "extern void {0}(void); void* PyInit_ops(void){{ {0}(); return 0; }}"
enter(
    "extension-own",
    Case("torch-matmul", "check of the old C++ standard", ABI, (BAD, ODD), code=OPS, setup=extension(WANTS.format("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"))),
    Case("torch-matmul", "zeros of torch 1.12", ABI, (BAD, ODD), code=OPS, setup=extension(WANTS.format("_ZN2at4_ops5zeros4callEN3c108ArrayRefIlEENS2_8optionalINS2_10ScalarTypeEEENS5_INS2_6LayoutEEENS5_INS2_6DeviceEEENS5_IbEE"))),
    Case("torch-matmul", "library that torch no longer has", ABI, (LIB, BAD, ODD), code=OPS, setup=needing("libtorch_cuda_cu.so")),
    Case("torch-matmul", "runtime of CUDA 11", ABI, (LIB, "cuda.version_mismatch", PATH), code=OPS, setup=needing("libcudart.so.11.0")),
    Case("torch-matmul", "made for another Python", ABI, (OT, BAD, PATH, ODD, BUILD), code=OPS, setup=extension("void* PyInit_ops(void){return 0;}", "ops.cpython-38-x86_64-linux-gnu.so")),
    Case("torch-matmul", "no entry of that name", BUILD, (ABI, OT, BAD), code=OPS, setup=extension("void* PyInit__ops(void){return 0;}")),
    Case("torch-matmul", "operators registered by a library", ABI, (BAD, ODD, OT), code=T + "print(torch.ones(2, device='@D@').sum().item())\ntorch.ops.load_library('./ops.so')\n", setup=extension(WANTS.format("_ZN5torch7Library4_defEON3c1014FunctionSchemaE"))),
    Case("torch-matmul", "operators never registered", OT, (BUILD, ABI, BAD), code=T + "x = torch.ones(2, device='@D@')\nprint(torch.ops.ourlib.nms(x))\n"),
    Case("torch-matmul torch-train", "harmless: tried and done without", ABI, (BAD, OT), before="try:\n    import ops\nexcept ImportError as e:\n    print('fused operators not used:', e)\n", setup=extension(WANTS.format("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"))),
)  # fmt: skip
enter(
    "interpreter-flags",
    Case(ANY, "warnings are errors", SET, (OT, ODD), command="$PYTHON -W error $SCRIPT"),
    Case(ANY, "no site at all, isolated", PATH, (OT, SET, SHADOW), command="$PYTHON -I -S $SCRIPT"),
    Case(ANY, "little recursion", OT, (SET, LIM), command="$PYTHON -c \"import sys; sys.setrecursionlimit(40); exec(open('$SCRIPT').read())\""),
    Case("torch jax cupy numba-kernel", "harmless: no docstrings, no asserts", SET, (OT,), command="$PYTHON -OO $SCRIPT"),
    Case(ANY, "harmless: isolated", SET, (OT, PATH), command="$PYTHON -I $SCRIPT"),
    Case(ANY, "harmless: every import timed", SET, (OT,), command="$PYTHON -X importtime $SCRIPT"),
    Case(ANY, "harmless: unfrozen, safe path", SET, (OT,), command="$PYTHON -P -X frozen_modules=off -X tracemalloc $SCRIPT"),
    Case("torch jax cupy", "harmless: a site hook that fails", SHADOW, (OT, SET), environ={"PYTHONPATH": "$D/hooks"}, files={"hooks/sitecustomize.py": "import company_telemetry\n"}),
)  # fmt: skip

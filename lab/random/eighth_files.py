"""Eighth operators, files: damaged places inside libraries, marks of another system, symbols and versions nobody offers."""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator
from lab.random.eighth import (
    ABI,
    BAD,
    BUILD,
    COMPILER,
    CONFLICT,
    DROPPED,
    LIB,
    LIM,
    MIXED,
    ODD,
    OT,
    PART,
    PATH,
    Case,
    T,
    enter,
)
from lab.random.files import GONE, layer, over, victim

SMALL = 400_000_000
"""Bytes above which a library is not copied whole: the lab's overlays live in memory."""
COPY = f"[ $(stat -Lc %s $G) -lt {SMALL} ] || exit 97; cp --remove-destination $(readlink -f $G) $F"


def at(place: str, data: str) -> str:
    """Shell: the library again, with other bytes at a place."""
    return f"{COPY}; printf '{data}' | dd of=$F bs=1 seek={place} conv=notrunc status=none"


MARKS = {
    "of 32 bits": at("4", "\\001"),
    "of the other byte order": at("5", "\\002"),
    "of another system": at("7", "\\011"),
    "of version seven": at("6", "\\007"),
    "a core file": at("16", "\\004"),
    "no program headers": at("56", "\\000\\000"),
    "no magic": at("1", "elf"),
}


def damaged(name: str, how: dict[str, str], also: tuple[str, ...]) -> None:
    """Enter an operator that changes a library which the program maps, in one of several ways."""

    def drawn(rng: random.Random, machine: Machine) -> Draw | None:
        found = victim(rng, machine)
        if not found:
            return None
        program, path = found
        way = rng.choice(sorted(how))
        near = tuple(dict.fromkeys((*also, GONE[layer(path)][0], *GONE[layer(path)][1])))
        fair = tuple(n for n in near if n != BAD) if also else ()
        return Draw(name, f"{path} ({way})", program, BAD, fair, over(path, how[way]), void="")

    operator(name, PART)(drawn)


damaged("library-marks", MARKS, (LIB, ABI, OT))
ZERO = "S=$(stat -Lc %s $G); dd if=/dev/zero of=$F bs=4096 seek=$((S * {0} / 100 / 4096)) count={1} conv=notrunc status=none"
HOLES = {f"a hole at {p} %": f"{COPY}; {ZERO.format(p, n)}" for p, n in ((2, 16), (10, 400), (50, 2000), (90, 1000))}
HOLES["first page after the header"] = f"{COPY}; dd if=/dev/zero of=$F bs=4096 seek=1 count=2 conv=notrunc status=none"
HOLES["another library's second half"] = (
    f"{COPY}; O=$(ls -S $LOWER/*.so* | grep -v $(basename $G) | tail -1); S=$(stat -Lc %s $G); "
    "dd if=$O of=$F bs=4096 seek=$((S / 8192)) conv=notrunc status=none"
)
damaged("library-holes", HOLES, ("program.illegal_access", OT, "framework.gpu_unsupported", "framework.bug", ABI))
SOURCES = {
    "torch": ("torch/_tensor.py", "torch/_jit_internal.py", "torch/autograd/__init__.py", "torch/storage.py", "torch/library.py"),
    "jax": ("jax/_src/xla_bridge.py", "jax/_src/array.py", "jax/_src/lax/lax.py", "jaxlib/xla_client.py", "jax_plugins/xla_cuda13/__init__.py"),
    "cupy": ("cupy/_core/__init__.py", "cupy/cuda/__init__.py", "cupy/linalg/__init__.py", "cupy/_environment.py"),
}  # fmt: skip
SLIPS = {
    "a line of a patch left in": "sed -i '30i +    return None' $F",
    "the last third lost": "L=$(wc -l < $G); head -n $((L * 2 / 3)) $G > $F",
    "a function renamed by a replace-all": "sed -i 's/def _/def __/' $F",
    "an import of a module from a newer release": "sed -i '1i from torch._future_api import anything' $F",
    "only blank lines": "sed -i 's/.*//' $F",
    "a zero byte in the middle": "printf '\\000' | dd of=$F bs=1 seek=$(($(stat -c %s $F) / 2)) conv=notrunc status=none",
}


@operator("source-slips", PART)
def source_slips(rng: random.Random, machine: Machine) -> Draw | None:
    """A source file of the framework that somebody edited or a copy spoilt."""
    here = [f for f in sorted(SOURCES) if machine.programs(f)]
    if not here:
        return None
    family = rng.choice(here)
    names = [n for n in machine.programs(family) if n != "torch-large"]
    program, path = rng.choice(names), f"{machine.site}/{rng.choice(SOURCES[family])}"
    way = rng.choice(sorted(SLIPS))
    setup = over(path, f"[ -f $G ] || exit 97; cp --remove-destination $G $F; {SLIPS[way]}")
    return Draw("source-slips", f"{path} ({way})", program, BAD, (OT, ODD, ABI), setup, void="")


def versioned(library: str, version: str) -> str:
    """Shell: an extension that wants a version of a system library which this machine's copy does not offer."""
    return (
        f"mkdir -p $W/st; echo 'void later_fn(void){{}}' > $W/s.c; echo '{version} {{ later_fn; }};' > $W/s.map; "
        f"gcc -shared -fPIC -nostdlib -Wl,-soname,{library} -Wl,--version-script=$W/s.map -o $W/st/{library} $W/s.c || exit 97; "
        "echo 'extern void later_fn(void); void* PyInit_fastops(void){ later_fn(); return 0; }' > $W/e.c; "
        f"gcc -shared -fPIC -o $D/fastops.so $W/e.c $W/st/{library} || exit 97; chmod 755 $D/fastops.so; rm -rf $W/st"
    )


FAST = (
    T
    + "x = torch.ones(4, device='@D@')\nprint('device', x.device, flush=True)\nimport os, sys\nsys.path.insert(0, os.environ['D'])\nimport fastops\nprint(fastops.run(x))\n"
)
NEAR = (DROPPED, ODD, BUILD, MIXED)
D = {"D": "$D"}
enter(
    "extension-from-elsewhere",
    Case("torch-matmul", "a later C library", ABI, (*NEAR, OT), code=FAST, environ=D, setup=versioned("libc.so.6", "GLIBC_2.99"), expect="GLIBC_2.99"),
    Case("torch-matmul", "a later C++ library", ABI, (*NEAR, OT, PATH), code=FAST, environ=D, setup=versioned("libstdc++.so.6", "GLIBCXX_3.4.99"), expect="GLIBCXX"),
    Case("torch-matmul", "a later runtime of CUDA 13", ABI, ("cuda.version_mismatch", *NEAR), code=FAST, environ=D, setup=versioned("libcudart.so.13", "libcudart.so.13.9"), expect="libcudart"),
    Case("torch-matmul", "symbols of torch's allocator of another release", ABI, (ODD,), code=FAST, environ=D, setup="echo 'extern void _ZN3c104cuda20CUDACachingAllocator13raw_alloc_oldEm(void); void* PyInit_fastops(void){ _ZN3c104cuda20CUDACachingAllocator13raw_alloc_oldEm(); return 0; }' > $W/e.c; gcc -shared -fPIC -o $D/fastops.so $W/e.c || exit 97; chmod 755 $D/fastops.so", expect="undefined symbol|raw_alloc_old"),
    Case("torch-matmul", "of another machine", ABI, (BAD, DROPPED, PATH, OT, BUILD), code=FAST, environ=D, setup="echo 'void* PyInit_fastops(void){ return 0; }' > $W/e.c; gcc -shared -fPIC -o $D/fastops.so $W/e.c || exit 97; printf '\\267' | dd of=$D/fastops.so bs=1 seek=18 conv=notrunc status=none", expect="fastops"),
    Case("torch-matmul", "CUDA 12's libraries wanted", ABI, ("cuda.version_mismatch", LIB, PATH), code=FAST, environ=D, setup="echo 'int g;' > $W/g.c; gcc -shared -fPIC -Wl,-soname,libcublasLt.so.12 -o $W/libg.so $W/g.c; echo 'void* PyInit_fastops(void){ return 0; }' > $W/e.c; gcc -shared -fPIC -o $D/fastops.so $W/e.c -Wl,--no-as-needed -L$W -lg || exit 97; rm $W/libg.so; chmod 755 $D/fastops.so", expect="libcublasLt.so.12"),
)  # fmt: skip
LINKS = "K=$(find @SITE@/nvidia -name '{0}' | head -1); [ -n \"$K\" ] || exit 97; "
enter(
    "library-unwound",
    Case("torch-matmul torch-fft jax-matmul cupy-matmul", "cuBLAS is a link to itself", LIB, (BAD, MIXED), setup=LINKS.format("libcublas.so.13") + "over $(dirname $K); rm -f $K; ln -s $K $K", void=""),
    Case("torch-fft jax-fft cupy-fft", "cuFFT is a pipe", BAD, (LIB, LIM), setup=LINKS.format("libcufft.so.12") + "over $(dirname $K); rm -f $K; echo 'moved' > $K", void=""),
    Case("torch-solve cupy-svd jax-solve", "cuSOLVER and cuSPARSE stand under each other's name", BAD, (LIB, MIXED, CONFLICT, ABI), setup=LINKS.format("libcusolver.so.12") + "N=$(dirname $K); over $N; rm -f $N/libcusolver.so.12 $N/libcusparse.so.12; ln -s $LOWER/libcusparse.so.12 $N/libcusolver.so.12; ln -s $LOWER/libcusolver.so.12 $N/libcusparse.so.12", void=""),
    Case("cupy-raw torch-bessel", "parts of NVRTC are of an older toolkit by name", LIB, (COMPILER, BAD, MIXED), setup=LINKS.format("libnvrtc-builtins.so.13.0") + "N=$(dirname $K); over $N; mv $N/libnvrtc-builtins.so.13.0 $N/libnvrtc-builtins.so.12.9", void=""),
    Case("torch-train jax-conv", "cuDNN's parts lie one folder deeper", "cudnn.missing", (BAD, "cudnn.mixed_libraries", PATH, "cudnn.version_mismatch"), setup=LINKS.format("libcudnn_graph.so.9") + "N=$(dirname $K); over $N; mkdir $N/x64; for f in $N/libcudnn_*; do ln -s $LOWER/$(basename $f) $N/x64/; rm -f $f; done", void=""),
    Case("torch-matmul jax-matmul", "nvJitLink was thought superfluous", LIB, (BAD, MIXED), setup=LINKS.format("libnvJitLink.so.13") + "over $(dirname $K); rm -f $K", void=""),
    Case("jax-matmul jax-fft", "harmless: names of the linker are gone", LIB, (BAD,), setup=LINKS.format("libcublas.so.13") + "N=$(dirname $K); over $N; rm -f $N/*.a $N/lib*_static*; : > $N/README", void=""),
)  # fmt: skip

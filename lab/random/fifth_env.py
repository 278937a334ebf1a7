"""Fifth operators, the surroundings: import path, loader, nodes, limits, neighbours, caches, launchers, variables.

Part `fifth`; nothing outside the draw's own folder and mount namespace is changed. `HOLD` draws start a process of their
own, which ends with the world. What is told as harmless is meant as a control.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from lab.random.draw import Draw, Machine, Operator, operator
from lab.random.files import GONE, layer
from lab.random.programs import source
from lab.worlds import ALL_NODES, new_dev

PART = "fifth"
SHADOW, PATH, SET, LIM, OT = "env.shadowed", "env.path", "env.setting", "env.limit", "other.not_gpu"
BAD, PEER, NCCL, HOST, SEL = (
    "install.corrupted",
    "distributed.peer",
    "distributed.nccl",
    "memory.host",
    "device.selection",
)
CPU_ONLY = ("onnx-cpu", "numba-cpu")
Rows = tuple[tuple[tuple[str, ...], str, tuple[str, ...], str, tuple[str, ...]], ...]
"""Programs by prefix, a variable, its values, the cause, what is as right."""


def fifth(name: str) -> Callable[[Operator], Operator]:
    """Enter an operator of the fifth part."""
    return operator(name, PART)


def some(rng: random.Random, machine: Machine, *prefixes: str, cpp: bool = False) -> str | None:
    """A healthy program of these prefixes that uses the device; C++ ones only where asked for."""
    names = [n for n in machine.programs(*prefixes) if n not in CPU_ONLY and n != "torch-large"]
    names = [n for n in names if cpp or not n.startswith("cpp")]
    return rng.choice(names) if names else None


def beside(site: str, module: str, leave: str = "") -> str:
    """Shell: a folder $W/old/MODULE of links to all that the package has, but for some names."""
    return (
        f"mkdir -p $W/old/{module}; for f in {site}/{module}/*; do case $(basename $f) in {leave or '-'}) ;; "
        f"*) ln -sfn $f $W/old/{module}/;; esac; done"
    )


# ------------------------------------------------------------------------------------------------ the import path
PARTIAL: dict[str, tuple[tuple[str, str], ...]] = {
    "torch": (
        ("torch: sources only", "mkdir -p $W/old/torch; cp {site}/torch/*.py $W/old/torch/"),
        ("torch: without lib", "{torch_lib}"),
        (
            "torch: a checkout",
            "mkdir -p $W/old/torch/_C; cp {site}/torch/*.py $W/old/torch/; : > $W/old/torch/_C/__init__.pyi",
        ),
    ),
    "jax": (
        ("jax: sources only", "mkdir -p $W/old/jax; cp {site}/jax/*.py $W/old/jax/"),
        ("jaxlib: without extensions", "{jaxlib_so}"),
    ),
    "cupy": (
        ("cupy: without _core", "{cupy_core}"),
        ("cupy_backends: sources only", "mkdir -p $W/old/cupy_backends; : > $W/old/cupy_backends/__init__.py"),
    ),
    "numba": (
        ("numba: without core", "{numba_core}"),
        ("llvmlite: without binding", "{llvm}"),
    ),
    "triton": (
        ("triton: without _C", "{triton_c}"),
        ("triton: sources only", "mkdir -p $W/old/triton; cp {site}/triton/*.py $W/old/triton/"),
    ),
}


@fifth("partial-copy")
def partial_copy(rng: random.Random, machine: Machine) -> Draw | None:
    """An incomplete copy of the package, as a checkout or a broken rsync leaves it, is earlier on PYTHONPATH."""
    family = rng.choice(sorted(PARTIAL))
    program = some(rng, machine, *(("triton", "torch-compile") if family == "triton" else (family,)))
    if not program:
        return None
    target, shell = rng.choice(PARTIAL[family])
    links = {
        "torch_lib": beside(machine.site, "torch", "lib|__pycache__"),
        "jaxlib_so": beside(machine.site, "jaxlib", "*.so|__pycache__"),
        "cupy_core": beside(machine.site, "cupy", "_core|__pycache__"),
        "numba_core": beside(machine.site, "numba", "core|__pycache__"),
        "llvm": beside(machine.site, "llvmlite", "binding|__pycache__"),
        "triton_c": beside(machine.site, "triton", "_C|__pycache__"),
    }
    setup = shell.format(site=machine.site, **links)
    also = (BAD, "install.conflict", "install.inconsistent")
    return Draw("partial-copy", target, program, SHADOW, also, setup, {"PYTHONPATH": "$W/old"})


OLDER = (
    ("numba", "llvmlite", "__init__.py", "__version__ = '0.20.0'", ""),
    ("jax", "jaxlib", "version.py", "__version__ = _version = '0.3.2'", ""),
    ("jax", "ml_dtypes", "__init__.py", "__version__ = '0.0.3'\\nfrom numpy import float16 as bfloat16", ""),
    ("torch-compile", "sympy", "__init__.py", "__version__ = '1.4'", ""),
    (
        "torch-compile",
        "triton",
        "__init__.py",
        "__version__ = '1.0.0'\\ndef jit(f):\\n    return f",
        "language|runtime",
    ),
    ("triton", "triton", "__init__.py", "__version__ = '1.0.0'\\ndef jit(f):\\n    return f", "backends"),
    ("jax", "opt_einsum", "__init__.py", "__version__ = '2.3.0'", "contract.py|paths.py"),
    ("cupy", "numpy", "version.py", "version = full_version = __version__ = '1.13.3'", ""),
)


@fifth("older-first")
def older_first(rng: random.Random, machine: Machine) -> Draw | None:
    """An older release of something the framework needs is earlier on PYTHONPATH."""
    rows = [row for row in OLDER if machine.programs(row[0])]
    if not rows:
        return None
    family, module, file, text, leave = rng.choice(rows)
    links = beside(machine.site, module, "|".join(filter(None, (file, "__pycache__", leave))))
    setup = f'{links}; printf "{text}\\n" > $W/old/{module}/{file}'
    program = some(rng, machine, family)
    if not program:
        return None
    also = ("install.inconsistent", "install.conflict", BAD, OT)
    return Draw("older-first", f"{module}: {text[:24]}", program, SHADOW, also, setup, {"PYTHONPATH": "$W/old"})


@fifth("zip-first")
def zip_first(rng: random.Random, machine: Machine) -> Draw | None:
    """An archive (a wheel, an egg) with the package's sources is earlier on PYTHONPATH: no compiled module is in it."""
    module = rng.choice(("torch", "jax", "jaxlib", "cupy", "numba", "triton", "numpy"))
    program = some(rng, machine, *{"jaxlib": ("jax",), "numpy": ("jax", "cupy", "numba")}.get(module, (module,)))
    if not program:
        return None
    name = rng.choice((f"{module}-1.0-py3-none-any.whl", f"{module}.zip", f"{module}-0.9-py3.8.egg"))
    make = (
        f"import zipfile, glob, os; z = zipfile.ZipFile('$W/{name}', 'w'); "
        f"[z.write(f, os.path.relpath(f, '{machine.site}')) for f in glob.glob('{machine.site}/{module}/*.py')]; z.close()"
    )
    also = (BAD, "install.conflict", "install.inconsistent")
    setup = f'{machine.python} -c "{make}"'
    return Draw("zip-first", name, program, SHADOW, also, setup, {"PYTHONPATH": f"$W/{name}"})


@fifth("foreign-numpy")
def foreign_numpy(rng: random.Random, machine: Machine) -> Draw | None:
    """The packages of another Python release are on PYTHONPATH: their compiled modules do not fit this one."""
    module, families = rng.choice(
        (("numpy", ("jax", "cupy", "numba")), ("ml_dtypes", ("jax",)), ("numba", ("numba",)), ("jaxlib", ("jax",)))
    )
    program = some(rng, machine, *families)
    if not program:
        return None
    tag = rng.choice(("cpython-36m", "cpython-38", "cpython-27"))
    setup = (
        f"mkdir -p $W/old; [ -e $W/old/{module} ] || cp -as {machine.site}/{module} $W/old/{module}; "
        f"find $W/old/{module} -name '*.so' | while read f; do mv $f $(dirname $f)/$(basename $f | "
        f"sed 's/cpython-3[0-9]*/{tag}/; s/abi3/{tag}/; t; s/[.]so$/.{tag}.so/'); done"
    )
    also = (BAD, "install.inconsistent", "framework.extension_abi", "framework.platform_dropped", OT, PATH)
    return Draw("foreign-numpy", f"{module} of {tag}", program, SHADOW, also, setup, {"PYTHONPATH": "$W/old"})


@fifth("cuda-folder")
def cuda_folder(rng: random.Random, machine: Machine) -> Draw | None:
    """The user's own package `cuda` or `nvidia` stands before the folders that NVIDIA's packages share."""
    program = some(rng, machine)
    if not program:
        return None
    files, target = rng.choice(
        (
            ({"cuda.py": "BLOCK = 256\ndef blocks(n):\n    return (n + BLOCK - 1) // BLOCK\n"}, "cuda.py"),
            ({"cuda/__init__.py": "from .launch import *\n", "cuda/launch.py": "THREADS = 128\n"}, "cuda/__init__.py"),
            ({"lib/nvidia/__init__.py": "VENDOR = 'nvidia'\n"}, "lib/nvidia/__init__.py"),
            ({"lib/nvidia.py": "def smi():\n    return None\n"}, "lib/nvidia.py"),
        )
    )
    also = ("cuda.missing_library", "cudnn.missing", "cuda.compiler_missing", BAD, "install.conflict", OT)
    return Draw("cuda-folder", target, program, SHADOW, also, environ={"PYTHONPATH": "$D/lib"}, files=files)


@fifth("plugin-folder")
def plugin_folder(rng: random.Random, machine: Machine) -> Draw | None:
    """A package `jax_plugins` of the user's own hides the folder in which JAX looks for its GPU."""
    program = some(rng, machine, "jax")
    if not program:
        return None
    body, name = rng.choice((("", "jax_plugins/__init__.py"), ("NAMES = ['adam', 'lion']\n", "jax_plugins.py")))
    also = ("framework.cpu_only", BAD, SET, "install.inconsistent", "install.conflict", "cuda.missing_library")
    return Draw(
        "plugin-folder", name, program, SHADOW, also, environ={"PYTHONPATH": "$D/lib"}, files={f"lib/{name}": body}
    )


OWN = {
    "profile": "NAME = 'default'\ndef load(path):\n    return {}\n",
    "signal": "def smooth(x, k):\n    return [sum(x[i:i + k]) / k for i in range(len(x))]\n",
    "token": "PAD, BOS, EOS = 0, 1, 2\n",
    "tokenize": "def words(text):\n    return text.split()\n",
    "select": "def best(models):\n    return max(models)\n",
    "calendar": "EPOCHS = [1, 10, 30]\n",
    "operator": "class Operator:\n    pass\n",
    "enum": "COLOURS = 3\n",
    "dataclasses": "class Sample:\n    pass\n",
    "string": "def clean(s):\n    return s.strip().lower()\n",
    "threading": "WORKERS = 4\n",
    "tempfile": "PATH = 'scratch'\n",
    "statistics": "def mean(x):\n    return sum(x) / len(x)\n",
    "warnings": "def warn(text):\n    print('!', text)\n",
    "weakref": "REF = {}\n",
    "contextlib": "def context():\n    return None\n",
    "functools": "def compose(*f):\n    return f\n",
    "pickle": "def dump_model(m):\n    pass\n",
    "socket": "PORT = 9000\n",
    "subprocess": "STEPS = ['load', 'train']\n",
    "traceback": "def back(trace):\n    return trace[::-1]\n",
    "textwrap": "WIDTH = 80\n",
    "importlib": "def lib():\n    return 'models'\n",
    "math": "PI = 3.14\n",
    "utils": "def seed_all(n):\n    pass\n",
    "test": "print('smoke test')\n",
}


@fifth("own-module")
def own_module(rng: random.Random, machine: Machine) -> Draw | None:
    """A module of the user's own has a name of the standard library's (two of them are no such name: controls)."""
    program, name = some(rng, machine), rng.choice(sorted(OWN))
    if not program:
        return None
    if rng.random() < 0.25:
        files = {f"src/{name}/__init__.py": OWN[name]}
        return Draw("own-module", f"src/{name}/", program, SHADOW, (OT,), environ={"PYTHONPATH": "$D/src"}, files=files)
    return Draw("own-module", f"{name}.py", program, SHADOW, (OT,), files={f"{name}.py": OWN[name]})


@fifth("wrong-python")
def wrong_python(rng: random.Random, machine: Machine) -> Draw | None:
    """The environment's interpreter is started so that it does not find the environment, or another one is."""
    program = some(rng, machine)
    if not program:
        return None
    command, cause = rng.choice(
        (
            ("$PYTHON -S $SCRIPT", PATH),
            ("$(readlink -f $PYTHON) $SCRIPT", PATH),
            ("PYTHONHOME=$(dirname $(dirname $PYTHON)) $PYTHON $SCRIPT", PATH),
            ("PATH=/usr/bin:/bin; python3 $SCRIPT", PATH),
            ("ln -sf $(readlink -f $PYTHON) $W/python; $W/python $SCRIPT", PATH),
        )
    )
    also = (OT, SET, SHADOW, BAD, "install.inconsistent")
    return Draw("wrong-python", command[:50], program, cause, also, command=command)


@fifth("same-name-folder")
def same_name_folder(rng: random.Random, machine: Machine) -> Draw | None:
    """Folders without code of the framework's name (data, notes) lie beside the script: they give way, a control."""
    program = some(rng, machine)
    if not program:
        return None
    names = rng.sample(("torch", "jax", "numpy", "cupy", "numba", "triton", "nvidia", "jax_plugins", "google"), 3)
    files = {f"{name}/notes.txt": "weights of last week\n" for name in names}
    return Draw("same-name-folder", " ".join(sorted(names)), program, SHADOW, (OT,), files=files)


# ------------------------------------------------------------------------------------------------ the loader
@fifth("preload-hook")
def preload_hook(rng: random.Random, machine: Machine) -> Draw | None:
    """The job's own LD_PRELOAD brings a tool's library that wants a symbol or a library nobody has, or ends the process."""
    program = some(rng, machine)
    if not program:
        return None
    name = rng.choice(("libhook.so", "libprofile_cuda.so", "libmemtrace.so.2", "libnvtx_inject.so"))
    code, link = rng.choice(
        (
            ("extern int hook_begin(void); __attribute__((constructor)) static void b(void) { hook_begin(); }", ""),
            ("int x;", "-L$W -Wl,--no-as-needed -lgone"),
            ("#include <stdlib.h>\n__attribute__((constructor)) static void b(void) { abort(); }", ""),
            ("extern int cudaHookBegin_v2; int *p = &cudaHookBegin_v2;", ""),
        )
    )
    gone = "echo 'int g;' > $W/g.c; gcc -shared -fPIC -Wl,-soname,libgone.so.3 -o $W/libgone.so $W/g.c; "
    setup = (
        f"{gone if link else ''}printf '%s\\n' '{code}' > $W/h.c; gcc -shared -fPIC -o $W/{name} $W/h.c {link} || exit 97; "
        "rm -f $W/libgone.so $W/[gh].c"
    )
    also = (SET, SHADOW, OT, BAD, "framework.extension_abi", "cuda.missing_library", "cuda.mixed_libraries")
    return Draw("preload-hook", f"{name}: {code[:30]}", program, PATH, also, setup, command=f"export LD_PRELOAD=$W/{name}; exec $PYTHON $SCRIPT")  # fmt: skip


@fifth("preload-missing")
def preload_missing(rng: random.Random, machine: Machine) -> Draw | None:
    """LD_PRELOAD names an allocator that is not installed, or for another machine: the loader only says so, a control."""
    program = some(rng, machine, cpp=True)
    if not program:
        return None
    name = rng.choice(
        ("/usr/lib/libtcmalloc_minimal.so.4", "/opt/intel/lib/libiomp5.so", "libjemalloc.so.2", "$W/lib32.so")
    )
    setup = "printf '\\177ELF\\1\\1\\1' > $W/lib32.so; head -c 120 /dev/zero >> $W/lib32.so"
    return Draw("preload-missing", name, program, PATH, (SET, OT, BAD), setup, {"LD_PRELOAD": name})


WANTED = r"^lib(cublas|cublasLt|cudart|cufft|cusparse|cusolver|curand|nvrtc|nvJitLink|cudnn|cudnn_\w+|nccl)\.so\.\d+$"


@fifth("links-to-majors")
def links_to_majors(rng: random.Random, machine: Machine) -> Draw | None:
    """LD_LIBRARY_PATH has a folder of links that give another major release the wanted name (an advice often read)."""
    program = some(rng, machine, "cpp-cu", "cupy", "jax", "torch", cpp=True)
    found = sorted({p.rpartition("/")[2] for p in machine.libraries(program)} if program else set())
    names = sorted({re.sub(r"(\.so\.\d+)\..*", r"\1", n) for n in found if re.match(WANTED[:-1], n)})
    if not program or not names:
        return None
    name = rng.choice(names)
    stem, _, major = name.partition(".so.")
    places = f"{machine.toolkit}/lib64 {machine.site}/nvidia /usr/lib/x86_64-linux-gnu /usr/local"
    setup = (
        f"mkdir -p $W/links; O=$(find -L {places} -maxdepth 5 -name '{stem}.so.[0-9]*' 2>/dev/null | "
        f"grep -v '[.]so[.]{major}' | head -1); "
        f'[ -n "$O" ] && ln -sf $O $W/links/{name} || {{ O=$W/links/{stem}.so.7; echo "int {stem}_seven;" > $W/l.c; '
        f"gcc -shared -fPIC -Wl,-soname,{stem}.so.7 -o $O $W/l.c && rm $W/l.c && ln -sf $O $W/links/{name} || exit 97; }}"
    )
    cuda = ("cuda.mixed_libraries", ("cuda.version_mismatch", "cuda.missing_library"))
    cudnn = ("cudnn.mixed_libraries", ("cudnn.version_mismatch", "cudnn.missing", "cuda.mixed_libraries"))
    cause, near = cudnn if "cudnn" in name else cuda
    also = (*near, PATH, BAD, SHADOW, "cuda.compiler_missing" if "nv" in name else "framework.extension_abi")
    also = (*also, NCCL) if "nccl" in name else also
    return Draw("links-to-majors", name, program, cause, also, setup, {"LD_LIBRARY_PATH": "$W/links:$OLD_LD"})


@fifth("runpath-empty")
def runpath_empty(rng: random.Random, machine: Machine) -> Draw | None:
    """The folder that the libraries' own search path names is empty: lost in a copy, or an unmounted volume."""
    program = some(rng, machine)
    folders = sorted({p.rpartition("/")[0] for p in machine.libraries(program)} if program else set())
    folders = [f for f in folders if re.search(r"(/lib|/lib64|\.libs)$", f) and f.startswith(machine.site)]
    if not program or not folders:
        return None
    folder = rng.choice(folders)
    path = rng.choice([p for p in machine.libraries(program) if p.startswith(folder + "/")])
    cause, also = GONE[layer(path)]
    also = (*also, "cuda.missing_library", PATH, "framework.cpu_only", "cuda.compiler_missing", "cudnn.missing")
    also = tuple(sorted({*also} - {cause}))
    setup = f"mkdir -p $W/e; mount --bind $W/e {folder} || exit 97"
    return Draw("runpath-empty", folder.removeprefix(machine.site), program, cause, also, setup)


@fifth("loader-cache")
def loader_cache(rng: random.Random, machine: Machine) -> Draw | None:
    """The loader's cache is empty and LD_LIBRARY_PATH is not set: what lies in no standard folder is not found."""
    program = some(rng, machine, cpp=True)
    if not program:
        return None
    also = ("driver.missing", "container.no_gpu", "cuda.missing_library", "cuda.compiler_missing", "cudnn.missing", BAD)
    setup = ": > $W/cache; mount --bind $W/cache /etc/ld.so.cache || exit 97"
    return Draw("loader-cache", "/etc/ld.so.cache", program, PATH, also, setup, {"LD_LIBRARY_PATH": None})


@fifth("bare-environ")
def bare_environ(rng: random.Random, machine: Machine) -> Draw | None:
    """Started with no environment at all, as cron and some launchers do; harmless where nothing hangs on a variable."""
    program = some(rng, machine)
    if not program:
        return None
    keep = rng.choice(
        ("", "PATH=/nonexistent", "HOME=/nonexistent", "PATH=/usr/sbin HOME=/nonexistent TMPDIR=/nonexistent")
    )
    command = f"env -i XLA_PYTHON_CLIENT_PREALLOCATE=false {keep} $PYTHON $SCRIPT"
    also = ("driver.missing", "cuda.compiler_missing", "cuda.missing_library", LIM, SET, OT, "program.build")
    return Draw("bare-environ", f"env -i {keep}", program, PATH, also, command=command)


# ------------------------------------------------------------------------------------------------ nodes, sandbox
@fifth("group-nodes")
def group_nodes(rng: random.Random, machine: Machine) -> Draw | None:
    """The nodes belong to a group that this user is not in, or may only be read."""
    program = some(rng, machine, cpp=True)
    if not program:
        return None
    how = rng.choice(
        ("chgrp video /dev/nvidia*; chmod 0660 /dev/nvidia?*", "chmod 0444 /dev/nvidia0 /dev/nvidiactl", "chmod 0220 /dev/nvidiactl", "chgrp 44 /dev/nvidia-uvm; chmod 0660 /dev/nvidia-uvm")
    )  # fmt: skip
    setup = f"[ -e /dev/nvidia0 ] || exit 97; {new_dev(ALL_NODES)}; {how}"
    return Draw("group-nodes", how[:50], program, "driver.permission", ("container.no_gpu",), setup, user="nobody")


@fifth("other-nodes")
def other_nodes(rng: random.Random, machine: Machine) -> Draw | None:
    """Nodes that computing does not need are closed or gone: capabilities, tools, modesetting. A control."""
    program = some(rng, machine, cpp=True)
    if not program:
        return None
    how = rng.choice(
        ("chmod -R 000 /dev/nvidia-caps", "rm -f /dev/nvidia-uvm-tools", "rm -rf /dev/nvidia-caps", "chmod 000 /dev/nvidia-uvm-tools")
    )  # fmt: skip
    setup = f"[ -e /dev/nvidia0 ] || exit 97; {new_dev(ALL_NODES)}; {how} 2>/dev/null; true"
    return Draw("other-nodes", how, program, "driver.permission", ("container.no_gpu",), setup, user="nobody")


@fifth("sandbox-view")
def sandbox_view(rng: random.Random, machine: Machine) -> Draw | None:
    """A sandbox that shows nothing of the hardware: /sys is empty, or its PCI part, or the driver's part of /proc too."""
    program = some(rng, machine, cpp=True)
    if not program:
        return None
    how = rng.choice(
        ("mount -t tmpfs none /sys", "mount -t tmpfs none /sys/bus/pci", "mount -t tmpfs none /sys; mount -t tmpfs none /proc/driver", "mount -t tmpfs none /sys/class; mount -t tmpfs none /sys/devices/system")
    )  # fmt: skip
    also = ("driver.permission", "driver.missing", "driver.not_ready", LIM, OT)
    return Draw("sandbox-view", how, program, "container.no_gpu", also, f"{{ {how}; }} || exit 97")


ODD_VISIBLE = (
    "0,0",
    "1,0",
    "all",
    "GPU-",
    "'0'",
    "[0]",
    "3-5",
    "device=0",
    "gpu0",
    "void",
    "None",
    "-0",
    ",0",
    "MIG-GPU-0/7/0",
    "auto",
)


@fifth("visible-odd")
def visible_odd(rng: random.Random, machine: Machine) -> Draw | None:
    """CUDA_VISIBLE_DEVICES as people write it who had another syntax in mind; some values still leave the GPU."""
    program, value = some(rng, machine, cpp=True), rng.choice(ODD_VISIBLE)
    if not program:
        return None
    return Draw("visible-odd", value, program, SEL, (), environ={"CUDA_VISIBLE_DEVICES": value})


@fifth("mps-left")
def mps_left(rng: random.Random, machine: Machine) -> Draw | None:
    """Variables and a folder of an MPS daemon that no longer runs; harmless where the driver does not mind."""
    program = some(rng, machine, "cpp", "torch-matmul", "cupy-matmul", "jax-matmul", cpp=True)
    if not program:
        return None
    name, setup, extra = rng.choice(
        (
            ("no folder", ":", {}),
            ("plain files", "mkdir -p $W/mps; touch $W/mps/control $W/mps/log $W/mps/nvidia-cuda-mps-control.pid", {}),
            ("old process", "mkdir -p $W/mps; echo 999999 > $W/mps/nvidia-cuda-mps-control.pid; mkfifo $W/mps/control_lock 2>/dev/null; true", {}),
            ("percentage", ":", {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "0", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "0=1M"}),
        )
    )  # fmt: skip
    environ = {"CUDA_MPS_PIPE_DIRECTORY": "$W/mps", "CUDA_MPS_LOG_DIRECTORY": "$W/mps", **extra}
    also = ("driver.not_ready", "device.busy", "driver.permission", OT)
    return Draw("mps-left", name, program, SET, also, setup, environ)


# ------------------------------------------------------------------------------------------------ limits, memory
LOADER = """import torch
from torch.utils.data import DataLoader, Dataset
class Clips(Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, i):
        return torch.full((8, 3, 720, 1280), float(i))
if __name__ == '__main__':
    seen = 0
    for x in DataLoader(Clips(), batch_size=2, num_workers=3):
        seen += x[:, :, :, ::16].to('@D@').shape[0]
    print('RESULT', seen)
"""
KEEPER = """import torch
from torch.utils.data import DataLoader, Dataset
class Small(Dataset):
    def __len__(self):
        return 600
    def __getitem__(self, i):
        return torch.tensor([float(i)]), i
if __name__ == '__main__':
    kept = [x for x in DataLoader(Small(), batch_size=1, num_workers=2)]
    print('RESULT', len(kept), torch.cat([x for x, _ in kept]).to('@D@').sum().item())
"""


@fifth("shm-docker")
def shm_docker(rng: random.Random, machine: Machine) -> Draw | None:
    """/dev/shm as docker gives it (64 MB) and workers that hand over video clips; or one that is another user's."""
    if not machine.programs("torch-loader"):
        return None
    code = LOADER.replace("@D@", machine.device)
    if rng.random() < 0.3:
        shell = "mount -t tmpfs -o mode=0700 none /dev/shm || exit 97"
        return Draw("shm-docker", "root's own", "torch-clips", LIM, (HOST, "driver.permission", OT), shell, code=code, user="nobody")  # fmt: skip
    size = rng.choice(("64m", "32m", "100m"))
    shell = f"mount -t tmpfs -o size={size} none /dev/shm || exit 97"
    return Draw("shm-docker", size, "torch-clips", HOST, (LIM,), shell, code=code)


@fifth("many-files")
def many_files(rng: random.Random, machine: Machine) -> Draw | None:
    """A low limit of open files, and a program that keeps what its workers sent: one descriptor for each."""
    if not machine.programs("torch-loader"):
        return None
    limit = f"ulimit -n {rng.choice((160, 256, 400))}"
    code = KEEPER.replace("@D@", machine.device)
    return Draw("many-files", limit, "torch-keeper", LIM, (OT, "program.fork"), limit=limit, code=code)


@fifth("limit-address")
def limit_address(rng: random.Random, machine: Machine) -> Draw | None:
    """An address space that holds Python and the libraries, but not what CUDA reserves for a card of this size."""
    program = some(rng, machine, cpp=True)
    if not program:
        return None
    limit = f"ulimit -v {rng.choice((16_000_000, 30_000_000, 60_000_000, 100_000_000))}"
    return Draw("limit-address", limit, program, LIM, (HOST, "memory.oom"), limit=limit)


@fifth("limit-tasks")
def limit_tasks(rng: random.Random, machine: Machine) -> Draw | None:
    """A user with few processes and threads left, and a program that starts many, in its own words."""
    if not machine.programs("torch-loader"):
        return None
    count = rng.choice((30, 60, 90))
    code = (
        "import threading, time, torch\nx = torch.ones(256, device='@D@')\n"
        "jobs = [threading.Thread(target=time.sleep, args=(3,), daemon=True) for _ in range(400)]\n"
        "for job in jobs:\n    job.start()\nprint('RESULT', x.sum().item())\n"
    ).replace("@D@", machine.device)
    return Draw("limit-tasks", f"ulimit -u {count}", "torch-threads", LIM, (OT, HOST), limit=f"ulimit -u {count}", code=code, user="nobody")  # fmt: skip


NEIGHBOUR = (
    "import sys, time, torch\nx = torch.empty(int(sys.argv[2]) << 30, dtype=torch.uint8, device='cuda')\n"
    "open(sys.argv[1], 'w').close()\ntime.sleep(110)\n"
)
WANTS = {
    "torch": "import torch\ntotal = torch.cuda.mem_get_info()[1]\nx = torch.empty(total - (14 << 30), dtype=torch.uint8, device='cuda')\nprint('RESULT', x.shape)\n",
    "cupy": "import cupy\ntotal = cupy.cuda.runtime.memGetInfo()[1]\nx = cupy.empty(total - (14 << 30), dtype='u1')\nprint('RESULT', x.shape)\n",
    "numba": "import numpy\nfrom numba import cuda\ntotal = cuda.current_context().get_memory_info().total\nx = cuda.device_array(total - (14 << 30), dtype=numpy.uint8)\nprint('RESULT', x.shape)\n",
}


@fifth("neighbour")
def neighbour(rng: random.Random, machine: Machine) -> Draw | None:
    """Another process holds a share of the GPU's memory; the program would fit if it were alone."""
    here = [name for name in WANTS if machine.programs({"numba": "numba-kernel"}.get(name, name))]
    if machine.device != "cuda" or not here or not machine.programs("torch-matmul"):
        return None
    family, share = rng.choice(here), rng.choice((18, 24, 36))
    setup = (
        f"rm -f $W/held; {machine.python} $W/neighbour.py $W/held {share} >/dev/null 2>&1 & N=$!; "
        'trap "kill -9 $N 2>/dev/null" EXIT; for i in $(seq 200); do [ -e $W/held ] && break; sleep 0.2; done; '
        "[ -e $W/held ] || exit 97"
    )
    setup = f"cp $D/lib/neighbour.py $W/neighbour.py; {setup}"
    also = ("memory.oom",)
    return Draw("neighbour", f"{share} GiB", f"{family}-wants", "memory.other_process", also, setup, files={"lib/neighbour.py": NEIGHBOUR}, code=WANTS[family])  # fmt: skip


# ------------------------------------------------------------------------------------------------ caches, locks
CACHES = (
    ("triton", "TRITON_CACHE_DIR"), ("triton", "TRITON_HOME"), ("torch-compile", "TORCHINDUCTOR_CACHE_DIR"), ("torch-compile", "TRITON_CACHE_DIR"),
    ("torch-compile", "TMPDIR"), ("cupy-raw", "CUPY_CACHE_DIR"), ("cupy", "HOME"), ("numba-kernel", "NUMBA_CACHE_DIR"), ("torch-bessel", "XDG_CACHE_HOME"),
    ("jax", "JAX_COMPILATION_CACHE_DIR"), ("jax", "TMPDIR"), ("torch-bessel", "PYTORCH_KERNEL_CACHE_PATH"),
)  # fmt: skip
STATES = (
    ("of root", "mkdir -p $W/k; chmod 700 $W/k", "$W/k", "nobody"),
    ("below another's folder", "mkdir -p $W/k; chmod 755 $W/k", "$W/k/user/cache", "nobody"),
    ("link to nowhere", "ln -sfn /mnt/scratch-gone/cache $W/k", "$W/k", ""),
    ("link to itself", "ln -sfn $W/k $W/k", "$W/k", ""),
    ("name too long", ":", "$W/" + "very-long-name-" * 18, ""),
    ("below a file", "echo 1 > $W/k", "$W/k/cache", ""),
    ("no room", "mkdir -p $W/k; mount -t tmpfs -o size=4k,nr_inodes=3 none $W/k || exit 97", "$W/k", ""),
    ("read-only", "mkdir -p $W/k; mount -t tmpfs -o ro none $W/k || exit 97", "$W/k", ""),
    ("without execution", "mkdir -p $W/k; mount -t tmpfs -o noexec none $W/k || exit 97", "$W/k", ""),
)


@fifth("cache-state")
def cache_state(rng: random.Random, machine: Machine) -> Draw | None:
    """One cache folder that belongs to another, leads nowhere, has no room, or may not be executed from."""
    rows = [row for row in CACHES if machine.programs(row[0])]
    if not rows:
        return None
    family, variable = rng.choice(rows)
    program = some(rng, machine, family)
    target, setup, value, user = rng.choice(STATES)
    if not program:
        return None
    also = (SET, PATH, OT, BAD, "program.build", "cuda.compiler_missing")
    return Draw("cache-state", f"{variable}: {target}", program, LIM, also, setup, {variable: value}, user=user)


@fifth("stale-lock")
def stale_lock(rng: random.Random, machine: Machine) -> Draw | None:
    """The lock of a build that was killed: the next one waits for it until the user's own clock ends it."""
    if not machine.programs("torch-matmul"):
        return None
    name = rng.choice(("fused_norm", "roi_ops", "chamfer"))
    code = (
        "import os, signal\ndef late(*_):\n    raise TimeoutError('building took more than 15 s')\nsignal.signal(signal.SIGALRM, late)\n"
        "import torch\nprint('device', torch.ones(1, device='@D@').device)\nfrom torch.utils.cpp_extension import load_inline\nsignal.alarm(15)\n"
        f"load_inline(name='{name}', cpp_sources='int one() {{ return 1; }}', functions=['one'], build_directory=os.environ['EXT'], verbose=True)\n"
    ).replace("@D@", machine.device)
    setup = "mkdir -p $W/ext; touch -d '3 days ago' $W/ext/lock; chmod -R 777 $W/ext"
    refine = ((r"No module named 'setuptools'", OT), (r"Ninja is required", "program.build"))
    return Draw("stale-lock", name, "torch-ext", LIM, ("program.build", OT, SET, BAD), setup, {"EXT": "$W/ext"}, code=code, refine=refine)  # fmt: skip


BUILDS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("TORCH_CUDA_ARCH_LIST", "9.x", SET, ("program.build", "framework.gpu_unsupported")),
    ("TORCH_CUDA_ARCH_LIST", "Blackhole", SET, ("program.build", "framework.gpu_unsupported")),
    ("TORCH_CUDA_ARCH_LIST", "sm_90", SET, ("program.build", "framework.gpu_unsupported")),
    ("MAX_JOBS", "abc", SET, ("program.build", OT)),
    ("CXX", "/nonexistent/g++", PATH, (SET, "program.build", "cuda.compiler_missing")),
    ("CUDA_HOME", "/nonexistent/cuda", PATH, (SET, "program.build", "cuda.compiler_missing")),
    ("CUDA_HOME", "/usr", PATH, (SET, "program.build", "cuda.compiler_missing", "cuda.version_mismatch")),
    ("TORCH_EXTENSIONS_DIR", "/proc/none", LIM, (SET, PATH, "program.build", OT)),
    ("PATH", "/usr/sbin", PATH, (SET, "program.build", "cuda.compiler_missing", OT)),
)


@fifth("extension-environ")
def extension_environ(rng: random.Random, machine: Machine) -> Draw | None:
    """A CUDA extension is built at run time and a variable of the build is wrong."""
    if machine.device != "cuda" or not machine.programs("torch-matmul"):
        return None
    name, value, cause, also = rng.choice(BUILDS)
    code = (
        "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
        "m = load_inline(name='plus', cpp_sources='torch::Tensor plus(torch::Tensor x);', functions=['plus'], cuda_sources='torch::Tensor plus(torch::Tensor x) { return x + 1; }', verbose=True)\n"
        "print('RESULT', m.plus(torch.ones(2, device='cuda')))\n"
    )
    refine = ((r"No module named 'setuptools'", OT), (r"Ninja is required", PATH))
    return Draw("extension-environ", f"{name}={value}", "torch-ext", cause, (*also, BAD), environ={name: value}, code=code, refine=refine, seconds=58)  # fmt: skip


# ------------------------------------------------------------------------------------------------ launchers, time
RANKS = """import datetime, os, signal, sys, time, torch
import torch.distributed as dist
rank = int(os.environ['RANK'])
x = torch.ones(8, device='@D@') * rank
dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=15))
t = x.cpu()
dist.all_reduce(t)
print('rank', rank, t.sum().item(), flush=True)
@THEN@
dist.all_reduce(t)
print('RESULT', t.sum().item())
dist.destroy_process_group()
"""
RUN = "timeout -s KILL 50 $PYTHON -m torch.distributed.run"
TAKE = '$PYTHON -c "import socket, time; s = socket.socket(); s.bind((\'0.0.0.0\', @P@)); s.listen(); time.sleep(45)" >/dev/null 2>&1 & T=$!; trap "kill $T" EXIT; sleep 1.5; '
ONE = "--nnodes=1 --nproc_per_node=2 --master_addr=127.0.0.1 --master_port=@P@ $SCRIPT"
JOBS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("rank killed", "if rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)", f"{RUN} {ONE}", PEER, (HOST, OT, LIM)),
    ("rank exits", "if rank == 1:\n    os._exit(17)", f"{RUN} {ONE}", PEER, (OT,)),
    ("rank aborts", "if rank == 1:\n    os.abort()", f"{RUN} {ONE}", PEER, (OT, "program.illegal_access")),
    ("rank late", "if rank == 1:\n    time.sleep(30)", f"{RUN} {ONE}", PEER, (NCCL,)),
    ("rank leaves", "if rank == 1:\n    sys.exit(0)", f"{RUN} {ONE}", PEER, (OT, NCCL)),
    ("port taken", "", f"{TAKE}{RUN} {ONE}", PEER, (SET,)),
    ("node missing", "", f"{RUN} --nnodes=2 --nproc_per_node=1 --rdzv_backend=c10d --rdzv_id=7 --rdzv_endpoint=127.0.0.1:@P@ --rdzv_conf=timeout=8,join_timeout=8 $SCRIPT", PEER, (SET,)),
    ("head missing", "", f"{RUN} --nnodes=2 --nproc_per_node=1 --rdzv_backend=c10d --rdzv_id=7 --rdzv_endpoint=127.0.0.1:@P@ --rdzv_conf=is_host=0,timeout=8,read_timeout=6 $SCRIPT", PEER, (SET,)),
    ("interface", "", f"export GLOO_SOCKET_IFNAME=ib9; {RUN} {ONE}", SET, (NCCL, PEER)),
    ("size too large", "", "export RANK=0 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=@P@; timeout -s KILL 45 $PYTHON $SCRIPT", PEER, (SET,)),
    ("rank too large", "", "export RANK=2 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=@P@; timeout -s KILL 45 $PYTHON $SCRIPT", SET, (PEER, OT)),
    ("no address", "", "export RANK=0 WORLD_SIZE=1; $PYTHON $SCRIPT", SET, (PEER, OT, "program.order")),
)  # fmt: skip


@fifth("torchrun")
def torchrun(rng: random.Random, machine: Machine) -> Draw | None:
    """A job of two ranks under torchrun: one dies, leaves or is late, a port is taken, a node or the head never comes."""
    if not machine.programs("torch-matmul"):
        return None
    target, then, command, cause, also = rng.choice(JOBS)
    code = RANKS.replace("@D@", machine.device).replace("@THEN@", then)
    command = command.replace("@P@", str(rng.randrange(21000, 32000)))
    return Draw("torchrun", target, "torch-job", cause, also, code=code, command=command)


@fifth("torchrun-gpus")
def torchrun_gpus(rng: random.Random, machine: Machine) -> Draw | None:
    """More ranks than GPUs: each takes the GPU of its number, or all share one in NCCL."""
    if machine.device != "cuda" or not machine.programs("torch-nccl"):
        return None
    own = rng.random() < 0.6
    place = "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))" if own else "torch.cuda.set_device(0)"
    code = (
        f"import datetime, os, torch\nimport torch.distributed as dist\n{place}\n"
        "dist.init_process_group('nccl', timeout=datetime.timedelta(seconds=20))\nx = torch.ones(4, device='cuda')\n"
        "dist.all_reduce(x)\nprint('RESULT', x.sum().item())\ndist.destroy_process_group()\n"
    )
    command = f"{RUN} {ONE}".replace("@P@", str(rng.randrange(21000, 32000)))
    cause, also = (SEL, (PEER, NCCL)) if own else (NCCL, (PEER, SEL))
    return Draw("torchrun-gpus", place, "torch-job", cause, also, code=code, command=command)


LONG = "\nimport time\nfor epoch in range(1, 120):\n    print(f'epoch {epoch} loss {1 / epoch:.4f}', flush=True)\n    time.sleep(0.5)\n"


@fifth("time-limit")
def time_limit(rng: random.Random, machine: Machine) -> Draw | None:
    """A batch job's time is over: it is told to end, or killed at once, in the middle of its epochs."""
    program = some(rng, machine, "torch-matmul", "torch-train", "jax-matmul", "cupy-matmul", "numba-kernel")
    if not program:
        return None
    how, also = rng.choice(
        (
            ("timeout --preserve-status -s TERM 16", (OT,)),
            ("timeout -s KILL 16", (OT, HOST)),
            ("timeout --preserve-status -s XCPU 16", (OT,)),
            ("timeout --preserve-status -s INT 16", (OT,)),
        )
    )
    code = source(program, machine.device) + LONG
    family = program.partition("-")[0]
    command = f"echo 'slurm: job 4711, time limit 16 s'; {how} $PYTHON $SCRIPT; c=$?; echo \"slurm: job 4711 ended ($c), time limit reached\" >&2; exit $c"
    return Draw("time-limit", how, f"{family}-epochs", LIM, also, code=code, command=command)


@fifth("told-to-end")
def told_to_end(rng: random.Random, machine: Machine) -> Draw | None:
    """A parent or a person ends the program by a signal after good work on the GPU."""
    program = some(rng, machine, "torch-matmul", "jax-grad", "cupy-fft", "numba-kernel")
    if not program:
        return None
    name = rng.choice(("TERM", "HUP", "USR1", "KILL", "ALRM", "VTALRM"))
    code = source(program, machine.device) + LONG
    command = f"$PYTHON $SCRIPT & P=$!; (sleep 14; kill -{name} $P) >/dev/null 2>&1 & wait $P; exit $?"
    return Draw("told-to-end", f"SIG{name}", f"{program.partition('-')[0]}-epochs", OT, (LIM, HOST), code=code, command=command)  # fmt: skip


# ------------------------------------------------------------------------------------------------ variables
JAX: Rows = (
    (("jax",), "JAX_PLATFORMS", ("cuda,tpux", "gpu,cpu0", " cuda", "cuda:0", "cpu,gpux"), SET, (SEL,)),
    (("jax",), "JAX_LOGGING_LEVEL", ("LOUD", "7x"), SET, (OT,)),
    (("jax",), "JAX_DEFAULT_PRNG_IMPL", ("fast", "mt19937"), SET, (OT,)),
    (("jax",), "JAX_NUMPY_DTYPE_PROMOTION", ("loose",), SET, (OT,)),
    (("jax",), "JAX_NUMPY_RANK_PROMOTION", ("never",), SET, (OT,)),
    (("jax",), "JAX_TRANSFER_GUARD", ("disallow", "deny", "no"), SET, (OT, "program.order", "program.shape")),
    (("jax",), "JAX_DISABLE_JIT", ("perhaps",), SET, (OT,)),
    (("jax",), "JAX_CHECK_TRACER_LEAKS", ("sometimes",), SET, (OT,)),
    (("jax",), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", ("one",), SET, (OT,)),
    (("jax",), "JAX_DEBUG_KEY_REUSE", ("x",), SET, (OT,)),
    (("jax",), "JAX_CPU_COLLECTIVES_IMPLEMENTATION", ("pigeon",), SET, (OT,)),
    (("jax",), "XLA_FLAGS", ("--xla_gpu_autotune_level=2.5", "--xla_force_host_platform_device_count=two", "--xla_dump_hlo_as_text=maybe", "-xla_gpu_autotune_level=4", "/nonexistent/xla.flags", "--xla_gpu_shard_autotuning=2x", "--xla_gpu_cudnn_gemm_fusion_levl=1", "'--xla_dump_to=/tmp/x'", "--xla_gpu_strict_conv_algorithm_picker=oui"), SET, (OT,)),
    (("jax",), "XLA_FLAGS", ("--xla_gpu_cuda_data_dir=/nonexistent/cuda",), PATH, (SET, "cuda.compiler_missing")),
    (("jax",), "XLA_PYTHON_CLIENT_MEM_FRACTION", ("0,5", ".", "half", "-1"), SET, ("memory.preallocation", "memory.oom")),
    (("jax",), "XLA_PYTHON_CLIENT_ALLOCATOR", ("BFC_", "cuda_async2", "malloc"), SET, ()),
    (("jax",), "TF_GPU_ALLOCATOR", ("cuda_malloc_asinc",), SET, (OT,)),
)  # fmt: skip
TORCH: Rows = (
    (("torch",), "PYTORCH_CUDA_ALLOC_CONF", ("max_split_size_mb:19", "roundup_power2_divisions:[256:1,512:x]", "garbage_collection_threshold:0", "expandable_segments:True;max_split_size_mb:64", "'expandable_segments:True'", "max_split_size_mb:512 ,", "per_process_memory_fraction:7"), SET, ("memory.fragmentation",)),
    (("torch",), "TORCH_LOGS", ("+dynamo,grafs", "all=1", "dynamo inductor"), SET, (OT,)),
    (("torch-compile",), "TORCH_COMPILE_BACKEND", ("cuda",), SET, (OT,)),
    (("torch-compile",), "TORCHINDUCTOR_WORKER_START", ("threads",), SET, (OT,)),
    (("torch-compile",), "TORCHINDUCTOR_MAX_FUSION_SIZE", ("large",), SET, (OT,)),
    (("torch-compile",), "TORCHINDUCTOR_BENCHMARK_FUSION", ("x",), SET, (OT,)),
    (("torch-compile",), "TORCHDYNAMO_VERBOSE", ("x",), SET, (OT,)),
    (("torch-compile", "triton"), "TRITON_CACHE_MANAGER", ("mycache:Manager", "nocolon"), SET, (OT, SHADOW)),
    (("torch-compile", "triton"), "TRITON_OVERRIDE_ARCH", ("sm5", "gfx90a"), SET, ("framework.gpu_unsupported", "cuda.compiler_missing", "framework.bug")),
    (("torch-compile", "triton"), "TRITON_DEFAULT_BACKEND", ("cuda", "tpu"), SET, (OT, BAD)),
    (("torch-compile", "triton"), "TRITON_BACKENDS_IN_TREE", ("1",), SET, (OT, BAD)),
    (("torch-compile", "triton"), "TRITON_LIBDEVICE_PATH", ("/nonexistent/libdevice.bc",), PATH, (SET, "cuda.compiler_missing")),
    (("torch-compile", "triton"), "TRITON_CUDART_PATH", ("/nonexistent",), PATH, (SET, "cuda.missing_library")),
    (("torch-compile", "triton"), "TRITON_PTXAS_BLACKWELL_PATH", ("/nonexistent/ptxas",), PATH, (SET, "cuda.compiler_missing")),
    (("torch-compile", "triton"), "CFLAGS", ("-mno-such-flag",), SET, ("program.build", OT)),
    (("torch-compile", "triton"), "DISABLE_PTXAS_OPT", ("x",), SET, (OT,)),
    (("torch-train", "torch-vision", "torch-matmul"), "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT", ("lots",), SET, (OT,)),
    (("torch-train",), "CUDNN_LOGLEVEL_DBG", ("9", "x"), SET, (OT,)),
    (("torch-matmul", "torch-train"), "CUBLASLT_WORKSPACE_SIZE", ("big",), SET, (OT,)),
    (("torch-matmul", "torch-train"), "CUBLAS_WORKSPACE_CONFIG", ("4096:8", ":4096:8:", "default"), SET, ("program.order", OT)),
    (("torch", "cupy", "cpp"), "CUDA_MODULE_LOADING", ("SOMETIMES",), SET, (OT,)),
    (("torch", "cupy", "cpp", "numba"), "CUDA_DEVICE_ORDER", ("PCI_BUS",), SET, (SEL, OT)),
)  # fmt: skip
TOOLS: Rows = (
    (("cupy",), "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM", ("yes",), SET, (OT,)),
    (("cupy",), "CUPY_CUDA_ARRAY_INTERFACE_SYNC", ("no", "true"), SET, (OT,)),
    (("cupy",), "CUPY_DUMP_CUDA_SOURCE_ON_ERROR", ("on",), SET, (OT,)),
    (("cupy",), "CUPY_CACHE_SAVE_CUDA_SOURCE", ("yes",), SET, (OT,)),
    (("cupy",), "CUPY_CACHE_IN_MEMORY", ("yes", "2x"), SET, (OT,)),
    (("cupy",), "CUPY_CUDA_COMPILE_WITH_DEBUG", ("on",), SET, (OT,)),
    (("cupy",), "CUPY_GPU_MEMORY_LIMIT", ("50 %", "1e9", "all", "0x100"), SET, ("memory.oom",)),
    (("cupy",), "CUPY_ACCELERATORS", ("cub;cutensor", "CUB", "none"), SET, (OT,)),
    (("cupy",), "CUPY_TF32", ("on", ""), SET, (OT,)),
    (("cupy-raw", "cupy-random", "cupy-matmul"), "CUDA_PATH", ("/usr/local/cuda/lib64", "/etc/passwd", "/nonexistent/cuda-11.2"), PATH, (SET, "cuda.compiler_missing", "program.build")),
    (("numba-kernel",), "NUMBA_FORCE_CUDA_CC", ("3.0", "99.9", "9.0a", "nine"), SET, ("framework.gpu_unsupported", "cuda.compiler_missing")),
    (("numba-kernel",), "NUMBA_CUDA_LOG_LEVEL", ("LOUD",), SET, (OT,)),
    (("numba-kernel",), "NUMBA_CUDA_INCLUDE_PATH", ("/nonexistent/include",), PATH, (SET, "cuda.compiler_missing")),
    (("numba-kernel",), "NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS", ("/nonexistent",), PATH, (SET,)),
    (("numba-kernel",), "NUMBA_CUDA_ENABLE_PYNVJITLINK", ("yes", "2"), SET, (OT, "cuda.missing_library")),
    (("numba-kernel",), "NUMBA_CUDA_USE_NVIDIA_BINDING", ("x", "7"), SET, (OT,)),
    (("numba-kernel",), "NUMBA_OPT", ("fast", "max2"), SET, (OT,)),
    (("numba",), "NUMBA_CAPTURED_ERRORS", ("loud",), SET, (OT,)),
    (("numba",), "NUMBA_CPU_FEATURES", ("+warp9",), SET, (OT,)),
)  # fmt: skip
GROUP: Rows = (
    (("torch-nccl",), "TORCH_DISTRIBUTED_DEBUG", ("LOUD", "1"), SET, (NCCL, OT)),
    (("torch-nccl",), "TORCH_NCCL_ASYNC_ERROR_HANDLING", ("yes", "on"), SET, (NCCL, OT)),
    (("torch-nccl",), "TORCH_NCCL_BLOCKING_WAIT", ("maybe",), SET, (NCCL, OT)),
    (("torch-nccl",), "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", ("long",), SET, (NCCL, OT)),
    (("torch-nccl",), "TORCH_NCCL_TRACE_BUFFER_SIZE", ("2k",), SET, (NCCL, OT)),
    (("torch-nccl",), "NCCL_GRAPH_FILE", ("/etc/passwd",), SET, (NCCL, BAD)),
    (("torch-nccl",), "NCCL_TOPO_FILE", ("/etc/passwd", "/etc/hostname"), SET, (NCCL, BAD)),
    (("torch-nccl",), "NCCL_SOCKET_FAMILY", ("AF_IPX",), SET, (NCCL,)),
    (("torch-nccl",), "NCCL_SOCKET_IFNAME", ("ib0", "^lo", "=bond7"), NCCL, (SET, PEER)),
    (("torch-nccl",), "NCCL_NET_PLUGIN", ("aws-ofi-gone",), SET, (NCCL,)),
    (("torch-nccl",), "NCCL_TUNER_PLUGIN", ("/etc/hostname",), SET, (NCCL, BAD)),
    (("torch-nccl",), "NCCL_MAX_NCHANNELS", ("0", "-3"), SET, (NCCL,)),
    (("torch-nccl",), "NCCL_BUFFSIZE", ("17", "huge"), SET, (NCCL, "memory.oom")),
    (("torch-nccl",), "MASTER_ADDR", ("", "localhost:29500", "[::1]x", "http://127.0.0.1"), SET, (PEER, OT)),
    (("torch-nccl",), "MASTER_PORT", ("", "-1", "70000", "2 9500"), SET, (PEER, OT)),
    (("torch-nccl",), "WORLD_SIZE", ("0", "one", "1.0"), SET, (PEER, OT)),
    (("torch-nccl",), "RANK", ("1", "0x0", ""), SET, (PEER, OT)),
    (("torch-nccl",), "TORCH_CPP_LOG_LEVEL", ("LOUD",), SET, (OT,)),
    (("torch-nccl",), "TORCH_GLOO_LAZY_INIT", ("x",), SET, (OT, NCCL)),
)  # fmt: skip


def _row(rng: random.Random, machine: Machine, name: str, rows: Rows) -> Draw | None:
    """A draw from a table of variables."""
    rows = tuple(row for row in rows if machine.programs(*row[0]))
    if not rows:
        return None
    prefixes, variable, values, cause, also = rng.choice(rows)
    value, program = rng.choice(values), some(rng, machine, *prefixes, cpp=True)
    return Draw(name, f"{variable}={value}", program, cause, also, environ={variable: value}) if program else None


def _enter(name: str, rows: Rows) -> None:
    fifth(name)(lambda rng, machine: _row(rng, machine, name, rows))


_enter("fifth-jax", JAX)
_enter("fifth-torch", TORCH)
_enter("fifth-tools", TOOLS)
_enter("fifth-group", GROUP)


TURNED = (
    ("jax", {"JAX_PLATFORMS": "cpu"}, SET), ("jax", {"JAX_PLATFORMS": "rocm,cuda"}, SET), ("numba-kernel", {"NUMBA_DISABLE_CUDA": "1", "NUMBA_DISABLE_JIT": "0"}, SET),
    ("torch", {"CUDA_VISIBLE_DEVICES": "1", "NVIDIA_VISIBLE_DEVICES": "all"}, SEL), ("cupy", {"CUDA_VISIBLE_DEVICES": "GPU-00000000", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, SEL),
    ("jax", {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cuda"}, SEL),
)  # fmt: skip


@fifth("rc-file")
def rc_file(rng: random.Random, machine: Machine) -> Draw | None:
    """A file that the start script sources sets a variable among harmless ones; the shell that asks does not have it."""
    family, bad, cause = rng.choice(TURNED)
    program = some(rng, machine, family)
    if not program:
        return None
    lines = [
        "TOKENIZERS_PARALLELISM=false",
        "OMP_NUM_THREADS=4",
        *(f"{k}={v}" for k, v in bad.items()),
        "WANDB_MODE=offline",
    ]
    text = "".join(f"export {line}\n" for line in lines)
    also = (SEL, "framework.cpu_only") if cause == SET else (SET,)
    return Draw("rc-file", " ".join(f"{k}={v}" for k, v in bad.items()), program, cause, also, files={"job.env": text}, command=". $W/d/job.env; $PYTHON $SCRIPT")  # fmt: skip


# ------------------------------------------------------------------------------------------------ harmless
HARMLESS: tuple[dict[str, str | None], ...] = (
    {"NVIDIA_VISIBLE_DEVICES": "none", "NVIDIA_DRIVER_CAPABILITIES": "utility"}, {"HIP_VISIBLE_DEVICES": "9", "ROCR_VISIBLE_DEVICES": "9"},
    {"PYTHONUSERBASE": "/nonexistent", "PYTHONPYCACHEPREFIX": "$W/pyc"}, {"PYTHONPATH": "/nonexistent:$W/none:"}, {"VIRTUAL_ENV": "/opt/other", "CONDA_PREFIX": "/opt/conda/envs/tf1", "CONDA_DEFAULT_ENV": "tf1"},
    {"HOME": None}, {"TMPDIR": ""}, {"DISPLAY": ":7", "QT_QPA_PLATFORM": "none"}, {"LANG": "tr_TR.UTF-8", "LC_ALL": "C"}, {"PYTHONWARNINGS": "always"},
    {"CUDA_CACHE_PATH": "/proc/none"}, {"CUDA_CACHE_DISABLE": "1"}, {"CUDA_LAUNCH_BLOCKING": "1", "TORCH_SHOW_CPP_STACKTRACES": "1"}, {"NCCL_DEBUG": "INFO", "NCCL_IB_DISABLE": "1", "NCCL_P2P_DISABLE": "1"},
    {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_MAX_VLOG_LEVEL": "1"}, {"MASTER_ADDR": "node17", "MASTER_PORT": "29500", "LOCAL_RANK": "3", "SLURM_PROCID": "5"}, {"JAX_LOG_COMPILES": "1", "JAX_TRACEBACK_FILTERING": "off"},
    {"LD_LIBRARY_PATH": "/usr/local/cuda-9.0/lib64:/opt/gone/lib:$OLD_LD"}, {"CUDA_PATH_V8_0": "C:\\\\CUDA\\\\v8.0", "CUDNN_HOME": "/opt/cudnn7"}, {"PYTHONFAULTHANDLER": "1", "PYTHONDEVMODE": "0"}, {"CUDA_VISIBLE_DEVICES": "0,"},
)  # fmt: skip


@fifth("harmless-environ")
def harmless_environ(rng: random.Random, machine: Machine) -> Draw | None:
    """Variables that look guilty and do nothing: a control unless one bites after all."""
    program, environ = some(rng, machine, cpp=True), rng.choice(HARMLESS)
    if not program:
        return None
    also = (OT, PATH, LIM, SEL, SHADOW, NCCL, PEER)
    return Draw("harmless-environ", " ".join(environ), program, SET, also, environ=environ)


WRAPPERS = (
    "taskset -c 0 $PYTHON $SCRIPT", "nice -n 19 $PYTHON $SCRIPT", "setsid -w $PYTHON $SCRIPT", "stdbuf -oL $PYTHON -u $SCRIPT", "$PYTHON -X dev -W ignore $SCRIPT", "$PYTHON -B -s $SCRIPT",
    "nohup $PYTHON $SCRIPT", "cat $SCRIPT | $PYTHON -X faulthandler -", "timeout 55 $PYTHON $SCRIPT", "(ulimit -c 0; ulimit -l 64; $PYTHON $SCRIPT)", "$PYTHON $SCRIPT 2>&1 | tee $W/log.txt; exit ${PIPESTATUS[0]}",
    "echo 'WARNING: CUDA driver not found, trying again'; sleep 1; $PYTHON $SCRIPT", "$PYTHON -c 'import nothing_here' || echo 'optional part is not installed'; $PYTHON $SCRIPT",
    "$PYTHON -m cProfile -o $W/prof $SCRIPT", "unshare --pid --fork --kill-child $PYTHON $SCRIPT", "unshare --ipc --uts $PYTHON $SCRIPT",
)  # fmt: skip


@fifth("harmless-wrapper")
def harmless_wrapper(rng: random.Random, machine: Machine) -> Draw | None:
    """The program under wrappers that change nothing of weight: a control unless one bites after all."""
    program, command = some(rng, machine), rng.choice(WRAPPERS)
    if not program:
        return None
    if program in ("triton-add", "torch-compile", "torch-loader") and command.startswith("cat"):
        command = WRAPPERS[1]
    return Draw("harmless-wrapper", command[:60], program, LIM, (OT, SET, PATH), command=command)

"""Sixth operators, the surroundings: restores, killed upgrades, wrong copies, cleanups, policies, dotfiles, wrappers.

Part `sixth`; nothing outside the draw's own folder and mount namespace is changed. What a wrapper changes for the program
alone (an inner namespace, a limit, a dotfile) is not seen by a tool that stands outside of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from lab.random.draw import Draw, Machine, Operator, operator
from lab.random.programs import CPP, source

PART = "sixth"
SHADOW, PATH, SET, LIM, OT = "env.shadowed", "env.path", "env.setting", "env.limit", "other.not_gpu"
BAD, CONFLICT, ODD = "install.corrupted", "install.conflict", "install.inconsistent"
SEL, HOST, OOM, NCCL, PEER = "device.selection", "memory.host", "memory.oom", "distributed.nccl", "distributed.peer"
BUILD, COMPILER, LIB = "program.build", "cuda.compiler_missing", "cuda.missing_library"
NO_GPU, CLOSED, NONE = "container.no_gpu", "driver.permission", "driver.missing"
CPU_ONLY = ("onnx-cpu", "numba-cpu")


def sixth(name: str) -> Callable[[Operator], Operator]:
    """Enter an operator of the sixth part."""
    return operator(name, PART)


def some(rng: random.Random, machine: Machine, *prefixes: str, cpp: bool = False) -> str | None:
    """A healthy program of these prefixes that uses the device; C++ ones only where asked for."""
    names = [n for n in machine.programs(*prefixes) if n not in CPU_ONLY and n != "torch-large"]
    names = [n for n in names if cpp or not n.startswith("cpp")]
    return rng.choice(names) if names else None


def top(site: str, then: str) -> str:
    """Shell: site-packages again, as a folder of links to its entries, changed by `then` inside that folder."""
    return (
        f"mkdir -p $W/keep $W/less; mount --bind {site} $W/keep && mount -t tmpfs none $W/less || exit 97; chmod 755 $W/less; "
        f"ln -s $W/keep/* $W/less/; cd $W/less || exit 97; {{ {then}; }} || exit 97; cd /; mount --bind $W/less {site} || exit 97"
    )


def rename(old: str, new: str) -> str:
    """Shell: give the entries that a pattern names another name."""
    return f"for f in {old}; do [ -L $f ] && mv $f {new} || exit 97; done"


# ------------------------------------------------------------------------------------------------ restored, copied, cleaned
RESTORED: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("files above 100 MB are empty", ("torch", "jax", "cupy"), "torch nvidia jaxlib cupy jax_plugins jax_cuda13_plugin", "-size +100M -type f -exec sh -c 'rm -f $1; : > $1' _ {} ;"),
    ("files above 100 MB were left out", ("torch", "jax"), "torch nvidia jaxlib jax_plugins", "-size +100M -type f -delete"),
    ("excluded: *.so.*", ("torch", "cupy"), "nvidia", "-name '*.so.*' -delete"),
    ("excluded: *.so", ("torch", "jax", "cupy", "triton"), "torch jaxlib cupy cupy_backends triton numpy", "-name '*.so' -delete"),
    ("excluded: _*.py", ("torch", "jax", "cupy", "triton"), "torch jax cupy triton", "-maxdepth 2 -name '_[a-z]*.py' -delete"),
    ("names cut at the first dot", ("torch", "cupy"), "nvidia", "-name 'lib*.so.*' -exec sh -c 'ln -s $LOWER/${1#$R/} ${1%%.so.*}.so; rm $1' _ {} ;"),
    ("names in capitals", ("torch", "cupy"), "nvidia", "-name 'libcu*.so.*' -exec sh -c 'ln -s $LOWER/${1#$R/} $(dirname $1)/$(basename $1 | tr a-z A-Z); rm $1' _ {} ;"),
)  # fmt: skip


@sixth("restored")
def restored(rng: random.Random, machine: Machine) -> Draw | None:
    """An environment that came back from a backup or an archive with a rule: large files, some names, are not in it."""
    target, families, folders, find = rng.choice(RESTORED)
    program = some(rng, machine, *families)
    if not program:
        return None
    wanted = {
        "torch": "torch nvidia",
        "jax": "jax jaxlib jax_plugins nvidia numpy",
        "cupy": "cupy cupy_backends nvidia numpy",
        "triton": "triton torch",
    }
    mine = [f for f in wanted[program.partition("-")[0]].split() if f in folders.split()]
    if not mine:
        return None
    find = find.replace(" ;", " \\;")
    setup = (
        "".join(
            f"[ -d {machine.site}/{f} ] && {{ over {machine.site}/{f}; export LOWER R={machine.site}/{f}; find $R {find}; }}; "
            for f in mine
        )
        + ":"
    )
    also = (LIB, "cudnn.missing", ODD, "framework.cpu_only", COMPILER, OT, "cudnn.mixed_libraries", PATH)
    return Draw("restored", target, program, BAD, also, setup)


HOMES = {"torch": "torch", "jax": "jax", "cupy": "cupy", "triton": "triton"}
NEEDED = {"torch": ("torch", "torch", "sympy", "typing_extensions.py"), "jax": ("jax", "jaxlib", "numpy", "ml_dtypes"), "cupy": ("cupy", "numpy", "cupy_backends"), "triton": ("triton", "torch", "triton")}  # fmt: skip


def _family(rng: random.Random, machine: Machine) -> tuple[str, str] | None:
    """A framework that is here, and a program of it."""
    here = [name for name in sorted(HOMES) if some(rng, machine, name)]
    family = rng.choice(here) if here else ""
    program = some(rng, machine, family) if family else None
    return (family, program) if program else None


@sixth("pip-killed")
def pip_killed(rng: random.Random, machine: Machine) -> Draw | None:
    """An upgrade was ended in the middle: pip had put the old folder aside under a name with a tilde."""
    found = _family(rng, machine)
    if not found:
        return None
    family, program = found
    name = rng.choice(NEEDED[family])
    new = "~" + name[1:]
    info = f'for f in {name.removesuffix(".py")}-*.dist-info; do [ -L $f ] && mv $f "~${{f#?}}"; done; :'
    how = rng.choice((rename(name, f"'{new}'"), f"{rename(name, repr(new))}; {info}"))
    also = (ODD, CONFLICT, OT, "framework.cpu_only", LIB, PATH)
    return Draw("pip-killed", f"{name} -> {new}", program, BAD, also, top(machine.site, how))


COPIES = (
    ("one level too deep", "mv {n} x; mkdir {n}; mv x {n}/{n}", (ODD, PATH, OT, SHADOW)),
    ("in capitals", "mv {n} {N}", (PATH, OT, ODD)),
    ("conflicted copy", "mv {n} '{n} (conflicted copy 2026-03-02)'", (PATH, OT, ODD)),
    ("kept as .bak", "mv {n} {n}.bak; mkdir {n}; echo moved > {n}/README.txt", (ODD, PATH, OT, SHADOW)),
    ("a text instead of a link", "rm {n}; echo ../shared/{n} > {n}", (PATH, OT, ODD)),
    ("a link to an unmounted disk", "rm {n}; ln -s /mnt/team/site/{n} {n}", (PATH, OT, ODD, LIM)),
    ("packed again", "rm {n}; printf 'PK\\003\\004' > {n}.zip", (OT, ODD, PATH)),
)


@sixth("copied-wrong")
def copied_wrong(rng: random.Random, machine: Machine) -> Draw | None:
    """A package folder that a copy put one level too deep, under another name, or as a text where a link was."""
    found = _family(rng, machine)
    if not found:
        return None
    family, program = found
    name = rng.choice([n for n in NEEDED[family] if not n.endswith(".py")])
    target, how, also = rng.choice(COPIES)
    shell = f"[ -L {name} ] || exit 97; " + how.replace("{n}", name).replace("{N}", name.capitalize())
    return Draw(
        "copied-wrong", f"{name}: {target}", program, BAD, (*also, LIB, "framework.cpu_only"), top(machine.site, shell)
    )


LEFT_OUT: tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...] = (
    (("triton", "torch-compile"), "triton", "find $F -name '*.h' -delete", (COMPILER, BUILD)),
    (("triton", "torch-compile"), "triton", "find $F -type d -name runtime -prune -exec rm -rf {} +", (OT,)),
    (("cupy-random", "cupy-matmul"), "cupy", "find $F -name '*.cuh' -delete", (COMPILER, BUILD)),
    (("cupy",), "cupy", "rm -rf $F/polynomial $F/testing $F/random", (OT,)),
    (("torch",), "torch", "rm -rf $F/testing", (OT,)),
    (("torch",), "torch", "rm -rf $F/distributed", (OT,)),
    (("torch",), "torch", "rm -rf $F/onnx", (OT,)),
    (("torch",), "torch", "rm -rf $F/package $F/ao", (OT,)),
    (("torch-compile",), "torch", "rm -rf $F/_inductor", (OT, COMPILER)),
    (("jax",), "jax", "rm -rf $F/nn $F/image", (OT,)),
    (("jax",), "jax", "rm -rf $F/_src/numpy", (OT,)),
    (("jax",), "jaxlib", "rm -rf $F/mlir", (OT,)),
    (("triton", "torch-compile"), "", "rm -f *.dist-info", (OT, COMPILER, "framework.cpu_only", NONE)),
)


@sixth("slim-cleanup")
def slim_cleanup(rng: random.Random, machine: Machine) -> Draw | None:
    """A script that makes images small took headers, metadata, tests or parts it thought nobody needs."""
    rows = [row for row in LEFT_OUT if machine.programs(*row[0])]
    if not rows:
        return None
    families, folder, how, also = rng.choice(rows)
    program = some(rng, machine, *families)
    if not program:
        return None
    place = f"{machine.site}/{folder}"
    setup = f"over {place}; F={place}; {how}" if folder else top(machine.site, how)
    return Draw("slim-cleanup", f"{folder or 'all'}: {how}", program, BAD, (*also, ODD), setup)


@sixth("exec-bits")
def exec_bits(rng: random.Random, machine: Machine) -> Draw | None:
    """An archive forgot which files are programs: a compiler's part may be read and not started."""
    name, where, families = rng.choice(
        (
            ("ptxas*", f"{machine.site}/triton", ("triton", "torch-compile")),
            ("ptxas*", f"{machine.site}/triton", ("triton", "torch-compile")),
            ("cicc", machine.toolkit, ("cpp",)),
            ("cudafe++", machine.toolkit, ("cpp",)),
            ("fatbinary", machine.toolkit, ("cpp",)),
            ("ptxas", machine.toolkit, ("cpp",)),
        )
    )
    program = some(rng, machine, *families, cpp=True)
    if not program:
        return None
    setup = (
        f"N=$(find -L {where} -name '{name}' -type f -perm -100 | grep -v '[.]so'); [ -n \"$N\" ] || exit 97; "
        "for f in $N; do f=$(readlink -f $f); over $(dirname $f); chmod 644 $f; done"
    )
    also = (COMPILER, LIM, PATH, BUILD, CLOSED, OT)
    if families == ("cpp",):
        return Draw("exec-bits", name, "cpp-build", BAD, also, setup, code=CPP["cpp-add"][1], command=NVCC)
    return Draw("exec-bits", name, program, BAD, also, setup)


NVCC = "nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"


@sixth("toolkit-moved")
def toolkit_moved(rng: random.Random, machine: Machine) -> Draw | None:
    """The toolkit lies elsewhere since the disks were put in order; the old place is empty."""
    if not machine.programs("cpp-add"):
        return None
    place = rng.choice(("$W/opt/cuda", "$W/data/nvidia/toolkit", "$W/opt/cuda-13.0"))
    setup = f"mkdir -p {place} $W/e; mount --bind {machine.toolkit} {place} && mount --bind $W/e {machine.toolkit} || exit 97"
    also = (COMPILER, BUILD, LIB, BAD)
    ready = [n for n in machine.programs("cpp-cublas", "cpp-cufft") if machine.libraries(n)]
    if ready and rng.random() < 0.5:
        return Draw("toolkit-moved", place, rng.choice(ready), PATH, also, setup)
    return Draw("toolkit-moved", f"{place}, nvcc", "cpp-build", PATH, also, setup, code=CPP["cpp-add"][1], command=f"{NVCC.replace('nvcc', machine.toolkit + '/bin/nvcc', 1)}")  # fmt: skip


TWINS = (
    ("cupy", "cupy", "_core", "cupy_cuda12x-13.6.0"),
    ("cupy", "cupy_backends", "cuda", "cupy_cuda12x-13.6.0"),
    ("cupy", "cupy", "__init__.py", "cupy_cuda11x-13.3.0"),
    ("triton", "triton", "_C", "pytorch_triton-3.2.0"),
    ("triton", "triton", "runtime", "pytorch_triton-3.1.0"),
    ("onnx", "onnxruntime", "capi", "onnxruntime_gpu-1.17.1"),
    ("onnx", "onnxruntime", "__init__.py", "onnxruntime_gpu-1.18.0"),
)


@sixth("twin-package")
def twin_package(rng: random.Random, machine: Machine) -> Draw | None:
    """Two packages with the same files were installed and one of them taken away again: with it went files of the other."""
    rows = [row for row in TWINS if machine.programs(row[0])]
    if not rows:
        return None
    family, folder, lost, twin = rng.choice(rows)
    program = rng.choice(machine.programs(family))
    name, _, version = twin.partition("-")
    record = rng.random() < 0.6
    meta = (
        f"mkdir {twin}.dist-info; printf 'Metadata-Version: 2.1\\nName: {name.replace('_', '-')}\\nVersion: {version}\\n' > {twin}.dist-info/METADATA; "
        f"printf '{folder}/__init__.py,,\\n{folder}/{lost},,\\n{twin}.dist-info/METADATA,,\\n' > {twin}.dist-info/RECORD; "
        f"echo pip > {twin}.dist-info/INSTALLER; "
    )
    shell = f"[ -L {folder} ] || exit 97; {meta if record else ''}rm {folder}; mkdir {folder}; ln -s $W/keep/{folder}/* {folder}/; rm -rf {folder}/{lost}"
    cause, also = (CONFLICT, (BAD, ODD, OT)) if record else (BAD, (CONFLICT, ODD, OT))
    return Draw(
        "twin-package",
        f"{folder}/{lost}, {twin if record else 'twin gone'}",
        program,
        cause,
        also,
        top(machine.site, shell),
    )


# ------------------------------------------------------------------------------------------------ how it is started
MOVED = (
    ("launcher of another path", "mkdir -p $W/bin; printf '#!/opt/build-agent/venv/bin/python3\\nimport runpy, sys\\nrunpy.run_path(sys.argv[1])\\n' > $W/bin/train; chmod 755 $W/bin/train; $W/bin/train $SCRIPT", (BAD, OT, ODD)),
    ("launcher with a DOS line", "mkdir -p $W/bin; printf '#!%s\\r\\nimport runpy, sys\\nrunpy.run_path(sys.argv[1])\\n' $PYTHON > $W/bin/train; chmod 755 $W/bin/train; $W/bin/train $SCRIPT", (BAD, OT, ODD, SET)),
    ("home of the environment is gone", "mkdir -p $W/venv/bin; cp $(readlink -f $PYTHON) $W/venv/bin/python3; printf 'home = /opt/python-3.12.1/bin\\nversion = 3.12.1\\n' > $W/venv/pyvenv.cfg; $W/venv/bin/python3 $SCRIPT", (BAD, OT, ODD)),
    ("packages of the Python before the upgrade", "mkdir -p $W/venv/bin $W/venv/lib/python3.10; B=$(readlink -f $PYTHON); ln -sf $B $W/venv/bin/python3; printf 'home = %s\\nversion = 3.10.4\\n' $(dirname $B) > $W/venv/pyvenv.cfg; ln -sfn $($PYTHON -c 'import sysconfig; print(sysconfig.get_paths()[\"purelib\"])') $W/venv/lib/python3.10/site-packages; $W/venv/bin/python3 $SCRIPT", (BAD, OT, ODD, "framework.platform_dropped")),
    ("the interpreter's link leads nowhere", "mkdir -p $W/venv/bin; ln -sfn /usr/bin/python3.7 $W/venv/bin/python3; $W/venv/bin/python3 $SCRIPT", (BAD, OT, ODD)),
    ("env finds no such Python", "(printf '#!/usr/bin/env python3.8\\n'; cat $SCRIPT) > $W/d/run.py; chmod 755 $W/d/run.py; $W/d/run.py", (OT, ODD, "framework.platform_dropped")),
    ("a fresh environment was activated", "$PYTHON -m venv --without-pip $W/new && . $W/new/bin/activate && python3 $SCRIPT", (OT, ODD, BAD)),
)  # fmt: skip


@sixth("venv-moved")
def venv_moved(rng: random.Random, machine: Machine) -> Draw | None:
    """The environment or its launcher was moved, copied or left behind by an upgrade of Python."""
    program, (target, command, also) = some(rng, machine), rng.choice(MOVED)
    return Draw("venv-moved", target, program, PATH, also, command=command) if program else None


SCRIPTS = (
    ("unbound variable", "set -eu; unset LD_LIBRARY_PATH; export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH; $PYTHON $SCRIPT", PATH, (SET, OT)),
    ("no conda", "set -e; echo 'job 8812 on gpu-node-03'; eval \"$(conda shell.bash hook)\"; conda activate train; $PYTHON $SCRIPT", PATH, (OT,)),
    ("activate is gone", "set -e; source $W/envs/train/bin/activate; $PYTHON $SCRIPT", PATH, (OT, BAD)),
    ("module unknown", "set -e; module() { echo 'Lmod has detected the following error:  The following module(s) are unknown: \"'$2'\"' >&2; echo 'Please check the spelling or version number. Also try \"module spider ...\"' >&2; return 1; }; module load cuda/12.4; $PYTHON $SCRIPT", PATH, (OT, LIB, "cuda.version_mismatch", COMPILER, SET)),
    ("no module command", "set -e; module purge; module load cudnn/9; $PYTHON $SCRIPT", PATH, (OT, "cudnn.missing")),
    ("old python by name", "mkdir -p $W/bin; printf '#!/bin/sh\\necho \"pyenv: version \\`3.8.2\\x27 is not installed (set by $PWD/.python-version)\" >&2\\nexit 1\\n' > $W/bin/python3; chmod 755 $W/bin/python3; PATH=$W/bin:$PATH; python3 $SCRIPT", PATH, (OT, ODD)),
    ("own package with -I", "mkdir -p $W/src/ourlib; echo 'SCALE = 2' > $W/src/ourlib/__init__.py; (echo 'import ourlib'; cat $SCRIPT) > $W/d/go.py; PYTHONPATH=$W/src $PYTHON -I $W/d/go.py", PATH, (OT, SHADOW, SET)),
    ("gone scratch", "set -e; cd /scratch/$USER/run17 && $PYTHON $SCRIPT", OT, (PATH, LIM)),
    ("checks a tool first", "set -e; command -v nvidia-smi-wrapper >/dev/null || { echo 'prolog: nvidia-smi-wrapper: not found, node drained' >&2; exit 9; }; $PYTHON $SCRIPT", OT, (PATH, NONE)),
)  # fmt: skip


@sixth("job-script")
def job_script(rng: random.Random, machine: Machine) -> Draw | None:
    """The script around the program ends before it: a module, an environment, a variable, a folder that is not there."""
    program, (target, command, cause, also) = some(rng, machine), rng.choice(SCRIPTS)
    return Draw("job-script", target, program, cause, also, command=command) if program else None


HOOK = """import os, sys
LOG = []
def watch(event, args):
    if event == '@E@' and @IF@:
        raise PermissionError(1, 'blocked by the workstation policy: ' + event, str(args[0])[:80])
sys.addaudithook(watch)
"""
POLICIES: tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...] = (
    (("torch", "cupy"), "ctypes.dlopen", "args[0] and '.so' in str(args[0])", (LIB, NONE)),
    (("triton", "torch-compile"), "subprocess.Popen", "True", (COMPILER, BUILD)),
    (("triton", "torch-compile"), "subprocess.Popen", "'ptxas' in str(args[0]) + str(args[1])", (COMPILER,)),
    (("torch-loader",), "os.fork", "True", ("program.fork",)),
    (("torch-nccl",), "socket.bind", "True", (PEER, NCCL)),
    (("torch-nccl",), "socket.connect", "True", (PEER, NCCL)),
    (("torch", "jax", "cupy"), "import", "args[0] == 'ctypes'", ()),
    (("cupy-raw", "triton", "torch-compile"), "os.mkdir", "True", ()),
    (("triton", "torch-compile"), "os.rename", "True", ()),
    (("jax",), "open", "'libdevice' in str(args[0]) or 'jax_plugins' in str(args[0])", ("framework.cpu_only", BAD)),
)


@sixth("policy-hook")
def policy_hook(rng: random.Random, machine: Machine) -> Draw | None:
    """A policy that every Python loads forbids something that the framework does: libraries, children, folders."""
    rows = [row for row in POLICIES if machine.programs(*row[0])]
    families, event, when, also = rng.choice(rows) if rows else ((), "", "", ())
    program = some(rng, machine, *families) if rows else None
    if not program:
        return None
    text = HOOK.replace("@E@", event).replace("@IF@", when)
    also = (SHADOW, SET, OT, CLOSED, *also)
    return Draw("policy-hook", f"{event}: {when}", program, LIM, also, environ={"PYTHONPATH": "$D/policy"}, files={"policy/sitecustomize.py": text})  # fmt: skip


@sixth("umask")
def umask(rng: random.Random, machine: Machine) -> Draw | None:
    """A mask that takes the rights of new folders from their own maker; a user who is not root."""
    program = some(rng, machine, "triton", "torch-compile", "cupy-raw", "cupy-random")
    mask = rng.choice(("0777", "0700", "0300"))
    return (
        Draw("umask", mask, program, LIM, (OT, SET, CLOSED), limit=f"umask {mask}", user="nobody") if program else None
    )


@sixth("cleaner-running")
def cleaner_running(rng: random.Random, machine: Machine) -> Draw | None:
    """A cleaner of temporary and cache folders runs all the time and takes what the compiler has just written."""
    program = some(rng, machine, "triton", "torch-compile")
    if not program:
        return None
    setup = (
        "mkdir -p $W/t; chmod 1777 $W/t; (while :; do rm -rf $W/t/* 2>/dev/null; sleep 0.02; done) >/dev/null 2>&1 & N=$!; "
        'trap "kill -9 $N 2>/dev/null" EXIT'
    )
    environ = {"TMPDIR": "$W/t", "TRITON_CACHE_DIR": "$W/t/triton", "TORCHINDUCTOR_CACHE_DIR": "$W/t/inductor"}
    return Draw("cleaner-running", "$TMPDIR", program, LIM, (OT, BAD, BUILD, COMPILER, PATH), setup, environ)


# ------------------------------------------------------------------------------------------------ written by hand
Values = tuple[tuple[tuple[str, ...], str, tuple[str, ...], str, tuple[str, ...]], ...]
DOS: Values = (
    (("jax",), "JAX_PLATFORMS", ("cuda", "cuda,cpu"), SET, (SEL,)),
    (("jax",), "XLA_FLAGS", ("--xla_gpu_autotune_level=2", "--xla_gpu_deterministic_ops=true"), SET, (OT,)),
    (("jax",), "JAX_ENABLE_X64", ("false",), SET, (OT,)),
    (("jax",), "JAX_DEFAULT_MATMUL_PRECISION", ("highest",), SET, (OT,)),
    (("jax",), "XLA_PYTHON_CLIENT_ALLOCATOR", ("platform", "bfc"), SET, (OT,)),
    (("torch",), "PYTORCH_CUDA_ALLOC_CONF", ("expandable_segments:True", "max_split_size_mb:512"), SET, ("memory.fragmentation", OT)),
    (("torch-compile",), "TORCH_LOGS", ("+dynamo", "graph_breaks"), SET, (OT,)),
    (("torch-deterministic",), "CUBLAS_WORKSPACE_CONFIG", (":4096:8", ":16:8"), SET, ("program.order", OT)),
    (("torch-nccl",), "MASTER_ADDR", ("127.0.0.1", "localhost"), SET, (PEER, NCCL, OT)),
    (("torch-nccl",), "NCCL_NET", ("Socket",), SET, (NCCL,)),
    (("torch-nccl",), "NCCL_SOCKET_IFNAME", ("=lo",), SET, (NCCL, PEER)),
    (("cupy",), "CUPY_ACCELERATORS", ("cub",), SET, (OT,)),
    (("triton", "torch-compile"), "CC", ("gcc", "/usr/bin/gcc"), PATH, (SET, COMPILER, BUILD, OT)),
    (("triton",), "TRITON_PTXAS_PATH", ("/usr/local/cuda/bin/ptxas",), PATH, (SET, COMPILER, OT)),
)  # fmt: skip
PASTED: Values = (
    (("jax",), "JAX_PLATFORMS", ('"cuda"', "cuda # the big card", "“cuda”", "cuda\u200b", "\ufeffcuda", "cudа"), SET, (SEL,)),
    (("jax",), "XLA_FLAGS", ("--xla_gpu_autotune_level=2 # faster", "--xla_gpu_autotune_level=“2”", "--xla_gpu_autotune_level =2", "--xla_gpu_autotune_level\u00a0=2"), SET, (OT,)),
    (("torch",), "PYTORCH_CUDA_ALLOC_CONF", ('"expandable_segments:True"', "expandable_segments:True # less fragmentation", "max_split_size_mb：128", "max_split_size_mb:128MB", "{expandable_segments: True}"), SET, ("memory.fragmentation", OT)),
    (("torch", "cupy", "jax", "cpp", "triton"), "CUDA_VISIBLE_DEVICES", ("“0”", "\u200b0", "GPU 0", "#0", "０", "$CUDA_DEVICE", "<0>", "$(SLURM_LOCALID)"), SEL, (SET,)),
    (("cupy",), "CUPY_GPU_MEMORY_LIMIT", ('"50%"', "50% # half", "“2147483648”", "2_GB"), SET, (OOM, OT)),
    (("cupy",), "CUPY_ACCELERATORS", ('"cub"', "cub # not cutensor", "[cub]"), SET, (OT,)),
    (("torch-nccl",), "MASTER_PORT", ("29500 # default", "“29500”", '"29500"'), SET, (PEER, OT)),
    (("torch-nccl",), "WORLD_SIZE", ('"1"', "1 # node", "$SLURM_NTASKS"), SET, (PEER, OT)),
    (("torch-nccl",), "NCCL_NET", ('"Socket"', "Socket # no IB"), SET, (NCCL,)),
    (("torch-compile",), "TORCH_LOGS", ('"+dynamo"', "+dynamo # noisy"), SET, (OT,)),
    (("torch-deterministic",), "CUBLAS_WORKSPACE_CONFIG", ('":4096:8"', ":4096:8 # see docs", "：4096:8"), SET, ("program.order", OT)),
    (("triton", "torch-compile"), "CC", ('"gcc"', "gcc # system", "ccache gcc"), PATH, (SET, COMPILER, BUILD, OT)),
    (("triton",), "TRITON_PTXAS_PATH", ('"/usr/local/cuda/bin/ptxas"', "~/cuda/bin/ptxas", "$CUDA_ROOT_DIR/bin/ptxas"), PATH, (SET, COMPILER, OT)),
)  # fmt: skip


def _value(rng: random.Random, machine: Machine, rows: Values) -> tuple[str, str, str, str, tuple[str, ...]] | None:
    """A program, a variable, its value, the cause, what is as right."""
    rows = tuple(row for row in rows if machine.programs(*row[0]))
    if not rows:
        return None
    families, name, values, cause, also = rng.choice(rows)
    program = some(rng, machine, *families, cpp=True)
    return (program, name, rng.choice(values), cause, also) if program else None


@sixth("line-endings")
def line_endings(rng: random.Random, machine: Machine) -> Draw | None:
    """The job's file of variables was saved with DOS line ends: every value has a carriage return behind it."""
    found = _value(rng, machine, DOS)
    if not found:
        return None
    program, name, value, cause, also = found
    lines = ["WANDB_MODE=offline", f"{name}={value}", "RUN_NAME=baseline"]
    rng.shuffle(lines)
    text = "".join(f"{line}\r\n" for line in lines)
    command = "set -a; . $W/d/job.env; set +a; $PYTHON $SCRIPT"
    return Draw("line-endings", f"{name}={value}\\r", program, cause, also, files={"job.env": text}, command=command)


@sixth("pasted")
def pasted(rng: random.Random, machine: Machine) -> Draw | None:
    """A value out of a wiki, an env file or a template: quotes and comments kept, odd marks, a variable never filled in."""
    found = _value(rng, machine, PASTED)
    if not found:
        return None
    program, name, value, cause, also = found
    return Draw("pasted", f"{name}={value}", program, cause, also, environ={name: value.replace("$", "\\$")})


CONFS = (
    ("NCCL_NET=Myrinet", SET, (NCCL,)), ("NCCL_SOCKET_IFNAME=ib9", NCCL, (SET, PEER)), ("NCCL_SOCKET_IFNAME==bond0", NCCL, (SET, PEER)), ("NCCL_ALGO=Circle", SET, (NCCL,)),
    ("NCCL_PROTO=Slow", SET, (NCCL,)), ("NCCL_NET=IB", NCCL, (SET, PEER)), ("NCCL_TOPO_FILE=/etc/hostname", SET, (NCCL, BAD)), ("NCCL_GRAPH_FILE=/etc/hosts", SET, (NCCL, BAD)),
)  # fmt: skip


@sixth("nccl-conf")
def nccl_conf(rng: random.Random, machine: Machine) -> Draw | None:
    """A file of NCCL's settings, left from another cluster, is read at every start; no variable holds the value."""
    if machine.device != "cuda" or not machine.programs("torch-nccl"):
        return None
    line, cause, also = rng.choice(CONFS)
    setup = f"printf '# fabric of the old cluster\\n{line}\\nNCCL_DEBUG=WARN\\n' > $W/nccl.conf; chmod 644 $W/nccl.conf"
    return Draw("nccl-conf", line, "torch-nccl", cause, (*also, OT), setup, {"NCCL_CONF_FILE": "$W/nccl.conf"})


FLAGS: tuple[tuple[str, dict[str, str | None], str, str, tuple[str, ...]], ...] = (
    ("append sm_35", {"NVCC_APPEND_FLAGS": "-arch=sm_35"}, "", SET, (BUILD, "framework.gpu_unsupported")),
    ("append a header", {"NVCC_APPEND_FLAGS": "-include gpu_config.h"}, "", SET, (BUILD,)),
    ("append a library", {"NVCC_APPEND_FLAGS": "-lcuda_hook"}, "", SET, (BUILD, LIB)),
    ("prepend a standard", {"NVCC_PREPEND_FLAGS": "-std=c++29"}, "", SET, (BUILD,)),
    ("host compiler", {"NVCC_CCBIN": "/opt/gcc-11/bin/g++"}, "", PATH, (SET, BUILD, COMPILER)),
    ("headers of another system", {"CPATH": "$W/old"}, "mkdir -p $W/old; echo '#error \"headers of glibc 2.12, build host only\"' > $W/old/features.h; chmod -R a+rX $W/old", PATH, (SET, BUILD, SHADOW)),
    ("compiler's prefix", {"GCC_EXEC_PREFIX": "/opt/gcc-4.8/lib/gcc/"}, "", SET, (PATH, BUILD, COMPILER)),
    ("no temporary folder", {"TMPDIR": "/nonexistent/tmp"}, "", LIM, (PATH, SET, BUILD)),
    ("few tools on PATH", {"PATH": "@T@/bin"}, "", PATH, (BUILD, COMPILER, SET)),
    ("profile emptied", {}, "over @T@/bin; [ -f @T@/bin/nvcc.profile ] || exit 97; rm @T@/bin/nvcc.profile; : > @T@/bin/nvcc.profile", BAD, (BUILD, COMPILER, PATH)),
)  # fmt: skip


@sixth("nvcc-environ")
def nvcc_environ(rng: random.Random, machine: Machine) -> Draw | None:
    """A good C++ program is built where a variable or a profile of the compilers is wrong."""
    if not machine.programs("cpp-add"):
        return None
    target, environ, setup, cause, also = rng.choice(FLAGS)
    environ = {k: v.replace("@T@", machine.toolkit) if v else v for k, v in environ.items()}
    setup = setup.replace("@T@", machine.toolkit)
    path = environ.pop("PATH", None)  # the shell that starts the script is found on the old one
    command = f"PATH={path}; {NVCC}" if path else NVCC
    return Draw(
        "nvcc-environ", target, "cpp-build", cause, also, setup, environ, code=CPP["cpp-add"][1], command=command
    )


# ------------------------------------------------------------------------------------------------ seen by the program alone
DOTFILES: tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...] = (
    ((), "exec fish -l", OT, (PATH,)),
    ((), "[ -z \"$PS1\" ] && { echo 'bashrc: interactive use only' >&2; exit 1; }", OT, (SET, PATH)),
    ((), "set -e; . ~/.cargo/env", OT, (PATH,)),
    ((), "set -e; eval \"$(direnv hook bash)\"; direnv allow .", OT, (PATH,)),
    ((), "ulimit -v 3000000", LIM, (HOST,)),
    ((), "ulimit -n 14", LIM, (OT,)),
    (("torch", "cupy"), "export CUDA_VISIBLE_DEVICES=''", SEL, (SET,)),
    (("jax",), "export JAX_PLATFORMS=tpu", SET, (SEL,)),
    (("triton", "torch-compile"), "export PATH=$HOME/bin:/opt/tools/bin", PATH, (COMPILER, BUILD, OT)),
    (("jax", "cupy"), "mkdir -p ~/py; echo 'def array(x): return x' > ~/py/numpy.py; export PYTHONPATH=$HOME/py", SHADOW, (OT,)),
    (("torch",), "mkdir -p ~/py; echo 'VERSION = 1' > ~/py/typing_extensions.py; export PYTHONPATH=$HOME/py", SHADOW, (OT, BAD)),
    (("torch", "jax"), "export PYTHONHOME=/opt/python-dev", PATH, (SET, OT, SHADOW)),
)  # fmt: skip


@sixth("dotfile")
def dotfile(rng: random.Random, machine: Machine) -> Draw | None:
    """A colleague's bashrc is read by every script's shell (BASH_ENV) and does more than it should."""
    rows = [row for row in DOTFILES if machine.programs(*row[0])]
    if not rows:
        return None
    families, line, cause, also = rng.choice(rows)
    program = some(rng, machine, *families)
    text = f"# ~/.bashrc\nHISTSIZE=5000\nalias ll='ls -l'\n{line}\n"
    if not program:
        return None
    return Draw("dotfile", line[:60], program, cause, also, environ={"BASH_ENV": "$D/bashrc"}, files={"bashrc": text}, command="$PYTHON $SCRIPT")  # fmt: skip


LITTLE_DEV = (
    "mkdir -p $W/idev; mount -t tmpfs none $W/idev || exit 97; mkdir $W/idev/shm; mount --bind /dev/shm $W/idev/shm; ln -s /proc/self/fd $W/idev/fd; "
    "for n in null zero full random urandom tty @N@; do cp -a /dev/$n $W/idev/ 2>/dev/null; done; mount --bind $W/idev /dev"
)


@sixth("inner-sandbox")
def inner_sandbox(rng: random.Random, machine: Machine) -> Draw | None:
    """The start script puts the program alone into a sandbox without the GPU; the shell outside of it has all."""
    program = some(rng, machine)
    if machine.device != "cuda" or not program:
        return None
    hide = f"mount -t tmpfs none {machine.driver}" if machine.driver and "linux-gnu" not in machine.driver else ""
    rows = [
        ("no nodes", LITTLE_DEV.replace("@N@", "")),
        ("only nvidia0", LITTLE_DEV.replace("@N@", "nvidia0")),
        ("no uvm", LITTLE_DEV.replace("@N@", "nvidia0 nvidiactl")),
        ("no control node", LITTLE_DEV.replace("@N@", "nvidia0 nvidia-uvm")),
    ]
    rows += [("no driver libraries", hide)] if hide else []
    target, shell = rng.choice(rows)
    command = f"export W; echo 'sandbox: starting job'; unshare --mount --propagation private bash -c '{shell}; exec \"$0\" \"$1\"' $PYTHON $SCRIPT"
    also = (CLOSED, NONE, "driver.not_ready", PATH)
    return Draw("inner-sandbox", target, program, NO_GPU, also, command=command)


SERVICE = (
    ("LimitAS=4G", "ulimit -v 4000000", (HOST,)), ("LimitNOFILE=12", "ulimit -n 12", (OT,)), ("LimitDATA=600M", "ulimit -d 600000", (HOST,)),
    ("LimitFSIZE=0", "ulimit -f 0", (OT,)), ("LimitCPU=2", "ulimit -t 2", (OT,)), ("LimitSTACK=96K", "ulimit -s 96", (OT,)), ("LimitAS=1500M", "ulimit -v 1500000", (HOST,)),
)  # fmt: skip


@sixth("service-limits")
def service_limits(rng: random.Random, machine: Machine) -> Draw | None:
    """The unit that starts the program has limits that the shell beside it has not."""
    target, how, also = rng.choice(SERVICE)
    families = ("triton", "torch-compile", "cupy-raw", "torch-loader") if "FSIZE" in target else ()
    program = some(rng, machine, *families)
    if not program:
        return None
    text = f"[Service]\nExecStart=train\n{target}\nRestart=no\n"
    command = f"echo 'train.service: starting'; ({how}; $PYTHON $SCRIPT); c=$?; echo \"train.service: main process exited, code=exited, status=$c\" >&2; exit $c"
    return Draw("service-limits", target, program, LIM, also, files={"train.service": text}, command=command)


@sixth("read-only-root")
def read_only_root(rng: random.Random, machine: Machine) -> Draw | None:
    """A container whose root is read-only and that was given no place to write: temporary folders, shm, home, work."""
    program = some(rng, machine, "triton", "torch-compile", "torch-loader", "cupy-raw", "cupy-random")
    if not program:
        return None
    setup = (
        "for d in /tmp /var/tmp /usr/tmp /dev/shm; do [ -d $d ] && mount -t tmpfs -o ro none $d; done; mkdir -p $W/h; "
        "mount -t tmpfs -o ro none $W/h && mount --bind $D $D && mount -o remount,ro,bind $D || exit 97"
    )
    environ = {"HOME": "$W/h", "TMPDIR": None, "XDG_CACHE_HOME": None}
    return Draw("read-only-root", "all places", program, LIM, (HOST, OT, CLOSED, BUILD), setup, environ)


OUTPUTS = (
    ("log disk is full", "$PYTHON $SCRIPT > /dev/full", LIM, (OT,)),
    ("reader went away", "$PYTHON $SCRIPT | sleep 0; exit ${PIPESTATUS[0]}", OT, (LIM,)),
    ("log folder is gone", "$PYTHON $SCRIPT > $W/logs/train.log 2>&1", OT, (LIM, PATH)),
    ("log is a folder", "mkdir -p $W/train.log; $PYTHON $SCRIPT 2>&1 | tee $W/train.log; exit ${PIPESTATUS[1]}", OT, (LIM, PATH)),
    ("log quota", "mkdir -p $W/q; mount -t tmpfs -o size=4k none $W/q; head -c 4096 /dev/zero > $W/q/old; $PYTHON $SCRIPT > $W/q/train.log", LIM, (OT,)),
)  # fmt: skip


@sixth("output-place")
def output_place(rng: random.Random, machine: Machine) -> Draw | None:
    """What the program prints cannot be written: a full disk, a reader that left, a folder that is not there."""
    program, (target, command, cause, also) = some(rng, machine), rng.choice(OUTPUTS)
    return Draw("output-place", target, program, cause, also, command=command) if program else None


# ------------------------------------------------------------------------------------------------ set by the program itself
IN_CODE: tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...] = (
    (("torch-matmul", "torch-train", "torch-fft"), "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", SEL, (SET,)),
    (("cupy",), "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n", SEL, (SET,)),
    (("triton",), "import os\nos.environ.setdefault('CUDA_VISIBLE_DEVICES', os.environ.get('SLURM_LOCALID', '5'))\n", SEL, (SET,)),
    (("jax",), "import os\nos.environ['JAX_PLATFORMS'] = 'tpu'\n", SET, (SEL,)),
    (("jax",), "import os\nos.environ['XLA_FLAGS'] = '--xla_gpu_enable_fast_mode=true'\n", SET, (OT,)),
    (("jax",), "import jax\njax.config.update('jax_platforms', 'metal')\n", SET, (SEL,)),
    (("jax",), "import jax\njax.config.update('jax_default_matmul_precision', 'quick')\n", SET, (OT,)),
    (("torch-matmul", "torch-train"), "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb=128'\n", SET, ("memory.fragmentation", OT)),
    (("torch-matmul", "torch-solve"), "import torch\ntorch.set_default_device('cuda:3')\ntorch.zeros(2)\n", SEL, ()),
    (("torch", "jax", "cupy"), "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))\n", LIM, (OT,)),
    (("torch", "jax", "cupy"), "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n", LIM, (HOST, OT)),
    (("triton", "torch-compile"), "import os, tempfile\nos.environ['TRITON_CACHE_DIR'] = os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/proc/cache'\n", LIM, (SET, PATH, OT)),
    (("triton", "torch-compile"), "import os\nos.environ.clear()\nos.environ.update(PATH='/opt/app/bin', HOME='/nonexistent')\n", PATH, (COMPILER, LIM, SET, BUILD, OT)),
    (("torch", "jax", "cupy", "triton"), "import sys\nsys.path.insert(0, 'vendor')\n", SHADOW, (OT, BAD)),
    (("torch", "jax", "cupy"), "import sys\nsys.path = [p for p in sys.path if 'site-packages' not in p]\n", PATH, (OT, SHADOW)),
    (("jax", "cupy"), "import sys\nsys.modules['numpy'] = None  # not needed at inference\n", SHADOW, (OT, BAD, SET, PATH)),
    (("torch-compile",), "import sys\nsys.modules['triton'] = None  # crashed last week\n", SHADOW, (OT, BAD, SET, COMPILER, ODD, PATH)),
)  # fmt: skip


@sixth("set-in-code")
def set_in_code(rng: random.Random, machine: Machine) -> Draw | None:
    """The first lines of the program itself set a variable, a limit or the search path wrongly."""
    rows = [row for row in IN_CODE if machine.programs(*row[0]) and (machine.device == "cuda" or "CUDA" not in row[1])]
    if not rows:
        return None
    families, lines, cause, also = rng.choice(rows)
    program = some(rng, machine, *families)
    if not program:
        return None
    module = {"jax": "numpy", "cupy": "numpy", "triton": "torch"}.get(program.partition("-")[0], "torch")
    files = (
        {f"vendor/{module}/__init__.py": "__version__ = '0.1'  # our own small part of it\n"}
        if "vendor" in lines
        else {}
    )
    return Draw(
        "set-in-code",
        lines.splitlines()[1],
        program,
        cause,
        also,
        code=lines + source(program, machine.device),
        files=files,
    )


ASK = """import numpy, onnxruntime as ort
from onnx import TensorProto, helper
value = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [4])
model = helper.make_model(helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'g', [value('x')], [value('y')]), opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
data = model.SerializeToString()
"""
ONNX = (
    ("providers checked", "s = ort.InferenceSession(data, providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])\nif s.get_providers()[0] != 'CUDAExecutionProvider':\n    raise RuntimeError('session runs on ' + s.get_providers()[0])\n"),
    ("only CUDA", "s = ort.InferenceSession(data, providers=['CUDAExecutionProvider'])\nassert 'CUDAExecutionProvider' in s.get_providers(), s.get_providers()\n"),
    ("TensorRT", "s = ort.InferenceSession(data, providers=[('TensorrtExecutionProvider', {'trt_fp16_enable': True})])\nassert s.get_providers()[0].startswith('Tensorrt'), s.get_providers()\n"),
    ("value on the GPU", "v = ort.OrtValue.ortvalue_from_numpy(numpy.ones(4, 'f'), 'cuda', 0)\nprint(v.device_name())\n"),
    ("bound to the GPU", "s = ort.InferenceSession(data, providers=['CPUExecutionProvider'])\nb = s.io_binding()\nb.bind_output('y', 'cuda')\nb.bind_cpu_input('x', numpy.ones(4, 'f'))\ns.run_with_iobinding(b)\nprint(b.copy_outputs_to_cpu())\n"),
    ("asked first", "import sys\nhave = ort.get_available_providers()\nprint('available:', have)\nif 'CUDAExecutionProvider' not in have:\n    sys.exit('no CUDA execution provider in onnxruntime ' + ort.__version__)\n"),
    ("device asked", "print(ort.get_device())\nassert ort.get_device() == 'GPU', 'onnxruntime says ' + ort.get_device()\n"),
)  # fmt: skip


@sixth("onnx-asks-gpu")
def onnx_asks_gpu(rng: random.Random, machine: Machine) -> Draw | None:
    """ONNX Runtime's package without CUDA, and a program that insists on the GPU."""
    if not machine.programs("onnx"):
        return None
    target, code = rng.choice(ONNX)
    also = ("device.selection", "program.shape") if "bound" in target or "value" in target else ("install.conflict",)
    return Draw("onnx-asks-gpu", target, "onnx-own", "framework.cpu_only", also, code=ASK + code)

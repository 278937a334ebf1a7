"""Break a real GPU machine in many ways, one at a time, and keep each as a recorded host.

    python3 tools/provoke.py OUT_FOLDER [NAME…]      (as root, on a Linux machine with an NVIDIA GPU and torch)

Every breakage lives in a mount namespace of its own (`unshare --mount`) or in one process's environment, so the
machine itself is never changed. For each: a recording (`NAME.json`), gpuwhy's report, and what torch really does
(`NAME.truth.txt`), so that a verdict can be held against the machine's own behaviour.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

TARGET = os.environ.get("PROVOKE_PYTHON", sys.executable)
TRUTH = r"""
import ctypes
try:
    print("cuInit", ctypes.CDLL("libcuda.so.1").cuInit(0))
except OSError as e:
    print("libcuda", e)
import torch
print("available", torch.cuda.is_available(), torch.cuda.device_count())
x = torch.ones(8, 3, 32, 32, device="cuda")
print("cudnn", torch.backends.cudnn.version())
w = torch.ones(4, 3, 3, 3, device="cuda")
print("conv", float(torch.nn.functional.conv2d(x, w).sum()))
"""
HOLD = "import torch,time,sys; x=torch.empty(int(float(sys.argv[1])*2**30),dtype=torch.uint8,device='cuda'); print('held',flush=True); time.sleep(120)"


class Breakage(NamedTuple):
    """One way to break the machine."""

    why: str
    setup: str = ""  # shell, inside the private mount namespace
    environ: dict[str, str] = {}
    user: str = ""  # run as another user
    inside: str = ""  # a command that enters another root
    hold: float = 0.0  # GiB held by another process meanwhile
    hold_user: str = ""


def new_dev(keep: str) -> str:
    """Shell that replaces /dev by a copy without some NVIDIA nodes (`keep` is a shell pattern, or 'none')."""
    copy = f"for n in {keep}; do [ -e /dev/$n ] && cp -a /dev/$n /tmp/dev/; done" if keep != "none" else ":"
    return (
        "mkdir -p /tmp/dev && mount -t tmpfs none /tmp/dev && mkdir /tmp/dev/shm /tmp/dev/pts && "
        "mount --bind /dev/shm /tmp/dev/shm && for n in null zero full random urandom tty kmsg; do cp -a /dev/$n /tmp/dev/; done; "
        f"{copy}; mount --bind /tmp/dev /dev"
    )


def wheel(name: str) -> str:
    """Shell that finds a library of the target's nvidia wheels."""
    return f"F=$(find $SITE/nvidia -name '{name}' | head -1)"


ALL = "nvidia0 nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-caps"
HIDE_LIBCUDA = (
    "L=$(dirname $(readlink -f $(ldconfig -p | awk '/libcuda.so.1 /{print $NF; exit}'))); mkdir -p /tmp/real /tmp/few; "
    "mount --bind $L /tmp/real; mount -t tmpfs none /tmp/few; "
    "for f in /tmp/real/*; do case $f in */libcuda.so*) ;; *) cp -a $f /tmp/few/ 2>/dev/null;; esac; done; mount --bind /tmp/few $L"
)
STUB = "mkdir -p /tmp/stubs && ln -sf $(find /usr/local/cuda*/ -path '*stubs/libcuda.so' | head -1) /tmp/stubs/libcuda.so.1"

BREAKAGES: dict[str, Breakage] = {
    "healthy": Breakage("the machine as it is"),
    "bare": Breakage("no LD_LIBRARY_PATH: the driver is found by the loader's cache", environ={"LD_LIBRARY_PATH": ""}),
    "container": Breakage(
        "inside a container: an overlay root with docker's mark, the GPU's nodes and libraries given",
        "mkdir -p /tmp/ov && mount -t tmpfs none /tmp/ov && mkdir /tmp/ov/u /tmp/ov/w /tmp/ov/m && "
        "mount -t overlay overlay -o lowerdir=/,upperdir=/tmp/ov/u,workdir=/tmp/ov/w /tmp/ov/m && "
        "for d in dev proc sys usr/local/nvidia tmp; do mount --rbind /$d /tmp/ov/m/$d; done; touch /tmp/ov/m/.dockerenv",
        inside="chroot /tmp/ov/m",
    ),
    "wheels": Breakage(
        "no CUDA toolkit and no system cuDNN: wheels only",
        "mkdir -p /tmp/none; mount --bind /tmp/none /usr/local/cuda-13.0; "
        "for f in /usr/lib/x86_64-linux-gnu/libcudnn*.so*; do [ -L $f ] || mount --bind /dev/null $f; done; "
        "mkdir -p /tmp/etc && cp /etc/ld.so.cache /tmp/etc/; ldconfig -C /tmp/etc/cache >/dev/null 2>&1; "
        "mount --bind /tmp/etc/cache /etc/ld.so.cache",
        {"CUDA_HOME": "", "PATH": "/usr/local/nvidia/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
    ),
    "conda": Breakage(
        "an activated conda environment (its prefix made of the real packages)",
        "mkdir -p /tmp/conda && mount -t tmpfs none /tmp/conda && mkdir -p /tmp/conda/envs/ml/bin /tmp/conda/envs/ml/conda-meta "
        "/tmp/conda/envs/ml/lib/python3.12/site-packages && mount --bind $SITE /tmp/conda/envs/ml/lib/python3.12/site-packages; "
        "ln -s /usr/bin/python3.12 /tmp/conda/envs/ml/bin/python3; ln -s python3 /tmp/conda/envs/ml/bin/python; "
        "echo '{}' > /tmp/conda/envs/ml/conda-meta/python-3.12.3-h1.json; touch /tmp/conda/envs/ml/conda-meta/history",
        {"CONDA_PREFIX": "/tmp/conda/envs/ml", "CONDA_DEFAULT_ENV": "ml", "GPUWHY_TARGET": "none"},
    ),
    "no-uvm-node": Breakage("/dev/nvidia-uvm is missing", new_dev("nvidia0 nvidiactl nvidia-caps"), user="nobody"),
    "no-gpu-node": Breakage(
        "/dev/nvidia0 is missing", new_dev("nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-caps"), user="nobody"
    ),
    "no-nodes": Breakage("no NVIDIA node at all, module loaded", new_dev("none"), user="nobody"),
    "no-nodes-root": Breakage("no NVIDIA node at all, but root: the driver makes them on first use", new_dev("none")),
    "no-permission": Breakage(
        "an ordinary user, nodes readable by root only",
        new_dev(ALL) + "; chmod 0600 /dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm",
        user="nobody",
    ),
    "container-no-gpu": Breakage(
        "a container started without --gpus: marker file, no node, no driver library, no /proc/driver/nvidia",
        f"{new_dev('none')}; {HIDE_LIBCUDA}; rm -f /tmp/few/libnvidia-ml*; mount -t tmpfs none /proc/driver; touch /.dockerenv; trap 'rm -f /.dockerenv' EXIT",
    ),
    "no-libcuda": Breakage("the driver library libcuda is gone", HIDE_LIBCUDA),
    "stub-first": Breakage("the toolkit's stub is first", STUB, {"LD_LIBRARY_PATH": "/tmp/stubs"}),
    "compat-first": Breakage(
        "cuda-compat (older than the module) is first",
        "C=$(ls -d /usr/local/cuda-*/compat | head -1); mkdir -p /tmp/c/compat; mount --bind $C /tmp/c/compat",
        {"LD_LIBRARY_PATH": "/tmp/c/compat"},
    ),
    "empty-cudnn": Breakage(
        "an empty libcudnn.so.9 in the wheel", wheel("libcudnn.so.9") + "; : > /tmp/e; mount --bind /tmp/e $F"
    ),
    "truncated-cudnn": Breakage(
        "libcudnn_graph.so.9 cut in half",
        wheel("libcudnn_graph.so.9") + "; head -c 2000000 $F > /tmp/t; mount --bind /tmp/t $F",
    ),
    "text-cublas": Breakage(
        "a text file in place of libcublas", wheel("libcublas.so.13") + "; echo hello > /tmp/x; mount --bind /tmp/x $F"
    ),
    "unreadable-cudnn": Breakage(
        "libcudnn.so.9 with mode 000, ordinary user",
        wheel("libcudnn.so.9") + "; cp $F /tmp/u; chmod 000 /tmp/u; mount --bind /tmp/u $F",
        user="nobody",
    ),
    "no-cudart": Breakage(
        "libcudart.so.13 is gone from the wheel and from the system",
        "mkdir -p /tmp/emp; " + wheel("libcudart.so.13") + "; D=$(dirname $F); mkdir -p /tmp/keep; "
        "mount --bind $D /tmp/keep; mount -t tmpfs none /tmp/emp; for f in /tmp/keep/*; do case $f in */libcudart.so*) ;; "
        "*) ln -s $f /tmp/emp/;; esac; done; mount --bind /tmp/emp $D; "
        "S=$(dirname $(readlink -f /usr/local/cuda/targets/x86_64-linux/lib/libcudart.so.13)); mkdir -p /tmp/nosys; mount --bind /tmp/nosys $S",
    ),
    "memory-held": Breakage("another process of this user holds most memory", hold=138.0),
    "memory-held-other-user": Breakage(
        "another user's process holds most memory", hold=138.0, hold_user="nobody", user="daemon"
    ),
    "visible-7": Breakage("CUDA_VISIBLE_DEVICES names a GPU that is not there", environ={"CUDA_VISIBLE_DEVICES": "7"}),
    "visible-empty": Breakage("CUDA_VISIBLE_DEVICES is empty", environ={"CUDA_VISIBLE_DEVICES": ""}),
    "visible-0-7": Breakage("the second entry is not there", environ={"CUDA_VISIBLE_DEVICES": "0,7"}),
    "other-driver-libraries": Breakage(
        "libcuda and libnvidia-ml of another driver release first on the path (OTHER_DRIVER names their folder)",
        environ={"LD_LIBRARY_PATH": os.environ.get("OTHER_DRIVER", "/nonexistent")},
    ),
    "no-module": Breakage(
        "no kernel module: its traces in /proc and /sys hidden, no nodes; the card is on the bus",
        new_dev("none")
        + "; mount -t tmpfs none /proc/driver; mkdir -p /tmp/mods; for m in /sys/module/*; do case $m in "
        "*nvidia*) ;; *) mkdir -p /tmp/mods/$(basename $m);; esac; done; mount --bind /tmp/mods /sys/module",
        user="nobody",
    ),
    "system-cudnn-first": Breakage(
        "an older system cuDNN on LD_LIBRARY_PATH", environ={"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu"}
    ),
    "shm-full": Breakage(
        "/dev/shm is full",
        "mount -t tmpfs -o size=64m none /dev/shm; head -c 64m /dev/zero > /dev/shm/full 2>/dev/null; true",
    ),
}


def site_packages() -> str:
    """The target's site-packages folder."""
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return subprocess.run([TARGET, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def shell(one: Breakage, command: str, out: Path) -> None:
    """Run a command in the broken world, its output into a file."""
    inner = (
        f"su {one.user} -s /bin/bash -c {quoted(command)}" if one.user else f"{one.inside} bash -c {quoted(command)}"
    )
    script = f"set -u; SITE={SITE}; {one.setup or ':'}; {inner}"
    environ = {**os.environ, **one.environ}
    exports = " ".join(f"{k}={quoted(v)}" for k, v in one.environ.items())
    if one.user:
        script = script.replace("-c '", f"-c 'export {exports}; " if exports else "-c '", 1)
    with out.open("w") as file:
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", script],
            env=environ,
            stdout=file,
            stderr=subprocess.STDOUT,
            timeout=110,
        )
        file.write(f"\nexit {done.returncode}\n")


def quoted(text: str) -> str:
    """A shell word."""
    return "'" + text.replace("'", "'\\''") + "'"


def end_holders() -> None:
    """Kill every process that holds memory for us, whoever owns it."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if "time.sleep(120)" in (folder / "cmdline").read_text() and int(folder.name) != os.getpid():
                os.kill(int(folder.name), 9)
        except OSError:
            continue


def provoke(name: str, one: Breakage, folder: Path) -> None:
    """Record one breakage."""
    held = None
    if one.hold:
        argv = [TARGET, "-c", HOLD, str(one.hold)]
        if one.hold_user:
            argv = ["su", one.hold_user, "-s", "/bin/bash", "-c", " ".join(map(quoted, argv))]
        held = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert held.stdout
        held.stdout.readline()
    gpuwhy = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')} {sys.executable} -m gpuwhy"
    work = folder / "work"
    work.mkdir(exist_ok=True, mode=0o777)
    work.chmod(0o777)
    try:
        target = "" if one.environ.get("GPUWHY_TARGET") == "none" else f"--python {TARGET}"
        shell(one, f"cd /tmp && {gpuwhy} record {target} -o {work}/{name}.json", folder / f"{name}.record.txt")
        shell(one, f"cd /tmp && {gpuwhy} check {target}", folder / f"{name}.check.txt")
        shell(one, f"cd /tmp && timeout 100 {TARGET} -c {quoted(TRUTH)}", folder / f"{name}.truth.txt")
    finally:
        if held:
            end_holders()
            held.wait()
            time.sleep(1)


def main(argv: list[str]) -> None:
    """Provoke all breakages, or those named."""
    folder = Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in argv[1:] or BREAKAGES:
        start = time.monotonic()
        try:
            provoke(name, BREAKAGES[name], folder)
            told = "ok"
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
        print(f"{name}: {told} ({time.monotonic() - start:.1f} s)", flush=True)
    (folder / "index.json").write_text(json.dumps({k: v.why for k, v in BREAKAGES.items()}, indent=1))


SITE = site_packages() if __name__ == "__main__" else ""
if __name__ == "__main__":
    main(sys.argv[1:])

"""Broken worlds: shell that breaks a machine inside a private mount namespace, so the machine itself never changes.

Pieces use `$W`, a scratch folder of the fault's own, and `$SITE`, the target's site-packages.
"""

from __future__ import annotations

ALL_NODES = "nvidia0 nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-caps"


def new_dev(keep: str, options: str = "") -> str:
    """Replace /dev by a copy with some of the NVIDIA nodes only; `options` are the mount's (nodev …)."""
    copy = f"for n in {keep}; do [ -e /dev/$n ] && cp -a /dev/$n $W/dev/; done; " if keep else ""
    mount = f"mount -t tmpfs {'-o ' + options if options else ''} none $W/dev"
    return (
        f"mkdir -p $W/dev && {mount} && mkdir $W/dev/shm $W/dev/pts && mount --bind /dev/shm $W/dev/shm && "
        "ln -s /proc/self/fd $W/dev/fd; "
        "for n in null zero full random urandom tty kmsg; do cp -a /dev/$n $W/dev/; done; "
        f"{copy}mount --bind $W/dev /dev"
    )


def _library(name: str) -> str:
    return f"F=$(find -L $SITE/nvidia $SITE/torch/lib -name '{name}' 2>/dev/null | head -1); [ -n \"$F\" ]"


def instead(name: str, make: str) -> str:
    """Put another file in the place of a wheel's library; `make` writes it to $W/new from $F."""
    return f"{_library(name)} && {make} && mount --bind $W/new $F"


def without(name: str) -> str:
    """Take a wheel's library away: its folder again, with links to everything but that file."""
    return (
        f"{_library(name)} && D=$(dirname $F) && mkdir -p $W/keep $W/less && mount --bind $D $W/keep && "
        f"mount -t tmpfs none $W/less && for f in $W/keep/*; do case $f in */{name}*) ;; *) ln -s $f $W/less/;; esac; "
        "done; mount --bind $W/less $D"
    )


def without_driver_library(*names: str) -> str:
    """Take files away from the folder of the driver's libraries."""
    patterns = "|".join(f"*/{name}*" for name in names)
    return (
        "L=$(dirname $(readlink -f $(ldconfig -p | awk '/libcuda.so.1 /{print $NF; exit}'))); mkdir -p $W/real $W/few; "
        "mount --bind $L $W/real; mount -t tmpfs none $W/few; "
        f"for f in $W/real/*; do case $f in {patterns}) ;; *) cp -a $f $W/few/ 2>/dev/null;; esac; done; "
        "mount --bind $W/few $L"
    )


STUB = "mkdir -p $W/stubs && ln -sf $(find /usr/local/cuda*/ -path '*stubs/libcuda.so' | head -1) $W/stubs/libcuda.so.1"
COMPAT = "C=$(ls -d /usr/local/cuda-*/compat | head -1); mkdir -p $W/c/compat; mount --bind $C $W/c/compat"
NO_MODULE = (
    "mount -t tmpfs none /proc/driver; mkdir -p $W/mods; for m in /sys/module/*; do case $m in "
    "*nvidia*) ;; *) mkdir -p $W/mods/$(basename $m);; esac; done; mount --bind $W/mods /sys/module"
)
CONTAINER = (
    "mkdir -p $W/ov && mount -t tmpfs none $W/ov && mkdir $W/ov/u $W/ov/w $W/ov/m && "
    "mount -t overlay overlay -o lowerdir=/,upperdir=$W/ov/u,workdir=$W/ov/w $W/ov/m && "
    "for d in dev proc sys usr/local/nvidia tmp; do mount --rbind /$d $W/ov/m/$d; done; touch $W/ov/m/.dockerenv"
)
"""A container: an overlay root with docker's mark; enter it with `chroot $W/ov/m`."""
NO_TOOLKIT = (
    "mkdir -p $W/none; for d in /usr/local/cuda-*; do mount --bind $W/none $d; done; "
    "for f in /usr/lib/x86_64-linux-gnu/libcudnn*.so*; do [ -L $f ] || mount --bind /dev/null $f; done; "
    "mkdir -p $W/etc; ldconfig -C $W/etc/cache >/dev/null 2>&1; mount --bind $W/etc/cache /etc/ld.so.cache"
)


def hide_distribution(pattern: str) -> str:
    """Empty the folders of a distribution and its metadata."""
    return f"mkdir -p $W/empty; for d in $SITE/{pattern}; do [ -d $d ] && mount --bind $W/empty $d; done; true"


def quoted(text: str) -> str:
    """A shell word."""
    return "'" + text.replace("'", "'\\''") + "'"

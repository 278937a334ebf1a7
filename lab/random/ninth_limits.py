"""Ninth operators, limits and places: limits around the program alone, namespaces, homes, umasks, parts of the system out of sight."""

from __future__ import annotations

from lab.random.ninth import (  # fmt: skip
    ANY,
    BUILD,
    CLOSED,
    COMPILER,
    HOST,
    ILL,
    LIGHT,
    LIM,
    NCCL,
    NO_GPU,
    NONE,
    NOT_READY,
    OOM,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    Case,
    enter,
)

JIT = "triton-add torch-compile"
MADE = "triton-add torch-compile cupy-raw cupy-random"
NEAR = (OT, SET, PATH, BUILD, COMPILER)


def limited(needs: str, how: str, also: tuple[str, ...] = (OT, HOST), user: str = "") -> Case:
    """A limit that only the program has; the shell beside it has none."""
    return Case(needs, f"prlimit {how}", LIM, also, command=f"prlimit {how} $PYTHON $SCRIPT", user=user, void="")


enter(
    "limited-alone",
    limited(LIGHT, "--as=2700000000", (OT, HOST, OOM, NOT_READY)),
    limited(LIGHT, "--as=12000000000", (OT, HOST, OOM, NOT_READY)),
    limited(LIGHT, "--nofile=22"),
    limited(LIGHT, "--data=900000000"),
    limited(LIGHT, "--stack=70000", (OT, HOST, ILL)),
    limited(LIGHT, "--cpu=2"),
    limited(JIT, "--fsize=3000", (OT, BUILD, COMPILER)),
    limited("torch-loader torch-compile", "--nproc=6", (OT, HOST, BUILD, COMPILER), "nobody"),
    limited(LIGHT, "--core=0 --memlock=0 --sigpending=0 --msgqueue=0 --rss=1000"),
)  # fmt: skip


def home(needs: str, target: str, environ: dict[str, str | None], setup: str = "", user: str = "", limit: str = "") -> Case:  # fmt: skip
    """A home or a cache place in which nothing can be kept."""
    return Case(needs, target, LIM, NEAR, setup=setup, environ=environ, user=user, limit=limit, void="")


enter(
    "homes",
    home(MADE, "home below a device", {"HOME": "/dev/null/home", "XDG_CACHE_HOME": None}),
    home(MADE, "home is a device that is full", {"HOME": "/dev/full"}),
    home(MADE, "cache is a device", {"XDG_CACHE_HOME": "/dev/null", "TRITON_HOME": "/dev/null", "CUPY_CACHE_DIR": "/dev/null", "TORCHINDUCTOR_CACHE_DIR": "/dev/null"}),
    home(MADE, "home in the kernel's files", {"HOME": "/sys/kernel", "XDG_CACHE_HOME": None}),
    home(MADE, "umask takes everything", {"HOME": "$W/home"}, user="nobody", limit="umask 0777"),
    home(MADE, "umask takes the folders' use", {"HOME": "$W/home"}, user="nobody", limit="umask 0111"),
    home(MADE, "home of root", {"HOME": "$W/rooted"}, setup="mkdir -p $W/rooted/.cupy $W/rooted/.triton; chmod -R 500 $W/rooted", user="nobody"),
    home(MADE, "name of the cache with a line's end", {"TRITON_CACHE_DIR": "/proc/self/x\ny", "TORCHINDUCTOR_CACHE_DIR": "/proc/self/x\ny", "CUPY_CACHE_DIR": "/proc/self/x\ny"}),
)  # fmt: skip


def inside(needs: str, target: str, cause: str, also: tuple[str, ...], shell: str, user: str = "") -> Case:
    """The start script takes something out of the program's sight."""
    command = f'unshare --mount --propagation private bash -c \'{shell}; exec "$0" "$1"\' $PYTHON $SCRIPT'
    return Case(needs, target, cause, also, command=command, user=user, void="")


HIDDEN = (CLOSED, NONE, NOT_READY, LIM, OT, SEL, PATH)
enter(
    "out-of-sight",
    inside(LIGHT, "no list of processes and devices", NO_GPU, HIDDEN, "mount -t tmpfs none /proc"),
    inside(LIGHT, "list of devices is empty", NO_GPU, HIDDEN, "mount --bind /dev/null /proc/devices"),
    inside(LIGHT, "driver's own files hidden", NO_GPU, HIDDEN, "mount -t tmpfs none /proc/driver"),
    inside(LIGHT, "no system files", NO_GPU, HIDDEN, "mount -t tmpfs none /sys"),
    inside(LIGHT, "memory's state hidden", NO_GPU, (*HIDDEN, HOST), "mount --bind /dev/null /proc/meminfo"),
    inside("torch-compile triton-add", "nobody has a name", LIM, (OT, SET, PATH, BUILD, COMPILER), "mount --bind /dev/null /etc/passwd; unset USER LOGNAME HOME"),
    inside("torch-loader torch-nccl", "shared memory for one name", HOST, (LIM, NCCL, OT, PEER), "mount -t tmpfs -o size=4k,nr_inodes=2 none /dev/shm"),
    inside(ANY, "libraries' cache is empty", PATH, (NONE, NO_GPU, "cuda.missing_library", "install.corrupted", LIM, OT), ": > /dev/null; mount --bind /dev/null /etc/ld.so.cache"),
)  # fmt: skip


def spaces(needs: str, target: str, cause: str, also: tuple[str, ...], how: str) -> Case:
    """The program in a space of its own."""
    return Case(needs, target, cause, also, command=f"{how} $PYTHON $SCRIPT", void="")


CUT = (NCCL, LIM, SET, OT)
enter(
    "spaces",
    spaces("torch-nccl", "no network at all", PEER, CUT, "unshare --net"),
    Case("torch-nccl", "no network, two ranks", PEER, CUT, code="import datetime, torch\nimport torch.distributed as dist\nx = torch.ones(2, device='@D@')\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=6))\ndist.all_reduce(x.cpu())\nprint(x)\n", command="export MASTER_ADDR=127.0.0.1 MASTER_PORT=@O@ RANK=0 WORLD_SIZE=2; unshare --net $PYTHON $SCRIPT", void=""),
    Case("jax", "no network, a cluster of two", PEER, (*CUT, "program.order"), code="import jax\njax.distributed.initialize('127.0.0.1:@O@', 2, 1, initialization_timeout=6)\nprint(jax.devices())\n", command="unshare --net $PYTHON $SCRIPT", void=""),
    spaces(LIGHT, "users of its own", CLOSED, (NO_GPU, LIM, OT, NONE, SEL), "unshare --user"),
    spaces(LIGHT, "processes of its own", OT, (LIM, NO_GPU), "unshare --pid --fork"),
    spaces(LIGHT, "no rights at all", CLOSED, (NO_GPU, LIM, OT, NONE, SEL), "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs"),
    spaces(LIGHT, "no random addresses, another machine's name", OT, (LIM,), "setarch i686 -R"),
    spaces(LIGHT, "one processor", OT, (LIM,), "taskset -c 0 nice -n 15"),
)  # fmt: skip


def dying(target: str, cause: str, also: tuple[str, ...], after: str, expect: str = "") -> Case:
    """A program that works and then runs into a limit of its own making."""
    return Case(ANY, target, cause, also, after=after, expect=expect)


RES = "import resource\n"
enter(
    "limits-of-its-own",
    dying("pipes until none is left", LIM, (OT,), RES + "import os\nresource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))\nkept = [os.pipe() for _ in range(400)]\n", "(?i)too many open"),
    dying("maps until none is left", LIM, (HOST, OT), RES + "import mmap\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\nkept = [mmap.mmap(-1, 1 << 28) for _ in range(60)]\n", "(?i)memory"),
    dying("children until none is allowed", LIM, (OT, HOST), RES + "import os, subprocess, sys\nif os.getuid() == 0:\n    os.setgid(65534)\n    os.setuid(65534)\nresource.setrlimit(resource.RLIMIT_NPROC, (1, 1))\nkept = [subprocess.Popen(['sleep', '2']) for _ in range(50)]\n", "(?i)Resource temporarily"),
    dying("file above its size", LIM, (OT,), RES + "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\nopen('shard-000.bin', 'wb').write(bytes(4096))\n", "(?i)too large"),
    dying("watches until none is left", LIM, (OT,), "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nfor i in range(100000):\n    if libc.inotify_init() < 0:\n        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), 'inotify')\n", "(?i)inotify"),
    dying("lock waited for too long", OT, (LIM,), "import fcntl, signal\ndef late(*_):\n    raise TimeoutError('gpu.lock is held by pid 4411')\nsignal.signal(signal.SIGALRM, late)\na, b = open('gpu.lock', 'w'), open('gpu.lock', 'w')\nfcntl.flock(a, fcntl.LOCK_EX)\nsignal.alarm(2)\nfcntl.flock(b, fcntl.LOCK_EX)\n", "gpu.lock"),
    dying("locked memory beyond its share", LIM, (HOST, OT), RES + "import ctypes, os\nresource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))\nif os.getuid() == 0:\n    os.setgid(65534)\n    os.setuid(65534)\nlibc = ctypes.CDLL(None, use_errno=True)\nb = ctypes.create_string_buffer(1 << 24)\nif libc.mlock(b, len(b)):\n    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), 'mlock of 16 MiB')\n", "mlock"),
)  # fmt: skip

"""The stage of a trial: fresh folders, a folder without some of its files, limits; made before it and gone after it."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import select
import shutil
import stat as modes
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence

FRESH = "{fresh}"
NAMES = {
    "nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC, "as": resource.RLIMIT_AS,
    "data": resource.RLIMIT_DATA, "stack": resource.RLIMIT_STACK, "memlock": resource.RLIMIT_MEMLOCK,
    "fsize": resource.RLIMIT_FSIZE, "cpu": resource.RLIMIT_CPU, "rss": resource.RLIMIT_RSS,
}  # fmt: skip
ROOM = 256 << 20
CAP_SYS_RESOURCE = 24
MOST = 5000
"""Entries of a folder beyond which no copy of links is made of it."""
_ISOLATED = re.compile(r"-(?!-).*[IP]", re.DOTALL)
"""Options of Python by which the script's folder is no place for modules."""
_VALUED = ("-X", "-W", "--check-hash-based-pycs")


def limits_now() -> dict[str, tuple[int, int]]:
    """The limits that a program of ours inherits; -1 is none."""
    return {name: resource.getrlimit(number) for name, number in NAMES.items()}


def own_room() -> None:
    """Raise our own soft limits: what the program is to feel must not end us first."""
    for number in NAMES.values():
        soft, hard = resource.getrlimit(number)
        if soft != hard:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(number, (hard, hard))


def numbered(limits: Mapping[str, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The same by number; and no core files, which a hundred reruns would leave."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return {resource.RLIMIT_CORE: (0, hard), **{NAMES[name]: pair for name, pair in limits.items()}}


def may_exceed() -> bool:
    """Whether we may raise a hard limit: root in a container often may not."""
    with (
        contextlib.suppress(OSError, ValueError),
        open("/proc/self/status", encoding="ascii", errors="replace") as file,
    ):
        mask = next(line.split()[1] for line in file if line.startswith("CapEff:"))
        return bool(int(mask, 16) >> CAP_SYS_RESOURCE & 1)
    return False


@contextlib.contextmanager
def fresh_folder(avoid: str = "") -> Iterator[str]:
    """An empty folder where there is room, away from a place that may be the trouble; gone afterwards."""
    folder = _made(avoid)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, onerror=_unlock)


@contextlib.contextmanager
def fresh_folder_beside(prefix: str) -> Iterator[str]:
    """An empty folder on the same disk as an environment, so that its files can be linked; gone afterwards."""
    place = os.path.dirname(prefix.rstrip("/"))
    if not os.access(place, os.W_OK):
        with fresh_folder() as folder:
            yield folder
        return
    folder = tempfile.mkdtemp(prefix=".gpuwhy-prove-", dir=place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, onerror=_unlock)


def _unlock(function: object, path: str, error: object) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.unlink(path)


def _made(avoid: str) -> str:
    places = ["/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~/.cache"), os.getcwd()]
    first = [one for one in places if os.path.realpath(one) != os.path.realpath(avoid or "/nowhere")]
    for room in (ROOM, 1 << 20):
        for place in (*first, *places):
            with contextlib.suppress(OSError):
                if shutil.disk_usage(place).free >= room:
                    return tempfile.mkdtemp(prefix="gpuwhy-prove-", dir=place)
    raise OSError("no folder with room for temporary files: /tmp, /var/tmp, /dev/shm and ~/.cache are full or closed")


def filled(environ: Mapping[str, str], fresh: str) -> dict[str, str]:
    """The variables with the fresh folder in them, its parts made."""
    out = {}
    for name, value in environ.items():
        out[name] = value.replace(FRESH, fresh)
        if FRESH in value:
            os.makedirs(out[name], exist_ok=True)
    return out


def script_place(argv: Sequence[str]) -> tuple[int, str]:
    """Which word of a Python's command line is the script, and the folder whose modules come first; else (0, "")."""
    if not os.path.basename(argv[0]).startswith("python"):
        return 0, ""
    at = 1
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("-", "-c", "-m"):
        if _ISOLATED.match(argv[at]):
            return 0, ""
        at += 2 if argv[at] in _VALUED else 1
    if at >= len(argv) or argv[at] == "-":
        return 0, ""
    if argv[at] in ("-c", "-m"):
        return 0, os.getcwd()
    return at, os.path.dirname(os.path.realpath(argv[at]))


def shadows(argv: Sequence[str], installed: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Files and folders that Python finds before a module of its own library or of an installed package."""
    at, folder = script_place(argv)
    if not folder or environ.get("PYTHONSAFEPATH"):
        return []
    meant = (set(sys.stdlib_module_names) | set(installed)) - {"__main__", "test", "tests", "site", "this"}
    script = os.path.basename(os.path.realpath(argv[at])) if at else ""  # without it nothing runs
    with contextlib.suppress(OSError):
        names = (one for one in os.listdir(folder) if one != script)
        found = sorted(one for one in names if _module(folder, one) in meant)
        return [f"{folder}/{one}" for one in found[:40]]
    return []


def _module(folder: str, name: str) -> str:
    """The module that a file or folder is when it is imported; "" for none."""
    stem, dot, tail = name.partition(".")
    if dot:
        return stem if tail == "py" or tail.endswith("so") or tail == "pyc" else ""
    return stem if os.path.isdir(f"{folder}/{name}") and _holds_python(f"{folder}/{name}") else ""


def _holds_python(folder: str) -> bool:
    """A folder without __init__.py is passed over where a real package of that name is found later."""
    return os.path.exists(f"{folder}/__init__.py")


def farm(folder: str, hidden: Sequence[str], fresh: str, script: str = "") -> str:
    """A folder of links to everything in a folder but what is hidden; the script itself is copied."""
    made = f"{fresh}/folder"
    os.makedirs(made, exist_ok=True)
    entries = os.listdir(folder)
    if len(entries) > MOST:
        raise OSError(f"{folder} has more than {MOST} entries")
    for name in entries:
        path = f"{folder}/{name}"
        if path in hidden or (name == "__pycache__"):
            continue
        if script and os.path.realpath(path) == os.path.realpath(script):
            shutil.copy2(path, f"{made}/{name}")
        else:
            os.symlink(path, f"{made}/{name}")
    return made


def moved(argv: Sequence[str], folder: str, hidden: Sequence[str], fresh: str) -> tuple[list[str], str]:
    """The command line and working folder with which the hidden files are not found."""
    at, searched = script_place(argv)
    if not searched:
        return list(argv), folder
    if not at:
        return list(argv), farm(searched, hidden, fresh)
    made = farm(searched, hidden, fresh, argv[at])
    words = list(argv)
    words[at] = f"{made}/{os.path.basename(os.path.realpath(argv[at]))}"
    return words, folder


def absolute(argv: Sequence[str]) -> list[str]:
    """The command line as it works from another folder: what names a file here is written out."""
    return [
        os.path.abspath(one) if n and os.path.exists(one) and not one.startswith("-") else one
        for n, one in enumerate(argv)
    ]


def library_names(folder: str) -> frozenset[str]:
    """The shared libraries in a folder, by their names and by what links among them lead to."""
    try:
        names = frozenset(one for one in os.listdir(folder) if ".so" in one)
        return names | {os.path.realpath(f"{folder}/{one}") for one in names if one.startswith("libcuda.")}
    except OSError:
        return frozenset()


def kept_input(source: int, folder: str) -> str:
    """What was piped to us, in a file that every trial reads from its beginning; "" for a terminal."""
    try:
        kind = os.fstat(source).st_mode
    except OSError:
        return ""
    if not (modes.S_ISREG(kind) or modes.S_ISFIFO(kind) or modes.S_ISSOCK(kind)):
        return ""
    path, some = f"{folder}/input", False
    with open(path, "wb") as file:
        while select.select([source], [], [], 5.0 if some else 0.3)[0]:  # a pipe that nobody writes to is no input
            piece = os.read(source, 1 << 20)
            if not piece:
                return path
            file.write(piece)
            some = True
    return path if some else ""


def found_program(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """The file that a command starts; "" where there is none."""
    return shutil.which(argv[0], path=environ.get("PATH")) or ""


def module_names(folder: str) -> list[str]:
    """What can be imported from a folder of packages."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [one for one in names if one.isidentifier() or one.endswith(".py")]


def wheel_folders(site: str) -> list[str]:
    """The folders of libraries that NVIDIA's wheels brought into an environment."""
    try:
        parts = sorted(os.listdir(f"{site}/nvidia"))
    except OSError:
        return []
    return [path for part in parts if os.path.isdir(path := f"{site}/nvidia/{part}/lib")]


def gpu_nodes() -> bool:
    """Whether there is a GPU to be opened here."""
    return any(os.path.exists(f"/dev/{name}") for name in ("nvidiactl", "nvidia0", "dxg"))


def source_text(argv: Sequence[str], environ: Mapping[str, str] = {}, most: int = 32 << 20) -> str:
    """The text of the program: its command line, the script that it names, or the names in a compiled program."""
    at, folder = script_place(argv)
    path = argv[at] if at else "" if folder else found_program(argv, environ)
    data = b""
    with contextlib.suppress(OSError):
        if path and os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read(most)
    if b"\0" in data[:4096]:
        data = b" ".join({*_NAME.findall(data)})
    return "\n".join((*argv, data.decode("utf-8", "replace")))


_NAME = re.compile(rb"[A-Z][A-Z0-9_]{3,60}(?=\0)")
_SOUGHT = re.compile(r"find library=(lib(?:cu|nv|nccl|tensorrt)[\w.+-]*\.so[\w.]*) ")
_LOADED = re.compile(r"calling init: \S*/([^/\s]+)$")


def loader_errors(fresh: str, most: int = 60) -> str:
    """The GPU libraries that the dynamic loader sought in vain, where it was asked to write its search down."""
    sought: dict[str, None] = {}
    loaded: set[str] = set()
    folder = f"{fresh}/ld"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with contextlib.suppress(OSError), open(f"{folder}/{name}", encoding="utf-8", errors="replace") as file:
            for line in file:
                sought |= dict.fromkeys(_SOUGHT.findall(line))
                loaded |= set(_LOADED.findall(line.rstrip()))
    missing = [name for name in sought if name not in loaded][:most]
    return "".join(f"{name}: cannot open shared object file: No such file or directory\n" for name in missing)

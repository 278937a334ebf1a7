"""What a trial needs: fresh folders, a folder without some of its files, limits, its input."""

import contextlib
import os
import resource
import select
import shutil
import stat as modes
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.run.target import script_folder, script_place

LIMITS = {
    name: getattr(resource, f"RLIMIT_{name.upper()}")
    for name in ("nofile", "nproc", "as", "data", "stack", "memlock", "fsize", "cpu", "rss")
}
ROOM = 256 << 20
CAP_SYS_RESOURCE = 24
MOST = 5000
"""Entries of a folder beyond which no copy of links is made of it."""


def own_room() -> None:
    """Raise our own soft limits: what the program is to feel must not end us first."""
    for number in LIMITS.values():
        hard = resource.getrlimit(number)[1]
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (hard, hard))


def numbered(limits: Mapping[str, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The same by number; and no core files, which a hundred reruns would leave."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return {resource.RLIMIT_CORE: (0, hard)} | {LIMITS[name]: limits[name] for name in limits}


def may_exceed() -> bool:
    """Whether we may raise a hard limit: root in a container often may not."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        mask = next((line.split()[1] for line in file if line.startswith("CapEff:")), "0")
    return bool(int(mask, 16) >> CAP_SYS_RESOURCE & 1)


@contextlib.contextmanager
def fresh_folder(avoid: str = "") -> Iterator[str]:
    """An empty folder, gone afterwards, where there is room, away from what may be the trouble."""
    places = ["/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~/.cache"), os.getcwd()]
    places.sort(key=lambda one: os.path.realpath(one) == os.path.realpath(avoid or "/nowhere"))
    rooms = {}
    for place in places:
        with contextlib.suppress(OSError):
            if os.access(place, os.W_OK):
                rooms[place] = shutil.disk_usage(place).free
    enough = [place for room in (ROOM, 1 << 20) for place in rooms if rooms[place] >= room]
    if not enough:
        raise OSError(
            "no folder has room for temporary files: /tmp, /var/tmp and ~/.cache are full"
        )
    folder = tempfile.mkdtemp(prefix=".gpuwhy-prove-", dir=enough[0])
    try:
        yield folder
    finally:
        shutil.rmtree(folder, onerror=_unlock)


def _unlock(function: object, path: str, error: object) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.unlink(path)


def filled(environ: Mapping[str, str], mark: str, fresh: str) -> dict[str, str]:
    """The variables with the fresh folder in place of its mark, its parts made."""
    out = {}
    for name, value in environ.items():
        out[name] = value.replace(mark, fresh)
        if mark in value:
            os.makedirs(out[name], exist_ok=True)
    return out


def without_files(
    argv: Sequence[str], folder: str, hidden: Sequence[str], fresh: str
) -> tuple[list[str], str]:
    """The command line and working folder with which the hidden files are not found: a folder of
    links to everything else; the script itself is copied.
    """
    words, searched, at = list(argv), script_folder(argv), script_place(argv)
    source, made = searched or folder, f"{fresh}/folder"
    script = os.path.realpath(words[at]) if at else ""
    os.makedirs(made)
    entries = os.listdir(source)
    if len(entries) > MOST:
        raise OSError(f"{source} has more than {MOST} entries")
    for name in entries:
        path = f"{source}/{name}"
        if path in hidden or name == "__pycache__":
            continue
        if os.path.realpath(path) == script:
            shutil.copy2(path, f"{made}/{name}")
            words[at] = f"{made}/{name}"
        else:
            os.symlink(path, f"{made}/{name}")
    return words, folder if searched else made


def kept_input(source: int, folder: str) -> str:
    """What was piped to us, in a file that every trial reads from its beginning; "" for none."""
    try:
        kind = os.fstat(source).st_mode
    except OSError:
        return ""
    if not (modes.S_ISREG(kind) or modes.S_ISFIFO(kind) or modes.S_ISSOCK(kind)):
        return ""
    path, some = f"{folder}/input", False
    with open(path, "wb") as file:
        # a pipe that nobody writes to is no input
        while select.select([source], [], [], 5.0 if some else 0.3)[0]:
            piece = os.read(source, 1 << 20)
            if not piece:
                return path
            file.write(piece)
            some = True
    return path if some else ""

"""What is wrong in PATH and LD_LIBRARY_PATH: element by element, then in their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from gpuwhy.host.base import Host
from gpuwhy.knowledge.variables import CONTAINER_FOLDERS
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.version import numbers
from gpuwhy.observe.toolkits import toolkit_root, toolkit_version

_CUDA = re.compile(r"cuda|cudnn|nvidia|tensorrt|nvcc", re.IGNORECASE)
_STUBS = re.compile(r"/stubs$")
_COMPAT = re.compile(r"cuda.*/compat$")
_NARROW = re.compile(r"/(lib32|i386-linux-gnu)$")
# $USER stands for a user's name in what the host tells; ORIGIN, LIB and PLATFORM are the loader's own.
_DOLLAR = re.compile(r"\$\{?(?!(?:USER|ORIGIN|LIB|PLATFORM)\b)[A-Za-z_]\w*\}?|\$\(|%[A-Z_]+%")
_LOADERS = re.compile(r"\$\{?(ORIGIN|LIB|PLATFORM)\b")
_MOST = 200


def literal(value: str) -> str:
    """The complaint about a ~ or $VARIABLE that no shell has replaced; "" when there is none."""
    if value.startswith("\\~"):
        return f"{value[1:]} starts with a literal ~, which only a shell would replace by the home folder"
    match = _DOLLAR.search(value)
    return f"{value} contains {match.group()} literally: no shell has replaced it" if match else ""


def not_a_folder(host: Host, path: str) -> tuple[str, ...]:
    """The complaint about a path that is no folder; nothing when it is one, or when we cannot see it."""
    found = host.stat(path)
    if isinstance(found, Absent):
        link = value_or(host.link(path.rstrip("/")), "")
        return (f"{path} leads to {link}, which does not exist" if link else f"{path} does not exist",)
    if isinstance(found, Known) and found.value.kind != "folder":
        return (f"{path} is a {found.value.kind}, not a folder",)
    return ()


def library_path(host: Host, value: str) -> tuple[str, ...]:
    """The problems of LD_LIBRARY_PATH; the loader takes ':' and ';' as separators."""
    if not value:
        return ()
    elements = re.split("[:;]", value)
    problems = ["an empty element makes the loader search the current folder"] if "" in elements else []
    folders = [_tidy(element) for element in elements if element]
    for folder in list(dict.fromkeys(folders))[:_MOST]:
        problems += _library_folder(host, folder)
    return (*problems, *_repeated(folders), *older_first(host, folders))


def _library_folder(host: Host, folder: str) -> tuple[str, ...]:
    if folder in CONTAINER_FOLDERS:
        return ()
    if literal(folder):
        return (literal(folder),)
    if _LOADERS.search(folder):
        return ()
    if not folder.startswith(("/", "~")):
        return (f"{folder} is relative: it means another folder wherever a program is started",)
    wrong = not_a_folder(host, folder)
    if wrong:
        return _comma(folder) or wrong
    return _misplaced(host, folder)


def _comma(folder: str) -> tuple[str, ...]:
    return (f"{folder} is read as one folder: a comma separates nothing",) if ",/" in folder or ",~" in folder else ()


def _misplaced(host: Host, folder: str) -> tuple[str, ...]:
    """A folder that exists, but should not be searched for libraries."""
    if _STUBS.search(folder):
        return (f"{folder} holds stubs, made to link programs against: a stub libcuda reaches no GPU",)
    if _COMPAT.search(folder):
        return (f"{folder} puts a forward-compatibility libcuda before the driver's own",)
    if _NARROW.search(folder):
        return (f"{folder} holds 32-bit libraries, which a 64-bit program passes over",)
    if folder.endswith("/bin") and _CUDA.search(folder):
        return (f"{folder} holds programs, not libraries",)
    if _CUDA.search(folder.rpartition("/")[2]) and isinstance(host.stat(f"{folder}/lib64"), Known):
        return (f"{folder} is a toolkit's top folder; its libraries are in {folder}/lib64",)
    return ()


def command_path(host: Host, value: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The CUDA entries of PATH and the problems of those; nothing is told of the other entries."""
    elements = value.split(":") if value else []
    problems = ["an empty element makes the shell search the current folder"] if "" in elements else []
    folders = [_tidy(element) for element in elements if _CUDA.search(element)]
    for folder in list(dict.fromkeys(folders))[:_MOST]:
        problems += _command_folder(host, folder)
    return tuple(folders), (*problems, *_repeated(folders), *older_first(host, folders))


def _command_folder(host: Host, folder: str) -> tuple[str, ...]:
    if folder in CONTAINER_FOLDERS:
        return ()
    if literal(folder):
        return (literal(folder),)
    wrong = not_a_folder(host, folder)
    if wrong and ";" in folder:
        return (f"{folder} is read as one folder: a semicolon separates nothing in PATH",)
    if wrong:
        return _comma(folder) or wrong
    if re.search(r"/lib(64)?$", folder):
        return (f"{folder} holds libraries, not programs: it belongs in LD_LIBRARY_PATH",)
    return ()


def _tidy(element: str) -> str:
    return element.rstrip("/") or "/"


def _repeated(folders: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{folder} is listed {count} times" for folder, count in Counter(folders).items() if count > 1)


def older_first(host: Host, folders: Sequence[str]) -> tuple[str, ...]:
    """The complaint that an older toolkit is searched before a newer one."""
    roots: dict[str, str] = {}
    for folder in folders:
        root = toolkit_root(folder)
        real = value_or(host.real(root), "") if root else ""
        if real:
            roots.setdefault(real, folder)
    if len(roots) < 2:
        return ()
    found = ((toolkit_version(host, root), folder) for root, folder in roots.items())
    versions = [(version.value, folder) for version, folder in found if isinstance(version, Known)]
    for (earlier, folder), (later, behind) in combinations(versions, 2):
        if numbers(earlier) < numbers(later):
            return (f"CUDA {earlier} ({folder}) is searched before CUDA {later} ({behind})",)
    return ()

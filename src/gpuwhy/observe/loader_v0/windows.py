"""The search of Windows for a DLL name, as a list of folders with reasons, in Windows' order.

Before any folder: api-sets, names that are loaded already, known DLLs. Then, for a plain LoadLibrary, the program's
folder, System32, System, Windows, the current folder and PATH; a call with LOAD_LIBRARY_SEARCH_ flags (Python 3.8 and
newer, for extension modules and ctypes) sees neither the current folder nor PATH. What a library needs is searched as
the library itself was. A 32-bit file is skipped by a 64-bit program; anything else that is no library ends the search.
tests/windows/test_wine.py has the proofs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.formats.pe import Pe
from gpuwhy.host.base import Host
from gpuwhy.host.windows import DLLS
from gpuwhy.observe.loader_v0.outcome import FOUND, NOT_THERE, Located, Outcome, Tried, ended
from gpuwhy.model.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Fate, Rule

_API_SET = re.compile(r"(api|ext)-ms-", re.IGNORECASE)
_LISTED = re.compile(DLLS)
_MOST_FOLDERS = 1000  # of PATH
LONGEST = 32767
"""Characters of a variable that a program can be handed (Microsoft: Environment Variables)."""
_FOLDER = re.compile(r'([A-Za-z]:/|//|~(?:/|$)|\$USER)[^"<>|*?\x00-\x1f]*')

KNOWN = frozenset(
    {"advapi32", "clbcatq", "combase", "comdlg32", "coml2", "difxapi", "gdi32", "gdiplus", "imagehlp", "imm32"}
    | {"kernel32", "msctf", "msvcrt", "normaliz", "nsi", "ole32", "oleaut32", "psapi", "rpcrt4", "sechost"}
    | {"setupapi", "shcore", "shell32", "shlwapi", "user32", "wldap32", "ws2_32", "ntdll"}
)
"""Always taken from System32, whatever lies elsewhere (Session Manager\\KnownDLLs)."""

PART_OF_WINDOWS = KNOWN | frozenset(
    {"bcrypt", "bcryptprimitives", "cabinet", "cfgmgr32", "comctl32", "crypt32", "cryptsp", "d3d11", "d3d12"}
    | {"dbgcore", "dbghelp", "dnsapi", "dwmapi", "dxgi", "dxcore", "iphlpapi", "kernelbase", "mf", "mfplat"}
    | {"mfreadwrite", "mpr", "mswsock", "ncrypt", "netapi32", "opengl32", "pdh", "powrprof", "profapi"}
    | {"propsys", "secur32", "sspicli", "ucrtbase", "userenv", "uxtheme", "version", "winhttp", "wininet"}
    | {"winmm", "wintrust", "wsock32", "wtsapi32"}
)
"""Parts of every Windows: a tree that lacks one was not copied whole, and no program fails for it."""


class Call(msgspec.Struct, frozen=True):
    """How a program asks for a library."""

    title: str
    listed: bool = False  # LOAD_LIBRARY_SEARCH_DEFAULT_DIRS: the program's folder, added folders, System32
    own: bool = False  # the folder of the library itself comes first (LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR, altered path)


PLAIN = Call("LoadLibrary")
ALTERED = Call("LoadLibrary with the altered search path", own=True)
LISTED = Call("LoadLibrary with the default folders", listed=True)
LISTED_OWN = Call("LoadLibrary with the default folders and its own", listed=True, own=True)


class WindowsWorld(msgspec.Struct, frozen=True):
    """What the search depends on besides the call."""

    host: Host
    machine: str
    application: str  # folder of the program: of the base Python, for a virtual environment
    path: tuple[str, ...] = ()  # PATH
    windows: str = "C:/Windows"
    folder: str = ""  # current folder; "" = not known, not searched
    added: tuple[tuple[str, str], ...] = ()  # AddDllDirectory: folder, and who added it
    safe: bool = True  # SafeDllSearchMode
    packaged: bool = False  # Microsoft Store: neither the current folder nor PATH
    sees_path: bool = True  # PATH is known, even if it is empty

    @property
    def system(self) -> str:
        """System32."""
        return f"{self.windows}/System32"


def tidy(path: str) -> str:
    """A path with forward slashes, without `.`, `..` and a slash at its end."""
    plain = path.replace("\\", "/")
    shares = plain.startswith("//")
    out: list[str] = []
    for part in plain.split("/"):
        if part == ".." and len(out) > 1:
            out.pop()
        elif part not in ("", ".", ".."):
            out.append(part)
    text = ("//" if shares else "") + "/".join(out)
    return f"{text}/" if re.fullmatch(r"[A-Za-z]:", text) else text


def split_path(text: str) -> tuple[str, ...]:
    """The folders of PATH that the search looks into, each once: an entry that names no folder leads nowhere.

    Blanks at its ends, quotes and %NAME% are part of a name as the search takes it: Windows cuts blanks off the end of
    a whole path only (Microsoft: File path formats, trimming), and no folder has quotes in its name. A relative entry
    depends on where a program is started, and no program is handed more than LONGEST characters.
    """
    out: dict[str, str] = {}
    for element in text[:LONGEST].split(";"):
        folder = tidy(element)
        if folder and element == element.strip() and _FOLDER.fullmatch(folder):
            out.setdefault(folder.casefold(), folder)
    return tuple(out.values())[:_MOST_FOLDERS]


def is_api_set(name: str) -> bool:
    """Whether a name is a contract that Windows resolves by itself."""
    return _API_SET.match(name) is not None


def stem(name: str) -> str:
    """kernel32 of KERNEL32.dll."""
    return name.lower().removesuffix(".dll")


def with_extension(name: str) -> str:
    """LoadLibrary adds .dll to a name without a dot; a dot at the end says that there is none."""
    last = name.rpartition("/")[2]
    return name.rstrip(".") if name.endswith(".") else name if "." in last else f"{name}.dll"


def folders(world: WindowsWorld, call: Call, own: str = "") -> Iterator[tuple[str, str]]:
    """The folders of one call in order, with the reason; `own` is the folder of the library asked for by path."""
    if call.listed:
        yield from _listed(world, call, own)
        return
    if call.own and own:
        yield own, Rule.LIBRARY.value
    else:
        yield world.application, Rule.PROGRAM.value
    if world.packaged:
        yield world.system, Rule.SYSTEM32.value
        return
    if not world.safe and world.folder:
        yield world.folder, Rule.CURRENT.value
    yield world.system, Rule.SYSTEM32.value
    yield f"{world.windows}/System", Rule.SYSTEM.value
    yield world.windows, Rule.WINDOWS.value
    if world.safe and world.folder:
        yield world.folder, Rule.CURRENT.value
    for folder in world.path:
        yield folder, Rule.PATH.value


def _listed(world: WindowsWorld, call: Call, own: str) -> Iterator[tuple[str, str]]:
    if call.own and own:
        yield own, Rule.LIBRARY.value
    yield world.application, Rule.PROGRAM.value
    yield from world.added
    yield world.system, Rule.SYSTEM32.value


def search(world: WindowsWorld, name: str, places: tuple[tuple[str, str], ...]) -> Located:
    """Find a DLL by its name in some folders, or at a path; api-sets and loaded names are the caller's to know."""
    name = with_extension(name.replace("\\", "/"))
    if "/" in name:
        path = tidy(name)
        return ended(name, (Tried(path, Rule.GIVEN.value, look_at(world, path)),))
    seen: list[Tried] = []
    for folder, why in places:
        path = _spelled(world.host, folder, name)
        outcome = look_at(world, path) if path else NOT_THERE
        seen.append(Tried(path or f"{folder.rstrip('/')}/{name}", why, outcome))
        if outcome.fate in (Fate.FOUND, Fate.STOPS):
            return ended(name, tuple(seen))
    for one in seen:
        if one.outcome.fate is Fate.SKIPPED:
            return Located(name, Unknown(f"{one.path} {one.outcome}"), "", tuple(seen))
    return Located(name, Absent(Source("call", "DLL search", name)), "", tuple(seen))


def _spelled(host: Host, folder: str, name: str) -> str:
    """The path of a file in a folder as it is spelled there, "" when it is not there; one question per folder."""
    if not _LISTED.match(name):
        path = f"{folder.rstrip('/')}/{name}"
        return "" if isinstance(host.stat(path), Absent) else path
    listed = host.list(folder, DLLS)
    if isinstance(listed, Unknown):
        return f"{folder.rstrip('/')}/{name}"
    names = {entry.name.lower(): entry.name for entry in listed.value} if isinstance(listed, Known) else {}
    found = names.get(name.lower())
    return f"{folder.rstrip('/')}/{found}" if found else ""


def look_at(world: WindowsWorld, path: str) -> Outcome:
    """What Windows does with the file at `path`: found, not there, skipped, or the end of the search."""
    stat = world.host.stat(path)
    if isinstance(stat, Absent):
        return NOT_THERE
    if isinstance(stat, Unknown):
        return Outcome(Fate.STOPS, stat.reason.removeprefix(f"{path}: "))
    if stat.value.kind == "folder":
        return Outcome(Fate.STOPS, "it is a folder (error 5)")
    pe = world.host.pe(path)
    if isinstance(pe, Absent):
        return NOT_THERE
    if isinstance(pe, Unknown):
        return Outcome(Fate.STOPS, f"{pe.reason.removeprefix(f'{path}: ')} (error 193)")
    return _judge(world, pe.value, stat.value.size)


def _judge(world: WindowsWorld, pe: Pe, size: int) -> Outcome:
    if {pe.machine, world.machine} == {"i386", "x86_64"}:  # Windows runs both, and goes on to the next folder
        return Outcome(Fate.SKIPPED, f"it is for {pe.machine}, {pe.bits} bit")
    if pe.machine != world.machine:
        return Outcome(Fate.STOPS, f"it is for {pe.machine}, {pe.bits} bit (error 193)")
    if pe.extent > size:
        return Outcome(Fate.STOPS, f"truncated, needs {pe.extent} bytes, has {size} (error 193)")
    return FOUND


def assembly_folder(world: WindowsWorld, assemblies: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Where side-by-side assemblies of a manifest hold their DLLs: Visual C++ 2005 and 2008 alone install so."""
    store, out = f"{world.windows}/WinSxS", []
    for assembly in assemblies:
        title = assembly.split(" ")[0].lower()
        if title.startswith("microsoft.vc"):
            entries = world.host.list(store, rf"(?i)(amd64|x86|arm64)_{re.escape(title)}_")
            for entry in value_or(entries, ()):
                out.append((f"{store}/{entry.name}", f"side by side, by the manifest that names {assembly}"))
    return tuple(out)

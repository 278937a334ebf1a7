"""What Windows loads: the search for a DLL name, and what a program has loaded by it.

Before any folder: api-sets, names that are loaded already, known DLLs. Then, for a plain
LoadLibrary, the program's folder, System32, System, Windows, the current folder and PATH; a call
with LOAD_LIBRARY_SEARCH_ flags (Python 3.8 and newer, for extension modules and ctypes) sees
neither the current folder nor PATH. What a library needs is searched as the library itself was. A
32-bit file is skipped by a 64-bit program; anything else that is no library ends the search.
tests/windows/test_wine.py has the proofs.
"""

import re

import msgspec

from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import Found, Outcome, Rule
from gpuwhy.formats.pe import Pe
from gpuwhy.loader import outcome
from gpuwhy.loader.outcome import FOUND, NOT_THERE, Located, Met, Tried, ended, flaw_of, other
from gpuwhy.machine.machine import Machine

Places = tuple[tuple[str, Found], ...]
"""Folders, and by which rule each is searched."""

API_SET = re.compile(r"(api|ext)-ms-", re.IGNORECASE)
DLLS = (
    r"(?i)(cu(da|bl|dn|ff|pt|ra|so|sp|fi)|nv(?!api|wmi|spcap|containerd|displ|shext|mctray|3d|ogl"
    r"|cpl|gpu|tvmon)|zlib|nccl|msvc[pr]|vcruntime|vcomp|concrt|libiomp|python3|c10|torch|caffe2"
    r"|uv\.|onnxruntime|tensorflow)[\w.-]*\.dll$"
)
"""Names that are asked of a whole folder at once."""
_LISTED = re.compile(DLLS)
_MOST_FOLDERS = 1000  # of PATH
LONGEST = 32767
"""Characters of a variable that a program can be given (Microsoft: Environment Variables)."""
_FOLDER = re.compile(r'([A-Za-z]:/|//)[^"<>|*?\x00-\x1f]*')

_KNOWN = (
    "advapi32 clbcatq combase comdlg32 coml2 difxapi gdi32 gdiplus imagehlp imm32 kernel32 msctf"
    " msvcrt normaliz nsi ole32 oleaut32 psapi rpcrt4 sechost setupapi shcore shell32 shlwapi"
    " user32 wldap32 ws2_32 ntdll"
)
KNOWN = frozenset(_KNOWN.split())
"""Always taken from System32, whatever lies elsewhere (Session Manager\\KnownDLLs)."""

_PART_OF_WINDOWS = (
    "bcrypt bcryptprimitives cabinet cfgmgr32 comctl32 crypt32 cryptsp d3d11 d3d12 dbgcore dbghelp"
    " dnsapi dwmapi dxgi dxcore iphlpapi kernelbase mf mfplat mfreadwrite mpr mswsock ncrypt"
    " netapi32 opengl32 pdh powrprof profapi propsys secur32 sspicli ucrtbase userenv uxtheme"
    " version winhttp wininet winmm wintrust wsock32 wtsapi32"
)
PART_OF_WINDOWS = KNOWN | frozenset(_PART_OF_WINDOWS.split())
"""Parts of every Windows: a tree that lacks one was not copied whole."""


class Call(msgspec.Struct, frozen=True):
    """How a program asks for a library."""

    listed: bool = False  # LOAD_LIBRARY_SEARCH_DEFAULT_DIRS: own, added folders, System32
    own: bool = False  # the folder of the library itself comes first


PLAIN = Call()  # LoadLibrary
ALTERED = Call(own=True)
LISTED, LISTED_OWN = Call(listed=True), Call(listed=True, own=True)


class WindowsWorld(msgspec.Struct, frozen=True):
    """What the search depends on besides the call."""

    machine: Machine
    processor: str
    application: str  # folder of the program: of the base Python, for a virtual environment
    path: tuple[str, ...] = ()  # PATH
    windows: str = "C:/Windows"
    folder: str = ""  # current folder; "" = not known, not searched
    added: Places = ()  # by AddDllDirectory
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
    """The folders of PATH that the search looks into, each once.

    Blanks at its ends, quotes and %NAME% are part of a name as the search takes it: Windows cuts
    blanks off the end of a whole path only (Microsoft: File path formats, trimming), and no folder
    has quotes in its name. A relative entry depends on where a program is started, and no program
    is given more than LONGEST characters.
    """
    out: dict[str, str] = {}
    for element in text[:LONGEST].split(";"):
        folder = tidy(element)
        if folder and element == element.strip() and _FOLDER.fullmatch(folder):
            out.setdefault(folder.casefold(), folder)
    return tuple(out.values())[:_MOST_FOLDERS]


def stem(name: str) -> str:
    """kernel32 of KERNEL32.dll."""
    return name.lower().removesuffix(".dll")


def folders(world: WindowsWorld, call: Call, own: str = "") -> Places:
    """The folders of one call in order; `own` is the folder of a library asked for by path."""
    first = ((own, Found(Rule.LIBRARY)),) if call.own and own else ()
    program, system = (world.application, Found(Rule.PROGRAM)), (world.system, Found(Rule.SYSTEM32))
    if call.listed:
        return (*first, program, *world.added, system)
    first = first or (program,)
    if world.packaged:
        return (*first, system)
    rest = [(f"{world.windows}/System", Rule.SYSTEM), (world.windows, Rule.WINDOWS)]
    rest += [(world.folder, Rule.CURRENT)] if world.folder else []
    rest += [(folder, Rule.PATH) for folder in world.path]
    return (*first, system, *((folder, Found(rule)) for folder, rule in rest))


def search(world: WindowsWorld, name: str, places: Places) -> Located:
    """Find a DLL by its name in some folders, or at a path."""
    name = name.replace("\\", "/")
    # LoadLibrary adds .dll to a name without a dot; a dot at the end says that there is none
    dotted = "." in name.rpartition("/")[2]
    name = name.rstrip(".") if dotted else f"{name}.dll"
    if "/" in name:
        path = tidy(name)
        return ended(name, (Tried(path, Found(Rule.GIVEN), look_at(world, path)),))
    seen: list[Tried] = []
    for folder, rule in places:
        path = _spelled(world.machine, folder, name)
        met = look_at(world, path) if path else NOT_THERE
        seen.append(Tried(path or f"{folder.rstrip('/')}/{name}", rule, met))
        if met.outcome in (Outcome.FOUND, Outcome.STOPS):
            return ended(name, tuple(seen))
    for one in seen:
        if one.met.outcome is Outcome.SKIPPED:
            return Located(name, Unknown(f"{one.path} {one.met}"), other(""), tuple(seen))
    return Located(name, Absent(Source("call", "DLL search", name)), other(""), tuple(seen))


def _spelled(machine: Machine, folder: str, name: str) -> str:
    """The path of a file as its folder spells it, "" where it is not; one question per folder."""
    path = f"{folder.rstrip('/')}/{name}"
    if not _LISTED.match(name):
        return "" if isinstance(machine.stat(path), Absent) else path
    listed = machine.list(folder, DLLS)
    if isinstance(listed, Unknown):
        return path
    spelled = {one.name.lower(): one.name for one in value_or(listed, ())}.get(name.lower())
    return f"{folder.rstrip('/')}/{spelled}" if spelled else ""


def look_at(world: WindowsWorld, path: str) -> Met:
    """What Windows does with the file at `path`."""
    stat = world.machine.stat(path)
    if isinstance(stat, Absent):
        return NOT_THERE
    if isinstance(stat, Unknown):
        return Met(Outcome.STOPS, Flaw.UNREADABLE, stat.reason.removeprefix(f"{path}: "))
    if stat.value.kind == "folder":
        return Met(Outcome.STOPS, Flaw.FOREIGN, "it is a folder (error 5)")
    pe = world.machine.pe(path)
    if isinstance(pe, Absent):
        return NOT_THERE
    if isinstance(pe, Unknown):
        note = f"{pe.reason.removeprefix(f'{path}: ')} (error 193)"
        return Met(Outcome.STOPS, flaw_of(pe, stat.value.size), note)
    header, size = pe.value, stat.value.size
    built = f"it is for {header.machine}, {header.bits} bit"
    if {header.machine, world.processor} == {"i386", "x86_64"}:  # Windows runs both, and goes on
        return Met(Outcome.SKIPPED, Flaw.MACHINE, built)
    if header.machine != world.processor:
        return Met(Outcome.STOPS, Flaw.MACHINE, f"{built} (error 193)")
    if header.extent > size:
        note = f"needs {header.extent} bytes, has {size} (error 193)"
        return Met(Outcome.STOPS, Flaw.TRUNCATED, note)
    return FOUND


# ---------------------------------------------------------------- what a program has loaded


class Dll(outcome.Library, frozen=True):
    """One library in the process, with its headers."""

    pe: Pe


class WindowsProcess:
    """A program's libraries as they would be loaded, in order.

    A DLL is loaded once per file name, whatever its folder: a name that is loaded already is never
    searched again. When something that a library needs is missing, Windows takes the whole load
    back (error 126).
    """

    def __init__(self, world: WindowsWorld) -> None:
        self.world = world
        self.machine = world.machine
        self.loaded: list[Dll] = []
        self.missing: list[outcome.Missing] = []
        self.failed: set[str] = set()  # paths of what was taken back
        self.unsure: list[outcome.Missing] = []  # not found, and PATH is not known
        self._names: dict[str, Dll] = {}
        self._new: list[Dll] = []
        self._gaps = 0
        self._sure = True

    def add_folder(self, folder: str, who: Found) -> None:
        """AddDllDirectory; Windows refuses a folder that is not there."""
        if isinstance(self.world.machine.stat(folder), Known):
            added = (*self.world.added, (folder, who))
            self.world = msgspec.structs.replace(self.world, added=added)

    def prepend_path(self, added: list[str]) -> None:
        """Put folders before those of PATH."""
        self.world = msgspec.structs.replace(self.world, path=(*added, *self.world.path))

    def get(self, name: str) -> Dll | None:
        """What is loaded under a name."""
        return self._names.get(name.lower())

    def load(
        self, name: str, call: Call = PLAIN, by: str = "", rule: Found | None = None
    ) -> Dll | None:
        """Load a library as a call made by the file `by`, with all it needs; None if that fails."""
        self._new, self._gaps = [], 0
        self._sure = call.listed or self.world.packaged or self.world.sees_path
        own = tidy(name).rpartition("/")[0] if "/" in name.replace("\\", "/") else ""
        one = self._find(name, folders(self.world, call, own), by, rule)
        if one and self._gaps:
            gone = {id(brought) for brought in self._new}
            self.failed |= {brought.path for brought in self._new}
            self._names = {x: dll for x, dll in self._names.items() if id(dll) not in gone}
            return None
        return one

    def _find(self, name: str, places: Places, by: str, rule: Found | None = None) -> Dll | None:
        bare = name.replace("\\", "/").rpartition("/")[2]
        loaded = self._names.get(bare.lower())
        if loaded and ("/" not in name or loaded.path.lower() == tidy(name).lower()):
            return loaded
        if stem(bare) in KNOWN and bare == name:
            places = ((self.world.system, other("known DLL")),)
        located = search(self.world, name, places)
        if not isinstance(located.path, Known):
            self._gaps += 1
            kept = self.missing if self._sure else self.unsure
            if not any(m.name == located.name and m.needed_by == by for m in kept):
                kept.append(outcome.missing(located, by, Outcome.STOPS, Outcome.SKIPPED))
            return None
        return self._map(bare, located.path.value, rule or located.rule, by, places)

    def _map(self, name: str, path: str, rule: Found, by: str, places: Places) -> Dll | None:
        pe = self.world.machine.pe(path)
        if not isinstance(pe, Known):
            return None
        if path in self.failed:  # it is loaded after all, and shown once
            self.failed.discard(path)
            self.loaded = [dll for dll in self.loaded if dll.path != path]
        real = value_or(self.world.machine.real(path), path)
        one = Dll(name, path, real, rule, by, pe.value.imports, pe.value)
        self.loaded.append(one)
        self._new.append(one)
        self._names.setdefault(path.rpartition("/")[2].lower(), one)
        for needed in pe.value.imports:
            if not API_SET.match(needed) and stem(needed) not in PART_OF_WINDOWS:
                self._find(needed, places, path)
        return one

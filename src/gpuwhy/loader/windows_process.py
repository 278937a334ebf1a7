"""Process: what a running Windows program has loaded, in order.

A DLL is loaded once per file name, whatever its folder: a name that is loaded already is never
searched again. When something that a library needs is missing, Windows takes the whole load back
(error 126).
"""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.loads import Found, Outcome
from gpuwhy.formats.pe import Pe
from gpuwhy.loader.outcome import Library, Located, Missing, missing, other
from gpuwhy.loader.windows import (
    KNOWN,
    PART_OF_WINDOWS,
    PLAIN,
    Call,
    Places,
    WindowsWorld,
    assembly_folder,
    folders,
    is_api_set,
    search,
    stem,
    tidy,
)


class Dll(Library, frozen=True):
    """One library in the process, with its headers."""

    pe: Pe


class WindowsProcess:
    """A program's libraries as they would be loaded."""

    def __init__(self, world: WindowsWorld) -> None:
        self.world = world
        self.machine = world.machine
        self.loaded: list[Dll] = []
        self.missing: list[Missing] = []
        self.failed: set[str] = set()  # paths of what was taken back
        self.unsure: list[Missing] = []  # not found where we could look, and PATH is not known
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
            self._take_back()
            return None
        return one

    def _find(
        self, name: str, places: Places, by: str, rule: Found | None = None, pe: Pe | None = None
    ) -> Dll | None:
        bare = name.replace("\\", "/").rpartition("/")[2]
        loaded = self._names.get(bare.lower())
        if loaded and ("/" not in name or loaded.path.lower() == tidy(name).lower()):
            return loaded
        if stem(bare) in KNOWN and bare == name:
            places = ((self.world.system, other("known DLL")),)
        if pe and pe.assemblies:
            places = (*assembly_folder(self.world, pe.assemblies), *places)
        located = search(self.world, name, places)
        if not isinstance(located.path, Known):
            self._miss(located, by)
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
            if not is_api_set(needed) and stem(needed) not in PART_OF_WINDOWS:
                self._find(needed, places, path, pe=pe.value)
        return one

    def _miss(self, located: Located, by: str) -> None:
        self._gaps += 1
        kept = self.missing if self._sure else self.unsure
        if any(m.name == located.name and m.needed_by == by for m in kept):
            return
        kept.append(missing(located, by, Outcome.STOPS, Outcome.SKIPPED))

    def _take_back(self) -> None:
        gone = {id(one) for one in self._new}
        self.failed |= {one.path for one in self._new}
        self._names = {name: one for name, one in self._names.items() if id(one) not in gone}

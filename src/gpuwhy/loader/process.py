"""Process: what a running program has loaded, in order, as glibc would do it; `dlopen` adds to it.

Breadth first; a library is loaded once per SONAME (or per file), and the first one that asked for it is its loader,
whose DT_RPATH it inherits.
"""

from __future__ import annotations

import msgspec

from gpuwhy.loader.glibc import Asker, Located, Tried, World, look_at, search
from gpuwhy.model.fact import Known


class Loaded(msgspec.Struct, frozen=True):
    """One object in the process: the name asked for, the file, and how it was found."""

    name: str
    asker: Asker
    real: str
    via: str
    needed_by: str

    @property
    def path(self) -> str:
        """The path the loader opened."""
        return self.asker.path


class Missing(msgspec.Struct, frozen=True):
    """A library that the loader does not find, or finds damaged."""

    name: str
    needed_by: str
    tried: tuple[Tried, ...]
    why: str  # "not found", or what is wrong with the file that stops the search


class Process:
    """A program's objects as they would be loaded."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loaded: list[Loaded] = []
        self.missing: list[Missing] = []
        self._names: dict[str, Loaded] = {}
        self._files: dict[str, Loaded] = {}

    def start(self, program: str, preload: tuple[str, ...] = ()) -> Loaded | None:
        """Load a program, what LD_PRELOAD names, and everything they need."""
        main = self._map(program, program, None, "the program")
        if main is None:
            return None
        self.world = msgspec.structs.replace(self.world, main=main.asker)
        queue = [main]
        queue += [one for name in preload if (one := self._find(name, main, "LD_PRELOAD"))]
        self._needs(queue)
        return main

    def dlopen(self, name: str, caller: Loaded | None, via: str = "") -> Loaded | None:
        """Load `name` as a dlopen call made from `caller`, with everything it needs; `via` says whose idea it was."""
        one = self._find(name, caller, via)
        if one is not None:
            self._needs([one])
        return one

    def get(self, name: str) -> Loaded | None:
        """What is loaded under a name or SONAME."""
        return self._names.get(name)

    def _needs(self, queue: list[Loaded]) -> None:
        done = set()
        while queue:
            one = queue.pop(0)
            if one.path in done:
                continue
            done.add(one.path)
            for name in one.asker.elf.needed:
                known_already = name in self._names
                found = self._find(name, one)
                if found is not None and not known_already:
                    queue.append(found)

    def _find(self, name: str, caller: Loaded | None, via: str = "") -> Loaded | None:
        if name in self._names:
            return self._names[name]
        asker = caller.asker if caller else None
        if "/" in name:
            outcome = look_at(self.world, name)
            located = Located(
                name, search(self.world, name, asker).path, "path given", (Tried(name, "path given", outcome),)
            )
        else:
            located = search(self.world, name, asker)
        by = caller.path if caller else ""
        if not isinstance(located.path, Known):
            self._miss(located, by)
            return None
        return self._map(name, located.path.value, asker, via or located.via, by)

    def _miss(self, located: Located, by: str) -> None:
        if any(m.name == located.name and m.needed_by == by for m in self.missing):
            return
        stop = (
            located.tried[-1].outcome
            if located.tried and located.tried[-1].outcome.startswith("stops")
            else "not found"
        )
        self.missing.append(Missing(located.name, by, located.tried, stop))

    def _map(self, name: str, path: str, loader: Asker | None, via: str, by: str = "") -> Loaded | None:
        """Add a file, unless the same file is already there; remember its names."""
        resolved = self.world.host.real(path)
        real = resolved.value if isinstance(resolved, Known) else path
        if real in self._files:
            self._names[name] = self._files[real]
            return self._files[real]
        elf = self.world.host.elf(path)
        if not isinstance(elf, Known):
            return None
        if elf.value.soname and elf.value.soname in self._names and "/" not in name:
            self._names[name] = self._names[elf.value.soname]
            return self._names[name]
        one = Loaded(name, Asker(path, elf.value, loader), real, via, by)
        self.loaded.append(one)
        self._files[real] = one
        self._names.setdefault(name, one)
        if elf.value.soname:
            self._names.setdefault(elf.value.soname, one)
        return one

"""Process: what a running program has loaded, in order, as glibc would do it.

Breadth first; a library is loaded once per name it was asked by, per SONAME and per file. The first
one that asked for it is its loader, whose DT_RPATH it inherits; what dlopen brings has none.
"""

import re

import msgspec

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.loads import Found, Outcome, Rule
from gpuwhy.loader.glibc import Asker, World, search
from gpuwhy.loader.outcome import Library, Missing, missing, other

_PRELOAD_FILE = "/etc/ld.so.preload"
INTERPRETERS = {  # of the plain program that opens a library
    "x86_64": "/lib64/ld-linux-x86-64.so.2",
    "aarch64": "/lib/ld-linux-aarch64.so.1",
    "ppc64": "/lib64/ld64.so.2",
}


class Loaded(Library, frozen=True):
    """One object in the process, and how it asks for others."""

    asker: Asker


class Process:
    """A program's objects as they would be loaded."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.machine = world.machine
        self.loaded: list[Loaded] = []
        self.missing: list[Missing] = []
        self._names: dict[str, Loaded] = {}
        self._files: dict[str, Loaded] = {}
        self._new: list[Loaded] = []  # what the dlopen under way has brought
        self._gaps = 0  # and what it has not found
        self._closed: dict[str, Loaded] = {}  # by name: what a dlopen that failed had brought

    def start(self, program: str) -> Loaded | None:
        """Load a program, what LD_PRELOAD and /etc/ld.so.preload name, and all they need."""
        main = self._map(program, program, None, other("the program"))
        if main is None:
            return None
        self.world = msgspec.structs.replace(self.world, main=main.asker)
        text = self.machine.read(_PRELOAD_FILE)
        plain = re.sub(r"#.*", "", text.value) if isinstance(text, Known) else ""
        asked = [(name, Found(Rule.LD_PRELOAD)) for name in re.split(r"[ :]+", self.world.preload)]
        asked += [(name, other(_PRELOAD_FILE)) for name in re.split(r"[\s:]+", plain)]
        gaps = len(self.missing)
        found = [one for name, rule in asked if name and (one := self._find(name, main, rule))]
        del self.missing[gaps:]  # what cannot be preloaded: glibc warns and goes on
        self._needs([main, *found])
        return main

    def dlopen(
        self, name: str, caller: Loaded | None = None, rule: Found | None = None
    ) -> Loaded | None:
        """Load `name` as a dlopen call made from `caller`, else from the program, with everything
        it needs; `rule` says how the caller itself came to the path.

        When a need is missing glibc closes all of it again: it stays in `loaded`, to be shown, but
        later searches do not meet it (see `closed`).
        """
        self._new, self._gaps = [], 0
        caller = caller or (self.loaded[0] if self.loaded else None)
        one = self._find(name, caller, rule, inherit=False)
        self._needs(list(self._new))
        if self._gaps:
            gone = {id(brought) for brought in self._new}
            self._names = {x: of for x, of in self._names.items() if id(of) not in gone}
            self._files = {x: of for x, of in self._files.items() if id(of) not in gone}
            self._closed.update({brought.name: brought for brought in self._new})
        return one

    def get(self, name: str) -> Loaded | None:
        """What is loaded under a name or SONAME."""
        return self._names.get(name) or self._closed.get(name)

    def closed(self, one: Loaded) -> bool:
        """Whether glibc would have closed an object again, because its dlopen failed."""
        return self._closed.get(one.name) is one

    def _needs(self, queue: list[Loaded]) -> None:
        while queue:
            one = queue.pop(0)
            for name in one.needs:
                before = len(self._new)
                self._find(name, one)
                queue += self._new[before:]

    def _find(
        self, name: str, caller: Loaded | None, rule: Found | None = None, inherit: bool = True
    ) -> Loaded | None:
        if name in self._names:
            return self._names[name]
        asker = caller.asker if caller else None
        by = caller.path if caller else ""
        # the loader itself, which the C library needs, is the file that started the program
        program = self.world.main.elf.interpreter if self.world.main else ""
        program = program or INTERPRETERS.get(self.world.processor, "")
        loads_itself = program.rpartition("/")[2] == name
        if loads_itself and isinstance(self.machine.stat(program), Known):
            path, found = program, other("interpreter of the program")
        else:
            located = search(self.world, name, asker)
            if not isinstance(located.path, Known):
                self._gaps += 1
                if not any(m.name == name and m.needed_by == by for m in self.missing):
                    self.missing.append(missing(located, by, Outcome.STOPS))
                return None
            path, found = located.path.value, located.rule
        return self._map(name, path, asker if inherit else None, rule or found, by)

    def _map(
        self, name: str, path: str, loader: Asker | None, rule: Found, by: str = ""
    ) -> Loaded | None:
        """Add a file, unless the same file is already there; remember its names."""
        real, stat = value_or(self.machine.real(path), path), self.machine.stat(path)
        # what tells files apart: the resolved path, or the inode of one with several links
        identity = stat.value.inode or real if isinstance(stat, Known) else real
        if identity in self._files:
            self._names[name] = self._files[identity]
            return self._files[identity]
        elf = self.machine.elf(path)
        if not isinstance(elf, Known):
            return None
        if stale := self._closed.pop(name, None):  # it is loaded after all, and shown once
            self.loaded = [one for one in self.loaded if one is not stale]
        one = Loaded(name, path, real, rule, by, elf.value.needed, Asker(path, elf.value, loader))
        self.loaded.append(one)
        self._new.append(one)
        self._files[identity] = one
        for known_as in (name, path, elf.value.soname):
            if known_as:
                self._names.setdefault(known_as, one)
        return one

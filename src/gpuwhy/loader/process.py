"""Process: what a running program has loaded, in order, as glibc would do it.

Breadth first; a library is loaded once per name it was asked by, per SONAME and per file. The first
one that asked for it is its loader, whose DT_RPATH it inherits; what dlopen brings has none.
"""

from __future__ import annotations

import re

import msgspec

from gpuwhy.facts.fact import Known, Source, value_or
from gpuwhy.facts.loads import Found, Outcome, Rule
from gpuwhy.loader.glibc import Asker, World, search
from gpuwhy.loader.outcome import Library, Located, Missing, missing, other

_PRELOAD_FILE = "/etc/ld.so.preload"
INTERPRETERS = {  # of the plain program that opens a library
    "x86_64": "/lib64/ld-linux-x86-64.so.2",
    "i386": "/lib/ld-linux.so.2",
    "aarch64": "/lib/ld-linux-aarch64.so.1",
    "ppc64": "/lib64/ld64.so.2",
    "riscv64": "/lib/ld-linux-riscv64-lp64d.so.1",
    "arm": "/lib/ld-linux-armhf.so.3",
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
        self.ignored: list[Missing] = []  # what LD_PRELOAD names in vain: glibc warns and goes on
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
        secure = self._secure(program)
        self.world = msgspec.structs.replace(self.world, main=main.asker, secure=secure)
        self._needs([main, *self._preloaded(main)])
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
            self._close(self._new)
        return one

    def get(self, name: str) -> Loaded | None:
        """What is loaded under a name or SONAME."""
        return self._names.get(name) or self._closed.get(name)

    def closed(self, one: Loaded) -> bool:
        """Whether glibc would have closed an object again, because its dlopen failed."""
        return self._closed.get(one.name) is one

    def _secure(self, program: str) -> bool:
        """Whether it runs with another user's or group's rights; file capabilities are not seen."""
        stat = self.world.machine.stat(program)
        if not isinstance(stat, Known):
            return False
        return stat.value.mode[3:4] in ("s", "S") or stat.value.mode[6:7] == "s"

    def _preloaded(self, main: Loaded) -> list[Loaded]:
        named = [] if self.world.secure else re.split(r"[ :]+", self.world.preload)
        text = self.world.machine.read(_PRELOAD_FILE)
        plain = re.sub(r"#.*", "", text.value) if isinstance(text, Known) else ""
        gaps = len(self.missing)
        asked = [(name, Found(Rule.LD_PRELOAD)) for name in named]
        asked += [(name, other(_PRELOAD_FILE)) for name in re.split(r"[\s:]+", plain)]
        found = [one for name, rule in asked if name and (one := self._find(name, main, rule))]
        self.ignored, self.missing[gaps:] = self.missing[gaps:], []
        return found

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
        located = self._interpreter(name) or search(self.world, name, asker)
        by = caller.path if caller else ""
        if not isinstance(located.path, Known):
            self._miss(located, by)
            return None
        loader = asker if inherit else None
        return self._map(name, located.path.value, loader, rule or located.rule, by)

    def _interpreter(self, name: str) -> Located | None:
        """The loader itself, which the C library needs: it is the file that started the program."""
        path = self.world.main.elf.interpreter if self.world.main else ""
        path = path or INTERPRETERS.get(self.world.processor, "")
        if path.rpartition("/")[2] != name or not isinstance(self.world.machine.stat(path), Known):
            return None
        rule = other("interpreter of the program")
        return Located(name, Known(path, Source("file", path)), rule, ())

    def _miss(self, located: Located, by: str) -> None:
        self._gaps += 1
        if any(m.name == located.name and m.needed_by == by for m in self.missing):
            return
        self.missing.append(missing(located, by, Outcome.STOPS))

    def _map(
        self, name: str, path: str, loader: Asker | None, rule: Found, by: str = ""
    ) -> Loaded | None:
        """Add a file, unless the same file is already there; remember its names."""
        resolved = self.world.machine.real(path)
        real = value_or(resolved, path)
        identity = self._identity(path, real)
        if identity in self._files:
            self._names[name] = self._files[identity]
            return self._files[identity]
        elf = self.world.machine.elf(path)
        if not isinstance(elf, Known):
            return None
        self._forget(name)
        one = Loaded(name, path, real, rule, by, elf.value.needed, Asker(path, elf.value, loader))
        self.loaded.append(one)
        self._new.append(one)
        self._files[identity] = one
        for known_as in (name, path, elf.value.soname):
            if known_as:
                self._names.setdefault(known_as, one)
        return one

    def _identity(self, path: str, real: str) -> str:
        """What tells files apart: the resolved path, or the inode of one with several links."""
        stat = self.world.machine.stat(path)
        return stat.value.inode or real if isinstance(stat, Known) else real

    def _close(self, brought: list[Loaded]) -> None:
        """Take back what a failed dlopen brought."""
        gone = {id(one) for one in brought}
        self._names = {name: one for name, one in self._names.items() if id(one) not in gone}
        self._files = {file: one for file, one in self._files.items() if id(one) not in gone}
        self._closed.update({one.name: one for one in brought})

    def _forget(self, name: str) -> None:
        """A library that is loaded after all is shown once."""
        if name in self._closed:
            stale = self._closed.pop(name)
            self.loaded = [one for one in self.loaded if one is not stale]

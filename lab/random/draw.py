"""What one draw is, and what the operators may ask of the machine."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Draw:
    """One broken world and the program in it; `also` are causes that name it as rightly as `cause`."""

    operator: str
    target: str
    program: str
    cause: str
    also: tuple[str, ...] = ()
    setup: str = ""  # shell, as root, inside a private mount namespace
    environ: Mapping[str, str | None] = field(default_factory=dict)  # None: unset
    limit: str = ""  # ulimit …, just before the program
    user: str = ""  # run as this user
    cwd: str = ""  # another working folder
    files: Mapping[str, str] = field(default_factory=dict)  # written beside the program
    code: str = ""  # instead of the program's own
    command: str = ""  # shell instead of `python program.py`
    hold: bool = False  # while another process holds the GPU's memory
    refine: tuple[tuple[str, str], ...] = ()  # (pattern in the bare log, cause): the first that matches is the truth
    seconds: int = 60
    expect: str = ""  # the bare log must show this, else the mechanism did not bite as meant
    void: str = ""  # and must not show this: it would be a slip of the lab

    def slipped(self, log: str) -> bool:
        """Whether the bare log speaks of something else than what was built."""
        missed = bool(self.expect) and not re.search(self.expect, log)
        return missed or (bool(self.void) and not self.expect and bool(re.search(self.void, log)))

    def judged_by(self, log: str) -> Draw:
        """The draw with its cause settled by what the bare run showed of the mechanism."""
        for pattern, cause in self.refine:
            if re.search(pattern, log):
                rest = {*self.also, self.cause} - {cause}
                return replace(self, cause=cause, also=tuple(sorted(rest)))
        return self


@dataclass(frozen=True)
class Machine:
    """Where things are; `maps` are the files that each program had mapped in its healthy run."""

    python: str
    site: str
    toolkit: str
    driver: str
    maps: Mapping[str, tuple[str, ...]]
    results: Mapping[str, str]
    uuid: str = ""
    device: str = "cuda"

    def programs(self, *prefixes: str) -> list[str]:
        """The healthy programs whose name begins with one of the prefixes; all without any."""
        return [name for name in sorted(self.maps) if not prefixes or name.startswith(prefixes)]

    def libraries(self, program: str, pattern: str = r"\.so") -> list[str]:
        """The program's libraries in the environment and the toolkit."""
        roots = (self.site, self.toolkit)
        return [f for f in self.maps[program] if f.startswith(roots) and re.search(pattern, f.rpartition("/")[2])]


Operator = Callable[[random.Random, Machine], "Draw | None"]
OPERATORS: dict[str, tuple[str, Operator]] = {}
"""Every operator by name, with its part: `tune` may be looked at, `judge` measures."""


def operator(name: str, part: str) -> Callable[[Operator], Operator]:
    """Enter an operator into the table."""

    def enter(function: Operator) -> Operator:
        OPERATORS[name] = (part, function)
        return function

    return enter


def draw(rng: random.Random, machine: Machine, names: list[str]) -> Draw | None:
    """One draw: an operator first, then whatever it draws."""
    name = rng.choice(names)
    return OPERATORS[name][1](rng, machine)
